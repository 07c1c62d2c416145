//! Groups of users that no mechanism can tell apart. A group is solved as one user, and its tasks are divided among its
//! members afterwards.

use evenhand_exact::LimitRows;
use evenhand_lp::linear::SparseRow;
use evenhand_problem::{Constraints, Kinds, Problem, Rational};

/// A group of users with the same demand, eligibility, weight and tasks.
#[derive(Debug, Clone)]
pub struct Group {
    /// The indices of the users, ascending; never empty.
    pub members: Vec<usize>,
    /// The sum of the members' weights.
    pub weight: Rational,
    /// The sum of the members' tasks. `None` for unlimited tasks.
    pub tasks: Option<Rational>,
    /// The classes on which a member can run, ascending.
    pub classes: Vec<usize>,
}

impl Group {
    /// Returns a group with a single user.
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

    /// Returns the member whose demand stands for the demand of every member.
    #[must_use]
    pub fn representative(&self) -> usize {
        self.members[0]
    }
}

/// Groups the users for which `takes_part` returns true. Groups are in order of their first members.
///
/// Users of one group also have the same `extra`: a further property of a user that a programme distinguishes.
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

/// Returns the usage of one task of user `n` on class `i` as entries of a column:
/// `(capacity row, amount)`.
#[must_use]
pub fn capacity_entries(constraints: &Constraints<'_>, n: usize, i: usize) -> SparseRow {
    let usage = constraints.usage(n, i).unwrap_or_default();
    let start = constraints.class_rows(i).start;
    usage.entries().map(|(position, usage)| (start + position, usage.clone())).collect()
}

/// Returns the usage of one task of user `n` on class `i` in the rows of group limits: `(row, amount)`. The rows of
/// limits follow the capacity rows of the classes.
#[must_use]
pub fn limit_entries(constraints: &Constraints<'_>, limits: &LimitRows, n: usize, i: usize) -> SparseRow {
    let first = constraints.rows().len();
    let counted = limits.counting(constraints.problem(), n, i);
    let mut entries: SparseRow = counted.map(|(at, d)| (first + at, d.clone())).collect();
    entries.sort_unstable_by_key(|(row, _)| *row);
    entries
}
