//! Runs in which users come and go.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use evenhand_budget::{Exceeded, charge, hold, table};
use evenhand_mechanisms::{Findings, Flags, Mechanism, MechanismError, Status};
use evenhand_problem::groups::{GroupShareSpec, GroupSpec, MemberSpec};
use evenhand_problem::utilisation::{by_class, dominant_share};
use evenhand_problem::{Allocation, Arithmetic, Problem, ProblemSpec, Rational, RowKind};
use rayon::prelude::*;

use super::gaps;
use crate::cost::{TO_BEGIN, in_time, point};
use crate::distributed::{Absence, Network, State, follow};
use crate::error::SimulateError;
use crate::summary::Amounts;

/// A scenario in which users come and go.
#[derive(Debug, Clone)]
pub struct CourseScenario {
    /// The servers, and all users that are present at some time.
    pub spec: ProblemSpec,
    /// The groups of the users.
    pub groups: Vec<GroupSpec>,
    /// How the shares of sibling groups are compared.
    pub share: GroupShareSpec,
    /// The group, the gang and the pinned tasks of each user.
    pub members: Vec<MemberSpec>,
    /// The times at which each user comes or goes, in ascending order. A user is present at the beginning
    /// unless `absent` is true for it.
    pub changes: Vec<Vec<f64>>,
    /// One entry for each user: `true` if the user is absent at the beginning.
    pub absent: Vec<bool>,
    /// The policy that decides the allocations.
    pub policy: CoursePolicy,
    /// The time at which the run stops, in the time unit of the scenario.
    pub horizon: f64,
    /// The time between two rows of the series, in the time unit of the scenario.
    pub every: f64,
}

/// The policies that decide the allocations.
#[derive(Debug, Clone)]
pub enum CoursePolicy {
    /// A divisible mechanism, with its flags as on the command line.
    Mechanism {
        /// The mechanism that computes each allocation.
        mechanism: &'static Mechanism,
        /// The names of the flags with their values as text.
        flags: Vec<(&'static str, String)>,
        /// The arithmetic of the mechanism's results.
        arithmetic: Arithmetic,
    },
    /// The distributed procedure of PS-DSF.
    Distributed(Network),
    /// The policy that serves by gaps.
    LeastGap {
        /// The number of steps of a mean running time that are simulated one by one.
        steps: u32,
        /// The mean running time of tasks.
        running_time: f64,
    },
}

/// The allocation at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The time of the allocation.
    pub time: f64,
    /// The number of tasks of each user, or `None` while the user is absent.
    pub tasks: Vec<Option<f64>>,
    /// The dominant share of each user, as a fraction of all servers and not divided by the weight. It is 0
    /// while the user is absent.
    pub shares: Vec<f64>,
    /// The rows of each class, each as its name and its used fraction.
    pub utilisation: Vec<Vec<(String, f64)>>,
}

/// The results of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// The seed of the run.
    pub seed: u64,
    /// The time at which the run ended: the horizon, or earlier if the time was up.
    pub end: f64,
    /// The allocations at equal intervals. An allocation holds from its time until the time of the next one.
    pub moments: Vec<Moment>,
    /// The mean number of tasks of each user while it is present, or `None` if it is never present.
    pub tasks: Vec<Option<f64>>,
    /// The time during which each user is present.
    pub present: Vec<f64>,
    /// The largest distance from the exact allocation at each moment, or `None` if the policy is not the
    /// distributed procedure.
    pub distance: Option<Vec<f64>>,
}

impl CourseScenario {
    /// Returns the problem of the users for which `is_there` is true.
    ///
    /// # Errors
    /// Returns [`SimulateError::Problem`] if these users and the servers do not form a valid problem.
    pub fn problem(&self, is_there: &[bool]) -> Result<Problem, SimulateError> {
        let mut spec = self.spec.clone();
        let mut members = self.members.clone();
        let mut keep = is_there.iter();
        spec.users.retain(|_| keep.next().copied().unwrap_or(true));
        let mut keep = is_there.iter();
        members.retain(|_| keep.next().copied().unwrap_or(true));
        Ok(Problem::grouped(spec, self.groups.clone(), self.share.clone(), members)?)
    }

