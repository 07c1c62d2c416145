//! Markdown tables.

/// Returns a table. The first `left` columns are text. All other columns are numbers, which are aligned to
/// the right.
#[must_use]
pub fn markdown(head: &[&str], rows: &[Vec<String>], left: usize) -> String {
    let mut widths: Vec<usize> = head.iter().map(|cell| cell.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let mut text = line(&mut head.iter().copied());
    let rule: Vec<String> = widths
        .iter()
        .enumerate()
        .map(|(column, &width)| match column < left {
            true => "-".repeat(width),
            false => format!("{}:", "-".repeat(width.saturating_sub(1))),
        })
        .collect();
    text += &line(&mut rule.iter().map(String::as_str));
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// Returns seconds with three digits. Times below one second are in milliseconds.
#[must_use]
pub fn seconds(value: f64) -> String {
    if value >= 10.0 {
        format!("{value:.1} s")
    } else if value >= 1.0 {
        format!("{value:.2} s")
    } else if value >= 0.1 {
        format!("{:.0} ms", value * 1e3)
    } else if value >= 0.01 {
        format!("{:.1} ms", value * 1e3)
    } else {
        format!("{:.2} ms", value * 1e3)
    }
}

/// Returns the median of the values. For an even number of values, it is the mean of the two middle values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.get((sorted.len().checked_sub(1)?) / 2)?, sorted.get(sorted.len() / 2)?);
    Some((low + high) / 2.0)
}
