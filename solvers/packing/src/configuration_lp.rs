//! The exact optimum of the configuration linear programme, by column generation, with a proof.
//!
//! Let `s_j` be the number of jobs of type `j` that are not served, and `x_k` the number of servers with configuration
//! `k`. The programme is `max -sum_j u_j s_j` subject to `s_j + sum_k x_k k_j >= rho_j` for every type and
//! `sum_k x_k <= size` for every pool. Idle servers have the empty configuration.
//!
//! HiGHS keeps one model with its last basis, and columns are added to this model. The dual prices of the types,
//! rounded to integers, become the profits of a knapsack problem. A configuration that is worth more than the price of
//! its server becomes a new column. When the knapsack returns no such configuration, the basis is solved in rationals.
//! The knapsack must then prove that no configuration is worth more than its server at the exact prices. A
//! configuration that refutes this becomes a column.

use crate::limits::PackingError;
use crate::settings::PACKING;
use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Sense, Variable};
use evenhand_lp::highs::{ColumnBlock, FloatLp};
use rug::{Integer, Rational};

use super::knapsack::Verdict;
use super::max_reward::MaxReward;
use evenhand_exact::ratio::PricingProof;

/// An exact optimal solution with its dual prices.
#[derive(Debug, Clone, PartialEq)]
pub struct PackingOptimum {
    /// The optimal value, `sum_j u_j Y_j = sum_j alpha_j rho_j + sum_i pi_i size_i`.
    pub value: Rational,
    /// `(pool, configuration, servers)` for each configuration that more than 0 servers have. The other servers of a
    /// pool are idle.
    pub servers: Vec<(usize, Vec<u64>, Rational)>,
    /// For each type, the jobs served: `Y_j`.
    pub served: Vec<Rational>,
    /// For each type, the price of its load. `alpha_j + beta_j = u_j`, and both are at least 0.
    pub alpha: Vec<Rational>,
    /// For each type, the price of a slot (free capacity for one job on a server).
    pub beta: Vec<Rational>,
    /// For each pool, the price of a server: `sum_j beta_j k_j <= pi_i` for every configuration of pool `i`.
    pub pi: Vec<Rational>,
    /// For each pool, the proof that every configuration is worth at most `pi_i`.
    pub proofs: Vec<PricingProof>,
    /// The number of configurations that were generated.
    pub n_columns: usize,
    /// The number of times that HiGHS solved the programme.
    pub rounds: usize,
}

/// Computes the optimum for the given loads and pool sizes.
///
/// Sizes are numbers of servers or fractions of all servers. The loads are in the same unit.
///
/// # Errors
/// [`PackingError`] when neither HiGHS nor exact pivots solve the programme, or when a proof would
/// be too large.
pub fn solve(
    best: &MaxReward<'_>,
    loads: &[Rational],
    sizes: &[Rational],
) -> Result<PackingOptimum, PackingError> {
    let (optimum, _) = solve_from(best, loads, sizes, Vec::new())?;
    Ok(optimum)
}

/// A pool and one of its configurations.
pub(super) type PooledConfiguration = (usize, Vec<u64>);

/// Starts the computation of [`solve`] with the given columns. Also returns all columns of the last
/// programme.
pub(super) fn solve_from(
    best: &MaxReward<'_>,
    loads: &[Rational],
    sizes: &[Rational],
    columns: Vec<PooledConfiguration>,
) -> Result<(PackingOptimum, Vec<PooledConfiguration>), PackingError> {
    let mut master = ConfigurationMaster::new(best, loads, sizes)?;
    let start = if columns.is_empty() { master.single_types() } else { columns };
    master.add(start)?;
    for round in 1..=PACKING.most_rounds {
        best.limits().turns(PACKING.round_turns)?;
        // If HiGHS fails, exact pivots solve the programme without a starting basis.
        let found = master.float.solve().ok().map(|solution| master.price(&solution.row_duals));
        let new = match found {
            Some(columns) if !columns.is_empty() => columns,
            _ => match master.exact()? {
                ExactProgramme::Optimal(mut optimum) => {
                    optimum.rounds = round;
                    return Ok((*optimum, master.columns));
                }
                ExactProgramme::Improved(columns) => columns,
            },
        };
        master.add(new)?;
    }
    Err(PackingError::Budget { what: "rounds of pricing", limit: PACKING.most_rounds })
}

