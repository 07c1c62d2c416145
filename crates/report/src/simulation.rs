//! Writes the results of simulations as a page, and draws their pictures.

use evenhand_problem::number::to_f64;
use evenhand_problem::{Problem, User};
use evenhand_simulate::{Run, SIZES, Simulated, Summary, series};
use serde_json::{Map, Value, json};

use crate::page::Page;
use crate::plot::{Axis, Figure, LineStyle, Plot, Series};
use crate::table::{Cell, Table};
use crate::text::{double, few, percent_of};

/// The largest number of users in a table, unless the table shows all users.
const MOST_USERS: usize = 20;
/// The largest number of resources that a sentence names.
const MOST_RESOURCES: usize = 6;
/// The largest number of users whose shares are drawn. More lines cannot be distinguished.
const MOST_LINES: usize = 8;

/// Returns the results of the runs of a scenario. The tables of users show the first run.
#[must_use]
pub fn simulation(simulated: &Simulated) -> Page {
    let mut page = Page::new();
    if !simulated.name.is_empty() {
        page = page.heading(&simulated.name);
    }
    let summaries: Vec<Summary> =
        simulated.runs.iter().map(|(problem, run)| Summary::new(problem, run)).collect();
    // These columns appear only if tasks are preempted or evicted with their server.
    let is_preempted = summaries.iter().any(|summary| summary.tasks.preempted > 0);
    let is_evicted = summaries.iter().any(|summary| summary.tasks.evicted > 0);
    let mut runs = Table::of(simulated.runs.iter().zip(&summaries))
        .numbers("seed", |((_, run), _)| run.seed)
        .numbers("end", |((_, run), _)| number(run.end))
        .numbers("tasks done", |(_, summary)| summary.tasks.completed)
        .numbers("running", |(_, summary)| summary.tasks.running())
        .numbers("waiting", |(_, summary)| summary.tasks.waiting())
        .numbers("jobs done", |((_, run), _)| run.jobs.len() as u64)
        .numbers("mean completion", |(_, summary)| summary.completion.map(|times| number(times.mean)));
    if is_preempted {
        runs = runs.numbers("preempted", |(_, summary)| summary.tasks.preempted);
    }
    if is_evicted {
        runs = runs.numbers("evicted", |(_, summary)| summary.tasks.evicted);
    }
    let runs = runs.words("utilisation", |((problem, _), summary)| utilisation(problem, summary));
    page = page.table(runs.table());
    if let (Some((problem, run)), Some(summary)) = (simulated.runs.first(), summaries.first()) {
        page = page.short(short(problem, summary, &summaries)).table(users(problem, run, summary));
        if summary.completion.is_some() {
            page = page.table(sizes(summary));
        }
    }
    page
}

/// Returns sentences about the tasks of all runs, and about the completion times and shares of the first run.
fn short(problem: &Problem, summary: &Summary, all: &[Summary]) -> Vec<String> {
    let sum = |count: &dyn Fn(&Summary) -> u64| all.iter().map(count).sum::<u64>();
    let (runs, first) = match all.len() {
        1 => (String::new(), ""),
        runs => (format!("In {runs} runs, "), "In the first run, "),
    };
    let mut sentences = vec![format!(
        "{runs}{} of {} tasks were done by the end; {} were running and {} were waiting.",
        sum(&|of| of.tasks.completed),
        sum(&|of| of.tasks.submitted),
        sum(&|of| of.tasks.running()),
        sum(&|of| of.tasks.waiting())
    )];
    if let Some(times) = &summary.completion {
        sentences.push(format!(
            "{first}a job took {} on average from its arrival to the end of its last task; nine in ten took {} or less, and the slowest {}.",
            short_number(times.mean),
            short_number(times.p90),
            short_number(times.max)
        ));
    }
    let used = problem.resources().iter().zip(&summary.utilisation);
    let used: Vec<String> =
        used.filter_map(|(name, used)| Some(format!("{} of {name}", percent_of((*used)?)))).collect();
    if !used.is_empty() {
        sentences.push(format!("{first}the average use over time was {}.", few(&used, MOST_RESOURCES)));
    }
    let shares = || problem.users().iter().zip(&summary.dominant_share);
    let by_share = |a: &(&User, &f64), b: &(&User, &f64)| a.1.total_cmp(b.1);
    if let (Some(most), Some(least), 2..) =
        (shares().max_by(by_share), shares().min_by(by_share), shares().len())
    {
        sentences.push(format!(
            "{first}{} had the largest dominant share on average ({}), and {} the smallest ({}).",
            most.0.name(),
            short_number(*most.1),
            least.0.name(),
            short_number(*least.1)
        ));
    }
    sentences.into_iter().map(capital).collect()
}

