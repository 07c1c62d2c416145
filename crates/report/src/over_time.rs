//! The usage and fair shares of queues over time: for how long a queue was below its fair share, and how much
//! it lacked.
//!
//! Verdicts are added one by one in the order of their times. Sums over time count every verdict. Pictures
//! have at most [`COLUMNS`] columns. Each column has the least, the mean and the largest value of its
//! verdicts.

use std::collections::HashMap;

use evenhand_problem::number::from_f64;

use crate::page::Page;
use crate::table::{Cell, Table};
use crate::text::{amount, few};

/// The largest number of columns of a picture.
pub const COLUMNS: usize = 240;
/// The largest number of queues that are described in sentences.
const DESCRIBED: usize = 8;
/// The largest number of rows of the table for people.
const LONGEST: usize = 60;
/// A verdict counts until the next verdict, but at most for this multiple of the usual time between rounds.
const REACH: f64 = 2.5;
const MILLISECONDS: f64 = 1000.0;
const HOUR: f64 = 3600.0;

/// The amounts of a queue and a resource at a point in time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample<'a> {
    /// The queue.
    pub queue: &'a str,
    /// The resource.
    pub resource: &'a str,
    /// The amount that the queue uses.
    pub usage: f64,
    /// The fair share of the queue.
    pub fair_share: f64,
    /// The amount that the queue lacks to its fair share.
    pub lacking: f64,
    /// True if the queue is below its fair share by a whole task.
    pub is_below: bool,
}

/// The verdicts in one column of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// The number of verdicts.
    pub verdicts: u64,
    /// The least, the mean and the largest usage.
    pub usage: [f64; 3],
    /// The mean fair share.
    pub fair_share: f64,
    /// The mean amount that the queue lacks to its fair share.
    pub lacking: f64,
}

impl Column {
    fn add(&mut self, sample: &Sample<'_>) {
        self.verdicts += 1;
        let part = 1.0 / self.verdicts as f64;
        let toward = |mean: &mut f64, value: f64| *mean += (value - *mean) * part;
        self.usage[0] = self.usage[0].min(sample.usage);
        toward(&mut self.usage[1], sample.usage);
        self.usage[2] = self.usage[2].max(sample.usage);
        toward(&mut self.fair_share, sample.fair_share);
        toward(&mut self.lacking, sample.lacking);
    }
}

/// A queue and a resource over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The queue.
    pub queue: String,
    /// The resource.
    pub resource: String,
    /// The columns of the picture. `None` for a column without a verdict on the queue.
    pub columns: Vec<Option<Column>>,
    /// The number of seconds for which there is a verdict on the queue.
    pub seconds: f64,
    /// The integrals over time of the usage, the fair share and the missing amount, in seconds times the unit
    /// of the resource.
    pub sums: [f64; 3],
    /// The number of seconds for which the queue was below its fair share by a whole task and lacked this
    /// resource.
    pub below: f64,
    /// The longest uninterrupted time in seconds for which the queue was below its fair share and lacked the
    /// resource.
    pub longest: f64,
    /// The current uninterrupted time in seconds for which the queue is below its fair share. 0 if the queue
    /// is not below it.
    running: f64,
}

impl Line {
    /// Returns the means of the usage, the fair share and the missing amount.
    #[must_use]
    pub fn means(&self) -> [f64; 3] {
        self.sums.map(|sum| if self.seconds > 0.0 { sum / self.seconds } else { 0.0 })
    }

    /// Returns the integral over time of the missing amount, in hours times the unit of the resource.
    #[must_use]
    pub fn lacking_hours(&self) -> f64 {
        self.sums[2] / HOUR
    }

    /// Returns the largest value that the picture shows.
    #[must_use]
    pub fn most(&self) -> f64 {
        let values = self
            .columns
            .iter()
            .flatten()
            .flat_map(|of| [of.usage[2], of.fair_share, of.usage[1] + of.lacking]);
        values.fold(0.0, f64::max)
    }
}

/// The verdicts on a cluster over time.
#[derive(Debug, Clone, PartialEq)]
pub struct OverTime {
    /// The title.
    pub title: String,
    /// The times of the first and of the last round in milliseconds since 1970.
    pub span: [i64; 2],
    /// The median time between two rounds in milliseconds.
    pub interval: i64,
    /// The number of rounds with a verdict, and the number of rounds without a verdict.
    pub rounds: [u64; 2],
    /// The number of seconds for which there is a verdict.
    pub observed: f64,
    /// The queues and resources in the order in which they first occurred.
    pub lines: Vec<Line>,
    /// True for a column without a verdict; indexed by column.
    pub unknown: Vec<bool>,
    index: HashMap<String, HashMap<String, usize>>,
}

