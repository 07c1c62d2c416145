//! The axioms about users that cannot have more tasks: work conservation, no justified complaints and PS-DSF.

use evenhand_exact::axiom::njc::Witness;
use evenhand_problem::Rational;

use super::{Plain, zero};

impl Plain<'_> {
    /// Returns the number of tasks of user `n` that start together.
    pub(super) fn gang(&self, n: usize) -> u64 {
        self.p().groups().member(n).gang.unwrap_or(1)
    }

    /// Returns the active users that lack tasks. On single servers, they lack at least one gang.
    pub fn pending(&self) -> Vec<usize> {
        let enough = |n: usize, left: &Rational| match self.placements {
            Some(_) => *left >= self.gang(n),
            None => *left > 0,
        };
        self.active().into_iter().filter(|&n| self.left(n).is_none_or(|left| enough(n, &left))).collect()
    }

    /// Returns how many more tasks user `n` could run, divided by `g_n`, if the classes have free capacity
    /// for `room` tasks.
    pub(super) fn more(&self, n: usize, room: Rational) -> Rational {
        let room = self.left(n).map_or(room.clone(), |left| left.min(room));
        room / &self.cluster.g[n]
    }

    /// Returns the free capacity of each row on every server of a class, with the index of the server.
    fn free_of_servers(&self, i: usize) -> Vec<(u64, Vec<Rational>)> {
        let count = self.p().servers()[i].count();
        let rows = self.cluster.rows_of(i);
        let free = |index: u64| -> Vec<Rational> {
            let on = self.placements.iter().flatten().filter(|s| (s.server, s.index) == (i, index));
            let tasks: Vec<_> = on.flat_map(|single| &single.tasks).collect();
            let left = rows.iter().map(|&row| {
                let load: Rational = tasks.iter().map(|(n, x)| self.cluster.uses(*n, row) * x).sum();
                &self.cluster.capacity[row] / Rational::from(count) - load
            });
            left.collect()
        };
        (0..count).map(|index| (index, free(index))).collect()
    }

    /// Returns how many tasks of `n` fit on the servers of a class. Tasks are placed one after the other,
    /// until a gang fits or no server has enough free capacity.
    fn tasks_on(&self, n: usize, i: usize) -> u64 {
        let rows = self.cluster.rows_of(i);
        let mut tasks = 0;
        for (_, mut free) in self.free_of_servers(i) {
            let fits = |free: &[Rational]| {
                rows.iter().zip(free).all(|(&row, free)| self.cluster.uses(n, row) <= *free)
            };
            while self.cluster.runs(n, i) && tasks < self.gang(n) && fits(&free) {
                tasks += 1;
                free.iter_mut().zip(&rows).for_each(|(free, &row)| *free -= self.cluster.uses(n, row));
            }
        }
        tasks
    }

    /// Returns `true` if `more` further tasks of `n` fit on these classes, next to the tasks already chosen
    /// on earlier classes. Each class takes at most the stated number, and all numbers of tasks are tried.
    /// Limits on classes count all of these tasks.
    fn gang_fits(
        &self,
        n: usize,
        more: u64,
        classes: &[(usize, u64)],
        chosen: &mut Vec<(usize, u64)>,
    ) -> bool {
        if more == 0 {
            return self.within_class_limits(n, chosen);
        }
        let Some(((i, most), others)) = classes.split_first() else { return false };
        (0..=more.min(*most)).any(|tasks| {
            chosen.push((*i, tasks));
            let fits = self.gang_fits(n, more - tasks, others, chosen);
            chosen.pop();
            fits
        })
    }

    /// Returns `true` if limits on classes allow user `n` these further tasks, by class.
    fn within_class_limits(&self, n: usize, tasks: &[(usize, u64)]) -> bool {
        let groups = self.p().groups().list().iter().enumerate().filter(|(v, _)| self.stands_in(n, *v));
        let mut limits = groups.flat_map(|(v, group)| group.on.iter().map(move |on| (v, on)));
        limits.all(|(v, on)| {
            on.limit.iter().all(|(r, most)| {
                let counted = tasks.iter().filter(|(i, _)| on.servers.contains(i));
                let more: Rational =
                    counted.map(|(i, k)| Rational::from(&self.p().demand(n, *i)[*r] * *k)).sum();
                more.is_zero() || self.held_on(v, &on.servers, *r) + more <= *most
            })
        })
    }

    /// Returns how many more tasks a user could run, divided by `g_n`.
    fn idle(&self, n: usize) -> Rational {
        self.unstopped(n).min(self.idle_servers(n))
    }

    fn idle_servers(&self, n: usize) -> Rational {
        let classes = self.cluster.classes(n);
        // A limit on server classes acts like one more row of each class that it counts.
        let within = |i: usize| {
            let marks = if self.holds_back() { self.class_marks(n, i) } else { Vec::new() };
            marks.into_iter().map(|(_, left)| left).min()
        };
        if self.placements.is_none() {
            let free = |&i: &usize| within(i).into_iter().fold(self.free_for(n, i), Rational::min);
            return self.more(n, classes.iter().map(free).sum());
        }
        let most: Vec<(usize, u64)> = classes.into_iter().map(|i| (i, self.tasks_on(n, i))).collect();
        let on_servers = most.iter().map(|(_, tasks)| tasks).sum::<u64>() >= self.gang(n);
        let within = || !self.holds_back() || self.gang_fits(n, self.gang(n), &most, &mut Vec::new());
        // A gang either fits or does not fit, whatever the tolerance.
        Rational::from(u32::from(on_servers && within()))
    }

    pub fn work_conserving_margin(&self) -> Option<Rational> {
        let most = self.pending().into_iter().map(|n| self.idle(n)).max();
        (!self.active().is_empty()).then(|| -most.unwrap_or_default())
    }

    /// Returns the value of a witness for user `n`.
    fn witness(&self, n: usize, witness: Witness) -> Option<Rational> {
        let row = match witness {
            Witness::Satisfied => return Some(-self.left(n)? / &self.cluster.g[n]),
            Witness::Row(row) => row,
        };
        let uses = self.cluster.uses(n, row);
        let capacity = &self.cluster.capacity[row];
        let held = uses.clone() * &self.x[n][self.cluster.rows[row].0] / capacity - self.entitled(n);
        (uses > 0).then(|| held.min(-(self.slack(row) / capacity)))
    }

    fn answer(&self, n: usize) -> Option<Rational> {
        let rows = (0..self.cluster.rows.len()).map(Witness::Row);
        rows.chain([Witness::Satisfied]).filter_map(|witness| self.witness(n, witness)).max()
    }

    pub fn njc_margin(&self) -> Option<Rational> {
        self.active().into_iter().filter_map(|n| self.answer(n)).min()
    }

    /// Returns how many tasks `n` lacks on the class of a row that it uses. Returns `None` if `n` does not
    /// use the row.
    fn lack(&self, n: usize, row: usize) -> Option<Rational> {
        let (i, users) = (self.cluster.rows[row].0, self.p().users());
        let uses = self.cluster.uses(n, row);
        (uses > 0).then_some(())?;
        let mut lacks = self.slack(row);
        for m in self.users().filter(|&m| m != n && self.x[m][i] > 0) {
            let stays = self.total(n) * users[m].weight() * &self.cluster.gamma[m][i]
                / (Rational::from(users[n].weight() * &self.cluster.gamma[n][i]));
            let ahead = (self.total(m) - stays).max(zero());
            lacks += ahead.min(self.x[m][i].clone()) * self.cluster.uses(m, row);
        }
        Some(lacks / uses)
    }

    fn satisfied(&self, n: usize) -> Option<Rational> {
        Some(-self.left(n)? / &self.cluster.g[n])
    }

    /// Returns the PS-DSF margin of `n` on class `i`. Returns `None` if `n` cannot run on the class.
    pub fn ps_dsf_on(&self, n: usize, i: usize) -> Option<Rational> {
        (self.cluster.active[n] && self.cluster.runs(n, i)).then_some(())?;
        let lacks = self.cluster.used_rows(n, i).into_iter().filter_map(|row| self.lack(n, row));
        let lack = -(lacks.min()? / &self.cluster.g[n]);
        Some(self.satisfied(n).map_or(lack.clone(), |satisfied| satisfied.max(lack)))
    }

    pub fn ps_dsf_margin(&self) -> Option<Rational> {
        let classes = 0..self.p().n_servers();
        self.users().flat_map(|n| classes.clone().filter_map(move |i| self.ps_dsf_on(n, i))).min()
    }
}
