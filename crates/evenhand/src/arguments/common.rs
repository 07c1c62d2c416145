//! Options of every command.

use clap::{Args, ValueEnum};
use evenhand::report::Form;

use crate::output;

/// As they are typed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct CommonArguments {
    /// How results are written to standard output
    #[arg(long, global = true, value_enum, default_value_t = FormatName::Table)]
    format: FormatName,
    /// Seed of everything random; the same seed gives the same result on every machine
    #[arg(long, global = true, default_value_t = 0)]
    seed: u64,
    /// Threads to use (default: all cores)
    #[arg(long, global = true, value_parser = threads)]
    threads: Option<usize>,
    /// No progress and no warnings on standard error
    #[arg(long, global = true)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatName {
    /// For people: as wide as the terminal (or COLUMNS), with colours on a terminal unless NO_COLOR is set
    Table,
    /// One JSON document and nothing else
    Json,
    /// The tables alone, for spreadsheets: numbers as decimals, fractions in place of percentages
    Csv,
    /// For documents
    Markdown,
}

/// What every command is told.
#[derive(Debug)]
pub struct Common {
    /// Whether the result is one JSON document or a page for people.
    pub format: Format,
    /// In which form a page is written.
    pub form: Form,
    /// Seed of everything random.
    pub seed: u64,
    /// Threads to use; none for all cores.
    pub threads: Option<usize>,
    /// No progress and no remarks.
    pub quiet: bool,
}

/// What a result becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A page, in the form of [`Common::form`].
    Table,
    /// One JSON document and nothing else.
    Json,
}

impl CommonArguments {
    /// What they mean here, on this terminal.
    pub fn resolve(&self) -> Common {
        let format = if self.format == FormatName::Json { Format::Json } else { Format::Table };
        let form = match self.format {
            FormatName::Table | FormatName::Json => Form::Text(output::terminal()),
            FormatName::Csv => Form::Csv,
            FormatName::Markdown => Form::Markdown,
        };
        Common { format, form, seed: self.seed, threads: self.threads, quiet: self.quiet }
    }
}

/// More threads than any machine has cores only cost time and memory.
const MAX_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(value) if (1..=MAX_THREADS).contains(&value) => Ok(value),
        _ => Err(format!("expected a number from 1 to {MAX_THREADS}")),
    }
}
