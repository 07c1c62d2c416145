//! The axiom `tree`, written from its definition. The filling by [`super::tree`] runs twice. The first run
//! decides by itself which users can get more. The second run uses the prices of the evidence.

use evenhand_exact::{Claim, ClassMark, Evidence, PlacePrices};
use evenhand_problem::Rational;

use super::{Plain, Shown, tree, zero};

impl Plain<'_> {
    /// Returns what the evidence of the axiom shows.
    pub fn of_filling(&self, claim: &Claim) -> Option<Shown> {
        let Evidence::Filling { tasks, prices } = &claim.evidence else { return None };
        let stated = Plain::of_tasks(self.p(), self.cluster.sharing, tasks);
        let totals: Vec<Rational> = self.users().map(|n| stated.total(n)).collect();
        let is_positive = |of: &PlacePrices| {
            let of_limits = of.limits.iter().map(|(_, price)| price);
            of.rows.iter().map(|(_, price)| price).chain(of_limits).all(|price| *price >= 0)
        };
        if !prices.iter().all(is_positive)
            || !stated.is_exactly_feasible()
            || !stated.keeps_limits_on_classes()
        {
            return None;
        }
        let mut bounds = prices.iter().map(|prices| self.of_prices(prices)).collect::<Option<Vec<_>>>()?;
        // The first bound is for users that limits of 0 bar from every class.
        let has_none = |n: usize| self.cluster.classes(n).into_iter().all(|i| self.is_barred(n, i));
        bounds.push((self.users().map(|n| Rational::from(u32::from(has_none(n)))).collect(), zero()));
        // A task uses at least its least demand of every resource over all classes.
        for (r, all) in self.p().total_capacity().iter().enumerate() {
            let open = |n: usize| self.cluster.classes(n).into_iter().filter(move |i| !self.is_barred(n, *i));
            let least = |n: usize| open(n).map(|i| self.p().demand(n, i)[r].clone()).min();
            bounds.push((self.users().map(|n| least(n).unwrap_or_default()).collect(), all.clone()));
        }
        let bounds = Some(bounds);
        let guarantees_first = tree::puts_first(self.p());
        let shown = tree::Tree { problem: self.p(), guarantees_first, there: None, bounds }.filled();
        if shown.as_ref() != Some(&totals) {
            return None;
        }
        let filled = tree::fill(self.p());
        if totals != filled {
            return None;
        }
        let differs = |n: usize| (self.total(n) - &filled[n]).abs() / &self.cluster.g[n];
        let margin = self.active().into_iter().map(differs).max().map(|most| -most);
        Some(Shown { margin, holds: None })
    }

    /// Returns the worth of a task of each user on the class where it is least, and the worth of all classes.
    /// Returns `None` for a price of an unknown limit, or for two prices of the same limit.
    fn of_prices(&self, prices: &PlacePrices) -> Option<(Vec<Rational>, Rational)> {
        let price =
            |row: usize| prices.rows.iter().find(|(of, _)| *of == row).map_or_else(zero, |(_, p)| p.clone());
        let capacities = self.cluster.capacity.iter().enumerate();
        let mut most: Rational = capacities.map(|(row, c)| price(row) * c).sum();
        for (at, (mark, price)) in prices.limits.iter().enumerate() {
            if prices.limits[..at].iter().any(|(other, _)| other == mark) {
                return None;
            }
            let on = self.p().groups().list()[mark.group].on.iter().find(|on| on.servers == mark.on)?;
            most += Rational::from(price * &on.limit.iter().find(|(r, _)| *r == mark.resource)?.1);
        }
        let worth = |n: usize| {
            let cost = |i: usize| {
                let rows = self.cluster.rows_of(i).into_iter();
                let of_rows = rows.map(|row| price(row) * self.cluster.uses(n, row)).sum::<Rational>();
                let marks = self.class_marks(n, i);
                let of_limit = |(mark, price): &(ClassMark, Rational)| {
                    let counts = marks.iter().any(|(of, _)| of == mark);
                    counts.then(|| Rational::from(price * &self.p().demand(n, i)[mark.resource]))
                };
                of_rows + prices.limits.iter().filter_map(of_limit).sum::<Rational>()
            };
            self.cluster.classes(n).into_iter().filter(|i| !self.is_barred(n, *i)).map(cost).min()
        };
        Some((self.users().map(|n| worth(n).unwrap_or_default()).collect(), most))
    }
}
