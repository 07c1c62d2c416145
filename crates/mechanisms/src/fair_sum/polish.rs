//! Refinement of a floating-point optimum to 50 digits, and to short fractions if the digits are close to such
//! fractions (docs/theory.md, section 3).
//!
//! The active set of the point consists of the classes that each user uses, the rows with a price, and the users that
//! have all their tasks. It turns the optimality conditions into equations, which Newton's method solves. Residuals
//! are computed in rational numbers and steps in floating point, so every step gains about as many digits as a double
//! has. Numbers that are close to a short fraction are then replaced by it, and the exact gap shows whether the
//! result is optimal.

use std::cell::RefCell;

use evenhand_exact::axiom::feasible;
use evenhand_exact::axiom::proportional::{gap, lift_prices, worth};
use evenhand_exact::{Instance, Prices};
use evenhand_ode::dense;
use evenhand_problem::number::from_f64;
use evenhand_problem::number::near;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Rational};
use nalgebra::DMatrix;
use rug::Integer;

use super::rows::Rows;
use super::{FairPoint, OnClass};
use crate::fisher::{Equilibrium, sharing_of};
use crate::lift::lift;
use crate::rounding::{self, cut, digits_below, short};

/// The largest number `n` of unknowns for which a dense elimination, of about `n^3` operations, is worthwhile.
const MOST_UNKNOWNS: usize = 160;
/// The ways to determine the active set, in the order in which they are tried. The number is the fraction of
/// a user, a row or a limit that counts as 0. With `true`, a class counts as used if its cost exceeds that of
/// the user's cheapest class by at most this fraction, even if the user has few tasks there.
const NEGLIGIBLE: [(f64, bool); 8] = [
    (1e-7, false),
    (1e-5, false),
    (1e-5, true),
    (1e-6, true),
    (1e-9, false),
    (1e-4, true),
    (1e-4, false),
    (1e-8, true),
];
/// The maximum number of Newton steps.
const STEPS: usize = 14;
/// The number of consecutive steps with little progress after which the method gives up.
const STALLED: usize = 3;
/// The relative difference up to which two costs count as equal.
const SAME_COST: f64 = 1e-12;
/// The bits of the numbers in Newton's method.
const BITS: u32 = 240;
/// The relative residual at which the method has converged (45 digits). The worth of tasks is enclosed to 50
/// digits.
const CONVERGED: f64 = 1e-45;
/// The relative distance within which a number is taken for a short fraction.
const SAME: f64 = 1e-40;
/// The largest total size, in bits, of the numerator and denominator of a short fraction. A random number is within
/// [`SAME`] of such a fraction with a probability of about `2^-20`.
const SHORT: u32 = 110;
/// The number of decimal digits of an optimum that is not a short fraction.
pub const DIGITS: u32 = 30;

/// Returns the optimum near `point` with the smallest gap found, or `None` if the system is too large or has no
/// solution near the point.
pub fn polish(constraints: &Constraints<'_>, alpha: &Rational, point: &FairPoint) -> Option<Equilibrium> {
    // An active set without a solution may be reduced. The reduced set is tried before the next way to determine the
    // set.
    let reduced: RefCell<Option<Unknowns>> = RefCell::new(None);
    let rows = Rows::new(constraints);
    let mut readings =
        NEGLIGIBLE.iter().map(|(negligible, by_cost)| Unknowns::read(&rows, point, *negligible, *by_cost));
    let candidates = std::iter::from_fn(|| {
        let left = reduced.take();
        left.or_else(|| readings.find(|unknowns| unknowns.len() <= MOST_UNKNOWNS))
    });
    let solve = |unknowns: &Unknowns| {
        let system = System { constraints, rows: &rows, alpha, unknowns };
        let values = system.solve(point).map_err(|left| _ = reduced.replace(left))?;
        system.answer(&values).ok_or(())
    };
    let judge = |found: Equilibrium| {
        let gap = found.gap.clone();
        Ok((found, gap))
    };
    lift(candidates, solve, judge).ok()
}

/// The active set, and with it the unknowns of the equations.
#[derive(PartialEq)]
struct Unknowns {
    /// The pairs `(user, class)` of a user and a class that it uses, in the order of users.
    places: Vec<(usize, usize)>,
    /// The rows with a price.
    rows: Vec<usize>,
    /// The users with all their tasks.
    satisfied: Vec<usize>,
}

