//! The search for migrations: it chooses servers for the waiting gang, tasks that have to leave these servers, and new
//! servers for these tasks.
//!
//! An item is the waiting gang, or a task or gang that had to leave. Items are placed on servers one after the other.
//! If a server lacks capacity, tasks leave it and become items. The search tries only sets in which every task has to
//! leave, and no task migrates twice. For a given largest cost the search is complete, unless [`Pass::is_complete`] is
//! `false`.

use std::collections::{BTreeMap, HashMap, HashSet};

use evenhand_problem::Rational;

use super::hosts::Hosts;
use super::order::{Step, ordered};
use crate::queues::gang;
use crate::rooms::OnLimit;
use crate::starts::{Assignment, Standing};

/// The number of servers up to which every server is tried for every item.
pub const FEW_HOSTS: usize = 80;
/// The number of servers that are tried for an item on larger clusters.
const WIDTH: usize = 12;
/// The largest number of sets of leaving tasks that are tried for an item on a server.
const MOST_COVERS: usize = 400;
/// The largest number of tasks that are placed. It bounds the depth of the recursion.
const MOST_DEPTH: usize = 1_500;
/// The largest number of states that the search remembers.
const MOST_STATES: usize = 200_000;

/// Tasks that leave their servers together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    /// One task of a user on a server.
    Single(usize, usize),
    /// A gang.
    Group(usize),
}

/// A gang or a single task that needs servers.
#[derive(Debug, Clone)]
struct Item {
    user: usize,
    /// The number of tasks that still need a server.
    left: u64,
    /// The position of the item's unit among the units that have left. `None` for the waiting gang.
    unit: Option<usize>,
    /// The position of the item's start in its unit.
    start: usize,
    /// The position of the class set that was chosen for the gang.
    set: Option<usize>,
    /// The servers of the tasks that are placed, as positions in the list of servers.
    placed: Vec<usize>,
    /// The server that a single task has left.
    source: Option<usize>,
    /// The largest fraction of the capacity of all servers that a task demands of a resource, and this resource.
    size: (f64, usize),
}

/// A server for the next task of an item, and the units that have to leave the server before.
struct Candidate {
    cost: u64,
    /// The free capacity that remains after the task, in demands of the task. Servers with the least
    /// remaining capacity come first. If units have to leave, this is the largest lacking amount in demands
    /// of the task.
    slack: f64,
    host: usize,
    leave: Vec<Unit>,
    set: Option<usize>,
}

/// A server without free capacity for the next task of an item.
struct Full {
    /// A lower bound on the cost of the units that have to leave the server.
    least: u64,
    /// The largest lacking amount of a resource, in demands of the task.
    size: f64,
    host: usize,
    set: Option<usize>,
}

/// The result of a search for plans up to a given cost.
#[derive(Debug, Clone, Default)]
pub struct Pass {
    /// A plan: its cost, its migrations in a feasible order, and the servers of the gang.
    pub plan: Option<(u64, Vec<Step>, Assignment)>,
    /// True if the search has tried all plans up to the given cost.
    pub is_complete: bool,
    /// The least cost above the limit that the search found. `None` if it found no such cost.
    pub next: Option<u64>,
    /// The least cost of a set of migrations for which no feasible order was found.
    pub without_order: Option<u64>,
}

/// The search for one start.
pub struct Search<'s, 'p> {
    hosts: &'s mut Hosts<'p>,
    standing: &'s mut Standing<'p>,
    items: Vec<Item>,
    units: Vec<Unit>,
    /// The number of single tasks that have left a server, by user and server.
    left: BTreeMap<(usize, usize), u64>,
    come: BTreeMap<(usize, usize), u64>,
    /// The changes of the free amounts under each limit on classes.
    limits: BTreeMap<OnLimit, Rational>,
    /// The servers whose contents have changed, each with the number of changes.
    touched: BTreeMap<usize, u32>,
    /// True if a gang has left its servers, indexed by the position of the gang.
    is_gone: Vec<bool>,
    limit: u64,
    work: &'s mut u64,
    pass: Pass,
    seen: HashSet<Vec<u32>>,
    is_small: bool,
    /// The results of [`Search::least_now`] for one task of a user on a server that has not changed, by user and
    /// server.
    bounds: HashMap<(usize, usize), Option<u64>>,
    /// The number of tasks that are placed at the moment.
    depth: usize,
}

