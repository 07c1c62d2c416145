//! What the rounds need to know of a problem: groups of users, and doubles derived once.

use std::borrow::Cow;

use evenhand_exact::ShareCoefficients;
use evenhand_problem::{Constraints, Rational};
use ndarray::Array2;

use crate::groups::{Group, merge};

/// The users as groups, each with the units of its level.
///
/// Groups are indexed by `g`, in order of their first members; rows are those of [`Constraints`].
pub struct LevelData<'a> {
    pub constraints: &'a Constraints<'a>,
    pub coefficients: &'a ShareCoefficients,
    pub groups: Vec<Group>,
    /// By `g`: `w / u`, tasks per unit of level, where one task is worth the same on every class.
    pub tasks_per_level: Vec<Option<Rational>>,
    /// By `g`: the level `u T / w` at which the group has all its tasks; `None`: never by level
    /// alone (unlimited tasks, or `u` that depends on the class).
    pub satisfied_at: Vec<Option<Rational>>,
    /// [`LevelData::satisfied_at`] in doubles, infinite for `None`.
    pub satisfied_at_f64: Vec<f64>,
    /// Capacity by row.
    pub capacity: Vec<f64>,
    /// `groups x resources`: the demand that holds where the class states no other.
    base_demand: Array2<f64>,
    /// By `g`: whether that demand is the usage on the rows of every class.
    is_plain: Vec<bool>,
    /// [`LevelData::tasks_per_level`] in doubles; NaN where it depends on the class.
    tasks_per_level_f64: Vec<f64>,
}

impl<'a> LevelData<'a> {
    pub fn new(constraints: &'a Constraints<'a>, coefficients: &'a ShareCoefficients) -> Self {
        let problem = constraints.problem();
        let takes_part = |n: usize| {
            problem.is_active(n)
                && (0..problem.n_servers()).any(|i| problem.can_run(n, i) && !coefficients.of(n, i).is_zero())
        };
        let mut groups = merge(constraints, takes_part, |_| None);
        for group in &mut groups {
            let n = group.representative();
            group.classes.retain(|&i| !coefficients.of(n, i).is_zero());
        }
        let tasks_per_level: Vec<Option<Rational>> =
            groups.iter().map(|g| uniform(coefficients, g).map(|u| Rational::from(&g.weight / u))).collect();
        let satisfied_at: Vec<Option<Rational>> = groups
            .iter()
            .zip(&tasks_per_level)
            .map(|(g, per_level)| Some(Rational::from(g.tasks.as_ref()? / per_level.as_ref()?)))
            .collect();
        let satisfied_at_f64 =
            satisfied_at.iter().map(|s| s.as_ref().map_or(f64::INFINITY, Rational::to_f64)).collect();
        let base_demand = Array2::from_shape_fn((groups.len(), problem.n_resources()), |(g, r)| {
            problem.users()[groups[g].representative()].base_demand()[r].to_f64()
        });
        let time_shared = (0..problem.n_servers()).any(|i| constraints.is_time_shared(i));
        let is_plain = groups
            .iter()
            .map(|g| !time_shared && problem.users()[g.representative()].demand_overrides().is_empty())
            .collect();
        Self {
            is_plain,
            capacity: constraints.rows().iter().map(|row| row.capacity.to_f64()).collect(),
            tasks_per_level_f64: tasks_per_level
                .iter()
                .map(|t| t.as_ref().map_or(f64::NAN, Rational::to_f64))
                .collect(),
            constraints,
            coefficients,
            groups,
            tasks_per_level,
            satisfied_at,
            satisfied_at_f64,
            base_demand,
        }
    }

    /// Whether group `g` has a task limit that its level alone does not express.
    pub fn has_task_row(&self, g: usize) -> bool {
        self.groups[g].tasks.is_some() && self.tasks_per_level[g].is_none()
    }

    /// Tasks of group `g` on class `i` that raise its level by one.
    pub fn tasks_per_level_on(&self, g: usize, i: usize) -> Rational {
        let u = self.coefficients.of(self.groups[g].representative(), i);
        Rational::from(&self.groups[g].weight / u)
    }

    /// [`LevelData::tasks_per_level_on`] in doubles.
    pub fn tasks_per_level_f64(&self, g: usize, i: usize) -> f64 {
        let uniform = self.tasks_per_level_f64[g];
        if uniform.is_nan() { self.tasks_per_level_on(g, i).to_f64() } else { uniform }
    }

    /// What one task of group `g` uses of the rows of class `i`, in doubles.
    pub fn usage(&self, g: usize, i: usize) -> Cow<'_, [f64]> {
        let row = self.base_demand.row(g);
        match row.to_slice() {
            Some(row) if self.is_plain[g] => Cow::Borrowed(row),
            _ => {
                let n = self.groups[g].representative();
                let exact = self.constraints.usage(n, i).unwrap_or_default();
                Cow::Owned(exact.iter().map(Rational::to_f64).collect())
            }
        }
    }

    /// What one unit of level costs group `g` on class `i`.
    pub fn price(&self, g: usize, i: usize, prices: &[f64]) -> f64 {
        let prices = &prices[self.constraints.class_rows(i)];
        let task: f64 = prices.iter().zip(self.usage(g, i).iter()).map(|(p, u)| p * u).sum();
        task * self.tasks_per_level_f64(g, i)
    }

    /// Calls `visit` with every class of group `g` and what one unit of level costs there.
    pub fn for_each_price(&self, g: usize, prices: &[f64], mut visit: impl FnMut(usize, f64)) {
        let row = self.base_demand.row(g);
        if let (Some(demand), true) = (row.to_slice(), self.is_plain[g]) {
            let m = demand.len();
            for &i in &self.groups[g].classes {
                let start = i * m;
                let task: f64 = prices[start..start + m].iter().zip(demand).map(|(p, d)| p * d).sum();
                visit(i, task * self.tasks_per_level_f64(g, i));
            }
            return;
        }
        for &i in &self.groups[g].classes {
            visit(i, self.price(g, i, prices));
        }
    }
}

fn uniform<'c>(coefficients: &'c ShareCoefficients, group: &Group) -> Option<&'c Rational> {
    let n = group.representative();
    let (first, rest) = group.classes.split_first()?;
    let u = coefficients.of(n, *first);
    rest.iter().all(|&i| coefficients.of(n, i) == u).then_some(u)
}
