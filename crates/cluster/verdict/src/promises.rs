//! The promises (guarantees) of queues next to the amounts that exist: which promises can be kept in any case, and the amounts
//! that queues get if all of them claim their promises at once. The definitions are in docs/promises.md.
//!
//! Every resource is judged on its own, in divisible amounts. A largest flow from the queues to the servers that they may use
//! says how much of the promises can be kept at once. A smallest cut names the promises and the servers or the limit that do not
//! fit together.

mod claim_problem;
mod network;

use std::collections::{BTreeMap, BTreeSet};

use evenhand_mechanisms::tree::{PerResource, Rule};
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{On, Problem, Promises, Rational, ServerClass};

use crate::error::ClusterError;
use network::Network;

/// The promises of all queues.
#[derive(Debug, Clone, PartialEq)]
pub struct Claims {
    /// The rule by which queues are served if all of them claim their promises. `None` for the problem's own
    /// share.
    pub rule: Option<Rule>,
    /// The resources with at least one promise.
    pub resources: Vec<OfResource>,
}

/// The promises of one resource.
#[derive(Debug, Clone, PartialEq)]
pub struct OfResource {
    /// The resource.
    pub resource: usize,
    /// The sum of all claims, which is the promised amount.
    pub promised: Rational,
    /// The amount that all servers have, without the rounding of server classes.
    pub capacity: Rational,
    /// The largest sum of claims that servers and limits can meet at once.
    pub together: Rational,
    /// The claims, in the order of their groups.
    pub claims: Vec<Claim>,
    /// The reasons why some promises are in doubt.
    pub shortages: Vec<Shortage>,
    /// The groups with limits on server classes that are not counted. These limits overlap, or their group
    /// has subgroups.
    pub not_counted: Vec<usize>,
    /// A user whose tasks take another amount on some server class than its queues count. The amounts are
    /// then not comparable.
    pub differs: Option<usize>,
    /// The reason why the amounts by the rule have no certificate. `None` if they have a certificate.
    pub uncertified: Option<&'static str>,
}

/// The promise of a queue without subqueues, or the part of a queue's promise that its subqueues are not promised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The group.
    pub group: usize,
    /// True if the group has subqueues with promises, which this claim does not contain.
    pub is_rest: bool,
    /// The promised amount.
    pub amount: Rational,
    /// The amount that is left for the claim even if all other promises are served first.
    pub certain: Rational,
    /// The amount that the claim gets by the rule if all queues claim their promises at once, and nothing
    /// else.
    pub by_rule: Rational,
}

/// A reason why promises cannot all be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shortage {
    /// The servers that some queues may use have less capacity than these queues are promised.
    Servers {
        /// The claims, as positions in [`OfResource::claims`].
        claims: Vec<usize>,
        /// The server classes that these queues may use.
        classes: Vec<usize>,
        /// The sum of the claims.
        claimed: Rational,
        /// The capacity of these servers.
        capacity: Rational,
        /// The groups with limits on further server classes, each with the amount of the limit.
        limits: Vec<(usize, Rational)>,
    },
    /// The queues below a group are promised more than the limit of the group.
    Limit {
        /// The group.
        group: usize,
        /// The sum of the claims below the group. The claims below each subgroup count at most up to the
        /// limit of that subgroup.
        claimed: Rational,
        /// The limit of the group.
        most: Rational,
    },
    /// The queues below a group are promised more than the group itself. Other groups may claim the
    /// difference.
    Parent {
        /// The group.
        group: usize,
        /// The sum of the claims below the group.
        claimed: Rational,
        /// The promise of the group.
        promised: Rational,
    },
}

impl Shortage {
    /// Returns the amount by which the promises exceed the capacity, the limit, or the promise of the group.
    #[must_use]
    pub fn missing(&self) -> Rational {
        match self {
            Self::Servers { claimed, capacity, limits, .. } => {
                Rational::from(claimed - capacity) - limits.iter().map(|(_, most)| most).sum::<Rational>()
            }
            Self::Limit { claimed, most, .. } => Rational::from(claimed - most),
            Self::Parent { claimed, promised, .. } => Rational::from(claimed - promised),
        }
    }
}

impl Claim {
    /// Returns `true` if the promise is in doubt. It is in doubt if other promises can leave less than the
    /// promised amount.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.certain < self.amount
    }
}