/// The values of the unknowns, in the order of [`Unknowns`].
struct Values {
    tasks: Vec<Rational>,
    prices: Vec<Rational>,
    user_prices: Vec<Rational>,
}

impl Unknowns {
    fn read(rows: &Rows<'_>, point: &FairPoint, negligible: f64, by_cost: bool) -> Self {
        let costs_something = |row: usize| {
            let price = point.row_prices[row] * near(rows.capacity(row));
            point.row_slack[row] < negligible && price > 0.0 && !rows.capacity(row).is_zero()
        };
        let satisfied = (0..point.places.len()).filter(|&n| point.user_slack[n] < negligible).collect();
        let mut places = Vec::new();
        for (n, list) in point.places.iter().enumerate() {
            let total: f64 = list.iter().map(|place| place.tasks).sum();
            let is_used = |p: &&OnClass| match by_cost {
                true => p.excess < negligible && p.tasks > 0.0,
                false => p.tasks > negligible * total,
            };
            places.extend(list.iter().filter(is_used).map(|p| (n, p.class)));
        }
        let uses = |n: usize, i: usize, row: usize| rows.usage(row, n, i).is_some_and(|used| !used.is_zero());
        let is_used = |row: &usize| places.iter().any(|&(n, i)| uses(n, i, *row));
        let rows = (0..rows.len()).filter(|&row| costs_something(row)).filter(is_used).collect();
        Self { places, rows, satisfied }
    }

    fn len(&self) -> usize {
        self.places.len() + self.rows.len() + self.satisfied.len()
    }
}

/// The lower and the upper bound of the worth of a task.
type Worth = Option<(Rational, Rational)>;

struct System<'a> {
    constraints: &'a Constraints<'a>,
    rows: &'a Rows<'a>,
    alpha: &'a Rational,
    unknowns: &'a Unknowns,
}

