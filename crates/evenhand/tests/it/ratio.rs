//! Tests of `evenhand ratio`: numbers, certificates and wrong input.

use crate::common;

use common::Folder;
use evenhand::problem::{Rational, number};
use evenhand_testkit::golden;
use serde_json::{Value, json};

const SMALL: &str = r#"{"kind": "reservation-problem", "resources": ["cpu"],
    "servers": [{"name": "large", "count": 3, "capacity": {"cpu": 4}},
                {"name": "small", "count": 2, "capacity": {"cpu": 3}}],
    "jobs": [{"name": "a", "demand": {"cpu": 3}, "reward": 5, "load": "1/2"},
             {"name": "b", "demand": {"cpu": 2}, "reward": 3, "load": 2}]}"#;

#[test]
fn reproduces_the_introduction_of_the_paper() {
    let cases = golden::cases("vm.intro.");
    for case in cases {
        let folder = Folder::new();
        let text = golden::reservation(&case, "", None);
        let run = folder.run_with(&["ratio", "-", "-o", "c.json", "--format", "json"], &text).ends_with(0);
        let found = run.json();
        let expected = &case["expected"];
        assert_eq!(found["greedy"], expected["greedy_reward"]);
        assert_eq!(found["optimum"], expected["lp_opt"]);
        assert_eq!(found["ratio"], expected["ratio"]);
        for (step, ours) in expected["greedy"]
            .as_array()
            .unwrap()
            .iter()
            .zip(found["greedy_configurations"].as_array().unwrap())
        {
            assert_eq!(step["fraction"], ours["servers"]);
            for (j, k) in step["config"].as_array().unwrap().iter().enumerate() {
                let jobs = ours["configuration"].get(format!("j{j}")).cloned().unwrap_or(json!(0));
                assert_eq!(*k, jobs);
            }
        }
        let check = folder.run(&["check", "c.json", "--format", "json"]).ends_with(0).json();
        assert_eq!((&check["valid"], &check["claims"]), (&json!(true), &json!(3)));
    }
}

/// The certificate for the example of the paper's introduction contains proofs by tables. With `--trees` it
/// contains only trees.
#[test]
fn trees_replace_tables_in_certificates() {
    let folder = Folder::new();
    let text = golden::reservation(&golden::case("vm.gpa.limit"), "20", None);
    let methods = |options: &[&str]| {
        let arguments = [&["ratio", "-", "-o", "c.json"], options].concat();
        folder.run_with(&arguments, &text).ends_with(0);
        let check = folder.run(&["check", "c.json", "--format", "json"]).ends_with(0).json();
        assert_eq!(check["valid"], true);
        let certificate = folder.read("c.json");
        let is_there = |method| certificate.contains(&format!("\"method\": \"{method}\""));
        (is_there("dynamic-programme"), is_there("tree"))
    };
    assert!(methods(&[]).0);
    assert_eq!(methods(&["--trees"]), (false, true));
    assert_eq!(methods(&["--worst-load", "--trees"]), (false, true));
    folder.run_with(&["ratio", "-", "--trees"], &text).ends_with(2);
}

#[test]
fn whole_servers_agree_with_an_independent_implementation() {
    let case = golden::case("vm.gpa.limit");
    for servers in ["20", "100", "500", "2000", "10000"] {
        let folder = Folder::new();
        let text = golden::reservation(&case, servers, None);
        let found = folder.run_with(&["ratio", "-", "--format", "json"], &text).ends_with(0).json();
        assert_eq!(found["greedy"], case["expected"]["global_greedy"]);
        let per_server = golden::exact(&case["expected"]["gpa"][servers]["served_reward"]);
        let count = number::parse(servers).unwrap();
        let greedy = golden::exact(&found["integer"]["greedy"]);
        assert_eq!(greedy, per_server * count);
        let (lower, upper) = (&found["integer"]["optimum_lower"], &found["integer"]["optimum_upper"]);
        assert!(greedy <= golden::exact(lower) && golden::exact(lower) <= golden::exact(upper));
    }
}

#[test]
fn four_types_attain_the_published_infimum() {
    let case = golden::case("vm.worst4.infimum");
    // The published loads for which the exact infimum is attained.
    let loads = [(48, 13), (18, 13), (3, 1), (2, 1)].map(Rational::from);
    let folder = Folder::new();
    let text = golden::reservation(&case, "", Some(&loads));
    let found = folder.run_with(&["ratio", "-", "--format", "json"], &text).ends_with(0).json();
    let ratio = number::to_f64(&golden::exact(&found["ratio"]));
    golden::assert_near("ratio", &[ratio], &golden::floats(&json!([case["expected"]["inf_ratio"]])), 1e-12);
}

