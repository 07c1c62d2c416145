//! The exact answer next to a given allocation, in text for people and as a JSON document.

use evenhand_certify::polish::Polished;
use evenhand_mechanisms::Status;
use evenhand_problem::{Problem, number};
use serde_json::{Value, json};

use crate::page::Page;
use crate::text::{decimal, tasks};

/// Returns sentences on the distance between the answer and the allocation.
#[must_use]
pub fn polished(problem: &Problem, found: &Polished) -> Page {
    let Polished { mechanism, is_nearest, gap, status, changes, farthest, placements, .. } = found;
    let which = match (status, gap) {
        (Some(Status::Limit), _) => "the last point that it reached",
        (_, Some(_)) => "an answer close to its optimum",
        _ if *is_nearest => "the nearest exact answer",
        _ => "its exact answer",
    };
    let totals = match farthest {
        None => format!("{mechanism}: {which} gives every user the same number of tasks"),
        Some((n, part)) => format!(
            "{mechanism}: {which} changes the tasks of `{}` most, by {} ({} of its solo tasks)",
            problem.users()[*n].name(),
            tasks(&changes[*n]),
            decimal(part)
        ),
    };
    let places = match placements.is_zero() {
        true => "no placement changes".to_owned(),
        false => format!("a placement changes by at most {} of the user's solo tasks", decimal(placements)),
    };
    let gap = gap
        .as_ref()
        .map_or_else(String::new, |gap| format!("; it is within {} of the optimum", decimal(gap)));
    Page::new().text(format!("{totals}; {places}{gap}."))
}

/// Returns the distances between the answer and the allocation as a JSON document.
#[must_use]
pub fn document(problem: &Problem, found: &Polished) -> Value {
    let name = |n: usize| problem.users()[n].name();
    let changed = found.changes.iter().enumerate().filter(|(_, change)| !change.is_zero());
    json!({
        "mechanism": found.mechanism,
        "is_nearest": found.is_nearest,
        "status": found.status.map(|status| status.name()),
        "gap": found.gap.as_ref().map(number::format),
        "changes": changed.map(|(n, change)| (name(n).to_owned(), json!(number::format(change)))).collect::<serde_json::Map<_, _>>(),
        "farthest": found.farthest.as_ref().map(|(n, part)| json!({"user": name(*n), "part": number::format(part)})),
        "placements": number::format(&found.placements),
    })
}
