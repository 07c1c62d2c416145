//! Jobs in rounds: the results of the runs as a page.

use evenhand_problem::number::to_f64;
use evenhand_simulate::{RoundRun, RoundScenario};

use crate::page::Page;
use crate::table::{Cell, Table};

/// The largest number of jobs in a table, unless the table shows all jobs.
const MOST_JOBS: usize = 20;

/// Returns the page of the runs: the completion times, and the rounds of each job on each class.
#[must_use]
pub fn rounds(scenario: &RoundScenario, runs: &[RoundRun]) -> Page {
    let mut page = Page::new();
    if !scenario.spec.name.is_empty() {
        page = page.heading(&scenario.spec.name);
    }
    page = page.text(scenario.words());
    for run in runs {
        let completed = run.finished.iter().flatten().count();
        let jobs = run.finished.len();
        let mut sentence = format!("With seed {}, {completed} of {jobs} jobs finished", run.seed);
        if let Some(mean) = run.mean_completion_time(scenario) {
            sentence += &format!(" in a mean time of {:.3} after their arrival", to_f64(&mean));
        }
        if let Some(last) = run.makespan() {
            sentence += &format!(", the last one at time {:.3}", to_f64(&last));
        }
        page = page.text(sentence + ".");
        let mut table = Table::of(scenario.spec.users.iter().enumerate())
            .words("job", |(_, user)| user.name.as_str())
            .numbers("arrives", |(n, _)| number(to_f64(&scenario.jobs[*n].arrives)))
            .numbers("finished", |(n, _)| run.finished[*n].as_ref().map(|time| number(to_f64(time))))
            .numbers("completion time", |(n, _)| {
                run.completion_time(scenario, *n).map(|time| number(to_f64(&time)))
            });
        for (i, class) in scenario.spec.servers.iter().enumerate() {
            table = table.numbers(&format!("rounds on {}", class.name), move |(n, _)| run.received[*n][i]);
        }
        page = page.table(table.table().at_most(MOST_JOBS, "jobs"));
        if let Some(time) = &run.stopped_at {
            page = page.text(format!("The run with seed {} stopped at time {:.3}.", run.seed, to_f64(time)));
        }
    }
    page
}

fn number(value: f64) -> Cell {
    Cell::text(format!("{value:.3}")).with_value(value.to_string())
}