impl Claims {
    /// Judges the promises of a snapshot. The rule decides which guarantees are promises, and which queues
    /// are served first.
    ///
    /// # Errors
    /// [`ClusterError`] if the amounts by the rule cannot be computed.
    pub fn new(snapshot: &Snapshot, rule: Option<Rule>) -> Result<Self, ClusterError> {
        let promised = Promised::new(&snapshot.problem, rule);
        let of = |r: usize| OfResource::new(snapshot, rule, &promised, r).transpose();
        let resources = (0..snapshot.problem.n_resources()).filter_map(of).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { rule, resources })
    }

    /// Returns the claims that are in doubt, with their resources.
    pub fn in_doubt(&self) -> impl Iterator<Item = (usize, &Claim)> {
        self.resources
            .iter()
            .flat_map(|of| of.claims.iter().map(|claim| (of.resource, claim)))
            .filter(|(_, claim)| claim.is_in_doubt())
    }
}

/// The promises of groups under a rule.
struct Promised<'p> {
    problem: &'p Problem,
    rule: Option<Rule>,
    sums: Promises,
    children: Vec<Vec<usize>>,
}

impl<'p> Promised<'p> {
    fn new(problem: &'p Problem, rule: Option<Rule>) -> Self {
        let list = problem.groups().list();
        let mut children = vec![Vec::new(); list.len()];
        for (v, group) in list.iter().enumerate() {
            if let Some(parent) = group.parent {
                children[parent].push(v);
            }
        }
        Self { problem, rule, sums: Promises::new(problem.groups()), children }
    }

    /// Returns the promise of a group. Rules that divide every resource alone do not add up the guarantees of
    /// subgroups. Under Volcano's `proportion`, the promise is only the amount that the group does not lend.
    fn of(&self, v: usize, r: usize) -> Option<Rational> {
        let Some(rule) = self.rule.and_then(Rule::per_resource) else {
            return self.sums.promised(v, r).cloned();
        };
        let group = &self.problem.groups().list()[v];
        let named = |list: &[(usize, Rational)]| list.iter().find(|(of, _)| *of == r).map(|(_, a)| a.clone());
        let stated = group.guarantee.as_deref().and_then(named);
        match (rule, named(&group.lend)) {
            (PerResource::Volcano, Some(lent)) => stated.map(|stated| (stated - lent).max(Rational::new())),
            _ => stated,
        }
    }

    fn limit(&self, v: usize, r: usize) -> Option<&Rational> {
        self.problem.groups().list()[v].limit.iter().find(|(of, _)| *of == r).map(|(_, most)| most)
    }

    /// Returns the claims on a resource as `(group, is_rest, amount)`, and for each group the sum of the
    /// claims below it.
    fn claims(&self, r: usize) -> (Vec<(usize, bool, Rational)>, Vec<Rational>) {
        let groups = self.problem.groups();
        let mut below = vec![Rational::new(); groups.list().len()];
        let mut claims = Vec::new();
        for v in groups.from_the_leaves() {
            let sum = below[v].clone();
            let promise = self.of(v, r).unwrap_or_default();
            if promise > sum {
                claims.push((v, sum > 0, Rational::from(&promise - &sum)));
                below[v] = promise;
            }
            if let Some(parent) = groups.list()[v].parent {
                let own = below[v].clone();
                below[parent] += own;
            }
        }
        claims.sort_by_key(|(v, ..)| *v);
        (claims, below)
    }
}

/// Server classes that count as one class, because the same claims and limits may use them.
#[derive(Debug, Clone)]
struct Pool {
    classes: Vec<usize>,
    capacity: Rational,
}

/// A limit of a group on some pools.
#[derive(Debug, Clone)]
struct OnPools {
    claim: usize,
    pools: Vec<usize>,
    most: Rational,
}

