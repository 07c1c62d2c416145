//! Problems as linear programmes for solvers: MPS (free form) and LP, in integers.
//!
//! The feasible allocations, and the sum of the tasks by weight to be maximised (the mechanism
//! `utilitarian`). Every row and the objective are multiplied by the least number that makes them whole,
//! so that nothing is rounded. Rows that nobody uses are left out.

use std::fmt::Write;

use evenhand_problem::{Constraints, Integer, Problem, Rational, Sharing, printable};

use crate::region::{Limit, Region, legend};
use crate::{Export, ExportError, File};

/// A format that solvers read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// MPS in free form.
    Mps,
    /// The LP format of CPLEX.
    Lp,
}

/// The problem as one file.
///
/// # Errors
/// [`ExportError::Nothing`] when no user can run anywhere.
pub fn of_problem(problem: &Problem, form: Form) -> Result<Export, ExportError> {
    let region = Region::new(&Constraints::new(problem, Sharing::Rdm));
    if region.columns.is_empty() {
        return Err(ExportError::Nothing);
    }
    let programme = Whole::new(problem, region);
    let (name, text) = match form {
        Form::Mps => ("problem.mps", programme.mps()),
        Form::Lp => ("problem.lp", programme.lp()),
    };
    Ok(Export { files: vec![File { name: name.to_owned(), text }], left_out: Vec::new() })
}

/// A linear programme in integers.
struct Whole {
    about: Vec<String>,
    columns: Vec<String>,
    objective: Vec<Integer>,
    rows: Vec<WholeRow>,
}

/// `sum terms <= most`
struct WholeRow {
    name: String,
    most: Integer,
    terms: Vec<(usize, Integer)>,
}

impl Whole {
    fn new(problem: &Problem, region: Region) -> Self {
        let weight = |(n, _): &(usize, usize)| problem.users()[*n].weight();
        let factor = denominator(region.columns.iter().map(weight));
        let objective = region.columns.iter().map(|column| whole(weight(column), &factor)).collect();
        let columns = region.names();
        let limits = region.rows.into_iter().chain(region.users.into_iter().map(|(_, limit)| limit));
        let rows: Vec<WholeRow> = limits.filter(|limit| !limit.terms.is_empty()).map(WholeRow::new).collect();
        let mut programme = Self { about: Vec::new(), columns, objective, rows };
        programme.describe(problem, &factor);
        programme
    }

    fn describe(&mut self, problem: &Problem, factor: &Integer) {
        let about = &mut self.about;
        about.push(format!("Feasible allocations of `{}`, most tasks by weight", problem.name()));
        about.push(format!("The objective is the sum of tasks by weight, times {factor}"));
        about.push("Rows are multiplied to integers; nothing is rounded".to_owned());
        about.extend(legend(problem));
        let numbers = self.rows.iter().flat_map(|row| row.terms.iter().map(|(_, a)| a).chain([&row.most]));
        let widest = numbers.chain(&self.objective).map(Integer::significant_bits).max().unwrap_or(0);
        if widest > f64::MANTISSA_DIGITS {
            about.push(format!(
                "Some integers have up to {widest} bits: a program that reads them as doubles rounds them"
            ));
        }
    }

    fn lp(&self) -> String {
        let mut out = String::new();
        for line in &self.about {
            let _ = writeln!(out, "\\ {}", printable(line));
        }
        out.push_str("Maximize\n");
        let objective: Vec<_> = self.objective.iter().cloned().enumerate().collect();
        self.lp_row(&mut out, "obj", &objective);
        out.push_str("\nSubject To\n");
        for row in &self.rows {
            self.lp_row(&mut out, &row.name, &row.terms);
            let _ = writeln!(out, " <= {}", row.most);
        }
        out.push_str("End\n");
        out
    }

    /// Lines have a length that readers of any age accept, unless a single number is longer.
    fn lp_row(&self, out: &mut String, name: &str, terms: &[(usize, Integer)]) {
        const WIDTH: usize = 200;
        let _ = write!(out, " {name}:");
        let mut length = name.len() + 2;
        for (position, (v, value)) in terms.iter().enumerate() {
            let sign = if position == 0 { "" } else { "+ " };
            let term = format!("{sign}{value} {}", self.columns[*v]);
            if length + term.len() > WIDTH {
                out.push_str("\n ");
                length = 1;
            }
            length += term.len() + 1;
            let _ = write!(out, " {term}");
        }
    }

    fn mps(&self) -> String {
        let mut out = String::new();
        for line in &self.about {
            let _ = writeln!(out, "* {}", printable(line));
        }
        out.push_str("NAME evenhand\nOBJSENSE\n    MAX\nROWS\n N obj\n");
        for row in &self.rows {
            let _ = writeln!(out, " L {}", row.name);
        }
        out.push_str("COLUMNS\n");
        let mut by_column: Vec<Vec<(usize, &Integer)>> = vec![Vec::new(); self.columns.len()];
        for (at, row) in self.rows.iter().enumerate() {
            row.terms.iter().for_each(|(v, value)| by_column[*v].push((at, value)));
        }
        for ((name, worth), entries) in self.columns.iter().zip(&self.objective).zip(by_column) {
            let _ = writeln!(out, " {name} obj {worth}");
            for (at, value) in entries {
                let _ = writeln!(out, " {name} {} {value}", self.rows[at].name);
            }
        }
        out.push_str("RHS\n");
        for row in self.rows.iter().filter(|row| !row.most.is_zero()) {
            let _ = writeln!(out, " rhs {} {}", row.name, row.most);
        }
        out.push_str("ENDATA\n");
        out
    }
}

impl WholeRow {
    fn new(limit: Limit) -> Self {
        let Limit { name, most, terms } = limit;
        let factor = denominator(terms.iter().map(|(_, value)| value).chain([&most]));
        let terms = terms.iter().map(|(v, value)| (*v, whole(value, &factor))).collect();
        Self { name, most: whole(&most, &factor), terms }
    }
}

/// The least common denominator.
fn denominator<'v>(values: impl Iterator<Item = &'v Rational>) -> Integer {
    let mut common = Integer::from(1);
    values.for_each(|value| common.lcm_mut(value.denom()));
    common
}

/// `value * factor`, which is whole.
fn whole(value: &Rational, factor: &Integer) -> Integer {
    Rational::from(value * factor).into_numer_denom().0
}
