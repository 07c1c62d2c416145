//! The state of a scheduler's cluster at one moment: the users, the running tasks and the waiting tasks.
//!
//! A [`Snapshot`] is a problem and an allocation, with the names that single servers and tasks have in the cluster.
//! It also says what the scheduler reports about itself, where the data came from, and which parts of the data the
//! problem leaves out.

use rug::Rational;

use crate::allocation::Allocation;
use crate::problem::Problem;

/// The maximum number of names in a [`NotModelled`].
pub const MOST_NAMES: usize = 20;

/// The systems whose dumps are imported, with the kind of their users' tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum System {
    /// Kubernetes: pods of namespaces.
    Kubernetes,
    /// Kueue: workloads of cluster queues on Kubernetes.
    Kueue,
    /// The KAI scheduler: pod groups of queues on Kubernetes.
    Kai,
    /// Volcano: pod groups of queues on Kubernetes.
    Volcano,
    /// `YuniKorn`: applications of queues.
    Yunikorn,
    /// Slurm: jobs of accounts.
    Slurm,
    /// Mesos: tasks of frameworks, by role.
    Mesos,
    /// CSV: three tables of tasks, teams and nodes.
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
    /// Returns whether the tasks are pods, which their owners may start again after they are deleted.
    #[must_use]
    pub fn starts_pods_again(self) -> bool {
        matches!(self, Self::Kubernetes | Self::Kueue | Self::Kai | Self::Volcano)
    }
}

/// The state of a cluster at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The system that wrote the dump, or `None` for a snapshot written by hand.
    pub system: Option<System>,
    /// Servers, groups, and users with their running and waiting tasks.
    pub problem: Problem,
    /// The running tasks.
    pub allocation: Allocation,
    /// The names of the single servers of each class, in the order of their indices. The list of a class is
    /// empty if no names are known.
    pub servers: Vec<Vec<String>>,
    /// The waiting tasks.
    pub waiting: Vec<Waiting>,
    /// Names of the running tasks.
    pub running: Vec<Running>,
    /// Numbers that the scheduler reports.
    pub reported: Vec<Reported>,
    /// The files that the data came from.
    pub sources: Vec<Origin>,
    /// Parts of the data that the problem does not express.
    pub not_modelled: Vec<NotModelled>,
    /// The amounts that servers of a class have beyond the capacity in the problem.
    pub rounded: Vec<Rounded>,
    /// Rules about the tasks of users: on which servers and with which other tasks they start, and which of
    /// them may be stopped. There is at most one entry for each user.
    pub constraints: Vec<Constraint>,
    /// For each group, the tasks of other groups that it may stop for its own tasks, if the scheduler states
    /// this. There is at most one entry for each group.
    pub preemption: Vec<Preemption>,
    /// The server classes on which the scheduler starts no task, and the reasons.
    pub closed: Vec<Closed>,
    /// The time limits and priorities of single tasks, as far as the scheduler states them. There is at most
    /// one entry for each name.
    pub times: Vec<TaskTime>,
    /// The tasks that the scheduler reports as stopped. A task may have been stopped several times.
    pub stopped: Vec<Stopped>,
}

/// A task, or all tasks of a job, that the scheduler stopped. A text is empty if its content is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stopped {
    /// The name of the task or the job, such as `namespace/workload`.
    pub task: String,
    /// The name of the task or job for which the scheduler stopped `task`.
    pub by: String,
    /// The UID of the task or job for which the scheduler stopped `task`, if its name is not known.
    pub by_uid: String,
    /// The scheduler's own word for the rule, such as `InCohortReclamation`.
    pub rule: String,
    /// The time at which the scheduler stopped the task or job.
    pub time: String,
    /// The message of the scheduler about the stop.
    pub message: String,
}

/// The time limit and the priority of the tasks with one name. All tasks of a Slurm job have the name of the job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskTime {
    /// The name of the tasks, as in [`Waiting::names`] or [`Running::names`].
    pub task: String,
    /// The longest time in seconds for which the scheduler lets the tasks run, or `None` if it is not known
    /// or there is none.
    pub limit: Option<u64>,
    /// The seconds that are left of the limit of running tasks, or `None` if they are not known or there is
    /// no limit.
    pub left: Option<u64>,
    /// The scheduler's own priority of the job, or `None` if it is not known. Waiting jobs of a higher
    /// priority start first.
    pub priority: Option<i64>,
}

/// Rules for the tasks of one user that the problem itself cannot express (docs/verdict.md, "What could start").
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Constraint {
    /// Index of the user.
    pub user: usize,
    /// Priority of the user's tasks. Tasks of a higher priority come first. The default is 0.
    pub priority: i64,
    /// `true` if the tasks are never stopped, such as pods of the system.
    pub protected: bool,
    /// `true` if each task of a gang needs a server of its own.
    pub distinct_servers: bool,
    /// Sets of classes, each in ascending order. All tasks of a gang run on the classes of one set. The list
    /// is empty if the tasks may run on all classes that the user may use.
    pub class_sets: Vec<Vec<usize>>,
    /// The label of users that start together: either each of them starts one gang at the same moment, or
    /// none does. The label is empty if the user starts alone.
    pub together: String,
    /// Further rules about whether a task could start, which the snapshot does not model. The list is empty
    /// if there are no such rules.
    pub not_modelled: Vec<String>,
    /// Number of tasks that the scheduler has admitted and that have no server yet. These tasks count as
    /// used, but are not part of the allocation.
    pub admitted: u64,
}

