//! Reduces an instance to smaller numbers. The sum of all its numbers falls, and the ratio stays at or below
//! a target.

use evenhand_problem::Rational;

use super::clock::Clock;
use super::types::{Instance, rescaled};
use super::worst::{Counts, below_until};
use super::{Found, HuntError};

/// The largest number of changes that are tried.
const MOST_TRIALS: usize = 20_000;

/// Returns an instance with a smaller sum of numbers and a ratio of at most `target`.
///
/// The ratio of `found` must not exceed `target`. If no change makes `found` smaller, it is returned unchanged. The
/// result may have fewer types and resources, and capacities that differ from each other. The result need not be a
/// global minimum. When the time is up, the smallest instance so far is returned.
///
/// # Errors
/// The errors of [`below`](super::below).
pub fn shrink(found: &Found, target: &Rational, clock: &Clock) -> Result<Found, HuntError> {
    let mut now = found.clone();
    let mut trials = 0;
    loop {
        let mut next: Option<Found> = None;
        for instance in smaller(&now.instance) {
            trials += 1;
            if trials > MOST_TRIALS {
                return Ok(now);
            }
            if !instance.is_sound() || instance.size() >= now.instance.size() {
                continue;
            }
            match at_most(&instance, target, clock) {
                Ok(None) => {}
                Ok(Some(ratio)) => {
                    next = Some(Found { instance, ratio });
                    break;
                }
                Err(HuntError::OutOfTime) => return Ok(now),
                Err(error) => return Err(error),
            }
        }
        match next {
            Some(next) => now = next,
            None => return Ok(now),
        }
    }
}

/// Returns the least ratio if it is at most `target`.
fn at_most(instance: &Instance, target: &Rational, clock: &Clock) -> Result<Option<Rational>, HuntError> {
    // `below` finds ratios below a bound. A bound slightly above the target also finds ratios that equal the target.
    let above = target + Rational::from((1, 1u64 << 20));
    let maximal = instance.maximal();
    let ratio = below_until(instance, maximal.as_deref(), &above, &mut Counts::default(), clock)?;
    Ok(ratio.filter(|ratio| ratio <= target))
}

/// Returns smaller instances, the most strongly reduced first.
fn smaller(instance: &Instance) -> Vec<Instance> {
    let mut all = Vec::new();
    let mut push = |change: &dyn Fn(&mut Instance)| {
        let mut next = instance.clone();
        change(&mut next);
        if next != *instance {
            all.push(next);
        }
    };
    for j in 0..instance.types.len() {
        push(&|next| {
            next.types.remove(j);
        });
    }
    for r in 0..instance.capacity.len() {
        push(&|next| {
            next.capacity.remove(r);
            for each in &mut next.types {
                each.demand.remove(r);
            }
        });
    }
    let largest = instance.types.iter().map(|each| each.reward).max().unwrap_or(1);
    // Scale all rewards down so that the largest reward becomes `scale`.
    for scale in (1..=32).chain([48, 64, 96, 128, 256]).filter(|scale| *scale < largest) {
        push(&|next| {
            for each in &mut next.types {
                each.reward = rescaled(each.reward, largest, scale);
            }
        });
    }
    for r in 0..instance.capacity.len() {
        // Divide all numbers of a resource by a common divisor, or make all of them slightly smaller.
        for divisor in [2, 3, 5] {
            push(&|next| {
                next.capacity[r] /= divisor;
                next.types.iter_mut().for_each(|each| each.demand[r] /= divisor);
            });
        }
        push(&|next| {
            next.capacity[r] -= u32::from(next.capacity[r] > 0);
            next.types.iter_mut().for_each(|each| each.demand[r] = each.demand[r].saturating_sub(1));
        });
        push(&|next| next.capacity[r] = next.capacity[r].saturating_sub(1));
        for j in 0..instance.types.len() {
            push(&|next| {
                next.capacity[r] = next.capacity[r].saturating_sub(1);
                next.types[j].demand[r] = next.types[j].demand[r].saturating_sub(1);
            });
        }
    }
    for j in 0..instance.types.len() {
        for r in 0..instance.capacity.len() {
            push(&|next| next.types[j].demand[r] = 0);
            push(&|next| next.types[j].demand[r] /= 2);
            push(&|next| next.types[j].demand[r] = next.types[j].demand[r].saturating_sub(1));
        }
        push(&|next| next.types[j].reward /= 2);
        push(&|next| next.types[j].reward -= 1);
        for h in 0..j {
            push(&|next| {
                next.types[j].reward -= 1;
                next.types[h].reward -= 1;
            });
            // Reduce the sum of two rewards. One of them may grow if the other falls by more.
            push(&|next| {
                next.types[j].reward = next.types[j].reward.saturating_sub(2);
                next.types[h].reward += 1;
            });
            push(&|next| {
                next.types[h].reward = next.types[h].reward.saturating_sub(2);
                next.types[j].reward += 1;
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::types::JobTypeNumbers;
    use super::*;

    /// Appendix C with three types is multiplied. Shrinking reduces every number again and keeps the ratio.
    #[test]
    fn shrinking_restores_appendix_c() {
        let small = Instance::appendix_c(3, 3, 2, 2).unwrap();
        let scaled = |d: &u32| d * 6;
        let types = small.types.iter().map(|each| JobTypeNumbers {
            demand: each.demand.iter().map(scaled).collect(),
            reward: each.reward * 35,
        });
        let instance =
            Instance { capacity: small.capacity.iter().map(scaled).collect(), types: types.collect() };
        let ratio = Rational::from((3, 4));
        let found = Found { instance, ratio: ratio.clone() };
        let shrunk = shrink(&found, &ratio, &Clock::default()).unwrap();
        assert!(shrunk.ratio <= ratio);
        assert!(shrunk.instance.size() <= small.size(), "{shrunk:?}");
        let exact = super::super::worst::exactly(&shrunk.instance).unwrap();
        assert_eq!(exact.ratio_upper, shrunk.ratio);
    }
}
