//! Verifies the stored matrix cell by cell without the search. Also tests that searches take the same course
//! however often they are stopped.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use evenhand_audit::matrix::{
    Cell, Column, Compared, Known, Matrix, Premises, Progress, Settings, Shown, StateError, StateOf,
    UNLESS_TIES, certificates, claim_name, contradicted, document, html, known, page, small_problems, table,
};
use evenhand_exact::check;
use evenhand_mechanisms::registry;
use evenhand_problem::Problem;
use evenhand_problem::format::{problem_sha256, problem_to_json};
use rayon::prelude::*;

/// The search whose results the matrix shows.
const FINDS: &str = "crates/studies/audit/finds.json";

const MARK: &str = "<!-- matrix: written from crates/studies/audit/finds.json -->\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn finds() -> Progress {
    let text = std::fs::read_to_string(root().join(FINDS)).unwrap();
    Progress::read(&text).expect("the search that is kept")
}

static MATRIX: LazyLock<Matrix> = LazyLock::new(|| {
    let mut progress = finds();
    if std::env::var_os("EVENHAND_WRITE_DOCS").is_some() {
        while !progress.is_complete() {
            progress.advance();
            std::fs::write(root().join(FINDS), progress.to_json()).unwrap();
        }
    }
    progress.finish()
});

fn with_name(cell: &Cell) -> String {
    cell.file_name()
}

