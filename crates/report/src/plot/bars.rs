//! Stacked bars in groups. They show the usage of every resource of every server.

use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{BLACK, Color, WHITE};

use super::axis::Axis;
use super::canvas::{Area, GRID, PlotError, document, failed, length, look, words, write};
use super::lines::{Legend, Series};

/// Groups of stacked bars with the same parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// The line above the bars. It may be empty.
    pub title: String,
    /// The vertical axis, from 0 to at least 1.
    pub y: Axis,
    /// The names of the parts, from the bottom of a bar to its top.
    pub parts: Vec<String>,
    /// The groups, from left to right.
    pub groups: Vec<Group>,
}

/// A group of bars with a common name.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The name below the bars.
    pub name: String,
    /// The bars, from left to right.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The name directly below the bar.
    pub name: String,
    /// The heights of the parts, at least 0, in the unit of the axis.
    pub heights: Vec<f64>,
}

/// The height of the title and of the name of the axis. All lengths are in pixels.
const TITLE: i32 = 66;
const HEIGHT: i32 = 260;
const BELOW: i32 = 52;
const LEFT: i32 = 76;
const RIGHT: i32 = 20;
const BAR: i32 = 44;
/// The gap between two bars of a group.
const GAP: i32 = 14;
/// The gap between two groups.
const BETWEEN: i32 = 46;
/// The width of a character of a name below bars.
const CHARACTER: i32 = 8;
const TICKS: usize = 6;
const FONT: i32 = 14;

impl Bars {
    /// Returns the bars with their legend as an SVG document.
    ///
    /// # Errors
    /// [`PlotError`] if there are no bars, or the drawing library fails.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        if self.groups.iter().all(|group| group.bars.is_empty()) {
            return Err(PlotError::NoPlots);
        }
        let widths: Vec<i32> = self.groups.iter().map(Group::width).collect();
        let title = CHARACTER * length(&self.title) as i32 + LEFT;
        let inner = widths.iter().sum::<i32>() + BETWEEN * widths.len() as i32;
        let width = (LEFT + inner + RIGHT).max(title);
        let series: Vec<Series> = self.parts.iter().map(|name| Series::line(name, Vec::new())).collect();
        let series: Vec<&Series> = series.iter().collect();
        let legend = Legend::new(&series, width as u32);
        let above = TITLE + HEIGHT + BELOW;
        document((width as u32, above as u32 + legend.height()), |root| {
            let (top, bottom) = root.split_vertically(above as u32);
            write(&top, &self.title, &words(16, HPos::Center), (width / 2, TITLE / 3)).map_err(failed)?;
            self.draw(&top, &widths, LEFT + inner)?;
            legend.draw(&bottom, &series).map_err(failed)
        })
    }

    fn draw(&self, area: &Area<'_>, widths: &[i32], right: i32) -> Result<(), PlotError> {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let highest = bars().map(|bar| bar.heights.iter().sum()).fold(1.0, f64::max);
        let ruler = self.y.clone().with_range(0.0, highest).ruler([0.0, highest].into_iter(), TICKS);
        let place = |value: f64| TITLE + HEIGHT - (value / highest * f64::from(HEIGHT)).round() as i32;
        for (value, label) in ruler.labels() {
            let y = place(value);
            let line = PathElement::new(vec![(LEFT, y), (right, y)], GRID.stroke_width(1));
            area.draw(&line).map_err(failed)?;
            write(area, &label, &words(FONT, HPos::Right), (LEFT - 8, y)).map_err(failed)?;
        }
        // The name of the axis is above its numbers, so that it needs no rotation.
        write(area, &self.y.label, &words(FONT, HPos::Left), (8, TITLE - 16)).map_err(failed)?;
        let mut x = LEFT + BETWEEN / 2;
        for (group, width) in self.groups.iter().zip(widths) {
            group.draw(area, x, *width, &place)?;
            x += width + BETWEEN;
        }
        let base = PathElement::new(vec![(LEFT, place(0.0)), (right, place(0.0))], BLACK.stroke_width(1));
        area.draw(&base).map_err(failed)
    }
}

impl Group {
    /// Returns the width that the bars, their names and the name of the group need.
    fn width(&self) -> i32 {
        let name = CHARACTER * length(&self.name) as i32;
        (self.bar_width() * self.bars.len() as i32).max(name)
    }

    /// Returns the width of a bar with the space for its name.
    fn bar_width(&self) -> i32 {
        let longest = self.bars.iter().map(|bar| length(&bar.name)).max().unwrap_or(0);
        (BAR + GAP).max(CHARACTER * longest as i32 + GAP)
    }

    fn draw(&self, area: &Area<'_>, x: i32, width: i32, place: &dyn Fn(f64) -> i32) -> Result<(), PlotError> {
        let each = self.bar_width();
        let first = x + (width - each * self.bars.len() as i32) / 2 + each / 2;
        let base = place(0.0);
        for (k, bar) in self.bars.iter().enumerate() {
            let middle = first + each * k as i32;
            let mut below = 0.0;
            for (part, height) in bar.heights.iter().enumerate() {
                let corners = [(middle - BAR / 2, place(below + height)), (middle + BAR / 2, place(below))];
                area.draw(&Rectangle::new(corners, look(part).colour.filled())).map_err(failed)?;
                area.draw(&Rectangle::new(corners, WHITE.stroke_width(1))).map_err(failed)?;
                below += height;
            }
            write(area, &bar.name, &words(FONT, HPos::Center), (middle, base + 14)).map_err(failed)?;
        }
        let at = (x + width / 2, base + 36);
        write(area, &self.name, &words(FONT + 1, HPos::Center), at).map_err(failed)
    }
}
