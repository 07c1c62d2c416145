//! A snapshot after changes: amounts set, servers added and removed, tasks submitted.
//!
//! Changes are made in the snapshot as a document, which is then read as any other: what cannot be is an error of the reader.

use std::collections::BTreeMap;

use evenhand_problem::format::{Source, snapshot_to_json};
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{ServerClass, hint};
use serde_json::{Map, Value, json};

use crate::error::ClusterError;

/// A change of a cluster: first servers are removed, then tasks submitted and servers added, then amounts set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// `NAME.FIELD` or `NAME.FIELD.RESOURCE` of a group, user or server class, or `share.FIELD`, and the value; `none`
    /// takes the field away.
    pub set: Vec<(String, String)>,
    /// Classes, and how many servers more.
    pub add: Vec<(String, u64)>,
    /// Names of single servers.
    pub remove: Vec<String>,
    /// Users as a problem states them, whose tasks are added; of those that are there `name` and `tasks` suffice.
    pub submit: Vec<Value>,
}

/// Fields of a group, and of a user, that may be set; those that are by resource end with a point.
const OF_GROUP: [&str; 6] = ["weight", "priority", "parent", "guarantee.", "limit.", "lend."];
const OF_USER: [&str; 6] = ["weight", "tasks", "group", "gang", "pinned", "demand."];
const OF_CLASS: [&str; 1] = ["capacity."];
const OF_SHARE: [&str; 5] = ["of", "over", "families", "zero-weight", "guarantees"];
/// Servers that may be added at once, where servers have names: each gets one.
const MOST_NAMED: u64 = 1_000_000;

fn wrong<T>(what: impl Into<String>) -> Result<T, ClusterError> {
    Err(ClusterError::Change(what.into()))
}

impl Changes {
    /// Reads a file of changes: `{"set": {"A.weight": 2}, "add": {"CLASS": 4}, "remove": ["NODE"], "submit": [USER]}`.
    ///
    /// # Errors
    /// [`ClusterError::Change`] for anything else.
    pub fn read(name: &str, text: &str) -> Result<Self, ClusterError> {
        let read = || -> Result<Self, String> {
            let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
            let Value::Object(fields) = document else { return Err("expected an object".to_owned()) };
            let mut changes = Self::default();
            for (field, value) in fields {
                match (field.as_str(), value) {
                    ("set", Value::Object(set)) => {
                        for (path, value) in set {
                            changes.set.push((path, word(&value)?));
                        }
                    }
                    ("add", Value::Object(add)) => {
                        for (class, count) in add {
                            let found = word(&count)?.parse().ok().filter(|count| *count > 0);
                            let count = found
                                .ok_or_else(|| format!("add.{class}: expected a whole number above 0"))?;
                            changes.add.push((class, count));
                        }
                    }
                    ("remove", Value::Array(names)) => {
                        for name in names {
                            changes.remove.push(word(&name)?);
                        }
                    }
                    ("submit", Value::Array(users)) => changes.submit.extend(users),
                    ("submit", user @ Value::Object(_)) => changes.submit.push(user),
                    (other, _) => {
                        return Err(format!(
                            "`{other}`: expected `set` and `add` as objects, `remove` and `submit` as lists"
                        ));
                    }
                }
            }
            Ok(changes)
        };
        read().map_err(|what| ClusterError::Change(format!("{name}: {what}")))
    }

    /// Adds those of a file that `--submit` names: a user, or a list of users.
    ///
    /// # Errors
    /// [`ClusterError::Change`] for anything else.
    pub fn submit(&mut self, name: &str, text: &str) -> Result<(), ClusterError> {
        match serde_json::from_str(text) {
            Ok(Value::Array(users)) => self.submit.extend(users),
            Ok(user @ Value::Object(_)) => self.submit.push(user),
            Ok(_) => {
                return wrong(format!("{name}: expected a user as a problem states it, or a list of users"));
            }
            Err(error) => return wrong(format!("{name}: {error}")),
        }
        Ok(())
    }

    /// Whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The snapshot after them.
    ///
    /// # Errors
    /// [`ClusterError::Change`] where one cannot be made.
    pub fn apply(&self, snapshot: &Snapshot) -> Result<Snapshot, ClusterError> {
        let mut after = snapshot.clone();
        for name in &self.remove {
            remove(&mut after, name)?;
        }
        let text = snapshot_to_json(&after);
        let mut document: Value =
            serde_json::from_str(&text).map_err(|error| ClusterError::Change(error.to_string()))?;
        for user in &self.submit {
            submit(&mut document, user)?;
        }
        for (class, count) in &self.add {
            add(&mut document, snapshot, class, *count)?;
        }
        for (path, value) in &self.set {
            set(&mut document, path, value)?;
        }
        let text = document.to_string();
        let read = Source { name: "after the changes", text: &text }.snapshot();
        // Lines and columns are of a text that no user has seen.
        read.map_err(|error| {
            ClusterError::Change(format!("after the changes: {}: {}", error.place, error.message))
        })
    }
}

