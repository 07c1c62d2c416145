//! Smaller numbers that show the same: the sum of all numbers falls while the ratio stays low enough.

use evenhand_problem::Rational;

use super::clock::Clock;
use super::types::{Instance, rescaled};
use super::worst::{Counts, below_until};
use super::{Found, HuntError};

/// Changes that are tried at the most.
const MOST_TRIALS: usize = 20_000;

/// An instance with a smaller sum of numbers and a ratio of at most `target`, which that of `found`
/// must not exceed; where no change makes it smaller, it is returned as it is. Types and resources may
/// disappear, and capacities may become different. The instance is no global minimum.
///
/// When the time is up, what is smallest so far is returned.
///
/// # Errors
/// As [`below`](super::below).
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

/// The least ratio if it is at most `target`.
fn at_most(instance: &Instance, target: &Rational, clock: &Clock) -> Result<Option<Rational>, HuntError> {
    // Slightly above the target, so that the target itself is found.
    let above = target + Rational::from((1, 1u64 << 20));
    let maximal = instance.maximal();
    let ratio = below_until(instance, maximal.as_deref(), &above, &mut Counts::default(), clock)?;
    Ok(ratio.filter(|ratio| ratio <= target))
}

/// Smaller instances, the largest changes first.
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
    // All rewards on a coarser scale.
    for scale in (1..=32).chain([48, 64, 96, 128, 256]).filter(|scale| *scale < largest) {
        push(&|next| {
            for each in &mut next.types {
                each.reward = rescaled(each.reward, largest, scale);
            }
        });
    }
    for r in 0..instance.capacity.len() {
        // A resource on a coarser scale, and all of it a little less.
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
            // Less in all, when one may grow by less than the other falls.
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

    /// Appendix C with three types, blown up: every number comes down again, the ratio stays.
    #[test]
    fn appendix_c_comes_back() {
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
