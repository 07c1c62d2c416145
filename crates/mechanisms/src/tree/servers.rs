//! The free capacity of single servers, and the choice of the server for a task: the first server or the best
//! server with enough free capacity.

use evenhand_exact::tree::ClassLimit;
use evenhand_problem::{Placement, Problem, Rational};

use crate::filling::draw::Draw;
use crate::filling::rule::Ties;
use evenhand_exact::tree::Forest;

/// The free capacity of the servers, class by class in the order of the problem. Empty servers of a class are
/// identical, so only the first of them is stored.
pub struct Servers<'p> {
    problem: &'p Problem,
    /// The free amounts of each server, indexed by class, server and resource. The servers of a class are
    /// stored up to the first empty server.
    left: Vec<Vec<Vec<Rational>>>,
    /// The pairs `(user, tasks)` of each server in the order in which the users arrived, indexed by class and
    /// server.
    placed: Vec<Vec<Vec<(usize, u64)>>>,
    /// For each user, each class on which it may run, with the first server of the class that can still have
    /// enough free capacity. Earlier servers never have enough free capacity for the user again.
    first: Vec<Vec<(usize, usize)>>,
    /// The limits of groups on server classes, with the amounts that are left.
    limits: Vec<(&'p ClassLimit, Rational)>,
    /// The limits that count the tasks of each user.
    of_user: Vec<Vec<usize>>,
    /// `Some` to choose the best server, with the preference among equal servers. `None` to choose the first server.
    best: Option<Ties>,
}

impl<'p> Servers<'p> {
    pub fn new(forest: &'p Forest<'p>, best: Option<Ties>) -> Self {
        let problem = forest.problem;
        let classes = problem.n_servers();
        let asks = |n: usize, r: usize| problem.classes_of(n).any(|i| !problem.demand(n, i)[r].is_zero());
        let limits = &forest.class_limits;
        let counts =
            |n: usize| limits.of(n).filter(move |(_, limit)| asks(n, limit.resource)).map(|(at, _)| at);
        let first = |n: usize| problem.classes_of(n).map(|i| (i, 0)).collect();
        let mut servers = Self {
            problem,
            left: vec![Vec::new(); classes],
            placed: vec![Vec::new(); classes],
            first: (0..problem.n_users()).map(first).collect(),
            limits: limits.list.iter().map(|limit| (limit, limit.most.clone())).collect(),
            of_user: (0..problem.n_users()).map(|n| counts(n).collect()).collect(),
            best,
        };
        (0..classes).for_each(|i| servers.open(i));
        servers
    }

    /// Stores one more server of a class, if the class has one.
    fn open(&mut self, i: usize) {
        let class = &self.problem.servers()[i];
        if (self.left[i].len() as u64) < class.count() {
            let capacity = (0..self.problem.n_resources()).map(|r| class.capacity()[r].clone());
            self.left[i].push(capacity.collect());
            self.placed[i].push(Vec::new());
        }
    }

    fn fits(&self, n: usize, i: usize, j: usize) -> bool {
        self.problem.demand(n, i).entries().iter().all(|(r, d)| *d <= self.left[i][j][*r])
    }

    /// Returns whether the limits of groups allow one more task of user `n` on a class.
    fn is_open(&self, n: usize, i: usize) -> bool {
        let demand = self.problem.demand(n, i);
        self.of_user[n].iter().all(|at| {
            let (limit, left) = &self.limits[*at];
            limit.servers.binary_search(&i).is_err() || demand[limit.resource] <= *left
        })
    }

    /// Returns the first server with enough free capacity for a task of user `n`.
    fn first_fit(&mut self, n: usize) -> Option<(usize, usize)> {
        let mut classes = std::mem::take(&mut self.first[n]);
        let mut found = None;
        for (i, from) in &mut classes {
            if !self.is_open(n, *i) {
                continue;
            }
            while *from < self.left[*i].len() && !self.fits(n, *i, *from) {
                *from += 1;
            }
            if *from < self.left[*i].len() {
                found = Some((*i, *from));
                break;
            }
        }
        self.first[n] = classes;
        found
    }

