//! The command `ratio`: compares greedy packing with the optimum for a reservation problem, and writes the
//! certificate.

use std::path::Path;
use std::process::ExitCode;

use evenhand::certify::Checked;
use evenhand::certify::ratio::{self, Monotone};
use evenhand::exact::ratio::worst_load::WorstLoadCertificate;
use evenhand::exact::ratio::{MOST_BYTES, RatioCertificate};
use evenhand::packing::SearchLimits;
use evenhand::problem::Reservation;
use evenhand::problem::format::{FormatError, Source};
use evenhand::report;

use crate::arguments::{Common, Range, Ratio};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Ratio, common: &Common) -> Result<ExitCode, Failure> {
    let problem = files::read(&call.problem, |source| source.reservation())?;
    if let Some(range) = &call.sweep {
        return swept(call, range, &problem, common);
    }
    if call.worst_load {
        return worst_load(call, &problem, common);
    }
    if call.monotone {
        return monotone(call, &problem, common);
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

/// Refuses a problem with several pools if the result is defined only for one pool.
fn one_pool(call: &Ratio, problem: &Reservation, what: &str) -> Result<(), Failure> {
    match problem.n_pools() {
        1 => Ok(()),
        pools => Err(Failure::input(format!(
            "{}: {what} is defined for one pool of identical servers, and this problem has {pools}",
            call.problem.display(),
        ))),
    }
}

/// Returns the text of a certificate. Returns an error if the certificate is too large.
pub(super) fn written(text: Option<String>) -> Result<String, Failure> {
    text.ok_or_else(|| {
        Failure::solver(format!("too large: the certificate has more than {MOST_BYTES} bytes"))
    })
}

/// Checks that the reader of certificates accepts the certificate, and writes it if the command line names a
/// file. Returns `true` if the certificate went to standard output.
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
        Ok(_) => Err(Failure::solver(
            "internal error: the written certificate differs when it is read back; this is a defect of evenhand, \
            please report it",
        )),
        Err(error) => Err(Failure::solver(error)),
    }
}

/// Runs `--worst-load`: computes the smallest fraction of the optimum that greedy packing can earn under any
/// load.
fn worst_load(call: &Ratio, problem: &Reservation, common: &Common) -> Result<ExitCode, Failure> {
    one_pool(call, problem, "the worst load")?;
    let bar = output::progress(common, None);
    let found = ratio::worst_load_within(problem, &limits(call), &mut |claims, ratio| {
        bar.set_message(format!("{claims} claims, ratio at most {}", report::text::decimal(ratio)));
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

/// Runs `--monotone`: decides whether a larger load can reduce the reward of greedy packing.
fn monotone(call: &Ratio, problem: &Reservation, common: &Common) -> Result<ExitCode, Failure> {
    one_pool(call, problem, "the monotone greedy property")?;
    let found = ratio::monotone(problem, &limits(call))?;
    if let Monotone::Fails(two) = &found {
        output::unchecked(common, two.unchecked.as_deref());
    }
    let document = report::json::monotone(problem, &found);
    if let Some(folder) = &call.output {
        files::save_in(folder, "monotone.json", format!("{document:#}\n"))?;
        if let Monotone::Fails(two) = &found {
            save_in(folder, "smaller.cert.json", &two.smaller)?;
            save_in(folder, "larger.cert.json", &two.larger)?;
        }
    }
    output::result(common, || document, || report::ratio::monotone(problem, &found))?;
    Ok(match found {
        Monotone::Holds { .. } => ExitCode::SUCCESS,
        Monotone::Fails(_) => ExitCode::from(1),
    })
}

fn save_in(folder: &Path, name: &str, certificate: &RatioCertificate) -> Result<(), Failure> {
    files::save_in(folder, name, written(certificate.to_json_within(MOST_BYTES))?)
}

/// Runs `--sweep`: computes the rewards of greedy packing and of the optimum for increasing loads.
fn swept(call: &Ratio, range: &Range, problem: &Reservation, common: &Common) -> Result<ExitCode, Failure> {
    if call.output.as_ref().and_then(|path| path.extension()).is_some_and(|of| of == "json") {
        let message = "--output: a sweep writes a page and no certificate: name a file such as sweep.html";
        return Err(Failure::input(message));
    }
    let multiples = ratio::multiples(&range.from, &range.to, range.steps);
    let bar = output::progress(common, None);
    let found =
        ratio::sweep(problem, &multiples, &mut |done| bar.set_message(format!("{done} of {}", range.steps)));
    bar.finish_and_clear();
    let found = found.map_err(Failure::solver)?;
    if problem.n_pools() > 1 {
        output::warn(common, "critical loads are defined for one pool of identical servers only");
    }
    if found.points.iter().all(|point| point.ratio.is_none()) {
        output::warn(common, "there is nothing to earn: no type has both a reward and a load");
    }
    let file = call.problem.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = if problem.name().is_empty() { file.unwrap_or_default() } else { problem.name().to_owned() };
    let svg = || report::sweep(&found, &name).to_svg().map_err(Failure::solver);
    let mut printed = match &call.plot {
        Some(path) => files::write(path, &svg()?)?,
        None => false,
    };
    if let Some(path) = &call.output {
        printed |= files::write(path, &report::ratio::sweep_page(&found, &name, svg()?).document())?;
        output::note(common, format!("the page is in {}", path.display()));
    }
    if !printed {
        output::result(common, || report::json::sweep(&found), || report::ratio::sweep(&found))?;
    }
    Ok(ExitCode::SUCCESS)
}
