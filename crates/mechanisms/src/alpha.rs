//! Proportional and alpha fairness: the greatest sum of concave utilities, with a proven bound on
//! what any other allocation gains.
//!
//! Maximises `sum_n w_n g_a(x_n)`, `g_1 = log` and `g_a(x) = x^(1-a) / (1-a)` otherwise (Kesidis,
//! equation 15 and Proposition 2); with the option `criterion` the stated `U_n = sum_i u_ni x_ni`
//! takes the place of `x_n` (Corollary 1). `a` near 0 counts tasks, a large `a` protects the user
//! with least. The optimum can be irrational. Where it is rational and is found, the answer is exact and
//! its gap 0: for `a = 1` under time sharing, with one resource, and wherever users pay for one resource
//! of a class; for other exponents where the roots are rational; and where rational numbers near the
//! optimum turn out to be it. Elsewhere the answer is a rational `x` with its exact gap (THEORY, section
//! 3): no feasible `y` has `sum_n w_n (y_n - x_n) / x_n^a` above it. `x_n` is unique, the placement
//! `x_ni` is not.

use evenhand_exact::axiom::proportional::check_alpha;
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_problem::{Allocation, Constraints, Problem, Rational, Sharing};

use crate::fair_sum::answer::Sum;
use crate::mechanism::{Info, Mechanism, MechanismError, OptionName, Options, Outcome};

/// Alpha fairness, with the exponent given by the mechanism or by the options.
pub struct AlphaFair {
    info: Info,
    alpha: Option<u32>,
}

/// Proportional fairness: `a = 1`.
pub static PROPORTIONAL: AlphaFair = AlphaFair {
    info: Info {
        id: "proportional",
        aliases: &[],
        title: "Proportional fairness",
        equalises: "nothing; maximises sum_n w_n log x_n",
        guarantees: "Pareto optimal and no justified complaints, within the proven gap",
        reference: "Kesidis, equation 15, a = 1; NJC by THEORY, fact 1",
    },
    alpha: Some(1),
};

/// Alpha fairness: `a` is an option.
pub static ALPHA: AlphaFair = AlphaFair {
    info: Info {
        id: "alpha",
        aliases: &[],
        title: "Alpha fairness",
        equalises: "nothing; maximises sum_n w_n x_n^(1-a) / (1-a), with --alpha a",
        guarantees: "Pareto optimal, within the proven gap; towards max-min as a grows",
        reference: "Kesidis, equation 15 and Proposition 2",
    },
    alpha: None,
};

impl AlphaFair {
    fn exponent(&self, stated: Option<&Rational>) -> Result<Rational, MechanismError> {
        let not_applicable = |why| MechanismError::NotApplicable { mechanism: self.info.id, why };
        match (self.alpha, stated) {
            (Some(alpha), None) => Ok(Rational::from(alpha)),
            (Some(_), Some(_)) => Err(not_applicable("its exponent is 1: ask for `alpha`".to_owned())),
            (None, Some(alpha)) => {
                check_alpha(alpha).map_err(|refusal| not_applicable(refusal.to_string()))?;
                Ok(alpha.clone())
            }
            (None, None) => {
                Err(MechanismError::NeedsOption { mechanism: self.info.id, option: OptionName::Alpha })
            }
        }
    }
}

impl Mechanism for AlphaFair {
    fn info(&self) -> &Info {
        &self.info
    }

    fn applies(&self, _problem: &Problem) -> Result<(), String> {
        Ok(())
    }

    fn options(&self) -> &'static [OptionName] {
        match self.alpha {
            Some(_) => &[OptionName::Criterion],
            None => &[OptionName::Alpha, OptionName::Criterion],
        }
    }

    fn allocate(&self, problem: &Problem, options: &Options) -> Result<Outcome, MechanismError> {
        let not_applicable = |why| MechanismError::NotApplicable { mechanism: self.info.id, why };
        let alpha = self.exponent(options.alpha.as_ref())?;
        let share = match options.criterion {
            true => Some(Share::Generic.coefficients(problem).map_err(|e| not_applicable(e.to_string()))?),
            false => None,
        };
        let constraints = Constraints::new(problem, Sharing::Rdm);
        let template = Allocation {
            mechanism: Some(self.info.id.to_owned()),
            alpha: self.alpha.is_none().then(|| alpha.clone()),
            criterion: options.criterion,
            arithmetic: options.arithmetic,
            ..Allocation::default()
        };
        let (constraints, share, alpha) = (&constraints, share.as_ref(), &alpha);
        let sum = Sum { problem, constraints, alpha, share, template };
        sum.answer().map_err(|source| MechanismError::Continuous { mechanism: self.info.id, source })
    }

    fn axiom(&self, allocation: &Allocation) -> Option<(Axiom, Parameters)> {
        let alpha = match self.alpha {
            Some(alpha) => Rational::from(alpha),
            None => allocation.alpha.clone()?,
        };
        let share = allocation.criterion.then_some(Share::Generic);
        Some((Axiom::Proportional, Parameters { share, alpha: Some(alpha) }))
    }
}
