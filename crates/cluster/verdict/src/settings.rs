//! Computes which numbers of the configuration limit the fair share of a queue, and how the fair share
//! changes with each of them. The definitions are in docs/settings.md.
//!
//! Only one number changes at a time: a limit, a guarantee or a weight of the queue or of a queue above it.
//! Fair shares are computed again for every value. A function of the value consists of pieces. The pieces
//! follow from some computed values, and further values check them (`pieces`).

mod pieces;

use std::collections::BTreeMap;

use evenhand_mechanisms::tree::Rule;
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Problem, Rational};
use serde_json::{Value, json};

use crate::due::{Due, Unproven, by_rule};
use crate::error::ClusterError;
use crate::queues::{Kind, Queue, Queues, Vector};
use crate::rooms::Rooms;
use crate::task_rules::TaskRules;

pub use pieces::{Form, Piece};

/// The settings that limit fair shares, for all examined queues.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The rule of the fair shares. `None` for the problem's own share.
    pub rule: Option<Rule>,
    /// All queues of the snapshot.
    pub names: Vec<String>,
    /// The examined queues with waiting tasks. Queues that lack the largest fraction of their tasks' demand
    /// come first.
    pub queues: Vec<OfQueue>,
    /// The number of queues with waiting tasks that were not examined, because the computation would take too
    /// long.
    pub left_out: usize,
}

/// A queue with waiting tasks, and the settings that limit its fair share.
#[derive(Debug, Clone, PartialEq)]
pub struct OfQueue {
    /// The queue, as its position in [`Settings::names`].
    pub at: usize,
    /// The queue.
    pub queue: Queue,
    /// The resources that waiting tasks of the queue demand, each with the usage, the fair share, and the
    /// amount that all tasks of the queue ask for. The last amount is `None` if the tasks are unlimited.
    pub amounts: Vec<(usize, Rational, Rational, Option<Rational>)>,
    /// True if the queue is below its fair share by a whole task. It then needs no other setting to start a
    /// task.
    pub is_below: bool,
    /// True if the fair share contains all tasks of the queue. Then no setting can raise the fair share.
    pub has_all: bool,
    /// The settings that raise the fair share. Settings with the largest gain come first.
    pub effects: Vec<Effect>,
    /// The number of settings that were tried.
    pub tried: usize,
}

/// A number of the configuration that may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The group, or the user outside of groups, that has the number.
    pub of: Kind,
    /// The field.
    pub field: Field,
}

/// A field of a group or a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The weight of the group or user.
    Weight,
    /// The limit of a resource.
    Limit(usize),
    /// The guarantee of a resource.
    Guarantee(usize),
}

/// The effect of a setting on the fair share of a queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// The setting.
    pub setting: Setting,
    /// The resource whose fair share is stated.
    pub resource: usize,
    /// The value of the setting now. `None` if the configuration states no value, which counts as 0 in
    /// [`Effect::pieces`].
    pub now: Option<Rational>,
    /// The pieces of the fair share as a function of the setting, up to the value beyond which the fair share
    /// does not rise.
    pub pieces: Vec<Piece>,
    /// The largest value that was tried.
    pub tried_to: Rational,
    /// The reason why the fair share does not rise further. `None` if it may rise further, or if the reason
    /// is not known.
    pub end: Option<End>,
    /// The other queues that have a smaller fair share of a resource at the end. Each entry has the queue,
    /// the resource, and the fair share now and at the end.
    pub losers: Vec<(usize, usize, [Rational; 2])>,
    /// True if guarantees exceed the capacity at the end, but not now.
    pub breaks_promises: bool,
    /// True if the fair shares at the end are certified.
    pub is_certified: bool,
}

/// A reason why a fair share does not rise further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All tasks of the queue are within its fair share.
    Tasks,
    /// The limit of a group on a resource is reached.
    Limit(usize, usize),
    /// Queues are given all of the resource.
    Full(usize),
}

