//! The decayed usage of queues and the queue that is served next, in text for people and as a JSON document.

use evenhand_problem::Rational;
use evenhand_problem::number::{from_f64, to_f64};
use evenhand_usage::{
    Enclosure, History, Law, QueueStanding, Reported, Settings, Standings, kai_rounded, time_text,
};
use serde_json::{Value, json};

use crate::Page;
use crate::json::document;
use crate::table::{Cell, Column, Table};
use crate::text::{decimal, few, number};

/// The largest number of rows for people.
const LONGEST: usize = 40;
/// The largest number of names of queues in a sentence.
const FEW: usize = 5;

/// Returns the exact number. If it is not known, returns the double that is nearest to the middle of its
/// bounds.
fn near(value: &Enclosure) -> Rational {
    match value.exact() {
        Some(exact) => exact.clone(),
        None => {
            let middle = value.middle();
            from_f64(to_f64(&middle)).unwrap_or(middle)
        }
    }
}

/// Returns a number for people: the exact number, or a decimal.
fn shown(value: &Enclosure) -> String {
    match value.exact() {
        Some(exact) => number(exact),
        None => decimal(&near(value)),
    }
}

/// Returns the cell of a number. Its value for programs is the nearest double.
fn cell(value: &Enclosure) -> Cell {
    match value.exact() {
        Some(exact) => Cell::number(exact),
        None => Cell::text(shown(value)).with_value(to_f64(&value.middle()).to_string()),
    }
}

/// A unit for people: the number of small units that it contains, and its name.
struct Unit {
    per: u32,
    name: &'static str,
}

/// Returns the unit of decayed usage.
fn unit(law: Law) -> Unit {
    match law {
        Law::Slurm | Law::SlurmTicks | Law::Volcano => Unit { per: 3600, name: "-hours" },
        Law::Kueue | Law::Kai => Unit { per: 1, name: "" },
        Law::Karma => Unit { per: 1, name: " slices" },
    }
}

fn in_unit(value: &Enclosure, law: Law) -> Cell {
    if law == Law::Kai {
        return Cell::percent(&near(value));
    }
    cell(&value.times(&Rational::from((1, unit(law).per))))
}

/// Returns the name of the number by which queues are ordered.
fn score_name(law: Law) -> &'static str {
    match law {
        Law::Slurm | Law::SlurmTicks => "usage over share",
        Law::Kueue | Law::Kai => "usage over weight",
        Law::Volcano => "usage",
        Law::Karma => "number of credits",
    }
}

fn score(queue: &QueueStanding, law: Law) -> String {
    match &queue.score {
        None => "infinite".to_owned(),
        Some(score) if law == Law::Karma => number(&-score.middle()),
        Some(score) if law == Law::Volcano => shown(&score.times(&Rational::from((1, unit(law).per)))),
        Some(score) => shown(score),
    }
}

fn score_cell(queue: &QueueStanding) -> Cell {
    queue.score.as_ref().map_or_else(|| Cell::text("infinite"), cell)
}

/// Returns the sentence that states which queue is served next, and why.
pub(crate) fn next(settings: &Settings, standings: &Standings) -> String {
    let law = settings.law;
    let (what, of) = (score_name(law), if law == Law::Volcano { " resource-hours" } else { "" });
    let first = standings.next();
    let Some(winner) = first.first() else { return "There is no queue.".to_owned() };
    let value = score(winner, law);
    let extreme = if law == Law::Karma { "the most" } else { "the least" };
    if let [one] = first {
        let Some(second) = standings.queues.get(1) else {
            return format!("{} is served next: it is the only queue.", one.queue);
        };
        let next = score(second, law);
        if law == Law::Volcano && one.running != second.running && value_is_close(one, second) {
            return format!(
                "{} is served next: its usage and that of {} differ by at most one resource-second, and it runs less.",
                one.queue, second.queue
            );
        }
        return format!(
            "{} is served next: its {what} is {value}{of}, {extreme}. {} follows with {next}{of}.",
            one.queue, second.queue
        );
    }
    let names: Vec<&str> = first.iter().map(|queue| queue.queue.as_str()).collect();
    let is_equal = first.iter().all(|queue| queue.score.as_ref().is_none_or(|score| score.exact().is_some()));
    let why = if law == Law::Volcano {
        "their usage differs by at most one resource-second, and they run the same amount".to_owned()
    } else if is_equal {
        format!("each has {what} {value}, {extreme}")
    } else {
        format!("each has {what} {value}, {extreme}, and the difference is below the precision")
    };
    format!("{} queues are served next in any order ({why}): {}.", first.len(), few(&names, FEW))
}

