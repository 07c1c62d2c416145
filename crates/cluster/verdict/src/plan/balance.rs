//! Computes the cheapest servers with which a cluster becomes fair, or meets its guarantees, by starting
//! tasks and without stopping tasks.
//!
//! A start never puts a queue below its fair share, and never makes another start possible. So a set of
//! servers is enough if some starts fit together and leave no queue below its fair share and no guarantee
//! missed. The search for these starts adds one start after the other. Each added start belongs to a queue
//! that lacks a part of its fair share or guarantee. The search is complete unless it reaches its limit.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use evenhand_mechanisms::tree::Rule;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Allocation, Problem, Promises, Rational};

use super::packing::{Lot, MOST_ADDED, Placed, Room, lots_of, pack_exactly};
use super::vectors::{Vectors, is_within, price};
use super::{Obstacle, Offer, Outcome, Plan, Set, Started, capacity, packing};
use crate::due::{Due, by_rule};
use crate::error::ClusterError;
use crate::queues::{Queues, Vector, gang};
use crate::rooms::{Bound, Rooms};
use crate::servers::{Place, placed};
use crate::starts::{Answer, Assignment, STEPS_OF_A_VERDICT, Standing};
use crate::task_rules::TaskRules;
use crate::verdict::{Excess, Verdict};

/// The largest number of sets that are judged on a small cluster. On larger clusters fewer sets are judged.
const MOST_JUDGED: usize = 400;
/// The work for all sets. The work for one set is users times resources and classes, plus running tasks by
/// server.
const WORK: usize = 400_000;
/// The largest number of states of one complete search for starts on a small cluster.
const MOST_STATES: usize = 2_000;

/// The judgement of a set of servers.
enum Judgement {
    /// The starts that are enough.
    Enough(Vec<Started>),
    /// The set of servers is not enough, whatever starts are made.
    TooFew,
    /// The search reached its limit.
    NotKnown,
}

/// Searches for the cheapest servers: either for a verdict with the exit status 0, or for no missed guarantee.
pub(super) fn plan(
    snapshot: &Snapshot,
    rule: Option<Rule>,
    offers: &[Offer],
    is_fair: bool,
) -> Result<Plan, ClusterError> {
    let plan = |outcome: Outcome, least: Rational, judged: usize, is_cut: bool| Plan {
        offers: offers.to_vec(),
        outcome,
        least,
        judged,
        is_cut,
    };
    if is_fair {
        let today = Verdict::new(snapshot, rule, &Rational::new())?;
        if let Some(obstacle) = lasting(&today) {
            return Ok(plan(Outcome::Impossible(obstacle), Rational::new(), 1, false));
        }
    }
    let problem = &snapshot.problem;
    let running: usize = snapshot.allocation.placements.iter().flatten().map(|of| of.tasks.len() + 1).sum();
    let size = problem.n_users() * (problem.n_resources() + problem.n_servers()) + running;
    let mut judge = Judge {
        snapshot,
        rule,
        offers,
        is_fair,
        left: (WORK / (size + 1)).clamp(10, MOST_JUDGED),
        states: (4 * WORK / (size + 1)).clamp(10, MOST_STATES),
        failed: Vec::new(),
        best: None,
        not_known: None,
        judged: BTreeSet::new(),
    };
    // Guarantees do not depend on the number of servers, so further servers do no harm. A set that is not
    // enough excludes all smaller sets. Large steps therefore come first.
    if !is_fair {
        if let Some(most) = enough_for_all(problem, offers)
            && judge.judge(&vec![most; offers.len()])? == Some(false)
        {
            return Ok(plan(Outcome::Impossible(Obstacle::NoPlacement), Rational::new(), 1, false));
        }
        judge.gallop()?;
    }
    let half = judge.left / 2;
    let (mut least, mut is_cut) = judge.in_order(if is_fair { half } else { 0 })?;
    if is_cut && judge.best.is_none() {
        // If all waiting tasks start, every queue gets all tasks that it asks for.
        if let Outcome::Found(set) = packing::plan(snapshot, offers, None)?.outcome {
            judge.shrink(&set.counts)?;
        }
        if judge.best.is_none() {
            judge.gallop()?;
        }
        if judge.best.is_some() && judge.left > 0 {
            (least, is_cut) = judge.in_order(0)?;
        }
    }
    let judged = judge.judged.len();
    let Some((counts, starts)) = judge.best else {
        return Ok(plan(Outcome::NotFound, least, judged, true));
    };
    let by_model = Vec::new();
    let price = price(offers, &counts);
    let set = Set { counts, price, starts, below: Vec::new(), by_model };
    Ok(plan(Outcome::Found(set), least, judged, is_cut))
}

