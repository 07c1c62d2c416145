//! Moves: step by step some tasks are stopped and one gang is started. Every server holds what it has after each step; tasks
//! that are pinned stay, gangs start and stop whole, and no group ends above a limit by a start.

use std::collections::BTreeMap;

use rug::Rational;

use super::queues::{Queues, Vector};
use crate::allocation::{Allocation, Placement, sums};
use crate::certificate::Certificate;
use crate::json::Json;
use crate::names::{Amounts, MOST};
use crate::problem::Problem;
use crate::work::{self, Checked, ensure, refuse};

/// Tasks of a user on servers: class, index, and how many.
pub struct Gang {
    pub user: usize,
    places: Vec<(usize, u64, Rational)>,
}

struct Step {
    start: Gang,
    stop: Vec<Gang>,
}

pub struct Moves<'j> {
    steps: Vec<Step>,
    /// About what is held after them.
    pub after: Certificate<'j>,
    /// Names of the queues that are short by a whole task after them.
    short: Vec<&'j str>,
    /// A bound of the number of starts, from below.
    least: Rational,
}

impl Gang {
    fn read(raw: &Json<'_>, problem: &Problem) -> Checked<Self> {
        let [user, places] = raw.fields("user places")?;
        let mut found = Vec::new();
        for [server, index, tasks] in places.rows("server index tasks")? {
            let tasks = Rational::from(tasks.count(1, MOST)?);
            found.push((problem.class_names.named(server)?, index.count(0, MOST)?, tasks));
        }
        Ok(Self { user: problem.user_names.named(user)?, places: found })
    }

    pub fn list(raw: &Json<'_>, problem: &Problem) -> Checked<Vec<Self>> {
        raw.list()?.iter().map(|raw| Self::read(raw, problem)).collect()
    }

    fn tasks(&self) -> Rational {
        self.places.iter().map(|(_, _, tasks)| tasks).sum()
    }

    /// Whether it is one that waits, on servers on which it fits beside what is there.
    pub fn fits(&self, queues: &Queues<'_>, totals: &[Rational]) -> Checked<()> {
        let what = format!("fits: user `{}`", queues.case.user(self.user));
        let waits = self.tasks() == queues.gang[self.user] && queues.waits(self.user, &totals[self.user]);
        ensure(waits, &format!("{what}: no gang of it waits"))?;
        let mut servers = Servers::of(self, queues);
        servers.add(self, false)?;
        servers.hold(queues).map_err(|fault| fault.about(&what))
    }
}

/// What is on servers by user: on all of them, or on those that are touched.
struct Servers(BTreeMap<(usize, u64), BTreeMap<usize, Rational>>);

impl Servers {
    /// The servers of a gang, as they are.
    fn of(gang: &Gang, queues: &Queues<'_>) -> Self {
        let placements = queues.case.stated.placements.as_deref().unwrap_or_default();
        let tasks = |(class, index, _): &(usize, u64, Rational)| {
            let found = placements.binary_search_by_key(&(*class, *index), |on| (on.class, on.index));
            let tasks = found.map_or(&[][..], |at| &placements[at].tasks);
            ((*class, *index), tasks.iter().cloned().collect())
        };
        Self(gang.places.iter().map(tasks).collect())
    }

    /// Starts a gang, or stops it.
    fn add(&mut self, gang: &Gang, stops: bool) -> Checked<()> {
        for (class, index, tasks) in &gang.places {
            let there = self.0.entry((*class, *index)).or_default().entry(gang.user).or_default();
            *there =
                if stops { work::plus(there, &Rational::from(-tasks))? } else { work::plus(there, tasks)? };
            ensure(*there >= 0, "more tasks are stopped than run on a server")?;
        }
        Ok(())
    }

    /// Whether every one of them has what it holds.
    fn hold(&self, queues: &Queues<'_>) -> Checked<()> {
        let case = queues.case;
        for ((class, index), tasks) in &self.0 {
            let count = case.problem.classes[*class].count;
            ensure(*index < count, "there is no such server")?;
            let tasks: Amounts = tasks.iter().map(|(n, x)| (*n, x.clone())).filter(|(_, x)| *x > 0).collect();
            ensure(
                tasks.iter().all(|(n, _)| case.problem.can_run(*n, *class)),
                "a task is where it cannot run",
            )?;
            work::spend(tasks.len() + 1)?;
            let is_held = case.left(*class, count, &tasks)?.iter().all(|left| *left >= 0);
            ensure(is_held, "a server holds more than it has")?;
        }
        Ok(())
    }
}

impl<'j> Moves<'j> {
    pub fn read(raw: &'j Json<'j>, problem: &Problem) -> Checked<Self> {
        let [steps, after, short, least] = raw.fields("steps after short least")?;
        let step = |[start, stop]: [&Json<'_>; 2]| {
            Ok(Step { start: Gang::read(start, problem)?, stop: Gang::list(stop, problem)? })
        };
        Ok(Self {
            steps: steps.rows("start stop")?.into_iter().map(step).collect::<Checked<_>>()?,
            after: Certificate::read(after)?,
            short: short.list()?.iter().map(Json::text).collect::<Checked<_>>()?,
            least: least.number()?,
        })
    }

