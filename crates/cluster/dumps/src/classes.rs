//! Server classes: servers on which the same tasks may run, and whose capacities are similar.
//!
//! Identical machines report slightly different amounts of memory. Servers whose capacities differ by at most
//! a given fraction become one class. The capacity of the class is the least amount of each resource among
//! its servers. A server joins a class only if the tasks that run on it fit into this capacity, so all
//! running tasks fit into the problem. The difference between the capacity of each server and that of its
//! class is recorded exactly.
//!
//! A waiting task may fit on a server, but not into the smaller capacity of its class. The servers on which
//! such a task fits then get classes of their own, whose capacity suffices for the task.

use std::collections::BTreeMap;

use evenhand_budget::{charge, operations, room, words_of_bits};
use evenhand_problem::groups::Named;
use rug::Rational;

use super::cluster::{Amounts, Cluster, Server, add};
use evenhand_import::Ordered;

/// The number of rounds in which servers whose tasks do not fit into their class are grouped again. After these rounds,
/// only equal servers form a class.
const ROUNDS: usize = 8;
/// The number of rounds in which servers are separated by the waiting tasks that fit on them. After these rounds, only
/// equal servers form a class.
const REFINEMENTS: usize = 8;
/// The memory of one amount of a class, in bytes.
const OF_AN_AMOUNT: u64 = 128;

/// The server classes of a cluster.
pub(super) struct Classes {
    pub list: Vec<Class>,
    /// The class of each server, and the index of the server in its class. `None` if the server is left out.
    pub of: Vec<Option<(usize, u64)>>,
    /// The positions of the resources of the problem.
    pub kept: Vec<usize>,
}

/// Servers that count as equal.
pub(super) struct Class {
    pub name: String,
    /// The servers, in the order of the dump.
    pub servers: Vec<usize>,
    /// The capacity of each server, by the position of the resource.
    pub capacity: Amounts,
    /// The profile of the servers. Rules allow or exclude a class by its profile.
    pub profile: usize,
    /// True if the servers take no new tasks.
    pub is_closed: bool,
}

/// True if a rule allows the servers of a profile; indexed by rule and then by profile.
pub(super) type Allowed = Vec<Vec<bool>>;

/// The largest fraction of its capacity that a server may lose by joining a class.
pub(super) type Part = Rational;

