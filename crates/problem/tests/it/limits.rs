//! Limits of numbers, suggestions for misspelt names, and quantities with units.

use evenhand_problem::format::{
    MAX_FILE_BYTES, ReadError, Source, problem_to_json, read_text, reservation_to_json,
};
use evenhand_problem::number::{
    DigitBudget, MAX_TOTAL_DIGITS, NumberError, parse, parse_quantity, parse_result, stated,
};
use evenhand_problem::{Problem, Rational, nearest};
use proptest::prelude::*;

fn problem(capacity: &str, user: &str) -> Result<Problem, String> {
    let text = format!(
        "{{\"kind\": \"allocation-problem\", \"resources\": [\"cpu\", \"memory\"],\n\
         \"servers\": [{{\"name\": \"pool\", \"capacity\": {{\"cpu\": {capacity}}}}}],\n\"users\": [{user}]}}"
    );
    Source { name: "p.json", text: &text }.problem().map_err(|error| error.to_string())
}

#[test]
fn reads_every_suffix() {
    for (text, value) in [
        ("64000m", "64"),
        ("1n", "1e-9"),
        ("1u", "1e-6"),
        ("2.5k", "2500"),
        ("1M", "1e6"),
        ("1G", "1e9"),
        ("1T", "1e12"),
        ("1P", "1e15"),
        ("1E", "1e18"),
        ("1E3", "1000"),
        ("1e3", "1000"),
        ("1Ki", "1024"),
        ("1Mi", "1048576"),
        ("1007Gi", "1081258016768"),
        ("1Ti", "1099511627776"),
        ("1Pi", "1125899906842624"),
        ("1Ei", "1152921504606846976"),
        ("-1k", "-1000"),
        ("1/3", "1/3"),
        ("7", "7"),
    ] {
        assert_eq!(parse_quantity(text).unwrap(), parse(value).unwrap(), "{text}");
    }
    for text in ["k", "Ki", "1 Ki", "1K", "1ki", "1kk", "1e3k", "1/2Gi", "m1", "1Zi", "", "E", "1EE"] {
        assert!(matches!(parse_quantity(text), Err(NumberError::Syntax(_))), "{text}");
    }
    assert!(matches!(
        parse_quantity(&format!("{}k", "1".repeat(401))),
        Err(NumberError::TooManyDigits { .. })
    ));
}

