//! Whole tasks that arrive and finish, served by hierarchical filling with preemption. Every decision is computed
//! anew from the running tasks.

use evenhand_problem::{Problem, Rational};

use super::tree::{Key, Node, Tree, puts_first};

/// A running gang.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The number of the run, in the order of the starts.
    pub number: u32,
    /// The user of the gang.
    pub user: usize,
    /// The servers of the tasks.
    pub servers: Vec<usize>,
}

/// The runs that may be stopped for other runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stops {
    /// No run.
    Never,
    /// Runs beyond a guarantee may be stopped, for users below a guarantee.
    Guarantees,
    /// Any run may be stopped, as long as the keys stay in order.
    Shares,
}

/// The order in which runs are stopped: by the depth of the node, the key beyond the guarantee, and the
/// number of the run.
type Place = (std::cmp::Reverse<usize>, Key, u32);

/// The running and the waiting tasks.
pub struct Queues<'p> {
    tree: Tree<'p>,
    /// The problem with all servers that are ever present.
    places: &'p Problem,
    /// True if a single server is present, indexed by server.
    is_there: Vec<bool>,
    stops: Stops,
    /// True if the last of equal nodes comes first.
    last: bool,
    /// The class of each single server.
    classes: Vec<usize>,
    /// The number of waiting tasks of each user.
    pub waiting: Vec<u64>,
    /// The running gangs.
    pub runs: Vec<Run>,
    next: u32,
}

impl<'p> Queues<'p> {
    /// Creates queues without running tasks.
    #[must_use]
    pub fn new(problem: &'p Problem, stops: Stops, last: bool) -> Self {
        Self::among(problem, problem, stops, last)
    }

    /// Creates queues whose servers may be added and removed. Shares are fractions of `whole`.
    #[must_use]
    pub fn among(problem: &'p Problem, whole: &'p Problem, stops: Stops, last: bool) -> Self {
        let classes = problem.servers().iter().enumerate();
        let classes = classes.flat_map(|(i, class)| std::iter::repeat_n(i, class.count() as usize));
        let classes: Vec<usize> = classes.collect();
        Self {
            tree: Tree {
                problem: whole,
                guarantees_first: puts_first(whole),
                bounds: None,
                there: Some(problem.total_capacity().to_vec()),
            },
            places: problem,
            is_there: vec![true; classes.len()],
            stops,
            last,
            classes,
            waiting: vec![0; problem.n_users()],
            runs: Vec::new(),
            next: 0,
        }
    }

    /// Marks a server as present or absent. No task may run on the server.
    pub fn set_there(&mut self, j: usize, is_there: bool) {
        self.is_there[j] = is_there;
        let mut there = vec![Rational::new(); self.places.n_resources()];
        for (class, _) in self.classes.iter().zip(&self.is_there).filter(|(_, is_there)| **is_there) {
            let capacity = self.places.servers()[*class].capacity();
            there.iter_mut().enumerate().for_each(|(r, there)| *there += &capacity[r]);
        }
        self.tree.there = Some(there);
    }

    /// Serves users until no user can be served. Returns the user and the server of every task that starts,
    /// and the numbers of the runs that are stopped.
    pub fn fill(&mut self) -> (Vec<(u32, u32)>, Vec<u32>) {
        let fresh = self.next;
        let (mut placed, mut stopped) = (Vec::new(), Vec::new());
        loop {
            let wants =
                |n: &usize| self.waiting[*n] >= self.tree.gang(*n) && self.servers_for(&[], *n).is_some();
            let waiting: Vec<usize> = (0..self.waiting.len()).filter(wants).collect();
            let able = waiting.iter().copied().filter(|n| self.can_start(&self.runs, *n));
            let able: Vec<usize> = able.collect();
            if !able.is_empty() {
                let n = self.tree.turn(&self.tasks(&self.runs), Node::Root, &able, self.last);
                self.start(n, &mut placed);
                continue;
            }
            let may_hope = |n: &usize| self.victim(&self.runs, *n, fresh).is_some();
            let mut hopeful: Vec<usize> = waiting.into_iter().filter(may_hope).collect();
            let mut has_started = false;
            while !hopeful.is_empty() && !has_started {
                let n = self.tree.turn(&self.tasks(&self.runs), Node::Root, &hopeful, self.last);
                if let Some(gone) = self.room_for(n, fresh) {
                    for run in gone {
                        self.runs.retain(|of| of.number != run.number);
                        self.waiting[run.user] += run.servers.len() as u64;
                        stopped.push(run.number);
                    }
                    self.start(n, &mut placed);
                    has_started = true;
                }
                hopeful.retain(|other| *other != n);
            }
            if !has_started {
                return (placed, stopped);
            }
        }
    }

