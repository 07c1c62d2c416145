//! A slow, simple and independent reference: a dense simplex method in rationals with Bland's rule, and the
//! textbook rounds of lexicographic max-min. The reference uses no external solver and no groups, and leaves
//! out no columns.

use evenhand_exact::ShareCoefficients;
use evenhand_problem::{Problem, Rational, Sharing};

/// The result of a linear programme.
#[derive(Debug, Clone, PartialEq)]
pub enum Solved {
    Infeasible,
    Unbounded,
    Optimal { value: Rational, x: Vec<Rational> },
}

impl Solved {
    pub fn optimal(self) -> (Rational, Vec<Rational>) {
        match self {
            Self::Optimal { value, x } => (value, x),
            other => panic!("the reference programme is {other:?}"),
        }
    }
}

/// The linear programme `max c x` with `a x <= b` and `x >= 0`.
#[derive(Debug, Clone, Default)]
pub struct Dense {
    pub costs: Vec<Rational>,
    pub rows: Vec<(Vec<Rational>, Rational)>,
}

impl Dense {
    pub fn solve(&self) -> Solved {
        let n = self.costs.len();
        let mut table = Table {
            columns: (0..n).collect(),
            basic: (n..n + self.rows.len()).collect(),
            rows: self.rows.iter().map(|(a, b)| a.iter().chain([b]).cloned().collect()).collect(),
            objective: Vec::new(),
        };
        if !table.make_feasible(n + self.rows.len()) {
            return Solved::Infeasible;
        }
        table.price(&self.costs);
        if !table.ascend() {
            return Solved::Unbounded;
        }
        let mut x = vec![Rational::new(); n];
        for (variable, row) in table.basic.iter().zip(&table.rows) {
            if *variable < n {
                x[*variable].clone_from(&row[row.len() - 1]);
            }
        }
        let value = x.iter().zip(&self.costs).map(|(x, c)| Rational::from(x * c)).sum();
        Solved::Optimal { value, x }
    }
}

/// A condensed tableau. The last entry of every row is its right-hand side.
struct Table {
    /// The variable of each nonbasic column.
    columns: Vec<usize>,
    /// The basic variable of each row.
    basic: Vec<usize>,
    rows: Vec<Vec<Rational>>,
    /// The reduced costs, followed by minus the objective value.
    objective: Vec<Rational>,
}

impl Table {
    fn rhs(&self, row: usize) -> &Rational {
        &self.rows[row][self.columns.len()]
    }

    /// Runs phase 1 with one artificial variable. Returns `true` if the programme is feasible.
    fn make_feasible(&mut self, artificial: usize) -> bool {
        let worst = (0..self.rows.len()).min_by(|&a, &b| self.rhs(a).cmp(self.rhs(b)));
        let Some(worst) = worst.filter(|&row| *self.rhs(row) < 0) else { return true };
        let at = self.columns.len();
        self.columns.push(artificial);
        for row in &mut self.rows {
            row.insert(at, Rational::from(-1));
        }
        self.objective = vec![Rational::new(); at + 2];
        self.objective[at] = Rational::from(-1);
        self.pivot(worst, at);
        assert!(self.ascend(), "minus the artificial variable is at most 0");
        if let Some(row) = self.basic.iter().position(|v| *v == artificial) {
            if !self.rhs(row).is_zero() {
                return false;
            }
            match (0..self.columns.len()).find(|&column| !self.rows[row][column].is_zero()) {
                Some(column) => self.pivot(row, column),
                None => {
                    self.rows.remove(row);
                    self.basic.remove(row);
                    return true;
                }
            }
        }
        let at = self.columns.iter().position(|v| *v == artificial).expect("it left the basis");
        self.columns.remove(at);
        for row in &mut self.rows {
            row.remove(at);
        }
        true
    }

    fn price(&mut self, costs: &[Rational]) {
        let cost = |v: usize| costs.get(v).cloned().unwrap_or_default();
        self.objective = self.columns.iter().map(|v| cost(*v)).chain([Rational::new()]).collect();
        for (variable, row) in self.basic.iter().zip(&self.rows) {
            let cost = cost(*variable);
            if !cost.is_zero() {
                for (reduced, entry) in self.objective.iter_mut().zip(row) {
                    *reduced -= Rational::from(&cost * entry);
                }
            }
        }
    }

    /// Moves to the optimum by Bland's rule. Returns `false` if the objective is unbounded.
    fn ascend(&mut self) -> bool {
        loop {
            let improving = (0..self.columns.len()).filter(|&column| self.objective[column] > 0);
            let Some(column) = improving.min_by_key(|&column| self.columns[column]) else { return true };
            let blocking = (0..self.rows.len()).filter(|&row| self.rows[row][column] > 0);
            let ratio = |row: usize| Rational::from(self.rhs(row) / &self.rows[row][column]);
            let Some((_, _, row)) = blocking.map(|row| (ratio(row), self.basic[row], row)).min() else {
                return false;
            };
            self.pivot(row, column);
        }
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let mut pivot_row = std::mem::take(&mut self.rows[row]);
        let inverse = pivot_row[column].clone().recip();
        pivot_row[column] = Rational::from(1);
        for entry in &mut pivot_row {
            if !entry.is_zero() {
                *entry *= &inverse;
            }
        }
        let eliminate = |other: &mut Vec<Rational>| {
            let factor = std::mem::take(&mut other[column]);
            if factor.is_zero() {
                return;
            }
            for (entry, p) in other.iter_mut().zip(&pivot_row) {
                if !p.is_zero() {
                    *entry -= Rational::from(&factor * p);
                }
            }
        };
        self.rows
            .iter_mut()
            .enumerate()
            .filter(|(other, _)| *other != row)
            .for_each(|(_, other)| eliminate(other));
        eliminate(&mut self.objective);
        self.rows[row] = pivot_row;
        std::mem::swap(&mut self.columns[column], &mut self.basic[row]);
    }
}

