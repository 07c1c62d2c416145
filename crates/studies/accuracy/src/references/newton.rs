//! Computes the largest sum of utilities of any cluster, to more digits than any comparison needs.
//!
//! The optimum is algebraic but in general irrational (docs/theory.md, fact 4). So the reference is a rational point
//! with a proof of its distance. An approximate answer in doubles, or in slightly higher precision, determines the
//! classes on which a user runs. Newton's method then solves the conditions of this pattern in rationals, rounded to
//! `BITS` bits after every step. The conditions are that every bottleneck is full, and that a task of a user costs the
//! same on all classes on which the user runs. At the cost `c_n` of a task, a user takes
//! `x_n = min(T_n, (w_n / c_n)^(1/a))`. The result is scaled until it is feasible, and its prices are raised until
//! they prove a bound, which [`bound::prove`] computes. The earlier steps need not be trusted.

use evenhand_exact::{Prices, Tasks};
use evenhand_mechanisms::{Flags, MechanismError, registry};
use evenhand_ode::path::{self, PathSettings};
use evenhand_ode::pool::Pool;
use evenhand_problem::number::{format, to_f64};
use evenhand_problem::{Arithmetic, Constraints, Integer, Problem, Rational, Sharing};
use rug::ops::Pow;
use thiserror::Error;

use super::bound::{self, Bound};
use super::rounding::{BITS, eliminate, rounded};
use crate::utility::power;

/// Let `e` be 2 to the power of minus this number. The method stops after a step in which no price changes by
/// more than `e` times the sum of all payments, and no tasks by more than `e` of their unit.
const LAST_CHANGE: u32 = 800;
/// The number of digits of a level that are proven: the largest error is this negative power of ten.
pub const DIGITS: u32 = 100;
/// The largest number of Newton steps. Each step doubles the number of correct bits.
const MOST_STEPS: usize = 60;

/// The computed answer, with its proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The feasible tasks by user.
    pub tasks: Tasks,
    /// The prices that prove the bound.
    pub prices: Prices,
    /// The exact bound that the prices prove.
    pub bound: Bound,
}

/// The reason why there is no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NewtonError {
    /// Newton's method did not converge.
    #[error("Newton's method did not converge in {MOST_STEPS} steps")]
    NoConvergence,
    /// A user without a limit pays nothing, or the equations give a user negative tasks on a class.
    #[error("the equations of the bottlenecks have no solution")]
    Singular,
    /// Numbers are out of the range of doubles, in which the method starts.
    #[error("Newton's method has no starting point: {0}")]
    Start(String),
    /// There is no approximate answer to start from.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The proven bound is too large.
    #[error("the proven relative error of the levels is {0:.1e}, which is more than 1e-{DIGITS}")]
    TooFar(f64),
    /// The prices prove no bound.
    #[error("the prices prove nothing: {0}")]
    Refused(&'static str),
}

/// Returns the allocation with the largest sum of utilities if resources are divided.
///
/// # Errors
/// [`NewtonError`]
pub fn solve(problem: &Problem, alpha: &Rational) -> Result<Found, NewtonError> {
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let (system, start) = System::begin(&constraints, alpha)?;
    let end = system.newton(start)?;
    let (tasks, prices) = system.proving(&end)?;
    let bound = bound::prove(problem, Sharing::Rdm, alpha, &tasks, &prices).map_err(NewtonError::Refused)?;
    if Rational::from_f64(bound.error).is_none_or(|error| error * Integer::from(10).pow(DIGITS) > 1) {
        return Err(NewtonError::TooFar(bound.error));
    }
    Ok(Found { tasks, prices, bound })
}

/// A class on which a user may run.
struct Place {
    class: usize,
    /// The amounts of rows that a task takes, as fractions of the rows.
    uses: Vec<(usize, Rational)>,
}

struct User {
    n: usize,
    weight: Rational,
    limit: Option<Rational>,
    places: Vec<Place>,
    /// The index, in `places`, of the class on which the user runs the most tasks.
    home: usize,
}

