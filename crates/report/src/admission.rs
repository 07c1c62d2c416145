//! Jobs that are admitted into reserved slots: the results of the runs as a page, and the picture of a run.

use evenhand_problem::JobType;
use evenhand_simulate::reservation::{Admission, Admitted};

use crate::page::Page;
use crate::plot::{Axis, Figure, LineStyle, Plot, Series};
use crate::table::{Cell, Table};
use crate::text::percent_of;

/// The number of digits of rewards after the decimal point.
const DIGITS: usize = 4;

/// Returns the page of an admission: the earnings of every run next to the optimum, and the jobs of the first
/// run by type.
#[must_use]
pub fn admission(admitted: &Admitted) -> Page {
    let Admitted { scenario, optimum, runs, .. } = admitted;
    let mut page = Page::new();
    if !scenario.name.is_empty() {
        page = page.heading(&scenario.name);
    }
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    let of_optimum = |reward: f64| optimum.map(|optimum| reward / optimum).filter(|part| part.is_finite());
    let of_part = |part: f64| Cell::text(percent_of(part)).with_value(part.to_string());
    let earned = runs.iter().map(|(_, run)| run.reward).sum::<f64>() / runs.len().max(1) as f64;
    let of_all = if runs.len() > 1 { format!(" (the mean of {} runs)", runs.len()) } else { String::new() };
    let sum_of = |counts: fn(&Admission) -> &[u64]| runs.iter().map(|(_, run)| sum(counts(run))).sum::<u64>();
    let mut short = vec![format!(
        "{} earns {earned:.DIGITS$} per server and unit of time{of_all}.",
        scenario.policy.words()
    )];
    let mut against = vec![compared(admitted, of_optimum(earned))];
    if let (Some(unrejected), Some((seed, first))) = (&admitted.unrejected, runs.first()) {
        let of_run = if runs.len() > 1 { format!(" of the run with seed {seed}") } else { String::new() };
        let part = Some(first.reward / unrejected.bound).filter(|part| part.is_finite());
        against.push(format!(
            "With the jobs{of_run} no policy could have earned more than {:.DIGITS$}{}.",
            unrejected.bound,
            part.map_or_else(String::new, |part| format!(". The reward is {} of that", percent_of(part)))
        ));
    }
    short.extend(against.iter().cloned());
    short.push(format!(
        "{} jobs were admitted, and {} were rejected.",
        sum_of(|run| &run.admitted),
        sum_of(|run| &run.rejected)
    ));
    let table = Table::of(runs)
        .numbers("seed", |(seed, _)| *seed)
        .numbers("reward", |(_, run)| reward(run.reward))
        .numbers("of the optimum", |(_, run)| of_optimum(run.reward).map(of_part))
        .unless_all("-")
        .numbers("admitted", |(_, run)| sum(&run.admitted))
        .numbers("rejected", |(_, run)| sum(&run.rejected))
        .numbers("preempted", |(_, run)| sum(&run.preempted))
        .unless_all("0")
        .numbers("migrations", |(_, run)| run.migrations)
        .unless_all("0")
        .table();
    let words = format!(
        "{} on {} servers; rewards are per server and unit of time",
        scenario.policy.words(),
        scenario.servers
    );
    page = page.short(short).text(words).table(table).text(against.join(" "));
    if let Some(unrejected) = &admitted.unrejected {
        let words = format!("With no job rejected greedy packing would earn {:.DIGITS$}.", unrejected.greedy);
        page = page.text(words);
    }
    for (seed, time) in runs.iter().filter_map(|(seed, run)| Some((seed, run.stopped_at?))) {
        page = page.text(format!("the run with seed {seed} stopped at time {time}"));
    }
    let Some((_, run)) = runs.first() else { return page };
    let types = Table::of(scenario.problem.jobs().iter().enumerate())
        .words("type", |(_, job)| job.name())
        .numbers("admitted", |(j, _)| run.admitted[*j])
        .numbers("rejected", |(j, _)| run.rejected[*j])
        .numbers("preempted", |(j, _)| run.preempted[*j])
        .unless_all("0")
        .table();
    page.table(types)
}

/// Returns the sentence that compares the reward with the optimum in the long run. If they cannot be
/// compared, the sentence states the reason.
fn compared(admitted: &Admitted, part: Option<f64>) -> String {
    let Admitted { scenario, optimum, .. } = admitted;
    match (optimum, scenario.coming.other_loads(scenario.horizon)) {
        (Some(optimum), _) => format!(
            "The optimum in the long run is {optimum:.DIGITS$}{}.",
            part.map_or_else(String::new, |part| format!(". The reward is {} of it", percent_of(part)))
        ),
        (None, why) => {
            let why = why.unwrap_or("the loads change");
            format!("The reward is not compared with the optimum in the long run, because {why}.")
        }
    }
}

fn reward(value: f64) -> Cell {
    Cell::text(format!("{value:.DIGITS$}")).with_value(value.to_string())
}

/// The largest number of types whose slots and jobs are drawn. More lines cannot be distinguished.
const MOST_LINES: usize = 8;

/// Returns the figure of a run: the reward over time, and the slots and jobs by type. The figure compares the
/// first run with greedy packing and with the bound.
#[must_use]
pub fn admission_series(admitted: &Admitted, run: &Admission) -> Figure {
    let Admitted { scenario, optimum, runs, beside, .. } = admitted;
    let line = |name: &str, points: Vec<(f64, f64)>, style| Series::new(name, points).without_marks(style);
    let mut series = vec![line(&scenario.policy.words(), run.series.clone(), LineStyle::Solid)];
    if let Some(optimum) = optimum {
        let ends = [0.0, scenario.horizon].map(|time| (time, *optimum)).to_vec();
        series.push(line("optimum", ends, LineStyle::Dashed));
    }
    if runs.first().is_some_and(|(_, first)| first == run) {
        let greedy = beside.iter().map(|beside| (beside.time, beside.greedy)).collect();
        let bound = beside.iter().map(|beside| (beside.time, beside.bound)).collect();
        series.push(line("greedy, none rejected", greedy, LineStyle::Solid));
        series.push(line("bound, none rejected", bound, LineStyle::Dashed));
    }
    let plot = |y: &str, series| Plot::new(Axis::linear("time"), Axis::linear(y), series);
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
