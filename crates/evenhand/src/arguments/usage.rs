//! The options of `usage`.

use std::path::PathBuf;

use clap::Args;

use super::names;
use evenhand::usage::Law;

#[derive(Debug, Args)]
pub struct Usage {
    /// History (CSV), the output of `sacct -X -P` or `sreport -P`, the answer of a range query of Prometheus, or - for
    /// standard input
    #[arg(value_name = "HISTORY")]
    pub history: PathBuf,
    /// Law by which usage of the past counts less
    #[arg(long, value_name = "LAW", value_parser = names::one_of(Law::NAMES))]
    pub law: String,
    /// Half-life of usage, such as 7d or 168h; none: no decay (the default of kai and karma)
    #[arg(long, value_name = "TIME")]
    pub half_life: Option<String>,
    /// Time at which usage is counted: seconds or RFC 3339 (default: the latest end)
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Ignore usage before this time, such as Slurm's last reset of usage
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Time between two ticks, samples or quanta (default: Slurm, Kueue 5m, KAI 1m, Volcano, Karma 1s)
    #[arg(long, value_name = "TIME")]
    pub every: Option<String>,
    /// Weight of a queue, in Slurm its shares (default: 1); may be given several times
    #[arg(long, value_name = "QUEUE=W", value_parser = assignment, allow_hyphen_values = true)]
    pub weight: Vec<(String, String)>,
    /// Weight of a resource, in Slurm its TRES weight; may be given several times
    #[arg(long, value_name = "RESOURCE=W", value_parser = assignment)]
    pub resource_weight: Vec<(String, String)>,
    /// kueue: each row begins with the entry penalty of an admitted workload
    #[arg(long)]
    pub entry_penalty: bool,
    /// kai, karma: the resource that is divided, and its amount in the cluster
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_parser = assignment)]
    pub capacity: Option<(String, String)>,
    /// kai: length of the window (default: 7d)
    #[arg(long, value_name = "TIME")]
    pub window: Option<String>,
    /// kai: beginning of the first tumbling window (default: the window slides)
    #[arg(long, value_name = "TIME")]
    pub window_start: Option<String>,
    /// kai: the significance k of past usage, at least 0 (default: 1)
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub k: Option<String>,
    /// karma: the guaranteed part of a fair share, from 0 to 1
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub alpha: Option<String>,
    /// Compare with what the scheduler reports: the output of `sshare -P`, Kueue's local queues (JSON), or the state of
    /// Volcano's plugin fairshare (JSON)
    #[arg(long, value_name = "FILE")]
    pub reported: Option<PathBuf>,
    /// karma: the credits of each queue at first
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub credits: Option<String>,
}

pub(super) fn assignment(text: &str) -> Result<(String, String), String> {
    let parts = text.rsplit_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    parts
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .ok_or_else(|| "expected NAME=NUMBER, such as research=2".to_owned())
}
