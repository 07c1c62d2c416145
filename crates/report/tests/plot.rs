//! Pictures as text: what must be in them, where it stands, and that nothing stands on anything else.
#![allow(missing_docs)]

use evenhand_report::plot::{Axis, Figure, Plot, PlotError, Series};

/// `(x, y, anchor, size, words)` of every text in a picture that is not turned.
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

/// Left, right, top and bottom of a text whose characters are 0.6 of its size wide.
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
fn no_text_covers_another_one_or_leaves_the_picture() {
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
fn names_are_text_and_not_markup() {
    let mut plot = example(1);
    plot.series[0].name = "<b> & \"c\"".to_owned();
    let svg = plot.to_svg().unwrap();
    assert!(svg.contains("&lt;b&gt; &amp;") && !svg.contains("<b>"), "{svg}");
}

#[test]
fn what_an_axis_cannot_show_is_left_out() {
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
fn series_of_one_name_look_the_same_in_every_plot() {
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
fn the_same_picture_every_time() {
    assert_eq!(example(8).to_svg(), example(8).to_svg());
    assert_eq!(
        Figure { title: String::new(), plots: Vec::new(), columns: 1 }.to_svg(),
        Err(PlotError::NoPlots)
    );
}
