//! What groups may hold on some server classes, and what an allocation leaves of it.
//!
//! A limit of group `v` on a set `S` of classes is about $\sum x_{ni} d_{nir}$ over the users below `v` and the classes
//! of `S`. What it leaves to a user is looked at class by class: on class `i` the least
//! $\max(0, L - \text{held}) / d_{nr}$ of the limits above the user whose sets hold `i`.

use evenhand_problem::{Problem, Rational};

use crate::evidence::ClassMark;
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

    /// How many tasks they leave to a user on a class, and which leaves so few; `None`: any number.
    pub fn leave(&self, n: usize, i: usize) -> Option<(Rational, ClassMark)> {
        let all = self.above(n).map(|at| &self.list[at]);
        let all = all.filter_map(|limit| Some((self.left_of(limit, n, i)?, limit)));
        all.min_by(|a, b| a.0.cmp(&b.0)).map(|(left, limit)| {
            let on = limit.servers.to_vec();
            (left, ClassMark { group: limit.group, on, resource: limit.resource })
        })
    }

    fn left_of(&self, limit: &ClassLimit<'_>, n: usize, i: usize) -> Option<Rational> {
        let demand = &self.problem.demand(n, i)[limit.resource];
        let counts = !demand.is_zero() && limit.servers.binary_search(&i).is_ok();
        counts.then(|| Rational::from(&limit.left / demand).max(Rational::new()))
    }

    /// Whether there is one that counts tasks of a user on some class on which it can run.
    pub fn concern(&self, n: usize) -> bool {
        !self.list.is_empty() && self.problem.classes_of(n).any(|i| self.leave(n, i).is_some())
    }
}
