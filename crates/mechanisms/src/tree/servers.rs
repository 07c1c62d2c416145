//! Single servers that fill up, and the one on which a task goes: the first on which it fits, or the one that suits it
//! best.

use evenhand_exact::tree::ClassLimit;
use evenhand_problem::{Placement, Problem, Rational};

use crate::filling::draw::Draw;
use crate::filling::rule::Ties;
use evenhand_exact::tree::Forest;

/// What is left of the servers, class by class in the order of the problem. Servers that nothing was placed on are
/// alike, so that only the first of them in a class is held.
pub struct Servers<'p> {
    problem: &'p Problem,
    /// By class: what is left by resource, of all servers up to the first empty one.
    left: Vec<Vec<Vec<Rational>>>,
    /// By class and server: tasks by user, in the order in which they came.
    placed: Vec<Vec<Vec<(usize, u64)>>>,
    /// By user and class that it may run on: where it did not fit it never fits again.
    first: Vec<Vec<(usize, usize)>>,
    /// What groups may hold on classes, and what is left of it.
    limits: Vec<(&'p ClassLimit, Rational)>,
    /// By user: the limits that count its tasks.
    of_user: Vec<Vec<usize>>,
    /// Whether a task goes to the server that suits it best, and who is preferred among equals; else to the first.
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

    /// Holds one more server of a class, if there is one.
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

    /// Whether groups let one more task of user `n` run on a class.
    fn is_open(&self, n: usize, i: usize) -> bool {
        let demand = self.problem.demand(n, i);
        self.of_user[n].iter().all(|at| {
            let (limit, left) = &self.limits[*at];
            limit.servers.binary_search(&i).is_err() || demand[limit.resource] <= *left
        })
    }

    /// The first server on which a task of user `n` fits.
    fn find(&mut self, n: usize) -> Option<(usize, usize)> {
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

    /// The server whose rest suits a task of user `n` best, of those on which it fits.
    fn suits_best(&self, n: usize, ties: Ties, draw: &mut Draw) -> Option<(usize, usize)> {
        let mut least: Option<Rational> = None;
        // With how many servers are alike.
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
                best.push((i, j, self.alike(i, j)));
            }
        }
        let at = match ties {
            Ties::Low => 0,
            // In a class those that are held come from its end.
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

    /// How many servers one that is held stands for: the last one may stand for all that are empty.
    fn alike(&self, i: usize, j: usize) -> u64 {
        let is_last = j + 1 == self.left[i].len() && self.placed[i][j].is_empty();
        if is_last { self.problem.servers()[i].count() - j as u64 } else { 1 }
    }

    /// Servers that are held.
    pub fn held(&self) -> usize {
        self.left.iter().map(Vec::len).sum()
    }

    /// Whether tasks of user `n` that have no room now never have. A gang that goes where groups may hold only so much may
    /// find room when its first tasks go elsewhere.
    pub fn is_full_for_good(&self, n: usize, tasks: u64) -> bool {
        tasks == 1 || self.of_user[n].is_empty()
    }

    /// Whether so many tasks of user `n` fit, all of them, each where it goes.
    pub fn have_room(&mut self, n: usize, tasks: u64, draw: &Draw) -> bool {
        if tasks == 1 {
            return self.find(n).is_some();
        }
        if self.find(n).is_none() {
            return false;
        }
        if !self.of_user[n].is_empty() {
            // What groups may hold on classes depends on where the others of the gang go.
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
                wanted -= fit.unwrap_or_default() * self.alike(*i, j);
                if wanted <= 0 {
                    return true;
                }
            }
        }
        false
    }

    /// Places tasks of user `n`, one after the other, each where it goes; for as many as
    /// [`have_room`](Self::have_room) said fit.
    pub fn place(&mut self, n: usize, tasks: u64, draw: &mut Draw) {
        self.place_each(n, tasks, draw, &mut Vec::new());
    }

    /// Takes a task of user `n` off a server.
    fn take_back(&mut self, n: usize, i: usize, j: usize) {
        for (r, d) in self.problem.demand(n, i).entries() {
            self.left[i][j][*r] += d;
        }
        self.count(n, i, false);
        if let Some((_, tasks)) = self.placed[i][j].iter_mut().find(|(of, _)| *of == n) {
            *tasks -= 1;
        }
        self.placed[i][j].retain(|(_, tasks)| *tasks > 0);
        // Of the servers that nothing is placed on one is held.
        while self.left[i].len() > 1 && self.placed[i][self.left[i].len() - 2].is_empty() {
            self.left[i].pop();
            self.placed[i].pop();
        }
    }

    /// Counts a task on a class for the limits of groups there, or counts it no more.
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
                None => self.find(n),
                Some(ties) => self.suits_best(n, ties, draw),
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

    /// Tasks by user and class, and by single server.
    pub fn into_tasks(self) -> (Vec<Vec<(usize, Rational)>>, Vec<Placement>) {
        let mut totals: Vec<Vec<(usize, Rational)>> = vec![Vec::new(); self.problem.n_users()];
        let mut placements = Vec::new();
        // The highest indices first, where these are preferred.
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

/// The mismatch `H` (DRFH, equation 9) of a task and what is left of a server, both by resource as parts of what all
/// servers have together, over the first resource that the task asks for; `None` where nothing is left of that. Where servers
/// have one resource alone it is what is left (theory, section 5).
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
