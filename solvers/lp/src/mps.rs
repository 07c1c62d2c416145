//! Reads and writes MPS files, fixed and free.
//!
//! Numbers are read exactly as the written decimals. A bound of at least 1e30, or of at most -1e30, is infinite. A
//! column between integer markers without bounds is an integer of at least 0. Rows of type N after the first row of
//! type N are left out.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::BufRead;

use evenhand_problem::number;
use rug::ops::Pow;
use rug::{Integer, Rational};
use thiserror::Error;

use crate::model::{Bounds, Column, Direction, Model, Row};

/// The largest number of bytes of a line: 64 KiB.
const MOST_BYTES_OF_A_LINE: usize = 1 << 16;
/// The largest number of digits of all numbers of a file together: about 270 MB.
const MOST_DIGITS: u64 = number::MAX_TOTAL_DIGITS;

/// The reason why a text is not a linear programme.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// A line does not follow the format.
    #[error("line {line}: {message}")]
    Line {
        /// The line, from 1.
        line: u64,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// The text cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

/// A row whose lower bound is above its upper bound, which the MPS format cannot state.
#[derive(Debug, Error)]
#[error("row `{0}`: its lower bound is above its upper bound, which an MPS file cannot state")]
pub struct ContradictoryRow(pub String);

/// The sections of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Start,
    Direction,
    Rows,
    Columns,
    Rhs,
    Ranges,
    Bounds,
}

/// The kind of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Objective,
    LeftOut,
    Equal,
    AtMost,
    AtLeast,
}

/// The state of the reader while it reads a file.
struct Reader {
    model: Model,
    line: u64,
    section: Section,
    kinds: Vec<Kind>,
    rows: HashMap<String, RowOf>,
    columns: HashMap<String, usize>,
    /// `(right-hand side, range)` of each row.
    sides: Vec<(Rational, Option<Rational>)>,
    has_objective: bool,
    in_integers: bool,
    /// For each column, true if a lower bound was stated.
    has_lower: Vec<bool>,
    digits: u64,
}

/// A row of the file: the objective, a row that is left out, or a row of the programme.
#[derive(Clone, Copy)]
enum RowOf {
    Objective,
    LeftOut,
    Row(usize),
}

/// Reads an MPS file.
///
/// # Errors
/// [`FormatError`] with the line and what was expected in this line.
pub fn read(mut text: impl BufRead) -> Result<Model, FormatError> {
    let mut reader = Reader {
        model: Model::default(),
        line: 0,
        section: Section::Start,
        kinds: Vec::new(),
        rows: HashMap::new(),
        columns: HashMap::new(),
        sides: Vec::new(),
        has_objective: false,
        in_integers: false,
        has_lower: Vec::new(),
        digits: 0,
    };
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read =
            std::io::Read::take(&mut text, MOST_BYTES_OF_A_LINE as u64 + 1).read_until(b'\n', &mut bytes)?;
        reader.line += 1;
        if read == 0 {
            return reader.wrong("the file ends without ENDATA");
        }
        if read > MOST_BYTES_OF_A_LINE {
            return reader
                .wrong(format!("more than {MOST_BYTES_OF_A_LINE} bytes, the most that a line may have"));
        }
        let Ok(line) = std::str::from_utf8(&bytes) else { return reader.wrong("the line is not UTF-8 text") };
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('*') {
            continue;
        }
        let is_header = !line.starts_with([' ', '\t']);
        if is_header && line.split_whitespace().next() == Some("ENDATA") {
            return reader.finish();
        }
        if is_header { reader.header(line)? } else { reader.data(line)? }
    }
}

impl Reader {
    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, FormatError> {
        Err(FormatError::Line { line: self.line, message: message.into() })
    }

    fn header(&mut self, line: &str) -> Result<(), FormatError> {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        self.section = match name {
            "NAME" => {
                self.model.name = line[4..].trim().to_owned();
                Section::Start
            }
            "OBJSENSE" => {
                if let Some(word) = words.next() {
                    self.direction(word)?;
                }
                Section::Direction
            }
            "OBJSENSE_MAX" | "OBJSENSE_MIN" => {
                self.direction(&name[9..])?;
                Section::Start
            }
            "ROWS" => Section::Rows,
            "COLUMNS" => Section::Columns,
            "RHS" => Section::Rhs,
            "RANGES" => Section::Ranges,
            "BOUNDS" => Section::Bounds,
            other => {
                return self.wrong(format!(
                    "the section `{other}` is not read; known are NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS and ENDATA"
                ));
            }
        };
        Ok(())
    }

