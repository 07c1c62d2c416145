//! Limits of groups and of the accelerators of users, as rows that bound the possible allocations.

use evenhand_exact::Axiom;
use evenhand_problem::{Rational, Sharing};

use super::{Plain, zero};

/// The quantity that a limit bounds.
pub enum Limited {
    /// A resource that a group uses on some classes. `None` means the whole cluster, on which a task counts with its base
    /// demand wherever it runs.
    Group { group: usize, classes: Option<Vec<usize>>, resource: usize },
    /// The accelerators of a user.
    User(usize),
}

/// A limit as a row, with the largest amount that another allocation may use.
pub struct LimitRow {
    pub of: Limited,
    pub most: Rational,
}

impl Plain<'_> {
    /// Returns the limits in the order of evidence: group by group, limits on the whole cluster first.
    pub fn limit_rows(&self) -> Vec<LimitRow> {
        let mut rows = Vec::new();
        for (group, of) in self.p().groups().list().iter().enumerate() {
            let whole = of.limit.iter().map(|(r, most)| (None, *r, most));
            let on = of
                .on
                .iter()
                .flat_map(|on| on.limit.iter().map(|(r, most)| (Some(on.servers.clone()), *r, most)));
            for (classes, resource, most) in whole.chain(on) {
                let mut row =
                    LimitRow { of: Limited::Group { group, classes, resource }, most: most.clone() };
                row.most = most.clone().max(self.takes_in_all(&row));
                rows.push(row);
            }
        }
        for (n, user) in self.p().users().iter().enumerate() {
            rows.extend(user.at_most().map(|most| LimitRow { of: Limited::User(n), most: most.clone() }));
        }
        rows
    }

    /// Returns the amount of a limit that a task of `n` on class `i` uses.
    pub fn takes(&self, n: usize, i: usize, row: &LimitRow) -> Rational {
        match &row.of {
            Limited::User(user) if *user != n => zero(),
            Limited::User(_) => {
                let rates = self.p().users()[n].rates().map_or(&[][..], |rates| rates.by_class());
                let rate = rates.iter().find(|(class, _)| *class == i);
                rate.map_or_else(zero, |(_, rate)| rate.clone().recip())
            }
            Limited::Group { group, .. } if !self.stands_in(n, *group) => zero(),
            Limited::Group { classes: None, resource, .. } => {
                self.p().users()[n].base_demand()[*resource].clone()
            }
            Limited::Group { classes: Some(classes), resource, .. } => {
                if classes.contains(&i) {
                    self.p().demand(n, i)[*resource].clone()
                } else {
                    zero()
                }
            }
        }
    }

    /// Returns the amount of a limit that all tasks use.
    fn takes_in_all(&self, row: &LimitRow) -> Rational {
        let of_user = |n: usize| {
            (0..self.p().n_servers()).map(move |i| self.takes(n, i, row) * &self.x[n][i]).sum::<Rational>()
        };
        self.users().map(of_user).sum()
    }

    /// Returns `true` if another allocation respects all limits.
    pub fn allows(&self, y: &Plain<'_>) -> bool {
        self.limit_rows().iter().all(|row| y.takes_in_all(row) <= row.most)
    }

    /// Returns `true` if limits leave user `n` at least one class on which it can have tasks.
    pub fn leaves(&self, n: usize) -> bool {
        let rows = self.limit_rows();
        let bars = |i: usize| rows.iter().any(|row| row.most.is_zero() && self.takes(n, i, row) > 0);
        self.cluster.classes(n).into_iter().any(|i| !bars(i))
    }

    /// Returns `true` if an axiom that compares allocations can be judged within limits.
    pub fn can_compare(&self, axiom: Axiom) -> bool {
        let groups = 0..self.p().groups().list().len();
        let keeps = groups.into_iter().any(|v| (0..self.p().n_resources()).any(|r| self.kept(v, r) > 0));
        let divided =
            self.sharing() == Sharing::Rdm && self.p().servers().iter().all(|class| !class.is_time_shared());
        !axiom.is_about_optima() || !self.p().groups().have_limits() || (divided && !keeps)
    }
}
