//! The explanation why a task was stopped, in text for people: for which task, by which rule, and whether
//! fewer stops would have sufficed.

use evenhand_cluster::stopped::{Explanation, Missing, Replay};
use evenhand_cluster::{FewestStops, gang};
use evenhand_problem::snapshot::{Snapshot, System};

use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::few;

/// The largest number of names in one sentence.
const NAMED: usize = 6;

/// Returns the explanation as a page.
#[must_use]
pub fn page(snapshot: &Snapshot, of: &Explanation) -> Page {
    let mut page = Page::new().text(answer(snapshot, of)).table(table(snapshot, of));
    let mut lines = Vec::new();
    if let Some(level) = level(snapshot, of) {
        lines.push(level);
    }
    if let Some(meaning) = meaning(&of.stop.rule) {
        lines.push(format!("Rule {}: {meaning}", of.stop.rule));
    }
    if !of.others.is_empty() {
        lines.push(format!("Also stopped for it: {}.", few(&of.others, NAMED)));
    }
    if !of.stop.message.is_empty() {
        lines.push(format!("The scheduler's message: {}", of.stop.message));
    }
    page = page.lines(lines).heading("Would fewer or other stops have been enough?");
    page = page.lines(match &of.replay {
        Ok(replay) => replayed(snapshot, of, replay),
        Err(missing) => vec![format!("Not known from this dump: {}", why(snapshot, of, missing))],
    });
    page.text(next(snapshot, of))
}

/// Returns the answer in a sentence.
#[must_use]
pub fn answer(snapshot: &Snapshot, of: &Explanation) -> String {
    let at = if of.stop.time.is_empty() { String::new() } else { format!(" at {}", of.stop.time) };
    let task = &of.stop.task;
    let rule = if of.stop.rule.is_empty() { "a rule that the dump does not name" } else { &of.stop.rule };
    match &of.replay {
        Err(Missing::NotPreempted) => format!("{task} was stopped{at} for no other task: {rule}."),
        _ if of.stop.by.is_empty() && of.stop.by_uid.is_empty() => {
            format!("{task} was stopped{at} ({rule}). The dump does not say for which task.")
        }
        _ if of.stop.by.is_empty() => format!(
            "{task} was stopped{at} ({rule}) for the task with the UID {}, which is not in the dump.",
            of.stop.by_uid
        ),
        _ => {
            let queue = |user: Option<usize>| user.and_then(|n| group(snapshot, n));
            let of_queue = queue(of.preemptor).map(|name| format!(" of {name}")).unwrap_or_default();
            format!("{task} was stopped{at} for {}{of_queue} ({rule}).", of.stop.by)
        }
    }
}

/// Returns the name of the group of a user.
pub(crate) fn group(snapshot: &Snapshot, n: usize) -> Option<&str> {
    let groups = snapshot.problem.groups();
    groups.member(n).group.map(|v| groups.list()[v].name.as_str())
}

/// Returns the priority of a user.
pub(crate) fn priority(snapshot: &Snapshot, n: usize) -> i64 {
    snapshot.constraints.iter().find(|of| of.user == n).map_or(0, |of| of.priority)
}

fn table(snapshot: &Snapshot, of: &Explanation) -> Table {
    let mut table = Table::new([
        Column::words("task"),
        Column::words("what"),
        Column::words("queue"),
        Column::numbers("priority"),
        Column::numbers("tasks"),
    ]);
    let mut row = |task: &str, what: &str, user: Option<usize>| {
        let name = user.and_then(|n| group(snapshot, n));
        table.row([
            Cell::text(if task.is_empty() { "not known" } else { task }),
            Cell::text(what),
            name.map_or_else(Cell::none, Cell::text),
            user.map_or_else(Cell::none, |n| Cell::text(priority(snapshot, n).to_string())),
            user.map_or_else(Cell::none, |n| Cell::from(gang(&snapshot.problem, n))),
        ]);
    };
    row(&of.stop.task, "stopped", of.victim);
    if of.replay != Err(Missing::NotPreempted) {
        row(if of.stop.by.is_empty() { &of.stop.by_uid } else { &of.stop.by }, "started", of.preemptor);
    }
    table
}

/// Returns a sentence about the position of the two queues in the hierarchy.
fn level(snapshot: &Snapshot, of: &Explanation) -> Option<String> {
    let (a, b) = (group(snapshot, of.victim?)?, group(snapshot, of.preemptor?)?);
    let groups = snapshot.problem.groups().list();
    Some(match of.level {
        _ if a == b => format!("Level: inside queue {a}."),
        Some(v) => format!("Level: queues {a} and {b} below {}.", groups[v].name),
        None => format!("Level: queues {a} and {b}, which have no queue above both."),
    })
}

