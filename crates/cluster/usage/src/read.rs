//! Readers of usage histories: CSV, and the output of `sacct -P`.
//!
//! A month of 300 queues at one-minute samples has 13 million rows, so that lines are read as bytes.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{BufRead, Read as _};
use std::str;

use csv::StringRecord;
use evenhand_budget::charge;
use evenhand_import::{ImportError, MAX_LINE_BYTES, broken_limit, split};
use evenhand_problem::number::parse_quantity;
use evenhand_problem::{Rational, printable};

use crate::UsageError;
use crate::history::{Fact, History, OPEN};
use crate::time::time_of;

/// Steps of work for a row.
const ROW: u64 = 50;

/// The columns of a history in CSV.
const COLUMNS: [&str; 5] = ["queue", "resource", "from", "to", "amount"];
/// The columns of a history that state facts.
const FACTS: [&str; 2] = ["fair_share", "waiting"];
/// The columns of `sacct` that are read.
const SACCT: [&str; 4] = ["Account", "AllocTRES", "Start", "End"];

const EXPECTED_TIME: &str = "seconds, or a time with its zone such as 2026-01-31T12:00:00Z";

/// The position of each needed column in a row.
struct Layout {
    positions: Vec<usize>,
    /// The position of the job's identifier, in the output of `sacct`.
    job: Option<usize>,
    is_sacct: bool,
    /// The positions of the columns [`FACTS`].
    facts: [Option<usize>; 2],
}

struct Reader<'p> {
    name: String,
    reader: Box<dyn BufRead>,
    packed: &'p Cell<u64>,
    unpacked: u64,
    line: u64,
    bytes: Vec<u8>,
}

/// A field of a row, at most 60 characters of it.
fn shown(field: &str) -> String {
    printable(&field.chars().take(60).collect::<String>())
}

impl Reader<'_> {
    /// Reads the next line that is not blank into `bytes`. Returns `false` at the end of the file.
    fn next(&mut self) -> Result<bool, UsageError> {
        loop {
            self.bytes.clear();
            let limit = MAX_LINE_BYTES + 1;
            let read = (&mut self.reader).take(limit).read_until(b'\n', &mut self.bytes);
            let read = read.map_err(|source| ImportError::Io { file: self.name.clone(), source })? as u64;
            if read == 0 {
                return Ok(false);
            }
            self.line += 1;
            self.unpacked += read;
            let limit = match read > MAX_LINE_BYTES {
                true => Some(format!("a line of more than {MAX_LINE_BYTES} bytes")),
                false => broken_limit(self.packed.get(), self.unpacked),
            };
            if let Some(limit) = limit {
                let (file, line) = (self.name.clone(), self.line);
                return Err(ImportError::TooLarge { file, line, limit }.into());
            }
            if self.bytes.ends_with(b"\n") {
                self.bytes.pop();
            }
            if self.bytes.ends_with(b"\r") {
                self.bytes.pop();
            }
            if self.line == 1 && self.bytes.starts_with(b"\xef\xbb\xbf") {
                self.bytes.drain(..3);
            }
            if !self.bytes.is_empty() {
                return Ok(true);
            }
        }
    }

    fn error(&self, message: impl Into<String>) -> UsageError {
        UsageError::Row { file: self.name.clone(), line: self.line, message: message.into() }
    }

    fn text(&self) -> Result<&str, UsageError> {
        str::from_utf8(&self.bytes).map_err(|_| self.error("the line is not UTF-8"))
    }
}

/// Reads a history from a file of this name.
pub(crate) fn read(
    name: String,
    reader: Box<dyn BufRead>,
    packed: &Cell<u64>,
    has_facts: bool,
) -> Result<History, UsageError> {
    let mut reader = Reader { name, reader, packed, unpacked: 0, line: 0, bytes: Vec::new() };
    let expected = "expected a header `queue,resource,from,to,amount`, or the output of `sacct -X -P` with the columns Account, \
                    AllocTRES, Start and End";
    if !reader.next()? {
        reader.line = 1;
        return Err(reader.error(format!("the file is empty: {expected}")));
    }
    let layout = layout(reader.text()?);
    let layout = layout.ok_or_else(|| reader.error(format!("found another header: {expected}")))?;
    let has_facts = has_facts && layout.facts.iter().any(Option::is_some);
    let mut history = if has_facts { History::with_facts() } else { History::new() };
    if layout.is_sacct {
        history.is_calendar = true;
        history.is_jobs = true;
        sacct(&mut reader, &layout, &mut history)?;
    } else {
        table(&mut reader, &layout, &mut history)?;
    }
    if history.n_rows == 0 {
        return Err(reader.error("no row states usage: expected at least one row with an amount"));
    }
    Ok(history)
}

