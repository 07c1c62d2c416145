//! The guarantees of groups, with subgroups added up, and the amounts that are kept back for them (docs/theory.md,
//! section 9).

use std::collections::BTreeMap;

use rug::Rational;

use crate::groups::Groups;
use crate::problem::Problem;
use crate::problem_error::Warning;
use crate::quantities::Named;

/// Guarantees and kept-back amounts of each group, for the resources that the group or its subgroups name.
#[derive(Debug, Clone, PartialEq)]
pub struct Promises {
    /// `G_v`: the guarantee that a group states, or else the sum of its subgroups' guarantees. `None` if neither
    /// exists.
    pub guarantee: Vec<Option<Named>>,
    /// `K_v`: the amount of the guarantee that is not lent, or the amount that is kept back for the subgroups
    /// if this amount is larger. Zeros are left out.
    pub kept: Vec<Named>,
}

impl Promises {
    /// Computes the guarantees of the groups. The memory is linear in the number of resources that groups and
    /// their ancestors name.
    #[must_use]
    pub fn new(groups: &Groups) -> Self {
        let list = groups.list();
        // Sums over the subgroups of each group: their guarantees, and the amounts that are kept back for them.
        let mut promised: Vec<Option<BTreeMap<usize, Rational>>> = vec![None; list.len()];
        let mut below: Vec<BTreeMap<usize, Rational>> = vec![BTreeMap::new(); list.len()];
        let mut promises = Self { guarantee: vec![None; list.len()], kept: vec![Named::new(); list.len()] };
        for v in groups.from_the_leaves() {
            let group = &list[v];
            let sum = promised[v].take().map(|sum| sum.into_iter().collect());
            let guarantee: Option<Named> = group.guarantee.clone().or(sum);
            let mut kept = std::mem::take(&mut below[v]);
            for (r, lent) in &group.lend {
                let own = amount(guarantee.as_ref(), *r).cloned().unwrap_or_default() - lent;
                let least = kept.entry(*r).or_default();
                if own > *least {
                    *least = own;
                }
            }
            kept.retain(|_, amount| !amount.is_zero());
            if let Some(parent) = group.parent {
                add(&mut below[parent], kept.iter().map(|(r, amount)| (*r, amount)));
                if let Some(guarantee) = &guarantee {
                    // A guarantee that names no resource also counts as stated.
                    let sum = promised[parent].get_or_insert_with(BTreeMap::new);
                    add(sum, guarantee.iter().map(|(r, amount)| (*r, amount)));
                }
            }
            promises.guarantee[v] = guarantee;
            promises.kept[v] = kept.into_iter().collect();
        }
        promises
    }

    /// Returns the guarantee of group `v` for resource `r`, or `None` if the guarantee does not name the
    /// resource.
    #[must_use]
    pub fn promised(&self, v: usize, r: usize) -> Option<&Rational> {
        amount(self.guarantee[v].as_ref(), r)
    }
}

impl Problem {
    /// Returns a warning for each guarantee that cannot be honoured. First come guarantees that together exceed the
    /// available amount, then guarantees that exceed the limits on some server classes.
    pub(crate) fn promises_not_kept(&self) -> Vec<Warning> {
        if self.groups().list().is_empty() {
            return Vec::new();
        }
        let promises = Promises::new(self.groups());
        let mut found = self.broken_promises(&promises);
        found.extend(self.limited_promises(&promises));
        found
    }

    /// Returns a warning for each group whose subgroups have larger guarantees together than the group
    /// itself. Also returns a warning if all groups together have guarantees above the capacity.
    fn broken_promises(&self, promises: &Promises) -> Vec<Warning> {
        let list = self.groups().list();
        let mut sums: Vec<BTreeMap<usize, Rational>> = vec![BTreeMap::new(); list.len() + 1];
        for (group, guarantee) in list.iter().zip(&promises.guarantee) {
            let above = group.parent.unwrap_or(list.len());
            add(&mut sums[above], guarantee.iter().flatten().map(|(r, amount)| (*r, amount)));
        }
        let mut broken = Vec::new();
        for (v, sums) in sums.into_iter().enumerate() {
            let group = list.get(v);
            for (r, promised) in sums {
                let available = match group {
                    Some(_) => promises.promised(v, r).cloned(),
                    // A resource that no server has is ignored everywhere.
                    None => Some(self.total_capacity()[r].clone()).filter(|capacity| !capacity.is_zero()),
                };
                broken.extend(available.filter(|most| promised > *most).map(|available| {
                    let group = group.map(|group| group.name.clone());
                    Warning::BrokenPromise {
                        group,
                        resource: self.resources()[r].clone(),
                        promised,
                        available,
                    }
                }));
            }
        }
        broken
    }

    /// Returns a warning for each group whose guarantee exceeds its limit on some server classes plus the capacity of
    /// all other classes.
    fn limited_promises(&self, promises: &Promises) -> Vec<Warning> {
        let mut limited = Vec::new();
        for (v, group) in self.groups().list().iter().enumerate() {
            for (on, r, most) in
                group.on.iter().flat_map(|on| on.limit.iter().map(move |(r, most)| (on, *r, most)))
            {
                let has = |i: &usize| {
                    let class = &self.servers()[*i];
                    Rational::from(&class.capacity()[r] * class.count())
                };
                let there: Rational = on.servers.iter().map(has).sum();
                let elsewhere = Rational::from(&self.total_capacity()[r] - &there);
                let available = elsewhere + most;
                let promised = promises.promised(v, r).filter(|promised| **promised > available);
                limited.extend(promised.map(|promised| Warning::LimitedPromise {
                    group: group.name.clone(),
                    servers: self.class_names(&on.servers),
                    resource: self.resources()[r].clone(),
                    promised: promised.clone(),
                    available,
                }));
            }
        }
        limited
    }
}

fn add<'a>(sum: &mut BTreeMap<usize, Rational>, amounts: impl Iterator<Item = (usize, &'a Rational)>) {
    amounts.for_each(|(r, amount)| *sum.entry(r).or_default() += amount);
}

fn amount(amounts: Option<&Named>, r: usize) -> Option<&Rational> {
    let amounts = amounts?;
    amounts.binary_search_by_key(&r, |(of, _)| *of).ok().map(|at| &amounts[at].1)
}
