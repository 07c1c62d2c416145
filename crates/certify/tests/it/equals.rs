//! Tests that solve equivalent users and identical classes as one. The answer must be one that the mechanism could give
//! for the original problem, and must be proven for the original problem.

use crate::guarantees::tolerance;
use evenhand_certify::{Request, certify, default_requests};
use evenhand_exact::{Axiom, Instance};
use evenhand_levels::level::LevelDual;
use evenhand_mechanisms::equals::Equals;
use evenhand_mechanisms::reduced::Reduced;
use evenhand_mechanisms::{Flags, Mechanism, MechanismError, Outcome, Status, registry};
use evenhand_problem::format::{AllocationDocument, Source};
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational};
use evenhand_testkit::agreement::agreed;
use evenhand_testkit::random::problems::{SMALL, Shape, build, random_spec};
use evenhand_testkit::random::trees;
use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

const FEW: Shape = Shape { users: (1, 4), classes: (1, 3), ..SMALL };

/// The sizes of copies of a user. They are squares, whose roots are rational.
const SIZES: [(u32, u32); 4] = [(1, 1), (4, 1), (9, 4), (1, 16)];

/// Returns a problem with copies of the users of `spec`. `copies[n]` lists the size of each copy of user `n`, as an
/// index into [`SIZES`]. The weight of a copy is multiplied by its size, and its tasks by the size or by the root of
/// the size.
fn with_copies(spec: &ProblemSpec, copies: &[Vec<usize>], roots: bool) -> Problem {
    let mut spec = spec.clone();
    let users = std::mem::take(&mut spec.users);
    for (n, user) in users.into_iter().enumerate() {
        for (at, size) in copies[n % copies.len()].iter().enumerate() {
            let (over, under) = SIZES[*size];
            let (weight, root) =
                (Rational::from((over, under)), Rational::from((over.isqrt(), under.isqrt())));
            let mut copy = user.clone();
            copy.name = format!("{}.{at}", copy.name);
            copy.weight = copy.weight.map(|of| of * &weight);
            copy.tasks = copy.tasks.map(|of| of * if roots { &root } else { &weight });
            spec.users.push(copy);
        }
    }
    build(spec)
}

/// Returns a problem with copies of the server classes of `spec`. `copies[i]` lists how many times as many servers each
/// copy of class `i` has. If `is_apart` is true, the first user may not run on the last class, so the last class is not
/// identical to any other class.
fn with_classes(spec: &ProblemSpec, copies: &[Vec<u32>], is_apart: bool) -> Problem {
    let mut spec = spec.clone();
    let names: Vec<String> = spec.servers.iter().map(|class| class.name.clone()).collect();
    let of = |name: &str| {
        let at = names.iter().position(|other| other == name).expect("it is a class");
        let copies = copies[at % copies.len()].iter().enumerate();
        copies.map(|(k, times)| (format!("{name}.{k}"), *times)).collect::<Vec<(String, u32)>>()
    };
    let classes = std::mem::take(&mut spec.servers);
    for class in classes {
        for (name, times) in of(&class.name) {
            let count = class.count.clone().unwrap_or_else(|| Rational::from(1)) * times;
            spec.servers.push(evenhand_problem::ServerSpec { name, count: Some(count), ..class.clone() });
        }
    }
    let rates = |list: &[(String, Rational)], by_size: bool| -> Vec<(String, Rational)> {
        let of_class = |(name, rate): &(String, Rational)| {
            let rate = rate.clone();
            of(name)
                .into_iter()
                .map(move |(name, times)| (name, Rational::from(&rate * if by_size { times } else { 1 })))
        };
        list.iter().flat_map(of_class).collect()
    };
    for user in &mut spec.users {
        let named =
            |list: &Vec<String>| list.iter().flat_map(|name| of(name)).map(|(name, _)| name).collect();
        user.servers = user.servers.as_ref().map(named);
        user.gamma = rates(&user.gamma, true);
        user.criterion = rates(&user.criterion, false);
        let demand_on = std::mem::take(&mut user.demand_on).into_iter();
        let copied = demand_on
            .flat_map(|(name, demand)| of(&name).into_iter().map(move |(name, _)| (name, demand.clone())));
        user.demand_on = copied.collect();
    }
    if is_apart && let (Some(user), [.., last]) = (spec.users.first_mut(), spec.servers.as_slice()) {
        let all = spec.servers.iter().map(|class| class.name.clone()).collect();
        let mut on = user.servers.take().unwrap_or(all);
        if on.len() > 1 {
            on.retain(|name| *name != last.name);
        }
        user.servers = Some(on);
    }
    build(spec)
}

