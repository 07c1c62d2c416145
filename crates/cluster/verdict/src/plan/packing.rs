//! The cheapest servers on which given tasks start: lower bounds, a greedy placement, and an exact search for small cases.
//!
//! More servers never stop a task from starting, and a start never makes another start possible. So the order of starts
//! does not matter, and all tasks are placed together.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Problem, Rational};

use super::needs::{Need, needs};
use super::vectors::{Vectors, is_within, price};
use super::{Obstacle, Offer, Outcome, Plan, Set, Started, capacity};
use crate::error::ClusterError;
use crate::queues::{Queues, gang};
use crate::rooms::{Bound, Rooms};
use crate::servers::{Place, Servers};
use crate::starts::{Answer, Assignment, Part, Standing};
use crate::task_rules::TaskRules;

/// The largest number of servers that are added to a class.
pub(super) const MOST_ADDED: u64 = 10_000;
/// The largest number of steps of all exact searches of one plan.
const STEPS: u64 = 2_000_000;
/// The largest number of pairs of a lot and a server in one exact search.
const MOST_PAIRS: usize = 100_000;
/// The largest number of choices of class sets in one exact search.
const MOST_CHOICES: usize = 256;
/// The largest number of sets of servers that are judged one by one.
const MOST_JUDGED: usize = 5_000;
/// The largest number of steps of the search for sets.
const MOST_NODES: usize = 500_000;

/// A lot: tasks of one user that have to start.
#[derive(Debug, Clone)]
pub(super) struct Lot {
    /// The user of the tasks.
    pub user: usize,
    /// The number of tasks, a multiple of the gang size.
    pub tasks: u64,
    /// The largest number of these tasks on one server.
    pub most: u64,
    /// The classes, ascending, on which some of the tasks may start.
    pub classes: Vec<usize>,
    /// The sets of classes between which the lot chooses. All tasks of the lot start on the classes of one
    /// set. Empty if the tasks may start on any of `classes`.
    pub choices: Vec<Vec<usize>>,
    /// True if the scheduler has already admitted the tasks.
    pub is_admitted: bool,
}

impl Lot {
    /// Returns the least demand of a task for a resource, over the classes of the lot.
    pub(super) fn least_demand(&self, problem: &Problem, r: usize) -> Rational {
        let demands = self.classes.iter().map(|i| &problem.demand(self.user, *i)[r]);
        demands.min().cloned().unwrap_or_default()
    }

    /// Returns the number of tasks of the lot that fit on a new server of a class.
    pub(super) fn room_on_new(&self, problem: &Problem, class: usize) -> u64 {
        if self.classes.binary_search(&class).is_err() {
            return 0;
        }
        let capacity = problem.servers()[class].capacity();
        let room = |(r, d): &(usize, Rational)| -> u64 {
            if capacity[*r] < *d {
                return 0;
            }
            Rational::from(&capacity[*r] / d).floor().numer().to_u64().unwrap_or(u64::MAX)
        };
        let demand = problem.demand(self.user, class).entries();
        demand.iter().filter(|(_, d)| *d > 0).map(room).min().unwrap_or(u64::MAX).min(self.most)
    }
}

/// Returns gangs of a user as lots. If gangs may choose between several sets of classes, each gang is a lot. Otherwise
/// all gangs are one lot.
pub(super) fn lots_of(
    problem: &Problem,
    rules: &TaskRules,
    n: usize,
    gangs: u64,
    is_admitted: bool,
) -> Vec<Lot> {
    let gang = gang(problem, n);
    let rule = rules.of(n);
    let own: Vec<usize> = rules.classes_of(problem, n).collect();
    let inside = |set: &Vec<usize>| -> Vec<usize> {
        own.iter().copied().filter(|i| set.binary_search(i).is_ok()).collect()
    };
    let sets: Vec<Vec<usize>> = rule.class_sets.iter().map(inside).collect();
    let union: BTreeSet<usize> = sets.iter().flatten().copied().collect();
    let classes = if sets.is_empty() { own } else { union.into_iter().collect() };
    let tasks = gangs.saturating_mul(gang);
    if gangs == 0 {
        return Vec::new();
    }
    let is_free = sets.len() <= 1 || gang == 1;
    if is_free {
        let most = if rule.distinct_servers { gangs } else { tasks };
        return vec![Lot { user: n, tasks, most, classes, choices: Vec::new(), is_admitted }];
    }
    let most = if rule.distinct_servers { 1 } else { gang };
    let one = Lot { user: n, tasks: gang, most, classes, choices: sets, is_admitted };
    (0..gangs).map(|_| one.clone()).collect()
}

