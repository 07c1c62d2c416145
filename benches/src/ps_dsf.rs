//! PS-DSF: plain sweeps against the accelerated solver, how often the exact answer is identified, and
//! the time-shared form as a Fisher market.
//!
//! Clusters are the node shapes of the openb trace (27 classes) where the data is there, random
//! classes elsewhere. Times of the float solvers are CPU times. Users are pods of the trace drawn at random, their requests varied.

use std::path::{Path, PathBuf};
use std::time::Instant;

use evenhand_import::{Input, openb};
use evenhand_mechanisms::{Status, ps_dsf::float, registry};
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};

use crate::instances::{Random, Tasks, general};
use crate::machine::Clock;
use crate::table::{markdown, median, seconds};

/// What is measured.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Folder of the openb data.
    pub data: PathBuf,
    /// Numbers of users.
    pub users: Vec<usize>,
    /// Instances of each size.
    pub seeds: u64,
    /// Seed of the first one.
    pub first: u64,
    /// Random classes also where the openb data is.
    pub random: Option<Tasks>,
    /// Most plain sweeps.
    pub plain: usize,
    /// Whether to look for exact answers too.
    pub exact: bool,
}

/// The cluster of the openb trace with `n_users` random users.
///
/// # Errors
/// The data cannot be read.
pub fn openb_users(folder: &Path, n_users: usize, seed: u64) -> Result<Problem, String> {
    let open = |name: &str| Input::open(&folder.join(name)).map_err(|error| error.to_string());
    let pods = open("openb_pod_list_gpuspec33.csv.gz")?;
    let real =
        openb(open("openb_node_list_all_node.csv.gz")?, pods).map_err(|error| error.to_string())?.problem;
    let mut random = Random::new(seed, n_users as u64);
    let named = |values: &[Rational]| real.resources().iter().cloned().zip(values.iter().cloned()).collect();
    let servers = real.servers().iter().map(|class| ServerSpec {
        name: class.name().to_owned(),
        count: Some(Rational::from(class.count())),
        capacity: named(&class.capacity().to_vec()),
    });
    let users = (0..n_users).map(|n| {
        let pod = &real.users()[random.between(0, real.n_users() as u64 - 1) as usize];
        let vary = |d: &Rational| Rational::from(d * random.between(50, 200)) / 100u32;
        let demand: Vec<Rational> = pod.base_demand().iter().map(vary).collect();
        let class = |i: &usize| real.servers()[*i].name().to_owned();
        UserSpec {
            name: format!("user {}", n + 1),
            weight: Some(Rational::from(random.between(1, 5))),
            tasks: (random.between(1, 3) == 1)
                .then(|| Rational::from(random.between(1, 60_000)) / n_users as u64),
            demand: named(&demand),
            servers: pod.servers().map(|list| list.iter().map(class).collect()),
            ..UserSpec::default()
        }
    });
    let (name, users) = (format!("openb-{n_users}-seed-{seed}"), users.collect());
    let spec = ProblemSpec { name, resources: real.resources().to_vec(), servers: servers.collect(), users };
    Problem::new(spec).map_err(|error| error.to_string())
}

fn instance(settings: &Settings, n_users: usize, seed: u64) -> Result<Problem, String> {
    if settings.data.is_dir() && settings.random.is_none() {
        openb_users(&settings.data, n_users, seed)
    } else {
        let tasks = settings.random.unwrap_or(Tasks::Finite);
        general(27, 3, n_users, seed, tasks).map_err(|error| error.to_string())
    }
}

