//! Tests of whole tasks scheduled by the tree: the decisions equal the decisions of a scan that computes
//! everything again at every turn.

use evenhand_mechanisms::filling::{FILL, Ties};
use evenhand_mechanisms::tree::{Rule, Whole};
use evenhand_mechanisms::{Flags, MechanismError, tree};
use evenhand_problem::format::Source;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use evenhand_testkit::plain;
use evenhand_testkit::random::trees::{self, Shape};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

fn read(document: &Value) -> Problem {
    let text = document.to_string();
    Source { name: "problem", text: &text }.problem().unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the tasks on each single server by each user.
fn by_server(problem: &Problem, allocation: &Allocation) -> Vec<Vec<u64>> {
    let mut first = vec![0];
    for class in problem.servers() {
        first.push(first[first.len() - 1] + class.count() as usize);
    }
    let mut tasks = vec![vec![0; problem.n_users()]; first[first.len() - 1]];
    for placement in allocation.placements.as_ref().expect("placements") {
        for (n, x) in &placement.tasks {
            assert!(x.is_integer() && *x > 0);
            tasks[first[placement.server] + placement.index as usize][*n] += x.numer().to_u64().unwrap();
        }
    }
    tasks
}

/// Returns a random document with several servers of each class, and with gangs.
fn random(rng: &mut Pcg64) -> Value {
    let mut document = trees::json(rng, Shape { groups: 6, users: 7, classes: 3 });
    for class in document["servers"].as_array_mut().unwrap() {
        class["count"] = json!(rng.random_range(1..=3));
    }
    for user in document["users"].as_array_mut().unwrap() {
        if rng.random_bool(0.4) {
            user["gang"] = json!(rng.random_range(1..=4));
        }
    }
    document
}

const TIES: [(Ties, bool); 2] = [(Ties::Low, false), (Ties::High, true)];

#[test]
fn decisions_agree_with_a_plain_scan() {
    let mut gangs = 0;
    for seed in 0..300 {
        let document = random(&mut Pcg64::seed_from_u64(seed));
        let problem = read(&document);
        for (ties, last) in TIES {
            let allocation = tree::fill_whole(&problem, "fill", Whole { ties, ..Whole::default() }).unwrap();
            let scan = plain::tree::Whole { last, best_fit: false, guarantees_first: true };
            let expected = plain::tree::fill_whole(&problem, scan);
            assert_eq!(by_server(&problem, &allocation), expected, "{seed} {ties}: {document}");
            for (n, x) in allocation.totals().iter().enumerate() {
                let gang = problem.groups().member(n).gang.unwrap_or(1);
                assert!(Rational::from(x / gang).is_integer());
                gangs += u32::from(gang > 1 && *x > 0);
            }
        }
    }
    assert!(gangs > 100, "{gangs}");
}

/// Checks best fit, first fit, limits on server classes, and the shares of schedulers, which the scan reads
/// from the file.
#[test]
fn decisions_with_best_fit_class_limits_and_rules_agree_with_a_scan() {
    let rules = [
        (None, None),
        (Some(Rule::Hdrf), Some(json!({}))),
        (Some(Rule::Kueue), Some(json!({"of": "surplus", "over": "lendable", "families": true}))),
        (Some(Rule::YuniKorn), Some(json!({"over": "guarantee"}))),
        (Some(Rule::Slurm), Some(json!({}))),
    ];
    let (mut by_fit, mut by_rule, mut by_limits) = (0, 0, 0);
    for seed in 0..240_u64 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut document = random(&mut rng);
        let without = read(&document);
        if seed % 2 == 0 {
            trees::limit_classes(&mut rng, &mut document);
        }
        let problem = read(&document);
        let (rule, share) = &rules[(seed / 2) as usize % rules.len()];
        let mut stated = document.clone();
        if let Some(share) = share {
            stated["share"] = share.clone();
        }
        let stated = read(&stated);
        for (ties, last) in TIES {
            let with = |problem: &Problem, best_fit: bool, rule: Option<Rule>| {
                let whole = Whole { rule, best_fit, ties, seed: 0 };
                by_server(problem, &tree::fill_whole(problem, "fill", whole).unwrap())
            };
            let [first, best] = [false, true].map(|best_fit| {
                let placed = with(&problem, best_fit, *rule);
                let guarantees_first = *rule != Some(Rule::YuniKorn);
                let scan = plain::tree::Whole { last, best_fit, guarantees_first };
                let expected = plain::tree::fill_whole(&stated, scan);
                assert_eq!(placed, expected, "{seed} {ties} {best_fit} {rule:?}: {document}");
                placed
            });
            by_fit += u32::from(first != best);
            by_rule += u32::from(first != with(&problem, false, None));
            by_limits += u32::from(first != with(&without, false, *rule));
        }
    }
    assert!(by_fit > 40 && by_rule > 20 && by_limits > 40, "{by_fit} {by_rule} {by_limits}");
}

