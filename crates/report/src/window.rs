//! The verdict over a window of time, in text for people and as a JSON document.

use evenhand_problem::Rational;
use evenhand_problem::number::to_f64;
use evenhand_usage::{
    Balance, Gap, History, MaxMin, NANOSECONDS, QueueOverWindow, Settings, Standings, WindowSettings,
    WindowVerdict, time_text,
};
use serde_json::{Value, json};

use crate::Page;
use crate::json::document;
use crate::over_time::{duration, said};
use crate::table::{Cell, Table};
use crate::text::{decimal, few, percent};
use crate::usage;

/// The largest number of names of queues in a sentence.
const FEW: usize = 5;
/// The largest number of gaps that are listed for people.
const FEW_GAPS: usize = 5;
/// The largest number of rows for people.
const LONGEST: usize = 60;
const HOUR: u32 = 3600;

/// A verdict over a window, with the data that its page and its document show.
#[derive(Debug, Clone, Copy)]
pub struct OverWindow<'v> {
    /// The history.
    pub history: &'v History,
    /// The window, and the fair shares with which the usage in the window is compared.
    pub settings: &'v WindowSettings,
    /// The verdict.
    pub verdict: &'v WindowVerdict,
    /// The law that chooses the next queue.
    pub law: &'v Settings,
    /// The name of the rule: the name of the law, or `ideal`.
    pub rule: &'v str,
    /// The standing of the queues under the law. `None` if the queues cannot be ranked.
    pub standings: Option<&'v Standings>,
    /// True if a certificate was written.
    pub is_certified: bool,
}

fn seconds(time: i64) -> f64 {
    time as f64 / NANOSECONDS as f64
}

fn exact_seconds(time: i64) -> String {
    Rational::from((time, NANOSECONDS)).to_string()
}

