//! `lp`: linear programmes of any kind, solved exactly, and answers of any solver judged.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use evenhand::import::Input;
use evenhand::lp::judge::{ByPrices, Judgement, Violation, judge};
use evenhand::lp::model::{Direction, Model, Position};
use evenhand::lp::read::read;
use evenhand::lp::solve::{Answer, Infeasibility, Settings, Status, solve};
use evenhand::lp::stated::StatedAnswer;
use evenhand::lp::{json, stated, vipr};
use evenhand::problem::{Rational, number, printable};
use evenhand::report::text::decimal;
use serde_json::{Value, json};

use crate::arguments::lp::{Lp, LpCheck, LpCommand, LpSolve};
use crate::arguments::{Common, Format};
use crate::failure::Failure;
use crate::{files, output};

/// The largest size of an unpacked programme or answer, in bytes.
const MOST_BYTES: u64 = 1 << 30;
/// A number with more digits than this is shown as a decimal only.
const SHOWN_DIGITS: usize = 40;

pub fn run(call: &Lp, common: &Common) -> Result<ExitCode, Failure> {
    match &call.command {
        LpCommand::Solve(call) => solve_file(call, common),
        LpCommand::Check(call) => check_file(call, common),
    }
}

/// Reads a file that may be packed.
fn text(path: &Path) -> Result<(String, String), Failure> {
    let input = if files::is_standard(path) {
        Input::new("standard input", std::io::stdin())
    } else {
        Input::open(path)
    };
    let (name, reader, _) = input.map_err(Failure::input)?.parts();
    let mut bytes = Vec::new();
    let read = reader.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::input(format!("{name}: {error}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::input(format!("{name}: more than {MOST_BYTES} bytes, the most that is read")));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(Failure::input(format!("{name}: no UTF-8: {}", error.utf8_error()))),
    }
}

fn programme(path: &Path, common: &Common) -> Result<Model, Failure> {
    let (name, text) = text(path)?;
    let model = read(&name, &text).map_err(|error| Failure::input(error.to_string()))?;
    if model.has_integers() {
        output::note(
            common,
            "some columns have to be integers: the answer is that of the relaxation without this",
        );
    }
    Ok(model)
}

fn solve_file(call: &LpSolve, common: &Common) -> Result<ExitCode, Failure> {
    let model = programme(&call.file, common)?;
    let settings = Settings { time: call.seconds.map(Duration::from_secs), ..Settings::default() };
    let answer = solve(&model, &settings).map_err(Failure::solver)?;
    let mut printed = false;
    if let Some(path) = &call.certificate {
        match json::certificate(&model, &answer) {
            Some(text) => printed |= files::write(path, &text)?,
            None => output::warn(common, "the time was up, so no certificate is written"),
        }
    }
    if let Some(path) = &call.vipr {
        match vipr::write(&model, &answer) {
            Some(text) => printed |= files::write(path, &text)?,
            None => output::warn(
                common,
                "no VIPR file is written: the format has only optimal and infeasible programmes",
            ),
        }
    }
    if let Some(path) = &call.output {
        printed |= files::write(path, &json::answer(&model, &answer))?;
    }
    match common.format {
        _ if printed => {}
        Format::Json => output::json(&described(&model, &answer), common)?,
        _ => output::text(&format!("{}\n", in_words(&model, &answer)))?,
    }
    Ok(ExitCode::from(if matches!(answer.status, Status::Limit { .. }) { 3 } else { 0 }))
}

/// Returns a number as a decimal, with the fraction if it is short.
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

fn in_words(model: &Model, answer: &Answer) -> String {
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

fn described(model: &Model, answer: &Answer) -> Value {
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

fn check_file(call: &LpCheck, common: &Common) -> Result<ExitCode, Failure> {
    files::distinct(&[&call.file, &call.answer])?;
    let tolerance = super::tolerance(Some(&call.tolerance), "tolerance")?.unwrap_or_default();
    let model = programme(&call.file, common)?;
    let (answer_name, answer_text) = text(&call.answer)?;
    let answer = stated::read(&model, &answer_text)
        .map_err(|error| Failure::input(format!("{answer_name}:{}: {}", error.line, error.message)))?;
    let judgement = judge(&model, &answer);
    let exact =
        call.exact.then(|| solve(&model, &Settings::default())).transpose().map_err(Failure::solver)?;
    let verdict =
        Verdict { model: &model, answer: &answer, judgement: &judgement, exact: exact.as_ref(), tolerance };
    match common.format {
        Format::Json => output::json(&verdict.document(), common)?,
        _ => output::text(&format!("{}\n", verdict.lines().join("\n")))?,
    }
    Ok(ExitCode::from(u8::from(!verdict.is_good())))
}

/// The judgement on an answer, and the optimum if it was asked for.
struct Verdict<'v> {
    model: &'v Model,
    answer: &'v StatedAnswer,
    judgement: &'v Judgement,
    exact: Option<&'v Answer>,
    tolerance: Rational,
}

impl Verdict<'_> {
    /// Returns the largest violation of a row, a bound or integrality.
    fn violation(&self) -> Option<&Violation> {
        let Judgement { row, bound, integrality, .. } = self.judgement;
        row.iter().chain(bound).chain(integrality).max_by(|a, b| a.by.cmp(&b.by))
    }

    /// Returns how far the objective can be from the optimum at most: by the exact optimum, else by the prices.
    fn gap(&self) -> Option<Rational> {
        if let Some(Answer { status: Status::Optimal(optimum), .. }) = self.exact {
            return Some(match self.model.direction {
                Direction::Minimise => Rational::from(&self.judgement.objective - &optimum.objective),
                Direction::Maximise => Rational::from(&optimum.objective - &self.judgement.objective),
            });
        }
        self.judgement.prices.as_ref()?.gap.clone()
    }

    /// Returns a difference of objectives relative to the objective, or to 1 if that is larger.
    fn relative(&self, gap: &Rational) -> Rational {
        let size = self.judgement.objective.clone().abs().max(Rational::from(1));
        Rational::from(gap.abs_ref()) / size
    }

    /// Returns whether the answer is feasible and optimal within the tolerance, as far as that is known.
    fn is_good(&self) -> bool {
        let is_feasible = self.violation().is_none_or(|violation| violation.by <= self.tolerance);
        let has_optimum = self.exact.is_none_or(|exact| matches!(exact.status, Status::Optimal(_)));
        let is_proven = self.judgement.prices.as_ref().is_none_or(|prices| prices.bound.is_some())
            || self.exact.is_some();
        is_feasible
            && has_optimum
            && is_proven
            && self.gap().is_none_or(|gap| self.relative(&gap) <= self.tolerance)
    }

    fn sentence(&self) -> String {
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
            Some(of) if of.by <= self.tolerance => {
                format!("The answer is feasible within {}", decimal(&of.by))
            }
            Some(of) => {
                return format!(
                    "The answer is NOT feasible: {} is violated by {}, which is more than {}, the largest violation that is \
                     taken for rounding.",
                    name(self.model, of.at),
                    decimal(&of.by),
                    decimal(&self.tolerance)
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
                let end = if relative <= self.tolerance {
                    format!("a tolerance of {} leaves as much", power_of_ten(&size))
                } else {
                    format!("that is more than {} of it, and no rounding", decimal(&self.tolerance))
                };
                format!("{feasible}, and its objective is {by} {} {of_what}: {end}.", side(&gap))
            }
            None if self.judgement.prices.is_some() => format!(
                "{feasible}. Its prices prove no bound: {}.",
                self.judgement.prices.as_ref().and_then(|prices| prices.dual_violation.as_ref()).map_or_else(
                    || "one of them needs a bound that is infinite".to_owned(),
                    |of| format!(
                        "that of {} is {} and needs a bound that is infinite",
                        name(self.model, of.at),
                        decimal(&of.by)
                    )
                )
            ),
            None => format!(
                "{feasible}. How far it is from the optimum is not checked: state prices, or use --exact."
            ),
        }
    }

    fn lines(&self) -> Vec<String> {
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

    fn document(&self) -> Value {
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
            "tolerance": number::format(&self.tolerance),
        })
    }
}

/// Returns the least power of ten that is at least a number, as `1e-9`.
fn power_of_ten(value: &Rational) -> String {
    let exponent = value.to_f64().log10().ceil();
    format!("1e{exponent}")
}
