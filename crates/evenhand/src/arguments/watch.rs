//! Arguments of `watch`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use evenhand::problem::Rational;
use evenhand::problem::snapshot::System;

use super::cluster::RuleOption;

#[derive(Debug, Args)]
pub struct Watch {
    /// Scheduler whose own client prints the dump; without it, --command prints a snapshot
    #[arg(value_name = "SYSTEM", value_parser = PossibleValuesParser::new(systems()))]
    pub system: Option<String>,
    /// Command that prints a file of the dump, run without a shell; may be given several times (default: the client of SYSTEM)
    #[arg(long = "command", value_name = "CMD")]
    pub commands: Vec<String>,
    /// Time from the start of a round to the start of the next one, such as 30s or 5min
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub every: Duration,
    /// Time for all commands of a round; then they are ended, and the round gives no verdict
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub timeout: Duration,
    /// Do one round and end, with the exit status of `verdict`
    #[arg(long)]
    pub once: bool,
    /// Keep a history in this file (SQLite); `report FILE` shows it
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Time for which rounds stay in the history
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = time, requires = "history")]
    pub keep: Duration,
    /// Serve metrics, the page of the verdict and JSON at this address, such as 127.0.0.1:9464
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// Allow an address that other machines can reach; whoever reaches it can read the verdict
    #[arg(long, requires = "listen")]
    pub insecure: bool,
    #[command(flatten)]
    pub rule_option: RuleOption,
    /// Fraction of its fair share that a queue may lack and still count as served, from 0 to below 1 (default: 0)
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub tolerance: Option<String>,
    /// Merge servers whose amounts differ by at most this fraction into one class, rounded down (default: 1.5%)
    #[arg(long, value_name = "PART", value_parser = super::import::part)]
    pub merge: Option<Rational>,
}

/// Returns the names of the systems.
fn systems() -> Vec<&'static str> {
    System::NAMES.iter().map(|(name, _)| *name).collect()
}

/// Reads a time such as `60s`.
fn time(text: &str) -> Result<Duration, String> {
    /// The longest time in seconds: a hundred years.
    const MOST: f64 = 3.2e9;
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit.trim() {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => f64::NAN,
    };
    let time = number.parse::<f64>().map_or(f64::NAN, |number| number * seconds);
    let is_time = (0.001..=MOST).contains(&time);
    if is_time {
        Ok(Duration::from_secs_f64(time))
    } else {
        Err("expected a time such as 60s, 5min, 12h or 30d".to_owned())
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse()
        .map_err(|_| "expected an address and a port, such as 127.0.0.1:9464 or [::1]:9464".to_owned())
}
