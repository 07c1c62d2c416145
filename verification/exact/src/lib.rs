//! Fairness axioms in exact rational arithmetic: their margins, their evidence, and the certificates that contain
//! both.
//!
//! A fair allocation `x_ni` (tasks of user `n` on server class `i`) comes with a [`Certificate`]: the problem, the
//! allocation, and for each [`Axiom`] a [`Claim`] with its evidence. This crate derives claims and writes them. It does
//! not judge them. [`check`] asks the kernel, `evenhand-check`, which recomputes every number from the text of the
//! certificate alone.
//!
//! | item | contents |
//! |---|---|
//! | [`Instance`] | a problem with an allocation, prepared once as integers |
//! | [`axiom`] | one file for each axiom: its margin and its evidence |
//! | [`Share`], [`Prices`] | the shares that max-min equalises; dual evidence that no allocation is better |
//! | [`Claim`], [`Parameters`], [`Certificate`] | claims with their evidence, read and written |
//! | [`Lacks`] | how far users are below the guarantees above them |
//! | [`check`], [`Verdict`] | the verdict of the kernel on a certificate |
//! | [`tree`] | hierarchical filling by its definition, as the mechanism runs it |
//! | [`Budget`] | the allowed cost of deriving a claim |
//!
//! Four things are intentionally absent: solvers, searches of unknown cost, binary floating-point numbers, and
//! `unsafe`. Numbers are rational. If speed matters, they are integers over a common denominator.
//!
//! # Examples
//! In DRFH, Figure 1, two users have 10 tasks each on two servers, and no user envies another.
//! ```
//! use evenhand_exact::{Axiom, Claim, Instance};
//! use evenhand_problem::{Rational, format::Source};
//!
//! let problem = Source { name: "figure 1", text: r#"{"kind": "allocation-problem",
//!     "resources": ["cpu", "memory"],
//!     "servers": [{"name": "a", "capacity": {"cpu": 2, "memory": 12}},
//!                 {"name": "b", "capacity": {"cpu": 12, "memory": 2}}],
//!     "users": [{"name": "1", "demand": {"cpu": 0.2, "memory": 1}},
//!               {"name": "2", "demand": {"cpu": 1, "memory": 0.2}}]}"# }.problem().unwrap();
//! let text = r#"{"kind": "allocation", "tasks": {"1": {"a": 10}, "2": {"b": 10}}}"#;
//! let allocation = Source { name: "x", text }.allocation(&problem).unwrap().allocation;
//! let instance = Instance::new(&problem, &allocation).unwrap();
//! let claim = Claim::derive(Axiom::EnvyFree, &instance, &Rational::new()).unwrap();
//! assert_eq!((claim.holds, claim.margin), (Some(true), Some(Rational::from((2, 3)))));
//! ```
#![forbid(unsafe_code)]

pub mod axiom;
mod budget;
pub mod certificate;
pub mod claim;
mod costs;
mod evidence;
mod gamma;
mod instance;
mod kernel;
mod limit_rows;
/// The conversion between indices in memory and names in files, for users, servers, resources and rows.
mod names {
    pub(crate) mod read;
    pub(crate) mod write;
}
mod parameters;
mod prices;
mod quotient;
pub mod ratio;
mod refusal;
mod repair;
mod scaled;
mod share;
mod sparse;
pub mod tree;

pub use axiom::feasible::is_feasible;
pub use axiom::{Axiom, Lacks};
pub use budget::{Budget, DEFAULT_WORK, TooLarge};
pub use certificate::Certificate;
pub use claim::{Claim, Outcome};
pub use evidence::{
    ClassMark, Complaint, EnvyPrices, Evidence, Level, Limit, Packing, PackingLevel, Party, PartyPrices,
    PlacePrices, Room, Short, SingleLimit, Standing, Stop, Unblocked, Witness,
};
pub use instance::{Instance, Tasks};
pub use kernel::{Document, Verdict, check, check_text, check_written};
pub use limit_rows::{LimitOf, LimitRow, LimitRows};
pub use parameters::{ParameterError, Parameters};
pub use prices::{PriceVector, Prices};
pub use refusal::{Inapplicable, InstanceError, Refusal};
pub use share::{Share, ShareCoefficients, ShareError};