/// Returns the sentence with a capital letter. A sentence that begins with a name is not changed.
fn capital(sentence: String) -> String {
    let begins = [("a job", "A job"), ("the average", "The average")];
    let found = begins.iter().find_map(|(small, large)| Some((sentence.strip_prefix(small)?, large)));
    match found {
        Some((rest, large)) => format!("{large}{rest}"),
        None => sentence,
    }
}

fn utilisation(problem: &Problem, summary: &Summary) -> Cell {
    let words = |shown: fn(f64) -> String| {
        let parts = problem.resources().iter().zip(&summary.utilisation);
        let words = parts.map(|(name, used)| match used {
            Some(used) => format!("{name} {}", shown(*used)),
            None => format!("{name}: none"),
        });
        words.collect::<Vec<_>>().join(", ")
    };
    Cell::text(words(percent_of)).with_value(words(|used| used.to_string()))
}

fn number(value: f64) -> Cell {
    Cell::text(short_number(value)).with_value(value.to_string())
}

/// Returns the number with three digits after the decimal point. Whole and large numbers are written in full.
fn short_number(value: f64) -> String {
    if value.abs() >= 1000.0 || value.fract() == 0.0 { double(value) } else { format!("{value:.3}") }
}

fn users(problem: &Problem, run: &Run, summary: &Summary) -> Table {
    let mut table = Table::of(0..problem.n_users())
        .words("user", |n| problem.users()[*n].name())
        .numbers("submitted", |n| run.tasks[*n].submitted)
        .numbers("done", |n| run.tasks[*n].completed)
        .numbers("running", |n| run.tasks[*n].running())
        .numbers("waiting", |n| run.tasks[*n].waiting())
        .numbers("dominant share", |n| number(summary.dominant_share[*n]));
    if let Some(usage) = &run.usage {
        table = table.numbers("past usage", |n| number(usage[*n]));
    }
    table.table().at_most(MOST_USERS, "users")
}

fn sizes(summary: &Summary) -> Table {
    let classes = summary.by_size.iter().enumerate();
    Table::of(classes.filter_map(|(class, times)| Some((class, times.as_ref()?))))
        .words("tasks of a job", |(class, _)| {
            let from = SIZES[*class];
            match SIZES.get(class + 1) {
                Some(next) if next - 1 == from => from.to_string(),
                Some(next) => format!("{from} to {}", next - 1),
                None => format!("{from} or more"),
            }
        })
        .numbers("jobs", |(_, times)| times.jobs)
        .numbers("mean completion", |(_, times)| number(times.mean))
        .numbers("median", |(_, times)| number(times.median))
        .numbers("longest", |(_, times)| number(times.max))
        .table()
}

