//! A first basis from the interior point method, for programmes that need many simplex steps.
//!
//! The first columns are the cheapest classes of every group at guessed prices, and for each class the groups that suit
//! it best. The programme is then solved with increasing accuracy. After each solve, columns with a negative reduced
//! cost are added, until there are none. Each solve starts from a point of the previous solve that was still far from
//! all bounds.
//!
//! The last solve adds small pseudo-random costs. They select one vertex among the many optimal placements. If the
//! programme is solved to more digits than the costs have, the support of the point is a basis.
//!
//! The correctness of the result does not depend on this basis: HiGHS continues from it, and exact arithmetic checks
//! the result.

use super::interior::{Point, Programme, solve};
use super::part::{GroupOnClass, Need, Part};
use super::start::{FirstColumns, keep_least};
use crate::settings::{GUESS, INTERIOR};

/// A basis in which the level is basic and most groups run on one class alone.
pub struct FirstBasis {
    /// For each group, the class on which most of its tasks run. This placement is basic.
    pub favourite: Vec<usize>,
    /// The other placements, and true for each that is basic.
    pub others: Vec<(GroupOnClass, bool)>,
    /// For each row, true if its capacity is used up.
    pub tight: Vec<bool>,
}

/// The columns of the programme: for each group its classes, ascending.
type Columns = Vec<Vec<usize>>;

/// Computes a first basis from the prices of the rows.
///
/// Returns `None` if the programme is too small for the method to pay off, if the method does not apply, or if numbers
/// are too far apart for doubles.
pub fn start(part: &Part<'_>, unit: f64, needs: &[Need], prices: &[f64]) -> Option<FirstBasis> {
    let n_placements = part.n_placements();
    let has_task_row = (0..part.groups.len()).any(|g| part.has_task_row(g));
    if part.rows.len() < GUESS.few_rows || n_placements < INTERIOR.least_placements || has_task_row {
        return None;
    }
    let builder = Builder { part, unit, needs };
    let mut columns = first_columns(part, prices);
    let worth: Vec<f64> = prices.iter().zip(&part.capacity).map(|(p, c)| p * c).collect();
    // Start from an intermediate point of the previous solve, or otherwise from the prices.
    let mut from: Option<(Programme, Point)> = None;
    let mut last: Option<(Programme, Point)> = None;
    let solve_from = |from: Option<&(Programme, Point)>, programme: &Programme, tolerance: f64| {
        let again = from
            .and_then(|(before, early)| solve(programme, early.with_columns(before, programme), tolerance));
        again.or_else(|| solve(programme, Point::start(programme, &worth)?, tolerance))
    };
    for round in 0..INTERIOR.rounds {
        let before = columns.iter().map(Vec::len).sum::<usize>();
        if before == n_placements {
            break;
        }
        let programme = builder.programme(&columns, 0.0)?;
        let tolerance = *INTERIOR.rough.get(round).or(INTERIOR.rough.last())?;
        let solved = solve_from(from.as_ref(), &programme, tolerance)?;
        let added = builder.add_helpful(&mut columns, &solved.point);
        from = solved.early.map(|early| (programme.clone(), early));
        last = Some((programme, solved.point));
        if round > 0 && added * INTERIOR.few_added <= before {
            break;
        }
    }
    if let Some((programme, point)) = &last {
        columns = largest(programme, point);
    }
    // If rounding makes the solve with tie-breaking costs fail, use the last solve without them.
    let programme = builder.programme(&columns, INTERIOR.tie_cost)?;
    let from = from.filter(|(before, _)| before.is_within(&programme));
    let (programme, point) = match solve_from(from.as_ref(), &programme, INTERIOR.fine) {
        Some(solved) => (programme, solved.point),
        None => last?,
    };
    Some(builder.crash(&programme, &point))
}

fn columns_per_group(part: &Part<'_>) -> usize {
    (part.n_classes() / 3).clamp(INTERIOR.columns_per_group.0, INTERIOR.columns_per_group.1)
}

