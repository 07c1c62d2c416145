//! Reservation, Figures 5 and 6: DRA, DRA with preemption, power of d choices and the upper bound, on the available
//! sample of the Google trace.

mod pictures;

use std::collections::BTreeMap;
use std::path::Path;

use evenhand_import::{GoogleUsers, Input, google_stream};
use evenhand_problem::{JobSpec, PoolSpec, Rational, Reservation, ReservationSpec};
use evenhand_simulate::reservation::{
    Admission, AdmissionScenario, Job, Policy, admit, reserve, upper_bound,
};

pub use pictures::{figure_5, figure_6};

use super::percent;
use crate::data::Data;
use crate::entry::Entry;
use crate::error::PaperError;

/// The numbers of servers that are simulated. Each server is as large as the largest machine. Without
/// rejections the sample would use 307 servers on average and 693 at most.
const SERVERS: [usize; 3] = [50, 150, 300];
/// The time in seconds of the first event after the events that describe the state at the start.
const FROM: f64 = 600.0;
/// The end of the sample in seconds.
const HORIZON: f64 = 5611.0;
/// The seconds between two points of a picture.
const EVERY: f64 = 60.0;
/// The number of parts of a server. The smallest type takes one part.
const PARTS: u32 = 128;
/// The rewards of a task per unit of size and time, indexed by priority.
const FACTORS: [u32; 3] = [1, 2, 4];
const NOTE: &str = "The paper uses the first million tasks that ended. We have only the first 93 minutes of \
    the trace. A type has a size and a priority. The size is the larger request, rounded up to a power of \
    1/2, at least 1/128. The priority is 0 for the trace's 0 and 1, 1 for 2 to 8, and 2 for 9 to 11. The \
    rewards per size are 1, 2 and 4, because the text has lost its groups and factors. Only one job in \
    sixteen has priority 0, and these jobs have 1 % of the work, so preemption gains little. The reserve is \
    8, 12 and 14 slots for each type on 50, 150 and 300 servers";

/// The prefixes of the ids of the entries.
pub const STARTS: &[&str] = &["simulation.reservation.figure-5", "simulation.reservation.figure-6"];

/// The type of a task: its priority, and its size in parts of a server.
type Kind = (usize, u32);

