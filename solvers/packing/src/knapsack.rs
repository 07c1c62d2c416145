//! The knapsack problem of one pool in integers: the choice of the method, and the proof of its
//! maximum.

use std::collections::BTreeMap;

use crate::limits::PackingError;
use crate::settings::PACKING;
use evenhand_problem::reservation::greatest_common_divisor;
use evenhand_problem::{Quantities, Reservation};
use rug::{Integer, Rational};

use super::limits::SearchLimits;
use super::number::Number;
use super::search::{BranchAndBound, Ending, SearchGoal, SearchStep, quotient};
use super::table::Grid;
use evenhand_exact::ratio::{FirstProof, Multipliers, PricingProof, Tree, TreeNode};

/// Sums of whole numbers with fewer bits are exact in `f32`. `DOUBLE_BITS` is the same limit for `f64`.
const SINGLE_BITS: u32 = 24;
const DOUBLE_BITS: u32 = 53;

/// The demands and capacities of one pool, scaled to integers.
///
/// Each resource is divided by the greatest common divisor of the demands, and its capacity is
/// rounded down. The feasible configurations stay the same. Resources that no type demands are left
/// out.
pub struct Knapsack {
    /// For each type, the demand for each resource of the knapsack.
    pub demand: Vec<Vec<Integer>>,
    /// Capacity of each resource of the knapsack.
    pub capacity: Vec<Integer>,
    /// For each type, the largest number of its jobs that fit on an empty server.
    pub most: Vec<u64>,
    /// For each resource of the knapsack, `(resource of the problem, size of a unit)`.
    units: Vec<(usize, Rational)>,
    grid: Option<Grid>,
    /// The limits of the search, shared by all knapsacks of a problem.
    pub limits: SearchLimits,
}

/// The method that computed and proved a maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnapsackMethod {
    /// A dynamic programme over all capacities.
    DynamicProgramme,
    /// Branch and bound with proven bounds.
    BranchAndBound,
    /// A comparison of all stated configurations.
    Listed,
}

/// The decision whether some configuration is worth more than a bound, with a proof.
pub enum Verdict {
    /// No configuration is worth more than the bound. The proof shows it.
    Proven(PricingProof),
    /// This configuration is worth more than the bound.
    Refuted(Vec<u64>),
}

impl Knapsack {
    /// Scales the knapsack of pool `i` to integers. The pool must state capacities.
    pub fn new(problem: &Reservation, i: usize, limits: &SearchLimits) -> Result<Self, PackingError> {
        let n_types = problem.n_types();
        let jobs = problem.jobs();
        let mut demanded: Vec<usize> =
            jobs.iter().flat_map(|job| job.demand().entries()).map(|(r, _)| *r).collect();
        demanded.sort_unstable();
        demanded.dedup();
        limits.numbers(demanded.len().saturating_mul(n_types))?;
        let mut units = Vec::new();
        let mut capacity = Vec::new();
        let mut demand = vec![Vec::new(); n_types];
        for r in demanded {
            let stated = jobs.iter().map(|job| &job.demand()[r]);
            let Some(unit) = greatest_common_divisor(stated) else { continue };
            let available = &problem.pools()[i].capacity()[r];
            capacity.push(Rational::from(available / &unit).floor().into_numer_denom().0);
            for (demand, job) in demand.iter_mut().zip(jobs) {
                demand.push(Rational::from(&job.demand()[r] / &unit).into_numer_denom().0);
            }
            units.push((r, unit));
        }
        let grid = Grid::new(&demand, &capacity);
        let most = (0..n_types).map(|j| problem.most(i, j)).collect();
        Ok(Self { demand, capacity, most, units, grid, limits: limits.clone() })
    }

