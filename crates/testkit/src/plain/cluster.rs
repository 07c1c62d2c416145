//! Rows, usage, `gamma`, `g` and the repair of an allocation, all as dense tables.

use evenhand_exact::Tasks;
use evenhand_problem::{Constraints, Problem, Rational, RowKind, Sharing};

use super::{Matrix, zero};

/// A problem with a way of sharing servers.
pub struct Cluster<'a> {
    pub p: &'a Problem,
    pub sharing: Sharing,
    /// The class and the resource of each row, in the order of the rows in evidence. The resource is `None`
    /// for a row of time.
    pub rows: Vec<(usize, Option<usize>)>,
    pub capacity: Vec<Rational>,
    /// The numbers `gamma_ni`. They are 0 if `n` cannot run or may not run on `i`.
    pub gamma: Matrix,
    /// `gamma_ni` without placement constraints.
    pub free_gamma: Matrix,
    pub active: Vec<bool>,
    /// The numbers `g_n = min(T_n, gamma_n)`.
    pub g: Vec<Rational>,
}

impl<'a> Cluster<'a> {
    pub fn new(p: &'a Problem, sharing: Sharing) -> Self {
        let constraints = Constraints::new(p, sharing);
        let rows: Vec<_> = constraints
            .rows()
            .iter()
            .map(|row| match row.kind {
                RowKind::Resource(r) => (row.server, Some(r)),
                RowKind::Time => (row.server, None),
            })
            .collect();
        let capacity = rows.iter().map(|(i, r)| match r {
            Some(r) => &p.servers()[*i].capacity()[*r] * Rational::from(p.servers()[*i].count()),
            None => Rational::from(1),
        });
        let capacity = capacity.collect();
        let classes = 0..p.n_servers();
        let free_gamma: Matrix =
            (0..p.n_users()).map(|n| classes.clone().map(|i| free_gamma(p, n, i)).collect()).collect();
        let allowed = |n: usize, i: usize| p.users()[n].servers().is_none_or(|servers| servers.contains(&i));
        let gamma: Matrix = (0..p.n_users())
            .map(|n| {
                let of = |i: usize| if allowed(n, i) { free_gamma[n][i].clone() } else { zero() };
                classes.clone().map(of).collect()
            })
            .collect();
        let sums: Vec<Rational> = gamma.iter().map(|on| on.iter().sum()).collect();
        let g: Vec<Rational> = sums
            .iter()
            .enumerate()
            .map(|(n, sum)| {
                let most =
                    if p.users()[n].at_most().is_some() { best_use(p, n, &gamma[n]) } else { sum.clone() };
                p.users()[n].tasks().map_or(most.clone(), |tasks| tasks.clone().min(most))
            })
            .collect();
        let active = g.iter().map(|g| *g > 0).collect();
        Self { p, sharing, rows, capacity, gamma, free_gamma, active, g }
    }

    pub fn runs(&self, n: usize, i: usize) -> bool {
        self.gamma[n][i] > 0
    }

    pub fn classes(&self, n: usize) -> Vec<usize> {
        (0..self.p.n_servers()).filter(|&i| self.runs(n, i)).collect()
    }

    pub fn rows_of(&self, i: usize) -> Vec<usize> {
        (0..self.rows.len()).filter(|&row| self.rows[row].0 == i).collect()
    }

    /// Returns the usage of a row by a task of `n`. Returns 0 if `n` cannot run on the class of the row.
    pub fn uses(&self, n: usize, row: usize) -> Rational {
        match self.rows[row] {
            (i, _) if !self.runs(n, i) => zero(),
            (i, None) => self.gamma[n][i].clone().recip(),
            (i, Some(r)) => self.p.users()[n].demand_on(i)[r].clone(),
        }
    }

    pub fn used_rows(&self, n: usize, i: usize) -> Vec<usize> {
        self.rows_of(i).into_iter().filter(|&row| self.uses(n, row) > 0).collect()
    }

    pub fn load(&self, x: &Matrix, row: usize) -> Rational {
        let i = self.rows[row].0;
        (0..self.p.n_users()).map(|n| self.uses(n, row) * &x[n][i]).sum()
    }

    pub fn dense(&self, tasks: &Tasks) -> Matrix {
        let mut x = vec![vec![zero(); self.p.n_servers()]; self.p.n_users()];
        for (n, on) in tasks.iter().enumerate() {
            for (i, value) in on {
                x[n][*i].clone_from(value);
            }
        }
        x
    }

