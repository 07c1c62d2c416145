//! Migrations: running tasks start again on other servers, so that a waiting gang could start (docs/verdict.md, "Which
//! tasks to move for a job").
//!
//! A migration stops a task and starts it on another server in one step. The search proposes migrations of
//! the least cost, and [`Standing::may_start`] decides whether each step is possible. A lower bound on the
//! cost is proven in two ways. The first proof is the least cost of the tasks that have to leave any set of
//! servers that could hold the gang. The second proof, on small clusters, is a complete search.

mod ages;
mod amounts;
mod bound;
mod hosts;
mod order;
mod search;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use evenhand_mechanisms::tree::Rule;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Allocation, Problem, Rational};

pub use self::ages::Ages;
use self::hosts::{Hosts, standing_with_empty_servers};
use self::order::{Step, tasks_of};
use self::search::{FEW_HOSTS, Pass, Search};
use crate::due::by_rule;
use crate::error::ClusterError;
use crate::moves::Move;
use crate::queues::{Queues, gang};
use crate::rooms::Bound;
use crate::servers::placed;
use crate::starts::{Answer, Assignment, STEPS_OF_A_VERDICT, Standing};
use crate::task_rules::TaskRules;

/// The largest work of a search for one job. A unit of work is the visit of one server or one task, and takes
/// 50 to 200 nanoseconds.
const WORK_OF_A_JOB: u64 = 20_000_000;
/// The largest work for all jobs of [`Defragmentation::pack`] together.
const WORK_OF_A_PACK: u64 = 40_000_000;
/// The largest work for one job of [`Defragmentation::pack`].
const WORK_OF_A_JOB_IN_A_PACK: u64 = 4_000_000;
/// The amount by which the cost of a greedy plan may exceed four times the lower bound, in whole units of cost.
const GENEROUS: u64 = 1 << 44;
/// The largest number of incomplete passes of one search.
const MOST_INCOMPLETE_PASSES: u32 = 12;
/// The product of servers and the squared number of tasks of a gang, beyond which a certificate states no lower bound.
const MOST_STEPS_OF_A_CERTIFICATE: u64 = 5_000_000;
/// The number of empty servers of each class that are considered in addition to the servers for the largest gang.
const SPARE: u64 = 200;

/// The cost of one migrated task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Cost {
    /// Every task costs 1.
    #[default]
    Count,
    /// A task costs 1 plus its priority minus the least priority of a running task.
    Priority,
    /// The cost of one task of each user, at least 0. A task of a user that is not in the map costs 1.
    Users(BTreeMap<usize, Rational>),
    /// Costs by the time for which tasks have run.
    Age(Ages),
}

/// The tasks that may migrate, and their costs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The users whose tasks do not migrate.
    pub pinned: BTreeSet<usize>,
    /// True if no task migrates for a job of a lower priority.
    pub strict_priority: bool,
    /// The cost of one migrated task.
    pub cost: Cost,
}

/// The parts of a running cluster on which migrations depend.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// The problem, with the share of the rule.
    pub problem: Problem,
    /// The constraints of the snapshot.
    pub rules: TaskRules,
    /// The running tasks.
    pub allocation: Allocation,
    /// True if the capacities of servers are rounded down to the least of their class.
    pub is_rounded: bool,
}

/// The answer to the question which tasks to migrate so that a job could start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrations {
    /// The first user of the start.
    pub job: usize,
    /// The result of the search.
    pub outcome: Outcome,
    /// A proven lower bound on the cost of migrations after which the job could start. `None` if no
    /// migrations suffice.
    pub least: Option<Rational>,
    /// The conditions that also decide whether the job could start and that the snapshot does not model.
    pub not_modelled: Vec<String>,
}

/// The result of a search for migrations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The job could start now, without any migration. The plan is its start alone.
    StartsNow(Plan),
    /// The job could start after these migrations.
    Plan(Plan),
    /// No migrations help, for this reason.
    Never(Obstacle),
    /// The search found no migrations. This result does not prove that no migrations help.
    NotFound {
        /// True if a set of migrations exists for which no feasible order was found. Some task would need a temporary
        /// server.
        needs_temporary_place: bool,
    },
}

