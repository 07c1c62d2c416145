//! Lines and marks over two axes, and the legend below them.

use evenhand_problem::printable;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::element::PathElement;
use plotters::prelude::SVGBackend;
use plotters::series::DashedLineSeries;
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, IntoFont, ShapeStyle};

use super::axis::{Axis, Ruler};
use super::canvas::{
    Area, Failure, GRID, Look, PlotError, document, failed, length, look, mark, words, write,
};

/// A plot of lines and marks over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    /// The line above the plot. It may be empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series in the order of the legend. Later series are drawn over earlier series.
    pub series: Vec<Series>,
}

/// The points of one line.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points `(x, y)` in the units of the axes, in the order in which a line connects them. Points that
    /// are not finite, or not positive on a logarithmic axis, are left out and interrupt the line.
    pub points: Vec<(f64, f64)>,
    /// The style of the line.
    pub line: LineStyle,
    /// True if every point has a mark.
    pub marks: bool,
}

/// The style of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineStyle {
    /// A solid line.
    Solid,
    /// A dashed line, for bounds and expectations.
    Dashed,
}

/// Several plots with a common legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The line above the figure. It may be empty.
    pub title: String,
    /// The plots, row by row.
    pub plots: Vec<Plot>,
    /// The number of plots in a row, which is at least one.
    pub columns: usize,
}

impl Series {
    /// Returns points with marks that a solid line connects.
    #[must_use]
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, line: LineStyle::Solid, marks: true }
    }

    /// Returns points without marks that a solid line connects.
    #[must_use]
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, points).without_marks(LineStyle::Solid)
    }

    /// Returns the points without marks. A line of the style `line` connects them.
    #[must_use]
    pub fn without_marks(self, line: LineStyle) -> Self {
        Self { line, marks: false, ..self }
    }
}

impl Plot {
    /// Returns a plot without a title.
    #[must_use]
    pub fn new(x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self { title: String::new(), x, y, series }
    }

    /// Returns the plot with its legend as an SVG document.
    ///
    /// # Errors
    /// [`PlotError::Drawing`] if the drawing library fails.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        figure("", &[self], 1)
    }
}

impl Figure {
    /// Returns the figure as an SVG document.
    ///
    /// # Errors
    /// [`PlotError`] if there is nothing to draw, or the drawing library fails.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        let plots: Vec<&Plot> = self.plots.iter().collect();
        figure(&self.title, &plots, self.columns)
    }
}

/// The width and the height of a plot in pixels.
const PLOT: (u32, u32) = (520, 380);
/// The height of the title of a figure.
const TITLE: u32 = 40;
/// The largest number of ticks of the horizontal axis and of the vertical axis.
const TICKS: (usize, usize) = (7, 8);
const STROKE: u32 = 2;
/// The width of a character. It is rounded up, because the font of the reader is not known.
const CHARACTER: u32 = 8;
/// The height of a line of the legend, in pixels.
const ROW: u32 = 22;
/// The margin around the legend.
const AROUND: u32 = 12;
/// The width of the sample line before a name.
const SAMPLE: i32 = 34;
const FONT: i32 = 14;

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ruler, Ruler>>;

/// Returns the series with different names, in the order in which they first occur. The index of a series
/// determines its appearance.
fn names<'a>(plots: &[&'a Plot]) -> Vec<&'a Series> {
    let mut seen: Vec<&Series> = Vec::new();
    for series in plots.iter().flat_map(|plot| &plot.series) {
        if !seen.iter().any(|other| other.name == series.name) {
            seen.push(series);
        }
    }
    seen
}

/// Draws the plots in rows with `columns` plots, and the legend below the plots.
pub(super) fn figure(title: &str, plots: &[&Plot], columns: usize) -> Result<String, PlotError> {
    if plots.is_empty() {
        return Err(PlotError::NoPlots);
    }
    let columns = columns.clamp(1, plots.len());
    let rows = plots.len().div_ceil(columns);
    let series = names(plots);
    let width = PLOT.0 * columns as u32;
    let legend = Legend::new(&series, width);
    let above = if title.is_empty() { 0 } else { TITLE };
    let height = above + PLOT.1 * rows as u32 + legend.height();
    document((width, height), |root| {
        let (top, rest) = root.split_vertically(above);
        if above > 0 {
            let place = (width as i32 / 2, TITLE as i32 / 2);
            write(&top, title, &words(20, HPos::Center), place).map_err(failed)?;
        }
        let (middle, bottom) = rest.split_vertically(PLOT.1 * rows as u32);
        for (plot, area) in plots.iter().zip(middle.split_evenly((rows, columns))) {
            draw(plot, root, &area, &series)?;
        }
        legend.draw(&bottom, &series).map_err(failed)
    })
}

