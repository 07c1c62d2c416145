//! Claims: an axiom, whether it holds, by what margin, and the evidence.

use std::fmt;

use evenhand_problem::{Problem, Rational};

use crate::axiom::{
    Axiom, bottleneck, ef1, envy_free, feasible, integer_feasible, integer_pareto_optimal, max_min, njc,
    pareto_optimal, proportional, ps_dsf, sharing_incentive,
};
use crate::evidence::Evidence;
use crate::instance::{Instance, InstanceError};
use crate::parameters::Parameters;
use crate::share::{Share, ShareCoefficients, ShareError};

/// Why evidence does not show what it should, in words that name what is false.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    reason: String,
}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Refusal {}

impl From<InstanceError> for Refusal {
    fn from(error: InstanceError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<ShareError> for Refusal {
    fn from(error: ShareError) -> Self {
        Self::new(error.to_string())
    }
}

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
    /// The margin, in the units of [`axiom`](crate::axiom); absent when nothing is compared, or a
    /// user has nothing where it has to have something.
    pub margin: Option<Rational>,
    /// What shows it.
    pub evidence: Evidence,
    /// Why the axiom does not apply: words for people, which the checker does not compare.
    pub why: Option<String>,
}

impl Claim {
    /// Whether `axiom` (with its parameters) applies to `problem`.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn applies(axiom: Axiom, parameters: impl Into<Parameters>, problem: &Problem) -> Result<(), String> {
        parameters.into().apply(axiom, problem)
    }

    /// The claim that `axiom` does not apply, with the reason in words.
    #[must_use]
    pub fn not_applicable(axiom: Axiom, parameters: impl Into<Parameters>, why: String) -> Self {
        let stated = parameters.into();
        let Parameters { share, alpha } = stated.clone().of(axiom).unwrap_or(stated);
        Self { axiom, share, alpha, holds: None, margin: None, evidence: Evidence::None, why: Some(why) }
    }

