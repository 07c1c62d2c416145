//! Tests of `export`: the files of the README and the examples are written for other checkers and solvers.

use crate::common;

use common::{CONSTRAINED, FIGURE_1, Folder, ONE_SERVER, applicable, is_proven};
use evenhand::Axiom;
use evenhand_testkit::vipr;

/// Checks each proof of a folder, and returns the names of the files in the folder.
fn proofs(folder: &Folder, of: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path().join(of)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    for name in &names {
        let text = folder.read(&format!("{of}/{name}"));
        vipr::check(&text).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    }
    names
}

fn example(name: &str) -> String {
    let path = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn exports_the_example_of_the_readme() {
    let folder = Folder::with(&example("two-servers.json"));
    folder.solve("drfh", true, "a.json");
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]).ends_with(0);
    let output = folder.run(&["export", "c.json", "--to", "vipr", "-o", "new/proofs"]).ends_with(0);
    let names = proofs(&folder, "new/proofs");
    assert_eq!(names, ["max-min-drfh-level-1.vipr", "pareto-optimal.vipr"]);
    assert!(names.iter().all(|name| output.stdout.contains(name)), "{}", output.stdout);
    assert!(output.stdout.contains("envy-free"), "{}", output.stdout);
}

/// A failed export leaves no folder.
#[test]
fn a_failed_export_leaves_no_folder() {
    let folder = Folder::with(FIGURE_1);
    for (name, status) in [("nowhere.json", 2), ("problem.json", 2)] {
        folder.run(&["export", name, "--to", "vipr", "-o", "new/proofs"]).fails(status);
        folder.run(&["simulate", name, "-o", "new"]).fails(status);
    }
    folder
        .run(&["export", "problem.json", "--to", "vipr", "-o", "problem.json/proofs"])
        .fails_with(2, "proofs");
    assert_eq!(folder.names(), ["problem.json"]);
}

#[test]
fn exports_the_reservations_of_the_readme() {
    let folder = Folder::with(&example("vm-types.json"));
    for (call, name) in [
        (&["ratio", "problem.json"][..], "optimum.vipr"),
        (&["ratio", "problem.json", "--worst-load"], "claim-1-pricing.vipr"),
    ] {
        folder.run(&[call, &["-o", "c.json"]].concat()).ends_with(0);
        folder.run(&["export", "c.json", "--to", "vipr", "-o", name.trim_end_matches(".vipr")]).ends_with(0);
        let names = proofs(&folder, name.trim_end_matches(".vipr"));
        assert!(names.iter().any(|other| other == name), "{names:?}");
    }
}

#[test]
fn exports_every_mechanism_with_prices() {
    for problem in [FIGURE_1, ONE_SERVER, CONSTRAINED] {
        let folder = Folder::with(problem);
        for (at, mechanism) in applicable(problem).map(|mechanism| mechanism.info.id).enumerate() {
            if !is_proven(mechanism, Axiom::ParetoOptimal) {
                continue;
            }
            folder.run(&["solve", "problem.json", "-m", mechanism, "-o", "a.json"]).ends_with(0);
            // Some mechanisms violate axioms that other mechanisms satisfy, so the exit status is not tested.
            folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]);
            let out = format!("proofs{at}");
            folder.run(&["export", "c.json", "--to", "vipr", "-o", &out]).ends_with(0);
            assert!(proofs(&folder, &out).contains(&"pareto-optimal.vipr".to_owned()), "{mechanism}");
        }
    }
}

#[test]
fn exports_a_theorem_for_each_claim() {
    let folder = Folder::with(&example("two-servers.json"));
    folder.solve("drfh", true, "a.json");
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]).ends_with(0);
    let text = folder.run(&["export", "c.json", "--to", "coq"]).ends_with(0).stdout;
    for theorem in [
        "holds (fun eps => envy_free the_problem eps the_allocation) the_tolerance (2 # 3).",
        "holds (fun eps => max_min the_problem (worth the_problem Drfh) eps the_allocation) the_tolerance 0.",
    ] {
        assert!(text.contains(theorem), "{text}");
    }
    let printed = folder.run(&["export", "c.json", "--to", "coq", "-o", "c.v"]).ends_with(0).stdout;
    assert!(printed.is_empty() && folder.read("c.v") == text);
    folder.run(&["export", "c.json", "--to", "coq", "-o", "c.json"]).fails_with(2, "replace an input");
    let half =
        r#"{"kind": "allocation", "tasks": {"user 1": {"high-memory": 5}, "user 2": {"high-cpu": 5}}}"#;
    folder.write("half.json", half);
    folder
        .run(&["certify", "problem.json", "half.json", "--axiom", "proportional:1/2", "-o", "roots.json"])
        .ends_with(1);
    folder.run(&["export", "roots.json", "--to", "coq"]).fails_with(2, "the claim `proportional:1/2`");
    let reservation = Folder::with(&example("vm-types.json"));
    reservation.run(&["ratio", "problem.json", "-o", "c.json"]).ends_with(0);
    reservation
        .run(&["export", "c.json", "--to", "coq"])
        .fails_with(2, "this kind of certificate cannot be written for Coq");
}

#[test]
fn exports_problems_as_lp_and_mps() {
    let folder = Folder::with(FIGURE_1);
    let lp = folder.run(&["export", "problem.json", "--to", "lp"]).ends_with(0).stdout;
    assert!(lp.contains("r1_1: 1 x1_1 + 5 x2_1 <= 10"), "{lp}");
    let mps = folder.run(&["export", "problem.json", "--to", "mps", "-o", "p.mps"]).ends_with(0).stdout;
    assert!(mps.is_empty() && folder.read("p.mps").ends_with("ENDATA\n"), "{mps}");
}

#[test]
fn refuses_unsupported_exports() {
    let folder = Folder::with(FIGURE_1);
    folder.solve("drfh", true, "a.json");
    folder.run(&["certify", "problem.json", "a.json", "-o", "c.json"]).ends_with(0);
    let good = folder.read("c.json");
    let lie = good.replace("\"2/3\"", "\"3/4\"");
    assert_ne!(lie, good);
    folder.write("false.json", &lie);
    folder.write("broken.json", &good[..good.len() / 2]);
    folder
        .run(&["certify", "problem.json", "a.json", "--axiom", "envy-free", "-o", "envy.json"])
        .ends_with(0);
    for (file, message) in [
        ("false.json", "not valid"),
        ("broken.json", "ends inside"),
        ("problem.json", "certificate"),
        ("envy.json", "none of its claims is a linear programme"),
        ("nowhere.json", "nowhere.json"),
    ] {
        let output = folder.run(&["export", file, "--to", "vipr", "-o", "out"]).fails_with(2, message);
        assert!(output.stdout.is_empty());
        assert!(!folder.path().join("out").exists(), "{file}");
    }
    folder.run(&["export", "c.json", "--to", "vipr"]).fails_with(2, "--output");
    folder.run(&["export", "c.json", "--to", "vipr", "-o", "-"]).fails_with(2, "folder");
    folder.run(&["export", "c.json", "--to", "lp"]).fails_with(2, "allocation-problem");
    folder
        .run(&["export", "problem.json", "--to", "lp", "-o", "problem.json"])
        .fails_with(2, "replace an input");
    folder.run(&["export", "problem.json", "--to", "pdf"]).fails_with(2, "lp");
}
