//! Server classes: servers on which the same tasks may run, and whose capacities differ by little.
//!
//! Equal machines report slightly different amounts of memory. Those that differ by at most a given part become one class,
//! which has the least of each amount. A server joins only if what runs on it fits in that; so the tasks of the dump fit
//! in the problem, and what the class has less than its servers is known exactly.
//!
//! A waiting task may fit on a server and not on the class of the server, which has less. Servers on which such a task fits
//! are then put into classes by themselves: the least amount of servers on which a task fits is enough for the task.

use std::collections::BTreeMap;

use evenhand_budget::{charge, operations, room, words_of_bits};
use evenhand_problem::groups::Named;
use rug::Rational;

use super::cluster::{Amounts, Cluster, Server, add};
use evenhand_import::Ordered;

/// Rounds in which servers whose tasks do not fit in a class are put together anew, before only equal ones are.
const ROUNDS: usize = 8;
/// Rounds in which servers are told apart by the waiting tasks that fit on them, before only equal ones are put together.
const REFINEMENTS: usize = 8;
/// Bytes of one amount of a class in memory.
const OF_AN_AMOUNT: u64 = 128;

/// The servers of a cluster as the problem will have them.
pub(super) struct Classes {
    pub list: Vec<Class>,
    /// By server: its class, and which server of the class it is; `None`: it is left out.
    pub of: Vec<Option<(usize, u64)>>,
    /// Places of the resources that the problem has.
    pub kept: Vec<usize>,
}

/// Servers that count as equal.
pub(super) struct Class {
    pub name: String,
    /// Ascending, as in the dump.
    pub servers: Vec<usize>,
    /// Of each of them, by the place of the resource.
    pub capacity: Amounts,
    /// A server of the class, which stands for all where rules are asked.
    pub profile: usize,
    /// Whether no task may start there.
    pub is_closed: bool,
}

/// Which rule allows which servers, by the server's profile.
pub(super) type Allowed = Vec<Vec<bool>>;

/// The largest part of an amount of a server that its class may have less.
pub(super) type Part = Rational;

/// Groups the servers of a cluster; names those that are left out.
pub(super) fn classes(cluster: &mut Cluster, allowed: &Allowed, part: &Part) -> Classes {
    let used = used(cluster);
    let kept = kept(cluster, &used);
    let columns = columns(cluster, allowed);
    // Open servers, of which those of one column may become one class; closed ones are each on their own.
    let mut open: Vec<usize> = Vec::new();
    let mut found: Vec<(Vec<usize>, Amounts, bool)> = Vec::new();
    let nobody_asks = cluster.tasks.entries().is_empty();
    let mut left_out = Vec::new();
    for (s, (name, server)) in cluster.servers.entries().iter().enumerate() {
        let runs = !used[s].is_empty();
        match server.closed {
            Some(_) if runs => {
                let capacity = kept.iter().map(|r| (*r, used[s].get(r).cloned().unwrap_or_default()));
                found.push((vec![s], capacity.collect(), true));
            }
            Some(why) => left_out.push((why, name.clone())),
            None if !runs && !nobody_asks && !columns.is_asked[columns.of[server.profile]] => {
                left_out.push(("servers that no task of the dump may use", name.clone()));
            }
            None if cluster.quotas.contains(&s) => {
                let capacity = kept.iter().map(|r| (*r, server.capacity.get(r).cloned().unwrap_or_default()));
                found.push((vec![s], capacity.collect(), false));
            }
            None => open.push(s),
        }
    }
    left_out.into_iter().for_each(|(why, name)| cluster.left_out.add(why, name));
    let servers = cluster.servers.entries();
    let waiting = Waiting::new(cluster, allowed);
    let (mut merging, exact) = (Merging { servers, used: &used, kept: &kept, part }, Rational::new());
    let mut told_apart: Vec<&Named> = Vec::new();
    for round in 0.. {
        let merged = merging.merge_columns(&open, &columns, &told_apart);
        let lost = waiting.lost(&merging, &merged, &told_apart);
        if lost.is_empty() {
            found.extend(merged.into_iter().map(|(members, capacity)| (members, capacity, false)));
            break;
        }
        if round == REFINEMENTS {
            merging.part = &exact;
        } else {
            told_apart.extend(lost);
        }
    }
    found.sort_unstable_by_key(|(members, ..)| members[0]);
    let mut of = vec![None; servers.len()];
    let names = names(servers, &found);
    let mut list = Vec::with_capacity(found.len());
    for ((members, capacity, is_closed), name) in found.into_iter().zip(names) {
        members.iter().zip(0..).for_each(|(s, index)| of[*s] = Some((list.len(), index)));
        let profile = servers[members[0]].1.profile;
        list.push(Class { name, servers: members, capacity, profile, is_closed });
    }
    overcommitted(cluster, &used);
    Classes { list, of, kept }
}

