//! Verdicts over a window, computed from their definition (theory, section 10), segment by segment in
//! fractions. The code shares nothing with the crate of the laws or with the kernel: powers of 1/2 are
//! integer roots.

use evenhand_problem::{Rational, number};
use rug::Integer;
use rug::ops::Pow;
use serde_json::Value;

/// The number of bits of roots.
const BITS: u32 = 160;
/// The largest denominator of an exponent whose root is computed.
const MOST_ROOT: u32 = 100_000;

/// The samples of one resource of a queue: one value for each segment.
#[derive(Debug, Clone, Default)]
pub struct PlainSamples {
    pub resource: String,
    pub usage: Vec<Rational>,
    pub fair_share: Option<Vec<Rational>>,
    pub wants: Option<Vec<bool>>,
}

/// A queue with its samples.
#[derive(Debug, Clone, Default)]
pub struct PlainQueue {
    pub name: String,
    pub weight: Rational,
    pub samples: Vec<PlainSamples>,
}

/// A window with its segments and queues.
#[derive(Debug, Clone, Default)]
pub struct PlainWindow {
    pub from: Rational,
    pub to: Rational,
    pub half_life: Option<Rational>,
    pub segments: Vec<(Rational, Rational)>,
    pub queues: Vec<PlainQueue>,
    /// The value of each resource that counts.
    pub values: Vec<(String, Rational)>,
}

/// Lower and upper bounds.
pub type Bounds = (Rational, Rational);

/// The sums of samples: the usage, the fair share while the queue wanted more, the amount lacked, and the
/// amount over the fair share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainSums {
    pub used: Rational,
    pub fair_share: Option<Rational>,
    pub lacked: Option<Rational>,
    pub over: Option<Rational>,
}

/// The margin of max-min over the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlainMargin {
    /// Bounds of the margin. They are equal if the margin is known exactly.
    Margin(Bounds),
    /// The axiom does not apply, because no queue wanted more throughout.
    DoesNotApply,
    /// The margin is not known. The history does not state when a queue wanted more, or no resource counts.
    Unknown,
}

/// Returns bounds of 2^-exponent. Returns `None` if the root would be too large.
fn half_power(exponent: &Rational) -> Option<Bounds> {
    let root = exponent.denom().to_u32().filter(|root| *root <= MOST_ROOT)?;
    let whole = Integer::from(exponent.floor_ref()).to_u32().unwrap_or(u32::MAX);
    if whole >= BITS {
        return Some((Rational::new(), Rational::from(1) >> BITS));
    }
    let halvings = exponent.numer().to_u32()?;
    let power = Integer::from(1) << (BITS * root - halvings);
    let low = Integer::from(power.root_ref(root));
    let is_exact = Integer::from((&low).pow(root)) == power;
    let high = Integer::from(&low + u32::from(!is_exact));
    Some((Rational::from(low) >> BITS, Rational::from(high) >> BITS))
}

impl PlainWindow {
    /// Returns the sums of samples.
    #[must_use]
    pub fn sums(&self, of: &PlainSamples) -> PlainSums {
        let (mut used, mut share, mut lacked, mut over) =
            (Rational::new(), Rational::new(), Rational::new(), Rational::new());
        for (at, (from, to)) in self.segments.iter().enumerate() {
            let time = Rational::from(to - from);
            used += Rational::from(&of.usage[at] * &time);
            let Some(shares) = &of.fair_share else { continue };
            let above = Rational::from(&of.usage[at] - &shares[at]);
            if above > 0 {
                over += Rational::from(&above * &time);
            }
            if of.wants.as_ref().is_some_and(|wants| wants[at]) {
                share += Rational::from(&shares[at] * &time);
                if above < 0 {
                    lacked -= above * time;
                }
            }
        }
        let has_share = of.fair_share.is_some();
        let has_both = has_share && of.wants.is_some();
        PlainSums {
            used,
            fair_share: has_both.then_some(share),
            lacked: has_both.then_some(lacked),
            over: has_share.then_some(over),
        }
    }

    fn value(&self, resource: &str) -> Option<&Rational> {
        self.values.iter().find(|(name, value)| name == resource && *value > 0).map(|(_, value)| value)
    }

