//! Computes the fewest tasks to stop so that a start could start now: a set of tasks whose stop suffices, and
//! a lower bound on the size of every such set (docs/why-not.md).
//!
//! There are two lower bounds. The first bound counts, for each limit that the start would exceed, the fewest
//! and largest tasks below the group of the limit that free the excess. The second bound counts the stops on
//! the servers where the tasks of a gang start, by dynamic programming over the servers. If the set that was
//! found is larger than both bounds, all smaller sets are tried on small clusters.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use evenhand_problem::snapshot::{Running, Snapshot};
use evenhand_problem::{Problem, Rational};

use crate::moves::Tasks;
use crate::queues::gang;
use crate::rooms::Bound;
use crate::script::Task;
use crate::servers::Place;
use crate::starts::{Answer, Assignment, Standing};
use crate::task_rules::TaskRules;

/// The largest number of covering problems (one server and one number of tasks) that are solved for one gang.
const MOST_COVERS: usize = 60_000;
/// The largest number of nodes of the search that solves one covering problem.
const NODES_OF_A_COVER: u32 = 3_000;
/// The largest size of the table of the dynamic programme.
const MOST_CELLS: usize = 20_000_000;
/// The largest number of servers that are considered for a gang that is too large for a search over all servers.
const FEWER_SERVERS: usize = 400;
/// The largest number of sets of tasks that are tried in search of a smaller set. Each set costs a search for
/// servers.
const MOST_SETS: u64 = 20_000;
/// The largest product of the numbers of tried sets and of servers.
const MOST_SETS_BY_SERVERS: u64 = 4_000_000;
/// The largest number of attempts to leave a task out of a set that suffices.
const MOST_OMISSIONS: usize = 100;
/// The largest number of further stops that limits may require.
const MOST_UNDER_LIMITS: usize = 300;

/// A set of tasks to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stops {
    /// The number of stopped tasks on each server, for each user.
    pub tasks: BTreeMap<usize, Tasks>,
    /// The gangs of the snapshot among the stopped tasks, as positions in [`TaskRules`].
    pub gangs: BTreeSet<usize>,
}

impl Stops {
    /// Returns the number of tasks to stop.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.tasks.values().flat_map(BTreeMap::values).sum()
    }

    /// Returns the tasks to stop with the names that the snapshot states. Tasks of the gangs that stop come
    /// first, then the youngest tasks.
    #[must_use]
    pub fn named(&self, snapshot: &Snapshot, rules: &TaskRules) -> Vec<Task> {
        let gangs: BTreeSet<&str> = self.gangs.iter().map(|at| rules.gang_name(*at)).collect();
        let mut list = Vec::new();
        for (user, tasks) in &self.tasks {
            for (place, count) in tasks {
                let is_there =
                    |of: &&Running| (of.user, of.server, of.index) == (*user, place.class, place.index);
                let mut known: Vec<(bool, &String, Option<&String>)> = Vec::new();
                for of in snapshot.running.iter().filter(is_there) {
                    for (at, name) in of.names.iter().enumerate() {
                        let is_gone = of.gangs.get(at).is_some_and(|gang| gangs.contains(gang.as_str()));
                        known.push((is_gone, name, of.owners.get(at)));
                    }
                }
                // The youngest tasks come last in the snapshot. The sort is stable, so the reversed order is kept.
                known.reverse();
                known.sort_by_key(|(is_gone, ..)| !is_gone);
                let mut known = known.into_iter();
                for _ in 0..*count {
                    let (name, owner) =
                        known.next().map_or((None, None), |(_, name, owner)| (Some(name), owner));
                    list.push(Task {
                        user: *user,
                        name: name.cloned(),
                        owner: owner.cloned(),
                        place: *place,
                    });
                }
            }
        }
        list
    }

    /// Returns the number of tasks to stop of a user.
    fn of(&self, m: usize) -> u64 {
        self.tasks.get(&m).map_or(0, |tasks| tasks.values().sum())
    }

    fn at(&self, m: usize, place: Place) -> u64 {
        self.tasks.get(&m).and_then(|tasks| tasks.get(&place)).copied().unwrap_or(0)
    }

    /// Returns the tasks that are in these stops and not in `other`. Gangs are left out.
    fn without(&self, other: &Self) -> Self {
        let mut rest = Self::default();
        for (m, tasks) in &self.tasks {
            for (place, count) in tasks {
                rest.add(*m, *place, count.saturating_sub(other.at(*m, *place)));
            }
        }
        rest
    }

    fn add(&mut self, m: usize, place: Place, count: u64) {
        if count > 0 {
            *self.tasks.entry(m).or_default().entry(place).or_default() += count;
        }
    }

    fn remove(&mut self, m: usize, place: Place, count: u64) {
        if let Some(tasks) = self.tasks.get_mut(&m) {
            if let Some(there) = tasks.get_mut(&place) {
                *there -= count.min(*there);
            }
            tasks.retain(|_, there| *there > 0);
        }
        self.tasks.retain(|_, tasks| !tasks.is_empty());
    }
}

/// The result of the search for the fewest tasks to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FewestStops {
    /// The start could start after these stops. Every set of tasks that suffices has at least `least` tasks.
    Found {
        /// The tasks to stop.
        stops: Stops,
        /// The lower bound on the number of tasks.
        least: u64,
    },
    /// No set of tasks that may be stopped suffices.
    Impossible,
    /// The search found no set. All sets of fewer than `least` tasks are excluded.
    NotKnown {
        /// The lower bound on the number of tasks.
        least: u64,
    },
}

/// Searches for the fewest tasks to stop for a start that cannot start now.
///
/// Tasks are stopped in whole starts. A whole start is all tasks of a gang that the snapshot names, or gangs
/// of the size that the problem states. Protected and pinned tasks, tasks of a higher priority, and the users
/// of the start itself are not stopped. For tasks of other groups the policy of the system decides.
#[must_use]
pub fn fewest(standing: &Standing<'_>, n: usize, is_admitted: bool, steps: &mut u64) -> FewestStops {
    let mut search = Search::new(standing.clone(), n, is_admitted, steps);
    search.run()
}

