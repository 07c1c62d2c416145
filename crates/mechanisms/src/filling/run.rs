//! One filling, from the problem to the allocation.

use evenhand_problem::{Allocation, Arithmetic, Placement, Problem, Rational, Sharing};

use super::digits::{Digits, Narrow, Wide};
use super::draw::Draw;
use super::model::{Model, State, TooMany};
use super::prepared::{Prepared, Refusal};
use super::rule::{Order, Rule, ServerRule};
use super::{proposals, server_first, user_first};
use crate::error::MechanismError;
use crate::mechanism::{Findings, Info, Integrality, Outcome, Status};

pub(super) static INFO: Info = Info {
    id: "fill",
    aliases: &[],
    title: "Progressive filling",
    equalises: "the score named, by whole tasks: the least is served next",
    guarantees: "whole tasks on single servers; as fair as one task allows where every task fits everywhere",
    reference: "DRFH, section V-B; Kesidis, sections IV and VI; theory, section 5; proofs, section 8",
};

/// Fills the servers of `problem` by steps of `step` tasks until nothing fits.
///
/// With steps of one task, every task is whole and on one server. A user with finite tasks gets as many steps as fit
/// into them. `seed` determines the random choices.
///
/// # Errors
/// Returns [`MechanismError::NotApplicable`] if the rule does not apply, [`MechanismError::BadOption`] for a step
/// that is not positive or `unfiltered` without best fit, and [`MechanismError::Limit`] beyond 4,000,000 servers or
/// 100,000,000 steps (2,000,000 if numbers are too long for machine integers).
pub fn fill(problem: &Problem, rule: Rule, step: &Rational, seed: u64) -> Result<Allocation, MechanismError> {
    match fill_in_time(problem, rule, step, seed)? {
        Filled { is_late: true, .. } => Err(late(INFO.id)),
        filled => Ok(filled.allocation),
    }
}

/// Returns the error for a filling that the time limit cut off, for callers that need a complete filling.
pub fn late(mechanism: &'static str) -> MechanismError {
    MechanismError::Limit {
        mechanism,
        why: "the time was up while more tasks could still be placed".to_owned(),
    }
}

/// A filling, and whether the time was up before it was complete.
pub struct Filled {
    pub allocation: Allocation,
    pub is_late: bool,
}

impl Filled {
    /// Converts the filling to an outcome. The status is `limit` if the time was up.
    pub(super) fn outcome(self, integrality: Option<Integrality>) -> Outcome {
        let status = self.is_late.then_some(Status::Limit);
        let findings = Findings { integrality, status, ..Findings::default() };
        Outcome { findings, ..Outcome::of(self.allocation) }
    }
}

/// Fills as [`fill`] does. Returns the steps placed so far if the time limit in force is reached.
pub(super) fn fill_in_time(
    problem: &Problem,
    rule: Rule,
    step: &Rational,
    seed: u64,
) -> Result<Filled, MechanismError> {
    let prepared = prepare(problem, problem, rule, step)?;
    let mut draw = Draw::new(seed, 0);
    let filled = match prepared.widths.are_narrow() {
        true => filled::<Narrow>(problem, &prepared, rule, step, &mut draw, INFO.id),
        false => filled::<Wide>(problem, &prepared, rule, step, &mut draw, INFO.id),
    };
    filled.map_err(too_many)
}

/// Converts the problem to integers. Shares are fractions of the capacity of `whole`.
pub(super) fn prepare(
    problem: &Problem,
    whole: &Problem,
    rule: Rule,
    step: &Rational,
) -> Result<Prepared, MechanismError> {
    let bad =
        |option, why: &str| MechanismError::BadOption { mechanism: INFO.id, option, why: why.to_owned() };
    if *step <= 0 {
        return Err(bad("step", "the fraction of a task must be above 0"));
    }
    if rule.unfiltered && rule.server != ServerRule::BestFit {
        return Err(bad("unfiltered", "only best fit can compare servers on which a task does not fit"));
    }
    Prepared::new(problem, whole, rule, step).map_err(|refusal| match refusal {
        Refusal::NotApplicable(why) => MechanismError::NotApplicable { mechanism: INFO.id, why },
        Refusal::Limit(why) => MechanismError::Limit { mechanism: INFO.id, why },
    })
}

pub(super) fn too_many(TooMany(steps): TooMany) -> MechanismError {
    let why = format!("more than {steps} steps fit, the most that are placed one by one");
    MechanismError::Limit { mechanism: INFO.id, why }
}

/// Fills with one kind of numbers.
pub(super) fn filled<D: Digits>(
    problem: &Problem,
    prepared: &Prepared,
    rule: Rule,
    step: &Rational,
    draw: &mut Draw,
    mechanism: &str,
) -> Result<Filled, TooMany> {
    let model = Model::<D>::new(prepared, rule);
    let mut state = State::new(&model);
    let is_late = match run(&mut state, draw) {
        Ok(()) => false,
        Err(TooMany(steps)) if steps < D::MOST_STEPS => true,
        Err(error) => return Err(error),
    };
    Ok(Filled { allocation: allocation(problem, &state, step, mechanism), is_late })
}

/// Fills until nothing fits.
pub(super) fn run<D: Digits>(state: &mut State<'_, D>, draw: &mut Draw) -> Result<(), TooMany> {
    match state.model.rule.order() {
        Order::UserFirst => user_first::fill(state, draw),
        Order::ServerFirst => server_first::fill(state, draw),
        Order::Proposals => proposals::fill(state, draw),
    }
}

/// Returns the allocation of the placed steps.
fn allocation<D: Digits>(
    problem: &Problem,
    state: &State<'_, D>,
    step: &Rational,
    mechanism: &str,
) -> Allocation {
    let model = state.model;
    let mut tasks: Vec<Vec<(usize, u64)>> = vec![Vec::new(); problem.n_users()];
    let mut placements = Vec::new();
    for (j, placed) in state.placed().iter().enumerate().filter(|(_, placed)| !placed.is_empty()) {
        let server = model.class[j] as usize;
        for &(n, steps) in placed {
            let on = &mut tasks[model.users[n as usize].index];
            match on.last_mut() {
                Some((class, sum)) if *class == server => *sum += steps,
                _ => on.push((server, steps)),
            }
        }
        let placed =
            placed.iter().map(|&(n, steps)| (model.users[n as usize].index, Rational::from(step * steps)));
        let index = (j - model.first_server[server]) as u64;
        placements.push(Placement { server, index, tasks: placed.collect() });
    }
    let in_tasks =
        |row: Vec<(usize, u64)>| row.into_iter().map(|(i, s)| (i, Rational::from(step * s))).collect();
    Allocation {
        mechanism: Some(mechanism.to_owned()),
        arithmetic: Arithmetic::Exact,
        tasks: tasks.into_iter().map(in_tasks).collect(),
        placements: Some(placements),
        ..Allocation::empty(problem.n_users(), Sharing::Rdm)
    }
}
