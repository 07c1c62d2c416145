//! What a mechanism found beside the allocation, as fields of the allocation document.

use evenhand_exact::Prices;
use evenhand_exact::axiom::njc::Witness;
use evenhand_lp::njc::{NjcSet, Tasks};
use evenhand_mechanisms::filling::{Integrality, Measure};
use evenhand_mechanisms::{Bound, Intervals, Outcome, Search, Selected, SeriesPoint};
use evenhand_problem::Problem;
use evenhand_problem::format::NumberText;
use evenhand_problem::{Arithmetic, Constraints, Rational, RowKind};
use serde_json::{Map, Value, json};

/// `prices`, `user_prices`, `gap`, `witness`, `bottlenecks`, `status`, `iterations` and `integrality`,
/// those that there are.
#[must_use]
pub fn findings(problem: &Problem, outcome: &Outcome) -> Map<String, Value> {
    let arithmetic = outcome.allocation.arithmetic;
    let constraints = Constraints::new(problem, outcome.allocation.sharing);
    let findings = &outcome.findings;
    let number = |value: &Rational| json!(NumberText(value, arithmetic));
    let mut fields = Map::new();
    if let Some(Prices { rows, users, .. }) = &findings.prices {
        let priced = rows.iter().enumerate().filter(|(_, price)| !price.is_zero());
        let prices = by_server(&constraints, priced.map(|(row, price)| (row, number(price))));
        fields.insert("prices".to_owned(), prices);
        let users = problem.users().iter().zip(users).filter(|(_, price)| !price.is_zero());
        let users: Map<String, Value> =
            users.map(|(user, price)| (user.name().to_owned(), number(price))).collect();
        fields.insert("user_prices".to_owned(), Value::Object(users));
    }
    if let Some(gap) = &findings.gap {
        fields.insert("gap".to_owned(), number(gap));
    }
    if let Some(gap) = &findings.relative_gap {
        fields.insert("relative_gap".to_owned(), number(gap));
    }
    if let Some(steps) = &findings.series {
        fields.insert("series".to_owned(), series(problem, &constraints, steps));
    }
    if let Some(witnesses) = &findings.witnesses {
        fields.insert("witness".to_owned(), witness_names(&constraints, witnesses));
    }
    if let Some(bottlenecks) = &findings.bottlenecks {
        fields.insert("bottlenecks".to_owned(), rows_by_server(&constraints, bottlenecks));
    }
    if let Some(NjcSet { polytopes, extreme_points, .. }) = &findings.faces {
        let tasks = |point: &Tasks| {
            let users = problem.users().iter().zip(point).map(|(user, list)| {
                let used = list.iter().filter(|(_, x)| !x.is_zero());
                let on = used.map(|(i, x)| (problem.servers()[*i].name().to_owned(), number(x)));
                (user.name().to_owned(), Value::Object(on.collect()))
            });
            Value::Object(users.collect())
        };
        let faces = polytopes.iter().map(|polytope| {
            json!({
                "dimension": polytope.dimension,
                "bottlenecks": rows_by_server(&constraints, &polytope.face.bottlenecks),
                "witness": witness_names(&constraints, &polytope.face.witnesses),
                "vertices": polytope.vertices.iter().map(tasks).collect::<Vec<Value>>(),
            })
        });
        fields.insert("faces".to_owned(), Value::Array(faces.collect()));
        let points = extreme_points.iter().map(tasks).collect();
        fields.insert("extreme_points".to_owned(), Value::Array(points));
    }
    if let Some(Selected { goal, value, bound }) = &findings.selected {
        let (proven, bound) = match bound {
            Bound::Proven => (true, number(value)),
            Bound::Claimed(bound) => (false, json!(bound)),
            Bound::Found => (false, Value::Null),
        };
        let goal = goal.name();
        let selection = json!({"goal": goal, "value": number(value), "proven": proven, "bound": bound});
        fields.insert("selection".to_owned(), selection);
    }
    if let Some(search) = &findings.search {
        fields.insert("search".to_owned(), searched(search));
    }
    if let Some(Intervals { levels, width }) = &findings.intervals {
        let each = problem.users().iter().zip(levels);
        let levels =
            each.map(|(user, (low, high))| (user.name().to_owned(), json!([number(low), number(high)])));
        fields.insert("levels".to_owned(), Value::Object(levels.collect()));
        fields.insert("width".to_owned(), number(width));
    }
    if let Some(status) = findings.status {
        fields.insert("status".to_owned(), json!(status.name()));
    }
    if let Some(iterations) = findings.iterations {
        fields.insert("iterations".to_owned(), json!(iterations));
    }
    if let Some(Integrality { mechanism, whole, divisible }) = &findings.integrality {
        let measure = |measure: &Measure| {
            let share = measure.least_weighted_share.as_ref().map(number);
            json!({"least_weighted_share": share, "tasks": number(&measure.tasks)})
        };
        let divisible = match divisible {
            Ok(ideal) => measure(ideal),
            Err(why) => json!({"not_available": why.reason()}),
        };
        let fields_of = json!({"ideal": mechanism, "whole": measure(whole), "divisible": divisible});
        fields.insert("integrality".to_owned(), fields_of);
    }
    fields
}

