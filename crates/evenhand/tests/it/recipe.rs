//! Tests of the recipe "Add a mechanism" of CONTRIBUTING.md, which is a list of edits. `make test-recipe`
//! applies the edits to a copy of the sources and runs the tests of this copy. This test only checks that the
//! edits still match the sources, which takes no time.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A recipe must be short: it has fewer edits than this number.
const MOST_EDITS: usize = 10;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn the_edits_of_the_recipe_fit_the_sources() {
    let contributing = read("CONTRIBUTING.md");
    let section = contributing.split("\n## Add a mechanism\n").nth(1).expect("the section");
    let section = section.split("\n## ").next().unwrap();
    let edits: Vec<Value> = serde_json::from_str(&read("scripts/recipe/edits.json")).unwrap();
    assert!(edits.len() < MOST_EDITS, "{}", edits.len());
    for edit in edits {
        let field = |name: &str| edit[name].as_str();
        let file = field("file").expect("every edit names its file");
        if let Some(new) = field("new") {
            assert!(!root().join(file).exists(), "{file} should be a new file");
            read(&format!("scripts/recipe/{new}"));
            continue;
        }
        let anchor = field("after").map(|line| format!("\n{line}\n")).or(field("replace").map(str::to_owned));
        let anchor = anchor.expect("an edit has `new`, `after` or `replace`");
        assert_eq!(read(file).matches(&anchor).count(), 1, "{file}: {anchor:?}");
        let name = Path::new(file).file_name().unwrap().to_str().unwrap();
        assert!(section.contains(name), "CONTRIBUTING.md, \"Add a mechanism\", does not name {name}");
    }
}
