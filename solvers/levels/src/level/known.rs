//! A first basis from an allocation that may be the answer: the classes of its groups, and the rows
//! that it fills.
//!
//! A caller that needs prices to prove an allocation already has the allocation. If the allocation
//! is a vertex, it shows which columns and rows are in the basis. The prices then follow from one
//! factorisation. The correctness of the result does not depend on this guess: HiGHS continues from
//! the basis.

use super::inside::FirstBasis;
use super::part::{GroupOnClass, Part, Target};

/// The relative error of a level, and of a capacity, that counts as rounding.
const ROUNDING: f64 = 1e-7;

/// Computes the basis. Returns `None` if no allocation is known, or if groups are not at the level of their targets.
pub fn start(part: &Part<'_>) -> Option<FirstBasis> {
    let known = part.data.known.as_ref()?;
    // Returns the classes of a group, and its level on each class.
    let on_class = |g: usize| {
        let here = known[part.groups[g]].iter().filter_map(|(i, x)| Some((part.class_here(*i)?, x)));
        let here = here.filter(|(c, _)| part.classes[g].binary_search(c).is_ok());
        here.map(|(c, x)| (c, x / part.tasks_per_level_f64(g, c))).collect::<Vec<_>>()
    };
    let placements: Vec<Vec<(usize, f64)>> = (0..part.groups.len()).map(on_class).collect();
    let levels: Vec<f64> =
        placements.iter().map(|placements| placements.iter().map(|(_, level)| level).sum()).collect();
    let is_near = |level: f64, target: f64| (level - target).abs() <= ROUNDING * target;
    let is_open =
        |g: &usize| part.targets[*g] == Target::Active && !is_near(levels[*g], part.satisfied_at[*g]);
    let least = (0..levels.len()).filter(is_open).map(|g| levels[g]).fold(f64::INFINITY, f64::min);
    let is_at_target = |g: usize| match part.targets[g] {
        Target::Active => !is_open(&g) || is_near(levels[g], least),
        Target::Tasks => is_near(levels[g], part.satisfied_at[g]),
        Target::Frozen(_) => is_near(levels[g], part.frozen_at[g]),
    };
    if !(0..levels.len()).all(is_at_target) {
        return None;
    }
    let mut favourite = Vec::with_capacity(placements.len());
    let mut others: Vec<(f64, GroupOnClass)> = Vec::new();
    let mut left = vec![1.0; part.capacity.len()];
    for (g, placements) in placements.iter().enumerate() {
        let (key, _) = *placements.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        favourite.push(key);
        for &(c, level) in placements {
            let tasks = level * part.tasks_per_level_f64(g, c);
            part.usage(g, c).for_each(|(row, usage)| left[row] -= usage * tasks / part.capacity[row]);
            if c != key {
                others.push((level / levels[g], GroupOnClass { g, c }));
            }
        }
    }
    others.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1.g, a.1.c).cmp(&(b.1.g, b.1.c))));
    let mut full: Vec<usize> = (0..left.len()).filter(|&row| left[row] < ROUNDING).collect();
    full.sort_by(|&a, &b| left[a].total_cmp(&left[b]).then(a.cmp(&b)));
    full.truncate(others.len() + 1);
    // One of the full rows corresponds to the level.
    let n_basic = full.len().checked_sub(1)?;
    let mut tight = vec![false; left.len()];
    full.into_iter().for_each(|row| tight[row] = true);
    let others = others.into_iter().enumerate().map(|(k, (_, place))| (place, k < n_basic)).collect();
    Some(FirstBasis { favourite, others, tight })
}
