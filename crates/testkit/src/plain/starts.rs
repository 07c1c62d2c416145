//! The tasks that could start on a running cluster, by plain loops written from docs/verdict.md. Every question adds up
//! all amounts again and tries every assignment of the tasks of a start to servers. The code is meant for
//! small clusters.

use evenhand_problem::snapshot::{Constraint, Snapshot};
use evenhand_problem::{Allocation, Placement, Problem, Rational};

/// A task on a single server: its user, the class of the server, and the index of the server in the class.
pub type Task = (usize, usize, u64);

/// A condition of the definition that is not tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    /// No condition is left out.
    Nothing,
    /// The limit of this group on this resource.
    Limit(usize, usize),
    /// A limit of this group on classes: the group, the position of the entry in its `on`, and the position
    /// of the limit in that entry.
    OnClasses(usize, usize, usize),
    /// The amounts of a resource that are kept back.
    KeptBack(usize),
    /// The weight 0 of a group.
    Weight(usize),
    /// The free amounts of a resource.
    Free(usize),
    /// The classes on which users may run.
    Classes,
    /// The closed classes.
    Closed,
    /// The sets of classes.
    ClassSets,
    /// The condition that each task of a gang is on a server of its own.
    DistinctServers,
    /// The condition that the other tasks of the gang, and the gangs that start with it, start at the same
    /// time.
    Gang,
}

/// The state of a cluster at one moment.
#[derive(Clone)]
pub struct Running<'s> {
    pub(super) snapshot: &'s Snapshot,
    /// Every task that runs on a server.
    pub tasks: Vec<Task>,
    /// The condition that is left out.
    pub without: Without,
}

impl<'s> Running<'s> {
    /// Returns the running tasks of a snapshot with placements of whole tasks.
    #[must_use]
    pub fn new(snapshot: &'s Snapshot) -> Self {
        let mut tasks = Vec::new();
        for placement in snapshot.allocation.placements.iter().flatten() {
            for (n, count) in &placement.tasks {
                let count = count.numer().to_u64().expect("whole tasks");
                tasks.extend((0..count).map(|_| (*n, placement.server, placement.index)));
            }
        }
        Self { snapshot, tasks, without: Without::Nothing }
    }

