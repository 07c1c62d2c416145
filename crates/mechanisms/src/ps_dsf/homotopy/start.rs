//! The starting point of a path: an active set read from a point, with perturbations of Theorem 1
//! (docs/theory.md, section 4). With these perturbations, the point and the active set are a solution at
//! `t = 1`.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::active_set::ActiveSet;
use super::piece::{Affine, Perturbation, Perturbed, Piece};
use super::scaled::ScaledModel;

/// The starting point of a path.
#[derive(Debug, Clone)]
pub struct PathStart {
    /// The active set at the starting point.
    pub set: ActiveSet,
    /// The perturbations for which the starting point is a solution.
    pub perturbation: Perturbation,
    /// The point at `t = 1`.
    pub now: Piece,
}

/// The thresholds and perturbations by which a starting point is derived from a point.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// The relative size up to which free fractions of rows and missing tasks count as 0.
    pub negligible: f64,
    /// The ratio of the highest level of a class to the highest level of its users.
    pub headroom: f64,
    /// The relative size of the random perturbations.
    pub noise: f64,
    /// The seed of the random perturbations.
    pub seed: u64,
}

/// Reads the starting point at `tasks`, in the units of the [`ScaledModel`]. The rows with a level in `found`
/// are full. Returns `None` if no active set at this point has a line of solutions.
pub fn start(
    scaled: &mut ScaledModel,
    tasks: &[f64],
    found: &[Option<f64>],
    reading: Reading,
) -> Option<PathStart> {
    let mut random = Pcg64Mcg::seed_from_u64(reading.seed);
    let mut noise = |size: f64| size * reading.noise * (0.1 + 0.9 * random.random::<f64>());
    let totals: Vec<f64> = scaled
        .of_user
        .iter()
        .map(|pairs| pairs.iter().map(|p| scaled.pairs[*p].gamma_share * tasks[*p]).sum())
        .collect();
    scaled.bound_levels(&totals, reading.headroom);
    let scaled = &*scaled;
    let mut set = ActiveSet::empty(scaled);
    for (user, total) in totals.iter().enumerate() {
        let limit = scaled.limits[user];
        set.satisfied[user] = limit.is_finite() && limit - total <= reading.negligible * limit;
    }
    let mut levels: Vec<f64> = scaled.class_of_row.iter().map(|class| scaled.highest[*class]).collect();
    for (row, level) in found.iter().enumerate() {
        if let Some(level) = level.filter(|level| *level < 0.9 * levels[row]) {
            levels[row] = level + noise(level);
            set.full[row] = true;
        }
    }
    for _ in 0..=levels.len() {
        while supports(scaled, tasks, &levels, &mut set) {}
        let of_row =
            |row: usize| if set.full[row] { levels[row] } else { scaled.highest[scaled.class_of_row[row]] };
        let levels = (0..levels.len()).map(of_row).collect();
        let start = perturbed(scaled, tasks, levels, set.clone(), &mut noise);
        match (Perturbed { scaled, perturbation: &start.perturbation }).piece(&start.set, &start.now) {
            Ok(_) => return Some(start),
            Err(row) => set.full[row?] = false,
        }
    }
    None
}

