//! What a certificate claims: an axiom with its parameters, whether it holds, by what margin.

use rug::Rational;

use crate::axioms::{entitled, envy, feasible, max_min, prices, proportional, ps_dsf, work_conserving};
use crate::case::{Case, Limits};
use crate::json::{Json, Kind};
use crate::number::{parse, short};
use crate::problem::{Amounts, Problem};
use crate::share::{Coefficients, Share, bottlenecks};
use crate::work::{Checked, ensure, refuse};

/// The names of all axioms.
pub const AXIOMS: [&str; 16] = [
    "feasible",
    "integer-feasible",
    "non-wasteful",
    "work-conserving",
    "pareto-optimal",
    "integer-pareto-optimal",
    "envy-free",
    "ef1",
    "sharing-incentive",
    "bottleneck-fair",
    "global-bottleneck-fair",
    "single-resource-fair",
    "max-min",
    "njc",
    "ps-dsf",
    "proportional",
];

/// Largest numerator and denominator of `alpha`.
const ALPHA: u32 = 1000;

pub struct Claim<'j> {
    pub axiom: &'static str,
    /// Of `max-min`, and where it is the generic one of `proportional`.
    pub share: Option<Share>,
    /// Of `proportional`; 1 elsewhere.
    pub alpha: Rational,
    /// Absent: it does not apply.
    pub holds: Option<bool>,
    pub margin: Option<Rational>,
    pub evidence: &'j Json<'j>,
}

/// An axiom that the reader requires to hold, with its parameters.
#[derive(PartialEq)]
pub struct Required {
    pub axiom: &'static str,
    share: Option<Share>,
    alpha: Rational,
}

impl Required {
    /// `AXIOM` or `AXIOM:PARAMETER`.
    pub fn read(text: &str, problem: &Problem) -> Result<Self, String> {
        let (name, parameter) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let Some(axiom) = AXIOMS.into_iter().find(|axiom| *axiom == name) else {
            return Err(format!("there is no axiom `{name}`: expected {}", AXIOMS.join(", ")));
        };
        let mut required = Self { axiom, share: None, alpha: Rational::from(1) };
        let nowhere = Json { at: 0, kind: Kind::Null };
        match (axiom, parameter) {
            ("max-min", Some(share)) => match Share::find(share, problem, &nowhere) {
                Ok(share) => required.share = Some(share),
                Err(_) => return Err(format!("there is no share `{share}`")),
            },
            ("proportional", Some(alpha)) => {
                required.alpha = parse(alpha, 400).map_err(str::to_owned)?;
                if !is_alpha(&required.alpha) {
                    return Err(alpha_is());
                }
            }
            ("max-min", None) => return Err("`max-min` needs its parameter, as in `max-min:drfh`".to_owned()),
            ("proportional", None) => {
                return Err("`proportional` needs its parameter, as in `proportional:1`".to_owned());
            }
            (_, Some(_)) => return Err(format!("`{axiom}` has no parameter")),
            (_, None) => {}
        }
        Ok(required)
    }
}

fn is_alpha(alpha: &Rational) -> bool {
    let small = |term: Option<u32>| term.is_some_and(|term| (1..=ALPHA).contains(&term));
    small(alpha.numer().to_u32()) && small(alpha.denom().to_u32())
}

fn alpha_is() -> String {
    format!("alpha is positive, with a numerator and a denominator of at most {ALPHA}")
}

impl<'j> Claim<'j> {
    pub fn read(raw: &'j Json<'j>, problem: &Problem) -> Checked<Self> {
        let [axiom, share, alpha, holds, margin, evidence, why] =
            raw.fields(["axiom", "share?", "alpha?", "holds", "margin?", "evidence?", "why?"])?;
        let name = axiom_named(axiom)?;
        let stated = if share.is_absent() { None } else { Some(Share::find(share.text()?, problem, share)?) };
        match (name, stated) {
            ("max-min", None) => return raw.wrong("max-min is about a share, and none is named"),
            ("max-min", _) | (_, None) | ("proportional", Some(Share::Generic)) => {}
            _ => {
                return share
                    .wrong("a share belongs to max-min (and generic to proportional), and to nothing else");
            }
        }
        let exponent = if alpha.is_absent() { Rational::from(1) } else { alpha.number()? };
        if !alpha.is_absent() && (name != "proportional" || !is_alpha(&exponent)) {
            return alpha
                .wrong(format!("an alpha belongs to proportional, and to nothing else; {}", alpha_is()));
        }
        let holds = match &holds.kind {
            Kind::Bool(holds) => Some(*holds),
            Kind::Null => None,
            _ => return holds.wrong("expected true or false"),
        };
        if why.is_absent() == holds.is_none() || !(why.is_absent() || why.text().is_ok()) {
            return raw.wrong("the field `why` is a text that belongs to what does not apply (`holds` null)");
        }
        let margin = if margin.is_null() { None } else { Some(margin.computed()?) };
        let claim = Self { axiom: name, share: stated, alpha: exponent, holds, margin, evidence };
        Self::is_empty(evidence).map(|_| claim)
    }