/// Returns an exceeded limit or server that neither starts nor servers can change.
fn lasting(today: &Verdict) -> Option<Obstacle> {
    let is_lasting = |excess: &&Excess| !matches!(excess, Excess::Bound { bound: Bound::KeptBack(_), .. });
    if let Some(excess) = today.excesses.iter().find(is_lasting) {
        return Some(Obstacle::Exceeded(Box::new(excess.clone())));
    }
    (today.excesses.is_empty() && !today.is_within_limits()).then_some(Obstacle::NotFeasible)
}

/// Returns a number of servers of each class beyond which further servers change no start: one server for
/// each task, and enough servers for all capacity that is kept back. Returns `None` if the number is too
/// large, or if a user states no number of tasks.
fn enough_for_all(problem: &Problem, offers: &[Offer]) -> Option<u64> {
    let tasks: Option<Rational> = problem.users().iter().map(|user| user.tasks().cloned()).sum();
    let promises = Promises::new(problem.groups());
    let mut used = vec![Rational::new(); problem.n_resources()];
    promises.kept.iter().flatten().for_each(|(r, kept)| used[*r] += kept);
    for user in problem.users() {
        for (r, d) in user.base_demand().entries() {
            used[*r] += Rational::from(d * user.tasks()?);
        }
    }
    let mut most = tasks?.ceil();
    for offer in offers {
        let capacity = problem.servers()[offer.class].capacity();
        for (used, own) in used.iter().zip(capacity).filter(|(_, own)| **own > 0) {
            most = most.max(Rational::from(used / own).ceil());
        }
    }
    most.numer().to_u64().filter(|most| *most <= MOST_ADDED)
}

struct Judge<'s> {
    snapshot: &'s Snapshot,
    rule: Option<Rule>,
    offers: &'s [Offer],
    is_fair: bool,
    /// The number of sets that may still be judged.
    left: usize,
    /// The largest number of states of one complete search for starts.
    states: usize,
    /// The sets that are proven not to be enough.
    failed: Vec<Vec<u64>>,
    best: Option<(Vec<u64>, Vec<Started>)>,
    /// The least price of a set for which it is not known whether it is enough.
    not_known: Option<Rational>,
    judged: BTreeSet<Vec<u64>>,
}

