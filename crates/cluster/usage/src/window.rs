//! Verdicts over a window of time: the usage and the entitlement of queues, and whether their decayed usage is max-min
//! fair.
//!
//! docs/theory.md, section 10 ("The window") defines every number. Only times that the history covers count,
//! and no value is interpolated. Times that the history does not cover are listed in [`WindowVerdict::gaps`].

use std::collections::{BTreeMap, HashMap};

use evenhand_budget::charge;
use evenhand_problem::Rational;
use rug::Integer;

use crate::UsageError;
use crate::history::{Fact, Gap, History, OPEN};
use crate::law::{Law, Settings};
use crate::power::Enclosure;
use crate::standing::{BITS, computed};
use crate::time::{NANOSECONDS, time_text};

/// The number of steps of the grid between two whole numbers. The bounds of a margin that is not exact are
/// rounded to this grid.
pub(crate) const GRID: u64 = 1_000_000_000_000;

/// The window, and the settings by which it is judged. Times are in nanoseconds.
#[derive(Debug, Clone)]
pub struct WindowSettings {
    /// The beginning of the window.
    pub from: i64,
    /// The end of the window, at which usage is counted.
    pub to: i64,
    /// The half-life of usage. `None` means that every moment of the window has the same weight.
    pub half_life: Option<i64>,
    /// The weights of queues. Queues that are not in the map have the weight 1.
    pub weights: BTreeMap<String, Rational>,
    /// The value of a unit of each resource that counts. If the map is empty, the only resource of the
    /// history counts.
    pub resource_weights: BTreeMap<String, Rational>,
    /// The queues that are compared. If the list is empty, all queues are compared.
    pub queues: Vec<String>,
    /// The queues that count as wanting more at all times for which the history does not say whether they
    /// wanted more.
    pub wanted: Vec<String>,
    /// The fraction below the largest usage over weight that still counts as fair.
    pub tolerance: Rational,
    /// The least fraction of the window that the history has to cover for a verdict.
    pub coverage: Rational,
}

impl WindowSettings {
    /// Returns the settings of a window without decay and with tolerance 0. The history must cover 95 % of the window.
    #[must_use]
    pub fn new(from: i64, to: i64) -> Self {
        Self {
            from,
            to,
            half_life: None,
            weights: BTreeMap::new(),
            resource_weights: BTreeMap::new(),
            queues: Vec::new(),
            wanted: Vec::new(),
            tolerance: Rational::new(),
            coverage: Rational::from((19, 20)),
        }
    }
}

/// The sums of a queue and a resource over the covered time of the window, in amounts times seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    /// The queue.
    pub queue: String,
    /// The resource.
    pub resource: String,
    /// The usage.
    pub used: Rational,
    /// The fair share, summed over the time in which the queue wanted more. `None` if the history does not
    /// state the fair share, or when the queue wanted more.
    pub fair_share: Option<Rational>,
    /// The amount that the queue lacked while it wanted more.
    pub lacked: Option<Rational>,
    /// The amount that the queue used over its fair share, at any time. `None` if the history does not state
    /// the fair share.
    pub over: Option<Rational>,
    /// True if the history states when the queue wanted more of the resource.
    pub says_wants: bool,
}

impl Balance {
    /// Returns the balance: the amount over the fair share minus the amount that the queue lacked. It is negative if
    /// the queue lacked more.
    #[must_use]
    pub fn balance(&self) -> Option<Rational> {
        Some(Rational::from(self.over.as_ref()? - self.lacked.as_ref()?))
    }
}

/// A queue over the window.
#[derive(Debug, Clone)]
pub struct QueueOverWindow {
    /// The queue.
    pub queue: String,
    /// The weight of the queue.
    pub weight: Rational,
    /// The time for which the queue wanted more of a resource that counts, in nanoseconds. `None` if this is not known.
    pub wanted: Option<i64>,
    /// True if the queue wanted more at every covered moment. `None` if this is not known.
    pub wanted_throughout: Option<bool>,
    /// The time for which the history has rows of the queue, in nanoseconds.
    pub present: i64,
    /// The beginning of the queue's first row and the end of its last row in the window.
    pub seen: Option<(i64, i64)>,
    /// The sum of the decayed usage of the resources that count, each times its value.
    pub decayed: Enclosure,
    /// The decayed usage over the weight of the queue. `None` means infinity.
    pub over_weight: Option<Enclosure>,
}

