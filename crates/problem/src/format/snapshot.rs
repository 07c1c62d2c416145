//! Reading and writing of snapshots.

use std::collections::{HashMap, HashSet};

use rug::Rational;
use serde_json::value::RawValue;

use super::canonical::canonical;
use super::document::shorten;
use super::fields::{some_text, strings};
use super::writer::Fields;
use super::{Document, FormatError, Object, Source};
use crate::allocation::{Allocation, Arithmetic};
use crate::groups::Group;
use crate::names::hint;
use crate::number::format_stated;
use crate::place::Place;
use crate::problem::{MAX_COUNT, Problem, ServerClass, User};
use crate::snapshot::{
    Closed, Constraint, MOST_NAMES, NotModelled, Origin, Preemption, Reported, Rounded, Running, Snapshot,
    Stopped, Subject, System, TaskTime, Victims, Waiting,
};

/// Largest absolute value of a priority. The largest priority of Kubernetes is 2,000,001,000, and priorities of Slurm
/// fit into 32 bits.
const MOST_PRIORITY: i64 = 1 << 40;
/// The maximum number of texts about rules that are not modelled, for one user.
const MOST_UNKNOWN: usize = 20;

const FIELDS: [&str; 17] = [
    "kind",
    "version",
    "system",
    "problem",
    "allocation",
    "servers",
    "waiting",
    "running",
    "reported",
    "sources",
    "not_modelled",
    "rounded",
    "constraints",
    "preemption",
    "closed",
    "times",
    "stopped",
];

type Stated<T> = Result<T, FormatError>;

impl Source<'_> {
    /// Reads the text as a snapshot.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the text is not JSON or not a snapshot, if its problem or allocation is
    /// invalid, if it names something that the problem does not have, or when more tasks run and wait than
    /// the problem has.
    pub fn snapshot(&self) -> Result<Snapshot, FormatError> {
        let document = &self.document()?;
        let object = document.object(document.root())?;
        object.of_kind(document, "snapshot")?;
        object.only_at_top(document, &FIELDS)?;
        if let Some(raw) = object.get("version")
            && document.number(raw)? != 1
        {
            return Err(document.error(raw, format!("found version {}: expected 1", raw.get())));
        }
        let system = some_text(document, &object, "system")?;
        let system = system.map(|name| system_named(document, &object, &name)).transpose()?;
        let problem = self.problem_in(object.need(document, "problem")?, &Place::root().key("problem"))?;
        if problem.has_rates() {
            let message = "users state `rates`, which are not supported in a snapshot of a running cluster";
            return Err(document.error(object.need(document, "problem")?, message));
        }
        let stated = object.need(document, "allocation")?;
        let allocation = self.allocation_in(stated, &Place::root().key("allocation"), &problem)?;
        if !allocation.is_for(&problem) {
            let message = "this allocation is for another problem: its `problem_sha256` differs from the hash of \
                           `problem`";
            return Err(document.error(stated, message));
        }
        let snapshot = Snapshot { system, ..Snapshot::new(problem, allocation.allocation) };
        let parts = Reader::new(document, &snapshot.problem, &snapshot.allocation).read(&object)?;
        Ok(Snapshot {
            servers: parts.servers,
            waiting: parts.waiting,
            running: parts.running,
            reported: parts.reported,
            sources: parts.sources,
            not_modelled: parts.not_modelled,
            rounded: parts.rounded,
            constraints: parts.constraints,
            preemption: parts.preemption,
            closed: parts.closed,
            times: parts.times,
            stopped: parts.stopped,
            ..snapshot
        })
    }
}

fn system_named(document: &Document<'_>, object: &Object<'_>, name: &str) -> Stated<System> {
    name.parse().map_err(|_| {
        let known = System::NAMES.iter().map(|(name, _)| *name);
        let names: Vec<_> = known.clone().collect();
        let message =
            format!("found `{}`{}: expected one of {}", shorten(name), hint(name, known), names.join(", "));
        document.error(object.get("system").unwrap_or(object.raw()), message)
    })
}

