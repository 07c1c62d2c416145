//! A table of jobs, read row by row.

use evenhand_problem::printable;

use super::{
    ImportError, Input,
    input::{Record, Records},
};

/// The columns of the table.
const COLUMNS: [&str; 4] = ["time", "user", "tasks", "duration"];

/// Tasks of one user that arrive together.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRow {
    /// The line in the decompressed file, from 1.
    pub line: u64,
    /// The time of arrival of the tasks.
    pub at: f64,
    /// The name of the user.
    pub user: String,
    /// The number of tasks, at least 1.
    pub tasks: u64,
    /// The running time of each task.
    pub duration: f64,
}

/// A table with the header `time,user,tasks,duration` and ascending times.
pub struct TaskTable {
    rows: Records,
    last: f64,
}

impl TaskTable {
    /// Reads the header.
    ///
    /// # Errors
    /// Returns an [`ImportError`] if the header cannot be read or has other columns.
    pub fn new(input: Input) -> Result<Self, ImportError> {
        Ok(Self { rows: input.rows_of("a table", &COLUMNS)?, last: 0.0 })
    }

    /// Returns the next row, or `None` after the last row.
    ///
    /// # Errors
    /// Returns an [`ImportError`] if the row is malformed or cut off, or its time is before the time of the
    /// row above.
    pub fn next_row(&mut self) -> Result<Option<TaskRow>, ImportError> {
        let Some(row) = self.rows.next()? else { return Ok(None) };
        row.expect_columns(COLUMNS.len())?;
        let at = number(&row, 0)?;
        if at < self.last {
            return Err(row.error(format!("time goes back from {} to {at}", self.last)));
        }
        self.last = at;
        let tasks = row.whole(2, COLUMNS[2])?;
        if tasks == 0 {
            return Err(row.column_error(2, COLUMNS[2], "at least 1"));
        }
        let (user, duration) = (row.field(1).to_owned(), number(&row, 3)?);
        Ok(Some(TaskRow { line: row.line(), at, user, tasks, duration }))
    }

    /// Returns the error that the user of a row does not exist.
    #[must_use]
    pub fn unknown_user(&self, row: &TaskRow) -> ImportError {
        let message = format!("{}: there is no user `{}`", COLUMNS[1], printable(&row.user));
        self.rows.error_at(row.line, message)
    }

    /// Returns the error that the number of tasks of a row is not a multiple of `gang`, the gang of the row's
    /// user.
    #[must_use]
    pub fn no_whole_gangs(&self, row: &TaskRow, gang: u64) -> ImportError {
        let (column, tasks) = (COLUMNS[2], row.tasks);
        let message =
            format!("{column}: found `{tasks}`: expected a multiple of {gang}, the gang of its user");
        self.rows.error_at(row.line, message)
    }
}

/// The largest time that is accepted. Sums of squares of such times do not overflow a double.
const LARGEST: f64 = 1e100;

/// Reads a number of at least 0.
fn number(row: &Record<'_>, column: usize) -> Result<f64, ImportError> {
    let text = row.field(column);
    let is_plain = text.starts_with(|first: char| first.is_ascii_digit());
    let value = text.parse::<f64>().ok().filter(|value| is_plain && *value <= LARGEST);
    value.ok_or_else(|| row.column_error(column, COLUMNS[column], "a number of at least 0 and at most 1e100"))
}
