//! Envy pair by pair, in integers.

use std::collections::HashMap;

use rayon::prelude::*;
use rug::{Assign, Integer, Rational};

use super::viewer::{Candidate, InverseWeights, Viewer};
use crate::budget::TooLarge;
use crate::instance::Instance;
use crate::quotient::{absorb, scaled};
use crate::sparse::Sparse;

/// The tightest pair whose first is among `users`.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
pub(super) fn tightest(
    instance: &Instance<'_>,
    weights: &InverseWeights,
    users: &[usize],
) -> Result<Option<Candidate>, TooLarge> {
    if users.is_empty() {
        return Ok(None);
    }
    let pairs = Pairs::new(instance, weights);
    let found: Vec<Option<Candidate>> =
        users.par_iter().map(|&n| pairs.tightest(n)).collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().min())
}

/// `(resource, value)` where the value is not 0, ascending; for time the resource is 0.
type Entries<T> = Vec<(usize, T)>;

/// Bundles of all users: `(class, H)`, ascending, only where something is held.
type Bundles<T> = Vec<Vec<(usize, Entries<T>)>>;

/// `1 / d_nir` in integers, by class on which the viewer can run.
type View = Sparse<Entries<Integer>>;

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
    /// By class and resource (0 for time): the users that hold something there, ascending. To a viewer a bundle is
    /// worth nothing on a class where it has nothing of a resource that the viewer demands.
    holders: HashMap<(usize, usize), Vec<usize>>,
    /// Numbers in all bundles.
    entries: usize,
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
        let bundle = |m: usize| -> Vec<(usize, Entries<Integer>)> {
            let held = instance.tasks[m].iter().filter(|(_, x)| *x > 0);
            held.map(|(i, x)| {
                let x = Integer::from(x * &weights.values[m]);
                if constraints.is_time_shared(*i) {
                    let gamma = gamma(m, *i);
                    let usage = Integer::from(time_scale.div_exact_ref(gamma.numer())) * gamma.denom();
                    return (*i, vec![(0, x * usage)]);
                }
                (*i, instance.scaled.demand(m, *i).iter().map(|(r, d)| (*r, Integer::from(d * &x))).collect())
            })
            .collect()
        };
        let bundles: Vec<_> = (0..instance.problem().n_users()).into_par_iter().map(bundle).collect();
        let all = bundles.iter().flatten().flat_map(|(_, rows)| rows);
        let bits = all.map(|(_, h)| h.significant_bits()).max().unwrap_or(0);
        let narrow = (bits < 128).then(|| {
            let narrow = |rows: &Entries<Integer>| {
                rows.iter().map(|(r, h)| (*r, h.to_u128().unwrap_or(u128::MAX))).collect()
            };
            bundles.iter().map(|b| b.iter().map(|(i, rows)| (*i, narrow(rows))).collect()).collect()
        });
        let mut holders: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
        let mut entries = 0;
        for (m, bundle) in bundles.iter().enumerate() {
            for (i, rows) in bundle {
                entries += rows.len();
                rows.iter().for_each(|(r, _)| holders.entry((*i, *r)).or_default().push(m));
            }
        }
        Self { instance, weights, bundles, narrow, bits, time_scale, holders, entries }
    }

    /// The users other than `n` whose bundles may be worth something to it, ascending; `None` where that is
    /// hardly less than everybody.
    fn neighbours(&self, n: usize, inverse: &View) -> Option<Vec<usize>> {
        let nobody = Vec::new();
        let mut lists = Vec::new();
        for (i, rates) in inverse.entries() {
            let holders = rates.iter().map(|(r, _)| self.holders.get(&(*i, *r)).unwrap_or(&nobody));
            lists.push(holders.min_by_key(|list| list.len())?);
        }
        let mut all = Vec::new();
        for list in lists {
            all.extend(list.iter().copied().filter(|&m| m != n));
            if all.len() > self.bundles.len() / 2 {
                return None;
            }
        }
        all.sort_unstable();
        all.dedup();
        Some(all)
    }

    /// The widest number, in words of 64 bits.
    fn words(&self) -> u64 {
        u64::from(self.bits) / 64 + 1
    }

    /// The least margin of user `n`, and the first user that gives it; `None` without another active user.
    fn tightest(&self, n: usize) -> Result<Option<Candidate>, TooLarge> {
        let is_other = |m: &usize| *m != n && self.instance.is_active(*m);
        let Some(anybody) = (0..self.bundles.len()).find(is_other) else { return Ok(None) };
        let (inverse, viewer) = self.view(n);
        let rates = || inverse.values().flatten();
        let widest = rates().map(|(_, v)| v.significant_bits()).max().unwrap_or(0);
        let classes = usize::BITS - inverse.entries().len().leading_zeros();
        let fits = u64::from(self.bits) + u64::from(widest) + u64::from(classes) <= 127;
        let steps = if fits { 1 } else { self.words() * (u64::from(widest) / 64 + 1) };
        let near = self.neighbours(n, &inverse);
        let entries = match &near {
            Some(near) => near.iter().flat_map(|&m| &self.bundles[m]).map(|(_, rows)| rows.len()).sum(),
            None => self.entries,
        };
        self.instance.budget().charge((entries as u64).saturating_mul(steps))?;
        let others = near.unwrap_or_else(|| (0..self.bundles.len()).filter(is_other).collect());
        let best = match &self.narrow {
            Some(bundles) if fits => {
                let narrow = |rows: &Entries<Integer>| -> Entries<u128> {
                    rows.iter().map(|(r, v)| (*r, v.to_u128().unwrap_or(0))).collect()
                };
                let inverse = inverse.entries().iter().map(|(i, rows)| (*i, narrow(rows)));
                let inverse = Sparse::new(inverse.collect());
                first_max(others.iter().map(|&m| (narrow_worth(&bundles[m], &inverse), m)))
                    .map(|(worth, m)| (Integer::from(worth), m))
            }
            _ => first_max(others.iter().map(|&m| (wide_worth(&self.bundles[m], &inverse), m))),
        };
        // Where no bundle is worth anything the first is as good as any.
        let (worth, mut envied) = best.filter(|(worth, _)| *worth > 0).unwrap_or((Integer::new(), anybody));
        let value = viewer.value(&worth);
        // With T_n below the best value, the first bundle worth at least T_n is as tight.
        if let Some(tasks) = viewer.tasks.as_ref().filter(|tasks| **tasks < value) {
            let enough = viewer.ceil(tasks);
            let mut worths = others.iter().map(|&m| (wide_worth(&self.bundles[m], &inverse), m));
            envied = worths.find(|(worth, _)| *worth >= enough).map_or(envied, |(_, m)| m);
        }
        Ok(Some((viewer.margin(&value), n, envied)))
    }

    /// `1 / d_nir` in integers by class on which `n` can run, and what they are over.
    fn view(&self, n: usize) -> (View, Viewer) {
        let constraints = self.instance.constraints();
        let mut fractions: Vec<(usize, Entries<Rational>)> = Vec::new();
        let mut common = Integer::from(1);
        for i in self.instance.scaled.classes(n) {
            let inverse: Entries<Rational> = if constraints.is_time_shared(i) {
                vec![(0, self.instance.problem().unconstrained_gamma(n, i) / &self.time_scale)]
            } else {
                let demand = self.instance.scaled.demand(n, i).iter();
                demand.map(|(r, d)| (*r, Rational::from((1, d)))).collect()
            };
            for (_, value) in &inverse {
                absorb(&mut common, value.denom());
            }
            fractions.push((i, inverse));
        }
        let integers =
            |rows: Entries<Rational>| rows.iter().map(|(r, value)| (*r, scaled(value, &common))).collect();
        let inverse = fractions.into_iter().map(|(i, rows)| (i, integers(rows))).collect();
        let viewer = Viewer::new(self.instance, self.weights, n, &common);
        (Sparse::new(inverse), viewer)
    }
}

