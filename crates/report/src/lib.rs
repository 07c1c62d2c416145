//! Writes every result as text and as JSON: tables of allocations, certificates and comparisons, explanations
//! in words, plots, and documents for programs ([`json`]).
//!
//! This crate converts finished results to text. It computes no results, and prints no text.
#![forbid(unsafe_code)]

mod admission;
mod allocation;
mod by_group;
mod certificate;
pub mod cluster;
mod comparison;
mod course;
mod explanation;
mod findings;
mod groups;
pub mod html;
pub mod json;
pub mod lp;
pub mod metrics;
pub mod migrations;
mod one_more_unit;
pub mod over_time;
mod page;
mod pictures;
pub mod plan;
pub mod plot;
mod polish;
pub mod promises;
pub mod ratio;
mod rounds;
pub mod settings;
mod simulation;
mod snapshot;
pub mod stopped;
mod sweep;
pub mod table;
pub mod text;
mod trajectory;
mod usage;
pub mod waits;
pub mod why_not;
pub mod window;

pub use admission::{admission, admission_series};
pub use allocation::outcome;
pub use certificate::{claims, examination};
pub use comparison::{axiom_title, comparison};
pub use course::{course, course_series};
pub use explanation::explanation;
pub use groups::{entitlements, levels, why};
pub use html::comparison as document;
pub use over_time::over_time;
pub use page::Page;
pub use pictures::{holdings, shares};
pub use polish::polished;
pub use rounds::rounds;
pub use simulation::{
    HalfLifeStudy, half_life_document, half_life_page, simulation, simulation_completion, simulation_series,
};
pub use snapshot::imported;
pub use sweep::sweep;
pub use table::{Form, Terminal};
pub use trajectory::{trajectory, trajectory_csv};
pub use usage::{standings, standings_document};
