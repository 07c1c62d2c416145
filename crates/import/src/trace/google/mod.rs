//! Tasks of the Google trace with the times at which they came and ran.

use rug::{Integer, Rational};

use super::super::google::Numbers;

mod event;
mod stream;

use event::{Event, Events, What};
pub use stream::google_stream;

/// Microseconds in a second.
const MICRO: f64 = 1e6;
/// The mean request of a user is rounded up to one over this: common denominators of exact means have
/// hundreds of digits.
const PARTS: u32 = 1_000_000;

/// One task; requests are ids in [`Numbers`].
struct Task {
    job: u64,
    user: usize,
    requests: [Option<usize>; 2],
    priority: Option<u8>,
    submitted: u64,
    /// When it was last placed, and when that run ended.
    started: Option<u64>,
    ended: Option<u64>,
    runs: u32,
}

impl Task {
    /// A task before its first event.
    fn new(first: &Event) -> Self {
        Self {
            job: first.key.0,
            user: first.user,
            requests: [None; 2],
            priority: first.priority,
            submitted: first.time,
            started: None,
            ended: None,
            runs: 0,
        }
    }

    fn take(&mut self, event: &Event) {
        let now = event.time;
        for (known, stated) in self.requests.iter_mut().zip(event.requests) {
            *known = known.or(stated);
        }
        match event.what {
            What::Placed => {
                (self.started, self.ended) = (Some(now), None);
                self.runs += 1;
            }
            What::Ended => self.ended = self.ended.or(Some(now)),
            What::Runs => self.started = self.started.or(Some(now)),
            What::Other => {}
        }
    }

    fn requests_something(&self, numbers: &Numbers) -> bool {
        self.requests.iter().any(|id| id.is_some_and(|id| !numbers.is_zero(id)))
    }

    /// Seconds from the start of the trace.
    fn at(&self) -> f64 {
        self.submitted as f64 / MICRO
    }

    fn seconds(&self) -> f64 {
        let ran = |(start, end): (u64, u64)| end.saturating_sub(start) as f64 / MICRO;
        self.started.zip(self.ended).map_or(f64::INFINITY, ran)
    }
}

fn rounded_up(value: Rational) -> Rational {
    let parts: Integer = (value * PARTS).ceil().into_numer_denom().0;
    Rational::from((parts, PARTS))
}
