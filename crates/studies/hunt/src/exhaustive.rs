//! A complete search of all instances of a given size, up to symmetry.
//!
//! The earnings of greedy and of the optimum depend on the demands only through the feasible configurations. So
//! matrices of demands form classes: those with the same set of maximal configurations, up to the order of the types.
//! In each class the search tries every vector of rewards with greatest common divisor 1, since scaling does not
//! matter. Vectors that a symmetry of the class maps to a smaller vector are skipped. The order of the types matters
//! only if there are ties. If some set of types has several best configurations, all orders are tried. Otherwise one
//! order is tried.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use evenhand_problem::{Integer, Rational};
use rayon::prelude::*;
use rug::ops::Pow;

use super::clock::Clock;
use super::types::{Instance, JobTypeNumbers, maximal};
use super::worst::{Counts, below_until, has_ties};
use super::{Found, HuntError, Settings};

/// The largest number of matrices of demands, up to the order of the types, that can be enumerated.
pub const MOST_MATRICES: u64 = 20_000_000;
/// The number of instances in one batch, counting all orders of their types. A batch takes a few seconds at most.
const BATCH: usize = 16_384;
/// The largest size of all sets of configurations together: 512 MiB.
const MOST_BYTES: usize = 1 << 29;
/// The number of matrices whose configurations are computed together.
const CHUNK: usize = 16_384;

/// A list of configurations, or the demands of the types.
type Rows = Vec<Vec<u32>>;

/// A set of configurations, up to the order of the types.
#[derive(Debug)]
struct Class {
    demands: Rows,
    maximal: Rows,
    /// The orders of the types that map the set to itself, without the identity.
    symmetries: Vec<Vec<usize>>,
}

/// All classes of demand matrices of one size.
#[derive(Debug)]
pub struct Exhaustive {
    settings: Settings,
    classes: Vec<Class>,
    orders: Vec<Vec<usize>>,
    /// The number of matrices of demands, up to the order of the types.
    pub matrices: u64,
    /// The number of matrices that were left out because they have too many configurations.
    pub too_large: u64,
    /// The number of matrices that were left out, counting all orders of their types.
    left_out: Integer,
}

impl Exhaustive {
    /// Enumerates the matrices of demands and their classes.
    ///
    /// # Errors
    /// [`HuntError::TooLarge`] if there are too many matrices, and [`HuntError::OutOfTime`] if the time limit is
    /// reached.
    pub fn new(settings: &Settings, clock: &Clock) -> Result<Self, HuntError> {
        let n_types = settings.types;
        let demands = demand_vectors(settings)?;
        let matrices = multisets(demands.len() as u64, n_types as u64);
        if matrices > MOST_MATRICES || n_types > 6 {
            return Err(HuntError::TooLarge { matrices: matrices.to_string() });
        }
        let matrices = matrices.to_u64().unwrap_or(u64::MAX);
        if u128::from(settings.rewards).checked_pow(n_types as u32).is_none_or(|all| all > 1 << 40) {
            return Err(HuntError::TooLarge { matrices: format!("{matrices}, each with too many rewards") });
        }
        let capacity = vec![settings.capacity; settings.resources];
        let mut sets: BTreeMap<Rows, Vec<usize>> = BTreeMap::new();
        let mut at = Some(vec![0; n_types]);
        let mut bytes = 0;
        let (mut too_large, mut left_out) = (0, Integer::new());
        let limits = evenhand_budget::handle();
        while at.is_some() {
            clock.check()?;
            let chunk: Vec<Vec<usize>> = std::iter::from_fn(|| {
                let now = at.take()?;
                at = next_multiset(&now, demands.len());
                Some(now)
            })
            .take(CHUNK)
            .collect();
            let found: Vec<(Option<Rows>, Vec<usize>)> = chunk
                .into_par_iter()
                .map(|choice| {
                    clock.check()?;
                    let rows: Vec<&[u32]> = choice.iter().map(|&d| demands[d].as_slice()).collect();
                    let mut list = limits.enter(|| maximal(&capacity, &rows));
                    list.iter_mut().for_each(|list| list.sort_unstable());
                    Ok((list, choice))
                })
                .collect::<Result<_, HuntError>>()?;
            for (list, choice) in found {
                let Some(list) = list else {
                    too_large += 1;
                    left_out += orders_of(&choice);
                    continue;
                };
                let each = size_of::<Vec<u32>>() + n_types * size_of::<u32>();
                let size = list.len() * each;
                if let Entry::Vacant(vacant) = sets.entry(list) {
                    vacant.insert(choice);
                    bytes += size;
                }
                if bytes > MOST_BYTES {
                    return Err(too_many());
                }
            }
        }
        let orders = orders(n_types);
        // The smallest member of a class represents the class.
        let canonical: Vec<(Rows, Rows)> = sets
            .into_par_iter()
            .map(|(list, choice)| {
                clock.check()?;
                let least = orders.iter().map(|order| (reordered(&list, order), order)).min();
                let (list, order) = least.unwrap_or_else(|| (list.clone(), &orders[0]));
                Ok((list, order.iter().map(|&j| demands[choice[j]].clone()).collect()))
            })
            .collect::<Result<_, HuntError>>()?;
        let mut unique: BTreeMap<Rows, Rows> = BTreeMap::new();
        for (list, demands) in canonical {
            unique.entry(list).or_insert(demands);
        }
        let class = |(maximal, demands): (Rows, _)| {
            let symmetries = orders[1..].iter().filter(|order| reordered(&maximal, order) == maximal);
            Class { demands, symmetries: symmetries.cloned().collect(), maximal }
        };
        let classes = unique.into_iter().map(class).collect();
        Ok(Self { settings: settings.clone(), classes, orders, matrices, too_large, left_out })
    }

