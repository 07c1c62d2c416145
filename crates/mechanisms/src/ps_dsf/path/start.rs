//! A path starts at a point with a guess of its active set, and with the shifts for which both are a
//! solution.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::active::ActiveSet;
use super::equations::{Line, Moving, Shift, line};
use super::model::Model;

/// The start of a path.
#[derive(Debug, Clone)]
pub struct Start {
    /// The active set.
    pub set: ActiveSet,
    /// The shifts.
    pub shift: Shift,
    /// The point, at `t = 1`.
    pub now: Line,
}

/// How a start is read off a point.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// Relative size of free parts of rows and of missing tasks that count as none.
    pub nothing: f64,
    /// How far the highest level of a class is above that of its users.
    pub above: f64,
    /// Relative size of the random shifts.
    pub noise: f64,
    /// Their seed.
    pub seed: u64,
}

/// The start at `tasks`, where the rows with `levels` are full, in the units of the model. `None` when
/// no active set there has a line of solutions.
pub fn start(model: &mut Model, tasks: &[f64], found: &[Option<f64>], reading: Reading) -> Option<Start> {
    let mut random = Pcg64Mcg::seed_from_u64(reading.seed);
    let mut noise = |size: f64| size * reading.noise * (0.1 + 0.9 * random.random::<f64>());
    let totals: Vec<f64> = model
        .of_user
        .iter()
        .map(|places| places.iter().map(|p| model.places[*p].part * tasks[*p]).sum())
        .collect();
    model.bound_levels(&totals, reading.above);
    let model = &*model;
    let mut set = ActiveSet::empty(model);
    for (user, total) in totals.iter().enumerate() {
        let limit = model.limits[user];
        set.satisfied[user] = limit.is_finite() && limit - total <= reading.nothing * limit;
    }
    let mut levels: Vec<f64> = model.class_of_row.iter().map(|class| model.highest[*class]).collect();
    for (row, level) in found.iter().enumerate() {
        if let Some(level) = level.filter(|level| *level < 0.9 * levels[row]) {
            levels[row] = level + noise(level);
            set.full[row] = true;
        }
    }
    for _ in 0..=levels.len() {
        while supports(model, tasks, &levels, &mut set) {}
        let of_row =
            |row: usize| if set.full[row] { levels[row] } else { model.highest[model.class_of_row[row]] };
        let levels = (0..levels.len()).map(of_row).collect();
        let start = with_shifts(model, tasks, levels, set.clone(), &mut noise);
        match line(model, &start.set, &start.shift, &start.now) {
            Ok(_) => return Some(start),
            Err(row) => set.full[row?] = false,
        }
    }
    None
}

/// Everybody runs at its main place, and where that ties two levels which are not tied yet, the
/// largest parts first. Rows that nobody who could have more is tied to are not full; true when there
/// are such, and the supports are to be chosen anew.
fn supports(model: &Model, tasks: &[f64], levels: &[f64], set: &mut ActiveSet) -> bool {
    set.support.iter_mut().for_each(Vec::clear);
    set.bottleneck.fill(None);
    set.runs.fill(false);
    let size = |p: &usize| tasks[*p] * model.places[*p].part;
    let n_rows = levels.len();
    let mut parent: Vec<usize> = (0..n_rows).collect();
    let mut others: Vec<(f64, usize)> = Vec::new();
    let mut main = vec![None; set.support.len()];
    for (user, places) in model.of_user.iter().enumerate() {
        let list: Vec<usize> = places.iter().copied().filter(|p| tasks[*p] > 0.0).collect();
        let Some(largest) = list.iter().copied().max_by(|a, b| size(a).total_cmp(&size(b)).then(b.cmp(a)))
        else {
            continue;
        };
        set.enter(model, levels, largest);
        main[user] = Some(largest);
        let total: f64 = list.iter().map(size).sum();
        for p in list.into_iter().filter(|p| *p != largest) {
            let most =
                model.places[p].usage.iter().map(|(_, d)| d * tasks[p]).fold(size(&p) / total, f64::max);
            others.push((most, p));
        }
    }
    others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (_, p) in others {
        let here = main[model.places[p].user].and_then(|main| set.bottleneck[main]);
        let (Some(here), Some(there)) = (here, set.lowest(model, levels, p)) else { continue };
        let (a, b) = (root(&mut parent, here), root(&mut parent, there));
        if a != b {
            parent[a] = b;
            set.enter(model, levels, p);
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

fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}

/// The shifts with which the point and its active set are a solution.
fn with_shifts(
    model: &Model,
    tasks: &[f64],
    levels: Vec<f64>,
    set: ActiveSet,
    noise: &mut impl FnMut(f64) -> f64,
) -> Start {
    let mut used = vec![0.0; levels.len()];
    let mut total = vec![0.0; set.support.len()];
    for p in set.support.iter().flatten() {
        let place = &model.places[*p];
        total[place.user] += place.part * tasks[*p];
        place.usage.iter().for_each(|(row, d)| used[*row] += d * tasks[*p]);
    }
    let offer = |p: usize| {
        let row = set.lowest(model, &levels, p);
        model.places[p].pace * row.map_or(model.highest[model.places[p].class], |row| levels[row])
    };
    let mut shift = Shift {
        places: vec![0.0; model.places.len()],
        rows: vec![0.0; levels.len()],
        users: vec![0.0; set.support.len()],
    };
    let mut beyond = vec![0.0_f64; set.support.len()];
    for (user, places) in set.support.iter().enumerate() {
        let limit = model.limits[user];
        if set.satisfied[user] {
            shift.users[user] = total[user] - limit;
            let best = places.iter().map(|p| offer(*p)).fold(f64::INFINITY, f64::min);
            beyond[user] =
                if best.is_finite() { (best - total[user]).max(0.0) + noise(total[user]) } else { 0.0 };
        } else if total[user] >= limit {
            shift.users[user] = total[user] - limit + noise(limit);
        }
    }
    for (p, place) in model.places.iter().enumerate() {
        let has = total[place.user] + beyond[place.user];
        let lack = offer(p) - has;
        shift.places[p] = if set.runs[p] { lack } else { noise(has.max(1e-6)) + lack.max(0.0) };
    }
    for (row, used) in used.iter().enumerate() {
        let over = used - 1.0;
        shift.rows[row] = if set.full[row] { over } else { over.max(0.0) + noise(1.0) };
    }
    let still = |values: Vec<f64>| values.into_iter().map(|at| Moving { at, by: 0.0 }).collect();
    let running = (0..tasks.len()).map(|p| if set.runs[p] { tasks[p] } else { 0.0 }).collect();
    let now = Line {
        t: Moving { at: 1.0, by: 0.0 },
        levels: still(levels),
        tasks: still(running),
        totals: still(total),
        beyond: still(beyond),
    };
    Start { set, shift, now }
}
