//! Files as text.

use std::{fs, path::Path};

use evenhand_problem::format::{ReadError, Source, read_text};

#[test]
fn errors_name_the_line_that_is_not_utf8() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.json");
    fs::write(&path, b"{\n \"\xc3\xa4\xff\": 1}").unwrap();
    let Err(ReadError::Format(error)) = read_text(&path) else { panic!("accepted") };
    assert_eq!((error.line, error.column, error.offset), (2, 4, 6));
    assert!(error.message.starts_with("found the byte 0xff, which is not UTF-8"));
}

#[test]
fn errors_name_a_missing_file() {
    let error = read_text(Path::new("no/such/file.json")).unwrap_err();
    assert!(error.to_string().starts_with("no/such/file.json: "), "{error}");
}

#[test]
fn messages_have_one_line() {
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
