//! An exact optimum and its certificate in one go: the duals that the solver leaves are the evidence.
//!
//! `evenhand_certify::certify` takes any allocation, so it solves again to find the evidence.

use std::collections::HashSet;

use evenhand_exact::axiom::max_min::uncovered;
use evenhand_exact::{
    Axiom, Certificate, Claim, Evidence, Instance, Level, Prices, Share, ShareCoefficients,
};
use evenhand_levels::level::{LevelDual, LexicographicOptimum, Settings, lexicographic, lexicographic_float};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

/// The DRFH allocation in doubles.
///
/// # Errors
/// What the solver says.
pub fn drfh_float(problem: &Problem) -> Result<LexicographicOptimum<f64>, String> {
    let coefficients = Share::Dominant.coefficients(problem).map_err(text)?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    lexicographic_float(&constraints, &coefficients, &Settings::default()).map_err(text)
}

/// The DRFH allocation in rationals, with the duals that prove its levels.
///
/// # Errors
/// What the solver says.
pub fn drfh_exact(problem: &Problem) -> Result<LexicographicOptimum<Rational>, String> {
    let coefficients = Share::Dominant.coefficients(problem).map_err(text)?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    lexicographic(&constraints, &coefficients, &Settings::default()).map_err(text)
}

/// [`drfh_exact`] as an allocation.
#[must_use]
pub fn allocation(optimum: LexicographicOptimum<Rational>) -> Allocation {
    Allocation {
        mechanism: Some("drfh".to_owned()),
        arithmetic: Arithmetic::Exact,
        tasks: optimum.tasks,
        ..Allocation::default()
    }
}

/// The exact DRFH allocation, proven feasible, max-min and Pareto optimal with tolerance 0: every
/// claim has been verified by the exact crate when this returns.
///
/// # Errors
/// What the solver says, or which claim is refused.
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

/// The level duals, each with the users that are blocked at it: those with a weight in it.
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

/// The level duals added up: positive weights for everybody. A user that is blocked at no level has
/// all its tasks, so that a price on its limit carries its weight.
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

/// Makes every weight at least 1 over what its user would have alone: one factor for all prices.
fn raise(instance: &Instance<'_>, prices: &mut Prices) {
    let weights = prices.user_weights.iter().enumerate().filter(|(n, _)| instance.is_active(*n));
    let needed = weights.map(|(n, weight)| Rational::from(weight * instance.scale(n)).recip()).max();
    if let Some(factor) = needed.filter(|factor| *factor > 1) {
        let all = prices.user_weights.iter_mut().chain(&mut prices.rows).chain(&mut prices.users);
        all.for_each(|value| *value *= &factor);
    }
}

/// The sum over all users of the dominant share, of an allocation in doubles.
///
/// # Errors
/// The share is not defined.
pub fn shares_float(problem: &Problem, tasks: &[Vec<(usize, f64)>]) -> Result<f64, String> {
    let coefficients = Share::Dominant.coefficients(problem).map_err(text)?;
    let share = |(n, list): (usize, &Vec<(usize, f64)>)| {
        list.iter().map(|(_, x)| x).sum::<f64>() * coefficients.uniform(n).map_or(0.0, Rational::to_f64)
    };
    Ok(tasks.iter().enumerate().map(share).sum())
}

/// The same of an exact allocation, rounded user by user.
///
/// # Errors
/// The share is not defined.
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
    fn what_is_timed_is_true() {
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
