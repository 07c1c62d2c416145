//! `bench`: solvers against the exact answer, and how long mechanisms take.

mod text;

use std::path::Path;
use std::process::ExitCode;

use evenhand::bench::accuracy::{self, Accuracy, Measured, Outcome};
use evenhand::bench::speed::{self, Line};
use evenhand::bench::{BenchError, Effort, pictures};
use evenhand::problem::{Rational, number};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use crate::arguments::{Bench, BenchKind, Common, Format};
use crate::failure::Failure;
use crate::{files, output};

/// Digits of the reference in the output: far more than a double has, fewer than are proven.
const REFERENCE_DIGITS: usize = 40;

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        Self::solver(error.to_string())
    }
}

pub fn run(call: &Bench, common: &Common) -> Result<ExitCode, Failure> {
    match call.what {
        BenchKind::Accuracy => run_accuracy(call, common),
        BenchKind::Speed => run_speed(call, common),
    }
}

fn effort(call: &Bench) -> Effort {
    call.runs.map_or_else(Effort::default, |runs| Effort::of_runs(runs as usize))
}

/// Draws on a terminal only, on standard error.
fn bar(steps: usize, common: &Common) -> ProgressBar {
    if common.quiet {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg:18}");
    ProgressBar::new(steps as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn run_accuracy(call: &Bench, common: &Common) -> Result<ExitCode, Failure> {
    let bar = bar(accuracy::n_measurements(common.seed), common);
    let measured = accuracy::run(common.seed, effort(call), |name| {
        bar.set_message(name.to_owned());
        bar.inc(1);
    });
    bar.finish_and_clear();
    let measured = measured?;
    let document = accuracy_document(&measured, common);
    if let Some(folder) = &call.output {
        let draw = |figure: evenhand::report::plot::Figure| {
            figure.to_svg().map_err(|error| Failure::from(BenchError::from(error)))
        };
        write(&folder.join("work-precision.json"), &format!("{document:#}\n"))?;
        write(&folder.join("work-precision.svg"), &draw(pictures::work_precision(&measured))?)?;
        write(&folder.join("trajectory.svg"), &draw(pictures::trajectory(&measured))?)?;
    }
    match common.format {
        Format::Json => output::json(&document)?,
        Format::Table => output::page(&text::accuracy(&measured), common)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    files::write(path, text, &[]).map(drop)
}

fn accuracy_document(accuracy: &Accuracy, common: &Common) -> Value {
    let instances: Vec<Value> = accuracy.instances.iter().map(instance_document).collect();
    json!({
        "kind": "work-precision",
        "version": 1,
        "seed": common.seed,
        "threads": rayon::current_num_threads(),
        "instances": instances,
    })
}

fn instance_document(measured: &Measured) -> Value {
    let reference = &measured.reference;
    let decimals =
        |values: &[Rational]| values.iter().map(|x| digits(x, REFERENCE_DIGITS)).collect::<Vec<_>>();
    json!({
        "name": measured.instance.name,
        "note": measured.instance.note,
        "users": measured.instance.n_users(),
        "resources": measured.instance.n_resources(),
        "requests": exact_rows(&measured.instance.requests),
        "entitlements": measured.instance.entitlements.iter().map(number::format).collect::<Vec<_>>(),
        "reference": {
            "gap": number::to_f64(&reference.gap),
            "error_bound": reference.error_bound,
            "steps": reference.steps,
            "digits": REFERENCE_DIGITS,
            "x": decimals(&reference.x),
            "prices": decimals(&reference.prices),
        },
        "results": measured.results.iter().map(outcome_document).collect::<Vec<_>>(),
    })
}

fn exact_rows(rows: &[Vec<Rational>]) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(number::format).collect()).collect()
}

/// A number from 0 on with so many digits after the point, cut off.
fn digits(value: &Rational, count: usize) -> String {
    let shifted = (0..count).fold(value.clone(), |value, _| value * 10u32).trunc();
    let text = format!("{:0>width$}", shifted.to_string(), width = count + 1);
    let (whole, rest) = text.split_at(text.len() - count);
    format!("{whole}.{rest}")
}

fn outcome_document(outcome: &Outcome) -> Value {
    let settings: Map<String, Value> = outcome
        .contender
        .settings()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    json!({
        "method": outcome.contender.method(),
        "settings": settings,
        "status": outcome.status,
        "steps": outcome.steps,
        "seconds": outcome.seconds,
        "runs": outcome.runs,
        "error": outcome.judgement.error,
        "drift": outcome.drift,
        "njc_margin": outcome.judgement.njc_margin,
        "gap": outcome.judgement.gap,
    })
}

fn run_speed(call: &Bench, common: &Common) -> Result<ExitCode, Failure> {
    let bar = bar(speed::n_measurements(), common);
    let lines = speed::run(common.seed, effort(call), |name| {
        bar.set_message(name.to_owned());
        bar.inc(1);
    });
    bar.finish_and_clear();
    let lines = lines?;
    let document = speed_document(&lines, common);
    if let Some(folder) = &call.output {
        write(&folder.join("speed.json"), &format!("{document:#}\n"))?;
    }
    match common.format {
        Format::Json => output::json(&document)?,
        Format::Table => output::page(&text::speed(&lines), common)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn speed_document(lines: &[Line], common: &Common) -> Value {
    let results: Vec<Value> = lines
        .iter()
        .map(|line| {
            json!({
                "name": line.name,
                "users": line.users,
                "classes": line.classes,
                "resources": line.resources,
                "float_seconds": line.float.map(|time| time.seconds),
                "float_runs": line.float.map(|time| time.runs),
                "exact_seconds": line.exact.map(|time| time.seconds),
                "exact_runs": line.exact.map(|time| time.runs),
                "ratio": line.ratio(),
                "why": line.why,
            })
        })
        .collect();
    json!({
        "kind": "speed",
        "version": 1,
        "seed": common.seed,
        "threads": rayon::current_num_threads(),
        "results": results,
    })
}
