//! The running jobs with their tasks, and the waiting jobs of every user.

use std::collections::{BTreeMap, HashMap, HashSet};

use evenhand_problem::snapshot::{Snapshot, TaskTime};
use evenhand_problem::{Problem, Rational};

use super::durations::Lengths;
use super::{Asked, NANOSECONDS, Row, Settings, Which};
use crate::error::ClusterError;
use crate::queues::gang;
use crate::servers::Place;
use crate::starts::Standing;

/// A running job: tasks that end at the same moment.
#[derive(Debug, Clone)]
pub(super) struct RunningJob {
    /// The tasks of the job: users, servers and numbers of tasks.
    pub tasks: Vec<(usize, Place, u64)>,
    /// The remaining time of the job.
    pub lengths: Lengths,
}

/// A waiting job whose tasks have names.
#[derive(Debug, Clone)]
pub(super) struct NamedJob {
    pub names: Vec<String>,
    pub priority: i64,
    pub lengths: Lengths,
}

/// The waiting jobs of a user and of the users that start with it.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// The first user of the start.
    pub user: usize,
    /// The number of waiting jobs.
    pub jobs: u64,
    /// The jobs with names, in the order in which they start: by descending priority, and then as in the snapshot.
    pub named: Vec<NamedJob>,
    /// The duration of jobs without names. These jobs start after the jobs with names.
    pub others: Lengths,
    /// The priority of jobs without names.
    pub priority: i64,
    /// The number of jobs whose tasks the scheduler has admitted, but which have no server.
    pub admitted: u64,
}

impl Line {
    /// Returns the duration of the waiting job at a position of the line.
    pub fn lengths(&self, k: u64) -> &Lengths {
        let named = usize::try_from(k).ok().and_then(|k| self.named.get(k));
        named.map_or(&self.others, |job| &job.lengths)
    }

    /// Returns the priority of the waiting job at a position of the line.
    pub fn priority_of(&self, k: u64) -> i64 {
        let named = usize::try_from(k).ok().and_then(|k| self.named.get(k));
        named.map_or(self.priority, |job| job.priority)
    }
}

/// A job whose start is recorded. The job is the first or the last job of a line that starts, or the job at a
/// position of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record {
    First(usize),
    Last(usize),
    Job(usize, u64),
}

/// All jobs of a cluster.
#[derive(Debug)]
pub(super) struct Jobs {
    pub running: Vec<RunningJob>,
    /// The lines of users with waiting or admitted jobs, in ascending order of users.
    pub lines: Vec<Line>,
    /// The requested starts, each with its row.
    pub records: Vec<(Record, Row)>,
}

/// The durations, time limits and priorities of tasks.
struct Names<'s> {
    problem: &'s Problem,
    settings: &'s Settings,
    times: HashMap<&'s str, &'s TaskTime>,
}

impl Names<'_> {
    /// Adds the duration of a task to the duration of its job.
    fn add(
        &self,
        lengths: &mut Lengths,
        task: Option<&str>,
        n: usize,
        is_running: bool,
    ) -> Result<(), ClusterError> {
        let user = self.problem.users()[n].name();
        let Some(entry) = self.settings.durations.of(task, user) else {
            return Err(ClusterError::Waits(format!(
                "--durations: no duration is stated for the tasks of user `{user}`: state one for `{user}`, or for `*`, which stands for all others"
            )));
        };
        let time = task.and_then(|task| self.times.get(task));
        let (law, limit) = match is_running {
            true => (entry.left, time.and_then(|of| of.left)),
            false => (entry.duration, time.and_then(|of| of.limit)),
        };
        lengths.add(law, limit.map(|seconds| seconds.saturating_mul(NANOSECONDS)));
        Ok(())
    }
}

impl Jobs {
    pub fn new(
        snapshot: &Snapshot,
        standing: &Standing<'_>,
        settings: &Settings,
    ) -> Result<Self, ClusterError> {
        let problem = standing.problem;
        let times = snapshot.times.iter().map(|of| (of.task.as_str(), of)).collect();
        let names = Names { problem, settings, times };
        let running = running(snapshot, standing, &names)?;
        let mut lines = Vec::new();
        for n in (0..problem.n_users()).filter(|n| standing.rules.leads(*n)) {
            lines.extend(line(snapshot, standing, &names, n)?);
        }
        let mut jobs = Self { running, lines, records: Vec::new() };
        jobs.records = jobs.asked(snapshot, standing, &settings.asked)?;
        Ok(jobs)
    }

