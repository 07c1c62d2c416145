//! The command `lp`: solves linear programmes of any kind exactly, and judges the answers of other solvers.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use evenhand::import::Input;
use evenhand::lp::judge::judge;
use evenhand::lp::model::Model;
use evenhand::lp::read::read;
use evenhand::lp::solve::{Settings, Status, solve};
use evenhand::lp::{json, stated, vipr};
use evenhand::report;
use evenhand::report::lp::Verdict;

use crate::arguments::lp::{Lp, LpCheck, LpCommand, LpSolve};
use crate::arguments::{Common, Format};
use crate::failure::Failure;
use crate::{files, output};

/// The largest size of an uncompressed programme or answer in bytes.
const MOST_BYTES: u64 = 1 << 30;

pub fn run(call: &Lp, common: &Common) -> Result<ExitCode, Failure> {
    match &call.command {
        LpCommand::Solve(call) => solve_file(call, common),
        LpCommand::Check(call) => check_file(call, common),
    }
}

/// Reads a file, which may be compressed. Returns its name and its text.
fn text(path: &Path) -> Result<(String, String), Failure> {
    let input = if files::is_standard(path) {
        Input::new("standard input", std::io::stdin())
    } else {
        Input::open(path)
    };
    let (name, reader, _) = input.map_err(Failure::input)?.parts();
    let mut bytes = Vec::new();
    let read = reader.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::input(format!("{name}: {error}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::input(format!("{name}: more than {MOST_BYTES} bytes, the most that is read")));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(error) => {
            Err(Failure::input(format!("{name}: the file is not UTF-8 text: {}", error.utf8_error())))
        }
    }
}

/// Reads a linear programme from a file, which may be compressed.
pub fn programme(path: &Path) -> Result<Model, Failure> {
    let (name, text) = text(path)?;
    read(&name, &text).map_err(|error| Failure::input(error.to_string()))
}

/// Reads a linear programme. Writes a note if it has integer columns, because only its relaxation is solved.
fn noted_programme(path: &Path, common: &Common) -> Result<Model, Failure> {
    let model = programme(path)?;
    if model.has_integers() {
        output::note(
            common,
            "some columns have to be integers: the answer is for the relaxation, in which they may take fractions",
        );
    }
    Ok(model)
}

fn solve_file(call: &LpSolve, common: &Common) -> Result<ExitCode, Failure> {
    let model = noted_programme(&call.file, common)?;
    let settings = Settings { time: call.seconds.map(Duration::from_secs), ..Settings::default() };
    let answer = solve(&model, &settings).map_err(Failure::solver)?;
    let mut printed = false;
    if let Some(path) = &call.certificate {
        match json::certificate(&model, &answer) {
            Some(text) => printed |= files::write(path, &text)?,
            None => output::warn(common, "the time was up, so no certificate is written"),
        }
    }
    if let Some(path) = &call.vipr {
        match vipr::write(&model, &answer) {
            Some(text) => printed |= files::write(path, &text)?,
            None => output::warn(
                common,
                "no VIPR file is written: the format supports only optimal and infeasible programmes",
            ),
        }
    }
    if let Some(path) = &call.output {
        printed |= files::write(path, &json::answer(&model, &answer))?;
    }
    match common.format {
        _ if printed => {}
        Format::Json => output::json(&report::lp::answer(&model, &answer), common)?,
        _ => output::text(&format!("{}\n", report::lp::answer_in_words(&model, &answer)))?,
    }
    Ok(ExitCode::from(if matches!(answer.status, Status::Limit { .. }) { 3 } else { 0 }))
}

fn check_file(call: &LpCheck, common: &Common) -> Result<ExitCode, Failure> {
    files::distinct(&[&call.file, &call.answer])?;
    let tolerance = super::tolerance(Some(&call.tolerance), "tolerance")?.unwrap_or_default();
    let model = noted_programme(&call.file, common)?;
    let (answer_name, answer_text) = text(&call.answer)?;
    let answer = stated::read(&model, &answer_text)
        .map_err(|error| Failure::input(format!("{answer_name}:{}: {}", error.line, error.message)))?;
    let judgement = judge(&model, &answer);
    let exact =
        call.exact.then(|| solve(&model, &Settings::default())).transpose().map_err(Failure::solver)?;
    let verdict = Verdict {
        model: &model,
        answer: &answer,
        judgement: &judgement,
        exact: exact.as_ref(),
        tolerance: &tolerance,
    };
    let bound = verdict.bound_sentence();
    if call.bounds && bound.is_none() {
        let what = "--bounds: the answer states no prices (dual values), which the proof of a bound needs";
        return Err(Failure::input(format!("{answer_name}: {what}")));
    }
    let is_good = if call.bounds {
        judgement.prices.as_ref().is_some_and(|prices| prices.bound.is_some())
    } else {
        verdict.is_good()
    };
    match (common.format, bound.filter(|_| call.bounds)) {
        (Format::Json, _) => output::json(&verdict.document(), common)?,
        (_, Some(bound)) => output::text(&format!("{bound}\n"))?,
        (_, None) => output::text(&format!("{}\n", verdict.lines().join("\n")))?,
    }
    Ok(ExitCode::from(u8::from(!is_good)))
}
