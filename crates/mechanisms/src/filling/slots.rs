//! The slot scheduler with which the DRFH paper compares its mechanism (Table II; docs/theory.md, section 5).
//!
//! Let `cmax_r` be the largest capacity of `r` on one server, and `S` the number of slots of the largest
//! server. A server has `floor(S min_r c_r / cmax_r)` slots, and a task takes `ceil(S max_r d_r / cmax_r)`
//! slots. Resources that no server has are ignored. The user with the fewest slots divided by its weight is
//! served next, and its task goes on the first server with enough free slots. Slots do not promise amounts of
//! resources, but a task that fits in slots also fits in resources. The slots of a task are never less than
//! its fraction of the largest server, and the slots of a server are never more than the server's own
//! fraction.

use evenhand_exact::Axiom;
use evenhand_problem::{Allocation, Problem, Quantities, Rational};
use rug::Integer;

use super::digits::{Narrow, Wide};
use super::draw::Draw;
use super::mechanism::whole_tasks;
use super::model::TooMany;
use super::prepared::{MAX_SERVERS, Prepared, PreparedUser};
use super::rule::{Rule, TIES, Ties};
use super::run::{Filled, filled, late};
use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::{Flag, SECONDS, Takes};
use crate::guarantees::Condition;
use crate::mechanism::{Info, Late, Mechanism};

/// The maximum number of slots of the largest server. More slots would be finer than any demand.
const MAX_SLOTS: u64 = 1_000_000_000;
/// The maximum number of bits of the number of slots that a user may use.
const HELD_BITS: u32 = 57;

/// The mechanism that places tasks by slots.
pub static SLOTS: Mechanism = Mechanism {
    info: &Info {
        id: "slots",
        aliases: &[],
        title: "Slots",
        equalises: "slots of user n / w_n, by whole tasks, first fit",
        guarantees: "whole tasks on single servers; slots as equal as one task allows where every task fits everywhere",
        reference: "DRFH, section VI and Table II; theory, section 5",
    },
    proven: &[(Condition::Always, &[Axiom::IntegerFeasible])],
    flags: &[
        TIES,
        SECONDS,
        Flag { name: "slots", takes: Takes::Count("S"), help: "slots: slots of the largest server" },
    ],
    axiom: whole_tasks,
    equals: |_| Ok(Equals::Apart),
    joins: false,
    late: Late::Placed,
    solve: |problem, flags| {
        let needs = MechanismError::NeedsOption { mechanism: SLOTS.info.id, option: "slots" };
        let slots = flags.value("slots")?.ok_or(needs)?;
        let ties = flags.value("ties")?.unwrap_or_default();
        slots_in_time(problem, slots, ties, flags.seed).map(|filled| filled.outcome(None))
    },
};

/// Returns the number of slots of one server of each class if the largest server is divided into `slots`.
#[must_use]
pub fn slots_of_servers(problem: &Problem, slots: u64) -> Vec<u64> {
    let largest = largest(problem);
    let of = |capacity: &Quantities| {
        let parts = capacity.iter().zip(&largest).filter(|(_, most)| !most.is_zero());
        let least = parts.map(|(c, most)| Rational::from(c / most)).min().unwrap_or_default();
        (least * slots).floor().numer().to_u64().unwrap_or(0)
    };
    problem.servers().iter().map(|server| of(server.capacity())).collect()
}

/// Returns the number of slots that a task of user `n` takes on class `i`, or `None` if the user may not run
/// there.
fn slots_of_task(problem: &Problem, largest: &[Rational], slots: u64, n: usize, i: usize) -> Option<Integer> {
    if !problem.can_run(n, i) {
        return None;
    }
    let demand = problem.demand(n, i).iter().zip(largest).filter(|(_, most)| !most.is_zero());
    let most = demand.map(|(d, most)| Rational::from(d / most)).max().unwrap_or_default();
    Some((most * slots).ceil().into_numer_denom().0)
}

/// Returns the largest capacity of one server for each resource.
fn largest(problem: &Problem) -> Vec<Rational> {
    let of = |r: usize| problem.servers().iter().map(|server| &server.capacity()[r]).max();
    (0..problem.n_resources()).map(|r| of(r).cloned().unwrap_or_default()).collect()
}

/// Fills the slots of all servers. The largest server has `slots` slots.
///
/// # Errors
/// Returns [`MechanismError::NotApplicable`] if a class is shared by time, [`MechanismError::BadOption`]
/// unless there are 1 to 1,000,000,000 slots, and [`MechanismError::Limit`] in the same cases as
/// [`fill`](super::fill()).
pub fn slot_allocation(
    problem: &Problem,
    slots: u64,
    ties: Ties,
    seed: u64,
) -> Result<Allocation, MechanismError> {
    match slots_in_time(problem, slots, ties, seed)? {
        Filled { is_late: true, .. } => Err(late(SLOTS.info.id)),
        filled => Ok(filled.allocation),
    }
}

