//! Programmes, answers and certificates as JSON (docs/linear-programmes.md).

use std::collections::HashMap;
use std::fmt::Write;

use evenhand_problem::format::{Document, FormatError, Object, Source};
use rug::Rational;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::canonical::hash;
use crate::model::{Bounds, Column, Direction, Model, Position, Row};
use crate::solve::{Answer, Infeasibility, Status};

const MODEL_FIELDS: [&str; 6] = ["kind", "name", "direction", "constant", "rows", "columns"];
const ROW_FIELDS: [&str; 3] = ["name", "lower", "upper"];
const COLUMN_FIELDS: [&str; 6] = ["name", "cost", "lower", "upper", "integer", "entries"];

/// Reads a programme. Every number is read exactly as the written decimal.
///
/// # Errors
/// [`FormatError`] with the line, the column, the place in the document and what was expected at this place.
pub fn read(source: Source<'_>) -> Result<Model, FormatError> {
    let document = source.document()?;
    let reader = Reader { document: &document };
    let top = document.object(document.root())?;
    top.of_kind(&document, "linear-programme")?;
    top.only_at_top(&document, &MODEL_FIELDS)?;
    let direction = top.need(&document, "direction")?;
    let direction = match &*document.string(direction)? {
        "minimise" => Direction::Minimise,
        "maximise" => Direction::Maximise,
        _ => return Err(document.error(direction, "expected `minimise` or `maximise`")),
    };
    let name = top.get("name").map(|raw| document.string(raw)).transpose()?.unwrap_or_default();
    let mut model = Model::new(name, direction);
    model.constant = reader.number(&top, "constant")?.unwrap_or_default();
    let rows = reader.rows(&top, &mut model)?;
    reader.columns(&top, &rows, &mut model)?;
    Ok(model)
}

struct Reader<'d, 't> {
    document: &'d Document<'t>,
}

impl<'t> Reader<'_, 't> {
    fn number(&self, object: &Object<'t>, field: &str) -> Result<Option<Rational>, FormatError> {
        object.get(field).map(|raw| self.document.number(raw)).transpose()
    }

    fn bounds(&self, object: &Object<'t>) -> Result<Bounds, FormatError> {
        Ok(Bounds { lower: self.number(object, "lower")?, upper: self.number(object, "upper")? })
    }

    fn objects(&self, top: &Object<'t>, field: &str, known: &[&str]) -> Result<Vec<Object<'t>>, FormatError> {
        let list = self.document.list(top.need(self.document, field)?)?;
        let object = |raw: &'t RawValue| {
            let object = self.document.object(raw)?;
            object.only(self.document, known)?;
            Ok(object)
        };
        list.into_iter().map(object).collect()
    }

    /// Returns the name of a row or a column. No other row or column may have the same name.
    fn name(
        &self,
        object: &Object<'t>,
        kind: &str,
        at: usize,
        known: &mut HashMap<String, usize>,
    ) -> Result<String, FormatError> {
        let raw = object.need(self.document, "name")?;
        let name = self.document.string(raw)?.into_owned();
        if known.insert(name.clone(), at).is_some() {
            return Err(self.document.error(raw, format!("the {kind} `{name:.60}` is stated twice")));
        }
        Ok(name)
    }

    /// Reads the rows. Returns the index of each row by its name.
    fn rows(&self, top: &Object<'t>, model: &mut Model) -> Result<HashMap<String, usize>, FormatError> {
        let mut known = HashMap::new();
        for (i, row) in self.objects(top, "rows", &ROW_FIELDS)?.iter().enumerate() {
            let name = self.name(row, "row", i, &mut known)?;
            model.rows.push(Row { name, bounds: self.bounds(row)? });
        }
        Ok(known)
    }

    fn columns(
        &self,
        top: &Object<'t>,
        rows: &HashMap<String, usize>,
        model: &mut Model,
    ) -> Result<(), FormatError> {
        let mut known = HashMap::new();
        for (j, column) in self.objects(top, "columns", &COLUMN_FIELDS)?.iter().enumerate() {
            let name = self.name(column, "column", j, &mut known)?;
            let cost = self.number(column, "cost")?.unwrap_or_default();
            let integer = column.get("integer").map(|raw| self.document.boolean(raw)).transpose()?;
            let mut entries = Vec::new();
            if let Some(raw) = column.get("entries") {
                for (row, raw) in self.document.object(raw)?.fields() {
                    let Some(at) = rows.get(&**row) else {
                        return Err(self.document.error_on_key(raw, format!("there is no row `{row:.60}`")));
                    };
                    let value = self.document.number(raw)?;
                    if !value.is_zero() {
                        entries.push((*at, value));
                    }
                }
            }
            entries.sort_by_key(|(row, _)| *row);
            let is_integer = integer.unwrap_or_default();
            model.columns.push(Column { name, cost, bounds: self.bounds(column)?, is_integer, entries });
        }
        Ok(())
    }
}

pub(crate) fn quoted(text: &str) -> String {
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

/// Returns a JSON object with the values that are not 0, keyed by name.
fn by_name<'n>(names: impl Iterator<Item = &'n str>, values: &[Rational]) -> String {
    let fields: Vec<String> = names
        .zip(values)
        .filter(|(_, value)| !value.is_zero())
        .map(|(name, value)| format!("{}:\"{value}\"", quoted(name)))
        .collect();
    format!("{{{}}}", fields.join(",\n"))
}

/// Returns the JSON fields of a status: its word and its proof. Returns `None` for a limit, which proves no answer.
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

/// Returns a certificate: the programme with its answer and its proof. Returns `None` for a limit.
#[must_use]
pub fn certificate(model: &Model, answer: &Answer) -> Option<String> {
    let proof = proof(model, &answer.status)?;
    let programme = write(model);
    Some(format!(
        "{{\"kind\":\"lp-certificate\",\"version\":1,\"programme\":{},\n\"sha256\":\"{}\",{proof}}}\n",
        programme.trim_end(),
        hash(model)
    ))
}

/// Returns the text of an answer: its status, objective, values and prices.
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
