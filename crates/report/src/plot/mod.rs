//! Plots as SVG: lines and marks over linear or logarithmic axes, stacked bars, and diagrams of systems.
//!
//! A [`Plot`] contains the data in the units of its axes. A [`Figure`] shows several plots with a common
//! legend, in which series with the same name have the same appearance. The colours are those of Okabe and
//! Ito, which people with the common kinds of colour blindness can distinguish. Every series also has a
//! distinct mark.
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
mod canvas;
mod diagram;
mod lines;

pub use axis::{Axis, Scale};
pub use bars::{Bar, Bars, Group};
pub use canvas::PlotError;
pub use diagram::{Diagram, Line, Node};
pub use lines::{Figure, LineStyle, Plot, Series};
