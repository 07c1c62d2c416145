//! Arguments of `moves --for` and `moves --pack`.

use std::path::{Path, PathBuf};

use clap::Args;

/// The words of `--cost` that are not files.
pub const COSTS: [&str; 2] = ["priority", "age"];

// The job for which tasks migrate, and what a migration costs.
#[derive(Debug, Args)]
pub struct MigrationOptions {
    /// Choose tasks to migrate so that JOB could start: a waiting user or task, or a file
    #[arg(long = "for", value_name = "JOB", conflicts_with_all = ["pack", "most"])]
    pub job: Option<PathBuf>,
    /// Choose tasks to migrate so that the largest possible waiting gang could start
    #[arg(long, conflicts_with = "most")]
    pub pack: bool,
    /// Cost of a migrated task: priority, age (1 plus the hours that the longest-running task of its user has run), or a JSON file {"USER": COST} (default: 1 each)
    #[arg(long, value_name = "COST")]
    pub cost: Option<PathBuf>,
}

impl MigrationOptions {
    /// Returns whether migrations for a job are asked for, instead of moves towards fair shares.
    pub fn are_asked_for(&self) -> bool {
        self.job.is_some() || self.pack
    }

    /// Returns the files that are read.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let is_file = |path: &&PathBuf| path.is_file();
        let is_word = |path: &&PathBuf| COSTS.iter().any(|word| path.as_path() == Path::new(word));
        self.job.iter().filter(is_file).chain(self.cost.iter().filter(move |path| !is_word(path)))
    }
}