    /// Returns the number of classes.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// Returns the position at which the search ends: the number of classes times the number of vectors of rewards.
    #[must_use]
    pub fn total(&self) -> u64 {
        (self.classes.len() as u64).saturating_mul(self.settings.rewards.pow(self.settings.types as u32))
    }

    /// Returns the number of instances that the search decides. Instances that differ in the order of types count
    /// separately. The number is right only if no instance was too large.
    #[must_use]
    pub fn covered(&self) -> Integer {
        let n_types = self.settings.types as u32;
        let demands = Integer::from(self.settings.capacity + 1).pow(self.settings.resources as u32) - 1u32;
        let matrices = demands.pow(n_types) - &self.left_out;
        matrices * Integer::from(self.settings.rewards).pow(n_types)
    }

    /// Searches one batch from `position` on.
    ///
    /// Returns the instances below the bound in their order, the counts, and the position of the next batch. The
    /// position is `None` if the time was up before the end of the batch.
    ///
    /// # Errors
    /// The errors of [`below`](super::below).
    pub fn batch(
        &self,
        position: u64,
        bound: &Rational,
        clock: &Clock,
    ) -> Result<(Vec<Found>, Counts, Option<u64>), HuntError> {
        let batch = (BATCH / self.orders.len()).max(1) as u64;
        let end = self.total().min(position.saturating_add(batch));
        let limits = evenhand_budget::handle();
        let examined: Vec<(Option<Found>, Counts, bool)> = (position..end)
            .into_par_iter()
            .map(|code| {
                let mut counts = Counts::default();
                match limits.enter(|| self.examine(code, bound, &mut counts, clock)) {
                    Ok(found) => Ok((found, counts, true)),
                    Err(HuntError::OutOfTime) => Ok((None, counts, false)),
                    Err(error) => Err(error),
                }
            })
            .collect::<Result<_, HuntError>>()?;
        let mut total = Counts::default();
        examined.iter().for_each(|(_, counts, _)| total.add(counts));
        let is_whole = examined.iter().all(|(_, _, is_whole)| *is_whole);
        let found = examined.into_iter().filter_map(|(found, _, _)| found).collect();
        Ok((found, total, is_whole.then_some(end)))
    }

