//! A table in markup: CSV, Markdown, HTML and LaTeX.

use evenhand_problem::Medium;

use super::{Cell, Holds, Table, Tone};

/// RFC 4180 with a header; a line ends with a line feed.
pub(super) fn csv(table: &Table) -> String {
    let line = |fields: &mut dyn Iterator<Item = &str>| {
        fields.map(|field| Medium::Csv.show(field)).collect::<Vec<_>>().join(",") + "\n"
    };
    let header = line(&mut table.columns.iter().map(|column| column.name.as_str()));
    table.rows.iter().fold(header, |text, row| text + &line(&mut row.iter().map(|cell| cell.value())))
}

/// The header and every row that people are shown, with a line for each made of its cells.
fn lines(table: &Table, medium: Medium, line: impl Fn(Vec<String>) -> String) -> (String, String) {
    let columns = table.shown_columns();
    let header = columns.iter().map(|at| medium.show(&table.columns[*at].name)).collect();
    let cells = |row: &Vec<Cell>| columns.iter().map(|at| medium.show(&row[*at].shown)).collect();
    (line(header), table.shown().iter().map(|row| line(cells(row))).collect())
}

/// A table of GitHub-flavoured Markdown, with numbers to the right.
pub(super) fn markdown(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let (header, rows) = lines(table, Medium::MarkdownCell, line);
    let rule = table.shown_columns().into_iter().map(|at| match table.columns[at].holds {
        Holds::Words => "---".to_owned(),
        Holds::Numbers => "---:".to_owned(),
    });
    let text = header + &line(rule.collect()) + &rows;
    let rest = table.rest();
    if rest.is_empty() { text } else { text + "\n" + &rest }
}

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

/// Characters of a cell from which its column is wrapped.
const LONG: usize = 24;
/// The part of the line that wrapped columns share, by their longest cells.
const WIDTH: f64 = 0.9;

/// Rows from which a table is broken between pages: more do not fit on one.
const MOST_ROWS: usize = 40;

/// A `tabular`, or a `longtable` where it takes more than a page, with rules of the package `booktabs`. Long words
/// are wrapped, numbers stand to the right.
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
    let (header, rows) = lines(table, Medium::Latex, |cells| format!("{} \\\\\n", cells.join(" & ")));
    let (kind, repeated) =
        if table.shown().len() > MOST_ROWS { ("longtable", "\\endhead\n") } else { ("tabular", "") };
    format!(
        "\\begin{{{kind}}}{{{format}}}\n\\toprule\n{header}\\midrule\n{repeated}{rows}\\bottomrule\n\\end{{{kind}}}\n"
    )
}
