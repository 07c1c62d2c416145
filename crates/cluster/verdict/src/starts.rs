//! Computes which tasks could start now: the predicate `may_start` of docs/verdict.md, and the search for
//! servers.
//!
//! Other files call this predicate. They do not compare free capacity or limits themselves.

use evenhand_problem::snapshot::Rounded;
use evenhand_problem::{Allocation, Problem, Rational};

use crate::queues::gang;
use crate::rooms::{Bound, OnLimit, Rooms};
use crate::servers::{Place, Servers};
use crate::task_rules::TaskRules;

/// The largest number of steps of one search. A step considers one server for one gang, and takes 0.2 to 2 microseconds.
const STEPS_OF_A_START: u64 = 50_000;
/// The largest number of steps of all searches of one verdict. The searches then take a few seconds.
pub const STEPS_OF_A_VERDICT: u64 = 1_000_000;
/// The largest number of combinations of class sets that one search tries.
const MOST_CHOICES: usize = 1_000;

/// Servers for the tasks of a start: one server for each task of the gang of each user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The users in ascending order, each with the servers of its tasks.
    pub parts: Vec<(usize, Vec<Place>)>,
}

/// The answer to the question whether a start could start now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The start could start now on these servers.
    Yes(Assignment),
    /// The start could not start on any servers.
    No,
    /// The search ran out of steps before it had an answer.
    NotKnown,
}

/// The reason why a start may not start on given servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocked {
    /// A user does not have a gang of tasks left, or the assignment does not have exactly one gang for each user of the
    /// start.
    Tasks,
    /// This server has too little free capacity, or it does not exist.
    Server(Place),
    /// This user may not run on a class, or its gang may not run on these classes or servers together.
    NotAllowed(usize),
    /// A limit, capacity that is kept back, or the weight 0 of a group stops the start.
    Bound(Bound),
}

/// The state of a cluster on which [`Standing::may_start`] depends: running tasks on single servers, admitted tasks, and the
/// usage of groups.
#[derive(Debug, Clone)]
pub struct Standing<'p> {
    /// The problem.
    pub problem: &'p Problem,
    /// The constraints of the users.
    pub rules: &'p TaskRules,
    /// The single servers.
    pub servers: Servers<'p>,
    /// The usage and the bounds of groups.
    pub rooms: Rooms<'p>,
}

impl<'p> Standing<'p> {
    /// Returns the state of a cluster with an allocation. Returns `None` if the allocation has no placements.
    #[must_use]
    pub fn new(problem: &'p Problem, rules: &'p TaskRules, allocation: &Allocation) -> Option<Self> {
        let placements = allocation.placements.as_ref()?;
        let most = (0..problem.n_users()).map(|n| rules.start(n).iter().map(|m| gang(problem, *m)).sum());
        let servers = Servers::new(problem, placements, most.max().unwrap_or(1));
        let rooms = Rooms::new(problem, allocation, |n| rules.admitted(n));
        Some(Self { problem, rules, servers, rooms })
    }

    /// Returns the same cluster, with servers that have capacity beyond the capacity of their class. Returns
    /// `None` if no such capacity is known.
    #[must_use]
    pub fn unrounded(&self, allocation: &Allocation, rounded: &[Rounded]) -> Option<Self> {
        let known: Vec<Rounded> = rounded.iter().filter(|of| !of.by_server.is_empty()).cloned().collect();
        let placements = allocation.placements.as_ref().filter(|_| !known.is_empty())?;
        // The number of empty servers stays the same, because a gang may need several servers of a class that is not
        // rounded.
        let servers = Servers::unrounded(self.problem, placements, self.servers.spare(), known);
        Some(Self { servers, ..self.clone() })
    }

    /// Adds tasks of a user on a server. A negative number removes tasks.
    pub fn change(&mut self, n: usize, place: Place, tasks: &Rational) {
        self.servers.add(place, n, tasks);
        self.rooms.add(n, tasks);
        self.rooms.add_on_class(n, place.class, tasks);
    }

