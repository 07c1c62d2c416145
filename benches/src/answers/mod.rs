//! Measures how often max-min has no answer, by shape of problem. Random problems of every shape are solved
//! exactly and in doubles. An exact answer counts if its own duals prove it in the arithmetic of the checker.

pub mod large;
pub mod mechanisms;
mod shape;
pub mod widths;

use evenhand_exact::axiom::max_min::{shares, uncovered};
use evenhand_exact::{Axiom, Claim, Evidence, Instance, Level, Share};
use evenhand_levels::level::{LevelDual, LexicographicOptimum, Settings, lexicographic, lexicographic_float};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

pub use self::shape::{Numbers, Placement, SHAPES, Shape};

/// The relative error that a user's tasks may have in doubles.
const FLOAT_TOLERANCE: f64 = 1e-6;

/// The results of the problems of one shape.
#[derive(Debug, Clone, Default)]
pub struct Census {
    /// The number of problems to which the share applies.
    pub problems: usize,
    /// The seeds without a proven exact answer, each with the reason.
    pub failures: Vec<(u64, String)>,
    /// The seeds for which the answer in doubles is missing, or wrong by more than 1e-6.
    pub float_failures: Vec<u64>,
    /// The number of problems that needed exact pivots.
    pub repaired: usize,
    /// The number of exact pivots.
    pub pivots: usize,
}

impl Shape {
    /// Solves the problems with these seeds, and returns the results.
    #[must_use]
    pub fn census(&self, seeds: std::ops::Range<u64>, most_users: usize) -> Census {
        let mut census = Census::default();
        for seed in seeds {
            let Ok(problem) = self.problem(seed, most_users) else { continue };
            let Ok(coefficients) = self.share.coefficients(&problem) else { continue };
            census.problems += 1;
            let constraints = Constraints::new(&problem, Sharing::Rdm);
            let settings = Settings::default();
            let optimum = match lexicographic(&constraints, &coefficients, &settings) {
                Ok(optimum) => optimum,
                Err(error) => {
                    census.failures.push((seed, error.to_string()));
                    continue;
                }
            };
            census.repaired += usize::from(optimum.pivots > 0);
            census.pivots += optimum.pivots;
            if let Err(why) = prove(&problem, self.share, &optimum) {
                census.failures.push((seed, why));
            }
            let float = lexicographic_float(&constraints, &coefficients, &settings);
            if !float.is_ok_and(|float| agree(&problem, &float.tasks, &optimum.tasks)) {
                census.float_failures.push(seed);
            }
        }
        census
    }
}

/// Checks that the duals of a solution prove the optimum, with tolerance and margin 0.
///
/// # Errors
/// The reason why the duals prove no optimum.
pub fn prove(
    problem: &Problem,
    share: Share,
    optimum: &LexicographicOptimum<Rational>,
) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let allocation =
        Allocation { arithmetic: Arithmetic::Exact, tasks: optimum.tasks.clone(), ..Allocation::default() };
    let instance = Instance::new(problem, &allocation).map_err(|e| text(&e))?;
    let zero = Rational::new();
    let feasible = Claim::derive(Axiom::Feasible, &instance, &zero).map_err(|e| text(&e))?;
    if feasible.holds != Some(true) {
        return Err("not feasible".to_owned());
    }
    let levels = Evidence::Levels(levels(&instance, share, &optimum.duals)?);
    let claim =
        Claim::with_evidence(Axiom::MaxMin, Some(share), levels, &instance, &zero).map_err(|e| text(&e))?;
    match claim.holds {
        Some(true) => Ok(()),
        _ => Err(format!("margin {:?}", claim.margin)),
    }
}

/// Returns a table of how often there was no answer, over these seeds and with at most `most_users` users.
#[must_use]
pub fn table(seeds: &std::ops::Range<u64>, most_users: usize, only: &str) -> String {
    let mut rows = Vec::new();
    for shape in SHAPES.iter().filter(|shape| shape.name.contains(only)) {
        let census = shape.census(seeds.clone(), most_users);
        let first = census.failures.first().map_or_else(String::new, |(seed, why)| format!("{seed}: {why}"));
        rows.push(vec![
            shape.name.to_owned(),
            census.problems.to_string(),
            census.failures.len().to_string(),
            census.repaired.to_string(),
            census.float_failures.len().to_string(),
            first,
        ]);
    }
    let head = ["shape", "problems", "exactly: none", "with exact pivots", "doubles: wrong or none", "first"];
    crate::table::markdown(&head, &rows, 1)
}

/// Returns the levels that the duals prove in the form of evidence of a certificate. Each level covers the
/// users that its dual blocks.
fn levels(instance: &Instance<'_>, share: Share, duals: &[LevelDual]) -> Result<Vec<Level>, String> {
    let problem = instance.problem();
    let coefficients = share.coefficients(problem).map_err(|e| e.to_string())?;
    let shares = shares(instance, &coefficients).map_err(|e| e.to_string())?;
    let mut open = vec![false; problem.n_users()];
    for n in uncovered(instance, &coefficients).map_err(|e| e.to_string())? {
        open[n] = true;
    }
    let mut level = |dual: &LevelDual| {
        let of_level = dual.prices.user_weights.iter().map(|(n, _)| *n);
        let blocked = |n: &usize| shares[*n] == dual.level && std::mem::take(&mut open[*n]);
        Level { covers: of_level.filter(blocked).collect(), prices: dual.prices.clone() }
    };
    Ok(duals.iter().map(&mut level).collect())
}

/// Returns `true` if every user has the same number of tasks in both allocations, within [`FLOAT_TOLERANCE`].
fn agree(problem: &Problem, float: &[Vec<(usize, f64)>], exact: &[Vec<(usize, Rational)>]) -> bool {
    (0..problem.n_users()).all(|n| {
        let mine: f64 = float[n].iter().map(|(_, x)| x).sum();
        let right = exact[n].iter().map(|(_, x)| x).sum::<Rational>().to_f64();
        (mine - right).abs() <= FLOAT_TOLERANCE * right
    })
}
