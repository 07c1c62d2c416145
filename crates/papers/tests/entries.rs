//! The published values that the engine reproduces, and those that it does not.
#![allow(missing_docs)]

use evenhand_papers::{entries, sections};

/// Entries whose published value is contradicted; the note of each says why.
const DIFFER: [&str; 25] = [
    "drfh.figure-4.two-users",
    "drfh.figure-4.three-users",
    "ps-dsf.figure-3.s-41",
    "ps-dsf.table-4.tsf",
    "ps-dsf.section-5.cpu",
    "ps-dsf.table-1.tsf.sharing-incentive.instance",
    "ps-dsf.table-1.drfh.envy-free.aggregated",
    "ps-dsf.table-1.tsf.sharing-incentive",
    "ps-dsf.table-1.tsf.envy-free.aggregated",
    "ps-dsf.table-1.ps-dsf.envy-free.aggregated",
    "ps-dsf.table-1.ps-dsf-tdm.envy-free.aggregated",
    "njc.same-dominant-resource.drf",
    "njc.utilisation.four-resources",
    "njc.envy-free",
    "njc.strategy-proof",
    "njc.zero-entitlement",
    "njc.figure-3.region",
    "njc.family.barrier-weights",
    "njc.circle.all",
    "kesidis.table-5.rrr-ps-dsf",
    "kesidis.table-3.drf.permuted-rounds",
    "kesidis.table-4.rrr-ps-dsf.from-table-2",
    "kesidis.section-6.interval",
    "reservation.section-7.1.worst-types",
    "simulation.drfh.figure-4.three-users",
];

#[test]
fn what_agrees_and_what_differs() {
    let mut differ = Vec::new();
    for section in sections() {
        for entry in entries(section).expect("a section that can be solved") {
            println!("{}: {} {}", entry.id, entry.ours, entry.note);
            assert!(!entry.ours.contains("REFUSED"), "{}: {}", entry.id, entry.ours);
            if entry.agrees == Some(false) {
                assert!(!entry.note.is_empty(), "{} differs without a word", entry.id);
                differ.push(entry.id);
            }
        }
    }
    assert_eq!(differ, DIFFER);
}
