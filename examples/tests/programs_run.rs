//! Every example runs, and its own assertions hold.

use std::process::Command;

fn run(program: &str, says: &str) {
    let output = Command::new(program).output().expect("the example starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(says), "{text}");
}

#[test]
fn figure_1() {
    run(env!("CARGO_BIN_EXE_figure_1"), "prices prove the level 5/7");
}

#[test]
fn damaged_certificate() {
    run(env!("CARGO_BIN_EXE_damaged_certificate"), "one task more: valid = false");
}

#[test]
fn own_mechanism() {
    run(env!("CARGO_BIN_EXE_own_mechanism"), "VIOLATED");
}