/// Runs all and returns the tables as Markdown.
///
/// # Errors
/// The data cannot be read, or an exact answer is none.
pub fn run(settings: &Settings) -> Result<String, String> {
    let head = [
        "users x classes",
        "sweeps",
        "plain",
        "residual",
        "accelerated",
        "residual ",
        "way",
        "ratio",
        "exact",
        "identified",
    ];
    let mut rows = Vec::new();
    for &n_users in &settings.users {
        let (mut plain_times, mut fast_times, mut exact_times) = (Vec::new(), Vec::new(), Vec::new());
        let (mut sweeps, mut ratios, mut identified, mut ways) = (Vec::new(), Vec::new(), 0, Vec::new());
        let (mut plain_worst, mut fast_worst, mut classes) = (0.0_f64, 0.0_f64, 0);
        for seed in settings.first..settings.first + settings.seeds {
            let problem = instance(settings, n_users, seed)?;
            classes = problem.n_servers();
            let constraints = float::constraints(&problem);
            let timed = |how: &float::Settings| {
                let start = Clock::now();
                let solution = float::solve(&constraints, how);
                let (wall, cpu) = start.elapsed();
                (cpu.unwrap_or(wall), solution)
            };
            let tolerance = 1e-10;
            let (fast, solution) = timed(&float::Settings { tolerance, ..float::Settings::default() });
            fast_worst = fast_worst.max(solution.residual);
            ways.push(format!("{:?} {}+{}", solution.way, solution.sweeps, solution.steps));
            fast_times.push(fast);
            if settings.plain > 0 {
                let how = float::Settings { tolerance, sweeps: settings.plain, plain: true };
                let (plain, swept) = timed(&how);
                plain_worst = plain_worst.max(swept.residual);
                let bound = if swept.status == Status::Solved { "" } else { "> " };
                sweeps.push(format!("{bound}{}", swept.sweeps));
                plain_times.push(plain);
                ratios.push(plain / fast);
            }
            if settings.exact {
                let mechanism = registry::find("ps-dsf").ok_or("there is no ps-dsf")?;
                let start = Instant::now();
                match mechanism.allocate(&problem, Arithmetic::Exact) {
                    Ok(_) => identified += 1,
                    Err(error) => ways.push(error.to_string()),
                }
                exact_times.push(start.elapsed().as_secs_f64());
            }
        }
        let time = |times: &[f64]| median(times).map_or_else(String::new, seconds);
        let with_worst = |times: &[f64]| {
            let worst = times.iter().copied().fold(0.0, f64::max);
            format!("{}, at most {}", time(times), seconds(worst))
        };
        rows.push(vec![
            format!("{n_users} x {classes}"),
            sweeps.join(", "),
            with_worst(&plain_times),
            format!("{plain_worst:.0e}"),
            with_worst(&fast_times),
            format!("{fast_worst:.0e}"),
            ways.join(", "),
            median(&ratios).map_or_else(String::new, |ratio| {
                let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
                format!("{ratio:.1}, least {least:.1}")
            }),
            time(&exact_times),
            format!("{identified} of {}", settings.seeds),
        ]);
    }
    Ok(markdown(&head, &rows, 1) + "\n" + &time_shared(settings)?)
}

/// The time-shared form: 100 random classes, exact.
fn time_shared(settings: &Settings) -> Result<String, String> {
    let mechanism = registry::find("ps-dsf-tdm").ok_or("there is no ps-dsf-tdm")?;
    let mut rows = Vec::new();
    for &n_users in &settings.users {
        let (mut float_times, mut exact_times) = (Vec::new(), Vec::new());
        for seed in 1..=settings.seeds {
            let problem = general(100, 3, n_users, seed, Tasks::Finite).map_err(|error| error.to_string())?;
            for (arithmetic, times) in
                [(Arithmetic::Float, &mut float_times), (Arithmetic::Exact, &mut exact_times)]
            {
                let start = Instant::now();
                mechanism.allocate(&problem, arithmetic).map_err(|error| error.to_string())?;
                times.push(start.elapsed().as_secs_f64());
            }
        }
        let time = |times: &[f64]| median(times).map_or_else(String::new, seconds);
        rows.push(vec![format!("{n_users} x 100"), time(&float_times), time(&exact_times)]);
    }
    Ok(markdown(&["users x classes, time-shared", "float", "exact"], &rows, 1))
}
