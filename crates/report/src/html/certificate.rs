//! Certificates within a page, as links that a browser saves.

use std::io::Write;

use data_encoding::BASE64;
use evenhand_certify::compare::Judged;
use evenhand_problem::{Rational, Sharing};
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that stand for themselves in a `data` link, beside letters and digits.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// The longest certificate that is a link as it is, in bytes; longer ones are compressed, to about a tenth.
const LONGEST_PLAIN: usize = 20_000;
/// Bytes that the links of a page may take in all, so that it can be sent.
const MOST: usize = 1_500_000;

/// What the links of a page may still take, in bytes.
pub(super) struct Room(usize);

impl Room {
    pub(super) const fn new() -> Self {
        Self(MOST)
    }

    /// The certificate as a link, or how it can be had.
    pub(super) fn link(&mut self, name: &str, judged: &Judged) -> Markup {
        let certificate = &judged.examination.certificate;
        if certificate.claims.is_empty() {
            return html! {};
        }
        let text = certificate.to_json();
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let file = format!("{}.certificate.json", name.chars().filter(is_plain).collect::<String>());
        // What is not usual is accepted only where it is asked for.
        let sharing = match judged.allocation.sharing {
            Sharing::Rdm => "",
            Sharing::Tdm => " --sharing tdm",
        };
        let is_wide = certificate.tolerance > Rational::from((1, 1_000_000));
        let tolerance =
            if is_wide { format!(" --max-tolerance {}", certificate.tolerance) } else { String::new() };
        let check = format!("evenhand-check {file}{sharing}{tolerance}");
        let (link, saved, first) = match text.len() <= LONGEST_PLAIN {
            true => (data("application/json,", &utf8_percent_encode(&text, PLAIN).to_string()), file, ""),
            false => (packed(&text), format!("{file}.gz"), "gunzip "),
        };
        if link.len() > self.0 {
            return html! {
                p { "The certificate of these verdicts has " (text.len()) " bytes, too many for this page: "
                    code { "evenhand certify" } " writes it." }
            };
        }
        self.0 -= link.len();
        html! {
            p {
                "The certificate: " a download=(saved) href=(link) { (saved) } ". "
                code { @if !first.is_empty() { (first) (saved) " && " } (check) }
                " decides anew whether these verdicts are true."
            }
        }
    }
}

fn data(kind: &str, text: &str) -> String {
    format!("data:{kind}{text}")
}

fn packed(text: &str) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing into memory does not fail.
    let bytes = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).unwrap_or_default();
    data("application/gzip;base64,", &BASE64.encode(&bytes))
}

/// A link that holds a table for spreadsheets.
pub(super) fn csv(name: &str, text: &str) -> Markup {
    html! {
        p class="only-screen" {
            a download=(name) href=(data("text/csv;charset=utf-8,", &utf8_percent_encode(text, PLAIN).to_string())) { (name) }
            " has the numbers of this comparison."
        }
    }
}
