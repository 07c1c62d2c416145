//! Writes the measurements as JSON documents.

use serde_json::{Value, json};

use crate::judge::{Repair, Verdict};
use crate::programmes::{PriceMeasures, ProgrammeMeasures, ProgrammeStatus, Violated};
use crate::record::{Record, Unanswered};
use crate::speed::Timing;

/// Returns a document of all records. The fields of the object `about`, which describe the measurement, come
/// first.
#[must_use]
pub fn accuracy(records: &[Record], about: &Value) -> Value {
    let mut document = json!({"kind": "accuracy", "version": 1});
    if let (Some(document), Some(about)) = (document.as_object_mut(), about.as_object()) {
        document.extend(about.clone());
        document.insert("threads".to_owned(), json!(rayon::current_num_threads()));
        document.insert("records".to_owned(), records.iter().map(record).collect());
    }
    document
}

/// Returns a document of the cases without an exact answer.
#[must_use]
pub fn unanswered(questions: &[Unanswered]) -> Value {
    let question = |of: &Unanswered| json!({"instance": of.instance, "kind": of.kind.name(), "why": of.why});
    questions.iter().map(question).collect()
}

/// Returns the number if it is finite, because JSON cannot represent other numbers.
fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

fn record(record: &Record) -> Value {
    let (measures, claims, cost) = (&record.measures, &record.claims, &record.cost);
    let is_answer = record.has_values();
    json!({
        "instance": record.instance,
        "kind": record.kind.name(),
        "contender": record.contender,
        "method": record.method,
        "outside": record.outside,
        "users": record.size.0,
        "classes": record.size.1,
        "status": record.status.name(),
        "why": record.why,
        "error": finite(measures.error),
        "objective_error": finite(measures.objective_error),
        "violation": is_answer.then_some(measures.violation).filter(|value| value.is_finite()),
        "excess": is_answer.then_some(measures.excess).filter(|value| value.is_finite()),
        "wrong_verdicts": measures.wrong_verdicts(),
        "verdicts": measures.verdicts.as_ref().map(|verdicts| {
            verdicts.iter().filter(|verdict| verdict.is_wrong()).map(verdict).collect::<Vec<_>>()
        }),
        "repair": measures.repair.as_ref().map(repair),
        "programme": measures.programme.as_ref().map(programme),
        "claims": {"status": claims.status, "objective": claims.objective, "gap": claims.gap},
        "seconds": cost.seconds,
        "runs": cost.runs,
        "memory": cost.memory,
        "steps": cost.steps,
        "exit": cost.exit,
    })
}

fn verdict(verdict: &Verdict) -> Value {
    let word = |holds: bool| if holds { "holds" } else { "violated" };
    json!({
        "axiom": verdict.axiom,
        "tolerance": format!("1e-{}", verdict.tolerance),
        "says": verdict.says.map(word),
        "is": word(verdict.is),
    })
}

fn programme(of: &ProgrammeMeasures) -> Value {
    let prices = |of: &PriceMeasures| {
        json!({
            "gap": finite(of.gap),
            "dual_violation": of.dual_violation.as_ref().map(violated),
            "complementarity": of.complementarity.as_ref().map(violated),
        })
    };
    json!({
        "says": of.says.map(ProgrammeStatus::name),
        "is": of.is.name(),
        "wrong_status": of.is_wrong_status(),
        "relaxed": of.relaxed,
        "row_violation": of.row.as_ref().map(violated),
        "bound_violation": of.bound.as_ref().map(violated),
        "prices": of.prices.as_ref().map(prices),
    })
}

fn violated(of: &Violated) -> Value {
    let kind = if of.is_row { "row" } else { "column" };
    json!({kind: of.name, "by": finite(Some(of.by))})
}

fn repair(repair: &Repair) -> Value {
    json!({
        "change": finite(Some(repair.change)),
        "loses": finite(repair.loses),
        "certified": finite(repair.certified),
    })
}

/// Returns a document of all times. The instances were generated from `seed`.
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
