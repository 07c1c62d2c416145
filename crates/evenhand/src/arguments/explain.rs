//! Arguments of `explain`.

use std::path::PathBuf;

use clap::Args;

use evenhand::mechanisms::tree::Rule;

use super::names;

#[derive(Debug, Args)]
pub struct Explain {
    /// Problem file (JSON), or snapshot of a running cluster
    pub problem: PathBuf,
    /// Allocation file (JSON); omit it for a snapshot
    pub allocation: Option<PathBuf>,
    /// Name of the user
    #[arg(long, required_unless_present_any = ["levels", "group", "task", "stopped", "promises", "settings"], conflicts_with_all = ["levels", "group"])]
    pub user: Option<String>,
    /// Say whether a waiting task of a snapshot (or a user's) could start, and what stops it
    #[arg(long, value_name = "NAME", conflicts_with_all = ["user", "levels", "group", "allocation", "no_nominal_first", "whole"])]
    pub task: Option<String>,
    /// Say for which task a task or a job of a snapshot was stopped, and whether fewer stops would have been enough
    #[arg(long, value_name = "NAME", conflicts_with_all = ["user", "levels", "group", "task", "allocation", "rule", "no_nominal_first", "whole"])]
    pub stopped: Option<String>,
    /// Say which promises (guarantees) of a snapshot can be kept, and what each queue can count on
    #[arg(long, conflicts_with_all = ["user", "levels", "group", "task", "stopped", "allocation", "no_nominal_first", "whole"])]
    pub promises: bool,
    /// Say which limits, guarantees and weights of a snapshot hold the fair shares of waiting queues down, and how fair shares
    /// change with them; with --group NAME for one queue
    #[arg(long, conflicts_with_all = ["user", "levels", "task", "stopped", "promises", "allocation", "no_nominal_first", "whole"])]
    pub settings: bool,
    /// Name of a group: show its position, the bound that stops it, the users that hold that capacity, and what it can still borrow
    #[arg(long, conflicts_with = "levels")]
    pub group: Option<String>,
    /// Show the level of every group and user, and which user the rule would serve next; the allocation need not be
    /// feasible
    #[arg(long)]
    pub levels: bool,
    /// Share by which a scheduler compares siblings, instead of the problem's own
    #[arg(long, conflicts_with = "user", value_parser = names::one_of(Rule::NAMES))]
    pub rule: Option<String>,
    /// Do not serve guarantees first
    #[arg(long, conflicts_with = "user")]
    pub no_nominal_first: bool,
    /// With --rule kai: round entitlements to whole units, by largest remainder
    #[arg(long, requires = "rule")]
    pub whole: bool,
}
