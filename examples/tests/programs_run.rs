//! Every example runs, and its own assertions hold.

use std::process::Command;

fn run(program: &str, says: &str) {
    // The examples run in the folder in which `cargo run` starts them.
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let output = Command::new(program).current_dir(root).output().expect("the example starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(says), "{text}");
}

#[test]
fn first_allocation_runs() {
    run(env!("CARGO_BIN_EXE_first_allocation"), "tasks [10, 10], refused: None");
}

#[test]
fn certify_an_allocation_runs() {
    run(env!("CARGO_BIN_EXE_certify_an_allocation"), "not valid: ");
}

#[test]
fn greedy_against_optimal_runs() {
    run(env!("CARGO_BIN_EXE_greedy_against_optimal"), "at least 449/515 of the optimum");
}

#[test]
fn accuracy_of_a_solver_runs() {
    run(env!("CARGO_BIN_EXE_accuracy_of_a_solver"), "path follower: ");
}

#[test]
fn own_mechanism_runs() {
    run(env!("CARGO_BIN_EXE_own_mechanism"), "VIOLATED");
}

#[test]
fn linear_programme_runs() {
    run(env!("CARGO_BIN_EXE_linear_programme"), "largest violation of a row: 3/1000000000");
}