/// The equations. The unknowns are the prices of whole rows, and the tasks of users on classes other than their main
/// class (`home`).
struct System<'c> {
    constraints: &'c Constraints<'c>,
    alpha: &'c Rational,
    users: Vec<User>,
    /// The classes other than the main classes as `(user, place, unit)`. The unit is that of the tasks on the
    /// class.
    off_home: Vec<(usize, usize, Rational)>,
}

#[derive(Clone)]
struct Values {
    /// The prices of whole rows.
    prices: Vec<Rational>,
    /// The tasks on classes other than the main class, in their units.
    off_home: Vec<Rational>,
}

/// The tasks that users take at some prices.
struct Response {
    levels: Vec<Rational>,
    /// The negative derivative of the use of every row by every price. The matrix is symmetric, and only its
    /// lower half is stored, by rows.
    slopes: Vec<Vec<Rational>>,
    /// The sum of all payments.
    spent: Rational,
}

impl<'c> System<'c> {
    fn begin(constraints: &'c Constraints<'c>, alpha: &'c Rational) -> Result<(Self, Values), NewtonError> {
        let problem = constraints.problem();
        let rows = constraints.rows();
        let place = |n: usize, class: usize| {
            let start = constraints.class_rows(class).start;
            let usage = constraints.usage(n, class);
            let entries = usage.iter().flat_map(|usage| usage.entries());
            let part = |(at, amount): (usize, &Rational)| {
                (start + at, Rational::from(amount / &rows[start + at].capacity))
            };
            Place { class, uses: entries.filter(|(_, amount)| !amount.is_zero()).map(part).collect() }
        };
        let user = |n: usize| User {
            n,
            weight: problem.users()[n].weight().clone(),
            limit: problem.users()[n].tasks().cloned(),
            places: problem.classes_of(n).map(|class| place(n, class)).collect(),
            home: 0,
        };
        let users = (0..problem.n_users()).filter(|n| problem.is_active(*n)).map(user).collect();
        let mut system = Self { constraints, alpha, users, off_home: Vec::new() };
        // If every user has only one class, the problem splits into pools, which have a faster start.
        let one_class = |user: &User| user.places.len() == 1;
        if *alpha == 1 && system.users.iter().all(one_class) {
            let prices = system.prices_of_pools()?;
            return Ok((system, Values { prices, off_home: Vec::new() }));
        }
        let name = if *alpha == 1 { "proportional" } else { "alpha" };
        let mechanism = registry::find(name)
            .ok_or_else(|| NewtonError::Start(format!("there is no mechanism `{name}`")))?;
        let mut flags = Flags::new(Arithmetic::Exact);
        if *alpha != 1 {
            flags = flags.with("alpha", format(alpha));
        }
        let outcome = mechanism.allocate_with(problem, &flags)?;
        let prices =
            outcome.findings.prices.ok_or_else(|| NewtonError::Start("it has no prices".to_owned()))?;
        let prices =
            prices.rows.iter().zip(rows).map(|(price, row)| rounded(&Rational::from(price * &row.capacity)));
        let prices: Vec<Rational> = prices.collect();
        let off_home = system.read(&outcome.allocation.tasks, &prices);
        Ok((system, Values { prices, off_home }))
    }

    /// Determines the classes on which users run. These are the classes on which the fraction of the user's
    /// tasks exceeds the relative extra cost over the user's cheapest class. Returns the tasks on classes
    /// other than the main class.
    fn read(&mut self, tasks: &Tasks, prices: &[Rational]) -> Vec<Rational> {
        let mut start = Vec::new();
        for (k, user) in self.users.iter_mut().enumerate() {
            let costs: Vec<Rational> = user.places.iter().map(|place| cost(place, prices)).collect();
            let least = costs.iter().min().cloned().unwrap_or_default();
            let of_class = |class: usize| tasks[user.n].iter().find(|(i, _)| *i == class).map(|(_, x)| x);
            let here: Vec<Option<&Rational>> =
                user.places.iter().map(|place| of_class(place.class)).collect();
            let total: Rational = here.iter().flatten().copied().sum();
            user.home = (0..here.len()).max_by_key(|at| here[*at]).unwrap_or(0);
            for (at, x) in here.iter().enumerate() {
                let Some(x) = x.filter(|x| **x > 0 && at != user.home) else { continue };
                let excess = Rational::from(&costs[at] - &least) * &total;
                if excess <= Rational::from(x * &least) {
                    start.push(rounded(&Rational::from(x / &total)));
                    self.off_home.push((k, at, rounded(&total)));
                }
            }
        }
        start
    }