/// Tasks of a lot on a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub lot: usize,
    pub place: Place,
    pub tasks: u64,
}

/// The answer to the question whether all lots fit on the servers together.
pub(super) enum Room {
    Yes(Vec<Placed>),
    No,
    NotKnown,
}

/// Searches for servers for all lots together, exactly. Bounds of groups are not considered.
pub(super) fn pack_exactly(standing: &Standing<'_>, lots: &[Lot], steps: &mut u64) -> Room {
    let pairs = |lot: &Lot| -> usize { lot.classes.iter().map(|i| standing.servers.classes[*i].len()).sum() };
    if lots.iter().map(pairs).sum::<usize>() > MOST_PAIRS {
        return Room::NotKnown;
    }
    let choices = lots.iter().map(|lot| lot.choices.len().max(1)).try_fold(1_usize, usize::checked_mul);
    let Some(choices) = choices.filter(|count| *count <= MOST_CHOICES) else { return Room::NotKnown };
    let mut is_known = true;
    for choice in 0..choices {
        let mut rest = choice;
        let part = |lot: &'_ Lot| -> usize {
            let count = lot.choices.len().max(1);
            let chosen = rest % count;
            rest /= count;
            chosen
        };
        let chosen: Vec<usize> = lots.iter().map(part).collect();
        let parts: Vec<Part<'_>> = lots
            .iter()
            .zip(&chosen)
            .map(|(lot, at)| Part {
                user: lot.user,
                tasks: lot.tasks,
                most: lot.most,
                classes: Some(lot.choices.get(*at).unwrap_or(&lot.classes)),
                is_admitted: lot.is_admitted,
            })
            .collect();
        match standing.search(&parts, steps) {
            Answer::Yes(assignment) => return Room::Yes(placed_of(lots, &assignment)),
            Answer::No => {}
            Answer::NotKnown => is_known = false,
        }
    }
    if is_known { Room::No } else { Room::NotKnown }
}

/// Returns the servers of each lot in the answer of a search. The lots of one user have the same order in the
/// answer as in `lots`.
fn placed_of(lots: &[Lot], assignment: &Assignment) -> Vec<Placed> {
    let mut of_user: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, lot) in lots.iter().enumerate().rev() {
        of_user.entry(lot.user).or_default().push(at);
    }
    let mut placed = Vec::new();
    for (n, places) in &assignment.parts {
        let Some(lot) = of_user.get_mut(n).and_then(Vec::pop) else { continue };
        let mut counts: BTreeMap<Place, u64> = BTreeMap::new();
        places.iter().for_each(|place| *counts.entry(*place).or_default() += 1);
        placed.extend(counts.into_iter().map(|(place, tasks)| Placed { lot, place, tasks }));
    }
    placed
}

/// Adds tasks to a server. A negative number removes tasks. Unlike [`Servers::add`], this function adds no
/// further empty servers to the list.
fn put(standing: &mut Standing<'_>, lot: &Lot, class: usize, at: usize, tasks: i64) {
    let server = &mut standing.servers.classes[class][at];
    for (r, d) in standing.problem.demand(lot.user, class).entries() {
        server.free[*r] -= Rational::from(d * tasks);
    }
    let total = server.tasks.entry(lot.user).or_default();
    *total += tasks;
    if total.is_zero() {
        server.tasks.remove(&lot.user);
    }
    if !lot.is_admitted {
        standing.rooms.add_on_class(lot.user, class, &Rational::from(tasks));
    }
}

/// Removes tasks that were placed before.
fn undo(standing: &mut Standing<'_>, lots: &[Lot], placed: Vec<Placed>) {
    for Placed { lot, place, tasks } in placed {
        let servers = &standing.servers.classes[place.class];
        let at = servers.partition_point(|server| server.index < place.index);
        put(standing, &lots[lot], place.class, at, -(tasks as i64));
    }
}

