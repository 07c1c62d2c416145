//! `report`: a comparison as one page of HTML.

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

#[test]
fn allocations_of_others_are_columns() {
    let folder = Folder::with(PROBLEM);
    folder.write(
        "theirs.json",
        r#"{"kind": "allocation", "tasks": {"user 1": {"high-memory": 3}, "user 2": {"high-cpu": "20"}}}"#,
    );
    let call = ["report", "problem.json", "-m", "drfh", "--allocation", "theirs.json", "-o", "page.html"];
    folder.run(&call).ends_with(0);
    let page = folder.read("page.html");
    assert!(page.contains("<h2>theirs</h2>") && page.contains("theirs.certificate.json"), "{page}");
}

#[test]
fn wrong_input_leaves_no_page() {
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
