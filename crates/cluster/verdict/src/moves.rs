//! Moves: tasks to stop and to start so that no queue is below its fair share by a whole task (docs/verdict.md, "Which moves").
//!
//! A move starts one gang of a queue that is below its fair share. It stops tasks whose capacity the gang needs, on its servers
//! or under a limit of its groups. The search is greedy. The moves are certainly the fewest if their number equals the lower
//! bound of [`least_starts`].

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use evenhand_problem::{Allocation, Problem, Rational};

use crate::error::ClusterError;
use crate::queues::{Kind, Queues, Vector, gang};
use crate::rooms::Bound;
use crate::servers::{Place, Server, placed};
use crate::starts::{Answer, Assignment, STEPS_OF_A_VERDICT, Standing};
use crate::task_rules::TaskRules;
use crate::verdict::Verdict;

/// The largest number of servers that are fully considered for one start. Servers with the cheapest stops are
/// considered first.
const CANDIDATES: usize = 24;

/// The largest number of tasks that migrate for one start. More migrations would disturb more running work than most starts are
/// worth.
const MOST_MIGRATIONS: usize = 3;
/// The largest number of sets of tasks that are tried for one start, the smallest sets first. Each set takes about as long as a
/// few searches for servers.
const MOST_SETS: usize = 200;

/// The number of tasks of a user on each server. Servers are in ascending order.
pub type Tasks = BTreeMap<Place, u64>;

/// One start, and the tasks that are stopped for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The queue that is below its fair share.
    pub queue: usize,
    /// The servers on which tasks start, for each user of the start.
    pub start: BTreeMap<usize, Tasks>,
    /// The servers on which tasks are stopped, for each user with stopped tasks.
    pub stop: BTreeMap<usize, Tasks>,
    /// The gangs among the stopped tasks that the snapshot names, as positions in [`TaskRules`].
    pub gangs: BTreeSet<usize>,
    /// True if the move is a migration: the task that it stops starts again on another server.
    pub is_migration: bool,
}

/// Moves in their order, and the cluster after them.
#[derive(Debug, Clone)]
pub struct Moves {
    /// The moves, in the order in which they are made.
    pub list: Vec<Move>,
    /// The allocation after the moves.
    pub after: Allocation,
    /// The queues that are below their fair share by a whole task, before and after the moves.
    pub below: [Vec<usize>; 2],
    /// A lower bound on the number of moves after which no queue is below its fair share by a whole task.
    pub least: Rational,
    /// True if the search stopped because it had reached [`Limits::most`].
    pub is_cut: bool,
}

/// Limits on the search for moves.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// The largest number of moves.
    pub most: Option<usize>,
    /// The users whose tasks may not be stopped.
    pub pinned: BTreeSet<usize>,
    /// True if no task is stopped for a task of a lower priority, even if the scheduler would stop it.
    pub strict_priority: bool,
}

impl Moves {
    /// Returns `true` if the moves are certainly the fewest: no queue is below its fair share by a whole task
    /// after them, and fewer moves do not suffice.
    #[must_use]
    pub fn are_fewest(&self) -> bool {
        self.below[1].is_empty() && self.least == self.list.len()
    }

    /// Returns the number of stopped tasks, without tasks that migrate.
    #[must_use]
    pub fn stopped(&self) -> u64 {
        let stops = self.list.iter().filter(|step| !step.is_migration).flat_map(|step| step.stop.values());
        stops.flat_map(BTreeMap::values).sum()
    }

    /// Returns the number of moves that migrate a task to another server.
    #[must_use]
    pub fn migrations(&self) -> usize {
        self.list.iter().filter(|step| step.is_migration).count()
    }

    /// Searches for moves after a verdict.
    ///
    /// # Errors
    /// [`ClusterError::NoPlacements`] if the servers of tasks are not known. [`ClusterError::NotWhole`] if a server runs a
    /// fraction of a task.
    pub fn new(verdict: &Verdict, limits: &Limits) -> Result<Self, ClusterError> {
        let Verdict { problem, allocation, rules, due, .. } = verdict;
        let Some(standing) = Standing::new(problem, rules, allocation) else {
            return Err(ClusterError::NoPlacements);
        };
        let all = allocation.placements.iter().flatten().flat_map(|on| &on.tasks);
        if let Some((n, tasks)) = all.into_iter().find(|(_, tasks)| !tasks.is_integer() || *tasks < 0) {
            let user = problem.users()[*n].name().to_owned();
            return Err(ClusterError::NotWhole { user, tasks: tasks.to_string() });
        }
        let queues = Queues::new(problem, rules);
        let totals = standing.rooms.totals().to_vec();
        let least = least_starts(&queues, &queues.held(&totals), &due.amounts, &totals);
        let mut search = Search {
            queues: &queues,
            due: &due.amounts,
            held: queues.held(&totals),
            waiting: queues.waiting(&totals),
            standing,
            limits,
            hopeless: BTreeSet::new(),
            is_below: Vec::new(),
            steps: STEPS_OF_A_VERDICT,
            gone: BTreeSet::new(),
        };
        let before = search.below();
        let mut list: Vec<Move> = Vec::new();
        let mut is_cut = false;
        // Starts for which no move was found are tried again after other moves have been made.
        let mut tried = 0;
        loop {
            let Some(step) = search.next() else {
                if search.hopeless.is_empty() {
                    break;
                }
                if tried == list.len() {
                    // No single move helps, but migrations may free capacity for a start.
                    let left = limits.most.map_or(usize::MAX, |most| most.saturating_sub(list.len()));
                    let Some(steps) = search.with_migrations(left) else { break };
                    list.extend(steps);
                }
                tried = list.len();
                search.hopeless.clear();
                continue;
            };
            if limits.most.is_some_and(|most| list.len() >= most) {
                is_cut = true;
                break;
            }
            search.take(&step);
            list.push(step);
        }
        let below = [before, search.below()];
        let after = placed(allocation, search.standing.servers.placements());
        Ok(Self { list, after, below, least, is_cut })
    }
}

