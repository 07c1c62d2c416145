//! One run: processes events in the order of their times, and fills the servers after the events of each time.

use std::collections::BTreeMap;

use evenhand_budget::{charge, room};
use evenhand_mechanisms::filling::{Draw, Part, Policy, Scheduler, schedule_among};
use evenhand_problem::Problem;

use crate::checkpoint::{Checkpoint, Observer, Reader, Words, digest, list};
use crate::cost::{self, Growing, is_over};
use crate::error::SimulateError;
use crate::events::{Heap, Running};
use crate::jobs::{FinishedJob, Jobs};
use crate::record::{HistoryRow, MAX_ROWS, Recorder, Row, Tasks, ThereOverTime};
use crate::usage::{ByUsage, UsageOrder};
use crate::workload::{Arrival, Source, streams};

/// The settings of a run, in addition to the servers, the users and their tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The policy that places tasks.
    pub policy: Policy,
    /// The order of users by past usage, or `None` if the policy alone decides. With such an order, the
    /// policy only decides on servers, gangs and limits, and the run makes no checkpoints.
    pub usage: Option<UsageOrder>,
    /// `true` if the run returns its [`history`](Run::history). A run with a history makes no checkpoints.
    pub has_history: bool,
    /// The time at which the run stops, or `None` to stop at the end of the last task.
    pub horizon: Option<f64>,
    /// The time between two rows of the series, or `None` for a run without a series.
    pub every: Option<f64>,
    /// The seed of all random choices.
    pub seed: u64,
    /// The time at which each user leaves, or `None` if the user does not leave.
    pub leaves: Vec<Option<f64>>,
    /// The machines that come, go and change, or `None` if all servers are always present.
    pub changing: Option<Changing>,
    /// Running times of all tasks in the order of their placements, which replace the running times that the
    /// tasks have. They allow a comparison with programs that draw running times in this order.
    pub durations: Option<Vec<f64>>,
    /// Any other data that distinguishes this run. A checkpoint with another stamp is rejected.
    pub stamp: u64,
}

/// The results of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The seed of the run.
    pub seed: u64,
    /// The time at which the run ended: the horizon, or the time of the last event of a task.
    pub end: f64,
    /// `true` if the run stopped early ([`Observer::until`]). All results are then the results up to the time
    /// [`end`](Self::end).
    pub is_stopped: bool,
    /// The number of arrivals, finished tasks, departures, and changes of machines.
    pub events: u64,
    /// A hash of all placements: `h <- 1000003 h + 31 server + user` modulo 2^48, starting with `h = 0`.
    pub placements: u64,
    /// The task counts of each user.
    pub tasks: Vec<Tasks>,
    /// The integral over time of the number of running tasks of each user.
    pub task_time: Vec<f64>,
    /// The servers that were present over the run, or `None` if servers do not come and go.
    pub there: Option<ThereOverTime>,
    /// The number of jobs that arrived.
    pub jobs_submitted: u64,
    /// The finished jobs, in the order in which they finished.
    pub jobs: Vec<FinishedJob>,
    /// The states at equal intervals of time.
    pub rows: Vec<Row>,
    /// The running and waiting tasks of users over time. The list is empty unless [`Settings::has_history`]
    /// is set.
    pub history: Vec<HistoryRow>,
    /// The decayed usage of each user at the end, or `None` if users are not ordered by usage.
    pub usage: Option<Vec<f64>>,
    /// Notes from the source of the tasks.
    pub notes: Vec<String>,
}

/// Simulates the tasks of `source` on the servers of `problem`.
///
/// All events of one time are processed together: tasks end, machines change, users leave, and tasks arrive,
/// in this order. Then all tasks that fit are placed. From time to time `progress` is called with the
/// simulated time and the number of events.
///
/// # Errors
/// Returns a [`SimulateError`] if the run cannot start or a limit ends it.
pub fn simulate(
    problem: &Problem,
    source: &mut dyn Source,
    settings: &Settings,
    progress: &mut dyn FnMut(f64, u64),
) -> Result<Run, SimulateError> {
    let mut observer = |time: f64, events: u64| progress(time, events);
    // This observer never stops the run, so the error cannot occur.
    simulate_from(problem, source, settings, None, &mut observer)?
        .ok_or_else(|| SimulateError::Checkpoint("stopped the run".to_owned()))
}

