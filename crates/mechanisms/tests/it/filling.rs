//! Tests of progressive filling against its definition, for every rule, on random problems with many ties.

use std::time::{Duration, Instant};

use evenhand_mechanisms::filling::{Draw, Rule, Score, ServerRule, Ties, fill, law, sample, slot_allocation};
use evenhand_mechanisms::{Flags, MechanismError, registry};
use evenhand_problem::{
    Allocation, Arithmetic, Problem, ProblemSpec, Quantities, Rational, ServerSpec, UserSpec,
};
use evenhand_testkit::plain::filling as naive;
use evenhand_testkit::random::small::{SMALL, Shape, problem};
use proptest::prelude::*;

fn rules() -> impl Iterator<Item = Rule> {
    use Score::{Drf, PsDsf, ResidualPsDsf, Tsf};
    use ServerRule::{BestFit, FirstFit, Iid, Joint, Rrr};
    let servers =
        [(Iid, false), (Rrr, false), (FirstFit, false), (BestFit, false), (BestFit, true), (Joint, false)];
    let scores = [Drf, Tsf, PsDsf, ResidualPsDsf];
    scores.into_iter().flat_map(move |score| {
        servers.into_iter().flat_map(move |(server, unfiltered)| {
            [Ties::Low, Ties::High, Ties::Random].map(|ties| Rule { score, server, ties, unfiltered })
        })
    })
}

/// Returns the tasks of each user on each single server.
fn placed(problem: &Problem, allocation: &Allocation) -> Vec<Vec<Rational>> {
    let mut first = vec![0];
    for class in problem.servers() {
        first.push(first[first.len() - 1] + class.count() as usize);
    }
    let mut tasks = vec![vec![Rational::new(); first[first.len() - 1]]; problem.n_users()];
    for placement in allocation.placements.as_ref().expect("placements") {
        assert!(!placement.tasks.is_empty(), "a placement without tasks");
        for (n, x) in &placement.tasks {
            assert!(*x > 0);
            tasks[*n][first[placement.server] + placement.index as usize] += x;
        }
    }
    tasks
}

