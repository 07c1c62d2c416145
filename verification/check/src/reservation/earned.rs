//! Computes the reward of greedy packing by a replay of its steps (docs/theory.md, section 6). Also computes bounds on
//! the optimum: the reward of an assignment, and the bound that prices prove.
//!
//! Let prices satisfy `alpha_j + beta_j >= u_j`, and `sum_j beta_j k_j <= pi_i` for every configuration of pool `i`.
//! Then these prices bound the reward of every assignment:
//! `sum u_j Y_j <= sum alpha_j Y_j + sum beta_j Y_j <= sum alpha_j rho_j + sum pi_i size_i`.

use rug::Rational;

use super::packing::{Packing, common_unit, multiple};
use super::stated::{Amount, Prices, Stated, Step};
use crate::names::at;
use crate::work::{self, Checked, context, ensure, require};

/// Returns the reward of greedy, after a check that greedy takes exactly these steps with these jobs and pools. Servers
/// are whole or divisible, as `of` states.
///
/// Pools are filled in their order, each with the jobs that earlier pools have left. While an open type fits and
/// servers are left, the first configuration of the open types gets servers. It gets servers until no server is left,
/// or until some type of the configuration has no job left. The lowest type without jobs is then no longer open.
pub fn by_greedy(steps: &[Step], of: &Amount, packing: &mut Packing<'_>) -> Checked<Rational> {
    let problem = packing.problem;
    let mut left = of.jobs.clone();
    let mut open: Vec<usize> = (0..of.jobs.len()).collect();
    let mut steps = steps.iter();
    for (i, size) in of.servers.iter().enumerate() {
        let mut size = size.clone();
        // Usually the first open type fits, and the search ends with this type.
        while size > 0 && open.iter().any(|j| problem.most(i, *j) > 0) {
            work::spend(problem.size())?;
            let step = require(steps.next(), "the steps end while servers and jobs that fit are left")?;
            let ((pool, k, stated), exhausted, first) = step;
            ensure(*pool == i, "a step fills another pool than the first one with free servers")?;
            context("a configuration is not proven to be the first", packing.is_first(i, &open, k, first))?;
            let until = |(j, k): &(usize, u64)| {
                let servers = Rational::from(&left[*j] / *k);
                (if of.whole { servers.ceil() } else { servers }, *j)
            };
            let (until, gone) = require(k.iter().map(until).min(), "a step has an empty configuration")?;
            let gone = Some(gone).filter(|_| until <= size);
            let servers = until.min(size.clone());
            ensure(
                *stated == servers,
                "a step gives its configuration another number of servers than the computed one",
            )?;
            ensure(*exhausted == gone, "the exhausted type of a step differs from the computed one")?;
            size -= &servers;
            for (j, k) in k {
                left[*j] = (left[*j].clone() - Rational::from(&servers * *k)).max(Rational::new());
            }
            open.retain(|j| Some(*j) != gone);
        }
    }
    ensure(steps.next().is_none(), "there are more steps than greedy packing takes")?;
    let served = of.jobs.iter().zip(&left).map(|(all, left)| Rational::from(all - left));
    problem.earned(served.enumerate())
}

/// Returns the reward of the stated assignment. Returns a fault if the assignment is not feasible or cannot serve the
/// stated jobs.
pub fn by_assignment(stated: &Stated, of: &Amount, packing: &Packing<'_>) -> Checked<Rational> {
    let mut used = vec![Vec::new(); of.servers.len()];
    let mut slots = vec![Vec::new(); of.jobs.len()];
    for (i, k, servers) in &stated.assignment {
        ensure(*servers >= 0, "a configuration has a negative number of servers")?;
        ensure(packing.takes(*i, k)?, "a configuration does not fit on a server of its pool")?;
        work::spend(k.len() + 1)?;
        k.iter().for_each(|(j, k)| slots[*j].push(Rational::from(servers * *k)));
        used[*i].push(servers.clone());
    }
    for (used, size) in used.into_iter().zip(&of.servers) {
        ensure(work::sum(used)? <= *size, "the assignment uses more servers of a pool than the pool has")?;
    }
    for (j, served) in &stated.served {
        let slots = work::sum(std::mem::take(&mut slots[*j]))?;
        let can = *served >= 0 && *served <= of.jobs[*j] && *served <= slots;
        ensure(can, "the assignment cannot serve as many jobs of a type as stated")?;
    }
    packing.problem.earned(stated.served.iter().cloned())
}

/// Checks that prices are at least 0, and that `alpha_j + beta_j >= part u_j`.
pub fn cover([alpha, beta, pi]: &Prices, part: &Rational, packing: &Packing<'_>) -> Checked<()> {
    let mut all = alpha.iter().chain(beta).chain(pi);
    ensure(all.all(|(_, price)| *price >= 0), "a price is negative")?;
    work::spend(2 * packing.problem.jobs.len())?;
    for (j, job) in packing.problem.jobs.iter().enumerate() {
        let both: Rational = [alpha, beta].into_iter().filter_map(|prices| at(prices, j)).sum();
        let what = format!(
            "the prices of job type `{}` add up to less than its reward",
            packing.problem.types.list[j]
        );
        ensure(both >= Rational::from(part * &job.reward), &what)?;
    }
    Ok(())
}

/// Returns the bound that the stated prices prove for these jobs and pools.
pub fn bound(stated: &Stated, of: &Amount, packing: &Packing<'_>) -> Checked<Rational> {
    let [alpha, _, pi] = &stated.prices;
    cover(&stated.prices, &Rational::from(1), packing)?;
    for (i, proof) in &stated.pricing {
        context("pricing", packing.is_priced(*i, &stated.prices, proof))?;
    }
    let loads = alpha.iter().map(|(j, price)| Rational::from(price * &of.jobs[*j]));
    let servers = pi.iter().map(|(i, price)| Rational::from(price * &of.servers[*i]));
    let bound = work::sum(loads.chain(servers).collect())?;
    if !of.whole {
        return Ok(bound);
    }
    // The reward of whole jobs is a multiple of the greatest common divisor of all rewards.
    let mut jobs = packing.problem.jobs.iter();
    let unit = jobs.try_fold(Rational::new(), |unit, job| common_unit(&unit, &job.reward))?;
    Ok(if unit.is_zero() { unit } else { multiple(&bound, &unit) })
}
