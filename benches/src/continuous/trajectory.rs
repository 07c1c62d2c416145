//! Measures the literal trajectory to a given `c`: the engine, and scipy's Runge-Kutta methods on the same
//! equations.

use serde_json::{Value, json};

use super::kkt::off_trajectory;
use super::pools::{Law, PoolFile, WholePool, read_answer};
use super::race::{Contender, Row, micro, own, race, ratio};
use crate::growth::{Settings, field, with};
use crate::peers::Scripts;
use crate::table::markdown;

const USERS: usize = 200;
const RESOURCES: usize = 4;
/// The ends of the integration.
const ENDS: [&str; 2] = ["1e3", "1e6"];

#[derive(Clone, Copy)]
enum How {
    /// A program of this repository, and the tolerance.
    Ours(&'static str, &'static str),
    /// The method of scipy, the tolerance, the solver of Newton's matrix, and the state.
    Scipy(&'static str, &'static str, &'static str, &'static str),
}

/// Runs all programs, and returns the tables as Markdown.
///
/// # Errors
/// If a file cannot be written.
pub fn compare(
    passes: usize,
    settings: &Settings,
    scripts: &Scripts,
    keep: &mut dyn FnMut(Value),
) -> Result<String, String> {
    let mut text = String::new();
    for law in [Law::Mixed, Law::Scarce] {
        for c_max in ENDS {
            text += &table(law, c_max, passes, settings, scripts, keep)?;
        }
    }
    Ok(text)
}

fn table(
    law: Law,
    c_max: &'static str,
    passes: usize,
    settings: &Settings,
    scripts: &Scripts,
    keep: &mut dyn FnMut(Value),
) -> Result<String, String> {
    let title = format!("trajectory to c = {c_max}, {}", law.name());
    let file = settings.folder.join(format!("trajectory-{}.bin", law.name()));
    WholePool::random(law, USERS, RESOURCES, 1).write(&file)?;
    let contender = |name: &str, how: How| {
        let (file, scripts) = (file.clone(), scripts.clone());
        Contender::new(name, &settings.folder, move |answer| {
            let mut command = match how {
                Ours(program, tolerance) => {
                    let mut command = own(&["pool", program], &file, 1);
                    command.args(["--tolerance", tolerance, "--repetitions", "40"]);
                    command
                }
                Scipy(method, tolerance, solves, state) => {
                    let mut command = scripts.command("trajectory.py");
                    command.arg(&file).args(["--method", method, "--tolerance", tolerance]);
                    command.args(["--solves", solves, "--state", state, "--repetitions", "3"]);
                    command
                }
            };
            command.args(["--c-max", c_max]).arg("--answer").arg(answer);
            command
        })
    };
    use How::{Ours, Scipy};
    let contenders = [
        contender("evenhand Dop853, 1e-2", Ours("dop853", "1e-2")),
        contender("evenhand Dopri5, 1e-3", Ours("dopri5", "1e-3")),
        contender("evenhand Dop853, 1e-4", Ours("dop853", "1e-4")),
        contender("evenhand Dopri5, 1e-6", Ours("dopri5", "1e-6")),
        contender("evenhand Dop853, 1e-6", Ours("dop853", "1e-6")),
        contender("evenhand Dop853, 1e-8", Ours("dop853", "1e-8")),
        contender("scipy RK45 Woodbury, in c, 1e-6", Scipy("RK45", "1e-6", "woodbury", "literal")),
        contender("scipy RK45 Woodbury, x alone, 1e-6", Scipy("RK45", "1e-6", "woodbury", "plain")),
        contender("scipy RK45 Woodbury, x alone, 1e-9", Scipy("RK45", "1e-9", "woodbury", "plain")),
        contender("scipy RK45 Woodbury, with slacks, 1e-6", Scipy("RK45", "1e-6", "woodbury", "slacks")),
        contender("scipy DOP853 Woodbury, with slacks, 1e-8", Scipy("DOP853", "1e-8", "woodbury", "slacks")),
        contender("scipy RK45 dense, in c, 1e-6", Scipy("RK45", "1e-6", "dense", "literal")),
        contender("scipy RK45 dense, x alone, 1e-6", Scipy("RK45", "1e-6", "dense", "plain")),
        contender("scipy RK45 dense, with slacks, 1e-6", Scipy("RK45", "1e-6", "dense", "slacks")),
    ];
    let rows = race(&title, &contenders, passes, settings.limit);
    let pool = PoolFile::read(&file)?.pool()?;
    let mut cells = Vec::new();
    let mut errors = Vec::new();
    for (row, contender) in rows.iter().zip(&contenders) {
        let answer = read_answer(&contender.answer, USERS).ok().filter(|_| row.line.is_ok());
        let c = field(&row.line, "c");
        let error = answer.zip(c).map(|((x, _), c)| off_trajectory(&pool, &x, c));
        if let (Some(line), Some(error)) = (row.kept(&title), error) {
            // JSON has no infinity. An infinite error means that the answer is outside of the domain.
            keep(with(&line, "error", json!(error)));
        }
        let shown =
            |error: f64| if error.is_finite() { format!("{error:.1e}") } else { "outside".to_owned() };
        cells.push(vec![
            row.name.clone(),
            row.time(),
            row.cpu().map_or("–".to_owned(), micro),
            ratio(row.cpu(), rows[0].cpu()),
            c.map_or("–".to_owned(), |c| format!("{c:.0e}")),
            error.map_or("–".to_owned(), shown),
            field(&row.line, "evaluations").map_or("–".to_owned(), |count| count.to_string()),
        ]);
        errors.push(error);
    }
    let head = ["program", "median", "CPU", "CPU, times the first", "c", "off the trajectory", "evaluations"];
    let mut text = format!("### {USERS} users, {RESOURCES} resources, {}, to c = {c_max}\n\n", law.name());
    text += &markdown(&head, &cells, 1);
    let fair = |kind: &str| fastest_as_accurate(&rows, &errors, kind);
    let asked = [
        ("RK45 Woodbury, in c", ">= 10"),
        ("RK45 Woodbury", ""),
        ("DOP853 Woodbury", ""),
        ("RK45 dense, in c", ">= 80"),
        ("RK45 dense", ""),
    ];
    let asked = asked.map(|(kind, asked)| {
        let ratio =
            fair(kind).map_or("none of ours is as accurate".to_owned(), |ratio| format!("{ratio:.1}"));
        let best = if kind.contains("in c") { "" } else { "the best " };
        vec![format!("{best}{kind} / ours"), asked.to_owned(), ratio]
    });
    let head = [
        "ratio of CPU times, peers against the fastest of ours that is as accurate",
        "asked for",
        "this run",
    ];
    text += &format!("\n{}\n", markdown(&head, &asked, 2));
    Ok(text)
}

/// Returns the least ratio of two CPU times: the time of a peer, divided by the time of the fastest run of
/// the engine whose error is not larger than the peer's error.
fn fastest_as_accurate(rows: &[Row], errors: &[Option<f64>], kind: &str) -> Option<f64> {
    let timed = |ours: bool| {
        let named = rows.iter().zip(errors).filter(move |(row, _)| row.name.starts_with("evenhand") == ours);
        named.filter_map(|(row, error)| Some((row.name.as_str(), row.cpu()?, (*error)?)))
    };
    let ratios = timed(false).filter(|(name, _, _)| name.contains(kind)).filter_map(|(_, time, error)| {
        let ours = timed(true).filter(|(_, _, own)| *own <= error).map(|(_, time, _)| time);
        Some(time / ours.min_by(f64::total_cmp)?)
    });
    ratios.min_by(f64::total_cmp)
}
