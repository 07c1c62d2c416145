//! The reasons why a line has no result, and computations within the limits of a line.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use evenhand_budget::{Exceeded, Limits, exceeded, handle, within};
use evenhand_certify::{CertifyError, RequestError};
use evenhand_exact::InstanceError;
use evenhand_mechanisms::MechanismError;
use evenhand_problem::format::{FormatError, ReadError};
use evenhand_problem::names;

/// The cause of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The request or a file is wrong.
    Input,
    /// A limit of work, memory or time was reached.
    Limit,
    /// A solver found no answer.
    Solver,
    /// This software has a defect.
    Defect,
}

names! { Cause:
    Input = "input", "what was asked for, or is written in a file";
    Limit = "limit", "a limit of work, memory or time";
    Solver = "solver", "a solver that has no answer";
    Defect = "defect", "this software";
}

/// The reason why a line has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The cause. `None` if the mechanism is not defined for the problem, which is not a failure.
    pub cause: Option<Cause>,
    /// A description of what is wrong, and where.
    pub what: String,
    /// The name of the wrong setting or field.
    pub field: Option<&'static str>,
}

impl Fault {
    /// Creates a fault with a cause.
    #[must_use]
    pub fn new(cause: Cause, what: impl Display) -> Self {
        Self { cause: Some(cause), what: what.to_string(), field: None }
    }

    /// Creates the fault of a mechanism that is not defined for the problem.
    #[must_use]
    pub fn not_applicable(what: impl Display) -> Self {
        Self { cause: None, what: what.to_string(), field: None }
    }

    /// Creates the fault of a defect in this software.
    #[must_use]
    pub fn defect(what: impl Display) -> Self {
        Self::new(Cause::Defect, format!("this is a defect of evenhand, please report it: {what}"))
    }

    fn of_field(field: &'static str, what: impl Display) -> Self {
        Self { field: Some(field), ..Self::new(Cause::Input, what) }
    }
}

impl From<Exceeded> for Fault {
    fn from(error: Exceeded) -> Self {
        Self::new(Cause::Limit, error)
    }
}

impl From<FormatError> for Fault {
    fn from(error: FormatError) -> Self {
        Self::new(if error.is_too_large { Cause::Limit } else { Cause::Input }, error)
    }
}

impl From<ReadError> for Fault {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Format(error) => error.into(),
            error => Self::new(Cause::Input, error),
        }
    }
}

impl From<MechanismError> for Fault {
    fn from(error: MechanismError) -> Self {
        match &error {
            MechanismError::NotApplicable { .. } => Self::not_applicable(error),
            MechanismError::DoesNotTake { option, .. }
            | MechanismError::Unreadable { option, .. }
            | MechanismError::NeedsOption { option, .. }
            | MechanismError::BadOption { option, .. } => Self::of_field(option, error),
            MechanismError::Limit { .. } => Self::new(Cause::Limit, error),
            _ => Self::new(Cause::Solver, error),
        }
    }
}

impl From<RequestError> for Fault {
    fn from(error: RequestError) -> Self {
        Self::of_field("axioms", error)
    }
}

impl From<CertifyError> for Fault {
    fn from(error: CertifyError) -> Self {
        match &error {
            CertifyError::Instance(InstanceError::TooLarge(_)) => Self::new(Cause::Limit, error),
            CertifyError::Instance(_) => Self::of_field("tasks", error),
            CertifyError::Parameters(_) | CertifyError::NoShare => Self::of_field("axioms", error),
            CertifyError::Tolerance => Self::of_field("tolerance", error),
            _ => Self::defect(error),
        }
    }
}

/// Runs a computation within the given limits. The limits also apply to the threads of the current pool. A
/// panic becomes a fault of this line.
pub fn attempt<T: Send>(limits: &Limits, work: impl FnOnce() -> Result<T, Fault> + Send) -> Result<T, Fault> {
    let outside = handle();
    let done = catch_unwind(AssertUnwindSafe(|| {
        within(limits, || {
            let inside = handle();
            rayon::broadcast(|_| inside.adopt());
            work()
        })
    }));
    rayon::broadcast(|_| outside.adopt());
    match done {
        Ok(Ok(done)) => done,
        Ok(Err(exceeded)) => Err(exceeded.into()),
        // The limits of an enclosing computation were reached, so the enclosing computation must end too.
        Err(payload) if exceeded(&*payload).is_some() => resume_unwind(payload),
        Err(payload) => {
            let words = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let words = words.or_else(|| payload.downcast_ref::<String>().cloned());
            Err(Fault::defect(words.unwrap_or_else(|| "it stopped without a message".to_owned())))
        }
    }
}
