//! Computes the decayed usage of every queue, and the order of the queues by the rule of the scheduler.

use std::cmp::Ordering;

use evenhand_budget::charge;
use evenhand_problem::Rational;
use rug::{Assign, Integer};

use crate::UsageError;
use crate::formulas::{classic_by, level_fair_share};
use crate::history::{History, Series};
use crate::karma;
use crate::law::{Kernel, Law, Settings};
use crate::power::{Enclosure, Fixed, Powers};
use crate::time::{NANOSECONDS, duration_text};

/// The numbers of bits of the computation. The second number is used only if two queues cannot be told apart
/// with the first number of bits.
pub(crate) const BITS: [u32; 2] = [128, 768];
/// The longest interval that is accepted, in nanoseconds: a year.
const LONGEST_INTERVAL: i64 = 366 * 86_400 * NANOSECONDS;

/// A queue with its decayed usage and its place in the order of queues.
#[derive(Debug, Clone)]
pub struct QueueStanding {
    /// The name of the queue.
    pub queue: String,
    /// The weight of the queue.
    pub weight: Rational,
    /// The decayed usage by resource. The unit is amounts times seconds for Slurm and Volcano, amounts for
    /// Kueue, and fractions of the cluster's capacity for KAI. For Karma it is slices of all quanta, without
    /// decay.
    pub usage: Vec<(String, Enclosure)>,
    /// The sum over resources of usage times the weight of the resource. For KAI, the usage of the resource
    /// that is divided.
    pub charged: Enclosure,
    /// The score by which queues are ordered. The queue with the least score is served first. `None` means
    /// infinity.
    ///
    /// For Slurm, the score is U / S, the inverse of the level fair share. For Kueue, it is usage over
    /// weight. For KAI, it is usage over the fraction of weights. For Volcano, it is the usage itself. For
    /// Karma, it is minus the credits.
    pub score: Option<Enclosure>,
    /// The rank of the queue. The first rank is 1. Queues that cannot be told apart have the same rank.
    pub rank: usize,
    /// For Slurm: the queue's fraction S of all shares.
    pub share: Option<Rational>,
    /// For Slurm: the queue's fraction U of all usage.
    pub fraction: Option<Enclosure>,
    /// For Slurm: the level fair share S / U of the fair tree. `Some(None)` means infinity. `None` means
    /// another law.
    pub level_fair_share: Option<Option<Enclosure>>,
    /// For Slurm: the classic factor 2^(-U / S).
    pub classic_factor: Option<Enclosure>,
    /// For KAI: the amount that the queue gets if all queues want more, before the amount is rounded to whole
    /// units. For Karma: the slices of the queue's fair share.
    pub fair_share: Option<Enclosure>,
    /// For Volcano: the amount that the queue uses at the moment, which decides between queues of equal
    /// usage.
    pub running: Option<Rational>,
}

/// The queues in the order in which the scheduler serves them.
#[derive(Debug, Clone)]
pub struct Standings {
    /// The moment at which usage is counted, in nanoseconds.
    pub at: i64,
    /// The moment from which usage counts. `None` if this is the beginning of the history.
    pub since: Option<i64>,
    /// The queues. The queue that is served next comes first.
    pub queues: Vec<QueueStanding>,
    /// The weights of the resources that count.
    pub resource_weights: Vec<(String, Rational)>,
    /// The largest difference between the two bounds of a decayed usage.
    pub width: Rational,
}

impl Standings {
    /// Returns the queues that are served next. This is one queue, or several queues that cannot be told
    /// apart.
    #[must_use]
    pub fn next(&self) -> &[QueueStanding] {
        let count = self.queues.iter().take_while(|queue| queue.rank == 1).count();
        &self.queues[..count]
    }
}

fn setting(message: impl Into<String>) -> UsageError {
    UsageError::Setting(message.into())
}

/// Computes the decayed usage and the order of all queues. The queues are those of a history, and those that
/// have a weight.
///
/// # Errors
/// [`UsageError::Setting`] if a setting is missing or does not fit the law or the history.
pub fn judge(history: &History, settings: &Settings) -> Result<Standings, UsageError> {
    let at = checked(history, settings)?;
    if settings.law == Law::Karma {
        return karma::standings(history, settings, at);
    }
    let resource_weights = resource_weights(history, settings)?;
    let mut standings = computed(history, settings, at, &resource_weights, BITS[0])?;
    if !standings.is_decided() {
        standings = computed(history, settings, at, &resource_weights, BITS[1])?;
    }
    standings.rank(settings.law);
    Ok(standings)
}

