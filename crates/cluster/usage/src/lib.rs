//! Usage over time: the usage of queues, decayed by the laws of schedulers, and the queue that is served
//! next.
//!
//! A [`History`] states the amounts of resources that queues used in spans of time. [`judge`] computes the decayed
//! usage of every queue by one [`Law`], and the standing of the queues by the rule of that scheduler. Powers of 1/2 are
//! mostly irrational, so each number is either exact or enclosed between two fractions ([`Enclosure`]). No certificate
//! is written (theory, section 10).
//!
//! ```
//! use evenhand_import::Input;
//! use evenhand_usage::{History, Law, Settings, judge};
//!
//! let table = "queue,resource,from,to,amount\na,gpu,0,60,8\na,gpu,120,180,4\n";
//! let history = History::read(Input::new("history.csv", table.as_bytes())?)?;
//! let mut settings = Settings::new(Law::Kueue, 60_000_000_000);
//! settings.every = Some(60_000_000_000);
//! settings.at = Some(120_000_000_000);
//! let standings = judge(&history, &settings)?;
//! assert_eq!(standings.queues[0].usage[0].1.exact().unwrap(), &3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod certificate;
mod decay;
mod error;
mod formulas;
mod history;
mod karma;
mod law;
mod power;
mod prometheus;
mod read;
mod reported;
mod standing;
mod time;
mod window;

pub use certificate::window_certificate;
pub use error::UsageError;
pub use formulas::{
    classic_factor, entry_penalty, kai_rounded, kai_shares, kueue_step, level_fair_share, slurm_second,
};
pub use history::{Fact, FactNumber, Gap, History, Skipped};
pub use karma::Karma;
pub use law::{Law, Settings};
pub use power::{Enclosure, inverse_of_ln_2, power_of_half};
pub use reported::{Reported, Reporter};
pub use standing::{QueueStanding, Standings, judge};
pub use time::{NANOSECONDS, duration_text, parse_duration, parse_time, time_text};
pub use window::{Balance, MaxMin, QueueOverWindow, WindowSettings, WindowVerdict, end_of, window};
