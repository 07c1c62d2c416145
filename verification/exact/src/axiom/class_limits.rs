//! Limits of groups on some server classes, and the amounts that an allocation leaves unused of these limits.
//!
//! A limit of group `v` on a set `S` of classes bounds $\sum x_{ni} d_{nir}$ over the users below `v` and the classes
//! of `S`. The number of tasks that such limits allow a user is computed for each class. On class `i` this number is
//! the least $\max(0, L - \text{held}) / d_{nir}$ of the limits above the user whose sets contain `i`.

use std::collections::BTreeMap;

use evenhand_problem::{Problem, Rational};

use crate::axiom::work_conserving::{Fitting, whole_tasks};
use crate::budget::TooLarge;
use crate::evidence::ClassMark;
use crate::instance::Instance;
use crate::refusal::Refusal;

/// A limit of a group on server classes.
pub(super) struct ClassLimit<'p> {
    pub group: usize,
    pub resource: usize,
    /// The classes, ascending.
    pub servers: &'p [usize],
    /// The unused amount of the limit. It is negative if the limit is exceeded.
    pub left: Rational,
}

/// All limits on server classes.
pub(super) struct ClassLimits<'p> {
    problem: &'p Problem,
    pub list: Vec<ClassLimit<'p>>,
    /// For each group, the positions of its own limits in `list`.
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

    /// Returns the positions of the limits of all groups above a user.
    fn above(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        let groups = self.problem.groups();
        groups.above(groups.member(n).group).flat_map(|v| self.of_group[v].clone())
    }

    /// Returns the number of tasks of user `n` that the limits allow on class `i`, and the limit that allows the
    /// fewest. Returns `None` if no limit counts these tasks.
    pub fn tasks_allowed(&self, n: usize, i: usize) -> Option<(Rational, ClassMark)> {
        let all = self.above(n).map(|at| &self.list[at]);
        let all = all.filter_map(|limit| Some((self.left_of(limit, n, i)?, limit)));
        all.min_by(|a, b| a.0.cmp(&b.0)).map(|(left, limit)| {
            let on = limit.servers.to_vec();
            (left, ClassMark { group: limit.group, on, resource: limit.resource })
        })
    }

    /// Returns the number of tasks of user `n` that one limit allows on class `i`. Returns `None` if the limit does not
    /// count them.
    fn left_of(&self, limit: &ClassLimit<'_>, n: usize, i: usize) -> Option<Rational> {
        let demand = &self.problem.demand(n, i)[limit.resource];
        let counts = !demand.is_zero() && limit.servers.binary_search(&i).is_ok();
        counts.then(|| Rational::from(&limit.left / demand).max(Rational::new()))
    }

    /// Searches for a distribution of a gang of `gang` tasks of user `n` over classes, within all limits on classes.
    /// Each limit counts the gang once, as a whole. `fitting` states how many tasks fit on the servers of each class.
    /// Returns `(class, tasks)`, or `None` if there is no such distribution.
    ///
    /// Classes for which all limits count the same amounts form one column. The search is complete: it tries every
    /// number of tasks on a column, the largest first. Columns are sorted by the amounts that the limits count. If no
    /// later column takes less of any limit, only the largest number is tried, because every task on a later column
    /// could also be on the present column.
    ///
    /// # Errors
    /// Returns [`TooLarge`] if the search exceeds the budget.
    pub fn distribute(
        &self,
        instance: &Instance<'_>,
        n: usize,
        fitting: &[Fitting],
        gang: u64,
    ) -> Result<Option<Vec<(usize, u64)>>, TooLarge> {
        let limits: Vec<&ClassLimit<'_>> = self.above(n).map(|at| &self.list[at]).collect();
        let steps = instance.steps().saturating_mul(limits.len() as u64 + 1);
        instance.budget().charge(steps.saturating_mul(4 * fitting.len() as u64))?;
        let mut by_demand: BTreeMap<Vec<Rational>, Vec<&Fitting>> = BTreeMap::new();
        for of in fitting.iter().filter(|of| of.tasks > 0) {
            let takes = |limit: &&ClassLimit<'_>| match limit.servers.binary_search(&of.class) {
                Ok(_) => self.problem.demand(n, of.class)[limit.resource].clone(),
                Err(_) => Rational::new(),
            };
            by_demand.entry(limits.iter().map(takes).collect()).or_default().push(of);
        }
        let left = limits.iter().map(|limit| limit.left.clone().max(Rational::new())).collect();
        let columns = by_demand.iter().map(|(takes, of)| (takes, of.iter().map(|of| of.tasks).sum()));
        let Some(chosen) = Columns::new(columns.collect()).fill(instance, steps, gang, left)? else {
            return Ok(None);
        };
        let mut by_class: Vec<(usize, u64)> = Vec::new();
        for (of_column, mut tasks) in by_demand.values().zip(chosen) {
            for of in of_column {
                by_class.push((of.class, of.tasks.min(tasks)));
                tasks -= of.tasks.min(tasks);
            }
        }
        by_class.retain(|(_, tasks)| *tasks > 0);
        by_class.sort_unstable();
        Ok(Some(by_class))
    }

    /// Returns true if some limit counts tasks of user `n` on a class where the user can run.
    pub fn counts_tasks_of(&self, n: usize) -> bool {
        !self.list.is_empty() && self.problem.classes_of(n).any(|i| self.tasks_allowed(n, i).is_some())
    }
}