/// Checks each setting by itself, and returns the moment at which usage is counted.
fn checked(history: &History, settings: &Settings) -> Result<i64, UsageError> {
    let law = settings.law;
    let name = law.name();
    if settings.half_life.is_none() && matches!(law, Law::Kueue | Law::Volcano) {
        return Err(setting(format!("the law {name} needs a half-life")));
    }
    if settings.half_life.is_some_and(|half_life| half_life <= 0) {
        return Err(setting("the half-life must be above 0"));
    }
    let interval = settings.interval();
    if !(1..=LONGEST_INTERVAL).contains(&interval) {
        return Err(setting("the interval must be above 0 and at most a year"));
    }
    if law == Law::SlurmTicks {
        let is_whole = |time: &i64| time % NANOSECONDS == 0;
        let times = history.spans.iter().flat_map(|(from, to)| [*from, *to]);
        let times =
            times.filter(|time| *time != crate::history::OPEN).chain(settings.at).chain(settings.since);
        if !times.chain([interval]).all(|time| is_whole(&time)) {
            return Err(setting(
                "slurm-ticks: Slurm counts whole seconds, but a time has fractions of a second",
            ));
        }
        if settings.half_life.is_some_and(|half_life| half_life < NANOSECONDS) {
            return Err(setting("slurm-ticks: the half-life must be at least a second"));
        }
    }
    if matches!(law, Law::Kueue | Law::Kai | Law::Karma) && history.spans.iter().any(|(from, to)| from == to)
    {
        let what = "samples the amounts that queues use, but a row begins and ends at the same time";
        return Err(setting(format!("the law {name} {what}: state from when to when each amount was used")));
    }
    for (queue, weight) in &settings.weights {
        let least = if law == Law::Kueue { None } else { Some(0) };
        if least.is_some_and(|least| *weight < least) {
            return Err(setting(format!("the weight of `{queue}` is negative; weights must be at least 0")));
        }
    }
    if let Some((resource, _)) = settings.resource_weights.iter().find(|(_, weight)| **weight < 0) {
        return Err(setting(format!("the weight of `{resource}` is negative; weights must be at least 0")));
    }
    match settings.at {
        Some(at) => Ok(at),
        None if history.has_open_rows() => {
            Err(setting("some rows have no end: --at must say at which time usage is counted"))
        }
        None => history.latest().ok_or_else(|| setting("the history is empty")),
    }
}

/// Returns the weights of the resources that count. If the settings state no weights, the default of the law
/// applies.
fn resource_weights(history: &History, settings: &Settings) -> Result<Vec<(String, Rational)>, UsageError> {
    let known = history.resources.join(", ");
    if let Law::Kai = settings.law {
        let Some((resource, capacity)) = &settings.capacity else {
            return Err(setting(
                "kai: the law needs the capacity of the cluster, since usage is a fraction of it (--capacity gpu=16)",
            ));
        };
        if *capacity <= 0 {
            return Err(setting(format!("kai: the capacity of `{resource}` must be above 0")));
        }
        if !history.resources.contains(resource) {
            return Err(setting(format!("kai: the history has no resource `{resource}`: expected {known}")));
        }
        return Ok(vec![(resource.clone(), Rational::from(1))]);
    }
    if let Some(unknown) = settings.resource_weights.keys().find(|name| !history.resources.contains(name)) {
        return Err(setting(format!("the history has no resource `{unknown}`: expected {known}")));
    }
    let one = |name: &str| vec![(name.to_owned(), Rational::from(1))];
    let stated = |default: u32| {
        let weight = |name: &String| {
            settings.resource_weights.get(name).cloned().unwrap_or_else(|| Rational::from(default))
        };
        let all = history.resources.iter().map(|name| (name.clone(), weight(name)));
        all.filter(|(_, weight)| *weight != 0).collect::<Vec<_>>()
    };
    match settings.law {
        Law::Kueue => Ok(stated(1)),
        _ if !settings.resource_weights.is_empty() => Ok(stated(0)),
        _ if history.resources.len() == 1 => Ok(one(&history.resources[0])),
        Law::Slurm | Law::SlurmTicks => {
            let usual =
                ["billing", "cpu"].into_iter().find(|name| history.resources.iter().any(|of| of == name));
            usual.map(one).ok_or_else(|| {
                let name = settings.law.name();
                setting(format!(
                    "{name}: the law needs weights of resources (--resource-weight NAME=W); the history has {known}"
                ))
            })
        }
        _ => Err(setting(format!(
            "volcano: the law counts one resource: choose it (--resource-weight NAME=1); the history has {known}"
        ))),
    }
}

