//! Jobs admitted into reserved slots: what the runs come to as a page, and their picture.

use evenhand_problem::JobType;
use evenhand_simulate::reservation::{Admission, Admitted};

use crate::page::Page;
use crate::plot::{Axis, Figure, LineStyle, Plot, Series};
use crate::table::{Cell, Column, Table};

/// Digits of rewards behind the point.
const DIGITS: usize = 4;

/// What every run earns beside the optimum, and what became of the jobs of the first.
#[must_use]
pub fn admission(admitted: &Admitted) -> Page {
    let Admitted { scenario, optimum, runs, .. } = admitted;
    let mut page = Page::new();
    if !scenario.name.is_empty() {
        page = page.heading(&scenario.name);
    }
    let mut table = Table::new([
        Column::numbers("seed"),
        Column::numbers("reward"),
        Column::numbers("of the optimum"),
        Column::numbers("admitted"),
        Column::numbers("rejected"),
        Column::numbers("preempted").unless_all("0"),
        Column::numbers("migrations").unless_all("0"),
    ]);
    let sum = |counts: &[u64]| Cell::text(counts.iter().sum::<u64>().to_string());
    for (seed, run) in runs {
        let part = Some(run.reward / optimum).filter(|part| part.is_finite());
        table.row([
            Cell::text(seed.to_string()),
            reward(run.reward),
            part.map_or_else(Cell::none, |part| {
                Cell::text(format!("{:.1} %", 100.0 * part)).with_value(part.to_string())
            }),
            sum(&run.admitted),
            sum(&run.rejected),
            sum(&run.preempted),
            Cell::text(run.migrations.to_string()),
        ]);
    }
    let words = format!(
        "{} on {} servers; rewards are per server and unit of time, the optimum in the long run is {optimum:.DIGITS$}",
        scenario.policy.words(),
        scenario.servers
    );
    page = page.text(words).table(table);
    if let Some(last) = admitted.beside.last() {
        let words = format!(
            "with nobody rejected greedy packing would earn {:.DIGITS$} at time {}, and none more than {:.DIGITS$}",
            last.greedy, last.time, last.bound
        );
        page = page.text(words);
    }
    for (seed, time) in runs.iter().filter_map(|(seed, run)| Some((seed, run.stopped_at?))) {
        page = page.text(format!("the run with seed {seed} stopped at time {time}"));
    }
    let Some((_, run)) = runs.first() else { return page };
    let mut types = Table::new([
        Column::words("type"),
        Column::numbers("admitted"),
        Column::numbers("rejected"),
        Column::numbers("preempted").unless_all("0"),
    ]);
    for (j, job) in scenario.problem.jobs().iter().enumerate() {
        let count = |counts: &[u64]| Cell::text(counts[j].to_string());
        types.row([
            Cell::text(job.name()),
            count(&run.admitted),
            count(&run.rejected),
            count(&run.preempted),
        ]);
    }
    page.table(types)
}

fn reward(value: f64) -> Cell {
    Cell::text(format!("{value:.DIGITS$}")).with_value(value.to_string())
}

/// Types whose slots and jobs are drawn: more lines than this cannot be told apart.
const MOST_LINES: usize = 8;

/// The reward over time, of the first run beside greedy packing and the bound; slots and jobs by type.
#[must_use]
pub fn admission_series(admitted: &Admitted, run: &Admission) -> Figure {
    let Admitted { scenario, optimum, runs, beside, .. } = admitted;
    let line = |name: &str, points: Vec<(f64, f64)>, style| Series::new(name, points).without_marks(style);
    let ends = [0.0, scenario.horizon].map(|time| (time, *optimum)).to_vec();
    let mut series = vec![
        line(&scenario.policy.words(), run.series.clone(), LineStyle::Solid),
        line("optimum", ends, LineStyle::Dashed),
    ];
    if runs.first().is_some_and(|(_, first)| first == run) {
        let greedy = beside.iter().map(|beside| (beside.time, beside.greedy)).collect();
        let bound = beside.iter().map(|beside| (beside.time, beside.bound)).collect();
        series.push(line("greedy, none rejected", greedy, LineStyle::Solid));
        series.push(line("bound, none rejected", bound, LineStyle::Dashed));
    }
    let plot =
        |y: &str, series| Plot { title: String::new(), x: Axis::linear("time"), y: Axis::linear(y), series };
    let mut plots = vec![plot("reward per server and unit of time", series)];
    for (y, counts) in [("slots", &run.slots), ("jobs", &run.jobs)] {
        let of_type = |(j, job): (usize, &JobType)| {
            let counts = run.series.iter().zip(counts);
            let points = counts.map(|((time, _), of)| (*time, of[j] as f64)).collect();
            line(job.name(), points, LineStyle::Solid)
        };
        if counts.iter().all(|of| of.len() == scenario.problem.n_types()) {
            let types = scenario.problem.jobs().iter().enumerate().take(MOST_LINES);
            plots.push(plot(y, types.map(of_type).collect()));
        }
    }
    Figure { title: scenario.name.clone(), plots, columns: 1 }
}