/// Simulates like [`simulate`], but continues from the checkpoint `from` if it is given. Returns `None` if
/// the observer stops the run.
///
/// `source` must be at its beginning. Arrivals before the checkpoint are read again and skipped.
///
/// # Errors
/// Returns a [`SimulateError`] in the same cases as [`simulate`], and [`SimulateError::Checkpoint`] if the
/// checkpoint does not belong to the run.
pub fn simulate_from(
    problem: &Problem,
    source: &mut dyn Source,
    settings: &Settings,
    from: Option<&Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Option<Run>, SimulateError> {
    let whole = settings.changing.as_ref().map_or(problem, |changing| &changing.whole);
    schedule_among(problem, whole, settings.policy, settings.seed, |scheduler| {
        let mut by_usage;
        let scheduler = match &settings.usage {
            Some(order) => {
                by_usage = ByUsage::new(scheduler, whole, order);
                &mut by_usage as &mut dyn Scheduler
            }
            None => scheduler,
        };
        let mut simulation = Simulation::new(problem, scheduler, settings)?;
        if from.is_some() && (settings.usage.is_some() || settings.has_history) {
            let why = "does not keep past usage or a history: start such a run anew";
            return Err(SimulateError::Checkpoint(why.to_owned()));
        }
        if let Some(checkpoint) = from {
            simulation.restore(checkpoint, source)?;
        }
        simulation.run(source, observer)
    })?
}

mod cluster;
mod gangs;

pub use cluster::Changing;
use cluster::Cluster;

struct Simulation<'a> {
    problem: &'a Problem,
    scheduler: &'a mut dyn Scheduler,
    settings: &'a Settings,
    running: Heap,
    jobs: Jobs,
    recorder: Recorder,
    finished: Vec<FinishedJob>,
    departures: std::vec::IntoIter<(f64, usize)>,
    placed: Vec<(u32, u32)>,
    /// The runs in progress by their numbers, if runs are tracked.
    runs: BTreeMap<u32, gangs::Started>,
    /// The machines, or `None` if machines do not come and go during the run.
    cluster: Option<Cluster>,
    /// The memory of tasks and jobs.
    memory: Growing,
    n_placed: u64,
    hash: u64,
    events: u64,
    /// The number of events up to the last time at which a task had an event.
    events_of_tasks: u64,
    now: f64,
    /// The number of arrivals that the source has returned.
    arrivals_read: u64,
    /// The next arrival, or `None` if there are no more arrivals.
    next_arrival: Option<Arrival>,
    /// The number of departures so far.
    departed: usize,
}

impl<'a> Simulation<'a> {
    fn new(
        problem: &'a Problem,
        scheduler: &'a mut dyn Scheduler,
        settings: &'a Settings,
    ) -> Result<Self, SimulateError> {
        if let (Some(every), Some(horizon)) = (settings.every, settings.horizon)
            && horizon / every >= MAX_ROWS as f64
        {
            return Err(SimulateError::TooManyRows { every, horizon, limit: MAX_ROWS });
        }
        let resources = problem.n_resources();
        let has_usage = scheduler.usage_at(0.0).is_some();
        let mut recorder = Recorder::new(problem.n_users(), resources, settings.every, has_usage);
        if let Some(horizon) = settings.horizon {
            recorder.need_rows(horizon);
        }
        if settings.has_history {
            recorder.keep_history();
        }
        let draws = (0..problem.n_users()).map(|n| Draw::new(settings.seed, streams(n).0)).collect();
        let leaves = settings.leaves.iter().enumerate();
        let mut departures: Vec<(f64, usize)> = leaves.filter_map(|(n, at)| Some(((*at)?, n))).collect();
        departures.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let cluster = settings.changing.as_ref().map(|changing| {
            changing.machines.empty.iter().for_each(|place| scheduler.close(*place as usize));
            Cluster::new(problem, changing)
        });
        if let Some(cluster) = &cluster {
            recorder.set_there(cluster.servers(), cluster.capacity(), 0.0);
        }
        Ok(Self {
            problem,
            scheduler,
            settings,
            running: Heap::default(),
            jobs: Jobs::new(draws),
            recorder,
            finished: Vec::new(),
            departures: departures.into_iter(),
            placed: Vec::new(),
            runs: BTreeMap::new(),
            cluster,
            memory: Growing::new("the state of the tasks and jobs of the simulation"),
            n_placed: 0,
            hash: 0,
            events: 0,
            events_of_tasks: 0,
            now: 0.0,
            arrivals_read: 0,
            next_arrival: None,
            departed: 0,
        })
    }

