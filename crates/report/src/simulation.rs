//! Simulations: what they come to as a page, and their pictures.

use evenhand_problem::Problem;
use evenhand_simulate::{CompletionTimes, Run, SIZES, Simulated, Summary, series};

use crate::page::Page;
use crate::plot::{Axis, Figure, LineStyle, Plot, Series};
use crate::table::{Cell, Column, Table};

/// Users that a table shows where nobody asks for all.
const MOST_USERS: usize = 20;
/// Users whose shares are drawn: more lines than this cannot be told apart.
const MOST_LINES: usize = 8;
/// Room above a part of 1.
const ROOM: f64 = 0.04;

/// What the runs of a scenario come to; users of the first run alone.
#[must_use]
pub fn simulation(simulated: &Simulated) -> Page {
    let mut page = Page::new();
    if !simulated.name.is_empty() {
        page = page.heading(&simulated.name);
    }
    let summaries: Vec<Summary> =
        simulated.runs.iter().map(|(problem, run)| Summary::new(problem, run)).collect();
    // Only where something is stopped for something else, or loses its server.
    let is_preempted = summaries.iter().any(|summary| summary.tasks.preempted > 0);
    let is_evicted = summaries.iter().any(|summary| summary.tasks.evicted > 0);
    let mut columns = vec![
        Column::numbers("seed"),
        Column::numbers("end"),
        Column::numbers("tasks done"),
        Column::numbers("running"),
        Column::numbers("waiting"),
        Column::numbers("jobs done"),
        Column::numbers("mean completion"),
    ];
    if is_preempted {
        columns.push(Column::numbers("preempted"));
    }
    if is_evicted {
        columns.push(Column::numbers("evicted"));
    }
    columns.push(Column::words("utilisation"));
    let mut runs = Table::new(columns);
    for ((problem, run), summary) in simulated.runs.iter().zip(&summaries) {
        let mut cells = vec![
            Cell::text(run.seed.to_string()),
            number(run.end),
            Cell::text(summary.tasks.completed.to_string()),
            Cell::text(summary.tasks.running().to_string()),
            Cell::text(summary.tasks.waiting().to_string()),
            Cell::text(run.jobs.len().to_string()),
            summary.completion.map_or_else(Cell::none, |times| number(times.mean)),
        ];
        if is_preempted {
            cells.push(Cell::text(summary.tasks.preempted.to_string()));
        }
        if is_evicted {
            cells.push(Cell::text(summary.tasks.evicted.to_string()));
        }
        cells.push(utilisation(problem, summary));
        runs.row(cells);
    }
    page = page.table(runs);
    if let Some((problem, run)) = simulated.runs.first() {
        let summary = Summary::new(problem, run);
        page = page.table(users(problem, run, &summary));
        if summary.completion.is_some() {
            page = page.table(sizes(&summary));
        }
    }
    page
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
    Cell::text(words(|used| format!("{:.1} %", 100.0 * used))).with_value(words(|used| used.to_string()))
}

fn number(value: f64) -> Cell {
    Cell::text(short(value)).with_value(value.to_string())
}

/// Four digits, or the whole number.
fn short(value: f64) -> String {
    if value.abs() >= 1000.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

fn users(problem: &Problem, run: &Run, summary: &Summary) -> Table {
    let mut table = Table::new([
        Column::words("user"),
        Column::numbers("submitted"),
        Column::numbers("done"),
        Column::numbers("running"),
        Column::numbers("waiting"),
        Column::numbers("dominant share"),
    ]);
    for (n, (user, tasks)) in problem.users().iter().zip(&run.tasks).enumerate() {
        table.row([
            Cell::text(user.name()),
            Cell::text(tasks.submitted.to_string()),
            Cell::text(tasks.completed.to_string()),
            Cell::text(tasks.running().to_string()),
            Cell::text(tasks.waiting().to_string()),
            number(summary.dominant_share[n]),
        ]);
    }
    table.at_most(MOST_USERS, "users")
}

fn sizes(summary: &Summary) -> Table {
    let mut table = Table::new([
        Column::words("tasks of a job"),
        Column::numbers("jobs"),
        Column::numbers("mean completion"),
        Column::numbers("median"),
        Column::numbers("longest"),
    ]);
    for (class, times) in summary.by_size.iter().enumerate() {
        let Some(CompletionTimes { jobs, mean, median, max, .. }) = times else { continue };
        let from = SIZES[class];
        let name = match SIZES.get(class + 1) {
            Some(next) if next - 1 == from => from.to_string(),
            Some(next) => format!("{from} to {}", next - 1),
            None => format!("{from} or more"),
        };
        table.row([
            Cell::text(name),
            Cell::text(jobs.to_string()),
            number(*mean),
            number(*median),
            number(*max),
        ]);
    }
    table
}

/// Utilisation and dominant shares over time; `None` where the run has no series.
#[must_use]
pub fn simulation_series(problem: &Problem, run: &Run) -> Option<Figure> {
    let series = series(problem, run);
    if series.times.is_empty() {
        return None;
    }
    let lines = |names: Vec<&str>, columns: &[Vec<f64>]| -> Vec<Series> {
        let lines = names.into_iter().zip(columns);
        let line = |(name, values): (&str, &Vec<f64>)| {
            let points = series.times.iter().copied().zip(values.iter().copied()).collect();
            Series::new(name, points).without_marks(LineStyle::Solid)
        };
        lines.map(line).collect()
    };
    let plot = |y: &str, series| Plot {
        title: String::new(),
        x: Axis::linear("time"),
        y: Axis::linear(y).with_range(0.0, 1.0 + ROOM),
        series,
    };
    let resources = problem.resources().iter().map(String::as_str).collect();
    let mut plots = vec![plot("utilisation", lines(resources, &series.utilisation))];
    if problem.n_users() <= MOST_LINES {
        let users = problem.users().iter().map(|user| user.name()).collect();
        plots.push(plot("global dominant share", lines(users, &series.shares)));
    }
    Some(Figure { title: problem.name().to_owned(), plots, columns: 1 })
}

/// The distribution of completion times; `None` where no job is done.
#[must_use]
pub fn simulation_completion(run: &Run) -> Option<Plot> {
    let mut times: Vec<f64> = run.jobs.iter().map(|job| job.time).collect();
    times.sort_by(f64::total_cmp);
    let jobs = times.len();
    // More points than pixels only make the file longer.
    let step = (jobs / 2000).max(1);
    let part = |before: usize| (times[before], (before + 1) as f64 / jobs as f64);
    let points: Vec<(f64, f64)> =
        (0..jobs).filter(|at| at % step == 0 || at + 1 == jobs).map(part).filter(|(x, _)| *x > 0.0).collect();
    if points.is_empty() {
        return None;
    }
    Some(Plot {
        title: String::new(),
        x: Axis::logarithmic("completion time of a job"),
        y: Axis::linear("part of the jobs").with_range(0.0, 1.0 + ROOM),
        series: vec![Series::new("jobs", points).without_marks(LineStyle::Solid)],
    })
}