#[test]
fn suffixes_are_for_amounts() {
    let read = problem(
        "\"64000m\"",
        r#"{"name": "u", "demand": {"memory": "1Gi"}, "demand_on": {"pool": {"cpu": "1k"}}}"#,
    );
    let read = read.unwrap();
    assert_eq!(read.servers()[0].capacity()[0], 64);
    assert_eq!(read.users()[0].base_demand()[1], 1_073_741_824);
    assert_eq!(read.demand(0, 0)[0], 1000);
    for field in [r#""weight": "1k""#, r#""tasks": "1k""#, r#""gamma": {"pool": "1k"}"#] {
        let error =
            problem("1", &format!(r#"{{"name": "u", "demand": {{"cpu": 1}}, {field}}}"#)).unwrap_err();
        assert!(error.contains("`1k` is not a number"), "{error}");
    }
}

#[test]
fn suggests_the_nearest_names() {
    let known = ["cpu", "memory", "gpu", "high-memory"];
    for (name, expected) in [
        ("cpuu", Some("cpu")),
        ("cp", Some("cpu")),
        ("GPU", Some("gpu")),
        ("memroy", Some("memory")),
        ("high_memory", Some("high-memory")),
        ("x", None),
        ("", None),
        ("bandwidth", None),
    ] {
        assert_eq!(nearest(name, known), expected, "{name}");
    }
    assert_eq!(nearest(&"m".repeat(1_000_000), known), None);
    let error = problem("1", r#"{"name": "u", "demand": {"memroy": 1}}"#).unwrap_err();
    assert_eq!(
        error,
        "p.json:3:46: users[0].demand.memroy: there is no resource `memroy` (did you mean `memory`?)"
    );
    let error = problem("1", r#"{"name": "u", "demand": {"cpu": 1}, "taks": 3}"#).unwrap_err();
    assert!(error.contains("unknown field `taks` (did you mean `tasks`?): expected one of name"), "{error}");
}

#[test]
fn top_level_descriptions_are_accepted() {
    let text = r#"{"$schema": "x", "description": ["y"], "kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "pool", "capacity": {"cpu": 1}}]}"#;
    let problem = Source { name: "p.json", text }.problem().unwrap();
    let warnings: Vec<String> = problem.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["the problem has no users: there is nothing to allocate"]);
    let inside = text.replace("{\"name\"", "{\"description\": \"y\", \"name\"");
    assert!(Source { name: "p.json", text: &inside }.problem().is_err());
}

#[test]
fn the_digits_of_a_document_are_charged_together() {
    let budget = DigitBudget::new(100);
    assert!(budget.charge("0.25").is_ok());
    assert!(budget.charge("1e-80").is_ok());
    let error = budget.charge("1e20").unwrap_err();
    assert_eq!(
        error.to_string(),
        "too large: the numbers have more than 100 digits together, the budget of the reader"
    );
    assert!(budget.charge("1").is_err());
    // 16 bytes ask for 100,000 digits. The document is refused before 2^28 digits are created.
    let tasks: Vec<String> = (0..3_000).map(|n| format!("\"u{n}\": {{\"pool\": 1e-100000}}")).collect();
    let users: Vec<String> =
        (0..3_000).map(|n| format!(r#"{{"name": "u{n}", "demand": {{"cpu": 1}}}}"#)).collect();
    let problem = problem("1", &users.join(",")).unwrap();
    let text = format!(r#"{{"kind": "allocation", "tasks": {{{}}}}}"#, tasks.join(","));
    let error = Source { name: "a.json", text: &text }.allocation(&problem).unwrap_err();
    assert!(error.is_too_large);
    assert!(error.message.contains(&MAX_TOTAL_DIGITS.to_string()), "{error}");
}

/// Checks that numbers in texts that several users share are parsed once, and count against the budget for
/// each user.
#[test]
fn the_digits_of_shared_texts_are_charged() {
    const N_RESOURCES: usize = 50;
    let names: Vec<String> = (0..N_RESOURCES).map(|r| format!("\"r{r}\"")).collect();
    let demand: Vec<String> = names.iter().map(|name| format!("{name}:1e-400")).collect();
    let users: Vec<String> =
        (0..14_000).map(|n| format!("{{\"name\":\"u{n}\",\"demand\":{{{}}}}}", demand.join(","))).collect();
    let text = format!(
        r#"{{"kind":"allocation-problem","resources":[{}],"servers":[{{"name":"s","capacity":{{}}}}],"users":[{}]}}"#,
        names.join(","),
        users.join(",")
    );
    let error = Source { name: "p.json", text: &text }.problem().unwrap_err();
    assert!(error.is_too_large, "{error}");
    // Each number costs 406 digits: its six characters, and the 400 digits that its exponent writes out.
    let all = MAX_TOTAL_DIGITS / 406;
    let (user, resource) = (all / N_RESOURCES as u64, all % N_RESOURCES as u64);
    assert_eq!(error.place.to_string(), format!("users[{user}].demand.r{resource}"));
}

#[test]
fn a_file_is_not_read_beyond_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.json");
    // The file is sparse, so it takes no disk space.
    std::fs::File::create(&path).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    let error = read_text(&path).unwrap_err();
    assert!(matches!(error, ReadError::TooLarge { limit: MAX_FILE_BYTES, .. }), "{error}");
    assert!(
        error.to_string().ends_with("too large: more than 1073741824 bytes, the most that a file may have")
    );
}

#[test]
fn written_files_are_read_again() {
    let text = include_str!("../extreme/exponent.json");
    let problem = Source { name: "exponent.json", text }.problem().unwrap();
    let written = problem_to_json(&problem);
    assert_eq!(Source { name: "again", text: &written }.problem().unwrap(), problem);
    let text = include_str!("../extreme/exponent-r.json");
    let reservation = Source { name: "exponent-r.json", text }.reservation().unwrap();
    let written = reservation_to_json(&reservation);
    assert_eq!(Source { name: "again", text: &written }.reservation().unwrap(), reservation);
}

/// Returns a number of any form within the limits.
fn within_the_limits() -> impl Strategy<Value = String> {
    let digits = |most: usize| prop::collection::vec(0u8..10, 1..=most);
    let text = |digits: Vec<u8>| digits.into_iter().map(|d| char::from(b'0' + d)).collect::<String>();
    let decimal = (digits(200), digits(200), -400i32..=400).prop_map(move |(whole, fraction, exponent)| {
        format!("{}.{}e{exponent}", text(whole), text(fraction))
    });
    let whole = (digits(400), -400i32..=400).prop_map(move |(d, e)| format!("{}e{e}", text(d)));
    let quotient = (digits(200), digits(199)).prop_map(move |(p, q)| format!("{}/1{}", text(p), text(q)));
    let few = (0u32..100, prop_oneof![Just(-400), Just(400), Just(399)], 0usize..300)
        .prop_map(|(d, e, zeros)| format!("{d}{}e{e}", "0".repeat(zeros)));
    prop_oneof![decimal, whole, quotient, few]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn numbers_of_any_size_survive_writing_and_reading(text in within_the_limits(), negative in any::<bool>()) {
        let value = parse(&text).unwrap() * if negative { -1 } else { 1 };
        let written = stated(&value).unwrap();
        prop_assert_eq!(parse(&written).unwrap(), value);
    }

    #[test]
    fn readers_never_panic(text in "[-+0-9eE./kKiMGm]{0,12}") {
        let _ = (parse(&text), parse_result(&text));
        if let Ok(value) = parse(&text) {
            // A number without a suffix is also a quantity of the same value.
            prop_assert_eq!(parse_quantity(&text).unwrap(), value);
        }
    }
}

#[test]
fn a_number_can_be_too_long_to_be_stated() {
    let long = parse(&format!("0.{}", "1".repeat(398))).unwrap();
    assert_eq!(stated(&(long / Rational::from(7))), None);
}