/// The verdict on max-min fairness of decayed usage over weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MaxMin {
    /// The axiom holds or is violated.
    Judged {
        /// True if the axiom holds within the tolerance.
        holds: bool,
        /// The margin, from -1 to 0. It is 0 if no queue that wanted more throughout has a smaller usage over weight
        /// than another queue.
        margin: Enclosure,
        /// The queue that wanted more throughout and has the least usage over weight.
        least: String,
        /// The queue with the largest usage over weight.
        most: String,
    },
    /// The axiom does not apply, because no queue wanted more throughout.
    DoesNotApply,
    /// The axiom was not checked, for this reason.
    NotChecked(String),
}

/// The verdict on a window.
#[derive(Debug, Clone)]
pub struct WindowVerdict {
    /// The beginning of the window, in nanoseconds.
    pub from: i64,
    /// The end of the window, in nanoseconds.
    pub to: i64,
    /// The length of the covered time in the window, in nanoseconds.
    pub covered: i64,
    /// The intervals of the window that the history does not cover, in ascending order.
    pub gaps: Vec<Gap>,
    /// The sums of each queue and resource.
    pub balances: Vec<Balance>,
    /// The queues, with their numbers over the window.
    pub queues: Vec<QueueOverWindow>,
    /// The value of each resource that counts.
    pub resource_weights: Vec<(String, Rational)>,
    /// The verdict on max-min fairness.
    pub max_min: MaxMin,
}

pub(crate) fn setting(message: impl Into<String>) -> UsageError {
    UsageError::Setting(message.into())
}

