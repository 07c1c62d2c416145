//! Linear programmes: exact answers, and verdicts on the answers of other solvers, in text for people and as
//! JSON documents.

use evenhand_lp::judge::{ByPrices, Judgement, Violation};
use evenhand_lp::model::{Direction, Model, Position};
use evenhand_lp::solve::{Answer, Infeasibility, Status};
use evenhand_lp::stated::StatedAnswer;
use evenhand_problem::{Rational, number, printable};
use serde_json::{Value, json};

use crate::text::decimal;

/// The largest number of digits of a number that is shown as a fraction. Longer numbers are shown only as
/// decimals.
const SHOWN_DIGITS: usize = 40;

/// Returns a number as a decimal, followed by the fraction if the fraction is short.
fn shown(value: &Rational) -> String {
    let exact = value.to_string();
    if *value.denom() == 1 && exact.len() <= SHOWN_DIGITS {
        return exact;
    }
    if exact.len() <= SHOWN_DIGITS { format!("{} (exactly {exact})", decimal(value)) } else { decimal(value) }
}

fn name(model: &Model, at: Position) -> String {
    printable(&match at {
        Position::Row(i) => format!("row `{}`", model.rows[i].name),
        Position::Column(j) => format!("column `{}`", model.columns[j].name),
    })
}

/// Returns an exact answer in words: the answer, the size of the programme, and the work.
#[must_use]
pub fn answer_in_words(model: &Model, answer: &Answer) -> String {
    let first = match &answer.status {
        Status::Optimal(optimum) => format!("Optimal: the objective is {}.", shown(&optimum.objective)),
        Status::Infeasible(Infeasibility::Prices(_)) => {
            "Infeasible: prices of the rows prove that no point satisfies them.".to_owned()
        }
        Status::Infeasible(Infeasibility::EmptyBounds(at)) => {
            format!("Infeasible: the lower bound of {} is above its upper bound.", name(model, *at))
        }
        Status::Unbounded { .. } => {
            "Unbounded: from a feasible point the objective improves for ever along a ray.".to_owned()
        }
        Status::Limit { feasible, bound } => {
            let feasible = feasible.as_ref().map_or("none is known".to_owned(), |(_, value)| shown(value));
            let bound = bound.as_ref().map_or("none is proven".to_owned(), |(_, value)| shown(value));
            format!("The time was up. Objective of a feasible point: {feasible}; proven bound: {bound}.")
        }
    };
    let rounds = |count: usize, one: &str, more: &str| {
        if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
    };
    format!(
        "{first}\n{} rows, {} columns, {} entries; {}, {}",
        model.rows.len(),
        model.columns.len(),
        model.n_entries(),
        rounds(answer.refinements, "round of refinement", "rounds of refinement"),
        rounds(answer.pivots, "exact pivot", "exact pivots"),
    )
}

/// Returns the document of an exact answer without its values and prices.
#[must_use]
pub fn answer(model: &Model, answer: &Answer) -> Value {
    let (status, objective) = match &answer.status {
        Status::Optimal(optimum) => ("optimal", Some(optimum.objective.to_string())),
        Status::Infeasible(_) => ("infeasible", None),
        Status::Unbounded { .. } => ("unbounded", None),
        Status::Limit { .. } => ("limit", None),
    };
    let bound = match &answer.status {
        Status::Limit { bound, .. } => bound.as_ref().map(|(_, value)| value.to_string()),
        _ => None,
    };
    json!({
        "kind": "lp-result", "version": 1, "name": model.name, "status": status, "objective": objective, "bound": bound,
        "rows": model.rows.len(), "columns": model.columns.len(), "entries": model.n_entries(),
        "relaxed": model.has_integers(), "refinements": answer.refinements, "pivots": answer.pivots,
    })
}

/// The verdict on an answer. It may include the exact optimum.
#[derive(Debug, Clone)]
pub struct Verdict<'v> {
    /// The programme.
    pub model: &'v Model,
    /// The answer that is judged.
    pub answer: &'v StatedAnswer,
    /// The result of checking `answer`.
    pub judgement: &'v Judgement,
    /// The exact answer of the programme. `None` if it was not computed.
    pub exact: Option<&'v Answer>,
    /// The largest violation, and the largest gap relative to the objective, that count as rounding errors.
    pub tolerance: &'v Rational,
}