/// Returns the columns that the header names, or nothing for another header.
fn layout(header: &str) -> Option<Layout> {
    let find = |names: &[String], wanted: &[&str]| -> Option<Vec<usize>> {
        wanted.iter().map(|name| names.iter().position(|of| of == name)).collect()
    };
    let names: Vec<String> = header.split('|').map(|name| name.trim().to_owned()).collect();
    if let Some(positions) = find(&names, &SACCT) {
        let job = ["JobID", "JobIDRaw"].iter().find_map(|job| names.iter().position(|of| of == job));
        return Some(Layout { positions, job, is_sacct: true, facts: [None; 2] });
    }
    let mut record = StringRecord::new();
    split(header, &mut record);
    let names: Vec<String> = record.iter().map(|name| name.trim().to_lowercase()).collect();
    let facts = FACTS.map(|wanted| names.iter().position(|of| of == wanted));
    Some(Layout { positions: find(&names, &COLUMNS)?, job: None, is_sacct: false, facts })
}

/// The fields of a line that are needed. Lines with quotes are split by the rules of CSV.
fn fields<'l>(
    line: &'l str,
    layout: &Layout,
    record: &'l mut StringRecord,
    most: usize,
) -> Option<[&'l str; 5]> {
    if !layout.is_sacct && layout.positions == [0, 1, 2, 3, 4] && !line.contains('"') {
        // The usual order, which a table of millions of rows has.
        let mut rest = line.split(',');
        let mut next = || rest.next();
        return Some([next()?, next()?, next()?, next()?, next()?]);
    }
    let mut found = [""; 5];
    let mut missing = layout.positions.len();
    let mut take = |at: usize, field: &'l str| {
        for (slot, position) in layout.positions.iter().enumerate() {
            if *position == at {
                found[slot] = field;
                missing -= 1;
            }
        }
    };
    if layout.is_sacct || !line.contains('"') {
        let separator = if layout.is_sacct { '|' } else { ',' };
        line.split(separator).take(most + 1).enumerate().for_each(|(at, field)| take(at, field));
    } else {
        split(line, record);
        let record: &'l StringRecord = record;
        record.iter().take(most + 1).enumerate().for_each(|(at, field)| take(at, field));
    }
    (missing == 0).then_some(found)
}

/// Returns the position of the fact that a line of a table states. `known` has the facts so far by their text.
fn fact(
    reader: &Reader<'_>,
    layout: &Layout,
    known: &mut HashMap<String, u32>,
    history: &mut History,
) -> Result<u32, UsageError> {
    let line = reader.text()?;
    let mut record = StringRecord::new();
    let is_quoted = line.contains('"');
    if is_quoted {
        split(line, &mut record);
    }
    let field = |at: Option<usize>| {
        let found = at.map(|at| if is_quoted { record.get(at) } else { line.split(',').nth(at) });
        found.flatten().unwrap_or_default().trim()
    };
    let texts = layout.facts.map(field);
    let key = texts.join("\0");
    if let Some(at) = known.get(&key) {
        return Ok(*at);
    }
    let number = |column: usize| {
        if texts[column].is_empty() {
            return Ok(None);
        }
        let name = FACTS[column];
        let value =
            parse_quantity(texts[column]).map_err(|error| reader.error(format!("{name}: {error}")))?;
        if value < 0 {
            let found = shown(texts[column]);
            return Err(reader.error(format!("{name}: {found} is negative; expected at least 0")));
        }
        Ok(Some(value))
    };
    let fact = Fact { fair_share: number(0)?, wants: number(1)?.map(|waiting| waiting > 0) };
    let at = history.position_of(&fact);
    known.insert(key, at);
    Ok(at)
}

fn time(reader: &Reader<'_>, what: &str, text: &str) -> Result<i64, UsageError> {
    time_of(text.trim().as_bytes(), false)
        .ok_or_else(|| reader.error(format!("{what}: found `{}`, expected {EXPECTED_TIME}", shown(text))))
}

