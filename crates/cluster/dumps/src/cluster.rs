//! The common form of all dumps: servers, groups, tasks by shape, and a list of all data that are left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evenhand_budget::{Held, charge, hold};
use evenhand_problem::groups::{GroupShareSpec, GroupSpec, Named};
use evenhand_problem::problem::MAX_COUNT;
use evenhand_problem::snapshot::{MOST_NAMES, NotModelled, Origin, Stopped, System, TaskTime, Victims};
use rug::Rational;

use evenhand_import::Ordered;

/// Amounts, keyed by the position of the resource in [`Cluster::resources`].
pub(super) type Amounts = BTreeMap<usize, Rational>;

/// The largest number of names of waiting tasks that are stored for one entry of a dump. An array of jobs may
/// have millions of tasks.
pub(super) const MOST_TASK_NAMES: u64 = 1000;

/// A cluster as a dump describes it.
pub(super) struct Cluster {
    pub system: System,
    /// Resources that are in the problem even if no task demands them.
    pub always: &'static [&'static str],
    pub resources: Ordered<String, ()>,
    pub servers: Ordered<String, Server>,
    pub groups: Ordered<String, GroupSpec>,
    pub share: GroupShareSpec,
    pub tasks: Ordered<Shape, Tasks>,
    /// Names of servers on which tasks run. They may appear in the dump before the servers themselves.
    pub places: Ordered<String, ()>,
    /// Limits of groups on the servers that a rule allows.
    pub limits_on: Vec<LimitOn>,
    /// The owner, start time and gang of running tasks, by the name of the task.
    pub owned: HashMap<String, Owned>,
    /// The groups whose tasks may take capacity from running tasks, each by its position and with the rule
    /// that says which tasks may be stopped.
    pub preemption: Vec<(usize, Victims)>,
    pub reported: Vec<ReportedNumber>,
    /// Time limits and priorities, each with the name of its task. Tasks that are left out of the snapshot may have
    /// entries too.
    pub times: Vec<TaskTime>,
    /// Tasks that the scheduler stopped.
    pub stopped: Vec<Stopped>,
    pub sources: Vec<Origin>,
    pub left_out: LeftOut,
    /// The positions in `servers` of entries that stand for the quota of flavours. The dump has no node of these
    /// flavours.
    pub quotas: BTreeSet<usize>,
    memory: Memory,
}

/// Data of a running task.
#[derive(Debug, Clone, Default)]
pub(super) struct Owned {
    /// The owner that would start the task again, as `KIND NAMESPACE/NAME`. Empty if the task has no owner.
    pub owner: String,
    /// The start time as a text. The alphabetical order of these texts is the order of the times. Empty if
    /// the start time is not known.
    pub since: String,
    /// The gang of the task. Empty if the task belongs to no gang.
    pub gang: String,
}

/// The constraints of the tasks of a shape. The default is no constraints.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Traits {
    /// The priority. Tasks of a higher priority come first.
    pub priority: i64,
    /// True if the tasks may never be stopped.
    pub is_protected: bool,
    /// True if each task of a gang needs a server of its own.
    pub on_distinct_servers: bool,
    /// Rules for the servers of a gang: at least one of these rules must allow the servers of all its tasks. If the
    /// list is empty, only the rule of the shape counts.
    pub one_of: Vec<usize>,
    /// A key that is equal for shapes that start together. Empty if the shape starts alone.
    pub together: String,
    /// A number that distinguishes otherwise equal shapes that start together.
    pub part: usize,
    /// Descriptions of conditions that also decide whether a task could start, but that are not modelled.
    pub not_modelled: Vec<String>,
}

/// The memory for copies of names. It is taken from the budget before the copies are made.
///
/// A dump states a name once, and the snapshot may repeat it a million times: for each task of a job, for each server of
/// a row, or for each level above a queue.
#[derive(Default)]
struct Memory {
    /// The number of bytes that have not been taken from the budget yet.
    pending: u64,
    held: Vec<Held>,
}

/// The number of bytes that are taken from the budget at once.
const AT_ONCE: u64 = 1 << 20;
/// The number of bytes of a copy of a name in addition to its characters: its entry in a list, and the
/// overhead of the allocator.
const OF_A_NAME: u64 = 64;

/// A single server.
#[derive(Debug, Clone, Default)]
pub(super) struct Server {
    /// The amounts that tasks of the snapshot can use.
    pub capacity: Amounts,
    /// The reason why the server takes no new tasks. `None` if the server takes new tasks.
    pub closed: Option<&'static str>,
    /// A suitable name for a class of such servers.
    pub hint: String,
    /// The index of the profile by which rules decide whether they allow the server.
    pub profile: usize,
}

/// The data that identical tasks have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// The position of the group.
    pub group: Option<usize>,
    pub demand: Named,
    /// The rule that decides which servers the tasks may use.
    pub rule: usize,
    /// The number of tasks that start together.
    pub gang: u64,
    pub traits: Traits,
}

/// The tasks of a shape.
#[derive(Default)]
pub(super) struct Tasks {
    /// The running tasks, each with its name and the position of its server in [`Cluster::places`].
    pub running: Vec<(usize, String)>,
    /// The waiting tasks by reason.
    pub waiting: Ordered<String, Waits>,
    /// The number of admitted tasks without a server.
    pub admitted: u64,
}

/// Tasks that wait for the same reason.
#[derive(Debug, Default)]
pub(super) struct Waits {
    pub tasks: u64,
    pub names: Vec<String>,
}

/// A limit on the servers that a rule allows.
pub(super) struct LimitOn {
    pub group: usize,
    pub rule: usize,
    pub limit: Vec<(String, Rational)>,
}

