//! The choice of the user that is served next when the tree serves whole gangs, and the test whether a user may be
//! served.

use std::cmp::Ordering;

use evenhand_problem::Rational;
use evenhand_problem::groups::ZeroWeight;

use crate::filling::draw::Draw;
use crate::filling::rule::Ties;
use evenhand_exact::tree::{Forest, Holdings, Key, Leaf, Ways, by_child};

/// Returns the number of tasks that user `n` starts together.
pub fn gang(forest: &Forest<'_>, n: usize) -> u64 {
    forest.problem.groups().member(n).gang.unwrap_or(1)
}

/// Returns whether one more gang respects all limits above the user and the capacity.
pub fn is_within_limits(forest: &Forest<'_>, holdings: &Holdings, leaf: &Leaf) -> bool {
    let gang = Rational::from(gang(forest, leaf.user));
    let own = forest.leaf(leaf.user);
    leaf.demand.iter().all(|(r, d)| {
        let mut more = Rational::from(d * &gang);
        for v in forest.above(own) {
            let used = &holdings.used[v][*r];
            let is_root = v == 0 && forest.is_bounded[*r];
            if is_root && more > 0 && Rational::from(used + &more) > holdings.capacity[*r]
                || !is_allowed(forest, leaf, v, *r, used, &more)
            {
                return false;
            }
            // The amount kept back for the node already counts as usage of its parent.
            let kept = &forest.nodes[v].kept[*r];
            let after = Rational::from(used + &more);
            more = if after > *kept { after - used.max(kept) } else { Rational::new() };
        }
        true
    })
}

/// Returns whether a node may use `more` of a resource.
fn is_allowed(
    forest: &Forest<'_>,
    leaf: &Leaf,
    v: usize,
    r: usize,
    used: &Rational,
    more: &Rational,
) -> bool {
    let node = &forest.nodes[v];
    let after = Rational::from(used + more);
    if *more > 0 && node.limit[r].as_ref().is_some_and(|most| after > *most) {
        return false;
    }
    let never = forest.share.zero_weight == ZeroWeight::Never && v != 0 && node.weight.is_zero();
    if !never {
        return true;
    }
    let Some(guarantee) = &node.guarantee else { return false };
    let names_any = leaf.demand.iter().any(|(r, _)| guarantee[*r].is_some());
    let is_kept =
        guarantee[r].as_ref().is_none_or(|promised| *promised > 0 && (more.is_zero() || after <= *promised));
    names_any && is_kept
}

/// Returns the user that is served next among the users in `active`: from the root, the child with the least
/// key is chosen. `key_of` returns the key of a node, given the users that are below its guarantee.
pub fn pick(
    forest: &Forest<'_>,
    ways: &Ways,
    active: &[usize],
    ties: Ties,
    draw: &mut Draw,
    mut key_of: impl FnMut(usize, &[usize]) -> Key,
) -> usize {
    let (mut v, mut users) = (0, active.to_vec());
    loop {
        if let Some(leaf) = &forest.nodes[v].leaf {
            return leaf.user;
        }
        // All children with the least key, among which `ties` decides.
        let mut least: Option<Key> = None;
        let mut children: Vec<(usize, Vec<usize>)> = Vec::new();
        for (node, all, below) in by_child(forest, ways, v, &users) {
            let key = key_of(node, &below);
            let order = least.as_ref().map_or(Ordering::Less, |least| key.cmp(least));
            if order == Ordering::Greater {
                continue;
            }
            if order == Ordering::Less {
                children.clear();
                least = Some(key);
            }
            children.push((node, if below.is_empty() { all } else { below }));
        }
        children.sort_by_key(|(node, _)| *node);
        let at = match ties {
            Ties::Low => 0,
            Ties::High => children.len() - 1,
            Ties::Random => draw.position(children.len()),
        };
        (v, users) = children.swap_remove(at);
    }
}
