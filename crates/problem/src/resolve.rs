//! Resolution of names to positions, and checks of amounts. Errors contain the place of the fault.

use std::collections::HashMap;

use rug::Rational;

use crate::names::nearest;
use crate::place::Place;
use crate::problem_error::{MAX_COUNT, ProblemError, ProblemErrorKind};
use crate::quantities::{Named, Quantities};

/// The names of one kind of thing, each once, with their positions.
#[derive(Default)]
pub(crate) struct Index {
    positions: HashMap<String, usize>,
    names: Vec<String>,
}

impl Index {
    /// Returns the number of names.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn get(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Returns the position of a name, trying a likely position first.
    fn near(&self, name: &str, likely: usize) -> Option<usize> {
        let is_there = self.names.get(likely).is_some_and(|known| known == name);
        if is_there { Some(likely) } else { self.get(name) }
    }

    /// Returns the name at a position.
    pub(crate) fn name_of(&self, position: usize) -> &str {
        self.names.get(position).map_or("", String::as_str)
    }
}

/// Indexes names. Rejects empty and repeated names.
pub(crate) fn index_names<'a>(
    what: &'static str,
    names: impl ExactSizeIterator<Item = &'a str>,
    place: impl Fn(usize) -> Place,
) -> Result<Index, ProblemError> {
    let mut positions = HashMap::with_capacity(names.len());
    let mut list = Vec::with_capacity(names.len());
    for (position, name) in names.enumerate() {
        if name.is_empty() {
            return Err(place(position).error(ProblemErrorKind::EmptyName(what)));
        }
        if positions.insert(name.to_owned(), position).is_some() {
            let name = name.to_owned();
            return Err(place(position).error(ProblemErrorKind::DuplicateName { what, name }));
        }
        list.push(name.to_owned());
    }
    Ok(Index { positions, names: list })
}

/// Returns the position of a name, or the error that it is unknown.
pub(crate) fn resolve(
    what: &'static str,
    name: &str,
    index: &Index,
    at: impl FnOnce() -> Place,
) -> Result<usize, ProblemError> {
    index.get(name).ok_or_else(|| unknown(what, name, index, at()))
}

/// Returns the error that a name is unknown. Among equally near known names, the message suggests the
/// alphabetically first name.
fn unknown(what: &'static str, name: &str, index: &Index, at: Place) -> ProblemError {
    let mut known: Vec<&str> = index.names.iter().map(String::as_str).collect();
    known.sort_unstable();
    let nearest = nearest(name, known).map(str::to_owned);
    at.error(ProblemErrorKind::Unknown { what, name: name.to_owned(), nearest })
}

/// Resolves entries that are stated with names. Returns them with indices in ascending order, and rejects a
/// name that occurs twice.
pub(crate) fn by_index<T, U>(
    what: &'static str,
    stated: Vec<(impl AsRef<str>, T)>,
    index: &Index,
    at: impl Fn() -> Place,
    checked: impl Fn(T, &dyn Fn() -> Place) -> Result<U, ProblemError>,
) -> Result<Vec<(usize, U)>, ProblemError> {
    let mut entries: Vec<(usize, U)> = Vec::with_capacity(stated.len());
    for (name, value) in stated {
        let name = name.as_ref();
        let place = || at().key(name);
        // Most documents state entries in the order of the index.
        let next = entries.last().map_or(0, |(before, _)| before + 1);
        let position = index.near(name, next).ok_or_else(|| unknown(what, name, index, place()))?;
        entries.push((position, checked(value, &place)?));
    }
    entries.sort_unstable_by_key(|(position, _)| *position);
    if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let name = index.name_of(pair[0].0).to_owned();
        return Err(at().key(&name).error(ProblemErrorKind::DuplicateName { what, name }));
    }
    Ok(entries)
}

/// Returns the positions of names in ascending order, and rejects a name that occurs twice.
pub(crate) fn set<'n>(
    what: &'static str,
    names: impl IntoIterator<Item = &'n str>,
    index: &Index,
    at: impl Fn(usize) -> Place,
) -> Result<Vec<usize>, ProblemError> {
    let mut set = Vec::new();
    for (k, name) in names.into_iter().enumerate() {
        set.push((resolve(what, name, index, || at(k))?, k));
    }
    set.sort_unstable();
    if let Some(pair) = set.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let name = index.name_of(pair[1].0).to_owned();
        return Err(at(pair[1].1).error(ProblemErrorKind::DuplicateName { what, name }));
    }
    Ok(set.into_iter().map(|(position, _)| position).collect())
}

/// Reads amounts of existing resources. Rejects negative amounts and resources that are named twice.
pub(crate) fn named(
    stated: Vec<(impl AsRef<str>, Rational)>,
    resources: &Index,
    at: impl Fn() -> Place,
) -> Result<Named, ProblemError> {
    by_index("resource", stated, resources, at, not_negative)
}

/// Reads amounts like [`named`], and leaves out zeros.
pub(crate) fn quantities(
    stated: Vec<(impl AsRef<str>, Rational)>,
    resources: &Index,
    at: impl Fn() -> Place,
) -> Result<Quantities, ProblemError> {
    Ok(Quantities::new(resources.len(), named(stated, resources, at)?))
}

pub(crate) fn not_negative(value: Rational, at: &dyn Fn() -> Place) -> Result<Rational, ProblemError> {
    if value < 0 {
        return Err(at().error(ProblemErrorKind::Negative(value.to_string())));
    }
    Ok(value)
}

pub(crate) fn positive(value: Rational, at: &dyn Fn() -> Place) -> Result<Rational, ProblemError> {
    if value <= 0 {
        return Err(at().error(ProblemErrorKind::NotPositive(value.to_string())));
    }
    Ok(value)
}

/// Returns the value as an integer, or `None` if it is not a whole number from `least` to [`MAX_COUNT`].
pub(crate) fn whole(value: &Rational, least: u64) -> Option<u64> {
    let whole = if value.is_integer() { value.numer().to_u64() } else { None };
    whole.filter(|whole| (least..=MAX_COUNT).contains(whole))
}
