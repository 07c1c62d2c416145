//! Writes the results of a search for cycles of preemption, for people and for programs.

use evenhand_report::Page;
use evenhand_report::table::{Cell, Column, Table};
use serde_json::{Value, json};

use super::{Bounds, Case, Found, Step};

/// Returns the settings and results of the search as a document.
#[must_use]
pub fn document(bounds: Bounds, seed: u64, found: &Found) -> Value {
    let shapes = found.searched.iter().map(|of| {
        json!({
            "workloads": of.shape.workloads,
            "resources": of.shape.resources,
            "queues": of.shape.queues,
            "cases": of.cases,
            "round": of.round,
        })
    });
    let fields = json!({
        "rule": "kueue",
        "searched": {
            "all": found.is_all,
            "cases": found.cases(),
            "seed": seed,
            "amount": bounds.amount,
            "lendable": bounds.lendable,
            "weight": bounds.weight,
            "shapes": shapes.collect::<Vec<Value>>(),
        },
        "round": found.round(),
        "smallest": found.smallest.as_ref().map(smallest),
    });
    evenhand_report::json::document("audit-preemption", fields)
}

fn smallest(case: &Case) -> Value {
    let workloads = case.jobs.iter().map(|(queue, asks)| json!({"queue": queue_name(*queue), "asks": asks}));
    let names = |list: &[usize]| list.iter().map(|job| job + 1).collect::<Vec<usize>>();
    let steps = case.round().unwrap_or_default();
    let steps = steps.iter().map(
        |step| json!({"start": step.start + 1, "stop": names(&step.stops), "running": names(&step.running)}),
    );
    json!({
        "lendable": case.lendable,
        "weights": case.weights,
        "workloads": workloads.collect::<Vec<Value>>(),
        "steps": steps.collect::<Vec<Value>>(),
    })
}

fn queue_name(queue: usize) -> String {
    ('a'..='z').nth(queue).map_or_else(|| queue.to_string(), String::from)
}

/// Returns a page with the number of cycles for each shape, and the steps of the smallest case with a cycle.
#[must_use]
pub fn page(bounds: Bounds, found: &Found) -> Page {
    let columns = ["workloads", "resources", "queues", "cases", "go round"].map(Column::numbers);
    let mut table = Table::new(columns);
    for of in &found.searched {
        let round = Cell::text(of.round.to_string());
        let shape = [of.shape.workloads, of.shape.resources, of.shape.queues, of.cases];
        let row = shape.into_iter().map(|count| Cell::text(count.to_string()));
        table.row(row.chain([if of.round > 0 { round.bad() } else { round }]));
    }
    let tried = if found.is_all { "all" } else { "cases drawn by the seed:" };
    let text = format!(
        "Preemption of Kueue by shares on {tried} {} cases with amounts up to {} of up to {} and weights up to {}: {} \
        repeat the same steps without end.",
        found.cases(),
        bounds.amount,
        bounds.lendable,
        bounds.weight,
        found.round(),
    );
    let page = Page::new().text(text).table(table);
    let Some(case) = &found.smallest else { return page };
    page.lines(describe(case)).table(steps(case, &case.round().unwrap_or_default()))
}

fn describe(case: &Case) -> Vec<String> {
    let numbers = |list: &[u64]| list.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let queues = case.weights.iter().enumerate();
    let queues = queues.map(|(queue, weight)| format!("{} has the weight {weight}", queue_name(queue)));
    vec![
        format!(
            "The smallest: {} can be lent; {}.",
            numbers(&case.lendable),
            queues.collect::<Vec<_>>().join(", ")
        ),
        "These steps repeat. A workload is shown by its number in the order of arrival, its queue and its \
        request."
            .to_owned(),
    ]
}

fn steps(case: &Case, steps: &[Step]) -> Table {
    let workload = |job: &usize| {
        let (queue, asks) = &case.jobs[*job];
        let asks: Vec<String> = asks.iter().map(u64::to_string).collect();
        format!("{} ({} asks for {})", job + 1, queue_name(*queue), asks.join(" and "))
    };
    let all = |list: &[usize]| list.iter().map(workload).collect::<Vec<_>>().join(", ");
    let mut table = Table::new([
        Column::numbers("step"),
        Column::words("starts"),
        Column::words("stop for it"),
        Column::words("run then"),
    ]);
    for (at, step) in steps.iter().enumerate() {
        table.row([
            Cell::text((at + 1).to_string()),
            Cell::text(workload(&step.start)),
            Cell::text(all(&step.stops)),
            Cell::text(all(&step.running)),
        ]);
    }
    table
}
