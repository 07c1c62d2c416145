//! The order of users by past usage, by the laws of four schedulers (docs/theory.md, section 10).
//!
//! [`ByUsage`] is a scheduler around another scheduler. It stores the waiting tasks, and passes on one gang
//! at a time: a gang of the user with the least decayed usage over weight. The inner scheduler decides on
//! servers, gangs and limits of groups. Usage is computed in doubles. The crate `evenhand-usage` computes it
//! exactly for histories.

use std::collections::VecDeque;
use std::fmt;

use evenhand_budget::charge;
use evenhand_mechanisms::MechanismError;
use evenhand_mechanisms::filling::{Draw, Part, Scheduler};
use evenhand_problem::{Problem, Rational};

use crate::summary::Amounts;

/// A law by which past usage counts less, the older it is. Times are in the time unit of the scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UsageLaw {
    /// Slurm as documented: usage counts half after every half-life. Without a half-life usage does not
    /// decay.
    Slurm {
        /// The half-life, or `None` if usage does not decay.
        half_life: Option<f64>,
    },
    /// Kueue: a moving average of samples.
    Kueue {
        /// The half-life of a sample.
        half_life: f64,
        /// The time between two samples.
        every: f64,
        /// `true` if a gang that starts immediately adds its amount times the weight of a new sample.
        has_entry_penalty: bool,
    },
    /// KAI: the sum of the samples of a sliding window. Without a half-life all samples of the window count the same.
    Kai {
        /// The half-life of a sample, or `None` if all samples count the same.
        half_life: Option<f64>,
        /// The time between two samples.
        every: f64,
        /// The length of the window.
        window: f64,
    },
    /// Volcano: amounts times the time of a cycle, decayed at every cycle. Users whose usage exceeds the
    /// least usage by at most one unit of resource and time count as equal. Among them the user that runs
    /// less of the resources is served first.
    Volcano {
        /// The half-life of usage.
        half_life: f64,
        /// The length of a cycle.
        every: f64,
    },
}

/// The order of users by decayed usage.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageOrder {
    /// The law by which usage decays.
    pub law: UsageLaw,
    /// The value of a unit of each resource. The usage of a user is the sum of its amounts times their
    /// values.
    pub values: Vec<Rational>,
}

impl UsageLaw {
    /// Returns the name of the law on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Slurm { .. } => "slurm",
            Self::Kueue { .. } => "kueue",
            Self::Kai { .. } => "kai",
            Self::Volcano { .. } => "volcano",
        }
    }

    /// Returns the half-life, or `None` if usage does not decay.
    #[must_use]
    pub fn half_life(self) -> Option<f64> {
        match self {
            Self::Slurm { half_life } | Self::Kai { half_life, .. } => half_life,
            Self::Kueue { half_life, .. } | Self::Volcano { half_life, .. } => Some(half_life),
        }
    }

    /// Returns the law with another half-life, or `None` if the law needs a half-life and `to` is `None`.
    #[must_use]
    pub fn with_half_life(self, to: Option<f64>) -> Option<Self> {
        Some(match self {
            Self::Slurm { .. } => Self::Slurm { half_life: to },
            Self::Kai { every, window, .. } => Self::Kai { half_life: to, every, window },
            Self::Kueue { every, has_entry_penalty, .. } => {
                Self::Kueue { half_life: to?, every, has_entry_penalty }
            }
            Self::Volcano { every, .. } => Self::Volcano { half_life: to?, every },
        })
    }
}

impl fmt::Display for UsageOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "least usage by {}", self.law.name())?;
        match self.law.half_life() {
            Some(half_life) => write!(f, ", half-life {half_life}"),
            None => write!(f, ", no half-life"),
        }
    }
}

/// Returns $2^{-x}$.
fn half_power(x: f64) -> f64 {
    libm::exp2(-x)
}

/// The decayed usage of a user up to a time.
#[derive(Debug, Clone, Default)]
struct Usage {
    /// The decayed usage at the time `since`.
    total: f64,
    since: f64,
    /// The value of the running tasks of the user.
    held: f64,
    /// The samples of KAI's window, the oldest first. Samples of equal amounts form one entry: the number of
    /// the first sample, the number of samples, and the amount.
    samples: VecDeque<(f64, f64, f64)>,
}

