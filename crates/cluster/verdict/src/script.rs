//! Moves with the names of tasks and servers, and a shell script with the scheduler's commands that stop
//! tasks.

use std::collections::{BTreeMap, HashMap};

use evenhand_problem::snapshot::{Running, Snapshot, System, Waiting};
use evenhand_problem::{Allocation, printable};

use crate::moves::{Move, Moves, Tasks};
use crate::servers::Place;
use crate::task_rules::TaskRules;

/// A task that is stopped or started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The user of the task.
    pub user: usize,
    /// The name of the task, if the snapshot states it.
    pub name: Option<String>,
    /// The owner that would start the task again, as `KIND NAMESPACE/NAME`. `None` if the owner is not known.
    /// Empty if the task has no owner.
    pub owner: Option<String>,
    /// The server of the task.
    pub place: Place,
}

/// A move with the names of its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The tasks that stop.
    pub stop: Vec<Task>,
    /// The tasks that start.
    pub start: Vec<Task>,
    /// True if the move is a migration: the task that it stops starts again on another server.
    pub is_migration: bool,
}

/// Returns the moves with the names that the snapshot states, and the snapshot after the moves.
#[must_use]
pub fn named(snapshot: &Snapshot, rules: &TaskRules, moves: &Moves) -> (Vec<Named>, Snapshot) {
    named_steps(snapshot, rules, &moves.list, &moves.after)
}

/// Returns steps with the names that the snapshot states, and the snapshot after the steps. `allocation` is the
/// allocation after the steps.
#[must_use]
pub fn named_steps(
    snapshot: &Snapshot,
    rules: &TaskRules,
    steps: &[Move],
    allocation: &Allocation,
) -> (Vec<Named>, Snapshot) {
    let mut running: HashMap<(usize, Place), Vec<Known>> = HashMap::new();
    for of in &snapshot.running {
        let place = Place { class: of.server, index: of.index };
        let known = of.names.iter().enumerate();
        let known = known.map(|(at, name)| Known {
            name: name.clone(),
            owner: of.owners.get(at).cloned(),
            gang: of.gangs.get(at).cloned().unwrap_or_default(),
        });
        running.entry((of.user, place)).or_default().extend(known);
    }
    let mut waiting: HashMap<usize, Vec<String>> = HashMap::new();
    // Names are taken from the end of each list. The lists are reversed, so that the task that has waited
    // longest starts first.
    for of in snapshot.waiting.iter().rev() {
        waiting.entry(of.user).or_default().extend(of.names.iter().rev().cloned());
    }
    // The number of started tasks minus the number of stopped tasks of each user.
    let mut started: BTreeMap<usize, i64> = BTreeMap::new();
    let mut stopped: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut all = Vec::new();
    for step in steps {
        let mut stop = Vec::new();
        let mut gangs_of_stopped: Vec<String> = Vec::new();
        for (user, tasks) in &step.stop {
            for place in each(tasks) {
                let known = running.get_mut(&(*user, place)).and_then(|there| {
                    // First a task of a gang that stops is chosen, then the youngest task outside of gangs,
                    // then the youngest task of all. The youngest task is the last task in the list.
                    let is_gone = |of: &Known| step.gangs.iter().any(|at| rules.gang_name(*at) == of.gang);
                    let at = there.iter().rposition(is_gone);
                    let at = at.or_else(|| there.iter().rposition(|of| of.gang.is_empty()));
                    let at = at.or_else(|| there.len().checked_sub(1))?;
                    Some(there.remove(at))
                });
                let (name, owner, gang) =
                    known.map_or((None, None, String::new()), |of| (Some(of.name), of.owner, of.gang));
                gangs_of_stopped.push(gang);
                *started.entry(*user).or_default() -= 1;
                stopped.entry(*user).or_default().extend(name.clone());
                stop.push(Task { user: *user, name, owner, place });
            }
        }
        let mut start = Vec::new();
        for (at, place) in if step.is_migration { new_places(&stop, &step.start) } else { Vec::new() } {
            // A task that migrates keeps its name, its owner and its gang.
            let Task { user, name, owner, .. } = stop[at].clone();
            stopped.entry(user).or_default().retain(|of| Some(of) != name.as_ref());
            *started.entry(user).or_default() += 1;
            if let Some(name) = &name {
                let known = Known { name: name.clone(), owner, gang: gangs_of_stopped[at].clone() };
                running.entry((user, place)).or_default().push(known);
            }
            start.push(Task { user, name, owner: None, place });
        }
        for (user, tasks) in step.start.iter().filter(|_| !step.is_migration) {
            for place in each(tasks) {
                // A start without migration takes the name of a waiting task.
                let name = waiting.get_mut(user).and_then(Vec::pop);
                *started.entry(*user).or_default() += 1;
                if let Some(name) = &name {
                    let known = Known { name: name.clone(), owner: None, gang: String::new() };
                    running.entry((*user, place)).or_default().push(known);
                }
                start.push(Task { user: *user, name, owner: None, place });
            }
        }
        all.push(Named { stop, start, is_migration: step.is_migration });
    }
    let mut after = snapshot.clone();
    after.allocation = allocation.clone();
    after.waiting = waits(snapshot, &waiting, &stopped, &started);
    let mut running: Vec<_> = running.into_iter().filter(|(_, known)| !known.is_empty()).collect();
    running.sort_by_key(|((user, place), _)| (place.class, place.index, *user));
    let running = running.into_iter().map(|((user, place), known)| {
        let is_owned = known.iter().all(|of| of.owner.is_some());
        let owners = known.iter().filter(|_| is_owned).filter_map(|of| of.owner.clone()).collect();
        let in_gangs = known.iter().any(|of| !of.gang.is_empty());
        let gangs = known.iter().filter(|_| in_gangs).map(|of| of.gang.clone()).collect();
        let names = known.into_iter().map(|of| of.name).collect();
        Running { user, server: place.class, index: place.index, names, owners, gangs }
    });
    after.running = running.collect();
    (all, after)
}

