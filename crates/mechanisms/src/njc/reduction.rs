//! `--reduce`: the answer of a smaller problem with the same NJC answers, by the simplifications of NJC, section 5.1, for
//! one server.
//!
//! * A resource that all users together cannot use up cannot be a bottleneck, and is left out.
//! * A user that demands less than its entitlement of every resource gets all its tasks. The other users share the rest
//!   of the server. The entitlements of the remaining users grow by a larger factor than their requests relative to the
//!   rest.
//! * A resource whose capacity can never be exceeded because of the other capacities is left out. An exact linear
//!   programme decides this.
//!
//! Every answer of the smaller problem, with the tasks of the satisfied users added, is an answer of the whole
//! problem. In exact arithmetic, a check on the whole problem confirms it.

use std::collections::BTreeMap;

use evenhand_exact::Instance;
use evenhand_exact::axiom::njc::examine;
use evenhand_levels::LevelsError;
use evenhand_levels::njc::Tasks;
use evenhand_levels::weighted_sum::{SumGoal, maximise_sum};
use evenhand_problem::{
    Arithmetic, Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec,
};

use super::Settings;
use super::answer::{INFO, accept, allocation, saturated};
use crate::error::MechanismError;
use crate::mechanism::{Findings, Outcome};

/// The fraction of a row that may be free for the row to count as a bottleneck of an answer in doubles.
const ROUNDING: (u32, u32) = (1, 1_000_000_000);

/// A smaller problem, and the users that were removed from the original one because they get all their tasks.
#[derive(Debug, Clone)]
struct Reduction {
    /// The problem of the remaining users, or `None` if no users remain.
    problem: Option<Problem>,
    /// The index in the whole problem of each user of the smaller problem.
    users: Vec<usize>,
    /// The users that get all their tasks.
    satisfied: Vec<usize>,
}

/// Solves the smaller problem and adds the tasks of the users that the reduction removed.
pub fn allocate(
    constraints: &Constraints<'_>,
    settings: &Settings,
) -> Option<Result<Outcome, MechanismError>> {
    settings.reduce.then(|| allocate_reduced(constraints.problem(), settings))
}

fn allocate_reduced(problem: &Problem, settings: &Settings) -> Result<Outcome, MechanismError> {
    let solver = |source| MechanismError::Solver { mechanism: INFO.id, source };
    let reduction = reduce(problem).map_err(solver)?.ok_or_else(|| {
        let why = "the reduction is for one server with divided resources".to_owned();
        MechanismError::NotApplicable { mechanism: INFO.id, why }
    })?;
    let mut tasks: Tasks = vec![Vec::new(); problem.n_users()];
    for &n in &reduction.satisfied {
        tasks[n] = problem.users()[n].tasks().map(|limit| vec![(0, limit.clone())]).unwrap_or_default();
    }
    let mut status = None;
    let mut iterations = None;
    if let Some(smaller) = &reduction.problem {
        let outcome = super::allocate(smaller, &Settings { reduce: false, ..settings.clone() })?;
        (status, iterations) = (outcome.findings.status, outcome.findings.iterations);
        for (&n, list) in reduction.users.iter().zip(outcome.allocation.tasks) {
            tasks[n] = list;
        }
    }
    if settings.arithmetic == Arithmetic::Exact {
        return accept(problem, tasks).ok_or_else(|| MechanismError::NotFound {
            mechanism: INFO.id,
            why: "the answer of the reduced problem does not pass the exact check".to_owned(),
        });
    }
    let allocation = allocation(tasks, Arithmetic::Float);
    let instance = Instance::new(problem, &allocation).ok();
    let witnesses = instance.as_ref().and_then(examine).map(|found| found.witnesses);
    let bottlenecks = instance.map(|instance| saturated(&instance, &Rational::from(ROUNDING)));
    let findings = Findings { witnesses, bottlenecks, status, iterations, ..Findings::default() };
    Ok(Outcome { findings, ..Outcome::of(allocation) })
}

/// Reduces a problem of one server with divided resources. Returns `None` for any other problem.
///
/// # Errors
/// Returns [`LevelsError`] if a linear programme that compares resources cannot be solved.
fn reduce(problem: &Problem) -> Result<Option<Reduction>, LevelsError> {
    let [server] = problem.servers() else { return Ok(None) };
    if server.is_time_shared() {
        return Ok(None);
    }
    let mut remaining = Remaining {
        problem,
        capacity: problem.total_capacity().to_vec(),
        can_saturate: problem.total_capacity().iter().map(|capacity| !capacity.is_zero()).collect(),
        users: (0..problem.n_users()).filter(|&n| problem.is_active(n)).collect(),
        satisfied: Vec::new(),
    };
    while remaining.drop_resources() || remaining.satisfy_users() {}
    remaining.drop_implied()?;
    Ok(Some(remaining.finish()))
}

/// The remaining resources and users.
struct Remaining<'a> {
    problem: &'a Problem,
    /// The capacity of every resource that the removed users leave.
    capacity: Vec<Rational>,
    /// One entry for each resource: `true` if the resource can still be a bottleneck.
    can_saturate: Vec<bool>,
    users: Vec<usize>,
    satisfied: Vec<usize>,
}

