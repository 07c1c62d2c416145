//! Work-conserving, no justified complaints, PS-DSF: what stands in the place of more.

use std::collections::HashSet;

use evenhand_exact::axiom::njc::Witness;
use evenhand_exact::axiom::ps_dsf::Standing;
use evenhand_exact::axiom::work_conserving::Short;
use evenhand_exact::{Claim, ClassMark, Evidence, Stop};
use evenhand_problem::Rational;

use super::{Plain, Shown, zero};

impl Plain<'_> {
    /// Active users with fewer than their tasks; on single servers at least one fewer.
    pub fn pending(&self) -> Vec<usize> {
        let enough = |left: &Rational| if self.placements.is_some() { *left >= 1 } else { *left > 0 };
        self.active().into_iter().filter(|&n| self.left(n).is_none_or(|left| enough(&left))).collect()
    }

    /// What user `n` could run more, over `g_n`, when it gets so much on the classes.
    pub(super) fn more(&self, n: usize, room: Rational) -> Rational {
        let room = self.left(n).map_or(room.clone(), |left| left.min(room));
        room / &self.cluster.g[n]
    }

    /// What is free of each row of one server, and the index of a server where it is so.
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

    /// Whether a task of `n` fits on the single server.
    fn fits(&self, n: usize, i: usize, index: u64) -> bool {
        let servers = self.free_of_servers(i);
        let Some((_, free)) = servers.iter().find(|(at, _)| *at == index) else { return false };
        let rows = self.cluster.rows_of(i);
        self.cluster.runs(n, i)
            && rows.iter().zip(free).all(|(&row, free)| self.cluster.uses(n, row) <= *free)
    }

    /// What a user could run more, over `g_n`.
    fn idle(&self, n: usize) -> Rational {
        self.unstopped(n).min(self.idle_servers(n))
    }

    fn idle_servers(&self, n: usize) -> Rational {
        let classes = self.cluster.classes(n);
        // A limit on server classes is one more row of each of them.
        let within = |i: usize| {
            let marks = if self.holds_back() { self.class_marks(n, i) } else { Vec::new() };
            marks.into_iter().map(|(_, left)| left).min()
        };
        if self.placements.is_none() {
            let free = |&i: &usize| within(i).into_iter().fold(self.free_for(n, i), Rational::min);
            return self.more(n, classes.iter().map(free).sum());
        }
        let classes: Vec<usize> =
            classes.into_iter().filter(|&i| within(i).is_none_or(|left| left >= 1)).collect();
        let mut servers =
            classes.iter().flat_map(|&i| (0..self.p().servers()[i].count()).map(move |at| (i, at)));
        let fits = servers.any(|(i, index)| self.fits(n, i, index));
        if fits { self.cluster.g[n].clone().recip() } else { zero() }
    }

    pub fn work_conserving_margin(&self) -> Option<Rational> {
        let most = self.pending().into_iter().map(|n| self.idle(n)).max();
        (!self.active().is_empty()).then(|| -most.unwrap_or_default())
    }

    /// What the stated rows leave to `n`, over `g_n`; `None` where they say nothing.
    fn shown_short(&self, n: usize, short: &Short) -> Option<Rational> {
        let classes: Vec<usize> = short.iter().map(|(i, _)| *i).collect();
        (classes == self.cluster.classes(n)).then_some(())?;
        let room = self.left_by_rows(n, short)?;
        Some(if self.placements.is_some() { zero() } else { self.more(n, room) })
    }

    /// The same in tasks, of the classes that are stated; with placements 0.
    fn left_by_rows(&self, n: usize, short: &Short) -> Option<Rational> {
        let mut room = zero();
        for (i, rows) in short {
            let of_class = self.cluster.rows_of(*i);
            rows.iter().all(|row| of_class.contains(row)).then_some(())?;
            if self.placements.is_some() {
                let lacks = |free: &Vec<Rational>| {
                    let pairs = of_class.iter().zip(free).filter(|(row, _)| rows.contains(row));
                    pairs.into_iter().any(|(&row, free)| self.cluster.uses(n, row) > *free)
                };
                self.free_of_servers(*i).iter().all(|(_, free)| lacks(free)).then_some(())?;
            } else {
                let [row] = rows.as_slice() else { return None };
                let uses = self.cluster.uses(n, *row);
                (uses > 0).then_some(())?;
                room += self.slack(*row) / uses;
            }
        }
        Some(room)
    }

    /// What rows and limits on classes leave to `n`, over `g_n`.
    fn shown_by_class(&self, n: usize, short: &Short, limits: &[(usize, ClassMark)]) -> Option<Rational> {
        let mut classes: Vec<usize> =
            short.iter().map(|(i, _)| *i).chain(limits.iter().map(|(i, _)| *i)).collect();
        classes.sort_unstable();
        (classes == self.cluster.classes(n)).then_some(())?;
        let mut room = self.left_by_rows(n, short)?;
        for (i, mark) in limits {
            let (_, left) = self.class_marks(n, *i).into_iter().find(|(of, _)| of == mark)?;
            room += if self.placements.is_some() && left < 1 { zero() } else { left };
        }
        Some(self.whole_or_part(n, room))
    }

    pub fn work_conserving(&self, claim: &Claim) -> Option<Shown> {
        let margin = self.work_conserving_margin();
        let pending = self.pending();
        let shown = match &claim.evidence {
            Evidence::None if margin.is_none() => return Some(Shown { margin, holds: Some(true) }),
            Evidence::Short(_) | Evidence::ShortOrStopped { .. } => {
                let (short, stopped) = match &claim.evidence {
                    Evidence::ShortOrStopped { short, stopped } => (short, &stopped[..]),
                    Evidence::Short(short) => (short, &[][..]),
                    _ => return None,
                };
                let named = short.iter().map(|(n, _)| *n).chain(stopped.iter().map(|(n, _)| *n));
                let users: HashSet<usize> = named.clone().collect();
                let all = named.count() == pending.len() && pending.iter().all(|n| users.contains(n));
                (all && (stopped.is_empty() || self.holds_back())).then_some(())?;
                let shown = short.iter().map(|(n, short)| self.shown_short(*n, short));
                let shown = shown.chain(stopped.iter().map(|(n, stop)| match stop {
                    Stop::Classes { short, limits } => self.shown_by_class(*n, short, limits),
                    _ => self.shown_stop(*n, stop),
                }));
                let most = shown.collect::<Option<Vec<_>>>()?.into_iter().max().unwrap_or_default();
                (-most, true)
            }
            Evidence::Room(room) => {
                let (n, i) = (room.user, room.server);
                let is_there = match (self.placements.is_some(), room.index) {
                    (false, None) => self.free_for(n, i) > 0,
                    (true, Some(index)) => self.fits(n, i, index),
                    _ => false,
                };
                let marks = if self.holds_back() { self.class_marks(n, i) } else { Vec::new() };
                let closed = |left: &Rational| if room.index.is_some() { *left < 1 } else { left.is_zero() };
                let is_open = marks.iter().all(|(_, left)| !closed(left));
                (pending.contains(&n) && is_there && is_open && self.unstopped(n) > 0).then_some(())?;
                (-self.idle(n), false)
            }
            _ => return None,
        };
        (Some(&shown.0) == margin.as_ref()).then_some(Shown { margin, holds: Some(shown.1) })
    }

    /// What a witness is worth to user `n`.
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

    pub fn njc(&self, claim: &Claim) -> Option<Shown> {
        let margin = self.njc_margin();
        let holds = match &claim.evidence {
            Evidence::None => margin.is_none().then_some(true),
            Evidence::Witnesses(witnesses) => {
                let shown = self.each(witnesses, |n, witness| self.witness(n, *witness))?;
                (shown == margin).then_some(true)
            }
            Evidence::Complaint(stated) => {
                let n = stated.user;
                self.active().contains(&n).then_some(())?;
                let full = (0..self.cluster.rows.len()).filter(|&row| self.slack(row).is_zero());
                let full = full.filter(|&row| self.cluster.uses(n, row) > 0);
                let shares = full.map(|row| {
                    let held = self.cluster.uses(n, row) * &self.x[n][self.cluster.rows[row].0];
                    (row, held / &self.cluster.capacity[row])
                });
                let right = stated.entitlement == self.entitled(n) && shares.eq(stated.shares.clone());
                (right && self.answer(n) == margin).then_some(false)
            }
            _ => None,
        }?;
        Some(Shown { margin, holds: Some(holds) })
    }

    /// The least of what is stated for every active user, and for no other; `None` where that is false.
    fn each<T>(
        &self,
        stated: &[Option<T>],
        value: impl Fn(usize, &T) -> Option<Rational>,
    ) -> Option<Option<Rational>> {
        let mut least: Option<Rational> = None;
        for (n, stated) in stated.iter().enumerate() {
            (stated.is_some() == self.cluster.active[n]).then_some(())?;
            let Some(stated) = stated else { continue };
            let value = value(n, stated)?;
            least = Some(least.map_or(value.clone(), |least| least.min(value)));
        }
        Some(least)
    }

    /// What `n` lacks on the class of a row that it uses, in tasks.
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

    /// The margin of `n` on class `i`, where it can run.
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

    pub fn ps_dsf(&self, claim: &Claim) -> Option<Shown> {
        let margin = self.ps_dsf_margin();
        let holds = match &claim.evidence {
            Evidence::None => margin.is_none().then_some(true),
            Evidence::Bottlenecks(standings) => {
                let worth = |n: usize, standing: &Standing| match standing {
                    Standing::Satisfied => self.satisfied(n),
                    Standing::Bottlenecks(rows) => {
                        let classes = rows.iter().map(|&row| self.cluster.rows[row].0);
                        classes.eq(self.cluster.classes(n)).then_some(())?;
                        let lacks = rows.iter().map(|&row| self.lack(n, row)).collect::<Option<Vec<_>>>()?;
                        Some(-(lacks.into_iter().max()? / &self.cluster.g[n]))
                    }
                };
                (self.each(standings, worth)? == margin).then_some(true)
            }
            Evidence::Unblocked(stated) => {
                let (n, i) = (stated.user, stated.server);
                let rows = self.cluster.used_rows(n, i).into_iter();
                let lacks = rows.filter_map(|row| Some((row, self.lack(n, row)?)));
                (lacks.eq(stated.lacks.clone()) && self.ps_dsf_on(n, i) == margin).then_some(false)
            }
            _ => None,
        }?;
        Some(Shown { margin, holds: Some(holds) })
    }
}
