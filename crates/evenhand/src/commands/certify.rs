//! `certify`: examine the axioms of an allocation and write the certificate.

use std::path::Path;
use std::process::ExitCode;

use evenhand::exact::Parameters;
use evenhand::mechanisms::certify::{CertifyError, Examination, Request, default_requests};
use evenhand::problem::format::Source;
use evenhand::problem::{Arithmetic, Rational, number};
use evenhand::{Axiom, Certificate, Problem, Share, exact, report};
use serde_json::{Map, Value, json};

use crate::arguments::{Certify, Common, Format};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &Certify, common: &Common) -> Result<ExitCode, Failure> {
    files::distinct(&[&call.problem, &call.allocation])?;
    let tolerance = tolerance(&call.tolerance)?;
    let problem = files::problem(&call.problem, common)?;
    let share = call.share.as_deref().map(|name| share(name, &problem)).transpose()?;
    let allocation = files::allocation(&call.allocation, &problem)?;
    let mut requests = match call.axioms.as_slice() {
        [] => default_requests(&allocation),
        names => names.iter().map(|name| request(name)).collect::<Result<_, _>>()?,
    };
    apply_share(&mut requests, share, call.axioms.is_empty())?;
    apply_alpha(&mut requests, super::alpha(call.alpha.as_deref())?, call.axioms.is_empty())?;
    let examination = evenhand::certify(&problem, &allocation, &requests, &tolerance)
        .map_err(|error: CertifyError| Failure::input(error.to_string()))?;
    let text = examination.certificate.to_json();
    self_check(&text)?;
    let inputs: [&Path; 2] = [&call.problem, &call.allocation];
    let printed = match &call.output {
        Some(path) => files::write(path, &text, &inputs)?,
        None => false,
    };
    let claims = &examination.certificate.claims;
    let infeasible = claims.iter().any(|c| c.axiom == Axiom::Feasible && c.holds == Some(false));
    if infeasible && allocation.arithmetic == Arithmetic::Float && !common.quiet {
        eprintln!(
            "note: the allocation is of floating point: `solve --exact` gives one without rounding, \
             `--tolerance 1e-9` tolerates it"
        );
    }
    match common.format {
        _ if printed => {}
        Format::Json => output::json(&summary(&examination, &problem))?,
        Format::Table => {
            output::text(&report::claims(&examination.certificate, &examination.undecided))?;
        }
    }
    if claims.iter().any(|claim| claim.holds == Some(false)) {
        return Ok(ExitCode::from(1));
    }
    match examination.undecided.first() {
        None => Ok(ExitCode::SUCCESS),
        Some((axiom, why)) => Err(Failure::solver(format!("{} could not be decided: {why}", axiom.name()))),
    }
}

/// Nothing leaves that a reader of the file would not accept.
fn self_check(text: &str) -> Result<(), Failure> {
    let source = Source { name: "the certificate", text };
    let fault = match Certificate::parse(&source) {
        Ok(certificate) => exact::check(&certificate).reason,
        Err(error) => Some(error.to_string()),
    };
    match fault {
        None => Ok(()),
        Some(reason) => {
            Err(Failure::solver(format!("the evidence found does not pass the checker: {reason}")))
        }
    }
}

fn summary(examination: &Examination, problem: &Problem) -> Value {
    let certificate = &examination.certificate;
    let claims: Vec<Value> = certificate
        .claims
        .iter()
        .map(|claim| {
            let mut fields = Map::new();
            fields.insert("axiom".to_owned(), json!(claim.axiom.name()));
            if let Some(share) = claim.share {
                fields.insert("share".to_owned(), json!(share.name(problem)));
            }
            if let Some(alpha) = &claim.alpha {
                fields.insert("alpha".to_owned(), json!(number::format(alpha)));
            }
            fields.insert("holds".to_owned(), json!(claim.holds));
            fields.insert("margin".to_owned(), json!(claim.margin.as_ref().map(number::format)));
            if let Some(why) = &claim.why {
                fields.insert("why".to_owned(), json!(why));
            }
            Value::Object(fields)
        })
        .collect();
    let mut summary = json!({"claims": claims, "not_checked": certificate.not_checked});
    if !examination.undecided.is_empty() {
        let undecided: Map<String, Value> =
            examination.undecided.iter().map(|(axiom, why)| (axiom.name().to_owned(), json!(why))).collect();
        summary["undecided"] = Value::Object(undecided);
    }
    summary
}

fn tolerance(text: &str) -> Result<Rational, Failure> {
    let value = number::parse(text).map_err(|error| Failure::input(format!("--tolerance: {error}")))?;
    if value < 0 {
        return Err(Failure::input("--tolerance: expected a number of at least 0"));
    }
    Ok(value)
}

fn share(name: &str, problem: &Problem) -> Result<Share, Failure> {
    Share::parse(name, problem).map_err(|error| Failure::input(format!("--share: {error}")))
}

fn request(name: &str) -> Result<Request, Failure> {
    let axiom = Axiom::parse(name).ok_or_else(|| {
        let names: Vec<&str> = Axiom::ALL.iter().map(|axiom| axiom.name()).collect();
        Failure::input(format!("there is no axiom `{name}`: expected {}", names.join(", ")))
    })?;
    Ok(Request::of(axiom))
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