    /// Tests whether a start could start on given servers while all other tasks stay on their servers. The
    /// points 1 to 8 of docs/verdict.md are tested.
    ///
    /// # Errors
    /// [`Blocked`] with the first reason.
    pub fn may_start(&self, start: &Assignment) -> Result<(), Blocked> {
        let Some((first, _)) = start.parts.first() else { return Err(Blocked::Tasks) };
        let is_whole = start.parts.iter().map(|(n, _)| *n).eq(self.rules.start(*first).iter().copied());
        if !is_whole || !start.parts.iter().all(|(n, places)| self.has_gang(*n, places.len())) {
            return Err(Blocked::Tasks);
        }
        for (n, places) in &start.parts {
            self.is_allowed(*n, places)?;
        }
        self.servers_hold(start)?;
        let amounts = self.rules.amounts(self.problem, *first);
        let group = self.problem.groups().member(*first).group;
        match self.rooms.broken_bounds(group, &amounts).into_iter().next() {
            Some((bound, _)) => Err(Blocked::Bound(bound)),
            None => match self.broken_on_limits(start).first() {
                Some((at, _)) => Err(Blocked::Bound(Bound::OnClasses(*at))),
                None => Ok(()),
            },
        }
    }

    /// Returns `true` if a number of tasks is the gang size of a user, and the user has that many tasks left.
    /// This is point 1.
    pub(crate) fn has_gang(&self, n: usize, tasks: usize) -> bool {
        let left = self.problem.users()[n].tasks().map(|all| Rational::from(all - &self.rooms.totals()[n]));
        gang(self.problem, n) == tasks as u64 && left.is_none_or(|left| left >= tasks)
    }

    /// Checks points 3 and 8: classes, class sets and distinct servers.
    fn is_allowed(&self, n: usize, places: &[Place]) -> Result<(), Blocked> {
        let rule = self.rules.of(n);
        let runs = |place: &Place| self.rules.classes_of(self.problem, n).any(|i| i == place.class);
        let in_set = |set: &Vec<usize>| places.iter().all(|place| set.binary_search(&place.class).is_ok());
        let mut sorted = places.to_vec();
        sorted.sort_unstable();
        let is_distinct = sorted.windows(2).all(|pair| pair[0] != pair[1]);
        let is_allowed = places.iter().all(runs)
            && (rule.class_sets.is_empty() || rule.class_sets.iter().any(in_set))
            && (!rule.distinct_servers || is_distinct);
        if is_allowed { Ok(()) } else { Err(Blocked::NotAllowed(n)) }
    }

