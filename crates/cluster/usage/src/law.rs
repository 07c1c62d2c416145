//! The laws of schedulers, and the weight that each law gives to a second of past usage.

use std::collections::BTreeMap;
use std::str::FromStr;

use evenhand_problem::Rational;
use rug::Integer;

use crate::UsageError;
use crate::decay::Decay;
use crate::power::{Fixed, inverse_of_ln_2};
use crate::time::NANOSECONDS;

/// The law by which a scheduler counts the usage of the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Law {
    /// Slurm as documented: usage decays by a half in every half-life.
    Slurm,
    /// Slurm as its source computes it: a factor of 1 - .693 / h for each second, applied at every tick.
    SlurmTicks,
    /// Kueue's admission fair sharing: a moving average of samples.
    Kueue,
    /// KAI's time-based fair share: samples of a window, as a fraction of the capacity.
    Kai,
    /// Volcano's plugin `fairshare`: resource-seconds with decay.
    Volcano,
    /// Karma's credits: a queue gets credits for slices that it leaves to other queues, and pays with them
    /// later.
    Karma,
}

impl Law {
    /// The names of all laws, each with a description.
    pub const NAMES: &'static [(&'static str, &'static str)] = &[
        ("slurm", "Slurm as documented: a half is left after every half-life"),
        ("slurm-ticks", "Slurm as its source computes: 1 - .693/h a second, at every tick"),
        ("kueue", "Kueue's admission fair sharing: a moving average of samples"),
        ("kai", "KAI's time-based fair share: samples of a window over the capacity"),
        ("volcano", "Volcano's plugin fairshare: resource-seconds with decay"),
        ("karma", "Karma's credits: slices left to others are credits for later"),
    ];

    const ALL: [Self; 6] =
        [Self::Slurm, Self::SlurmTicks, Self::Kueue, Self::Kai, Self::Volcano, Self::Karma];

    /// Returns the name of the law.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// Returns the usual time between two ticks, cycles or samples of the scheduler, in nanoseconds. This is
    /// Slurm's `PriorityCalcPeriod` (5 minutes), Kueue's `usageSamplingInterval` (5 minutes), the resolution
    /// of KAI's queries (1 minute), Volcano's scheduling cycle (1 second) or Karma's quantum (1 second).
    #[must_use]
    pub fn usual_interval(self) -> i64 {
        NANOSECONDS
            * match self {
                Self::Slurm | Self::SlurmTicks | Self::Kueue => 300,
                Self::Kai => 60,
                Self::Volcano | Self::Karma => 1,
            }
    }
}

impl FromStr for Law {
    type Err = UsageError;

    fn from_str(name: &str) -> Result<Self, UsageError> {
        let known = Self::ALL.into_iter().find(|law| law.name() == name);
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            UsageError::Setting(format!("there is no law `{name}`: expected one of {names}"))
        })
    }
}

/// The settings of a computation: the law, its parameters and the weights. Times and durations are in
/// nanoseconds.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The law.
    pub law: Law,
    /// The half-life. `None` means that usage does not decay, which only Slurm and KAI allow.
    pub half_life: Option<i64>,
    /// The moment at which usage is counted. `None` means the end of the history.
    pub at: Option<i64>,
    /// The moment before which usage does not count, such as Slurm's last reset.
    pub since: Option<i64>,
    /// The time between two ticks, cycles or samples. `None` means [`Law::usual_interval`].
    pub every: Option<i64>,
    /// The length of KAI's window.
    pub window: Option<i64>,
    /// The beginning of the first of KAI's tumbling windows. `None` means a sliding window.
    pub window_start: Option<i64>,
    /// The weights of queues: Slurm's shares, Kueue's and KAI's weights. Queues that are not in the map have
    /// the weight 1.
    pub weights: BTreeMap<String, Rational>,
    /// The weights of resources: Slurm's TRES weights, Kueue's `resourceWeights`.
    pub resource_weights: BTreeMap<String, Rational>,
    /// For KAI: the resource that is divided, and its amount in the cluster.
    pub capacity: Option<(String, Rational)>,
    /// For KAI: the significance k of past usage.
    pub k: Rational,
    /// For Kueue: true if each row begins with the penalty for the admission of a workload.
    pub has_entry_penalty: bool,
    /// For Karma: the guaranteed fraction of a fair share.
    pub alpha: Option<Rational>,
    /// For Karma: the credits of each queue at the beginning.
    pub credits: Option<Rational>,
}

