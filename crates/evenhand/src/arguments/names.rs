//! Names on the command line: checked, completed and explained from the lists that own them.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use evenhand::Axiom;
use evenhand::mechanisms::{Named, registry};
use evenhand::problem::schema;

use crate::suggest;

/// The members of a closed set.
pub fn one_of<T: Named>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|member| PossibleValue::new(member.name()).help(member.about()));
    PossibleValuesParser::new(values).try_map(|name| T::named(&name).ok_or("there is no such name"))
}

/// A mechanism by its name or one of its aliases.
pub fn mechanism() -> PossibleValuesParser {
    PossibleValuesParser::new(registry::ALL.iter().map(|mechanism| {
        let info = mechanism.info();
        PossibleValue::new(info.id).aliases(info.aliases.iter().copied()).help(info.title)
    }))
}

/// The name of a schema.
pub fn schema_name() -> PossibleValuesParser {
    PossibleValuesParser::new(schema::NAMES)
}

/// An axiom, and its parameter after a colon where it has one: `max-min:tsf`. What the parameter may be
/// is for the command to say.
#[derive(Debug, Clone, Copy)]
pub struct AxiomName;

impl TypedValueParser for AxiomName {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        let text = value.to_string_lossy();
        let name = text.split_once(':').map_or(&*text, |(name, _)| name);
        if Axiom::parse(name).is_some() {
            return Ok(text.into_owned());
        }
        let names: Vec<String> = Axiom::ALL.iter().map(|axiom| axiom.name().to_owned()).collect();
        let mut error = Error::new(ErrorKind::InvalidValue).with_cmd(command);
        if let Some(arg) = arg {
            error.insert(ContextKind::InvalidArg, ContextValue::String(arg.to_string()));
        }
        error.insert(ContextKind::InvalidValue, ContextValue::String(text.to_string()));
        if let Some(nearest) = suggest::nearest(name, names.iter().map(String::as_str)) {
            error.insert(ContextKind::SuggestedValue, ContextValue::String(nearest.to_owned()));
        }
        error.insert(ContextKind::ValidValue, ContextValue::Strings(names));
        Err(error)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Axiom::ALL.iter().map(|axiom| PossibleValue::new(axiom.name()))))
    }
}

/// A file that a picture is drawn into: SVG is all that is drawn.
pub fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("svg") => Ok(path),
        _ if text == "-" || text.starts_with("/dev/") => Ok(path),
        Some(other) => Err(format!("only .svg is drawn, not .{other}")),
        None => Err("only .svg is drawn: the name of the file should end with .svg".to_owned()),
    }
}