impl Judge<'_> {
    fn best_price(&self) -> Option<Rational> {
        self.best.as_ref().map(|(counts, _)| price(self.offers, counts))
    }

    /// Judges a set. Returns `true` if the set is enough. Returns `None` if that is not known, or if the
    /// limit on judged sets is reached.
    fn judge(&mut self, counts: &[u64]) -> Result<Option<bool>, ClusterError> {
        if !self.is_fair && is_within(counts, &self.failed) {
            return Ok(Some(false));
        }
        if self.failed.iter().any(|failed| failed == counts) {
            return Ok(Some(false));
        }
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.judged.insert(counts.to_vec());
        let own = price(self.offers, counts);
        Ok(match self.starts_with(counts)? {
            Judgement::Enough(starts) => {
                if self.best_price().is_none_or(|best| own < best) {
                    self.best = Some((counts.to_vec(), starts));
                }
                Some(true)
            }
            Judgement::TooFew => {
                self.failed.push(counts.to_vec());
                Some(false)
            }
            Judgement::NotKnown => {
                if self.not_known.as_ref().is_none_or(|known| own < *known) {
                    self.not_known = Some(own);
                }
                None
            }
        })
    }

    /// Judges sets in the order of their prices until a set is enough, or until only `keep` sets may still be
    /// judged. Returns the least price that is not excluded, and whether the search was cut.
    fn in_order(&mut self, keep: usize) -> Result<(Rational, bool), ClusterError> {
        let mut vectors = Vectors::new(self.offers, &[], MOST_ADDED);
        let mut is_cut = false;
        let mut least = self.best_price();
        while let Some(bound) = vectors.bound().cloned() {
            if self.best_price().is_some_and(|best| bound >= best) {
                break;
            }
            if self.left <= keep || vectors.is_full() {
                is_cut = true;
                least = Some(bound);
                break;
            }
            let Some((counts, price)) = vectors.step() else { continue };
            if self.judged.contains(&counts) && !self.failed.contains(&counts) {
                // This set was judged before, and the judgement gave no answer.
                continue;
            }
            if self.judge(&counts)? == Some(true) {
                least = Some(price);
                break;
            }
        }
        let least = least.into_iter().chain(self.not_known.clone()).min().unwrap_or_default();
        Ok((least, is_cut))
    }

    /// Judges growing sets of each class, and of all classes together, until a set is enough. Then searches for the
    /// smallest such set by bisection.
    fn gallop(&mut self) -> Result<(), ClusterError> {
        let mut rays: Vec<Vec<u64>> = (0..self.offers.len())
            .map(|c| (0..self.offers.len()).map(|k| u64::from(c == k)).collect())
            .collect();
        if self.offers.len() > 1 {
            rays.push(vec![1; self.offers.len()]);
        }
        for ray in rays {
            let times = |t: u64| -> Vec<u64> { ray.iter().map(|own| own * t).collect() };
            let mut low = None;
            let mut t = 0;
            let high = loop {
                let is_dear = self.best_price().is_some_and(|best| price(self.offers, &times(t)) >= best);
                if is_dear || t > MOST_ADDED || self.left == 0 {
                    break None;
                }
                if self.judge(&times(t))? == Some(true) {
                    break Some(t);
                }
                low = Some(t);
                t = (2 * t).max(1);
            };
            let (Some(mut high), Some(mut low)) = (high, low) else { continue };
            while high - low > 1 && self.left > 0 {
                let middle = low + (high - low) / 2;
                match self.judge(&times(middle))? {
                    Some(true) => high = middle,
                    _ => low = middle,
                }
            }
        }
        Ok(())
    }

    /// Judges a set. If the set is enough, smaller sets in the same proportions are judged as well.
    fn shrink(&mut self, counts: &[u64]) -> Result<(), ClusterError> {
        let all = counts.iter().copied().max().unwrap_or(0);
        if self.judge(counts)? != Some(true) {
            return Ok(());
        }
        let (mut low, mut high) = (0, all);
        while high - low > 1 && self.left > 0 {
            let middle = low + (high - low) / 2;
            let part: Vec<u64> = counts.iter().map(|count| (count * middle).div_ceil(all)).collect();
            match self.judge(&part)? {
                Some(true) => high = middle,
                _ => low = middle,
            }
        }
        Ok(())
    }

    /// Searches for starts with which a set of servers is enough.
    fn starts_with(&self, counts: &[u64]) -> Result<Judgement, ClusterError> {
        let snapshot = self.snapshot;
        let stated = capacity::with_more(&snapshot.problem, self.offers, counts)?;
        let problem = by_rule(&stated, self.rule)?.unwrap_or_else(|| stated.clone());
        let rules = TaskRules::new(snapshot);
        let allocation = &snapshot.allocation;
        let Some(standing) = Standing::new(&problem, &rules, allocation) else {
            return Err(ClusterError::NoPlacements);
        };
        let queues = Queues::new(&problem, &rules);
        let due = if self.is_fair { Some(Due::new(&queues, self.rule)?) } else { None };
        let promised = promised(&problem, due.as_ref());
        let mut trial = Trial {
            queues: &queues,
            due: due.as_ref().map(|due| &due.amounts[..]),
            promised: &promised,
            base: standing.clone(),
            standing,
            started: BTreeMap::new(),
            steps: STEPS_OF_A_VERDICT,
            states: self.states,
            is_known: true,
            saw_lack: Cell::new(false),
        };
        if !trial.one_by_one() {
            // The greedy choice of servers was not enough, so all other starts are tried.
            trial.standing = trial.base.clone();
            trial.started.clear();
            if !trial.all_ways(&mut BTreeSet::new()) {
                // With limits on classes, lacks also depend on the classes of the started tasks, and the search does
                // not try all classes.
                let is_known = trial.is_known && !(trial.saw_lack.get() && problem.groups().limit_classes());
                return Ok(if is_known { Judgement::TooFew } else { Judgement::NotKnown });
            }
        }
        if !self.is_fair {
            return Ok(Judgement::Enough(trial.list()));
        }
        let admitted = trial.start_the_rest();
        let starts = trial.list();
        let after = placed(allocation, trial.standing.servers.placements());
        let after = after_starts(snapshot, stated, after, &admitted);
        drop(trial);
        let starts = with_admitted(starts, &admitted);
        let verdict = Verdict::new(&after, self.rule, &Rational::new())?;
        let is_enough = verdict.is_fair() && verdict.is_known() && verdict.held.undecided.is_empty();
        Ok(if is_enough { Judgement::Enough(starts) } else { Judgement::NotKnown })
    }
}

