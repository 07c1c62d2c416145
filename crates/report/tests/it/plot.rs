//! Tests of pictures as text: they contain the right texts at the right positions, and no text covers another
//! text.

use evenhand_report::plot::{Axis, Bar, Bars, Diagram, Figure, Group, Line, Node, Plot, PlotError, Series};

/// Returns `(x, y, anchor, size, words)` of every text in a picture that is not rotated.
fn texts(svg: &str) -> Vec<(f64, f64, String, f64, String)> {
    let attribute = |tag: &str, name: &str| {
        let from = tag.find(&format!(" {name}=\""))? + name.len() + 3;
        Some(tag[from..].split('"').next()?.to_owned())
    };
    svg.split("<text")
        .skip(1)
        .filter_map(|piece| {
            let (tag, rest) = piece.split_once('>')?;
            let words = rest.split("</text>").next()?.trim().to_owned();
            if tag.contains("rotate") {
                return None;
            }
            let number = |name: &str| attribute(tag, name)?.parse::<f64>().ok();
            Some((number("x")?, number("y")?, attribute(tag, "text-anchor")?, number("font-size")?, words))
        })
        .collect()
}

/// Returns the left, right, top and bottom of a text. The width of a character is assumed to be 0.6 of its
/// size.
fn extent((x, y, anchor, size, words): &(f64, f64, String, f64, String)) -> [f64; 4] {
    let width = 0.6 * size * words.chars().count() as f64;
    let left = match anchor.as_str() {
        "start" => *x,
        "middle" => x - width / 2.0,
        _ => x - width,
    };
    [left, left + width, y - size / 2.0, y + size / 2.0]
}

fn example(n_series: usize) -> Plot {
    let series = (0..n_series).map(|k| {
        let points = (0..12).map(|e| (10.0_f64.powi(e), 10.0_f64.powi(-e - k as i32))).collect();
        Series::new(format!("a method, tolerance 1e-{k}"), points)
    });
    Plot {
        title: "distance to the exact answer".to_owned(),
        x: Axis::logarithmic("time (s)"),
        y: Axis::logarithmic("relative error"),
        series: series.collect(),
    }
}

#[test]
fn labels_neither_overlap_nor_leave_the_picture() {
    for n_series in [0, 1, 3, 9] {
        let plots = vec![example(n_series); 5];
        for columns in [1, 2, 3] {
            let title = "several instances".to_owned();
            let svg = Figure { title, plots: plots.clone(), columns }.to_svg().unwrap();
            let texts = texts(&svg);
            assert!(texts.len() > 5 * 5 + n_series, "{} texts", texts.len());
            for (k, one) in texts.iter().enumerate() {
                let a = extent(one);
                assert!(a[0] >= 0.0 && a[1] <= 520.0 * columns as f64, "{one:?} leaves the picture");
                for other in &texts[..k] {
                    let b = extent(other);
                    let apart = a[0] >= b[1] || b[0] >= a[1] || a[2] >= b[3] || b[2] >= a[3];
                    assert!(apart, "{one:?} covers {other:?}");
                }
            }
        }
    }
}

#[test]
fn names_are_escaped_as_text() {
    let mut plot = example(1);
    plot.series[0].name = "<b> & \"c\"".to_owned();
    let svg = plot.to_svg().unwrap();
    assert!(svg.contains("&lt;b&gt; &amp;") && !svg.contains("<b>"), "{svg}");
}

#[test]
fn points_outside_the_axis_are_left_out() {
    let mut plot = example(1);
    let all = plot.to_svg().unwrap().matches("<circle").count();
    plot.series[0].points[3].1 = 0.0;
    plot.series[0].points[4].0 = f64::NAN;
    plot.series[0].points[5].1 = f64::INFINITY;
    let some = plot.to_svg().unwrap();
    assert_eq!(some.matches("<circle").count() + 3, all);
    assert!(!some.contains("NaN") && !some.contains("inf"));
}

