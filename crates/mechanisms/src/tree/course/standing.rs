//! Which children of a node may grow, and whether they are below their guarantees: found without a look at every user.

use std::rc::Rc;

use evenhand_exact::tree::Ways;

use super::Course;

/// A child below which somebody may grow.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Standing {
    /// The users below it may grow who are below the guarantees of these nodes.
    pub within: Rc<[usize]>,
    /// Of those who are below its own guarantee, for each resource that they ask for somebody who does; nobody above it.
    pub below: Vec<usize>,
}

impl Standing {
    pub fn is_above_guarantee(&self) -> bool {
        self.below.is_empty()
    }
}

/// The last answer to [`Course::stands`] about a child.
#[derive(Default, Clone)]
pub(super) struct KnownStanding {
    within: Rc<[usize]>,
    /// Absent until somebody asks, and after [`KnownStanding::forget`].
    found: Option<Option<Rc<Standing>>>,
}

impl KnownStanding {
    /// A user below the child has another way now.
    pub fn forget(&mut self) {
        self.found = None;
    }
}

/// By resource the users below a node who ask for it. The last one may grow and is below the guarantees of these nodes.
///
/// What is used only grows, so that nobody comes to be below a guarantee or is let go on: who was taken away stays away.
#[derive(Default, Clone)]
pub(super) struct Asking {
    within: Rc<[usize]>,
    users: Option<Vec<Vec<usize>>>,
}

fn is_within(ways: &Ways, n: usize, within: &[usize]) -> bool {
    ways[n].as_ref().is_some_and(|way| within.iter().all(|v| way.contains(&(*v, true))))
}

impl Course<'_> {
    /// By what a child is to be compared when those below the guarantees of these nodes may grow; `None` where nobody below it
    /// may.
    pub(super) fn stands(&mut self, k: usize, within: &Rc<[usize]>) -> Option<Rc<Standing>> {
        let known = &self.standings[k];
        if known.within != *within || known.found.is_none() {
            let found = Some(self.find_standing(k, within).map(Rc::new));
            self.standings[k] = KnownStanding { within: within.clone(), found };
        }
        self.standings[k].found.clone().flatten()
    }

    fn find_standing(&mut self, k: usize, within: &Rc<[usize]>) -> Option<Standing> {
        if self.forest.guarantees_first && self.forest.nodes[k].guarantee.is_some() {
            let within: Rc<[usize]> = within.iter().copied().chain([k]).collect();
            let below = self.asking(k, &within, 0);
            if !below.is_empty() {
                return Some(Standing { within, below });
            }
        }
        let is_any = !self.asking(k, within, 1).is_empty();
        is_any.then(|| Standing { within: within.clone(), below: Vec::new() })
    }

    /// Of the users below a node who may grow and are below the guarantees of these, for each resource that they ask for one.
    fn asking(&mut self, k: usize, within: &Rc<[usize]>, which: usize) -> Vec<usize> {
        let forest = self.forest;
        let asking = &mut self.asking[k][which];
        if asking.within != *within {
            *asking = Asking { within: within.clone(), users: None };
        }
        let ways = &self.ways;
        let users = asking.users.get_or_insert_with(|| {
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
