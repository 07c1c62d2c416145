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
//! ```
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
//! | crate | holds |
//! |---|---|
//! | [`problem`] | problems and allocations in exact numbers, file formats |
//! | [`import`] | readers of cluster traces and price lists |
//! | [`exact`] | axioms and certificates in fast exact arithmetic; links no solver |
//! | [`kernel`] | whether a certificate is true, from the definitions alone |
//! | [`mechanisms`] | the allocation rules |
//! | [`certify`](mod@certify) | finds the evidence of certificates; `explain`, `compare`, `ratio` |
//! | [`lp`] | linear programmes on HiGHS, lifted to exact optima |
//! | [`packing`] | reservation: greedy and optimal packings, worst loads |
//! | [`simulate`] | discrete-event simulation of task scheduling |
//! | [`report`] | tables and plots for people |
#![forbid(unsafe_code)]

pub use evenhand_certify as certify;
pub use evenhand_check as kernel;
pub use evenhand_exact as exact;
pub use evenhand_import as import;
pub use evenhand_lp as lp;
pub use evenhand_mechanisms as mechanisms;
pub use evenhand_ode as ode;
pub use evenhand_packing as packing;
pub use evenhand_problem as problem;
pub use evenhand_report as report;
pub use evenhand_simulate as simulate;

pub use evenhand_certify::certify;
pub use evenhand_exact::{Axiom, Certificate, Share};
pub use evenhand_mechanisms::Mechanism;
pub use evenhand_problem::{Allocation, Problem};

/// What a program needs that solves, certifies and checks.
pub mod prelude {
    pub use evenhand_certify::{certify, default_requests};
    pub use evenhand_check::{File, Options as CheckOptions, check};
    pub use evenhand_mechanisms::registry;
    pub use evenhand_problem::format::Source;
    pub use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
}
