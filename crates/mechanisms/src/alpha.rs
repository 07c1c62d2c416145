//! Proportional and alpha fairness: allocations that maximise a sum of concave utilities.
//!
//! The objective is `sum_n w_n g_a(x_n)`, where `g_1 = log` and `g_a(x) = x^(1-a) / (1-a)` otherwise
//! (Kesidis, equation 15 and Proposition 2). With the setting `criterion`, the stated `U_n = sum_i u_ni x_ni`
//! replaces `x_n` (Corollary 1). With `per-weight`, the objective is `sum_n w_n g_a(U_n / w_n)` (equation 5),
//! which equals equation 15 with the weights `w_n^a`. An exponent `a` near 0 maximises the number of tasks. A
//! large `a` protects the user with the fewest tasks.
//!
//! The optimum can be irrational. If the optimum is rational and the solver reaches it, the answer is exact
//! and its gap is 0. There are three such cases. For `a = 1`, the optimum is rational under time sharing,
//! with one resource, and if users pay for only one resource of each class. For other exponents, it is
//! rational in these cases if certain roots are rational. Finally, rational numbers near the optimum may turn
//! out to be optimal. In all other cases the answer is a rational `x` with its exact gap (docs/theory.md,
//! section 3): every feasible `y` satisfies `sum_n w_n (y_n - x_n) / x_n^a <= gap`. The totals `x_n` of an
//! optimum are unique, but the placement `x_ni` is not.

use std::borrow::Cow;

use evenhand_exact::Axiom::{
    EnvyFree, Njc, OptimalEqual, ParetoOptimal, Proportional, SharingIncentive, WorkConserving,
};
use evenhand_exact::axiom::proportional::check_alpha;
use evenhand_exact::{Axiom, Parameters, Share, ShareCoefficients};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing};

use crate::equals::{Equals, short_power};
use crate::error::MechanismError;
use crate::fair_sum::answer::Sum;
use crate::fair_sum::ladder::Objective;
use crate::flags::{CRITERION, Flag, SECONDS, Takes};
use crate::guarantees::Condition::{Always, WithoutAtMost};
use crate::mechanism::{Info, Late, Mechanism, Outcome};
use crate::partial;

/// Proportional fairness: `a = 1`.
pub static PROPORTIONAL: Mechanism = Mechanism {
    info: &Info {
        id: "proportional",
        aliases: &[],
        title: "Proportional fairness",
        equalises: "nothing; maximises sum_n w_n log x_n",
        guarantees: "Pareto optimal and no justified complaints, within the proven gap",
        reference: "Kesidis, equation 15, a = 1; for NJC: theory, section 3, Fact 1",
    },
    proven: &[
        (Always, &[Proportional, ParetoOptimal, WorkConserving, EnvyFree, OptimalEqual, Njc]),
        (WithoutAtMost, &[SharingIncentive]),
    ],
    flags: &[CRITERION, PARTIAL, SECONDS],
    axiom: |allocation| axiom(allocation, Rational::from(1)),
    // Without one of two identical users the others get more than without both.
    equals: |flags| Ok(if flags.is_set(PARTIAL.name) { Equals::Apart } else { Equals::ByWeight }),
    joins: true,
    late: Late::Doubles,
    solve: |problem, flags| {
        let settings = Settings {
            arithmetic: flags.arithmetic,
            alpha: Rational::from(1),
            criterion: flags.is_set("criterion"),
            per_weight: false,
        };
        if flags.is_set(PARTIAL.name) {
            partial(problem, &settings)
        } else {
            fairest(&PROPORTIONAL, problem, &settings)
        }
    },
};

/// Alpha fairness: `a` is the setting `alpha`.
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
        PER_WEIGHT,
        SECONDS,
    ],
    axiom: |allocation| axiom(allocation, allocation.alpha.clone()?),
    equals: |flags| {
        let alpha = flags.number("alpha")?.filter(|alpha| *alpha > 0);
        Ok(alpha.map_or(Equals::Apart, |alpha| match flags.is_set(PER_WEIGHT.name) {
            true => Equals::ByPowerOfWeight(alpha),
            false => Equals::ByRoot(alpha),
        }))
    },
    joins: true,
    late: Late::Doubles,
    solve: |problem, flags| {
        let needs = MechanismError::NeedsOption { mechanism: ALPHA.info.id, option: "alpha" };
        let settings = Settings {
            arithmetic: flags.arithmetic,
            alpha: flags.number("alpha")?.ok_or(needs)?,
            criterion: flags.is_set("criterion"),
            per_weight: flags.is_set(PER_WEIGHT.name),
        };
        allocate(problem, &settings)
    },
};

