//! The mechanisms that equalise one share. Each mechanism returns the weighted lexicographic maximum of its share
//! (docs/theory.md, section 2).
//!
//! The mechanisms differ in the reference `sigma_n` of the level `x_n / (w_n sigma_n)` of user `n`.
//!
//! | mechanism | `sigma_n` | properties |
//! |---|---|---|
//! | `drf` | as `drfh`, on one server | all properties of DRF (proven by Ghodsi et al.; DRFH, section III-C, requires it as "single-server DRF") |
//! | `drfh` | `1 / max_r (d_nr / sum_i k_i c_ir)`, whatever the placement constraints | envy-free for positive demands without placement constraints (DRFH, section IV-B); no sharing incentive in general (PS-DSF, Table I) |
//! | `cdrf` | `gamma_n` | `x_n = e_n gamma_n` for all users is feasible, so the equal level is at least `1 / sum of weights`: sharing incentive; envy-freeness and truthfulness can fail |
//! | `tsf` | `gamma_n` as if there were no placement constraint (a server without a demanded resource still counts 0) | with placement constraints, sharing incentive (theory, section 4, has the instance) and envy-freeness over all servers can fail |
//! | `asset` | `1 / sum_r (d_nr / sum_i k_i c_ir)` | equal sums can leave a user with less than its share of every resource: no sharing incentive (NJC, section 4) |
//! | `generic` | the level is `U_n = (1/w_n) sum_i u_ni x_ni` with stated `u_ni > 0` (Kesidis, equation 3) instead of `x_n / (w_n sigma_n)`: equation 9 gives DRFH, equations 12 and 13 give criteria like those of PS-DSF | if `u_ni` depends on the class, a user's level can rise when its tasks move to other classes, so a user with all its tasks may still be active |
//!
//! In a problem with rates (docs/theory.md, section 12), the share of `drfh` is the throughput over the throughput of
//! the equal part, and `--reference` states how a user would use the equal part. `finish-time` replaces the equal part
//! by the part of the user's entitlement, in every problem. Limits of accelerators (`at_most`) are rows like the rows
//! of the classes.
//!
//! The share vector is unique. The placement `x_ni` is not, and a vertex of the optimal face is returned. With a time
//! limit on the exact work ([`SECONDS`]), the answer may be an interval for each level: the allocation is exactly
//! feasible, and the bounds enclose the levels of the lexicographic maximum.

use std::time::Instant;

use evenhand_exact::Axiom::{
    BottleneckFair, EnvyFree, GlobalBottleneckFair, MaxMin, ParetoOptimal, SharingIncentive,
    SingleResourceFair, WorkConserving,
};
use evenhand_exact::{Axiom, LimitRows, Parameters, Share, ShareCoefficients, Tasks};
use evenhand_levels::level::{
    LevelIntervals, LexicographicOptimum, Settings, Within, lexicographic, lexicographic_float,
    lexicographic_limited, lexicographic_within,
};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Sharing, User, names};

use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::{Flag, Flags, SECONDS, Takes};
use crate::guarantees::Condition::{Always, OneCriterion, OneDemand, OneDemandEverywhere, WithoutAtMost};
use crate::mechanism::{Info, Intervals, Late, Mechanism, Outcome, Status};
use crate::rounding;

/// The widest interval that counts as an answer, as a fraction of the level that the user would have alone in the
/// cluster.
const WIDEST: (u32, u32) = (1, 1_000_000_000);