/// Returns the number of tasks of a lot that the limits on classes still allow on a class.
pub(super) fn room_under_limits(standing: &Standing<'_>, lot: &Lot, class: usize) -> u64 {
    if lot.is_admitted {
        return u64::MAX;
    }
    let limits = standing.rooms.on_limits(lot.user, class);
    let room = limits.into_iter().map(|at| {
        let left = standing.rooms.left_of(at);
        if *left <= 0 {
            return 0;
        }
        let whole = (left / standing.rooms.takes_of(at, lot.user, class)).floor();
        whole.numer().to_u64().unwrap_or(u64::MAX)
    });
    room.min().unwrap_or(u64::MAX)
}

/// Places up to `left` tasks of a lot on the first servers with free capacity. Only servers whose index is at least
/// `from` of their class are considered. Returns the number of tasks without a server.
fn fill(
    standing: &mut Standing<'_>,
    lots: &[Lot],
    lot: usize,
    classes: &[usize],
    from: impl Fn(usize) -> u64,
    left: u64,
    placed: &mut Vec<Placed>,
) -> u64 {
    let of = &lots[lot];
    let mut left = left;
    for class in classes {
        if left == 0 {
            break;
        }
        let mut under = room_under_limits(standing, of, *class);
        let servers = &standing.servers.classes[*class];
        let first = servers.partition_point(|server| server.index < from(*class));
        let count = servers.len();
        evenhand_budget::charge(20 * (count - first) as u64, "the search for servers");
        for at in first..count {
            if left == 0 || under == 0 {
                break;
            }
            let server = &standing.servers.classes[*class][at];
            let tasks = server.room(standing.problem, *class, of.user, of.most.min(left).min(under));
            if tasks > 0 {
                let place = Place { class: *class, index: server.index };
                put(standing, of, *class, at, tasks as i64);
                placed.push(Placed { lot, place, tasks });
                left -= tasks;
                under = under.saturating_sub(tasks);
            }
        }
    }
    left
}

/// Places a lot. If the lot has choices of classes, it is placed completely on the first choice that fits, or not at
/// all. Otherwise it may be placed partly. Returns the number of tasks without a server.
fn fill_lot(
    standing: &mut Standing<'_>,
    lots: &[Lot],
    lot: usize,
    from: impl Fn(usize) -> u64 + Copy,
    left: u64,
    placed: &mut Vec<Placed>,
) -> u64 {
    if lots[lot].choices.is_empty() {
        return fill(standing, lots, lot, &lots[lot].classes, from, left, placed);
    }
    for classes in &lots[lot].choices {
        let mut list = Vec::new();
        if fill(standing, lots, lot, classes, from, left, &mut list) == 0 {
            placed.extend(list);
            return 0;
        }
        undo(standing, lots, list);
    }
    left
}

/// The tasks that have to start, and the cluster with all servers that may be added.
pub(super) struct Packing<'p> {
    /// The cluster without the new starts.
    pub(super) standing: Standing<'p>,
    /// The number of servers of each class today.
    counts: Vec<u64>,
    offers: &'p [Offer],
    lots: Vec<Lot>,
    /// The positions of the lots, in the order in which they are placed: large tasks first.
    order: Vec<usize>,
    /// The cluster after as many tasks as possible have started on the servers of today.
    filled: Standing<'p>,
    /// The tasks that have started in `filled`.
    placed: Vec<Placed>,
    /// The number of tasks of each lot that still need a server in `filled`.
    left: Vec<u64>,
}