    fn direction(&mut self, word: &str) -> Result<(), FormatError> {
        self.model.direction = match word.to_ascii_uppercase().as_str() {
            "MAX" | "MAXIMIZE" | "MAXIMISE" => Direction::Maximise,
            "MIN" | "MINIMIZE" | "MINIMISE" => Direction::Minimise,
            other => return self.wrong(format!("OBJSENSE `{other}`: expected MAX or MIN")),
        };
        Ok(())
    }

    fn data(&mut self, line: &str) -> Result<(), FormatError> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match self.section {
            Section::Start => self.wrong("data before a section"),
            Section::Direction => self.direction(words.first().copied().unwrap_or_default()),
            Section::Rows => self.row(line, &words),
            Section::Columns => self.column(line, &words),
            Section::Rhs => {
                let pairs = self.pairs(line, &words, "RHS")?;
                pairs.into_iter().try_for_each(|(row, value)| self.side(row, value))
            }
            Section::Ranges => {
                let pairs = self.pairs(line, &words, "RANGES")?;
                pairs.into_iter().try_for_each(|(row, value)| {
                    let RowOf::Row(row) = row else { return self.wrong("a range of the objective") };
                    self.sides[row].1 = Some(value);
                    Ok(())
                })
            }
            Section::Bounds => self.bound(line, &words),
        }
    }

    fn row(&mut self, line: &str, words: &[&str]) -> Result<(), FormatError> {
        let (kind, name) = match words {
            [kind, name] => (*kind, (*name).to_owned()),
            [kind, ..] => (*kind, field(line, 4, 12)),
            [] => return Ok(()),
        };
        let kind = match kind.to_ascii_uppercase().as_str() {
            "N" if self.has_objective => Kind::LeftOut,
            "N" => Kind::Objective,
            "E" => Kind::Equal,
            "L" => Kind::AtMost,
            "G" => Kind::AtLeast,
            other => return self.wrong(format!("the row type `{other}`: expected N, E, L or G")),
        };
        let of = match kind {
            Kind::Objective => RowOf::Objective,
            Kind::LeftOut => RowOf::LeftOut,
            _ => RowOf::Row(self.model.rows.len()),
        };
        self.has_objective |= kind == Kind::Objective;
        if self.rows.insert(name.clone(), of).is_some() {
            return self.wrong(format!("the row `{name}` is stated twice"));
        }
        if matches!(of, RowOf::Row(_)) {
            self.model.rows.push(Row { name, bounds: Bounds::free() });
            self.kinds.push(kind);
            self.sides.push((Rational::new(), None));
        }
        Ok(())
    }

    fn column(&mut self, line: &str, words: &[&str]) -> Result<(), FormatError> {
        if words.get(1).is_some_and(|word| word.trim_matches('\'') == "MARKER") {
            self.in_integers = match words.last().map(|word| word.trim_matches('\'')) {
                Some("INTORG") => true,
                Some("INTEND") => false,
                _ => return self.wrong("a marker: expected 'INTORG' or 'INTEND'"),
            };
            return Ok(());
        }
        let (name, pairs) = self.named_pairs(line, words)?;
        let at = match self.columns.get(&name) {
            Some(at) if *at + 1 == self.model.columns.len() => *at,
            Some(_) => return self.wrong(format!("the column `{name}` is stated in two places")),
            None => {
                let at = self.model.columns.len();
                self.columns.insert(name.clone(), at);
                let column = Column {
                    name,
                    bounds: Bounds::at_least(0),
                    is_integer: self.in_integers,
                    ..Column::default()
                };
                self.model.columns.push(column);
                self.has_lower.push(false);
                at
            }
        };
        for (row, value) in pairs {
            match row {
                RowOf::LeftOut => {}
                RowOf::Objective => self.model.columns[at].cost += value,
                RowOf::Row(row) if !value.is_zero() => self.model.columns[at].entries.push((row, value)),
                RowOf::Row(_) => {}
            }
        }
        Ok(())
    }

    /// Sets the right-hand side of a row. The right-hand side of the objective is minus its constant.
    fn side(&mut self, row: RowOf, value: Rational) -> Result<(), FormatError> {
        match row {
            RowOf::LeftOut => {}
            RowOf::Objective => self.model.constant = -value,
            RowOf::Row(row) => self.sides[row].0 = value,
        }
        Ok(())
    }

    fn bound(&mut self, line: &str, words: &[&str]) -> Result<(), FormatError> {
        let kind = words.first().copied().unwrap_or_default().to_ascii_uppercase();
        let has_value = !matches!(kind.as_str(), "FR" | "MI" | "PL" | "BV");
        // The name of the set of bounds may be missing.
        let (name, value) = match (words, has_value) {
            ([_, name, value], true) => ((*name).to_owned(), Some(*value)),
            ([_, _, name, value], true) => ((*name).to_owned(), Some(*value)),
            ([_, name], false) => ((*name).to_owned(), None),
            ([_, set, name], false)
                if !self.columns.contains_key(*set) || self.columns.contains_key(*name) =>
            {
                ((*name).to_owned(), None)
            }
            ([_, name, _], false) => ((*name).to_owned(), None),
            ([_, _, name, _], false) => ((*name).to_owned(), None),
            _ => (field(line, 14, 22), Some(line.get(24..).unwrap_or_default().trim()).filter(|_| has_value)),
        };
        let Some(&at) = self.columns.get(&name) else {
            return self.wrong(format!("a bound of `{name}`, but there is no such column"));
        };
        let value = value.map(|value| self.number(value)).transpose()?;
        let end = |value: Option<Rational>| value.filter(|value| !is_infinite(value));
        let has_lower = self.has_lower[at];
        let column = &mut self.model.columns[at];
        match kind.as_str() {
            "UP" | "UI" => {
                // A negative upper bound alone makes the lower bound infinite, as in most readers.
                if !has_lower && value.as_ref().is_some_and(|value| *value < 0) {
                    column.bounds.lower = None;
                }
                column.bounds.upper = end(value);
                column.is_integer |= kind == "UI";
            }
            "LO" | "LI" => {
                column.bounds.lower = end(value);
                column.is_integer |= kind == "LI";
                self.has_lower[at] = true;
            }
            "FX" => {
                column.bounds = Bounds { lower: value.clone(), upper: value };
                self.has_lower[at] = true;
            }
            "FR" => column.bounds = Bounds::free(),
            "MI" => {
                column.bounds.lower = None;
                self.has_lower[at] = true;
            }
            "PL" => column.bounds.upper = None,
            "BV" => {
                column.bounds = Bounds::between(0, 1);
                column.is_integer = true;
            }
            other => {
                return self.wrong(format!(
                    "the bound type `{other}`: expected UP, LO, FX, FR, MI, PL, BV, UI or LI"
                ));
            }
        }
        Ok(())
    }

    /// Reads the pairs of a row and a value. The name of the set before the pairs may be missing.
    fn pairs(
        &mut self,
        line: &str,
        words: &[&str],
        what: &str,
    ) -> Result<Vec<(RowOf, Rational)>, FormatError> {
        let words = match words.len() {
            2 | 4 => words,
            3 | 5 => &words[1..],
            _ => return self.fixed_pairs(line).map(|(_, pairs)| pairs),
        };
        let pairs: Result<Vec<_>, _> = words.chunks(2).map(|pair| self.pair(pair[0], pair[1])).collect();
        // Only the fixed form allows names with blanks.
        pairs.or_else(|error| self.fixed_pairs(line).map(|(_, pairs)| pairs).map_err(|_| error)).map_err(
            |error| match error {
                FormatError::Line { line, message } => {
                    FormatError::Line { line, message: format!("{what}: {message}") }
                }
                other => other,
            },
        )
    }

    fn named_pairs(
        &mut self,
        line: &str,
        words: &[&str],
    ) -> Result<(String, Vec<(RowOf, Rational)>), FormatError> {
        if !matches!(words.len(), 3 | 5) {
            return self.fixed_pairs(line);
        }
        let pairs: Result<Vec<_>, _> = words[1..].chunks(2).map(|pair| self.pair(pair[0], pair[1])).collect();
        match pairs {
            Ok(pairs) => Ok((words[0].to_owned(), pairs)),
            Err(error) => self.fixed_pairs(line).map_err(|_| error),
        }
    }

    /// Reads the fields of the fixed form, which have fixed positions: a name and one or two pairs.
    fn fixed_pairs(&mut self, line: &str) -> Result<(String, Vec<(RowOf, Rational)>), FormatError> {
        let mut pairs = vec![self.pair(&field(line, 14, 22), &field(line, 24, 36))?];
        let second = field(line, 39, 47);
        if !second.is_empty() {
            pairs.push(self.pair(&second, &field(line, 49, 61))?);
        }
        Ok((field(line, 4, 12), pairs))
    }

    fn pair(&mut self, row: &str, value: &str) -> Result<(RowOf, Rational), FormatError> {
        let Some(of) = self.rows.get(row).copied() else {
            return self.wrong(format!("there is no row `{row}`"));
        };
        Ok((of, self.number(value)?))
    }

    fn number(&mut self, text: &str) -> Result<Rational, FormatError> {
        self.digits += text.len() as u64;
        if self.digits > MOST_DIGITS {
            return self.wrong(format!("the numbers have more than {MOST_DIGITS} digits together"));
        }
        parse(text).ok_or_else(|| FormatError::Line {
            line: self.line,
            message: format!("`{text}` is not a number"),
        })
    }

    fn finish(mut self) -> Result<Model, FormatError> {
        for ((row, kind), (side, range)) in self.model.rows.iter_mut().zip(&self.kinds).zip(&self.sides) {
            let far = range.as_ref().map(|range| range.clone().abs());
            row.bounds = match (kind, far) {
                (Kind::Equal, None) => Bounds::equal(side.clone()),
                (Kind::Equal, Some(far)) if range.as_ref().is_some_and(|range| *range < 0) => {
                    Bounds::between(Rational::from(side - &far), side.clone())
                }
                (Kind::Equal, Some(far)) => Bounds::between(side.clone(), Rational::from(side + &far)),
                (Kind::AtMost, far) => Bounds {
                    lower: far.map(|far| Rational::from(side - &far)),
                    upper: Some(side.clone()).filter(|side| !is_infinite(side)),
                },
                (_, far) => Bounds {
                    upper: far.map(|far| Rational::from(side + &far)),
                    lower: Some(side.clone()).filter(|side| !is_infinite(side)),
                },
            };
        }
        for column in &mut self.model.columns {
            column.entries.sort_by_key(|(row, _)| *row);
            if let Some(pair) = column.entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                let (name, row) = (&column.name, &self.model.rows[pair[0].0].name);
                let message = format!("the column `{name}` states row `{row}` twice");
                return Err(FormatError::Line { line: self.line, message });
            }
        }
        Ok(self.model)
    }
}

