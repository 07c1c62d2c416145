//! `gamma_n` of every user, with integer comparisons in place of fractions.

use evenhand_problem::Problem;
use rug::{Integer, Rational};

use crate::amounts::{Amounts, amount_of};
use crate::quotient::{absorb, scaled};

/// `k_i c_ir` in integers, ready for the sums of `gamma`.
pub(crate) struct Gammas<'a> {
    problem: &'a Problem,
    /// By class, times `scale[r]`.
    capacity: Vec<Amounts>,
    scale: Vec<Integer>,
}

impl<'a> Gammas<'a> {
    pub fn new(problem: &'a Problem) -> Self {
        let mut scale = vec![Integer::from(1); problem.n_resources()];
        for server in problem.servers() {
            for (r, capacity) in server.capacity().entries() {
                absorb(&mut scale[*r], capacity.denom());
            }
        }
        let capacity = problem.servers().iter().map(|server| {
            let capacities = server.capacity().entries().iter();
            capacities.map(|(r, capacity)| (*r, scaled(capacity, &scale[*r]) * server.count())).collect()
        });
        Self { problem, capacity: capacity.collect(), scale }
    }

    /// `gamma_n`, the tasks of user `n` when it has everything: the sum over the classes of
    /// `k_i min_r c_ir / d_nir`, those it may not use left out when `constrained`.
    pub fn total(&self, n: usize, constrained: bool) -> Rational {
        let user = &self.problem.users()[n];
        // 1 / (d_nr scale_r) over the common denominator of the user.
        let mut common = Integer::from(1);
        let demanded = user.base_demand().entries();
        let inverse: Vec<Rational> =
            demanded.iter().map(|(r, demand)| Rational::from(demand * &self.scale[*r]).recip()).collect();
        for value in &inverse {
            absorb(&mut common, value.denom());
        }
        let inverse: Vec<Integer> = inverse.iter().map(|value| scaled(value, &common)).collect();
        let mut sum = Integer::new();
        let mut apart = Rational::new();
        let everywhere = if constrained { 0..0 } else { 0..self.capacity.len() };
        // Elsewhere it may not run, or lacks a resource.
        let own = constrained.then(|| self.problem.classes_of(n)).into_iter().flatten();
        for i in own.chain(everywhere) {
            let has =
                |list: &[(usize, Rational)]| list.binary_search_by_key(&i, |(server, _)| *server).is_ok();
            let overridden = user.demand_overrides().binary_search_by_key(&i, |(server, _)| *server).is_ok();
            if overridden || has(user.given_gamma()) {
                apart += self.problem.unconstrained_gamma(n, i);
                continue;
            }
            let tasks = demanded
                .iter()
                .zip(&inverse)
                .map(|((r, _), inverse)| Some(Integer::from(amount_of(&self.capacity[i], *r)? * inverse)));
            // A missing resource, `None`, is the least: no task fits.
            sum += tasks.min().flatten().unwrap_or_default();
        }
        Rational::from((sum, common)) + apart
    }
}
