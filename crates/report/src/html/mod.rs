//! Documents of HTML that need nothing from elsewhere: no fonts, no pictures and no scripts of other servers, and all but
//! the sorting of tables works without a script.

mod bars;
mod certificate;
mod cluster;
mod comparison;
mod groups;
mod matrix;
mod opening;
mod scatter;
mod strips;

use data_encoding::BASE64;
use evenhand_problem::{Rational, printable};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::table::exact_behind;
use crate::text::decimal;

pub use cluster::document as cluster;
pub use comparison::document as comparison;

/// What documents look like, on a screen and on paper.
const STYLE: &str = include_str!("style.css");
/// Sorts tables.
const SCRIPT: &str = include_str!("sort.js");

/// What a browser may load for a document, whatever stands in it: the one style sheet and the one script with these hashes, and
/// pictures within it. No attribute styles an element, no form is sent, and addresses count from the document.
fn policy() -> String {
    let hash = |text: &str| BASE64.encode(&Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

/// A whole document: its title, which is text, and its body, which is HTML.
#[must_use]
pub fn document(title: &str, body: &str) -> String {
    page(title, "", &PreEscaped(body.to_owned()))
}

/// [`document`] with a line of facts below the title.
fn page(title: &str, facts: &str, body: &Markup) -> String {
    let title = printable(title);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
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
            }
        }
    };
    markup.into_string() + "\n"
}

/// A number as a decimal, with the exact one as its title.
fn number(value: &Rational) -> Markup {
    let shown = decimal(value);
    html! { span title=[exact_behind(&shown, value)] { (shown) } }
}
