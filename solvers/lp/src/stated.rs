//! Reads answers that a solver printed: values, and prices if the answer states them.
//!
//! The formats are the solution files of HiGHS, SCIP, Gurobi, CPLEX (XML), glpsol (`--write`), Clp and CBC, QSopt_ex
//! and MIPLIB, JSON (`lp-answer`), and lines with a name and a value. Numbers are read exactly as the written decimals.

use std::collections::HashMap;

use evenhand_problem::format::{FormatError, Object, Source};
use evenhand_problem::number::parse_result;
use rug::Rational;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::model::{Direction, Model};
use crate::mps::parse;

/// An answer as a solver states it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatedAnswer {
    /// Value of each column. It is 0 if the answer states no value.
    pub x: Vec<Rational>,
    /// Price of each row in the minimised programme. `None` if the answer states no prices.
    pub y: Option<Vec<Rational>>,
    /// The stated objective value.
    pub objective: Option<Rational>,
    /// The number of columns without a stated value.
    pub missing: usize,
}

/// The reason why a text is not an answer.
#[derive(Debug, Error)]
#[error("line {line}: {message}")]
pub struct StatedError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what was expected.
    pub message: String,
}

/// A section of a solution file of HiGHS.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Columns,
    Rows,
    DualColumns,
    DualRows,
    Nothing,
}

struct Reader<'m> {
    model: &'m Model,
    columns: HashMap<&'m str, usize>,
    rows: HashMap<&'m str, usize>,
    x: Vec<Option<Rational>>,
    y: Option<Vec<Rational>>,
    objective: Option<Rational>,
}

/// Reads an answer of a programme.
///
/// # Errors
/// [`StatedError`] with the line and what was expected in this line.
pub fn read(model: &Model, text: &str) -> Result<StatedAnswer, StatedError> {
    let columns = model.columns.iter().enumerate().map(|(j, column)| (column.name.as_str(), j));
    let rows = model.rows.iter().enumerate().map(|(i, row)| (row.name.as_str(), i));
    let mut reader = Reader {
        model,
        columns: columns.collect(),
        rows: rows.collect(),
        x: vec![None; model.columns.len()],
        y: None,
        objective: None,
    };
    let start = text.trim_start();
    if start.starts_with('{') {
        reader.json(text)?;
    } else if start.starts_with("<?xml") || start.starts_with("<CPLEX") {
        reader.xml(text)?;
    } else if text
        .lines()
        .any(|line| line.starts_with("s bas ") || line.starts_with("s ipt ") || line.starts_with("s mip "))
    {
        reader.glpk(text)?;
    } else if start.lines().next().is_some_and(|line| line.contains(" - objective value")) {
        reader.clp(text)?;
    } else if start.starts_with("status ") {
        reader.qsopt(text)?;
    } else {
        reader.lines(text)?;
    }
    let missing = reader.x.iter().filter(|x| x.is_none()).count();
    if missing == model.columns.len() && missing > 0 && reader.y.is_none() {
        return wrong(1, "no column of the programme has a value here");
    }
    let x = reader.x.into_iter().map(Option::unwrap_or_default).collect();
    Ok(StatedAnswer { x, y: reader.y, objective: reader.objective, missing })
}

fn wrong<T>(line: usize, message: impl Into<String>) -> Result<T, StatedError> {
    Err(StatedError { line, message: message.into() })
}

fn number(line: usize, text: &str) -> Result<Rational, StatedError> {
    let parsed = parse(text).or_else(|| parse_result(text).ok());
    parsed.map_or_else(|| wrong(line, format!("`{text:.40}` is not a finite number")), Ok)
}

