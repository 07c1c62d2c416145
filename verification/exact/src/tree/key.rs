//! The children of a node that may grow, and the keys by which they are compared. The child with the least key grows
//! first.

use std::collections::HashMap;

use evenhand_problem::Rational;
use evenhand_problem::groups::ShareOf;

use super::amount::Amount;
use super::forest::Forest;
use super::holdings::Holdings;

/// The key of a node among its siblings.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key<N = Rational> {
    /// True if the node is above its guarantee. Nodes below their guarantees come first.
    pub is_above_guarantee: bool,
    /// Minus the priority. It has no effect below the guarantee.
    pub priority: i64,
    /// True if the weight is 0. Nodes of weight 0 come last.
    pub is_weightless: bool,
    /// The largest used fraction of the guarantee, or the share divided by the weight.
    pub level: N,
}

/// A linear term: its value, and its slope by resource. A level is the largest of its terms.
pub struct Term<N = Rational> {
    /// The current value.
    pub value: N,
    /// The slope: pairs `(resource, value per unit)`.
    pub slope: Vec<(usize, Rational)>,
}

impl<N: Amount> Term<N> {
    /// Returns the rate of the value when the usage of each resource grows at the rate in `growth`.
    pub fn rate(&self, growth: &[N]) -> N {
        let mut rate = N::default();
        self.slope.iter().for_each(|(r, per_unit)| rate.add(&growth[*r].times(per_unit)));
        rate
    }
}

/// Returns the largest value of the terms, and its rate: the largest rate among the terms with this value.
pub fn rising<N: Amount>(terms: &[Term<N>], growth: &[N]) -> (N, N) {
    let top = terms.iter().map(|term| &term.value).max().cloned().unwrap_or_default();
    let at_top = terms.iter().filter(|term| term.value == top);
    let rate = at_top.map(|term| term.rate(growth)).max().unwrap_or_default();
    (top, rate)
}

/// Returns the terms of the share of a node, before division by the weight. For each family, the term is the usage, or
/// the usage beyond the guarantee, as a fraction of the divisor of the family.
pub fn share<N: Amount>(forest: &Forest<'_>, v: usize, used: &[N]) -> Vec<Term<N>> {
    let node = &forest.nodes[v];
    let promised = |r: usize| match (forest.share.of, &node.guarantee) {
        (ShareOf::Surplus, Some(guarantee)) => guarantee[r].clone().unwrap_or_default(),
        _ => Rational::new(),
    };
    let families = forest.families.iter().zip(&node.divisor).filter(|(_, divisor)| **divisor > 0);
    let term = |(family, divisor): (&Vec<(usize, Rational)>, &Rational)| {
        let mut term = Term { value: N::default(), slope: Vec::new() };
        for (r, multiplier) in family {
            let promised = promised(*r);
            if used[*r].cmp_to(&promised).is_ge() {
                let per_unit = Rational::from(multiplier / divisor);
                term.value.add(&used[*r].beyond(promised).times(&per_unit));
                term.slope.push((*r, per_unit));
            }
        }
        term
    };
    families.map(term).collect()
}

/// Returns the terms of the level below a guarantee. There is a term for every guaranteed resource that one of these
/// users demands: the used fraction of its guarantee.
pub fn guaranteed<N: Amount>(forest: &Forest<'_>, v: usize, used: &[N], users: &[usize]) -> Vec<Term<N>> {
    let Some(guarantee) = &forest.nodes[v].guarantee else { return Vec::new() };
    let asked = |r: usize| users.iter().any(|n| asks(forest, *n, r));
    let promised = guarantee.iter().enumerate().filter_map(|(r, amount)| Some((r, amount.as_ref()?)));
    let term = |(r, amount): (usize, &Rational)| Term {
        value: used[r].over(amount),
        slope: vec![(r, amount.clone().recip())],
    };
    promised.filter(|(r, amount)| **amount > 0 && asked(*r)).map(term).collect()
}

/// Returns true if a task of user `n` demands resource `r`.
pub fn asks(forest: &Forest<'_>, n: usize, r: usize) -> bool {
    let leaf = forest.nodes[forest.leaf(n)].leaf.as_ref();
    leaf.is_some_and(|leaf| leaf.demand.iter().any(|(of, _)| *of == r))
}

/// Returns the key of a node, and the terms of its level. `below` lists the users below the guarantee of the node. If
/// the list is empty, the node counts as above its guarantee. The level is the largest term divided by [`weight`].
pub fn key<N: Amount>(
    forest: &Forest<'_>,
    holdings: &Holdings<N>,
    v: usize,
    below: &[usize],
) -> (Key<N>, Vec<Term<N>>) {
    let (node, used) = (&forest.nodes[v], &holdings.used[v]);
    let is_above_guarantee = below.is_empty();
    let terms = if is_above_guarantee { share(forest, v, used) } else { guaranteed(forest, v, used, below) };
    let top = terms.iter().map(|term| &term.value).max().cloned().unwrap_or_default();
    let key = Key {
        is_above_guarantee,
        priority: if is_above_guarantee { node.priority.saturating_neg() } else { 0 },
        is_weightless: is_above_guarantee && node.weight.is_zero(),
        level: top.over(&weight(forest, v, is_above_guarantee)),
    };
    (key, terms)
}

/// Returns the divisor of a level. It is the weight above the guarantee, and 1 for a weight of 0 and below the
/// guarantee.
pub fn weight(forest: &Forest<'_>, v: usize, is_above_guarantee: bool) -> Rational {
    let weight = &forest.nodes[v].weight;
    if is_above_guarantee && !weight.is_zero() { weight.clone() } else { Rational::from(1) }
}

/// For each user that is not stopped, the nodes above it, each with true if the user is below the guarantee of the
/// node.
pub type Ways = Vec<Option<Vec<(usize, bool)>>>;

/// Returns the children of a node with users that may grow, in the order of these users. For each child, the result
/// lists all these users, and those of them that are below the guarantee of the child.
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
        // Search for the child of `v` on the path to the user, and whether the user is below the guarantee of this
        // child.
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
