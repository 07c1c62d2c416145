//! Tests of simulations, studies and single sentences of the program, on inputs for which the program once
//! printed a false statement.

use std::path::{Path, PathBuf};

use crate::common::{Folder, Output};

use serde_json::{Value, json};

fn case(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/studies").join(name);
    path.to_str().unwrap().to_owned()
}

/// Runs a scenario. Returns the document and the text for people.
fn simulated(name: &str) -> (Value, String) {
    let folder = Folder::new();
    let document = folder.run(&["simulate", &case(name), "--format", "json"]).ends_with(0).json();
    (document, folder.run(&["simulate", &case(name)]).ends_with(0).stdout)
}

#[test]
fn a_reward_is_compared_with_the_optimum_only_while_loads_stay() {
    for (name, why) in [
        ("over.json", "because the loads change"),
        ("overt.json", "because the jobs come from a trace"),
        ("spike.json", "because the jobs come from a trace"),
    ] {
        let (document, text) = simulated(name);
        assert_eq!(document["optimum"], Value::Null, "{name}");
        assert_eq!(document["runs"][0]["part_of_optimum"], Value::Null, "{name}");
        assert!(text.contains(why) && !text.contains("of the optimum"), "{name}: {text}");
        assert!(text.contains("no policy could have earned more than"), "{name}: {text}");
        let number = |of: &Value| of.as_f64().unwrap();
        let (reward, beside) = (number(&document["runs"][0]["reward"]), &document["beside"]);
        let (greedy, bound) = (number(&beside["greedy"]), number(&beside["bound"]));
        assert!(reward > 0.0 && reward <= bound && greedy <= bound + 1e-12, "{name}: {document}");
        assert!(number(&beside["part_of_bound"]) <= 1.0, "{name}: {document}");
    }
    // The expected value is computed by hand. Ten jobs stay for 0.3 each, and one job stays for 0.2, on ten
    // servers over a time of 20. This gives 3.2 / 200.
    let (document, _) = simulated("spike.json");
    assert!((document["beside"]["bound"].as_f64().unwrap() - 0.016).abs() < 1e-12, "{document}");
}

#[test]
fn a_reward_is_compared_with_the_optimum_while_loads_stay() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(case("over.json")).unwrap();
    let mut stated: Value = serde_json::from_str(&text).unwrap();
    // Loads that change after the end do not change the result, and neither do loads that change to their old
    // values.
    for loads in [json!([]), json!([{"at": 40, "loads": {"A": 1}}, {"at": 5, "loads": {"A": "1/10"}}])] {
        stated["loads"] = loads.as_array().unwrap().iter().rev().cloned().collect();
        folder.write("s.json", stated.to_string());
        let document = folder.run(&["simulate", "s.json", "--format", "json"]).ends_with(0).json();
        assert!((document["optimum"].as_f64().unwrap() - 0.1).abs() < 1e-12, "{document}");
        let part = document["runs"][0]["part_of_optimum"].as_f64().unwrap();
        assert!(part > 0.3 && part < 3.0, "{document}");
    }
    stated["loads"] = json!([]);
    stated["initial"] = json!({"A": 20});
    folder.write("s.json", stated.to_string());
    let document = folder.run(&["simulate", "s.json", "--format", "json"]).ends_with(0).json();
    assert_eq!(document["runs"][0]["part_of_optimum"], Value::Null);
}

#[test]
fn times_are_decimals() {
    let folder = Folder::new();
    for name in ["overt.json", "lg.json"] {
        folder.run(&["simulate", &case(name), "-o", "out"]).ends_with(0);
        let series = folder.read("out/series.csv");
        let times = series.lines().skip(1).map(|line| line.split(',').next().unwrap());
        assert!(
            times.clone().all(|time| time.len() <= 6),
            "{name}: {:?}",
            times.max_by_key(|time| time.len())
        );
    }
}

