//! Measures the speed of the engine: instances, timed questions, growth, and comparisons with other programs.
//!
//! | | |
//! |---|---|
//! | [`instances`] | random problems: the Google table of the DRFH paper, and any size |
//! | [`proof`] | an exact optimum together with its certificate |
//! | [`measure`] | one question about one file, timed in a separate process |
//! | [`growth`] | tables of time and memory by users, classes and resources |
//! | [`constrained`], [`levels`] | clusters with placement constraints, and the times of max-min on them |
//! | [`answers`] | how often max-min has no answer, by shape of problem |
//! | [`continuous`] | proportional and alpha fairness, NJC and PS-DSF |
//! | [`filling`] | a million whole tasks by every rule, compared with a plain scan |
//! | [`markets`] | exact time-shared classes as a market, compared with price discovery |
//! | [`ps_dsf`] | PS-DSF: plain sweeps and the accelerated solver, exact answers, time sharing |
//! | [`queues`] | hierarchical filling of queues on clusters, its certificate and the check |
//! | [`peers`] | the engine and the Python scripts of `peers/` on the same files |
//! | [`processes`] | `solve`, `certify` and `check` as whole processes, median and worst of several seeds |
//! | [`reservation`] | the configuration programme, greedy and the worst load |
//! | [`reservation_peers`] | the reservation programmes compared with Python scripts |
//! | [`running`] | a running cluster: import of its dump, verdict, check, page |
//! | [`scale`] | max-min on many classes, levels and users: two builds, HiGHS, intervals |
//! | [`simulation`] | a million tasks that arrive and finish, compared with Python |
//!
//! `benches/` measures the same questions with divan. Slow results never cause a failure.
#![forbid(unsafe_code)]

pub mod answers;
pub mod constrained;
pub mod continuous;
pub mod filling;
pub mod growth;
pub mod instances;
pub mod levels;
pub mod machine;
pub mod markets;
pub mod measure;
pub mod peers;
pub mod processes;
pub mod proof;
pub mod ps_dsf;
pub mod queues;
pub mod reservation;
pub mod reservation_peers;
pub mod running;
pub mod scale;
pub mod simulation;
pub mod table;
