//! One run of the simulation: jobs end, and at each of these moments waiting jobs start.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use evenhand_budget::charge;
use evenhand_mechanisms::filling::Draw;
use evenhand_mechanisms::tree::Turns;
use evenhand_problem::Rational;

use super::jobs::{Jobs, Record};
use super::{Policy, Settings, Start, order};
use crate::due::Due;
use crate::queues::Queues;
use crate::rooms::Bound;
use crate::servers::Place;
use crate::starts::{Answer, Assignment, Standing};

/// The number of waiting jobs that backfill considers at one moment. This is the default of Slurm's
/// `bf_max_job_test` in 25.05.
const MOST_BACKFILLED: usize = 500;
/// The steps of the budget that each event costs.
const EVENT: u64 = 200;

/// The reason why a job could not start when it was last tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Blocked {
    /// The job was not tried, or could start.
    Unknown,
    /// The start would exceed this bound of a group.
    Bound(Bound),
    /// The job does not fit on servers.
    Servers,
}

impl Blocked {
    /// Returns the reason why a job could not start.
    pub fn new(standing: &Standing<'_>, user: usize) -> Self {
        broken_bound(standing, user).map_or(Self::Servers, Self::Bound)
    }

    /// Returns `true` if the job certainly still cannot start. `released` are the users and servers of the
    /// tasks that have ended since the job was last tried. Other jobs may have started since then.
    pub fn is_certain(&self, standing: &Standing<'_>, user: usize, released: &[(usize, Place)]) -> bool {
        let problem = standing.problem;
        let groups = problem.groups();
        match self {
            Self::Unknown => false,
            // The usage of a group falls only if a task below it ends.
            Self::Bound(Bound::Limit(v, _) | Bound::Weight(v))
                if !released
                    .iter()
                    .any(|(m, _)| groups.above(groups.member(*m).group).any(|of| of == *v)) =>
            {
                true
            }
            Self::Bound(_) => broken_bound(standing, user).is_some(),
            // The search for servers also tests limits on server classes, so the reason need not be a lack of
            // free capacity.
            Self::Servers if problem.groups().limit_classes() => false,
            // The job can start only if one of its tasks now fits on one of the released servers.
            Self::Servers => !released.iter().any(|(_, place)| {
                let server = standing.servers.at(*place);
                let has_room = |m: &usize| {
                    let may_run = standing.rules.classes_of(problem, *m).any(|class| class == place.class);
                    may_run && server.is_some_and(|server| server.fits(problem, place.class, *m))
                };
                standing.rules.start(user).iter().any(has_room)
            }),
        }
    }
}

/// Returns a bound that a start of a user would exceed. Returns `None` if it would exceed no bound.
fn broken_bound(standing: &Standing<'_>, user: usize) -> Option<Bound> {
    let amounts = standing.rules.amounts(standing.problem, user);
    let group = standing.problem.groups().member(user).group;
    standing.rooms.broken_bounds(group, &amounts).into_iter().next().map(|(bound, _)| bound)
}

/// A job that runs in a simulation.
#[derive(Debug, Clone)]
struct Active {
    /// The tasks of the job: users, servers and numbers of tasks.
    tasks: Vec<(usize, Place, u64)>,
    /// The latest end of the job that the scheduler knows. `None` if the scheduler knows no end.
    planned_end: Option<u64>,
}

/// A cluster that is simulated from its snapshot on.
pub(super) struct Simulation<'s, 'p> {
    initial: &'s Standing<'p>,
    queues: &'s Queues<'p>,
    jobs: &'s Jobs,
    settings: &'s Settings,
    turns: Option<Turns<'p>>,
    due: Option<&'s Due>,
    /// Lists of lines that are served by descending priority. There is one list for each queue, or one list
    /// for all lines.
    rows: Vec<Vec<usize>>,
    /// The jobs by priority, for backfill. Each entry has a line and a position. All jobs without names of a
    /// line share one entry.
    by_priority: Vec<(usize, u64)>,
    not_known: u64,
    /// The starts of the last run.
    starts: Vec<Start>,
}

