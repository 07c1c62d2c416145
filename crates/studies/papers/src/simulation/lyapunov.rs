//! The Lyapunov function of Reservation, section 6, along a run.
//!
//! Of parts `eta_i` of the servers in the configurations of the global greedy assignment, in its order, the function of
//! equation (45) is a weighted sum of the servers less that of the slots that no load fills,
//! `V = sum_i Z_i eta_i - sum_j Y_j max(0, sum_i k_ij eta_i - rho_j)`, and its constants are such that the global
//! greedy assignment is its only maximum. The text has lost them. With `Z_i = (K + 2)^-(i-1)`, `K` the most slots
//! of a configuration, and `Y_j = 2 / k_j`, `k_j` the fewest slots of the type where there are any, it is:
//!
//! - Without `1 / k_j` servers, which weigh at most 1 each, there is a slot of type `j` less: the maximum has
//!   none too many.
//! - Let `i` be the first configuration with other parts than the assignment's: `delta` fewer, since greedy takes as
//!   many as there is load for. They leave `delta` servers and `k_ij delta` of each load to later configurations,
//!   whose programme has prices of at most `Z_(i+1)` for each (a price above every `Z_m / k_mj` can fall). So these
//!   gain at most `(K + 1) delta Z_(i+1)`, which is less than `Z_i delta`.

use evenhand_packing::greedy::Fluid;

/// Servers whose slots no load fills, against those of the first configuration.
const UNFILLED: f64 = 2.0;

/// The function of one assignment.
pub struct Lyapunov {
    /// By greedy configuration: its slots by type, and `Z_i`.
    configurations: Vec<(Vec<u64>, f64)>,
    /// `rho`, of one server.
    loads: Vec<f64>,
    /// Its maximum.
    most: f64,
}

impl Lyapunov {
    /// For loads of one server.
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

    /// By how much it falls at most, in parts of its maximum, where all servers are missing, and one slot of every type on
    /// each server is too many.
    pub fn steepness(&self) -> f64 {
        let slots: f64 = (0..self.loads.len()).map(|j| UNFILLED / self.fewest(j) as f64).sum();
        (1.0 + slots) / self.most
    }

    /// The fewest slots of a type in a configuration that has any.
    fn fewest(&self, j: usize) -> u64 {
        self.configurations.iter().map(|(of, _)| of[j]).filter(|k| *k > 0).min().unwrap_or(1)
    }

    /// How far it is below its maximum, in parts of that; parts of the servers by configuration.
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

    /// Parts that are random, and those that differ from the assignment by little.
    #[test]
    fn the_global_greedy_assignment_is_its_only_maximum() {
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
