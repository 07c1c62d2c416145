//! Certificates of verdicts and of moves, as texts. Each certificate is a bundle of ordinary certificates, together
//! with the numbers that follow from them (docs/formats.md, "Certificates of a running cluster").

use std::collections::BTreeMap;

use evenhand_exact::{Axiom, Certificate, Claim, Instance};
use evenhand_problem::format::problem_sha256;
use evenhand_problem::snapshot::{Constraint, Origin};
use evenhand_problem::{Allocation, Problem, Rational, Sharing};
use serde_json::{Map, Value, json};

use crate::due::Proof;
use crate::error::ClusterError;
use crate::moves::{Move, Moves, Tasks};
use crate::servers::Place;
use crate::verdict::{Fit, Row, Verdict};

/// Returns the certificate of a verdict. `sources` are the files from which the snapshot was made.
///
/// # Errors
/// [`ClusterError::NotCertified`] if the fair shares have no certificate.
pub fn of_verdict(verdict: &Verdict, sources: &[Origin]) -> Result<String, ClusterError> {
    bundle(verdict, sources, "verdict-certificate", None)
}

/// Returns the certificate of moves. It includes the certificate of the verdict before the moves. That verdict must
/// have the tolerance 0.
///
/// # Errors
/// The errors of [`of_verdict`]. Also fails if the axioms of the allocation after the moves cannot be judged.
pub fn of_moves(verdict: &Verdict, moves: &Moves, sources: &[Origin]) -> Result<String, ClusterError> {
    with_moves(verdict, moves, sources, "")
}

/// Returns the certificate of moves. `more` is the text of additional fields.
fn with_moves(
    verdict: &Verdict,
    moves: &Moves,
    sources: &[Origin],
    more: &str,
) -> Result<String, ClusterError> {
    let names = Names { problem: &verdict.problem };
    let steps: Vec<Value> = moves.list.iter().map(|step| names.step(step)).collect();
    let after = usage_certificate(&verdict.problem, &moves.after)?.to_json();
    let below: Vec<&str> = moves.below[1].iter().map(|v| verdict.queues[*v].queue.name.as_str()).collect();
    let lines: Vec<String> = steps.iter().map(|step| format!("\n{step}")).collect();
    let text = format!(
        "{{{more}\"least\": {}, \"short\": {},\n\"steps\": [{}],\n\"after\": {}}}",
        json!(moves.least.to_string()),
        json!(below),
        lines.join(","),
        after.trim_end()
    );
    bundle(verdict, sources, "moves-certificate", Some(&text))
}

/// Returns the certificate of migrations for a job. It is a certificate of moves with the field `for`. `moves` are the
/// steps of the plan, and `least` is the lower bound on migrated tasks that the kernel recomputes.
///
/// # Errors
/// The errors of [`of_moves`].
pub fn of_migrations(
    verdict: &Verdict,
    moves: &Moves,
    job: usize,
    least: u64,
    sources: &[Origin],
) -> Result<String, ClusterError> {
    let of = json!({"user": verdict.problem.users()[job].name(), "least": least.to_string()});
    with_moves(verdict, moves, sources, &format!("\"for\": {of},\n"))
}

