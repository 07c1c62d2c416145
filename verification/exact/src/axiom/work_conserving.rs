//! Work-conserving: nobody who has fewer than its `T_n` tasks could run more in what is free as things
//! stand; nothing moves.
//!
//! Divisible: the margin is minus the largest
//!
//! $$\frac{1}{g_n} \min\Bigl(T_n - x_n, \sum_i \min_{r: d_{nir} > 0} \frac{\mathrm{slack}_{ir}}{d_{nir}}\Bigr)$$
//!
//! over the active users (where time is shared its row takes the place of the resources).
//!
//! With placements: a task is pending when `T_n - x_n >= 1`, and it fits on a single server exactly or not,
//! whatever the tolerance. Margin 0 when no pending task fits, else minus the largest `1 / g_n` of a user
//! whose task fits.
//!
//! Evidence of yes: for every user with pending tasks and every class that it can run on what is short
//! there: a row that is (nearly) full, or with placements rows of which every server of the class lacks
//! one. Evidence of no: a user and a class, or a single server, where it fits. Where groups hold something back
//! (`held_back`) a user may also be stopped by that.

use std::collections::{BTreeMap, HashMap};

use evenhand_problem::Placement;
use rayon::prelude::*;
use rug::Rational;

use crate::axiom::held_back::{self, HeldBack};
use crate::axiom::rule::{Found, Rule, Truth};
use crate::budget::TooLarge;
use crate::evidence::Evidence;
pub use crate::evidence::{Room, Short};
use crate::instance::Instance;
use crate::names::read::Reader;
use crate::names::write::{Json, Names, fields};
use crate::parameters::Parameters;
use crate::refusal::{Inapplicable, Refusal};
use evenhand_problem::Problem;
use evenhand_problem::format::{FormatError, Object};
use serde_json::value::RawValue;

/// What [`examine`] finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// In units of `g_n`.
    pub margin: Rational,
    /// The user that it is about, and where it fits; `None` when nobody could run more.
    pub room: Option<Room>,
    /// By user with pending tasks: what is short.
    pub short: Vec<(usize, Short)>,
}

/// The margin and what shows it; `None` without active users.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
pub fn examine(instance: &Instance<'_>) -> Result<Option<Examined>, TooLarge> {
    let users: Vec<usize> = (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)).collect();
    if users.is_empty() {
        return Ok(None);
    }
    match instance.placements() {
        Some(placements) => placed(instance, placements, &users).map(Some),
        None => divisible(instance, &users).map(Some),
    }
}

/// The margin that the stated shortages prove; `None` without active users. `stopped`: what the users whom something
/// else stops could run more, over `g_n`.
///
/// # Errors
/// Which user lacks one or has one that says nothing, in words.
pub(super) fn margin_of_short(
    instance: &Instance<'_>,
    stated: &[(usize, Short)],
    stopped: &HashMap<usize, Rational>,
) -> Result<Option<Rational>, Refusal> {
    let refuse = |n: usize, what: &str| {
        let name = instance.problem().users().get(n).map_or("", |user| user.name());
        Refusal::new(format!("what is short for user `{name}` {what}"))
    };
    let mut of_user: HashMap<usize, &Short> = HashMap::new();
    for (n, short) in stated {
        if *n >= instance.problem().n_users() || !is_pending(instance, *n) {
            return Err(refuse(*n, "is stated although it has no pending tasks"));
        }
        if of_user.insert(*n, short).is_some() {
            return Err(refuse(*n, "is stated twice"));
        }
    }
    let groups = instance.placements().map(|placements| Groups::new(instance, placements)).transpose()?;
    let mut worst: Option<Rational> = None;
    for n in (0..instance.problem().n_users()).filter(|&n| instance.is_active(n)) {
        let more = if let Some(more) = stopped.get(&n) {
            if of_user.contains_key(&n) {
                return Err(refuse(n, "is stated, and what stops it"));
            }
            more.clone()
        } else if is_pending(instance, n) {
            let short = of_user.get(&n).ok_or_else(|| refuse(n, "is not stated"))?;
            let classes = short.iter().map(|(i, _)| *i);
            if !classes.eq(instance.scaled.classes(n)) {
                return Err(refuse(n, "is not about the classes that it can run on"));
            }
            match &groups {
                None => {
                    more_in_rows(instance, n, short).ok_or_else(|| refuse(n, "is no row that it uses"))?
                }
                Some(groups) => {
                    if !groups.all_lack(instance, n, short)? {
                        return Err(refuse(n, "is not short on every server"));
                    }
                    Rational::new()
                }
            }
        } else {
            Rational::new()
        };
        if worst.as_ref().is_none_or(|worst| more > *worst) {
            worst = Some(more);
        }
    }
    Ok(worst.map(|worst| -worst))
}