impl OfResource {
    /// Returns the promises of a resource. Returns `None` if no queue is promised any of it.
    fn new(
        snapshot: &Snapshot,
        rule: Option<Rule>,
        promised: &Promised<'_>,
        r: usize,
    ) -> Result<Option<Self>, ClusterError> {
        let (stated, below) = promised.claims(r);
        if stated.is_empty() {
            return Ok(None);
        }
        let capacity = capacities(snapshot, r);
        let (pools, usable, on, not_counted) = pools(snapshot, promised, r, &stated, &below, &capacity);
        let physical = Flow::new(promised, r, &stated, &pools, &usable, &on, false);
        let covered = Flow::new(promised, r, &stated, &pools, &usable, &on, true);
        let all: Rational = stated.iter().map(|(.., amount)| amount).sum();
        let mut shortages = physical.shortages(&stated, &pools, &usable, &on);
        shortages.extend(by_groups(promised, r, &stated));
        let certain = |k: usize| covered.certain(k);
        let mut claims: Vec<Claim> = stated
            .iter()
            .enumerate()
            .map(|(k, (group, is_rest, amount))| Claim {
                group: *group,
                is_rest: *is_rest,
                amount: amount.clone(),
                certain: certain(k),
                by_rule: amount.clone(),
            })
            .collect();
        let mut uncertified = None;
        if !shortages.is_empty() {
            let found = claim_problem::served(promised.problem, rule, r, &claims, &pools, &usable)?;
            claims.iter_mut().zip(found.amounts).for_each(|(claim, amount)| claim.by_rule = amount);
            uncertified = found.uncertified;
        }
        Ok(Some(Self {
            resource: r,
            promised: all,
            capacity: capacity.iter().sum(),
            together: physical.total,
            claims,
            shortages,
            not_counted,
            differs: (0..promised.problem.n_users()).find(|n| {
                let of = &promised.problem.users()[*n];
                let is_other = |i: usize| of.demand_on(i)[r] != of.base_demand()[r];
                promised.problem.classes_of(*n).any(is_other)
            }),
            uncertified,
        }))
    }
}

/// Returns the amount of a resource on the servers of each class, without rounding.
fn capacities(snapshot: &Snapshot, r: usize) -> Vec<Rational> {
    let class = |of: &ServerClass| Rational::from(&of.capacity()[r] * of.count());
    let mut capacities: Vec<Rational> = snapshot.problem.servers().iter().map(class).collect();
    for of in snapshot.rounded.iter().filter(|of| of.resource == r) {
        capacities[of.server] += &of.in_all;
    }
    capacities
}

/// Returns the server classes that each claim may use. A claim may use a class if some user below its group
/// demands the resource and may run on the class. If no user below the group demands the resource, all
/// classes that take new tasks count.
fn classes_of_claims(snapshot: &Snapshot, r: usize, claims: &[(usize, bool, Rational)]) -> Vec<Vec<bool>> {
    let problem = &snapshot.problem;
    let groups = problem.groups();
    let mut is_closed = vec![false; problem.n_servers()];
    snapshot.closed.iter().for_each(|of| is_closed[of.server] = true);
    let mut of_groups: BTreeMap<usize, Vec<bool>> = BTreeMap::new();
    for n in (0..problem.n_users()).filter(|n| !problem.users()[*n].base_demand()[r].is_zero()) {
        for v in groups.above(groups.member(n).group) {
            let may = of_groups.entry(v).or_insert_with(|| vec![false; problem.n_servers()]);
            problem.classes_of(n).for_each(|i| may[i] = true);
        }
    }
    let open: Vec<bool> = is_closed.iter().map(|is_closed| !is_closed).collect();
    claims.iter().map(|(v, ..)| of_groups.get(v).unwrap_or(&open).clone()).collect()
}

type Pools = (Vec<Pool>, Vec<Vec<usize>>, Vec<OnPools>, Vec<usize>);

