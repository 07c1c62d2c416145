//! The tasks to migrate so that a waiting gang could start, in text for people: the answer, the steps, and
//! the proven facts.

use evenhand_cluster::migrations::{Cluster, Cost, Migrations, Obstacle, Outcome, Pack};
use evenhand_cluster::script::{Named, Task};
use evenhand_cluster::{Bound, gang};
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Problem, Rational};

use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{amount, decimal, few};

/// The largest number of rows in the table for people.
const LONGEST: usize = 60;
/// The largest number of names in one sentence.
const NAMED: usize = 4;

/// The question that the page answers.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The result for all waiting gangs, if the question was about the largest gang that could start. `None`
    /// for a question about one job.
    pub pack: Option<&'a Pack>,
    /// The cost of migrating a task.
    pub cost: &'a Cost,
    /// True if the capacities of servers are rounded down to the least capacity of their class.
    pub is_rounded: bool,
}

/// Returns the answer as a page. `steps` are the steps of the plan, with the names of tasks.
#[must_use]
pub fn page(
    snapshot: &Snapshot,
    cluster: &Cluster,
    found: Option<&Migrations>,
    steps: &[Named],
    asked: &Asked<'_>,
) -> Page {
    let mut page = Page::new().lines(answer(snapshot, cluster, found, steps, asked));
    let table = table(snapshot, steps);
    let has_steps = !table.is_empty();
    if has_steps {
        page = page.table(table.at_most(LONGEST, "tasks that migrate or start"));
    }
    let mut lines = Vec::new();
    if let Some(found) = found.filter(|found| !found.not_modelled.is_empty()) {
        lines.push(format!(
            "Whether it could start also depends on conditions that are not modelled: {}.",
            found.not_modelled.join(", ")
        ));
    }
    if asked.is_rounded {
        lines.push(
            "Servers count with the least capacity of their class. Whether the rest of them would save migrations is not checked."
                .to_owned(),
        );
    }
    if has_steps {
        let what = if asked.pack.is_some() { "--pack" } else { "--for JOB" };
        lines.push(format!(
            "Next: `evenhand moves SNAPSHOT {what} --after FILE` writes the snapshot after these steps."
        ));
    }
    page.lines(lines)
}

fn answer(
    snapshot: &Snapshot,
    cluster: &Cluster,
    found: Option<&Migrations>,
    steps: &[Named],
    asked: &Asked<'_>,
) -> Vec<String> {
    let mut lines = Vec::new();
    match (found, asked.pack) {
        (Some(found), None) => lines.extend(of_job(snapshot, cluster, found, steps, asked)),
        (Some(found), Some(_)) => {
            let (job, size) = (job_name(snapshot, cluster, found.job), tasks_of(cluster, found.job));
            lines.push(format!(
                "The largest waiting gang for which migrations make room is {job}, with {}.",
                counted(size, "task")
            ));
            lines.extend(of_job(snapshot, cluster, found, steps, asked));
        }
        (None, Some(pack)) if pack.not_known.is_empty() => {
            lines.push("No migrations make room for a waiting gang that could not start now.".to_owned());
        }
        (None, _) => {
            lines.push("No migrations were found that make room for a waiting gang.".to_owned());
        }
    }
    if let Some(pack) = asked.pack {
        lines.extend(others(cluster, found, pack));
    }
    if let Cost::Age(ages) = asked.cost
        && !ages.unknown.is_empty()
    {
        let names: Vec<&str> = ages.unknown.iter().map(|n| cluster.problem.users()[*n].name()).collect();
        lines.push(format!(
            "For how long tasks of {} have run is not known. They cost as much as the dearest others.",
            few(&names, NAMED)
        ));
    }
    lines
}

