//! PS-DSF on random problems: Theorem 1 holds exactly, every time.

mod ps_dsf_check;

use evenhand_mechanisms::{Mechanism, Options, registry};
use evenhand_problem::{Allocation, Problem};
use ps_dsf_check::{SMALL, Shape, problem, spec, theorem_1};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

fn mechanism() -> &'static dyn Mechanism {
    registry::find("ps-dsf").expect("registered")
}

fn exact(problem: &Problem) -> Result<Allocation, String> {
    let outcome = mechanism().allocate(problem, &Options::exact()).map_err(|error| error.to_string())?;
    theorem_1(problem, &outcome.allocation)?;
    Ok(outcome.allocation)
}

fn all(seeds: std::ops::Range<u64>, shape: Shape) {
    let mut failures = Vec::new();
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let problem = problem(spec(&mut Pcg64Mcg::seed_from_u64(seed), shape));
        if let Err(why) = exact(&problem) {
            failures.push(format!("seed {seed}: {why}"));
        }
    }
    assert!(failures.is_empty(), "{} of {count}: {failures:#?}", failures.len());
}

#[test]
fn mixed() {
    all(0..2000, SMALL);
}

#[test]
fn ties() {
    all(0..2000, Shape { largest: 2, ..SMALL });
}

#[test]
fn unlimited_tasks_and_positive_demands() {
    all(0..1000, Shape { zero: 0.0, finite: 0.0, largest: 50, ..SMALL });
}

#[test]
fn many_finite_tasks() {
    all(0..1000, Shape { finite: 0.9, largest: 3, ..SMALL });
}
