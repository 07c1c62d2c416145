//! Rules in Python as mechanisms of the library.
//!
//! The library describes a mechanism by a [`Mechanism`], whose functions have no state. One [`Mechanism`] serves all
//! rules. It gets the number of the rule as a setting and looks up the rule by this number.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use evenhand::Mechanism;
use evenhand::mechanisms::equals::Equals;
use evenhand::mechanisms::flags::{Flag, Takes};
use evenhand::mechanisms::{Flags, Info, Late, MechanismError, Outcome};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::allocation::Allocation;
use crate::problem::Problem;

/// The setting with the number of the rule.
const NUMBER: Flag =
    Flag { name: "python-rule", takes: Takes::Count("N"), help: "python: number of the rule" };

/// The mechanism that runs a rule in Python.
pub static PYTHON: Mechanism = Mechanism {
    info: &Info {
        id: "python",
        aliases: &[],
        title: "A rule in Python",
        equalises: "whatever the rule does",
        guarantees: "none that is known",
        reference: "the function",
    },
    proven: &[],
    flags: &[NUMBER],
    axiom: |_| None,
    equals: |_| Ok(Equals::Apart),
    joins: false,
    late: Late::Itself,
    solve,
};

/// A rule in use, and the exception that it has raised.
struct Rule {
    /// A function from a native problem to a native allocation.
    function: Py<PyAny>,
    raised: Mutex<Option<PyErr>>,
}

static NEXT: AtomicU64 = AtomicU64::new(0);
static RULES: Mutex<Option<HashMap<u64, Arc<Rule>>>> = Mutex::new(None);

fn rules<T>(with: impl FnOnce(&mut HashMap<u64, Arc<Rule>>) -> T) -> T {
    with(RULES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(HashMap::new))
}

/// The registration of a rule, which ends when it is dropped.
pub struct Used(u64);

impl Used {
    pub fn new(function: Py<PyAny>) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        rules(|rules| rules.insert(number, Arc::new(Rule { function, raised: Mutex::new(None) })));
        Self(number)
    }

    /// Returns the settings with the number of the rule.
    pub fn flags(&self, flags: Flags) -> Flags {
        flags.with(NUMBER.name, self.0.to_string())
    }

    /// Returns the exception that the rule has raised.
    pub fn raised(&self) -> Option<PyErr> {
        let rule = rules(|rules| rules.get(&self.0).cloned())?;
        rule.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        rules(|rules| rules.remove(&self.0));
    }
}

fn solve(problem: &evenhand::Problem, flags: &Flags) -> Result<Outcome, MechanismError> {
    let number: Option<u64> = flags.value(NUMBER.name)?;
    let rule = number.and_then(|number| rules(|rules| rules.get(&number).cloned()));
    let Some(rule) = rule else {
        return Err(MechanismError::NeedsOption { mechanism: PYTHON.info.id, option: NUMBER.name });
    };
    let given = Python::attach(|py| {
        let problem = Problem(Arc::new(problem.clone()));
        let given = rule.function.call1(py, (problem,)).and_then(|given| {
            let allocation: Bound<'_, Allocation> = given.into_bound(py).extract()?;
            Ok(allocation.get().file.allocation.clone())
        });
        given.map_err(|error| of_rule(py, &rule, error))
    });
    Ok(Outcome::of(given?))
}

/// Converts an exception of a rule to an error. The exception ends the search, unless it says that the rule is not
/// defined for the problem.
fn of_rule(py: Python<'_>, rule: &Rule, error: PyErr) -> MechanismError {
    let class = || {
        py.import("evenhand._errors")?.getattr("NotApplicable")?.extract::<Py<PyType>>().map_err(PyErr::from)
    };
    let why = error.value(py).to_string();
    if class().is_ok_and(|class| error.is_instance(py, class.bind(py))) {
        return MechanismError::NotApplicable { mechanism: PYTHON.info.id, why };
    }
    rule.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    MechanismError::BadOption { mechanism: PYTHON.info.id, option: NUMBER.name, why }
}
