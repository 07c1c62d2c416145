//! Tests of the formats of results: one table for programs, LaTeX, decimals, pictures, and the exact answer
//! next to a given allocation.

use crate::common;

use common::{CONSTRAINED, FIGURE_1, Folder};
use serde_json::{Value, json};

/// Two identical classes and two identical users. The placement is not unique, but the number of tasks is
/// unique.
const ANYWHERE: &str = r#"{
  "kind": "allocation-problem",
  "resources": ["cpu"],
  "servers": [{"name": "s", "capacity": {"cpu": 10}}, {"name": "t", "capacity": {"cpu": 10}}],
  "users": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 1}}]
}"#;

fn write_allocation(folder: &Folder, tasks: &Value) {
    folder.write("given.json", json!({"kind": "allocation", "tasks": tasks}).to_string());
}

#[test]
fn compare_writes_one_csv_table() {
    let folder = Folder::with(CONSTRAINED);
    let compare = ["compare", "problem.json", "-m", "drfh", "-m", "ps-dsf", "--format", "csv"];
    let text = folder.run(&compare).ends_with(0).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "mechanism,quantity,of,value,verdict");
    assert!(lines.iter().all(|line| line.split(',').count() >= 5), "{text}");
    let count = |begin: &str| lines.iter().filter(|line| line.starts_with(begin)).count();
    assert_eq!(count("mechanism,"), 1, "{text}");
    assert_eq!((count("drfh,tasks,"), count("drfh,used,")), (4, 3), "{text}");
    assert!(count("ps-dsf,margin of axiom,") > 5, "{text}");
    assert!(text.contains(",violated\n") && text.contains(",holds\n"), "{text}");
    // A mechanism without a result has a row too.
    folder.write("cluster.json", FIGURE_1);
    let text = folder.run(&["compare", "cluster.json", "-m", "drf", "--format", "csv"]).ends_with(0).stdout;
    assert!(text.contains("drf,no result,,,"), "{text}");
}

#[test]
fn tables_are_tabular_in_latex() {
    let folder = Folder::with(FIGURE_1);
    let text = folder.run(&["solve", "problem.json", "-m", "drfh", "--format", "latex"]).ends_with(0).stdout;
    assert!(text.starts_with("\\begin{tabular}{l"), "{text}");
    assert!(text.contains("\\toprule\n") && text.contains("71.4 \\%") && text.ends_with("\\end{tabular}\n"));
    let text =
        folder.run(&["compare", "problem.json", "-m", "drfh", "--format", "latex"]).ends_with(0).stdout;
    assert_eq!(text.matches("\\begin{tabular}").count(), 3, "{text}");
    assert!(text.contains("% Tasks that each user gets\n\\begin{tabular}"), "{text}");
    // A table of fifty users is longer than a page.
    let users: Vec<Value> = (0..50).map(|n| json!({"name": format!("u{n}"), "demand": {"cpu": 1}})).collect();
    let servers = json!([{"name": "s", "capacity": {"cpu": 100}}]);
    let problem =
        json!({"kind": "allocation-problem", "resources": ["cpu"], "servers": servers, "users": users});
    folder.write("many.json", problem.to_string());
    let many = ["compare", "many.json", "-m", "drf", "--users", "all", "--format", "latex"];
    let text = folder.run(&many).ends_with(0).stdout;
    assert!(text.contains("\\begin{longtable}") && text.contains("\\endhead"), "{text}");
    let refused = ["solve", "problem.json", "-m", "drfh", "-o", "a.json"];
    folder.run(&refused).ends_with(0);
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]).ends_with(0);
    folder.run(&["check", "c.json", "--format", "latex"]).fails_with(2, "latex holds only tables");
}

#[test]
fn decimals_are_written_next_to_fractions() {
    let folder = Folder::with(CONSTRAINED);
    let solve = ["solve", "problem.json", "-m", "drfh"];
    folder.run(&[&solve[..], &["-o", "plain.json"]].concat()).ends_with(0);
    folder.run(&[&solve[..], &["-o", "a.json", "--decimals"]].concat()).ends_with(0);
    let document: Value = serde_json::from_str(&folder.read("a.json")).unwrap();
    let plain: Value = serde_json::from_str(&folder.read("plain.json")).unwrap();
    assert!(plain.get("decimals").is_none());
    let mut fractions = 0;
    for (user, on) in document["tasks"].as_object().unwrap() {
        for (server, x) in on.as_object().unwrap() {
            let Some(text) = x.as_str() else { continue };
            let (over, under) = text.split_once('/').unwrap_or((text, "1"));
            let (over, under): (f64, f64) = (over.parse().unwrap(), under.parse().unwrap());
            let decimal = document["decimals"]["tasks"][user][server].as_f64().unwrap();
            assert!((decimal - over / under).abs() <= 1e-15 * decimal.abs(), "{text} {decimal}");
            fractions += 1;
        }
    }
    assert!(fractions > 2, "{document}");
    // Readers accept a file with decimals, and get the same allocation.
    let certify = |name: &str| folder.run(&["certify", "problem.json", name]).ends_with(0).stdout;
    assert_eq!(certify("a.json"), certify("plain.json"));
    let shown = folder.run(&["certify", "problem.json", "a.json", "--format", "json", "--decimals"]);
    let shown = shown.ends_with(0).json();
    assert!(shown["decimals"]["claims"][0]["margin"].is_number(), "{shown}");
    let without = folder.run(&["certify", "problem.json", "a.json", "--format", "json"]).ends_with(0).json();
    assert!(without.get("decimals").is_none());
}

