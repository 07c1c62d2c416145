//! The interface of schedulers: tasks arrive, leave and finish, and all tasks that fit are placed.

use super::draw::Draw;
use crate::error::MechanismError;

/// The tasks of a run on one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The number of the run.
    pub run: u32,
    /// The number of tasks of the run on the server.
    pub tasks: u64,
}

/// Servers on which tasks are placed while tasks arrive and finish. Users are the users of the problem.
/// Servers are the single servers, class by class in the order of the problem.
pub trait Scheduler {
    /// Returns the number of single servers.
    fn n_servers(&self) -> usize;

    /// Returns the number of tasks of `user` that start and end together.
    fn gang(&self, _user: usize) -> u64 {
        1
    }

    /// Returns whether a task of `user`, or a whole gang if it runs gangs, fits on empty servers.
    fn fits_somewhere(&self, user: usize) -> bool;

    /// Adds waiting tasks of `user`. Tasks of a user that fits nowhere are ignored.
    fn submit(&mut self, user: usize, tasks: u64);

    /// Removes the waiting tasks of `user` and returns their number.
    fn withdraw(&mut self, user: usize) -> u64;

    /// Returns the number of waiting tasks of `user`.
    fn waiting(&self, user: usize) -> u64;

    /// Returns the number of running tasks of `user`.
    fn running(&self, user: usize) -> u64;

    /// Ends a task of `user` that runs on `server`.
    fn release(&mut self, user: usize, server: usize);

    /// Ends tasks of a run, for schedulers that distinguish runs ([`runs`](Self::runs)).
    fn finish(&mut self, user: usize, server: usize, part: Part) {
        (0..part.tasks).for_each(|_| self.release(user, server));
    }

    /// Places a task of `user` on `server`, whatever the rule says, and returns whether the task fits there.
    /// This restores the state in which an interrupted simulation stopped.
    ///
    /// # Errors
    /// Returns [`MechanismError::Limit`] beyond the number of tasks of [`fill`](super::fill()).
    fn occupy(&mut self, user: usize, server: usize) -> Result<bool, MechanismError>;

    /// Places all tasks of a part of a run on `server` as [`Scheduler::occupy`] does, or none of them.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Scheduler::occupy`].
    fn go_on(&mut self, user: usize, server: usize, part: Part) -> Result<bool, MechanismError> {
        for placed in 0..part.tasks {
            if !self.occupy(user, server)? {
                (0..placed).for_each(|_| self.release(user, server));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Removes `server`, on which no task may run at that time. From then on, no task fits there.
    fn close(&mut self, server: usize);

    /// Adds a removed server again, empty.
    fn open(&mut self, server: usize);

    /// Sets the time of the following calls. Only schedulers whose order depends on time use the value.
    fn set_time(&mut self, _time: f64) {}

    /// Returns the decayed past usage of each user at a time that is not before the time that was set last, as if
    /// nothing happened until then. Returns `None` if the scheduler does not order users by usage.
    fn usage_at(&self, _time: f64) -> Option<Vec<f64>> {
        None
    }

    /// Returns whether a filling would place no task. Call this after all tasks of a restored state were
    /// placed or submitted.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Scheduler::occupy`].
    fn is_at_rest(&mut self) -> Result<bool, MechanismError> {
        let mut placed = Vec::new();
        self.fill(&mut placed)?;
        Ok(placed.is_empty())
    }

    /// Places tasks until none fits. Clears `placed`, and writes the pairs `(user, server)` to it in the
    /// order of placement. If runs can be stopped, all tasks of a run on one server are one entry
    /// ([`runs`](Self::runs)).
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Scheduler::occupy`].
    fn fill(&mut self, placed: &mut Vec<(u32, u32)>) -> Result<(), MechanismError>;

    /// Returns the run and the number of tasks for each entry that the last filling placed, if runs can be
    /// stopped. Runs are gangs that have started. Their numbers ascend in the order of their starts.
    fn runs(&self) -> &[Part] {
        &[]
    }

    /// Returns the runs that the last filling stopped. The tasks of these runs wait again. None of these runs
    /// started in the same filling.
    fn stopped(&self) -> &[u32] {
        &[]
    }

    /// Returns the stream of random choices at its current position.
    fn draw(&self) -> &Draw;

    /// Sets the stream of random choices, to continue from a position in it.
    fn set_draw(&mut self, draw: Draw);
}
