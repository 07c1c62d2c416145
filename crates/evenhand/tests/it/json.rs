//! Tests of `--format json`: standard output contains only one document, and the document has the documented
//! fields.

use crate::common;

use common::{CONSTRAINED, FIGURE_1, Folder, ONE_SERVER, Output, applicable, of_programmes};
use evenhand::mechanisms::registry;
use serde_json::{Value, json};

/// Checks that an exact number is written as text in lowest terms, without a decimal point and without a sign
/// other than `-`.
#[track_caller]
fn is_exact(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no text"));
    let (p, q) = text.split_once('/').unwrap_or((text, "2"));
    let p = p.strip_prefix('-').unwrap_or(p);
    let is_natural =
        |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit()) && (t == "0" || !t.starts_with('0'));
    assert!(is_natural(p) && is_natural(q) && q != "1" && q != "0" && text != "-0", "{text}");
}

/// Collects every number in the document.
fn numbers<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(map) => map.values().for_each(|value| numbers(value, found)),
        Value::Array(list) => list.iter().for_each(|value| numbers(value, found)),
        _ => found.push(value),
    }
}

/// Returns the names of an object's fields.
fn names(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[track_caller]
fn run(folder: &Folder, arguments: &[&str], status: i32) -> Output {
    let output = folder.run(&[arguments, &["--format", "json"]].concat()).ends_with(status);
    output.json();
    assert!(output.stdout.starts_with('{') && output.stdout.ends_with("}\n"), "{}", output.stdout);
    output
}

#[test]
fn solve_writes_exact_numbers() {
    for text in [FIGURE_1, CONSTRAINED] {
        let folder = Folder::with(text);
        for mechanism in of_programmes(text) {
            let document =
                run(&folder, &["solve", "problem.json", "--summary", "--exact", "-m", mechanism], 0).json();
            assert_eq!(document["kind"], "allocation");
            assert_eq!(document["mechanism"], mechanism);
            assert_eq!(document["sharing"], "rdm");
            assert_eq!(document["arithmetic"], "exact");
            let hash = document["problem_sha256"].as_str().unwrap();
            assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
            assert!(document["seconds"].as_f64().unwrap() >= 0.0);
            let mut found = Vec::new();
            for field in ["tasks", "summary", "utilisation"] {
                numbers(&document[field], &mut found);
            }
            assert!(!found.is_empty());
            // The utilisation of a capacity of 0 is null.
            found.into_iter().filter(|value| !value.is_null()).for_each(is_exact);
        }
    }
}

#[test]
fn solve_writes_floating_point_numbers() {
    let folder = Folder::with(CONSTRAINED);
    let document = run(&folder, &["solve", "problem.json", "--summary", "--float", "-m", "drfh"], 0).json();
    assert_eq!(document["arithmetic"], "float");
    let mut found = Vec::new();
    for field in ["tasks", "summary", "utilisation"] {
        numbers(&document[field], &mut found);
    }
    assert!(
        !found.is_empty() && found.iter().all(|value| value.is_number() || value.is_null()),
        "{document}"
    );
    assert!(document["summary"]["a"]["tasks"].is_number() && document["tasks"]["a"]["fast"].is_number());
}

#[test]
fn exact_arithmetic_is_the_default() {
    let folder = Folder::with(CONSTRAINED);
    let solve = |more: &[&str]| {
        let arguments = [&["solve", "problem.json", "-m", "drfh"][..], more].concat();
        let mut document = run(&folder, &arguments, 0).json();
        document["seconds"].take();
        document
    };
    let document = solve(&[]);
    assert_eq!(document["arithmetic"], "exact");
    assert_eq!(document, solve(&["--exact"]));
    assert_eq!((&document["kind"], &document["version"]), (&json!("allocation"), &json!(1)));
    folder.run(&["solve", "problem.json", "-m", "drfh", "--exact", "--float"]).fails_with(2, "--float");
}

#[test]
fn the_summary_agrees_with_the_tasks() {
    let folder = Folder::with(FIGURE_1);
    let call = ["solve", "problem.json", "--exact", "-m", "drfh"];
    assert!(run(&folder, &call, 0).json().get("summary").is_none(), "it is written where it is asked for");
    let document = run(&folder, &[&call[..], &["--summary"]].concat(), 0).json();
    assert_eq!(document["tasks"], json!({"user 1": {"high-memory": "10"}, "user 2": {"high-cpu": "10"}}));
    for (user, cpu, memory) in [("user 1", "2", "10"), ("user 2", "10", "2")] {
        let resources = json!({"cpu": cpu, "memory": memory});
        let summary = json!({"tasks": "10", "dominant_share": "5/7", "resources": resources});
        assert_eq!(document["summary"][user], summary);
    }
    assert_eq!(
        document["utilisation"],
        json!({"high-memory": {"cpu": "1", "memory": "5/6"}, "high-cpu": {"cpu": "5/6", "memory": "1"}}),
    );
    assert_eq!(
        run(&folder, &["solve", "problem.json", "--exact", "-m", "c-drfh"], 0).json()["mechanism"],
        "drfh"
    );
}

#[test]
fn the_file_and_standard_output_are_the_same_document() {
    let folder = Folder::with(FIGURE_1);
    let output = run(&folder, &["solve", "problem.json", "--exact", "-m", "drfh", "-o", "a.json"], 0);
    assert_eq!(folder.read("a.json"), output.stdout);
}

#[test]
fn certify_lists_claims_and_unchecked_axioms() {
    let folder = Folder::with(FIGURE_1);
    folder.solve("drfh", true, "a.json");
    let document = run(&folder, &["certify", "problem.json", "a.json"], 0).json();
    let claims = document["claims"].as_array().unwrap();
    let axioms: Vec<&str> = claims.iter().map(|claim| claim["axiom"].as_str().unwrap()).collect();
    let usual =
        ["feasible", "work-conserving", "pareto-optimal", "envy-free", "sharing-incentive", "max-min"];
    assert_eq!(axioms, usual);
    for claim in claims {
        assert_eq!(claim["holds"], json!(true));
        is_exact(&claim["margin"]);
    }
    assert_eq!(claims[5]["share"], "drfh");
    let not_checked: Vec<&str> =
        document["not_checked"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    for name in ["integer-feasible", "ef1", "bottleneck-fair", "njc", "ps-dsf", "proportional"] {
        assert!(not_checked.contains(&name), "{name} is not in {not_checked:?}");
    }
    assert!(axioms.iter().all(|axiom| !not_checked.contains(axiom)));
}

#[test]
fn certify_reports_a_violated_axiom() {
    let folder = Folder::with(FIGURE_1);
    folder.solve("per-server-drf", true, "a.json");
    let document = run(&folder, &["certify", "problem.json", "a.json", "-o", "c.json"], 1).json();
    let claim =
        document["claims"].as_array().unwrap().iter().find(|c| c["axiom"] == "pareto-optimal").unwrap();
    assert_eq!(claim["holds"], json!(false));
    is_exact(&claim["margin"]);
    assert!(claim["margin"].as_str().unwrap().starts_with('-'));
    // A violation is proven too, so the certificate is valid.
    let document = run(&folder, &["check", "c.json"], 0).json();
    assert_eq!(document["valid"], json!(true));
}

#[test]
fn certify_reports_an_axiom_that_does_not_apply() {
    let folder = Folder::with(FIGURE_1);
    folder.solve("drfh", true, "a.json");
    let arguments = ["certify", "problem.json", "a.json", "--axiom", "single-resource-fair"];
    let document = run(&folder, &arguments, 0).json();
    assert_eq!(document["claims"][0]["holds"], Value::Null);
    assert!(!document["claims"][0]["why"].as_str().unwrap().is_empty());
}

#[test]
fn check_reports_validity_and_reason() {
    let folder = Folder::with(FIGURE_1);
    folder.solve("drfh", true, "a.json");
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]).ends_with(0);
    let document = run(&folder, &["check", "c.json"], 0).json();
    assert_eq!((&document["valid"], &document["claims"]), (&json!(true), &json!(6)));
    folder.write("c.json", folder.read("c.json").replace("\"margin\":\"2/3\"", "\"margin\":\"3/4\""));
    let document = run(&folder, &["check", "c.json"], 1).json();
    assert_eq!(document["valid"], json!(false));
    assert!(document["reason"].as_str().unwrap().contains("envy-free"), "{document}");
}

