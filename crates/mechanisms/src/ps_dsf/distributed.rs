//! The distributed procedure of PS-DSF (section III-D of the paper; docs/theory.md, section 4): every server
//! allocates its own capacity with the information that it has.
//!
//! A [`ServerProcess`] knows its capacity, the demands, weights and rates of its own users, and its own
//! allocation. For every user, it also knows the number of tasks on other servers according to the last
//! message. The caller delivers the messages, which may be late and arrive in any order. If all servers act
//! on current totals and no server changes its allocation, Theorem 1 holds. It is not proven that the servers
//! ever reach this state. Servers that act on outdated totals can oscillate, which
//! [damping](ServerProcess::damped) reduces.

use evenhand_problem::Constraints;

use super::pairs::PairModel;
use super::water_filling::filled;

/// A server class that allocates itself.
///
/// # Examples
/// ```
/// use evenhand_mechanisms::ps_dsf::distributed::ServerProcess;
/// use evenhand_problem::{Constraints, Problem, ProblemSpec, Rational, ServerSpec, Sharing, UserSpec};
/// let one = || Rational::from(1);
/// let user = |name: &str| UserSpec {
///     name: name.into(), demand: vec![("cpu".into(), one())], ..UserSpec::default()
/// };
/// let server = ServerSpec { name: "s".into(), count: None, capacity: vec![("cpu".into(), one())] };
/// let problem = Problem::new(ProblemSpec {
///     resources: vec!["cpu".into()], servers: vec![server], users: vec![user("a"), user("b")],
///     ..ProblemSpec::default()
/// })?;
/// let mut process = ServerProcess::new(&Constraints::new(&problem, Sharing::Rdm), 0);
/// process.hear(0, 0.5);
/// assert_eq!(process.act(), [(0, 0.25), (1, 0.75)]);
/// assert_eq!(process.act(), []);
/// # Ok::<(), evenhand_problem::ProblemError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ServerProcess {
    /// The pairs of this class only. A user has the same index as in the problem.
    model: PairModel<f64>,
    /// The tasks of each user of this class on all other servers, according to the last message.
    elsewhere: Vec<f64>,
    /// The tasks of each user on this class.
    tasks: Vec<f64>,
    /// The fraction of the change to a new allocation that is made at once.
    part: f64,
}

impl ServerProcess {
    /// Creates the process for class `class` of the problem, before it has received any message or allocated
    /// anything. A class that does not exist has no users.
    #[must_use]
    pub fn new(constraints: &Constraints<'_>, class: usize) -> Self {
        let classes = constraints.problem().n_servers();
        let model = PairModel::<f64>::of_classes(constraints, class.min(classes)..(class + 1).min(classes));
        let n = model.pairs.len();
        Self { model, elsewhere: vec![0.0; n], tasks: vec![0.0; n], part: 1.0 }
    }

    /// Makes only the fraction `part` (0 to 1) of the change to a new allocation in each call of [`act`](Self::act).
    #[must_use]
    pub fn damped(mut self, part: f64) -> Self {
        self.part = part.clamp(0.0, 1.0);
        self
    }

    /// Returns the users that can run on this server, in ascending order.
    #[must_use]
    pub fn users(&self) -> Vec<usize> {
        self.model.pairs.iter().map(|pair| pair.user).collect()
    }

    /// Returns the tasks of `user` on this server. The result is 0 if the user cannot run on it.
    #[must_use]
    pub fn tasks(&self, user: usize) -> f64 {
        self.position(user).map_or(0.0, |k| self.tasks[k])
    }

    /// Receives the message that `user` has `total_elsewhere` tasks on all other servers together. Ignores
    /// users that cannot run on this server, and numbers that are negative or NaN.
    pub fn hear(&mut self, user: usize, total_elsewhere: f64) {
        if let Some(k) = self.position(user)
            && total_elsewhere >= 0.0
        {
            self.elsewhere[k] = total_elsewhere;
        }
    }

    /// Fills the server again with the current information. Returns the pairs `(user, tasks)` of users whose tasks on
    /// this server change.
    pub fn act(&mut self) -> Vec<(usize, f64)> {
        let mut changed = Vec::new();
        if self.tasks.is_empty() {
            return changed;
        }
        let goal = filled(&self.model, 0, &self.elsewhere).0;
        for (k, goal) in goal.into_iter().enumerate() {
            let tasks =
                if self.part < 1.0 { self.tasks[k] + self.part * (goal - self.tasks[k]) } else { goal };
            if tasks != self.tasks[k] {
                self.tasks[k] = tasks;
                changed.push((self.model.pairs[k].user, tasks));
            }
        }
        changed
    }

    fn position(&self, user: usize) -> Option<usize> {
        self.model.pairs.binary_search_by_key(&user, |pair| pair.user).ok()
    }
}
