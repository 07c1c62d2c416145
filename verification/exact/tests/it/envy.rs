//! Tests that the search for the pair with the least margin gives the same margin as plain loops over all pairs, and a
//! pair with this margin. The kernel accepts this margin and no other margin.

use evenhand_exact::Instance;
use evenhand_exact::axiom::envy_free::tightest;
use evenhand_exact::{Axiom, Claim, Evidence};
use evenhand_problem::{Allocation, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec};
use evenhand_testkit::agreement::agreed_claim;
use evenhand_testkit::plain::Plain;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// The features that a random instance may have.
#[derive(Debug, Clone, Copy)]
struct Kinds {
    placement: bool,
    overrides: bool,
    time: bool,
    gamma: bool,
    /// If true, numbers take few different values, so that ties are frequent.
    ties: bool,
    /// If true, numbers have several hundred bits.
    wide: bool,
}

fn number(rng: &mut Pcg64, kinds: Kinds, most: u32) -> Rational {
    let denominators: &[u32] = if kinds.ties { &[1, 2] } else { &[1, 2, 3, 7, 10, 97, 1024] };
    let denominator = denominators[rng.random_range(0..denominators.len())];
    let most = if kinds.ties { most.min(3) } else { most };
    Rational::from((rng.random_range(0..=most), denominator))
}

fn instance(seed: u64, kinds: Kinds) -> (Problem, Allocation) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let rng = &mut rng;
    let (n, k, m) = (rng.random_range(0..14), rng.random_range(1..5), rng.random_range(1..4));
    let positive = |rng: &mut Pcg64, most| number(rng, kinds, most) + Rational::from((1, 2));
    let demand = |rng: &mut Pcg64| -> Vec<(String, Rational)> {
        let mut all: Vec<_> = (0..m).map(|r| (format!("r{r}"), number(rng, kinds, 5))).collect();
        let sure = rng.random_range(0..m);
        all[sure].1 += Rational::from((1, 2));
        all
    };
    let servers = (0..k).map(|i| ServerSpec {
        name: format!("s{i}"),
        count: Some(Rational::from(rng.random_range(1..4))),
        capacity: (0..m).map(|r| (format!("r{r}"), number(rng, kinds, 9))).collect(),
    });
    let servers: Vec<_> = servers.collect();
    let users = (0..n).map(|n| UserSpec {
        name: format!("u{n}"),
        weight: Some(positive(rng, 3)),
        tasks: rng.random_bool(0.4).then(|| number(rng, kinds, 4)),
        demand: demand(rng),
        servers: (kinds.placement && rng.random_bool(0.5)).then(|| {
            let sure = rng.random_range(0..k);
            (0..k).filter(|&i| i == sure || rng.random_bool(0.5)).map(|i| format!("s{i}")).collect()
        }),
        demand_on: if kinds.overrides {
            (0..k).filter(|_| rng.random_bool(0.3)).map(|i| (i, ())).collect::<Vec<_>>()
        } else {
            Vec::new()
        }
        .into_iter()
        .map(|(i, ())| (format!("s{i}"), demand(rng)))
        .collect(),
        gamma: if kinds.gamma && rng.random_bool(0.5) {
            vec![("s0".to_owned(), positive(rng, 4))]
        } else {
            Vec::new()
        },
        criterion: Vec::new(),
        rates: None,
        at_most: None,
    });
    let users = users.collect();
    let resources = (0..m).map(|r| format!("r{r}")).collect();
    let problem = Problem::new(ProblemSpec { name: String::new(), resources, servers, users }).unwrap();
    let scale = if kinds.wide { (Rational::from(1) << 400) + Rational::from(1) } else { Rational::from(1) };
    let tasks = (0..n).map(|_| {
        let on = (0..k).filter(|_| rng.random_bool(0.6)).collect::<Vec<_>>();
        on.into_iter()
            .map(|i| (i, (number(rng, kinds, 9) - Rational::from(i32::from(rng.random_bool(0.1)))) / &scale))
            .collect()
    });
    let tasks = tasks.collect();
    let sharing = if kinds.time { Sharing::Tdm } else { Sharing::Rdm };
    (problem, Allocation { sharing, tasks, ..Allocation::default() })
}

/// Returns an instance with few different bundles. Every user's bundle is one of these bundles, or within one of them,
/// or differs from one by less than the rounding of the search.
fn crowd(seed: u64, n: usize) -> (Problem, Allocation) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let rng = &mut rng;
    let (k, kinds) = (rng.random_range(1..4), rng.random_range(1..5));
    let is_whole = rng.random_bool(0.3);
    let servers = (0..k).map(|i| ServerSpec {
        name: format!("s{i}"),
        capacity: vec![("a".to_owned(), Rational::from(100_000)), ("b".to_owned(), Rational::from(100_000))],
        ..ServerSpec::default()
    });
    let demands: Vec<[u32; 2]> =
        (0..kinds).map(|_| [rng.random_range(1..4), rng.random_range(0..4)]).collect();
    let mut tasks = Vec::new();
    let users = (0..n).map(|n| {
        let [a, b] = demands[rng.random_range(0..kinds)];
        let weight = rng.random_range(1..3_u32);
        let mut on = vec![(rng.random_range(0..k), Rational::from(12 * weight / a.max(b)))];
        if rng.random_bool(0.2) {
            on[0].1 -= rng.random_range(0..3_u32);
        }
        if rng.random_bool(0.2) && !is_whole {
            let little = Rational::from(rng.random_range(-2..3_i32)) >> 100_u32;
            on[0].1 += little;
        }
        if rng.random_bool(0.1) {
            let other = rng.random_range(0..k);
            if other != on[0].0 {
                on.push((other, Rational::from(rng.random_range(1..4_u32))));
                on.sort();
            }
        }
        let all: Rational = on.iter().map(|(_, x)| x).sum();
        tasks.push(on);
        let amounts = [("a".to_owned(), Rational::from(a)), ("b".to_owned(), Rational::from(b))];
        UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(weight)),
            tasks: rng.random_bool(0.2).then_some(all),
            demand: amounts.into_iter().filter(|(_, d)| *d > 0).collect(),
            servers: rng.random_bool(0.2).then(|| (0..k).map(|i| format!("s{i}")).collect()),
            ..UserSpec::default()
        }
    });
    let users = users.collect();
    let resources = vec!["a".to_owned(), "b".to_owned()];
    let servers = servers.collect();
    let problem = Problem::new(ProblemSpec { name: String::new(), resources, servers, users }).unwrap();
    (problem, Allocation { tasks, ..Allocation::default() })
}