/// A text, a number or a truth as it is written.
fn word(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err("expected a number or a name".to_owned()),
    }
}

fn named<'d>(document: &'d mut Value, of: &str, name: &str) -> Option<&'d mut Value> {
    document["problem"][of].as_array_mut()?.iter_mut().find(|item| item["name"] == name)
}

fn set(document: &mut Value, path: &str, value: &str) -> Result<(), ClusterError> {
    if let Some(field) = path.strip_prefix("share.").filter(|field| OF_SHARE.contains(field)) {
        let value = match value {
            "true" | "false" if field == "families" => json!(value == "true"),
            text => json!(text),
        };
        document["problem"]["share"][field] = value;
        return Ok(());
    }
    let kinds: [(&str, &[&str]); 3] = [("groups", &OF_GROUP), ("users", &OF_USER), ("servers", &OF_CLASS)];
    // Names may hold points: the longest that is one counts.
    let points: Vec<usize> = path.match_indices('.').map(|(at, _)| at).collect();
    for at in points.into_iter().rev() {
        let (name, rest) = (&path[..at], &path[at + 1..]);
        for (of, fields) in kinds {
            let by_resource =
                |field: &&&str| field.ends_with('.') && rest.starts_with(**field) && rest.len() > field.len();
            let Some(field) = fields.iter().find(|field| **field == rest).or(fields.iter().find(by_resource))
            else {
                continue;
            };
            let Some(item) = named(document, of, name) else { continue };
            let (item, key) = match field.strip_suffix('.') {
                None => (item, rest),
                Some(field) => {
                    if !item[field].is_object() {
                        item[field] = json!({});
                    }
                    (&mut item[field], &rest[field.len() + 1..])
                }
            };
            if let Value::Object(fields) = item {
                if value == "none" {
                    fields.remove(key);
                } else {
                    fields.insert(key.to_owned(), json!(value));
                }
            }
            return Ok(());
        }
    }
    wrong(format!(
        "--set {path}: expected NAME.FIELD=VALUE or NAME.FIELD.RESOURCE=VALUE, of a group ({}), a user ({}) or a server \
         class ({}) that is there",
        OF_GROUP.join(" "),
        OF_USER.join(" "),
        OF_CLASS.join(" ")
    ))
}

fn submit(document: &mut Value, user: &Value) -> Result<(), ClusterError> {
    let (Value::Object(fields), Some(name)) = (user, user["name"].as_str()) else {
        return wrong("a user to submit has no `name`");
    };
    let Some(tasks) = fields.get("tasks").and_then(|tasks| word(tasks).ok()) else {
        return wrong(format!("--submit: the user `{name}` states no `tasks`"));
    };
    let more = evenhand_problem::number::parse(&tasks)
        .map_err(|error| ClusterError::Change(format!("--submit: the tasks of `{name}`: {error}")))?;
    match named(document, "users", name) {
        None => {
            if let Some(users) = document["problem"]["users"].as_array_mut() {
                users.push(user.clone());
            }
        }
        Some(there) => {
            let differs =
                |(field, value): &(&String, &Value)| *field != "tasks" && there[field.as_str()] != **value;
            if let Some((field, _)) = fields.iter().find(differs) {
                return wrong(format!(
                    "--submit: there is a user `{name}` already, and its `{field}` is another: state the name and the \
                     tasks alone, or another name"
                ));
            }
            if let Some(own) = there["tasks"].as_str() {
                let own = evenhand_problem::number::parse(own)
                    .map_err(|error| ClusterError::Change(error.to_string()))?;
                there["tasks"] = json!((own + more).to_string());
            }
        }
    }
    Ok(())
}

