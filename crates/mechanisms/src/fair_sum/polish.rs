//! Polishes a floating-point optimum to 50 digits, and to the rational numbers that they stand for
//! (docs/theory.md, section 3).
//!
//! The active set of the point (the places that are used, the rows that have a price, the users that have
//! all their tasks) turns the optimality conditions into equations. Newton's method solves them: residuals
//! in rational numbers, steps in floating point, so that every step gains about as many digits as a double
//! has. What looks like a short fraction then is tried as one; the exact gap says whether it is.

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

use super::{FairPoint, OnClass};
use crate::fisher::{Equilibrium, sharing_of};
use crate::lift::lift;
use crate::rounding::{self, cut, digits_below, short};

/// Unknowns of a system that is worth a dense elimination of about `n^3` operations.
const MOST_UNKNOWNS: usize = 160;
/// Parts of a user, a row or a limit that count as 0, in the order in which they are tried; with `true`, a place
/// is used where it costs no more than that part above the cheapest, however little the
/// user does there.
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
/// Steps of Newton's method, at most.
const STEPS: usize = 14;
/// Steps that gain little after which the method is given up.
const STALLED: usize = 3;
/// Relative difference of costs that is none.
const SAME_COST: f64 = 1e-12;
/// Bits of the numbers that Newton's method works with.
const BITS: u32 = 240;
/// Relative residual of 45 digits: the worth of tasks is enclosed to 50.
const CONVERGED: f64 = 1e-45;
/// Relative distance within which a short fraction is taken for the number.
const SAME: f64 = 1e-40;
/// Bits of a fraction that is short beside the digits known: a coincidence has odds of `2^-20`.
const SHORT: u32 = 110;
/// Decimal digits of an optimum that is not a short fraction.
pub const DIGITS: u32 = 30;

/// The optimum near `point` with the best gap that was found; `None` where the system is too large or has
/// no solution near it.
pub fn polish(constraints: &Constraints<'_>, alpha: &Rational, point: &FairPoint) -> Option<Equilibrium> {
    // What is left of an active set that has no solution comes before the next reading.
    let reduced: RefCell<Option<Unknowns>> = RefCell::new(None);
    let mut readings = NEGLIGIBLE
        .iter()
        .map(|(negligible, by_cost)| Unknowns::read(constraints, point, *negligible, *by_cost));
    let candidates = std::iter::from_fn(|| {
        let left = reduced.take();
        left.or_else(|| readings.find(|unknowns| unknowns.len() <= MOST_UNKNOWNS))
    });
    let solve = |unknowns: &Unknowns| {
        let system = System { constraints, alpha, unknowns };
        let values = system.solve(point).map_err(|left| _ = reduced.replace(left))?;
        system.answer(&values).ok_or(())
    };
    let judge = |found: Equilibrium| {
        let gap = found.gap.clone();
        Ok((found, gap))
    };
    lift(candidates, solve, judge).ok()
}

/// The active set.
#[derive(PartialEq)]
struct Unknowns {
    /// `(user, class)` of the places that are used, by user.
    places: Vec<(usize, usize)>,
    /// Rows with a price.
    rows: Vec<usize>,
    /// Users with all their tasks.
    satisfied: Vec<usize>,
}

/// Numbers of the unknowns, in their order.
struct Values {
    tasks: Vec<Rational>,
    prices: Vec<Rational>,
    user_prices: Vec<Rational>,
}

impl Unknowns {
    fn read(constraints: &Constraints<'_>, point: &FairPoint, negligible: f64, by_cost: bool) -> Self {
        let rows = constraints.rows();
        let costs_something = |row: usize| {
            let price = point.row_prices[row] * near(&rows[row].capacity);
            point.row_slack[row] < negligible && price > 0.0 && !rows[row].capacity.is_zero()
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
        let is_used = |row: &usize| {
            places.iter().any(|&(n, i)| i == rows[*row].server && !usage(constraints, n, i, *row).is_zero())
        };
        let rows = (0..rows.len()).filter(|&row| costs_something(row)).filter(is_used).collect();
        Self { places, rows, satisfied }
    }

    fn len(&self) -> usize {
        self.places.len() + self.rows.len() + self.satisfied.len()
    }
}

/// What a task of user `n` on class `i` uses of a row of the class.
fn usage(constraints: &Constraints<'_>, n: usize, i: usize, row: usize) -> Rational {
    let position = row - constraints.class_rows(i).start;
    constraints.usage(n, i).map(|usage| usage[position].clone()).unwrap_or_default()
}

/// Lower and upper bound of the worth of a task.
type Worth = Option<(Rational, Rational)>;

struct System<'a> {
    constraints: &'a Constraints<'a>,
    alpha: &'a Rational,
    unknowns: &'a Unknowns,
}