impl Effect {
    /// Returns the first and the last value of the setting between which the fair share rises, each with the
    /// fair share there.
    #[must_use]
    pub fn range(&self) -> Option<[(&Rational, &Rational); 2]> {
        let first = self.pieces.iter().find(|piece| piece.values[0] != piece.values[1])?;
        let last = self.pieces.iter().rev().find(|piece| piece.values[0] != piece.values[1])?;
        Some([(&first.from, &first.values[0]), (&last.to, &last.values[1])])
    }
}

/// The largest number of steps of the computation. Each value takes as many steps as queues times users times
/// server classes.
const MOST_WORK: usize = 60_000_000;
/// The largest number of values that are computed for all queues.
const MOST_VALUES: usize = 6_000;
/// The largest multiple of its value to which a weight is raised.
const MOST_OF_WEIGHT: u32 = 64;

impl Settings {
    /// Examines the queues with waiting tasks. With `only`, one queue is examined.
    ///
    /// # Errors
    /// [`ClusterError`] if fair shares cannot be computed.
    pub fn new(snapshot: &Snapshot, rule: Option<Rule>, only: Option<usize>) -> Result<Self, ClusterError> {
        let rules = TaskRules::new(snapshot);
        let problem = by_rule(&snapshot.problem, rule)?.unwrap_or_else(|| snapshot.problem.clone());
        let queues = Queues::new(&problem, &rules);
        let due = Due::new(&queues, rule)?;
        let totals = Rooms::new(&problem, &snapshot.allocation, |n| rules.admitted(n)).totals().to_vec();
        let waiting = queues.waiting(&totals);
        let held = queues.held(&totals);
        let mut found = Self {
            rule,
            names: queues.list.iter().map(|queue| queue.name.clone()).collect(),
            queues: Vec::new(),
            left_out: 0,
        };
        let mut asked: Vec<(Rational, OfQueue)> = Vec::new();
        for (v, (held, share)) in held.iter().zip(&due.amounts).enumerate() {
            let own = |n: &usize| waiting[*n] && queues.above[*n].first() == Some(&v);
            if only.is_some_and(|only| only != v) || !queues.users[v].iter().any(own) {
                continue;
            }
            let of = of_queue(&queues, v, [held, share], &waiting);
            let lacks = |(_, _, share, wanted): &(usize, Rational, Rational, Option<Rational>)| match wanted {
                Some(wanted) if *wanted > 0 => 1 - Rational::from(share / wanted),
                Some(_) => Rational::new(),
                None => Rational::from(1),
            };
            let most = of.amounts.iter().map(lacks).max().unwrap_or_default();
            asked.push((most, of));
        }
        asked.sort_by(|a, b| b.0.cmp(&a.0));
        let work =
            problem.n_users().saturating_mul(problem.n_servers().saturating_add(problem.n_resources()));
        let values = (MOST_WORK / work.max(1)).clamp(100, MOST_VALUES);
        let mut curves = Curves::new(&problem, &rules, rule, &due.amounts, values);
        for (_, mut of) in asked {
            if curves.values_left == 0 {
                found.left_out += 1;
                continue;
            }
            if !of.has_all {
                curves.examine(&queues, &mut of)?;
            }
            found.queues.push(of);
        }
        Ok(found)
    }
}