/// Returns the number that a text states: a decimal with an exponent, exactly as written. Fortran writes the exponent
/// with a D. Returns `None` if the text is not a number.
#[must_use]
pub fn parse(text: &str) -> Option<Rational> {
    let text = text.trim_start_matches('+');
    match text.to_ascii_lowercase().as_str() {
        "inf" | "infinity" | "1e+30" | "1e30" => return Some(infinite()),
        "-inf" | "-infinity" | "-1e+30" | "-1e30" => return Some(-infinite()),
        _ => {}
    }
    let parsed = number::parse(text).ok();
    parsed.or_else(|| {
        let plain = text.replace(['d', 'D'], "e").replace("e+", "e").replace("E+", "e");
        let plain = plain.trim_end_matches('.').replace(".e", "e").replace(".E", "e");
        let plain = match plain.strip_prefix('-') {
            Some(rest) if rest.starts_with('.') => format!("-0{rest}"),
            None if plain.starts_with('.') => format!("0{plain}"),
            _ => plain,
        };
        number::parse(&plain).ok()
    })
}

fn infinite() -> Rational {
    Rational::from(Integer::from(Integer::u_pow_u(10, 30)))
}

/// Returns true if a bound is so large that it counts as infinite.
pub(crate) fn is_infinite(value: &Rational) -> bool {
    value.clone().abs() >= infinite()
}

