//! The measurements for people.

use evenhand::bench::accuracy::{Accuracy, Measured, Outcome};
use evenhand::bench::contenders::{Contender, Method, TRAJECTORY_ENDS, TRAJECTORY_TOLERANCES};
use evenhand::bench::speed::{Line, Time};
use evenhand::problem::number;
use evenhand::report::text::{table, table_with_words};

/// The best of every method, and how the trajectory nears its limit.
pub fn accuracy(accuracy: &Accuracy) -> String {
    let mut text = String::new();
    let mut count = 0;
    for measured in &accuracy.instances {
        let instance = &measured.instance;
        count += measured.results.len();
        text.push_str(&format!(
            "{}: {} users, {} resources\n  {}\n  reference: proven gap {:.1e}, so no x is off by more than {:.1e} of itself\n\n",
            instance.name,
            instance.n_users(),
            instance.n_resources(),
            instance.note,
            number::to_f64(&measured.reference.gap),
            measured.reference.error_bound,
        ));
        let header =
            ["best of", "settings", "time", "steps", "error of x", "NJC margin", "proven gap", "status"];
        let rows = best_of_each(measured).into_iter().map(row).collect();
        text.push_str(&table_with_words(&header, rows));
        text.push_str(
            "\ntrajectory by dop853 up to c: distance to the limit, and residual of its equation (drift)\n",
        );
        text.push_str(&trajectory_table(measured));
        text.push('\n');
    }
    text.push_str(&format!(
        "{count} measurements; --format json or --output FOLDER has all of them. Times are medians on {} \
         threads;\nerrors are relative to the reference, and they, margins (tasks) and gaps are \
         computed in rational arithmetic.\n",
        rayon::current_num_threads()
    ));
    text
}

/// The outcome with the least error of every method; of equals the fastest.
fn best_of_each(measured: &Measured) -> Vec<&Outcome> {
    let mut best: Vec<&Outcome> = Vec::new();
    let key = |outcome: &Outcome| (outcome.judgement.error, outcome.seconds);
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

fn row(outcome: &Outcome) -> Vec<String> {
    let settings = outcome.contender.settings();
    let settings: Vec<String> =
        settings.iter().map(|(name, value)| format!("{name} {}", setting(*value))).collect();
    vec![
        outcome.contender.method().to_owned(),
        settings.join(", "),
        time(outcome.seconds),
        outcome.steps.to_string(),
        format!("{:.1e}", outcome.judgement.error),
        short(outcome.judgement.njc_margin),
        short(outcome.judgement.gap),
        outcome.status.clone(),
    ]
}

fn short(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1e}"))
}

fn setting(value: f64) -> String {
    if (1.0..1e4).contains(&value) { value.to_string() } else { format!("{value:e}") }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// Two lines for each tolerance: the distance to the limit at every `c`, and that to the trajectory.
fn trajectory_table(measured: &Measured) -> String {
    let names: Vec<String> = TRAJECTORY_ENDS.iter().map(|c| format!("c {c:e}")).collect();
    let mut header = vec!["tolerance", ""];
    header.extend(names.iter().map(String::as_str));
    let mut rows = Vec::new();
    for tolerance in TRAJECTORY_TOLERANCES {
        let at = |c_max: f64| {
            let contender = Contender::Trajectory { method: Method::Dop853, tolerance, c_max };
            measured.results.iter().find(move |outcome| outcome.contender == contender)
        };
        let found: Vec<&Outcome> = TRAJECTORY_ENDS.into_iter().filter_map(at).collect();
        let mut errors = vec![format!("{tolerance:e}"), "error".to_owned()];
        errors.extend(found.iter().map(|outcome| format!("{:.1e}", outcome.judgement.error)));
        let mut drifts = vec![String::new(), "drift".to_owned()];
        drifts.extend(found.iter().map(|outcome| short(outcome.drift)));
        rows.extend([errors, drifts]);
    }
    table(&header, rows)
}

/// Every line of the times.
pub fn speed(lines: &[Line]) -> String {
    let show = |at: Option<Time>| at.map_or_else(|| "-".to_owned(), |at| time(at.seconds));
    let rows = lines
        .iter()
        .map(|line| {
            vec![
                line.name.to_owned(),
                line.users.to_string(),
                line.classes.to_string(),
                line.resources.to_string(),
                show(line.float),
                show(line.exact),
                line.ratio().map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
                line.why.clone().unwrap_or_default(),
            ]
        })
        .collect();
    let header = ["", "users", "classes", "resources", "floating point", "exact", "exact/float", ""];
    let mut text = table_with_words(&header, rows);
    text.push_str(&format!(
        "\nMedians on {} threads, warmed up; alpha with the exponent 2. Rivals on the same problems, growth and \
         memory:\nthe package evenhand-benches (benches/README.md).\n",
        rayon::current_num_threads()
    ));
    text
}