/// The rewards of the policies on a number of servers, and the bound.
struct Course {
    servers: usize,
    policies: Vec<(&'static str, Admission)>,
    bound: Vec<(f64, f64)>,
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let folder = match Data::Google.folder() {
        Ok(folder) => folder,
        Err(missing) => return Ok(missing.entries("Reservation, section 7.2: Figures 5 and 6", STARTS)),
    };
    let courses = courses(&folder)?;
    let mut entries: Vec<Entry> = courses.iter().map(by_servers).collect();
    entries.extend(courses.last().map(by_time));
    Ok(entries)
}

/// Returns the rewards for every number of servers.
fn courses(folder: &Path) -> Result<Vec<Course>, PaperError> {
    let (kinds, jobs) = sample(folder)?;
    SERVERS.into_iter().map(|servers| course(&kinds, &jobs, servers)).collect()
}

/// Reads the types, and the jobs that arrived after the start and ended within the sample.
fn sample(folder: &Path) -> Result<(Vec<Kind>, Vec<Job>), PaperError> {
    let events = Input::open(&folder.join("task_events.part-00000-of-00500.csv.gz"))?;
    let trace = google_stream(vec![events], GoogleUsers::ByShape)?.into_memory()?;
    let size = |user: u32| {
        let demand = &trace.users[user as usize].demand;
        let most = demand.iter().map(|(_, amount)| amount).max().cloned().unwrap_or_default();
        let mut parts = 1;
        while Rational::from((parts, PARTS)) < most && parts < PARTS {
            parts *= 2;
        }
        parts
    };
    let priority = |priority: Option<u8>| match priority {
        None | Some(0 | 1) => 0,
        Some(2..=8) => 1,
        Some(_) => 2,
    };
    let there = trace.tasks.iter().filter(|task| task.at >= FROM && task.seconds.is_finite());
    let found: Vec<(f64, f64, Kind)> =
        there.map(|task| (task.at, task.seconds, (priority(task.priority), size(task.user)))).collect();
    let mut types: BTreeMap<Kind, usize> = found.iter().map(|(.., kind)| (*kind, 0)).collect();
    types.values_mut().enumerate().for_each(|(at, place)| *place = at);
    let jobs = found.iter().map(|(at, lasts, kind)| Job { at: *at, of_type: types[kind], lasts: *lasts });
    let jobs = jobs.collect();
    Ok((types.into_keys().collect(), jobs))
}

/// Returns the problem with servers of size 1. Its loads are the means of the sample without rejections.
fn problem(kinds: &[Kind], jobs: &[Job], servers: usize) -> Result<Reservation, PaperError> {
    let one = |amount: Rational| vec![("size".to_owned(), amount)];
    let mut of_kinds = Vec::new();
    for (j, (priority, parts)) in kinds.iter().enumerate() {
        let seconds: f64 = jobs.iter().filter(|job| job.of_type == j).map(|job| job.lasts).sum();
        // The load is rounded to thousandths of a job. It is the load on all servers together.
        let load = (1000.0 * seconds / (HORIZON - FROM)).round() as u64;
        let size = Rational::from((*parts, PARTS));
        of_kinds.push(JobSpec {
            name: format!("priority {priority} size {parts}/{PARTS}"),
            reward: Some(Rational::from(FACTORS[*priority]) * &size),
            demand: one(size),
            load: Some(Rational::from((load, 1000 * servers as u64))),
        });
    }
    let spec = ReservationSpec {
        resources: vec!["size".to_owned()],
        pools: vec![PoolSpec { name: "servers".to_owned(), count: None, capacity: one(Rational::from(1)) }],
        jobs: of_kinds,
        ..ReservationSpec::default()
    };
    Ok(Reservation::new(spec)?)
}

fn course(kinds: &[Kind], jobs: &[Job], servers: usize) -> Result<Course, PaperError> {
    let problem = problem(kinds, jobs, servers)?;
    let reserve = reserve(servers);
    let priorities = kinds.iter().map(|(priority, _)| *priority as u32).collect();
    let mut policies = Vec::new();
    for (name, policy) in [
        ("DRA", Policy::Dra { reserve }),
        ("DRA with preemption", Policy::Preempting { reserve, priorities }),
        ("power of 5 choices", Policy::PowerOfD { d: 5 }),
        ("static slots by the mean loads", Policy::Static),
    ] {
        let mut scenario = AdmissionScenario::new(problem.clone(), servers, policy, (HORIZON, FROM, EVERY));
        scenario.coming.trace = Some(jobs.to_vec());
        policies.push((name, admit(&scenario, 5, None)?));
    }
    let times: Vec<f64> = policies[0].1.series.iter().map(|(time, _)| *time).collect();
    let bound = upper_bound(&problem, servers, jobs, &times)?;
    Ok(Course { servers, policies, bound })
}

/// Returns the mean of the bound from the first job to the end of the sample.
fn mean(bound: &[(f64, f64)]) -> f64 {
    let there: Vec<f64> = bound.iter().filter(|(time, _)| *time >= FROM).map(|(_, value)| *value).collect();
    there.iter().sum::<f64>() / there.len().max(1) as f64
}

fn by_servers(course: &Course) -> Entry {
    let bound = mean(&course.bound);
    let words: Vec<String> =
        course.policies.iter().map(|(name, run)| format!("{name} {}", percent(run.reward / bound))).collect();
    let preempted: u64 = course.policies[1].1.preempted.iter().sum();
    let (dra, preempting) = (course.policies[0].1.reward, course.policies[1].1.reward);
    Entry {
        id: format!("simulation.reservation.figure-5.{}", course.servers),
        source: "Reservation, Figure 5: reward along the Google trace, as a fraction of the upper bound's \
         mean",
        paper: "DRA with preemption above DRA above power of d choices".to_owned(),
        ours: format!("{}; {preempted} jobs preempted", words.join(", ")),
        agrees: Some(preempting >= dra && dra >= course.policies[2].1.reward),
        note: NOTE.to_owned(),
    }
}

fn by_time(course: &Course) -> Entry {
    let part = |run: &Admission| {
        let above = run.series.iter().zip(&course.bound).filter(|((time, _), _)| *time >= FROM);
        let parts: Vec<f64> = above
            .filter(|(_, (_, bound))| *bound > 0.0)
            .map(|((_, reward), (_, bound))| reward / bound)
            .collect();
        let least = parts.iter().copied().fold(f64::INFINITY, f64::min);
        let most = parts.iter().copied().fold(0.0, f64::max);
        format!("{} to {}", percent(least), percent(most))
    };
    let words: Vec<String> =
        course.policies.iter().map(|(name, run)| format!("{name} {}", part(run))).collect();
    Entry {
        id: "simulation.reservation.figure-6".to_owned(),
        source: "Reservation, Figure 6: reward over time, as a fraction of the upper bound at the time",
        paper: "DRA with preemption above the others in almost all parts of the trace".to_owned(),
        ours: format!("{} servers, least and most over the minutes: {}", course.servers, words.join("; ")),
        agrees: None,
        note: NOTE.to_owned(),
    }
}
