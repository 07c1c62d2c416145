//! Explains why a start could not start now, and which changes would let it start (docs/why-not.md).
//!
//! Every statement is a result of the predicate `may_start` on a cluster: the cluster as it is, the cluster
//! with one condition lifted, with a higher limit, with more servers, or after stops.

use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Allocation, Problem, Rational};

use crate::due::Due;
use crate::queues::{Queues, gang};
use crate::rooms::{Bound, Broken, OnLimit, Rooms};
use crate::servers::Place;
use crate::starts::{Answer, Assignment, STEPS_OF_A_VERDICT, Standing};
use crate::stops::{FewestStops, fewest};
use crate::task_rules::{Lifted, TaskRules};

/// The largest number of added servers in the search for the fewest servers to add.
const MOST_ADDED: u64 = 10_000;
/// The largest number of server classes for which the fewest servers to add are computed.
const MOST_CLASSES: usize = 200;

/// The answer to the question whether a start could start now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The start could start now.
    CouldStart {
        /// The servers of the tasks.
        assignment: Assignment,
        /// True if the start needs capacity that servers have beyond the capacity of their class.
        is_beyond_rounding: bool,
    },
    /// The start could not start now.
    No,
    /// The answer is not known, because the search was too large.
    TooLarge,
    /// The answer is not known, because the snapshot does not say on which servers tasks run.
    NoPlacements,
    /// The user has no whole gang of waiting tasks.
    NothingWaits,
}

/// A condition of the predicate that stops a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// The limit of a group on a resource. The first index is the group, the second the resource.
    Limit(usize, usize),
    /// The weight 0 of a group, with which the group gets nothing beyond its guarantee.
    Weight(usize),
    /// Capacity of a resource that is kept back for other groups.
    KeptBack(usize),
    /// A limit of a group on server classes.
    ClassLimit(OnLimit),
    /// The free capacity of a resource on the servers.
    Free(usize),
    /// A constraint of this kind on the servers of the tasks.
    Servers(Lifted),
    /// The condition that all tasks of the gang, and the users that start with it, start at the same moment.
    Gang,
}

/// A reason why a start could not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The condition that stops the start.
    pub obstacle: Obstacle,
    /// True if the start could start if only this condition were lifted. `None` if that is not known.
    pub is_enough: Option<bool>,
    /// The numbers of a bound. `None` for conditions on servers.
    pub amounts: Option<Amounts>,
}

/// The numbers of a bound that a start would exceed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amounts {
    /// The usage now, including capacity that is kept back.
    pub usage: Rational,
    /// The usage of tasks alone now, without capacity that is kept back.
    pub by_tasks: Rational,
    /// The limit, the capacity, or the guarantee of a group of weight 0.
    pub limit: Rational,
    /// The amount that the start takes.
    pub start: Rational,
    /// The least limit or capacity with which this bound would not stop the start. `None` if no such amount
    /// is known.
    pub least: Option<Rational>,
}

/// The free capacity of one resource for the tasks of one user of the start, on the servers where these tasks
/// may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Free {
    /// The user.
    pub user: usize,
    /// The resource.
    pub resource: usize,
    /// The sum of the free amounts on these servers. Overfull servers count as full.
    pub total: Rational,
    /// The largest free amount on one of these servers, and this server.
    pub most: Option<(Rational, Place)>,
    /// The demand of one task. If the demand depends on the class, this is the least demand.
    pub task: Rational,
    /// The demand of all tasks of the gang.
    pub gang: Rational,
    /// The number of servers that have enough of the resource for one task.
    pub servers: u64,
}

/// A limit that would have to be raised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raise {
    /// The limit.
    pub obstacle: Obstacle,
    /// The limit now.
    pub from: Rational,
    /// The limit with which the start could start, as far as this limit stops it.
    pub to: Rational,
    /// True if no smaller limit suffices.
    pub is_least: bool,
}

/// Servers of one class to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    /// The class.
    pub class: usize,
    /// The number of servers.
    pub count: u64,
    /// True if fewer servers of this class do not suffice.
    pub is_fewest: bool,
    /// The limits that have to be raised in addition.
    pub raise: Vec<Raise>,
}