/// The state of one run.
struct State<'p> {
    standing: Standing<'p>,
    seed: u64,
    now: u64,
    active: Vec<Option<Active>>,
    /// The ends of active jobs: the time, and the position of the job.
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    /// The number of jobs that have started, for each line.
    started: Vec<u64>,
    /// True if a job with names has started, indexed by line and position.
    has_started: Vec<Vec<bool>>,
    /// The number of admitted jobs that have no server yet, for each line.
    admitted: Vec<u64>,
    /// The number of admitted jobs that have got servers, for each line.
    placed: Vec<u64>,
    blocked: Vec<Blocked>,
    /// The number of tasks of users now minus their number in the snapshot. Users without a difference may be
    /// missing.
    changes: BTreeMap<usize, i64>,
    /// The time of the start of each record.
    times: Vec<Option<u64>>,
}

/// The planned start of the first blocked job.
struct Reservation<'p> {
    /// The time in nanoseconds after the snapshot.
    time: u64,
    /// The servers that the job will get.
    assignment: Assignment,
    /// The cluster now, with the tasks of the blocked job on its planned servers. Limits do not count these
    /// tasks.
    now: Standing<'p>,
    /// The cluster at the planned time.
    then: Standing<'p>,
}

impl<'s, 'p> Simulation<'s, 'p> {
    pub fn new(
        initial: &'s Standing<'p>,
        queues: &'s Queues<'p>,
        jobs: &'s Jobs,
        settings: &'s Settings,
        turns: Option<Turns<'p>>,
        due: Option<&'s Due>,
    ) -> Self {
        let groups = initial.problem.groups();
        let mut by_queue: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        let mut rows: Vec<Vec<usize>> = Vec::new();
        for (at, line) in jobs.lines.iter().enumerate().filter(|(_, line)| line.jobs > 0) {
            match (settings.policy, groups.member(line.user).group) {
                (Policy::Priority | Policy::Backfill, _) => by_queue.entry(None).or_default().push(at),
                (_, Some(group)) => by_queue.entry(Some(group)).or_default().push(at),
                // A user outside of groups is a queue by itself.
                (_, None) => rows.push(vec![at]),
            }
        }
        rows.extend(by_queue.into_values());
        for row in &mut rows {
            row.sort_by_key(|at| (Reverse(jobs.lines[*at].priority), *at));
        }
        let mut by_priority: Vec<(usize, u64)> = Vec::new();
        if settings.policy == Policy::Backfill {
            for (at, line) in jobs.lines.iter().enumerate() {
                let named = line.named.len() as u64;
                by_priority.extend((0..named).map(|k| (at, k)));
                by_priority.extend((line.jobs > named).then_some((at, named)));
            }
            by_priority.sort_by_key(|(at, k)| (Reverse(jobs.lines[*at].priority_of(*k)), *at, *k));
        }
        Self {
            initial,
            queues,
            jobs,
            settings,
            turns,
            due,
            rows,
            by_priority,
            not_known: 0,
            starts: Vec::new(),
        }
    }

    /// Returns the number of decisions for which the search for servers had no answer.
    pub fn not_known(&self) -> u64 {
        self.not_known
    }

    /// Returns the starts of the last run.
    pub fn starts(&mut self) -> Vec<Start> {
        std::mem::take(&mut self.starts)
    }

