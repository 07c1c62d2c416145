//! Names of resources, classes and users, and what a file says by name.

use std::collections::HashMap;

use rug::Rational;

use crate::json::Json;
use crate::work::Checked;

/// `(position, amount)`, ascending, no amount 0.
pub type Amounts = Vec<(usize, Rational)>;

/// Most identical servers of a class, and most jobs of a type on a server.
pub const MOST: u64 = 1_000_000_000_000;

/// Names and their positions.
#[derive(PartialEq)]
pub struct Names {
    what: &'static str,
    pub list: Vec<String>,
    position: HashMap<String, usize>,
}

impl Names {
    /// The names that these strings hold, none twice.
    pub fn new<'j>(what: &'static str, names: impl IntoIterator<Item = &'j Json<'j>>) -> Checked<Self> {
        let (mut list, mut position) = (Vec::new(), HashMap::new());
        for name in names {
            let text = name.text()?.to_owned();
            if text.is_empty() || position.insert(text.clone(), list.len()).is_some() {
                return name.wrong(format!("the {what} `{text}` is named twice, or has no name"));
            }
            list.push(text);
        }
        Ok(Self { what, list, position })
    }

    /// The position of a name that stands at `place`.
    pub fn find(&self, name: &str, place: &Json<'_>) -> Checked<usize> {
        let wrong = || place.wrong(format!("there is no such {}: `{name:.60}`", self.what));
        self.position.get(name).map_or_else(wrong, |at| Ok(*at))
    }

    /// The position of the name that a string holds.
    pub fn named(&self, name: &Json<'_>) -> Checked<usize> {
        self.find(name.text()?, name)
    }

    /// The positions in a list of names, none twice, ascending.
    pub fn listed(&self, list: &Json<'_>) -> Checked<Vec<usize>> {
        let mut found = list.list()?.iter().map(|name| self.named(name)).collect::<Checked<Vec<_>>>()?;
        found.sort_unstable();
        if found.is_sorted_by(|a, b| a < b) { Ok(found) } else { list.wrong("a name is given twice") }
    }

    /// What an object says by name, by position ascending; nothing where it is absent.
    pub fn map<'j, 't, T>(
        &self,
        object: &'j Json<'t>,
        read: impl Fn(usize, &'j Json<'t>) -> Checked<T>,
    ) -> Checked<Vec<(usize, T)>> {
        let mut found: Vec<(usize, T)> = Vec::new();
        for (name, value) in if object.given().is_none() { &[] } else { object.object()? } {
            // Most names stand in their order.
            let next = found.last().map_or(0, |(at, _)| at + 1);
            let is_next = self.list.get(next).is_some_and(|known| known == name);
            let at = if is_next { next } else { self.find(name, value)? };
            found.push((at, read(at, value)?));
        }
        found.sort_by_key(|(at, _)| *at);
        Ok(found)
    }

    /// Amounts of at least 0 by name, which may have suffixes.
    pub fn amounts(&self, object: &Json<'_>) -> Checked<Amounts> {
        self.map(object, |_, raw| raw.quantity()).map(without_zeros)
    }

    /// Numbers by name that were computed.
    pub fn numbers(&self, object: &Json<'_>) -> Checked<Amounts> {
        self.map(object, |_, raw| raw.computed()).map(without_zeros)
    }
}

fn without_zeros(mut amounts: Amounts) -> Amounts {
    amounts.retain(|(_, amount)| !amount.is_zero());
    amounts
}

/// The value at a position.
pub fn at<T>(list: &[(usize, T)], position: usize) -> Option<&T> {
    list.binary_search_by_key(&position, |(at, _)| *at).ok().map(|place| &list[place].1)
}

/// That a document is of this kind.
pub fn of_kind(raw: &Json<'_>, expected: &str) -> Checked<()> {
    raw.object()?;
    let kind = raw.get("kind").given().unwrap_or(raw);
    if kind.text() == Ok(expected) { Ok(()) } else { kind.wrong(format!("expected `{expected}`")) }
}
