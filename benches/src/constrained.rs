//! Random clusters with placement constraints. They are the same on every machine for the same arguments.
//!
//! All numbers are whole: demands from 1 to 32 of each of three resources, weights from 1 to 10, and classes
//! with 16 to 256 of each resource and up to 199 servers. The clusters differ in the classes on which users
//! may run.

use evenhand_problem::{Problem, ProblemError, ProblemSpec, Rational, ServerSpec, UserSpec};

use crate::instances::Random;

const N_RESOURCES: usize = 3;
/// The number of attributes of machines for [`Eligibility::Attributes`].
const N_ATTRIBUTES: usize = 6;
/// The number of values of an attribute. Smaller values are more frequent (Zipf, exponent 1.6).
const N_VALUES: u64 = 8;

/// The classes on which users may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eligibility {
    /// All classes.
    Everywhere,
    /// A random set of classes. The size of the set is between these numbers.
    Few(usize, usize),
    /// The classes with one value of an attribute. For each attribute of machines, a quarter of the users
    /// requires one of its values.
    Attributes,
    /// One of many pools of five classes. One user in twenty may run in two pools.
    Pools,
}

/// The parameters of a random cluster.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The number of users.
    pub n_users: usize,
    /// The number of server classes.
    pub n_classes: usize,
    /// The classes on which users may run.
    pub eligibility: Eligibility,
    /// The percentage of users with a finite number of tasks. This number is around the number of tasks that
    /// they would get.
    pub finite: u64,
    /// The percentage of demands that are 0.
    pub zero: u64,
    /// The number of kinds of users. Users of the same kind differ only in their weights. `None` if each user
    /// has its own kind.
    pub kinds: Option<usize>,
}

impl Shape {
    /// Returns a shape with positive demands and unlimited tasks.
    #[must_use]
    pub const fn new(n_users: usize, n_classes: usize, eligibility: Eligibility) -> Self {
        Self { n_users, n_classes, eligibility, finite: 0, zero: 0, kinds: None }
    }

    /// Returns the name of the shape in tables, such as `1000x300 attributes`.
    #[must_use]
    pub fn name(&self) -> String {
        let kind = match self.eligibility {
            Eligibility::Everywhere => "everywhere".to_owned(),
            Eligibility::Few(least, most) => format!("{least}-{most} each"),
            Eligibility::Attributes => "attributes".to_owned(),
            Eligibility::Pools => "pools".to_owned(),
        };
        let finite = if self.finite > 0 { format!(", {} % finite", self.finite) } else { String::new() };
        let zero = if self.zero > 0 { format!(", {} % zeros", self.zero) } else { String::new() };
        let kinds = self.kinds.map_or_else(String::new, |kinds| format!(", {kinds} kinds"));
        format!("{}x{} {kind}{finite}{zero}{kinds}", self.n_users, self.n_classes)
    }