    /// Scales the knapsack of one server to integers. `demands` lists the demands of each type by resource, without
    /// zeros.
    ///
    /// A packing has at most `most` tasks of each type. If all of these numbers follow from the capacities
    /// (`is_bounded_by_capacity`), a table may be used for the search. Proofs are always branch trees.
    pub fn of(
        demands: &[&[(usize, Rational)]],
        capacities: &Quantities,
        most: Vec<u64>,
        is_bounded_by_capacity: bool,
        limits: &SearchLimits,
    ) -> Result<Self, PackingError> {
        let mut by_resource: BTreeMap<usize, Vec<(usize, &Rational)>> = BTreeMap::new();
        for (j, demand) in demands.iter().enumerate() {
            for (r, d) in *demand {
                by_resource.entry(*r).or_default().push((j, d));
            }
        }
        limits.numbers(by_resource.len().saturating_mul(demands.len()))?;
        let (mut units, mut capacity) = (Vec::new(), Vec::new());
        let mut demand = vec![Vec::new(); demands.len()];
        for (r, of_types) in by_resource {
            let stated = of_types.iter().map(|(_, d)| *d);
            let Some(unit) = greatest_common_divisor(stated) else { continue };
            capacity.push(Rational::from(&capacities[r] / &unit).floor().into_numer_denom().0);
            demand.iter_mut().for_each(|demand| demand.push(Integer::new()));
            for (j, d) in of_types {
                if let Some(last) = demand[j].last_mut() {
                    *last = Rational::from(d / &unit).into_numer_denom().0;
                }
            }
            units.push((r, unit));
        }
        let grid = if is_bounded_by_capacity { Grid::new(&demand, &capacity) } else { None };
        Ok(Self { demand, capacity, most, units, grid, limits: limits.clone().with_trees() })
    }

    /// Returns the number of cells of the table. `None` if a table would be too large.
    pub fn cells(&self) -> Option<usize> {
        self.grid.as_ref().map(Grid::n_cells)
    }

    /// Returns the number of cells of the table if a table is accepted as a proof.
    fn proof_cells(&self) -> Option<usize> {
        self.cells().filter(|_| !self.limits.trees())
    }

    /// Computes the first configuration that uses only `types` (ascending), in the order of Definition 2.2.
    pub fn first(
        &self,
        types: &[usize],
        profits: &[Rational],
    ) -> Result<(Vec<u64>, KnapsackMethod), PackingError> {
        let (profits, _) = integers(profits);
        let types: Vec<usize> = types.iter().copied().filter(|&j| self.most[j] > 0).collect();
        if let Some(grid) = &self.grid {
            let work = grid.n_cells().saturating_mul(types.len());
            let by_table = || Ok((self.table(grid, &types, &profits)?, KnapsackMethod::DynamicProgramme));
            if work <= PACKING.most_first_work {
                return by_table();
            }
            let is_quick = self.is_quick(types.len(), &profits);
            let most_turns = if is_quick { PACKING.first_turns } else { work / 200 };
            if let Some(k) = self.branch(&types, &profits, most_turns)? {
                return Ok((k, KnapsackMethod::BranchAndBound));
            }
            return by_table();
        }
        match self.branch(&types, &profits, PACKING.most_turns)? {
            Some(k) => Ok((k, KnapsackMethod::BranchAndBound)),
            None => Err(PackingError::Budget {
                what: "turns of the search for a configuration",
                limit: PACKING.most_turns,
            }),
        }
    }

    /// Computes the first configuration by dynamic programming alone. `None` if the table would be too large.
    #[cfg(test)]
    pub fn first_by_table(&self, types: &[usize], profits: &[Rational]) -> Option<Vec<u64>> {
        let types: Vec<usize> = types.iter().copied().filter(|&j| self.most[j] > 0).collect();
        self.table(self.grid.as_ref()?, &types, &integers(profits).0).ok()
    }

    /// Computes the first configuration by branch and bound alone.
    #[cfg(test)]
    pub fn first_by_branching(&self, types: &[usize], profits: &[Rational]) -> Option<Vec<u64>> {
        let types: Vec<usize> = types.iter().copied().filter(|&j| self.most[j] > 0).collect();
        self.branch(&types, &integers(profits).0, PACKING.most_turns).ok()?
    }

    /// Solves the knapsack by a table, with the smallest number type that is exact.
    fn table(&self, grid: &Grid, types: &[usize], profits: &[Integer]) -> Result<Vec<u64>, PackingError> {
        let bits = self.value_bits(profits);
        self.limits.table(grid.n_cells(), bits + 2)?;
        if bits < SINGLE_BITS {
            return Ok(grid.best(types, &profits.iter().map(Integer::to_f32).collect::<Vec<f32>>()).1);
        }
        if bits < DOUBLE_BITS {
            return Ok(grid.best(types, &doubles(profits)).1);
        }
        if bits < i64::BITS - 2 {
            let profits: Vec<i64> = profits.iter().map(|p| p.to_i64().unwrap_or(0)).collect();
            return Ok(grid.best(types, &profits).1);
        }
        if bits < i128::BITS - 2 {
            let profits: Vec<i128> = profits.iter().map(|p| p.to_i128().unwrap_or(0)).collect();
            return Ok(grid.best(types, &profits).1);
        }
        Ok(grid.best(types, profits).1)
    }