    /// Returns whether each user is present at a time. Changes at this time already count.
    #[must_use]
    pub fn there(&self, time: f64) -> Vec<bool> {
        let looks: usize = self.changes.iter().map(|changes| 1 + changes.len()).sum();
        charge(looks as u64, "the table of times at which users are present");
        let of = |(changes, absent): (&Vec<f64>, &bool)| {
            changes.iter().filter(|at| **at <= time).count().is_multiple_of(2) != *absent
        };
        self.changes.iter().zip(&self.absent).map(of).collect()
    }

    /// Returns the times up to the horizon at which an allocation begins: time 0, and the times at which users come or go.
    fn begins(&self) -> Vec<f64> {
        let mut times: Vec<f64> = self.changes.iter().flatten().copied().chain([0.0]).collect();
        times.retain(|time| *time <= self.horizon);
        times.sort_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// Returns the times of the rows of the series.
    pub(super) fn times(&self) -> impl Iterator<Item = f64> + '_ {
        (0..).map(|row| point(row, self.every)).take_while(|time| *time <= self.horizon)
    }
}

/// Runs a scenario with a seed. A run that is not finished at the moment `until` stops, and [`Course::end`]
/// is the simulated time at which it stopped.
///
/// # Errors
/// Returns [`SimulateError::Mechanism`] if the mechanism has no allocation for the users that are present at
/// some time, [`SimulateError::Beyond`] if numbers are too large for doubles, and [`SimulateError::Late`] if
/// the first allocation is not computed at the moment `until`, or within a second.
pub fn run_course(
    scenario: &CourseScenario,
    seed: u64,
    until: Option<Instant>,
) -> Result<Course, SimulateError> {
    let course = followed(scenario, seed, until)?;
    if course.is_finite() { Ok(course) } else { Err(SimulateError::Beyond) }
}

fn followed(scenario: &CourseScenario, seed: u64, until: Option<Instant>) -> Result<Course, SimulateError> {
    /// Bytes of a user in a row of the series, for its tasks and its share.
    const OF_USER: f64 = 24.0;
    /// Bytes of a row of a class in a row of the series, for a number and a name.
    const OF_ROW: f64 = 80.0;
    let rows = scenario.spec.servers.len() as f64 * (scenario.spec.resources.len() + 1) as f64;
    let moment = OF_USER * scenario.changes.len() as f64 + OF_ROW * rows;
    // The conversion to an integer saturates if the number is too large.
    let _moments = hold((moment * (scenario.horizon / scenario.every + 1.0)) as u64, "the series");
    match &scenario.policy {
        CoursePolicy::Mechanism { mechanism, flags, arithmetic } => {
            let solve = |is_there: &Vec<bool>| -> Result<Standing, SimulateError> {
                let problem = scenario.problem(is_there)?;
                let mut asked = Flags::new(*arithmetic);
                asked.seed = seed;
                for (name, text) in flags {
                    asked = asked.with(name, text.clone());
                }
                let outcome = mechanism.allocate_with(&problem, &asked)?;
                is_answer(mechanism.info.id, &outcome.findings)?;
                Ok(Standing::of(&problem, &outcome.allocation, is_there))
            };
            stepwise(scenario, seed, until, solve)
        }
        CoursePolicy::LeastGap { steps, running_time } => {
            gaps::run(scenario, *steps, *running_time, seed, until)
        }
        CoursePolicy::Distributed(network) => distributed(scenario, *network, seed, until),
    }
}

/// Checks that the result of a mechanism is an allocation, and not entitlements of groups.
pub(crate) fn is_answer(mechanism: &'static str, findings: &Findings) -> Result<(), MechanismError> {
    if findings.entitlements.is_some() {
        let why = "its rule gives entitlements of groups, and no tasks".to_owned();
        return Err(MechanismError::NotApplicable { mechanism, why });
    }
    match findings.status {
        None | Some(Status::Solved | Status::Interval) => Ok(()),
        Some(status) => {
            let why = format!("it ended with the status `{}`", status.name());
            Err(MechanismError::NotFound { mechanism, why })
        }
    }
}