/// Chooses the pairs on which users run, and returns whether the choice must be repeated.
///
/// Every user runs on its main class, where it has most tasks. It also runs on another class if this ties two
/// levels that are not tied yet. Pairs with the largest fractions come first. A full row is then made not
/// full if no user that wants more tasks is tied to it. If there are such rows, the choice must be repeated.
fn supports(scaled: &ScaledModel, tasks: &[f64], levels: &[f64], set: &mut ActiveSet) -> bool {
    set.support.iter_mut().for_each(Vec::clear);
    set.bottleneck.fill(None);
    set.runs.fill(false);
    let size = |p: &usize| tasks[*p] * scaled.pairs[*p].gamma_share;
    let n_rows = levels.len();
    let mut parent: Vec<usize> = (0..n_rows).collect();
    let mut others: Vec<(f64, usize)> = Vec::new();
    let mut main = vec![None; set.support.len()];
    for (user, pairs) in scaled.of_user.iter().enumerate() {
        let list: Vec<usize> = pairs.iter().copied().filter(|p| tasks[*p] > 0.0).collect();
        let Some(largest) = list.iter().copied().max_by(|a, b| size(a).total_cmp(&size(b)).then(b.cmp(a)))
        else {
            continue;
        };
        set.enter(scaled, levels, largest);
        main[user] = Some(largest);
        let total: f64 = list.iter().map(size).sum();
        for p in list.into_iter().filter(|p| *p != largest) {
            let most =
                scaled.pairs[p].usage.iter().map(|(_, d)| d * tasks[p]).fold(size(&p) / total, f64::max);
            others.push((most, p));
        }
    }
    others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (_, p) in others {
        let here = main[scaled.pairs[p].user].and_then(|main| set.bottleneck[main]);
        let (Some(here), Some(there)) = (here, set.lowest(scaled, levels, p)) else { continue };
        let (a, b) = (root(&mut parent, here), root(&mut parent, there));
        if a != b {
            parent[a] = b;
            set.enter(scaled, levels, p);
        }
    }
    let mut alive = vec![false; n_rows];
    for user in (0..set.support.len()).filter(|user| !set.satisfied[*user]) {
        set.support[user]
            .iter()
            .filter_map(|p| set.bottleneck[*p])
            .for_each(|row| alive[root(&mut parent, row)] = true);
    }
    let dead: Vec<usize> =
        (0..n_rows).filter(|row| set.full[*row] && !alive[root(&mut parent, *row)]).collect();
    dead.iter().for_each(|row| set.full[*row] = false);
    !dead.is_empty()
}

/// Returns the representative of a node in a union-find structure.
fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}

/// Computes the perturbations for which the point and its active set are a solution.
fn perturbed(
    scaled: &ScaledModel,
    tasks: &[f64],
    levels: Vec<f64>,
    set: ActiveSet,
    noise: &mut impl FnMut(f64) -> f64,
) -> PathStart {
    let mut used = vec![0.0; levels.len()];
    let mut total = vec![0.0; set.support.len()];
    for p in set.support.iter().flatten() {
        let pair = &scaled.pairs[*p];
        total[pair.user] += pair.gamma_share * tasks[*p];
        pair.usage.iter().for_each(|(row, d)| used[*row] += d * tasks[*p]);
    }
    let offer = |p: usize| {
        let row = set.lowest(scaled, &levels, p);
        scaled.pairs[p].tasks_per_level * row.map_or(scaled.highest[scaled.pairs[p].class], |row| levels[row])
    };
    let mut perturbation = Perturbation {
        pairs: vec![0.0; scaled.pairs.len()],
        rows: vec![0.0; levels.len()],
        users: vec![0.0; set.support.len()],
    };
    let mut beyond = vec![0.0_f64; set.support.len()];
    for (user, pairs) in set.support.iter().enumerate() {
        let limit = scaled.limits[user];
        if set.satisfied[user] {
            perturbation.users[user] = total[user] - limit;
            let best = pairs.iter().map(|p| offer(*p)).fold(f64::INFINITY, f64::min);
            beyond[user] =
                if best.is_finite() { (best - total[user]).max(0.0) + noise(total[user]) } else { 0.0 };
        } else if total[user] >= limit {
            perturbation.users[user] = total[user] - limit + noise(limit);
        }
    }
    for (p, pair) in scaled.pairs.iter().enumerate() {
        let has = total[pair.user] + beyond[pair.user];
        let lack = offer(p) - has;
        perturbation.pairs[p] = if set.runs[p] { lack } else { noise(has.max(1e-6)) + lack.max(0.0) };
    }
    for (row, used) in used.iter().enumerate() {
        let over = used - 1.0;
        perturbation.rows[row] = if set.full[row] { over } else { over.max(0.0) + noise(1.0) };
    }
    let still = |values: Vec<f64>| values.into_iter().map(Affine::constant).collect();
    let running = (0..tasks.len()).map(|p| if set.runs[p] { tasks[p] } else { 0.0 }).collect();
    let now = Piece {
        t: Affine::constant(1.0),
        levels: still(levels),
        tasks: still(running),
        totals: still(total),
        beyond: still(beyond),
    };
    PathStart { set, perturbation, now }
}