    /// Returns the requested starts.
    fn asked(
        &self,
        snapshot: &Snapshot,
        standing: &Standing<'_>,
        asked: &Asked,
    ) -> Result<Vec<(Record, Row)>, ClusterError> {
        let rules = standing.rules;
        let row = |at: usize, which: Which| {
            let line = &self.lines[at];
            let by_model = !rules.not_modelled(line.user).is_empty();
            let (user, jobs) = (line.user, line.jobs);
            Row { user, which, jobs, starts: Vec::new(), runs: 1, earliest: None, by_model }
        };
        let of_line = |at: usize| match self.lines[at].jobs {
            0 => Vec::new(),
            1 => vec![(Record::First(at), row(at, Which::Only))],
            _ => vec![(Record::First(at), row(at, Which::First)), (Record::Last(at), row(at, Which::Last))],
        };
        let of_user = |n: usize| {
            let leader = rules.start(n)[0];
            let at = self.lines.iter().position(|line| line.user == leader && line.jobs > 0);
            at.ok_or_else(|| {
                let user = snapshot.problem.users()[n].name();
                ClusterError::Waits(format!(
                    "--job: user `{user}` has no whole job that waits: `evenhand verdict SNAPSHOT` shows which queues have waiting tasks"
                ))
            })
        };
        match asked {
            Asked::All => Ok((0..self.lines.len()).flat_map(of_line).collect()),
            Asked::User(n) => Ok(of_line(of_user(*n)?)),
            Asked::Task(n, task) => {
                let at = of_user(*n)?;
                let mut named = self.lines[at].named.iter();
                let Some(k) = named.position(|job| job.names.contains(task)) else {
                    return Err(ClusterError::Waits(format!(
                        "--job: the waiting task `{task}` is in no whole gang: fewer tasks of its user wait than start together"
                    )));
                };
                Ok(vec![(Record::Job(at, k as u64), row(at, Which::Task(task.clone())))])
            }
        }
    }

    /// Returns rows for the requested starts, without results.
    pub fn rows(&self, runs: u64) -> Vec<Row> {
        self.records.iter().map(|(_, row)| Row { runs, ..row.clone() }).collect()
    }

    /// Returns `true` if the duration of some job is random.
    pub fn is_random(&self) -> bool {
        let waiting = self.lines.iter().flat_map(|line| {
            let named = line.named.iter().map(|job| &job.lengths);
            named.chain(line.has_others().then_some(&line.others))
        });
        self.running.iter().map(|job| &job.lengths).chain(waiting).any(Lengths::is_random)
    }

    /// Returns the numbers of running tasks and of waiting jobs that never end.
    pub fn endless(&self) -> (u64, u64) {
        let running = self.running.iter().filter(|job| job.lengths.is_endless());
        let running = running.flat_map(|job| &job.tasks).map(|(.., tasks)| tasks).sum();
        let of_line = |line: &Line| {
            let named = line.named.iter().filter(|job| job.lengths.is_endless()).count() as u64;
            let others = line.jobs - line.named.len() as u64 + line.admitted;
            named + if line.others.is_endless() { others } else { 0 }
        };
        (running, self.lines.iter().map(of_line).sum())
    }
}

impl Line {
    /// Returns `true` if some jobs of the line have no names.
    fn has_others(&self) -> bool {
        self.admitted > 0 || self.jobs > self.named.len() as u64
    }
}

/// Returns the waiting jobs of a user and of the users that start with it. Returns `None` if there are no
/// such jobs.
fn line(
    snapshot: &Snapshot,
    standing: &Standing<'_>,
    known: &Names<'_>,
    n: usize,
) -> Result<Option<Line>, ClusterError> {
    let (problem, rules) = (standing.problem, standing.rules);
    let start = rules.start(n);
    let mut jobs: Option<u64> = None;
    let mut admitted: Option<u64> = None;
    for m in start {
        let user = &problem.users()[*m];
        let size = gang(problem, *m);
        let held = rules.admitted(*m) / size;
        admitted = Some(admitted.map_or(held, |least| least.min(held)));
        let left = match user.tasks() {
            _ if !problem.is_active(*m) => Rational::new(),
            Some(tasks) => Rational::from(tasks - &standing.rooms.totals()[*m]),
            None => {
                return Err(ClusterError::Waits(format!(
                    "user `{}` has unlimited tasks, so that it never stops waiting: state `tasks` of this user",
                    user.name()
                )));
            }
        };
        let whole = (left.max(Rational::new()) / size).floor().numer().to_u64().unwrap_or(u64::MAX);
        jobs = Some(jobs.map_or(whole, |least| least.min(whole)));
    }
    let (jobs, admitted) = (jobs.unwrap_or(0), admitted.unwrap_or(0));
    if jobs == 0 && admitted == 0 {
        return Ok(None);
    }
    let priority = start.iter().map(|m| rules.of(*m).priority).min().unwrap_or(0);
    let mut others = Lengths::default();
    for m in start {
        known.add(&mut others, None, *m, false)?;
    }
    // The names of the k-th job are the k-th gangs in the lists of names of its users. A job has names only
    // if all its users have names for it.
    let names_of = |m: usize| -> Vec<&str> {
        let waiting = snapshot.waiting.iter().filter(|of| of.user == m);
        waiting.flat_map(|of| &of.names).map(String::as_str).collect()
    };
    let names: Vec<(usize, usize, Vec<&str>)> =
        start.iter().map(|m| (*m, gang(problem, *m) as usize, names_of(*m))).collect();
    let whole = names.iter().map(|(_, size, names)| names.len() / size).min().unwrap_or(0) as u64;
    let mut named = Vec::new();
    for k in 0..whole.min(jobs) as usize {
        let mut lengths = Lengths::default();
        let mut own: Vec<String> = Vec::new();
        let mut highest = None;
        for (m, size, names) in &names {
            for name in &names[k * size..(k + 1) * size] {
                // All tasks of a job of Slurm have the same name.
                if own.last().is_some_and(|last| last == name) {
                    continue;
                }
                known.add(&mut lengths, Some(name), *m, false)?;
                highest = highest.max(known.times.get(name).and_then(|of| of.priority));
                own.push((*name).to_owned());
            }
        }
        named.push(NamedJob { names: own, priority: highest.unwrap_or(priority), lengths });
    }
    named.sort_by_key(|job| std::cmp::Reverse(job.priority));
    Ok(Some(Line { user: n, jobs, named, others, priority, admitted }))
}