impl System<'_> {
    /// Solves the equations of the active set.
    ///
    /// # Errors
    /// Returns the reduced active set if the equations have no solution and some classes cost their user more
    /// than its cheapest class. The reduced set leaves these classes out.
    fn solve(&self, point: &FairPoint) -> Result<Values, Option<Unknowns>> {
        let mut values = self.start(point).ok_or(None)?;
        match self.newton(&mut values) {
            Some(true) => Ok(values),
            Some(false) => Err(self.without_expensive_places(&values)),
            None => Err(None),
        }
    }

    fn start(&self, point: &FairPoint) -> Option<Values> {
        let of_place = |(n, i): &(usize, usize)| {
            let place = point.places[*n].iter().find(|place| place.class == *i)?;
            Some(short(place.tasks)).filter(|x| *x > 0)
        };
        Some(Values {
            tasks: self.unknowns.places.iter().map(of_place).collect::<Option<_>>()?,
            prices: self.unknowns.rows.iter().map(|row| short(point.row_prices[*row])).collect(),
            user_prices: self.unknowns.satisfied.iter().map(|n| short(point.user_prices[*n])).collect(),
        })
    }

    /// Runs Newton's method and returns whether it converged, or `None` if a step is impossible.
    fn newton(&self, values: &mut Values) -> Option<bool> {
        let mut stalled = 0;
        let mut last = f64::INFINITY;
        for _ in 0..STEPS {
            let n = (self.unknowns.rows.len() + self.unknowns.satisfied.len()) as u64;
            evenhand_budget::charge(10_000 * n + n.saturating_pow(3) / 8, "Newton's method in exact numbers");
            let (residuals, matrix) = self.equations(values)?;
            let size = residuals.iter().map(|r| r.clone().abs()).max().unwrap_or_default();
            if size <= from_f64(CONVERGED)? {
                return Some(true);
            }
            // The residuals may be so small that doubles would round them to 0, so the system is solved in units of the
            // largest residual.
            let right = residuals.iter().map(|r| near(&Rational::from(r / &size))).collect();
            let change = dense::solve(matrix, right)?;
            self.change(values, &change, &size)?;
            let size = near(&size);
            stalled = if size > 1e-3 * last { stalled + 1 } else { 0 };
            if stalled > STALLED {
                return Some(false);
            }
            last = size;
        }
        Some(false)
    }

    /// Returns the active set without the classes that cost their user more than its cheapest class, or
    /// `None` if there are no such classes.
    fn without_expensive_places(&self, values: &Values) -> Option<Unknowns> {
        let Unknowns { places, rows, satisfied } = self.unknowns;
        let cost = |&(n, i): &(usize, usize)| {
            let priced = rows.iter().zip(&values.prices);
            priced.filter_map(|(row, price)| Some(self.rows.usage(*row, n, i)? * price)).sum::<Rational>()
        };
        let costs: Vec<Rational> = places.iter().map(cost).collect();
        let least = |n: usize| {
            let own = places.iter().zip(&costs).filter(|((user, _), _)| *user == n);
            own.map(|(_, cost)| cost).min()
        };
        let factor = 1 + from_f64(SAME_COST)?;
        let is_cheap =
            |k: &usize| least(places[*k].0).is_some_and(|least| costs[*k] <= Rational::from(least * &factor));
        let kept: Vec<(usize, usize)> = (0..places.len()).filter(is_cheap).map(|k| places[k]).collect();
        (kept.len() < places.len()).then(|| Unknowns {
            places: kept,
            rows: rows.clone(),
            satisfied: satisfied.clone(),
        })
    }

    /// Returns the residuals of the equations, each relative to the size of its equation, and the derivatives
    /// by relative changes of the unknowns.
    fn equations(&self, values: &Values) -> Option<(Vec<Rational>, DMatrix<f64>)> {
        let Unknowns { places, rows, satisfied } = self.unknowns;
        let problem = self.constraints.problem();
        let (totals, worth) = self.totals_and_worth(&values.tasks)?;
        let (n_places, n_rows) = (places.len(), rows.len());
        let mut matrix = DMatrix::zeros(self.unknowns.len(), self.unknowns.len());
        let mut residuals = Vec::with_capacity(self.unknowns.len());
        let mut left: Vec<Rational> = rows.iter().map(|row| self.rows.capacity(*row).clone()).collect();
        let alpha = near(self.alpha);
        for (k, &(n, i)) in places.iter().enumerate() {
            let (most, total) = (&worth[n].as_ref()?.0, &totals[n]);
            let mut missing = most.clone();
            for (l, &(other, _)) in places.iter().enumerate().filter(|(_, (other, _))| *other == n) {
                debug_assert_eq!(other, n);
                matrix[(k, l)] = -alpha * near(&Rational::from(&values.tasks[l] / total));
            }
            for (r, &row) in rows.iter().enumerate() {
                let Some(usage) = self.rows.usage(row, n, i) else { continue };
                let cost = Rational::from(&usage * &values.prices[r]);
                matrix[(k, n_places + r)] = -near(&Rational::from(&cost / most));
                missing -= cost;
                let used = usage * &values.tasks[k];
                matrix[(n_places + r, k)] = -near(&Rational::from(&used / self.rows.capacity(row)));
                left[r] -= used;
            }
            if let Some(q) = satisfied.iter().position(|user| *user == n) {
                matrix[(k, n_places + n_rows + q)] = -1.0;
                matrix[(n_places + n_rows + q, k)] = -near(&Rational::from(&values.tasks[k] / total));
                missing -= &values.user_prices[q];
            }
            residuals.push(missing / most);
        }
        for (left, &row) in left.into_iter().zip(rows) {
            residuals.push(left / self.rows.capacity(row));
        }
        for &n in satisfied {
            let limit = problem.users()[n].tasks()?;
            residuals.push(Rational::from(limit - &totals[n]) / limit);
        }
        Some((residuals, matrix))
    }

    /// Applies a Newton step. Tasks and row prices are multiplied by `1 - unit * change`. Prices of task
    /// limits change by a fraction of the worth of a task.
    fn change(&self, values: &mut Values, change: &[f64], unit: &Rational) -> Option<()> {
        let Unknowns { places, rows, satisfied } = self.unknowns;
        let (_, worth) = self.totals_and_worth(&values.tasks)?;
        let step = |change: &f64| Some(from_f64(*change)? * unit);
        let (of_places, rest) = change.split_at(places.len());
        let (of_rows, of_users) = rest.split_at(rows.len());
        let values_and_steps =
            values.tasks.iter_mut().zip(of_places).chain(values.prices.iter_mut().zip(of_rows));
        for (value, change) in values_and_steps {
            let factor = 1 - step(change)?;
            if factor <= 0 {
                return None;
            }
            *value = cut(&(&*value * factor), BITS);
        }
        for ((value, change), &n) in values.user_prices.iter_mut().zip(of_users).zip(satisfied) {
            let changed = &*value - step(change)? * &worth[n].as_ref()?.0;
            *value = cut(&changed, BITS);
        }
        Some(())
    }

    /// Returns the total tasks `x_n` and the enclosed worth of a task for each user. The worth is `None` for
    /// users that get nothing.
    fn totals_and_worth(&self, tasks: &[Rational]) -> Option<(Vec<Rational>, Vec<Worth>)> {
        let allocation = self.allocation(tasks);
        // Intermediate points may overfill a row, so the tasks are used as stated, without the repair.
        let repaired = Instance::new(self.constraints.problem(), &allocation).ok()?;
        let instance = repaired.stated();
        let totals = (0..self.constraints.problem().n_users()).map(|n| instance.total(n)).collect();
        Some((totals, worth(instance, self.alpha, None).ok()?))
    }

    fn allocation(&self, tasks: &[Rational]) -> Allocation {
        let mut by_user = vec![Vec::new(); self.constraints.problem().n_users()];
        for ((n, i), x) in self.unknowns.places.iter().zip(tasks) {
            by_user[*n].push((*i, x.clone()));
        }
        let (sharing, arithmetic) = (sharing_of(self.constraints), Arithmetic::Exact);
        Allocation { sharing, arithmetic, tasks: by_user, ..Allocation::default() }
    }

    /// Returns the values as short fractions if these are an optimum, or else rounded down to [`DIGITS`].
    fn answer(&self, values: &Values) -> Option<Equilibrium> {
        let fractions = |values: &[Rational]| values.iter().map(fraction).collect::<Option<Vec<Rational>>>();
        let prices = |values: &[Rational]| {
            values.iter().map(|v| fraction(v).unwrap_or_else(|| v.clone())).collect::<Vec<_>>()
        };
        if let Some(tasks) = fractions(&values.tasks)
            && let Some(found) = self.proven(&tasks, &prices(&values.prices), &prices(&values.user_prices))
        {
            return Some(found);
        }
        let tasks: Vec<Rational> = values.tasks.iter().map(|x| digits_below(x, DIGITS)).collect();
        self.proven(&tasks, &values.prices, &values.user_prices)
    }

    /// Returns the answer with its proven gap, or `None` if the tasks are infeasible.
    fn proven(
        &self,
        tasks: &[Rational],
        prices: &[Rational],
        user_prices: &[Rational],
    ) -> Option<Equilibrium> {
        let problem = self.constraints.problem();
        let allocation = self.allocation(tasks);
        let instance = Instance::new(problem, &allocation).ok()?;
        if feasible::tightest(&instance).is_some_and(|(_, margin)| margin < 0) {
            return None;
        }
        let mut rows = vec![Rational::new(); self.rows.len()];
        for (row, price) in self.unknowns.rows.iter().zip(prices) {
            rows[*row].clone_from(price);
        }
        let mut users = vec![Rational::new(); problem.n_users()];
        for (n, price) in self.unknowns.satisfied.iter().zip(user_prices) {
            users[*n] = price.clone().max(Rational::new());
        }
        let given = Prices { user_weights: Vec::new(), rows, users };
        let (prices, gap) = match gap(&instance, self.alpha, None, &given) {
            Ok(gap) => (given, gap),
            Err(_) => {
                let lifted = lift_prices(&instance, self.alpha, None, &given.rows, &given.users)?;
                let gap = gap(&instance, self.alpha, None, &lifted).ok()?;
                (lifted, gap)
            }
        };
        Some(Equilibrium { tasks: allocation.tasks, prices, gap })
    }
}

/// Returns the short fraction that `value` approximates, or `None` if there is no such fraction.
fn fraction(value: &Rational) -> Option<Rational> {
    let is_short =
        |above: &Integer, below: &Integer| above.significant_bits() + below.significant_bits() <= SHORT;
    rounding::fraction(value, &from_f64(SAME)?, is_short)
}
