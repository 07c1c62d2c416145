//! Branch and bound for the knapsack problem, with integers throughout.
//!
//! The search decides the types in a fixed order. At a node, the numbers of jobs of the first types are fixed, and the
//! remaining capacities are known. The other types are open. Resource prices `M` with `M d_j >= s p_j` for all open
//! types bound the value that these types can add: `s value <= s settled + M left`. Every node uses the best of the
//! prices that are known for its set of open types. While few prices are known, the node solves the relaxation for new
//! ones. Values are integers, so a node can be skipped if its bound is below `best + 1`.

use std::ops::ControlFlow;

use evenhand_lp::exact_lp::{ExactColumn, ExactLp, Sense, Variable};
use rug::{Integer, Rational};

use super::knapsack::Knapsack;
use super::number::Number;
use super::relaxation;
use crate::settings::PACKING;

/// The configuration for which a search looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchGoal {
    /// The largest value.
    Largest,
    /// The first configuration, in the order of the search, with a value of at least the threshold.
    First,
}

/// The reason why a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The whole tree was searched.
    Complete,
    /// The configuration that [`SearchGoal::First`] asks for was found.
    Found,
    /// The limit on turns or on time was reached.
    Limit,
}

/// A recorded step of a search, in preorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStep {
    /// A branch: first all configurations with at least `at` jobs of the type, and then all configurations with fewer.
    Split {
        /// The type.
        job: usize,
        /// The number of jobs at which the branch divides.
        at: u64,
    },
    /// A leaf that prices bound. The prices are given by the number of fixed types and by their index among the prices
    /// for these types. `None` means that no further job fits.
    Leaf(Option<(usize, usize)>),
}

/// A branch and bound search over one knapsack.
pub struct BranchAndBound<'a, N> {
    knapsack: &'a Knapsack,
    order: Vec<usize>,
    /// For each position in the order, the demand of the type for each resource.
    demand: Vec<Vec<N>>,
    /// For each position in the order, the profit `p_j` of the type.
    profit: Vec<N>,
    /// For each position in the order, the profit as a fraction of the largest profit, and the demands as fractions of
    /// the capacities.
    float: Vec<(f64, Vec<f64>)>,
    largest: Total,
    /// Capacity of each resource.
    capacity: Vec<Total>,
    /// For each resource, the integer price that corresponds to a floating-point price of 1.
    units: Vec<Rational>,
    /// The scale `s` by which rounded prices are multiplied.
    scale: Integer,
    /// A bound on all values and on the threshold.
    most_value: Integer,
    /// The number of words of 64 bits of a scaled value.
    words: u64,
    /// True if values are too long for prices from floating point.
    exact: bool,
    /// For each number of fixed types, the prices that are known.
    prices: Vec<Vec<Prices<N>>>,
    /// Remaining capacity of each resource.
    left: Vec<N>,
    /// The value of the jobs that are fixed.
    settled: N,
    k: Vec<u64>,
    /// The least value that the next configuration must have. After each configuration, it is one more than the value
    /// of that configuration.
    threshold: N,
    one: N,
    goal: SearchGoal,
    found: Vec<Vec<u64>>,
    turns: usize,
    most_turns: usize,
    /// The turns that are already charged to the limits.
    paid: usize,
    steps: Option<Vec<SearchStep>>,
}

/// Integer prices of the resources, multiplied by `scale`.
struct Prices<N> {
    by_resource: Vec<N>,
    scale: N,
    /// True if a job of the last fixed type is worth at least its price, so that fewer jobs of this type are never
    /// worth more.
    covers_last: bool,
}

