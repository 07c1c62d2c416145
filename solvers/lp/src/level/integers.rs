//! Capacities and usage as integers.

use std::borrow::Cow;

use evenhand_problem::{Integer, Rational};

use super::data::LevelData;

/// Integer data of the capacity rows, made once for all rounds.
pub struct Integers {
    /// By row: the factor that makes the row integer.
    pub scale: Vec<Integer>,
    /// By row: scaled capacity.
    pub capacity: Vec<Integer>,
    /// By group: scaled usage on the rows of a class, the same for all classes.
    base: Vec<Option<Vec<Integer>>>,
}

impl Integers {
    pub fn new(data: &LevelData<'_>) -> Self {
        let constraints = data.constraints;
        let is_uniform = !(0..constraints.problem().n_servers()).any(|i| constraints.is_time_shared(i));
        let mut scale = row_scales(data);
        if is_uniform {
            // One scale for all rows of a resource keeps the usage of most groups one vector.
            share_scales(&mut scale, constraints.problem().n_resources());
        }
        let capacity = constraints.rows().iter().zip(&scale).map(|(r, s)| scaled(&r.capacity, s)).collect();
        let base = data
            .groups
            .iter()
            .map(|group| {
                let user = &constraints.problem().users()[group.representative()];
                let demand = user.base_demand().iter().zip(&scale);
                let is_plain = is_uniform && user.demand_overrides().is_empty();
                is_plain.then(|| demand.map(|(demand, scale)| scaled(demand, scale)).collect())
            })
            .collect();
        Self { scale, capacity, base }
    }

    /// Scaled usage of group `g` on the rows of class `i`.
    pub fn usage<'s>(&'s self, data: &LevelData<'_>, g: usize, i: usize) -> Cow<'s, [Integer]> {
        if let Some(base) = &self.base[g] {
            return Cow::Borrowed(base);
        }
        let usage = data.constraints.usage(data.groups[g].representative(), i).unwrap_or_default();
        let rows = data.constraints.class_rows(i);
        rows.zip(usage.iter()).map(|(row, usage)| scaled(usage, &self.scale[row])).collect::<Vec<_>>().into()
    }
}

/// By row, a common multiple of the denominators of its capacity and of what the groups use of it.
fn row_scales(data: &LevelData<'_>) -> Vec<Integer> {
    let constraints = data.constraints;
    let problem = constraints.problem();
    let mut scale: Vec<Integer> = constraints.rows().iter().map(|row| row.capacity.denom().clone()).collect();
    // Demands that hold on every class make one factor by resource, which goes into all its rows.
    let mut common = vec![Integer::from(1); problem.n_resources()];
    for group in &data.groups {
        let user = &problem.users()[group.representative()];
        let is_plain = user.demand_overrides().is_empty();
        if is_plain {
            for (factor, demand) in common.iter_mut().zip(user.base_demand()) {
                factor.lcm_mut(demand.denom());
            }
        }
        for &i in group.classes.iter().filter(|&&i| !is_plain || constraints.is_time_shared(i)) {
            let usage = constraints.usage(group.representative(), i).unwrap_or_default();
            for (row, usage) in constraints.class_rows(i).zip(usage.iter()) {
                scale[row].lcm_mut(usage.denom());
            }
        }
    }
    for i in (0..problem.n_servers()).filter(|&i| !constraints.is_time_shared(i)) {
        for (row, factor) in constraints.class_rows(i).zip(&common) {
            scale[row].lcm_mut(factor);
        }
    }
    scale
}

/// Makes the scales of all rows of a resource the same, where row `i m + r` is resource `r` of class `i`.
fn share_scales(scale: &mut [Integer], n_resources: usize) {
    for r in 0..n_resources {
        let mut factor = Integer::from(1);
        for scale in scale.iter().skip(r).step_by(n_resources) {
            factor.lcm_mut(scale);
        }
        for scale in scale.iter_mut().skip(r).step_by(n_resources) {
            scale.clone_from(&factor);
        }
    }
}

/// `value * scale`, where `scale` is a multiple of the denominator.
pub fn scaled(value: &Rational, scale: &Integer) -> Integer {
    Integer::from(scale / value.denom()) * value.numer()
}
