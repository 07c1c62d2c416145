//! Measures how often the mechanisms that are not linear programmes give no answer, by shape of problem and
//! by magnitude.
//!
//! There is no answer if a solver fails, or stops before its result is proven (with the status `limit` or
//! `left-the-domain`). A problem to which a mechanism does not apply does not count.

use std::ops::Range;

use evenhand_mechanisms::{Flags, MechanismError, Status, registry};
use evenhand_problem::{Arithmetic, Problem};
use rayon::prelude::*;

use super::shape::{Numbers, PLAIN, Placement, Shape};

/// A mechanism, with a flag and the value of the flag if it needs one.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// The name of the mechanism on the command line.
    pub mechanism: &'static str,
    /// The flag and its value. `None` if the mechanism needs no flag.
    pub flag: Option<(&'static str, &'static str)>,
}

pub(super) const fn alpha(value: &'static str) -> Asked {
    Asked { mechanism: "alpha", flag: Some(("alpha", value)) }
}

pub(super) const fn plain(mechanism: &'static str) -> Asked {
    Asked { mechanism, flag: None }
}

/// The rows of the table.
pub const ASKED: &[Asked] = &[
    plain("ps-dsf-tdm"),
    plain("proportional"),
    alpha("1/10"),
    alpha("1/3"),
    alpha("1/2"),
    alpha("2"),
    alpha("3"),
    alpha("5"),
    alpha("10"),
    plain("njc"),
    plain("ps-dsf"),
];

/// The columns of the table.
pub const SHAPES: &[Shape] = &[
    Shape { name: "everywhere", ..PLAIN },
    Shape { name: "1-3 classes each", placement: Placement::Few, ..PLAIN },
    Shape {
        name: "half, ties, zeros",
        placement: Placement::Half,
        numbers: Numbers::Tied,
        zero: 30,
        ..PLAIN
    },
    Shape { name: "half, finite, zeros", placement: Placement::Half, finite: 60, zero: 40, ..PLAIN },
    Shape { name: "weights 10^8 apart", placement: Placement::Half, numbers: Numbers::Weights(8), ..PLAIN },
    Shape { name: "weights 10^12 apart", placement: Placement::Half, numbers: Numbers::Weights(12), ..PLAIN },
    Shape { name: "far apart", placement: Placement::Half, numbers: Numbers::FarApart, ..PLAIN },
    Shape { name: "near ties", placement: Placement::Half, numbers: Numbers::NearTies, ..PLAIN },
];

/// The results of a mechanism for a shape.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Count {
    /// The number of problems to which the mechanism applies.
    pub problems: usize,
    /// The seeds without an answer, each with the reason.
    pub missing: Vec<(u64, String)>,
}

impl Asked {
    /// Returns the name of the mechanism in the table.
    #[must_use]
    pub fn name(&self) -> String {
        self.flag
            .map_or_else(|| self.mechanism.to_owned(), |(_, value)| format!("{} {value}", self.mechanism))
    }

    /// Returns the reason why the mechanism gives no answer to the problem. The inner value is `None` if it
    /// gives an answer. The outer value is `None` if the mechanism does not apply.
    #[must_use]
    pub fn lacks(&self, problem: &Problem) -> Option<Option<String>> {
        let mechanism = registry::find(self.mechanism)?;
        let flags = Flags::new(Arithmetic::Exact);
        let flags = self.flag.into_iter().fold(flags, |flags, (name, value)| flags.with(name, value));
        match mechanism.allocate_with(problem, &flags) {
            Err(MechanismError::NotApplicable { .. }) => None,
            Err(error) => Some(Some(error.to_string())),
            Ok(outcome) => Some(match outcome.findings.status {
                Some(status @ (Status::Limit | Status::LeftDomain)) => Some(status.name().to_owned()),
                _ => None,
            }),
        }
    }

    /// Counts the answers to the problems with these seeds.
    #[must_use]
    pub fn count(&self, shape: &Shape, seeds: Range<u64>, most_users: usize) -> Count {
        let found: Vec<(u64, Option<String>)> = seeds
            .into_par_iter()
            .filter_map(|seed| Some((seed, self.lacks(&shape.problem(seed, most_users).ok()?)?)))
            .collect();
        let problems = found.len();
        let missing = found.into_iter().filter_map(|(seed, why)| Some((seed, why?))).collect();
        Count { problems, missing }
    }
}

/// Returns a table of the number of problems without an answer, by shape and mechanism. It states the first
/// of these problems and the reason. The table contains only the shapes whose names contain `only`, and the
/// mechanisms whose names contain `mechanism`.
#[must_use]
pub fn table(seeds: &Range<u64>, most_users: usize, only: &str, mechanism: &str) -> String {
    let shapes: Vec<&Shape> = SHAPES.iter().filter(|shape| shape.name.contains(only)).collect();
    let mut rows = Vec::new();
    let mut firsts = Vec::new();
    for asked in ASKED.iter().filter(|asked| asked.name().contains(mechanism)) {
        let mut row = vec![asked.name()];
        for shape in &shapes {
            let count = asked.count(shape, seeds.clone(), most_users);
            row.push(format!("{} / {}", count.missing.len(), count.problems));
            if let Some((seed, why)) = count.missing.first() {
                firsts.push(format!("- {}, {}, seed {seed}: {why}", asked.name(), shape.name));
            }
        }
        rows.push(row);
    }
    let head: Vec<&str> = std::iter::once("no answer").chain(shapes.iter().map(|shape| shape.name)).collect();
    format!("{}\n{}", crate::table::markdown(&head, &rows, 1), firsts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::{ASKED, SHAPES};

    /// Problems for which doubles alone stop with the status `limit`. Each entry has the mechanism, the shape
    /// and the seed.
    const HARD: &[(&str, &str, u64)] = &[
        ("proportional", "far apart", 82),
        ("proportional", "weights 10^12 apart", 72),
        ("alpha 1/10", "everywhere", 103),
        ("alpha 1/10", "weights 10^8 apart", 28),
        ("alpha 1/10", "near ties", 3),
        ("alpha 1/3", "near ties", 19),
        ("alpha 1/2", "weights 10^12 apart", 13),
        ("alpha 2", "far apart", 353),
        ("alpha 3", "far apart", 55),
        ("alpha 5", "far apart", 16),
        ("alpha 10", "far apart", 110),
        ("alpha 10", "half, finite, zeros", 189),
        ("alpha 10", "half, ties, zeros", 125),
        ("njc", "near ties", 256),
        ("njc", "near ties", 974),
        ("ps-dsf", "near ties", 922),
    ];

    #[test]
    fn problems_beyond_double_precision_have_an_answer() {
        for &(mechanism, shape, seed) in HARD {
            let asked = ASKED.iter().find(|asked| asked.name() == mechanism).unwrap();
            let shape = SHAPES.iter().find(|known| known.name == shape).unwrap();
            let problem = shape.problem(seed, 12).unwrap();
            assert_eq!(asked.lacks(&problem), Some(None), "{mechanism}, {}, seed {seed}", shape.name);
        }
    }

    #[test]
    fn every_mechanism_exists_and_accepts_its_flag() {
        for asked in ASKED {
            let mechanism = evenhand_mechanisms::registry::find(asked.mechanism).unwrap();
            assert!(asked.flag.is_none_or(|(name, _)| mechanism.takes(name)));
        }
    }
}