/// Returns sentences about the gangs that `--pack` considered before its result.
fn others(cluster: &Cluster, found: Option<&Migrations>, pack: &Pack) -> Vec<String> {
    let larger = if found.is_some() { "larger waiting " } else { "waiting " };
    let mut lines = Vec::new();
    if pack.start_now > 0 {
        let gangs = counted_with(pack.start_now as u64, larger, "gang");
        lines.push(format!("{gangs} could start now without migrations."));
    }
    if pack.never > 0 {
        lines.push(format!(
            "No migrations make room for {}.",
            counted_with(pack.never as u64, larger, "gang")
        ));
    }
    if !pack.not_known.is_empty() {
        let names: Vec<&str> = pack.not_known.iter().map(|n| cluster.problem.users()[*n].name()).collect();
        lines.push(format!(
            "For {} it is not known whether migrations would help: {}.",
            counted_with(names.len() as u64, larger, "gang"),
            few(&names, NAMED)
        ));
    }
    lines
}

fn of_job(
    snapshot: &Snapshot,
    cluster: &Cluster,
    found: &Migrations,
    steps: &[Named],
    asked: &Asked<'_>,
) -> Vec<String> {
    let job = capital(&job_name(snapshot, cluster, found.job));
    let is_count = *asked.cost == Cost::Count;
    let needed = |least: &Rational| match (is_count, *least == 1) {
        (true, true) => "At least 1 migration is needed.".to_owned(),
        (true, false) => format!("At least {} migrations are needed.", decimal(least)),
        (false, _) => format!("Migrations of a cost of at least {} are needed.", decimal(least)),
    };
    match &found.outcome {
        Outcome::StartsNow(_) => {
            let servers = places(snapshot, steps);
            vec![format!("{job} could start now on {servers}: nothing has to migrate.")]
        }
        Outcome::Plan(plan) => {
            let servers = places(snapshot, steps);
            let cost =
                if is_count { String::new() } else { format!(" at a cost of {}", decimal(&plan.cost)) };
            let migrations = counted(plan.tasks, "migration");
            let bound = match (found.is_cheapest(), is_count) {
                (true, true) => "Fewer do not suffice.".to_owned(),
                (true, false) => "Cheaper migrations do not suffice.".to_owned(),
                (false, _) => found.least.as_ref().map(needed).unwrap_or_default(),
            };
            vec![format!("{job} could start on {servers} after {migrations}{cost}. {bound}")]
        }
        Outcome::Never(obstacle) => {
            vec![format!(
                "No migrations help: {}",
                why(&cluster.problem, &job_name(snapshot, cluster, found.job), obstacle)
            )]
        }
        Outcome::NotFound { needs_temporary_place } => {
            let mut lines = vec![format!(
                "No migrations were found after which {} could start, which is no proof that there are none.",
                job_name(snapshot, cluster, found.job)
            )];
            if *needs_temporary_place {
                lines.push(
                    "Some migrations would make room, but in no order that was found does each task have room when it moves."
                        .to_owned(),
                );
            }
            lines.extend(found.least.as_ref().filter(|least| **least > 0).map(needed));
            lines
        }
    }
}

/// Returns the reason why no migrations help, as the end of a sentence.
pub(crate) fn why(problem: &Problem, job: &str, obstacle: &Obstacle) -> String {
    let resource = |r: usize| problem.resources()[r].as_str();
    let named = |r: usize, value: &Rational| format!("{} {}", amount(resource(r), value), resource(r));
    let group = |v: usize| problem.groups().list()[v].name.as_str();
    match obstacle {
        Obstacle::Tasks => format!("{job} has no whole gang of tasks that waits."),
        Obstacle::Bound(Bound::Limit(v, r), excess) => {
            format!(
                "{job} would exceed the limit of group {} by {}, wherever it ran.",
                group(*v),
                named(*r, excess)
            )
        }
        Obstacle::Bound(Bound::KeptBack(r), excess) => {
            format!(
                "{job} would use {} that are kept back for guarantees of other groups.",
                named(*r, excess)
            )
        }
        Obstacle::Bound(Bound::Weight(v), _) => {
            format!("group {} has the weight 0 and gets nothing beyond its guarantee.", group(*v))
        }
        Obstacle::Bound(Bound::OnClasses(at), _) => {
            format!("{job} would exceed a limit of group {} on server classes.", group(at.group))
        }
        Obstacle::Servers => {
            format!(
                "{job} would not fit on the servers that it may use, even if all tasks left them that may migrate."
            )
        }
        Obstacle::Capacity { resource: r, free, needed } => format!(
            "{job} demands {}, and {} free on all servers together.",
            named(*r, needed),
            if *free == 1 {
                format!("only {} is", named(*r, free))
            } else {
                format!("only {} are", named(*r, free))
            }
        ),
        Obstacle::Searched => "all of them were tried.".to_owned(),
    }
}

