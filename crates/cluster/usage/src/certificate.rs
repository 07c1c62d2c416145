//! Certificates of verdicts over a window (docs/formats.md, "Window certificate").

use std::fmt::Write as _;

use evenhand_budget::charge;
use evenhand_problem::Rational;
use serde_json::{Map, Value, json};

use crate::UsageError;
use crate::history::History;
use crate::time::NANOSECONDS;
use crate::window::{Balance, MaxMin, WindowSettings, WindowVerdict, clipped, covered, setting};

/// The largest product of the numbers of segments, queues and resources of a certificate.
const MOST: usize = 4_000_000;

fn seconds(time: i64) -> String {
    Rational::from((time, NANOSECONDS)).to_string()
}

/// Returns a JSON list of the values of segments. A run of equal values is written once, as `[COUNT,VALUE]`.
fn runs<T: PartialEq>(values: &[T], written: impl Fn(&T) -> String) -> String {
    let mut text = String::from("[");
    let mut from = 0;
    while from < values.len() {
        let count = values[from..].iter().take_while(|value| **value == values[from]).count();
        let comma = if from > 0 { "," } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{comma}[{count},{}]", written(&values[from]));
        from += count;
    }
    text.push(']');
    text
}

/// The intervals into which the rows of a history divide the covered parts of a window.
struct Segments<'h> {
    history: &'h History,
    settings: &'h WindowSettings,
    list: Vec<(i64, i64)>,
}

impl<'h> Segments<'h> {
    fn new(history: &'h History, settings: &'h WindowSettings) -> Self {
        let inside = history.spans.iter().map(|span| clipped(*span, settings)).filter(|(from, to)| from < to);
        let mut cuts: Vec<i64> = inside.flat_map(|(from, to)| [from, to]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut list = Vec::new();
        for (from, to) in covered(history, settings) {
            let first = cuts.partition_point(|cut| *cut <= from);
            let mut begins = from;
            for cut in cuts[first..].iter().copied().take_while(|cut| *cut < to).chain([to]) {
                list.push((begins, cut));
                begins = cut;
            }
        }
        Self { history, settings, list }
    }

    /// Returns the range of segments that a row covers. `span` is its position in `history.spans`.
    fn of(&self, span: u32) -> std::ops::Range<usize> {
        let (from, to) = clipped(self.history.spans[span as usize], self.settings);
        let first = self.list.partition_point(|segment| segment.0 < from);
        first..self.list.partition_point(|segment| segment.1 <= to).max(first)
    }

    /// Returns for each segment the usage, the fair share, and whether the queue wants more. `key` is the
    /// position of a queue and a resource.
    fn values(&self, key: usize) -> (Vec<Rational>, Vec<Rational>, Vec<bool>) {
        let series = &self.history.series[key];
        let count = self.list.len();
        let mut changes = vec![Rational::new(); count + 1];
        let (mut shares, mut wants) = (vec![Rational::new(); count], vec![false; count]);
        let is_stated = self.settings.wanted.contains(&self.history.queues[self.history.keys[key].0]);
        if !self.history.has_facts {
            wants.fill(is_stated);
        }
        let whole = series.spans.iter().zip(series.amounts.iter().map(|of| Rational::from(*of))).enumerate();
        let whole = whole.map(|(row, (span, amount))| (*span, amount, series.facts.get(row)));
        let others = series.others.iter().enumerate();
        let others = others.map(|(row, (span, amount))| (*span, amount.clone(), series.other_facts.get(row)));
        for (span, amount, fact) in whole.chain(others) {
            let of = self.of(span);
            if of.is_empty() {
                continue;
            }
            changes[of.start] += &amount;
            changes[of.end] -= &amount;
            if let Some(fact) = fact.map(|at| &self.history.facts[*at as usize]) {
                shares[of.clone()].fill(fact.fair_share.clone().unwrap_or_default());
                wants[of].fill(fact.wants.unwrap_or(is_stated));
            }
        }
        let mut held = Rational::new();
        let usage = changes[..count].iter().map(|change| {
            held += change;
            held.clone()
        });
        (usage.collect(), shares, wants)
    }
}

fn balance(of: &Balance) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Option<&Rational>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), json!(value.to_string()));
        }
    };
    put("used", Some(&of.used));
    put("fair_share", of.fair_share.as_ref());
    put("lacked", of.lacked.as_ref());
    put("over", of.over.as_ref());
    fields.insert("queue".to_owned(), json!(of.queue));
    fields.insert("resource".to_owned(), json!(of.resource));
    Value::Object(fields)
}

