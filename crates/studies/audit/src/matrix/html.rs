//! Writes a matrix as an HTML page. A click on a cell shows its details.

use evenhand_problem::format::problem_to_json;
use evenhand_problem::printable;
use evenhand_report::html::document as whole;
use maud::{Markup, html};

use super::cells::{Cell, Judged, Matrix, Shown, StateOf};
use super::column::Column;
use super::render::{certificates, claim_name, describe, sentence};

/// Returns the CSS class, the sign and the word for a cell.
fn sign(cell: &Cell) -> (&'static str, &'static str, &'static str) {
    match cell.state {
        StateOf::Proven => ("holds", "✓", "proven"),
        StateOf::Refuted if cell.proven_where.is_some() => ("violated", "✕", "refuted *"),
        StateOf::Refuted => ("violated", "✕", "refuted"),
        StateOf::Open if cell.proven_where.is_some() => ("within", "?", "open *"),
        StateOf::Open => ("within", "?", "open"),
        StateOf::NotApplicable => ("unknown", "·", "n/a"),
    }
}

/// Returns the whole document. `with_files` is true if the certificates are stored in the same folder.
#[must_use]
pub fn document(matrix: &Matrix, with_files: bool) -> String {
    let states = [StateOf::Proven, StateOf::Refuted, StateOf::Open, StateOf::NotApplicable];
    let counts = states.map(|state| format!("{} {}", matrix.count(state), state.name())).join(", ");
    let premises = matrix.settings.premises.words();
    let body = html! {
        p { (matrix.cells.len()) " cells: " (counts) ". Every user has one demand, the same on all classes"
            @if !premises.is_empty() { "; problems " (premises) }
            ". Seed " (matrix.settings.seed) ", " (matrix.settings.instances) " problems at random for each mechanism."
            @if !matrix.complete { " The search is not over." } }
        div class="card" {
            div class="wide" tabindex="0" role="region" aria-label="Axioms and properties, by mechanism" {
                table class="matrix" {
                    thead { tr { td {} @for (mechanism, _, _) in &matrix.looked { th scope="col" { (mechanism.info.id) } } } }
                    tbody { @for column in Column::all() { (row(matrix, column, with_files)) } }
                }
            }
            ul class="key" {
                li { "✓ proven" }
                li { "✕ refuted by a problem" }
                li { "? open: nothing refutes it so far" }
                li { "· not applicable (n/a)" }
                li { "* proven on some problems" }
            }
            p class="muted" { "A cell opens to its proof, its problem or its reason." }
        }
        h2 { "What the papers say" }
        (claims(matrix, with_files))
    };
    whole("Mechanisms by axioms and properties", &body.into_string(), false)
}

fn row(matrix: &Matrix, column: Column, with_files: bool) -> Markup {
    let cells = matrix.cells.iter().filter(|cell| cell.column == column);
    html! {
        tr {
            th scope="row" { (column.name()) }
            @for cell in cells {
                @let (class, sign, word) = sign(cell);
                td class=(class) {
                    details {
                        summary { (sign) " " (word) }
                        (explained(cell, &cell.file_name(), with_files))
                    }
                }
            }
        }
    }
}

fn explained(cell: &Cell, name: &str, with_files: bool) -> Markup {
    html! {
        p { (printable(&sentence(cell))) }
        @if let Some(shown) = &cell.shown { (example(name, shown, with_files)) }
    }
}

fn example(name: &str, shown: &Shown, with_files: bool) -> Markup {
    html! {
        p { (printable(&describe(shown))) "." }
        @if let Some(pair) = &shown.pair { p { "Here " (pair.compared.words()) "." } }
        @if with_files {
            p { @for (file, _) in certificates(name, shown) { a href=(file) { "certificate" } " " } }
        }
        pre { (problem_to_json(&shown.problem)) }
    }
}

fn claims(matrix: &Matrix, with_files: bool) -> Markup {
    let class = |judged: &Judged| match judged.agrees() {
        Some(true) => "holds",
        Some(false) => "violated",
        None => "within",
    };
    html! {
        div class="card" {
            div class="wide" tabindex="0" role="region" aria-label="Claims of the papers" {
                table class="matrix claims" {
                    thead { tr {
                        @for title in ["Paper", "Mechanism", "Axiom or property", "Says"] { th scope="col" { (title) } }
                        th scope="col" { "Found" }
                    } }
                    tbody {
                        @for judged in &matrix.claims {
                            tr {
                                th scope="row" { (judged.claim.paper) }
                                td { (judged.claim.mechanism) }
                                td { (judged.claim.column.name()) }
                                td { @if judged.claim.says { "holds" } @else { "fails" } }
                                td class=(class(judged)) {
                                    details {
                                        summary { (judged.verdict()) }
                                        p { (judged.claim.premises.words()) }
                                        (explained(&judged.cell, &claim_name(judged), with_files))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
