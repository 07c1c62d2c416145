//! The waiting times of jobs in text for people: the answer, a table of starts, and the assumptions behind
//! the numbers.

use evenhand_cluster::gang;
use evenhand_cluster::waits::{Earliest, NANOSECONDS, Policy, Row, Waits, Which};
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::Rational;
use evenhand_problem::snapshot::{Snapshot, System};

use crate::page::Page;
use crate::table::{Cell, Column, Table};
use crate::text::{few, percent};

/// The largest number of rows in the table for people.
const LONGEST: usize = 60;
/// The largest number of names in one sentence.
const NAMED: usize = 4;

/// The question that the page answers.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The running times of tasks, in the words of the command line.
    pub durations: &'a str,
    /// True if all tasks run until their time limits.
    pub are_limits: bool,
    /// The time at which each run ends, in nanoseconds after the snapshot.
    pub horizon: Option<u64>,
    /// The seed of the first run.
    pub seed: u64,
    /// The rule of the fair shares.
    pub rule: Option<Rule>,
    /// True if the question is about a single job.
    pub is_job: bool,
}

/// Returns the answer as a page.
#[must_use]
pub fn page(snapshot: &Snapshot, waits: &Waits, asked: &Asked<'_>) -> Page {
    let mut page = Page::new().text(answer(snapshot, waits, asked));
    if let [only] = &waits.rows[..] {
        page = page.lines(bound(only));
    }
    if !waits.rows.is_empty() {
        let jobs = "jobs that were asked for";
        page = page.table(table(snapshot, waits, asked).at_most(LONGEST, jobs));
    }
    let mut lines = vec![runs(waits, asked)];
    lines.extend(conditions(snapshot, waits));
    page = page.lines(lines);
    page = page.heading("What is simulated").lines(modelled(snapshot, waits, asked));
    page = page.heading("What is left out").lines(not_modelled(snapshot, waits, asked));
    page.text(next(snapshot, waits))
}

/// Returns the answer in one or two sentences.
#[must_use]
pub fn answer(snapshot: &Snapshot, waits: &Waits, asked: &Asked<'_>) -> String {
    let within = asked.horizon.map(|horizon| format!(" within {}", time(horizon))).unwrap_or_default();
    let one_job = |row: &Row| {
        let job = job(snapshot, row, true);
        if !waits.is_random {
            return match row.starts.first() {
                Some(0) => format!("{job} starts at once."),
                Some(start) => format!("{job} starts after {}.", time(*start)),
                None => format!("{job} does not start{within}."),
            };
        }
        let started = thousands(row.starts.len() as u64);
        let of = format!("{started} of {} runs{within}", thousands(row.runs));
        match row.quantile(1, 2) {
            Some(median) => {
                format!("{job} starts within {} in half of the runs. It started in {of}.", time(median))
            }
            None => format!("{job} starts in less than half of the runs. It started in {of}."),
        }
    };
    if waits.rows.is_empty() {
        return "No whole job waits.".to_owned();
    }
    if asked.is_job || waits.rows.len() == 1 {
        return waits.rows.iter().map(one_job).collect::<Vec<_>>().join(" ");
    }
    // The rows of the last job of each user.
    let last: Vec<&Row> = waits.rows.iter().filter(|row| row.which != Which::First).collect();
    let all = last.iter().filter(|row| row.starts.len() as u64 == row.runs).count();
    let users = if last.len() == 1 { "user".to_owned() } else { format!("{} users", last.len()) };
    let in_runs = if waits.is_random { " in every run" } else { "" };
    match all == last.len() {
        true => format!("All waiting jobs of {users} start{within}{in_runs}."),
        false => format!(
            "All waiting jobs of {all} of {users} start{within}{in_runs}, and not those of the others."
        ),
    }
}

/// Returns the sentence about the lower bound on the start of a job.
fn bound(row: &Row) -> Option<String> {
    match row.earliest? {
        Earliest::At(0) => Some("It could start now.".to_owned()),
        Earliest::At(time_of) => Some(format!(
            "No order of starts lets it start before {}, as long as running tasks run this long and none is stopped or moved.",
            time(time_of)
        )),
        Earliest::Never => Some(
            "No order of starts lets it start: even with only the running tasks that never end, it could not start."
                .to_owned(),
        ),
        Earliest::NotKnown => None,
    }
}

/// Returns the words for a job in a sentence.
fn job(snapshot: &Snapshot, row: &Row, is_first: bool) -> String {
    let user = snapshot.problem.users()[row.user].name();
    let size = gang(&snapshot.problem, row.user);
    let noun = if size > 1 { "gang" } else { "task" };
    let the = if is_first { "The" } else { "the" };
    match &row.which {
        Which::Only if size > 1 => format!("{the} gang of {size} tasks of {user}"),
        Which::Only => format!("{the} waiting task of {user}"),
        Which::First => format!("{the} first of {} waiting {noun}s of {user}", thousands(row.jobs)),
        Which::Last => format!("{the} last of {} waiting {noun}s of {user}", thousands(row.jobs)),
        Which::Task(task) if size > 1 => format!("{the} gang of {task} of {user}"),
        Which::Task(task) => format!("{} {task} of {user}", if is_first { "Task" } else { "task" }),
    }
}

