//! Suites agree with the committed hashes. They contain small and large, easy and difficult cases.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use evenhand_accuracy::case::{Case, Kind};
use evenhand_accuracy::references;
use evenhand_accuracy::suite::{self, SEED, Suite};

fn cases(suite: Suite) -> Vec<Case> {
    suite::cases(suite, SEED).collect::<Result<_, _>>().unwrap()
}

/// With `EVENHAND_WRITE_DOCS=1` the hashes are written. References are computed only for problems without a line in
/// the file, so delete the lines that should be computed again.
#[test]
fn problems_have_the_committed_hashes() {
    let all = cases(Suite::Full);
    if std::env::var_os("EVENHAND_WRITE_DOCS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/suite/suite.txt");
        let (kept, mut text) = (std::fs::read_to_string(&path).unwrap(), String::new());
        for case in &all {
            let start = format!("{} {} {} ", case.kind, case.name, case.sha256());
            if let Some(line) = kept.lines().find(|line| line.starts_with(&start)) {
                writeln!(text, "{line}").unwrap();
                continue;
            }
            let begun = std::time::Instant::now();
            let reference =
                references::of(case).unwrap_or_else(|error| panic!("{} {}: {error}", case.kind, case.name));
            println!("{} {}: {:.2} s", case.kind, case.name, begun.elapsed().as_secs_f64());
            writeln!(text, "{start}{}", reference.sha256()).unwrap();
        }
        std::fs::write(&path, text).unwrap();
        return;
    }
    assert_eq!(suite::HASHES.lines().count(), all.len());
    for case in &all {
        let committed = suite::hashes(case.kind, &case.name).map(|(problem, _)| problem);
        assert_eq!(committed, Some(case.sha256().as_str()), "{} {}", case.kind, case.name);
    }
}

#[test]
fn references_of_the_small_suite_have_the_committed_hashes() {
    for case in cases(Suite::Small) {
        let reference = references::of(&case).unwrap();
        let committed = suite::hashes(case.kind, &case.name).map(|(_, reference)| reference);
        assert_eq!(committed, Some(reference.sha256().as_str()), "{} {}", case.kind, case.name);
    }
}

#[test]
fn suites_have_their_stated_size() {
    for (suite, least) in [(Suite::Small, 30), (Suite::Full, 80)] {
        let all = cases(suite);
        assert_eq!(all.len(), suite::n_cases(suite));
        assert!(all.len() >= least);
        let words = Suite::NAMES.iter().find(|(name, _)| *name == suite.name()).unwrap().1;
        assert!(words.starts_with(&format!("{} cases", all.len())), "{words}: {}", all.len());
        let names: BTreeSet<(Kind, String)> = all.iter().map(|case| (case.kind, case.name.clone())).collect();
        assert_eq!(names.len(), all.len(), "two cases have one name");
        let files: BTreeSet<String> = all.iter().map(Case::file_name).collect();
        assert_eq!(files.len(), all.len(), "two references have one file");
        let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
        all.iter().for_each(|case| *kinds.entry(case.kind).or_default() += 1);
        // Linear programmes of any kind come from files.
        assert_eq!(kinds.len(), Kind::ALL.len() - 1, "{kinds:?}");
        assert!(kinds.values().all(|count| *count >= 3), "{kinds:?}");
    }
    let sizes: Vec<usize> = cases(Suite::Full).iter().map(|case| case.size().0).collect();
    assert_eq!((sizes.iter().min(), sizes.iter().max()), (Some(&2), Some(&100_000)));
}

#[test]
fn another_seed_generates_other_problems() {
    let made = |seed: u64| -> Vec<String> {
        suite::cases(Suite::Small, seed).map(|case| case.unwrap().sha256()).collect()
    };
    let (first, again, other) = (made(3), made(3), made(4));
    assert_eq!(first, again);
    let same = first.iter().zip(&other).filter(|(a, b)| a == b).count();
    // The problems of the papers do not depend on the seed; each occurs twice.
    assert_eq!(same, 8);
}
