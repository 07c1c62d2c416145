//! A table as LaTeX.

use evenhand_problem::Medium;

use super::{Holds, Table};

/// Characters of a cell from which its column is wrapped.
const LONG: usize = 24;
/// The part of the line that wrapped columns share, by their longest cells.
const WIDTH: f64 = 0.9;

/// A `longtable` with rules of the package `booktabs`. Long words are wrapped, numbers stand to the right.
pub(super) fn latex(table: &Table) -> String {
    let columns = table.shown_columns();
    let longest = |at: usize| {
        let cells = table.shown().iter().map(|row| row[at].shown.chars().count());
        cells.chain([table.columns[at].name.chars().count()]).max().unwrap_or(0)
    };
    let is_long = |at: usize| table.columns[at].holds == Holds::Words && longest(at) > LONG;
    // A very long cell must not take all the room from the others.
    let weight = |at: usize| (longest(at) as f64).sqrt();
    let all: f64 = columns.iter().map(|at| weight(*at)).sum();
    let format: String = columns
        .iter()
        .map(|&at| match table.columns[at].holds {
            Holds::Words if is_long(at) => format!("p{{{:.2}\\linewidth}}", WIDTH * weight(at) / all),
            Holds::Words => "l".to_owned(),
            Holds::Numbers => "r".to_owned(),
        })
        .collect();
    let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
    let mut text = format!("\\begin{{longtable}}{{{format}}}\n\\toprule\n");
    text.push_str(&line(columns.iter().map(|at| Medium::Latex.show(&table.columns[*at].name)).collect()));
    text.push_str("\\midrule\n\\endhead\n");
    for row in table.shown() {
        text.push_str(&line(columns.iter().map(|at| Medium::Latex.show(&row[*at].shown)).collect()));
    }
    text.push_str("\\bottomrule\n\\end{longtable}\n");
    text
}
