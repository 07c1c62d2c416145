//! A table as lines of text: the widths of the columns, and the division of the columns into bands that fit
//! on the terminal.

use anstyle::{AnsiColor, Effects, Style};
use unicode_width::UnicodeWidthStr;

use super::{Holds, Table, Terminal, Tone};
use crate::text::wrap;

/// The number of blanks between two columns.
const GAP: usize = 2;
/// The least width of a column of words. Narrower columns are unreadable.
const LEAST_WORDS: usize = 14;
/// The largest length of a word that widens its column. Longer words are broken.
const LONGEST_WORD: usize = 24;

/// Columns that are shown next to each other.
#[derive(Debug, PartialEq, Eq)]
struct Band {
    /// The position and the width of each column, from left to right.
    columns: Vec<(usize, usize)>,
}

/// The widths that a column needs.
#[derive(Debug, Clone, Copy)]
struct Need {
    /// The width if every cell is on one line.
    natural: usize,
    /// The width if words are wrapped.
    least: usize,
}

/// Returns the bands that show a table on a terminal with `width` columns. If the table fits, with wrapped
/// words if necessary, there is one band. Otherwise there are several bands, and each band begins with the
/// columns that identify a row.
fn bands(table: &Table, width: Option<usize>) -> Vec<Band> {
    let needs: Vec<Need> = (0..table.columns.len()).map(|position| need(table, position)).collect();
    let all = table.shown_columns();
    let keys = (1 + usize::from(table.has_second_key)).min(all.len());
    let Some(width) = width else { return vec![band(&all, &needs, usize::MAX)] };
    let mut bands = Vec::new();
    let mut rest = all.as_slice();
    while let [first, ..] = rest {
        let mut columns = if *first == all[0] { Vec::new() } else { all[..keys].to_vec() };
        let repeated = columns.len();
        let mut used = columns.iter().map(|at: &usize| needs[*at].least + GAP).sum::<usize>();
        while let [next, after @ ..] = rest {
            used += needs[*next].least;
            if used > width && columns.len() > repeated {
                break;
            }
            used += GAP;
            columns.push(*next);
            rest = after;
        }
        bands.push(band(&columns, &needs, width));
    }
    bands
}

/// Returns the widths of the columns. If the natural widths do not fit, the widest columns are reduced first.
fn band(columns: &[usize], needs: &[Need], width: usize) -> Band {
    let gaps = GAP * columns.len().saturating_sub(1);
    let total = |cap: usize| -> usize {
        columns.iter().map(|at| needs[*at].natural.min(cap.max(needs[*at].least))).sum::<usize>() + gaps
    };
    let widest = columns.iter().map(|at| needs[*at].natural).max().unwrap_or(0);
    let cap = (0..=widest).rev().find(|cap| total(*cap) <= width).unwrap_or(0);
    let columns = columns.iter().map(|at| (*at, needs[*at].natural.min(cap.max(needs[*at].least))));
    Band { columns: columns.collect() }
}

fn need(table: &Table, position: usize) -> Need {
    let column = &table.columns[position];
    let cells = table.shown().iter().map(|row| row[position].shown.as_str());
    match column.holds {
        Holds::Words => {
            let natural =
                cells.clone().map(UnicodeWidthStr::width).max().unwrap_or(0).max(column.name.width());
            let words = cells.flat_map(|text| text.split(' ')).map(UnicodeWidthStr::width);
            let unbroken = words.max().unwrap_or(0).clamp(LEAST_WORDS, LONGEST_WORD);
            Need { natural, least: natural.min(unbroken) }
        }
        Holds::Numbers => {
            let numbers = aligned(cells).iter().map(|text| text.width()).max().unwrap_or(0);
            let word = column.name.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
            Need { natural: numbers.max(column.name.width()), least: numbers.max(word.min(LEAST_WORDS)) }
        }
    }
}

/// Returns the lines. If the terminal has a width, no line is wider than the terminal.
pub(super) fn render(table: &Table, terminal: Terminal) -> String {
    let bands = bands(table, terminal.width);
    let parts: Vec<String> = bands.iter().map(|band| render_band(table, band, terminal.colour)).collect();
    parts.join("\n")
}

fn render_band(table: &Table, band: &Band, colour: bool) -> String {
    // The aligned cells of each column of the band.
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

/// Returns a row. It has as many lines as its tallest cell.
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
            // Blanks are written only before the next text, so that no line ends with blanks.
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

/// Returns numbers followed by blanks. If these texts are aligned to the right, the decimal points of the
/// numbers are aligned.
fn aligned<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let after = |text: &str| text[point(text)..].width();
    let longest = cells.clone().map(after).max().unwrap_or(0);
    cells.map(|text| format!("{text}{}", " ".repeat(longest - after(text)))).collect()
}

/// Returns the position of the decimal point, which is the last point between two digits. Without such a
/// point, returns the position after the last digit. Without digits, returns the end of the text.
fn point(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let decimal =
        (1..bytes.len()).rev().find(|at| bytes[*at] == b'.' && is_digit(at - 1) && is_digit(at + 1));
    decimal.or_else(|| (0..bytes.len()).rev().find(|at| is_digit(*at)).map(|at| at + 1)).unwrap_or(text.len())
}