/// The server of a running task, and its name if it is known.
type NamedTask<'s> = (Place, Option<&'s str>);

/// Returns the running jobs. A job is a gang that the snapshot names. All other tasks are divided into gangs
/// of the stated size, in the order of their servers.
fn running(
    snapshot: &Snapshot,
    standing: &Standing<'_>,
    known: &Names<'_>,
) -> Result<Vec<RunningJob>, ClusterError> {
    let (problem, rules) = (standing.problem, standing.rules);
    let mut left: BTreeMap<(usize, Place), u64> = BTreeMap::new();
    for (class, servers) in standing.servers.classes.iter().enumerate() {
        for server in servers {
            for (n, tasks) in &server.tasks {
                let whole = tasks.numer().to_u64().filter(|_| tasks.is_integer()).ok_or_else(|| {
                    ClusterError::Waits(format!(
                        "user `{}` runs {tasks} tasks on one server: a simulation needs whole tasks",
                        problem.users()[*n].name()
                    ))
                })?;
                left.insert((*n, Place { class, index: server.index }), whole);
            }
        }
    }
    // The names of tasks outside of gangs, by user and server. The next map has the names of the tasks of
    // each gang.
    let mut names: BTreeMap<(usize, Place), Vec<&str>> = BTreeMap::new();
    let mut of_gangs: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
    for of in &snapshot.running {
        let place = Place { class: of.server, index: of.index };
        for (at, name) in of.names.iter().enumerate() {
            match of.gangs.get(at).filter(|gang| !gang.is_empty()) {
                Some(gang) => of_gangs.entry(gang).or_default().push((of.user, name)),
                None => names.entry((of.user, place)).or_default().push(name),
            }
        }
    }
    let mut jobs = Vec::new();
    let mut seen = HashSet::new();
    for n in 0..problem.n_users() {
        for (at, by_user) in rules.gangs_of(n) {
            if !seen.insert(at) {
                continue;
            }
            let mut tasks = Vec::new();
            for (m, places) in by_user {
                for (place, count) in places {
                    let there = left.get_mut(&(*m, *place));
                    let count = there.as_ref().map_or(0, |there| (**there).min(*count));
                    if let Some(there) = there.filter(|_| count > 0) {
                        *there -= count;
                        tasks.push((*m, *place, count));
                    }
                }
            }
            let mut lengths = Lengths::default();
            let mut last = None;
            for (m, name) in of_gangs.get(rules.gang_name(at)).into_iter().flatten() {
                if last != Some(*name) {
                    known.add(&mut lengths, Some(name), *m, true)?;
                }
                last = Some(*name);
            }
            if !tasks.is_empty() {
                jobs.push(RunningJob { tasks, lengths });
            }
        }
    }
    left.retain(|_, tasks| *tasks > 0);
    let users: Vec<usize> = (0..problem.n_users()).filter(|n| rules.leads(*n)).collect();
    for n in users {
        let start = rules.start(n);
        // The tasks of each user one by one, each with its server and its name.
        let mut each: Vec<(usize, usize, std::vec::IntoIter<NamedTask<'_>>)> = Vec::new();
        for m in start {
            let own = left.range((*m, Place { class: 0, index: 0 })..).take_while(|((k, _), _)| k == m);
            let own = own.flat_map(|((_, place), tasks)| {
                let names = names.get(&(*m, *place)).map_or(&[][..], Vec::as_slice);
                let place = *place;
                (0..*tasks as usize).map(move |at| (place, names.get(at).copied()))
            });
            let own: Vec<_> = own.collect();
            each.push((*m, gang(problem, *m) as usize, own.into_iter()));
        }
        loop {
            let mut tasks: BTreeMap<(usize, Place), u64> = BTreeMap::new();
            let mut lengths = Lengths::default();
            for (m, size, own) in &mut each {
                for (place, name) in own.take(*size) {
                    *tasks.entry((*m, place)).or_default() += 1;
                    known.add(&mut lengths, name, *m, true)?;
                }
            }
            if tasks.is_empty() {
                break;
            }
            let tasks = tasks.into_iter().map(|((m, place), count)| (m, place, count)).collect();
            jobs.push(RunningJob { tasks, lengths });
        }
    }
    Ok(jobs)
}
