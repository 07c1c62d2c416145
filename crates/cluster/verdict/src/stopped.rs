//! Explains why a task was stopped: the task for which it was stopped, the rule, and whether fewer or other
//! stops would have been enough.
//!
//! The snapshot says which tasks were stopped, and for which task. The replay removes that task from the cluster, and
//! puts the stopped tasks back on servers on which they fit. The search for the fewest stops then tells whether fewer
//! stops would have been enough. All other tasks stay where they run now (docs/why-stopped.md).

use std::collections::{BTreeMap, BTreeSet};

use evenhand_problem::Rational;
use evenhand_problem::snapshot::{Running, Snapshot, Stopped};

use crate::queues::gang;
use crate::script::Task;
use crate::servers::{Place, placed};
use crate::starts::{Answer, STEPS_OF_A_VERDICT, Standing};
use crate::stops::{FewestStops, fewest};
use crate::task_rules::TaskRules;

/// The explanation why a task was stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The last stop of the task.
    pub stop: Stopped,
    /// The other tasks or jobs that were stopped for the same task.
    pub others: Vec<String>,
    /// The user of the stopped tasks that wait now.
    pub victim: Option<usize>,
    /// The user of the running tasks for which the task was stopped.
    pub preemptor: Option<usize>,
    /// The lowest group above both users. `None` if there is no such group, or if one of the users is not
    /// known.
    pub level: Option<usize>,
    /// The replay, which tells whether fewer or other stops would have been enough. Otherwise the reason why
    /// there is no replay.
    pub replay: Result<Replay, Missing>,
}

/// The reason why there is no replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The task was not stopped for another task.
    NotPreempted,
    /// The dump does not say for which task the task was stopped, or has no task with the stated UID.
    Preemptor,
    /// The task for which the task was stopped does not run completely now.
    NotRunning,
    /// These stopped tasks do not wait completely now.
    Victims(Vec<String>),
    /// The stopped tasks do not fit on servers next to the tasks that run now.
    Servers,
    /// The snapshot does not say on which servers tasks run.
    Placements,
    /// The search ran out of steps.
    Search,
}

/// The cluster before the stops, as far as the snapshot tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The number of tasks that were stopped.
    pub stopped: u64,
    /// The cluster with the stopped tasks on servers, and without the task for which they were stopped.
    pub before: Snapshot,
    /// The fewest stops in the cluster before the stops. `None` if no stop is needed there.
    pub fewest: Option<FewestStops>,
    /// The tasks of the smallest set that the search found, with their names.
    pub tasks: Vec<Task>,
    /// True if the search found exactly the tasks that were stopped.
    pub is_same: bool,
}

