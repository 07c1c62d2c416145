//! What a file names may not drive the terminal that shows it.

use std::fmt::Write;

/// Text as a terminal may show it: control characters, characters that change the direction of writing
/// and characters that nobody sees are written as `\u{..}`.
///
/// # Examples
/// ```
/// use evenhand_problem::printable;
/// assert_eq!(printable("a\u{1b}[31m\nb"), r"a\u{1b}[31m\u{a}b");
/// assert_eq!(printable("user\u{202e}1"), r"user\u{202e}1");
/// assert_eq!(printable("größe 漢字"), "größe 漢字");
/// ```
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{}", c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Several lines, each [`printable`].
#[must_use]
pub fn printable_lines(text: &str) -> String {
    let lines = text.split('\n').map(|line| printable(line.strip_suffix('\r').unwrap_or(line)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a terminal would obey the character, or show nothing for it (Unicode: Cc, the marks of
/// direction, the invisible ones of Cf, and the separators of lines).
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}
