//! Karma's credits (OSDI 2023). Queues earn credits for slices that they leave to other queues. They pay with
//! credits for slices beyond their guaranteed slices.

use std::collections::BinaryHeap;

use evenhand_budget::charge;
use evenhand_problem::Rational;

use crate::UsageError;
use crate::history::History;
use crate::law::Settings;
use crate::power::Enclosure;
use crate::standing::{QueueStanding, Standings};
use crate::time::{NANOSECONDS, duration_text};

/// The largest product of the numbers of quanta and queues.
const MOST: i64 = 50_000_000;
/// The largest number of slices of a cluster, and the largest number of credits of a queue.
const MOST_SLICES: i64 = 1 << 40;

/// The state of the queues after some quanta.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Karma {
    /// The fair share of each queue, in slices.
    pub fair_share: i64,
    /// The guaranteed slices of each queue, which are alpha times the fair share.
    pub guaranteed: i64,
    /// The credits of each queue, indexed by queue.
    pub credits: Vec<i64>,
    /// The slices that each queue got so far, summed over all quanta and indexed by queue.
    pub totals: Vec<i64>,
}

impl Karma {
    /// Returns the state before the first quantum. All queues have the same credits.
    #[must_use]
    pub fn new(queues: usize, fair_share: i64, guaranteed: i64, credits: i64) -> Self {
        Self { fair_share, guaranteed, credits: vec![credits; queues], totals: vec![0; queues] }
    }

    /// Allocates the slices of a quantum, and returns the slices of each queue. `demands` has the slices that
    /// each queue demands. Of queues with equal credits, the first queue borrows first and lends first.
    ///
    /// Source: Algorithm 1 of Vuppalapati, Fikioris, Agarwal, Cidon, Khandelwal, Tardos: Karma. OSDI 2023.
    pub fn quantum(&mut self, demands: &[i64]) -> Vec<i64> {
        let free = self.fair_share - self.guaranteed;
        let mut shared = free * self.credits.len() as i64;
        let mut slices = Vec::with_capacity(demands.len());
        let mut borrowers = BinaryHeap::new();
        let mut donors = BinaryHeap::new();
        let mut donated: Vec<i64> = Vec::with_capacity(demands.len());
        for (queue, demand) in demands.iter().enumerate() {
            self.credits[queue] += free;
            slices.push(*demand.min(&self.guaranteed));
            donated.push((self.guaranteed - demand).max(0));
            // The latest position has the smallest key, so that the first of equal queues comes first.
            if *demand > self.guaranteed {
                borrowers.push((self.credits[queue], std::cmp::Reverse(queue)));
            } else if donated[queue] > 0 {
                donors.push((std::cmp::Reverse(self.credits[queue]), std::cmp::Reverse(queue)));
            }
        }
        while let Some((credits, std::cmp::Reverse(queue))) = borrowers.pop() {
            if credits <= 0 {
                break;
            }
            if let Some((_, std::cmp::Reverse(donor))) = donors.pop() {
                donated[donor] -= 1;
                self.credits[donor] += 1;
                if donated[donor] > 0 {
                    donors.push((std::cmp::Reverse(self.credits[donor]), std::cmp::Reverse(donor)));
                }
            } else if shared > 0 {
                shared -= 1;
            } else {
                break;
            }
            slices[queue] += 1;
            self.credits[queue] -= 1;
            if slices[queue] < demands[queue] {
                borrowers.push((self.credits[queue], std::cmp::Reverse(queue)));
            }
        }
        for (total, slices) in self.totals.iter_mut().zip(&slices) {
            *total += slices;
        }
        slices
    }
}

fn setting(message: impl Into<String>) -> UsageError {
    UsageError::Setting(message.into())
}

/// Returns a quantity as a whole number of slices. Returns an error for fractions, and for numbers that are
/// negative or too large. `what` names the quantity.
fn slices(what: &str, value: &Rational) -> Result<i64, UsageError> {
    let whole = value.numer().to_i64().filter(|of| value.is_integer() && (0..=MOST_SLICES).contains(of));
    whole.ok_or_else(|| {
        setting(format!("karma: {what} is {value}: expected a whole number of slices from 0 to 2^40"))
    })
}

