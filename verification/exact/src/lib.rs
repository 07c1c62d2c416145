//! Fairness axioms, certificates and their checker, in exact rational arithmetic.
//!
//! A fair allocation `x_ni` (tasks of user `n` on server class `i`) comes with a
//! [`Certificate`]: the problem, the allocation, and for each [`Axiom`] a [`Claim`] with its
//! evidence. [`check`] recomputes every number of it from the problem and the allocation alone.
//!
//! | | |
//! |---|---|
//! | [`Instance`] | a problem with an allocation, prepared once in integers |
//! | [`axiom`] | one file per axiom: margins, and what evidence shows |
//! | [`Share`], [`Prices`] | what max-min equalises; the dual evidence that nothing does better |
//! | [`Claim`], [`Parameters`], [`Certificate`], [`check`] | writing and checking |
//! | [`tree`] | hierarchical filling by its definition, which the mechanism and the axiom run |
//! | [`Conditions`], [`Budget`] | what a reader asks of a certificate, and what judging may cost |
//!
//! Absent on purpose: any solver, any search of unknown cost, any binary floating-point number,
//! any `unsafe`. Numbers are rational; where speed asks for it they are integers over a common
//! denominator.
//!
//! # Examples
//! The two servers and users of DRFH, Figure 1: 10 tasks each, and nobody envies anybody.
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

mod amounts;
pub mod axiom;
mod budget;
pub mod certificate;
pub mod checker;
pub mod claim;
mod conditions;
mod costs;
mod evidence;
mod gamma;
mod instance;
mod instance_error;
mod names;
mod parameters;
mod prices;
mod quotient;
pub mod ratio;
mod refusal;
mod repair;
mod same;
mod scaled;
mod share;
mod sparse;
pub mod tree;
mod usage;
mod verdict;

pub use axiom::Axiom;
pub use budget::{Budget, DEFAULT_WORK, TooLarge};
pub use certificate::Certificate;
pub use checker::{check, check_against, check_on, check_within, is_feasible};
pub use claim::{Claim, Outcome};
pub use conditions::{Conditions, Requirement};
pub use evidence::{
    ClassMark, Complaint, Evidence, Level, Limit, Party, PartyPrices, PlacePrices, Room, Short, SingleLimit,
    Standing, Stop, Unblocked, Witness,
};
pub use instance::{Instance, Tasks};
pub use instance_error::InstanceError;
pub use parameters::{ParameterError, Parameters};
pub use prices::{PriceVector, Prices};
pub use refusal::{Inapplicable, Refusal};
pub use share::{Share, ShareCoefficients, ShareError};
pub use verdict::Verdict;
