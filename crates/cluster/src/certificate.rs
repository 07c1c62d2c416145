//! Certificates of verdicts and of moves, as texts: bundles of ordinary certificates, and the numbers that follow from these
//! (docs/formats.md).

use std::collections::BTreeMap;

use evenhand_exact::{Axiom, Certificate, Claim, Instance};
use evenhand_problem::format::problem_sha256;
use evenhand_problem::{Allocation, Problem, Rational, Sharing};
use serde_json::{Map, Value, json};

use crate::due::Proof;
use crate::error::ClusterError;
use crate::fits::Fit;
use crate::moves::{Move, Moves, Tasks};
use crate::servers::Place;
use crate::verdict::{Row, Verdict};

/// The certificate of a verdict.
///
/// # Errors
/// [`ClusterError::NotCertified`] where what is due is not certified.
pub fn of_verdict(verdict: &Verdict) -> Result<String, ClusterError> {
    bundle(verdict, "verdict-certificate", None)
}

/// The certificate of moves that follow on a verdict without tolerance.
///
/// # Errors
/// As [`of_verdict`]; and where what is held after the moves cannot be examined.
pub fn of_moves(verdict: &Verdict, moves: &Moves) -> Result<String, ClusterError> {
    let names = Names { problem: &verdict.problem };
    let steps: Vec<Value> = moves.list.iter().map(|step| names.step(step)).collect();
    let after = held(&verdict.problem, &moves.after)?.to_json();
    let short: Vec<&str> = moves.short[1].iter().map(|v| verdict.queues[*v].queue.name.as_str()).collect();
    let lines: Vec<String> = steps.iter().map(|step| format!("\n{step}")).collect();
    let text = format!(
        "{{\"least\": {}, \"short\": {},\n\"steps\": [{}],\n\"after\": {}}}",
        json!(moves.least.to_string()),
        json!(short),
        lines.join(","),
        after.trim_end()
    );
    bundle(verdict, "moves-certificate", Some(&text))
}

fn bundle(verdict: &Verdict, kind: &str, moves: Option<&str>) -> Result<String, ClusterError> {
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
    let fits = verdict.fits.as_ref().map_or_else(String::new, |fits| {
        let fits: Vec<String> = fits.iter().map(|fit| format!("\n{}", names.fit(fit))).collect();
        format!(",\n\"fits\": [{}]", fits.join(","))
    });
    let moves = moves.map_or_else(String::new, |moves| format!(",\n\"moves\": {moves}"));
    Ok(format!(
        "{{\"kind\": {}, \"version\": 1, \"tolerance\": {},\n\"held\": {},\n\"due\": {},\n\"queues\": [{}]{fits}{moves}}}\n",
        json!(kind),
        json!(verdict.tolerance.to_string()),
        verdict.held.certificate.to_json().trim_end(),
        due.trim_end(),
        rows.join(","),
    ))
}

/// What is claimed of an allocation on single servers: that it is feasible, and so on.
fn held(problem: &Problem, allocation: &Allocation) -> Result<Certificate, ClusterError> {
    let (instance, zero) = (Instance::new(problem, allocation)?, Rational::new());
    let mut axioms = vec![Axiom::Feasible, Axiom::IntegerFeasible, Axiom::WorkConserving];
    if !problem.groups().list().is_empty() {
        axioms.extend([Axiom::Limits, Axiom::Guarantees]);
    }
    let claims = axioms.into_iter().map(|axiom| Claim::derive(axiom, &instance, &zero));
    Ok(Certificate {
        claims: claims.collect::<Result<_, _>>()?,
        problem: problem.clone(),
        allocation: allocation.clone(),
        problem_sha256: Some(problem_sha256(problem)),
        tolerance: zero,
        not_checked: Vec::new(),
    })
}

/// What the kernel says of a certificate that was made here: why it gave no verdict, if it gave none.
///
/// # Errors
/// [`ClusterError::Refused`] where it says no.
pub fn self_test(text: &str) -> Result<Option<String>, ClusterError> {
    let verdict = evenhand_exact::check_text(text, Some(Sharing::Rdm));
    match verdict.reason {
        Some(reason) if !verdict.too_large => Err(ClusterError::Refused(reason)),
        too_large => Ok(too_large),
    }
}

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
        let amounts = [("held", &row.held), ("due", &row.due), ("short", &row.short), ("above", &row.above)];
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
        let mut tasks: Tasks = BTreeMap::new();
        fit.places.iter().for_each(|place| *tasks.entry(*place).or_default() += 1);
        self.tasks(fit.user, &tasks)
    }

    fn step(&self, step: &Move) -> Value {
        let stop: Vec<Value> = step.stop.iter().map(|(n, tasks)| self.tasks(*n, tasks)).collect();
        json!({"start": self.tasks(step.start.0, &step.start.1), "stop": stop})
    }
}
