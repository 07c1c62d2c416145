//! The options of a verdict over a window of time.

use clap::Args;

use super::usage::assignment;

// The options of `verdict` that need --window.
#[derive(Debug, Args)]
pub struct WindowOptions {
    /// Judge this length of time of a history, such as 7d
    #[arg(long, value_name = "TIME", help_heading = "Options of a window")]
    pub window: Option<String>,
    /// End of the window: seconds or RFC 3339 (default: the end of the history)
    #[arg(long, value_name = "TIME", requires = "window", help_heading = "Options of a window")]
    pub at: Option<String>,
    /// Half-life of usage, such as 7d; none: every moment of the window counts the same (default)
    #[arg(long, value_name = "TIME", requires = "window", help_heading = "Options of a window")]
    pub half_life: Option<String>,
    /// Queue to compare, of one level (default: all queues of the history); may be given several times
    #[arg(long, value_name = "QUEUE", requires = "window", help_heading = "Options of a window")]
    pub queue: Vec<String>,
    /// Queue that wanted more throughout, if the history does not say it; may be given several times
    #[arg(long, value_name = "QUEUE", requires = "window", help_heading = "Options of a window")]
    pub wanted: Vec<String>,
    /// Weight of a queue (default: 1); may be given several times
    #[arg(long, value_name = "QUEUE=W", value_parser = assignment, allow_hyphen_values = true, requires = "window",
          help_heading = "Options of a window")]
    pub weight: Vec<(String, String)>,
    /// Value of a unit of a resource (default: 1 for the only resource); may be given several times
    #[arg(long, value_name = "RESOURCE=W", value_parser = assignment, requires = "window", help_heading = "Options of a window")]
    pub resource_weight: Vec<(String, String)>,
    /// Fraction of the window that the history has to cover for a verdict, from 0 to 1 (default: 0.95)
    #[arg(
        long,
        value_name = "F",
        allow_hyphen_values = true,
        requires = "window",
        help_heading = "Options of a window"
    )]
    pub coverage: Option<String>,
    /// A history of watch: the longest time for which a round counts (default: two and a half usual intervals)
    #[arg(long, value_name = "TIME", requires = "window", help_heading = "Options of a window")]
    pub reach: Option<String>,
    /// Time between two ticks or samples of the law (default: Slurm, Kueue 5m, KAI 1m, Volcano 1s)
    #[arg(long, value_name = "TIME", requires = "window", help_heading = "Options of a window")]
    pub every: Option<String>,
    /// --rule kai: the resource that is divided, and its amount in the cluster
    #[arg(long, value_name = "RESOURCE=AMOUNT", value_parser = assignment, requires = "window", help_heading = "Options of a window")]
    pub capacity: Option<(String, String)>,
    /// --rule kai: the significance k of past usage, at least 0 (default: 1)
    #[arg(
        long,
        value_name = "K",
        allow_hyphen_values = true,
        requires = "window",
        help_heading = "Options of a window"
    )]
    pub k: Option<String>,
}
