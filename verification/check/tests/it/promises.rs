//! Tests of the promises that SECURITY.md makes about the program, for any file.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use evenhand_check::{File, Options, check};
use evenhand_testkit::certificates::{Fixture, Kind, accepted, malformed, rejected};
use evenhand_testkit::damage::damaged_text;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// The promised memory in bytes for each byte of the file. `BYTES_BESIDE` bytes are promised in addition.
const BYTES_EACH: u64 = 100;
const BYTES_BESIDE: u64 = 1 << 30;

/// Runs the program in a folder on a file in the folder. The program gets exactly the promised memory, and may not
/// write any byte to a file.
fn run(folder: &Path, text: &str, format: &str) -> Output {
    std::fs::write(folder.join("c.json"), text).unwrap();
    let memory = BYTES_EACH * text.len() as u64 + BYTES_BESIDE;
    let limited = format!("ulimit -f 0; ulimit -v {}; exec \"$0\" c.json --format {format}", memory >> 10);
    let mut command = Command::new("sh");
    command.arg("-c").arg(limited).arg(env!("CARGO_BIN_EXE_evenhand-check")).current_dir(folder);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["c.json"], "it leaves another file");
    output
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("evenhand-promises-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn all() -> impl Iterator<Item = Fixture> {
    accepted().into_iter().chain(rejected()).chain(malformed())
}

/// The promised memory is enough for every certificate of the test kit, and no file is written.
#[test]
fn memory_is_bounded_and_no_file_is_written() {
    let folder = folder("memory");
    for fixture in all() {
        let output = run(&folder, &fixture.text, "table");
        assert!(output.status.code().is_some_and(|status| status < 3), "{}: {output:?}", fixture.name);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// If numbers are much longer than their text, the budget ends the check before memory runs out.
#[test]
fn digits_are_charged_before_they_are_computed() {
    let folder = folder("digits");
    let list = |of: &dyn Fn(usize) -> String| (0..4_000).map(of).collect::<Vec<_>>().join(",");
    // The first users have 1e-99999 tasks, and the others 1e-9.
    let text = |wide: usize| {
        format!(
            r#"{{"kind": "certificate", "version": 2, "problem": {{"kind": "allocation-problem", "resources": ["r"],
              "servers": [{{"name": "s", "capacity": {{"r": 1}}}}], "users": [{}]}},
            "allocation": {{"kind": "allocation", "tasks": {{{}}}}}, "tolerance": "0", "not_checked": [],
            "claims": [{{"axiom": "envy-free", "holds": true, "margin": "0", "evidence": {{"tightest": {{}}}}}}]}}"#,
            list(&|n| format!(r#"{{"name": "u{n}", "demand": {{"r": 1}}}}"#)),
            list(&|n| format!(r#""u{n}": {{"s": "{}"}}"#, if n < wide { "1e-99999" } else { "1e-9" })),
        )
    };
    for (wide, what) in [(4_000, "digits of numbers"), (300, "steps of work")] {
        let output = run(&folder, &text(wide), "json");
        let output_text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{what}: {output_text}");
        assert!(output_text.contains("too large") && output_text.contains(what), "{what}: {output_text}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// The program reads at most the largest allowed size of a file that does not end.
#[test]
fn a_file_is_at_most_a_gibibyte() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evenhand-check"));
    let output = command.arg("/dev/zero").stdin(Stdio::null()).output().unwrap();
    let output_text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{output_text}");
    assert!(output_text.contains("expected at most 1073741824 bytes"), "{output_text}");
}

/// The program gives an answer and does not panic for damaged certificates, and for bytes that are not a certificate at
/// all.
#[test]
fn arbitrary_bytes_never_cause_a_panic() {
    let mut rng = Pcg64::seed_from_u64(25);
    let fixtures: Vec<Fixture> = all().filter(|fixture| fixture.text.len() < 20_000).collect();
    let answer = |text: String| {
        if let Err(unusable) = check(&File { name: "c.json".to_owned(), text }, &Options::default()) {
            assert!([2, 3].contains(&unusable.status) && !unusable.what.is_empty(), "{unusable:?}");
        }
    };
    for _ in 0..3_000 {
        let fixture = &fixtures[rng.random_range(0..fixtures.len())];
        answer(damaged_text(&fixture.text, &mut rng));
        let bytes: Vec<u8> = (0..rng.random_range(0..64)).map(|_| rng.random()).collect();
        answer(String::from_utf8_lossy(&bytes).into_owned());
    }
}

/// Names that would control a terminal are printed as escapes, in both formats, in verdicts and in errors.
#[test]
fn control_characters_are_escaped() {
    const HOSTILE: &str = "\\u001b[31m\\u0007\\u202e\\r\\nerror: forged";
    let folder = folder("names");
    let fixture = accepted().into_iter().find(|fixture| fixture.name == "figure-1-drfh").unwrap();
    let name = fixture.text.split("\"users\"").nth(1).unwrap().split('"').nth(3).unwrap().to_owned();
    let hostile = fixture.text.replace(&format!("\"{name}\""), &format!("\"{HOSTILE}\""));
    // The first text states the hash of the problem with the original name. The second text is malformed JSON at the
    // name. The third text has the name as an unknown field.
    let twice = hostile.replacen(HOSTILE, &format!("{HOSTILE}\", \"{HOSTILE}"), 1);
    let unknown = hostile.replacen("\"claims\"", &format!("\"{HOSTILE}\""), 1);
    let mut escaped = 0;
    for text in [hostile, twice, unknown] {
        for format in ["table", "json"] {
            let output = run(&folder, &text, format);
            let output_text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(!output_text.is_empty());
            let drives = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
            assert!(!output_text.contains(drives), "{output_text:?}");
            escaped += usize::from(output_text.contains("u{1b}") || output_text.contains("u001b"));
            assert!(!output_text.lines().skip(1).any(|line| line.starts_with("error: ")), "{output_text}");
        }
    }
    assert!(escaped > 1, "{escaped}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A certificate that proves that an allocation violates an axiom is valid, unless the reader requires the axiom.
#[test]
fn a_certified_violation_is_valid() {
    let fixture = accepted().into_iter().find(|fixture| fixture.text.contains("\"dominating\"")).unwrap();
    let found = |require: &[&str]| {
        let require = require.iter().map(|axiom| (*axiom).to_owned()).collect();
        let file = File { name: fixture.name.clone(), text: fixture.text.clone() };
        check(&file, &Options { require, ..Options::default() }).unwrap().reason
    };
    assert_eq!(found(&[]), None, "{}", fixture.name);
    assert!(found(&["pareto-optimal"]).is_some(), "{}", fixture.name);
}

/// A tolerance is accepted only if the reader allows it. The default limit is one millionth.
#[test]
fn a_wide_tolerance_must_be_allowed() {
    let reason = |fixture: &Fixture, most: Option<&str>| {
        let file = File { name: fixture.name.clone(), text: fixture.text.clone() };
        let options = Options { max_tolerance: most.map(str::to_owned), ..Options::default() };
        check(&file, &options).unwrap().reason
    };
    let allocations = accepted().into_iter().filter(|fixture| fixture.kind == Kind::Allocation);
    let wide: Vec<Fixture> = allocations
        .filter(|fixture| reason(fixture, None).is_some_and(|reason| reason.contains("tolerance")))
        .collect();
    assert!(!wide.is_empty());
    for fixture in wide {
        assert_eq!(reason(&fixture, Some("0.999")), None, "{}", fixture.name);
    }
}
