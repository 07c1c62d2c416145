//! What a mechanism found beside the allocation, as fields of the allocation document.

use evenhand::exact::axiom::njc::Witness;
use evenhand::lp::njc::Goal;
use evenhand::mechanisms::{Outcome, Selected};
use evenhand::problem::format::NumberText;
use evenhand::problem::{Constraints, RowKind};
use evenhand::{Problem, exact::Prices};
use serde_json::{Map, Value, json};

/// `prices`, `user_prices`, `gap`, `witness`, `bottlenecks`, `status` and `iterations`, those that
/// there are.
pub fn fields(problem: &Problem, outcome: &Outcome) -> Map<String, Value> {
    let arithmetic = outcome.allocation.arithmetic;
    let constraints = Constraints::new(problem, outcome.allocation.sharing);
    let findings = &outcome.findings;
    let number = |value| json!(NumberText(value, arithmetic));
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
    if let Some(witnesses) = &findings.witnesses {
        let witness = |witness: &Witness| match witness {
            Witness::Satisfied => json!("satisfied"),
            Witness::Row(row) => {
                let (server, resource) = row_names(&constraints, *row);
                json!({"server": server, "resource": resource})
            }
        };
        let users = problem.users().iter().zip(witnesses);
        let users: Map<String, Value> = users
            .filter_map(|(user, found)| Some((user.name().to_owned(), witness(found.as_ref()?))))
            .collect();
        fields.insert("witness".to_owned(), Value::Object(users));
    }
    if let Some(bottlenecks) = &findings.bottlenecks {
        let mut servers: Map<String, Value> = Map::new();
        for row in bottlenecks {
            let (server, resource) = row_names(&constraints, *row);
            let list = servers.entry(server).or_insert_with(|| json!([]));
            if let Value::Array(list) = list {
                list.push(json!(resource));
            }
        }
        fields.insert("bottlenecks".to_owned(), Value::Object(servers));
    }
    if let Some(Selected { goal, value, bound }) = &findings.selected {
        let selection = json!({"goal": goal_name(*goal), "value": number(value), "bound": bound});
        fields.insert("selection".to_owned(), selection);
    }
    if let Some(status) = findings.status {
        fields.insert("status".to_owned(), json!(status.name()));
    }
    if let Some(iterations) = findings.iterations {
        fields.insert("iterations".to_owned(), json!(iterations));
    }
    fields
}

fn goal_name(goal: Goal) -> &'static str {
    match goal {
        Goal::MaxUtilisation => "max-utilisation",
        Goal::MaxMinShare => "max-min-share",
        Goal::MaxTasks => "max-tasks",
    }
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
