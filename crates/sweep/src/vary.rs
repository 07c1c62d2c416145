//! Varied parameters of a problem: values that are inserted into its text.

use evenhand_problem::format::{Document, Object, Source};
use serde_json::value::RawValue;

/// A position in a problem as a JSON pointer (RFC 6901), such as `/users/0/weight`. The field `name` may also
/// identify an element of a list, as in `/users/batch/weight`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    text: String,
    steps: Vec<String>,
}

impl Pointer {
    /// Parses a pointer. The error is a sentence that describes the mistake.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err(format!("found `{text}`: expected a JSON pointer such as /users/0/weight"));
        };
        let steps = rest.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
        Ok(Self { text: text.to_owned(), steps })
    }

    /// Returns the pointer in its original spelling.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of a document in which `value` is inserted at this position. The last step may name a
    /// field that the object does not have yet.
    ///
    /// The error is a sentence that describes the mistake.
    pub fn put(&self, text: &str, value: &str) -> Result<String, String> {
        let document = Source { name: "the problem", text }.document().map_err(|error| error.to_string())?;
        let Some((last, before)) = self.steps.split_last() else { return Err("an empty pointer".to_owned()) };
        let mut here = document.root();
        for (depth, step) in before.iter().enumerate() {
            here = child(&document, here, step).ok_or_else(|| self.nowhere(depth))?;
        }
        if let Some(there) = child(&document, here, last) {
            let (from, length) = (offset(text, there), there.get().len());
            return Ok(format!("{}{value}{}", &text[..from], &text[from + length..]));
        }
        let Ok(object) = document.object(here) else { return Err(self.nowhere(before.len())) };
        Ok(with_field(text, &object, last, value))
    }

    fn nowhere(&self, depth: usize) -> String {
        format!("{}: the problem has no `{}` there", self.text, self.steps[depth])
    }
}

fn offset(text: &str, part: &RawValue) -> usize {
    part.get().as_ptr() as usize - text.as_ptr() as usize
}

/// Returns the text with an additional field in an object, before all other fields.
fn with_field(text: &str, object: &Object<'_>, name: &str, value: &str) -> String {
    let inside = offset(text, object.raw()) + 1;
    let comma = if object.fields().is_empty() { "" } else { ", " };
    let key = serde_json::Value::from(name);
    format!("{}{key}: {value}{comma}{}", &text[..inside], &text[inside..])
}

/// Returns the field of an object or the element of a list to which a step leads.
fn child<'t>(document: &Document<'t>, here: &'t RawValue, step: &str) -> Option<&'t RawValue> {
    if let Ok(object) = document.object(here) {
        return object.get(step);
    }
    let elements = document.list(here).ok()?;
    let is_named = |raw: &&&'t RawValue| {
        let name = document.object(raw).ok().and_then(|object| object.get("name"));
        name.and_then(|name| document.string(name).ok()).is_some_and(|name| name == step)
    };
    let position = step.parse::<usize>().ok().filter(|_| step.bytes().all(|byte| byte.is_ascii_digit()));
    match position {
        Some(position) => elements.get(position).copied(),
        None => elements.iter().find(is_named).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::Pointer;

    const TEXT: &str = r#"{"users": [{"name": "a", "weight": 1}, {}], "a/b": 2}"#;

    fn put(pointer: &str, value: &str) -> Result<String, String> {
        Pointer::parse(pointer).and_then(|pointer| pointer.put(TEXT, value))
    }

    #[test]
    fn values_are_set_at_the_json_pointer() {
        assert_eq!(put("/users/0/weight", "7").unwrap(), TEXT.replace("\"weight\": 1", "\"weight\": 7"));
        assert_eq!(put("/users/a/weight", "7"), put("/users/0/weight", "7"));
        assert_eq!(put("/a~1b", "\"x\"").unwrap(), TEXT.replace(": 2", ": \"x\""));
        assert_eq!(put("/users/1/tasks", "3").unwrap(), TEXT.replace("{}", r#"{"tasks": 3}"#));
        assert_eq!(put("/users/a/tasks", "3").unwrap(), TEXT.replace("{\"name", "{\"tasks\": 3, \"name"));
    }

    #[test]
    fn errors_name_where_a_json_pointer_ends() {
        assert!(put("users/0", "1").unwrap_err().contains("expected a JSON pointer"));
        assert!(put("/users/2/weight", "1").unwrap_err().ends_with("no `2` there"));
        assert!(put("/users/b/weight", "1").unwrap_err().ends_with("no `b` there"));
        assert!(put("/users/99999999999999999999999999/weight", "1").is_err());
        assert!(put("/users/9", "1").unwrap_err().ends_with("no `9` there"));
        assert!(put("/a~1b/x", "1").unwrap_err().ends_with("no `x` there"));
    }
}