impl<'a, N: Number> BranchAndBound<'a, N> {
    /// Prepares a search for values of at least `threshold`. The types are decided in the given order.
    ///
    /// The integer profits must be 0 or more. Returns `None` if the numbers do not fit into `N`.
    pub fn new(
        knapsack: &'a Knapsack,
        order: Vec<usize>,
        profits: &[Integer],
        threshold: &Integer,
        goal: SearchGoal,
    ) -> Option<Self> {
        let total: Integer = knapsack.capacity.iter().sum::<Integer>() + 1u32;
        let scale = Integer::from(1) << (total.significant_bits() + 2);
        let most: Integer = order.iter().map(|&j| Integer::from(&profits[j] * knapsack.most[j])).sum();
        let largest_value = Integer::from(threshold.max(&most) + 1u32);
        if largest_value.significant_bits().saturating_add(scale.significant_bits() + 2) > N::BITS {
            return None;
        }
        let all = |values: &[Integer]| values.iter().map(N::from_integer).collect::<Option<Vec<N>>>();
        let words = u64::from(largest_value.significant_bits() + scale.significant_bits()) / 64 + 1;
        let demand = order.iter().map(|&j| all(&knapsack.demand[j])).collect::<Option<_>>()?;
        let profit = order.iter().map(|&j| N::from_integer(&profits[j])).collect::<Option<_>>()?;
        let largest = order.iter().map(|&j| &profits[j]).max().cloned().unwrap_or_default();
        let fraction = |a: &Integer, b: &Integer| if b.is_zero() { 0.0 } else { quotient(a, b) };
        let price = |c: &Integer| {
            let one = if c.is_zero() { Integer::from(1) } else { c.clone() };
            Rational::from((Integer::from(&largest * &scale), one))
        };
        let units = knapsack.capacity.iter().map(price).collect();
        let float = order
            .iter()
            .map(|&j| {
                let demand = knapsack.demand[j].iter().zip(&knapsack.capacity).map(|(d, c)| fraction(d, c));
                (fraction(&profits[j], &largest), demand.collect())
            })
            .collect();
        Some(Self {
            k: vec![0; knapsack.demand.len()],
            prices: (0..=order.len()).map(|_| Vec::new()).collect(),
            left: all(&knapsack.capacity)?,
            threshold: N::from_integer(threshold)?,
            one: N::from_integer(&Integer::from(1))?,
            words,
            exact: largest_value.significant_bits() > PACKING.most_float_bits,
            settled: N::zero(),
            knapsack,
            order,
            demand,
            profit,
            float,
            capacity: knapsack.capacity.iter().cloned().map(Total::new).collect(),
            units,
            largest: Total::new(largest),
            most_value: largest_value,
            scale,
            goal,
            found: Vec::new(),
            turns: 0,
            most_turns: usize::MAX,
            paid: 0,
            steps: None,
        })
    }

    /// Limits the search to `most_turns` turns.
    pub fn limited(mut self, most_turns: usize) -> Self {
        self.most_turns = most_turns;
        self
    }

    /// Makes the search record its steps.
    pub fn recorded(mut self) -> Self {
        self.steps = Some(Vec::new());
        self
    }

    /// Runs the search. Returns the reason why it ended, and every configuration that was better than all
    /// configurations before it.
    ///
    /// All of these configurations have at least the value of the threshold. The last configuration is the best.
    pub fn run(&mut self) -> (Ending, Vec<Vec<u64>>) {
        if self.order.len() > PACKING.most_types {
            return (Ending::Limit, Vec::new());
        }
        let ending = match self.descend(0) {
            ControlFlow::Continue(()) => Ending::Complete,
            ControlFlow::Break(ending) => ending,
        };
        (ending, std::mem::take(&mut self.found))
    }

    /// Returns the recorded steps, and all prices to which they refer. Prices are per unit of profit and of scaled
    /// resource.
    pub fn record(self) -> (Vec<SearchStep>, Vec<Vec<Vec<Rational>>>) {
        let exact = |prices: &Prices<N>| -> Vec<Rational> {
            let scale = prices.scale.to_integer();
            let each = prices.by_resource.iter();
            each.map(|price| Rational::from((price.to_integer(), scale.clone()))).collect()
        };
        let prices = self.prices.iter().map(|list| list.iter().map(exact).collect());
        (self.steps.unwrap_or_default(), prices.collect())
    }

