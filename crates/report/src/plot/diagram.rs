//! A diagram of a system: boxes in two columns, connected by lines.

use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{BLACK, Color, RGBColor, WHITE};

use super::canvas::{Area, PlotError, document, failed, length, words, write};

/// A diagram with users at the left and servers at the right. Lines show on which servers each user may run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagram {
    /// The line above the diagram. It may be empty.
    pub title: String,
    /// The boxes at the left, from top to bottom.
    pub left: Vec<Node>,
    /// The boxes at the right, from top to bottom.
    pub right: Vec<Node>,
    /// The lines, each from a box at the left to a box at the right.
    pub lines: Vec<Line>,
}

/// A box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The first line of the box.
    pub name: String,
    /// The lines below the name.
    pub says: Vec<String>,
}

/// A line between two boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The positions of the left box and of the right box.
    pub ends: (usize, usize),
    /// The text on the line. It may be empty.
    pub says: String,
}

/// The height of the title. All lengths are in pixels.
const TITLE: i32 = 40;
const AROUND: i32 = 20;
/// The gap between the two columns.
const BETWEEN: i32 = 270;
/// The gap between two boxes of a column.
const GAP: i32 = 22;
const ROW: i32 = 20;
const CHARACTER: i32 = 8;
const FONT: i32 = 14;
/// The range of the positions of texts along lines, as fractions of the line from the left. Texts of lines to
/// different boxes at the right have different fractions, so that they do not cover each other.
const ALONG: (f64, f64) = (0.12, 0.88);
/// Half the height of a text.
const HALF: i32 = 8;
const BOX: RGBColor = RGBColor(238, 244, 250);

impl Node {
    fn height(&self) -> i32 {
        ROW * (1 + self.says.len() as i32) + ROW / 2
    }

    fn draw(&self, area: &Area<'_>, (x, y): (i32, i32), width: i32) -> Result<(), PlotError> {
        let corners = [(x, y), (x + width, y + self.height())];
        area.draw(&Rectangle::new(corners, BOX.filled())).map_err(failed)?;
        area.draw(&Rectangle::new(corners, BLACK.stroke_width(1))).map_err(failed)?;
        for (k, text) in std::iter::once(&self.name).chain(&self.says).enumerate() {
            let size = if k == 0 { FONT + 2 } else { FONT };
            let at = (x + width / 2, y + ROW * k as i32 + ROW * 3 / 4);
            write(area, text, &words(size, HPos::Center), at).map_err(failed)?;
        }
        Ok(())
    }
}

/// A column of boxes, centred vertically: its width, and the top of each box.
struct Column {
    width: i32,
    tops: Vec<i32>,
}

impl Column {
    fn height(nodes: &[Node]) -> i32 {
        nodes.iter().map(|node| node.height() + GAP).sum::<i32>() - GAP
    }

    fn new(nodes: &[Node], height: i32) -> Self {
        let texts = nodes.iter().flat_map(|node| std::iter::once(&node.name).chain(&node.says));
        let longest = texts.map(|text| length(text)).max().unwrap_or(0);
        let mut y = (height - Self::height(nodes)) / 2;
        let tops = nodes.iter().map(|node| {
            let top = y;
            y += node.height() + GAP;
            top
        });
        Self { tops: tops.collect(), width: CHARACTER * longest as i32 + AROUND }
    }
}

impl Diagram {
    /// Returns the diagram as an SVG document.
    ///
    /// # Errors
    /// [`PlotError`] if a column is empty, or the drawing library fails.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        if self.left.is_empty() || self.right.is_empty() {
            return Err(PlotError::NoPlots);
        }
        let height = Column::height(&self.left).max(Column::height(&self.right));
        let (left, right) = (Column::new(&self.left, height), Column::new(&self.right, height));
        let title = CHARACTER * length(&self.title) as i32;
        let width = (left.width + BETWEEN + right.width).max(title) + 2 * AROUND;
        document((width as u32, (TITLE + height + AROUND) as u32), |root| {
            write(root, &self.title, &words(16, HPos::Center), (width / 2, TITLE / 2)).map_err(failed)?;
            let (from, to) = (AROUND, width - AROUND - right.width);
            let middle = |node: &Node, top: i32| TITLE + top + node.height() / 2;
            let mut says = Vec::new();
            for line in &self.lines {
                let (Some(user), Some(server)) = (self.left.get(line.ends.0), self.right.get(line.ends.1))
                else {
                    continue;
                };
                let start = (from + left.width, middle(user, left.tops[line.ends.0]));
                let end = (to, middle(server, right.tops[line.ends.1]));
                let path = PathElement::new(vec![start, end], BLACK.stroke_width(1));
                root.draw(&path).map_err(failed)?;
                says.push((start, end, line));
            }
            // Texts are drawn after lines, so that lines do not cover texts.
            for (start, end, line) in says.into_iter().filter(|(_, _, line)| !line.says.is_empty()) {
                let place = (line.ends.1 as f64 + 0.5) / self.right.len() as f64;
                let part = ALONG.0 + (ALONG.1 - ALONG.0) * place;
                let along = |a: i32, b: i32| a + (f64::from(b - a) * part) as i32;
                let (x, y) = (along(start.0, end.0), along(start.1, end.1));
                let half = CHARACTER * length(&line.says) as i32 / 2;
                let corners = [(x - half, y - HALF), (x + half, y + HALF)];
                root.draw(&Rectangle::new(corners, WHITE.filled())).map_err(failed)?;
                write(root, &line.says, &words(FONT, HPos::Center), (x, y)).map_err(failed)?;
            }
            for (node, top) in self.left.iter().zip(&left.tops) {
                node.draw(root, (from, TITLE + top), left.width)?;
            }
            for (node, top) in self.right.iter().zip(&right.tops) {
                node.draw(root, (to, TITLE + top), right.width)?;
            }
            Ok(())
        })
    }
}
