//! Tests of tables on terminals of every width, with and without colours, as CSV and as Markdown.

use evenhand_report::table::{Cell, Column, Table};
use evenhand_report::{Form, Page, Terminal};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

fn table() -> Table {
    let mut table = Table::new([
        Column::words("axiom"),
        Column::words("verdict"),
        Column::numbers("margin"),
        Column::words("why"),
    ]);
    table.row([
        Cell::text("envy-free"),
        Cell::text("holds").good(),
        Cell::text("0"),
        Cell::text("closest: user 1 looking at user 2, who has as much as it needs"),
    ]);
    table.row([
        Cell::text("max-min"),
        Cell::text("VIOLATED").bad(),
        Cell::text("-12.75"),
        Cell::text("short"),
    ]);
    table
}

fn text(page: &Page, width: Option<usize>, colour: bool) -> String {
    page.render(&Form::Text(Terminal { width, colour }))
}

#[test]
fn words_wrap_and_decimal_points_align() {
    let page = Page::new().table(table());
    assert_eq!(
        text(&page, Some(50), false),
        "axiom      verdict   margin  why\n\
         envy-free  holds       0     closest: user 1\n\
         \x20                            looking at user 2,\n\
         \x20                            who has as much as it\n\
         \x20                            needs\n\
         max-min    VIOLATED  -12.75  short\n",
    );
}

#[test]
fn only_colour_terminals_get_colours() {
    let page = Page::new().table(table());
    let coloured = text(&page, None, true);
    assert!(coloured.contains("\u{1b}[32mholds\u{1b}[0m"), "{coloured:?}");
    assert!(coloured.contains("\u{1b}[1m\u{1b}[31mVIOLATED\u{1b}[0m"), "{coloured:?}");
    assert!(!text(&page, None, false).contains('\u{1b}'));
    for form in [Form::Csv, Form::Markdown, Form::Latex] {
        assert!(!page.render(&form).contains('\u{1b}'));
    }
}

/// A table of numbers that is too wide continues below, and repeats its first column.
#[test]
fn wide_tables_continue_below() {
    let mut table =
        Table::new([Column::words("user"), Column::numbers("drfh"), Column::numbers("utilitarian")]);
    table.row(["a", "123456", "654321"].map(Cell::from));
    let page = Page::new().table(table);
    assert_eq!(
        text(&page, Some(18), false),
        "user    drfh\na     123456\n\nuser  utilitarian\na          654321\n",
    );
}

#[test]
fn csv_and_document_formats_show_the_page() {
    let mut table = Table::new([
        Column::words("user"),
        Column::numbers("share"),
        Column::numbers("weight").unless_all("1"),
    ])
    .at_most(1, "users");
    table.row([Cell::text("a, \"b\" | c_d"), Cell::percent(&"1/8".parse().unwrap()), Cell::text("1")]);
    table.row([Cell::text("e"), Cell::none(), Cell::text("1")]);
    let page = Page::new().heading("Shares").table(table).text("That is all.");
    assert_eq!(page.render(&Form::Csv), "user,share,weight\n\"a, \"\"b\"\" | c_d\",0.125,1\ne,,1\n");
    assert_eq!(
        page.render(&Form::Markdown),
        "### Shares\n\n| user | share |\n| --- | ---: |\n| a, \"b\" \\| c\\_d | 12.5 % |\n\n... and 1 more users\n\nThat is all.\n",
    );
    assert_eq!(
        page.to_string(),
        "Shares\nuser           share\na, \"b\" | c_d  12.5 %\n... and 1 more users\n\nThat is all.\n",
    );
}

#[test]
fn cells_of_latex_tables_are_escaped() {
    let mut table = Table::new([Column::words("user_1"), Column::numbers("share"), Column::words("why")]);
    let long = "50 % of #1 & {all}, $x^2$ \\ ~ <a> | b";
    table.row([Cell::text("a"), Cell::text("0.5"), Cell::text(long)]);
    let text = Page::new().heading("Shares").table(table).render(&Form::Latex);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["% Shares", "\\begin{tabular}{lrp{0.51\\linewidth}}"]);
    assert_eq!(lines[3], "user\\_1 & share & why \\\\");
    assert_eq!(
        lines[5],
        "a & 0.5 & 50 \\% of \\#1 \\& \\{all\\}, \\$x\\textasciicircum{}2\\$ \\textbackslash{} \\textasciitilde{} \
         \\textless{}a\\textgreater{} \\textbar{} b \\\\",
    );
    assert_eq!(lines.len(), 8);
}

#[test]
fn csv_tables_are_separated_by_an_empty_line() {
    let table = |name| {
        let mut table = Table::new([Column::words(name)]);
        table.row([Cell::text("x")]);
        table
    };
    let page = Page::new().text("words").table(table("a")).heading("more").table(table("b"));
    assert_eq!(page.render(&Form::Csv), "a\nx\n\nb\nx\n");
    assert!(!Page::new().text("words").has_table());
}

/// The page has exactly the lines that were added. A line break inside a line is escaped.
#[test]
fn line_breaks_in_names_are_escaped() {
    let name = "# a\nb | `<i>`";
    let page = Page::new().heading(name).lines([name, "  rest"]).text("");
    let shown = "# a\\u{a}b | `<i>`\n";
    assert_eq!(page.to_string(), format!("{shown}{shown}  rest\n"));
    let escaped = "\\# a\\\\u{a}b \\| \\`\\<i\\>\\`\n";
    assert_eq!(page.render(&Form::Markdown), format!("### {escaped}\n{escaped}rest\n"));
    let html = "# a\\u{a}b | `&lt;i&gt;`";
    assert_eq!(
        page.render(&Form::Html),
        format!("<h3>{html}</h3>\n\n<p class=\"lines\">{html}\n  rest</p>\n")
    );
}

proptest! {
    /// As long as numbers fit, no line is wider than the terminal, no character is lost, and no line ends
    /// with blanks, whatever the cells contain.
    #[test]
    fn lines_fit_the_width_of_the_terminal(
        words in prop::collection::vec("[a-z漢]{0,30}( [a-z]{1,12}){0,5}", 1..6),
        numbers in prop::collection::vec("-?[0-9]{1,6}(\\.[0-9]{1,5})?", 1..6),
        width in 72_usize..140,
    ) {
        let columns = [Column::words("name"), Column::numbers("number"), Column::words("remark")];
        let mut table = Table::new(columns);
        for (word, number) in words.iter().zip(&numbers) {
            table.row([Cell::text(word), Cell::text(number), Cell::text(word)]);
        }
        let shown = text(&Page::new().table(table), Some(width), false);
        for line in shown.lines() {
            prop_assert!(line.width() <= width, "{line}");
            prop_assert_eq!(line.trim_end(), line);
        }
        let squeezed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
        let expected: usize = words.iter().zip(&numbers).map(|(w, n)| 2 * squeezed(w) + squeezed(n)).sum();
        prop_assert_eq!(squeezed(&shown), expected + "namenumberremark".len());
    }
}
