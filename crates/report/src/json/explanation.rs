//! The explanation of a user's allocation as a JSON document.

use evenhand_certify::explain::{Between, Bottleneck, Explanation, ExplanationVerdict, UnitOfRow};
use evenhand_problem::{Constraints, Problem, Sharing};
use serde_json::{Value, json};

use super::groups::what_stops;
use super::{by_name, document, exact, list};
use crate::text::row_names;

/// Returns the explanation with all its numbers.
#[must_use]
pub fn explanation(problem: &Problem, sharing: Sharing, explanation: &Explanation) -> Value {
    let constraints = Constraints::new(problem, sharing);
    let verdict = match explanation.verdict {
        ExplanationVerdict::FitsNowhere => "fits-nowhere",
        ExplanationVerdict::NoTasks => "no-tasks",
        ExplanationVerdict::Satisfied => "satisfied",
        ExplanationVerdict::AtMost => "at-most",
        ExplanationVerdict::Blocked => "blocked",
        ExplanationVerdict::Room => "room",
        ExplanationVerdict::Stopped => "stopped",
    };
    let server = |i: usize| problem.servers()[i].name();
    let user = |n: usize| problem.users()[n].name();
    let at = |row: usize, field: &str, value| {
        let (resource, server) = row_names(&constraints, row);
        json!({"server": server, "resource": resource, field: exact(value)})
    };
    let bottleneck = |bottleneck: &Bottleneck| {
        json!({
            "resource": row_names(&constraints, bottleneck.row).0,
            "own": exact(&bottleneck.own),
            "largest_holders": by_name(bottleneck.holders.iter().map(|(n, part)| (user(*n), exact(part)))),
            "holders": bottleneck.n_holders,
        })
    };
    let servers = explanation.classes.iter().map(|class| {
        let bottlenecks = list(&class.bottlenecks, bottleneck);
        (server(class.server), json!({"tasks": exact(&class.tasks), "bottlenecks": bottlenecks}))
    });
    let unit = explanation.one_more_unit.as_ref();
    let basis = unit.ok().map(|unit| {
        let others_at_most = unit.others_at_most.as_ref().map(exact);
        let mut basis =
            json!({"differs": unit.differs, "others": unit.others, "others_at_most": others_at_most});
        state(&mut basis, &unit.tasks);
        basis
    });
    let entitled = explanation.entitled.as_ref().map(|entitled| {
        json!({
            "entitlement": exact(&entitled.entitlement),
            "largest_bottleneck_share": entitled.best.as_ref().map(|(row, own)| at(*row, "own", own)),
            "prices": list(&entitled.prices, |(row, price)| at(*row, "price", price)),
        })
    });
    let shares = explanation.virtual_shares.iter().map(|view| {
        let highest = view.highest.as_ref();
        let of = json!({
            "virtual_dominant_share": exact(&view.share),
            "level": exact(&view.level),
            "bottleneck": view.bottleneck.map(|row| row_names(&constraints, row).0),
            "highest_holder": highest.map(|(n, level)| json!({"user": user(*n), "level": exact(level)})),
        });
        (server(view.server), of)
    });
    let one_more = explanation.one_more.iter().map(|class| {
        let short =
            by_name(class.short.iter().map(|(row, servers)| (row_names(&constraints, *row).0, servers)));
        let view = json!({"tasks": class.tasks.to_string(), "fits_on": class.fits, "short_on": short});
        (server(class.server), view)
    });
    let fields = json!({
        "virtual_shares": by_name(shares),
        "one_more_task": by_name(one_more),
        "entitled": entitled,
        "user": user(explanation.user),
        "tasks": exact(&explanation.tasks),
        "dominant_share": exact(&explanation.dominant_share),
        "share": explanation.level.as_ref().map(|(share, _)| share.name(problem)),
        "level": explanation.level.as_ref().map(|(_, level)| exact(level)),
        "verdict": verdict,
        "stops": list(&explanation.stops, |stop| what_stops(problem, stop)),
        "infeasible": explanation.infeasible,
        "servers": by_name(servers),
        "one_more_unit": unit.ok().map(|unit| list(&unit.rows, |row| of_row(problem, row))),
        "one_more_unit_basis": basis,
        "why": unit.err().map(ToString::to_string),
    });
    document("explanation", fields)
}

/// Returns the gain from one more unit of a row.
fn of_row(problem: &Problem, row: &UnitOfRow) -> Value {
    let users = row.users.iter();
    let mut fields = json!({
        "server": problem.servers()[row.server].name(),
        "resource": problem.resources()[row.resource],
        "users": by_name(users.map(|(n, gain)| (problem.users()[*n].name(), number_or_bounds(gain)))),
        "rate": number_or_bounds(&row.rate),
        "changes_shares": row.changes_shares,
    });
    state(&mut fields, &row.tasks);
    fields
}

/// Adds the field `tasks`, or the fields `at_least` and `at_most` if the exact number is not known.
fn state(fields: &mut Value, tasks: &Between) {
    match tasks.exact() {
        Some(tasks) => fields["tasks"] = json!(exact(tasks)),
        None => {
            fields["at_least"] = json!(exact(&tasks.at_least));
            fields["at_most"] = json!(exact(&tasks.at_most));
        }
    }
}

/// Returns the number, or the bounds on the number if it is not known exactly.
fn number_or_bounds(value: &Between) -> Value {
    match value.exact() {
        Some(value) => json!(exact(value)),
        None => json!({"at_least": exact(&value.at_least), "at_most": exact(&value.at_most)}),
    }
}
