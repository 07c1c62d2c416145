//! Measures PS-DSF in doubles, how often there are exact answers, and the time-shared form as a Fisher
//! market.
//!
//! If the openb data are present, the clusters have the node shapes of the openb trace (27 classes).
//! Otherwise they have random classes. Times in doubles are CPU times. The users are random pods of the trace
//! with varied requests.

use std::path::{Path, PathBuf};
use std::time::Instant;

use evenhand_import::{Input, openb};
use evenhand_mechanisms::{Status, registry};
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};

use crate::instances::{Random, Tasks, general};
use crate::machine::Clock;
use crate::table::{markdown, median, seconds};

/// The settings of the measurements.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder of the openb data.
    pub data: PathBuf,
    /// The numbers of users.
    pub users: Vec<usize>,
    /// The number of instances of each size.
    pub seeds: u64,
    /// The seed of the first instance.
    pub first: u64,
    /// The numbers of tasks of users on random classes. If it is set, random classes are used even if the
    /// openb data are present.
    pub random: Option<Tasks>,
    /// True if exact answers are computed too.
    pub exact: bool,
}

/// Returns the cluster of the openb trace with `n_users` random users.
///
/// # Errors
/// If the data cannot be read.
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

/// Runs all measurements, and returns the tables as Markdown.
///
/// # Errors
/// If the data cannot be read, or an exact answer is wrong.
pub fn run(settings: &Settings) -> Result<String, String> {
    let mechanism = registry::find("ps-dsf").ok_or("there is no ps-dsf")?;
    let mut rows = Vec::new();
    for &n_users in &settings.users {
        let (mut times, mut exact_times, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut solved, mut identified, mut classes) = (0, 0, 0);
        for seed in settings.first..settings.first + settings.seeds {
            let problem = instance(settings, n_users, seed)?;
            classes = problem.n_servers();
            let start = Clock::now();
            let found = mechanism.allocate(&problem, Arithmetic::Float).map_err(|error| error.to_string())?;
            let (wall, cpu) = start.elapsed();
            times.push(cpu.unwrap_or(wall));
            solved += u64::from(found.findings.status == Some(Status::Solved));
            if settings.exact {
                let start = Instant::now();
                match mechanism.allocate(&problem, Arithmetic::Exact) {
                    Ok(_) => identified += 1,
                    Err(error) => notes.push(error.to_string()),
                }
                exact_times.push(start.elapsed().as_secs_f64());
            }
        }
        let time = |times: &[f64]| median(times).map_or_else(String::new, seconds);
        let worst = times.iter().copied().fold(0.0, f64::max);
        rows.push(vec![
            format!("{n_users} x {classes}"),
            format!("{}, at most {}", time(&times), seconds(worst)),
            format!("{solved} of {}", settings.seeds),
            time(&exact_times),
            format!("{identified} of {}", settings.seeds),
            notes.join(", "),
        ]);
    }
    let head = ["users x classes", "doubles", "solved", "exact", "identified", "notes"];
    Ok(markdown(&head, &rows, 1) + "\n" + &time_shared(settings)?)
}

/// Measures the exact time-shared form with 100 random classes.
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
