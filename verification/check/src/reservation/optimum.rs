//! The optimum between an assignment and a bound.
//!
//! Prices with `alpha_j + beta_j >= u_j`, and `sum_j beta_j k_j <= pi_i` for every configuration of pool `i`, bound
//! every assignment: `sum u_j Y_j <= sum alpha_j Y_j + sum beta_j Y_j <= sum alpha_j rho_j + sum pi_i size_i`.

use rug::Rational;

use super::packing::{Packing, common_unit};
use super::proof::{Assignment, Optimum};
use crate::problem::at;
use crate::work::{self, Checked, ensure, refuse};

/// Whether the assignment is one and the bound is proven, of these jobs on pools of these sizes.
pub fn verify(
    optimum: &Optimum,
    jobs: &[Rational],
    sizes: &[Rational],
    whole: bool,
    packing: &Packing<'_>,
) -> Checked<()> {
    assigned(&optimum.assignment, jobs, sizes, packing)?;
    let problem = packing.problem;
    let (prices, zero) = (&optimum.prices, Rational::new());
    let mut parts = Vec::new();
    for (j, job) in problem.jobs.iter().enumerate() {
        let (alpha, beta) = (at(&prices.load, j).unwrap_or(&zero), at(&prices.slot, j).unwrap_or(&zero));
        work::spend(2)?;
        if *alpha < 0 || *beta < 0 || Rational::from(alpha + beta) < job.reward {
            let name = &problem.types.list[j];
            return refuse(format!("optimum: the prices of `{name}` are negative, or less than its reward"));
        }
        parts.push(Rational::from(alpha * &jobs[j]));
    }
    for (i, (size, proof)) in sizes.iter().zip(&optimum.pricing).enumerate() {
        let pi = at(&prices.server, i).unwrap_or(&zero);
        packing.is_priced(i, &prices.slot, pi, proof).map_err(|fault| fault.about("optimum: pricing"))?;
        parts.push(Rational::from(pi * size));
    }
    let mut bound = work::sum(parts)?;
    if whole {
        // Whole jobs earn multiples of the greatest common divisor of the rewards.
        let unit = common_unit(problem.jobs.iter().map(|job| &job.reward))?;
        bound = unit.map_or_else(Rational::new, |unit| Rational::from(&bound / &unit).floor() * unit);
    }
    ensure(optimum.bound == bound, "optimum: the bound is another")
}

/// Whether an assignment is one, and earns what it says.
pub fn assigned(
    assignment: &Assignment,
    jobs: &[Rational],
    sizes: &[Rational],
    packing: &Packing<'_>,
) -> Checked<()> {
    let mut used = vec![Vec::new(); sizes.len()];
    let mut slots = vec![Vec::new(); jobs.len()];
    for (i, k, servers) in &assignment.servers {
        ensure(*servers >= 0, "optimum: a negative number of servers")?;
        ensure(packing.takes(*i, k)?, "optimum: a configuration does not fit")?;
        work::spend(k.len() + 1)?;
        used[*i].push(servers.clone());
        k.iter().for_each(|(j, k)| slots[*j].push(Rational::from(servers * *k)));
    }
    for (used, size) in used.into_iter().zip(sizes) {
        ensure(work::sum(used)? <= *size, "optimum: more servers of a pool than there are")?;
    }
    let mut earned = Vec::new();
    for (j, served) in &assignment.served {
        let slots = work::sum(std::mem::take(&mut slots[*j]))?;
        let can = *served >= 0 && *served <= jobs[*j] && *served <= slots;
        ensure(can, "optimum: a type cannot have as many jobs served")?;
        earned.push(Rational::from(served * &packing.problem.jobs[*j].reward));
    }
    ensure(assignment.reward == work::sum(earned)?, "optimum: the reward of the assignment is another")
}
