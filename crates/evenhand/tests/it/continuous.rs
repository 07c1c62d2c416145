//! Tests of NJC, proportional and alpha fairness, and the Fisher market on the command line: fields, options
//! and unusual input.

use crate::common;

use common::{Folder, Output};
use serde_json::{Value, json};

const POOL: &str = r#"{"kind": "allocation-problem", "resources": ["r1", "r2"],
    "servers": [{"name": "pool", "capacity": {"r1": 1, "r2": 1}}],
    "users": [{"name": "a", "weight": "1/2", "tasks": 1, "demand": {"r1": 1, "r2": 1}},
              {"name": "b", "weight": "3/10", "tasks": 1, "demand": {"r2": 1}},
              {"name": "c", "weight": "1/5", "tasks": 1, "demand": {"r1": 1}}]}"#;

#[track_caller]
fn run(folder: &Folder, arguments: &[&str], status: i32) -> Output {
    folder.run(&[arguments, &["--format", "json"]].concat()).ends_with(status)
}

fn solve(problem: &str, options: &[&str], status: i32) -> Value {
    let folder = Folder::with(problem);
    let arithmetic: &[&str] = if options.contains(&"--exact") { &[] } else { &["--float"] };
    let arguments = [&["solve", "problem.json"], options, arithmetic].concat();
    run(&folder, &arguments, status).json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn floating_point_answers_have_prices_and_a_proven_gap() {
    for mechanism in
        [&["njc"][..], &["proportional"], &["alpha", "--alpha", "1"], &["alpha", "--alpha", "1/2"]]
    {
        let document = solve(POOL, &[&["-m"], mechanism].concat(), 0);
        assert_eq!(document["arithmetic"], "float");
        assert!((0.0..1e-12).contains(&number(&document["gap"])), "{mechanism:?}: {}", document["gap"]);
        let prices = document["prices"]["pool"].as_object().unwrap();
        assert!(prices.values().all(|price| number(price) > 0.0), "{prices:?}");
        assert_eq!(document["status"], "solved");
        assert!(document["iterations"].as_u64().unwrap() > 0);
    }
    let njc = solve(POOL, &["-m", "njc"], 0);
    assert_eq!(njc["witness"]["a"]["server"], "pool");
    assert_eq!(njc["bottlenecks"], json!({"pool": ["r1", "r2"]}));
}

#[test]
fn the_exact_answer_has_witnesses() {
    let document = solve(POOL, &["-m", "njc", "--exact"], 0);
    assert_eq!(document["tasks"], json!({"a": {"pool": "1/2"}, "b": {"pool": "1/2"}, "c": {"pool": "1/2"}}));
    assert_eq!(document["witness"]["b"], json!({"server": "pool", "resource": "r2"}));
    assert_eq!(document["arithmetic"], "exact");
}

#[test]
fn selects_an_answer_or_lists_all_answers() {
    for (goal, value) in [("max-utilisation", "2"), ("max-tasks", "3/2"), ("max-min-share", "5/4")] {
        let document = solve(POOL, &["-m", "njc", "--exact", "--select", goal], 0);
        let selection = json!({"goal": goal, "value": value, "proven": true, "bound": value});
        assert_eq!(document["selection"], selection);
    }
    let document = solve(POOL, &["-m", "njc", "--exact", "--faces"], 0);
    let ends = [("1/2", "1/2"), ("7/10", "3/10")];
    let point =
        |(z, rest): &(&str, &str)| json!({"a": {"pool": z}, "b": {"pool": rest}, "c": {"pool": rest}});
    let points: Vec<Value> = ends.iter().map(point).collect();
    assert_eq!(document["extreme_points"], json!(points));
    assert_eq!(document["faces"][0]["dimension"], 1);
}

#[test]
fn written_answers_can_be_certified_and_checked() {
    let runs: [(&[&str], &str); 5] = [
        (&["njc", "--exact"], "0"),
        (&["njc", "--exact", "--reduce"], "0"),
        (&["ps-dsf-tdm", "--exact"], "0"),
        (&["proportional", "--exact"], "1e-12"),
        (&["alpha", "--float", "--alpha", "7/2"], "1e-9"),
    ];
    for (mechanism, tolerance) in runs {
        let folder = Folder::with(POOL);
        let solve = [&["solve", "problem.json", "-o", "a.json", "-m"], mechanism].concat();
        run(&folder, &solve, 0);
        let axiom = if mechanism[0] == "njc" { "njc" } else { "proportional" };
        let certify = ["certify", "problem.json", "a.json", "--axiom", axiom, "--axiom", "feasible"];
        let certify = [&certify[..], &["--tolerance", tolerance, "-o", "c.json"]].concat();
        let document = run(&folder, &certify, 0).json();
        assert_eq!(document["claims"][0]["holds"], true, "{mechanism:?}: {document}");
        if mechanism[0] == "alpha" {
            assert_eq!(document["claims"][0]["alpha"], "7/2");
        }
        let sharing = if mechanism[0] == "ps-dsf-tdm" { "tdm" } else { "rdm" };
        assert_eq!(run(&folder, &["check", "c.json", "--sharing", sharing], 0).json()["valid"], true);
    }
}

#[test]
fn an_unfair_allocation_is_refuted() {
    let folder = Folder::with(POOL);
    let tasks = r#"{"kind": "allocation", "tasks": {"a": {"pool": "9/10"}, "b": {"pool": "1/10"},
        "c": {"pool": "1/10"}}}"#;
    folder.write("a.json", tasks);
    for axiom in ["njc", "proportional"] {
        let certify = ["certify", "problem.json", "a.json", "--axiom", axiom, "-o", "c.json"];
        let document = run(&folder, &certify, 1).json();
        assert_eq!(document["claims"][0]["holds"], false);
        assert_eq!(run(&folder, &["check", "c.json"], 0).json()["valid"], true);
    }
}