#[test]
fn writes_ratios_of_pools_as_table_json_and_files() {
    let folder = Folder::new();
    folder.write("p.json", SMALL);
    let json = folder.run(&["ratio", "p.json", "--format", "json"]).ends_with(0).json();
    // On a server of 4, the configuration (1 a) leaves no capacity for another job, and (2 b) earns 6.
    assert_eq!(json["greedy_configurations"][0]["configuration"], json!({"b": 2}));
    assert_eq!(json["greedy_configurations"][0]["servers"], json!("3/5"));
    assert_eq!(json["greedy"], json!("28/5"));
    assert_eq!(json["integer"]["greedy"], json!("28"));
    let table = folder.run(&["ratio", "p.json"]).ends_with(0);
    assert!(table.stdout.contains("2 b") && table.stdout.contains("ratio"), "{}", table.stdout);
    let written = folder.run(&["ratio", "p.json", "-o", "c.json"]).ends_with(0);
    assert_eq!(written.stdout, table.stdout);
    // Standard output contains only the certificate.
    let certificate = folder.run(&["ratio", "p.json", "-o", "-"]).ends_with(0).json();
    assert_eq!(certificate["kind"], json!("ratio-certificate"));
    let says = folder.run(&["check", "c.json", "--problem", "p.json"]).ends_with(0).stdout;
    assert!(says.contains("valid: 4 claims, each proven"), "{says}");
    folder.write("q.json", SMALL.replace("\"1/2\"", "0.6"));
    folder.run(&["check", "c.json", "--problem", "q.json"]).ends_with(1);
    let damaged = certificate.to_string().replacen("\"28/5\"", "\"29/5\"", 1);
    folder.write("d.json", &damaged);
    folder.run(&["check", "d.json"]).ends_with(1);
    folder.write("e.json", certificate.to_string().replacen("\"steps\"", "\"stepps\"", 1));
    folder.run(&["check", "e.json"]).fails(2);
}

#[test]
fn reports_problems_with_no_reward_to_earn() {
    let folder = Folder::new();
    for (from, to) in [("\"load\": \"1/2\"", "\"load\": 0"), ("\"reward\": 5", "\"reward\": 0")] {
        let other = if from.contains("load") {
            ("\"load\": 2", "\"load\": 0")
        } else {
            ("\"reward\": 3", "\"reward\": 0")
        };
        folder.write("p.json", SMALL.replace(from, to).replace(other.0, other.1));
        let run = folder.run(&["ratio", "p.json", "--format", "json", "-o", "c.json"]).ends_with(0);
        assert!(run.stderr.contains("warning: there is nothing to earn"));
        assert_eq!(run.json()["ratio"], Value::Null);
        assert_eq!(run.json()["optimum"], json!("0"));
        assert_eq!(folder.run(&["ratio", "p.json", "--quiet"]).ends_with(0).stderr, "");
        folder.run(&["check", "c.json"]).ends_with(0);
    }
}

#[test]
fn refuses_wrong_problems_and_options() {
    let folder = Folder::new();
    let wrong = [
        SMALL.replace("\"cpu\": 3}, \"reward\": 5", "\"cpu\": 30}, \"reward\": 5"),
        SMALL.replace("\"cpu\": 3}, \"reward\": 5", "\"cpu\": 0}, \"reward\": 5"),
        SMALL.replace("\"count\": 3", "\"count\": 0"),
        SMALL.replace("\"count\": 3, ", ""),
        SMALL.replace("\"reward\": 3", "\"reward\": -3"),
        SMALL.replace("\"load\": 2", "\"load\": \"many\""),
        SMALL.replace("\"b\"", "\"a\""),
        SMALL.replace("reservation-problem", "allocation-problem"),
        common::FIGURE_1.to_owned(),
        String::new(),
        "{}".to_owned(),
        SMALL[..200].to_owned(),
    ];
    for text in wrong {
        assert_ne!(text, SMALL);
        folder.write("p.json", &text);
        folder.run(&["ratio", "p.json", "-o", "c.json"]).fails(2);
        folder.run_with(&["ratio", "-", "--format", "json"], &text).fails(2);
    }
    folder.run(&["ratio", "missing.json"]).fails(2);
    folder.run(&["ratio"]).fails(2);
    folder.write("p.json", SMALL);
    folder.run(&["ratio", "p.json", "-o", "p.json"]).fails(2);
    folder.run(&["ratio", "p.json", "-o", "no/such/folder/c.json"]).fails(2);
}
