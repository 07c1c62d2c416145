//! Envy where no demand depends on the class: only bundles that few others dominate can be envied most.
//!
//! Users with the same set of classes see the same bundles `Q_mr`. What a bundle is worth to user `n`,
//! `min_r Q_mr / d_nr`, grows with every `Q_mr`, so that the bundle worth most to it, its own left out, is
//! among those that fewer than two others dominate (the 2-skyband): tens of thousands in most clusters.
//!
//! Numbers of exact answers are long, and mostly differ in their first digits: a comparison looks at 64
//! bits first, at the whole numbers only where those do not decide.

use std::cell::{Cell, OnceCell};

use rug::Integer;
use rug::ops::DivRounding;

use super::viewer::{Candidate, InverseWeights, Viewer};
use crate::amounts::amount_of;
use crate::budget::TooLarge;
use crate::instance::Instance;
use crate::quotient::{Quotient, absorb};

/// Bits that the leading part of a number may have: sums of one for each class stay below 64.
const LEADING_BITS: u32 = 50;

/// What every user holds on every class, in leading bits.
pub(super) struct Holdings<'a, 'b> {
    instance: &'a Instance<'b>,
    weights: &'a InverseWeights,
    /// By user, then as its tasks: by resource the leading bits of `x_mi d_mr / w_m`.
    leading: Vec<Vec<Vec<u64>>>,
    /// By resource: how far these are shifted to the right.
    shifts: Vec<u32>,
}

impl<'a, 'b> Holdings<'a, 'b> {
    pub fn new(instance: &'a Instance<'b>, weights: &'a InverseWeights) -> Self {
        let n_resources = instance.problem().n_resources();
        let amount = |m: usize, x: &Integer| Integer::from(x * &weights.values[m]);
        let mut bits = vec![0; n_resources];
        for (m, tasks) in instance.tasks.iter().enumerate() {
            for (_, x) in tasks {
                let x = amount(m, x).significant_bits();
                for (r, d) in instance.scaled.base_demand(m) {
                    bits[*r] = bits[*r].max(x + d.significant_bits());
                }
            }
        }
        let shifts: Vec<u32> = bits.into_iter().map(|bits: u32| bits.saturating_sub(LEADING_BITS)).collect();
        let leading = |m: usize, x: &Integer| {
            let x = amount(m, x);
            let mut leading = vec![0; n_resources];
            for (r, d) in instance.scaled.base_demand(m) {
                // It has at most LEADING_BITS bits.
                leading[*r] = (Integer::from(d * &x) >> shifts[*r]).to_u64_wrapping();
            }
            leading
        };
        let of_user = |(m, tasks): (usize, &Vec<(usize, Integer)>)| -> Vec<Vec<u64>> {
            tasks.iter().map(|(_, x)| leading(m, x)).collect()
        };
        let leading = instance.tasks.iter().enumerate().map(of_user).collect();
        Self { instance, weights, leading, shifts }
    }
}

/// The tightest pair whose first is among `users`, which have the same set of classes.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
pub(super) fn tightest(holdings: &Holdings<'_, '_>, users: &[usize]) -> Result<Option<Candidate>, TooLarge> {
    let Some(&member) = users.first() else { return Ok(None) };
    let pool = Pool::new(holdings, member)?;
    let mut least: Option<Candidate> = None;
    for &n in users {
        pool.charge(2 * pool.band.len())?;
        if let Some(found) = pool.tighter(n, least.as_ref().map(|(margin, _, _)| margin)) {
            least = Some(found);
        }
    }
    Ok(least)
}

/// The bundle of one user on the classes of the pool.
struct Bundle {
    user: usize,
    /// By resource, each too small by less than `parts`.
    leading: Vec<u64>,
    /// Classes that it is held on.
    parts: u64,
    /// Its tasks times `L` over its weight, once they are asked for.
    exact: OnceCell<Integer>,
}