    fn examine(
        &self,
        code: u64,
        bound: &Rational,
        counts: &mut Counts,
        clock: &Clock,
    ) -> Result<Option<Found>, HuntError> {
        clock.check()?;
        let largest = self.settings.rewards;
        let per_class = largest.pow(self.settings.types as u32);
        let Some(class) = usize::try_from(code / per_class).ok().and_then(|at| self.classes.get(at)) else {
            return Ok(None);
        };
        // The remaining digits of the code are the rewards.
        let mut rest = code % per_class;
        let mut rewards = vec![0; self.settings.types];
        for reward in rewards.iter_mut().rev() {
            *reward = rest % largest + 1;
            rest /= largest;
        }
        // Multiples of a vector of rewards have the same ratio, and so have its images under symmetries. Only
        // one vector of each such set is tried.
        if rewards.iter().copied().fold(0, gcd) != 1 {
            return Ok(None);
        }
        let mapped = |order: &Vec<usize>| order.iter().map(|&j| rewards[j]).collect::<Vec<u64>>();
        if class.symmetries.iter().any(|order| mapped(order) < rewards) {
            return Ok(None);
        }
        let orders =
            if has_ties(&rewards, &class.maximal) { self.orders.as_slice() } else { &self.orders[..1] };
        let mut least: Option<Found> = None;
        for order in orders {
            let types = order
                .iter()
                .map(|&j| JobTypeNumbers { demand: class.demands[j].clone(), reward: rewards[j] });
            let capacity = vec![self.settings.capacity; self.settings.resources];
            let instance = Instance { capacity, types: types.collect() };
            let list = reordered(&class.maximal, order);
            let bound = least.as_ref().map_or(bound, |found| &found.ratio);
            if let Some(ratio) = below_until(&instance, Some(&list), bound, counts, clock)? {
                least = Some(Found { instance, ratio });
            }
        }
        Ok(least)
    }
}

fn too_many() -> HuntError {
    HuntError::TooLarge { matrices: "too many configurations".to_owned() }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns all demand vectors of a type except the zero vector.
fn demand_vectors(settings: &Settings) -> Result<Rows, HuntError> {
    let base = u64::from(settings.capacity) + 1;
    let n = base.checked_pow(settings.resources as u32).filter(|n| *n <= MOST_MATRICES);
    let n = n.ok_or_else(|| HuntError::TooLarge { matrices: format!("more than {MOST_MATRICES}") })?;
    let vector = |code: u64| {
        let mut rest = code;
        let mut demand = vec![0; settings.resources];
        for d in demand.iter_mut().rev() {
            *d = (rest % base) as u32;
            rest /= base;
        }
        demand
    };
    Ok((1..n).map(vector).collect())
}

/// Returns the number of multisets of size `k` from `n` items.
fn multisets(n: u64, k: u64) -> Integer {
    Integer::from(n + k - 1).binomial(k as u32)
}

/// Returns the number of different orders of the entries of `choice`.
fn orders_of(choice: &[usize]) -> Integer {
    let factorial = |n: usize| Integer::from(Integer::factorial(n as u32));
    let equal = choice.chunk_by(|a, b| a == b).map(|equal| factorial(equal.len()));
    factorial(choice.len()) / equal.product::<Integer>()
}

fn next_multiset(now: &[usize], n: usize) -> Option<Vec<usize>> {
    let at = now.iter().rposition(|&value| value + 1 < n)?;
    let mut next = now.to_vec();
    let value = now[at] + 1;
    next[at..].fill(value);
    Some(next)
}

/// Returns all orders of `n` types, the identity first.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let longer = |order: &Vec<usize>| {
            let free: Vec<usize> = (0..n).filter(|j| !order.contains(j)).collect();
            let order = order.clone();
            free.into_iter().map(move |j| {
                let mut order = order.clone();
                order.push(j);
                order
            })
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Returns the configurations with type `order[j]` in column `j`, sorted.
fn reordered(list: &[Vec<u32>], order: &[usize]) -> Rows {
    let mut list: Rows = list.iter().map(|k| order.iter().map(|&j| k[j]).collect()).collect();
    list.sort_unstable();
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_demands_have_fewer_orders() {
        let orders: [(&[usize], u32); 5] =
            [(&[4], 1), (&[0, 1], 2), (&[0, 0, 1], 3), (&[2, 2, 3, 3], 6), (&[0, 1, 2, 3], 24)];
        for (choice, orders) in orders {
            assert_eq!(orders_of(choice), orders, "{choice:?}");
        }
    }
}