/// Which starts were tried, what they led to, and whether another answer that is known serves more.
fn searched(search: &Search) -> Value {
    let exact = |tasks: &Rational| json!(NumberText(tasks, Arithmetic::Exact));
    let starts = search
        .tried
        .iter()
        .map(|tried| json!({"start": tried.start, "tasks": tried.tasks.as_ref().map(exact)}));
    json!({
        "starts": starts.collect::<Vec<Value>>(),
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
            let (server, resource) = row_names(constraints, *row);
            json!({"server": server, "resource": resource})
        }
    };
    let users = constraints.problem().users().iter().zip(witnesses);
    let named = users.filter_map(|(user, found)| Some((user.name().to_owned(), witness(found.as_ref()?))));
    Value::Object(named.collect())
}

fn rows_by_server(constraints: &Constraints<'_>, rows: &[usize]) -> Value {
    let mut servers: Map<String, Value> = Map::new();
    for row in rows {
        let (server, resource) = row_names(constraints, *row);
        if let Value::Array(list) = servers.entry(server).or_insert_with(|| json!([])) {
            list.push(json!(resource));
        }
    }
    Value::Object(servers)
}

/// `{server: {resource: value}}`.
fn by_server(constraints: &Constraints<'_>, values: impl Iterator<Item = (usize, Value)>) -> Value {
    let mut servers: Map<String, Value> = Map::new();
    for (row, value) in values {
        let (server, resource) = row_names(constraints, row);
        let resources = servers.entry(server).or_insert_with(|| json!({}));
        resources[&resource] = value;
    }
    Value::Object(servers)
}

fn row_names(constraints: &Constraints<'_>, row: usize) -> (String, String) {
    let at = &constraints.rows()[row];
    let problem = constraints.problem();
    let resource = match at.kind {
        RowKind::Resource(r) => problem.resources()[r].clone(),
        RowKind::Time => "time".to_owned(),
    };
    (problem.servers()[at.server].name().to_owned(), resource)
}

/// The points of a trajectory: `c`, tasks by user, and the free part of every row.
fn series(problem: &Problem, constraints: &Constraints<'_>, steps: &[SeriesPoint]) -> Value {
    let point = |step: &SeriesPoint| {
        let users = problem.users().iter().zip(&step.tasks);
        let tasks: Map<String, Value> = users.map(|(user, x)| (user.name().to_owned(), json!(x))).collect();
        let slack = by_server(constraints, step.slack.iter().map(|slack| json!(slack)).enumerate());
        json!({"c": step.c, "tasks": tasks, "slack": slack})
    };
    Value::Array(steps.iter().map(point).collect())
}