impl Moves {
    /// Converts the steps of another search into moves, with the queues that are below their fair share before and
    /// after the steps.
    ///
    /// # Errors
    /// [`ClusterError::NoPlacements`] if the servers of tasks are not known.
    pub fn of_steps(verdict: &Verdict, list: Vec<Move>, after: Allocation) -> Result<Self, ClusterError> {
        let Verdict { problem, allocation, rules, due, .. } = verdict;
        let queues = Queues::new(problem, rules);
        let totals = |of: &Allocation| {
            let standing = Standing::new(problem, rules, of).ok_or(ClusterError::NoPlacements)?;
            Ok::<Vector, ClusterError>(standing.rooms.totals().to_vec())
        };
        let below = |totals: &[Rational]| -> Vec<usize> {
            let (held, waiting) = (queues.held(totals), queues.waiting(totals));
            let none = Rational::new();
            let by = |v: &usize| queues.short_by(*v, &held[*v], &due.amounts[*v], &waiting, &none).is_some();
            (0..queues.list.len()).filter(by).collect()
        };
        let before = totals(allocation)?;
        let least = least_starts(&queues, &queues.held(&before), &due.amounts, &before);
        let below = [below(&before), below(&totals(&after)?)];
        Ok(Self { list, after, below, least, is_cut: false })
    }
}

/// Returns a lower bound on the number of starts after which no queue is below its fair share by a whole task.
///
/// While a gang of user `n` waits and would still be within the fair share, its queue is below its fair share. So either all
/// waiting gangs of `n` have to start, or the usage of one of the demanded resources has to grow until the gang would no longer
/// be within the share. One start adds at most the largest gang below the queue. Bounds of sibling queues add up, because each
/// start is in one of them. Users outside of groups that start together count once.
#[must_use]
pub fn least_starts(queues: &Queues<'_>, held: &[Vector], due: &[Vector], totals: &[Rational]) -> Rational {
    let problem = queues.problem;
    let mut below = vec![Rational::new(); queues.list.len() + 1];
    // The largest bound of the users of each start, for users outside of groups. The key is the first user of
    // the start.
    let mut outside: BTreeMap<usize, Rational> = BTreeMap::new();
    let mut order: Vec<usize> = (0..queues.list.len()).collect();
    order.sort_by_key(|v| Reverse(queues.list[*v].depth));
    for v in order {
        let mut largest = vec![Rational::new(); problem.n_resources()];
        for (r, unit) in queues.users[v].iter().flat_map(|n| &queues.unit[*n]) {
            if largest[*r] < *unit {
                largest[*r].clone_from(unit);
            }
        }
        let mut least = below[v].clone();
        // A user without any base demand is within every fair share, so it never puts a queue below its fair share.
        let waits = |n: &&usize| {
            !queues.unit[**n].is_empty()
                && queues.waits(**n, totals)
                && queues.is_within(**n, &held[v], &due[v])
        };
        for n in queues.users[v].iter().filter(waits) {
            let gangs = queues.starts_left(*n, totals);
            let until = |(r, unit): &(usize, Rational)| {
                let rest = Rational::from(&due[v][*r] - &held[v][*r]) - unit;
                (rest / &largest[*r]).floor() + 1_u32
            };
            let starts = queues.unit[*n].iter().map(until).chain(gangs).min();
            least = starts.into_iter().fold(least, Rational::max);
        }
        match queues.list[v].kind {
            Kind::Group(_) => below[queues.list[v].parent.unwrap_or(queues.list.len())] += least,
            Kind::User(n) => {
                let of_start = outside.entry(queues.first_of_start(n)).or_default();
                *of_start = std::mem::take(of_start).max(least);
            }
        }
    }
    outside.into_values().fold(below.pop().unwrap_or_default(), |sum, least| sum + least)
}

/// The search for moves. Each move changes the cluster of the search.
struct Search<'s> {
    queues: &'s Queues<'s>,
    /// The fair shares, by queue and resource.
    due: &'s [Vector],
    /// The cluster after the moves so far.
    standing: Standing<'s>,
    /// The usage, by queue and resource.
    held: Vec<Vector>,
    /// True if a user waits, indexed by user.
    waiting: Vec<bool>,
    limits: &'s Limits,
    /// Pairs of a queue and a user for which the search has found no move.
    hopeless: BTreeSet<(usize, usize)>,
    /// True if a queue is below its fair share by a whole task, indexed by queue.
    is_below: Vec<bool>,
    /// The number of steps that searches for servers may still take.
    steps: u64,
    /// The gangs of the snapshot that moves have stopped, as positions in [`TaskRules`].
    gone: BTreeSet<usize>,
}

/// Tasks that a move would stop.
#[derive(Debug, Clone, Default)]
struct Stops {
    /// The number of stopped tasks on each server, for each user.
    tasks: BTreeMap<usize, Tasks>,
    /// The gangs of the snapshot among the stopped tasks, as positions in [`TaskRules`].
    gangs: BTreeSet<usize>,
}

/// The cost of stops: the highest priority among the stopped tasks, then the number of stopped tasks. A lower
/// cost is better.
type Cost = (i64, u64);

