//! What every dump becomes first: servers, groups, and tasks by shape, with a list of what is left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evenhand_budget::{Held, charge, hold};
use evenhand_problem::groups::{GroupShareSpec, GroupSpec, Named};
use evenhand_problem::problem::MAX_COUNT;
use evenhand_problem::snapshot::{MOST_NAMES, NotModelled, Origin, System, Victims};
use rug::Rational;

use evenhand_import::Ordered;

/// Amounts by the place of their resource in [`Cluster::resources`].
pub(super) type Amounts = BTreeMap<usize, Rational>;

/// Most names of waiting tasks that one line of a dump gives: an array of jobs may have millions.
pub(super) const MOST_TASK_NAMES: u64 = 1000;

/// A cluster as a dump describes it.
pub(super) struct Cluster {
    pub system: System,
    /// Resources that are kept even if no task asks for them.
    pub always: &'static [&'static str],
    pub resources: Ordered<String, ()>,
    pub servers: Ordered<String, Server>,
    pub groups: Ordered<String, GroupSpec>,
    pub share: GroupShareSpec,
    pub tasks: Ordered<Shape, Tasks>,
    /// Names of servers on which tasks run, which may stand in the dump before the servers.
    pub places: Ordered<String, ()>,
    /// Limits of groups on the servers that a rule allows.
    pub limits_on: Vec<LimitOn>,
    /// By name of a task: what keeps it running, and when it started.
    pub owned: HashMap<String, Owned>,
    /// By place of a group: which tasks of other groups it may stop.
    pub preemption: Vec<(usize, Victims)>,
    pub reported: Vec<Said>,
    pub sources: Vec<Origin>,
    pub left_out: LeftOut,
    /// Servers that are no servers, but the quota of flavours of which the dump has no node: their places.
    pub quotas: BTreeSet<usize>,
    memory: Memory,
}

/// What a dump says of a running task beside its place.
#[derive(Debug, Clone, Default)]
pub(super) struct Owned {
    /// `KIND NAMESPACE/NAME` of what would start it again; empty: nothing would.
    pub owner: String,
    /// When it started, in a form that sorts as text; may be empty.
    pub since: String,
    /// The gang that it is of; empty: none.
    pub gang: String,
}

/// Constraints of tasks of a shape; the default is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Traits {
    /// Tasks of a higher priority come first.
    pub priority: i64,
    /// Never stopped.
    pub is_protected: bool,
    /// Each task of a gang needs a server of its own.
    pub on_distinct_servers: bool,
    /// All tasks of a gang run on the servers that one of these rules allows; none: on any that its own rule allows.
    pub one_of: Vec<usize>,
    /// Shapes with the same word start together; empty: alone.
    pub together: String,
    /// Tells shapes of one start apart that are the same in all else.
    pub part: usize,
    /// What else decides whether a task could start.
    pub not_modelled: Vec<String>,
}

/// Memory for copies of names, which is taken from the budget before the copies are made.
///
/// A dump states a name once, and the snapshot may repeat it a million times: for every task of a job, for every server of
/// a row, for every level above a queue.
#[derive(Default)]
struct Memory {
    /// Bytes that are not yet taken from the budget.
    pending: u64,
    held: Vec<Held>,
}

/// Bytes that are taken from the budget at once.
const AT_ONCE: u64 = 1 << 20;
/// Bytes of a copy of a name beside its characters: its place in a list, and what the allocator adds.
const OF_A_NAME: u64 = 64;

/// A single server.
#[derive(Debug, Clone, Default)]
pub(super) struct Server {
    /// What tasks that are known can use.
    pub capacity: Amounts,
    /// Why it takes no new task; `None`: it does.
    pub closed: Option<&'static str>,
    /// What a class of such servers may be called.
    pub hint: String,
    /// Which rules allow it: an index that the rules are asked with.
    pub profile: usize,
}

/// Tasks that are alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// Place of the group.
    pub group: Option<usize>,
    pub demand: Named,
    /// Which servers it may use.
    pub rule: usize,
    /// Tasks that run together.
    pub gang: u64,
    pub traits: Traits,
}

/// The tasks of a shape.
#[derive(Default)]
pub(super) struct Tasks {
    /// Place of the server, and the name of the task.
    pub running: Vec<(usize, String)>,
    pub waiting: Ordered<String, Waits>,
    /// Tasks that were admitted and have no server yet.
    pub admitted: u64,
}

/// Tasks that wait for one reason.
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

/// What the scheduler says of itself.
pub(super) struct Said {
    /// Name of the group; `None`: of the cluster.
    pub group: Option<String>,
    pub what: &'static str,
    pub resource: Option<String>,
    /// `None`: infinite.
    pub value: Option<Rational>,
}

/// What is left out, by what it is.
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

    /// The place of a resource.
    pub fn resource(&mut self, name: &str) -> usize {
        self.resources.place(name, || ())
    }

    /// The place of a group, which is new where it has not been named before.
    pub fn group(&mut self, name: &str) -> usize {
        self.groups.place(name, || GroupSpec { name: name.to_owned(), ..GroupSpec::default() })
    }

    /// The tasks of a shape without constraints, of which amounts of 0 are no part.
    pub fn tasks(&mut self, group: Option<usize>, demand: &Amounts, rule: usize, gang: u64) -> &mut Tasks {
        self.tasks_with(group, demand, rule, gang, Traits::default())
    }

    /// The tasks of a shape with constraints.
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

    /// Says of a running task what keeps it running, since when it runs, and of which gang it is.
    pub fn owned_by(&mut self, task: &str, owned: Owned) {
        self.owned.insert(task.to_owned(), owned);
    }

    /// Charges copies of a text before they are made; `what` says what they are for.
    pub fn copies(&mut self, count: u64, bytes_each: usize, what: &str) {
        let bytes = count.saturating_mul(bytes_each as u64 + OF_A_NAME);
        charge(bytes / 16, what);
        self.memory.pending = self.memory.pending.saturating_add(bytes);
        if self.memory.pending >= AT_ONCE {
            self.memory.held.push(hold(std::mem::take(&mut self.memory.pending), what));
        }
    }

    /// The place of a server on which tasks run.
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

    /// Adds the tasks of another shape, which count as tasks of this one.
    pub fn merge(&mut self, other: Self) {
        self.running.extend(other.running);
        for (reason, waits) in other.waiting.into_entries() {
            self.waits(&reason, waits.tasks, waits.names);
        }
        self.admitted = self.admitted.saturating_add(other.admitted);
    }
}

/// Adds amounts.
pub(super) fn add(sum: &mut Amounts, amounts: &Amounts) {
    amounts.iter().for_each(|(r, amount)| *sum.entry(*r).or_default() += amount);
}

/// Takes amounts away, down to 0 at least; whether there was enough.
pub(super) fn take(from: &mut Amounts, amounts: &Amounts) -> bool {
    let mut enough = true;
    for (r, amount) in amounts.iter().filter(|(_, amount)| !amount.is_zero()) {
        let left = from.entry(*r).or_default();
        enough &= *left >= *amount;
        *left = Rational::from(&*left - amount).max(Rational::new());
    }
    enough
}