/// Classes for which the limits count the same amounts. The search for a distribution of a gang treats them as one
/// column.
struct Column<'d> {
    /// The amount that a task takes of each limit.
    takes: &'d [Rational],
    /// The number of tasks that fit on the servers of these classes.
    tasks: u64,
    /// The number of tasks that fit on the servers of all later columns.
    later: u64,
    /// True if no later column takes less of any limit.
    is_least: bool,
}

/// All columns of a search, in the order of the search.
struct Columns<'d>(Vec<Column<'d>>);

impl<'d> Columns<'d> {
    fn new(columns: Vec<(&'d Vec<Rational>, u64)>) -> Self {
        let mut list: Vec<Column<'d>> = Vec::new();
        let mut least: Option<Vec<&Rational>> = None;
        let mut later = 0u64;
        for (takes, tasks) in columns.into_iter().rev() {
            let is_least =
                least.as_ref().is_none_or(|least| takes.iter().zip(least).all(|(own, least)| own <= *least));
            least = Some(match least {
                None => takes.iter().collect(),
                Some(least) => takes.iter().zip(least).map(|(own, least)| own.min(least)).collect(),
            });
            list.push(Column { takes, tasks, later, is_least });
            later = later.saturating_add(tasks);
        }
        list.reverse();
        Self(list)
    }

    /// Returns the tasks of a gang on each column, if all of them fit within the limits. Columns at the end that have
    /// no tasks are omitted. Each number that is tried charges `steps`.
    fn fill(
        &self,
        instance: &Instance<'_>,
        steps: u64,
        gang: u64,
        mut left: Vec<Rational>,
    ) -> Result<Option<Vec<u64>>, TooLarge> {
        let (mut chosen, mut need): (Vec<u64>, u64) = (Vec::new(), gang);
        while need > 0 {
            instance.budget().charge(steps)?;
            if let Some(column) =
                self.0.get(chosen.len()).filter(|of| of.tasks.saturating_add(of.later) >= need)
            {
                let limited = column.takes.iter().zip(&left).filter(|(d, _)| !d.is_zero());
                let most = limited.map(|(d, left)| whole_tasks(Rational::from(left / d)));
                let tasks = most.fold(column.tasks.min(need), u64::min);
                column.change(&mut left, tasks, false);
                need -= tasks;
                chosen.push(tasks);
                continue;
            }
            // Backtracks to the last column on which fewer tasks could help.
            loop {
                let Some(tasks) = chosen.pop() else { return Ok(None) };
                instance.budget().charge(steps)?;
                let column = &self.0[chosen.len()];
                column.change(&mut left, tasks, true);
                need += tasks;
                if tasks > 0 && !column.is_least && column.later > need - tasks {
                    column.change(&mut left, tasks - 1, false);
                    need -= tasks - 1;
                    chosen.push(tasks - 1);
                    break;
                }
            }
        }
        Ok(Some(chosen))
    }
}

impl Column<'_> {
    /// Subtracts the amounts of `tasks` tasks from the unused amounts of the limits, or adds them if `gives_back` is
    /// true.
    fn change(&self, left: &mut [Rational], tasks: u64, gives_back: bool) {
        for (left, d) in left.iter_mut().zip(self.takes).filter(|(_, d)| !d.is_zero()) {
            let taken = Rational::from(d * tasks);
            if gives_back { *left += taken } else { *left -= taken }
        }
    }
}
