//! Whole tasks over time: lexicographic max-min over all schedules of packings (docs/theory.md, section 11).
//!
//! A packing is a set of whole tasks that fit together on one server. A schedule lets the servers of a class
//! take turns among packings, so a user has a fraction of a task only on average. No scheduler of whole tasks
//! can give every user more than the least share of the answer.

use evenhand_exact::Axiom::MaxMinPackings;
use evenhand_exact::axiom::packings::{are_defined, tasks};
use evenhand_exact::{Evidence, Parameters, Share};
use evenhand_packing::hull::{PackingsOptimum, solve};
use evenhand_packing::{PackingError, SearchLimits};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, names};

use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::{Flag, Flags, Takes};
use crate::guarantees::Condition::Always;
use crate::mechanism::{Findings, Info, Late, Mechanism, Outcome};

/// The mechanism of whole tasks over time.
pub static PACKINGS: Mechanism = Mechanism {
    info: &Info {
        id: "packings",
        aliases: &[],
        title: "Whole tasks over time",
        equalises: "the share of drfh (or tsf) over all schedules of whole tasks, on average over time",
        guarantees: "the ceiling of the least share of every scheduler of whole tasks",
        reference: "theory, section 11; DRFH, section IV-A for the share",
    },
    proven: &[(Always, &[MaxMinPackings])],
    flags: &[SHARE],
    axiom: |allocation| {
        let share = if allocation.rule.is_some() { Share::TaskShare } else { Share::Dominant };
        Some((MaxMinPackings, Parameters::from(Some(share))))
    },
    equals: |_| Ok(Equals::Apart),
    joins: false,
    late: Late::Itself,
    solve: |problem, flags| allocate(problem, flags),
};

/// The flag that chooses the share.
const SHARE: Flag = Flag {
    name: "share",
    takes: Takes::Name("SHARE", PackedShare::NAMES),
    help: "packings: the share that is equalised, drfh (default) or tsf",
};

/// A share that `packings` equalises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PackedShare {
    /// The dominant share over the cluster.
    #[default]
    Dominant,
    /// The number of tasks as a fraction of the tasks that the user would have alone without placement
    /// constraints.
    TaskShare,
}

names! { PackedShare:
    Dominant = "drfh", "the dominant share over the cluster";
    TaskShare = "tsf", "the fraction of the tasks that the user would have alone without placement constraints";
}

/// Computes the allocation. The result is exact, whatever the arithmetic of the flags.
fn allocate(problem: &Problem, flags: &Flags) -> Result<Outcome, MechanismError> {
    let stated: PackedShare = flags.value(SHARE.name)?.unwrap_or_default();
    let share = match stated {
        PackedShare::Dominant => Share::Dominant,
        PackedShare::TaskShare => Share::TaskShare,
    };
    let optimum = optimum(problem, share)?;
    let allocation = Allocation {
        mechanism: Some(PACKINGS.info.id.to_owned()),
        rule: (stated == PackedShare::TaskShare).then(|| stated.name().to_owned()),
        arithmetic: Arithmetic::Exact,
        tasks: tasks(problem, &optimum.schedule),
        ..Allocation::default()
    };
    let PackingsOptimum { schedule, rounds, programmes, pivots, .. } = optimum;
    let findings = Findings { schedule: Some(schedule), ..Findings::default() };
    Ok(Outcome { rounds, programmes, pivots, findings, ..Outcome::of(allocation) })
}

/// Computes the optimal totals, a schedule that attains them, and the proofs of the levels.
///
/// # Errors
/// Returns a [`MechanismError`] if packings or the share are not defined for the problem, or if a search
/// would exceed its limits.
pub fn optimum(problem: &Problem, share: Share) -> Result<PackingsOptimum, MechanismError> {
    let mechanism = PACKINGS.info.id;
    let not_applicable = |why: String| MechanismError::NotApplicable { mechanism, why };
    are_defined(problem).map_err(|why| not_applicable(why.to_string()))?;
    let coefficients = share.coefficients(problem).map_err(|error| not_applicable(error.to_string()))?;
    let of_user = |n: usize| {
        let of_task = coefficients.uniform(n).cloned().unwrap_or_default();
        of_task / problem.users()[n].weight()
    };
    let shares: Vec<Rational> = (0..problem.n_users()).map(of_user).collect();
    solve(problem, &shares, &SearchLimits::default()).map_err(|error| match error {
        PackingError::Lp(error) => MechanismError::Solver { mechanism, source: error.into() },
        error => MechanismError::Limit { mechanism, why: error.to_string() },
    })
}

/// Computes the optimum as evidence of the axiom `max-min-packings`.
///
/// # Errors
/// Returns a [`MechanismError`] in the same cases as [`optimum`].
pub fn evidence(problem: &Problem, share: Share) -> Result<Evidence, MechanismError> {
    let PackingsOptimum { schedule, levels, .. } = optimum(problem, share)?;
    Ok(Evidence::Packings { schedule, levels })
}
