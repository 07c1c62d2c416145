//! Which tasks to stop and to start so that no queue is short by a whole task.
//!
//! A move starts one gang of a queue that is short, where it fits, or else where the fewest tasks have to be stopped for it:
//! tasks that are not pinned, of queues that are not short by a whole task without them. Each is greedy; that there cannot be
//! fewer is known where their number is that of the bound ([`least_starts`]).

use std::collections::{BTreeMap, BTreeSet};

use evenhand_problem::{Allocation, Problem, Rational};

use crate::due::Due;
use crate::error::ClusterError;
use crate::fits::fit;
use crate::queues::{Queues, Vector, gang};
use crate::rooms::Rooms;
use crate::servers::{Place, Server, Servers, placed};

/// Tasks of a user on servers, ascending: how many on each.
pub type Tasks = BTreeMap<Place, u64>;

/// One gang that starts, and what is stopped for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The queue that is short.
    pub queue: usize,
    /// The user, and where its tasks start.
    pub start: (usize, Tasks),
    /// By user: where its tasks are stopped.
    pub stop: BTreeMap<usize, Tasks>,
}

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Moves {
    /// In this order.
    pub list: Vec<Move>,
    /// What runs after them.
    pub after: Allocation,
    /// The queues that are short by a whole task before and after.
    pub short: [Vec<usize>; 2],
    /// So many moves at least are needed until no queue is.
    pub least: Rational,
    /// Whether it ended with the number of moves that was asked for.
    pub is_cut: bool,
}

/// What may be done.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Most moves.
    pub most: Option<usize>,
    /// Users none of whose tasks may be stopped.
    pub pinned: BTreeSet<usize>,
}

impl Moves {
    /// Whether no queue is short by a whole task after them, and there cannot be fewer.
    #[must_use]
    pub fn are_fewest(&self) -> bool {
        self.short[1].is_empty() && self.least == self.list.len()
    }

    /// Tasks that are stopped.
    #[must_use]
    pub fn stopped(&self) -> u64 {
        let stops = self.list.iter().flat_map(|step| step.stop.values());
        stops.flat_map(BTreeMap::values).sum()
    }