impl OverTime {
    /// Returns a history without verdicts. `times` are the times of all rounds in milliseconds since 1970, in
    /// ascending order.
    #[must_use]
    pub fn new(title: impl Into<String>, times: &[i64]) -> Self {
        let span = [times.first().copied().unwrap_or(0), times.last().copied().unwrap_or(0)];
        let mut gaps: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let middle = gaps.len() / 2;
        let interval = if gaps.is_empty() { 0 } else { *gaps.select_nth_unstable(middle).1 };
        let columns = times.len().clamp(1, COLUMNS);
        Self {
            title: title.into(),
            span,
            interval,
            rounds: [0, 0],
            observed: 0.0,
            lines: Vec::new(),
            unknown: vec![true; columns],
            index: HashMap::new(),
        }
    }

    /// Returns the index of the column that contains a time.
    fn column(&self, time: i64) -> usize {
        let width = (self.span[1] - self.span[0]).max(1) as f64;
        let part = (time - self.span[0]) as f64 / width;
        ((part * self.unknown.len() as f64) as usize).min(self.unknown.len() - 1)
    }

    /// Adds the next round. `until` is the time of the following round. `samples` are `None` if the round
    /// gave no verdict.
    pub fn add<'a>(
        &mut self,
        time: i64,
        until: Option<i64>,
        samples: Option<impl IntoIterator<Item = Sample<'a>>>,
    ) {
        let Some(samples) = samples else {
            self.rounds[1] += 1;
            self.lines.iter_mut().for_each(|line| line.running = 0.0);
            return;
        };
        self.rounds[0] += 1;
        let reach = REACH * self.interval as f64;
        let gap = until.map_or(0.0, |until| (until - time) as f64);
        let seconds = gap.min(reach).max(0.0) / MILLISECONDS;
        self.observed += seconds;
        // A verdict fills all columns until the next round, so that rounds at uneven times leave no gaps.
        let first = self.column(time);
        let end = self.column(time + (seconds * MILLISECONDS) as i64);
        let columns = first..end.max(first + 1);
        self.unknown[columns.clone()].fill(false);
        let width = self.unknown.len();
        for sample in samples {
            let of_queue = match self.index.get_mut(sample.queue) {
                Some(of_queue) => of_queue,
                None => self.index.entry(sample.queue.to_owned()).or_default(),
            };
            let number = match of_queue.get(sample.resource) {
                Some(number) => *number,
                None => {
                    self.lines.push(Line {
                        queue: sample.queue.to_owned(),
                        resource: sample.resource.to_owned(),
                        columns: vec![None; width],
                        seconds: 0.0,
                        sums: [0.0; 3],
                        below: 0.0,
                        longest: 0.0,
                        running: 0.0,
                    });
                    of_queue.insert(sample.resource.to_owned(), self.lines.len() - 1);
                    self.lines.len() - 1
                }
            };
            let line = &mut self.lines[number];
            line.seconds += seconds;
            for (sum, value) in line.sums.iter_mut().zip([sample.usage, sample.fair_share, sample.lacking]) {
                *sum += value * seconds;
            }
            if sample.is_below && sample.lacking > 0.0 {
                line.below += seconds;
                line.running += seconds;
                line.longest = line.longest.max(line.running);
            } else {
                line.running = 0.0;
            }
            // During a long gap without verdicts the queue may have reached its fair share, so the
            // uninterrupted time ends.
            if gap > reach {
                line.running = 0.0;
            }
            for column in &mut line.columns[columns.clone()] {
                let column = column.get_or_insert(Column {
                    verdicts: 0,
                    usage: [f64::INFINITY, 0.0, f64::NEG_INFINITY],
                    fair_share: 0.0,
                    lacking: 0.0,
                });
                column.add(&sample);
            }
        }
    }

    /// Returns the lines in the order of their importance: lines that were below their fair share for the
    /// longest time come first.
    #[must_use]
    pub fn in_order(&self) -> Vec<&Line> {
        let mut lines: Vec<&Line> = self.lines.iter().filter(|line| line.most() > 0.0).collect();
        lines.sort_by(|a, b| b.below.total_cmp(&a.below).then(part(b).total_cmp(&part(a))));
        lines
    }

    /// Returns the answer in sentences: the queues that were below their fair shares, for how long, and how
    /// much they lacked.
    #[must_use]
    pub fn in_short(&self) -> Vec<String> {
        let span = self.observed;
        let mut order: Vec<(&str, Vec<&Line>)> = Vec::new();
        for line in self.in_order().into_iter().filter(|line| line.below > 0.0) {
            match order.iter_mut().find(|(queue, _)| *queue == line.queue) {
                Some((_, lines)) => lines.push(line),
                None => order.push((&line.queue, vec![line])),
            }
        }
        let mut said = Vec::new();
        match order.len() {
            0 if self.rounds[0] == 0 => said.push("No round gave a verdict.".to_owned()),
            0 => said.push(format!(
                "No queue was below its fair share by a whole task in the {} that were observed.",
                duration(span)
            )),
            1 => said.push(format!("One queue was below its fair share by a whole task: {}.", order[0].0)),
            many => {
                let names: Vec<&str> = order.iter().map(|(queue, _)| *queue).collect();
                said.push(format!(
                    "{many} queues were below their fair share by a whole task: {}.",
                    few(&names, DESCRIBED)
                ));
            }
        }
        for (queue, lines) in order.iter().take(DESCRIBED) {
            let below = lines.iter().map(|line| line.below).fold(0.0, f64::max);
            let longest = lines.iter().map(|line| line.longest).fold(0.0, f64::max);
            let lacked: Vec<String> =
                lines.iter().map(|line| hours(&line.resource, line.lacking_hours())).collect();
            said.push(format!(
                "{queue} was below its fair share for {} of {}, at most {} without a break. It lacked {}.",
                duration(below),
                duration(span),
                duration(longest),
                few(&lacked, 4)
            ));
        }
        let [with, without] = self.rounds;
        said.push(format!(
            "{with} rounds gave a verdict and {without} did not, from {} to {}.",
            utc(self.span[0]),
            utc(self.span[1])
        ));
        let whole = (self.span[1] - self.span[0]) as f64 / MILLISECONDS;
        if whole - span > 1.0 {
            said.push(format!("Nothing is known about {} of this time.", duration(whole - span)));
        }
        said
    }

    /// Returns the sentence that states for how long a verdict counts.
    #[must_use]
    pub fn method(&self) -> String {
        format!(
            "A verdict counts until the next round, but at most for {}. Sums of time count every verdict.",
            duration(REACH * self.interval as f64 / MILLISECONDS)
        )
    }

    /// Returns a row for each queue and resource.
    #[must_use]
    pub fn table(&self) -> Table {
        let shown =
            |resource: &str, value: f64| Cell::text(said(resource, value)).with_value(format!("{value}"));
        Table::of(self.in_order())
            .words("queue", |line| line.queue.as_str())
            .words("resource", |line| line.resource.as_str())
            .numbers("mean usage", |line| shown(&line.resource, line.means()[0]))
            .numbers("mean fair share", |line| shown(&line.resource, line.means()[1]))
            .numbers("below for", |line| {
                let cell = Cell::text(duration(line.below)).with_value(format!("{}", line.below));
                if line.below > 0.0 { cell.bad() } else { cell }
            })
            .numbers("without a break", |line| {
                Cell::text(duration(line.longest)).with_value(format!("{}", line.longest))
            })
            .numbers("lacked, times hours", |line| shown(&line.resource, line.lacking_hours()))
            .table()
            .with_second_key()
            .at_most(LONGEST, "rows of queues and resources")
    }
}

