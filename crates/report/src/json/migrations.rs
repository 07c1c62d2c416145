//! The tasks to migrate so that a waiting gang could start, as a JSON document.

use evenhand_cluster::Bound;
use evenhand_cluster::migrations::{Cluster, Cost, Migrations, Obstacle, Outcome};
use evenhand_cluster::script::{Named, Task};
use evenhand_problem::Problem;
use evenhand_problem::snapshot::Snapshot;
use serde_json::{Value, json};

use super::{document, exact, list};
use crate::migrations::{Asked, why};

/// Returns the tasks to migrate.
#[must_use]
pub fn migrations(
    snapshot: &Snapshot,
    cluster: &Cluster,
    found: Option<&Migrations>,
    steps: &[Named],
    asked: &Asked<'_>,
) -> Value {
    let problem = &cluster.problem;
    let user = |n: usize| problem.users()[n].name();
    let server = |task: &Task| snapshot.server_name(task.place.class, task.place.index);
    let migrating = steps.iter().filter(|step| step.is_migration).map(|step| {
        let pairs = step.stop.iter().zip(&step.start);
        list(pairs, |(stop, start)| {
            json!({"task": stop.name, "user": user(stop.user), "from": server(stop), "to": server(start)})
        })
    });
    let migrating: Vec<Value> = migrating.collect();
    let starting = steps.iter().filter(|step| !step.is_migration).flat_map(|step| &step.start);
    let answer = found.map(|found| match &found.outcome {
        Outcome::StartsNow(_) => "starts-now",
        Outcome::Plan(_) => "starts-after",
        Outcome::Never(_) => "never",
        Outcome::NotFound { .. } => "not-found",
    });
    let plan = found.and_then(Migrations::plan);
    let cost_by = match asked.cost {
        Cost::Count => "count",
        Cost::Priority => "priority",
        Cost::Users(_) => "file",
        Cost::Age(_) => "age",
    };
    let obstacle = found.and_then(|found| match &found.outcome {
        Outcome::Never(obstacle) => Some(reason(problem, user(found.job), obstacle)),
        _ => None,
    });
    let needs_temporary_place =
        matches!(found.map(|of| &of.outcome), Some(Outcome::NotFound { needs_temporary_place: true }));
    let pack = asked.pack.map(|pack| {
        json!({
            "start_now": pack.start_now,
            "never": pack.never,
            "not_known": list(&pack.not_known, |n| user(*n)),
        })
    });
    document(
        "migrations",
        json!({
            "job": found.map(|found| list(cluster.rules.start(found.job), |n| user(*n))),
            "answer": answer,
            "why": obstacle,
            "migrations": migrating,
            "start": list(starting, |task| {
                json!({"task": task.name, "user": user(task.user), "server": server(task)})
            }),
            "tasks": plan.map(|plan| plan.tasks),
            "cost_by": cost_by,
            "cost": plan.map(|plan| exact(&plan.cost)),
            "least": found.and_then(|found| found.least.as_ref()).map(exact),
            "fewest": found.is_some_and(Migrations::is_cheapest),
            "needs_temporary_place": needs_temporary_place,
            "not_modelled": found.map_or(&[][..], |found| &found.not_modelled),
            "rounded": asked.is_rounded,
            "pack": pack,
        }),
    )
}

fn reason(problem: &Problem, job: &str, obstacle: &Obstacle) -> Value {
    let resource = |r: usize| problem.resources()[r].as_str();
    let group = |v: usize| problem.groups().list()[v].name.as_str();
    let (name, of_group, of_resource) = match obstacle {
        Obstacle::Tasks => ("tasks", None, None),
        Obstacle::Bound(Bound::Limit(v, r), _) => ("limit", Some(group(*v)), Some(resource(*r))),
        Obstacle::Bound(Bound::KeptBack(r), _) => ("kept-back", None, Some(resource(*r))),
        Obstacle::Bound(Bound::Weight(v), _) => ("weight-0", Some(group(*v)), None),
        Obstacle::Bound(Bound::OnClasses(at), _) => ("limit-on-classes", Some(group(at.group)), None),
        Obstacle::Servers => ("servers", None, None),
        Obstacle::Capacity { resource: r, .. } => ("capacity", None, Some(resource(*r))),
        Obstacle::Searched => ("searched", None, None),
    };
    json!({"reason": name, "group": of_group, "resource": of_resource, "text": why(problem, job, obstacle)})
}
