//! Drawing, by plotters.

use std::fmt::Display;

use evenhand_problem::printable;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::element::PathElement;
use plotters::prelude::{DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend};
use plotters::series::DashedLineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{BLACK, Color, IntoFont, RGBColor, ShapeStyle, TextStyle, WHITE};

use super::axis::Ruler;
use super::legend::Legend;
use super::style::{self, Look, look};
use super::{LineStyle, Plot, PlotError, Series};

/// Size of one plot, in pixels.
const PLOT: (u32, u32) = (520, 380);
/// Height of the title of a figure.
const TITLE: u32 = 40;
/// Ticks of an axis at most.
const TICKS: (usize, usize) = (7, 8);
const GRID: RGBColor = RGBColor(224, 224, 224);
const STROKE: u32 = 2;
/// Width of a character of tick labels.
const CHARACTER: u32 = 8;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Ruler, Ruler>>;

/// Names of all series, in order of appearance: the index gives the look.
fn names<'a>(plots: &[&'a Plot]) -> Vec<&'a Series> {
    let mut seen: Vec<&Series> = Vec::new();
    for series in plots.iter().flat_map(|plot| &plot.series) {
        if !seen.iter().any(|other| other.name == series.name) {
            seen.push(series);
        }
    }
    seen
}

/// The plots in rows of `columns`, the legend below them.
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

/// A white SVG document of this size in pixels, which `paint` draws on.
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

/// Draws a text. The writer of SVG escapes markup; hidden characters, as in names, are shown as such.
pub(super) fn write<'a>(
    area: &Area<'a>,
    text: &str,
    style: &TextStyle<'_>,
    at: (i32, i32),
) -> Result<(), Failure<'a>> {
    area.draw_text(&printable(text), style, at)
}

/// Characters of a text as it is drawn.
pub(super) fn length(text: &str) -> usize {
    printable(text).chars().count()
}

/// Text of this size, in the middle of its height.
pub(super) fn words(size: i32, across: HPos) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", size).into_font()).color(&BLACK).pos(Pos::new(across, VPos::Center))
}

/// Draws into `area`, a part of `root`.
fn draw(plot: &Plot, root: &Area<'_>, area: &Area<'_>, names: &[&Series]) -> Result<(), PlotError> {
    let points = || plot.series.iter().flat_map(|series| &series.points).copied();
    // What one axis cannot show does not widen the other.
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
    let small = ("sans-serif", 13).into_font();
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
            style::mark(root, look, pixel).map_err(failed)?;
        }
    }
    Ok(())
}

/// The error of a backend.
pub(super) type Failure<'a> =
    plotters::drawing::DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;
