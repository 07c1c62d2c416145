//! Documents of HTML that need nothing from elsewhere: no fonts, no pictures and no scripts of other servers, and all but
//! the sorting of tables and the button that checks certificates works without a script.

mod bars;
mod certificate;
mod check;
mod cluster;
mod comparison;
mod groups;
mod matrix;
mod opening;
mod scatter;
mod strips;

use data_encoding::BASE64;
use evenhand_problem::{Medium, Rational, printable};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use percent_encoding::utf8_percent_encode;
use sha2::{Digest, Sha256};

use crate::page::Page;
use crate::table::{Form, exact_behind};
use crate::text::decimal;

pub use certificate::Asked;
pub use cluster::document as cluster;
pub use comparison::document as comparison;

/// What documents look like, on a screen and on paper.
const STYLE: &str = include_str!("style.css");
/// Sorts tables.
const SCRIPT: &str = include_str!("sort.js");

/// What a browser may load for a document, whatever stands in it: the one style sheet and the scripts with these hashes, and
/// pictures within it. No attribute styles an element, no form is sent, and addresses count from the document. `checks`: whether
/// it checks certificates, which a worker does that is made in the page.
fn policy(checks: bool) -> String {
    let hash = |text: &str| format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text)));
    let (scripts, workers) = match checks {
        true => ([SCRIPT, check::SCRIPT, check::program()].map(hash).join(" "), " worker-src blob:;"),
        false => (hash(SCRIPT), ""),
    };
    format!(
        "default-src 'none'; style-src {}; script-src {scripts};{workers} img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE)
    )
}

/// A whole document: its title, which is text, and its body, which is HTML. `checks`: whether links to certificates stand in
/// it (`link`), which the document then checks.
#[must_use]
pub fn document(title: &str, body: &str, checks: bool) -> String {
    let body = html! {
        (PreEscaped(body))
        @if checks { (check::card()) }
    };
    page(title, "", &body, checks)
}

/// The answer in sentences, which a document opens with.
#[must_use]
pub fn short(sentences: &[String]) -> String {
    let markup = html! {
        section class="card" aria-labelledby="short" {
            h2 id="short" { "In short" }
            ul { @for sentence in sentences { li { (printable(sentence)) } } }
        }
    };
    markup.into_string() + "\n"
}

/// A picture of [`crate::plot`] within a document, and what it shows. It keeps its size, so that its letters can be read, and
/// scrolls by itself where it is wider than the window.
#[must_use]
pub fn picture(svg: &str, says: &str) -> String {
    let named = format!("<svg role=\"img\" aria-label=\"{}\" ", Medium::Html.show(says));
    let markup = html! {
        figure class="card" tabindex="0" {
            (PreEscaped(svg.replacen("<svg ", &named, 1)))
            figcaption { (printable(says)) }
        }
    };
    markup.into_string() + "\n"
}

/// A certificate within a document that checks it.
pub(crate) fn link(name: &str, text: &str) -> String {
    certificate::Link::new(name, text, Asked::default()).show().into_string() + "\n"
}

/// Files beside a document that are named.
const MOST_FILES: usize = 40;

/// Links to files that stand beside a document.
pub(crate) fn files(names: &[String]) -> String {
    let markup = html! {
        h3 { "Files" }
        ul {
            @for name in names.iter().take(MOST_FILES) {
                li { a href=(utf8_percent_encode(name, certificate::PLAIN)) { (printable(name)) } }
            }
            @if names.len() > MOST_FILES { li { "and " (names.len() - MOST_FILES) " more" } }
        }
    };
    markup.into_string() + "\n"
}

/// [`document`] with a line of facts below the title. `checks`: whether [`check::card`] stands in it.
fn page(title: &str, facts: &str, body: &Markup, checks: bool) -> String {
    let title = printable(title);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(checks));
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 dir="auto" { (title) }
                    @if !facts.is_empty() { p class="muted" { (printable(facts)) } }
                }
                main { (body) }
                script { (PreEscaped(SCRIPT)) }
                @if checks { script { (PreEscaped(check::SCRIPT)) } }
            }
        }
    };
    markup.into_string() + "\n"
}

/// A document that carries one certificate, under the name of its file and as it is, what the kernel said of it, and the checker.
#[must_use]
pub fn certificate(name: &str, text: &str, said: &[String], asked: Asked) -> String {
    let body = html! {
        (check::card())
        h2 { "What the kernel said" }
        p class="muted" { "This is what " code { "evenhand-check" } " printed when the page was written." }
        (PreEscaped(Page::new().lines(said).render(&Form::Html)))
        h2 { "The certificate" }
        (certificate::Link::new(name.trim_end_matches(".json"), text, asked).show())
    };
    page(name, "A certificate, and a checker for it", &body, true)
}

/// A number as a decimal, with the exact one as its title.
fn number(value: &Rational) -> Markup {
    let shown = decimal(value);
    html! { span title=[exact_behind(&shown, value)] { (shown) } }
}
