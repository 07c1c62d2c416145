//! The axioms that compare pairs of users (envy, envy up to one task), and sharing incentive.

use evenhand_exact::Axiom;
use evenhand_problem::Rational;

use super::cluster::best_use;
use super::{Plain, zero};

impl Plain<'_> {
    /// Returns by how much the tasks of `n` exceed `min(T_n, due)`, divided by `g_n`.
    fn lead(&self, n: usize, due: Rational) -> Rational {
        let due = self.p().users()[n].tasks().map_or(due.clone(), |tasks| tasks.clone().min(due));
        (self.total(n) - due) / &self.cluster.g[n]
    }

    fn is_pair(&self, n: usize, m: usize) -> bool {
        let active = |n: usize| n < self.p().n_users() && self.cluster.active[n];
        n != m && active(n) && active(m)
    }

    /// Returns the number of tasks of `n` that fit into the resources of one task of `m` on class `i`.
    pub fn rate(&self, n: usize, m: usize, i: usize) -> Rational {
        let rows = self.cluster.used_rows(n, i).into_iter();
        rows.map(|row| self.cluster.uses(m, row) / self.cluster.uses(n, row)).min().unwrap_or_default()
    }

    /// Returns the number of tasks that `n` could run with the resources of `m`, without one task on the
    /// class `removed`. The number is scaled by the weights.
    fn bundle(&self, n: usize, m: usize, removed: Option<usize>) -> Rational {
        let users = self.p().users();
        let one = |i: usize| Rational::from(u32::from(removed == Some(i)));
        let classes = (0..self.p().n_servers()).map(|i| (&self.x[m][i] - one(i)) * self.rate(n, m, i));
        classes.sum::<Rational>() * users[n].weight() / users[m].weight()
    }

    pub fn envy(&self, n: usize, m: usize) -> Option<Rational> {
        self.is_pair(n, m).then(|| self.lead(n, self.bundle(n, m, None)))
    }

    /// Returns the classes of `m` from which removing a task matters to `n`.
    fn removable(&self, n: usize, m: usize) -> Vec<usize> {
        (0..self.p().n_servers()).filter(|&i| self.x[m][i] >= 1 && self.rate(n, m, i) > 0).collect()
    }

    pub fn envy_up_to_one(&self, n: usize, m: usize) -> Option<Rational> {
        self.is_pair(n, m).then_some(())?;
        let options = self.removable(n, m).into_iter().map(Some).chain([None]);
        options.map(|removed| self.lead(n, self.bundle(n, m, removed))).max()
    }

    pub fn entitled(&self, n: usize) -> Rational {
        let all: Rational = self.active().iter().map(|n| self.p().users()[*n].weight()).sum();
        self.p().users()[n].weight() / all
    }

    pub fn entitlement(&self, n: usize) -> Option<Rational> {
        let active = n < self.p().n_users() && self.cluster.active[n];
        let part = |gamma: &Rational| self.entitled(n) * gamma;
        active.then(|| {
            let part: Vec<Rational> = self.cluster.gamma[n].iter().map(part).collect();
            self.lead(n, best_use(self.p(), n, &part))
        })
    }

    /// Returns the least margin of one of these three axioms over all users.
    pub fn least(&self, axiom: Axiom) -> Option<Rational> {
        let mut all = Vec::new();
        for n in self.users() {
            match axiom {
                Axiom::SharingIncentive => all.extend(self.entitlement(n)),
                Axiom::Ef1 => all.extend(self.users().filter_map(|m| self.envy_up_to_one(n, m))),
                _ => all.extend(self.users().filter_map(|m| self.envy(n, m))),
            }
        }
        all.into_iter().min()
    }

    /// Returns `T_n - x_n`. Returns `None` if the tasks are unlimited.
    pub fn left(&self, n: usize) -> Option<Rational> {
        Some(self.p().users()[n].tasks()? - self.total(n))
    }

    pub fn slack(&self, row: usize) -> Rational {
        &self.cluster.capacity[row] - self.cluster.load(&self.x, row)
    }

    /// Returns the number of tasks of `n` that fit into the free capacity of class `i`.
    pub fn free_for(&self, n: usize, i: usize) -> Rational {
        let rows = self.cluster.used_rows(n, i).into_iter();
        rows.map(|row| self.slack(row) / self.cluster.uses(n, row)).min().unwrap_or_else(zero)
    }
}