impl Usage {
    /// Counts usage up to the time `now`. A sample at this time itself is not taken yet, because events may
    /// follow at the same time.
    fn settle(&mut self, law: UsageLaw, now: f64) {
        let from = std::mem::replace(&mut self.since, now);
        if now <= from {
            return;
        }
        // The number of the first sample at `from` or later, and the number of the first sample at `now` or
        // later.
        let numbers = |every: f64| ((from / every).ceil(), (now / every).ceil());
        match law {
            UsageLaw::Slurm { half_life: None } => self.total += self.held * (now - from),
            UsageLaw::Slurm { half_life: Some(half_life) } => {
                let factor = half_power((now - from) / half_life);
                let gained = half_life / std::f64::consts::LN_2 * (1.0 - factor);
                self.total = self.total * factor + self.held * gained;
            }
            UsageLaw::Kueue { half_life, every, .. } => {
                let (first, next) = numbers(every);
                let factor = half_power((next - first) * every / half_life);
                self.total = self.total * factor + self.held * (1.0 - factor);
            }
            UsageLaw::Volcano { half_life, every } => {
                let (first, next) = numbers(every);
                let factor = half_power((next - first) * every / half_life);
                let of_cycle = 1.0 - half_power(every / half_life);
                self.total = self.total * factor + self.held * every * (1.0 - factor) / of_cycle;
            }
            UsageLaw::Kai { half_life, every, window } => {
                let (first, next) = numbers(every);
                if next > first && self.held > 0.0 {
                    match self
                        .samples
                        .back_mut()
                        .filter(|last| last.2 == self.held && last.0 + last.1 == first)
                    {
                        Some(last) => last.1 += next - first,
                        None => self.samples.push_back((first, next - first, self.held)),
                    }
                }
                // A sample counts while it is younger than the window.
                let oldest = ((now - window) / every).floor() + 1.0;
                while let Some(run) = self.samples.front_mut() {
                    let gone = (oldest - run.0).max(0.0).min(run.1);
                    (run.0, run.1) = (run.0 + gone, run.1 - gone);
                    if run.1 > 0.0 {
                        break;
                    }
                    self.samples.pop_front();
                }
                let weight = |&(first, count, _): &(f64, f64, f64)| match half_life {
                    None => count,
                    Some(half_life) => {
                        // The youngest sample of the entry, and a geometric series for the samples before it.
                        let of_sample = half_power(every / half_life);
                        let youngest = half_power((now - (first + count - 1.0) * every) / half_life);
                        youngest * (1.0 - of_sample.powf(count)) / (1.0 - of_sample)
                    }
                };
                charge(self.samples.len() as u64, "the processing of the samples of a window");
                self.total = self.samples.iter().map(|run| run.2 * weight(run)).sum();
            }
        }
    }
}

/// A scheduler that serves the user with the least decayed usage over weight, among the users with a gang
/// that can start.
///
/// If users have equal usage, the user whose running tasks have the least dominant share over weight comes
/// first. If these shares are equal too, the order of the problem decides.
pub(crate) struct ByUsage<'s> {
    inner: &'s mut dyn Scheduler,
    law: UsageLaw,
    /// The value of a task of each user.
    values: Vec<f64>,
    /// The dominant share of a task of each user over the user's weight.
    shares: Vec<f64>,
    weights: Vec<f64>,
    usage: Vec<Usage>,
    waiting: Vec<u64>,
    running: Vec<u64>,
    /// For each user, whether no gang of the user can start until a task ends or a server comes.
    is_blocked: Vec<bool>,
    now: f64,
    /// The run and the tasks of each entry placed by the last call of `fill`.
    started: Vec<Part>,
}

impl<'s> ByUsage<'s> {
    /// Returns a scheduler around `inner`. Shares are fractions of the capacity of `whole`.
    pub fn new(inner: &'s mut dyn Scheduler, whole: &Problem, order: &UsageOrder) -> Self {
        let amounts = Amounts::new(whole);
        let users = whole.n_users();
        let value = |n: usize| -> f64 {
            let demand = whole.users()[n].base_demand().iter().zip(&order.values);
            demand.map(|(d, value)| Rational::from(d * value)).sum::<Rational>().to_f64()
        };
        let weights: Vec<f64> = whole.users().iter().map(|user| user.weight().to_f64()).collect();
        Self {
            inner,
            law: order.law,
            values: (0..users).map(value).collect(),
            shares: (0..users).map(|n| amounts.dominant(n) / weights[n]).collect(),
            weights,
            usage: vec![Usage::default(); users],
            waiting: vec![0; users],
            running: vec![0; users],
            is_blocked: vec![false; users],
            now: 0.0,
            started: Vec::new(),
        }
    }

    fn settle(&mut self, n: usize) {
        self.usage[n].settle(self.law, self.now);
    }

    /// Changes the number of running tasks of a user.
    fn set_running(&mut self, n: usize, tasks: u64) {
        self.settle(n);
        self.running[n] = tasks;
        self.usage[n].held = self.values[n] * tasks as f64;
    }

