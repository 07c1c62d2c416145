//! How fast the engine is: instances, questions that are timed, growth, and peers.
//!
//! | | |
//! |---|---|
//! | [`instances`] | random problems: the Google table of the DRFH paper, and any size |
//! | [`proof`] | an exact optimum and its certificate in one go |
//! | [`measure`] | one question about one file, timed in a process of its own |
//! | [`growth`] | tables of time and memory against users, classes and resources |
//! | [`continuous`] | the same for proportional and alpha fairness, NJC and PS-DSF |
//! | [`peers`] | ours and the Python scripts of `peers/` on the same files in one run |
//! | [`reservation`] | the configuration programme, greedy and the worst load |
//!
//! `benches/` holds the same questions for divan. Nothing here fails because it is slow.
#![forbid(unsafe_code)]

pub mod continuous;
pub mod growth;
pub mod instances;
pub mod machine;
pub mod measure;
pub mod peers;
pub mod proof;
pub mod reservation;
pub mod table;
