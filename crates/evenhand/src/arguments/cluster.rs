//! Arguments of the commands about a running cluster.

use std::path::PathBuf;

use clap::Args;

use super::migrations::MigrationOptions;
use super::names;
use super::window::WindowOptions;

// The rule of the fair shares.
#[derive(Debug, Args)]
pub struct RuleOption {
    /// Rule of the fair shares; tree is the problem's own share (default: the rule of the snapshot's scheduler, or tree)
    #[arg(long, value_name = "RULE", value_parser = names::rule_or_tree())]
    pub rule: Option<String>,
}

// Resources counted by value.
#[derive(Debug, Args)]
pub struct ValueOption {
    /// Count a resource by value: a100=8 counts an A100 as 8. NAME is a resource, a flavour (a100 of a100/gpu), a server class, or
    /// CLASS/RESOURCE; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub value: Vec<String>,
}

#[derive(Debug, Args)]
pub struct Verdict {
    /// Snapshot file (JSON), or - for standard input; with --window a history of watch, a CSV history or the output of sacct
    pub snapshot: PathBuf,
    /// Rule of the fair shares; tree is the problem's own share (default: the rule of the snapshot's scheduler, or tree). With
    /// --window: law by which the next queue is chosen (default: ideal)
    #[arg(long, value_name = "RULE", value_parser = names::rule_tree_or_law())]
    pub rule: Option<String>,
    #[command(flatten)]
    pub over: WindowOptions,
    #[command(flatten)]
    pub values: ValueOption,
    /// Fraction of its fair share that a queue may lack and still count as served, from 0 to below 1 (default: 0)
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub tolerance: Option<String>,
    /// Write the certificate to this file
    #[arg(long, short, value_name = "CERT")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct WhatIf {
    /// Snapshot file (JSON), or - for standard input
    pub snapshot: PathBuf,
    /// Set a field of a group, a user or a server class, such as research.weight=2, research.guarantee.gpu=16 or
    /// research.limit.gpu=none; may be given several times
    #[arg(long, value_name = "NAME.FIELD=VALUE", value_parser = setting)]
    pub set: Vec<(String, String)>,
    /// Add N servers to a class; may be given several times
    #[arg(long, value_name = "CLASS=N", value_parser = addition)]
    pub add: Vec<(String, u64)>,
    /// Remove a server, so that its tasks wait; may be given several times
    #[arg(long, value_name = "SERVER")]
    pub remove: Vec<String>,
    /// Add the tasks of a user, or of a list of users, as a problem states them (JSON); may be given several times
    #[arg(long, value_name = "FILE")]
    pub submit: Vec<PathBuf>,
    /// Read changes from a file: {"set": {"A.weight": 2}, "add": {"CLASS": 4}, "remove": ["SERVER"], "submit": [USER]}
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    #[command(flatten)]
    pub values: ValueOption,
    #[command(flatten)]
    pub rule_option: RuleOption,
    /// Fraction of its fair share that a queue may lack and still count as served, from 0 to below 1 (default: 0)
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub tolerance: Option<String>,
    /// Print the verdict after the changes instead of the differences, with its exit status
    #[arg(long)]
    pub verdict: bool,
    /// Write the snapshot after the changes to this file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Moves {
    /// Snapshot file (JSON), or - for standard input
    pub snapshot: PathBuf,
    /// Largest number of moves; each move starts one task (or one gang)
    #[arg(long, value_name = "N")]
    pub most: Option<usize>,
    /// User, or group of users, whose tasks must not be stopped; may be given several times
    #[arg(long, value_name = "NAME")]
    pub pinned: Vec<String>,
    /// strict: never stop a task for a task of lower priority; policy: follow the snapshot's scheduler (default: policy)
    #[arg(long, value_name = "strict|policy", value_parser = ["strict", "policy"])]
    pub priority: Option<String>,
    #[command(flatten)]
    pub migrations: MigrationOptions,
    #[command(flatten)]
    pub rule_option: RuleOption,
    /// Write the snapshot after the moves to this file
    #[arg(long, value_name = "FILE")]
    pub after: Option<PathBuf>,
    /// Write the certificate to this file
    #[arg(long, short, value_name = "CERT")]
    pub output: Option<PathBuf>,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let parts = text.rsplit_once('=').filter(|(path, value)| path.contains('.') && !value.is_empty());
    parts
        .map(|(path, value)| (path.to_owned(), value.to_owned()))
        .ok_or_else(|| "expected NAME.FIELD=VALUE, such as research.weight=2".to_owned())
}

fn addition(text: &str) -> Result<(String, u64), String> {
    let parts = text.rsplit_once('=').map(|(class, count)| (class, count.parse().unwrap_or(0)));
    parts
        .filter(|(_, count)| *count > 0)
        .map(|(class, count)| (class.to_owned(), count))
        .ok_or_else(|| "expected CLASS=N with a whole number above 0".to_owned())
}