/// Fills slots as [`slot_allocation`] does. Returns the tasks placed so far if the time limit in force is
/// reached.
fn slots_in_time(problem: &Problem, slots: u64, ties: Ties, seed: u64) -> Result<Filled, MechanismError> {
    refuse(problem, slots)?;
    let prepared = prepared(problem, slots);
    let (rule, mut draw) = (Rule { ties, ..Rule::default() }, Draw::new(seed, 0));
    let (one, id) = (Rational::from(1), SLOTS.info.id);
    let filled = match is_narrow(&prepared) {
        true => filled::<Narrow>(problem, &prepared, rule, &one, &mut draw, id),
        false => filled::<Wide>(problem, &prepared, rule, &one, &mut draw, id),
    };
    filled.map_err(|TooMany(steps)| MechanismError::Limit {
        mechanism: SLOTS.info.id,
        why: format!("more than {steps} tasks fit"),
    })
}

/// Returns whether machine integers can represent every number of slots that a user may use.
pub(super) fn is_narrow(prepared: &Prepared) -> bool {
    prepared.widths.numerator + HELD_BITS <= 127 && prepared.widths.denominator <= 127
}

/// Returns the problem in slots for tasks that arrive and finish. A task must take the same number of slots
/// everywhere, so that the slots of a user are a multiple of its tasks.
pub(super) fn prepared_for_churn(problem: &Problem, slots: u64) -> Result<Prepared, MechanismError> {
    refuse(problem, slots)?;
    let prepared = prepared(problem, slots);
    if let Some(user) = prepared.users.iter().find(|user| user.demands.len() > 1) {
        let name = problem.users()[user.index].name();
        let why = format!("user `{name}` takes more slots on some servers than on others");
        return Err(MechanismError::NotApplicable { mechanism: SLOTS.info.id, why });
    }
    Ok(prepared)
}

/// Refuses problems for which slots are not defined.
fn refuse(problem: &Problem, slots: u64) -> Result<(), MechanismError> {
    let mechanism = SLOTS.info.id;
    if let Some(server) = problem.servers().iter().find(|server| server.is_time_shared()) {
        let name = server.name();
        let why = format!(
            "slots divide resources, but server `{name}` is shared by time (a user states gamma there)"
        );
        return Err(MechanismError::NotApplicable { mechanism, why });
    }
    if !(1..=MAX_SLOTS).contains(&slots) {
        let why = format!("found {slots}: expected an integer from 1 to {MAX_SLOTS}");
        return Err(MechanismError::BadOption { mechanism, option: "slots", why });
    }
    let n_servers = problem.n_single_servers();
    if n_servers > u128::from(MAX_SERVERS) {
        let why = format!("the problem has {n_servers} servers, more than {MAX_SERVERS}");
        return Err(MechanismError::Limit { mechanism, why });
    }
    Ok(())
}

/// Returns the problem with slots as its only resource. The score of one slot is `1 / w_n`.
fn prepared(problem: &Problem, slots: u64) -> Prepared {
    let largest = largest(problem);
    let per_server = slots_of_servers(problem, slots);
    let mut users = Vec::new();
    for index in (0..problem.n_users()).filter(|&n| problem.is_active(n)) {
        let user = &problem.users()[index];
        let whole = user.tasks().map(|tasks| Rational::from(tasks.floor_ref()));
        let limit = whole.and_then(|tasks| tasks.numer().to_u64()).unwrap_or(u64::MAX);
        let mut demands: Vec<Vec<Integer>> = Vec::new();
        let demand_on = per_server.iter().enumerate().map(|(i, &there)| {
            let taken = slots_of_task(problem, &largest, slots, index, i).filter(|taken| *taken <= there)?;
            let at = demands.iter().position(|known| known[0] == taken).unwrap_or_else(|| {
                demands.push(vec![taken]);
                demands.len() - 1
            });
            Some(at as u32)
        });
        let demand_on: Vec<Option<u32>> = demand_on.collect();
        if limit > 0 && !demands.is_empty() {
            let units = vec![user.weight().clone().recip()];
            let counts = demands.iter().map(|taken| taken[0].to_u64().unwrap_or(0)).collect();
            let weight = Integer::from(1);
            users.push(PreparedUser { index, limit, weight, units, demands, counts, demand_on });
        }
    }
    Prepared::of_rows(
        problem.servers().iter().map(|server| server.count() as usize).collect(),
        per_server.into_iter().map(|there| vec![Integer::from(there)]).collect(),
        users,
    )
}