/// The parts of a snapshot other than its problem and allocation.
struct Parts {
    servers: Vec<Vec<String>>,
    waiting: Vec<Waiting>,
    running: Vec<Running>,
    reported: Vec<Reported>,
    sources: Vec<Origin>,
    not_modelled: Vec<NotModelled>,
    rounded: Vec<Rounded>,
    constraints: Vec<Constraint>,
    preemption: Vec<Preemption>,
    closed: Vec<Closed>,
    times: Vec<TaskTime>,
    stopped: Vec<Stopped>,
}

/// The fields of an entry of `constraints`.
const CONSTRAINT_FIELDS: [&str; 8] = [
    "user",
    "priority",
    "protected",
    "distinct_servers",
    "class_sets",
    "together",
    "not_modelled",
    "admitted",
];

struct Reader<'r, 't> {
    document: &'r Document<'t>,
    problem: &'r Problem,
    users: HashMap<&'r str, usize>,
    servers: HashMap<&'r str, usize>,
    groups: HashMap<&'r str, usize>,
    /// The tasks on each server, by user, server class and index of the server. The map is empty without
    /// placements.
    placed: HashMap<(usize, usize, u64), &'r Rational>,
    /// The tasks of each user on each server class.
    on_classes: HashMap<(usize, usize), &'r Rational>,
    is_placed: bool,
    /// The number of running tasks of each user.
    totals: Vec<Rational>,
}

impl<'r, 't> Reader<'r, 't> {
    fn new(document: &'r Document<'t>, problem: &'r Problem, allocation: &'r Allocation) -> Self {
        let groups = problem.groups().list().iter().enumerate();
        let placed = allocation.placements.iter().flatten().flat_map(|placement| {
            let (server, index) = (placement.server, placement.index);
            placement.tasks.iter().map(move |(n, tasks)| ((*n, server, index), tasks))
        });
        let rows = allocation.tasks.iter().enumerate();
        let on_classes = rows.flat_map(|(n, row)| row.iter().map(move |(i, tasks)| ((n, *i), tasks)));
        Self {
            document,
            problem,
            users: problem.user_index(),
            servers: problem.server_index(),
            groups: groups.map(|(v, group)| (group.name.as_str(), v)).collect(),
            placed: placed.collect(),
            on_classes: on_classes.collect(),
            is_placed: allocation.placements.is_some(),
            totals: allocation.totals(),
        }
    }

    fn read(&self, object: &Object<'t>) -> Stated<Parts> {
        let waiting = self.each(object, "waiting", &["user", "tasks", "names", "reason"], Self::waiting)?;
        let constraints = self.each(object, "constraints", &CONSTRAINT_FIELDS, Self::constraint)?;
        self.refuse_twice(
            "constraints",
            constraints.iter().map(|of| of.user),
            "this user has two entries: expected at most one",
        )?;
        let mut groups: HashMap<&str, Option<usize>> = HashMap::new();
        for (at, of) in constraints.iter().enumerate().filter(|(_, of)| !of.together.is_empty()) {
            let group = self.problem.groups().member(of.user).group;
            if *groups.entry(&of.together).or_insert(group) != group {
                let raw = self.document.locate(&Place::root().key("constraints").index(at));
                return Err(self.document.error(
                    raw,
                    "users with the same `together` are in different groups: expected one group",
                ));
            }
        }
        let preemption = self.each(object, "preemption", &["group", "across"], Self::preemption)?;
        self.refuse_twice(
            "preemption",
            preemption.iter().map(|of| of.group),
            "this group has two entries: expected at most one",
        )?;
        let closed = self.each(object, "closed", &["server", "reason"], Self::closed)?;
        self.refuse_twice(
            "closed",
            closed.iter().map(|of| of.server),
            "this class has two entries: expected at most one",
        )?;
        self.compare_sums(object, &waiting, &constraints)?;
        let times = self.each(object, "times", &["task", "limit", "left", "priority"], Self::task_time)?;
        let mut known: HashSet<&str> = HashSet::new();
        if let Some(at) = times.iter().position(|of| !known.insert(&of.task)) {
            let raw = self.document.locate(&Place::root().key("times").index(at));
            return Err(self.document.error(raw, "this task has two entries: expected at most one"));
        }
        Ok(Parts {
            servers: object.get("servers").map_or(Ok(Vec::new()), |raw| self.server_names(raw))?,
            waiting,
            running: self.running(object)?,
            reported: self.each(
                object,
                "reported",
                &["group", "user", "server", "what", "resource", "value"],
                Self::reported,
            )?,
            sources: self.each(object, "sources", &["file", "version", "time", "sha256"], Self::origin)?,
            not_modelled: self.each(
                object,
                "not_modelled",
                &["what", "count", "names"],
                Self::not_modelled,
            )?,
            rounded: self.each(
                object,
                "rounded",
                &["server", "resource", "most", "in_all", "by_server"],
                Self::rounded,
            )?,
            constraints,
            preemption,
            closed,
            times,
            stopped: self.each(
                object,
                "stopped",
                &["task", "by", "by_uid", "rule", "time", "message"],
                Self::stopped,
            )?,
        })
    }

