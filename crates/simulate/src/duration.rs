//! How long tasks run.

use evenhand_budget::charge;
use evenhand_mechanisms::filling::Draw;

use crate::cost::DRAW;

/// Running time of a task, in the unit of time of the scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Duration {
    /// The same for every task; infinite for one that does not end.
    Constant(f64),
    /// Drawn for every task, memoryless, with this mean.
    Exponential(f64),
    /// Drawn for every task, uniformly from one value to the other.
    Uniform(f64, f64),
}

impl Duration {
    /// The running time of one more task.
    #[must_use]
    pub fn draw(self, draw: &mut Draw) -> f64 {
        match self {
            Self::Constant(time) => time,
            Self::Exponential(mean) => exponential(mean, draw),
            Self::Uniform(from, to) => from + (to - from) * unit(draw),
        }
    }

    /// The longest running time of so many more tasks, each of which is drawn.
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

/// A time that is not negative, by which events are ordered: its bits compare as it does.
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

/// A number of mean `mean`, exponentially distributed.
#[must_use]
pub fn exponential(mean: f64, draw: &mut Draw) -> f64 {
    // 1 - u is never 0; libm has the same bits on every machine.
    -libm::log(1.0 - unit(draw)) * mean
}

/// Whether events at this rate come closer to each other than the numbers of double precision are to each other at
/// that time: times would not go on.
#[must_use]
pub(crate) fn is_too_dense(rate: f64, at: f64) -> bool {
    rate * (at.next_up() - at) > 1.0
}

/// A number from 0 to below 1 with all 53 bits.
fn unit(draw: &mut Draw) -> f64 {
    /// 2^53: doubles below 1 that are this far apart are exact.
    const STEPS: u64 = 1 << 53;
    draw.below(STEPS) as f64 / STEPS as f64
}
