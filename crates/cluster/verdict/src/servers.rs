//! Single servers, with their free capacity and the tasks that run on them.

use std::collections::BTreeMap;

use evenhand_problem::snapshot::Rounded;
use evenhand_problem::{Allocation, Placement, Problem, Rational};

use crate::queues::Vector;

/// The largest number of empty servers of a class that are considered.
const MOST_SPARE: u64 = 10_000;

/// One server with its free capacity and its tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The position of the server in its class.
    pub index: u64,
    /// The free capacity by resource. It is negative if the tasks of the server demand more than the server
    /// has.
    pub free: Vector,
    /// The number of tasks on the server by user. Users without tasks on the server are left out.
    pub tasks: BTreeMap<usize, Rational>,
}

/// The servers on which tasks run, and some empty servers of each class. The number of empty servers suffices
/// for any start, if the class has that many.
#[derive(Debug, Clone)]
pub struct Servers<'p> {
    problem: &'p Problem,
    /// The number of empty servers of a class that are listed. This number suffices for the tasks of any
    /// start.
    spare: usize,
    /// The capacity that single servers have beyond the capacity of their class.
    beyond: Vec<Rounded>,
    /// The servers of each class, in ascending order of their indices.
    pub classes: Vec<Vec<Server>>,
}

/// A single server, by its class and its index in the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The class.
    pub class: usize,
    /// The position of the server within the class.
    pub index: u64,
}

impl<'p> Servers<'p> {
    /// Returns the servers of an allocation with placements. At most `spare` empty servers of each class are listed.
    #[must_use]
    pub fn new(problem: &'p Problem, placements: &[Placement], spare: u64) -> Self {
        Self::unrounded(problem, placements, spare, Vec::new())
    }

    /// Returns the same servers as [`Servers::new`], with the capacity that single servers have beyond the capacity of
    /// their class.
    #[must_use]
    pub fn unrounded(
        problem: &'p Problem,
        placements: &[Placement],
        spare: u64,
        beyond: Vec<Rounded>,
    ) -> Self {
        let spare = spare.min(MOST_SPARE) as usize;
        let mut servers = Self { problem, spare, beyond, classes: vec![Vec::new(); problem.n_servers()] };
        for placement in placements {
            let mut server = servers.empty(placement.server, placement.index);
            for (n, x) in placement.tasks.iter().filter(|(_, x)| !x.is_zero()) {
                server.add(problem, placement.server, *n, x);
            }
            servers.classes[placement.server].push(server);
        }
        for i in 0..problem.n_servers() {
            servers.classes[i].sort_by_key(|server| server.index);
            servers.open(i);
        }
        servers
    }

    /// Returns an empty server.
    fn empty(&self, class: usize, index: u64) -> Server {
        let mut free = self.problem.servers()[class].capacity().to_vec();
        for of in self.beyond.iter().filter(|of| of.server == class) {
            free[of.resource] += of.beyond(index).unwrap_or_default();
        }
        Server { index, free, tasks: BTreeMap::new() }
    }

    /// Lists further empty servers of a class until `spare` of its servers are empty.
    fn open(&mut self, class: usize) {
        let servers = &self.classes[class];
        let empty = servers.iter().filter(|server| server.tasks.is_empty()).count();
        let count = self.problem.servers()[class].count();
        // The servers of a rounded class have different capacities, so up to `MOST_SPARE` of its empty servers are
        // listed.
        let is_rounded = self.beyond.iter().any(|of| of.server == class);
        let spare = if is_rounded { MOST_SPARE as usize } else { self.spare };
        let missing = spare.saturating_sub(empty) as u64;
        let missing = missing.min(count - (servers.len() as u64).min(count));
        if missing == 0 {
            return;
        }
        // The new indices are the least indices that are not in the list yet.
        let mut known = servers.iter().map(|server| server.index).peekable();
        let is_new = |index: &u64| known.next_if_eq(index).is_none();
        let new: Vec<u64> = (0..count).filter(is_new).take(missing as usize).collect();
        let new: Vec<Server> = new.into_iter().map(|index| self.empty(class, index)).collect();
        self.classes[class].extend(new);
        self.classes[class].sort_by_key(|server| server.index);
    }

    /// Returns the number of empty servers of a class that are listed.
    #[must_use]
    pub(crate) fn spare(&self) -> u64 {
        self.spare as u64
    }

    /// Adds `count` new empty servers to a class.
    pub(crate) fn grow(&mut self, class: usize, count: u64) {
        let first = self.problem.servers()[class].count();
        let new: Vec<Server> = (0..count).map(|k| self.empty(class, first.saturating_add(k))).collect();
        self.classes[class].extend(new);
    }

