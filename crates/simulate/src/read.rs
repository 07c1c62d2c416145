//! A scenario from its file (docs/simulation.md).

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use evenhand_import::{GoogleUsers, Input, google_machines, openb_nodes};
use evenhand_mechanisms::filling::Policy;
use evenhand_problem::format::{Document, FormatError, Object, Source, groups_spec, server_spec};
use evenhand_problem::{Problem, Rational, ServerSpec};
use events::Changing;
use serde_json::value::RawValue;

use crate::cost::Growing;
use crate::scenario::{Queues, Scenario, TraceFile};

mod events;
mod policy;
mod users;

pub(crate) use users::duration;

/// Reads scenarios.
pub trait ReadScenario {
    /// The text as a scenario; the files that it names stand in `folder`, unless their paths are absolute.
    /// Tables of servers are read at once, traces when the scenario is run.
    ///
    /// # Errors
    /// [`FormatError`] when the text is no JSON, no scenario, or states an impossible one.
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
    /// In their place: servers that come and go.
    changing: Option<Changing>,
    /// What a table leaves out.
    notes: Vec<String>,
}

struct Reader<'d, 't> {
    document: &'d Document<'t>,
    folder: &'d Path,
}

impl<'t> Reader<'_, 't> {
    fn scenario(&self) -> Result<Scenario, FormatError> {
        let document = self.document;
        let object = document.object(document.root())?;
        object.of_kind(document, "scenario")?;
        object.only_at_top(document, &FIELDS)?;
        let name = object.get("name").map(|raw| document.string(raw)).transpose()?;
        let stated = self.servers(object.need(document, "servers")?)?;
        let policy = self.policy(object.need(document, "policy")?)?;
        let (groups, share) = groups_spec(document, &object)?;
        for field in ["groups", "share"] {
            self.only_of_tree(policy, &object, field)?;
        }
        let trace = object.get("trace").map(|raw| Ok((raw, self.trace(raw)?))).transpose()?;
        let resources = self.resources(&object, trace.as_ref().map(|(_, trace)| trace))?;
        let Servers { classes, changing, notes } = stated;
        let changing = match (object.get("events"), changing) {
            (Some(raw), Some(_)) => {
                return Err(
                    document.error_on_key(raw, "`servers` takes the machine events of its trace already")
                );
            }
            (Some(raw), None) => Some(self.events(raw, &classes, &resources)?),
            (None, changing) => changing,
        };
        if let (Some(raw), true) = (object.get("draw_servers"), changing.is_some()) {
            let why = "servers that are drawn are there all the time: no events tell of them";
            return Err(document.error_on_key(raw, why));
        }
        let names = changing.as_ref().map(|changing| changing.classes.clone());
        let (servers, machines) = match changing {
            Some(Changing { servers, machines, .. }) => (servers, Some(machines)),
            None => (classes, None),
        };
        let mut scenario = Scenario {
            name: name.unwrap_or_default().into_owned(),
            resources,
            servers,
            machines,
            notes,
            draw_servers: self.optional(&object, "draw_servers", Self::whole)?,
            policy,
            users: Vec::new(),
            arrivals: Vec::new(),
            queues: Queues { groups, share, members: Vec::new() },
            trace: None,
            horizon: self.optional(&object, "horizon", Self::positive)?,
            every: self.optional(&object, "every", Self::positive)?,
        };
        match (&trace, object.get("users")) {
            (Some((_, TraceFile::Tasks(_))) | None, None) => {
                return Err(object
                    .need(document, "users")
                    .err()
                    .unwrap_or_else(|| document.error(object.raw(), "the field `users` is missing")));
            }
            (Some((_, TraceFile::Tasks(_))) | None, Some(raw)) => {
                let is_table = trace.is_some();
                for raw in document.list(raw)? {
                    self.user(raw, is_table, &mut scenario)?;
                }
            }
            (Some(_), Some(raw)) => {
                return Err(document.error_on_key(raw, "`users` beside a `trace` that brings its own"));
            }
            (Some(_), None) => {}
        }
        scenario.trace = trace.map(|(_, trace)| trace);
        // Who names servers means them with whatever capacity they have.
        let mut memory = Growing::new("the servers that users may use");
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
        // Faults of servers and users, at their places; what is drawn is drawn later.
        let stated = Scenario { draw_servers: None, ..scenario.clone() };
        match stated.problem(0) {
            Err(crate::SimulateError::Problem(error)) => Err(document.problem_error(&error)),
            Ok(problem)
                if scenario.trace.as_ref().is_none_or(|trace| matches!(trace, TraceFile::Tasks(_))) =>
            {
                self.fit_somewhere(&object, &problem)?;
                scenario.whole().map_err(|error| document.error(document.root(), error.to_string()))?;
                Ok(scenario)
            }
            _ => Ok(scenario),
        }
    }

    /// Whether every user's task fits on an empty server of some class.
    fn fit_somewhere(&self, object: &Object<'t>, problem: &Problem) -> Result<(), FormatError> {
        let users = object.get("users").map_or(Ok(Vec::new()), |raw| self.document.list(raw))?;
        for (n, raw) in users.into_iter().enumerate() {
            if !(0..problem.n_servers()).any(|i| fits_on(problem, n, i)) {
                let user = problem.users()[n].name().to_owned();
                let stated = self.document.object(raw)?.get("demand").unwrap_or(raw);
                let error = crate::SimulateError::TaskTooLarge { user };
                return Err(self.document.error(stated, error.to_string()));
            }
        }
        Ok(())
    }

    /// Groups go with one policy.
    fn only_of_tree(&self, policy: Policy, object: &Object<'t>, field: &str) -> Result<(), FormatError> {
        match object.get(field) {
            Some(raw) if !matches!(policy, Policy::Tree(_)) => {
                let why = "groups and gangs are served by the policy `tree`: {\"tree\": {}}";
                Err(self.document.error_on_key(raw, why))
            }
            _ => Ok(()),
        }
    }

    fn resources(&self, object: &Object<'t>, trace: Option<&TraceFile>) -> Result<Vec<String>, FormatError> {
        let of_servers = object.get("servers").and_then(|raw| self.document.object(raw).ok());
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
        let implied = of_trace.or(of_table);
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        match (object.get("resources"), implied) {
            (None, Some(names)) => Ok(owned(names)),
            (None, None) => Err(object
                .need(self.document, "resources")
                .err()
                .unwrap_or_else(|| self.document.error(object.raw(), "the field `resources` is missing"))),
            (Some(raw), implied) => {
                let names = self.document.list(raw)?.into_iter();
                let names: Vec<String> = names
                    .map(|raw| Ok(self.document.string(raw)?.into_owned()))
                    .collect::<Result<_, FormatError>>()?;
                if let Some(implied) = implied.filter(|implied| owned(implied) != names) {
                    let message = format!("the data has the resources {}", implied.join(", "));
                    return Err(self.document.error(raw, message));
                }
                Ok(names)
            }
        }
    }

    fn servers(&self, raw: &'t RawValue) -> Result<Servers, FormatError> {
        let document = self.document;
        if raw.get().starts_with('[') {
            let of = |raw: &'t RawValue| {
                let object = document.object(raw)?;
                object.need(document, "capacity")?;
                server_spec(document, &object, &[])
            };
            let classes = document.list(raw)?.into_iter().map(of).collect::<Result<_, FormatError>>()?;
            return Ok(Servers { classes, changing: None, notes: Vec::new() });
        }
        let object = document.object(raw)?;
        object.only(document, &["google", "openb", "events"])?;
        let events = object.get("events").map(|raw| Ok((raw, document.boolean(raw)?))).transpose()?;
        let (path, is_google) = match (object.get("google"), object.get("openb")) {
            (Some(path), None) => (path, true),
            (None, Some(path)) => (path, false),
            _ => {
                let expected = "expected a list of servers, or one of `google` and `openb`";
                return Err(document.error(raw, expected));
            }
        };
        if let (Some((raw, _)), false) = (events, is_google) {
            return Err(document.error_on_key(raw, "only the machines of `google` have events"));
        }
        let file = self.path(path)?;
        let of_file = |error: evenhand_import::ImportError| document.error(path, error.to_string());
        if events.is_some_and(|(_, are_taken)| are_taken) {
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

    fn trace(&self, raw: &'t RawValue) -> Result<TraceFile, FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        object.only(document, &["tasks", "google", "by", "openb", "azure"])?;
        let kinds = ["tasks", "google", "openb", "azure"];
        let given: Vec<&str> = kinds.into_iter().filter(|kind| object.get(kind).is_some()).collect();
        let [kind] = given[..] else {
            return Err(document.error(raw, "expected one of `tasks`, `google`, `openb` and `azure`"));
        };
        if let (Some(by), true) = (object.get("by"), kind != "google") {
            return Err(document.error_on_key(by, "only a trace of `google` can be taken by user or shape"));
        }
        let path = object.need(document, kind)?;
        Ok(match kind {
            "tasks" => TraceFile::Tasks(self.path(path)?),
            "openb" => TraceFile::Openb(self.path(path)?),
            "azure" => TraceFile::Azure(self.path(path)?),
            _ => {
                let files = document.list(path)?.into_iter();
                let files = files.map(|raw| self.path(raw)).collect::<Result<Vec<_>, _>>()?;
                let by = match object.get("by").map(|raw| Ok((raw, document.string(raw)?))).transpose()? {
                    None => GoogleUsers::ByUser,
                    Some((_, by)) if by == "user" => GoogleUsers::ByUser,
                    Some((_, by)) if by == "shape" => GoogleUsers::ByShape,
                    Some((raw, by)) => {
                        return Err(document.error(raw, format!("found `{by}`: expected `user` or `shape`")));
                    }
                };
                TraceFile::Google(files, by)
            }
        })
    }

    fn optional<T>(
        &self,
        object: &Object<'t>,
        name: &str,
        read: impl Fn(&Self, &'t RawValue) -> Result<T, FormatError>,
    ) -> Result<Option<T>, FormatError> {
        object.get(name).map(|raw| read(self, raw)).transpose()
    }

    fn path(&self, raw: &'t RawValue) -> Result<PathBuf, FormatError> {
        Ok(self.folder.join(self.document.string(raw)?.as_ref()))
    }

    fn not_negative(&self, raw: &'t RawValue) -> Result<f64, FormatError> {
        not_negative(self.document, raw)
    }

    fn positive(&self, raw: &'t RawValue) -> Result<f64, FormatError> {
        positive(self.document, raw)
    }

    fn whole(&self, raw: &'t RawValue) -> Result<u64, FormatError> {
        whole(self.document, raw, 1..=MOST)
    }
}

fn number(
    document: &Document<'_>,
    raw: &RawValue,
    expected: &str,
    is: fn(&Rational) -> bool,
) -> Result<f64, FormatError> {
    let value = document.number(raw)?;
    let number = evenhand_problem::number::to_f64(&value);
    if number > LARGEST {
        return Err(document.error(raw, TOO_LARGE));
    }
    if !is(&value) {
        let found = evenhand_problem::number::format_stated(&value);
        return Err(document.error(raw, format!("found {found}: expected {expected}")));
    }
    Ok(number)
}

pub(crate) fn not_negative(document: &Document<'_>, raw: &RawValue) -> Result<f64, FormatError> {
    number(document, raw, "a number of at least 0", |value| *value >= 0)
}

pub(crate) fn positive(document: &Document<'_>, raw: &RawValue) -> Result<f64, FormatError> {
    // Far below the least double a positive number is none any more.
    number(document, raw, "a number above 0", |value| {
        *value > 0 && evenhand_problem::number::to_f64(value) > 0.0
    })
}

/// A whole number within these bounds.
pub(crate) fn whole(
    document: &Document<'_>,
    raw: &RawValue,
    bounds: RangeInclusive<u64>,
) -> Result<u64, FormatError> {
    let stated = document.number(raw)?;
    let whole = if stated.is_integer() { stated.numer().to_u64() } else { None };
    let (least, most) = (bounds.start(), bounds.end());
    // As it is written, of which a number has no more than digits.
    let found = raw.get().trim_matches('"');
    let message = || format!("found {found:.60}: expected a whole number from {least} to {most}");
    whole.filter(|count| bounds.contains(count)).ok_or_else(|| document.error(raw, message()))
}

/// Whether a task of user `n` fits on an empty server of class `i`.
pub(crate) fn fits_on(problem: &Problem, n: usize, i: usize) -> bool {
    let capacity = problem.servers()[i].capacity();
    let mut demand = problem.demand(n, i).iter().zip(capacity.iter());
    problem.users()[n].may_use(i) && demand.all(|(d, c)| d <= c)
}

/// Times, rates and rewards of simulations: whatever is summed up of them, squares too, is a double.
pub(crate) const LARGEST: f64 = 1e100;
pub(crate) const TOO_LARGE: &str = "simulations take numbers of at most 1e100";

/// Bytes of the name of a server, of which there are some copies.
const OF_NAME: u64 = 150;

/// Most tasks of a job, servers that are drawn, and slots.
const MOST: u64 = 1_000_000_000_000;
