//! The answers of this project's own mechanisms in doubles, as `solve --float` writes them.

use std::time::Duration;

use evenhand_mechanisms::{Flags, registry};
use evenhand_problem::{Arithmetic, number};

use super::{Answer, Contender, NoAnswer};
use crate::case::{Case, Kind};

pub(super) fn all() -> Vec<Box<dyn Contender>> {
    let doubles = Doubles { name: "doubles", method: None };
    let algorithm = Doubles { name: "algorithm-1", method: Some("algorithm-1") };
    vec![Box::new(doubles), Box::new(algorithm)]
}

#[derive(Debug, Clone, Copy)]
struct Doubles {
    name: &'static str,
    /// The method, unless it is the default method.
    method: Option<&'static str>,
}

impl Contender for Doubles {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn about(&self) -> String {
        match self.method {
            Some(_) => "Algorithm I of the PS-DSF paper, in floating point".to_owned(),
            None => {
                "our own floating-point solvers (solve --float); for whole tasks, fill by best fit".to_owned()
            }
        }
    }

    fn takes(&self, kind: Kind) -> bool {
        match self.method {
            Some(_) => kind == Kind::PsDsf,
            None => !matches!(kind, Kind::Configurations | Kind::LinearProgramme),
        }
    }

    fn solve(&self, case: &Case, _time: Duration) -> Result<Answer, NoAnswer> {
        let problem = case.problem().ok_or(NoAnswer::Kind)?;
        let name = match case.kind {
            Kind::Njc => "njc",
            Kind::Whole => "fill",
            kind => kind.mechanism().ok_or(NoAnswer::Kind)?,
        };
        let mechanism = registry::find(name).ok_or(NoAnswer::Kind)?;
        // The allocation of whole tasks is always computed exactly.
        let arithmetic = if case.kind == Kind::Whole { Arithmetic::Exact } else { Arithmetic::Float };
        let mut flags = Flags::new(arithmetic);
        if case.kind == Kind::Alpha {
            flags = flags.with("alpha", number::format(&case.alpha));
        }
        if case.kind == Kind::Whole {
            flags = flags.with("server", "best-fit");
        }
        if let Some(method) = self.method {
            flags = flags.with("method", method);
        }
        let outcome = mechanism.allocate_with(problem, &flags);
        let outcome = outcome.map_err(|error| NoAnswer::Failed(error.to_string()))?;
        let findings = outcome.findings;
        let status = findings.status.map_or("solved", evenhand_mechanisms::Status::name).to_owned();
        let gap = findings.gap.as_ref().map(number::to_f64);
        let steps = findings.iterations.and_then(|steps| u64::try_from(steps).ok());
        Ok(Answer { allocation: Some(outcome.allocation), status, gap, steps, ..Answer::default() })
    }
}