#[test]
fn results_have_pictures() {
    let folder = Folder::with(FIGURE_1);
    let is_picture = |text: &str, what: &str| {
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{what}: {text}");
        assert!(text.contains("user 1") || text.contains("drfh"), "{what}: {text}");
    };
    let solve = ["solve", "problem.json", "-m", "drfh", "-o", "a.json", "--plot", "solve.svg"];
    folder.run(&solve).ends_with(0);
    is_picture(&folder.read("solve.svg"), "solve");
    folder.run(&["certify", "problem.json", "a.json", "--plot", "certify.svg"]).ends_with(0);
    is_picture(&folder.read("certify.svg"), "certify");
    let compare = ["compare", "problem.json", "-m", "drfh", "-m", "utilitarian", "--plot"];
    folder.run(&[&compare[..], &["compare.svg"]].concat()).ends_with(0);
    is_picture(&folder.read("compare.svg"), "compare");
    let printed = folder.run(&[&compare[..], &["-"]].concat()).ends_with(0).stdout;
    assert_eq!(printed, folder.read("compare.svg"));
    folder.run(&["report", "problem.json", "-m", "drfh", "-o", "-", "--plot", "report.svg"]).ends_with(0);
    is_picture(&folder.read("report.svg"), "report");
    folder.run(&[&compare[..], &["x.png"]].concat()).fails_with(2, "SVG only");
    folder.run(&["solve", "problem.json", "-m", "drfh", "--plot", "problem.json"]).fails(2);
}

#[test]
fn polish_adds_an_exact_answer_to_the_given_one() {
    let folder = Folder::with(ANYWHERE);
    // The given allocation has the rounding errors of a solver, and a different placement.
    write_allocation(
        &folder,
        &json!({"a": {"s": 4.0000003, "t": 5.9999998}, "b": {"s": 5.9999997, "t": 4.0000002}}),
    );
    let polish = ["certify", "problem.json", "given.json", "--axiom", "pareto-optimal", "--polish"];
    let out = ["--polish-output", "p.json", "--format", "json", "--tolerance", "1e-6"];
    for mechanism in ["drfh", "proportional"] {
        let found = folder.run(&[&polish[..], &[mechanism], &out].concat()).ends_with(0).json();
        let polished = &found["polished"];
        assert_eq!((&polished["mechanism"], &polished["is_nearest"]), (&json!(mechanism), &json!(true)));
        assert_eq!(polished["changes"], json!({"a": "-1/10000000", "b": "1/10000000"}), "{found}");
        let part = polished["placements"].as_str().unwrap();
        let [over, under] = part.split('/').map(|n| n.parse::<f64>().unwrap()).collect::<Vec<_>>()[..] else {
            panic!()
        };
        assert!(over / under < 4e-8, "{part}");
        // The polished answer is exactly the mechanism's own answer.
        let axiom = if mechanism == "drfh" { "max-min:drfh" } else { "proportional:1" };
        folder.run(&["certify", "problem.json", "p.json", "--axiom", axiom]).ends_with(0);
    }
    let output_text =
        folder.run(&[&polish[..], &["drfh", "--tolerance", "1e-6"]].concat()).ends_with(0).stdout;
    assert!(
        output_text.contains("drfh: the nearest exact answer changes the tasks of `a` most"),
        "{output_text}"
    );
    // The polished answer differs from the given allocation only as far as necessary.
    write_allocation(&folder, &json!({"a": {"s": 3, "t": 7}, "b": {"s": 7, "t": 3}}));
    let found = folder.run(&[&polish[..], &["drfh", "--format", "json"]].concat()).ends_with(0).json();
    assert_eq!(
        found["polished"],
        json!({"mechanism": "drfh", "is_nearest": true, "status": null, "gap": null, "changes": {}, "farthest": null,
               "placements": "0"})
    );
    // If the optimum is irrational, there is no nearest answer.
    folder.write(
        "irrational.json",
        r#"{"kind": "allocation-problem", "resources": ["cpu", "mem"],
            "servers": [{"name": "s", "capacity": {"cpu": 10, "mem": 7}}],
            "users": [{"name": "a", "demand": {"cpu": 1, "mem": 2}}, {"name": "b", "demand": {"cpu": 3, "mem": 1}},
                      {"name": "c", "demand": {"cpu": 1, "mem": 1}}]}"#,
    );
    folder.write("i.json", r#"{"kind": "allocation", "tasks": {"a": {"s": 1}, "b": {"s": 1}}}"#);
    let irrational =
        ["certify", "irrational.json", "i.json", "--axiom", "feasible", "--polish", "proportional"];
    let output_text = folder.run(&irrational).ends_with(0).stdout;
    assert!(
        output_text.contains("proportional: an answer close to its optimum")
            && output_text.contains("it is within"),
        "{output_text}"
    );
    // PS-DSF constrains more than the totals of users.
    let found = folder.run(&[&polish[..], &["ps-dsf", "--format", "json"]].concat()).ends_with(0).json();
    assert_eq!(found["polished"]["is_nearest"], json!(false), "{found}");
}

#[test]
fn polish_refuses_unsupported_mechanisms_and_problems() {
    let folder = Folder::with(ANYWHERE);
    write_allocation(&folder, &json!({"a": {"s": 10}, "b": {"t": 10}}));
    let certify = |more: &[&str]| folder.run(&[&["certify", "problem.json", "given.json"], more].concat());
    certify(&["--polish", "dfrh"]).fails_with(2, "drfh");
    certify(&["--polish", "alpha"]).fails_with(2, "alpha");
    certify(&["--polish", "drf"]).fails(2);
    certify(&["--polish-output", "p.json"]).fails_with(2, "--polish");
    certify(&["--polish", "alpha", "--alpha", "1/2"]).ends_with(0);
}
