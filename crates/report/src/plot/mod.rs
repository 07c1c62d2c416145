//! Plots as SVG: lines and marks over linear or logarithmic axes, stacked bars, and diagrams of systems.
//!
//! A [`Plot`] holds the data in the units of its axes; a [`Figure`] puts several plots side by side
//! under one legend, where series of the same name look the same. Colours are those of Okabe and
//! Ito, which people with the usual kinds of colour blindness tell apart, and every series has a
//! mark of its own as well.
//!
//! ```
//! use evenhand_report::plot::{Axis, Plot, Series};
//!
//! let plot = Plot {
//!     title: "distance to the limit".to_owned(),
//!     x: Axis::logarithmic("c"),
//!     y: Axis::logarithmic("relative error"),
//!     series: vec![Series::new("1 / c", vec![(1.0, 1.0), (1e6, 1e-6)])],
//! };
//! let svg = plot.to_svg()?;
//! assert!(svg.starts_with("<svg") && svg.contains("relative error"));
//! # Ok::<(), evenhand_report::plot::PlotError>(())
//! ```

mod axis;
mod bars;
mod diagram;
mod draw;
mod legend;
mod style;

use thiserror::Error;

pub use axis::{Axis, Scale};
pub use bars::{Bar, Bars, Group};
pub use diagram::{Diagram, Line, Node};

/// Lines and marks over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// One line above the plot; may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// In the order of the legend; later ones are drawn over earlier ones.
    pub series: Vec<Series>,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// `(x, y)` in the units of the axes, in the order in which a line connects them. Points that
    /// are not finite, or not positive on a logarithmic axis, are left out and break the line.
    pub points: Vec<(f64, f64)>,
    /// How the points are connected.
    pub line: LineStyle,
    /// Whether every point has a mark.
    pub marks: bool,
}

/// How points are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStyle {
    /// By an unbroken line.
    Solid,
    /// By dashes, for bounds and expectations.
    Dashed,
}

/// Plots side by side under one legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// One line above everything; may be empty.
    pub title: String,
    /// Plots, row by row.
    pub plots: Vec<Plot>,
    /// Plots in a row, at least one.
    pub columns: usize,
}

/// Why there is no picture.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// A figure without plots, bars or boxes.
    #[error("a figure needs at least one plot, bar or box")]
    NoPlots,
    /// The drawing library refused.
    #[error("the plot cannot be drawn: {0}")]
    Drawing(String),
}

impl Series {
    /// Points with marks, connected by a line.
    #[must_use]
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, line: LineStyle::Solid, marks: true }
    }

    /// The same points without marks, connected by `line`.
    #[must_use]
    pub fn without_marks(self, line: LineStyle) -> Self {
        Self { line, marks: false, ..self }
    }
}

impl Plot {
    /// The plot with its legend as a document of its own.
    ///
    /// # Errors
    /// [`PlotError::Drawing`] when the drawing library fails.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        draw::figure("", &[self], 1)
    }
}

impl Figure {
    /// The figure as a document.
    ///
    /// # Errors
    /// [`PlotError`] when there is nothing to draw, or the drawing library fails.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        let plots: Vec<&Plot> = self.plots.iter().collect();
        draw::figure(&self.title, &plots, self.columns)
    }
}