    /// Makes one run. Returns the time of the start of each record. The time is `None` if the job did not
    /// start.
    pub fn run(&mut self, seed: u64) -> Vec<Option<u64>> {
        self.starts.clear();
        let lines = &self.jobs.lines;
        let mut state = State {
            standing: self.initial.clone(),
            seed,
            now: 0,
            active: Vec::new(),
            ends: BinaryHeap::new(),
            started: vec![0; lines.len()],
            has_started: lines.iter().map(|line| vec![false; line.named.len()]).collect(),
            admitted: lines.iter().map(|line| line.admitted).collect(),
            placed: vec![0; lines.len()],
            blocked: vec![Blocked::Unknown; lines.len()],
            changes: BTreeMap::new(),
            times: vec![None; self.jobs.records.len()],
        };
        for (at, job) in self.jobs.running.iter().enumerate() {
            let length = job.lengths.draw(&mut Draw::new(seed, 2 * at as u64));
            let planned = job.lengths.limit().or(length);
            state.add(job.tasks.clone(), length, planned);
        }
        loop {
            charge(EVENT, "the simulation");
            self.end_jobs(&mut state);
            self.place_admitted(&mut state);
            match self.settings.policy {
                Policy::Backfill => self.backfill(&mut state),
                _ => while self.start_next(&mut state) {},
            }
            if state.times.iter().all(Option::is_some) {
                break;
            }
            let Some(Reverse((time, _))) = state.ends.peek() else { break };
            if self.settings.horizon.is_some_and(|horizon| *time > horizon) {
                break;
            }
            state.now = *time;
        }
        if let Some(turns) = &mut self.turns {
            state.changes.iter().for_each(|(n, more)| turns.add(*n, &-Rational::from(*more)));
        }
        state.times
    }

    /// Adds tasks of a user to the usage by which queues are compared.
    fn count(&mut self, state: &mut State<'p>, n: usize, tasks: i64) {
        if let Some(turns) = &mut self.turns {
            turns.add(n, &Rational::from(tasks));
        }
        *state.changes.entry(n).or_default() += tasks;
    }

    /// Ends all jobs whose end has come, and updates which jobs might start.
    fn end_jobs(&mut self, state: &mut State<'p>) {
        let mut released = Vec::new();
        while let Some(Reverse((time, at))) = state.ends.peek().copied() {
            if time > state.now {
                break;
            }
            state.ends.pop();
            for (n, place, tasks) in state.active[at].take().into_iter().flat_map(|job| job.tasks) {
                state.standing.change(n, place, &-Rational::from(tasks));
                self.count(state, n, -(tasks as i64));
                released.push((n, place));
            }
        }
        for (at, line) in self.jobs.lines.iter().enumerate() {
            let waits = state.started[at] < line.jobs;
            if waits && !state.blocked[at].is_certain(&state.standing, line.user, &released) {
                state.blocked[at] = Blocked::Unknown;
            }
        }
    }

    /// Places admitted jobs on servers on which they fit. Limits already count these jobs.
    fn place_admitted(&mut self, state: &mut State<'p>) {
        for at in 0..self.jobs.lines.len() {
            let line = &self.jobs.lines[at];
            while state.admitted[at] > 0 {
                let start = state.standing.rules.start(line.user);
                let answer = state.standing.for_admitted().find_servers(start, &mut u64::MAX.clone());
                let Answer::Yes(assignment) = answer else {
                    self.not_known += u64::from(answer == Answer::NotKnown);
                    break;
                };
                state.admitted[at] -= 1;
                for (m, places) in &assignment.parts {
                    state.standing.rooms.admit(*m, &-Rational::from(places.len()));
                }
                let stream = stream(line.user, line.jobs + state.placed[at]);
                state.placed[at] += 1;
                let length = line.others.draw(&mut Draw::new(state.seed, stream));
                state.place(&assignment, length, line.others.limit());
            }
        }
    }

    /// Returns the servers on which the next job of a line could start now.
    fn servers(&mut self, state: &mut State<'p>, at: usize) -> Option<Assignment> {
        let user = self.jobs.lines[at].user;
        if state.started[at] >= self.jobs.lines[at].jobs || state.blocked[at] != Blocked::Unknown {
            return None;
        }
        match state.standing.find(user, &mut u64::MAX.clone()) {
            Answer::Yes(assignment) => return Some(assignment),
            Answer::No => state.blocked[at] = Blocked::new(&state.standing, user),
            Answer::NotKnown => {
                self.not_known += 1;
                state.blocked[at] = Blocked::Servers;
            }
        }
        None
    }

