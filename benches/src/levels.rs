//! Measures lexicographic max-min on clusters with placement constraints: CPU times in doubles, in rationals,
//! and in rationals with a verified proof.

use std::path::Path;

use evenhand_exact::Share;
use evenhand_levels::level::{Settings, lexicographic, lexicographic_float};
use evenhand_problem::format::problem_to_json;
use evenhand_problem::{Constraints, Problem, Sharing};

use crate::answers;
use crate::constrained::{Eligibility, Shape};
use crate::machine::Clock;
use crate::table::{markdown, seconds};

/// The instances of the table, in ascending size.
pub const SHAPES: &[Shape] = &[
    Shape::new(400, 30, Eligibility::Few(1, 3)),
    Shape { zero: 40, ..Shape::new(400, 30, Eligibility::Few(1, 3)) },
    Shape::new(900, 10, Eligibility::Everywhere),
    Shape::new(1_000, 100, Eligibility::Few(5, 20)),
    Shape::new(1_000, 100, Eligibility::Everywhere),
    Shape::new(1_000, 300, Eligibility::Attributes),
    Shape::new(1_000, 1_000, Eligibility::Few(5, 20)),
    Shape::new(2_000, 1_000, Eligibility::Pools),
    Shape { finite: 70, ..Shape::new(2_000, 1_000, Eligibility::Pools) },
    Shape { zero: 40, ..Shape::new(2_000, 1_000, Eligibility::Pools) },
    Shape::new(4_000, 2_000, Eligibility::Pools),
    Shape::new(10_000, 10, Eligibility::Everywhere),
    Shape::new(100_000, 10, Eligibility::Everywhere),
    Shape::new(10_000, 1_000, Eligibility::Few(5, 20)),
    Shape::new(1_000, 1_000, Eligibility::Everywhere),
];

/// Returns a table of the shapes with at most `most_placements` placements. Each problem is also written to
/// `folder`, for use by other programs and versions.
///
/// # Errors
/// If a file cannot be written, or an answer is not proven.
pub fn table(seed: u64, most_placements: usize, folder: Option<&Path>) -> Result<String, String> {
    let mut rows = Vec::new();
    for shape in SHAPES {
        let problem = shape.problem(seed).map_err(|error| error.to_string())?;
        let placements: usize = (0..problem.n_users()).map(|n| problem.classes_of(n).count()).sum();
        if placements > most_placements {
            continue;
        }
        if let Some(folder) = folder {
            let path = folder.join(format!("{}.json", shape.name().replace([' ', ',', '%'], "-")));
            std::fs::write(&path, problem_to_json(&problem))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        rows.push(row(shape, &problem, placements)?);
    }
    Ok(markdown(
        &["users x classes", "placements", "levels", "float", "exact", "exact + proof verified"],
        &rows,
        1,
    ))
}

fn row(shape: &Shape, problem: &Problem, placements: usize) -> Result<Vec<String>, String> {
    let coefficients = Share::Dominant.coefficients(problem).map_err(|error| error.to_string())?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let settings = Settings::default();
    let time = |start: &Clock| {
        let (wall, cpu) = start.elapsed();
        cpu.unwrap_or(wall)
    };
    let start = Clock::now();
    let float = lexicographic_float(&constraints, &coefficients, &settings);
    let float = float.map_or_else(|error| error.to_string(), |_| seconds(time(&start)));
    let start = Clock::now();
    let optimum = lexicographic(&constraints, &coefficients, &settings).map_err(|error| error.to_string())?;
    let exact = time(&start);
    answers::prove(problem, Share::Dominant, &optimum)?;
    let proven = time(&start);
    let mut levels: Vec<_> = optimum.duals.iter().map(|dual| &dual.level).collect();
    levels.dedup();
    Ok(vec![
        shape.name(),
        placements.to_string(),
        levels.len().to_string(),
        float,
        seconds(exact),
        seconds(proven),
    ])
}
