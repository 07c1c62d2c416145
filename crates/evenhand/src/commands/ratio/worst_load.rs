//! `ratio --worst-load`: what greedy earns at least, whatever the load.

use std::process::ExitCode;

use evenhand::exact::ratio::MOST_BYTES;
use evenhand::exact::ratio::worst_load::Certificate;
use evenhand::mechanisms::ratio::worst_load;
use evenhand::problem::{Reservation, number};
use evenhand::report::table::{Cell, Column, Table};
use evenhand::report::{Page, text};
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
    if certificate.ratio_lower.is_none() {
        output::warn(common, "there is nothing to earn: no type has a reward");
    }
    match common.format {
        _ if printed => {}
        Format::Json => output::json(&crate::commands::document("worst-load", document(&certificate)))?,
        Format::Table => output::page(&page(&certificate), common)?,
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

fn page(certificate: &Certificate) -> Page {
    let Certificate { problem, ratio_lower, ratio_upper, loads, greedy, optimum, .. } = certificate;
    let mut table = Table::new([Column::words("at worst"), Column::numbers("load per server")]);
    for (job, load) in problem.jobs().iter().zip(loads) {
        table.row([Cell::text(job.name()), Cell::number(load)]);
    }
    match (ratio_lower, ratio_upper) {
        (Some(lower), Some(_)) if *lower == 1 => {
            Page::new().text("for these types greedy packing earns the optimum, whatever the demand")
        }
        (Some(lower), Some(upper)) => Page::new()
            .text(format!(
                "for these types greedy packing never earns less than {} of the optimum, whatever the demand",
                text::number(lower)
            ))
            .table(table)
            .text(format!(
                "greedy   {}\noptimum  {}\nratio    {}",
                text::number(&greedy.reward),
                text::number(&optimum.reward),
                text::number(upper)
            )),
        _ => Page::new().text("there is nothing to earn, whatever the demand"),
    }
}
