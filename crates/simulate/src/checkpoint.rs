//! Checkpoints: the state of a run, from which the run can continue as if it had never been interrupted.

use std::collections::VecDeque;
use std::fmt::Write;
use std::time::Instant;

use serde_json::{Value, json};

use crate::duration::Duration;
use crate::error::SimulateError;

/// The `kind` of a checkpoint file.
const KIND: &str = "simulation-checkpoint";
/// The version of the format. It changes when the meaning of the stored words changes.
const VERSION: u64 = 5;

/// The whole state of a run between two times at which events happen.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// A digest of the scenario and the settings. A run with another digest cannot continue from this
    /// checkpoint.
    pub(crate) of: u64,
    /// The time up to which all events have happened, in the time unit of the scenario.
    pub time: f64,
    /// The number of events so far.
    pub events: u64,
    /// The rest of the state as numbers. Times are stored as the bits of doubles.
    pub(crate) words: Vec<u64>,
}

/// An observer of a run, which can make checkpoints and stop the run.
pub trait Observer {
    /// Returns the number of events between two calls of [`look`](Self::look).
    fn every(&self) -> u64 {
        1 << 16
    }

    /// Returns the moment at which an unfinished run stops with its results so far, or `None` if there is no
    /// such moment. The run calls [`look`](Self::look) at this moment.
    fn until(&self) -> Option<Instant> {
        None
    }

    /// Observes the run at the simulated time `time`, after `events` events. `checkpoint` makes a checkpoint
    /// of the run. Returns whether the run continues.
    ///
    /// # Errors
    /// Any error ends the run.
    fn look(
        &mut self,
        time: f64,
        events: u64,
        checkpoint: &mut dyn FnMut() -> Checkpoint,
    ) -> Result<bool, SimulateError>;
}

/// Receives the time and the number of events, and always lets the run continue.
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
    /// Returns the checkpoint as the text of a JSON file.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A word has at most 20 digits and a comma.
        evenhand_budget::room(21 * self.words.len() as u64, "the checkpoint");
        let document = json!({
            "kind": KIND, "version": VERSION, "of": self.of, "time": self.time.to_bits(), "events": self.events,
            "check": digest(self.words.iter().flat_map(|word| word.to_le_bytes())),
        });
        let mut text = document.to_string();
        text.pop();
        text.push_str(",\"words\":[");
        for (at, word) in self.words.iter().enumerate() {
            // Writing to a string never fails.
            let _ = write!(text, "{}{word}", if at > 0 { "," } else { "" });
        }
        text.push_str("]}");
        text
    }

    /// Reads a checkpoint that [`Checkpoint::to_json`] wrote.
    ///
    /// # Errors
    /// Returns [`SimulateError::Checkpoint`] if the text is not a checkpoint, or is damaged.
    pub fn from_json(text: &str) -> Result<Self, SimulateError> {
        let bad = |why: &str| SimulateError::Checkpoint(why.to_owned());
        // A word with one digit takes two bytes of text. It becomes a value of 32 bytes and a number of 8 bytes.
        evenhand_budget::room(20 * text.len() as u64, "the checkpoint");
        let document: Value = serde_json::from_str(text)
            .map_err(|error| SimulateError::Checkpoint(format!("is cut off or damaged: {error}")))?;
        if document["kind"] != KIND {
            return Err(bad("is not a checkpoint of a simulation"));
        }
        if document["version"] != VERSION {
            return Err(bad("was written by another version of the program"));
        }
        let number = |name: &str| document[name].as_u64().ok_or_else(|| bad("lacks a number"));
        let words =
            document["words"].as_array().ok_or_else(|| bad("lacks the state of the random numbers"))?;
        let words: Option<Vec<u64>> = words.iter().map(Value::as_u64).collect();
        let words = words.ok_or_else(|| bad("has an entry that is not a number"))?;
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

/// Returns the FNV-1a hash of the bytes.
pub(crate) fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A value that a checkpoint stores as 64-bit words: numbers, and times as the bits of doubles.
pub(crate) trait Words: Sized {
    fn save(&self, to: &mut Vec<u64>);

    /// Restores the value that [`save`](Self::save) wrote.
    fn restore(from: &mut Reader<'_>) -> Result<Self, SimulateError>;
}

/// Implements `Words` for a structure. Its words are the words of the listed fields, in this order.
macro_rules! words {
    ($type:ty { $($field:ident),* }) => {
        impl crate::checkpoint::Words for $type {
            fn save(&self, to: &mut Vec<u64>) {
                $(crate::checkpoint::Words::save(&self.$field, to);)*
            }

            fn restore(from: &mut crate::checkpoint::Reader<'_>) -> Result<Self, crate::SimulateError> {
                Ok(Self { $($field: from.read()?),* })
            }
        }
    };
}
pub(crate) use words;

/// A reader of the 64-bit words of a checkpoint.
pub(crate) struct Reader<'a>(pub &'a [u64]);

impl Reader<'_> {
    /// Reads the next value.
    pub fn read<T: Words>(&mut self) -> Result<T, SimulateError> {
        T::restore(self)
    }

    /// Returns the error for words that are well-formed but do not fit the scenario.
    pub fn damaged() -> SimulateError {
        SimulateError::Checkpoint("does not fit the scenario".to_owned())
    }

    /// Returns the error [`damaged`](Self::damaged) if `fits` is false.
    pub fn check(fits: bool) -> Result<(), SimulateError> {
        if fits { Ok(()) } else { Err(Self::damaged()) }
    }
}

