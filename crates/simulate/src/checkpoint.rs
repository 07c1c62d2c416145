//! Where a run stands, so that it can go on later as if nothing had happened.

use std::fmt::Write;
use std::time::Instant;

use evenhand_mechanisms::filling::Draw;
use serde_json::{Value, json};

use crate::duration::Duration;
use crate::error::SimulateError;

/// `kind` of the file.
const KIND: &str = "simulation-checkpoint";
/// What the words mean may change from one version to the next.
const VERSION: u64 = 5;

/// The whole state of a run between two times.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// What is simulated; a run of anything else cannot go on from here.
    pub(crate) of: u64,
    /// Time up to which everything has happened.
    pub time: f64,
    /// Events so far.
    pub events: u64,
    /// Everything else: numbers, times as the bits of doubles.
    pub(crate) words: Vec<u64>,
}

/// What happens while a run goes on.
pub trait Observer {
    /// Events between two looks.
    fn every(&self) -> u64 {
        1 << 16
    }

    /// When the run stops with what it has, if it is not done before. It is looked at then.
    fn until(&self) -> Option<Instant> {
        None
    }

    /// Looks at the run; `checkpoint` makes a checkpoint of it. Says whether it goes on.
    ///
    /// # Errors
    /// Whatever ends the run.
    fn look(
        &mut self,
        time: f64,
        events: u64,
        checkpoint: &mut dyn FnMut() -> Checkpoint,
    ) -> Result<bool, SimulateError>;
}

/// Tells the time and the number of events, and lets the run go on.
impl<F: FnMut(f64, u64)> Observer for F {
    fn look(
        &mut self,
        time: f64,
        events: u64,
        _: &mut dyn FnMut() -> Checkpoint,
    ) -> Result<bool, SimulateError> {
        self(time, events);
        Ok(true)
    }
}

impl Checkpoint {
    /// The checkpoint as a file.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A word has at most 20 digits, and a comma.
        evenhand_budget::room(21 * self.words.len() as u64, "the checkpoint");
        let document = json!({
            "kind": KIND, "version": VERSION, "of": self.of, "time": self.time.to_bits(), "events": self.events,
            "check": digest(self.words.iter().flat_map(|word| word.to_le_bytes())),
        });
        let mut text = document.to_string();
        text.pop();
        text.push_str(",\"words\":[");
        for (at, word) in self.words.iter().enumerate() {
            // Writing into a string does not fail.
            let _ = write!(text, "{}{word}", if at > 0 { "," } else { "" });
        }
        text.push_str("]}");
        text
    }

    /// Reads what [`Checkpoint::to_json`] wrote.
    ///
    /// # Errors
    /// [`SimulateError::Checkpoint`]: it is none, or damaged.
    pub fn from_json(text: &str) -> Result<Self, SimulateError> {
        let bad = |why: &str| SimulateError::Checkpoint(why.to_owned());
        // A word of one digit and its comma become a value of 32 bytes and a number of 8.
        evenhand_budget::room(20 * text.len() as u64, "the checkpoint");
        let document: Value = serde_json::from_str(text)
            .map_err(|error| SimulateError::Checkpoint(format!("is cut off or damaged: {error}")))?;
        if document["kind"] != KIND {
            return Err(bad("is no checkpoint of a simulation"));
        }
        if document["version"] != VERSION {
            return Err(bad("was written by another version of the program"));
        }
        let number = |name: &str| document[name].as_u64().ok_or_else(|| bad("lacks a number"));
        let words = document["words"].as_array().ok_or_else(|| bad("lacks its words"))?;
        let words: Option<Vec<u64>> = words.iter().map(Value::as_u64).collect();
        let words = words.ok_or_else(|| bad("has a word that is no number"))?;
        if number("check")? != digest(words.iter().flat_map(|word| word.to_le_bytes())) {
            return Err(bad("is damaged"));
        }
        Ok(Self {
            of: number("of")?,
            time: f64::from_bits(number("time")?),
            events: number("events")?,
            words,
        })
    }
}

/// FNV-1a.
pub(crate) fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Writes the words of a checkpoint.
#[derive(Default)]
pub(crate) struct Writer(pub Vec<u64>);

impl Writer {
    pub fn number(&mut self, value: u64) {
        self.0.push(value);
    }

    pub fn time(&mut self, value: f64) {
        self.0.push(value.to_bits());
    }

    /// The length, then every item.
    pub fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.number(items.len() as u64);
        items.for_each(|item| write(self, item));
    }

    pub fn duration(&mut self, duration: Duration) {
        let (kind, a, b) = match duration {
            Duration::Constant(time) => (0, time, 0.0),
            Duration::Exponential(mean) => (1, mean, 0.0),
            Duration::Uniform(from, to) => (2, from, to),
        };
        self.number(kind);
        self.time(a);
        self.time(b);
    }

    pub fn draw(&mut self, draw: &Draw) {
        self.number(draw.taken());
    }
}

/// Reads them.
pub(crate) struct Reader<'a>(pub &'a [u64]);

impl Reader<'_> {
    pub fn number(&mut self) -> Result<u64, SimulateError> {
        let (first, rest) = self.0.split_first().ok_or_else(Self::damaged)?;
        self.0 = rest;
        Ok(*first)
    }

    pub fn damaged() -> SimulateError {
        SimulateError::Checkpoint("does not fit the scenario".to_owned())
    }

    /// A number of 32 bits.
    pub fn small(&mut self) -> Result<u32, SimulateError> {
        u32::try_from(self.number()?).map_err(|_| Self::damaged())
    }

    /// A place in a list of so many.
    pub fn below(&mut self, len: usize) -> Result<u32, SimulateError> {
        let place = self.small()?;
        if (place as usize) < len { Ok(place) } else { Err(Self::damaged()) }
    }

    pub fn time(&mut self) -> Result<f64, SimulateError> {
        Ok(f64::from_bits(self.number()?))
    }

    pub fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, SimulateError>,
    ) -> Result<Vec<T>, SimulateError> {
        let len = self.number()?;
        // Every item has a word at least: a length that cannot be asks for no memory.
        if len > self.0.len() as u64 {
            return Err(Self::damaged());
        }
        (0..len).map(|_| read(self)).collect()
    }

    /// A list of exactly so many.
    pub fn exactly<T>(
        &mut self,
        len: usize,
        read: impl FnMut(&mut Self) -> Result<T, SimulateError>,
    ) -> Result<Vec<T>, SimulateError> {
        let items = self.list(read)?;
        if items.len() == len { Ok(items) } else { Err(Self::damaged()) }
    }

    pub fn duration(&mut self) -> Result<Duration, SimulateError> {
        let (kind, a, b) = (self.number()?, self.time()?, self.time()?);
        match kind {
            0 => Ok(Duration::Constant(a)),
            1 => Ok(Duration::Exponential(a)),
            2 => Ok(Duration::Uniform(a, b)),
            _ => Err(Self::damaged()),
        }
    }

    /// A stream of random choices at its beginning goes on where it was.
    pub fn draw(&mut self, mut draw: Draw) -> Result<Draw, SimulateError> {
        draw.skip(self.number()?);
        Ok(draw)
    }
}