/// A set of tasks that stop together: one task on a server, or a gang that the snapshot names.
#[derive(Debug, Clone)]
struct Item {
    /// The tasks of the item: users, servers and numbers of tasks.
    tasks: Vec<(usize, Place, u64)>,
    size: u64,
    /// The number of times that the item can be chosen.
    most: u64,
    gang: Option<usize>,
}

struct Search<'s, 'p> {
    /// The cluster before all stops.
    original: Standing<'p>,
    /// The cluster after the stops that the search tries at the moment.
    standing: Standing<'p>,
    n: usize,
    is_admitted: bool,
    /// True if tasks of a user may be stopped, indexed by user.
    may_stop: Vec<bool>,
    items: Vec<Item>,
    steps: &'s mut u64,
}

/// Items grouped by kind. Items of one kind have the same size, and their stops lower the excess over each
/// bound by the same amount. Large clusters have tens of thousands of items, but only some dozens of kinds.
#[derive(Debug, Default)]
struct Kinds {
    bounds: Vec<Bound>,
    /// The kind of each item.
    of_item: Vec<usize>,
    /// The size of an item of each kind, and the amounts by which the stop of an item lowers the excess over
    /// each bound.
    list: Vec<(u64, Vec<Rational>)>,
}

impl Kinds {
    fn new(items: &[Item], bounds: Vec<Bound>, relief: impl Fn(&Bound, &Item) -> Rational) -> Self {
        let mut kinds = Self { bounds, ..Self::default() };
        let mut known: HashMap<(u64, Vec<Rational>), usize> = HashMap::new();
        for item in items {
            let key = (item.size, kinds.bounds.iter().map(|bound| relief(bound, item)).collect());
            let kind = *known.entry(key).or_insert_with_key(|key| {
                kinds.list.push(key.clone());
                kinds.list.len() - 1
            });
            kinds.of_item.push(kind);
        }
        kinds
    }

    /// Returns the gain of each kind. The gain is the fraction of the excess over each bound that a stop
    /// removes, at most 1, summed over the bounds and divided by the number of tasks of an item.
    fn gains(&self, broken: &[(Bound, Rational)]) -> Vec<Rational> {
        let gain = |(size, gives): &(u64, Vec<Rational>)| -> Rational {
            let of = |(give, (_, excess)): (&Rational, &(Bound, Rational))| {
                Rational::from(give / excess).min(Rational::from(1))
            };
            gives.iter().zip(broken).map(of).sum::<Rational>() / *size
        };
        self.list.iter().map(gain).collect()
    }
}

/// The cheapest stops on one server that free capacity for a number of tasks.
#[derive(Debug, Clone, Default)]
struct Cost {
    /// A lower bound on the number of stopped tasks.
    least: u64,
    /// The stopped tasks: users, each with the number of tasks.
    tasks: Vec<(usize, u64)>,
}

impl Cost {
    fn count(&self) -> u64 {
        self.tasks.iter().map(|(_, count)| count).sum()
    }
}

/// A server, the number of tasks that start on it, and the tasks that stop on it, as users and numbers.
type Host = (Place, u64, Vec<(usize, u64)>);

/// The properties of a server on which its stops depend: its class, its free capacity, and the tasks that may
/// be stopped, as users and numbers.
type Content = (usize, Vec<Rational>, Vec<(usize, u64)>);

/// The servers for a gang, and the stops on these servers.
#[derive(Debug, Default)]
struct Hosts {
    least: u64,
    list: Vec<Host>,
}

impl Hosts {
    fn count(&self) -> u64 {
        self.list.iter().flat_map(|(.., tasks)| tasks).map(|(_, count)| count).sum()
    }
}

impl<'s, 'p> Search<'s, 'p> {
    fn new(standing: Standing<'p>, n: usize, is_admitted: bool, steps: &'s mut u64) -> Self {
        let problem = standing.problem;
        let may_stop: Vec<bool> = (0..problem.n_users()).map(|m| may_stop(&standing, m, n)).collect();
        let original = standing.clone();
        let mut search = Self { original, standing, n, is_admitted, may_stop, items: Vec::new(), steps };
        search.items = search.all_items();
        search
    }

