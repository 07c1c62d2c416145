//! Envy where no demand depends on the class: bundles by rank.

use rayon::prelude::*;
use rug::Integer;
use rug::ops::DivRounding;

use super::{Found, InverseWeights, Viewer};
use crate::instance::Instance;
use crate::quotient::{Quotient, absorb};
use crate::scaled::amount_of;

/// Users per unit of parallel work.
const CHUNK: usize = 64;

/// The tightest pair whose first is among `users`, which have the same set of classes.
pub(super) fn tightest(instance: &Instance<'_>, weights: &InverseWeights, users: &[usize]) -> Option<Found> {
    let pool = Pool::new(instance, weights, *users.first()?);
    let (margin, user) = users.par_chunks(CHUNK).filter_map(|chunk| pool.tightest(chunk)).min()?;
    let envied = pool.envied(user, &margin);
    Some((margin, user, envied))
}

/// The bundles of all users as those with one set of classes see them.
///
/// `Q_mr = X_m D_mr W_m`, with `X_m` the tasks of `m` on the classes of the set (times `L`), `D_mr`
/// its demand (times the scale of `r`) and `W_m` its inverse weight (times theirs). With
/// `V_r = lcm / D_nr` the bundle of `m` is worth `S = min_r Q_mr V_r` to [`Viewer`]. That is
/// more than a threshold `B` exactly when `Q_mr > floor(B / V_r)` for every demanded `r`, and that
/// when the rank of `Q_mr` among the sorted values of `r` is at least the number of values up to
/// the floor: two products and a binary search for each `r`, then only comparisons of `u32`.
struct Pool<'a, 'b> {
    instance: &'a Instance<'b>,
    weights: &'a InverseWeights,
    /// By resource: the different values of `Q_mr`, ascending.
    values: Vec<Vec<Integer>>,
    /// By resource, then user: position of `Q_mr` in `values[r]`.
    ranks: Vec<Vec<u32>>,
}

impl<'a, 'b> Pool<'a, 'b> {
    /// `member`: a user whose set of classes it is.
    fn new(instance: &'a Instance<'b>, weights: &'a InverseWeights, member: usize) -> Self {
        let scaled = &instance.scaled;
        let held = |m: usize| -> Integer {
            let held = instance.tasks[m].iter().filter(|(i, x)| *x > 0 && scaled.can_run(member, *i));
            held.map(|(_, x)| x).sum::<Integer>() * &weights.values[m]
        };
        let held: Vec<Integer> = (0..instance.problem().n_users()).map(held).collect();
        let ranked = (0..instance.problem().n_resources()).into_par_iter().map(|r| {
            let bundles = held.iter().enumerate().map(|(m, held)| {
                amount_of(scaled.base_demand(m), r).map_or_else(Integer::new, |d| Integer::from(held * d))
            });
            let mut bundles: Vec<(Integer, u32)> = bundles.zip(0..).collect();
            bundles.sort_unstable();
            let mut ranks = vec![0; bundles.len()];
            let mut values: Vec<Integer> = Vec::new();
            for (value, m) in bundles {
                if values.last() != Some(&value) {
                    values.push(value);
                }
                ranks[m as usize] = (values.len() - 1) as u32;
            }
            (values, ranks)
        });
        let (values, ranks) = ranked.unzip();
        Self { instance, weights, values, ranks }
    }

    /// The least margin among `users` and the first that has it.
    fn tightest(&self, users: &[usize]) -> Option<(Quotient, usize)> {
        let mut least: Option<(Quotient, usize)> = None;
        for &n in users {
            if let Some(margin) = self.tighter(n, least.as_ref().map(|(margin, _)| margin)) {
                least = Some((margin, n));
            }
        }
        least
    }

