//! Writes the proof of an answer as a VIPR file, a format with an independent checker by its authors (Cheung, Gleixner
//! and Steffy, "Verifying integer programming results", IPCO 2017).
//!
//! A VIPR file states every finite bound as a separate constraint. The bound on the objective, or the contradiction, is
//! one linear combination of these constraints. A VIPR file cannot state two things: the constant of the objective, and
//! the proof that an objective is unbounded.

use std::fmt::Write;

use rug::Rational;

use crate::model::{Bounds, Direction, Model, Position};
use crate::solve::{Answer, Infeasibility, Status};

/// A row or a bound as VIPR states it: its sense (`E`, `G` or `L`), its right-hand side, and the row or column to which
/// it belongs.
struct Constraint<'m> {
    sense: char,
    side: &'m Rational,
    of: Position,
}

/// Returns the VIPR file of an optimum or of an infeasible programme. Returns `None` for another status. The
/// requirement that columns are integers is left out.
#[must_use]
pub fn write(model: &Model, answer: &Answer) -> Option<String> {
    let constraints = constraints(model);
    let (costs, factors, is_optimal) = match &answer.status {
        Status::Optimal(optimum) => {
            (true, factors(&constraints, &optimum.y, &model.reduced_costs(&optimum.y)), Some(optimum))
        }
        Status::Infeasible(Infeasibility::Prices(y)) => {
            let reduced: Vec<Rational> = (0..model.columns.len())
                .map(|j| {
                    let entries = &model.columns[j].entries;
                    entries
                        .iter()
                        .fold(Rational::new(), |sum, (row, value)| sum - Rational::from(value * &y[*row]))
                })
                .collect();
            (false, factors(&constraints, y, &reduced), None)
        }
        Status::Infeasible(Infeasibility::EmptyBounds(position)) => {
            let of = |sense: char| constraints.iter().position(|c| c.of == *position && c.sense == sense);
            (false, vec![(of('G')?, Rational::from(1)), (of('L')?, Rational::from(-1))], None)
        }
        Status::Unbounded { .. } | Status::Limit { .. } => return None,
    };
    // A checker may reject a bound on an objective without variables, so such an objective gets a variable with the
    // coefficient 0.
    let is_idle = model.columns.iter().all(|column| column.cost.is_zero());
    let names = names(model);
    let mut text = String::new();
    let columns = model.columns.len() + usize::from(is_idle);
    let _ = writeln!(text, "VER 1.0\nVAR {columns}");
    for j in 0..columns {
        let _ = writeln!(text, "{}", names.column(j));
    }
    let is_maximised = model.direction == Direction::Maximise;
    let _ = writeln!(text, "INT 0\nOBJ {}", if is_maximised { "max" } else { "min" });
    let mut objective: Vec<(usize, &Rational)> = model
        .columns
        .iter()
        .map(|column| &column.cost)
        .enumerate()
        .filter(|(_, cost)| !cost.is_zero())
        .collect();
    let one = Rational::from(1);
    if is_idle {
        objective.push((columns - 1, &one));
    }
    let _ = writeln!(text, "{}", sum(&objective));
    let bounds =
        constraints.iter().filter(|c| matches!(c.of, Position::Column(_))).count() + usize::from(is_idle);
    let _ = writeln!(text, "CON {} {bounds}", constraints.len() + usize::from(is_idle));
    if is_idle {
        let _ = writeln!(text, "zero E 0  1  {} 1", columns - 1);
    }
    let rows = rows(model);
    for (at, constraint) in constraints.iter().enumerate() {
        let terms = match constraint.of {
            Position::Column(j) => vec![(j, &one)],
            Position::Row(i) => rows[i].clone(),
        };
        let _ = writeln!(text, "c{at} {} {}  {}", constraint.sense, constraint.side, sum(&terms));
    }
    let shift = usize::from(is_idle);
    let mut factors: Vec<(usize, Rational)> =
        factors.into_iter().map(|(at, factor)| (at + shift, factor)).collect();
    if costs && is_maximised {
        factors.iter_mut().for_each(|(_, factor)| *factor = Rational::from(-&*factor));
    }
    if costs && is_idle {
        factors.insert(0, (0, one.clone()));
    }
    let combination: Vec<(usize, &Rational)> = factors.iter().map(|(at, factor)| (*at, factor)).collect();
    match is_optimal {
        Some(optimum) => {
            let value = Rational::from(&optimum.objective - &model.constant);
            let x: Vec<(usize, &Rational)> =
                optimum.x.iter().enumerate().filter(|(_, x)| !x.is_zero()).collect();
            let sense = if is_maximised { 'L' } else { 'G' };
            let _ = writeln!(text, "RTP range {value} {value}\nSOL 1\noptimum {}\nDER 1", sum(&x));
            let _ = writeln!(text, "bound {sense} {value}  OBJ  {{ lin {} }} -1", sum(&combination));
        }
        None => {
            let side =
                |(at, factor): &(usize, &Rational)| Rational::from(constraints[at - shift].side * *factor);
            let side: Rational = combination.iter().map(side).sum();
            let _ = writeln!(text, "RTP infeas\nSOL 0\nDER 1");
            let _ = writeln!(text, "contradiction G {side}  0  {{ lin {} }} -1", sum(&combination));
        }
    }
    Some(text)
}

