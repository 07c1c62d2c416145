//! Schedulers as they are seen from outside: tasks come, leave and finish, and whatever fits is placed.

use super::draw::Draw;
use crate::error::MechanismError;

/// The tasks of a run on one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Number of the run.
    pub run: u32,
    /// Its tasks there.
    pub tasks: u64,
}

/// Servers on which tasks are placed as they come and go. Users are those of the problem; servers are the
/// single ones, class by class in the order of the problem.
pub trait Scheduler {
    /// Single servers.
    fn n_servers(&self) -> usize;

    /// Tasks of `user` that start together and end together.
    fn gang(&self, _user: usize) -> u64 {
        1
    }

    /// Whether a task of `user` fits on some empty server; where it runs gangs, whether a whole one does.
    fn fits_somewhere(&self, user: usize) -> bool;

    /// So many more tasks of `user` wait. Those of a user that fits nowhere are not remembered.
    fn submit(&mut self, user: usize, tasks: u64);

    /// The tasks of `user` that wait leave; says how many.
    fn withdraw(&mut self, user: usize) -> u64;

    /// Tasks of `user` that wait.
    fn waiting(&self, user: usize) -> u64;

    /// Tasks of `user` that run.
    fn running(&self, user: usize) -> u64;

    /// A task of `user` on `server`, where one runs, is finished.
    fn release(&mut self, user: usize, server: usize);

    /// The same for tasks of a run, where runs are told apart ([`runs`](Self::runs)).
    fn finish(&mut self, user: usize, server: usize, part: Part) {
        (0..part.tasks).for_each(|_| self.release(user, server));
    }

    /// Places a task of `user` on `server` whatever the rule says: for going on where another run stopped.
    /// Says whether it fits there.
    ///
    /// # Errors
    /// [`MechanismError::Limit`] beyond the tasks of [`fill`](super::fill()).
    fn occupy(&mut self, user: usize, server: usize) -> Result<bool, MechanismError>;

    /// The same for tasks of a run: all of them go there, or none.
    ///
    /// # Errors
    /// As [`Scheduler::occupy`].
    fn go_on(&mut self, user: usize, server: usize, part: Part) -> Result<bool, MechanismError> {
        for placed in 0..part.tasks {
            if !self.occupy(user, server)? {
                (0..placed).for_each(|_| self.release(user, server));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Server `server`, on which nothing runs, is taken away: nothing fits there.
    fn close(&mut self, server: usize);

    /// A server that was taken away is there again, empty.
    fn open(&mut self, server: usize);

    /// Whether a filling has nothing to do: after tasks were placed for going on, and those that waited have come.
    ///
    /// # Errors
    /// As [`Scheduler::occupy`].
    fn is_at_rest(&mut self) -> Result<bool, MechanismError> {
        let mut placed = Vec::new();
        self.fill(&mut placed)?;
        Ok(placed.is_empty())
    }

    /// Places tasks until none fits; `(user, server)` of each, in order, into `placed`, which is cleared. Where runs
    /// can be stopped the tasks of a run on one server are one entry ([`runs`](Self::runs)).
    ///
    /// # Errors
    /// As [`Scheduler::occupy`].
    fn fill(&mut self, placed: &mut Vec<(u32, u32)>) -> Result<(), MechanismError>;

    /// By entry that the last filling placed: its run and its tasks, where runs can be stopped. Gangs are runs; numbers
    /// ascend in the order of their starts.
    fn runs(&self) -> &[Part] {
        &[]
    }

    /// Runs that the last filling stopped, whose tasks wait again. None of them started in the same filling.
    fn stopped(&self) -> &[u32] {
        &[]
    }

    /// Where the stream of random choices stands.
    fn draw(&self) -> &Draw;

    /// Goes on with random choices from there.
    fn set_draw(&mut self, draw: Draw);
}