fn flags(mechanism: &Mechanism, alpha: &str) -> Flags {
    let flags = Flags::new(Arithmetic::Exact);
    if mechanism.takes("alpha") { flags.with("alpha", alpha) } else { flags }
}

/// Returns values that are the same in all answers: the totals if they are unique, and otherwise the sum that is
/// maximised. Returns `None` if neither exists.
fn unique(mechanism: &Mechanism, problem: &Problem, outcome: &Outcome) -> Option<Vec<Rational>> {
    let totals = outcome.allocation.totals();
    let is_within_a_gap = outcome.findings.gap.as_ref().is_some_and(|gap| !gap.is_zero());
    match mechanism.info.id {
        "ps-dsf" => None,
        _ if is_within_a_gap => None,
        // A user with all its tasks may have them on classes that count more or less.
        "generic" => None,
        "utilitarian" => {
            let weights = problem.users().iter().map(|user| user.weight());
            Some(vec![weights.zip(&totals).map(|(weight, x)| Rational::from(weight * x)).sum()])
        }
        _ => Some(totals),
    }
}

/// Returns true if some mechanism solved a smaller problem instead of `problem`.
fn examine(problem: &Problem, alpha: &str) -> bool {
    let mut any = false;
    for mechanism in registry::ALL {
        let id = mechanism.info.id;
        let flags = flags(mechanism, alpha);
        let equals =
            if mechanism.takes("slots") { Equals::Apart } else { (mechanism.equals)(&flags).unwrap() };
        let Some(reduced) = Reduced::new(problem, &equals, mechanism.joins) else { continue };
        let outcome = match mechanism.allocate_with(problem, &flags) {
            Ok(outcome) => outcome,
            Err(MechanismError::NotApplicable { .. }) => continue,
            Err(error) => panic!("{id}: {error}"),
        };
        any = true;
        let size = |problem: &Problem| problem.n_users() + problem.n_servers();
        assert!(size(reduced.problem()) < size(problem));
        let (found, apart) = (&outcome.allocation, (mechanism.solve)(problem, &flags).unwrap());
        if let (Some(one), Some(other)) =
            (unique(mechanism, problem, &outcome), unique(mechanism, problem, &apart))
        {
            assert_eq!(one, other, "{id}");
        }
        if outcome.findings.status.is_some_and(|status| status != Status::Solved) {
            continue;
        }
        let own = registry::axiom_of(found).map(|(axiom, parameters)| Request { axiom, parameters });
        let requests: Vec<Request> = own.into_iter().chain([Request::of(Axiom::Feasible)]).collect();
        let examination = certify(problem, found, &requests, &tolerance(&outcome)).unwrap();
        assert_eq!(examination.undecided, [], "{id}");
        let verdict = agreed(&examination.certificate);
        assert!(verdict.valid, "{id}: {:?}", verdict.reason);
        let holds = examination.certificate.claims.iter().all(|claim| claim.holds != Some(false));
        assert!(holds, "{id}: {:?}", examination.certificate.claims);
    }
    any
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn copies_of_users_get_their_share(
        spec in random_spec(FEW),
        copies in prop::collection::vec(prop::collection::vec(0..SIZES.len(), 1..4), 4),
        roots in any::<bool>(),
    ) {
        examine(&with_copies(&spec, &copies, roots), "2");
    }

    #[test]
    fn copies_of_classes_are_filled_evenly(
        spec in random_spec(FEW),
        copies in prop::collection::vec(prop::collection::vec(1..4_u32, 1..4), 3),
        is_apart in any::<bool>(),
    ) {
        examine(&with_classes(&spec, &copies, is_apart), "2");
    }
}

