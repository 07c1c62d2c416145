//! What groups may hold on some server classes, and what an allocation leaves of it.
//!
//! A limit of group `v` on a set `S` of classes is about $\sum x_{ni} d_{nir}$ over the users below `v` and the classes
//! of `S`. What it leaves to a user is looked at class by class: on class `i` the least
//! $\max(0, L - \text{held}) / d_{nr}$ of the limits above the user whose sets hold `i`.

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

    /// Where a gang of `gang` tasks of user `n` fits within all limits on classes, each of which counts the whole gang once:
    /// its tasks by class, or `None`. So many tasks fit on the servers of each class.
    ///
    /// Classes of which all limits count the same are one column. The search is complete: it tries every number of tasks
    /// on a column, the largest first. Columns ascend by what the limits count, and where no later column takes less of
    /// any limit only the largest number is tried: a task on a later column could as well be on this one.
    ///
    /// # Errors
    /// [`TooLarge`] when the search takes more than the budget.
    pub fn places(
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

    /// Whether there is one that counts tasks of a user on some class on which it can run.
    pub fn concern(&self, n: usize) -> bool {
        !self.list.is_empty() && self.problem.classes_of(n).any(|i| self.leave(n, i).is_some())
    }
}

/// Classes of which the limits count the same, for a search for the tasks of a gang.
struct Column<'d> {
    /// What a task takes of each limit.
    takes: &'d [Rational],
    /// How many tasks fit on its servers.
    tasks: u64,
    /// How many fit on those of the later columns.
    later: u64,
    /// Whether no later column takes less of any limit.
    is_least: bool,
}

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

    /// The tasks of a gang by column (none on those that are left out), where all of them fit in what the limits leave.
    /// Each number that is tried costs so many steps.
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
            // Back to the last column on which fewer tasks could help.
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
    /// Takes what so many tasks need of what the limits leave, or gives it back.
    fn change(&self, left: &mut [Rational], tasks: u64, gives_back: bool) {
        for (left, d) in left.iter_mut().zip(self.takes).filter(|(_, d)| !d.is_zero()) {
            let taken = Rational::from(d * tasks);
            if gives_back { *left += taken } else { *left -= taken }
        }
    }
}
