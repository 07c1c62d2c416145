//! The servers of a cluster, with the tasks that may migrate to other servers.
//!
//! A *unit* is a set of tasks that migrate together: one task that started alone, or a whole gang with all gangs that
//! started with it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use evenhand_problem::{Allocation, Problem, Rational};

use super::Settings;
use super::amounts::{Scale, WholeCosts};
use crate::queues::gang;
use crate::servers::{Place, Servers};
use crate::starts::Standing;

/// The demand of a task: pairs of a resource and an amount, without amounts of 0.
pub type Demand = Rc<[(usize, i128)]>;

/// A start: each user that starts together with other users, with the servers of its tasks as positions in
/// [`Hosts::list`].
pub type Start = Vec<(usize, Vec<usize>)>;

/// A server with its free capacity, and with its tasks that may migrate.
#[derive(Debug, Clone)]
pub struct Host {
    /// The class and the index of the server.
    pub place: Place,
    /// The free capacity by resource. It is negative if the server is overfull.
    pub free: Vec<i128>,
    /// The users with tasks on this server that may migrate alone, in ascending order, each with the number
    /// of these tasks.
    pub singles: Vec<(usize, u64)>,
    /// The gangs with tasks on this server that may migrate as a whole, as positions in [`Hosts::groups`].
    pub groups: Vec<usize>,
}

/// A gang that migrates as a whole.
#[derive(Debug, Clone)]
pub struct Group {
    /// The starts of the gang.
    pub starts: Vec<Start>,
    /// The position of the gang in the snapshot, if the snapshot names it.
    pub name: Option<usize>,
    /// The cost of all tasks of the gang.
    pub cost: u64,
}

/// The servers and the units of a cluster.
#[derive(Debug, Clone)]
pub struct Hosts<'p> {
    /// The problem.
    pub problem: &'p Problem,
    /// All servers that the search considers.
    pub list: Vec<Host>,
    /// The positions of the servers of each class in the list.
    pub by_class: Vec<Vec<usize>>,
    /// The gangs that migrate as a whole.
    pub groups: Vec<Group>,
    /// The gangs of the snapshot with only one task, as positions in the snapshot. The key is the user and
    /// the server of the task.
    pub names: HashMap<(usize, usize), Vec<usize>>,
    /// True if the tasks of a user may migrate, indexed by user.
    pub may_migrate: Vec<bool>,
    /// True if the division of tasks into gangs is a guess, because the snapshot does not name the gangs.
    pub is_guessed: bool,
    /// The costs of tasks.
    pub costs: WholeCosts,
    /// The factors that make amounts whole numbers.
    pub scale: Scale,
    demands: HashMap<(usize, usize), Demand>,
}

impl<'p> Hosts<'p> {
    /// Reads the servers and the units of a cluster. Returns `None` if amounts or costs are too large for
    /// whole numbers.
    pub fn new(
        standing: &mut Standing<'p>,
        allocation: &Allocation,
        settings: &Settings,
        strict_below: Option<i64>,
    ) -> Option<Self> {
        let problem = standing.problem;
        let scale = Scale::new(problem)?;
        let costs = WholeCosts::new(&settings.costs(problem, standing.rules, allocation))?;
        let mut list = Vec::new();
        let mut by_class = vec![Vec::new(); problem.n_servers()];
        let mut at: HashMap<Place, usize> = HashMap::new();
        for (class, servers) in standing.servers.classes.iter().enumerate() {
            for server in servers {
                let place = Place { class, index: server.index };
                let free = server.free.iter().enumerate().map(|(r, amount)| scale.whole(r, amount));
                let free = free.collect::<Option<Vec<i128>>>()?;
                at.insert(place, list.len());
                by_class[class].push(list.len());
                list.push(Host { place, free, singles: Vec::new(), groups: Vec::new() });
            }
        }
        let n_users = problem.n_users();
        let mut hosts = Self {
            problem,
            list,
            by_class,
            groups: Vec::new(),
            names: HashMap::new(),
            may_migrate: vec![false; n_users],
            is_guessed: false,
            costs,
            scale,
            demands: HashMap::new(),
        };
        let running: BTreeSet<usize> = standing
            .servers
            .classes
            .iter()
            .flatten()
            .flat_map(|server| server.tasks.keys().copied())
            .collect();
        for n in running {
            hosts.may_migrate[n] = may_migrate(standing, settings, strict_below, n);
        }
        hosts.add_units(standing, &at);
        // The demands of all units are computed before the search, so that an amount that is too large ends the
        // computation here.
        for n in 0..n_users {
            let classes: Vec<usize> = problem.classes_of(n).collect();
            if hosts.may_migrate[n] && hosts.demands.len() < 1_000_000 {
                for i in classes {
                    hosts.try_demand(n, i)?;
                }
            }
        }
        Some(hosts)
    }

