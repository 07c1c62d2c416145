//! The flags of mechanisms, as options of the command line.

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use evenhand::mechanisms::flags::{Flag, Takes};
use evenhand::mechanisms::{Flags, MechanismError, registry};
use evenhand::problem::Arithmetic;

use super::names;

/// The heading of the flags that only one or a few mechanisms take.
pub const SINGLE: &str = "Options of single mechanisms";
/// The heading of the flags of mechanisms that place whole tasks.
const WHOLE: &str = "Options of whole tasks (fill, slots)";

/// The flags that the user gave, with their text.
#[derive(Debug, Clone, Default)]
pub struct MechanismFlags(pub Vec<(&'static Flag, String)>);

impl MechanismFlags {
    /// Returns the flags for a mechanism.
    ///
    /// # Errors
    /// The text of a flag cannot be read.
    pub fn checked(&self, arithmetic: Arithmetic, seed: u64) -> Result<Flags, MechanismError> {
        let mut flags = Flags::new(arithmetic);
        flags.seed = seed;
        for (flag, text) in &self.0 {
            flag.check(text)?;
            flags = flags.with(flag.name, text);
        }
        Ok(flags)
    }
}

impl Args for MechanismFlags {
    fn augment_args(command: Command) -> Command {
        registry::flags().into_iter().fold(command, |command, (mechanism, flag)| {
            let heading = if mechanism.is_of_whole_tasks() { WHOLE } else { SINGLE };
            command.arg(arg(flag).help_heading(heading))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for MechanismFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut stated = Vec::new();
        for (_, flag) in registry::flags() {
            if flag.takes == Takes::Nothing {
                if matches.get_flag(flag.name) {
                    stated.push((flag, String::new()));
                }
            } else if let Some(values) = matches.get_raw(flag.name) {
                let values: Option<Vec<&str>> = values.map(|value| value.to_str()).collect();
                let values = values.ok_or_else(|| Error::new(ErrorKind::InvalidUtf8))?;
                stated.push((flag, values.join(",")));
            }
        }
        Ok(Self(stated))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn arg(flag: &'static Flag) -> Arg {
    let arg = Arg::new(flag.name).long(flag.name).help(flag.help);
    let valued =
        |arg: Arg, word: &'static str, parser: ValueParser| arg.value_name(word).value_parser(parser);
    match flag.takes {
        Takes::Nothing => arg.action(ArgAction::SetTrue),
        Takes::Resources(word) => valued(arg, word, ValueParser::string()),
        Takes::Number(word) => valued(arg, word, ValueParser::string()).allow_hyphen_values(true),
        Takes::Count(word) => valued(arg, word, value_parser!(u64).into()).allow_hyphen_values(true),
        Takes::Classes(word) | Takes::Users(word) => {
            valued(arg, word, ValueParser::string()).action(ArgAction::Append).value_delimiter(',')
        }
        Takes::Name(word, names) => valued(arg, word, ValueParser::new(names::one_of(names))),
    }
}
