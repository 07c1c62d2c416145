//! Files as text, and the pieces for readers that use serde.

use std::{fs, path::Path};

use evenhand_problem::{
    Rational,
    format::{Entries, Exact, ExactResult, ReadError, Source, read_text, write_atomically},
};
use serde::Deserialize;

#[test]
fn text_that_is_not_utf8_is_an_error_on_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.json");
    fs::write(&path, b"{\n \"\xc3\xa4\xff\": 1}").unwrap();
    let Err(ReadError::Format(error)) = read_text(&path) else { panic!("accepted") };
    assert_eq!((error.line(), error.column(), error.offset()), (2, 4, 6));
    assert!(error.message().starts_with("found the byte 0xff, which is not UTF-8"));
}

#[test]
fn a_file_that_is_not_there() {
    let error = read_text(Path::new("no/such/file.json")).unwrap_err();
    assert!(error.to_string().starts_with("no/such/file.json: "), "{error}");
}

#[test]
fn files_are_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.json");
    write_atomically(&path, b"old").unwrap();
    write_atomically(&path, b"new").unwrap();
    assert_eq!(read_text(&path).unwrap(), "new");
    assert!(write_atomically(&folder.path().join("missing/out.json"), b"x").is_err());
    assert!(write_atomically(folder.path(), b"x").is_err());
    assert!(write_atomically(Path::new("/"), b"x").is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn links_and_devices_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "old").unwrap();
    symlink(&file, &link).unwrap();
    write_atomically(&link, b"new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    let null = folder.path().join("null");
    symlink("/dev/null", &null).unwrap();
    write_atomically(&null, b"gone").unwrap();
    assert!(fs::metadata(&null).unwrap().file_type().is_char_device());
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Evidence {
    margin: Exact,
    prices: Entries<ExactResult>,
}

fn evidence(text: &str) -> Result<Evidence, serde_json::Error> {
    serde_json::from_str(text)
}

#[test]
fn exact_numbers_through_serde() {
    let read = evidence(r#"{"margin": -0.1, "prices": {"b": "1/3", "a": 1e2}}"#).unwrap();
    assert_eq!(read.margin.0, Rational::from((-1, 10)));
    assert_eq!(read.prices.0[0], ("b".to_owned(), ExactResult(Rational::from((1, 3)))));
    assert_eq!(read.prices.get("a").unwrap().0, 100);
    assert_eq!(serde_json::to_string(&read.prices).unwrap(), r#"{"b":"1/3","a":"100"}"#);
    let long = "9".repeat(401);
    assert!(evidence(&format!(r#"{{"margin": 1, "prices": {{"a": {long}}}}}"#)).is_ok());
    for (text, message) in [
        (format!(r#"{{"margin": {long}, "prices": {{}}}}"#), "a number with 401 digits"),
        (r#"{"margin": "x", "prices": {}}"#.to_owned(), "`x` is not a number"),
        (r#"{"margin": null, "prices": {}}"#.to_owned(), "expected a number"),
        (r#"{"margin": 1, "prices": {"a": 1, "a": 1}}"#.to_owned(), "the field `a` is given twice"),
        (r#"{"margin": 1, "prices": [1]}"#.to_owned(), "expected an object"),
    ] {
        let error = evidence(&text).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn serde_faults_inside_a_document_keep_their_place() {
    let text = "{\"claims\": [\n  {\"margin\": 1, \"prices\": {}},\n  {\"margin\": \"ä\", \"prices\": {}}]}";
    let document = Source { name: "c.json", text }.document().unwrap();
    let object = document.object(document.root()).unwrap();
    let claims = document.list(object.get("claims").unwrap()).unwrap();
    assert!(document.value::<Evidence>(claims[0]).is_ok());
    let error = document.value::<Evidence>(claims[1]).unwrap_err();
    assert!(error.to_string().starts_with("c.json:3:"), "{error}");
    assert!(error.place().to_string().starts_with("claims[1]"), "{error}");
}

#[test]
fn messages_stay_on_one_line() {
    let text = r#"{"kind": "allocation-problem", "a\n\u001bb": 1}"#;
    let error = Source { name: "p.json", text }.problem().unwrap_err().to_string();
    assert!(!error.contains(char::is_control), "{error:?}");
    let long = "n".repeat(1_000_000);
    let text = format!(
        r#"{{"kind": "allocation-problem", "resources": ["r"], "servers": [{{"name": "s", "capacity": {{"{long}": 1}}}}]}}"#
    );
    let error = Source { name: "p.json", text: &text }.problem().unwrap_err().to_string();
    assert!(error.len() < 1_000, "{}", error.len());
}