    /// The margin of user `n` if it is less than `bound`.
    fn tighter(&self, n: usize, bound: Option<&Quotient>) -> Option<Quotient> {
        let view = self.view(n);
        // `min(T_n, v) > x_n - bound` is needed.
        let mut threshold = match bound {
            None => Integer::from(-1),
            Some(bound) => {
                let needed = view.viewer.lead(bound);
                if view.viewer.tasks.as_ref().is_some_and(|tasks| *tasks <= needed) {
                    return None;
                }
                view.viewer.floor(&needed)
            }
        };
        let mut found = false;
        let mut limits = self.limits(&view, &threshold);
        let n_users = self.instance.problem().n_users();
        let mut m = 0;
        while let Some(next) = self.next_above(&limits, n, m) {
            threshold = self.worth(&view, next);
            found = true;
            limits = self.limits(&view, &threshold);
            m = next + 1;
            if m >= n_users {
                break;
            }
        }
        found.then(|| view.viewer.margin(&view.viewer.value(&threshold)))
    }

    /// The first user whose bundle gives user `n` this margin.
    fn envied(&self, n: usize, margin: &Quotient) -> usize {
        let view = self.view(n);
        let threshold = view.viewer.ceil(&view.viewer.lead(margin)) - 1u32;
        self.next_above(&self.limits(&view, &threshold), n, 0).unwrap_or_default()
    }

    fn view(&self, n: usize) -> View {
        let demand = self.instance.scaled.base_demand(n);
        let mut gcd = Integer::new();
        for (_, d) in demand {
            gcd.gcd_mut(d);
        }
        let demanded = demand.iter().map(|(r, _)| *r).collect();
        let reduced: Vec<Integer> =
            demand.iter().map(|(_, d)| Integer::from(d.div_exact_ref(&gcd))).collect();
        let (inverse, lcm) = inverses(&reduced);
        // The values are over L, the weight scale and, as D_mr / D_nr = D_mr V_r / (lcm gcd), these.
        let viewer = Viewer::new(self.instance, self.weights, n, &(lcm * gcd));
        View { viewer, demanded, inverse }
    }

    /// By demanded resource: the ranks that are above the threshold start here.
    fn limits(&self, view: &View, threshold: &Integer) -> Vec<(usize, u32)> {
        let limit = |(&r, inverse): (&usize, &Integer)| {
            let floor = threshold.clone().div_floor(inverse);
            (r, self.values[r].partition_point(|value| *value <= floor) as u32)
        };
        view.demanded.iter().zip(&view.inverse).map(limit).collect()
    }

    /// The first user from `start` on, other than `n`, that is above the limits.
    fn next_above(&self, limits: &[(usize, u32)], n: usize, start: usize) -> Option<usize> {
        let (&(first, limit), rest) = limits.split_first()?;
        let candidates = self.ranks[first][start..].iter().enumerate();
        candidates
            .filter(|(_, rank)| **rank >= limit)
            .map(|(offset, _)| start + offset)
            .find(|&m| m != n && rest.iter().all(|&(r, limit)| self.ranks[r][m] >= limit))
    }

    /// `min_r Q_mr V_r`.
    fn worth(&self, view: &View, m: usize) -> Integer {
        let worth = view.demanded.iter().zip(&view.inverse);
        worth
            .map(|(&r, inverse)| Integer::from(&self.values[r][self.ranks[r][m] as usize] * inverse))
            .min()
            .unwrap_or_default()
    }
}

/// What one user makes of a [`Pool`].
struct View {
    viewer: Viewer,
    /// Resources that it demands.
    demanded: Vec<usize>,
    /// `V_r` of those.
    inverse: Vec<Integer>,
}

/// The integers of `1 / demand` over their least common denominator, which is returned too.
/// Only the proportions of `demand`, which has no zeros, matter.
fn inverses(demand: &[Integer]) -> (Vec<Integer>, Integer) {
    let mut lcm = Integer::from(1);
    for d in demand {
        absorb(&mut lcm, d);
    }
    (demand.iter().map(|d| Integer::from(lcm.div_exact_ref(d))).collect(), lcm)
}
