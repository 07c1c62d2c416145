//! Tests of hierarchical filling for users whose demand depends on the server class. The usage of groups
//! counts base demands. The usage of servers counts the demands on their class.

use evenhand_mechanisms::tree::{
    Settings, StopKind, Whole, entitlements, fill_whole, levels, stops_of_groups, why,
};
use evenhand_mechanisms::{MechanismError, registry};
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use evenhand_testkit::plain;
use evenhand_testkit::random::trees::{self, Shape};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;
use serde_json::{Value, json};

const POOL: Shape = Shape { groups: 4, users: 6, classes: 1 };
const CLUSTER: Shape = Shape { groups: 4, users: 6, classes: 3 };

fn read(document: &Value) -> Problem {
    let text = document.to_string();
    Source { name: "problem", text: &text }.problem().unwrap_or_else(|error| panic!("{error}"))
}

fn random(rng: &mut Pcg64, shape: Shape, on: bool) -> Value {
    let mut document = trees::json(rng, shape);
    trees::demands_by_class(rng, &mut document);
    if on {
        trees::limit_classes(rng, &mut document);
    }
    document
}

fn filled(problem: &Problem) -> Allocation {
    let outcome = registry::find("tree").unwrap().allocate(problem, Arithmetic::Exact);
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", problem_to_json(problem))).allocation
}

fn totals(document: &Value) -> Vec<Rational> {
    filled(&read(document)).totals()
}

fn by_name(document: &Value) -> Vec<(String, Rational)> {
    let problem = read(document);
    let names = problem.users().iter().map(|user| user.name().to_owned());
    let mut named: Vec<_> = names.zip(filled(&problem).totals()).collect();
    named.sort();
    named
}

#[test]
fn agrees_with_a_filling_from_the_definition() {
    let mut other = 0;
    for seed in 0..300 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let shape = if seed % 3 == 0 { POOL } else { CLUSTER };
        let document = random(&mut rng, shape, seed % 2 == 0);
        let problem = read(&document);
        assert_eq!(filled(&problem).totals(), plain::tree::fill(&problem), "seed {seed}: {document}");
        let mut plain = document.clone();
        for user in plain["users"].as_array_mut().unwrap() {
            user.as_object_mut().unwrap().remove("demand_on");
        }
        other += u32::from(totals(&plain) != totals(&document));
    }
    assert!(other > 100, "{other}");
}

#[test]
fn whole_tasks_are_placed_as_by_the_definition() {
    let mut placed = 0;
    for seed in 0..200 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let document = random(&mut rng, if seed % 3 == 0 { POOL } else { CLUSTER }, seed % 2 == 0);
        let problem = read(&document);
        let best_fit = seed % 4 < 2;
        let whole = Whole { best_fit, ..Whole::default() };
        let allocation = fill_whole(&problem, "fill", whole).unwrap();
        let plain = plain::tree::Whole { last: false, best_fit, guarantees_first: true };
        let of_servers = plain::tree::fill_whole(&problem, plain);
        let mut sums = vec![0; problem.n_users()];
        of_servers.iter().for_each(|of| sums.iter_mut().zip(of).for_each(|(sum, tasks)| *sum += tasks));
        assert_eq!(allocation.totals(), sums, "seed {seed}: {document}");
        placed += sums.iter().sum::<u64>();
    }
    assert!(placed > 1000, "{placed}");
}

#[test]
fn the_order_of_the_file_does_not_matter() {
    let mut rng = Pcg64::seed_from_u64(2);
    for at in 0..80 {
        let document = random(&mut rng, CLUSTER, at % 2 == 0);
        let mut other = document.clone();
        for field in ["groups", "users", "servers", "resources"] {
            other[field].as_array_mut().unwrap().shuffle(&mut rng);
        }
        assert_eq!(by_name(&document), by_name(&other), "{document}");
    }
}

