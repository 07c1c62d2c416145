//! Makes a scheduler by the policy that is asked for.

use evenhand_problem::{Problem, Rational};

use super::digits::{Digits, Narrow, Wide};
use super::draw::Draw;
use super::model::Model;
use super::ongoing::Ongoing;
use super::prepared::Prepared;
use super::rule::{Rule, Ties};
use super::run::{INFO, prepare};
use super::scheduler::Scheduler;
use super::slots;
use crate::error::MechanismError;
use crate::tree::{self, TreePolicy};

/// How tasks are placed as they come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Progressive filling by a rule. Best fit compares only servers on which the task fits.
    Fill(Rule),
    /// Slots, the largest server divided into so many.
    Slots {
        /// Slots of the largest server.
        slots: u64,
        /// Who is preferred among equals.
        ties: Ties,
    },
    /// Whole tasks by the tree of groups, each gang on the first servers on which it fits.
    Tree(TreePolicy),
}

/// Makes a scheduler for the servers and users of `problem`, whose numbers of tasks do not matter, and
/// hands it to `body`. The same tasks at the same times with the same seed are placed in the same way, as
/// a plain scan of all users and servers would.
///
/// # Errors
/// As [`fill`](super::fill()) and [`slot_allocation`](super::slot_allocation); [`MechanismError::BadOption`]
/// for best fit among servers on which the task does not fit.
///
/// # Examples
/// ```
/// use evenhand_mechanisms::filling::{Policy, Rule, schedule};
/// use evenhand_problem::format::Source;
///
/// let problem = Source { name: "two", text: r#"{"kind": "allocation-problem", "resources": ["cpu"],
///     "servers": [{"name": "small", "capacity": {"cpu": 1}}, {"name": "large", "capacity": {"cpu": 2}}],
///     "users": [{"name": "a", "demand": {"cpu": 1}}, {"name": "b", "demand": {"cpu": 2}}]}"# }.problem()?;
/// schedule(&problem, Policy::Fill(Rule::default()), 0, |scheduler| {
///     let mut placed = Vec::new();
///     scheduler.submit(0, 2);
///     scheduler.submit(1, 1);
///     scheduler.fill(&mut placed)?;
///     assert_eq!(placed, [(0, 0), (1, 1)]);
///     scheduler.release(1, 1);
///     scheduler.fill(&mut placed)?;
///     assert_eq!(placed, [(0, 1)]);
///     Ok::<(), evenhand_mechanisms::MechanismError>(())
/// })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn schedule<R>(
    problem: &Problem,
    policy: Policy,
    seed: u64,
    body: impl FnOnce(&mut dyn Scheduler) -> R,
) -> Result<R, MechanismError> {
    schedule_among(problem, problem, policy, seed, body)
}

/// The same on a cluster that changes ([`Scheduler::close`], [`Scheduler::open`]): `problem` has the servers that
/// are ever there, `whole` those that shares are parts of (`C_r`, and the tasks of a user alone), for the same
/// resources, users and groups. Best fit compares parts of those too. Slots, and shares of single servers, are of
/// the servers of `problem`.
///
/// # Errors
/// As [`schedule`]; [`MechanismError::NotApplicable`] for a user that fits on some server of `problem`, and on none
/// of `whole`.
pub fn schedule_among<R>(
    problem: &Problem,
    whole: &Problem,
    policy: Policy,
    seed: u64,
    body: impl FnOnce(&mut dyn Scheduler) -> R,
) -> Result<R, MechanismError> {
    let has_no_share = |n: &usize| problem.is_active(*n) && !whole.is_active(*n);
    if let Some(n) = (0..problem.n_users()).find(has_no_share) {
        let name = problem.users()[n].name();
        let why = format!("user `{name}` fits on none of the servers that shares are parts of");
        return Err(MechanismError::NotApplicable { mechanism: policy.mechanism(), why });
    }
    let (prepared, rule, is_narrow) = match policy {
        Policy::Tree(policy) => return tree::schedule(problem, whole, policy, seed, body),
        Policy::Fill(Rule { unfiltered: true, .. }) => {
            let why = "tasks that come and go are placed on servers on which they fit".to_owned();
            return Err(MechanismError::BadOption { mechanism: "fill", option: "unfiltered", why });
        }
        Policy::Fill(rule) => {
            let prepared = prepare(problem, whole, rule, &Rational::from(1))?;
            let is_narrow = prepared.widths.are_narrow();
            (prepared, rule, is_narrow)
        }
        Policy::Slots { slots, ties } => {
            let prepared = slots::prepared_for_churn(problem, slots)?;
            let is_narrow = slots::is_narrow(&prepared);
            (prepared, Rule { ties, ..Rule::default() }, is_narrow)
        }
    };
    Ok(match is_narrow {
        true => run::<Narrow, R>(problem, &prepared, rule, seed, body),
        false => run::<Wide, R>(problem, &prepared, rule, seed, body),
    })
}

fn run<D: Digits, R>(
    problem: &Problem,
    prepared: &Prepared,
    rule: Rule,
    seed: u64,
    body: impl FnOnce(&mut dyn Scheduler) -> R,
) -> R {
    let model = Model::<D>::new(prepared, rule);
    body(&mut Ongoing::new(&model, problem.n_users(), Draw::new(seed, 0)))
}

impl Policy {
    /// Its name on the command line.
    #[must_use]
    pub fn mechanism(&self) -> &'static str {
        match self {
            Self::Fill(_) => INFO.id,
            Self::Slots { .. } => slots::SLOTS.info.id,
            Self::Tree(_) => tree::TREE.info.id,
        }
    }
}