    /// Starts the next job. Returns `true` if a job could start.
    fn start_next(&mut self, state: &mut State<'p>) -> bool {
        // The first line of each list with a job that could start.
        let mut heads: Vec<(usize, usize, Assignment)> = Vec::new();
        for row in 0..self.rows.len() {
            for position in 0..self.rows[row].len() {
                let at = self.rows[row][position];
                if let Some(assignment) = self.servers(state, at) {
                    heads.push((self.jobs.lines[at].user, at, assignment));
                    break;
                }
            }
        }
        heads.sort_by_key(|(user, ..)| *user);
        let users: Vec<usize> = heads.iter().map(|(user, ..)| *user).collect();
        let next = match (&self.turns, self.due) {
            (Some(turns), _) => turns.next(&users),
            (None, Some(due)) => order::next(self.queues, due, state.standing.rooms.totals(), &users),
            (None, None) => users.first().copied(),
        };
        let Some((_, at, assignment)) = heads.into_iter().find(|(user, ..)| Some(*user) == next) else {
            return false;
        };
        self.start(state, at, state.started[at], &assignment);
        true
    }

    /// Starts a job of a line on these servers, and records the start.
    fn start(&mut self, state: &mut State<'p>, at: usize, k: u64, assignment: &Assignment) {
        let line = &self.jobs.lines[at];
        self.starts.push(Start { time: state.now, user: line.user, job: k, assignment: assignment.clone() });
        for (m, places) in &assignment.parts {
            self.count(state, *m, places.len() as i64);
        }
        let lengths = line.lengths(k);
        let length = lengths.draw(&mut Draw::new(state.seed, stream(line.user, k)));
        state.place(assignment, length, lengths.limit());
        let is_first = state.started[at] == 0;
        state.started[at] += 1;
        let is_last = state.started[at] == line.jobs;
        if let Some(has_started) = usize::try_from(k).ok().and_then(|k| state.has_started[at].get_mut(k)) {
            *has_started = true;
        }
        for (record, (of, _)) in self.jobs.records.iter().enumerate() {
            let is_this = match of {
                Record::First(of) => *of == at && is_first,
                Record::Last(of) => *of == at && is_last,
                Record::Job(of, job) => *of == at && *job == k,
            };
            if is_this {
                state.times[record] = Some(state.now);
            }
        }
    }

    /// Starts jobs by priority. After the first job that does not fit on servers, a job starts only if it
    /// does not delay this blocked job, according to the ends of jobs that the scheduler knows.
    fn backfill(&mut self, state: &mut State<'p>) {
        let mut reservation: Option<Reservation<'p>> = None;
        let mut tested = 0;
        for entry in 0..self.by_priority.len() {
            let (at, first) = self.by_priority[entry];
            let line = &self.jobs.lines[at];
            let named = line.named.len() as u64;
            let mut k = first;
            // All jobs without names of a line share one entry, and each of these jobs is tried.
            loop {
                let is_over = if first < named {
                    state.has_started[at].get(first as usize).copied().unwrap_or(true)
                } else {
                    k = named + state.started[at] - state.named_started(at);
                    k >= line.jobs
                };
                if is_over || tested >= MOST_BACKFILLED {
                    break;
                }
                let Some(assignment) = self.servers(state, at) else {
                    let is_new = reservation.is_none() && state.blocked[at] == Blocked::Servers;
                    tested += 1;
                    if is_new {
                        reservation = self.reservation(state, at);
                    }
                    break;
                };
                tested += 1;
                let planned = line
                    .lengths(k)
                    .limit()
                    .or_else(|| line.lengths(k).draw(&mut Draw::new(state.seed, stream(line.user, k))));
                let assignment = match &reservation {
                    None => Some(assignment),
                    Some(of) if planned.is_some_and(|time| state.now.saturating_add(time) <= of.time) => {
                        Some(assignment)
                    }
                    Some(_) => reservation.as_mut().and_then(|of| of.servers_beside(line.user)),
                };
                let Some(assignment) = assignment else { break };
                if let Some(of) = &mut reservation {
                    add(&mut of.now, &assignment, 1);
                }
                self.start(state, at, k, &assignment);
            }
            if tested >= MOST_BACKFILLED {
                break;
            }
        }
    }

