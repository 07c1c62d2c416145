//! Claims: an axiom, whether it holds, by what margin, and the evidence.

use std::borrow::Cow;

use evenhand_problem::{Problem, Rational};

use crate::axiom::Axiom;
use crate::axiom::rule::Found;
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::parameters::Parameters;
use crate::refusal::{Inapplicable, Refusal};
use crate::share::Share;

/// One axiom of one allocation, judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The axiom.
    pub axiom: Axiom,
    /// The share of [`Axiom::MaxMin`], or of [`Axiom::Proportional`]; absent for the others.
    pub share: Option<Share>,
    /// The `alpha` of [`Axiom::Proportional`]; absent for the others.
    pub alpha: Option<Rational>,
    /// Whether it holds within the tolerance; absent: it does not apply.
    pub holds: Option<bool>,
    /// The margin, without a unit ([`axiom`](crate::axiom)); absent when nothing is compared, or a
    /// user has nothing where it has to have something.
    pub margin: Option<Rational>,
    /// What shows it.
    pub evidence: Evidence,
    /// Why the axiom does not apply: words for people, which the kernel does not compare.
    pub why: Option<String>,
}

/// What a claim says in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Exactly.
    Holds,
    /// Not exactly, but within the tolerance.
    Within,
    /// Beyond the tolerance.
    Violated,
    /// The axiom does not apply.
    NotApplicable,
}

impl Outcome {
    /// As in files: `holds`, `within`, `violated`, `not-applicable`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Within => "within",
            Self::Violated => "violated",
            Self::NotApplicable => "not-applicable",
        }
    }
}

impl Claim {
    /// Whether `axiom` (with its parameters) applies to `problem`.
    ///
    /// # Errors
    /// Why not.
    pub fn applies(
        axiom: Axiom,
        parameters: impl Into<Parameters>,
        problem: &Problem,
    ) -> Result<(), Inapplicable> {
        axiom.rule().applies_to(&parameters.into(), problem)
    }

    /// The claim that `axiom` does not apply to an allocation of a problem to which it applies, if that is so.
    #[must_use]
    pub fn inapplicable(
        axiom: Axiom,
        parameters: impl Into<Parameters>,
        instance: &Instance<'_>,
    ) -> Option<Self> {
        let why = axiom.rule().applies(instance).err()?;
        Some(Self::not_applicable(axiom, parameters, why))
    }

    /// The claim that `axiom` does not apply, with the reason in words.
    #[must_use]
    pub fn not_applicable(axiom: Axiom, parameters: impl Into<Parameters>, why: impl Into<String>) -> Self {
        let stated = parameters.into();
        let Parameters { share, alpha } = stated.clone().of(axiom).unwrap_or(stated);
        let why = Some(why.into());
        Self { axiom, share, alpha, holds: None, margin: None, evidence: Evidence::None, why }
    }

    /// The parameters of the axiom.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        Parameters { share: self.share, alpha: self.alpha.clone() }
    }

    /// The same as it is read back from a file: without evidence of what the allocation shows by itself.
    #[must_use]
    pub fn as_read(&self) -> Self {
        let evidence = if self.axiom.needs_evidence() { self.evidence.clone() } else { Evidence::None };
        Self { evidence, ..self.clone() }
    }

    /// What it says in a word.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match (self.holds, &self.margin) {
            (None, _) => Outcome::NotApplicable,
            (Some(false), _) => Outcome::Violated,
            (Some(true), Some(margin)) if *margin < 0 => Outcome::Within,
            (Some(true), _) => Outcome::Holds,
        }
    }

    /// Whether the margin is a bound, and the truth may be worse ([`Evidence::is_bound`]).
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.evidence.is_bound()
    }

    /// The margin in tasks of the user that it is about; `None` where it is about no single user.
    #[must_use]
    pub fn tasks(&self, instance: &Instance<'_>) -> Option<Rational> {
        let margin = self.margin.as_ref()?;
        self.axiom.rule().in_tasks(instance, &self.parameters(), &self.evidence, margin)
    }

    /// The tolerance that counts for `axiom`: nothing is tolerated of tasks on single servers, which fit
    /// or not.
    #[must_use]
    pub fn tolerance<'t>(axiom: Axiom, instance: &Instance<'_>, stated: &'t Rational) -> Cow<'t, Rational> {
        let is_exact = instance.placements().is_some() && axiom.rule().is_exact_on_servers();
        if is_exact { Cow::Owned(Rational::new()) } else { Cow::Borrowed(stated) }
    }

    /// The claim about an axiom that needs no evidence from outside ([`Axiom::needs_evidence`]); for the
    /// others only that they do not apply, when that is so.
    ///
    /// # Errors
    /// [`Refusal`] when the axiom needs evidence, or judging is too large.
    pub fn derive(axiom: Axiom, instance: &Instance<'_>, tolerance: &Rational) -> Result<Self, Refusal> {
        let rule = axiom.rule();
        // An axiom that cannot do without parameters says so in what it derives.
        let to_problem = rule
            .parameters(Parameters::default())
            .map_or(Ok(()), |parameters| rule.applies_to(&parameters, instance.problem()));
        if let Err(why) = to_problem.and_then(|()| rule.applies(instance)) {
            return Ok(Self::not_applicable(axiom, None, why));
        }
        let (holds, margin, evidence) = match rule.derive(instance)? {
            None => (true, None, Evidence::None),
            Some(Found { margin, yes, no }) => {
                let holds = is_within(&margin, &Self::tolerance(axiom, instance, tolerance));
                (holds, Some(margin), if holds { yes } else { no.unwrap_or(yes) })
            }
        };
        Ok(Self { axiom, share: None, alpha: None, holds: Some(holds), margin, evidence, why: None })
    }

    /// The claim that `evidence` shows; margin and verdict are computed from it. `parameters`: those
    /// of the axiom, or only its share.
    ///
    /// # Errors
    /// [`Refusal`] when it shows nothing: it is false, of another axiom's form, leaves a margin
    /// beyond the tolerance (evidence of yes) or within it (evidence of no).
    pub fn with_evidence(
        axiom: Axiom,
        parameters: impl Into<Parameters>,
        evidence: Evidence,
        instance: &Instance<'_>,
        tolerance: &Rational,
    ) -> Result<Self, Refusal> {
        let parameters = parameters.into().of(axiom)?;
        let evidence = axiom.rule().complete(instance, &parameters, evidence)?;
        let (verdict, margin) = axiom.rule().judge(instance, &parameters, &evidence)?;
        let within = margin.as_ref().map_or(verdict, |margin| is_within(margin, tolerance));
        let holds = if axiom.rule().shows_both() { within } else { verdict };
        if within != holds {
            let margin = margin.unwrap_or_default();
            return Err(Refusal::new(if holds {
                format!("the evidence leaves a margin of {}, beyond the tolerance", shorten(&margin))
            } else {
                format!("the evidence shows a margin of {}, within the tolerance", shorten(&margin))
            }));
        }
        let Parameters { share, alpha } = parameters;
        Ok(Self { axiom, share, alpha, holds: Some(holds), margin, evidence, why: None })
    }
}

fn is_within(margin: &Rational, tolerance: &Rational) -> bool {
    *margin >= Rational::from(-tolerance)
}

/// A number for a message: exact, unless it has hundreds of digits.
fn shorten(value: &Rational) -> String {
    let text = value.to_string();
    if text.len() <= 80 { text } else { format!("{}... ({} digits)", &text[..60], text.len()) }
}
