//! Limits of groups as rows of what is possible.

use evenhand_exact::Axiom;
use evenhand_problem::{Rational, Sharing};

use super::Plain;

/// A limit of a group on some classes, or on all of them, and the most that another allocation may hold.
pub struct LimitRow {
    pub group: usize,
    pub classes: Vec<usize>,
    pub resource: usize,
    pub most: Rational,
}

impl Plain<'_> {
    /// In the order in which evidence counts them: group by group, those on the whole cluster first.
    pub fn limit_rows(&self) -> Vec<LimitRow> {
        let all: Vec<usize> = (0..self.p().n_servers()).collect();
        let mut rows = Vec::new();
        for (group, of) in self.p().groups().list().iter().enumerate() {
            let whole = of.limit.iter().map(|(r, most)| (all.clone(), *r, most));
            let on =
                of.on.iter().flat_map(|on| on.limit.iter().map(|(r, most)| (on.servers.clone(), *r, most)));
            for (classes, resource, most) in whole.chain(on) {
                let held = self.held_on(group, &classes, resource);
                rows.push(LimitRow { group, classes, resource, most: most.clone().max(held) });
            }
        }
        rows
    }

    /// What a task of `n` on class `i` takes of a limit.
    pub fn takes(&self, n: usize, i: usize, row: &LimitRow) -> Rational {
        let counts = self.stands_in(n, row.group) && row.classes.contains(&i);
        if counts { self.p().demand(n, i)[row.resource].clone() } else { Rational::new() }
    }

    /// Whether another allocation holds no more than it may.
    pub fn allows(&self, y: &Plain<'_>) -> bool {
        self.limit_rows().iter().all(|row| y.held_on(row.group, &row.classes, row.resource) <= row.most)
    }

    /// Whether limits leave a user anything on some class.
    pub fn leaves(&self, n: usize) -> bool {
        let rows = self.limit_rows();
        let bars = |i: usize| rows.iter().any(|row| row.most.is_zero() && self.takes(n, i, row) > 0);
        self.cluster.classes(n).into_iter().any(|i| !bars(i))
    }

    /// Whether what an axiom asks about other allocations can be asked within limits.
    pub fn can_compare(&self, axiom: Axiom) -> bool {
        let groups = 0..self.p().groups().list().len();
        let keeps = groups.into_iter().any(|v| (0..self.p().n_resources()).any(|r| self.kept(v, r) > 0));
        let divided =
            self.sharing() == Sharing::Rdm && self.p().servers().iter().all(|class| !class.is_time_shared());
        !axiom.is_about_optima() || self.limit_rows().is_empty() || (divided && !keeps)
    }
}
