//! The optimum between an assignment and a bound.

use evenhand_problem::Reservation;
use rug::Rational;

use super::greedy::Amount;
use super::proof::PricingProof;
use super::shape::{Configuration, common_unit};
use super::verify::Verifier;
use super::work::Work;
use crate::refusal::Refusal;

/// An optimum, from both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum<T> {
    /// An assignment.
    pub assignment: Assignment<T>,
    /// No assignment earns more.
    pub bound: Rational,
    /// Why: the bound is theirs (whole jobs: rounded down to what whole jobs can earn).
    pub prices: PackingPrices,
    /// Why no configuration is worth more than its server, by pool.
    pub pricing: Vec<PricingProof>,
}

/// Servers, and the jobs on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment<T> {
    /// `sum_j u_j Y_j`
    pub reward: Rational,
    /// `(pool, configuration, servers)`; the others are idle.
    pub servers: Vec<(usize, Configuration, T)>,
    /// Jobs served, by type: `Y_j`.
    pub served: Vec<T>,
}

/// Prices that bound every assignment.
#[derive(Debug, Clone, PartialEq)]
pub struct PackingPrices {
    /// Price of the load, by type: `alpha_j`.
    pub load: Vec<Rational>,
    /// Price of a slot, by type: `beta_j`.
    pub slot: Vec<Rational>,
    /// Price of a server, by pool: `pi_i`.
    pub server: Vec<Rational>,
}

impl PackingPrices {
    /// `sum_j alpha_j rho_j + sum_i pi_i size_i`: no assignment of these jobs to pools of these sizes
    /// earns more, if the prices are feasible.
    ///
    /// For `y_j <= rho_j`, `y_j <= sum_k x_k k_j`: `sum_j u_j y_j <= sum_j alpha_j y_j + beta_j y_j <=
    /// sum_j alpha_j rho_j + sum_k x_k sum_j beta_j k_j <= sum_j alpha_j rho_j + sum_i pi_i size_i`.
    fn bound<T: Amount>(&self, jobs: &[T], sizes: &[T], work: &mut Work) -> Result<Rational, Refusal> {
        let mut bound = Rational::new();
        let loads = self.load.iter().zip(jobs);
        for (price, amount) in loads.chain(self.server.iter().zip(sizes)) {
            work.rationals(1, &bound)?;
            work.rationals(1, price)?;
            bound += price * amount.rational();
        }
        Ok(bound)
    }

    fn verify(&self, pricing: &[PricingProof], verifier: &mut Verifier<'_>) -> Result<(), Refusal> {
        let problem = verifier.problem;
        for (j, job) in problem.jobs().iter().enumerate() {
            let (alpha, beta) = (&self.load[j], &self.slot[j]);
            if *alpha < 0 || *beta < 0 {
                return Err(Refusal::new(format!("a price of `{}` is negative", job.name())));
            }
            if Rational::from(alpha + beta) < *job.reward() {
                return Err(Refusal::new(format!("the prices of `{}` are less than its reward", job.name())));
            }
        }
        for (i, proof) in pricing.iter().enumerate() {
            let proven = verifier.pricing(i, &self.slot, &self.server[i], proof);
            proven.map_err(|fault| fault.about(&format!("pricing of `{}`", problem.pools()[i].name())))?;
        }
        Ok(())
    }
}

/// Whether the assignment is one, the prices are feasible, and the proofs prove it; the bound that the
/// prices give.
pub(super) fn verify<T: Amount>(
    optimum: &Optimum<T>,
    jobs: &[T],
    sizes: &[T],
    verifier: &mut Verifier<'_>,
) -> Result<Rational, Refusal> {
    assigned(&optimum.assignment, jobs, sizes, verifier)?;
    optimum.prices.verify(&optimum.pricing, verifier)?;
    optimum.prices.bound(jobs, sizes, &mut verifier.work)
}

/// Whether the assignment is one, of these jobs to pools of these sizes, and earns what it says.
pub(super) fn assigned<T: Amount>(
    assignment: &Assignment<T>,
    jobs: &[T],
    sizes: &[T],
    verifier: &mut Verifier<'_>,
) -> Result<(), Refusal> {
    let problem = verifier.problem;
    let mut used = vec![T::zero(); sizes.len()];
    let mut slots = vec![T::zero(); jobs.len()];
    for (position, (i, k, servers)) in assignment.servers.iter().enumerate() {
        if *servers < T::zero() {
            return Err(Refusal::new(format!("assignment {position}: a negative number of servers")));
        }
        if !verifier.shape.is_feasible(*i, k, &mut verifier.work)? {
            return Err(Refusal::new(format!("assignment {position}: the configuration does not fit")));
        }
        verifier.work.rationals(1, &used[*i].rational())?;
        used[*i].add(servers, 1);
        for (j, k) in k {
            verifier.work.rationals(1, &slots[*j].rational())?;
            slots[*j].add(servers, *k);
        }
    }
    for ((used, size), pool) in used.iter().zip(sizes).zip(problem.pools()) {
        if used > size {
            return Err(Refusal::new(format!("more servers of `{}` than there are", pool.name())));
        }
    }
    for (j, job) in problem.jobs().iter().enumerate() {
        let served = &assignment.served[j];
        if *served < T::zero() || *served > jobs[j] || *served > slots[j] {
            return Err(Refusal::new(format!("`{}` cannot have as many jobs served", job.name())));
        }
    }
    let mut reward = Rational::new();
    for (served, job) in assignment.served.iter().zip(problem.jobs()) {
        verifier.work.rationals(1, &reward)?;
        reward += served.rational() * job.reward();
    }
    if assignment.reward != reward {
        return Err(Refusal::new(format!("the reward of the assignment is {reward}")));
    }
    Ok(())
}

/// A bound, rounded down to what whole jobs can earn: multiples of the greatest common divisor of the
/// rewards.
pub(super) fn whole(
    problem: &Reservation,
    bound: Rational,
    verifier: &mut Verifier<'_>,
) -> Result<Rational, Refusal> {
    let unit = common_unit(problem.jobs().iter().map(|job| job.reward()), &mut verifier.work)?;
    Ok(match unit {
        None => Rational::new(),
        Some(unit) => (bound / &unit).floor() * unit,
    })
}
