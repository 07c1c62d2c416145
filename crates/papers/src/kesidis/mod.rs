//! Kesidis: the example (19), (20), by proportional fairness and by progressive filling.

mod batches;
mod proportional;
mod tables;

use crate::PaperError;
use evenhand_problem::Problem;

use super::{Entry, ProblemTable, TableUser};

const SERVERS: &[(u32, &[&str])] = &[(1, &["100", "30"]), (1, &["30", "100"])];

pub(super) fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = proportional::entries()?;
    entries.extend(tables::entries()?);
    Ok(entries)
}

/// The example, with these priorities.
pub(super) fn example(priorities: [&str; 2]) -> Result<Problem, PaperError> {
    let [first, second] = priorities;
    let users = [
        TableUser { weight: first, ..TableUser::new(&["5", "1"]) },
        TableUser { weight: second, ..TableUser::new(&["1", "5"]) },
    ];
    ProblemTable { servers: SERVERS, users: &users }.problem()
}
