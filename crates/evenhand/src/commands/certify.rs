//! The command `certify`: examines the axioms of an allocation, and writes the certificate.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use evenhand::certify::polish::{Polished, polish};
use evenhand::certify::{CertifyError, Examination, certify_within, default_requests, default_tolerance};
use evenhand::exact::Claim;
use evenhand::mechanisms::Flags;
use evenhand::problem::format::{AllocationDocument, AllocationFile, Source};
use evenhand::problem::{Arithmetic, Problem};
use evenhand::{Certificate, exact, report};

use super::{apply_alpha, apply_share, request, share};
use crate::arguments::{Certify, Common};
use crate::failure::Failure;
use crate::watch::processor_time_left;
use crate::{files, output};

pub fn run(call: &Certify, common: &Common) -> Result<ExitCode, Failure> {
    let tolerance = super::tolerance(call.tolerance.as_deref(), "tolerance")?;
    let problem = files::problem(&call.problem, common)?;
    let share = call.share.as_deref().map(|name| share(name, &problem)).transpose()?;
    let file = files::allocation_file(&call.allocation, &problem)?;
    let tolerance = tolerance.unwrap_or_else(|| default_tolerance(&file));
    let allocation = &file.allocation;
    let mut requests = match call.axioms.as_slice() {
        [] => default_requests(&problem, allocation),
        names => names.iter().map(|name| request(name, &problem)).collect::<Result<_, _>>()?,
    };
    apply_share(&mut requests, share, call.axioms.is_empty())?;
    apply_alpha(&mut requests, super::alpha(call.alpha.as_deref())?, call.axioms.is_empty())?;
    let examination = match call.seconds {
        None => evenhand::certify(&problem, allocation, &requests, &tolerance),
        Some(seconds) => {
            let (problem, allocation) = (Arc::new(problem), Arc::new(allocation.clone()));
            certify_within(Duration::from_secs_f64(seconds), &problem, &allocation, &requests, &tolerance)
        }
    };
    let mut examination = examination.map_err(|error| match error {
        CertifyError::Instance(exact::InstanceError::TooLarge(error)) => Failure::solver(error),
        CertifyError::Thread(_) | CertifyError::Refused(_) => Failure::solver(error),
        error => Failure::input(error),
    })?;
    if call.seconds.is_none() {
        // The search runs on two threads and may use half of the remaining processor time. This is a quarter
        // for each thread.
        examination.look_for_least_tolerances(processor_time_left().map(|left| left / 4));
    }
    output::unchecked(common, examination.unchecked.as_deref());
    let certified = &examination.certificate.problem;
    let polished =
        call.polish.as_deref().map(|name| polished(call, name, certified, &file, common)).transpose()?;
    let text = examination.text.take().unwrap_or_else(|| examination.certificate.to_json());
    // If the kernel gave a verdict, it has already read the text.
    if examination.unchecked.is_some() || examination.certificate.claims.is_empty() {
        check_text(&text, &examination.certificate)?;
    }
    let printed = match &call.output {
        // A certificate without claims would be invalid, so it is not written.
        Some(path) if !examination.certificate.claims.is_empty() => files::write(path, &text)?,
        _ => false,
    };
    let printed = write_beside(call, &examination, polished.as_ref())? || printed;
    if !printed {
        let sentence = || polished.as_ref().map(|found| report::polished(certified, found));
        output::result(
            common,
            || report::json::examination(&examination, polished.as_ref()),
            || report::examination(&examination).append(sentence().unwrap_or_default()),
        )?;
    }
    let undecided =
        examination.undecided.iter().map(|(axiom, why)| format!("{} is not checked: {why}", axiom.name()));
    let is_violated = examination.certificate.claims.iter().any(|claim| claim.holds == Some(false));
    match undecided.collect::<Vec<_>>() {
        // A violation decides the exit status, even if other axioms are undecided.
        undecided if is_violated => {
            undecided.iter().for_each(|line| output::note(common, line));
            Ok(ExitCode::from(1))
        }
        undecided if undecided.is_empty() => Ok(ExitCode::SUCCESS),
        undecided => Err(Failure::solver(undecided.join("; "))),
    }
}

/// Computes the exact answer of the mechanism of `--polish`.
fn polished(
    call: &Certify,
    name: &str,
    problem: &Problem,
    given: &AllocationFile,
    common: &Common,
) -> Result<Polished, Failure> {
    let mechanism = super::mechanism(name)?;
    let mut flags = Flags::new(Arithmetic::Exact);
    flags.seed = common.seed;
    let flags = match &call.alpha {
        Some(alpha) if mechanism.takes("alpha") => flags.with("alpha", alpha),
        _ => flags,
    };
    Ok(polish(problem, &given.allocation, mechanism, &flags)?)
}

/// Writes the answer and the picture if the command line names files for them. Returns `true` if the answer
/// or the picture went to standard output.
fn write_beside(
    call: &Certify,
    examination: &Examination,
    polished: Option<&Polished>,
) -> Result<bool, Failure> {
    let Certificate { problem, allocation, .. } = &examination.certificate;
    let mut printed = false;
    if let (Some(path), Some(found)) = (&call.polish_output, polished) {
        let document = AllocationDocument::new(problem, &found.allocation);
        printed |= files::write(path, &document.to_json().map_err(Failure::solver)?)?;
    }
    if let Some(path) = &call.plot {
        printed |= super::draw_holdings(path, problem, allocation)?;
    }
    Ok(printed)
}

/// Returns an error unless the text of the certificate, when it is read, gives the same certificate.
fn check_text(text: &str, certificate: &Certificate) -> Result<(), Failure> {
    let source = Source { name: "the certificate", text };
    let claims = |of: &Certificate| of.claims.iter().map(Claim::as_read).collect::<Vec<_>>();
    match Certificate::parse(&source) {
        Ok(read) if claims(&read) == claims(certificate) && read.problem == certificate.problem => Ok(()),
        Ok(_) => Err(Failure::solver(
            "internal error: the written certificate differs when it is read back; this is a defect of evenhand, \
            please report it",
        )),
        Err(error) => Err(Failure::solver(format!("the certificate cannot be read back: {error}"))),
    }
}