impl OverWindow<'_> {
    fn time(&self, time: i64) -> String {
        time_text(time, self.history.is_calendar)
    }

    /// Returns the words for the window, such as `the 7 d before 2026-01-31T00:00:00Z`.
    fn span(&self) -> String {
        let length = duration(seconds(self.verdict.to - self.verdict.from));
        format!("the {length} before {}", self.time(self.verdict.to))
    }

    fn is_complete(&self) -> bool {
        self.verdict.gaps.is_empty()
    }

    fn uncovered(&self) -> i64 {
        self.verdict.to - self.verdict.from - self.verdict.covered
    }

    /// Returns the sentence that answers whether the window was fair.
    fn answer(&self) -> String {
        let span = self.span();
        let part = match self.is_complete() {
            true => String::new(),
            false => format!(" in the {} that the history covers", duration(seconds(self.verdict.covered))),
        };
        match &self.verdict.max_min {
            MaxMin::NotChecked(why) => format!("Whether {span} were fair is not checked: {why}."),
            MaxMin::DoesNotApply => {
                format!("No queue wanted more throughout {span}{part}, so there is nothing to compare.")
            }
            MaxMin::Judged { holds: true, margin, .. } => {
                let names: Vec<&str> = self.wanting().map(|queue| queue.queue.as_str()).collect();
                let within = match margin.low < 0 {
                    true => format!(" by more than the tolerance of {}", percent(&self.settings.tolerance)),
                    false => String::new(),
                };
                format!(
                    "Fair over {span}{part}: of the queues that wanted more throughout ({}), none is behind another queue{within}.",
                    few(&names, FEW)
                )
            }
            MaxMin::Judged { holds: false, margin, least, most } => {
                let behind = -margin.middle();
                format!(
                    "Not fair over {span}{part}: {least} wanted more throughout, and its usage over weight is {} below that of {most}.",
                    percent(&behind)
                )
            }
        }
    }

    fn wanting(&self) -> impl Iterator<Item = &QueueOverWindow> {
        self.verdict.queues.iter().filter(|queue| queue.wanted_throughout == Some(true))
    }

    /// Returns the sentences about the times that are missing from the history.
    fn gaps(&self) -> Vec<String> {
        let gaps = &self.verdict.gaps;
        if gaps.is_empty() {
            return vec![format!("The history covers all of {}.", self.span())];
        }
        let covered = match self.verdict.covered {
            0 => "nothing".to_owned(),
            some => duration(seconds(some)),
        };
        let mut said = vec![format!(
            "The history covers {covered} of {}. Not checked, in all {}:",
            self.span(),
            duration(seconds(self.uncovered()))
        )];
        let line = |gap: &Gap| {
            let (from, to) = (self.time(gap.from), self.time(gap.to));
            format!("  {from} to {to} ({}): {}", duration(seconds(gap.to - gap.from)), gap.reason)
        };
        let mut longest: Vec<&Gap> = gaps.iter().collect();
        longest.sort_by_key(|gap| (std::cmp::Reverse(gap.to - gap.from), gap.from));
        said.extend(longest.iter().take(FEW_GAPS).map(|gap| line(gap)));
        if longest.len() > FEW_GAPS {
            said.push(format!("  and {} shorter times", longest.len() - FEW_GAPS));
        }
        said
    }

    fn table(&self) -> Table {
        let hours = |of: &Balance, value: Option<Rational>| match value {
            Some(value) => {
                let value = to_f64(&(value / HOUR));
                Cell::text(said(&of.resource, value)).with_value(value.to_string())
            }
            None => Cell::text("not known").muted(),
        };
        let wanted = |of: &Balance| {
            let queue = self.verdict.queues.iter().find(|queue| queue.queue == of.queue);
            let counts = self.verdict.resource_weights.iter().any(|(name, _)| *name == of.resource);
            match queue.filter(|_| counts).map(|queue| queue.wanted) {
                Some(Some(wanted)) if self.verdict.covered > 0 => {
                    Cell::percent(&Rational::from((wanted, self.verdict.covered)))
                }
                Some(None) => Cell::text("not known").muted(),
                _ => Cell::none(),
            }
        };
        Table::of(self.verdict.balances.iter())
            .words("queue", |of| of.queue.as_str())
            .words("resource", |of| of.resource.as_str())
            .numbers("used", |of| hours(of, Some(of.used.clone())))
            .numbers("wanted more", |of| wanted(of))
            .numbers("fair share then", |of| hours(of, of.fair_share.clone()))
            .numbers("lacked", |of| hours(of, of.lacked.clone()))
            .numbers("over", |of| hours(of, of.over.clone()))
            .numbers("balance", |of| hours(of, of.balance()))
            .table()
            .with_second_key()
            .at_most(LONGEST, "rows of queues and resources")
    }

    fn standing(&self) -> Vec<String> {
        let Some(standings) = self.standings else {
            return vec!["Who is served next is not known: the value of the resources is not stated (--resource-weight).".to_owned()];
        };
        let mut said = vec![usage::next(self.law, standings)];
        let past = match self.rule {
            "ideal" => "usage in the window".to_owned(),
            _ => format!("{}; usage of the whole history", self.law.in_words()),
        };
        said.push(format!(
            "This is by the law {} ({past}). Times that the history does not cover count as unused. What the scheduler itself reports is not known: the history does not have it.",
            self.rule
        ));
        said
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Amounts are times hours. \"Fair share then\" and \"lacked\" are over the time in which the queue wanted more; the balance is what it got over its fair share minus what it lacked.".to_owned(),
        ];
        let weights: Vec<String> = self
            .verdict
            .resource_weights
            .iter()
            .map(|(name, weight)| format!("{name} {}", decimal(weight)))
            .collect();
        if !weights.is_empty() {
            notes.push(format!("Usage is compared by the value of resources: {}.", few(&weights, FEW)));
        }
        let late: Vec<String> = self
            .verdict
            .queues
            .iter()
            .filter(|queue| self.history.is_watched && queue.present < self.verdict.covered)
            .map(|queue| match queue.seen {
                Some((from, to)) => format!("{} ({} to {})", queue.queue, self.time(from), self.time(to)),
                None => format!("{} (never)", queue.queue),
            })
            .collect();
        if !late.is_empty() {
            notes.push(format!("Not in all of the covered time: {}.", few(&late, FEW)));
        }
        notes.push(match self.is_certified {
            true => "The sums and the comparison are certified; the law's order is not.".to_owned(),
            false => {
                "Uncertified; --output writes a certificate of the sums and of the comparison.".to_owned()
            }
        });
        notes
    }

    /// Returns the verdict for people.
    #[must_use]
    pub fn page(&self) -> Page {
        Page::new()
            .text(self.answer())
            .lines(self.gaps())
            .table(self.table())
            .lines(self.standing())
            .lines(self.notes())
    }

    /// Returns the verdict as a JSON document.
    #[must_use]
    pub fn document(&self) -> Value {
        let verdict = self.verdict;
        let text = |value: &Rational| value.to_string();
        let balances: Vec<Value> = verdict
            .balances
            .iter()
            .map(|of| {
                json!({
                    "queue": of.queue,
                    "resource": of.resource,
                    "used": text(&of.used),
                    "fair_share": of.fair_share.as_ref().map(text),
                    "lacked": of.lacked.as_ref().map(text),
                    "over": of.over.as_ref().map(text),
                    "balance": of.balance().as_ref().map(text),
                })
            })
            .collect();
        let queues: Vec<Value> = verdict
            .queues
            .iter()
            .map(|queue| {
                json!({
                    "queue": queue.queue,
                    "weight": text(&queue.weight),
                    "wanted": queue.wanted.map(exact_seconds),
                    "wanted_throughout": queue.wanted_throughout,
                    "present": exact_seconds(queue.present),
                    "seen": queue.seen.map(|(from, to)| [exact_seconds(from), exact_seconds(to)]),
                    "decayed": usage::bounds(&queue.decayed),
                    "over_weight": queue.over_weight.as_ref().map(usage::bounds),
                })
            })
            .collect();
        let max_min = match &verdict.max_min {
            MaxMin::NotChecked(why) => json!({"verdict": "not checked", "why": why}),
            MaxMin::DoesNotApply => json!({"verdict": "does not apply"}),
            MaxMin::Judged { holds, margin, least, most } => json!({
                "verdict": if *holds { "holds" } else { "violated" },
                "margin": usage::bounds(margin),
                "queue": least,
                "other": most,
            }),
        };
        let gaps: Vec<Value> = verdict
            .gaps
            .iter()
            .map(|gap| json!({"from": exact_seconds(gap.from), "to": exact_seconds(gap.to), "reason": gap.reason}))
            .collect();
        let next = self.standings.map(|standings| {
            json!({
                "rule": self.rule,
                "sentence": usage::next(self.law, standings),
                "next": standings.next().iter().map(|queue| queue.queue.as_str()).collect::<Vec<_>>(),
                "order": standings.queues.iter().map(|queue| json!({
                    "queue": queue.queue,
                    "rank": queue.rank,
                    "charged": usage::bounds(&queue.charged),
                    "score": queue.score.as_ref().map(usage::bounds),
                })).collect::<Vec<_>>(),
                "reported": Value::Null,
            })
        });
        let weights: Value = Value::Object(
            verdict
                .resource_weights
                .iter()
                .map(|(name, weight)| (name.clone(), json!(text(weight))))
                .collect(),
        );
        document(
            "window-verdict",
            json!({
                "answer": self.answer(),
                "from": exact_seconds(verdict.from),
                "to": exact_seconds(verdict.to),
                "covered": exact_seconds(verdict.covered),
                "not_checked": gaps,
                "half_life": self.settings.half_life.map(exact_seconds),
                "tolerance": text(&self.settings.tolerance),
                "coverage": text(&self.settings.coverage),
                "resource_weights": weights,
                "max_min": max_min,
                "balances": balances,
                "queues": queues,
                "standing": next,
                "certified": self.is_certified,
            }),
        )
    }
}
