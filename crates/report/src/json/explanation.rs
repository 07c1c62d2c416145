//! Why a user has what it has, as a document.

use evenhand_certify::explain::{Between, Bottleneck, Explanation, ExplanationVerdict, UnitOfRow};
use evenhand_problem::{Constraints, Problem, Sharing, number};
use serde_json::{Map, Value, json};

use super::document;
use super::why::what_stops;
use crate::text::row_name;

/// Everything that the explanation says.
#[must_use]
pub fn explanation(problem: &Problem, sharing: Sharing, explanation: &Explanation) -> Value {
    let constraints = Constraints::new(problem, sharing);
    let verdict = match explanation.verdict {
        ExplanationVerdict::FitsNowhere => "fits-nowhere",
        ExplanationVerdict::NoTasks => "no-tasks",
        ExplanationVerdict::Satisfied => "satisfied",
        ExplanationVerdict::Blocked => "blocked",
        ExplanationVerdict::Room => "room",
        ExplanationVerdict::Stopped => "stopped",
    };
    let place = |row: usize| {
        let row = &constraints.rows()[row];
        let resource = row_name(row.kind, problem.resources());
        (problem.servers()[row.server].name(), resource)
    };
    let bottleneck = |bottleneck: &Bottleneck| {
        let holders: Map<String, Value> = bottleneck
            .holders
            .iter()
            .map(|(n, part)| (problem.users()[*n].name().to_owned(), json!(number::format(part))))
            .collect();
        json!({
            "resource": place(bottleneck.row).1,
            "own": number::format(&bottleneck.own),
            "largest_holders": holders,
            "holders": bottleneck.n_holders,
        })
    };
    let servers: Map<String, Value> = explanation
        .classes
        .iter()
        .map(|class| {
            let bottlenecks: Vec<Value> = class.bottlenecks.iter().map(bottleneck).collect();
            let view = json!({"tasks": number::format(&class.tasks), "bottlenecks": bottlenecks});
            (problem.servers()[class.server].name().to_owned(), view)
        })
        .collect();
    let unit = explanation.one_more_unit.as_ref();
    let basis = unit.ok().map(|unit| {
        let others_at_most = unit.others_at_most.as_ref().map(number::format);
        let mut basis =
            json!({"differs": unit.differs, "others": unit.others, "others_at_most": others_at_most});
        state(&mut basis, &unit.tasks);
        basis
    });
    let entitled = explanation.entitled.as_ref().map(|entitled| {
        let best = entitled.best.as_ref().map(|(row, own)| {
            let (server, resource) = place(*row);
            json!({"server": server, "resource": resource, "own": number::format(own)})
        });
        let prices = entitled.prices.iter().map(|(row, price)| {
            let (server, resource) = place(*row);
            json!({"server": server, "resource": resource, "price": number::format(price)})
        });
        json!({
            "entitlement": number::format(&entitled.entitlement),
            "largest_bottleneck_share": best,
            "prices": prices.collect::<Vec<Value>>(),
        })
    });
    let levels: Map<String, Value> = explanation
        .virtual_shares
        .iter()
        .map(|view| {
            let highest = view.highest.as_ref().map(
                |(n, level)| json!({"user": problem.users()[*n].name(), "level": number::format(level)}),
            );
            let of = json!({
                "virtual_dominant_share": number::format(&view.share),
                "level": number::format(&view.level),
                "bottleneck": view.bottleneck.map(|row| place(row).1),
                "highest_holder": highest,
            });
            (problem.servers()[view.server].name().to_owned(), of)
        })
        .collect();
    let one_more: Map<String, Value> = explanation
        .one_more
        .iter()
        .map(|class| {
            let short: Map<String, Value> =
                class.short.iter().map(|(row, servers)| (place(*row).1.to_owned(), json!(servers))).collect();
            let view = json!({"tasks": class.tasks.to_string(), "fits_on": class.fits, "short_on": short});
            (problem.servers()[class.server].name().to_owned(), view)
        })
        .collect();
    let fields = json!({
        "virtual_shares": levels,
        "one_more_task": one_more,
        "entitled": entitled,
        "user": problem.users()[explanation.user].name(),
        "tasks": number::format(&explanation.tasks),
        "dominant_share": number::format(&explanation.dominant_share),
        "share": explanation.level.as_ref().map(|(share, _)| share.name(problem)),
        "level": explanation.level.as_ref().map(|(_, level)| number::format(level)),
        "verdict": verdict,
        "stops": explanation.stops.iter().map(|stop| what_stops(problem, stop)).collect::<Vec<_>>(),
        "infeasible": explanation.infeasible,
        "servers": servers,
        "one_more_unit": unit.ok().map(|unit| unit.rows.iter().map(|row| of_row(problem, row)).collect::<Vec<_>>()),
        "one_more_unit_basis": basis,
        "why": unit.err().map(ToString::to_string),
    });
    document("explanation", fields)
}

/// What one more unit of a row brings.
fn of_row(problem: &Problem, row: &UnitOfRow) -> Value {
    let gain = |(n, gain): &(usize, Between)| (problem.users()[*n].name().to_owned(), number_or_bounds(gain));
    let mut fields = json!({
        "server": problem.servers()[row.server].name(),
        "resource": problem.resources()[row.resource],
        "users": row.users.iter().map(gain).collect::<Map<String, Value>>(),
        "rate": number_or_bounds(&row.rate),
        "changes_shares": row.changes_shares,
    });
    state(&mut fields, &row.tasks);
    fields
}

/// Adds `tasks`, or `at_least` and `at_most` where the number is not known.
fn state(fields: &mut Value, tasks: &Between) {
    match tasks.exact() {
        Some(tasks) => fields["tasks"] = json!(number::format(tasks)),
        None => {
            fields["at_least"] = json!(number::format(&tasks.at_least));
            fields["at_most"] = json!(number::format(&tasks.at_most));
        }
    }
}

/// The number, or the bounds between which it is.
fn number_or_bounds(value: &Between) -> Value {
    match value.exact() {
        Some(value) => json!(number::format(value)),
        None => {
            let (at_least, at_most) = (number::format(&value.at_least), number::format(&value.at_most));
            json!({"at_least": at_least, "at_most": at_most})
        }
    }
}
