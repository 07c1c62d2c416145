//! The fair share of every queue: the end of hierarchical filling, or the result of a scheduler's own formula.

use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Instance};
use evenhand_mechanisms::tree::{self, Entitlements, Rule, Settings};
use evenhand_problem::format::{Source, problem_sha256, problem_to_json};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use serde_json::{Value, json};

use crate::error::ClusterError;
use crate::queues::{Kind, Queues, Vector};

/// The fair shares of queues.
#[derive(Debug, Clone)]
pub struct Due {
    /// By queue and resource.
    pub amounts: Vec<Vector>,
    /// The tasks that come to that; absent where the rule divides every resource alone.
    pub tasks: Option<Allocation>,
    /// The evidence.
    pub proof: Proof,
}

/// The evidence for fair shares.
#[derive(Debug, Clone)]
pub enum Proof {
    /// A certificate of the axiom `tree`.
    Tree(Box<Certificate>),
    /// The kernel computes the amounts of this rule, resource by resource, from its definition.
    Alone(Rule),
    /// Nothing, and why.
    Uncertified(&'static str),
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
        "families": share.families, "multipliers": multipliers, "guarantees": share.guarantees.name(),
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
        if let (Some(entitlements), Some(rule)) = (tree::entitlements(problem, &settings)?, rule) {
            let proof = alone(problem, rule, &entitlements);
            return Ok(Self { amounts: amounts(queues, &entitlements), tasks: None, proof });
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
        let proof = Proof::Tree(Box::new(certificate(problem, &allocation, evidence)?));
        let amounts = queues.held(&allocation.totals());
        Ok(Self { amounts, tasks: Some(allocation), proof })
    }

    /// The certificate of the axiom `tree`, where there is one.
    #[must_use]
    pub fn certificate(&self) -> Option<&Certificate> {
        if let Proof::Tree(certificate) = &self.proof { Some(certificate) } else { None }
    }

    /// Why what is due has no proof, where it has none.
    #[must_use]
    pub fn uncertified(&self) -> Option<&'static str> {
        if let Proof::Uncertified(why) = &self.proof { Some(why) } else { None }
    }
}

/// Returns the proof of amounts by a rule that divides every resource alone. The kernel asks for the same conditions: the
/// queues in a queue have together what it has, and the queues of the root no more than there is.
fn alone(problem: &Problem, rule: Rule, entitlements: &Entitlements) -> Proof {
    if rule == Rule::KaiSoleQueue {
        return Proof::Uncertified("the only queue of a priority is due more than it asks for");
    }
    let groups = problem.groups();
    let mut left = entitlements.groups.clone();
    // The root comes last.
    left.push(problem.total_capacity().to_vec());
    let root = groups.list().len();
    let of_groups = groups.list().iter().map(|group| group.parent).zip(&entitlements.groups);
    let users = entitlements.users.iter().enumerate();
    let of_users = users.filter_map(|(n, part)| Some((groups.member(n).group, part.as_ref()?)));
    for (parent, part) in of_groups.chain(of_users) {
        let left = &mut left[parent.unwrap_or(root)];
        left.iter_mut().zip(part).for_each(|(left, part)| *left -= part);
    }
    if left.iter().flatten().any(|left| *left < 0) {
        return Proof::Uncertified(
            "guarantees beyond what there is are due in full, and nobody can have that",
        );
    }
    let mut parents = groups.list().iter().filter_map(|group| group.parent);
    if parents.any(|v| left[v].iter().any(|left| *left > 0)) {
        return Proof::Uncertified(
            "a queue is due more than the queues in it, of which some have the weight 0",
        );
    }
    Proof::Alone(rule)
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