    /// Returns true if filling a table for `n_types` types takes no longer than a short search.
    fn is_quick(&self, n_types: usize, profits: &[Integer]) -> bool {
        self.value_bits(profits) < DOUBLE_BITS
            && self.cells().is_some_and(|cells| {
                cells <= PACKING.most_quick_cells && cells.saturating_mul(n_types) <= PACKING.most_quick_work
            })
    }

    /// Returns the number of bits of an upper bound on the values of all configurations.
    fn value_bits(&self, profits: &[Integer]) -> u32 {
        let most: Integer = profits.iter().zip(&self.most).map(|(p, most)| Integer::from(p * most)).sum();
        most.significant_bits()
    }

    /// Solves the knapsack by branch and bound. `None` if the limit was reached.
    fn branch(
        &self,
        types: &[usize],
        profits: &[Integer],
        most_turns: usize,
    ) -> Result<Option<Vec<u64>>, PackingError> {
        let nothing = Integer::new();
        let orders = self.orders(types, profits);
        let (ending, best) = self.search(&orders, profits, &nothing, SearchGoal::Largest, most_turns);
        if ending != Ending::Complete {
            return Ok(None);
        }
        let best = best.last().cloned().unwrap_or_else(|| vec![0; profits.len()]);
        let value: Integer = profits.iter().zip(&best).map(|(p, k)| Integer::from(p * k)).sum();
        // The largest value is now known. The second search computes the first configuration, in the order of types,
        // that reaches this value.
        let (ending, first) = self.search_in(types, profits, &value, SearchGoal::First, most_turns);
        Ok(if ending == Ending::Found { first.into_iter().next() } else { None })
    }

    /// Searches in each order alternately, with limits that grow.
    ///
    /// Each order is far too slow on some problems that the other order solves quickly.
    fn search(
        &self,
        orders: &[Vec<usize>],
        profits: &[Integer],
        threshold: &Integer,
        goal: SearchGoal,
        most_turns: usize,
    ) -> (Ending, Vec<Vec<u64>>) {
        let mut limit = PACKING.first_turns.min(most_turns);
        loop {
            let mut last = (Ending::Limit, Vec::new());
            for order in orders {
                let found = self.search_in(order, profits, threshold, goal, limit);
                if found.0 != Ending::Limit {
                    return found;
                }
                last = found;
            }
            if limit == most_turns {
                return last;
            }
            limit = limit.saturating_mul(4).min(most_turns);
        }
    }

    /// Runs [`BranchAndBound::run`] with the smallest integer type that is large enough.
    fn search_in(
        &self,
        order: &[usize],
        profits: &[Integer],
        threshold: &Integer,
        goal: SearchGoal,
        most_turns: usize,
    ) -> (Ending, Vec<Vec<u64>>) {
        if let Some(search) = BranchAndBound::<i64>::new(self, order.to_vec(), profits, threshold, goal) {
            return search.limited(most_turns).run();
        }
        if let Some(search) = BranchAndBound::<i128>::new(self, order.to_vec(), profits, threshold, goal) {
            return search.limited(most_turns).run();
        }
        match BranchAndBound::<Integer>::new(self, order.to_vec(), profits, threshold, goal) {
            Some(search) => search.limited(most_turns).run(),
            None => (Ending::Limit, Vec::new()),
        }
    }