    /// Returns the problem with the seed `seed`.
    ///
    /// # Errors
    /// [`ProblemError`] if there are no classes.
    pub fn problem(&self, seed: u64) -> Result<Problem, ProblemError> {
        let mut random = Random::new(seed, (self.n_users * 1_000_003 + self.n_classes) as u64);
        let capacity: Vec<(u64, Vec<u64>)> = (0..self.n_classes)
            .map(|_| (random.between(1, 199), (0..N_RESOURCES).map(|_| random.between(16, 256)).collect()))
            .collect();
        let total: Vec<f64> = (0..N_RESOURCES)
            .map(|r| capacity.iter().map(|(count, one)| count * one[r]).sum::<u64>() as f64)
            .collect();
        let attributes: Vec<Vec<u64>> =
            capacity.iter().map(|_| (0..N_ATTRIBUTES).map(|_| zipf(&mut random)).collect()).collect();
        let servers = capacity.iter().enumerate().map(|(i, (count, one))| ServerSpec {
            name: class_name(i),
            count: Some(Rational::from(*count)),
            capacity: one.iter().enumerate().map(|(r, c)| (resource_name(r), Rational::from(*c))).collect(),
        });
        let drawn = (0..self.kinds.unwrap_or(self.n_users)).map(|n| {
            let mut demand: Vec<u64> = (0..N_RESOURCES).map(|_| random.between(1, 32)).collect();
            let kept = random.below(N_RESOURCES);
            for (r, d) in demand.iter_mut().enumerate() {
                if r != kept && random.between(1, 100) <= self.zero {
                    *d = 0;
                }
            }
            let dominant = demand.iter().zip(&total).map(|(&d, t)| d as f64 / t).fold(0.0, f64::max);
            let wanted = random.spread(1.5) / dominant / self.n_users as f64;
            let finite = random.between(1, 100) <= self.finite;
            UserSpec {
                name: format!("u{n}"),
                weight: Some(Rational::from(random.between(1, 10))),
                tasks: finite.then(|| Rational::from((wanted as u64).max(1))),
                demand: demand
                    .iter()
                    .enumerate()
                    .map(|(r, d)| (resource_name(r), Rational::from(*d)))
                    .collect(),
                servers: self
                    .servers(&attributes, &mut random)
                    .map(|list| list.into_iter().map(class_name).collect()),
                ..UserSpec::default()
            }
        });
        let drawn: Vec<UserSpec> = drawn.collect();
        let users = match self.kinds {
            None => drawn,
            Some(kinds) => (0..self.n_users)
                .map(|n| {
                    let (kind, weight) = (&drawn[random.below(kinds)], Rational::from(random.between(1, 10)));
                    let tasks = kind.tasks.as_ref().map(|tasks| Rational::from(tasks * &weight));
                    UserSpec { name: format!("u{n}"), weight: Some(weight), tasks, ..kind.clone() }
                })
                .collect(),
        };
        let resources = (0..N_RESOURCES).map(resource_name).collect();
        Problem::new(ProblemSpec { name: self.name(), resources, servers: servers.collect(), users })
    }

    fn servers(&self, attributes: &[Vec<u64>], random: &mut Random) -> Option<Vec<usize>> {
        let all: Vec<usize> = (0..self.n_classes).collect();
        Some(match self.eligibility {
            Eligibility::Everywhere => return None,
            Eligibility::Few(least, most) => {
                let k = random.between(least as u64, most as u64) as usize;
                some_of(all, k, random)
            }
            Eligibility::Attributes => {
                let mut list = all;
                let of = |attribute: usize| move |i: usize| attributes[i][attribute];
                for attribute in (0..N_ATTRIBUTES).map(of) {
                    if random.between(1, 4) > 1 {
                        continue;
                    }
                    let value = attribute(random.below(self.n_classes));
                    let is_exact = random.between(1, 10) <= 7;
                    list.retain(|&i| {
                        let has = attribute(i);
                        has == value || (has > value && !is_exact)
                    });
                }
                if list.is_empty() {
                    list.push(random.below(self.n_classes));
                }
                list
            }
            Eligibility::Pools => {
                let n_pools = (self.n_classes / 5).max(1);
                let first = random.below(n_pools);
                let second = if random.between(1, 20) == 1 { random.below(n_pools) } else { first };
                let list = all.into_iter().filter(|i| [first, second].contains(&(i % n_pools))).collect();
                let k = random.between(1, 5) as usize;
                some_of(list, k, random)
            }
        })
    }
}

/// Returns `k` random members of a list in ascending order. Returns the whole list if it has at most `k`
/// members.
fn some_of(mut list: Vec<usize>, k: usize, random: &mut Random) -> Vec<usize> {
    while list.len() > k {
        list.swap_remove(random.below(list.len()));
    }
    list.sort_unstable();
    list
}

/// Returns a number from 1 to [`N_VALUES`].
fn zipf(random: &mut Random) -> u64 {
    // The weights 1/k^1.6 in thousandths.
    const WEIGHTS: [u64; N_VALUES as usize] = [1000, 330, 172, 109, 76, 57, 44, 36];
    let mut at = random.between(1, WEIGHTS.iter().sum());
    for (k, &weight) in (1..).zip(&WEIGHTS) {
        if at <= weight {
            return k;
        }
        at -= weight;
    }
    N_VALUES
}

fn class_name(i: usize) -> String {
    format!("s{i}")
}

fn resource_name(r: usize) -> String {
    format!("r{r}")
}
