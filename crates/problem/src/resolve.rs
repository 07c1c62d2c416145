//! Names as positions, and amounts that are possible, or an error with the place.

use std::collections::HashMap;

use rug::Rational;

use crate::names::nearest;
use crate::place::Place;
use crate::problem_error::{MAX_COUNT, ProblemError, ProblemErrorKind};
use crate::quantities::{Named, Quantities};

pub(crate) type Index = HashMap<String, usize>;

pub(crate) fn index_names<'a>(
    what: &'static str,
    names: impl ExactSizeIterator<Item = &'a str>,
    place: impl Fn(usize) -> Place,
) -> Result<Index, ProblemError> {
    let mut index = HashMap::with_capacity(names.len());
    for (position, name) in names.enumerate() {
        if name.is_empty() {
            return Err(place(position).error(ProblemErrorKind::EmptyName(what)));
        }
        if index.insert(name.to_owned(), position).is_some() {
            let name = name.to_owned();
            return Err(place(position).error(ProblemErrorKind::DuplicateName { what, name }));
        }
    }
    Ok(index)
}

pub(crate) fn resolve(
    what: &'static str,
    name: &str,
    index: &Index,
    at: impl FnOnce() -> Place,
) -> Result<usize, ProblemError> {
    index.get(name).copied().ok_or_else(|| {
        // The order of a hash table decides nothing: the least name among the nearest.
        let mut known: Vec<&str> = index.keys().map(String::as_str).collect();
        known.sort_unstable();
        let nearest = nearest(name, known).map(str::to_owned);
        at().error(ProblemErrorKind::Unknown { what, name: name.to_owned(), nearest })
    })
}

/// What is stated by name, by index in ascending order; no name may be stated twice.
pub(crate) fn by_index<T, U>(
    what: &'static str,
    stated: Vec<(String, T)>,
    index: &Index,
    at: &Place,
    checked: impl Fn(T, &dyn Fn() -> Place) -> Result<U, ProblemError>,
) -> Result<Vec<(usize, U)>, ProblemError> {
    let mut entries = Vec::with_capacity(stated.len());
    for (name, value) in stated {
        let place = || at.key(&name);
        entries.push((resolve(what, &name, index, place)?, checked(value, &place)?));
    }
    entries.sort_unstable_by_key(|(position, _)| *position);
    if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let name = name_of(index, pair[0].0).to_owned();
        return Err(at.key(&name).error(ProblemErrorKind::DuplicateName { what, name }));
    }
    Ok(entries)
}

/// The positions of names in ascending order; none may be named twice.
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
        let name = name_of(index, pair[1].0).to_owned();
        return Err(at(pair[1].1).error(ProblemErrorKind::DuplicateName { what, name }));
    }
    Ok(set.into_iter().map(|(position, _)| position).collect())
}

/// The name at a position, which takes a search: for messages.
pub(crate) fn name_of(index: &Index, position: usize) -> &str {
    index.iter().find(|(_, at)| **at == position).map_or("", |(name, _)| name)
}

/// Amounts of resources that are there, none negative, each named once.
pub(crate) fn named(
    stated: Vec<(String, Rational)>,
    resources: &Index,
    at: &Place,
) -> Result<Named, ProblemError> {
    by_index("resource", stated, resources, at, not_negative)
}

/// The same, zeros left out.
pub(crate) fn quantities(
    stated: Vec<(String, Rational)>,
    resources: &Index,
    at: &Place,
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

/// A whole number from `least` to [`MAX_COUNT`].
pub(crate) fn whole(value: &Rational, least: u64) -> Option<u64> {
    let whole = if value.is_integer() { value.numer().to_u64() } else { None };
    whole.filter(|whole| (least..=MAX_COUNT).contains(whole))
}