    /// Returns the server whose free capacity matches a task of user `n` best.
    fn best_fit(&self, n: usize, ties: Ties, draw: &mut Draw) -> Option<(usize, usize)> {
        let mut least: Option<Rational> = None;
        // The best servers, each with the number of identical servers that it represents.
        let mut best: Vec<(usize, usize, u64)> = Vec::new();
        for i in self.problem.classes_of(n).filter(|i| self.is_open(n, *i)) {
            let demand = self.problem.demand(n, i).to_vec();
            for (j, left) in self.left[i].iter().enumerate().filter(|(j, _)| self.fits(n, i, *j)) {
                let Some(of) = mismatch(&demand, left, self.problem.total_capacity()) else { continue };
                if least.as_ref().is_none_or(|least| of < *least) {
                    best.clear();
                    least = Some(of);
                } else if least.as_ref() != Some(&of) {
                    continue;
                }
                best.push((i, j, self.n_represented(i, j)));
            }
        }
        let at = match ties {
            Ties::Low => 0,
            // `into_tasks` numbers the servers of a class from its end, so the first stored server has the
            // highest index.
            Ties::High => best.iter().position(|(i, ..)| Some(*i) == best.last().map(|of| of.0))?,
            Ties::Random => {
                let mut drawn = draw.below(best.iter().map(|(.., alike)| alike).sum());
                best.iter().position(|(.., alike)| {
                    let is_it = drawn < *alike;
                    drawn = drawn.saturating_sub(*alike);
                    is_it
                })?
            }
        };
        best.get(at).map(|(i, j, _)| (*i, *j))
    }

    /// Returns how many servers a stored server represents. The last stored server of a class may represent
    /// all empty servers.
    fn n_represented(&self, i: usize, j: usize) -> u64 {
        let is_last = j + 1 == self.left[i].len() && self.placed[i][j].is_empty();
        if is_last { self.problem.servers()[i].count() - j as u64 } else { 1 }
    }

    /// Returns the number of stored servers.
    pub fn n_stored(&self) -> usize {
        self.left.iter().map(Vec::len).sum()
    }

    /// Returns whether tasks of user `n` that do not fit now will never fit. The answer is always false for a
    /// gang under limits on classes, since the gang can fit if its first tasks go to other servers.
    pub fn is_full_for_good(&self, n: usize, tasks: u64) -> bool {
        tasks == 1 || self.of_user[n].is_empty()
    }

    /// Returns whether all of `tasks` tasks of user `n` fit, each on the server that would be chosen for it.
    pub fn have_room(&mut self, n: usize, tasks: u64, draw: &Draw) -> bool {
        if tasks == 1 {
            return self.first_fit(n).is_some();
        }
        if self.first_fit(n).is_none() {
            return false;
        }
        if !self.of_user[n].is_empty() {
            // The remaining amounts of the limits depend on where the first tasks of the gang go, so the gang is
            // placed on trial.
            let before = self.first[n].clone();
            let mut gone = Vec::new();
            self.place_each(n, tasks, &mut draw.clone(), &mut gone);
            let fits = gone.len() as u64 == tasks;
            gone.into_iter().rev().for_each(|(i, j)| self.take_back(n, i, j));
            self.first[n] = before;
            return fits;
        }
        let mut wanted = Rational::from(tasks);
        for (i, from) in &self.first[n] {
            for (j, left) in self.left[*i].iter().enumerate().skip(*from) {
                let demand = self.problem.demand(n, *i).entries();
                let fit = demand.iter().map(|(r, d)| Rational::from(&left[*r] / d).floor()).min();
                wanted -= fit.unwrap_or_default() * self.n_represented(*i, j);
                if wanted <= 0 {
                    return true;
                }
            }
        }
        false
    }

    /// Places tasks of user `n` one after another, each on the server chosen for it. [`have_room`](Self::have_room)
    /// must have returned `true`.
    pub fn place(&mut self, n: usize, tasks: u64, draw: &mut Draw) {
        self.place_each(n, tasks, draw, &mut Vec::new());
    }

