//! The configuration programme with all its columns, for solvers that need a complete programme.

use evenhand_problem::number::to_f64;
use evenhand_problem::{Rational, Reservation};

use crate::contenders::linear::Programme;

/// The number of maximal configurations above which a programme is too large to be written out.
const MOST: usize = 20_000;

/// Returns the maximal configurations of every pool in lexicographic order, or `None` if there are too many.
#[must_use]
pub fn all(problem: &Reservation) -> Option<Vec<(usize, Vec<u64>)>> {
    let mut found = Vec::new();
    for pool in 0..problem.n_pools() {
        match problem.configurations() {
            Some(listed) => found.extend(listed.iter().map(|k| (pool, k.clone()))),
            None => {
                let mut search = Search { problem, pool, left: 100 * MOST, found: &mut found };
                search.grow(&mut vec![0; problem.n_types()], 0)?;
            }
        }
        if found.len() > MOST {
            return None;
        }
    }
    Some(found)
}

struct Search<'a> {
    problem: &'a Reservation,
    pool: usize,
    /// The number of configurations that may still be visited.
    left: usize,
    found: &'a mut Vec<(usize, Vec<u64>)>,
}

impl Search<'_> {
    /// Adds all maximal configurations that start with the given numbers of jobs for the types before `j`. Returns
    /// `None` if there are too many.
    fn grow(&mut self, k: &mut Vec<u64>, j: usize) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        if j == k.len() {
            let is_maximal = (0..k.len()).all(|more| {
                k[more] += 1;
                let fits = self.problem.is_feasible(self.pool, k);
                k[more] -= 1;
                !fits
            });
            if is_maximal {
                self.found.push((self.pool, k.clone()));
            }
            return Some(());
        }
        while self.problem.is_feasible(self.pool, k) {
            self.grow(k, j + 1)?;
            k[j] += 1;
        }
        k[j] = 0;
        Some(())
    }
}

/// The pool and the configuration of each column. The columns of served jobs come first and are not in this list.
pub type Columns = Vec<(usize, Vec<u64>)>;

/// Returns the programme. Its columns are the served jobs by type, then the servers by configuration. Its rows are
/// loads, slots, and servers by pool.
#[must_use]
pub fn programme(problem: &Reservation, listed: &[(usize, Vec<u64>)]) -> (Programme, Columns) {
    let n = problem.n_types();
    let mut costs: Vec<f64> = problem.rewards().iter().map(to_f64).collect();
    costs.resize(n + listed.len(), 0.0);
    let mut rows = Vec::new();
    for (j, load) in problem.loads().iter().enumerate() {
        rows.push((vec![(j, 1.0)], to_f64(load)));
    }
    for j in 0..n {
        let slots = listed.iter().enumerate().filter(|(_, (_, k))| k[j] > 0);
        let slots = slots.map(|(at, (_, k))| (n + at, -(k[j] as f64)));
        rows.push(([(j, 1.0)].into_iter().chain(slots).collect(), 0.0));
    }
    for (pool, size) in problem.fractions().iter().enumerate() {
        let on = listed.iter().enumerate().filter(|(_, (of, _))| *of == pool);
        rows.push((on.map(|(at, _)| (n + at, 1.0)).collect(), to_f64(size)));
    }
    (Programme { costs, rows }, listed.to_vec())
}

/// Returns the largest violation of a row of the programme. The first number is the absolute amount. The
/// second number is relative to the size of the pool or to the load. Rows of jobs and slots are measured by
/// the load.
#[must_use]
pub fn violation(
    problem: &Reservation,
    served: &[Rational],
    servers: &[(usize, Vec<u64>, Rational)],
) -> (Rational, Rational) {
    let (mut absolute, mut relative) = (Rational::new(), Rational::new());
    let mut worse = |excess: Rational, of: &Rational| {
        if excess > 0 {
            let part = if of.is_zero() { excess.clone() } else { Rational::from(&excess / of) };
            relative = std::mem::take(&mut relative).max(part);
            absolute = std::mem::take(&mut absolute).max(excess);
        }
    };
    for (j, load) in problem.loads().iter().enumerate() {
        worse(Rational::from(&served[j] - load), load);
        worse(Rational::from(-&served[j]), load);
        let slots: Rational = servers.iter().map(|(_, k, x)| Rational::from(x * k[j])).sum();
        worse(Rational::from(&served[j] - &slots), load);
    }
    for (pool, size) in problem.fractions().iter().enumerate() {
        let used: Rational = servers.iter().filter(|(of, ..)| *of == pool).map(|(_, _, x)| x).sum();
        worse(used - size, size);
    }
    for (_, k, x) in servers {
        worse(Rational::from(-x), &Rational::from(1));
        debug_assert_eq!(k.len(), problem.n_types());
    }
    (absolute, relative)
}
