//! Text broken into lines that a terminal can hold.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Lines of at most `width` characters, broken between words where that is possible.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for c in word.chars() {
            // A word that is longer than a line is broken anywhere.
            if !line.is_empty() && line.width() + c.width().unwrap_or(0) > width {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    lines.push(line);
    lines
}

/// Every line of `text`, wrapped with the indentation that it has.
pub(crate) fn paragraph(text: &str, width: Option<usize>) -> String {
    let mut shown = String::new();
    for line in text.split('\n') {
        let words = line.trim_start_matches(' ');
        let indent = " ".repeat(line.len() - words.len());
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(indent.len()).max(LEAST));
        for piece in wrap(words, room) {
            shown.push_str(format!("{indent}{piece}").trim_end());
            shown.push('\n');
        }
    }
    shown
}

/// Lines are not made shorter than this, however narrow the terminal is.
const LEAST: usize = 20;