    /// Returns the types with a profit in two orders: by profit per price of their demand, and largest first.
    ///
    /// Returns only one order if both are equal.
    fn orders(&self, types: &[usize], profits: &[Integer]) -> Vec<Vec<usize>> {
        let largest = profits.iter().max().cloned().unwrap_or_default();
        let mut order: Vec<usize> =
            types.iter().copied().filter(|&j| profits[j] > 0 && self.most[j] > 0).collect();
        let fraction = |j: usize| -> Vec<f64> {
            let pairs = self.demand[j].iter().zip(&self.capacity);
            pairs.map(|(d, c)| if c.is_zero() { 0.0 } else { quotient(d, c) }).collect()
        };
        let fractions: Vec<(f64, Vec<f64>)> =
            order.iter().map(|&j| (quotient(&profits[j], &largest), fraction(j))).collect();
        let rows: Vec<(f64, &[f64])> = fractions.iter().map(|(p, d)| (*p, d.as_slice())).collect();
        let (prices, _) = super::relaxation::prices(&rows, &vec![1.0; self.capacity.len()]);
        let mut efficiency = vec![0.0; profits.len()];
        for (&j, (profit, demand)) in order.iter().zip(&fractions) {
            let price: f64 = demand.iter().zip(&prices).map(|(d, price)| d * price).sum();
            efficiency[j] = profit / price.max(1e-300);
        }
        order.sort_by(|&a, &b| efficiency[b].total_cmp(&efficiency[a]).then(a.cmp(&b)));
        let mut by_size = order.clone();
        by_size.sort_by_key(|&j| self.most[j]);
        if by_size == order { vec![order] } else { vec![order, by_size] }
    }

    /// Returns configurations that are worth more than `bound` at the given profits.
    ///
    /// The result is empty if there are no such configurations, or if the search reached its limit.
    pub fn better(&self, profits: &[Integer], bound: &Integer) -> Vec<Vec<u64>> {
        let types: Vec<usize> = (0..profits.len()).filter(|&j| profits[j] > 0 && self.most[j] > 0).collect();
        let orders = self.orders(&types, profits);
        let threshold = Integer::from(bound + 1u32);
        let is_quick = self.is_quick(types.len(), profits);
        let long =
            || self.cells().map_or(1_000_000, |cells| cells.saturating_mul(profits.len()) / 200).max(2_000);
        let most_turns = if is_quick { PACKING.first_turns } else { long() };
        let (ending, best) = self.search(&orders, profits, &threshold, SearchGoal::Largest, most_turns);
        if ending == Ending::Complete || !(is_quick || best.is_empty()) {
            return best;
        }
        // If the table is too large, the error is not lost: the later request for a proof reports it.
        let Some(grid) = &self.grid else { return Vec::new() };
        if is_quick && self.limits.table(grid.n_cells(), f64::MANTISSA_DIGITS).is_ok() {
            let mut better = grid.fill(&types, &doubles(profits)).better(&bound.to_f64());
            better.truncate(PACKING.most_columns);
            return better;
        }
        let value = |k: &[u64]| profits.iter().zip(k).map(|(p, k)| Integer::from(p * k)).sum::<Integer>();
        self.table(grid, &types, profits).ok().filter(|k| value(k) > *bound).into_iter().collect()
    }

    /// Decides with a table in doubles whether some configuration is worth more than `floor` at the given profits.
    ///
    /// Returns `Some(Some(k))` for a configuration `k` that is worth more, `Some(None)` if no configuration is worth
    /// more, and `None` if the table cannot decide.
    ///
    /// The profits are rounded up to whole numbers that doubles add exactly. Few configurations then exceed the rounded
    /// bound: those that reach the bound, and those that almost reach it. The exact profits of each of these
    /// configurations are compared.
    fn above(&self, types: &[usize], profits: &[Integer], floor: &Integer) -> Option<Option<Vec<u64>>> {
        let shift = (self.value_bits(profits) + 2).saturating_sub(DOUBLE_BITS);
        // Rounds up, and leaves 0 unchanged.
        let up = |p: &Integer| -(Integer::from(-p) >> shift);
        let rounded: Vec<Integer> = profits.iter().map(up).collect();
        let grid = self.grid.as_ref().filter(|_| self.is_quick(types.len(), &rounded))?;
        self.limits.table(grid.n_cells(), f64::MANTISSA_DIGITS).ok()?;
        let profits_rounded = doubles(&rounded);
        let table = grid.fill(types, &profits_rounded);
        // A value above the floor exceeds the floor by at least one unit. Rounding the profits up does not lower the
        // value.
        let least = (Integer::from(floor >> shift) + 1u32).to_f64();
        if *table.largest() < least {
            return Some(None);
        }
        self.limits.turns(PACKING.most_near).ok()?;
        let value = |k: &Vec<u64>| profits.iter().zip(k).map(|(p, k)| Integer::from(p * *k)).sum::<Integer>();
        let near = table.reaching(&least, PACKING.most_near)?;
        let best = near.into_iter().map(|k| (value(&k), k)).max_by(|a, b| a.0.cmp(&b.0));
        Some(best.filter(|(value, _)| value > floor).map(|(_, k)| k))
    }

