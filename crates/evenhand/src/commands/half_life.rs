//! The option `simulate --half-life`: computes the waiting times of tasks for several half-lives of past
//! usage.

use std::process::ExitCode;

use evenhand::problem::format::Document;
use evenhand::report::{self, HalfLifeStudy};
use evenhand::simulate::{self, Scenario};
use evenhand::usage::{NANOSECONDS, parse_duration};

use super::simulate::{of_scenario, seeds};
use crate::arguments::{Common, Simulate};
use crate::failure::Failure;
use crate::output;

/// Parses a half-life: a number in the scenario's unit of time, a duration with a unit (the scenario's times
/// are then in seconds), or `none`.
fn half_life(text: &str) -> Result<Option<f64>, Failure> {
    let wrong = || {
        Failure::input(format!(
            "--half-life: `{text}`: expected times above 0 such as 3600 or 7d, or none, separated by commas"
        ))
    };
    if text == "none" {
        return Ok(None);
    }
    let number = match text.parse::<f64>() {
        Ok(number) => number,
        Err(_) => parse_duration(text).map_err(|_| wrong())? as f64 / NANOSECONDS as f64,
    };
    // The bound is the largest time of a simulation.
    if number > 0.0 && number <= 1e100 { Ok(Some(number)) } else { Err(wrong()) }
}

pub fn run(
    call: &Simulate,
    document: &Document<'_>,
    mut scenario: Scenario,
    common: &Common,
) -> Result<ExitCode, Failure> {
    let Some(order) = scenario.usage.clone() else {
        return Err(Failure::input("--half-life: the policy of the scenario has no `usage`")
            .tip("docs/scenarios.md, \"Order by past usage\", states the field"));
    };
    scenario.has_history = true;
    let bar = output::progress(common, None);
    let has_unit = |text: &String| text != "none" && text.parse::<f64>().is_err();
    let mut study = HalfLifeStudy {
        law: order.law.name(),
        seed: common.seed,
        runs: call.replications,
        are_seconds: call.half_life.iter().any(has_unit),
        rows: Vec::new(),
    };
    let law_of = |text: &String| {
        let half_life = half_life(text)?;
        let law = order.law.with_half_life(half_life).ok_or_else(|| {
            let name = order.law.name();
            Failure::input(format!("--half-life: the law `{name}` needs a half-life; `none` is not possible"))
        })?;
        Ok((text.clone(), half_life, law))
    };
    // All half-lives are parsed before the first run.
    let laws = call.half_life.iter().map(law_of).collect::<Result<Vec<_>, Failure>>()?;
    for (text, half_life, law) in laws {
        if let Some(usage) = &mut scenario.usage {
            usage.law = law;
        }
        let simulated = simulate::run(&scenario, &seeds(call, common), &|time, events| {
            bar.set_message(format!("half-life {text}: time {time:.0}, {events} events"));
        });
        let simulated = simulated.map_err(|error| of_scenario(document, &scenario, error))?;
        study.rows.push((text, half_life, simulate::mean_waiting_times(&simulated)));
    }
    bar.finish_and_clear();
    output::result(common, || report::half_life_document(&study), || report::half_life_page(&study))?;
    Ok(ExitCode::SUCCESS)
}