impl Settings {
    /// Returns the settings of a law with a half-life in nanoseconds. KAI's k is 1.
    #[must_use]
    pub fn new(law: Law, half_life: i64) -> Self {
        Self {
            law,
            half_life: Some(half_life),
            at: None,
            since: None,
            every: None,
            window: None,
            window_start: None,
            weights: BTreeMap::new(),
            resource_weights: BTreeMap::new(),
            capacity: None,
            k: Rational::from(1),
            has_entry_penalty: false,
            alpha: None,
            credits: None,
        }
    }

    /// Returns the time between two ticks, cycles or samples.
    #[must_use]
    pub fn interval(&self) -> i64 {
        self.every.unwrap_or(self.law.usual_interval())
    }

    /// Returns the moment from which usage counts: the beginning of KAI's window, or a reset. Returns `None`
    /// if there is no such moment.
    #[must_use]
    pub fn beginning(&self, at: i64) -> Option<i64> {
        if self.law != Law::Kai {
            return self.since;
        }
        let window = self.window.unwrap_or(DEFAULT_WINDOW);
        let beginning = match self.window_start {
            None => at.saturating_sub(window),
            // The last moment of a window belongs to the window, so the next window begins after this moment.
            Some(start) if start < at => start + (at - start - 1) / window * window,
            Some(_) => at,
        };
        Some(self.since.map_or(beginning, |since| since.max(beginning)))
    }
}

/// The length of KAI's window if none is configured: a week.
pub(crate) const DEFAULT_WINDOW: i64 = 604_800 * NANOSECONDS;

/// Computes the weight of a row in the decayed usage from the beginning and the end of the row.
#[derive(Debug)]
pub(crate) struct Kernel<'s> {
    settings: &'s Settings,
    at: i64,
    since: Option<i64>,
    decay: Decay,
    /// The factor of the ideal law is h / ln 2 in seconds, where h is the half-life. The factor of Volcano is
    /// c / (1 - g), where c is the cycle in seconds and g the decay factor of a cycle.
    factor: Fixed,
    /// The factor 1 / (1 - f^p) of Slurm's ticks, where f^p is the decay factor of the time between two
    /// ticks.
    ticks: Fixed,
}

impl<'s> Kernel<'s> {
    pub(crate) fn new(settings: &'s Settings, at: i64, bits: u32) -> Self {
        let mut decay = match (settings.half_life, settings.law) {
            (None, _) => Decay::none(bits),
            (Some(half_life), Law::SlurmTicks) => Decay::second(half_life, bits),
            (Some(half_life), _) => Decay::half(half_life, bits),
        };
        let interval = settings.interval();
        let seconds = Rational::from((interval, NANOSECONDS));
        // Returns 1 / (1 - g), where g is the decay factor of one interval.
        let series = |decay: &mut Decay| {
            let rest = Fixed::one(bits).minus(&decay.after(interval)).enclosure(bits);
            let inverse = |bound: Rational| Fixed::of(&bound.recip(), bits);
            Fixed { low: inverse(rest.high).low, high: inverse(rest.low).high }
        };
        let mut factor = Fixed::one(bits);
        let mut ticks = Fixed::one(bits);
        match (settings.law, settings.half_life) {
            (_, None) | (Law::Kueue | Law::Kai | Law::Karma, _) => {}
            (Law::Slurm, Some(half_life)) => {
                let inverse = inverse_of_ln_2(bits);
                let half_life = Rational::from((half_life, NANOSECONDS));
                factor = Fixed {
                    low: Fixed::of(&Rational::from(&inverse.low * &half_life), bits).low,
                    high: Fixed::of(&Rational::from(&inverse.high * &half_life), bits).high,
                };
            }
            (Law::SlurmTicks, Some(_)) => ticks = series(&mut decay),
            (Law::Volcano, Some(_)) => factor = series(&mut decay).times(&Fixed::of(&seconds, bits), bits),
        }
        Self { settings, at, since: settings.beginning(at), decay, factor, ticks }
    }

    /// Returns the weight of an amount of 1 that was used from one time to another. If both times are equal,
    /// the amount is in amounts times seconds.
    pub(crate) fn weight(&mut self, (from, to): (i64, i64)) -> Fixed {
        let is_lump = from == to;
        let admission = from;
        let from = self.since.map_or(from, |since| if is_lump { from } else { from.max(since) });
        let is_past = if is_lump { self.since.is_some_and(|since| from < since) } else { from >= to };
        if from > self.at || is_past {
            return Fixed::zero();
        }
        match self.settings.law {
            Law::Slurm if is_lump => self.decay.after(self.at - from),
            Law::Slurm => self.integral(from, to.min(self.at)),
            Law::SlurmTicks if is_lump => self.decayed_at_ticks(from),
            Law::SlurmTicks => self.at_ticks(from, to.min(self.at)),
            Law::Kueue | Law::Kai | Law::Volcano | Law::Karma if is_lump => self.decay.after(self.at - from),
            Law::Kueue if self.settings.has_entry_penalty && admission == from => {
                self.samples(from, to).plus(&self.entry_penalty(from))
            }
            Law::Kueue | Law::Kai | Law::Volcano | Law::Karma => self.samples(from, to),
        }
    }

