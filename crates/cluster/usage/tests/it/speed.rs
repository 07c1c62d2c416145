//! Writes a month of 300 queues with samples each minute. This test is run by hand. It writes the table to a
//! file for the program to read.

use std::io::Write as _;

/// Writes the table if it is run as `EVENHAND_MONTH=FILE cargo test ... month`.
#[test]
#[ignore = "writes 500 MB"]
fn month() {
    let Some(path) = std::env::var_os("EVENHAND_MONTH") else { return };
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).unwrap());
    writeln!(file, "queue,resource,from,to,amount").unwrap();
    let mut state = 59_u64;
    for minute in 0..43_200_u64 {
        let from = 1_767_225_600 + 60 * minute;
        for queue in 0..300 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            writeln!(file, "team-{queue:03},gpu,{from},{},{}", from + 60, state >> 60).unwrap();
        }
    }
}