#[test]
fn explain_shows_entitlement_and_prices() {
    for mechanism in ["njc", "proportional"] {
        let folder = Folder::with(POOL);
        run(&folder, &["solve", "problem.json", "--float", "-m", mechanism, "-o", "a.json"], 0);
        let document = run(&folder, &["explain", "problem.json", "a.json", "--user", "b"], 0).json();
        let entitled = &document["entitled"];
        assert_eq!(entitled["entitlement"], "3/10");
        assert_eq!(entitled["largest_bottleneck_share"]["resource"], "r2");
        assert_eq!(entitled["prices"].as_array().unwrap().len(), 1, "{entitled}");
        let text = folder.run(&["explain", "problem.json", "a.json", "--user", "b"]).ends_with(0).stdout;
        assert!(text.contains("is entitled to 3/10") && text.contains("no justified complaint"), "{text}");
        let price = text
            .lines()
            .find_map(|line| line.strip_prefix("Prices of the resources that it uses, in weight per unit: "));
        // An exact price is printed as a fraction.
        assert!(
            price.is_some_and(|price| price.starts_with("r2 on pool") && price.ends_with("0.6.")),
            "{text}"
        );
    }
}

#[test]
fn refuses_unsuitable_options() {
    let wrong: [&[&str]; 9] = [
        &["-m", "alpha"],
        &["-m", "alpha", "--alpha", "0"],
        &["-m", "alpha", "--alpha", "-1"],
        &["-m", "alpha", "--alpha", "1e9"],
        &["-m", "alpha", "--alpha", "half"],
        &["-m", "proportional", "--alpha", "2"],
        &["-m", "drfh", "--select", "max-tasks"],
        &["-m", "njc", "--select", "most"],
        &["-m", "proportional", "--criterion"],
    ];
    for options in wrong {
        let folder = Folder::with(POOL);
        folder.run(&[&["solve", "problem.json"], options].concat()).ends_with(2);
    }
}