impl Remaining<'_> {
    fn demand(&self, n: usize, r: usize) -> &Rational {
        &self.problem.demand(n, 0)[r]
    }

    fn tasks(&self, n: usize) -> Option<&Rational> {
        self.problem.users()[n].tasks()
    }

    fn resources(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.can_saturate.len()).filter(|&r| self.can_saturate[r])
    }

    /// Leaves out one resource that all users together cannot use up. Returns whether there was such a
    /// resource.
    fn drop_resources(&mut self) -> bool {
        let unused = self.resources().find(|&r| {
            let mut used = Rational::new();
            self.users.iter().filter(|n| !self.demand(**n, r).is_zero()).all(|&n| match self.tasks(n) {
                Some(tasks) => {
                    used += Rational::from(tasks * self.demand(n, r));
                    used <= self.capacity[r]
                }
                None => false,
            })
        });
        if let Some(r) = unused {
            self.can_saturate[r] = false;
        }
        unused.is_some()
    }

    /// Gives all its tasks to one user that demands less than its entitlement of every resource. Returns
    /// whether there was such a user.
    fn satisfy_users(&mut self) -> bool {
        let weight: Rational = self.users.iter().map(|&n| self.problem.users()[n].weight()).sum();
        let modest = self.users.iter().position(|&n| {
            self.tasks(n).is_some_and(|tasks| {
                let entitlement = Rational::from(self.problem.users()[n].weight() / &weight);
                self.resources().all(|r| {
                    Rational::from(tasks * self.demand(n, r))
                        < Rational::from(&entitlement * &self.capacity[r])
                })
            })
        });
        let Some(position) = modest else { return false };
        let n = self.users.remove(position);
        if let Some(tasks) = self.tasks(n).cloned() {
            for r in 0..self.capacity.len() {
                self.capacity[r] -= Rational::from(&tasks * &self.problem.demand(n, 0)[r]);
            }
        }
        self.satisfied.push(n);
        true
    }

    /// Leaves out resources whose capacity is implied by the other capacities.
    fn drop_implied(&mut self) -> Result<(), LevelsError> {
        for r in self.resources().collect::<Vec<usize>>() {
            self.can_saturate[r] = false;
            self.can_saturate[r] = !self.is_implied(r)?;
        }
        Ok(())
    }

    /// Returns whether the users cannot exceed the capacity of resource `r` while they respect the other remaining
    /// capacities.
    fn is_implied(&self, r: usize) -> Result<bool, LevelsError> {
        let users: Vec<usize> =
            self.users.iter().copied().filter(|&n| !self.demand(n, r).is_zero()).collect();
        let is_limited = |n: usize| self.resources().any(|other| !self.demand(n, other).is_zero());
        let mut most = Rational::new();
        let mut limited = Vec::new();
        for n in users {
            match (is_limited(n), self.tasks(n)) {
                (true, _) => limited.push(n),
                (false, Some(tasks)) => most += Rational::from(tasks * self.demand(n, r)),
                (false, None) => return Ok(false),
            }
        }
        if let Some(problem) = self.problem_of(&limited) {
            let worth: Vec<Rational> = limited.iter().map(|&n| self.demand(n, r).clone()).collect();
            let constraints = Constraints::new(&problem, Sharing::Rdm);
            let optimum = maximise_sum(&constraints, SumGoal::of(&worth))?;
            let totals = optimum.tasks.iter().map(|list| list.iter().map(|(_, x)| x).sum::<Rational>());
            most += worth.iter().zip(totals).map(|(worth, total)| worth * total).sum::<Rational>();
        }
        Ok(most <= self.capacity[r])
    }

    fn finish(mut self) -> Reduction {
        // A user that demands only resources that cannot be bottlenecks gets all its tasks.
        let (users, free) = std::mem::take(&mut self.users)
            .into_iter()
            .partition(|&n| self.resources().any(|r| !self.demand(n, r).is_zero()));
        self.users = users;
        self.satisfied.extend::<Vec<usize>>(free);
        self.satisfied.sort_unstable();
        Reduction { problem: self.problem_of(&self.users), users: self.users, satisfied: self.satisfied }
    }

    /// Returns the problem of `users` with the remaining resources and the remaining capacity of the server.
    fn problem_of(&self, users: &[usize]) -> Option<Problem> {
        let named = |value: &dyn Fn(usize) -> Rational| -> BTreeMap<usize, Rational> {
            self.resources().map(|r| (r, value(r))).collect()
        };
        let names = self.problem.resources();
        let pairs = |values: BTreeMap<usize, Rational>| {
            values.into_iter().map(|(r, value)| (names[r].clone(), value)).collect()
        };
        let stated = |&n: &usize| {
            let user = &self.problem.users()[n];
            UserSpec {
                name: user.name().to_owned(),
                weight: Some(user.weight().clone()),
                tasks: user.tasks().cloned(),
                demand: pairs(named(&|r| self.demand(n, r).clone())),
                ..UserSpec::default()
            }
        };
        let server = ServerSpec {
            name: self.problem.servers()[0].name().to_owned(),
            count: None,
            capacity: pairs(named(&|r| self.capacity[r].clone())),
        };
        let spec = ProblemSpec {
            resources: self.resources().map(|r| names[r].clone()).collect(),
            servers: vec![server],
            users: users.iter().map(stated).collect(),
            ..ProblemSpec::default()
        };
        if users.is_empty() { None } else { Problem::new(spec).ok() }
    }
}
