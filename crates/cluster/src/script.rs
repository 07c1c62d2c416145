//! Moves in the words of a cluster: the names of tasks and servers, and a script of the system's own commands.

use std::collections::{BTreeMap, HashMap};

use evenhand_problem::printable;
use evenhand_problem::snapshot::{Running, Snapshot, System, Waiting};

use crate::moves::{Moves, Tasks};
use crate::servers::Place;

/// A task that is stopped or started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its user.
    pub user: usize,
    /// Its own name, where it is known.
    pub name: Option<String>,
    /// Its server.
    pub place: Place,
}

/// A move with the names of its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What is stopped.
    pub stop: Vec<Task>,
    /// What starts.
    pub start: Vec<Task>,
}

/// The moves with names, as far as the snapshot has them, and the snapshot after them.
#[must_use]
pub fn named(snapshot: &Snapshot, moves: &Moves) -> (Vec<Named>, Snapshot) {
    let mut running: HashMap<(usize, Place), Vec<String>> = HashMap::new();
    for of in &snapshot.running {
        let place = Place { class: of.server, index: of.index };
        running.entry((of.user, place)).or_default().extend(of.names.iter().cloned());
    }
    let mut waiting: HashMap<usize, Vec<String>> = HashMap::new();
    // The last of a list is taken first: those that wait longest stand in front.
    for of in snapshot.waiting.iter().rev() {
        waiting.entry(of.user).or_default().extend(of.names.iter().rev().cloned());
    }
    // By user: how many tasks more it runs after the moves.
    let mut started: BTreeMap<usize, i64> = BTreeMap::new();
    let mut stopped: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut all = Vec::new();
    for step in &moves.list {
        let mut stop = Vec::new();
        for (user, tasks) in &step.stop {
            for place in each(tasks) {
                let name = running.get_mut(&(*user, place)).and_then(Vec::pop);
                *started.entry(*user).or_default() -= 1;
                stopped.entry(*user).or_default().extend(name.clone());
                stop.push(Task { user: *user, name, place });
            }
        }
        let (user, tasks) = (step.start.0, &step.start.1);
        let mut start = Vec::new();
        for place in each(tasks) {
            let name = waiting.get_mut(&user).and_then(Vec::pop);
            *started.entry(user).or_default() += 1;
            if let Some(name) = &name {
                running.entry((user, place)).or_default().push(name.clone());
            }
            start.push(Task { user, name, place });
        }
        all.push(Named { stop, start });
    }
    let mut after = snapshot.clone();
    after.allocation = moves.after.clone();
    after.waiting = waits(snapshot, &waiting, &stopped, &started);
    let mut running: Vec<_> = running.into_iter().filter(|(_, names)| !names.is_empty()).collect();
    running.sort_by_key(|((user, place), _)| (place.class, place.index, *user));
    let running = running.into_iter().map(|((user, place), names)| Running {
        user,
        server: place.class,
        index: place.index,
        names,
    });
    after.running = running.collect();
    (all, after)
}

fn each(tasks: &Tasks) -> impl Iterator<Item = Place> + '_ {
    tasks.iter().flat_map(|(place, count)| (0..*count).map(|_| *place))
}

/// What waits after the moves: what was not started, and what was stopped.
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

/// The commands that stop tasks, a line each; what starts is the scheduler's to do, and a comment.
#[must_use]
pub fn script(snapshot: &Snapshot, moves: &[Named]) -> String {
    let mut lines = vec![
        "#!/bin/sh".to_owned(),
        "# Stops tasks to make room for queues that are short. Nothing has been executed: read it first."
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
    for (number, step) in moves.iter().enumerate() {
        lines.push(format!("\n# Move {}", number + 1));
        for task in &step.stop {
            let command = task.name.as_ref().and_then(|name| command(snapshot.system, name));
            lines.push(command.unwrap_or_else(|| format!("# stop {} (no command is known)", called(task))));
        }
        lines.extend(step.start.iter().map(|task| format!("# start {}", called(task))));
    }
    lines.join("\n") + "\n"
}

/// The command that stops a task of that name.
fn command(system: Option<System>, name: &str) -> Option<String> {
    if name.chars().any(char::is_control) {
        return None;
    }
    match system? {
        System::Slurm => Some(format!("scancel -- {}", quoted(name))),
        System::Kubernetes | System::Kueue | System::Kai | System::Volcano | System::Yunikorn => {
            Some(match name.split_once('/') {
                Some((namespace, pod)) => {
                    format!("kubectl delete pod --namespace={} -- {}", quoted(namespace), quoted(pod))
                }
                None => format!("kubectl delete pod -- {}", quoted(name)),
            })
        }
        System::Mesos | System::Csv => None,
    }
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
