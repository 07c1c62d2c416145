//! The hash that identifies a programme. It does not depend on the order of rows and columns.

use std::fmt::Write;

use rug::Rational;
use sha2::{Digest, Sha256};

use crate::json::quoted;
use crate::model::{Bounds, Direction, Model};

/// Returns the SHA-256 of the canonical text of a programme, in hexadecimal (docs/linear-programmes.md).
///
/// The canonical text describes the minimised programme. It has a line with the constant, then the rows, then the
/// columns. Rows and columns are in alphabetical order, each with its bounds and entries. Two programmes with the same
/// rows, columns and costs have the same hash.
#[must_use]
pub fn hash(model: &Model) -> String {
    let mut hasher = Sha256::new();
    let mut line = String::new();
    let constant = match model.direction {
        Direction::Minimise => model.constant.clone(),
        Direction::Maximise => Rational::from(-&model.constant),
    };
    hasher.update(format!("linear-programme {constant}\n"));
    for i in order(model.rows.iter().map(|row| row.name.as_str())) {
        let row = &model.rows[i];
        hasher.update(format!("row {} {}\n", quoted(&row.name), bounds(&row.bounds)));
    }
    for j in order(model.columns.iter().map(|column| column.name.as_str())) {
        let column = &model.columns[j];
        let integer = if column.is_integer { " integer" } else { "" };
        let (name, cost) = (quoted(&column.name), model.minimised_cost(j));
        line.clear();
        let _ = write!(line, "column {name} {cost} {}{integer}", bounds(&column.bounds));
        let name_of = |entry: &(usize, Rational)| model.rows[entry.0].name.as_str();
        let mut entries: Vec<&(usize, Rational)> = column.entries.iter().collect();
        entries.sort_unstable_by_key(|entry| name_of(entry));
        for entry in entries {
            let _ = write!(line, " {} {}", quoted(name_of(entry)), entry.1);
        }
        line.push('\n');
        hasher.update(&line);
    }
    let hash = hasher.finalize();
    hash.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bounds(bounds: &Bounds) -> String {
    let end = |end: &Option<Rational>| end.as_ref().map_or("-".to_owned(), Rational::to_string);
    format!("{} {}", end(&bounds.lower), end(&bounds.upper))
}

/// Returns the indices in alphabetical order of the names.
fn order<'n>(names: impl Iterator<Item = &'n str>) -> Vec<usize> {
    let names: Vec<&str> = names.collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|at| names[*at]);
    order
}
