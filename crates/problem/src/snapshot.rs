//! What a scheduler's cluster looked like at one moment: who asks for what, what runs where, what waits.
//!
//! A [`Snapshot`] is a problem and an allocation with the names that single servers and tasks have in the cluster. It
//! says what the scheduler reports of itself, where the data came from, and what of it the problem leaves out.

use rug::Rational;

use crate::allocation::Allocation;
use crate::problem::Problem;

/// Most names that a [`NotModelled`] gives.
pub const MOST_NAMES: usize = 20;

/// The systems whose dumps are imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum System {
    /// Pods of namespaces.
    Kubernetes,
    /// Workloads of cluster queues on Kubernetes.
    Kueue,
    /// Pod groups of queues on Kubernetes, placed by the KAI scheduler.
    Kai,
    /// Pod groups of queues on Kubernetes, placed by Volcano.
    Volcano,
    /// Applications of queues.
    Yunikorn,
    /// Jobs of accounts.
    Slurm,
    /// Tasks of frameworks by role.
    Mesos,
    /// Three tables.
    Csv,
}

crate::names! { System:
    Kubernetes = "kubernetes", "Pods of namespaces";
    Kueue = "kueue", "Workloads of cluster queues on Kubernetes";
    Kai = "kai", "Pod groups of queues, placed by the KAI scheduler";
    Volcano = "volcano", "Pod groups of queues, placed by Volcano";
    Yunikorn = "yunikorn", "Applications of queues";
    Slurm = "slurm", "Jobs of accounts";
    Mesos = "mesos", "Tasks of frameworks by role";
    Csv = "csv", "Three tables: nodes, teams, tasks";
}

impl System {
    /// Whether its tasks are pods, which their owners may start again when they are deleted.
    #[must_use]
    pub fn starts_pods_again(self) -> bool {
        matches!(self, Self::Kubernetes | Self::Kueue | Self::Kai | Self::Volcano)
    }
}

/// A cluster at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Whose dump it was; `None` where it was written by hand.
    pub system: Option<System>,
    /// Servers, groups, and users with the tasks that run or wait.
    pub problem: Problem,
    /// What runs.
    pub allocation: Allocation,
    /// By class the names of its single servers, in the order of their indices; empty where none are known.
    pub servers: Vec<Vec<String>>,
    /// The tasks that wait.
    pub waiting: Vec<Waiting>,
    /// Names of the tasks that run.
    pub running: Vec<Running>,
    /// What the scheduler says of itself.
    pub reported: Vec<Reported>,
    /// Where the data came from.
    pub sources: Vec<Origin>,
    /// What the data says and the problem does not.
    pub not_modelled: Vec<NotModelled>,
    /// What the servers of a class have beyond what the problem says.
    pub rounded: Vec<Rounded>,
    /// What decides where and with whom tasks start, and which of them may be stopped; at most one entry for a user.
    pub constraints: Vec<Constraint>,
    /// Which tasks a group may stop for its own, where the scheduler says so; at most one entry for a group.
    pub preemption: Vec<Preemption>,
    /// Server classes on which the scheduler starts no task, and why.
    pub closed: Vec<Closed>,
}

/// Rules for the tasks of one user that the problem itself cannot state (docs/verdict.md, "What could start").
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraint {
    /// Index of the user.
    pub user: usize,
    /// Tasks of a higher priority come first; 0 where nothing is stated.
    pub priority: i64,
    /// Tasks that are never stopped, such as pods of the system.
    pub protected: bool,
    /// Each task of a gang needs a server of its own.
    pub distinct_servers: bool,
    /// All tasks of a gang run on the classes of one of these sets; empty: on any classes that the user may use. Each set
    /// ascends.
    pub class_sets: Vec<Vec<usize>>,
    /// Users with the same word start one gang each at the same moment, or none does; empty: the user starts alone.
    pub together: String,
    /// What else decides whether a task could start, and the snapshot cannot tell; empty: nothing.
    pub not_modelled: Vec<String>,
    /// Tasks that the scheduler has admitted and that have no server yet. They count as used, and are no part of the
    /// allocation.
    pub admitted: u64,
}

/// Whose tasks a group may stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preemption {
    /// Index of the group.
    pub group: usize,
    /// Tasks of other groups that it may stop.
    pub across: Victims,
}

/// Which tasks may be stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Victims {
    /// None.
    Never,
    /// Only those of a lower priority.
    LowerPriority,
    /// Those of any priority.
    #[default]
    Any,
}

crate::names! { Victims:
    Never = "never", "no tasks";
    LowerPriority = "lower-priority", "only tasks of a lower priority";
    Any = "any", "tasks of any priority";
}

/// A class of servers that take no new task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// Index of the class.
    pub server: usize,
    /// Why, in the scheduler's words, such as `cordoned`.
    pub reason: String,
}