    pub(super) fn p(&self) -> &'s Problem {
        &self.snapshot.problem
    }

    /// Returns the constraint of a user.
    #[must_use]
    pub fn constraint(&self, n: usize) -> Constraint {
        let stated = self.snapshot.constraints.iter().find(|of| of.user == n);
        stated.cloned().unwrap_or(Constraint { user: n, ..Constraint::default() })
    }

    /// Returns the number of tasks of a gang.
    #[must_use]
    pub fn gang(&self, n: usize) -> u64 {
        self.p().groups().member(n).gang.unwrap_or(1)
    }

    /// Returns the users that start together with a user.
    #[must_use]
    pub fn together(&self, n: usize) -> Vec<usize> {
        let word = self.constraint(n).together;
        let all = 0..self.p().n_users();
        all.filter(|m| *m == n || (!word.is_empty() && self.constraint(*m).together == word)).collect()
    }

    /// Returns the number of tasks of a user that run or are admitted.
    #[must_use]
    pub fn count(&self, n: usize) -> u64 {
        self.tasks.iter().filter(|(m, ..)| *m == n).count() as u64 + self.constraint(n).admitted
    }

    /// Returns `true` if each user of a start has a gang of tasks left and can run somewhere.
    #[must_use]
    pub fn waits(&self, n: usize) -> bool {
        self.together(n).into_iter().all(|m| {
            let user = &self.p().users()[m];
            let has_left = user.tasks().is_none_or(|all| Rational::from(all - self.count(m)) >= self.gang(m));
            has_left && (self.p().is_active(m) || self.without == Without::Classes)
        })
    }

    pub(super) fn is_in(&self, n: usize, v: usize) -> bool {
        let mut above = self.p().groups().member(n).group;
        while let Some(k) = above {
            if k == v {
                return true;
            }
            above = self.p().groups().list()[k].parent;
        }
        false
    }

    fn children(&self, v: usize) -> Vec<usize> {
        let list = self.p().groups().list();
        (0..list.len()).filter(|k| list[*k].parent == Some(v)).collect()
    }

    fn promised(&self, v: usize, r: usize) -> Option<Rational> {
        match &self.p().groups().list()[v].guarantee {
            Some(stated) => stated.iter().find(|(of, _)| *of == r).map(|(_, amount)| amount.clone()),
            None => self.children(v).into_iter().filter_map(|k| self.promised(k, r)).reduce(|a, b| a + b),
        }
    }

    fn kept(&self, v: usize, r: usize) -> Rational {
        let lend = self.p().groups().list()[v].lend.iter().find(|(of, _)| *of == r);
        let own = lend.map(|(_, lend)| self.promised(v, r).unwrap_or_default() - lend).unwrap_or_default();
        let below: Rational = self.children(v).into_iter().map(|k| self.kept(k, r)).sum();
        own.max(below)
    }

    /// Returns the usage `X_v` of a group: the amount that the tasks of its users take.
    fn taken(&self, v: usize, r: usize) -> Rational {
        let users = (0..self.p().n_users()).filter(|n| self.is_in(*n, v));
        users.map(|n| Rational::from(&self.p().users()[n].base_demand()[r] * self.count(n))).sum()
    }

    /// Returns the usage `U_v` of a group, in which kept-back capacity of its children counts as used.
    fn used(&self, v: usize, r: usize) -> Rational {
        let own = (0..self.p().n_users()).filter(|n| self.p().groups().member(*n).group == Some(v));
        let own: Rational =
            own.map(|n| Rational::from(&self.p().users()[n].base_demand()[r] * self.count(n))).sum();
        let below = self.children(v).into_iter().map(|k| self.used(k, r).max(self.kept(k, r)));
        own + below.sum::<Rational>()
    }

    /// Returns the usage `U` of the whole cluster, in which kept-back capacity of groups counts as used.
    fn used_by_all(&self, r: usize) -> Rational {
        let groups = self.p().groups();
        let own = (0..self.p().n_users()).filter(|n| groups.member(*n).group.is_none());
        let own: Rational =
            own.map(|n| Rational::from(&self.p().users()[n].base_demand()[r] * self.count(n))).sum();
        let tops = (0..groups.list().len()).filter(|v| groups.list()[*v].parent.is_none());
        own + tops.map(|v| self.used(v, r).max(self.kept(v, r))).sum::<Rational>()
    }

    /// Returns the usage of a resource on some classes by the users of a group.
    pub(super) fn taken_on(&self, v: usize, classes: &[usize], r: usize) -> Rational {
        let mut sum = Rational::new();
        for (n, class, _) in
            self.tasks.iter().filter(|(n, class, _)| self.is_in(*n, v) && classes.contains(class))
        {
            sum += &self.p().demand(*n, *class)[r];
        }
        for n in (0..self.p().n_users()).filter(|n| self.is_in(*n, v)) {
            // Admitted tasks that can run nowhere else count with the least that they use there.
            let may: Vec<usize> = self.p().classes_of(n).collect();
            if !may.is_empty() && may.iter().all(|i| classes.contains(i)) {
                let least = may.iter().map(|i| self.p().demand(n, *i)[r].clone()).min().unwrap_or_default();
                sum += least * self.constraint(n).admitted;
            }
        }
        sum
    }

    fn free(&self, class: usize, index: u64, r: usize) -> Rational {
        let here = self.tasks.iter().filter(|(_, i, j)| (*i, *j) == (class, index));
        let used: Rational = here.map(|(n, ..)| self.p().demand(*n, class)[r].clone()).sum();
        &self.p().servers()[class].capacity()[r] - used
    }

    /// Returns `true` if tasks may start on these servers while all other tasks stay where they run. The
    /// tasks of a start must be whole gangs.
    #[must_use]
    pub fn may_start(&self, start: &[Task]) -> bool {
        let Some((first, ..)) = start.first() else { return false };
        let users = self.together(*first);
        let counts =
            users.iter().all(|n| start.iter().filter(|(m, ..)| m == n).count() as u64 == self.gang(*n))
                || (self.without == Without::Gang && start.len() == 1);
        let all = start.iter().all(|(n, ..)| users.contains(n));
        counts && all && self.waits(*first) && self.servers_allow(start) && self.groups_allow(start)
    }

    fn servers_allow(&self, start: &[Task]) -> bool {
        let mut after = self.clone();
        after.tasks.extend(start);
        for (n, class, index) in start {
            let rule = self.constraint(*n);
            let gang: Vec<&Task> = start.iter().filter(|(m, ..)| m == n).collect();
            let is_closed =
                self.snapshot.closed.iter().any(|of| of.server == *class) && self.without != Without::Closed;
            let is_allowed = self.without == Without::Classes || self.p().classes_of(*n).any(|i| i == *class);
            let may_run = !is_closed && is_allowed;
            let exists = *index < self.p().servers()[*class].count();
            let in_set = rule.class_sets.is_empty()
                || self.without == Without::ClassSets
                || rule.class_sets.iter().any(|set| gang.iter().all(|(_, i, _)| set.contains(i)));
            let twice = gang.iter().filter(|(_, i, j)| (i, j) == (class, index)).count() > 1;
            let twice = twice && self.without != Without::DistinctServers;
            if !may_run || !exists || !in_set || (rule.distinct_servers && twice) {
                return false;
            }
            for r in (0..self.p().n_resources()).filter(|r| self.without != Without::Free(*r)) {
                if self.p().demand(*n, *class)[r] > 0 && after.free(*class, *index, r) < 0 {
                    return false;
                }
            }
        }
        true
    }

    /// Checks points 4 to 7 of the definition.
    fn groups_allow(&self, start: &[Task]) -> bool {
        let p = self.p();
        let groups = p.groups();
        let mut after = self.clone();
        after.tasks.extend(start);
        let never = groups.share().zero_weight.name() == "never";
        let demands = |r: usize| start.iter().any(|(n, ..)| p.users()[*n].base_demand()[r] > 0);
        let asked: Vec<usize> =
            (0..p.n_resources()).filter(|r| demands(*r) && p.total_capacity()[*r] > 0).collect();
        let user = start[0].0;
        for v in (0..groups.list().len()).filter(|v| self.is_in(user, *v)) {
            let group = &groups.list()[v];
            let mut named = 0;
            for r in &asked {
                let (before, now) = (self.used(v, *r), after.used(v, *r));
                if let Some((_, most)) = group.limit.iter().find(|(of, _)| of == r)
                    && self.without != Without::Limit(v, *r)
                    && (now > before.clone().max(most.clone()) || after.taken(v, *r) > *most)
                {
                    return false;
                }
                if never
                    && group.weight.is_zero()
                    && self.without != Without::Weight(v)
                    && let Some(promised) = self.promised(v, *r)
                {
                    named += 1;
                    if promised.is_zero() || now > before.max(promised) {
                        return false;
                    }
                }
            }
            if never && group.weight.is_zero() && named == 0 && self.without != Without::Weight(v) {
                return false;
            }
            for (k, on) in group.on.iter().enumerate() {
                for (at, (r, most)) in on.limit.iter().enumerate() {
                    if self.without == Without::OnClasses(v, k, at) {
                        continue;
                    }
                    let takes = start
                        .iter()
                        .any(|(n, class, _)| on.servers.contains(class) && p.demand(*n, *class)[*r] > 0);
                    if takes && after.taken_on(v, &on.servers, *r) > *most {
                        return false;
                    }
                }
            }
        }
        let is_kept = |r: &&usize| (0..groups.list().len()).any(|v| self.kept(v, **r) > 0);
        asked
            .iter()
            .filter(is_kept)
            .filter(|r| self.without != Without::KeptBack(**r))
            .all(|r| after.used_by_all(*r) <= self.used_by_all(*r).max(p.total_capacity()[*r].clone()))
    }

    /// Returns every server.
    pub(super) fn servers(&self) -> Vec<(usize, u64)> {
        let classes = self.p().servers().iter().enumerate();
        classes.flat_map(|(i, class)| (0..class.count()).map(move |j| (i, j))).collect()
    }

    /// Returns servers for the start of a user, by trying all assignments. Returns `None` if the user could
    /// not start.
    #[must_use]
    pub fn could_start(&self, n: usize) -> Option<Vec<Task>> {
        if !self.waits(n) {
            return None;
        }
        let users = self.together(n);
        let mut users: Vec<usize> =
            users.into_iter().flat_map(|m| (0..self.gang(m)).map(move |_| m)).collect();
        if self.without == Without::Gang {
            users = vec![n];
        }
        self.try_all(&users, &mut Vec::new())
    }

    fn try_all(&self, users: &[usize], start: &mut Vec<Task>) -> Option<Vec<Task>> {
        let Some(n) = users.get(start.len()) else {
            return self.may_start(start).then(|| start.clone());
        };
        for (class, index) in self.servers() {
            // The tasks of one gang are identical, so only ascending orders of servers are tried.
            let last = start.last().filter(|(m, ..)| m == n);
            if last.is_some_and(|(_, i, j)| (*i, *j) > (class, index)) {
                continue;
            }
            start.push((*n, class, index));
            // If some tasks of the gang fit on no server, the whole gang does not fit.
            let mut others = self.clone();
            others.tasks.extend(&start[..start.len() - 1]);
            let has_room = others.has_room((*n, class, index));
            let found = if has_room { self.try_all(users, start) } else { None };
            start.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Returns `true` if a task may run on its server and the server has enough free capacity, regardless of
    /// limits of groups.
    #[must_use]
    pub fn has_room(&self, (n, class, index): Task) -> bool {
        let demand = self.p().demand(n, class);
        (self.without == Without::Classes || self.p().classes_of(n).any(|i| i == class))
            && (0..self.p().n_resources()).all(|r| {
                demand[r].is_zero()
                    || self.without == Without::Free(r)
                    || self.free(class, index, r) >= demand[r]
            })
    }

    /// Returns the excess of usage over each bound: each limit of a group, each limit on a set of classes,
    /// each resource of which capacity is kept back, and each server.
    #[must_use]
    pub fn excesses(&self) -> Vec<Rational> {
        let p = self.p();
        let over = |used: Rational, most: &Rational| (used - most).max(Rational::new());
        let mut all = Vec::new();
        for (v, group) in p.groups().list().iter().enumerate() {
            all.extend(group.limit.iter().map(|(r, most)| over(self.used(v, *r), most)));
            for on in &group.on {
                all.extend(on.limit.iter().map(|(r, most)| over(self.taken_on(v, &on.servers, *r), most)));
            }
        }
        for r in 0..p.n_resources() {
            let is_kept = (0..p.groups().list().len()).any(|v| self.kept(v, r) > 0);
            let used = if is_kept { self.used_by_all(r) } else { Rational::new() };
            all.push(over(used, &p.total_capacity()[r]));
            for (class, index) in self.servers() {
                all.push((-self.free(class, index, r)).max(Rational::new()));
            }
        }
        all
    }

    /// Returns the queues (groups, then users without a group) that are below their fair share by a whole
    /// task. Some waiting start of such a queue would keep the queue within its share.
    #[must_use]
    pub fn below(&self, fair_shares: &[Vec<Rational>]) -> Vec<usize> {
        let p = self.p();
        let groups = p.groups().list().len();
        let alone: Vec<usize> = (0..p.n_users()).filter(|n| p.groups().member(*n).group.is_none()).collect();
        let usage = |v: usize, r: usize| match v.checked_sub(groups) {
            None => self.taken(v, r),
            Some(at) => Rational::from(&p.users()[alone[at]].base_demand()[r] * self.count(alone[at])),
        };
        let is_within = |v: usize, n: usize| {
            (0..p.n_resources()).all(|r| {
                let more: Rational = self
                    .together(n)
                    .into_iter()
                    .map(|m| Rational::from(&p.users()[m].base_demand()[r] * self.gang(m)))
                    .sum();
                more.is_zero() || usage(v, r) + more <= fair_shares[v][r]
            })
        };
        let stands = |v: usize, n: usize| match v.checked_sub(groups) {
            None => self.is_in(n, v),
            Some(at) => alone[at] == n,
        };
        let has_demand = |n: usize| {
            let mut users = self.together(n).into_iter();
            users.any(|m| p.users()[m].base_demand().entries().iter().any(|(_, d)| *d > 0))
        };
        (0..groups + alone.len())
            .filter(|v| {
                let mut users = 0..p.n_users();
                users.any(|n| stands(*v, n) && self.waits(n) && has_demand(n) && is_within(*v, n))
            })
            .collect()
    }

    /// Returns the allocation of the running tasks.
    #[must_use]
    pub fn allocation(&self) -> Allocation {
        let mut placements: Vec<Placement> = Vec::new();
        for (server, index) in self.servers() {
            let here = |n: usize| self.tasks.iter().filter(|task| **task == (n, server, index)).count();
            let tasks: Vec<(usize, Rational)> = (0..self.p().n_users())
                .map(|n| (n, Rational::from(here(n))))
                .filter(|(_, count)| !count.is_zero())
                .collect();
            if !tasks.is_empty() {
                placements.push(Placement { server, index, tasks });
            }
        }
        let mut tasks = vec![Vec::new(); self.p().n_users()];
        for (n, of) in tasks.iter_mut().enumerate() {
            for i in 0..self.p().n_servers() {
                let count = self.tasks.iter().filter(|(m, class, _)| (*m, *class) == (n, i)).count();
                if count > 0 {
                    of.push((i, Rational::from(count)));
                }
            }
        }
        Allocation { tasks, placements: Some(placements), ..self.snapshot.allocation.clone() }
    }
}