    /// Counts one turn: a node, a number of jobs tried in a node, or other work of the same size.
    fn turn(&mut self) -> ControlFlow<Ending> {
        self.turns += 1;
        if self.turns > self.paid {
            if self.knapsack.limits.turns(PACKING.turns_at_once).is_err() {
                return ControlFlow::Break(Ending::Limit);
            }
            if self.words > 2 {
                // Arithmetic with long numbers takes proportionally more steps, by their number of words.
                let more = self.words * PACKING.turns_at_once as u64;
                evenhand_budget::charge(20 * more, "a search among configurations");
            }
            self.paid = self.turns + PACKING.turns_at_once;
        }
        if self.turns > self.most_turns {
            return ControlFlow::Break(Ending::Limit);
        }
        ControlFlow::Continue(())
    }

    /// Searches below a node at which the first `at` types are fixed.
    fn descend(&mut self, mut at: usize) -> ControlFlow<Ending> {
        self.turn()?;
        let most = loop {
            if at == self.order.len() {
                return self.leaf();
            }
            let most = self.fits(at);
            if most > 0 {
                break most;
            }
            at += 1;
        };
        let bound = self.bounded(at).or_else(|| self.new_prices(at));
        if let Some(prices) = bound {
            self.record_step(SearchStep::Leaf(Some((at, prices))));
            return ControlFlow::Continue(());
        }
        // Try the numbers of jobs from the largest down. Each number of jobs is a box of the recorded tree.
        self.settle(at, most);
        for number in (0..=most).rev() {
            self.turn()?;
            let bound = self.bounded(at + 1);
            if let Some(prices) = bound.filter(|&prices| self.prices[at + 1][prices].covers_last) {
                self.record_step(SearchStep::Leaf(Some((at + 1, prices))));
                self.unsettle(at, number);
                break;
            }
            if number > 0 {
                self.record_step(SearchStep::Split { job: self.order[at], at: number });
            }
            match bound {
                Some(prices) => self.record_step(SearchStep::Leaf(Some((at + 1, prices)))),
                None => self.descend(at + 1)?,
            }
            if number > 0 {
                self.unsettle(at, 1);
            }
        }
        ControlFlow::Continue(())
    }

    /// Records the current configuration if it reaches the threshold. No other job can be added to this configuration.
    fn leaf(&mut self) -> ControlFlow<Ending> {
        if self.settled < self.threshold {
            self.record_step(SearchStep::Leaf(None));
            return ControlFlow::Continue(());
        }
        self.found.push(self.k.clone());
        if self.goal == SearchGoal::First {
            return ControlFlow::Break(Ending::Found);
        }
        self.threshold = self.settled.plus(&self.one);
        ControlFlow::Continue(())
    }

    fn record_step(&mut self, step: SearchStep) {
        if let Some(steps) = &mut self.steps {
            steps.push(step);
        }
    }

    /// Returns how many jobs of the type at position `at` still fit.
    fn fits(&self, at: usize) -> u64 {
        let mut most = self.knapsack.most[self.order[at]];
        for (left, demand) in self.left.iter().zip(&self.demand[at]) {
            if *demand > N::zero() {
                most = left.times(demand, most);
            }
        }
        most
    }

    fn settle(&mut self, at: usize, times: u64) {
        for (left, demand) in self.left.iter_mut().zip(&self.demand[at]) {
            left.sub_times(demand, times);
        }
        self.settled.add_times(&self.profit[at], times);
        self.k[self.order[at]] += times;
    }

    fn unsettle(&mut self, at: usize, times: u64) {
        for (left, demand) in self.left.iter_mut().zip(&self.demand[at]) {
            left.add_times(demand, times);
        }
        self.settled.sub_times(&self.profit[at], times);
        self.k[self.order[at]] -= times;
    }