#[test]
fn an_audit_respects_the_stated_premises() {
    let folder = Folder::new();
    let call = ["audit", "mechanism", "drfh", "--property", "population-monotone", "--format", "json"];
    let run = |more: &[&str]| folder.run(&[&call, more].concat()).ends_with(0).json();
    let refuted = |document: &Value| document["properties"][0]["refuted"].as_u64().unwrap();
    let any = run(&[]);
    assert!(refuted(&any) > 0 && any["searched"]["positive"] == false, "{}", any["searched"]);
    // DRFH, Proposition 7, under its premises.
    let premises = run(&["--positive", "--unlimited", "--everywhere"]);
    assert_eq!(refuted(&premises), 0, "{}", premises["properties"]);
    assert_eq!(premises["searched"]["unlimited"], true);
    let schema = folder.run(&["schema", "audit"]).ends_with(0).json();
    jsonschema::validator_for(&schema).unwrap().validate(&premises).unwrap();
    // The printed problem satisfies the premises, even after it was made smaller.
    let call = ["audit", "mechanism", "utilitarian", "--axiom", "envy-free", "--format", "json"];
    let run = |more: &[&str]| folder.run(&[&call, more].concat()).ends_with(0).json();
    let found = run(&["--positive", "--unlimited"]);
    let problem = &found["axioms"][0]["example"]["problem"];
    let resources = problem["resources"].as_array().unwrap().len();
    for user in problem["users"].as_array().unwrap() {
        assert!(user.get("tasks").is_none(), "{problem}");
        assert_eq!(user["demand"].as_object().unwrap().len(), resources, "{problem}");
    }
    folder.run(&["audit", "preemption", "--positive"]).fails(2);
}

#[test]
fn lemma_1_fails_unless_ties_are_broken_against_the_liar() {
    let folder = Folder::new();
    let found = folder.run(&["reproduce", "ps-dsf.lemma-1", "--format", "json"]).ends_with(0).json();
    let entry = &found["entries"][0];
    assert_eq!(entry["ours"], "fails unless ties between placements go against the liar");
    assert_eq!(entry["agrees"], false);
    let note = entry["note"].as_str().unwrap();
    assert!(note.contains("gives user 2 2/3 tasks, and user 1 runs 1/3 or 1 of its own"), "{note}");
    let readme =
        include_str!("../../../studies/papers/README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(readme.contains("fails unless ties between placements go against the liar"));
}

#[test]
fn polish_measures_changes_relative_to_tasks_alone() {
    let folder = Folder::new();
    let call = ["certify", &case("pol.json"), &case("pol.a.json"), "--polish", "drfh"];
    let text = folder.run(&call).stdout;
    assert!(text.contains("changes the tasks of `a` most, by 0.5 tasks (0.5 of its solo tasks)"), "{text}");
    let found = folder.run(&[&call[..], &["--format", "json"]].concat()).json();
    assert_eq!(found["polished"]["farthest"], json!({"user": "a", "part": "1/2"}));
    assert_eq!(found["polished"]["placements"], "1/2");
}

#[test]
fn fractions_are_not_rounded_to_whole_numbers() {
    let folder = Folder::new();
    let text = folder.run(&["solve", "-m", "utilitarian", &case("f42.json")]).ends_with(0).stdout;
    let row = text.lines().find(|line| line.starts_with("A0")).unwrap();
    assert!(row.contains(" 0.9999999 ") && row.contains("99.99999 %") && !row.contains("100.0 %"), "{row}");
}

#[test]
fn one_more_unit_counts_resources_that_a_class_lacks() {
    let folder = Folder::new();
    folder.write(
        "p.json",
        r#"{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
        "servers": [{"name": "plain", "capacity": {"cpu": 4}}, {"name": "fast", "capacity": {"cpu": 1, "gpu": 1}}],
        "users": [{"name": "u", "demand": {"cpu": 1, "gpu": 1}}, {"name": "v", "demand": {"cpu": 1}}]}"#,
    );
    folder.run(&["solve", "-m", "drfh", "p.json", "-o", "a.json"]).ends_with(0);
    let call = ["explain", "p.json", "a.json", "--user", "u", "--format", "json"];
    let found = folder.run(&call).ends_with(0).json();
    let rows = found["one_more_unit"].as_array().unwrap();
    assert_eq!((rows.len(), &found["one_more_unit_basis"]["others"]), (4, &json!(0)), "{found}");
    let row = rows.iter().find(|row| row["server"] == "plain" && row["resource"] == "gpu");
    let row = row.unwrap_or_else(|| panic!("{found}"));
    assert_ne!(row["tasks"], "0", "a GPU opens the class: {row}");
}

#[test]
fn a_smaller_work_limit_gives_the_same_answer_or_no_answer() {
    let folder = Folder::new();
    let solve = |work: &str| {
        folder.run(&["solve", "-m", "proportional", &case("work.json"), "--work", work, "--format", "json"])
    };
    let expected = solve("1e10").ends_with(0).json();
    let mut answers = 0;
    for work in ["3e4", "6e4", "1e5", "2e5", "4e5", "1e6", "1e7"] {
        let output = solve(work);
        if output.status == 3 {
            assert_eq!(output.stdout, "", "{work}");
            continue;
        }
        let found = output.ends_with(0).json();
        answers += 1;
        for field in ["tasks", "prices", "gap", "status"] {
            assert_eq!(found[field], expected[field], "{work}: {field}");
        }
    }
    assert!(answers >= 2, "{answers}");
}

