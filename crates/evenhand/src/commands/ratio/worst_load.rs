//! `ratio --worst-load`: what greedy earns at least, whatever the load.

use std::process::ExitCode;

use evenhand::certify::Checked;
use evenhand::certify::ratio::worst_load_within;
use evenhand::exact::ratio::MOST_BYTES;
use evenhand::exact::ratio::worst_load::WorstLoadCertificate;
use evenhand::problem::Reservation;
use evenhand::report::{self, text};

use super::{limits, save};
use crate::arguments::{Common, Ratio};
use crate::failure::Failure;
use crate::output;

pub fn run(call: &Ratio, problem: &Reservation, common: &Common) -> Result<ExitCode, Failure> {
    super::one_pool(call, problem, "the worst load")?;
    let bar = output::progress(common, None);
    let found = worst_load_within(problem, &limits(call), &mut |claims, ratio| {
        bar.set_message(format!("{claims} claims, ratio at most {}", text::decimal(ratio)));
    });
    bar.finish_and_clear();
    let Checked { certificate, unchecked } = found?;
    output::unchecked(common, unchecked.as_deref());
    let printed =
        save(call, || certificate.to_json_within(MOST_BYTES), WorstLoadCertificate::parse, &certificate)?;
    if certificate.ratio_lower.is_none() {
        output::warn(common, "there is nothing to earn: no type has a reward");
    }
    if !printed {
        output::result(
            common,
            || report::json::worst_load(&certificate),
            || report::ratio::worst_load(&certificate),
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