/// Returns the stops of a task or a job with this name. The name of a task of a job also selects the stops of
/// the job.
pub fn stops_of<'s>(snapshot: &'s Snapshot, name: &'s str) -> impl Iterator<Item = &'s Stopped> {
    let is_of = move |of: &&Stopped| {
        let rest = name.strip_prefix(of.task.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    snapshot.stopped.iter().filter(is_of)
}

/// Explains the last stop of a task or a job with this name. Returns `None` if the snapshot has no such stop.
#[must_use]
pub fn explain(snapshot: &Snapshot, name: &str) -> Option<Explanation> {
    // Times are texts that sort in the order of time. Unknown times are empty texts.
    let stop = stops_of(snapshot, name).max_by_key(|of| &of.time)?.clone();
    let victim = waiting(snapshot, &stop.task).into_keys().next();
    let preemptor = running(snapshot, &stop.by).first().map(|(user, ..)| *user);
    let is_same = |of: &&Stopped| {
        of.task != stop.task && if stop.by.is_empty() { of.by_uid == stop.by_uid } else { of.by == stop.by }
    };
    let mut others: Vec<String> = Vec::new();
    if !stop.by.is_empty() || !stop.by_uid.is_empty() {
        others.extend(snapshot.stopped.iter().filter(is_same).map(|of| of.task.clone()));
        others.sort_unstable();
        others.dedup();
    }
    let level = victim.zip(preemptor).and_then(|(a, b)| {
        let groups = snapshot.problem.groups();
        let of_b: Vec<usize> = groups.above(groups.member(b).group).collect();
        groups.above(groups.member(a).group).find(|v| of_b.contains(v))
    });
    let replay = replay(snapshot, &stop, &others);
    Some(Explanation { stop, others, victim, preemptor, level, replay })
}

/// Returns the number of waiting tasks of a job for each user.
fn waiting(snapshot: &Snapshot, job: &str) -> BTreeMap<usize, u64> {
    let mut tasks = BTreeMap::new();
    for of in &snapshot.waiting {
        let count = of.names.iter().filter(|name| is_of_job(name, job)).count() as u64;
        if count > 0 {
            *tasks.entry(of.user).or_default() += count;
        }
    }
    tasks
}

/// Returns `true` if a task has the name of a job, or the name of the job followed by a number.
fn is_of_job(task: &str, job: &str) -> bool {
    let rest = task.strip_prefix(job);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Returns the running tasks of a job: the user, the server, and the position of the task's name in the entry of the
/// snapshot.
fn running(snapshot: &Snapshot, job: &str) -> Vec<(usize, Place, usize)> {
    let mut tasks = Vec::new();
    if job.is_empty() {
        return tasks;
    }
    let gang = format!("Workload {job}");
    for of in &snapshot.running {
        let place = Place { class: of.server, index: of.index };
        for (at, name) in of.names.iter().enumerate() {
            if *name == job || of.gangs.get(at) == Some(&gang) {
                tasks.push((of.user, place, at));
            }
        }
    }
    tasks
}

/// Returns the cluster before the stops, and the fewest stops that would have been enough in this cluster.
fn replay(snapshot: &Snapshot, stop: &Stopped, others: &[String]) -> Result<Replay, Missing> {
    if stop.by.is_empty() && stop.by_uid.is_empty() && !stop.rule.to_lowercase().contains("preempt") {
        return Err(Missing::NotPreempted);
    }
    if stop.by.is_empty() {
        return Err(Missing::Preemptor);
    }
    let problem = &snapshot.problem;
    let rules = TaskRules::new(snapshot);
    let standing = Standing::new(problem, &rules, &snapshot.allocation).ok_or(Missing::Placements)?;
    let mut standing = standing.unrounded(&snapshot.allocation, &snapshot.rounded).unwrap_or(standing);
    let preemptor = running(snapshot, &stop.by);
    let Some((first, ..)) = preemptor.first() else { return Err(Missing::NotRunning) };
    let start = rules.start(*first);
    let of_user = |m: usize| preemptor.iter().filter(|(n, ..)| *n == m).count() as u64;
    if preemptor.iter().any(|(n, ..)| !start.contains(n))
        || start.iter().any(|m| of_user(*m) != gang(problem, *m))
    {
        return Err(Missing::NotRunning);
    }
    let victims: Vec<(&str, BTreeMap<usize, u64>)> = std::iter::once(stop.task.as_str())
        .chain(others.iter().map(String::as_str))
        .map(|task| (task, waiting(snapshot, task)))
        .collect();
    let is_whole = |tasks: &BTreeMap<usize, u64>| {
        tasks.iter().all(|(m, count)| count.is_multiple_of(gang(problem, *m)))
            && tasks.keys().next().is_some_and(|n| rules.start(*n).iter().all(|m| tasks.contains_key(m)))
    };
    let absent: Vec<String> =
        victims.iter().filter(|(_, tasks)| !is_whole(tasks)).map(|(task, _)| (*task).to_owned()).collect();
    if !absent.is_empty() {
        return Err(Missing::Victims(absent));
    }
    let mut before = snapshot.clone();
    remove(&mut before, &preemptor);
    for (m, place, _) in &preemptor {
        standing.change(*m, *place, &Rational::from(-1));
    }
    let has_gangs = snapshot.running.iter().any(|of| !of.gangs.is_empty());
    let mut steps = STEPS_OF_A_VERDICT;
    let mut own: Vec<(usize, Place)> = Vec::new();
    for (task, tasks) in &victims {
        let gangs: Vec<(usize, u64)> = tasks.iter().map(|(m, count)| (*m, *count)).collect();
        let assignment = match standing.find_servers_for(&gangs, &mut steps) {
            Answer::Yes(assignment) => assignment,
            Answer::No => return Err(Missing::Servers),
            Answer::NotKnown => return Err(Missing::Search),
        };
        for (m, places) in &assignment.parts {
            for (k, place) in places.iter().enumerate() {
                standing.change(*m, *place, &Rational::from(1));
                own.push((*m, *place));
                let name = if places.len() == 1 { (*task).to_owned() } else { format!("{task} {k}") };
                let gang = if has_gangs { format!("Workload {task}") } else { String::new() };
                put(&mut before, *m, *place, name, gang);
            }
        }
        for of in before.waiting.iter_mut().filter(|of| tasks.contains_key(&of.user)) {
            let all = of.names.len();
            of.names.retain(|name| !is_of_job(name, task));
            of.tasks -= (all - of.names.len()) as u64;
        }
    }
    before.waiting.retain(|of| of.tasks > 0);
    before.allocation = placed(&snapshot.allocation, standing.servers.placements());
    let stopped = own.len() as u64;
    let n = start[0];
    drop(standing);
    let rules = TaskRules::new(&before);
    let standing = Standing::new(problem, &rules, &before.allocation).ok_or(Missing::Placements)?;
    let standing = standing.unrounded(&before.allocation, &before.rounded).unwrap_or(standing);
    let found = match standing.find(n, &mut steps) {
        Answer::Yes(_) => None,
        Answer::No => Some(fewest(&standing, n, false, &mut steps)),
        Answer::NotKnown => return Err(Missing::Search),
    };
    let mut tasks = Vec::new();
    let mut is_same = false;
    if let Some(FewestStops::Found { stops, .. }) = &found {
        tasks = stops.named(&before, &rules);
        let chosen: BTreeSet<(usize, Option<&str>)> =
            tasks.iter().map(|task| (task.user, task.name.as_deref())).collect();
        let is_victim = |(_, name): &(usize, Option<&str>)| {
            name.is_some_and(|name| victims.iter().any(|(task, _)| is_of_job(name, task)))
        };
        is_same = stops.count() == stopped && chosen.iter().all(is_victim);
    }
    drop(standing);
    Ok(Replay { stopped, before, fewest: found, tasks, is_same })
}

/// Removes running tasks from the names of a snapshot.
fn remove(snapshot: &mut Snapshot, tasks: &[(usize, Place, usize)]) {
    for of in &mut snapshot.running {
        let place = Place { class: of.server, index: of.index };
        let gone: BTreeSet<usize> = tasks
            .iter()
            .filter(|(user, at, _)| (*user, *at) == (of.user, place))
            .map(|(.., position)| *position)
            .collect();
        for list in [&mut of.names, &mut of.owners, &mut of.gangs] {
            let mut position = 0;
            list.retain(|_| {
                position += 1;
                !gone.contains(&(position - 1))
            });
        }
    }
    snapshot.running.retain(|of| !of.names.is_empty());
}

/// Adds the name of a running task to a snapshot. The name comes before the names of all other tasks on the
/// server, because these tasks are younger.
fn put(snapshot: &mut Snapshot, user: usize, place: Place, name: String, gang: String) {
    let is_there = |of: &&mut Running| (of.user, of.server, of.index) == (user, place.class, place.index);
    match snapshot.running.iter_mut().find(is_there) {
        Some(of) => {
            if !of.gangs.is_empty() || !gang.is_empty() {
                of.gangs.resize(of.names.len(), String::new());
                of.gangs.insert(0, gang);
            }
            if !of.owners.is_empty() {
                of.owners.insert(0, String::new());
            }
            of.names.insert(0, name);
        }
        None => snapshot.running.push(Running {
            user,
            server: place.class,
            index: place.index,
            names: vec![name],
            owners: Vec::new(),
            gangs: if gang.is_empty() { Vec::new() } else { vec![gang] },
        }),
    }
}
