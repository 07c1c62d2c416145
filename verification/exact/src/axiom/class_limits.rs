//! What groups may hold on some server classes, and what an allocation leaves of it.
//!
//! A limit of group `v` on a set `S` of classes is about $\sum x_{ni} d_{nir}$ over the users below `v` and the classes
//! of `S`. What it leaves to a user is looked at class by class: on class `i` the least
//! $\max(0, L - \text{held}) / d_{nr}$ of the limits above the user whose sets hold `i`.

use evenhand_problem::{Problem, Rational};

use crate::instance::Instance;
use crate::refusal::Refusal;

/// A limit of a group on server classes.
pub(super) struct ClassLimit<'p> {
    pub group: usize,
    pub resource: usize,
    /// Ascending.
    pub servers: &'p [usize],
    /// What is left of it; below 0 where it is exceeded.
    pub left: Rational,
}

/// All limits on server classes.
pub(super) struct ClassLimits<'p> {
    problem: &'p Problem,
    pub list: Vec<ClassLimit<'p>>,
    /// By group: which are its own.
    of_group: Vec<std::ops::Range<usize>>,
}

impl<'p> ClassLimits<'p> {
    pub fn new(instance: &Instance<'p>) -> Result<Self, Refusal> {
        let problem = instance.problem();
        let groups = problem.groups();
        let (mut list, mut of_group) = (Vec::new(), Vec::new());
        for (group, of) in groups.list().iter().enumerate() {
            let from = list.len();
            for on in &of.on {
                list.extend(on.limit.iter().map(|(resource, most)| ClassLimit {
                    group,
                    resource: *resource,
                    servers: &on.servers,
                    left: most.clone(),
                }));
            }
            of_group.push(from..list.len());
        }
        let mut limits = Self { problem, list, of_group };
        if limits.list.is_empty() {
            return Ok(limits);
        }
        for (n, tasks) in instance.tasks().iter().enumerate() {
            let above: Vec<usize> = limits.above(n).collect();
            instance.budget().charge(instance.steps().saturating_mul((above.len() * tasks.len()) as u64))?;
            for at in above {
                let ClassLimit { resource, servers, left, .. } = &mut limits.list[at];
                for (i, x) in tasks.iter().filter(|(i, _)| servers.binary_search(i).is_ok()) {
                    let d = &problem.demand(n, *i)[*resource];
                    if !d.is_zero() {
                        *left -= Rational::from(d * x);
                    }
                }
            }
        }
        Ok(limits)
    }

    /// Those of the groups above a user.
    fn above(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        let groups = self.problem.groups();
        groups.above(groups.member(n).group).flat_map(|v| self.of_group[v].clone())
    }

    /// How many tasks they leave to a user with one demand on a class; `None`: any number.
    fn leave(&self, n: usize, i: usize) -> Option<Rational> {
        let demand = self.problem.users()[n].base_demand();
        let here = self
            .above(n)
            .map(|at| &self.list[at])
            .filter(|limit| !demand[limit.resource].is_zero() && limit.servers.binary_search(&i).is_ok());
        let tasks = here.map(|limit| Rational::from(&limit.left / &demand[limit.resource]));
        tasks.min().map(|least| least.max(Rational::new()))
    }

    /// How many tasks they leave to a user with one demand on all classes on which it can run; `None`: any number.
    pub fn leave_in_all(&self, n: usize) -> Option<Rational> {
        if self.list.is_empty() {
            return None;
        }
        self.problem.classes_of(n).map(|i| self.leave(n, i)).sum()
    }
}
