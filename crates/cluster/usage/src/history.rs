//! A usage history: rows that state the amount of a resource that a queue used in a span of time.

use std::collections::HashMap;
use std::io::BufRead;

use evenhand_import::Input;
use evenhand_problem::Rational;

use crate::UsageError;
use crate::read;

/// The numbers of rows of a table that do not count as usage, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Skipped {
    /// Jobs without a start.
    pub not_started: u64,
    /// Steps of jobs, which repeat the usage of their job.
    pub steps: u64,
    /// Jobs to which no resources were allocated.
    pub without_resources: u64,
}

/// The facts about fairness that a row states, in addition to the amount that the queue used.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Fact {
    /// The fair share of the queue, if it is known.
    pub fair_share: Option<Rational>,
    /// True if the queue wanted more of the resource. `None` if that is not known.
    pub wants: Option<bool>,
}

/// The position of a fact in its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactNumber(u32);

/// A span of time for which a history has no samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The beginning of the span, in nanoseconds.
    pub from: i64,
    /// The end of the span, in nanoseconds.
    pub to: i64,
    /// The reason why the history has no samples.
    pub reason: String,
}

/// The usage of one resource by one queue.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series {
    /// The spans of the rows whose amount is a whole number below 2^63, as positions in [`History::spans`],
    /// in the order of the file.
    pub(crate) spans: Vec<u32>,
    /// The amounts of the rows in `spans`, in the same order.
    pub(crate) amounts: Vec<i64>,
    /// The span and the amount of all other rows. The span is a position in [`History::spans`].
    pub(crate) others: Vec<(u32, Rational)>,
    /// The facts of the rows in `spans`, as positions in [`History::facts`]. Empty if the history states no
    /// facts.
    pub(crate) facts: Vec<u32>,
    /// The facts of the rows in `others`, in the same order.
    pub(crate) other_facts: Vec<u32>,
}

/// Usage by queue, resource and time. Times are in nanoseconds.
///
/// A row states the amount of a resource that a queue used from one time to another. If both times of a row are equal,
/// its amount is an amount times seconds (such as GPU-seconds) that was used at that moment.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// The names of the queues, in the order of their first rows.
    pub queues: Vec<String>,
    /// The names of the resources, in the order of their first rows.
    pub resources: Vec<String>,
    /// True if times are dates (RFC 3339). False if they are seconds.
    pub is_calendar: bool,
    /// The rows that were skipped.
    pub skipped: Skipped,
    /// The number of rows that state usage.
    pub n_rows: u64,
    /// True if the rows are rounds of a watch, in which every queue of the cluster has its rows.
    pub is_watched: bool,
    /// The spans of time without samples for which the reason is known.
    pub gaps: Vec<Gap>,
    /// True if the rows are jobs. Then a time without rows is a time without jobs.
    pub(crate) is_jobs: bool,
    /// True if the rows state facts.
    pub(crate) has_facts: bool,
    /// The distinct facts.
    pub(crate) facts: Vec<Fact>,
    fact_of: HashMap<Fact, u32>,
    /// The beginning and the end of rows. Each pair is in the list once.
    pub(crate) spans: Vec<(i64, i64)>,
    /// The queue and the resource of each series, as positions in `queues` and `resources`.
    pub(crate) keys: Vec<(usize, usize)>,
    /// One series for each key.
    pub(crate) series: Vec<Series>,
    key_of: HashMap<(usize, usize), usize>,
    span_of: HashMap<(i64, i64), u32>,
    queue_of: HashMap<String, usize>,
    resource_of: HashMap<String, usize>,
    /// A guess of the next row's key, indexed by the key of the last row. It is the key of the row that last
    /// followed a row of this key. The guess is mostly right in sorted tables.
    next_key: Vec<usize>,
    next_span: Vec<u32>,
    last_key: usize,
    last_span: u32,
}

