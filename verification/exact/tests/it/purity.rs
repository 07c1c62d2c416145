//! Tests that the checker's dependency graph contains no solver, and its source no floating point.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::Command;

/// Returns the names of all packages that `package` needs to be built and run, without development dependencies.
fn reached(package: &str) -> HashSet<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    // Only the crates for this platform count. Crates for other platforms need not be installed.
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let list = |value: &serde_json::Value| value.as_array().unwrap().clone();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let names: HashMap<String, String> =
        list(&metadata["packages"]).iter().map(|p| (text(&p["id"]), text(&p["name"]))).collect();
    let mut needs: HashMap<String, Vec<String>> = HashMap::new();
    for node in list(&metadata["resolve"]["nodes"]) {
        let built = list(&node["deps"])
            .into_iter()
            .filter(|dep| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev"));
        needs.insert(text(&node["id"]), built.map(|dep| text(&dep["pkg"])).collect());
    }
    let start = names.iter().find(|(_, name)| *name == package).unwrap().0.clone();
    let mut found = HashSet::new();
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        if found.insert(id.clone()) {
            open.extend(needs[&id].iter().cloned());
        }
    }
    found.into_iter().map(|id| names[&id].clone()).collect()
}

#[test]
fn the_writer_depends_on_no_solver() {
    let reached = reached("evenhand-exact");
    assert!(reached.contains("evenhand-problem") && reached.contains("rug"), "{reached:?}");
    for name in [
        "highs",
        "highs-sys",
        "ode_solvers",
        "clap",
        "clarabel",
        "evenhand-levels",
        "evenhand-lp",
        "evenhand-mechanisms",
    ] {
        assert!(!reached.contains(name), "evenhand-exact reaches {name}");
    }
}

/// The only trusted dependencies are GMP and its binding to Rust.
#[test]
fn the_kernel_depends_on_gmp_alone() {
    let mut reached: Vec<String> = reached("evenhand-check").into_iter().collect();
    reached.sort_unstable();
    assert_eq!(reached, ["az", "evenhand-check", "gmp-mpfr-sys", "libc", "libm", "rug"]);
}

/// Collects every `.rs` file below a folder.
fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn the_sources_contain_no_floating_point_and_no_unsafe_code() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&here.join("src"), &mut files);
    sources(&here.join("../check/src"), &mut files);
    assert!(files.len() > 10);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        for word in words {
            assert!(
                !matches!(word, "f64" | "f32" | "to_f64" | "to_f32" | "unsafe_op"),
                "{word} in {}",
                file.display()
            );
        }
    }
    for root in ["src/lib.rs", "../check/src/main.rs"] {
        assert!(std::fs::read_to_string(here.join(root)).unwrap().contains("#![forbid(unsafe_code)]"));
    }
}
