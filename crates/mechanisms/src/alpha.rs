//! Proportional and alpha fairness: the greatest sum of concave utilities, with a proven bound on
//! what any other allocation gains.
//!
//! Maximises `sum_n w_n g_a(x_n)`, `g_1 = log` and `g_a(x) = x^(1-a) / (1-a)` otherwise (Kesidis,
//! equation 15 and Proposition 2); with the setting `criterion` the stated `U_n = sum_i u_ni x_ni`
//! takes the place of `x_n` (Corollary 1). `a` near 0 counts tasks, a large `a` protects the user
//! with least. The optimum can be irrational. Where it is rational and is found, the answer is exact and
//! its gap 0: for `a = 1` under time sharing, with one resource, and wherever users pay for one resource
//! of a class; for other exponents where the roots are rational; and where rational numbers near the
//! optimum turn out to be it. Elsewhere the answer is a rational `x` with its exact gap (THEORY, section
//! 3): no feasible `y` has `sum_n w_n (y_n - x_n) / x_n^a` above it. `x_n` is unique, the placement
//! `x_ni` is not.

use evenhand_exact::Axiom::{EnvyFree, Njc, ParetoOptimal, Proportional, SharingIncentive, WorkConserving};
use evenhand_exact::axiom::proportional::check_alpha;
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use crate::fair_sum::answer::Sum;
use crate::flags::{CRITERION, Flag, Takes};
use crate::guarantees::Condition::Always;
use crate::mechanism::{Info, Mechanism, MechanismError, Outcome};

/// Proportional fairness: `a = 1`.
pub static PROPORTIONAL: Mechanism = Mechanism {
    info: &Info {
        id: "proportional",
        aliases: &[],
        title: "Proportional fairness",
        equalises: "nothing; maximises sum_n w_n log x_n",
        guarantees: "Pareto optimal and no justified complaints, within the proven gap",
        reference: "Kesidis, equation 15, a = 1; NJC by THEORY, fact 1",
    },
    proven: &[(Always, &[Proportional, ParetoOptimal, WorkConserving, EnvyFree, SharingIncentive, Njc])],
    flags: &[CRITERION],
    axiom: |allocation| axiom(allocation, Rational::from(1)),
    solve: |problem, flags| {
        let settings = Settings {
            arithmetic: flags.arithmetic,
            alpha: Rational::from(1),
            criterion: flags.is_set("criterion"),
        };
        fairest(&PROPORTIONAL, problem, &settings)
    },
};

/// Alpha fairness: `a` is a setting.
pub static ALPHA: Mechanism = Mechanism {
    info: &Info {
        id: "alpha",
        aliases: &[],
        title: "Alpha fairness",
        equalises: "nothing; maximises sum_n w_n x_n^(1-a) / (1-a), with --alpha a",
        guarantees: "Pareto optimal, within the proven gap; towards max-min as a grows",
        reference: "Kesidis, equation 15 and Proposition 2",
    },
    proven: &[(Always, &[Proportional, ParetoOptimal, WorkConserving])],
    flags: &[
        Flag {
            name: "alpha",
            takes: Takes::Number("A"),
            help: "alpha: the exponent, positive; 1 is proportional fairness, large is close to max-min",
        },
        CRITERION,
    ],
    axiom: |allocation| axiom(allocation, allocation.alpha.clone()?),
    solve: |problem, flags| {
        let needs = MechanismError::NeedsOption { mechanism: ALPHA.info.id, option: "alpha" };
        let settings = Settings {
            arithmetic: flags.arithmetic,
            alpha: flags.number("alpha")?.ok_or(needs)?,
            criterion: flags.is_set("criterion"),
        };
        allocate(problem, &settings)
    },
};

/// What alpha fairness is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What the numbers of the answer are.
    pub arithmetic: Arithmetic,
    /// The exponent, positive.
    pub alpha: Rational,
    /// Whether the criterion stated in the problem takes the place of the tasks.
    pub criterion: bool,
}

/// The alpha-fair allocation.
///
/// # Errors
/// [`MechanismError::Unreadable`] for an exponent that is out of range, [`MechanismError::NotApplicable`] without
/// the criterion that is asked for, [`MechanismError::Continuous`].
pub fn allocate(problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    fairest(&ALPHA, problem, settings)
}

fn fairest(mechanism: &Mechanism, problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    let (id, Settings { arithmetic, alpha, criterion }) = (mechanism.info.id, settings);
    check_alpha(alpha)
        .map_err(|refusal| MechanismError::Unreadable { option: "alpha", why: refusal.to_string() })?;
    let share = criterion.then(|| Share::Generic.coefficients(problem)).transpose();
    let share =
        share.map_err(|error| MechanismError::NotApplicable { mechanism: id, why: error.to_string() })?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let template = Allocation {
        mechanism: Some(id.to_owned()),
        alpha: mechanism.takes("alpha").then(|| alpha.clone()),
        criterion: *criterion,
        arithmetic: *arithmetic,
        ..Allocation::default()
    };
    let sum = Sum { problem, constraints: &constraints, alpha, share: share.as_ref(), template };
    sum.answer().map_err(|source| MechanismError::Continuous { mechanism: id, source })
}

fn axiom(allocation: &Allocation, alpha: Rational) -> Option<(Axiom, Parameters)> {
    let share = allocation.criterion.then_some(Share::Generic);
    Some((Proportional, Parameters { share, alpha: Some(alpha) }))
}
