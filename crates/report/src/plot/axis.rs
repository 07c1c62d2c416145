//! Axes: their values, ticks and labels.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// The layout of values along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences have equal distances.
    Linear,
    /// Equal ratios have equal distances. Only positive values are shown.
    Logarithmic,
}

/// An axis of a plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The quantity and unit, such as `time (s)`.
    pub label: String,
    /// The layout of values.
    pub scale: Scale,
    /// The least and the largest value on the axis. `None` stands for the range of the data.
    pub range: Option<(f64, f64)>,
}

/// The margin around the data, as a fraction of the range of the data.
const ROOM: f64 = 0.04;
/// The least number of decades on a logarithmic axis.
const LEAST_DECADES: f64 = 1.0;

impl Axis {
    /// Returns a linear axis over the range of the data.
    #[must_use]
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Linear, range: None }
    }

    /// Returns a logarithmic axis over the range of the data.
    #[must_use]
    pub fn logarithmic(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: Scale::Logarithmic, range: None }
    }

    /// Returns a linear axis of fractions of a whole, from 0 to a little above 1.
    #[must_use]
    pub fn parts(label: impl Into<String>) -> Self {
        Self::linear(label).with_range(0.0, 1.0 + ROOM)
    }

    /// Returns the axis with a range from `least` to `greatest`.
    #[must_use]
    pub fn with_range(self, least: f64, greatest: f64) -> Self {
        Self { range: Some((least, greatest)), ..self }
    }

    /// Returns `true` if the axis can show a value.
    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// Returns the ruler of the axis for these values. It has at most about `most` ticks.
    pub(super) fn ruler(&self, values: impl Iterator<Item = f64>, most: usize) -> Ruler {
        let place = |value: f64| self.scale.place(value);
        let stated = self.range.filter(|&(from, to)| self.shows(from) && self.shows(to) && from < to);
        let (from, to) = match stated {
            Some((from, to)) => (place(from), place(to)),
            None => {
                let seen = values.filter(|&value| self.shows(value)).map(place);
                let ends = seen.fold(None, |ends: Option<(f64, f64)>, place| match ends {
                    None => Some((place, place)),
                    Some((from, to)) => Some((from.min(place), to.max(place))),
                });
                widened(self.scale, ends)
            }
        };
        let (ticks, step) = ticks(self.scale, from, to, most);
        Ruler { scale: self.scale, from, to, ticks, step }
    }
}

/// Returns the positions of the ends of an axis, which is wider than the data.
fn widened(scale: Scale, ends: Option<(f64, f64)>) -> (f64, f64) {
    let (from, to) = ends.unwrap_or((0.0, 1.0));
    let least = match scale {
        Scale::Logarithmic => LEAST_DECADES,
        Scale::Linear if from == to => from.abs().max(1.0),
        Scale::Linear => 0.0,
    };
    let missing = (least - (to - from)).max(0.0) / 2.0;
    let room = ROOM * (to - from).max(least);
    (from - missing - room, to + missing + room)
}

impl Scale {
    /// Returns the position of a value: the value itself, or its decimal logarithm.
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Logarithmic => value.log10(),
        }
    }
}

/// Returns the positions of the ticks, and the distance between them.
fn ticks(scale: Scale, from: f64, to: f64, most: usize) -> (Vec<f64>, f64) {
    let width = to - from;
    let rough = width / most.max(1) as f64;
    let step = match scale {
        // The distance between two ticks is a whole number of decades: 1, 2, 3, 5, 10, ...
        Scale::Logarithmic => {
            let steps = [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0];
            steps.into_iter().find(|step| *step >= rough).unwrap_or(100.0)
        }
        Scale::Linear => {
            let unit = 10.0_f64.powf(rough.log10().floor());
            let steps = [1.0, 2.0, 5.0];
            steps.into_iter().map(|step| step * unit).find(|step| *step >= rough).unwrap_or(10.0 * unit)
        }
    };
    let (first, last) = ((from / step).ceil(), (to / step).floor());
    let count = (last - first).clamp(0.0, 1000.0) as usize;
    ((0..=count).map(|k| (first + k as f64) * step).collect(), step)
}

