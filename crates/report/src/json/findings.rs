//! The examination of an allocation as a JSON document, and the findings of a mechanism as fields of its
//! document.

use evenhand_certify::Examination;
use evenhand_certify::explain::{OptimumBounds, optimum_bounds};
use evenhand_certify::polish::Polished;
use evenhand_exact::axiom::njc::Witness;
use evenhand_exact::{LimitOf, LimitRows, Packing, Prices};
use evenhand_levels::njc::{NjcSet, Tasks};
use evenhand_mechanisms::filling::{Integrality, Measure};
use evenhand_mechanisms::{Bound, Intervals, Outcome, Search, Selected, SeriesPoint};
use evenhand_problem::format::{AllocationDocument, NumberText};
use evenhand_problem::{Constraints, Rational};
use evenhand_problem::{Problem, User};
use serde_json::{Map, Value, json};

use super::{by_name, document, exact, list};
use crate::polish;
use crate::text::row_names;

/// Returns the document of an allocation, with the findings of the mechanism and the warnings about the problem.
#[must_use]
pub fn allocation<'a>(problem: &'a Problem, outcome: &'a Outcome) -> AllocationDocument<'a> {
    let mut document = AllocationDocument::new(problem, &outcome.allocation);
    document.extra = findings(problem, outcome);
    let warnings: Vec<String> = problem.warnings().iter().map(ToString::to_string).collect();
    if !warnings.is_empty() {
        document.extra.insert("warnings".to_owned(), json!(warnings));
    }
    document
}

/// Returns those of the fields `prices`, `at_most_prices`, `user_prices`, `gap`, `witness`, `bottlenecks`, `status`,
/// `iterations` and `integrality` that the mechanism reports.
#[must_use]
pub fn findings(problem: &Problem, outcome: &Outcome) -> Map<String, Value> {
    let arithmetic = outcome.allocation.arithmetic;
    let constraints = Constraints::new(problem, outcome.allocation.sharing);
    let findings = &outcome.findings;
    let number = |value: &Rational| json!(NumberText(value, arithmetic));
    let user = |n: usize| problem.users()[n].name();
    let by_user = |tasks: &Tasks| {
        by_name(tasks.iter().enumerate().map(|(n, list)| {
            let used = list.iter().filter(|(_, x)| !x.is_zero());
            (user(n), by_name(used.map(|(i, x)| (problem.servers()[*i].name(), number(x)))))
        }))
    };
    let mut fields = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        fields.extend(value.map(|value| (name.to_owned(), value)));
    };
    if let Some(Prices { rows, users, .. }) = &findings.prices {
        let is_priced = |(_, price): &(usize, &Rational)| !price.is_zero();
        // The prices of limits follow those of the rows of servers.
        let (rows, of_limits) = rows.split_at(rows.len().min(constraints.rows().len()));
        let rows = rows.iter().enumerate().filter(is_priced).map(|(row, price)| (row, number(price)));
        put("prices", Some(by_server(&constraints, rows)));
        let limits = LimitRows::new(problem, &Vec::new());
        let of_limits = limits.list().iter().zip(of_limits).filter_map(|(limit, price)| match limit.of {
            LimitOf::User(n) if !price.is_zero() => Some((user(n), number(price))),
            _ => None,
        });
        put("at_most_prices", problem.has_at_most().then(|| by_name(of_limits)));
        let users = users.iter().enumerate().filter(is_priced);
        put("user_prices", Some(by_name(users.map(|(n, price)| (user(n), number(price))))));
    }
    put("gap", findings.gap.as_ref().map(number));
    put("relative_gap", findings.relative_gap.as_ref().map(number));
    put("series", findings.series.as_ref().map(|steps| series(problem, &constraints, steps)));
    put("witness", findings.witnesses.as_ref().map(|found| witness_names(&constraints, found)));
    put("bottlenecks", findings.bottlenecks.as_ref().map(|rows| rows_by_server(&constraints, rows)));
    if let Some(NjcSet { polytopes, extreme_points, .. }) = &findings.faces {
        let faces = list(polytopes, |polytope| {
            json!({
                "dimension": polytope.dimension,
                "bottlenecks": rows_by_server(&constraints, &polytope.face.bottlenecks),
                "witness": witness_names(&constraints, &polytope.face.witnesses),
                "vertices": list(&polytope.vertices, by_user),
            })
        });
        put("faces", Some(faces));
        put("extreme_points", Some(list(extreme_points, by_user)));
    }
    put(
        "selection",
        findings.selected.as_ref().map(|Selected { goal, value, bound }| {
            let (proven, bound) = match bound {
                Bound::Proven => (true, number(value)),
                Bound::Claimed(bound) => (false, json!(bound)),
                Bound::Found => (false, Value::Null),
            };
            json!({"goal": goal.name(), "value": number(value), "proven": proven, "bound": bound})
        }),
    );
    put("search", findings.search.as_ref().map(searched));
    put("schedule", findings.schedule.as_ref().map(|packings| schedule(problem, packings)));
    if let Some(Intervals { levels, width }) = &findings.intervals {
        let levels = levels.iter().enumerate().map(|(n, (low, high))| (user(n), [number(low), number(high)]));
        put("levels", Some(by_name(levels)));
        put("width", Some(number(width)));
    }
    put(
        "fractions",
        findings.fractions.as_ref().map(|bounds| {
            let bounds = bounds.iter().enumerate();
            by_name(bounds.map(|(n, (low, high))| (user(n), [number(low), number(high)])))
        }),
    );
    put("status", findings.status.map(|status| json!(status.name())));
    put("iterations", findings.iterations.map(|iterations| json!(iterations)));
    put(
        "integrality",
        findings.integrality.as_ref().map(|Integrality { mechanism, whole, divisible }| {
            let measure = |measure: &Measure| {
                let share = measure.least_weighted_share.as_ref().map(number);
                json!({"least_weighted_share": share, "tasks": number(&measure.tasks)})
            };
            let divisible = match divisible {
                Ok(ideal) => measure(ideal),
                Err(why) => json!({"not_available": why.reason()}),
            };
            json!({"ideal": mechanism, "whole": measure(whole), "divisible": divisible})
        }),
    );
    fields
}

