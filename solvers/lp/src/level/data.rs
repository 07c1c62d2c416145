//! What the rounds need to know of a problem: groups of users, and doubles derived once.

use evenhand_exact::ShareCoefficients;
use evenhand_problem::{Constraints, Rational, RowKind};

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
    /// By `g`: the demand that holds where the class states no other, `(resource, amount)`.
    base_demand: Vec<Vec<(usize, f64)>>,
    /// By `g`: whether that demand is the usage of every class.
    is_plain: Vec<bool>,
    /// [`LevelData::tasks_per_level`] in doubles; NaN where it depends on the class.
    tasks_per_level_f64: Vec<f64>,
}

impl<'a> LevelData<'a> {
    pub fn new(constraints: &'a Constraints<'a>, coefficients: &'a ShareCoefficients) -> Self {
        let problem = constraints.problem();
        let takes_part = |n: usize| {
            problem.is_active(n) && problem.classes_of(n).any(|i| !coefficients.of(n, i).is_zero())
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
        let demand = |group: &Group| {
            let demand = problem.users()[group.representative()].base_demand().entries();
            demand.iter().map(|(r, demand)| (*r, demand.to_f64())).collect()
        };
        let base_demand = groups.iter().map(demand).collect();
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

    /// What one task of group `g` uses on class `i`, in doubles: `(row, amount)`.
    pub fn usage(&self, g: usize, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let plain = if self.is_plain[g] { self.base_demand[g].as_slice() } else { &[] };
        let row = move |r: usize| self.constraints.row_of(i, RowKind::Resource(r));
        let plain = plain.iter().filter_map(move |(r, amount)| Some((row(*r)?, *amount)));
        let start = self.constraints.class_rows(i).start;
        let exact = if self.is_plain[g] {
            Vec::new()
        } else {
            let usage = self.constraints.usage(self.groups[g].representative(), i).unwrap_or_default();
            usage.entries().map(|(at, amount)| (start + at, amount.to_f64())).collect()
        };
        plain.chain(exact)
    }

    /// What one unit of level costs group `g` on class `i`.
    pub fn price(&self, g: usize, i: usize, prices: &[f64]) -> f64 {
        let task: f64 = self.usage(g, i).map(|(row, usage)| prices[row] * usage).sum();
        task * self.tasks_per_level_f64(g, i)
    }

    /// Calls `visit` with every class of group `g` and what one unit of level costs there.
    pub fn for_each_price(&self, g: usize, prices: &[f64], mut visit: impl FnMut(usize, f64)) {
        let n_resources = self.constraints.problem().n_resources();
        for &i in &self.groups[g].classes {
            let rows = self.constraints.class_rows(i);
            // A class with all resources has them in order.
            if self.is_plain[g] && rows.len() == n_resources {
                let prices = &prices[rows];
                let task: f64 = self.base_demand[g].iter().map(|(r, d)| prices[*r] * d).sum();
                visit(i, task * self.tasks_per_level_f64(g, i));
            } else {
                visit(i, self.price(g, i, prices));
            }
        }
    }
}

fn uniform<'c>(coefficients: &'c ShareCoefficients, group: &Group) -> Option<&'c Rational> {
    let n = group.representative();
    let (first, rest) = group.classes.split_first()?;
    let u = coefficients.of(n, *first);
    rest.iter().all(|&i| coefficients.of(n, i) == u).then_some(u)
}