#[test]
fn compare_lists_mechanisms_and_claims() {
    let folder = Folder::with(CONSTRAINED);
    let document = run(&folder, &["compare", "problem.json"], 0).json();
    let columns = document["mechanisms"].as_array().unwrap();
    let mut shown = Vec::new();
    for column in columns {
        let name = column["name"].as_str().unwrap();
        if let Some(why) = column.get("not_applicable") {
            assert!(!why.as_str().unwrap().is_empty());
            continue;
        }
        shown.push(name);
        assert_eq!(names(&column["tasks"]), ["a", "b", "c", "d"]);
        column["tasks"].as_object().unwrap().values().for_each(is_exact);
        let mut resources = names(&column["utilisation"]);
        resources.sort_unstable();
        assert_eq!(resources, ["cpu", "gpu", "memory"]);
        column["utilisation"].as_object().unwrap().values().for_each(is_exact);
        is_exact(&column["price_of_fairness"]);
        for axiom in ["feasible", "pareto-optimal", "envy-free", "sharing-incentive"] {
            let verdict = &column["axioms"][axiom];
            assert!(verdict["holds"].is_boolean(), "{name}, {axiom}: {verdict}");
            is_exact(&verdict["margin"]);
        }
    }
    let default = registry::by_default();
    let default: Vec<&str> = default.iter().map(|mechanism| mechanism.info.id).collect();
    let expected =
        applicable(CONSTRAINED).map(|mechanism| mechanism.info.id).filter(|id| default.contains(id));
    assert_eq!(shown, expected.collect::<Vec<_>>());
    let utilitarian = columns.iter().find(|column| column["name"] == "utilitarian").unwrap();
    assert_eq!(utilitarian["price_of_fairness"], "1");
}

