//! Arguments of `simulate` for a snapshot of a running cluster.

use clap::Args;

use super::cluster::RuleOption;

// All of these options need a snapshot.
#[derive(Debug, Args)]
pub struct WaitOptions {
    /// For a snapshot, how long tasks run: limits, fixed:30m, exponential:2h, or a file of durations by user or task
    #[arg(long, value_name = "LAW|FILE", conflicts_with_all = ["replications", "resume", "output", "seconds"])]
    pub durations: Option<String>,
    /// For a snapshot, the job whose start is asked for: a waiting user or task, or a file as for what-if --submit
    /// (default: the first and the last waiting job of every user)
    #[arg(long, value_name = "JOB", requires = "durations")]
    pub job: Option<String>,
    /// For a snapshot, the number of runs with the seeds SEED, SEED + 1 and so on (default: 1000; one if nothing is random)
    #[arg(long, value_name = "N", requires = "durations", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub runs: Option<u64>,
    /// For a snapshot, the time after which runs end, such as 24h (default: when nothing more can start)
    #[arg(long, value_name = "TIME", requires = "durations")]
    pub horizon: Option<String>,
    #[command(flatten)]
    pub rule_option: RuleOption,
}