/// Writes the number of items, followed by the items.
pub(crate) fn list<T>(
    to: &mut Vec<u64>,
    items: impl ExactSizeIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u64>, T),
) {
    to.push(items.len() as u64);
    items.for_each(|item| write(to, item));
}

impl Words for u64 {
    fn save(&self, to: &mut Vec<u64>) {
        to.push(*self);
    }

    fn restore(from: &mut Reader<'_>) -> Result<Self, SimulateError> {
        let (first, rest) = from.0.split_first().ok_or_else(Reader::damaged)?;
        from.0 = rest;
        Ok(*first)
    }
}

impl Words for u32 {
    fn save(&self, to: &mut Vec<u64>) {
        to.push(u64::from(*self));
    }

    fn restore(from: &mut Reader<'_>) -> Result<Self, SimulateError> {
        u64::restore(from)?.try_into().map_err(|_| Reader::damaged())
    }
}

impl Words for f64 {
    fn save(&self, to: &mut Vec<u64>) {
        to.push(self.to_bits());
    }

    fn restore(from: &mut Reader<'_>) -> Result<Self, SimulateError> {
        from.read().map(Self::from_bits)
    }
}

/// Stores `None` as 0, and a number as the number plus 1.
impl Words for Option<u64> {
    fn save(&self, to: &mut Vec<u64>) {
        to.push(self.map_or(0, |number| 1 + number));
    }

    fn restore(from: &mut Reader<'_>) -> Result<Self, SimulateError> {
        Ok(u64::restore(from)?.checked_sub(1))
    }
}

impl<A: Words, B: Words> Words for (A, B) {
    fn save(&self, to: &mut Vec<u64>) {
        self.0.save(to);
        self.1.save(to);
    }

    fn restore(from: &mut Reader<'_>) -> Result<Self, SimulateError> {
        Ok((from.read()?, from.read()?))
    }
}

impl<T: Words> Words for Vec<T> {
    fn save(&self, to: &mut Vec<u64>) {
        list(to, self.iter(), |to, item| item.save(to));
    }

    fn restore(from: &mut Reader<'_>) -> Result<Self, SimulateError> {
        let len: u64 = from.read()?;
        // Every item has at least one word. An impossible length must not reserve memory.
        Reader::check(len <= from.0.len() as u64)?;
        (0..len).map(|_| from.read()).collect()
    }
}

impl<T: Words> Words for VecDeque<T> {
    fn save(&self, to: &mut Vec<u64>) {
        list(to, self.iter(), |to, item| item.save(to));
    }

    fn restore(from: &mut Reader<'_>) -> Result<Self, SimulateError> {
        Vec::restore(from).map(Into::into)
    }
}

impl Words for Duration {
    fn save(&self, to: &mut Vec<u64>) {
        let (kind, bounds): (u64, _) = match *self {
            Self::Constant(time) => (0, (time, 0.0)),
            Self::Exponential(mean) => (1, (mean, 0.0)),
            Self::Uniform(from, to) => (2, (from, to)),
        };
        (kind, bounds).save(to);
    }

    fn restore(from: &mut Reader<'_>) -> Result<Self, SimulateError> {
        let (kind, (a, b)): (u64, (f64, f64)) = from.read()?;
        match kind {
            0 => Ok(Self::Constant(a)),
            1 => Ok(Self::Exponential(a)),
            2 => Ok(Self::Uniform(a, b)),
            _ => Err(Reader::damaged()),
        }
    }
}
