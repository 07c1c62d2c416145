//! The promises of one resource that can be kept, written from docs/promises.md. The largest amount of claims
//! that can be met at once is a least value over all sets of server classes. The value of a set is the
//! capacity of its servers, plus the amount that limits leave to claims that may use other servers. This file
//! tries all sets. The engine computes a flow instead.

use std::collections::BTreeSet;

use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Problem, Promises, Rational};

/// A claim to capacity: the group, and the amount that it claims.
pub type Claim = (usize, Rational);

/// The promises of one resource, under rules that add up the guarantees of subgroups.
pub struct Promised<'s> {
    snapshot: &'s Snapshot,
    r: usize,
    promises: Promises,
    /// The claims in ascending order of their groups.
    pub claims: Vec<Claim>,
}

impl<'s> Promised<'s> {
    /// Returns the promises of resource `r`.
    #[must_use]
    pub fn new(snapshot: &'s Snapshot, r: usize) -> Self {
        let promises = Promises::new(snapshot.problem.groups());
        let mut of = Self { snapshot, r, promises, claims: Vec::new() };
        for v in 0..of.problem().groups().list().len() {
            let below: Rational = of.children(v).into_iter().map(|k| of.claimed(k)).sum();
            let own = of.promise(v) - below;
            if own > 0 {
                of.claims.push((v, own));
            }
        }
        of
    }

    fn problem(&self) -> &'s Problem {
        &self.snapshot.problem
    }

    fn children(&self, v: usize) -> Vec<usize> {
        let list = self.problem().groups().list();
        (0..list.len()).filter(|k| list[*k].parent == Some(v)).collect()
    }

    fn promise(&self, v: usize) -> Rational {
        self.promises.promised(v, self.r).cloned().unwrap_or_default()
    }

    /// Returns the sum of the claims of a group and of the groups below it.
    fn claimed(&self, v: usize) -> Rational {
        let below: Rational = self.children(v).into_iter().map(|k| self.claimed(k)).sum();
        self.promise(v).max(below)
    }

    /// Returns the amount of the resource that the servers of a class have.
    fn capacity(&self, i: usize) -> Rational {
        let class = &self.problem().servers()[i];
        let more: Rational = (self.snapshot.rounded.iter())
            .filter(|of| (of.server, of.resource) == (i, self.r))
            .map(|of| &of.in_all)
            .sum();
        Rational::from(&class.capacity()[self.r] * class.count()) + more
    }

    /// Returns the classes that a claim of a group may use.
    fn classes(&self, v: usize) -> BTreeSet<usize> {
        let groups = self.problem().groups();
        let is_below = |n: &usize| groups.above(groups.member(*n).group).any(|of| of == v);
        let demands = |n: &usize| self.problem().users()[*n].base_demand()[self.r] > 0;
        let users: Vec<usize> = (0..self.problem().n_users()).filter(|n| is_below(n) && demands(n)).collect();
        if users.is_empty() {
            let is_open = |i: &usize| self.snapshot.closed.iter().all(|of| of.server != *i);
            return (0..self.problem().n_servers()).filter(is_open).collect();
        }
        users.into_iter().flat_map(|n| self.problem().classes_of(n)).collect()
    }

    /// Returns the largest sum of these claims that can be met at once. With `is_covered`, the claims below a
    /// group count at most up to the promise of the group.
    #[must_use]
    pub fn together(&self, claims: &[usize], is_covered: bool) -> Rational {
        let classes = self.problem().n_servers();
        let sets = (0..1_u32 << classes).map(|set| (0..classes).filter(|i| set >> i & 1 == 1).collect());
        let of = |full: BTreeSet<usize>| {
            let there: Rational = full.iter().map(|i| self.capacity(*i)).sum();
            let list = self.problem().groups().list();
            let roots = (0..list.len()).filter(|v| list[*v].parent.is_none());
            there + roots.map(|v| self.beyond(v, claims, is_covered, &full)).sum::<Rational>()
        };
        sets.map(of).min().unwrap_or_default()
    }

    /// Returns the largest amount that claims below a group can get on servers outside of the set `full`.
    fn beyond(&self, v: usize, claims: &[usize], is_covered: bool, full: &BTreeSet<usize>) -> Rational {
        let below = self.children(v);
        let mut sum: Rational = below.iter().map(|k| self.beyond(*k, claims, is_covered, full)).sum();
        let own = claims.iter().map(|k| &self.claims[*k]).find(|(of, _)| *of == v);
        sum += own.map(|(_, amount)| amount.clone().min(self.of_claim(v, full))).unwrap_or_default();
        let group = &self.problem().groups().list()[v];
        let limit = group.limit.iter().find(|(of, _)| *of == self.r).map(|(_, most)| most.clone());
        let cover = (is_covered && !below.is_empty()).then(|| self.promise(v));
        [Some(sum), limit, cover].into_iter().flatten().min().unwrap_or_default()
    }

    /// Returns the largest amount that the claim of a group could get on servers outside of the set `full`,
    /// by limits on classes alone.
    fn of_claim(&self, v: usize, full: &BTreeSet<usize>) -> Rational {
        let capacity: Rational = (0..self.problem().n_servers()).map(|i| self.capacity(i)).sum();
        let much = capacity + self.claimed(v) + 1;
        let is_counted = self.children(v).is_empty() && self.limits_are_disjoint(v);
        let mut left: BTreeSet<usize> =
            self.classes(v).into_iter().filter(|i| self.capacity(*i) > 0 && !full.contains(i)).collect();
        let mut sum = Rational::new();
        for (servers, most) in self.limits_on(v).into_iter().filter(|_| is_counted) {
            if servers.iter().any(|i| left.remove(i)) {
                servers.iter().for_each(|i| _ = left.remove(i));
                sum += most;
            }
        }
        if left.is_empty() { sum } else { much }
    }

    /// Returns the limits of a group on classes whose amount is below the promise of the group.
    fn limits_on(&self, v: usize) -> Vec<(&'s [usize], Rational)> {
        let mut limits = Vec::new();
        for on in &self.problem().groups().list()[v].on {
            for (_, most) in on.limit.iter().filter(|(of, most)| *of == self.r && *most < self.claimed(v)) {
                limits.push((on.servers.as_slice(), most.clone()));
            }
        }
        limits
    }

    fn limits_are_disjoint(&self, v: usize) -> bool {
        let mut seen = BTreeSet::new();
        self.limits_on(v).into_iter().flat_map(|(servers, _)| servers).all(|i| seen.insert(*i))
    }

    /// Returns `true` if the computation takes into account all limits on classes of groups with promises.
    #[must_use]
    pub fn counts_all(&self) -> bool {
        let counts = |v: usize| {
            self.limits_on(v).is_empty() || (self.children(v).is_empty() && self.limits_are_disjoint(v))
        };
        (0..self.problem().groups().list().len()).all(counts)
    }
}
