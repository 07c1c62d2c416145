//! Programmes, answers and certificates as JSON (docs/linear-programmes.md).

use std::collections::HashMap;
use std::fmt::Write;

use evenhand_problem::number::{self, NumberError};
use rug::Rational;
use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::model::{Bounds, Column, Direction, Model, Position, Row};
use crate::solve::{Answer, Infeasibility, Status};

/// The reason why a JSON document is no linear programme.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The text is no JSON, or has other fields.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A value cannot be.
    #[error("{place}: {message}")]
    Value {
        /// The place in the document.
        place: String,
        /// What is wrong, and what was expected.
        message: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelFile {
    kind: String,
    #[serde(default)]
    name: String,
    direction: String,
    #[serde(default)]
    constant: Option<Value>,
    rows: Vec<RowFile>,
    columns: Vec<ColumnFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowFile {
    name: String,
    #[serde(default)]
    lower: Option<Value>,
    #[serde(default)]
    upper: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnFile {
    name: String,
    #[serde(default)]
    cost: Option<Value>,
    #[serde(default)]
    lower: Option<Value>,
    #[serde(default)]
    upper: Option<Value>,
    #[serde(default)]
    integer: bool,
    #[serde(default)]
    entries: Map<String, Value>,
}

fn wrong<T>(place: impl Into<String>, message: impl Into<String>) -> Result<T, JsonError> {
    Err(JsonError::Value { place: place.into(), message: message.into() })
}

/// Reads a number: a JSON number as the decimal that is written, or a text such as "3/7".
pub(crate) fn rational(value: &Value) -> Result<Rational, NumberFault> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return Err(NumberFault::Kind),
    };
    Ok(number::parse_result(&text)?)
}

/// The reason why a value is no number.
#[derive(Debug, Error)]
pub(crate) enum NumberFault {
    /// It is neither a number nor a text.
    #[error("expected a number or a text such as \"3/7\"")]
    Kind,
    /// It is not written as a number.
    #[error(transparent)]
    Number(#[from] NumberError),
}

fn stated(place: impl Fn() -> String, value: Option<&Value>) -> Result<Option<Rational>, JsonError> {
    value.map(|value| rational(value).or_else(|fault| wrong(place(), fault.to_string()))).transpose()
}

/// Reads a programme.
///
/// # Errors
/// [`JsonError`] with the place and what was expected there.
pub fn read(text: &str) -> Result<Model, JsonError> {
    let file: ModelFile = serde_json::from_str(text)?;
    if file.kind != "linear-programme" {
        return wrong("kind", "expected `linear-programme`");
    }
    let direction = match file.direction.as_str() {
        "minimise" => Direction::Minimise,
        "maximise" => Direction::Maximise,
        _ => return wrong("direction", "expected `minimise` or `maximise`"),
    };
    let mut model = Model::new(file.name, direction);
    model.constant = stated(|| "constant".to_owned(), file.constant.as_ref())?.unwrap_or_default();
    let mut rows = HashMap::new();
    for (i, row) in file.rows.into_iter().enumerate() {
        let end =
            |which: &str, value: &Option<Value>| stated(|| format!("rows[{i}].{which}"), value.as_ref());
        let bounds = Bounds { lower: end("lower", &row.lower)?, upper: end("upper", &row.upper)? };
        if rows.insert(row.name.clone(), i).is_some() {
            return wrong(format!("rows[{i}].name"), format!("the row `{}` is stated twice", row.name));
        }
        model.rows.push(Row { name: row.name, bounds });
    }
    let mut columns = HashMap::new();
    for (j, column) in file.columns.into_iter().enumerate() {
        let place = |which: &str| format!("columns[{j}].{which}");
        let end = |which: &'static str, value: &Option<Value>| stated(|| place(which), value.as_ref());
        let bounds = Bounds { lower: end("lower", &column.lower)?, upper: end("upper", &column.upper)? };
        let cost = end("cost", &column.cost)?.unwrap_or_default();
        if columns.insert(column.name.clone(), j).is_some() {
            return wrong(place("name"), format!("the column `{}` is stated twice", column.name));
        }
        let mut entries = Vec::new();
        for (row, value) in &column.entries {
            let Some(at) = rows.get(row) else {
                return wrong(place("entries"), format!("there is no row `{row}`"));
            };
            let value = rational(value)
                .or_else(|fault| wrong(place(&format!("entries.{row}")), fault.to_string()))?;
            if !value.is_zero() {
                entries.push((*at, value));
            }
        }
        entries.sort_by_key(|(row, _)| *row);
        model.columns.push(Column { name: column.name, cost, bounds, is_integer: column.integer, entries });
    }
    Ok(model)
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn bounds_in_json(bounds: &Bounds) -> String {
    let end = |name: &str, end: &Option<Rational>| {
        end.as_ref().map_or_else(String::new, |end| format!(",\"{name}\":\"{end}\""))
    };
    end("lower", &bounds.lower) + &end("upper", &bounds.upper)
}

/// Writes a programme.
#[must_use]
pub fn write(model: &Model) -> String {
    let direction = if model.direction == Direction::Minimise { "minimise" } else { "maximise" };
    let mut text = format!(
        "{{\"kind\":\"linear-programme\",\"name\":{},\"direction\":\"{direction}\",\"constant\":\"{}\",\"rows\":[",
        quoted(&model.name),
        model.constant
    );
    for (i, row) in model.rows.iter().enumerate() {
        let comma = if i == 0 { "\n" } else { ",\n" };
        let _ = write!(text, "{comma}{{\"name\":{}{}}}", quoted(&row.name), bounds_in_json(&row.bounds));
    }
    text += "],\"columns\":[";
    for (j, column) in model.columns.iter().enumerate() {
        let comma = if j == 0 { "\n" } else { ",\n" };
        let _ = write!(text, "{comma}{{\"name\":{}", quoted(&column.name));
        if !column.cost.is_zero() {
            let _ = write!(text, ",\"cost\":\"{}\"", column.cost);
        }
        text += &bounds_in_json(&column.bounds);
        if column.is_integer {
            text += ",\"integer\":true";
        }
        text += ",\"entries\":{";
        for (k, (row, value)) in column.entries.iter().enumerate() {
            let comma = if k == 0 { "" } else { "," };
            let _ = write!(text, "{comma}{}:\"{value}\"", quoted(&model.rows[*row].name));
        }
        text += "}}";
    }
    text + "]}\n"
}

/// Writes the values that are not 0, by name.
fn by_name<'n>(names: impl Iterator<Item = &'n str>, values: &[Rational]) -> String {
    let fields: Vec<String> = names
        .zip(values)
        .filter(|(_, value)| !value.is_zero())
        .map(|(name, value)| format!("{}:\"{value}\"", quoted(name)))
        .collect();
    format!("{{{}}}", fields.join(",\n"))
}

/// Returns the fields of a status: its word and its proof. `None` for a limit, which has no proof of an answer.
fn proof(model: &Model, status: &Status) -> Option<String> {
    let columns =
        |values: &[Rational]| by_name(model.columns.iter().map(|column| column.name.as_str()), values);
    let rows = |values: &[Rational]| by_name(model.rows.iter().map(|row| row.name.as_str()), values);
    Some(match status {
        Status::Optimal(optimum) => format!(
            "\"status\":\"optimal\",\"objective\":\"{}\",\n\"x\":{},\n\"y\":{}",
            optimum.objective,
            columns(&optimum.x),
            rows(&optimum.y)
        ),
        Status::Infeasible(Infeasibility::Prices(y)) => {
            format!("\"status\":\"infeasible\",\n\"y\":{}", rows(y))
        }
        Status::Infeasible(Infeasibility::EmptyBounds(position)) => {
            let (kind, name) = match position {
                Position::Row(i) => ("row", &model.rows[*i].name),
                Position::Column(j) => ("column", &model.columns[*j].name),
            };
            format!("\"status\":\"infeasible\",\"empty\":{{\"{kind}\":{}}}", quoted(name))
        }
        Status::Unbounded { x, ray } => {
            format!("\"status\":\"unbounded\",\n\"x\":{},\n\"ray\":{}", columns(x), columns(ray))
        }
        Status::Limit { .. } => return None,
    })
}

/// Writes a certificate: the programme with its answer and its proof. `None` for a limit.
#[must_use]
pub fn certificate(model: &Model, answer: &Answer) -> Option<String> {
    let proof = proof(model, &answer.status)?;
    let programme = write(model);
    Some(format!(
        "{{\"kind\":\"lp-certificate\",\"version\":1,\"programme\":{},\n{proof}}}\n",
        programme.trim_end()
    ))
}

/// Writes an answer: its status, objective, values and prices.
#[must_use]
pub fn answer(model: &Model, answer: &Answer) -> String {
    let fields = proof(model, &answer.status).unwrap_or_else(|| {
        let Status::Limit { feasible, bound } = &answer.status else { return String::new() };
        let number =
            |value: Option<&Rational>| value.map_or("null".to_owned(), |value| format!("\"{value}\""));
        let x = feasible.as_ref().map(|(x, _)| x.as_slice()).unwrap_or_default();
        format!(
            "\"status\":\"limit\",\"objective\":{},\"bound\":{},\n\"x\":{}",
            number(feasible.as_ref().map(|(_, objective)| objective)),
            number(bound.as_ref().map(|(_, bound)| bound)),
            by_name(model.columns.iter().map(|column| column.name.as_str()), x)
        )
    });
    format!("{{\"kind\":\"lp-answer\",\"name\":{},{fields}}}\n", quoted(&model.name))
}
