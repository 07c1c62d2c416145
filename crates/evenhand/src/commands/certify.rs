//! `certify`: examine the axioms of an allocation and write the certificate.

use std::path::Path;
use std::process::ExitCode;

use evenhand::exact::Parameters;
use evenhand::mechanisms::certify::{
    CertifyError, Examination, Request, default_requests, default_tolerance,
};
use evenhand::problem::format::Source;
use evenhand::problem::{Rational, number};
use evenhand::{Axiom, Certificate, Problem, Share, exact, report};
use serde_json::{Map, Value, json};

use super::request;
use crate::arguments::{Certify, Common, Format};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Certify, common: &Common) -> Result<ExitCode, Failure> {
    let tolerance = super::tolerance(call.tolerance.as_deref(), "tolerance")?;
    let problem = files::problem(&call.problem, common)?;
    let share = call.share.as_deref().map(|name| share(name, &problem)).transpose()?;
    let file = files::allocation_file(&call.allocation, &problem)?;
    let tolerance = tolerance.unwrap_or_else(|| default_tolerance(&file));
    let allocation = &file.allocation;
    let mut requests = match call.axioms.as_slice() {
        [] => default_requests(allocation),
        names => names.iter().map(|name| request(name, &problem)).collect::<Result<_, _>>()?,
    };
    apply_share(&mut requests, share, call.axioms.is_empty())?;
    apply_alpha(&mut requests, super::alpha(call.alpha.as_deref())?, call.axioms.is_empty())?;
    let examination =
        evenhand::certify(&problem, allocation, &requests, &tolerance).map_err(|error| match error {
            CertifyError::Instance(exact::InstanceError::TooLarge(error)) => {
                Failure::solver(error.to_string())
            }
            error => Failure::input(error.to_string()),
        })?;
    let text = examination.certificate.to_json();
    check_text(&text, &examination.certificate)?;
    let inputs: [&Path; 2] = [&call.problem, &call.allocation];
    let printed = match &call.output {
        // A certificate that claims nothing would not be valid.
        Some(path) if !examination.certificate.claims.is_empty() => files::write(path, &text, &inputs)?,
        _ => false,
    };
    match common.format {
        _ if printed => {}
        Format::Json => output::json(&summary(&examination, &problem))?,
        Format::Table => output::page(&report::examination(&examination), common)?,
    }
    if examination.certificate.claims.iter().any(|claim| claim.holds == Some(false)) {
        return Ok(ExitCode::from(1));
    }
    match examination.undecided.first() {
        None => Ok(ExitCode::SUCCESS),
        Some((axiom, why)) => Err(Failure::solver(format!("{} could not be decided: {why}", axiom.name()))),
    }
}

/// What is written is what was proven: read back, it is the same certificate.
fn check_text(text: &str, certificate: &Certificate) -> Result<(), Failure> {
    let source = Source { name: "the certificate", text };
    match Certificate::parse(&source) {
        Ok(read) if read.claims == certificate.claims && read.problem == certificate.problem => Ok(()),
        Ok(_) => Err(Failure::solver("the certificate does not read back as it was written")),
        Err(error) => Err(Failure::solver(format!("the certificate cannot be read back: {error}"))),
    }
}

fn summary(examination: &Examination, problem: &Problem) -> Value {
    let certificate = &examination.certificate;
    // As the certificate states them: evidence by name.
    let written: Value = serde_json::from_str(&certificate.to_json()).unwrap_or_default();
    let text = |value: &Option<Rational>| json!(value.as_ref().map(number::format));
    let claims: Vec<Value> = certificate
        .claims
        .iter()
        .enumerate()
        .map(|(at, claim)| {
            let mut fields = written["claims"][at].as_object().cloned().unwrap_or_default();
            fields.insert("verdict".to_owned(), json!(claim.outcome().name()));
            fields.insert("tasks".to_owned(), text(&examination.in_tasks[at]));
            fields.insert("bound".to_owned(), json!(claim.is_bound()));
            Value::Object(fields)
        })
        .collect();
    let mut summary = json!({
        "problem": {
            "name": problem.name(),
            "users": problem.n_users(),
            "classes": problem.n_servers(),
            "sha256": certificate.problem_sha256,
        },
        "sharing": certificate.allocation.sharing.name(),
        "tolerance": number::format(&certificate.tolerance),
        "repair": number::format(&examination.repair),
        "infeasible": examination.infeasible,
        "claims": claims,
        "not_checked": certificate.not_checked,
    });
    if !examination.undecided.is_empty() {
        let undecided: Map<String, Value> =
            examination.undecided.iter().map(|(axiom, why)| (axiom.name().to_owned(), json!(why))).collect();
        summary["undecided"] = Value::Object(undecided);
    }
    super::document("examination", summary)
}

fn share(name: &str, problem: &Problem) -> Result<Share, Failure> {
    Share::parse(name, problem).map_err(|error| Failure::input(format!("--share: {error}")))
}

/// `--share` is about max-min: asked for by name, or implied by naming a share at all.
fn apply_share(requests: &mut Vec<Request>, share: Option<Share>, by_default: bool) -> Result<(), Failure> {
    let Some(share) = share else { return Ok(()) };
    let mut found = false;
    let of_share = [Axiom::MaxMin, Axiom::Proportional];
    for request in requests.iter_mut().filter(|request| of_share.contains(&request.axiom)) {
        if request.axiom == Axiom::MaxMin || share == Share::Generic && !by_default {
            request.parameters.share = Some(share);
            found = true;
        }
    }
    if !found && by_default {
        requests.push(Request { axiom: Axiom::MaxMin, parameters: Some(share).into() });
    } else if !found {
        return Err(Failure::input("--share goes with --axiom max-min (generic also with proportional)"));
    }
    Ok(())
}

/// `--alpha` is about proportional: asked for by name, or implied by naming an exponent at all.
fn apply_alpha(
    requests: &mut Vec<Request>,
    alpha: Option<Rational>,
    by_default: bool,
) -> Result<(), Failure> {
    let Some(alpha) = alpha else { return Ok(()) };
    match requests.iter_mut().find(|request| request.axiom == Axiom::Proportional) {
        Some(request) => request.parameters.alpha = Some(alpha),
        None if by_default => {
            requests.push(Request { axiom: Axiom::Proportional, parameters: Parameters::alpha(alpha) });
        }
        None => return Err(Failure::input("--alpha goes with --axiom proportional")),
    }
    Ok(())
}