/// The margin that a place where a task fits shows; `None` when it shows nothing.
///
/// # Errors
/// [`TooLarge`] when the work is not left.
fn margin_of_room(instance: &Instance<'_>, room: &Room) -> Result<Option<Rational>, TooLarge> {
    let (n, i) = (room.user, room.server);
    let there = n < instance.problem().n_users() && i < instance.problem().n_servers();
    if !there || !is_pending(instance, n) || !instance.scaled.can_run(n, i) {
        return Ok(None);
    }
    match (instance.placements(), room.index) {
        (None, None) => Ok(if has_room(instance, n, i) {
            divisible_room(instance, n).map(|found| -found.0)
        } else {
            None
        }),
        (Some(placements), Some(index)) if index < instance.problem().servers()[i].count() => {
            let found = placements.iter().find(|p| (p.server, p.index) == (i, index));
            let free = free(instance, i, found.map_or(&[], |p| &p.tasks));
            Ok(fits(instance, n, i, &free).then(|| -Rational::from(instance.scale(n).recip_ref())))
        }
        _ => Ok(None),
    }
}

/// Whether user `n` is active and has fewer than its tasks; with placements at least one task fewer.
pub(super) fn is_pending(instance: &Instance<'_>, n: usize) -> bool {
    if !instance.is_active(n) {
        return false;
    }
    let left = instance.problem().users()[n].tasks().map(|tasks| tasks - instance.total(n));
    match instance.placements() {
        None => left.is_none_or(|left| left > 0),
        Some(_) => left.is_none_or(|left| left >= 1),
    }
}

fn divisible(instance: &Instance<'_>, users: &[usize]) -> Result<Examined, TooLarge> {
    charge(instance, users)?;
    let found: Vec<Option<(Rational, Option<usize>, Short)>> =
        users.par_iter().map(|&n| divisible_room(instance, n)).collect();
    let mut examined = Examined { margin: Rational::new(), room: None, short: Vec::new() };
    for (&n, found) in users.iter().zip(found) {
        let Some((more, class, short)) = found else { continue };
        examined.short.push((n, short));
        let margin = -more;
        if margin < examined.margin {
            examined.margin = margin;
            examined.room = class.map(|server| Room { user: n, server, index: None });
        }
    }
    Ok(examined)
}

/// What user `n` could run more over `g_n`, the first class with the most room if there is any, and the
/// scarcest row of every class; `None` when it has no pending tasks.
pub(super) fn divisible_room(instance: &Instance<'_>, n: usize) -> Option<(Rational, Option<usize>, Short)> {
    if !is_pending(instance, n) {
        return None;
    }
    let mut sum = Rational::new();
    let mut best: Option<(Rational, usize)> = None;
    let mut short = Vec::new();
    for i in instance.scaled.classes(n) {
        let rows = instance.constraints().class_rows(i);
        let usage = instance.constraints().usage(n, i)?;
        // Nothing is left of a full row: no number has to be divided.
        let used = || usage.entries().map(|(at, d)| (rows.start + at, d));
        if let Some((row, _)) = used().find(|(row, _)| instance.scaled_slack(*row).is_zero()) {
            short.push((i, vec![row]));
            continue;
        }
        let room = used();
        let (more, row) = room.map(|(row, d)| (instance.slack(row) / d, row)).min()?;
        short.push((i, vec![row]));
        if best.as_ref().is_none_or(|(best, _)| more > *best) {
            best = Some((more.clone(), i));
        }
        sum += more;
    }
    if let Some(tasks) = instance.problem().users()[n].tasks() {
        let left = tasks - instance.total(n);
        if left < sum {
            sum = left;
        }
    }
    Some((sum / instance.scale(n), best.map(|(_, i)| i), short))
}