/// What runs on each server.
fn used(cluster: &Cluster) -> Vec<Amounts> {
    /// Denominators of more bits make additions slow.
    const SHORT: u32 = 256;
    let mut used = vec![Amounts::new(); cluster.servers.entries().len()];
    let at: Vec<Option<usize>> =
        cluster.places.entries().iter().map(|(name, ())| cluster.servers.find(name)).collect();
    for (shape, tasks) in cluster.tasks.entries() {
        let demand: Amounts = shape.demand.iter().cloned().collect();
        charge((tasks.running.len() * (demand.len() + 1)) as u64, "the tasks of the dump");
        for (place, _) in &tasks.running {
            if let Some(s) = at[*place] {
                add(&mut used[s], &demand);
                for sum in demand.keys().filter_map(|r| used[s].get(r)) {
                    let bits = sum.denom().significant_bits();
                    if bits > SHORT {
                        operations(1, words_of_bits(bits.into()), "the tasks of the dump");
                    }
                }
            }
        }
    }
    used
}

/// Resources of the problem: those that a task asks for and some server has or has given, and those that are always
/// there. The others are named.
fn kept(cluster: &mut Cluster, used: &[Amounts]) -> Vec<usize> {
    let n_resources = cluster.resources.entries().len();
    let (mut has, mut asked, mut runs) =
        (vec![false; n_resources], vec![false; n_resources], vec![false; n_resources]);
    for (_, server) in cluster.servers.entries() {
        server.capacity.iter().filter(|(_, amount)| !amount.is_zero()).for_each(|(r, _)| has[*r] = true);
    }
    cluster.tasks.entries().iter().flat_map(|(shape, _)| &shape.demand).for_each(|(r, _)| asked[*r] = true);
    used.iter().flat_map(Amounts::keys).for_each(|r| runs[*r] = true);
    let always = cluster.always.len();
    let is_kept = |r: &usize| runs[*r] || (has[*r] && (asked[*r] || *r < always));
    let unasked = (0..n_resources).filter(|r| has[*r] && !is_kept(r));
    let unasked: Vec<String> = unasked.map(|r| cluster.resources.entries()[r].0.clone()).collect();
    if !unasked.is_empty() {
        let what = "resources of servers that no task asks for";
        cluster.left_out.add_many(what, unasked.len() as u64, unasked);
    }
    (0..n_resources).filter(is_kept).collect()
}

/// Profiles that all rules treat alike.
struct Columns {
    /// By profile.
    of: Vec<usize>,
    /// Whether a rule of some task allows it.
    is_asked: Vec<bool>,
}

fn columns(cluster: &Cluster, allowed: &Allowed) -> Columns {
    let mut is_of_a_task = vec![false; allowed.len()];
    cluster.tasks.entries().iter().for_each(|(shape, _)| is_of_a_task[shape.rule] = true);
    let n_profiles =
        cluster.servers.entries().iter().map(|(_, server)| server.profile + 1).max().unwrap_or(0);
    charge((n_profiles * allowed.len()) as u64, "the rules of tasks times servers");
    let mut columns: Ordered<Vec<usize>, bool> = Ordered::default();
    let of = (0..n_profiles).map(|p| {
        let column: Vec<usize> = (0..allowed.len()).filter(|rule| allowed[*rule][p]).collect();
        let is_asked = column.iter().any(|rule| is_of_a_task[*rule]);
        columns.place(&column, || is_asked)
    });
    let of = of.collect();
    Columns { of, is_asked: columns.into_entries().into_iter().map(|(_, is_asked)| is_asked).collect() }
}

/// What tasks that wait ask for, each request once.
struct Waiting<'w> {
    allowed: &'w Allowed,
    /// By rule: the demands.
    demands: Vec<(usize, &'w Named)>,
}

impl<'w> Waiting<'w> {
    fn new(cluster: &'w Cluster, allowed: &'w Allowed) -> Self {
        let shapes = cluster.tasks.entries().iter();
        let waiting = shapes.filter(|(_, tasks)| tasks.admitted > 0 || !tasks.waiting.entries().is_empty());
        let mut seen = std::collections::HashSet::new();
        let demands = waiting.map(|(shape, _)| (shape.rule, &shape.demand)).filter(|ask| seen.insert(*ask));
        Self { allowed, demands: demands.collect() }
    }