    /// Decides whether `sum_j beta_j k_j <= bound` for every configuration, and proves the decision.
    pub fn verify(&self, beta: &[Rational], bound: &Rational) -> Result<Verdict, PackingError> {
        let (profits, unit) = integers(beta);
        // Every value is a multiple of the unit.
        let floor = Rational::from(bound / &unit).floor().into_numer_denom().0;
        if floor < 0 {
            return Ok(Verdict::Refuted(vec![0; beta.len()]));
        }
        let types: Vec<usize> = (0..beta.len()).filter(|&j| profits[j] > 0).collect();
        let orders = self.orders(&types, &profits);
        let threshold = Integer::from(&floor + 1u32);
        let most_turns =
            if self.proof_cells().is_some() { PACKING.most_proof_turns } else { PACKING.most_tree_turns };
        let too_long =
            PackingError::Budget { what: "turns of the search for a pricing proof", limit: most_turns };
        let (mut limit, mut asked, mut is_proven) = (PACKING.first_turns, false, false);
        loop {
            // Search for a short tree first. The table is used before the long searches, since they are not needed if
            // the table refutes the bound.
            if !asked && limit > PACKING.first_turns {
                asked = true;
                match self.above(&types, &profits, &floor) {
                    Some(Some(k)) => return Ok(Verdict::Refuted(k)),
                    answer => is_proven = answer.is_some(),
                }
            }
            for order in &orders {
                let tried = self
                    .proof_by::<i64>(order, &profits, &threshold, limit, &unit)
                    .or_else(|| self.proof_by::<i128>(order, &profits, &threshold, limit, &unit))
                    .or_else(|| self.proof_by::<Integer>(order, &profits, &threshold, limit, &unit));
                if let Some(Some(verdict)) = tried {
                    return Ok(verdict);
                }
            }
            if limit == most_turns {
                break;
            }
            limit = limit.saturating_mul(4).min(most_turns);
        }
        if let Some(cells) = self.proof_cells().filter(|_| is_proven) {
            return Ok(Verdict::Proven(PricingProof::DynamicProgramme { cells }));
        }
        let Some(grid) = &self.grid else { return Err(too_long) };
        let best = self.table(grid, &types, &profits)?;
        let value: Integer = profits.iter().zip(&best).map(|(p, k)| Integer::from(p * k)).sum();
        if value > floor {
            return Ok(Verdict::Refuted(best));
        }
        let cells = self.proof_cells().ok_or(too_long)?;
        Ok(Verdict::Proven(PricingProof::DynamicProgramme { cells }))
    }

    /// Proves that `k` is the first configuration of `types` (ascending). All other types have the profit 0.
    pub fn prove_first(
        &self,
        types: &[usize],
        profits: &[Rational],
        k: &[u64],
    ) -> Result<FirstProof, PackingError> {
        let table = self.proof_cells();
        if let Some(cells) =
            table.filter(|cells| cells.saturating_mul(types.len()) <= PACKING.most_table_work)
        {
            return Ok(FirstProof::DynamicProgramme { cells });
        }
        let limit = if table.is_some() { PACKING.most_proof_turns } else { PACKING.most_tree_turns };
        let bound: Rational = profits.iter().zip(k).map(|(p, k)| Rational::from(p * *k)).sum();
        if let Verdict::Proven(PricingProof::Tree { multipliers, nodes }) = self.verify(profits, &bound)?
            && let Some(order) = self.order_tree(types, profits, k, limit)
        {
            return Ok(FirstProof::Tree { value: Tree { multipliers, nodes }, order });
        }
        match table {
            Some(cells) => Ok(FirstProof::DynamicProgramme { cells }),
            None => Err(PackingError::Budget {
                what: "turns of the search for a proof of the first configuration",
                limit,
            }),
        }
    }

    /// Returns a tree that proves that `k` comes first among the configurations of its value.
    ///
    /// The tree shows that every configuration that exceeds `k` at the first difference is worth less. It is the search
    /// for the first configuration of that value, recorded up to `k`. All configurations after that point of the search
    /// are smaller at the first difference. The upper corner of each of their boxes shows this.
    fn order_tree(&self, types: &[usize], profits: &[Rational], k: &[u64], limit: usize) -> Option<Tree> {
        let (profits, unit) = integers(profits);
        let types: Vec<usize> = types.iter().copied().filter(|&j| self.most[j] > 0).collect();
        let value: Integer = profits.iter().zip(k).map(|(p, k)| Integer::from(p * *k)).sum();
        self.order_by::<i64>(&types, &profits, &value, k, limit, &unit)
            .or_else(|| self.order_by::<i128>(&types, &profits, &value, k, limit, &unit))
            .or_else(|| self.order_by::<Integer>(&types, &profits, &value, k, limit, &unit))?
    }