impl<'s> Search<'s> {
    fn problem(&self) -> &'s Problem {
        self.queues.problem
    }

    fn rules(&self) -> &'s TaskRules {
        self.standing.rules
    }

    /// Returns a waiting user whose start would still be within the fair share of a queue, if the queue is below its
    /// fair share by a whole task.
    fn below_by(&self, v: usize) -> Option<usize> {
        self.queues.short_by(v, &self.held[v], &self.due[v], &self.waiting, &Rational::new())
    }

    /// Returns the queues that are below their fair share by a whole task.
    fn below(&self) -> Vec<usize> {
        (0..self.queues.list.len()).filter(|v| self.below_by(*v).is_some()).collect()
    }

    /// Returns the largest fraction of its fair share of a resource that a queue lacks.
    fn lacking_fraction(&self, v: usize) -> Rational {
        let fractions = self.held[v].iter().zip(&self.due[v]).filter(|(_, due)| **due > 0);
        fractions.map(|(held, due)| 1 - Rational::from(held / due)).max().unwrap_or_default()
    }

    /// Returns the next move. The move is for the deepest queue that is below its fair share. Among equally
    /// deep queues, it is for the queue that lacks the largest fraction of its fair share. Within a queue,
    /// users with a higher priority come first, then users whose start uses the largest fraction of the
    /// lacking amount.
    fn next(&mut self) -> Option<Move> {
        let list = &self.queues.list;
        let mut below = self.below();
        self.is_below = vec![false; list.len()];
        below.iter().for_each(|v| self.is_below[*v] = true);
        below.sort_by_cached_key(|v| (Reverse((list[*v].depth, self.lacking_fraction(*v))), *v));
        for v in below {
            let (held, due) = (&self.held[v], &self.due[v]);
            let rules = self.rules();
            let waits = |n: &usize| {
                let is_certain = rules.leads(*n) && rules.not_modelled(*n).is_empty();
                is_certain && self.waiting[*n] && self.queues.is_within(*n, held, due)
            };
            let size = |n: &usize| {
                let fraction = |(r, unit): &(usize, Rational)| unit / Rational::from(&due[*r] - &held[*r]);
                self.queues.unit[*n].iter().map(fraction).max().unwrap_or_default()
            };
            let mut users: Vec<usize> = self.queues.users[v].iter().copied().filter(waits).collect();
            users.sort_by_cached_key(|n| (Reverse((rules.of(*n).priority, size(n))), *n));
            for n in users {
                if self.hopeless.contains(&(v, n)) {
                    continue;
                }
                if let Some(step) = self.move_for(v, n) {
                    return Some(step);
                }
                self.hopeless.insert((v, n));
            }
        }
        None
    }

    /// Returns a move that starts user `n` of queue `v`. The move has no stops if the start needs none, and
    /// otherwise the cheapest stops.
    fn move_for(&mut self, v: usize, n: usize) -> Option<Move> {
        let mut steps = self.steps;
        let answer = self.standing.find(n, &mut steps);
        self.steps = steps;
        if let Answer::Yes(assignment) = answer {
            let step = new_move(v, &assignment, Stops::default());
            if self.is_harmless(&step) {
                return Some(step);
            }
        }
        let may_stop: Vec<bool> = (0..self.problem().n_users()).map(|m| self.may_stop(m, n, v)).collect();
        if !may_stop.contains(&true) {
            return None;
        }
        let start = self.rules().start(n);
        let is_single = start.len() == 1 && gang(self.problem(), n) == 1;
        let mut candidates = if is_single { self.singles(n, &may_stop) } else { self.gangs(n, &may_stop) };
        candidates.sort_by_key(|(cost, ..)| *cost);
        // Limits may require further stops, so a candidate can become more expensive. A complete candidate is chosen as
        // soon as no other candidate can cost less.
        let mut complete: Vec<(Cost, Assignment, Stops)> = Vec::new();
        let mut candidates = candidates.into_iter().peekable();
        while candidates.peek().is_some() || !complete.is_empty() {
            complete.sort_by_key(|(cost, ..)| *cost);
            let least = complete.first().map(|(cost, ..)| *cost);
            let next = candidates.peek().map(|(cost, ..)| *cost);
            if let Some(cost) = least
                && next.is_none_or(|next| cost <= next)
            {
                let (_, assignment, stop) = complete.remove(0);
                let step = new_move(v, &assignment, stop);
                if self.is_harmless(&step) {
                    return Some(step);
                }
                continue;
            }
            if let Some((_, assignment, stops)) = candidates.next()
                && let Some(stops) = self.with_limits(&assignment, stops, &may_stop)
            {
                complete.push((self.cost(&stops), assignment, stops));
            }
        }
        None
    }

    fn cost(&self, stops: &Stops) -> Cost {
        let highest = stops.tasks.keys().map(|m| self.rules().of(*m).priority).max().unwrap_or(i64::MIN);
        (highest, stops.tasks.values().flat_map(BTreeMap::values).sum())
    }

    /// Returns `true` if a gang of user `m` may be stopped for a start of user `n` of queue `v`.
    ///
    /// The gang must not be pinned, `m` must not be in queue `v`, and the policy of the system must allow the stop. Each queue
    /// above `m` that is not above `n` must use more than its fair share of a resource that `m` demands, and must not be below
    /// its fair share by a whole task. So a queue below its fair share loses tasks only to queues inside it, and the search
    /// ends.
    fn may_stop(&self, m: usize, n: usize, v: usize) -> bool {
        let problem = self.problem();
        let pinned = problem.groups().member(m).pinned.clone().unwrap_or_default();
        let left = Rational::from(&self.standing.rooms.totals()[m] - gang(problem, m));
        let is_inside = self.queues.above[m].contains(&v);
        if self.limits.pinned.contains(&m) || is_inside || left < pinned || left < 0 {
            return false;
        }
        if !self.rules().may_stop(problem, m, n, self.limits.strict_priority) {
            return false;
        }
        let own = &self.queues.above[n];
        let is_over = |v: &usize| {
            let uses_more = |(r, _): &(usize, Rational)| self.held[*v][*r] > self.due[*v][*r];
            !self.is_below[*v] && self.queues.unit[m].iter().any(uses_more)
        };
        self.queues.above[m].iter().filter(|v| !own.contains(v)).all(is_over)
    }

    /// Returns servers for a start of one task, each with the tasks to stop on it. The cheapest stops come
    /// first.
    fn singles(&self, n: usize, may_stop: &[bool]) -> Vec<(Cost, Assignment, Stops)> {
        let one = |place: Place| Assignment { parts: vec![(n, vec![place])] };
        let candidates = self.places(n, &BTreeSet::new(), None, may_stop, &self.standing, &Stops::default());
        let candidates = candidates.into_iter().take(CANDIDATES);
        candidates.map(|(_, place, stops)| (self.cost(&stops), one(place), stops)).collect()
    }

    /// Returns servers for a start of several tasks, with the tasks to stop. Each choice of class sets on
    /// which the gangs may run gives at most one result.
    fn gangs(&self, n: usize, may_stop: &[bool]) -> Vec<(Cost, Assignment, Stops)> {
        let start = self.rules().start(n);
        let sets = |m: &usize| self.rules().of(*m).class_sets.len().max(1);
        let choices = start.iter().map(sets).product::<usize>().min(CANDIDATES);
        let candidates = (0..choices).filter_map(|choice| self.gangs_on(start, choice, may_stop));
        candidates.map(|(assignment, stops)| (self.cost(&stops), assignment, stops)).collect()
    }

    /// Places the tasks of a start one after the other on a copy of the cluster, each on the server with the cheapest
    /// stops. The digits of `choice` select the class set of each user.
    fn gangs_on(&self, start: &[usize], choice: usize, may_stop: &[bool]) -> Option<(Assignment, Stops)> {
        let (mut trial, mut stop, mut parts) = (self.standing.clone(), Stops::default(), Vec::new());
        let mut rest = choice;
        for n in start {
            let rule = self.rules().of(*n);
            let set = match rule.class_sets.len() {
                0 => None,
                sets => {
                    let chosen = &rule.class_sets[rest % sets];
                    rest /= sets;
                    Some(&chosen[..])
                }
            };
            let mut places = Vec::new();
            for _ in 0..gang(self.problem(), *n) {
                let taken: BTreeSet<Place> =
                    if rule.distinct_servers { places.iter().copied().collect() } else { BTreeSet::new() };
                let candidates = self.places(*n, &taken, set, may_stop, &trial, &stop);
                let (_, place, stops) = candidates.into_iter().next()?;
                stop_tasks(&mut trial, &stops.tasks);
                stop.add(stops);
                trial.change(*n, place, &Rational::from(1));
                places.push(place);
            }
            parts.push((*n, places));
        }
        Some((Assignment { parts }, stop))
    }

    /// Returns the servers on which one task of a user could run after stops on them. The cheapest stops come
    /// first. `trial` is the cluster after the stops in `stopped`. Servers in `taken` are left out.
    fn places(
        &self,
        n: usize,
        taken: &BTreeSet<Place>,
        set: Option<&[usize]>,
        may_stop: &[bool],
        trial: &Standing<'_>,
        stopped: &Stops,
    ) -> Vec<(Cost, Place, Stops)> {
        let problem = self.problem();
        let mut found: Vec<(Cost, Place, Stops)> = Vec::new();
        let single_sets = &self.rules().of(n).class_sets;
        for i in self.rules().classes_of(problem, n) {
            let is_in_a_set = single_sets.is_empty() || single_sets.iter().any(|set| set.contains(&i));
            if set.is_some_and(|set| !set.contains(&i)) || !is_in_a_set {
                continue;
            }
            // If a limit on this class leaves less than a task needs, at least one more task has to stop under the limit.
            let mut limits: Vec<_> = trial.rooms.on_limits(n, i);
            limits.retain(|at| *trial.rooms.left_of(*at) < trial.rooms.takes_of(*at, n, i));
            let extra = u64::from(!limits.is_empty());
            for server in &trial.servers.classes[i] {
                let place = Place { class: i, index: server.index };
                evenhand_budget::charge(100 + 40 * server.tasks.len() as u64, "the search for tasks to stop");
                if taken.contains(&place) {
                    continue;
                }
                let Some(stops) = self.stops(n, place, server, may_stop, trial, stopped) else { continue };
                let (highest, count) = self.cost(&stops);
                found.push(((highest, count + extra), place, stops));
                // Only the best candidates are kept, to save memory on large clusters.
                if found.len() >= 4 * CANDIDATES {
                    found.sort_by_key(|(cost, ..)| *cost);
                    found.truncate(CANDIDATES);
                }
            }
        }
        found.sort_by_key(|(cost, ..)| *cost);
        found
    }

    /// Returns the tasks to stop on a server so that it has enough free capacity for one task of a user. The
    /// result is empty if the capacity is free already, and `None` if no stops suffice.
    fn stops(
        &self,
        n: usize,
        place: Place,
        server: &Server,
        may_stop: &[bool],
        trial: &Standing<'_>,
        stopped: &Stops,
    ) -> Option<Stops> {
        let demand = self.problem().demand(n, place.class).entries();
        let mut lacks: BTreeMap<usize, Rational> = BTreeMap::new();
        for (r, d) in demand.iter().filter(|(r, d)| *d > 0 && server.free[*r] < *d) {
            lacks.insert(*r, Rational::from(d - &server.free[*r]));
        }
        let mut stops = Stops::default();
        let mut left: BTreeMap<usize, Rational> =
            server.tasks.iter().filter(|(m, _)| may_stop[**m]).map(|(m, x)| (*m, x.clone())).collect();
        while !lacks.is_empty() {
            // Tasks of the lowest priority stop first. Among these, a task that frees the largest fraction of the
            // lacking amounts stops first.
            let gives = |m: usize| -> Rational {
                let of = self.problem().demand(m, place.class);
                let fractions =
                    lacks.iter().map(|(r, lack)| Rational::from(&of[*r] / lack).min(Rational::from(1)));
                fractions.sum()
            };
            let candidates = left.iter().filter(|(_, x)| **x >= 1).map(|(m, _)| (gives(*m), *m));
            let candidates = candidates.filter(|(gain, _)| *gain > 0);
            let order =
                |(gain, m): &(Rational, usize)| (self.rules().of(*m).priority, Reverse(gain.clone()), *m);
            let (_, m) = candidates.min_by_key(order)?;
            let Some(gone) = self.whole_start(m, Some(place), &stops, trial, stopped) else {
                left.remove(&m);
                continue;
            };
            stops.gangs.extend(gone.gangs);
            for (m, tasks) in gone.tasks {
                for (at, count) in tasks {
                    if at == place {
                        if let Some(there) = left.get_mut(&m) {
                            *there -= count;
                        }
                        for (r, d) in self.problem().demand(m, place.class).entries() {
                            if let Some(lack) = lacks.get_mut(r) {
                                *lack -= Rational::from(d * count);
                            }
                        }
                    }
                    *stops.tasks.entry(m).or_default().entry(at).or_default() += count;
                }
            }
            lacks.retain(|_, lack| *lack > 0);
        }
        Some(stops)
    }

    /// Returns the tasks to stop in order to undo one whole start of a user, with all of its gangs. Tasks on
    /// `place` are chosen first, then tasks on other servers. If the snapshot says which tasks belong to one
    /// gang, the youngest such gang is chosen. `trial` is the cluster after the stops in `stopped`. The
    /// returned stops are made in addition to `stopped`.
    fn whole_start(
        &self,
        m: usize,
        place: Option<Place>,
        stops: &Stops,
        trial: &Standing<'_>,
        stopped: &Stops,
    ) -> Option<Stops> {
        if self.rules().has_gangs(m) {
            return self.known_gang(m, place, stops, stopped);
        }
        let mut gone = Stops::default();
        for k in self.rules().start(m) {
            let mut left = gang(self.problem(), *k);
            if !self.may_lose(*k, left, stops, stopped) {
                return None;
            }
            let runs = |at: Place| -> u64 {
                let tasks = trial.servers.at(at).and_then(|server| server.tasks.get(k));
                let tasks = tasks.and_then(|x| x.numer().to_u64()).unwrap_or(0);
                tasks - stops.tasks.get(k).and_then(|tasks| tasks.get(&at)).copied().unwrap_or(0).min(tasks)
            };
            let mut tasks = Tasks::new();
            let elsewhere = trial.servers.places_of(*k).filter(|at| Some(*at) != place);
            for at in place.into_iter().chain(elsewhere) {
                let taken = runs(at).min(left);
                if taken > 0 {
                    tasks.insert(at, taken);
                    left -= taken;
                }
                if left == 0 {
                    break;
                }
            }
            if left > 0 {
                return None;
            }
            gone.tasks.insert(*k, tasks);
        }
        Some(gone)
    }

    /// Returns `true` if a user may lose this number of tasks, in addition to the tasks in `stops` and
    /// `stopped`.
    fn may_lose(&self, k: usize, tasks: u64, stops: &Stops, stopped: &Stops) -> bool {
        let pinned = self.problem().groups().member(k).pinned.clone().unwrap_or_default();
        let count = |tasks: &Tasks| -> u64 { tasks.values().sum() };
        let before: u64 = [stops.tasks.get(&k), stopped.tasks.get(&k)].into_iter().flatten().map(count).sum();
        // The totals in `standing` do not include `stops` and `stopped` yet.
        let rest = Rational::from(&self.standing.rooms.totals()[k] - (before + tasks));
        rest >= pinned && !self.limits.pinned.contains(&k) && !self.rules().of(k).protected
    }

    /// Returns the youngest gang of the snapshot that has a task of a user and has not been stopped yet. If `place` is
    /// given, the gang must have a task of the user on that server.
    fn known_gang(&self, m: usize, place: Option<Place>, stops: &Stops, stopped: &Stops) -> Option<Stops> {
        self.rules().gangs_of(m).rev().find_map(|(at, tasks)| {
            let is_gone = [&self.gone, &stops.gangs, &stopped.gangs].iter().any(|gone| gone.contains(&at));
            let is_there = place.is_none_or(|at| tasks.get(&m).is_some_and(|tasks| tasks.contains_key(&at)));
            let may_stop = |(k, tasks): (&usize, &Tasks)| {
                let sum: u64 = tasks.values().sum();
                sum.is_multiple_of(gang(self.problem(), *k)) && self.may_lose(*k, sum, stops, stopped)
            };
            let is_chosen = !is_gone && is_there && tasks.iter().all(may_stop);
            is_chosen.then(|| Stops { tasks: tasks.clone(), gangs: BTreeSet::from([at]) })
        })
    }

    /// Adds the stops that the limits above a start require. Returns `None` if no stops suffice. A stop under
    /// a reached limit helps on whatever server the task runs. Under a limit on classes, a stop helps only if
    /// the task runs on these classes.
    fn with_limits(&mut self, assignment: &Assignment, stops: Stops, may_stop: &[bool]) -> Option<Stops> {
        stop_tasks(&mut self.standing, &stops.tasks);
        let mut stops = stops;
        let found = self.stop_under_limits(assignment, &mut stops, may_stop);
        start_tasks(&mut self.standing, &stops.tasks);
        found.then_some(stops)
    }

    /// Stops tasks until the limits allow a start. Returns `true` if the limits allow the start. The tasks of
    /// `stops` have already stopped in `self.standing`. Further stops are made in `self.standing` and added
    /// to `stops`.
    fn stop_under_limits(&mut self, assignment: &Assignment, stops: &mut Stops, may_stop: &[bool]) -> bool {
        let problem = self.problem();
        let Some((first, _)) = assignment.parts.first() else { return false };
        let amounts = self.rules().amounts(problem, *first);
        let group = problem.groups().member(*first).group;
        loop {
            let mut broken = self.standing.rooms.broken_bounds(group, &amounts);
            let on = self.standing.broken_on_limits(assignment);
            broken.extend(on.into_iter().map(|(at, excess)| (Bound::OnClasses(at), excess)));
            if broken.is_empty() {
                return true;
            }
            let users = (0..may_stop.len()).filter(|m| may_stop[*m]);
            let places = self.places_under(&broken, may_stop);
            let mut candidates: Vec<_> = users
                .filter_map(|m| {
                    let gain = self.relief(m, &broken, &places);
                    (gain > 0).then(|| ((self.rules().of(m).priority, Reverse(gain), m), m))
                })
                .collect();
            candidates.sort();
            // `self.standing` is already the cluster after `stops`, so their tasks are not passed again.
            let gone = candidates.into_iter().find_map(|(_, m)| {
                let place = places.iter().find_map(|places| places.get(&m).copied());
                let stopped = Stops { tasks: BTreeMap::new(), gangs: stops.gangs.clone() };
                self.whole_start(m, place, &Stops::default(), &self.standing, &stopped)
            });
            let Some(gone) = gone else { return false };
            evenhand_budget::charge(1_000, "the search for tasks to stop under a limit");
            stop_tasks(&mut self.standing, &gone.tasks);
            stops.add(gone);
        }
    }

    /// Returns how much a stop of one gang of a user helps: the fraction of the excess that the stop removes,
    /// summed over the exceeded bounds. `places` has for each bound the result of [`Search::places_under`].
    fn relief(&self, m: usize, broken: &[(Bound, Rational)], places: &[BTreeMap<usize, Place>]) -> Rational {
        let problem = self.problem();
        let groups = problem.groups();
        let is_below = |v: usize| groups.above(groups.member(m).group).any(|of| of == v);
        let takes = |r: usize| self.queues.unit[m].iter().find(|(of, _)| *of == r).map(|(_, d)| d.clone());
        let fraction = |((bound, excess), places): (&(Bound, Rational), &BTreeMap<usize, Place>)| {
            let gives = match bound {
                Bound::Limit(v, r) => takes(*r).filter(|_| is_below(*v))?,
                Bound::KeptBack(r) => takes(*r)?,
                // A group of weight 0 may not use more than its guarantee. Stops in other groups do not change that.
                Bound::Weight(_) => return None,
                Bound::OnClasses(at) => {
                    let place = places.get(&m)?;
                    self.standing.rooms.takes_of(*at, m, place.class)
                }
            };
            Some((gives / excess).min(Rational::from(1)))
        };
        broken.iter().zip(places).filter_map(fraction).sum()
    }

    /// Returns for each bound the first server of each of these users on which its tasks count under the bound. Only limits
    /// on classes have such servers. All servers are visited once, because a cluster has many users and many servers.
    fn places_under(&self, broken: &[(Bound, Rational)], may_stop: &[bool]) -> Vec<BTreeMap<usize, Place>> {
        let standing = &self.standing;
        let mut places = vec![BTreeMap::new(); broken.len()];
        for ((bound, _), places) in broken.iter().zip(&mut places) {
            let Bound::OnClasses(at) = bound else { continue };
            for (class, servers) in standing.servers.classes.iter().enumerate() {
                for server in servers {
                    for m in server.tasks.keys().filter(|m| may_stop[**m]) {
                        if !places.contains_key(m) && standing.rooms.on_limits(*m, class).contains(at) {
                            places.insert(*m, Place { class, index: server.index });
                        }
                    }
                }
            }
        }
        places
    }

    /// Returns `true` if a move does no harm. After the stops the start must be possible, no user may lack
    /// more of its guarantees, and no further queue may get below its fair share by a whole task.
    fn is_harmless(&mut self, step: &Move) -> bool {
        let users: Vec<usize> =
            (0..self.problem().n_users()).filter(|n| self.problem().is_active(*n)).collect();
        let has_groups = !self.problem().groups().list().is_empty();
        let rules = self.rules();
        let has_admitted = (0..self.problem().n_users()).any(|n| rules.admitted(n) > 0);
        // The kernel compares running tasks without admitted tasks, so neither of the two lacks may grow.
        let lacks = |standing: &Standing<'_>| -> Vec<Rational> {
            let admitted = |n: usize| rules.admitted(n);
            let mut lacks: Vec<Rational> = Vec::new();
            if has_groups {
                lacks.extend(users.iter().map(|n| standing.rooms.lack(*n)));
            }
            if has_groups && has_admitted {
                lacks.extend(standing.rooms.lacks_of_running(&users, &admitted));
            }
            lacks
        };
        let before = lacks(&self.standing);
        stop_tasks(&mut self.standing, &step.stop);
        let may = self.standing.may_start(&assignment_of(&step.start)).is_ok();
        if may {
            start_tasks(&mut self.standing, &step.start);
        }
        let is_harmless = may && {
            let after = lacks(&self.standing);
            let is_worse = before.iter().zip(&after).any(|(before, after)| after > before);
            let totals = self.standing.rooms.totals();
            let (waiting, held) = (self.queues.waiting(totals), self.queues.held(totals));
            let none = Rational::new();
            let gets_below = |v: usize| {
                !self.is_below[v]
                    && self.queues.short_by(v, &held[v], &self.due[v], &waiting, &none).is_some()
            };
            !is_worse && !(0..self.queues.list.len()).any(gets_below)
        };
        if may {
            stop_tasks(&mut self.standing, &step.start);
        }
        start_tasks(&mut self.standing, &step.stop);
        is_harmless
    }

    /// Searches for migrations followed by a start for which no single move was found. At most `most` moves
    /// are used in total. Makes the moves and returns them. Returns `None` if there are no such migrations.
    fn with_migrations(&mut self, most: usize) -> Option<Vec<Move>> {
        let hopeless: Vec<(usize, usize)> = self.hopeless.iter().copied().collect();
        for (v, n) in hopeless {
            for steps in self.migrations(v, n, most) {
                let saved = (self.standing.clone(), self.held.clone(), self.waiting.clone());
                let is_harmless = steps.iter().all(|step| {
                    let is_harmless = self.is_harmless(step);
                    if is_harmless {
                        self.take(step);
                    }
                    is_harmless
                });
                if is_harmless {
                    return Some(steps);
                }
                (self.standing, self.held, self.waiting) = saved;
            }
        }
        None
    }

    /// Returns lists of migrations that free capacity for one task of user `n` on a server, the shortest list first.
    /// The last step of each list is the start of that task. A task migrates only if it starts alone, is neither pinned
    /// nor protected, and has no higher priority than the start. Tasks of other queues must also be tasks that may be
    /// stopped for the start.
    fn migrations(&mut self, v: usize, n: usize, most: usize) -> Vec<Vec<Move>> {
        let problem = self.problem();
        let rules = self.rules();
        if rules.start(n).len() > 1 || gang(problem, n) > 1 {
            return Vec::new();
        }
        let priority = rules.of(n).priority;
        let may_migrate: Vec<bool> = (0..problem.n_users())
            .map(|m| {
                let is_alone = rules.start(m).len() == 1 && gang(problem, m) == 1;
                let is_own = self.queues.above[m] == self.queues.above[n];
                let is_allowed = is_own || rules.may_stop(problem, m, n, self.limits.strict_priority);
                let may_stop = !rules.of(m).protected && rules.of(m).priority <= priority && is_allowed;
                let pinned = problem.groups().member(m).pinned.as_ref().is_some_and(|pinned| *pinned > 0);
                is_alone && may_stop && !pinned && !self.limits.pinned.contains(&m)
            })
            .collect();
        let mut candidates: Vec<(u64, Place, Stops)> = Vec::new();
        for i in rules.classes_of(problem, n) {
            for server in &self.standing.servers.classes[i] {
                let place = Place { class: i, index: server.index };
                evenhand_budget::charge(
                    100 + 40 * server.tasks.len() as u64,
                    "the search for tasks to migrate",
                );
                let sets = self.sets_of_tasks(n, place, server, &may_migrate);
                let counted = |stops: Stops| {
                    let count: u64 = stops.tasks.values().flat_map(BTreeMap::values).sum();
                    (count, place, stops)
                };
                candidates.extend(sets.into_iter().map(counted));
            }
        }
        candidates.retain(|(count, ..)| *count > 0 && (*count as usize) < most);
        candidates.sort_by_key(|(count, place, _)| (*count, *place));
        candidates.truncate(MOST_SETS);
        let mut found = Vec::new();
        for (_, place, stops) in candidates {
            found.extend(self.migrated(v, n, place, &stops));
        }
        found
    }

    /// Returns sets of at most [`MOST_MIGRATIONS`] tasks whose departure frees capacity for a task of a user on a
    /// server. The task that is added to a set last is always necessary.
    fn sets_of_tasks(&self, n: usize, place: Place, server: &Server, may_migrate: &[bool]) -> Vec<Stops> {
        let demand = self.problem().demand(n, place.class).entries();
        let lacks: Vec<(usize, Rational)> = demand
            .iter()
            .filter(|(r, d)| *d > 0 && server.free[*r] < *d)
            .map(|(r, d)| (*r, Rational::from(d - &server.free[*r])))
            .collect();
        let users: Vec<usize> = server.tasks.keys().copied().filter(|m| may_migrate[*m]).collect();
        let mut found = Vec::new();
        if !lacks.is_empty() {
            self.extend_set(&users, place, &lacks, &Stops::default(), MOST_MIGRATIONS, &mut found);
        }
        found
    }

    /// Extends a set of tasks by a task of one of these users, and recursively by further tasks, until the amounts in
    /// `lacks` are free. At most `left` tasks are added.
    fn extend_set(
        &self,
        users: &[usize],
        place: Place,
        lacks: &[(usize, Rational)],
        set: &Stops,
        left: usize,
        found: &mut Vec<Stops>,
    ) {
        for (at, m) in users.iter().enumerate() {
            if found.len() >= MOST_SETS {
                return;
            }
            evenhand_budget::charge(200, "the search for tasks to migrate");
            let gives = &self.problem().demand(*m, place.class);
            if !lacks.iter().any(|(r, _)| gives[*r] > 0) {
                continue;
            }
            let gone = self.whole_start(*m, Some(place), set, &self.standing, &Stops::default());
            let is_single = |gone: &Stops| {
                let tasks: Vec<(&Place, &u64)> = gone.tasks.values().flatten().collect();
                matches!(tasks[..], [(at, 1)] if *at == place)
            };
            let Some(gone) = gone.filter(is_single) else { continue };
            let mut with = set.clone();
            with.add(gone);
            let rest: Vec<(usize, Rational)> = lacks
                .iter()
                .map(|(r, lack)| (*r, Rational::from(lack - &gives[*r])))
                .filter(|(_, lack)| *lack > 0)
                .collect();
            if rest.is_empty() {
                found.push(with);
            } else if left > 1 {
                self.extend_set(&users[at..], place, &rest, &with, left - 1, found);
            }
        }
    }

    /// Returns the moves that migrate these tasks away from a server, followed by the start of a task of user
    /// `n` on that server. Returns `None` if a task has no other server.
    fn migrated(&mut self, v: usize, n: usize, place: Place, stops: &Stops) -> Option<Vec<Move>> {
        let mut trial = self.standing.clone();
        stop_tasks(&mut trial, &stops.tasks);
        trial.change(n, place, &Rational::from(1));
        let mut steps = Vec::new();
        for (m, at, gang) in self.single_tasks(stops)? {
            let mut left = self.steps;
            let answer = trial.find(m, &mut left);
            self.steps = left;
            let Answer::Yes(to) = answer else { return None };
            let target = to.parts.first().and_then(|(_, places)| places.first()).copied();
            let target = target.filter(|target| *target != at && *target != place)?;
            trial.change(m, target, &Rational::from(1));
            let tasks = BTreeMap::from([(m, Tasks::from([(at, 1)]))]);
            let stop = Stops { tasks, gangs: gang.into_iter().collect() };
            steps.push(Move { is_migration: true, ..new_move(v, &to, stop) });
        }
        let start = Assignment { parts: vec![(n, vec![place])] };
        steps.push(new_move(v, &start, Stops::default()));
        Some(steps)
    }

    /// Returns the stopped tasks one by one, each with its gang if the snapshot names the gang. Returns `None` if a
    /// gang has several tasks.
    fn single_tasks(&self, stops: &Stops) -> Option<Vec<(usize, Place, Option<usize>)>> {
        let mut single = Vec::new();
        let mut rest = stops.tasks.clone();
        for gang in &stops.gangs {
            let mut gangs = stops.tasks.keys().flat_map(|m| self.rules().gangs_of(*m));
            let (_, tasks) = gangs.find(|(at, _)| at == gang)?;
            let mut all =
                tasks.iter().flat_map(|(m, tasks)| tasks.iter().map(move |(at, count)| (*m, *at, *count)));
            let (m, at, 1) = all.next()? else { return None };
            if all.next().is_some() {
                return None;
            }
            *rest.get_mut(&m)?.get_mut(&at)? -= 1;
            single.push((m, at, Some(*gang)));
        }
        for (m, tasks) in rest {
            for (at, count) in tasks {
                single.extend((0..count).map(|_| (m, at, None)));
            }
        }
        Some(single)
    }

    /// Makes a move.
    fn take(&mut self, step: &Move) {
        stop_tasks(&mut self.standing, &step.stop);
        self.gone.extend(&step.gangs);
        start_tasks(&mut self.standing, &step.start);
        let totals = self.standing.rooms.totals();
        self.held = self.queues.held(totals);
        self.waiting = self.queues.waiting(totals);
    }
}

