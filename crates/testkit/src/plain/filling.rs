//! Progressive filling, written from the definition. It uses rational numbers, and visits every user and
//! every server for every task. Only the random stream and the names of the rules come from the library.

use evenhand_mechanisms::filling::{Draw, Rule, Score, ServerRule, Ties};
use evenhand_problem::{Problem, Rational};

pub struct Naive<'p> {
    problem: &'p Problem,
    /// The cluster whose capacity shares are fractions of.
    whole: &'p Problem,
    rule: Rule,
    step: Rational,
    /// The class of each single server, and its free resources or time.
    servers: Vec<(usize, Vec<Rational>)>,
    /// The number of steps of each user on each single server.
    pub steps: Vec<Vec<u64>>,
    /// The largest number of steps that each user may have now, if it replaces the user's tasks.
    allowed: Option<Vec<u64>>,
    /// The user and the server of each placement, in order.
    placed: Vec<(u32, u32)>,
    draw: Draw,
}

/// Returns the number of steps of each user on each single server.
pub fn fill(problem: &Problem, rule: Rule, step: &Rational, seed: u64) -> Vec<Vec<u64>> {
    let mut naive = Naive::new(problem, rule, step, seed);
    let all = (0..naive.servers.len()).collect();
    naive.run(all);
    naive.steps
}

/// Returns empty servers, for tasks that come and finish.
pub fn ongoing(problem: &Problem, rule: Rule, seed: u64) -> Naive<'_> {
    let allowed = Some(vec![0; problem.n_users()]);
    Naive { allowed, ..Naive::new(problem, rule, &Rational::from(1), seed) }
}

/// Returns empty servers, which may be added and removed. Shares are fractions of `whole`.
pub fn ongoing_among<'p>(problem: &'p Problem, whole: &'p Problem, rule: Rule, seed: u64) -> Naive<'p> {
    Naive { whole, ..ongoing(problem, rule, seed) }
}

impl<'p> Naive<'p> {
    fn new(problem: &'p Problem, rule: Rule, step: &Rational, seed: u64) -> Self {
        let mut servers = Vec::new();
        for (i, class) in problem.servers().iter().enumerate() {
            let full =
                if class.is_time_shared() { vec![Rational::from(1)] } else { class.capacity().to_vec() };
            servers.extend((0..class.count()).map(|_| (i, full.clone())));
        }
        let steps = vec![vec![0; servers.len()]; problem.n_users()];
        let draw = Draw::new(seed, 0);
        Naive {
            problem,
            whole: problem,
            rule,
            step: step.clone(),
            servers,
            steps,
            allowed: None,
            placed: Vec::new(),
            draw,
        }
    }

    /// Fills the servers by the rule. Random servers are drawn among `live`.
    fn run(&mut self, live: Vec<usize>) {
        match (self.rule.server, self.rule.score.is_of_user()) {
            (ServerRule::Iid | ServerRule::Rrr, _) => self.random_servers(live),
            (ServerRule::FirstFit, false) => self.servers_in_order(),
            (ServerRule::BestFit, of_user) if !of_user || self.rule.unfiltered => self.proposals(),
            _ => self.user_first(),
        }
    }

    /// Adds waiting steps of a user.
    pub fn submit(&mut self, n: usize, steps: u64) {
        self.allowed.as_mut().unwrap()[n] += steps;
    }

    /// Removes the waiting steps of a user.
    pub fn withdraw(&mut self, n: usize) {
        self.allowed.as_mut().unwrap()[n] = self.steps[n].iter().sum();
    }

    /// Ends a step of user `n` on server `j`.
    pub fn release(&mut self, n: usize, j: usize) {
        let task = self.task(n, j).unwrap();
        for (left, d) in self.servers[j].1.iter_mut().zip(&task) {
            *left += d;
        }
        self.steps[n][j] -= 1;
        self.allowed.as_mut().unwrap()[n] -= 1;
    }

    /// Gives a server without tasks its full capacity, or no capacity.
    pub fn set_there(&mut self, j: usize, is_there: bool) {
        let full = self.problem.servers()[self.servers[j].0].capacity().to_vec();
        self.servers[j].1 = if is_there { full } else { vec![Rational::new(); full.len()] };
    }