fn add(document: &mut Value, snapshot: &Snapshot, class: &str, count: u64) -> Result<(), ClusterError> {
    let Some(there) = named(document, "servers", class) else {
        let known = snapshot.problem.servers().iter().map(ServerClass::name);
        return wrong(format!("--add: there is no server class `{class}`{}", hint(class, known)));
    };
    let own: u64 = there["count"].as_str().map_or(Ok(1), str::parse).unwrap_or(1);
    // A class whose last server was removed has one server of nothing in its place: it is again what it was.
    let of = snapshot.problem.servers().iter().find(|of| of.name() == class);
    let was_emptied = there["capacity"].as_object().is_some_and(Map::is_empty)
        && of.is_some_and(|of| of.capacity().iter().any(|amount| !amount.is_zero()));
    let kept = if was_emptied { 0 } else { own };
    let Some(all) = kept.checked_add(count) else { return wrong("--add: too many servers") };
    there["count"] = json!(all.to_string());
    if let Some(of) = of.filter(|_| was_emptied) {
        let amounts = snapshot.problem.resources().iter().zip(of.capacity());
        let amounts = amounts.filter(|(_, amount)| !amount.is_zero());
        there["capacity"] = amounts.map(|(r, amount)| (r.clone(), json!(amount.to_string()))).collect();
    }
    let Value::Array(names) = &mut document["servers"][class] else {
        if let Value::Object(fields) = document {
            // Indexing has made what was not there.
            if fields.get("servers").is_some_and(|servers| servers[class].is_null()) {
                drop_empty(fields, class);
            }
        }
        return Ok(());
    };
    if count > MOST_NAMED {
        return wrong(format!("--add: more than {MOST_NAMED} servers of a class whose servers have names"));
    }
    if was_emptied {
        names.clear();
    }
    names.extend((1..=count).map(|k| json!(format!("{class}, new {k}"))));
    Ok(())
}

/// Takes back what indexing by a name has made.
fn drop_empty(fields: &mut Map<String, Value>, class: &str) {
    if let Some(Value::Object(servers)) = fields.get_mut("servers") {
        servers.remove(class);
        if servers.is_empty() {
            fields.remove("servers");
        }
    } else {
        fields.remove("servers");
    }
}

/// Takes a single server away: what runs there waits.
fn remove(snapshot: &mut Snapshot, name: &str) -> Result<(), ClusterError> {
    let Some((class, index)) = server_named(snapshot, name) else {
        let known = snapshot.servers.iter().flatten().map(String::as_str);
        let hint = hint(name, known);
        return wrong(format!(
            "--remove: there is no server `{name}`{hint}; servers without names are called `CLASS #INDEX`"
        ));
    };
    let Some(placements) = &mut snapshot.allocation.placements else {
        return wrong(
            "--remove: the snapshot has no placements, so that it is not known what runs on a server",
        );
    };
    placements.retain(|on| (on.server, on.index) != (class, index));
    let mut stopped: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    snapshot.running.retain(|of| {
        let is_there = (of.server, of.index) == (class, index);
        if is_there {
            stopped.entry(of.user).or_default().extend(of.names.iter().cloned());
        }
        !is_there
    });
    // Servers after it come one nearer.
    let nearer = |at: &mut u64| *at -= u64::from(*at > index);
    let is_last = snapshot.problem.servers()[class].count() == 1;
    if !is_last {
        placements.iter_mut().filter(|on| on.server == class).for_each(|on| nearer(&mut on.index));
        snapshot.running.iter_mut().filter(|of| of.server == class).for_each(|of| nearer(&mut of.index));
        if let Some(names) = snapshot.servers.get_mut(class).filter(|names| !names.is_empty()) {
            names.remove(usize::try_from(index).unwrap_or(usize::MAX).min(names.len() - 1));
        }
    }
    let placements = placements.clone();
    snapshot.allocation = crate::servers::placed(&snapshot.allocation, placements);
    for (user, names) in stopped {
        let reason = "its server was removed".to_owned();
        let tasks = names.len() as u64;
        snapshot.waiting.push(evenhand_problem::snapshot::Waiting { user, tasks, names, reason });
    }
    let text = evenhand_problem::format::problem_to_json(&snapshot.problem);
    let mut problem: Value =
        serde_json::from_str(&text).map_err(|error| ClusterError::Change(error.to_string()))?;
    let server = &mut problem["servers"][class];
    if is_last {
        // A class has a server: this one has nothing.
        server["capacity"] = json!({});
    } else {
        server["count"] = json!((snapshot.problem.servers()[class].count() - 1).to_string());
    }
    let text = problem.to_string();
    let read = Source { name: "after the changes", text: &text }.problem();
    snapshot.problem = read.map_err(|error| ClusterError::Change(error.message))?;
    Ok(())
}

/// The class and the index of a single server, by its own name or as `CLASS #INDEX`.
#[must_use]
pub fn server_named(snapshot: &Snapshot, name: &str) -> Option<(usize, u64)> {
    for (class, names) in snapshot.servers.iter().enumerate() {
        if let Some(index) = names.iter().position(|of| of == name) {
            return Some((class, index as u64));
        }
    }
    let (class, index) = match name.rsplit_once(" #") {
        Some((class, index)) => (class, index.parse().ok()?),
        None => (name, 0),
    };
    let class = snapshot.problem.servers().iter().position(|of| of.name() == class)?;
    let of = &snapshot.problem.servers()[class];
    (index < of.count() && (name.contains(" #") || of.count() == 1)).then_some((class, index))
}