fn compare(problem: &Problem, step: &Rational, seed: u64) {
    for rule in rules() {
        let allocation = match fill(problem, rule, step, seed) {
            Ok(allocation) => allocation,
            Err(MechanismError::NotApplicable { .. }) => continue,
            Err(error) => panic!("{rule}: {error}"),
        };
        let expected = naive::fill(problem, rule, step, seed);
        let in_tasks = |row: &Vec<u64>| row.iter().map(|steps| Rational::from(step * steps)).collect();
        let expected: Vec<Vec<Rational>> = expected.iter().map(in_tasks).collect();
        assert_eq!(placed(problem, &allocation), expected, "{rule}");
        let sums: Vec<Rational> = expected.iter().map(|row| row.iter().sum()).collect();
        assert_eq!(allocation.totals(), sums, "{rule}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn every_rule_agrees_with_its_definition(problem in problem(SMALL), seed in 0_u64..1000) {
        compare(&problem, &Rational::from(1), seed);
    }

    #[test]
    fn rules_agree_with_their_definition_on_plain_clusters(
        problem in problem(Shape { demand_on: false, gamma: false, placement: false, ..SMALL }),
        seed in 0_u64..1000,
    ) {
        compare(&problem, &Rational::from(1), seed);
    }

    #[test]
    fn rules_agree_with_their_definition_for_fractional_steps(problem in problem(Shape { users: 4, classes: 3, ..SMALL }), p in 1_u32..4, q in 2_u32..4) {
        compare(&problem, &Rational::from((p, q)), 1);
    }
}

/// Returns the problem with numbers of forty digits, which no machine integer can represent. Every amount
/// grows by less than any comparison notices. Weights grow by different amounts.
fn long(problem: &Problem) -> Problem {
    let tiny = Rational::from((1, 10_u64.pow(19))).square();
    let names = problem.resources();
    let named = |amounts: &Quantities, part: &Rational| {
        let amounts = amounts.iter().map(|a| Rational::from(a * part));
        names.iter().cloned().zip(amounts).collect::<Vec<_>>()
    };
    let one = Rational::from(1);
    let servers = problem.servers().iter().enumerate().map(|(i, class)| ServerSpec {
        name: class.name().to_owned(),
        count: Some(Rational::from(class.count())),
        capacity: named(class.capacity(), &(Rational::from(&tiny * (i as u32 + 1)) + 1)),
    });
    let users = problem.users().iter().enumerate().map(|(n, user)| UserSpec {
        name: user.name().to_owned(),
        weight: Some(user.weight() + Rational::from(&tiny * (n as u32))),
        tasks: user.tasks().cloned(),
        demand: named(user.base_demand(), &one),
        servers: user
            .servers()
            .map(|list| list.iter().map(|&i| problem.servers()[i].name().to_owned()).collect()),
        ..UserSpec::default()
    });
    let (servers, users) = (servers.collect(), users.collect());
    Problem::new(ProblemSpec { resources: names.to_vec(), servers, users, ..ProblemSpec::default() }).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn rules_agree_with_their_definition_for_long_numbers(
        problem in problem(Shape { demand_on: false, gamma: false, users: 4, classes: 3, ..SMALL }),
        seed in 0_u64..1000,
    ) {
        compare(&long(&problem), &Rational::from(1), seed);
    }

    #[test]
    fn a_trial_is_an_outcome_of_the_law(
        problem in problem(Shape { users: 2, classes: 2, resources: 2, ..SMALL }),
        seed in 0_u64..1000,
    ) {
        for rule in rules().filter(|rule| rule.ties != Ties::High) {
            let half = Rational::from(1);
            let Ok(law) = law(&problem, rule, &half) else { continue };
            let sum: Rational = law.iter().map(|outcome| &outcome.probability).sum();
            prop_assert_eq!(sum, 1, "{}", rule);
            let mut missing = 0;
            sample(&problem, rule, &half, seed, 5, |x| {
                missing += usize::from(!law.iter().any(|outcome| outcome.steps == x));
            }).unwrap();
            prop_assert_eq!(missing, 0, "{}", rule);
        }
    }
}

fn spec(servers: &[(u64, [u32; 2])], demands: &[[u32; 2]]) -> Problem {
    let resources = ["a".to_owned(), "b".to_owned()];
    let named =
        |amounts: [u32; 2]| resources.iter().cloned().zip(amounts.map(Rational::from)).collect::<Vec<_>>();
    let servers = servers.iter().enumerate().map(|(i, (count, capacity))| ServerSpec {
        name: format!("s{i}"),
        count: Some(Rational::from(*count)),
        capacity: named(*capacity),
    });
    let users = demands.iter().enumerate().map(|(n, demand)| UserSpec {
        name: format!("u{n}"),
        demand: named(*demand),
        ..UserSpec::default()
    });
    let (servers, users) = (servers.collect(), users.collect());
    Problem::new(ProblemSpec { resources: resources.to_vec(), servers, users, ..ProblemSpec::default() })
        .unwrap()
}

/// Checks that small steps tend to the divisible max-min allocation (Kesidis, section IV). With best fit,
/// users stay on the servers that suit them, as max-min fairness requires.
#[test]
fn small_steps_tend_to_the_divisible_allocation() {
    let problem = spec(&[(1, [100, 30]), (1, [30, 100])], &[[5, 1], [1, 5]]);
    let ideal = registry::find("drfh").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
    let rule = Rule { server: ServerRule::BestFit, ..Rule::default() };
    let mut before = None;
    for q in [1_u32, 4, 16, 64, 256] {
        let step = Rational::from((1, q));
        let x = fill(&problem, rule, &step, 0).unwrap();
        let off = x.totals().iter().zip(ideal.allocation.totals()).map(|(x, y)| (y - x).abs()).max().unwrap();
        // The distance is at most a few steps, so it tends to 0 with the step.
        assert!(off <= Rational::from(4) * &step, "{q}: {off}");
        assert!(before.is_none_or(|before| off < before), "{q}: {off}");
        before = Some(off);
    }
}

#[test]
fn the_ideal_is_computed_on_request() {
    let problem = spec(&[(1, [100, 30]), (1, [30, 100])], &[[5, 1], [1, 5]]);
    let fill = registry::find("fill").unwrap();
    assert_eq!(fill.allocate(&problem, Arithmetic::Exact).unwrap().findings.integrality, None);
    for (score, mechanism) in [(Score::Drf, "drfh"), (Score::Tsf, "tsf"), (Score::PsDsf, "ps-dsf")] {
        let flags = Flags::new(Arithmetic::Exact).with("score", score.name()).with("ideal", "");
        let found = fill.allocate_with(&problem, &flags).unwrap().findings.integrality.unwrap();
        assert_eq!(found.mechanism, mechanism);
        let divisible = found.divisible.unwrap();
        assert!(divisible.least_weighted_share >= found.whole.least_weighted_share, "{mechanism}");
        assert!(divisible.tasks >= found.whole.tasks, "{mechanism}");
    }
}

#[test]
fn a_seed_determines_the_trials_and_the_first_is_the_filling() {
    let problem = spec(&[(3, [100, 30]), (2, [30, 100])], &[[5, 1], [1, 5], [3, 3]]);
    for rule in rules().filter(|rule| rule.ties == Ties::Random || rule.server == ServerRule::Iid) {
        let one = Rational::from(1);
        let x = fill(&problem, rule, &one, 5).unwrap();
        assert_eq!(x, fill(&problem, rule, &one, 5).unwrap(), "{rule}");
        let steps = |n: usize| (0..2).map(move |i| (n, i));
        sample(&problem, rule, &one, 5, 1, |found| {
            for (n, i) in (0..3).flat_map(steps) {
                assert_eq!(x.on(n, i), found[n][i], "{rule}");
            }
        })
        .unwrap();
    }
}

fn error(problem: &Problem, rule: Rule, step: &Rational) -> MechanismError {
    fill(problem, rule, step, 0).unwrap_err()
}

#[test]
fn refuses_wrong_steps_and_too_large_problems() {
    let problem = spec(&[(1, [10, 10])], &[[1, 1]]);
    let one = Rational::from(1);
    for step in [Rational::new(), Rational::from(-1)] {
        let found = error(&problem, Rule::default(), &step);
        assert!(matches!(found, MechanismError::BadOption { option: "step", .. }), "{found}");
    }
    let found = error(&problem, Rule { unfiltered: true, ..Rule::default() }, &one);
    assert!(matches!(found, MechanismError::BadOption { option: "unfiltered", .. }), "{found}");
    let crowd = spec(&[(1_000_000_000_000, [10, 10])], &[[1, 1]]);
    for rule in rules() {
        assert!(matches!(error(&crowd, rule, &one), MechanismError::Limit { .. }), "{rule}");
        assert!(
            sample(&crowd, rule, &one, 0, 3, |_| ()).is_err() && law(&crowd, rule, &one).is_err(),
            "{rule}"
        );
    }
    let endless = spec(&[(1, [4_000_000_000, 4_000_000_000])], &[[1, 1]]);
    let found = error(&endless, Rule::default(), &Rational::from((1, 1_000_000)));
    assert!(matches!(found, MechanismError::Limit { .. }), "{found}");
    let slots = registry::find("slots").unwrap();
    let needs = slots.allocate(&problem, Arithmetic::Exact).unwrap_err();
    assert!(matches!(needs, MechanismError::NeedsOption { option: "slots", .. }), "{needs}");
    for count in [0, u64::MAX] {
        let found = slot_allocation(&problem, count, Ties::Low, 0).unwrap_err();
        assert!(matches!(found, MechanismError::BadOption { option: "slots", .. }), "{found}");
    }
    assert!(matches!(slot_allocation(&crowd, 10, Ties::Low, 0), Err(MechanismError::Limit { .. })));
}

#[test]
fn fills_problems_without_users_or_capacity() {
    let one = Rational::from(1);
    for problem in
        [spec(&[(2, [10, 10])], &[]), spec(&[(2, [0, 0])], &[[1, 1]]), spec(&[(2, [1, 1])], &[[2, 2]])]
    {
        for rule in rules() {
            let x = fill(&problem, rule, &one, 0).unwrap();
            assert_eq!(x.placements, Some(Vec::new()), "{rule}");
            assert!(x.totals().iter().all(|x| *x == 0), "{rule}");
        }
        let x = slot_allocation(&problem, 10, Ties::Low, 0).unwrap();
        assert_eq!(x.placements, Some(Vec::new()));
    }
}

#[test]
fn finite_tasks_are_whole() {
    let mut specs = vec![UserSpec {
        name: "u".to_owned(),
        demand: vec![("a".to_owned(), Rational::from(1))],
        tasks: Some(Rational::from((17, 5))),
        ..UserSpec::default()
    }];
    specs.push(UserSpec { name: "v".to_owned(), tasks: Some(Rational::from((1, 2))), ..specs[0].clone() });
    let servers = vec![ServerSpec {
        name: "s".to_owned(),
        capacity: vec![("a".to_owned(), Rational::from(10))],
        ..ServerSpec::default()
    }];
    let resources = vec!["a".to_owned()];
    let problem =
        Problem::new(ProblemSpec { resources, servers, users: specs, ..ProblemSpec::default() }).unwrap();
    for rule in rules() {
        assert_eq!(fill(&problem, rule, &Rational::from(1), 0).unwrap().totals(), [3, 0], "{rule}");
        let half = Rational::from((1, 2));
        let x = fill(&problem, rule, &half, 0).unwrap();
        assert_eq!(x.totals(), [Rational::from((3, 1)), half], "{rule}");
    }
}

/// Checks the joint rule on thousands of servers with the same free capacity. Not every server is visited for
/// every task. Before, 30,000 servers took more than a minute, and a third of them a ninth of that time.
#[test]
fn joint_filling_is_fast_on_many_equal_servers() {
    let rule =
        Rule { score: Score::ResidualPsDsf, server: ServerRule::Joint, ties: Ties::Low, unfiltered: false };
    let problem = spec(&[(30_000, [15, 15])], &[[15, 0], [2, 0]]);
    let started = Instant::now();
    let filled = fill(&problem, rule, &Rational::from(1), 0).unwrap();
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    // A server with a task of the first user is full. On every other server, at most one unit is left.
    let [first, second] = [0, 1].map(|n| filled.totals()[n].clone());
    assert_eq!(second, Rational::from(30_000 - &first) * 7);
}

/// Checks best fit on servers whose order by free amounts changes all the time: several times as many tasks
/// as servers, three resources, servers with equal proportions, and users that may not run everywhere.
#[test]
fn best_fit_follows_changes_in_the_order_of_servers() {
    let resources: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
    let named = |amounts: [u32; 3]| resources.iter().cloned().zip(amounts.map(Rational::from)).collect();
    let mut draw = Draw::new(7, 0);
    for _ in 0..2 {
        let mut below = |n: u64| draw.below(n) as u32;
        let shapes = [[12, 12, 12], [24, 24, 24], [24, 12, 6], [6, 30, 12], [0, 20, 20]];
        let servers = shapes.map(|capacity| ServerSpec {
            name: format!("{capacity:?}"),
            count: Some(Rational::from(8 + below(6))),
            capacity: named(capacity),
        });
        let users = (0..6).map(|n| UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(1 + below(3))),
            demand: named([below(3), 1 + below(5), below(5)]),
            servers: (n % 3 == 2).then(|| servers[..3].iter().map(|server| server.name.clone()).collect()),
            ..UserSpec::default()
        });
        let users = users.collect();
        let spec = ProblemSpec {
            resources: resources.clone(),
            servers: servers.to_vec(),
            users,
            ..ProblemSpec::default()
        };
        let problem = Problem::new(spec).unwrap();
        let is_of_interest = |rule: &Rule| {
            matches!(rule.server, ServerRule::BestFit | ServerRule::Joint)
                && matches!(rule.score, Score::Drf | Score::ResidualPsDsf)
        };
        for rule in rules().filter(is_of_interest) {
            let allocation = fill(&problem, rule, &Rational::from(1), 3).unwrap();
            let expected = naive::fill(&problem, rule, &Rational::from(1), 3);
            let in_tasks = |row: &Vec<u64>| row.iter().map(|steps| Rational::from(*steps)).collect();
            let expected: Vec<Vec<Rational>> = expected.iter().map(in_tasks).collect();
            assert_eq!(placed(&problem, &allocation), expected, "{rule}");
        }
    }
}
