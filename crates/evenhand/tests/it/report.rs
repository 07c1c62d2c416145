//! Tests of `report`: a comparison as one HTML page.

use crate::common;

use common::Folder;

const PROBLEM: &str = include_str!("../../../../examples/two-servers.json");

#[test]
fn the_page_is_written_and_the_comparison_printed() {
    let folder = Folder::with(PROBLEM);
    let compared = folder.run(&["compare", "problem.json", "-m", "drfh", "-m", "tsf"]).ends_with(0);
    let printed =
        folder.run(&["report", "problem.json", "-m", "drfh", "-m", "tsf", "-o", "page.html"]).ends_with(0);
    assert_eq!(printed.stdout, compared.stdout);
    let page = folder.read("page.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("drfh.certificate.json"), "{page}");
    let only = folder.run(&["report", "problem.json", "-m", "drfh", "-m", "tsf", "-o", "-"]).ends_with(0);
    assert_eq!(only.stdout, page);
    let json = folder.run(&["report", "problem.json", "-m", "drfh", "--format", "json"]).ends_with(0).json();
    assert_eq!(json["kind"], "comparison");
    assert!(folder.names().contains(&"report.html".to_owned()));
}

/// Every result can be written as a page. The page of `compare` is equal to the page of `report`.
#[test]
fn every_result_can_be_a_page() {
    let folder = Folder::with(PROBLEM);
    let html =
        |arguments: &[&str]| folder.run(&[arguments, &["--format", "html"]].concat()).ends_with(0).stdout;
    folder.run(&["solve", "problem.json", "-m", "drfh", "-o", "a.json"]).ends_with(0);
    for arguments in [&["solve", "problem.json", "-m", "drfh"][..], &["certify", "problem.json", "a.json"]] {
        let page = html(arguments);
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<table"), "{page}");
    }
    let compared = html(&["compare", "problem.json", "-m", "drfh"]);
    let reported = folder.run(&["report", "problem.json", "-m", "drfh", "-o", "-"]).ends_with(0).stdout;
    assert_eq!(compared, reported);
}

#[test]
fn given_allocations_are_columns() {
    let folder = Folder::with(PROBLEM);
    folder.write(
        "theirs.json",
        r#"{"kind": "allocation", "tasks": {"user 1": {"high-memory": 3}, "user 2": {"high-cpu": "20"}}}"#,
    );
    let call = ["report", "problem.json", "-m", "drfh", "--allocation", "theirs.json", "-o", "page.html"];
    folder.run(&call).ends_with(0);
    let page = folder.read("page.html");
    assert!(page.contains("dir=\"auto\">theirs</h2>") && page.contains("theirs.certificate.json"), "{page}");
}

#[test]
fn wrong_input_writes_no_page() {
    let folder = Folder::with(PROBLEM);
    folder.write("bad.json", r#"{"kind": "allocation-problem", "resources": [}"#);
    for call in [
        "report",
        "report missing.json",
        "report bad.json",
        "report problem.json -m nobody",
        "report problem.json --allocation bad.json",
        "report problem.json --alpha x -m alpha",
        "report problem.json -o problem.json",
        "report problem.json -o nowhere/page.html",
        "report problem.json --seconds -1",
    ] {
        folder.run(&call.split(' ').collect::<Vec<_>>()).fails(2);
    }
    assert_eq!(folder.read("problem.json"), PROBLEM);
    assert!(!folder.names().iter().any(|name| name.ends_with(".html")));
}

/// If there is too little processor time for all columns, the finished columns are written and the missing
/// columns are named.
#[test]
fn finished_columns_are_written_at_the_time_limit() {
    let list = |of: &dyn Fn(usize) -> String, count| (0..count).map(of).collect::<Vec<_>>().join(", ");
    let user = |n| format!(r#"{{"name": "u{n}", "demand": {{"a": {}, "b": {}}}}}"#, n % 7 + 1, n % 11 + 1);
    let server =
        |i| format!(r#"{{"name": "s{i}", "capacity": {{"a": {}, "b": {}}}}}"#, i % 13 + 1, i % 17 + 1);
    let head = r#"{"kind": "allocation-problem", "resources": ["a", "b"], "servers": ["#;
    let folder =
        Folder::with(&format!("{head}{}], \"users\": [{}]}}", list(&server, 100), list(&user, 3_000)));
    let little = ["problem.json", "--work", "4e8", "-m", "utilitarian", "-m", "njc", "-m", "drfh"];
    let compared = folder.run(&[&["compare", "--format", "json"], &little[..]].concat()).ends_with(3);
    assert!(compared.error_line().starts_with("error: too large: "), "{compared:?}");
    let columns = compared.json()["mechanisms"].as_array().unwrap().clone();
    let names: Vec<_> = columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["utilitarian", "njc", "drfh"]);
    let failed = columns.iter().filter(|column| column["failed"].is_string());
    for column in failed {
        assert!(column["failed"].as_str().unwrap().contains("too large"), "{column}");
        assert!(compared.error_line().contains(column["name"].as_str().unwrap()), "{compared:?}");
    }
    folder.run(&[&["report", "-o", "page.html"], &little[..]].concat()).ends_with(3);
    assert!(folder.read("page.html").contains("too large"));
}

/// `compare -o` writes the page of `report`, and also prints its usual output.
#[test]
fn compare_writes_the_page_of_report() {
    let folder = Folder::with(PROBLEM);
    let call = ["compare", "problem.json", "-m", "drfh", "-m", "tsf"];
    let printed = folder.run(&call).ends_with(0).stdout;
    assert_eq!(folder.run(&[&call[..], &["-o", "page.html"]].concat()).ends_with(0).stdout, printed);
    let reported =
        folder.run(&["report", "problem.json", "-m", "drfh", "-m", "tsf", "-o", "-"]).ends_with(0).stdout;
    assert_eq!(folder.read("page.html"), reported);
    folder.run(&["compare", "problem.json", "-m", "drfh", "-o", "problem.json"]).fails(2);
    assert!(!folder.names().contains(&"report.html".to_owned()));
}

/// The page of a result begins with the answer, shows its pictures, and names only existing files.
#[test]
fn folders_and_sweeps_have_a_page() {
    let folder = Folder::new();
    folder.write("vm.json", include_str!("../../../../examples/vm-types.json"));
    let call = ["ratio", "vm.json", "--sweep", "0:2:5", "-o", "sweep.html", "--plot", "sweep.svg"];
    let swept = folder.run(&call).ends_with(0).stdout;
    assert!(swept.contains("optimum"), "{swept}");
    folder.run(&["ratio", "vm.json", "--sweep", "0:2:5", "--worst-load", "-o", "x.html"]).fails(2);
    folder.run(&["audit", "mechanism", "tsf", "--instances", "200", "-o", "audit"]).ends_with(0);
    folder.write(
        "s.json",
        r#"{"kind": "scenario", "name": "<b>", "resources": ["cpu"], "horizon": 10, "every": 1,
            "servers": [{"name": "s", "count": 2, "capacity": {"cpu": 4}}], "policy": {"server": "first-fit"},
            "users": [{"name": "u", "demand": {"cpu": 1}, "jobs": [{"at": 0, "tasks": 3, "duration": 2}]}]}"#,
    );
    folder.run(&["simulate", "s.json", "--replications", "2", "-o", "runs"]).ends_with(0);
    for (name, pictures) in [("sweep.html", 1), ("audit/index.html", 0), ("runs/index.html", 2)] {
        let page = folder.read(name);
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("In short</h2>"), "{name}: {page}");
        assert_eq!(page.matches("<svg role=\"img\" aria-label=").count(), pictures, "{name}: {page}");
        let files = page.split_once(">Files</h2>").map_or("", |(_, files)| files);
        let links = files.split("<a href=\"").skip(1).filter_map(|rest| rest.split_once('"'));
        let links: Vec<&str> =
            links.map(|(link, _)| link).filter(|link| !link.starts_with("data:")).collect();
        assert_eq!(links.is_empty(), name == "sweep.html", "{name}: {page}");
        let within = name.split_once('/').map_or("", |(within, _)| within);
        assert!(
            links.iter().all(|link| folder.path().join(within).join(link).is_file()),
            "{name}: {links:?}"
        );
    }
    // The page checks the certificates of an audit in the browser.
    let page = folder.read("audit/index.html");
    assert!(page.contains("id=\"check-run\"") && page.contains("data-certificate="), "{page}");
}
