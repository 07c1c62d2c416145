//! A certificate is checked, not believed: one task more, and it is refused.
//!
//! `cargo run --release -p evenhand-examples --bin damaged_certificate`

use std::error::Error;

use evenhand::certify::default_requests;
use evenhand::mechanisms::registry;
use evenhand::problem::{Arithmetic, Rational, format::Source};
use evenhand::{certify, exact};

fn main() -> Result<(), Box<dyn Error>> {
    let text = include_str!("google-cluster.json");
    let problem = Source { name: "google-cluster.json", text }.problem()?;
    let tsf = registry::find("tsf").ok_or("no such mechanism")?;
    let allocation = tsf.allocate(&problem, Arithmetic::Exact)?.allocation;
    let requests = default_requests(&problem, &allocation);
    let mut certificate = certify(&problem, &allocation, &requests, &Rational::new())?.certificate;
    let good = exact::check(&certificate);
    println!("as made: valid = {}", good.valid);
    assert!(good.valid);

    certificate.allocation.tasks[0][0].1 += 1;
    let damaged = exact::check(&certificate);
    println!("one task more: valid = {}, {}", damaged.valid, damaged.reason.unwrap_or_default());
    assert!(!damaged.valid);
    Ok(())
}
