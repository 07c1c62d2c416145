//! Capacities and usage as integers.

use std::borrow::Cow;

use evenhand_budget::each;
use evenhand_problem::{Integer, Rational, Row, RowKind};

use super::data::LevelData;
use super::part::Part;

/// The integer data of the capacity rows, computed once for all rounds.
pub struct Integers {
    /// For each row of the constraints, the factor that makes the row integer.
    pub scale: Vec<Integer>,
    /// Scaled capacity of each row of the constraints.
    pub capacity: Vec<Integer>,
    /// For each group, `(resource, scaled usage)`, if the scaled usage is the same on all classes.
    base: Vec<Option<Vec<(usize, Integer)>>>,
}

impl Integers {
    pub fn new(data: &LevelData<'_>) -> Self {
        let constraints = data.constraints;
        let is_uniform = !(0..constraints.problem().n_servers()).any(|i| constraints.is_time_shared(i));
        let mut scale = row_scales(data);
        let mut shared = Vec::new();
        if is_uniform {
            // If all rows of a resource have one scale, the usage of most groups is the same vector
            // on every class.
            shared = share_scales(&mut scale, constraints.rows(), constraints.problem().n_resources());
        }
        let capacity = constraints.rows().iter().zip(&scale).map(|(r, s)| scaled(&r.capacity, s)).collect();
        let base = each(data.groups.len(), 1, |g| {
            let user = &constraints.problem().users()[data.groups[g].representative()];
            let demand = user.base_demand().entries().iter();
            let is_plain = is_uniform && user.demand_overrides().is_empty();
            is_plain.then(|| demand.map(|(r, demand)| (*r, scaled(demand, &shared[*r]))).collect())
        });
        Self { scale, capacity, base }
    }

    /// Returns the scaled usage of group `g` on class `c` of the part: `(row, usage)`.
    pub fn usage<'s>(
        &'s self,
        part: &'s Part<'_>,
        g: usize,
        c: usize,
    ) -> impl Iterator<Item = (usize, Cow<'s, Integer>)> {
        let base = self.base[part.groups[g]].as_ref();
        let i = part.class_id(c);
        let row = move |r: usize| {
            let row = part.data.constraints.row_of(i, RowKind::Resource(r))?;
            Some(part.row_here(c, row))
        };
        let plain = base.map_or(&[][..], Vec::as_slice).iter();
        let plain = plain.filter_map(move |(r, usage)| Some((row(*r)?, Cow::Borrowed(usage))));
        let other = if base.is_some() { Vec::new() } else { self.usage_here(part, g, c) };
        plain.chain(other.into_iter().map(|(row, usage)| (row, Cow::Owned(usage))))
    }

    fn usage_here(&self, part: &Part<'_>, g: usize, c: usize) -> Vec<(usize, Integer)> {
        let usage = part.exact_usage(g, c).into_iter();
        usage.map(|(row, usage)| (row, scaled(&usage, &self.scale[part.rows[row]]))).collect()
    }
}

/// Returns for each row a common multiple of the denominators of its capacity and of the groups' usage.
fn row_scales(data: &LevelData<'_>) -> Vec<Integer> {
    let constraints = data.constraints;
    let problem = constraints.problem();
    let mut scale: Vec<Integer> = constraints.rows().iter().map(|row| row.capacity.denom().clone()).collect();
    // If a demand is the same on every class, one factor per resource suffices for all rows of that
    // resource.
    let mut common = vec![Integer::from(1); problem.n_resources()];
    for group in &data.groups {
        let user = &problem.users()[group.representative()];
        let is_plain = user.demand_overrides().is_empty();
        if is_plain {
            for (r, demand) in user.base_demand().entries() {
                common[*r].lcm_mut(demand.denom());
            }
        }
        for &i in group.classes.iter().filter(|&&i| !is_plain || constraints.is_time_shared(i)) {
            let usage = constraints.usage(group.representative(), i).unwrap_or_default();
            let start = constraints.class_rows(i).start;
            for (at, usage) in usage.entries() {
                scale[start + at].lcm_mut(usage.denom());
            }
        }
    }
    for (scale, row) in scale.iter_mut().zip(constraints.rows()) {
        if let RowKind::Resource(r) = row.kind {
            scale.lcm_mut(&common[r]);
        }
    }
    scale
}

/// Makes the scales of all rows of a resource the same. Returns the scale of each resource.
fn share_scales(scale: &mut [Integer], rows: &[Row], n_resources: usize) -> Vec<Integer> {
    let mut shared = vec![Integer::from(1); n_resources];
    for (scale, row) in scale.iter().zip(rows) {
        if let RowKind::Resource(r) = row.kind {
            shared[r].lcm_mut(scale);
        }
    }
    for (scale, row) in scale.iter_mut().zip(rows) {
        if let RowKind::Resource(r) = row.kind {
            scale.clone_from(&shared[r]);
        }
    }
    shared
}

/// Returns `value * scale`. `scale` must be a multiple of the denominator of `value`.
pub fn scaled(value: &Rational, scale: &Integer) -> Integer {
    Integer::from(scale / value.denom()) * value.numer()
}
