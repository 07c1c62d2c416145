//! The axioms by mechanism. Every examined axiom has a cell, which opens to show its evidence.

use evenhand_certify::compare::{Compared, Judged};
use evenhand_exact::{Axiom, Outcome, Parameters};
use evenhand_problem::{Constraints, Problem, printable};
use maud::{Markup, html};

use super::number;
use super::opening::{Judgement, shown as with_allocation};
use crate::certificate::words;
use crate::comparison::{axiom_title, examined, is_own};

/// Returns the class, the sign and the word of an outcome.
const fn sign(outcome: Outcome) -> (&'static str, &'static str, &'static str) {
    match outcome {
        Outcome::Holds => ("holds", "✓", "holds"),
        Outcome::Within => ("within", "≈", "within"),
        Outcome::Violated => ("violated", "✕", "violated"),
        Outcome::NotApplicable => ("unknown", "·", "n/a"),
    }
}

pub(super) fn matrix(problem: &Problem, judgement: &Judgement<'_>, columns: &[Compared]) -> Markup {
    let shown: Vec<(&str, &Judged)> = with_allocation(columns).collect();
    let (asked, others): (Vec<_>, Vec<_>) =
        examined(&shown).into_iter().partition(|(axiom, _)| judgement.asks(*axiom));
    html! {
        h2 id="axioms" { "Axioms by mechanism" }
        div class="card" {
            @if !asked.is_empty() { (rows(problem, &shown, &asked, "The usual axioms, by mechanism")) }
            @if !others.is_empty() {
                details class="more" open[asked.is_empty()] {
                    summary { (others.len()) " more axioms" }
                    (rows(problem, &shown, &others, "More axioms, by mechanism"))
                }
            }
            ul class="key" {
                li { "✓ holds, exactly" }
                li { "≈ holds only within the tolerance next to it" }
                li { "✕ violated" }
                li { "· does not apply (n/a), or not examined" }
                li { "* the axiom that the mechanism is made for" }
            }
            p class="muted" { "Open a cell to see its evidence. Margins are fractions of a user's solo tasks." }
        }
    }
}

fn rows(problem: &Problem, shown: &[(&str, &Judged)], axioms: &[(Axiom, Parameters)], label: &str) -> Markup {
    html! {
        div class="wide" tabindex="0" role="region" aria-label=(label) {
            table class="matrix" {
                thead { tr {
                    td {}
                    @for (name, _) in shown { th scope="col" dir="auto" { (printable(name)) } }
                } }
                tbody {
                    @for (axiom, parameters) in axioms {
                        tr {
                            th scope="row" { (axiom_title(*axiom, parameters, problem)) }
                            @for (_, judged) in shown { (cell(problem, judged, *axiom, parameters)) }
                        }
                    }
                }
            }
        }
    }
}

fn cell(problem: &Problem, judged: &Judged, axiom: Axiom, parameters: &Parameters) -> Markup {
    let Some(claim) = judged.examination.claim(axiom, parameters) else {
        let why = judged.examination.undecided.iter().find(|(of, _)| *of == axiom);
        return html! {
            td class="unknown" {
                details {
                    summary { "· not examined" }
                    p { @match why { Some((_, why)) => (printable(&why.to_string())), None => "This axiom was not \
                        requested." } }
                }
            }
        };
    };
    let (class, sign, word) = sign(claim.outcome());
    let own = if is_own(judged, axiom, parameters) { " *" } else { "" };
    let certificate = &judged.examination.certificate;
    let evidence = words(claim, certificate, &Constraints::new(problem, certificate.allocation.sharing));
    html! {
        td class=(class) {
            details {
                summary {
                    (sign) " " (word)
                    @if claim.outcome() == Outcome::Within { " " (number(&certificate.tolerance)) }
                    (own)
                }
                @if let Some(margin) = &claim.margin {
                    p { "Margin " (number(margin)) @if claim.outcome() == Outcome::Violated && claim.is_bound() { " or less" } "." }
                }
                @if !evidence.is_empty() { p { (printable(&evidence)) "." } }
            }
        }
    }
}
