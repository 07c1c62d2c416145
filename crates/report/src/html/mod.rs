//! Self-contained HTML documents. They load no fonts, pictures or scripts from servers. Everything except
//! sorting tables and checking certificates works without scripts.

mod bars;
mod certificate;
mod check;
mod cluster;
mod comparison;
mod groups;
mod matrix;
mod opening;
mod over_time;
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
pub use over_time::document as over_time;

/// The style sheet of documents, for screens and for paper.
const STYLE: &str = include_str!("style.css");
/// The script that sorts tables.
const SCRIPT: &str = include_str!("sort.js");

/// Returns the content security policy of a document. The document may load the style sheet and the scripts
/// with these hashes, and pictures that it contains. No attribute may style an element, no form may be sent,
/// and addresses are relative to the document. If `checks` is set, the document may also start the worker
/// that checks certificates, which the page creates itself.
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

/// Returns a complete document with a title, which is text, and a body, which is HTML. If `checks` is set,
/// the body contains links to certificates (`link`), and the document gets the card that checks them.
#[must_use]
pub fn document(title: &str, body: &str, checks: bool) -> String {
    let body = html! {
        (PreEscaped(body))
        @if checks { (check::card()) }
    };
    page(title, "", &body, checks)
}

/// Returns the answer in sentences, with which a document begins.
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

/// Returns a picture of [`crate::plot`] with its caption for use in a document. The size of the picture is
/// fixed, so that its letters are legible. A picture that is wider than the window scrolls separately.
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

/// Returns the link to a certificate in a document that checks the certificate.
pub(crate) fn link(name: &str, text: &str) -> String {
    certificate::Link::new(name, text, Asked::default()).show().into_string() + "\n"
}

/// Adds sentences above the body of a document, for example that its answer is old.
#[must_use]
pub fn with_notice(document: &str, sentences: &[String]) -> String {
    let notice = html! { div class="card notice" role="status" { @for sentence in sentences { p { (printable(sentence)) } } } };
    document.replacen("<main>", &format!("<main>{}", notice.into_string()), 1)
}

/// The largest number of files next to a document to which the document links.
const MOST_FILES: usize = 40;

/// Returns links to files in the folder of a document.
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

/// Returns a [`document`] with a line of facts below the title. If `checks` is set, its body contains
/// [`check::card`].
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

/// Returns a document with an unchanged certificate and the name of its file, the output of the kernel, and
/// the checker.
#[must_use]
pub fn certificate(name: &str, text: &str, said: &[String], asked: Asked) -> String {
    let body = html! {
        (check::card())
        h2 { "The output of the kernel" }
        p class="muted" { "This is what " code { "evenhand-check" } " printed when the page was written." }
        (PreEscaped(Page::new().lines(said).render(&Form::Html)))
        h2 { "The certificate" }
        (certificate::Link::new(name.trim_end_matches(".json"), text, asked).show())
    };
    page(name, "A certificate, and a checker for it", &body, true)
}

/// Returns a number as a decimal. The exact number is the title of its element.
fn number(value: &Rational) -> Markup {
    let shown = decimal(value);
    html! { span title=[exact_behind(&shown, value)] { (shown) } }
}
