//! A running cluster as JSON documents: the verdict, the effect of a change, and the tasks to move.

use evenhand_cluster::reported::{Compared, Formula};
use evenhand_cluster::script::{Named, Task};
use evenhand_cluster::why_not::{Explanation, Subject};
use evenhand_cluster::{Answer, Bound, End, Excess, Fit, Kind, Moves, Row, Verdict};
use evenhand_exact::Claim;
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Problem, Rational};
use serde_json::{Value, json};

use super::why_not::task_explanation;
use super::{by_name, document, exact, list};

/// Returns the verdict on a snapshot.
#[must_use]
pub fn cluster_verdict(snapshot: &Snapshot, verdict: &Verdict, compared: &[Compared]) -> Value {
    document("cluster-verdict", fields(snapshot, verdict, compared))
}

fn fields(snapshot: &Snapshot, verdict: &Verdict, compared: &[Compared]) -> Value {
    let problem = &verdict.problem;
    let due = verdict.due.certificate().into_iter().flat_map(|of| &of.claims).map(|claim| ("due", claim));
    let claims = verdict.held.certificate.claims.iter().map(|claim| ("held", claim)).chain(due);
    let starts = verdict.starts.as_ref();
    let each = |of: &[Fit]| of.iter().flat_map(|fit| fit_of(snapshot, problem, fit)).collect::<Vec<_>>();
    let user = |n: usize| problem.users()[n].name();
    let not_known = starts.map(|starts| starts.not_known.iter().map(|n| user(*n)).collect::<Vec<_>>());
    let admitted = starts.map(|starts| {
        list(&starts.admitted, |of| {
            let could_start = match of.answer {
                Answer::Yes(_) => Some(true),
                Answer::No => Some(false),
                Answer::NotKnown => None,
            };
            json!({"user": user(of.user), "tasks": of.tasks, "could_start": could_start})
        })
    });
    json!({
        "rule": verdict.rule.map(Rule::name),
        "certified": verdict.due.uncertified().is_none(),
        "uncertified": verdict.due.uncertified(),
        "tolerance": exact(&verdict.tolerance),
        "fair": verdict.is_fair(),
        "below_fair_share": verdict.below_fair_share().map(|row| row.queue.name.as_str()).collect::<Vec<_>>(),
        "rounded": verdict.is_rounded,
        "work_conserving": verdict.is_work_conserving(),
        "queues": list(&verdict.queues, |row| queue(verdict, row)),
        "verdicts": claims.map(|(of, claim)| claim_of(of, claim)).collect::<Vec<_>>(),
        "not_checked": list(&verdict.held.undecided, |(axiom, why)| json!({"axiom": axiom.name(), "why": why.to_string()})),
        "could_start": starts.map(|starts| each(&starts.could)),
        "could_start_by_model": starts.map(|starts| each(&starts.by_model)),
        "could_start_not_known": not_known,
        "admitted": admitted,
        "exceeded": list(&verdict.excesses, |of| excess(snapshot, problem, of)),
        "guarantees_can_be_met": verdict.guarantees_can_be_met(),
        "below_guarantee": list(&verdict.unmet, |of| {
            json!({"user": problem.users()[of.user].name(), "tasks": exact(&of.tasks)})
        }),
        "reported": list(compared, |of| reported(problem, of)),
        "not_modelled": list(&snapshot.not_modelled, |of| json!({"what": of.what, "count": of.count})),
    })
}

fn reported(problem: &Problem, of: &Compared) -> Value {
    let value = |value: &Option<Rational>| value.as_ref().map_or_else(|| "inf".to_owned(), exact);
    let (formula, between, unknown) = match &of.formula {
        Formula::Between([low, high]) if low == high => (Some(value(low)), None, None),
        Formula::Between(bounds) => (None, Some(bounds.each_ref().map(value)), None),
        Formula::Unknown(why) => (None, None, Some(*why)),
    };
    json!({
        "group": problem.groups().list()[of.group].name,
        "what": of.what,
        "reported": value(&of.reported),
        "formula": formula,
        "between": between,
        "agrees": of.agrees(),
        "unknown": unknown,
    })
}