impl<'s, 'p> Search<'s, 'p> {
    /// Prepares a search for servers for the start of a user.
    pub fn new(
        hosts: &'s mut Hosts<'p>,
        standing: &'s mut Standing<'p>,
        n: usize,
        work: &'s mut u64,
    ) -> Self {
        let problem = hosts.problem;
        let item = |user: &usize| Item {
            user: *user,
            left: gang(problem, *user),
            unit: None,
            start: 0,
            set: None,
            placed: Vec::new(),
            source: None,
            size: size(hosts, *user),
        };
        let mut items: Vec<Item> = standing.rules.start(n).iter().map(item).collect();
        items.sort_by(|a, b| b.size.0.total_cmp(&a.size.0));
        let is_small = hosts.list.len() <= FEW_HOSTS;
        let is_gone = vec![false; hosts.groups.len()];
        Self {
            hosts,
            standing,
            items,
            units: Vec::new(),
            left: BTreeMap::new(),
            come: BTreeMap::new(),
            limits: BTreeMap::new(),
            touched: BTreeMap::new(),
            is_gone,
            limit: 0,
            work,
            pass: Pass::default(),
            seen: HashSet::new(),
            is_small,
            bounds: HashMap::new(),
            depth: 0,
        }
    }

    /// Searches for a plan of at most this cost.
    pub fn run(mut self, limit: u64) -> Pass {
        self.limit = limit;
        self.pass.is_complete = true;
        self.descend(0);
        self.pass
    }

    /// Searches for a plan of at most this cost without backtracking: every task is placed on the best server.
    pub fn run_greedily(mut self, limit: u64) -> Pass {
        self.limit = limit;
        let mut made: Vec<(usize, Candidate)> = Vec::new();
        let mut cost = 0;
        while *self.work > 0 {
            let Some(at) = self.next_item() else {
                self.leaf(cost);
                break;
            };
            let Some(candidate) = self.candidates(at, cost).into_iter().next() else { break };
            self.apply(at, &candidate);
            cost += candidate.cost;
            made.push((at, candidate));
        }
        made.iter().rev().for_each(|(at, candidate)| self.undo(*at, candidate));
        self.pass.is_complete = false;
        self.pass
    }

    fn give_up(&mut self) -> bool {
        self.pass.is_complete = false;
        true
    }

    /// Places the remaining items. Returns `true` if the search ends, because it has a plan or has reached a
    /// limit.
    fn descend(&mut self, cost: u64) -> bool {
        if *self.work == 0 || self.depth > MOST_DEPTH {
            return self.give_up();
        }
        let Some(at) = self.next_item() else { return self.leaf(cost) };
        for candidate in self.candidates(at, cost) {
            self.apply(at, &candidate);
            self.depth += 1;
            let ends = !self.is_known() && self.descend(cost + candidate.cost);
            self.depth -= 1;
            self.undo(at, &candidate);
            if ends {
                return true;
            }
        }
        false
    }

    /// Returns the next item to place. Items of the waiting gang come first, and then the largest item.
    fn next_item(&self) -> Option<usize> {
        let open = |item: &Item| item.left > 0;
        let waiting = self.items.iter().position(|item| open(item) && item.unit.is_none());
        // A gang whose placement has begun is completed before other items.
        let begun = || self.items.iter().position(|item| open(item) && !item.placed.is_empty());
        waiting.or_else(begun).or_else(|| {
            let all = self.items.iter().enumerate().filter(|(_, item)| open(item));
            let largest = all.max_by(|(i, a), (j, b)| a.size.0.total_cmp(&b.size.0).then(j.cmp(i)));
            largest.map(|(at, _)| at)
        })
    }

