//! Measures how often mechanisms give no answer on large clusters with placement constraints, and how long an
//! answer takes.

use std::ops::Range;

use super::mechanisms::{Asked, alpha, plain};
use crate::constrained::{Eligibility, Shape};
use crate::machine::Clock;
use crate::table::{markdown, median, seconds};

/// The number of small problems for each large problem. A large problem takes as long as thousands of small
/// problems.
const SMALL_ONES: u64 = 200;

/// The rows of the table for every cluster.
const ASKED: &[Asked] = &[
    plain("proportional"),
    alpha("1/2"),
    alpha("2"),
    alpha("5"),
    plain("njc"),
    plain("asset"),
    plain("drfh"),
];

const UNLIMITED: Shape = Shape::new(1_000, 100, Eligibility::Few(5, 20));

/// The shapes of the clusters.
const SHAPES: &[Shape] = &[UNLIMITED, Shape { finite: 70, ..UNLIMITED }];

/// Returns a table by cluster and mechanism. It uses one seed for every `SMALL_ONES` seeds of `seeds`. The
/// table contains only the clusters whose names contain `only`, and the mechanisms whose names contain
/// `mechanism`.
///
/// # Errors
/// Never, because the generated numbers are valid.
pub fn table(seeds: &Range<u64>, only: &str, mechanism: &str) -> Result<String, String> {
    let n_seeds = ((seeds.end - seeds.start) / SMALL_ONES).max(1);
    // The first seed is 1, as in the tables of running times.
    let seeds: Vec<u64> = (1..=n_seeds).map(|k| seeds.start + k).collect();
    let mut rows = Vec::new();
    for shape in SHAPES.iter().filter(|shape| shape.name().contains(only)) {
        for asked in ASKED.iter().filter(|asked| asked.name().contains(mechanism)) {
            rows.push(row(shape, asked, &seeds)?);
        }
    }
    let head = ["users x classes", "mechanism", "no answer", "CPU time, median", "worst", "first"];
    Ok(markdown(&head, &rows, 2))
}

fn row(shape: &Shape, asked: &Asked, seeds: &[u64]) -> Result<Vec<String>, String> {
    let (mut times, mut missing) = (Vec::new(), Vec::new());
    for seed in seeds {
        let problem = shape.problem(*seed).map_err(|error| error.to_string())?;
        let clock = Clock::now();
        let lacks = asked.lacks(&problem);
        let (wall, cpu) = clock.elapsed();
        times.push(cpu.unwrap_or(wall));
        missing.extend(lacks.flatten().map(|why| format!("{seed}: {why}")));
    }
    let worst = times.iter().copied().fold(0.0, f64::max);
    Ok(vec![
        shape.name(),
        asked.name(),
        format!("{} / {}", missing.len(), seeds.len()),
        median(&times).map_or_else(String::new, seconds),
        seconds(worst),
        missing.into_iter().next().unwrap_or_default(),
    ])
}

#[cfg(test)]
mod tests {
    use super::{ASKED, UNLIMITED};

    #[test]
    fn omitted_small_values_do_not_prevent_the_proof() {
        has_an_answer("proportional", 7);
    }

    #[test]
    fn many_short_steps_lead_to_an_answer() {
        has_an_answer("proportional", 38);
    }

    #[test]
    fn costs_equal_in_doubles_need_no_general_programme() {
        has_an_answer("asset", 5);
    }

    fn has_an_answer(mechanism: &str, seed: u64) {
        let asked = ASKED.iter().find(|asked| asked.name() == mechanism).unwrap();
        assert_eq!(asked.lacks(&UNLIMITED.problem(seed).unwrap()), Some(None), "{mechanism}, seed {seed}");
    }
}