impl<'p> Packing<'p> {
    fn new(standing: Standing<'p>, counts: Vec<u64>, offers: &'p [Offer], lots: Vec<Lot>) -> Self {
        let problem = standing.problem;
        let capacity = problem.total_capacity();
        let size = |lot: &Lot| -> Rational {
            let demand = problem.users()[lot.user].base_demand().entries().iter();
            let demand = demand.filter(|(r, _)| !capacity[*r].is_zero());
            demand.map(|(r, d)| Rational::from(d / &capacity[*r])).max().unwrap_or_default()
        };
        let mut order: Vec<usize> = (0..lots.len()).collect();
        order.sort_by_cached_key(|at| (Reverse(size(&lots[*at])), lots[*at].classes.len(), *at));
        let none = vec![0; offers.len()];
        let mut filled = cut(&standing, offers, &counts, &none);
        let mut placed = Vec::new();
        let mut left: Vec<u64> = lots.iter().map(|lot| lot.tasks).collect();
        for at in &order {
            left[*at] = fill_lot(&mut filled, &lots, *at, |_| 0, left[*at], &mut placed);
        }
        // The servers that may be added are empty in `filled`.
        for offer in offers {
            let new = &standing.servers.classes[offer.class];
            let first = new.partition_point(|server| server.index < counts[offer.class]);
            filled.servers.classes[offer.class].extend_from_slice(&new[first..]);
        }
        Self { standing, counts, offers, lots, order, filled, placed, left }
    }

    /// Returns the number of servers and lots. Judging a set copies or visits all of them.
    fn size(&self) -> u64 {
        let servers: usize = self.standing.servers.classes.iter().map(Vec::len).sum();
        (servers + self.lots.len()) as u64
    }

    /// Returns whether all tasks fit with a set of new servers.
    fn judge(&self, more: &[u64], steps: &mut u64) -> Room {
        let mut placed = self.placed.clone();
        let mut trial = cut(&self.filled, self.offers, &self.counts, more);
        let from = |class: usize| self.counts[class];
        let is_complete = self
            .order
            .iter()
            .filter(|at| self.left[**at] > 0)
            .all(|at| fill_lot(&mut trial, &self.lots, *at, from, self.left[*at], &mut placed) == 0);
        if is_complete {
            return Room::Yes(placed);
        }
        drop(trial);
        let standing = cut(&self.standing, self.offers, &self.counts, more);
        pack_exactly(&standing, &self.lots, steps)
    }

    /// Returns a set of new servers on which all tasks fit. Each task without a server adds a server of the class with
    /// the least price for a task. Returns `None` if some task fits on no new server.
    fn grow(&self, most: u64) -> Option<(Vec<u64>, Vec<Placed>)> {
        let mut more = vec![0_u64; self.offers.len()];
        let mut placed = self.placed.clone();
        let mut trial = cut(&self.filled, self.offers, &self.counts, &more);
        let from = |class: usize| self.counts[class];
        for at in &self.order {
            let lot = &self.lots[*at];
            let mut left = fill_lot(&mut trial, &self.lots, *at, from, self.left[*at], &mut placed);
            // A lot with choices of classes adds only servers of one choice. If a choice fails, the next choice begins
            // anew.
            let choices: Vec<&[usize]> = if lot.choices.is_empty() {
                vec![&lot.classes]
            } else {
                lot.choices.iter().map(Vec::as_slice).collect()
            };
            let mut choices = choices.into_iter();
            while left > 0 {
                let classes = choices.next()?;
                let saved = more.clone();
                let mut list = Vec::new();
                let mut rest = fill(&mut trial, &self.lots, *at, classes, from, left, &mut list);
                while rest > 0 {
                    let room = |c: &usize| {
                        let class = self.offers[*c].class;
                        let room = lot.room_on_new(trial.problem, class).min(rest);
                        room.min(room_under_limits(&trial, lot, class))
                    };
                    let useful = (0..self.offers.len()).filter(|c| {
                        classes.contains(&self.offers[*c].class) && room(c) > 0 && more[*c] < most
                    });
                    let Some(c) = useful.min_by_key(|c| Rational::from(&self.offers[*c].price / room(c)))
                    else {
                        break;
                    };
                    let class = self.offers[c].class;
                    let index = self.counts[class] + more[c];
                    more[c] += 1;
                    self.open(&mut trial, class, index);
                    let only = |of: usize| if of == class { index } else { u64::MAX };
                    rest = fill(&mut trial, &self.lots, *at, classes, only, rest, &mut list);
                }
                if rest == 0 || lot.choices.is_empty() {
                    placed.extend(list);
                    left = rest;
                } else {
                    undo(&mut trial, &self.lots, list);
                    for (offer, (now, before)) in self.offers.iter().zip(more.iter().zip(&saved)) {
                        let servers = &mut trial.servers.classes[offer.class];
                        servers.truncate(servers.len() - (now - before) as usize);
                    }
                    more = saved;
                }
                if lot.choices.is_empty() && left > 0 {
                    return None;
                }
            }
        }
        Some((more, placed))
    }

