//! Instances: one pool, resources of capacity 1, users that want at most all of their request.

use evenhand_ode::pool::Pool;
use evenhand_problem::number::to_f64;
use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
use rand::{RngCore, SeedableRng};
use rand_pcg::Pcg64;

use super::BenchError;

/// Users who share one pool, in exact numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolInstance {
    /// A short name.
    pub name: String,
    /// Where it comes from and what it is for.
    pub note: &'static str,
    /// By user and resource, in units of the resource's capacity.
    pub requests: Vec<Vec<Rational>>,
    /// By user, positive.
    pub entitlements: Vec<Rational>,
}

impl PoolInstance {
    /// Number of users.
    #[must_use]
    pub fn n_users(&self) -> usize {
        self.requests.len()
    }

    /// Number of resources.
    #[must_use]
    pub fn n_resources(&self) -> usize {
        self.requests.first().map_or(0, Vec::len)
    }

    /// The instance in floating point, every number the nearest one.
    ///
    /// # Errors
    /// [`BenchError::Instance`] when the numbers are out of the solvers' range.
    pub fn pool(&self) -> Result<Pool, BenchError> {
        let requests = self.requests.iter().flatten().map(to_f64).collect();
        let entitlements = self.entitlements.iter().map(to_f64).collect();
        Pool::new(self.n_resources(), requests, entitlements, vec![1.0; self.n_users()])
            .map_err(|error| self.wrong(&error))
    }

    /// The instance as an allocation problem: one server, one task for every user.
    ///
    /// # Errors
    /// [`BenchError::Instance`] when the numbers are not those of a problem.
    pub fn problem(&self) -> Result<Problem, BenchError> {
        let resources: Vec<String> = (1..=self.n_resources()).map(|r| format!("r{r}")).collect();
        let by_name = |amounts: &[Rational]| resources.iter().cloned().zip(amounts.iter().cloned()).collect();
        let capacity = vec![Rational::from(1); self.n_resources()];
        let server =
            ServerSpec { name: "pool".to_owned(), capacity: by_name(&capacity), ..ServerSpec::default() };
        let users =
            self.requests.iter().zip(&self.entitlements).enumerate().map(|(n, (request, e))| UserSpec {
                name: format!("user {}", n + 1),
                weight: Some(e.clone()),
                tasks: Some(Rational::from(1)),
                demand: by_name(request),
                ..UserSpec::default()
            });
        let users = users.collect();
        let spec = ProblemSpec { name: self.name.clone(), servers: vec![server], users, resources };
        Problem::new(spec).map_err(|error| self.wrong(&error))
    }

    fn wrong(&self, error: &dyn std::fmt::Display) -> BenchError {
        BenchError::Instance { instance: self.name.clone(), what: error.to_string() }
    }
}

/// The instances of the papers, and random ones.
#[must_use]
pub fn all(seed: u64) -> Vec<PoolInstance> {
    vec![
        three_users(),
        stated(
            "figure-2",
            "NJC, Figure 2",
            &[&[(1, 1), (1, 5)], &[(1, 1), (1, 5)], &[(2, 5), (4, 5)]],
            &[(1, 3), (1, 3), (1, 3)],
        ),
        stated(
            "family-z",
            "all (z, 1-z, 1-z) with 1/2 <= z <= 7/10 are free of justified complaints; z = 1/2 is the limit",
            &[&[(1, 1), (1, 1)], &[(0, 1), (1, 1)], &[(1, 1), (0, 1)]],
            &[(1, 2), (3, 10), (1, 5)],
        ),
        stated(
            "free-bottleneck",
            "the second resource is used up at the limit and has no price: slack and price both tend to 0",
            &[&[(3, 4), (15, 16)], &[(1, 1), (3, 4)]],
            &[(1, 2), (1, 2)],
        ),
        random(5, 3, seed),
        random(50, 8, seed),
        random(200, 4, seed),
    ]
}

/// Three users for whom greedy fails (NJC, section 3); the limit lies in Q(sqrt 2017).
#[must_use]
pub fn three_users() -> PoolInstance {
    stated(
        "three-users",
        "NJC, section 3: three users for whom greedy fails; the limit is irrational",
        &[&[(1, 2), (1, 2), (2, 3)], &[(1, 2), (5, 8), (1, 2)], &[(1, 1), (1, 1), (1, 3)]],
        &[(1, 2), (3, 8), (1, 8)],
    )
}

fn stated(
    name: &str,
    note: &'static str,
    requests: &[&[(u32, u32)]],
    entitlements: &[(u32, u32)],
) -> PoolInstance {
    let exact = |numbers: &[(u32, u32)]| numbers.iter().copied().map(Rational::from).collect::<Vec<_>>();
    let requests = requests.iter().map(|row| exact(row)).collect();
    PoolInstance { name: name.to_owned(), note, requests, entitlements: exact(entitlements) }
}

/// `n_users` random users of `n_resources` resources.
///
/// All numbers are whole multiples of a power of two, so that floating point holds them exactly and
/// an error is that of a method alone. Users differ in size, the more of them the more, so that some
/// get all they ask for; every user asks for one resource surely, and for each of the others with
/// probability 3/4.
#[must_use]
pub fn random(n_users: usize, n_resources: usize, seed: u64) -> PoolInstance {
    let size = ((n_users as u64) << 32) + n_resources as u64;
    let mut random = Pcg64::seed_from_u64(seed ^ size.rotate_left(20));
    let mut below = |bound: u64| ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64;
    let sizes = u64::from(n_users.max(2).ilog2());
    let mut requests = Vec::with_capacity(n_users);
    let mut entitlements = Vec::with_capacity(n_users);
    for _ in 0..n_users {
        let unit = 1024_u64 << below(sizes);
        let surely = below(n_resources as u64) as usize;
        let row = (0..n_resources).map(|r| {
            let asks = below(4) > 0 || r == surely;
            let amount = 1 + below(1023);
            if asks { Rational::from((amount, unit)) } else { Rational::new() }
        });
        requests.push(row.collect());
        entitlements.push(Rational::from(1 + below(9)));
    }
    let note = "random: users of different sizes, every number exact in floating point";
    PoolInstance { name: format!("random-{n_users}x{n_resources}"), note, requests, entitlements }
}
