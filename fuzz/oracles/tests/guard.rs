//! Checks before a release: known advisories for the locked crates, the number of unsafe lines, and tests
//! that would never run.
#![allow(missing_docs)]

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

type Version = (Vec<u64>, bool);

/// Returns the three numbers of a version, and `true` if the version is a release.
fn version(text: &str) -> Version {
    let (numbers, rest) = text.split_once(['-', '+']).unwrap_or((text, ""));
    let mut numbers: Vec<u64> = numbers.split('.').map(|number| number.parse().unwrap()).collect();
    numbers.resize(3, 0);
    (numbers, rest.is_empty() || text.contains('+'))
}

/// Returns `true` if a version meets a requirement such as `>= 0.8.4, < 0.9.0`.
fn keeps(found: &Version, requirement: &str) -> bool {
    requirement.split(',').all(|part| {
        let part = part.trim();
        let (sign, wanted) = part.split_at(part.find(|c: char| c.is_ascii_digit()).unwrap());
        let wanted = version(wanted);
        let order = found.cmp(&wanted);
        match sign.trim() {
            ">=" => order.is_ge(),
            ">" => order.is_gt(),
            "<" => order.is_lt(),
            "<=" => order.is_le(),
            "=" => order == Ordering::Equal,
            "^" | "" => {
                let fixed = wanted.0.iter().position(|number| *number > 0).unwrap_or(2);
                order.is_ge() && found.0[..=fixed] == wanted.0[..=fixed]
            }
            other => panic!("{other} in `{requirement}`"),
        }
    })
}

#[test]
fn version_requirements_are_read_as_by_cargo() {
    let cases = [
        ("1.2.3", ">= 1.2.3", true),
        ("1.2.3", "> 1.2.3", false),
        ("0.8.4", ">= 0.8.4, < 0.9.0", true),
        ("0.9.0", ">= 0.8.4, < 0.9.0", false),
        ("0.3.9", "^0.3.4", true),
        ("0.4.0", "^0.3.4", false),
        ("1.9.0", "^ 1.2", true),
        ("2.0.0", "^1.2", false),
        ("1.0.0-rc.1", ">= 1.0.0", false),
        ("1.15.8+1.8.4", "<= 1.15.8", true),
    ];
    for (found, requirement, expected) in cases {
        assert_eq!(keeps(&version(found), requirement), expected, "{found} {requirement}");
    }
}

/// Compares every locked version with the excerpt of RustSec's database. Each exception needs a reason in
/// deny.toml.
#[test]
fn no_locked_crate_has_an_advisory() {
    let mut locked: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for lock in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let text = read(lock);
        let packages = text.split("[[package]]").filter(|package| package.contains("\nsource = "));
        for package in packages {
            let field = |name: &str| {
                let line = package.lines().find_map(|line| line.strip_prefix(name)).unwrap();
                line.trim_matches(['=', ' ', '"']).to_owned()
            };
            locked.entry(field("name")).or_default().push(field("version"));
        }
    }
    let ignored = read("deny.toml");
    let (mut known, mut affected) = (0, Vec::new());
    for line in read(".ci/advisories.txt").lines().filter(|line| line.starts_with("RUSTSEC-")) {
        known += 1;
        let (about, safe) = line.split_once(';').unwrap();
        let words: Vec<&str> = about.split(' ').collect();
        let (id, name) = (words[0], words[1]);
        let is_safe =
            |found: &String| safe.split('|').any(|set| !set.trim().is_empty() && keeps(&version(found), set));
        let versions = locked.get(name).into_iter().flatten();
        for found in versions.filter(|found| !is_safe(found)) {
            if !ignored.contains(&format!("id = \"{id}\"")) {
                affected.push(format!("{id}: {about}, locked {found}"));
            }
        }
    }
    assert!(known > 20, "{known}");
    assert!(affected.is_empty(), "{affected:#?}");
}

/// Collects all `.rs` files of the workspace, without build products.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The table of fuzz/README.md states every file with unsafe blocks, and their number.
#[test]
fn unsafe_blocks_agree_with_the_table() {
    let root = root().canonicalize().unwrap();
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 300, "{}", files.len());
    // The word is split, so that this file does not contain it.
    let words = ["{", "fn", "impl", "extern", "trait"].map(|next| format!("{}safe {next}", "un"));
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
        let count = code
            .map(|line| words.iter().map(|word| line.matches(word.as_str()).count()).sum::<usize>())
            .sum();
        if count > 0 {
            found.insert(file.strip_prefix(&root).unwrap().to_string_lossy().into_owned(), count);
        }
    }
    let page = read("fuzz/README.md");
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let (file, count) = (cells.next()?.trim().trim_end_matches('`'), cells.next()?.trim());
        let count = count.split(' ').next()?.parse().ok()?;
        file.ends_with(".rs").then(|| (file.to_owned(), count))
    });
    assert_eq!(rows.collect::<BTreeMap<String, usize>>(), found);
}

/// Compiling a crate for its inner tests takes as long as compiling the crate. Crates without inner tests
/// must therefore state `test = false`.
#[test]
fn crates_without_inner_tests_disable_them() {
    let mut untested = 0;
    let workspace = read("Cargo.toml");
    let members = workspace.split("members = [").nth(1).and_then(|rest| rest.split(']').next()).unwrap();
    for member in members.split('"').skip(1).step_by(2) {
        let manifest = read(&format!("{member}/Cargo.toml"));
        let is_target = |section: &&str| section.starts_with("lib]") || section.starts_with("[bin]]");
        let targets: Vec<&str> = manifest.split("\n[").filter(is_target).collect();
        let runs = |section: &&str| !section.contains("\ntest = false");
        if !targets.iter().any(|section| !runs(section)) || member == "bindings/python" {
            continue;
        }
        // A target without tests may be next to another target with tests, so only its root file is examined.
        // Other targets without tests are libraries and programs with a single file.
        let root = root().join(member).canonicalize().unwrap();
        let path = |section: &&str| {
            let stated = section.split("\npath = \"").nth(1).and_then(|rest| rest.split('"').next());
            root.join(stated.unwrap_or("src/lib.rs"))
        };
        let mut files: Vec<PathBuf> = targets.iter().filter(|section| !runs(section)).map(path).collect();
        // A library that the manifest does not mention is tested.
        let states_its_library = manifest.contains("\n[lib]") || !root.join("src/lib.rs").exists();
        if states_its_library && !targets.iter().any(runs) {
            sources(&root, &mut files);
            files.retain(|file| file.exists() && !file.starts_with(root.join("tests")));
        }
        untested += 1;
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!text.contains("#[test]"), "{} is not run: {member} says so", file.display());
        }
    }
    assert!(untested > 6, "{untested} packages");
}
