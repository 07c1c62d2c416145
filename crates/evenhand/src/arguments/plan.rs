//! Arguments of `plan`.

use std::path::PathBuf;

use clap::Args;

use super::cluster::{RuleOption, ValueOption};

#[derive(Debug, Args)]
pub struct Plan {
    /// Snapshot file (JSON), or - for standard input
    pub snapshot: PathBuf,
    /// Server class to add servers of, and the price of one (default: 1); may be given several times
    #[arg(long, value_name = "CLASS[=PRICE]", required_unless_present = "removable")]
    pub offer: Vec<String>,
    /// Goal: fair, guarantees, starts=all or starts=JOB; JOB is a waiting user or task, or a file
    /// as for what-if --submit
    #[arg(long, value_name = "GOAL", required_unless_present = "removable")]
    pub until: Option<String>,
    /// Find the servers that can go instead: their tasks have room elsewhere, and no queue loses
    #[arg(long, conflicts_with_all = ["offer", "until"])]
    pub removable: bool,
    #[command(flatten)]
    pub values: ValueOption,
    #[command(flatten)]
    pub rule_option: RuleOption,
}
