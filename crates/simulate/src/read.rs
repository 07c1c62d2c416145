//! Reads a scenario from its file (docs/simulation.md).

use std::path::{Path, PathBuf};

use evenhand_import::{GoogleUsers, Input, google_machines, openb_nodes};
use evenhand_mechanisms::filling::Policy;
use evenhand_problem::format::{Document, FormatError, Source, groups_spec, server_spec};
use evenhand_problem::{Problem, ServerSpec};
use events::Changing;
use serde_json::value::RawValue;

use crate::cost::Growing;
use crate::fields::{Fields, Read, count, positive, text, texts};
use crate::scenario::{Queues, Scenario, TraceFile};

mod events;
mod policy;
mod users;

/// Reading of simulation scenarios.
pub trait ReadScenario {
    /// Reads the text as a scenario.
    ///
    /// Relative paths of files are relative to `folder`. Tables of servers are read immediately. Traces are
    /// read when the scenario is run.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the text is not JSON, not a scenario, or states an impossible scenario.
    fn scenario(&self, folder: &Path) -> Result<Scenario, FormatError>;
}

impl ReadScenario for Document<'_> {
    fn scenario(&self, folder: &Path) -> Result<Scenario, FormatError> {
        Reader { document: self, folder }.scenario()
    }
}

impl ReadScenario for Source<'_> {
    fn scenario(&self, folder: &Path) -> Result<Scenario, FormatError> {
        self.document()?.scenario(folder)
    }
}

const FIELDS: [&str; 13] = [
    "kind",
    "name",
    "resources",
    "servers",
    "draw_servers",
    "events",
    "policy",
    "groups",
    "share",
    "users",
    "trace",
    "horizon",
    "every",
];

/// The servers of a scenario.
struct Servers {
    classes: Vec<ServerSpec>,
    /// The servers that come and go, or `None` if servers do not change. If there are any, `classes` is
    /// empty.
    changing: Option<Changing>,
    /// Notes on rows of a table that were left out.
    notes: Vec<String>,
}

struct Reader<'d, 't> {
    document: &'d Document<'t>,
    folder: &'d Path,
}