/// Computes the credits of every queue at the time `at`. The amounts of the history are demands, which are
/// sampled at the beginning of each quantum.
pub(crate) fn standings(history: &History, settings: &Settings, at: i64) -> Result<Standings, UsageError> {
    let Some((resource, capacity)) = &settings.capacity else {
        return Err(setting("karma: the law needs the slices of the cluster (--capacity gpu=16)"));
    };
    let Some(counted) = history.resources.iter().position(|name| name == resource) else {
        let known = history.resources.join(", ");
        return Err(setting(format!("karma: the history has no resource `{resource}`: expected {known}")));
    };
    let (Some(alpha), Some(credits)) = (&settings.alpha, &settings.credits) else {
        return Err(setting(
            "karma: the law needs the guaranteed part and the first credits (--alpha 1/2 --credits 100)",
        ));
    };
    if !(0..=1).contains(alpha) {
        return Err(setting("karma: alpha must be from 0 to 1"));
    }
    let mut queues: Vec<usize> =
        history.keys.iter().filter(|key| key.1 == counted).map(|key| key.0).collect();
    queues.sort_unstable();
    let share =
        slices("the capacity over the number of queues", &Rational::from(capacity / queues.len() as u32))?;
    let guaranteed = slices("alpha times the fair share", &Rational::from(alpha * share))?;
    let mut karma =
        Karma::new(queues.len(), share, guaranteed, slices("the number of first credits", credits)?);
    let interval = settings.interval();
    let first = history.spans.iter().map(|(from, _)| *from).min().unwrap_or(at);
    let first = settings.since.map_or(first, |since| since.max(first));
    let count = (at - first).max(0) / interval;
    if count.saturating_mul(queues.len() as i64) > MOST {
        return Err(setting(format!(
            "karma: more than {MOST} quanta times queues: state longer quanta (--every)"
        )));
    }
    charge(count as u64 * queues.len() as u64, "quanta of the history");
    // The changes of demands: the quantum, the queue, and the change.
    let quantum = |time: i64| ((time - first).max(0) + interval - 1) / interval;
    let mut changes: Vec<(i64, usize, Rational)> = Vec::new();
    for (key, series) in history.keys.iter().zip(&history.series) {
        let Ok(queue) = queues.binary_search(&key.0) else { continue };
        if key.1 != counted {
            continue;
        }
        let whole = series.spans.iter().zip(series.amounts.iter().map(|of| Rational::from(*of)));
        let others = series.others.iter().map(|(span, amount)| (span, amount.clone()));
        for (span, amount) in whole.chain(others) {
            let (from, to) = history.spans[*span as usize];
            let (from, to) = (quantum(from), quantum(to.min(at)));
            if from < to {
                changes.push((to, queue, Rational::from(-&amount)));
                changes.push((from, queue, amount));
            }
        }
    }
    changes.sort_by_key(|change| change.0);
    let mut changes = changes.into_iter().peekable();
    let mut held = vec![Rational::new(); queues.len()];
    let mut demands = vec![0; queues.len()];
    for quantum in 0..count {
        while let Some((_, queue, change)) = changes.next_if(|change| change.0 <= quantum) {
            held[queue] += change;
            demands[queue] = -1;
        }
        for (queue, demand) in demands.iter_mut().enumerate().filter(|(_, demand)| **demand < 0) {
            *demand = slices(&format!("a demand of `{}`", history.queues[queues[queue]]), &held[queue])?;
        }
        let _slices = karma.quantum(&demands);
    }
    let mut found: Vec<QueueStanding> = Vec::new();
    for (at, queue) in queues.iter().enumerate() {
        let total = Enclosure::of(karma.totals[at].into());
        let mut standing = QueueStanding::new(&history.queues[*queue], Rational::from(1));
        standing.usage.push((resource.clone(), total.clone()));
        standing.charged = total;
        standing.score = Some(Enclosure::of((-karma.credits[at]).into()));
        standing.fair_share = Some(Enclosure::of(share.into()));
        found.push(standing);
    }
    let resource_weights = vec![(resource.clone(), Rational::from(1))];
    Ok(Standings::of(at, Some(first), found, resource_weights))
}

/// Returns a description of the law in words.
pub(crate) fn in_words(settings: &Settings) -> String {
    let text = |value: &Option<Rational>| value.as_ref().map_or_else(|| "?".to_owned(), Rational::to_string);
    format!(
        "Karma's credits, alpha {}, {} credits at first, a quantum of {}",
        text(&settings.alpha),
        text(&settings.credits),
        duration_text(settings.interval().max(NANOSECONDS / 1000))
    )
}