    /// Returns the usage of a queue in each segment: the sum of its amounts times the values of the
    /// resources.
    fn charged(&self, queue: &PlainQueue) -> Vec<Rational> {
        let of_segment = |at: usize| -> Rational {
            let values =
                queue.samples.iter().filter_map(|of| Some((self.value(&of.resource)?, &of.usage[at])));
            values.map(|(value, usage)| Rational::from(value * usage)).sum()
        };
        (0..self.segments.len()).map(of_segment).collect()
    }

    /// Returns the bounds of the decayed usage of a queue, in half-lives over ln 2. Returns `None` if a root
    /// is too large.
    #[must_use]
    pub fn decayed(&self, queue: &PlainQueue) -> Option<Bounds> {
        let mut sum = Bounds::default();
        for ((from, to), charged) in self.segments.iter().zip(self.charged(queue)) {
            let (low, high) = match &self.half_life {
                None => (Rational::from(to - from), Rational::from(to - from)),
                Some(half_life) => {
                    let power = |time: &Rational| half_power(&(Rational::from(&self.to - time) / half_life));
                    let (begin, end) = (power(from)?, power(to)?);
                    (
                        Rational::from(&end.0 - &begin.1).max(Rational::new()),
                        Rational::from(&end.1 - &begin.0),
                    )
                }
            };
            sum.0 += low * &charged;
            sum.1 += high * charged;
        }
        Some(sum)
    }

    /// Returns `true` if a queue wanted more of a resource that counts in every segment. Returns `None` if
    /// this is not stated.
    fn wants(&self, queue: &PlainQueue) -> Option<bool> {
        let counts = || queue.samples.iter().filter(|of| self.value(&of.resource).is_some());
        if counts().any(|of| of.wants.is_none()) {
            return None;
        }
        let in_segment = |at: usize| counts().any(|of| of.wants.as_ref().is_some_and(|wants| wants[at]));
        Some(!self.segments.is_empty() && (0..self.segments.len()).all(in_segment))
    }

    /// Returns the margin of max-min. Returns `None` if a root is too large.
    #[must_use]
    pub fn margin(&self) -> Option<PlainMargin> {
        if self.values.iter().all(|(_, value)| *value == 0) {
            return Some(PlainMargin::Unknown);
        }
        let mut wanting = Vec::new();
        for queue in &self.queues {
            match self.wants(queue) {
                None => return Some(PlainMargin::Unknown),
                Some(true) if queue.weight > 0 => wanting.push(queue),
                Some(_) => {}
            }
        }
        if wanting.is_empty() {
            return Some(PlainMargin::DoesNotApply);
        }
        let mut margin: Bounds = (Rational::new(), Rational::new());
        // The margin is the least over all pairs of a queue that wanted more and any other queue.
        for behind in &wanting {
            for ahead in &self.queues {
                let pair = self.pair(behind, ahead)?;
                margin.0 = margin.0.min(pair.0);
                margin.1 = margin.1.min(pair.1);
            }
        }
        Some(PlainMargin::Margin(margin))
    }

    fn pair(&self, behind: &PlainQueue, ahead: &PlainQueue) -> Option<Bounds> {
        let (own, other) = (self.decayed(behind)?, self.decayed(ahead)?);
        if other.1 == 0 {
            return Some(Bounds::default());
        }
        if ahead.weight == 0 {
            return Some((Rational::from(-1), Rational::from(-1)));
        }
        let scaled = |queue: &PlainQueue| -> Vec<Rational> {
            self.charged(queue).into_iter().map(|of| of / &queue.weight).collect()
        };
        if scaled(behind) == scaled(ahead) {
            return Some(Bounds::default());
        }
        let quotient = |own: &Rational, other: &Rational| -> Rational {
            if *other == 0 {
                Rational::from(1)
            } else {
                Rational::from(own / other) * &ahead.weight / &behind.weight
            }
        };
        let bound = |value: Rational| (value - 1u32).min(Rational::new());
        Some((bound(quotient(&own.0, &other.1)), bound(quotient(&own.1, &other.0))))
    }
}

fn rational(value: &Value) -> Option<Rational> {
    match value {
        Value::String(text) => number::parse_result(text).ok(),
        Value::Number(number) => number::parse_result(&number.to_string()).ok(),
        _ => None,
    }
}

