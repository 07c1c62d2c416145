//! The oracle for audits of mechanisms on random problems.
//!
//! An input is a line of words: a mechanism, a seed, and the largest numbers of problems, users, server
//! classes and resources.

use evenhand_audit::{Settings, Size};
use evenhand_budget::within;
use evenhand_mechanisms::registry;
use evenhand_problem::printable;

use crate::{LIMITS, certificates, pipeline, said};

/// The largest number of problems of an audit.
const MOST_INSTANCES: u64 = 20;

/// Audits a mechanism. Checks that every violation has a certificate, and that no violation refutes a
/// guarantee.
pub fn audit(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut words = text.split_whitespace();
    let Some(mechanism) = words.next().and_then(registry::find) else { return };
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(2);
    let (seed, instances) = (number(), number().min(MOST_INSTANCES));
    let mut size = || usize::try_from(number()).unwrap_or(usize::MAX);
    let size = Size { users: size(), classes: size(), resources: size() };
    let settings = Settings { seed, instances, size, ..Settings::of(mechanism) };
    match within(&LIMITS, || evenhand_audit::audit(&settings, |_| ())) {
        Err(exceeded) => said::one_line(&printable(&exceeded.to_string())),
        Ok(Err(error)) => said::one_line(&printable(&error.to_string())),
        Ok(Ok(audit)) => {
            said::page(&evenhand_audit::page(&settings, &audit));
            for each in &audit.axioms {
                assert!(each.violated <= each.decided && each.decided + each.open <= audit.tried);
                assert!(each.violated == 0 || each.example.is_some(), "{}: no example", each.name);
                let Some(example) = &each.example else { continue };
                certificates::made(pipeline::as_stated(&example.examination.certificate));
                // A rational answer near an irrational optimum satisfies only the axiom to which its gap
                // refers.
                let has_gap = ["proportional", "alpha"].contains(&mechanism.info.id);
                let is_promised = pipeline::is_promised(mechanism.info.id, &example.problem, each.axiom);
                assert!(has_gap || !is_promised, "{} breaks {}", mechanism.info.id, each.name);
            }
        }
    }
}
