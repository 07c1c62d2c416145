//! The optimum between an assignment and a bound.
//!
//! Prices with `alpha_j + beta_j >= u_j`, and `sum_j beta_j k_j <= pi_i` for every configuration of pool `i`,
//! bound every assignment: `sum u_j Y_j <= sum alpha_j Y_j + sum beta_j Y_j <= sum alpha_j rho_j + sum pi_i
//! size_i`.

use rug::Rational;

use super::packing::{Packing, common_unit};
use super::stated::{Amount, Bounded, Prices, Stated};
use crate::names::at;
use crate::work::{self, Checked, about, ensure};

/// Whether prices are at least 0, with `alpha_j + beta_j >= part u_j`.
pub fn cover([alpha, beta, pi]: &Prices, part: &Rational, packing: &Packing<'_>) -> Checked<()> {
    let mut all = alpha.iter().chain(beta).chain(pi);
    ensure(all.all(|(_, price)| *price >= 0), "a price is negative")?;
    work::spend(2 * packing.problem.jobs.len())?;
    for (j, job) in packing.problem.jobs.iter().enumerate() {
        let both: Rational = [alpha, beta].into_iter().filter_map(|prices| at(prices, j)).sum();
        let what = format!("the prices of `{}` are less than its reward", packing.problem.types.list[j]);
        ensure(both >= Rational::from(part * &job.reward), &what)?;
    }
    Ok(())
}

/// The bound that prices prove for these jobs on pools of these sizes.
pub fn bound(stated: &Bounded, of: &Amount, packing: &Packing<'_>) -> Checked<Rational> {
    let Bounded { prices, pricing, .. } = stated;
    cover(prices, &Rational::from(1), packing)?;
    let [alpha, _, pi] = prices;
    for (i, proof) in pricing {
        about("pricing", packing.is_priced(*i, prices, proof))?;
    }
    let loads = alpha.iter().map(|(j, price)| Rational::from(price * &of.jobs[*j]));
    let servers = pi.iter().map(|(i, price)| Rational::from(price * &of.servers[*i]));
    let bound = work::sum(loads.chain(servers).collect())?;
    if !of.whole {
        return Ok(bound);
    }
    // Whole jobs earn multiples of the greatest common divisor of the rewards.
    let unit = common_unit(packing.problem.jobs.iter().map(|job| &job.reward))?;
    Ok(unit.map_or_else(Rational::new, |unit| Rational::from(&bound / &unit).floor() * unit))
}

/// What an assignment earns that serves so many jobs, if it is one.
pub fn earned(stated: &Stated, of: &Amount, packing: &Packing<'_>) -> Checked<Rational> {
    let problem = packing.problem;
    let mut used = vec![Vec::new(); of.servers.len()];
    let mut slots = vec![Vec::new(); of.jobs.len()];
    for (i, k, servers) in &stated.assignment {
        ensure(*servers >= 0, "a negative number of servers")?;
        ensure(packing.takes(*i, k)?, "a configuration does not fit")?;
        work::spend(k.len() + 1)?;
        k.iter().for_each(|(j, k)| slots[*j].push(Rational::from(servers * *k)));
        used[*i].push(servers.clone());
    }
    for (used, size) in used.into_iter().zip(&of.servers) {
        ensure(work::sum(used)? <= *size, "more servers of a pool than there are")?;
    }
    let mut earned = Vec::new();
    for (j, served) in &stated.served {
        let slots = work::sum(std::mem::take(&mut slots[*j]))?;
        let can = *served >= 0 && *served <= of.jobs[*j] && *served <= slots;
        ensure(can, "a type cannot have as many jobs served")?;
        earned.push(Rational::from(served * &problem.jobs[*j].reward));
    }
    work::sum(earned)
}