fn value_is_close(a: &QueueStanding, b: &QueueStanding) -> bool {
    match (&a.score, &b.score) {
        (Some(a), Some(b)) => Rational::from(&b.high - &a.low).abs() <= 1,
        _ => false,
    }
}

pub(crate) fn table(settings: &Settings, standings: &Standings) -> Table {
    let law = settings.law;
    let mut columns = vec![Column::numbers("rank"), Column::words("queue"), Column::numbers("weight")];
    let mut resources: Vec<&str> = Vec::new();
    for queue in &standings.queues {
        for (resource, _) in &queue.usage {
            if !resources.contains(&resource.as_str()) {
                resources.push(resource);
            }
        }
    }
    for resource in &resources {
        columns.push(Column::numbers(&format!("{resource}{}", unit(law).name)));
    }
    let more: &[&str] = match law {
        Law::Slurm | Law::SlurmTicks => &["share", "of usage", "level fair share", "classic factor"],
        Law::Kueue => &["usage over weight"],
        Law::Kai => &["usage over weight", "fair share", "whole units"],
        Law::Volcano => &["running"],
        Law::Karma => &["credits", "fair share"],
    };
    columns.extend(more.iter().map(|name| Column::numbers(name)));
    let mut table = Table::new(columns);
    let middles: Vec<Rational> = standings
        .queues
        .iter()
        .filter_map(|queue| queue.fair_share.as_ref().map(Enclosure::middle))
        .collect();
    let whole = kai_rounded(&middles);
    for (at, queue) in standings.queues.iter().enumerate() {
        let mut cells =
            vec![Cell::text(queue.rank.to_string()), Cell::text(&queue.queue), Cell::number(&queue.weight)];
        for resource in &resources {
            let used = queue.usage.iter().find(|(name, _)| name == resource);
            cells.push(used.map_or_else(|| Cell::text("0"), |(_, used)| in_unit(used, law)));
        }
        match law {
            Law::Slurm | Law::SlurmTicks => {
                cells.push(Cell::percent(&queue.share.clone().unwrap_or_default()));
                cells.push(Cell::percent(&queue.fraction.as_ref().map(near).unwrap_or_default()));
                cells.push(match &queue.level_fair_share {
                    Some(Some(level)) => cell(level),
                    _ => Cell::text("infinite"),
                });
                cells.push(queue.classic_factor.as_ref().map_or_else(Cell::none, cell));
            }
            Law::Kueue => cells.push(score_cell(queue)),
            Law::Kai => {
                cells.push(score_cell(queue));
                cells.push(queue.fair_share.as_ref().map_or_else(Cell::none, cell));
                cells.push(whole.get(at).map_or_else(Cell::none, Cell::number));
            }
            Law::Volcano => cells.push(Cell::number(&queue.running.clone().unwrap_or_default())),
            Law::Karma => {
                let credits = queue.score.as_ref().map(|score| -score.middle()).unwrap_or_default();
                cells.push(Cell::number(&credits));
                cells.push(queue.fair_share.as_ref().map_or_else(Cell::none, cell));
            }
        }
        table.row(cells);
    }
    table.at_most(LONGEST, "queues")
}

