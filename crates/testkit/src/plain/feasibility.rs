//! `feasible` and `integer-feasible`, judged of what is stated.

use evenhand_exact::axiom::feasible::Limit;
use evenhand_exact::axiom::integer_feasible::SingleLimit;
use evenhand_exact::{Axiom, Claim, Evidence};
use evenhand_problem::{Placement, Rational};

use super::{Plain, Shown, zero};

impl Plain<'_> {
    /// A number of tasks of `n` that are too few or too many, over `g_n`, or over 1 task.
    fn over_g(&self, n: usize, tasks: &Rational) -> Rational {
        let g = &self.cluster.g[n];
        if g.is_zero() { tasks.clone() } else { Rational::from(tasks / g) }
    }

    /// Limit, slack and margin of everything that limits.
    pub fn limits(&self) -> Vec<(Limit, Rational, Rational)> {
        let cluster = &self.cluster;
        let cleared = cluster.cleared(&self.stated);
        let mut all = Vec::new();
        for (row, capacity) in cluster.capacity.iter().enumerate() {
            let slack = capacity - cluster.load(&cleared, row);
            all.push((Limit::Row(row), slack.clone(), slack / capacity));
        }
        for n in self.users() {
            if let Some(tasks) = self.p().users()[n].tasks().filter(|_| cluster.active[n]) {
                let slack = tasks - self.stated[n].iter().sum::<Rational>();
                all.push((Limit::Tasks(n), slack.clone(), self.over_g(n, &slack)));
            }
            for (i, x) in self.stated[n].iter().enumerate().filter(|(i, x)| cluster.is_refused(n, *i, x)) {
                let slack = -x.clone().abs();
                all.push((Limit::Entry(n, i), slack.clone(), self.over_g(n, &slack)));
            }
        }
        all
    }

    /// Within the tolerance; placed tasks exactly, and on each of their servers.
    pub fn is_feasible(&self, tolerance: &Rational) -> bool {
        let placed = self.placements.is_some();
        let tolerated = if placed { zero() } else { Rational::from(-tolerance) };
        let on_servers = || {
            let parts = |limit: &SingleLimit| match limit {
                SingleLimit::Entry { user, server, index } => {
                    let x = self.on_single(*user, *server, *index);
                    !self.cluster.is_refused(*user, *server, &x)
                }
                _ => false,
            };
            let limits = self.single_limits().unwrap_or_default();
            limits.iter().all(|(limit, slack, _)| *slack >= 0 || parts(limit))
        };
        self.limits().iter().all(|(_, _, margin)| *margin >= tolerated) && (!placed || on_servers())
    }

    /// That every entry is exactly feasible.
    pub fn is_exactly_feasible(&self) -> bool {
        self.limits().iter().all(|(_, slack, _)| *slack >= 0)
    }

    /// Tasks by server, those without any left out; `None` where nobody says which.
    pub fn singles(&self) -> Option<Vec<Placement>> {
        if self.placements.is_some() {
            return self.placements.clone();
        }
        let mut all = Vec::new();
        for server in 0..self.p().n_servers() {
            let tasks = self.users().map(|n| (n, self.stated[n][server].clone()));
            let tasks: Vec<_> = tasks.filter(|(_, x)| !x.is_zero()).collect();
            if !tasks.is_empty() && self.p().servers()[server].count() > 1 {
                return None;
            }
            if !tasks.is_empty() {
                all.push(Placement { server, index: 0, tasks });
            }
        }
        Some(all)
    }

    fn on_single(&self, n: usize, server: usize, index: u64) -> Rational {
        let singles = self.singles().unwrap_or_default();
        let found = singles.into_iter().find(|s| (s.server, s.index) == (server, index));
        let tasks = found.map(|single| single.tasks).unwrap_or_default();
        tasks.into_iter().find(|(m, _)| *m == n).map(|(_, x)| x).unwrap_or_default()
    }

    pub fn single_limits(&self) -> Option<Vec<(SingleLimit, Rational, Rational)>> {
        let cluster = &self.cluster;
        let mut all = Vec::new();
        for Placement { server, index, tasks } in self.singles()? {
            let tasks: Vec<_> = tasks.into_iter().filter(|(_, x)| !x.is_zero()).collect();
            if tasks.is_empty() {
                continue;
            }
            let count = Rational::from(self.p().servers()[server].count());
            for row in cluster.rows_of(server) {
                let kept = tasks.iter().filter(|(n, x)| !cluster.is_refused(*n, server, x));
                let load: Rational = kept.map(|(n, x)| cluster.uses(*n, row) * x).sum();
                let capacity = Rational::from(&cluster.capacity[row] / &count);
                let slack = &capacity - load;
                all.push((SingleLimit::Row { row, index }, slack.clone(), slack / capacity));
            }
            for (user, x) in tasks {
                let wrong = if cluster.is_refused(user, server, &x) {
                    x.abs()
                } else {
                    let down = &x - x.clone().floor();
                    down.min(x.clone().ceil() - &x)
                };
                if !wrong.is_zero() {
                    let margin = self.over_g(user, &-wrong.clone());
                    all.push((SingleLimit::Entry { user, server, index }, -wrong, margin));
                }
            }
        }
        let of_users = self.limits().into_iter().filter_map(|(limit, slack, margin)| match limit {
            Limit::Tasks(n) => Some((SingleLimit::Tasks(n), slack, margin)),
            _ => None,
        });
        all.extend(of_users);
        Some(all)
    }

    /// Whether every task is whole, on its class and on its server.
    pub fn is_whole(&self) -> bool {
        let placed = self.placements.iter().flatten().flat_map(|single| &single.tasks);
        placed.map(|(_, x)| x).chain(self.x.iter().flatten()).all(Rational::is_integer)
    }

    /// The verdict of the tightest limit.
    pub fn limit(&self, claim: &Claim) -> Option<Shown> {
        let found: Vec<(bool, Rational)> = match (claim.axiom, &claim.evidence) {
            (Axiom::Feasible, Evidence::Limit { limit, slack }) => {
                self.limits().into_iter().map(|(l, s, margin)| (l == *limit && s == *slack, margin)).collect()
            }
            (Axiom::IntegerFeasible, Evidence::SingleLimit { limit, slack }) => {
                let limits = self.single_limits()?.into_iter();
                limits.map(|(l, s, margin)| (l == *limit && s == *slack, margin)).collect()
            }
            (Axiom::Feasible, Evidence::None) if self.limits().is_empty() => Vec::new(),
            (Axiom::IntegerFeasible, Evidence::None) if self.single_limits()?.is_empty() => Vec::new(),
            _ => return None,
        };
        let margin = found.iter().map(|(_, margin)| margin).min().cloned();
        let named = found.iter().any(|(is_it, of)| *is_it && Some(of) == margin.as_ref());
        (named || margin.is_none()).then_some(Shown { margin, holds: None })
    }
}