/// Migrations in their order, followed by the start of the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The migrations, followed by the start of the job as the last step.
    pub steps: Vec<Move>,
    /// The number of tasks that stop and start again.
    pub tasks: u64,
    /// The sum of the costs of these tasks.
    pub cost: Rational,
}

/// A proof that no migrations help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// The job has no waiting gang.
    Tasks,
    /// A limit, capacity that is kept back, or the weight 0 of a group stops the job on all servers. The
    /// amount is the excess over the bound.
    Bound(Bound, Rational),
    /// No servers that the job may use could hold its gang, even if all tasks that may migrate left these servers.
    Servers,
    /// All servers together have less free capacity than the gang demands.
    Capacity {
        /// The resource.
        resource: usize,
        /// The free capacity of all servers on which the job or a task that may migrate may start.
        free: Rational,
        /// The demand of the gang.
        needed: Rational,
    },
    /// A complete search has tried all migrations.
    Searched,
}

impl Migrations {
    /// Returns the plan. If the job could start now, the plan has no migrations. Returns `None` if no plan
    /// was found.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        match &self.outcome {
            Outcome::StartsNow(plan) | Outcome::Plan(plan) => Some(plan),
            Outcome::Never(_) | Outcome::NotFound { .. } => None,
        }
    }

    /// Returns `true` if the cost of the plan is proven to be the least.
    #[must_use]
    pub fn is_cheapest(&self) -> bool {
        self.plan().is_some_and(|plan| self.least.as_ref() == Some(&plan.cost))
    }
}

/// The result of [`Defragmentation::pack`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    /// The largest waiting gang for which a plan was found.
    pub found: Option<Migrations>,
    /// The larger gangs for which the search found neither a plan nor a proof that no plan exists.
    pub not_known: Vec<usize>,
    /// The number of larger gangs for which no migrations help.
    pub never: usize,
    /// The number of gangs that could start now without any migration.
    pub start_now: usize,
}

impl Settings {
    /// Returns the cost of one task of each user.
    fn costs(&self, problem: &Problem, rules: &TaskRules, allocation: &Allocation) -> Vec<Rational> {
        let one = || Rational::from(1);
        match &self.cost {
            Cost::Count => (0..problem.n_users()).map(|_| one()).collect(),
            Cost::Users(costs) | Cost::Age(Ages { costs, .. }) => {
                (0..problem.n_users()).map(|n| costs.get(&n).cloned().unwrap_or_else(one)).collect()
            }
            Cost::Priority => {
                let runs = |n: &usize| allocation.tasks[*n].iter().any(|(_, tasks)| *tasks > 0);
                let priority = |n: usize| rules.of(n).priority;
                let least = (0..problem.n_users()).filter(runs).map(priority).min().unwrap_or(0);
                let above = |n: usize| i128::from(priority(n)) - i128::from(least) + 1;
                (0..problem.n_users()).map(|n| Rational::from(above(n).max(1))).collect()
            }
        }
    }
}

impl Cluster {
    /// Reads a snapshot, with the share of a rule.
    ///
    /// # Errors
    /// The errors of [`by_rule`]. [`ClusterError::NoPlacements`] if the servers of tasks are not known.
    /// [`ClusterError::NotWhole`] if a server runs a fraction of a task.
    pub fn new(snapshot: &Snapshot, rule: Option<Rule>) -> Result<Self, ClusterError> {
        let problem = by_rule(&snapshot.problem, rule)?.unwrap_or_else(|| snapshot.problem.clone());
        let allocation = Allocation { mechanism: None, rule: None, ..snapshot.allocation.clone() };
        let Some(placements) = &allocation.placements else { return Err(ClusterError::NoPlacements) };
        let mut all = placements.iter().flat_map(|on| &on.tasks);
        if let Some((n, tasks)) = all.find(|(_, tasks)| !tasks.is_integer() || *tasks < 0) {
            let user = problem.users()[*n].name().to_owned();
            return Err(ClusterError::NotWhole { user, tasks: tasks.to_string() });
        }
        let rules = TaskRules::new(snapshot);
        Ok(Self { problem, rules, allocation, is_rounded: !snapshot.rounded.is_empty() })
    }