/// The bundles that matter to those with one set of classes.
struct Pool<'h, 'a, 'b> {
    holdings: &'h Holdings<'a, 'b>,
    member: usize,
    band: Vec<Bundle>,
    /// Whole numbers looked at that are not charged yet.
    looks: Cell<u64>,
}

impl<'h, 'a, 'b> Pool<'h, 'a, 'b> {
    /// `member`: a user whose set of classes it is.
    fn new(holdings: &'h Holdings<'a, 'b>, member: usize) -> Result<Self, TooLarge> {
        let mut pool = Self { holdings, member, band: Vec::new(), looks: Cell::new(0) };
        let instance = holdings.instance;
        let n_resources = holdings.shifts.len();
        // A bundle with how many others dominate it.
        let mut band: Vec<(Bundle, u8)> = Vec::new();
        for m in (0..instance.problem().n_users()).filter(|&m| instance.is_active(m)) {
            let mut bundle =
                Bundle { user: m, leading: vec![0; n_resources], parts: 0, exact: OnceCell::new() };
            for ((i, _), leading) in instance.tasks[m].iter().zip(&holdings.leading[m]) {
                if instance.scaled.can_run(member, *i) {
                    bundle.parts += 1;
                    bundle.leading.iter_mut().zip(leading).for_each(|(sum, value)| *sum += value);
                }
            }
            pool.charge(n_resources * (band.len() + 1))?;
            pool.insert(&mut band, bundle);
        }
        pool.band = band.into_iter().map(|(bundle, _)| bundle).collect();
        pool.band.sort_unstable_by_key(|bundle| bundle.user);
        Ok(pool)
    }

    /// Charges looks at leading bits, before they are taken, and those at whole numbers since the last time.
    fn charge(&self, looks: usize) -> Result<(), TooLarge> {
        let instance = self.holdings.instance;
        let wide = self.looks.take().saturating_mul(instance.steps());
        instance.budget().charge(wide.saturating_add(looks as u64))
    }

    /// Adds a bundle unless two of the band dominate it, and removes those of which it is the second one
    /// to dominate them.
    fn insert(&self, band: &mut Vec<(Bundle, u8)>, bundle: Bundle) {
        let mut above = 0;
        for at in 0..band.len() {
            if self.dominates(&band[at].0, &bundle) {
                above += 1;
                // What dominates many stands in front.
                band.swap(at, at / 2);
                if above == 2 {
                    return;
                }
            }
        }
        band.retain_mut(|(other, above)| {
            *above += u8::from(self.dominates(&bundle, other));
            *above < 2
        });
        band.push((bundle, above));
    }

    /// Whether `a` is worth at least as much as `b` to everybody; of equal ones the first does.
    fn dominates(&self, a: &Bundle, b: &Bundle) -> bool {
        let mut equal = true;
        for r in 0..a.leading.len() {
            if a.leading[r] + a.parts <= b.leading[r] && b.parts > 0 {
                return false;
            }
            if a.leading[r] >= b.leading[r] + b.parts && a.leading[r] > 0 {
                equal = false;
                continue;
            }
            match self.amount(a, r).cmp(&self.amount(b, r)) {
                std::cmp::Ordering::Less => return false,
                std::cmp::Ordering::Equal => {}
                std::cmp::Ordering::Greater => equal = false,
            }
        }
        !equal || a.user < b.user
    }

    /// `Q_mr`.
    fn amount(&self, bundle: &Bundle, r: usize) -> Integer {
        let instance = self.holdings.instance;
        self.looks.set(self.looks.get() + 1);
        let exact = bundle.exact.get_or_init(|| {
            let held =
                instance.tasks[bundle.user].iter().filter(|(i, _)| instance.scaled.can_run(self.member, *i));
            held.map(|(_, x)| x).sum::<Integer>() * &self.holdings.weights.values[bundle.user]
        });
        amount_of(instance.scaled.base_demand(bundle.user), r)
            .map_or_else(Integer::new, |d| Integer::from(exact * d))
    }

