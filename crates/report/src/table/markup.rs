//! A table in markup: CSV, Markdown, HTML and LaTeX.

use evenhand_problem::Medium;
use maud::{Markup, PreEscaped, html};

use super::{Cell, Holds, Table, Tone};

/// Returns the table as CSV (RFC 4180) with a header. Lines end with a line feed.
pub(super) fn csv(table: &Table) -> String {
    let line = |fields: &mut dyn Iterator<Item = &str>| {
        fields.map(|field| Medium::Csv.show(field)).collect::<Vec<_>>().join(",") + "\n"
    };
    let header = line(&mut table.columns.iter().map(|column| column.name.as_str()));
    table.rows.iter().fold(header, |text, row| text + &line(&mut row.iter().map(|cell| cell.value())))
}

/// Returns the header and the rows for people. `line` creates each of them from its cells.
fn lines(table: &Table, medium: Medium, line: impl Fn(Vec<String>) -> String) -> (String, String) {
    let columns = table.shown_columns();
    let header = columns.iter().map(|at| medium.show(&table.columns[*at].name)).collect();
    let cells = |row: &Vec<Cell>| columns.iter().map(|at| medium.show(&row[*at].shown)).collect();
    (line(header), table.shown().iter().map(|row| line(cells(row))).collect())
}

/// Returns the table in GitHub-flavoured Markdown. Numbers are aligned to the right.
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

/// The least number of letters of a cell whose column may wrap.
pub(crate) const WRAPS: usize = 32;

/// Returns the table as HTML, and below it the number of hidden rows. A script may sort the table. A table
/// that is wider than the window scrolls separately. The title of a cell with a rounded number is the exact
/// number.
pub(super) fn html(table: &Table) -> String {
    cut(table, "Table")
}

/// Returns the table of [`html`] with a label for screen readers.
pub(crate) fn cut(table: &Table, label: &str) -> String {
    let text = sheet(table, table.shown(), label);
    match table.rest().as_str() {
        "" => text,
        rest => text + &html! { p { (rest.trim_end()) } }.into_string() + "\n",
    }
}

/// Returns the table with all its rows. The rows that other formats leave out are folded.
pub(crate) fn folded(table: &Table, label: &str) -> Markup {
    let (first, others) = table.rows.split_at(table.shown().len());
    let what = table.most.as_ref().map_or("rows", |(_, what)| what);
    html! {
        (PreEscaped(sheet(table, first, label)))
        @if !others.is_empty() {
            details class="more" {
                summary { (others.len()) " more " (what) }
                (PreEscaped(sheet(table, others, &format!("{label}, continued"))))
            }
        }
    }
}

fn sheet(table: &Table, rows: &[Vec<Cell>], label: &str) -> String {
    let columns = table.shown_columns();
    let wraps = |at: usize| rows.iter().any(|row| row[at].shown.chars().count() > WRAPS);
    let kinds: Vec<Option<&str>> = columns
        .iter()
        .map(|&at| match table.columns[at].holds {
            Holds::Numbers => Some("number"),
            Holds::Words => wraps(at).then_some("long"),
        })
        .collect();
    let classes = |kind: Option<&str>, tone: Tone| {
        let all: Vec<&str> = kind.into_iter().chain(class(tone)).collect();
        (!all.is_empty()).then(|| all.join(" "))
    };
    let markup = html! {
        div class="wide" tabindex="0" role="region" aria-label=(label) {
            table class="sorted" {
                thead { tr {
                    @for (&at, kind) in columns.iter().zip(&kinds) {
                        @let name = &table.columns[at].name;
                        @if name.is_empty() { td {} } @else { th scope="col" class=[kind] { (name) } }
                    }
                } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (k, (&at, kind)) in columns.iter().zip(&kinds).enumerate() {
                                @let cell = &row[at];
                                @let class = classes(*kind, cell.tone);
                                @if k == 0 {
                                    th scope="row" class=[class] title=[&cell.exact] data-value=[cell.value.as_ref()] { (cell.shown) }
                                } @else {
                                    td class=[class] title=[&cell.exact] data-value=[cell.value.as_ref()] { (cell.shown) }
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    markup.into_string() + "\n"
}

fn class(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("good"),
        Tone::Bad => Some("bad"),
        Tone::Muted => Some("muted"),
    }
}

/// The number of characters above which the column of a cell is wrapped.
const LONG: usize = 24;
/// The fraction of the line that all wrapped columns together use.
const WIDTH: f64 = 0.9;

/// The largest number of rows of a table on one page. Longer tables are broken across pages.
const MOST_ROWS: usize = 40;

/// Returns a `tabular` with the rules of the package `booktabs`, or a `longtable` if the table is longer than
/// a page. Long words are wrapped, and numbers are aligned to the right.
pub(super) fn latex(table: &Table) -> String {
    let columns = table.shown_columns();
    let longest = |at: usize| {
        let cells = table.shown().iter().map(|row| row[at].shown.chars().count());
        cells.chain([table.columns[at].name.chars().count()]).max().unwrap_or(0)
    };
    let is_long = |at: usize| table.columns[at].holds == Holds::Words && longest(at) > LONG;
    // Because of the square root, a very long cell does not take all of the width.
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