/// Returns the columns of the first solve: the cheapest classes of every group, and for each class
/// the groups that suit it best.
fn first_columns(part: &Part<'_>, prices: &[f64]) -> Columns {
    let n_placements = part.n_placements();
    if n_placements <= INTERIOR.few_columns * (part.groups.len() + part.n_classes()) || is_factoring_all(part)
    {
        return part.classes.clone();
    }
    let first = FirstColumns::at(part, prices);
    let mut columns: Columns = Vec::with_capacity(part.groups.len());
    for g in 0..part.groups.len() {
        let per_group = columns_per_group(part).max(part.classes[g].len() / INTERIOR.classes_per_column);
        let mut cheapest = Vec::with_capacity(per_group + 1);
        part.for_each_price(g, prices, |c, price| {
            keep_least(&mut cheapest, (price, c), per_group);
        });
        columns.push(cheapest.into_iter().map(|(_, c)| c).collect());
        columns[g].push(first.favourite[g]);
    }
    for placement in &first.placements {
        columns[placement.g].push(placement.c);
    }
    for list in &mut columns {
        list.sort_unstable();
        list.dedup();
    }
    columns
}

/// Returns the columns with the largest values.
///
/// Each group gets [`Interior::last_columns`](crate::settings::Interior::last_columns) columns. Each class gets the
/// same number of columns: those that use the largest fractions of the class.
fn largest(programme: &Programme, point: &Point) -> Columns {
    let mut of_class: Vec<Vec<(f64, usize)>> = vec![Vec::new(); programme.class_rows.len() - 1];
    let mut is_selected = vec![false; programme.n_columns()];
    for ends in programme.group_columns.windows(2) {
        let mut of_group = Vec::with_capacity(INTERIOR.last_columns + 1);
        for j in ends[0]..ends[1] {
            let most = programme.column(j).1.iter().copied().fold(0.0, f64::max);
            keep_least(&mut of_group, (-point.y[j], j), INTERIOR.last_columns);
            keep_least(&mut of_class[programme.class[j]], (-point.y[j] * most, j), INTERIOR.last_columns);
        }
        of_group.into_iter().for_each(|(_, j)| is_selected[j] = true);
    }
    of_class.into_iter().flatten().for_each(|(_, j)| is_selected[j] = true);
    let selected =
        |ends: &[usize]| (ends[0]..ends[1]).filter(|&j| is_selected[j]).map(|j| programme.class[j]).collect();
    programme.group_columns.windows(2).map(selected).collect()
}

/// Returns true if setting up the equations of all columns takes much less work than factoring them.
fn is_factoring_all(part: &Part<'_>) -> bool {
    let rows = part.class_rows();
    let (mut on_class, mut by_rows) = (vec![0.0; part.n_classes()], 0.0);
    for classes in &part.classes {
        let sizes = classes.iter().map(|&c| (rows[c + 1] - rows[c]) as f64);
        by_rows += sizes.sum::<f64>().powi(2) / 2.0;
        classes.iter().for_each(|&c| on_class[c] += 1.0);
    }
    let size = |c: usize| (rows[c + 1] - rows[c]) as f64;
    let by_groups: f64 = on_class.iter().enumerate().map(|(c, n): (usize, &f64)| n * n * size(c) / 2.0).sum();
    let cost = |pairs: f64, n: usize| (INTERIOR.scattered * pairs, (n as f64).powi(3) / 3.0);
    let (by_rows, by_groups) = (cost(by_rows, part.rows.len()), cost(by_groups, part.groups.len()));
    let (pairs, cube) = if by_rows.0 + by_rows.1 <= by_groups.0 + by_groups.1 { by_rows } else { by_groups };
    INTERIOR.little * pairs <= cube
}

struct Builder<'a> {
    part: &'a Part<'a>,
    /// The level that counts as 1 in the programme.
    unit: f64,
    needs: &'a [Need],
}