/// Returns the constraints of the bounds of columns, followed by the constraints of rows.
fn constraints(model: &Model) -> Vec<Constraint<'_>> {
    let columns = model.columns.iter().enumerate().map(|(j, column)| (Position::Column(j), &column.bounds));
    let rows = model.rows.iter().enumerate().map(|(i, row)| (Position::Row(i), &row.bounds));
    columns.chain(rows).flat_map(|(of, bounds)| sides(of, bounds)).collect()
}

fn sides(of: Position, bounds: &Bounds) -> Vec<Constraint<'_>> {
    let constraint = |sense, side| Constraint { sense, side, of };
    match (&bounds.lower, &bounds.upper) {
        (Some(side), _) if bounds.is_fixed() => vec![constraint('E', side)],
        (lower, upper) => {
            let lower = lower.iter().map(|side| constraint('G', side));
            lower.chain(upper.iter().map(|side| constraint('L', side))).collect()
        }
    }
}

/// Returns the multiple of each constraint, by its index. The sum of these multiples has the proven bound as its
/// right-hand side.
fn factors(constraints: &[Constraint<'_>], y: &[Rational], reduced: &[Rational]) -> Vec<(usize, Rational)> {
    let factor = |(at, constraint): (usize, &Constraint<'_>)| {
        let price = match constraint.of {
            Position::Row(i) => &y[i],
            Position::Column(j) => &reduced[j],
        };
        let is_used = match constraint.sense {
            'G' => *price > 0,
            'L' => *price < 0,
            _ => !price.is_zero(),
        };
        is_used.then(|| (at, price.clone()))
    };
    constraints.iter().enumerate().filter_map(factor).collect()
}

/// Returns the entries of each row as `(column, value)`.
fn rows(model: &Model) -> Vec<Vec<(usize, &Rational)>> {
    let mut rows = vec![Vec::new(); model.rows.len()];
    for (j, column) in model.columns.iter().enumerate() {
        for (row, value) in &column.entries {
            rows[*row].push((j, value));
        }
    }
    rows
}

/// Writes a sum as its number of terms, followed by the terms.
fn sum(terms: &[(usize, &Rational)]) -> String {
    let mut text = terms.len().to_string();
    for (at, value) in terms {
        let _ = write!(text, "  {at} {value}");
    }
    text
}

/// The names of columns. A column gets a number instead if its name contains a character that separates words in a VIPR
/// file.
struct Names<'m> {
    model: &'m Model,
    is_plain: bool,
}

fn names(model: &Model) -> Names<'_> {
    let is_plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic() && c != '%');
    Names { model, is_plain: model.columns.iter().all(|column| is_plain(&column.name)) }
}

impl Names<'_> {
    fn column(&self, j: usize) -> String {
        match self.model.columns.get(j) {
            Some(column) if self.is_plain => column.name.clone(),
            Some(_) => format!("x{j}"),
            None => "zero".to_owned(),
        }
    }
}