    fn run(
        mut self,
        source: &mut dyn Source,
        observer: &mut dyn Observer,
    ) -> Result<Option<Run>, SimulateError> {
        let horizon = self.settings.horizon.unwrap_or(f64::INFINITY);
        let mut looked = self.events;
        let mut is_stopped = false;
        self.next_arrival = self.next(source)?;
        // A run from a checkpoint always processes a few event times before it can stop. A run that is
        // resumed repeatedly therefore reaches its end.
        let first_look = if self.events > 0 { MOMENTS_BETWEEN_LOOKS } else { 0 };
        for moment in 0_u64.. {
            let looks = moment >= first_look && moment.is_multiple_of(MOMENTS_BETWEEN_LOOKS);
            if looks && is_over(observer.until()) {
                is_stopped = true;
                if !observer.look(self.now, self.events, &mut || self.checkpoint())? {
                    return Ok(None);
                }
                break;
            }
            let leaves = self.departures.as_slice().first().map_or(f64::INFINITY, |(at, _)| *at);
            let comes = self.next_arrival.map_or(f64::INFINITY, |arrival| arrival.at);
            let changes = self.next_change().map_or(f64::INFINITY, |change| change.at);
            let others = leaves.min(comes).min(changes);
            // Without a horizon the run ends with its tasks. Later changes of machines and users are ignored.
            let is_over = horizon == f64::INFINITY && comes == f64::INFINITY && self.recorder.n_present == 0;
            let next = if is_over { f64::INFINITY } else { self.next_end(others).min(others) };
            if next > horizon || next == f64::INFINITY {
                break;
            }
            let now = self.now;
            if next < now {
                let source_name = "the processing of the arrivals".to_owned();
                return Err(SimulateError::OutOfOrder { source_name, before: now, now: next });
            }
            self.process_events(next, source)?;
            if self.events - looked >= observer.every() {
                looked = self.events;
                if !observer.look(next, self.events, &mut || self.checkpoint())? {
                    return Ok(None);
                }
            }
        }
        let end = match self.settings.horizon {
            _ if is_stopped => self.now,
            Some(horizon) => {
                self.advance(horizon)?;
                horizon
            }
            None => {
                self.recorder.rewind();
                self.events = self.events_of_tasks;
                self.recorder.last
            }
        };
        let scheduler = &*self.scheduler;
        let usage = scheduler.usage_at(end);
        let history = self.recorder.history(end);
        let task_time = self.recorder.finish(end, &|time| scheduler.usage_at(time));
        let there = self.recorder.there_over_time(end);
        Ok(Some(Run {
            seed: self.settings.seed,
            end,
            is_stopped,
            events: self.events,
            placements: self.hash,
            tasks: self.recorder.tasks,
            task_time,
            there,
            jobs_submitted: self.jobs.submitted,
            jobs: self.finished,
            rows: self.recorder.rows,
            history,
            usage,
            notes: source.notes(),
        }))
    }