    /// Returns the demands that fit on a server and not on its class, without those that are told apart already.
    fn lost(
        &self,
        merging: &Merging<'_>,
        classes: &[(Vec<usize>, Amounts)],
        told_apart: &[&Named],
    ) -> Vec<&'w Named> {
        // A class of equal servers has what each of them has.
        let rounded: Vec<(&Vec<usize>, &Amounts, Amounts)> = classes
            .iter()
            .filter(|(members, _)| members.len() > 1)
            .map(|(members, least)| (members, least, merging.most(members)))
            .filter(|(_, least, most)| *least != most)
            .collect();
        let looks: usize = self.demands.iter().map(|(_, demand)| demand.len() + 1).sum();
        charge((looks * rounded.len()) as u64, "the classes of waiting tasks");
        let is_enough = |capacity: &Amounts, demand: &Named| {
            demand.iter().all(|(r, amount)| capacity.get(r).is_some_and(|has| amount <= has))
        };
        let mut lost: Vec<&Named> = Vec::new();
        for (rule, demand) in &self.demands {
            let is_lost = |(members, least, most): &(&Vec<usize>, &Amounts, Amounts)| {
                let profile = merging.servers[members[0]].1.profile;
                self.allowed[*rule][profile]
                    && !is_enough(least, demand)
                    && is_enough(most, demand)
                    && members.iter().any(|s| merging.fits(*s, demand))
            };
            if rounded.iter().any(is_lost) && !lost.contains(demand) && !told_apart.contains(demand) {
                lost.push(demand);
            }
        }
        lost
    }
}

struct Merging<'m> {
    servers: &'m [(String, Server)],
    used: &'m [Amounts],
    kept: &'m [usize],
    part: &'m Part,
}

impl Merging<'_> {
    /// Puts servers of one column into classes; servers are told apart by which of some demands fit on them.
    fn merge_columns(
        &self,
        open: &[usize],
        columns: &Columns,
        told_apart: &[&Named],
    ) -> Vec<(Vec<usize>, Amounts)> {
        let mut alike: Ordered<(usize, Vec<bool>), Vec<usize>> = Ordered::default();
        charge((open.len() * (told_apart.len() + 1)) as u64, "putting servers into classes");
        for s in open {
            let fits = told_apart.iter().map(|demand| self.fits(*s, demand)).collect();
            alike.value(&(columns.of[self.servers[*s].1.profile], fits), Vec::new).push(*s);
        }
        let mut classes = Vec::new();
        for (_, members) in alike.into_entries() {
            self.merge(members, ROUNDS, &mut |members, capacity| {
                let amounts = (classes.len() as u64 + 1) * self.kept.len() as u64;
                room(amounts * OF_AN_AMOUNT, "the table of server classes and resources");
                classes.push((members, capacity));
            });
        }
        classes
    }

    /// Whether a demand fits on a server that is empty.
    fn fits(&self, s: usize, demand: &Named) -> bool {
        let capacity = &self.servers[s].1.capacity;
        demand.iter().all(|(r, amount)| capacity.get(r).is_some_and(|has| amount <= has))
    }

    /// Puts servers into classes, whose members and capacities are told.
    fn merge(&self, members: Vec<usize>, rounds: usize, tell: &mut impl FnMut(Vec<usize>, Amounts)) {
        let (none, exact) = (Rational::new(), rounds == 0);
        let part = if exact { &none } else { self.part };
        let mut rest = Vec::new();
        for bucket in self.buckets(members, part) {
            let capacity = self.least(&bucket);
            let (fits, mut others): (Vec<_>, Vec<_>) = bucket.into_iter().partition(|s| {
                // Of equal servers each has what it has, whatever runs there.
                part.is_zero() || self.used[*s].iter().all(|(r, used)| *used <= capacity[r])
            });
            if fits.is_empty() {
                others.into_iter().for_each(|s| tell(vec![s], self.least(&[s])));
                continue;
            }
            rest.append(&mut others);
            // Without those that do not fit, the least may be more.
            let capacity = self.least(&fits);
            tell(fits, capacity);
        }
        if !rest.is_empty() {
            rest.sort_unstable();
            self.merge(rest, rounds - 1, tell);
        }
    }

    /// Splits servers into those that differ by at most the part in each resource.
    fn buckets(&self, members: Vec<usize>, part: &Part) -> Vec<Vec<usize>> {
        let mut buckets = vec![members];
        for r in self.kept {
            if buckets.iter().all(|bucket| bucket.len() == 1) {
                break;
            }
            let mut finer = Vec::with_capacity(buckets.len());
            buckets.into_iter().for_each(|bucket| self.split(bucket, *r, part, &mut finer));
            buckets = finer;
        }
        buckets
    }

    /// Splits servers into those that differ by at most the part in one resource.
    fn split(&self, members: Vec<usize>, r: usize, part: &Part, buckets: &mut Vec<Vec<usize>>) {
        if members.len() == 1 {
            return buckets.push(members);
        }
        let mut by_amount: BTreeMap<&Rational, Vec<usize>> = BTreeMap::new();
        charge(members.len() as u64 * 8, "putting servers into classes");
        for s in members {
            let amount = self.servers[s].1.capacity.get(&r).unwrap_or(Rational::ZERO);
            by_amount.entry(amount).or_default().push(s);
        }
        let first = buckets.len();
        let mut most: Option<Rational> = None;
        for (amount, mut servers) in by_amount {
            match (&most, buckets[first..].last_mut()) {
                (Some(most), Some(last)) if amount <= most => last.append(&mut servers),
                _ => {
                    // a - least <= part a
                    let kept = Rational::from(1 - part);
                    most = Some(Rational::from(amount / &kept));
                    buckets.push(servers);
                }
            }
        }
        buckets[first..].iter_mut().for_each(|bucket| bucket.sort_unstable());
    }

    /// The least of each amount.
    fn least(&self, members: &[usize]) -> Amounts {
        let of = |r: &usize| (*r, self.amounts(members, r).min().cloned().unwrap_or_default());
        self.kept.iter().map(of).collect()
    }

    /// The largest of each amount.
    fn most(&self, members: &[usize]) -> Amounts {
        let of = |r: &usize| (*r, self.amounts(members, r).max().cloned().unwrap_or_default());
        self.kept.iter().map(of).collect()
    }

    fn amounts<'s>(&'s self, members: &[usize], r: &usize) -> impl Iterator<Item = &'s Rational> {
        members.iter().map(move |s| self.servers[*s].1.capacity.get(r).unwrap_or(Rational::ZERO))
    }
}