    fn problem(&self) -> &'p Problem {
        self.standing.problem
    }

    fn rules(&self) -> &'p TaskRules {
        self.standing.rules
    }

    fn all_items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut gangs = BTreeSet::new();
        for m in (0..self.may_stop.len()).filter(|m| self.may_stop[*m]) {
            for (at, tasks) in self.rules().gangs_of(m) {
                let whole = |(k, tasks): (&usize, &Tasks)| {
                    let sum: u64 = tasks.values().sum();
                    let runs = |(place, count): (&Place, &u64)| {
                        let server = self.standing.servers.at(*place);
                        server.and_then(|server| server.tasks.get(k)).is_some_and(|there| *there >= *count)
                    };
                    self.may_stop[*k]
                        && sum.is_multiple_of(gang(self.problem(), *k))
                        && tasks.iter().all(runs)
                };
                if gangs.insert(at) && tasks.iter().all(whole) {
                    let each = tasks.iter().flat_map(|(k, on)| on.iter().map(|(place, x)| (*k, *place, *x)));
                    let tasks: Vec<(usize, Place, u64)> = each.collect();
                    let size = tasks.iter().map(|(.., count)| count).sum();
                    items.push(Item { tasks, size, most: 1, gang: Some(at) });
                }
            }
        }
        for (class, servers) in self.standing.servers.classes.iter().enumerate() {
            for server in servers {
                let place = Place { class, index: server.index };
                for (m, x) in server.tasks.iter().filter(|(m, _)| self.is_single(**m)) {
                    let most = whole(x);
                    if most > 0 {
                        items.push(Item { tasks: vec![(*m, place, 1)], size: 1, most, gang: None });
                    }
                }
            }
        }
        items
    }

    /// Returns `true` if tasks of a user may be stopped and the snapshot does not name their gangs.
    fn is_single(&self, m: usize) -> bool {
        self.may_stop[m] && !self.rules().has_gangs(m)
    }

    fn answer(&mut self) -> Answer {
        if self.is_admitted {
            self.standing.find_servers(self.standing.rules.start(self.n), self.steps)
        } else {
            self.standing.find(self.n, self.steps)
        }
    }

    fn stop(&mut self, stops: &Stops) {
        change(&mut self.standing, stops, -1);
    }

    fn undo(&mut self, stops: &Stops) {
        change(&mut self.standing, stops, 1);
    }

    fn answer_after(&mut self, stops: &Stops) -> Answer {
        self.stop(stops);
        let answer = self.answer();
        self.undo(stops);
        answer
    }

    fn run(&mut self) -> FewestStops {
        if self.items.is_empty() {
            return FewestStops::Impossible;
        }
        let Some(under_limits) = self.least_under_limits() else { return FewestStops::Impossible };
        let all = self.everything();
        if self.answer_after(&all) == Answer::No {
            return FewestStops::Impossible;
        }
        let (on_servers, mut candidates) = self.on_servers();
        let mut least = under_limits.max(on_servers).max(1);
        candidates.sort_by_key(Stops::count);
        let mut best: Option<Stops> = None;
        for stops in candidates {
            if best.as_ref().is_none_or(|best| stops.count() < best.count())
                && let Some(stops) = self.complete(stops)
                && best.as_ref().is_none_or(|best| stops.count() < best.count())
            {
                best = Some(stops);
            }
            if best.as_ref().is_some_and(|best| best.count() == least) {
                break;
            }
        }
        // As a last resort, tasks are left out of the set of all tasks one by one, unless the set is too large.
        if best.is_none() && self.is_allowed(&all) && all.count() <= MOST_OMISSIONS as u64 {
            let suffices = matches!(self.answer_after(&all), Answer::Yes(_));
            best = suffices.then(|| self.omit(all.clone()));
        }
        let most = best.as_ref().map_or(u64::MAX, Stops::count);
        if least < most {
            let (proven, found) = self.try_all(least, most);
            least = proven;
            best = found.or(best);
        }
        match best {
            Some(stops) => FewestStops::Found { stops, least },
            None if least > all.count() => FewestStops::Impossible,
            None => FewestStops::NotKnown { least },
        }
    }

    /// Returns all tasks that may be stopped. Pinned tasks are included, although they may not all be stopped.
    fn everything(&self) -> Stops {
        let mut all = Stops::default();
        for item in &self.items {
            item.tasks.iter().for_each(|(m, place, count)| all.add(*m, *place, count * item.most));
            all.gangs.extend(item.gang);
        }
        all
    }

    /// Returns a lower bound on the number of stops that the exceeded bounds need. Returns `None` if no stops
    /// suffice.
    ///
    /// Assume that the start adds amounts below a group and exceeds a bound by $e$. A stop below the group
    /// lowers the usage, or frees kept-back capacity, by at most the demand of its task. So the demands of
    /// the stopped tasks must add up to at least $e$.
    fn least_under_limits(&self) -> Option<u64> {
        if self.is_admitted {
            return Some(0);
        }
        let problem = self.problem();
        let groups = problem.groups();
        let group = groups.member(self.n).group;
        let mut least = 0;
        for of in self.standing.rooms.broken(group, &self.rules().amounts(problem, self.n)) {
            let (scope, r) = match of.bound {
                Bound::Limit(v, r) => (Some(v), r),
                Bound::KeptBack(r) => (None, r),
                Bound::Weight(_) | Bound::OnClasses(_) => continue,
            };
            let is_below =
                |m: usize| scope.is_none_or(|v| groups.above(groups.member(m).group).any(|k| k == v));
            let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
            for item in &self.items {
                for (m, _, count) in item.tasks.iter().filter(|(m, ..)| is_below(*m)) {
                    *counts.entry(*m).or_default() += count * item.most;
                }
            }
            let mut gives: Vec<(&Rational, u64)> =
                counts.iter().map(|(m, count)| (&problem.users()[*m].base_demand()[r], *count)).collect();
            gives.sort_by(|a, b| b.0.cmp(a.0));
            // A limit that is already exceeded needs stops until the usage is below the limit.
            let needed = of.beyond().max(of.excess.clone());
            least = least.max(fewest_of(&needed, gives.into_iter())?);
        }
        Some(least)
    }

    /// Returns a lower bound on the number of stops that the servers need, and sets of stops after which the start fits
    /// on servers.
    fn on_servers(&self) -> (u64, Vec<Stops>) {
        let start = self.rules().start(self.n);
        let scopes = self.scopes();
        let mut least = 0;
        let mut candidates = Vec::new();
        // The lower bound is the largest bound over the users of the start.
        for n in start {
            let sets = &self.rules().of(*n).class_sets;
            let of_set = |set: Option<&[usize]>| self.hosts(&self.standing, *n, set, None);
            let hosts: Vec<Hosts> = match &sets[..] {
                [] => of_set(None).into_iter().collect(),
                sets => sets.iter().filter_map(|set| of_set(Some(set))).collect(),
            };
            least = least.max(hosts.iter().map(|hosts| hosts.least).min().unwrap_or(0));
            if start.len() == 1 {
                candidates.extend(hosts.iter().filter_map(|hosts| self.whole(&hosts.list)));
            }
        }
        let choices: Vec<Option<&[usize]>> = match (&self.rules().of(start[0]).class_sets[..], start.len()) {
            (sets @ [_, ..], 1) => sets.iter().map(|set| Some(&set[..])).collect(),
            _ => vec![None],
        };
        for scope in &scopes {
            for choice in &choices {
                candidates.extend(self.one_by_one(start, *choice, scope.as_ref()));
            }
        }
        (least, candidates)
    }

    /// Returns sets of users whose tasks are preferred for stops. There is one set for each limit that the
    /// start would exceed: the users below the limit. Their stops may free both the limit and a server.
    fn scopes(&self) -> Vec<Option<Vec<bool>>> {
        let mut scopes = vec![None];
        let groups = self.problem().groups();
        if self.is_admitted {
            return scopes;
        }
        let amounts = self.rules().amounts(self.problem(), self.n);
        for of in self.standing.rooms.broken(groups.member(self.n).group, &amounts) {
            if let Bound::Limit(v, _) = of.bound {
                let is_below = |m: usize| groups.above(groups.member(m).group).any(|k| k == v);
                scopes.push(Some((0..self.may_stop.len()).map(is_below).collect()));
            }
        }
        scopes.dedup();
        scopes
    }

    /// Places the gangs of a start one after the other on a copy of the cluster. Returns the stops that are
    /// needed for this.
    fn one_by_one(
        &self,
        start: &[usize],
        choice: Option<&[usize]>,
        scope: Option<&Vec<bool>>,
    ) -> Option<Stops> {
        let mut trial = self.standing.clone();
        let mut list = Vec::new();
        for n in start {
            let sets = &self.rules().of(*n).class_sets;
            let hosts = match (choice, &sets[..]) {
                (None, [_, ..]) => {
                    let all = sets.iter().filter_map(|set| self.hosts(&trial, *n, Some(set), scope));
                    all.min_by_key(Hosts::count)?
                }
                _ => self.hosts(&trial, *n, choice, scope)?,
            };
            for (place, count, stopped) in &hosts.list {
                stopped.iter().for_each(|(m, x)| trial.change(*m, *place, &-Rational::from(*x)));
                trial.change(*n, *place, &Rational::from(*count));
            }
            list.extend(hosts.list);
        }
        self.whole(&list)
    }

    /// Returns the servers for a gang with the fewest stops, by dynamic programming over the servers.
    fn hosts(
        &self,
        standing: &Standing<'_>,
        n: usize,
        set: Option<&[usize]>,
        scope: Option<&Vec<bool>>,
    ) -> Option<Hosts> {
        let problem = self.problem();
        let all = gang(problem, n);
        let each = if self.rules().of(n).distinct_servers { 1 } else { all };
        let may = |m: usize| self.may_stop[m] && scope.is_none_or(|scope| scope[m]);
        let mut known: HashMap<Content, Vec<Cost>> = HashMap::new();
        let mut servers: Vec<(Place, Vec<Cost>)> = Vec::new();
        let mut is_whole = true;
        let mut least_of_one = u64::MAX;
        let listed: usize = self
            .rules()
            .classes_of(problem, n)
            .filter(|i| set.is_none_or(|set| set.contains(i)))
            .map(|i| standing.servers.classes[i].len())
            .sum();
        let is_large = (listed as u64).saturating_mul(each) > MOST_COVERS as u64;
        for class in self.rules().classes_of(problem, n) {
            if set.is_some_and(|set| !set.contains(&class)) {
                continue;
            }
            let demand: Vec<(usize, &Rational)> = problem
                .demand(n, class)
                .entries()
                .iter()
                .filter(|(_, d)| *d > 0)
                .map(|(r, d)| (*r, d))
                .collect();
            for server in &standing.servers.classes[class] {
                let stoppable: Vec<(usize, u64)> = server
                    .tasks
                    .iter()
                    .filter(|(m, _)| may(**m))
                    .map(|(m, x)| (*m, whole(x)))
                    .filter(|(_, x)| *x > 0)
                    .collect();
                let free: Vec<Rational> = demand.iter().map(|(r, _)| server.free[*r].clone()).collect();
                let key = (class, free, stoppable);
                let costs = known.entry(key).or_insert_with_key(|(_, free, stoppable)| {
                    // For a large gang, first only the stops for one task on each server are computed.
                    let most = if is_large { 1 } else { each };
                    let costs = costs_of(problem, class, &demand, free, stoppable, most);
                    evenhand_budget::charge(200 * (costs.len() as u64 + 1), "the search for tasks to stop");
                    costs
                });
                if let Some(cost) = costs.first() {
                    least_of_one = least_of_one.min(cost.least);
                    servers.push((Place { class, index: server.index }, costs.clone()));
                }
            }
        }
        if is_large && each > 1 {
            // Several tasks on one server are considered only for the servers with the cheapest stops for a first task.
            is_whole = false;
            servers.sort_by_key(|(place, costs)| (costs[0].count(), *place));
            servers.truncate(FEWER_SERVERS);
            for (place, costs) in &mut servers {
                let server = standing.servers.at(*place)?;
                let demand: Vec<(usize, &Rational)> = problem
                    .demand(n, place.class)
                    .entries()
                    .iter()
                    .filter(|(_, d)| *d > 0)
                    .map(|(r, d)| (*r, d))
                    .collect();
                let stoppable: Vec<(usize, u64)> =
                    server.tasks.iter().filter(|(m, _)| may(**m)).map(|(m, x)| (*m, whole(x))).collect();
                let free: Vec<Rational> = demand.iter().map(|(r, _)| server.free[*r].clone()).collect();
                let most = each.min((MOST_COVERS / FEWER_SERVERS) as u64);
                *costs = costs_of(problem, place.class, &demand, &free, &stoppable, most);
            }
        }
        let mut hosts = divide(&servers, all)?;
        if !is_whole {
            hosts.least = least_of_one;
        }
        Some(hosts)
    }

    /// Returns stops of whole gangs that include these tasks on these servers. Returns `None` if the tasks
    /// cannot be completed to whole gangs.
    fn whole(&self, list: &[Host]) -> Option<Stops> {
        let mut stops = Stops::default();
        for (place, _, tasks) in list {
            for (m, count) in tasks {
                if !self.rules().has_gangs(*m) {
                    stops.add(*m, *place, *count);
                    continue;
                }
                while stops.at(*m, *place) < *count {
                    let here = |item: &&Item| {
                        item.gang.is_some_and(|at| !stops.gangs.contains(&at))
                            && item.tasks.iter().any(|(k, on, _)| k == m && on == place)
                    };
                    let item = self.items.iter().filter(here).min_by_key(|item| item.size)?;
                    item.tasks.iter().for_each(|(k, on, x)| stops.add(*k, *on, *x));
                    stops.gangs.extend(item.gang);
                }
            }
        }
        self.close(stops)
    }

    /// Adds tasks until the stops consist of whole gangs, together with the gangs of users that started with them.
    fn close(&self, mut stops: Stops) -> Option<Stops> {
        let users: BTreeSet<usize> =
            stops.tasks.keys().filter(|m| self.is_single(**m)).map(|m| self.rules().start(*m)[0]).collect();
        for first in users {
            let start = self.rules().start(first);
            let gangs = |k: &usize| stops.of(*k).div_ceil(gang(self.problem(), *k));
            let count = start.iter().map(gangs).max().unwrap_or(0);
            for k in start {
                let mut missing = count * gang(self.problem(), *k) - stops.of(*k);
                if missing > 0 {
                    let places: Vec<Place> = self.original.servers.places_of(*k).collect();
                    for place in places {
                        let there = self.running(*k, place) - stops.at(*k, place);
                        let taken = there.min(missing);
                        stops.add(*k, place, taken);
                        missing -= taken;
                    }
                }
                if missing > 0 || !self.is_single(*k) {
                    return None;
                }
            }
        }
        self.is_allowed(&stops).then_some(stops)
    }

    fn running(&self, m: usize, place: Place) -> u64 {
        let server = self.original.servers.at(place);
        server.and_then(|server| server.tasks.get(&m)).map_or(0, whole)
    }

    /// Returns `true` if the stops consist of whole gangs and leave pinned tasks alone.
    fn is_allowed(&self, stops: &Stops) -> bool {
        let problem = self.problem();
        stops.tasks.keys().all(|m| {
            let count = stops.of(*m);
            let pinned = problem.groups().member(*m).pinned.clone().unwrap_or_default();
            let left = Rational::from(&self.original.rooms.totals()[*m] - count);
            let is_whole = !self.is_single(*m) || {
                let gangs = |k: &usize| (stops.of(*k), gang(problem, *k));
                let (own, size) = gangs(m);
                let starts = own / size;
                own % size == 0
                    && self.rules().start(*m).iter().map(gangs).all(|(own, size)| own == starts * size)
            };
            left >= pinned && is_whole && self.may_stop[*m]
        })
    }

    /// Adds the stops that limits require, and leaves out stops that are not needed. Returns `None` if the
    /// start still could not start.
    fn complete(&mut self, stops: Stops) -> Option<Stops> {
        let mut stops = stops;
        self.stop(&stops);
        let answer = self.with_limits(&mut stops);
        self.undo(&stops);
        matches!(answer, Answer::Yes(_)).then(|| self.omit(stops))
    }

    /// Stops tasks until the start exceeds no bound. The tasks of `stops` have already stopped in
    /// `self.standing`.
    fn with_limits(&mut self, stops: &mut Stops) -> Answer {
        let problem = self.problem();
        let groups = problem.groups();
        let group = groups.member(self.n).group;
        let amounts = self.rules().amounts(problem, self.n);
        let mut kinds = Kinds::default();
        for _ in 0..MOST_UNDER_LIMITS {
            evenhand_budget::charge(
                100 * self.items.len() as u64,
                "the search for tasks to stop under a limit",
            );
            let mut broken: Vec<(Bound, Rational)> = if self.is_admitted {
                Vec::new()
            } else {
                self.standing.rooms.broken_bounds(group, &amounts)
            };
            if broken.is_empty() {
                let answer = self.answer();
                if answer != Answer::No {
                    return answer;
                }
                // A limit on classes may still stop the start on the servers on which the start now fits.
                let Some(start) = self.without_class_limits() else { return answer };
                let on = self.standing.broken_on_limits(&start);
                broken.extend(on.into_iter().map(|(at, excess)| (Bound::OnClasses(at), excess)));
                if broken.is_empty() {
                    return answer;
                }
            }
            if kinds.bounds.iter().ne(broken.iter().map(|(bound, _)| bound)) {
                kinds = Kinds::new(
                    &self.items,
                    broken.iter().map(|(bound, _)| bound.clone()).collect(),
                    |bound, item| self.relief(bound, item),
                );
            }
            let gains = kinds.gains(&broken);
            let is_left = |item: &Item| match item.gang {
                Some(at) => !stops.gangs.contains(&at),
                None => {
                    let (m, place, _) = item.tasks[0];
                    stops.at(m, place) < item.most
                }
            };
            // Kinds with the same gain have the same rank, and the largest gain has rank 0. Among equal ranks the first
            // item is chosen.
            let mut order: Vec<&Rational> = gains.iter().collect();
            order.sort_unstable_by(|a, b| b.cmp(a));
            order.dedup();
            let rank = |gain: &Rational| order.partition_point(|other| *other > gain);
            let ranks: Vec<usize> = gains.iter().map(rank).collect();
            let mut useful: Vec<(usize, usize)> = self
                .items
                .iter()
                .enumerate()
                .filter(|(at, item)| gains[kinds.of_item[*at]] > 0 && is_left(item))
                .map(|(at, _)| (ranks[kinds.of_item[at]], at))
                .collect();
            useful.sort_unstable();
            let next = useful.into_iter().find_map(|(_, at)| {
                let mut next = stops.clone();
                let item = &self.items[at];
                item.tasks.iter().for_each(|(m, place, count)| next.add(*m, *place, *count));
                next.gangs.extend(item.gang);
                self.close(next)
            });
            let Some(next) = next else { return Answer::No };
            let (fewer, more) = (stops.without(&next), next.without(stops));
            self.undo(&fewer);
            self.stop(&more);
            *stops = next;
        }
        Answer::No
    }

    /// Returns the amount by which the stop of an item lowers the excess over a bound.
    fn relief(&self, bound: &Bound, item: &Item) -> Rational {
        let problem = self.problem();
        let groups = problem.groups();
        let gives = |(m, place, count): &(usize, Place, u64)| -> Rational {
            let is_below = |v: usize| groups.above(groups.member(*m).group).any(|k| k == v);
            let demand = &problem.users()[*m].base_demand();
            match bound {
                Bound::Limit(v, r) if is_below(*v) => Rational::from(&demand[*r] * *count),
                Bound::KeptBack(r) => Rational::from(&demand[*r] * *count),
                Bound::OnClasses(at) if self.standing.rooms.on_limits(*m, place.class).contains(at) => {
                    self.standing.rooms.takes_of(*at, *m, place.class) * *count
                }
                _ => Rational::new(),
            }
        };
        item.tasks.iter().map(gives).sum()
    }

    /// Returns servers on which the start fits without limits on classes.
    fn without_class_limits(&mut self) -> Option<Assignment> {
        let free = self.standing.for_admitted();
        match free.find_servers(self.standing.rules.start(self.n), self.steps) {
            Answer::Yes(assignment) => Some(assignment),
            _ => None,
        }
    }

    /// Leaves out stops one by one, as long as the start could start without them.
    fn omit(&mut self, stops: Stops) -> Stops {
        let mut stops = stops;
        let mut tried = 0;
        let gangs: Vec<usize> = stops.gangs.iter().copied().collect();
        for at in gangs {
            let Some(item) = self.items.iter().find(|item| item.gang == Some(at)) else { continue };
            let mut fewer = stops.clone();
            item.tasks.iter().for_each(|(m, place, count)| fewer.remove(*m, *place, *count));
            fewer.gangs.remove(&at);
            tried += 1;
            if tried <= MOST_OMISSIONS && matches!(self.answer_after(&fewer), Answer::Yes(_)) {
                stops = fewer;
            }
        }
        let singles: Vec<(usize, Place)> = stops
            .tasks
            .iter()
            .filter(|(m, _)| self.is_single(**m))
            .flat_map(|(m, tasks)| tasks.keys().map(|place| (*m, *place)))
            .collect();
        for (m, place) in singles {
            while stops.at(m, place) > 0 && tried < MOST_OMISSIONS {
                let mut fewer = stops.clone();
                // A whole start is left out. Its tasks on this server are left out first.
                for k in self.rules().start(m) {
                    let mut left = gang(self.problem(), *k);
                    let here: Vec<Place> =
                        fewer.tasks.get(k).into_iter().flat_map(|of| of.keys().copied()).collect();
                    let first = Some(place).filter(|_| *k == m);
                    for on in first.into_iter().chain(here) {
                        let taken = fewer.at(*k, on).min(left);
                        fewer.remove(*k, on, taken);
                        left -= taken;
                    }
                }
                tried += 1;
                if !matches!(self.answer_after(&fewer), Answer::Yes(_)) {
                    break;
                }
                stops = fewer;
            }
        }
        stops
    }

    /// Tries all sets of at least `least` and fewer than `most` tasks, the smallest sets first. Returns the
    /// new lower bound, and a smaller set that suffices if there is one.
    fn try_all(&mut self, least: u64, most: u64) -> (u64, Option<Stops>) {
        let servers: usize = self.standing.servers.classes.iter().map(Vec::len).sum();
        let mut left = MOST_SETS.min(MOST_SETS_BY_SERVERS / (servers as u64 + 1));
        let items: Vec<Item> = self.items.iter().filter(|item| self.is_useful(item)).cloned().collect();
        let mut least = least;
        let all: u64 = items.iter().map(|item| item.size * item.most).sum();
        while least < most {
            if least > all {
                return (least, None);
            }
            if combinations(&items, least, left) > left {
                return (least, None);
            }
            let mut is_known = true;
            let mut stops = Stops::default();
            let found = self.try_from(&items, 0, least, &mut stops, &mut left, &mut is_known);
            if let Some(stops) = found {
                return (least, Some(stops));
            }
            if !is_known {
                return (least, None);
            }
            least += 1;
        }
        (least, None)
    }

    /// Returns `true` if the stop of an item can help. To help, the item must free capacity on a server for
    /// the start, count under a bound that the start would exceed, or be part of a gang.
    fn is_useful(&self, item: &Item) -> bool {
        let problem = self.problem();
        let groups = problem.groups();
        let start = self.rules().start(self.n);
        let amounts = self.rules().amounts(problem, self.n);
        let demands = |r: &usize| amounts.iter().any(|(of, _)| of == r);
        item.tasks.iter().any(|(m, place, _)| {
            let is_gang = gang(problem, *m) > 1 || self.rules().start(*m).len() > 1;
            let is_there =
                start.iter().any(|n| self.rules().classes_of(problem, *n).any(|i| i == place.class));
            let own = problem.demand(*m, place.class).entries();
            let frees =
                |(r, _): &(usize, Rational)| start.iter().any(|n| problem.demand(*n, place.class)[*r] > 0);
            let base = problem.users()[*m].base_demand().entries();
            let counts = !groups.list().is_empty() && base.iter().any(|(r, _)| demands(r));
            // Under a limit on classes, a stop can also help on a class that the start cannot use.
            is_gang || counts || groups.limit_classes() || (is_there && own.iter().any(frees))
        })
    }

    fn try_from(
        &mut self,
        items: &[Item],
        at: usize,
        left: u64,
        stops: &mut Stops,
        sets: &mut u64,
        is_known: &mut bool,
    ) -> Option<Stops> {
        if left == 0 {
            if !self.is_allowed(stops) {
                return None;
            }
            if *sets == 0 {
                *is_known = false;
                return None;
            }
            *sets -= 1;
            return match self.answer_after(stops) {
                Answer::Yes(_) => Some(stops.clone()),
                Answer::No => None,
                Answer::NotKnown => {
                    *is_known = false;
                    None
                }
            };
        }
        let item = items.get(at)?;
        for count in (0..=item.most.min(left / item.size)).rev() {
            item.tasks.iter().for_each(|(m, place, x)| stops.add(*m, *place, x * count));
            if count > 0 {
                stops.gangs.extend(item.gang);
            }
            let found = self.try_from(items, at + 1, left - count * item.size, stops, sets, is_known);
            item.tasks.iter().for_each(|(m, place, x)| stops.remove(*m, *place, x * count));
            if let Some(at) = item.gang {
                stops.gangs.remove(&at);
            }
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// Returns the number of sets of items with a total size of `size`. The count stops slightly above `most`.
fn combinations(items: &[Item], size: u64, most: u64) -> u64 {
    let Ok(size) = usize::try_from(size) else { return u64::MAX };
    if size as u64 > most {
        return u64::MAX;
    }
    let mut counts = vec![0_u64; size + 1];
    counts[0] = 1;
    for item in items {
        for total in (1..=size).rev() {
            for count in 1..=item.most {
                let Some(rest) = (total as u64).checked_sub(count * item.size) else { break };
                counts[total] = counts[total].saturating_add(counts[rest as usize]);
            }
        }
        if counts[size] > most {
            return counts[size];
        }
    }
    counts[size]
}

/// Returns the whole part of a number of tasks.
fn whole(x: &Rational) -> u64 {
    x.clone().floor().numer().to_u64().unwrap_or(0)
}

/// Removes tasks from a cluster if `sign` is -1. Adds them again if `sign` is 1.
fn change(standing: &mut Standing<'_>, stops: &Stops, sign: i32) {
    for (m, tasks) in &stops.tasks {
        tasks.iter().for_each(|(place, x)| standing.change(*m, *place, &(Rational::from(*x) * sign)));
    }
}

/// Returns `true` if tasks of user `m` may be stopped for the start of user `n`.
fn may_stop(standing: &Standing<'_>, m: usize, n: usize) -> bool {
    let (problem, rules) = (standing.problem, standing.rules);
    if rules.start(n).contains(&m) || rules.start(m).iter().any(|k| rules.start(n).contains(k)) {
        return false;
    }
    let group = |n: usize| problem.groups().member(n).group;
    if group(m).is_some() && group(m) == group(n) {
        let constraints = |n: usize| rules.start(n).iter().map(|k| rules.of(*k));
        let highest = constraints(m).map(|of| of.priority).max();
        let starting = constraints(n).map(|of| of.priority).min();
        return !constraints(m).any(|of| of.protected) && highest <= starting;
    }
    rules.may_stop(problem, m, n, true)
}

/// Returns the smallest number of amounts that add up to at least `sum`. Each amount has the number of its
/// copies, and the amounts are in descending order. Returns `None` if the sum of all amounts is smaller.
fn fewest_of<'r>(sum: &Rational, amounts: impl Iterator<Item = (&'r Rational, u64)>) -> Option<u64> {
    let mut rest = sum.clone();
    let mut taken = 0;
    for (amount, count) in amounts {
        if rest <= 0 {
            break;
        }
        if *amount <= 0 {
            continue;
        }
        let needed = Rational::from(&rest / amount).ceil().numer().to_u64().unwrap_or(u64::MAX).min(count);
        rest -= Rational::from(amount * needed);
        taken += needed;
    }
    (rest <= 0).then_some(taken)
}