    /// Computes the prices of all pools in doubles, for sums of logarithms.
    fn prices_of_pools(&self) -> Result<Vec<Rational>, NewtonError> {
        let mut prices = vec![Rational::new(); self.constraints.rows().len()];
        for class in 0..self.constraints.problem().n_servers() {
            let rows = self.constraints.class_rows(class);
            let (mut requests, mut weights, mut caps) = (Vec::new(), Vec::new(), Vec::new());
            for user in self.users.iter().filter(|user| user.places[0].class == class) {
                let uses = &user.places[0].uses;
                let largest = uses.iter().map(|(_, part)| part).max();
                let alone = user.limit.iter().cloned().chain(largest.map(|part| part.clone().recip())).min();
                let alone = alone.unwrap_or_else(|| Rational::from(1));
                let of_row = |row: usize| {
                    let part =
                        uses.iter().find(|(r, _)| *r == row).map(|(_, part)| Rational::from(part * &alone));
                    part.as_ref().map_or(0.0, to_f64)
                };
                requests.extend(rows.clone().map(of_row));
                let cap = user.limit.as_ref().map(|limit| to_f64(&Rational::from(limit / &alone)));
                caps.push(cap.unwrap_or(f64::INFINITY));
                weights.push(to_f64(&user.weight));
            }
            if weights.is_empty() {
                continue;
            }
            let pool = Pool::new(rows.len(), requests, weights, caps)
                .map_err(|error| NewtonError::Start(error.to_string()))?;
            let end = path::follow(&pool, &PathSettings::default());
            for (row, price) in rows.zip(&end.prices) {
                prices[row] = Rational::from_f64(*price).unwrap_or_default();
            }
        }
        Ok(prices)
    }

    /// Computes the tasks that users take at these prices.
    fn respond(&self, prices: &[Rational]) -> Result<Response, NewtonError> {
        let mut slopes: Vec<Vec<Rational>> =
            (0..prices.len()).map(|j| vec![Rational::new(); j + 1]).collect();
        let (mut levels, mut spent) = (Vec::with_capacity(self.users.len()), Rational::new());
        let root = Rational::from(self.alpha.recip_ref());
        for user in &self.users {
            let uses = &user.places[user.home].uses;
            let paid = cost(&user.places[user.home], prices);
            // A user takes all its tasks if even its last task is worth the cost. Its payment is then the value of its
            // tasks, which does not depend on prices.
            if let Some(limit) = &user.limit {
                let worth = &user.weight * power(limit, &Rational::from(-self.alpha), BITS);
                if paid <= worth {
                    spent += worth * limit;
                    levels.push(limit.clone());
                    continue;
                }
            }
            if paid.is_zero() {
                return Err(NewtonError::Singular);
            }
            let level = rounded(&power(&Rational::from(&user.weight / &paid), &root, BITS));
            let slope = rounded(&(Rational::from(&level / &paid) / self.alpha));
            for (j, of_j) in uses {
                let weighted = rounded(&Rational::from(&slope * of_j));
                for (k, of_k) in uses.iter().filter(|(k, _)| k <= j) {
                    slopes[*j][*k] += Rational::from(&weighted * of_k);
                }
            }
            spent += rounded(&Rational::from(&level * &paid));
            levels.push(level);
        }
        for sum in slopes.iter_mut().flatten() {
            *sum = rounded(sum);
        }
        Ok(Response { levels, slopes, spent })
    }

