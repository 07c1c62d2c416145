//! Certificates on a page, as links that a browser can save.

use std::io::Write;

use data_encoding::BASE64;
use evenhand_exact::Certificate;
use evenhand_problem::{Rational, Sharing, printable};
use flate2::Compression;
use flate2::write::GzEncoder;
use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters other than letters and digits that are not escaped in a `data` link.
pub(super) const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// The largest size in bytes of a certificate that becomes a link without compression. Longer certificates
/// are compressed to about a tenth of their size.
const LONGEST_PLAIN: usize = 20_000;
/// The largest number of bytes of all certificate links of a page, so that the page can be sent.
const MOST: usize = 1_500_000;

/// The free space for certificates on a page.
pub(super) struct Room {
    /// The number of bytes that links may still use.
    left: usize,
    /// True if the page has a certificate.
    has_some: bool,
}

impl Room {
    pub(super) const fn new() -> Self {
        Self { left: MOST, has_some: false }
    }

    /// Returns `true` if the page has a certificate.
    pub(super) const fn has_some(&self) -> bool {
        self.has_some
    }

    /// Returns the certificate as a link. Returns a sentence that tells how to get it if there is no space
    /// for the link.
    pub(super) fn link(&mut self, name: &str, certificate: &Certificate) -> Markup {
        if certificate.claims.is_empty() {
            return html! {};
        }
        // Checkers accept unusual options only on request.
        let is_wide = certificate.tolerance > Rational::from((1, 1_000_000));
        let asked = Asked {
            by_time: certificate.allocation.sharing == Sharing::Tdm,
            tolerance: is_wide.then(|| certificate.tolerance.to_string()),
        };
        let text = certificate.to_json();
        let link = Link::new(name, &text, asked);
        if link.address.len() > self.left {
            return html! {
                p { "The certificate of these verdicts has " (text.len()) " bytes, too many for this page. Write it with "
                    code { "evenhand certify" } "." }
            };
        }
        self.left -= link.address.len();
        self.has_some = true;
        link.show()
    }
}

/// The options that a checker needs for a certificate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// True if the checker must accept servers that are shared by time.
    pub by_time: bool,
    /// The tolerance that `evenhand-check` must accept, if it is larger than the default. The checker on the
    /// page uses the tolerance that the reader enters there.
    pub tolerance: Option<String>,
}

/// A certificate as a link.
pub(super) struct Link<'a> {
    name: &'a str,
    asked: Asked,
    address: String,
    /// The name of the certificate file.
    file: String,
    /// The name of the saved file. The file may be compressed.
    saved: String,
}

impl<'a> Link<'a> {
    pub(super) fn new(name: &'a str, text: &str, asked: Asked) -> Self {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let file = format!("{}.certificate.json", name.chars().filter(is_plain).collect::<String>());
        let (address, saved) = match text.len() <= LONGEST_PLAIN {
            true => (data("application/json,", &utf8_percent_encode(text, PLAIN).to_string()), file.clone()),
            false => (packed(text), format!("{file}.gz")),
        };
        Self { name, asked, address, file, saved }
    }

    /// Returns the link, for which the script of [`super::check`] searches, and the command that verifies the
    /// certificate.
    pub(super) fn show(&self) -> Markup {
        let Self { name, asked, address, file, saved } = self;
        let sharing = if asked.by_time { " --sharing tdm" } else { "" };
        let tolerance =
            asked.tolerance.as_ref().map_or_else(String::new, |t| format!(" --max-tolerance {t}"));
        html! {
            p {
                "The certificate: "
                a download=(saved) href=(address) data-certificate=(printable(name))
                    data-sharing=(if asked.by_time { "tdm" } else { "" }) { (saved) }
                ". "
                code {
                    @if file != saved { "gunzip " (saved) " && " }
                    "evenhand-check " (file) (sharing) (tolerance)
                }
                " checks these verdicts again"
                @if let Some(tolerance) = &asked.tolerance { ", and accepts a tolerance of " (printable(tolerance)) }
                "."
            }
        }
    }
}

fn data(kind: &str, text: &str) -> String {
    format!("data:{kind}{text}")
}

fn packed(text: &str) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    let bytes = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).unwrap_or_default();
    data("application/gzip;base64,", &BASE64.encode(&bytes))
}

/// Returns a link to a table for spreadsheets.
pub(super) fn csv(name: &str, text: &str) -> Markup {
    html! {
        p class="only-screen" {
            a download=(name) href=(data("text/csv;charset=utf-8,", &utf8_percent_encode(text, PLAIN).to_string())) { (name) }
            " contains the numbers of this comparison."
        }
    }
}
