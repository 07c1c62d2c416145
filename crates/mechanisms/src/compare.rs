//! Mechanisms side by side on one problem, every verdict with its exact margin.

use evenhand_exact::{Axiom, Claim, Share};
use evenhand_problem::utilisation::by_resource;
use evenhand_problem::{Allocation, Problem, Rational};

use crate::certify::{Request, certify, default_requests};
use crate::mechanism::{Mechanism, MechanismError, OptionName, Options};
use crate::registry;

/// One mechanism's column of the comparison.
#[derive(Debug, Clone)]
pub struct Column {
    /// Name of the mechanism.
    pub name: &'static str,
    /// What it gives, or why it does not.
    pub result: Result<Judged, NoResult>,
}

/// Why a mechanism has no allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoResult {
    /// It is not defined for the problem.
    NotApplicable(String),
    /// A solver failed.
    Failed(String),
}

/// An allocation with everything that is compared.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The allocation, exact.
    pub allocation: Allocation,
    /// By user: tasks.
    pub tasks: Vec<Rational>,
    /// Least dominant share divided by weight over the users that can run; `None` without any.
    pub least_weighted_share: Option<Rational>,
    /// By resource: used part of the whole cluster; `None` where there is none of it.
    pub utilisation: Vec<Option<Rational>>,
    /// Utilitarian optimum divided by `sum_n w_n x_n`; `None` when that is 0.
    pub price_of_fairness: Option<Rational>,
    /// The axioms examined.
    pub claims: Vec<Claim>,
    /// By axiom that could not be decided: why.
    pub undecided: Vec<(Axiom, String)>,
}

/// The axioms that every mechanism of a comparison is held against, its own in addition.
fn requests(allocation: &Allocation) -> Vec<Request> {
    let mut requests = default_requests(allocation);
    let more = [Axiom::BottleneckFair, Axiom::GlobalBottleneckFair, Axiom::SingleResourceFair, Axiom::PsDsf];
    requests.extend(more.map(Request::of));
    if allocation.placements.is_some() {
        requests.extend([Axiom::IntegerFeasible, Axiom::Ef1].map(Request::of));
    }
    requests
}

/// Solves `problem` exactly under every mechanism and examines the results.
///
/// `alpha` is the exponent of alpha fairness, which does not apply without one. `progress` is called with the name of each mechanism before it is run.
pub fn compare(
    problem: &Problem,
    mechanisms: &[&'static dyn Mechanism],
    alpha: Option<&Rational>,
    mut progress: impl FnMut(&'static str),
) -> Vec<Column> {
    let best = utilitarian_value(problem);
    mechanisms
        .iter()
        .map(|mechanism| {
            let name = mechanism.info().id;
            progress(name);
            let takes_alpha = mechanism.options().contains(&OptionName::Alpha);
            let alpha = alpha.filter(|_| takes_alpha).cloned();
            let result = match mechanism.allocate(problem, &Options { alpha, ..Options::exact() }) {
                Ok(outcome) => judge(problem, outcome.allocation, best.as_ref()),
                Err(MechanismError::NotApplicable { why, .. }) => Err(NoResult::NotApplicable(why)),
                Err(error @ MechanismError::NeedsOption { .. }) => {
                    Err(NoResult::NotApplicable(error.to_string()))
                }
                Err(error) => Err(NoResult::Failed(error.to_string())),
            };
            Column { name, result }
        })
        .collect()
}

fn judge(problem: &Problem, allocation: Allocation, best: Option<&Rational>) -> Result<Judged, NoResult> {
    let examination = certify(problem, &allocation, &requests(&allocation), &Rational::new())
        .map_err(|error| NoResult::Failed(error.to_string()))?;
    let tasks = allocation.totals();
    let value = weighted_tasks(problem, &tasks);
    let price_of_fairness = best.filter(|_| !value.is_zero()).map(|best| Rational::from(best / &value));
    Ok(Judged {
        least_weighted_share: least_weighted_share(problem, &tasks),
        utilisation: by_resource(problem, &allocation),
        price_of_fairness,
        claims: examination.certificate.claims,
        undecided: examination.undecided,
        tasks,
        allocation,
    })
}

fn utilitarian_value(problem: &Problem) -> Option<Rational> {
    let outcome = registry::find("utilitarian")?.allocate(problem, &Options::exact()).ok()?;
    Some(weighted_tasks(problem, &outcome.allocation.totals()))
}

fn weighted_tasks(problem: &Problem, tasks: &[Rational]) -> Rational {
    problem.users().iter().zip(tasks).map(|(user, x)| Rational::from(user.weight() * x)).sum()
}

fn least_weighted_share(problem: &Problem, tasks: &[Rational]) -> Option<Rational> {
    let u = Share::Dominant.coefficients(problem).ok()?;
    (0..tasks.len())
        .filter(|&n| problem.is_active(n))
        .filter_map(|n| Some(Rational::from(&tasks[n] * u.uniform(n)?) / problem.users()[n].weight()))
        .min()
}
