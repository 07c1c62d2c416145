//! Who of the children of a node may grow, and what they are compared by.

use std::collections::HashMap;

use super::forest::Forest;

/// By user that nothing stops: the nodes above it, each with whether the user is below its guarantee.
pub type Ways = Vec<Option<Vec<(usize, bool)>>>;

/// The children of a node with users that may grow, in the order of these: all of them, and those that are below the
/// child's guarantee.
pub fn by_child(
    forest: &Forest<'_>,
    ways: &Ways,
    v: usize,
    users: &[usize],
) -> Vec<(usize, Vec<usize>, Vec<usize>)> {
    let mut by_child: Vec<(usize, Vec<usize>, Vec<usize>)> = Vec::new();
    let mut place_of: HashMap<usize, usize> = HashMap::new();
    for n in users {
        let leaf = forest.leaf(*n);
        let way = ways[*n].as_deref().unwrap_or_default();
        // The child of `v` on the way of the user, and whether the user is below its guarantee.
        let place = way.iter().position(|(above, _)| *above == v);
        let Some(place) = place else { continue };
        let (child, is_below) = if place == 0 { (leaf, false) } else { way[place - 1] };
        let at = *place_of.entry(child).or_insert(by_child.len());
        if at == by_child.len() {
            by_child.push((child, Vec::new(), Vec::new()));
        }
        by_child[at].1.push(*n);
        if is_below && forest.guarantees_first {
            by_child[at].2.push(*n);
        }
    }
    by_child
}
