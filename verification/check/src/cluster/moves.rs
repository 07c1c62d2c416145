//! What runs on single servers, and steps: some tasks stop, then one gang starts. Every server holds what it has after each
//! step, tasks that are pinned stay, gangs start and stop whole, and no group ends above a limit by a start.

use std::collections::BTreeMap;

use rug::Rational;

use super::queues::{Queues, Vector};
use crate::allocation::{Allocation, Placement, entries, sums};
use crate::case::total_of;
use crate::certificate::Certificate;
use crate::json::Json;
use crate::names::{Amounts, MOST};
use crate::problem::Problem;
use crate::work::{self, Checked, about, ensure};

/// Tasks of a user, and where: class, index, and how many.
pub struct Gang {
    pub user: usize,
    places: Vec<(usize, u64, Rational)>,
}

pub struct Moves<'j> {
    /// What stops, and what then starts.
    steps: Vec<(Vec<Gang>, Gang)>,
    /// About what is held after them.
    pub after: Certificate<'j>,
    /// Names of the queues that are short by a whole task after them.
    short: Vec<&'j str>,
    /// A bound of the number of starts, from below.
    least: Rational,
}

/// What runs: by server and user, by user, and what queues hold.
pub struct State<'q, 'c> {
    queues: &'q Queues<'c>,
    servers: BTreeMap<(usize, u64), BTreeMap<usize, Rational>>,
    pub totals: Vector,
    pub held: Vec<Vector>,
}

impl Gang {
    fn read(raw: &Json<'_>, problem: &Problem) -> Checked<Self> {
        let [user, places] = raw.fields("user places")?;
        let mut found = Vec::new();
        for [server, index, tasks] in places.rows("server index tasks", Ok)? {
            let tasks = Rational::from(tasks.count(1, MOST)?);
            found.push((problem.class_names.named(server)?, index.count(0, MOST)?, tasks));
        }
        Ok(Self { user: problem.user_names.named(user)?, places: found })
    }

    /// Users ascend.
    pub fn list(raw: &Json<'_>, problem: &Problem) -> Checked<Vec<Self>> {
        let list: Checked<Vec<Self>> = raw.list()?.iter().map(|raw| Self::read(raw, problem)).collect();
        let ascend = |list: &[Self]| list.is_sorted_by(|a, b| a.user < b.user);
        list.and_then(|list| if ascend(&list) { Ok(list) } else { raw.wrong("users twice, or out of order") })
    }
}

impl<'j> Moves<'j> {
    pub fn read(raw: &'j Json<'j>, problem: &Problem) -> Checked<Self> {
        let [steps, after, short, least] = raw.fields("steps after short least")?;
        let step =
            |[start, stop]: [&Json<'_>; 2]| Ok((Gang::list(stop, problem)?, Gang::read(start, problem)?));
        Ok(Self {
            steps: steps.rows("start stop", step)?,
            after: Certificate::read(after)?,
            short: short.list()?.iter().map(Json::text).collect::<Checked<_>>()?,
            least: least.number()?,
        })
    }

    /// Replays them; in a sentence, how many there are, and who is short after them.
    pub fn verify(&self, mut state: State<'_, '_>, due: &[Vector]) -> Checked<String> {
        let queues = state.queues;
        let least = queues.least_starts(&state.held, due, &state.totals)?;
        ensure(least == self.least, "the least number of moves is not what follows")?;
        for (at, (stop, start)) in self.steps.iter().enumerate() {
            about(&format!("step {}", at + 1), state.step(stop, start))?;
        }
        let placed = |((class, index), tasks): ((usize, u64), Amounts)| Placement { class, index, tasks };
        let servers = state.servers.iter().map(|(server, tasks)| (*server, there(tasks)));
        let placements: Vec<Placement> = servers.filter(|(_, tasks)| !tasks.is_empty()).map(placed).collect();
        let tasks = sums(&placements, queues.case.problem);
        let ended = Allocation { by_time: false, tasks, placements: Some(placements) };
        ensure(ended == self.after.allocation, "they end with another allocation than is stated")?;
        let mut short = Vec::new();
        for (v, name) in queues.names.iter().enumerate() {
            let by = queues.short_by(v, &state.held[v], &due[v], &state.totals, &Rational::new())?;
            short.extend(by.map(|_| *name));
        }
        ensure(short == self.short, "who is short after them is not what follows")?;
        let (moves, rest) = (self.steps.len(), if short.is_empty() { "nobody" } else { &short.join(", ") });
        Ok(format!("moves: {moves}, at least {least} are needed; short by a whole task after them: {rest}"))
    }
}

/// The tasks of a server that are there.
fn there(tasks: &BTreeMap<usize, Rational>) -> Amounts {
    tasks.iter().filter(|(_, x)| !x.is_zero()).map(|(n, x)| (*n, x.clone())).collect()
}

impl<'q, 'c> State<'q, 'c> {
    pub fn new(queues: &'q Queues<'c>, allocation: &Allocation) -> Checked<Self> {
        let placed = |on: &Placement| ((on.class, on.index), on.tasks.iter().cloned().collect());
        let servers = allocation.placements.iter().flatten().map(placed).collect();
        work::spend(entries(&allocation.tasks).count())?;
        let totals: Vector = allocation.tasks.iter().map(total_of).collect();
        Ok(Self { queues, servers, held: queues.held(|_, n| &totals[n])?, totals })
    }

