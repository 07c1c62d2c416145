//! Performance profiles (Dolan and Moré, Benchmarking optimization software with performance profiles, 2002), and the same for
//! errors.

use std::collections::BTreeMap;

use crate::case::Kind;
use crate::record::{Record, Status};

/// An answer that is further off than this does not count as one.
pub const RIGHT: f64 = 1e-6;

impl Record {
    /// How far off the answer is: by its levels, where these are determined, by its objective where not, and elsewhere by
    /// the tolerance at which it can be certified; an infeasible answer is off by its violation, if that is more. None
    /// without an answer, or where nothing of that is known; and of whole tasks, which are not what they are compared with.
    #[must_use]
    pub fn distance(&self) -> Option<f64> {
        if self.status != Status::Solved || self.kind == Kind::Whole {
            return None;
        }
        let certified = || self.measures.repair.as_ref().and_then(|repair| repair.certified);
        let off = self.measures.error.or(self.measures.objective_error).or_else(certified)?;
        Some(off.max(self.measures.violation))
    }
}

/// A contender's part of the cases that it takes, over a bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Its name.
    pub contender: String,
    /// `(bound, part of its cases)`, ascending; the part holds from there on.
    pub steps: Vec<(f64, f64)>,
}

/// By contender: the part of the cases that it takes which it answers within [`RIGHT`] in at most so many times the time of
/// the fastest contender that does.
#[must_use]
pub fn performance(records: &[Record]) -> Vec<Profile> {
    let is_right = |record: &Record| record.distance().is_some_and(|off| off <= RIGHT);
    let mut fastest: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    for record in records.iter().filter(|record| is_right(record)) {
        let best = fastest.entry((record.kind.name(), &record.instance)).or_insert(f64::INFINITY);
        *best = best.min(record.cost.seconds);
    }
    profiles(records, |record| {
        let best = fastest.get(&(record.kind.name(), record.instance.as_str()))?;
        is_right(record).then(|| record.cost.seconds / best)
    })
}

/// By contender: the part of the cases that it takes in which it is off by at most so much.
#[must_use]
pub fn errors(records: &[Record]) -> Vec<Profile> {
    profiles(records, Record::distance)
}

fn profiles(records: &[Record], bound: impl Fn(&Record) -> Option<f64>) -> Vec<Profile> {
    let mut names: Vec<&str> = Vec::new();
    for record in records {
        if !names.contains(&record.contender.as_str()) {
            names.push(&record.contender);
        }
    }
    let of = |name: &&str| {
        let own = records.iter().filter(|record| record.contender == **name && record.kind != Kind::Whole);
        let count = own.clone().count() as f64;
        let mut bounds: Vec<f64> = own.filter_map(&bound).collect();
        bounds.sort_by(f64::total_cmp);
        let steps = bounds.iter().enumerate().map(|(at, bound)| (*bound, (at + 1) as f64 / count));
        Profile { contender: (*name).to_owned(), steps: steps.collect() }
    };
    names.iter().map(of).collect()
}
