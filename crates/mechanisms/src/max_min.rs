//! What all share-based mechanisms do: the weighted lexicographic maximum of one share.

use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_lp::level::{LexicographicOptimum, Settings, lexicographic, lexicographic_float};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use crate::mechanism::{Info, Mechanism, MechanismError, Options, Outcome};
use crate::rounding;

/// A mechanism that maximises lexicographically the weighted shares of the users.
pub struct MaxMin {
    /// What it is, for people.
    pub info: Info,
    /// The share.
    pub share: Share,
    /// What a problem must be like, besides that the share is defined.
    pub requires: fn(&Problem) -> Result<(), String>,
}

/// No requirement.
pub fn anything(_problem: &Problem) -> Result<(), String> {
    Ok(())
}

impl Mechanism for MaxMin {
    fn info(&self) -> &Info {
        &self.info
    }

    fn applies(&self, problem: &Problem) -> Result<(), String> {
        (self.requires)(problem)?;
        self.share.coefficients(problem).map(|_| ()).map_err(|error| error.to_string())
    }

    fn allocate(&self, problem: &Problem, options: &Options) -> Result<Outcome, MechanismError> {
        (self.requires)(problem)
            .map_err(|why| MechanismError::NotApplicable { mechanism: self.info.id, why })?;
        allocate(&self.info, self.share, problem, options.arithmetic)
    }

    fn axiom(&self, _allocation: &Allocation) -> Option<(Axiom, Parameters)> {
        Some((Axiom::MaxMin, Parameters::from(Some(self.share))))
    }
}

/// The weighted lexicographic max-min allocation of `share` (THEORY, section 2).
pub fn allocate(
    info: &Info,
    share: Share,
    problem: &Problem,
    arithmetic: Arithmetic,
) -> Result<Outcome, MechanismError> {
    let not_applicable = |why: String| MechanismError::NotApplicable { mechanism: info.id, why };
    let coefficients = share.coefficients(problem).map_err(|error| not_applicable(error.to_string()))?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let settings = Settings::default();
    let solver = |source| MechanismError::Solver { mechanism: info.id, source };
    Ok(match arithmetic {
        Arithmetic::Exact => {
            outcome(info, lexicographic(&constraints, &coefficients, &settings).map_err(solver)?)
        }
        Arithmetic::Float => {
            let optimum = lexicographic_float(&constraints, &coefficients, &settings).map_err(solver)?;
            let LexicographicOptimum { tasks, duals, rounds, solves, pivots } = optimum;
            let tasks = rounding::feasible(&constraints, tasks);
            let exact = LexicographicOptimum { tasks, duals, rounds, solves, pivots };
            let mut outcome = outcome(info, exact);
            outcome.allocation.arithmetic = Arithmetic::Float;
            outcome
        }
    })
}

fn outcome(info: &Info, optimum: LexicographicOptimum<Rational>) -> Outcome {
    let allocation = Allocation {
        mechanism: Some(info.id.to_owned()),
        arithmetic: Arithmetic::Exact,
        tasks: optimum.tasks,
        ..Allocation::default()
    };
    Outcome {
        rounds: optimum.rounds,
        programmes: optimum.solves,
        pivots: optimum.pivots,
        ..Outcome::of(allocation)
    }
}