/// The restricted master programme: the configuration programme over the columns generated so far.
struct ConfigurationMaster<'a, 'p> {
    best: &'a MaxReward<'p>,
    loads: &'a [Rational],
    sizes: &'a [Rational],
    /// The types with a reward and a load. All other types have the price 0.
    types: Vec<usize>,
    /// For each position in `types`, the largest number of jobs that fit on one server. It is the unit of the row.
    most: Vec<u64>,
    float: FloatLp,
    columns: Vec<PooledConfiguration>,
    known: std::collections::HashSet<PooledConfiguration>,
}

enum ExactProgramme {
    Optimal(Box<PackingOptimum>),
    Improved(Vec<PooledConfiguration>),
}

impl<'a, 'p> ConfigurationMaster<'a, 'p> {
    fn new(
        best: &'a MaxReward<'p>,
        loads: &'a [Rational],
        sizes: &'a [Rational],
    ) -> Result<Self, PackingError> {
        let problem = best.problem();
        let jobs = problem.jobs();
        let types: Vec<usize> =
            (0..jobs.len()).filter(|&j| !jobs[j].reward().is_zero() && !loads[j].is_zero()).collect();
        let n_pools = problem.n_pools();
        let most: Vec<u64> = types
            .iter()
            .map(|&j| (0..n_pools).map(|i| problem.most(i, j)).max().unwrap_or(0).max(1))
            .collect();
        let full = types.iter().zip(&most).map(|(&j, most)| Rational::from(jobs[j].reward() * most));
        let unit = full.max().unwrap_or_else(|| Rational::from(1));
        let total: Rational = sizes.iter().sum();
        let fraction =
            |value: &Rational| if total.is_zero() { 0.0 } else { Rational::from(value / &total).to_f64() };
        let mut rows: Vec<(f64, f64)> = types
            .iter()
            .zip(&most)
            // A load above what all servers can serve (1 in this unit) is equivalent to an unlimited load.
            .map(|(&j, most)| (fraction(&Rational::from(&loads[j] / most)).min(2.0), f64::INFINITY))
            .collect();
        rows.extend(sizes.iter().map(|size| (f64::NEG_INFINITY, fraction(size))));
        let mut float = FloatLp::new(&rows)?;
        let mut block = ColumnBlock::default();
        for (row, (&j, most)) in types.iter().zip(&most).enumerate() {
            let cost = Rational::from(jobs[j].reward() * most) / &unit;
            block.push(-cost.to_f64(), [(row, 1.0)])?;
        }
        float.add_columns(&block)?;
        let known = std::collections::HashSet::new();
        Ok(Self { best, loads, sizes, types, most, float, columns: Vec::new(), known })
    }

    /// Returns the configurations that fill a server with jobs of a single type. There is one for every pool and type.
    fn single_types(&self) -> Vec<PooledConfiguration> {
        let problem = self.best.problem();
        let mut columns = Vec::new();
        for i in 0..problem.n_pools() {
            for &j in &self.types {
                let mut k = vec![0; problem.n_types()];
                k[j] = problem.most(i, j);
                columns.push((i, k));
            }
        }
        columns
    }

    /// Adds the columns that are not in the programme yet.
    fn add(&mut self, columns: Vec<PooledConfiguration>) -> Result<(), PackingError> {
        let mut block = ColumnBlock::default();
        for column in columns {
            if !self.known.insert(column.clone()) {
                continue;
            }
            let (i, k) = &column;
            let jobs = self.types.iter().zip(&self.most).enumerate().filter(|(_, (j, _))| k[**j] > 0);
            let entries = jobs.map(|(row, (&j, most))| (row, k[j] as f64 / *most as f64));
            block.push(0.0, entries.chain([(self.types.len() + i, 1.0)]))?;
            self.columns.push(column);
        }
        Ok(self.float.add_columns(&block)?)
    }

