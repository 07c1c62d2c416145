//! Single servers that fill up, and the first of them on which a task fits.

use evenhand_problem::{Placement, Problem, Rational};

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
}

impl<'p> Servers<'p> {
    pub fn new(problem: &'p Problem) -> Self {
        let classes = problem.n_servers();
        let first = |n: usize| problem.classes_of(n).map(|i| (i, 0)).collect();
        let mut servers = Self {
            problem,
            left: vec![Vec::new(); classes],
            placed: vec![Vec::new(); classes],
            first: (0..problem.n_users()).map(first).collect(),
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
        let demand = self.problem.users()[n].base_demand().entries();
        demand.iter().all(|(r, d)| *d <= self.left[i][j][*r])
    }

    /// The first server on which a task of user `n` fits.
    fn find(&mut self, n: usize) -> Option<(usize, usize)> {
        let mut classes = std::mem::take(&mut self.first[n]);
        let mut found = None;
        for (i, from) in &mut classes {
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

    /// Whether so many tasks of user `n` fit, all of them.
    pub fn have_room(&mut self, n: usize, tasks: u64) -> bool {
        if tasks == 1 {
            return self.find(n).is_some();
        }
        if self.find(n).is_none() {
            return false;
        }
        let mut wanted = Rational::from(tasks);
        for (i, from) in &self.first[n] {
            let count = self.problem.servers()[*i].count();
            for (j, left) in self.left[*i].iter().enumerate().skip(*from) {
                let demand = self.problem.users()[n].base_demand().entries();
                let fit = demand.iter().map(|(r, d)| Rational::from(&left[*r] / d).floor()).min();
                // The last one that is held may stand for all that are empty.
                let is_last = j + 1 == self.left[*i].len() && self.placed[*i][j].is_empty();
                let alike = if is_last { count - j as u64 } else { 1 };
                wanted -= fit.unwrap_or_default() * alike;
                if wanted <= 0 {
                    return true;
                }
            }
        }
        false
    }

    /// Places tasks of user `n`, one after the other, each on the first server on which it fits; for as many as
    /// [`have_room`](Self::have_room) said fit.
    pub fn place(&mut self, n: usize, tasks: u64) {
        for _ in 0..tasks {
            let Some((i, j)) = self.find(n) else { return };
            for (r, d) in self.problem.users()[n].base_demand().entries() {
                self.left[i][j][*r] -= d;
            }
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
                placements.push(Placement { server: i, index: index as u64, tasks });
            }
        }
        (totals, placements)
    }
}
