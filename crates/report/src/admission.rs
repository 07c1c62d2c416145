//! Jobs admitted into reserved slots: what the runs come to as a page, and their picture.

use evenhand_simulate::reservation::{Admission, Admitted};

use crate::page::Page;
use crate::plot::{Axis, LineStyle, Plot, Series};
use crate::table::{Cell, Column, Table};

/// Digits of rewards behind the point.
const DIGITS: usize = 4;

/// What every run earns beside the optimum, and what became of the jobs of the first.
#[must_use]
pub fn admission(admitted: &Admitted) -> Page {
    let Admitted { scenario, optimum, runs } = admitted;
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
        let part = (*optimum > 0.0).then(|| run.reward / optimum);
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

/// The reward over time, beside the optimum.
#[must_use]
pub fn admission_series(admitted: &Admitted, run: &Admission) -> Plot {
    let optimum = [0.0, admitted.scenario.horizon].map(|time| (time, admitted.optimum)).to_vec();
    Plot {
        title: admitted.scenario.name.clone(),
        x: Axis::linear("time (mean running times)"),
        y: Axis::linear("reward per server and unit of time"),
        series: vec![
            Series::new(admitted.scenario.policy.words(), run.series.clone()).without_marks(LineStyle::Solid),
            Series::new("optimum", optimum).without_marks(LineStyle::Dashed),
        ],
    }
}