impl Reader<'_> {
    fn column(&mut self, line: usize, name: &str, value: Rational) -> Result<(), StatedError> {
        match self.columns.get(name) {
            Some(at) if self.x[*at].is_some() => {
                return wrong(line, format!("the column `{name:.60}` has a value already"));
            }
            Some(at) => self.x[*at] = Some(value),
            None => return wrong(line, format!("the programme has no column `{name:.60}`")),
        }
        Ok(())
    }

    /// Records a price in the sign convention of solvers: the change of the objective for one more unit of the
    /// right-hand side.
    fn price(&mut self, line: usize, row: &str, value: Rational) -> Result<(), StatedError> {
        match self.rows.get(row) {
            Some(at) => self.price_at(*at, value),
            None => return wrong(line, format!("the programme has no row `{row:.60}`")),
        }
        Ok(())
    }

    fn price_at(&mut self, at: usize, value: Rational) {
        let zero = || vec![Rational::new(); self.model.rows.len()];
        let value = if self.model.direction == Direction::Maximise { -value } else { value };
        self.y.get_or_insert_with(zero)[at] = value;
    }

    fn json(&mut self, text: &str) -> Result<(), StatedError> {
        let fault = |error: FormatError| StatedError {
            line: error.line,
            message: match error.place.steps() {
                [] => error.message,
                _ => format!("{}: {}", error.place, error.message),
            },
        };
        let document = Source { name: "", text }.document().map_err(fault)?;
        let top = document.object(document.root()).map_err(fault)?;
        let kind = top.get("kind").map(|raw| document.string(raw)).transpose().map_err(fault)?;
        let is_own = matches!(kind.as_deref(), Some("lp-answer" | "lp-certificate"));
        let objects = |field: &str| {
            let given = top.get(field).filter(|raw| raw.get() != "null");
            given.map(|raw| document.object(raw)).transpose()
        };
        // The line of a value is computed only for an error, since it takes time proportional to the text.
        let at_line_of =
            |raw: &RawValue, error: StatedError| StatedError { line: document.error(raw, "").line, ..error };
        for (name, raw) in objects("x").map_err(fault)?.iter().flat_map(Object::fields) {
            let value = document.result_number(raw).map_err(fault)?;
            self.column(0, name, value).map_err(|error| at_line_of(raw, error))?;
        }
        if is_own {
            // These formats leave out values of 0.
            self.x.iter_mut().for_each(|x| {
                x.get_or_insert_with(Rational::new);
            });
        }
        for (name, raw) in objects("y").map_err(fault)?.iter().flat_map(Object::fields) {
            let value = document.result_number(raw).map_err(fault)?;
            // In answers that this program wrote, prices are prices of the minimised programme.
            let is_negated = is_own && self.model.direction == Direction::Maximise;
            let price = self.price(0, name, if is_negated { -value } else { value });
            price.map_err(|error| at_line_of(raw, error))?;
        }
        if let Some(raw) = top.get("objective").filter(|raw| raw.get() != "null") {
            self.objective = Some(document.result_number(raw).map_err(fault)?);
        }
        Ok(())
    }

    fn xml(&mut self, text: &str) -> Result<(), StatedError> {
        for (at, line) in text.lines().enumerate() {
            let attribute = |name: &str| {
                let start = line.find(&format!(" {name}=\""))? + name.len() + 3;
                let rest = &line[start..];
                let value = &rest[..rest.find('"')?];
                let plain = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
                Some(plain.replace("&apos;", "'").replace("&amp;", "&"))
            };
            let line = line.trim_start();
            if line.starts_with("<variable ") {
                let (Some(name), Some(value)) = (attribute("name"), attribute("value")) else {
                    return wrong(at + 1, "a variable without name or value");
                };
                self.column(at + 1, &name, number(at + 1, &value)?)?;
            } else if line.starts_with("<constraint ") {
                if let (Some(name), Some(dual)) = (attribute("name"), attribute("dual")) {
                    self.price(at + 1, &name, number(at + 1, &dual)?)?;
                }
            } else if let Some(value) = attribute("objectiveValue") {
                self.objective = Some(number(at + 1, &value)?);
            }
        }
        Ok(())
    }

    /// Reads the format of glpsol: lines `i ROW STATUS PRIMAL DUAL` and `j COLUMN STATUS PRIMAL DUAL`, numbered from 1.
    /// Integer programmes have no status and no dual.
    fn glpk(&mut self, text: &str) -> Result<(), StatedError> {
        for (at, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let index = |count: usize| -> Result<usize, StatedError> {
                let index = words.get(1).and_then(|word| word.parse::<usize>().ok());
                match index.filter(|index| (1..=count).contains(index)) {
                    Some(index) => Ok(index - 1),
                    None => wrong(at + 1, format!("expected a number from 1 to {count}")),
                }
            };
            match words.as_slice() {
                ["s", .., value] => self.objective = Some(number(at + 1, value)?),
                ["j", _, value] | ["j", _, _, value, _] => {
                    let column = index(self.x.len())?;
                    self.x[column] = Some(number(at + 1, value)?);
                }
                ["i", _, _, _, dual] => {
                    let row = index(self.model.rows.len())?;
                    let dual = number(at + 1, dual)?;
                    self.price_at(row, dual);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads the format of Clp and CBC: lines `INDEX NAME VALUE DUAL`. Lines of rows come first if they are printed.
    /// The columns begin at the first line whose index is not larger than the index before.
    fn clp(&mut self, text: &str) -> Result<(), StatedError> {
        let mut entries: Vec<(usize, usize, String, &str, &str)> = Vec::new();
        let mut first_column = 0;
        for (at, line) in text.lines().enumerate() {
            let line = line.trim_start().trim_start_matches("**");
            if let Some((_, value)) = line.split_once(" - objective value") {
                self.objective = Some(number(at + 1, value.trim())?);
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                [index, name @ .., value, dual] if !name.is_empty() => {
                    let Ok(index) = index.parse::<usize>() else {
                        return wrong(at + 1, format!("`{index:.40}`: expected an index"));
                    };
                    if entries.last().is_some_and(|(_, before, ..)| index <= *before) {
                        first_column = entries.len();
                    }
                    entries.push((at + 1, index, name.join(" "), *value, *dual));
                }
                _ => return wrong(at + 1, "expected an index, a name, a value and a dual value"),
            }
        }
        for (line, _, name, value, _) in &entries[first_column..] {
            self.column(*line, name, number(*line, value)?)?;
        }
        for (line, _, name, _, dual) in &entries[..first_column] {
            self.price(*line, name, number(*line, dual)?)?;
        }
        Ok(())
    }

    /// Reads the format of QSopt_ex: lines `NAME = VALUE` in sections, without the columns and prices that are 0.
    fn qsopt(&mut self, text: &str) -> Result<(), StatedError> {
        let mut section = Section::Nothing;
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            section = match line {
                "VARS:" => Section::Columns,
                "PI:" => Section::DualRows,
                _ if line.ends_with(':') => Section::Nothing,
                _ => section,
            };
            let Some((name, value)) = line.split_once(" = ") else { continue };
            match section {
                Section::Columns => self.column(at + 1, name.trim(), number(at + 1, value.trim())?)?,
                Section::DualRows => self.price(at + 1, name.trim(), number(at + 1, value.trim())?)?,
                _ if name.trim() == "Value" => self.objective = Some(number(at + 1, value.trim())?),
                _ => {}
            }
        }
        self.x.iter_mut().for_each(|x| {
            x.get_or_insert_with(Rational::new);
        });
        Ok(())
    }

    fn lines(&mut self, text: &str) -> Result<(), StatedError> {
        let is_of_highs = text.lines().any(|line| line.starts_with("# Columns"));
        let mut section = if is_of_highs { Section::Nothing } else { Section::Columns };
        let mut is_dual = false;
        for (at, line) in text.lines().enumerate() {
            let line_number = at + 1;
            let lower = line.to_ascii_lowercase();
            if let Some(rest) = line.strip_prefix('#') {
                let rest = rest.trim();
                section = match rest.split_whitespace().next() {
                    Some("Columns") if is_dual => Section::DualColumns,
                    Some("Rows") if is_dual => Section::DualRows,
                    Some("Columns") => Section::Columns,
                    Some("Rows") => Section::Rows,
                    _ if is_of_highs => Section::Nothing,
                    _ => section,
                };
                is_dual |= rest.starts_with("Dual");
                if rest == "Basis" {
                    break;
                }
                if let Some((_, value)) = rest.split_once("Objective value =") {
                    self.objective = Some(number(line_number, value.trim())?);
                }
                continue;
            }
            let words: Vec<&str> =
                line.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty()).collect();
            match words.as_slice() {
                [] => {}
                ["=obj=", value] => self.objective = Some(number(line_number, value)?),
                ["Objective", value] if is_of_highs && section == Section::Nothing => {
                    self.objective = Some(number(line_number, value)?);
                }
                _ if lower.starts_with("objective value:") => {
                    self.objective = words.last().map(|value| number(line_number, value)).transpose()?;
                }
                _ if lower.starts_with("solution status") || lower.starts_with("no solution") => {}
                [name, value, ..] => match section {
                    Section::Columns => self.column(line_number, name, number(line_number, value)?)?,
                    Section::DualRows => self.price(line_number, name, number(line_number, value)?)?,
                    Section::Rows | Section::DualColumns | Section::Nothing => {}
                },
                [_] if section == Section::Nothing => {}
                [_] if is_of_highs => {}
                [word] => return wrong(line_number, format!("`{word:.60}`: expected a name and a value")),
            }
        }
        Ok(())
    }
}
