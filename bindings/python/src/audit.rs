//! Audits: search for small problems on which a mechanism of the library or in Python violates an axiom.

use std::sync::Arc;

use evenhand::problem::number;
use evenhand_audit::{self as search, AuditError, Example, Property, Settings, Size};
use pyo3::prelude::*;

use crate::allocation::Allocation;
use crate::examination::Examination;
use crate::failure::Failure;
use crate::problem::Problem;
use crate::request;
use crate::rule::{PYTHON, Used};
use crate::shown::Shown;
use crate::solve;
use crate::workshop::{self, Granted};

/// A smallest problem that violates an axiom, the allocation of the mechanism, and the proof.
type Broken = (Problem, Allocation, Examination);
/// Two problems that refute a property: the change in words, the user concerned, and its tasks in both problems.
type Refuted = (Problem, Problem, String, String, String, String);
/// The result for an axiom or a property: its name, how often it was decided and violated, and the example.
type Found<E> = (String, u64, u64, Option<E>);

/// The page, and the results for axioms and for properties.
type Audited = (Shown, Vec<Found<Broken>>, Vec<Found<Refuted>>);

/// Searches for violations of axioms and properties. `rule` is a mechanism in Python, which is used instead of a named
/// mechanism.
#[pyfunction]
#[pyo3(signature = (mechanism, rule, settings, axioms, properties, instances, seed, size, granted, progress = None))]
pub fn audit(
    py: Python<'_>,
    mechanism: &str,
    rule: Option<Py<PyAny>>,
    settings: Vec<(String, String)>,
    axioms: Vec<String>,
    properties: Vec<String>,
    instances: u64,
    seed: u64,
    size: (usize, usize, usize),
    granted: Granted,
    progress: Option<Py<PyAny>>,
) -> PyResult<Audited> {
    let used = rule.map(Used::new);
    let mechanism = if used.is_some() { &PYTHON } else { request::mechanism(mechanism)? };
    let flags = request::flags(mechanism, true, seed, &settings)?;
    let smallest = Size { users: 1, classes: 1, resources: 1 };
    let sample = evenhand::Problem::new(search::draw(0, 0, smallest)).map_err(Failure::defect)?;
    let asked = Settings {
        mechanism,
        flags: used.as_ref().map_or_else(|| flags.clone(), |used| used.flags(flags.clone())),
        requests: request::requests(&axioms, &sample)?,
        properties: properties.iter().map(|name| property(name)).collect::<Result<_, _>>()?,
        instances,
        seed,
        size: Size { users: size.0, classes: size.1, resources: size.2 },
        premises: search::matrix::Premises::NONE,
    };
    workshop::run(py, (granted.endless(), workshop::Size::Large), progress.as_ref(), move |tell| {
        let total = Some(instances as f64);
        let found = search::audit(&asked, |tried| tell.tell(tried as f64, total, "problems"));
        if let Some(error) = used.as_ref().and_then(Used::raised) {
            return Err(Failure::Raised(error));
        }
        let found = found.map_err(of_audit)?;
        let shown = Shown::new(search::page(&asked, &found), &search::document(&asked, &found));
        let broken = found.axioms.iter().map(|each| {
            let example = each.example.as_ref().map(|example| broken(example, granted)).transpose()?;
            Ok((each.name.clone(), each.decided, each.violated, example))
        });
        let refuted = found.properties.iter().map(|each| {
            let example = each.example.as_ref().map(|two| {
                let problem = |of: &evenhand::Problem| Problem(Arc::new(of.clone()));
                let (before, after) = (number::format(&two.before), number::format(&two.after));
                (
                    problem(&two.problem),
                    problem(&two.changed),
                    two.change.clone(),
                    two.user.clone(),
                    before,
                    after,
                )
            });
            (each.property.name().to_owned(), each.tried, each.refuted, example)
        });
        Ok((shown, broken.collect::<Result<_, Failure>>()?, refuted.collect()))
    })
}

fn broken(example: &Example, granted: Granted) -> Result<Broken, Failure> {
    let problem = Arc::new(example.problem.clone());
    let outcome = evenhand::mechanisms::Outcome::of(example.allocation.clone());
    let allocation = solve::allocation(&problem, outcome, None)?;
    Ok((Problem(problem), allocation, Examination::of(example.examination.clone(), &[], granted)))
}

fn property(name: &str) -> Result<Property, Failure> {
    let known = Property::ALL.map(Property::name);
    let unknown = || {
        let hint = evenhand::problem::hint(name, known);
        Failure::field("properties", format!("there is no property `{name}`{hint}"))
    };
    Property::ALL.into_iter().find(|property| property.name() == name).ok_or_else(unknown)
}

fn of_audit(error: AuditError) -> Failure {
    match error {
        AuditError::Mechanism(error) => error.into(),
        AuditError::Axiom(error) => error.into(),
        AuditError::Setting { what, .. } => Failure::field(what, error),
        error => Failure::field("axioms", error),
    }
}