/// Returns the amounts of a queue, for the resources that its waiting tasks demand.
fn of_queue(queues: &Queues<'_>, v: usize, [held, due]: [&Vector; 2], waiting: &[bool]) -> OfQueue {
    let problem = queues.problem;
    let mut amounts = Vec::new();
    for r in 0..problem.n_resources() {
        let demands = |n: &&usize| waiting[**n] && !problem.users()[**n].base_demand()[r].is_zero();
        if problem.total_capacity()[r].is_zero() || !queues.users[v].iter().any(|n| demands(&n)) {
            continue;
        }
        let mut wanted = Some(Rational::new());
        for n in &queues.users[v] {
            let user = &problem.users()[*n];
            let d = &user.base_demand()[r];
            if !d.is_zero() {
                wanted = wanted.zip(user.tasks()).map(|(sum, tasks)| sum + Rational::from(tasks * d));
            }
        }
        amounts.push((r, held[r].clone(), due[r].clone(), wanted));
    }
    let is_below = queues.short_by(v, held, due, waiting, &Rational::new()).is_some();
    let has = |(_, _, share, wanted): &(usize, Rational, Rational, Option<Rational>)| {
        wanted.as_ref().is_some_and(|wanted| share >= wanted)
    };
    let has_all = amounts.iter().all(has);
    OfQueue {
        at: v,
        queue: queues.list[v].clone(),
        amounts,
        is_below,
        has_all,
        effects: Vec::new(),
        tried: 0,
    }
}

/// Computes fair shares for changed settings.
struct Curves<'p> {
    problem: &'p Problem,
    rules: &'p TaskRules,
    rule: Option<Rule>,
    document: Value,
    now: &'p [Vector],
    values_left: usize,
    /// The computed fair shares of queues, by value of the setting that is examined.
    known: BTreeMap<Rational, Vec<Vector>>,
}

impl<'p> Curves<'p> {
    fn new(
        problem: &'p Problem,
        rules: &'p TaskRules,
        rule: Option<Rule>,
        now: &'p [Vector],
        values_left: usize,
    ) -> Self {
        let document = serde_json::from_str(&problem_to_json(problem)).unwrap_or_default();
        Self { problem, rules, rule, document, now, values_left, known: BTreeMap::new() }
    }

    /// Adds the effects of all settings of a queue and of the queues above it.
    fn examine(&mut self, queues: &Queues<'_>, of: &mut OfQueue) -> Result<(), ClusterError> {
        let resources: Vec<usize> = of.amounts.iter().map(|(r, ..)| *r).collect();
        for (setting, now, to) in self.settings(of.queue.kind, &resources) {
            if self.values_left == 0 {
                break;
            }
            of.tried += 1;
            if let Some(effect) = self.effect(queues, of, &resources, setting, now, &to)? {
                of.effects.push(effect);
            }
        }
        let gain = |effect: &Effect| {
            let range = effect.range();
            range.map(|[(_, before), (_, after)]| {
                Rational::from(after - before) / self.problem.total_capacity()[effect.resource].clone()
            })
        };
        of.effects.sort_by_key(|effect| std::cmp::Reverse(gain(effect)));
        Ok(())
    }

    /// Returns the settings of a queue and of the queues above it. Each has its value now, and the largest
    /// value to try.
    fn settings(&self, kind: Kind, resources: &[usize]) -> Vec<(Setting, Option<Rational>, Rational)> {
        let mut settings = Vec::new();
        let most = |now: &Rational| now.clone().max(Rational::from(1)) * MOST_OF_WEIGHT;
        let first = match kind {
            Kind::User(n) => {
                let weight = self.problem.users()[n].weight();
                settings.push((
                    Setting { of: kind, field: Field::Weight },
                    Some(weight.clone()),
                    most(weight),
                ));
                return settings;
            }
            Kind::Group(v) => v,
        };
        let groups = self.problem.groups();
        let is_parent = |v: usize| groups.list().iter().any(|group| group.parent == Some(v));
        for v in groups.above(Some(first)) {
            let group = &groups.list()[v];
            let of = Kind::Group(v);
            let named = |list: &[(usize, Rational)], r: usize| {
                list.iter().find(|(of, _)| *of == r).map(|(_, amount)| amount.clone())
            };
            for r in resources {
                let all = &self.problem.total_capacity()[*r];
                let limit = named(&group.limit, *r);
                if let Some(limit) = limit.clone().filter(|limit| limit < all) {
                    settings.push((Setting { of, field: Field::Limit(*r) }, Some(limit), all.clone()));
                }
                let promised = named(group.guarantee.as_deref().unwrap_or_default(), *r);
                let to = limit.into_iter().fold(all.clone(), Rational::min);
                // A guarantee that is stated for a queue with subqueues replaces the sum of the guarantees of
                // its subqueues. That would be another change.
                let may_rise = promised.as_ref().is_none_or(|promised| *promised < to) && to > 0;
                if may_rise && (promised.is_some() || !is_parent(v)) {
                    settings.push((Setting { of, field: Field::Guarantee(*r) }, promised, to));
                }
            }
            let now = group.weight.clone();
            let to = most(&now);
            settings.push((Setting { of, field: Field::Weight }, Some(now), to));
        }
        settings
    }