/// An allocation that lasts as long as no user comes or goes.
#[derive(Debug, Clone, PartialEq)]
struct Standing {
    tasks: Vec<Option<f64>>,
    shares: Vec<f64>,
    utilisation: Vec<Vec<(String, f64)>>,
}

impl Standing {
    /// Returns the allocation without users.
    fn nobody(scenario: &CourseScenario) -> Result<Self, SimulateError> {
        let problem = scenario.problem(&vec![false; scenario.changes.len()])?;
        let allocation = Allocation::empty(0, evenhand_problem::Sharing::Rdm);
        Ok(Self::of(&problem, &allocation, &vec![false; scenario.changes.len()]))
    }

    /// Converts an allocation of the present users.
    fn of(problem: &Problem, allocation: &Allocation, is_there: &[bool]) -> Self {
        let mut place = 0..;
        let places: Vec<Option<usize>> =
            is_there.iter().map(|is_there| if *is_there { place.next() } else { None }).collect();
        let name = |kind| match kind {
            RowKind::Resource(r) => problem.resources()[r].clone(),
            RowKind::Time => "time".to_owned(),
        };
        let of_class = |rows: Vec<(RowKind, Option<Rational>)>| {
            let rows = rows.into_iter();
            rows.filter_map(|(kind, part)| Some((name(kind), part?.to_f64()))).collect()
        };
        let share = |n: &Option<usize>| n.map_or(0.0, |n| dominant_share(problem, allocation, n).to_f64());
        Self {
            tasks: places.iter().map(|n| n.map(|n| allocation.total(n).to_f64())).collect(),
            shares: places.iter().map(share).collect(),
            utilisation: by_class(problem, allocation).into_iter().map(of_class).collect(),
        }
    }

    fn at(&self, time: f64) -> Moment {
        let Self { tasks, shares, utilisation } = self.clone();
        Moment { time, tasks, shares, utilisation }
    }
}

/// Simulates a policy whose allocation depends only on the present users.
fn stepwise(
    scenario: &CourseScenario,
    seed: u64,
    until: Option<Instant>,
    solve: impl Fn(&Vec<bool>) -> Result<Standing, SimulateError> + Sync,
) -> Result<Course, SimulateError> {
    let begins = scenario.begins();
    table(begins.len(), scenario.changes.len(), 1, "the table of times at which users are present");
    let there: Vec<Vec<bool>> = begins.iter().map(|time| scenario.there(*time)).collect();
    // Equal sets of users have equal allocations. The sets that are needed first are solved first.
    let mut known = HashSet::new();
    let different: Vec<&Vec<bool>> = there.iter().filter(|is_there| known.insert(*is_there)).collect();
    let budget = evenhand_budget::handle();
    let answer = |(k, is_there): (usize, &&Vec<bool>)| {
        let solved = || if is_there.contains(&true) { solve(is_there) } else { Standing::nobody(scenario) };
        let least = if k == 0 { TO_BEGIN } else { Duration::ZERO };
        budget.enter(|| in_time(until, least, solved))
    };
    let solved: Vec<Result<Result<Standing, SimulateError>, Exceeded>> =
        different.par_iter().enumerate().map(answer).collect();
    let mut states: BTreeMap<&Vec<bool>, Standing> = BTreeMap::new();
    for (is_there, standing) in different.into_iter().zip(solved) {
        match standing {
            Ok(standing) => states.insert(is_there, standing?),
            Err(late) if states.is_empty() => return Err(late.into()),
            Err(_) => break,
        };
    }
    let known = there.iter().take_while(|is_there| states.contains_key(is_there)).count();
    let end = begins.get(known).copied().unwrap_or(scenario.horizon);
    let state = |time: f64| &states[&there[begins.partition_point(|begin| *begin <= time) - 1]];
    let is_before_end = |time: &f64| known == begins.len() || *time < end;
    let moments = scenario.times().take_while(is_before_end).map(|time| state(time).at(time)).collect();
    let pieces = begins[..known].iter().enumerate().map(|(k, from)| {
        let to = begins.get(k + 1).copied().unwrap_or(end);
        (to - from, &state(*from).tasks[..])
    });
    let (tasks, present) = means(pieces, &there);
    Ok(Course { seed, end, moments, tasks, present, distance: None })
}