    /// Processes all events of one time.
    fn process_events(&mut self, now: f64, source: &mut dyn Source) -> Result<(), SimulateError> {
        charge(cost::MOMENT, "the run");
        self.advance(now)?;
        self.now = now;
        self.scheduler.set_time(now);
        while self.running.next_end() == Some(now)
            && let Some(task) = self.running.pop()
        {
            self.end(&task, now);
        }
        self.change_machines(now)?;
        while let Some(&(at, user)) = self.departures.as_slice().first()
            && at == now
        {
            self.departures.next();
            self.departed += 1;
            self.leave(user, now);
        }
        while let Some(arrival) = self.next_arrival.filter(|arrival| arrival.at == now) {
            let user = arrival.user as usize;
            let leaves = self.settings.leaves.get(user).copied().flatten();
            if leaves.is_none_or(|at| at > now) {
                self.can_come(&arrival)?;
                self.jobs.submit(&arrival)?;
                self.scheduler.submit(user, arrival.tasks);
                self.recorder.submit(user, arrival.tasks, now)?;
                self.events += 1;
                self.need(0);
            }
            self.next_arrival = self.next(source)?;
        }
        self.place(now)?;
        self.recorder.note_history(now);
        if self.recorder.last == now {
            self.events_of_tasks = self.events;
        }
        Ok(())
    }

    /// Charges memory for the present state and for `starts` more tasks that start.
    fn need(&mut self, starts: usize) {
        /// Bytes of a running task.
        const RUNNING: usize = 40;
        /// Additional bytes of a tracked run, with its tree of servers.
        const RUN: usize = 150;
        let of_run = if self.tracks_runs() { RUNNING + RUN } else { RUNNING };
        let started = (self.running.len() + starts).saturating_mul(of_run);
        let finished = self.finished.len() * size_of::<FinishedJob>();
        self.memory.need((started + finished + self.jobs.bytes()) as u64);
    }

    fn next(&mut self, source: &mut dyn Source) -> Result<Option<Arrival>, SimulateError> {
        charge(cost::ARRIVAL, "the processing of the arrivals");
        let arrival = source.next()?;
        self.arrivals_read += u64::from(arrival.is_some());
        Ok(arrival)
    }

    /// Returns a digest of everything that decides the course of this run.
    fn identity(&self) -> u64 {
        // The problem states the users and servers. The settings state everything else.
        let text = format!("{:?}\n{:?}", self.problem, self.settings);
        digest(text.bytes())
    }

    fn checkpoint(&self) -> Checkpoint {
        // Words have 8 bytes, like most values of the state. A growing list may reserve twice its size.
        room(2 * (self.memory.bytes() + self.recorder.bytes()), "the checkpoint");
        let mut to = Vec::new();
        to.push(self.arrivals_read - u64::from(self.next_arrival.is_some()));
        to.extend([self.departed as u64, self.events_of_tasks, self.n_placed, self.hash]);
        to.push(self.scheduler.draw().taken());
        self.jobs.save(&mut to);
        self.recorder.save(&mut to);
        // Stopped runs may still be in the queue of ends. They are left out of the checkpoint.
        let is_there = |task: &&Running| self.cluster.is_none() || self.runs.contains_key(&task.run);
        let running: Vec<&Running> = self.running.tasks().filter(is_there).collect();
        list(&mut to, running.into_iter(), |to, task| task.save(to));
        self.finished.save(&mut to);
        list(&mut to, self.runs.iter(), |to, (run, started)| {
            run.save(to);
            started.save(to);
        });
        to.push(self.cluster.as_ref().map_or(0, |cluster| cluster.changed as u64));
        to.push(self.cluster.as_ref().map_or(0, |cluster| u64::from(cluster.next_run)));
        Checkpoint { of: self.identity(), time: self.now, events: self.events, words: to }
    }