    /// Returns the problem with another value of a setting.
    fn changed(&self, setting: Setting, value: &Rational) -> Result<Problem, ClusterError> {
        let mut document = self.document.clone();
        let place = match setting.of {
            Kind::Group(v) => &mut document["groups"][v],
            Kind::User(n) => &mut document["users"][n],
        };
        let value = json!(value.to_string());
        let resource = |r: usize| self.problem.resources()[r].as_str();
        match setting.field {
            Field::Weight => place["weight"] = value,
            Field::Limit(r) => place["limit"][resource(r)] = value,
            Field::Guarantee(r) => place["guarantee"][resource(r)] = value,
        }
        let text = document.to_string();
        let read = Source { name: "the changed problem", text: &text }.problem();
        read.map_err(|error| ClusterError::Change(error.to_string()))
    }

    /// Returns the fair shares of all queues for a value of a setting.
    fn shares(&mut self, setting: Setting, value: &Rational) -> Result<&[Vector], ClusterError> {
        if !self.known.contains_key(value) {
            self.values_left = self.values_left.saturating_sub(1);
            let problem = self.changed(setting, value)?;
            let amounts = Unproven::new(&Queues::new(&problem, self.rules), self.rule)?.amounts;
            self.known.insert(value.clone(), amounts);
        }
        Ok(self.known.get(value).map_or(&[], Vec::as_slice))
    }

    /// Returns the effect of a setting. Returns `None` if the fair share does not rise at any value that is
    /// tried.
    fn effect(
        &mut self,
        queues: &Queues<'_>,
        of: &OfQueue,
        resources: &[usize],
        setting: Setting,
        now: Option<Rational>,
        to: &Rational,
    ) -> Result<Option<Effect>, ClusterError> {
        self.known.clear();
        let from = now.clone().unwrap_or_default();
        if now.is_some() {
            self.known.insert(from.clone(), self.now.to_vec());
        }
        let length = Rational::from(to - &from);
        // The stated resource is the resource of the limit or guarantee, or else the resource whose fair
        // share grows most.
        let mut best: Option<(Rational, usize)> = None;
        for k in [64_u32, 32, 16, 8, 1] {
            let value = Rational::from(&length * k) / 64_u32 + &from;
            let shares = self.shares(setting, &value)?[of.at].clone();
            for r in resources {
                let gain = Rational::from(&shares[*r] - &self.now[of.at][*r])
                    / self.problem.total_capacity()[*r].clone();
                let is_own = matches!(setting.field, Field::Limit(own) | Field::Guarantee(own) if own == *r);
                if gain > 0 && (is_own || best.as_ref().is_none_or(|(most, _)| gain > *most)) {
                    best = Some((gain, *r));
                    if is_own {
                        break;
                    }
                }
            }
        }
        let Some((_, resource)) = best else { return Ok(None) };
        // A number that is not stated begins with the fair share of today. A stated 0 might give another fair
        // share.
        self.known.insert(from.clone(), self.now.to_vec());
        let at = of.at;
        let mut f = |t: &Rational| self.shares(setting, t).map(|shares| shares[at][resource].clone());
        let mut pieces = pieces::pieces(&from, to, &mut f)?;
        let is_complete = pieces.last().is_some_and(|last| last.to == *to);
        while pieces.last().is_some_and(|last| last.values[0] == last.values[1] && last.is_flat()) {
            pieces.pop();
        }
        let Some(until) = pieces.last().map(|last| last.to.clone()) else { return Ok(None) };
        let shares = self.shares(setting, &until)?.to_vec();
        if shares[at][resource] <= self.now[at][resource] {
            return Ok(None);
        }
        let problem = self.changed(setting, &until)?;
        let certified = Due::new(&Queues::new(&problem, self.rules), self.rule)?;
        if certified.amounts != shares {
            return Err(ClusterError::Change("two computations of fair shares differ".to_owned()));
        }
        let is_over = |problem: &Problem| problem.warnings().into_iter().filter(is_promise).count();
        let end =
            if is_complete && until < *to || matches!(setting.field, Field::Limit(_) | Field::Guarantee(_)) {
                self.end(queues, of, &problem, &shares, setting)
            } else {
                None
            };
        Ok(Some(Effect {
            setting,
            resource,
            now,
            tried_to: to.clone(),
            end,
            losers: self.losers(queues, at, &shares),
            breaks_promises: is_over(&problem) > is_over(self.problem),
            is_certified: certified.uncertified().is_none(),
            pieces,
        }))
    }

