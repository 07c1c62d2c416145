//! The axioms `optimal-envy-free` and `optimal-equal`, judged from the evidence: prices, or an allocation with more tasks.
//! The optimum itself is also computed here, by a dense simplex method.

use evenhand_exact::{Axiom, Claim, EnvyPrices, Evidence};
use evenhand_problem::{Problem, Rational, Sharing};

use super::{Plain, Shown, zero};
use crate::reference::{Dense, Solved};

/// Returns the most tasks in total of all allocations that satisfy the condition of the axiom. Returns `None` if the
/// sum is unbounded, which no problem with capacities allows.
pub fn optimum(p: &Problem, axiom: Axiom) -> Option<Rational> {
    let x = Plain::of_tasks(p, Sharing::Rdm, &vec![Vec::new(); p.n_users()]);
    let columns: Vec<(usize, usize)> =
        x.active().into_iter().flat_map(|n| x.cluster.classes(n).into_iter().map(move |i| (n, i))).collect();
    let row = |of: &dyn Fn(usize, usize) -> Rational| -> Vec<Rational> {
        columns.iter().map(|(n, i)| of(*n, *i)).collect()
    };
    let mut rows: Vec<(Vec<Rational>, Rational)> = Vec::new();
    for (at, (class, _)) in x.cluster.rows.iter().enumerate() {
        let takes = |n: usize, i: usize| if i == *class { x.cluster.uses(n, at) } else { zero() };
        rows.push((row(&takes), x.cluster.capacity[at].clone()));
    }
    for limit in x.limit_rows() {
        rows.push((row(&|n, i| x.takes(n, i, &limit)), limit.most.clone()));
    }
    let is = |is: bool| Rational::from(u32::from(is));
    for n in x.active() {
        rows.extend(p.users()[n].tasks().map(|most| (row(&|user, _| is(user == n)), most.clone())));
        for m in x.active().into_iter().filter(|m| *m != n) {
            let (own, other) = (p.users()[n].weight(), p.users()[m].weight());
            rows.push(match axiom {
                Axiom::OptimalEnvyFree => {
                    let of = |user: usize, i: usize| {
                        if user == m { x.rate(n, m, i) * own / other } else { -is(user == n) }
                    };
                    (row(&of), zero())
                }
                // Both signs of all pairs make the levels equal.
                _ => {
                    let level = |user: usize, _: usize| is(user == n) / own - is(user == m) / other;
                    (row(&level), zero())
                }
            });
        }
    }
    match (Dense { costs: row(&|_, _| Rational::from(1)), rows }).solve() {
        Solved::Optimal { value, .. } => Some(value),
        _ => None,
    }
}

impl<'a> Plain<'a> {
    /// Returns what the evidence of the axiom `optimal-envy-free` or `optimal-equal` shows.
    pub fn of_optimal(&self, claim: &Claim) -> Option<Shown> {
        let alone: Rational = self.active().iter().map(|n| &self.cluster.g[*n]).sum();
        let margin = |most: Rational| {
            let has: Rational = self.active().into_iter().map(|n| self.total(n)).sum();
            (alone > 0).then(|| (has - most) / &alone)
        };
        if let Evidence::Better(tasks) = &claim.evidence {
            let y = Plain::of_tasks(self.p(), self.sharing(), tasks);
            let is_one = y.is_exactly_feasible() && y.satisfies(claim.axiom);
            let most = self.active().into_iter().map(|n| y.total(n)).sum();
            return is_one.then(|| Shown { margin: margin(most), holds: Some(false) });
        }
        let most = match (claim.axiom, &claim.evidence) {
            (Axiom::OptimalEnvyFree, Evidence::EnvyPrices(prices)) => self.most_without_envy(prices)?,
            (Axiom::OptimalEqual, Evidence::Prices(prices)) => {
                let l = &prices.user_weights;
                l.iter().all(|l| *l >= 0).then_some(())?;
                let bound = self.bound(&prices.rows, &prices.users, &|n, _| l[n].clone())?;
                let weight = |n: &usize| self.p().users()[*n].weight();
                let all: Rational = self.active().iter().map(weight).sum();
                let priced: Rational = self.active().iter().map(|n| Rational::from(weight(n) * &l[*n])).sum();
                match priced > 0 {
                    true => bound * all / priced,
                    false if self.active().is_empty() => bound,
                    false => return None,
                }
            }
            _ => return None,
        };
        Some(Shown { margin: margin(most), holds: Some(true) })
    }

    fn satisfies(&self, axiom: Axiom) -> bool {
        match axiom {
            Axiom::OptimalEnvyFree => self.least(Axiom::EnvyFree).is_none_or(|margin| margin >= 0),
            _ => {
                let active = self.active();
                let level = |n: usize| self.total(n) / self.p().users()[n].weight();
                active.iter().all(|n| level(*n) == level(active[0]))
            }
        }
    }

    fn most_without_envy(&self, prices: &EnvyPrices) -> Option<Rational> {
        prices.envy.iter().all(|(_, _, price)| *price >= 0).then_some(())?;
        let mut rows = vec![zero(); self.cluster.rows.len() + self.limit_rows().len()];
        prices.rows.iter().for_each(|(row, price)| rows[*row] += price);
        let weight = |n: usize| self.p().users()[n].weight();
        let worth = |n: usize, i: usize| {
            let own: Rational = prices.envy.iter().filter(|of| of.0 == n).map(|of| &of.2).sum();
            let others = prices.envy.iter().filter(|of| of.1 == n);
            let others = others.map(|(m, _, price)| self.rate(*m, n, i) * price * weight(*m) / weight(n));
            Rational::from(1) + own - others.sum::<Rational>()
        };
        self.bound(&rows, &vec![zero(); self.p().n_users()], &worth)
    }
}