    /// Adds one of the new servers to a trial.
    fn open(&self, trial: &mut Standing<'p>, class: usize, index: u64) {
        let all = &self.standing.servers.classes[class];
        if let Ok(at) = all.binary_search_by_key(&index, |server| server.index) {
            trial.servers.classes[class].push(all[at].clone());
        }
    }
}

/// Returns a cluster with only the new servers of a set, from a cluster with all servers that may be added.
fn cut<'p>(standing: &Standing<'p>, offers: &[Offer], counts: &[u64], more: &[u64]) -> Standing<'p> {
    let mut standing = standing.clone();
    for (offer, more) in offers.iter().zip(more) {
        let last = counts[offer.class] + more;
        let servers = &mut standing.servers.classes[offer.class];
        let end = servers.partition_point(|server| server.index < last);
        servers.truncate(end);
    }
    standing
}

/// The tasks that have to start, as starts of users and as lots.
struct Wanted {
    /// The number of times that each start is made. The key is the first user of the start.
    starts: BTreeMap<usize, u64>,
    lots: Vec<Lot>,
}

/// Returns the tasks that have to start. Returns an error with a user if the user states no number of tasks.
fn wanted(
    queues: &Queues<'_>,
    rules: &TaskRules,
    totals: &[Rational],
    users: Option<&[(usize, Option<u64>)]>,
) -> Result<Result<Wanted, usize>, ClusterError> {
    let problem = queues.problem;
    let all: Vec<(usize, Option<u64>)> = (0..problem.n_users()).map(|n| (n, None)).collect();
    let mut starts: BTreeMap<usize, u64> = BTreeMap::new();
    let mut lots = Vec::new();
    let mut admitted = BTreeSet::new();
    for (n, stated) in users.unwrap_or(&all) {
        let waits = queues.waits(*n, totals);
        if waits {
            let left = match queues.starts_left(*n, totals) {
                Some(left) => left.numer().to_u64().unwrap_or(u64::MAX),
                None if users.is_some() => 1,
                None => return Ok(Err(*n)),
            };
            starts.insert(queues.first_of_start(*n), stated.unwrap_or(left).min(left));
        }
        let count = rules.admitted(*n) / gang(problem, *n);
        if count > 0 && admitted.insert(*n) && stated.is_none() {
            lots.extend(lots_of(problem, rules, *n, count, true));
        } else if !waits && users.is_some() {
            let name = problem.users()[*n].name();
            return Err(ClusterError::Change(format!(
                "--until starts={name}: `{name}` has no waiting tasks: name a user that waits, or a file as for \
                 `what-if --submit`"
            )));
        }
    }
    for (n, count) in &starts {
        for m in rules.start(*n) {
            lots.extend(lots_of(problem, rules, *m, *count, false));
        }
    }
    Ok(Ok(Wanted { starts, lots }))
}

/// Adds the starts to the usage of groups. Returns an error with a bound that the starts exceed and that no
/// server can lift. Otherwise returns the needs for servers that follow from capacity that is kept back.
fn under_bounds(
    standing: &Standing<'_>,
    starts: &BTreeMap<usize, u64>,
    offers: &[Offer],
) -> Result<Vec<Need>, Obstacle> {
    let (problem, rules) = (standing.problem, standing.rules);
    let mut rooms: Rooms<'_> = standing.rooms.clone();
    let kept = |rooms: &Rooms<'_>| -> BTreeMap<usize, Rational> {
        let excesses = rooms.excesses().into_iter().filter_map(|excess| match excess {
            crate::Excess::Bound { bound: Bound::KeptBack(r), used, .. } => Some((r, used)),
            _ => None,
        });
        excesses.collect()
    };
    let before = kept(&rooms);
    for (n, count) in starts {
        let amounts: Vec<(usize, Rational)> =
            rules.amounts(problem, *n).into_iter().map(|(r, amount)| (r, amount * *count)).collect();
        let group = problem.groups().member(*n).group;
        let broken = rooms.broken(group, &amounts);
        let lasting = broken.into_iter().find(|of| !matches!(of.bound, Bound::KeptBack(_)));
        if let Some(of) = lasting {
            return Err(Obstacle::Bound { user: *n, excess: of.beyond(), bound: of.bound });
        }
        for m in rules.start(*n) {
            rooms.add(*m, &Rational::from(gang(problem, *m) * *count));
        }
    }
    let capacity = problem.total_capacity();
    let needs = kept(&rooms).into_iter().filter(|(r, used)| before.get(r) != Some(used)).map(|(r, used)| {
        let by_offer = offers.iter().map(|offer| problem.servers()[offer.class].capacity()[r].clone());
        Need { by_offer: by_offer.collect(), least: Rational::from(&used - &capacity[r]), user: None }
    });
    Ok(needs.collect())
}