/// Returns the certificate of a verdict. It has the field `moves` if `moves` are given. `kind` is the value of the
/// field `kind`.
fn bundle(
    verdict: &Verdict,
    sources: &[Origin],
    kind: &str,
    moves: Option<&str>,
) -> Result<String, ClusterError> {
    let due = match &verdict.due.proof {
        Proof::Tree(certificate) => certificate.to_json(),
        Proof::Alone(rule) => json!({"rule": rule.name()}).to_string(),
        Proof::Uncertified(why) => {
            let rule = verdict.rule.map_or("tree", evenhand_mechanisms::tree::Rule::name);
            return Err(ClusterError::NotCertified(rule, why));
        }
    };
    let names = Names { problem: &verdict.problem };
    let rows: Vec<String> = verdict.queues.iter().map(|row| format!("\n{}", names.row(row))).collect();
    let fits = verdict.starts.as_ref().map_or_else(String::new, |starts| {
        let fits: Vec<String> = starts
            .could
            .iter()
            .filter(|fit| !fit.is_beyond_rounding)
            .map(|fit| format!("\n{}", names.fit(fit)))
            .collect();
        format!(",\n\"fits\": [{}]", fits.join(","))
    });
    let constraints: Vec<String> =
        verdict.rules.stated().map(|of| format!("\n{}", names.constraint(of))).collect();
    let constraints = match constraints.len() {
        0 => String::new(),
        _ => format!(",\n\"constraints\": [{}]", constraints.join(",")),
    };
    let closed = (0..verdict.problem.n_servers()).filter(|i| verdict.rules.is_closed(*i));
    let closed: Vec<&str> = closed.map(|i| verdict.problem.servers()[i].name()).collect();
    let closed = match closed.len() {
        0 => String::new(),
        _ => format!(",\n\"closed\": {}", json!(closed)),
    };
    let rounded = if verdict.is_rounded { ",\n\"rounded\": true" } else { "" };
    let sources: Vec<Value> = sources.iter().filter(|of| !of.sha256.is_empty()).map(source).collect();
    let sources = match sources.len() {
        0 => String::new(),
        _ => format!(",\n\"sources\": {}", Value::Array(sources)),
    };
    let moves = moves.map_or_else(String::new, |moves| format!(",\n\"moves\": {moves}"));
    Ok(format!(
        "{{\"kind\": {}, \"version\": 1, \"tolerance\": {},\n\"held\": {},\n\"due\": {},\n\"queues\": [{}]{constraints}{closed}{rounded}{sources}{fits}{moves}}}\n",
        json!(kind),
        json!(verdict.tolerance.to_string()),
        verdict.held.certificate.to_json().trim_end(),
        due.trim_end(),
        rows.join(","),
    ))
}

fn source(origin: &Origin) -> Value {
    json!({"file": origin.file, "sha256": origin.sha256})
}

/// Returns the certificate of an allocation on single servers. It says whether the allocation is feasible,
/// work-conserving, and within limits and guarantees. The certificate of an infeasible allocation claims only
/// that it is infeasible.
fn usage_certificate(problem: &Problem, allocation: &Allocation) -> Result<Certificate, ClusterError> {
    let (instance, zero) = (Instance::new(problem, allocation)?, Rational::new());
    let mut axioms = vec![Axiom::Feasible, Axiom::IntegerFeasible, Axiom::WorkConserving];
    if !problem.groups().list().is_empty() {
        axioms.extend([Axiom::Limits, Axiom::Guarantees]);
    }
    let claims = axioms.into_iter().map(|axiom| Claim::derive(axiom, &instance, &zero));
    let mut claims: Vec<Claim> = claims.collect::<Result<_, _>>()?;
    let is_infeasible =
        claims.iter().any(|claim| claim.axiom == Axiom::Feasible && claim.holds == Some(false));
    claims.retain(|claim| !is_infeasible || matches!(claim.axiom, Axiom::Feasible | Axiom::IntegerFeasible));
    Ok(Certificate {
        claims,
        problem: problem.clone(),
        allocation: allocation.clone(),
        problem_sha256: Some(problem_sha256(problem)),
        tolerance: zero,
        not_checked: Vec::new(),
    })
}

/// Checks a certificate of this crate with the kernel. Returns `None` if the kernel accepts the certificate,
/// and the reason if the certificate is too large for the kernel.
///
/// # Errors
/// [`ClusterError::Refused`] if the kernel refuses the certificate.
pub fn self_test(text: &str) -> Result<Option<String>, ClusterError> {
    let verdict = evenhand_exact::check_text(text, Some(Sharing::Rdm));
    match verdict.reason {
        Some(reason) if !verdict.too_large => Err(ClusterError::Refused(reason)),
        too_large => Ok(too_large),
    }
}