    /// Looks for them.
    ///
    /// # Errors
    /// [`ClusterError::NoPlacements`], [`ClusterError::NotWhole`].
    pub fn new(
        problem: &Problem,
        allocation: &Allocation,
        due: &Due,
        limits: &Limits,
    ) -> Result<Self, ClusterError> {
        let Some(placements) = &allocation.placements else { return Err(ClusterError::NoPlacements) };
        let all = placements.iter().flat_map(|on| &on.tasks);
        if let Some((n, tasks)) = all.into_iter().find(|(_, tasks)| !tasks.is_integer() || *tasks < 0) {
            let user = problem.users()[*n].name().to_owned();
            return Err(ClusterError::NotWhole { user, tasks: tasks.to_string() });
        }
        let queues = Queues::new(problem);
        let totals = allocation.totals();
        let held = queues.held(&totals);
        let waiting = queues.waiting(&totals);
        let least = least_starts(&queues, &held, &due.amounts, &totals);
        let servers = Servers::new(problem, placements);
        let mut search = Search {
            queues: &queues,
            due: &due.amounts,
            servers,
            totals,
            held,
            waiting,
            limits,
            hopeless: BTreeSet::new(),
            is_short: Vec::new(),
        };
        let before = search.short();
        let mut list: Vec<Move> = Vec::new();
        let mut is_cut = false;
        // What has no place is looked at again after the moves that were found.
        let mut tried = 0;
        loop {
            let Some(step) = search.next(allocation) else {
                if search.hopeless.is_empty() || tried == list.len() {
                    break;
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
        let short = [before, search.short()];
        let after = placed(allocation, search.servers.placements());
        Ok(Self { list, after, short, least, is_cut })
    }
}

/// A bound from below of the number of gangs that have to start before no queue is short by a whole task.
///
/// While a gang of user `n` waits and is within what is due, it has to start, or what is missing of one of its resources has to
/// become less than it takes; a start below the queue adds at most what the largest gang there takes. Starts below one
/// queue are none below another one beside it.
#[must_use]
pub fn least_starts(queues: &Queues<'_>, held: &[Vector], due: &[Vector], totals: &[Rational]) -> Rational {
    let problem = queues.problem;
    let mut below = vec![Rational::new(); queues.list.len() + 1];
    let mut order: Vec<usize> = (0..queues.list.len()).collect();
    order.sort_by_key(|v| std::cmp::Reverse(queues.list[*v].depth));
    for v in order {
        let mut largest = vec![Rational::new(); problem.n_resources()];
        for (r, unit) in queues.users[v].iter().flat_map(|n| &queues.unit[*n]) {
            if largest[*r] < *unit {
                largest[*r].clone_from(unit);
            }
        }
        let mut least = below[v].clone();
        let waits = |n: &&usize| queues.waits(**n, &totals[**n]) && queues.is_within(**n, &held[v], &due[v]);
        for n in queues.users[v].iter().filter(waits) {
            let left = problem.users()[*n].tasks().map(|tasks| Rational::from(tasks - &totals[*n]));
            let gangs = left.map(|left| (left / gang(problem, *n)).floor());
            let until = |(r, unit): &(usize, Rational)| {
                let beside = Rational::from(&due[v][*r] - &held[v][*r]) - unit;
                (beside / &largest[*r]).floor() + 1_u32
            };
            let starts = queues.unit[*n].iter().map(until).chain(gangs).min();
            least = starts.into_iter().fold(least, Rational::max);
        }
        below[queues.list[v].parent.unwrap_or(queues.list.len())] += least;
    }
    below.pop().unwrap_or_default()
}

struct Search<'s> {
    queues: &'s Queues<'s>,
    due: &'s [Vector],
    servers: Servers<'s>,
    totals: Vector,
    held: Vec<Vector>,
    /// By user.
    waiting: Vec<bool>,
    limits: &'s Limits,
    /// Users of queues for which no move is found: what is done for others does not free more of what is above.
    hopeless: BTreeSet<(usize, usize)>,
    /// By queue: whether it is short by a whole task.
    is_short: Vec<bool>,
}

/// A server, and the tasks on it that would be stopped.
type Stops = BTreeMap<usize, Tasks>;

impl Search<'_> {
    fn short_by(&self, v: usize) -> Option<usize> {
        self.queues.short_by(v, &self.held[v], &self.due[v], &self.waiting, &Rational::new())
    }

    fn short(&self) -> Vec<usize> {
        (0..self.queues.list.len()).filter(|v| self.short_by(*v).is_some()).collect()
    }

    /// The part of what is due that a queue is short of, the largest of all resources.
    fn part(&self, v: usize) -> Rational {
        let parts = self.held[v].iter().zip(&self.due[v]).filter(|(_, due)| **due > 0);
        parts.map(|(held, due)| 1 - Rational::from(held / due)).max().unwrap_or_default()
    }

    /// A move for the queue that is short by the largest part, the innermost of them; of its users first who takes most of
    /// what is missing.
    fn next(&mut self, allocation: &Allocation) -> Option<Move> {
        let list = &self.queues.list;
        let mut short = self.short();
        self.is_short = vec![false; list.len()];
        short.iter().for_each(|v| self.is_short[*v] = true);
        short.sort_by_cached_key(|v| (std::cmp::Reverse((list[*v].depth, self.part(*v))), *v));
        let problem = self.queues.problem;
        // What groups leave changes with every move.
        let rooms = problem.groups().hold_back();
        let rooms = rooms.then(|| Rooms::new(problem, &placed(allocation, self.servers.placements())));
        for v in short {
            let (held, due) = (&self.held[v], &self.due[v]);
            let waits = |n: &usize| self.waiting[*n] && self.queues.is_within(*n, held, due);
            let size = |n: &usize| {
                let part = |(r, unit): &(usize, Rational)| unit / Rational::from(&due[*r] - &held[*r]);
                self.queues.unit[*n].iter().map(part).max().unwrap_or_default()
            };
            let mut users: Vec<usize> = self.queues.users[v].iter().copied().filter(waits).collect();
            users.sort_by_cached_key(|n| (std::cmp::Reverse(size(n)), *n));
            for n in users {
                if self.hopeless.contains(&(v, n)) {
                    continue;
                }
                if let Some(step) = self.of_user(v, n, rooms.as_ref()) {
                    return Some(step);
                }
                self.hopeless.insert((v, n));
            }
        }
        None
    }

    fn of_user(&self, v: usize, n: usize, rooms: Option<&Rooms<'_>>) -> Option<Move> {
        let problem = self.queues.problem;
        if let Some(fit) = fit(self.queues, &self.servers, rooms, n) {
            let mut start = Tasks::new();
            fit.places.into_iter().for_each(|place| *start.entry(place).or_default() += 1);
            return Some(Move { queue: v, start: (n, start), stop: BTreeMap::new() });
        }
        if !self.is_within_limits(n) || rooms.is_some_and(|rooms| rooms_bar(problem, n, rooms)) {
            return None;
        }
        let may_stop: Vec<bool> = (0..problem.n_users()).map(|m| self.may_stop(m, n, v)).collect();
        let gang = gang(problem, n);
        if gang == 1 {
            let (place, stop) = self.place(n, &may_stop, &self.servers, &Stops::new())?;
            let step = Move { queue: v, start: (n, Tasks::from([(place, 1)])), stop };
            return self.leaves_nobody_short(&step).then_some(step);
        }
        // Task by task of the gang, on a trial.
        let (mut servers, mut start, mut stop) = (self.servers.clone(), Tasks::new(), Stops::new());
        for _ in 0..gang {
            let (place, stops) = self.place(n, &may_stop, &servers, &stop)?;
            for (m, tasks) in stops {
                for (at, count) in tasks {
                    servers.add(at, m, &-Rational::from(count));
                    *stop.entry(m).or_default().entry(at).or_default() += count;
                }
            }
            servers.add(place, n, &Rational::from(1));
            *start.entry(place).or_default() += 1;
        }
        let step = Move { queue: v, start: (n, start), stop };
        self.leaves_nobody_short(&step).then_some(step)
    }

    /// Whether no limit of a group above a user, on all servers, is exceeded by a gang of it; what is stopped in the same
    /// group is not counted.
    fn is_within_limits(&self, n: usize) -> bool {
        let groups = self.queues.problem.groups();
        groups.above(groups.member(n).group).all(|v| {
            let unit = |r: usize| self.queues.unit[n].iter().find(|(of, _)| *of == r);
            groups.list()[v].limit.iter().all(|(r, most)| {
                unit(*r).is_none_or(|(_, unit)| Rational::from(&self.held[v][*r] + unit) <= *most)
            })
        })
    }

    /// Whether a gang of a user may be stopped for user `n` of queue `v`: it is not pinned, not in that queue, and all queues
    /// above it that `n` is not in hold more of something that it takes than they are due, and are not short. So who is
    /// not short never becomes so, who is short loses nothing but to what stands in it, and the search ends.
    fn may_stop(&self, m: usize, n: usize, v: usize) -> bool {
        let problem = self.queues.problem;
        let pinned = problem.groups().member(m).pinned.clone().unwrap_or_default();
        let left = Rational::from(&self.totals[m] - gang(problem, m));
        let is_inside = self.queues.above[m].contains(&v);
        if self.limits.pinned.contains(&m) || is_inside || left < pinned || left < 0 {
            return false;
        }
        let own = &self.queues.above[n];
        let is_above = |v: &usize| {
            let holds_more = |(r, _): &(usize, Rational)| self.held[*v][*r] > self.due[*v][*r];
            !self.is_short[*v] && self.queues.unit[m].iter().any(holds_more)
        };
        self.queues.above[m].iter().filter(|v| !own.contains(v)).all(is_above)
    }

    /// A server for one more task of a user, with the fewest tasks to stop there.
    fn place(
        &self,
        n: usize,
        may_stop: &[bool],
        servers: &Servers<'_>,
        stopped: &Stops,
    ) -> Option<(Place, Stops)> {
        let problem = self.queues.problem;
        let mut best: Option<(u64, Place, Stops)> = None;
        for i in problem.classes_of(n) {
            for server in &servers.classes[i] {
                let place = Place { class: i, index: server.index };
                evenhand_budget::charge(100 + 40 * server.tasks.len() as u64, "looking for tasks to stop");
                let Some(stops) = self.stops(n, place, server, may_stop, (servers, stopped)) else {
                    continue;
                };
                let count: u64 = stops.values().flat_map(BTreeMap::values).sum();
                if best.as_ref().is_none_or(|(least, ..)| count < *least) {
                    best = Some((count, place, stops));
                }
                // None has fewer, where something has to be stopped at all.
                if count <= 1 {
                    return best.map(|(_, place, stops)| (place, stops));
                }
            }
        }
        best.map(|(_, place, stops)| (place, stops))
    }

    /// What to stop on a server so that a task of a user fits; nothing where it fits.
    fn stops(
        &self,
        n: usize,
        place: Place,
        server: &Server,
        may_stop: &[bool],
        trial: (&Servers<'_>, &Stops),
    ) -> Option<Stops> {
        let problem = self.queues.problem;
        let demand = problem.demand(n, place.class).entries();
        let mut lacks: BTreeMap<usize, Rational> = BTreeMap::new();
        for (r, d) in demand.iter().filter(|(r, d)| server.free[*r] < *d) {
            lacks.insert(*r, Rational::from(d - &server.free[*r]));
        }
        let mut stops = Stops::new();
        let mut left: BTreeMap<usize, Rational> =
            server.tasks.iter().filter(|(m, _)| may_stop[**m]).map(|(m, x)| (*m, x.clone())).collect();
        while !lacks.is_empty() {
            // Who gives back the largest part of what is lacking, the first of them.
            let gives = |m: usize| -> Rational {
                let of = problem.demand(m, place.class);
                let parts =
                    lacks.iter().map(|(r, lack)| Rational::from(&of[*r] / lack).min(Rational::from(1)));
                parts.sum()
            };
            let candidates = left.iter().filter(|(_, x)| **x >= 1).map(|(m, _)| (gives(*m), *m));
            let (gain, m) = candidates.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)))?;
            if gain.is_zero() {
                return None;
            }
            let tasks = self.whole_gang(m, place, &stops, trial)?;
            for (at, count) in tasks {
                if at == place {
                    if let Some(there) = left.get_mut(&m) {
                        *there -= count;
                    }
                    for (r, d) in problem.demand(m, place.class).entries() {
                        if let Some(lack) = lacks.get_mut(r) {
                            *lack -= Rational::from(d * count);
                        }
                    }
                }
                *stops.entry(m).or_default().entry(at).or_default() += count;
            }
            lacks.retain(|_, lack| *lack > 0);
        }
        Some(stops)
    }

    /// Where a gang of a user that runs on a server is stopped: there first, then where else it runs.
    fn whole_gang(
        &self,
        m: usize,
        place: Place,
        stops: &Stops,
        (servers, before): (&Servers<'_>, &Stops),
    ) -> Option<Tasks> {
        let mut left = gang(self.queues.problem, m);
        let pinned = self.queues.problem.groups().member(m).pinned.clone().unwrap_or_default();
        let is_stopped = |tasks: &Tasks| -> u64 { tasks.values().sum() };
        let stopped: u64 = [stops.get(&m), before.get(&m)].into_iter().flatten().map(is_stopped).sum();
        if Rational::from(&self.totals[m] - (stopped + left)) < pinned {
            return None;
        }
        let runs = |at: Place| -> u64 {
            let there = servers.at(at).and_then(|server| server.tasks.get(&m));
            let there = there.and_then(|x| x.numer().to_u64()).unwrap_or(0);
            there - stops.get(&m).and_then(|tasks| tasks.get(&at)).copied().unwrap_or(0).min(there)
        };
        let mut tasks = Tasks::new();
        let elsewhere = servers.classes.iter().enumerate().flat_map(|(class, servers)| {
            servers.iter().map(move |server| Place { class, index: server.index })
        });
        for at in std::iter::once(place).chain(elsewhere.filter(|at| *at != place)) {
            let taken = runs(at).min(left);
            if taken > 0 {
                tasks.insert(at, taken);
                left -= taken;
            }
            if left == 0 {
                return Some(tasks);
            }
        }
        None
    }

    /// Whether no queue that is not short by a whole task becomes so by a move.
    fn leaves_nobody_short(&self, step: &Move) -> bool {
        let (totals, held) = self.changed(step);
        let mut touched: BTreeSet<usize> = BTreeSet::new();
        let users = step.stop.keys().chain([&step.start.0]);
        touched.extend(users.flat_map(|m| &self.queues.above[*m]));
        touched.into_iter().all(|v| {
            // Before a move for it a queue is short already.
            let waiting = |n: usize| self.queues.waits(n, &totals[n]);
            let is_short = || {
                let mut users = self.queues.users[v].iter();
                users.any(|n| waiting(*n) && self.queues.is_within(*n, &held[&v], &self.due[v]))
            };
            self.short_by(v).is_some() || !is_short()
        })
    }

    /// The tasks of all users, and what the queues that it touches hold, after a move.
    fn changed(&self, step: &Move) -> (Vector, BTreeMap<usize, Vector>) {
        let mut totals = self.totals.clone();
        let mut held: BTreeMap<usize, Vector> = BTreeMap::new();
        for (m, change) in changes(step) {
            totals[m] += &change;
            for v in &self.queues.above[m] {
                let held = held.entry(*v).or_insert_with(|| self.held[*v].clone());
                for (r, d) in self.queues.problem.users()[m].base_demand().entries() {
                    held[*r] += Rational::from(d * &change);
                }
            }
        }
        (totals, held)
    }

    fn take(&mut self, step: &Move) {
        let (totals, held) = self.changed(step);
        self.totals = totals;
        held.into_iter().for_each(|(v, held)| self.held[v] = held);
        for (m, _) in changes(step) {
            self.waiting[m] = self.queues.waits(m, &self.totals[m]);
        }
        for (m, tasks) in &step.stop {
            tasks.iter().for_each(|(at, count)| self.servers.add(*at, *m, &-Rational::from(*count)));
        }
        let (n, tasks) = &step.start;
        tasks.iter().for_each(|(at, count)| self.servers.add(*at, *n, &Rational::from(*count)));
    }
}

/// By user: how many tasks more it has after a move.
fn changes(step: &Move) -> Vec<(usize, Rational)> {
    let count = |tasks: &Tasks| Rational::from(tasks.values().sum::<u64>());
    let stops = step.stop.iter().map(|(m, tasks)| (*m, -count(tasks)));
    stops.chain([(step.start.0, count(&step.start.1))]).collect()
}

/// Whether limits on server classes leave a user no gang: what is stopped there is not counted.
fn rooms_bar(problem: &Problem, n: usize, rooms: &Rooms<'_>) -> bool {
    let mut left = Rational::new();
    for i in problem.classes_of(n) {
        match rooms.on_class(n, i) {
            None => return false,
            Some(room) => left += room.floor(),
        }
    }
    left < gang(problem, n)
}
