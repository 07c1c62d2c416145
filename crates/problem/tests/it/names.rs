//! Names as each medium shows them.

use evenhand_problem::Medium;
use proptest::prelude::*;

const ALL: [Medium; 7] = [
    Medium::Text,
    Medium::Markdown,
    Medium::MarkdownCell,
    Medium::Html,
    Medium::Latex,
    Medium::Csv,
    Medium::Coq,
];

fn is_hidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
}

#[test]
fn names_are_no_formulas_in_spreadsheets() {
    for (name, field) in [
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-1+cmd", "'-1+cmd"),
        ("＝1+1", "'＝1+1"),
        ("=a,b", "\"'=a,b\""),
        ("a;=b", "\"a;=b\""),
        ("a \"b\"", "\"a \"\"b\"\"\""),
        (" =1", "\" =1\""),
        ("\t=1", "\\u{9}=1"),
        ("-", "'-"),
        // Numbers get no apostrophe.
        ("-12.5e-3", "-12.5e-3"),
        ("-5/7", "-5/7"),
        ("+1", "+1"),
        ("-inf", "'-inf"),
        ("-5/7/2", "'-5/7/2"),
        ("1=1", "1=1"),
        ("", ""),
    ] {
        assert_eq!(Medium::Csv.show(name), field);
    }
}

#[test]
fn names_begin_no_block_in_markdown() {
    for (name, line) in [
        ("# heading", "\\# heading"),
        ("- item", "\\- item"),
        ("+ item", "\\+ item"),
        ("* item", "\\* item"),
        ("12. item", "12\\. item"),
        ("1) item", "1\\) item"),
        ("===", "\\==="),
        ("> said", "\\> said"),
        ("    code", "code"),
        ("|a|b|", "\\|a\\|b\\|"),
        (":-:", "\\:-:"),
        ("12 users", "12 users"),
        ("a # b - c", "a # b - c"),
    ] {
        assert_eq!(Medium::Markdown.show(name), line);
    }
    assert_eq!(Medium::MarkdownCell.show("-12.75"), "-12.75");
}

#[test]
fn names_do_not_end_coq_comments() {
    assert_eq!(
        Medium::Coq.show("a *) Axiom x : False. (* \"b\n"),
        concat!(r"a \u{2a}\u{29} Axiom x : False. \u{28}\u{2a} ", r"\u{22}b\u{a}")
    );
    assert_eq!(Medium::Coq.show("größe"), r"gr\u{f6}\u{df}e");
}

proptest! {
    #[test]
    fn hidden_characters_are_escaped(name in any::<String>(), hidden in "[\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{0}-\u{1f}]{0,4}") {
        for medium in ALL {
            let shown = medium.show(&format!("{name}{hidden}{name}"));
            prop_assert!(!shown.contains(is_hidden), "{medium:?}: {shown:?}");
        }
    }

    /// Checks that characters that a medium would read as markup are escaped at every position.
    #[test]
    fn markup_is_escaped(name in "[a-z<>&\"'|`*_\\\\\\[\\]{}%$#^~=+@,;\\-]{0,20}") {
        let html = Medium::Html.show(&name);
        prop_assert!(!html.contains(['<', '>', '"', '\'']));
        prop_assert_eq!(html.matches('&').count(), name.matches(['<', '>', '"', '\'', '&']).count());
        let markdown = Medium::MarkdownCell.show(&name);
        let mut is_escaped = false;
        for c in markdown.chars() {
            let is_markup = matches!(c, '|' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '&' | '~' | '$');
            prop_assert!(is_escaped || !is_markup, "{markdown}");
            is_escaped = c == '\\' && !is_escaped;
        }
        prop_assert!(!is_escaped, "{markdown}");
        prop_assert!(!Medium::Coq.show(&name).contains(['*', '"', '(', ')']));
        let field = Medium::Csv.show(&name);
        if let Some(inside) = field.strip_prefix('"') {
            prop_assert!(!inside.strip_suffix('"').unwrap().replace("\"\"", "").contains('"'));
        } else {
            prop_assert!(!field.contains([',', ';', '"']) && !field.starts_with(['=', '@']));
        }
    }
}
