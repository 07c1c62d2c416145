//! Tables: what they hold, and how they are written for people, spreadsheets and documents.
//!
//! A [`Table`] has columns of words and columns of numbers. Every [`Cell`] has a text for people and a
//! value for programs, `5/7 = 0.714286` and `0.7142857142857143`, so that one table serves the
//! terminal, Markdown and CSV.
//!
//! ```
//! use evenhand_report::table::{Cell, Column, Table};
//! use evenhand_report::{Form, Page};
//!
//! let mut table = Table::new([Column::words("user"), Column::numbers("tasks"), Column::words("verdict")]);
//! table.row([Cell::text("a"), Cell::number(&"5/7".parse().unwrap()), Cell::text("holds").good()]);
//! table.row([Cell::text("b"), Cell::number(&"10".parse().unwrap()), Cell::text("violated").bad()]);
//! let page = Page::new().table(table);
//! assert_eq!(
//!     page.to_string(),
//!     "user           tasks  verdict\n\
//!      a     5/7 = 0.714286  holds\n\
//!      b          10         violated\n",
//! );
//! assert_eq!(page.render(&Form::Csv), "user,tasks,verdict\na,0.7142857142857143,holds\nb,10,violated\n");
//! ```

mod lines;
pub(crate) mod markup;

use evenhand_problem::number::to_f64;
use evenhand_problem::{Rational, printable};

use crate::text;

/// Digits of an exact number that somebody may want to read.
const MOST_DIGITS: u32 = 60;

/// Rows of cells under named columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    columns: Vec<Column>,
    /// Each as long as `columns`.
    rows: Vec<Vec<Cell>>,
    /// Rows that people are shown, and what rows are called.
    most: Option<(usize, String)>,
    /// Rows that there would be beside those that were made.
    not_made: usize,
    /// Whether the first two columns together name a row, not the first alone.
    has_second_key: bool,
}

/// A column: its name, and how its cells are aligned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    name: String,
    holds: Holds,
    /// People are not shown the column where all its cells are this.
    usual: Option<String>,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// To the left; wrapped where the table is too wide.
    Words,
    /// Aligned at the decimal point.
    Numbers,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    shown: String,
    /// For programs, where it differs from what is shown.
    value: Option<String>,
    /// The exact number, where a rounded one is shown and it is not too long to be read.
    exact: Option<String>,
    tone: Tone,
}

/// How a cell is coloured on a terminal that has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tone {
    #[default]
    Plain,
    Good,
    Bad,
    Muted,
}

/// In which form a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines of text.
    Text(Terminal),
    /// The tables alone, an empty line between two.
    Csv,
    /// Markdown.
    Markdown,
    /// The tables, as `tabular` of LaTeX with rules of the package `booktabs`, long ones as `longtable`; headings
    /// are comments.
    Latex,
    /// A part of a document of HTML ([`crate::html::document`]).
    Html,
}

/// What the text is shown on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terminal {
    /// Characters in a line; none where lines may have any length.
    pub width: Option<usize>,
    /// Whether it understands the escape sequences of colours.
    pub colour: bool,
}

/// A table that is made column by column, with a row for each of some things.
#[derive(Debug, Clone)]
pub struct Rows<T> {
    of: Vec<T>,
    table: Table,
}

impl Column {
    /// A column of words, aligned to the left.
    #[must_use]
    pub fn words(name: &str) -> Self {
        Self { name: printable(name), holds: Holds::Words, usual: None }
    }

    /// A column of numbers, aligned at the decimal point.
    #[must_use]
    pub fn numbers(name: &str) -> Self {
        Self { name: printable(name), holds: Holds::Numbers, usual: None }
    }
}

impl Column {
    /// People are not shown the column where all its cells are `usual`; CSV always has it.
    #[must_use]
    pub fn unless_all(self, usual: &str) -> Self {
        Self { usual: Some(usual.to_owned()), ..self }
    }
}

impl Cell {
    /// Words, or a number that is written already. Hidden characters are escaped.
    #[must_use]
    pub fn text(shown: impl AsRef<str>) -> Self {
        Self { shown: printable(shown.as_ref()), ..Self::default() }
    }

    /// A number: exact where that is short, and as a decimal ([`text::number`]).
    #[must_use]
    pub fn number(value: &Rational) -> Self {
        Self::text(text::number(value)).with_value(program_value(value)).rounded(value)
    }

    /// A number as a decimal ([`text::decimal`]).
    #[must_use]
    pub fn decimal(value: &Rational) -> Self {
        Self::text(text::decimal(value)).with_value(program_value(value)).rounded(value)
    }

    /// A fraction, shown as a percentage ([`text::percent`]); its value for programs is the fraction.
    #[must_use]
    pub fn percent(value: &Rational) -> Self {
        Self::text(text::percent(value)).with_value(program_value(value)).rounded(value)
    }

    /// Nothing to say: a dash for people, an empty value for programs.
    #[must_use]
    pub fn none() -> Self {
        Self::text("-").with_value(String::new())
    }

    /// The same cell with another value for programs.
    #[must_use]
    pub fn with_value(self, value: impl AsRef<str>) -> Self {
        Self { value: Some(printable(value.as_ref())), ..self }
    }

    /// The same number in other words for people.
    #[must_use]
    pub(crate) fn shown_as(self, shown: &str) -> Self {
        Self { shown: printable(shown), ..self }
    }