#[test]
fn the_documentation_has_the_matrix() {
    let path = root().join("docs/guarantees.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, written) = text.split_once(MARK).unwrap();
    if std::env::var_os("EVENHAND_WRITE_DOCS").is_some() {
        std::fs::write(&path, format!("{head}{MARK}\n{}", table(&MATRIX))).unwrap();
        return;
    }
    assert_eq!(written.trim(), table(&MATRIX).trim(), "EVENHAND_WRITE_DOCS=1 writes it anew");
}

/// With `EVENHAND_WRITE_DOCS=1` the search first examines the problems that it has not examined yet.
#[test]
fn the_saved_search_is_complete() {
    LazyLock::force(&MATRIX);
    assert!(finds().is_complete());
}

#[test]
fn every_cell_is_explained() {
    let matrix = &*MATRIX;
    assert!(matrix.complete && finds().settings() == &Settings::default());
    assert_eq!(matrix.cells.len(), registry::ALL.len() * Column::all().len());
    for cell in matrix.cells.iter().chain(matrix.claims.iter().map(|judged| &judged.cell)) {
        let name = with_name(cell);
        let theorem = match (cell.state, &cell.proven_where) {
            (StateOf::Proven, None) => Some(&cell.reference),
            (StateOf::Proven, Some(_)) => panic!("{name}"),
            (_, Some((problems, reference))) => {
                assert!(
                    problems.starts_with("where ")
                        || problems.starts_with("on ")
                        || problems.starts_with("by "),
                    "{problems}"
                );
                Some(reference)
            }
            (_, None) => None,
        };
        theorem.into_iter().for_each(|reference| check_reference(reference));
        assert!(!cell.reference.is_empty(), "{name}");
        assert_eq!(cell.shown.is_some(), cell.state == StateOf::Refuted, "{name}");
        assert_eq!(cell.instances > 0, matches!(cell.state, StateOf::Refuted | StateOf::Open), "{name}");
    }
    let states = [StateOf::Proven, StateOf::Refuted, StateOf::Open, StateOf::NotApplicable];
    assert_eq!(states.map(|state| matrix.count(state)).iter().sum::<usize>(), matrix.cells.len());
}

/// Checks that the reference of a proven cell exists: a file, and a heading or the beginning of a fact in it.
fn check_reference(reference: &str) {
    let (file, place) = match (reference.split_once('#'), reference.split_once(", ")) {
        (Some((file, anchor)), _) => (file, Some(anchor.to_owned())),
        (None, Some((file, place))) => (file, Some(place.to_owned())),
        (None, None) => (reference, None),
    };
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let Some(place) = place else { return };
    let is_there = match place.rsplit_once(", Fact ") {
        Some((_, fact)) => text.contains(&format!("**Fact {fact}.**")),
        None => text.lines().any(|line| {
            let title = line.strip_prefix("### ").map(|title| title.to_lowercase().replace(' ', "-"));
            title.is_some_and(|title| title == place)
        }),
    };
    assert!(is_there, "{reference}");
}

/// Checks that the kernel accepts the certificates of every counterexample, and that counterexamples are small.
#[test]
fn every_refuted_cell_has_certificates() {
    let mut refuted = 0;
    let claims = MATRIX.claims.iter().map(|judged| (claim_name(judged), &judged.cell));
    for (name, cell) in MATRIX.cells.iter().map(|cell| (with_name(cell), cell)).chain(claims) {
        let Some(shown) = &cell.shown else { continue };
        refuted += 1;
        let pair = shown.pair.as_ref();
        let examinations = [Some(&shown.examination), pair.map(|pair| &pair.examination)];
        for examination in examinations.into_iter().flatten() {
            assert!(check(&examination.certificate).valid, "{name}");
        }
        assert_eq!(certificates(&name, shown).len(), if pair.is_some() { 2 } else { 1 });
        let problem = &shown.problem;
        // For PS-DSF with limited tasks no smaller counterexample is known.
        let users = if name.contains("ps-dsf.bottleneck-fair") { 4 } else { 3 };
        assert!(
            problem.n_users() <= users && problem.n_servers() <= 3 && problem.n_resources() <= 3,
            "{name}"
        );
        let claims = &shown.examination.certificate.claims;
        match (cell.column, pair) {
            (Column::Axiom(axiom), None) => {
                let claim = claims.iter().find(|claim| claim.axiom == axiom).expect("its claim");
                assert_eq!(claim.holds, Some(false), "{name}");
            }
            (Column::Property(_), None) => {
                assert!(claims.iter().any(|claim| claim.holds == Some(false)), "{name}");
            }
            (Column::Property(_), Some(pair)) => {
                let proven = claims.iter().all(|claim| claim.holds == Some(true));
                assert!(proven && pair.before != pair.after && pair.problem != *problem, "{name}");
                let other = &pair.examination.certificate.claims;
                assert!(other.iter().all(|claim| claim.holds == Some(true)), "{name}");
            }
            (Column::Axiom(_), Some(_)) => panic!("{name}"),
        }
    }
    assert!(refuted > 150, "{refuted}");
}

/// The contradicted claims: Table I of PS-DSF, its Theorem 3 with time slices, its Lemma 1, and section 4 of NJC.
#[test]
fn contradictions_to_the_papers_are_found() {
    let contradicted = MATRIX.claims.iter().filter(|judged| judged.agrees() == Some(false));
    let found: BTreeSet<(&str, &str)> =
        contradicted.clone().map(|judged| (judged.claim.paper, judged.claim.mechanism)).collect();
    let known = [
        ("PS-DSF, Table I", "tsf"),
        ("PS-DSF, Theorem 3, in time slices", "ps-dsf-tdm"),
        ("PS-DSF, Lemma 1", "ps-dsf"),
        ("NJC, section 4", "njc"),
        ("NJC, section 4, most tasks", "njc"),
    ];
    assert_eq!(found, BTreeSet::from(known));
    for judged in contradicted {
        let shown = judged.cell.shown.as_ref().expect("what refutes it");
        assert!(judged.claim.premises.hold(&shown.problem), "{}", judged.claim.paper);
        // Only Lemma 1 is contradicted by some answers to a lie and not by all of them.
        let compared = shown.pair.as_ref().map(|pair| pair.compared);
        let is_lemma = judged.claim.paper == "PS-DSF, Lemma 1";
        assert!(compared.is_none_or(|compared| compared != Compared::Computed), "{}", judged.claim.paper);
        assert_eq!(compared == Some(Compared::Ties), is_lemma, "{}", judged.claim.paper);
        let says = if is_lemma { UNLESS_TIES } else { "contradicted" };
        assert_eq!(judged.verdict(), says, "{}", judged.claim.paper);
    }
}

#[test]
fn a_search_does_not_depend_on_threads_or_interruptions() {
    let premises = Premises { positive: true, unlimited: true, everywhere: true, one_server: true };
    let settings = Settings { instances: 40, premises, ..Settings::default() };
    let run = |threads: usize, stops: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut progress = Progress::new(settings);
            for _ in 0..60 {
                progress.advance();
                if stops {
                    progress = Progress::read(&progress.to_json()).unwrap();
                }
            }
            progress.to_json()
        })
    };
    let one = run(1, false);
    assert_eq!(one, run(3, false));
    assert_eq!(one, run(2, true));
    let stopped = Progress::read(&one).unwrap();
    assert!(!stopped.finish().complete && stopped.current().is_some());
}

