//! Converts a page of Markdown. Formulas become MathML, which browsers render without scripts. Links to files that are not
//! pages lead to copies of these files.

use std::ops::Range;

use math_core::{LatexToMathML, MathCoreConfig, MathDisplay};
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::Fault;

/// Characters that Markdown or mdBook would interpret as markup within a formula.
const MARKUP: [char; 12] = ['_', '*', '|', '`', '[', ']', '\\', '~', '^', '$', '{', '}'];

/// Returns the page with rendered formulas and resolved links. `resolve` gets the target of a link as it is written, and
/// returns the new target, or `None` if the target stays.
///
/// # Errors
/// A formula cannot be read, or `resolve` returns an error.
pub(crate) fn rewrite(
    text: &str,
    mut resolve: impl FnMut(&str) -> Result<Option<String>, Fault>,
) -> Result<String, Fault> {
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let converter =
        LatexToMathML::new(MathCoreConfig::default()).map_err(|(error, ..)| format!("math-core: {error}"))?;
    let options = Options::ENABLE_TABLES | Options::ENABLE_MATH;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::InlineMath(tex) => changes.push((range, formula(&converter, &tex, MathDisplay::Inline)?)),
            Event::DisplayMath(tex) => changes.push((range, formula(&converter, &tex, MathDisplay::Block)?)),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                if let Some(other) = resolve(&dest_url)? {
                    let written = text[range.clone()].rfind(&*dest_url).ok_or(format!(
                        "the page does not state the target {dest_url} literally; write [text](target)"
                    ))?;
                    let start = range.start + written;
                    changes.push((start..start + dest_url.len(), other));
                }
            }
            _ => {}
        }
    }
    let mut written = String::new();
    let mut at = 0;
    changes.sort_by_key(|(range, _)| range.start);
    for (range, change) in changes {
        written.push_str(&text[at..range.start]);
        written.push_str(&change);
        at = range.end;
    }
    written.push_str(&text[at..]);
    Ok(written)
}

/// Returns a formula as MathML on one line.
fn formula(converter: &LatexToMathML, tex: &str, display: MathDisplay) -> Result<String, Fault> {
    let converted = converter.convert_with_local_counter(tex, display);
    let mathml = converted.map_err(|error| format!("the formula {tex}: {error}"))?;
    let plain = |c: char| match c {
        '\n' => " ".to_owned(),
        c if MARKUP.contains(&c) => format!("&#{};", u32::from(c)),
        c => c.to_string(),
    };
    Ok(mathml.chars().map(plain).collect())
}

#[cfg(test)]
mod tests {
    use super::rewrite;

    #[test]
    fn formulas_become_mathml_and_code_stays() {
        let page = rewrite("`$x_n$` is $x_n<1$, and\n\n$$\\sum_n x_n$$\n", |_| Ok(None)).unwrap();
        assert!(page.starts_with("`$x_n$` is <math"), "{page}");
        assert!(page.contains("<msub><mi>x</mi><mi>n</mi></msub><mo>&lt;</mo>"), "{page}");
        assert!(page.contains("display=\"block\"") && page.matches('$').count() == 2, "{page}");
        assert!(rewrite("$\\nosuch$", |_| Ok(None)).unwrap_err().to_string().contains("\\nosuch"));
    }

    #[test]
    fn links_are_replaced_in_place() {
        let to = |target: &str| Ok((target == "a.rs").then(|| "../a.rs.txt".to_owned()));
        let page = rewrite("[a.rs](a.rs), ![b](b.svg), [c](https://c.example)\n", to).unwrap();
        assert_eq!(page, "[a.rs](../a.rs.txt), ![b](b.svg), [c](https://c.example)\n");
    }
}
