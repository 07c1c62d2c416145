//! Users that no mechanism can tell apart are solved as one and split again.

use evenhand_lp::linear::SparseRow;
use evenhand_exact::LimitRows;
use evenhand_problem::{Constraints, Kinds, Problem, Rational};

/// Users with the same demand, eligibility, weight and tasks.
#[derive(Debug, Clone)]
pub struct Group {
    /// Indices of the users, ascending; never empty.
    pub members: Vec<usize>,
    /// Sum of the members' weights.
    pub weight: Rational,
    /// Sum of the members' tasks; `None`: unlimited.
    pub tasks: Option<Rational>,
    /// Classes on which a member can run, ascending.
    pub classes: Vec<usize>,
}

impl Group {
    /// A user that is told apart from all others.
    #[must_use]
    pub fn alone(problem: &Problem, n: usize) -> Self {
        let user = &problem.users()[n];
        Self {
            members: vec![n],
            weight: user.weight().clone(),
            tasks: user.tasks().cloned(),
            classes: problem.classes_of(n).collect(),
        }
    }

    /// A member that stands for all.
    #[must_use]
    pub fn representative(&self) -> usize {
        self.members[0]
    }
}

/// Groups of the users for which `takes_part` holds, in order of their first members. Users in one
/// group also share `extra`: whatever else a programme knows of a user.
#[must_use]
pub fn merge<'a>(
    constraints: &Constraints<'a>,
    takes_part: impl Fn(usize) -> bool,
    extra: impl Fn(usize) -> Option<&'a Rational> + Sync,
) -> Vec<Group> {
    let problem = constraints.problem();
    let mut groups: Vec<Group> = Vec::new();
    let key = |n: usize| {
        let user = &problem.users()[n];
        let runs = (user.base_demand(), user.demand_overrides(), user.servers(), user.given_gamma());
        (user.weight(), user.tasks(), runs, user.criterion(), extra(n))
    };
    let users: Vec<usize> = (0..problem.n_users()).filter(|&n| takes_part(n)).collect();
    let kinds = Kinds::new(users.len(), |at| key(users[at]));
    for (&n, kind) in users.iter().zip(kinds.of) {
        let Some(group) = groups.get_mut(kind as usize) else {
            groups.push(Group::alone(problem, n));
            continue;
        };
        let user = &problem.users()[n];
        group.members.push(n);
        group.weight += user.weight();
        if let (Some(sum), Some(tasks)) = (&mut group.tasks, user.tasks()) {
            *sum += tasks;
        }
    }
    groups
}

/// What one task of user `n` on class `i` uses, as entries of a column: `(capacity row, amount)`.
#[must_use]
pub fn capacity_entries(constraints: &Constraints<'_>, n: usize, i: usize) -> SparseRow {
    let usage = constraints.usage(n, i).unwrap_or_default();
    let start = constraints.class_rows(i).start;
    usage.entries().map(|(position, usage)| (start + position, usage.clone())).collect()
}

/// What it takes of limits of groups, which are rows after those of the classes.
#[must_use]
pub fn limit_entries(constraints: &Constraints<'_>, limits: &LimitRows, n: usize, i: usize) -> SparseRow {
    let first = constraints.rows().len();
    let counted = limits.counting(constraints.problem(), n, i);
    let mut entries: SparseRow = counted.map(|(at, d)| (first + at, d.clone())).collect();
    entries.sort_unstable_by_key(|(row, _)| *row);
    entries
}
