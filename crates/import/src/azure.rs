//! A trace of virtual machines: arrivals by flavour, with lifetimes.

use std::collections::HashMap;

use evenhand_problem::number;
use evenhand_problem::problem::UserSpec;
use rug::Rational;

use super::stream::{Builder, NewTask, TraceStream};
use super::{ImportError, Input, Note, amounts, input::Record, note::notes, ordered::Ordered};

const COLUMNS: [&str; 10] = [
    "split",
    "arrival_s",
    "batch_id",
    "flavour",
    "vcpus",
    "memory_gb",
    "duration_bin",
    "duration_lo_s",
    "duration_hi_s",
    "censored",
];

/// Reads a trace of virtual machines. Each flavour is a user of weight 1, and each batch is a job. A lifetime
/// is the middle of its two bounds, and is infinite for a machine that still ran at the end of the trace.
/// Times count from the first arrival, in seconds.
///
/// All rows are read and checked first, because the flavours and the sizes of the batches are known only at
/// the end. The tasks are sorted in temporary files.
///
/// # Errors
/// Returns an [`ImportError`] if the table cannot be read, a row is malformed, times go back, or a flavour
/// has two sizes. Returns [`ImportError::Temporary`] if a temporary file cannot be written or read.
pub fn azure_stream(table: Input) -> Result<TraceStream, ImportError> {
    let mut builder = Builder::new();
    let (users, notes) = read(table, |task| builder.push(&task))?;
    builder.finish(users, notes, |user| user)
}

const RESOURCES: [&str; 2] = ["vcpu", "memory"];

/// Passes each machine to `push`. Returns the users, and notes about data that is not modelled.
fn read(
    table: Input,
    mut push: impl FnMut(NewTask) -> Result<(), ImportError>,
) -> Result<(Vec<UserSpec>, Vec<Note>), ImportError> {
    let mut rows = table.rows_of("a table", &COLUMNS)?;
    let mut users: Vec<UserSpec> = Vec::new();
    let mut splits: Ordered<String, ()> = Ordered::default();
    let mut flavours: HashMap<String, (u32, [Rational; 2])> = HashMap::new();
    let (mut first, mut last, mut running, mut order) = (None, 0, 0, 0);
    while let Some(row) = rows.next()? {
        row.expect_columns(COLUMNS.len())?;
        let at = row.time(1, COLUMNS[1], &mut last)?;
        let start = *first.get_or_insert(at);
        let demand = [decimal(&row, 4)?, decimal(&row, 5)?];
        let flavour = row.field(3);
        let user = match flavours.get(flavour) {
            Some((user, known)) if *known == demand => *user,
            Some(_) => {
                return Err(row.error(format!("flavour `{flavour}` has another size than in earlier rows")));
            }
            None => {
                if demand.iter().all(Rational::is_zero) {
                    return Err(row.error(format!("flavour `{flavour}` has 0 vCPUs and 0 GB of memory")));
                }
                let user = users.len() as u32;
                flavours.insert(flavour.to_owned(), (user, demand.clone()));
                users.push(UserSpec {
                    name: flavour.to_owned(),
                    demand: amounts(RESOURCES, demand),
                    ..UserSpec::default()
                });
                user
            }
        };
        let (low, high) = (row.whole(7, COLUMNS[7])?, row.whole(8, COLUMNS[8]));
        let seconds = match row.field(9) {
            "0" => {
                let high = high?;
                if high < low {
                    return Err(
                        row.error(format!("duration_hi_s: {high} s is less than {low} s, the lower bound"))
                    );
                }
                (low as f64 + high as f64) / 2.0
            }
            "1" => {
                running += 1;
                f64::INFINITY
            }
            _ => return Err(row.column_error(9, COLUMNS[9], "0 or 1")),
        };
        let job = [splits.place(row.field(0), || ()) as u64, row.whole(2, COLUMNS[2])?];
        push(NewTask { job, order, at: (at - start) as f64, user, seconds, priority: None })?;
        order += 1;
    }
    Ok((users, notes([(running, Note::RunsOn)])))
}

fn decimal(row: &Record<'_>, column: usize) -> Result<Rational, ImportError> {
    let value = number::parse(row.field(column)).ok().filter(|value| *value >= 0);
    value.ok_or_else(|| row.column_error(column, COLUMNS[column], "a number of at least 0"))
}
