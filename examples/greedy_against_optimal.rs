//! The loss of greedy packing of VM types into reserved servers against the optimum: with the stated loads, and at worst over all
//! loads. Both results are proven, and the kernel checks the proofs.
//!
//! `cargo run --release -p evenhand-examples --bin greedy_against_optimal`

use std::error::Error;

use evenhand::certify::ratio;
use evenhand::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let text = include_str!("vm-types.json");
    let problem = Source { name: "vm-types.json", text }.reservation()?;

    let stated = ratio::certificate(&problem)?;
    println!("stated loads: greedy earns {}, the optimum {}", stated.greedy.reward, stated.optimum.bound);

    let worst = ratio::worst_load(&problem, &mut |_claims, _ratio| {})?;
    let least = worst.ratio_lower.clone().ok_or("no type has a reward")?;
    println!("any loads: greedy earns at least {least} of the optimum");
    assert_eq!(least, Rational::from((449, 515)));

    for text in [stated.to_json(), worst.to_json()] {
        let file = File { name: "certificate".to_owned(), text };
        let report = check(&file, &CheckOptions::default()).map_err(|unusable| unusable.what)?;
        println!("{}", report.text());
        assert_eq!(report.reason, None);
    }
    Ok(())
}
