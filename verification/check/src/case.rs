//! The case that is judged: a problem with an allocation (docs/theory.md, sections 1 and 7), and the claims of a
//! certificate about the allocation.
//!
//! Tasks are limited by rows. A class whose resources are divided has one row for each of its resources: its capacity
//! is `k_i c_ir`, and a task takes `d_nir` of it. A class whose time is shared has a single row: its capacity is 1,
//! and a task takes `1 / gamma_ni` of it. Each server of a class has a fraction `1 / k_i` of every row.

use std::collections::BTreeMap;
use std::ops::Range;

use rug::Rational;

use crate::allocation::{Allocation, Placement, Tasks, entries};
use crate::json::Json;
use crate::names::{Amounts, at};
use crate::problem::Problem;
use crate::share::Share;
use crate::work::{self, Checked, ensure};

/// A capacity constraint.
pub struct Row {
    /// The position of the class.
    pub class: usize,
    /// The position of the resource. `None` if the row is the time of the class.
    pub resource: Option<usize>,
    /// The capacity of the whole class.
    pub capacity: Rational,
}

/// A problem and an allocation of it, repaired and with its slack.
pub struct Case<'a> {
    pub problem: &'a Problem,
    /// The allocation, as the certificate states it.
    pub stated: &'a Allocation,
    /// The tolerance. It is 0 if the certificate has to be exactly true.
    pub tolerance: Rational,
    /// All rows, by class, then by resource.
    pub rows: Vec<Row>,
    /// The position of the first row of each class. The last entry is the number of rows.
    first: Vec<usize>,
    /// The tasks that each user could have alone, `gamma_n`, by user position.
    pub gamma: Vec<Rational>,
    /// The tasks that each user can use, `g_n`, by user position: `min(T_n, gamma_n)`, or fewer if the accelerators of
    /// the user are limited. The number is 0 for users that cannot run any task.
    pub g: Vec<Rational>,
    /// The sum of the weights of the active users. A user is active if it can run some task.
    pub weight: Rational,
    /// The tasks that are judged: the stated tasks after their repair.
    pub x: Tasks,
    /// The tasks of each user, `x_n`, by user position.
    pub total: Vec<Rational>,
    /// The free capacity of each row that the judged tasks leave.
    pub slack: Vec<Rational>,
}

impl<'a> Case<'a> {
    pub fn new(problem: &'a Problem, stated: &'a Allocation, tolerance: Rational) -> Checked<Self> {
        work::spend_stated(2 * problem.size(false))?;
        entries(&stated.tasks).try_for_each(|(_, _, x)| work::steps(2 * work::cost(work::words(x))))?;
        let mut rows = Vec::new();
        let mut first = vec![0];
        for (class, of) in problem.classes.iter().enumerate() {
            if stated.by_time || of.states_time {
                rows.push(Row { class, resource: None, capacity: Rational::from(1) });
            } else {
                let row = |(r, c)| Row { class, resource: Some(r), capacity: c * Rational::from(of.count) };
                rows.extend(of.capacity.iter().cloned().map(row));
            }
            first.push(rows.len());
        }
        let alone = |n| work::sum(problem.classes_of(n).map(|i| problem.gamma(n, i)).collect());
        let mut gamma: Vec<Rational> = Vec::new();
        for (n, first) in problem.alike.iter().enumerate() {
            gamma.push(gamma.get(*first).map_or_else(|| alone(n), |known| Ok(known.clone()))?);
        }
        let users = || problem.users.iter().zip(&gamma);
        let mut g: Vec<Rational> = users().map(|(user, gamma)| user.at_most_tasks(gamma.clone())).collect();
        for (n, user) in problem.users.iter().enumerate().filter(|(_, user)| user.at_most.is_some()) {
            work::spend(4 * problem.classes.len())?;
            g[n] = user.at_most_tasks(problem.best_use(n, &Rational::from(1)));
        }
        let active = users().zip(&g).filter(|(_, g)| !g.is_zero());
        let weight = work::sum(active.map(|((user, _), _)| user.weight.clone()).collect())?;
        let (x, total, slack) = (stated.tasks.clone(), Vec::new(), Vec::new());
        let mut case = Self { problem, stated, tolerance, rows, first, gamma, g, weight, x, total, slack };
        case.repair()?;
        case.total = case.x.iter().map(total_of).collect();
        Ok(case)
    }