/// The tasks of an exact mechanism on identical classes are in proportion to the number of servers. The proof has the
/// same prices on these classes.
#[test]
fn identical_classes_are_filled_evenly() {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{"name": "a", "capacity": {"cpu": 9, "memory": 12}}, {"name": "b", "capacity": {"cpu": 4, "memory": 2}},
                    {"name": "c", "count": 3, "capacity": {"cpu": 9, "memory": 12}}, {"name": "d", "capacity": {"cpu": 9, "memory": 12}}],
        "users": [{"name": "u", "demand": {"cpu": 1, "memory": 2}}, {"name": "v", "demand": {"cpu": 3, "memory": 1}},
                  {"name": "w", "demand": {"cpu": 1, "memory": 1}, "servers": ["a", "b", "c"], "tasks": 2}]}"#;
    let problem = Source { name: "alike", text }.problem().unwrap();
    for id in ["drfh", "proportional", "utilitarian", "tree"] {
        let outcome = registry::find(id).unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
        let allocation = &outcome.allocation;
        for n in 0..problem.n_users() {
            // The third user may not run on `d`, so only `a` and `c` are identical.
            assert_eq!(allocation.on(n, 0) * 3, allocation.on(n, 2), "{id} user {n}");
        }
        if let Some(levels) = &outcome.findings.levels {
            let price = |level: &LevelDual, row: usize| {
                level.prices.rows.iter().find(|(at, _)| *at == row).map(|(_, price)| price.clone())
            };
            for level in levels {
                assert_eq!([0, 1].map(|r| price(level, r)), [4, 5].map(|r| price(level, r)), "{id}");
            }
        }
        let requests = default_requests(&problem, allocation);
        let examination = certify(&problem, allocation, &requests, &tolerance(&outcome)).unwrap();
        assert_eq!(examination.undecided, [], "{id}");
        assert!(
            examination.certificate.claims.iter().all(|claim| claim.axiom == Axiom::EnvyFree
                || claim.axiom == Axiom::SharingIncentive
                || claim.holds == Some(true)),
            "{id}"
        );
    }
    let joined = problem.joined().unwrap();
    assert_eq!(joined.problem.servers().iter().map(|class| class.count()).collect::<Vec<_>>(), [4, 1, 1]);
    assert_eq!(joined.members[0], [(0, Rational::from((1, 4))), (2, Rational::from((3, 4)))]);
    let rounded = joined.rounded_parts(&[(0, Rational::from((1, 3))), (2, Rational::from(1))]);
    assert_eq!(rounded.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [0, 2, 3]);
    assert!(rounded[0].1 <= Rational::from((1, 12)) && rounded[0].1 > Rational::from((1, 13)));
}

