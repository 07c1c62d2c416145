//! The data of a problem that all rounds share: groups of users, and numbers in doubles that are computed once.

use std::collections::BTreeMap;

use evenhand_budget::{charge, each, room};
use evenhand_exact::ShareCoefficients;
use evenhand_problem::{Constraints, Rational};

use super::TasksInDoubles;
use crate::groups::{Group, merge};

/// The name under which work is charged to the budget in this module.
const WHAT: &str = "the table of users and the server classes that they may use";
/// The steps of the budget for one user on one class: the pair is read, and copied with its usage.
const PAIR_STEPS: u64 = 20;
/// The bytes for a group on a class. Several tables store the class, its placement and its cost.
const PLACEMENT_BYTES: u64 = 40;

/// The usage of one task on a class: `(position among the rows of the class, amount)`.
type Usage = Vec<(usize, f64)>;

/// The users as groups, and the units in which the level of each group is measured.
///
/// Groups are indexed in order of their first members. Rows are the rows of [`Constraints`].
pub struct LevelData<'a> {
    pub constraints: &'a Constraints<'a>,
    pub coefficients: &'a ShareCoefficients,
    pub groups: Vec<Group>,
    /// For each group, `w / u`: the tasks per unit of level, if one task is worth the same on every class.
    pub tasks_per_level: Vec<Option<Rational>>,
    /// For each group, the level `u T / w` at which the group has all its tasks. `None` if the level alone does not
    /// tell (unlimited tasks, or `u` that depends on the class).
    pub satisfied_at: Vec<Option<Rational>>,
    /// For each group, the base demand `(resource, amount)`: the demand on classes for which the user states no other
    /// demand.
    pub base_demand: Vec<Vec<(usize, f64)>>,
    /// For each group, the usage of a task on each of its classes, `(position among the rows of the class, amount)`.
    /// `None` if the base demand determines the usage.
    pub other_usage: Vec<Option<Vec<Usage>>>,
    /// For each group, its tasks by class in an allocation that may be the answer.
    pub known: Option<Vec<BTreeMap<usize, f64>>>,
}

impl<'a> LevelData<'a> {
    pub fn new(constraints: &'a Constraints<'a>, coefficients: &'a ShareCoefficients) -> Self {
        let problem = constraints.problem();
        let pairs: u64 =
            problem.users().iter().map(|u| u.servers().map_or(problem.n_servers(), <[_]>::len) as u64).sum();
        charge(PAIR_STEPS.saturating_mul(pairs), WHAT);
        let takes_part = |n: usize| {
            problem.is_active(n) && problem.classes_of(n).any(|i| !coefficients.of(n, i).is_zero())
        };
        let mut groups = merge(constraints, takes_part, |_| None);
        for group in &mut groups {
            let n = group.representative();
            group.classes.retain(|&i| !coefficients.of(n, i).is_zero());
        }
        let placements: u64 = groups.iter().map(|group| group.classes.len() as u64).sum();
        room(PLACEMENT_BYTES.saturating_mul(placements), WHAT);
        let tasks_per_level: Vec<Option<Rational>> = each(groups.len(), 1, |g| {
            let u = uniform(coefficients, &groups[g])?;
            Some(Rational::from(&groups[g].weight / u))
        });
        let satisfied_at = each(groups.len(), 1, |g| {
            Some(Rational::from(groups[g].tasks.as_ref()? / tasks_per_level[g].as_ref()?))
        });
        let base_demand = each(groups.len(), 1, |g| {
            let demand = problem.users()[groups[g].representative()].base_demand().entries();
            demand.iter().map(|(r, demand)| (*r, demand.to_f64())).collect()
        });
        let time_shared = (0..problem.n_servers()).any(|i| constraints.is_time_shared(i));
        let usage = |group: &Group, i: usize| -> Usage {
            let usage = constraints.usage(group.representative(), i).unwrap_or_default();
            usage.entries().map(|(at, amount)| (at, amount.to_f64())).collect()
        };
        let other = |g: usize| {
            let group = &groups[g];
            let user = &problem.users()[group.representative()];
            let is_plain = !time_shared && user.demand_overrides().is_empty();
            (!is_plain).then(|| group.classes.iter().map(|&i| usage(group, i)).collect())
        };
        let other_usage = each(groups.len(), 1, other);
        let known = None;
        Self {
            constraints,
            coefficients,
            groups,
            tasks_per_level,
            satisfied_at,
            base_demand,
            other_usage,
            known,
        }
    }

    /// Stores an allocation that may be the answer. `tasks` is indexed by user.
    pub fn set_known_allocation(&mut self, tasks: &TasksInDoubles) {
        let of_group = |group: &Group| {
            let mut sum: BTreeMap<usize, f64> = BTreeMap::new();
            for (i, x) in group.members.iter().flat_map(|n| &tasks[*n]) {
                *sum.entry(*i).or_default() += x;
            }
            sum
        };
        self.known = Some(self.groups.iter().map(of_group).collect());
    }

    /// Returns the tasks of a group on class `i` that raise its level by one.
    pub fn tasks_per_level_on(&self, group: usize, i: usize) -> Rational {
        let u = self.coefficients.of(self.groups[group].representative(), i);
        Rational::from(&self.groups[group].weight / u)
    }
}

fn uniform<'c>(coefficients: &'c ShareCoefficients, group: &Group) -> Option<&'c Rational> {
    let n = group.representative();
    let (first, rest) = group.classes.split_first()?;
    let u = coefficients.of(n, *first);
    rest.iter().all(|&i| coefficients.of(n, i) == u).then_some(u)
}
