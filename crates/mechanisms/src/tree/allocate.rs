//! The mechanism `tree`: hierarchical filling of a problem, by its own rule or by the rule of a scheduler.

use evenhand_budget::{Limits, within};
use evenhand_exact::axiom::tree::{can_be_filled, has_size};
use evenhand_exact::tree::{Bound, ClassLimit, Forest};
use evenhand_exact::{Axiom, ClassMark, Evidence, Parameters, PlacePrices, Share, Tasks};
use evenhand_problem::groups::{GroupShare, Guarantees, ZeroWeight};
use evenhand_problem::{Allocation, Arithmetic, Constraints, Group, Problem, Rational, Sharing};

use super::entitlements::Entitlements;
use super::fill::{self, Filled, SoFar};
use super::rule::{PerResource, Rule};
use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::{Flag, Flags, SECONDS, Takes};
use crate::guarantees::Condition;
use crate::max_min;
use crate::mechanism::{Findings, Info, Late, Mechanism, Outcome, Status};
use crate::rounding;

/// The mechanism of hierarchical filling.
pub static TREE: Mechanism = Mechanism {
    info: &Info {
        id: "tree",
        aliases: &[],
        title: "Hierarchical filling",
        equalises: "among siblings, below their guarantees first: the share of the group over its weight",
        guarantees: "guarantees before anything else, within limits; exact, whatever the order of the file",
        reference: "theory, section 9; Bhattacharya et al., Hierarchical Scheduling for Diverse Datacenter Workloads",
    },
    proven: &[
        (Condition::Always, &[Axiom::WorkConserving, Axiom::Tree]),
        (Condition::KeptWithinLimits, &[Axiom::Limits]),
        (Condition::NothingHeldBack, &[Axiom::ParetoOptimal]),
    ],
    flags: &[RULE, NO_NOMINAL_FIRST, WHOLE, SECONDS],
    axiom: |allocation| allocation.rule.is_none().then(|| (Axiom::Tree, Parameters::default())),
    equals,
    joins: true,
    late: Late::Itself,
    solve: in_time,
};

/// The maximum number of users, times limits on server classes above them, times classes. The linear programme that
/// places tasks has this many entries of about 100 bytes each.
const MOST_COUNTED: usize = 10_000_000;

/// The flag that compares siblings by the share of a scheduler instead of the problem's own share.
pub(crate) const RULE: Flag = Flag {
    name: "rule",
    takes: Takes::Name("RULE", Rule::NAMES),
    help: "tree: share by which a scheduler compares siblings, instead of the problem's own; kai, volcano: \
        entitlements of groups, without tasks; fill: the same share by whole tasks",
};
/// The flag that leaves out phase 0, in which guarantees come first.
const NO_NOMINAL_FIRST: Flag = Flag {
    name: "no-nominal-first",
    takes: Takes::Nothing,
    help: "tree: guarantees do not come first; with --rule kueue: its tournament by shares alone",
};
/// The flag for entitlements in whole units.
const WHOLE: Flag = Flag {
    name: "whole",
    takes: Takes::Nothing,
    help: "tree: with --rule kai, entitlements in whole units, by largest remainder",
};

/// The settings of hierarchical filling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// The scheduler whose share is used instead of the problem's own share.
    pub rule: Option<Rule>,
    /// `true` if guarantees do not come first.
    pub no_nominal_first: bool,
    /// `true` if entitlements are whole units.
    pub whole: bool,
}

