//! A problem as integers: demands and capacities over one denominator for each resource.
//!
//! Clusters have many users but few *shapes*. Users of one shape have the same demand on every class, and can run on
//! the same classes. Data that do not depend on weights and tasks are stored once for each shape.

use std::sync::OnceLock;

use evenhand_budget::each;
use evenhand_problem::{Constraints, Kinds, Problem, Quantities, RowKind, Sharing, User};
use rug::{Integer, Rational};

use crate::budget::{Budget, TooLarge, wide, words};
use crate::gamma::Gammas;
use crate::quotient::{absorb, scaled};
use crate::refusal::InstanceError;
use crate::sparse::{Amounts, at};

/// The maximum number of bits of all integers of one table together (1 GiB).
///
/// Numbers with unrelated denominators can have a common denominator of any width. A certificate that needs more than
/// this is rejected.
const MAX_TABLE_BITS: u64 = 1 << 33;

/// The data that depend on the problem and the way of sharing, but not on the allocation.
#[derive(Debug)]
pub(crate) struct Scaled<'a> {
    pub constraints: Constraints<'a>,
    /// The scale of each resource: the number by which its demands and capacities are multiplied.
    pub resource_scale: Vec<Integer>,
    /// The least common multiple of `resource_scale`.
    pub common_scale: Integer,
    /// The capacity `k_i c_ir` of each row, times `resource_scale[r]`. It is 0 for a row of time.
    pub capacity: Vec<Integer>,
    /// The shape of each user.
    shape: Vec<u32>,
    /// The first user of each shape.
    first: Vec<usize>,
    /// The base demand of each shape, times `resource_scale[r]`.
    demand: Vec<Amounts>,
    /// The demands of each shape on classes where they differ from the base demand, ascending by class.
    overrides: Vec<Vec<(usize, Amounts)>>,
    /// One bit for each shape and class, which is 1 if `gamma_ni > 0`.
    runs: Vec<u64>,
    words: usize,
    active: Vec<bool>,
    /// The least common denominator of the weights of the active users.
    pub weight_scale: Integer,
    /// The sum of the weights of the active users, times `weight_scale`.
    pub active_weight: Integer,
    /// The number `gamma_n` of each shape, computed on the first use.
    gammas: OnceLock<Vec<Rational>>,
    /// The number `g_n` of each user, computed on the first use.
    scales: OnceLock<Vec<Rational>>,
    /// The number of words of the widest number of `resource_scale`.
    pub width: u64,
    /// The number of steps of an operation on a demand or a capacity.
    pub steps: u64,
    /// The budget of work that is left.
    pub budget: Budget,
}

impl<'a> Scaled<'a> {
    pub fn new(problem: &'a Problem, sharing: Sharing, budget: Budget) -> Result<Self, InstanceError> {
        let resource_scale = resource_scales(problem)?;
        let mut common_scale = Integer::from(1);
        for scale in &resource_scale {
            absorb(&mut common_scale, scale);
        }
        let amounts = |values: &Quantities| -> Amounts {
            values.entries().iter().map(|(r, value)| (*r, scaled(value, &resource_scale[*r]))).collect()
        };
        let constraints = Constraints::new(problem, sharing);
        let capacity = constraints.rows().iter().map(|row| match row.kind {
            RowKind::Resource(r) => scaled(&row.capacity, &resource_scale[r]),
            RowKind::Time => Integer::new(),
        });
        let capacity = capacity.collect();
        let users = problem.users();
        let Kinds { of: shape, first } = problem.shapes();
        let of_shapes = || first.iter().map(|n| &users[*n]);
        let overrides = of_shapes().map(|user| {
            user.demand_overrides().iter().map(|(i, demand)| (*i, amounts(demand))).collect::<Vec<_>>()
        });
        let width = resource_scale.iter().map(words).max().unwrap_or(1);
        let steps = wide(width);
        budget.charge(steps.saturating_mul(users.len() as u64))?;
        let words = problem.n_servers().div_ceil(64);
        evenhand_budget::table(
            first.len(),
            words,
            size_of::<u64>(),
            "the classes on which each user can run",
        );
        let mut runs = vec![0; words * first.len()];
        for (at, n) in first.iter().enumerate() {
            for i in problem.classes_of(*n) {
                runs[at * words + i / 64] |= 1 << (i % 64);
            }
        }
        let runs_anywhere: Vec<bool> = (0..first.len())
            .map(|at| runs[at * words..(at + 1) * words].iter().any(|word| *word != 0))
            .collect();
        let has_tasks = |user: &User| user.tasks().is_none_or(|tasks| !tasks.is_zero());
        let active =
            users.iter().zip(&shape).map(|(user, at)| runs_anywhere[*at as usize] && has_tasks(user));
        let active: Vec<bool> = active.collect();
        let weights =
            || users.iter().zip(&active).filter(|(_, active)| **active).map(|(user, _)| user.weight());
        let mut weight_scale = Integer::from(1);
        for weight in weights() {
            absorb(&mut weight_scale, weight.denom());
            check_width(&weight_scale, users.len() as u64)?;
        }
        let active_weight = weights().map(|weight| scaled(weight, &weight_scale)).sum();
        Ok(Self {
            constraints,
            capacity,
            demand: of_shapes().map(|user| amounts(user.base_demand())).collect(),
            overrides: overrides.collect(),
            shape,
            first,
            resource_scale,
            common_scale,
            runs,
            words,
            active,
            weight_scale,
            active_weight,
            gammas: OnceLock::new(),
            scales: OnceLock::new(),
            width,
            steps,
            budget,
        })
    }