/// Returns the sentences below the table.
fn notes(history: &History, settings: &Settings, standings: &Standings) -> Vec<String> {
    let law = settings.law;
    let at = time_text(standings.at, history.is_calendar);
    let since = match standings.since {
        Some(since) => format!(", of usage since {}", time_text(since, history.is_calendar)),
        None => String::new(),
    };
    let mut notes = vec![format!("{}, at {at}{since}.", settings.in_words())];
    let weights: Vec<String> = standings
        .resource_weights
        .iter()
        .map(|(name, weight)| format!("{name} {}", decimal(weight)))
        .collect();
    if !matches!(law, Law::Kai | Law::Karma) {
        notes.push(format!("Weights of resources: {}.", few(&weights, 8)));
    }
    let counted: Vec<&str> = standings.resource_weights.iter().map(|(name, _)| name.as_str()).collect();
    let left_out: Vec<&str> =
        history.resources.iter().map(String::as_str).filter(|name| !counted.contains(name)).collect();
    if !left_out.is_empty() {
        notes.push(format!("Not counted: {}.", few(&left_out, 8)));
    }
    if law == Law::Kai {
        notes.push(
            "Fair shares hold if every queue wants more and none has a quota; KAI also compares what queues run at the moment, \
             which is not part of a history."
                .to_owned(),
        );
    }
    if law == Law::Karma {
        notes.push(
            "Amounts of the history are demands. Queues that want more than their guaranteed part borrow in the order of their \
             credits; a queue without credits borrows nothing."
                .to_owned(),
        );
    }
    if law == Law::Volcano {
        notes.push("Volcano drops a usage below 0.01 resource-seconds, which is not modelled.".to_owned());
    }
    let precision = match standings.width.is_zero() {
        true => "Decayed usage is exact".to_owned(),
        false => format!("Decayed usage is enclosed within {}", decimal(&standings.width)),
    };
    notes.push(format!("{precision}; it carries no certificate."));
    notes
}

/// Returns the standing of the queues for people: the answer, the numbers, and notes on their meaning. With a
/// report of the scheduler, also states whether the reported numbers agree with the computed numbers.
#[must_use]
pub fn standings(
    history: &History,
    settings: &Settings,
    standings: &Standings,
    reported: Option<&Reported>,
) -> Page {
    let page = Page::new().text(next(settings, standings)).table(table(settings, standings));
    let page = match reported {
        Some(reported) => page
            .heading(format!("What {} reports", reported.reporter.name()))
            .text(agreement(standings, reported))
            .table(comparison(standings, reported))
            .lines(differences(history, standings, reported)),
        None => page,
    };
    page.lines(notes(history, settings, standings))
}

/// A queue of a report, its reported usage, and whether the computed usage agrees with the reported usage.
type Compared<'a> = (&'a QueueStanding, Rational, bool);

fn compared<'a>(standings: &'a Standings, reported: &Reported) -> Vec<Compared<'a>> {
    let weights = &standings.resource_weights;
    let of = |queue: &'a QueueStanding| {
        let said = reported.charged(&queue.queue, weights)?;
        let agrees = reported.agrees(&queue.charged, &said, weights);
        Some((queue, said, agrees))
    };
    standings.queues.iter().filter_map(of).collect()
}

/// Returns the middle of the computed bounds minus the reported usage.
fn difference((queue, said, _): &Compared<'_>) -> Rational {
    queue.charged.middle() - said
}

/// Returns the sentence that states whether the reported usage agrees with the computed usage.
fn agreement(standings: &Standings, reported: &Reported) -> String {
    let name = reported.reporter.name();
    let all = compared(standings, reported);
    let agreeing = all.iter().filter(|(_, _, agrees)| *agrees).count();
    if all.is_empty() {
        return format!("{name} reports none of these queues.");
    }
    let queues =
        if all.len() == 1 { "the one queue".to_owned() } else { format!("all {} queues", all.len()) };
    if agreeing == all.len() {
        return format!("{name} reports the computed usage for {queues}, up to the rounding of its report.");
    }
    let widest = all.iter().max_by_key(|one| difference(one).abs());
    let most = widest.map(|one| {
        let sign = if difference(one) > 0 { "less" } else { "more" };
        let by = decimal(&difference(one).abs());
        format!(" It differs most for {}, for which {name} reports {by} {sign}.", one.0.queue)
    });
    format!(
        "{name} reports the computed usage for {agreeing} of {} queues.{}",
        all.len(),
        most.unwrap_or_default()
    )
}

