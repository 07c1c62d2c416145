//! Converts the history of a watch to a usage history. Each round counts until the next round. Times without
//! a verdict are gaps.

use std::collections::HashMap;
use std::path::Path;

use evenhand_budget::charge;
use evenhand_problem::{Rational, number};
use evenhand_usage::{Fact, FactNumber, Gap, History};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::{check, error_of, reader};
use crate::error::WatchError;

/// The nanoseconds of a millisecond.
const NANOSECONDS: i64 = 1_000_000;
/// The largest distance from 1970 of a time that is accepted, in milliseconds. Usage histories have the same
/// bound.
const FURTHEST: i64 = 4_400_000_000_000;
/// The steps of work that are charged for each row.
const ROW: u64 = 50;

/// A round: its id, its time in nanoseconds, and whether it has a verdict.
struct Round {
    id: i64,
    time: i64,
    has_verdict: bool,
}

/// The rounds, each with the intervals for which it counts in nanoseconds, and the gaps between these
/// intervals.
#[derive(Default)]
struct Timeline {
    /// The intervals of each round, keyed by the id of the round.
    spans: HashMap<i64, Vec<(i64, i64)>>,
    gaps: Vec<Gap>,
}

/// Returns the median of the times between two rounds.
fn usual(rounds: &[Round]) -> i64 {
    let mut times: Vec<i64> = rounds.iter().map(|round| round.time).collect();
    times.sort_unstable();
    let mut between: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = between.len() / 2;
    if between.is_empty() { 0 } else { *between.select_nth_unstable(middle).1 }
}