/// The usage and the fair share of a queue above the start, for one demanded resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The name of the queue.
    pub queue: String,
    /// The resource.
    pub resource: usize,
    /// The usage of the queue now.
    pub usage: Rational,
    /// The usage of the queue with the start.
    pub after: Rational,
    /// The fair share of the queue.
    pub fair_share: Rational,
}

/// The explanation why a start could not start now, and which changes would let it start.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The user whose start is explained.
    pub user: usize,
    /// The users of the start in ascending order, each with the number of its tasks.
    pub start: Vec<(usize, u64)>,
    /// True if the tasks are already admitted and need only servers.
    pub is_admitted: bool,
    /// The answer to the question whether the start could start now.
    pub state: State,
    /// The conditions that the snapshot does not model and that may also stop the start.
    pub not_modelled: Vec<String>,
    /// The reasons why the start could not start.
    pub reasons: Vec<Reason>,
    /// The free capacity for each user of the start and each resource.
    pub free: Vec<Free>,
    /// The largest number of tasks of the user's gang that was found to fit on servers now. The flag says
    /// whether this is proven to be the largest number.
    pub room: Option<(u64, bool)>,
    /// True if the start would fit on servers if no other task ran. `None` if that is not known.
    pub has_room_when_empty: Option<bool>,
    /// The number of waiting starts with a higher priority.
    pub ahead: usize,
    /// The usage and the fair shares of the queues above the user, from the innermost queue on. `None` if
    /// they were not computed.
    pub shares: Option<Vec<Share>>,
    /// Lists of limits to raise. Raising all limits of one list suffices.
    pub raise: Vec<Vec<Raise>>,
    /// The numbers of servers of a class to add. Each entry suffices alone.
    pub add: Vec<Addition>,
    /// The fewest tasks to stop. `None` if the search does not apply.
    pub stop: Option<FewestStops>,
}

/// The parts of a snapshot on which explanations depend, with the fair shares if they are known.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'p> {
    /// The snapshot.
    pub snapshot: &'p Snapshot,
    /// The problem, with the share of the rule.
    pub problem: &'p Problem,
    /// The running tasks.
    pub allocation: &'p Allocation,
    /// The constraints.
    pub rules: &'p TaskRules,
    /// The fair shares.
    pub due: Option<&'p Due>,
}

impl State {
    /// Returns `true` if the start could start. Returns `None` if that is not known.
    #[must_use]
    pub fn could_start(&self) -> Option<bool> {
        match self {
            Self::CouldStart { .. } => Some(true),
            Self::No | Self::NothingWaits => Some(false),
            Self::TooLarge | Self::NoPlacements => None,
        }
    }
}

impl Explanation {
    /// Returns `true` if the start could start. Returns `None` if that is not known, or if the start also
    /// depends on a condition that the snapshot does not model.
    #[must_use]
    pub fn could_start(&self) -> Option<bool> {
        self.state.could_start().filter(|could| !could || self.not_modelled.is_empty())
    }