#[test]
fn small_problems_are_hardly_ever_repeated() {
    let all = small_problems(Premises::NONE);
    let hashes: BTreeSet<String> = all.iter().map(problem_sha256).collect();
    // The layers of small numbers overlap a little.
    assert!(all.len() > 4_000 && hashes.len() * 100 > all.len() * 99, "{} of {}", hashes.len(), all.len());
    let premises = Premises { positive: true, unlimited: true, everywhere: true, one_server: false };
    let fewer = small_problems(premises);
    assert!(
        !fewer.is_empty() && fewer.len() < all.len() && fewer.iter().all(|problem| premises.hold(problem))
    );
    assert!(premises.imply(Premises::NONE) && !Premises::NONE.imply(premises));
    assert_eq!(Premises::NONE.words(), "");
    let words = "where all demands are positive, tasks are unlimited and every user may run everywhere";
    assert_eq!(premises.words(), words);
}

/// Tests every mechanism on a sample of all small problems, and on a sample of the small problems in which
/// all levels are equal.
#[test]
fn small_problems_refute_no_proven_cell() {
    let equal = Premises { positive: true, unlimited: true, everywhere: true, one_server: false };
    for (premises, every) in [(Premises::NONE, 97), (equal, 5)] {
        let some: Vec<Problem> = small_problems(premises).into_iter().step_by(every).collect();
        assert!(some.len() > 20, "{}", some.len());
        some.par_iter().for_each(|problem| {
            for mechanism in registry::ALL {
                let wrong = contradicted(mechanism, premises, problem);
                assert_eq!(wrong, [], "{}: {}", mechanism.info.id, problem_to_json(problem));
            }
        });
    }
}

/// A theorem about some problems proves a cell if the premises imply these problems.
#[test]
fn premises_decide_which_cells_are_proven() {
    let state = |mechanism: &str, column: &str, premises: Premises| {
        let (mechanism, column) = (registry::find(mechanism).unwrap(), Column::parse(column).unwrap());
        known(mechanism, column, premises)
    };
    let none = Premises::NONE;
    let both = Premises { positive: true, unlimited: true, ..none };
    let unlimited = Premises { unlimited: true, ..none };
    let everywhere = Premises { everywhere: true, ..both };
    for (mechanism, column, needs, too_little) in [
        ("drf", "population-monotone", both, unlimited),
        ("cdrf", "non-bossy", both, none),
        ("tsf", "no-free-harm", everywhere, both),
        ("ps-dsf", "bottleneck-fair", unlimited, none),
    ] {
        assert!(matches!(state(mechanism, column, needs), Known::Proven(_)), "{mechanism} {column}");
        assert!(matches!(state(mechanism, column, too_little), Known::Open(Some(_))), "{mechanism} {column}");
    }
    let (all, fewer) = (small_problems(none), small_problems(both));
    let kept: Vec<Problem> = all.into_iter().filter(|problem| both.hold(problem)).collect();
    let hashes = |list: &[Problem]| list.iter().map(problem_sha256).collect::<BTreeSet<String>>();
    assert_eq!(hashes(&kept), hashes(&fewer));
    // Random problems also satisfy the premises. The results of searches with other premises are not reused.
    let settings = Settings { instances: 64, premises: everywhere, ..Settings::default() };
    let mut progress = Progress::new(settings);
    for _ in 0..40 {
        progress.advance();
    }
    let matrix = progress.finish();
    assert_eq!(matrix.cell("drfh", "population-monotone").unwrap().state, StateOf::Proven);
    let shown: Vec<_> = matrix.cells.iter().filter_map(|cell| cell.shown.as_ref()).collect();
    assert!(!shown.is_empty() && shown.iter().all(|shown| everywhere.hold(&shown.problem)));
}