/// Defines a mechanism of this module from its share, its description and its proven axioms. The optional functions
/// check whether the mechanism applies to a problem.
macro_rules! equalises {
    ($(#[$doc:meta])* $name:ident, $share:expr, $info:expr, $proven:expr $(, $check:expr)*) => {
        $(#[$doc])*
        pub static $name: Mechanism = Mechanism {
            info: &$info,
            proven: $proven,
            flags: &[SECONDS],
            axiom: |_| Some((Axiom::MaxMin, Parameters::from(Some($share)))),
            equals: |_| Ok(Equals::ByWeight),
            joins: true,
            late: Late::Itself,
            solve: |problem, flags| {
                $($check(problem)?;)*
                allocate_with($name.info, $share, problem, flags)
            },
        };
    };
}

equalises!(
    /// The mechanism of Dominant Resource Fairness, for one server.
    DRF,
    Share::Dominant,
    Info {
        id: "drf",
        aliases: &[],
        title: "Dominant Resource Fairness",
        equalises: "x_n max_r(d_nr / c_r) / w_n, the dominant share on the one server",
        guarantees: "Pareto optimal; envy-free; sharing incentive; bottleneck fair; truthful",
        reference: "NJC, section 4; DRFH, section III-C",
    },
    &[
        (Always, &[MaxMin, ParetoOptimal, WorkConserving]),
        (OneDemand, &[EnvyFree, SharingIncentive, BottleneckFair, GlobalBottleneckFair, SingleResourceFair]),
    ],
    one_server
);

/// The mechanism of Dominant Resource Fairness, Heterogeneous. In a problem with rates, the share is the
/// throughput over the throughput of the equal part.
pub static DRFH: Mechanism = Mechanism {
    info: &Info {
        id: "drfh",
        aliases: &["c-drfh"],
        title: "Dominant Resource Fairness, Heterogeneous",
        equalises: "x_n max_r(d_nr / total capacity of r) / w_n, the global dominant share; with rates: throughput over that of the equal part",
        guarantees: "Pareto optimal; where every user has one demand, positive and the same on all servers: envy-free, fair on a common global dominant resource, truthful",
        reference: "DRFH, equations 4 to 7, section IV; as C-DRFH in PS-DSF, section II-B; with rates Gavel (OSDI 2020)",
    },
    proven: &[
        (Always, &[MaxMin, ParetoOptimal, WorkConserving]),
        (OneDemand, &[EnvyFree, GlobalBottleneckFair, SingleResourceFair]),
    ],
    flags: &[SECONDS, REFERENCE],
    axiom: |allocation| {
        let of_best = allocation.rule.as_deref() == Some(OF_BEST);
        let share = if of_best { Share::BestPart } else { Share::Dominant };
        Some((MaxMin, Parameters::from(Some(share))))
    },
    equals: |_| Ok(Equals::ByWeight),
    joins: true,
    late: Late::Itself,
    solve: |problem, flags| {
        let reference = flags.value::<Reference>(REFERENCE.name)?;
        if reference.is_some() && !problem.has_rates() {
            let why = "it needs `users[].rates`: without rates, shares have one reference".to_owned();
            return Err(MechanismError::BadOption { mechanism: DRFH.info.id, option: REFERENCE.name, why });
        }
        let best = reference == Some(Reference::Best);
        let share = if best { Share::BestPart } else { Share::Dominant };
        let mut outcome = allocate_with(DRFH.info, share, problem, flags)?;
        outcome.allocation.rule = best.then(|| OF_BEST.to_owned());
        Ok(outcome)
    },
};

/// The flag that says how a user would use the equal part, in problems with rates.
const REFERENCE: Flag = Flag {
    name: "reference",
    takes: Takes::Name("REFERENCE", Reference::NAMES),
    help: "drfh, for problems with rates: how a user would use the equal part of the cluster; proportional (default) or \
           best",
};

/// The value of `rule` in an allocation with the reference [`Reference::Best`].
const OF_BEST: &str = "reference best";

/// How a user would use the equal part, `1/N` of every class. The throughput of this use is the reference of
/// the user (docs/theory.md, section 12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reference {
    /// The user uses the same fraction of its part of every class.
    Proportional,
    /// The user uses its part as well as its limit of accelerators allows.
    Best,
}

names! { Reference:
    Proportional = "proportional", "All classes in proportion, scaled down to `at_most` accelerators";
    Best = "best", "The classes with the highest rates first, up to `at_most` accelerators";
}

equalises!(
    /// The mechanism of finish-time fairness.
    FINISH_TIME,
    Share::FinishTime,
    Info {
        id: "finish-time",
        aliases: &[],
        title: "Finish-time fairness",
        equalises: "x_n over the tasks that its own fraction e_n of every class gives it; the least of it is the inverse of the worst rho of Themis",
        guarantees: "Pareto optimal; sharing incentive: no user finishes later than with its own fraction of every class",
        reference: "Themis (NSDI 2020), for work that has not begun; theory, section 12",
    },
    &[(Always, &[MaxMin, ParetoOptimal, WorkConserving, SharingIncentive])]
);

equalises!(
    /// The mechanism Containerized DRF.
    CDRF,
    Share::Containerized,
    Info {
        id: "cdrf",
        aliases: &[],
        title: "Containerized DRF",
        equalises: "x_n / (w_n gamma_n), the part of the tasks that the whole cluster alone would give",
        guarantees: "Pareto optimal; sharing incentive: x_n >= e_n gamma_n",
        reference: "PS-DSF, section II-B; Kesidis, section I",
    },
    &[
        (Always, &[MaxMin, ParetoOptimal, WorkConserving]),
        (WithoutAtMost, &[SharingIncentive]),
        (OneDemandEverywhere, &[BottleneckFair, SingleResourceFair]),
    ]
);

equalises!(
    /// The mechanism Task Share Fairness.
    TSF,
    Share::TaskShare,
    Info {
        id: "tsf",
        aliases: &[],
        title: "Task Share Fairness",
        equalises: "x_n / (w_n gamma_n), gamma_n as if there were no placement constraint",
        guarantees: "Pareto optimal; without placement constraints the same as cdrf, with its sharing incentive",
        reference: "PS-DSF, section II-B; Kesidis, section I",
    },
    &[
        (Always, &[MaxMin, ParetoOptimal, WorkConserving]),
        (OneDemandEverywhere, &[BottleneckFair, SingleResourceFair]),
    ]
);

equalises!(
    /// The mechanism of asset fairness.
    ASSET,
    Share::Asset,
    Info {
        id: "asset",
        aliases: &[],
        title: "Asset fairness",
        equalises: "x_n sum_r(d_nr / total capacity of r) / w_n, the sum of resource shares",
        guarantees: "Pareto optimal; neither sharing incentive nor envy-freeness",
        reference: "NJC, section 4",
    },
    &[(Always, &[MaxMin, ParetoOptimal, WorkConserving]), (OneDemand, &[SingleResourceFair])]
);

equalises!(
    /// The mechanism of generic max-min fairness.
    GENERIC,
    Share::Generic,
    Info {
        id: "generic",
        aliases: &[],
        title: "Generic max-min fairness",
        equalises: "U_n = (1/w_n) sum_i u_ni x_ni with the u_ni stated as criterion in the problem",
        guarantees: "no user's U can rise without hurting a lower or equal one; Pareto optimal in tasks where u_ni is the same on all classes",
        reference: "Kesidis, equation 3; lexicographic, which is more than Definition 1 asks for",
    },
    &[(Always, &[MaxMin, WorkConserving]), (OneCriterion, &[ParetoOptimal])]
);

fn one_server(problem: &Problem) -> Result<(), MechanismError> {
    let not_applicable = |why| Err(MechanismError::NotApplicable { mechanism: DRF.info.id, why });
    let servers = problem.n_single_servers();
    if servers != 1 {
        return not_applicable(format!(
            "it is defined for one server, this cluster has {servers} (see drfh)"
        ));
    }
    let states_other = |user: &&User| !user.demand_overrides().is_empty() || !user.given_gamma().is_empty();
    match problem.users().iter().find(states_other) {
        None => Ok(()),
        Some(user) => not_applicable(format!(
            "user `{}` states demand_on or gamma for the only server: state its demand",
            user.name()
        )),
    }
}

/// Computes the weighted lexicographic max-min allocation of `share` (docs/theory.md, section 2).
pub fn allocate(
    info: &Info,
    share: Share,
    problem: &Problem,
    arithmetic: Arithmetic,
) -> Result<Outcome, MechanismError> {
    let coefficients = coefficients(info, share, problem)?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    if problem.has_at_most() {
        if arithmetic == Arithmetic::Float {
            return Err(only_exact(info));
        }
        let limits = LimitRows::new(problem, &Vec::new());
        let optimum = lexicographic_limited(&constraints, &coefficients, &limits);
        let solver = |source| MechanismError::Solver { mechanism: info.id, source };
        return Ok(exact(info, optimum.map_err(solver)?));
    }
    let settings = Settings::default();
    let solver = |source| MechanismError::Solver { mechanism: info.id, source };
    Ok(match arithmetic {
        Arithmetic::Exact => {
            exact(info, lexicographic(&constraints, &coefficients, &settings).map_err(solver)?)
        }
        Arithmetic::Float => {
            let optimum = lexicographic_float(&constraints, &coefficients, &settings).map_err(solver)?;
            let LexicographicOptimum { tasks, rounds, solves, pivots, .. } = optimum;
            let tasks = rounding::feasible(&constraints, tasks);
            let mut outcome = outcome(info, tasks, rounds, solves);
            outcome.pivots = pivots;
            outcome.allocation.arithmetic = Arithmetic::Float;
            outcome
        }
    })
}

/// Calls [`allocate`] with the settings of the flags, and with the time limit if a flag states one.
fn allocate_with(
    info: &Info,
    share: Share,
    problem: &Problem,
    flags: &Flags,
) -> Result<Outcome, MechanismError> {
    let Some(budget) = flags.seconds()? else {
        return allocate(info, share, problem, flags.arithmetic);
    };
    if flags.arithmetic == Arithmetic::Float {
        let why = "floating point proves no bounds: leave out --float".to_owned();
        return Err(MechanismError::Unreadable { option: SECONDS.name, why });
    }
    if problem.has_at_most() {
        let why = "bounds are not available for problems with `at_most`: leave out --seconds".to_owned();
        return Err(MechanismError::Unreadable { option: SECONDS.name, why });
    }
    let coefficients = coefficients(info, share, problem)?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    // A deadline beyond the range of the clock means no deadline.
    let settings = Settings { until: Instant::now().checked_add(budget), ..Settings::default() };
    Ok(match lexicographic_within(&constraints, &coefficients, &settings) {
        Within::Exact(optimum) => exact(info, optimum),
        Within::Between(found) => intervals(info, found),
    })
}

/// Returns the error that a problem with limits of accelerators is solved in exact arithmetic alone.
pub(crate) fn only_exact(info: &Info) -> MechanismError {
    let why = "problems with `at_most` are solved only in exact arithmetic: leave out --float".to_owned();
    MechanismError::NotApplicable { mechanism: info.id, why }
}

fn coefficients(info: &Info, share: Share, problem: &Problem) -> Result<ShareCoefficients, MechanismError> {
    let not_applicable = |why| MechanismError::NotApplicable { mechanism: info.id, why };
    share.coefficients(problem).map_err(|error| not_applicable(error.to_string()))
}

fn intervals(info: &Info, found: LevelIntervals) -> Outcome {
    let width = found.width();
    let status = if width <= Rational::from(WIDEST) { Status::Interval } else { Status::Limit };
    let LevelIntervals { tasks, levels, rounds, solves, .. } = found;
    let mut outcome = outcome(info, tasks, rounds, solves);
    outcome.findings.status = Some(status);
    outcome.findings.intervals = Some(Intervals { levels, width });
    outcome
}

fn exact(info: &Info, optimum: LexicographicOptimum<Rational>) -> Outcome {
    let mut outcome = outcome(info, optimum.tasks, optimum.rounds, optimum.solves);
    outcome.pivots = optimum.pivots;
    outcome.findings.levels = Some(optimum.duals);
    outcome
}

fn outcome(info: &Info, tasks: Tasks, rounds: usize, programmes: usize) -> Outcome {
    let mechanism = Some(info.id.to_owned());
    let allocation = Allocation { mechanism, arithmetic: Arithmetic::Exact, tasks, ..Allocation::default() };
    Outcome { rounds, programmes, ..Outcome::of(allocation) }
}