/// Returns the mean number of tasks of each user while it is present, and the time during which it is
/// present.
fn means<'a>(
    pieces: impl Iterator<Item = (f64, &'a [Option<f64>])>,
    there: &[Vec<bool>],
) -> (Vec<Option<f64>>, Vec<f64>) {
    let users = there.first().map_or(0, Vec::len);
    let (mut sums, mut present) = (vec![0.0; users], vec![0.0; users]);
    for (lasts, tasks) in pieces {
        for (n, tasks) in tasks.iter().enumerate().filter_map(|(n, tasks)| Some((n, (*tasks)?))) {
            sums[n] += lasts * tasks;
            present[n] += lasts;
        }
    }
    let mean = |(sum, present): (f64, &f64)| (*present > 0.0).then(|| sum / present);
    (sums.into_iter().zip(&present).map(mean).collect(), present)
}

fn distributed(
    scenario: &CourseScenario,
    network: Network,
    seed: u64,
    until: Option<Instant>,
) -> Result<Course, SimulateError> {
    let problem = scenario.problem(&vec![true; scenario.changes.len()])?;
    let mut absences = Vec::new();
    for (user, (changes, absent)) in scenario.changes.iter().zip(&scenario.absent).enumerate() {
        let edges = absent.then_some(0.0).into_iter().chain(changes.iter().copied());
        let edges: Vec<f64> = edges.collect();
        absences.extend(edges.chunks(2).map(|edges| Absence {
            user,
            from: edges[0],
            to: edges.get(1).copied().unwrap_or(f64::INFINITY),
        }));
    }
    let times = (scenario.horizon, scenario.every);
    let (states, end) = follow(&problem, &absences, network, times, seed, until)?;
    let amounts = Amounts::new(&problem);
    let moment = |state: &State| {
        let is_there = scenario.there(state.time);
        let tasks = state.totals.iter().zip(&is_there).map(|(total, there)| there.then_some(*total));
        let shares = state.totals.iter().zip(&is_there).enumerate();
        let rows = |(used, server): (&Vec<f64>, &evenhand_problem::ServerClass)| {
            let rows = problem.resources().iter().zip(used).enumerate();
            let there = rows.filter(|(r, _)| server.capacity()[*r] > 0);
            there.map(|(_, (name, used))| (name.clone(), *used)).collect()
        };
        Moment {
            time: state.time,
            tasks: tasks.collect(),
            shares: shares
                .map(|(n, (total, there))| if *there { total * amounts.dominant(n) } else { 0.0 })
                .collect(),
            utilisation: state.utilisation.iter().zip(problem.servers()).map(rows).collect(),
        }
    };
    let moments: Vec<Moment> = states.iter().map(moment).collect();
    let distance = states.iter().map(|state| state.distance).collect();
    Ok(sampled(scenario, (seed, end), moments, Some(distance)))
}

/// Creates a run from its states at equal intervals. Each state lasts until the next one.
pub(super) fn sampled(
    scenario: &CourseScenario,
    (seed, end): (u64, f64),
    moments: Vec<Moment>,
    distance: Option<Vec<f64>>,
) -> Course {
    let there = [scenario.there(0.0)];
    let lasts = |moment: &Moment| (end - moment.time).min(scenario.every);
    let pieces = moments.iter().map(|moment| (lasts(moment), &moment.tasks[..]));
    let (tasks, present) = means(pieces, &there);
    Course { seed, end, moments, tasks, present, distance }
}