    /// Explains whether the next gang of a user could start now.
    #[must_use]
    pub fn new(of: Subject<'_>, user: usize) -> Self {
        let Subject { problem, allocation, rules, .. } = of;
        let start: Vec<(usize, u64)> = rules.start(user).iter().map(|n| (*n, gang(problem, *n))).collect();
        let lifted = Lifted::ALL.map(|lifted| (lifted, rules.without(lifted)));
        let standing = Standing::new(problem, rules, allocation);
        let rooms = match &standing {
            Some(standing) => standing.rooms.clone(),
            None => Rooms::new(problem, allocation, |n| rules.admitted(n)),
        };
        let left = |n: usize| problem.users()[n].tasks().map(|all| Rational::from(all - &rooms.totals()[n]));
        let waits = start.iter().all(|(n, gang)| left(*n).is_none_or(|left| left >= *gang));
        let is_admitted = !waits && start.iter().any(|(n, _)| rules.admitted(*n) > 0);
        let mut explanation = Self {
            user,
            start,
            is_admitted,
            state: State::NothingWaits,
            not_modelled: rules.not_modelled(user).into_iter().map(str::to_owned).collect(),
            reasons: Vec::new(),
            free: Vec::new(),
            room: None,
            has_room_when_empty: None,
            ahead: ahead(problem, rules, &rooms, user),
            shares: of.due.map(|due| shares(problem, rules, due, &rooms, user, is_admitted)),
            raise: Vec::new(),
            add: Vec::new(),
            stop: None,
        };
        if !waits && !is_admitted {
            return explanation;
        }
        let Some(standing) = standing else {
            explanation.without_servers(problem, rules, &rooms);
            return explanation;
        };
        // The rounded servers are judged first, as in a verdict. If the start does not fit on them, the
        // unrounded servers decide.
        let unrounded = standing.unrounded(allocation, &of.snapshot.rounded);
        let mut steps = STEPS_OF_A_VERDICT;
        let mut asked = Asked::new(standing, user, is_admitted);
        let mut answer = asked.answer(&asked.standing, &mut steps);
        let mut is_beyond_rounding = false;
        if let Some(unrounded) = unrounded.filter(|_| !matches!(answer, Answer::Yes(_))) {
            asked = Asked::new(unrounded, user, is_admitted);
            answer = asked.answer(&asked.standing, &mut steps);
            is_beyond_rounding = true;
        }
        explanation.state = match answer {
            Answer::Yes(assignment) => State::CouldStart { assignment, is_beyond_rounding },
            Answer::No => State::No,
            Answer::NotKnown => State::TooLarge,
        };
        if explanation.state.could_start() == Some(true) {
            return explanation;
        }
        explanation.explain(&asked, &lifted, steps);
        explanation
    }

    /// Explains a start by the bounds of groups alone. This is used if the servers of tasks are not known.
    fn without_servers(&mut self, problem: &Problem, rules: &TaskRules, rooms: &Rooms<'_>) {
        self.state = State::NoPlacements;
        if self.is_admitted {
            return;
        }
        let amounts = rules.amounts(problem, self.user);
        let broken = rooms.broken(problem.groups().member(self.user).group, &amounts);
        if !broken.is_empty() {
            self.state = State::No;
            self.reasons = of_bounds(&broken, &amounts, None);
        }
    }