/// Tasks of one user that wait for one reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// Index of the user.
    pub user: usize,
    /// How many wait.
    pub tasks: u64,
    /// Names of some or all of them.
    pub names: Vec<String>,
    /// Why, in the scheduler's words; may be empty.
    pub reason: String,
}

/// Tasks of one user on one single server.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// Index of the user.
    pub user: usize,
    /// Index of the server class.
    pub server: usize,
    /// Which of its servers, from 0.
    pub index: u64,
    /// Names of some or all of the tasks, those that started first in front.
    pub names: Vec<String>,
    /// Of each name what keeps its task running, as `KIND NAMESPACE/NAME` (empty: nothing does): a Job, a Workload or a
    /// `ReplicaSet` starts a deleted pod again. Empty where the owners are not known.
    pub owners: Vec<String>,
    /// Of each name the gang that its task is of, such as `Workload NAMESPACE/NAME` (empty: none): tasks of one gang stop
    /// together. Empty where gangs are not known.
    pub gangs: Vec<String>,
}

/// What a number is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// Index of a group.
    Group(usize),
    /// Index of a user.
    User(usize),
    /// Index of a server class.
    Server(usize),
    /// The whole cluster.
    Cluster,
}

/// A number that the scheduler states.
#[derive(Debug, Clone, PartialEq)]
pub struct Reported {
    /// What it is about.
    pub of: Subject,
    /// The scheduler's own word for it.
    pub what: String,
    /// The resource, where it is about one.
    pub resource: Option<String>,
    /// The number; `None` for an infinite one.
    pub value: Option<Rational>,
}

/// A file that was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Origin {
    /// Its name.
    pub file: String,
    /// What wrote it, with the version; may be empty.
    pub version: String,
    /// When, as it says; may be empty.
    pub time: String,
    /// SHA-256 of its bytes as they were read, in hexadecimal digits; may be empty.
    pub sha256: String,
}

/// What a snapshot says it leaves out where guarantees are sums over flavours, of which shares by flavour do not follow.
pub const SUMMED_FLAVOURS: &str =
    "nominal quotas by flavour: what is guaranteed is the sum over the flavours of a resource";

/// What was left out, or counts in another way than in the cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct NotModelled {
    /// What it is, in words.
    pub what: String,
    /// How many there are.
    pub count: u64,
    /// Names of the first of them, at most [`MOST_NAMES`].
    pub names: Vec<String>,
}

/// Servers of a class that have more than the class says.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounded {
    /// Index of the class.
    pub server: usize,
    /// Index of the resource.
    pub resource: usize,
    /// The most that one server has beyond.
    pub most: Rational,
    /// What all of them have beyond together.
    pub in_all: Rational,
    /// What single servers have beyond the class, as pairs of the index of the server in the class and the amount.
    ///
    /// The indices ascend, and servers that have exactly what the class has are not listed. The list is empty where the
    /// snapshot does not say which servers have more. Otherwise the amounts add up to `in_all`, and the largest is `most`.
    pub by_server: Vec<(u64, Rational)>,
}

impl Rounded {
    /// Returns what one server has beyond its class; `None` where the snapshot does not say which servers have more.
    #[must_use]
    pub fn beyond(&self, index: u64) -> Option<Rational> {
        if self.by_server.is_empty() {
            return None;
        }
        let found = self.by_server.binary_search_by_key(&index, |(index, _)| *index);
        Some(found.map_or_else(|_| Rational::new(), |at| self.by_server[at].1.clone()))
    }
}

impl Snapshot {
    /// Only a problem and what runs.
    #[must_use]
    pub fn new(problem: Problem, allocation: Allocation) -> Self {
        Self {
            system: None,
            problem,
            allocation,
            servers: Vec::new(),
            waiting: Vec::new(),
            running: Vec::new(),
            reported: Vec::new(),
            sources: Vec::new(),
            not_modelled: Vec::new(),
            rounded: Vec::new(),
            constraints: Vec::new(),
            preemption: Vec::new(),
            closed: Vec::new(),
        }
    }

    /// What people call a single server: its name, or `class #index` where none is known (the class alone where it has
    /// one server).
    #[must_use]
    pub fn server_name(&self, server: usize, index: u64) -> String {
        let of_class = self.servers.get(server).zip(usize::try_from(index).ok());
        if let Some(name) = of_class.and_then(|(names, at)| names.get(at)) {
            return name.clone();
        }
        let class = &self.problem.servers()[server];
        if class.count() == 1 { class.name().to_owned() } else { format!("{} #{index}", class.name()) }
    }

    /// The tasks that wait, by user.
    #[must_use]
    pub fn waiting_by_user(&self) -> Vec<u64> {
        let mut tasks = vec![0; self.problem.n_users()];
        self.waiting.iter().for_each(|waiting| tasks[waiting.user] += waiting.tasks);
        tasks
    }
}