/// An axis with its ends and ticks. Ends, ticks and step are positions. A position is a value on a linear
/// axis, and its logarithm on a logarithmic axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ruler {
    scale: Scale,
    from: f64,
    to: f64,
    ticks: Vec<f64>,
    step: f64,
}

impl Ruler {
    /// Returns the label of a tick.
    fn label(&self, place: f64) -> String {
        match self.scale {
            Scale::Logarithmic if (-2.0..=3.0).contains(&place) => {
                let digits = (-place).max(0.0) as usize;
                format!("{:.digits$}", 10.0_f64.powf(place))
            }
            Scale::Logarithmic => format!("1e{place:.0}"),
            Scale::Linear => {
                let size = self.from.abs().max(self.to.abs());
                if !(1e-4..1e6).contains(&size) {
                    return format!("{place:.2e}");
                }
                let digits = (-self.step.log10().floor()).max(0.0) as usize;
                // Zero is written without a minus sign.
                format!("{:.digits$}", if place.abs() < self.step / 2.0 { 0.0 } else { place })
            }
        }
    }

    /// Returns the positions of the ticks with their labels.
    pub(super) fn labels(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        self.ticks.iter().map(|&tick| (tick, self.label(tick)))
    }

    /// Returns the number of characters of the longest label.
    pub(super) fn longest_label(&self) -> usize {
        self.ticks.iter().map(|&tick| self.label(tick).chars().count()).max().unwrap_or(0)
    }

    /// Returns the position of a value on this axis.
    pub(super) fn place(&self, value: f64) -> f64 {
        self.scale.place(value)
    }

    /// Returns `true` if a position is between the ends.
    pub(super) fn holds(&self, place: f64) -> bool {
        (self.from..=self.to).contains(&place)
    }
}

/// The values of this coordinate are positions.
impl Ranged for Ruler {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (low, high): (i32, i32)) -> i32 {
        let part = ((place - self.from) / (self.to - self.from)).clamp(-1.0, 2.0);
        low + (part * f64::from(high - low)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Ruler {
    fn format_ext(&self, place: &f64) -> String {
        self.label(*place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ruler: &Ruler) -> Vec<String> {
        ruler.ticks.iter().map(|&tick| ruler.label(tick)).collect()
    }

    #[test]
    fn decades_are_whole_and_few() {
        let ruler = Axis::logarithmic("y").ruler([1e-17, 1.0].into_iter(), 8);
        let labels = labels(&ruler);
        assert_eq!(labels, ["1e-15", "1e-12", "1e-9", "1e-6", "1e-3", "1"]);
    }

    #[test]
    fn linear_ticks_are_round_numbers() {
        let ruler = Axis::linear("x").with_range(-0.1, 1.02).ruler(std::iter::empty(), 6);
        assert_eq!(labels(&ruler), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let ruler = Axis::linear("x").ruler([0.0, 2500.0].into_iter(), 6);
        assert_eq!(labels(&ruler), ["0", "500", "1000", "1500", "2000", "2500"]);
    }

    #[test]
    fn any_values_have_a_valid_axis() {
        for axis in [Axis::linear("x"), Axis::logarithmic("x")] {
            for values in [vec![], vec![0.0], vec![-1.0, f64::NAN], vec![3.0, 3.0], vec![1e-300, 1e300]] {
                let ruler = axis.ruler(values.iter().copied(), 6);
                assert!(ruler.from < ruler.to, "{values:?}: {ruler:?}");
                assert!(ruler.ticks.len() <= 9, "{values:?}: {ruler:?}");
                let inside = values.iter().filter(|&&value| axis.shows(value));
                for &value in inside {
                    assert!(ruler.holds(ruler.place(value)));
                }
            }
        }
    }
}