/// Returns a limit on classes that stops a lot on all of its classes.
fn limit_on_classes(standing: &Standing<'_>, lot: &Lot) -> Option<(Bound, Rational)> {
    let first = *lot.classes.first()?;
    let limits = standing.rooms.on_limits(lot.user, first);
    limits.into_iter().filter(|_| !lot.is_admitted).find_map(|at| {
        let everywhere = lot.classes.iter().all(|i| standing.rooms.on_limits(lot.user, *i).contains(&at));
        let takes = lot.classes.iter().map(|i| standing.rooms.takes_of(at, lot.user, *i)).min()?;
        let excess = takes * lot.tasks - standing.rooms.left_of(at).clone().max(Rational::new());
        (everywhere && excess > 0).then_some((Bound::OnClasses(at), excess))
    })
}

/// Searches for the cheapest servers on which these users can start. `None` means all waiting tasks.
pub(super) fn plan(
    snapshot: &Snapshot,
    offers: &[Offer],
    users: Option<&[(usize, Option<u64>)]>,
) -> Result<Plan, ClusterError> {
    let rules = TaskRules::new(snapshot);
    let counts: Vec<u64> =
        snapshot.problem.servers().iter().map(evenhand_problem::ServerClass::count).collect();
    let today = today(snapshot, &snapshot.problem, &rules, 0)?;
    let queues = Queues::new(&snapshot.problem, &rules);
    let totals = today.rooms.totals().to_vec();
    let ends = |outcome: Outcome, is_cut: bool| {
        Ok(Plan { offers: offers.to_vec(), outcome, least: Rational::new(), judged: 0, is_cut })
    };
    let wanted = match wanted(&queues, &rules, &totals, users)? {
        Ok(wanted) => wanted,
        Err(n) => return ends(Outcome::Impossible(Obstacle::Unlimited(n)), false),
    };
    let tasks: u64 = wanted.lots.iter().map(|lot| lot.tasks).fold(0, u64::saturating_add);
    let most = tasks.min(MOST_ADDED);
    let mut own = match under_bounds(&today, &wanted.starts, offers) {
        Ok(needs) => needs,
        Err(obstacle) => return ends(Outcome::Impossible(obstacle), false),
    };
    // Capacity that is kept back can require servers on which no task runs.
    let most_for_kept = own.iter().flat_map(|need| {
        let useful = need.by_offer.iter().filter(|own| **own > 0);
        useful.map(|own| Rational::from(&need.least / own).ceil().numer().to_u64().unwrap_or(u64::MAX))
    });
    let most = most.max(most_for_kept.max().unwrap_or(0).min(MOST_ADDED));
    drop(queues);
    drop(today);
    let problem = capacity::with_more(&snapshot.problem, offers, &vec![most; offers.len()])?;
    let standing = self::today(snapshot, &problem, &rules, tasks)?;
    let lots = wanted.lots;
    {
        let none = vec![0; offers.len()];
        let existing = cut(&standing, offers, &counts, &none);
        own.extend(needs(&existing, &lots, offers));
        for lot in &lots {
            if let Some((bound, excess)) = limit_on_classes(&existing, lot) {
                let obstacle = Obstacle::Bound { user: lot.user, bound, excess };
                return ends(Outcome::Impossible(obstacle), false);
            }
        }
    }
    if let Some(need) = own.iter().find(|need| !need.can_be_met()) {
        let obstacle = need.user.map_or(Obstacle::NoPlacement, Obstacle::NoServer);
        return ends(Outcome::Impossible(obstacle), false);
    }
    let packing = Packing::new(standing, counts, offers, lots);
    let mut search = Search {
        packing: &packing,
        offers,
        steps: STEPS,
        failed: Vec::new(),
        best: None,
        not_known: None,
        judged: 0,
        is_cut: false,
    };
    if let Some((mut more, placed)) = packing.grow(most) {
        for need in &own {
            let rest = need.rest(&more);
            let useful = (0..offers.len()).filter(|c| need.by_offer[*c] > 0);
            let cheapest = useful.min_by_key(|c| Rational::from(&offers[*c].price / &need.by_offer[*c]));
            if let Some(c) = cheapest.filter(|_| rest > 0) {
                more[c] += (rest / &need.by_offer[c]).ceil().numer().to_u64().unwrap_or(u64::MAX).min(most);
            }
        }
        if own.iter().all(|need| need.rest(&more) <= 0) {
            search.best = Some((more, placed));
        }
    } else if most == tasks {
        // With one server of each class for each task, further servers make no difference.
        search.judged += 1;
        match packing.judge(&vec![most; offers.len()], &mut search.steps) {
            Room::No => return ends(Outcome::Impossible(Obstacle::NoPlacement), false),
            Room::Yes(placed) => search.best = Some((vec![most; offers.len()], placed)),
            Room::NotKnown => {}
        }
    }
    let least = search.run(&own, most);
    let (judged, is_cut) = (search.judged, search.is_cut);
    let outcome = match search.best {
        None => Outcome::NotFound,
        Some((counts, placed)) => {
            let starts = started(&packing.lots, &placed);
            let by_model = starts.iter().map(|of| of.user).filter(|n| !rules.of(*n).not_modelled.is_empty());
            let by_model = by_model.collect::<BTreeSet<_>>().into_iter().collect();
            let exact = capacity::with_more(&snapshot.problem, offers, &counts)?;
            let standing = self::today(snapshot, &exact, &rules, tasks)?;
            if !replays(standing, &wanted.starts, &packing.lots, &placed) {
                return Err(ClusterError::Change(
                    "internal error: the starts of the plan cannot be made; nothing is claimed".to_owned(),
                ));
            }
            let price = price(offers, &counts);
            Outcome::Found(Set { counts, price, starts, below: Vec::new(), by_model })
        }
    };
    Ok(Plan { offers: offers.to_vec(), outcome, least, judged, is_cut })
}

