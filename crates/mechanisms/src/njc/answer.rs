//! The outcome of NJC for given numbers of tasks: an exact outcome that an exact check accepts, or an outcome in
//! doubles.

use evenhand_exact::Instance;
use evenhand_exact::axiom::feasible;
use evenhand_exact::axiom::njc::examine;
use evenhand_levels::njc::{Tasks, entitlements};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Problem, Rational, Row};

use super::face::faces_near;
use crate::fair_sum::FairPoint;
use crate::fair_sum::answer::in_doubles;
use crate::mechanism::{Findings, Info, Outcome};
use crate::proportional;

pub static INFO: Info = Info {
    id: "njc",
    aliases: &[],
    title: "No Justified Complaints",
    equalises: "no share; every user has all its tasks or its entitlement of a saturated resource",
    guarantees: "Pareto optimal on one pool; sharing incentive on one pool",
    reference: "NJC, sections 3 to 5; on clusters: theory, section 3",
};

/// Returns an allocation of NJC with these tasks.
pub fn allocation(tasks: Tasks, arithmetic: Arithmetic) -> Allocation {
    Allocation { mechanism: Some(INFO.id.to_owned()), arithmetic, tasks, ..Allocation::default() }
}

/// Returns the exact outcome with these tasks if the exact check finds them feasible and no complaint justified.
pub fn accept(problem: &Problem, tasks: Tasks) -> Option<Outcome> {
    let allocation = allocation(tasks, Arithmetic::Exact);
    let instance = Instance::new(problem, &allocation).ok()?;
    let is_feasible = feasible::tightest(&instance).is_none_or(|(_, margin)| margin >= 0);
    let complaints = examine(&instance);
    if !is_feasible || complaints.as_ref().is_some_and(|found| found.margin < 0) {
        return None;
    }
    let witnesses = complaints.map_or_else(|| vec![None; problem.n_users()], |found| found.witnesses);
    let bottlenecks = Some(saturated(&instance, &Rational::new()));
    let findings = Findings { bottlenecks, witnesses: Some(witnesses), ..Findings::default() };
    Some(Outcome { findings, ..Outcome::of(allocation) })
}

/// Returns the outcome in doubles at `point`, with the bottlenecks and witnesses of a face near it.
pub fn in_floating_point(constraints: &Constraints<'_>, point: &FairPoint) -> Outcome {
    let problem = constraints.problem();
    let mut outcome = in_doubles(constraints, point, |tasks| {
        let allocation = allocation(tasks, Arithmetic::Float);
        let findings = proportional::findings(problem, &allocation, &Rational::from(1), None, point);
        Outcome { findings, ..Outcome::of(allocation) }
    });
    let face = faces_near(constraints, point, &entitlements(constraints)).next();
    outcome.findings.bottlenecks = face.as_ref().map(|face| face.bottlenecks.clone());
    outcome.findings.witnesses = face.map(|face| face.witnesses);
    outcome
}

/// Returns the rows of which at most the fraction `free_fraction` is free, in ascending order.
pub fn saturated(instance: &Instance<'_>, free_fraction: &Rational) -> Vec<usize> {
    let rows = instance.constraints().rows().iter().enumerate();
    let is_saturated = |(index, row): &(usize, &Row)| {
        !row.capacity.is_zero() && instance.slack(*index) <= Rational::from(&row.capacity * free_fraction)
    };
    rows.filter(is_saturated).map(|(index, _)| index).collect()
}