    /// Returns the users whose gangs wait, one for each start.
    #[must_use]
    pub fn waiting(&self) -> Vec<usize> {
        let queues = Queues::new(&self.problem, &self.rules);
        let Some(standing) = Standing::new(&self.problem, &self.rules, &self.allocation) else {
            return Vec::new();
        };
        let totals = standing.rooms.totals();
        let waits = |n: &usize| self.rules.leads(*n) && queues.waits(*n, totals);
        (0..self.problem.n_users()).filter(waits).collect()
    }

    /// Returns the number of empty servers of each class that the search considers.
    fn spare(&self) -> u64 {
        let start = |n: usize| self.rules.start(n).iter().map(|m| gang(&self.problem, *m)).sum::<u64>();
        (0..self.problem.n_users()).map(start).max().unwrap_or(1).saturating_add(SPARE)
    }

    /// Returns the allocation after the steps of a plan.
    #[must_use]
    pub fn after(&self, steps: &[Move]) -> Allocation {
        let Some(mut standing) = Standing::new(&self.problem, &self.rules, &self.allocation) else {
            return self.allocation.clone();
        };
        standing = standing_with_empty_servers(standing, &self.allocation, self.spare());
        for step in steps {
            for (sign, tasks) in [(-1_i64, &step.stop), (1, &step.start)] {
                for (n, places) in tasks {
                    for (place, count) in places {
                        standing.change(*n, *place, &Rational::from(sign * *count as i64));
                    }
                }
            }
        }
        placed(&self.allocation, standing.servers.placements())
    }
}

/// The search for migrations on a cluster. It can be used for several jobs.
#[derive(Debug)]
pub struct Defragmentation<'c> {
    cluster: &'c Cluster,
    settings: &'c Settings,
    queues: Queues<'c>,
    standing: Standing<'c>,
    /// The number of steps that may still be taken by searches for servers without migrations.
    steps: u64,
}

impl<'c> Defragmentation<'c> {
    /// Prepares a search.
    ///
    /// # Errors
    /// [`ClusterError::NoPlacements`] if the servers of tasks are not known.
    pub fn new(cluster: &'c Cluster, settings: &'c Settings) -> Result<Self, ClusterError> {
        let Cluster { problem, rules, allocation, .. } = cluster;
        let Some(standing) = Standing::new(problem, rules, allocation) else {
            return Err(ClusterError::NoPlacements);
        };
        let standing = standing_with_empty_servers(standing, allocation, cluster.spare());
        let queues = Queues::new(problem, rules);
        Ok(Self { cluster, settings, queues, standing, steps: STEPS_OF_A_VERDICT })
    }

    /// Searches for migrations of the least cost after which a gang of a user could start.
    ///
    /// # Errors
    /// [`ClusterError::TooLong`] if amounts or costs have too many digits.
    pub fn plan(&mut self, n: usize) -> Result<Migrations, ClusterError> {
        let mut hosts = self.hosts(n)?;
        let mut work = WORK_OF_A_JOB;
        Ok(self.plan_with(&mut hosts, n, &mut work))
    }

    /// Returns the lower bound on the number of migrated tasks that a certificate states. It counts the tasks that have
    /// to leave any set of servers that could hold the gang. The bound is 0 if its computation would be too long for
    /// the kernel.
    ///
    /// # Errors
    /// [`ClusterError::TooLong`] if amounts have too many digits.
    pub fn least_of_certificate(&mut self, n: usize) -> Result<u64, ClusterError> {
        let (problem, rules) = (&self.cluster.problem, &self.cluster.rules);
        let most = rules.start(n).iter().map(|m| gang(problem, *m)).max().unwrap_or(0);
        let servers = self.standing.servers.classes.iter().map(Vec::len).sum::<usize>() as u64;
        if most.saturating_mul(most).saturating_mul(servers) > MOST_STEPS_OF_A_CERTIFICATE {
            return Ok(0);
        }
        let hosts = self.hosts(n)?;
        let mut hosts = hosts.with_all_tasks(&self.standing);
        let mut work = u64::MAX;
        Ok(self.bound(&mut hosts, n, &mut work).unwrap_or(0))
    }