    /// Records the search of [`Self::order_tree`] with numbers of type `N`.
    ///
    /// Returns `None` if the numbers do not fit, and `Some(None)` if the search did not find `k`
    /// first.
    fn order_by<N: Number>(
        &self,
        types: &[usize],
        profits: &[Integer],
        value: &Integer,
        k: &[u64],
        limit: usize,
        unit: &Rational,
    ) -> Option<Option<Tree>> {
        let search = BranchAndBound::<N>::new(self, types.to_vec(), profits, value, SearchGoal::First)?;
        let mut search = search.limited(limit).recorded();
        let (ending, found) = search.run();
        if ending != Ending::Found || found.first().is_none_or(|found| found != k) {
            return Some(None);
        }
        let (mut steps, prices) = search.record();
        let splits = steps.iter().filter(|step| matches!(step, SearchStep::Split { .. })).count();
        let leaves = steps.len() - splits;
        steps.extend((leaves..=splits).map(|_| SearchStep::Leaf(None)));
        match self.tree(&steps, &prices, unit) {
            PricingProof::Tree { multipliers, nodes } => Some(Some(Tree { multipliers, nodes })),
            _ => Some(None),
        }
    }

    /// Searches for a proof or a counterexample with numbers of type `N`.
    ///
    /// Returns `None` if the numbers do not fit, and `Some(None)` if the search reached its limit.
    fn proof_by<N: Number>(
        &self,
        order: &[usize],
        profits: &[Integer],
        threshold: &Integer,
        most_turns: usize,
        unit: &Rational,
    ) -> Option<Option<Verdict>> {
        let search = BranchAndBound::<N>::new(self, order.to_vec(), profits, threshold, SearchGoal::First)?;
        let mut search = search.limited(most_turns).recorded();
        Some(match search.run() {
            (Ending::Found, found) => found.into_iter().next().map(Verdict::Refuted),
            (Ending::Complete, _) => {
                let (steps, prices) = search.record();
                Some(Verdict::Proven(self.tree(&steps, &prices, unit)))
            }
            _ => None,
        })
    }

    /// Converts a recorded search to a tree in the units of the problem. Includes the prices that the leaves of the
    /// tree use.
    fn tree(&self, steps: &[SearchStep], prices: &[Vec<Vec<Rational>>], unit: &Rational) -> PricingProof {
        let mut numbers = std::collections::HashMap::new();
        let mut multipliers: Vec<Multipliers> = Vec::new();
        let mut nodes = Vec::with_capacity(steps.len());
        for step in steps {
            nodes.push(match *step {
                SearchStep::Split { job, at } => TreeNode::Split { job, at },
                SearchStep::Leaf(which) => {
                    let number = *numbers.entry(which).or_insert_with(|| {
                        let by_unit = which.iter().flat_map(|&(at, number)| &prices[at][number]);
                        let stated = self.units.iter().zip(by_unit).filter(|(_, price)| !price.is_zero());
                        let each = |((r, size), price): (&(usize, Rational), &Rational)| {
                            (*r, Rational::from(price * unit) / size)
                        };
                        multipliers.push(stated.map(each).collect());
                        multipliers.len() - 1
                    });
                    TreeNode::Leaf { multipliers: number }
                }
            });
        }
        PricingProof::Tree { multipliers, nodes }
    }
}

/// Converts whole numbers of at most [`DOUBLE_BITS`] to doubles, without rounding.
fn doubles(numbers: &[Integer]) -> Vec<f64> {
    numbers.iter().map(Integer::to_f64).collect()
}

/// Divides rationals by their greatest common divisor. Returns the integers and this divisor. The divisor is 1 if all
/// numbers are 0.
pub fn integers(values: &[Rational]) -> (Vec<Integer>, Rational) {
    let unit = greatest_common_divisor(values).unwrap_or_else(|| Rational::from(1));
    let counted = values.iter().map(|value| Rational::from(value / &unit).into_numer_denom().0);
    (counted.collect(), unit)
}

#[cfg(test)]
mod tests;