    /// Computes the reasons, and the changes that would make the start possible.
    fn explain<'p>(&mut self, asked: &Asked<'p>, lifted: &'p [(Lifted, TaskRules)], mut steps: u64) {
        let steps = &mut steps;
        let amounts = asked.amounts();
        let broken = asked.broken();
        let on_servers = asked.find(&asked.standing, steps);
        self.reasons = of_bounds(&broken, &amounts, Some(known(&on_servers)));
        self.free = asked.free();
        let mut class_limits = Vec::new();
        if !matches!(on_servers, Answer::Yes(_)) {
            let others_hold = broken.is_empty();
            let list = |obstacle: Obstacle, answer: Option<bool>, reasons: &mut Vec<Reason>| {
                let is_enough = if others_hold { answer } else { Some(false) };
                reasons.push(Reason { obstacle, is_enough, amounts: None });
            };
            // A condition is a reason if the start would fit on servers without the condition. A resource is
            // also a reason if its lack alone stops the start on the servers where the tasks may run.
            let mut fallback = Vec::new();
            for r in asked.resources() {
                let without = known(&asked.find(&asked.without_resource(r), steps));
                let alone = known(&asked.find(&asked.only_resource(r), steps));
                if without == Some(true) || alone == Some(false) {
                    list(Obstacle::Free(r), without, &mut self.reasons);
                } else {
                    fallback.push((r, without));
                }
            }
            for at in asked.class_limits() {
                let mut lifted = asked.standing.clone();
                lifted.rooms.set_left(at, asked.enough_under(at));
                let answer = asked.find(&lifted, steps);
                if known(&answer) == Some(true) {
                    let raise = asked.least_under(at, answer, steps);
                    list(Obstacle::ClassLimit(at), Some(true), &mut self.reasons);
                    if let Some(reason) = self.reasons.last_mut() {
                        reason.amounts = Some(asked.under(at, &raise));
                    }
                    class_limits.push(raise);
                }
            }
            for (kind, rules) in lifted.iter().filter(|(kind, _)| asked.has(*kind)) {
                let standing = Standing { rules, ..asked.standing.clone() };
                let answer = known(&asked.find(&standing, steps));
                if answer == Some(true) || asked.has_no_class(*kind) {
                    list(Obstacle::Servers(*kind), answer, &mut self.reasons);
                }
            }
            if self.reasons.iter().all(|reason| reason.amounts.is_some()) && class_limits.is_empty() {
                for (r, without) in fallback {
                    list(Obstacle::Free(r), without, &mut self.reasons);
                }
            }
        }
        self.room = Some(asked.room(steps));
        if self.start.iter().map(|(_, gang)| gang).sum::<u64>() > 1 {
            let is_enough = asked.one_task(self.user, steps);
            if is_enough != Some(false) {
                self.reasons.push(Reason { obstacle: Obstacle::Gang, is_enough, amounts: None });
            }
        }
        self.has_room_when_empty = known(&asked.find(&asked.empty(), steps));
        let can_raise = |of: &Broken| matches!(of.bound, Bound::Limit(..));
        let raise: Vec<Raise> = broken.iter().filter_map(raise_of).collect();
        if broken.iter().all(can_raise) {
            if matches!(on_servers, Answer::Yes(_)) {
                self.raise.extend((!raise.is_empty()).then(|| raise.clone()));
            }
            for further in class_limits {
                self.raise.push(raise.iter().cloned().chain([further]).collect());
            }
        }
        if broken.iter().all(|of| can_raise(of) || matches!(of.bound, Bound::KeptBack(_))) {
            let is_kept = broken.iter().any(|of| matches!(of.bound, Bound::KeptBack(_)));
            if is_kept || !matches!(on_servers, Answer::Yes(_)) {
                let mut trial = asked.standing.clone();
                for class in asked.classes().into_iter().take(MOST_CLASSES) {
                    let added = asked.fewest_servers(&mut trial, class, &broken, &on_servers, steps);
                    self.add.extend(added.map(|of| Addition { raise: raise.clone(), ..of }));
                }
                self.add.sort_by_key(|of| (of.raise.len(), of.count, of.class));
            }
        }
        if self.state == State::No {
            self.stop = Some(fewest(&asked.standing, asked.leader, asked.is_admitted, steps));
        }
    }
}

/// The start that is explained, and the cluster in which it is explained.
struct Asked<'p> {
    standing: Standing<'p>,
    user: usize,
    leader: usize,
    is_admitted: bool,
    start: Vec<(usize, u64)>,
}

impl<'p> Asked<'p> {
    fn new(standing: Standing<'p>, user: usize, is_admitted: bool) -> Self {
        // Limits already count admitted tasks, so only servers decide.
        let standing = if is_admitted { standing.for_admitted() } else { standing };
        let users = standing.rules.start(user);
        let start = users.iter().map(|n| (*n, gang(standing.problem, *n))).collect();
        Self { leader: users[0], standing, user, is_admitted, start }
    }