/// Returns the union of intervals, as disjoint intervals in ascending order.
pub(crate) fn union(intervals: impl IntoIterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
    let mut rest = intervals.into_iter().filter(|(from, to)| from < to);
    let mut joined: Vec<(i64, i64)> = Vec::new();
    // Rows are mostly sorted by time, so most intervals are joined in their order.
    while let Some((from, to)) = rest.next() {
        match joined.last_mut() {
            Some(last) if from < last.0 => {
                let mut all: Vec<(i64, i64)> = joined.into_iter().chain([(from, to)]).chain(rest).collect();
                all.sort_unstable();
                return union(all);
            }
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

fn length(intervals: &[(i64, i64)]) -> i64 {
    intervals.iter().map(|(from, to)| to - from).sum()
}

/// Returns the part of an interval that is inside the window. If no part is inside, the returned end is
/// before the returned beginning.
pub(crate) fn clipped((from, to): (i64, i64), settings: &WindowSettings) -> (i64, i64) {
    (from.max(settings.from), to.min(settings.to))
}

/// Returns the parts of the window that the history covers.
pub(crate) fn covered(history: &History, settings: &WindowSettings) -> Vec<(i64, i64)> {
    let spans = history.spans.iter().filter(|(from, to)| from < to);
    if history.is_jobs {
        let first = history.spans.iter().map(|(from, _)| *from).min().unwrap_or(settings.to);
        let last = history.spans.iter().map(|(_, to)| *to).max().unwrap_or(settings.from);
        return union([clipped((first, last), settings)]);
    }
    union(spans.map(|span| clipped(*span, settings)))
}

/// Returns the parts of the window that are not covered, each with its reason.
fn gaps(history: &History, covered: &[(i64, i64)], settings: &WindowSettings) -> Vec<Gap> {
    let first = history.spans.iter().map(|(from, _)| *from).min().unwrap_or(settings.to);
    let last = history.spans.iter().map(|(_, to)| *to).max().unwrap_or(settings.from);
    let usual = if history.is_watched { "no round" } else { "no row" };
    let ends = covered.iter().map(|(_, to)| *to);
    let begins = covered.iter().map(|(from, _)| *from).chain([settings.to]);
    let mut gaps = Vec::new();
    for (mut from, to) in std::iter::once(settings.from).chain(ends).zip(begins) {
        let begin = from;
        let known = history.gaps.iter().filter(|gap| gap.from < to && gap.to > begin);
        for gap in known {
            if gap.from > from {
                gaps.push((from, gap.from, usual));
                from = gap.from;
            }
            let until = gap.to.min(to);
            if until > from {
                gaps.push((from, until, gap.reason.as_str()));
                from = until;
            }
        }
        if from < to {
            gaps.push((from, to, usual));
        }
    }
    let named = |(from, to, reason): (i64, i64, &str)| {
        let reason = match reason {
            _ if to <= first => "before the history begins",
            _ if from >= last && reason == usual => "after the history ends",
            other => other,
        };
        Gap { from, to, reason: reason.to_owned() }
    };
    gaps.into_iter().map(named).collect()
}

/// A sum of products of amounts and times in nanoseconds. The sum is that of its three parts. Most products
/// change only `small`.
#[derive(Debug, Default)]
struct Sum {
    small: i128,
    whole: Integer,
    rest: Rational,
}

impl Sum {
    fn add(&mut self, amount: i64, time: i64) {
        // Both factors are below 2^63.
        let product = i128::from(amount) * i128::from(time);
        self.small = self.small.checked_add(product).unwrap_or_else(|| {
            self.whole += self.small;
            product
        });
    }

    fn add_rational(&mut self, amount: &Rational, time: i64) {
        self.rest += Rational::from(amount * time);
    }

    /// Returns the sum in amounts times nanoseconds.
    fn value(self) -> Rational {
        self.rest + self.whole + Integer::from(self.small)
    }

    /// Returns the sum in amounts times seconds.
    fn seconds(self) -> Rational {
        self.value() / NANOSECONDS
    }
}

/// A fair share, in a form that is fast to compare with whole amounts.
enum Share {
    Unknown,
    Whole(i64),
    /// A fair share that is not whole, rounded down.
    Fraction(i64),
    /// A fair share that does not fit into 64 bits.
    Large,
}

/// A fact, with its fair share in a form that is fast to compare.
struct Known<'f> {
    fact: &'f Fact,
    share: Share,
}

impl<'f> Known<'f> {
    fn new(fact: &'f Fact) -> Self {
        let share = match &fact.fair_share {
            None => Share::Unknown,
            Some(share) => match Integer::from(share.floor_ref()).to_i64() {
                None => Share::Large,
                Some(whole) if share.is_integer() => Share::Whole(whole),
                Some(floor) => Share::Fraction(floor),
            },
        };
        Self { fact, share }
    }
}

/// Sums over the rows with the same fact, if the fair share of the fact is not whole. Times are in
/// nanoseconds. The fair share is multiplied only once, by the sum of the times.
#[derive(Debug, Default)]
struct Group {
    over: Sum,
    over_time: i64,
    lacked: Sum,
    lacked_time: i64,
    wanted_time: i64,
}

#[derive(Debug, Default)]
struct Totals {
    used: Sum,
    fair_share: Sum,
    lacked: Sum,
    over: Sum,
    groups: HashMap<u32, Group>,
    has_shares: bool,
    has_wants: bool,
}

impl Totals {
    /// Adds a row with a whole amount. `fact` is the fact of the row, with its number. `is_stated` is true if
    /// the settings name the queue in `wanted`. `time` is in nanoseconds.
    fn whole(&mut self, amount: i64, fact: Option<(u32, &Known<'_>)>, is_stated: bool, time: i64) {
        self.used.add(amount, time);
        let Some((number, known)) = fact else { return };
        let wants = self.note(known, is_stated);
        match known.share {
            Share::Unknown => {}
            Share::Whole(share) => {
                if wants {
                    self.fair_share.add(share, time);
                }
                if share > amount && wants {
                    self.lacked.add(share - amount, time);
                } else if amount > share {
                    self.over.add(amount - share, time);
                }
            }
            Share::Fraction(floor) => {
                // The rows of a queue and a resource do not overlap if they have facts, so the sum of their times is at
                // most the length of the window.
                let group = self.groups.entry(number).or_default();
                if wants {
                    group.wanted_time += time;
                }
                if amount > floor {
                    group.over.add(amount, time);
                    group.over_time += time;
                } else if wants {
                    group.lacked.add(amount, time);
                    group.lacked_time += time;
                }
            }
            Share::Large => self.shares(&Rational::from(amount), known.fact, wants, time),
        }
    }

    fn other(&mut self, amount: &Rational, known: Option<&Known<'_>>, is_stated: bool, time: i64) {
        self.used.add_rational(amount, time);
        if let Some(known) = known {
            let wants = self.note(known, is_stated);
            self.shares(amount, known.fact, wants, time);
        }
    }

    /// Records whether a fact states its fair share and whether the queue wants more. Returns `true` if the
    /// queue wants more.
    fn note(&mut self, known: &Known<'_>, is_stated: bool) -> bool {
        self.has_shares &= known.fact.fair_share.is_some();
        self.has_wants &= known.fact.wants.is_some() || is_stated;
        known.fact.wants.unwrap_or(is_stated)
    }

    fn shares(&mut self, amount: &Rational, fact: &Fact, wants: bool, time: i64) {
        let Some(share) = &fact.fair_share else { return };
        if wants {
            self.fair_share.add_rational(share, time);
        }
        let over = Rational::from(amount - share);
        if over > 0 {
            self.over.add_rational(&over, time);
        } else if wants {
            self.lacked.add_rational(&-over, time);
        }
    }

    /// Adds the sums of the groups to the totals.
    fn close(&mut self, known: &[Known<'_>]) {
        for (number, group) in std::mem::take(&mut self.groups) {
            let Some(share) = known.get(number as usize).and_then(|known| known.fact.fair_share.as_ref())
            else {
                continue;
            };
            self.fair_share.add_rational(share, group.wanted_time);
            let over = group.over.value() - Rational::from(share * group.over_time);
            self.over.rest += over;
            self.lacked.rest += Rational::from(share * group.lacked_time) - group.lacked.value();
        }
    }
}

/// The window, with values of each span that its rows need.
struct Clock<'h> {
    history: &'h History,
    settings: &'h WindowSettings,
    /// The length of the part of each span that is in the window, in nanoseconds, indexed by span.
    times: Vec<i64>,
    /// True if a span is a moment in the window, indexed by span. The amounts of the rows of such a span are
    /// amounts times seconds.
    is_lump: Vec<bool>,
}

impl<'h> Clock<'h> {
    fn new(history: &'h History, settings: &'h WindowSettings) -> Self {
        let time = |span: &(i64, i64)| {
            let (from, to) = clipped(*span, settings);
            (to - from).max(0)
        };
        let is_lump = |(from, to): &(i64, i64)| from == to && (settings.from..=settings.to).contains(from);
        Self {
            history,
            settings,
            times: history.spans.iter().map(time).collect(),
            is_lump: history.spans.iter().map(is_lump).collect(),
        }
    }

    fn is_stated(&self, queue: usize) -> bool {
        self.settings.wanted.contains(&self.history.queues[queue])
    }

    fn totals(&self, key: usize, known: &[Known<'_>]) -> Totals {
        let (queue, _) = self.history.keys[key];
        let series = &self.history.series[key];
        let has_facts = self.history.has_facts;
        let is_stated = self.is_stated(queue);
        let mut totals =
            Totals { has_shares: has_facts, has_wants: has_facts || is_stated, ..Totals::default() };
        for (row, (span, amount)) in series.spans.iter().zip(&series.amounts).enumerate() {
            let (span, time) = (*span as usize, self.times[*span as usize]);
            if time > 0 {
                let fact = series.facts.get(row).map(|at| (*at, &known[*at as usize]));
                totals.whole(*amount, fact, is_stated, time);
            } else if self.is_lump[span] {
                totals.used.add(*amount, NANOSECONDS);
            }
        }
        for (row, (span, amount)) in series.others.iter().enumerate() {
            let (span, time) = (*span as usize, self.times[*span as usize]);
            if time > 0 {
                let fact = series.other_facts.get(row).map(|at| &known[*at as usize]);
                totals.other(amount, fact, is_stated, time);
            } else if self.is_lump[span] {
                totals.used.add_rational(amount, NANOSECONDS);
            }
        }
        totals.close(known);
        totals
    }

    /// Returns an error if two rows of a queue and a resource state facts about the same time.
    fn refuse_overlaps(&self, key: usize) -> Result<(), UsageError> {
        let series = &self.history.series[key];
        let rows = series.spans.iter().chain(series.others.iter().map(|(span, _)| span));
        let mut spans: Vec<(i64, i64)> = rows
            .filter(|at| self.times[**at as usize] > 0)
            .map(|at| self.history.spans[*at as usize])
            .collect();
        if !spans.is_sorted() {
            spans.sort_unstable();
        }
        let Some(pair) = spans.windows(2).find(|pair| pair[1].0 < pair[0].1) else { return Ok(()) };
        let (queue, resource) = self.history.keys[key];
        Err(setting(format!(
            "two rows of `{}` and `{}` overlap at {}: rows that state fair shares or waiting tasks must not overlap",
            self.history.queues[queue],
            self.history.resources[resource],
            time_text(pair[1].0, self.history.is_calendar)
        )))
    }

    /// Returns the parts of the window that are covered by rows of a key whose fact satisfies `holds`.
    fn times_of(&self, key: usize, holds: impl Fn(Option<&Fact>) -> bool) -> Vec<(i64, i64)> {
        let series = &self.history.series[key];
        let fact = |at: Option<&u32>| at.map(|at| &self.history.facts[*at as usize]);
        let whole = series.spans.iter().enumerate().map(|(row, span)| (*span, fact(series.facts.get(row))));
        let others = series.others.iter().enumerate();
        let others = others.map(|(row, (span, _))| (*span, fact(series.other_facts.get(row))));
        let rows = whole.chain(others).filter(|(_, fact)| holds(*fact));
        union(rows.map(|(span, _)| clipped(self.history.spans[span as usize], self.settings)))
    }
}

fn checked(history: &History, settings: &WindowSettings) -> Result<(), UsageError> {
    if settings.from >= settings.to {
        return Err(setting("the window must be longer than 0"));
    }
    if settings.half_life.is_some_and(|half_life| half_life <= 0) {
        return Err(setting("the half-life must be above 0"));
    }
    for (name, weights) in [("queue", &settings.weights), ("resource", &settings.resource_weights)] {
        if let Some((of, _)) = weights.iter().find(|(_, weight)| **weight < 0) {
            return Err(setting(format!(
                "the weight of the {name} `{of}` is negative; weights must be at least 0"
            )));
        }
    }
    if let Some(unknown) = settings.resource_weights.keys().find(|name| !history.resources.contains(name)) {
        let known = history.resources.join(", ");
        return Err(setting(format!("the history has no resource `{unknown}`: expected {known}")));
    }
    for name in settings.queues.iter().chain(&settings.wanted) {
        if !history.queues.contains(name) && !settings.weights.contains_key(name) {
            return Err(setting(format!("the history has no queue `{name}`")));
        }
    }
    let fraction = |of: &Rational| *of >= 0 && *of <= 1;
    if !fraction(&settings.tolerance) || !fraction(&settings.coverage) {
        return Err(setting("the tolerance and the coverage must be from 0 to 1"));
    }
    Ok(())
}

/// Returns the value of each resource that counts. Returns `None` if the history has several resources and the settings
/// state no values.
fn counted(history: &History, settings: &WindowSettings) -> Option<Vec<(String, Rational)>> {
    if !settings.resource_weights.is_empty() {
        let stated = settings.resource_weights.iter().filter(|(_, weight)| **weight > 0);
        return Some(stated.map(|(name, weight)| (name.clone(), weight.clone())).collect());
    }
    match history.resources.as_slice() {
        [only] => Some(vec![(only.clone(), Rational::from(1))]),
        _ => None,
    }
}

/// Judges a window of a history. Computes the sums of each queue and resource, and whether decayed usage over
/// weight is max-min fair.
///
/// # Errors
/// [`UsageError::Setting`] if a setting does not fit the history, or rows with facts overlap.
pub fn window(history: &History, settings: &WindowSettings) -> Result<WindowVerdict, UsageError> {
    checked(history, settings)?;
    charge(2 * history.n_rows, "rows of the history");
    let clock = Clock::new(history, settings);
    let covered = covered(history, settings);
    let counted = counted(history, settings);
    let is_compared = |name: &String| settings.queues.is_empty() || settings.queues.contains(name);
    let mut balances = Vec::new();
    let mut order: Vec<usize> = (0..history.keys.len()).collect();
    order.sort_by_key(|key| history.keys[*key]);
    let known: Vec<Known<'_>> = history.facts.iter().map(Known::new).collect();
    for key in order.iter().copied() {
        let (queue, resource) = history.keys[key];
        if !is_compared(&history.queues[queue]) {
            continue;
        }
        if history.has_facts {
            clock.refuse_overlaps(key)?;
        }
        let totals = clock.totals(key, &known);
        let has_both = totals.has_shares && totals.has_wants;
        balances.push(Balance {
            queue: history.queues[queue].clone(),
            resource: history.resources[resource].clone(),
            used: totals.used.seconds(),
            fair_share: has_both.then(|| totals.fair_share.seconds()),
            lacked: has_both.then(|| totals.lacked.seconds()),
            over: totals.has_shares.then(|| totals.over.seconds()),
            says_wants: totals.has_wants,
        });
    }
    let queues = queues(&clock, &covered, counted.as_deref().unwrap_or_default(), &is_compared)?;
    let covered_time = length(&covered);
    let max_min = max_min(&clock, covered_time, counted.as_deref(), &queues);
    Ok(WindowVerdict {
        from: settings.from,
        to: settings.to,
        covered: covered_time,
        gaps: gaps(history, &covered, settings),
        balances,
        queues,
        resource_weights: counted.unwrap_or_default(),
        max_min,
    })
}

fn queues(
    clock: &Clock<'_>,
    covered: &[(i64, i64)],
    counted: &[(String, Rational)],
    is_compared: &impl Fn(&String) -> bool,
) -> Result<Vec<QueueOverWindow>, UsageError> {
    let (history, settings) = (clock.history, clock.settings);
    let decayed = decayed(history, settings, counted)?;
    let mut keys_of: Vec<Vec<usize>> = vec![Vec::new(); history.queues.len()];
    for (key, (queue, _)) in history.keys.iter().enumerate() {
        keys_of[*queue].push(key);
    }
    // Every row of a history with facts has a fact.
    let are_known = history.facts.iter().all(|fact| fact.wants.is_some());
    let more = settings.weights.keys().filter(|name| !history.queues.contains(name));
    let names = history.queues.iter().enumerate().map(|(at, name)| (Some(at), name));
    let names = names.chain(more.map(|name| (None, name))).filter(|(_, name)| is_compared(name));
    let of = |(at, name): (Option<usize>, &String)| {
        let keys = at.map_or(&[][..], |at| keys_of[at].as_slice());
        let is_counted = |key: &usize| {
            let resource = &history.resources[history.keys[*key].1];
            counted.iter().any(|(name, _)| name == resource)
        };
        let joined = |of: Vec<(i64, i64)>| if keys.len() > 1 { union(of) } else { of };
        let present = joined(keys.iter().flat_map(|key| clock.times_of(*key, |_| true)).collect());
        let is_stated = settings.wanted.contains(name);
        let counts = || keys.iter().copied().filter(|key| is_counted(key));
        let is_unknown = |fact: Option<&Fact>| fact.is_none_or(|fact| fact.wants.is_none());
        let is_known = is_stated
            || history.has_facts
                && (are_known || counts().all(|key| clock.times_of(key, is_unknown).is_empty()));
        let wants = |fact: Option<&Fact>| fact.and_then(|fact| fact.wants).unwrap_or(is_stated);
        let wanted = || match history.has_facts {
            false => length(covered),
            true if counts().next().is_none() && is_stated => length(covered),
            true => length(&joined(counts().flat_map(|key| clock.times_of(key, wants)).collect())),
        };
        let wanted = is_known.then(wanted);
        let charged = decayed.get(name).cloned().unwrap_or_default();
        let weight = settings.weights.get(name).cloned().unwrap_or_else(|| Rational::from(1));
        QueueOverWindow {
            queue: name.clone(),
            wanted,
            wanted_throughout: wanted.map(|wanted| wanted > 0 && wanted == length(covered)),
            present: length(&present),
            seen: present.first().zip(present.last()).map(|(first, last)| (first.0, last.1)),
            over_weight: if weight > 0 {
                Some(charged.times(&Rational::from(weight.recip_ref())))
            } else {
                // A queue of weight 0 without usage has the share 0. With usage its share is infinite.
                (charged.high == 0).then(Enclosure::default)
            },
            decayed: charged,
            weight,
        }
    };
    Ok(names.map(of).collect())
}

/// Returns the decayed usage of each queue in the window.
fn decayed(
    history: &History,
    settings: &WindowSettings,
    counted: &[(String, Rational)],
) -> Result<BTreeMap<String, Enclosure>, UsageError> {
    let mut law = Settings::new(Law::Slurm, 1);
    law.half_life = settings.half_life;
    law.since = Some(settings.from);
    let standings = computed(history, &law, settings.to, counted, BITS[0])?;
    Ok(standings.queues.into_iter().map(|queue| (queue.queue, queue.charged)).collect())
}

fn max_min(
    clock: &Clock<'_>,
    covered: i64,
    counted: Option<&[(String, Rational)]>,
    queues: &[QueueOverWindow],
) -> MaxMin {
    let settings = clock.settings;
    let not_checked = |why: &str| MaxMin::NotChecked(why.to_owned());
    let Some(counted) = counted else {
        return not_checked(
            "the history has several resources, but no values of them are stated (--resource-weight)",
        );
    };
    let length = settings.to - settings.from;
    if covered == 0 || Rational::from((covered, length)) < settings.coverage {
        return not_checked("the history covers too little of the window (--coverage)");
    }
    if queues.iter().any(|queue| queue.wanted.is_none()) {
        return not_checked("the history does not say which queues wanted more (--wanted)");
    }
    let wanting = || queues.iter().filter(|queue| queue.wanted_throughout == Some(true) && queue.weight > 0);
    // Bounds are compared by their lower ends. The unwrapped value is always known, because the usage over weight is
    // finite for every queue with a weight above 0.
    let value = |queue: &QueueOverWindow| queue.over_weight.clone().unwrap_or_default();
    let Some(least) = wanting().min_by_key(|queue| value(queue).low) else { return MaxMin::DoesNotApply };
    let low = value(least).low;
    let high = wanting().map(|queue| value(queue).high).min().unwrap_or_default();
    let judged = |holds: bool, margin: Enclosure, most: &str| MaxMin::Judged {
        holds,
        margin,
        least: least.queue.clone(),
        most: most.to_owned(),
    };
    let minus_one = || Enclosure::of(Rational::from(-1));
    if let Some(most) = queues.iter().find(|queue| queue.over_weight.is_none()) {
        return judged(settings.tolerance == 1, minus_one(), &most.queue);
    }
    // The first of several equal queues is named, while `max_by_key` would return the last queue.
    let Some(most) = queues.iter().rev().max_by_key(|queue| value(queue).high) else {
        return MaxMin::DoesNotApply;
    };
    let top = Enclosure {
        low: queues.iter().map(|queue| value(queue).low).max().unwrap_or_default(),
        high: value(most).high,
    };
    if top.high == 0 {
        return judged(true, Enclosure::default(), &least.queue);
    }
    let exact = (low == high).then_some(()).and(top.exact());
    let margin = match exact {
        Some(top) => Enclosure::of(Rational::from(&low / top) - 1u32),
        None if top.low > 0 => {
            let behind = wanting().filter(|queue| value(queue).low <= high);
            let ahead = queues.iter().filter(|queue| value(queue).high >= top.low);
            let candidates: Vec<&QueueOverWindow> = behind.chain(ahead).collect();
            let margin = Enclosure {
                low: low / &top.high - 1u32,
                high: (high / &top.low - 1u32).min(Rational::new()),
            };
            if margin.high == 0 && are_identical(clock, counted, &candidates) {
                Enclosure::default()
            } else {
                widened(&margin)
            }
        }
        None => return not_checked("the decayed usage is too small to be compared"),
    };
    let least_margin = Rational::from(-&settings.tolerance);
    if margin.low < least_margin && margin.high >= least_margin {
        return not_checked("the margin is too close to the tolerance to be decided (--tolerance)");
    }
    judged(margin.low >= least_margin, margin, &most.queue)
}

/// Returns bounds on the grid that enclose these bounds with one additional step on both sides. The bounds
/// stay between -1 and 0.
fn widened(margin: &Enclosure) -> Enclosure {
    let step = |value: &Rational, is_up: bool| {
        let scaled = Rational::from(value * GRID);
        let whole = if is_up {
            Integer::from(scaled.ceil_ref()) + 1u32
        } else {
            Integer::from(scaled.floor_ref()) - 1u32
        };
        Rational::from(whole) / GRID
    };
    Enclosure {
        low: step(&margin.low, false).max(Rational::from(-1)),
        high: step(&margin.high, true).min(Rational::new()),
    }
}

/// Returns `true` if queues had the same usage over weight at every moment of the window. Their decayed usage
/// over weight is then equal under every law.
fn are_identical(clock: &Clock<'_>, counted: &[(String, Rational)], queues: &[&QueueOverWindow]) -> bool {
    let mut first: Option<Vec<(i64, Rational)>> = None;
    queues.iter().all(|queue| {
        let steps = steps(clock, counted, queue);
        match (&first, steps) {
            (_, None) => false,
            (Some(first), Some(steps)) => *first == steps,
            (None, Some(steps)) => {
                first = Some(steps);
                true
            }
        }
    })
}

/// Returns the changes of a queue's usage over weight, each with its time. Returns `None` for a queue with
/// rows that have no duration.
fn steps(
    clock: &Clock<'_>,
    counted: &[(String, Rational)],
    queue: &QueueOverWindow,
) -> Option<Vec<(i64, Rational)>> {
    let history = clock.history;
    let mut changes: BTreeMap<i64, Rational> = BTreeMap::new();
    for (key, (of, resource)) in history.keys.iter().enumerate() {
        let value = counted.iter().find(|(name, _)| *name == history.resources[*resource]);
        let Some((_, value)) = value.filter(|_| history.queues[*of] == queue.queue) else { continue };
        let factor = Rational::from(value / &queue.weight);
        let series = &history.series[key];
        let whole = series.spans.iter().zip(series.amounts.iter().map(|amount| Rational::from(*amount)));
        for (span, amount) in whole.chain(series.others.iter().map(|(span, amount)| (span, amount.clone()))) {
            let at = *span as usize;
            if clock.is_lump[at] && amount != 0 {
                return None;
            }
            if clock.times[at] > 0 {
                let (from, to) = clipped(history.spans[at], clock.settings);
                let amount = amount * &factor;
                *changes.entry(to).or_default() -= &amount;
                *changes.entry(from).or_default() += amount;
            }
        }
    }
    Some(changes.into_iter().filter(|(_, change)| *change != 0).collect())
}

/// Returns the default end of a window, which is the latest time for which the history has a row or a gap.
///
/// # Errors
/// [`UsageError::Setting`] if the history is empty, or has rows without an end.
pub fn end_of(history: &History) -> Result<i64, UsageError> {
    if history.spans.iter().any(|(_, to)| *to == OPEN) {
        return Err(setting("some rows have no end: --at must say at which time the window ends"));
    }
    let latest = history.latest().into_iter().chain(history.gaps.iter().map(|gap| gap.to)).max();
    latest.ok_or_else(|| setting("the history is empty"))
}
