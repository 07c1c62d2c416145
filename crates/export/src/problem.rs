//! Problems as linear programmes for solvers: MPS (free form) and LP, in integers.
//!
//! The variables are the tasks of a feasible allocation, and the objective maximises the weighted sum of
//! tasks (the mechanism `utilitarian`). The objective and every row are multiplied by the least number that
//! makes their coefficients whole, so no number is rounded. Rows that no user uses are left out. The text
//! contains entries for every user and class. It is computed while it is written, and is never stored.

use std::fmt::{self, Display, Formatter};

use evenhand_budget::{operations, table, words_of_bits};
use evenhand_problem::{Constraints, Integer, Problem, Rational, Sharing, printable};

use crate::region::{legend, row_name};
use crate::{ExportError, without_rates};

/// The name of the work in messages about limits.
const WHAT: &str = "the linear programme with a variable for every user on every class";

/// A file format that solvers read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// MPS in free form.
    Mps,
    /// The LP format of CPLEX.
    Lp,
}

/// A problem as a linear programme with integer coefficients. `Display` writes the text.
#[derive(Debug)]
pub struct Programme<'p> {
    constraints: Constraints<'p>,
    form: Form,
    /// True if the user can run a task; indexed by user.
    active: Vec<bool>,
    /// The factor of the objective.
    objective: Integer,
    /// The factor of each row of the classes. `None` if no user uses the row.
    factors: Vec<Option<Integer>>,
    /// The number of bits of the widest integer.
    widest: u32,
}

/// Returns the problem as a linear programme.
///
/// # Errors
/// [`ExportError::Nothing`] if no user can run on any server.
pub fn of_problem(problem: &Problem, form: Form) -> Result<Programme<'_>, ExportError> {
    without_rates(problem)?;
    let constraints = Constraints::new(problem, Sharing::Rdm);
    let active: Vec<bool> = (0..problem.n_users()).map(|n| problem.is_active(n)).collect();
    if !active.contains(&true) {
        return Err(ExportError::Nothing);
    }
    let factors = vec![None; constraints.rows().len()];
    let objective = Integer::from(1);
    let mut programme = Programme { constraints, form, active, objective, factors, widest: 0 };
    programme.find_factors();
    programme.find_widest();
    Ok(programme)
}

/// A row of a class, or the task limit of a user.
#[derive(Clone, Copy)]
enum Limit {
    Row(usize),
    User(usize),
}

