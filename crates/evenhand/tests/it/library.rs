//! Tests of the crates that a program links if it uses only the library, for each feature.

use std::process::Command;

/// Returns the crates that are linked or built for a program with one feature of the library.
fn tree(feature: &str, edges: &str) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--edges", edges, "--prefix", "none", "--format", "{lib}"])
        .args(["--package", "evenhand", "--no-default-features", "--features", feature])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let crates = String::from_utf8(tree.stdout).expect("UTF-8");
    let mut crates: Vec<String> =
        crates.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect();
    crates.sort_unstable();
    crates.dedup();
    crates
}

#[test]
fn the_library_links_neither_the_studies_nor_the_command_line() {
    let crates = tree("report", "normal");
    let links = |name: &str| crates.iter().any(|line| line == name);
    assert!(links("evenhand_certify"), "{crates:?}");
    for name in [
        "evenhand_papers",
        "evenhand_accuracy",
        "evenhand_audit",
        "evenhand_hunt",
        "clap",
        "clarabel",
        "microlp",
    ] {
        assert!(!links(name), "{name} in:\n{crates:?}");
    }
}

#[test]
fn feature_check_needs_gmp_alone() {
    let crates = tree("check", "normal,build");
    assert_eq!(crates, ["az", "evenhand", "evenhand_check", "gmp_mpfr_sys", "libc", "libm", "rug"]);
}

#[test]
fn feature_certify_links_no_tables_and_no_traces() {
    let crates = tree("certify", "normal");
    let links = |name: &str| crates.iter().any(|line| line == name);
    assert!(links("evenhand_check") && links("evenhand_certify") && links("highs_sys"), "{crates:?}");
    for name in ["evenhand_report", "evenhand_simulate", "evenhand_import", "parquet", "plotters"] {
        assert!(!links(name), "{name} in:\n{crates:?}");
    }
}
