//! Tests of exact equilibria of linear Fisher markets on random problems of many shapes, with ties and near ties.

use evenhand_exact::axiom::proportional::gap;
use evenhand_exact::{Axiom, Claim, Instance};
use evenhand_mechanisms::{Status, registry};
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational, ServerSpec, UserSpec, format::Source};
use evenhand_testkit::random::pools::{cluster, far_apart};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn answer(problem: &Problem) -> Result<(), String> {
    let tdm = registry::find("ps-dsf-tdm").ok_or("there is no ps-dsf-tdm")?;
    let outcome = tdm.allocate(problem, Arithmetic::Exact).map_err(|error| error.to_string())?;
    let instance = Instance::new(problem, &outcome.allocation).map_err(|error| error.to_string())?;
    let feasible = Claim::derive(Axiom::Feasible, &instance, &Rational::new()).map_err(|e| e.to_string())?;
    let prices = outcome.findings.prices.ok_or("no prices")?;
    let gap = gap(&instance, &Rational::from(1), None, &prices).map_err(|refusal| refusal.to_string())?;
    let is_solved = outcome.findings.status == Some(Status::Solved);
    match is_solved && feasible.holds == Some(true) && gap.is_zero() {
        true => Ok(()),
        false => Err("not an equilibrium".to_owned()),
    }
}

fn check_all(count: u64, problem: impl FnMut(&mut Pcg64Mcg) -> Problem) {
    all_but(0, count, problem);
}

fn all_but(forgiven: usize, count: u64, mut problem: impl FnMut(&mut Pcg64Mcg) -> Problem) {
    let mut failures = Vec::new();
    for seed in 0..count {
        if let Err(why) = answer(&problem(&mut Pcg64Mcg::seed_from_u64(seed))) {
            failures.push(format!("seed {seed}: {why}"));
        }
    }
    assert!(failures.len() <= forgiven, "{} of {count}: {failures:#?}", failures.len());
}

/// The sizes of the rates, weights and limits of a random market.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Numbers {
    /// Whole numbers from 1 to 3.
    Tied,
    /// Numbers up to 1000.
    Plain,
    /// Numbers up to 4, with a relative deviation of up to 2e-12.
    NearTies,
    /// Numbers with a ratio of up to twelve orders of magnitude.
    FarApart,
}

fn number(random: &mut Pcg64Mcg, numbers: Numbers) -> Rational {
    match numbers {
        Numbers::Tied => Rational::from(random.random_range(1..=3)),
        Numbers::Plain => Rational::from((random.random_range(1..=1000), random.random_range(1..=9))),
        Numbers::NearTies => {
            let off = Rational::from((random.random_range(0..=8), 4_000_000_000_000_u64));
            Rational::from(random.random_range(1..=4)) * (Rational::from(1) + off)
        }
        Numbers::FarApart => {
            let power = 10_u64.pow(random.random_range(0..=12));
            Rational::from(random.random_range(1..=99)) * power / 1_000_000u32
        }
    }
}

/// Returns a random market with stated rates.
fn market(
    random: &mut Pcg64Mcg,
    numbers: Numbers,
    limits: f64,
    eligible: f64,
    most: (usize, usize),
) -> Problem {
    let n_classes = random.random_range(1..=most.1);
    let names: Vec<String> = (0..n_classes).map(|i| format!("s{i}")).collect();
    let servers =
        names.iter().map(|name| ServerSpec { name: name.clone(), ..ServerSpec::default() }).collect();
    let users = (0..random.random_range(1..=most.0)).map(|n| {
        let kept = random.random_range(0..n_classes);
        let on = names.iter().enumerate().filter(|(i, _)| *i == kept || random.random_bool(eligible));
        let on: Vec<String> = on.map(|(_, name)| name.clone()).collect();
        let servers = Some(on.clone());
        let gamma = on.into_iter().map(|name| (name, number(random, numbers))).collect();
        UserSpec {
            name: format!("u{n}"),
            weight: Some(number(random, numbers)),
            tasks: random.random_bool(limits).then(|| number(random, numbers) / random.random_range(1..=8)),
            gamma,
            servers,
            ..UserSpec::default()
        }
    });
    let users = users.collect();
    let spec = ProblemSpec { resources: vec!["r".to_owned()], servers, users, ..ProblemSpec::default() };
    Problem::new(spec).unwrap()
}

#[test]
fn solves_small_markets() {
    check_all(2000, |random| cluster(random, 12, 8, 4));
}

#[test]
fn solves_markets_with_weights_far_apart() {
    check_all(500, |random| far_apart(random, (12, 6, 3), 12));
}

