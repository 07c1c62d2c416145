//! Tables, and the formats in which they are written for people, spreadsheets and documents.
//!
//! A [`Table`] has columns of words and columns of numbers. Every [`Cell`] has a text for people and a value
//! for programs, such as `5/7 = 0.714286` and `0.7142857142857143`. The same table can therefore be written
//! for a terminal, as Markdown and as CSV.
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

/// The largest number of digits of an exact number that is stored in a cell.
const MOST_DIGITS: u32 = 60;

/// Rows of cells under named columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    columns: Vec<Column>,
    /// The rows. Each row has as many cells as there are columns.
    rows: Vec<Vec<Cell>>,
    /// The largest number of rows for people, and the noun for rows. `None` if all rows are shown.
    most: Option<(usize, String)>,
    /// The number of rows that were not created, because they would not be shown.
    not_made: usize,
    /// True if the first two columns together identify a row, and not the first column alone.
    has_second_key: bool,
}

/// A column: its name and its alignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    name: String,
    holds: Holds,
    /// The usual value. People do not see a column in which all cells have this value.
    usual: Option<String>,
}

/// The content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Words. They are aligned to the left, and wrapped if the table is too wide.
    Words,
    /// Numbers. They are aligned at the decimal point.
    Numbers,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    shown: String,
    /// The value for programs. `None` if it is equal to the text.
    value: Option<String>,
    /// The exact number. `None` if the text already shows it, or if it is too long to be read.
    exact: Option<String>,
    tone: Tone,
}

/// The colour of a cell on a terminal that has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tone {
    #[default]
    Plain,
    Good,
    Bad,
    Muted,
}

/// The format in which a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Lines of text.
    Text(Terminal),
    /// Only the tables, with empty lines between them.
    Csv,
    /// Markdown.
    Markdown,
    /// Only the tables, as `tabular` of LaTeX with the rules of the package `booktabs`. Long tables become a
    /// `longtable`. Headings become comments.
    Latex,
    /// A fragment of an HTML document ([`crate::html::document`]).
    Html,
}

/// The properties of the terminal that shows the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Terminal {
    /// The number of characters in a line. `None` if lines may have any length.
    pub width: Option<usize>,
    /// True if the terminal supports the escape sequences of colours.
    pub colour: bool,
}

/// The builder of a table with a row for each item. Columns are added one by one.
#[derive(Debug, Clone)]
pub struct Rows<T> {
    of: Vec<T>,
    table: Table,
}

impl Column {
    /// Returns a column of words, aligned to the left.
    #[must_use]
    pub fn words(name: &str) -> Self {
        Self { name: printable(name), holds: Holds::Words, usual: None }
    }

    /// Returns a column of numbers, aligned at the decimal point.
    #[must_use]
    pub fn numbers(name: &str) -> Self {
        Self { name: printable(name), holds: Holds::Numbers, usual: None }
    }
}

impl Column {
    /// Hides the column from people if all its cells are `usual`. CSV always contains the column.
    #[must_use]
    pub fn unless_all(self, usual: &str) -> Self {
        Self { usual: Some(usual.to_owned()), ..self }
    }
}

impl Cell {
    /// Returns a cell of words, or of a number that is already formatted. Hidden characters are escaped.
    #[must_use]
    pub fn text(shown: impl AsRef<str>) -> Self {
        Self { shown: printable(shown.as_ref()), ..Self::default() }
    }

    /// Returns a cell of a number, which is shown as an exact number if it is short, and as a decimal
    /// ([`text::number`]).
    #[must_use]
    pub fn number(value: &Rational) -> Self {
        Self::text(text::number(value)).with_value(program_value(value)).rounded(value)
    }

    /// Returns a cell of a number, which is shown as a decimal ([`text::decimal`]).
    #[must_use]
    pub fn decimal(value: &Rational) -> Self {
        Self::text(text::decimal(value)).with_value(program_value(value)).rounded(value)
    }

    /// Returns a cell of a fraction, which is shown as a percentage ([`text::percent`]). The value for
    /// programs is the fraction.
    #[must_use]
    pub fn percent(value: &Rational) -> Self {
        Self::text(text::percent(value)).with_value(program_value(value)).rounded(value)
    }

    /// Returns an empty cell. It is a dash for people, and an empty value for programs.
    #[must_use]
    pub fn none() -> Self {
        Self::text("-").with_value(String::new())
    }

    /// Returns the cell with the value `value` for programs.
    #[must_use]
    pub fn with_value(self, value: impl AsRef<str>) -> Self {
        Self { value: Some(printable(value.as_ref())), ..self }
    }

    /// Returns the cell with the text `shown` for people.
    #[must_use]
    pub(crate) fn shown_as(self, shown: &str) -> Self {
        Self { shown: printable(shown), ..self }
    }

    /// Returns the cell with the exact number, if the text shows a rounded number.
    fn rounded(self, value: &Rational) -> Self {
        Self { exact: exact_behind(&self.shown, value), ..self }
    }

