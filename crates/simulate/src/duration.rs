//! Running times of tasks, and the random numbers from which they are drawn.

use evenhand_budget::charge;
use evenhand_mechanisms::filling::Draw;

use crate::cost::DRAW;

/// The running time of a task, in the time unit of the scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Duration {
    /// The same time for every task. It is infinite for tasks that never end.
    Constant(f64),
    /// A time that is drawn for each task from the exponential distribution with this mean.
    Exponential(f64),
    /// A time that is drawn for each task, uniformly between the two values.
    Uniform(f64, f64),
}

impl Duration {
    /// Draws the running time of one more task.
    #[must_use]
    pub fn draw(self, draw: &mut Draw) -> f64 {
        match self {
            Self::Constant(time) => time,
            Self::Exponential(mean) => draw.exponential(mean),
            Self::Uniform(from, to) => from + (to - from) * draw.unit(),
        }
    }

    /// Draws the running times of `tasks` more tasks and returns the longest.
    #[must_use]
    pub fn longest(self, tasks: u64, draw: &mut Draw) -> f64 {
        match self {
            Self::Constant(time) => time,
            _ => {
                charge(DRAW.saturating_mul(tasks), "the running times of a gang");
                (0..tasks).map(|_| self.draw(draw)).fold(0.0, f64::max)
            }
        }
    }
}

/// A nonnegative time that can be ordered. The bits of nonnegative doubles compare like the doubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(u64);

impl Time {
    pub fn of(time: f64) -> Self {
        Self(time.to_bits())
    }

    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// Returns whether events at this rate are closer to each other than neighbouring doubles at the time `at`. The
/// simulated time would then stop advancing.
#[must_use]
pub(crate) fn is_too_dense(rate: f64, at: f64) -> bool {
    rate * (at.next_up() - at) > 1.0
}
