//! Decimals in addition to exact numbers, for readers that cannot handle fractions.

use evenhand_problem::number::{parse_result, to_f64};
use serde_json::{Map, Value, json};

/// The name of the field with the decimals.
const FIELD: &str = "decimals";

/// Returns the document with an additional field `decimals`. This field repeats the tree of the document with
/// only the numbers that are written as text, each as the nearest double. A number outside the range of
/// doubles is left out. In a list it is null.
#[must_use]
pub fn with_decimals(document: Value) -> Value {
    let decimals = of(&document);
    match (document, decimals) {
        (Value::Object(mut fields), Some(decimals)) => {
            fields.insert(FIELD.to_owned(), decimals);
            Value::Object(fields)
        }
        (document, _) => document,
    }
}

/// Returns the text of an object with an additional field `decimals` at its end. The rest of the text is not
/// changed.
///
/// # Errors
/// If the text is not valid JSON.
pub fn text_with_decimals(text: &str) -> Result<String, serde_json::Error> {
    let decimals = of(&serde_json::from_str(text)?);
    let end = text.rfind('}').filter(|_| decimals.is_some());
    let (Some(decimals), Some(end)) = (decimals, end) else { return Ok(text.to_owned()) };
    let inner = format!("{decimals:#}").replace('\n', "\n  ");
    Ok(format!("{},\n  \"{FIELD}\": {inner}\n{}", text[..end].trim_end(), &text[end..]))
}

/// Returns the decimals of a tree. Returns `None` if the tree contains no number as text.
fn of(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => decimal(text).map(Value::from),
        Value::Array(list) => {
            let list: Vec<Option<Value>> = list.iter().map(of).collect();
            list.iter().any(Option::is_some).then(|| json!(list))
        }
        Value::Object(fields) => {
            // A name is not a number, even if it looks like one.
            let fields = fields.iter().filter(|(name, _)| *name != "name");
            let fields = fields.filter_map(|(name, value)| Some((name.clone(), of(value)?)));
            let fields: Map<String, Value> = fields.collect();
            (!fields.is_empty()).then_some(Value::Object(fields))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Returns the double that is nearest to an exact number. Documents write exact numbers with digits, an
/// optional sign and an optional fraction bar.
fn decimal(text: &str) -> Option<f64> {
    let is_exact = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '/' | '-'));
    let value = parse_result(text).ok().filter(|_| is_exact)?;
    Some(to_f64(&value)).filter(|nearest| nearest.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers_are_repeated_as_decimals() {
        let document = json!({"kind": "x", "name": "10", "tasks": {"a": {"s": "5/7"}, "b": {"s": 2}},
            "list": ["-1/8", "word", "3"], "huge": format!("1{}", "0".repeat(400))});
        let expected = json!({"tasks": {"a": {"s": 5.0 / 7.0}}, "list": [-0.125, null, 3.0]});
        let with = with_decimals(document.clone());
        assert_eq!(with[FIELD], expected);
        let text = text_with_decimals(&format!("{document:#}\n")).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), with);
        assert!(text.starts_with(format!("{document:#}").trim_end_matches("\n}")) && text.ends_with("}\n"));
    }

    #[test]
    fn a_document_without_exact_numbers_is_unchanged() {
        let document = json!({"kind": "x", "seconds": 0.5});
        assert_eq!(with_decimals(document.clone()), document);
        assert_eq!(text_with_decimals("{\"seconds\": 0.5}\n").unwrap(), "{\"seconds\": 0.5}\n");
        assert!(text_with_decimals("{").is_err());
    }
}