#[test]
fn best_fit_of_one_resource_takes_the_fullest_server() {
    let folder = Folder::new();
    let call = ["solve", "-m", "fill", "--server", "best-fit", "--format", "json"];
    let solve = |name: &str| folder.run(&[&call[..], &[&case(name)]].concat()).ends_with(0).json();
    let found = solve("bf.json");
    assert_eq!(found["tasks"], json!({"a": {"y": "1"}, "b": {"x": "1"}}));
    let found = solve("f58.json");
    assert_eq!(found["tasks"], json!({"a": {"x2": "1", "x3": "1"}, "b": {"x1": "1"}}));
    // A problem without groups. Its servers have the same name.
    folder.write(
        "p.json",
        r#"{"kind": "allocation-problem", "resources": ["v", "none"],
        "servers": [{"name": "x", "count": 2, "capacity": {"v": 4}}, {"name": "y", "capacity": {"v": 3}}],
        "users": [{"name": "a", "demand": {"v": 2}, "tasks": 2}, {"name": "b", "demand": {"v": 4}, "tasks": 1}]}"#,
    );
    let found = folder.run(&[&call[..], &["p.json"]].concat()).ends_with(0).json();
    assert_eq!(found["tasks"], json!({"a": {"x": "1", "y": "1"}, "b": {"x": "1"}}));
}

#[test]
fn the_gap_of_a_fair_sum_bounds_every_user() {
    let folder = Folder::new();
    let call = ["certify", &case("pr.p.json"), &case("pr.a.json"), "--axiom", "proportional", "--alpha", "3"];
    let text = folder.run(&call).ends_with(0).stdout;
    assert!(
        text.contains(
            "the gap leaves the widest bounds for b, which has 0 to 10 tasks in the optimum and 9 here"
        ),
        "{text}"
    );
    let found = folder.run(&[&call[..], &["--format", "json"]].concat()).ends_with(0).json();
    let schema = folder.run(&["schema", "examination"]).ends_with(0).json();
    jsonschema::validator_for(&schema).unwrap().validate(&found).unwrap();
    let bounds = &found["claims"][0]["optimum"];
    let between = |user: &str| {
        let of = |name: &str| {
            evenhand::problem::number::parse_result(bounds[user][name].as_str().unwrap()).unwrap().to_f64()
        };
        (of("at_least"), of("at_most"))
    };
    for user in ["b", "c"] {
        assert!(between(user).0 <= 5.0 && between(user).1 >= 5.0, "{bounds}");
    }
    let (least, most) = between("a");
    assert!(least <= 1e-5 && most >= 0.99999e-5 && most - least < 1e-9, "{bounds}");
}

#[test]
fn servers_with_stale_totals_converge() {
    for name in ["e4.json", "e6.json"] {
        let folder = Folder::new();
        let document = folder.run(&["simulate", &case(name), "--format", "json"]).ends_with(0).json();
        let last = document["runs"][0]["distance"]["end"].as_f64().unwrap();
        assert!(last < 1e-6, "{name}: {document}");
    }
}

#[test]
fn serving_by_the_least_gap_converges_if_resources_alternate() {
    let folder = Folder::new();
    folder.run(&["simulate", &case("lg.json"), "-o", "out"]).ends_with(0);
    let series = folder.read("out/series.csv");
    let last = |user: &str| -> f64 {
        let row = series.lines().rfind(|line| line.starts_with(&format!("60,{user},"))).unwrap();
        row.split(',').nth(2).unwrap().parse().unwrap()
    };
    // Each user gets its entitlement of an exhausted resource.
    let parts = [(0.02 * last("a"), 0.5), (0.02 * last("b"), 0.25), (0.01 * last("c"), 0.25)];
    for (part, entitlement) in parts {
        assert!(part > entitlement - 0.005, "{parts:?}: {series}");
    }
}

#[test]
fn an_album_marks_unchecked_results() {
    let folder = Folder::new();
    let run = |arguments: &[&str]| {
        let data = folder.path().join("none");
        let output = folder.command(arguments).env("EVENHAND_DATA", &data).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Output { status: output.status.code().unwrap(), stdout, stderr }
    };
    run(&["reproduce", "drfh", "-o", "album"]).ends_with(3);
    let page = folder.read("album/index.html");
    assert!(
        page.contains("5 tables and figures were not checked, because data is missing: drfh.table-2"),
        "{page}"
    );
    assert!(page.contains("1 has nothing to be compared with") && !page.contains("1 have"), "{page}");
    assert_eq!(page.matches("Not checked: ").count(), 5);
    run(&["reproduce", "drfh.figure-2", "-o", "album"]).ends_with(0);
}

