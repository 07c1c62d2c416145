//! The section of a page that checks the certificates of the page in the browser. The checker is
//! `evenhand-proof` in JavaScript (docs/proof.md).

use std::io::Read;
use std::sync::LazyLock;

use data_encoding::BASE64;
use flate2::read::GzDecoder;
use maud::{Markup, PreEscaped, html};

/// The compressed checker, which `make proof` creates.
const PACKED: &[u8] = include_bytes!("proof.js.gz");
/// The uncompressed checker.
static PROGRAM: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::new();
    // If the checker cannot be uncompressed, the text stays empty, and the page reports that the checker is
    // missing. A test below checks that this does not happen.
    let _ = GzDecoder::new(PACKED).read_to_string(&mut text);
    text
});
/// The script of the button.
pub(super) const SCRIPT: &str = include_str!("check.js");

/// Returns the checker as JavaScript. The policy of a page allows it by its hash.
pub(super) fn program() -> &'static str {
    &PROGRAM
}

/// Returns the card with the button and the compressed checker.
pub(super) fn card() -> Markup {
    html! {
        section class="card only-screen" id="check" aria-labelledby="check-title" {
            h2 id="check-title" { "Check this page here" }
            p {
                "The button checks the certificates of this page, in this browser, with a checker whose soundness is proved in Coq. "
                "A claim that it calls proven is true for the problem and the allocation that the certificate states. "
                "The checker does not prove that the words and pictures of this page agree with the certificates, nor that the sender of the page left the checker unchanged. "
                "To be sure, save a certificate and verify it with your own " code { "evenhand-check" } " or " code { "evenhand-proof" }
                ", which do not rely on this page."
            }
            noscript { p { "Scripts are off. The button needs them; everything else works without." } }
            p class="acts" hidden {
                button type="button" class="act" id="check-run" { "Check this page here" }
                " "
                button type="button" class="act" id="check-stop" hidden { "Stop" }
            }
            p hidden {
                label { "The largest tolerance that you accept: " input type="text" id="check-most" value="1e-6" size="8" autocomplete="off"; }
            }
            details class="more" hidden {
                summary { "Another certificate" }
                p {
                    label { "Choose a file, or drop it on the page: " input type="file" id="check-file" accept=".json,.gz"; }
                }
                p { label { input type="checkbox" id="check-timed"; " Accept servers that are shared by time (tdm)." } }
            }
            div id="check-said" role="status" {}
            script type="application/octet-stream" id="check-program" { (PreEscaped(BASE64.encode(PACKED))) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn the_page_contains_the_whole_checker() {
        assert!(program().contains("evenhandProof"));
    }
}
