//! Performance profiles (Dolan and Moré, Benchmarking optimization software with performance profiles, 2002), and
//! similar profiles of errors.

use std::collections::BTreeMap;

use crate::case::Kind;
use crate::programmes::{ProgrammeMeasures, ProgrammeStatus};
use crate::record::{Record, Status};

/// The largest error of an answer that counts as correct.
pub const RIGHT: f64 = 1e-6;

impl Record {
    /// Returns the error of the answer.
    ///
    /// The error of an answer is the error of its levels if the levels are unique, and otherwise the error of
    /// its objective. If there is no objective either, the error is the tolerance at which the answer can be
    /// certified. For an infeasible answer the error is at least the violation. Returns `None` if there is no
    /// answer or if no error is known. Also returns `None` for whole tasks, which always differ from their
    /// reference.
    ///
    /// For a linear programme without an optimum, the error is 0 if the contender states this. A wrong status has no
    /// error.
    #[must_use]
    pub fn distance(&self) -> Option<f64> {
        if self.status != Status::Solved || self.kind == Kind::Whole {
            return None;
        }
        if let Some(programme) = &self.measures.programme {
            if programme.is_wrong_status() {
                return None;
            }
            if programme.is != ProgrammeStatus::Optimal {
                return programme.says.map(|_| 0.0);
            }
        }
        let certified = || self.measures.repair.as_ref().and_then(|repair| repair.certified);
        let off = self.measures.error.or(self.measures.objective_error).or_else(certified)?;
        Some(off.max(self.measures.violation))
    }

    /// Returns `true` if the answer has values. An answer without values only states that a linear programme
    /// has no optimum.
    #[must_use]
    pub fn has_values(&self) -> bool {
        let says = self.measures.programme.as_ref().and_then(|programme| programme.says);
        self.status == Status::Solved && says.is_none_or(|says| says == ProgrammeStatus::Optimal)
    }

    /// Returns `true` if the contender states a wrong status of a linear programme.
    #[must_use]
    pub fn is_wrong_status(&self) -> bool {
        self.measures.programme.as_ref().is_some_and(ProgrammeMeasures::is_wrong_status)
    }
}

/// The fraction of the cases that a contender solves within a bound, as a function of the bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The name of the contender.
    pub contender: String,
    /// The bounds at which the fraction rises, ascending. Each bound is followed by the fraction of cases
    /// solved within it.
    pub steps: Vec<(f64, f64)>,
}

/// Returns a profile of time for each contender. The profile is the fraction of its cases that the contender
/// solves within [`RIGHT`], as a function of its time divided by the time of the fastest contender that does
/// so.
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

/// Returns a profile of errors for each contender: the fraction of its cases with an error of at most the
/// bound.
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