    /// Removes a task of user `n` from a server.
    fn take_back(&mut self, n: usize, i: usize, j: usize) {
        for (r, d) in self.problem.demand(n, i).entries() {
            self.left[i][j][*r] += d;
        }
        self.count(n, i, false);
        if let Some((_, tasks)) = self.placed[i][j].iter_mut().find(|(of, _)| *of == n) {
            *tasks -= 1;
        }
        self.placed[i][j].retain(|(_, tasks)| *tasks > 0);
        // Only the first empty server of a class is stored.
        while self.left[i].len() > 1 && self.placed[i][self.left[i].len() - 2].is_empty() {
            self.left[i].pop();
            self.placed[i].pop();
        }
    }

    /// Counts a task on a class for the limits of groups if it `runs`, or removes it from the count.
    fn count(&mut self, n: usize, i: usize, runs: bool) {
        let demand = self.problem.demand(n, i);
        for at in &self.of_user[n] {
            let (limit, left) = &mut self.limits[*at];
            if limit.servers.binary_search(&i).is_err() {
                continue;
            }
            if runs {
                *left -= &demand[limit.resource];
            } else {
                *left += &demand[limit.resource];
            }
        }
    }

    fn place_each(&mut self, n: usize, tasks: u64, draw: &mut Draw, gone: &mut Vec<(usize, usize)>) {
        for _ in 0..tasks {
            let to = match self.best {
                None => self.first_fit(n),
                Some(ties) => self.best_fit(n, ties, draw),
            };
            let Some((i, j)) = to else { return };
            gone.push((i, j));
            for (r, d) in self.problem.demand(n, i).entries() {
                self.left[i][j][*r] -= d;
            }
            self.count(n, i, true);
            let was_empty = self.placed[i][j].is_empty();
            match self.placed[i][j].iter_mut().find(|(of, _)| *of == n) {
                Some((_, tasks)) => *tasks += 1,
                None => self.placed[i][j].push((n, 1)),
            }
            if was_empty && j + 1 == self.left[i].len() {
                self.open(i);
            }
        }
    }

    /// Returns the tasks of each user on each class, and the tasks on single servers.
    pub fn into_tasks(self) -> (Vec<Vec<(usize, Rational)>>, Vec<Placement>) {
        let mut totals: Vec<Vec<(usize, Rational)>> = vec![Vec::new(); self.problem.n_users()];
        let mut placements = Vec::new();
        // With a preference for high indices, servers are numbered from the end of the class.
        let from_the_end = self.best == Some(Ties::High);
        for (i, servers) in self.placed.into_iter().enumerate() {
            for (index, mut tasks) in servers.into_iter().enumerate().filter(|(_, tasks)| !tasks.is_empty()) {
                tasks.sort_unstable();
                for (n, tasks) in &tasks {
                    match totals[*n].last_mut() {
                        Some((of, sum)) if *of == i => *sum += *tasks,
                        _ => totals[*n].push((i, Rational::from(*tasks))),
                    }
                }
                let tasks = tasks.into_iter().map(|(n, tasks)| (n, Rational::from(tasks))).collect();
                let index = index as u64;
                let last = self.problem.servers()[i].count() - 1;
                let index = if from_the_end { last - index } else { index };
                placements.push(Placement { server: i, index, tasks });
            }
        }
        placements.sort_by_key(|placement| (placement.server, placement.index));
        (totals, placements)
    }
}

/// Returns the mismatch `H` (DRFH, equation 9) of a task and the free capacity of a server.
///
/// The demand and the free capacity are fractions of the total capacity of each resource, divided by the
/// fraction of the first resource that the task demands. Returns `None` if nothing is left of this first
/// resource. If servers have only one resource, the result is the free amount (docs/theory.md, section 5).
fn mismatch(demand: &[Rational], left: &[Rational], total: &[Rational]) -> Option<Rational> {
    let first = demand.iter().position(|d| *d > 0)?;
    if left[first].is_zero() || total[first].is_zero() {
        return None;
    }
    let over_first = |amounts: &[Rational], r: usize| {
        Rational::from(&amounts[r] / &total[r]) * &total[first] / &amounts[first]
    };
    let there = (0..total.len()).filter(|r| !total[*r].is_zero());
    if there.clone().count() == 1 {
        return Some(left[first].clone());
    }
    Some(there.map(|r| (over_first(demand, r) - over_first(left, r)).abs()).sum())
}