    /// Checks point 2: the free capacity of each server suffices for all tasks that start there.
    fn servers_hold(&self, start: &Assignment) -> Result<(), Blocked> {
        let mut taken: Vec<(Place, usize, Rational)> = Vec::new();
        for (n, places) in &start.parts {
            for place in places {
                let demand = self.problem.demand(*n, place.class).entries();
                taken.extend(demand.iter().map(|(r, d)| (*place, *r, d.clone())));
            }
        }
        taken.sort_by_key(|(place, r, _)| (*place, *r));
        for same in taken.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (place, r, _) = &same[0];
            let sum: Rational = same.iter().map(|(.., amount)| amount).sum();
            let Some(server) = self.servers.at(*place) else { return Err(Blocked::Server(*place)) };
            if sum > 0 && server.free[*r] < sum {
                return Err(Blocked::Server(*place));
            }
        }
        Ok(())
    }

    /// Returns the limits on classes that a start would exceed, each with the excess. This is point 5.
    pub(crate) fn broken_on_limits(&self, start: &Assignment) -> Vec<(OnLimit, Rational)> {
        let mut taken: Vec<(OnLimit, Rational)> = Vec::new();
        for (n, places) in &start.parts {
            for place in places {
                for at in self.rooms.on_limits(*n, place.class) {
                    let amount = self.rooms.takes_of(at, *n, place.class);
                    match taken.iter_mut().find(|(known, _)| *known == at) {
                        Some((_, sum)) => *sum += amount,
                        None => taken.push((at, amount)),
                    }
                }
            }
        }
        taken.iter_mut().for_each(|(at, sum)| *sum -= self.rooms.left_of(*at).clone().max(Rational::new()));
        taken.retain(|(_, excess)| *excess > 0);
        taken
    }

    /// Searches for servers on which the start of a user could start now.
    ///
    /// `steps` is the number of steps that may still be taken. The steps of this search are subtracted from it.
    #[must_use]
    pub fn find(&self, n: usize, steps: &mut u64) -> Answer {
        let start = self.rules.start(n);
        let waits = |m: &usize| self.has_gang(*m, gang(self.problem, *m) as usize);
        if !start.iter().all(waits) {
            return Answer::No;
        }
        let amounts = self.rules.amounts(self.problem, n);
        let group = self.problem.groups().member(n).group;
        if !self.rooms.broken_bounds(group, &amounts).is_empty() {
            return Answer::No;
        }
        self.find_servers(start, steps)
    }

    /// Searches for servers for one gang of each of these users. Only points 2, 3, 5 and 8 are checked.
    #[must_use]
    pub fn find_servers(&self, start: &[usize], steps: &mut u64) -> Answer {
        let gangs: Vec<(usize, u64)> = start.iter().map(|n| (*n, gang(self.problem, *n))).collect();
        self.find_servers_for(&gangs, steps)
    }

    /// Searches for servers for these numbers of tasks of these users. Only points 2, 3, 5 and 8 are checked.
    #[must_use]
    pub fn find_servers_for(&self, gangs: &[(usize, u64)], steps: &mut u64) -> Answer {
        let sets: Vec<Vec<Option<&[usize]>>> = gangs
            .iter()
            .map(|(n, _)| match &self.rules.of(*n).class_sets[..] {
                [] => vec![None],
                sets => sets.iter().map(|set| Some(&set[..])).collect(),
            })
            .collect();
        let count = sets.iter().map(Vec::len).try_fold(1_usize, usize::checked_mul);
        let Some(count) = count.filter(|count| *count <= MOST_CHOICES) else { return Answer::NotKnown };
        let mut is_known = true;
        for choice in 0..count {
            let mut rest = choice;
            let chosen = sets.iter().map(|sets| {
                let set = sets[rest % sets.len()];
                rest /= sets.len();
                set
            });
            let parts: Vec<Part<'_>> =
                gangs.iter().zip(chosen).map(|((n, tasks), set)| self.part(*n, *tasks, set)).collect();
            match self.search(&parts, steps) {
                Answer::No => {}
                Answer::NotKnown => is_known = false,
                yes @ Answer::Yes(_) => return yes,
            }
        }
        if is_known { Answer::No } else { Answer::NotKnown }
    }

    /// Returns tasks of a user as a part of a search. If `classes` are given, the tasks may run only on these
    /// classes.
    fn part<'c>(&self, n: usize, tasks: u64, classes: Option<&'c [usize]>) -> Part<'c> {
        let most = if self.rules.of(n).distinct_servers { 1 } else { tasks };
        Part { user: n, tasks, most, classes, is_admitted: false }
    }

    /// Searches for servers for all tasks of these parts together. Only points 2, 3 and 5 are checked. Parts of one
    /// user keep their order in the answer.
    #[must_use]
    pub(crate) fn search(&self, parts: &[Part<'_>], steps: &mut u64) -> Answer {
        let mut own = STEPS_OF_A_START.min(*steps);
        let all = own;
        let answer = Search::new(self, parts).run(&mut own);
        *steps -= all - own;
        answer
    }

    /// Returns the same cluster for decisions about admitted tasks without a server. Only points 2, 3 and 8
    /// apply to such tasks, and [`Standing::find_servers`] of the returned cluster tests exactly these
    /// points.
    #[must_use]
    pub fn for_admitted(&self) -> Self {
        Self { rooms: self.rooms.without_limits_on_classes(), ..self.clone() }
    }
}

/// Tasks of one user that a search places.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'c> {
    /// The user.
    pub user: usize,
    /// The number of tasks.
    pub tasks: u64,
    /// The largest number of these tasks on one server.
    pub most: u64,
    /// The classes on which the tasks may start, in ascending order. `None` for all classes of the user.
    pub classes: Option<&'c [usize]>,
    /// True if the tasks are already admitted, so that limits on classes already count them.
    pub is_admitted: bool,
}

/// A pair of a gang and a server on which tasks of the gang may start.
struct Slot {
    /// The position of the gang.
    part: usize,
    place: Place,
    /// The position of the server in [`Search::free`].
    server: usize,
    /// The number of tasks of the gang that fit on the server before the search.
    room: u64,
    /// True if the previous slot belongs to the same gang, and its server has the same class and the same
    /// free capacity.
    repeats: bool,
}