impl System<'_> {
    /// The solution of the equations.
    ///
    /// # Errors
    /// What is left of the active set when places that cost more than others of the same user are left
    /// out, where they are what has no solution.
    fn solve(&self, point: &FairPoint) -> Result<Values, Option<Unknowns>> {
        let mut values = self.start(point).ok_or(None)?;
        match self.newton(&mut values) {
            Some(true) => Ok(values),
            Some(false) => Err(self.without_dear_places(&values)),
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

    /// Whether Newton's method converged; `None` where it cannot go on.
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
            // Residuals of this size would be 0 in floating point: they are solved for in their own unit.
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

    /// The active set without the places that cost their user more than its cheapest.
    fn without_dear_places(&self, values: &Values) -> Option<Unknowns> {
        let Unknowns { places, rows, satisfied } = self.unknowns;
        let cost = |&(n, i): &(usize, usize)| {
            let priced = rows.iter().zip(&values.prices);
            let on_class = priced.filter(|(row, _)| self.constraints.rows()[**row].server == i);
            on_class.map(|(row, price)| usage(self.constraints, n, i, *row) * price).sum::<Rational>()
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

    /// Residuals of the equations, each relative to its own size, and their derivatives by the relative
    /// changes of the unknowns.
    fn equations(&self, values: &Values) -> Option<(Vec<Rational>, DMatrix<f64>)> {
        let Unknowns { places, rows, satisfied } = self.unknowns;
        let problem = self.constraints.problem();
        let (totals, worth) = self.totals_and_worth(&values.tasks)?;
        let (n_places, n_rows) = (places.len(), rows.len());
        let mut matrix = DMatrix::zeros(self.unknowns.len(), self.unknowns.len());
        let mut residuals = Vec::with_capacity(self.unknowns.len());
        let mut left: Vec<Rational> =
            rows.iter().map(|row| self.constraints.rows()[*row].capacity.clone()).collect();
        let alpha = near(self.alpha);
        for (k, &(n, i)) in places.iter().enumerate() {
            let (most, total) = (&worth[n].as_ref()?.0, &totals[n]);
            let mut missing = most.clone();
            for (l, &(other, _)) in places.iter().enumerate().filter(|(_, (other, _))| *other == n) {
                debug_assert_eq!(other, n);
                matrix[(k, l)] = -alpha * near(&Rational::from(&values.tasks[l] / total));
            }
            for (r, &row) in
                rows.iter().enumerate().filter(|(_, row)| self.constraints.rows()[**row].server == i)
            {
                let usage = usage(self.constraints, n, i, row);
                let cost = Rational::from(&usage * &values.prices[r]);
                matrix[(k, n_places + r)] = -near(&Rational::from(&cost / most));
                missing -= cost;
                let used = usage * &values.tasks[k];
                matrix[(n_places + r, k)] =
                    -near(&Rational::from(&used / &self.constraints.rows()[row].capacity));
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
            residuals.push(left / &self.constraints.rows()[row].capacity);
        }
        for &n in satisfied {
            let limit = problem.users()[n].tasks()?;
            residuals.push(Rational::from(limit - &totals[n]) / limit);
        }
        Some((residuals, matrix))
    }

    /// Newton's step: the unknowns are multiplied by `1 - unit change`, prices of tasks change by a part
    /// of what a task is worth.
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

    /// `x_n` by user, and what a task of each is worth (`None` for users that get nothing), enclosed.
    fn totals_and_worth(&self, tasks: &[Rational]) -> Option<(Vec<Rational>, Vec<Worth>)> {
        let allocation = self.allocation(tasks);
        // On its way the method may overfill a row: it works with the tasks as they are.
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

    /// The numbers as short fractions, if that is an optimum; else rounded down to [`DIGITS`].
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

    /// The answer with the gap that is proven for it; `None` where it does not fit.
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
        let mut rows = vec![Rational::new(); self.constraints.rows().len()];
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

/// The fraction that `value` stands for; `None` if it is not short.
fn fraction(value: &Rational) -> Option<Rational> {
    let is_short =
        |above: &Integer, below: &Integer| above.significant_bits() + below.significant_bits() <= SHORT;
    rounding::fraction(value, &from_f64(SAME)?, is_short)
}
