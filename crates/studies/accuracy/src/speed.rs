//! Measures the running times of mechanisms in floating point and in exact arithmetic, for problems of growing size.
//!
//! This measurement is small on purpose: it takes half a minute and shows what to expect on this machine. The
//! package `evenhand-benches` compares with other programs.

use std::time::Duration;

use evenhand_mechanisms::{Flags, Mechanism, MechanismError, registry};
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use rand::{RngCore, SeedableRng};
use rand_pcg::Pcg64;

use super::contenders::{self, Contender};
use super::timing::{Effort, timed};
use super::{BenchError, suite};

/// The numbers of users, classes and resources of the clusters.
pub const CLUSTERS: [(usize, usize, usize); 3] = [(10, 3, 2), (40, 5, 3), (160, 8, 3)];
/// The numbers of users and resources of the pools.
pub const POOLS: [(usize, usize); 3] = [(100, 8), (1_000, 8), (10_000, 8)];
/// The exponent of the mechanisms that need an exponent.
const ALPHA: u32 = 2;

/// A mechanism or solver on a problem, with its times.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// The name of the mechanism, or of the solver of pools.
    pub name: &'static str,
    /// The number of users.
    pub users: usize,
    /// The number of server classes.
    pub classes: usize,
    /// The number of resources.
    pub resources: usize,
    /// The time in floating point. `None` if the run failed or there is no such method.
    pub float: Option<MedianTime>,
    /// The time with an exact result. `None` if the run failed or there is no such method.
    pub exact: Option<MedianTime>,
    /// The reason why a time is missing.
    pub why: Option<String>,
}

/// A median time in seconds, and the number of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianTime {
    /// The median time in seconds.
    pub seconds: f64,
    /// The number of runs, without the warm-up.
    pub runs: usize,
}

impl Timing {
    /// Returns the time of the exact result divided by the time in floating point.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        Some(self.exact?.seconds / self.float?.seconds)
    }
}

/// Returns the number of measurements of [`run`].
#[must_use]
pub fn n_measurements() -> usize {
    CLUSTERS.len() * registry::by_default().len() + POOLS.len() * POOL_SOLVERS.len()
}

/// Measures on every cluster all mechanisms that a comparison runs by default, and on every pool the solvers
/// of pools. Mechanisms that do not apply are left out.
///
/// # Errors
/// [`BenchError::Instance`] if an instance is not a valid problem.
pub fn run(seed: u64, effort: Effort, mut progress: impl FnMut(&str)) -> Result<Vec<Timing>, BenchError> {
    let mut lines = Vec::new();
    for (users, classes, resources) in CLUSTERS {
        let problem = cluster(users, classes, resources, seed)?;
        for mechanism in registry::by_default() {
            progress(mechanism.info.id);
            lines.extend(line_of(mechanism, &problem, effort));
        }
    }
    for (users, resources) in POOLS {
        let made = suite::random(users, resources, seed);
        let case = made.map_err(|error| BenchError::Instance {
            instance: format!("{users} users of one pool"),
            what: error.to_string(),
        })?;
        for (name, solver) in pool_solvers() {
            progress(name);
            let timed = timed(effort, || solver.solve(&case, Duration::MAX));
            let why = match timed.result {
                Ok(answer) => (answer.status != "solved").then_some(answer.status),
                Err(error) => Some(error.to_string()),
            };
            let float = Some(MedianTime { seconds: timed.seconds, runs: timed.runs });
            lines.push(Timing { name, users, classes: 1, resources, float, exact: None, why });
        }
    }
    Ok(lines)
}

/// The solvers of pools that are measured: the name that is shown here, and the solver's own name.
const POOL_SOLVERS: [(&str, &str); 2] =
    [("path follower", "path-follower"), ("interior point", "interior-point")];

fn pool_solvers() -> Vec<(&'static str, Box<dyn Contender>)> {
    let of_name = |(shown, name): (&'static str, &str)| {
        let found = contenders::all().into_iter().find(|contender| contender.name() == name);
        found.map(|contender| (shown, contender))
    };
    POOL_SOLVERS.into_iter().filter_map(of_name).collect()
}

/// Measures a mechanism on a problem. Returns `None` if the mechanism does not apply to the problem.
fn line_of(mechanism: &Mechanism, problem: &Problem, effort: Effort) -> Option<Timing> {
    let mut why = None;
    let mut time = |arithmetic: Arithmetic| {
        let mut flags = Flags::new(arithmetic);
        if mechanism.takes("alpha") {
            flags = flags.with("alpha", ALPHA.to_string());
        }
        // A first run shows whether the mechanism applies and succeeds.
        match mechanism.allocate_with(problem, &flags) {
            Ok(_) => {
                let timed = timed(effort, || mechanism.allocate_with(problem, &flags).is_ok());
                Ok(Some(MedianTime { seconds: timed.seconds, runs: timed.runs }))
            }
            Err(MechanismError::NotApplicable { .. }) => Err(()),
            Err(error) => {
                why = Some(error.to_string());
                Ok(None)
            }
        }
    };
    let (float, exact) = (time(Arithmetic::Float).ok()?, time(Arithmetic::Exact).ok()?);
    Some(Timing {
        name: mechanism.info.id,
        users: problem.n_users(),
        classes: problem.n_servers(),
        resources: problem.n_resources(),
        float,
        exact,
        why,
    })
}

/// Returns a random cluster with classes of 1 to 100 servers, weights from 1 to 5 and unlimited tasks.
///
/// # Errors
/// [`BenchError::Instance`] if there are no classes or resources.
pub fn cluster(users: usize, classes: usize, resources: usize, seed: u64) -> Result<Problem, BenchError> {
    let size = ((users as u64) << 40) + ((classes as u64) << 20) + resources as u64;
    let mut random = Pcg64::seed_from_u64(seed ^ size.rotate_left(13));
    let mut between = |least: u64, most: u64| {
        least + ((u128::from(random.next_u64()) * u128::from(most - least + 1)) >> 64) as u64
    };
    let names: Vec<String> = (1..=resources).map(|r| format!("r{r}")).collect();
    let servers = (1..=classes).map(|i| ServerSpec {
        name: format!("class {i}"),
        count: Some(Rational::from(between(1, 100))),
        capacity: names.iter().map(|name| (name.clone(), Rational::from(between(20, 400)))).collect(),
    });
    let servers = servers.collect();
    let users = (1..=users).map(|n| UserSpec {
        name: format!("user {n}"),
        weight: Some(Rational::from(between(1, 5))),
        demand: names.iter().map(|name| (name.clone(), Rational::from((between(1, 400), 20u32)))).collect(),
        ..UserSpec::default()
    });
    let users = users.collect();
    let name = format!("{classes} classes");
    Problem::new(ProblemSpec { name: name.clone(), resources: names, servers, users })
        .map_err(|error| BenchError::Instance { instance: name, what: error.to_string() })
}