#[test]
fn the_share_of_three_users_is_reported_as_unexplained() {
    let folder = Folder::new();
    let ids = ["drfh.figure-4.three-users", "simulation.drfh.figure-4.three-users"];
    let found = folder.run(&["reproduce", ids[0], ids[1], "--format", "json"]).ends_with(0).json();
    let entries = found["entries"].as_array().unwrap();
    assert!(entries.len() >= 2);
    for entry in entries {
        let note = entry["note"].as_str().unwrap();
        // The ceiling of whole tasks is not compared with a value of the paper.
        let is_ceiling = entry["id"].as_str().unwrap().ends_with(".ceiling");
        assert!(is_ceiling || note.contains("is not known") && !note.contains("strands"), "{entry}");
        assert!(!is_ceiling || entry["agrees"].is_null(), "{entry}");
    }
    let simulated = entries.iter().find(|entry| entry["id"] == ids[1]).unwrap();
    assert_eq!(simulated["agrees"], false);
    assert!(simulated["ours"].as_str().unwrap().contains("0.288 to 0.307"), "{simulated}");
    let readme = include_str!("../../../studies/papers/README.md");
    assert!(readme.contains(".288 to .307"));
}

fn contenders(document: &Value) -> Vec<&str> {
    document["records"].as_array().unwrap().iter().map(|of| of["contender"].as_str().unwrap()).collect()
}

#[test]
fn a_program_named_like_a_contender_has_its_own_row() {
    let folder = Folder::new();
    folder.write(
        "answer.sh",
        r#"echo '{"kind": "allocation", "tasks": {"x": {"s": 0.5}, "y": {"s": 0.25}}}' > "$1""#,
    );
    let solver = format!("clarabel=sh {}/answer.sh {{answer}} # {{problem}}", folder.path().display());
    let call = [
        "bench",
        "accuracy",
        "--problem",
        &case("f44.json"),
        "--kind",
        "pool",
        "--runs",
        "1",
        "--seconds",
        "5",
    ];
    let more = ["--solver", &solver, "--format", "json", "--quiet"];
    let document = folder.run(&[&call[..], &more[..]].concat()).ends_with(0).json();
    let names = contenders(&document);
    assert_eq!(names.iter().filter(|name| **name == "clarabel").count(), 1, "{names:?}");
    assert_eq!(names.iter().filter(|name| **name == "clarabel (outside)").count(), 1, "{names:?}");
    let kinds = document["records"].as_array().unwrap().iter().map(|of| of["kind"].clone());
    assert!(kinds.clone().all(|kind| kind == "pool"), "{:?}", kinds.collect::<Vec<_>>());
    folder.run(&["bench", "accuracy", "--problem", &case("f44.json"), "--kind", "configurations"]).fails(2);
    folder.run(&["bench", "accuracy", "--problem", &case("f44.json"), "--kind", "pol"]).fails(2);
}

#[test]
fn fractions_do_not_count_as_whole_tasks() {
    let folder = Folder::new();
    let script = |tasks: &str| {
        format!(r#"echo '{{"kind": "allocation", "tasks": {{"a": {{"x": {tasks}}}}}}}' > "$1""#)
    };
    folder.write("half.sh", script("0.5"));
    folder.write("whole.sh", script("1"));
    let of = |name: &str| format!("{name}=sh {}/{name}.sh {{answer}} # {{problem}}", folder.path().display());
    let call = ["bench", "accuracy", "--problem", &case("bf-flat.json"), "--kind", "whole", "--runs", "1"];
    let more = ["--solver", &of("half"), "--solver", &of("whole"), "--format", "json", "--quiet"];
    let document = folder.run(&[&call[..], &more[..]].concat()).ends_with(0).json();
    let wrong = |name: &str| {
        let records = document["records"].as_array().unwrap();
        let record =
            records.iter().find(|of| of["contender"] == name).unwrap_or_else(|| panic!("{document}"));
        record["wrong_verdicts"].as_u64()
    };
    assert_eq!((wrong("half"), wrong("whole"), wrong("doubles")), (Some(2), Some(0), Some(0)));
}

/// The time limit of a contender also applies to every exact answer about the user's own problem.
#[test]
fn questions_about_a_given_problem_terminate() {
    let folder = Folder::new();
    let bombs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/defects/ps-dsf-40x40.json");
    let begun = std::time::Instant::now();
    let call = ["bench", "accuracy", "--problem", bombs.to_str().unwrap(), "--seconds", "1", "--runs", "1"];
    folder.run(&[&call[..], &["--kind", "ps-dsf", "--kind", "market", "--quiet"]].concat()).ends_with(0);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}