    /// Returns the index of known prices which prove that no value below this node reaches the threshold.
    fn bounded(&self, at: usize) -> Option<usize> {
        self.prices[at].iter().position(|prices| self.is_bound(prices))
    }

    fn is_bound(&self, prices: &Prices<N>) -> bool {
        let mut bound = N::zero();
        bound.add_product(&self.settled, &prices.scale);
        for (price, left) in prices.by_resource.iter().zip(&self.left) {
            bound.add_product(price, left);
        }
        let mut threshold = N::zero();
        threshold.add_product(&self.threshold, &prices.scale);
        bound < threshold
    }

    /// Computes new prices for the remaining capacities if few prices are known. Returns the index of the new prices if
    /// they bound the node.
    fn new_prices(&mut self, at: usize) -> Option<usize> {
        if self.prices[at].len() >= PACKING.most_prices {
            return None;
        }
        // With many types, the pivots of the relaxation cost as much as many turns.
        self.turns += self.left.len() * (self.order.len() - at + self.left.len()) / 100;
        let left: Vec<f64> = self.left.iter().zip(&self.capacity).map(|(left, c)| c.fraction(left)).collect();
        let types: Vec<(f64, &[f64])> =
            self.float[at..].iter().map(|(profit, demand)| (*profit, demand.as_slice())).collect();
        let (prices, basis) = relaxation::prices(&types, &left);
        let is_close = || {
            let fraction = |value: &N| self.largest.fraction(value);
            let bound = fraction(&self.settled) + left.iter().zip(&prices).map(|(l, p)| l * p).sum::<f64>();
            let threshold = fraction(&self.threshold);
            (bound - threshold).abs() <= PACKING.close * threshold.abs().max(1.0)
        };
        let exact = if self.exact && is_close() { self.exact_prices(at, &basis) } else { None };
        let prices = exact.or_else(|| self.rounded(at, &prices))?;
        if self.prices[at].iter().any(|known| known.by_resource == prices.by_resource) {
            return None;
        }
        let bound = self.is_bound(&prices);
        self.prices[at].push(prices);
        bound.then(|| self.prices[at].len() - 1)
    }

    /// Rounds prices up to integers that cover every open type. Returns `None` if the integers do not fit into `N`.
    fn rounded(&self, at: usize, prices: &[f64]) -> Option<Prices<N>> {
        let up = |(price, unit): (&f64, &Rational)| {
            let whole = price * unit.to_f64();
            if whole < PACKING.large {
                return Integer::from_f64(whole.ceil());
            }
            Some((Rational::from_f64(*price)? * unit).ceil().into_numer_denom().0)
        };
        let mut rounded: Vec<Integer> = prices.iter().zip(&self.units).map(up).collect::<Option<_>>()?;
        let mut found = self.fitting(&rounded, &self.scale)?;
        for at in at..self.order.len() {
            if self.covers(at, &found) {
                continue;
            }
            let missing = self.profit[at].to_integer() * &self.scale - self.worth(at, &rounded);
            // Raise the price of the resource of which the type demands the largest fraction.
            let fraction = |r: &usize| self.float[at].1[*r];
            let r = (0..rounded.len()).max_by(|a, b| fraction(a).total_cmp(&fraction(b)))?;
            let demand = &self.knapsack.demand[self.order[at]][r];
            if demand.is_zero() {
                return None;
            }
            rounded[r] += (missing + demand - 1u32) / demand;
            found = self.fitting(&rounded, &self.scale)?;
        }
        Some(self.covering_last(at, found))
    }