    fn problem(&self) -> &'p Problem {
        self.standing.problem
    }

    fn amounts(&self) -> Vec<(usize, Rational)> {
        self.standing.rules.amounts(self.problem(), self.leader)
    }

    /// Returns whether the start could start on a cluster.
    fn answer(&self, standing: &Standing<'_>, steps: &mut u64) -> Answer {
        if self.is_admitted { self.find(standing, steps) } else { standing.find(self.leader, steps) }
    }

    /// Returns whether the start fits on servers. Bounds of groups are not checked.
    fn find(&self, standing: &Standing<'_>, steps: &mut u64) -> Answer {
        standing.find_servers_for(&self.start, steps)
    }

    fn broken(&self) -> Vec<Broken> {
        if self.is_admitted {
            return Vec::new();
        }
        let group = self.problem().groups().member(self.leader).group;
        self.standing.rooms.broken(group, &self.amounts())
    }

    /// Returns the server classes on which at least one task of the start may start.
    fn classes(&self) -> Vec<usize> {
        let of = |n: usize| self.standing.rules.classes_of(self.problem(), n);
        let mut classes: Vec<usize> = self.start.iter().flat_map(|(n, _)| of(*n)).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Returns the resources that tasks of the start demand on servers on which they may start.
    fn resources(&self) -> Vec<usize> {
        let mut resources: Vec<usize> = Vec::new();
        for (n, _) in &self.start {
            for class in self.standing.rules.classes_of(self.problem(), *n) {
                let demand = self.problem().demand(*n, class).entries();
                resources.extend(demand.iter().filter(|(_, d)| *d > 0).map(|(r, _)| *r));
            }
        }
        resources.sort_unstable();
        resources.dedup();
        resources
    }

    /// Returns an amount of a resource that suffices for all tasks of the start on a single server.
    fn plenty(&self, r: usize) -> Rational {
        let classes = 0..self.problem().n_servers();
        let most = |n: usize| classes.clone().map(|i| self.problem().demand(n, i)[r].clone()).max();
        self.start.iter().map(|(n, gang)| most(*n).unwrap_or_default() * *gang).sum()
    }

    /// Returns the cluster with enough of one resource on every server for the whole start.
    fn without_resource(&self, r: usize) -> Standing<'p> {
        let mut standing = self.standing.clone();
        standing.servers.set_free(r, &self.plenty(r));
        standing
    }

    /// Returns the cluster with enough of every resource except `r` on every server for the whole start, and
    /// without limits on classes.
    fn only_resource(&self, r: usize) -> Standing<'p> {
        let mut standing = self.standing.for_admitted();
        for k in (0..self.problem().n_resources()).filter(|k| *k != r) {
            standing.servers.set_free(k, &self.plenty(k));
        }
        standing
    }

    /// Returns the cluster without tasks on its servers, and without limits on classes.
    fn empty(&self) -> Standing<'p> {
        let mut standing = self.standing.for_admitted();
        for (class, servers) in standing.servers.classes.iter_mut().enumerate() {
            for server in servers {
                for (n, tasks) in &server.tasks {
                    for (r, d) in self.standing.problem.demand(*n, class).entries() {
                        server.free[*r] += Rational::from(d * tasks);
                    }
                }
            }
        }
        standing
    }

    /// Returns the limits on classes that apply to at least one task of the start.
    fn class_limits(&self) -> Vec<OnLimit> {
        let of = |n: usize| {
            let classes = self.standing.rules.classes_of(self.problem(), n);
            classes.flat_map(move |i| self.standing.rooms.on_limits(n, i)).collect::<Vec<_>>()
        };
        let mut limits: Vec<OnLimit> = self.start.iter().flat_map(|(n, _)| of(*n)).collect();
        limits.sort_unstable();
        limits.dedup();
        limits
    }

    /// Returns an amount that suffices for all tasks of the start under a limit on classes.
    fn enough_under(&self, at: OnLimit) -> Rational {
        let (r, _) = self.problem().groups().list()[at.group].on[at.on].limit[at.at];
        self.plenty(r)
    }

    /// Returns the amounts of a limit on classes that the explanation states.
    fn under(&self, at: OnLimit, raise: &Raise) -> Amounts {
        let usage = Rational::from(&raise.from - self.standing.rooms.left_of(at));
        let start = Rational::from(&raise.to - &usage);
        let least = raise.is_least.then(|| raise.to.clone());
        Amounts { by_tasks: usage.clone(), usage, limit: raise.from.clone(), start, least }
    }

    /// Returns `true` if the start has a constraint of a kind on its servers.
    fn has(&self, kind: Lifted) -> bool {
        let rules = self.standing.rules;
        let any = |is: &dyn Fn(usize) -> bool| self.start.iter().any(|(n, _)| is(*n));
        let all = self.problem().n_servers();
        match kind {
            Lifted::Classes => any(&|n| self.problem().classes_of(n).count() < all),
            Lifted::Closed => (0..all).any(|i| rules.is_closed(i)),
            Lifted::ClassSets => any(&|n| !rules.of(n).class_sets.is_empty()),
            Lifted::DistinctServers => any(&|n| rules.of(n).distinct_servers),
        }
    }

    /// Returns `true` if a kind of constraint leaves some user of the start without any server class.
    fn has_no_class(&self, kind: Lifted) -> bool {
        let problem = self.problem();
        let is_barred = |n: usize| match kind {
            Lifted::Classes => problem.classes_of(n).next().is_none(),
            Lifted::Closed => {
                problem.classes_of(n).next().is_some()
                    && self.standing.rules.classes_of(problem, n).next().is_none()
            }
            Lifted::ClassSets | Lifted::DistinctServers => false,
        };
        self.start.iter().any(|(n, _)| is_barred(*n))
    }

    /// Returns the free capacity for each user and resource of the start.
    fn free(&self) -> Vec<Free> {
        let problem = self.problem();
        let mut all = Vec::new();
        for (user, tasks) in &self.start {
            let classes: Vec<usize> = self.standing.rules.classes_of(problem, *user).collect();
            let mut resources: Vec<usize> = Vec::new();
            for class in &classes {
                let demand = problem.demand(*user, *class).entries();
                resources.extend(demand.iter().filter(|(_, d)| *d > 0).map(|(r, _)| *r));
            }
            resources.sort_unstable();
            resources.dedup();
            for r in resources {
                let demand = |class: usize| &problem.demand(*user, class)[r];
                let mut free = Free {
                    user: *user,
                    resource: r,
                    total: Rational::new(),
                    most: None,
                    task: classes
                        .iter()
                        .map(|i| demand(*i).clone())
                        .filter(|d| *d > 0)
                        .min()
                        .unwrap_or_default(),
                    gang: Rational::new(),
                    servers: 0,
                };
                free.gang = Rational::from(&free.task * *tasks);
                for class in &classes {
                    free.total += self.standing.servers.free_of_class(*class, r);
                    let listed = &self.standing.servers.classes[*class];
                    // Servers that are not listed are empty. They are not listed because no start needs so
                    // many empty servers.
                    let others = problem.servers()[*class].count().saturating_sub(listed.len() as u64);
                    let capacity = &problem.servers()[*class].capacity()[r];
                    free.servers += if capacity >= demand(*class) { others } else { 0 };
                    for server in listed {
                        free.servers += u64::from(server.free[r] >= *demand(*class));
                        if free.most.as_ref().is_none_or(|(most, _)| server.free[r] > *most) {
                            free.most =
                                Some((server.free[r].clone(), Place { class: *class, index: server.index }));
                        }
                    }
                }
                all.push(free);
            }
        }
        all
    }

    /// Returns the largest number of tasks of the user that is known to fit on servers, and whether it is
    /// proven to be the largest.
    fn room(&self, steps: &mut u64) -> (u64, bool) {
        let (mut low, mut high) = (0, gang(self.problem(), self.user));
        let mut is_known = true;
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            match self.standing.find_servers_for(&[(self.user, middle)], steps) {
                Answer::Yes(_) => low = middle,
                answer => {
                    is_known &= answer == Answer::No;
                    high = middle - 1;
                }
            }
        }
        (low, is_known)
    }

    /// Returns `true` if one task of a user could start alone.
    fn one_task(&self, n: usize, steps: &mut u64) -> Option<bool> {
        let demand = self.problem().users()[n].base_demand().entries();
        let amounts: Vec<(usize, Rational)> = demand.iter().filter(|(_, d)| !d.is_zero()).cloned().collect();
        let group = self.problem().groups().member(n).group;
        if !self.is_admitted && !self.standing.rooms.broken(group, &amounts).is_empty() {
            return Some(false);
        }
        known(&self.standing.find_servers_for(&[(n, 1)], steps))
    }

    /// Returns the least value of a limit on classes with which the start fits on servers. `answer` is the
    /// answer of the search without this limit.
    fn least_under(&self, at: OnLimit, answer: Answer, steps: &mut u64) -> Raise {
        let (r, limit) = &self.problem().groups().list()[at.group].on[at.on].limit[at.at];
        let usage = Rational::from(limit - self.standing.rooms.left_of(at));
        let on = &self.problem().groups().list()[at.group].on[at.on].servers;
        let obstacle = Obstacle::ClassLimit(at);
        let demands: Vec<&Rational> = match &self.start[..] {
            [(n, _)] => on.iter().map(|i| &self.problem().demand(*n, *i)[*r]).collect(),
            _ => Vec::new(),
        };
        let same = demands.first().filter(|first| demands.iter().all(|d| d == *first));
        if let (Some(d), [(_, gang)]) = (same, &self.start[..]) {
            // Every task takes the same amount under the limit. So a search over the number of tasks under
            // the limit suffices.
            let (mut low, mut high) = (0, *gang);
            let mut is_least = true;
            while low < high {
                let middle = low + (high - low) / 2;
                let mut standing = self.standing.clone();
                standing.rooms.set_left(at, Rational::from(*d * middle));
                match self.find(&standing, steps) {
                    Answer::Yes(_) => high = middle,
                    answer => {
                        is_least &= answer == Answer::No;
                        low = middle + 1;
                    }
                }
            }
            return Raise { obstacle, from: limit.clone(), to: usage + Rational::from(*d * high), is_least };
        }
        let mut taken = Rational::new();
        if let Answer::Yes(assignment) = answer {
            for (n, places) in &assignment.parts {
                let under = places.iter().filter(|place| on.binary_search(&place.class).is_ok());
                taken +=
                    under.map(|place| self.problem().demand(*n, place.class)[*r].clone()).sum::<Rational>();
            }
        }
        Raise { obstacle, from: limit.clone(), to: usage + taken, is_least: false }
    }

    /// Returns the fewest servers of a class with which the start could start, apart from limits of groups.
    /// Returns `None` if no number is known to suffice. `trial` is a copy of the cluster, which is unchanged
    /// after the call.
    fn fewest_servers(
        &self,
        trial: &mut Standing<'_>,
        class: usize,
        broken: &[Broken],
        on_servers: &Answer,
        steps: &mut u64,
    ) -> Option<Addition> {
        let capacity = self.problem().servers()[class].capacity();
        // At least this many servers are needed for capacity that is kept back.
        let mut low = 0;
        for of in broken {
            if let (Bound::KeptBack(r), Some(least)) = (&of.bound, &of.least) {
                if capacity[*r].is_zero() {
                    return None;
                }
                let lacking = Rational::from(least - &of.most);
                low = low.max((lacking / &capacity[*r]).ceil().numer().to_u64()?);
            }
        }
        let mut is_fewest = true;
        if !matches!(on_servers, Answer::Yes(_)) {
            is_fewest = *on_servers == Answer::No;
            low = low.max(1);
            let most = self.start.iter().map(|(_, gang)| gang).sum::<u64>().min(MOST_ADDED);
            let mut high = low.max(most);
            let mut grown = |count: u64, steps: &mut u64| {
                let before = trial.servers.classes[class].len();
                trial.servers.grow(class, count.min(most));
                let answer = self.find(trial, steps);
                trial.servers.classes[class].truncate(before);
                answer
            };
            if !matches!(grown(high, steps), Answer::Yes(_)) {
                return None;
            }
            while low < high {
                let middle = low + (high - low) / 2;
                match grown(middle, steps) {
                    Answer::Yes(_) => high = middle,
                    answer => {
                        is_fewest &= answer == Answer::No;
                        low = middle + 1;
                    }
                }
            }
        }
        (low > 0).then(|| Addition { class, count: low, is_fewest, raise: Vec::new() })
    }
}