/// Returns the sum of amounts times the weights of their rows. `widths` are the differences between the two
/// bounds of each weight. They make the computation faster, and are given only if all of them are below 2^64.
fn sum(series: &Series, weights: &[Fixed], widths: Option<&[u64]>, bits: u32) -> Enclosure {
    let mut whole = Fixed::zero();
    let mut product = Integer::new();
    let rows = series.spans.iter().zip(&series.amounts);
    for (span, amount) in rows.clone() {
        product.assign(&weights[*span as usize].low * *amount);
        whole.low += &product;
    }
    match widths {
        Some(widths) => {
            let mut width: u128 = 0;
            let mut all = Integer::new();
            for (span, amount) in rows {
                // An amount is below 2^63, so the product is below 2^127.
                let more = u128::from(widths[*span as usize]) * u128::from(amount.unsigned_abs());
                width = width.checked_add(more).unwrap_or_else(|| {
                    all += width;
                    more
                });
            }
            whole.high.assign(&whole.low + all);
            whole.high += width;
        }
        None => {
            for (span, amount) in rows {
                product.assign(&weights[*span as usize].high * *amount);
                whole.high += &product;
            }
        }
    }
    let mut sum = whole.enclosure(bits);
    for (span, amount) in &series.others {
        sum = sum.plus(&weights[*span as usize].enclosure(bits).times(amount));
    }
    sum
}

/// Computes usage and order with numbers of this many bits.
pub(crate) fn computed(
    history: &History,
    settings: &Settings,
    at: i64,
    resource_weights: &[(String, Rational)],
    bits: u32,
) -> Result<Standings, UsageError> {
    charge(history.spans.len() as u64 * u64::from(bits), "weights of the rows of the history");
    charge(history.n_rows, "rows of the history");
    let mut kernel = Kernel::new(settings, at, bits);
    let weights: Vec<Fixed> = history.spans.iter().map(|span| kernel.weight(*span)).collect();
    let width_of = |weight: &Fixed| Integer::from(&weight.high - &weight.low).to_u64();
    let widths: Option<Vec<u64>> = weights.iter().map(width_of).collect();
    let names =
        history.queues.iter().chain(settings.weights.keys().filter(|of| !history.queues.contains(of)));
    let weight = |name: &String| settings.weights.get(name).cloned().unwrap_or_else(|| Rational::from(1));
    let mut queues: Vec<QueueStanding> = names.map(|name| QueueStanding::new(name, weight(name))).collect();
    // For KAI, usage is a fraction of the capacity of the whole cluster, summed over the samples of the window.
    let offered = match &settings.capacity {
        Some((_, capacity)) if settings.law == Law::Kai => {
            let offered = kernel.window().enclosure(bits).times(capacity);
            if offered.low <= 0 {
                return Err(setting(
                    "kai: the window contains no sample: it begins at or after the time --at",
                ));
            }
            Some(offered)
        }
        _ => None,
    };
    let mut width = Rational::new();
    for (key, series) in history.keys.iter().zip(&history.series) {
        let resource = &history.resources[key.1];
        let counts = resource_weights.iter().find(|(name, _)| name == resource);
        if offered.is_some() && counts.is_none() {
            continue;
        }
        let mut used = sum(series, &weights, widths.as_deref(), bits);
        if let Some(offered) = &offered {
            used = used.over(offered).unwrap_or_default();
        }
        width = width.max(used.width());
        let queue = &mut queues[key.0];
        if let Some((_, weight)) = counts {
            queue.charged = queue.charged.plus(&used.times(weight));
        }
        queue.usage.push((resource.clone(), used));
    }
    match settings.law {
        Law::Slurm | Law::SlurmTicks => slurm(&mut queues),
        Law::Kueue => {
            for queue in &mut queues {
                queue.score = (queue.weight > 0)
                    .then(|| queue.charged.times(&Rational::from(queue.weight.recip_ref())));
            }
        }
        Law::Kai => kai(&mut queues, settings),
        Law::Volcano => volcano(&mut queues, history, at, resource_weights),
        // Credits are not sums of rows, so `judge` computes them separately.
        Law::Karma => {}
    }
    let since = settings.beginning(at);
    let mut standings = Standings { at, since, queues, resource_weights: resource_weights.to_vec(), width };
    standings.sort();
    Ok(standings)
}

