//! Tasks that could start. A stated start on stated servers is tested with the predicate `may_start` of
//! docs/verdict.md. For all other waiting users, an upper bound is computed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rug::Rational;

use super::queues::{Queues, Vector};
use crate::allocation::{Allocation, Placement, entries};
use crate::case::total_of;
use crate::groups::holdings::{Holdings, On};
use crate::json::Json;
use crate::names::{Amounts, MOST, at};
use crate::problem::Problem;
use crate::work::{self, Checked, ensure};

/// The constraints of the snapshot for each user.
#[derive(PartialEq)]
pub struct Rules {
    list: Vec<Rule>,
    /// The users that start together with each user, in ascending order. The list includes the user itself.
    starts: Vec<Vec<usize>>,
    /// The classes whose servers accept no new tasks, in ascending order.
    closed: Vec<usize>,
}

/// The constraints of a user.
#[derive(Clone, Default, PartialEq)]
struct Rule {
    is_protected: bool,
    on_distinct_servers: bool,
    /// Sets of classes. A gang may use only classes of a single set. The list is empty if every class is allowed.
    class_sets: Vec<Vec<usize>>,
    /// The label that is common to users that start together. The label is empty if the user starts alone.
    together: String,
    /// True if a condition that is not modelled decides whether tasks of the user could start.
    is_not_modelled: bool,
    /// The number of admitted tasks that have no server yet.
    admitted: u64,
}

/// The tasks of a user, and their places: class, index of the server, and number of tasks there.
pub struct Gang {
    pub user: usize,
    pub places: Vec<(usize, u64, Rational)>,
}

/// The state of a replay: the running and admitted tasks by server and by user, and the usage of queues and groups.
pub struct State<'q, 'c> {
    queues: &'q Queues<'c>,
    rules: &'q Rules,
    /// The guarantees, and the capacity that is kept back. The usage in this field is not updated during the replay.
    holdings: Holdings<'c>,
    /// The running tasks of each server, by user.
    pub servers: BTreeMap<(usize, u64), BTreeMap<usize, Rational>>,
    /// The free capacity of each server with tasks, by resource. An amount is negative if the server is overfull.
    free: BTreeMap<(usize, u64), Vector>,
    /// The number of running and admitted tasks of each user.
    pub totals: Vector,
    /// The usage of each queue, by resource.
    pub held: Vec<Vector>,
    /// The amount `U_v` of each group by resource, with the root last. It is the usage of the users of the group, and
    /// the capacity that is kept back for groups inside the group.
    used: Vec<Vector>,
    /// The limits on classes, with the unused amount of each limit.
    on: Vec<On<'c>>,
}

impl Rules {
    pub fn read(raw: &Json<'_>, closed: Vec<usize>, problem: &Problem) -> Checked<Self> {
        let mut list = vec![Rule::default(); problem.users.len()];
        let mut seen = vec![false; list.len()];
        let names =
            "user priority? protected? distinct_servers? class_sets? together? not_modelled? admitted?";
        let rows = if raw.given().is_some() { raw.rows(names, Ok)? } else { Vec::new() };
        for [user, priority, protected, distinct, sets, together, not_modelled, admitted] in rows {
            let n = problem.user_names.named(user)?;
            if std::mem::replace(&mut seen[n], true) {
                return user.wrong("this user has two entries: expected one");
            }
            priority.given().map(Json::number).transpose()?;
            let truth = |raw: &Json<'_>| match raw.given() {
                None => Ok(false),
                Some(raw) => raw.boolean(),
            };
            let texts = not_modelled.given().map_or(Ok(&[][..]), Json::list)?;
            texts.iter().try_for_each(|text| text.text().map(drop))?;
            let sets = sets.given().map_or(Ok(&[][..]), Json::list)?;
            list[n] = Rule {
                is_protected: truth(protected)?,
                on_distinct_servers: truth(distinct)?,
                class_sets: sets
                    .iter()
                    .map(|set| problem.class_names.listed(set))
                    .collect::<Checked<Vec<_>>>()?,
                together: together.given().map_or(Ok(""), Json::text)?.to_owned(),
                is_not_modelled: !texts.is_empty(),
                admitted: admitted.given().map_or(Ok(0), |admitted| admitted.count(0, MOST))?,
            };
        }
        let mut words: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (n, rule) in list.iter().enumerate().filter(|(_, rule)| !rule.together.is_empty()) {
            words.entry(&rule.together).or_default().push(n);
        }
        let mut starts: Vec<Vec<usize>> = (0..list.len()).map(|n| vec![n]).collect();
        for users in words.values() {
            let group = |n: &usize| problem.groups.members[*n].group;
            if users.iter().any(|n| group(n) != group(&users[0])) {
                return raw.wrong("users that start together are in different groups");
            }
            work::steps((users.len() * users.len()) as u64)?;
            users.iter().for_each(|n| starts[*n].clone_from(users));
        }
        Ok(Self { list, starts, closed })
    }

    /// Returns the users that each start one gang together with user `n`. The list includes `n`.
    pub fn start(&self, n: usize) -> &[usize] {
        &self.starts[n]
    }

    pub fn is_protected(&self, n: usize) -> bool {
        self.list[n].is_protected
    }

    /// Returns true if a condition that is not modelled decides about a start of user `n`.
    pub fn is_not_modelled(&self, n: usize) -> bool {
        self.starts[n].iter().any(|m| self.list[*m].is_not_modelled)
    }

    pub fn admitted(&self, n: usize) -> u64 {
        self.list[n].admitted
    }
}

