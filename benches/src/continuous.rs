//! Measures the continuous solvers: proportional fairness on one pool and on clusters, the literal
//! trajectory, and the exact mechanisms that start from the continuous solvers.
//!
//! | | |
//! |---|---|
//! | [`pools`] | pools in whole numbers, and their files |
//! | [`kkt`] | one measure for the answers of all programs |
//! | [`once`] | one program of this repository on one pool, timed in its own process |
//! | [`phases`] | a million users through the library: time and memory of every step |
//! | [`race`] | programs that run in turn |
//! | [`pool`], [`trajectory`], [`cluster`] | the engine and the peers |
//! | [`growth`] | proportional fairness, exact NJC and exact PS-DSF against users and classes |

pub mod cluster;
pub mod growth;
pub mod kkt;
pub mod once;
pub mod phases;
pub mod pool;
pub mod pools;
pub mod race;
pub mod trajectory;

use clap::ValueEnum;
use serde_json::Value;

use crate::growth::Settings;
use crate::peers::Scripts;

/// A group of measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// One pool with 100 and 10,000 users, with peers.
    Pool,
    /// One pool with 10,000 to 1,000,000 users, from numbers to a certified answer.
    Phases,
    /// The literal trajectory, with peers.
    Trajectory,
    /// Proportional and alpha fairness on a cluster, with peers.
    Cluster,
    /// Growth of time with the sizes.
    Growth,
}

/// Runs the measurements of one group, and returns their tables as Markdown. Each line of numbers is also
/// passed to `keep`.
///
/// # Errors
/// If a file cannot be written or read. The tables report failures and timeouts of programs.
pub fn measure(
    part: Part,
    passes: usize,
    settings: &Settings,
    scripts: &Scripts,
    keep: &mut dyn FnMut(Value),
) -> Result<String, String> {
    match part {
        Part::Pool => pool::compare(passes, settings, scripts, keep),
        Part::Phases => phases::table(passes, settings, keep),
        Part::Trajectory => trajectory::compare(passes, settings, scripts, keep),
        Part::Cluster => cluster::compare(passes, settings, scripts, keep),
        Part::Growth => growth::tables(settings, keep),
    }
}