    /// Returns the same servers, with every running task able to migrate alone at a cost of 1. A lower bound
    /// for these servers is a lower bound for every choice of tasks that may migrate. The kernel can compute
    /// these bounds from the certificate alone.
    pub fn with_all_tasks(mut self, standing: &Standing<'p>) -> Self {
        self.groups.clear();
        self.costs = WholeCosts::new(&vec![Rational::from(1); self.problem.n_users()]).unwrap_or(self.costs);
        for host in &mut self.list {
            host.groups.clear();
            let tasks = standing.servers.at(host.place).into_iter().flat_map(|server| &server.tasks);
            host.singles = tasks.map(|(n, tasks)| (*n, tasks.numer().to_u64().unwrap_or(0))).collect();
        }
        self
    }

    /// Returns the demand of a task of a user on a class. Returns `None` if an amount is too large.
    pub fn try_demand(&mut self, n: usize, class: usize) -> Option<Demand> {
        if let Some(known) = self.demands.get(&(n, class)) {
            return Some(Rc::clone(known));
        }
        let entries = self.problem.demand(n, class).entries().iter().filter(|(_, d)| *d > 0);
        let whole = entries.map(|(r, d)| Some((*r, self.scale.whole(*r, d)?)));
        let demand: Demand = whole.collect::<Option<Vec<_>>>()?.into();
        self.demands.insert((n, class), Rc::clone(&demand));
        Some(demand)
    }

    /// Returns the demand of a task of a user on a class. An amount that is too large becomes a demand that no server
    /// can meet.
    pub fn demand(&mut self, n: usize, class: usize) -> Demand {
        self.try_demand(n, class).unwrap_or_else(|| Rc::from([(0, i128::MAX / 1_000_000_000)]))
    }

    /// Determines the tasks that may migrate alone, and the gangs that may migrate as a whole.
    fn add_units(&mut self, standing: &Standing<'p>, at: &HashMap<Place, usize>) {
        let rules = standing.rules;
        // The number of tasks outside of gangs of several tasks, by user and server.
        let mut left: BTreeMap<usize, BTreeMap<usize, u64>> = BTreeMap::new();
        for (class, servers) in standing.servers.classes.iter().enumerate() {
            for server in servers {
                let host = at[&Place { class, index: server.index }];
                for (n, tasks) in server.tasks.iter().filter(|(n, _)| self.may_migrate[**n]) {
                    let tasks = tasks.numer().to_u64().unwrap_or(0);
                    left.entry(*n).or_default().insert(host, tasks);
                }
            }
        }
        let users: Vec<usize> = left.keys().copied().collect();
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        for n in &users {
            for (name, tasks) in rules.gangs_of(*n) {
                if !seen.insert(name) {
                    continue;
                }
                let mut of: Vec<(usize, Vec<usize>)> = Vec::new();
                for (m, places) in tasks {
                    let each =
                        places.iter().flat_map(|(place, count)| (0..*count).map(|_| at.get(place).copied()));
                    let Some(each) = each.collect::<Option<Vec<usize>>>() else { continue };
                    of.push((*m, each));
                }
                let is_single = of.len() == 1 && of[0].1.len() == 1;
                // If a gang cannot migrate as a whole, none of its tasks migrates.
                let mut is_present = of.iter().all(|(m, _)| self.may_migrate[*m]);
                for (m, each) in &of {
                    for host in each {
                        let there =
                            left.get_mut(m).and_then(|hosts| hosts.get_mut(host)).filter(|count| **count > 0);
                        match there {
                            Some(count) if !(is_single && self.is_alone(standing, *m)) => *count -= 1,
                            Some(_) => self.names.entry((*m, *host)).or_default().push(name),
                            None => is_present = false,
                        }
                    }
                }
                let starts = if is_present { self.starts_of(standing, &of) } else { None };
                if let Some(starts) = starts.filter(|_| !(is_single && self.is_alone(standing, of[0].0))) {
                    self.add_group(starts, Some(name));
                }
            }
        }
        for n in users {
            if self.is_alone(standing, n) {
                for (host, count) in &left[&n] {
                    if *count > 0 {
                        self.list[*host].singles.push((n, *count));
                    }
                }
                continue;
            }
            let start = rules.start(n);
            if start[0] != n || start.iter().any(|m| !self.may_migrate[*m] || rules.has_gangs(*m)) {
                continue;
            }
            // If gangs have no names, tasks are assigned to gangs in the order of their servers. This is certain only
            // if there is a single gang.
            let each = |m: usize| -> Vec<usize> {
                let hosts = left.get(&m).into_iter().flatten();
                hosts.flat_map(|(host, count)| (0..*count).map(move |_| *host)).collect()
            };
            let all: Vec<(usize, Vec<usize>)> = start.iter().map(|m| (*m, each(*m))).collect();
            let Some(starts) = self.starts_of(standing, &all) else { continue };
            self.is_guessed |= starts.len() > 1;
            for start in starts {
                self.add_group(vec![start], None);
            }
        }
        self.list.iter_mut().for_each(|host| host.singles.sort_unstable());
    }