/// Checks random ties among servers: the same seed gives the same tasks, and every class of identical servers
/// is drawn.
#[test]
fn random_ties_among_servers_depend_only_on_the_seed() {
    let problem = read(&json!({"kind": "allocation-problem", "resources": ["gpu", "cpu"],
        "servers": [{"name": "node", "count": 3, "capacity": {"gpu": 4, "cpu": 4}},
                    {"name": "other", "capacity": {"gpu": 4, "cpu": 4}}],
        "groups": [{"name": "a"}],
        "users": [{"name": "x", "group": "a", "demand": {"gpu": 1, "cpu": 1}, "tasks": 1}]}));
    let with = |seed: u64| {
        let whole = Whole { best_fit: true, ties: Ties::Random, seed, ..Whole::default() };
        tree::fill_whole(&problem, "fill", whole).unwrap()
    };
    let on_other = (0..200).filter(|seed| !with(*seed).tasks[0].iter().all(|(i, _)| *i == 0)).count();
    // The class has one of the four servers.
    assert!((20..=90).contains(&on_other), "{on_other}");
    assert_eq!(with(7), with(7));
}

#[test]
fn a_gang_starts_whole_or_not_at_all() {
    let problem = |tasks: u64| {
        read(&json!({"kind": "allocation-problem", "resources": ["gpu"],
            "servers": [{"name": "node", "count": 3, "capacity": {"gpu": 4}}],
            "groups": [{"name": "a", "priority": 1}, {"name": "b"}],
            "users": [{"name": "gang", "group": "a", "gang": tasks, "demand": {"gpu": 3}},
                      {"name": "single", "group": "b", "demand": {"gpu": 1}}]}))
    };
    let totals = |problem: &Problem| FILL.allocate(problem, Arithmetic::Exact).unwrap().allocation.totals();
    // Three servers fit one task of 3 units each. A fourth task does not fit, and then no task of the gang
    // runs.
    assert_eq!(totals(&problem(3)), [3, 3]);
    assert_eq!(totals(&problem(4)), [0, 12]);
}

#[test]
fn priorities_count_only_above_the_guarantee() {
    let problem = read(&json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "node", "count": 2, "capacity": {"gpu": 4}}],
        "groups": [{"name": "a", "guarantee": {"gpu": 3}}, {"name": "b", "priority": 1}],
        "users": [{"name": "x", "group": "a", "demand": {"gpu": 1}},
                  {"name": "y", "group": "b", "demand": {"gpu": 1}}]}));
    let outcome = FILL.allocate(&problem, Arithmetic::Exact).unwrap();
    assert_eq!(outcome.allocation.totals(), [3, 5]);
}

#[test]
fn gangs_are_supported_without_groups() {
    let problem = read(&json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "node", "count": 5, "capacity": {"gpu": 1}}],
        "users": [{"name": "x", "gang": 2, "demand": {"gpu": 1}}, {"name": "y", "gang": 2, "demand": {"gpu": 1}}]}));
    let outcome = FILL.allocate(&problem, Arithmetic::Exact).unwrap();
    assert_eq!(outcome.allocation.totals(), [2, 2]);
}

#[test]
fn options_that_contradict_the_tree_are_refused() {
    let problem = trees::problem(&mut Pcg64::seed_from_u64(1), Shape { groups: 2, users: 2, classes: 1 });
    for (flag, value) in [
        ("score", "tsf"),
        ("server", "rrr"),
        ("unfiltered", ""),
        ("step", "1/2"),
        ("ideal", ""),
        ("rule", "kai"),
    ] {
        let flags = Flags::new(Arithmetic::Exact).with(flag, value);
        let error = FILL.allocate_with(&problem, &flags).unwrap_err();
        assert!(matches!(&error, MechanismError::BadOption { option, .. } if *option == flag), "{error}");
    }
}
