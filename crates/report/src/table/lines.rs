//! A table as lines of text.

use anstyle::{AnsiColor, Effects, Style};
use unicode_width::UnicodeWidthStr;

use super::fit::{Band, GAP, bands};
use super::{Holds, Table, Tone};
use crate::page::Terminal;
use crate::wrap::wrap;

pub(super) fn render(table: &Table, terminal: Terminal) -> String {
    let bands = bands(table, terminal.width);
    let parts: Vec<String> = bands.iter().map(|band| render_band(table, band, terminal.colour)).collect();
    parts.join("\n")
}

fn render_band(table: &Table, band: &Band, colour: bool) -> String {
    // By column of the band: the cells as they are aligned.
    let texts: Vec<Vec<String>> = band
        .columns
        .iter()
        .map(|(position, _)| {
            let cells = table.shown().iter().map(|row| row[*position].shown.as_str());
            match table.columns[*position].holds {
                Holds::Words => cells.map(str::to_owned).collect(),
                Holds::Numbers => aligned(cells),
            }
        })
        .collect();
    let header = band.columns.iter().map(|(at, _)| (table.columns[*at].name.as_str(), HEADER));
    let mut text = render_row(table, band, &header.collect::<Vec<_>>(), colour);
    for (index, row) in table.shown().iter().enumerate() {
        let cells = band.columns.iter().zip(&texts);
        let cells = cells.map(|((at, _), texts)| (texts[index].as_str(), style(row[*at].tone)));
        text.push_str(&render_row(table, band, &cells.collect::<Vec<_>>(), colour));
    }
    text
}

const HEADER: Style = Style::new().effects(Effects::BOLD);

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Bad => AnsiColor::Red.on_default().bold(),
        Tone::Muted => Style::new().dimmed(),
    }
}

/// One row, of as many lines as its tallest cell.
fn render_row(table: &Table, band: &Band, cells: &[(&str, Style)], colour: bool) -> String {
    let wrapped: Vec<Vec<String>> =
        cells.iter().zip(&band.columns).map(|((text, _), (_, width))| wrap(text, *width)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for line in 0..height {
        let mut blanks = 0;
        for (cell, (at, width)) in band.columns.iter().enumerate() {
            let piece = wrapped[cell].get(line).map_or("", String::as_str);
            let rest = width.saturating_sub(piece.width());
            let (before, after) = match table.columns[*at].holds {
                Holds::Words => (0, rest),
                Holds::Numbers => (rest, 0),
            };
            // Blanks are owed until something follows them: no line ends with blanks.
            let inner = piece.trim_end();
            blanks += before;
            if !inner.is_empty() {
                text.extend(std::iter::repeat_n(' ', std::mem::take(&mut blanks)));
                let style = cells[cell].1;
                match colour && style != Style::new() {
                    true => text.push_str(&format!("{style}{inner}{style:#}")),
                    false => text.push_str(inner),
                }
            }
            blanks += piece.len() - inner.len() + after + GAP;
        }
        text.push('\n');
    }
    text
}

/// Numbers with blanks after them such that their decimal points are below one another when they are
/// aligned to the right.
pub(super) fn aligned<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let after = |text: &str| text[point(text)..].width();
    let longest = cells.clone().map(after).max().unwrap_or(0);
    cells.map(|text| format!("{text}{}", " ".repeat(longest - after(text)))).collect()
}

/// Where the decimal point stands, or would stand: before the last point between two digits, else
/// behind the last digit, else at the end.
fn point(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let decimal =
        (1..bytes.len()).rev().find(|at| bytes[*at] == b'.' && is_digit(at - 1) && is_digit(at + 1));
    decimal.or_else(|| (0..bytes.len()).rev().find(|at| is_digit(*at)).map(|at| at + 1)).unwrap_or(text.len())
}
