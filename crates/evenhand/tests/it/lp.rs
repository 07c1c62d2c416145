//! Tests of `lp`: exact answers of linear programmes, their certificates, and verdicts on the answers of
//! other solvers.

use crate::common::Folder;

const BLEND: &str = include_str!("../../../../examples/blend.mps");
const BLEND_HIGHS: &str = include_str!("../../../../examples/blend-highs.sol");

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("blend.mps", BLEND);
    folder.write("highs.sol", BLEND_HIGHS);
    folder.write("empty.lp", "min x\nst\n a: x >= 3\n b: x <= 2\nend\n");
    folder.write("open.lp", "max x + y\nst\n a: x - y <= 2\nend\n");
    folder
}

#[test]
fn every_status_has_a_certificate_that_the_kernel_accepts() {
    let folder = folder();
    for (file, status, says) in [
        ("blend.mps", "optimal", "Optimal: the objective is 910."),
        ("empty.lp", "infeasible", "Infeasible: prices of the rows prove that no point satisfies them."),
        (
            "open.lp",
            "unbounded",
            "Unbounded: from a feasible point the objective improves for ever along a ray.",
        ),
    ] {
        let output =
            folder.run(&["lp", "solve", file, "--certificate", "c.json", "-o", "answer.json"]).ends_with(0);
        assert!(output.stdout.starts_with(says), "{}", output.stdout);
        folder.run(&["check", "c.json", "--require", status]).ends_with(0);
        let other = if status == "optimal" { "infeasible" } else { "optimal" };
        folder.run(&["check", "c.json", "--require", other]).ends_with(1);
        let answer: serde_json::Value = serde_json::from_str(&folder.read("answer.json")).unwrap();
        assert_eq!(answer["status"], status);
        let result = folder.run(&["lp", "solve", file, "--format", "json"]).ends_with(0).json();
        assert_eq!((&result["kind"], &result["status"]), (&"lp-result".into(), &status.into()));
    }
}

#[test]
fn an_answer_is_judged_without_solving() {
    let folder = folder();
    let check = |arguments: &[&str]| folder.run(&[&["lp", "check", "blend.mps"], arguments].concat());
    let wrong = check(&["highs.sol"]).ends_with(1).stdout;
    assert!(
        wrong.starts_with(
            "The answer is feasible, exactly, and its objective is 90 above the bound that its prices prove: "
        ),
        "{wrong}"
    );
    assert!(wrong.contains("\nbound that the prices prove: 910\nproven gap: 90\n"), "{wrong}");
    let bound = check(&["highs.sol", "--bounds"]).ends_with(0).stdout;
    assert_eq!(bound, "Its prices prove that the optimum is at least 910.\n");
    folder.write("right.txt", "pellets 1e9\npowder 0.9\n");
    let unknown = check(&["right.txt"]).ends_with(0).stdout;
    assert!(unknown.contains("How far it is from the optimum is not checked"), "{unknown}");
    check(&["right.txt", "--bounds"]).fails_with(2, "the answer states no prices");
    let known = check(&["right.txt", "--exact"]).ends_with(0).stdout;
    assert!(
        known.starts_with("The answer is feasible, exactly, and its objective is the optimum, exactly."),
        "{known}"
    );
    folder.write("far.txt", "pellets 1e9\npowder 0.8\n");
    let far = check(&["far.txt"]).ends_with(1).stdout;
    assert!(far.starts_with("The answer is NOT feasible: row `additive` is violated by 0.1"), "{far}");
    let document = check(&["highs.sol", "--format", "json"]).ends_with(1).json();
    assert_eq!(document["kind"], "lp-judgement");
}

#[test]
fn a_price_without_a_bound_is_no_proof() {
    let folder = Folder::new();
    folder.write("free.lp", "min x\nst\n a: x >= 1\nbounds\n x free\nend\n");
    folder.write("answer.json", r#"{"x": {"x": 1}, "y": {"a": 0.999}}"#);
    let check = folder.run(&["lp", "check", "free.lp", "answer.json", "--bounds"]).ends_with(1).stdout;
    assert_eq!(
        check,
        "Its prices prove no bound: that of column `x` is 0.001 and needs a bound that is infinite.\n"
    );
}

#[test]
fn lp_solve_writes_a_vipr_proof() {
    let folder = folder();
    folder.run(&["lp", "solve", "blend.mps", "--vipr", "p.vipr"]).ends_with(0);
    assert!(folder.read("p.vipr").contains("RTP range 910 910"));
    let open = folder.run(&["lp", "solve", "open.lp", "--vipr", "q.vipr"]).ends_with(0);
    assert!(open.stderr.contains("no VIPR file is written"), "{}", open.stderr);
    assert!(!folder.names().contains(&"q.vipr".to_owned()));
}

#[test]
fn a_time_limit_states_bounds() {
    let folder = folder();
    let output =
        folder.run(&["lp", "solve", "blend.mps", "--seconds", "0", "--certificate", "c.json"]).ends_with(3);
    assert!(output.stdout.starts_with("The time was up."), "{}", output.stdout);
    assert!(!folder.names().contains(&"c.json".to_owned()));
}

#[test]
fn errors_in_input_name_their_place() {
    let folder = folder();
    let solve = |file: &str| folder.run(&["lp", "solve", file]);
    folder.write("broken.mps", BLEND.replace(" G  additive", " X  additive"));
    solve("broken.mps").fails_with(2, "broken.mps:5: the row type `X`: expected N, E, L or G");
    folder.write("broken.lp", "min x\nst\n x >= y z\nend\n");
    solve("broken.lp").fails_with(2, "broken.lp:4: found the end of the section: expected `<=`, `>=` or `=`");
    folder.write(
        "broken.json",
        r#"{"kind": "linear-programme", "direction": "least", "rows": [], "columns": []}"#,
    );
    solve("broken.json").fails_with(2, "broken.json:1:43: direction: expected `minimise` or `maximise`");
    solve("missing.mps").fails_with(2, "missing.mps");
    folder.write("nothing.mps", "");
    solve("nothing.mps").fails_with(2, "nothing.mps:1: the file ends without ENDATA");
    folder.write("answer.txt", "pellets one\n");
    folder
        .run(&["lp", "check", "blend.mps", "answer.txt"])
        .fails_with(2, "answer.txt:1: `one` is not a finite number");
    folder.run(&["lp", "check", "blend.mps", "highs.sol", "--tolerance", "2"]).fails_with(2, "--tolerance");
    folder.run(&["lp", "check", "blend.mps", "highs.sol", "--bounds", "--exact"]).fails_with(2, "--exact");
}