    /// Repairs the stated tasks (docs/theory.md, section 7).
    ///
    /// 1. Entries that do not count (see [`Self::counts`]) become 0.
    /// 2. A user with more than `T_n` tasks, or more than `at_most` accelerators in use, is scaled down to both limits.
    /// 3. A class with a row above its capacity is scaled by the capacity over the load of its fullest row.
    ///
    /// Tasks on single servers are not scaled.
    fn repair(&mut self) -> Checked<()> {
        let mut x = std::mem::take(&mut self.x);
        for (n, tasks) in x.iter_mut().enumerate() {
            tasks.retain(|(i, x)| self.counts(n, *i, x));
            let all = total_of(tasks);
            let user = &self.problem.users[n];
            let most = user.at_most_tasks(all.clone());
            let mut factor = if most < all { most / all } else { Rational::from(1) };
            if let Some(at_most) = &user.at_most {
                let used = user.accelerators(tasks);
                factor = if used > *at_most { factor.min(at_most / used) } else { factor };
            }
            if factor < 1 && self.stated.placements.is_none() {
                tasks.iter_mut().for_each(|(_, x)| *x *= &factor);
            }
        }
        let slack = self.slack_of(&x)?;
        let load = |row: usize| 1 - slack[row].clone() / &self.rows[row].capacity;
        let fullest = |i| self.rows_of(i).map(load).max().filter(|load| *load > 1);
        let fullest: Vec<Option<Rational>> = (0..self.problem.classes.len()).map(fullest).collect();
        for (i, x) in x.iter_mut().flatten().filter(|_| self.stated.placements.is_none()) {
            fullest[*i].iter().for_each(|load| *x /= load);
        }
        self.slack = if fullest.iter().any(Option::is_some) { self.slack_of(&x)? } else { slack };
        self.x = x;
        Ok(())
    }

    /// Returns the active users, that is, the users that can run some task. The other users take no part in any axiom.
    pub fn active(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.problem.users.len()).filter(|n| self.is_active(*n))
    }

    pub fn is_active(&self, n: usize) -> bool {
        !self.g[n].is_zero()
    }

    pub fn user(&self, n: usize) -> &str {
        &self.problem.user_names.list[n]
    }

    /// Returns the positions of the rows of a class.
    pub fn rows_of(&self, i: usize) -> Range<usize> {
        self.first[i]..self.first[i + 1]
    }

    /// Returns the row of a class for a resource. Returns the row of the time of the class if `resource` is `None`.
    fn row(&self, i: usize, resource: Option<usize>) -> Option<usize> {
        let rows = &self.rows[self.rows_of(i)];
        rows.binary_search_by_key(&resource, |row| row.resource).ok().map(|at| self.first[i] + at)
    }

    /// Reads an object `{server: {resource: value}}` of computed numbers. The result is in ascending order of rows.
    pub fn by_class_and_row(&self, raw: &Json<'_>) -> Checked<Amounts> {
        let mut rows = Amounts::new();
        for (i, raw) in self.problem.class_names.map(raw, |_, raw| raw.object())? {
            for (name, raw) in raw {
                let is_time = name == "time" && self.row(i, None).is_some();
                let resource = if is_time { None } else { Some(self.problem.resources.find(name, raw)?) };
                let none = || raw.wrong(format!("this server has no resource `{name}` that users share"));
                rows.push((self.row(i, resource).map_or_else(none, Ok)?, raw.computed()?));
            }
        }
        rows.sort_by_key(|(row, _)| *row);
        Ok(rows)
    }

    /// Returns `(row, d)` for every row of a class that a task of user `n` uses. The list is empty if the user cannot
    /// run on the class.
    pub fn uses(&self, n: usize, i: usize) -> Amounts {
        if !self.problem.can_run(n, i) {
            return Vec::new();
        }
        if let Some(time) = self.row(i, None) {
            return vec![(time, self.problem.gamma(n, i).recip())];
        }
        let of = |(r, d): &(usize, Rational)| Some((self.row(i, Some(*r))?, d.clone()));
        self.problem.demand(n, i).iter().filter_map(of).collect()
    }

    /// Returns the amount of a row that a task of user `n` uses. Returns `None` if the task does not use the row. The
    /// user has to be able to run on the class of the row.
    pub fn takes(&self, n: usize, row: usize) -> Option<Rational> {
        let Row { class, resource, .. } = self.rows[row];
        match resource {
            None => Some(self.problem.gamma(n, class).recip()),
            Some(r) => at(self.problem.demand(n, class), r).cloned(),
        }
    }

    /// Returns the free capacity of every row of a class, divided by `servers`, if the users have these tasks. Tasks
    /// that do not count (see [`Self::counts`]) are ignored.
    pub fn left(&self, i: usize, servers: u64, tasks: &[(usize, Rational)]) -> Checked<Vec<Rational>> {
        let rows = self.rows_of(i);
        let capacity = |row: &Row| vec![Rational::from(&row.capacity / servers)];
        let mut left: Vec<Vec<Rational>> = self.rows[rows.clone()].iter().map(capacity).collect();
        // Tasks of identical users take the same amounts, and are added up first.
        let mut alike: BTreeMap<usize, Vec<Rational>> = BTreeMap::new();
        for (n, x) in tasks.iter().filter(|(n, x)| self.counts(*n, i, x)) {
            alike.entry(self.problem.alike[*n]).or_default().push(x.clone());
        }
        for (n, x) in alike {
            let x = work::sum(x)?;
            for (row, d) in self.uses(n, i) {
                left[row - rows.start].push(-work::times(&d, &x)?);
            }
        }
        left.into_iter().map(work::sum).collect()
    }

    /// Returns the free capacity of every row of all classes.
    pub fn slack_of(&self, tasks: &Tasks) -> Checked<Vec<Rational>> {
        let left = self.as_placements(tasks).into_iter().map(|all| self.left(all.class, 1, &all.tasks));
        Ok(left.collect::<Checked<Vec<_>>>()?.concat())
    }

    /// Returns the tasks of every class as one placement, as if the class were a single server.
    pub fn as_placements(&self, tasks: &Tasks) -> Vec<Placement> {
        let empty = |class| Placement { class, index: 0, tasks: Vec::new() };
        let mut all: Vec<Placement> = (0..self.problem.classes.len()).map(empty).collect();
        entries(tasks).for_each(|(n, i, x)| all[i].tasks.push((n, x.clone())));
        all
    }

    /// Returns true if a stated number of tasks counts: the number is above 0, and the user is active and can run on
    /// the class.
    pub fn counts(&self, n: usize, i: usize, x: &Rational) -> bool {
        *x > 0 && self.is_active(n) && self.problem.can_run(n, i)
    }

    /// Returns the smallest margin of capacity limits that is accepted: minus the tolerance. If tasks are placed on
    /// single servers, the result is 0, because a task either fits on a server or does not fit.
    pub fn least_of_limits(&self) -> Rational {
        if self.stated.placements.is_some() { Rational::new() } else { Rational::from(-&self.tolerance) }
    }

    /// Returns `T_n - x_n`, or `None` if the tasks of the user are unlimited.
    pub fn tasks_left(&self, n: usize) -> Option<Rational> {
        self.problem.users[n].tasks.as_ref().map(|tasks| tasks - self.total[n].clone())
    }

    /// Returns pairs of free capacity and number of servers for each class. The free capacity is by row. Servers
    /// without tasks are combined into one pair.
    pub fn free(&self) -> Checked<Vec<Vec<(Amounts, u64)>>> {
        let mut servers = vec![Vec::new(); self.problem.classes.len()];
        for server in self.stated.placements.iter().flatten() {
            let free = self.left(server.class, self.problem.classes[server.class].count, &server.tasks)?;
            servers[server.class].push((self.rows_of(server.class).zip(free).collect(), 1));
        }
        for (i, servers) in servers.iter_mut().enumerate() {
            let count = self.problem.classes[i].count;
            let empty = count - servers.len() as u64;
            if empty > 0 {
                servers.push((self.rows_of(i).zip(self.left(i, count, &[])?).collect(), empty));
            }
        }
        Ok(servers)
    }
}