fn slurm(queues: &mut [QueueStanding]) {
    let shares: Rational = queues.iter().map(|queue| &queue.weight).sum();
    let used = queues.iter().fold(Enclosure::default(), |sum, queue| sum.plus(&queue.charged));
    let powers = Powers::new(BITS[0]);
    for queue in queues {
        let share = if shares > 0 { Rational::from(&queue.weight / &shares) } else { Rational::new() };
        // If the lower bound of the sum is 0, perhaps no queue has used anything, and all fractions are set to 0.
        let fraction = queue.charged.over(&used).unwrap_or_default();
        queue.score = (share > 0).then(|| fraction.times(&Rational::from(share.recip_ref())));
        queue.level_fair_share = Some(level_fair_share(&fraction, &share));
        queue.classic_factor =
            Some(classic_by(&fraction, &share, |exponent| powers.power(exponent).enclosure(BITS[0])));
        queue.fraction = Some(fraction);
        queue.share = Some(share);
    }
}

fn kai(queues: &mut [QueueStanding], settings: &Settings) {
    let Some((_, capacity)) = &settings.capacity else { return };
    let all: Rational = queues.iter().map(|queue| &queue.weight).sum();
    // Returns max(0, w + k (w - u)) for a usage u. The share of a queue is this number over the sum of these
    // numbers of all queues.
    let number = |queue: &QueueStanding, usage: &Rational| {
        let weight = if all > 0 { Rational::from(&queue.weight / &all) } else { Rational::new() };
        (Rational::from(&weight - usage) * &settings.k + weight).max(Rational::new())
    };
    let low: Vec<Rational> = queues.iter().map(|queue| number(queue, &queue.charged.high)).collect();
    let high: Vec<Rational> = queues.iter().map(|queue| number(queue, &queue.charged.low)).collect();
    let (least, most): (Rational, Rational) = (low.iter().sum(), high.iter().sum());
    // The share of a queue grows with its own number and falls with the numbers of other queues. These directions give
    // the bounds.
    let share = |own: &Rational, others: Rational| {
        let sum = own + others;
        if sum > 0 { own / sum * capacity } else { Rational::new() }
    };
    let bounds: Vec<Enclosure> = low
        .iter()
        .zip(&high)
        .map(|(low, high)| Enclosure {
            low: share(low, Rational::from(&most - high)),
            high: share(high, Rational::from(&least - low)),
        })
        .collect();
    for (queue, bounds) in queues.iter_mut().zip(bounds) {
        queue.score = (queue.weight > 0).then(|| queue.charged.times(&Rational::from(&all / &queue.weight)));
        queue.fair_share = Some(bounds);
    }
}

fn volcano(queues: &mut [QueueStanding], history: &History, at: i64, weights: &[(String, Rational)]) {
    for queue in queues.iter_mut() {
        queue.score = Some(queue.charged.clone());
        queue.running = Some(Rational::new());
    }
    let runs: Vec<bool> = history.spans.iter().map(|(from, to)| *from <= at && at < *to).collect();
    for (key, series) in history.keys.iter().zip(&history.series) {
        let Some((_, weight)) = weights.iter().find(|(name, _)| *name == history.resources[key.1]) else {
            continue;
        };
        let whole = series.spans.iter().zip(&series.amounts).filter(|(span, _)| runs[**span as usize]);
        let mut running: Rational = whole.map(|(_, amount)| Rational::from(*amount)).sum();
        for (_, amount) in series.others.iter().filter(|(span, _)| runs[*span as usize]) {
            running += amount;
        }
        if let Some(sum) = &mut queues[key.0].running {
            *sum += running * weight;
        }
    }
}