fn queue(verdict: &Verdict, row: &Row) -> Value {
    let problem = &verdict.problem;
    let resource = |r: usize| problem.resources()[r].as_str();
    let amounts = |of: &[Rational]| {
        let some = of.iter().enumerate().filter(|(_, amount)| !amount.is_zero());
        by_name(some.map(|(r, amount)| (resource(r), exact(amount))))
    };
    let named = |of: &[(usize, Rational)]| {
        list(of, |(v, amount)| json!({"name": verdict.queues[*v].queue.name, "amount": exact(amount)}))
    };
    let beside = |of: &[(usize, Vec<(usize, Rational)>)]| {
        by_name(of.iter().filter(|(_, list)| !list.is_empty()).map(|(r, list)| (resource(*r), named(list))))
    };
    let end = |end: &End| match end {
        End::Resource(r) => json!({"resource": resource(*r)}),
        End::Limit(v, r) => json!({"group": problem.groups().list()[*v].name, "limit": resource(*r)}),
    };
    json!({
        "name": row.queue.name,
        "kind": if matches!(row.queue.kind, Kind::Group(_)) { "group" } else { "user" },
        "parent": row.queue.parent.map(|v| verdict.queues[v].queue.name.as_str()),
        "usage": amounts(&row.usage),
        "fair_share": amounts(&row.fair_share),
        "lacking": amounts(&row.lacking),
        "over": amounts(&row.over),
        "short_by_a_task_of": row.by.map(|n| problem.users()[n].name()),
        "waiting": row.waiting.as_ref().map(exact),
        "guarantee": by_name(row.guarantee.iter().map(|(r, amount)| (resource(*r), exact(amount)))),
        "ends_at": list(&row.ends, end),
        "held_above_by": beside(&row.holders),
        "lent_by": by_name(row.lenders.iter().map(|lent| (resource(lent.resource), named(&lent.by)))),
        "lent": by_name(row.lenders.iter().map(|lent| (resource(lent.resource), exact(&lent.used)))),
    })
}

fn claim_of(of: &str, claim: &Claim) -> Value {
    json!({"of": of, "axiom": claim.axiom.name(), "holds": claim.holds, "margin": claim.margin.as_ref().map(exact)})
}

/// Returns the tasks of a start that could happen now, each with its server.
fn fit_of(snapshot: &Snapshot, problem: &Problem, fit: &Fit) -> Vec<Value> {
    let mut all = Vec::new();
    for (n, places) in &fit.assignment.parts {
        let user = problem.users()[*n].name();
        let waiting = snapshot.waiting.iter().filter(|of| of.user == *n);
        let mut names = waiting.flat_map(|of| &of.names);
        for place in places {
            let name = names.next().map_or(user, String::as_str);
            let server = snapshot.server_name(place.class, place.index);
            all.push(json!({"task": name, "user": user, "server": server}));
        }
    }
    all
}

/// Returns an exceeded limit of a group, server or class.
fn excess(snapshot: &Snapshot, problem: &Problem, of: &Excess) -> Value {
    let resource = |r: usize| problem.resources()[r].as_str();
    let class = |i: usize| problem.servers()[i].name();
    let group = |v: usize| problem.groups().list()[v].name.as_str();
    match of {
        Excess::Server { place, resource: r, used, most } => json!({
            "server": snapshot.server_name(place.class, place.index),
            "resource": resource(*r), "usage": exact(used), "limit": exact(most),
        }),
        Excess::Class { class: i, resource: r, used, most } => {
            json!({"class": class(*i), "resource": resource(*r), "usage": exact(used), "limit": exact(most)})
        }
        Excess::NotAllowed { user, class: i } => {
            json!({"user": problem.users()[*user].name(), "class": class(*i)})
        }
        Excess::Bound { bound, used, by_tasks, most } => {
            let (of, r, on) = match bound {
                Bound::Limit(v, r) => (Some(group(*v)), Some(*r), None),
                Bound::OnClasses(at) => {
                    let on = &problem.groups().list()[at.group].on[at.on];
                    let classes: Vec<&str> = on.servers.iter().map(|i| class(*i)).collect();
                    (Some(group(at.group)), Some(on.limit[at.at].0), Some(classes))
                }
                Bound::KeptBack(r) => (None, Some(*r), None),
                Bound::Weight(v) => (Some(group(*v)), None, None),
            };
            json!({
                "group": of, "resource": r.map(resource), "on": on,
                "usage": exact(used), "usage_by_tasks": exact(by_tasks), "limit": exact(most),
            })
        }
    }
}

