//! The distributed procedure (PS-DSF, section III-D): every server acts on what it knows.
//!
//! A [`ServerProcess`] knows its capacity, the demands, weights and rates of its own users, its own
//! allocation, and of every user the number of tasks that it last heard of elsewhere. Messages may be
//! late and in any order: who delivers them decides that. When all servers have acted on fresh totals
//! and none changes anything, Theorem 1 holds. That this is ever so is not proven; asynchronous acts
//! with stale totals can chase each other, which `damped` servers do less.

use evenhand_problem::Constraints;

use super::market::Market;
use super::water_filling::filled;

/// A server class that allocates itself.
///
/// # Examples
/// ```
/// use evenhand_mechanisms::ps_dsf::{distributed::ServerProcess, float};
/// use evenhand_problem::{Problem, ProblemSpec, Rational, ServerSpec, UserSpec};
/// let one = || Rational::from(1);
/// let user = |name: &str| UserSpec {
///     name: name.into(), demand: vec![("cpu".into(), one())], ..UserSpec::default()
/// };
/// let server = ServerSpec { name: "s".into(), count: None, capacity: vec![("cpu".into(), one())] };
/// let problem = Problem::new(ProblemSpec {
///     resources: vec!["cpu".into()], servers: vec![server], users: vec![user("a"), user("b")],
///     ..ProblemSpec::default()
/// })?;
/// let mut process = ServerProcess::new(&float::constraints(&problem), 0);
/// process.hear(0, 0.5);
/// assert_eq!(process.act(), [(0, 0.25), (1, 0.75)]);
/// assert_eq!(process.act(), []);
/// # Ok::<(), evenhand_problem::ProblemError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ServerProcess {
    /// A market of this class alone, with users by their numbers in the problem.
    market: Market<f64>,
    elsewhere: Vec<f64>,
    tasks: Vec<f64>,
    part: f64,
}

impl ServerProcess {
    /// Class `class` of the problem, before it has heard anything or allocated anything; a class that
    /// does not exist has no users.
    #[must_use]
    pub fn new(constraints: &Constraints<'_>, class: usize) -> Self {
        let mut market = Market::<f64>::new(constraints);
        let places = market.of_class.get(class).cloned().unwrap_or_default();
        let rows = market.rows_of_class.get(class).cloned().unwrap_or_default();
        market.places = market.places.drain(places).collect();
        market.of_class = std::iter::once(0..market.places.len()).collect();
        market.rows_of_class = vec![rows];
        let n = market.places.len();
        Self { market, elsewhere: vec![0.0; n], tasks: vec![0.0; n], part: 1.0 }
    }

    /// Goes only the given part (0 to 1) of the way to its new allocation when it acts.
    #[must_use]
    pub fn damped(mut self, part: f64) -> Self {
        self.part = part.clamp(0.0, 1.0);
        self
    }

    /// The users that can run here, ascending.
    #[must_use]
    pub fn users(&self) -> Vec<usize> {
        self.market.places.iter().map(|place| place.user).collect()
    }

    /// Tasks of `user` here; 0 where it cannot run.
    #[must_use]
    pub fn tasks(&self, user: usize) -> f64 {
        self.position(user).map_or(0.0, |k| self.tasks[k])
    }

    /// A message: `user` has so many tasks on all other servers together. Users that cannot run here
    /// and numbers that are negative or NaN are ignored.
    pub fn hear(&mut self, user: usize, total_elsewhere: f64) {
        if let Some(k) = self.position(user)
            && total_elsewhere >= 0.0
        {
            self.elsewhere[k] = total_elsewhere;
        }
    }

    /// Fills the server anew for what it has heard; `(user, tasks)` of users whose tasks here change.
    pub fn act(&mut self) -> Vec<(usize, f64)> {
        let goal = filled(&self.market, 0, &self.elsewhere);
        let mut changed = Vec::new();
        for (k, goal) in goal.into_iter().enumerate() {
            let tasks =
                if self.part < 1.0 { self.tasks[k] + self.part * (goal - self.tasks[k]) } else { goal };
            if tasks != self.tasks[k] {
                self.tasks[k] = tasks;
                changed.push((self.market.places[k].user, tasks));
            }
        }
        changed
    }

    fn position(&self, user: usize) -> Option<usize> {
        self.market.places.binary_search_by_key(&user, |place| place.user).ok()
    }
}
