//! Claims: an axiom, whether it holds, by what margin, and the evidence.

use evenhand_problem::{Problem, Rational};

use crate::axiom::{
    Axiom, bottleneck, ef1, envy_free, feasible, integer_feasible, integer_pareto_optimal, max_min, njc,
    pareto_optimal, proportional, ps_dsf, sharing_incentive, work_conserving,
};
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::parameters::Parameters;
use crate::refusal::Refusal;
use crate::share::{Share, ShareCoefficients};

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
    /// Why the axiom does not apply: words for people, which the checker does not compare.
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

/// A margin with the evidence of yes, and that of no for where it is beyond the tolerance.
type Found = (Rational, Evidence, Option<Evidence>);

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

    /// Whether the margin is a bound, and the truth may be worse: evidence of no shows one allocation that
    /// is better, where another may be better still.
    #[must_use]
    pub fn is_bound(&self) -> bool {
        match &self.evidence {
            Evidence::Dominating(_)
            | Evidence::DominatingPlacements(_)
            | Evidence::Rise { .. }
            | Evidence::Better(_) => true,
            // One whole task fits; more of them may.
            Evidence::Room(room) => room.index.is_some(),
            _ => false,
        }
    }

    /// The margin in tasks of the user that it is about; `None` where it is about no single user.
    #[must_use]
    pub fn tasks(&self, instance: &Instance<'_>) -> Option<Rational> {
        let margin = self.margin.as_ref()?;
        let of_user =
            |n: usize| (n < instance.problem().n_users()).then(|| Rational::from(margin * instance.scale(n)));
        match &self.evidence {
            Evidence::Limit { limit: feasible::Limit::Tasks(n), slack }
            | Evidence::Limit { limit: feasible::Limit::Entry(n, _), slack } => {
                (*n < instance.problem().n_users()).then(|| slack.clone())
            }
            Evidence::Entitlement { user, .. }
            | Evidence::Envy { user, .. }
            | Evidence::EnvyUpToOne { user, .. } => of_user(*user),
            Evidence::Unblocked(unblocked) => of_user(unblocked.user),
            Evidence::Room(room) => of_user(room.user),
            Evidence::Rise { resource, user, .. } => {
                let share = self.share.or(resource.map(Share::Resource))?;
                share.coefficients(instance.problem()).ok()?.uniform(*user)?;
                of_user(*user)
            }
            _ => None,
        }
    }

    /// The tolerance that counts for `axiom`: nothing is tolerated of tasks on single servers, which fit
    /// or not.
    #[must_use]
    pub fn tolerance<'t>(
        axiom: Axiom,
        instance: &Instance<'_>,
        stated: &'t Rational,
    ) -> std::borrow::Cow<'t, Rational> {
        let is_placed = instance.placements().is_some();
        match axiom {
            Axiom::Feasible | Axiom::IntegerFeasible | Axiom::WorkConserving if is_placed => {
                std::borrow::Cow::Owned(Rational::new())
            }
            _ => std::borrow::Cow::Borrowed(stated),
        }
    }

    /// The claim about an axiom that needs no evidence from outside: feasible, non-wasteful,
    /// work-conserving, integer-feasible, envy-free, ef1, sharing-incentive, njc and ps-dsf; for the others
    /// only that they do not apply, when that is so.
    ///
    /// # Errors
    /// [`Refusal`] when the axiom needs evidence, or judging is too large.
    pub fn derive(axiom: Axiom, instance: &Instance<'_>, tolerance: &Rational) -> Result<Self, Refusal> {
        let found = match axiom {
            Axiom::Feasible => feasible::tightest(instance).map(|(limit, margin)| {
                let slack = feasible::slack(instance, limit).map_or_else(Rational::new, |(slack, _)| slack);
                (margin, Evidence::Limit { limit, slack }, None)
            }),
            Axiom::IntegerFeasible => match integer_feasible::tightest(instance) {
                Err(why) => return Ok(Self::not_applicable(axiom, None, why)),
                Ok(found) => {
                    found.map(|(limit, slack, margin)| (margin, Evidence::SingleLimit { limit, slack }, None))
                }
            },
            Axiom::NonWasteful => Some((Rational::new(), Evidence::None, None)),
            Axiom::WorkConserving => work_conserving::examine(instance)?
                .map(|found| (found.margin, Evidence::Short(found.short), found.room.map(Evidence::Room))),
            Axiom::Ef1 => {
                if let Err(why) = ef1::applies(instance) {
                    return Ok(Self::not_applicable(axiom, None, why));
                }
                ef1::tightest(instance)?.map(|ef1::Tightest { user, envied, removed, margin }| {
                    let gain = Some(in_tasks(instance, user, &margin));
                    let no = Evidence::EnvyUpToOne { user, envied, removed, gain };
                    (margin, Evidence::EnvyUpToOne { user, envied, removed, gain: None }, Some(no))
                })
            }
            Axiom::EnvyFree => {
                envy_free::check_weights(instance.problem())?;
                envy_free::tightest(instance)?.map(|envy_free::Tightest { user, envied, margin }| {
                    let gain = Some(in_tasks(instance, user, &margin));
                    let no = Evidence::Envy { user, envied, gain };
                    (margin, Evidence::Envy { user, envied, gain: None }, Some(no))
                })
            }
            Axiom::SharingIncentive | Axiom::Njc => {
                let all = instance.problem().n_users() + instance.constraints().rows().len();
                instance.budget().charge(instance.steps().saturating_mul(all as u64))?;
                return Ok(Self::judged(axiom, Self::entitled(axiom, instance), tolerance));
            }
            Axiom::PsDsf => match ps_dsf::examine(instance)? {
                None => None,
                Some(found) => {
                    let no = ps_dsf::unblocked(instance, found.user, found.server)?.map(Evidence::Unblocked);
                    Some((found.margin, Evidence::Bottlenecks(found.standings), no))
                }
            },
            _ => return Self::derive_not_applicable(axiom, instance),
        };
        Ok(Self::judged(axiom, found, &Self::tolerance(axiom, instance, tolerance)))
    }

    /// What is found of an axiom that compares users with their entitlement.
    fn entitled(axiom: Axiom, instance: &Instance<'_>) -> Option<Found> {
        match axiom {
            Axiom::SharingIncentive => sharing_incentive::tightest(instance).map(|(user, margin)| {
                let loss = Some(in_tasks(instance, user, &margin));
                let no = Evidence::Entitlement { user, loss };
                (margin, Evidence::Entitlement { user, loss: None }, Some(no))
            }),
            _ => njc::examine(instance).map(|found| {
                let no = njc::complaint(instance, found.user).map(Evidence::Complaint);
                (found.margin, Evidence::Witnesses(found.witnesses), no)
            }),
        }
    }

    /// That an axiom that takes evidence does not apply.
    fn derive_not_applicable(axiom: Axiom, instance: &Instance<'_>) -> Result<Self, Refusal> {
        let of_problem =
            if axiom == Axiom::MaxMin { Ok(()) } else { Self::applies(axiom, None, instance.problem()) };
        let applies = of_problem.and_then(|()| match axiom {
            Axiom::IntegerParetoOptimal => ef1::applies(instance),
            _ => Ok(()),
        });
        match applies {
            Err(why) => Ok(Self::not_applicable(axiom, None, why)),
            Ok(()) => Err(Refusal::new(format!("`{}` needs evidence", axiom.name()))),
        }
    }

    fn judged(axiom: Axiom, found: Option<Found>, tolerance: &Rational) -> Self {
        let Some((margin, yes, no)) = found else {
            let evidence = Evidence::None;
            return Self {
                axiom,
                share: None,
                alpha: None,
                holds: Some(true),
                margin: None,
                evidence,
                why: None,
            };
        };
        let holds = is_within(&margin, tolerance);
        let evidence = if holds { yes } else { no.unwrap_or(yes) };
        Self {
            axiom,
            share: None,
            alpha: None,
            holds: Some(holds),
            margin: Some(margin),
            evidence,
            why: None,
        }
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
            (Axiom::MaxMin, Evidence::Levels(levels)) => {
                let share = shared(axiom, share, None, instance.problem())?;
                (true, max_min::margin_of_levels(instance, &share, levels)?)
            }
            (_, Evidence::LevelsByResource(stated)) => (true, judge_resources(axiom, instance, stated)?),
            (_, Evidence::Rise { resource, user, allocation }) => {
                let share = shared(axiom, share, *resource, instance.problem())?;
                (false, Some(max_min::margin_of_rise(instance, &share, *user, allocation)?))
            }
            _ => return Err(Refusal::new("the evidence is not of the form that the axiom takes")),
        };
        let within = margin.as_ref().map_or(holds, |margin| is_within(margin, tolerance));
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
        if self.evidence == truth.evidence || self.is_as_tight(instance, &truth)? {
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
    fn is_as_tight(&self, instance: &Instance<'_>, truth: &Self) -> Result<bool, Refusal> {
        let amounts = |user: usize, stated: &Option<Rational>, truly: &Option<Rational>| {
            let known = truth.margin.as_ref().filter(|_| user < instance.problem().n_users());
            let expected = known.filter(|_| truly.is_some()).map(|margin| in_tasks(instance, user, margin));
            *stated == expected
        };
        Ok(match (&self.evidence, &truth.evidence) {
            (Evidence::Limit { limit, slack }, Evidence::Limit { .. }) => {
                let found = feasible::slack(instance, *limit);
                found.is_some_and(|(is, margin)| is == *slack && Some(margin) == truth.margin)
            }
            (Evidence::SingleLimit { limit, slack }, Evidence::SingleLimit { .. }) => {
                let found = integer_feasible::slack(instance, *limit);
                found.is_some_and(|(is, margin)| is == *slack && Some(margin) == truth.margin)
            }
            (Evidence::Short(short), Evidence::Short(_)) => {
                work_conserving::margin_of_short(instance, short)? == truth.margin
            }
            (Evidence::Room(room), Evidence::Room(_)) => {
                work_conserving::margin_of_room(instance, room)? == truth.margin
            }
            (
                Evidence::EnvyUpToOne { user, envied, removed, gain },
                Evidence::EnvyUpToOne { gain: truly, .. },
            ) => {
                amounts(*user, gain, truly) && ef1::margin(instance, *user, *envied, *removed) == truth.margin
            }
            (Evidence::Entitlement { user, loss }, Evidence::Entitlement { loss: truly, .. }) => {
                amounts(*user, loss, truly) && sharing_incentive::margin(instance, *user) == truth.margin
            }
            (Evidence::Envy { user, envied, gain }, Evidence::Envy { gain: truly, .. }) => {
                amounts(*user, gain, truly) && envy_free::margin(instance, *user, *envied) == truth.margin
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
                let (user, server) = (unblocked.user, unblocked.server);
                ps_dsf::margin(instance, user, server)? == truth.margin
                    && ps_dsf::unblocked(instance, user, server)?.as_ref() == Some(unblocked)
            }
            _ => false,
        })
    }
}