    /// Returns `g_n`, the tasks of user `n` alone in the cluster: `min(T_n, gamma_n)`, or the most that its
    /// accelerators allow ([`Problem::most_with`]). It is 0 for a user that is not active.
    pub fn scale(&self, n: usize) -> &Rational {
        &self.scales.get_or_init(|| self.all_scales())[n]
    }

    /// Returns `gamma_n`, the tasks of user `n` with the whole cluster to itself.
    pub fn gamma(&self, n: usize) -> &Rational {
        let gammas = self.gammas.get_or_init(|| {
            let gammas = Gammas::new(self.problem());
            each(self.first.len(), self.problem().n_servers(), |at| gammas.total(self.first[at], true))
        });
        &gammas[self.shape(n)]
    }

    /// Returns the shape of user `n`. Users of one shape differ only in name, weight, tasks, criterion and group.
    pub fn shape(&self, n: usize) -> usize {
        self.shape[n] as usize
    }

    /// Returns the first user of each shape.
    pub fn first_of_shapes(&self) -> &[usize] {
        &self.first
    }

    fn all_scales(&self) -> Vec<Rational> {
        let users = self.problem().users().iter().enumerate();
        let scale = |(n, user): (usize, &User)| {
            if !self.is_active(n) {
                return Rational::new();
            }
            if user.at_most().is_some() {
                return self.problem().most_with(n, &Rational::from(1));
            }
            let gamma = self.gamma(n);
            user.tasks().filter(|tasks| *tasks < gamma).unwrap_or(gamma).clone()
        };
        users.map(scale).collect()
    }

    pub fn problem(&self) -> &'a Problem {
        self.constraints.problem()
    }

    pub fn can_run(&self, n: usize, i: usize) -> bool {
        self.runs[self.shape(n) * self.words + i / 64] >> (i % 64) & 1 == 1
    }

    /// Returns the classes where user `n` can run, as bits.
    pub fn class_set(&self, n: usize) -> &[u64] {
        let at = self.shape(n);
        &self.runs[at * self.words..(at + 1) * self.words]
    }

    /// Returns the classes where user `n` can run, ascending.
    pub fn classes(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        let words = self.class_set(n).iter().enumerate().filter(|(_, word)| **word != 0);
        words.flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * at + bit)
        })
    }

    /// Returns the number of classes where user `n` can run.
    pub fn n_classes(&self, n: usize) -> usize {
        self.class_set(n).iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn is_active(&self, n: usize) -> bool {
        self.active[n]
    }

    /// Returns `w_n` of an active user, times `weight_scale`.
    pub fn weight(&self, n: usize) -> Integer {
        scaled(self.problem().users()[n].weight(), &self.weight_scale)
    }

    /// Returns the demand of user `n` on class `i`, times `resource_scale[r]`.
    pub fn demand(&self, n: usize, i: usize) -> &[(usize, Integer)] {
        at(&self.overrides[self.shape(n)], i).unwrap_or(&self.demand[self.shape(n)])
    }

    /// Returns the base demand of user `n`, times `resource_scale[r]`.
    pub fn base_demand(&self, n: usize) -> &[(usize, Integer)] {
        &self.demand[self.shape(n)]
    }

    /// Returns the number that divides the integers of a row of a resource, or `None` for a row of time.
    pub fn row_scale(&self, kind: RowKind) -> Option<&Integer> {
        match kind {
            RowKind::Resource(r) => Some(&self.resource_scale[r]),
            RowKind::Time => None,
        }
    }
}

/// Returns for each resource the least common denominator of all its demands and capacities.
fn resource_scales(problem: &Problem) -> Result<Vec<Integer>, InstanceError> {
    let users = problem.users();
    let vectors = || {
        let demands = users.iter().flat_map(|user| {
            let overrides = user.demand_overrides().iter().map(|(_, demand)| demand);
            std::iter::once(user.base_demand()).chain(overrides)
        });
        problem.servers().iter().map(evenhand_problem::ServerClass::capacity).chain(demands)
    };
    let entries = vectors().count() as u64;
    let mut scales = vec![Integer::from(1); problem.n_resources()];
    for vector in vectors() {
        for (r, value) in vector.entries() {
            absorb(&mut scales[*r], value.denom());
            check_width(&scales[*r], entries)?;
        }
    }
    Ok(scales)
}

/// Returns an error if a table of `entries` integers that are as wide as `scale` would be too large.
pub(crate) fn check_width(scale: &Integer, entries: u64) -> Result<(), InstanceError> {
    let bits = u64::from(scale.significant_bits()).saturating_mul(entries);
    if bits > MAX_TABLE_BITS { Err(TooLarge::memory(MAX_TABLE_BITS / 8).into()) } else { Ok(()) }
}
