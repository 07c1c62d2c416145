//! The command `audit`: searches for small problems on which a mechanism violates an axiom, each with a
//! certificate.

mod matrix;
mod mechanism;
mod preemption;

use std::process::ExitCode;

use evenhand::certify::CertifyError;
use evenhand_audit::AuditError;
use evenhand_audit::matrix::Premises;

use crate::arguments::Common;
use crate::arguments::audit::{self, Audit, AuditCommand};
use crate::failure::Failure;

pub fn run(call: &Audit, common: &Common) -> Result<ExitCode, Failure> {
    match &call.command {
        AuditCommand::Mechanism(call) => mechanism::run(call, common),
        AuditCommand::Matrix(call) => matrix::run(call, common),
        AuditCommand::Preemption(call) => preemption::run(call, common),
    }
}

/// Returns the premises that every problem of the audit must satisfy, as the options state them.
fn premises(options: audit::Premises) -> Premises {
    let audit::Premises { positive, unlimited, everywhere } = options;
    Premises { positive, unlimited, everywhere, ..Premises::NONE }
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