/// Draws a plot into `area`, which is a part of `root`.
fn draw(plot: &Plot, root: &Area<'_>, area: &Area<'_>, names: &[&Series]) -> Result<(), PlotError> {
    let points = || plot.series.iter().flat_map(|series| &series.points).copied();
    // A point that cannot be shown on one axis does not widen the other axis.
    let shown = || points().filter(|&(x, y)| plot.x.shows(x) && plot.y.shows(y));
    let x = plot.x.ruler(shown().map(|(x, _)| x), TICKS.0);
    let y = plot.y.ruler(shown().map(|(_, y)| y), TICKS.1);
    let left = 34 + CHARACTER * y.longest_label() as u32;
    let mut builder = ChartBuilder::on(area);
    builder.margin(10).margin_right(24).x_label_area_size(48).y_label_area_size(left);
    if !plot.title.is_empty() {
        builder.caption(printable(&plot.title), ("sans-serif", 16).into_font());
    }
    let mut chart = builder.build_cartesian_2d(x.clone(), y.clone()).map_err(failed)?;
    let small = ("sans-serif", FONT).into_font();
    chart
        .configure_mesh()
        .light_line_style(GRID)
        .bold_line_style(GRID)
        .label_style(small.clone())
        .axis_desc_style(("sans-serif", 14).into_font())
        .x_desc(printable(&plot.x.label))
        .y_desc(printable(&plot.y.label))
        .draw()
        .map_err(failed)?;
    for series in &plot.series {
        let index = names.iter().position(|other| other.name == series.name).unwrap_or(0);
        draw_series(root, &mut chart, plot, series, look(index), (&x, &y))?;
    }
    Ok(())
}

fn draw_series(
    root: &Area<'_>,
    chart: &mut Chart<'_, '_>,
    plot: &Plot,
    series: &Series,
    look: Look,
    (x, y): (&Ruler, &Ruler),
) -> Result<(), PlotError> {
    let stroke: ShapeStyle = look.colour.stroke_width(STROKE);
    let place = |&(at, height): &(f64, f64)| {
        let is_shown = plot.x.shows(at) && plot.y.shows(height);
        is_shown
            .then(|| (x.place(at), y.place(height)))
            .filter(|&(at, height)| x.holds(at) && y.holds(height))
    };
    let places: Vec<Option<(f64, f64)>> = series.points.iter().map(place).collect();
    for run in places.split(Option::is_none).filter(|run| run.len() > 1) {
        let run: Vec<(f64, f64)> = run.iter().copied().flatten().collect();
        match series.line {
            LineStyle::Solid => {
                chart.draw_series([PathElement::new(run, stroke)]).map_err(failed)?;
            }
            LineStyle::Dashed => {
                let dashes = DashedLineSeries::new(run, 8, 5, stroke);
                chart.draw_series(dashes).map_err(failed)?;
            }
        }
    }
    if series.marks {
        for at in places.into_iter().flatten() {
            let pixel = chart.backend_coord(&at);
            mark(root, look, pixel).map_err(failed)?;
        }
    }
    Ok(())
}

/// The layout of the legend.
pub(super) struct Legend {
    column_width: u32,
    rows: u32,
}

impl Legend {
    /// Returns the layout for these series in a picture with this width.
    pub fn new(series: &[&Series], width: u32) -> Self {
        let longest = series.iter().map(|series| length(&series.name)).max().unwrap_or(0);
        let column_width = SAMPLE as u32 + 2 * AROUND + CHARACTER * longest as u32;
        let count = series.len() as u32;
        let columns = ((width - 2 * AROUND) / column_width).clamp(1, count.max(1));
        Self { column_width, rows: count.div_ceil(columns) }
    }

    /// Returns the height of the legend.
    pub fn height(&self) -> u32 {
        if self.rows == 0 { 0 } else { self.rows * ROW + AROUND }
    }

    /// Draws the legend at the top of `area`, column by column.
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