/// The flag that selects the partial allocation of Cole, Gkatzelis and Goel.
const PARTIAL: Flag = Flag {
    name: "partial",
    takes: Takes::Nothing,
    help: "proportional: every user keeps only the fraction of its tasks by which false demands do not pay (partial \
        allocation; Cole, Gkatzelis and Goel)",
};

/// The flag that selects equation 5 of Kesidis instead of equation 15.
const PER_WEIGHT: Flag = Flag {
    name: "per-weight",
    takes: Takes::Nothing,
    help: "alpha: divide by the weight within the utility, sum w g(x / w) (Kesidis, equation 5), instead of sum w \
        g(x) (equation 15); the same for an exponent of 1",
};

/// The objective of alpha fairness and the arithmetic of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The arithmetic of the answer.
    pub arithmetic: Arithmetic,
    /// The exponent `a`, positive.
    pub alpha: Rational,
    /// `true` if the criterion stated in the problem replaces the number of tasks.
    pub criterion: bool,
    /// `true` if `U_n / w_n` replaces `U_n` in the utility (Kesidis, equation 5).
    pub per_weight: bool,
}

/// Computes the alpha-fair allocation.
///
/// # Errors
/// Returns [`MechanismError::Unreadable`] for an exponent that is out of range,
/// [`MechanismError::NotApplicable`] if `criterion` is set and the problem states no criterion, and
/// [`MechanismError::Continuous`] if the continuous solver fails.
pub fn allocate(problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    fairest(&ALPHA, problem, settings)
}

/// Computes the partial allocation.
fn partial(problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    let mechanism = PROPORTIONAL.info.id;
    let refused = |why: &str| Err(MechanismError::NotApplicable { mechanism, why: why.to_owned() });
    if settings.arithmetic == Arithmetic::Float {
        return refused("the partial allocation is computed only in exact arithmetic: leave out --float");
    }
    if settings.criterion {
        return refused("the partial allocation counts tasks: leave out --criterion");
    }
    let solve = |problem: &Problem| fairest(&PROPORTIONAL, problem, settings);
    let mut outcome = partial::reduce(mechanism, problem, solve(problem)?, solve)?;
    outcome.allocation.rule = Some(PARTIAL.name.to_owned());
    Ok(outcome)
}

fn fairest(mechanism: &Mechanism, problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    let (id, Settings { arithmetic, alpha, criterion, per_weight }) = (mechanism.info.id, settings);
    check_alpha(alpha)
        .map_err(|refusal| MechanismError::Unreadable { option: "alpha", why: refusal.to_string() })?;
    let share = criterion.then(|| Share::Generic.coefficients(problem)).transpose();
    let share =
        share.map_err(|error| MechanismError::NotApplicable { mechanism: id, why: error.to_string() })?;
    let template = Allocation {
        mechanism: Some(id.to_owned()),
        alpha: mechanism.takes("alpha").then(|| alpha.clone()),
        criterion: *criterion,
        rule: (*per_weight && *alpha != 1).then(|| PER_WEIGHT.name.to_owned()),
        arithmetic: *arithmetic,
        ..Allocation::default()
    };
    let (problem, share) = match template.rule.is_some() {
        true => divided_by_weight(problem, alpha, share),
        false => (Cow::Borrowed(problem), share),
    };
    let constraints = Constraints::new(&problem, Sharing::Rdm);
    let objective = Objective { constraints: &constraints, alpha, share: share.as_ref() };
    Sum { problem: &problem, objective, mechanism: id, template }.answer()
}

/// Rewrites the objective of equation 5 in the form of equation 15.
///
/// `w g_a(U / w) = w^a g_a(U)`, so it is enough to replace every weight by its power `w^a` if all these powers are
/// rational and short. Otherwise the share `U / w` replaces `U`.
fn divided_by_weight<'a>(
    problem: &'a Problem,
    alpha: &Rational,
    share: Option<ShareCoefficients>,
) -> (Cow<'a, Problem>, Option<ShareCoefficients>) {
    let powers: Option<Vec<Rational>> =
        problem.users().iter().map(|user| short_power(user.weight(), alpha)).collect();
    match powers {
        Some(weights) => (Cow::Owned(problem.with_weights(weights)), share),
        None => (Cow::Borrowed(problem), Some(ShareCoefficients::per_weight(problem, share.as_ref()))),
    }
}

/// Returns the axiom that the allocation maximises the objective. Returns `None` if the objective does not use the
/// weights of the problem (`per-weight`), or if users keep only a fraction of their tasks (`partial`).
fn axiom(allocation: &Allocation, alpha: Rational) -> Option<(Axiom, Parameters)> {
    let share = allocation.criterion.then_some(Share::Generic);
    allocation.rule.is_none().then_some((Proportional, Parameters { share, alpha: Some(alpha) }))
}