/// Returns the starting points of the searches and their results. Also returns whether another known answer
/// serves more tasks.
fn searched(search: &Search) -> Value {
    let starts =
        list(&search.tried, |tried| json!({"start": tried.start, "tasks": tried.tasks.as_ref().map(exact)}));
    json!({
        "starts": starts,
        "starts_planned": search.planned,
        "returned": search.returned,
        "answers": search.answers,
        "unique": if search.unique { json!(true) } else { Value::Null },
        "another_serves_more": search.more_tasks.is_some(),
        "most_tasks_found": search.more_tasks.as_ref().map(exact),
        "steps": search.work,
        "budget_steps": search.budget,
        "cut": search.tried.len() < search.planned,
    })
}

fn witness_names(constraints: &Constraints<'_>, witnesses: &[Option<Witness>]) -> Value {
    let witness = |witness: &Witness| match witness {
        Witness::Satisfied => json!("satisfied"),
        Witness::Row(row) => {
            let (resource, server) = row_names(constraints, *row);
            json!({"server": server, "resource": resource})
        }
    };
    let users = constraints.problem().users().iter().zip(witnesses);
    by_name(users.filter_map(|(user, found)| Some((user.name(), witness(found.as_ref()?)))))
}

fn rows_by_server(constraints: &Constraints<'_>, rows: &[usize]) -> Value {
    let mut servers: Map<String, Value> = Map::new();
    for row in rows {
        let (resource, server) = row_names(constraints, *row);
        if let Value::Array(list) = servers.entry(server.to_owned()).or_insert_with(|| json!([])) {
            list.push(json!(resource));
        }
    }
    Value::Object(servers)
}

/// Returns `{server: {resource: value}}`.
fn by_server(constraints: &Constraints<'_>, values: impl Iterator<Item = (usize, Value)>) -> Value {
    let mut servers: Map<String, Value> = Map::new();
    for (row, value) in values {
        let (resource, server) = row_names(constraints, row);
        let resources = servers.entry(server.to_owned()).or_insert_with(|| json!({}));
        resources[resource] = value;
    }
    Value::Object(servers)
}

/// Returns the points of a trajectory: `c`, the tasks by user, and the free fraction of every row.
fn series(problem: &Problem, constraints: &Constraints<'_>, steps: &[SeriesPoint]) -> Value {
    list(steps, |step| {
        let tasks = problem.users().iter().zip(&step.tasks);
        let slack = by_server(constraints, step.slack.iter().map(|slack| json!(slack)).enumerate());
        json!({"c": step.c, "tasks": by_name(tasks.map(|(user, x)| (user.name(), x))), "slack": slack})
    })
}

/// Returns the claims with their verdicts. Also returns the exact answer of `polished`.
#[must_use]
pub fn examination(examination: &Examination, polished: Option<&Polished>) -> Value {
    let problem = &examination.certificate.problem;
    let certificate = &examination.certificate;
    // The written certificate contains the evidence with the names of users and servers.
    let written: Value = serde_json::from_str(&certificate.to_json()).unwrap_or_default();
    let claims = list(certificate.claims.iter().enumerate(), |(at, claim)| {
        let mut fields = written["claims"][at].clone();
        fields["verdict"] = json!(claim.outcome().name());
        fields["tasks"] = json!(examination.in_tasks[at].as_ref().map(exact));
        fields["bound"] = json!(claim.is_bound());
        if let Some(Some(least)) = examination.least_tolerances.get(at) {
            fields["least_tolerance"] = json!(exact(least));
        }
        if let Some(rooms) = optimum_bounds(certificate, claim) {
            let of_user = |(user, room): (&User, &OptimumBounds)| {
                let bounds = json!({"at_least": exact(&room.optimum.at_least), "at_most": exact(&room.optimum.at_most)});
                (user.name().to_owned(), bounds)
            };
            fields["optimum"] = problem.users().iter().zip(&rooms).map(of_user).collect::<Map<_, _>>().into();
        }
        fields
    });
    let mut summary = json!({
        "problem": {
            "name": problem.name(),
            "users": problem.n_users(),
            "classes": problem.n_servers(),
            "sha256": certificate.problem_sha256,
        },
        "sharing": certificate.allocation.sharing.name(),
        "tolerance": exact(&certificate.tolerance),
        "repair": exact(&examination.repair),
        "infeasible": examination.infeasible,
        "claims": claims,
        "not_checked": certificate.not_checked,
    });
    if !examination.undecided.is_empty() {
        let undecided = examination.undecided.iter();
        summary["undecided"] = by_name(undecided.map(|(axiom, why)| (axiom.name(), why.to_string())));
    }
    if let Some(found) = polished {
        summary["polished"] = polish::document(problem, found);
    }
    document("examination", summary)
}

/// Returns the packings by class, each with its fraction of the time.
fn schedule(problem: &Problem, packings: &[Packing]) -> Value {
    by_name(packings.chunk_by(|a, b| a.server == b.server).map(|of_class| {
        let packing = |packing: &Packing| {
            let tasks = packing.tasks.iter().map(|(n, k)| (problem.users()[*n].name(), json!(k)));
            json!({"part": exact(&packing.part), "tasks": by_name(tasks)})
        };
        (problem.servers()[of_class[0].server].name(), list(of_class, packing))
    }))
}
