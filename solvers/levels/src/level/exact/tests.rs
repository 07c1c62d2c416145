//! Every way to a first basis ends at the optimum that simplex steps alone reach, exactly.

use std::collections::BTreeMap;

use evenhand_exact::Share;
use evenhand_problem::{Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec};
use evenhand_testkit::random::clusters::{Cluster, Eligibility};
use evenhand_testkit::random::static_shares::Noise;

use super::super::inside::{self, FirstBasis};
use super::super::keys;
use super::super::part::{GroupOnClass, Need};
use super::super::start::guess;
use super::*;

/// A way to a first basis, given the unit of the level and what groups need.
type Way<'c> = &'c dyn Fn(&Part<'_>, f64, &[Need]) -> FirstBasis;

/// What becomes of the basis that the interior point method finds.
type Change<'c> = &'c dyn Fn(&Part<'_>, FirstBasis) -> FirstBasis;

/// The first level of a problem without limits of tasks, with prices that prove it: by simplex steps alone, or from the
/// basis that `first` finds.
fn level(problem: &Problem, first: Option<Way<'_>>) -> Rational {
    let share = Share::Dominant.coefficients(problem).expect("the share applies");
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let data = LevelData::new(&constraints, &share);
    let part = Part::whole(&data);
    let mut search = Search::new(&part, Settings::default());
    let master = search.master.as_mut().expect("HiGHS takes the programme");
    master.leave_other_methods();
    if let Some(first) = first {
        let needs = vec![Need { multiple: 1.0, fixed: 0.0 }; part.groups.len()];
        master.enter(&first(&part, master.unit, &needs)).expect("a basis that HiGHS takes");
    }
    let solved = in_doubles(&mut search).expect("an optimum in doubles").is_some();
    let round = newton(&mut search, &Integers::new(&data), solved).expect("an exact optimum");
    let priced = round.prices.iter().enumerate();
    let worth: Rational = priced.map(|(row, p)| Rational::from(p * part.row_capacity(row))).sum();
    let scale: Rational = round.level_prices.iter().sum();
    for (g, price) in round.level_prices.iter().enumerate() {
        assert!(part.classes[g].iter().all(|&c| round.price(&part, g, c) >= *price), "group {g} pays less");
    }
    assert_eq!(&round.level * scale, worth);
    round.level
}

fn of_interior_point(part: &Part<'_>, unit: f64, needs: &[Need]) -> FirstBasis {
    inside::start(part, unit, needs, &guess(part).prices).expect("a basis of an interior point")
}

fn assert_same(problem: &Problem) {
    assert_eq!(level(problem, Some(&of_interior_point)), level(problem, None), "{}", problem.name());
}

const CLUSTER: Cluster = Cluster {
    users: 100,
    classes: 40,
    resources: 3,
    eligibility: Eligibility::Everywhere,
    zero: 0,
    finite: 0,
    most: 64,
    weights: 5,
};

/// Fewer groups than rows, and fewer rows than groups; columns come by price.
#[test]
fn columns_are_generated() {
    for (seed, users, classes) in [(1, 100, 40), (2, 80, 60), (3, 220, 24)] {
        let problem = Cluster { users, classes, ..CLUSTER }.problem(&mut Noise::new(seed));
        assert_same(&problem);
    }
}

/// All columns from the beginning: each group may run on few classes.
#[test]
fn no_column_is_left_out() {
    let cluster = Cluster { users: 500, classes: 30, eligibility: Eligibility::Zones, ..CLUSTER };
    for seed in [4, 5] {
        assert_same(&cluster.problem(&mut Noise::new(seed)));
    }
}

/// Classes that are all alike, and small numbers: nearly everything is worth the same everywhere, so that costs
/// decide.
#[test]
fn ties_are_broken() {
    assert_same(&alike(&Rational::from(1)));
    for seed in [6, 7] {
        let cluster = Cluster { users: 250, most: 3, eligibility: Eligibility::Half, ..CLUSTER };
        assert_same(&cluster.problem(&mut Noise::new(seed)));
    }
}

/// 40 classes that differ in nothing; the memory that a task of the first user takes.
fn alike(memory: &Rational) -> Problem {
    let amounts = |cpu: u32, memory: Rational| {
        let named = [("cpu", Rational::from(cpu)), ("memory", memory)];
        named.into_iter().map(|(name, amount)| (name.to_owned(), amount)).collect()
    };
    let servers = (0..40).map(|i| ServerSpec {
        name: format!("s{i}"),
        capacity: amounts(24, Rational::from(36)),
        ..ServerSpec::default()
    });
    let users = (0..90_u32).map(|n| UserSpec {
        name: format!("u{n}"),
        demand: amounts(1 + n % 9, if n == 0 { memory.clone() } else { Rational::from(1 + n / 9) }),
        ..UserSpec::default()
    });
    let problem = Problem::new(ProblemSpec {
        name: "alike".to_owned(),
        resources: vec!["cpu".to_owned(), "memory".to_owned()],
        servers: servers.collect(),
        users: users.collect(),
    });
    problem.expect("a problem")
}

/// Few rows: the dual simplex method with keys finds a basis, or leaves the programme to simplex steps.
#[test]
fn keys_end_at_the_same_level() {
    let mut n_found = 0;
    for seed in 12..42 {
        let mut noise = Noise::new(seed);
        let cluster =
            Cluster { users: 150, classes: 2 + noise.below(9) as usize, ..Cluster::any(&mut noise) };
        let problem = Cluster { finite: 0, ..cluster }.problem(&mut noise);
        let found = std::cell::Cell::new(false);
        let first = |part: &Part<'_>, unit: f64, needs: &[Need]| {
            let basis = keys::start(part, unit, needs, &guess(part).prices);
            found.set(basis.is_some());
            basis.map_or_else(
                || FirstBasis {
                    favourite: part.classes.iter().map(|classes| classes[0]).collect(),
                    others: Vec::new(),
                    tight: vec![false; part.rows.len()],
                },
                |(basis, _)| basis,
            )
        };
        assert_eq!(level(&problem, Some(&first)), level(&problem, None), "seed {seed}");
        n_found += usize::from(found.get());
    }
    assert!(n_found > 25, "{n_found}");
}

/// Demands of 0, with which blocks do not close.
#[test]
fn demands_may_be_zero() {
    for seed in [8, 9] {
        assert_same(&Cluster { users: 250, zero: 20, ..CLUSTER }.problem(&mut Noise::new(seed)));
    }
}

/// Blocks of few groups are found before everybody's programme: all levels are those of round after round without.
#[test]
fn blocks_of_few_are_found_first() {
    // By the number of groups of a block.
    let mut found = [0; 10];
    for seed in 50..350 {
        let mut noise = Noise::new(seed);
        let problem = some_are_cramped(&mut noise, seed % 2 == 0, seed % 4 < 2);
        let share = Share::Dominant.coefficients(&problem).expect("the share applies");
        let constraints = Constraints::new(&problem, Sharing::Rdm);
        let data = LevelData::new(&constraints, &share);
        let (integers, settings) = (Integers::new(&data), Settings::default());
        let (mut known, mut waiting) = (Vec::new(), first_parts(&data));
        while let Some(part) = waiting.pop() {
            let mut search = Search::new(&part, settings);
            let solved = in_doubles(&mut search).expect("an optimum in doubles").is_some();
            let solved = round(&part, &mut search, &integers, solved).expect("an exact optimum");
            known.extend(solved.known);
            waiting.extend(solved.rest.parts);
        }
        let mut rounds = Rounds::new(&data);
        for part in &rounds.waiting {
            let solved = solve(part, &integers, settings).expect("an exact optimum");
            let groups =
                |block: &Solved<'_>| block.known.iter().map(|(_, groups)| groups.len()).sum::<usize>();
            solved.peeled.iter().for_each(|block| found[groups(block).min(9)] += 1);
        }
        assert!(rounds.go_on(settings, |_| true).is_none());
        let of_groups = |known: Vec<(Rational, Vec<usize>)>| {
            let each =
                |(level, groups): (Rational, Vec<usize>)| groups.into_iter().map(move |g| (g, level.clone()));
            known.into_iter().flat_map(each).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(of_groups(rounds.known), of_groups(known), "seed {seed}");
    }
    assert!(found[1] > 20 && found[2] > 5 && found[3] > 0, "{found:?}");
}

/// 58 users on three to eight classes each, and ten on two or three of twelve; some have so many tasks, or a demand of
/// 0.
fn some_are_cramped(noise: &mut Noise, are_finite: bool, have_zeros: bool) -> Problem {
    let resources = ["cpu".to_owned(), "memory".to_owned()];
    let amounts = |least: u32, most: u32, noise: &mut Noise| {
        let amount = |name: &String| (name.clone(), Rational::from(least + noise.below(most)));
        resources.iter().map(amount).collect::<Vec<_>>()
    };
    let server = |i: u32| ServerSpec {
        name: format!("s{i}"),
        capacity: amounts(20, 40, noise),
        ..ServerSpec::default()
    };
    let servers = (0..50).map(server).collect();
    let user = |n: u32| {
        let (among, least, more) = if n < 10 { (12, 2, 2) } else { (50, 3, 6) };
        let mut classes: Vec<String> =
            (0..least + noise.below(more)).map(|_| format!("s{}", noise.below(among))).collect();
        classes.sort();
        classes.dedup();
        let mut demand = amounts(1, 9, noise);
        if have_zeros && noise.below(8) == 0 {
            demand[0].1 = Rational::new();
        }
        let tasks = (are_finite && noise.below(8) == 0).then(|| Rational::from(1 + noise.below(20)));
        UserSpec { name: format!("u{n}"), demand, tasks, servers: Some(classes), ..UserSpec::default() }
    };
    let users = (0..68).map(user).collect();
    let spec = ProblemSpec { name: "cramped".to_owned(), resources: resources.to_vec(), servers, users };
    Problem::new(spec).expect("a problem")
}

/// A basis that is no vertex of the programme, or far from the best one, costs steps and nothing else.
#[test]
fn bad_bases_do_no_harm() {
    let problem = CLUSTER.problem(&mut Noise::new(10));
    let expected = level(&problem, None);
    let elsewhere = |part: &Part<'_>, mut basis: FirstBasis| {
        for (g, favourite) in basis.favourite.iter_mut().enumerate() {
            *favourite = part.classes[g][(g * 7) % part.classes[g].len()];
        }
        basis
    };
    let other_rows = |_: &Part<'_>, mut basis: FirstBasis| {
        basis.tight.rotate_left(1);
        basis
    };
    let too_few = |_: &Part<'_>, mut basis: FirstBasis| {
        basis.others.iter_mut().step_by(2).for_each(|(_, basic)| *basic = false);
        basis
    };
    let nobody_splits = |_: &Part<'_>, basis: FirstBasis| {
        let none: Vec<(GroupOnClass, bool)> = Vec::new();
        FirstBasis { others: none, ..basis }
    };
    let bad: [Change<'_>; 4] = [&elsewhere, &other_rows, &too_few, &nobody_splits];
    for (k, change) in bad.into_iter().enumerate() {
        let first =
            |part: &Part<'_>, unit: f64, needs: &[Need]| change(part, of_interior_point(part, unit, needs));
        assert_eq!(level(&problem, Some(&first)), expected, "basis {k}");
    }
}

/// Few placements are left to simplex steps, and so are numbers that doubles do not hold.
#[test]
fn simplex_steps_do_what_is_small_or_out_of_range() {
    let is_left = |problem: &Problem| {
        let share = Share::Dominant.coefficients(problem).expect("the share applies");
        let constraints = Constraints::new(problem, Sharing::Rdm);
        let data = LevelData::new(&constraints, &share);
        let part = Part::whole(&data);
        let needs = vec![Need { multiple: 1.0, fixed: 0.0 }; part.groups.len()];
        let guess = guess(&part);
        inside::start(&part, guess.level, &needs, &guess.prices).is_none()
    };
    let small = Cluster { users: 20, classes: 10, ..CLUSTER };
    assert!(is_left(&small.problem(&mut Noise::new(11))));
    assert!(!is_left(&CLUSTER.problem(&mut Noise::new(11))));
    assert!(!is_left(&alike(&Rational::from(1))));
    assert!(is_left(&alike(&(Rational::from(1) >> 1080))));
}