/// Returns the cheapest stops on a server that free capacity for 1, 2, ... tasks with these demands. The last
/// entry is for `most` tasks, or for the largest number of tasks that fits.
fn costs_of(
    problem: &Problem,
    class: usize,
    demand: &[(usize, &Rational)],
    free: &[Rational],
    stoppable: &[(usize, u64)],
    most: u64,
) -> Vec<Cost> {
    let types: Vec<(usize, u64, Vec<Rational>)> = stoppable
        .iter()
        .map(|(m, count)| {
            let of = problem.demand(*m, class);
            (*m, *count, demand.iter().map(|(r, _)| of[*r].clone()).collect())
        })
        .collect();
    let mut costs = Vec::new();
    for tasks in 1..=most {
        let lacks: Vec<Rational> =
            demand.iter().zip(free).map(|((_, d), free)| Rational::from(*d * tasks) - free).collect();
        match cover(&lacks, &types) {
            Some(cost) => costs.push(cost),
            None => break,
        }
    }
    costs
}

/// Returns the fewest tasks whose stop frees the lacking amounts. Each type of tasks has a user, a number of
/// tasks, and the amounts that the stop of one task frees.
fn cover(lacks: &[Rational], types: &[(usize, u64, Vec<Rational>)]) -> Option<Cost> {
    let open: Vec<usize> = (0..lacks.len()).filter(|k| lacks[*k] > 0).collect();
    if open.is_empty() {
        return Some(Cost::default());
    }
    let lacks: Vec<Rational> = open.iter().map(|k| lacks[*k].clone()).collect();
    let mut types: Vec<(usize, u64, Vec<Rational>)> = types
        .iter()
        .map(|(m, count, gives)| (*m, *count, open.iter().map(|k| gives[*k].clone()).collect::<Vec<_>>()))
        .filter(|(.., gives)| gives.iter().any(|amount| *amount > 0))
        .collect();
    let mut least = 0;
    for (k, lack) in lacks.iter().enumerate() {
        let mut amounts: Vec<(&Rational, u64)> =
            types.iter().map(|(_, count, gives)| (&gives[k], *count)).collect();
        amounts.sort_by(|a, b| b.0.cmp(a.0));
        least = least.max(fewest_of(lack, amounts.into_iter())?);
    }
    let size = |gives: &[Rational]| -> Rational {
        gives
            .iter()
            .zip(&lacks)
            .map(|(amount, lack)| Rational::from(amount / lack).min(Rational::from(1)))
            .sum()
    };
    types.sort_by_cached_key(|(m, _, gives)| (Reverse(size(gives)), *m));
    let all: u64 = types.iter().map(|(_, count, _)| count).sum();
    let mut nodes = NODES_OF_A_COVER;
    for count in least..=all {
        let mut chosen = vec![0; types.len()];
        if choose(&lacks, &types, 0, count, &mut chosen, &mut nodes) {
            let tasks = types.iter().zip(chosen).filter(|(_, count)| *count > 0);
            return Some(Cost { least: count, tasks: tasks.map(|((m, ..), count)| (*m, count)).collect() });
        }
        if nodes == 0 {
            return Some(Cost { least: count, tasks: greedy(&lacks, &types)? });
        }
    }
    None
}