/// Returns the snapshot after the starts. Admitted tasks that have got a server no longer count as admitted tasks
/// without a server.
fn after_starts(
    snapshot: &Snapshot,
    problem: Problem,
    allocation: Allocation,
    admitted: &BTreeMap<usize, BTreeMap<Place, u64>>,
) -> Snapshot {
    let mut after = Snapshot { problem, allocation, ..snapshot.clone() };
    for of in &mut after.constraints {
        let got: u64 = admitted.get(&of.user).map_or(0, |places| places.values().sum());
        of.admitted -= got.min(of.admitted);
    }
    after
}

/// Sets the number of admitted tasks of each start.
fn with_admitted(starts: Vec<Started>, admitted: &BTreeMap<usize, BTreeMap<Place, u64>>) -> Vec<Started> {
    let count = |n: usize| admitted.get(&n).map_or(0, |places| places.values().sum());
    starts.into_iter().map(|of| Started { admitted: count(of.user), ..of }).collect()
}

/// Returns for each user whether a missed guarantee of the user counts. Without fair shares it always counts.
/// With fair shares it counts only if they would meet the guarantee.
fn promised(problem: &Problem, due: Option<&Due>) -> Vec<bool> {
    if problem.groups().list().is_empty() {
        return vec![false; problem.n_users()];
    }
    let Some(due) = due else { return vec![true; problem.n_users()] };
    let Some(tasks) = &due.tasks else { return vec![false; problem.n_users()] };
    let rooms = Rooms::new(problem, tasks, |_| 0);
    (0..problem.n_users()).map(|n| rooms.lack(n).is_zero()).collect()
}

/// The cluster after some starts.
struct Trial<'t> {
    queues: &'t Queues<'t>,
    /// The fair shares by queue and resource. `None` if queues may be below their fair share.
    due: Option<&'t [Vector]>,
    /// True if a missed guarantee of a user counts, indexed by user.
    promised: &'t [bool],
    /// The cluster before the starts.
    base: Standing<'t>,
    standing: Standing<'t>,
    /// The number of times that each start was made. The key is the first user of the start.
    started: BTreeMap<usize, u64>,
    steps: u64,
    /// The number of states that the complete search may still visit.
    states: usize,
    /// True if a result that no starts are enough would be certain.
    is_known: bool,
    /// True if a missed guarantee was the reason for a start.
    saw_lack: Cell<bool>,
}

