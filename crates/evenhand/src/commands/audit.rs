//! `audit`: searches for small problems on which a mechanism violates an axiom, each with its certificate.

mod matrix;
mod preemption;

use std::process::ExitCode;

use evenhand::Problem;
use evenhand::certify::{CertifyError, Request};
use evenhand::problem::Arithmetic;
use evenhand::problem::format::{AllocationDocument, problem_to_json};
use evenhand::report::Page;
use evenhand_audit::matrix::Premises;
use evenhand_audit::{self as audit, AuditError, Example, Property, Settings, Size};

use super::mechanism as known_mechanism;
use super::request;
use crate::arguments::{Audit as Call, Common};
use crate::failure::Failure;
use crate::{files, output};

/// The default number of random problems to try.
const INSTANCES: u64 = 1_000;

pub fn run(call: &Call, common: &Common) -> Result<ExitCode, Failure> {
    if call.preemption {
        return preemption::run(call, common);
    }
    let Some(mechanism) = &call.mechanism else { return matrix::run(call, common) };
    let instances = call.instances.unwrap_or(INSTANCES);
    let is_asked_for = |property: &Property| call.properties.iter().any(|name| name == property.name());
    let settings = Settings {
        mechanism: known_mechanism(mechanism)?,
        flags: call.flags.checked(Arithmetic::Exact, common.seed)?,
        requests: requests(call)?,
        properties: Property::ALL.into_iter().filter(is_asked_for).collect(),
        instances,
        seed: common.seed,
        size: Size { users: call.users, classes: call.servers, resources: call.resources.unwrap_or(3) },
        premises: premises(call),
    };
    let bar = output::progress(common, Some(instances));
    let found = audit::audit(&settings, |tried| bar.set_position(tried));
    bar.finish_and_clear();
    let found = found?;
    if let Some(folder) = &call.output {
        let heading = format!("An audit of {}", settings.mechanism.info.id);
        let mut page = Page::new().heading(heading).append(audit::page(&settings, &found));
        let mut names = Vec::new();
        for each in &found.axioms {
            if let Some(example) = &each.example {
                output::unchecked(common, example.examination.unchecked.as_deref());
                let name = each.name.replace(':', "-");
                page = page.certificate(&name, example.examination.certificate.to_json());
                for (kind, text) in texts(example)? {
                    let file = format!("{name}.{kind}.json");
                    files::save_in(folder, &file, text)?;
                    names.push(file);
                }
            }
        }
        let page = if names.is_empty() { page } else { page.files(names) };
        files::save_in(folder, "index.html", page.document())?;
    }
    output::result(common, || audit::document(&settings, &found), || audit::page(&settings, &found))
}

/// Returns the premises that every problem of the audit satisfies, by the options.
fn premises(call: &Call) -> Premises {
    let Call { positive, unlimited, everywhere, .. } = *call;
    Premises { positive, unlimited, everywhere, ..Premises::NONE }
}

/// Returns the axioms to examine. They must not name resources, because the resources of the problems are drawn at random.
fn requests(call: &Call) -> Result<Vec<Request>, Failure> {
    let smallest = Size { users: 1, classes: 1, resources: 1 };
    let sample = Problem::new(audit::draw(0, 0, smallest)).map_err(Failure::input)?;
    call.axioms.iter().map(|text| request(text, &sample)).collect()
}

/// Returns the problem, the allocation and the certificate of an example, each with its kind.
fn texts(example: &Example) -> Result<[(&'static str, String); 3], Failure> {
    let allocation = AllocationDocument::new(&example.problem, &example.allocation).to_json();
    let allocation = allocation.map_err(Failure::solver)?;
    let certificate = example.examination.certificate.to_json();
    Ok([
        ("problem", problem_to_json(&example.problem)),
        ("allocation", allocation),
        ("certificate", certificate),
    ])
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Mechanism(error) => error.into(),
            AuditError::Axiom(CertifyError::Refused(error)) => Self::solver(error),
            error => Self::input(error),
        }
    }
}
