//! Envy-free (weighted): `x_n >= min(T_n, v_nm)` for every other user `m`, where
//! `v_nm = sum_i min over r with d_nir > 0 of (w_n/w_m) x_mi d_mir / d_nir` is what the bundle of
//! `m`, scaled by the weights, is worth to `n`; only classes count that `n` can run on, and where
//! time is shared the row of time takes the place of the resources (THEORY, section 7).
//!
//! Margin: the least `x_n - min(T_n, v_nm)` over the pairs `n != m`, in tasks; absent without a
//! pair. Users that are not active envy nobody. A negative holding is worth nothing.
//!
//! Three ways to the same answer:
//! * [`envy_free_reference`]: the formula, in rationals, pair by pair. Tests compare with it.
//! * No demand depends on the class and no time is shared: then
//!   `v_nm = w_n min_r q_mr / d_nr`, with `q_mr = d_mr / w_m` times the tasks of `m` on the classes
//!   of `n`. For all users with the same set of classes the `q_r` are put into integers and sorted
//!   once, so that "is worth more than" becomes a comparison of ranks: see [`Pool`].
//! * Else every pair is compared in integers, of 128 bits where a bound says beforehand that they
//!   suffice: see [`Pairs`].

use std::collections::BTreeMap;

use evenhand_problem::{Constraints, Problem};
use rayon::prelude::*;
use rug::ops::DivRounding;
use rug::{Assign, Integer, Rational};

use crate::instance::Instance;
use crate::quotient::{Quotient, absorb, scaled};

/// The pair `(user, envied)` with the least margin, and the margin.
#[derive(Debug, Clone, PartialEq)]
pub struct Tightest {
    /// The user that envies, or comes closest to it.
    pub user: usize,
    /// The user that it looks at.
    pub envied: usize,
    /// `x_n - min(T_n, v_nm)`, in tasks.
    pub margin: Rational,
}

/// Users per unit of parallel work.
const CHUNK: usize = 64;

/// The tightest pair (lowest user, then lowest envied user among equals); `None` without a pair.
#[must_use]
pub fn tightest(instance: &Instance<'_>) -> Option<Tightest> {
    if instance.problem().n_users() < 2 {
        return None;
    }
    if instance.scaled.is_uniform() { tightest_by_rank(instance) } else { tightest_by_pairs(instance) }
}

/// The margin of one pair; `None` when `user` is not active or both are the same.
#[must_use]
pub fn margin(instance: &Instance<'_>, user: usize, envied: usize) -> Option<Rational> {
    let n_users = instance.problem().n_users();
    if user == envied || user >= n_users || envied >= n_users || !instance.is_active(user) {
        return None;
    }
    let holdings: Vec<(usize, Rational)> = instance.tasks[envied]
        .iter()
        .map(|(i, x)| (*i, Rational::from((x, &instance.denominator))))
        .collect();
    let value = bundle_value(instance.constraints(), user, envied, &holdings);
    Some(margin_of(instance.problem(), user, instance.total(user), value))
}

/// [`tightest`] in the plainest way: rational numbers, pair by pair.
///
/// The reference that the fast ways are tested against; time `O(N^2 K m)` rational operations.
#[must_use]
pub fn envy_free_reference(instance: &Instance<'_>) -> Option<Tightest> {
    let n_users = instance.problem().n_users();
    let mut least: Option<Tightest> = None;
    for user in 0..n_users {
        for envied in 0..n_users {
            let Some(margin) = margin(instance, user, envied) else { continue };
            if least.as_ref().is_none_or(|least| margin < least.margin) {
                least = Some(Tightest { user, envied, margin });
            }
        }
    }
    least
}

/// `v_nm` in tasks of `user`.
fn bundle_value(
    constraints: &Constraints<'_>,
    user: usize,
    envied: usize,
    holdings: &[(usize, Rational)],
) -> Rational {
    let users = constraints.problem().users();
    let mut value = Rational::new();
    for (i, x) in holdings.iter().filter(|(_, x)| *x > 0) {
        let (Some(own), Some(theirs)) = (constraints.usage(user, *i), constraints.usage(envied, *i)) else {
            continue;
        };
        let fractions = own.iter().zip(theirs.iter()).filter(|(own, _)| !own.is_zero());
        let tasks = fractions.map(|(own, theirs)| Rational::from(theirs / own) * x).min();
        value += tasks.unwrap_or_default();
    }
    value * users[user].weight() / users[envied].weight()
}

