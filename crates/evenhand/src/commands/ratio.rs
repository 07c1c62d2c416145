//! `ratio`: greedy against optimal for a reservation problem, with the certificate.

mod monotone;
mod sweep;
mod worst_load;

use std::process::ExitCode;

use evenhand::certify::{Checked, ratio};
use evenhand::exact::ratio::{MOST_BYTES, RatioCertificate};
use evenhand::packing::SearchLimits;
use evenhand::problem::Reservation;
use evenhand::problem::format::{FormatError, Source};
use evenhand::report;

use crate::arguments::{Common, Ratio};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Ratio, common: &Common) -> Result<ExitCode, Failure> {
    let problem = files::read(&call.problem, |source| source.reservation())?;
    if let Some(range) = &call.sweep {
        return sweep::run(call, range, &problem, common);
    }
    if call.worst_load {
        return worst_load::run(call, &problem, common);
    }
    if call.monotone {
        return monotone::run(call, &problem, common);
    }
    let Checked { certificate, unchecked } = ratio::certificate_within(&problem, &limits(call))?;
    output::unchecked(common, unchecked.as_deref());
    let printed =
        save(call, || certificate.to_json_within(MOST_BYTES), RatioCertificate::parse, &certificate)?;
    if certificate.ratio.is_none() {
        output::warn(common, "there is nothing to earn: no type has both a reward and a load");
    }
    if !printed {
        output::result(common, || report::json::ratio(&certificate), || report::ratio::ratio(&certificate))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn limits(call: &Ratio) -> SearchLimits {
    let limits = SearchLimits::default();
    if call.trees { limits.with_trees() } else { limits }
}

/// Refuses a problem of several pools for what is defined for one.
fn one_pool(call: &Ratio, problem: &Reservation, what: &str) -> Result<(), Failure> {
    match problem.n_pools() {
        1 => Ok(()),
        pools => Err(Failure::input(format!(
            "{}: {what} is defined for one pool of identical servers, and this problem has {pools}",
            call.problem.display(),
        ))),
    }
}

/// The text of a certificate, where it is not too large.
pub(super) fn written(text: Option<String>) -> Result<String, Failure> {
    text.ok_or_else(|| {
        Failure::solver(format!("too large: the certificate has more than {MOST_BYTES} bytes"))
    })
}

/// Writes the certificate where it is wanted; returns whether that was standard output. Nothing leaves
/// that a reader of the file would not accept.
fn save<C: PartialEq>(
    call: &Ratio,
    text: impl FnOnce() -> Option<String>,
    parse: impl Fn(&Source<'_>) -> Result<C, FormatError>,
    certificate: &C,
) -> Result<bool, Failure> {
    let Some(path) = &call.output else { return Ok(false) };
    let text = written(text())?;
    match parse(&Source { name: "the certificate", text: &text }) {
        Ok(read) if read == *certificate => files::write(path, &text),
        Ok(_) => Err(Failure::solver("the certificate does not read as it was written")),
        Err(error) => Err(Failure::solver(error)),
    }
}
