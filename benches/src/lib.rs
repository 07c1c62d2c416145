//! How fast the engine is: instances, questions that are timed, growth, and peers.
//!
//! | | |
//! |---|---|
//! | [`instances`] | random problems: the Google table of the DRFH paper, and any size |
//! | [`proof`] | an exact optimum and its certificate in one go |
//! | [`measure`] | one question about one file, timed in a process of its own |
//! | [`growth`] | tables of time and memory against users, classes and resources |
//! | [`constrained`], [`levels`] | clusters with placement constraints, and how long max-min takes on them |
//! | [`answers`] | how often max-min has no answer, by shape of problem |
//! | [`continuous`] | the same for proportional and alpha fairness, NJC and PS-DSF |
//! | [`filling`] | a million whole tasks by every rule, and the plain scan |
//! | [`markets`] | time-shared classes as a market, exactly, and price discovery |
//! | [`ps_dsf`] | PS-DSF: plain sweeps against the accelerated solver, exact answers, time sharing |
//! | [`queues`] | hierarchical filling of queues on clusters, its certificate and the check |
//! | [`peers`] | ours and the Python scripts of `peers/` on the same files in one run |
//! | [`processes`] | `solve`, `certify` and `check` as whole processes, medians and worst of several seeds |
//! | [`reservation`] | the configuration programme, greedy and the worst load |
//! | [`reservation_peers`] | the same beside Python scripts |
//! | [`running`] | the dump of a running cluster: import, verdict, check, page |
//! | [`scale`] | max-min on many classes, levels and users: another build beside this one, HiGHS, intervals |
//! | [`simulation`] | a million tasks that come and finish, beside Python |
//!
//! `benches/` holds the same questions for divan. Nothing here fails because it is slow.
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
