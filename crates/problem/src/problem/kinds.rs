//! Classes of equal keys, and the shapes of users.

use std::hash::Hash;

use evenhand_budget::each;

use super::Problem;
use super::known::Known;

/// A partition of positions into kinds of equal keys. For example, users of one shape have the same demand on
/// every class and may use the same classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kinds {
    /// The kind of each position.
    pub of: Vec<u32>,
    /// The first position of each kind, in ascending order.
    pub first: Vec<usize>,
}

impl Kinds {
    /// Partitions `count` positions into kinds of equal keys. `key` computes the key of a position. It is
    /// called more than once for a position, and threads share most of these calls.
    pub fn new<K: Hash + Eq>(count: usize, key: impl Fn(usize) -> K + Sync) -> Self {
        let mut known = Known::default();
        let hashes = each(count, 1, |n| known.hash(&key(n)));
        let mut kinds = Self { of: Vec::with_capacity(count), first: Vec::new() };
        for (n, hash) in hashes.into_iter().enumerate() {
            let found = known.find(hash, |kind| key(kinds.first[kind]) == key(n));
            let kind = found.unwrap_or_else(|| {
                known.insert(hash, kinds.first.len());
                kinds.first.push(n);
                kinds.first.len() - 1
            });
            kinds.of.push(kind as u32);
        }
        kinds
    }
}

impl Problem {
    /// Returns the shapes of the users, in the order of the first user of each shape.
    #[must_use]
    pub fn shapes(&self) -> Kinds {
        // Equal addresses mean equal values, and comparing addresses takes less time than comparing numbers. Users
        // are grouped by address first, then the groups by value.
        let place = |n: usize| {
            let user = &self.users[n];
            let is_plain = user.demand_overrides.is_empty() && user.given_gamma.is_empty();
            let servers = user.servers.as_ref().map(|servers| servers.as_ptr() as usize);
            if is_plain { Ok((user.base_demand.entries().as_ptr() as usize, servers)) } else { Err(n) }
        };
        let mut shapes = Kinds::new(self.users.len(), place);
        let of_places = Kinds::new(shapes.first.len(), |at| {
            let user = &self.users[shapes.first[at]];
            (&user.base_demand, &user.servers, &user.demand_overrides, &user.given_gamma)
        });
        shapes.of.iter_mut().for_each(|at| *at = of_places.of[*at as usize]);
        shapes.first = of_places.first.iter().map(|at| shapes.first[*at]).collect();
        shapes
    }
}