/// The capacity and task rows of a problem. There is a column for every user on every class that the user may
/// use, and one more column at the end, whose meaning the caller chooses.
pub struct Programme {
    /// The user and the class of each column, as `(user, class)`.
    pub placements: Vec<(usize, usize)>,
    pub rows: Vec<(Vec<Rational>, Rational)>,
}

impl Programme {
    pub fn new(problem: &Problem, sharing: Sharing) -> Self {
        let is_timed = |i: usize| sharing == Sharing::Tdm || problem.servers()[i].is_time_shared();
        let mut placements = Vec::new();
        for (n, user) in problem.users().iter().enumerate() {
            // If a server lacks a demanded resource, a row of capacity 0 bars the user. A gamma of 0 has no
            // such row, so the column is left out.
            let fits = |i: &usize| !is_timed(*i) || !problem.unconstrained_gamma(n, *i).is_zero();
            placements
                .extend((0..problem.n_servers()).filter(|&i| user.may_use(i)).filter(fits).map(|i| (n, i)));
        }
        let mut programme = Self { placements, rows: Vec::new() };
        for (i, server) in problem.servers().iter().enumerate() {
            if is_timed(i) {
                let time = |n: usize, on: usize| match on == i {
                    true => problem.unconstrained_gamma(n, i).recip(),
                    false => Rational::new(),
                };
                programme.push(time, Rational::from(1));
                continue;
            }
            for r in 0..problem.n_resources() {
                let demand = |n: usize, on: usize| match on == i {
                    true => problem.demand(n, i)[r].clone(),
                    false => Rational::new(),
                };
                programme.push(demand, Rational::from(&server.capacity()[r] * server.count()));
            }
        }
        for (n, user) in problem.users().iter().enumerate() {
            if let Some(tasks) = user.tasks() {
                programme.push(|k, _| Rational::from(u8::from(k == n)), tasks.clone());
            }
        }
        for (n, user) in problem.users().iter().enumerate() {
            if let (Some(rates), Some(at_most)) = (user.rates(), user.at_most()) {
                let of = |i: usize| rates.by_class().iter().find(|(class, _)| *class == i);
                let accelerators = |k: usize, i: usize| match of(i).filter(|_| k == n) {
                    Some((_, rate)) => rate.clone().recip(),
                    None => Rational::new(),
                };
                programme.push(accelerators, at_most.clone());
            }
        }
        programme
    }

    /// Adds the row `sum a(n, i) x_ni <= b`.
    pub fn push(&mut self, a: impl Fn(usize, usize) -> Rational, b: Rational) {
        self.rows.push((self.row(a, Rational::new()), b));
    }

    fn row(&self, a: impl Fn(usize, usize) -> Rational, last: Rational) -> Vec<Rational> {
        self.placements.iter().map(|&(n, i)| a(n, i)).chain([last]).collect()
    }

    /// Maximises `sum c(n, i) x_ni`, plus `last` times the last column, over the rows and `extra`.
    pub fn maximise(
        &self,
        costs: impl Fn(usize, usize) -> Rational,
        last: Rational,
        extra: Vec<(Vec<Rational>, Rational)>,
    ) -> Solved {
        let rows = self.rows.iter().cloned().chain(extra).collect();
        Dense { costs: self.row(costs, last), rows }.solve()
    }
}

/// Returns `U_n` of the weighted lexicographic maximum for every user. Each round raises the least level.
/// Then it tests for each user whether the user can rise further while the other users keep their levels.
/// Users that cannot rise are fixed at the level of the round.
pub fn lexicographic(problem: &Problem, sharing: Sharing, share: &ShareCoefficients) -> Vec<Rational> {
    let programme = Programme::new(problem, sharing);
    let value = |n: usize, i: usize| Rational::from(share.of(n, i) / problem.users()[n].weight());
    let of = |k: usize, sign: i32| {
        move |n: usize, i: usize| if n == k { value(n, i) * sign } else { Rational::new() }
    };
    // The rows `U_n >= level` and `U_n >= t`.
    let at_least =
        |n: usize, level: &Rational| (programme.row(of(n, -1), Rational::new()), Rational::from(-level));
    let at_least_t = |n: usize| (programme.row(of(n, -1), Rational::from(1)), Rational::new());
    let mut levels: Vec<Option<Rational>> = vec![None; problem.n_users()];
    while levels.contains(&None) {
        let need = |n: usize, level: &Option<Rational>| {
            level.as_ref().map_or_else(|| at_least_t(n), |level| at_least(n, level))
        };
        let rows = levels.iter().enumerate().map(|(n, level)| need(n, level)).collect();
        let (t, _) = programme.maximise(|_, _| Rational::new(), Rational::from(1), rows).optimal();
        let before = levels.clone();
        for (n, slot) in levels.iter_mut().enumerate().filter(|(_, level)| level.is_none()) {
            let others = before.iter().enumerate().filter(|(k, _)| *k != n);
            let rows = others.map(|(k, level)| at_least(k, level.as_ref().unwrap_or(&t))).collect();
            let (most, _) = programme.maximise(of(n, 1), Rational::new(), rows).optimal();
            if most == t {
                *slot = Some(t.clone());
            }
        }
        assert_ne!(before, levels, "somebody is blocked in every round");
    }
    levels.into_iter().flatten().collect()
}