/// Tests the effect of `--positive` and `--unlimited` on the first mechanisms. Cells that only a demand of 0
/// or limited tasks refute are no longer refuted. All other cells keep their states.
#[test]
fn options_restrict_problems_to_premises_of_papers() {
    let first = ["drf", "drfh", "cdrf", "tsf"];
    let searched = |premises: Premises| {
        let mut progress = Progress::new(Settings { instances: 32, premises, ..Settings::default() });
        while progress.current().is_some_and(|mechanism| first.contains(&mechanism)) {
            progress.advance();
        }
        progress.finish()
    };
    let none = Premises::NONE;
    let both = Premises { positive: true, unlimited: true, ..none };
    let mut changed = Vec::new();
    for (option, premises) in [
        ("--positive", Premises { positive: true, ..none }),
        ("--unlimited", Premises { unlimited: true, ..none }),
        ("--positive --unlimited", both),
    ] {
        let matrix = searched(premises);
        for cell in matrix.cells.iter().filter(|cell| first.contains(&cell.mechanism.info.id)) {
            let usual = MATRIX.cell(cell.mechanism.info.id, cell.column.name()).unwrap();
            let name = with_name(cell);
            let keeps = |shown: &Option<Box<Shown>>| {
                shown.as_ref().is_some_and(|shown| premises.hold(&shown.problem))
            };
            match usual.state {
                StateOf::Refuted if keeps(&usual.shown) => {
                    assert_eq!(cell.state, StateOf::Refuted, "{option} {name}");
                }
                StateOf::Refuted if cell.state == StateOf::Refuted => {}
                StateOf::Refuted => changed.push(format!("{option} {name} {}", cell.state.name())),
                state => assert_eq!(cell.state, state, "{option} {name}"),
            }
            assert!(cell.shown.is_none() || keeps(&cell.shown), "{option} {name}");
        }
    }
    let both = "--positive --unlimited";
    let expected = [
        ("--positive", "population-monotone", "open", &first[..]),
        ("--positive", "bottleneck-fair", "open", &["cdrf"]),
        ("--positive", "optimal-equal", "open", &["drf"]),
        (both, "bottleneck-fair", "open", &["cdrf"]),
        (both, "optimal-equal", "open", &["drf", "cdrf"]),
        (both, "no-free-harm", "proven", &["drf", "cdrf"]),
        (both, "non-bossy", "proven", &["drf", "cdrf"]),
        (both, "population-monotone", "proven", &["drf", "cdrf"]),
        (both, "population-monotone", "open", &["drfh", "tsf"]),
    ];
    let expected = expected.iter().flat_map(|(option, column, state, mechanisms)| {
        mechanisms.iter().map(move |mechanism| format!("{option} {mechanism}.{column} {state}"))
    });
    assert_eq!(BTreeSet::from_iter(changed), expected.collect());
}

