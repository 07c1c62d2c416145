//! The number `gamma_n` of every user, computed with comparisons of integers instead of fractions.

use evenhand_problem::Problem;
use rug::{Assign, Integer, Rational};

use crate::quotient::{absorb, scaled};
use crate::sparse::{Amounts, at};

/// The capacities `k_i c_ir` as integers, prepared for computing `gamma_n`.
pub(crate) struct Gammas<'a> {
    problem: &'a Problem,
    /// The capacities of each class, times `scale[r]` for resource `r`.
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

    /// Returns `gamma_n`, the tasks of user `n` if it has the whole cluster: the sum over the classes of
    /// `k_i min_r c_ir / d_nir`. If `constrained`, classes that the user may not use are left out.
    pub fn total(&self, n: usize, constrained: bool) -> Rational {
        let user = &self.problem.users()[n];
        // `inverse`: the numbers `1 / (d_nr scale_r)` over the common denominator of the user. Only the final sum is
        // reduced to lowest terms.
        let demanded = user.base_demand().entries();
        let scaled: Vec<Integer> =
            demanded.iter().map(|(r, demand)| Integer::from(demand.numer() * &self.scale[*r])).collect();
        let mut common = Integer::from(1);
        scaled.iter().for_each(|value| absorb(&mut common, value));
        let inverse: Vec<Integer> = demanded
            .iter()
            .zip(&scaled)
            .map(|((_, demand), value)| Integer::from(common.div_exact_ref(value)) * demand.denom())
            .collect();
        let (mut sum, mut least, mut tasks) = (Integer::new(), Integer::new(), Integer::new());
        let mut apart = Rational::new();
        // A user with rates has no demand on the classes that it may not use.
        let constrained = constrained || user.rates().is_some();
        let everywhere = if constrained { 0..0 } else { 0..self.capacity.len() };
        // On all other classes the user may not run, or a demanded resource is missing.
        let own = constrained.then(|| self.problem.classes_of(n)).into_iter().flatten();
        for i in own.chain(everywhere) {
            if at(user.demand_overrides(), i).is_some() || at(user.given_gamma(), i).is_some() {
                apart += self.problem.unconstrained_gamma(n, i);
                continue;
            }
            // No task fits if a resource is missing. Two integers are reused for all classes, because allocating new
            // ones would take most of the time.
            let mut is_first = true;
            for ((r, _), inverse) in demanded.iter().zip(&inverse) {
                let Some(capacity) = at(&self.capacity[i], *r) else {
                    least.assign(0);
                    break;
                };
                tasks.assign(capacity * inverse);
                if is_first || tasks < least {
                    std::mem::swap(&mut tasks, &mut least);
                }
                is_first = false;
            }
            if !is_first {
                sum += &least;
            }
        }
        Rational::from((sum, common)) + apart
    }
}
