//! Readers of usage histories: CSV, the output of `sacct -P` and `sreport -P`, and range queries of Prometheus.
//!
//! A month of 300 queues with samples each minute has 13 million rows, so lines are read as bytes.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{BufRead, Read as _};
use std::str;

use csv::StringRecord;
use evenhand_budget::{charge, room};
use evenhand_import::{ImportError, MAX_LINE_BYTES, broken_limit, split};
use evenhand_problem::number::parse_quantity;
use evenhand_problem::{Rational, printable};

use crate::UsageError;
use crate::history::{Fact, History, OPEN};
use crate::prometheus;
use crate::time::{NANOSECONDS, time_of};

/// The steps of the budget that a row costs.
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
    /// The position of the job's identifier in the output of `sacct`.
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

/// Returns a field of a row for a message, at most 60 characters of it.
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

    /// Returns `true` if the first character of the file, after white space, is that of a JSON object.
    fn is_json(&mut self) -> Result<bool, UsageError> {
        let file = &self.name;
        let bytes =
            self.reader.fill_buf().map_err(|source| ImportError::Io { file: file.clone(), source })?;
        Ok(bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{'))
    }

    /// Returns the rest of the file.
    fn rest(&mut self) -> Result<Vec<u8>, UsageError> {
        /// The number of bytes of memory that a byte of JSON takes while it is read.
        const OF_BYTE: u64 = 8;
        let mut text = Vec::new();
        loop {
            let piece = (&mut self.reader).take(1 << 20).read_to_end(&mut text);
            let piece = piece.map_err(|source| ImportError::Io { file: self.name.clone(), source })?;
            if piece == 0 {
                break;
            }
            room(OF_BYTE * text.len() as u64, "the answer of Prometheus");
            if let Some(limit) = broken_limit(self.packed.get(), text.len() as u64) {
                return Err(ImportError::TooLarge { file: self.name.clone(), line: 1, limit }.into());
            }
        }
        charge(text.len() as u64, "the answer of Prometheus");
        Ok(text)
    }

    fn error(&self, message: impl Into<String>) -> UsageError {
        UsageError::Row { file: self.name.clone(), line: self.line, message: message.into() }
    }

    fn text(&self) -> Result<&str, UsageError> {
        str::from_utf8(&self.bytes).map_err(|_| self.error("the line is not UTF-8"))
    }
}

/// Reads a history from a file. `name` is the name of the file in messages.
pub(crate) fn read(
    name: String,
    reader: Box<dyn BufRead>,
    packed: &Cell<u64>,
    has_facts: bool,
) -> Result<History, UsageError> {
    let mut reader = Reader { name, reader, packed, unpacked: 0, line: 0, bytes: Vec::new() };
    let expected = "expected a header `queue,resource,from,to,amount`, the output of `sacct -X -P` with the columns Account, \
                    AllocTRES, Start and End, that of `sreport -P`, or the answer of a range query of Prometheus";
    if reader.is_json()? {
        let text = reader.rest()?;
        let mut history = History::new();
        prometheus::read(&reader.name, &text, &mut history)?;
        return Ok(history);
    }
    if !reader.next()? {
        reader.line = 1;
        return Err(reader.error(format!("the file is empty: {expected}")));
    }
    if reader.bytes.starts_with(RULE) {
        let mut history = History::new();
        sreport(&mut reader, &mut history)?;
        return Ok(history);
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

/// Returns the positions of the columns that the header names. Returns `None` for an unknown header.
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

/// The texts of a line: the needed columns in the order of [`COLUMNS`] or [`SACCT`], and the facts. The facts
/// are empty if the table has no such columns.
struct Fields<'l> {
    columns: [&'l str; 5],
    facts: Facts<'l>,
}

/// The texts of the columns [`FACTS`] in a line.
enum Facts<'l> {
    Split([&'l str; 2]),
    /// The text after the fifth column, which has not been split.
    Rest(&'l str),
}

impl<'l> Facts<'l> {
    fn split(&self, layout: &Layout) -> [&'l str; 2] {
        match self {
            Self::Split(texts) => *texts,
            Self::Rest(rest) => {
                let text = |at: Option<usize>| at.and_then(|at| rest.split(',').nth(at - 5));
                layout.facts.map(|at| text(at).unwrap_or_default().trim())
            }
        }
    }
}

/// Splits a line into the fields that are needed. Lines with quotes are split by the rules of CSV. Returns
/// `None` if a needed column is missing.
fn fields<'l>(
    line: &'l str,
    layout: &Layout,
    record: &'l mut StringRecord,
    most: usize,
) -> Option<Fields<'l>> {
    let (mut columns, mut facts) = ([""; 5], [""; 2]);
    let mut missing = layout.positions.len();
    let mut take = |at: usize, field: &'l str| {
        if layout.facts[0] == Some(at) {
            facts[0] = field.trim();
        } else if layout.facts[1] == Some(at) {
            facts[1] = field.trim();
        }
        for (slot, position) in layout.positions.iter().enumerate() {
            if *position == at {
                columns[slot] = field;
                missing -= 1;
            }
        }
    };
    if !layout.is_sacct && layout.positions == [0, 1, 2, 3, 4] && !line.contains('"') {
        // A table of millions of rows has its columns in the usual order, which is split faster.
        let mut rest = line.splitn(6, ',');
        let mut next = || rest.next();
        let columns = [next()?, next()?, next()?, next()?, next()?];
        return Some(Fields { columns, facts: Facts::Rest(next().unwrap_or_default()) });
    }
    if layout.is_sacct || !line.contains('"') {
        let separator = if layout.is_sacct { '|' } else { ',' };
        line.split(separator).take(most + 1).enumerate().for_each(|(at, field)| take(at, field));
    } else {
        split(line, record);
        let record: &'l StringRecord = record;
        record.iter().take(most + 1).enumerate().for_each(|(at, field)| take(at, field));
    }
    (missing == 0).then_some(Fields { columns, facts: Facts::Split(facts) })
}

/// The facts of a table that were read so far. The key is the texts of their columns.
#[derive(Default)]
struct KnownFacts {
    by_text: HashMap<String, u32>,
    /// The key of a look-up, stored to avoid an allocation for each row.
    key: String,
    /// The unsplit text of the last row and its fact, indexed by series. Facts change rarely from row to row
    /// of a queue.
    last: Vec<(String, u32)>,
}

/// Returns the position of the fact of the row that was added last.
fn fact(
    reader: &Reader<'_>,
    layout: &Layout,
    facts: &Facts<'_>,
    known: &mut KnownFacts,
    history: &mut History,
) -> Result<u32, UsageError> {
    let Facts::Rest(rest) = facts else { return stated(reader, facts.split(layout), known, history) };
    let series = history.last_series();
    if known.last.len() <= series {
        known.last.resize_with(series + 1, || (String::new(), u32::MAX));
    }
    let (text, at) = &known.last[series];
    if *at != u32::MAX && text == rest {
        return Ok(*at);
    }
    let at = stated(reader, facts.split(layout), known, history)?;
    let last = &mut known.last[series];
    (*rest).clone_into(&mut last.0);
    last.1 = at;
    Ok(at)
}

/// Returns the position of the fact that these texts state.
fn stated(
    reader: &Reader<'_>,
    texts: [&str; 2],
    known: &mut KnownFacts,
    history: &mut History,
) -> Result<u32, UsageError> {
    known.key.clear();
    known.key.push_str(texts[0]);
    known.key.push('\0');
    known.key.push_str(texts[1]);
    if let Some(at) = known.by_text.get(&known.key) {
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
    known.by_text.insert(known.key.clone(), at);
    Ok(at)
}

fn time(reader: &Reader<'_>, what: &str, text: &str) -> Result<i64, UsageError> {
    time_of(text.trim().as_bytes(), false)
        .ok_or_else(|| reader.error(format!("{what}: found `{}`, expected {EXPECTED_TIME}", shown(text))))
}

fn table(reader: &mut Reader<'_>, layout: &Layout, history: &mut History) -> Result<(), UsageError> {
    let facts = if history.has_facts { layout.facts } else { [None; 2] };
    let most = layout.positions.iter().copied().chain(facts.into_iter().flatten()).max().unwrap_or_default();
    let mut record = StringRecord::new();
    let mut is_first = true;
    let mut known = KnownFacts::default();
    // The times of the previous row as text and as numbers, because tables are often sorted by time.
    let mut last = (String::new(), String::new(), (0, 0));
    while reader.next()? {
        if reader.line.is_multiple_of(1024) {
            charge(1024 * ROW, "rows of the history");
        }
        let line = reader.text()?;
        let Some(Fields { columns: [queue, resource, from, to, amount], facts }) =
            fields(line, layout, &mut record, most)
        else {
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
                let fact = fact(reader, layout, &facts, &mut known, history)?;
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
            let fact = fact(reader, layout, &facts, &mut known, history)?;
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
        let Some(Fields { columns: [account, resources, start, end, _], .. }) =
            fields(line, layout, &mut record, most)
        else {
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
        // The usage of a job without a duration is 0.
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

/// The beginning of the line before and after the title of a report of `sreport`.
const RULE: &[u8] = b"--------";

/// Reads the output of `sreport -P cluster AccountUtilizationByUser` after its first line. Each row states
/// the usage of a user of an account in the whole period. The average over the period counts as the usage
/// throughout the period.
fn sreport(reader: &mut Reader<'_>, history: &mut History) -> Result<(), UsageError> {
    let (mut period, mut unit) = (None, None);
    loop {
        if !reader.next()? {
            return Err(reader.error("the report of sreport has no rows: its title has no end"));
        }
        if reader.bytes.starts_with(RULE) {
            break;
        }
        let line = reader.text()?.trim();
        if let Some(rest) = line.strip_prefix("Usage reported in ") {
            unit =
                ["Seconds", "Minutes", "Hours"].iter().zip([1_i64, 60, 3600]).find_map(|(name, seconds)| {
                    rest.split_whitespace().any(|word| word == *name).then_some(seconds)
                });
            if unit.is_none() {
                let found = shown(rest);
                return Err(
                    reader.error(format!("found usage in `{found}`: expected seconds (sreport -t Seconds)"))
                );
            }
        } else if let Some(found) = period_of(line) {
            period = Some(found);
        }
    }
    let Some((from, to)) = period.filter(|(from, to)| from < to) else {
        return Err(reader.error(
            "the title of the report names no period such as 2026-01-01T00:00:00 - 2026-01-31T23:59:59",
        ));
    };
    let Some(unit) = unit else {
        return Err(reader.error("the title of the report has no line `Usage reported in ...`"));
    };
    let expected = "expected the columns Account, Login and Used, such as those of `sreport -P cluster \
                    AccountUtilizationByUser -t Seconds -T gres/gpu`";
    if !reader.next()? {
        return Err(reader.error(format!("the report has no header: {expected}")));
    }
    let names: Vec<String> = reader.text()?.split('|').map(|name| name.trim().to_owned()).collect();
    let position = |wanted: &str| names.iter().position(|name| name == wanted);
    let [Some(account), Some(login), Some(used)] = ["Account", "Login", "Used"].map(position) else {
        return Err(reader.error(format!("found another header: {expected}")));
    };
    let resource = position("TRES Name");
    history.is_calendar = true;
    while reader.next()? {
        charge(ROW, "rows of the history");
        let line = reader.text()?;
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        // A row without a user is the sum of the rows of an account and of the accounts below it.
        if field(login).is_empty() {
            continue;
        }
        if field(account).is_empty() {
            return Err(reader.error("Account: the name is empty"));
        }
        let resource = resource.map_or("cpu", field);
        if resource.is_empty() {
            return Err(reader.error("TRES Name: the name is empty"));
        }
        let amount = evenhand_problem::number::parse(field(used)).ok().filter(|amount| *amount >= 0);
        let amount = amount.ok_or_else(|| {
            reader.error(format!("Used: found `{}`, expected a number of at least 0", shown(field(used))))
        })?;
        let average = amount * unit * NANOSECONDS / (to - from);
        let whole = average.numer().to_i64().filter(|_| average.is_integer());
        history.push(field(account), resource, (from, to), whole.ok_or(&average));
    }
    if history.n_rows == 0 {
        return Err(
            reader.error("no row has a user: the rows of accounts add up their users and are not counted")
        );
    }
    Ok(())
}

/// Returns the period in the title of a report of `sreport`. The title states the last second of the period
/// as its end.
fn period_of(title: &str) -> Option<(i64, i64)> {
    let words: Vec<&str> = title.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "-")?;
    let time = |at: usize| time_of(words.get(at)?.as_bytes(), true);
    let (from, to) = (time(at.checked_sub(1)?)?, time(at + 1)?);
    Some((from, to + NANOSECONDS))
}

/// Reads a trackable resource of Slurm, such as `gres/gpu=2`. Memory is returned in MiB, which is Slurm's
/// unit.
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
