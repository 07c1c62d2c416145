//! The set of feasible allocations as linear constraints.

use std::ops::Range;

use evenhand_problem::{Constraints, Problem, Rational, Row, RowKind};

use crate::numbered;
use crate::vipr::Terms;

/// The set of feasible allocations of a problem. There is a column for every active user and every class on
/// which the user can run. There is a row for every capacity row of the classes, followed by a row for every
/// user with finite tasks.
pub(crate) struct Region {
    /// The pair `(user, class)` of every column.
    pub columns: Vec<(usize, usize)>,
    /// The columns of each user.
    pub of_user: Vec<Range<usize>>,
    /// The rows of the classes.
    pub rows: Vec<Limit>,
    /// The users with finite tasks, and their limits.
    pub users: Vec<(usize, Limit)>,
}

/// The constraint `sum terms <= most`.
pub(crate) struct Limit {
    pub name: String,
    pub most: Rational,
    pub terms: Terms,
}

impl Region {
    pub fn new(constraints: &Constraints<'_>) -> Self {
        let problem = constraints.problem();
        let row = |row: &Row| Limit { name: row_name(row), most: row.capacity.clone(), terms: Vec::new() };
        let mut rows: Vec<Limit> = constraints.rows().iter().map(row).collect();
        let mut columns = Vec::new();
        let mut of_user = Vec::with_capacity(problem.n_users());
        let mut users = Vec::new();
        for (n, user) in problem.users().iter().enumerate() {
            let first = columns.len();
            for i in problem.classes_of(n).filter(|_| problem.is_active(n)) {
                let Some(usage) = constraints.usage(n, i) else { continue };
                for (position, amount) in usage.entries() {
                    rows[constraints.class_rows(i).start + position]
                        .terms
                        .push((columns.len(), amount.clone()));
                }
                columns.push((n, i));
            }
            if let Some(tasks) = user.tasks() {
                let terms = (first..columns.len()).map(|v| (v, Rational::from(1))).collect();
                users.push((n, Limit { name: format!("u{}", n + 1), most: tasks.clone(), terms }));
            }
            of_user.push(first..columns.len());
        }
        Self { columns, of_user, rows, users }
    }

    /// Returns the names of the columns. `x1_2` is the number of tasks of the first user on the second class.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|(n, i)| format!("x{}_{}", n + 1, i + 1)).collect()
    }
}

/// Returns the name of a row. `r1_2` is the second resource of the first class, and `t1` is its time.
pub(crate) fn row_name(row: &Row) -> String {
    match row.kind {
        RowKind::Resource(r) => format!("r{}_{}", row.server + 1, r + 1),
        RowKind::Time => format!("t{}", row.server + 1),
    }
}

/// Returns lines that explain the numbers in the names of rows and columns.
pub(crate) fn legend(problem: &Problem) -> Vec<String> {
    let mut lines = vec![
        "xN_I: tasks of user N on server class I. rI_R: resource R of class I. tI: time of class I. \
         uN: tasks that user N has"
            .to_owned(),
    ];
    lines.extend(numbered("resource", problem.resources().iter().map(String::as_str)));
    lines.extend(numbered("class", problem.servers().iter().map(|server| server.name())));
    lines.extend(numbered("user", problem.users().iter().map(|user| user.name())));
    lines
}
