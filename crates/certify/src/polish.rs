//! The exact answer of a mechanism that is nearest to a given allocation. The difference shows how far rounding, or
//! another rule, has changed the allocation.

use evenhand_exact::{Axiom, Share};
use evenhand_levels::nearest::nearest;
use evenhand_mechanisms::{Flags, Mechanism, MechanismError, Status};
use evenhand_problem::{Allocation, Constraints, Problem, Rational};

/// An exact answer, compared with a given allocation.
#[derive(Debug, Clone)]
pub struct Polished {
    /// The name of the mechanism.
    pub mechanism: &'static str,
    /// The exact answer of the mechanism.
    pub allocation: Allocation,
    /// True if no other answer of the mechanism is nearer. If false, the mechanism may have other answers, and this
    /// answer is the one that it computes.
    pub is_nearest: bool,
    /// An upper bound on the distance from the optimum. `None` unless the optimum is irrational, so that the answer is
    /// not exact.
    pub gap: Option<Rational>,
    /// The status of the mechanism. If it reached a limit, the answer is its last point.
    pub status: Option<Status>,
    /// Each user's tasks in the answer minus its tasks in the given allocation.
    pub changes: Vec<Rational>,
    /// The user whose tasks change most, and the change as a fraction of the user's solo tasks.
    /// `None` if no tasks change.
    pub farthest: Option<(usize, Rational)>,
    /// The largest change of a user's tasks on one class, as a fraction of the user's solo tasks.
    pub placements: Rational,
}

/// Returns the exact answer of a mechanism. Among the answers with the same totals, the placements of this answer are
/// nearest to `given`: the sum of all changes, as fractions of each user's solo tasks, is least.
///
/// Some mechanisms determine only totals: max-min with the same share on all classes, and proportional fairness, both
/// without groups. Their answers are exactly the allocations with these totals, so no answer is nearer.
///
/// # Errors
/// The [`MechanismError`] of the mechanism.
pub fn polish(
    problem: &Problem,
    given: &Allocation,
    mechanism: &'static Mechanism,
    flags: &Flags,
) -> Result<Polished, MechanismError> {
    let outcome = mechanism.allocate_with(problem, flags)?;
    let mut allocation = outcome.allocation;
    // `g_n` (docs/theory.md, section 1): the user's solo tasks.
    let alone = |n: usize| -> Rational {
        let all: Rational = problem.classes_of(n).map(|i| problem.unconstrained_gamma(n, i)).sum();
        problem.users()[n].tasks().cloned().into_iter().fold(all, Rational::min)
    };
    let alone: Vec<Rational> = (0..problem.n_users()).map(alone).collect();
    let findings = outcome.findings;
    let gap = findings.gap.filter(|gap| !gap.is_zero());
    let mut is_nearest = false;
    if is_about_totals(problem, mechanism, &allocation) {
        let constraints = Constraints::new(problem, allocation.sharing);
        // If HiGHS fails, the answer of the mechanism is kept.
        if let Ok(tasks) = nearest(&constraints, &allocation.tasks, &given.tasks, &alone) {
            allocation.tasks = tasks;
            // An irrational optimum is only approximated, so there is no nearest answer.
            is_nearest = gap.is_none() && matches!(findings.status, None | Some(Status::Solved));
        }
    }
    let change = |n: usize| allocation.total(n) - given.total(n);
    let changes: Vec<Rational> = (0..problem.n_users()).map(change).collect();
    let part = |n: usize, change: &Rational| {
        let part = || Rational::from(change.abs_ref()) / &alone[n];
        if alone[n].is_zero() { Rational::new() } else { part() }
    };
    let parts = changes.iter().enumerate().map(|(n, change)| (n, part(n, change)));
    let farthest = parts.filter(|(_, part)| !part.is_zero()).max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)));
    let mut placements = Rational::new();
    for n in 0..problem.n_users() {
        // Both lists are short: they contain only the classes on which the user has tasks.
        let on = |of: &Allocation, i: usize| -> Rational {
            of.tasks[n].iter().find(|(class, _)| *class == i).map(|(_, x)| x.clone()).unwrap_or_default()
        };
        for (i, _) in allocation.tasks[n].iter().chain(&given.tasks[n]) {
            let moved = part(n, &(on(&allocation, *i) - on(given, *i)));
            placements = placements.max(moved);
        }
    }
    let (mechanism, status) = (mechanism.info.id, findings.status);
    Ok(Polished { mechanism, allocation, is_nearest, gap, status, changes, farthest, placements })
}

/// Returns true if every feasible allocation with the same totals is also an answer of the mechanism.
fn is_about_totals(problem: &Problem, mechanism: &Mechanism, answer: &Allocation) -> bool {
    if !problem.groups().list().is_empty() || answer.placements.is_some() {
        return false;
    }
    let is_uniform = |share: &Share| {
        let coefficients = share.coefficients(problem).ok();
        coefficients.is_some_and(|coefficients| {
            let mut active = (0..problem.n_users()).filter(|&n| problem.is_active(n));
            active.all(|n| coefficients.uniform(n).is_some())
        })
    };
    match (mechanism.axiom)(answer) {
        Some((Axiom::MaxMin, parameters)) => parameters.share.as_ref().is_some_and(is_uniform),
        Some((Axiom::Proportional, _)) => !answer.criterion,
        _ => false,
    }
}