/// Tests of properties that make two classes different, one at a time.
#[test]
fn distinguishes_classes_that_differ_in_one_property() {
    let joined = |users: &str, groups: &str| {
        let text = format!(
            r#"{{"kind": "allocation-problem", "resources": ["cpu"], {groups}
            "servers": [{{"name": "a", "capacity": {{"cpu": 9}}}}, {{"name": "b", "capacity": {{"cpu": 9}}, "count": 2}}],
            "users": [{{"name": "u", "demand": {{"cpu": 1}} {users}}}, {{"name": "v", "demand": {{"cpu": 2}}}}]}}"#
        );
        let problem = Source { name: "apart", text: &text }.problem().unwrap();
        problem.joined().map(|joined| joined.problem.n_servers())
    };
    assert_eq!(joined("", ""), Some(1));
    assert_eq!(joined(r#", "servers": ["a", "b"]"#, ""), Some(1));
    assert_eq!(joined(r#", "servers": ["a"]"#, ""), None);
    assert_eq!(joined(r#", "demand_on": {"a": {"cpu": 3}}"#, ""), None);
    assert_eq!(joined(r#", "demand_on": {"a": {"cpu": 3}, "b": {"cpu": 3}}"#, ""), Some(1));
    assert_eq!(joined(r#", "criterion": {"a": 3, "b": 4}"#, ""), None);
    assert_eq!(joined(r#", "criterion": {"a": 3, "b": 3}"#, ""), Some(1));
    assert_eq!(joined(r#", "gamma": {"a": 3, "b": 6}"#, ""), None);
    let limit = r#""groups": [{"name": "g", "on": [{"servers": ["a"], "limit": {"cpu": 1}}]}],"#;
    assert_eq!(joined(r#", "group": "g""#, limit), None);
}

#[test]
fn copies_of_users_satisfy_every_law() {
    let spec = |users: &str| -> Problem {
        let text = format!(
            r#"{{"kind": "allocation-problem", "resources": ["cpu", "memory"],
            "servers": [{{"name": "a", "capacity": {{"cpu": 9, "memory": 12}}}}, {{"name": "b", "capacity": {{"cpu": 4, "memory": 2}}}}],
            "users": [{users}, {{"name": "z", "demand": {{"cpu": 1, "memory": 3}}}}]}}"#
        );
        Source { name: "copies", text: &text }.problem().unwrap()
    };
    let user = |name: &str, weight: u32, tasks: u32| {
        format!(
            r#"{{"name": "{name}", "weight": {weight}, "tasks": {tasks}, "demand": {{"cpu": 1, "memory": 1}}}}"#
        )
    };
    let n_merged =
        |problem: &Problem, equals: Equals| equals.merge(problem).map(|merged| merged.problem.n_users());
    let by_weight = spec(&[user("u", 1, 2), user("v", 4, 8)].join(","));
    assert_eq!(n_merged(&by_weight, Equals::ByWeight), Some(2));
    assert_eq!(n_merged(&by_weight, Equals::ByRoot(Rational::from(2))), None);
    assert_eq!(n_merged(&by_weight, Equals::OfOneWeight), None);
    assert_eq!(n_merged(&by_weight, Equals::Apart), None);
    let by_root = spec(&[user("u", 1, 2), user("v", 4, 4)].join(","));
    assert_eq!(n_merged(&by_root, Equals::ByWeight), None);
    let merged = Equals::ByRoot(Rational::from(2)).merge(&by_root).unwrap();
    assert_eq!(*merged.problem.users()[0].weight(), 9, "(1 + 2)^2");
    assert_eq!(merged.part_of[1], (0, Rational::from((2, 3))));
    // Two users of weight 1 together have a weight of the root of 2, which is irrational.
    let equal = spec(&[user("u", 1, 2), user("v", 1, 2)].join(","));
    assert_eq!(n_merged(&equal, Equals::ByRoot(Rational::from((1, 2)))), None);
    assert_eq!(n_merged(&equal, Equals::OfOneWeight), Some(2));
    // The sum of the weights would have the digits of all weights.
    let long = |n: u32| {
        let weight = format!("1/1{:0>300}", n * n + 1);
        format!(r#"{{"name": "l{n}", "weight": "{weight}", "demand": {{"cpu": 1, "memory": 1}}}}"#)
    };
    assert_eq!(n_merged(&spec(&(0..40).map(long).collect::<Vec<_>>().join(",")), Equals::ByWeight), None);
    for problem in [by_weight, by_root, equal] {
        assert!(["1/2", "2", "3"].map(|alpha| examine(&problem, alpha)).contains(&true));
    }
}

/// Rounded tasks in a file are exactly in proportion to the weights. Envy compares tasks divided by weights, and
/// equivalent users must come out equal.
#[test]
fn rounded_tasks_are_in_proportion_to_weights() {
    let weights = ["1", "3", "7", "1/3", "1000"];
    let alike = weights.iter().enumerate().map(|(n, weight)| {
        format!(r#"{{"name": "u{n}", "weight": "{weight}", "demand": {{"cpu": 3, "memory": 1}}}}"#)
    });
    let text = format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu", "memory"],
        "servers": [{{"name": "a", "capacity": {{"cpu": 9, "memory": 12}}}}, {{"name": "b", "capacity": {{"cpu": 4, "memory": 2}}}}],
        "users": [{}, {{"name": "z", "demand": {{"cpu": 1, "memory": 3}}}}]}}"#,
        alike.collect::<Vec<_>>().join(",")
    );
    let problem = Source { name: "alike", text: &text }.problem().unwrap();
    let outcome = registry::find("drfh").unwrap().allocate(&problem, Arithmetic::Float).unwrap();
    let file = AllocationDocument::new(&problem, &outcome.allocation).to_json().unwrap();
    let read = Source { name: "allocation", text: &file }.allocation(&problem).unwrap().allocation;
    // The tasks are rounded down, so nothing has to be repaired.
    assert_eq!(*Instance::new(&problem, &read).unwrap().repair(), 0, "{file}");
    let over_weight = |n: usize| -> Vec<(usize, Rational)> {
        let weight = problem.users()[n].weight();
        read.tasks[n].iter().map(|(i, x)| (*i, Rational::from(x / weight))).collect()
    };
    assert!(!over_weight(0).is_empty());
    for n in 1..weights.len() {
        assert_eq!(over_weight(n), over_weight(0), "{file}");
    }
    let exact = registry::find("drfh").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
    for (found, due) in read.totals().iter().zip(exact.allocation.totals()) {
        assert!(
            Rational::from(found - &due).abs() < due * Rational::from((1, 1_000_000_000_000u64)),
            "{file}"
        );
    }
}

/// Equivalent users of one group are merged. Equivalent users of different groups are not merged.
#[test]
fn only_copies_in_one_group_are_merged() {
    let mut rng = Pcg64::seed_from_u64(27);
    let mut n_merged = 0;
    for _ in 0..60 {
        let mut document = trees::json(&mut rng, trees::Shape { groups: 4, users: 4, classes: 2 });
        let users = document["users"].as_array().unwrap().clone();
        for (n, user) in users.iter().enumerate() {
            let mut copy = user.clone();
            copy["name"] = format!("copy {n}").into();
            if rng.random_bool(0.2) {
                copy.as_object_mut().unwrap().remove("group");
            }
            document["users"].as_array_mut().unwrap().push(copy);
        }
        let text = document.to_string();
        let problem = Source { name: "tree", text: &text }.problem().unwrap();
        n_merged += u32::from(examine(&problem, "2"));
    }
    assert!(n_merged > 40, "{n_merged}");
}

/// For many users, the prices of the mechanism prove Pareto optimality without a linear programme over all of them.
#[test]
fn prices_prove_the_optimum_of_many_in_floating_point() {
    const SHAPES: usize = 40;
    const CLASSES: usize = 12;
    let classes = (0..CLASSES).map(|i| {
        format!(
            r#"{{"name": "s{i}", "count": {}, "capacity": {{"cpu": {}, "memory": {}}}}}"#,
            i + 3,
            16 + 7 * i % 40,
            90 - 5 * i
        )
    });
    let users = (0..4_000).map(|n| {
        let shape = n * 7 % SHAPES;
        let on: Vec<String> =
            (0..CLASSES).filter(|i| !(i + shape).is_multiple_of(3)).map(|i| format!("\"s{i}\"")).collect();
        format!(
            r#"{{"name": "u{n}", "weight": {}, "demand": {{"cpu": {}, "memory": {}}}, "servers": [{}]}}"#,
            1 + n % 3,
            1 + shape % 5,
            1 + shape * 3 % 11,
            on.join(", ")
        )
    });
    let text = format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu", "memory"], "servers": [{}], "users": [{}]}}"#,
        classes.collect::<Vec<_>>().join(",\n"),
        users.collect::<Vec<_>>().join(",\n")
    );
    let problem = Source { name: "many", text: &text }.problem().unwrap();
    let pairs: usize = (0..problem.n_users()).map(|n| problem.classes_of(n).count()).sum();
    assert!(pairs > 20_000, "{pairs}");
    let outcome = registry::find("drfh").unwrap().allocate(&problem, Arithmetic::Float).unwrap();
    let requests = default_requests(&problem, &outcome.allocation);
    let tolerance = Rational::from((1, 1_000_000_000));
    let examination = certify(&problem, &outcome.allocation, &requests, &tolerance).unwrap();
    assert_eq!((examination.undecided.as_slice(), examination.unchecked.as_deref()), (&[][..], None));
    // The tasks are rounded down. A repair would give every number the digits of all rows that are too full.
    assert_eq!(examination.repair, 0);
    assert_eq!(examination.text.as_deref(), Some(examination.certificate.to_json().as_str()));
    for axiom in [Axiom::ParetoOptimal, Axiom::MaxMin, Axiom::WorkConserving] {
        let claim = examination.certificate.claims.iter().find(|claim| claim.axiom == axiom);
        assert_eq!(claim.and_then(|claim| claim.holds), Some(true), "{axiom:?}");
    }
}
