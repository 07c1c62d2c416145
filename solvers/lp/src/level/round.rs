//! The optimum of one round in exact numbers, in the form that does not depend on how it was found.

use evenhand_problem::Rational;

use super::part::Part;

/// The blocking level of a part, with prices that prove it and an allocation that reaches it.
#[derive(Debug, Clone)]
pub struct Round {
    pub level: Rational,
    /// By row.
    pub prices: Vec<Rational>,
    /// By group: price of one unit of its level.
    pub level_prices: Vec<Rational>,
    /// By group: price of one task of its task limit.
    pub task_prices: Vec<Rational>,
    /// By group: `(class, tasks)`, ascending; more than the target where its level has no price.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// By group: the classes on which it may run in an optimum, those of reduced cost 0; `None` where
    /// nobody has looked.
    pub stays: Option<Vec<Vec<usize>>>,
}

impl Round {
    /// What one unit of level costs group `g` on class `c`.
    pub fn price(&self, part: &Part<'_>, g: usize, c: usize) -> Rational {
        let mut price = self.task_prices[g].clone();
        for (row, usage) in part.exact_usage(g, c) {
            if !self.prices[row].is_zero() {
                price += usage * &self.prices[row];
            }
        }
        price * part.tasks_per_level_on(g, c)
    }

    /// By group: the classes of reduced cost 0. A group runs on no others in any optimum.
    pub fn stays(&self, part: &Part<'_>) -> Vec<Vec<usize>> {
        let of = |g: usize| {
            let classes = part.classes[g].iter().copied();
            classes.filter(|&c| self.price(part, g, c) == self.level_prices[g]).collect()
        };
        (0..part.groups.len()).map(of).collect()
    }
}
