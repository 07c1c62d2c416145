//! The canvas of pictures, which uses plotters: an SVG document, texts, and the colours and marks of series.

use std::fmt::Display;

use evenhand_problem::printable;
use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Polygon};
use plotters::prelude::{DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{BLACK, Color, IntoFont, RGBColor, TextStyle, WHITE};
use thiserror::Error;

/// The reason why a picture cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The figure has no plots, bars or boxes.
    #[error("a figure needs at least one plot, bar or box")]
    NoPlots,
    /// The drawing library failed.
    #[error("the plot cannot be drawn: {0}")]
    Drawing(String),
}

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// The error of the drawing library.
pub(super) type Failure<'a> =
    plotters::drawing::DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

/// The colour of grid lines.
pub(super) const GRID: RGBColor = RGBColor(224, 224, 224);

/// Returns an SVG document with a white background and this size in pixels. `paint` draws its content.
pub(super) fn document(
    size: (u32, u32),
    paint: impl FnOnce(&Area<'_>) -> Result<(), PlotError>,
) -> Result<String, PlotError> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        root.fill(&WHITE).map_err(failed)?;
        paint(&root)?;
        root.present().map_err(failed)?;
    }
    Ok(text)
}

pub(super) fn failed(error: impl Display) -> PlotError {
    PlotError::Drawing(error.to_string())
}

/// Draws a text. The SVG writer escapes markup. Hidden characters, for example in names, are made visible.
pub(super) fn write<'a>(
    area: &Area<'a>,
    text: &str,
    style: &TextStyle<'_>,
    at: (i32, i32),
) -> Result<(), Failure<'a>> {
    area.draw_text(&printable(text), style, at)
}

/// Returns the number of characters of a text after hidden characters are made visible.
pub(super) fn length(text: &str) -> usize {
    printable(text).chars().count()
}

/// Returns the style of a text with this size. The text is centred vertically.
pub(super) fn words(size: i32, across: HPos) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", size).into_font()).color(&BLACK).pos(Pos::new(across, VPos::Center))
}

/// The colours of Okabe and Ito, "Color Universal Design". Grey replaces their yellow, which is hard to see
/// on white.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
    RGBColor(128, 128, 128),
];

/// The shape of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Disc,
    Square,
    Triangle,
    Diamond,
    Cross,
    Plus,
    Ring,
}

const MARKS: [Mark; 7] =
    [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Cross, Mark::Plus, Mark::Ring];

/// The appearance of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub colour: RGBColor,
    pub mark: Mark,
}

/// Returns the appearance of the series with the index `index`. The first 56 appearances differ.
pub(super) fn look(index: usize) -> Look {
    Look { colour: COLOURS[index % COLOURS.len()], mark: MARKS[index % MARKS.len()] }
}

/// Half the width of a mark in pixels.
const HALF: i32 = 4;

/// Draws a mark centred at a pixel.
pub(super) fn mark<'a>(area: &Area<'a>, look: Look, (x, y): (i32, i32)) -> Result<(), Failure<'a>> {
    let (full, stroke) = (look.colour.filled(), look.colour.stroke_width(2));
    let at = |dx: i32, dy: i32| (x + dx, y + dy);
    let path = |points: Vec<(i32, i32)>| PathElement::new(points, stroke);
    let corners = vec![at(-HALF, -HALF), at(HALF, -HALF), at(HALF, HALF), at(-HALF, HALF)];
    match look.mark {
        Mark::Disc => area.draw(&Circle::new((x, y), HALF, full)),
        Mark::Ring => area.draw(&Circle::new((x, y), HALF, stroke)),
        Mark::Square => area.draw(&Polygon::new(corners, full)),
        Mark::Triangle => {
            let corners = vec![at(0, -HALF - 1), at(HALF + 1, HALF), at(-HALF - 1, HALF)];
            area.draw(&Polygon::new(corners, full))
        }
        Mark::Diamond => {
            let wide = HALF + 2;
            let corners = vec![at(0, -wide), at(wide, 0), at(0, wide), at(-wide, 0)];
            area.draw(&Polygon::new(corners, full))
        }
        Mark::Cross => {
            area.draw(&path(vec![at(-HALF, -HALF), at(HALF, HALF)]))?;
            area.draw(&path(vec![at(-HALF, HALF), at(HALF, -HALF)]))
        }
        Mark::Plus => {
            area.draw(&path(vec![at(-HALF - 1, 0), at(HALF + 1, 0)]))?;
            area.draw(&path(vec![at(0, -HALF - 1), at(0, HALF + 1)]))
        }
    }
}