/// Returns the pools, the pools that each claim may use, the limits on pools, and the groups whose limits on classes are not
/// counted.
fn pools(
    snapshot: &Snapshot,
    promised: &Promised<'_>,
    r: usize,
    claims: &[(usize, bool, Rational)],
    below: &[Rational],
    capacity: &[Rational],
) -> Pools {
    let list = snapshot.problem.groups().list();
    let may = classes_of_claims(snapshot, r, claims);
    let mut limits: Vec<(usize, &[usize], &Rational)> = Vec::new();
    let mut not_counted = Vec::new();
    for (v, group) in list.iter().enumerate().filter(|(v, _)| below[*v] > 0) {
        let is_tight = |(of, most): &&(usize, Rational)| *of == r && *most < below[v];
        let stated: Vec<&On> = group.on.iter().filter(|on| on.limit.iter().any(|of| is_tight(&of))).collect();
        if stated.is_empty() {
            continue;
        }
        let mut seen = BTreeSet::new();
        let is_disjoint = stated.iter().flat_map(|on| &on.servers).all(|i| seen.insert(*i));
        let claim = claims.iter().position(|(of, ..)| *of == v);
        match claim.filter(|_| is_disjoint && promised.children[v].is_empty()) {
            Some(k) => limits.extend(stated.iter().filter_map(|on| {
                let (_, most) = on.limit.iter().find(|(of, _)| *of == r)?;
                Some((k, on.servers.as_slice(), most))
            })),
            None => not_counted.push(v),
        }
    }
    // All limits on classes distinguish pools, because the rule counts all limits on classes.
    let all_limits: Vec<&[usize]> = list
        .iter()
        .flat_map(|group| &group.on)
        .filter(|on| on.limit.iter().any(|(of, _)| *of == r))
        .map(|on| on.servers.as_slice())
        .collect();
    let mut by_signature: BTreeMap<(Vec<usize>, Vec<usize>), Pool> = BTreeMap::new();
    for (i, capacity) in capacity.iter().enumerate().filter(|(_, capacity)| **capacity > 0) {
        let users: Vec<usize> = (0..claims.len()).filter(|k| may[*k][i]).collect();
        let on = (0..all_limits.len()).filter(|l| all_limits[*l].binary_search(&i).is_ok()).collect();
        if users.is_empty() {
            continue;
        }
        let pool = by_signature
            .entry((users, on))
            .or_insert_with(|| Pool { classes: Vec::new(), capacity: Rational::new() });
        pool.classes.push(i);
        pool.capacity += capacity;
    }
    let mut usable = vec![Vec::new(); claims.len()];
    let mut on: Vec<OnPools> = limits
        .iter()
        .map(|(claim, _, most)| OnPools { claim: *claim, pools: Vec::new(), most: (*most).clone() })
        .collect();
    let mut pools = Vec::new();
    for ((users, _), pool) in by_signature {
        users.iter().for_each(|k| usable[*k].push(pools.len()));
        for (of, (_, servers, _)) in on.iter_mut().zip(&limits) {
            if servers.binary_search(&pool.classes[0]).is_ok() {
                of.pools.push(pools.len());
            }
        }
        pools.push(pool);
    }
    (pools, usable, on, not_counted)
}

/// Returns the groups whose limit, or whose own promise, is below the promises of the queues in them.
fn by_groups(promised: &Promised<'_>, r: usize, claims: &[(usize, bool, Rational)]) -> Vec<Shortage> {
    let groups = promised.problem.groups();
    let mut sums = vec![Rational::new(); groups.list().len()];
    let mut capped = sums.clone();
    for (v, _, amount) in claims {
        sums[*v] += amount;
        capped[*v] += amount;
    }
    let mut shortages = Vec::new();
    for v in groups.from_the_leaves() {
        if let Some(most) = promised.limit(v, r).filter(|most| capped[v] > **most) {
            shortages.push(Shortage::Limit { group: v, claimed: capped[v].clone(), most: most.clone() });
            capped[v].clone_from(most);
        }
        if let Some(own) = promised.cover(v, r).filter(|own| sums[v] > *own) {
            shortages.push(Shortage::Parent { group: v, claimed: sums[v].clone(), promised: own });
        }
        if let Some(parent) = groups.list()[v].parent {
            let (sum, capped_sum) = (sums[v].clone(), capped[v].clone());
            sums[parent] += sum;
            capped[parent] += capped_sum;
        }
    }
    shortages
}

impl Promised<'_> {
    /// Returns the amount of the claims below a group that the group's own promise covers. Returns `None` for
    /// a group without subgroups, whose own promise is its claim.
    fn cover(&self, v: usize, r: usize) -> Option<Rational> {
        (!self.children[v].is_empty()).then(|| self.of(v, r).unwrap_or_default())
    }
}

/// A largest flow from claims to servers.
struct Flow {
    network: Network,
    total: Rational,
    /// The arc into the node of each claim, and the node from which the arc comes.
    into: Vec<(usize, usize)>,
    /// The node of the first claim.
    first_claim: usize,
    /// The node of the first pool.
    first_pool: usize,
}