    /// The tightest pair of user `n`, if its margin is less than `bound`.
    fn tighter(&self, n: usize, bound: Option<&Quotient>) -> Option<Candidate> {
        let view = self.view(n);
        // `min(T_n, v) > x_n - bound` is needed.
        let mut limits = match bound {
            None => None,
            Some(bound) => {
                let needed = view.viewer.lead(&view.viewer.in_tasks(bound));
                if view.viewer.tasks.as_ref().is_some_and(|tasks| *tasks <= needed) {
                    return None;
                }
                Some(self.limits(&view, &view.viewer.floor(&needed)))
            }
        };
        let mut best: Option<(Integer, usize)> = None;
        for bundle in self.band.iter().filter(|bundle| bundle.user != n) {
            if limits.as_ref().is_none_or(|limits| self.is_above(bundle, limits)) {
                let worth = self.worth(&view, bundle);
                limits = Some(self.limits(&view, &worth));
                best = Some((worth, bundle.user));
            }
        }
        let (worth, envied) = best?;
        Some((view.viewer.margin(&view.viewer.value(&worth)), n, envied))
    }

    fn view(&self, n: usize) -> View {
        let demand = self.holdings.instance.scaled.base_demand(n);
        let mut gcd = Integer::new();
        for (_, d) in demand {
            gcd.gcd_mut(d);
        }
        let demanded: Vec<usize> = demand.iter().map(|(r, _)| *r).collect();
        let reduced: Vec<Integer> =
            demand.iter().map(|(_, d)| Integer::from(d.div_exact_ref(&gcd))).collect();
        let (inverse, lcm) = inverses(&reduced);
        // The values are over L, the weight scale and, as D_mr / D_nr = D_mr V_r / (lcm gcd), these.
        let viewer = Viewer::new(self.holdings.instance, self.holdings.weights, n, &(lcm * gcd));
        View { viewer, demanded, inverse }
    }

    /// By demanded resource: the largest `Q_mr` that is not above the threshold, and its leading bits.
    fn limits(&self, view: &View, threshold: &Integer) -> Vec<Limit> {
        let limit = |(&r, inverse): (&usize, &Integer)| {
            let exact = threshold.clone().div_floor(inverse);
            let leading = Integer::from(&exact >> self.holdings.shifts[r]);
            let leading = if leading < 0 { None } else { Some(leading.to_u64().unwrap_or(u64::MAX)) };
            Limit { r, exact, leading }
        };
        view.demanded.iter().zip(&view.inverse).map(limit).collect()
    }

    fn is_above(&self, bundle: &Bundle, limits: &[Limit]) -> bool {
        limits.iter().all(|limit| {
            let Some(leading) = limit.leading else { return true };
            if bundle.leading[limit.r] > leading {
                return true;
            }
            if bundle.leading[limit.r] + bundle.parts <= leading {
                return false;
            }
            self.amount(bundle, limit.r) > limit.exact
        })
    }

    /// `min_r Q_mr V_r`.
    fn worth(&self, view: &View, bundle: &Bundle) -> Integer {
        let worth = view.demanded.iter().zip(&view.inverse);
        worth.map(|(&r, inverse)| self.amount(bundle, r) * inverse).min().unwrap_or_default()
    }
}

/// A bundle is above a threshold where `Q_mr` is above `exact` for every demanded `r`.
struct Limit {
    r: usize,
    exact: Integer,
    /// `None` below 0.
    leading: Option<u64>,
}

/// What one user makes of a [`Pool`]: the bundle of `m` is worth `min_r Q_mr V_r` to it.
struct View {
    viewer: Viewer,
    /// Resources that it demands.
    demanded: Vec<usize>,
    /// `V_r = lcm / d_nr` of those.
    inverse: Vec<Integer>,
}

/// The integers of `1 / demand` over their least common denominator, which is returned too.
/// Only the proportions of `demand` matter.
fn inverses(demand: &[Integer]) -> (Vec<Integer>, Integer) {
    let mut lcm = Integer::from(1);
    for d in demand {
        absorb(&mut lcm, d);
    }
    (demand.iter().map(|d| Integer::from(lcm.div_exact_ref(d))).collect(), lcm)
}