/// Returns the words in the table that identify a job among the jobs of its user.
fn which(row: &Row) -> String {
    match &row.which {
        Which::Only => "only".to_owned(),
        Which::First => format!("first of {}", thousands(row.jobs)),
        Which::Last => format!("last of {}", thousands(row.jobs)),
        Which::Task(task) => task.clone(),
    }
}

fn table(snapshot: &Snapshot, waits: &Waits, asked: &Asked<'_>) -> Table {
    let mut columns = vec![Column::words("user"), Column::words("job")];
    let names: &[&str] = match waits.is_random {
        true => &["10 %", "median", "90 %", "started"],
        false => &["starts after", "not before"],
    };
    columns.extend(names.iter().map(|name| Column::numbers(name)));
    let mut table = Table::new(columns);
    let cell =
        |at: Option<u64>| at.map_or_else(Cell::none, |at| Cell::text(time(at)).with_value(seconds(at)));
    for row in &waits.rows {
        let user = snapshot.problem.users()[row.user].name();
        let mut cells = vec![Cell::text(user), Cell::text(which(row))];
        if waits.is_random {
            cells.extend([(1, 10), (1, 2), (9, 10)].map(|(part, of)| cell(row.quantile(part, of))));
            cells.push(Cell::text(percent(&row.started())));
        } else {
            cells.push(match row.starts.first() {
                Some(start) => cell(Some(*start)),
                None if asked.horizon.is_some() => Cell::text("later or never"),
                None => Cell::text("never"),
            });
            cells.push(match row.earliest {
                Some(Earliest::At(at)) => cell(Some(at)),
                Some(Earliest::Never) => Cell::text("never"),
                _ => Cell::none(),
            });
        }
        table.row(cells);
    }
    table
}

/// Returns the sentence about the number of runs.
fn runs(waits: &Waits, asked: &Asked<'_>) -> String {
    if !waits.is_random {
        return "Nothing is random, so one run gives the answer.".to_owned();
    }
    let seeds = match waits.runs {
        1 => format!("seed {}", asked.seed),
        runs => format!("seeds {} to {}", asked.seed, asked.seed.wrapping_add(runs - 1)),
    };
    format!(
        "These numbers rest on {} ({seeds}). A job that did not start in a run counts as starting later than all others.",
        counted(waits.runs, "run")
    )
}

/// Returns sentences about conditions that may make the numbers wrong.
fn conditions(snapshot: &Snapshot, waits: &Waits) -> Vec<String> {
    let mut lines = Vec::new();
    let mut by_model: Vec<&str> = waits
        .rows
        .iter()
        .filter(|row| row.by_model)
        .map(|row| snapshot.problem.users()[row.user].name())
        .collect();
    by_model.dedup();
    if !by_model.is_empty() {
        lines.push(format!(
            "Further conditions, which the snapshot does not model, also decide when tasks of {} start.",
            few(&by_model, NAMED)
        ));
    }
    let endless = [(waits.endless_running, "running task"), (waits.endless_waiting, "waiting job")];
    for (count, noun) in endless.into_iter().filter(|(count, _)| *count > 0) {
        let has = if count == 1 { "has" } else { "have" };
        let never = if noun == "running task" { "never ends" } else { "never ends once it has started" };
        let never = if count == 1 {
            never.to_owned()
        } else {
            never.replace("ends", "end").replace("it has", "they have")
        };
        lines.push(format!("{} {has} no time limit and {never}.", counted(count, noun)));
    }
    if waits.not_known > 0 {
        let (decisions, ran) =
            (counted(waits.not_known, "decision"), "the search for servers reached its limit");
        lines.push(format!(
            "In {decisions} {ran}, and the job waited. The times are not exact because of that."
        ));
    }
    if waits.is_rounded {
        lines
            .push("Servers count with the least capacity of their class, which can delay starts.".to_owned());
    }
    lines
}

