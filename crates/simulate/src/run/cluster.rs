//! Servers that come, go and change while tasks run on them.

use std::collections::BTreeSet;

use evenhand_mechanisms::filling::Part;
use evenhand_problem::Problem;

use super::Simulation;
use super::gangs::Started;
use crate::error::SimulateError;
use crate::machines::{Change, Machines, What};

/// The machines of a cluster and their changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Changing {
    /// The problem of all machines, each with its first capacity. Shares are fractions of these capacities.
    /// The users and groups are the users and groups of the run.
    pub whole: Problem,
    /// The changes of the machines.
    pub machines: Machines,
}

/// The present machines and the runs on them.
pub(super) struct Cluster {
    /// The runs with tasks in each place. The oldest run has the smallest number.
    runs_by_place: Vec<BTreeSet<u32>>,
    /// The class of each place.
    class: Vec<u32>,
    /// The number of present machines of each class.
    n_present: Vec<u64>,
    /// The capacity of one server as a fraction of the whole capacity, indexed by class and then by resource.
    parts: Vec<Vec<f64>>,
    /// The number of changes so far.
    pub changed: usize,
    /// The number of the next run, if the scheduler does not number runs.
    pub next_run: u32,
}

impl Cluster {
    pub fn new(problem: &Problem, changing: &Changing) -> Self {
        let total = changing.whole.total_capacity();
        let classes = problem.servers().iter();
        let part = |(c, total): (&evenhand_problem::Rational, &evenhand_problem::Rational)| {
            if *total > 0 { (c.clone() / total).to_f64() } else { 0.0 }
        };
        let class: Vec<u32> = classes
            .clone()
            .enumerate()
            .flat_map(|(i, class)| (0..class.count()).map(move |_| i as u32))
            .collect();
        let mut cluster = Self {
            runs_by_place: vec![BTreeSet::new(); class.len()],
            n_present: classes.clone().map(evenhand_problem::ServerClass::count).collect(),
            parts: classes.map(|class| class.capacity().iter().zip(total).map(part).collect()).collect(),
            class,
            changed: 0,
            next_run: 0,
        };
        for place in &changing.machines.empty {
            cluster.n_present[cluster.class[*place as usize] as usize] -= 1;
        }
        cluster
    }

    /// Returns the number of present machines.
    pub fn servers(&self) -> u64 {
        self.n_present.iter().sum()
    }

    /// Returns the present capacity of each resource as a fraction of the whole capacity.
    pub fn capacity(&self) -> Vec<f64> {
        let resources = self.parts.first().map_or(0, Vec::len);
        let of =
            |r: usize| self.n_present.iter().zip(&self.parts).map(|(n, parts)| *n as f64 * parts[r]).sum();
        (0..resources).map(of).collect()
    }

    fn count(&mut self, change: &Change) {
        let mut add = |place: u32, is_there: bool| {
            let there = &mut self.n_present[self.class[place as usize] as usize];
            *there = if is_there { *there + 1 } else { there.saturating_sub(1) };
        };
        match change.what {
            What::Comes => add(change.place, true),
            What::Goes => add(change.place, false),
            What::Becomes(to) => {
                add(change.place, false);
                add(to, true);
            }
        }
        self.changed += 1;
    }

    pub fn starts(&mut self, run: u32, server: u32) {
        self.runs_by_place[server as usize].insert(run);
    }

    pub fn ends(&mut self, run: u32, server: u32) {
        self.runs_by_place[server as usize].remove(&run);
    }
}