    fn stopped(&self, object: &Object<'t>) -> Stated<Stopped> {
        let text = |field| self.text_or_empty(object, field);
        Ok(Stopped {
            task: self.document.string(object.need(self.document, "task")?)?.into_owned(),
            by: text("by")?,
            by_uid: text("by_uid")?,
            rule: text("rule")?,
            time: text("time")?,
            message: text("message")?,
        })
    }

    fn task_time(&self, object: &Object<'t>) -> Stated<TaskTime> {
        let count = |field: &str| object.get(field).map(|raw| self.count(raw)).transpose();
        let of = TaskTime {
            task: self.document.string(object.need(self.document, "task")?)?.into_owned(),
            limit: count("limit")?,
            left: count("left")?,
            priority: object.get("priority").map(|raw| self.priority(raw)).transpose()?,
        };
        match (of.left > of.limit && of.limit.is_some(), object.get("left")) {
            (true, Some(raw)) => {
                Err(self.document.error(raw, "more time is left than the limit: expected at most `limit`"))
            }
            _ => Ok(of),
        }
    }

    /// Rejects a list with two entries about the same user, group or class.
    fn refuse_twice(&self, list: &str, of: impl Iterator<Item = usize>, message: &str) -> Stated<()> {
        let mut seen = HashSet::new();
        match of.enumerate().find(|(_, of)| !seen.insert(*of)) {
            None => Ok(()),
            Some((at, _)) => {
                let raw = self.document.locate(&Place::root().key(list).index(at));
                Err(self.document.error(raw, message))
            }
        }
    }

    fn constraint(&self, object: &Object<'t>) -> Stated<Constraint> {
        let truth = |field: &str| object.get(field).map_or(Ok(false), |raw| self.document.boolean(raw));
        let not_modelled = match object.get("not_modelled") {
            None => Vec::new(),
            Some(raw) => {
                let list = strings(self.document, raw)?;
                if list.len() > MOST_UNKNOWN {
                    return Err(self
                        .document
                        .error(raw, format!("found {} texts: expected at most {MOST_UNKNOWN}", list.len())));
                }
                list
            }
        };
        Ok(Constraint {
            user: self.user(object.need(self.document, "user")?)?,
            priority: object.get("priority").map_or(Ok(0), |raw| self.priority(raw))?,
            protected: truth("protected")?,
            distinct_servers: truth("distinct_servers")?,
            class_sets: object.get("class_sets").map_or(Ok(Vec::new()), |raw| self.class_sets(raw))?,
            together: self.text_or_empty(object, "together")?,
            not_modelled,
            admitted: object.get("admitted").map_or(Ok(0), |raw| self.count(raw))?,
        })
    }

    fn priority(&self, raw: &'t RawValue) -> Stated<i64> {
        let value = self.document.number(raw)?;
        let whole = if value.is_integer() { value.numer().to_i64() } else { None };
        whole.filter(|priority| priority.abs() <= MOST_PRIORITY).ok_or_else(|| {
            self.document
                .error(raw, format!("found {}: expected a whole number from -2^40 to 2^40", raw.get()))
        })
    }