/// Whether something is left of every row of class `i` that user `n` uses.
fn has_room(instance: &Instance<'_>, n: usize, i: usize) -> bool {
    let Some(usage) = instance.constraints().usage(n, i) else { return false };
    let mut used = usage.entries();
    used.all(|(at, _)| !instance.scaled_slack(instance.constraints().class_rows(i).start + at).is_zero())
}

/// What the stated rows leave to user `n`, in tasks; `None` when one is no row that it uses.
pub(super) fn rows_leave(
    instance: &Instance<'_>,
    n: usize,
    short: &[(usize, Vec<usize>)],
) -> Option<Rational> {
    let mut sum = Rational::new();
    for (i, rows) in short {
        let [row] = rows.as_slice() else { return None };
        let class_rows = instance.constraints().class_rows(*i);
        let usage = instance.constraints().usage(n, *i)?;
        let demand =
            class_rows.contains(row).then(|| &usage[row - class_rows.start]).filter(|d| !d.is_zero())?;
        if !instance.scaled_slack(*row).is_zero() {
            sum += instance.slack(*row) / demand;
        }
    }
    Some(sum)
}

/// The same, at most the tasks that the user has left, over `g_n`.
fn more_in_rows(instance: &Instance<'_>, n: usize, short: &Short) -> Option<Rational> {
    let mut sum = rows_leave(instance, n, short)?;
    if let Some(tasks) = instance.problem().users()[n].tasks() {
        let left = tasks - instance.total(n);
        if left < sum {
            sum = left;
        }
    }
    Some(sum / instance.scale(n))
}

fn placed(instance: &Instance<'_>, placements: &[Placement], users: &[usize]) -> Result<Examined, TooLarge> {
    let groups = Groups::new(instance, placements)?;
    let mut examined = Examined { margin: Rational::new(), room: None, short: Vec::new() };
    for &n in users.iter().filter(|&&n| is_pending(instance, n)) {
        let (short, room) = groups.of_user(instance, n)?;
        examined.short.push((n, short));
        let Some((server, index)) = room else { continue };
        let margin = -Rational::from(instance.scale(n).recip_ref());
        if margin < examined.margin {
            examined.margin = margin;
            examined.room = Some(Room { user: n, server, index: Some(index) });
        }
    }
    Ok(examined)
}

/// Single servers of one class that have as much left of every row.
struct Group {
    /// By row of the class.
    free: Vec<Rational>,
    /// One of them.
    index: u64,
}

/// The groups of every class.
pub(super) struct Groups {
    of_class: Vec<Vec<Group>>,
}

impl Groups {
    pub fn new(instance: &Instance<'_>, placements: &[Placement]) -> Result<Self, TooLarge> {
        let mut of_class: Vec<BTreeMap<Vec<Rational>, u64>> = Vec::new();
        of_class.resize_with(instance.problem().n_servers(), BTreeMap::new);
        let mut used: Vec<Vec<u64>> = vec![Vec::new(); instance.problem().n_servers()];
        let entries: usize = placements.iter().map(|placement| placement.tasks.len() + 1).sum();
        instance.budget().charge((entries as u64).saturating_mul(2 * instance.steps()))?;
        for placement in placements {
            let free = free(instance, placement.server, &placement.tasks);
            of_class[placement.server].entry(free).or_insert(placement.index);
            used[placement.server].push(placement.index);
        }
        for (i, used) in used.iter_mut().enumerate() {
            used.sort_unstable();
            let empty = (0..).zip(used.iter()).find(|(index, used)| index != *used);
            let empty = empty.map_or(used.len() as u64, |(index, _)| index);
            if empty < instance.problem().servers()[i].count() {
                of_class[i].entry(free(instance, i, &[])).or_insert(empty);
            }
        }
        let group = |(free, index)| Group { free, index };
        Ok(Self {
            of_class: of_class.into_iter().map(|class| class.into_iter().map(group).collect()).collect(),
        })
    }

    /// What is short for user `n` by class, and the first server where its task fits.
    pub fn of_user(
        &self,
        instance: &Instance<'_>,
        n: usize,
    ) -> Result<(Short, Option<(usize, u64)>), TooLarge> {
        let mut short = Vec::new();
        let mut room = None;
        for i in instance.scaled.classes(n) {
            let start = instance.constraints().class_rows(i).start;
            let usage = self.usage(instance, n, i)?;
            let mut rows: Vec<usize> = Vec::new();
            for group in &self.of_class[i] {
                let lacks = |at: &usize| group.free[*at] < usage[*at];
                if rows.iter().any(|row| lacks(&(row - start))) {
                    continue;
                }
                match (0..usage.len()).find(lacks) {
                    Some(at) => rows.push(start + at),
                    None => room = room.or(Some((i, group.index))),
                }
            }
            rows.sort_unstable();
            short.push((i, rows));
        }
        Ok((short, room))
    }