/// Returns the figure of utilisation and dominant shares over time. Returns `None` if the run has no series.
#[must_use]
pub fn simulation_series(problem: &Problem, run: &Run) -> Option<Figure> {
    let series = series(problem, run);
    if series.times.is_empty() {
        return None;
    }
    let lines = |names: Vec<&str>, columns: &[Vec<f64>]| -> Vec<Series> {
        let lines = names.into_iter().zip(columns);
        let line = |(name, values): (&str, &Vec<f64>)| {
            Series::line(name, series.times.iter().copied().zip(values.iter().copied()).collect())
        };
        lines.map(line).collect()
    };
    let plot = |y: &str, series| Plot::new(Axis::linear("time"), Axis::parts(y), series);
    let resources = problem.resources().iter().map(String::as_str).collect();
    let mut plots = vec![plot("utilisation", lines(resources, &series.utilisation))];
    if problem.n_users() <= MOST_LINES {
        let users = problem.users().iter().map(|user| user.name()).collect();
        plots.push(plot("global dominant share", lines(users, &series.shares)));
        plots.extend(
            series
                .usage
                .map(|usage| plot("part of all past usage", of_usage(problem, &series.times, &usage))),
        );
    }
    Some(Figure { title: problem.name().to_owned(), plots, columns: 1 })
}

/// Returns the lines of past usage: for each user its part of the past usage of all users, and dashed its part of all
/// weights. A policy by usage serves the users below their dashed lines first.
fn of_usage(problem: &Problem, times: &[f64], usage: &[Vec<f64>]) -> Vec<Series> {
    let all = |row: usize| usage.iter().map(|of| of[row]).sum::<f64>();
    let part = |of: &[f64], row: usize| if all(row) > 0.0 { of[row] / all(row) } else { f64::NAN };
    let weights: Vec<f64> = problem.users().iter().map(|user| to_f64(user.weight())).collect();
    let sum: f64 = weights.iter().sum();
    let line = |(n, of): (usize, &Vec<f64>)| {
        let points = times.iter().enumerate().map(|(row, time)| (*time, part(of, row))).collect();
        Series::line(problem.users()[n].name(), points)
    };
    let mut lines: Vec<Series> = usage.iter().enumerate().map(line).collect();
    // Users of one weight share a dashed line.
    let mut known: Vec<f64> = Vec::new();
    for weight in weights {
        if !known.contains(&weight) {
            known.push(weight);
            let name = format!("weight {weight} of {sum}");
            let ends = times.first().into_iter().chain(times.last());
            let points = ends.map(|time| (*time, weight / sum)).collect();
            lines.push(Series::new(name, points).without_marks(LineStyle::Dashed));
        }
    }
    lines
}

/// Returns the plot of the distribution of completion times. Returns `None` if no job is done.
#[must_use]
pub fn simulation_completion(run: &Run) -> Option<Plot> {
    let mut times: Vec<f64> = run.jobs.iter().map(|job| job.time).collect();
    times.sort_by(f64::total_cmp);
    let jobs = times.len();
    // A plot with more points than pixels would only be a larger file.
    let step = (jobs / 2000).max(1);
    let part = |before: usize| (times[before], (before + 1) as f64 / jobs as f64);
    let points: Vec<(f64, f64)> =
        (0..jobs).filter(|at| at % step == 0 || at + 1 == jobs).map(part).filter(|(x, _)| *x > 0.0).collect();
    if points.is_empty() {
        return None;
    }
    let x = Axis::logarithmic("completion time of a job");
    Some(Plot::new(x, Axis::parts("fraction of the jobs"), vec![Series::line("jobs", points)]))
}

/// The waiting times of tasks for several half-lives of past usage.
#[derive(Debug, Clone)]
pub struct HalfLifeStudy {
    /// The name of the law.
    pub law: &'static str,
    /// The seed of the first run.
    pub seed: u64,
    /// The number of runs for each half-life.
    pub runs: u32,
    /// True if times are in seconds, because a half-life was stated with a unit such as `7d`.
    pub are_seconds: bool,
    /// One row for each half-life: its text as stated, its time (`None` if usage does not decay), and for each user
    /// the mean waiting time of a task.
    pub rows: Vec<(String, Option<f64>, WaitingTimes)>,
}

