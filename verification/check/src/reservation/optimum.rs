//! The optimum between an assignment and a bound.
//!
//! Prices with `alpha_j + beta_j >= u_j`, and `sum_j beta_j k_j <= pi_i` for every configuration of pool `i`,
//! bound every assignment: `sum u_j Y_j <= sum alpha_j Y_j + sum beta_j Y_j <= sum alpha_j rho_j + sum pi_i
//! size_i`.

use rug::Rational;

use super::Amount;
use super::packing::{Packing, common_unit};
use super::problem::configuration;
use crate::json::Json;
use crate::problem::{Amounts, at};
use crate::work::{self, Checked, ensure, refuse};

/// Prices of loads, of slots and of servers.
pub struct Prices {
    pub alpha: Vec<Rational>,
    pub beta: Amounts,
    pub pi: Vec<Rational>,
}

impl Prices {
    /// Prices of at least 0 with `alpha_j + beta_j >= part u_j`.
    pub fn read(raw: &Json<'_>, packing: &Packing<'_>, part: &Rational) -> Checked<Self> {
        let problem = packing.problem;
        let [load, slot, server] = raw.fields("load slot server")?;
        let (alpha, beta) = (problem.types.numbers(load)?, problem.types.numbers(slot)?);
        let pi = problem.pool_names.numbers(server)?;
        let mut all = alpha.iter().chain(&beta).chain(&pi);
        ensure(all.all(|(_, price)| *price >= 0), "a price is negative")?;
        work::spend(2 * problem.jobs.len())?;
        let zero = Rational::new();
        for (j, job) in problem.jobs.iter().enumerate() {
            let both = Rational::from(at(&alpha, j).unwrap_or(&zero) + at(&beta, j).unwrap_or(&zero));
            if both < Rational::from(part * &job.reward) {
                return refuse(format!("the prices of `{}` are less than its reward", problem.types.list[j]));
            }
        }
        let dense = |of: Amounts, length: usize| {
            (0..length).map(|position| at(&of, position).cloned().unwrap_or_default()).collect()
        };
        Ok(Self { alpha: dense(alpha, problem.jobs.len()), beta, pi: dense(pi, problem.pools.len()) })
    }
}

/// The bound that prices prove for these jobs on pools of these sizes.
pub fn bound(prices: &Json<'_>, pricing: &Json<'_>, of: &Amount, packing: &Packing<'_>) -> Checked<Rational> {
    let prices = Prices::read(prices, packing, &Rational::from(1))?;
    let proofs = packing.problem.pool_names.map(pricing, |_, proof| Ok(proof))?;
    if proofs.len() < of.servers.len() {
        return pricing.wrong("the proof for a pool is missing");
    }
    for (i, proof) in proofs {
        let priced = packing.is_priced(i, &prices.beta, &prices.pi[i], proof);
        priced.map_err(|fault| fault.about("pricing"))?;
    }
    let loads = prices.alpha.iter().zip(&of.jobs).chain(prices.pi.iter().zip(&of.servers));
    let bound = work::sum(loads.map(|(price, amount)| Rational::from(price * amount)).collect())?;
    if !of.whole {
        return Ok(bound);
    }
    // Whole jobs earn multiples of the greatest common divisor of the rewards.
    let unit = common_unit(packing.problem.jobs.iter().map(|job| &job.reward))?;
    Ok(unit.map_or_else(Rational::new, |unit| Rational::from(&bound / &unit).floor() * unit))
}

/// What an assignment earns, if it is one.
pub fn earned(
    assignment: &Json<'_>,
    served: &Json<'_>,
    of: &Amount,
    packing: &Packing<'_>,
) -> Checked<Rational> {
    let problem = packing.problem;
    let mut used = vec![Vec::new(); of.servers.len()];
    let mut slots = vec![Vec::new(); of.jobs.len()];
    for [pool, k, servers] in assignment.rows("pool configuration servers")? {
        let (i, k) = (problem.pool_names.named(pool)?, configuration(&problem.types, k)?);
        let servers = of.read(servers)?;
        ensure(servers >= 0, "a negative number of servers")?;
        ensure(packing.takes(i, &k)?, "a configuration does not fit")?;
        work::spend(k.len() + 1)?;
        k.iter().for_each(|(j, k)| slots[*j].push(Rational::from(&servers * *k)));
        used[i].push(servers);
    }
    for (used, size) in used.into_iter().zip(&of.servers) {
        ensure(work::sum(used)? <= *size, "more servers of a pool than there are")?;
    }
    let mut earned = Vec::new();
    for (j, served) in problem.types.map(served, |_, raw| of.read(raw))? {
        let slots = work::sum(std::mem::take(&mut slots[j]))?;
        let can = served >= 0 && served <= of.jobs[j] && served <= slots;
        ensure(can, "a type cannot have as many jobs served")?;
        earned.push(served * &problem.jobs[j].reward);
    }
    work::sum(earned)
}
