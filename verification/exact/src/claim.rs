//! Claims: an axiom, the verdict whether it holds, its margin, and the evidence.

use std::borrow::Cow;

use evenhand_problem::{Problem, Rational};

use crate::axiom::Axiom;
use crate::axiom::rule::Found;
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::parameters::Parameters;
use crate::refusal::{Inapplicable, Refusal};
use crate::share::Share;

/// The verdict on one axiom for one allocation.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// The axiom.
    pub axiom: Axiom,
    /// The share of [`Axiom::MaxMin`], or of [`Axiom::Proportional`]. `None` for the other axioms.
    pub share: Option<Share>,
    /// The `alpha` of [`Axiom::Proportional`]. `None` for the other axioms.
    pub alpha: Option<Rational>,
    /// True if the axiom holds within the tolerance. `None` if the axiom does not apply.
    pub holds: Option<bool>,
    /// The margin, without a unit ([`axiom`](crate::axiom)). `None` if no numbers have to be compared, or if a user has
    /// no tasks although it must have some.
    pub margin: Option<Rational>,
    /// The evidence of the verdict.
    pub evidence: Evidence,
    /// The reason why the axiom does not apply, in words for people. The kernel does not compare it.
    pub why: Option<String>,
}

/// The verdict of a claim in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The axiom holds exactly.
    Holds,
    /// The axiom holds within the tolerance, but not exactly.
    Within,
    /// The axiom is violated beyond the tolerance.
    Violated,
    /// The axiom does not apply.
    NotApplicable,
}

impl Outcome {
    /// Returns the word that files use: `holds`, `within`, `violated` or `not-applicable`.
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
    /// Checks that `axiom` (with its parameters) applies to `problem`.
    ///
    /// # Errors
    /// Returns the reason why it does not apply.
    pub fn applies(
        axiom: Axiom,
        parameters: impl Into<Parameters>,
        problem: &Problem,
    ) -> Result<(), Inapplicable> {
        axiom.covers(problem)?;
        axiom.rule().applies_to(&parameters.into(), problem)
    }

    /// Returns the claim that `axiom` does not apply to an allocation. Returns `None` if it applies. The axiom has to
    /// apply to the problem.
    #[must_use]
    pub fn inapplicable(
        axiom: Axiom,
        parameters: impl Into<Parameters>,
        instance: &Instance<'_>,
    ) -> Option<Self> {
        let why = axiom.rule().applies(instance).err()?;
        Some(Self::not_applicable(axiom, parameters, why))
    }

    /// Returns the claim that `axiom` does not apply, with the reason in words.
    #[must_use]
    pub fn not_applicable(axiom: Axiom, parameters: impl Into<Parameters>, why: impl Into<String>) -> Self {
        let stated = parameters.into();
        let Parameters { share, alpha } = stated.clone().of(axiom).unwrap_or(stated);
        let why = Some(why.into());
        Self { axiom, share, alpha, holds: None, margin: None, evidence: Evidence::None, why }
    }

    /// Returns the parameters of the axiom.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        Parameters { share: self.share, alpha: self.alpha.clone() }
    }

    /// Returns the claim as a reader of the file gets it: without evidence that follows from the allocation alone.
    #[must_use]
    pub fn as_read(&self) -> Self {
        let evidence = if self.axiom.needs_evidence() { self.evidence.clone() } else { Evidence::None };
        Self { evidence, ..self.clone() }
    }

    /// Returns the verdict in one word.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match (self.holds, &self.margin) {
            (None, _) => Outcome::NotApplicable,
            (Some(false), _) => Outcome::Violated,
            (Some(true), Some(margin)) if *margin < 0 => Outcome::Within,
            (Some(true), _) => Outcome::Holds,
        }
    }

    /// Returns true if the margin is only a bound, so that the true margin may be worse ([`Evidence::is_bound`]).
    #[must_use]
    pub fn is_bound(&self) -> bool {
        self.evidence.is_bound()
    }

    /// Returns the margin in tasks of the user that has this margin. Returns `None` if the margin does not belong to a
    /// single user.
    #[must_use]
    pub fn tasks(&self, instance: &Instance<'_>) -> Option<Rational> {
        let margin = self.margin.as_ref()?;
        self.axiom.rule().in_tasks(instance, &self.parameters(), &self.evidence, margin)
    }

    /// Returns the tolerance that counts for `axiom`. It is 0 for tasks on single servers, since a task there either
    /// fits or does not fit.
    #[must_use]
    pub fn tolerance<'t>(axiom: Axiom, instance: &Instance<'_>, stated: &'t Rational) -> Cow<'t, Rational> {
        let is_exact = instance.placements().is_some() && axiom.rule().is_exact_on_servers();
        if is_exact { Cow::Owned(Rational::new()) } else { Cow::Borrowed(stated) }
    }

    /// Derives the claim about an axiom that needs no evidence from a solver ([`Axiom::needs_evidence`]). For other
    /// axioms, only the claim that they do not apply can be derived.
    ///
    /// # Errors
    /// Returns [`Refusal`] if the axiom needs evidence, or if judging exceeds the budget.
    pub fn derive(axiom: Axiom, instance: &Instance<'_>, tolerance: &Rational) -> Result<Self, Refusal> {
        let rule = axiom.rule();
        // `parameters` returns an error for an axiom that needs parameters, and `derive` below returns it too.
        let to_problem = rule
            .parameters(Parameters::default())
            .map_or(Ok(()), |parameters| rule.applies_to(&parameters, instance.problem()));
        let to_problem = axiom.covers(instance.problem()).and(to_problem);
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

    /// Returns the claim that `evidence` proves. The margin and the verdict are computed from the evidence.
    /// `parameters` are the parameters of the axiom, or only its share.
    ///
    /// # Errors
    /// Returns [`Refusal`] if the evidence does not prove the claim. The evidence may be false or have the form for
    /// another axiom. Its margin may be beyond the tolerance although the evidence is for a claim that the axiom holds,
    /// or within the tolerance although the evidence is for a claim that the axiom is violated.
    pub fn with_evidence(
        axiom: Axiom,
        parameters: impl Into<Parameters>,
        evidence: Evidence,
        instance: &Instance<'_>,
        tolerance: &Rational,
    ) -> Result<Self, Refusal> {
        let parameters = parameters.into().of(axiom)?;
        axiom.covers(instance.problem())?;
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

/// Returns a number for a message. Short numbers are exact, and long numbers are cut.
fn shorten(value: &Rational) -> String {
    let text = value.to_string();
    if text.len() <= 80 { text } else { format!("{}... ({} digits)", &text[..60], text.len()) }
}