/// A running task of the snapshot.
struct Known {
    name: String,
    owner: Option<String>,
    gang: String,
}

/// Returns the new server of each task that migrates, with the position of the task in `stop`. A task of a
/// gang keeps its server if the gang starts a task there again.
fn new_places(stop: &[Task], start: &BTreeMap<usize, Tasks>) -> Vec<(usize, Place)> {
    let mut left = start.clone();
    let mut places: Vec<Option<Place>> = vec![None; stop.len()];
    for is_own in [true, false] {
        for (task, place) in stop.iter().zip(&mut places).filter(|(_, place)| place.is_none()) {
            let Some(tasks) = left.get_mut(&task.user) else { continue };
            let own = || tasks.contains_key(&task.place).then_some(task.place);
            let new = if is_own { own() } else { tasks.keys().next().copied() };
            let Some(new) = new else { continue };
            *place = Some(new);
            if let Some(count) = tasks.get_mut(&new) {
                *count -= 1;
            }
            tasks.retain(|_, count| *count > 0);
        }
    }
    places.into_iter().enumerate().filter_map(|(at, place)| Some((at, place?))).collect()
}

/// Returns the server of each task, one entry for each task.
fn each(tasks: &Tasks) -> impl Iterator<Item = Place> + '_ {
    tasks.iter().flat_map(|(place, count)| (0..*count).map(|_| *place))
}

/// Returns the tasks that wait after the moves: waiting tasks that were not started, and stopped tasks.
fn waits(
    snapshot: &Snapshot,
    left: &HashMap<usize, Vec<String>>,
    stopped: &BTreeMap<usize, Vec<String>>,
    started: &BTreeMap<usize, i64>,
) -> Vec<Waiting> {
    let mut waiting = Vec::new();
    let mut taken = started.clone();
    for of in &snapshot.waiting {
        let names = left.get(&of.user).map_or(&[][..], Vec::as_slice);
        let names = of.names.iter().filter(|name| names.contains(name)).cloned().collect();
        let fewer = taken.get_mut(&of.user).map_or(0, |more| {
            let fewer = (*more).clamp(0, i64::try_from(of.tasks).unwrap_or(i64::MAX));
            *more -= fewer;
            fewer.unsigned_abs()
        });
        let tasks = of.tasks - fewer;
        if tasks > 0 {
            waiting.push(Waiting { tasks, names, ..of.clone() });
        }
    }
    for (user, more) in taken.into_iter().filter(|(_, more)| *more < 0) {
        let names = stopped.get(&user).cloned().unwrap_or_default();
        let reason = "stopped by a move".to_owned();
        waiting.push(Waiting { user, tasks: more.unsigned_abs(), names, reason });
    }
    waiting
}

