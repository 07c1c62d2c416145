//! The command `audit mechanism`: searches for small problems on which a mechanism violates an axiom.

use std::process::ExitCode;

use evenhand::Problem;
use evenhand::certify::Request;
use evenhand::problem::Arithmetic;
use evenhand::problem::format::{AllocationDocument, problem_to_json};
use evenhand::report::Page;
use evenhand_audit::{self as audit, Example, Property, Settings, Size};

use super::premises;
use crate::arguments::Common;
use crate::arguments::audit::AuditMechanism;
use crate::commands::{mechanism as known_mechanism, request};
use crate::failure::Failure;
use crate::{files, output};

pub fn run(call: &AuditMechanism, common: &Common) -> Result<ExitCode, Failure> {
    let is_asked_for = |property: &Property| call.properties.iter().any(|name| name == property.name());
    let settings = Settings {
        mechanism: known_mechanism(&call.mechanism)?,
        flags: call.flags.checked(Arithmetic::Exact, common.seed)?,
        requests: requests(call)?,
        properties: Property::ALL.into_iter().filter(is_asked_for).collect(),
        instances: call.instances,
        seed: common.seed,
        size: Size { users: call.users, classes: call.servers, resources: call.resources },
        premises: premises(call.premises),
    };
    let bar = output::progress(common, Some(call.instances));
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

/// Returns the axioms to examine. An axiom must not name a resource, because the resources of the problems
/// are random.
fn requests(call: &AuditMechanism) -> Result<Vec<Request>, Failure> {
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
