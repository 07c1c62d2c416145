//! A linear programme of any kind, in exact numbers.
//!
//! $$\min\ \text{or}\ \max\quad c_0 + c^T x\qquad l \le A x \le u,\quad l' \le x \le u'$$
//!
//! Every bound of a row or a column may be infinite. Columns may be marked as integer. [`Model::solve`](crate::solve)
//! then solves the relaxation, and its answer says so.

use rug::Rational;

use crate::linear::SparseRow;

/// The direction of the objective.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// The objective is minimised.
    #[default]
    Minimise,
    /// The objective is maximised.
    Maximise,
}

/// Bounds of a row or of a column. `None` stands for an infinite bound.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The lower bound.
    pub lower: Option<Rational>,
    /// The upper bound.
    pub upper: Option<Rational>,
}

impl Bounds {
    /// Returns bounds that allow the values from `lower` on.
    #[must_use]
    pub fn at_least(lower: impl Into<Rational>) -> Self {
        Self { lower: Some(lower.into()), upper: None }
    }

    /// Returns bounds that allow the values up to `upper`.
    #[must_use]
    pub fn at_most(upper: impl Into<Rational>) -> Self {
        Self { lower: None, upper: Some(upper.into()) }
    }

    /// Returns bounds that allow exactly one value.
    #[must_use]
    pub fn equal(value: impl Into<Rational>) -> Self {
        let value = value.into();
        Self { lower: Some(value.clone()), upper: Some(value) }
    }

    /// Returns bounds that allow the values from `lower` to `upper`.
    #[must_use]
    pub fn between(lower: impl Into<Rational>, upper: impl Into<Rational>) -> Self {
        Self { lower: Some(lower.into()), upper: Some(upper.into()) }
    }

    /// Returns infinite bounds.
    #[must_use]
    pub fn free() -> Self {
        Self::default()
    }

    /// Returns true if exactly one value is allowed.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.lower.is_some() && self.lower == self.upper
    }

    /// Returns true if no value is allowed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!((&self.lower, &self.upper), (Some(lower), Some(upper)) if lower > upper)
    }

    /// Returns by how much a value is outside of the bounds. The result is 0 for a value inside.
    #[must_use]
    pub fn violation(&self, value: &Rational) -> Rational {
        let below = self.lower.as_ref().map(|lower| Rational::from(lower - value));
        let above = self.upper.as_ref().map(|upper| Rational::from(value - upper));
        below.into_iter().chain(above).fold(Rational::new(), Rational::max)
    }

    /// Returns the bound to which a price refers: the lower bound for a positive price, and the upper bound for a
    /// negative price.
    #[must_use]
    pub fn for_price(&self, is_positive: bool) -> Option<&Rational> {
        if is_positive { self.lower.as_ref() } else { self.upper.as_ref() }
    }
}

/// A row: its name and its bounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// The name.
    pub name: String,
    /// The bounds of `a x`.
    pub bounds: Bounds,
}

/// A column: a variable of the programme.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The objective coefficient.
    pub cost: Rational,
    /// The bounds of the variable.
    pub bounds: Bounds,
    /// True if the variable must be an integer.
    pub is_integer: bool,
    /// The entries that are not 0, as `(row, value)`. No row is listed twice.
    pub entries: SparseRow,
}

/// A linear programme.
///
/// # Examples
/// ```
/// use evenhand_lp::model::{Bounds, Direction, Model};
/// use evenhand_lp::solve::{Settings, Status, solve};
/// use rug::Rational;
///
/// // max 3 x + 2 y with x + y <= 4, x + 3 y <= 6, 0 <= x <= 3, y >= 0.
/// let mut model = Model::new("example", Direction::Maximise);
/// let sum = model.row("sum", Bounds::at_most(4));
/// let other = model.row("other", Bounds::at_most(6));
/// model.column("x", 3, Bounds::between(0, 3), [(sum, 1), (other, 1)]);
/// model.column("y", 2, Bounds::at_least(0), [(sum, 1), (other, 3)]);
/// let answer = solve(&model, &Settings::default())?;
/// let Status::Optimal(optimum) = answer.status else { panic!("an optimum") };
/// assert_eq!(optimum.objective, 11);
/// assert_eq!(optimum.x, [3, 1].map(Rational::from));
/// # Ok::<(), evenhand_lp::LpError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    /// The name.
    pub name: String,
    /// The direction of the objective: minimised or maximised.
    pub direction: Direction,
    /// The part of the objective that does not depend on the variables.
    pub constant: Rational,
    /// The rows.
    pub rows: Vec<Row>,
    /// The columns.
    pub columns: Vec<Column>,
}

impl Model {
    /// Returns a programme without rows and columns.
    #[must_use]
    pub fn new(name: impl Into<String>, direction: Direction) -> Self {
        Self { name: name.into(), direction, ..Self::default() }
    }

    /// Adds a row and returns its index.
    pub fn row(&mut self, name: impl Into<String>, bounds: Bounds) -> usize {
        self.rows.push(Row { name: name.into(), bounds });
        self.rows.len() - 1
    }