fn margin_of(problem: &Problem, user: usize, total: Rational, value: Rational) -> Rational {
    match problem.users()[user].tasks() {
        Some(tasks) if *tasks < value => total - tasks,
        _ => total - value,
    }
}

/// `1 / w_m` in integers, with their denominator.
fn inverse_weights(problem: &Problem) -> (Vec<Integer>, Integer) {
    let inverse: Vec<Rational> = problem.users().iter().map(|user| user.weight().clone().recip()).collect();
    let mut common = Integer::from(1);
    for value in &inverse {
        absorb(&mut common, value.denom());
    }
    (inverse.iter().map(|value| scaled(value, &common)).collect(), common)
}

/// How a user counts: bundle values are integers `S` with `v L = S / scale`.
///
/// Values, task limits and margins all carry the common denominator `L` of the allocation, which is
/// the wide number of an exact answer and cancels from every comparison.
struct Viewer {
    /// `Wl Lcm / w_n`.
    scale: Rational,
    /// `x_n L`.
    total: Integer,
    /// `T_n L`.
    tasks: Option<Quotient>,
}

impl Viewer {
    /// `lcm`: what the user's inverse demands are multiplied by.
    fn new(instance: &Instance<'_>, weight_scale: &Integer, n: usize, lcm: &Integer) -> Self {
        let user = &instance.problem().users()[n];
        let scale = Integer::from(weight_scale * lcm);
        let limit = |tasks: &Rational| {
            Quotient::new(Integer::from(tasks.numer() * &instance.denominator), tasks.denom().clone())
        };
        Self {
            scale: Rational::from(user.weight().recip_ref()) * scale,
            total: instance.totals[n].clone(),
            tasks: user.tasks().map(limit),
        }
    }

    /// `S / scale`.
    fn value(&self, sum: &Integer) -> Quotient {
        Quotient::new(Integer::from(sum * self.scale.denom()), self.scale.numer().clone())
    }

    /// The largest integer `S` with `S / scale <= value`.
    fn floor(&self, value: &Quotient) -> Integer {
        let numerator = Integer::from(&value.numerator * self.scale.numer());
        numerator.div_floor(Integer::from(&value.denominator * self.scale.denom()))
    }

    /// The least integer `S` with `S / scale >= value`.
    fn ceil(&self, value: &Quotient) -> Integer {
        let numerator = Integer::from(&value.numerator * self.scale.numer());
        numerator.div_ceil(Integer::from(&value.denominator * self.scale.denom()))
    }

    /// `(x_n - other) L`, given `other L`.
    fn lead(&self, other: &Quotient) -> Quotient {
        let numerator = Integer::from(&self.total * &other.denominator) - &other.numerator;
        Quotient::new(numerator, other.denominator.clone())
    }

    /// `(x_n - min(T_n, v)) L`, given `v L`.
    fn margin(&self, value: &Quotient) -> Quotient {
        match &self.tasks {
            Some(tasks) if tasks < value => self.lead(tasks),
            _ => self.lead(value),
        }
    }
}

/// The integers of `1 / demand` over their least common denominator, which is returned too.
/// Only the proportions of `demand` matter; zeros stay zeros.
fn inverses(demand: &[Integer]) -> (Vec<Integer>, Integer) {
    let mut lcm = Integer::from(1);
    for d in demand.iter().filter(|d| !d.is_zero()) {
        absorb(&mut lcm, d);
    }
    let inverse =
        |d: &Integer| if d.is_zero() { Integer::new() } else { Integer::from(lcm.div_exact_ref(d)) };
    (demand.iter().map(inverse).collect(), lcm)
}

// ---- ranks ----