    /// Returns `true` if the same state was searched before. On small clusters the state is remembered.
    fn is_known(&mut self) -> bool {
        if !self.is_small || self.seen.len() >= MOST_STATES {
            return false;
        }
        let mut parts: Vec<Vec<u32>> = self
            .items
            .iter()
            .map(|item| {
                let group = item.unit.map(|at| match self.units[at] {
                    Unit::Single(..) => 0,
                    Unit::Group(group) => group + 1,
                });
                let mut part = vec![
                    item.user as u32,
                    group.map_or(0, |group| group as u32 + 1),
                    item.source.map_or(0, |host| host as u32 + 1),
                    item.start as u32,
                    item.set.map_or(0, |set| set as u32 + 1),
                ];
                part.extend(item.placed.iter().map(|host| *host as u32));
                part
            })
            .collect();
        parts.sort_unstable();
        let mut key = Vec::new();
        for part in parts {
            key.push(part.len() as u32);
            key.extend(part);
        }
        !self.seen.insert(key)
    }

    /// Returns the candidate servers for the next task of an item, the cheapest first.
    fn candidates(&mut self, at: usize, cost: u64) -> Vec<Candidate> {
        let Item { user: n, set, source, size: (_, scarce), .. } = self.items[at];
        let rules = self.standing.rules;
        let placed = self.items[at].placed.clone();
        let rule = rules.of(n);
        let allowance = self.limit.saturating_sub(cost);
        let mut found: Vec<Candidate> = Vec::new();
        let mut full: Vec<Full> = Vec::new();
        let mut tried: Vec<usize> = Vec::new();
        for class in rules.classes_of(self.hosts.problem, n).collect::<Vec<_>>() {
            let sets: Vec<Option<usize>> = match (rule.class_sets.len(), set) {
                (0, _) => vec![None],
                (_, Some(set)) => vec![Some(set)],
                (all, None) => (0..all).map(Some).collect(),
            };
            let sets: Vec<Option<usize>> = sets
                .into_iter()
                .filter(|set| set.is_none_or(|set| rule.class_sets[set].contains(&class)))
                .collect();
            if sets.is_empty() {
                continue;
            }
            if !self.limits_allow(n, class) {
                // Tasks of other classes under the same limit might leave and make the placement possible. The search
                // does not try this.
                self.pass.is_complete = false;
                continue;
            }
            let demand = self.hosts.demand(n, class);
            for position in 0..self.hosts.by_class[class].len() {
                let host = self.hosts.by_class[class][position];
                *self.work = self.work.saturating_sub(1);
                // On small clusters a gang takes its servers in ascending order, so that each set of servers is tried
                // only once.
                let is_taken = if self.is_small {
                    let last = placed.last().copied();
                    last.is_some_and(|last| host < last || (rule.distinct_servers && host == last))
                } else {
                    rule.distinct_servers && placed.contains(&host)
                };
                let is_back =
                    source == Some(host) || (source.is_some() && self.left.contains_key(&(n, host)));
                if is_taken || is_back {
                    continue;
                }
                if self.is_small {
                    if tried.iter().any(|other| self.are_identical(*other, host))
                        && source.is_none_or(|of| of != host)
                    {
                        continue;
                    }
                    tried.push(host);
                }
                let of = &self.hosts.list[host];
                let lacks = Hosts::lacks(of, &demand, 1);
                if lacks.is_empty() {
                    let slack = |(r, d): &(usize, i128)| (of.free[*r] - d) as f64 / (*d as f64);
                    let slack = demand.iter().filter(|(r, _)| *r == scarce).map(slack).fold(0.0, f64::max);
                    let to = |set: Option<usize>| Candidate { cost: 0, slack, host, leave: Vec::new(), set };
                    found.extend(sets.iter().map(|set| to(*set)));
                    continue;
                }
                if !self.is_small && found.len() > WIDTH {
                    self.pass.is_complete = false;
                    continue;
                }
                let Some(least) = self.least_now(n, host, &lacks) else { continue };
                if least > allowance {
                    self.exceeds(cost + least);
                    continue;
                }
                let size = |(r, lack): &(usize, i128)| {
                    let demand = demand.iter().find(|(of, _)| of == r).map_or(1, |(_, d)| *d);
                    *lack as f64 / demand as f64
                };
                let size = lacks.iter().map(size).fold(0.0, f64::max);
                full.extend(sets.iter().map(|set| Full { least, size, host, set: *set }));
            }
        }
        if !self.is_small {
            found.sort_by(|a, b| a.slack.total_cmp(&b.slack).then(a.host.cmp(&b.host)));
            self.pass.is_complete &= found.len() <= WIDTH;
            found.truncate(WIDTH);
            full.sort_by(|a, b| {
                a.least.cmp(&b.least).then(a.size.total_cmp(&b.size)).then(a.host.cmp(&b.host))
            });
            // Servers from which units would have to leave matter mainly if no other server has free capacity.
            let most = if found.is_empty() { WIDTH } else { 2 };
            self.pass.is_complete &= full.len() <= most;
            full.truncate(most);
        }
        for Full { least, host, set, size } in full {
            let class = self.hosts.list[host].place.class;
            let demand = self.hosts.demand(n, class);
            let lacks = Hosts::lacks(&self.hosts.list[host], &demand, 1);
            let mut covers = Vec::new();
            if !self.is_small {
                // Sets at the lower bound are tried first, because they are found quickly and one of them usually
                // suffices.
                self.pass.is_complete = false;
                covers = self.covers(host, &lacks, cost, least);
            }
            if covers.is_empty() {
                covers = self.covers(host, &lacks, cost, allowance);
            }
            for (cover_cost, leave) in covers {
                found.push(Candidate { cost: cover_cost, slack: size, host, leave, set });
            }
        }
        found.sort_by(|a, b| {
            let order = a.cost.cmp(&b.cost).then(a.slack.total_cmp(&b.slack));
            order.then(a.host.cmp(&b.host)).then_with(|| a.leave.cmp(&b.leave)).then(a.set.cmp(&b.set))
        });
        found
    }

