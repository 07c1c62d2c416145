//! The fair share of every queue, by hierarchical filling (docs/groups.md) or by the formula of a scheduler.

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
    /// The fair shares, by queue and resource.
    pub amounts: Vec<Vector>,
    /// The tasks whose usage is the fair shares. `None` if the rule divides each resource separately.
    pub tasks: Option<Allocation>,
    /// The evidence for the amounts.
    pub proof: Proof,
}

/// The evidence for fair shares.
#[derive(Debug, Clone)]
pub enum Proof {
    /// A certificate of the axiom `tree`.
    Tree(Box<Certificate>),
    /// No certificate is needed. The kernel computes the amounts of this rule itself, separately for each
    /// resource.
    Alone(Rule),
    /// There is no evidence, for this reason.
    Uncertified(&'static str),
}

/// Returns the problem with the share of a rule instead of its own share. Returns `None` if the two shares are equal.
///
/// # Errors
/// Never, for a problem that was read from a file.
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
    /// Computes the fair shares by the problem's own share, or by a rule. If the rule is a share, the problem must already have
    /// this share ([`by_rule`]).
    ///
    /// # Errors
    /// [`ClusterError`] if the filling is not defined for the problem, or needs too much time or memory.
    pub fn new(queues: &Queues<'_>, rule: Option<Rule>) -> Result<Self, ClusterError> {
        let problem = queues.problem;
        let settings = Settings { rule, ..Settings::default() };
        if let (Some(entitlements), Some(rule)) = (tree::entitlements(problem, &settings)?, rule) {
            let proof = proof_by_resource(problem, rule, &entitlements);
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

    /// Returns the certificate of the axiom `tree`, if there is one.
    #[must_use]
    pub fn certificate(&self) -> Option<&Certificate> {
        if let Proof::Tree(certificate) = &self.proof { Some(certificate) } else { None }
    }

    /// Returns the reason if the fair shares have no evidence.
    #[must_use]
    pub fn uncertified(&self) -> Option<&'static str> {
        if let Proof::Uncertified(why) = &self.proof { Some(why) } else { None }
    }
}

/// Fair shares without evidence, which take less time than [`Due::new`].
pub(crate) struct Unproven {
    /// The fair shares, by queue and resource.
    pub amounts: Vec<Vector>,
    /// The tasks whose usage is the fair shares. `None` if the rule divides each resource separately.
    pub tasks: Option<Allocation>,
}

impl Unproven {
    /// Computes the same fair shares as [`Due::new`].
    ///
    /// # Errors
    /// The errors of [`Due::new`].
    pub fn new(queues: &Queues<'_>, rule: Option<Rule>) -> Result<Self, ClusterError> {
        let settings = Settings { rule, ..Settings::default() };
        if let Some(entitlements) = tree::entitlements(queues.problem, &settings)? {
            return Ok(Self { amounts: amounts(queues, &entitlements), tasks: None });
        }
        let Evidence::Filling { tasks, .. } = tree::filling(queues.problem)? else {
            return Err(ClusterError::Change("the filling has no tasks".to_owned()));
        };
        let allocation = Allocation { tasks, ..Allocation::default() };
        Ok(Self { amounts: queues.held(&allocation.totals()), tasks: Some(allocation) })
    }
}

/// Returns the evidence for amounts of a rule that divides each resource separately. The kernel requires the conditions
/// that are checked here: the amounts of the children of a queue add up to the amount of the queue, and the amounts of
/// the outermost queues add up to at most the capacity.
fn proof_by_resource(problem: &Problem, rule: Rule, entitlements: &Entitlements) -> Proof {
    if rule == Rule::KaiSoleQueue {
        return Proof::Uncertified("the only queue of a priority may get more than its tasks demand");
    }
    let groups = problem.groups();
    let mut left = entitlements.groups.clone();
    // The root is the last entry of `left`.
    left.push(problem.total_capacity().to_vec());
    let root = groups.list().len();
    let of_groups = groups.list().iter().map(|group| group.parent).zip(&entitlements.groups);
    let users = entitlements.users.iter().enumerate();
    let of_users = users.filter_map(|(n, amounts)| Some((groups.member(n).group, amounts.as_ref()?)));
    for (parent, amounts) in of_groups.chain(of_users) {
        let left = &mut left[parent.unwrap_or(root)];
        left.iter_mut().zip(amounts).for_each(|(left, amount)| *left -= amount);
    }
    if left.iter().flatten().any(|left| *left < 0) {
        return Proof::Uncertified(
            "the guarantees exceed the capacity, and the rule gives every queue its whole guarantee",
        );
    }
    let mut parents = groups.list().iter().filter_map(|group| group.parent);
    if parents.any(|v| left[v].iter().any(|left| *left > 0)) {
        return Proof::Uncertified(
            "the fair share of a queue is larger than the sum of its subqueues, some of which have the weight 0",
        );
    }
    Proof::Alone(rule)
}

/// Returns the certificate of the tasks of the filling. It claims that the tasks are the result of the filling, that
/// they are feasible and within all limits, and whether they meet all guarantees.
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

/// Returns the amounts to which queues are entitled, by queue.
fn amounts(queues: &Queues<'_>, entitlements: &Entitlements) -> Vec<Vector> {
    let nothing = || vec![Rational::new(); queues.problem.n_resources()];
    let of_queue = |kind: Kind| match kind {
        Kind::Group(v) => entitlements.groups[v].clone(),
        Kind::User(n) => entitlements.users[n].clone().unwrap_or_else(nothing),
    };
    queues.list.iter().map(|queue| of_queue(queue.kind)).collect()
}
