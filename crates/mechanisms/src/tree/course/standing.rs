//! The children of a node that may grow, and whether they are below their guarantees. The computation does
//! not visit all users.

use std::rc::Rc;

use evenhand_exact::tree::Ways;

use super::Course;

/// The standing of a child with users that may grow.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Standing {
    /// The nodes that restrict the growth below the child. Only users below the guarantees of all these nodes
    /// grow.
    pub within: Rc<[usize]>,
    /// For each resource that users below the child's own guarantee demand, one such user. The list is empty
    /// if the child is above its guarantee.
    pub below: Vec<usize>,
}

impl Standing {
    pub fn is_above_guarantee(&self) -> bool {
        self.below.is_empty()
    }
}

/// The last result of [`Course::standing_of`] for a child.
#[derive(Default, Clone)]
pub(super) struct KnownStanding {
    within: Rc<[usize]>,
    /// The result, or `None` before the first call and after [`KnownStanding::forget`].
    found: Option<Option<Rc<Standing>>>,
}

impl KnownStanding {
    /// Discards the result, since the way (the nodes above) of a user below the child has changed.
    pub fn forget(&mut self) {
        self.found = None;
    }
}

/// The users below a node that demand each resource. The last user of each list may grow and is below the
/// guarantees of all nodes in `within`.
///
/// Users are only removed and never added. Used amounts only grow, so no user falls below a guarantee again,
/// and no stopped user may grow again.
#[derive(Default, Clone)]
pub(super) struct RequestingUsers {
    within: Rc<[usize]>,
    users: Option<Vec<Vec<usize>>>,
}

/// Returns whether a user may grow and is below the guarantees of all nodes in `within`.
fn is_within(ways: &Ways, n: usize, within: &[usize]) -> bool {
    ways[n].as_ref().is_some_and(|way| within.iter().all(|v| way.contains(&(*v, true))))
}

impl Course<'_> {
    /// Returns the standing of a child if only users below the guarantees of all nodes in `within` may grow.
    /// Returns `None` if no user below the child may grow.
    pub(super) fn standing_of(&mut self, k: usize, within: &Rc<[usize]>) -> Option<Rc<Standing>> {
        let known = &self.standings[k];
        if known.within != *within || known.found.is_none() {
            let found = Some(self.compute_standing(k, within).map(Rc::new));
            self.standings[k] = KnownStanding { within: within.clone(), found };
        }
        self.standings[k].found.clone().flatten()
    }

    fn compute_standing(&mut self, k: usize, within: &Rc<[usize]>) -> Option<Standing> {
        if self.forest.guarantees_first && self.forest.nodes[k].guarantee.is_some() {
            let within: Rc<[usize]> = within.iter().copied().chain([k]).collect();
            let below = self.requesting_users(k, &within, 0);
            if !below.is_empty() {
                return Some(Standing { within, below });
            }
        }
        let is_any = !self.requesting_users(k, within, 1).is_empty();
        is_any.then(|| Standing { within: within.clone(), below: Vec::new() })
    }

    /// Returns one user for each resource that users below the node demand, among the users that may grow and are below
    /// the guarantees of all nodes in `within`.
    fn requesting_users(&mut self, k: usize, within: &Rc<[usize]>, which: usize) -> Vec<usize> {
        let forest = self.forest;
        let requesting = &mut self.requesting[k][which];
        if requesting.within != *within {
            *requesting = RequestingUsers { within: within.clone(), users: None };
        }
        let ways = &self.ways;
        let users = requesting.users.get_or_insert_with(|| {
            let mut users = vec![Vec::new(); forest.resources.len()];
            for n in &self.below[k] {
                let leaf = forest.nodes[forest.leaf(*n)].leaf.as_ref();
                leaf.into_iter().flat_map(|leaf| &leaf.demand).for_each(|(r, _)| users[*r].push(*n));
            }
            users
        });
        for users in &mut *users {
            while users.pop_if(|n| !is_within(ways, *n, within)).is_some() {}
        }
        let mut some: Vec<usize> = users.iter().filter_map(|users| users.last().copied()).collect();
        some.dedup();
        some
    }
}