impl Builder<'_> {
    /// Builds the programme with the given columns. Returns `None` if a number is out of range.
    fn programme(&self, columns: &Columns, tie_cost: f64) -> Option<Programme> {
        let part = self.part;
        let mut programme = Programme {
            class_rows: part.class_rows(),
            group_columns: vec![0],
            class: Vec::new(),
            group: Vec::new(),
            start: Vec::new(),
            entries: Vec::new(),
            cost: Vec::new(),
            capacity: vec![1.0; part.rows.len()],
            multiple: self.needs.iter().map(|need| need.multiple).collect(),
            fixed: self.needs.iter().map(|need| need.fixed / self.unit).collect(),
        };
        let most = tie_cost / part.groups.len() as f64;
        for (g, classes) in columns.iter().enumerate() {
            for &c in classes {
                let first = programme.class_rows[c];
                let start = programme.entries.len();
                programme.entries.resize(start + programme.class_rows[c + 1] - first, 0.0);
                let tasks = part.tasks_per_level_f64(g, c) * self.unit;
                for (row, usage) in part.usage(g, c) {
                    let share = usage * tasks / part.capacity[row];
                    if !share.is_normal() {
                        return None;
                    }
                    programme.entries[start + row - first] = share;
                }
                programme.start.push(start);
                programme.class.push(c);
                programme.group.push(g);
                programme.cost.push(most * noise(g, c));
            }
            programme.group_columns.push(programme.class.len());
        }
        Some(programme)
    }

    /// Adds the cheapest of the columns that would raise the level at the prices of a point. Returns the number of
    /// added columns.
    fn add_helpful(&self, columns: &mut Columns, point: &Point) -> usize {
        let part = self.part;
        let prices: Vec<f64> = point.p.iter().zip(&part.capacity).map(|(p, c)| p / c).collect();
        let most = point.l.iter().copied().fold(0.0, f64::max);
        let per_group = columns_per_group(part);
        let mut added = 0;
        for (g, list) in columns.iter_mut().enumerate() {
            let limit = point.l[g] * (1.0 - INTERIOR.helpful) - INTERIOR.helpful * most;
            let mut cheapest = Vec::new();
            part.for_each_price(g, &prices, |c, price| {
                let price = price * self.unit;
                if price < limit && list.binary_search(&c).is_err() {
                    keep_least(&mut cheapest, (price, c), per_group);
                }
            });
            added += cheapest.len();
            list.extend(cheapest.into_iter().map(|(_, c)| c));
            list.sort_unstable();
        }
        added
    }

    /// Returns the basis that a point suggests. The largest column of every group is basic. Further
    /// columns are basic in order of their values, one for each full row, minus one for the level.
    fn crash(&self, programme: &Programme, point: &Point) -> FirstBasis {
        let placement = |j: usize| GroupOnClass { g: programme.group[j], c: programme.class[j] };
        let mut favourite = Vec::with_capacity(self.needs.len());
        let mut extras: Vec<(f64, usize)> = Vec::new();
        for (g, ends) in programme.group_columns.windows(2).enumerate() {
            let columns = ends[0]..ends[1];
            let key = columns.clone().max_by(|&a, &b| point.y[a].total_cmp(&point.y[b])).unwrap_or(ends[0]);
            favourite.push(programme.class[key]);
            let need = programme.multiple[g] * point.t + programme.fixed[g];
            let others = columns.filter(|&j| j != key && point.y[j] > INTERIOR.support * need);
            extras.extend(others.map(|j| (point.y[j] / need, j)));
        }
        extras.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut full: Vec<usize> = (0..point.p.len()).filter(|&row| point.p[row] > point.s[row]).collect();
        let fullness = |row: usize| point.p[row] / point.s[row];
        full.sort_by(|&a, &b| fullness(b).total_cmp(&fullness(a)).then(a.cmp(&b)));
        full.truncate(extras.len() + 1);
        let n_basic = full.len().saturating_sub(1);
        let mut tight = vec![false; point.p.len()];
        full.into_iter().for_each(|row| tight[row] = true);
        let others = extras.into_iter().enumerate().map(|(k, (_, j))| (placement(j), k < n_basic));
        FirstBasis { favourite, others: others.collect(), tight }
    }
}

/// Returns a pseudo-random number between 0 and 1 that depends only on the placement (the finaliser
/// of MurmurHash3).
pub fn noise(g: usize, c: usize) -> f64 {
    let mut h =
        (g as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (c as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    h = (h ^ (h >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    h = (h ^ (h >> 33)).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    ((h ^ (h >> 33)) >> 11) as f64 / (1_u64 << 53) as f64
}