/// Returns the intervals that the clock showed twice because it was set back, in ascending order. `rounds`
/// must be in the order in which the rounds were written.
fn shown_twice(rounds: &[Round]) -> Vec<(i64, i64)> {
    let mut latest = i64::MIN;
    let mut twice: Vec<(i64, i64)> = Vec::new();
    for round in rounds {
        if round.time < latest {
            twice.push((round.time, latest));
        }
        latest = latest.max(round.time);
    }
    twice.sort_unstable();
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (from, to) in twice {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

/// Returns the parts of an interval that are outside of all intervals in `others`. `others` must be in
/// ascending order.
fn without(interval: (i64, i64), others: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let (mut from, to) = interval;
    let mut left = Vec::new();
    let first = others.partition_point(|other| other.1 <= from);
    for other in others[first..].iter().take_while(|other| other.0 < to) {
        if other.0 > from {
            left.push((from, other.0));
        }
        from = other.1.min(to);
    }
    if from < to {
        left.push((from, to));
    }
    left
}

fn timeline(rounds: &[Round], reach: i64) -> Timeline {
    let twice = shown_twice(rounds);
    let mut timeline = Timeline::default();
    let gap = |(from, to): (i64, i64), reason: &str| Gap { from, to, reason: reason.to_owned() };
    for pair in rounds.windows(2) {
        let (round, next) = (&pair[0], pair[1].time);
        let end = next.min(round.time + reach);
        if round.time >= next {
            continue;
        }
        if round.has_verdict {
            timeline.spans.insert(round.id, without((round.time, end), &twice));
        } else {
            timeline.gaps.push(gap((round.time, end), "a round without a verdict"));
        }
        if end < next {
            timeline.gaps.push(gap((end, next), "no round"));
        }
    }
    timeline.gaps.extend(
        twice
            .into_iter()
            .map(|span| gap(span, "the clock was set back, so that it showed these times twice")),
    );
    // If two gaps begin at the same time, the longer gap comes first. In this way a clock that was set back
    // takes precedence over other reasons.
    timeline.gaps.sort_by_key(|gap| (gap.from, std::cmp::Reverse(gap.to)));
    timeline
}

/// A number of the history.
enum Amount {
    Whole(i64),
    Other(Rational),
}

impl Amount {
    fn read(value: ValueRef<'_>) -> Option<Self> {
        match value {
            ValueRef::Integer(whole) if whole >= 0 => Some(Self::Whole(whole)),
            ValueRef::Text(text) => {
                let value = number::parse_result(std::str::from_utf8(text).ok()?).ok()?;
                (value >= 0).then_some(Self::Other(value))
            }
            _ => None,
        }
    }

    fn rational(&self) -> Rational {
        match self {
            Self::Whole(whole) => Rational::from(*whole),
            Self::Other(value) => value.clone(),
        }
    }

    fn is_less(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a < b,
            (a, b) => a.rational() < b.rational(),
        }
    }
}

/// Converts the history of a watch to a usage history. A verdict counts until the next round, but at most for
/// the time `reach` in nanoseconds. The default of `reach` is two and a half times the median time between
/// rounds. A watch may write to the file at the same time.
///
/// # Errors
/// [`WatchError`] if the file is not a history or cannot be read.
pub fn usage(file: &Path, reach: Option<i64>) -> Result<History, WatchError> {
    let connection = reader(file).map_err(|error| error_of(file, &error))?;
    check(file, &connection)?;
    read(&connection, reach).map_err(|fault| match fault {
        Fault::Database(error) => error_of(file, &error),
        Fault::Content(message) => WatchError::History { file: file.to_owned(), message },
    })
}

/// The reason why a history cannot be converted.
enum Fault {
    /// The database cannot be read.
    Database(rusqlite::Error),
    /// A value in the database is out of range.
    Content(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

fn rounds(connection: &Connection) -> Result<Vec<Round>, Fault> {
    let mut all = connection.prepare("SELECT id, time, reason IS NULL FROM rounds ORDER BY id")?;
    let mut rows = all.query([])?;
    let mut rounds = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, time, has_verdict): (i64, i64, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        if !(-FURTHEST..=FURTHEST).contains(&time) {
            return Err(Fault::Content(format!("round {id} has a time more than 139 years from 1970")));
        }
        rounds.push(Round { id, time: time * NANOSECONDS, has_verdict });
    }
    Ok(rounds)
}

fn read(connection: &Connection, reach: Option<i64>) -> Result<History, Fault> {
    // All queries belong to one transaction, so they see the same rounds even if a watch adds a round at the
    // same time.
    let transaction = connection.unchecked_transaction()?;
    let rounds = rounds(&transaction)?;
    let reach = reach.unwrap_or_else(|| usual(&rounds) / 2 * 5).min(FURTHEST * NANOSECONDS / 4);
    let timeline = timeline(&rounds, reach);
    let mut history = History::with_facts();
    history.is_calendar = true;
    history.is_watched = true;
    history.gaps = timeline.gaps;
    let mut names = HashMap::new();
    let mut all = transaction.prepare("SELECT id, name FROM names")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        names.insert(row.get::<_, i64>(0)?, row.get::<_, String>(1)?);
    }
    let mut queues = transaction.prepare("SELECT round, queue, waiting FROM queues ORDER BY round, queue")?;
    let mut queues = queues.query([])?;
    let mut shares = transaction.prepare(
        "SELECT round, queue, resource, usage, fair_share, lacking, most FROM shares ORDER BY round, queue, resource",
    )?;
    let mut shares = shares.query([])?;
    let mut facts: HashMap<(i64, bool), FactNumber> = HashMap::new();
    // The round and the queue of the latest row of `queues` that was read, and whether tasks of this queue
    // wait.
    let mut latest = ((i64::MIN, i64::MIN), false);
    let nowhere = Vec::new();
    let mut of_round = (i64::MIN, &nowhere);
    let mut count = 0_u64;
    while let Some(row) = shares.next()? {
        count += 1;
        if count.is_multiple_of(1024) {
            charge(1024 * ROW, "rows of the history");
        }
        let key: (i64, i64) = (row.get(0)?, row.get(1)?);
        if key.0 != of_round.0 {
            of_round = (key.0, timeline.spans.get(&key.0).unwrap_or(&nowhere));
        }
        if of_round.1.is_empty() {
            continue;
        }
        while latest.0 < key {
            let Some(queue) = queues.next()? else { break };
            let waits = match queue.get_ref(2)? {
                ValueRef::Null => true,
                value => Amount::read(value).is_some_and(|waiting| Amount::Whole(0).is_less(&waiting)),
            };
            latest = ((queue.get(0)?, queue.get(1)?), waits);
        }
        let number =
            |column: usize| -> rusqlite::Result<Option<Amount>> { Ok(Amount::read(row.get_ref(column)?)) };
        let (Some(usage), Some(share), Some(lacking)) = (number(3)?, number(4)?, number(5)?) else {
            return Err(Fault::Content(format!(
                "round {} has an amount that is not a number of at least 0",
                key.0
            )));
        };
        let zero = Amount::Whole(0);
        let is_satisfied = !zero.is_less(&lacking) && usage.is_less(&share);
        let is_at_limit = number(6)?.is_some_and(|most| !usage.is_less(&most));
        let wants = latest.0 == key && latest.1 && !is_satisfied && !is_at_limit;
        let fact = |history: &mut History| {
            let fact = Fact { fair_share: Some(share.rational()), wants: Some(wants) };
            history.fact(&fact)
        };
        let fact = match share {
            Amount::Whole(whole) => *facts.entry((whole, wants)).or_insert_with(|| fact(&mut history)),
            Amount::Other(_) => fact(&mut history),
        };
        let (Some(queue), Some(resource)) = (names.get(&key.1), names.get(&row.get::<_, i64>(2)?)) else {
            return Err(Fault::Content(format!("round {} has a queue or a resource without a name", key.0)));
        };
        let usage = match &usage {
            Amount::Whole(whole) => Ok(*whole),
            Amount::Other(value) => Err(value),
        };
        for span in of_round.1 {
            history.add_checked(queue, resource, *span, usage, fact);
        }
    }
    if history.n_rows == 0 {
        return Err(Fault::Content("no round of the history states any usage".to_owned()));
    }
    Ok(history)
}
