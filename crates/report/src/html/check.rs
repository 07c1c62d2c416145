//! The part of a page that checks its certificates where it is read, by `evenhand-proof` in JavaScript (docs/proof.md).

use std::io::Read;
use std::sync::LazyLock;

use data_encoding::BASE64;
use flate2::read::GzDecoder;
use maud::{Markup, PreEscaped, html};

/// The checker, made by `make proof` and compressed.
const PACKED: &[u8] = include_bytes!("proof.js.gz");
/// The checker as it is run.
static PROGRAM: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::new();
    // A test unpacks it; a page without the checker says so itself.
    let _ = GzDecoder::new(PACKED).read_to_string(&mut text);
    text
});
/// The button, and what it does.
pub(super) const SCRIPT: &str = include_str!("check.js");

/// The checker as a browser runs it, which a page allows by its hash.
pub(super) fn program() -> &'static str {
    &PROGRAM
}

/// The card with the button, and the packed checker.
pub(super) fn card() -> Markup {
    html! {
        section class="card only-screen" id="check" aria-labelledby="check-title" {
            h2 id="check-title" { "Check this page here" }
            p {
                "The button runs a checker whose soundness is proved in Coq, in this browser, on the certificates that this page carries: "
                "what it says is proven is so of the problem and the allocation that they state. "
                "It does not prove that the words and pictures of this page say the same, nor that its sender left the checker as it was: "
                "save one of its certificates and verify it by " code { "evenhand-check" } " or " code { "evenhand-proof" }
                " of your own, which believe nothing of this page."
            }
            noscript { p { "Scripts are off: the button needs them, everything else works." } }
            p class="acts" hidden {
                button type="button" class="act" id="check-run" { "Check this page here" }
                " "
                button type="button" class="act" id="check-stop" hidden { "Stop" }
            }
            p hidden {
                label { "The largest tolerance that you accept: " input type="text" id="check-most" value="1e-6" size="8" autocomplete="off"; }
            }
            details class="more" hidden {
                summary { "A certificate from elsewhere" }
                p {
                    label { "Choose one, or drop it on the page: " input type="file" id="check-file" accept=".json,.gz"; }
                }
                p { label { input type="checkbox" id="check-timed"; " Its servers are shared by time (tdm), as was asked for." } }
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
    fn the_checker_is_whole() {
        assert!(program().contains("evenhandProof"));
    }
}