/// Returns the cluster of today with the servers of `problem`, which may be more than today. It has enough empty
/// servers for `tasks` tasks.
fn today<'p>(
    snapshot: &Snapshot,
    problem: &'p Problem,
    rules: &'p TaskRules,
    tasks: u64,
) -> Result<Standing<'p>, ClusterError> {
    let placements = snapshot.allocation.placements.as_ref().ok_or(ClusterError::NoPlacements)?;
    let known = snapshot.rounded.iter().filter(|of| !of.by_server.is_empty()).cloned().collect();
    let servers = Servers::unrounded(problem, placements, tasks, known);
    let rooms = Rooms::new(problem, &snapshot.allocation, |n| rules.admitted(n));
    Ok(Standing { problem, rules, servers, rooms })
}

/// Returns the tasks of each user that start, and the number of admitted tasks among them.
pub(super) fn started(lots: &[Lot], placed: &[Placed]) -> Vec<Started> {
    let mut by_user: BTreeMap<usize, (BTreeMap<Place, u64>, u64)> = BTreeMap::new();
    for of in placed {
        let lot = &lots[of.lot];
        let (places, admitted) = by_user.entry(lot.user).or_default();
        *places.entry(of.place).or_default() += of.tasks;
        *admitted += if lot.is_admitted { of.tasks } else { 0 };
    }
    let started = by_user.into_iter().map(|(user, (places, admitted))| Started {
        user,
        places: places.into_iter().collect(),
        admitted,
    });
    started.collect()
}