    /// Returns the cell in green for terminals with colours.
    #[must_use]
    pub fn good(self) -> Self {
        Self { tone: Tone::Good, ..self }
    }

    /// Returns the cell in red for terminals with colours.
    #[must_use]
    pub fn bad(self) -> Self {
        Self { tone: Tone::Bad, ..self }
    }

    /// Returns the cell in grey for terminals with colours.
    #[must_use]
    pub fn muted(self) -> Self {
        Self { tone: Tone::Muted, ..self }
    }

    /// Returns the value for programs.
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

/// Converts a count into a cell.
impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::text(count.to_string())
    }
}

/// Converts `None` into [`Cell::none`].
impl From<Option<Self>> for Cell {
    fn from(cell: Option<Self>) -> Self {
        cell.unwrap_or_else(Self::none)
    }
}

/// Returns the exact number. Returns `None` if the text already shows it, or if it is too long to be read.
pub(crate) fn exact_behind(shown: &str, value: &Rational) -> Option<String> {
    let bits = value.numer().significant_bits() + value.denom().significant_bits();
    // A decimal digit has more than three bits.
    let exact = (bits < 4 * MOST_DIGITS).then(|| value.to_string())?;
    (exact != shown && !shown.starts_with(&format!("{exact} = "))).then_some(exact)
}

/// Returns a number in a form that spreadsheets can read: a whole number in full, and any other number as the
/// nearest double.
fn program_value(value: &Rational) -> String {
    let nearest = to_f64(value);
    if value.is_integer() || !nearest.is_finite() { value.to_string() } else { nearest.to_string() }
}

impl<T> Rows<T> {
    /// Adds a column. `cell` returns the cell of each item.
    #[must_use]
    pub fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&T) -> C) -> Self {
        self.table.columns.push(column);
        self.table.rows.iter_mut().zip(&self.of).for_each(|(row, of)| row.push(cell(of).into()));
        self
    }

    /// Adds a [column of words](Column::words).
    #[must_use]
    pub fn words<C: Into<Cell>>(self, name: &str, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::words(name), cell)
    }

    /// Adds a [column of numbers](Column::numbers).
    #[must_use]
    pub fn numbers<C: Into<Cell>>(self, name: &str, cell: impl Fn(&T) -> C) -> Self {
        self.column(Column::numbers(name), cell)
    }

    /// Applies [`Column::unless_all`] to the last column.
    #[must_use]
    pub fn unless_all(mut self, usual: &str) -> Self {
        let last = self.table.columns.pop();
        self.table.columns.extend(last.map(|last| last.unless_all(usual)));
        self
    }

    /// Returns the finished table.
    #[must_use]
    pub fn table(self) -> Table {
        self.table
    }
}

impl Table {
    /// Returns a builder of a table without columns that has a row for each of these items.
    #[must_use]
    pub fn of<T>(things: impl IntoIterator<Item = T>) -> Rows<T> {
        let of: Vec<T> = things.into_iter().collect();
        let rows = vec![Vec::new(); of.len()];
        Rows { of, table: Self { rows, ..Self::default() } }
    }

    /// Returns a table without rows.
    #[must_use]
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), ..Self::default() }
    }

    /// Adds a row. Missing cells are empty, and additional cells are dropped.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut row: Vec<Cell> = cells.into_iter().take(self.columns.len()).collect();
        row.resize(self.columns.len(), Cell::default());
        self.rows.push(row);
    }

    /// Limits the number of rows for people. A line below the table states the number of hidden rows, with
    /// `what` as the noun for rows. CSV contains all rows.
    #[must_use]
    pub fn at_most(self, rows: usize, what: &str) -> Self {
        Self { most: Some((rows, what.to_owned())), ..self }
    }

    /// Lets the first two columns together identify a row. If the table is too wide, each of its bands begins
    /// with both columns.
    #[must_use]
    pub fn with_second_key(self) -> Self {
        Self { has_second_key: true, ..self }
    }

    /// Adds to the number of hidden rows the rows that were not created.
    #[must_use]
    pub fn without(self, not_made: usize) -> Self {
        Self { not_made, ..self }
    }

    /// Returns `true` if the table has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the rows that people see.
    fn shown(&self) -> &[Vec<Cell>] {
        &self.rows[..self.most.as_ref().map_or(self.rows.len(), |(most, _)| self.rows.len().min(*most))]
    }

    /// Returns the positions of the columns that people see.
    fn shown_columns(&self) -> Vec<usize> {
        let is_shown = |at: &usize| match &self.columns[*at].usual {
            Some(usual) => !self.rows.iter().all(|row| row[*at].shown == *usual),
            None => true,
        };
        (0..self.columns.len()).filter(is_shown).collect()
    }

    /// Returns the line with the number of hidden rows. Returns an empty text if no rows are hidden.
    fn rest(&self) -> String {
        match (&self.most, self.not_made + self.rows.len() - self.shown().len()) {
            (Some((_, what)), hidden @ 1..) => format!("... and {hidden} more {what}\n"),
            _ => String::new(),
        }
    }

    /// Returns the table in a format.
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
