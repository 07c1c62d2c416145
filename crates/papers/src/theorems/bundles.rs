//! Theorem B: time-shared PS-DSF is strategy-proof in bundles, and no longer with lies that differ by class.

use evenhand_mechanisms::{Mechanism, registry};
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec};

use crate::{Entry, PaperError};

/// Entries of the liar's demand of the resource that it needs, and of the one that it does not.
const NEEDED: [(u32, u32); 4] = [(1, 2), (1, 1), (2, 1), (4, 1)];
const USELESS: [(u32, u32); 7] = [(0, 1), (1, 2), (1, 1), (2, 1), (4, 1), (5, 1), (10, 1)];

/// What the liar states on a class: of the resource that it needs, and of the other one.
type Stated = [Rational; 2];

/// Capacities (2,10), (2,1), demands (1,0), (0,1); the first user states other demands.
fn problem(stated: &[Stated; 2]) -> Result<Problem, PaperError> {
    let resources = vec!["needed".to_owned(), "useless".to_owned()];
    let named = |amounts: &Stated| resources.iter().cloned().zip(amounts.iter().cloned()).collect::<Vec<_>>();
    let whole = |amounts: [u32; 2]| named(&amounts.map(Rational::from));
    let server =
        |name: &str, capacity| ServerSpec { name: name.to_owned(), count: None, capacity: whole(capacity) };
    let servers = vec![server("s1", [2, 10]), server("s2", [2, 1])];
    let liar = UserSpec {
        name: "liar".to_owned(),
        demand: named(&stated[0]),
        demand_on: vec![("s2".to_owned(), named(&stated[1]))],
        ..UserSpec::default()
    };
    let other = UserSpec { name: "other".to_owned(), demand: whole([0, 1]), ..UserSpec::default() };
    let users = vec![liar, other];
    Ok(Problem::new(ProblemSpec { resources: resources.clone(), servers, users, ..ProblemSpec::default() })?)
}

/// True tasks of the liar in the bundles that it is given: what it gets of the resource that it needs.
fn runs(mechanism: &Mechanism, stated: &[Stated; 2]) -> Result<Rational, PaperError> {
    let outcome = mechanism.allocate(&problem(stated)?, Arithmetic::Exact)?;
    Ok(outcome.allocation.tasks[0].iter().map(|(i, x)| Rational::from(x * &stated[*i][0])).sum())
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mechanism = registry::find("ps-dsf-tdm").ok_or("no such mechanism")?;
    let mut all: Vec<Stated> = Vec::new();
    for needed in NEEDED {
        all.extend(USELESS.map(|useless| [Rational::from(needed), Rational::from(useless)]));
    }
    let truth = [Rational::from(1), Rational::new()];
    let honest = runs(mechanism, &[truth.clone(), truth])?;
    let (mut alike, mut by_class, mut most, mut how) = (0, 0, honest.clone(), None);
    let mut paying_alike = 0;
    for a in &all {
        for b in &all {
            let gained = runs(mechanism, &[a.clone(), b.clone()])?;
            if a == b {
                alike += 1;
                paying_alike += usize::from(gained > honest);
            }
            by_class += 1;
            if gained > most {
                (most, how) = (gained, Some((a.clone(), b.clone())));
            }
        }
    }
    let lie = how.map_or(String::new(), |(a, b)| {
        format!(" by saying ({}, {}) on the first class and ({}, {}) on the second", a[0], a[1], b[0], b[1])
    });
    Ok(vec![
        Entry {
            id: "theorems.b.alike".to_owned(),
            source: "Theory, Theorem B: time-shared PS-DSF is strategy-proof in bundles",
            paper: "no lie pays that is the same on all classes".to_owned(),
            ours: format!("{paying_alike} of {alike} lies pay"),
            agrees: Some(paying_alike == 0),
            note: "the instance where lies by class do pay; random problems: `reproduce \
                   ps-dsf.table-1.ps-dsf-tdm.strategy-proof`"
                .to_owned(),
        },
        Entry {
            id: "theorems.b.by-class".to_owned(),
            source: "Theory, Theorem B is sharp: lies that differ by class",
            paper: "2 tasks become 5/2".to_owned(),
            ours: format!("{honest} tasks become {most}{lie}; {by_class} lies tried"),
            agrees: Some(honest == 2 && most >= Rational::from((5, 2))),
            note: "capacities (2,10), (2,1), demands (1,0), (0,1)".to_owned(),
        },
    ])
}