impl Gang {
    pub fn read(raw: &Json<'_>, problem: &Problem) -> Checked<Self> {
        let [user, places] = raw.fields("user places")?;
        let mut found = Vec::new();
        for [server, index, tasks] in places.rows("server index tasks", Ok)? {
            let tasks = Rational::from(tasks.count(1, MOST)?);
            found.push((problem.class_names.named(server)?, index.count(0, MOST)?, tasks));
        }
        Ok(Self { user: problem.user_names.named(user)?, places: found })
    }

    /// Reads a list of gangs, ascending by user.
    pub fn list(raw: &Json<'_>, problem: &Problem) -> Checked<Vec<Self>> {
        let list: Checked<Vec<Self>> = raw.list()?.iter().map(|raw| Self::read(raw, problem)).collect();
        let ascend = |list: &[Self]| list.is_sorted_by(|a, b| a.user < b.user);
        list.and_then(|list| {
            if ascend(&list) {
                Ok(list)
            } else {
                raw.wrong("the users are not in ascending order, or a user is named twice")
            }
        })
    }

    /// Reads a start: one gang as an object, or a list of gangs that start together.
    pub fn start(raw: &Json<'_>, problem: &Problem) -> Checked<Vec<Self>> {
        match raw.list() {
            Ok(_) => Self::list(raw, problem),
            Err(_) => Ok(vec![Self::read(raw, problem)?]),
        }
    }

    /// Returns the number of tasks of the gang.
    pub fn tasks(&self) -> Rational {
        self.places.iter().map(|(.., tasks)| tasks).sum()
    }
}

impl<'q, 'c> State<'q, 'c> {
    pub fn new(queues: &'q Queues<'c>, rules: &'q Rules, allocation: &Allocation) -> Checked<Self> {
        let placed = |on: &Placement| ((on.class, on.index), on.tasks.iter().cloned().collect());
        let servers: BTreeMap<_, BTreeMap<usize, Rational>> =
            allocation.placements.iter().flatten().map(placed).collect();
        work::spend(entries(&allocation.tasks).count())?;
        let running = |(n, tasks): (usize, &Amounts)| total_of(tasks) + rules.admitted(n);
        let totals: Vector = allocation.tasks.iter().enumerate().map(running).collect();
        let mut on = Holdings::limits(queues.case, &allocation.tasks, false)?;
        for n in (0..totals.len()).filter(|n| rules.admitted(*n) > 0) {
            Self::admit(queues, &mut on, n, rules.admitted(n))?;
        }
        let holdings = Holdings::new(queues.case)?;
        let held = queues.held(|_, n| &totals[n])?;
        let used = Self::used(queues, &holdings, &totals)?;
        let mut state = Self {
            queues,
            rules,
            holdings,
            servers: BTreeMap::new(),
            free: BTreeMap::new(),
            totals,
            held,
            used,
            on,
        };
        for (server, tasks) in &servers {
            tasks.iter().try_for_each(|(n, x)| state.take(*server, *n, x))?;
        }
        state.servers = servers;
        Ok(state)
    }