    /// Returns the tasks by user and class.
    fn tasks(&self, levels: &[Rational], off_home: &[Rational]) -> Vec<Vec<(usize, Rational)>> {
        let mut tasks: Vec<Vec<(usize, Rational)>> =
            self.users.iter().zip(levels).map(|(user, level)| vec![(user.home, level.clone())]).collect();
        for ((k, at, unit), part) in self.off_home.iter().zip(off_home) {
            let x = Rational::from(unit * part);
            tasks[*k][0].1 -= &x;
            tasks[*k].push((*at, x));
        }
        tasks
    }

    /// Returns the use of every row minus its capacity, as a fraction of the row.
    fn excess(&self, tasks: &[Vec<(usize, Rational)>]) -> Vec<Rational> {
        let mut excess = vec![Rational::from(-1); self.constraints.rows().len()];
        for (user, tasks) in self.users.iter().zip(tasks) {
            for (at, x) in tasks {
                for (row, part) in &user.places[*at].uses {
                    excess[*row] += Rational::from(part * x);
                }
            }
        }
        excess
    }

    /// Returns the change of the use of each row if a user moves one unit of tasks from its main class to
    /// another class.
    fn use_changes(&self, prices: usize) -> Vec<Vec<Rational>> {
        let of = |(k, at, unit): &(usize, usize, Rational)| {
            let user = &self.users[*k];
            let mut change = vec![Rational::new(); prices];
            user.places[*at].uses.iter().for_each(|(row, part)| change[*row] += Rational::from(part * unit));
            user.places[user.home]
                .uses
                .iter()
                .for_each(|(row, part)| change[*row] -= Rational::from(part * unit));
            change
        };
        self.off_home.iter().map(of).collect()
    }

    /// Runs the semismooth Newton method for `min(p_j, slack_j) = 0` and equal costs. In the comparison, prices are
    /// fractions of the sum of all payments.
    fn newton(&self, mut values: Values) -> Result<Values, NewtonError> {
        let small = Rational::from((1, Integer::from(1) << LAST_CHANGE));
        let moves = self.use_changes(values.prices.len());
        for _ in 0..MOST_STEPS {
            let Response { levels, slopes, spent } = self.respond(&values.prices)?;
            let excess = self.excess(&self.tasks(&levels, &values.off_home));
            // A row is active if its price exceeds its slack, as at a bottleneck. Only the prices of active rows are
            // unknown.
            let is_active: Vec<bool> =
                values.prices.iter().zip(&excess).map(|(p, e)| Rational::from(p / &spent) + e > 0).collect();
            let active: Vec<usize> = (0..is_active.len()).filter(|&j| is_active[j]).collect();
            let slope = |j: usize, k: usize| &slopes[j.max(k)][j.min(k)];
            let of_rows = active.iter().map(|&j| {
                // A row that is no longer a bottleneck loses its price in the same step.
                let idle = (0..is_active.len()).filter(|&k| !is_active[k] && !values.prices[k].is_zero());
                let right = idle
                    .fold(excess[j].clone(), |sum, k| sum + Rational::from(slope(j, k) * &values.prices[k]));
                let mut row: Vec<Rational> = active.iter().map(|&k| slope(j, k).clone()).collect();
                row.extend(moves.iter().map(|change| Rational::from(-&change[j])));
                row.push(rounded(&right));
                row
            });
            // The cost on each other class of a user must equal the cost on its main class. These equations do not
            // contain tasks.
            let of_costs = moves.iter().map(|change| {
                let mut row: Vec<Rational> = active.iter().map(|&j| change[j].clone()).collect();
                row.extend(vec![Rational::new(); moves.len()]);
                let right: Rational =
                    active.iter().map(|&j| Rational::from(&change[j] * &values.prices[j])).sum();
                row.push(rounded(&-right));
                row
            });
            let change = eliminate(of_rows.chain(of_costs).collect());
            let (of_prices, of_tasks) = change.split_at(active.len());
            let mut next = Values { prices: vec![Rational::new(); is_active.len()], off_home: Vec::new() };
            for (&j, change) in active.iter().zip(of_prices) {
                next.prices[j] = rounded(&Rational::from(&values.prices[j] + change)).max(Rational::new());
            }
            next.off_home = values
                .off_home
                .iter()
                .zip(of_tasks)
                .map(|(x, change)| rounded(&Rational::from(x + change)))
                .collect();
            let differences = |a: &[Rational], b: &[Rational]| {
                a.iter().zip(b).map(|(a, b)| Rational::from(a - b).abs()).max().unwrap_or_default()
            };
            let of_prices = differences(&next.prices, &values.prices);
            let of_tasks = differences(&next.off_home, &values.off_home);
            values = next;
            if of_prices <= Rational::from(&small * &spent) && of_tasks <= small {
                return Ok(values);
            }
        }
        Err(NewtonError::NoConvergence)
    }