/// Removes tasks from a cluster.
fn stop_tasks(standing: &mut Standing<'_>, stops: &BTreeMap<usize, Tasks>) {
    for (m, tasks) in stops {
        tasks.iter().for_each(|(at, count)| standing.change(*m, *at, &-Rational::from(*count)));
    }
}

/// Adds tasks to a cluster.
fn start_tasks(standing: &mut Standing<'_>, starts: &BTreeMap<usize, Tasks>) {
    for (n, tasks) in starts {
        tasks.iter().for_each(|(at, count)| standing.change(*n, *at, &Rational::from(*count)));
    }
}

impl Stops {
    /// Adds the tasks and gangs of other stops to these stops.
    fn add(&mut self, stops: Self) {
        self.gangs.extend(stops.gangs);
        for (m, tasks) in stops.tasks {
            for (at, count) in tasks {
                *self.tasks.entry(m).or_default().entry(at).or_default() += count;
            }
        }
    }
}

fn new_move(queue: usize, assignment: &Assignment, stops: Stops) -> Move {
    Move { queue, start: tasks_of(assignment), stop: stops.tasks, gangs: stops.gangs, is_migration: false }
}

fn tasks_of(assignment: &Assignment) -> BTreeMap<usize, Tasks> {
    let tasks = |places: &[Place]| {
        let mut tasks = Tasks::new();
        places.iter().for_each(|place| *tasks.entry(*place).or_default() += 1);
        tasks
    };
    assignment.parts.iter().map(|(n, places)| (*n, tasks(places))).collect()
}

fn assignment_of(start: &BTreeMap<usize, Tasks>) -> Assignment {
    let places = |tasks: &Tasks| tasks.iter().flat_map(|(at, count)| (0..*count).map(|_| *at)).collect();
    Assignment { parts: start.iter().map(|(n, tasks)| (*n, places(tasks))).collect() }
}