impl Simulation<'_> {
    fn changes(&self) -> &[Change] {
        let changing = self.settings.changing.as_ref();
        changing.map_or(&[], |changing| changing.machines.changes.as_slice())
    }

    /// Returns the next change, or `None` if there are no more changes.
    pub(super) fn next_change(&self) -> Option<Change> {
        self.changes().get(self.cluster.as_ref()?.changed).copied()
    }

    /// Processes all machine changes of this time.
    pub(super) fn change_machines(&mut self, now: f64) -> Result<(), SimulateError> {
        let mut evicted: Vec<(u32, Started)> = Vec::new();
        let mut has_changed = false;
        while let Some(change) = self.next_change().filter(|change| change.at <= now) {
            let place = change.place;
            match change.what {
                What::Comes => self.scheduler.open(place as usize),
                What::Goes => {
                    for run in self.runs_on(place) {
                        evicted.extend(self.stop(run));
                    }
                    self.scheduler.close(place as usize);
                }
                What::Becomes(to) => {
                    self.scheduler.open(to as usize);
                    for run in self.runs_on(place) {
                        if !self.move_run(run, place, to)? {
                            evicted.extend(self.stop(run));
                        }
                    }
                    self.scheduler.close(place as usize);
                }
            }
            if let Some(cluster) = &mut self.cluster {
                cluster.count(&change);
            }
            self.events += 1;
            has_changed = true;
        }
        // Every evicted run is put at the front of its queue. The oldest run is put there last, so it starts
        // first.
        evicted.sort_by_key(|(run, _)| std::cmp::Reverse(*run));
        for (_, Started { user, job, duration, servers, .. }) in evicted {
            let tasks = servers.iter().map(|(_, tasks)| tasks).sum();
            self.recorder.evict(user as usize, tasks, now);
            self.jobs.put_back(user, job, tasks, duration);
            self.scheduler.submit(user as usize, tasks);
        }
        if let Some(cluster) = self.cluster.as_ref().filter(|_| has_changed) {
            self.recorder.set_there(cluster.servers(), cluster.capacity(), now);
        }
        Ok(())
    }

    /// Returns the runs with a task in a place, the oldest first.
    fn runs_on(&self, place: u32) -> Vec<u32> {
        let on = self.cluster.iter().flat_map(|cluster| &cluster.runs_by_place[place as usize]);
        on.copied().collect()
    }

    /// Stops all tasks of a run. Returns the run, or `None` if it is not running.
    pub(super) fn stop(&mut self, run: u32) -> Option<(u32, Started)> {
        let started = self.runs.remove(&run)?;
        for &(server, tasks) in started.servers.iter().rev() {
            self.scheduler.finish(started.user as usize, server as usize, Part { run, tasks });
            if let Some(cluster) = &mut self.cluster {
                cluster.ends(run, server);
            }
        }
        Some((run, started))
    }

    /// Moves all tasks of a run from one place to another. Returns whether the tasks fit in the new place.
    fn move_run(&mut self, run: u32, from: u32, to: u32) -> Result<bool, SimulateError> {
        let (Some(started), Some(cluster)) = (self.runs.get_mut(&run), &mut self.cluster) else {
            return Ok(true);
        };
        let user = started.user as usize;
        let Some((server, tasks)) = started.servers.iter_mut().find(|(server, _)| *server == from) else {
            return Ok(true);
        };
        let part = Part { run, tasks: *tasks };
        if !self.scheduler.go_on(user, to as usize, part)? {
            return Ok(false);
        }
        self.scheduler.finish(user, from as usize, part);
        cluster.ends(run, from);
        cluster.starts(run, to);
        *server = to;
        Ok(true)
    }

    /// Returns the end of the next task. Ends of stopped runs that are at most `before` are discarded.
    pub(super) fn next_end(&mut self, before: f64) -> f64 {
        loop {
            let Some(end) = self.running.next_end() else { return f64::INFINITY };
            let may_be_gone = self.cluster.is_some() && end <= before && end.is_finite();
            let is_gone =
                may_be_gone && self.running.first().is_some_and(|task| !self.runs.contains_key(&task.run));
            if !is_gone {
                return end;
            }
            self.running.pop();
        }
    }

    /// Repeats the changes up to a checkpoint.
    pub(super) fn restore_machines(&mut self, changed: usize) -> Result<(), SimulateError> {
        let changes: Vec<Change> = self.changes().iter().take(changed).copied().collect();
        if changes.len() < changed {
            return Err(SimulateError::Checkpoint("has more machine events than the scenario".to_owned()));
        }
        for change in changes {
            match change.what {
                What::Comes => self.scheduler.open(change.place as usize),
                What::Goes => self.scheduler.close(change.place as usize),
                What::Becomes(to) => {
                    self.scheduler.close(change.place as usize);
                    self.scheduler.open(to as usize);
                }
            }
            if let Some(cluster) = &mut self.cluster {
                cluster.count(&change);
            }
        }
        Ok(())
    }
}