fn known(answer: &Answer) -> Option<bool> {
    match answer {
        Answer::Yes(_) => Some(true),
        Answer::No => Some(false),
        Answer::NotKnown => None,
    }
}

/// Returns the obstacle that corresponds to a bound.
fn obstacle(bound: &Bound) -> Obstacle {
    match bound {
        Bound::Limit(v, r) => Obstacle::Limit(*v, *r),
        Bound::OnClasses(at) => Obstacle::ClassLimit(*at),
        Bound::KeptBack(r) => Obstacle::KeptBack(*r),
        Bound::Weight(v) => Obstacle::Weight(*v),
    }
}

/// Returns the reasons for the bounds that the start would exceed. `on_servers` says whether the start fits
/// on servers. It is `None` if the servers of tasks are not known, and `Some(None)` if the search was too
/// large.
fn of_bounds(
    broken: &[Broken],
    amounts: &[(usize, Rational)],
    on_servers: Option<Option<bool>>,
) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    for of in broken {
        let obstacle = obstacle(&of.bound);
        // The weight of a group may stop the start by several resources, which count as one reason.
        if reasons.iter().any(|known| known.obstacle == obstacle) {
            continue;
        }
        let is_only = broken.iter().all(|other| other.bound == of.bound);
        let is_enough = if is_only { on_servers.flatten() } else { Some(false) };
        let r = match of.bound {
            Bound::Limit(_, r) | Bound::KeptBack(r) => Some(r),
            Bound::OnClasses(_) | Bound::Weight(_) => None,
        };
        let start = amounts.iter().find(|(known, _)| Some(*known) == r).map(|(_, amount)| amount.clone());
        let amounts = Amounts {
            usage: of.used.clone(),
            by_tasks: of.by_tasks.clone(),
            limit: of.most.clone(),
            start: start.unwrap_or_default(),
            least: of.least.clone(),
        };
        reasons.push(Reason { obstacle, is_enough, amounts: Some(amounts) });
    }
    reasons
}

