//! The axioms (docs/theory.md, section 7). The statement of a claim is recomputed from the allocation and the evidence.
//!
//! A claim that an axiom holds has a margin of at least minus the tolerance, and a claim that it is violated has a
//! smaller margin. Axioms that compare numbers of the allocation are computed directly. Their evidence is only for
//! people and is not read. Axioms that compare the allocation with all other allocations are proven by prices (if the
//! axiom holds) or by a single better allocation (if the axiom is violated).

pub mod answered;
pub mod envy;
pub mod feasible;
pub mod max_min;
pub mod optimal;
pub mod packings;
pub mod prices;
pub mod proportional;

use rug::Rational;

use crate::allocation::entries;
use crate::case::{Case, Claim, Judge};
use crate::groups::{self, within};
use crate::json::{self, Json, Kind, object, quoted};
use crate::number::short;
use crate::problem::Problem;
use crate::share::{Coefficients, Share, bottlenecks};
use crate::work::{self, Checked, ensure, refuse};

/// The largest numerator, and the largest denominator, of `alpha`.
const ALPHA: u32 = 1000;

/// All axioms by name, with the functions that judge them.
pub const AXIOMS: [(&str, Judge); 24] = [
    ("feasible", |case, _| Ok((feasible::least(case)?, None))),
    ("integer-feasible", feasible::integer_feasible),
    // An allocation consists of tasks, so every amount of capacity in use serves a task.
    ("non-wasteful", |_, _| Ok((Some(Rational::new()), None))),
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
    ("max-min-packings", packings::max_min_packings),
    ("optimal-envy-free", optimal::optimal),
    ("optimal-equal", optimal::optimal),
    ("njc", answered::njc),
    ("ps-dsf", answered::ps_dsf),
    ("proportional", proportional::proportional),
    ("limits", groups::limits),
    ("guarantees", groups::guarantees),
    ("group-sharing-incentive", groups::parties::judge),
    ("group-envy-free", groups::parties::judge),
    ("tree", groups::filling::tree),
];

/// Returns true if an axiom is defined for rates of users and for limits on their accelerators. An axiom about base
/// demands is not defined if users have rates. An axiom that would ignore a limit on accelerators is not defined if
/// there is such a limit.
fn covers(axiom: &str, problem: &Problem) -> bool {
    let is_of_base_demands = ["bottleneck-fair", "global-bottleneck-fair", "single-resource-fair"]
        .contains(&axiom)
        || groups::ABOUT.contains(&axiom) && axiom != "work-conserving";
    let keeps_limits = [
        "feasible",
        "non-wasteful",
        "pareto-optimal",
        "sharing-incentive",
        "max-min",
        "optimal-equal",
        "proportional",
    ];
    (!is_of_base_demands || !problem.has_rates()) && (keeps_limits.contains(&axiom) || !problem.has_at_most())
}

/// Returns the position in [`AXIOMS`] of the axiom that a string names.
pub fn axiom_named(raw: &Json<'_>) -> Checked<usize> {
    raw.word(&AXIOMS.map(|(name, _)| name))
}

/// Returns the name of the claim that the text `AXIOM` or `AXIOM:PARAMETER` requires.
pub fn required(text: &str, problem: &Problem) -> Checked<String> {
    let (axiom, parameter) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    let field = if axiom == "proportional" { "alpha" } else { "share" };
    if parameter.is_none() && matches!(axiom, "max-min" | "max-min-packings" | "proportional") {
        let example = if axiom == "proportional" { "max-min" } else { axiom };
        return json::ABSENT.wrong(format!("`{axiom}` needs its parameter, as in `{example}:drfh`"));
    }
    let fields = [("axiom", Some(quoted(axiom))), ("holds", Some("true".to_owned()))];
    let claim = object(fields.into_iter().chain([(field, parameter.map(quoted))]));
    Ok(Claim::read(&json::read(&claim)?, problem)?.name(problem))
}