    /// The exact number stands behind what is shown.
    fn rounded(self, value: &Rational) -> Self {
        Self { exact: exact_behind(&self.shown, value), ..self }
    }

    /// Green on a terminal.
    #[must_use]
    pub fn good(self) -> Self {
        Self { tone: Tone::Good, ..self }
    }

    /// Red on a terminal.
    #[must_use]
    pub fn bad(self) -> Self {
        Self { tone: Tone::Bad, ..self }
    }

    /// Grey on a terminal.
    #[must_use]
    pub fn muted(self) -> Self {
        Self { tone: Tone::Muted, ..self }
    }

    /// What programs are given.
    pub(crate) fn value(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.shown)
    }
}

impl From<&str> for Cell {
    fn from(shown: &str) -> Self {
        Self::text(shown)
    }
}

impl From<String> for Cell {
    fn from(shown: String) -> Self {
        Self::text(shown)
    }
}

/// A number that is counted.
impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::text(count.to_string())
    }
}

/// [`Cell::none`] where there is nothing.
impl From<Option<Self>> for Cell {
    fn from(cell: Option<Self>) -> Self {
        cell.unwrap_or_else(Self::none)
    }
}

/// The exact number where it is not what is shown, and not too long to be read.
pub(crate) fn exact_behind(shown: &str, value: &Rational) -> Option<String> {
    let bits = value.numer().significant_bits() + value.denom().significant_bits();
    // A digit is more than three bits.
    let exact = (bits < 4 * MOST_DIGITS).then(|| value.to_string())?;
    (exact != shown && !shown.starts_with(&format!("{exact} = "))).then_some(exact)
}

/// What a spreadsheet takes for a number: a whole number in full, otherwise the nearest double.
fn program_value(value: &Rational) -> String {
    let nearest = to_f64(value);
    if value.is_integer() || !nearest.is_finite() { value.to_string() } else { nearest.to_string() }
}

impl<T> Rows<T> {
    /// One more column, and what stands in it for each thing.
    #[must_use]
    pub fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&T) -> C) -> Self {
        self.table.columns.push(column);
        self.table.rows.iter_mut().zip(&self.of).for_each(|(row, of)| row.push(cell(of).into()));
        self
    }

    /// One more [column of words](Column::words).
    #[must_use]
    pub fn words<C: Into<Cell>>(self, name: &str, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::words(name), cell)
    }

    /// One more [column of numbers](Column::numbers).
    #[must_use]
    pub fn numbers<C: Into<Cell>>(self, name: &str, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::numbers(name), cell)
    }

    /// [`Column::unless_all`] for the last column.
    #[must_use]
    pub fn unless_all(mut self, usual: &str) -> Self {
        let last = self.table.columns.pop();
        self.table.columns.extend(last.map(|last| last.unless_all(usual)));
        self
    }

    /// The table.
    #[must_use]
    pub fn table(self) -> Table {
        self.table
    }
}

impl Table {
    /// A table without columns, with a row for each of these things.
    #[must_use]
    pub fn of<T>(things: impl IntoIterator<Item = T>) -> Rows<T> {
        let of: Vec<T> = things.into_iter().collect();
        let rows = vec![Vec::new(); of.len()];
        Rows { of, table: Self { rows, ..Self::default() } }
    }

    /// A table without rows.
    #[must_use]
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), ..Self::default() }
    }

    /// Adds a row. Cells that are missing are empty; those beyond the last column are left out.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut row: Vec<Cell> = cells.into_iter().take(self.columns.len()).collect();
        row.resize(self.columns.len(), Cell::default());
        self.rows.push(row);
    }

    /// People are shown at most so many rows, and told how many more `what` there are; CSV has all.
    #[must_use]
    pub fn at_most(self, rows: usize, what: &str) -> Self {
        Self { most: Some((rows, what.to_owned())), ..self }
    }

    /// The first two columns together name a row: where the table is too wide, each part of it begins with both.
    #[must_use]
    pub fn with_second_key(self) -> Self {
        Self { has_second_key: true, ..self }
    }

    /// So many rows were not made, as they would not be shown.
    #[must_use]
    pub fn without(self, not_made: usize) -> Self {
        Self { not_made, ..self }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows that people are shown.
    fn shown(&self) -> &[Vec<Cell>] {
        &self.rows[..self.most.as_ref().map_or(self.rows.len(), |(most, _)| self.rows.len().min(*most))]
    }

    /// Positions of the columns that people are shown.
    fn shown_columns(&self) -> Vec<usize> {
        let is_shown = |at: &usize| match &self.columns[*at].usual {
            Some(usual) => !self.rows.iter().all(|row| row[*at].shown == *usual),
            None => true,
        };
        (0..self.columns.len()).filter(is_shown).collect()
    }

    /// How many rows are not shown, in words.
    fn rest(&self) -> String {
        match (&self.most, self.not_made + self.rows.len() - self.shown().len()) {
            (Some((_, what)), hidden @ 1..) => format!("... and {hidden} more {what}\n"),
            _ => String::new(),
        }
    }

    /// The table in that form.
    pub(crate) fn render(&self, form: &Form) -> String {
        match form {
            Form::Text(terminal) => lines::render(self, *terminal) + &self.rest(),
            Form::Csv => markup::csv(self),
            Form::Markdown => markup::markdown(self),
            Form::Latex => markup::latex(self),
            Form::Html => markup::html(self),
        }
    }
}
