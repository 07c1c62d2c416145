//! Instances of the hunt: job types in small integers on one server shape.

use evenhand_problem::{JobSpec, PoolSpec, ProblemError, Rational, Reservation, ReservationSpec};
use serde::{Deserialize, Serialize};

/// The number of nodes after which the enumeration of configurations gives up.
const MOST_NODES: usize = 200_000;
/// The largest number of maximal configurations for which a tableau is worthwhile.
const MOST_CONFIGURATIONS: usize = 3_000;

/// Job types in integers on one server shape. Greedy breaks ties by the order of the types.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// The capacity of a server, by resource.
    pub capacity: Vec<u32>,
    /// The job types.
    pub types: Vec<JobTypeNumbers>,
}

/// A job type, in integers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobTypeNumbers {
    /// The demand of one job, by resource.
    pub demand: Vec<u32>,
    /// The reward of one job per unit of time, at least 1.
    pub reward: u64,
}

impl Instance {
    /// Returns the instance as a reservation problem with these loads. Missing loads are 0.
    ///
    /// # Errors
    /// [`ProblemError`] for a type that demands no resource or does not fit on a server.
    pub fn problem(&self, loads: &[Rational]) -> Result<Reservation, ProblemError> {
        let resources: Vec<String> = (1..=self.capacity.len()).map(|r| format!("r{r}")).collect();
        let named = |values: &[u32]| -> Vec<(String, Rational)> {
            let pairs = resources.iter().zip(values).filter(|(_, value)| **value > 0);
            pairs.map(|(name, value)| (name.clone(), Rational::from(*value))).collect()
        };
        let jobs = self.types.iter().enumerate().map(|(j, each)| JobSpec {
            name: format!("j{}", j + 1),
            demand: named(&each.demand),
            reward: Some(Rational::from(each.reward)),
            load: Some(loads.get(j).cloned().unwrap_or_default()),
        });
        Reservation::new(ReservationSpec {
            name: String::new(),
            pools: vec![PoolSpec { name: "server".to_owned(), count: None, capacity: named(&self.capacity) }],
            jobs: jobs.collect(),
            resources,
            configurations: None,
        })
    }

    /// Returns the sum of all capacities, demands and rewards. Shrinking reduces this sum.
    #[must_use]
    pub fn size(&self) -> u64 {
        let demand = |each: &JobTypeNumbers| each.demand.iter().map(|d| u64::from(*d)).sum::<u64>();
        let types: u64 = self.types.iter().map(|each| each.reward.saturating_add(demand(each))).sum();
        self.capacity.iter().map(|c| u64::from(*c)).sum::<u64>().saturating_add(types)
    }

    /// Returns `true` if every type has a positive reward, demands at least one resource, and fits on a
    /// server.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        !self.types.is_empty()
            && self.types.iter().all(|each| {
                each.reward > 0
                    && each.demand.len() == self.capacity.len()
                    && each.demand.iter().any(|d| *d > 0)
                    && each.demand.iter().zip(&self.capacity).all(|(d, c)| d <= c)
            })
    }

    /// Returns the instance of the paper Reservation, Appendix C, on servers of `capacity` units of every resource.
    ///
    /// Let `n = types - 1`, which must be at least 2. `n` must divide the capacity, and there must be at
    /// least `n + 1` resources. Further resources stay unused. The ratio is `1 - (1 - 1/n)^n`. Rewards are
    /// multiplied by `n^n`. If they would then exceed the largest reward, they are scaled and rounded.
    #[must_use]
    pub fn appendix_c(types: usize, resources: usize, capacity: u32, largest_reward: u64) -> Option<Self> {
        let n = u32::try_from(types.checked_sub(1)?).ok()?;
        Self::family(n, n, resources, capacity, largest_reward)
    }

    /// Returns the instance of Appendix C without its last small type. For `n = types >= 3` the ratio is `1 - (1 -
    /// 1/n)^n`.
    ///
    /// Greedy takes the large type, whose reward is `(1 - 1/n)^(n-1)`, instead of the last small type. The
    /// conditions are those of [`Instance::appendix_c`] with this `n`, but `n` resources suffice.
    #[must_use]
    pub fn shortened(types: usize, resources: usize, capacity: u32, largest_reward: u64) -> Option<Self> {
        let n = u32::try_from(types).ok().filter(|n| *n >= 3)?;
        Self::family(n, n.checked_sub(1)?, resources, capacity, largest_reward)
    }

    /// Returns an instance with `small` small types and one large type. Each small type takes `1/n` of a resource of
    /// its own and `1/n` of a shared resource. Their rewards are `(1/n) (1 - 1/n)^(j-1)`. The large type takes
    /// `(n-1)/n` of all resources that are not shared. Its reward is `(1 - 1/n)^small`.
    fn family(n: u32, small: u32, resources: usize, capacity: u32, largest_reward: u64) -> Option<Self> {
        let shared = usize::try_from(small).ok()?;
        if n < 2 || resources <= shared || !capacity.is_multiple_of(n) {
            return None;
        }
        let (part, wide) = (capacity / n, u64::from(n));
        let mut rewards = (1..=small)
            .map(|j| wide.checked_pow(small - j)?.checked_mul((wide - 1).checked_pow(j - 1)?))
            .collect::<Option<Vec<u64>>>()?;
        rewards.push((wide - 1).checked_pow(small)?);
        let largest = rewards.iter().copied().max()?;
        if largest > largest_reward {
            rewards.iter_mut().for_each(|reward| *reward = rescaled(*reward, largest, largest_reward));
        }
        let demand = |j: usize| {
            let mut demand = vec![0; resources];
            if j < shared {
                demand[j] = part;
                demand[shared] = part;
            } else {
                demand[..shared].fill(capacity - part);
            }
            demand
        };
        let types = rewards.into_iter().enumerate();
        let types = types.map(|(j, reward)| JobTypeNumbers { demand: demand(j), reward }).collect();
        Some(Self { capacity: vec![capacity; resources], types })
    }

    /// Returns the maximal configurations as numbers of jobs by type, or `None` if there are too many.
    #[must_use]
    pub fn maximal(&self) -> Option<Vec<Vec<u32>>> {
        let demands: Vec<&[u32]> = self.types.iter().map(|each| each.demand.as_slice()).collect();
        maximal(&self.capacity, &demands)
    }
}

