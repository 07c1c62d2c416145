//! The Lyapunov function of Reservation, section 6, along a run.
//!
//! Let `eta_i` be the fraction of the servers in configuration `i` of the global greedy assignment, in the
//! order of the assignment. The function of equation (45) is a weighted sum of the servers minus a weighted
//! sum of the slots that no load fills: `V = sum_i Z_i eta_i - sum_j Y_j max(0, sum_i k_ij eta_i - rho_j)`.
//! The global greedy assignment should be the only maximum of the function. The text of the paper does not
//! state the constants `Z_i` and `Y_j`. This file uses `Z_i = (K + 2)^-(i-1)`, where `K` is the largest
//! number of slots of a configuration. It uses `Y_j = 2 / k_j`, where `k_j` is the smallest nonzero number of
//! slots of type `j` in a configuration. Then the global greedy assignment is the only maximum:
//!
//! - Removing `1 / k_j` servers, which weigh at most 1 each, removes a slot of type `j`. An unfilled slot costs more
//!   than that. So the maximum has no unfilled slots.
//! - Let `i` be the first configuration whose fraction differs from the assignment's. It is smaller by some `delta`,
//!   since greedy takes as many servers as the loads allow. This leaves `delta` servers and `k_ij delta` of each load
//!   to later configurations. Their programme has dual prices of at most `Z_(i+1)` for each, since a price above
//!   every `Z_m / k_mj` could be lowered. So later configurations gain at most `(K + 1) delta Z_(i+1)`, which is less
//!   than `Z_i delta`.

use evenhand_packing::greedy::Fluid;

/// The cost of a server whose slots no load fills, relative to the weight of a server in the first configuration.
const UNFILLED: f64 = 2.0;

/// The Lyapunov function of one assignment.
pub struct Lyapunov {
    /// The greedy configurations: the slots of each type, and the weight `Z_i`.
    configurations: Vec<(Vec<u64>, f64)>,
    /// The loads `rho` of one server, by type.
    loads: Vec<f64>,
    /// The maximum of the function.
    most: f64,
}

impl Lyapunov {
    /// Creates the function for these loads of one server.
    pub fn new(fluid: &Fluid, loads: Vec<f64>) -> Self {
        let used = fluid.steps.iter().filter(|step| step.servers > 0);
        let configurations: Vec<Vec<u64>> = used.map(|step| step.best.configuration.clone()).collect();
        let slots = configurations.iter().map(|slots| slots.iter().sum::<u64>()).max().unwrap_or_default();
        let mut weight = 1.0;
        let weighted = configurations.into_iter().map(|slots_by_type| {
            let of = (slots_by_type, weight);
            weight /= slots as f64 + 2.0;
            of
        });
        let mut function = Self { configurations: weighted.collect(), loads, most: 0.0 };
        let greedy =
            fluid.steps.iter().map(|step| (step.best.configuration.as_slice(), step.servers.to_f64()));
        function.most = function.value(greedy);
        function
    }

    /// Returns the largest possible fall of the function, as a fraction of its maximum. The function falls by
    /// this amount if all servers are missing and every server has one slot too many of every type.
    pub fn steepness(&self) -> f64 {
        let slots: f64 = (0..self.loads.len()).map(|j| UNFILLED / self.fewest(j) as f64).sum();
        (1.0 + slots) / self.most
    }

    /// Returns the smallest nonzero number of slots of a type in a configuration.
    fn fewest(&self, j: usize) -> u64 {
        self.configurations.iter().map(|(of, _)| of[j]).filter(|k| *k > 0).min().unwrap_or(1)
    }

    /// Returns how far the function is below its maximum, as a fraction of the maximum. `parts` gives the fraction of
    /// the servers for each configuration.
    pub fn lack<'c>(&self, parts: impl Iterator<Item = (&'c [u64], f64)>) -> f64 {
        1.0 - self.value(parts) / self.most
    }

    fn value<'c>(&self, parts: impl Iterator<Item = (&'c [u64], f64)>) -> f64 {
        let mut value = 0.0;
        let mut slots = vec![0.0; self.loads.len()];
        for (configuration, part) in parts {
            let known = self.configurations.iter().find(|(of, _)| of == configuration);
            let Some((_, weight)) = known else { continue };
            value += weight * part;
            for (slots, k) in slots.iter_mut().zip(configuration) {
                *slots += *k as f64 * part;
            }
        }
        let unfilled = slots.iter().zip(&self.loads).enumerate();
        let unfilled = unfilled.map(|(j, (slots, load))| (slots - load).max(0.0) / self.fewest(j) as f64);
        value - UNFILLED * unfilled.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::super::admission;
    use super::*;

    /// Tests random fractions, and fractions that differ little from those of the assignment.
    #[test]
    fn the_global_greedy_assignment_is_the_only_maximum() {
        let (problem, fluid) = admission::example().unwrap();
        let loads = problem.loads().iter().map(|load| load.to_f64()).collect();
        let function = Lyapunov::new(&fluid, loads);
        let greedy: Vec<(&[u64], f64)> = fluid
            .steps
            .iter()
            .map(|step| (step.best.configuration.as_slice(), step.servers.to_f64()))
            .collect();
        assert!(function.configurations.len() > 1 && function.most > 0.0);
        assert_eq!(function.lack(greedy.iter().copied()), 0.0);
        let mut rng = Pcg64::seed_from_u64(1);
        for round in 0..10_000 {
            let from = if round % 2 == 0 { 0.0 } else { 1.0 };
            let parts: Vec<f64> = greedy
                .iter()
                .map(|(_, part)| (from * part + (1.1 - from) * rng.random_range(-0.5..0.5_f64)).max(0.0))
                .collect();
            let sum = parts.iter().sum::<f64>().max(1.0);
            let parts = greedy.iter().zip(&parts).map(|((slots, _), part)| (*slots, part / sum));
            assert!(function.lack(parts) > 0.0, "round {round}");
        }
    }
}