    /// Places one more step of a user on this server, if it fits. Returns `true` if the step was placed.
    pub fn occupy(&mut self, n: usize, j: usize) -> bool {
        self.submit(n, 1);
        if !self.fits(n, j) {
            self.allowed.as_mut().unwrap()[n] -= 1;
            return false;
        }
        self.place(n, j);
        self.placed.pop();
        true
    }

    /// Places all steps that fit. Returns the users and servers of the steps in order.
    pub fn refill(&mut self) -> Vec<(u32, u32)> {
        let somebody = |j: &usize| (0..self.n_users()).any(|n| self.fits(n, *j));
        let live = (0..self.servers.len()).filter(somebody).collect();
        self.run(live);
        std::mem::take(&mut self.placed)
    }

    fn n_users(&self) -> usize {
        self.problem.n_users()
    }

    fn tasks(&self, n: usize) -> Rational {
        Rational::from(&self.step * self.steps[n].iter().sum::<u64>())
    }

    fn has_more(&self, n: usize) -> bool {
        if let Some(allowed) = &self.allowed {
            return self.steps[n].iter().sum::<u64>() < allowed[n];
        }
        let limit = self.problem.users()[n].tasks();
        self.problem.is_active(n) && limit.is_none_or(|limit| self.tasks(n) + &self.step <= *limit)
    }

    /// Returns the usage of a whole task on server `j`. Returns `None` if the user may not run there.
    fn task(&self, n: usize, j: usize) -> Option<Vec<Rational>> {
        let class = self.servers[j].0;
        if !self.problem.users()[n].may_use(class) {
            return None;
        }
        if self.problem.servers()[class].is_time_shared() {
            let gamma = self.problem.gamma(n, class);
            let count = self.problem.servers()[class].count();
            return (gamma > 0).then(|| vec![Rational::from(count) / gamma]);
        }
        Some(self.problem.demand(n, class).to_vec())
    }

    fn fits(&self, n: usize, j: usize) -> bool {
        let left = &self.servers[j].1;
        self.has_more(n)
            && self.task(n, j).is_some_and(|task| {
                task.iter().zip(left).all(|(d, left)| Rational::from(d * &self.step) <= *left)
            })
    }

    /// Returns the servers on which one more step of user `n` fits.
    fn fitting(&self, n: usize) -> Vec<usize> {
        (0..self.servers.len()).filter(|&j| self.fits(n, j)).collect()
    }

    fn score(&self, n: usize, j: usize) -> Rational {
        let share = match self.rule.score {
            Score::Drf => {
                let demand = self.problem.users()[n].base_demand().iter().zip(self.whole.total_capacity());
                demand.filter(|(_, total)| **total > 0).map(|(d, total)| Rational::from(d / total)).max()
            }
            Score::Tsf => {
                let classes = 0..self.whole.n_servers();
                let gamma: Rational = classes.map(|i| self.whole.unconstrained_gamma(n, i)).sum();
                Some(gamma.recip())
            }
            Score::PsDsf => {
                let class = self.servers[j].0;
                Some((self.problem.gamma(n, class) / self.problem.servers()[class].count()).recip())
            }
            Score::ResidualPsDsf => {
                let task = self.task(n, j).unwrap();
                let needs = task.iter().zip(&self.servers[j].1).filter(|(d, _)| **d > 0);
                needs.map(|(d, left)| Rational::from(d / left)).max()
            }
        };
        self.tasks(n) * share.unwrap() / self.problem.users()[n].weight()
    }

    /// Returns the mismatch `H` (DRFH, equation 9), computed from fractions of the total capacity.
    fn mismatch(&self, n: usize, j: usize) -> Option<Rational> {
        let (task, left) = (self.task(n, j)?, &self.servers[j].1);
        let first = task.iter().position(|d| *d > 0)?;
        if left[first] == 0 {
            return None;
        }
        let total = self.whole.total_capacity();
        if total[first] == 0 {
            return None;
        }
        let share = |amounts: &[Rational], r: usize| Rational::from(&amounts[r] / &total[r]);
        let there = (0..total.len()).filter(|&r| total[r] > 0);
        if there.clone().count() == 1 {
            return Some(left[first].clone());
        }
        let terms = there.map(|r| {
            let of_task = share(&task, r) / share(&task, first);
            (of_task - share(left, r) / share(left, first)).abs()
        });
        Some(terms.sum())
    }