fn runs<T: Clone>(value: &Value, segments: usize, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    let mut all = Vec::new();
    for run in value.as_array()? {
        let [count, value] = run.as_array()?.as_slice() else { return None };
        let count = rational(count)?;
        let count = count.numer().to_usize().filter(|_| count.is_integer() && count > 0)?;
        if count > segments - all.len() {
            return None;
        }
        all.resize(all.len() + count, read(value)?);
    }
    (all.len() == segments).then_some(all)
}

/// A certificate of a window, as read from its text.
struct Stated {
    window: PlainWindow,
    tolerance: Rational,
    balances: Vec<(String, String, PlainSums)>,
    claim: Option<StatedClaim>,
}

/// A stated claim: whether the axiom holds, and bounds of the margin with the two queues that show it.
type StatedClaim = (Option<bool>, Option<(Bounds, String, String)>);

fn has_only(value: &Value, names: &[&str]) -> Option<()> {
    value.as_object()?.keys().all(|key| names.contains(&key.as_str())).then_some(())
}

fn read(text: &str) -> Option<Stated> {
    let root: Value = serde_json::from_str(text).ok()?;
    has_only(
        &root,
        &[
            "kind",
            "version",
            "window",
            "half_life",
            "tolerance",
            "resource_weights",
            "balances",
            "claims",
            "segments",
            "queues",
        ],
    )?;
    let at_least_0 = |value: &Value| rational(value).filter(|value| *value >= 0);
    let pair = |value: &Value| match value.as_array()?.as_slice() {
        [from, to] => Some((rational(from)?, rational(to)?)),
        _ => None,
    };
    if root["kind"] != "window-certificate" || rational(&root["version"])? != 1 {
        return None;
    }
    let (from, to) = pair(&root["window"])?;
    let segments: Vec<Bounds> = root["segments"].as_array()?.iter().map(pair).collect::<Option<_>>()?;
    let half_life = match root.get("half_life")? {
        Value::Null => None,
        value => Some(rational(value).filter(|value| *value > 0)?),
    };
    let mut queues = Vec::new();
    for (name, queue) in root["queues"].as_object()? {
        has_only(queue, &["weight", "resources"])?;
        let mut samples = Vec::new();
        for (resource, of) in queue["resources"].as_object()? {
            has_only(of, &["usage", "fair_share", "wants"])?;
            let shares = match of.get("fair_share") {
                None => None,
                Some(value) => Some(runs(value, segments.len(), at_least_0)?),
            };
            let wants = match of.get("wants") {
                None => None,
                Some(value) => Some(runs(value, segments.len(), Value::as_bool)?),
            };
            samples.push(PlainSamples {
                resource: resource.clone(),
                usage: runs(&of["usage"], segments.len(), at_least_0)?,
                fair_share: shares,
                wants,
            });
        }
        queues.push(PlainQueue { name: name.clone(), weight: at_least_0(&queue["weight"])?, samples });
    }
    let optional = |value: &Value, name: &str| match value.get(name) {
        None => Some(None),
        Some(value) => at_least_0(value).map(Some),
    };
    let mut balances = Vec::new();
    for of in root["balances"].as_array()? {
        has_only(of, &["queue", "resource", "used", "fair_share", "lacked", "over"])?;
        let sums = PlainSums {
            used: at_least_0(&of["used"])?,
            fair_share: optional(of, "fair_share")?,
            lacked: optional(of, "lacked")?,
            over: optional(of, "over")?,
        };
        balances.push((of["queue"].as_str()?.to_owned(), of["resource"].as_str()?.to_owned(), sums));
    }
    let claim = match root["claims"].as_array()?.as_slice() {
        [] => None,
        [claim] => {
            has_only(claim, &["axiom", "holds", "margin", "evidence"])?;
            if claim["axiom"] != "window-max-min" {
                return None;
            }
            match claim.get("holds")? {
                Value::Null => Some((None, None)),
                holds => {
                    has_only(&claim["margin"], &["least", "most"])?;
                    has_only(&claim["evidence"], &["queue", "other"])?;
                    let bounds = (rational(&claim["margin"]["least"])?, rational(&claim["margin"]["most"])?);
                    let name = |of: &str| Some(claim["evidence"][of].as_str()?.to_owned());
                    Some((Some(holds.as_bool()?), Some((bounds, name("queue")?, name("other")?))))
                }
            }
        }
        _ => return None,
    };
    let values = root["resource_weights"].as_object()?;
    Some(Stated {
        window: PlainWindow {
            from,
            to,
            half_life,
            segments,
            queues,
            values: values
                .iter()
                .map(|(name, value)| Some((name.clone(), at_least_0(value)?)))
                .collect::<Option<_>>()?,
        },
        tolerance: rational(&root["tolerance"]).filter(|value| *value >= 0 && *value <= 1)?,
        balances,
        claim,
    })
}