/// Checks that in a single group without guarantees, users are compared as they are without groups.
#[test]
fn tree_with_one_group_compares_users_as_drfh() {
    let mut rng = Pcg64::seed_from_u64(3);
    let mut more = 0;
    for _ in 0..100 {
        let mut document = random(&mut rng, CLUSTER, false);
        document["share"] = json!({});
        document["groups"] = json!([{"name": "all"}]);
        for user in document["users"].as_array_mut().unwrap() {
            user["group"] = json!("all");
        }
        let grouped = totals(&document);
        document["groups"] = json!([]);
        for user in document["users"].as_array_mut().unwrap() {
            user.as_object_mut().unwrap().remove("group");
        }
        let problem = read(&document);
        let drfh = registry::find("drfh").unwrap().allocate(&problem, Arithmetic::Exact).unwrap();
        assert_eq!(grouped, drfh.allocation.totals(), "{document}");
        assert_eq!(totals(&document), grouped);
        let held = |r: usize| {
            let of_user = |(n, x): (usize, &Rational)| &problem.users()[n].base_demand()[r] * x.clone();
            grouped.iter().enumerate().map(of_user).sum::<Rational>()
        };
        more += u32::from((0..problem.n_resources()).any(|r| held(r) > problem.total_capacity()[r]));
    }
    assert!(more > 10, "{more}");
}

/// Checks that a demand that is the same on all classes can also be stated by class.
#[test]
fn a_demand_repeated_by_class_changes_nothing() {
    let mut rng = Pcg64::seed_from_u64(4);
    for _ in 0..60 {
        let document = random(&mut rng, CLUSTER, true);
        let mut once = document.clone();
        let mut twice = document;
        for user in once["users"].as_array_mut().unwrap() {
            user.as_object_mut().unwrap().remove("demand_on");
        }
        let classes: Vec<Value> =
            twice["servers"].as_array().unwrap().iter().map(|class| class["name"].clone()).collect();
        for user in twice["users"].as_array_mut().unwrap() {
            let demand = user["demand"].clone();
            let on = classes.iter().map(|name| (name.as_str().unwrap().to_owned(), demand.clone()));
            user["demand_on"] = Value::Object(on.collect());
        }
        assert_eq!(totals(&once), totals(&twice));
    }
}

/// Returns a problem with ten new cards and twelve old cards. For one of the users, a new card does the work
/// of two old cards.
fn two_kinds() -> Value {
    json!({"kind": "allocation-problem", "resources": ["gpu"],
        "servers": [{"name": "new", "capacity": {"gpu": 10}}, {"name": "old", "capacity": {"gpu": 12}}],
        "groups": [{"name": "a"}, {"name": "b"}],
        "users": [{"name": "x", "group": "a", "demand": {"gpu": 1}, "demand_on": {"old": {"gpu": 2}}},
                  {"name": "y", "group": "b", "demand": {"gpu": 1}}]})
}

/// Both users rise together by their base demands. x gets the ten new cards and y gets ten old cards. Of the
/// two cards that are left, each user gets s tasks, which take 2s + s cards: 10 + 2/3 tasks.
#[test]
fn levels_count_base_demands_and_placements_class_demands() {
    assert_eq!(totals(&two_kinds()), [Rational::from((32, 3)), Rational::from((32, 3))]);
}

/// User x demands two cards, or one card on old servers. Alone, x has 5 + 12 tasks, whose base demands are 34
/// of 22 cards.
#[test]
fn usage_by_base_demand_may_exceed_the_capacity() {
    let mut document = two_kinds();
    document["users"] =
        json!([{"name": "x", "group": "a", "demand": {"gpu": 2}, "demand_on": {"old": {"gpu": 1}}}]);
    assert_eq!(totals(&document), [17]);
    // A limit on the whole cluster counts base demands, which allows four tasks. A limit on classes counts
    // the cards that are really used.
    document["groups"][0]["limit"] = json!({"gpu": 8});
    assert_eq!(totals(&document), [4]);
    document["groups"][0] = json!({"name": "a", "on": {"old": {"limit": {"gpu": 3}}}});
    assert_eq!(totals(&document), [8]);
    // The amount kept back for b leaves 16 cards of the total. They bound the base demands of a's tasks.
    document["groups"] = json!([{"name": "a"}, {"name": "b", "guarantee": {"gpu": 6}, "lend": {"gpu": 0}}]);
    assert_eq!(totals(&document), [8]);
    // An amount kept back of another resource does not bound it.
    document["resources"] = json!(["gpu", "cpu"]);
    document["groups"][1] = json!({"name": "b", "guarantee": {"cpu": 6}, "lend": {"cpu": 0}});
    assert_eq!(totals(&document), [17]);
}