    /// Returns the reason why a fair share does not rise further.
    fn end(
        &self,
        queues: &Queues<'_>,
        of: &OfQueue,
        problem: &Problem,
        shares: &[Vector],
        setting: Setting,
    ) -> Option<End> {
        let has = |(r, _, _, wanted): &(usize, Rational, Rational, Option<Rational>)| {
            wanted.as_ref().is_some_and(|wanted| shares[of.at][*r] >= *wanted)
        };
        if of.amounts.iter().all(has) {
            return Some(End::Tasks);
        }
        let groups = problem.groups();
        if let Kind::Group(v) = of.queue.kind {
            for u in groups.above(Some(v)) {
                for (r, most) in &groups.list()[u].limit {
                    if setting == (Setting { of: Kind::Group(u), field: Field::Limit(*r) }) {
                        continue;
                    }
                    if of.amounts.iter().any(|(of, ..)| of == r) && shares[u][*r] >= *most {
                        return Some(End::Limit(u, *r));
                    }
                }
            }
        }
        let all = |r: usize| -> Rational {
            let top = queues.list.iter().zip(shares).filter(|(queue, _)| queue.parent.is_none());
            top.map(|(_, shares)| &shares[r]).sum()
        };
        let is_full = |(r, ..): &&(usize, Rational, Rational, Option<Rational>)| {
            all(*r) >= problem.total_capacity()[*r]
        };
        of.amounts.iter().find(is_full).map(|(r, ..)| End::Full(*r))
    }

    /// Returns the queues without subqueues that have a smaller fair share than now.
    fn losers(
        &self,
        queues: &Queues<'_>,
        at: usize,
        shares: &[Vector],
    ) -> Vec<(usize, usize, [Rational; 2])> {
        let is_parent = |k: usize| queues.list.iter().any(|queue| queue.parent == Some(k));
        let mut losers = Vec::new();
        for k in (0..shares.len()).filter(|k| *k != at && !is_parent(*k)) {
            for (r, (before, after)) in self.now[k].iter().zip(&shares[k]).enumerate() {
                if after < before {
                    losers.push((k, r, [before.clone(), after.clone()]));
                }
            }
        }
        losers
    }
}

/// Returns `true` if a warning says that guarantees exceed the capacity.
fn is_promise(warning: &evenhand_problem::Warning) -> bool {
    use evenhand_problem::Warning;
    matches!(warning, Warning::BrokenPromise { .. } | Warning::LimitedPromise { .. })
}
