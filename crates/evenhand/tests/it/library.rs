//! What a program links that uses the library alone.

use std::process::Command;

#[test]
fn the_library_links_neither_the_studies_nor_the_command_line() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{lib}"])
        .args(["--package", "evenhand", "--no-default-features"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let crates = String::from_utf8(tree.stdout).expect("UTF-8");
    let links = |name: &str| crates.lines().any(|line| line == name);
    assert!(links("evenhand_certify"), "{crates}");
    for name in
        ["evenhand_papers", "evenhand_accuracy", "evenhand_audit", "evenhand_hunt", "clap", "clarabel"]
    {
        assert!(!links(name), "{name} in:\n{crates}");
    }
}
