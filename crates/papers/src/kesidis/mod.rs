//! Kesidis: the definition of max-min fairness, and the example (19), (20) by proportional fairness and by progressive
//! filling.

mod batches;
mod max_min;
mod proportional;
mod steps;
mod tables;

use crate::PaperError;
use evenhand_problem::Problem;

use super::{Entry, ProblemTable, TableUser};

const SERVERS: &[(u32, &[&str])] = &[(1, &["100", "30"]), (1, &["30", "100"])];

pub(super) fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = max_min::entries()?;
    entries.extend(proportional::entries()?);
    entries.extend(steps::entries()?);
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
    problem_of(SERVERS, &users)
}

/// The problem of these servers and users.
fn problem_of(servers: &[(u32, &[&str])], users: &[TableUser<'_>]) -> Result<Problem, PaperError> {
    ProblemTable { servers, users }.problem()
}