    /// Whether a gang could start, all else as it is.
    pub fn fits(&mut self, gang: &Gang) -> Checked<()> {
        self.step(&[], gang)?;
        self.change(gang, true).map(drop)
    }

    /// Adds tasks, or takes them away; how many they are.
    fn change(&mut self, gang: &Gang, stops: bool) -> Checked<Rational> {
        let (n, mut sum) = (gang.user, Rational::new());
        for (class, index, tasks) in &gang.places {
            let tasks = if stops { Rational::from(-tasks) } else { tasks.clone() };
            let there = self.servers.entry((*class, *index)).or_default().entry(n).or_default();
            *there = work::plus(there, &tasks)?;
            ensure(*there >= 0, "more tasks stop than run on a server")?;
            sum = work::plus(&sum, &tasks)?;
        }
        self.totals[n] = work::plus(&self.totals[n], &sum)?;
        for (r, d) in &self.queues.case.problem.users[n].demand {
            for v in &self.queues.above[n] {
                self.held[*v][*r] = work::plus(&self.held[*v][*r], &work::times(d, &sum)?)?;
            }
        }
        Ok(sum)
    }

    /// Takes a step, if that may be done.
    fn step(&mut self, stop: &[Gang], start: &Gang) -> Checked<()> {
        let (case, queues) = (self.queues.case, self.queues);
        let groups = &case.problem.groups;
        // What queues hold is copied.
        let copied = queues.above[start.user].len() * case.problem.resources.list.len();
        work::steps(4 * copied as u64)?;
        let limited = || queues.above[start.user].iter().filter(|v| **v < groups.list.len());
        let before: Vec<Vector> = limited().map(|v| self.held[*v].clone()).collect();
        for gang in stop {
            let tasks = self.change(gang, true)?;
            let is_whole = Rational::from(&tasks / queues.gang[gang.user]).is_integer();
            ensure(is_whole, "a gang stops in part")?;
            let pinned = &groups.members[gang.user].pinned;
            ensure(self.totals[gang.user] >= *pinned, "a pinned task stops")?;
        }
        let tasks = self.change(start, false)?;
        ensure(tasks == queues.gang[start.user], "what starts is no gang")?;
        let all = case.problem.users[start.user].tasks.as_ref();
        ensure(all.is_none_or(|all| self.totals[start.user] <= *all), "what starts is no task of the user")?;
        for (class, index, _) in stop.iter().chain([start]).flat_map(|gang| &gang.places) {
            let tasks = there(&self.servers[&(*class, *index)]);
            let can_run = |(n, _): &(usize, Rational)| case.problem.can_run(*n, *class);
            let count = case.problem.classes[*class].count;
            ensure(*index < count && tasks.iter().all(can_run), "a task is where it cannot run")?;
            let left = case.left(*class, count, &tasks)?;
            ensure(left.iter().all(|left| *left >= 0), "a server holds more than it has")?;
        }
        let keeps = |(v, before): (&usize, &Vector)| {
            let keeps = |(r, most): &(usize, Rational)| self.held[*v][*r] <= *most.max(&before[*r]);
            groups.list[*v].limit.iter().all(keeps)
        };
        ensure(limited().zip(&before).all(keeps), "a group is above its limit by a start")
    }
}
