//! The duals of an exact optimum are proofs: `evenhand-exact`, which contains no solver, accepts
//! them with tolerance 0 and computes a margin of 0.

use crate::common;

use common::{allocation, assert_proven, exact, fixed_runner, levels, runner};
use evenhand_exact::{Axiom, Claim, Evidence, Instance, Share};
use evenhand_problem::{Problem, Rational, Sharing};
use evenhand_testkit::q;
use evenhand_testkit::random::problems::{Numbers, SMALL, Shape, build, random, spec_of};
use proptest::prelude::*;

const SHARES: [Share; 6] = [
    Share::Dominant,
    Share::TaskShare,
    Share::Asset,
    Share::Generic,
    Share::Containerized,
    Share::Resource(0),
];

fn prove(problem: &Problem, sharing: Sharing, share: Share) {
    let Ok(coefficients) = share.coefficients(problem) else { return };
    let optimum = exact(problem, sharing, &coefficients).unwrap_or_else(|error| panic!("{error:?}"));
    assert_proven(problem, sharing, share, &optimum);
}

#[test]
fn small_problems_are_proven() {
    let strategy = (random(SMALL), any::<bool>(), prop::sample::select(&SHARES[..]));
    let outcome = runner(1500, file!()).run(&strategy, |(problem, timed, share)| {
        prove(&problem, if timed { Sharing::Tdm } else { Sharing::Rdm }, share);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn ties_beyond_double_precision_are_proven() {
    let strategy = (random(Shape { numbers: Numbers::NearTies, ..SMALL }), prop::sample::select(&SHARES[..]));
    let outcome = fixed_runner(300).run(&strategy, |(problem, share)| {
        prove(&problem, Sharing::Rdm, share);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn large_problems_are_proven() {
    let shape = Shape {
        users: (50, 200),
        classes: (5, 10),
        resources: (3, 3),
        finite: (0.4, 8),
        demand_on: 0.01,
        gamma: 0.0,
        zero: 0.1,
        ..SMALL
    };
    let outcome = fixed_runner(24).run(&(random(shape), 0..3usize), |(problem, share)| {
        prove(&problem, Sharing::Rdm, SHARES[share]);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn large_problems_with_a_share_by_class_are_proven() {
    let shape =
        Shape { users: (30, 50), classes: (3, 5), resources: (2, 3), demand_on: 0.05, gamma: 0.01, ..SMALL };
    let outcome = fixed_runner(10).run(&random(shape), |problem| {
        prove(&problem, Sharing::Rdm, Share::Generic);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// The proof is rejected if any element of it is wrong, so acceptance has a meaning.
#[test]
fn damaged_proofs_are_refused() {
    let mut spec = spec_of(&["2 12", "12 2"], &["1/5 1", "1 1/5", "1 1"]);
    spec.users[2].tasks = Some(Rational::from(1));
    let problem = build(spec);
    let share = Share::Dominant.coefficients(&problem).expect("applies");
    let optimum = exact(&problem, Sharing::Rdm, &share).expect("an optimum");
    let allocation = allocation(&optimum.tasks, Sharing::Rdm);
    let instance = Instance::new(&problem, &allocation).expect("an instance");
    let zero = Rational::new();
    let judge = |levels| {
        let evidence = Evidence::Levels(levels);
        Claim::with_evidence(Axiom::MaxMin, Some(Share::Dominant), evidence, &instance, &zero)
    };
    let truth = levels(&instance, &share, &optimum);
    assert!(judge(truth.clone()).is_ok());
    for k in 0..truth.len() {
        let mut missing = truth.clone();
        missing.remove(k);
        assert!(judge(missing).is_err(), "level {k} is not needed");
        for entry in 0..truth[k].prices.rows.len() {
            let mut cheaper = truth.clone();
            cheaper[k].prices.rows[entry].1 *= q("999999999999/1000000000000");
            assert!(judge(cheaper).is_err(), "level {k} needs no price {entry}");
        }
    }
}
