//! Envy pair by pair, in integers.

use rayon::prelude::*;
use rug::{Assign, Integer, Rational};

use super::{Found, InverseWeights, Viewer};
use crate::budget::TooLarge;
use crate::instance::Instance;
use crate::quotient::{absorb, scaled};

/// The tightest pair whose first is among `users`.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
pub(super) fn tightest(
    instance: &Instance<'_>,
    weights: &InverseWeights,
    users: &[usize],
) -> Result<Option<Found>, TooLarge> {
    if users.is_empty() {
        return Ok(None);
    }
    let pairs = Pairs::new(instance, weights);
    let steps = pairs.narrow.as_ref().map_or(pairs.words() * pairs.words(), |_| 1);
    instance
        .budget()
        .charge((pairs.entries() as u64).saturating_mul(users.len() as u64).saturating_mul(steps))?;
    Ok(users.par_iter().map(|&n| pairs.tightest(n)).min())
}

/// Bundles of all users: `(class, H by row)`, ascending, only where something is held.
type Bundles<T> = Vec<Vec<(usize, Vec<T>)>>;

/// All bundles in integers, class by class: `H_mir = X_mi D_mir W_m` where a resource is divided, and
/// `H_mi = X_mi W_m / gamma_mi` where time is (over a common denominator).
struct Pairs<'a, 'b> {
    instance: &'a Instance<'b>,
    weights: &'a InverseWeights,
    bundles: Bundles<Integer>,
    /// The same when all of them fit.
    narrow: Option<Bundles<u128>>,
    /// The widest `H`, in bits.
    bits: u32,
    /// What the `H` of time rows are multiplied by, besides the others.
    time_scale: Integer,
}

impl<'a, 'b> Pairs<'a, 'b> {
    fn new(instance: &'a Instance<'b>, weights: &'a InverseWeights) -> Self {
        let constraints = instance.constraints();
        let gamma = |m: usize, i: usize| instance.problem().unconstrained_gamma(m, i);
        let mut time_scale = Integer::from(1);
        for (m, tasks) in instance.tasks.iter().enumerate() {
            for (i, _) in tasks.iter().filter(|(i, x)| *x > 0 && constraints.is_time_shared(*i)) {
                absorb(&mut time_scale, gamma(m, *i).numer());
            }
        }
        let bundle = |m: usize| -> Vec<(usize, Vec<Integer>)> {
            let held = instance.tasks[m].iter().filter(|(_, x)| *x > 0);
            held.map(|(i, x)| {
                let x = Integer::from(x * &weights.values[m]);
                if constraints.is_time_shared(*i) {
                    let gamma = gamma(m, *i);
                    let usage = Integer::from(time_scale.div_exact_ref(gamma.numer())) * gamma.denom();
                    return (*i, vec![x * usage]);
                }
                (*i, instance.scaled.demand(m, *i).iter().map(|d| Integer::from(d * &x)).collect())
            })
            .collect()
        };
        let bundles: Vec<_> = (0..instance.problem().n_users()).into_par_iter().map(bundle).collect();
        let all = bundles.iter().flatten().flat_map(|(_, rows)| rows);
        let bits = all.map(Integer::significant_bits).max().unwrap_or(0);
        let narrow = (bits < 128).then(|| {
            let narrow =
                |rows: &Vec<Integer>| rows.iter().map(|h| h.to_u128().unwrap_or(u128::MAX)).collect();
            bundles.iter().map(|b| b.iter().map(|(i, rows)| (*i, narrow(rows))).collect()).collect()
        });
        Self { instance, weights, bundles, narrow, bits, time_scale }
    }

    /// Numbers in all bundles.
    fn entries(&self) -> usize {
        self.bundles.iter().flatten().map(|(_, rows)| rows.len()).sum()
    }

    /// The widest number, in words of 64 bits.
    fn words(&self) -> u64 {
        u64::from(self.bits) / 64 + 1
    }