/// Returns the effect of a change: the verdicts before and after the change, the differences by queue, and
/// the explanations of submitted tasks.
#[must_use]
pub fn what_if(
    before: (&Snapshot, &Verdict),
    after: (&Snapshot, &Verdict),
    submitted: (Subject<'_>, &[Explanation]),
) -> Value {
    let amounts = |verdict: &Verdict, row: &Row, of: fn(&Row) -> &Vec<Rational>| -> Vec<(String, Rational)> {
        verdict.problem.resources().iter().cloned().zip(of(row).iter().cloned()).collect()
    };
    let differences = after.1.queues.iter().map(|row| {
        let old = before.1.queues.iter().find(|of| {
            of.queue.name == row.queue.name
                && std::mem::discriminant(&of.queue.kind) == std::mem::discriminant(&row.queue.kind)
        });
        let difference = |of: fn(&Row) -> &Vec<Rational>| {
            let was = old.map(|old| amounts(before.1, old, of)).unwrap_or_default();
            let now = amounts(after.1, row, of).into_iter();
            let change = now.map(|(r, now)| {
                let was = was.iter().find(|(of, _)| *of == r).map(|(_, was)| was.clone()).unwrap_or_default();
                (r, now - was)
            });
            let change: Vec<(String, Rational)> = change.filter(|(_, change)| !change.is_zero()).collect();
            by_name(change.iter().map(|(r, change)| (r.as_str(), exact(change))))
        };
        json!({
            "name": row.queue.name,
            "usage": difference(|row| &row.usage),
            "fair_share": difference(|row| &row.fair_share),
            "lacking": difference(|row| &row.lacking),
        })
    });
    let differences: Vec<Value> = differences.collect();
    document(
        "what-if",
        json!({
            "differences": differences,
            "submitted": list(submitted.1, |of| task_explanation(submitted.0, of)),
            "before": cluster_verdict(before.0, before.1, &[]),
            "after": cluster_verdict(after.0, after.1, &[]),
        }),
    )
}

/// Returns the tasks to stop and to start.
#[must_use]
pub fn moves(snapshot: &Snapshot, verdict: &Verdict, moves: &Moves, named: &[Named]) -> Value {
    let problem = &verdict.problem;
    let task = |task: &Task| {
        json!({
            "task": task.name,
            "user": problem.users()[task.user].name(),
            "server": snapshot.server_name(task.place.class, task.place.index),
        })
    };
    let name = |v: &usize| verdict.queues[*v].queue.name.as_str();
    let steps = moves.list.iter().zip(named).map(|(step, of)| {
        let mut row =
            json!({"for": name(&step.queue), "stop": list(&of.stop, task), "start": list(&of.start, task)});
        if step.is_migration {
            row["migration"] = json!(true);
        }
        row
    });
    let steps: Vec<Value> = steps.collect();
    let [before, after] = &moves.below;
    let fields = json!({
        "rule": verdict.rule.map(Rule::name),
        "moves": steps,
        "stopped": moves.stopped(),
        "least": exact(&moves.least),
        "fewest": moves.are_fewest(),
        "short_before": list(before, name),
        "short_after": list(after, name),
        "cut": moves.is_cut,
    });
    document("moves", fields)
}