    /// Adds a column and returns its index. Entries are `(row, value)`. No row may occur twice.
    pub fn column<V: Into<Rational>>(
        &mut self,
        name: impl Into<String>,
        cost: impl Into<Rational>,
        bounds: Bounds,
        entries: impl IntoIterator<Item = (usize, V)>,
    ) -> usize {
        let entries = entries.into_iter().map(|(row, value)| (row, value.into()));
        let entries = entries.filter(|(_, value)| !value.is_zero()).collect();
        self.columns.push(Column {
            name: name.into(),
            cost: cost.into(),
            bounds,
            is_integer: false,
            entries,
        });
        self.columns.len() - 1
    }

    /// Returns true if any column must be an integer.
    #[must_use]
    pub fn has_integers(&self) -> bool {
        self.columns.iter().any(|column| column.is_integer)
    }

    /// Returns the number of entries that are not 0.
    #[must_use]
    pub fn n_entries(&self) -> usize {
        self.columns.iter().map(|column| column.entries.len()).sum()
    }

    /// Returns the objective value of a point.
    #[must_use]
    pub fn objective(&self, x: &[Rational]) -> Rational {
        let terms = self.columns.iter().zip(x).filter(|(column, x)| !x.is_zero() && !column.cost.is_zero());
        terms.fold(self.constant.clone(), |sum, (column, x)| sum + Rational::from(&column.cost * x))
    }

    /// Returns the activity `a x` of each row.
    #[must_use]
    pub fn activities(&self, x: &[Rational]) -> Vec<Rational> {
        let mut activities = vec![Rational::new(); self.rows.len()];
        for (column, x) in self.columns.iter().zip(x).filter(|(_, x)| !x.is_zero()) {
            for (row, value) in &column.entries {
                activities[*row] += Rational::from(value * x);
            }
        }
        activities
    }

    /// Returns the cost of a column in the minimised programme. If the objective is maximised, this cost is the negated
    /// cost of the column.
    #[must_use]
    pub fn minimised_cost(&self, column: usize) -> Rational {
        let cost = &self.columns[column].cost;
        match self.direction {
            Direction::Minimise => cost.clone(),
            Direction::Maximise => Rational::from(-cost),
        }
    }

    /// Returns the reduced cost `(c - y A)_j` of each column in the minimised programme.
    #[must_use]
    pub fn reduced_costs(&self, y: &[Rational]) -> Vec<Rational> {
        let reduced = |j: usize| {
            let entries = self.columns[j].entries.iter().filter(|(row, _)| !y[*row].is_zero());
            entries.fold(self.minimised_cost(j), |sum, (row, value)| sum - Rational::from(value * &y[*row]))
        };
        (0..self.columns.len()).map(reduced).collect()
    }

    /// Returns the lower bound that these prices prove on the objective of the minimised programme, without its
    /// constant:
    ///
    /// $$\sum_i \min_{l_i \le r \le u_i} y_i r + \sum_j \min_{l'_j \le v \le u'_j} (c - y A)_j v$$
    ///
    /// Returns `None` if the sum needs an infinite bound (Neumaier and Shcherbina, "Safe bounds in linear and
    /// mixed-integer linear programming", Mathematical Programming 99, 2004). Any prices give a valid bound.
    #[must_use]
    pub fn proven_bound(&self, y: &[Rational]) -> Option<Rational> {
        self.proven_bound_at(y, &self.reduced_costs(y))
    }

    /// Returns the bound of [`Model::proven_bound`], given the reduced costs.
    #[must_use]
    pub fn proven_bound_at(&self, y: &[Rational], reduced: &[Rational]) -> Option<Rational> {
        let rows = self.rows.iter().map(|row| &row.bounds).zip(y);
        let columns = self.columns.iter().map(|column| &column.bounds).zip(reduced);
        let mut sum = Rational::new();
        for (bounds, price) in rows.chain(columns).filter(|(_, price)| !price.is_zero()) {
            sum += Rational::from(bounds.for_price(*price > 0)? * price);
        }
        Some(sum)
    }

    /// Returns the row or column whose bounds are violated most, and the amount of the violation.
    #[must_use]
    pub fn largest_violation(&self, x: &[Rational]) -> Option<(Position, Rational)> {
        let activities = self.activities(x);
        let rows = self.rows.iter().zip(&activities).enumerate();
        let rows = rows.map(|(i, (row, value))| (Position::Row(i), row.bounds.violation(value)));
        let columns = self.columns.iter().zip(x).enumerate();
        let columns =
            columns.map(|(j, (column, value))| (Position::Column(j), column.bounds.violation(value)));
        let violated = rows.chain(columns).filter(|(_, violation)| *violation > 0);
        violated.fold(None, |most: Option<(Position, Rational)>, next| match most {
            Some(most) if most.1 >= next.1 => Some(most),
            _ => Some(next),
        })
    }
}

/// A row or a column of a programme, by its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Position {
    /// A row.
    Row(usize),
    /// A column.
    Column(usize),
}
