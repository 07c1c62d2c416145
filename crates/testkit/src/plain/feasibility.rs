//! `feasible` and `integer-feasible`, judged for the stated allocation.

use evenhand_exact::axiom::feasible::Limit;
use evenhand_exact::axiom::integer_feasible::SingleLimit;
use evenhand_problem::{Placement, Rational};

use super::{Plain, zero};

impl Plain<'_> {
    /// Returns a number of tasks of `n` divided by `g_n`, or the number itself if `g_n` is 0.
    fn over_g(&self, n: usize, tasks: &Rational) -> Rational {
        let g = &self.cluster.g[n];
        if g.is_zero() { tasks.clone() } else { Rational::from(tasks / g) }
    }

    /// Returns all limits of feasibility, each with its slack and margin.
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
            if let Some(at_most) = self.p().users()[n].at_most().filter(|_| cluster.active[n]) {
                let slack = at_most - super::cluster::accelerators(self.p(), n, &cleared[n]);
                all.push((Limit::Accelerators(n), slack.clone(), slack / at_most));
            }
            for (i, x) in self.stated[n].iter().enumerate().filter(|(i, x)| cluster.is_refused(n, *i, x)) {
                let slack = -x.clone().abs();
                all.push((Limit::Entry(n, i), slack.clone(), self.over_g(n, &slack)));
            }
        }
        all
    }

    /// Returns `true` if the allocation is feasible within the tolerance. Placed tasks must be feasible
    /// exactly, and on each of their servers.
    pub fn is_feasible(&self, tolerance: &Rational) -> bool {
        let placed = self.placements.is_some();
        let tolerated = if placed { zero() } else { Rational::from(-tolerance) };
        let on_servers =
            || self.single_limits(false).unwrap_or_default().iter().all(|(_, slack, _)| *slack >= 0);
        self.limits().iter().all(|(_, _, margin)| *margin >= tolerated) && (!placed || on_servers())
    }

    /// Returns the least margin of all limits. With placements or `whole` tasks, these are the limits of every
    /// single server.
    pub fn tightest(&self, whole: bool) -> Option<Rational> {
        if whole || self.placements.is_some() {
            return self.single_limits(whole)?.into_iter().map(|(.., margin)| margin).min();
        }
        self.limits().into_iter().map(|(.., margin)| margin).min()
    }

    /// Returns `true` if the allocation is exactly feasible.
    pub fn is_exactly_feasible(&self) -> bool {
        self.limits().iter().all(|(_, slack, _)| *slack >= 0)
    }

    /// Returns the tasks by server, without empty servers. Returns `None` if the allocation does not say on
    /// which servers the tasks are.
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

    /// Returns the limits of single servers, each with its slack and margin. A fraction of a task has the
    /// margin -1, which no tolerance covers.
    pub fn single_limits(&self, whole: bool) -> Option<Vec<(SingleLimit, Rational, Rational)>> {
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
                let entry = SingleLimit::Entry { user, server, index };
                if cluster.is_refused(user, server, &x) {
                    let wrong = -x.abs();
                    all.push((entry, wrong.clone(), self.over_g(user, &wrong)));
                } else if whole && !x.is_integer() {
                    let part = &x - x.clone().floor();
                    let off = part.min(x.clone().ceil() - &x);
                    all.push((entry, -off, Rational::from(-1)));
                }
            }
        }
        let of_users = self.limits().into_iter().filter_map(|(limit, slack, margin)| match limit {
            Limit::Tasks(n) => Some((SingleLimit::Tasks(n), slack, margin)),
            Limit::Accelerators(n) => Some((SingleLimit::Accelerators(n), slack, margin)),
            _ => None,
        });
        all.extend(of_users);
        Some(all)
    }

    /// Returns `true` if the number of tasks is whole on every class and on every server.
    pub fn is_whole(&self) -> bool {
        let placed = self.placements.iter().flatten().flat_map(|single| &single.tasks);
        placed.map(|(_, x)| x).chain(self.x.iter().flatten()).all(Rational::is_integer)
    }
}