fn tightest_by_rank(instance: &Instance<'_>) -> Option<Tightest> {
    let (inverse_weights, weight_scale) = inverse_weights(instance.problem());
    let mut groups: BTreeMap<&[u64], Vec<usize>> = BTreeMap::new();
    for n in (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)) {
        groups.entry(instance.scaled.class_set(n)).or_default().push(n);
    }
    let mut least: Option<(Quotient, usize, usize)> = None;
    for users in groups.values() {
        let pool = Pool::new(instance, &inverse_weights, &weight_scale, users[0]);
        let chunks = users.par_chunks(CHUNK).filter_map(|chunk| pool.tightest(chunk)).min();
        if let Some((margin, user)) = chunks {
            if least.as_ref().is_none_or(|(m, u, _)| (&margin, user) < (m, *u)) {
                let envied = pool.envied(user, &margin);
                least = Some((margin, user, envied));
            }
        }
    }
    least.map(|(margin, user, envied)| Tightest {
        user,
        envied,
        margin: margin.to_rational() / &instance.denominator,
    })
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
    weight_scale: &'a Integer,
    /// By resource: the different values of `Q_mr`, ascending.
    values: Vec<Vec<Integer>>,
    /// By resource, then user: position of `Q_mr` in `values[r]`.
    ranks: Vec<Vec<u32>>,
}

impl<'a, 'b> Pool<'a, 'b> {
    /// `member`: a user whose set of classes it is.
    fn new(
        instance: &'a Instance<'b>,
        inverse_weights: &[Integer],
        weight_scale: &'a Integer,
        member: usize,
    ) -> Self {
        let scaled = &instance.scaled;
        let held = |m: usize| -> Integer {
            let held = instance.tasks[m].iter().filter(|(i, x)| *x > 0 && scaled.can_run(member, *i));
            held.map(|(_, x)| x).sum::<Integer>() * &inverse_weights[m]
        };
        let held: Vec<Integer> = (0..instance.problem().n_users()).map(held).collect();
        let ranked = (0..instance.problem().n_resources()).into_par_iter().map(|r| {
            let bundles =
                held.iter().enumerate().map(|(m, held)| Integer::from(held * &scaled.base_demand(m)[r]));
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
        Self { instance, weight_scale, values, ranks }
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
        for d in demand {
            gcd.gcd_mut(d);
        }
        let demanded: Vec<usize> = (0..demand.len()).filter(|&r| !demand[r].is_zero()).collect();
        let reduced: Vec<Integer> =
            demanded.iter().map(|&r| Integer::from(demand[r].div_exact_ref(&gcd))).collect();
        let (inverse, lcm) = inverses(&reduced);
        // The values are over L, the weight scale and, as D_mr / D_nr = D_mr V_r / (lcm gcd), these.
        let viewer = Viewer::new(self.instance, self.weight_scale, n, &(lcm * gcd));
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

// ---- pairs ----

fn tightest_by_pairs(instance: &Instance<'_>) -> Option<Tightest> {
    let pairs = Pairs::new(instance);
    let users: Vec<usize> = (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)).collect();
    let least = users
        .into_par_iter()
        .map(|n| (pairs.tightest(n), n))
        .min_by(|a, b| (&a.0.0, a.1).cmp(&(&b.0.0, b.1)))?;
    let ((margin, envied), user) = least;
    Some(Tightest { user, envied, margin: margin.to_rational() / &instance.denominator })
}

/// All bundles in integers, class by class: `H_mir = X_mi D_mir W_m` where a resource is divided, and
/// `H_mi = X_mi W_m / gamma_mi` where time is (over a common denominator).
struct Pairs<'a, 'b> {
    instance: &'a Instance<'b>,
    weight_scale: Integer,
    /// By user: `(class, H by row)`, ascending, only where something is held.
    bundles: Vec<Vec<(usize, Vec<Integer>)>>,
    /// The same when all of them fit.
    narrow: Option<Vec<Vec<(usize, Vec<u128>)>>>,
    /// The widest `H`, in bits.
    bits: u32,
    /// What the `H` of time rows are multiplied by, besides the others.
    time_scale: Integer,
}

impl<'a, 'b> Pairs<'a, 'b> {
    fn new(instance: &'a Instance<'b>) -> Self {
        let constraints = instance.constraints();
        let (inverse_weights, weight_scale) = inverse_weights(instance.problem());
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
                let x = Integer::from(x * &inverse_weights[m]);
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
        Self { instance, weight_scale, bundles, narrow, bits, time_scale }
    }

    /// The least margin of user `n`, and the first user that gives it.
    fn tightest(&self, n: usize) -> (Quotient, usize) {
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
        (viewer.margin(&value), envied)
    }

    /// `1 / d_nir` in integers by class and row (`None` where `n` cannot run or nobody holds
    /// anything that matters), and what they are over.
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
        let viewer = Viewer::new(self.instance, &self.weight_scale, n, &common);
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
