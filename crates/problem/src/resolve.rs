//! Names as positions, and amounts that are possible, or an error with the place.

use std::collections::{HashMap, HashSet};

use rug::Rational;

use crate::nearest::nearest;
use crate::place::Place;
use crate::problem::MAX_COUNT;
use crate::problem_error::{ProblemError, ProblemErrorKind};
use crate::quantities::Quantities;

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

/// Amounts by resource from named entries.
pub(crate) fn quantities(
    stated: Vec<(String, Rational)>,
    resources: &Index,
    at: &Place,
) -> Result<Quantities, ProblemError> {
    let mut seen = HashSet::with_capacity(stated.len());
    let mut entries = Vec::with_capacity(stated.len());
    for (name, value) in stated {
        let r = resolve("resource", &name, resources, || at.key(&name))?;
        if !seen.insert(r) {
            return Err(at.key(&name).error(ProblemErrorKind::DuplicateName { what: "resource", name }));
        }
        entries.push((r, not_negative(value, || at.key(&name))?));
    }
    Ok(Quantities::new(resources.len(), entries))
}

pub(crate) fn not_negative(value: Rational, at: impl FnOnce() -> Place) -> Result<Rational, ProblemError> {
    if value < 0 {
        return Err(at().error(ProblemErrorKind::Negative(value.to_string())));
    }
    Ok(value)
}

pub(crate) fn positive(value: Rational, at: impl FnOnce() -> Place) -> Result<Rational, ProblemError> {
    if value <= 0 {
        return Err(at().error(ProblemErrorKind::NotPositive(value.to_string())));
    }
    Ok(value)
}

pub(crate) fn whole_count(count: &Rational) -> Option<u64> {
    if !count.is_integer() {
        return None;
    }
    count.numer().to_u64().filter(|k| (1..=MAX_COUNT).contains(k))
}