#[test]
fn solves_markets_with_stated_rates() {
    for numbers in [Numbers::Plain, Numbers::Tied, Numbers::NearTies, Numbers::FarApart] {
        for (limits, eligible) in [(0.0, 1.0), (0.0, 0.5), (0.5, 0.5), (1.0, 0.7)] {
            // Limits that fill a class up to a fraction of 1e-12 are beyond the accuracy of doubles in some cases.
            let forgiven = if numbers == Numbers::NearTies && limits == 1.0 { 2 } else { 0 };
            all_but(forgiven, 100, |random| market(random, numbers, limits, eligible, (14, 6)));
        }
        check_all(3, |random| market(random, numbers, 0.3, 0.6, (300, 20)));
    }
}

/// Checks markets with more than 20,000 pairs of a user and a class, in which users with a clear choice are
/// fixed during the computation.
#[test]
fn solves_markets_with_many_pairs_of_users_and_classes() {
    for numbers in [Numbers::Plain, Numbers::Tied] {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let problem = std::iter::repeat_with(|| market(&mut random, numbers, 0.3, 0.9, (6000, 12)));
        let places =
            |problem: &Problem| (0..problem.n_users()).map(|n| problem.classes_of(n).count()).sum::<usize>();
        let problem = { problem }.find(|problem| places(problem) > 20_000).unwrap();
        assert_eq!(answer(&problem), Ok(()));
    }
}

/// Checks markets with 10,000 users, for which the computation starts from a sample. The sample is misleading
/// if a user outside it has nearly all the money, or if users with the same preferences are at regular
/// distances in the list.
#[test]
fn solves_markets_that_start_from_a_sample() {
    let many = |money_of_one: u32, period: usize, numbers: Numbers| {
        let mut random = Pcg64Mcg::seed_from_u64(2);
        let names = ["s0", "s1", "s2", "s3"];
        let server = |name: &&str| ServerSpec { name: (*name).to_owned(), ..ServerSpec::default() };
        let users = (0..10_000_usize).map(|n| {
            let gamma = names.iter().enumerate().map(|(i, name)| {
                let likes = if n % period == i { 1000 } else { 1 };
                ((*name).to_owned(), number(&mut random, numbers) * likes)
            });
            let gamma = gamma.collect();
            let weight = if n == 5_001 { Rational::from(money_of_one) } else { number(&mut random, numbers) };
            let tasks = (n % 3 == 0).then(|| number(&mut random, numbers));
            UserSpec { name: format!("u{n}"), weight: Some(weight), tasks, gamma, ..UserSpec::default() }
        });
        let (users, servers) = (users.collect(), names.iter().map(server).collect());
        let spec = ProblemSpec { resources: vec!["r".to_owned()], servers, users, ..ProblemSpec::default() };
        Problem::new(spec).unwrap()
    };
    // The sample consists of every fourth user.
    for (money_of_one, period) in [(1, usize::MAX), (1_000_000_000, usize::MAX), (1, 4), (1_000_000_000, 4)] {
        for numbers in [Numbers::Plain, Numbers::Tied, Numbers::FarApart] {
            let problem = many(money_of_one, period, numbers);
            assert_eq!(answer(&problem), Ok(()), "{money_of_one} {period} {numbers:?}");
        }
    }
}

#[test]
fn solves_markets_of_many_users() {
    check_all(20, |random| cluster(random, 150, 20, 3));
}

#[test]
fn solves_markets_of_one_server_and_millions() {
    for (count, capacity) in [("1000000", "500000"), ("10000000000", "1"), ("1000000000000", "1")] {
        for users in [
            r#"{"name": "a", "demand": {"cpu": 2}}"#,
            r#"{"name": "a", "demand": {"cpu": 2}}, {"name": "b", "weight": 3, "demand": {"cpu": "3/7"}, "servers": ["one"]}"#,
            r#"{"name": "a", "demand": {"cpu": 2}, "tasks": 5}, {"name": "b", "demand": {"cpu": 7}, "demand_on": {"one": {"cpu": 3}}}"#,
        ] {
            let text = format!(
                r#"{{"kind": "allocation-problem", "resources": ["cpu"], "users": [{users}], "servers": [
                    {{"name": "many", "count": {count}, "capacity": {{"cpu": {capacity}}}}},
                    {{"name": "one", "capacity": {{"cpu": 5}}}}]}}"#
            );
            let problem = Source { name: "beside", text: &text }.problem().unwrap();
            assert_eq!(answer(&problem), Ok(()), "{text}");
        }
    }
}