/// The largest, and the first of its kind.
fn first_max<T: Ord>(values: impl Iterator<Item = (T, usize)>) -> Option<(T, usize)> {
    values.fold(None, |best: Option<(T, usize)>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    })
}

/// The entry of resource `r`, which is the one at `guess` where both demand the same resources.
fn entry<T>(entries: &[(usize, T)], r: usize, guess: usize) -> Option<&T> {
    match entries.get(guess) {
        Some((at, value)) if *at == r => Some(value),
        _ => entries.binary_search_by_key(&r, |(r, _)| *r).ok().map(|at| &entries[at].1),
    }
}

/// `sum_i min_r H_mir V_nir`. The caller has shown that it fits.
fn narrow_worth(bundle: &[(usize, Entries<u128>)], inverse: &Sparse<Entries<u128>>) -> u128 {
    let worth = |(i, held): &(usize, Entries<u128>)| {
        let rates = inverse.get(*i)?.iter().enumerate();
        rates.map(|(k, (r, v))| entry(held, *r, k).map_or(0, |h| h * v)).min()
    };
    bundle.iter().filter_map(worth).sum()
}

/// `sum_i min_r H_mir V_nir`.
fn wide_worth(bundle: &[(usize, Entries<Integer>)], inverse: &View) -> Integer {
    let mut sum = Integer::new();
    let (mut least, mut product) = (Integer::new(), Integer::new());
    for (i, held) in bundle {
        let Some(inverse) = inverse.get(*i) else { continue };
        let mut first = true;
        for (k, (r, v)) in inverse.iter().enumerate() {
            match entry(held, *r, k) {
                Some(h) => product.assign(h * v),
                None => product.assign(0),
            }
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