impl Trial<'_> {
    fn problem(&self) -> &Problem {
        self.queues.problem
    }

    /// Returns the first users of a set of starts. At least one start of the set must be made, because a queue is below
    /// its fair share or a guarantee is missed. Returns `None` if no queue is below its fair share and no guarantee is missed.
    fn next(&self) -> Option<Vec<usize>> {
        let queues = self.queues;
        let totals = self.standing.rooms.totals();
        let waiting = queues.waiting(totals);
        let rules = self.standing.rules;
        let leaders = |users: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
            let mut seen = BTreeSet::new();
            let waits = users.filter(|n| waiting[*n] && rules.not_modelled(*n).is_empty());
            waits.map(|n| queues.first_of_start(n)).filter(|n| seen.insert(*n)).collect()
        };
        if let Some(due) = self.due {
            let held = queues.held(totals);
            let is_below =
                |v: &usize| queues.short_by(*v, &held[*v], &due[*v], &waiting, &Rational::new()).is_some();
            let deepest =
                (0..queues.list.len()).filter(is_below).max_by_key(|v| (queues.list[*v].depth, Reverse(*v)));
            if let Some(v) = deepest {
                let (held, due) = (&held[v], &due[v]);
                let size = |n: usize| {
                    let fraction = |(r, unit): &(usize, Rational)| {
                        let lacks = Rational::from(&due[*r] - &held[*r]);
                        if lacks > 0 { unit / lacks } else { Rational::new() }
                    };
                    queues.unit[n].iter().map(fraction).max().unwrap_or_default()
                };
                let mut users = queues.users[v].clone();
                users.sort_by_cached_key(|n| {
                    let is_outside = !queues.is_within(*n, held, due);
                    (is_outside, Reverse((rules.of(*n).priority, size(*n))), *n)
                });
                return Some(leaders(&mut users.into_iter()));
            }
        }
        let misses = |n: &usize| {
            self.promised[*n] && waiting[*n] && self.standing.rooms.lack(*n) >= gang(self.problem(), *n)
        };
        let n = (0..self.problem().n_users()).find(misses)?;
        self.saw_lack.set(true);
        let top = queues.above[n].last().copied();
        let users = top.map_or_else(Vec::new, |v| queues.users[v].clone());
        let mut own: Vec<usize> = users.into_iter().filter(|m| *m != n).collect();
        own.insert(0, n);
        Some(leaders(&mut own.into_iter()))
    }

    fn apply(&mut self, start: &Assignment) {
        for (n, places) in &start.parts {
            places.iter().for_each(|place| self.standing.change(*n, *place, &Rational::from(1)));
        }
    }

    /// Makes one start after the other on the first servers with enough free capacity. Returns `true` if
    /// these starts are enough.
    fn one_by_one(&mut self) -> bool {
        let mut shut: BTreeSet<usize> = BTreeSet::new();
        while let Some(leaders) = self.next() {
            let mut has_started = false;
            for n in leaders {
                // Starts never free capacity, so a start that was impossible stays impossible.
                if shut.contains(&n) {
                    continue;
                }
                if let Answer::Yes(start) = self.standing.find(n, &mut self.steps) {
                    self.apply(&start);
                    *self.started.entry(n).or_default() += 1;
                    has_started = true;
                    break;
                }
                shut.insert(n);
            }
            if !has_started {
                return false;
            }
        }
        true
    }

    /// Tries all combinations of starts that may be enough, by adding one start at a time. Returns `true` if
    /// a combination is enough. The cluster then includes the starts of this combination.
    fn all_ways(&mut self, seen: &mut BTreeSet<BTreeMap<usize, u64>>) -> bool {
        let Some(leaders) = self.next() else { return true };
        for n in leaders {
            let saved = self.standing.clone();
            if self.start(n) {
                *self.started.entry(n).or_default() += 1;
                let is_new = seen.insert(self.started.clone());
                if is_new {
                    // The depth of the recursion is the number of starts, which is bounded because of the stack.
                    if self.states == 0 || self.started.values().sum::<u64>() > 200 {
                        self.is_known = false;
                    } else {
                        self.states -= 1;
                        if self.all_ways(seen) {
                            return true;
                        }
                    }
                }
                match self.started.get_mut(&n) {
                    Some(count) if *count > 1 => *count -= 1,
                    _ => drop(self.started.remove(&n)),
                }
            }
            self.standing = saved;
        }
        false
    }

    /// Starts a user once more. If the free servers do not suffice, all started tasks are placed anew.
    /// Returns `true` if the start was made.
    fn start(&mut self, n: usize) -> bool {
        match self.standing.find(n, &mut self.steps) {
            Answer::Yes(start) => {
                self.apply(&start);
                return true;
            }
            Answer::No if self.started.is_empty() => return false,
            Answer::No => {}
            Answer::NotKnown => {
                self.is_known = false;
                return false;
            }
        }
        let problem = self.queues.problem;
        let rules = self.standing.rules;
        let totals = self.standing.rooms.totals();
        let amounts = rules.amounts(problem, n);
        let group = problem.groups().member(n).group;
        if !self.queues.waits(n, totals) || !self.standing.rooms.broken_bounds(group, &amounts).is_empty() {
            return false;
        }
        let mut lots: Vec<Lot> = Vec::new();
        let mut all = self.started.clone();
        *all.entry(n).or_default() += 1;
        for (leader, count) in &all {
            for m in rules.start(*leader) {
                lots.extend(lots_of(problem, rules, *m, *count, false));
            }
        }
        let mut base = self.base.clone();
        let tasks: u64 = lots.iter().map(|lot| lot.tasks).sum();
        let placements = base.servers.placements();
        base.servers = crate::servers::Servers::new(problem, &placements, tasks);
        match pack_exactly(&base, &lots, &mut self.steps) {
            Room::No => false,
            Room::NotKnown => {
                self.is_known = false;
                false
            }
            Room::Yes(placed) => {
                for Placed { lot, place, tasks } in placed {
                    base.change(lots[lot].user, place, &Rational::from(tasks));
                }
                self.standing = base;
                true
            }
        }
    }

    /// Starts all other tasks that could start, and places admitted tasks on servers. Returns the servers of the
    /// admitted tasks.
    fn start_the_rest(&mut self) -> BTreeMap<usize, BTreeMap<Place, u64>> {
        let rules = self.standing.rules;
        let users: Vec<usize> = (0..self.problem().n_users()).filter(|n| rules.leads(*n)).collect();
        let mut order: BinaryHeap<(i64, Reverse<usize>)> =
            users.into_iter().map(|n| (rules.of(n).priority, Reverse(n))).collect();
        let mut admitted: BTreeMap<usize, BTreeMap<Place, u64>> = BTreeMap::new();
        let with_admitted: Vec<usize> =
            (0..self.problem().n_users()).filter(|n| rules.admitted(*n) > 0).collect();
        for n in with_admitted {
            let gang = gang(self.problem(), n);
            for _ in 0..rules.admitted(n) / gang {
                let free = self.standing.for_admitted();
                let Answer::Yes(found) = free.find_servers(&[n], &mut self.steps) else { break };
                for place in found.parts.iter().flat_map(|(_, places)| places) {
                    self.standing.servers.add(*place, n, &Rational::from(1));
                    *admitted.entry(n).or_default().entry(*place).or_default() += 1;
                }
            }
        }
        while let Some((_, Reverse(n))) = order.pop() {
            if !rules.not_modelled(n).is_empty() {
                continue;
            }
            while let Answer::Yes(start) = self.standing.find(n, &mut self.steps) {
                self.apply(&start);
            }
        }
        admitted
    }

    /// Returns the started tasks: for each user, the additional tasks on each server.
    fn list(&self) -> Vec<Started> {
        let mut by_user: BTreeMap<usize, BTreeMap<Place, u64>> = BTreeMap::new();
        for (class, servers) in self.standing.servers.classes.iter().enumerate() {
            for server in servers {
                let place = Place { class, index: server.index };
                let before = self.base.servers.at(place);
                for (n, tasks) in &server.tasks {
                    let was = before.and_then(|before| before.tasks.get(n)).cloned().unwrap_or_default();
                    let more = Rational::from(tasks - &was).numer().to_u64().unwrap_or(0);
                    if more > 0 {
                        by_user.entry(*n).or_default().insert(place, more);
                    }
                }
            }
        }
        let started = by_user.into_iter();
        started
            .map(|(user, places)| Started { user, places: places.into_iter().collect(), admitted: 0 })
            .collect()
    }
}