    /// Returns `true` if a task of a user starts alone.
    fn is_alone(&self, standing: &Standing<'_>, n: usize) -> bool {
        gang(self.problem, n) == 1 && standing.rules.start(n).len() == 1
    }

    /// Divides tasks into starts. Returns `None` if the tasks do not form whole starts.
    fn starts_of(&self, standing: &Standing<'_>, tasks: &[(usize, Vec<usize>)]) -> Option<Vec<Start>> {
        let mut starts = Vec::new();
        for (n, own) in tasks {
            let users = standing.rules.start(*n);
            let size = gang(self.problem, *n) as usize;
            if own.is_empty() || !own.len().is_multiple_of(size) {
                return None;
            }
            let count = own.len() / size;
            let mut parts = Vec::new();
            for m in users {
                let (_, of) = tasks.iter().find(|(k, _)| k == m)?;
                let size = gang(self.problem, *m) as usize;
                if of.len() != count * size {
                    return None;
                }
                parts.push((*m, size, of));
            }
            if users[0] != *n {
                continue;
            }
            for k in 0..count {
                let start = parts.iter().map(|(m, size, of)| (*m, of[k * size..(k + 1) * size].to_vec()));
                starts.push(start.collect());
            }
        }
        Some(starts)
    }

    fn add_group(&mut self, starts: Vec<Start>, name: Option<usize>) {
        let at = self.groups.len();
        let gangs = || starts.iter().flatten();
        let cost = gangs().map(|(m, of)| self.costs.list[*m] * of.len() as u64).sum();
        let on: BTreeSet<usize> = gangs().flat_map(|(_, of)| of.iter().copied()).collect();
        on.into_iter().for_each(|host| self.list[host].groups.push(at));
        self.groups.push(Group { starts, name, cost });
    }

    /// Returns the number of tasks of a gang on a server for each user with such tasks.
    pub fn portion(&self, group: usize, host: usize) -> Vec<(usize, u64)> {
        let mut portion: BTreeMap<usize, u64> = BTreeMap::new();
        for (m, hosts) in self.groups[group].starts.iter().flatten() {
            let count = hosts.iter().filter(|of| **of == host).count() as u64;
            if count > 0 {
                *portion.entry(*m).or_default() += count;
            }
        }
        portion.into_iter().collect()
    }
}

/// Returns `true` if the tasks of a user may migrate. The user must be neither pinned nor protected. The
/// snapshot must model all conditions on the servers of its tasks. No limit may keep a stopped gang of the
/// user from starting again.
fn may_migrate(
    standing: &mut Standing<'_>,
    settings: &Settings,
    strict_below: Option<i64>,
    n: usize,
) -> bool {
    let (problem, rules) = (standing.problem, standing.rules);
    let start = rules.start(n).to_vec();
    let is_free = start.iter().all(|m| {
        let pinned = problem.groups().member(*m).pinned.as_ref().is_some_and(|pinned| *pinned > 0);
        let is_above = strict_below.is_some_and(|most| rules.of(*m).priority > most);
        !pinned && !rules.of(*m).protected && !settings.pinned.contains(m) && !is_above
    });
    if !is_free || !rules.not_modelled(n).is_empty() {
        return false;
    }
    let change = |standing: &mut Standing<'_>, sign: i32| {
        for m in &start {
            standing.rooms.add(*m, &Rational::from(i64::from(sign) * gang(problem, *m) as i64));
        }
    };
    change(standing, -1);
    let totals = standing.rooms.totals();
    let has_gang = start.iter().all(|m| {
        let left = problem.users()[*m].tasks().map(|all| Rational::from(all - &totals[*m]));
        totals[*m] >= 0 && left.is_none_or(|left| left >= gang(problem, *m))
    });
    let amounts = rules.amounts(problem, n);
    let may = has_gang && standing.rooms.broken_bounds(problem.groups().member(n).group, &amounts).is_empty();
    change(standing, 1);
    may
}

/// Returns the same cluster with `spare` empty servers of each class, if the class has that many.
pub fn standing_with_empty_servers<'p>(
    standing: Standing<'p>,
    allocation: &Allocation,
    spare: u64,
) -> Standing<'p> {
    match &allocation.placements {
        Some(placements) => {
            let servers = Servers::new(standing.problem, placements, spare);
            Standing { servers, ..standing }
        }
        None => standing,
    }
}
