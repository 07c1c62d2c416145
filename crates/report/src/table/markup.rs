//! A table as CSV and as Markdown.

use super::{Holds, Table};

/// RFC 4180 with a header; a line ends with a line feed.
pub(super) fn csv(table: &Table) -> String {
    let mut text = line(table.columns.iter().map(|column| column.name.as_str()));
    for row in &table.rows {
        text.push_str(&line(row.iter().map(|cell| cell.value())));
    }
    text
}

fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let quoted = fields.map(|field| {
        let plain = !field.contains([',', '"', '\n', '\r']) && field.trim() == field;
        if plain { field.to_owned() } else { format!("\"{}\"", field.replace('"', "\"\"")) }
    });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}

/// A table of GitHub-flavoured Markdown, with numbers to the right.
pub(super) fn markdown(table: &Table) -> String {
    let columns = table.shown_columns();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(columns.iter().map(|at| escaped(&table.columns[*at].name)).collect());
    let rule = columns.iter().map(|at| match table.columns[*at].holds {
        Holds::Words => "---".to_owned(),
        Holds::Numbers => "---:".to_owned(),
    });
    text.push_str(&line(rule.collect()));
    for cells in table.shown() {
        text.push_str(&line(columns.iter().map(|at| escaped(&cells[*at].shown)).collect()));
    }
    let rest = table.rest();
    if rest.is_empty() { text } else { text + "\n" + &rest }
}

/// Without what Markdown and HTML would take for markup.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '&' | '~') {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}