    /// Sets the free capacity of one resource on all servers.
    pub(crate) fn set_free(&mut self, r: usize, amount: &Rational) {
        self.classes.iter_mut().flatten().for_each(|server| server.free[r].clone_from(amount));
    }

    /// Returns the sum of the free capacity of a resource on all servers of a class. Overfull servers count as full.
    #[must_use]
    pub(crate) fn free_of_class(&self, class: usize, r: usize) -> Rational {
        let of = &self.problem.servers()[class];
        let listed = &self.classes[class];
        let free = listed.iter().map(|server| &server.free[r]).filter(|free| **free > 0);
        let others = of.count().saturating_sub(listed.len() as u64);
        free.sum::<Rational>() + Rational::from(&of.capacity()[r] * others)
    }

    /// Returns the servers on which tasks of a user run.
    pub fn places_of(&self, n: usize) -> impl Iterator<Item = Place> + '_ {
        let all = self.classes.iter().enumerate();
        let all = all.flat_map(|(class, servers)| servers.iter().map(move |server| (class, server)));
        let runs = move |(_, server): &(usize, &Server)| server.tasks.contains_key(&n);
        all.filter(runs).map(|(class, server)| Place { class, index: server.index })
    }

    /// Returns a server. Returns `None` if the server is not in the list.
    #[must_use]
    pub fn at(&self, place: Place) -> Option<&Server> {
        let servers = &self.classes[place.class];
        let at = servers.binary_search_by_key(&place.index, |server| server.index).ok()?;
        Some(&servers[at])
    }

    /// Adds tasks of a user on a server. A negative number removes tasks.
    pub fn add(&mut self, place: Place, n: usize, tasks: &Rational) {
        let problem = self.problem;
        let servers = &mut self.classes[place.class];
        if let Ok(at) = servers.binary_search_by_key(&place.index, |server| server.index) {
            servers[at].add(problem, place.class, n, tasks);
        }
        self.open(place.class);
    }

    /// Returns the placements of all servers with tasks, in ascending order of class and index.
    #[must_use]
    pub fn placements(&self) -> Vec<Placement> {
        let all = self.classes.iter().enumerate();
        let of_class = |(class, servers): (usize, &'_ Vec<Server>)| {
            let used = servers.iter().filter(|server| !server.tasks.is_empty());
            let placement = |server: &Server| Placement {
                server: class,
                index: server.index,
                tasks: server.tasks.iter().map(|(n, x)| (*n, x.clone())).collect(),
            };
            used.map(placement).collect::<Vec<_>>()
        };
        all.flat_map(of_class).collect()
    }
}

impl Server {
    fn add(&mut self, problem: &Problem, class: usize, n: usize, tasks: &Rational) {
        for (r, d) in problem.demand(n, class).entries() {
            self.free[*r] -= Rational::from(d * tasks);
        }
        let total = self.tasks.entry(n).or_default();
        *total += tasks;
        if total.is_zero() {
            self.tasks.remove(&n);
        }
    }

    /// Returns `true` if the free capacity suffices for one task of a user.
    #[must_use]
    pub fn fits(&self, problem: &Problem, class: usize, n: usize) -> bool {
        problem.demand(n, class).entries().iter().all(|(r, d)| self.free[*r] >= *d)
    }

    /// Returns the number of tasks of a user for which the free capacity suffices. The number is at most
    /// `most`.
    #[must_use]
    pub fn room(&self, problem: &Problem, class: usize, n: usize, most: u64) -> u64 {
        let room = |(r, d): &(usize, Rational)| -> u64 {
            if self.free[*r] < *d {
                return 0;
            }
            let whole = Rational::from(&self.free[*r] / d).floor();
            whole.numer().to_u64().unwrap_or(u64::MAX)
        };
        let rooms = problem.demand(n, class).entries().iter().map(room);
        rooms.min().unwrap_or(0).min(most)
    }
}

/// Returns an allocation with other placements. The numbers of tasks by class are the sums of these
/// placements.
#[must_use]
pub fn placed(allocation: &Allocation, placements: Vec<Placement>) -> Allocation {
    let mut tasks: Vec<BTreeMap<usize, Rational>> = vec![BTreeMap::new(); allocation.tasks.len()];
    for placement in &placements {
        for (n, x) in &placement.tasks {
            *tasks[*n].entry(placement.server).or_default() += x;
        }
    }
    let tasks = tasks.into_iter().map(|tasks| tasks.into_iter().collect()).collect();
    Allocation { tasks, placements: Some(placements), ..allocation.clone() }
}