/// Writes indices of users, servers and resources as their names in a problem.
struct Names<'n> {
    problem: &'n Problem,
}

impl Names<'_> {
    fn user(&self, n: usize) -> &str {
        self.problem.users()[n].name()
    }

    fn amounts(&self, amounts: &[Rational]) -> Value {
        let named = self.problem.resources().iter().zip(amounts).filter(|(_, amount)| !amount.is_zero());
        Value::Object(named.map(|(r, amount)| (r.clone(), json!(amount.to_string()))).collect())
    }

    fn row(&self, row: &Row) -> Value {
        let mut fields = Map::new();
        fields.insert("name".to_owned(), json!(row.queue.name));
        let amounts =
            [("held", &row.usage), ("due", &row.fair_share), ("short", &row.lacking), ("above", &row.over)];
        for (name, amounts) in amounts {
            fields.insert(name.to_owned(), self.amounts(amounts));
        }
        if let Some(n) = row.by {
            fields.insert("by".to_owned(), json!(self.user(n)));
        }
        Value::Object(fields)
    }

    fn tasks(&self, n: usize, tasks: &Tasks) -> Value {
        let place = |(place, count): (&Place, &u64)| {
            let server = self.problem.servers()[place.class].name();
            json!({"server": server, "index": place.index, "tasks": count})
        };
        json!({"user": self.user(n), "places": tasks.iter().map(place).collect::<Vec<_>>()})
    }

    fn fit(&self, fit: &Fit) -> Value {
        let mut start: BTreeMap<usize, Tasks> = BTreeMap::new();
        for (n, places) in &fit.assignment.parts {
            let tasks = start.entry(*n).or_default();
            places.iter().for_each(|place| *tasks.entry(*place).or_default() += 1);
        }
        self.start(&start)
    }

    /// Returns a start as JSON: an object for one gang, a list of objects for gangs that start together.
    fn start(&self, start: &BTreeMap<usize, Tasks>) -> Value {
        let mut gangs: Vec<Value> = start.iter().map(|(n, tasks)| self.tasks(*n, tasks)).collect();
        if gangs.len() == 1 { gangs.remove(0) } else { Value::Array(gangs) }
    }

    fn step(&self, step: &Move) -> Value {
        let stop: Vec<Value> = step.stop.iter().map(|(n, tasks)| self.tasks(*n, tasks)).collect();
        json!({"start": self.start(&step.start), "stop": stop})
    }

    /// Returns a constraint in the format of a snapshot.
    fn constraint(&self, constraint: &Constraint) -> Value {
        let mut fields = Map::new();
        fields.insert("user".to_owned(), json!(self.user(constraint.user)));
        if constraint.priority != 0 {
            fields.insert("priority".to_owned(), json!(constraint.priority));
        }
        let flags = [("protected", constraint.protected), ("distinct_servers", constraint.distinct_servers)];
        for (name, is_set) in flags {
            if is_set {
                fields.insert(name.to_owned(), json!(true));
            }
        }
        if !constraint.class_sets.is_empty() {
            let server = |i: &usize| self.problem.servers()[*i].name();
            let sets: Vec<Vec<&str>> =
                constraint.class_sets.iter().map(|set| set.iter().map(server).collect()).collect();
            fields.insert("class_sets".to_owned(), json!(sets));
        }
        if !constraint.together.is_empty() {
            fields.insert("together".to_owned(), json!(constraint.together));
        }
        if !constraint.not_modelled.is_empty() {
            fields.insert("not_modelled".to_owned(), json!(constraint.not_modelled));
        }
        if constraint.admitted > 0 {
            fields.insert("admitted".to_owned(), json!(constraint.admitted.to_string()));
        }
        Value::Object(fields)
    }
}