    fn restore(&mut self, checkpoint: &Checkpoint, source: &mut dyn Source) -> Result<(), SimulateError> {
        let bad = |why: &str| SimulateError::Checkpoint(why.to_owned());
        if checkpoint.of != self.identity() {
            return Err(bad("is of another scenario, seed or policy"));
        }
        (self.now, self.events) = (checkpoint.time, checkpoint.events);
        let mut from = Reader(&checkpoint.words);
        let (users, servers) = (self.problem.n_users(), self.scheduler.n_servers());
        // The source is at its beginning: arrivals up to the checkpoint are skipped.
        for _ in 0..from.read::<u64>()? {
            if self.next(source)?.is_none() {
                return Err(bad("is of a longer trace"));
            }
        }
        self.departed = from.read::<u64>()? as usize;
        Reader::check(self.departed <= self.departures.len())?;
        self.departures.by_ref().take(self.departed).for_each(drop);
        (self.events_of_tasks, self.n_placed, self.hash) = (from.read()?, from.read()?, from.read()?);
        let mut draw = self.scheduler.draw().clone();
        draw.skip(from.read()?);
        self.jobs.restore(&mut from)?;
        self.recorder.restore(&mut from)?;
        let jobs = self.jobs.len();
        let running: Vec<Running> = from.read()?;
        self.finished = from.read()?;
        let runs: Vec<(u32, gangs::Started)> = from.read()?;
        let (changed, next_run) = (from.read::<u64>()? as usize, from.read()?);
        // A damaged checkpoint must be rejected here, since indices are not checked later.
        let is_there = |user: u32, job: u32| (user as usize) < users && (job as usize) < jobs;
        let is_server = |server: u32| (server as usize) < servers;
        Reader::check(running.iter().all(|task| is_there(task.user, task.job) && is_server(task.server)))?;
        Reader::check(self.finished.iter().all(|job| (job.user as usize) < users))?;
        let fits = |(_, run): &(u32, gangs::Started)| {
            is_there(run.user, run.job) && run.servers.iter().all(|(server, _)| is_server(*server))
        };
        Reader::check(runs.iter().all(fits))?;
        self.restore_machines(changed)?;
        if let Some(cluster) = &mut self.cluster {
            cluster.next_run = next_run;
        }
        let no_room = || bad("has more tasks on a server than fit there");
        let has_tracked_runs = !runs.is_empty();
        for (run, started) in runs {
            for &(server, tasks) in &started.servers {
                if !self.scheduler.go_on(started.user as usize, server as usize, Part { run, tasks })? {
                    return Err(no_room());
                }
            }
            self.remember(run, started);
        }
        // Tracked runs have already occupied their servers above.
        for task in running {
            if !has_tracked_runs && !self.scheduler.occupy(task.user as usize, task.server as usize)? {
                return Err(no_room());
            }
            self.running.push(task);
        }
        for (user, tasks) in self.recorder.tasks.iter().enumerate() {
            self.scheduler.submit(user, tasks.waiting());
        }
        // Tasks that waited when the checkpoint was made fit on no server.
        if !self.scheduler.is_at_rest()? {
            return Err(bad("has tasks waiting that fit"));
        }
        self.scheduler.set_draw(draw);
        Ok(())
    }

    /// Returns whether the policy is `slots`. Under this policy a task may need more slots than any server
    /// has, although its resources fit. The task then waits forever.
    fn is_of_slots(&self) -> bool {
        matches!(self.settings.policy, Policy::Slots { .. })
    }

    fn advance(&mut self, time: f64) -> Result<(), SimulateError> {
        let every = self.settings.every.unwrap_or(f64::INFINITY);
        let too_many = SimulateError::TooManyRows { every, horizon: time, limit: MAX_ROWS };
        let scheduler = &*self.scheduler;
        if self.recorder.advance(time, &|time| scheduler.usage_at(time)) { Ok(()) } else { Err(too_many) }
    }

    fn end(&mut self, task: &Running, now: f64) {
        let mut tasks = 1;
        if self.tracks_runs() {
            // A run that was stopped no longer exists. The servers of a run may have changed since it started.
            let Some((_, started)) = self.stop(task.run) else { return };
            tasks = started.tasks();
        } else {
            self.scheduler.release(task.user as usize, task.server as usize);
        }
        self.recorder.complete(task.user as usize, tasks, now);
        self.finished.extend(self.jobs.finish(task.job, tasks, now));
        self.events += tasks;
    }