/// Returns the sum of a user's tasks on all classes.
pub fn total_of(tasks: &Amounts) -> Rational {
    tasks.iter().map(|(_, x)| x).sum()
}

/// The margin, and the verdict. The margin is `None` if no numbers have to be compared. The verdict is present only if
/// the margin is just a bound on the true margin. It is then the only verdict that the bound proves.
pub type Shown = (Option<Rational>, Option<bool>);

/// A function that computes the margin of an axiom.
pub type Judge = fn(&Case<'_>, &Claim<'_>) -> Checked<Shown>;

/// A claim of a certificate: an axiom with its parameters, its verdict, its margin and its evidence.
pub struct Claim<'j> {
    pub axiom: &'static str,
    pub judge: Judge,
    /// The share of a claim of `max-min`, or of a claim of `proportional` about the generic share.
    pub share: Option<Share>,
    /// The numerator and denominator of the exponent of a claim of `proportional`.
    pub alpha: Option<(u32, u32)>,
    /// True if the axiom holds. `None` if the certificate says that it does not apply.
    pub holds: Option<bool>,
    pub margin: Option<Rational>,
    pub evidence: &'j Json<'j>,
}

impl<'j> Claim<'j> {
    /// Returns the name of the claim: the axiom with its parameters. No two claims may have the same name.
    pub fn name(&self, problem: &Problem) -> String {
        let share = self.share.map_or_else(String::new, |share| format!(":{}", share.name(problem)));
        let alpha = self.alpha.map_or_else(String::new, |alpha| format!(":{}", Rational::from(alpha)));
        format!("{}{share}{alpha}", self.axiom)
    }

    /// Returns true if the claim has no evidence.
    pub fn has_none(&self) -> bool {
        self.evidence.object().map_or(true, <[_]>::is_empty)
    }

    /// Returns the evidence. Returns a fault if there is none.
    pub fn required_evidence(&self) -> Checked<&'j Json<'j>> {
        ensure(!self.has_none(), "the claim has no evidence").map(|()| self.evidence)
    }
}