    /// Records a cost above the limit if it is the least recorded cost.
    fn exceeds(&mut self, cost: u64) {
        self.pass.next = Some(self.pass.next.map_or(cost, |next| next.min(cost)));
    }

    /// Returns `true` if two servers of a class can be exchanged: nothing has changed on them, and they have
    /// the same free capacity and the same tasks that may migrate.
    fn are_identical(&self, a: usize, b: usize) -> bool {
        if self.touched.contains_key(&a) || self.touched.contains_key(&b) {
            return false;
        }
        let (x, y) = (&self.hosts.list[a], &self.hosts.list[b]);
        x.place.class == y.place.class
            && x.free == y.free
            && x.singles == y.singles
            && x.groups.is_empty()
            && y.groups.is_empty()
    }

    /// Returns the units on a server that may still leave and that free a lacking amount.
    fn things(&mut self, host: usize, lacks: &[(usize, i128)]) -> Vec<Thing> {
        let class = self.hosts.list[host].place.class;
        let singles = self.hosts.list[host].singles.clone();
        let groups = self.hosts.list[host].groups.clone();
        let gains = |demand: &[(usize, i128)], times: i128| -> Vec<i128> {
            let of =
                |(r, _): &(usize, i128)| demand.iter().find(|(k, _)| k == r).map_or(0, |(_, d)| d * times);
            lacks.iter().map(of).collect()
        };
        let mut things = Vec::new();
        for (m, count) in singles {
            // If a task of the same user came to this server, no task of the user leaves it, because two equal tasks
            // would only change places.
            let count = if self.come.contains_key(&(m, host)) { 0 } else { count };
            let count = count - self.left.get(&(m, host)).copied().unwrap_or(0).min(count);
            let gain = gains(&self.hosts.demand(m, class), 1);
            things.push(Thing { unit: Unit::Single(m, host), count, cost: self.hosts.costs.list[m], gain });
        }
        for group in groups {
            if self.is_gone[group] {
                continue;
            }
            let mut gain = vec![0; lacks.len()];
            for (m, count) in self.hosts.portion(group, host) {
                let own = gains(&self.hosts.demand(m, class), i128::from(count));
                gain.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
            let cost = self.hosts.groups[group].cost;
            things.push(Thing { unit: Unit::Group(group), count: 1, cost, gain });
        }
        things.retain(|thing| thing.count > 0 && thing.gain.iter().any(|gain| *gain > 0));
        things
    }

    /// Returns a lower bound on the cost of the units that have to leave a server until the lacking amounts are free.
    /// Returns `None` if all units together do not free enough.
    fn least_now(&mut self, n: usize, host: usize, lacks: &[(usize, i128)]) -> Option<u64> {
        let of = &self.hosts.list[host];
        let things = (of.singles.len() + of.groups.len()) as u64;
        if !self.touched.contains_key(&host) {
            if let Some(known) = self.bounds.get(&(n, host)) {
                return *known;
            }
            *self.work = self.work.saturating_sub(things);
            let least = self.hosts.least_cost(host, lacks);
            self.bounds.insert((n, host), least);
            return least;
        }
        *self.work = self.work.saturating_sub(things);
        let things = self.things(host, lacks);
        let enough = |at: usize, lack: i128| {
            things.iter().map(|of| of.gain[at] * i128::from(of.count)).sum::<i128>() >= lack
        };
        let is_possible = lacks.iter().enumerate().all(|(at, (_, lack))| enough(at, *lack));
        is_possible.then(|| things.iter().map(|of| of.cost).min().unwrap_or(0))
    }

    /// Returns the sets of units whose departure frees the lacking amounts, the cheapest set first. Every unit of a set
    /// is necessary.
    fn covers(
        &mut self,
        host: usize,
        lacks: &[(usize, i128)],
        cost: u64,
        allowance: u64,
    ) -> Vec<(u64, Vec<Unit>)> {
        let mut things = self.things(host, lacks);
        // Large and cheap units come first, so that small sets are found early.
        things.sort_by(|a, b| {
            b.gain.iter().max().cmp(&a.gain.iter().max()).then(a.cost.cmp(&b.cost)).then(a.unit.cmp(&b.unit))
        });
        let mut lack: Vec<i128> = lacks.iter().map(|(_, lack)| *lack).collect();
        let (most, most_steps) = if self.is_small { (MOST_COVERS, 20_000) } else { (WIDTH, 1_000) };
        let mut covers = Covers {
            things: &things,
            found: Vec::new(),
            exceeding: None,
            is_cut: false,
            steps: most_steps,
            most,
        };
        covers.extend(0, &mut lack, &mut vec![0; things.len()], 0, allowance);
        let Covers { mut found, exceeding, is_cut, steps, .. } = covers;
        *self.work = self.work.saturating_sub((most_steps - steps) / 4);
        if is_cut {
            self.pass.is_complete = false;
        }
        if let Some(exceeding) = exceeding {
            self.exceeds(cost + exceeding);
        }
        found.sort();
        if !self.is_small && found.len() > WIDTH {
            self.pass.is_complete = false;
            found.truncate(WIDTH);
        }
        let units = |chosen: &[u64]| -> Vec<Unit> {
            let all = things.iter().zip(chosen);
            all.flat_map(|(thing, count)| (0..*count).map(|_| thing.unit)).collect()
        };
        found.into_iter().map(|(cost, chosen)| (cost, units(&chosen))).collect()
    }

    /// Returns `true` if the limits on classes allow one more task of a user on a class.
    fn limits_allow(&self, n: usize, class: usize) -> bool {
        self.standing.rooms.on_limits(n, class).into_iter().all(|at| {
            let left = self.standing.rooms.left_of(at);
            let takes = self.standing.rooms.takes_of(at, n, class);
            match self.limits.get(&at) {
                Some(change) => Rational::from(left + change) >= takes,
                None => *left >= takes,
            }
        })
    }

    /// Adds tasks on a server. A negative number removes tasks.
    fn change(&mut self, n: usize, host: usize, tasks: i64) {
        let class = self.hosts.list[host].place.class;
        let demand = self.hosts.demand(n, class);
        let free = &mut self.hosts.list[host].free;
        demand.iter().for_each(|(r, d)| free[*r] -= d * i128::from(tasks));
        for at in self.standing.rooms.on_limits(n, class) {
            let taken = self.standing.rooms.takes_of(at, n, class) * tasks;
            *self.limits.entry(at).or_default() -= taken;
        }
    }

    fn touch(&mut self, host: usize, is_undone: bool) {
        let count = self.touched.entry(host).or_default();
        if is_undone {
            *count -= 1;
            if *count == 0 {
                self.touched.remove(&host);
            }
        } else {
            *count += 1;
        }
    }

    fn apply(&mut self, at: usize, candidate: &Candidate) {
        for unit in &candidate.leave {
            self.leave(*unit);
        }
        let Candidate { host, set, .. } = *candidate;
        let n = self.items[at].user;
        self.change(n, host, 1);
        self.touch(host, false);
        let item = &mut self.items[at];
        item.left -= 1;
        if item.placed.is_empty() {
            item.set = set;
        }
        item.placed.push(host);
        if item.source.is_some() {
            *self.come.entry((n, host)).or_default() += 1;
        }
    }

    fn undo(&mut self, at: usize, candidate: &Candidate) {
        let host = candidate.host;
        let n = self.items[at].user;
        self.change(n, host, -1);
        self.touch(host, true);
        let item = &mut self.items[at];
        item.left += 1;
        item.placed.pop();
        if item.placed.is_empty() {
            item.set = None;
        }
        if item.source.is_some() {
            take_one(&mut self.come, (n, host));
        }
        for unit in candidate.leave.iter().rev() {
            self.come_back(*unit);
        }
    }

    /// Removes a unit from its servers. Its tasks become items.
    fn leave(&mut self, unit: Unit) {
        let position = self.units.len();
        self.units.push(unit);
        match unit {
            Unit::Single(user, host) => {
                self.change(user, host, -1);
                self.touch(host, false);
                *self.left.entry((user, host)).or_default() += 1;
                let unit = Some(position);
                let (set, placed, source) = (None, Vec::new(), Some(host));
                let size = size(self.hosts, user);
                self.items.push(Item { user, left: 1, unit, start: 0, set, placed, source, size });
            }
            Unit::Group(group) => {
                self.is_gone[group] = true;
                for (start, gangs) in self.hosts.groups[group].starts.clone().into_iter().enumerate() {
                    for (user, hosts) in gangs {
                        for host in &hosts {
                            self.change(user, *host, -1);
                            self.touch(*host, false);
                        }
                        let (left, unit) = (hosts.len() as u64, Some(position));
                        let (set, placed, source) = (None, Vec::new(), None);
                        let size = size(self.hosts, user);
                        self.items.push(Item { user, left, unit, start, set, placed, source, size });
                    }
                }
            }
        }
    }

    fn come_back(&mut self, unit: Unit) {
        self.units.pop();
        match unit {
            Unit::Single(user, host) => {
                self.items.pop();
                take_one(&mut self.left, (user, host));
                self.change(user, host, 1);
                self.touch(host, true);
            }
            Unit::Group(group) => {
                self.is_gone[group] = false;
                for gangs in self.hosts.groups[group].starts.clone() {
                    for (user, hosts) in gangs {
                        self.items.pop();
                        for host in &hosts {
                            self.change(user, *host, 1);
                            self.touch(*host, true);
                        }
                    }
                }
            }
        }
    }

    /// Searches for a feasible order of the migrations. If it finds an order, it stores the plan and returns
    /// true.
    fn leaf(&mut self, cost: u64) -> bool {
        let place = |hosts: &Hosts<'_>, of: &[usize]| {
            of.iter().map(|host| hosts.list[*host].place).collect::<Vec<_>>()
        };
        let mut steps: Vec<Step> = Vec::new();
        let mut named: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (position, unit) in self.units.iter().enumerate() {
            let mut items: Vec<&Item> =
                self.items.iter().filter(|item| item.unit == Some(position)).collect();
            items.sort_by_key(|item| (item.start, item.user));
            match unit {
                Unit::Single(user, host) => {
                    let used = named.entry((*user, *host)).or_default();
                    let names = self.hosts.names.get(&(*user, *host));
                    // The youngest gang comes last in the list.
                    let name = names.and_then(|names| names.iter().rev().nth(*used)).copied();
                    *used += 1;
                    let from = vec![(*user, place(self.hosts, &[*host]))];
                    let to = vec![(*user, place(self.hosts, &items[0].placed))];
                    steps.push(Step { from, to, name });
                }
                Unit::Group(group) => {
                    let Self { hosts, .. } = &*self;
                    for (start, gangs) in hosts.groups[*group].starts.iter().enumerate() {
                        let from = gangs.iter().map(|(user, of)| (*user, place(hosts, of))).collect();
                        let of_start = items.iter().filter(|item| item.start == start);
                        let to = of_start.map(|item| (item.user, place(hosts, &item.placed))).collect();
                        steps.push(Step { from, to, name: hosts.groups[*group].name });
                    }
                }
            }
        }
        let waiting = self.items.iter().filter(|item| item.unit.is_none());
        let mut parts: Vec<_> = waiting.map(|item| (item.user, place(self.hosts, &item.placed))).collect();
        parts.sort_by_key(|(n, _)| *n);
        let gang = Assignment { parts };
        *self.work = self.work.saturating_sub(20 * (steps.len() as u64 + 1));
        match ordered(self.standing, &steps, &gang) {
            Some(steps) => {
                self.pass.plan = Some((cost, steps, gang));
                true
            }
            None => {
                let least = self.pass.without_order.map_or(cost, |least| least.min(cost));
                self.pass.without_order = Some(least);
                false
            }
        }
    }
}

