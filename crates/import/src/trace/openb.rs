//! Pods of openb with the times at which they were created and deleted.

use std::collections::HashMap;

use evenhand_problem::problem::{ServerSpec, UserSpec};

use super::super::openb::{MORE_POD_COLUMNS, Shape, server_names, shape};
use super::super::{ImportError, Input, Note};
use super::jobs::Jobs;
use super::{Trace, TraceTask};

/// Columns with the times, in seconds.
const CREATED: usize = 8;
const DELETED: usize = 9;

/// The pods of a list with times: every pod is a job of one task. Pods of the same request and the same
/// allowed GPU models are one user of weight 1, which may use those of `servers` (as
/// [`openb_nodes`](super::openb_nodes) names them) that have such a model.
///
/// # Errors
/// [`ImportError`] when the list cannot be read, has no times, or a row is malformed.
pub fn openb_trace(pods: Input, servers: &[ServerSpec]) -> Result<Trace, ImportError> {
    let mut rows = pods.rows();
    let expected = format!("a pod list with times, `{}`", MORE_POD_COLUMNS.join(","));
    let header = rows.first(&expected)?;
    if !header.is(&MORE_POD_COLUMNS) {
        return Err(header.error(format!("found another header: expected {expected}")));
    }
    let mut trace =
        Trace { resources: ["cpu", "memory", "gpu"].map(str::to_owned).to_vec(), ..Trace::default() };
    let mut users: HashMap<Shape, Option<u32>> = HashMap::new();
    let mut jobs = Jobs::new();
    let (mut nothing, mut nowhere) = (0, 0);
    let mut row_number = 0_u64;
    while let Some(row) = rows.next()? {
        row.expect_columns(MORE_POD_COLUMNS.len())?;
        let shape = shape(&row)?;
        let (created, deleted) = (row.whole(CREATED, "creation_time")?, row.whole(DELETED, "deletion_time")?);
        if deleted < created {
            return Err(row.error(format!("deleted at {deleted}, before it was created at {created}")));
        }
        row_number += 1;
        if shape.demands_nothing() {
            nothing += 1;
            continue;
        }
        let users_so_far = &mut trace.users;
        let user = *users.entry(shape.clone()).or_insert_with(|| {
            let allowed = server_names(&shape, servers);
            if allowed.as_ref().is_some_and(Vec::is_empty) {
                return None;
            }
            users_so_far.push(UserSpec { tasks: None, ..shape.user(1, allowed) });
            Some(users_so_far.len() as u32 - 1)
        });
        let Some(user) = user else {
            nowhere += 1;
            continue;
        };
        let job = jobs.add(row_number);
        let seconds = (deleted - created) as f64;
        trace.tasks.push(TraceTask { at: created as f64, user, job, seconds, priority: None });
    }
    trace.jobs = jobs.sizes;
    trace.tasks.sort_by(|a, b| a.at.total_cmp(&b.at));
    if nothing > 0 {
        trace.notes.push(Note::NothingRequested(nothing));
    }
    if nowhere > 0 {
        trace.notes.push(Note::NoServerAllowed { models: "GPU models".to_owned(), tasks: nowhere });
    }
    Ok(trace)
}