    /// Counts admitted tasks, which have no server, against limits on classes. The tasks count against a limit if the
    /// user can run only on its classes. Their smallest demand on these classes is used.
    fn admit(queues: &Queues<'c>, on: &mut [On<'c>], n: usize, tasks: u64) -> Checked<()> {
        let problem = queues.case.problem;
        let classes: Vec<usize> = problem.classes_of(n).collect();
        for at in Holdings::on_of_user(queues.case, on, n)? {
            work::spend(classes.len() + 1)?;
            let takes = classes.iter().map(|i| on[at].takes(problem, n, *i).cloned().unwrap_or_default());
            let within = classes.iter().all(|i| on[at].classes.binary_search(i).is_ok());
            let least = takes.min().filter(|_| within).unwrap_or_default();
            on[at].left -= least * tasks;
        }
        Ok(())
    }

    pub fn queues(&self) -> &'q Queues<'c> {
        self.queues
    }

    /// Returns the users that start together with a user.
    pub fn users_of_start(&self, n: usize) -> &[usize] {
        self.rules.start(n)
    }

    /// Returns true if each task of a gang of a user needs its own server.
    pub fn needs_distinct_servers(&self, n: usize) -> bool {
        self.rules.list[n].on_distinct_servers
    }

    /// Returns the classes on which a user may start tasks, and the sets of classes. A gang uses only classes of a
    /// single set.
    pub fn classes_for(&self, n: usize) -> (Vec<usize>, Vec<Vec<usize>>) {
        let is_open = |i: &usize| self.rules.closed.binary_search(i).is_err();
        let all: Vec<usize> = self.queues.case.problem.classes_of(n).filter(is_open).collect();
        let sets = &self.rules.list[n].class_sets;
        let sets = if sets.is_empty() { vec![all.clone()] } else { sets.clone() };
        (all, sets)
    }

    /// Returns the servers of a class whose free capacity is stored, with this free capacity.
    pub fn servers_of(&self, class: usize) -> impl Iterator<Item = ((usize, u64), &Vector)> {
        self.free.range((class, 0)..=(class, u64::MAX)).map(|(server, free)| (*server, free))
    }

    /// Returns the capacity by resource of one server of a class.
    pub fn capacity_of(&self, class: usize) -> Vector {
        capacity(self.queues.case.problem, class)
    }

    /// Returns the queues that are below their fair share by a whole task.
    pub fn below(&self, due: &[Vector]) -> Checked<Vec<usize>> {
        let mut below = Vec::new();
        for (v, (held, due)) in self.held.iter().zip(due).enumerate() {
            let by = self.queues.short_by(v, held, due, &self.totals, &Rational::new())?;
            below.extend(by.map(|_| v));
        }
        Ok(below)
    }

    /// Adds the tasks of a gang, or removes them if `stops` is true.
    pub fn change(&mut self, gang: &Gang, stops: bool) -> Checked<()> {
        let (n, mut sum) = (gang.user, Rational::new());
        let limits = Holdings::on_of_user(self.queues.case, &self.on, n)?;
        for (class, index, tasks) in &gang.places {
            let tasks = if stops { Rational::from(-tasks) } else { tasks.clone() };
            let there = self.servers.entry((*class, *index)).or_default().entry(n).or_default();
            *there = work::plus(there, &tasks)?;
            ensure(*there >= 0, "more tasks of a user stop on a server than run there")?;
            self.take((*class, *index), n, &tasks)?;
            work::spend(limits.len())?;
            for at in &limits {
                let taken = self.on[*at]
                    .takes(self.queues.case.problem, n, *class)
                    .map(|d| Rational::from(d * &tasks));
                self.on[*at].left -= taken.unwrap_or_default();
            }
            sum += tasks;
        }
        self.count(n, &sum)
    }

    /// Reduces the free capacity of a server by the demand of a number of tasks. A negative number of tasks increases
    /// the free capacity.
    fn take(&mut self, server: (usize, u64), n: usize, tasks: &Rational) -> Checked<()> {
        let problem = self.queues.case.problem;
        let free = match self.free.entry(server) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                work::spend_stated(problem.resources.list.len())?;
                entry.insert(capacity(problem, server.0))
            }
        };
        for (r, d) in problem.demand(n, server.0) {
            free[*r] = work::plus(&free[*r], &-work::times(d, tasks)?)?;
        }
        Ok(())
    }

    /// Adds a number of tasks to the totals of the user, its queues and its groups. The number may be negative.
    fn count(&mut self, n: usize, tasks: &Rational) -> Checked<()> {
        let problem = self.queues.case.problem;
        self.totals[n] = work::plus(&self.totals[n], tasks)?;
        for (r, d) in &problem.users[n].demand {
            let mut more = work::times(d, tasks)?;
            for v in &self.queues.above[n] {
                self.held[*v][*r] = work::plus(&self.held[*v][*r], &more)?;
            }
            for v in problem.groups.above_user(n) {
                let (used, kept) = (&mut self.used[v][*r], &self.holdings.kept[v][*r]);
                let before = (&*used).max(kept).clone();
                *used = work::plus(used, &more)?;
                more = work::plus((&*used).max(kept), &-before)?;
            }
            let root = &mut self.used[problem.groups.list.len()][*r];
            *root = work::plus(root, &more)?;
        }
        Ok(())
    }

    /// Returns `U_v` of each group, with the root last.
    fn used(queues: &Queues<'_>, holdings: &Holdings<'_>, totals: &[Rational]) -> Checked<Vec<Vector>> {
        let (problem, groups) = (queues.case.problem, &queues.case.problem.groups);
        let (n, m) = (groups.list.len(), problem.resources.list.len());
        work::spend(4 * (n + 1) * m + problem.users.len())?;
        let mut used = vec![vec![Rational::new(); m]; n + 1];
        for ((user, member), x) in problem.users.iter().zip(&groups.members).zip(totals) {
            for (r, d) in &user.demand {
                used[member.group.unwrap_or(n)][*r] += work::times(d, x)?;
            }
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_cached_key(|v| std::cmp::Reverse(groups.above(Some(*v)).count()));
        for v in order {
            let counted: Vector =
                used[v].iter().zip(&holdings.kept[v]).map(|(used, kept)| used.max(kept).clone()).collect();
            let above = &mut used[groups.list[v].parent.unwrap_or(n)];
            above.iter_mut().zip(counted).for_each(|(sum, counted)| *sum += counted);
        }
        Ok(used)
    }

    /// Returns `U_v` of the groups above a user and of the root. The group of the user comes first.
    fn used_above(&self, n: usize) -> Checked<Vec<Vector>> {
        let groups = &self.queues.case.problem.groups;
        let used: Vec<&Vector> =
            groups.above_user(n).chain([groups.list.len()]).map(|v| &self.used[v]).collect();
        work::spend(used.iter().map(|amounts| amounts.len()).sum())?;
        Ok(used.into_iter().cloned().collect())
    }

    /// Checks that gangs can start on their servers while all other tasks stay where they are, and adds the tasks of
    /// the gangs.
    pub fn start(&mut self, gangs: &[Gang]) -> Checked<()> {
        let problem = self.queues.case.problem;
        let users: Vec<usize> = gangs.iter().map(|gang| gang.user).collect();
        let is_whole = users.first().is_some_and(|first| *self.rules.start(*first) == users[..]);
        ensure(is_whole, "the start omits a user that has to start together with the others")?;
        for gang in gangs {
            let (n, places) = (gang.user, &gang.places);
            ensure(gang.tasks() == self.queues.gang[n], "the start of a user is not exactly one gang")?;
            let rule = &self.rules.list[n];
            let classes = || places.iter().map(|(class, ..)| *class);
            work::steps((places.len() * (rule.class_sets.len() + 1)) as u64)?;
            ensure(
                classes().all(|i| problem.can_run(n, i)),
                "a task starts on a server class on which its user cannot run",
            )?;
            let is_open = classes().all(|i| self.rules.closed.binary_search(&i).is_err());
            ensure(is_open, "a task starts on a server that takes no new tasks")?;
            let in_set = |set: &Vec<usize>| classes().all(|i| set.binary_search(&i).is_ok());
            let is_in_one = rule.class_sets.is_empty() || rule.class_sets.iter().any(in_set);
            ensure(is_in_one, "the tasks of a gang start on classes of different sets (`class_sets`)")?;
            let mut servers: Vec<(usize, u64)> = places.iter().map(|(i, index, _)| (*i, *index)).collect();
            servers.sort_unstable();
            let is_distinct =
                servers.is_sorted_by(|a, b| a < b) && places.iter().all(|(.., tasks)| *tasks == 1);
            ensure(
                !rule.on_distinct_servers || is_distinct,
                "two tasks of a gang start on one server, although the user needs distinct servers",
            )?;
        }
        let before = self.used_above(users[0])?;
        for gang in gangs {
            self.change(gang, false)?;
            let all = problem.users[gang.user].tasks.as_ref();
            let has_them = all.is_none_or(|all| self.totals[gang.user] <= *all);
            ensure(has_them, "the start gives a user more tasks than it has")?;
        }
        for gang in gangs {
            self.servers_hold(gang)?;
            self.limits_on_classes_hold(gang)?;
        }
        self.groups_allow(gangs, &before)
    }

    /// Checks that each server of a gang is large enough for all its tasks, in the resources that the gang demands.
    fn servers_hold(&self, gang: &Gang) -> Checked<()> {
        let problem = self.queues.case.problem;
        for (class, index, _) in &gang.places {
            ensure(*index < problem.classes[*class].count, "the class has no server with this index")?;
            let free = &self.free[&(*class, *index)];
            for (r, d) in problem.demand(gang.user, *class).iter().filter(|(_, d)| *d > 0) {
                ensure(
                    free[*r] >= 0,
                    &format!("a server has less than the {d} of a resource that a task needs"),
                )?;
            }
        }
        Ok(())
    }

    fn limits_on_classes_hold(&self, gang: &Gang) -> Checked<()> {
        for at in Holdings::on_of_user(self.queues.case, &self.on, gang.user)? {
            let on = &self.on[at];
            work::steps(gang.places.len() as u64)?;
            let takes = |(class, ..): &(usize, u64, Rational)| {
                on.takes(self.queues.case.problem, gang.user, *class).is_some()
            };
            let is_kept = on.left >= 0 || !gang.places.iter().any(takes);
            ensure(is_kept, "the start brings a group above a limit on server classes")?;
        }
        Ok(())
    }

    /// Checks points 4, 6 and 7 of `may_start`: limits, capacity that is kept back, and groups of weight 0.
    fn groups_allow(&self, gangs: &[Gang], before: &[Vector]) -> Checked<()> {
        let (problem, groups) = (self.queues.case.problem, &self.queues.case.problem.groups);
        let demands = |r: usize| gangs.iter().any(|gang| at(&problem.users[gang.user].demand, r).is_some());
        let asked: Vec<usize> =
            self.holdings.capacity.iter().map(|(r, _)| *r).filter(|r| demands(*r)).collect();
        let Some(first) = gangs.first() else { return Ok(()) };
        let root = groups.list.len();
        let path: Vec<usize> = groups.above_user(first.user).chain([root]).collect();
        let keeps =
            |at: usize, r: usize, mark: &Rational| self.used[path[at]][r] <= *mark.max(&before[at][r]);
        for (at_depth, v) in groups.above_user(first.user).enumerate() {
            let is_shut = groups.is_shut(v);
            let mut is_named = false;
            for r in &asked {
                if let Some(most) = at(&groups.list[v].limit, *r) {
                    let is_kept = keeps(at_depth, *r, most) && self.held[v][*r] <= *most;
                    ensure(is_kept, "the start brings a group above its limit")?;
                }
                if let Some(promised) = self.holdings.promised(v, *r).filter(|_| is_shut) {
                    is_named = true;
                    let is_kept = !promised.is_zero() && keeps(at_depth, *r, promised);
                    ensure(is_kept, "the start gives a group of weight 0 more than its guarantee")?;
                }
            }
            ensure(!is_shut || is_named, "the start gives a group of weight 0 more than its guarantee")?;
        }
        let is_kept = |r: &usize| !self.holdings.kept[root][*r].is_zero();
        for r in asked.iter().filter(|r| is_kept(r)) {
            let all = at(&self.holdings.capacity, *r).cloned().unwrap_or_default();
            ensure(
                keeps(path.len() - 1, *r, &all),
                "the start takes capacity that is kept back for other groups",
            )?;
        }
        Ok(())
    }

    /// Stops gangs. Returns a fault if protected or pinned tasks would stop. Also returns a fault if only some of the
    /// gangs that start together would stop.
    pub fn stop(&mut self, gangs: &[Gang]) -> Checked<()> {
        let problem = self.queues.case.problem;
        let mut stopped: BTreeMap<usize, Rational> = BTreeMap::new();
        for gang in gangs {
            self.change(gang, true)?;
            let count = gang.tasks() / self.queues.gang[gang.user];
            ensure(count.is_integer(), "only some tasks of a gang stop")?;
            ensure(!self.rules.is_protected(gang.user), "a task of a protected user stops")?;
            let pinned = &problem.groups.members[gang.user].pinned;
            ensure(self.totals[gang.user] >= *pinned, "a pinned task stops")?;
            stopped.insert(gang.user, count);
        }
        let is_whole = |(n, count): (&usize, &Rational)| {
            self.rules.start(*n).iter().all(|m| stopped.get(m) == Some(count))
        };
        ensure(stopped.iter().all(is_whole), "only some of the gangs that start together stop")
    }

    /// Returns true if it is certain that no gang of a waiting user could start: an upper bound on the number of its
    /// tasks that could start is less than its gang. `Ok(false)` means that this is not known.
    pub fn cannot_start(&mut self, n: usize) -> Checked<bool> {
        let users = self.rules.start(n).to_vec();
        for m in &users {
            if self.most_tasks(*m)? < self.queues.gang[*m] {
                return Ok(true);
            }
        }
        // Limits of groups count the tasks of all gangs together, regardless of the servers.
        let before = self.used_above(n)?;
        let gang = |m: &usize| Gang { user: *m, places: vec![(0, 0, Rational::from(self.queues.gang[*m]))] };
        let gangs: Vec<Gang> = users.iter().map(gang).collect();
        gangs.iter().try_for_each(|gang| self.count(gang.user, &gang.tasks()))?;
        let allowed = self.groups_allow(&gangs, &before);
        gangs.iter().try_for_each(|gang| self.count(gang.user, &-gang.tasks()))?;
        match allowed {
            Ok(()) => Ok(false),
            Err(work::Fault::False(_)) => Ok(true),
            Err(fault) => Err(fault),
        }
    }

    /// Returns an upper bound on the number of tasks of a gang of user `n` that could start now. The bound considers
    /// the servers, and each limit on classes separately.
    fn most_tasks(&self, n: usize) -> Checked<Rational> {
        let problem = self.queues.case.problem;
        let rule = &self.rules.list[n];
        let gang = self.queues.gang[n];
        let limits = Holdings::on_of_user(self.queues.case, &self.on, n)?;
        let of_class = |class: usize| -> Checked<Rational> {
            let used = self.free.range((class, 0)..=(class, u64::MAX));
            let (mut sum, mut known) = (Rational::new(), 0_u64);
            for (_, free) in used {
                sum += self.room(n, class, free)?;
                known += 1;
                if sum >= gang {
                    break;
                }
            }
            let empty = problem.classes[class].count.saturating_sub(known);
            if sum < gang && empty > 0 {
                sum += self.room(n, class, &capacity(problem, class))? * empty;
            }
            for at in &limits {
                work::spend(2)?;
                if let Some(d) = self.on[*at].takes(problem, n, class) {
                    let left = Rational::from(&self.on[*at].left / d).floor().max(Rational::new());
                    sum = sum.min(left);
                }
            }
            Ok(sum)
        };
        let is_open = |i: &usize| self.rules.closed.binary_search(i).is_err();
        let all: Vec<usize> = problem.classes_of(n).filter(is_open).collect();
        let mut most = Rational::new();
        let sets: Vec<&[usize]> = match rule.class_sets.len() {
            0 => vec![&all],
            _ => rule.class_sets.iter().map(Vec::as_slice).collect(),
        };
        for set in sets {
            let mut sum = Rational::new();
            for class in all.iter().filter(|i| set.binary_search(i).is_ok()) {
                sum += of_class(*class)?;
            }
            most = most.max(sum);
        }
        Ok(most)
    }

    /// Returns the number of tasks of a user, at most a gang, that fit on a server with this free capacity.
    fn room(&self, n: usize, class: usize, free: &[Rational]) -> Checked<Rational> {
        let demand = self.queues.case.problem.demand(n, class);
        work::spend(demand.len() + 1)?;
        let positive = || demand.iter().filter(|(_, d)| *d > 0);
        // On most servers of a full cluster no task fits. A comparison takes less time than a division.
        if positive().any(|(r, d)| free[*r] < *d) {
            return Ok(Rational::new());
        }
        let mut most =
            Rational::from(if self.rules.list[n].on_distinct_servers { 1 } else { self.queues.gang[n] });
        for (r, d) in positive() {
            most = most.min(Rational::from(&free[*r] / d).floor());
        }
        Ok(most)
    }
}

/// Returns the capacity by resource of one server of a class.
fn capacity(problem: &Problem, class: usize) -> Vector {
    let mut capacity = vec![Rational::new(); problem.resources.list.len()];
    problem.classes[class].capacity.iter().for_each(|(r, amount)| capacity[*r].clone_from(amount));
    capacity
}
