//! Costs of a run, in elementary steps and bytes. They are charged before the work is done.
//!
//! A task of a table takes about 0.6 microseconds from its row to its end. It is charged for nearly 1 microsecond, so
//! that the steps run out before the time limit.

use std::time::{Duration, Instant};

use evenhand_budget::{Exceeded, Held, Limits, hold, within};

/// Steps for an arrival, including the operations on queues.
pub(crate) const ARRIVAL: u64 = 20;
/// Steps for tasks that start on a server and end there.
pub(crate) const START: u64 = 110;
/// Steps for a time at which events happen, including the search for arrivals, departures and ends.
pub(crate) const MOMENT: u64 = 40;
/// Steps to draw a random number.
pub(crate) const DRAW: u64 = 5;
/// Bytes of a number in a table: its digits and a comma.
pub(crate) const CELL_OF_TEXT: u64 = 20;

/// Returns whether the moment `until` has come, at which a run must stop with its results so far.
pub(crate) fn is_over(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

/// Returns the time of the point with number `count`, where points are `every` apart and start at 0.
///
/// The product of two doubles may miss the intended decimal: 987 times .02 is 19.740000000000002. If a
/// decimal of 15 digits lies within the rounding error of the product, that decimal is returned.
pub(crate) fn point(count: usize, every: f64) -> f64 {
    /// The relative error of a product of two rounded numbers, in units of the machine epsilon.
    const OFF: f64 = 2.0;
    /// The number of decimal digits that every double preserves.
    const DIGITS: i32 = 15;
    /// The exponent of the largest power of ten that is an exact double.
    const LARGEST: i32 = 22;
    let product = count as f64 * every;
    let exponent = DIGITS - 1 - product.log10().floor() as i32;
    if !(-LARGEST..=LARGEST).contains(&exponent) {
        return product;
    }
    // Either formula rounds only twice, since the power of ten and the whole number are exact.
    let power = 10_f64.powi(exponent.abs());
    let decimal =
        if exponent >= 0 { (product * power).round() / power } else { (product / power).round() * power };
    if (decimal - product).abs() <= OFF * f64::EPSILON * product { decimal } else { product }
}

/// The least time for the work that a run needs before its first result. A small run therefore always has a
/// result.
pub(crate) const TO_BEGIN: Duration = Duration::from_secs(1);

/// Does a piece of work of a run, and returns its result. Fails if the work is not finished at the moment
/// `until`, but allows at least the time `least`.
pub(crate) fn in_time<T>(
    until: Option<Instant>,
    least: Duration,
    work: impl FnOnce() -> T,
) -> Result<T, Exceeded> {
    let time = until.map(|until| until.saturating_duration_since(Instant::now()).max(least));
    within(&Limits { time, ..Limits::default() }, work)
}

/// The size of memory that grows. Memory is charged in pieces that grow with it, so that charges are rare.
pub(crate) struct Growing {
    what: &'static str,
    held: Vec<Held>,
    bytes: u64,
}

impl Growing {
    pub fn new(what: &'static str) -> Self {
        Self { what, held: Vec::new(), bytes: 0 }
    }

    /// Returns the number of bytes that are charged.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Charges more memory if `bytes` exceeds the bytes charged so far.
    pub fn need(&mut self, bytes: u64) {
        /// The size of the smallest piece in bytes.
        const LEAST: u64 = 1 << 20;
        if bytes > self.bytes {
            let more = (bytes - self.bytes).max(self.bytes / 4).max(LEAST);
            self.held.push(hold(more, self.what));
            self.bytes += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::point;

    #[test]
    fn times_of_points_are_the_nearest_decimals() {
        assert_eq!(point(987, 0.02).to_string(), "19.74");
        for (count, every) in [(3, 0.1), (7, 0.7), (987, 0.02), (12_345, 0.001), (999_999, 1e-7), (3, 1e20)] {
            let decimal: f64 = format!("{:.12e}", count as f64 * every).parse().unwrap();
            assert_eq!(point(count, every), decimal, "{count} {every}");
        }
        assert_eq!(point(0, 0.1), 0.0);
        assert_eq!(point(3, 1.0 / 3.0), 1.0);
        assert_eq!(point(2, f64::MAX), f64::INFINITY);
        assert_eq!(point(2, 1e-320), 2e-320);
        let third = point(1, 1.0 / 3.0);
        assert_eq!(third, 1.0 / 3.0, "no decimal is closer than rounding");
    }
}
