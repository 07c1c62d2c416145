//! Measures the widths of the bounds on max-min levels if the time limit for exact levels is reached (`solve
//! --seconds`), by shape of problem.
//!
//! A failure is an infeasible answer, an exact level outside of its bounds, or bounds that are wider than
//! [`WIDEST`].

use std::ops::Range;
use std::time::{Duration, Instant};

use evenhand_exact::axiom::feasible;
use evenhand_exact::{Instance, ShareCoefficients};
use evenhand_levels::level::{LevelIntervals, Settings, Within, lexicographic, lexicographic_within};
use evenhand_problem::number::to_f64;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};
use rayon::prelude::*;

use super::shape::{SHAPES, Shape};

/// The largest width of bounds that count as an answer, as a fraction of the tasks that a user would have
/// alone.
pub const WIDEST: f64 = 1e-6;

/// The time limit for exact rounds, and the largest size of a component that is always solved exactly.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// The name in the table.
    name: &'static str,
    micros: u64,
    small: Option<usize>,
}

const WAYS: [Way; 3] = [
    Way { name: "0 s", micros: 0, small: None },
    // These settings are for problems that are too large for exact rounds.
    Way { name: "0 s, doubles alone", micros: 0, small: Some(0) },
    Way { name: "1 ms, doubles after it", micros: 1000, small: Some(0) },
];

/// The results of the problems of one shape under one setting.
#[derive(Debug, Clone, Default)]
pub struct Widths {
    /// The number of problems to which the share applies.
    pub problems: usize,
    /// The width of the widest bounds, and the seed of their problem.
    pub widest: (f64, u64),
    /// The seeds of failures, each with the reason.
    pub failures: Vec<(u64, String)>,
}

impl Shape {
    fn widths(&self, way: Way, seeds: Range<u64>, most_users: usize) -> Widths {
        let width = |seed: u64| {
            let problem = self.problem(seed, most_users).ok()?;
            let coefficients = self.share.coefficients(&problem).ok()?;
            Some((seed, width(&problem, &coefficients, way)))
        };
        let found: Vec<(u64, Result<f64, String>)> = seeds.into_par_iter().filter_map(width).collect();
        let mut widths = Widths { problems: found.len(), ..Widths::default() };
        for (seed, width) in found {
            match width {
                Err(why) => widths.failures.push((seed, why)),
                Ok(width) => {
                    if width > WIDEST {
                        widths.failures.push((seed, format!("width {width:.1e}")));
                    }
                    if width > widths.widest.0 {
                        widths.widest = (width, seed);
                    }
                }
            }
        }
        widths
    }
}

/// Returns the width of the bounds under a setting.
///
/// # Errors
/// A description of the defect of the bounds.
fn width(problem: &Problem, coefficients: &ShareCoefficients, way: Way) -> Result<f64, String> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let plain = Settings::default();
    let settings = Settings {
        until: Some(Instant::now() + Duration::from_micros(way.micros)),
        small: way.small.unwrap_or(plain.small),
        ..plain
    };
    let found = match lexicographic_within(&constraints, coefficients, &settings) {
        Within::Exact(_) => return Ok(0.0),
        Within::Between(found) => found,
    };
    let allocation =
        Allocation { arithmetic: Arithmetic::Exact, tasks: found.tasks.clone(), ..Allocation::default() };
    let instance = Instance::new(problem, &allocation).map_err(|error| error.to_string())?;
    if feasible::tightest(&instance).is_some_and(|(_, margin)| margin < 0) {
        return Err("not feasible".to_owned());
    }
    let optimum = lexicographic(&constraints, coefficients, &plain).map_err(|error| error.to_string())?;
    for (n, (low, high)) in found.levels.iter().enumerate() {
        let terms = optimum.tasks[n].iter().map(|(i, x)| Rational::from(coefficients.of(n, *i) * x));
        let level = terms.sum::<Rational>() / problem.users()[n].weight();
        if level < *low || *high < level {
            return Err(format!("the level of user {n} is outside of its bounds"));
        }
    }
    Ok(to_f64(&LevelIntervals::width(&found)))
}

/// Returns a table of the widest bounds for the shapes whose names contain `only`.
#[must_use]
pub fn table(seeds: &Range<u64>, most_users: usize, only: &str) -> String {
    let mut rows = Vec::new();
    let mut firsts = Vec::new();
    for shape in SHAPES.iter().filter(|shape| shape.name.contains(only)) {
        let mut row = vec![shape.name.to_owned()];
        for way in WAYS {
            let widths = shape.widths(way, seeds.clone(), most_users);
            row.push(format!("{} / {}", widths.failures.len(), widths.problems));
            row.push(format!("{:.1e}", widths.widest.0));
            if let Some((seed, why)) = widths.failures.first() {
                firsts.push(format!("- {}, {}, seed {seed}: {why}", shape.name, way.name));
            }
        }
        rows.push(row);
    }
    let mut head = vec!["shape"];
    for way in WAYS {
        head.extend([way.name, "widest"]);
    }
    format!("{}\n{}", crate::table::markdown(&head, &rows, 1), firsts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{SHAPES, WAYS};

    #[test]
    fn bounds_hold_and_are_narrow_if_small_parts_are_exact() {
        for shape in SHAPES {
            let widths = shape.widths(WAYS[0], 0..10, 12);
            assert!(widths.failures.is_empty(), "{}: {:?}", shape.name, widths.failures.first());
        }
    }
}
