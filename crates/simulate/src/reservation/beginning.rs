//! Servers for the jobs that are there at time 0: the paper's policies go on from any state, and do not say how it
//! came about. Here every job is on the first server on which it fits beside those before it.

use evenhand_budget::charge;

/// The first server on which a job fits. Jobs of one type come one after the other: a server that is full for one
/// is full for all that follow.
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
