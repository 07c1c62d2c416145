//! The axioms (theory, section 7): what a claim states is recomputed from the allocation and its evidence.
//!
//! A claim of yes has a margin of at least minus the tolerance, a claim of no one below. Axioms that compare
//! numbers of the allocation are computed outright; their evidence is for people, and is not read. Axioms about
//! all other allocations rest on prices (yes) or on one better allocation (no).

pub mod answered;
pub mod envy;
pub mod feasible;
pub mod max_min;
pub mod prices;
pub mod proportional;

use rug::Rational;

use crate::case::Case;
use crate::claim::Claim;
use crate::groups;
use crate::work::Checked;

/// The margin, absent where nothing is compared; and, where the margin is but a bound of the true one, the
/// only verdict that it proves.
pub type Shown = (Option<Rational>, Option<bool>);

/// How the margin of an axiom is found.
pub type Judge = fn(&Case<'_>, &Claim<'_>) -> Checked<Shown>;

/// All axioms.
pub const AXIOMS: [(&str, Judge); 21] = [
    ("feasible", feasible::feasible),
    ("integer-feasible", feasible::integer_feasible),
    ("non-wasteful", non_wasteful),
    ("work-conserving", answered::work_conserving),
    ("pareto-optimal", prices::pareto_optimal),
    ("integer-pareto-optimal", prices::pareto_optimal),
    ("envy-free", envy::envy_free),
    ("ef1", envy::envy_free),
    ("sharing-incentive", feasible::sharing_incentive),
    ("bottleneck-fair", max_min::max_min),
    ("global-bottleneck-fair", max_min::max_min),
    ("single-resource-fair", max_min::max_min),
    ("max-min", max_min::max_min),
    ("njc", answered::njc),
    ("ps-dsf", answered::ps_dsf),
    ("proportional", proportional::proportional),
    ("limits", groups::limits),
    ("guarantees", groups::guarantees),
    ("group-sharing-incentive", groups::parties::judge),
    ("group-envy-free", groups::parties::judge),
    ("tree", groups::filling::tree),
];

/// Allocations are made of tasks: nothing is held that serves none.
fn non_wasteful(_: &Case<'_>, _: &Claim<'_>) -> Checked<Shown> {
    Ok((Some(Rational::new()), None))
}
