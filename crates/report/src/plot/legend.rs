//! The legend: every series once, in columns as wide as the longest name needs.

use plotters::element::PathElement;
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

use super::draw::{Area, Failure, length, words, write};
use super::style::{look, mark};
use super::{LineStyle, Series};

/// Height of a line of the legend, in pixels.
const ROW: u32 = 22;
/// Empty space above, below, left and right.
const AROUND: u32 = 12;
/// Width of the piece of line before a name.
const SAMPLE: i32 = 34;
/// Width of a character, generously: the reader's font is not known here.
const CHARACTER: u32 = 8;
const FONT: i32 = 13;

/// Where the names stand.
pub(super) struct Legend {
    column_width: u32,
    rows: u32,
}

impl Legend {
    /// For these series, in a picture of this width.
    pub fn new(series: &[&Series], width: u32) -> Self {
        let longest = series.iter().map(|series| length(&series.name)).max().unwrap_or(0);
        let column_width = SAMPLE as u32 + 2 * AROUND + CHARACTER * longest as u32;
        let count = series.len() as u32;
        let columns = ((width - 2 * AROUND) / column_width).clamp(1, count.max(1));
        Self { column_width, rows: count.div_ceil(columns) }
    }

    /// Height that it takes.
    pub fn height(&self) -> u32 {
        if self.rows == 0 { 0 } else { self.rows * ROW + AROUND }
    }

    /// Draws it at the top of `area`, one column after the other.
    pub fn draw<'a>(&self, area: &Area<'a>, series: &[&Series]) -> Result<(), Failure<'a>> {
        for (index, series) in series.iter().enumerate() {
            let (column, row) = (index as u32 / self.rows, index as u32 % self.rows);
            let x = (2 * AROUND + column * self.column_width) as i32;
            let y = (row * ROW + ROW / 2) as i32;
            let look = look(index);
            let stroke = look.colour.stroke_width(2);
            let piece = |from: i32, to: i32| PathElement::new(vec![(x + from, y), (x + to, y)], stroke);
            match series.line {
                LineStyle::Solid => area.draw(&piece(0, SAMPLE))?,
                LineStyle::Dashed => {
                    for from in (0..SAMPLE).step_by(13) {
                        area.draw(&piece(from, (from + 8).min(SAMPLE)))?;
                    }
                }
            }
            if series.marks {
                mark(area, look, (x + SAMPLE / 2, y))?;
            }
            write(area, &series.name, &words(FONT, HPos::Left), (x + SAMPLE + 8, y))?;
        }
        Ok(())
    }
}
