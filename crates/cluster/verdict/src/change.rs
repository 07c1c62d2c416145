//! Changes of a snapshot: amounts that are set, servers that are added and removed, tasks that are submitted.
//!
//! A change edits the JSON document of the snapshot. The result is then read like any other file, so the reader refuses an
//! impossible change.

use std::collections::BTreeMap;

use evenhand_problem::format::{Source, snapshot_to_json};
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{ServerClass, hint};
use serde_json::{Map, Value, json};

use crate::error::ClusterError;

/// Changes of a cluster. First servers are removed, then tasks are submitted, then servers are added, then amounts are set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Paths and values. A path is `NAME.FIELD` or `NAME.FIELD.RESOURCE` of a group, user or server class, or `share.FIELD`. The
    /// value `none` removes the field.
    pub set: Vec<(String, String)>,
    /// Server classes, each with the number of servers that are added to it.
    pub add: Vec<(String, u64)>,
    /// The names of single servers that are removed.
    pub remove: Vec<String>,
    /// Users in the format of a problem, whose tasks are added. For a user of the snapshot, `name` and `tasks` suffice.
    pub submit: Vec<Value>,
}

/// The fields of a group that may be set. A field with one amount for each resource ends with a point.
const OF_GROUP: [&str; 6] = ["weight", "priority", "parent", "guarantee.", "limit.", "lend."];
/// The fields of a user that may be set.
const OF_USER: [&str; 6] = ["weight", "tasks", "group", "gang", "pinned", "demand."];
/// The fields of a server class that may be set.
const OF_CLASS: [&str; 1] = ["capacity."];
/// The fields of the problem's `share` that may be set.
const OF_SHARE: [&str; 5] = ["of", "over", "families", "zero-weight", "guarantees"];
/// The largest number of servers that may be added at once to a class whose servers have names. Each added
/// server gets a name.
const MOST_NAMED: u64 = 1_000_000;

fn wrong<T>(message: impl Into<String>) -> Result<T, ClusterError> {
    Err(ClusterError::Change(message.into()))
}

impl Changes {
    /// Reads a file of changes: `{"set": {"A.weight": 2}, "add": {"CLASS": 4}, "remove": ["NODE"], "submit": [USER]}`.
    ///
    /// # Errors
    /// [`ClusterError::Change`] if the text does not have this form.
    pub fn read(name: &str, text: &str) -> Result<Self, ClusterError> {
        let read = || -> Result<Self, String> {
            let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
            let Value::Object(fields) = document else {
                return Err("expected an object with `set`, `add`, `remove` or `submit`".to_owned());
            };
            let mut changes = Self::default();
            for (field, value) in fields {
                match (field.as_str(), value) {
                    ("set", Value::Object(set)) => {
                        for (path, value) in set {
                            changes.set.push((path, scalar_text(&value)?));
                        }
                    }
                    ("add", Value::Object(add)) => {
                        for (class, count) in add {
                            let parsed = scalar_text(&count)?.parse().ok().filter(|count| *count > 0);
                            let count = parsed
                                .ok_or_else(|| format!("add.{class}: expected a whole number above 0"))?;
                            changes.add.push((class, count));
                        }
                    }
                    ("remove", Value::Array(names)) => {
                        for name in names {
                            changes.remove.push(scalar_text(&name)?);
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
        read().map_err(|message| ClusterError::Change(format!("{name}: {message}")))
    }

    /// Adds the users of a file that `--submit` names: one user, or a list of users.
    ///
    /// # Errors
    /// [`ClusterError::Change`] if the text is neither a user nor a list of users.
    pub fn submit(&mut self, name: &str, text: &str) -> Result<(), ClusterError> {
        match serde_json::from_str(text) {
            Ok(Value::Array(users)) => self.submit.extend(users),
            Ok(user @ Value::Object(_)) => self.submit.push(user),
            Ok(_) => {
                return wrong(format!(
                    "{name}: expected a user as in a problem file, or a list of such users"
                ));
            }
            Err(error) => return wrong(format!("{name}: {error}")),
        }
        Ok(())
    }

    /// Returns `true` if there is no change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the snapshot after the changes.
    ///
    /// # Errors
    /// [`ClusterError::Change`] if one of the changes cannot be made.
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
        // The message has no line and column, because no user has seen the text that is read here.
        read.map_err(|error| {
            ClusterError::Change(format!("after the changes: {}: {}", error.place, error.message))
        })
    }
}

/// Returns the text of a JSON string, number or boolean.
fn scalar_text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err("expected a number or a name".to_owned()),
    }
}

/// Returns the element with a name in one of the problem's lists `groups`, `users` or `servers`.
fn named<'d>(document: &'d mut Value, list: &str, name: &str) -> Option<&'d mut Value> {
    document["problem"][list].as_array_mut()?.iter_mut().find(|item| item["name"] == name)
}

/// Sets a field of the document. The value `none` removes the field.
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
    // A name may contain points, so the longest prefix that is a name counts.
    let points: Vec<usize> = path.match_indices('.').map(|(at, _)| at).collect();
    for at in points.into_iter().rev() {
        let (name, rest) = (&path[..at], &path[at + 1..]);
        for (list, fields) in kinds {
            let by_resource =
                |field: &&&str| field.ends_with('.') && rest.starts_with(**field) && rest.len() > field.len();
            let Some(field) = fields.iter().find(|field| **field == rest).or(fields.iter().find(by_resource))
            else {
                continue;
            };
            let Some(item) = named(document, list, name) else { continue };
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
        "--set {path}: the snapshot has nothing of this name with such a field; expected NAME.FIELD=VALUE or \
         NAME.FIELD.RESOURCE=VALUE with a field of a group ({}), a user ({}) or a server class ({})",
        OF_GROUP.join(" "),
        OF_USER.join(" "),
        OF_CLASS.join(" ")
    ))
}

