//! Fair allocations of several resources, computed and proven in exact arithmetic.
//!
//! Given server classes with capacities and users with demands, compute `x_ni >= 0`, the tasks of user
//! `n` on class `i`, such that
//!
//! $$\sum_n x_{ni} d_{nir} \le k_i c_{ir} \qquad \text{for every class } i \text{ and resource } r$$
//!
//! and the tasks are shared fairly by the rule of one of the [`mechanisms`]. A fast solver proposes an
//! answer in floating point. Evenhand then proves or repairs it in exact fractions, and a
//! [`Certificate`] carries the evidence, which can be checked without a solver.
//!
#![cfg_attr(feature = "certify", doc = "```")]
#![cfg_attr(not(feature = "certify"), doc = "```ignore")]
//! use evenhand::prelude::*;
//!
//! // The two servers and two users of DRFH, Figure 1: `text` is examples/two-servers.json.
//! # let text = r#"{"kind": "allocation-problem", "resources": ["cpu", "memory"],
//! #     "servers": [{"name": "high-memory", "capacity": {"cpu": 2, "memory": 12}},
//! #                 {"name": "high-cpu", "capacity": {"cpu": 12, "memory": 2}}],
//! #     "users": [{"name": "1", "demand": {"cpu": 0.2, "memory": 1}},
//! #               {"name": "2", "demand": {"cpu": 1, "memory": 0.2}}]}"#;
//! let problem = Source { name: "two-servers.json", text }.problem()?;
//! let outcome = registry::find("drfh").expect("a mechanism").allocate(&problem, Arithmetic::Exact)?;
//! assert_eq!(outcome.allocation.totals(), [10, 10]);
//!
//! let requests = default_requests(&problem, &outcome.allocation);
//! let found = certify(&problem, &outcome.allocation, &requests, &Rational::new())?;
//! // The kernel reads the text of the certificate. It shares no code with the crates that wrote it.
//! let file = File { name: "certificate".to_owned(), text: found.certificate.to_json() };
//! let report = check(&file, &CheckOptions::default()).map_err(|unusable| unusable.what)?;
//! assert_eq!(report.reason, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | feature | content |
//! |---|---|---|
//! | [`kernel`] | `check` | checks a certificate from the definitions alone; needs no solver |
//! | [`problem`] | `solve` | problems and allocations in exact numbers, file formats |
//! | [`exact`] | `solve` | axioms and certificates in fast exact arithmetic; links no solver |
//! | [`mechanisms`] | `solve` | the allocation rules |
//! | [`lp`] | `solve` | linear programmes, solved by HiGHS and proved or repaired in exact fractions |
//! | [`levels`] | `solve` | max-min levels, allocations without justified complaints and placements, by linear programmes |
//! | [`packing`] | `solve` | reservations: greedy and optimal packings, worst loads |
//! | [`ode`] | `solve` | continuous solvers: path following, the trajectory |
//! | [`certify`](mod@certify) | `certify` | computes the evidence of certificates; `explain`, `compare`, `ratio` |
//! | [`dumps`] | `cluster` | readers of the dumps of schedulers |
//! | [`cluster`] | `cluster` | running clusters: verdicts, changes, moves |
//! | [`usage`] | `cluster` | decayed usage of queues over time, by the laws of schedulers |
//! | [`import`] | `simulate` | readers of cluster traces and price lists |
//! | [`simulate`] | `simulate` | discrete-event simulation of task scheduling |
//! | [`report`] | `report` | tables and plots for people |
//!
//! The feature `certify` includes `check` and `solve`, `cluster` includes `certify`, and `report` includes all other
//! features. The default feature `program` adds the command line. A program that uses the library disables the default
//! features: `default-features = false, features = ["certify"]`.
#![forbid(unsafe_code)]

#[cfg(feature = "certify")]
pub use evenhand_certify as certify;
#[cfg(feature = "check")]
pub use evenhand_check as kernel;
#[cfg(feature = "cluster")]
pub use evenhand_cluster as cluster;
#[cfg(feature = "cluster")]
pub use evenhand_dumps as dumps;
#[cfg(feature = "solve")]
pub use evenhand_exact as exact;
#[cfg(any(feature = "simulate", feature = "cluster"))]
pub use evenhand_import as import;
#[cfg(feature = "solve")]
pub use evenhand_levels as levels;
#[cfg(feature = "solve")]
pub use evenhand_lp as lp;
#[cfg(feature = "solve")]
pub use evenhand_mechanisms as mechanisms;
#[cfg(feature = "solve")]
pub use evenhand_ode as ode;
#[cfg(feature = "solve")]
pub use evenhand_packing as packing;
#[cfg(feature = "solve")]
pub use evenhand_problem as problem;
#[cfg(feature = "report")]
pub use evenhand_report as report;
#[cfg(feature = "simulate")]
pub use evenhand_simulate as simulate;
#[cfg(feature = "cluster")]
pub use evenhand_usage as usage;

#[cfg(feature = "certify")]
pub use evenhand_certify::certify;
#[cfg(feature = "solve")]
pub use evenhand_exact::{Axiom, Certificate, Share};
#[cfg(feature = "solve")]
pub use evenhand_mechanisms::Mechanism;
#[cfg(feature = "solve")]
pub use evenhand_problem::{Allocation, Problem};

/// The items that a program needs to solve, certify and check. It contains the items of the enabled features.
pub mod prelude {
    #[cfg(feature = "certify")]
    pub use evenhand_certify::{certify, default_requests};
    #[cfg(feature = "check")]
    pub use evenhand_check::{File, Options as CheckOptions, Unusable, check};
    #[cfg(feature = "solve")]
    pub use evenhand_mechanisms::registry;
    #[cfg(feature = "solve")]
    pub use evenhand_problem::format::Source;
    #[cfg(feature = "solve")]
    pub use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
}