    /// The name, its share and its exponent: what may be claimed once.
    pub fn key(&self) -> Required {
        Required { axiom: self.axiom, share: self.share, alpha: self.alpha.clone() }
    }

    /// Whether there is no evidence.
    pub fn is_empty(evidence: &Json<'_>) -> Checked<bool> {
        Ok(evidence.is_absent() || evidence.object()?.is_empty())
    }

    /// That there is no evidence, and nothing that is compared.
    pub fn without_evidence(&self) -> Checked<()> {
        let nothing = self.margin.is_none() && Self::is_empty(self.evidence)?;
        ensure(nothing, "the evidence is not what the allocation shows")
    }

    /// That this is the margin that is stated.
    pub fn says(&self, margin: Option<Rational>) -> Checked<()> {
        if self.margin == margin {
            return Ok(());
        }
        let text = |margin: &Option<Rational>| margin.as_ref().map_or("none".to_owned(), short);
        refuse(format!("the margin is stated as {}, it is {}", text(&self.margin), text(&margin)))
    }

    /// The fields of `{"tightest": {...}}`, or of a violation, which has an amount besides; `None` without
    /// evidence.
    pub fn tightest<const N: usize>(
        &self,
        names: [&str; N],
        amount: &str,
    ) -> Checked<Option<([&'j Json<'j>; N], Option<Rational>)>> {
        if Self::is_empty(self.evidence)? {
            return Ok(None);
        }
        if !self.evidence.get("tightest").is_absent() {
            let [tightest] = self.evidence.fields(["tightest"])?;
            return Ok(Some((tightest.fields(names)?, None)));
        }
        for (name, value) in self.evidence.object()? {
            if !names.iter().any(|known| known.trim_end_matches('?') == name) && name != amount {
                return value.wrong(format!("unknown field `{name}`"));
            }
        }
        let [stated] = [self.evidence.get(amount)];
        let values = names.map(|name| self.evidence.get(name.trim_end_matches('?')));
        match names.iter().zip(&values).find(|(name, value)| value.is_absent() && !name.ends_with('?')) {
            Some((name, _)) => self.evidence.wrong(format!("the field `{name}` is missing")),
            None => Ok(Some((values, Some(stated.computed()?)))),
        }
    }

    /// Whether the amount of a violation is there where there is one, and minus the margin in tasks of the user.
    pub fn amounts(&self, limits: &Limits<'_>, user: usize, amount: Option<Rational>) -> bool {
        let margin = self.margin.as_ref().filter(|_| self.holds == Some(false));
        amount == margin.map(|margin| -Rational::from(margin * &limits.g[user]))
    }

    /// The row of a class for a named resource.
    pub fn row(limits: &Limits<'_>, i: usize, resource: &Json<'_>) -> Checked<usize> {
        Self::row_named(limits, i, resource.text()?, resource)
    }

    /// The same, for a name that stands at `place`.
    pub fn row_named(limits: &Limits<'_>, i: usize, name: &str, place: &Json<'_>) -> Checked<usize> {
        let is_time = limits.is_timed(i) && name == "time";
        let resource = if is_time { None } else { Some(limits.problem.resources.find(name, place)?) };
        match limits.row(i, resource) {
            Some(row) => Ok(row),
            None => place.wrong(format!("the server has no `{name}` that is shared")),
        }
    }