    /// Returns new columns whose reduced costs improve the programme at the dual prices from HiGHS.
    fn price(&self, duals: &[f64]) -> Vec<PooledConfiguration> {
        let mut profits = vec![Integer::new(); self.best.problem().n_types()];
        for (row, (&j, most)) in self.types.iter().zip(&self.most).enumerate() {
            let price = (-duals[row]).max(0.0) / *most as f64;
            profits[j] = Integer::from_f64((price * PACKING.precision).round()).unwrap_or_default();
        }
        let mut columns = Vec::new();
        for i in 0..self.sizes.len() {
            let server = duals[self.types.len() + i].max(0.0) + PACKING.improvement;
            let bound = Integer::from_f64((server * PACKING.precision).ceil()).unwrap_or_default();
            let found = self.best.better(i, &profits, &bound);
            columns.extend(found.into_iter().map(|k| (i, k)).filter(|c| !self.known.contains(c)));
        }
        columns
    }

    /// Solves the programme in rationals, starting from the basis of HiGHS, and tries to prove its optimality.
    fn exact(&mut self) -> Result<ExactProgramme, PackingError> {
        let problem = self.best.problem();
        let (n_types, jobs) = (self.types.len(), problem.jobs());
        let mut lp = ExactLp::default();
        lp.rows.extend(self.types.iter().map(|&j| (Sense::AtLeast, self.loads[j].clone())));
        lp.rows.extend(self.sizes.iter().map(|size| (Sense::AtMost, size.clone())));
        for (row, &j) in self.types.iter().enumerate() {
            let cost = Rational::from(-jobs[j].reward());
            lp.columns.push(ExactColumn { cost, entries: vec![(row, Rational::from(1))] });
        }
        for (i, k) in &self.columns {
            let jobs = self.types.iter().enumerate().filter(|(_, j)| k[**j] > 0);
            let entries = jobs.map(|(row, &j)| (row, Rational::from(k[j])));
            let entries = entries.chain([(n_types + i, Rational::from(1))]).collect();
            lp.columns.push(ExactColumn { cost: Rational::new(), entries });
        }
        let optimum = lp.optimise(&self.basis(), PACKING.most_pivots)?;

        // The duals of the loads are the prices of slots. The duals of the pools are the prices of servers.
        let mut beta = vec![Rational::new(); jobs.len()];
        for (row, &j) in self.types.iter().enumerate() {
            beta[j] = Rational::from(-&optimum.y[row]);
        }
        let alpha = jobs.iter().zip(&beta).map(|(job, beta)| Rational::from(job.reward() - beta)).collect();
        let pi: Vec<Rational> = optimum.y[n_types..].to_vec();
        let mut proofs = Vec::new();
        let mut columns = Vec::new();
        for (i, pi) in pi.iter().enumerate() {
            match self.best.verify(i, &beta, pi)? {
                Verdict::Proven(proof) => proofs.push(proof),
                Verdict::Refuted(k) => columns.push((i, k)),
            }
        }
        if !columns.is_empty() {
            return Ok(ExactProgramme::Improved(columns));
        }
        let mut served = vec![Rational::new(); jobs.len()];
        for (row, &j) in self.types.iter().enumerate() {
            served[j] = Rational::from(&self.loads[j] - &optimum.x[row]);
        }
        let value = served.iter().zip(jobs).map(|(served, job)| Rational::from(served * job.reward())).sum();
        let used = self.columns.iter().zip(&optimum.x[n_types..]).filter(|(_, x)| !x.is_zero());
        let servers = used.map(|((i, k), x)| (*i, k.clone(), x.clone())).collect();
        let n_columns = self.columns.len();
        let optimum =
            PackingOptimum { value, servers, served, alpha, beta, pi, proofs, n_columns, rounds: 0 };
        Ok(ExactProgramme::Optimal(Box::new(optimum)))
    }

    /// Returns the basis of HiGHS. The columns of the exact programme are in the same order.
    fn basis(&mut self) -> Vec<Variable> {
        self.float.basis().map_or_else(|_| Vec::new(), |basis| basis.variables().collect())
    }
}