/// Groups the servers of a cluster into classes, and records the servers that are left out.
pub(super) fn classes(cluster: &mut Cluster, allowed: &Allowed, part: &Part) -> Classes {
    let used = used(cluster);
    let kept = kept(cluster, &used);
    let columns = columns(cluster, allowed);
    // Open servers of one column may become one class. Each closed server with tasks is a class of its own,
    // and so is each quota.
    let mut open: Vec<usize> = Vec::new();
    let mut found: Vec<(Vec<usize>, Amounts, bool)> = Vec::new();
    let has_no_tasks = cluster.tasks.entries().is_empty();
    let mut left_out = Vec::new();
    for (s, (name, server)) in cluster.servers.entries().iter().enumerate() {
        let runs = !used[s].is_empty();
        match server.closed {
            Some(_) if runs => {
                let capacity = kept.iter().map(|r| (*r, used[s].get(r).cloned().unwrap_or_default()));
                found.push((vec![s], capacity.collect(), true));
            }
            Some(why) => left_out.push((why, name.clone())),
            None if !runs && !has_no_tasks && !columns.is_asked[columns.of[server.profile]] => {
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

/// Returns the amounts that the running tasks of each server demand.
fn used(cluster: &Cluster) -> Vec<Amounts> {
    /// Additions of sums whose denominators have more bits than this are charged, because they are slow.
    const SHORT: u32 = 256;
    let mut used = vec![Amounts::new(); cluster.servers.entries().len()];
    let at: Vec<Option<usize>> =
        cluster.places.entries().iter().map(|(name, ())| cluster.servers.find(name)).collect();
    for (shape, tasks) in cluster.tasks.entries() {
        let demand: Amounts = shape.demand.iter().cloned().collect();
        charge((tasks.running.len() * (demand.len() + 1)) as u64, "the processing of the tasks of the dump");
        for (place, _) in &tasks.running {
            if let Some(s) = at[*place] {
                add(&mut used[s], &demand);
                for sum in demand.keys().filter_map(|r| used[s].get(r)) {
                    let bits = sum.denom().significant_bits();
                    if bits > SHORT {
                        operations(1, words_of_bits(bits.into()), "the processing of the tasks of the dump");
                    }
                }
            }
        }
    }
    used
}

/// Returns the positions of the resources of the problem, and records the other resources as left out. The
/// problem has three kinds of resources: resources that running tasks demand, resources that both a task
/// demands and a server has, and resources of servers that the system always includes.
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

/// Groups of profiles, called columns. Two profiles are in the same column if the same rules allow them.
struct Columns {
    /// The column of each profile.
    of: Vec<usize>,
    /// True if a rule of some task allows the profiles of the column; indexed by column.
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

/// The demands of waiting and admitted tasks. Each pair of a rule and a demand occurs once.
struct Waiting<'w> {
    allowed: &'w Allowed,
    /// Pairs of a rule and a demand.
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

    /// Returns the demands that fit on a server but not into the capacity of its class. Demands in
    /// `told_apart` are left out, because servers with and without free capacity for these demands are
    /// already in different classes.
    fn lost(
        &self,
        merging: &Merging<'_>,
        classes: &[(Vec<usize>, Amounts)],
        told_apart: &[&Named],
    ) -> Vec<&'w Named> {
        // All servers of such a class have its capacity, so no demand is lost.
        let rounded: Vec<(&Vec<usize>, &Amounts, Amounts)> = classes
            .iter()
            .filter(|(members, _)| members.len() > 1)
            .map(|(members, least)| (members, least, merging.most(members)))
            .filter(|(_, least, most)| *least != most)
            .collect();
        let comparisons: usize = self.demands.iter().map(|(_, demand)| demand.len() + 1).sum();
        charge((comparisons * rounded.len()) as u64, "the processing of the classes of waiting tasks");
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

/// The inputs for grouping servers into classes.
struct Merging<'m> {
    servers: &'m [(String, Server)],
    used: &'m [Amounts],
    kept: &'m [usize],
    part: &'m Part,
}

impl Merging<'_> {
    /// Groups open servers into classes. Servers of different columns are in different classes. Servers are also
    /// separated by the demands of `told_apart` that fit on them.
    fn merge_columns(
        &self,
        open: &[usize],
        columns: &Columns,
        told_apart: &[&Named],
    ) -> Vec<(Vec<usize>, Amounts)> {
        let mut similar: Ordered<(usize, Vec<bool>), Vec<usize>> = Ordered::default();
        charge((open.len() * (told_apart.len() + 1)) as u64, "the grouping of servers into classes");
        for s in open {
            let fits = told_apart.iter().map(|demand| self.fits(*s, demand)).collect();
            similar.value(&(columns.of[self.servers[*s].1.profile], fits), Vec::new).push(*s);
        }
        let mut classes = Vec::new();
        for (_, members) in similar.into_entries() {
            self.merge(members, ROUNDS, &mut |members, capacity| {
                let amounts = (classes.len() as u64 + 1) * self.kept.len() as u64;
                room(amounts * OF_AN_AMOUNT, "the table of server classes and resources");
                classes.push((members, capacity));
            });
        }
        classes
    }

    /// Returns `true` if a demand fits on a server without tasks.
    fn fits(&self, s: usize, demand: &Named) -> bool {
        let capacity = &self.servers[s].1.capacity;
        demand.iter().all(|(r, amount)| capacity.get(r).is_some_and(|has| amount <= has))
    }

    /// Groups servers into classes, and passes the members and the capacity of each class to `add`.
    fn merge(&self, members: Vec<usize>, rounds: usize, add: &mut impl FnMut(Vec<usize>, Amounts)) {
        let (none, exact) = (Rational::new(), rounds == 0);
        let part = if exact { &none } else { self.part };
        let mut rest = Vec::new();
        for bucket in self.buckets(members, part) {
            let capacity = self.least(&bucket);
            let (fits, mut others): (Vec<_>, Vec<_>) = bucket.into_iter().partition(|s| {
                // Equal servers form a class even if their tasks demand more than they have.
                part.is_zero() || self.used[*s].iter().all(|(r, used)| *used <= capacity[r])
            });
            if fits.is_empty() {
                others.into_iter().for_each(|s| add(vec![s], self.least(&[s])));
                continue;
            }
            rest.append(&mut others);
            // Without the servers whose tasks do not fit, the least amounts may be larger.
            let capacity = self.least(&fits);
            add(fits, capacity);
        }
        if !rest.is_empty() {
            rest.sort_unstable();
            self.merge(rest, rounds - 1, add);
        }
    }

    /// Splits servers into buckets whose members differ by at most the fraction `part` in each resource.
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

    /// Splits servers into buckets whose members differ by at most the fraction `part` in one resource.
    fn split(&self, members: Vec<usize>, r: usize, part: &Part, buckets: &mut Vec<Vec<usize>>) {
        if members.len() == 1 {
            return buckets.push(members);
        }
        let mut by_amount: BTreeMap<&Rational, Vec<usize>> = BTreeMap::new();
        charge(members.len() as u64 * 8, "the grouping of servers into classes");
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
                    // An amount a joins the bucket if a - least <= part * a.
                    let kept = Rational::from(1 - part);
                    most = Some(Rational::from(amount / &kept));
                    buckets.push(servers);
                }
            }
        }
        buckets[first..].iter_mut().for_each(|bucket| bucket.sort_unstable());
    }

    /// Returns the least amount of each resource.
    fn least(&self, members: &[usize]) -> Amounts {
        let of = |r: &usize| (*r, self.amounts(members, r).min().cloned().unwrap_or_default());
        self.kept.iter().map(of).collect()
    }

    /// Returns the largest amount of each resource.
    fn most(&self, members: &[usize]) -> Amounts {
        let of = |r: &usize| (*r, self.amounts(members, r).max().cloned().unwrap_or_default());
        self.kept.iter().map(of).collect()
    }

    fn amounts<'s>(&'s self, members: &[usize], r: &usize) -> impl Iterator<Item = &'s Rational> {
        members.iter().map(move |s| self.servers[*s].1.capacity.get(r).unwrap_or(Rational::ZERO))
    }
}

/// Returns the names of classes. A class of one server has the name of the server. Any other class has the
/// hint of its servers as its name, followed by a number if several classes would have the same name.
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
    // Names without a number are reserved first, so that no numbered name equals such a name.
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

/// Records the open servers whose tasks demand more than the capacity of the server.
fn overcommitted(cluster: &mut Cluster, used: &[Amounts]) {
    let is_over = |server: &Server, used: &Amounts| {
        let has = |r: &usize| server.capacity.get(r).unwrap_or(Rational::ZERO);
        server.closed.is_none() && used.iter().any(|(r, amount)| amount > has(r))
    };
    let servers = cluster.servers.entries().iter().zip(used);
    let over = servers.filter(|((_, server), used)| is_over(server, used)).map(|((name, _), _)| name.clone());
    let over: Vec<String> = over.collect();
    for name in over {
        cluster.left_out.add("servers whose tasks demand more than the servers have", name);
    }
}
