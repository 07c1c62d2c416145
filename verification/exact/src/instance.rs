//! A problem with an allocation of it, prepared once as integers over common denominators.
//!
//! The axioms judge the stated allocation after its repair (docs/theory.md, section 7; the file `repair`), which is
//! always feasible. Only feasibility is judged for the allocation as it is stated.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use evenhand_problem::{Constraints, Placement, Problem, Promises, RowKind};
use rug::{Integer, Rational};

use crate::budget::{Budget, TooLarge, wide, words};
use crate::limit_rows::LimitRows;
use crate::quotient::{Quotient, absorb, scaled};
use crate::refusal::{Inapplicable, InstanceError};
use crate::scaled::{Scaled, check_width};
use crate::sparse::at;

/// The tasks `x_ni` of every user, sparse: `tasks[n]` holds pairs `(server class, tasks)` in ascending order.
pub type Tasks = Vec<Vec<(usize, Rational)>>;

/// A problem with an allocation of it, prepared for every axiom.
#[derive(Debug, Clone)]
pub struct Instance<'a> {
    pub(crate) scaled: Arc<Scaled<'a>>,
    /// The common denominator `L`, by which the numbers below are multiplied.
    pub(crate) denominator: Integer,
    /// The tasks `x_ni L` that are not 0, where the user can run.
    pub(crate) tasks: Vec<Vec<(usize, Integer)>>,
    /// The tasks of each user, `x_n L`.
    pub(crate) totals: Vec<Integer>,
    /// Entries that do not count as tasks: negative entries, entries where the user cannot run, and entries of a user
    /// without tasks. Empty after the repair.
    pub(crate) refused: Vec<(usize, usize, Rational)>,
    /// The stated allocation, if it differs from the judged allocation.
    pub(crate) stated: Option<Arc<Self>>,
    /// The largest `|x_ni - stated x_ni| / g_n`.
    pub(crate) repair: Rational,
    /// The tasks on single servers, if stated. They add up to the tasks above.
    pub(crate) placements: Option<Arc<[Placement]>>,
    /// The slack of every row, times `L` and the scale of the row.
    slacks: Vec<Integer>,
    /// The scale of each row of time. The entries of other rows have no meaning.
    time_scales: Vec<Integer>,
    /// The limits of groups, or of the accelerators of users.
    limits: Arc<LimitRows>,
}

impl<'a> Instance<'a> {
    /// Prepares another allocation of the same problem, shared in the same way, by its tasks on classes. It is used
    /// as it is stated, without any repair.
    ///
    /// # Errors
    /// Returns the same errors as [`Instance::new`].
    pub fn with_tasks(&self, tasks: &Tasks) -> Result<Self, InstanceError> {
        Self::prepare(Arc::clone(&self.scaled), tasks)
    }

    /// Prepares another allocation of the same problem, shared in the same way, by its tasks on single servers.
    ///
    /// # Errors
    /// Returns [`InstanceError`] if the tasks are not on servers of the problem, and the errors of [`Instance::new`].
    pub fn with_placements(&self, placements: &[Placement]) -> Result<Self, InstanceError> {
        let mut sums: Vec<BTreeMap<usize, Rational>> = vec![BTreeMap::new(); self.problem().n_users()];
        for placement in placements {
            for (n, x) in &placement.tasks {
                let of_user = sums.get_mut(*n).ok_or(InstanceError::BadPlacements)?;
                *of_user.entry(placement.server).or_default() += x;
            }
        }
        let tasks: Tasks = sums.into_iter().map(|sums| sums.into_iter().collect()).collect();
        check_placements(self.problem(), &tasks, placements)?;
        let mut instance = self.with_tasks(&tasks)?;
        instance.placements = Some(placements.into());
        Ok(instance)
    }