/// Group a is below its guarantee of 8 until its base demands are 8, which is four tasks wherever they run.
/// Then b catches up.
#[test]
fn a_guarantee_counts_base_demands() {
    let mut document = two_kinds();
    document["groups"][0]["guarantee"] = json!({"gpu": 8});
    document["users"][0] = json!({"name": "x", "group": "a", "demand": {"gpu": 2}, "servers": ["old"],
                                  "demand_on": {"old": {"gpu": 3}}});
    document["users"][1]["servers"] = json!(["old"]);
    // Four tasks of x use all 12 cards.
    assert_eq!(totals(&document), [4, 0]);
    document["servers"][1]["capacity"]["gpu"] = json!(20);
    // y gets the eight cards that are left, and its base demands then equal those of a.
    assert_eq!(totals(&document), [4, 8]);
    document["servers"][1]["capacity"]["gpu"] = json!(30);
    // The base demands of each are 2z: 3z + 2z = 30.
    assert_eq!(totals(&document), [6, 12]);
}

#[test]
fn refuses_users_without_a_base_demand() {
    let mut document = two_kinds();
    document["users"][0] =
        json!({"name": "x", "group": "a", "servers": ["old"], "demand_on": {"old": {"gpu": 2}}});
    let problem = read(&document);
    let error = registry::find("tree").unwrap().allocate(&problem, Arithmetic::Exact).unwrap_err();
    assert!(
        matches!(&error, MechanismError::NotApplicable { why, .. }
        if why == "user `x` has no base demand (`demand`) by which groups are compared"),
        "{error}"
    );
    assert!(fill_whole(&problem, "fill", Whole::default()).is_err());
    let kai = Settings { rule: Some("kai".parse().unwrap()), ..Settings::default() };
    assert!(entitlements(&problem, &kai).is_err());
    // A user that cannot run any task is not compared.
    document["users"][0]["demand_on"]["old"]["gpu"] = json!(2);
    document["users"][0]["tasks"] = json!(0);
    assert_eq!(totals(&document), [0, 22]);
}

#[test]
fn explains_by_class_what_stops_a_user() {
    let mut document = two_kinds();
    document["groups"][0]["on"] = json!({"old, new": {"limit": {"gpu": 6}}});
    let problem = read(&document);
    let of_text = |tasks: Value| {
        let text = json!({"kind": "allocation", "arithmetic": "exact", "tasks": tasks}).to_string();
        Source { name: "a", text: &text }.allocation(&problem).unwrap().allocation
    };
    let x =
        |allocation: &Allocation| why(&problem, allocation, 0, &Settings::default()).unwrap().users.remove(0);
    // Two tasks on old servers use four of the six cards of the limit. Two more tasks fit on new servers, or
    // one more task on old servers.
    let two = of_text(json!({"x": {"old": 2}}));
    assert_eq!((x(&two).room, x(&two).stops.len()), (Rational::from(2), 0));
    // All new cards are used, so only one more task fits.
    assert_eq!(x(&of_text(json!({"x": {"old": 2}, "y": {"new": 10}}))).room, 1);
    let full = of_text(json!({"x": {"old": 3}}));
    let stops = x(&full).stops;
    let kind = StopKind::ClassLimit {
        group: "a".to_owned(),
        servers: vec![0, 1],
        resource: 0,
        most: Rational::from(6),
    };
    assert_eq!(
        stops.iter().map(|stop| (&stop.kind, &stop.brings)).collect::<Vec<_>>(),
        [(&kind, &Rational::from(1))]
    );
    assert_eq!(stops_of_groups(&problem, &full, 0, &Settings::default()).unwrap(), [kind]);
    let standing = levels(&problem, &full, &Settings::default()).unwrap();
    let a = standing.iter().find(|of| of.name == "a").unwrap();
    assert_eq!(a.share, Rational::from((3, 22)));
    assert!(a.next.as_ref().unwrap().is_stopped);
    // If base demands differ from the amounts that tasks really use, the amount that a may borrow is the free
    // capacity of the servers.
    let amounts = why(&problem, &full, 0, &Settings::default()).unwrap().amounts;
    assert_eq!((&amounts[0].held, &amounts[0].may_borrow), (&Rational::from(3), &Rational::from(16)));
}