fn table(reader: &mut Reader<'_>, layout: &Layout, history: &mut History) -> Result<(), UsageError> {
    let most = layout.positions.iter().copied().max().unwrap_or_default();
    let mut record = StringRecord::new();
    let mut is_first = true;
    let mut known = HashMap::new();
    // The times of the row before as text, and as numbers: tables are often sorted by time.
    let mut last = (String::new(), String::new(), (0, 0));
    while reader.next()? {
        if reader.line.is_multiple_of(1024) {
            charge(1024 * ROW, "rows of the history");
        }
        let line = reader.text()?;
        let Some([queue, resource, from, to, amount]) = fields(line, layout, &mut record, most) else {
            return Err(reader.error("a column is missing: expected queue, resource, from, to and amount"));
        };
        if queue.is_empty() || resource.is_empty() {
            let what = if queue.is_empty() { "queue" } else { "resource" };
            return Err(reader.error(format!("{what}: the name is empty")));
        }
        let is_known = last.0 == from && last.1 == to && !is_first;
        let span = if is_known { last.2 } else { (time(reader, "from", from)?, time(reader, "to", to)?) };
        if !is_known {
            from.clone_into(&mut last.0);
            to.clone_into(&mut last.1);
            last.2 = span;
        }
        if span.1 < span.0 {
            let (from, to) = (shown(from), shown(to));
            return Err(
                reader.error(format!("to: {to} is before {from}: a row must not end before it begins"))
            );
        }
        if !is_known {
            let is_calendar = from.contains(':');
            let is_mixed = to.contains(':') != is_calendar || !is_first && history.is_calendar != is_calendar;
            history.is_calendar = is_calendar;
            is_first = false;
            if is_mixed {
                return Err(reader
                    .error("from: seconds and dates are mixed: write all times in one of the two forms"));
            }
        }
        let is_short = (1..=18).contains(&amount.len()) && amount.bytes().all(|byte| byte.is_ascii_digit());
        if is_short {
            let whole = amount.bytes().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
            history.push(queue, resource, span, Ok(whole));
            if history.has_facts {
                let fact = fact(reader, layout, &mut known, history)?;
                history.state_at(fact, true);
            }
            continue;
        }
        let value =
            parse_quantity(amount.trim()).map_err(|error| reader.error(format!("amount: {error}")))?;
        if value < 0 {
            let amount = shown(amount);
            return Err(reader.error(format!("amount: {amount} is negative; amounts must be at least 0")));
        }
        let whole = value.numer().to_i64().filter(|_| value.is_integer());
        history.push(queue, resource, span, whole.ok_or(&value));
        if history.has_facts {
            let fact = fact(reader, layout, &mut known, history)?;
            history.state_at(fact, whole.is_some());
        }
    }
    Ok(())
}

fn sacct(reader: &mut Reader<'_>, layout: &Layout, history: &mut History) -> Result<(), UsageError> {
    let most = layout.positions.iter().copied().max().unwrap_or_default();
    let mut record = StringRecord::new();
    while reader.next()? {
        charge(ROW, "rows of the history");
        let line = reader.text()?;
        if layout.job.and_then(|at| line.split('|').nth(at)).is_some_and(|job| job.contains('.')) {
            history.skipped.steps += 1;
            continue;
        }
        let Some([account, resources, start, end, _]) = fields(line, layout, &mut record, most) else {
            return Err(reader.error("a column is missing: expected Account, AllocTRES, Start and End"));
        };
        if matches!(start, "Unknown" | "None" | "") {
            history.skipped.not_started += 1;
            continue;
        }
        if resources.is_empty() {
            history.skipped.without_resources += 1;
            continue;
        }
        if account.is_empty() {
            return Err(reader.error("Account: the name is empty"));
        }
        let time = |what: &str, text: &str| {
            let expected = "a time such as 2026-01-31T12:00:00, or seconds (SLURM_TIME_FORMAT=%s)";
            time_of(text.as_bytes(), true)
                .ok_or_else(|| reader.error(format!("{what}: found `{}`, expected {expected}", shown(text))))
        };
        let from = time("Start", start)?;
        let to = if end == "Unknown" { OPEN } else { time("End", end)? };
        if to < from {
            return Err(reader.error(format!("End: {} is before the start {}", shown(end), shown(start))));
        }
        // A job of no duration used nothing.
        for resource in resources.split(',').filter(|_| from < to) {
            let (name, amount) = trackable(resource).ok_or_else(|| {
                let found = shown(resource);
                reader.error(format!(
                    "AllocTRES: found `{found}`, expected NAME=AMOUNT such as cpu=4 or mem=16G"
                ))
            })?;
            let whole = amount.numer().to_i64().filter(|_| amount.is_integer());
            history.push(account, name, (from, to), whole.ok_or(&amount));
        }
    }
    Ok(())
}

/// Reads a trackable resource of Slurm, such as `gres/gpu=2`. Memory is returned in MiB, as Slurm counts it.
fn trackable(text: &str) -> Option<(&str, Rational)> {
    let (name, amount) = text.split_once('=').filter(|(name, _)| !name.is_empty())?;
    let power = match amount.as_bytes().last()? {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        b'T' => 40,
        b'P' => 50,
        _ => 0,
    };
    let digits = if power == 0 { amount } else { &amount[..amount.len() - 1] };
    let value = evenhand_problem::number::parse(digits).ok().filter(|value| *value >= 0)?;
    let value = value << power;
    let is_bytes = power > 0 && (name == "mem" || name.starts_with("bb/") || name.starts_with("fs/"));
    Some((name, if is_bytes || name == "mem" && power > 0 { value >> 20 } else { value }))
}