    /// Returns the position of the next user in a list that is not empty.
    fn next(&self, users: &[usize]) -> usize {
        let usage = |n: usize| self.usage[n].total / self.weights[n];
        let running = |n: usize| self.shares[n] * self.running[n] as f64;
        let least = users.iter().map(|n| usage(*n)).fold(f64::INFINITY, f64::min);
        let equal = match self.law {
            UsageLaw::Volcano { .. } => least + 1.0,
            _ => least,
        };
        let candidates = users.iter().enumerate().filter(|(_, n)| usage(**n) <= equal);
        let first = candidates.min_by(|(_, a), (_, b)| running(**a).total_cmp(&running(**b)).then(a.cmp(b)));
        first.map_or(0, |(at, _)| at)
    }

    /// Lets all users try again, after a task has ended or a server has come.
    fn unblock(&mut self) {
        self.is_blocked.fill(false);
    }
}

/// Budget steps for comparing a user with the other users.
const COMPARED: u64 = 10;

impl Scheduler for ByUsage<'_> {
    fn n_servers(&self) -> usize {
        self.inner.n_servers()
    }

    fn gang(&self, user: usize) -> u64 {
        self.inner.gang(user)
    }

    fn fits_somewhere(&self, user: usize) -> bool {
        self.inner.fits_somewhere(user)
    }

    fn submit(&mut self, user: usize, tasks: u64) {
        if self.inner.fits_somewhere(user) {
            self.waiting[user] += tasks;
        }
    }

    fn withdraw(&mut self, user: usize) -> u64 {
        std::mem::take(&mut self.waiting[user])
    }

    fn waiting(&self, user: usize) -> u64 {
        self.waiting[user]
    }

    fn running(&self, user: usize) -> u64 {
        self.running[user]
    }

    fn release(&mut self, user: usize, server: usize) {
        self.inner.release(user, server);
        self.set_running(user, self.running[user].saturating_sub(1));
        self.unblock();
    }

    fn finish(&mut self, user: usize, server: usize, part: Part) {
        self.inner.finish(user, server, part);
        self.set_running(user, self.running[user].saturating_sub(part.tasks));
        self.unblock();
    }

    fn occupy(&mut self, user: usize, server: usize) -> Result<bool, MechanismError> {
        let fits = self.inner.occupy(user, server)?;
        self.set_running(user, self.running[user] + u64::from(fits));
        Ok(fits)
    }

    fn go_on(&mut self, user: usize, server: usize, part: Part) -> Result<bool, MechanismError> {
        let fits = self.inner.go_on(user, server, part)?;
        if fits {
            self.set_running(user, self.running[user] + part.tasks);
        }
        Ok(fits)
    }

    fn close(&mut self, server: usize) {
        self.inner.close(server);
    }

    fn open(&mut self, server: usize) {
        self.inner.open(server);
        self.unblock();
    }

    fn set_time(&mut self, time: f64) {
        self.now = time;
    }

    fn usage_at(&self, time: f64) -> Option<Vec<f64>> {
        // Copies are settled: a sum that is split at further times would be rounded differently.
        let at_time = |usage: &Usage| {
            let mut usage = usage.clone();
            usage.settle(self.law, time);
            usage.total
        };
        Some(self.usage.iter().map(at_time).collect())
    }

    fn fill(&mut self, placed: &mut Vec<(u32, u32)>) -> Result<(), MechanismError> {
        placed.clear();
        self.started.clear();
        let may_start = |n: &usize| {
            !self.is_blocked[*n] && self.waiting[*n] > 0 && self.waiting[*n] >= self.inner.gang(*n)
        };
        let mut users: Vec<usize> = (0..self.waiting.len()).filter(may_start).collect();
        charge(self.waiting.len() as u64 + COMPARED * users.len() as u64, "the usage of users");
        users.iter().for_each(|n| self.settle(*n));
        let mut piece = Vec::new();
        while !users.is_empty() {
            charge(COMPARED * users.len() as u64, "the order by usage");
            let at = self.next(&users);
            let n = users[at];
            let gang = self.inner.gang(n).max(1);
            self.inner.submit(n, gang);
            self.inner.fill(&mut piece)?;
            self.inner.withdraw(n);
            if piece.is_empty() {
                self.is_blocked[n] = true;
                users.swap_remove(at);
                continue;
            }
            placed.extend(&piece);
            self.started.extend(self.inner.runs());
            self.waiting[n] -= gang;
            self.set_running(n, self.running[n] + gang);
            if let UsageLaw::Kueue { half_life, every, has_entry_penalty: true } = self.law {
                let of_sample = 1.0 - half_power(every / half_life);
                self.usage[n].total += of_sample * self.values[n] * gang as f64;
            }
            if self.waiting[n] < gang {
                users.swap_remove(at);
            }
        }
        Ok(())
    }

    fn runs(&self) -> &[Part] {
        &self.started
    }

    fn draw(&self) -> &Draw {
        self.inner.draw()
    }

    fn set_draw(&mut self, draw: Draw) {
        self.inner.set_draw(draw);
    }
}