impl<'t> Reader<'_, 't> {
    fn scenario(&self) -> Read<Scenario> {
        let document = self.document;
        let fields = Fields::of_kind(document, "scenario", &FIELDS)?;
        let name = fields.optional("name", text)?;
        let stated = self.servers(fields.need("servers")?)?;
        let policy = policy::policy(document, fields.need("policy")?)?;
        let (groups, share) = groups_spec(document, &fields.object)?;
        for field in ["groups", "share"] {
            only_of_tree(policy, &fields, field)?;
        }
        let trace = fields.optional("trace", |_, raw| self.trace(raw))?;
        let resources = resources(&fields, trace.as_ref())?;
        let usage = policy::usage(document, fields.need("policy")?, &resources)?;
        let Servers { classes, changing, notes } = stated;
        let taken = "`servers` already takes the machine events of its trace";
        fields.refuse("events", changing.is_some(), taken)?;
        let events = |_: &_, raw| events::events(document, raw, &classes, &resources);
        let changing = fields.optional("events", events)?.or(changing);
        let why = "servers that are drawn are present all the time and cannot have events";
        fields.refuse("draw_servers", changing.is_some(), why)?;
        let names = changing.as_ref().map(|changing| changing.classes.clone());
        let (servers, machines) = match changing {
            Some(Changing { servers, machines, .. }) => (servers, Some(machines)),
            None => (classes, None),
        };
        let mut scenario = Scenario {
            name: name.unwrap_or_default(),
            resources,
            servers,
            machines,
            notes,
            draw_servers: fields.optional("draw_servers", count)?,
            policy,
            usage,
            users: Vec::new(),
            arrivals: Vec::new(),
            queues: Queues { groups, share, members: Vec::new() },
            trace: None,
            horizon: fields.optional("horizon", positive)?,
            every: fields.optional("every", positive)?,
            has_history: false,
        };
        let brings_users = !matches!(trace, None | Some(TraceFile::Tasks(_)));
        fields.refuse(
            "users",
            brings_users,
            "`users` cannot be combined with a `trace` that states its own users",
        )?;
        if !brings_users {
            for raw in document.list(fields.need("users")?)? {
                users::user(document, raw, trace.is_some(), &mut scenario)?;
            }
        }
        scenario.trace = trace;
        // Servers of one name have a class for each of their capacities. A user that names the servers may
        // use all these classes.
        let mut memory = Growing::new("the list of servers that users may use");
        let mut all = 0;
        if let Some(names) = &names {
            for user in &mut scenario.users {
                let Some(stated) = &mut user.servers else { continue };
                let parts = |name: &String| names.get(name).map_or(1, Vec::len);
                all += stated.iter().map(parts).sum::<usize>() as u64;
                memory.need(OF_NAME * all);
                let of = |name: &String| names.get(name).cloned().unwrap_or_else(|| vec![name.clone()]);
                *stated = stated.iter().flat_map(of).collect();
            }
        }
        // Mistakes in servers and users are reported at their places in the file. If servers are drawn,
        // drawing happens later, for each seed.
        let stated = Scenario { draw_servers: None, ..scenario.clone() };
        match stated.problem(0) {
            Err(crate::SimulateError::Problem(error)) => Err(document.problem_error(&error)),
            Ok(problem) if !brings_users => {
                fit_somewhere(&fields, &problem)?;
                scenario.whole().map_err(|error| document.error(document.root(), error.to_string()))?;
                Ok(scenario)
            }
            _ => Ok(scenario),
        }
    }

    fn servers(&self, raw: &'t RawValue) -> Read<Servers> {
        let document = self.document;
        if raw.get().starts_with('[') {
            let classes = server_list(document, raw)?;
            return Ok(Servers { classes, changing: None, notes: Vec::new() });
        }
        let fields = Fields::of(document, raw, &["google", "openb", "events"])?;
        let has_events = fields.optional("events", Document::boolean)?.unwrap_or_default();
        let (path, is_google) = match (fields.get("google"), fields.get("openb")) {
            (Some(path), None) => (path, true),
            (None, Some(path)) => (path, false),
            _ => {
                let expected = "expected a list of servers, or one of `google` and `openb`";
                return Err(document.error(raw, expected));
            }
        };
        fields.refuse("events", !is_google, "only the machines of `google` have events")?;
        let file = self.path(path)?;
        let of_file = |error: evenhand_import::ImportError| document.error(path, error.to_string());
        if has_events {
            let (changing, notes) = events::google(&file).map_err(of_file)?;
            return Ok(Servers { classes: Vec::new(), changing: Some(changing), notes });
        }
        let table = Input::open(&file);
        let read = table.and_then(|table| match is_google {
            true => google_machines(table),
            false => openb_nodes(table).map(|classes| (classes, Vec::new())),
        });
        let (classes, notes) = read.map_err(of_file)?;
        Ok(Servers { classes, changing: None, notes: notes.iter().map(ToString::to_string).collect() })
    }

    fn trace(&self, raw: &'t RawValue) -> Read<TraceFile> {
        let document = self.document;
        let fields = Fields::of(document, raw, &["tasks", "google", "by", "openb", "azure"])?;
        let kinds = ["tasks", "google", "openb", "azure"];
        let given: Vec<&str> = kinds.into_iter().filter(|kind| fields.get(kind).is_some()).collect();
        let [kind] = given[..] else {
            return Err(fields.error("expected one of `tasks`, `google`, `openb` and `azure`"));
        };
        fields.refuse("by", kind != "google", "only a trace of `google` can be taken by user or shape")?;
        let path = fields.need(kind)?;
        Ok(match kind {
            "tasks" => TraceFile::Tasks(self.path(path)?),
            "openb" => TraceFile::Openb(self.path(path)?),
            "azure" => TraceFile::Azure(self.path(path)?),
            _ => {
                let files = document.list(path)?.into_iter();
                let files = files.map(|raw| self.path(raw)).collect::<Result<Vec<_>, _>>()?;
                let by = match fields.optional("by", text)?.as_deref() {
                    None | Some("user") => GoogleUsers::ByUser,
                    Some("shape") => GoogleUsers::ByShape,
                    Some(by) => {
                        let message = format!("found `{by}`: expected `user` or `shape`");
                        return Err(document.error(fields.place("by"), message));
                    }
                };
                TraceFile::Google(files, by)
            }
        })
    }

    fn path(&self, raw: &'t RawValue) -> Read<PathBuf> {
        Ok(self.folder.join(text(self.document, raw)?))
    }
}

