//! The groups that stop a user in a given allocation.

use evenhand_problem::groups::ZeroWeight;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};

use super::allocate::{Settings, forest_of};
use super::levels::{LimitOnClasses, limits_on_classes};
use super::why::{StopKind, View, free_amounts};
use crate::error::MechanismError;
use evenhand_exact::tree::Holdings;
use evenhand_exact::tree::Leaf;

/// The fraction of a user's tasks alone in the cluster below which free capacity counts as 0, for an
/// allocation in floating point.
const ROUNDING: (u32, u32) = (1, 1_000_000_000);

/// Returns the reasons in its groups that stop user `n`, regardless of the free capacity on the classes. Such reasons
/// are limits, amounts kept back, and groups of weight 0 that get no more than their guarantee. The list is empty if
/// the user wants no more tasks.
///
/// # Errors
/// Returns a [`MechanismError`] in the same cases as [`allocate`](super::allocate()).
pub fn stops_of_groups(
    problem: &Problem,
    allocation: &Allocation,
    n: usize,
    settings: &Settings,
) -> Result<Vec<StopKind>, MechanismError> {
    let forest = forest_of(problem, settings)?;
    let holdings = Holdings::new(&forest, allocation.totals());
    let (left, on) = (free_amounts(problem, allocation), limits_on_classes(&forest, allocation));
    let view = View { forest: &forest, holdings: &holdings, allocation, left, on };
    let leaf = forest.nodes[forest.leaf(n)].leaf.as_ref();
    Ok(leaf.map(|leaf| view.stops_of_groups(leaf)).unwrap_or_default())
}

impl View<'_> {
    pub(super) fn limit(&self, v: usize, r: usize) -> StopKind {
        StopKind::Limit {
            group: self.forest.name(v).to_owned(),
            resource: self.forest.resources[r],
            most: self.most(v, r).cloned().unwrap_or_default(),
        }
    }

    /// Returns the reasons in its groups that stop a user, regardless of the free capacity on the classes. On
    /// single servers, capacity for less than a whole task counts as 0.
    fn stops_of_groups(&self, leaf: &Leaf) -> Vec<StopKind> {
        let Some(way) = self.holdings.way(self.forest, leaf) else { return Vec::new() };
        let never = self.forest.share.zero_weight == ZeroWeight::Never;
        let rounding = match self.allocation.arithmetic {
            Arithmetic::Exact => Rational::new(),
            Arithmetic::Float => self.problem().total_gamma(leaf.user) * Rational::from(ROUNDING),
        };
        let is_too_little = |room: &Rational| match self.allocation.placements {
            None => *room <= rounding,
            Some(_) => *room < 1,
        };
        let mut stops = Vec::new();
        let shut = |(v, is_below): &&(usize, bool)| {
            never && *v != 0 && self.forest.nodes[*v].weight.is_zero() && !is_below
        };
        stops.extend(
            way.nodes
                .iter()
                .filter(shut)
                .map(|(v, _)| StopKind::Weight { group: self.forest.name(*v).to_owned() }),
        );
        for (r, d) in &leaf.demand {
            for (v, room) in self.rooms(self.forest.leaf(leaf.user), *r) {
                // If no amount is kept back, the root is full only because the classes are full, which is not a reason
                // in the groups.
                let is_kept = v != 0 || self.holdings.running[0][*r] < self.holdings.used[0][*r];
                if is_kept && is_too_little(&(room / d)) {
                    stops.push(match v {
                        0 => StopKind::KeptBack { resource: self.forest.resources[*r] },
                        v => self.limit(v, *r),
                    });
                }
            }
        }
        let demand = |i: usize| self.problem().demand(leaf.user, i);
        // Class limits stop the user if each of its classes has a limit that is reached, or has too little of a
        // resource.
        let is_out = |i: &usize| {
            let lacks = |(r, d): &(usize, Rational)| is_too_little(&Rational::from(&self.left[*i][*r] / d));
            demand(*i).entries().iter().any(lacks)
        };
        let classes: Vec<usize> = self.problem().classes_of(leaf.user).filter(|i| !is_out(i)).collect();
        let own = self.of_user(leaf);
        let bars = |at: usize, i: usize| {
            self.on[at].room(demand(i), i, false).is_some_and(|room| is_too_little(&room))
        };
        if classes.iter().all(|i| own.iter().any(|at| bars(*at, *i))) {
            let acts = |at: &&usize| classes.iter().any(|i| bars(**at, *i));
            stops.extend(own.iter().filter(acts).map(|at| self.class_limit(*at)));
        }
        stops
    }

    pub(super) fn class_limit(&self, at: usize) -> StopKind {
        let LimitOnClasses { group, servers, resource, most, .. } = &self.on[at];
        StopKind::ClassLimit {
            group: self.forest.name(1 + *group).to_owned(),
            servers: servers.clone(),
            resource: *resource,
            most: most.clone(),
        }
    }

    /// Returns the limits on server classes that count tasks of a user.
    pub(super) fn of_user(&self, leaf: &Leaf) -> Vec<usize> {
        let (problem, n) = (self.problem(), leaf.user);
        let asks = |r: usize| problem.classes_of(n).any(|i| !problem.demand(n, i)[r].is_zero());
        let of = self.forest.class_limits.of(n);
        of.filter(|(_, limit)| asks(limit.resource)).map(|(at, _)| at).collect()
    }
}