    fn class_sets(&self, raw: &'t RawValue) -> Stated<Vec<Vec<usize>>> {
        let set = |raw: &'t RawValue| {
            let classes = self.document.list(raw)?.into_iter().map(|raw| self.server(raw));
            let mut set = classes.collect::<Stated<Vec<usize>>>()?;
            set.sort_unstable();
            if set.is_empty() || set.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(self.document.error(raw, "expected names of server classes, none twice"));
            }
            Ok(set)
        };
        self.document.list(raw)?.into_iter().map(set).collect()
    }

    fn preemption(&self, object: &Object<'t>) -> Stated<Preemption> {
        let group = self.group(object.need(self.document, "group")?)?;
        let raw = object.need(self.document, "across")?;
        let name = self.document.string(raw)?;
        let across: Victims = name.parse().map_err(|_| {
            let names: Vec<&str> = Victims::NAMES.iter().map(|(name, _)| *name).collect();
            let message = format!("found `{}`: expected one of {}", shorten(&name), names.join(", "));
            self.document.error(raw, message)
        })?;
        Ok(Preemption { group, across })
    }

    fn closed(&self, object: &Object<'t>) -> Stated<Closed> {
        let server = self.server(object.need(self.document, "server")?)?;
        Ok(Closed { server, reason: self.text_or_empty(object, "reason")? })
    }

    /// Reads each object of a list.
    fn each<T>(
        &self,
        object: &Object<'t>,
        field: &str,
        fields: &[&str],
        read: impl Fn(&Self, &Object<'t>) -> Stated<T>,
    ) -> Stated<Vec<T>> {
        let Some(raw) = object.get(field) else { return Ok(Vec::new()) };
        let of = |raw| {
            let object = self.document.object(raw)?;
            object.only(self.document, fields)?;
            read(self, &object)
        };
        self.document.list(raw)?.into_iter().map(of).collect()
    }

    fn server_names(&self, raw: &'t RawValue) -> Stated<Vec<Vec<String>>> {
        let mut names = vec![Vec::new(); self.problem.n_servers()];
        let mut seen = HashSet::new();
        for (class, raw) in self.document.object(raw)?.fields() {
            let unknown = || self.document.error_on_key(raw, self.no_server(class));
            let i = self.servers.get(&**class).copied().ok_or_else(unknown)?;
            let list: Vec<String> = strings(self.document, raw)?;
            let count = self.problem.servers()[i].count();
            if list.len() as u64 != count {
                let message =
                    format!("found {} names: expected {count}, one for each server of the class", list.len());
                return Err(self.document.error(raw, message));
            }
            if let Some(twice) = list.iter().find(|name| !seen.insert((*name).clone())) {
                let message = format!("the server `{}` is named twice", shorten(twice));
                return Err(self.document.error(raw, message));
            }
            names[i] = list;
        }
        Ok(names)
    }

    fn waiting(&self, object: &Object<'t>) -> Stated<Waiting> {
        let user = self.user(object.need(self.document, "user")?)?;
        let tasks = self.count(object.need(self.document, "tasks")?)?;
        let names = self.some_names(object, &tasks.into())?;
        Ok(Waiting { user, tasks, names, reason: self.text_or_empty(object, "reason")? })
    }

    fn running(&self, object: &Object<'t>) -> Stated<Vec<Running>> {
        let running = self.each(
            object,
            "running",
            &["user", "server", "index", "names", "owners", "gangs"],
            Self::one_running,
        )?;
        let mut seen = HashSet::new();
        let key = |running: &Running| (running.user, running.server, running.index);
        match running.iter().position(|running| !seen.insert(key(running))) {
            None => Ok(running),
            Some(at) => {
                let raw = self.document.locate(&Place::root().key("running").index(at));
                Err(self.document.error(raw, "this user has two entries for this server: expected one"))
            }
        }
    }

    fn one_running(&self, object: &Object<'t>) -> Stated<Running> {
        let user = self.user(object.need(self.document, "user")?)?;
        let server = self.server(object.need(self.document, "server")?)?;
        let index_raw = object.need(self.document, "index")?;
        let index = self.count(index_raw)?;
        let class = || self.on_classes.get(&(user, server)).filter(|_| !self.is_placed);
        let Some(tasks) = self.placed.get(&(user, server, index)).or_else(class) else {
            let message = "the allocation places no task of this user on this server: expected a server of \
                           `allocation`";
            return Err(self.document.error(object.raw(), message));
        };
        let count = self.problem.servers()[server].count();
        if index >= count {
            let message = format!("found {index}: expected an integer from 0 to {}", count - 1);
            return Err(self.document.error(index_raw, message));
        }
        let names = self.some_names(object, tasks)?;
        let per_name = |field: &str| match object.get(field) {
            None => Ok(Vec::new()),
            Some(raw) => {
                let list = strings(self.document, raw)?;
                if !list.is_empty() && list.len() != names.len() {
                    let message = format!(
                        "found {} {field} for {} names: expected one for each name, or none",
                        list.len(),
                        names.len()
                    );
                    return Err(self.document.error(raw, message));
                }
                Ok(list)
            }
        };
        let (owners, gangs) = (per_name("owners")?, per_name("gangs")?);
        Ok(Running { user, server, index, names, owners, gangs })
    }

    fn reported(&self, object: &Object<'t>) -> Stated<Reported> {
        let of = match (object.get("group"), object.get("user"), object.get("server")) {
            (None, None, None) => Subject::Cluster,
            (Some(raw), None, None) => Subject::Group(self.group(raw)?),
            (None, Some(raw), None) => Subject::User(self.user(raw)?),
            (None, None, Some(raw)) => Subject::Server(self.server(raw)?),
            _ => {
                let message = "expected one of `group`, `user` and `server`, or none for the whole cluster";
                return Err(self.document.error(object.raw(), message));
            }
        };
        let what = self.document.string(object.need(self.document, "what")?)?.into_owned();
        let raw = object.need(self.document, "value")?;
        let value = if raw.get() == "\"inf\"" { None } else { Some(self.document.number(raw)?) };
        Ok(Reported { of, what, resource: some_text(self.document, object, "resource")?, value })
    }

    fn origin(&self, object: &Object<'t>) -> Stated<Origin> {
        let file = self.document.string(object.need(self.document, "file")?)?.into_owned();
        let text = |field| self.text_or_empty(object, field);
        Ok(Origin { file, version: text("version")?, time: text("time")?, sha256: text("sha256")? })
    }

    fn not_modelled(&self, object: &Object<'t>) -> Stated<NotModelled> {
        let what = self.document.string(object.need(self.document, "what")?)?.into_owned();
        let count = self.count(object.need(self.document, "count")?)?;
        let names = self.some_names(object, &count.into())?;
        if names.len() > MOST_NAMES {
            let raw = object.get("names").unwrap_or(object.raw());
            return Err(self
                .document
                .error(raw, format!("found {} names: expected at most {MOST_NAMES}", names.len())));
        }
        Ok(NotModelled { what, count, names })
    }

    fn rounded(&self, object: &Object<'t>) -> Stated<Rounded> {
        let server = self.server(object.need(self.document, "server")?)?;
        let raw = object.need(self.document, "resource")?;
        let name = self.document.string(raw)?;
        let resources = self.problem.resources();
        let Some(resource) = resources.iter().position(|known| *known == *name) else {
            let hint = hint(&name, resources.iter().map(String::as_str));
            let message = format!("the problem has no resource `{}`{hint}", shorten(&name));
            return Err(self.document.error(raw, message));
        };
        let most_raw = object.need(self.document, "most")?;
        let most = self.positive(most_raw)?;
        let in_all = self.positive(object.need(self.document, "in_all")?)?;
        let bound = Rational::from(&most * self.problem.servers()[server].count());
        if most > in_all || in_all > bound {
            let message = "`most` is of one server and `in_all` of all servers of the class: expected `in_all` from \
                           `most` to `most` times their number";
            return Err(self.document.error(most_raw, message));
        }
        let by_server = self.beyond_by_server(object, server, &most, &in_all)?;
        Ok(Rounded { server, resource, most, in_all, by_server })
    }

    /// Reads the amounts by which single servers of a class exceed the capacity of the class. Returns an
    /// empty list if they are not stated.
    fn beyond_by_server(
        &self,
        object: &Object<'t>,
        server: usize,
        most: &Rational,
        in_all: &Rational,
    ) -> Stated<Vec<(u64, Rational)>> {
        let Some(list) = object.get("by_server") else { return Ok(Vec::new()) };
        let count = self.problem.servers()[server].count();
        let mut by_server: Vec<(u64, Rational)> = Vec::new();
        for raw in self.document.list(list)? {
            let entry = self.document.object(raw)?;
            entry.only(self.document, &["index", "amount"])?;
            let index_raw = entry.need(self.document, "index")?;
            let index = self.count(index_raw)?;
            if index >= count {
                let message = format!("found {index}: expected an integer from 0 to {}", count - 1);
                return Err(self.document.error(index_raw, message));
            }
            if by_server.last().is_some_and(|(last, _)| *last >= index) {
                let message = format!(
                    "found {index} after {}: expected ascending indices",
                    by_server[by_server.len() - 1].0
                );
                return Err(self.document.error(index_raw, message));
            }
            by_server.push((index, self.positive(entry.need(self.document, "amount")?)?));
        }
        let largest = by_server.iter().map(|(_, amount)| amount).max();
        let sum: Rational = by_server.iter().map(|(_, amount)| amount).sum();
        if largest != Some(most) || sum != *in_all {
            let message =
                "the largest amount of a server has to be `most`, and the sum of all amounts `in_all`";
            return Err(self.document.error(list, message));
        }
        Ok(by_server)
    }

    /// Checks that no user has more running, admitted and waiting tasks than the problem states.
    fn compare_sums(
        &self,
        object: &Object<'t>,
        waiting: &[Waiting],
        constraints: &[Constraint],
    ) -> Stated<()> {
        let mut sums = self.totals.clone();
        for (at, of) in constraints.iter().enumerate() {
            let user = &self.problem.users()[of.user];
            sums[of.user] += of.admitted;
            if of.admitted > 0 && user.tasks().is_some_and(|tasks| sums[of.user] > *tasks) {
                let raw = self.document.locate(&Place::root().key("constraints").index(at));
                let message = format!(
                    "more tasks of user `{}` run and are admitted than it has: expected at most its `tasks`",
                    shorten(user.name())
                );
                return Err(self.document.error(raw, message));
            }
        }
        for (at, waiting) in waiting.iter().enumerate() {
            let user = &self.problem.users()[waiting.user];
            sums[waiting.user] += waiting.tasks;
            if user.tasks().is_some_and(|tasks| sums[waiting.user] > *tasks) {
                let raw = self.document.locate(&Place::root().key("waiting").index(at));
                let message = format!(
                    "more tasks of user `{}` run and wait than it has: expected at most its `tasks`",
                    shorten(user.name())
                );
                return Err(self.document.error(raw, message));
            }
        }
        let over = |(n, user): &(usize, &User)| user.tasks().is_some_and(|tasks| self.totals[*n] > *tasks);
        match self.problem.users().iter().enumerate().find(over) {
            None => Ok(()),
            Some((_, user)) => {
                let raw = object.get("allocation").unwrap_or(object.raw());
                let message = format!(
                    "more tasks of user `{}` run than it has: expected at most its `tasks`",
                    shorten(user.name())
                );
                Err(self.document.error(raw, message))
            }
        }
    }

    /// Reads the field `names`, which may have at most `most` entries.
    fn some_names(&self, object: &Object<'t>, most: &Rational) -> Stated<Vec<String>> {
        let Some(raw) = object.get("names") else { return Ok(Vec::new()) };
        let names = strings(self.document, raw)?;
        if names.len() > *most {
            let message = format!("found {} names: expected at most {most}", names.len());
            return Err(self.document.error(raw, message));
        }
        Ok(names)
    }

    fn text_or_empty(&self, object: &Object<'t>, field: &str) -> Stated<String> {
        Ok(some_text(self.document, object, field)?.unwrap_or_default())
    }

    fn count(&self, raw: &'t RawValue) -> Stated<u64> {
        let value = self.document.number(raw)?;
        let whole = if value.is_integer() { value.numer().to_u64() } else { None };
        whole.filter(|count| *count <= MAX_COUNT).ok_or_else(|| {
            self.document.error(raw, format!("found {}: expected a whole number from 0 to 10^12", raw.get()))
        })
    }

    fn positive(&self, raw: &'t RawValue) -> Stated<Rational> {
        let value = self.document.number(raw)?;
        if value <= 0 {
            return Err(self.document.error(raw, format!("found {}: expected a number above 0", raw.get())));
        }
        Ok(value)
    }

    fn user(&self, raw: &'t RawValue) -> Stated<usize> {
        let name = self.document.string(raw)?;
        self.users.get(&*name).copied().ok_or_else(|| {
            let hint = hint(&name, self.problem.users().iter().map(User::name));
            self.document.error(raw, format!("the problem has no user `{}`{hint}", shorten(&name)))
        })
    }

    fn group(&self, raw: &'t RawValue) -> Stated<usize> {
        let name = self.document.string(raw)?;
        let known = |group: &'r Group| group.name.as_str();
        self.groups.get(&*name).copied().ok_or_else(|| {
            let hint = hint(&name, self.problem.groups().list().iter().map(known));
            self.document.error(raw, format!("the problem has no group `{}`{hint}", shorten(&name)))
        })
    }

    fn server(&self, raw: &'t RawValue) -> Stated<usize> {
        let name = self.document.string(raw)?;
        self.servers.get(&*name).copied().ok_or_else(|| self.document.error(raw, self.no_server(&name)))
    }

    fn no_server(&self, name: &str) -> String {
        let hint = hint(name, self.problem.servers().iter().map(ServerClass::name));
        format!("the problem has no server `{}`{hint}", shorten(name))
    }
}

