//! The free capacity of single servers as tasks start and finish, and the servers that have enough of it for
//! one more task of each user.

use evenhand_budget::charge;
use evenhand_problem::{Problem, Quantities, Rational};

/// The servers, class by class in the order of the problem.
pub struct Rooms<'p> {
    problem: &'p Problem,
    /// The class of each server.
    class: Vec<usize>,
    /// The free amounts of each server, indexed by server and then by resource.
    left: Vec<Vec<Rational>>,
    /// `true` if the user may run on the class, indexed by user and then by class.
    may_use: Vec<Vec<bool>>,
    /// The servers with enough free capacity for one more task, for each user.
    fitting: Vec<Bits>,
}

impl<'p> Rooms<'p> {
    /// Creates empty servers.
    pub fn new(problem: &'p Problem) -> Self {
        let (mut class, mut left) = (Vec::new(), Vec::new());
        for (i, server) in problem.servers().iter().enumerate() {
            let capacity: Vec<Rational> =
                (0..problem.n_resources()).map(|r| server.capacity()[r].clone()).collect();
            for _ in 0..server.count() {
                class.push(i);
                left.push(capacity.clone());
            }
        }
        let may_use = |n: usize| {
            let mut may = vec![false; problem.n_servers()];
            problem.classes_of(n).for_each(|i| may[i] = true);
            may
        };
        let mut rooms = Self {
            fitting: vec![Bits::new(class.len()); problem.n_users()],
            may_use: (0..problem.n_users()).map(may_use).collect(),
            problem,
            class,
            left,
        };
        for n in 0..problem.n_users() {
            // All servers of a class are identical, so a task fits on all of them or on none.
            let (mut j, mut fits) = (0, false);
            while let Some(class) = rooms.class.get(j) {
                if j == 0 || rooms.class[j - 1] != *class {
                    fits = rooms.fits(n, j);
                }
                if fits {
                    rooms.fitting[n].insert(j);
                }
                j += 1;
            }
        }
        rooms
    }

    /// Returns the number of single servers.
    pub fn n_servers(&self) -> usize {
        self.class.len()
    }

    /// Returns whether one more task of user `n` fits on server `j`.
    pub fn fits(&self, n: usize, j: usize) -> bool {
        let demand = self.problem.demand(n, self.class[j]).entries();
        self.may_use[n][self.class[j]] && demand.iter().all(|(r, d)| *d <= self.left[j][*r])
    }

    /// Returns how many more tasks of user `n` fit on server `j`.
    pub fn room_on(&self, n: usize, j: usize) -> u64 {
        if !self.may_use[n][self.class[j]] {
            return 0;
        }
        let demand = self.problem.demand(n, self.class[j]).entries();
        let fit = demand.iter().map(|(r, d)| Rational::from(&self.left[j][*r] / d).floor()).min();
        // No user has more tasks than `u64` can count.
        fit.map_or(0, |fit| fit.numer().to_u64().unwrap_or(u64::MAX))
    }

    /// Returns whether all of `tasks` tasks of user `n` fit on the servers.
    pub fn have_room(&self, n: usize, tasks: u64) -> bool {
        /// The budget steps for one resource of a server.
        const ROOM: u64 = 40;
        let mut wanted = tasks;
        for j in self.fitting[n].iter() {
            if tasks == 1 {
                return true;
            }
            let demand = self.problem.demand(n, self.class[j]).entries().len();
            charge(ROOM * demand as u64, "room for gangs");
            wanted = wanted.saturating_sub(self.room_on(n, j));
            if wanted == 0 {
                return true;
            }
        }
        false
    }

    /// Places tasks of user `n`, each on the first server where it fits, until no further task fits. Returns the
    /// servers with the number of tasks on each.
    pub fn place(&mut self, n: usize, tasks: u64) -> Vec<(u32, u64)> {
        let (mut servers, mut wanted) = (Vec::new(), tasks);
        while wanted > 0 {
            let first = self.fitting[n].iter().next();
            let Some(j) = first else { break };
            // A server in `fitting` has enough free capacity for at least one task.
            let more = if wanted == 1 { 1 } else { self.room_on(n, j).clamp(1, wanted) };
            self.take(n, j, more);
            servers.push((j as u32, more));
            wanted -= more;
        }
        servers
    }