/// Returns sentences about the facts that the simulation takes from the scheduler and from the snapshot.
#[must_use]
pub fn modelled(snapshot: &Snapshot, waits: &Waits, asked: &Asked<'_>) -> Vec<String> {
    let mut lines = vec![
        if asked.are_limits {
            "Times: every task runs until its time limit.".to_owned()
        } else {
            format!("Times: running and waiting tasks run as --durations {} states, at most until their time limits.", asked.durations)
        },
        "Starts: a job starts if it could start by quotas, limits, constraints and free capacity of servers (docs/verdict.md).".to_owned(),
    ];
    let rule = asked.rule.map_or("the problem's own share".to_owned(), |rule| format!("the rule {rule}"));
    let inside = "Inside a queue the highest priority comes first, then the order of the snapshot.";
    let passes = "Jobs that could not start let later ones pass.";
    lines.push(match waits.policy {
        Policy::Priority => {
            format!("Order: the highest priority first, then the order of the snapshot. {passes}")
        }
        Policy::Backfill => {
            let by = match waits.has_priorities {
                true => "by the priority of jobs in the dump",
                false => "as in the snapshot, which states no priorities of jobs",
            };
            format!(
                "Order: {by}. A later job passes the first blocked one if that one could still start as early by the time limits (backfill)."
            )
        }
        Policy::Tree => format!(
            "Order: the queue with the least share over its weight first, guarantees before all others, by {rule}. {inside} {passes}"
        ),
        Policy::FairShare => format!(
            "Order: the queue that uses the least fraction of its fair share in the snapshot first, by {rule}. {inside} {passes}"
        ),
    });
    if waits.admitted > 0 {
        let tasks = counted(waits.admitted, "admitted task");
        lines.push(format!("{tasks} without a server hold their quota, and get servers before other tasks."));
    }
    let left_out = snapshot.not_modelled.len();
    if left_out > 0 {
        lines.push(
            "The snapshot itself leaves things out: `evenhand verdict SNAPSHOT` lists them.".to_owned(),
        );
    }
    lines
}

/// Returns sentences about the facts that the simulation ignores.
#[must_use]
pub fn not_modelled(snapshot: &Snapshot, waits: &Waits, asked: &Asked<'_>) -> Vec<String> {
    let mut lines = vec![
        "New jobs: none arrive. Jobs that come later and are served first would delay these starts."
            .to_owned(),
        "Stops: no task is stopped or moved for another one. Servers stay as they are.".to_owned(),
    ];
    if asked.are_limits {
        lines.push(
            "Early ends: tasks often end before their limits, and then jobs mostly start earlier.".to_owned(),
        );
    }
    match (snapshot.system, waits.policy) {
        (_, Policy::Backfill) => lines.push(
            "Slurm also changes priorities with age and usage, and plans the starts of all blocked jobs instead of the first one alone."
                .to_owned(),
        ),
        (Some(System::Kueue), _) => lines.push(
            "Kueue lets no job pass in queues with StrictFIFO, and orders jobs of one priority by their age, which the snapshot does not state."
                .to_owned(),
        ),
        (Some(System::Kubernetes | System::Kai | System::Volcano | System::Yunikorn), _) => lines.push(
            "The scheduler orders tasks of one priority by their age, which the snapshot does not state.".to_owned(),
        ),
        _ => {}
    }
    lines.push(
        "So the times are estimates and no bounds. Only the column \"not before\" is a bound.".to_owned(),
    );
    if waits.is_random {
        lines.pop();
        lines.push("So the times are estimates and no bounds.".to_owned());
    }
    lines
}

/// Returns the next command to run.
fn next(snapshot: &Snapshot, waits: &Waits) -> String {
    let waits_most =
        waits.rows.iter().max_by_key(|row| (row.runs - row.starts.len() as u64, row.starts.last()));
    match waits_most {
        Some(row) => {
            let name = match &row.which {
                Which::Task(task) => task,
                _ => snapshot.problem.users()[row.user].name(),
            };
            format!(
                "Next: `evenhand explain SNAPSHOT --task {name}` says what stops it now, and what would make it start."
            )
        }
        None => "Next: `evenhand verdict SNAPSHOT` shows which queues are below their fair share.".to_owned(),
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// Returns a whole number with commas between thousands.
fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a time in nanoseconds as an exact number of seconds.
pub(crate) fn seconds(nanoseconds: u64) -> String {
    Rational::from((nanoseconds, NANOSECONDS)).to_f64().to_string()
}

/// Returns a time for people in its two largest units. It is rounded up to whole seconds or to the smaller of
/// the two units.
///
/// # Examples
/// ```
/// use evenhand_report::waits::time;
/// let second = 1_000_000_000;
/// assert_eq!(time(0), "0 s");
/// assert_eq!(time(90 * second), "1 min 30 s");
/// assert_eq!(time(5_401 * second), "1 h 31 min");
/// assert_eq!(time(86_400 * second), "1 d");
/// ```
#[must_use]
pub fn time(nanoseconds: u64) -> String {
    const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)];
    let mut seconds = nanoseconds.div_ceil(NANOSECONDS);
    let largest = UNITS.iter().position(|(_, unit)| seconds >= *unit).unwrap_or(3);
    let smaller = UNITS.get(largest + 1).map_or(1, |(_, unit)| *unit);
    seconds = seconds.div_ceil(smaller) * smaller;
    let mut parts: Vec<String> = Vec::new();
    for (name, unit) in UNITS {
        if seconds >= unit {
            parts.push(format!("{} {name}", seconds / unit));
            seconds %= unit;
        }
    }
    if parts.is_empty() { "0 s".to_owned() } else { parts.join(" ") }
}
