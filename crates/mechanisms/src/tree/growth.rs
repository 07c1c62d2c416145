//! In which direction the tree grows: from the root, at every node those children whose key is least, at such
//! rates that their levels stay equal.

use std::collections::HashMap;

use evenhand_problem::Rational;

use super::forest::Forest;
use super::holdings::Holdings;
use super::key::{Key, Term, asks, key, rising, weight};

/// How a node grows.
pub struct Growth {
    /// `(user, tasks per step)`
    pub rates: Vec<(usize, Rational)>,
    /// Growth of what its users hold, by resource.
    running: Vec<Rational>,
    /// Growth of what it uses, by resource.
    used: Vec<Rational>,
}

/// A level that rises, and those of its siblings that it may reach.
pub struct Race {
    pub node: usize,
    /// The level is the largest of these.
    pub terms: Vec<Term>,
    /// Whether the terms are about what the users below hold, and not about what the node uses.
    pub is_of_running: bool,
    /// By how much more the siblings' terms have, times the weight of the node.
    pub gaps: Vec<Rational>,
}

/// A child that may grow.
pub struct Candidate {
    pub node: usize,
    /// Who may grow below it.
    pub users: Vec<usize>,
    pub key: Key,
    terms: Vec<Term>,
}

/// By user that nothing stops: the nodes above it, each with whether the user is below its guarantee.
pub type Ways = Vec<Option<Vec<(usize, bool)>>>;

pub struct Direction<'f> {
    pub forest: &'f Forest<'f>,
    pub holdings: &'f Holdings,
    pub ways: Ways,
    pub races: Vec<Race>,
}

impl Direction<'_> {
    /// How a node grows when these of the users below it may.
    pub fn of(&mut self, v: usize, users: &[usize]) -> Growth {
        let zeros = || vec![Rational::new(); self.forest.resources.len()];
        if let Some(leaf) = &self.forest.nodes[v].leaf {
            let mut running = zeros();
            leaf.demand.iter().for_each(|(r, d)| running[*r].clone_from(d));
            return Growth { rates: vec![(leaf.user, Rational::from(1))], used: running.clone(), running };
        }
        let mut all = Growth { rates: Vec::new(), running: zeros(), used: zeros() };
        for (node, growth, pace) in self.paced(v, users) {
            let scaled = |amount: &Rational| Rational::from(amount / &pace);
            all.rates.extend(growth.rates.iter().map(|(n, rate)| (*n, scaled(rate))));
            for r in 0..self.forest.resources.len() {
                all.running[r] += scaled(&growth.running[r]);
                if self.holdings.passes(self.forest, node, r) {
                    all.used[r] += scaled(&growth.used[r]);
                }
            }
        }
        all
    }

    /// The children that grow, how, and by how much faster than their common level rises.
    fn paced(&mut self, v: usize, users: &[usize]) -> Vec<(usize, Growth, Rational)> {
        let candidates = candidates(self.forest, self.holdings, &self.ways, v, users);
        let Some(least) = candidates.iter().map(|of| &of.key).min().cloned() else { return Vec::new() };
        let (first, later): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|of| of.key == least);
        let same_class = |of: &Candidate| Key { level: least.level.clone(), ..of.key.clone() } == least;
        let ahead: Vec<Rational> = later
            .iter()
            .filter(|of| same_class(of))
            .map(|of| Rational::from(&of.key.level - &least.level))
            .collect();
        let mut rising_ones = Vec::new();
        let mut flat = Vec::new();
        for candidate in first {
            let growth = self.of(candidate.node, &candidate.users);
            let weight = weight(self.forest, candidate.node, least.is_above_guarantee);
            let pace = rising(&candidate.terms, &growth.used).1 / &weight;
            if pace.is_zero() {
                flat.push((candidate, growth, weight));
            } else {
                let gaps = ahead.iter().map(|gap| Rational::from(gap * &weight)).collect();
                let node = candidate.node;
                self.races.push(Race { node, terms: candidate.terms, is_of_running: false, gaps });
                rising_ones.push((node, growth, pace));
            }
        }
        if flat.is_empty() { rising_ones } else { self.flat(flat, least.is_above_guarantee) }
    }

    /// Of children whose level does not rise those grow that hold least, by weight, of what their growing users
    /// ask for.
    fn flat(
        &mut self,
        flat: Vec<(Candidate, Growth, Rational)>,
        is_above_guarantee: bool,
    ) -> Vec<(usize, Growth, Rational)> {
        let mut lines = Vec::new();
        for (candidate, growth, weight) in flat {
            let terms = self.parts(&candidate, &growth, is_above_guarantee);
            let (top, rate) = rising(&terms, &growth.running);
            lines.push((top / &weight, rate / &weight, candidate.node, terms, growth, weight));
        }
        let least = lines.iter().map(|line| &line.0).min().cloned().unwrap_or_default();
        let others = lines.iter().map(|line| Rational::from(&line.0 - &least));
        let ahead: Vec<Rational> = others.filter(|gap| !gap.is_zero()).collect();
        let mut grow = Vec::new();
        for (part, pace, node, terms, growth, weight) in lines {
            if part == least {
                let gaps = ahead.iter().map(|gap| Rational::from(gap * &weight)).collect();
                self.races.push(Race { node, terms, is_of_running: true, gaps });
                grow.push((node, growth, pace));
            }
        }
        grow
    }

    /// What the users below a child hold of the resources that those who grow ask for, as parts of the capacity,
    /// or of the guarantee.
    fn parts(&self, candidate: &Candidate, growth: &Growth, is_above_guarantee: bool) -> Vec<Term> {
        let running = &self.holdings.running[candidate.node];
        let guarantee = self.forest.nodes[candidate.node].guarantee.as_ref();
        let whole = |r: usize| {
            if is_above_guarantee { Some(&self.forest.capacity[r]) } else { guarantee?[r].as_ref() }
        };
        let asked = |r: usize| growth.rates.iter().any(|(n, _)| asks(self.forest, *n, r));
        let resources = (0..self.forest.resources.len()).filter(|r| asked(*r));
        let term = |r: usize| {
            let whole = whole(r).filter(|whole| **whole > 0)?;
            Some(Term { value: Rational::from(&running[r] / whole), slope: vec![(r, whole.clone().recip())] })
        };
        resources.filter_map(term).collect()
    }
}

/// The children of a node with users that may grow, with those of them that grow first: the ones below the child's
/// guarantee, if there are any.
pub fn candidates(
    forest: &Forest<'_>,
    holdings: &Holdings,
    ways: &Ways,
    v: usize,
    users: &[usize],
) -> Vec<Candidate> {
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
    let candidate = |(node, all, below): (usize, Vec<usize>, Vec<usize>)| {
        let (key, terms) = key(forest, holdings, node, &below);
        Candidate { node, users: if below.is_empty() { all } else { below }, key, terms }
    };
    by_child.into_iter().map(candidate).collect()
}
