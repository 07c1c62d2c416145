//! Amounts and costs as whole numbers, so that the search compares machine integers and stays exact.

use evenhand_problem::{Integer, Problem, Rational};

/// The largest factor by which amounts are multiplied, in bits.
const MOST_FACTOR_BITS: u32 = 60;
/// The largest whole amount, in bits. Sums of a few million amounts of this size fit into 128 bits.
const MOST_BITS: u32 = 100;
/// The largest cost of one task, in bits.
const MOST_COST_BITS: u32 = 40;

/// The factors, one for each resource, that make all amounts of a problem whole numbers.
#[derive(Debug, Clone)]
pub struct Scale {
    factors: Vec<Integer>,
}

impl Scale {
    /// Returns the factors of a problem. Returns `None` if the factors are too large.
    pub fn new(problem: &Problem) -> Option<Self> {
        let mut factors = vec![Integer::from(1); problem.n_resources()];
        for class in problem.servers() {
            class.capacity().iter().zip(&mut factors).for_each(|(amount, factor)| {
                factor.lcm_mut(amount.denom());
            });
        }
        for user in problem.users() {
            let own = user.demand_overrides().iter().map(|(_, demand)| demand);
            for (r, amount) in [user.base_demand()].into_iter().chain(own).flat_map(|of| of.entries()) {
                factors[*r].lcm_mut(amount.denom());
            }
        }
        factors.iter().all(|factor| factor.significant_bits() <= MOST_FACTOR_BITS).then_some(Self { factors })
    }

    /// Returns an amount of a resource as a whole number. Returns `None` if the number is too large.
    pub fn whole(&self, r: usize, amount: &Rational) -> Option<i128> {
        let whole = Rational::from(amount * &self.factors[r]);
        let is_small = whole.is_integer() && whole.numer().significant_bits() <= MOST_BITS;
        whole.numer().to_i128().filter(|_| is_small)
    }
}

/// The cost of one migrated task of each user, as whole numbers over a common denominator.
#[derive(Debug, Clone)]
pub struct WholeCosts {
    /// The numerator of the cost of one task, by user.
    pub list: Vec<u64>,
    denominator: Integer,
}

impl WholeCosts {
    /// Converts costs to whole numbers. The costs must be at least 0. Returns `None` if the numbers would be
    /// too large.
    pub fn new(costs: &[Rational]) -> Option<Self> {
        let mut denominator = Integer::from(1);
        for cost in costs {
            denominator.lcm_mut(cost.denom());
            if denominator.significant_bits() > MOST_COST_BITS {
                return None;
            }
        }
        let whole = |cost: &Rational| {
            let whole = Rational::from(cost * &denominator);
            let is_small = whole.numer().significant_bits() <= MOST_COST_BITS;
            whole.numer().to_u64().filter(|_| is_small)
        };
        let list = costs.iter().map(whole).collect::<Option<Vec<u64>>>()?;
        Some(Self { list, denominator })
    }

    /// Returns the cost that a numerator stands for.
    pub fn cost(&self, whole: u64) -> Rational {
        Rational::from((Integer::from(whole), self.denominator.clone()))
    }
}