/// Returns the meaning of a preemption rule of Kueue, Kubernetes or Slurm.
pub(crate) fn meaning(rule: &str) -> Option<&'static str> {
    Some(match rule {
        "InClusterQueue" => {
            "a workload of the same cluster queue comes first, by its priority or by its age."
        }
        "InCohortReclamation" => {
            "the queue of the other workload takes back its nominal quota, which others borrowed."
        }
        "InCohortFairSharing" => {
            "the other queue has the lower weighted share of what is borrowed in the cohort."
        }
        "InCohortReclaimWhileBorrowing" => {
            "the queue of the other workload takes back nominal quota while it borrows itself (borrowWithinCohort)."
        }
        "Preempted" => "the other task has a higher priority and needs the capacity.",
        "PodsReadyTimeout" => "its pods were not ready in time.",
        "AdmissionCheck" => "an admission check failed.",
        "ClusterQueueStopped" => "its cluster queue was stopped.",
        "LocalQueueStopped" => "its local queue was stopped.",
        "Deactivated" | "InactiveWorkload" => "it was deactivated.",
        "NodeFailures" => "nodes on which it ran failed.",
        "PREEMPTED" => "a partition or QOS with a higher preemption tier needed the nodes.",
        _ => return None,
    })
}

fn replayed(snapshot: &Snapshot, of: &Explanation, replay: &Replay) -> Vec<String> {
    let stopped = counted(replay.stopped, "task");
    let by = &of.stop.by;
    let mut lines = vec![format!(
        "Replay: {by} does not run, and the {stopped} that were stopped for it run again on servers with room. All other tasks run as in the snapshot."
    )];
    let names: Vec<String> = replay
        .tasks
        .iter()
        .map(|task| {
            let user = snapshot.problem.users()[task.user].name();
            task.name.clone().unwrap_or_else(|| format!("a task of {user}"))
        })
        .collect();
    lines.push(match &replay.fewest {
        None => format!("No stop is needed then: {by} could start next to them."),
        Some(FewestStops::Found { stops, least }) => {
            let found = stops.count();
            let tasks = counted(found, "task");
            let proven = if *least == found { " Fewer do not suffice." } else { "" };
            match found.cmp(&replay.stopped) {
                std::cmp::Ordering::Less => {
                    format!("Fewer stops would have been enough: {tasks} ({}).{proven}", few(&names, NAMED))
                }
                std::cmp::Ordering::Equal if replay.is_same => {
                    format!("Just these {stopped} would be chosen again.{proven}")
                }
                std::cmp::Ordering::Equal => format!(
                    "As many other stops would have been enough as well: {tasks} ({}).{proven}",
                    few(&names, NAMED)
                ),
                std::cmp::Ordering::Greater => format!(
                    "By the policy in the snapshot, stops of {tasks} were found ({}). The scheduler stopped fewer, so it may stop tasks that this policy leaves alone.",
                    few(&names, NAMED)
                ),
            }
        }
        Some(FewestStops::Impossible) => format!(
            "By the policy in the snapshot no stops let {by} start. The scheduler may stop tasks that this policy leaves alone."
        ),
        Some(FewestStops::NotKnown { least }) => {
            format!("No set of stops was found, and at least {} would be needed.", counted(*least, "task"))
        }
    });
    lines.push(
        "Tasks that started or ended since the stop are not undone, so this is no judgement of the scheduler's choice at that time."
            .to_owned(),
    );
    lines
}

/// Returns a sentence that names the data that a replay needs, and the command that prints these data.
pub(crate) fn why(snapshot: &Snapshot, of: &Explanation, missing: &Missing) -> String {
    match missing {
        Missing::NotPreempted => "it was not stopped for another task.".to_owned(),
        Missing::Preemptor if of.stop.by_uid.is_empty() => match snapshot.system {
            Some(System::Slurm) => {
                "Slurm does not record for which job it stopped another one. `sacct --state=PREEMPTED -o JobID,End,Reason` shows when."
                    .to_owned()
            }
            _ => "the dump does not name the task for which it was stopped.".to_owned(),
        },
        Missing::Preemptor => {
            let kind = if snapshot.system == Some(System::Kueue) { "workloads" } else { "pods" };
            format!(
                "no task of the dump has the UID {}. `kubectl get {kind} -A -o json` lists it if it still exists; it may have ended.",
                of.stop.by_uid
            )
        }
        Missing::NotRunning => format!("{} does not run now as a whole.", of.stop.by),
        Missing::Victims(tasks) => {
            let verb = if tasks.len() == 1 { "does" } else { "do" };
            format!("{} {verb} not wait now as a whole: they run again, ended, or are not in the dump.", few(tasks, NAMED))
        }
        Missing::Servers => {
            "the stopped tasks have no room next to the tasks that run now. Other tasks started in the meantime."
                .to_owned()
        }
        Missing::Placements => "the snapshot does not say on which servers tasks run.".to_owned(),
        Missing::Search => "the search for servers reached its limit of steps.".to_owned(),
    }
}

fn next(snapshot: &Snapshot, of: &Explanation) -> String {
    let first = of.victim.and_then(|n| {
        let names = snapshot.waiting.iter().filter(|waiting| waiting.user == n).flat_map(|of| &of.names);
        names.into_iter().find(|name| name.starts_with(&of.stop.task))
    });
    match first {
        Some(name) => {
            format!(
                "Next: `evenhand explain SNAPSHOT --task \"{name}\"` says whether it could start again now."
            )
        }
        None => "Next: `evenhand verdict SNAPSHOT` shows which queues are below their fair share.".to_owned(),
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