/// Scales a reward so that the reward `largest` becomes `to`. The result is rounded and at least 1.
pub fn rescaled(reward: u64, largest: u64, to: u64) -> u64 {
    let (largest, twice) = (u128::from(largest), 2 * u128::from(reward) * u128::from(to));
    u64::try_from((twice + largest) / (2 * largest).max(1)).unwrap_or(u64::MAX).max(1)
}

/// Returns the maximal configurations of these demands, each of which must demand something.
pub fn maximal(capacity: &[u32], demands: &[&[u32]]) -> Option<Vec<Vec<u32>>> {
    let mut walk = Walk { demands, found: Vec::new(), k: vec![0; demands.len()], nodes: 0 };
    let mut left = capacity.to_vec();
    walk.visit(0, &mut left)?;
    Some(walk.found)
}

struct Walk<'a> {
    demands: &'a [&'a [u32]],
    found: Vec<Vec<u32>>,
    k: Vec<u32>,
    nodes: usize,
}

impl Walk<'_> {
    fn visit(&mut self, j: usize, left: &mut [u32]) -> Option<()> {
        self.nodes += 1;
        if self.nodes > MOST_NODES || self.found.len() > MOST_CONFIGURATIONS {
            return None;
        }
        let Some(demand) = self.demands.get(j) else {
            let fits = |demand: &&[u32]| demand.iter().zip(left.iter()).all(|(d, left)| d <= left);
            if !self.demands.iter().any(fits) {
                self.found.push(self.k.clone());
            }
            return Some(());
        };
        let each = demand.iter().zip(left.iter()).filter(|(d, _)| **d > 0).map(|(d, left)| left / d);
        let most = each.min().unwrap_or(0);
        // The last type takes as many jobs as fit.
        let least = if j + 1 == self.demands.len() { most } else { 0 };
        let change = |left: &mut [u32], by: u32, add: bool| {
            for (left, d) in left.iter_mut().zip(*demand) {
                *left = if add { *left + by * d } else { *left - by * d };
            }
        };
        change(left, most, false);
        for k in (least..=most).rev() {
            self.k[j] = k;
            self.visit(j + 1, left)?;
            if k > least {
                change(left, 1, true);
            }
        }
        change(left, least, true);
        self.k[j] = 0;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maximal_configurations_leave_no_room_for_another_job() {
        let types = |demands: &[[u32; 2]]| -> Vec<JobTypeNumbers> {
            demands.iter().map(|d| JobTypeNumbers { demand: d.to_vec(), reward: 1 }).collect()
        };
        for demands in [[[1, 2], [2, 1], [3, 3]], [[1, 0], [0, 1], [1, 1]], [[4, 5], [5, 4], [2, 3]]] {
            let instance = Instance { capacity: vec![5, 6], types: types(&demands) };
            let problem = instance.problem(&[]).unwrap();
            let mut expected = Vec::new();
            for code in 0..7u64.pow(3) {
                let k = [code / 49, code / 7 % 7, code % 7];
                let more = |j: usize| {
                    let mut more = k;
                    more[j] += 1;
                    more
                };
                if problem.is_feasible(0, &k) && !(0..3).any(|j| problem.is_feasible(0, &more(j))) {
                    expected.push(k.map(|k| u32::try_from(k).unwrap()).to_vec());
                }
            }
            let mut found = instance.maximal().unwrap();
            found.sort();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn appendix_c_is_scaled_to_integers() {
        let family = Instance::appendix_c(3, 3, 2, 100).unwrap();
        let rewards: Vec<u64> = family.types.iter().map(|each| each.reward).collect();
        assert_eq!(rewards, [2, 1, 1]);
        assert_eq!(family.types[2].demand, [1, 1, 0]);
        let shortened = Instance::shortened(4, 4, 4, 100).unwrap();
        let rewards: Vec<u64> = shortened.types.iter().map(|each| each.reward).collect();
        assert_eq!(rewards, [16, 12, 9, 27]);
        assert_eq!(shortened.types[3].demand, [3, 3, 3, 0]);
        assert!(Instance::shortened(2, 4, 4, 100).is_none());
        assert!(Instance::appendix_c(4, 4, 4, 100).is_none());
        assert!(Instance::appendix_c(4, 3, 3, 100).is_none());
        assert!(Instance::appendix_c(2, 2, 3, 100).is_none());
        assert!(Instance::appendix_c(6, 6, 5, 7).unwrap().is_sound());
    }
}
