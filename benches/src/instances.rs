//! Random problems. They are the same on every machine for the same arguments.
//!
//! Demands are whole numbers in units of 1/10000 of the largest server, with a log-normal distribution as
//! observed in cluster traces. Weights are 1 to 5. Numbers of tasks are around the fair level, so that some
//! users are satisfied before the level is reached. Only additions, multiplications and divisions of doubles
//! are used, because every machine rounds them in the same way. The normal distribution is approximated by a
//! sum of twelve uniform numbers.

use evenhand_problem::{
    Problem, ProblemError, ProblemSpec, Quantities, Rational, ServerClass, ServerSpec, UserSpec,
};
use rand::RngCore;
use rand_pcg::Pcg64;

/// DRFH, Table I: the number of servers, and the CPU and memory of a server in hundredths of the largest
/// server.
pub const TABLE_I: [(u64, u64, u64); 10] = [
    (6732, 50, 50),
    (3863, 50, 25),
    (1001, 50, 75),
    (795, 100, 100),
    (126, 25, 25),
    (52, 50, 12),
    (5, 50, 3),
    (5, 50, 97),
    (3, 100, 50),
    (1, 50, 6),
];
/// The number of demand units in a hundredth of the largest server.
pub const UNIT: u64 = 100;

/// The numbers of tasks of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tasks {
    /// Finite numbers, around the number at the fair level.
    Finite,
    /// Unlimited numbers, so that the lexicographic optimum is that of a single linear programme.
    Unlimited,
}

/// The number of servers of a class, and the capacity of a server in hundredths, indexed by resource.
type Class = (u64, Vec<u64>);

/// Returns the Google cluster of the DRFH paper with `n_users` random users.
///
/// # Errors
/// Never, because the generated numbers are valid.
pub fn google(n_users: usize, seed: u64, tasks: Tasks) -> Result<Problem, ProblemError> {
    let classes: Vec<Class> =
        TABLE_I.iter().map(|&(count, cpu, memory)| (count, vec![cpu, memory])).collect();
    let mut random = Random::new(seed, n_users as u64);
    let unlimited = if tasks == Tasks::Unlimited { "-unlimited" } else { "" };
    let name = format!("google-{n_users}-seed-{seed}{unlimited}");
    problem(name, &classes, n_users, tasks, &mut random)
}

/// Returns a problem with `n_classes` random classes, `n_resources` resources and `n_users` users.
///
/// # Errors
/// [`ProblemError`] if there are no classes or no resources.
pub fn general(
    n_classes: usize,
    n_resources: usize,
    n_users: usize,
    seed: u64,
    tasks: Tasks,
) -> Result<Problem, ProblemError> {
    let size = ((n_classes as u64) << 40) + ((n_resources as u64) << 32) + n_users as u64;
    let mut random = Random::new(seed, size);
    let classes: Vec<Class> = (0..n_classes)
        .map(|_| {
            let count = random.between(1, 1000);
            (count, (0..n_resources).map(|_| random.between(5, 100)).collect())
        })
        .collect();
    let unlimited = if tasks == Tasks::Unlimited { "-unlimited" } else { "" };
    let name = format!("random-{n_users}x{n_classes}x{n_resources}-seed-{seed}{unlimited}");
    problem(name, &classes, n_users, tasks, &mut random)
}

/// Returns `n` users and `n` classes with one resource, where each user has its own class.
///
/// # Errors
/// [`ProblemError`] if there are no classes.
pub fn own_classes(n: usize) -> Result<Problem, ProblemError> {
    let one = || vec![("c".to_owned(), Rational::from(1))];
    let servers = (0..n).map(|i| ServerSpec { name: format!("s{i}"), count: None, capacity: one() });
    let users = (0..n).map(|i| UserSpec {
        name: format!("u{i}"),
        demand: one(),
        servers: Some(vec![format!("s{i}")]),
        ..UserSpec::default()
    });
    let (servers, users) = (servers.collect(), users.collect());
    Problem::new(ProblemSpec {
        name: format!("own-classes-{n}"),
        resources: vec!["c".to_owned()],
        servers,
        users,
    })
}