impl<'j> Claim<'j> {
    /// Reads a claim.
    pub fn read(raw: &'j Json<'j>, problem: &Problem) -> Checked<Self> {
        let [name, share, alpha, holds, margin, evidence, why] =
            raw.fields("axiom share? alpha? holds margin? evidence? why?")?;
        let (axiom, judge) = AXIOMS[axiom_named(name)?];
        let stated = share.given().map(|share| Share::read(share, problem)).transpose()?;
        match (axiom, stated) {
            ("max-min" | "max-min-packings", None) => {
                return raw
                    .wrong(format!("the field `share` is missing: `{axiom}` needs a share, such as drfh"));
            }
            ("max-min-packings", Some(of)) if !packings::SHARES.contains(&of) => {
                return share.wrong("`max-min-packings` supports only the shares drfh and tsf");
            }
            ("max-min" | "max-min-packings", _) | (_, None) | ("proportional", Some(Share::Generic)) => {}
            _ => {
                return share.wrong(
                    "this axiom takes no such share: only `max-min` takes shares, and `proportional` \
                only generic",
                );
            }
        }
        let exponent = alpha.given().map_or(Ok(Rational::from(1)), Json::number)?;
        let terms = (exponent.numer().to_u32().unwrap_or(0), exponent.denom().to_u32().unwrap_or(0));
        let is_small = (1..=ALPHA).contains(&terms.0) && (1..=ALPHA).contains(&terms.1);
        if !is_small || (axiom != "proportional" && alpha.given().is_some()) {
            return alpha.wrong(format!(
                "`alpha` is only for `proportional`: expected a quotient above 0 with terms of \
                at most {ALPHA}"
            ));
        }
        let holds = match &holds.kind {
            Kind::Bool(holds) => Some(*holds),
            Kind::Null => None,
            _ => return holds.wrong("expected true or false"),
        };
        if why.given().map(Json::text).transpose()?.is_some() != holds.is_none() {
            return raw.wrong("expected the field `why` if `holds` is null, and only then");
        }
        evidence.given().map(Json::object).transpose()?;
        let margin = margin.computed_or_null()?;
        let alpha = (axiom == "proportional").then_some(terms);
        Ok(Self { axiom, judge, share: stated, alpha, holds, margin, evidence })
    }

    /// Checks every word and number of the claim.
    pub fn verify(&self, case: &Case<'_>) -> Checked<()> {
        // Every axiom processes all demands of users on classes, and all tasks there, a few times. Some axioms charge
        // separately for operations on numbers that are not stated by the problem, except for a few operations per
        // user. Such axioms process identical users only once, if there are no groups and shares are the same on all
        // classes.
        let is_charged = match self.axiom {
            "feasible" | "max-min" | "pareto-optimal" | "envy-free" | "ef1" | "sharing-incentive"
            | "tree" | "limits" | "guarantees" => true,
            "work-conserving" => case.stated.placements.is_none(),
            _ => false,
        };
        let is_uneven = matches!(self.share, Some(Share::Generic | Share::Resource(_)));
        let of_each = !is_charged || is_uneven || !case.problem.groups.names.list.is_empty();
        let all = case.problem.size(of_each) + entries(&case.x).count();
        work::spend_stated(4 * all)?;
        if is_charged {
            work::spend_on(4, &case.total)?;
        } else {
            work::spend(4 * all)?;
        }
        let applies = match (self.axiom, self.share) {
            ("integer-feasible", _) => feasible::stands_on_servers(case),
            ("ef1" | "integer-pareto-optimal", _) => envy::are_whole(case),
            ("bottleneck-fair" | "global-bottleneck-fair" | "single-resource-fair", _) => {
                !bottlenecks(self.axiom, case).is_empty()
            }
            ("max-min-packings", _) if !packings::apply(case) => false,
            ("optimal-envy-free" | "optimal-equal", _) if !optimal::applies(self.axiom, case) => false,
            (axiom, _) if groups::ABOUT.contains(&axiom) => groups::apply(axiom, case)?,
            (_, Some(share)) => Coefficients::new(share, case)?.is_some(),
            _ => true,
        };
        let applies = applies && covers(self.axiom, case.problem);
        let applies = applies && (!within::COMPARED.contains(&self.axiom) || within::applies(case)?);
        if self.holds.is_none() {
            let is_bare = self.margin.is_none() && self.has_none();
            ensure(is_bare, "a claim that the axiom does not apply has a margin or evidence")?;
            return ensure(!applies, "the axiom applies, but the claim says that it does not");
        }
        let (margin, only) = (self.judge)(case, self)?;
        ensure(applies, "the axiom does not apply to this problem, but the claim says that it does")?;
        if self.margin != margin {
            let text = |margin: &Option<Rational>| margin.as_ref().map_or("none".to_owned(), short);
            let (stated, margin) = (text(&self.margin), text(&margin));
            return refuse(format!("the margin is stated as {stated}, but it is {margin}"));
        }
        let of_limits = matches!(self.axiom, "feasible" | "integer-feasible" | "work-conserving");
        let least = if of_limits { case.least_of_limits() } else { Rational::from(-&case.tolerance) };
        let holds = margin.map_or(only != Some(false), |margin| margin >= least);
        let instead = if holds { "holds within the tolerance" } else { "is violated" };
        ensure(self.holds == Some(holds), &format!("the axiom {instead}, but the claim says the opposite"))?;
        ensure(only.is_none_or(|only| only == holds), "the evidence is for the opposite verdict")
    }
}
