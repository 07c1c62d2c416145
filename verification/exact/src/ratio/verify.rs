//! Whether proofs prove what they are to prove.

use std::collections::{HashMap, HashSet};

use evenhand_problem::Reservation;
use rug::{Integer, Rational};

use super::proof::{FirstProof, PricingProof, Tree};
use super::shape::{Configuration, Scaled, Shape, common_unit, floor};
use super::table::Table;
use super::tree::{self, Order};
use super::work::Work;
use crate::refusal::Refusal;

/// Judges the proofs of one problem.
pub(super) struct Verifier<'p> {
    pub problem: &'p Reservation,
    pub shape: Shape<'p>,
    pub work: Work,
    /// The first pool of the file that states the same capacities, by pool.
    same_as: Vec<usize>,
    /// `(pool, open types as bits, configuration)`: what was proven to be first.
    known: HashSet<(usize, Vec<u64>, Configuration)>,
}

impl<'p> Verifier<'p> {
    pub fn new(problem: &'p Reservation, mut work: Work) -> Result<Self, Refusal> {
        let shape = Shape::new(problem, &mut work)?;
        let mut first: HashMap<_, usize> = HashMap::new();
        let pools = problem.pools().iter().enumerate();
        let same_as = pools.map(|(i, pool)| *first.entry(pool.capacity().entries()).or_insert(i)).collect();
        Ok(Self { problem, shape, work, same_as, known: HashSet::new() })
    }

    /// Whether `sum_j beta_j k_j <= bound` for every configuration of pool `i`; `beta` is at least 0.
    pub fn pricing(
        &mut self,
        i: usize,
        beta: &[Rational],
        bound: &Rational,
        proof: &PricingProof,
    ) -> Result<(), Refusal> {
        if *bound < 0 {
            return Err(Refusal::new("not even the empty configuration is worth as little"));
        }
        self.work.steps(beta.len() + 1, 200)?;
        let unit = common_unit(beta.iter(), &mut self.work)?.unwrap_or_else(|| Rational::from(1));
        let profits: Vec<Integer> = beta.iter().map(|beta| floor(beta, &unit)).collect();
        let most = floor(bound, &unit);
        match (&self.shape, proof) {
            (Shape::Capacities(scaled), PricingProof::Tree { multipliers, nodes }) => {
                let claim = tree::Goal { scaled, pool: i, profits: &profits, unit: &unit, most, order: None };
                tree::verify(&claim, multipliers, nodes, &mut self.work)
            }
            (Shape::Capacities(scaled), PricingProof::DynamicProgramme { cells }) => {
                let types: Vec<usize> = (0..beta.len()).filter(|&j| profits[j] > 0).collect();
                let (_, value) = Table::new(scaled, i, *cells)?.first(&types, &profits, &mut self.work)?;
                if value <= most { Ok(()) } else { Err(Refusal::new("a configuration is worth more")) }
            }
            (Shape::Listed(list), PricingProof::Listed) => {
                self.work.steps(list.len(), 20 * (beta.len() + 1))?;
                let value = |k: &[u64]| -> Integer {
                    profits.iter().zip(k).map(|(p, k)| Integer::from(p * *k)).sum()
                };
                let more = list.iter().any(|k| value(k) > most);
                if more { Err(Refusal::new("a configuration is worth more")) } else { Ok(()) }
            }
            _ => Err(Refusal::new("a proof of a kind that this problem does not take")),
        }
    }

    /// Whether `k` is the first configuration of the open types (ascending) on a server of pool `i`.
    pub fn first(
        &mut self,
        i: usize,
        open: &[usize],
        k: &Configuration,
        proof: &FirstProof,
    ) -> Result<(), Refusal> {
        let n_words = self.problem.n_types() / 64 + 1;
        self.work.bytes(8 * n_words + 16 * k.len())?;
        let mut bits = vec![0_u64; n_words];
        open.iter().for_each(|&j| bits[j / 64] |= 1 << (j % 64));
        let key = (self.same_as[i], bits, k.clone());
        let proven = match proof {
            FirstProof::Known => {
                let known = self.known.contains(&key);
                if known { Ok(()) } else { Err(Refusal::new("no earlier step has proven it")) }
            }
            _ => self.proven_first(i, open, k, proof),
        };
        if proven.is_ok() {
            self.known.insert(key);
        }
        proven
    }

