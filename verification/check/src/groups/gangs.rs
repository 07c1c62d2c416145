//! Decides whether limits on server classes allow a gang. Each limit counts all tasks of the gang on its classes
//! together.

use rug::Rational;

use super::holdings::Holdings;
use crate::work::{self, Checked, ensure_small};

/// The largest number of kinds of classes for one user. Kinds are distinguished by the amounts that the limits count
/// for a task of the user. The search recurses over these kinds.
const KINDS: usize = 200;

/// Returns a number of tasks, rounded down to a whole number and limited to between 0 and `most`.
pub fn whole(tasks: Rational, most: u64) -> u64 {
    if tasks < 1 { 0 } else { tasks.floor().numer().to_u64().map_or(most, |tasks| tasks.min(most)) }
}

/// Classes with the same amounts: on each of these classes, each limit counts the same amount for a task.
struct Kind {
    /// The amount of each limit that a task takes.
    takes: Vec<Rational>,
    /// The number of tasks that fit on the servers of these classes, counted up to the size of a gang on each class.
    tasks: u64,
}

impl Holdings<'_> {
    /// Returns true if a gang of a user fits within the limits. `rooms` states the number of its tasks that fit on each
    /// class, counted up to the size of a gang.
    pub fn leave_gang(&self, n: usize, rooms: &[(usize, u64)]) -> Checked<bool> {
        let problem = self.case.problem;
        let own = Self::on_of_user(self.case, &self.on, n)?;
        let mut kinds: Vec<Kind> = Vec::new();
        for (i, tasks) in rooms.iter().filter(|(_, tasks)| *tasks > 0) {
            work::spend((own.len() + 1) * (kinds.len() + 1))?;
            let takes = |at: &usize| self.on[*at].takes(problem, n, *i).cloned().unwrap_or_default();
            let takes: Vec<Rational> = own.iter().map(takes).collect();
            match kinds.iter_mut().find(|kind| kind.takes == takes) {
                Some(kind) => kind.tasks = kind.tasks.saturating_add(*tasks),
                None => kinds.push(Kind { takes, tasks: *tasks }),
            }
        }
        ensure_small(kinds.len() <= KINDS, "limits on server classes")?;
        kinds.sort_by(|a, b| a.takes.cmp(&b.takes));
        let left: Vec<Rational> =
            own.iter().map(|at| self.on[*at].left.clone().max(Rational::new())).collect();
        fill(&kinds, problem.groups.members[n].gang, &left)
    }
}

/// Returns true if `need` tasks fit on these kinds of classes within the unused amounts of the limits. The search tries
/// each number of tasks on the first kind. If no other kind takes less of any limit, it tries only the largest number,
/// because every task on another kind could also run on the first kind.
fn fill(kinds: &[Kind], need: u64, left: &[Rational]) -> Checked<bool> {
    let Some((first, others)) = kinds.split_first() else { return Ok(need == 0) };
    work::spend((left.len() + 1) * (others.len() + 4))?;
    let mut most = need.min(first.tasks);
    for (takes, left) in first.takes.iter().zip(left).filter(|(takes, _)| !takes.is_zero()) {
        most = whole(Rational::from(left / takes), most);
    }
    let elsewhere = others.iter().fold(0, |sum: u64, kind| sum.saturating_add(kind.tasks));
    let is_cheapest = |kind: &Kind| first.takes.iter().zip(&kind.takes).all(|(own, other)| own <= other);
    let fewest = if others.iter().all(is_cheapest) { most } else { need.saturating_sub(elsewhere) };
    for tasks in (fewest..=most).rev() {
        work::spend(2 * left.len() + 1)?;
        let taken = |(takes, left): (&Rational, &Rational)| left - Rational::from(takes * tasks);
        let left: Vec<Rational> = first.takes.iter().zip(left).map(taken).collect();
        if fill(others, need - tasks, &left)? {
            return Ok(true);
        }
    }
    Ok(false)
}