/// Returns the snapshot as a file. The problem has its canonical form, and each entry of a list has its own line.
///
/// Reading the file again gives an equal snapshot, except that entries of 0 tasks are dropped.
#[must_use]
pub fn snapshot_to_json(snapshot: &Snapshot) -> String {
    let Snapshot { problem, allocation, .. } = snapshot;
    let server = |i: usize| problem.servers()[i].name();
    let user = |n: usize| problem.users()[n].name();
    let mut out = String::new();
    let mut file = Fields::file(&mut out, format_stated);
    file.text("kind", "snapshot");
    file.plain("version", "1");
    if let Some(system) = snapshot.system {
        file.text("system", system);
    }
    file.inner("problem", |out| canonical(out, problem, format_stated));
    file.object("allocation", |of| write_allocation(of, problem, allocation));
    if snapshot.servers.iter().any(|names| !names.is_empty()) {
        file.object("servers", |of| {
            let named = snapshot.servers.iter().enumerate().filter(|(_, names)| !names.is_empty());
            named.for_each(|(i, names)| of.names(server(i), names.iter().map(String::as_str)));
        });
    }
    file.lines("waiting", &snapshot.waiting, |line, waiting| {
        line.text("user", user(waiting.user));
        line.text("tasks", waiting.tasks);
        line.some_names("names", &waiting.names);
        line.some_text("reason", &waiting.reason);
    });
    file.lines("running", &snapshot.running, |line, running| {
        line.text("user", user(running.user));
        line.text("server", server(running.server));
        line.plain("index", &running.index.to_string());
        line.some_names("names", &running.names);
        line.some_names("owners", &running.owners);
        line.some_names("gangs", &running.gangs);
    });
    file.lines("reported", &snapshot.reported, |line, reported| {
        match &reported.of {
            Subject::Group(v) => line.text("group", &problem.groups().list()[*v].name),
            Subject::User(n) => line.text("user", user(*n)),
            Subject::Server(i) => line.text("server", server(*i)),
            Subject::Cluster => {}
        }
        line.text("what", &reported.what);
        if let Some(resource) = &reported.resource {
            line.text("resource", resource);
        }
        match &reported.value {
            Some(value) => line.number("value", value),
            None => line.text("value", "inf"),
        }
    });
    file.lines("sources", &snapshot.sources, |line, origin| {
        line.text("file", &origin.file);
        line.some_text("version", &origin.version);
        line.some_text("time", &origin.time);
        line.some_text("sha256", &origin.sha256);
    });
    file.lines("not_modelled", &snapshot.not_modelled, |line, left_out| {
        line.text("what", &left_out.what);
        line.plain("count", &left_out.count.to_string());
        line.some_names("names", &left_out.names);
    });
    file.lines("rounded", &snapshot.rounded, |line, rounded| {
        line.text("server", server(rounded.server));
        line.text("resource", &problem.resources()[rounded.resource]);
        line.number("most", &rounded.most);
        line.number("in_all", &rounded.in_all);
        if !rounded.by_server.is_empty() {
            line.list("by_server", &rounded.by_server, |of, (index, amount)| {
                of.plain("index", &index.to_string());
                of.number("amount", amount);
            });
        }
    });
    file.some_lines("constraints", &snapshot.constraints, |line, of| {
        line.text("user", user(of.user));
        if of.priority != 0 {
            line.plain("priority", &of.priority.to_string());
        }
        if of.protected {
            line.truth("protected");
        }
        if of.distinct_servers {
            line.truth("distinct_servers");
        }
        if !of.class_sets.is_empty() {
            line.name_lists("class_sets", of.class_sets.iter().map(|set| set.iter().map(|i| server(*i))));
        }
        line.some_text("together", &of.together);
        line.some_names("not_modelled", &of.not_modelled);
        if of.admitted > 0 {
            line.text("admitted", of.admitted);
        }
    });
    file.some_lines("preemption", &snapshot.preemption, |line, of| {
        line.text("group", &problem.groups().list()[of.group].name);
        line.text("across", of.across);
    });
    file.some_lines("closed", &snapshot.closed, |line, of| {
        line.text("server", server(of.server));
        line.some_text("reason", &of.reason);
    });
    file.some_lines("times", &snapshot.times, |line, of| {
        line.text("task", &of.task);
        let numbers = [
            ("limit", of.limit.map(|seconds| seconds.to_string())),
            ("left", of.left.map(|seconds| seconds.to_string())),
            ("priority", of.priority.map(|priority| priority.to_string())),
        ];
        for (field, number) in numbers {
            number.iter().for_each(|number| line.plain(field, number));
        }
    });
    file.some_lines("stopped", &snapshot.stopped, |line, of| {
        line.text("task", &of.task);
        line.some_text("by", &of.by);
        line.some_text("by_uid", &of.by_uid);
        line.some_text("rule", &of.rule);
        line.some_text("time", &of.time);
        line.some_text("message", &of.message);
    });
    file.end();
    out
}

