//! Plans: the cheapest servers to add so that tasks start or that the cluster becomes fair, and the servers that can go.
//! The definitions are in docs/plan.md.

mod balance;
mod capacity;
mod needs;
mod packing;
pub mod removable;
mod vectors;

use evenhand_mechanisms::tree::Rule;
use evenhand_problem::Rational;
use evenhand_problem::snapshot::Snapshot;

use crate::due::{Due, by_rule};
use crate::error::ClusterError;
use crate::queues::Queues;
use crate::rooms::{Bound, Rooms};
use crate::servers::Place;
use crate::task_rules::TaskRules;
use crate::verdict::Excess;

/// A server class on offer: servers of this class may be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The class.
    pub class: usize,
    /// The price of one server, which is above 0.
    pub price: Rational,
}

/// The condition that a set of servers has to meet, after tasks have started and without stopping any task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goal {
    /// The verdict has the exit status 0.
    Fair,
    /// No waiting user lacks a gang or more of its guarantees.
    Guarantees,
    /// Tasks of these users have started: the stated number of gangs, or all waiting gangs if the number is `None`.
    Starts(Vec<(usize, Option<u64>)>),
    /// All waiting and all admitted tasks have started.
    All,
}

/// The answer to the question how many servers to add.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The classes on offer. [`Set::counts`] has the same order.
    pub offers: Vec<Offer>,
    /// The set of servers, or the reason why there is no set.
    pub outcome: Outcome,
    /// A proven lower bound on the price. All cheaper sets are excluded.
    pub least: Rational,
    /// The number of sets that were judged one by one.
    pub judged: usize,
    /// True if the search stopped at its limit on steps or sets.
    pub is_cut: bool,
}

/// The outcome of a search for servers.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A set of servers that is enough.
    Found(Set),
    /// No number of servers of these classes is enough.
    Impossible(Obstacle),
    /// No set was found before the search reached its limit.
    NotFound,
}

/// A set of servers that is enough, with the starts that show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    /// The number of servers of each offer.
    pub counts: Vec<u64>,
    /// The sum of the prices.
    pub price: Rational,
    /// The tasks that start, by user.
    pub starts: Vec<Started>,
    /// The names of the queues that are below their fair share by a whole task after these starts.
    pub below: Vec<String>,
    /// The users with starts that also depend on a condition that the snapshot does not model.
    pub by_model: Vec<usize>,
}

/// Tasks of one user that start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// The user.
    pub user: usize,
    /// The servers, each with the number of tasks.
    pub places: Vec<(Place, u64)>,
    /// The number of these tasks that the scheduler had already admitted.
    pub admitted: u64,
}

impl Started {
    /// Returns the number of tasks that start.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.places.iter().map(|(_, tasks)| tasks).sum()
    }
}

/// The reason why no number of servers is enough.
#[derive(Debug, Clone, PartialEq)]
pub enum Obstacle {
    /// The usage would exceed a bound of a group.
    Bound {
        /// The first user of the start that would exceed the bound.
        user: usize,
        /// The bound.
        bound: Bound,
        /// The usage after the starts. If the bound is the guarantee of a group of weight 0, this is the
        /// excess over the guarantee.
        excess: Rational,
    },
    /// A task of this user fits on no empty server of the classes on offer, and the servers of today do not suffice.
    NoServer(usize),
    /// A user states no number of tasks, so some of its tasks always wait.
    Unlimited(usize),
    /// The tasks could not all start, even if each of them had a server of each class for itself.
    NoPlacement,
    /// The running tasks exceed a server or a limit, and starts do not change that.
    Exceeded(Box<Excess>),
    /// Fractions of tasks run, or a user runs more tasks than it has.
    NotFeasible,
}

impl Plan {
    /// Returns `true` if the set that was found is certainly the cheapest.
    #[must_use]
    pub fn is_cheapest(&self) -> bool {
        matches!(&self.outcome, Outcome::Found(set) if set.price == self.least)
    }

    /// Searches for the cheapest servers of these classes that are enough for a goal.
    ///
    /// # Errors
    /// [`ClusterError::NoPlacements`] if the servers of tasks are not known. [`ClusterError::Change`] for a
    /// class without capacity, or a goal of tasks that do not wait. Also the errors of fair shares.
    pub fn new(
        snapshot: &Snapshot,
        rule: Option<Rule>,
        offers: &[Offer],
        goal: &Goal,
    ) -> Result<Self, ClusterError> {
        let light = capacity::light(snapshot);
        let problem = &light.problem;
        if light.allocation.placements.is_none() {
            return Err(ClusterError::NoPlacements);
        }
        for offer in offers {
            let class = &problem.servers()[offer.class];
            let name = class.name();
            if class.capacity().iter().all(Rational::is_zero) {
                return Err(ClusterError::Change(format!(
                    "--offer {name}: the servers of class `{name}` have no capacity: offer another class, or state the \
                     capacity with `what-if --set {name}.capacity.RESOURCE=AMOUNT -o FILE`"
                )));
            }
            if light.closed.iter().any(|of| of.server == offer.class) {
                return Err(ClusterError::Change(format!(
                    "--offer {name}: the servers of class `{name}` take no new tasks: offer another class"
                )));
            }
        }
        let mut plan = match goal {
            Goal::Starts(users) => packing::plan(&light, offers, Some(users))?,
            Goal::All => packing::plan(&light, offers, None)?,
            Goal::Fair => balance::plan(&light, rule, offers, true)?,
            Goal::Guarantees => balance::plan(&light, rule, offers, false)?,
        };
        if let Outcome::Found(set) = &mut plan.outcome
            && *goal != Goal::Fair
        {
            set.below = below_after(&light, rule, offers, set)?;
        }
        Ok(plan)
    }
}

/// Returns the queues that are below their fair share by a whole task with these servers and after these starts.
fn below_after(
    snapshot: &Snapshot,
    rule: Option<Rule>,
    offers: &[Offer],
    set: &Set,
) -> Result<Vec<String>, ClusterError> {
    let problem = capacity::with_more(&snapshot.problem, offers, &set.counts)?;
    let problem = by_rule(&problem, rule)?.unwrap_or(problem);
    let rules = TaskRules::new(snapshot);
    let queues = Queues::new(&problem, &rules);
    let due = Due::new(&queues, rule)?;
    let rooms = Rooms::new(&problem, &snapshot.allocation, |n| rules.admitted(n));
    let mut totals = rooms.totals().to_vec();
    for started in &set.starts {
        // Admitted tasks are already part of the totals before they have a server.
        totals[started.user] += started.tasks() - started.admitted;
    }
    let (held, waiting) = (queues.held(&totals), queues.waiting(&totals));
    let is_below =
        |v: &usize| queues.short_by(*v, &held[*v], &due.amounts[*v], &waiting, &Rational::new()).is_some();
    let below = (0..queues.list.len()).filter(is_below);
    Ok(below.map(|v| queues.list[v].name.clone()).collect())
}
