//! Runs that are tracked one by one, because they can be stopped. The tasks of a run start together and end together.

use evenhand_mechanisms::filling::Part;

use super::Simulation;
use crate::checkpoint::words;
use crate::error::SimulateError;
use crate::events::Running;
use crate::workload::Arrival;

/// A run in progress.
pub(super) struct Started {
    pub user: u32,
    pub job: u32,
    /// The time at which the run ends.
    pub end: f64,
    /// The running time of the run.
    pub duration: f64,
    /// The servers of the run, each with the number of the run's tasks on it.
    pub servers: Vec<(u32, u64)>,
}

impl Started {
    pub fn tasks(&self) -> u64 {
        self.servers.iter().map(|(_, tasks)| tasks).sum()
    }
}

words!(Started { user, job, end, duration, servers });

impl Simulation<'_> {
    /// Rejects an arrival whose tasks can never run.
    pub(super) fn can_come(&self, arrival: &Arrival) -> Result<(), SimulateError> {
        let user = arrival.user as usize;
        let name = || self.problem.users()[user].name().to_owned();
        let gang = self.scheduler.gang(user);
        if !self.scheduler.fits_somewhere(user) && !self.is_of_slots() {
            return Err(match gang {
                1 => SimulateError::TaskTooLarge { user: name() },
                tasks => SimulateError::GangTooLarge { user: name(), tasks },
            });
        }
        if !arrival.tasks.is_multiple_of(gang) {
            let (tasks, at) = (arrival.tasks, arrival.at);
            return Err(SimulateError::NoWholeGangs { user: name(), gang, tasks, at });
        }
        Ok(())
    }

    /// Makes the runs that the last filling stopped wait again. They come first in their queues and repeat their
    /// whole running time.
    pub(super) fn stop_runs(&mut self, now: f64) {
        for run in self.scheduler.stopped() {
            let Some(started) = self.runs.remove(run) else { continue };
            if let Some(cluster) = &mut self.cluster {
                started.servers.iter().for_each(|(server, _)| cluster.ends(*run, *server));
            }
            self.running.remove(started.end, *run);
            let (tasks, Started { user, job, duration, .. }) = (started.tasks(), started);
            self.recorder.preempt(user as usize, tasks, now);
            self.jobs.put_back(user, job, tasks, duration);
        }
    }

    /// Stores a run that has started.
    pub(super) fn remember(&mut self, run: u32, started: Started) {
        if let Some(cluster) = &mut self.cluster {
            started.servers.iter().for_each(|(server, _)| cluster.starts(run, *server));
        }
        self.runs.insert(run, started);
    }

    /// Starts the runs that the last filling placed.
    pub(super) fn start_runs(&mut self, placed: &[(u32, u32)], now: f64) {
        let runs = self.scheduler.runs().to_vec();
        let mut at = 0;
        while let Some((&(user, server), &Part { run, .. })) = placed.get(at).zip(runs.get(at)) {
            let entries = runs[at..].iter().take_while(|of| of.run == run).count();
            let servers = placed[at..at + entries].iter().map(|(_, server)| *server);
            let servers: Vec<(u32, u64)> = servers.zip(runs[at..].iter().map(|of| of.tasks)).collect();
            at += entries;
            let tasks = servers.iter().map(|(_, tasks)| tasks).sum();
            let Some((job, mut duration)) = self.jobs.start_together(user, tasks) else { continue };
            if let Some(durations) = &self.settings.durations {
                let given = durations.iter().skip(self.n_placed as usize).take(tasks as usize);
                duration = given.copied().reduce(f64::max).unwrap_or(duration);
            }
            let end = now + duration;
            self.running.push(Running { end, user, server, job, run });
            for &(server, tasks) in &servers {
                self.record_start(user, server, tasks, now);
            }
            self.remember(run, Started { user, job, end, duration, servers });
        }
    }
}