#[test]
fn a_damaged_state_is_refused() {
    let text = Progress::new(Settings::default()).to_json();
    assert!(Progress::read(&text).is_ok());
    for (from, to) in [
        ("audit-state", "audit"),
        ("\"instances\":1000", "\"instances\":0"),
        ("\"mechanism\":\"drf\"", "\"mechanism\":\"njc\""),
        ("\"axiom\":\"envy-free\"", "\"axiom\":\"envy\""),
        ("\"positive\":false", "\"positive\":true"),
        ("\"version\":1", "\"version\":2"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(Progress::read(&text.replacen(from, to, 1)).is_err(), "{from}");
    }
    assert!(matches!(Progress::read("{}"), Err(StateError::Json(_))));
    let kept = include_str!("../../finds.json");
    let wrong = kept.replacen("\"kind\":\"allocation-problem\"", "\"kind\":\"poem\"", 1);
    assert!(matches!(Progress::read(&wrong), Err(StateError::Problem(_))));
}

/// A version with another mechanism and another axiom takes over the results in the file by name, and
/// searches for the missing results.
#[test]
fn a_state_of_another_version_is_merged_by_name() {
    let text = include_str!("../../finds.json");
    let whole = Progress::read(text).unwrap();
    assert!(whole.is_complete());
    let mut file: serde_json::Value = serde_json::from_str(text).unwrap();
    let searches = file["searches"].as_array_mut().unwrap();
    searches.retain(|search| search["mechanism"] != "drfh");
    searches.reverse();
    let of_tsf = searches.iter_mut().find(|search| search["mechanism"] == "tsf").unwrap();
    of_tsf["cells"].as_array_mut().unwrap().remove(0);
    let merged = Progress::read(&file.to_string()).unwrap();
    let (done, all) = merged.steps();
    assert!(!merged.is_complete() && 0 < done && done < all, "{done} of {all}");
    let (whole, merged) = (whole.finish(), merged.finish());
    for cell in whole.cells.iter().filter(|cell| !["drfh", "tsf"].contains(&cell.mechanism.info.id)) {
        let same = merged.cell(cell.mechanism.info.id, cell.column.name()).unwrap();
        assert_eq!(same.state, cell.state, "{}", with_name(cell));
    }
}

/// A saved state with a false counterexample shows no counterexample, and its cell stays open.
#[test]
fn a_false_counterexample_is_not_shown() {
    let kept = include_str!("../../finds.json");
    let start = kept.find("{\"axiom\":\"sharing-incentive\",").unwrap();
    // The first match is the cell of `drfh`. In the forged problem, a single user has its fair share.
    let end = start + kept[start..].find('\n').unwrap();
    let alone = r#"{"axiom":"sharing-incentive","decided":1,"found":{"exhaustive":true,"problem":{"kind":"allocation-problem","resources":["r1"],"servers":[{"name":"s1","capacity":{"r1":"1"}}],"users":[{"name":"u1","demand":{"r1":"1"}}]}}},"#;
    let forged = format!("{}{alone}{}", &kept[..start], &kept[end..]);
    // The set of claims that are searched depends on the results, so it is left out.
    let (searches, _) = forged.split_once("\"of_claims\":[").unwrap();
    let matrix = Progress::read(&format!("{searches}\"of_claims\":[]}}")).unwrap().finish();
    let cell = matrix.cell("drfh", "sharing-incentive").unwrap();
    assert!(cell.state == StateOf::Open && cell.shown.is_none(), "{}", cell.reference);
    assert!(cell.reference.contains("no certificate proves"), "{}", cell.reference);
}

#[test]
fn the_page_and_the_document_have_every_cell() {
    let (text, value) = (html(&MATRIX, true), document(&MATRIX));
    assert_eq!(value["cells"].as_array().unwrap().len(), MATRIX.cells.len());
    assert_eq!(text.matches("<details>").count(), MATRIX.cells.len() + MATRIX.claims.len());
    assert!(text.contains("certificates/drfh.sharing-incentive.json"));
    assert!(!html(&MATRIX, false).contains("href=\"certificates/"));
    let shown = page(&MATRIX).to_string();
    assert!(shown.contains("contradicted") && shown.contains("cells: "), "{shown}");
}
