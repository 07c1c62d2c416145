//! Pods of openb with the times at which they were created and deleted.

use std::collections::HashMap;

use evenhand_problem::problem::{ServerSpec, UserSpec};

use super::super::openb::{MORE_POD_COLUMNS, Shape, server_names, shape};
use super::super::{ImportError, Input, Note};
use super::stream::{Builder, Told, TraceStream};

/// Columns with the times, in seconds.
const CREATED: usize = 8;
const DELETED: usize = 9;

/// The pods of a list with times: every pod is a job of one task. Pods of the same request and the same
/// allowed GPU models are one user of weight 1, which may use those of `servers` (as
/// [`openb_nodes`](super::openb_nodes) names them) that have such a model.
///
/// Whose they are is known once all rows are read, and they need not be in the order of their times: all rows are read
/// and checked first, and what is needed of them is sorted in temporary files.
///
/// # Errors
/// [`ImportError`] when the list cannot be read, has no times, or a row is malformed; [`ImportError::Temporary`].
pub fn openb_stream(pods: Input, servers: &[ServerSpec]) -> Result<TraceStream, ImportError> {
    let mut builder = Builder::new();
    let (users, notes) = read(pods, servers, |task| builder.push(&task))?;
    builder.finish(users, notes, |user| user)
}

/// Tells every pod that is kept; the users and what is left out.
fn read(
    pods: Input,
    servers: &[ServerSpec],
    mut tell: impl FnMut(Told) -> Result<(), ImportError>,
) -> Result<(Vec<UserSpec>, Vec<Note>), ImportError> {
    let mut rows = pods.rows_of("a pod list with times,", &MORE_POD_COLUMNS)?;
    let mut specs: Vec<UserSpec> = Vec::new();
    let mut users: HashMap<Shape, Option<u32>> = HashMap::new();
    let (mut nothing, mut nowhere) = (0, 0);
    let mut order = 0;
    while let Some(row) = rows.next()? {
        row.expect_columns(MORE_POD_COLUMNS.len())?;
        let shape = shape(&row)?;
        let (created, deleted) = (row.whole(CREATED, "creation_time")?, row.whole(DELETED, "deletion_time")?);
        if deleted < created {
            return Err(row.error(format!("deleted at {deleted}, before it was created at {created}")));
        }
        order += 1;
        if shape.demands_nothing() {
            nothing += 1;
            continue;
        }
        let user = match users.get(&shape) {
            Some(user) => *user,
            None => {
                let allowed = server_names(&shape, servers);
                let is_nowhere = allowed.as_ref().is_some_and(Vec::is_empty);
                let user = (!is_nowhere).then_some(specs.len() as u32);
                if !is_nowhere {
                    specs.push(UserSpec { tasks: None, ..shape.user(1, allowed) });
                }
                users.insert(shape, user);
                user
            }
        };
        let Some(user) = user else {
            nowhere += 1;
            continue;
        };
        let (at, seconds) = (created as f64, (deleted - created) as f64);
        tell(Told { job: [order, 0], order, at, user, seconds, priority: None })?;
    }
    let mut notes = Vec::new();
    if nothing > 0 {
        notes.push(Note::NothingRequested(nothing));
    }
    if nowhere > 0 {
        notes.push(Note::NoServerAllowed { models: "GPU models".to_owned(), tasks: nowhere });
    }
    Ok((specs, notes))
}
