//! The measurements for people.

use evenhand_problem::number;
use evenhand_report::Page;
use evenhand_report::table::{Cell, Column, Table};

use crate::accuracy::{Accuracy, Measured, Run};
use crate::contenders::{Contender, RungeKutta, TRAJECTORY_ENDS, TRAJECTORY_TOLERANCES};
use crate::speed::{MedianTime, Timing};

/// The best of every method, and how the trajectory nears its limit.
#[must_use]
pub fn accuracy(accuracy: &Accuracy) -> Page {
    let mut page = Page::new();
    let mut count = 0;
    for measured in &accuracy.instances {
        let instance = &measured.instance;
        count += measured.results.len();
        page = page
            .lines([
                format!(
                    "{}: {} users, {} resources",
                    instance.name,
                    instance.n_users(),
                    instance.n_resources()
                ),
                format!("  {}", instance.note),
                format!(
                    "  reference: proven gap {:.1e}, so no x is off by more than {:.1e} of itself",
                    number::to_f64(&measured.reference.gap),
                    measured.reference.error_bound,
                ),
            ])
            .table(best_table(measured))
            .heading(
                "trajectory by dop853 up to c: distance to the limit, and residual of its equation (drift)",
            )
            .table(trajectory_table(measured));
    }
    page.text(format!(
        "{count} measurements; --format json or --output FOLDER has all of them. Times are medians on {} \
         threads; errors are relative to the reference, and they, margins (tasks) and gaps are \
         computed in rational arithmetic.",
        rayon::current_num_threads()
    ))
}

fn best_table(measured: &Measured) -> Table {
    let mut table = Table::new([
        Column::words("best of"),
        Column::words("settings"),
        Column::numbers("time"),
        Column::numbers("steps"),
        Column::numbers("error of x"),
        Column::numbers("NJC margin"),
        Column::numbers("proven gap"),
        Column::words("status"),
    ]);
    for outcome in best_of_each(measured) {
        table.row(row(outcome));
    }
    table
}

/// The outcome with the least error of every method; of equals the fastest.
fn best_of_each(measured: &Measured) -> Vec<&Run> {
    let mut best: Vec<&Run> = Vec::new();
    let key = |outcome: &Run| (outcome.judgement.error, outcome.seconds);
    for outcome in &measured.results {
        let method = outcome.contender.method();
        match best.iter_mut().find(|other| other.contender.method() == method) {
            Some(other) if key(outcome) < key(other) => *other = outcome,
            Some(_) => {}
            None => best.push(outcome),
        }
    }
    best
}

fn row(outcome: &Run) -> [Cell; 8] {
    let settings = outcome.contender.settings();
    let settings: Vec<String> =
        settings.iter().map(|(name, value)| format!("{name} {}", setting(*value))).collect();
    [
        Cell::text(outcome.contender.method()),
        Cell::text(settings.join(", ")),
        time(outcome.seconds),
        Cell::text(outcome.steps.to_string()),
        short(Some(outcome.judgement.error)),
        short(outcome.judgement.njc_margin),
        short(outcome.judgement.gap),
        Cell::text(&outcome.status),
    ]
}

fn short(value: Option<f64>) -> Cell {
    value.map_or_else(Cell::none, |value| Cell::text(format!("{value:.1e}")).with_value(value.to_string()))
}

fn setting(value: f64) -> String {
    if (1.0..1e4).contains(&value) { value.to_string() } else { format!("{value:e}") }
}

/// Seconds for programs.
fn time(seconds: f64) -> Cell {
    let shown = match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    };
    Cell::text(shown).with_value(seconds.to_string())
}

/// Two lines for each tolerance: the distance to the limit at every `c`, and that to the trajectory.
fn trajectory_table(measured: &Measured) -> Table {
    let ends = TRAJECTORY_ENDS.iter().map(|c| Column::numbers(&format!("c {c:e}")));
    let mut table = Table::new([Column::words("tolerance"), Column::words("")].into_iter().chain(ends));
    for tolerance in TRAJECTORY_TOLERANCES {
        let at = |c_max: f64| {
            let contender = Contender::Trajectory { method: RungeKutta::Dop853, tolerance, c_max };
            measured.results.iter().find(move |outcome| outcome.contender == contender)
        };
        let found: Vec<&Run> = TRAJECTORY_ENDS.into_iter().filter_map(at).collect();
        let errors = found.iter().map(|outcome| short(Some(outcome.judgement.error)));
        table.row([Cell::text(format!("{tolerance:e}")), Cell::text("error")].into_iter().chain(errors));
        let drifts = found.iter().map(|outcome| short(outcome.drift));
        table.row([Cell::default(), Cell::text("drift")].into_iter().chain(drifts));
    }
    table
}

/// Every line of the times.
#[must_use]
pub fn speed(lines: &[Timing]) -> Page {
    let numbers = ["users", "classes", "resources", "floating point", "exact", "exact/float"];
    let columns = [Column::words("")].into_iter().chain(numbers.map(Column::numbers));
    let mut table = Table::new(columns.chain([Column::words("")]));
    let show = |at: Option<MedianTime>| at.map_or_else(Cell::none, |at| time(at.seconds));
    for line in lines {
        table.row([
            Cell::text(line.name),
            Cell::text(line.users.to_string()),
            Cell::text(line.classes.to_string()),
            Cell::text(line.resources.to_string()),
            show(line.float),
            show(line.exact),
            line.ratio().map_or_else(Cell::none, |ratio| Cell::text(format!("{ratio:.2}"))),
            Cell::text(line.why.as_deref().unwrap_or_default()),
        ]);
    }
    Page::new().table(table).text(format!(
        "Medians on {} threads, warmed up; alpha with the exponent 2. Rivals on the same problems, growth and \
         memory: the package evenhand-benches (benches/README.md).",
        rayon::current_num_threads()
    ))
}