    /// Returns whether runs are tracked one by one, because they can be stopped.
    fn tracks_runs(&self) -> bool {
        self.cluster.is_some() || matches!(self.settings.policy, Policy::Tree(_))
    }

    fn leave(&mut self, user: usize, now: f64) {
        self.recorder.withdraw(user, now);
        self.scheduler.withdraw(user);
        self.jobs.withdraw(user as u32);
        self.events += 1;
    }

    /// Places the tasks that fit and draws their running times.
    fn place(&mut self, now: f64) -> Result<(), SimulateError> {
        let mut placed = std::mem::take(&mut self.placed);
        self.scheduler.fill(&mut placed)?;
        self.need(placed.len());
        charge(cost::START.saturating_mul(placed.len() as u64), "the processing of the tasks that start");
        if !self.scheduler.runs().is_empty() || !self.scheduler.stopped().is_empty() {
            self.stop_runs(now);
            self.start_runs(&placed, now);
            self.placed = placed;
            return Ok(());
        }
        for &(user, server) in &placed {
            let Some((job, mut duration)) = self.jobs.start(user) else { continue };
            if let Some(durations) = &self.settings.durations {
                duration = durations.get(self.n_placed as usize).copied().unwrap_or(duration);
            }
            let (end, mut run) = (now + duration, 0);
            if let Some(cluster) = &mut self.cluster {
                run = cluster.next_run;
                cluster.next_run = run.checked_add(1).ok_or(SimulateError::TooManyRuns(u32::MAX))?;
                self.remember(run, gangs::Started { user, job, end, duration, servers: vec![(server, 1)] });
            }
            self.running.push(Running { end, user, server, job, run });
            self.record_start(user, server, 1, now);
        }
        self.placed = placed;
        Ok(())
    }

    /// Records that tasks of a user have started on a server.
    fn record_start(&mut self, user: u32, server: u32, tasks: u64, now: f64) {
        self.recorder.start(user as usize, tasks, now);
        self.n_placed += tasks;
        let place = u64::from(server) * 31 + u64::from(user);
        self.hash = hashed(self.hash, place, tasks);
    }
}

/// Returns the hash of a history that continues with `tasks` placements of one task. `place` is the number
/// that encodes the user and the server of each placement.
fn hashed(hash: u64, place: u64, mut tasks: u64) -> u64 {
    // One placement is the map `h -> factor h + more`. Repeated squaring gives the map of `tasks` placements.
    let (mut factor, mut more) = (1_000_003_u64, place);
    let (mut all_factor, mut all_more) = (1_u64, 0_u64);
    while tasks > 0 {
        if tasks % 2 == 1 {
            all_more = all_more.wrapping_mul(factor).wrapping_add(more);
            all_factor = all_factor.wrapping_mul(factor);
        }
        more = more.wrapping_mul(factor).wrapping_add(more);
        factor = factor.wrapping_mul(factor);
        tasks /= 2;
    }
    hash.wrapping_mul(all_factor).wrapping_add(all_more) & HASH_BITS
}

/// The number of event times between two readings of the clock. This many event times take a few
/// microseconds.
const MOMENTS_BETWEEN_LOOKS: u64 = 8;

/// The mask of the 48 bits of the hash of placements.
const HASH_BITS: u64 = (1 << 48) - 1;

#[cfg(test)]
mod tests {
    use super::{HASH_BITS, hashed};

    #[test]
    fn batches_of_placements_have_the_same_hash_as_single_ones() {
        for (place, tasks) in [(0, 1), (7, 2), (31, 3), (1_000, 64), (u64::from(u32::MAX) * 32, 1_000)] {
            let one = |hash: u64| hash.wrapping_mul(1_000_003).wrapping_add(place) & HASH_BITS;
            let expected = (0..tasks).fold(12_345, |hash, _| one(hash));
            assert_eq!(hashed(12_345, place, tasks), expected, "{place} {tasks}");
        }
        assert_eq!(hashed(5, 9, 0), 5);
    }
}