    /// Returns the problem.
    #[must_use]
    pub fn problem(&self) -> &'a Problem {
        self.scaled.problem()
    }

    /// Returns the capacity rows of the problem.
    #[must_use]
    pub fn constraints(&self) -> &Constraints<'a> {
        &self.scaled.constraints
    }

    /// Returns the limits of the groups, or of the accelerators of users. Allocations that are compared with this one
    /// have to respect them.
    #[must_use]
    pub fn limits(&self) -> &LimitRows {
        &self.limits
    }

    /// Returns the number of prices in a list by row: the prices of capacity rows, followed by the prices of limits.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.constraints().rows().len() + self.limits.list().len()
    }

    /// Returns the bound of a row: its capacity, or the amount that a group or user is allowed.
    pub(crate) fn most(&self, row: usize) -> &Rational {
        let rows = self.constraints().rows();
        rows.get(row).map_or_else(|| &self.limits.list()[row - rows.len()].most, |row| &row.capacity)
    }

    /// Returns an error if a class is shared by time, so that not all resources are divided.
    pub(crate) fn divides(&self) -> Result<(), Inapplicable> {
        match (0..self.problem().n_servers()).any(|i| self.constraints().is_time_shared(i)) {
            true => Err(Inapplicable::new("the servers are shared by time".to_owned())),
            false => Ok(()),
        }
    }

    /// Returns an error if axioms that compare an allocation with all possible allocations do not apply. With limits,
    /// they apply only if the usage of each group is the sum of its users' usage.
    pub(crate) fn can_be_compared(&self) -> Result<(), Inapplicable> {
        if !self.problem().groups().have_limits() {
            return Ok(());
        }
        self.divides()?;
        match Promises::new(self.problem().groups()).kept.iter().all(Vec::is_empty) {
            true => Ok(()),
            false => Err(Inapplicable::new("groups hold resources back")),
        }
    }

    /// Returns true if user `n` can run some task ([`Problem::is_active`]).
    #[must_use]
    pub fn is_active(&self, n: usize) -> bool {
        self.scaled.is_active(n)
    }

    /// Returns the allocation as it was stated, before the repair.
    #[must_use]
    pub fn stated(&self) -> &Self {
        self.stated.as_deref().unwrap_or(self)
    }

    /// Returns the size of the repair: the largest `|x_ni - stated x_ni| / g_n`, where users with `g_n = 0` count 0.
    #[must_use]
    pub fn repair(&self) -> &Rational {
        &self.repair
    }

    /// Returns `g_n = min(T_n, gamma_n)`, the tasks that user `n` would have with the whole cluster to itself. It is
    /// 0 for a user that is not active.
    #[must_use]
    pub fn scale(&self, n: usize) -> &Rational {
        self.scaled.scale(n)
    }

    /// Returns the number of steps of an operation on a number of the allocation and a number of the problem.
    pub(crate) fn steps(&self) -> u64 {
        self.scaled.steps.saturating_add(4 * words(&self.denominator))
    }

    /// Charges `count` operations on fractions as wide as `number`, before they are done.
    pub(crate) fn charge_wide(&self, count: usize, number: &Rational) -> Result<(), TooLarge> {
        let each = wide(words(number.numer()).max(words(number.denom())));
        self.budget().charge(each.saturating_mul(count as u64))
    }

    /// Charges one operation for every user and every row, before the operations are done.
    pub(crate) fn charge_all_users(&self) -> Result<(), TooLarge> {
        let all = self.problem().n_users() + self.constraints().rows().len();
        self.budget().charge(self.steps().saturating_mul(all as u64))
    }

    /// Returns the budget of work that is left for this problem.
    #[must_use]
    pub fn budget(&self) -> &Budget {
        &self.scaled.budget
    }

    /// Returns the judged tasks of every user by class.
    #[must_use]
    pub fn tasks(&self) -> Tasks {
        let rational = |x: &Integer| Rational::from((x, &self.denominator));
        self.tasks.iter().map(|on| on.iter().map(|(i, x)| (*i, rational(x))).collect()).collect()
    }

    /// Returns the classes on which user `n` has tasks, ascending.
    pub fn used_classes(&self, n: usize) -> impl Iterator<Item = usize> {
        self.tasks[n].iter().map(|(i, _)| *i)
    }

    /// Returns the tasks of user `n`, `x_n`.
    #[must_use]
    pub fn total(&self, n: usize) -> Rational {
        Rational::from((&self.totals[n], &self.denominator))
    }

    /// Returns the tasks on single servers, if the allocation states them.
    #[must_use]
    pub fn placements(&self) -> Option<&[Placement]> {
        self.placements.as_deref()
    }

    /// Returns the numerator `x_ni L` of the tasks, or `None` if the user has no tasks on the class.
    pub(crate) fn tasks_on(&self, n: usize, i: usize) -> Option<&Integer> {
        let tasks = &self.tasks[n];
        at(tasks, i)
    }

    /// Returns the free capacity of a row, `C - sum_ni x_ni d_ni`, in the units of the row.
    #[must_use]
    pub fn slack(&self, row: usize) -> Rational {
        self.slack_quotient(row).to_rational()
    }

    pub(crate) fn slack_quotient(&self, row: usize) -> Quotient {
        let scale = self.row_scale(row);
        Quotient::new(self.slacks[row].clone(), Integer::from(scale * &self.denominator))
    }

    /// Returns the slack of a row, times `L` and [`Instance::row_scale`].
    pub(crate) fn scaled_slack(&self, row: usize) -> &Integer {
        &self.slacks[row]
    }

    /// Returns the factor that makes the numbers of a row integers.
    pub(crate) fn row_scale(&self, row: usize) -> &Integer {
        let kind = self.scaled.constraints.rows()[row].kind;
        self.scaled.row_scale(kind).unwrap_or(&self.time_scales[row])
    }

    /// Returns the capacity of a row, times [`Instance::row_scale`].
    pub(crate) fn scaled_capacity(&self, row: usize) -> Integer {
        let at = &self.scaled.constraints.rows()[row];
        match at.kind {
            RowKind::Resource(_) => self.scaled.capacity[row].clone(),
            RowKind::Time => self.time_scales[row].clone(),
        }
    }

    /// Returns `T_n - x_n` for a user with finite tasks.
    pub(crate) fn tasks_left(&self, n: usize) -> Option<Quotient> {
        let tasks = self.problem().users()[n].tasks()?;
        let left =
            Integer::from(tasks.numer() * &self.denominator) - Integer::from(&self.totals[n] * tasks.denom());
        Some(Quotient::new(left, Integer::from(tasks.denom() * &self.denominator)))
    }

    /// Prepares an allocation as it is stated, without any repair.
    pub(crate) fn prepare(scaled_problem: Arc<Scaled<'a>>, stated: &Tasks) -> Result<Self, InstanceError> {
        let problem = scaled_problem.problem();
        if stated.len() != problem.n_users() {
            return Err(InstanceError::UserCount { expected: problem.n_users(), found: stated.len() });
        }
        let entries: u64 = stated.iter().map(|tasks| tasks.len() as u64).sum();
        let mut denominator = Integer::from(1);
        for (user, tasks) in stated.iter().enumerate() {
            let in_order = tasks.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !in_order || tasks.last().is_some_and(|(i, _)| *i >= problem.n_servers()) {
                return Err(InstanceError::BadClass { user });
            }
            for (_, x) in tasks {
                let lookup = words(&denominator).saturating_mul(words(x.denom())) / 16;
                scaled_problem.budget.charge(lookup)?;
                absorb(&mut denominator, x.denom());
                check_width(&denominator, entries + problem.n_users() as u64)?;
            }
        }
        let product = words(&denominator).saturating_mul(scaled_problem.width) / 4;
        let of_entry = scaled_problem.steps.saturating_add(words(&denominator)).saturating_add(product);
        scaled_problem.budget.charge(entries.saturating_mul(of_entry))?;
        let mut tasks = vec![Vec::new(); stated.len()];
        let mut totals = vec![Integer::new(); stated.len()];
        let mut refused = Vec::new();
        for (n, i, x) in stated.iter().enumerate().flat_map(|(n, t)| t.iter().map(move |(i, x)| (n, *i, x))) {
            if x.is_zero() {
            } else if *x > 0 && scaled_problem.is_active(n) && scaled_problem.can_run(n, i) {
                let x = scaled(x, &denominator);
                totals[n] += &x;
                tasks[n].push((i, x));
            } else {
                refused.push((n, i, x.clone()));
            }
        }
        let n_rows = scaled_problem.constraints.rows().len();
        let mut instance = Self {
            scaled: scaled_problem,
            denominator,
            tasks,
            totals,
            refused,
            stated: None,
            repair: Rational::new(),
            placements: None,
            slacks: Vec::new(),
            time_scales: vec![Integer::new(); n_rows],
            limits: Arc::default(),
        };
        instance.fill_slacks();
        instance.fill_limits()?;
        Ok(instance)
    }

    fn fill_limits(&mut self) -> Result<(), TooLarge> {
        let problem = self.problem();
        if problem.groups().have_limits() || problem.has_at_most() {
            let empty = LimitRows::new(problem, &Vec::new());
            let of_user =
                |n: usize| empty.of_user(problem, n).count().saturating_mul(1 + self.tasks[n].len());
            let all = (0..self.tasks.len()).map(of_user).fold(empty.list().len(), usize::saturating_add);
            self.budget().charge(self.steps().saturating_mul(all as u64))?;
            self.limits = Arc::new(LimitRows::new(problem, &self.tasks()));
        }
        Ok(())
    }

    fn fill_slacks(&mut self) {
        let constraints = &self.scaled.constraints;
        let mut used = vec![Integer::new(); constraints.rows().len()];
        let mut time: Vec<Vec<(&Integer, Rational)>> = vec![Vec::new(); constraints.problem().n_servers()];
        for (n, tasks) in self.tasks.iter().enumerate() {
            for (i, x) in tasks {
                if constraints.is_time_shared(*i) {
                    time[*i].push((x, constraints.problem().unconstrained_gamma(n, *i)));
                    continue;
                }
                for (r, demand) in self.scaled.demand(n, *i) {
                    // A user with tasks on a class can run there, and each demanded resource has a row.
                    if let Some(row) = constraints.row_of(*i, RowKind::Resource(*r)) {
                        used[row] += demand * x;
                    }
                }
            }
        }
        let mut time_scales = std::mem::take(&mut self.time_scales);
        for (row, at) in constraints.rows().iter().enumerate().filter(|(_, at)| at.kind == RowKind::Time) {
            let mut scale = Integer::from(1);
            for (_, gamma) in &time[at.server] {
                absorb(&mut scale, gamma.numer());
            }
            used[row] = time[at.server]
                .iter()
                .map(|(x, gamma)| Integer::from(scale.div_exact_ref(gamma.numer())) * gamma.denom() * *x)
                .sum();
            time_scales[row] = scale;
        }
        drop(time);
        self.time_scales = time_scales;
        let slacks = used
            .into_iter()
            .enumerate()
            .map(|(row, used)| self.scaled_capacity(row) * &self.denominator - used);
        self.slacks = slacks.collect();
    }
}