#[test]
fn compare_accepts_no_capacity_and_no_users() {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "a", "capacity": {"cpu": 1}}], "users": []}"#;
    let document = run(&Folder::with(text), &["compare", "problem.json", "-m", "drfh"], 0).json();
    let column = &document["mechanisms"][0];
    assert_eq!(column["utilisation"], json!({"cpu": "0", "gpu": null}));
    assert_eq!(column["tasks"], json!({}));
    assert_eq!(column["price_of_fairness"], Value::Null);
}

#[test]
fn explain_reports_verdicts_and_rows() {
    let folder = Folder::with(ONE_SERVER);
    folder.solve("drf", true, "a.json");
    for (user, verdict) in [("x", "blocked"), ("y", "blocked"), ("z", "satisfied")] {
        let document = run(&folder, &["explain", "problem.json", "a.json", "--user", user], 0).json();
        assert_eq!(document["user"], user);
        assert_eq!(document["verdict"], verdict);
        is_exact(&document["tasks"]);
        is_exact(&document["dominant_share"]);
    }
    let document = run(&folder, &["explain", "problem.json", "a.json", "--user", "x"], 0).json();
    assert_eq!(document["servers"]["pool"]["bottlenecks"][0]["resource"], "memory");
    // Memory is exhausted. More cpu also helps, because the usage of x then is a smaller share.
    let rows = document["one_more_unit"].as_array().unwrap();
    let gains: Vec<_> = rows.iter().map(|row| (row["resource"].as_str().unwrap(), &row["tasks"])).collect();
    assert!(matches!(gains.as_slice(), [("cpu", _), ("memory", _)]), "{gains:?}");
    gains.into_iter().for_each(|(_, tasks)| is_exact(tasks));
    assert_eq!(rows[0]["changes_shares"], true);
}

#[test]
fn import_schema_and_reproduce_write_json() {
    let folder = Folder::new();
    folder.write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\na,32000,1024,0,\n");
    folder.write("pods.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,0,0\n");
    let output = run(&folder, &["import", "openb", "nodes.csv", "pods.csv"], 0);
    assert_eq!(output.json()["kind"], "allocation-problem");
    for name in ["problem", "reservation", "allocation", "certificate"] {
        run(&folder, &["schema", name], 0);
    }
    folder.run(&["reproduce", "drfh.figure-2", "ps-dsf.figure-2", "-o", "album"]).ends_with(0);
    for name in ["drfh.figure-2.svg", "drfh.figure-2.tex", "ps-dsf.figure-2.svg", "index.html"] {
        assert!(!folder.read(&format!("album/{name}")).is_empty(), "{name}");
    }
    let page = folder.read("album/index.html");
    assert!(
        page.contains("Content-Security-Policy") && page.contains("<svg") && !page.contains("<img"),
        "{page}"
    );
    assert!(!page.contains(" style=") && !page.contains("unsafe-inline"), "{page}");
    folder.run(&["reproduce", "--list"]).ends_with(0);
    folder.run(&["reproduce", "drfh", "--list"]).fails(2);
    folder.run(&["reproduce", "drfh.figure-2", "-o", "nodes.csv"]).fails(2);
    let document = run(&folder, &["reproduce", "drfh"], 0).json();
    let entries = document["entries"].as_array().unwrap();
    assert!(!entries.is_empty());
    for entry in entries {
        for field in ["id", "source", "paper", "ours", "agrees", "note"] {
            assert!(entry.get(field).is_some(), "{field} is not in {entry}");
        }
        assert!(entry["agrees"].is_boolean() || entry["agrees"].is_null(), "{entry}");
    }
}

