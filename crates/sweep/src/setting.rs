//! Settings of mechanisms in a grid. Their names are those of the flags of the command line, and their values
//! are JSON values.

use evenhand_mechanisms::flags::{Flag, Takes};
use evenhand_mechanisms::{Flags, Mechanism};
use evenhand_problem::format::{Document, FormatError};
use evenhand_problem::hint;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use crate::text::spaced;

/// The value of a setting in the form that lines state. Numbers are strings.
#[derive(Debug, Clone)]
enum Shown {
    Bool(bool),
    Text(String),
    List(Vec<String>),
    Numbers(Vec<(String, String)>),
}

/// Sets the flags that an object with settings states. Also returns this object in the form that lines state.
pub fn settings<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    mechanism: &'static Mechanism,
    mut flags: Flags,
) -> Result<(Flags, Box<RawValue>), FormatError> {
    let object = document.object(raw)?;
    let mut shown = Vec::new();
    for (name, raw) in object.fields() {
        let known = mechanism.flags.iter().map(|flag| flag.name);
        let Some(flag) = mechanism.flags.iter().find(|flag| flag.name == name.replace('_', "-")) else {
            let id = mechanism.info.id;
            let what = format!("the mechanism `{id}` has no setting `{name}`{}", hint(name, known));
            return Err(document.error_on_key(raw, what));
        };
        let value = value(document, raw)?;
        if !matches!(value, Shown::Bool(false)) {
            let text = value.text();
            check(flag, &value, &text).map_err(|what| document.error(raw, what))?;
            flags = flags.with(flag.name, text);
        }
        shown.push((name.to_string(), value));
    }
    let text = spaced(&Object(&shown)).and_then(RawValue::from_string);
    Ok((flags, text.map_err(|error| document.error(raw, error.to_string()))?))
}

fn value<'t>(document: &Document<'t>, raw: &'t RawValue) -> Result<Shown, FormatError> {
    let number = |raw: &'t RawValue| -> Result<String, FormatError> {
        document.number(raw)?;
        Ok(raw.get().trim_matches('"').to_owned())
    };
    match raw.get().as_bytes().first() {
        Some(b't' | b'f') => document.boolean(raw).map(Shown::Bool),
        Some(b'"') => document.string(raw).map(|text| Shown::Text(text.into_owned())),
        Some(b'[') => {
            let name = |raw: &'t RawValue| {
                let name = document.string(raw)?.into_owned();
                let is_one = !name.contains(',');
                if is_one { Ok(name) } else { Err(document.error(raw, "expected a name without commas")) }
            };
            document.list(raw)?.into_iter().map(name).collect::<Result<_, _>>().map(Shown::List)
        }
        Some(b'{') => {
            let object = document.object(raw)?;
            let each = object.fields().iter().map(|(name, raw)| Ok((name.to_string(), number(raw)?)));
            each.collect::<Result<_, _>>().map(Shown::Numbers)
        }
        _ => number(raw).map(Shown::Text),
    }
}

/// Checks that a flag accepts a value. Bounds that depend on the problem are checked later.
fn check(flag: &Flag, value: &Shown, text: &str) -> Result<(), String> {
    let is_flag = matches!(value, Shown::Bool(_));
    match flag.takes {
        Takes::Nothing if is_flag => Ok(()),
        Takes::Nothing => Err("expected true or false".to_owned()),
        _ if is_flag => Err(format!("found true: `{}` takes a value", flag.name)),
        Takes::Name(_, names) if !names.iter().any(|(name, _)| *name == text) => {
            let names: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            Err(format!("found `{text:.60}`: expected one of {}", names.join(", ")))
        }
        Takes::Count(_) if text.parse::<u64>().is_err() => {
            Err(format!("found `{text:.60}`: expected a whole number that is not negative"))
        }
        _ => flag.check(text).map_err(|error| error.to_string()),
    }
}

impl Shown {
    /// Returns the value in the form of the command line.
    fn text(&self) -> String {
        match self {
            Self::Bool(_) => String::new(),
            Self::Text(text) => text.clone(),
            Self::List(names) => names.join(","),
            Self::Numbers(numbers) => {
                let each = numbers.iter().map(|(name, number)| format!("{name}={number}"));
                each.collect::<Vec<_>>().join(",")
            }
        }
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(names) => names.serialize(serializer),
            Self::Numbers(numbers) => {
                serializer.collect_map(numbers.iter().map(|(name, number)| (name, number)))
            }
        }
    }
}

struct Object<'a>(&'a [(String, Shown)]);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}
