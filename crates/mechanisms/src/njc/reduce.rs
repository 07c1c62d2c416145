//! Reduces a problem of one server to a smaller one with the same NJC answers: the simplifications of NJC,
//! section 5.1.
//!
//! * A resource that all users together do not use up cannot be a bottleneck, and is left out.
//! * A user that asks for less than its entitlement of every resource gets all its tasks; the others
//!   share what is left, and their entitlements grow more than their requests do.
//! * A resource whose capacity is implied by those of the others (an exact linear programme says so)
//!   is left out.
//!
//! Every answer of the smaller problem, with those users' tasks added, is an answer of the whole; the
//! exact check of the caller confirms it.

use std::collections::BTreeMap;

use evenhand_levels::LevelsError;
use evenhand_levels::weighted_sum::{SumGoal, maximise_sum};
use evenhand_problem::{Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec};

/// A smaller problem, and what was settled on the way.
#[derive(Debug, Clone)]
pub struct Reduction {
    /// The problem of those that are left; `None` when none is.
    pub problem: Option<Problem>,
    /// Users of the smaller problem, by their index in the whole one.
    pub users: Vec<usize>,
    /// Users that get all their tasks.
    pub satisfied: Vec<usize>,
}

/// Reduces a problem of one server with divided resources; `None` for any other problem.
///
/// # Errors
/// [`LevelsError`] when a programme that compares resources cannot be solved.
pub fn reduce(problem: &Problem) -> Result<Option<Reduction>, LevelsError> {
    let [server] = problem.servers() else { return Ok(None) };
    if server.is_time_shared() {
        return Ok(None);
    }
    let mut rest = Rest {
        problem,
        capacity: problem.total_capacity().to_vec(),
        kept: problem.total_capacity().iter().map(|capacity| !capacity.is_zero()).collect(),
        users: (0..problem.n_users()).filter(|&n| problem.is_active(n)).collect(),
        satisfied: Vec::new(),
    };
    while rest.drop_resources() || rest.satisfy_users() {}
    rest.drop_implied()?;
    Ok(Some(rest.finish()))
}

struct Rest<'a> {
    problem: &'a Problem,
    /// What is left of every resource.
    capacity: Vec<Rational>,
    /// Resources that can be bottlenecks.
    kept: Vec<bool>,
    users: Vec<usize>,
    satisfied: Vec<usize>,
}

impl Rest<'_> {
    fn demand(&self, n: usize, r: usize) -> &Rational {
        &self.problem.demand(n, 0)[r]
    }

    fn tasks(&self, n: usize) -> Option<&Rational> {
        self.problem.users()[n].tasks()
    }

    fn resources(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.kept.len()).filter(|&r| self.kept[r])
    }

    /// Leaves out resources that all users together do not use up.
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
            self.kept[r] = false;
        }
        unused.is_some()
    }

    /// Gives a user all its tasks that asks for less than its entitlement of every resource.
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

    /// Leaves out resources whose capacity the others imply.
    fn drop_implied(&mut self) -> Result<(), LevelsError> {
        for r in self.resources().collect::<Vec<usize>>() {
            self.kept[r] = false;
            self.kept[r] = !self.is_implied(r)?;
        }
        Ok(())
    }

    /// Whether the users cannot use more than there is of resource `r`, whatever they get of the
    /// resources that are kept.
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
        // Whoever asks only for resources that cannot be bottlenecks is satisfied.
        let (users, free) = std::mem::take(&mut self.users)
            .into_iter()
            .partition(|&n| self.resources().any(|r| !self.demand(n, r).is_zero()));
        self.users = users;
        self.satisfied.extend::<Vec<usize>>(free);
        self.satisfied.sort_unstable();
        Reduction { problem: self.problem_of(&self.users), users: self.users, satisfied: self.satisfied }
    }

    /// `users` and the resources that are kept, on what is left of the server.
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
