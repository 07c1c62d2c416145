//! Linear programmes of any kind: their cases, exact answers that are read from files, and the judgement of
//! answers.

use std::collections::BTreeSet;

use evenhand_lp::judge::{Violation, judge};
use evenhand_lp::model::{Bounds, Model, Position};
use evenhand_lp::solve::{self, Optimum, Status, objective_bound};
use evenhand_lp::stated::{self, StatedAnswer};
use evenhand_problem::Rational;
use evenhand_problem::number::to_f64;

use crate::case::{Case, Input, Kind};
use crate::contenders::{Answer, NoAnswer};
use crate::judge::{Measures, number, relative_difference};
use crate::references::Reference;

/// The status of a linear programme, as a solver states it or as a proof shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgrammeStatus {
    /// There is an optimum.
    Optimal,
    /// No point is feasible.
    Infeasible,
    /// The objective has no bound.
    Unbounded,
    /// There is no optimum, and the solver does not say why.
    NoOptimum,
}

evenhand_problem::names! { ProgrammeStatus:
    Optimal = "optimal", "there is an optimum";
    Infeasible = "infeasible", "no point is feasible";
    Unbounded = "unbounded", "the objective has no bound";
    NoOptimum = "infeasible or unbounded", "there is no optimum";
}

impl ProgrammeStatus {
    /// Returns the status that an exact answer proves. Returns `None` if the time was up.
    #[must_use]
    pub fn of_exact(status: &Status) -> Option<Self> {
        match status {
            Status::Optimal(_) => Some(Self::Optimal),
            Status::Infeasible(_) => Some(Self::Infeasible),
            Status::Unbounded { .. } => Some(Self::Unbounded),
            Status::Limit { .. } => None,
        }
    }

    /// Reads the status that a solver prints. Returns `None` for any other word, such as a word that reports a time
    /// limit.
    #[must_use]
    pub fn of_words(words: &str) -> Option<Self> {
        let words = words.to_ascii_lowercase();
        let has = |part: &str| words.contains(part);
        let is_either = has("infeasible") && (has("unbounded") || has("dual"));
        if is_either || has("inf_or_unbd") {
            return Some(Self::NoOptimum);
        }
        if has("infeasible") {
            return Some(Self::Infeasible);
        }
        if has("unbounded") {
            return Some(Self::Unbounded);
        }
        let is_none = ["not ", "unsolved", "suboptimal"].into_iter().any(has);
        ((has("optimal") || has("solved")) && !is_none).then_some(Self::Optimal)
    }
}

/// A violation, and the row or column in which it occurs.
#[derive(Debug, Clone, PartialEq)]
pub struct Violated {
    /// True if the violation is in a row.
    pub is_row: bool,
    /// The name of the row or column.
    pub name: String,
    /// The amount of the violation.
    pub by: f64,
}

/// The quality of the prices of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct PriceMeasures {
    /// The distance of the objective from the bound that the prices prove. It is relative to the objective,
    /// or to 1 if that is larger. `None` if the prices prove no bound.
    pub gap: Option<f64>,
    /// The largest price or reduced cost of a row or column without a bound on that side. An optimum has no
    /// such price.
    pub dual_violation: Option<Violated>,
    /// The largest product of a price and the distance of its row or column from the bound.
    pub complementarity: Option<Violated>,
}

/// The quality of an answer to a linear programme.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgrammeMeasures {
    /// The status that the contender states, if it states one.
    pub says: Option<ProgrammeStatus>,
    /// The proven status of the programme.
    pub is: ProgrammeStatus,
    /// True if columns have to be integers. The answer is then that of the relaxation.
    pub relaxed: bool,
    /// The largest violation of a row.
    pub row: Option<Violated>,
    /// The largest violation of a bound of a column.
    pub bound: Option<Violated>,
    /// The quality of the prices, if the answer has any.
    pub prices: Option<PriceMeasures>,
}

impl ProgrammeMeasures {
    /// Returns `true` if the contender states a status that differs from the proven status.
    #[must_use]
    pub fn is_wrong_status(&self) -> bool {
        match self.says {
            None => false,
            Some(ProgrammeStatus::NoOptimum) => self.is == ProgrammeStatus::Optimal,
            Some(says) => says != self.is,
        }
    }
}

/// Returns the case of a linear programme.
#[must_use]
pub fn case(name: impl Into<String>, model: Model) -> Case {
    Case {
        name: name.into(),
        kind: Kind::LinearProgramme,
        note: "a linear programme from a file",
        input: Input::Programme(model),
        alpha: 1.into(),
        planted: None,
    }
}

/// Returns the reference that a certificate of `lp solve` contains, if it proves the optimum of this
/// programme. The certificate is not trusted: the point and its prices are verified in exact numbers.
#[must_use]
pub fn proven_optimum(model: &Model, certificate: &str) -> Option<Reference> {
    let StatedAnswer { x, y, .. } = stated::read(model, certificate).ok()?;
    let (y, objective) = (y?, model.objective(&x));
    let is_optimal = model.largest_violation(&x).is_none()
        && objective_bound(model, &model.proven_bound(&y)?) == objective;
    let optimum = Optimum { objective, x, y, basis: evenhand_lp::highs::Basis::default() };
    let answer = solve::Answer { status: Status::Optimal(optimum), refinements: 0, pivots: 0 };
    is_optimal.then(|| Reference::of_programme(answer))
}