/// A class of one server has its name, others what their servers may be called, with a number where several would have
/// the same.
fn names(servers: &[(String, Server)], found: &[(Vec<usize>, Amounts, bool)]) -> Vec<String> {
    let wished = |members: &[usize]| match members {
        [s] => servers[*s].0.clone(),
        _ => {
            let hint = &servers[members[0]].1.hint;
            let is_shared = !hint.is_empty() && members.iter().all(|s| servers[*s].1.hint == *hint);
            if is_shared { hint.clone() } else { "servers".to_owned() }
        }
    };
    let wished: Vec<String> = found.iter().map(|(members, ..)| wished(members)).collect();
    let mut times: Ordered<String, usize> = Ordered::default();
    wished.iter().for_each(|name| *times.value(name, || 0) += 1);
    let mut taken: std::collections::HashSet<String> = std::collections::HashSet::new();
    // Names that only one class wishes are given first, so that no number makes another one's name.
    let is_sole = |name: &String| times.find(name).is_some_and(|at| times.entries()[at].1 == 1);
    taken.extend(wished.iter().filter(|name| is_sole(name)).cloned());
    let mut next: Ordered<String, usize> = Ordered::default();
    let number = |name: &String| {
        if is_sole(name) {
            return name.clone();
        }
        let number = next.value(name, || 0);
        loop {
            *number += 1;
            let numbered = format!("{name}-{number}");
            if taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    };
    wished.iter().map(number).collect()
}

/// Servers on which more runs than they have.
fn overcommitted(cluster: &mut Cluster, used: &[Amounts]) {
    let is_over = |server: &Server, used: &Amounts| {
        let has = |r: &usize| server.capacity.get(r).unwrap_or(Rational::ZERO);
        server.closed.is_none() && used.iter().any(|(r, amount)| amount > has(r))
    };
    let servers = cluster.servers.entries().iter().zip(used);
    let over = servers.filter(|((_, server), used)| is_over(server, used)).map(|((name, _), _)| name.clone());
    let over: Vec<String> = over.collect();
    for name in over {
        cluster.left_out.add("servers on which more runs than they have", name);
    }
}
