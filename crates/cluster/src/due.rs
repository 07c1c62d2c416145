//! What every queue is due: what hierarchical filling ends with, or what a scheduler's own formula says.

use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Instance};
use evenhand_mechanisms::tree::{self, Entitlements, Rule, Settings};
use evenhand_problem::format::{Source, problem_sha256, problem_to_json};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use serde_json::{Value, json};

use crate::error::ClusterError;
use crate::queues::{Kind, Queues, Vector};

/// What queues are due.
#[derive(Debug, Clone)]
pub struct Due {
    /// By queue and resource.
    pub amounts: Vec<Vector>,
    /// The tasks that come to that; absent where the rule divides every resource alone.
    pub tasks: Option<Allocation>,
    /// What proves it; absent where the kernel does not know the rule.
    pub certificate: Option<Certificate>,
}

/// The problem with the share of a rule in place of its own, where that is another share.
///
/// # Errors
/// None that a problem can meet.
pub fn by_rule(problem: &Problem, rule: Option<Rule>) -> Result<Option<Problem>, ClusterError> {
    let stated = problem.groups().share();
    let Some(share) = rule.and_then(|rule| rule.share_alone(stated)).filter(|share| share != stated) else {
        return Ok(None);
    };
    let text = problem_to_json(problem);
    let mut document: Value =
        serde_json::from_str(&text).map_err(|error| ClusterError::Change(error.to_string()))?;
    let multipliers: serde_json::Map<String, Value> = share
        .multipliers
        .iter()
        .map(|(r, m)| (problem.resources()[*r].clone(), json!(m.to_string())))
        .collect();
    document["share"] = json!({
        "of": share.of.name(), "over": share.over.name(), "zero-weight": share.zero_weight.name(),
        "families": share.families, "multipliers": multipliers,
    });
    let text = document.to_string();
    let read = Source { name: "the problem", text: &text }.problem();
    read.map(Some).map_err(|error| ClusterError::Change(error.to_string()))
}

impl Due {
    /// By the problem's own share, or by a rule. Of a rule that is a share the problem has to have that ([`by_rule`]).
    ///
    /// # Errors
    /// [`ClusterError`]: the filling is not defined for the problem, or takes too much.
    pub fn new(queues: &Queues<'_>, rule: Option<Rule>) -> Result<Self, ClusterError> {
        let problem = queues.problem;
        let settings = Settings { rule, ..Settings::default() };
        if let Some(entitlements) = tree::entitlements(problem, &settings)? {
            return Ok(Self { amounts: amounts(queues, &entitlements), tasks: None, certificate: None });
        }
        if rule.is_some_and(|rule| rule.share_alone(problem.groups().share()).is_none()) {
            let allocation = tree::allocate(problem, &settings)?.allocation;
            let amounts = queues.held(&allocation.totals());
            return Ok(Self { amounts, tasks: Some(allocation), certificate: None });
        }
        let evidence = tree::filling(problem)?;
        let Evidence::Filling { tasks, .. } = &evidence else {
            return Err(ClusterError::Change("the filling has no tasks".to_owned()));
        };
        let allocation = Allocation {
            mechanism: Some("tree".to_owned()),
            arithmetic: Arithmetic::Exact,
            tasks: tasks.clone(),
            ..Allocation::default()
        };
        let certificate = certificate(problem, &allocation, evidence)?;
        let amounts = queues.held(&allocation.totals());
        Ok(Self { amounts, tasks: Some(allocation), certificate: Some(certificate) })
    }
}

/// That these tasks are those of the filling, feasible, within all limits, and whether they are all that is promised.
fn certificate(
    problem: &Problem,
    allocation: &Allocation,
    evidence: Evidence,
) -> Result<Certificate, ClusterError> {
    let (instance, zero) = (Instance::new(problem, allocation)?, Rational::new());
    let mut axioms = vec![Axiom::Feasible];
    if !problem.groups().list().is_empty() {
        axioms.extend([Axiom::Limits, Axiom::Guarantees]);
    }
    let derived = axioms.into_iter().map(|axiom| Claim::derive(axiom, &instance, &zero));
    let mut claims = derived.collect::<Result<Vec<Claim>, _>>()?;
    claims.push(Claim::with_evidence(Axiom::Tree, None, evidence, &instance, &zero)?);
    Ok(Certificate {
        problem: problem.clone(),
        allocation: allocation.clone(),
        problem_sha256: Some(problem_sha256(problem)),
        tolerance: zero,
        claims,
        not_checked: Vec::new(),
    })
}

fn amounts(queues: &Queues<'_>, entitlements: &Entitlements) -> Vec<Vector> {
    let nothing = || vec![Rational::new(); queues.problem.n_resources()];
    let of_queue = |kind: Kind| match kind {
        Kind::Group(v) => entitlements.groups[v].clone(),
        Kind::User(n) => entitlements.users[n].clone().unwrap_or_else(nothing),
    };
    queues.list.iter().map(|queue| of_queue(queue.kind)).collect()
}
