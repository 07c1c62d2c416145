//! The usage of the nodes, and the users that may grow.

use evenhand_problem::Rational;
use evenhand_problem::groups::ZeroWeight;

use super::amount::Amount;
use super::forest::{Forest, Leaf};
use super::shared::Shared;

/// Amounts of each node and resource. From one state to the next, only few of them change.
pub type Amounts<N = Rational> = Vec<Shared<Vec<N>>>;

/// The usage of every node for given numbers of tasks.
#[derive(Clone)]
pub struct Holdings<N = Rational> {
    /// The capacity of each resource, which is the limit of the root.
    pub capacity: Vec<Rational>,
    /// The tasks of each user.
    pub tasks: Vec<N>,
    /// For each node, the usage `X_v` of the users below it, by their base demands.
    pub running: Amounts<N>,
    /// For each node, the usage `U_v`: the usage of its users, and the additional amounts that are kept back for its
    /// children.
    pub used: Amounts<N>,
}

/// A record of the amounts of a user and of the nodes above it: `(node, resource, running, used)`.
pub struct Saved {
    user: usize,
    tasks: Rational,
    amounts: Vec<(usize, usize, Rational, Rational)>,
}

/// The nodes above a user that lacks tasks.
pub struct Way {
    /// The nodes above the user, from its parent up. Each has true if the user is below the guarantee of the node.
    pub nodes: Vec<(usize, bool)>,
    /// True if the user may not grow.
    pub is_stopped: bool,
}

impl<N: Amount> Holdings<N> {
    /// Computes the usage of the nodes. `tasks` are the tasks of each user.
    #[must_use]
    pub fn new(forest: &Forest<'_>, tasks: Vec<N>) -> Self {
        let zeros = Shared::new(vec![N::default(); forest.resources.len()]);
        let mut running: Amounts<N> = vec![zeros; forest.nodes.len()];
        let mut used = running.clone();
        for v in forest.upwards() {
            if let Some(leaf) = &forest.nodes[v].leaf {
                for (r, d) in &leaf.demand {
                    running[v][*r] = tasks[leaf.user].times(d);
                }
                used[v] = running[v].clone();
            }
            let Some(parent) = forest.nodes[v].parent else { continue };
            for (r, kept) in forest.nodes[v].kept.iter().enumerate() {
                let (of, held) = (running[v][r].clone(), used[v][r].clone());
                running[parent][r].add(&of);
                let is_past = kept.is_zero() || held.cmp_to(kept).is_ge();
                used[parent][r].add(&if is_past { held } else { N::from(kept.clone()) });
            }
        }
        Self { capacity: forest.capacity.clone(), tasks, running, used }
    }

    /// Returns true if more usage of a node raises the usage of its parent. It does not if the node stays within the
    /// amount that is kept back for it.
    pub fn passes(&self, forest: &Forest<'_>, v: usize, r: usize) -> bool {
        let kept = &forest.nodes[v].kept[r];
        kept.is_zero() || self.used[v][r].cmp_to(kept).is_ge()
    }