    fn bits(&self) -> u32 {
        self.decay.bits
    }

    fn seconds(&self, time: i64) -> Fixed {
        Fixed::of(&Rational::from((time, NANOSECONDS)), self.bits())
    }

    /// Returns the weight of a row by the ideal law: the integral of the decay factor over the row.
    fn integral(&mut self, from: i64, to: i64) -> Fixed {
        if self.decay.is_none() {
            return self.seconds(to - from);
        }
        let (end, beginning) = (self.decay.after(self.at - to), self.decay.after(self.at - from));
        end.minus(&beginning).times(&self.factor, self.bits())
    }

    /// Returns the number of ticks from a time until the moment at which usage is counted. A tick at that
    /// moment does not count.
    fn ticks_after(&self, time: i64) -> i64 {
        let interval = self.settings.interval();
        (self.at - time + interval - 1) / interval
    }

    /// Returns the product of the decay factors of all ticks after a time.
    fn decayed_at_ticks(&mut self, time: i64) -> Fixed {
        let ticks = self.ticks_after(time);
        self.decay.after(ticks * self.settings.interval())
    }

    /// Returns the usage that Slurm adds for a time between two ticks, decayed by later ticks.
    fn between_ticks(&mut self, from: i64, to: i64) -> Fixed {
        let bits = self.bits();
        let added = self.seconds(to - from).times(&self.decay.after(to - from), bits);
        added.times(&self.decayed_at_ticks(to), bits)
    }

    /// Returns the weight of a row by Slurm's ticks: the sum of the usage that each tick adds, decayed by
    /// later ticks.
    fn at_ticks(&mut self, from: i64, to: i64) -> Fixed {
        if from >= to {
            return Fixed::zero();
        }
        let (bits, interval) = (self.bits(), self.settings.interval());
        // The first tick after the beginning of the row, and the last tick that is not after its end.
        let first = self.at - (self.ticks_after(from) - 1) * interval;
        let last = self.at - self.ticks_after(to) * interval;
        if to < first {
            return self.between_ticks(from, to);
        }
        let mut sum = self.between_ticks(from, first);
        if last > first {
            if self.decay.is_none() {
                sum = sum.plus(&self.seconds(last - first));
            } else {
                // The sum over the whole periods is p f^p (f^a - f^b) / (1 - f^p), where a is the age of the last tick
                // and b the age of the first tick.
                let whole = self.seconds(interval).times(&self.decay.after(interval), bits);
                let (young, old) = (self.decay.after(self.at - last), self.decay.after(self.at - first));
                let ages = young.minus(&old).times(&self.ticks, bits);
                sum = sum.plus(&whole.times(&ages, bits));
            }
        }
        if to > last { sum.plus(&self.between_ticks(last, to)) } else { sum }
    }

    /// Returns the weight of the samples from the time `from` on and before the time `to`.
    fn samples(&mut self, from: i64, to: i64) -> Fixed {
        let bits = self.bits();
        let interval = self.settings.interval();
        // Samples are counted backwards: sample k is k intervals before the last sample.
        let youngest = if to > self.at { 0 } else { (self.at - to) / interval + 1 };
        let mut oldest = (self.at - from) / interval;
        if self.settings.law == Law::Kai && self.since == Some(from) && (self.at - from) % interval == 0 {
            // A window of n intervals has n samples.
            oldest -= 1;
        }
        if oldest < youngest {
            return Fixed::zero();
        }
        if self.decay.is_none() {
            let count = Integer::from(oldest - youngest + 1) << bits;
            return Fixed { low: count.clone(), high: count };
        }
        let young = self.decay.after(youngest * interval);
        young.minus(&self.decay.after((oldest + 1) * interval)).times(&self.factor, bits)
    }

    /// Returns the weight of a request of 1 that Kueue admitted at a time: alpha, decayed since that time.
    fn entry_penalty(&mut self, at: i64) -> Fixed {
        let bits = self.bits();
        let alpha = Fixed::one(bits).minus(&self.decay.after(self.settings.interval()));
        self.decay.after(self.at - at).times(&alpha, bits)
    }

    /// Returns the weight of the whole window of KAI.
    pub(crate) fn window(&mut self) -> Fixed {
        match self.since {
            Some(since) if since < self.at => self.samples(since, i64::MAX),
            _ => Fixed::zero(),
        }
    }
}