    /// Returns the reservation of a blocked job: the first time at which the job could start if no other job
    /// starts, and the servers that it gets at that time. Returns `None` if it could not start after the end
    /// of any job.
    fn reservation(&mut self, state: &State<'p>, at: usize) -> Option<Reservation<'p>> {
        let user = self.jobs.lines[at].user;
        let mut later = state.standing.clone();
        let mut ends: Vec<(u64, usize)> = Vec::new();
        for (job, active) in state.active.iter().enumerate() {
            let planned = active.as_ref().and_then(|active| active.planned_end);
            ends.extend(planned.map(|time| (time.max(state.now), job)));
        }
        ends.sort_unstable();
        let mut ends = ends.into_iter().peekable();
        while let Some((time, _)) = ends.peek().copied() {
            let mut released = Vec::new();
            while let Some((_, job)) = ends.next_if(|(of, _)| *of == time) {
                for (n, place, tasks) in state.active[job].iter().flat_map(|active| &active.tasks) {
                    later.change(*n, *place, &-Rational::from(*tasks));
                    released.push((*n, *place));
                }
            }
            if Blocked::Servers.is_certain(&later, user, &released) {
                continue;
            }
            match later.find(user, &mut u64::MAX.clone()) {
                Answer::Yes(assignment) => {
                    let mut now = state.standing.clone();
                    add(&mut now, &assignment, 1);
                    now.rooms = state.standing.rooms.clone();
                    return Some(Reservation { time, assignment, now, then: later });
                }
                Answer::No => {}
                Answer::NotKnown => self.not_known += 1,
            }
        }
        None
    }
}

impl Reservation<'_> {
    /// Returns servers for a job of a user that ends after the planned start. The blocked job must still be able to
    /// start at the planned time on its planned servers.
    fn servers_beside(&mut self, user: usize) -> Option<Assignment> {
        let Answer::Yes(assignment) = self.now.find(user, &mut u64::MAX.clone()) else { return None };
        add(&mut self.then, &assignment, 1);
        if self.then.may_start(&self.assignment).is_ok() {
            return Some(assignment);
        }
        add(&mut self.then, &assignment, -1);
        None
    }
}

/// Adds the tasks of a job to a cluster if `sign` is 1. Removes them if `sign` is -1.
fn add(standing: &mut Standing<'_>, assignment: &Assignment, sign: i32) {
    for (m, places) in &assignment.parts {
        places.iter().for_each(|place| standing.change(*m, *place, &Rational::from(sign)));
    }
}

/// Returns the stream of random numbers of a waiting job. The stream does not depend on the time at which the job
/// starts.
fn stream(user: usize, k: u64) -> u64 {
    ((user as u64) << 33).wrapping_add(k << 1) | 1
}

impl State<'_> {
    /// Adds an active job. Its tasks are already part of `standing`.
    fn add(&mut self, tasks: Vec<(usize, Place, u64)>, length: Option<u64>, planned: Option<u64>) {
        if let Some(length) = length {
            self.ends.push(Reverse((self.now.saturating_add(length), self.active.len())));
        }
        let planned_end = planned.map(|time| self.now.saturating_add(time));
        self.active.push(Some(Active { tasks, planned_end }));
    }

    /// Starts tasks on servers. A job runs for at least a nanosecond, so that it ends after its start.
    fn place(&mut self, assignment: &Assignment, length: Option<u64>, limit: Option<u64>) {
        let length = length.map(|time| time.max(1));
        let mut tasks: BTreeMap<(usize, Place), u64> = BTreeMap::new();
        for (m, places) in &assignment.parts {
            for place in places {
                self.standing.change(*m, *place, &Rational::from(1));
                *tasks.entry((*m, *place)).or_default() += 1;
            }
        }
        let tasks = tasks.into_iter().map(|((m, place), count)| (m, place, count)).collect();
        self.add(tasks, length, limit.map(|time| time.max(1)).or(length));
    }

    /// Returns the number of jobs with names of a line that have started.
    fn named_started(&self, at: usize) -> u64 {
        self.has_started[at].iter().filter(|started| **started).count() as u64
    }
}