    /// The parameters of the axiom.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        Parameters { share: self.share, alpha: self.alpha.clone() }
    }

    /// The claim about an axiom that needs no evidence from outside: feasible, non-wasteful,
    /// integer-feasible, envy-free, ef1, sharing-incentive, njc and ps-dsf; for the others only that they do not apply, when that is so.
    ///
    /// # Errors
    /// [`Refusal`] when the axiom needs evidence, or the numbers are too wide.
    pub fn derive(axiom: Axiom, instance: &Instance<'_>, tolerance: &Rational) -> Result<Self, Refusal> {
        let judged = |margin: &Rational| *margin >= Rational::from(-tolerance);
        let found = match axiom {
            Axiom::Feasible => feasible::tightest(instance).map(|(limit, margin)| {
                let slack = feasible::slack(instance, limit).map_or_else(Rational::new, |(slack, _)| slack);
                (margin, Evidence::Limit { limit, slack })
            }),
            Axiom::IntegerFeasible => match integer_feasible::tightest(instance) {
                Err(why) => return Ok(Self::not_applicable(axiom, None, why)),
                Ok(found) => {
                    found.map(|(limit, slack, margin)| (margin, Evidence::SingleLimit { limit, slack }))
                }
            },
            Axiom::Ef1 => {
                if let Err(why) = ef1::applies(instance) {
                    return Ok(Self::not_applicable(axiom, None, why));
                }
                ef1::tightest(instance).map(|ef1::Tightest { user, envied, removed, margin }| {
                    let gain = (!judged(&margin)).then(|| Rational::from(-&margin));
                    (margin, Evidence::EnvyUpToOne { user, envied, removed, gain })
                })
            }
            Axiom::NonWasteful => Some((Rational::new(), Evidence::None)),
            Axiom::EnvyFree => {
                envy_free::check_weights(instance.problem())?;
                envy_free::tightest(instance).map(|pair| {
                    let gain = (!judged(&pair.margin)).then(|| Rational::from(-&pair.margin));
                    (pair.margin, Evidence::Envy { user: pair.user, envied: pair.envied, gain })
                })
            }
            Axiom::SharingIncentive => sharing_incentive::tightest(instance).map(|(user, margin)| {
                let loss = (!judged(&margin)).then(|| Rational::from(-&margin));
                (margin, Evidence::Entitlement { user, loss })
            }),
            Axiom::Njc => njc::examine(instance).map(|found| {
                let complaint = (!judged(&found.margin)).then(|| njc::complaint(instance, found.user));
                let evidence = match complaint.flatten() {
                    Some(complaint) => Evidence::Complaint(complaint),
                    None => Evidence::Witnesses(found.witnesses),
                };
                (found.margin, evidence)
            }),
            Axiom::PsDsf => ps_dsf::examine(instance).map(|found| {
                let unblocked = (!judged(&found.margin))
                    .then(|| ps_dsf::unblocked(instance, found.user, found.server, tolerance));
                let evidence = match unblocked.flatten() {
                    Some(unblocked) => Evidence::Unblocked(unblocked),
                    None => Evidence::Bottlenecks(found.standings),
                };
                (found.margin, evidence)
            }),
            Axiom::IntegerParetoOptimal => {
                return match ef1::applies(instance) {
                    Err(why) => Ok(Self::not_applicable(axiom, None, why)),
                    Ok(()) => Err(Refusal::new(format!("`{}` needs evidence", axiom.name()))),
                };
            }
            _ => match Self::applies(axiom, None, instance.problem()) {
                Err(why) if axiom != Axiom::MaxMin => return Ok(Self::not_applicable(axiom, None, why)),
                _ => return Err(Refusal::new(format!("`{}` needs evidence", axiom.name()))),
            },
        };
        let holds = found.as_ref().is_none_or(|(margin, _)| judged(margin));
        let (margin, evidence) = found.map_or((None, Evidence::None), |(m, e)| (Some(m), e));
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
        mut evidence: Evidence,
        instance: &Instance<'_>,
        tolerance: &Rational,
    ) -> Result<Self, Refusal> {
        let Parameters { share, alpha } = parameters.into().of(axiom)?;
        let (holds, margin) = match (axiom, &evidence) {
            (Axiom::ParetoOptimal, Evidence::Prices(prices)) => {
                (true, pareto_optimal::margin_of_prices(instance, prices)?)
            }
            (Axiom::ParetoOptimal, Evidence::Dominating(tasks)) => {
                (false, Some(pareto_optimal::margin_of_dominating(instance, tasks)?))
            }
            (Axiom::IntegerParetoOptimal, Evidence::Prices(prices)) => {
                (true, integer_pareto_optimal::margin_of_prices(instance, prices)?)
            }
            (Axiom::IntegerParetoOptimal, Evidence::DominatingPlacements(placements)) => {
                (false, Some(integer_pareto_optimal::margin_of_dominating(instance, placements)?))
            }
            (Axiom::Proportional, _) => judge_proportional(instance, share, alpha.as_ref(), &evidence)?,
            (_, Evidence::Levels { resource, levels }) => {
                let share = shared(axiom, share, *resource, instance.problem())?;
                (true, max_min::margin_of_levels(instance, &share, levels, tolerance)?)
            }
            (_, Evidence::Rise { resource, user, allocation }) => {
                let share = shared(axiom, share, *resource, instance.problem())?;
                (false, Some(max_min::margin_of_rise(instance, &share, *user, allocation, tolerance)?))
            }
            _ => return Err(Refusal::new("the evidence is not of the form that the axiom takes")),
        };
        let is_beyond = |margin: &Rational| *margin < Rational::from(-tolerance);
        let within = margin.as_ref().map_or(holds, |margin| !is_beyond(margin));
        if within != holds {
            let margin = margin.unwrap_or_default();
            return Err(Refusal::new(if holds {
                format!("the evidence leaves a margin of {}, beyond the tolerance", shorten(&margin))
            } else {
                format!("the evidence shows a margin of {}, within the tolerance", shorten(&margin))
            }));
        }
        if let (Axiom::Proportional, Evidence::Prices(prices)) = (axiom, &mut evidence) {
            prices.user_weights.clear();
        }
        Ok(Self { axiom, share, alpha, holds: Some(holds), margin, evidence, why: None })
    }

    /// Checks every word and number of the claim.
    ///
    /// # Errors
    /// [`Refusal`] that names what is false.
    pub fn verify(&self, instance: &Instance<'_>, tolerance: &Rational) -> Result<(), Refusal> {
        if self.holds.is_none() {
            return self.verify_not_applicable(instance);
        }
        if self.why.is_some() {
            return Err(Refusal::new("a reason for not applying is given, and a verdict as well"));
        }
        if self.axiom.needs_evidence() {
            let evidence = self.evidence.clone();
            let truth = Self::with_evidence(self.axiom, self.parameters(), evidence, instance, tolerance)?;
            return self.compare_verdict(&truth);
        }
        let truth = Self::derive(self.axiom, instance, tolerance)?;
        self.compare_verdict(&truth)?;
        self.parameters().of(self.axiom)?;
        if self.evidence == truth.evidence || self.is_as_tight(instance, &truth, tolerance)? {
            return Ok(());
        }
        Err(Refusal::new("the evidence is not what the allocation shows"))
    }

    fn verify_not_applicable(&self, instance: &Instance<'_>) -> Result<(), Refusal> {
        if self.margin.is_some() || self.evidence != Evidence::None || self.why.is_none() {
            return Err(Refusal::new("what does not apply has a reason, no margin and no evidence"));
        }
        let of_problem = self.parameters().of(self.axiom)?.apply(self.axiom, instance.problem());
        let of_allocation = || match self.axiom {
            Axiom::IntegerFeasible => integer_feasible::applies(instance),
            Axiom::Ef1 | Axiom::IntegerParetoOptimal => ef1::applies(instance),
            _ => Ok(()),
        };
        match of_problem.and_then(|()| of_allocation()) {
            Ok(()) => Err(Refusal::new("it applies, and is claimed not to")),
            Err(_) => Ok(()),
        }
    }

    fn compare_verdict(&self, truth: &Self) -> Result<(), Refusal> {
        if self.margin != truth.margin {
            let text = |margin: &Option<Rational>| margin.as_ref().map_or("none".to_owned(), shorten);
            let (stated, found) = (text(&self.margin), text(&truth.margin));
            return Err(Refusal::new(format!("the margin is stated as {stated}, it is {found}")));
        }
        if self.holds != truth.holds {
            let word = |holds: Option<bool>| if holds == Some(true) { "holds" } else { "is violated" };
            let (stated, found) = (word(self.holds), word(truth.holds));
            return Err(Refusal::new(format!("it {found}, and is claimed to be otherwise ({stated})")));
        }
        Ok(())
    }

    /// Whether the evidence names another limit, user, pair or witnesses that is exactly as tight as the one
    /// that would be named here; verdict and margin are known to be right.
    fn is_as_tight(
        &self,
        instance: &Instance<'_>,
        truth: &Self,
        tolerance: &Rational,
    ) -> Result<bool, Refusal> {
        Ok(match (&self.evidence, &truth.evidence) {
            (Evidence::Limit { limit, slack }, Evidence::Limit { .. }) => {
                let found = feasible::slack(instance, *limit);
                found.is_some_and(|(is, margin)| is == *slack && Some(margin) == truth.margin)
            }
            (Evidence::SingleLimit { limit, slack }, Evidence::SingleLimit { .. }) => {
                let found = integer_feasible::slack(instance, *limit);
                found.is_some_and(|(is, margin)| is == *slack && Some(margin) == truth.margin)
            }
            (
                Evidence::EnvyUpToOne { user, envied, removed, gain },
                Evidence::EnvyUpToOne { gain: truly, .. },
            ) => gain == truly && ef1::margin(instance, *user, *envied, *removed) == truth.margin,
            (Evidence::Entitlement { user, loss }, Evidence::Entitlement { loss: truly, .. }) => {
                loss == truly && sharing_incentive::margin(instance, *user) == truth.margin
            }
            (Evidence::Envy { user, envied, gain }, Evidence::Envy { gain: truly, .. }) => {
                gain == truly && envy_free::margin(instance, *user, *envied) == truth.margin
            }
            (Evidence::Witnesses(witnesses), Evidence::Witnesses(_)) => {
                njc::margin_of_witnesses(instance, witnesses)? == truth.margin
            }
            (Evidence::Complaint(complaint), Evidence::Complaint(_)) => {
                let user = complaint.user;
                njc::margin(instance, user) == truth.margin
                    && njc::complaint(instance, user).as_ref() == Some(complaint)
            }
            (Evidence::Bottlenecks(standings), Evidence::Bottlenecks(_)) => {
                ps_dsf::margin_of_standings(instance, standings)? == truth.margin
            }
            (Evidence::Unblocked(unblocked), Evidence::Unblocked(_)) => {
                ps_dsf::margin(instance, unblocked.user, unblocked.server) == truth.margin
                    && ps_dsf::is_unblocked(instance, unblocked, tolerance)
            }
            _ => false,
        })
    }
}

