//! What a run costs, in steps and bytes that are charged before they are spent. A task of a table, from its row to its
//! end, takes about .6 microseconds; it is charged for nearly 1, so that the steps run out before the clock's limit.

use std::time::{Duration, Instant};

use evenhand_budget::{Exceeded, Held, Limits, hold, within};

/// Steps for an arrival, with what the queues do.
pub(crate) const ARRIVAL: u64 = 20;
/// Steps for tasks that start on a server and end there.
pub(crate) const START: u64 = 110;
/// Steps for a time at which something happens: who comes, leaves or ends is looked for.
pub(crate) const MOMENT: u64 = 40;
/// Steps for a number that is drawn.
pub(crate) const DRAW: u64 = 5;
/// Bytes of a number in a table: its digits and a comma.
pub(crate) const CELL_OF_TEXT: u64 = 20;

/// Whether a run stops now with what it has.
pub(crate) fn is_over(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

/// Returns the time of a point, of points that lie `every` apart from 0 on.
///
/// The product of two doubles may miss the decimal that is meant: 987 times .02 is 19.740000000000002. The nearest decimal
/// of 15 digits is returned where it is one of the next doubles.
pub(crate) fn point(count: usize, every: f64) -> f64 {
    /// By how many distances of doubles a product of two rounded numbers may be off.
    const OFF: f64 = 2.0;
    /// Digits that every double holds, and the largest power of ten that is a double.
    const DIGITS: i32 = 15;
    const LARGEST: i32 = 22;
    let product = count as f64 * every;
    let exponent = DIGITS - 1 - product.log10().floor() as i32;
    if !(-LARGEST..=LARGEST).contains(&exponent) {
        return product;
    }
    // One rounding each: the power of ten and the whole number are exact.
    let power = 10_f64.powi(exponent.abs());
    let decimal =
        if exponent >= 0 { (product * power).round() / power } else { (product / power).round() * power };
    if (decimal - product).abs() <= OFF * f64::EPSILON * product { decimal } else { product }
}

/// The least time for what a run cannot begin without, so that a small one has something to show.
pub(crate) const TO_BEGIN: Duration = Duration::from_secs(1);

/// Does a part of a run, unless the time is up before it is done; it has `least` at least.
pub(crate) fn in_time<T>(
    until: Option<Instant>,
    least: Duration,
    work: impl FnOnce() -> T,
) -> Result<T, Exceeded> {
    let time = until.map(|until| until.saturating_duration_since(Instant::now()).max(least));
    within(&Limits { time, ..Limits::default() }, work)
}

/// Memory that grows: it is held in pieces that grow with it, so that this is charged some times only.
pub(crate) struct Growing {
    what: &'static str,
    held: Vec<Held>,
    bytes: u64,
}

impl Growing {
    pub fn new(what: &'static str) -> Self {
        Self { what, held: Vec::new(), bytes: 0 }
    }

    /// Bytes that are held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// So many bytes are needed from now on.
    pub fn need(&mut self, bytes: u64) {
        /// Bytes of the least piece.
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
    fn times_of_points_are_the_decimals_that_are_meant() {
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
