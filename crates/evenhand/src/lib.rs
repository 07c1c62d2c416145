//! Fair allocations of several resources, computed and proven in exact arithmetic.
//!
//! Given server classes with capacities and users with demands, find `x_ni >= 0`, the tasks of user
//! `n` on class `i`, such that
//!
//! $$\sum_n x_{ni} d_{nir} \le k_i c_{ir} \qquad \text{for every class } i \text{ and resource } r$$
//!
//! and the tasks are shared fairly, in one of the senses of the [`mechanisms`]. Solvers work in
//! floating point and are never believed: results are lifted to rationals, and a [`Certificate`]
//! carries what anybody needs to check them without a solver.
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
//! // The kernel reads the text of the certificate, and shares no code with what wrote it.
//! let file = File { name: "certificate".to_owned(), text: found.certificate.to_json() };
//! let report = check(&file, &CheckOptions::default()).map_err(|unusable| unusable.what)?;
//! assert_eq!(report.reason, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | feature | holds |
//! |---|---|---|
//! | [`kernel`] | `check` | whether a certificate is true, from the definitions alone; needs no solver |
//! | [`problem`] | `solve` | problems and allocations in exact numbers, file formats |
//! | [`exact`] | `solve` | axioms and certificates in fast exact arithmetic; links no solver |
//! | [`mechanisms`] | `solve` | the allocation rules |
//! | [`lp`] | `solve` | linear programmes, solved by HiGHS and proved or repaired in exact fractions |
//! | [`levels`] | `solve` | max-min levels, allocations without justified complaints and placements, by linear programmes |
//! | [`packing`] | `solve` | reservation: greedy and optimal packings, worst loads |
//! | [`ode`] | `solve` | continuous solvers: path following, the trajectory |
//! | [`certify`](mod@certify) | `certify` | finds the evidence of certificates; `explain`, `compare`, `ratio` |
//! | [`dumps`] | `cluster` | readers of the dumps of schedulers |
//! | [`cluster`] | `cluster` | running clusters: verdicts, changes, moves |
//! | [`import`] | `simulate` | readers of cluster traces and price lists |
//! | [`simulate`] | `simulate` | discrete-event simulation of task scheduling |
//! | [`report`] | `report` | tables and plots for people |
//!
//! `certify` brings `check` and `solve`, `cluster` brings `certify`, `report` brings everything. The default, `program`, is the command line on top; a
//! program that uses the library turns it off: `default-features = false, features = ["certify"]`.
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

#[cfg(feature = "certify")]
pub use evenhand_certify::certify;
#[cfg(feature = "solve")]
pub use evenhand_exact::{Axiom, Certificate, Share};
#[cfg(feature = "solve")]
pub use evenhand_mechanisms::Mechanism;
#[cfg(feature = "solve")]
pub use evenhand_problem::{Allocation, Problem};

/// What a program needs that solves, certifies and checks, as far as the features bring it.
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