/// Verdict and margin of evidence about proportional fairness.
fn judge_proportional(
    instance: &Instance<'_>,
    share: Option<Share>,
    alpha: Option<&Rational>,
    evidence: &Evidence,
) -> Result<(bool, Option<Rational>), Refusal> {
    let share = share.map(|share| share.coefficients(instance.problem())).transpose()?;
    let (share, one) = (share.as_ref(), Rational::from(1));
    let alpha = alpha.unwrap_or(&one);
    match evidence {
        Evidence::Prices(prices) => {
            Ok((true, proportional::margin_of_prices(instance, alpha, share, prices)?))
        }
        Evidence::Better(tasks) => {
            Ok((false, Some(proportional::margin_of_better(instance, alpha, share, tasks)?)))
        }
        Evidence::Nothing { user } if proportional::has_nothing(instance, share, *user) => Ok((false, None)),
        Evidence::Nothing { .. } => {
            Err(Refusal::new("the user of the evidence is due nothing, or has something"))
        }
        _ => Err(Refusal::new("the evidence is not of the form that the axiom takes")),
    }
}

/// The share that the evidence of max-min or of a bottleneck axiom is about.
fn shared(
    axiom: Axiom,
    share: Option<Share>,
    resource: Option<usize>,
    problem: &Problem,
) -> Result<ShareCoefficients, Refusal> {
    match (axiom, share, resource) {
        (Axiom::MaxMin, Some(share), None) => Ok(share.coefficients(problem)?),
        (Axiom::BottleneckFair | Axiom::GlobalBottleneckFair | Axiom::SingleResourceFair, None, Some(r)) => {
            let resource = bottleneck::of(axiom, problem).map_err(Refusal::new)?;
            if r != resource {
                let name = problem.resources().get(r).map_or("", String::as_str);
                return Err(Refusal::new(format!("`{name}` is not the resource that the axiom is about")));
            }
            Ok(Share::Resource(r).coefficients(problem)?)
        }
        _ => Err(Refusal::new("the evidence is not of the form that the axiom takes")),
    }
}

/// A number for a message: exact, unless it has hundreds of digits.
pub(crate) fn shorten(value: &Rational) -> String {
    let text = value.to_string();
    if text.len() <= 80 { text } else { format!("{}... ({} digits)", &text[..60], text.len()) }
}