/// Unusual problems: demands of 0 for an exhausted resource, no tasks, no capacity, unlimited tasks in a
/// pool, weights that differ by a factor of 10^9, and no user at all.
#[test]
fn solves_unusual_problems() {
    let zero_on_the_bottleneck = r#"{"kind": "allocation-problem", "resources": ["r1", "r2"],
        "servers": [{"name": "pool", "capacity": {"r1": 1, "r2": 1}}],
        "users": [{"name": "a", "tasks": 1, "demand": {"r1": 1}}, {"name": "b", "tasks": 1, "demand": {"r1": 1}},
                  {"name": "c", "tasks": 1, "demand": {"r2": "1/10"}}]}"#;
    let no_tasks = r#"{"kind": "allocation-problem", "resources": ["r"],
        "servers": [{"name": "pool", "capacity": {"r": 1}}],
        "users": [{"name": "a", "tasks": 0, "demand": {"r": 1}}, {"name": "b", "demand": {"r": 1}}]}"#;
    let no_capacity = r#"{"kind": "allocation-problem", "resources": ["r", "s"],
        "servers": [{"name": "pool", "capacity": {"r": 1}}],
        "users": [{"name": "a", "demand": {"r": 1, "s": 1}}, {"name": "b", "tasks": 5, "demand": {"r": 1}}]}"#;
    let unlimited = r#"{"kind": "allocation-problem", "resources": ["r", "s"],
        "servers": [{"name": "pool", "capacity": {"r": 1, "s": 1}}],
        "users": [{"name": "a", "demand": {"r": 2, "s": "1/2"}}, {"name": "b", "demand": {"s": 3}}]}"#;
    let far_apart = r#"{"kind": "allocation-problem", "resources": ["r", "s"],
        "servers": [{"name": "x", "capacity": {"r": 1, "s": 2}}, {"name": "y", "capacity": {"r": 3, "s": 1}}],
        "users": [{"name": "a", "weight": 1000000000, "demand": {"r": 1, "s": "1/2"}},
                  {"name": "b", "demand": {"r": "1/2", "s": 1}}]}"#;
    let nobody = r#"{"kind": "allocation-problem", "resources": ["r"],
        "servers": [{"name": "pool", "capacity": {"r": 1}}], "users": []}"#;
    for problem in [zero_on_the_bottleneck, no_tasks, no_capacity, unlimited, far_apart, nobody] {
        for mechanism in [
            &["njc"][..],
            &["njc", "--exact"],
            &["njc", "--select", "max-tasks"],
            &["proportional", "--float"],
            &["proportional", "--exact"],
            &["alpha", "--float", "--alpha", "2"],
            &["alpha", "--float", "--alpha", "1/2"],
            &["ps-dsf-tdm", "--float"],
            &["ps-dsf-tdm", "--exact"],
        ] {
            let folder = Folder::with(problem);
            let solve = [&["solve", "problem.json", "-o", "a.json", "--quiet", "-m"], mechanism].concat();
            // A ratio of 10^18 between values exceeds the precision of floating point, and the status reports
            // this.
            let output = folder.run(&solve);
            let may_end_at_the_limit = problem == far_apart && mechanism[0] == "alpha";
            assert!(
                output.status == 0 || may_end_at_the_limit && output.status == 3,
                "{mechanism:?}: {output:?}"
            );
            let feasible = ["certify", "problem.json", "a.json", "--axiom", "feasible", "--quiet"];
            assert_eq!(
                run(&folder, &feasible, 0).json()["claims"][0]["holds"],
                true,
                "{mechanism:?}: {problem}"
            );
        }
    }
}

/// If the time limit is reached, the answer is still written and reported. It is marked as approximate.
#[test]
fn writes_a_floating_point_answer_with_status_3_at_the_time_limit() {
    for mechanism in
        [&["njc"][..], &["proportional"], &["alpha", "--alpha", "2"], &["utilitarian"], &["ps-dsf"]]
    {
        let folder = Folder::with(POOL);
        let arguments =
            [&["solve", "problem.json", "-o", "x.json", "--seconds", "0", "-m"], mechanism].concat();
        let output = folder.run(&arguments).ends_with(3);
        assert!(output.stderr.contains("ended with the status `limit`"), "{mechanism:?}: {output:?}");
        let document: Value = serde_json::from_str(&folder.read("x.json")).unwrap();
        assert_eq!((&document["status"], &document["arithmetic"]), (&json!("limit"), &json!("float")));
        folder.run(&["certify", "problem.json", "x.json", "--axiom", "feasible"]).ends_with(0);
    }
}

/// An answer for another objective or other entitlements makes no claim about axioms for the objective and
/// the entitlements of the file.
#[test]
fn answers_for_another_objective_claim_no_axiom_of_the_file() {
    let per_weight = solve(POOL, &["-m", "alpha", "--alpha", "2", "--per-weight", "--exact"], 0);
    assert_eq!(per_weight["rule"], "per-weight");
    let without = solve(POOL, &["-m", "njc", "--no-entitlement", "b, c", "--exact"], 0);
    assert_eq!(
        (&without["rule"], &without["tasks"]["a"]["pool"]),
        (&json!("no-entitlement b,c"), &json!("1"))
    );
    let folder = Folder::with(POOL);
    folder.write("x.json", per_weight.to_string());
    let certified = folder.run(&["certify", "problem.json", "x.json", "--format", "json"]);
    assert!([0, 1].contains(&certified.status), "{certified:?}");
    let certified = certified.json();
    let claims = certified["claims"].as_array().unwrap();
    assert!(claims.iter().all(|claim| claim["axiom"] != "proportional"), "{claims:?}");
    folder
        .run(&["solve", "problem.json", "-m", "njc", "--no-entitlement", "bb"])
        .fails_with(2, "there is no user `bb`");
}
