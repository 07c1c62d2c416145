//! A table as HTML.

use evenhand_problem::Medium;

use super::{Holds, Table, Tone};

/// The table, and below it how many rows are not shown.
pub(super) fn html(table: &Table) -> String {
    let columns = table.shown_columns();
    let cell = |at: usize, tag: &str, text: &str, tone: Tone| {
        let holds = (table.columns[at].holds == Holds::Numbers).then_some("number");
        let classes: Vec<&str> = holds.into_iter().chain(class(tone)).collect();
        match classes.as_slice() {
            [] => format!("<{tag}>{}</{tag}>", Medium::Html.show(text)),
            classes => format!("<{tag} class=\"{}\">{}</{tag}>", classes.join(" "), Medium::Html.show(text)),
        }
    };
    let header = columns.iter().map(|&at| cell(at, "th", &table.columns[at].name, Tone::Plain));
    let mut text = format!("<table>\n<tr>{}</tr>\n", header.collect::<String>());
    for row in table.shown() {
        let cells = columns.iter().map(|&at| cell(at, "td", &row[at].shown, row[at].tone));
        text.push_str(&format!("<tr>{}</tr>\n", cells.collect::<String>()));
    }
    text.push_str("</table>\n");
    match table.rest().as_str() {
        "" => text,
        rest => text + &format!("<p>{}</p>\n", Medium::Html.show(rest.trim_end())),
    }
}

fn class(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("good"),
        Tone::Bad => Some("bad"),
        Tone::Muted => Some("muted"),
    }
}