/// Returns the name of a job: the name of its waiting task, or the name of its user with the number of tasks
/// of the gang.
pub(crate) fn job_name(snapshot: &Snapshot, cluster: &Cluster, n: usize) -> String {
    let users = cluster.rules.start(n);
    let names: Vec<&str> = users.iter().map(|m| cluster.problem.users()[*m].name()).collect();
    let size = tasks_of(cluster, n);
    if size > 1 {
        return format!("the gang of {size} tasks of {}", names.join(" and "));
    }
    let task = snapshot.waiting.iter().filter(|of| of.user == n).flat_map(|of| &of.names).next();
    match task {
        Some(task) => format!("{task} of {}", names[0]),
        None => format!("a task of {}", names[0]),
    }
}

fn tasks_of(cluster: &Cluster, n: usize) -> u64 {
    cluster.rules.start(n).iter().map(|m| gang(&cluster.problem, *m)).sum()
}

fn capital(text: &str) -> String {
    for (start, with) in [("the ", "The "), ("a task of ", "A task of ")] {
        if let Some(rest) = text.strip_prefix(start) {
            return format!("{with}{rest}");
        }
    }
    text.to_owned()
}

fn counted(count: u64, noun: &str) -> String {
    counted_with(count, "", noun)
}

fn counted_with(count: u64, adjective: &str, noun: &str) -> String {
    if count == 1 { format!("1 {adjective}{noun}") } else { format!("{count} {adjective}{noun}s") }
}

/// Returns the servers on which the job starts.
fn places(snapshot: &Snapshot, steps: &[Named]) -> String {
    let starts = steps.last().into_iter().flat_map(|step| &step.start);
    let mut names: Vec<String> = starts.map(|task| server(snapshot, task)).collect();
    names.dedup();
    few(&names, NAMED)
}

fn server(snapshot: &Snapshot, task: &Task) -> String {
    snapshot.server_name(task.place.class, task.place.index)
}

fn table(snapshot: &Snapshot, steps: &[Named]) -> Table {
    let mut table = Table::new([
        Column::numbers("step"),
        Column::words("what"),
        Column::words("task"),
        Column::words("from"),
        Column::words("to"),
    ]);
    let called = |task: &Task| {
        let user = snapshot.problem.users()[task.user].name();
        task.name.as_ref().map_or_else(|| format!("a task of {user}"), |name| format!("{name} of {user}"))
    };
    for (number, step) in steps.iter().enumerate() {
        let number = || Cell::from(number as u64 + 1);
        for (position, start) in step.start.iter().enumerate() {
            let stop = step.stop.get(position).filter(|_| step.is_migration);
            let what = match stop {
                Some(stop) if stop.place == start.place => "restart",
                Some(_) => "migrate",
                None => "start",
            };
            table.row([
                number(),
                Cell::text(what),
                Cell::text(called(start)),
                stop.map_or_else(Cell::none, |stop| Cell::text(server(snapshot, stop))),
                Cell::text(server(snapshot, start)),
            ]);
        }
    }
    table
}