impl Settings {
    /// Returns the rule that an allocation names, or `None` for the problem's own rule.
    fn name(&self) -> Option<String> {
        let rule = self.rule.map(Rule::name);
        let first = self.no_nominal_first.then_some(NO_NOMINAL_FIRST.name);
        let parts: Vec<&str> =
            rule.into_iter().chain(first).chain(self.whole.then_some(WHOLE.name)).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    fn allocation(&self, arithmetic: Arithmetic, tasks: Tasks) -> Allocation {
        let mechanism = Some(TREE.info.id.to_owned());
        Allocation { mechanism, rule: self.name(), arithmetic, tasks, ..Allocation::default() }
    }
}

/// Returns how identical users are treated. Identical users of one group are merged, unless the answer is
/// entitlements, which are stated for each user.
fn equals(flags: &Flags) -> Result<Equals, MechanismError> {
    let rule: Option<Rule> = flags.value("rule")?;
    Ok(if rule.is_some_and(|rule| rule.per_resource().is_some()) { Equals::Apart } else { Equals::ByWeight })
}

/// Fills a problem by its own rule, and returns the result as evidence of the axiom `tree`.
///
/// # Errors
/// Returns a [`MechanismError`] in the same cases as [`allocate`].
pub fn filling(problem: &Problem) -> Result<Evidence, MechanismError> {
    let forest = forest_of(problem, &Settings::default())?;
    let Filled { tasks, bounds, .. } = filled(problem, &forest, &mut SoFar::new())?;
    let limits = &forest.class_limits.list;
    let rows = Constraints::new(problem, Sharing::Rdm).rows().len();
    let prices = |bound: Bound| {
        let mut prices = PlacePrices::default();
        for (at, price) in bound.prices {
            match at.checked_sub(rows) {
                None => prices.rows.push((at, Rational::from(price))),
                Some(at) => {
                    let ClassLimit { group, servers, resource, .. } = &limits[at];
                    let mark = ClassMark { group: *group, on: servers.clone(), resource: *resource };
                    prices.limits.push((mark, Rational::from(price)));
                }
            }
        }
        prices
    };
    Ok(Evidence::Filling { tasks, prices: bounds.into_iter().map(prices).collect() })
}

fn filled(problem: &Problem, forest: &Forest<'_>, so_far: &mut SoFar) -> Result<Filled, MechanismError> {
    let solver = |source| MechanismError::Solver { mechanism: TREE.info.id, source };
    fill::fill(problem, forest, so_far).map_err(solver)?.ok_or_else(|| {
        let why = "filling would take too many segments".to_owned();
        MechanismError::Limit { mechanism: TREE.info.id, why }
    })
}

/// Reads the settings from flags.
///
/// # Errors
/// Returns [`MechanismError::Unreadable`] if a flag cannot be read.
pub fn settings(flags: &Flags) -> Result<Settings, MechanismError> {
    Ok(Settings {
        rule: flags.value("rule")?,
        no_nominal_first: flags.is_set("no-nominal-first"),
        whole: flags.is_set("whole"),
    })
}

/// Computes the exact hierarchical filling of a problem. For a rule that divides every resource separately, the
/// result has entitlements and no tasks.
///
/// # Errors
/// Returns a [`MechanismError`] if the mechanism does not apply to the problem, the settings exclude each other, or a
/// linear programme could not be solved.
pub fn allocate(problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    allocate_noting(problem, settings, &mut SoFar::new())
}

/// Computes the result of [`allocate`], and records in `so_far` the tasks placed so far.
fn allocate_noting(
    problem: &Problem,
    settings: &Settings,
    so_far: &mut SoFar,
) -> Result<Outcome, MechanismError> {
    if let Some(entitlements) = entitlements(problem, settings)? {
        let nothing = settings.allocation(Arithmetic::Exact, vec![Vec::new(); problem.n_users()]);
        let findings = Findings { entitlements: Some(entitlements), ..Findings::default() };
        return Ok(Outcome { findings, ..Outcome::of(nothing) });
    }
    if is_drfh(problem, settings) {
        check(problem)?;
        let mut outcome = max_min::allocate(TREE.info, Share::Dominant, problem, Arithmetic::Exact)?;
        outcome.allocation.rule = settings.name();
        outcome.findings = Findings::default();
        return Ok(outcome);
    }
    let forest = forest_of(problem, settings)?;
    let filled = filled(problem, &forest, so_far)?;
    let mut outcome = Outcome::of(settings.allocation(Arithmetic::Exact, filled.tasks));
    outcome.findings.status = filled.is_late.then_some(Status::Limit);
    Ok(Outcome { rounds: filled.segments, programmes: filled.programmes, ..outcome })
}

/// Computes the answer for the flags. If the time is up first, returns the best answer that is known at that
/// time.
fn in_time(problem: &Problem, flags: &Flags) -> Result<Outcome, MechanismError> {
    let settings = settings(flags)?;
    let time = flags.seconds()?;
    if time.is_none() {
        return allocate(problem, &settings);
    }
    let mut so_far = SoFar::new();
    let limits = Limits { time, ..Limits::default() };
    let done = within(&limits, || allocate_noting(problem, &settings, &mut so_far));
    done.unwrap_or_else(|_| hurried(problem, &settings, so_far))
}

/// Returns the answer when the time is up: DRFH in doubles if the filling equals DRFH, or else the tasks placed so
/// far.
fn hurried(problem: &Problem, settings: &Settings, mut so_far: SoFar) -> Result<Outcome, MechanismError> {
    let mut outcome = if is_drfh(problem, settings) {
        max_min::allocate(TREE.info, Share::Dominant, problem, Arithmetic::Float)?
    } else {
        let arithmetic = if so_far.is_empty() { Arithmetic::Exact } else { Arithmetic::Float };
        so_far.resize_with(problem.n_users(), Vec::new);
        let tasks = rounding::feasible(&Constraints::new(problem, Sharing::Rdm), so_far);
        Outcome::of(settings.allocation(arithmetic, tasks))
    };
    outcome.allocation.rule = settings.name();
    outcome.findings.status = Some(Status::Limit);
    Ok(outcome)
}

/// Returns whether the filling equals DRFH, which needs no segments.
///
/// The filling equals DRFH if there are no groups and users are compared by their dominant shares. The settings for
/// guarantees and for a weight of 0 do not matter, since only groups have them.
fn is_drfh(problem: &Problem, settings: &Settings) -> bool {
    let (zero_weight, guarantees) = (ZeroWeight::default(), Guarantees::default());
    let plain = GroupShare { zero_weight, guarantees, ..share(problem, settings) };
    problem.groups().list().is_empty() && plain == GroupShare::default()
}

/// Returns the share by which siblings are compared.
fn share(problem: &Problem, settings: &Settings) -> GroupShare {
    let stated = problem.groups().share();
    settings.rule.map_or_else(|| stated.clone(), |rule| rule.share(stated))
}

/// Computes the entitlements of groups under a rule that divides every resource separately. Returns `None` for all
/// other rules.
///
/// # Errors
/// Returns a [`MechanismError`] in the same cases as [`allocate`].
pub fn entitlements(problem: &Problem, settings: &Settings) -> Result<Option<Entitlements>, MechanismError> {
    let refuse = |option: &'static str, why: &str| {
        Err(MechanismError::BadOption { mechanism: TREE.info.id, option, why: why.to_owned() })
    };
    match settings.rule.and_then(Rule::per_resource) {
        None if settings.whole => {
            refuse("whole", "only `--rule kai` rounds entitlements; whole tasks are placed by `fill`")
        }
        None => Ok(None),
        Some(PerResource::Volcano | PerResource::VolcanoCapacity) if settings.whole => {
            refuse("whole", "volcano does not round")
        }
        Some(_) if settings.no_nominal_first => {
            refuse("no-nominal-first", "the rule puts guarantees first by itself")
        }
        Some(rule) => {
            check(problem)?;
            without_class_limits(problem, TREE.info.id, "it divides every resource separately")?;
            let too_long = || MechanismError::Limit {
                mechanism: TREE.info.id,
                why: "rounding would take too many rounds".to_owned(),
            };
            Entitlements::new(problem, rule, settings.whole).ok_or_else(too_long).map(Some)
        }
    }
}