/// Checks that the task of every user fits on an empty server of some class.
fn fit_somewhere(fields: &Fields<'_, '_>, problem: &Problem) -> Read<()> {
    for (n, raw) in fields.list("users")?.into_iter().enumerate() {
        if !(0..problem.n_servers()).any(|i| fits_on(problem, n, i)) {
            let user = problem.users()[n].name().to_owned();
            let stated = fields.document.object(raw)?.get("demand").unwrap_or(raw);
            let error = crate::SimulateError::TaskTooLarge { user };
            return Err(fields.document.error(stated, error.to_string()));
        }
    }
    Ok(())
}

/// Rejects a field about groups or gangs unless the policy is `tree`.
fn only_of_tree(policy: Policy, fields: &Fields<'_, '_>, field: &str) -> Read<()> {
    let why = "groups and gangs are served by the policy `tree`: {\"tree\": {}}";
    fields.refuse(field, !matches!(policy, Policy::Tree(_)), why)
}

/// Returns the names of the resources, as the scenario states them or as tables of servers and traces imply
/// them.
fn resources(fields: &Fields<'_, '_>, trace: Option<&TraceFile>) -> Read<Vec<String>> {
    let of_servers = fields.get("servers").and_then(|raw| fields.document.object(raw).ok());
    let of_table = of_servers.and_then(|table| match (table.get("google"), table.get("openb")) {
        (Some(_), _) => Some(&["cpu", "memory"][..]),
        (_, Some(_)) => Some(&["cpu", "memory", "gpu"][..]),
        _ => None,
    });
    let of_trace = trace.and_then(|trace| match trace {
        TraceFile::Tasks(_) => None,
        TraceFile::Google(..) => Some(&["cpu", "memory"][..]),
        TraceFile::Openb(_) => Some(&["cpu", "memory", "gpu"][..]),
        TraceFile::Azure(_) => Some(&["vcpu", "memory"][..]),
    });
    match (fields.get("resources"), of_trace.or(of_table)) {
        (None, Some(names)) => Ok(names.iter().map(|&name| name.to_owned()).collect()),
        (_, implied) => {
            let names = fields.needed("resources", texts)?;
            if let Some(implied) = implied.filter(|implied| *implied != names) {
                let message = format!("the data has the resources {}", implied.join(", "));
                return Err(fields.document.error(fields.place("resources"), message));
            }
            Ok(names)
        }
    }
}

/// Reads a list of server classes.
pub(crate) fn server_list<'t>(document: &Document<'t>, raw: &'t RawValue) -> Read<Vec<ServerSpec>> {
    let of = |raw: &'t RawValue| {
        let object = document.object(raw)?;
        object.need(document, "capacity")?;
        server_spec(document, &object, &[])
    };
    document.list(raw)?.into_iter().map(of).collect()
}

/// Returns whether a task of user `n` fits on an empty server of class `i`.
pub(crate) fn fits_on(problem: &Problem, n: usize, i: usize) -> bool {
    let capacity = problem.servers()[i].capacity();
    let mut demand = problem.demand(n, i).iter().zip(capacity.iter());
    problem.users()[n].may_use(i) && demand.all(|(d, c)| d <= c)
}

/// The bytes of the name of a server in a user's list, with its temporary copies.
const OF_NAME: u64 = 150;