/// Tests the starts one after the other with the predicate [`Standing::may_start`]. Returns `true` if all
/// starts can be made.
fn replays(
    mut standing: Standing<'_>,
    starts: &BTreeMap<usize, u64>,
    lots: &[Lot],
    placed: &[Placed],
) -> bool {
    let problem = standing.problem;
    // The servers of the gangs of each user.
    let mut gangs: BTreeMap<usize, Vec<Vec<Place>>> = BTreeMap::new();
    for (at, lot) in lots.iter().enumerate() {
        let own = placed.iter().filter(|of| of.lot == at);
        let places: Vec<Place> = own.flat_map(|of| (0..of.tasks).map(|_| of.place)).collect();
        if places.len() as u64 != lot.tasks {
            return false;
        }
        if lot.is_admitted {
            for place in places {
                let has_room = standing
                    .servers
                    .at(place)
                    .is_some_and(|server| server.fits(problem, place.class, lot.user));
                if !has_room {
                    return false;
                }
                standing.servers.add(place, lot.user, &Rational::from(1));
            }
            continue;
        }
        let count = places.len() / gang(problem, lot.user) as usize;
        // Tasks on one server are neighbours in the list. If each task of a gang needs its own server, neighbours go to
        // different gangs.
        let mut dealt = vec![Vec::new(); count];
        for (at, place) in places.into_iter().enumerate() {
            let of = if standing.rules.of(lot.user).distinct_servers {
                at % count
            } else {
                at / gang(problem, lot.user) as usize
            };
            dealt[of].push(place);
        }
        gangs.entry(lot.user).or_default().extend(dealt);
    }
    for (n, count) in starts {
        for _ in 0..*count {
            let users = standing.rules.start(*n);
            let parts: Option<Vec<(usize, Vec<Place>)>> =
                users.iter().map(|m| Some((*m, gangs.get_mut(m)?.pop()?))).collect();
            let Some(parts) = parts else { return false };
            let start = Assignment { parts };
            if standing.may_start(&start).is_err() {
                return false;
            }
            for (m, places) in &start.parts {
                places.iter().for_each(|place| standing.change(*m, *place, &Rational::from(1)));
            }
        }
    }
    true
}

/// The search for the cheapest set.
struct Search<'s, 'p> {
    packing: &'s Packing<'p>,
    offers: &'s [Offer],
    steps: u64,
    /// The sets that are proven not to be enough.
    failed: Vec<Vec<u64>>,
    best: Option<(Vec<u64>, Vec<Placed>)>,
    /// The least price of a set for which it is not known whether it is enough.
    not_known: Option<Rational>,
    judged: usize,
    is_cut: bool,
}

impl Search<'_, '_> {
    /// Judges sets in the order of their prices. Returns the proven lower bound on the price of a set that is enough.
    fn run(&mut self, needs: &[Need], most: u64) -> Rational {
        let mut vectors = Vectors::new(self.offers, needs, most);
        let mut nodes = 0;
        let mut least = self.best_price();
        while let Some(bound) = vectors.bound().cloned() {
            if self.best_price().is_some_and(|best| bound >= best) {
                break;
            }
            nodes += 1;
            if nodes > MOST_NODES || self.judged >= MOST_JUDGED || vectors.is_full() || self.steps == 0 {
                self.is_cut = true;
                least = Some(bound);
                break;
            }
            let Some((more, price)) = vectors.step() else { continue };
            if is_within(&more, &self.failed) {
                continue;
            }
            self.judged += 1;
            self.steps = self.steps.saturating_sub(self.packing.size());
            match self.packing.judge(&more, &mut self.steps) {
                Room::Yes(placed) => {
                    self.best = Some((more, placed));
                    least = Some(price);
                    break;
                }
                Room::No => self.failed.push(more),
                Room::NotKnown => {
                    let is_less = self.not_known.as_ref().is_none_or(|known| price < *known);
                    if is_less {
                        self.not_known = Some(price);
                    }
                }
            }
        }
        least.into_iter().chain(self.not_known.take()).min().unwrap_or_default()
    }

    fn best_price(&self) -> Option<Rational> {
        self.best.as_ref().map(|(more, _)| price(self.offers, more))
    }
}