    /// `{server: {resource: value}}`, by row ascending.
    pub fn by_row(limits: &Limits<'_>, raw: &Json<'_>) -> Checked<Amounts> {
        raw.object()?;
        let of_class = |i, raw: &Json<'_>| {
            let mut values = Vec::new();
            for (name, raw) in raw.object()? {
                values.push((Self::row_named(limits, i, name, raw)?, raw.computed()?));
            }
            values.sort_by_key(|(row, _)| *row);
            Ok(values)
        };
        let by_class = limits.problem.class_names.map(raw, of_class)?;
        Ok(by_class.into_iter().flat_map(|(_, values)| values).collect())
    }

    /// Checks every word and number of the claim.
    pub fn verify(&self, case: &Case<'_>) -> Checked<()> {
        if self.holds.is_none() {
            return self.verify_not_applicable(case);
        }
        let rests_on_evidence = !matches!(
            self.axiom,
            "feasible"
                | "integer-feasible"
                | "non-wasteful"
                | "work-conserving"
                | "envy-free"
                | "ef1"
                | "sharing-incentive"
                | "njc"
                | "ps-dsf"
        );
        if rests_on_evidence && Self::is_empty(self.evidence)? {
            return refuse("there is no evidence");
        }
        match self.axiom {
            "feasible" | "integer-feasible" => feasible::verify(case, self)?,
            "non-wasteful" => {
                // Allocations are made of tasks: nothing is held that serves none.
                if !Self::is_empty(self.evidence)? {
                    return self.evidence.wrong("`non-wasteful` takes no evidence");
                }
                self.says(Some(Rational::new()))?;
            }
            "work-conserving" => work_conserving::verify(case, self)?,
            "pareto-optimal" | "integer-pareto-optimal" => prices::pareto_optimal(case, self)?,
            "envy-free" => envy::envy_free(case, self)?,
            "ef1" if !envy::are_whole(case) => return refuse("it does not apply: tasks are not whole"),
            "ef1" => envy::ef1(case, self)?,
            "sharing-incentive" => entitled::sharing_incentive(case, self)?,
            "njc" => entitled::njc(case, self)?,
            "ps-dsf" => ps_dsf::verify(case, self)?,
            "proportional" => proportional::verify(case, self)?,
            _ => max_min::verify(case, self)?,
        }
        let Some(margin) = &self.margin else {
            let nothing = self.axiom == "proportional" && self.holds == Some(false);
            return ensure(
                nothing || self.holds == Some(true),
                "nothing is compared, and yet it is violated",
            );
        };
        // Tasks on single servers fit or do not.
        let is_exact = matches!(self.axiom, "feasible" | "integer-feasible" | "work-conserving");
        let zero = Rational::new();
        let tolerance = if is_exact && case.placements.is_some() { &zero } else { &case.tolerance };
        match (self.holds, *margin >= Rational::from(-tolerance)) {
            (Some(true), true) | (Some(false), false) => Ok(()),
            (_, true) => refuse("it holds within the tolerance, and is claimed to be violated"),
            (_, false) => refuse("it is violated, and is claimed to hold"),
        }
    }

    fn verify_not_applicable(&self, case: &Case<'_>) -> Checked<()> {
        let nothing = self.margin.is_none() && Self::is_empty(self.evidence)?;
        ensure(nothing, "what does not apply has no margin and no evidence")?;
        let applies = match (self.axiom, self.share) {
            ("integer-feasible", _) => feasible::applies(case),
            ("ef1" | "integer-pareto-optimal", _) => envy::are_whole(case),
            ("bottleneck-fair" | "global-bottleneck-fair" | "single-resource-fair", _) => {
                bottlenecks(self.axiom, &case.limits).is_some()
            }
            (_, Some(share)) => Coefficients::new(share, &case.limits)?.is_some(),
            _ => true,
        };
        ensure(!applies, "it applies, and is claimed not to")
    }

    /// Its name with its parameters.
    pub fn name(&self, problem: &Problem) -> String {
        let share = self.share.map_or_else(String::new, |share| format!(":{}", share.name(problem)));
        let alpha = if self.axiom == "proportional" { format!(":{}", self.alpha) } else { String::new() };
        format!("{}{share}{alpha}", self.axiom)
    }
}

/// The axiom that a string names.
pub fn axiom_named(raw: &Json<'_>) -> Checked<&'static str> {
    let name = raw.text()?;
    match AXIOMS.into_iter().find(|axiom| *axiom == name) {
        Some(axiom) => Ok(axiom),
        None => raw.wrong("there is no such axiom"),
    }
}