/// Checks that the problem can be filled hierarchically.
fn check(problem: &Problem) -> Result<(), MechanismError> {
    if let Err(why) = can_be_filled(problem) {
        return Err(MechanismError::NotApplicable { mechanism: TREE.info.id, why: why.to_string() });
    }
    has_size(problem)
        .map_err(|error| MechanismError::Limit { mechanism: TREE.info.id, why: error.to_string() })?;
    check_class_limits(problem)
}

/// Checks that there are not too many limits on server classes.
fn check_class_limits(problem: &Problem) -> Result<(), MechanismError> {
    let groups = problem.groups();
    if !groups.limit_classes() {
        return Ok(());
    }
    let limits = |group: &Group| group.on.iter().map(|on| on.limit.len()).sum::<usize>();
    let of_group: Vec<usize> = groups.list().iter().map(limits).collect();
    let of_user = |n: usize| groups.above(groups.member(n).group).map(|v| of_group[v]).sum::<usize>();
    let all = (0..problem.n_users()).map(of_user).fold(0, usize::saturating_add);
    if all.saturating_mul(problem.n_servers()) > MOST_COUNTED {
        let why = format!(
            "users, times limits on server classes above them, times classes, are more than {MOST_COUNTED}"
        );
        return Err(MechanismError::Limit { mechanism: TREE.info.id, why });
    }
    Ok(())
}

/// Checks that no group has a limit on server classes.
pub(super) fn without_class_limits(
    problem: &Problem,
    mechanism: &'static str,
    why: &str,
) -> Result<(), MechanismError> {
    if !problem.groups().limit_classes() {
        return Ok(());
    }
    let why = format!("groups have limits on server classes (`on`), and {why}");
    Err(MechanismError::NotApplicable { mechanism, why })
}

/// Returns the tree of a problem for the given settings.
pub(super) fn forest_of<'p>(problem: &'p Problem, settings: &Settings) -> Result<Forest<'p>, MechanismError> {
    check(problem)?;
    let mut share = share(problem, settings);
    if settings.no_nominal_first {
        share.guarantees = Guarantees::Compared;
    }
    Ok(Forest::new(problem, share))
}