/// Returns `n` users on one class with `n` resources, where each user has its own resource.
///
/// # Errors
/// [`ProblemError`] if there are no resources.
pub fn own_resources(n: usize) -> Result<Problem, ProblemError> {
    let resources: Vec<String> = (0..n).map(|r| format!("r{r}")).collect();
    let capacity = resources.iter().map(|r| (r.clone(), Rational::from(1))).collect();
    let servers = vec![ServerSpec { name: "s".to_owned(), count: None, capacity }];
    let users = resources.iter().map(|r| UserSpec {
        name: format!("u{r}"),
        demand: vec![(r.clone(), Rational::from(1))],
        ..UserSpec::default()
    });
    let users = users.collect();
    Problem::new(ProblemSpec { name: format!("own-resources-{n}"), resources, servers, users })
}

/// Returns a problem like [`general`] with unlimited tasks. Each user may run on a random half of the
/// classes.
///
/// # Errors
/// [`ProblemError`] if there are no classes or no resources.
pub fn half(
    n_classes: usize,
    n_resources: usize,
    n_users: usize,
    seed: u64,
) -> Result<Problem, ProblemError> {
    let all = general(n_classes, n_resources, n_users, seed, Tasks::Unlimited)?;
    let mut random = Random::new(seed, n_users as u64);
    let by_name = |amounts: &Quantities| {
        all.resources().iter().cloned().zip(amounts.iter().cloned()).collect::<Vec<(String, Rational)>>()
    };
    let servers = all.servers().iter().map(|server| ServerSpec {
        name: server.name().to_owned(),
        count: Some(Rational::from(server.count())),
        capacity: by_name(server.capacity()),
    });
    let users = all.users().iter().map(|user| {
        let mut left: Vec<&ServerClass> = all.servers().iter().collect();
        while left.len() > n_classes.div_ceil(2) {
            left.swap_remove(random.between(0, left.len() as u64 - 1) as usize);
        }
        UserSpec {
            name: user.name().to_owned(),
            weight: Some(user.weight().clone()),
            demand: by_name(user.base_demand()),
            servers: Some(left.iter().map(|server| server.name().to_owned()).collect()),
            ..UserSpec::default()
        }
    });
    let name = format!("half-{n_users}x{n_classes}x{n_resources}-seed-{seed}");
    let (servers, users) = (servers.collect(), users.collect());
    Problem::new(ProblemSpec { name, resources: all.resources().to_vec(), servers, users })
}

fn problem(
    name: String,
    classes: &[Class],
    n_users: usize,
    tasks: Tasks,
    random: &mut Random,
) -> Result<Problem, ProblemError> {
    let n_resources = classes.first().map_or(0, |(_, capacity)| capacity.len());
    let resources: Vec<String> = (0..n_resources).map(resource_name).collect();
    let by_name = |amounts: &[u64]| {
        resources.iter().cloned().zip(amounts.iter().map(|&amount| Rational::from(amount))).collect()
    };
    let servers = classes.iter().enumerate().map(|(i, (count, capacity))| ServerSpec {
        name: format!("class {}", i + 1),
        count: Some(Rational::from(*count)),
        capacity: by_name(&capacity.iter().map(|c| c * UNIT).collect::<Vec<_>>()),
    });
    let demands: Vec<Vec<u64>> =
        (0..n_users).map(|_| (0..n_resources).map(|r| random.demand(r)).collect()).collect();
    let weights: Vec<u64> = demands.iter().map(|_| random.between(1, 5)).collect();
    let limits = match tasks {
        Tasks::Finite => limits(classes, &demands, &weights, random).into_iter().map(Some).collect(),
        Tasks::Unlimited => vec![None; n_users],
    };
    let users =
        demands.iter().zip(&weights).zip(limits).enumerate().map(|(n, ((demand, &weight), tasks))| {
            UserSpec {
                name: format!("user {}", n + 1),
                weight: Some(Rational::from(weight)),
                tasks: tasks.map(Rational::from),
                demand: by_name(demand),
                ..UserSpec::default()
            }
        });
    let (servers, users) = (servers.collect(), users.collect());
    Problem::new(ProblemSpec { name, servers, users, resources })
}