#[test]
fn series_of_one_name_have_one_style_in_every_plot() {
    let mut second = example(3);
    second.series.remove(0);
    let colours = |svg: &str| {
        let mut colours: Vec<String> =
            svg.split("stroke=\"#").skip(1).map(|rest| rest[..6].to_owned()).collect();
        colours.sort();
        colours.dedup();
        colours
    };
    let figure = Figure { title: String::new(), plots: vec![example(3), second], columns: 2 };
    let one = colours(&example(3).to_svg().unwrap());
    assert_eq!(one, colours(&figure.to_svg().unwrap()));
    assert_eq!(figure.to_svg().unwrap().matches("a method, tolerance 1e-1").count(), 1);
}

#[test]
fn pictures_are_reproducible() {
    assert_eq!(example(8).to_svg(), example(8).to_svg());
    assert_eq!(
        Figure { title: String::new(), plots: Vec::new(), columns: 1 }.to_svg(),
        Err(PlotError::NoPlots)
    );
}

fn no_text_covers_another_one(svg: &str, n_texts: usize) {
    let texts = texts(svg);
    assert_eq!(texts.len(), n_texts, "{texts:?}");
    let width: f64 = svg.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    for (k, one) in texts.iter().enumerate() {
        let a = extent(one);
        assert!(a[0] >= 0.0 && a[1] <= width, "{one:?} leaves the picture");
        for other in &texts[..k] {
            let b = extent(other);
            let apart = a[0] >= b[1] || b[0] >= a[1] || a[2] >= b[3] || b[2] >= a[3];
            assert!(apart, "{one:?} covers {other:?}");
        }
    }
}

#[test]
fn bars_are_as_high_as_the_sum_of_their_segments() {
    let bar = |name: &str, heights: &[f64]| Bar { name: name.to_owned(), heights: heights.to_vec() };
    let bars = Bars {
        title: "who holds what of a server".to_owned(),
        y: Axis::linear("part of the capacity"),
        parts: vec!["user 1".to_owned(), "user 2".to_owned()],
        groups: vec![
            Group {
                name: "server 1".to_owned(),
                bars: vec![bar("cpu", &[0.5, 0.25]), bar("memory", &[1.0])],
            },
            Group { name: "server 2".to_owned(), bars: vec![bar("bandwidth", &[0.0, 0.5])] },
        ],
    };
    let svg = bars.to_svg().unwrap();
    // The picture has a title, an axis with a name and 6 ticks, 3 bars, 2 groups, and 2 names in the legend.
    no_text_covers_another_one(&svg, 1 + 1 + 6 + 3 + 2 + 2);
    let mut heights: Vec<i32> = svg
        .split("<rect")
        .skip(2)
        .filter(|rect| rect.contains("fill=\"#0072B2\"") || rect.contains("fill=\"#D55E00\""))
        .map(|rect| rect.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
        .collect();
    heights.sort_unstable();
    let whole = *heights.last().unwrap();
    assert_eq!(heights, [0, whole / 4, whole / 2, whole / 2, whole]);
    let none = Bars { groups: Vec::new(), ..bars };
    assert_eq!(none.to_svg(), Err(PlotError::NoPlots));
}

#[test]
fn a_diagram_has_one_line_for_every_pair() {
    let node = |name: &str| Node { name: name.to_owned(), says: vec!["cpu 1, memory <2>".to_owned()] };
    let pairs = (0..3).flat_map(|user| (0..4).map(move |server| (user, server)));
    let diagram = Diagram {
        title: "who may run where".to_owned(),
        left: ["a", "b", "c"].map(node).to_vec(),
        right: ["A", "B", "C", "D"].map(node).to_vec(),
        lines: pairs.map(|ends| Line { ends, says: format!("{}", 10 * ends.0 + ends.1) }).collect(),
    };
    let svg = diagram.to_svg().unwrap();
    no_text_covers_another_one(&svg, 1 + 2 * 7 + 12);
    assert_eq!(svg.matches("<polyline").count() + svg.matches("<line").count(), 12);
    assert!(svg.contains("&lt;2&gt;"));
    let empty = Diagram { left: Vec::new(), ..diagram };
    assert_eq!(empty.to_svg(), Err(PlotError::NoPlots));
}
