//! Whether what a certificate holds has the shape of its problem. What a reader returns always has.

use evenhand_problem::Reservation;

use super::greedy::Greedy;
use super::optimum::{Assignment, Optimum, PackingPrices};
use super::proof::{FirstProof, Multipliers, PricingProof};
use super::shape::Configuration;

/// Indices in range, vectors of the right length.
pub(super) struct Fits<'p> {
    pub problem: &'p Reservation,
}

impl Fits<'_> {
    pub fn placed(&self, pool: usize, k: &Configuration) -> bool {
        pool < self.problem.n_pools()
            && k.iter().all(|(j, k)| *j < self.problem.n_types() && *k > 0)
            && k.windows(2).all(|pair| pair[0].0 < pair[1].0)
    }

    fn multipliers(&self, list: &[Multipliers]) -> bool {
        let n_resources = self.problem.resources().len();
        list.iter().all(|each| {
            each.iter().all(|(r, _)| *r < n_resources) && each.windows(2).all(|pair| pair[0].0 < pair[1].0)
        })
    }

    pub fn first(&self, proof: &FirstProof) -> bool {
        match proof {
            FirstProof::Tree { value, order } => {
                self.multipliers(&value.multipliers) && self.multipliers(&order.multipliers)
            }
            _ => true,
        }
    }

    pub fn pricing(&self, proof: &PricingProof) -> bool {
        match proof {
            PricingProof::Tree { multipliers, .. } => self.multipliers(multipliers),
            _ => true,
        }
    }

    pub fn greedy<T>(&self, greedy: &Greedy<T>) -> bool {
        greedy.steps.iter().all(|step| {
            self.placed(step.pool, &step.configuration)
                && step.exhausted.is_none_or(|j| j < self.problem.n_types())
                && self.first(&step.first)
        })
    }

    pub fn prices(&self, prices: &PackingPrices) -> bool {
        [prices.load.len(), prices.slot.len()] == [self.problem.n_types(); 2]
            && prices.server.len() == self.problem.n_pools()
    }

    pub fn assignment<T>(&self, assignment: &Assignment<T>) -> bool {
        assignment.servers.iter().all(|(i, k, _)| self.placed(*i, k))
            && assignment.served.len() == self.problem.n_types()
    }

    pub fn optimum<T>(&self, optimum: &Optimum<T>) -> bool {
        self.assignment(&optimum.assignment)
            && self.prices(&optimum.prices)
            && optimum.pricing.len() == self.problem.n_pools()
            && optimum.pricing.iter().all(|proof| self.pricing(proof))
    }
}
