//! The axiom `tree` from its definition: the filling by [`super::tree`], once as the definition has it, which finds for
//! itself who has a place, and once as the prices say.

use evenhand_exact::{Claim, Evidence};
use evenhand_problem::Rational;

use super::{Plain, Shown, tree, zero};

impl Plain<'_> {
    /// What the evidence of the axiom shows.
    pub fn of_filling(&self, claim: &Claim) -> Option<Shown> {
        let Evidence::Filling { tasks, prices } = &claim.evidence else { return None };
        let stated = Plain::of_tasks(self.p(), self.cluster.sharing, tasks);
        let totals: Vec<Rational> = self.users().map(|n| stated.total(n)).collect();
        let are_prices = prices.iter().flatten().all(|(_, price)| *price >= 0);
        if !are_prices || !stated.is_exactly_feasible() {
            return None;
        }
        let bounds = Some(prices.iter().map(|prices| self.of_prices(prices)).collect());
        let filled = tree::fill(self.p());
        let is_shown =
            tree::Tree { problem: self.p(), guarantees_first: true, there: None, bounds }.filled() == totals;
        if !is_shown || totals != filled {
            return None;
        }
        let differs = |n: usize| (self.total(n) - &filled[n]).abs() / &self.cluster.g[n];
        let margin = self.active().into_iter().map(differs).max().map(|most| -most);
        Some(Shown { margin, holds: None })
    }

    /// What a task of each user is worth where it is worth least, and what all classes are worth.
    fn of_prices(&self, prices: &[(usize, Rational)]) -> (Vec<Rational>, Rational) {
        let price =
            |row: usize| prices.iter().find(|(of, _)| *of == row).map_or_else(zero, |(_, p)| p.clone());
        let worth = |n: usize| {
            let cost = |i: usize| {
                let rows = self.cluster.rows_of(i).into_iter();
                rows.map(|row| price(row) * self.cluster.uses(n, row)).sum::<Rational>()
            };
            self.cluster.classes(n).into_iter().map(cost).min().unwrap_or_default()
        };
        let capacities = self.cluster.capacity.iter().enumerate();
        (self.users().map(worth).collect(), capacities.map(|(row, c)| price(row) * c).sum())
    }
}