fn interned(name: &str, names: &mut Vec<String>, positions: &mut HashMap<String, usize>) -> usize {
    if let Some(at) = positions.get(name) {
        return *at;
    }
    names.push(name.to_owned());
    positions.insert(name.to_owned(), names.len() - 1);
    names.len() - 1
}

/// The end of the row of a job that is still running.
pub(crate) const OPEN: i64 = i64::MAX;

impl History {
    /// Returns an empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns an empty history whose rows also state fair shares, and whether queues wanted more of a resource.
    #[must_use]
    pub fn with_facts() -> Self {
        Self { has_facts: true, ..Self::default() }
    }

    /// Reads a table. The table is CSV with the columns `queue`, `resource`, `from`, `to` and `amount`, or
    /// the output of Slurm's `sacct -P` with the columns `Account`, `AllocTRES`, `Start` and `End`. The
    /// header says which of these two formats it is. Other columns are ignored.
    ///
    /// # Errors
    /// [`UsageError`] with file and line for a row that cannot be read, and for a table without usage.
    pub fn read(input: Input) -> Result<Self, UsageError> {
        let (name, reader, packed) = input.parts();
        let reader: Box<dyn BufRead> = Box::new(std::io::BufReader::with_capacity(1 << 20, reader));
        read::read(name, reader, &packed, false)
    }

    /// Reads a table as [`History::read`] does, and also the columns `fair_share` and `waiting` if it has them.
    ///
    /// # Errors
    /// The same errors as [`History::read`].
    pub fn read_with_facts(input: Input) -> Result<Self, UsageError> {
        let (name, reader, packed) = input.parts();
        let reader: Box<dyn BufRead> = Box::new(std::io::BufReader::with_capacity(1 << 20, reader));
        read::read(name, reader, &packed, true)
    }

    /// Adds a row without a fact.
    ///
    /// # Errors
    /// [`UsageError::Setting`] if the row ends before it begins, or its amount is negative.
    pub fn add(
        &mut self,
        queue: &str,
        resource: &str,
        (from, to): (i64, i64),
        amount: &Rational,
    ) -> Result<(), UsageError> {
        if to < from {
            return Err(UsageError::Setting("a row ends before it begins".to_owned()));
        }
        if *amount < 0 {
            return Err(UsageError::Setting("an amount is negative".to_owned()));
        }
        let whole = amount.numer().to_i64().filter(|_| amount.is_integer());
        self.push(queue, resource, (from, to), whole.ok_or(amount));
        if self.has_facts {
            let none = self.position_of(&Fact::default());
            self.state_at(none, whole.is_some());
        }
        Ok(())
    }

    /// Adds a row with a fact to a history of [`History::with_facts`].
    ///
    /// # Errors
    /// The errors of [`History::add`]. [`UsageError::Setting`] also if the fair share is negative, or if the
    /// history has no facts.
    pub fn add_with_fact(
        &mut self,
        queue: &str,
        resource: &str,
        span: (i64, i64),
        amount: &Rational,
        fact: &Fact,
    ) -> Result<(), UsageError> {
        if !self.has_facts {
            return Err(UsageError::Setting("the rows of the history state no facts".to_owned()));
        }
        if fact.fair_share.as_ref().is_some_and(|share| *share < 0) {
            return Err(UsageError::Setting("a fair share is negative".to_owned()));
        }
        self.add(queue, resource, span, amount)?;
        let at = self.position_of(fact);
        let is_whole = amount.is_integer() && amount.numer().to_i64().is_some();
        let series = &mut self.series[self.last_key];
        let facts = if is_whole { &mut series.facts } else { &mut series.other_facts };
        if let Some(last) = facts.last_mut() {
            *last = at;
        }
        Ok(())
    }

    /// Returns the number of a fact. A fact that is not in the history is added to it.
    pub fn fact(&mut self, fact: &Fact) -> FactNumber {
        FactNumber(self.position_of(fact))
    }