/// Without data, no values are compared. The page, the list and the status state this, and no value is shown
/// as zero.
#[test]
fn reproduce_explains_missing_data() {
    let folder = Folder::new();
    // An existing but empty file counts as missing data.
    std::fs::create_dir_all(folder.path().join("data/google2011")).unwrap();
    folder.write("data/google2011/machine_configs_t0.csv", "");
    let at = folder.path().join("data");
    let run = |arguments: &[&str]| {
        let output = folder.command(arguments).env("EVENHAND_DATA", &at).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Output { status: output.status.code().unwrap(), stdout, stderr }
    };
    for id in ["snapshots", "drfh.table-2", "simulation.reservation.figure-5.150"] {
        let output = run(&["reproduce", id, "-o", "album"]).ends_with(3);
        assert!(output.stdout.contains("NOT CHECKED"), "{id}: {}", output.stdout);
        assert!(output.stdout.contains("the data is not here: set EVENHAND_DATA"), "{id}: {}", output.stdout);
        assert!(!output.stdout.contains("0.0 %"), "{id}: {}", output.stdout);
        assert!(folder.read("album/index.html").contains("the data is not here"), "{id}");
        for entry in
            run(&["reproduce", id, "--format", "json"]).ends_with(3).json()["entries"].as_array().unwrap()
        {
            assert_eq!((&entry["ours"], &entry["agrees"]), (&Value::Null, &Value::Null), "{entry}");
        }
    }
    let list = run(&["reproduce", "--list"]).ends_with(0).stdout;
    let table_2 = list.lines().find(|line| line.starts_with("drfh.table-2")).unwrap();
    assert!(table_2.contains("not checked: the data is not here"), "{table_2}");
    run(&["reproduce", "simulation.drfh.figure-99"]).fails(2);
}

const WARNING: &str = r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
    "servers": [{"name": "a", "capacity": {"cpu": 1}}],
    "users": [{"name": "u", "demand": {"gpu": 1}}, {"name": "v", "demand": {"cpu": 1}}]}"#;

#[test]
fn warnings_are_written_to_standard_error_unless_quiet() {
    let folder = Folder::with(WARNING);
    folder.solve("drfh", true, "a.json");
    for arguments in [
        &["solve", "problem.json", "-m", "drfh"][..],
        &["compare", "problem.json"],
        &["certify", "problem.json", "a.json"],
        &["explain", "problem.json", "a.json", "--user", "v"],
    ] {
        let loud = run(&folder, arguments, 0);
        assert!(loud.stderr.starts_with("warning: "), "{arguments:?}: {}", loud.stderr);
        let quiet = folder.run(&[arguments, &["--quiet"]].concat()).ends_with(0);
        assert_eq!(quiet.stderr, "", "{arguments:?}");
    }
    // The option `--quiet` does not hide errors.
    folder.run(&["solve", "problem.json", "-m", "drf", "--quiet", "--format", "json"]).ends_with(0);
    folder.run(&["solve", "nowhere.json", "-m", "drf", "--quiet", "--format", "json"]).fails(2);
}

/// Without a terminal, the output has no colours and no progress bar, whatever the value of `NO_COLOR`.
#[test]
fn output_without_a_terminal_has_no_colours() {
    let folder = Folder::with(FIGURE_1);
    folder.solve("drfh", true, "a.json");
    for no_color in [None, Some(""), Some("1")] {
        for arguments in [
            &["--help"][..],
            &["-h"],
            &["solve", "--help"],
            &["help", "certify"],
            &["--version"],
            &["nonsense"],
            &[],
            &["solve", "problem.json", "-m", "drfh"],
            &["compare", "problem.json"],
            &["certify", "problem.json", "a.json"],
            &["reproduce", "drfh"],
            &["solve", "a.json", "-m", "drfh"],
        ] {
            let mut command = folder.command(arguments);
            command.env_remove("NO_COLOR");
            if let Some(value) = no_color {
                command.env("NO_COLOR", value);
            }
            let output = common::finish(command, b"", std::time::Duration::from_secs(60));
            assert!(!output.stdout.contains('\u{1b}'), "{arguments:?}: {:?}", output.stdout);
            assert!(!output.stderr.contains('\u{1b}'), "{arguments:?}: {:?}", output.stderr);
            assert!(!output.stderr.contains('\r'), "{arguments:?}: {:?}", output.stderr);
        }
    }
}
