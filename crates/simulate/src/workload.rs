//! Sources of arriving tasks, in the order of their times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use evenhand_mechanisms::filling::Draw;

use crate::duration::{Duration, Time};
use crate::error::SimulateError;
use crate::scenario::{Arrivals, Job, Poisson};

/// Tasks of one user that arrive together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Arrival {
    /// The time of arrival, in the time unit of the scenario.
    pub at: f64,
    /// The index of the user in the problem.
    pub user: u32,
    /// The number of tasks.
    pub tasks: u64,
    /// The running time of each task.
    pub duration: Duration,
    /// The job of the trace to which the tasks belong, if the tasks of that job arrive one by one.
    pub of: Option<JobOfTrace>,
}

/// A job of a trace whose tasks arrive one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobOfTrace {
    /// A number that no other job of the trace has.
    pub number: u64,
    /// The number of tasks of the job.
    pub tasks: u64,
}

/// A source of arrivals, in the order of their times.
pub trait Source {
    /// Returns the next arrival, or `None` if there are no more arrivals.
    ///
    /// # Errors
    /// Returns an error if the trace or table is malformed, or its times are out of order.
    fn next(&mut self) -> Result<Option<Arrival>, SimulateError>;

    /// Returns notes for the reader once all arrivals have been read, such as the number of tasks left out.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The stated and the random jobs of the users of a scenario.
pub struct Stated {
    streams: Vec<Stream>,
    /// The time of the next arrival of each stream, with the index of the stream.
    next: BinaryHeap<Reverse<(Time, usize)>>,
}

/// The jobs of one user.
struct Stream {
    user: u32,
    jobs: Jobs,
    leaves: f64,
    peeked: Option<Job>,
}

enum Jobs {
    Listed(std::vec::IntoIter<Job>),
    Poisson { poisson: Poisson, at: f64, draw: Draw },
}

/// Returns the numbers of two random streams of user `n`: the stream of running times and the stream of
/// arrival times. Streams 0 and 1 belong to the policy and to the servers.
pub(crate) fn streams(n: usize) -> (u64, u64) {
    (2 + 2 * n as u64, 3 + 2 * n as u64)
}

impl Stated {
    /// Creates the arrivals from the arrivals of each user. `seed` determines the random arrivals.
    #[must_use]
    pub fn new(arrivals: &[Arrivals], seed: u64) -> Self {
        let mut streams_of_users = Vec::new();
        for (n, of_user) in arrivals.iter().enumerate() {
            let leaves = of_user.leaves.unwrap_or(f64::INFINITY);
            let mut push = |jobs| {
                streams_of_users.push(Stream { user: n as u32, jobs, leaves, peeked: None });
            };
            if !of_user.jobs.is_empty() {
                push(Jobs::Listed(of_user.jobs.clone().into_iter()));
            }
            if let Some(poisson) = of_user.poisson {
                let draw = Draw::new(seed, streams(n).1);
                push(Jobs::Poisson { poisson, at: poisson.from, draw });
            }
        }
        let mut stated = Self { streams: streams_of_users, next: BinaryHeap::new() };
        (0..stated.streams.len()).for_each(|which| stated.advance(which));
        stated
    }

    /// Draws or reads the next job of a stream and queues its time.
    fn advance(&mut self, which: usize) {
        let stream = &mut self.streams[which];
        stream.peeked = match &mut stream.jobs {
            Jobs::Listed(jobs) => jobs.next(),
            Jobs::Poisson { poisson, at, draw } => {
                *at += draw.exponential(poisson.rate.recip());
                let job = Job { at: *at, tasks: poisson.tasks, duration: poisson.duration };
                poisson.until.is_none_or(|until| *at < until).then_some(job)
            }
        };
        stream.peeked = stream.peeked.filter(|job| job.at < stream.leaves);
        if let Some(job) = stream.peeked {
            self.next.push(Reverse((Time::of(job.at), which)));
        }
    }
}

impl Source for Stated {
    fn next(&mut self) -> Result<Option<Arrival>, SimulateError> {
        let Some(Reverse((_, which))) = self.next.pop() else { return Ok(None) };
        let (user, job) = (self.streams[which].user, self.streams[which].peeked);
        self.advance(which);
        Ok(job.map(|job| Arrival { at: job.at, user, tasks: job.tasks, duration: job.duration, of: None }))
    }
}
