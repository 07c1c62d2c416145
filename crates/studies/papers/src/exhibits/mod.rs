//! The tables and figures of the papers, with their values and pictures.

mod drfh;
mod exhibit;
mod njc;
mod ps_dsf;
mod reservation;
mod system;

pub use exhibit::Exhibit;

/// Returns all tables and figures of the five papers in their order, and the theorems.
#[must_use]
pub fn exhibits() -> Vec<Exhibit> {
    let all = [drfh::EXHIBITS, ps_dsf::EXHIBITS, njc::EXHIBITS, KESIDIS, reservation::EXHIBITS, THEOREMS];
    all.concat()
}

/// The theorems that are not in the papers, with the experiments that try to refute them.
const THEOREMS: &[Exhibit] = &[
    Exhibit::new("theorems.a", "Every problem has a PS-DSF allocation", &["theorems.a"]),
    Exhibit::new(
        "theorems.b",
        "Time-shared PS-DSF is strategy-proof in bundles",
        &[
            "theorems.b",
            "ps-dsf.table-1.ps-dsf-tdm.strategy-proof",
            "ps-dsf.table-1.ps-dsf.strategy-proof.instance",
        ],
    ),
    Exhibit::new("theorems.c", "What greedy packing earns at least", &["theorems.c"]),
];

const KESIDIS: &[Exhibit] = &[
    Exhibit::new(
        "kesidis.table-2",
        "Tasks by user and server under progressive filling",
        &["kesidis.table-2", "simulation.kesidis.table-2"],
    ),
    Exhibit::new("kesidis.table-3", "Deviations of the tasks over 200 trials", &["kesidis.table-3"]),
    Exhibit::new("kesidis.table-4", "Unused capacities under progressive filling", &["kesidis.table-4"]),
    Exhibit::new(
        "kesidis.table-5",
        "Deviations of the unused capacities over 200 trials",
        &["kesidis.table-5"],
    ),
];