/// Fails unless the claim has the margin of the plain loops, the kernel accepts it, and the kernel refuses a slightly
/// larger or smaller margin.
fn assert_judged(problem: &Problem, allocation: &Allocation, least: Option<&Rational>, claim: &Claim) {
    assert_eq!(claim.margin.as_ref(), least);
    let reason = |claim: &Claim| agreed_claim(problem, allocation, claim, &Rational::new()).reason;
    assert_eq!(reason(claim), None);
    let little = Rational::from(1) >> 130_u32;
    for other in claim.margin.iter().flat_map(|m| [Rational::from(m + &little), Rational::from(m - &little)])
    {
        let holds = Some(other >= 0);
        let lie = Claim { holds, margin: Some(other), ..claim.clone() };
        assert!(reason(&lie).is_some(), "{lie:?}");
    }
}

/// There are more users than are examined together. The search skips most of their bundles, which must not change a
/// margin.
#[test]
fn skipping_contained_bundles_changes_no_margin() {
    let mut whole = 0;
    for seed in 0..400 {
        let (problem, allocation) = crowd(seed, if seed % 10 == 0 { 200 } else { 2 + seed as usize % 9 });
        let instance = Instance::new(&problem, &allocation).unwrap();
        let plain = Plain::new(&problem, &allocation);
        for axiom in [Axiom::EnvyFree, Axiom::Ef1] {
            let claim = Claim::derive(axiom, &instance, &Rational::new()).unwrap();
            if claim.holds.is_some() {
                whole += usize::from(axiom == Axiom::Ef1);
                assert_judged(&problem, &allocation, plain.least(axiom).as_ref(), &claim);
            }
        }
    }
    assert!(whole > 5, "{whole}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_least_margin_agrees_with_plain_loops(
        seed: u64,
        (placement, overrides, time) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (gamma, ties, wide) in (any::<bool>(), any::<bool>(), any::<bool>()),
    ) {
        let kinds = Kinds { placement, overrides: overrides && seed % 3 == 0, time: time && seed % 3 == 1, gamma: gamma && seed % 3 == 2, ties, wide };
        let (problem, allocation) = instance(seed, kinds);
        let instance = Instance::new(&problem, &allocation).unwrap();
        let found = tightest(&instance).unwrap();
        let plain = Plain::new(&problem, &allocation);
        let least = plain.least(Axiom::EnvyFree);
        prop_assert_eq!(found.as_ref().map(|found| &found.margin), least.as_ref());
        if let Some(found) = found {
            prop_assert_eq!(&plain.envy(found.user, found.envied), &least);
        }
        let ef1 = Claim::derive(Axiom::Ef1, &instance, &Rational::new()).unwrap();
        if ef1.holds.is_some() {
            prop_assert_eq!(&ef1.margin, &plain.least(Axiom::Ef1));
            if let Evidence::EnvyUpToOne { user, envied, .. } = ef1.evidence {
                prop_assert_eq!(&ef1.margin, &plain.envy_up_to_one(user, envied));
            }
        }
        // The repaired allocation is used, because the repaired allocation is feasible without a further repair. Only a
        // quarter of the seeds are judged, because judging takes longer than the search.
        if seed % 4 == 0 {
            let repaired = Allocation { tasks: plain.tasks(), ..allocation };
            let instance = Instance::new(&problem, &repaired).unwrap();
            let claim = Claim::derive(Axiom::EnvyFree, &instance, &Rational::new()).unwrap();
            assert_judged(&problem, &repaired, least.as_ref(), &claim);
        }
    }
}

#[test]
fn equal_bundles_name_the_first_pair() {
    let users = (0..200).map(|n| UserSpec {
        name: format!("u{n}"),
        demand: vec![("cpu".to_owned(), Rational::from((1, n % 7 + 1)))],
        ..UserSpec::default()
    });
    let servers = vec![ServerSpec {
        name: "a".to_owned(),
        capacity: vec![("cpu".to_owned(), Rational::from(200))],
        ..ServerSpec::default()
    }];
    let resources = vec!["cpu".to_owned()];
    let problem =
        Problem::new(ProblemSpec { name: String::new(), resources, servers, users: users.collect() })
            .unwrap();
    let tasks = (0..200).map(|n| vec![(0, Rational::from(n % 7 + 1))]).collect();
    let allocation = Allocation { tasks, ..Allocation::default() };
    let instance = Instance::new(&problem, &allocation).unwrap();
    let pair = tightest(&instance).unwrap().unwrap();
    assert_eq!((pair.user, pair.envied, pair.margin.clone()), (0, 1, Rational::new()));
}