/// Returns the least limit with which an exceeded bound would not be exceeded. Returns `None` if the bound is
/// not a limit that can be raised.
fn raise_of(of: &Broken) -> Option<Raise> {
    let Bound::Limit(v, r) = of.bound else { return None };
    let to = of.least.clone()?;
    Some(Raise { obstacle: Obstacle::Limit(v, r), from: of.most.clone(), to, is_least: true })
}

/// Returns the number of waiting starts with a higher priority than the start of a user.
fn ahead(problem: &Problem, rules: &TaskRules, rooms: &Rooms<'_>, user: usize) -> usize {
    let queues_left = |n: usize| {
        let left = problem.users()[n].tasks().map(|all| Rational::from(all - &rooms.totals()[n]));
        left.is_none_or(|left| left >= gang(problem, n)) && problem.is_active(n)
    };
    let own = rules.start(user);
    let priority = own.iter().map(|n| rules.of(*n).priority).min();
    let is_ahead = |n: &usize| {
        let start = rules.start(*n);
        start.iter().map(|n| rules.of(*n).priority).min() > priority && start.iter().all(|n| queues_left(*n))
    };
    let others = (0..problem.n_users()).filter(|n| rules.leads(*n) && !own.contains(n));
    others.filter(is_ahead).count()
}

/// Returns the usage and the fair shares of the queues above a user, for the resources that its start demands.
fn shares(
    problem: &Problem,
    rules: &TaskRules,
    due: &Due,
    rooms: &Rooms<'_>,
    user: usize,
    is_admitted: bool,
) -> Vec<Share> {
    let queues = Queues::new(problem, rules);
    let held = queues.held(rooms.totals());
    let mut shares = Vec::new();
    for v in &queues.above[user] {
        for (r, unit) in &queues.unit[user] {
            let usage = held[*v][*r].clone();
            // Admitted tasks already count as usage.
            let after = if is_admitted { usage.clone() } else { Rational::from(&usage + unit) };
            let fair_share = due.amounts[*v][*r].clone();
            shares.push(Share {
                queue: queues.list[*v].name.clone(),
                resource: *r,
                usage,
                after,
                fair_share,
            });
        }
    }
    shares
}