fn claims(verdict: &WindowVerdict) -> Value {
    let claim = |holds: Option<bool>, more: Value| {
        let mut fields = json!({"axiom": "window-max-min", "holds": holds});
        if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
            fields.extend(more);
        }
        json!([fields])
    };
    match &verdict.max_min {
        MaxMin::NotChecked(_) => json!([]),
        MaxMin::DoesNotApply => claim(None, json!({})),
        MaxMin::Judged { holds, margin, least, most } => claim(
            Some(*holds),
            json!({
                "margin": {"least": margin.low.to_string(), "most": margin.high.to_string()},
                "evidence": {"queue": least, "other": most},
            }),
        ),
    }
}

/// Returns the certificate of a verdict over a window. The certificate states the samples, and the sums and
/// the margin that follow from the samples.
///
/// # Errors
/// [`UsageError::Setting`] if the window has rows without a duration, or too many samples.
pub fn window_certificate(
    history: &History,
    settings: &WindowSettings,
    verdict: &WindowVerdict,
) -> Result<String, UsageError> {
    let has_lumps =
        history.spans.iter().any(|(from, to)| from == to && (settings.from..=settings.to).contains(from));
    if has_lumps {
        return Err(setting(
            "a certificate needs rows with a duration, but a row of the window begins and ends at the same time",
        ));
    }
    let segments = Segments::new(history, settings);
    if segments.list.len().saturating_mul(history.keys.len()) > MOST {
        return Err(setting(format!(
            "the certificate would have more than {MOST} samples: choose a shorter window, or compare fewer queues (--queue)"
        )));
    }
    charge((segments.list.len() * history.keys.len()) as u64 * 4, "samples of the certificate");
    let text = |value: &Rational| format!("\"{value}\"");
    let mut balances: Vec<Value> = verdict.balances.iter().map(balance).collect();
    let mut queues = Vec::new();
    for queue in &verdict.queues {
        let mut resources = Vec::new();
        for of in verdict.balances.iter().filter(|of| of.queue == queue.queue) {
            let is_its = |(q, r): &(usize, usize)| {
                history.queues[*q] == of.queue && history.resources[*r] == of.resource
            };
            let Some(key) = history.keys.iter().position(is_its) else { continue };
            let (usage, shares, wants) = segments.values(key);
            let mut fields = vec![format!("\"usage\":{}", runs(&usage, text))];
            if of.over.is_some() {
                fields.push(format!("\"fair_share\":{}", runs(&shares, text)));
            }
            if of.says_wants {
                fields.push(format!("\"wants\":{}", runs(&wants, bool::to_string)));
            }
            resources.push(format!("{}:{{{}}}", json!(of.resource), fields.join(",")));
        }
        // `--wanted` names queues, so a named queue also wants the resources for which it has no row.
        let has_row =
            |name: &str| verdict.balances.iter().any(|of| of.queue == queue.queue && of.resource == name);
        if settings.wanted.contains(&queue.queue)
            && let Some((name, _)) = verdict.resource_weights.first()
            && !verdict.resource_weights.iter().any(|(name, _)| has_row(name))
        {
            let count = segments.list.len();
            resources
                .push(format!("{}:{{\"usage\":[[{count},\"0\"]],\"wants\":[[{count},true]]}}", json!(name)));
            balances.push(json!({"queue": queue.queue, "resource": name, "used": "0"}));
        }
        queues.push(format!(
            "{}:{{\"weight\":\"{}\",\"resources\":{{{}}}}}",
            json!(queue.queue),
            queue.weight,
            resources.join(",")
        ));
    }
    let list: Vec<String> = segments
        .list
        .iter()
        .map(|(from, to)| format!("[\"{}\",\"{}\"]", seconds(*from), seconds(*to)))
        .collect();
    let weights: Map<String, Value> = verdict
        .resource_weights
        .iter()
        .map(|(name, weight)| (name.clone(), json!(weight.to_string())))
        .collect();
    Ok(format!(
        "{{\"kind\":\"window-certificate\",\"version\":1,\n\"window\":[\"{}\",\"{}\"],\n\"half_life\":{},\n\"tolerance\":\"{}\",\n\
         \"resource_weights\":{},\n\"balances\":{},\n\"claims\":{},\n\"segments\":[{}],\n\"queues\":{{{}}}}}\n",
        seconds(settings.from),
        seconds(settings.to),
        settings.half_life.map_or(Value::Null, |time| json!(seconds(time))),
        settings.tolerance,
        Value::Object(weights),
        Value::Array(balances),
        claims(verdict),
        list.join(","),
        queues.join(",\n"),
    ))
}
