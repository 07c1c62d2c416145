//! Pools in whole numbers. They are identical for floating point, for exact problems and for the peers.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use clap::ValueEnum;
use evenhand_ode::pool::Pool;
use evenhand_problem::{Problem, ProblemError, ProblemSpec, Rational, ServerSpec, UserSpec};
use serde_json::{Value, json};

use crate::instances::Random;

/// The amount of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Law {
    /// Users of 64 sizes request 1 to 5 times the capacity: some get everything they request, and some resources are no
    /// bottlenecks.
    Mixed,
    /// Every user requests a large fraction of the whole pool, so that no user gets everything it requests.
    Scarce,
}

impl Law {
    /// Returns the name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Scarce => "scarce",
        }
    }
}

/// Users on one pool, in whole numbers. A user requests 7 of 10 resources and has one task, so that no
/// allocation exceeds 1.
#[derive(Debug, Clone)]
pub struct WholePool {
    n_resources: usize,
    /// The requests as a matrix of `users x resources`.
    requests: Vec<u64>,
    capacity: Vec<u64>,
    weights: Vec<u64>,
}

impl WholePool {
    /// Returns a random pool.
    #[must_use]
    pub fn random(law: Law, n_users: usize, n_resources: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, ((n_resources as u64) << 32) + n_users as u64);
        let mut requests = Vec::with_capacity(n_users * n_resources);
        let mut weights = Vec::with_capacity(n_users);
        for _ in 0..n_users {
            let certain = random.between(0, n_resources as u64 - 1) as usize;
            let size = match law {
                Law::Mixed => random.between(1, 64),
                Law::Scarce => 1,
            };
            for resource in 0..n_resources {
                let asks = random.between(1, 10) <= 7 || resource == certain;
                let part = random.between(1, 999);
                requests.push(if asks { part * size } else { 0 });
            }
            weights.push(random.between(1, 9));
        }
        let capacity = (0..n_resources).map(|resource| match law {
            Law::Mixed => {
                let asked: u64 = requests.iter().skip(resource).step_by(n_resources).sum();
                (asked * random.between(20, 100) / 100).max(1)
            }
            Law::Scarce => 1000,
        });
        let capacity = capacity.collect();
        Self { n_resources, requests, capacity, weights }
    }

    /// Returns the number of users.
    #[must_use]
    pub fn n_users(&self) -> usize {
        self.weights.len()
    }

    /// Returns the input of [`Pool::new`]: the requests in units of the capacities, the unchanged
    /// entitlements, and caps of 1.
    #[must_use]
    pub fn in_doubles(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let part = |(k, &request): (usize, &u64)| request as f64 / self.capacity[k % self.n_resources] as f64;
        let requests = self.requests.iter().enumerate().map(part).collect();
        let weights = self.weights.iter().map(|&weight| weight as f64).collect();
        (requests, weights, vec![1.0; self.n_users()])
    }

    /// Returns the pool as a problem with one server.
    ///
    /// # Errors
    /// Never, because the generated numbers are valid.
    pub fn problem(&self) -> Result<Problem, ProblemError> {
        let names: Vec<String> = (0..self.n_resources).map(|r| format!("r{r}")).collect();
        let by_name = |amounts: &[u64]| -> Vec<(String, Rational)> {
            let stated = names.iter().zip(amounts).filter(|(_, amount)| **amount > 0);
            stated.map(|(name, &amount)| (name.clone(), Rational::from(amount))).collect()
        };
        let users = self.requests.chunks(self.n_resources).zip(&self.weights).enumerate();
        let users = users.map(|(n, (requests, &weight))| UserSpec {
            name: format!("u{n}"),
            weight: Some(Rational::from(weight)),
            tasks: Some(Rational::from(1)),
            demand: by_name(requests),
            ..UserSpec::default()
        });
        let users = users.collect();
        let server = ServerSpec { name: "pool".to_owned(), count: None, capacity: by_name(&self.capacity) };
        let name = format!("pool-{}x{}", self.n_users(), self.n_resources);
        Problem::new(ProblemSpec { name, resources: names, servers: vec![server], users })
    }

    /// Writes the pool in doubles. The first line is JSON. The requests row by row, the entitlements and the
    /// caps follow as little-endian doubles.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let (requests, entitlements, caps) = self.in_doubles();
        let head = json!({"users": self.n_users(), "resources": self.n_resources});
        let write = || {
            let mut file = BufWriter::new(fs::File::create(path)?);
            writeln!(file, "{head}")?;
            for value in requests.iter().chain(&entitlements).chain(&caps) {
                file.write_all(&value.to_le_bytes())?;
            }
            file.flush()
        };
        write().map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// The content of a file that [`WholePool::write`] wrote.
#[derive(Debug, Clone)]
pub struct PoolFile {
    /// The number of resources.
    pub n_resources: usize,
    /// The requests as a matrix of `users x resources`, in units of the capacities.
    pub requests: Vec<f64>,
    /// The entitlements, indexed by user.
    pub entitlements: Vec<f64>,
    /// The caps, indexed by user.
    pub caps: Vec<f64>,
}

impl PoolFile {
    /// Reads a pool from a file.
    ///
    /// # Errors
    /// If the file cannot be read, or does not contain a pool.
    pub fn read(path: &Path) -> Result<Self, String> {
        let told = |error: &str| format!("{}: {error}", path.display());
        let bytes = fs::read(path).map_err(|error| told(&error.to_string()))?;
        let end = bytes.iter().position(|&byte| byte == b'\n').ok_or_else(|| told("no first line"))?;
        let head: Value = serde_json::from_slice(&bytes[..end]).map_err(|error| told(&error.to_string()))?;
        let size = |name: &str| head[name].as_u64().map(|size| size as usize);
        let (users, n_resources) = size("users").zip(size("resources")).ok_or_else(|| told("no sizes"))?;
        let mut values = doubles(&bytes[end + 1..]);
        if values.len() != users * (n_resources + 2) {
            return Err(told("not as long as it says"));
        }
        let caps = values.split_off(users * (n_resources + 1));
        let entitlements = values.split_off(users * n_resources);
        Ok(Self { n_resources, requests: values, entitlements, caps })
    }

    /// Returns the pool after checking its numbers.
    ///
    /// # Errors
    /// If the numbers do not form a valid pool.
    pub fn pool(self) -> Result<Pool, String> {
        Pool::new(self.n_resources, self.requests, self.entitlements, self.caps)
            .map_err(|error| error.to_string())
    }
}

/// Returns the doubles that a sequence of bytes contains in little-endian order.
fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|eight| f64::from_le_bytes(*eight)).collect()
}

/// Writes an answer: `x`, followed by the prices for entitlements with the sum 1, as little-endian doubles.
///
/// # Errors
/// If the file cannot be written.
pub fn write_answer(path: &Path, x: &[f64], prices: &[f64]) -> Result<(), String> {
    let bytes: Vec<u8> = x.iter().chain(prices).flat_map(|value| value.to_le_bytes()).collect();
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads an answer that [`write_answer`] or a peer has written.
///
/// # Errors
/// If the file cannot be read, or has a different number of users.
pub fn read_answer(path: &Path, n_users: usize) -> Result<(Vec<f64>, Vec<f64>), String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut x = doubles(&bytes);
    if x.len() < n_users {
        return Err(format!("{}: too short", path.display()));
    }
    let prices = x.split_off(n_users);
    Ok((x, prices))
}