/// Returns the programme that external programs read. It has no integer columns. If some name could not be
/// read as one word, numbered names replace all names.
#[must_use]
pub fn for_programs(model: &Model) -> Model {
    let mut model = model.clone();
    model.columns.iter_mut().for_each(|column| column.is_integer = false);
    let names = || {
        let rows = model.rows.iter().map(|row| row.name.as_str());
        rows.chain(model.columns.iter().map(|column| column.name.as_str()))
    };
    let is_word = |name: &str| {
        let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '\'' | '$');
        !name.is_empty() && !name.starts_with(['#', '*', '=']) && !name.contains(is_separator)
    };
    let columns: BTreeSet<&str> = model.columns.iter().map(|column| column.name.as_str()).collect();
    if !names().all(is_word) || columns.len() < model.columns.len() {
        let rows = model.rows.iter_mut().enumerate();
        rows.for_each(|(i, row)| row.name = format!("r{}", i + 1));
        let columns = model.columns.iter_mut().enumerate();
        columns.for_each(|(j, column)| column.name = format!("c{}", j + 1));
    }
    model
}

/// Judges an answer in exact numbers.
///
/// # Errors
/// [`NoAnswer::Malformed`] if the answer has no number for each column.
pub(crate) fn measures(model: &Model, reference: &Reference, answer: &Answer) -> Result<Measures, NoAnswer> {
    let exact = reference.programme.as_ref().map(|answer| &answer.status);
    let is = exact.and_then(ProgrammeStatus::of_exact);
    let is = is.ok_or_else(|| NoAnswer::Failed("there is no exact answer".to_owned()))?;
    let mut found = ProgrammeMeasures {
        says: answer.says,
        is,
        relaxed: model.has_integers(),
        row: None,
        bound: None,
        prices: None,
    };
    if answer.says.is_some_and(|says| says != ProgrammeStatus::Optimal) {
        return Ok(Measures { programme: Some(found), ..Measures::default() });
    }
    let point = point(model, answer)?;
    let judgement = judge(model, &point);
    found.row = judgement.row.as_ref().map(|of| violated(model, of));
    found.bound = judgement.bound.as_ref().map(|of| violated(model, of));
    found.prices = judgement.prices.as_ref().map(|prices| {
        let size = judgement.objective.clone().abs().max(Rational::from(1));
        PriceMeasures {
            gap: prices.gap.as_ref().map(|gap| to_f64(&Rational::from(gap / &size))),
            dual_violation: prices.dual_violation.as_ref().map(|of| violated(model, of)),
            complementarity: prices.complementarity.as_ref().map(|of| violated(model, of)),
        }
    });
    let objective_error = match exact {
        Some(Status::Optimal(optimum)) => Some(relative_difference(&judgement.objective, &optimum.objective)),
        _ => None,
    };
    let largest = [&judgement.row, &judgement.bound].into_iter().flatten().map(|of| &of.by).max();
    Ok(Measures {
        objective_error,
        violation: to_f64(&relative_violation(model, &point.x)),
        excess: largest.map_or(0.0, to_f64),
        programme: Some(found),
        ..Measures::default()
    })
}

/// Returns the values and prices of an answer. Every double keeps its exact value.
fn point(model: &Model, answer: &Answer) -> Result<StatedAnswer, NoAnswer> {
    if let Some(stated) = &answer.stated {
        return Ok(stated.clone());
    }
    let all = |values: &[f64], count: usize, of: &str| {
        if values.len() != count {
            return Err(NoAnswer::Malformed(format!(
                "there are {} values of {of}s, not {count}",
                values.len()
            )));
        }
        values
            .iter()
            .map(|value| number(*value, &format!("a value of a {of}")))
            .collect::<Result<Vec<_>, _>>()
    };
    let x = all(&answer.x, model.columns.len(), "column")?;
    let y = answer.prices.as_ref().map(|prices| all(prices, model.rows.len(), "row")).transpose()?;
    Ok(StatedAnswer { x, y, objective: None, missing: 0 })
}

fn violated(model: &Model, of: &Violation) -> Violated {
    let (is_row, name) = match of.at {
        Position::Row(i) => (true, &model.rows[i].name),
        Position::Column(j) => (false, &model.columns[j].name),
    };
    Violated { is_row, name: name.clone(), by: to_f64(&of.by) }
}

/// Returns the largest violation of a bound of a row or column, relative to the bound, or to 1 if the bound is smaller.
fn relative_violation(model: &Model, x: &[Rational]) -> Rational {
    let relative = |bounds: &Bounds, value: &Rational| {
        let by = bounds.violation(value);
        if by.is_zero() {
            return by;
        }
        let is_below = bounds.lower.as_ref().is_some_and(|lower| value < lower);
        let bound = if is_below { &bounds.lower } else { &bounds.upper };
        let size = bound.as_ref().map_or_else(Rational::new, |bound| bound.clone().abs());
        by / size.max(Rational::from(1))
    };
    let activities = model.activities(x);
    let rows = model.rows.iter().zip(&activities).map(|(row, value)| relative(&row.bounds, value));
    let columns = model.columns.iter().zip(x).map(|(column, value)| relative(&column.bounds, value));
    rows.chain(columns).max().unwrap_or_default()
}