    /// Replays them; in sentences, how many there are, and who is short after them.
    pub fn verify(&self, queues: &Queues<'_>, before: &Allocation, due: &[Vector]) -> Checked<Vec<String>> {
        let Some(placements) = &before.placements else { return refuse("moves are about single servers") };
        let placed = |on: &Placement| ((on.class, on.index), on.tasks.iter().cloned().collect());
        let mut servers = Servers(placements.iter().map(placed).collect());
        let mut totals = queues.totals(&before.tasks)?;
        let mut held = queues.held(&totals)?;
        let least = queues.least_starts(&held, due, &totals)?;
        ensure(least == self.least, "the least number of moves is not what follows")?;
        for (number, step) in self.steps.iter().enumerate() {
            let judged = step.take(queues, &mut servers, &mut totals, &mut held);
            judged.map_err(|fault| fault.about(&format!("step {}", number + 1)))?;
        }
        let placement = |((class, index), tasks): (&(usize, u64), &BTreeMap<usize, Rational>)| Placement {
            class: *class,
            index: *index,
            tasks: tasks.iter().map(|(n, x)| (*n, x.clone())).filter(|(_, x)| !x.is_zero()).collect(),
        };
        let mut placements: Vec<Placement> = servers.0.iter().map(placement).collect();
        placements.retain(|placement| !placement.tasks.is_empty());
        let tasks = sums(&placements, queues.case.problem);
        let ended = Allocation { by_time: before.by_time, tasks, placements: Some(placements) };
        ensure(ended == self.after.allocation, "the moves end with another allocation than is stated")?;
        let mut short = Vec::new();
        for (v, name) in queues.names.iter().enumerate() {
            let by = queues.short_by(v, &held[v], &due[v], &totals, &Rational::new())?;
            short.extend(by.map(|_| *name));
        }
        ensure(short == self.short, "who is short after the moves is not what follows")?;
        let (moves, rest) = (self.steps.len(), if short.is_empty() { "nobody" } else { &short.join(", ") });
        Ok(vec![format!(
            "{moves} moves, at least {least} are needed; short by a whole task after them: {rest}"
        )])
    }
}

impl Step {
    /// Takes the step, where that may be done.
    fn take(
        &self,
        queues: &Queues<'_>,
        servers: &mut Servers,
        totals: &mut [Rational],
        held: &mut [Vector],
    ) -> Checked<()> {
        let (problem, n) = (queues.case.problem, self.start.user);
        work::spend(20 * (self.stop.len() + 1))?;
        let before: Vec<Vector> = queues.above[n].iter().map(|v| held[*v].clone()).collect();
        let mut all: Vec<(&Gang, bool)> = self.stop.iter().map(|gang| (gang, true)).collect();
        ensure(
            all.is_sorted_by(|a, b| a.0.user < b.0.user),
            "stops: a user is named twice, or out of order",
        )?;
        all.push((&self.start, false));
        ensure(self.start.tasks() == queues.gang[n], "what starts is no gang")?;
        for (gang, stops) in all {
            let (of, tasks) = (gang.user, gang.tasks());
            let is_whole = Rational::from(&tasks / queues.gang[of]).is_integer();
            ensure(is_whole, "a gang is stopped in part")?;
            let member = &problem.groups.members[of];
            totals[of] =
                work::plus(&totals[of], &if stops { Rational::from(-&tasks) } else { tasks.clone() })?;
            ensure(!stops || totals[of] >= member.pinned, "a pinned task is stopped")?;
            let has = problem.users[of].tasks.as_ref().is_none_or(|all| totals[of] <= *all);
            ensure(stops || has, "a user has no such task")?;
            servers.add(gang, stops)?;
            for (r, d) in &problem.users[of].demand {
                let amount = work::times(d, &if stops { Rational::from(-&tasks) } else { tasks.clone() })?;
                for v in &queues.above[of] {
                    held[*v][*r] = work::plus(&held[*v][*r], &amount)?;
                }
            }
        }
        let gangs = self.stop.iter().chain([&self.start]);
        let touched = gangs.flat_map(|gang| &gang.places).map(|(class, index, _)| (*class, *index));
        let touched = touched.map(|place| (place, servers.0.get(&place).cloned().unwrap_or_default()));
        Servers(touched.collect()).hold(queues)?;
        let groups = queues.above[n].iter().zip(&before).filter(|(v, _)| **v < problem.groups.list.len());
        let keeps = |(v, before): (&usize, &Vector)| {
            let limit = &problem.groups.list[*v].limit;
            let keeps = |r: usize, most: &Rational| held[*v][r] <= *most || held[*v][r] <= before[r];
            limit.iter().all(|(r, most)| keeps(*r, most))
        };
        ensure(groups.into_iter().all(keeps), "a group is above its limit by a start")
    }
}