    fn tasks(&self, runs: &[Run]) -> Vec<Rational> {
        let of = |n: usize| -> u64 {
            runs.iter().filter(|run| run.user == n).map(|run| run.servers.len() as u64).sum()
        };
        (0..self.waiting.len()).map(|n| Rational::from(of(n))).collect()
    }

    /// Returns the servers on which a gang of a user would start.
    fn servers_for(&self, runs: &[Run], n: usize) -> Option<Vec<usize>> {
        let problem = self.places;
        let mut on: Vec<Vec<usize>> = vec![Vec::new(); self.classes.len()];
        runs.iter().for_each(|run| run.servers.iter().for_each(|j| on[*j].push(run.user)));
        let mut servers = Vec::new();
        for _ in 0..self.tree.gang(n) {
            let fits = |j: &usize| {
                let class = self.classes[*j];
                self.is_there[*j]
                    && problem.classes_of(n).any(|i| i == class)
                    && (0..problem.n_resources()).all(|r| {
                        let held: Rational = on[*j].iter().map(|m| &problem.demand(*m, class)[r]).sum();
                        held + &problem.demand(n, class)[r] <= problem.servers()[class].capacity()[r]
                    })
            };
            let j = (0..self.classes.len()).find(fits)?;
            on[j].push(n);
            servers.push(j);
        }
        Some(servers)
    }

    fn can_start(&self, runs: &[Run], n: usize) -> bool {
        self.tree.may_run_a_gang(&self.tasks(runs), n) && self.servers_for(runs, n).is_some()
    }

    fn start(&mut self, n: usize, placed: &mut Vec<(u32, u32)>) {
        let servers = self.servers_for(&self.runs, n).expect("it can start");
        placed.extend(servers.iter().map(|j| (n as u32, *j as u32)));
        self.waiting[n] -= servers.len() as u64;
        self.runs.push(Run { number: self.next, user: n, servers });
        self.next += 1;
    }

    /// Returns the runs that are stopped so that a gang of a user can start.
    fn room_for(&self, n: usize, fresh: u32) -> Option<Vec<Run>> {
        let mut runs = self.runs.clone();
        let mut gone = Vec::new();
        while !self.can_start(&runs, n) {
            let victim = self.victim(&runs, n, fresh)?;
            runs.retain(|run| *run != victim);
            gone.push(victim);
        }
        for run in gone.clone().into_iter().rev() {
            runs.push(run.clone());
            if self.can_start(&runs, n) {
                gone.retain(|of| *of != run);
            } else {
                runs.pop();
            }
        }
        Some(gone)
    }

    /// Returns the first run that is stopped for a user, among all runs that may be stopped.
    fn victim(&self, runs: &[Run], n: usize, fresh: u32) -> Option<Run> {
        if self.stops == Stops::Never {
            return None;
        }
        let x = self.tasks(runs);
        let mut best: Option<(Place, Run)> = None;
        for run in runs.iter().filter(|run| run.number < fresh && run.user != n) {
            let (m, tasks) = (run.user, run.servers.len() as u64);
            let pinned = self.tree.problem.groups().member(m).pinned.clone().unwrap_or_default();
            if Rational::from(&x[m] - tasks) < pinned {
                continue;
            }
            let (depth, k, l) = self.apart(n, m);
            let (mut with, mut without) = (x.clone(), x.clone());
            with[n] += self.tree.gang(n);
            without[m] -= tasks;
            let started: Key = if self.tree.guarantees_first && self.tree.is_below(&x, k, n) {
                let parts = self.tree.parts(&with, k, &[n]);
                (0, 0, false, parts.into_iter().map(|(_, part, _)| part).max().unwrap_or_default())
            } else {
                self.tree.key(&with, k, &[]).0
            };
            let stopped = self.tree.key(&without, l, &[m]).0;
            let may = match self.stops {
                Stops::Guarantees => started.0 == 0 && stopped.0 == 1,
                _ => started <= stopped,
            };
            let place = (std::cmp::Reverse(depth), self.tree.key(&x, l, &[]).0, run.number);
            if may && best.as_ref().is_none_or(|(of, _)| place > *of) {
                best = Some((place, run.clone()));
            }
        }
        best.map(|(_, run)| run)
    }

    /// Returns the depth of the lowest node above both users, and its children towards each of them.
    fn apart(&self, n: usize, m: usize) -> (usize, Node, Node) {
        let from_the_root = |n: usize| {
            let path = std::iter::successors(Some(Node::User(n)), |v| self.tree.parent(*v));
            let mut path: Vec<Node> = path.collect();
            path.reverse();
            path
        };
        let (a, b) = (from_the_root(n), from_the_root(m));
        let depth = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        (depth, a[depth], b[depth])
    }
}
