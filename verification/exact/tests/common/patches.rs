//! Good certificates with one thing changed: lists of `[name, base, patches, words]`.
//!
//! A patch is `[path, value]`, or `[path]` to delete what is there. Steps of a path are keys and positions;
//! in a list of claims the name of an axiom is its first claim.
#![allow(dead_code, missing_docs)]

use std::path::Path;

use serde_json::Value;

/// A document that is not a good certificate, and words of what is said about it.
pub struct Damaged {
    pub name: String,
    pub text: String,
    pub words: String,
}

fn read(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Applies the patches of a list to the certificates of a folder.
pub fn damaged(list: &str, folder: &str) -> Vec<Damaged> {
    let list = read(list);
    let of = |entry: &Value| {
        let [name, base, patches, words] = entry.as_array().unwrap().as_slice() else { panic!("{entry}") };
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut document = read(&format!("{folder}/{}.json", text(base)));
        for patch in patches.as_array().unwrap() {
            let patch = patch.as_array().unwrap();
            if apply(&mut document, patch[0].as_str().unwrap(), patch.get(1)).is_none() {
                document = Value::String(format!("there is no {}, or nothing changes", patch[0]));
            }
        }
        Damaged { name: text(name), text: document.to_string(), words: text(words) }
    };
    list.as_array().unwrap().iter().map(of).collect()
}

fn position(list: &[Value], step: &str) -> Option<usize> {
    let claim = list.iter().position(|claim| claim.get("axiom").is_some_and(|axiom| axiom == step));
    claim.or_else(|| step.parse().ok()).filter(|at| *at < list.len())
}

/// `None` where the path leads nowhere, or nothing would change.
fn apply(document: &mut Value, path: &str, value: Option<&Value>) -> Option<()> {
    let (parents, last) = path.rsplit_once('/').unwrap_or(("", path));
    let mut here = document;
    for step in parents.split('/').filter(|step| !step.is_empty()) {
        here = match here {
            Value::Object(fields) => fields.get_mut(step)?,
            Value::Array(list) => {
                let at = position(list, step)?;
                &mut list[at]
            }
            _ => return None,
        };
    }
    match (here, value) {
        (Value::Object(fields), None) => drop(fields.remove(last)?),
        (Value::Object(fields), Some(value)) => {
            let before = fields.insert(last.to_owned(), value.clone());
            (before.as_ref() != Some(value)).then_some(())?;
        }
        (Value::Array(list), None) => drop(list.remove(position(list, last)?)),
        (Value::Array(list), Some(value)) => {
            let at = position(list, last)?;
            list[at] = value.clone();
        }
        _ => return None,
    }
    Some(())
}
