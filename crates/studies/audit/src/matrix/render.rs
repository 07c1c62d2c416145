//! Writes a matrix as text, as a document and as the tables of the documentation.

use evenhand_problem::format::AllocationDocument;
use evenhand_problem::{Allocation, Problem, number};
use evenhand_report::table::{Cell as TableCell, Column as TableColumn, Table};
use evenhand_report::{Page, text};
use serde_json::{Value, json};

use super::cells::{Cell, Judged, Matrix, Pair, Shown, StateOf};
use super::column::Column;
use crate::render::problem_value;

/// The states, in the order of the report.
const STATES: [StateOf; 4] = [StateOf::Proven, StateOf::Refuted, StateOf::Open, StateOf::NotApplicable];

impl Cell {
    /// Returns the base name of the files about the cell.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.mechanism.info.id, self.column.name())
    }
}

/// Returns the certificate files of a counterexample: the certificate of the allocation and, if there is a
/// changed problem, the certificate of the allocation on the changed problem.
#[must_use]
pub fn certificates(name: &str, shown: &Shown) -> Vec<(String, String)> {
    let text = |examination: &evenhand_certify::Examination| examination.certificate.to_json();
    let mut all = vec![(format!("certificates/{name}.json"), text(&shown.examination))];
    if let Some(pair) = &shown.pair {
        all.push((format!("certificates/{name}.changed.json"), text(&pair.examination)));
    }
    all
}

/// Returns the settings and results of the search as a document.
#[must_use]
pub fn document(matrix: &Matrix) -> Value {
    let looked = matrix.looked.iter().map(|(mechanism, problems, failed)| {
        json!({"mechanism": mechanism.info.id, "problems": problems, "failed": failed})
    });
    let claim = |judged: &Judged| {
        let claim = judged.claim;
        let mut value = of_cell(&judged.cell, &claim_name(judged));
        value["paper"] = json!(claim.paper);
        value["says"] = json!(if claim.says { "holds" } else { "fails" });
        if let Some(goal) = claim.select {
            value["select"] = json!(goal);
        }
        value["premises"] = json!(claim.premises.words());
        value["verdict"] = json!(judged.verdict());
        value
    };
    evenhand_report::json::document(
        "audit-matrix",
        json!({
            "searched": {
                "seed": matrix.settings.seed,
                "instances": matrix.settings.instances,
                "positive": matrix.settings.premises.positive,
                "unlimited": matrix.settings.premises.unlimited,
                "everywhere": matrix.settings.premises.everywhere,
                "complete": matrix.complete,
                "mechanisms": looked.collect::<Vec<Value>>(),
            },
            "cells": matrix.cells.iter().map(|cell| of_cell(cell, &cell.file_name())).collect::<Vec<Value>>(),
            "claims": matrix.claims.iter().map(claim).collect::<Vec<Value>>(),
        }),
    )
}

/// Returns the base name of the files about a claim.
#[must_use]
pub fn claim_name(judged: &Judged) -> String {
    let paper: String = judged.claim.paper.chars().filter(|c| c.is_alphanumeric() || *c == ' ').collect();
    format!("{}.{}", paper.to_lowercase().replace(' ', "-"), judged.cell.file_name())
}

fn of_cell(cell: &Cell, name: &str) -> Value {
    let shown = cell.shown.as_deref();
    let mut value = json!({
        "mechanism": cell.mechanism.info.id,
        "axiom": cell.column.name(),
        "state": cell.state.name(),
        "reference": cell.reference,
        "instances": cell.instances,
        "certificate": shown.map(|_| format!("certificates/{name}.json")),
        "example": shown.map(|shown| example(name, shown)),
    });
    if let Some((problems, reference)) = &cell.proven_where {
        value["proven_where"] = json!({"problems": problems, "reference": reference});
    }
    value
}

fn example(name: &str, shown: &Shown) -> Value {
    let mut value = json!({
        "margin": shown.margin.as_ref().map(number::format),
        "problem": problem_value(&shown.problem),
        "allocation": allocation_value(&shown.problem, &shown.allocation),
    });
    if let Some(pair) = &shown.pair {
        value["changed"] = json!({
            "change": pair.change,
            "user": pair.user,
            "before": number::format(&pair.before),
            "after": number::format(&pair.after),
            "compared": pair.compared.name(),
            "problem": problem_value(&pair.problem),
            "allocation": allocation_value(&pair.problem, &pair.allocation),
            "certificate": format!("certificates/{name}.changed.json"),
        });
    }
    value
}

fn allocation_value(problem: &Problem, allocation: &Allocation) -> Value {
    serde_json::to_value(AllocationDocument::new(problem, allocation)).unwrap_or_default()
}

/// Returns a sentence about a cell.
pub(super) fn sentence(cell: &Cell) -> String {
    let reference = &cell.reference;
    let said = match cell.state {
        StateOf::Proven => format!("Proven: {reference}."),
        StateOf::Refuted => format!("Refuted by {reference}."),
        StateOf::Open => format!("Open: {reference}."),
        StateOf::NotApplicable => format!("Not applicable: {reference}."),
    };
    let proven = cell.proven_where.as_ref();
    let proven = proven.map(|(problems, reference)| format!(" It is proven {problems} ({reference})."));
    said + &proven.unwrap_or_default()
}

