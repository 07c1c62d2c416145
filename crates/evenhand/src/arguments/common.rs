//! Options that every command accepts.

use clap::{Args, ValueEnum};

/// The options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Common {
    /// How results are written to standard output
    #[arg(long, global = true, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Seed of all random numbers; the same seed gives the same result on every machine
    #[arg(long, global = true, default_value_t = 0)]
    pub seed: u64,
    /// Number of threads (default: all cores)
    #[arg(long, global = true, value_parser = threads)]
    pub threads: Option<usize>,
    /// Steps of work after which a command ends with status 3. A step takes some nanoseconds, and a command takes the same
    /// number of steps on every machine (default: 1e10 for each started megabyte of input, about a minute; no limit if other
    /// options state how long the command takes)
    #[arg(long, global = true, value_name = "STEPS", value_parser = steps)]
    pub work: Option<u64>,
    /// Memory above which a command ends with status 3, such as 500MiB or 4GiB (default: 2GiB for less than a megabyte of
    /// input, otherwise 16GiB)
    #[arg(long, global = true, value_name = "BYTES", value_parser = bytes)]
    pub memory: Option<u64>,
    /// Add `decimals` to JSON, and to the allocation that `solve` writes: the same document with only the numbers that are
    /// written as text, each as the nearest double
    #[arg(long, global = true)]
    pub decimals: bool,
    /// No progress and no warnings on standard error
    #[arg(long, global = true)]
    pub quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people: as wide as the terminal (or COLUMNS), with colours on a terminal unless NO_COLOR is set
    Table,
    /// One JSON document and nothing else
    Json,
    /// Only the tables, for spreadsheets: decimal numbers, and fractions instead of percentages
    Csv,
    /// Markdown, for documents
    Markdown,
    /// Only the tables, for papers (packages booktabs and longtable)
    Latex,
    /// A self-contained page for browsers; `compare` writes the page of `report`
    Html,
    /// Only for `verdict`: Prometheus gauges for each queue
    Prometheus,
    /// Only for `moves`: the commands that stop the tasks
    Script,
}

/// The largest number of threads. No machine has more cores, and more threads only cost time and memory.
const MAX_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(value) if (1..=MAX_THREADS).contains(&value) => Ok(value),
        _ => Err(format!("expected a number from 1 to {MAX_THREADS}")),
    }
}

fn steps(text: &str) -> Result<u64, String> {
    // Whole numbers of steps below 2^53 are exact doubles, and more would take months.
    let most = 2_f64.powi(53);
    match text.replace('_', "").parse::<f64>() {
        Ok(steps) if (1.0..=most).contains(&steps) => Ok(steps as u64),
        _ => Err("expected a number of steps, such as 1e10".to_owned()),
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    // The loaded program alone takes some megabytes.
    amount(text)
        .filter(|bytes| *bytes >= 64 << 20)
        .ok_or_else(|| "expected a number of bytes of at least 64MiB, such as 500MiB or 4GiB".to_owned())
}

/// Reads the value of `sweep --most-bytes`.
pub fn bytes_of_lines(text: &str) -> Result<u64, String> {
    amount(text).ok_or_else(|| "expected a number of bytes, such as 500MiB or 200GiB".to_owned())
}

fn amount(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit: Option<u64> = match unit.trim() {
        "" | "B" => Some(1),
        "kB" | "KB" => Some(1_000),
        "MB" => Some(1_000_000),
        "GB" => Some(1_000_000_000),
        "KiB" | "K" => Some(1 << 10),
        "MiB" | "M" => Some(1 << 20),
        "GiB" | "G" => Some(1 << 30),
        _ => None,
    };
    number.parse::<u64>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit))
}
