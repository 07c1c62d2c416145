//! Measures answers with intervals: their width, their certificate and the check.

use std::path::Path;

use evenhand_problem::number;
use serde_json::{Value, json};

use super::{Settings, child, cpu};
use crate::growth::{Outcome, field};
use crate::peers::Scripts;
use crate::table::seconds;

pub(super) const HEAD: &[&str] = &["users x classes", "solve", "answer", "width", "certify", "check", "MiB"];

/// Returns the row of an answer with intervals, which is certified and checked.
pub(super) fn row(
    name: &str,
    file: &Path,
    settings: &Settings,
    scripts: &Scripts,
    keep: &mut dyn FnMut(Value),
) -> Vec<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (allocation, certificate) = (file.with_extension("allocation"), file.with_extension("certificate"));
    let mut ask = |what: &str, arguments: &[&str]| {
        eprintln!("scale: {name}: intervals, {what}");
        let arguments: Vec<String> = arguments.iter().map(|&text| text.to_owned()).collect();
        let outcome = child(scripts, settings.limit, &settings.now, &arguments);
        if let Ok(line) = &outcome {
            keep(json!({"instance": name, "question": format!("interval, {what}"), "runs": [line]}));
        }
        outcome
    };
    let solved =
        ask("solve", &["solve", "-m", "drfh", "--seconds", "0", &text(file), "-o", &text(&allocation)]);
    let own = ["--axiom", "feasible", "--axiom", "max-min"];
    let (problem, found, proof) = (text(file), text(&allocation), text(&certificate));
    let mut arguments = vec!["certify", &problem, &found, "-o", &proof];
    arguments.extend(own);
    let certified = ask("certify", &arguments);
    let checked = ask("check", &["check", &proof]);
    let (answer, width) = answer(&allocation);
    let mib = [&solved, &certified].into_iter().filter_map(|outcome| field(outcome, "peak_mib"));
    vec![
        name.to_owned(),
        show(&solved),
        answer,
        width,
        show(&certified),
        show(&checked),
        mib.max_by(f64::total_cmp).map_or("–".to_owned(), |mib| format!("{mib:.0}")),
    ]
}

/// Returns the status and the width that the allocation states.
fn answer(allocation: &Path) -> (String, String) {
    let text = std::fs::read_to_string(allocation).unwrap_or_default();
    let document: Value = serde_json::from_str(&text).unwrap_or_default();
    let status = document["status"].as_str().unwrap_or("–").to_owned();
    let width = document["width"].as_str().and_then(|text| number::parse(text).ok());
    (status, width.map_or("–".to_owned(), |width| format!("{:.1e}", number::to_f64(&width))))
}

fn show(outcome: &Outcome) -> String {
    match (cpu(outcome), outcome) {
        (Some(time), _) => seconds(time),
        (None, Ok(line)) if line["over"].is_null() => {
            let time = field(outcome, "cpu").map_or("–".to_owned(), seconds);
            format!("{time} (status {})", line["status"])
        }
        (None, Ok(line)) => format!("over {} s", line["over"]),
        (None, Err(why)) => why.clone(),
    }
}