/// Adds the tasks of a user. If the user does not exist yet, it is added.
fn submit(document: &mut Value, user: &Value) -> Result<(), ClusterError> {
    let (Value::Object(fields), Some(name)) = (user, user["name"].as_str()) else {
        return wrong(
            "--submit: a user has no `name`: state the name of a user of the snapshot, or a new one",
        );
    };
    let Some(tasks) = fields.get("tasks").and_then(|tasks| scalar_text(tasks).ok()) else {
        return wrong(format!("--submit: the user `{name}` states no `tasks`: state how many are added"));
    };
    let more = evenhand_problem::number::parse(&tasks)
        .map_err(|error| ClusterError::Change(format!("--submit: the tasks of `{name}`: {error}")))?;
    match named(document, "users", name) {
        None => {
            if let Some(users) = document["problem"]["users"].as_array_mut() {
                users.push(user.clone());
            }
        }
        Some(known) => {
            let differs =
                |(field, value): &(&String, &Value)| *field != "tasks" && known[field.as_str()] != **value;
            if let Some((field, _)) = fields.iter().find(differs) {
                return wrong(format!(
                    "--submit: the snapshot has a user `{name}` with another `{field}`: state only `name` and `tasks` to add \
                     tasks to this user, or choose another name"
                ));
            }
            if let Some(own) = known["tasks"].as_str() {
                let own = evenhand_problem::number::parse(own)
                    .map_err(|error| ClusterError::Change(error.to_string()))?;
                known["tasks"] = json!((own + more).to_string());
            }
        }
    }
    Ok(())
}

/// Adds servers to a class. `snapshot` is the snapshot before all changes.
fn add(document: &mut Value, snapshot: &Snapshot, class: &str, count: u64) -> Result<(), ClusterError> {
    let Some(server) = named(document, "servers", class) else {
        let known = snapshot.problem.servers().iter().map(ServerClass::name);
        return wrong(format!("--add: there is no server class `{class}`{}", hint(class, known)));
    };
    let own: u64 = server["count"].as_str().map_or(Ok(1), str::parse).unwrap_or(1);
    // If the last server of a class was removed, the class still has one server without capacity. The class
    // now gets its old capacity back.
    let before = snapshot.problem.servers().iter().find(|before| before.name() == class);
    let was_emptied = server["capacity"].as_object().is_some_and(Map::is_empty)
        && before.is_some_and(|before| before.capacity().iter().any(|amount| !amount.is_zero()));
    let kept = if was_emptied { 0 } else { own };
    let Some(all) = kept.checked_add(count) else {
        return wrong(format!("--add {class}={count}: the class would have more than {} servers", u64::MAX));
    };
    server["count"] = json!(all.to_string());
    if let Some(before) = before.filter(|_| was_emptied) {
        let amounts = snapshot.problem.resources().iter().zip(before.capacity());
        let amounts = amounts.filter(|(_, amount)| !amount.is_zero());
        server["capacity"] = amounts.map(|(r, amount)| (r.clone(), json!(amount.to_string()))).collect();
    }
    let Value::Array(names) = &mut document["servers"][class] else {
        if let Value::Object(fields) = document {
            // Indexing a JSON object with a missing key inserts the key with `null`.
            if fields.get("servers").is_some_and(|servers| servers[class].is_null()) {
                drop_empty(fields, class);
            }
        }
        return Ok(());
    };
    if count > MOST_NAMED {
        return wrong(format!(
            "--add {class}={count}: the servers of this class have names, and at most {MOST_NAMED} can be added at once"
        ));
    }
    if was_emptied {
        names.clear();
    }
    names.extend((1..=count).map(|k| json!(format!("{class}, new {k}"))));
    Ok(())
}

/// Removes the entry of a class under `servers` that indexing has inserted. Also removes `servers` if it has no other
/// entry.
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

/// Removes a single server. The tasks that ran on the server then wait.
fn remove(snapshot: &mut Snapshot, name: &str) -> Result<(), ClusterError> {
    let Some((class, index)) = server_named(snapshot, name) else {
        let known = snapshot.servers.iter().flatten().map(String::as_str);
        let hint = hint(name, known);
        return wrong(format!(
            "--remove: there is no server `{name}`{hint}; servers without names are called `CLASS #INDEX`"
        ));
    };
    let Some(placements) = &mut snapshot.allocation.placements else {
        return wrong(format!(
            "--remove {name}: the snapshot does not say which tasks run on this server: state `allocation.placements`"
        ));
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
    // The indices of the servers after the removed server go down by 1.
    let shift = |at: &mut u64| *at -= u64::from(*at > index);
    let is_last = snapshot.problem.servers()[class].count() == 1;
    if !is_last {
        placements.iter_mut().filter(|on| on.server == class).for_each(|on| shift(&mut on.index));
        snapshot.running.iter_mut().filter(|of| of.server == class).for_each(|of| shift(&mut of.index));
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
        // A class must have a server, so its last server stays without capacity.
        server["capacity"] = json!({});
    } else {
        server["count"] = json!((snapshot.problem.servers()[class].count() - 1).to_string());
    }
    let text = problem.to_string();
    let read = Source { name: "after the changes", text: &text }.problem();
    snapshot.problem = read.map_err(|error| ClusterError::Change(error.message))?;
    Ok(())
}

/// Returns the class and the index of a single server. `name` is the name of the server, or `CLASS #INDEX`.
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