/// Decrements a count, and removes the entry if the count becomes 0.
fn take_one(counts: &mut BTreeMap<(usize, usize), u64>, key: (usize, usize)) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

/// Returns the largest fraction of the capacity of all servers that a task of a user demands of a resource, and this
/// resource.
fn size(hosts: &Hosts<'_>, n: usize) -> (f64, usize) {
    let capacity = hosts.problem.total_capacity();
    let mut largest = (0.0, 0);
    for (r, d) in hosts.problem.users()[n].base_demand().entries() {
        let fraction = if capacity[*r].is_zero() { 0.0 } else { d.to_f64() / capacity[*r].to_f64() };
        if fraction > largest.0 {
            largest = (fraction, *r);
        }
    }
    largest
}

/// Identical units that may leave a server.
struct Thing {
    unit: Unit,
    count: u64,
    cost: u64,
    /// The amount of each lacking resource that one of these units frees.
    gain: Vec<i128>,
}

/// The enumeration of sets of leaving units.
struct Covers<'t> {
    things: &'t [Thing],
    found: Vec<(u64, Vec<u64>)>,
    /// The least cost above the allowance that the enumeration found.
    exceeding: Option<u64>,
    is_cut: bool,
    steps: u64,
    /// The largest number of sets that are returned.
    most: usize,
}