/// Returns the fraction of the fair share that the queue lacked on average.
fn part(line: &Line) -> f64 {
    let [_, share, lacking] = line.means();
    if share > 0.0 { lacking / share } else { 0.0 }
}

/// Returns the history of a cluster as a page.
#[must_use]
pub fn over_time(history: &OverTime) -> Page {
    Page::new().lines(history.in_short()).table(history.table()).lines([history.method()])
}

/// Returns an amount of a resource for people, with four significant digits.
#[must_use]
pub fn said(resource: &str, value: f64) -> String {
    let digits = |value: f64| {
        let before = value.abs().max(1e-9).log10().floor();
        let scale = 10_f64.powf((3.0 - before).clamp(-300.0, 300.0));
        (value * scale).round() / scale
    };
    from_f64(digits(value)).map_or_else(|| value.to_string(), |value| amount(resource, &value))
}

/// Returns an amount multiplied by hours, such as `86.4 gpu-hours`.
fn hours(resource: &str, value: f64) -> String {
    let text = said(resource, value);
    match text.split_once(' ') {
        Some((number, unit)) => format!("{number} {unit}-hours of {resource}"),
        None => format!("{text} {resource}-hours"),
    }
}

/// Returns a duration in its two largest units, such as `7 h 12 min`.
///
/// # Examples
/// ```
/// use evenhand_report::over_time::duration;
/// assert_eq!(duration(25_920.0), "7 h 12 min");
/// assert_eq!(duration(0.25), "0.25 s");
/// assert_eq!(duration(90_000.0), "1 d 1 h");
/// ```
#[must_use]
pub fn duration(seconds: f64) -> String {
    if seconds < 10.0 {
        let text = format!("{seconds:.2}");
        return format!("{} s", text.trim_end_matches('0').trim_end_matches('.'));
    }
    let whole = seconds.round() as u64;
    let units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)];
    let first = units.iter().position(|(_, size)| whole >= *size).unwrap_or(3);
    let mut rest = whole;
    let parts = units.iter().skip(first).take(2).map(|(unit, size)| {
        let count = rest / size;
        rest %= size;
        (count, unit)
    });
    let parts: Vec<String> =
        parts.filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count} {unit}")).collect();
    parts.join(" ")
}

/// Returns a time in milliseconds since 1970 as a date and a time of day in UTC.
///
/// # Examples
/// ```
/// use evenhand_report::over_time::utc;
/// assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
/// assert_eq!(utc(951_782_399_000), "2000-02-28 23:59:59 UTC");
/// assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00 UTC");
/// ```
#[must_use]
pub fn utc(milliseconds: i64) -> String {
    let seconds = milliseconds.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years begin in March, and are grouped into eras of 400 years: "chrono-Compatible Low-Level Date
    // Algorithms" by Howard Hinnant.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second % 3_600 / 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}