/// A number that the scheduler reports.
pub(super) struct ReportedNumber {
    /// The name of the group. `None` if the number is about the whole cluster.
    pub group: Option<String>,
    /// The name of the number in the scheduler's documentation or source.
    pub what: &'static str,
    pub resource: Option<String>,
    /// The number. `None` stands for infinity.
    pub value: Option<Rational>,
}

/// The data that are left out of the snapshot, keyed by their description.
#[derive(Default)]
pub(super) struct LeftOut(Ordered<String, NotModelled>);

impl LeftOut {
    pub fn add(&mut self, what: &str, name: impl Into<String>) {
        self.add_many(what, 1, Some(name.into()));
    }

    pub fn add_many(&mut self, what: &str, count: u64, names: impl IntoIterator<Item = String>) {
        let fresh = || NotModelled { what: what.to_owned(), count: 0, names: Vec::new() };
        let entry = self.0.value(what, fresh);
        entry.count = entry.count.saturating_add(count);
        let room = MOST_NAMES - entry.names.len();
        entry.names.extend(names.into_iter().take(room));
    }

    pub fn into_list(self) -> Vec<NotModelled> {
        let entries = self.0.into_entries().into_iter();
        entries.map(|(_, entry)| NotModelled { count: entry.count.min(MAX_COUNT), ..entry }).collect()
    }
}

impl Cluster {
    pub fn new(system: System, always: &'static [&'static str]) -> Self {
        let mut cluster = Self {
            system,
            always,
            resources: Ordered::default(),
            servers: Ordered::default(),
            groups: Ordered::default(),
            share: GroupShareSpec::default(),
            tasks: Ordered::default(),
            places: Ordered::default(),
            limits_on: Vec::new(),
            owned: HashMap::new(),
            preemption: Vec::new(),
            reported: Vec::new(),
            times: Vec::new(),
            stopped: Vec::new(),
            sources: Vec::new(),
            left_out: LeftOut::default(),
            quotas: BTreeSet::new(),
            memory: Memory::default(),
        };
        for name in always {
            cluster.resource(name);
        }
        cluster
    }

    /// Returns the position of a resource. A new resource is added.
    pub fn resource(&mut self, name: &str) -> usize {
        self.resources.place(name, || ())
    }

    /// Returns the position of a group. A new group is added.
    pub fn group(&mut self, name: &str) -> usize {
        self.groups.place(name, || GroupSpec { name: name.to_owned(), ..GroupSpec::default() })
    }

    /// Returns the tasks of a shape without constraints. Demands of 0 are removed.
    pub fn tasks(&mut self, group: Option<usize>, demand: &Amounts, rule: usize, gang: u64) -> &mut Tasks {
        self.tasks_with(group, demand, rule, gang, Traits::default())
    }

    /// Returns the tasks of a shape with constraints. Demands of 0 are removed.
    pub fn tasks_with(
        &mut self,
        group: Option<usize>,
        demand: &Amounts,
        rule: usize,
        gang: u64,
        traits: Traits,
    ) -> &mut Tasks {
        let demand = demand.iter().filter(|(_, amount)| !amount.is_zero());
        let demand = demand.map(|(r, amount)| (*r, amount.clone())).collect();
        self.tasks.value(&Shape { group, demand, rule, gang, traits }, Tasks::default)
    }

    /// Records the owner, start time and gang of a running task.
    pub fn owned_by(&mut self, task: &str, owned: Owned) {
        self.owned.insert(task.to_owned(), owned);
    }

    /// Charges copies of a text before they are made. `what` describes them in the message of an exceeded limit.
    pub fn copies(&mut self, count: u64, bytes_each: usize, what: &str) {
        let bytes = count.saturating_mul(bytes_each as u64 + OF_A_NAME);
        charge(bytes / 16, what);
        self.memory.pending = self.memory.pending.saturating_add(bytes);
        if self.memory.pending >= AT_ONCE {
            self.memory.held.push(hold(std::mem::take(&mut self.memory.pending), what));
        }
    }

    /// Returns the position in [`Cluster::places`] of a server on which tasks run. A new server is added.
    pub fn place(&mut self, server: &str) -> usize {
        self.places.place(server, || ())
    }
}

impl Tasks {
    pub fn runs(&mut self, place: usize, name: impl Into<String>) {
        self.running.push((place, name.into()));
    }

    pub fn waits(&mut self, reason: &str, tasks: u64, names: impl IntoIterator<Item = String>) {
        let waits = self.waiting.value(reason, Waits::default);
        waits.tasks = waits.tasks.saturating_add(tasks);
        waits.names.extend(names);
    }

    /// Adds the tasks of another shape to these tasks.
    pub fn merge(&mut self, other: Self) {
        self.running.extend(other.running);
        for (reason, waits) in other.waiting.into_entries() {
            self.waits(&reason, waits.tasks, waits.names);
        }
        self.admitted = self.admitted.saturating_add(other.admitted);
    }
}

/// Adds amounts to a sum.
pub(super) fn add(sum: &mut Amounts, amounts: &Amounts) {
    amounts.iter().for_each(|(r, amount)| *sum.entry(*r).or_default() += amount);
}

/// Subtracts amounts, but never below 0. Returns `true` if all amounts were available.
pub(super) fn take(from: &mut Amounts, amounts: &Amounts) -> bool {
    let mut is_enough = true;
    for (r, amount) in amounts.iter().filter(|(_, amount)| !amount.is_zero()) {
        let left = from.entry(*r).or_default();
        is_enough &= *left >= *amount;
        *left = Rational::from(&*left - amount).max(Rational::new());
    }
    is_enough
}