/// For each user: the name, and the mean time for which a task waited. `None` if the user submitted no task.
type WaitingTimes = Vec<(String, Option<f64>)>;

impl HalfLifeStudy {
    /// Returns the user whose waiting time differs most between two half-lives. Also returns the rows with
    /// its shortest and its longest waiting time.
    fn widest(&self) -> Option<(usize, usize, usize)> {
        let users = self.rows.first()?.2.len();
        let time = |row: usize, n: usize| self.rows[row].2[n].1.unwrap_or_default();
        let of = |n: usize| {
            let rows = || 0..self.rows.len();
            let least = rows().min_by(|a, b| time(*a, n).total_cmp(&time(*b, n)))?;
            let most = rows().max_by(|a, b| time(*a, n).total_cmp(&time(*b, n)))?;
            Some((n, least, most))
        };
        let spread = |(n, least, most): &(usize, usize, usize)| time(*most, *n) - time(*least, *n);
        (0..users).filter_map(of).max_by(|a, b| spread(a).total_cmp(&spread(b)))
    }

    /// Returns a time in a form for people.
    fn time(&self, time: f64) -> String {
        if self.are_seconds { crate::waits::time((time * 1e9) as u64) } else { short_number(time) }
    }

    /// Returns the half-life of a row for use in a sentence.
    fn label(&self, row: usize) -> String {
        match self.rows[row].1 {
            Some(_) => format!("a half-life of {}", self.rows[row].0),
            None => "no decay".to_owned(),
        }
    }

    fn answer(&self) -> String {
        let Some((n, least, most)) = self.widest() else { return "No user was simulated.".to_owned() };
        let time = |row: usize| self.rows[row].2[n].1.unwrap_or_default();
        let user = &self.rows[least].2[n].0;
        if time(most) <= time(least) {
            return "The half-life makes no difference to the waiting time of any user.".to_owned();
        }
        format!(
            "The half-life matters most to {user}: its tasks wait {} on average with {}, and {} with {}.",
            self.time(time(least)),
            self.label(least),
            self.time(time(most)),
            self.label(most)
        )
    }
}

/// Returns the waiting times for several half-lives as a page.
#[must_use]
pub fn half_life_page(study: &HalfLifeStudy) -> Page {
    let mut table = Table::of(study.rows.iter()).words("half-life", |row| row.0.clone());
    let users = study.rows.first().map_or(0, |row| row.2.len());
    for n in 0..users.min(MOST_USERS) {
        table = table.numbers(&study.rows[0].2[n].0, move |row| {
            row.2[n].1.map(|time| Cell::text(study.time(time)).with_value(time.to_string()))
        });
    }
    let mut lines = vec![format!(
        "Mean time for which a task waited, up to the end of the run, by user. Law {}; {} with seeds from {}.",
        study.law,
        if study.runs == 1 { "one run each".to_owned() } else { format!("{} runs each", study.runs) },
        study.seed
    )];
    if users > MOST_USERS {
        lines.push(format!("Only the first {MOST_USERS} of {users} users are shown; --format json has all."));
    }
    Page::new().text(study.answer()).table(table.table()).lines(lines)
}

/// Returns the waiting times for several half-lives as a document of kind `half-life-study`.
#[must_use]
pub fn half_life_document(study: &HalfLifeStudy) -> Value {
    let row = |(_, half_life, times): &(String, Option<f64>, WaitingTimes)| {
        let users: Map<String, Value> =
            times.iter().map(|(user, time)| (user.clone(), json!(time))).collect();
        json!({"half_life": half_life, "users": users})
    };
    json!({
        "kind": "half-life-study",
        "version": 1,
        "answer": study.answer(),
        "law": study.law,
        "runs": study.runs,
        "seed": study.seed,
        "half_lives": study.rows.iter().map(row).collect::<Vec<_>>(),
    })
}