/// Returns an error unless every server exists and occurs once, users are in order, and the tasks on servers add up to
/// `tasks`.
pub(crate) fn check_placements(
    problem: &Problem,
    tasks: &Tasks,
    placements: &[Placement],
) -> Result<(), InstanceError> {
    let mut seen = HashSet::with_capacity(placements.len());
    let mut sums: Vec<BTreeMap<usize, Rational>> = vec![BTreeMap::new(); tasks.len()];
    for Placement { server, index, tasks } in placements {
        let there = problem.servers().get(*server).is_some_and(|class| *index < class.count());
        let in_order = tasks.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let named = tasks.last().is_none_or(|(n, _)| *n < sums.len());
        if !(there && in_order && named && seen.insert((*server, *index))) {
            return Err(InstanceError::BadPlacements);
        }
        for (n, x) in tasks {
            *sums[*n].entry(*server).or_default() += x;
        }
    }
    for (stated, placed) in tasks.iter().zip(&sums) {
        let stated = stated.iter().filter(|(_, x)| !x.is_zero()).map(|(i, x)| (i, x));
        if !stated.eq(placed.iter().filter(|(_, x)| !x.is_zero())) {
            return Err(InstanceError::BadPlacements);
        }
    }
    Ok(())
}

/// The demand of a task of one user for one row, `d_nir = per_task / (scale factor)`, with the scale of
/// [`Instance::row_scale`].
pub(crate) struct Usage<'s> {
    pub per_task: Cow<'s, Integer>,
    /// The numerator of `gamma_ni` for a row of time. `None` if it is 1.
    factor: Option<Integer>,
}

impl<'s> Usage<'s> {
    /// Returns the demand of user `n` for a row, or `None` if the user does not use the row.
    pub fn of(instance: &'s Instance<'_>, n: usize, row: usize) -> Option<Self> {
        let of = instance.constraints().rows().get(row)?;
        if !instance.scaled.can_run(n, of.server) {
            return None;
        }
        Some(match of.kind {
            RowKind::Resource(r) => {
                let demand = at(instance.scaled.demand(n, of.server), r)?;
                Self { per_task: Cow::Borrowed(demand), factor: None }
            }
            RowKind::Time => {
                let (gamma, over) = instance.problem().unconstrained_gamma(n, of.server).into_numer_denom();
                Self { per_task: Cow::Owned(over * instance.row_scale(row)), factor: Some(gamma) }
            }
        })
    }

    /// Returns `value` multiplied by the factor.
    pub fn put(&self, mut value: Integer) -> Integer {
        if let Some(factor) = &self.factor {
            value *= factor;
        }
        value
    }
}