/// The tasks of other groups that a group may stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preemption {
    /// Index of the group.
    pub group: usize,
    /// The tasks of other groups that the group may stop.
    pub across: Victims,
}

/// The set of tasks that may be stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Victims {
    /// The group may stop no tasks.
    Never,
    /// The group may stop only tasks of a lower priority.
    LowerPriority,
    /// The group may stop tasks of any priority.
    #[default]
    Any,
}

crate::names! { Victims:
    Never = "never", "no tasks";
    LowerPriority = "lower-priority", "only tasks of a lower priority";
    Any = "any", "tasks of any priority";
}

/// A server class that takes no new task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// Index of the class.
    pub server: usize,
    /// The reason in the scheduler's words, such as `cordoned`.
    pub reason: String,
}

/// Tasks of one user that wait for the same reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// Index of the user.
    pub user: usize,
    /// Number of waiting tasks.
    pub tasks: u64,
    /// Names of some or all of the tasks.
    pub names: Vec<String>,
    /// The reason in the scheduler's words, or an empty text.
    pub reason: String,
}

/// Tasks of one user on one single server.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// Index of the user.
    pub user: usize,
    /// Index of the server class.
    pub server: usize,
    /// Index of the server within its class, from 0.
    pub index: u64,
    /// Names of some or all of the tasks. The tasks that started first come first.
    pub names: Vec<String>,
    /// The owner of each named task, which starts the task again when it is deleted: a Job, a Workload or a
    /// `ReplicaSet`, as `KIND NAMESPACE/NAME`. A text is empty if the task has no owner. The list is empty if owners
    /// are not known.
    pub owners: Vec<String>,
    /// The gang of each named task, such as `Workload NAMESPACE/NAME`. Tasks of one gang stop together. A text is empty
    /// if the task has no gang. The list is empty if gangs are not known.
    pub gangs: Vec<String>,
}

/// The subject of a reported number.
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

/// A number that the scheduler reports.
#[derive(Debug, Clone, PartialEq)]
pub struct Reported {
    /// The subject of the number.
    pub of: Subject,
    /// The scheduler's own word for the number.
    pub what: String,
    /// Name of the resource, for a number about one resource.
    pub resource: Option<String>,
    /// The reported number, or `None` for infinity.
    pub value: Option<Rational>,
}

/// A file from which the snapshot was made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Origin {
    /// Name of the file.
    pub file: String,
    /// The program that wrote the file, with its version. The text may be empty.
    pub version: String,
    /// The time that the file states. The text may be empty.
    pub time: String,
    /// The SHA-256 hash of the file's bytes in hexadecimal digits. The text may be empty.
    pub sha256: String,
}

/// The entry of [`Snapshot::not_modelled`] for guarantees that are sums over flavours. Shares of single flavours do
/// not follow from such sums.
pub const SUMMED_FLAVOURS: &str =
    "nominal quotas by flavour: the guarantee is the sum over the flavours of a resource";

/// A part of the cluster that was left out of the snapshot, or that counts differently in it.
#[derive(Debug, Clone, PartialEq)]
pub struct NotModelled {
    /// Description of the part in words.
    pub what: String,
    /// Number of occurrences of the part.
    pub count: u64,
    /// Names of the first occurrences, at most [`MOST_NAMES`] names.
    pub names: Vec<String>,
}

/// The amounts of a resource by which servers exceed the capacity of their class.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounded {
    /// Index of the class.
    pub server: usize,
    /// Index of the resource.
    pub resource: usize,
    /// The largest amount by which one server exceeds the class.
    pub most: Rational,
    /// The sum of the additional amounts over all servers of the class.
    pub in_all: Rational,
    /// The amounts by which single servers exceed the class, as pairs of the index of the server in the class and the
    /// amount.
    ///
    /// The indices ascend, and servers that have exactly the capacity of the class are not listed. The list is empty if
    /// the snapshot does not say which servers have more. Otherwise the amounts add up to `in_all`, and the largest is
    /// `most`.
    pub by_server: Vec<(u64, Rational)>,
}

impl Rounded {
    /// Returns the amount by which one server exceeds its class. Returns `None` if the snapshot does not say which
    /// servers have more.
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
    /// Creates a snapshot that has only a problem and its running tasks.
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
            times: Vec::new(),
            stopped: Vec::new(),
        }
    }

    /// Returns the name of a single server for people: its name in the cluster, or `class #index` if no name is known.
    /// A class with a single server is shown without an index.
    #[must_use]
    pub fn server_name(&self, server: usize, index: u64) -> String {
        let of_class = self.servers.get(server).zip(usize::try_from(index).ok());
        if let Some(name) = of_class.and_then(|(names, at)| names.get(at)) {
            return name.clone();
        }
        let class = &self.problem.servers()[server];
        if class.count() == 1 { class.name().to_owned() } else { format!("{} #{index}", class.name()) }
    }

    /// Returns the number of waiting tasks of each user.
    #[must_use]
    pub fn waiting_by_user(&self) -> Vec<u64> {
        let mut tasks = vec![0; self.problem.n_users()];
        self.waiting.iter().for_each(|waiting| tasks[waiting.user] += waiting.tasks);
        tasks
    }
}
