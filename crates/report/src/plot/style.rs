//! Colours and marks of series.

use plotters::element::{Circle, PathElement, Polygon};
use plotters::style::{Color, RGBColor};

use super::draw::{Area, Failure};

/// Okabe and Ito, "Color Universal Design", with a grey in place of its yellow, which is hard to see on white.
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

/// Shape of a mark.
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

/// How a series looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub colour: RGBColor,
    pub mark: Mark,
}

/// The look of the series that was named as number `index`: 56 of them differ.
pub(super) fn look(index: usize) -> Look {
    Look { colour: COLOURS[index % COLOURS.len()], mark: MARKS[index % MARKS.len()] }
}

/// Half of the width of a mark, in pixels.
const HALF: i32 = 4;

/// Draws a mark around a pixel.
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
