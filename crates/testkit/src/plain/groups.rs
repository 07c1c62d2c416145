//! The axioms about groups from their definition: what more tasks do is tried out, bit by bit.

use evenhand_exact::{Axiom, ClassMark};
use evenhand_problem::{Rational, Sharing};

use super::{Plain, zero};

impl Plain<'_> {
    /// Whether the axiom is about this: groups that share resources; for `tree`, users whose base demand is of something.
    pub fn has_groups(&self, axiom: Axiom) -> bool {
        let p = self.p();
        if axiom == Axiom::WorkConserving && !self.holds_back() {
            return true;
        }
        let divided =
            self.sharing() == Sharing::Rdm && p.servers().iter().all(|class| !class.is_time_shared());
        let is_counted = |n: usize| {
            (0..p.n_resources()).any(|r| p.users()[n].base_demand()[r] > 0 && p.total_capacity()[r] > 0)
        };
        match axiom {
            Axiom::Tree => divided && self.active().into_iter().all(is_counted),
            _ => divided && !p.groups().list().is_empty(),
        }
    }

    fn subgroups(&self, v: usize) -> Vec<usize> {
        let list = self.p().groups().list();
        (0..list.len()).filter(|k| list[*k].parent == Some(v)).collect()
    }

    pub(super) fn promised(&self, v: usize, r: usize) -> Option<Rational> {
        match &self.p().groups().list()[v].guarantee {
            Some(stated) => stated.iter().find(|(of, _)| *of == r).map(|(_, amount)| amount.clone()),
            None => self.subgroups(v).into_iter().filter_map(|k| self.promised(k, r)).reduce(|a, b| a + b),
        }
    }

    fn states_guarantee(&self, v: usize) -> bool {
        self.p().groups().list()[v].guarantee.is_some()
    }

    pub(super) fn kept(&self, v: usize, r: usize) -> Rational {
        let lend = self.p().groups().list()[v].lend.iter().find(|(of, _)| *of == r);
        let own = lend.map_or_else(zero, |(_, lend)| self.promised(v, r).unwrap_or_default() - lend);
        let below: Rational = self.subgroups(v).into_iter().map(|k| self.kept(k, r)).sum();
        own.max(below)
    }

    /// What a group uses when user `n` has so many tasks more.
    pub fn used(&self, v: usize, r: usize, (n, more): (usize, &Rational)) -> Rational {
        let p = self.p();
        let own: Rational = self
            .users()
            .filter(|m| p.groups().member(*m).group == Some(v))
            .map(|m| {
                let x = if m == n { self.total(m) + more } else { self.total(m) };
                x * &p.users()[m].base_demand()[r]
            })
            .sum();
        let below = self.subgroups(v).into_iter().map(|k| self.used(k, r, (n, more)).max(self.kept(k, r)));
        own + below.sum::<Rational>()
    }

    /// How many tasks more user `n` may have before `used` of them is so much.
    pub(super) fn until_used(
        &self,
        r: usize,
        n: usize,
        mark: &Rational,
        used: &dyn Fn(&Rational) -> Rational,
    ) -> Rational {
        let d = self.p().users()[n].base_demand()[r].clone();
        // What all groups below keep back is filled after so many tasks: beyond, every task is used in full.
        let groups = self.p().groups().list().len();
        let all: Rational = (0..groups).map(|k| self.kept(k, r)).sum();
        let far = Rational::from(&all / &d) + 1u32;
        let there = used(&far);
        far + (mark - there) / d
    }

    /// The lowest group above a user that states a guarantee.
    fn lowest_with_guarantee(&self, n: usize) -> Option<usize> {
        let list = self.p().groups().list();
        let mut above = self.p().groups().member(n).group;
        while let Some(v) = above.filter(|v| !self.states_guarantee(*v)) {
            above = list[v].parent;
        }
        above
    }

    /// The part of what a group uses that it, or the groups below it, are promised.
    fn promised_use(&self, v: usize, r: usize) -> Rational {
        if self.states_guarantee(v) {
            return self.promised(v, r).unwrap_or_default().min(self.used(v, r, (usize::MAX, &zero())));
        }
        self.subgroups(v).into_iter().map(|k| self.promised_use(k, r).max(self.kept(k, r))).sum()
    }

    /// What counts as used of a group above user `n` when the user has so many tasks more: all of it, or beyond the group
    /// that is promised something only what others are promised.
    fn counted(&self, v: usize, r: usize, (n, more): (usize, &Rational), promised: usize) -> Rational {
        let groups = self.p().groups().list();
        let mut within = Some(v);
        while let Some(group) = within {
            if group == promised {
                return self.used(v, r, (n, more));
            }
            within = groups[group].parent;
        }
        let mut sum = zero();
        for k in self.subgroups(v) {
            let used = match self.stands_in(n, k) {
                true => self.counted(k, r, (n, more), promised),
                false => self.promised_use(k, r),
            };
            sum += used.max(self.kept(k, r));
        }
        sum
    }

    /// The fraction of the tasks of user `m` that counts against limits on classes for user `n`.
    fn fraction(&self, m: usize, n: usize, promised: usize, r: usize) -> Rational {
        if self.stands_in(m, promised) {
            return Rational::from(1);
        }
        let groups = 0..self.p().groups().list().len();
        let apart = groups.filter(|v| self.stands_in(m, *v) && !self.stands_in(n, *v));
        // The fewer groups it stands in, the nearer a group is to the root.
        let depth =
            |v: &usize| std::iter::successors(Some(*v), |v| self.p().groups().list()[*v].parent).count();
        let Some(top) = apart.filter(|v| self.states_guarantee(*v)).min_by_key(depth) else { return zero() };
        let used = self.used(top, r, (usize::MAX, &zero()));
        match self.promised(top, r) {
            None => zero(),
            Some(promised) if promised < used => promised / used,
            Some(_) => Rational::from(1),
        }
    }

    /// How many tasks a user lacks of what the groups above it are promised (docs/axioms.md, the lack).
    pub fn lack_of_promises(&self, n: usize) -> Rational {
        let p = self.p();
        let groups = p.groups();
        let never = groups.share().zero_weight.name() == "never";
        let asked: Vec<usize> = (0..p.n_resources())
            .filter(|r| p.users()[n].base_demand()[*r] > 0 && p.total_capacity()[*r] > 0)
            .collect();
        let Some(promised) = self.lowest_with_guarantee(n) else { return zero() };
        let mut rooms: Vec<Rational> =
            self.left(n).into_iter().chain(self.rooms_on_classes(n, promised)).collect();
        let above = std::iter::successors(groups.member(n).group, |v| groups.list()[*v].parent);
        for v in above {
            let group = &groups.list()[v];
            let is_bound = group.guarantee.is_some() || (never && group.weight.is_zero());
            if is_bound && asked.iter().all(|r| self.promised(v, *r).is_none()) {
                return zero();
            }
            for r in &asked {
                let limit = group.limit.iter().find(|(of, _)| of == r).map(|(_, most)| most.clone());
                let guarantee = self.promised(v, *r).filter(|_| is_bound);
                for mark in limit.into_iter().chain(guarantee) {
                    let counted = |more: &Rational| self.counted(v, *r, (n, more), promised);
                    rooms.push(self.until_used(*r, n, &mark, &counted));
                }
            }
        }
        rooms.into_iter().min().unwrap_or_default().max(zero())
    }

    /// What the users below a group take of a resource on some server classes.
    pub(super) fn held_on(&self, v: usize, servers: &[usize], r: usize) -> Rational {
        let below = self.users().filter(|n| self.stands_in(*n, v));
        let held = |n: usize| {
            let on = servers.iter().map(move |i| Rational::from(&self.x[n][*i] * &self.p().demand(n, *i)[r]));
            on.sum::<Rational>()
        };
        below.map(held).sum()
    }

    /// How many tasks limits on server classes leave a user on one of them, each with what it is; none where nothing
    /// limits it.
    pub(super) fn class_marks(&self, n: usize, i: usize) -> Vec<(ClassMark, Rational)> {
        let p = self.p();
        let mut marks = Vec::new();
        for (group, of) in p.groups().list().iter().enumerate().filter(|(v, _)| self.stands_in(n, *v)) {
            for on in of.on.iter().filter(|on| on.servers.contains(&i)) {
                for (resource, most) in on.limit.iter().filter(|(r, _)| p.demand(n, i)[*r] > 0) {
                    let left = Rational::from(most - &self.held_on(group, &on.servers, *resource));
                    let tasks = (left / p.demand(n, i)[*resource].clone()).max(zero());
                    let (on, resource) = (on.servers.clone(), *resource);
                    marks.push((ClassMark { group, on, resource }, tasks));
                }
            }
        }
        marks
    }

    /// Whether a limit of 0 keeps a user from a class.
    pub(super) fn is_barred(&self, n: usize, i: usize) -> bool {
        let groups = self.p().groups().list().iter().enumerate();
        let mut on = groups.filter(|(v, _)| self.stands_in(n, *v)).flat_map(|(_, of)| &of.on);
        let bars = |(r, most): &(usize, Rational)| most.is_zero() && self.p().demand(n, i)[*r] > 0;
        on.any(|on| on.servers.contains(&i) && on.limit.iter().any(bars))
    }

    /// Whether groups hold no more than they may on server classes.
    pub(super) fn keeps_limits_on_classes(&self) -> bool {
        let groups = self.p().groups().list().iter().enumerate();
        let mut limits = groups.flat_map(|(v, group)| group.on.iter().map(move |on| (v, on)));
        limits.all(|(v, on)| on.limit.iter().all(|(r, most)| self.held_on(v, &on.servers, *r) <= *most))
    }

    /// How many tasks each limit on classes leaves user `n` on each of them for what `promised` above it is promised; by
    /// limit, `None` on a class where it counts no task of the user.
    fn left_on_classes(&self, n: usize, promised: usize) -> Vec<Vec<Option<Rational>>> {
        let p = self.p();
        let mut rows = Vec::new();
        for (v, group) in p.groups().list().iter().enumerate().filter(|(v, _)| self.stands_in(n, *v)) {
            for on in &group.on {
                for (r, most) in &on.limit {
                    let mut left = most.clone();
                    for m in self.users().filter(|m| self.stands_in(*m, v)) {
                        let fraction = self.fraction(m, n, promised, *r);
                        for k in &on.servers {
                            left -= Rational::from(&self.x[m][*k] * &p.demand(m, *k)[*r]) * &fraction;
                        }
                    }
                    let room = |i: usize| {
                        let demand = p.demand(n, i)[*r].clone();
                        let counts = on.servers.contains(&i) && demand > 0;
                        counts.then(|| (left.clone() / demand).max(zero()))
                    };
                    rows.push(p.classes_of(n).map(room).collect());
                }
            }
        }
        rows
    }

    /// The same as bounds on all its tasks: by each limit that counts all of them, and by the least on each class.
    fn rooms_on_classes(&self, n: usize, promised: usize) -> Vec<Rational> {
        let rows = self.left_on_classes(n, promised);
        let mut rooms: Vec<Rational> = Vec::new();
        for row in &rows {
            if row.iter().all(Option::is_some) {
                rooms.extend(row.iter().flatten().max().cloned());
            }
        }
        let classes = 0..self.p().classes_of(n).count();
        let least = |i: usize| rows.iter().filter_map(|row| row[i].clone()).min();
        rooms.extend(classes.map(least).sum::<Option<Rational>>());
        rooms
    }

    /// The least margin of the limits.
    pub fn limits_margin(&self) -> Option<Rational> {
        let p = self.p();
        let capacity = p.total_capacity();
        let mut all = Vec::new();
        for (v, group) in p.groups().list().iter().enumerate() {
            for (r, most) in group.limit.iter().filter(|(r, _)| capacity[*r] > 0) {
                all.push((most - self.used(v, *r, (usize::MAX, &zero()))) / &capacity[*r]);
            }
            for on in &group.on {
                for (r, most) in on.limit.iter().filter(|(r, _)| capacity[*r] > 0) {
                    all.push((most - self.held_on(v, &on.servers, *r)) / &capacity[*r]);
                }
            }
        }
        let is_kept = |r: &usize| (0..p.groups().list().len()).any(|v| self.kept(v, *r) > 0);
        for r in (0..p.n_resources()).filter(|r| capacity[*r] > 0).filter(is_kept) {
            all.push((&capacity[r] - self.used_by_all(r, (usize::MAX, &zero()))) / &capacity[r]);
        }
        all.into_iter().min()
    }

    /// Minus the largest lack of what is promised.
    pub fn guarantees_margin(&self) -> Option<Rational> {
        let margin = |n: usize| -(self.lack_of_promises(n) / &self.cluster.g[n]);
        self.active().into_iter().map(margin).min()
    }
}