impl Flow {
    /// Computes a largest flow within the limits. With `is_covered`, the flow also stays within the promises
    /// of the groups above each claim.
    fn new(
        promised: &Promised<'_>,
        r: usize,
        claims: &[(usize, bool, Rational)],
        pools: &[Pool],
        usable: &[Vec<usize>],
        on: &[OnPools],
        is_covered: bool,
    ) -> Self {
        let list = promised.problem.groups().list();
        let first_claim = 1 + list.len();
        let first_on = first_claim + claims.len();
        let first_pool = first_on + on.len();
        let sink = first_pool + pools.len();
        let mut network = Network::new(sink + 1);
        let node = |v: Option<usize>| v.map_or(0, |v| v + 1);
        for (v, group) in list.iter().enumerate() {
            let cover = promised.cover(v, r).filter(|_| is_covered);
            let most = promised.limit(v, r).cloned().into_iter().chain(cover).min();
            network.add(node(group.parent), node(Some(v)), most);
        }
        let mut into = Vec::with_capacity(claims.len());
        for (k, (v, _, amount)) in claims.iter().enumerate() {
            let above = node(Some(*v));
            into.push((network.add(above, first_claim + k, Some(amount.clone())), above));
        }
        let mut is_limited: Vec<Vec<usize>> = vec![Vec::new(); claims.len()];
        for (l, of) in on.iter().enumerate() {
            network.add(first_claim + of.claim, first_on + l, Some(of.most.clone()));
            for pool in of.pools.iter().filter(|pool| usable[of.claim].contains(pool)) {
                network.add(first_on + l, first_pool + pool, None);
                is_limited[of.claim].push(*pool);
            }
        }
        for (k, pools) in usable.iter().enumerate() {
            for pool in pools.iter().filter(|pool| !is_limited[k].contains(pool)) {
                network.add(first_claim + k, first_pool + pool, None);
            }
        }
        for (at, pool) in pools.iter().enumerate() {
            network.add(first_pool + at, sink, Some(pool.capacity.clone()));
        }
        let total = network.raise(0, sink);
        Self { network, total, into, first_claim, first_pool }
    }

    /// Returns the amount of a claim that all largest flows contain.
    fn certain(&self, k: usize) -> Rational {
        let (arc, above) = self.into[k];
        self.network.flow(arc) - self.network.can_shrink(above, arc)
    }

    /// Returns the sets of claims that exceed the capacity of the servers that they may use. These sets are
    /// the components of the smallest cut.
    fn shortages(
        &self,
        claims: &[(usize, bool, Rational)],
        pools: &[Pool],
        usable: &[Vec<usize>],
        on: &[OnPools],
    ) -> Vec<Shortage> {
        let is_short = self.network.reachable(0);
        let short: Vec<usize> = (0..claims.len()).filter(|k| is_short[self.first_claim + k]).collect();
        let mut component: Vec<Option<usize>> = vec![None; pools.len()];
        let mut parts: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for k in short {
            let own: Vec<usize> =
                usable[k].iter().copied().filter(|pool| is_short[self.first_pool + pool]).collect();
            let mut joined: Vec<usize> = own.iter().filter_map(|pool| component[*pool]).collect();
            joined.sort_unstable();
            joined.dedup();
            let at = joined.first().copied().unwrap_or_else(|| {
                parts.push((Vec::new(), Vec::new()));
                parts.len() - 1
            });
            for other in joined.into_iter().skip(1) {
                let (claims, pools) = std::mem::take(&mut parts[other]);
                pools.iter().for_each(|pool| component[*pool] = Some(at));
                parts[at].0.extend(claims);
                parts[at].1.extend(pools);
            }
            for pool in own {
                if component[pool].is_none() {
                    component[pool] = Some(at);
                    parts[at].1.push(pool);
                }
            }
            parts[at].0.push(k);
        }
        let mut shortages = Vec::new();
        for (mut of, own) in parts.into_iter().filter(|(of, _)| !of.is_empty()) {
            of.sort_unstable();
            let is_cut =
                |l: &usize| of.contains(&on[*l].claim) && !is_short[self.first_claim + claims.len() + l];
            let limits = (0..on.len()).filter(is_cut).map(|l| (claims[on[l].claim].0, on[l].most.clone()));
            let limits: Vec<(usize, Rational)> = limits.collect();
            let mut classes: Vec<usize> =
                own.iter().flat_map(|pool| pools[*pool].classes.iter().copied()).collect();
            classes.sort_unstable();
            let shortage = Shortage::Servers {
                claimed: of.iter().map(|k| &claims[*k].2).sum(),
                capacity: own.iter().map(|pool| &pools[*pool].capacity).sum(),
                claims: of,
                classes,
                limits,
            };
            if shortage.missing() > 0 {
                shortages.push(shortage);
            }
        }
        shortages
    }
}