/// Chooses at most `left` tasks whose stop frees the lacking amounts, from the types at position `at` or
/// later. Returns `true` if such a choice was found.
fn choose(
    lacks: &[Rational],
    types: &[(usize, u64, Vec<Rational>)],
    at: usize,
    left: u64,
    chosen: &mut [u64],
    nodes: &mut u32,
) -> bool {
    if lacks.iter().all(|lack| *lack <= 0) {
        return true;
    }
    if at == types.len() || left == 0 || *nodes == 0 {
        return false;
    }
    *nodes -= 1;
    for (k, lack) in lacks.iter().enumerate().filter(|(_, lack)| **lack > 0) {
        let most = types[at..].iter().map(|(.., gives)| &gives[k]).max();
        if most.is_none_or(|most| Rational::from(most * left) < *lack) {
            return false;
        }
    }
    let (_, count, gives) = &types[at];
    for taken in (0..=left.min(*count)).rev() {
        let rest: Vec<Rational> =
            lacks.iter().zip(gives).map(|(lack, amount)| lack - Rational::from(amount * taken)).collect();
        chosen[at] = taken;
        if choose(&rest, types, at + 1, left - taken, chosen, nodes) {
            return true;
        }
        chosen[at] = 0;
    }
    false
}

/// Frees the lacking amounts greedily: each step stops the task that frees the largest fraction of these amounts.
fn greedy(lacks: &[Rational], types: &[(usize, u64, Vec<Rational>)]) -> Option<Vec<(usize, u64)>> {
    let mut lacks = lacks.to_vec();
    let mut chosen = vec![0_u64; types.len()];
    while lacks.iter().any(|lack| *lack > 0) {
        let gain = |(.., gives): &(usize, u64, Vec<Rational>)| -> Rational {
            let open = gives.iter().zip(&lacks).filter(|(_, lack)| **lack > 0);
            open.map(|(amount, lack)| Rational::from(amount / lack).min(Rational::from(1))).sum()
        };
        let at = (0..types.len())
            .filter(|at| chosen[*at] < types[*at].1)
            .map(|at| (gain(&types[at]), Reverse(at)))
            .filter(|(gain, _)| *gain > 0)
            .max()?
            .1
            .0;
        chosen[at] += 1;
        lacks.iter_mut().zip(&types[at].2).for_each(|(lack, amount)| *lack -= amount);
    }
    Some(
        types
            .iter()
            .zip(chosen)
            .filter(|(_, count)| *count > 0)
            .map(|((m, ..), count)| (*m, count))
            .collect(),
    )
}