/// Returns a sentence about a counterexample.
pub(super) fn describe(shown: &Shown) -> String {
    match &shown.pair {
        None => {
            let users = shown.problem.users().iter().zip(shown.allocation.totals());
            let tasks: Vec<String> =
                users.map(|(user, x)| format!("{} {}", user.name(), number::format(&x))).collect();
            let margin = shown.margin.as_ref().map(|margin| format!(", margin {}", text::number(margin)));
            format!("tasks {}{}", tasks.join(", "), margin.unwrap_or_default())
        }
        Some(Pair { change, user, before, after, .. }) => {
            let (before, after) = (text::number(before), text::number(after));
            format!("{change}, and {user} can run {after} instead of {before}")
        }
    }
}

/// Returns a page with the mechanisms by state for every axiom and property, and the claims of the papers.
#[must_use]
pub fn page(matrix: &Matrix) -> Page {
    let columns = STATES.map(|state| TableColumn::words(state.name()));
    let mut table = Table::new([TableColumn::words("axiom or property")].into_iter().chain(columns));
    for column in Column::all() {
        let in_state = |state: StateOf| {
            let cells = matrix.cells.iter().filter(|cell| cell.column == column && cell.state == state);
            let names: Vec<&str> = cells.map(|cell| cell.mechanism.info.id).collect();
            let cell = TableCell::text(names.join(", "));
            if state == StateOf::Refuted && !names.is_empty() { cell.bad() } else { cell }
        };
        table.row([TableCell::text(column.name())].into_iter().chain(STATES.map(in_state)));
    }
    let counts = STATES.map(|state| format!("{} {}", matrix.count(state), state.name()));
    let searched = if matrix.complete { "" } else { " (the search is not over)" };
    Page::new()
        .heading("Mechanisms by axioms and properties")
        .text(format!("{} cells: {}{searched}", matrix.cells.len(), counts.join(", ")))
        .table(table)
        .heading("What the papers say")
        .table(claims(matrix))
        .lines(contradictions(matrix))
}

fn claims(matrix: &Matrix) -> Table {
    let mut table =
        Table::new(["paper", "mechanism", "axiom or property", "says", "found"].map(TableColumn::words));
    for judged in &matrix.claims {
        let verdict = TableCell::text(judged.verdict());
        let contradicts = judged.agrees() == Some(false);
        table.row([
            TableCell::text(judged.claim.paper),
            TableCell::text(judged.claim.mechanism),
            TableCell::text(judged.claim.column.name()),
            TableCell::text(if judged.claim.says { "holds" } else { "fails" }),
            if contradicts { verdict.bad() } else { verdict },
        ]);
    }
    table
}

/// Returns the claims of papers that are contradicted, each with the problem that contradicts it.
fn contradictions(matrix: &Matrix) -> Vec<String> {
    let against = matrix.claims.iter().filter(|judged| judged.agrees() == Some(false));
    let lines = against.filter_map(|judged| {
        let shown = judged.cell.shown.as_deref()?;
        let claim = judged.claim;
        let said =
            format!("{}: {} {}: {}", claim.paper, claim.mechanism, claim.column.name(), describe(shown));
        let compared = shown.pair.as_ref().map(|pair| format!("({})", pair.compared.words()));
        let problem = evenhand_problem::format::problem_to_json(&shown.problem);
        let lines = [Some(said), compared].into_iter().flatten();
        Some(lines.chain(problem.lines().map(str::to_owned)).collect::<Vec<String>>())
    });
    lines.flatten().collect()
}

/// Returns the tables of the documentation. They have a row for every axiom and property, and a column for every
/// mechanism. Rows that apply to fewer than half of the mechanisms are in a separate table with fewer columns.
#[must_use]
pub fn table(matrix: &Matrix) -> String {
    let ids: Vec<&str> = matrix.looked.iter().map(|(mechanism, _, _)| mechanism.info.id).collect();
    let applies = |id: &str, column: Column| {
        matrix.cell(id, column.name()).is_some_and(|cell| cell.state != StateOf::NotApplicable)
    };
    let is_common = |column: &Column| 2 * ids.iter().filter(|id| applies(id, *column)).count() >= ids.len();
    let (common, special): (Vec<Column>, Vec<Column>) = Column::all().into_iter().partition(is_common);
    let of_few = |id: &&str| special.iter().any(|column| applies(id, *column));
    let few: Vec<&str> = ids.iter().copied().filter(of_few).collect();
    format!("{}\n{}", signs_of(matrix, &ids, &common), signs_of(matrix, &few, &special))
}

/// Returns a table with these rows and columns.
fn signs_of(matrix: &Matrix, mechanisms: &[&str], columns: &[Column]) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let titles = mechanisms.iter().map(|id| format!("`{id}`"));
    let mut text = row([String::new()].into_iter().chain(titles).collect());
    text.push_str(&format!("|---|{}\n", ":-:|".repeat(mechanisms.len())));
    for column in columns {
        let sign = |id: &&str| matrix.cell(id, column.name()).map_or("", sign).to_owned();
        let signs = mechanisms.iter().map(sign);
        text.push_str(&row([format!("`{}`", column.name())].into_iter().chain(signs).collect()));
    }
    text
}

/// Returns the sign of a cell. The signs mean: proven, refuted, refuted in general but proven for some
/// problems, open, open in general but proven for some problems, and not applicable.
fn sign(cell: &Cell) -> &'static str {
    match (cell.state, &cell.proven_where) {
        (StateOf::Proven, _) => "✓",
        (StateOf::Refuted, None) => "✕",
        (StateOf::Refuted, Some(_)) => "(✕)",
        (StateOf::Open, None) => "?",
        (StateOf::Open, Some(_)) => "(?)",
        (StateOf::NotApplicable, _) => "·",
    }
}
