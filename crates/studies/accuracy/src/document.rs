//! The measurements for programs.

use evenhand_problem::{Rational, number};
use serde_json::{Map, Value, json};

use crate::accuracy::{Accuracy, Measured, Run};
use crate::speed::Timing;

/// Digits of the reference in the output: far more than a double has, fewer than are proven.
const REFERENCE_DIGITS: usize = 40;

/// All measurements of accuracy, the seed of whose instances is `seed`.
#[must_use]
pub fn accuracy(accuracy: &Accuracy, seed: u64) -> Value {
    let instances: Vec<Value> = accuracy.instances.iter().map(instance_document).collect();
    json!({
        "kind": "work-precision",
        "version": 1,
        "seed": seed,
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

fn outcome_document(outcome: &Run) -> Value {
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

/// All times, the seed of whose instances is `seed`.
#[must_use]
pub fn speed(lines: &[Timing], seed: u64) -> Value {
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
        "seed": seed,
        "threads": rayon::current_num_threads(),
        "results": results,
    })
}