    /// Computes the exact optimal prices for the remaining capacities from the basis found in
    /// floating point.
    fn exact_prices(&self, at: usize, basis: &[usize]) -> Option<Prices<N>> {
        let open = &self.order[at..];
        let exact = |value: &Integer| Rational::from(value);
        let entries = |j: usize| {
            let demand = self.knapsack.demand[j].iter().enumerate();
            demand.filter(|(_, d)| !d.is_zero()).map(|(r, d)| (r, exact(d))).collect()
        };
        let profit = |position: usize| exact(&self.profit[at + position].to_integer());
        let lp = ExactLp {
            rows: self.left.iter().map(|left| (Sense::AtMost, exact(&left.to_integer()))).collect(),
            columns: open
                .iter()
                .enumerate()
                .map(|(position, &j)| ExactColumn { cost: profit(position), entries: entries(j) })
                .collect(),
        };
        let variable = |k: &usize| match k.checked_sub(open.len()) {
            None => Variable::Column(*k),
            Some(r) => Variable::Slack(r),
        };
        let basis: Vec<Variable> = basis.iter().map(variable).collect();
        let prices = lp.optimise(&basis, PACKING.most_price_pivots).ok()?.y;
        let mut scale = Integer::from(1);
        prices.iter().for_each(|price| scale.lcm_mut(price.denom()));
        let whole: Vec<Integer> =
            prices.iter().map(|price| Rational::from(price * &scale).into_numer_denom().0).collect();
        Some(self.covering_last(at, self.fitting(&whole, &scale)?))
    }

    /// Returns the price of one job of the type at position `at`.
    fn worth(&self, at: usize, prices: &[Integer]) -> Integer {
        let demand = &self.knapsack.demand[self.order[at]];
        demand.iter().zip(prices).map(|(d, price)| Integer::from(d * price)).sum()
    }

    /// Converts prices to `N`. Returns `None` if products with these prices would be too long for `N`.
    fn fitting(&self, prices: &[Integer], scale: &Integer) -> Option<Prices<N>> {
        let most: Integer =
            prices.iter().zip(&self.knapsack.capacity).map(|(price, c)| Integer::from(price * c)).sum();
        let values = Integer::from(&self.most_value * scale);
        if most.significant_bits().max(values.significant_bits()).saturating_add(2) >= N::BITS {
            return None;
        }
        let by_resource = prices.iter().map(N::from_integer).collect::<Option<_>>()?;
        Some(Prices { by_resource, scale: N::from_integer(scale)?, covers_last: false })
    }

    fn covering_last(&self, at: usize, prices: Prices<N>) -> Prices<N> {
        let covers_last = at.checked_sub(1).is_some_and(|last| {
            let (profit, worth) = self.sides(last, &prices);
            profit >= worth
        });
        Prices { covers_last, ..prices }
    }

    /// Returns true if a job of the type at position `at` is worth no more than its price.
    fn covers(&self, at: usize, prices: &Prices<N>) -> bool {
        let (profit, worth) = self.sides(at, prices);
        profit <= worth
    }

    /// Returns the scaled profit and the price of a job of the type at position `at`.
    ///
    /// The job fits on the server, so its price is at most the price of all capacities and cannot overflow.
    fn sides(&self, at: usize, prices: &Prices<N>) -> (N, N) {
        let (mut profit, mut worth) = (N::zero(), N::zero());
        profit.add_product(&self.profit[at], &prices.scale);
        for (price, demand) in prices.by_resource.iter().zip(&self.demand[at]) {
            worth.add_product(price, demand);
        }
        (profit, worth)
    }
}

/// A number by which values are divided, exactly and in floating point.
struct Total {
    exact: Integer,
    float: f64,
}

impl Total {
    fn new(exact: Integer) -> Self {
        Self { float: exact.to_f64(), exact }
    }

    /// Returns `value` as a fraction of this number, or 0 if this number is 0.
    fn fraction<N: Number>(&self, value: &N) -> f64 {
        let float = value.to_f64();
        if self.exact.is_zero() {
            0.0
        } else if float.max(self.float) < PACKING.large {
            float / self.float
        } else {
            quotient(&value.to_integer(), &self.exact)
        }
    }
}

/// Returns `a / b` in floating point, for integers of any size.
pub fn quotient(a: &Integer, b: &Integer) -> f64 {
    Rational::from((a.clone(), b.clone())).to_f64()
}