    /// Returns a feasible point close to the values, with prices of rows and limits that prove a bound for it.
    fn proving(&self, values: &Values) -> Result<(Tasks, Prices), NewtonError> {
        let off_home: Vec<Rational> =
            values.off_home.iter().map(|x| x.clone().max(Rational::new())).collect();
        let levels = self.respond(&values.prices)?.levels;
        let mut placed = self.tasks(&levels, &off_home);
        if placed.iter().any(|tasks| tasks[0].1 <= 0) {
            return Err(NewtonError::Singular);
        }
        // Scaling all tasks by the worst excess makes the point feasible.
        let most = self.excess(&placed).into_iter().max().unwrap_or_default().max(Rational::new());
        let part = Rational::from(1) / (most + 1u32);
        placed.iter_mut().flatten().for_each(|(_, x)| *x = rounded(&Rational::from(&*x * &part)));
        let total = |tasks: &[(usize, Rational)]| -> Rational { tasks.iter().map(|(_, x)| x).sum() };
        let worth = self.users.iter().zip(&placed).map(|(user, tasks)| {
            let [_, most] = bound::worth(&user.weight, &total(tasks), self.alpha);
            most
        });
        let worth: Vec<Rational> = worth.collect();
        // Users below their limit must pay at least the value of their tasks. One factor for all prices achieves this.
        let mut factor = Rational::from(1);
        let nearly = Rational::from(1) - Rational::from((1, Integer::from(1) << LAST_CHANGE));
        for ((user, worth), tasks) in self.users.iter().zip(&worth).zip(&placed) {
            if user.limit.as_ref().is_some_and(|limit| total(tasks) >= Rational::from(limit * &nearly)) {
                continue;
            }
            let paid = user.places.iter().map(|place| cost(place, &values.prices)).min();
            if let Some(paid) = paid.filter(|paid| !paid.is_zero()) {
                factor = factor.max(worth / paid);
            }
        }
        let prices: Vec<Rational> = values.prices.iter().map(|p| Rational::from(p * &factor)).collect();
        let n_users = self.constraints.problem().n_users();
        let (mut tasks, mut users): (Tasks, _) = (vec![Vec::new(); n_users], vec![Rational::new(); n_users]);
        for ((user, worth), placed) in self.users.iter().zip(&worth).zip(placed) {
            if user.limit.is_some() {
                let paid = user.places.iter().map(|place| cost(place, &prices)).min().unwrap_or_default();
                users[user.n] = (worth - paid).max(Rational::new());
            }
            let at = placed.into_iter().map(|(at, x)| (user.places[at].class, x));
            tasks[user.n] = at.filter(|(_, x)| !x.is_zero()).collect();
            tasks[user.n].sort_by_key(|(class, _)| *class);
        }
        let rows = prices.into_iter().zip(self.constraints.rows());
        let per_unit = |(price, row): (Rational, &evenhand_problem::Row)| match row.capacity.is_zero() {
            true => Rational::new(),
            false => price / &row.capacity,
        };
        Ok((tasks, Prices { user_weights: Vec::new(), rows: rows.map(per_unit).collect(), users }))
    }
}

/// Returns the cost of a task on a class.
fn cost(place: &Place, prices: &[Rational]) -> Rational {
    place.uses.iter().map(|(row, part)| Rational::from(part * &prices[*row])).sum()
}