fn is_within(margin: &Rational, tolerance: &Rational) -> bool {
    *margin >= Rational::from(-tolerance)
}

/// Minus a margin, in tasks of the user.
fn in_tasks(instance: &Instance<'_>, user: usize, margin: &Rational) -> Rational {
    -Rational::from(margin * instance.scale(user))
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

/// The worst margin over the resources that a bottleneck axiom is about, which the evidence has to name.
fn judge_resources(
    axiom: Axiom,
    instance: &Instance<'_>,
    stated: &[(usize, Vec<max_min::Level>)],
) -> Result<Option<Rational>, Refusal> {
    let resources = bottleneck::of(axiom, instance.problem()).map_err(Refusal::new)?;
    if !stated.iter().map(|(r, _)| r).eq(&resources) {
        return Err(Refusal::new("the resources of the evidence are not those that the axiom is about"));
    }
    let mut worst: Option<Rational> = None;
    for (r, levels) in stated {
        let share = Share::Resource(*r).coefficients(instance.problem())?;
        let margin = max_min::margin_of_levels(instance, &share, levels)?;
        worst = match (worst, margin) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    Ok(worst)
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
            let resources = bottleneck::of(axiom, problem).map_err(Refusal::new)?;
            if !resources.contains(&r) {
                let name = problem.resources().get(r).map_or("", String::as_str);
                return Err(Refusal::new(format!("`{name}` is not a resource that the axiom is about")));
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