    /// Subtracts the demand of tasks from the free capacity of a server if they start, or adds it if they end.
    fn add(&mut self, n: usize, j: usize, tasks: u64, comes: bool) {
        for (r, d) in self.problem.demand(n, self.class[j]).entries() {
            let left = &mut self.left[j][*r];
            match (tasks, comes) {
                (1, true) => *left -= d,
                (1, false) => *left += d,
                (tasks, true) => *left -= Rational::from(d * tasks),
                (tasks, false) => *left += Rational::from(d * tasks),
            }
        }
    }

    /// Starts tasks of user `n` on server `j`, which must have enough free capacity for them.
    pub fn take(&mut self, n: usize, j: usize, tasks: u64) {
        self.add(n, j, tasks, true);
        for m in 0..self.fitting.len() {
            if self.fitting[m].has(j) {
                self.update_fitting(m, j);
            }
        }
    }

    /// Starts tasks of user `m` on server `j`, which must have enough free capacity for them. Until
    /// [`Rooms::settle`] is called, only the fitting servers of user `n` are up to date.
    pub fn take_for(&mut self, n: usize, m: usize, j: usize, tasks: u64) {
        self.add(m, j, tasks, true);
        self.update_fitting(n, j);
    }

    /// Ends tasks of user `m` on server `j`. Until [`Rooms::settle`] is called, only the fitting servers of
    /// user `n` are up to date.
    pub fn give_back_for(&mut self, n: usize, m: usize, j: usize, tasks: u64) {
        self.add(m, j, tasks, false);
        self.update_fitting(n, j);
    }

    /// Updates the fitting servers of all users for the free capacity of server `j`.
    pub fn settle(&mut self, j: usize) {
        (0..self.fitting.len()).for_each(|n| self.update_fitting(n, j));
    }

    /// Updates whether server `j` has enough free capacity for one more task of user `n`.
    fn update_fitting(&mut self, n: usize, j: usize) {
        match (self.fitting[n].has(j), self.fits(n, j)) {
            (false, true) => self.fitting[n].insert(j),
            (true, false) => self.fitting[n].remove(j),
            _ => {}
        }
    }

    /// Returns the capacity of server `j`.
    pub fn capacity(&self, j: usize) -> &Quantities {
        self.problem.servers()[self.class[j]].capacity()
    }

    /// Opens or closes server `j`. No task may run on the server at that time. A closed server has no free
    /// capacity.
    pub fn set_there(&mut self, j: usize, is_there: bool) {
        let capacity = self.problem.servers()[self.class[j]].capacity();
        for (r, left) in self.left[j].iter_mut().enumerate() {
            *left = if is_there { capacity[r].clone() } else { Rational::new() };
        }
        self.settle(j);
    }

    /// Ends tasks of user `n` on server `j`.
    pub fn give_back(&mut self, n: usize, j: usize, tasks: u64) {
        self.add(n, j, tasks, false);
        for m in 0..self.fitting.len() {
            if !self.fitting[m].has(j) {
                self.update_fitting(m, j);
            }
        }
    }
}

/// The number of bits in a word.
const WORD: usize = u64::BITS as usize;

/// A set of servers: one bit for each server, and a second level with one bit for each word that is not 0.
#[derive(Clone)]
struct Bits {
    words: Vec<u64>,
    there: Vec<u64>,
}

impl Bits {
    fn new(len: usize) -> Self {
        let words = len.div_ceil(WORD);
        Self { words: vec![0; words], there: vec![0; words.div_ceil(WORD)] }
    }

    fn has(&self, j: usize) -> bool {
        self.words[j / WORD] >> (j % WORD) & 1 == 1
    }

    fn insert(&mut self, j: usize) {
        let word = j / WORD;
        self.words[word] |= 1 << (j % WORD);
        self.there[word / WORD] |= 1 << (word % WORD);
    }

    fn remove(&mut self, j: usize) {
        let word = j / WORD;
        self.words[word] &= !(1 << (j % WORD));
        if self.words[word] == 0 {
            self.there[word / WORD] &= !(1 << (word % WORD));
        }
    }

    /// Iterates over the set in ascending order.
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.there.iter().enumerate().flat_map(|(at, bits)| ones(*bits, at));
        words.flat_map(|word| ones(self.words[word], word))
    }
}

/// Iterates over the positions of the bits that are set in a word.
fn ones(mut bits: u64, word: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(word * WORD + at)
    })
}