fn comparison(standings: &Standings, reported: &Reported) -> Table {
    Table::of(compared(standings, reported))
        .words("queue", |(queue, _, _)| queue.queue.clone())
        .numbers("reported", |(_, said, _)| Cell::number(said))
        .numbers("computed", |(queue, _, _)| cell(&queue.charged))
        .numbers("computed minus reported", |one| {
            let by = difference(one);
            Cell::text(decimal(&by)).with_value(to_f64(&by).to_string())
        })
        .words("equal up to rounding", |(_, _, agrees)| if *agrees { "yes" } else { "no" })
        .table()
        .at_most(LONGEST, "queues")
}

fn differences(history: &History, standings: &Standings, reported: &Reported) -> Vec<String> {
    let mut lines = Vec::new();
    let unknown: Vec<&str> = reported
        .queues
        .keys()
        .map(String::as_str)
        .filter(|name| standings.queues.iter().all(|queue| queue.queue != *name))
        .collect();
    if !unknown.is_empty() {
        lines.push(format!("Reported, but not in the history: {}.", few(&unknown, FEW)));
    }
    if let Some((from, to)) = reported.times.filter(|_| history.is_calendar) {
        let (from_text, to_text) = (time_text(from, true), time_text(to, true));
        let of = if from == to { from_text } else { format!("{from_text} to {to_text}") };
        if (from, to) != (standings.at, standings.at) {
            let at = time_text(standings.at, true);
            lines.push(format!(
                "The report is of {of}, and usage is computed for {at}: usage of different times differs."
            ));
        }
    }
    lines
}

pub(crate) fn bounds(value: &Enclosure) -> Value {
    json!({"least": value.low.to_string(), "most": value.high.to_string()})
}

/// Returns the standing of the queues as a JSON document.
#[must_use]
pub fn standings_document(
    history: &History,
    settings: &Settings,
    standings: &Standings,
    reported: Option<&Reported>,
) -> Value {
    let seconds = |time: i64| Rational::from((time, evenhand_usage::NANOSECONDS)).to_string();
    let by_name = |list: &[(String, Enclosure)]| -> Value {
        Value::Object(list.iter().map(|(name, value)| (name.clone(), bounds(value))).collect())
    };
    let weights: Value = Value::Object(
        standings
            .resource_weights
            .iter()
            .map(|(name, weight)| (name.clone(), json!(weight.to_string())))
            .collect(),
    );
    let queues: Vec<Value> = standings
        .queues
        .iter()
        .map(|queue| {
            let level = queue.level_fair_share.as_ref();
            json!({
                "queue": queue.queue,
                "rank": queue.rank,
                "weight": queue.weight.to_string(),
                "usage": by_name(&queue.usage),
                "charged": bounds(&queue.charged),
                "score": queue.score.as_ref().map(bounds),
                "share": queue.share.as_ref().map(Rational::to_string),
                "fraction": queue.fraction.as_ref().map(bounds),
                "level_fair_share": level.map(|level| level.as_ref().map_or_else(|| json!("infinite"), bounds)),
                "classic_factor": queue.classic_factor.as_ref().map(bounds),
                "fair_share": queue.fair_share.as_ref().map(bounds),
                "running": queue.running.as_ref().map(Rational::to_string),
            })
        })
        .collect();
    let report = reported.map(|reported| {
        let queues = compared(standings, reported).into_iter().map(|(queue, said, agrees)| {
            let value = json!({"usage": said.to_string(), "equal_up_to_rounding": agrees});
            (queue.queue.clone(), value)
        });
        json!({
            "by": reported.reporter.name(),
            "sentence": agreement(standings, reported),
            "queues": queues.collect::<serde_json::Map<_, _>>(),
        })
    });
    let skipped = history.skipped;
    document(
        "usage",
        json!({
            "law": settings.law.name(),
            "half_life": settings.half_life.map(seconds),
            "every": seconds(settings.interval()),
            "at": seconds(standings.at),
            "since": standings.since.map(seconds),
            "certified": false,
            "sentence": next(settings, standings),
            "next": standings.next().iter().map(|queue| queue.queue.as_str()).collect::<Vec<_>>(),
            "resource_weights": weights,
            "width": standings.width.to_string(),
            "rows": history.n_rows,
            "skipped": {
                "not_started": skipped.not_started,
                "steps": skipped.steps,
                "without_resources": skipped.without_resources,
            },
            "queues": queues,
            "reported": report,
        }),
    )
}