    fn proven_first(
        &mut self,
        i: usize,
        open: &[usize],
        k: &Configuration,
        proof: &FirstProof,
    ) -> Result<(), Refusal> {
        if k.iter().any(|(j, _)| open.binary_search(j).is_err()) {
            return Err(Refusal::new("it holds a type that is exhausted"));
        }
        if !self.shape.is_feasible(i, k, &mut self.work)? {
            return Err(Refusal::new("it does not fit"));
        }
        let n_types = self.problem.n_types();
        self.work.steps(n_types + 1, 200)?;
        let mut profits = vec![Rational::new(); n_types];
        open.iter().for_each(|&j| profits[j].clone_from(self.problem.jobs()[j].reward()));
        let unit = common_unit(profits.iter(), &mut self.work)?.unwrap_or_else(|| Rational::from(1));
        let profits: Vec<Integer> = profits.iter().map(|profit| floor(profit, &unit)).collect();
        let mut dense = vec![0; n_types];
        k.iter().for_each(|(j, k)| dense[*j] = *k);
        match (&self.shape, proof) {
            (Shape::Capacities(scaled), FirstProof::Tree { value, order }) => {
                let about = About { scaled, pool: i, profits: &profits, unit: &unit, k: &dense, open };
                about.value(value, &mut self.work)?;
                about.order(order, &mut self.work)
            }
            (Shape::Capacities(scaled), FirstProof::DynamicProgramme { cells }) => {
                let (first, _) = Table::new(scaled, i, *cells)?.first(open, &profits, &mut self.work)?;
                let same = open.iter().zip(&first).all(|(&j, k)| dense[j] == *k);
                if same { Ok(()) } else { Err(Refusal::new("another configuration stands before it")) }
            }
            (Shape::Listed(list), FirstProof::Listed) => {
                self.work.steps(list.len(), 40 * (open.len() + 1))?;
                let value =
                    |k: &[u64]| -> Integer { open.iter().map(|&j| &profits[j] * Integer::from(k[j])).sum() };
                let own = value(&dense);
                let before = |other: &Vec<u64>| {
                    let more = value(other).cmp(&own);
                    let greater = || open.iter().map(|&j| other[j]).cmp(open.iter().map(|&j| dense[j]));
                    more.then_with(greater).is_gt()
                };
                let before = list.iter().any(before);
                if before { Err(Refusal::new("another configuration stands before it")) } else { Ok(()) }
            }
            _ => Err(Refusal::new("a proof of a kind that this problem does not take")),
        }
    }
}

/// What the two trees of [`FirstProof::Tree`] are about.
struct About<'a> {
    scaled: &'a Scaled<'a>,
    pool: usize,
    profits: &'a [Integer],
    unit: &'a Rational,
    k: &'a [u64],
    open: &'a [usize],
}

impl About<'_> {
    fn worth(&self) -> Integer {
        self.profits.iter().zip(self.k).map(|(p, k)| Integer::from(p * *k)).sum()
    }

    fn value(&self, tree: &Tree, work: &mut Work) -> Result<(), Refusal> {
        let claim = tree::Goal {
            scaled: self.scaled,
            pool: self.pool,
            profits: self.profits,
            unit: self.unit,
            most: self.worth(),
            order: None,
        };
        let proven = tree::verify(&claim, &tree.multipliers, &tree.nodes, work);
        proven.map_err(|fault| fault.about("its value"))
    }

    fn order(&self, tree: &Tree, work: &mut Work) -> Result<(), Refusal> {
        let mut open = vec![false; self.k.len()];
        self.open.iter().for_each(|&j| open[j] = true);
        let claim = tree::Goal {
            scaled: self.scaled,
            pool: self.pool,
            profits: self.profits,
            unit: self.unit,
            most: self.worth() - 1,
            order: Some(Order { first: self.k, open: &open }),
        };
        let proven = tree::verify(&claim, &tree.multipliers, &tree.nodes, work);
        proven.map_err(|fault| fault.about("its order"))
    }
}