/// Divides a gang among servers with the fewest stops in total. Returns `None` if the gang does not fit on
/// the servers.
fn divide(servers: &[(Place, Vec<Cost>)], gang: u64) -> Option<Hosts> {
    let gang = usize::try_from(gang).ok()?;
    if gang == 1 {
        let least = servers.iter().map(|(_, costs)| costs[0].least).min()?;
        let (place, costs) = servers.iter().min_by_key(|(place, costs)| (costs[0].count(), *place))?;
        return Some(Hosts { least, list: vec![(*place, 1, costs[0].tasks.clone())] });
    }
    if servers.len().saturating_mul(gang + 1) > MOST_CELLS {
        return None;
    }
    let mut least = vec![u64::MAX; gang + 1];
    let mut count = vec![u64::MAX; gang + 1];
    (least[0], count[0]) = (0, 0);
    // The number of tasks on a server in the best division. The indices are the server, and the number of
    // tasks on this and all earlier servers.
    let mut chosen: Vec<Vec<u32>> = Vec::with_capacity(servers.len());
    for (_, costs) in servers {
        let mut row = vec![0_u32; gang + 1];
        for total in (1..=gang).rev() {
            for (at, cost) in costs.iter().enumerate().take(total) {
                let rest = total - at - 1;
                least[total] = least[total].min(least[rest].saturating_add(cost.least));
                let with = count[rest].saturating_add(cost.count());
                if with < count[total] {
                    count[total] = with;
                    row[total] = at as u32 + 1;
                }
            }
        }
        chosen.push(row);
    }
    if count[gang] == u64::MAX {
        return None;
    }
    let mut list = Vec::new();
    let mut left = gang;
    for ((place, costs), row) in servers.iter().zip(&chosen).rev() {
        let tasks = row[left] as usize;
        if tasks > 0 {
            list.push((*place, tasks as u64, costs[tasks - 1].tasks.clone()));
            left -= tasks;
        }
    }
    list.reverse();
    Some(Hosts { least: least[gang], list })
}
