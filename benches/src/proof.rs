//! An exact optimum together with its certificate. The duals of the solver are the evidence.
//!
//! `evenhand_certify::certify` accepts any allocation, so it has to solve again to compute the evidence.

use std::collections::HashSet;

use evenhand_exact::axiom::max_min::uncovered;
use evenhand_exact::{
    Axiom, Certificate, Claim, Evidence, Instance, Level, Prices, Share, ShareCoefficients,
};
use evenhand_levels::level::{LevelDual, LexicographicOptimum, Settings, lexicographic, lexicographic_float};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

/// Computes the DRFH allocation in doubles.
///
/// # Errors
/// The error of the solver.
pub fn drfh_float(problem: &Problem) -> Result<LexicographicOptimum<f64>, String> {
    let coefficients = Share::Dominant.coefficients(problem).map_err(text)?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    lexicographic_float(&constraints, &coefficients, &Settings::default()).map_err(text)
}

/// Computes the DRFH allocation in rationals, with the duals that prove its levels.
///
/// # Errors
/// The error of the solver.
pub fn drfh_exact(problem: &Problem) -> Result<LexicographicOptimum<Rational>, String> {
    let coefficients = Share::Dominant.coefficients(problem).map_err(text)?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    lexicographic(&constraints, &coefficients, &Settings::default()).map_err(text)
}

/// Returns the result of [`drfh_exact`] as an allocation.
#[must_use]
pub fn allocation(optimum: LexicographicOptimum<Rational>) -> Allocation {
    Allocation {
        mechanism: Some("drfh".to_owned()),
        arithmetic: Arithmetic::Exact,
        tasks: optimum.tasks,
        ..Allocation::default()
    }
}

/// Computes the exact DRFH allocation, with proofs that it is feasible, max-min and Pareto optimal with
/// tolerance 0. The exact crate verifies every claim before this function returns.
///
/// # Errors
/// The error of the solver, or the claim that is refused.
pub fn drfh_proven(problem: &Problem) -> Result<Certificate, String> {
    let coefficients = Share::Dominant.coefficients(problem).map_err(text)?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let mut optimum = lexicographic(&constraints, &coefficients, &Settings::default()).map_err(text)?;
    let duals = std::mem::take(&mut optimum.duals);
    let allocation = allocation(optimum);
    let instance = Instance::new(problem, &allocation).map_err(text)?;
    let tolerance = Rational::new();

    let pareto = Evidence::Prices(pareto_prices(&instance, &duals, |n| {
        let u = coefficients.uniform(n).cloned().unwrap_or_default();
        u / problem.users()[n].weight()
    }));
    let levels = Evidence::Levels(levels(&instance, &coefficients, duals)?);
    let share = Some(Share::Dominant);
    let claims = vec![
        Claim::derive(Axiom::Feasible, &instance, &tolerance).map_err(text)?,
        Claim::with_evidence(Axiom::MaxMin, share, levels, &instance, &tolerance).map_err(text)?,
        Claim::with_evidence(Axiom::ParetoOptimal, None, pareto, &instance, &tolerance).map_err(text)?,
    ];
    if claims.iter().any(|claim| claim.holds != Some(true)) {
        return Err("the optimum violates an axiom".to_owned());
    }
    let claimed = |axiom: &Axiom| claims.iter().any(|claim| claim.axiom == *axiom);
    let left = Axiom::questions(problem).filter(|axiom| !claimed(axiom));
    let not_checked = left.map(|axiom| axiom.name().to_owned()).collect();
    let problem = problem.clone();
    Ok(Certificate { problem, allocation, problem_sha256: None, tolerance, claims, not_checked })
}

/// Returns the duals of the levels, each with the users that the level blocks. These are the users with a
/// positive weight in the dual.
fn levels(
    instance: &Instance<'_>,
    coefficients: &ShareCoefficients,
    duals: Vec<LevelDual>,
) -> Result<Vec<Level>, String> {
    let mut open: HashSet<usize> = uncovered(instance, coefficients).map_err(text)?.into_iter().collect();
    let level = |LevelDual { prices, .. }| {
        let weighted = prices.user_weights.iter().map(|(n, _)| *n);
        Level { covers: weighted.filter(|n| open.remove(n)).collect(), prices }
    };
    Ok(duals.into_iter().map(level).collect())
}

/// Returns the sum of the duals of the levels, which has positive weights for all users. A user that no level
/// blocks has all its tasks, so a price on its task limit compensates its weight.
fn pareto_prices(
    instance: &Instance<'_>,
    duals: &[LevelDual],
    per_task: impl Fn(usize) -> Rational,
) -> Prices {
    let mut prices = Prices::zero(instance);
    duals.iter().for_each(|dual| prices.add(&dual.prices));
    for n in (0..prices.users.len()).filter(|&n| instance.is_active(n)) {
        prices.user_weights[n] *= per_task(n);
        if prices.user_weights[n].is_zero() {
            prices.users[n] += 1;
            prices.user_weights[n] = Rational::from(1);
        }
    }
    raise(instance, &mut prices);
    prices
}

/// Multiplies all prices by the same factor, so that every weight is at least the inverse of the number of
/// tasks that its user could have alone.
fn raise(instance: &Instance<'_>, prices: &mut Prices) {
    let weights = prices.user_weights.iter().enumerate().filter(|(n, _)| instance.is_active(*n));
    let needed = weights.map(|(n, weight)| Rational::from(weight * instance.scale(n)).recip()).max();
    if let Some(factor) = needed.filter(|factor| *factor > 1) {
        let all = prices.user_weights.iter_mut().chain(&mut prices.rows).chain(&mut prices.users);
        all.for_each(|value| *value *= &factor);
    }
}

/// Returns the sum of the dominant shares of all users, for an allocation in doubles.
///
/// # Errors
/// If the share is not defined.
pub fn shares_float(problem: &Problem, tasks: &[Vec<(usize, f64)>]) -> Result<f64, String> {
    let coefficients = Share::Dominant.coefficients(problem).map_err(text)?;
    let share = |(n, list): (usize, &Vec<(usize, f64)>)| {
        list.iter().map(|(_, x)| x).sum::<f64>() * coefficients.uniform(n).map_or(0.0, Rational::to_f64)
    };
    Ok(tasks.iter().enumerate().map(share).sum())
}

/// Returns the sum of the dominant shares for an exact allocation. The tasks of each user are rounded to
/// doubles.
///
/// # Errors
/// If the share is not defined.
pub fn shares_exact(problem: &Problem, tasks: &[Vec<(usize, Rational)>]) -> Result<f64, String> {
    let rounded: Vec<Vec<(usize, f64)>> =
        tasks.iter().map(|list| list.iter().map(|(i, x)| (*i, x.to_f64())).collect()).collect();
    shares_float(problem, &rounded)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use evenhand_exact::check;

    use super::*;
    use crate::instances::{Tasks, general, google};

    #[test]
    fn timed_claims_are_true() {
        let problems = [
            google(60, 1, Tasks::Finite).unwrap(),
            google(60, 1, Tasks::Unlimited).unwrap(),
            general(12, 3, 40, 1, Tasks::Finite).unwrap(),
        ];
        for problem in &problems {
            let certificate = drfh_proven(problem).unwrap();
            assert_eq!(check(&certificate).reason, None, "{}", problem.name());
            let exact = shares_exact(problem, &certificate.allocation.tasks).unwrap();
            let float = shares_float(problem, &drfh_float(problem).unwrap().tasks).unwrap();
            assert!((float / exact - 1.0).abs() < 1e-9, "{}: {float} {exact}", problem.name());
        }
    }
}