/// Returns a field of the fixed form. `from` and `to` are positions in bytes from the start of the line.
fn field(line: &str, from: usize, to: usize) -> String {
    line.get(from..to.min(line.len())).unwrap_or_default().trim().to_owned()
}

/// The largest number of digits with which a number is written as an exact decimal. A number that needs more digits is
/// rounded to the nearest double.
const MOST_WRITTEN_DIGITS: usize = 30;

/// Writes a programme in the free form, in which names have no blanks.
///
/// Numbers are written as exact decimals of at most 30 digits. Other numbers are rounded to the nearest double. A range
/// is written as the difference of the bounds of its row.
///
/// # Errors
/// [`ContradictoryRow`] when the lower bound of a row is above its upper bound.
pub fn write(model: &Model) -> Result<String, ContradictoryRow> {
    let mut objective = "obj".to_owned();
    while model.rows.iter().any(|row| row.name == objective) {
        objective.push('_');
    }
    let name: Vec<&str> = model.name.split_whitespace().collect();
    let mut text =
        format!("NAME {}\n", if name.is_empty() { "programme".to_owned() } else { name.join("_") });
    if model.direction == Direction::Maximise {
        text += "OBJSENSE\n    MAX\n";
    }
    let (mut sides, mut ranges) = (String::new(), String::new());
    if !model.constant.is_zero() {
        let _infallible = writeln!(sides, " rhs {objective} {}", decimal(&Rational::from(-&model.constant)));
    }
    let _infallible = writeln!(text, "ROWS\n N {objective}");
    for Row { name, bounds } in &model.rows {
        let (kind, side) = match (&bounds.lower, &bounds.upper) {
            (None, None) => ('N', None),
            (Some(lower), None) => ('G', Some(lower)),
            (None, Some(upper)) => ('L', Some(upper)),
            (Some(lower), Some(upper)) if lower > upper => return Err(ContradictoryRow(name.clone())),
            (Some(lower), Some(upper)) if lower == upper => ('E', Some(upper)),
            (Some(lower), Some(upper)) => {
                let _infallible = writeln!(ranges, " rng {name} {}", decimal(&Rational::from(upper - lower)));
                ('L', Some(upper))
            }
        };
        let _infallible = writeln!(text, " {kind} {name}");
        if let Some(side) = side.filter(|side| !side.is_zero()) {
            let _infallible = writeln!(sides, " rhs {name} {}", decimal(side));
        }
    }
    text += "COLUMNS\n";
    let mut bounds = String::new();
    let mut in_integers = false;
    for column in &model.columns {
        if column.is_integer != in_integers {
            in_integers = column.is_integer;
            text += if in_integers { " M 'MARKER' 'INTORG'\n" } else { " M 'MARKER' 'INTEND'\n" };
        }
        if !column.cost.is_zero() || column.entries.is_empty() {
            let _infallible = writeln!(text, " {} {objective} {}", column.name, decimal(&column.cost));
        }
        for (row, value) in &column.entries {
            let _infallible = writeln!(text, " {} {} {}", column.name, model.rows[*row].name, decimal(value));
        }
        bounds += &written_bounds(column);
    }
    if in_integers {
        text += " M 'MARKER' 'INTEND'\n";
    }
    for (section, lines) in [("RHS", sides), ("RANGES", ranges), ("BOUNDS", bounds)] {
        if !lines.is_empty() {
            let _infallible = write!(text, "{section}\n{lines}");
        }
    }
    Ok(text + "ENDATA\n")
}

