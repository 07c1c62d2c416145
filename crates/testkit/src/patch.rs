//! Changes of JSON documents, described as JSON values.
//!
//! | patch | what it does |
//! |---|---|
//! | `[path, value]` | sets what is at the path, which may be a field that is not there yet |
//! | `[path]` | deletes what is at the path |
//! | `[path, "copy", from]` | inserts a copy of what is at `from` into a list, before the position `path` |
//!
//! The steps of a path are keys and positions, separated by `/`. In a list of claims, the name of an axiom means
//! its first claim.

use serde_json::Value;

/// Applies one patch. Returns `None` if its path does not exist in the document, or if the patch would change
/// nothing.
#[must_use]
pub fn apply(document: &mut Value, patch: &[Value]) -> Option<()> {
    let text = |at: usize| patch.get(at).and_then(Value::as_str);
    let path = text(0)?;
    if let (Some("copy"), Some(from)) = (text(1), text(2)) {
        let copied = at(document, from)?.clone();
        return insert(document, path, copied);
    }
    let (parent, last) = split(path);
    match (at(document, parent)?, patch.get(1)) {
        (Value::Object(fields), None) => drop(fields.remove(last)?),
        (Value::Object(fields), Some(value)) => {
            let before = fields.insert(last.to_owned(), value.clone());
            (before.as_ref() != Some(value)).then_some(())?;
        }
        (Value::Array(list), None) => drop(list.remove(position(list, last)?)),
        (Value::Array(list), Some(value)) => {
            let at = position(list, last)?;
            (list[at] != *value).then_some(())?;
            list[at] = value.clone();
        }
        _ => return None,
    }
    Some(())
}

fn insert(document: &mut Value, path: &str, value: Value) -> Option<()> {
    let (parent, last) = split(path);
    let list = at(document, parent)?.as_array_mut()?;
    let before = last.parse().ok().filter(|at| *at <= list.len())?;
    list.insert(before, value);
    Some(())
}

/// Returns the path of the parent, and the last step.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn at<'v>(document: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    path.split('/').filter(|step| !step.is_empty()).try_fold(document, |here, step| match here {
        Value::Object(fields) => fields.get_mut(step),
        Value::Array(list) => {
            let at = position(list, step)?;
            list.get_mut(at)
        }
        _ => None,
    })
}

fn position(list: &[Value], step: &str) -> Option<usize> {
    let claim = list.iter().position(|claim| claim.get("axiom").is_some_and(|axiom| axiom == step));
    claim.or_else(|| step.parse().ok()).filter(|at| *at < list.len())
}
