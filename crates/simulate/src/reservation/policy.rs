//! Policies that admit jobs, and errors of runs.

use evenhand_budget::charge;
use evenhand_mechanisms::filling::Draw;
use evenhand_packing::PackingError;
use thiserror::Error;

/// The policies of admission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Policy {
    /// The Dynamic Reservation Algorithm, with a reserve of slots for every type (`g` in the paper).
    Dra {
        /// The number of reserved slots of each type.
        reserve: u64,
    },
    /// The Dynamic Reservation Algorithm with preemption (Reservation, section 7.2).
    ///
    /// When a job of higher priority is rejected, jobs of priority 0 are preempted, the smallest first. Preemption ends
    /// when the total size of the preempted jobs reaches the reserve times the size of the rejected job. Preempted jobs
    /// keep the reward that they have earned, and earn no more.
    Preempting {
        /// The number of reserved slots of each type.
        reserve: u64,
        /// The priority of each type.
        priorities: Vec<u32>,
    },
    /// Fixed slots from the optimum for the loads of the problem.
    Static,
    /// Admission on the least loaded of `d` random servers.
    PowerOfD {
        /// The number of random servers.
        d: usize,
    },
}

/// The error for a policy that needs capacities if the problem states configurations instead.
pub(super) const NEEDS_CAPACITY: &str =
    "`power_of_d` and `priorities` compare demands with capacities, which `configurations` do not state";

impl Policy {
    /// Returns whether the policy compares demands with capacities.
    pub(super) fn needs_capacity(&self) -> bool {
        matches!(self, Self::PowerOfD { .. } | Self::Preempting { .. })
    }

    /// Returns a short description of the policy.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Dra { reserve } => format!("dra, reserve {reserve}"),
            Self::Preempting { reserve, .. } => format!("dra with preemption, reserve {reserve}"),
            Self::Static => "static slots".to_owned(),
            Self::PowerOfD { d } => format!("power of {d} choices"),
        }
    }
}

/// How the Dynamic Reservation Algorithm classifies the servers of one configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// The number of slots of each type.
    pub configuration: Vec<u64>,
    /// The number of servers that the greedy placement gives to the configuration.
    pub wanted: usize,
    /// The number of servers of the configuration in the Accept Group.
    pub accepting: usize,
    /// The number of servers of the configuration in the Reject Group.
    pub rejecting: usize,
}

/// An error that prevents a run of admission.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// The greedy placement failed.
    #[error(transparent)]
    Packing(#[from] PackingError),
    /// A time or a number has no meaning.
    #[error("{0}")]
    Setting(&'static str),
    /// Jobs come closer to each other than neighbouring doubles.
    #[error(
        "{rate:.1e} jobs arrive in a unit of time, but near {at:e} the times of double precision are {:.1e} apart: \
        use lower rates or an earlier end",
        at.next_up() - at
    )]
    TooDense {
        /// The number of jobs per unit of time.
        rate: f64,
        /// The last time at which jobs arrive.
        at: f64,
    },
    /// Not all jobs at time 0 fit on the servers.
    #[error("the servers have room for only {fit} of the jobs of type `{name}` that are present at time 0")]
    Initial {
        /// The name of the job type.
        name: String,
        /// The number of jobs of the type that fit.
        fit: u64,
    },
    /// A scenario is too large to be run.
    #[error("too large: {what} would be {found:.1e}, at most {most:.0e} are run")]
    TooLarge {
        /// The quantity that is too large.
        what: &'static str,
        /// The value of the quantity.
        found: f64,
        /// The largest allowed value of the quantity.
        most: f64,
    },
    /// A job is invalid.
    #[error("job {index}: {why}")]
    Job {
        /// The index of the job, from 0.
        index: usize,
        /// The mistake, in words.
        why: &'static str,
    },
}

/// Returns the reserve that the paper's conditions allow for `servers` servers: `ceil(ln(L)^1.5)`, where `L`
/// is their number.
#[must_use]
pub fn reserve(servers: usize) -> u64 {
    let log = libm::log(servers.max(1) as f64);
    (log * log.sqrt()).ceil() as u64
}

/// An algorithm that admits jobs, and decides which jobs move.
pub(super) trait Admit {
    /// Places a job of type `j` that is present at time 0, before all arrivals. Returns its server, or `None`
    /// if the job fits on no server.
    fn begin(&mut self, j: usize) -> Option<usize>;

    /// Ends the placement of the jobs that are present at time 0.
    fn begun(&mut self) -> Result<(), AdmissionError> {
        Ok(())
    }

    /// Decides on a job of type `j` that arrives. Returns the server that takes it, or `None` if it is rejected.
    fn admit(&mut self, j: usize, draw: &mut Draw) -> Result<Option<usize>, AdmissionError>;

    /// Removes a job of type `j` from `server`. Returns the server from which another job of this type moves
    /// to `server`, or `None` if no job moves.
    fn leave(&mut self, j: usize, server: usize) -> Result<Option<usize>, AdmissionError>;

    /// Frees capacity for a job of type `j` that was rejected. Returns the types and servers of the jobs that
    /// are preempted for it.
    fn make_room(&mut self, _j: usize) -> Result<Vec<(usize, usize)>, AdmissionError> {
        Ok(Vec::new())
    }

    /// Acts at a regular point of time. Algorithms that do not act at regular times do nothing.
    fn tick(&mut self) -> Result<(), AdmissionError> {
        Ok(())
    }

    /// Returns the number of slots of each type on all servers, filled or not.
    fn slots(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Returns the configurations, each with the number of servers that are effectively assigned to it.
    fn effective(&self) -> Vec<(Vec<u64>, usize)> {
        Vec::new()
    }

    /// Returns the classification of the servers of every configuration.
    fn classified(&self) -> Vec<Classified> {
        Vec::new()
    }
}

/// The placement of the jobs that are present at time 0.
///
/// The paper's policies start from any state, and the paper does not say how the state arises. Here every job
/// is placed on the first server on which it fits together with the jobs placed before it. Jobs of one type
/// are placed one after the other. A server that cannot take a job of a type can therefore take no further
/// job of that type.
#[derive(Default)]
pub(super) struct First {
    of_type: usize,
    server: usize,
}

impl First {
    /// Places a job of type `j` and counts it in `jobs`, which is indexed by server and then by type. Returns
    /// its server, or `None` if it fits on no server.
    pub fn next(
        &mut self,
        j: usize,
        jobs: &mut [Vec<u64>],
        is_feasible: impl Fn(&[u64]) -> bool,
    ) -> Option<usize> {
        /// Elementary steps for each type when the jobs of a server are added up.
        const OF_TYPE: u64 = 50;
        if self.of_type != j {
            *self = Self { of_type: j, server: 0 };
        }
        while let Some(on) = jobs.get_mut(self.server) {
            charge(OF_TYPE * on.len() as u64, "the processing of the jobs that are present at time 0");
            on[j] += 1;
            if is_feasible(on) {
                return Some(self.server);
            }
            on[j] -= 1;
            self.server += 1;
        }
        None
    }
}