    /// Returns the nodes above a user, each with true if the user is below the guarantee of the node. Also returns
    /// whether a limit, a guarantee that it may not exceed, or a used-up resource stops the user. Returns `None` for a
    /// user that has all its tasks or can run on no class.
    pub fn way(&self, forest: &Forest<'_>, leaf: &Leaf) -> Option<Way> {
        let has_all = leaf.tasks.as_ref().is_some_and(|tasks| self.tasks[leaf.user].cmp_to(tasks).is_ge());
        if has_all || !leaf.is_able {
            return None;
        }
        let mut is_stopped = leaf.is_barred;
        // For each demanded resource, true if one more task raises the usage of node `v`.
        let mut grows = vec![true; leaf.demand.len()];
        let mut way = Vec::new();
        for v in forest.above(forest.leaf(leaf.user)) {
            let node = &forest.nodes[v];
            let most = |r: usize| match v {
                0 => Some(&self.capacity[r]).filter(|_| forest.is_bounded[r]),
                _ => node.limit[r].as_ref(),
            };
            let is_full = |(r, _): &(usize, Rational)| {
                most(*r).is_some_and(|most| self.used[v][*r].cmp_to(most).is_ge())
            };
            // The amounts kept back can exceed the capacity, but running tasks cannot.
            let no_room = |(r, _): &(usize, Rational)| {
                v == 0 && forest.is_plain[*r] && self.running[0][*r].cmp_to(&self.capacity[*r]).is_ge()
            };
            is_stopped |= leaf
                .demand
                .iter()
                .zip(&grows)
                .any(|(asked, grows)| *grows && is_full(asked) || no_room(asked));
            let is_below = v != 0 && self.is_below(forest, v, leaf, &grows);
            let never = forest.share.zero_weight == ZeroWeight::Never;
            is_stopped |= never && v != 0 && node.weight.is_zero() && !is_below;
            way.push((v, is_below));
            for ((r, _), grows) in leaf.demand.iter().zip(&mut grows) {
                *grows = *grows && self.passes(forest, v, *r);
            }
        }
        Some(Way { nodes: way, is_stopped })
    }

    /// Returns true if a user may grow within the guarantee of a node. Each demanded resource that the guarantee names
    /// must satisfy one of two conditions. Either its usage is below the guarantee, or the guarantee is positive and
    /// the growth of the user does not raise the usage.
    fn is_below(&self, forest: &Forest<'_>, v: usize, leaf: &Leaf, grows: &[bool]) -> bool {
        let Some(guarantee) = &forest.nodes[v].guarantee else { return false };
        let mut names_any = false;
        for ((r, _), grows) in leaf.demand.iter().zip(grows) {
            let Some(promised) = &guarantee[*r] else { continue };
            names_any = true;
            let is_there = self.used[v][*r].cmp_to(promised).is_lt() || (!grows && !promised.is_zero());
            if !is_there {
                return false;
            }
        }
        names_any
    }
}

impl Holdings {
    /// Adds started tasks of user `n`, or removes ended tasks if the number is negative.
    pub fn add(&mut self, forest: &Forest<'_>, n: usize, tasks: &Rational) {
        let own = forest.leaf(n);
        let Some(leaf) = &forest.nodes[own].leaf else { return };
        self.tasks[n] += tasks;
        for (r, d) in &leaf.demand {
            let more = Rational::from(d * tasks);
            let mut held = more.clone();
            for v in std::iter::once(own).chain(forest.above(own)) {
                self.running[v][*r] += &more;
                let kept = &forest.nodes[v].kept[*r];
                let used = &mut self.used[v][*r];
                // An amount kept back for a node counts as usage of its parent, even if the node does not use it.
                let was_past = *used >= *kept;
                *used += &held;
                held = match (was_past, *used >= *kept) {
                    (true, true) => held,
                    (false, true) => Rational::from(&*used - kept),
                    (true, false) => held - Rational::from(&*used - kept),
                    (false, false) => Rational::new(),
                };
            }
        }
    }

    /// Returns the amounts that [`Holdings::add`] would change. [`Holdings::put_back`] restores them.
    pub fn of(&self, forest: &Forest<'_>, n: usize) -> Saved {
        let own = forest.leaf(n);
        let asked = forest.nodes[own].leaf.iter().flat_map(|leaf| &leaf.demand).map(|(r, _)| *r);
        let path = || std::iter::once(own).chain(forest.above(own));
        let amounts = asked.flat_map(|r| path().map(move |v| (v, r)));
        let amounts = amounts.map(|(v, r)| (v, r, self.running[v][r].clone(), self.used[v][r].clone()));
        Saved { user: n, tasks: self.tasks[n].clone(), amounts: amounts.collect() }
    }

    /// Restores the amounts that [`Holdings::of`] returned.
    pub fn put_back(&mut self, saved: Saved) {
        self.tasks[saved.user] = saved.tasks;
        for (v, r, running, used) in saved.amounts {
            self.running[v][r] = running;
            self.used[v][r] = used;
        }
    }
}
