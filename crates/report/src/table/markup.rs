//! A table as CSV and as Markdown.

use evenhand_problem::Medium;

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
    fields.map(|field| Medium::Csv.show(field)).collect::<Vec<_>>().join(",") + "\n"
}

/// A table of GitHub-flavoured Markdown, with numbers to the right.
pub(super) fn markdown(table: &Table) -> String {
    let columns = table.shown_columns();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text =
        line(columns.iter().map(|at| Medium::MarkdownCell.show(&table.columns[*at].name)).collect());
    let rule = columns.iter().map(|at| match table.columns[*at].holds {
        Holds::Words => "---".to_owned(),
        Holds::Numbers => "---:".to_owned(),
    });
    text.push_str(&line(rule.collect()));
    for cells in table.shown() {
        text.push_str(&line(columns.iter().map(|at| Medium::MarkdownCell.show(&cells[*at].shown)).collect()));
    }
    let rest = table.rest();
    if rest.is_empty() { text } else { text + "\n" + &rest }
}