impl Covers<'_> {
    fn extend(&mut self, at: usize, lack: &mut Vec<i128>, chosen: &mut Vec<u64>, cost: u64, allowance: u64) {
        if lack.iter().all(|lack| *lack <= 0) {
            let is_needed = |(k, count): (usize, &u64)| {
                let gain = &self.things[k].gain;
                *count == 0 || lack.iter().zip(gain).any(|(lack, gain)| lack + gain > 0)
            };
            if chosen.iter().enumerate().all(is_needed) {
                self.found.push((cost, chosen.clone()));
            }
            return;
        }
        if self.steps == 0 || self.found.len() >= self.most {
            self.is_cut = true;
            return;
        }
        self.steps -= 1;
        let Some(thing) = self.things.get(at) else { return };
        // Return if the remaining units together do not free enough.
        let gives =
            |r: usize| self.things[at..].iter().map(|of| of.gain[r] * i128::from(of.count)).sum::<i128>();
        if (0..lack.len()).any(|r| lack[r] > gives(r)) {
            return;
        }
        let mut count = 0;
        let mut sum = cost;
        let mut stack = Vec::new();
        loop {
            stack.push((count, sum, lack.clone()));
            if count == thing.count || lack.iter().all(|lack| *lack <= 0) {
                break;
            }
            if sum + thing.cost > allowance {
                let exceeding = sum + thing.cost;
                self.exceeding = Some(self.exceeding.map_or(exceeding, |least| least.min(exceeding)));
                break;
            }
            count += 1;
            sum += thing.cost;
            lack.iter_mut().zip(&thing.gain).for_each(|(lack, gain)| *lack -= gain);
        }
        let before = stack[0].2.clone();
        for (count, sum, mut left) in stack.into_iter().rev() {
            chosen[at] = count;
            self.extend(at + 1, &mut left, chosen, sum, allowance);
        }
        chosen[at] = 0;
        *lack = before;
    }
}
