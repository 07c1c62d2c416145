//! How wide the columns of a table are, and which stand side by side.

use unicode_width::UnicodeWidthStr;

use super::lines::aligned;
use super::{Holds, Table};

/// Blanks between two columns.
pub(super) const GAP: usize = 2;
/// Words are not squeezed below this width: narrower columns are unreadable.
const LEAST_WORDS: usize = 14;
/// Longer words are broken rather than that their column is made as wide.
const LONGEST_WORD: usize = 24;

/// Columns side by side.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Band {
    /// `(position of the column, its width)`, from left to right.
    pub columns: Vec<(usize, usize)>,
}

/// What a column needs.
#[derive(Debug, Clone, Copy)]
struct Need {
    /// For every cell on one line.
    natural: usize,
    /// With words wrapped.
    least: usize,
}

/// The bands that show a table within `width` columns of the terminal: one where it fits, words
/// wrapped if need be; otherwise several, each beginning with the first column of the table.
pub(super) fn bands(table: &Table, width: Option<usize>) -> Vec<Band> {
    let needs: Vec<Need> = (0..table.columns.len()).map(|position| need(table, position)).collect();
    let all = table.shown_columns();
    let Some(width) = width else { return vec![band(&all, &needs, usize::MAX)] };
    let mut bands = Vec::new();
    let mut rest = all.as_slice();
    while let [first, ..] = rest {
        let mut columns = if *first == all[0] { Vec::new() } else { vec![all[0]] };
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

/// The widths: natural ones, the widest cut first where these are too wide together.
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