/// Returns a shell script with one line for each command that stops tasks. Starts appear only as comments, because the
/// scheduler starts tasks itself.
///
/// If the owner of a pod would create the pod again, the command stops the owner. This command is written
/// only if the move stops all running tasks of the owner. If no command does exactly what the move says, a
/// comment replaces the command.
#[must_use]
pub fn script(snapshot: &Snapshot, moves: &[Named]) -> String {
    let mut lines = vec![
        "#!/bin/sh".to_owned(),
        "# Stops tasks to make room for queues that are below their fair share. Nothing has been executed: read this first."
            .to_owned(),
        "set -eu".to_owned(),
    ];
    let called = |task: &Task| {
        let user = snapshot.problem.users()[task.user].name();
        let name = task
            .name
            .as_ref()
            .map_or_else(|| format!("a task of {user}"), |name| format!("{name} of {user}"));
        let server = snapshot.server_name(task.place.class, task.place.index);
        printable(&format!("{name}, {server}"))
    };
    let mut owned: HashMap<&str, u64> = HashMap::new();
    for owner in snapshot.running.iter().flat_map(|of| &of.owners).filter(|owner| !owner.is_empty()) {
        *owned.entry(owner).or_default() += 1;
    }
    for (number, step) in moves.iter().enumerate() {
        lines.push(format!("\n# Move {}", number + 1));
        if step.is_migration {
            for (stop, start) in step.stop.iter().zip(&step.start) {
                let to = printable(&snapshot.server_name(start.place.class, start.place.index));
                lines.push(format!(
                    "# move {} to {to} (no command: the scheduler chooses where the task starts again)",
                    called(stop)
                ));
            }
            continue;
        }
        let mut stopped: HashMap<&str, u64> = HashMap::new();
        for owner in step.stop.iter().filter_map(|task| task.owner.as_deref()) {
            *stopped.entry(owner).or_default() += 1;
        }
        let mut written: Vec<String> = Vec::new();
        for task in &step.stop {
            let owner = task.owner.as_deref();
            let is_whole = |owner: &str| stopped.get(owner) == owned.get(owner);
            let command = match owner {
                Some(owner) if !owner.is_empty() && !is_whole(owner) => Err(format!(
                    "{owner} would start the task again, and the move does not stop all of its tasks"
                )),
                _ => command(snapshot.system, task.name.as_deref(), owner),
            };
            match command {
                Ok(command) if written.contains(&command) => {}
                Ok(command) => {
                    lines.push(command.clone());
                    written.push(command);
                }
                Err(why) => {
                    lines.push(format!("# stop {} (no command: {})", called(task), printable(&why)));
                }
            }
        }
        lines.extend(step.start.iter().map(|task| format!("# start {}", called(task))));
    }
    lines.join("\n") + "\n"
}

/// Returns the command that stops a task. Returns an error with the reason if there is no such command.
fn command(system: Option<System>, name: Option<&str>, owner: Option<&str>) -> Result<String, String> {
    let Some(name) = name else { return Err("the name of the task is not known".to_owned()) };
    let safe = |name: &str| {
        let is_plain = !name.is_empty() && printable(name) == name && !name.chars().any(char::is_control);
        is_plain
            .then_some(())
            .ok_or_else(|| "the name has characters that are not safe in a command".to_owned())
    };
    safe(name)?;
    match system.ok_or("the snapshot names no system")? {
        System::Slurm => Ok(format!("scancel -- {}", quoted(job_of(name)))),
        System::Kubernetes | System::Kueue | System::Kai | System::Volcano | System::Yunikorn => {
            let Some(owner) = owner.filter(|owner| !owner.is_empty()) else {
                let (namespace, pod) = in_namespace(name)?;
                let namespace =
                    namespace.map(|of| format!(" --namespace={}", quoted(of))).unwrap_or_default();
                return Ok(format!("kubectl delete pod{namespace} -- {}", quoted(pod)));
            };
            safe(owner)?;
            let (kind, of) = owner.split_once(' ').ok_or("the owner of the task has no kind")?;
            let (namespace, of) = in_namespace(of)?;
            let namespace = namespace.map(|of| format!(" --namespace={}", quoted(of))).unwrap_or_default();
            let patch = |resource: &str, field: &str| {
                format!(
                    "kubectl patch {resource}{namespace} --type=merge --patch='{field}' -- {}",
                    quoted(of)
                )
            };
            match kind {
                "Workload" => Ok(patch("workloads.kueue.x-k8s.io", r#"{"spec":{"active":false}}"#)),
                "Job" => Ok(patch("jobs.batch", r#"{"spec":{"suspend":true}}"#)),
                kind => Err(format!("{kind} {of} would start the task again")),
            }
        }
        System::Mesos | System::Csv => Err("none is known for this system".to_owned()),
    }
}

/// Splits `NAMESPACE/NAME` into the namespace and the name. A name without a slash has no namespace.
fn in_namespace(name: &str) -> Result<(Option<&str>, &str), String> {
    match name.split_once('/') {
        None => Ok((None, name)),
        Some((namespace, of)) if !namespace.is_empty() && !of.is_empty() && !of.contains('/') => {
            Ok((Some(namespace), of))
        }
        Some(_) => Err("the name is not of the form NAMESPACE/NAME".to_owned()),
    }
}

/// Returns the Slurm job of a task. The tasks of a job on several nodes are named `JOB NUMBER`, one for each node.
fn job_of(name: &str) -> &str {
    name.split_once(' ').map_or(name, |(job, _)| job)
}

/// Quotes a word for a shell, unless it is safe without quotes.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