/// Returns `true` if everything that a certificate of a window states is true, by plain loops. Returns `None`
/// if the certificate has numbers that are too large for the loops. A text that is no certificate is not
/// true.
#[must_use]
pub fn is_true(text: &str) -> Option<bool> {
    let Some(stated) = read(text) else { return Some(false) };
    let window = &stated.window;
    let mut end = &window.from;
    for (from, to) in &window.segments {
        if from < end || to <= from {
            return Some(false);
        }
        end = to;
    }
    if window.from >= window.to || *end > window.to {
        return Some(false);
    }
    let all: usize = window.queues.iter().map(|queue| queue.samples.len()).sum();
    let is_stated = |queue: &PlainQueue, of: &PlainSamples| {
        let sums = window.sums(of);
        let mut found = stated
            .balances
            .iter()
            .filter(|(name, resource, _)| *name == queue.name && *resource == of.resource);
        found.next().is_some_and(|(_, _, stated)| *stated == sums) && found.next().is_none()
    };
    let are_sums = window.queues.iter().all(|queue| queue.samples.iter().all(|of| is_stated(queue, of)));
    if !are_sums || stated.balances.len() != all {
        return Some(false);
    }
    let Some((holds, proof)) = &stated.claim else { return Some(true) };
    let margin = window.margin()?;
    Some(match (holds, proof, margin) {
        (None, _, PlainMargin::DoesNotApply) => true,
        (Some(holds), Some(((least, most), behind, ahead)), PlainMargin::Margin((low, high))) => {
            let is_proven = *least <= low && high <= *most && least <= most && *most <= 0;
            let decides = if *holds {
                *least >= Rational::from(-&stated.tolerance)
            } else {
                *most < Rational::from(-&stated.tolerance)
            };
            is_proven && decides && is_evidence(window, behind, ahead)?
        }
        _ => false,
    })
}

/// Returns `true` if the named queues are the evidence of a margin: `behind` has the least usage over weight
/// of the queues that wanted more throughout, and `ahead` has the most usage over weight of all queues.
fn is_evidence(window: &PlainWindow, behind: &str, ahead: &str) -> Option<bool> {
    let find = |name: &str| window.queues.iter().find(|queue| queue.name == name);
    let (Some(behind), Some(ahead)) = (find(behind), find(ahead)) else { return Some(false) };
    let is_wanting = |queue: &PlainQueue| queue.weight > 0 && window.wants(queue) == Some(true);
    // The bounds of usage over weight. `None` for a queue with the weight 0 that used anything.
    let value = |queue: &PlainQueue| -> Option<Option<Bounds>> {
        let (low, high) = window.decayed(queue)?;
        Some(match queue.weight == 0 {
            true => (high == 0).then(Bounds::default),
            false => Some((low / &queue.weight, high / &queue.weight)),
        })
    };
    let all: Vec<Option<Bounds>> = window.queues.iter().map(value).collect::<Option<_>>()?;
    if !is_wanting(behind) {
        return Some(false);
    }
    let Some(top) = value(ahead)? else { return Some(true) };
    let own = value(behind)?.unwrap_or_default();
    let is_least = window
        .queues
        .iter()
        .zip(&all)
        .all(|(queue, of)| !is_wanting(queue) || of.as_ref().is_none_or(|of| own.0 <= of.1));
    Some(is_least && all.iter().all(|of| of.as_ref().is_some_and(|of| of.0 <= top.1)))
}