    /// The least margin of user `n`, and the first user that gives it.
    fn tightest(&self, n: usize) -> Found {
        let (inverse, viewer) = self.view(n);
        let widest = inverse.iter().flatten().flatten().map(Integer::significant_bits).max().unwrap_or(0);
        let classes = usize::BITS - inverse.len().leading_zeros();
        let others = (0..self.bundles.len()).filter(|&m| m != n);
        let fits = u64::from(self.bits) + u64::from(widest) + u64::from(classes) <= 127;
        let best = match &self.narrow {
            Some(bundles) if fits => {
                let narrow = |rows: &Vec<Integer>| rows.iter().map(|v| v.to_u128().unwrap_or(0)).collect();
                let inverse: Vec<Option<Vec<u128>>> =
                    inverse.iter().map(|rows| rows.as_ref().map(narrow)).collect();
                first_max(others.clone().map(|m| (narrow_worth(&bundles[m], &inverse), m)))
                    .map(|(worth, m)| (Integer::from(worth), m))
            }
            _ => first_max(others.clone().map(|m| (wide_worth(&self.bundles[m], &inverse), m))),
        };
        let (worth, mut envied) = best.unwrap_or_default();
        let value = viewer.value(&worth);
        // With T_n below the best value, the first bundle worth at least T_n is as tight.
        if let Some(tasks) = viewer.tasks.as_ref().filter(|tasks| **tasks < value) {
            let enough = viewer.ceil(tasks);
            let mut worths = others.map(|m| (wide_worth(&self.bundles[m], &inverse), m));
            envied = worths.find(|(worth, _)| *worth >= enough).map_or(envied, |(_, m)| m);
        }
        (viewer.margin(&value), n, envied)
    }

    /// `1 / d_nir` in integers by class and row (`None` where `n` cannot run), and what they are over.
    fn view(&self, n: usize) -> (Vec<Option<Vec<Integer>>>, Viewer) {
        let constraints = self.instance.constraints();
        let mut fractions: Vec<Option<Vec<Rational>>> = Vec::new();
        let mut common = Integer::from(1);
        for i in 0..self.instance.problem().n_servers() {
            if !self.instance.scaled.can_run(n, i) {
                fractions.push(None);
                continue;
            }
            let inverse: Vec<Rational> = if constraints.is_time_shared(i) {
                vec![self.instance.problem().unconstrained_gamma(n, i) / &self.time_scale]
            } else {
                let demand = self.instance.scaled.demand(n, i).iter();
                demand.map(|d| if d.is_zero() { Rational::new() } else { Rational::from((1, d)) }).collect()
            };
            for value in &inverse {
                absorb(&mut common, value.denom());
            }
            fractions.push(Some(inverse));
        }
        let integers = |rows: Vec<Rational>| rows.iter().map(|value| scaled(value, &common)).collect();
        let inverse = fractions.into_iter().map(|rows| rows.map(integers)).collect();
        let viewer = Viewer::new(self.instance, self.weights, n, &common);
        (inverse, viewer)
    }
}

/// The largest, and the first of its kind.
fn first_max<T: Ord>(values: impl Iterator<Item = (T, usize)>) -> Option<(T, usize)> {
    values.fold(None, |best: Option<(T, usize)>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    })
}

/// `sum_i min_r H_mir V_nir`. The caller has shown that it fits.
fn narrow_worth(bundle: &[(usize, Vec<u128>)], inverse: &[Option<Vec<u128>>]) -> u128 {
    let worth = |(i, rows): &(usize, Vec<u128>)| {
        let inverse = inverse[*i].as_ref()?;
        rows.iter().zip(inverse).filter(|(_, v)| **v != 0).map(|(h, v)| h * v).min()
    };
    bundle.iter().filter_map(worth).sum()
}

/// `sum_i min_r H_mir V_nir`.
fn wide_worth(bundle: &[(usize, Vec<Integer>)], inverse: &[Option<Vec<Integer>>]) -> Integer {
    let mut sum = Integer::new();
    let (mut least, mut product) = (Integer::new(), Integer::new());
    for (i, rows) in bundle {
        let Some(inverse) = &inverse[*i] else { continue };
        let mut first = true;
        for (h, v) in rows.iter().zip(inverse).filter(|(_, v)| !v.is_zero()) {
            product.assign(h * v);
            if first || product < least {
                std::mem::swap(&mut least, &mut product);
            }
            first = false;
        }
        if !first {
            sum += &least;
        }
    }
    sum
}