    /// Adds a row that is known to be valid: it does not end before it begins, and its amount is not
    /// negative. The fact must belong to this history, which must come from [`History::with_facts`]. This
    /// function is faster than [`History::add_with_fact`].
    pub fn add_checked(
        &mut self,
        queue: &str,
        resource: &str,
        span: (i64, i64),
        amount: Result<i64, &Rational>,
        FactNumber(fact): FactNumber,
    ) {
        debug_assert!(self.has_facts && (fact as usize) < self.facts.len());
        self.push(queue, resource, span, amount);
        self.state_at(fact, amount.is_ok());
    }

    /// Returns the position of a fact in [`History::facts`]. A fact that is not in the list is added to it.
    pub(crate) fn position_of(&mut self, fact: &Fact) -> u32 {
        if let Some(at) = self.fact_of.get(fact) {
            return *at;
        }
        let at = self.facts.len() as u32;
        self.facts.push(fact.clone());
        self.fact_of.insert(fact.clone(), at);
        at
    }

    /// Returns the number of the series of the row that was added last.
    pub(crate) fn last_series(&self) -> usize {
        self.last_key
    }

    /// Sets the fact of the row that was added last.
    pub(crate) fn state_at(&mut self, fact: u32, is_whole: bool) {
        let series = &mut self.series[self.last_key];
        if is_whole { &mut series.facts } else { &mut series.other_facts }.push(fact);
    }

    /// Adds a row whose values have been checked.
    pub(crate) fn push(
        &mut self,
        queue: &str,
        resource: &str,
        span: (i64, i64),
        amount: Result<i64, &Rational>,
    ) {
        let key = self.key(queue, resource);
        let span = self.span(span);
        let series = &mut self.series[key];
        match amount {
            Ok(whole) => {
                series.spans.push(span);
                series.amounts.push(whole);
            }
            Err(other) => series.others.push((span, other.clone())),
        }
        self.n_rows += 1;
    }

    fn key(&mut self, queue: &str, resource: &str) -> usize {
        if let Some(guess) = self.next_key.get(self.last_key).copied() {
            let (q, r) = self.keys[guess];
            if self.queues[q] == queue && self.resources[r] == resource {
                self.last_key = guess;
                return guess;
            }
        }
        let q = interned(queue, &mut self.queues, &mut self.queue_of);
        let r = interned(resource, &mut self.resources, &mut self.resource_of);
        let key = match self.key_of.get(&(q, r)) {
            Some(key) => *key,
            None => {
                self.keys.push((q, r));
                self.series.push(Series::default());
                self.next_key.push(self.keys.len() - 1);
                self.key_of.insert((q, r), self.keys.len() - 1);
                self.keys.len() - 1
            }
        };
        self.next_key[self.last_key] = key;
        self.last_key = key;
        key
    }

    fn span(&mut self, span: (i64, i64)) -> u32 {
        let last = self.last_span as usize;
        if let Some(guess) = self.next_span.get(last).copied()
            && self.spans[guess as usize] == span
        {
            self.last_span = guess;
            return guess;
        }
        let at = match self.span_of.get(&span) {
            Some(at) => *at,
            None => {
                // A table has at most 2^30 bytes and each row has several bytes, so the number of spans fits into 32
                // bits.
                let at = self.spans.len() as u32;
                self.spans.push(span);
                self.next_span.push(at);
                self.span_of.insert(span, at);
                at
            }
        };
        self.next_span[last] = at;
        self.last_span = at;
        at
    }

    /// Returns the latest known end of a row, or the latest beginning of a row if no known end is later.
    /// Returns `None` for an empty history.
    #[must_use]
    pub fn latest(&self) -> Option<i64> {
        self.spans.iter().map(|(from, to)| if *to == OPEN { *from } else { *to }).max()
    }

    /// Returns `true` if some row has no end.
    #[must_use]
    pub fn has_open_rows(&self) -> bool {
        self.spans.iter().any(|(_, to)| *to == OPEN)
    }
}
