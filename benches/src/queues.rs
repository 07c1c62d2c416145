//! Measures queues on clusters: hierarchical filling in rationals, its certificate and the check, for growing
//! sizes.

mod cluster;

use std::path::Path;

use evenhand_certify::{Request, certify, default_requests};
use evenhand_exact::{Axiom, check};
use evenhand_mechanisms::registry;
use evenhand_problem::format::Source;
use evenhand_problem::{Arithmetic, Rational};
use evenhand_testkit::agreement::of_kernel;

pub use cluster::{Kind, Shape};

use crate::machine::Clock;
use crate::table::{markdown, seconds};

const fn shape(kind: Kind, queues: usize, shapes: usize, classes: usize) -> Shape {
    Shape { kind, queues, shapes, classes }
}

/// The instances of the table in ascending order of size.
pub const SHAPES: &[Shape] = &[
    shape(Kind::Teams, 20, 100, 20),
    shape(Kind::Teams, 50, 300, 50),
    shape(Kind::Teams, 50, 500, 30),
    shape(Kind::Teams, 100, 1_000, 150),
    shape(Kind::Teams, 200, 2_000, 300),
    shape(Kind::Deep, 200, 2_000, 300),
    shape(Kind::Open, 200, 2_000, 300),
    shape(Kind::Promised, 200, 2_000, 300),
    shape(Kind::Anywhere, 200, 2_000, 300),
    shape(Kind::OnClasses, 200, 2_000, 300),
];

/// The instances of the table of the axiom `tree`. At this size, the axiom is examined only on request.
pub const TREES: &[Shape] = &[
    shape(Kind::Teams, 60, 300, 50),
    shape(Kind::Deep, 60, 300, 50),
    shape(Kind::Open, 60, 300, 50),
    shape(Kind::Promised, 60, 300, 50),
    shape(Kind::OnClasses, 60, 300, 50),
];

/// Returns `true` if the list contains the kind of the shape. An empty list stands for all kinds.
fn is_one(shape: &Shape, kinds: &[String]) -> bool {
    kinds.is_empty() || kinds.iter().any(|kind| kind == shape.kind.name())
}

/// Returns a table of the sizes with at most `most_shapes` shapes of tasks. Each problem is also written to `folder`.
///
/// # Errors
/// If a file cannot be written, or an answer is not proven.
pub fn table(
    seed: u64,
    most_shapes: usize,
    kinds: &[String],
    folder: Option<&Path>,
) -> Result<String, String> {
    let is_asked = |shape: &&Shape| shape.shapes <= most_shapes && is_one(shape, kinds);
    let shapes: Vec<&Shape> = SHAPES.iter().filter(is_asked).collect();
    let texts: Vec<String> = shapes.iter().map(|shape| shape.json(seed).to_string()).collect();
    for (shape, text) in shapes.iter().zip(&texts) {
        if let Some(folder) = folder {
            let path = folder.join(shape.file());
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    let rows: Vec<Vec<String>> =
        shapes.iter().zip(&texts).map(|(shape, text)| row(shape, text)).collect::<Result<_, _>>()?;
    let head = [
        "queues, shapes, classes",
        "segments",
        "programmes",
        "widest number",
        "solve",
        "certify",
        "check",
        "in all",
    ];
    Ok(markdown(&head, &rows, 1))
}

fn row(shape: &Shape, text: &str) -> Result<Vec<String>, String> {
    let problem = Source { name: "queues", text }.problem().map_err(|error| error.to_string())?;
    let mechanism = registry::find("tree").ok_or("there is no mechanism `tree`")?;
    let start = Clock::now();
    let cpu = || {
        let (wall, cpu) = start.elapsed();
        cpu.unwrap_or(wall)
    };
    let outcome = mechanism.allocate(&problem, Arithmetic::Exact).map_err(|error| error.to_string())?;
    let solved = cpu();
    let requests = default_requests(&problem, &outcome.allocation);
    let examined = certify(&problem, &outcome.allocation, &requests, &Rational::new());
    let examined = examined.map_err(|error| error.to_string())?;
    let certified = cpu();
    let verdict = check(&examined.certificate);
    if let Some(reason) = verdict.reason {
        return Err(format!("{}: the certificate is not valid: {reason}", shape.name()));
    }
    let checked = cpu();
    let bits = |x: &Rational| x.numer().significant_bits() + x.denom().significant_bits();
    let widest = outcome.allocation.totals().iter().map(bits).max().unwrap_or_default();
    Ok(vec![
        shape.name(),
        outcome.rounds.to_string(),
        outcome.programmes.to_string(),
        format!("{widest} bits"),
        seconds(solved),
        seconds(certified - solved),
        seconds(checked - certified),
        seconds(checked),
    ])
}

/// Returns a table of the axiom `tree`. The filling is computed and certified, and both checkers run it
/// again.
///
/// # Errors
/// If an answer is not proven.
pub fn trees(seed: u64, kinds: &[String]) -> Result<String, String> {
    let rows: Vec<Vec<String>> = TREES
        .iter()
        .filter(|shape| is_one(shape, kinds))
        .map(|shape| tree_row(shape, seed))
        .collect::<Result<_, _>>()?;
    Ok(markdown(&["queues, shapes, classes", "solve", "certify", "check", "kernel"], &rows, 1))
}

fn tree_row(shape: &Shape, seed: u64) -> Result<Vec<String>, String> {
    let text = shape.json(seed).to_string();
    let problem = Source { name: "queues", text: &text }.problem().map_err(|error| error.to_string())?;
    let mechanism = registry::find("tree").ok_or("there is no mechanism `tree`")?;
    let mut times = Vec::new();
    let mut clock = Clock::now();
    let mut lap = || {
        let (wall, cpu) = std::mem::replace(&mut clock, Clock::now()).elapsed();
        times.push(cpu.unwrap_or(wall));
    };
    let outcome = mechanism.allocate(&problem, Arithmetic::Exact).map_err(|error| error.to_string())?;
    lap();
    let requests = [Request::of(Axiom::Tree)];
    let examined = certify(&problem, &outcome.allocation, &requests, &Rational::new());
    let examined = examined.map_err(|error| error.to_string())?;
    let certificate = examined.certificate;
    lap();
    if let Some((_, why)) = examined.undecided.first() {
        let times = times.into_iter().map(seconds).chain([why.to_string(), String::new()]);
        return Ok(std::iter::once(shape.name()).chain(times).collect());
    }
    let verdict = check(&certificate);
    lap();
    let kernel = of_kernel(&certificate.to_json(), None);
    lap();
    if let Some(reason) = verdict.reason.as_deref().or(kernel.reason()) {
        return Err(format!("{}: the certificate is not valid: {reason}", shape.name()));
    }
    Ok(std::iter::once(shape.name()).chain(times.into_iter().map(seconds)).collect())
}