impl QueueStanding {
    pub(crate) fn new(name: &str, weight: Rational) -> Self {
        Self {
            queue: name.to_owned(),
            weight,
            usage: Vec::new(),
            charged: Enclosure::default(),
            score: None,
            rank: 0,
            share: None,
            fraction: None,
            level_fair_share: None,
            classic_factor: None,
            fair_share: None,
            running: None,
        }
    }
}

/// Compares two scores, where `None` is infinity. Returns `None` if the enclosures overlap, so that their
/// order is not known.
fn compared(a: Option<&Enclosure>, b: Option<&Enclosure>) -> Option<Ordering> {
    match (a, b) {
        (None, None) => Some(Ordering::Equal),
        (None, Some(_)) => Some(Ordering::Greater),
        (Some(_), None) => Some(Ordering::Less),
        (Some(a), Some(b)) if a.high < b.low => Some(Ordering::Less),
        (Some(a), Some(b)) if a.low > b.high => Some(Ordering::Greater),
        (Some(a), Some(b)) => (a.exact().is_some() && a == b).then_some(Ordering::Equal),
    }
}

impl Standings {
    /// Returns the order of queues whose scores are exact.
    pub(crate) fn of(
        at: i64,
        since: Option<i64>,
        queues: Vec<QueueStanding>,
        resource_weights: Vec<(String, Rational)>,
    ) -> Self {
        let mut standings = Self { at, since, queues, resource_weights, width: Rational::new() };
        standings.sort();
        standings.rank(Law::Karma);
        standings
    }

    fn sort(&mut self) {
        self.queues.sort_by(|a, b| {
            let by_score = match (&a.score, &b.score) {
                (Some(a), Some(b)) => a.low.cmp(&b.low),
                (a, b) => a.is_none().cmp(&b.is_none()),
            };
            by_score.then_with(|| a.queue.cmp(&b.queue))
        });
    }

    /// Returns `true` if the order of all neighbouring queues is known, including ties.
    fn is_decided(&self) -> bool {
        self.queues.windows(2).all(|pair| compared(pair[0].score.as_ref(), pair[1].score.as_ref()).is_some())
    }

    fn rank(&mut self, law: Law) {
        if law == Law::Volcano {
            // Volcano treats usages as equal if they differ by at most one resource-second. It then compares the
            // running amounts.
            let is_tie = |a: &QueueStanding, b: &QueueStanding| match (&a.score, &b.score) {
                (Some(a), Some(b)) => Rational::from(&b.high - &a.low) <= 1,
                _ => false,
            };
            let mut from = 0;
            while from < self.queues.len() {
                let rest = &self.queues[from..];
                let tied = rest.iter().take_while(|of| is_tie(&rest[0], of)).count().max(1);
                self.queues[from..from + tied].sort_by(|a, b| a.running.cmp(&b.running));
                for n in from..from + tied {
                    let is_equal = n > from && self.queues[n].running == self.queues[n - 1].running;
                    self.queues[n].rank = if is_equal { self.queues[n - 1].rank } else { n + 1 };
                }
                from += tied;
            }
            return;
        }
        for n in 0..self.queues.len() {
            let is_less = n == 0
                || compared(self.queues[n - 1].score.as_ref(), self.queues[n].score.as_ref())
                    == Some(Ordering::Less);
            self.queues[n].rank = if is_less { n + 1 } else { self.queues[n - 1].rank };
        }
    }
}

impl Settings {
    /// Returns the law and its parameters in words, such as `Kueue's moving average: half-life 7 d, samples every 5 min`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let half_life = match self.half_life {
            Some(half_life) => format!("half-life {}", duration_text(half_life)),
            None => "no decay".to_owned(),
        };
        let interval = duration_text(self.interval());
        match self.law {
            Law::Slurm => format!("Slurm as documented, {half_life}"),
            Law::SlurmTicks => format!("Slurm as its source computes, {half_life}, a tick every {interval}"),
            Law::Kueue => format!("Kueue's moving average, {half_life}, a sample every {interval}"),
            Law::Kai => {
                let window = duration_text(self.window.unwrap_or(crate::law::DEFAULT_WINDOW));
                let kind = if self.window_start.is_some() { "tumbling" } else { "sliding" };
                format!(
                    "KAI's time-based fair share, {half_life}, {kind} window {window}, a sample every {interval}"
                )
            }
            Law::Volcano => format!("Volcano's fairshare, {half_life}, a cycle every {interval}"),
            Law::Karma => karma::in_words(self),
        }
    }
}