/// The search for servers by backtracking. Each slot first takes as many tasks as possible. After a dead end, the last
/// slot with tasks takes one task fewer.
struct Search<'s, 'p> {
    standing: &'s Standing<'p>,
    /// The user and the number of tasks of each part.
    parts: Vec<(usize, u64)>,
    slots: Vec<Slot>,
    /// The first slot of each gang. The last entry is the number of slots.
    first: Vec<usize>,
    /// The sum of `room` over the later slots of the same gang, for each slot.
    later: Vec<u64>,
    /// The free capacity of each server that has a slot.
    free: Vec<Vec<Rational>>,
    /// The limits on classes that apply to some slot, each with the free amount.
    limits: Vec<(OnLimit, Rational)>,
    /// The limits that apply to each slot, each with the amount that one task takes.
    takes: Vec<Vec<(usize, Rational)>>,
}

impl<'s, 'p> Search<'s, 'p> {
    fn new(standing: &'s Standing<'p>, stated: &[Part<'_>]) -> Self {
        let problem = standing.problem;
        let mut order: Vec<usize> = (0..stated.len()).collect();
        // Large tasks are placed first, because they fit on the fewest servers.
        let size = |n: usize| -> Rational {
            let capacity = problem.total_capacity();
            let demand = problem.users()[n].base_demand().entries().iter();
            let demand = demand.filter(|(r, _)| !capacity[*r].is_zero());
            demand.map(|(r, d)| Rational::from(d / &capacity[*r])).max().unwrap_or_default()
        };
        order.sort_by_cached_key(|at| (std::cmp::Reverse(size(stated[*at].user)), stated[*at].user));
        let parts = order.iter().map(|at| (stated[*at].user, stated[*at].tasks)).collect();
        let mut search = Self {
            standing,
            slots: Vec::new(),
            first: Vec::new(),
            later: Vec::new(),
            free: Vec::new(),
            limits: Vec::new(),
            takes: Vec::new(),
            parts,
        };
        let mut known = std::collections::HashMap::new();
        for (part, at) in order.iter().enumerate() {
            search.first.push(search.slots.len());
            search.add_part(part, &stated[*at], &mut known);
        }
        search.first.push(search.slots.len());
        search
    }

    /// Adds the slots of a part. If the part has a set of classes, only servers of these classes get slots.
    fn add_part(
        &mut self,
        part: usize,
        stated: &Part<'_>,
        known: &mut std::collections::HashMap<Place, usize>,
    ) {
        let (n, gang) = self.parts[part];
        let standing = self.standing;
        let problem = standing.problem;
        let Part { most, classes: set, is_admitted, .. } = *stated;
        let begin = self.slots.len();
        for class in standing.rules.classes_of(problem, n) {
            if set.is_some_and(|set| set.binary_search(&class).is_err()) {
                continue;
            }
            let takes: Vec<(usize, Rational)> = standing
                .rooms
                .on_limits(n, class)
                .into_iter()
                .filter(|_| !is_admitted)
                .map(|at| (self.limit(at), standing.rooms.takes_of(at, n, class)))
                .collect();
            let servers = &standing.servers.classes[class];
            evenhand_budget::charge(20 * servers.len() as u64, "the search for servers");
            let mut room_of_class = 0;
            for server in servers {
                let room = server.room(problem, class, n, most);
                if room == 0 {
                    continue;
                }
                let place = Place { class, index: server.index };
                let at = *known.entry(place).or_insert_with(|| {
                    self.free.push(server.free.clone());
                    self.free.len() - 1
                });
                let before =
                    self.slots.last().filter(|before| before.part == part && before.place.class == class);
                let repeats = before.is_some_and(|before| self.free[before.server] == server.free);
                self.slots.push(Slot { part, place, server: at, room, repeats });
                self.takes.push(takes.clone());
                room_of_class += room;
                // The tasks of a single gang are identical, and limits count them by class. So the gang needs no servers
                // of a class after the first servers that have free capacity for all its tasks.
                if self.parts.len() == 1 && room_of_class >= gang {
                    break;
                }
            }
        }
        let mut sum = 0;
        let mut later = vec![0; self.slots.len() - begin];
        for (at, slot) in self.slots[begin..].iter().enumerate().rev() {
            later[at] = sum;
            sum += slot.room;
        }
        self.later.extend(later);
    }

    /// Returns the position of a limit on classes in `limits`. A limit that is not in the list is added.
    fn limit(&mut self, at: OnLimit) -> usize {
        if let Some(known) = self.limits.iter().position(|(known, _)| *known == at) {
            return known;
        }
        self.limits.push((at, self.standing.rooms.left_of(at).clone()));
        self.limits.len() - 1
    }

    /// Returns the number of tasks that a slot can take now. The number is at most `left`.
    fn most(&self, slot: usize, left: u64) -> u64 {
        let Slot { part, place, server, room, .. } = self.slots[slot];
        let demand = self.standing.problem.demand(self.parts[part].0, place.class).entries();
        let mut most = room.min(left);
        let mut bound = |free: &Rational, d: &Rational| {
            if *free < *d {
                most = 0;
            } else {
                let whole = Rational::from(free / d).floor();
                most = most.min(whole.numer().to_u64().unwrap_or(u64::MAX));
            }
        };
        demand.iter().filter(|(_, d)| *d > 0).for_each(|(r, d)| bound(&self.free[server][*r], d));
        self.takes[slot].iter().for_each(|(limit, d)| bound(&self.limits[*limit].1, d));
        most
    }

    /// Adds tasks to a slot. A negative number removes tasks.
    fn put(&mut self, slot: usize, tasks: i64) {
        let Slot { part, place, server, .. } = self.slots[slot];
        for (r, d) in self.standing.problem.demand(self.parts[part].0, place.class).entries() {
            self.free[server][*r] -= Rational::from(d * tasks);
        }
        for (limit, d) in &self.takes[slot] {
            self.limits[*limit].1 -= Rational::from(d * tasks);
        }
    }

    fn run(mut self, steps: &mut u64) -> Answer {
        let mut chosen = vec![0_u64; self.slots.len()];
        let mut left: Vec<u64> = self.parts.iter().map(|(_, gang)| *gang).collect();
        let mut part = 0;
        let mut slot = 0;
        // The first complete choice is greedy. If this choice fails, backtracking tries all other choices.
        loop {
            while part < self.parts.len() && left[part] == 0 {
                part += 1;
                slot = self.first.get(part).copied().unwrap_or(self.slots.len());
            }
            if part == self.parts.len() {
                return Answer::Yes(self.assignment(&chosen));
            }
            if *steps == 0 {
                return Answer::NotKnown;
            }
            *steps -= 1;
            if slot < self.first[part + 1] {
                let mut most = self.most(slot, left[part]);
                if self.slots[slot].repeats && self.is_untouched_by_others(slot, &chosen) {
                    // Equal servers can be exchanged, so the search tries only choices in which the earlier server
                    // takes at least as many tasks.
                    most = most.min(chosen[slot - 1]);
                }
                if left[part] <= most.saturating_add(self.later[slot]) {
                    self.put(slot, most as i64);
                    chosen[slot] = most;
                    left[part] -= most;
                    slot += 1;
                    continue;
                }
            }
            // Backtrack to the last slot that can take one task fewer than now.
            loop {
                if slot == 0 {
                    return Answer::No;
                }
                slot -= 1;
                part = self.slots[slot].part;
                let had = std::mem::take(&mut chosen[slot]);
                if had == 0 {
                    continue;
                }
                self.put(slot, -(had as i64));
                left[part] += had;
                let fewer = had - 1;
                if left[part] <= fewer.saturating_add(self.later[slot]) {
                    self.put(slot, fewer as i64);
                    chosen[slot] = fewer;
                    left[part] -= fewer;
                    slot += 1;
                    break;
                }
            }
        }
    }

    /// Returns `true` if no other gang has tasks on the server of a slot or on the server of the previous
    /// slot.
    fn is_untouched_by_others(&self, slot: usize, chosen: &[u64]) -> bool {
        let (a, b) = (self.slots[slot].server, self.slots[slot - 1].server);
        let part = self.slots[slot].part;
        let others = self.slots[..self.first[part]].iter().zip(chosen);
        !others.into_iter().any(|(other, tasks)| *tasks > 0 && (other.server == a || other.server == b))
    }

    fn assignment(&self, chosen: &[u64]) -> Assignment {
        let mut parts: Vec<(usize, Vec<Place>)> = Vec::new();
        for (part, (n, _)) in self.parts.iter().enumerate() {
            let own = self.first[part]..self.first[part + 1];
            let places = own.flat_map(|slot| (0..chosen[slot]).map(move |_| slot));
            parts.push((*n, places.map(|slot| self.slots[slot].place).collect()));
        }
        parts.sort_by_key(|(n, _)| *n);
        Assignment { parts }
    }
}