    /// Returns `true` if an entry is invalid: negative, on a class where `n` cannot run, or of an inactive
    /// user.
    pub fn is_refused(&self, n: usize, i: usize, x: &Rational) -> bool {
        !x.is_zero() && (*x < 0 || !self.runs(n, i) || !self.active[n])
    }

    /// Returns the allocation after step 1 of the repair.
    pub fn cleared(&self, stated: &Matrix) -> Matrix {
        let mut x = stated.clone();
        for (n, on) in x.iter_mut().enumerate() {
            for (i, value) in on.iter_mut().enumerate() {
                if self.is_refused(n, i, value) {
                    *value = zero();
                }
            }
        }
        x
    }

    /// Returns the allocation after all three steps of the repair.
    pub fn repaired(&self, stated: &Matrix) -> Matrix {
        let mut x = self.cleared(stated);
        for (n, on) in x.iter_mut().enumerate() {
            let total: Rational = on.iter().sum();
            let mut factor = Rational::from(1);
            if let Some(tasks) = self.p.users()[n].tasks().filter(|tasks| total > **tasks) {
                factor = factor.min(Rational::from(tasks / &total));
            }
            if let Some(at_most) = self.p.users()[n].at_most() {
                let used = accelerators(self.p, n, on);
                if used > *at_most {
                    factor = factor.min(at_most / used);
                }
            }
            on.iter_mut().for_each(|value| *value *= &factor);
        }
        for i in 0..self.p.n_servers() {
            let loads = self.rows_of(i).into_iter().map(|row| self.load(&x, row) / &self.capacity[row]);
            if let Some(most) = loads.max().filter(|most| *most > 1) {
                x.iter_mut().for_each(|on| on[i] /= &most);
            }
        }
        x
    }
}

/// Returns the accelerators that the tasks of a user use at once, `sum_i x_ni / rate_ni`.
pub fn accelerators(p: &Problem, n: usize, x: &[Rational]) -> Rational {
    let rates = p.users()[n].rates().map_or(&[][..], |rates| rates.by_class());
    rates.iter().map(|(i, rate)| Rational::from(&x[*i] / rate)).sum()
}

/// Returns the largest number of tasks of a user with at most these tasks on each class, and at most
/// `at_most` accelerators.
pub fn best_use(p: &Problem, n: usize, tasks: &[Rational]) -> Rational {
    let user = &p.users()[n];
    let Some(at_most) = user.at_most() else { return tasks.iter().sum() };
    let mut rates = user.rates().map_or(Vec::new(), |rates| rates.by_class().to_vec());
    rates.sort_by(|a, b| b.1.cmp(&a.1));
    let (mut left, mut sum) = (at_most.clone(), zero());
    for (i, rate) in rates {
        let used = Rational::from(&tasks[i] / &rate).min(left.clone());
        sum += Rational::from(&used * &rate);
        left -= used;
    }
    sum
}

/// Returns the tasks of a user that uses the classes in proportion to these tasks. The user has at most these
/// tasks, and at most `at_most` accelerators.
pub fn proportional_use(p: &Problem, n: usize, tasks: &[Rational]) -> Rational {
    let (sum, used) = (tasks.iter().sum::<Rational>(), accelerators(p, n, tasks));
    match p.users()[n].at_most().filter(|at_most| used > **at_most) {
        Some(at_most) => sum * at_most / used,
        None => sum,
    }
}

/// Returns `gamma` without placement constraints: `k_i min over r with d_nir > 0 of c_ir / d_nir`, or the
/// number that the user states.
fn free_gamma(p: &Problem, n: usize, i: usize) -> Rational {
    let (user, server) = (&p.users()[n], &p.servers()[i]);
    if let Some((_, gamma)) = user.given_gamma().iter().find(|(class, _)| *class == i) {
        return gamma.clone();
    }
    if user.rates().is_some_and(|rates| rates.by_class().iter().all(|(class, _)| *class != i)) {
        return zero();
    }
    let demand = user.demand_on(i);
    let resources = (0..p.n_resources()).filter(|&r| demand[r] > 0);
    let fit = resources.map(|r| Rational::from(&server.capacity()[r] / &demand[r])).min();
    fit.unwrap_or_default() * Rational::from(server.count())
}
