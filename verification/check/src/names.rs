//! Names of resources, server classes and users, and the reading of objects whose fields have these names.

use std::collections::HashMap;

use rug::Rational;

use crate::json::Json;
use crate::work::Checked;

/// Pairs `(position, amount)`, ascending by position. No amount is 0.
pub type Amounts = Vec<(usize, Rational)>;

/// The largest number of identical servers in a class, and of jobs of one type on one server.
pub const MOST: u64 = 1_000_000_000_000;

/// A list of distinct names, and the position of each.
#[derive(PartialEq)]
pub struct Names {
    what: &'static str,
    pub list: Vec<String>,
    position: HashMap<String, usize>,
}

impl Names {
    /// Reads names from JSON strings. A name may not be empty or occur twice.
    pub fn new<'j>(what: &'static str, names: impl IntoIterator<Item = &'j Json<'j>>) -> Checked<Self> {
        let (mut list, mut position) = (Vec::new(), HashMap::new());
        for name in names {
            let text = name.text()?.to_owned();
            if text.is_empty() || position.insert(text.clone(), list.len()).is_some() {
                return name.wrong(format!("the {what} `{text}` is named twice, or its name is empty"));
            }
            list.push(text);
        }
        Ok(Self { what, list, position })
    }

    /// Returns a list of names. The names have to be distinct.
    pub fn of(what: &'static str, names: &[&str]) -> Self {
        let list: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let position = list.iter().cloned().enumerate().map(|(at, name)| (name, at)).collect();
        Self { what, list, position }
    }

    /// Returns the position of a name. If the name is unknown, the fault is reported at the value `place`.
    pub fn find(&self, name: &str, place: &Json<'_>) -> Checked<usize> {
        let wrong = || place.wrong(format!("there is no such {}: `{name:.60}`", self.what));
        self.position.get(name).map_or_else(wrong, |at| Ok(*at))
    }

    /// Returns the position of the name that a JSON string states.
    pub fn named(&self, name: &Json<'_>) -> Checked<usize> {
        self.find(name.text()?, name)
    }

    /// Reads a list of names. Returns the positions of the names in ascending order. No name may occur twice.
    pub fn listed(&self, list: &Json<'_>) -> Checked<Vec<usize>> {
        let mut found = list.list()?.iter().map(|name| self.named(name)).collect::<Checked<Vec<_>>>()?;
        found.sort_unstable();
        if found.is_sorted_by(|a, b| a < b) { Ok(found) } else { list.wrong("a name is given twice") }
    }

    /// Reads an object whose fields have names from this list. The result is in ascending order of positions. A missing
    /// object counts as an empty object.
    pub fn map<'j, 't, T>(
        &self,
        object: &'j Json<'t>,
        read: impl Fn(usize, &'j Json<'t>) -> Checked<T>,
    ) -> Checked<Vec<(usize, T)>> {
        let mut found: Vec<(usize, T)> = Vec::new();
        for (name, value) in if object.given().is_none() { &[] } else { object.object()? } {
            // Most objects list their names in the order of the positions.
            let next = found.last().map_or(0, |(at, _)| at + 1);
            let is_next = self.list.get(next).is_some_and(|known| known == name);
            let at = if is_next { next } else { self.find(name, value)? };
            found.push((at, read(at, value)?));
        }
        found.sort_by_key(|(at, _)| *at);
        Ok(found)
    }

    /// Reads an object of amounts of at least 0. Amounts may have suffixes.
    pub fn amounts(&self, object: &Json<'_>) -> Checked<Amounts> {
        self.map(object, |_, raw| raw.quantity()).map(without_zeros)
    }

    /// Reads an object of computed numbers.
    pub fn numbers(&self, object: &Json<'_>) -> Checked<Amounts> {
        self.map(object, |_, raw| raw.computed()).map(without_zeros)
    }
}

fn without_zeros(mut amounts: Amounts) -> Amounts {
    amounts.retain(|(_, amount)| !amount.is_zero());
    amounts
}

/// Returns the value at a position. Returns `None` if the list has no entry for the position.
pub fn at<T>(list: &[(usize, T)], position: usize) -> Option<&T> {
    list.binary_search_by_key(&position, |(at, _)| *at).ok().map(|place| &list[place].1)
}

/// Checks that a document states the expected kind.
pub fn of_kind(raw: &Json<'_>, expected: &str) -> Checked<()> {
    raw.object()?;
    let kind = raw.get("kind").given().unwrap_or(raw);
    if kind.text() == Ok(expected) { Ok(()) } else { kind.wrong(format!("expected `{expected}`")) }
}
