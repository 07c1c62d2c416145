//! Pareto optimality and max-min, judged from the evidence: prices, better allocations, and rises.

use std::collections::HashSet;

use evenhand_exact::axiom::max_min::Level;
use evenhand_exact::{Axiom, Claim, Evidence, Prices, Share, Tasks};
use evenhand_problem::{Placement, Rational};

use super::{Matrix, Plain, Shown, zero};

impl<'a> Plain<'a> {
    /// Returns `sum p C + sum q T`. The prices of limits come after those of the rows. Returns `None` if a
    /// price is negative, or if a task is worth more than it costs.
    pub fn bound(
        &self,
        rows: &[Rational],
        users: &[Rational],
        worth: &dyn Fn(usize, usize) -> Rational,
    ) -> Option<Rational> {
        rows.iter().chain(users).all(|price| *price >= 0).then_some(())?;
        let limits = self.limit_rows();
        let (rows, of_limits) = rows.split_at_checked(self.cluster.rows.len())?;
        (of_limits.len() == limits.len()).then_some(())?;
        let mut bound: Rational =
            rows.iter().zip(&self.cluster.capacity).map(|(p, c)| Rational::from(p * c)).sum();
        bound += of_limits.iter().zip(&limits).map(|(p, of)| Rational::from(p * &of.most)).sum::<Rational>();
        for n in self.users() {
            match self.p().users()[n].tasks() {
                Some(tasks) => bound += Rational::from(tasks * &users[n]),
                None => users[n].is_zero().then_some(())?,
            }
            for i in self.cluster.classes(n) {
                let cost =
                    self.cluster.rows_of(i).into_iter().map(|row| &rows[row] * self.cluster.uses(n, row));
                let limited = limits.iter().zip(of_limits).map(|(of, p)| p * self.takes(n, i, of));
                (cost.chain(limited).sum::<Rational>() + &users[n] >= worth(n, i)).then_some(())?;
            }
        }
        Some(bound)
    }

    /// Returns the gap `eps`, given a lower bound `spent` of `sum_ni a_ni x_ni`.
    pub fn gap(
        &self,
        rows: &[Rational],
        users: &[Rational],
        worth: &dyn Fn(usize, usize) -> Rational,
        spent: &Rational,
    ) -> Option<Rational> {
        Some(self.bound(rows, users, worth)? - spent)
    }

    /// Returns the gap of weights and prices for Pareto optimality.
    fn pareto_gap(&self, prices: &Prices) -> Option<Rational> {
        let l = &prices.user_weights;
        l.iter().all(|l| *l >= 0).then_some(())?;
        self.active().iter().all(|&n| Rational::from(&l[n] * &self.cluster.g[n]) >= 1).then_some(())?;
        let spent: Rational = self.users().map(|n| &l[n] * self.total(n)).sum();
        self.gap(&prices.rows, &prices.users, &|n, _| l[n].clone(), &spent)
    }

