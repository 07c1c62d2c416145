//! No Justified Complaints (NJC): every user has all its tasks, or its entitlement of some saturated resource (NJC,
//! equation 2; for clusters docs/theory.md, section 3).
//!
//! The weighted proportionally fair allocation has no justified complaints, and it is the limit of the paper's
//! trajectory (docs/theory.md, section 3, facts 1 and 2). This allocation is the answer in floating point, but it can
//! be irrational. The exact answer is a rational allocation on the same face of the set of NJC allocations, which
//! means that it has the same bottlenecks and witnesses (fact 4).
//!
//! Options choose the method. The table lists the methods in the order in which they are tried:
//!
//! | method | option | problems that need it |
//! |---|---|---|
//! | `no_entitlement` | `--no-entitlement` | entitlements of 0 (NJC, Theorem 1), which problem files cannot state |
//! | `trajectory` | `--method trajectory` | no problem; it is the paper's own method, and shows the trajectory |
//! | `all_answers` | `--faces` | problems with several answers, such as `r = (1,1), (0,1), (1,0)` in docs/theory.md |
//! | `selection` | `--select` | problems with several answers |
//! | `reduction` | `--reduce` | no problem; it is the paper's simplification (NJC, section 5.1) |
//! | `limit::with_barrier` | `--barrier` | no problem; the paper's other paths (NJC, section 5.5) have the same limit |
//! | `limit` | | all other problems |
//!
//! `limit` continues with `exact`, the steps from floating point to an exact answer.

mod all_answers;
mod answer;
mod exact;
pub(crate) mod face;
mod limit;
mod no_entitlement;
mod reduction;
mod selection;
mod trajectory;

use evenhand_exact::{Axiom, Parameters};
use evenhand_levels::njc::Goal;
use evenhand_problem::{Arithmetic, Constraints, Problem, Rational, Sharing};

use self::answer::INFO;
use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::{FACES, Flag, METHOD, Method, SECONDS, SELECT, Takes};
use crate::guarantees::Condition::{Always, OneServer};
use crate::mechanism::{Late, Mechanism, Outcome};

/// The mechanism No Justified Complaints.
pub static NJC: Mechanism = Mechanism {
    info: &INFO,
    proven: &[
        (Always, &[Axiom::Njc]),
        (OneServer, &[Axiom::ParetoOptimal, Axiom::WorkConserving, Axiom::SharingIncentive]),
    ],
    flags: &[
        SELECT,
        FACES,
        Flag {
            name: "reduce",
            takes: Takes::Nothing,
            help: "njc: first leave out users and resources that cannot matter (NJC, section 5.1); one server",
        },
        METHOD,
        Flag {
            name: "c-max",
            takes: Takes::Number("C"),
            help: "njc with --method trajectory: integrate up to this c (default: 1e13, or until no user complains)",
        },
        Flag {
            name: "barrier",
            takes: Takes::Resources("RESOURCE=W,..."),
            help: "njc: weights of the resources in the barrier that the path to the answer follows (NJC, section \
                5.5); they do not change the limit; one server",
        },
        no_entitlement::FLAG,
        SECONDS,
    ],
    axiom: |allocation| allocation.rule.is_none().then(|| (Axiom::Njc, Parameters::default())),
    equals: |_| Ok(Equals::Apart),
    joins: false,
    late: Late::Doubles,
    solve: |problem, flags| {
        let settings = Settings {
            arithmetic: flags.arithmetic,
            select: flags.value("select")?,
            reduce: flags.is_set("reduce"),
            faces: flags.is_set("faces"),
            method: flags.value("method")?,
            c_max: flags.number("c-max")?,
            barrier: flags.resources("barrier")?,
            no_entitlement: flags.listed(no_entitlement::FLAG.name).unwrap_or_default(),
        };
        allocate(problem, &settings)
    },
};

/// The choice among all allocations without justified complaints, and the method that computes it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// The arithmetic of the answer.
    pub arithmetic: Arithmetic,
    /// The goal by which the allocation is selected.
    pub select: Option<Goal>,
    /// `true` if a smaller problem with the same answers is solved instead.
    pub reduce: bool,
    /// `true` if all allocations without justified complaints are computed.
    pub faces: bool,
    /// `Some` to integrate the trajectory, `None` to compute its limit directly.
    pub method: Option<Method>,
    /// The value of `c` at which the integration of the trajectory stops.
    pub c_max: Option<Rational>,
    /// The positive weights of the resources in the barrier, for one server only. A resource that is not
    /// named has the weight 1.
    pub barrier: Option<Vec<(String, Rational)>>,
    /// The names of the users without entitlement: `e_n = 0`.
    pub no_entitlement: Vec<String>,
}

impl Settings {
    /// Creates the default settings for an arithmetic.
    #[must_use]
    pub fn new(arithmetic: Arithmetic) -> Self {
        Self { arithmetic, ..Self::default() }
    }
}

/// A method that computes the answer. It returns `None` if the settings do not ask for the method.
type Allocate = fn(&Constraints<'_>, &Settings) -> Option<Result<Outcome, MechanismError>>;

/// The methods in the order in which they are tried. The last method accepts all settings.
const METHODS: [Allocate; 7] = [
    no_entitlement::allocate,
    trajectory::allocate,
    all_answers::allocate,
    selection::allocate,
    reduction::allocate,
    limit::with_barrier,
    limit::allocate,
];

/// Computes an allocation without justified complaints.
///
/// # Errors
/// Returns a [`MechanismError`] if settings exclude each other, the problem is too large for them, or a solver
/// failed.
pub fn allocate(problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    check_settings(settings)?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let answer = METHODS.iter().find_map(|method| method(&constraints, settings));
    answer.unwrap_or_else(|| {
        let why = "no method supports these settings".to_owned();
        Err(MechanismError::NotFound { mechanism: INFO.id, why })
    })
}

/// Checks that the settings do not contradict each other. The trajectory is the only method with a name, and it
/// excludes all other choices.
fn check_settings(settings: &Settings) -> Result<(), MechanismError> {
    let bad = |option, why: &str| {
        Err(MechanismError::BadOption { mechanism: INFO.id, option, why: why.to_owned() })
    };
    match settings.method {
        None if settings.barrier.is_some()
            && (settings.select.is_some() || settings.faces || settings.reduce) =>
        {
            bad("barrier", "the path leads to a single answer: leave out --select, --faces and --reduce")
        }
        None if settings.c_max.is_some() => bad("c-max", "it needs --method trajectory"),
        None => Ok(()),
        Some(Method::Trajectory) if settings.barrier.is_some() => bad(
            "barrier",
            "the trajectory follows the paper's equation, which has weights of 1: leave the option out",
        ),
        Some(Method::Trajectory) if settings.select.is_some() || settings.faces || settings.reduce => {
            bad("method", "the trajectory leads to a single answer: leave out --select, --faces and --reduce")
        }
        Some(Method::Trajectory) => Ok(()),
        Some(_) => bad("method", "expected `trajectory`, the only method of njc that can be chosen"),
    }
}
