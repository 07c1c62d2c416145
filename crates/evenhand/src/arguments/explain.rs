//! What `explain` accepts.

use std::path::PathBuf;

use clap::Args;

use evenhand::mechanisms::tree::Rule;

use super::names;

#[derive(Debug, Args)]
pub struct Explain {
    /// Problem file (JSON), or snapshot of a running cluster
    pub problem: PathBuf,
    /// Allocation file (JSON); none beside a snapshot
    pub allocation: Option<PathBuf>,
    /// Name of the user
    #[arg(long, required_unless_present_any = ["levels", "group"], conflicts_with_all = ["levels", "group"])]
    pub user: Option<String>,
    /// Name of a group: where it stands, what stops it, who holds that, and what it may still borrow
    #[arg(long, conflicts_with = "levels")]
    pub group: Option<String>,
    /// Where every group and user stands, and whom the rule would serve next, for an allocation that need not be
    /// feasible
    #[arg(long)]
    pub levels: bool,
    /// The share that a scheduler compares siblings by, in place of the problem's own
    #[arg(long, conflicts_with = "user", value_parser = names::one_of(Rule::NAMES))]
    pub rule: Option<String>,
    /// Guarantees do not come first
    #[arg(long, conflicts_with = "user")]
    pub no_nominal_first: bool,
    /// With --rule kai: entitlements in whole units, by largest remainder
    #[arg(long, requires = "rule")]
    pub whole: bool,
}
