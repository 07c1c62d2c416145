//! An allocation in doubles, converted to short exact numbers that are feasible.

use evenhand_problem::Rational;

use super::entries;
use crate::level::data::LevelData;
use crate::level::duals::below;
use crate::level::split::Settled;
use crate::settings::LEVELS;

/// Returns the tasks of each group as exact numbers that are feasible together.
///
/// Groups that exact rounds have settled share no row with others, and keep their tasks. Groups that have all their
/// tasks get them exactly. If a class is overloaded, the other groups get less.
pub(super) fn feasible(
    data: &LevelData<'_>,
    exactly: Vec<Settled<Rational>>,
    settled: Vec<Settled<f64>>,
) -> Vec<Vec<(usize, Rational)>> {
    let mut placed: Vec<Vec<(usize, Rational)>> = vec![Vec::new(); data.groups.len()];
    let mut is_full = vec![false; data.groups.len()];
    let mut is_open = vec![false; data.groups.len()];
    for (g, list) in exactly {
        placed[g] = list;
    }
    // Groups that have nearly all their tasks get exactly all their tasks. Groups that have too many are cut.
    for (g, list) in settled {
        is_open[g] = true;
        let exact = |(i, x): (usize, f64)| Some((i, Rational::from_f64(x.max(0.0))?));
        let mut list: Vec<(usize, Rational)> = list.into_iter().filter_map(exact).collect();
        if let Some(limit) = &data.groups[g].tasks {
            let total: Rational = list.iter().map(|(_, x)| x).sum();
            let lacking = Rational::from(limit - &total);
            is_full[g] =
                lacking.clone().abs() <= Rational::from_f64(LEVELS.all_tasks).unwrap_or_default() * limit;
            match list.iter_mut().max_by(|a, b| a.1.cmp(&b.1)) {
                Some((_, largest)) if is_full[g] && Rational::from(&*largest + &lacking) >= 0 => {
                    *largest += lacking;
                }
                _ if total > *limit => {
                    list.iter_mut().for_each(|(_, x)| *x *= Rational::from(limit / &total));
                }
                _ => is_full[g] = false,
            }
        }
        placed[g] = list;
    }
    // First reduce the groups that lack tasks, then, if needed, all groups.
    for reduces_all in [false, true] {
        let n_rows = data.constraints.rows().len();
        let (mut load, mut movable) = (vec![Rational::new(); n_rows], vec![Rational::new(); n_rows]);
        for (g, list) in placed.iter().enumerate().filter(|(g, _)| is_open[*g]) {
            for (i, x) in list {
                for (row, usage) in entries(data, g, *i) {
                    let used = usage * x;
                    if reduces_all || !is_full[g] {
                        movable[row] += &used;
                    }
                    load[row] += used;
                }
            }
        }
        let mut factor: Vec<Option<Rational>> = vec![None; data.constraints.problem().n_servers()];
        for (i, factor) in factor.iter_mut().enumerate() {
            for row in data.constraints.class_rows(i) {
                let excess = Rational::from(&load[row] - &data.constraints.rows()[row].capacity);
                if excess > 0 && !movable[row].is_zero() {
                    let remaining: Rational = 1 - excess / &movable[row];
                    let remaining = remaining.max(Rational::new());
                    if factor.as_ref().is_none_or(|factor| remaining < *factor) {
                        *factor = Some(below(&remaining));
                    }
                }
            }
        }
        for (g, list) in placed.iter_mut().enumerate() {
            if !is_open[g] || is_full[g] && !reduces_all {
                continue;
            }
            for (i, x) in list {
                if let Some(factor) = &factor[*i] {
                    *x *= factor;
                }
            }
        }
    }
    placed
}