    fn hosts(&mut self, n: usize) -> Result<Hosts<'c>, ClusterError> {
        let start = self.cluster.rules.start(n).iter();
        let priority = start.map(|m| self.cluster.rules.of(*m).priority).min();
        let strict = priority.filter(|_| self.settings.strict_priority);
        Hosts::new(&mut self.standing, &self.cluster.allocation, self.settings, strict)
            .ok_or(ClusterError::TooLong)
    }

    /// Searches for the largest waiting gang that could start after migrations but not now. The size of a gang is the number of
    /// its tasks, then its largest fraction of the capacity.
    ///
    /// # Errors
    /// [`ClusterError::TooLong`] if amounts or costs have too many digits.
    pub fn pack(&mut self) -> Result<Pack, ClusterError> {
        let problem = &self.cluster.problem;
        let rules = &self.cluster.rules;
        let capacity = problem.total_capacity();
        let size = |n: &usize| {
            let tasks: u64 = rules.start(*n).iter().map(|m| gang(problem, *m)).sum();
            let amounts = rules.amounts(problem, *n);
            let fraction = |(r, amount): &(usize, Rational)| {
                if capacity[*r].is_zero() { Rational::new() } else { Rational::from(amount / &capacity[*r]) }
            };
            std::cmp::Reverse((tasks, amounts.iter().map(fraction).max().unwrap_or_default()))
        };
        let mut waiting = self.cluster.waiting();
        waiting.sort_by_cached_key(|n| (size(n), *n));
        let mut pack = Pack { found: None, not_known: Vec::new(), never: 0, start_now: 0 };
        let mut left = WORK_OF_A_PACK;
        let mut hosts: Option<(Option<i64>, Hosts<'c>)> = None;
        // Gangs that differ only in their names have the same answer.
        let mut refused: HashSet<String> = HashSet::new();
        for n in waiting {
            if !rules.not_modelled(n).is_empty() {
                pack.not_known.push(n);
                continue;
            }
            let shape = self.shape(n);
            if refused.contains(&shape) {
                pack.never += 1;
                continue;
            }
            let priority = rules.start(n).iter().map(|m| rules.of(*m).priority).min();
            let strict = priority.filter(|_| self.settings.strict_priority);
            if hosts.as_ref().is_none_or(|(of, _)| *of != strict) {
                hosts = Some((strict, self.hosts(n)?));
            }
            let Some((_, hosts)) = &mut hosts else { continue };
            let mut work = left.min(WORK_OF_A_JOB_IN_A_PACK);
            let all = work;
            let found = self.plan_with(hosts, n, &mut work);
            left -= all - work;
            match found.outcome {
                Outcome::StartsNow(_) => pack.start_now += 1,
                Outcome::Plan(_) => {
                    pack.found = Some(found);
                    break;
                }
                Outcome::Never(_) => {
                    pack.never += 1;
                    refused.insert(shape);
                }
                Outcome::NotFound { .. } => pack.not_known.push(n),
            }
        }
        Ok(pack)
    }

    /// Returns a text that is equal for gangs that have the same answer.
    fn shape(&self, n: usize) -> String {
        let (problem, rules) = (&self.cluster.problem, &self.cluster.rules);
        let each = rules.start(n).iter().map(|m| {
            let user = &problem.users()[*m];
            let rule = rules.of(*m);
            format!(
                "{:?} {:?} {:?} {} {:?} {} {:?} {}",
                user.base_demand().entries(),
                user.demand_overrides(),
                user.servers(),
                gang(problem, *m),
                rule.class_sets,
                rule.distinct_servers,
                problem.groups().member(*m).group,
                if self.settings.strict_priority { rule.priority } else { 0 },
            )
        });
        each.collect::<Vec<_>>().join("; ")
    }

    fn plan_with(&mut self, hosts: &mut Hosts<'c>, n: usize, work: &mut u64) -> Migrations {
        let rules = &self.cluster.rules;
        let not_modelled = rules.not_modelled(n).into_iter().map(str::to_owned).collect();
        let answer =
            |outcome: Outcome, least: Option<Rational>| Migrations { job: n, outcome, least, not_modelled };
        match self.standing.find(n, &mut self.steps) {
            Answer::Yes(gang) => {
                let plan = self.written(n, Rational::new(), Vec::new(), &gang);
                return answer(Outcome::StartsNow(plan), Some(Rational::new()));
            }
            Answer::No | Answer::NotKnown => {}
        }
        if let Some(obstacle) = self.obstacle(hosts, n) {
            return answer(Outcome::Never(obstacle), None);
        }
        let Some(bound) = self.bound(hosts, n, work) else {
            return answer(Outcome::Never(Obstacle::Servers), None);
        };
        let Found { plan, least, is_exhausted, needs_temporary_place } = self.search(hosts, n, bound, work);
        let least = hosts.costs.cost(least);
        match plan {
            Some((_, steps, gang)) if steps.is_empty() => {
                let plan = self.written(n, Rational::new(), Vec::new(), &gang);
                answer(Outcome::StartsNow(plan), Some(Rational::new()))
            }
            Some((cost, steps, gang)) => {
                let cost = hosts.costs.cost(cost);
                answer(Outcome::Plan(self.written(n, cost, steps, &gang)), Some(least))
            }
            None if is_exhausted => answer(Outcome::Never(Obstacle::Searched), None),
            None => answer(Outcome::NotFound { needs_temporary_place }, Some(least)),
        }
    }

    /// Returns a reason for which no migrations help. Migrations change neither the usage of groups nor the sum of the
    /// free capacity, so a violated bound or a lacking capacity stays.
    fn obstacle(&self, hosts: &mut Hosts<'c>, n: usize) -> Option<Obstacle> {
        let (problem, rules) = (&self.cluster.problem, &self.cluster.rules);
        let totals = self.standing.rooms.totals();
        let has_gang = |m: &usize| {
            let left = problem.users()[*m].tasks().map(|all| Rational::from(all - &totals[*m]));
            left.is_none_or(|left| left >= gang(problem, *m))
        };
        if !rules.start(n).iter().all(|m| problem.is_active(*m)) {
            return Some(Obstacle::Servers);
        }
        if !rules.start(n).iter().all(has_gang) {
            return Some(Obstacle::Tasks);
        }
        let amounts = rules.amounts(problem, n);
        let group = problem.groups().member(n).group;
        if let Some(of) = self.standing.rooms.broken(group, &amounts).into_iter().next() {
            let excess = of.beyond();
            return Some(Obstacle::Bound(of.bound, excess));
        }
        self.lacking_capacity(hosts, n)
    }

    /// Returns a resource that is too scarce: the free amounts of all servers together are below the demand
    /// of the gang. This is a proof only if no task demands different amounts on different classes, since
    /// migrations then do not change the sum of the free amounts.
    fn lacking_capacity(&self, hosts: &Hosts<'c>, n: usize) -> Option<Obstacle> {
        let (problem, rules) = (&self.cluster.problem, &self.cluster.rules);
        let migrating = (0..problem.n_users()).filter(|m| hosts.may_migrate[*m]);
        let users: Vec<usize> = rules.start(n).iter().copied().chain(migrating).collect();
        if users.iter().any(|m| !problem.users()[*m].demand_overrides().is_empty()) {
            return None;
        }
        let mut is_used = vec![false; problem.n_servers()];
        for m in &users {
            rules.classes_of(problem, *m).for_each(|i| is_used[i] = true);
        }
        let mut free = vec![Rational::new(); problem.n_resources()];
        for (class, servers) in self.standing.servers.classes.iter().enumerate().filter(|(i, _)| is_used[*i])
        {
            let mut unseen = problem.servers()[class].count();
            for server in servers {
                unseen = unseen.saturating_sub(1);
                free.iter_mut()
                    .zip(&server.free)
                    .filter(|(_, own)| **own > 0)
                    .for_each(|(sum, own)| *sum += own);
            }
            let capacity = problem.servers()[class].capacity();
            free.iter_mut().zip(capacity.iter()).for_each(|(sum, own)| *sum += Rational::from(own * unseen));
        }
        let lacks = |(r, needed): &(usize, Rational)| free[*r] < *needed;
        let (resource, needed) = rules.amounts(problem, n).into_iter().find(lacks)?;
        Some(Obstacle::Capacity { resource, free: free[resource].clone(), needed })
    }

    /// Returns the lower bound on the cost of freeing enough servers for a gang. Returns `None` if no servers
    /// could hold the gang.
    fn bound(&self, hosts: &mut Hosts<'c>, n: usize, work: &mut u64) -> Option<u64> {
        let (problem, rules) = (&self.cluster.problem, &self.cluster.rules);
        let mut least = 0;
        for m in rules.start(n) {
            let rule = rules.of(*m);
            let classes: Vec<usize> = rules.classes_of(problem, *m).collect();
            let size = gang(problem, *m);
            let of = hosts.least_for_gang(*m, size, &classes, &rule.class_sets, rule.distinct_servers, work);
            least = least.max(of?);
        }
        Some(least)
    }

    /// Searches for a plan of the least cost. The first limit on the cost is the lower bound. Each further limit is the
    /// next cost that a plan may have.
    fn search(&mut self, hosts: &mut Hosts<'c>, n: usize, bound: u64, work: &mut u64) -> Found {
        let mut least = bound;
        let mut plan = None;
        let mut needs_temporary_place = false;
        let is_certain = !hosts.is_guessed;
        let mut best: Option<(u64, Vec<Step>, Assignment)> = None;
        if hosts.list.len() > FEW_HOSTS {
            // On a large cluster a greedy plan is computed first.
            let limit = bound.saturating_mul(4).saturating_add(GENEROUS);
            let pass = Search::new(hosts, &mut self.standing, n, work).run_greedily(limit);
            needs_temporary_place |= pass.without_order.is_some();
            best = pass.plan;
        }
        if best.as_ref().is_some_and(|(cost, ..)| *cost <= bound) {
            return Found { plan: best, least, is_exhausted: false, needs_temporary_place };
        }
        let mut run = |limit: u64, work: &mut u64| -> Pass {
            let mut own = *work / 3;
            let all = own;
            let pass = Search::new(hosts, &mut self.standing, n, &mut own).run(limit);
            *work -= all - own;
            pass
        };
        let mut limit = bound;
        let mut passes = 0;
        let mut is_exhausted = false;
        let mut can_raise = is_certain;
        loop {
            let pass = run(limit, work);
            needs_temporary_place |= pass.without_order.is_some();
            can_raise &= pass.is_complete;
            if let Some(without) = pass.without_order {
                // Migrations without a known order may still have an order that the search did not try. The lower bound
                // must therefore not exceed their cost.
                least = if can_raise { without.max(least) } else { least };
                can_raise = false;
            }
            if let Some(found) = pass.plan {
                plan = Some(found);
                break;
            }
            if pass.is_complete {
                let Some(next) = pass.next else {
                    is_exhausted = can_raise;
                    break;
                };
                if can_raise {
                    least = least.max(next);
                }
                limit = next;
            } else {
                // An incomplete search at a higher limit repeats all the work of this search, so the limit grows
                // faster.
                limit = pass.next.unwrap_or(0).max(limit.saturating_add(1 + limit / 2));
                passes += 1;
            }
            let is_over = best.as_ref().is_some_and(|(cost, ..)| *cost <= limit || passes > 0);
            if *work < 1_000 || passes > MOST_INCOMPLETE_PASSES || is_over {
                break;
            }
        }
        Found { plan: plan.or(best), least, is_exhausted, needs_temporary_place }
    }

    /// Converts a plan into moves.
    fn written(&self, n: usize, cost: Rational, steps: Vec<Step>, gang: &Assignment) -> Plan {
        let queue = self.queues.above[n][0];
        let tasks = steps.iter().flat_map(|step| &step.from).map(|(_, of)| of.len() as u64).sum();
        let migration = |step: Step| Move {
            queue,
            start: tasks_of(&step.to),
            stop: tasks_of(&step.from),
            gangs: step.name.into_iter().collect(),
            is_migration: true,
        };
        let mut steps: Vec<Move> = steps.into_iter().map(migration).collect();
        let start = tasks_of(&gang.parts);
        let (stop, gangs) = (BTreeMap::new(), BTreeSet::new());
        steps.push(Move { queue, start, stop, gangs, is_migration: false });
        Plan { steps, tasks, cost }
    }
}

/// The result of the passes of a search.
struct Found {
    plan: Option<(u64, Vec<Step>, Assignment)>,
    least: u64,
    is_exhausted: bool,
    needs_temporary_place: bool,
}