    fn place(&mut self, n: usize, j: usize) {
        let task = self.task(n, j).unwrap();
        for (left, d) in self.servers[j].1.iter_mut().zip(&task) {
            *left -= Rational::from(d * &self.step);
        }
        self.steps[n][j] += 1;
        self.placed.push((n as u32, j as u32));
    }

    fn choose<T: Copy>(&mut self, equals: &[T]) -> Option<T> {
        match self.rule.ties {
            Ties::Low => equals.first().copied(),
            Ties::High => equals.last().copied(),
            Ties::Random if equals.is_empty() => None,
            Ties::Random => Some(equals[self.draw.position(equals.len())]),
        }
    }

    /// Returns one of the items with the least value, chosen by the rule for ties.
    fn least<T: Copy>(&mut self, values: Vec<(Rational, T)>) -> Option<T> {
        let least = values.iter().map(|(value, _)| value.clone()).min()?;
        let equals: Vec<T> =
            values.into_iter().filter(|(value, _)| *value == least).map(|(_, t)| t).collect();
        self.choose(&equals)
    }

    fn on_server(&mut self, j: usize) -> bool {
        let fitting = (0..self.n_users()).filter(|&n| self.fits(n, j));
        let scores = fitting.map(|n| (self.score(n, j), n)).collect();
        let chosen = self.least(scores);
        if let Some(n) = chosen {
            self.place(n, j);
        }
        chosen.is_some()
    }

    fn random_servers(&mut self, mut live: Vec<usize>) {
        while !live.is_empty() {
            if self.rule.server == ServerRule::Iid {
                let at = self.draw.position(live.len());
                if !self.on_server(live[at]) {
                    live.swap_remove(at);
                }
                continue;
            }
            let mut next = Vec::new();
            while !live.is_empty() {
                let j = live.swap_remove(self.draw.position(live.len()));
                if self.on_server(j) {
                    next.push(j);
                }
            }
            live = next;
        }
    }

    fn servers_in_order(&mut self) {
        while let Some(j) = (0..self.servers.len()).find(|&j| (0..self.n_users()).any(|n| self.fits(n, j))) {
            assert!(self.on_server(j));
        }
    }

    /// Runs first fit, filtered best fit and the joint choice. In each of them, the user with the least score
    /// comes first.
    fn user_first(&mut self) {
        loop {
            let scores = (0..self.n_users()).filter_map(|n| {
                let scores = self.fitting(n).into_iter().map(|j| self.score(n, j));
                Some((scores.min()?, n))
            });
            let scores = scores.collect();
            let Some(n) = self.least(scores) else { return };
            let fitting = self.fitting(n).into_iter();
            let j = match self.rule.server {
                ServerRule::FirstFit => fitting.min(),
                ServerRule::BestFit => {
                    let values = fitting.map(|j| (self.mismatch(n, j).unwrap(), j)).collect();
                    self.least(values)
                }
                _ => {
                    let values = fitting.map(|j| (self.score(n, j), j)).collect();
                    self.least(values)
                }
            };
            self.place(n, j.unwrap());
        }
    }

    /// Runs best fit if every user first names a server.
    fn proposals(&mut self) {
        // A user whose task is larger than every empty server names no server.
        let users: Vec<usize> = (0..self.n_users()).filter(|&n| !self.fitting(n).is_empty()).collect();
        loop {
            let mut named = Vec::new();
            for &n in &users {
                let counts = |&j: &usize| self.has_more(n) && (self.rule.unfiltered || self.fits(n, j));
                let counted = (0..self.servers.len()).filter(counts);
                let values = counted.filter_map(|j| Some((self.mismatch(n, j)?, j))).collect();
                named.extend(self.least(values).map(|j| (n, j)));
            }
            named.retain(|&(n, j)| self.fits(n, j));
            let scores = named.iter().map(|&(n, j)| (self.score(n, j), (n, j))).collect();
            let Some((n, j)) = self.least(scores) else { return };
            self.place(n, j);
        }
    }
}
