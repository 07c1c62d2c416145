//! What admits jobs, and why there is no run.

use evenhand_budget::charge;
use evenhand_mechanisms::filling::Draw;
use evenhand_packing::PackingError;
use thiserror::Error;

/// How jobs are admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Policy {
    /// The Dynamic Reservation Algorithm, with so many slots in reserve for every type (`g` in the paper).
    Dra {
        /// Slots.
        reserve: u64,
    },
    /// The Dynamic Reservation Algorithm that preempts jobs of priority 0 when one of higher priority is
    /// rejected, the smallest first, until what they took together is the reserve times what that job takes
    /// (Reservation, section 7.2). What they earned stays, what they would have earned is lost.
    Preempting {
        /// Slots.
        reserve: u64,
        /// By type.
        priorities: Vec<u32>,
    },
    /// Slots that do not change, by the optimum for the loads of the problem.
    Static,
    /// The least loaded of so many random servers.
    PowerOfD {
        /// Servers that are asked.
        d: usize,
    },
}

/// Why a policy does not take configurations.
pub(super) const NEEDS_CAPACITY: &str =
    "`power_of_d` and `priorities` compare demands with capacities, of which `configurations` say nothing";

impl Policy {
    /// Whether it compares demands with capacities.
    pub(super) fn needs_capacity(&self) -> bool {
        matches!(self, Self::PowerOfD { .. } | Self::Preempting { .. })
    }

    /// In a few words.
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

/// The servers of a configuration, as the Dynamic Reservation Algorithm has classified them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classified {
    /// Slots by type.
    pub configuration: Vec<u64>,
    /// Servers that the greedy placement gives it.
    pub wanted: usize,
    /// Servers of the Accept Group.
    pub accepting: usize,
    /// Servers of the Reject Group.
    pub rejecting: usize,
}

/// Why there is no run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// The greedy placement failed.
    #[error(transparent)]
    Packing(#[from] PackingError),
    /// Times or numbers that nothing can be made of.
    #[error("{0}")]
    Setting(&'static str),
    /// Jobs that come closer to each other than the numbers of double precision.
    #[error(
        "{rate:.1e} jobs come in a unit of time: times at {at:e} are {:.1e} apart, are kept in double precision, and \
         would not go on",
        at.next_up() - at
    )]
    TooDense {
        /// Jobs in a unit of time.
        rate: f64,
        /// The last time at which they come.
        at: f64,
    },
    /// Jobs that are there at time 0 and have no room.
    #[error("the servers have room for {fit} of the jobs of type `{name}` that are there at time 0")]
    Initial {
        /// The type.
        name: String,
        /// Jobs for which there is room.
        fit: u64,
    },
    /// More than is run.
    #[error("too large: {what} would be {found:.1e}, at most {most:.0e} are run")]
    TooLarge {
        /// What there would be too many of.
        what: &'static str,
        /// How many there would be.
        found: f64,
        /// How many there may be.
        most: f64,
    },
    /// A job that cannot be.
    #[error("job {index}: {why}")]
    Job {
        /// Its place, from 0.
        index: usize,
        /// What is wrong.
        why: &'static str,
    },
}

/// The reserve that the paper's conditions allow, for this number of servers: `ceil(ln(L)^1.5)`.
#[must_use]
pub fn reserve(servers: usize) -> u64 {
    let log = libm::log(servers.max(1) as f64);
    (log * log.sqrt()).ceil() as u64
}

/// Where a job goes and where others move.
pub(super) trait Admit {
    /// A job of type `j` is there at time 0, before all others: the server that has it; `None` where there is no room.
    fn begin(&mut self, j: usize) -> Option<usize>;

    /// All jobs are there that are there at time 0.
    fn begun(&mut self) -> Result<(), AdmissionError> {
        Ok(())
    }

    /// A job of type `j` comes: the server that takes it.
    fn admit(&mut self, j: usize, draw: &mut Draw) -> Result<Option<usize>, AdmissionError>;

    /// A job of type `j` leaves `server`: the server from which one of the same type moves there.
    fn leave(&mut self, j: usize, server: usize) -> Result<Option<usize>, AdmissionError>;

    /// A job of type `j` was rejected: types and servers of the jobs that are preempted for it.
    fn make_room(&mut self, _j: usize) -> Result<Vec<(usize, usize)>, AdmissionError> {
        Ok(Vec::new())
    }

    /// Time for an algorithm that acts from time to time.
    fn tick(&mut self) -> Result<(), AdmissionError> {
        Ok(())
    }

    /// By type: slots of all servers, filled or not.
    fn slots(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Configurations and the servers that are effectively assigned to them.
    fn effective(&self) -> Vec<(Vec<u64>, usize)> {
        Vec::new()
    }

    /// The servers of every configuration.
    fn classified(&self) -> Vec<Classified> {
        Vec::new()
    }
}

/// Servers for the jobs that are there at time 0: the paper's policies go on from any state, and do not say how it
/// came about. Here every job is on the first server on which it fits beside those before it. Jobs of one type come one
/// after the other: a server that is full for one is full for all that follow.
#[derive(Default)]
pub(super) struct First {
    of_type: usize,
    server: usize,
}

impl First {
    /// Counts a job of type `j` on its server among the jobs by server and type; `None` where it fits on none.
    pub fn next(
        &mut self,
        j: usize,
        jobs: &mut [Vec<u64>],
        is_feasible: impl Fn(&[u64]) -> bool,
    ) -> Option<usize> {
        /// Steps for a type of jobs where what a server holds is added up.
        const OF_TYPE: u64 = 50;
        if self.of_type != j {
            *self = Self { of_type: j, server: 0 };
        }
        while let Some(on) = jobs.get_mut(self.server) {
            charge(OF_TYPE * on.len() as u64, "the jobs that are there at time 0");
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
