//! The search for the tightest pair gives the margin of the plain loops, and a pair that has it.

use evenhand_exact::Instance;
use evenhand_exact::axiom::envy_free::tightest;
use evenhand_exact::{Axiom, Claim, Evidence};
use evenhand_problem::{Allocation, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec};
use evenhand_testkit::plain::Plain;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// What a random instance may contain.
#[derive(Debug, Clone, Copy)]
struct Kinds {
    placement: bool,
    overrides: bool,
    time: bool,
    gamma: bool,
    /// Few different numbers, so that ties are the rule.
    ties: bool,
    /// Numbers of some hundred bits.
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_least_margin_is_that_of_the_plain_loops(
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
            prop_assert_eq!(plain.envy(found.user, found.envied), least);
        }
        let ef1 = Claim::derive(Axiom::Ef1, &instance, &Rational::new()).unwrap();
        if ef1.holds.is_some() {
            prop_assert_eq!(&ef1.margin, &plain.least(Axiom::Ef1));
            if let Evidence::EnvyUpToOne { user, envied, .. } = ef1.evidence {
                prop_assert_eq!(ef1.margin, plain.envy_up_to_one(user, envied));
            }
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
