//! `ratio --worst-load`: what greedy earns at least, whatever the load.

use std::process::ExitCode;

use evenhand::exact::ratio::MOST_BYTES;
use evenhand::exact::ratio::worst_load::Certificate;
use evenhand::mechanisms::ratio::worst_load;
use evenhand::problem::{Reservation, number};
use evenhand::report::text;
use serde_json::{Map, Value, json};

use super::{progress, save};
use crate::arguments::{Common, Format, Ratio};
use crate::failure::Failure;
use crate::output;

pub fn run(call: &Ratio, problem: &Reservation, common: &Common) -> Result<ExitCode, Failure> {
    if problem.n_pools() > 1 {
        return Err(Failure::input(format!(
            "{}: the worst load is defined for one pool of identical servers, and this problem has {}",
            call.problem.display(),
            problem.n_pools()
        )));
    }
    let bar = progress(common);
    let found = worst_load(problem, &mut |claims, ratio| {
        bar.set_message(format!("{claims} claims, ratio at most {}", text::decimal(ratio)));
    });
    bar.finish_and_clear();
    let certificate = found?;
    let printed = save(call, || certificate.to_json_within(MOST_BYTES), Certificate::parse, &certificate)?;
    if certificate.ratio_lower.is_none() && !common.quiet {
        eprintln!("warning: there is nothing to earn: no type has a reward");
    }
    match common.format {
        _ if printed => {}
        Format::Json => output::json(&document(&certificate))?,
        Format::Table => output::text(&table(&certificate))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn document(certificate: &Certificate) -> Value {
    let loads = certificate.problem.jobs().iter().zip(&certificate.loads);
    let loads: Map<String, Value> =
        loads.map(|(job, load)| (job.name().to_owned(), json!(number::format(load)))).collect();
    let fields = json!({
        "ratio_lower": certificate.ratio_lower.as_ref().map(number::format),
        "ratio_upper": certificate.ratio_upper.as_ref().map(number::format),
        "loads": loads,
        "greedy": number::format(&certificate.greedy.reward),
        "optimum": number::format(&certificate.optimum.reward),
    });
    crate::commands::document("worst-load", fields)
}

fn table(certificate: &Certificate) -> String {
    let Certificate { problem, ratio_lower, ratio_upper, loads, greedy, optimum, .. } = certificate;
    let (Some(lower), Some(upper)) = (ratio_lower, ratio_upper) else {
        return "there is nothing to earn, whatever the demand\n".to_owned();
    };
    if *lower == 1 {
        return "for these types greedy packing earns the optimum, whatever the demand\n".to_owned();
    }
    let mut out = format!(
        "for these types greedy packing never earns less than {} of the optimum, whatever the demand\n",
        text::number(lower)
    );
    let rows = problem.jobs().iter().zip(loads);
    let rows = rows.map(|(job, load)| vec![job.name().to_owned(), text::number(load)]).collect();
    out.push_str(&format!("\n{}", text::table(&["at worst", "load per server"], rows)));
    out.push_str(&format!("\ngreedy   {}\n", text::number(&greedy.reward)));
    out.push_str(&format!("optimum  {}\n", text::number(&optimum.reward)));
    out.push_str(&format!("ratio    {}\n", text::number(upper)));
    out
}