/// Returns the lines of the bounds of a column. The bounds 0 and infinity need no line.
fn written_bounds(column: &Column) -> String {
    let name = &column.name;
    let line = |kind: &str, value: &Rational| format!(" {kind} bnd {name} {}\n", decimal(value));
    match (&column.bounds.lower, &column.bounds.upper) {
        (None, None) => format!(" FR bnd {name}\n"),
        (None, Some(upper)) => format!(" MI bnd {name}\n") + &line("UP", upper),
        // Some readers assume 1 as the upper bound of an integer.
        (Some(lower), None) if lower.is_zero() && column.is_integer => format!(" PL bnd {name}\n"),
        (Some(lower), None) if lower.is_zero() => String::new(),
        (Some(lower), None) => line("LO", lower),
        (Some(lower), Some(upper)) if lower == upper => line("FX", upper),
        // A negative upper bound alone would make the lower bound infinite.
        (Some(lower), Some(upper)) if lower.is_zero() && *upper > 0 => line("UP", upper),
        (Some(lower), Some(upper)) => line("LO", lower) + &line("UP", upper),
    }
}

/// Returns a number as a decimal of at most [`MOST_WRITTEN_DIGITS`] digits, or as the nearest double.
fn decimal(value: &Rational) -> String {
    let mut rest = value.denom().clone();
    let twos = rest.remove_factor_mut(&Integer::from(2));
    let fives = rest.remove_factor_mut(&Integer::from(5));
    let places = twos.max(fives);
    if rest == 1 && places as usize <= MOST_WRITTEN_DIGITS {
        let scaled = Rational::from(value * Integer::from(10).pow(places));
        let digits = scaled.numer().to_string();
        if digits.trim_start_matches('-').len() <= MOST_WRITTEN_DIGITS {
            return if places == 0 { digits } else { format!("{digits}e-{places}") };
        }
    }
    format!("{:e}", number::to_f64(value))
}
