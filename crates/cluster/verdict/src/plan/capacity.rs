//! Changes a cluster to a cluster with more or fewer servers.

use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Allocation, Placement, Problem, Rational};
use serde_json::{Value, json};

use super::Offer;
use crate::error::ClusterError;
use crate::servers::placed;

/// Returns a snapshot without the names of tasks, which plans do not need.
pub(super) fn light(snapshot: &Snapshot) -> Snapshot {
    let allocation = Allocation { mechanism: None, rule: None, ..snapshot.allocation.clone() };
    Snapshot {
        system: snapshot.system,
        servers: snapshot.servers.clone(),
        rounded: snapshot.rounded.clone(),
        constraints: snapshot.constraints.clone(),
        preemption: snapshot.preemption.clone(),
        closed: snapshot.closed.clone(),
        ..Snapshot::new(snapshot.problem.clone(), allocation)
    }
}

/// Returns a problem with other numbers of servers by class. Every class must have a server, so a class with
/// the number 0 gets one server without capacity.
pub(super) fn with_counts(problem: &Problem, counts: &[u64]) -> Result<Problem, ClusterError> {
    if problem.servers().iter().map(evenhand_problem::ServerClass::count).eq(counts.iter().copied()) {
        return Ok(problem.clone());
    }
    let wrong = |error: &dyn std::fmt::Display| ClusterError::Change(error.to_string());
    let mut document: Value =
        serde_json::from_str(&problem_to_json(problem)).map_err(|error| wrong(&error))?;
    for (i, count) in counts.iter().enumerate() {
        let server = &mut document["servers"][i];
        if *count == 0 {
            server["capacity"] = json!({});
        }
        server["count"] = json!((*count).max(1).to_string());
    }
    let text = document.to_string();
    Source { name: "the problem", text: &text }.problem().map_err(|error| wrong(&error.message))
}

/// Returns a problem with more servers of the classes on offer.
pub(super) fn with_more(problem: &Problem, offers: &[Offer], more: &[u64]) -> Result<Problem, ClusterError> {
    let mut counts: Vec<u64> = problem.servers().iter().map(evenhand_problem::ServerClass::count).collect();
    for (offer, more) in offers.iter().zip(more) {
        counts[offer.class] = counts[offer.class].saturating_add(*more);
    }
    with_counts(problem, &counts)
}

/// Returns a snapshot without some servers. `gone` are the ascending indices of these servers, by class. `placements`
/// are the tasks on the remaining servers, with the indices before the removal.
pub(super) fn without(
    snapshot: &Snapshot,
    gone: &[Vec<u64>],
    placements: Vec<Placement>,
) -> Result<Snapshot, ClusterError> {
    let classes = snapshot.problem.servers();
    let counts: Vec<u64> =
        classes.iter().zip(gone).map(|(class, gone)| class.count() - gone.len() as u64).collect();
    let mut after = snapshot.clone();
    after.problem = with_counts(&snapshot.problem, &counts)?;
    let before = |class: usize, index: u64| gone[class].partition_point(|of| *of < index) as u64;
    let moved = placements.into_iter().map(|of| {
        let index = of.index - before(of.server, of.index);
        Placement { index, ..of }
    });
    after.allocation = placed(&snapshot.allocation, moved.collect());
    for of in &mut after.rounded {
        let class = of.server;
        of.by_server.retain(|(index, _)| gone[class].binary_search(index).is_err());
        of.by_server.iter_mut().for_each(|(index, _)| *index -= before(class, *index));
        of.most = of.by_server.iter().map(|(_, amount)| amount.clone()).max().unwrap_or_default();
        of.in_all = of.by_server.iter().map(|(_, amount)| amount).sum::<Rational>();
    }
    after.rounded.retain(|of| of.most > 0);
    after.servers.clear();
    Ok(after)
}
