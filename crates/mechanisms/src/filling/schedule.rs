//! The creation of a scheduler for a policy.

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

/// The policy by which tasks that come and go are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Policy {
    /// Progressive filling by a rule. Best fit compares only servers with enough free capacity for the task.
    Fill(Rule),
    /// Filling by slots. The largest server has a given number of slots.
    Slots {
        /// The number of slots of the largest server.
        slots: u64,
        /// The preference among equals.
        ties: Ties,
    },
    /// Whole tasks by the tree of groups. Each gang goes on the first servers with enough free capacity for
    /// it.
    Tree(TreePolicy),
}

/// Creates a scheduler for the servers and users of `problem`, and passes it to `body`. The users' numbers of tasks
/// in `problem` are ignored.
///
/// The same tasks at the same times with the same seed are always placed in the same way. The result is the same as
/// from a plain scan of all users and servers.
///
/// # Errors
/// Returns an error in the same cases as [`fill`](super::fill()) and [`slot_allocation`](super::slot_allocation), and
/// [`MechanismError::BadOption`] for best fit with servers on which the task does not fit.
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

/// Creates a scheduler as [`schedule`] does, for a cluster whose servers change ([`Scheduler::close`],
/// [`Scheduler::open`]).
///
/// `problem` has all servers that ever exist. `whole` has the servers whose total capacity defines shares (`C_r`, and
/// the tasks of a user alone), with the same resources, users and groups. Best fit also compares fractions of these
/// servers. Slots, and shares of single servers, refer to the servers of `problem`.
///
/// # Errors
/// Returns an error in the same cases as [`schedule`], and [`MechanismError::NotApplicable`] for a user that fits on
/// some server of `problem` but on none of `whole`.
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
        let why = format!("no task of user `{name}` fits on the servers that shares are fractions of");
        return Err(MechanismError::NotApplicable { mechanism: policy.mechanism(), why });
    }
    let (prepared, rule, is_narrow) = match policy {
        Policy::Tree(policy) => return tree::schedule(problem, whole, policy, seed, body),
        Policy::Fill(Rule { unfiltered: true, .. }) => {
            let why = "tasks that arrive and end can be placed only on servers on which they fit".to_owned();
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
    /// Returns the policy's name on the command line.
    #[must_use]
    pub fn mechanism(&self) -> &'static str {
        match self {
            Self::Fill(_) => INFO.id,
            Self::Slots { .. } => slots::SLOTS.info.id,
            Self::Tree(_) => tree::TREE.info.id,
        }
    }
}