impl Verdict<'_> {
    /// Returns the sentence about the bound on the optimum that the stated prices prove. Returns `None` if
    /// the answer states no prices.
    #[must_use]
    pub fn bound_sentence(&self) -> Option<String> {
        self.judgement.prices.as_ref().map(|prices| self.bound_of(prices))
    }

    fn bound_of(&self, prices: &ByPrices) -> String {
        let side = if self.model.direction == Direction::Minimise { "at least" } else { "at most" };
        match (&prices.bound, &prices.dual_violation) {
            (Some(bound), _) => format!("Its prices prove that the optimum is {side} {}.", shown(bound)),
            (None, Some(of)) => format!(
                "Its prices prove no bound: that of {} is {} and needs a bound that is infinite.",
                name(self.model, of.at),
                decimal(&of.by)
            ),
            (None, None) => {
                "Its prices prove no bound: one of them needs a bound that is infinite.".to_owned()
            }
        }
    }

    /// Returns the largest violation of a row, a bound or integrality.
    #[must_use]
    pub fn violation(&self) -> Option<&Violation> {
        let Judgement { row, bound, integrality, .. } = self.judgement;
        row.iter().chain(bound).chain(integrality).max_by(|a, b| a.by.cmp(&b.by))
    }

    /// Returns a bound on the distance between the objective and the optimum. If the exact optimum is known,
    /// it gives the bound. Otherwise the prices give the bound.
    #[must_use]
    pub fn gap(&self) -> Option<Rational> {
        if let Some(Answer { status: Status::Optimal(optimum), .. }) = self.exact {
            return Some(match self.model.direction {
                Direction::Minimise => Rational::from(&self.judgement.objective - &optimum.objective),
                Direction::Maximise => Rational::from(&optimum.objective - &self.judgement.objective),
            });
        }
        self.judgement.prices.as_ref()?.gap.clone()
    }

    /// Returns a difference of objectives, divided by the larger of 1 and the absolute value of the
    /// objective.
    fn relative(&self, gap: &Rational) -> Rational {
        let size = self.judgement.objective.clone().abs().max(Rational::from(1));
        Rational::from(gap.abs_ref()) / size
    }

    /// Returns `true` if the answer is feasible and optimal within the tolerance. Without the exact optimum
    /// and without prices, optimality is not checked.
    #[must_use]
    pub fn is_good(&self) -> bool {
        let is_feasible = self.violation().is_none_or(|violation| violation.by <= *self.tolerance);
        let has_optimum = self.exact.is_none_or(|exact| matches!(exact.status, Status::Optimal(_)));
        let is_proven = self.judgement.prices.as_ref().is_none_or(|prices| prices.bound.is_some())
            || self.exact.is_some();
        is_feasible
            && has_optimum
            && is_proven
            && self.gap().is_none_or(|gap| self.relative(&gap) <= *self.tolerance)
    }

    /// Returns the verdict in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (violation, gap) = (self.violation(), self.gap());
        if let Some(exact) = self.exact {
            match &exact.status {
                Status::Infeasible(_) => {
                    return "The programme is infeasible: no answer can be right.".to_owned();
                }
                Status::Unbounded { .. } => {
                    return "The objective has no bound: no answer can be optimal.".to_owned();
                }
                _ => {}
            }
        }
        let feasible = match violation {
            None => "The answer is feasible, exactly".to_owned(),
            Some(of) if of.by <= *self.tolerance => {
                format!("The answer is feasible within {}", decimal(&of.by))
            }
            Some(of) => {
                return format!(
                    "The answer is NOT feasible: {} is violated by {}, which is more than {}, the largest violation that is \
                     taken for rounding.",
                    name(self.model, of.at),
                    decimal(&of.by),
                    decimal(self.tolerance)
                );
            }
        };
        let side = |gap: &Rational| match (self.model.direction, *gap < 0) {
            (Direction::Minimise, false) | (Direction::Maximise, true) => "above",
            _ => "below",
        };
        let of_what = if self.exact.is_some() { "the optimum" } else { "the bound that its prices prove" };
        match gap {
            Some(gap) if gap.is_zero() => format!("{feasible}, and its objective is {of_what}, exactly."),
            Some(gap) => {
                let relative = self.relative(&gap);
                let by = decimal(&Rational::from(gap.abs_ref()));
                let size = violation.map_or(relative.clone(), |of| relative.clone().max(of.by.clone()));
                let end = if relative <= *self.tolerance {
                    format!("a tolerance of {} leaves as much", power_of_ten(&size))
                } else {
                    format!("that is more than {} of it, and no rounding", decimal(self.tolerance))
                };
                format!("{feasible}, and its objective is {by} {} {of_what}: {end}.", side(&gap))
            }
            None => match &self.judgement.prices {
                Some(prices) => format!("{feasible}. {}", self.bound_of(prices)),
                None => format!(
                    "{feasible}. How far it is from the optimum is not checked: state prices, or use --exact."
                ),
            },
        }
    }

    /// Returns the lines that `evenhand lp check` prints.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let Judgement { objective, objective_error, row, bound, integrality, prices } = self.judgement;
        let mut lines = vec![self.sentence(), String::new()];
        let violated = |what: &str, of: &Option<Violation>| match of {
            None => format!("{what}: none"),
            Some(of) => format!("{what}: {} at {}", decimal(&of.by), name(self.model, of.at)),
        };
        lines.push(format!("objective of the answer: {}", shown(objective)));
        if let Some(error) = objective_error {
            lines.push(format!("stated objective minus this: {}", decimal(error)));
        }
        lines.push(violated("largest violation of a row", row));
        lines.push(violated("largest violation of a bound", bound));
        if self.model.has_integers() {
            lines.push(violated("largest distance from an integer", integrality));
        }
        if let Some(ByPrices { bound, gap, dual_violation, complementarity }) = prices {
            lines.push(bound.as_ref().map_or_else(
                || "bound that the prices prove: none".to_owned(),
                |bound| format!("bound that the prices prove: {}", shown(bound)),
            ));
            lines.extend(gap.as_ref().map(|gap| format!("proven gap: {}", decimal(gap))));
            lines.push(violated("largest price without a bound for it", dual_violation));
            lines.push(violated("largest violation of complementarity", complementarity));
        }
        if let Some(Answer { status: Status::Optimal(optimum), .. }) = self.exact {
            lines.push(format!("exact optimum: {}", shown(&optimum.objective)));
        }
        if self.answer.missing > 0 {
            lines.push(format!("columns without a value, taken as 0: {}", self.answer.missing));
        }
        lines
    }

    /// Returns the verdict as a JSON document.
    #[must_use]
    pub fn document(&self) -> Value {
        let Judgement { objective, objective_error, row, bound, integrality, prices } = self.judgement;
        let exact = |value: &Rational| json!(value.to_string());
        let violated = |of: &Option<Violation>| {
            of.as_ref().map(|of| {
                let (kind, name) = match of.at {
                    Position::Row(i) => ("row", &self.model.rows[i].name),
                    Position::Column(j) => ("column", &self.model.columns[j].name),
                };
                json!({kind: name, "by": of.by.to_string()})
            })
        };
        let prices = prices.as_ref().map(|of| {
            json!({
                "bound": of.bound.as_ref().map(exact), "gap": of.gap.as_ref().map(exact),
                "dual_violation": violated(&of.dual_violation), "complementarity": violated(&of.complementarity),
            })
        });
        let optimum = match self.exact.map(|exact| &exact.status) {
            Some(Status::Optimal(optimum)) => exact(&optimum.objective),
            _ => Value::Null,
        };
        json!({
            "kind": "lp-judgement", "version": 1, "accepted": self.is_good(), "sentence": self.sentence(),
            "objective": exact(objective), "objective_error": objective_error.as_ref().map(exact),
            "row_violation": violated(row), "bound_violation": violated(bound),
            "integrality_violation": violated(integrality), "prices": prices, "optimum": optimum,
            "tolerance": number::format(self.tolerance),
        })
    }
}

/// Returns the least power of ten that is at least a number, written as in `1e-9`.
fn power_of_ten(value: &Rational) -> String {
    let exponent = value.to_f64().log10().ceil();
    format!("1e{exponent}")
}