    /// Returns an allocation that evidence states, if it is exactly feasible.
    pub fn other(&self, tasks: &Tasks) -> Option<Plain<'a>> {
        let other = Plain::of_tasks(self.p(), self.sharing(), tasks);
        (other.is_exactly_feasible() && self.allows(&other)).then_some(other)
    }

    /// Returns minus the sum of the gains in `y`, if no user loses and some user gains.
    fn dominated(&self, y: &Plain<'_>) -> Option<Shown> {
        let mut sum = zero();
        for n in self.users() {
            let gain = y.total(n) - self.total(n);
            (gain >= 0).then_some(())?;
            if gain > 0 {
                sum += gain / &self.cluster.g[n];
            }
        }
        (sum > 0).then(|| Shown { margin: Some(-sum), holds: Some(false) })
    }

    fn placed(&self, placements: &[Placement]) -> Option<Plain<'a>> {
        let mut seen = HashSet::new();
        let there = |s: &Placement| s.index < self.p().servers()[s.server].count();
        placements.iter().all(|s| there(s) && seen.insert((s.server, s.index))).then_some(())?;
        let mut tasks = vec![vec![zero(); self.p().n_servers()]; self.p().n_users()];
        for single in placements {
            for (n, x) in &single.tasks {
                tasks[*n][single.server] += x;
            }
        }
        let tasks: Tasks = tasks.into_iter().map(|on| on.into_iter().enumerate().collect()).collect();
        let mut y = Plain::of_tasks(self.p(), self.sharing(), &tasks);
        y.placements = Some(placements.to_vec());
        let fits = y.is_whole() && y.is_exactly_feasible() && y.single_limits(true)?.iter().all(|l| l.1 >= 0);
        (fits && self.allows(&y)).then_some(y)
    }

    /// Returns the least value of an allocation in which `n` has `level`, and every other user has the lesser
    /// of its own level and `level`.
    fn least_value(&self, u: &Matrix, l: &[Rational], n: usize, level: &Rational) -> Rational {
        let of = |m: usize| if m == n { level.clone() } else { self.level(u, &self.x, m).min(level.clone()) };
        self.users().map(|m| of(m) * &l[m]).sum()
    }

    /// Returns the bound on the rise of `n`, divided by the largest level that `n` can have alone.
    fn rise_bound(&self, u: &Matrix, l: &[Rational], bound: &Rational, n: usize) -> Option<Rational> {
        (l[n] > 0).then_some(())?;
        let own = self.level(u, &self.x, n);
        let ceiling = self.ceiling(u, n);
        if self.least_value(u, l, n, &own) >= *bound {
            return Some(zero());
        }
        // The least value is linear between the levels of the users. The loop searches for the first interval
        // in which it reaches the bound.
        let mut marks: Vec<Rational> = self.users().map(|m| self.level(u, &self.x, m)).collect();
        marks.retain(|mark| *mark > own);
        marks.push(own.clone());
        marks.sort();
        let top = marks.last()? + Rational::from(1);
        marks.push(top);
        for pair in marks.windows(2) {
            let (from, to) = (self.least_value(u, l, n, &pair[0]), self.least_value(u, l, n, &pair[1]));
            let is_last = pair[1] == marks[marks.len() - 1];
            if to >= *bound || is_last {
                let part = Rational::from(bound - &from) / (to - &from);
                let level = &pair[0] + part * Rational::from(&pair[1] - &pair[0]);
                return Some((level - own) / ceiling);
            }
        }
        None
    }

    fn levels(&self, share: Share, levels: &[Level]) -> Option<Option<Rational>> {
        let u = self.coefficients(share)?;
        let judged: Vec<usize> = self.users().filter(|&n| self.ceiling(&u, n) > 0).collect();
        let needs = |n: &usize| self.level(&u, &self.x, *n) < self.ceiling(&u, *n);
        let mut open: Vec<usize> = judged.iter().copied().filter(needs).collect();
        let mut worst = zero();
        for Level { covers, prices } in levels {
            let fill = |length: usize, entries: &[(usize, Rational)]| {
                let mut all = vec![zero(); length];
                entries.iter().for_each(|(at, value)| all[*at].clone_from(value));
                all
            };
            let l = fill(self.p().n_users(), &prices.user_weights);
            l.iter().all(|l| *l >= 0).then_some(())?;
            let rows = fill(self.cluster.rows.len() + self.limit_rows().len(), &prices.rows);
            let users = fill(self.p().n_users(), &prices.users);
            let worth = |n: usize, i: usize| Rational::from(&l[n] * &u[n][i]) / self.p().users()[n].weight();
            let bound = self.bound(&rows, &users, &worth)?;
            for n in covers {
                let at = open.iter().position(|m| m == n)?;
                open.remove(at);
                worst = worst.max(self.rise_bound(&u, &l, &bound, *n)?);
            }
        }
        open.is_empty().then(|| (!judged.is_empty()).then_some(-worst))
    }

    /// Returns the largest rise of `n` that `y` shows, divided by the largest level that `n` can have alone.
    fn rise(&self, share: Share, n: usize, tasks: &Tasks) -> Option<Shown> {
        let u = self.coefficients(share)?;
        let y = self.other(tasks)?;
        (n < self.p().n_users() && self.ceiling(&u, n) > 0).then_some(())?;
        let mut level = self.level(&u, &y.x, n);
        for m in self.users().filter(|&m| m != n) {
            let after = self.level(&u, &y.x, m);
            if after < self.level(&u, &self.x, m) {
                level = level.min(after);
            }
        }
        let rise = (level - self.level(&u, &self.x, n)) / self.ceiling(&u, n);
        (rise > 0).then(|| Shown { margin: Some(-rise), holds: Some(false) })
    }

    /// Returns what the evidence of a claim shows, if the claim does not follow from the allocation alone.
    pub fn proof(&self, claim: &Claim) -> Option<Shown> {
        let yes = |margin: Option<Rational>| Shown { margin, holds: Some(true) };
        let somebody = !self.active().is_empty();
        match (claim.axiom, &claim.evidence) {
            (Axiom::ParetoOptimal, Evidence::Prices(prices)) => {
                let gap = self.pareto_gap(prices)?;
                Some(yes(somebody.then_some(-gap)))
            }
            (Axiom::ParetoOptimal, Evidence::Dominating(tasks)) => self.dominated(&self.other(tasks)?),
            (Axiom::IntegerParetoOptimal, Evidence::Prices(prices)) => {
                let gap = self.pareto_gap(prices)?;
                let has_room = self.active().iter().any(|&n| prices.user_weights[n] <= gap);
                (!has_room).then(|| yes(somebody.then(zero)))
            }
            (Axiom::IntegerParetoOptimal, Evidence::DominatingPlacements(placements)) => {
                let shown = self.dominated(&self.placed(placements)?)?;
                // A better allocation gains at least one whole task, which no tolerance covers.
                Some(Shown { margin: Some(Rational::from(-1)), ..shown })
            }
            (Axiom::MaxMin, Evidence::Levels(levels)) => Some(yes(self.levels(claim.share?, levels)?)),
            (Axiom::MaxMin, Evidence::Rise { resource: None, user, allocation }) => {
                self.rise(claim.share?, *user, allocation)
            }
            (axiom, Evidence::LevelsByResource(stated)) => {
                let resources: Vec<usize> = stated.iter().map(|(r, _)| *r).collect();
                (resources == self.bottlenecks(axiom)).then_some(())?;
                let margins: Option<Vec<_>> =
                    stated.iter().map(|(r, levels)| self.levels(Share::Resource(*r), levels)).collect();
                Some(yes(margins?.into_iter().flatten().min()))
            }
            (axiom, Evidence::Rise { resource: Some(r), user, allocation }) => {
                self.bottlenecks(axiom).contains(r).then_some(())?;
                self.rise(Share::Resource(*r), *user, allocation)
            }
            _ => None,
        }
    }
}
