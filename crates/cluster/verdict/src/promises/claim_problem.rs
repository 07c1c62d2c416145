//! Makes and solves the problem in which every queue asks for its promise of one resource, and for nothing
//! else.

use evenhand_mechanisms::tree::{PerResource, Rule};
use evenhand_problem::format::Source;
use evenhand_problem::groups::GroupShare;
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Allocation, Problem, Rational, Sharing};
use serde_json::{Map, Value, json};

use super::{Claim, Pool};
use crate::due::Due;
use crate::error::ClusterError;
use crate::queues::Queues;
use crate::task_rules::TaskRules;

/// The amounts that claims get.
pub(super) struct Served {
    /// The amount of each claim.
    pub amounts: Vec<Rational>,
    /// The reason why the amounts have no certificate. `None` if they have a certificate.
    pub uncertified: Option<&'static str>,
}

/// Returns the amounts that the rule gives if every queue claims its promise of a resource.
pub(super) fn served(
    problem: &Problem,
    rule: Option<Rule>,
    r: usize,
    claims: &[Claim],
    pools: &[Pool],
    usable: &[Vec<usize>],
) -> Result<Served, ClusterError> {
    if pools.is_empty() {
        return Ok(Served { amounts: vec![Rational::new(); claims.len()], uncertified: None });
    }
    // KAI entitles every queue to its whole quota. KAI's order of queues decides which queues are served
    // first.
    let is_kai = matches!(rule.and_then(Rule::per_resource), Some(PerResource::Kai { .. }));
    let rule = rule.filter(|_| !is_kai);
    let text = document(problem, rule, is_kai, r, claims, pools, usable).to_string();
    let read = Source { name: "the problem of the claims", text: &text }.problem();
    let claim_problem = read.map_err(|error| ClusterError::Change(error.to_string()))?;
    let allocation = Allocation::empty(claim_problem.n_users(), Sharing::Rdm);
    let snapshot = Snapshot::new(claim_problem, allocation);
    let rules = TaskRules::new(&snapshot);
    let queues = Queues::new(&snapshot.problem, &rules);
    let due = Due::new(&queues, rule.filter(|rule| rule.per_resource().is_some()))?;
    // Groups come first among queues, in the order of the problem.
    let of_group = |v: usize| &due.amounts[v][0];
    let list = problem.groups().list();
    let mut below = vec![Rational::new(); list.len()];
    for (v, group) in list.iter().enumerate() {
        if let Some(parent) = group.parent {
            below[parent] += of_group(v);
        }
    }
    let amount = |claim: &Claim| Rational::from(of_group(claim.group) - &below[claim.group]);
    Ok(Served { amounts: claims.iter().map(amount).collect(), uncertified: due.uncertified() })
}

fn document(
    problem: &Problem,
    rule: Option<Rule>,
    is_kai: bool,
    r: usize,
    claims: &[Claim],
    pools: &[Pool],
    usable: &[Vec<usize>],
) -> Value {
    let resource = problem.resources()[r].as_str();
    let one =
        |amount: &Rational| Value::Object(Map::from_iter([(resource.to_owned(), json!(amount.to_string()))]));
    let named = |list: &[(usize, Rational)]| {
        let of = list.iter().find(|(of, _)| *of == r);
        of.map_or_else(|| json!({}), |(_, amount)| one(amount))
    };
    let pool_name = |at: usize| format!("pool {at}");
    let servers: Vec<Value> = pools
        .iter()
        .enumerate()
        .map(|(at, pool)| json!({"name": pool_name(at), "capacity": one(&pool.capacity)}))
        .collect();
    let list = problem.groups().list();
    let groups: Vec<Value> = list
        .iter()
        .map(|group| {
            let weight = if is_kai { "1".to_owned() } else { group.weight.to_string() };
            let mut of = json!({
                "name": group.name, "weight": weight, "priority": group.priority,
                "limit": named(&group.limit), "lend": named(&group.lend),
            });
            if let Some(parent) = group.parent {
                of["parent"] = json!(list[parent].name);
            }
            if let Some(guarantee) = &group.guarantee {
                of["guarantee"] = named(guarantee);
            }
            let on: Vec<Value> = group
                .on
                .iter()
                .filter_map(|on| {
                    let (_, most) = on.limit.iter().find(|(of, _)| *of == r)?;
                    // A pool contains only classes that the same limits name, as far as these limits count.
                    let is_in =
                        |pool: &Pool| pool.classes.iter().all(|i| on.servers.binary_search(i).is_ok());
                    let names: Vec<String> =
                        (0..pools.len()).filter(|at| is_in(&pools[*at])).map(pool_name).collect();
                    (!names.is_empty()).then(|| json!({"servers": names, "limit": one(most)}))
                })
                .collect();
            let mut seen = std::collections::BTreeSet::new();
            let on: Vec<Value> = on.into_iter().filter(|on| seen.insert(on["servers"].to_string())).collect();
            if !on.is_empty() {
                of["on"] = json!(on);
            }
            of
        })
        .collect();
    let users: Vec<Value> = claims
        .iter()
        .zip(usable)
        .enumerate()
        .filter(|(_, (_, usable))| !usable.is_empty())
        .map(|(k, (claim, usable))| {
            let names: Vec<String> = usable.iter().copied().map(pool_name).collect();
            json!({
                "name": format!("claim {k}"), "group": list[claim.group].name, "demand": one(&Rational::from(1)),
                "tasks": claim.amount.to_string(), "servers": names,
            })
        })
        .collect();
    json!({
        "kind": "allocation-problem", "resources": [resource], "servers": servers, "groups": groups, "users": users,
        "share": share(problem, rule, is_kai),
    })
}

/// Returns the share by which the claims are served. With one resource, multipliers and families have no effect.
fn share(problem: &Problem, rule: Option<Rule>, is_kai: bool) -> Value {
    if is_kai {
        return json!({"of": "usage", "over": "guarantee", "guarantees": "compared"});
    }
    let stated = problem.groups().share();
    let share = rule.and_then(|rule| rule.share_alone(stated));
    let GroupShare { of, over, zero_weight, guarantees, .. } = share.as_ref().unwrap_or(stated);
    json!({"of": of.name(), "over": over.name(), "zero-weight": zero_weight.name(), "guarantees": guarantees.name()})
}