/// Writes the placements, or the tasks on classes if there are no placements. Fields with default values are
/// left out.
fn write_allocation(of: &mut Fields<'_>, problem: &Problem, allocation: &Allocation) {
    of.text("kind", "allocation");
    if let Some(mechanism) = &allocation.mechanism {
        of.text("mechanism", mechanism);
    }
    if let Some(alpha) = &allocation.alpha {
        of.number("alpha", alpha);
    }
    if allocation.criterion {
        of.truth("criterion");
    }
    if let Some(rule) = &allocation.rule {
        of.text("rule", rule);
    }
    if allocation.sharing.name() != "rdm" {
        of.text("sharing", allocation.sharing);
    }
    if allocation.arithmetic == Arithmetic::Exact {
        of.text("arithmetic", allocation.arithmetic);
    }
    let user = |n: usize| problem.users()[n].name();
    if let Some(placements) = &allocation.placements {
        of.lines("placements", placements, |line, placement| {
            line.text("server", problem.servers()[placement.server].name());
            line.plain("index", &placement.index.to_string());
            line.object("tasks", |of| placement.tasks.iter().for_each(|(n, x)| of.number(user(*n), x)));
        });
        return;
    }
    of.object("tasks", |of| {
        for (n, row) in allocation.tasks.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
            of.object(user(n), |of| {
                row.iter().for_each(|(i, x)| of.number(problem.servers()[*i].name(), x));
            });
        }
    });
}