/// Returns numbers of tasks around nine tenths of the level that the total capacity allows.
fn limits(classes: &[Class], demands: &[Vec<u64>], weights: &[u64], random: &mut Random) -> Vec<u64> {
    let n_resources = classes.first().map_or(0, |(_, capacity)| capacity.len());
    let total: Vec<f64> = (0..n_resources)
        .map(|r| (classes.iter().map(|(count, capacity)| count * capacity[r]).sum::<u64>() * UNIT) as f64)
        .collect();
    let dominant: Vec<f64> = demands
        .iter()
        .map(|demand| demand.iter().zip(&total).map(|(&d, t)| d as f64 / t).fold(0.0, f64::max))
        .collect();
    let mut load = vec![0.0; n_resources];
    for ((demand, &weight), dominant) in demands.iter().zip(weights).zip(&dominant) {
        for ((load, &d), total) in load.iter_mut().zip(demand).zip(&total) {
            *load += weight as f64 * d as f64 / total / dominant;
        }
    }
    let level = 0.9 / load.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let wanted = weights.iter().zip(&dominant).map(|(&weight, dominant)| {
        let tasks = exp(0.7 * random.normal()) * weight as f64 * level / dominant;
        (tasks.round() as u64).max(1)
    });
    wanted.collect()
}

fn resource_name(r: usize) -> String {
    match ["cpu", "memory", "gpu", "disk", "network"].get(r) {
        Some(name) => (*name).to_owned(),
        None => format!("resource {}", r + 1),
    }
}

pub(crate) struct Random(Pcg64);

impl Random {
    pub(crate) fn new(seed: u64, size: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), u128::from(size)))
    }

    /// Returns a number from 0 to below 1.
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + (self.uniform() * (most - least + 1) as f64) as u64
    }

    /// Returns a whole number from 0 to below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.uniform() * n as f64) as usize
    }

    /// Returns a number around 1 that differs from it by up to `magnitudes` orders of magnitude.
    pub(crate) fn spread(&mut self, magnitudes: f64) -> f64 {
        exp((2.0 * self.uniform() - 1.0) * magnitudes * std::f64::consts::LN_10)
    }

    /// Returns a number with mean 0 and variance 1. Its distance from the mean is at most 6.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// Returns a demand. For even resources it is distributed like CPU, and for odd resources like memory.
    pub(crate) fn demand(&mut self, r: usize) -> u64 {
        let (mean, deviation) = if r.is_multiple_of(2) { (-3.6, 0.9) } else { (-3.9, 1.0) };
        let share = exp(mean + deviation * self.normal()).clamp(1e-3, 0.5);
        ((share * (100 * UNIT) as f64).round() as u64).max(1)
    }
}

/// Computes `e^x` for `|x|` below 20. Only additions and products are used, because libraries differ in the
/// last digit.
fn exp(x: f64) -> f64 {
    let small = x / 64.0;
    let series = (1..=16).rev().fold(1.0, |sum, k| 1.0 + sum * small / f64::from(k));
    (0..6).fold(series, |value, _| value * value)
}

#[cfg(test)]
mod tests {
    use evenhand_problem::format::problem_sha256;

    use super::*;

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for k in -80..=80 {
            let x = f64::from(k) / 10.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn instances_are_the_same_on_every_machine() {
        let problem = google(300, 1, Tasks::Finite).unwrap();
        assert_eq!((problem.n_users(), problem.n_servers(), problem.n_resources()), (300, 10, 2));
        assert_eq!(
            problem_sha256(&problem),
            "57d4e1fbe357942140639431f0fae526a7857c7d26631cd3977a7af6f27c433f"
        );
        let problem = general(7, 3, 20, 1, Tasks::Finite).unwrap();
        assert_eq!(
            problem_sha256(&problem),
            "39eea07ee8e0b3163c8b2c36d72cc3fab93997f17f9f090746f78ba47570f401"
        );
    }

    #[test]
    fn unlimited_tasks_change_no_other_field() {
        let (finite, unlimited) =
            (google(20, 2, Tasks::Finite).unwrap(), google(20, 2, Tasks::Unlimited).unwrap());
        for (a, b) in finite.users().iter().zip(unlimited.users()) {
            assert_eq!((a.base_demand(), a.weight()), (b.base_demand(), b.weight()));
            assert!(a.tasks().is_some() && b.tasks().is_none());
        }
    }
}
