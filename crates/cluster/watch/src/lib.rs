//! Watches a running cluster.
//!
//! A [`Watcher`] works in rounds. In each round it runs the system's own client ([`client`]), imports the
//! dump, judges it ([`round`]), writes one transaction to a history ([`history`]), and publishes the answer
//! on a [`Board`]. A small server ([`server`]) reads the board and answers requests for metrics, for the page
//! of the latest verdict, and for JSON.
//!
//! A round that fails is counted and logged, and the latest verdict stays on the board. No code of this crate
//! writes to the cluster.
#![forbid(unsafe_code)]

pub mod board;
pub mod client;
pub mod clock;
mod error;
pub mod history;
pub mod round;
pub mod server;
mod stop;
pub mod system;
mod watcher;

pub use board::Board;
pub use clock::{Clock, SystemClock};
pub use error::{Failure, WatchError};
pub use history::History;
pub use round::{Judged, Settings, Source};
pub use stop::Stop;
pub use watcher::{Log, Outcome, Watcher};
