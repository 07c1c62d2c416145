//! The promises to queues next to the existing capacity, as a JSON document.

use evenhand_cluster::promises::{Claims, Shortage};
use evenhand_problem::Rational;
use evenhand_problem::snapshot::Snapshot;
use serde_json::{Value, json};

use super::{document, exact, list};
use crate::promises::{answer, order, reason, title};

/// Returns which promises are in doubt, and the amount on which each queue can rely.
#[must_use]
pub fn promises(snapshot: &Snapshot, claims: &Claims) -> Value {
    let problem = &snapshot.problem;
    let groups = problem.groups().list();
    let resources = list(&claims.resources, |of| {
        let named = |v: usize| groups[v].name.as_str();
        json!({
            "resource": problem.resources()[of.resource],
            "promised": exact(&of.promised),
            "capacity": exact(&of.capacity),
            "together": exact(&of.together),
            "claims": list(&of.claims, |claim| json!({
                "name": title(problem, claim),
                "queue": named(claim.group),
                "beyond_subqueues": claim.is_rest,
                "promised": exact(&claim.amount),
                "certain": exact(&claim.certain),
                "if_all_claim": exact(&claim.by_rule),
                "lacking": exact(&Rational::from(&claim.amount - &claim.by_rule)),
                "in_doubt": claim.is_in_doubt(),
                "priority": groups[claim.group].priority,
                "weight": exact(&groups[claim.group].weight),
            })),
            "reasons": list(&of.shortages, |shortage| {
                let (kind, queue, queues, classes, claimed, there) = match shortage {
                    Shortage::Servers { claims, classes, claimed, capacity, limits } => {
                        let there = limits.iter().map(|(_, most)| most).sum::<Rational>() + capacity;
                        let queues: Vec<&str> = claims.iter().map(|k| named(of.claims[*k].group)).collect();
                        ("servers", None, queues, classes.as_slice(), claimed, there)
                    }
                    Shortage::Limit { group, claimed, most } => {
                        ("limit", Some(named(*group)), Vec::new(), &[][..], claimed, most.clone())
                    }
                    Shortage::Parent { group, claimed, promised } => {
                        ("parent", Some(named(*group)), Vec::new(), &[][..], claimed, promised.clone())
                    }
                };
                json!({
                    "kind": kind,
                    "text": reason(problem, of, shortage),
                    "queue": queue,
                    "queues": queues,
                    "servers": list(classes, |i| problem.servers()[*i].name()),
                    "promised": exact(claimed),
                    "available": exact(&there),
                    "missing": exact(&shortage.missing()),
                })
            }),
            "limits_not_counted": list(&of.not_counted, |v| named(*v)),
            "demands_differ_of": of.differs.map(|n| problem.users()[n].name()),
            "uncertified": of.uncertified,
        })
    });
    document(
        "promises",
        json!({
            "answer": answer(problem, claims),
            "rule": claims.rule.map(|rule| rule.name()),
            "order": order(problem, claims.rule),
            "in_doubt": claims.in_doubt().count(),
            "resources": resources,
        }),
    )
}