impl Programme<'_> {
    fn problem(&self) -> &Problem {
        self.constraints.problem()
    }

    /// Returns the users that can run a task.
    fn users(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.active.len()).filter(|n| self.active[*n])
    }

    /// Returns the pair `(user, class)` of every variable.
    fn columns(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.users().flat_map(|n| self.problem().classes_of(n).map(move |i| (n, i)))
    }

    /// Calls `each` with `(row, amount)` for every row of a class that a task of the user uses.
    fn each_use(&self, n: usize, i: usize, mut each: impl FnMut(usize, &Rational)) {
        let start = self.constraints.class_rows(i).start;
        if let Some(usage) = self.constraints.usage(n, i) {
            usage.entries().for_each(|(position, amount)| each(start + position, amount));
        }
    }

    /// Computes the factors that make the coefficients of the objective and of every row whole.
    fn find_factors(&mut self) {
        let mut objective = Integer::from(1);
        self.users().for_each(|n| objective.lcm_mut(self.problem().users()[n].weight().denom()));
        let mut factors = std::mem::take(&mut self.factors);
        for (n, i) in self.columns() {
            self.each_use(n, i, |row, amount| {
                let capacity = || self.constraints.rows()[row].capacity.denom().clone();
                let factor = factors[row].get_or_insert_with(capacity);
                charge(factor);
                factor.lcm_mut(amount.denom());
            });
        }
        (self.objective, self.factors) = (objective, factors);
    }

    /// Computes the number of bits of the widest integer.
    fn find_widest(&mut self) {
        let mut widest = 0;
        let mut look = |value: &Integer| widest = widest.max(value.significant_bits());
        self.users().for_each(|n| look(&self.worth(n)));
        self.limits().for_each(|limit| look(&self.most(limit)));
        for (n, i) in self.columns() {
            self.each_use(n, i, |row, amount| look(&self.entry(row, amount)));
        }
        self.widest = widest;
    }

    /// Returns the objective coefficient of a task of user `n`.
    fn worth(&self, n: usize) -> Integer {
        whole(self.problem().users()[n].weight(), &self.objective)
    }

    /// Returns the integer coefficient for an amount in a row.
    fn entry(&self, row: usize, amount: &Rational) -> Integer {
        let factor = self.factors[row].as_ref().unwrap_or(Integer::ONE);
        charge(factor);
        whole(amount, factor)
    }

    /// Returns the rows of classes that at least one user uses, followed by the users with finite tasks.
    fn limits(&self) -> impl Iterator<Item = Limit> + '_ {
        let rows = (0..self.factors.len()).filter(|row| self.factors[*row].is_some()).map(Limit::Row);
        let finite = |n: &usize| self.problem().users()[*n].tasks().is_some();
        rows.chain(self.users().filter(finite).map(Limit::User))
    }

    fn name(&self, limit: Limit) -> String {
        match limit {
            Limit::Row(row) => row_name(&self.constraints.rows()[row]),
            Limit::User(n) => format!("u{}", n + 1),
        }
    }

    /// Returns the right-hand side of a limit.
    fn most(&self, limit: Limit) -> Integer {
        match limit {
            Limit::Row(row) => self.entry(row, &self.constraints.rows()[row].capacity),
            Limit::User(n) => {
                self.problem().users()[n].tasks().map_or_else(Integer::new, |t| t.numer().clone())
            }
        }
    }

    /// Returns the coefficient of each of a user's variables in the task limit of the user.
    fn own(&self, n: usize) -> Option<&Integer> {
        Some(self.problem().users()[n].tasks()?.denom())
    }

    fn write_about(&self, out: &mut Formatter<'_>, mark: &str) -> fmt::Result {
        let problem = self.problem();
        writeln!(
            out,
            "{mark} Feasible allocations of `{}`, most tasks by weight",
            printable(problem.name())
        )?;
        writeln!(out, "{mark} The objective is the sum of tasks by weight, times {}", self.objective)?;
        writeln!(out, "{mark} Rows are multiplied to integers; nothing is rounded")?;
        for line in legend(problem) {
            writeln!(out, "{mark} {}", printable(&line))?;
        }
        if self.widest > f64::MANTISSA_DIGITS {
            let wide = format!("Some integers have up to {} bits", self.widest);
            writeln!(out, "{mark} {wide}: a program that reads them as doubles rounds them")?;
        }
        Ok(())
    }

    fn write_lp(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.write_about(out, "\\")?;
        out.write_str("Maximize\n")?;
        let mut row = LpRow::begin(out, "obj")?;
        for (n, i) in self.columns() {
            row.term(&self.worth(n), n, i)?;
        }
        out.write_str("\nSubject To\n")?;
        // The users of each class.
        table(self.columns().count(), 1, 2 * size_of::<usize>(), WHAT);
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.problem().n_servers()];
        self.columns().for_each(|(n, i)| users[i].push(n));
        for limit in self.limits() {
            let mut line = LpRow::begin(out, &self.name(limit))?;
            match limit {
                Limit::Row(row) => {
                    let at = &self.constraints.rows()[row];
                    let position = row - self.constraints.class_rows(at.server).start;
                    for n in &users[at.server] {
                        let usage = self.constraints.usage(*n, at.server).unwrap_or_default();
                        let amount = &usage[position];
                        if !amount.is_zero() {
                            line.term(&self.entry(row, amount), *n, at.server)?;
                        }
                    }
                }
                Limit::User(n) => {
                    let own = self.own(n).unwrap_or(Integer::ONE);
                    for i in self.problem().classes_of(n) {
                        line.term(own, n, i)?;
                    }
                }
            }
            writeln!(out, " <= {}", self.most(limit))?;
        }
        out.write_str("End\n")
    }

    fn write_mps(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.write_about(out, "*")?;
        out.write_str("NAME evenhand\nOBJSENSE\n    MAX\nROWS\n N obj\n")?;
        for limit in self.limits() {
            writeln!(out, " L {}", self.name(limit))?;
        }
        out.write_str("COLUMNS\n")?;
        for (n, i) in self.columns() {
            let name = column_name(n, i);
            writeln!(out, " {name} obj {}", self.worth(n))?;
            let mut written = Ok(());
            self.each_use(n, i, |row, amount| {
                let limit = self.name(Limit::Row(row));
                written = written.and_then(|()| writeln!(out, " {name} {limit} {}", self.entry(row, amount)));
            });
            written?;
            if let Some(own) = self.own(n) {
                writeln!(out, " {name} {} {own}", self.name(Limit::User(n)))?;
            }
        }
        out.write_str("RHS\n")?;
        for limit in self.limits() {
            writeln!(out, " rhs {} {}", self.name(limit), self.most(limit))?;
        }
        out.write_str("ENDATA\n")
    }
}

impl Display for Programme<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.form {
            Form::Mps => self.write_mps(out),
            Form::Lp => self.write_lp(out),
        }
    }
}

/// A row of an LP file. Its lines are short enough for old readers unless a single number is longer.
struct LpRow<'o, 'f> {
    out: &'o mut Formatter<'f>,
    length: usize,
    is_first: bool,
}

impl<'o, 'f> LpRow<'o, 'f> {
    fn begin(out: &'o mut Formatter<'f>, name: &str) -> Result<Self, fmt::Error> {
        write!(out, " {name}:")?;
        Ok(Self { out, length: name.len() + 2, is_first: true })
    }

    /// Adds a multiple of the number of tasks of a user on a class.
    fn term(&mut self, value: &Integer, n: usize, i: usize) -> fmt::Result {
        const WIDTH: usize = 200;
        let sign = if self.is_first { "" } else { "+ " };
        let term = format!("{sign}{value} {}", column_name(n, i));
        if self.length + term.len() > WIDTH {
            self.out.write_str("\n ")?;
            self.length = 1;
        }
        (self.length, self.is_first) = (self.length + term.len() + 1, false);
        write!(self.out, " {term}")
    }
}

/// Charges one operation on a number with as many bits as `factor`.
fn charge(factor: &Integer) {
    operations(1, words_of_bits(u64::from(factor.significant_bits())), WHAT);
}

/// Returns the name of a variable. `x1_2` is the number of tasks of the first user on the second class.
fn column_name(n: usize, i: usize) -> String {
    format!("x{}_{}", n + 1, i + 1)
}

/// Returns `value * factor`, which is whole.
fn whole(value: &Rational, factor: &Integer) -> Integer {
    Rational::from(value * factor).into_numer_denom().0
}
