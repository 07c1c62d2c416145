//! The example of equations (19) and (20).

use evenhand_problem::Problem;

use crate::error::PaperError;
use crate::instance::{ProblemTable, TableUser};

const SERVERS: &[(u32, &[&str])] = &[(1, &["100", "30"]), (1, &["30", "100"])];

/// Returns the example with these priorities.
pub(crate) fn example(priorities: [&str; 2]) -> Result<Problem, PaperError> {
    let [first, second] = priorities;
    let users = [
        TableUser { weight: first, ..TableUser::new(&["5", "1"]) },
        TableUser { weight: second, ..TableUser::new(&["1", "5"]) },
    ];
    problem_of(SERVERS, &users)
}

/// Returns the problem with these servers and users.
pub(super) fn problem_of(servers: &[(u32, &[&str])], users: &[TableUser<'_>]) -> Result<Problem, PaperError> {
    ProblemTable { servers, users }.problem()
}
