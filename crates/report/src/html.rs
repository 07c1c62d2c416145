//! Documents of HTML that need nothing from elsewhere: no scripts, no fonts, no pictures of other servers.

use evenhand_problem::Medium;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What documents look like, on a screen and on paper.
const STYLE: &str = "\
body{font-family:sans-serif;max-width:72em;margin:2em auto;padding:0 1em;line-height:1.4}\
img,svg{max-width:100%;height:auto}figure{margin:1em 0}pre{white-space:pre-wrap;overflow-wrap:anywhere}\
table{border-collapse:collapse;margin:1em 0;font-size:90%;display:block;overflow-x:auto}\
td,th{border-top:1px solid #ccc;padding:.3em .6em;text-align:left;vertical-align:top;overflow-wrap:break-word;max-width:24em}\
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
.good{color:#006400}.bad{color:#a00000;font-weight:bold}.muted{color:#707070}";

/// Characters that stand for themselves in a `data` link, beside letters and digits.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// What a browser may load for a document, whatever stands in it: the one style sheet with this hash, and pictures
/// within it. No script runs, no attribute styles an element, no form is sent, and addresses count from the document.
const POLICY: &str = "default-src 'none'; \
    style-src 'sha256-PCOVoDiF8TeqeBW6w4PJyIsXCA34k1aQilCKQ5r37G8='; \
    img-src data:; base-uri 'none'; form-action 'none'";

/// A whole document: its title, which is text, and its body, which is HTML.
#[must_use]
pub fn document(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n",
        title = Medium::Html.show(title)
    )
}

/// A link that holds a JSON file, which a browser saves under `name`.
#[must_use]
pub fn json_link(name: &str, json: &str) -> String {
    format!(
        "<a download=\"{name}\" href=\"data:application/json,{}\">{name}</a>",
        utf8_percent_encode(json, PLAIN),
        name = Medium::Html.show(name)
    )
}