    /// A server of a class on which a task of user `n` fits.
    pub fn room_on(&self, instance: &Instance<'_>, n: usize, i: usize) -> Result<Option<u64>, TooLarge> {
        let usage = self.usage(instance, n, i)?;
        let fits = |group: &&Group| (0..usage.len()).all(|at| usage[at] <= group.free[at]);
        Ok(self.of_class[i].iter().find(fits).map(|group| group.index))
    }

    /// Whether every server of every class lacks one of the stated rows for a task of user `n`.
    pub fn all_lack(&self, instance: &Instance<'_>, n: usize, short: &Short) -> Result<bool, TooLarge> {
        for (i, rows) in short {
            let class_rows = instance.constraints().class_rows(*i);
            let usage = self.usage(instance, n, *i)?;
            if !rows.iter().all(|row| class_rows.contains(row)) {
                return Ok(false);
            }
            let lacks = |group: &Group| {
                rows.iter().any(|row| group.free[row - class_rows.start] < usage[row - class_rows.start])
            };
            if !self.of_class[*i].iter().all(lacks) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What a task of user `n` takes of the rows of a single server, where it can run; charged for all
    /// groups of the class.
    fn usage(&self, instance: &Instance<'_>, n: usize, i: usize) -> Result<Vec<Rational>, TooLarge> {
        instance.budget().charge(self.of_class[i].len() as u64 * 8)?;
        Ok(single_usage(instance, n, i))
    }
}

/// What a task of user `n` takes of each row of one server of class `i`, where it can run: of the time of
/// one server it takes `k_i` times what it takes of that of all.
fn single_usage(instance: &Instance<'_>, n: usize, i: usize) -> Vec<Rational> {
    let constraints = instance.constraints();
    let factor = if constraints.is_time_shared(i) { instance.problem().servers()[i].count() } else { 1 };
    let usage = constraints.usage(n, i);
    usage.map_or_else(Vec::new, |usage| usage.iter().map(|d| Rational::from(d * factor)).collect())
}

/// What these tasks leave of each row of one server of class `i`.
fn free(instance: &Instance<'_>, i: usize, tasks: &[(usize, Rational)]) -> Vec<Rational> {
    let constraints = instance.constraints();
    let count = instance.problem().servers()[i].count();
    let rows = constraints.class_rows(i).map(|row| &constraints.rows()[row].capacity);
    let mut free: Vec<Rational> = match constraints.is_time_shared(i) {
        true => rows.cloned().collect(),
        false => rows.map(|capacity| Rational::from(capacity / count)).collect(),
    };
    for (n, x) in tasks {
        for (free, usage) in free.iter_mut().zip(single_usage(instance, *n, i)) {
            *free -= usage * x;
        }
    }
    free
}

fn fits(instance: &Instance<'_>, n: usize, i: usize, free: &[Rational]) -> bool {
    single_usage(instance, n, i).iter().zip(free).all(|(usage, free)| usage <= free)
}

/// Charges a look at every row by every user.
pub(super) fn charge(instance: &Instance<'_>, users: &[usize]) -> Result<(), TooLarge> {
    let rows = instance.constraints().rows().len() as u64;
    // Only a row that has something left is divided by a demand.
    let free = (0..instance.constraints().rows().len()).filter(|&row| !instance.scaled_slack(row).is_zero());
    let steps = rows + (free.count() as u64).saturating_mul(instance.steps());
    instance.budget().charge(steps.saturating_mul(users.len() as u64))
}

/// The axiom.
pub(crate) struct WorkConserving;

impl Rule for WorkConserving {
    fn name(&self) -> &'static str {
        "work-conserving"
    }

    fn is_exact_on_servers(&self) -> bool {
        true
    }

    fn applies_to(&self, _parameters: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        held_back::applies_to(problem)
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        held_back::applies(instance)
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        if let Some(held) = HeldBack::new(instance)? {
            return held.examine(instance);
        }
        Ok(examine(instance)?.map(|found| Found {
            margin: found.margin,
            yes: Evidence::Short(found.short),
            no: found.room.map(Evidence::Room),
        }))
    }

    fn shows(
        &self,
        instance: &Instance<'_>,
        evidence: &Evidence,
        truth: &Truth<'_>,
    ) -> Result<bool, Refusal> {
        let held = HeldBack::new(instance)?;
        let shown = match evidence {
            Evidence::Short(short) if truth.holds => margin_of_short(instance, short, &HashMap::new())?,
            Evidence::ShortOrStopped { short, stopped } if truth.holds => {
                let Some(held) = held else { return Ok(false) };
                let Some(stopped) = held.stopped(instance, stopped)? else { return Ok(false) };
                margin_of_short(instance, short, &stopped)?
            }
            Evidence::Room(room) if !truth.holds => {
                let margin = margin_of_room(instance, room)?;
                match (margin, held) {
                    (Some(margin), Some(held)) => held.within(instance, room, &margin)?,
                    (margin, _) => margin,
                }
            }
            _ => None,
        };
        Ok(truth.is(shown.as_ref()))
    }

    /// `{"short": {user: {server: resource or [resources]}}, "stopped": {user: STOP}}`, or
    /// `{"user", "server", "index"}`.
    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        if let Some(raw) = object.get("short") {
            // Where nothing is held back nobody is stopped.
            let known =
                if reader.problem.groups().hold_back() { &["short", "stopped"][..] } else { &["short"] };
            reader.only(object, known)?;
            let mut short = Vec::new();
            for (user, raw) in reader.object(raw)?.fields() {
                short.push((reader.user(user, raw)?, read_short(reader, raw)?));
            }
            short.sort_by_key(|(n, _)| *n);
            return Ok(match object.get("stopped") {
                None => Evidence::Short(short),
                Some(raw) => Evidence::ShortOrStopped { short, stopped: held_back::read(reader, raw)? },
            });
        }
        reader.only(object, &["user", "server", "index"])?;
        Ok(Evidence::Room(Room {
            user: reader.named_user(object, "user")?,
            server: reader.named_server(object, "server")?,
            index: object.get("index").map(|raw| reader.index(raw)).transpose()?,
        }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        match evidence {
            Evidence::Short(short) => Some(fields([("short", write_all(names, short))])),
            Evidence::ShortOrStopped { short, stopped } => Some(fields([
                ("short", write_all(names, short)),
                ("stopped", held_back::write(names, stopped)),
            ])),
            Evidence::Room(Room { user, server, index }) => {
                let mut room = vec![("user".to_owned(), names.user_name(*user))];
                room.push(("server".to_owned(), names.server_name(*server)));
                room.extend(index.map(|index| ("index".to_owned(), Json::Index(index))));
                Some(Json::Object(room))
            }
            _ => None,
        }
    }
}

pub(super) fn read_short<'t>(reader: &Reader<'_, 't>, raw: &'t RawValue) -> Result<Short, FormatError> {
    let mut short = Vec::new();
    for (server, raw) in reader.object(raw)?.fields() {
        let i = reader.server(server, raw)?;
        let names = if raw.get().starts_with('[') { reader.document.list(raw)? } else { vec![*raw] };
        let rows = names.into_iter().map(|raw| reader.named_row(i, raw));
        let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
        rows.sort_unstable();
        short.push((i, rows));
    }
    short.sort_by_key(|(i, _)| *i);
    Ok(short)
}

/// What is short, by user.
fn write_all(names: &Names<'_>, short: &[(usize, Short)]) -> Json {
    Json::Object(short.iter().map(|(n, short)| (names.user(*n), write_short(names, short))).collect())
}

/// `{server: resource}`, or `{server: [resources]}` where there is not just one.
pub(super) fn write_short(names: &Names<'_>, short: &[(usize, Vec<usize>)]) -> Json {
    let name = |row: &usize| Json::Text(names.row(*row).1);
    let classes = short.iter().map(|(i, rows)| {
        let rows = match rows.as_slice() {
            [row] => name(row),
            rows => Json::List(rows.iter().map(name).collect()),
        };
        (names.server(*i), rows)
    });
    Json::Object(classes.collect())
}
