//! A scenario from its file (docs/simulation.md).

use std::path::{Path, PathBuf};

use evenhand_import::{GoogleUsers, Input, google_machines, openb_nodes};
use evenhand_mechanisms::filling::{Policy, Rule};
use evenhand_problem::format::{Document, FormatError, Object, Source, server_spec, user_spec};
use evenhand_problem::{Rational, ServerSpec};
use serde_json::value::RawValue;

use crate::duration::Duration;
use crate::scenario::{Arrivals, Job, Poisson, Scenario, TraceFile};

/// Reads scenarios.
pub trait ReadScenario {
    /// The text as a scenario; the files that it names stand in `folder`, unless their paths are absolute.
    /// Tables of servers are read at once, traces when the scenario is run.
    ///
    /// # Errors
    /// [`FormatError`] when the text is no JSON, no scenario, or states an impossible one.
    fn scenario(&self, folder: &Path) -> Result<Scenario, FormatError>;
}

impl ReadScenario for Source<'_> {
    fn scenario(&self, folder: &Path) -> Result<Scenario, FormatError> {
        let document = self.document()?;
        let reader = Reader { document: &document, folder };
        reader.scenario()
    }
}

const FIELDS: [&str; 10] =
    ["kind", "name", "resources", "servers", "draw_servers", "policy", "users", "trace", "horizon", "every"];

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
        let servers = self.servers(object.need(document, "servers")?)?;
        let policy = self.policy(object.need(document, "policy")?)?;
        let trace = object.get("trace").map(|raw| Ok((raw, self.trace(raw)?))).transpose()?;
        let mut scenario = Scenario {
            name: name.unwrap_or_default().into_owned(),
            resources: self.resources(&object, trace.as_ref().map(|(_, trace)| trace))?,
            servers,
            draw_servers: self.optional(&object, "draw_servers", Self::whole)?,
            policy,
            users: Vec::new(),
            arrivals: Vec::new(),
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
        // Faults of servers and users, at their places; what is drawn is drawn later.
        let stated = Scenario { draw_servers: None, ..scenario.clone() };
        match stated.problem(0) {
            Err(crate::SimulateError::Problem(error)) => Err(document.problem_error(&error)),
            _ => Ok(scenario),
        }
    }

    fn resources(&self, object: &Object<'t>, trace: Option<&TraceFile>) -> Result<Vec<String>, FormatError> {
        let of_servers = object.get("servers").and_then(|raw| self.document.object(raw).ok());
        let of_table = of_servers.and_then(|table| match table.fields().first() {
            Some((key, _)) if key == "google" => Some(&["cpu", "memory"][..]),
            Some((key, _)) if key == "openb" => Some(&["cpu", "memory", "gpu"][..]),
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

    fn servers(&self, raw: &'t RawValue) -> Result<Vec<ServerSpec>, FormatError> {
        let document = self.document;
        if raw.get().starts_with('[') {
            let each = document.list(raw)?.into_iter();
            return each
                .map(|raw| {
                    let object = document.object(raw)?;
                    object.need(document, "capacity")?;
                    server_spec(document, &object, &[])
                })
                .collect();
        }
        let object = document.object(raw)?;
        object.only(document, &["google", "openb"])?;
        let [(kind, path)] = object.fields() else {
            return Err(document.error(raw, "expected a list of servers, or one of `google` and `openb`"));
        };
        let table = Input::open(&self.path(path)?);
        let read = table.and_then(|table| match kind.as_ref() {
            "google" => google_machines(table).map(|(servers, _)| servers),
            _ => openb_nodes(table),
        });
        read.map_err(|error| document.error(path, error.to_string()))
    }

    fn policy(&self, raw: &'t RawValue) -> Result<Policy, FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        let ties = self.optional(&object, "ties", Self::name)?.unwrap_or_default();
        if let Some(slots) = object.get("slots") {
            object.only(document, &["slots", "ties"])?;
            return Ok(Policy::Slots { slots: self.whole(slots)?, ties });
        }
        object.only(document, &["score", "server", "ties", "slots"])?;
        Ok(Policy::Fill(Rule {
            score: self.optional(&object, "score", Self::name)?.unwrap_or_default(),
            server: self.optional(&object, "server", Self::name)?.unwrap_or_default(),
            ties,
            filter: false,
        }))
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

    fn user(&self, raw: &'t RawValue, is_table: bool, scenario: &mut Scenario) -> Result<(), FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        object.only(document, &["name", "weight", "demand", "servers", "jobs", "poisson", "leaves"])?;
        let spec = user_spec(document, &object, &["jobs", "poisson", "leaves"])?;
        for field in ["jobs", "poisson"] {
            if let (Some(value), true) = (object.get(field), is_table) {
                return Err(document.error_on_key(value, "the tasks come from the `trace`"));
            }
        }
        let mut arrivals = Arrivals {
            leaves: self.optional(&object, "leaves", Self::not_negative)?,
            poisson: object.get("poisson").map(|raw| self.poisson(raw)).transpose()?,
            jobs: Vec::new(),
        };
        for raw in object.get("jobs").map_or(Ok(Vec::new()), |raw| document.list(raw))? {
            let job = self.job(raw)?;
            if let Some(before) = arrivals.jobs.last().filter(|before| before.at > job.at) {
                return Err(document.error(raw, format!("time goes back from {} to {}", before.at, job.at)));
            }
            arrivals.jobs.push(job);
        }
        scenario.users.push(spec);
        scenario.arrivals.push(arrivals);
        Ok(())
    }

    fn job(&self, raw: &'t RawValue) -> Result<Job, FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        object.only(document, &["at", "tasks", "duration"])?;
        Ok(Job {
            at: self.not_negative(object.need(document, "at")?)?,
            tasks: self.whole(object.need(document, "tasks")?)?,
            duration: self.duration(object.need(document, "duration")?)?,
        })
    }

    fn poisson(&self, raw: &'t RawValue) -> Result<Poisson, FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        object.only(document, &["rate", "tasks", "duration", "from", "until"])?;
        Ok(Poisson {
            rate: self.positive(object.need(document, "rate")?)?,
            tasks: self.optional(&object, "tasks", Self::whole)?.unwrap_or(1),
            duration: self.duration(object.need(document, "duration")?)?,
            from: self.optional(&object, "from", Self::not_negative)?.unwrap_or(0.0),
            until: self.optional(&object, "until", Self::not_negative)?,
        })
    }

    fn duration(&self, raw: &'t RawValue) -> Result<Duration, FormatError> {
        let document = self.document;
        if !raw.get().starts_with('{') {
            return Ok(Duration::Constant(self.not_negative(raw)?));
        }
        let object = document.object(raw)?;
        object.only(document, &["exponential", "uniform"])?;
        match (object.get("exponential"), object.get("uniform")) {
            (Some(mean), None) => Ok(Duration::Exponential(self.positive(mean)?)),
            (None, Some(range)) => match document.list(range)?[..] {
                [from, to] => {
                    let (low, high) = (self.not_negative(from)?, self.not_negative(to)?);
                    if high < low {
                        return Err(
                            document.error(to, format!("{high} is below {low}, where the range begins"))
                        );
                    }
                    Ok(Duration::Uniform(low, high))
                }
                _ => Err(document.error(range, "expected two numbers, from and to")),
            },
            _ => Err(document.error(raw, "expected a number, or one of `exponential` and `uniform`")),
        }
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

    fn name<T: std::str::FromStr>(&self, raw: &'t RawValue) -> Result<T, FormatError> {
        let name = self.document.string(raw)?;
        name.parse().map_err(|_| self.document.error(raw, format!("there is no such name: `{name}`")))
    }

    fn number(
        &self,
        raw: &'t RawValue,
        expected: &str,
        is: fn(&Rational) -> bool,
    ) -> Result<f64, FormatError> {
        let value = self.document.number(raw)?;
        let number = value.to_f64();
        if !is(&value) || !number.is_finite() {
            let found = evenhand_problem::number::format_stated(&value);
            return Err(self.document.error(raw, format!("found {found}: expected {expected}")));
        }
        Ok(number)
    }

    fn not_negative(&self, raw: &'t RawValue) -> Result<f64, FormatError> {
        self.number(raw, "a number of at least 0", |value| *value >= 0)
    }

    fn positive(&self, raw: &'t RawValue) -> Result<f64, FormatError> {
        // Far below the least double a positive number is none any more.
        self.number(raw, "a number above 0", |value| *value > 0 && value.to_f64() > 0.0)
    }

    fn whole(&self, raw: &'t RawValue) -> Result<u64, FormatError> {
        let value = self.document.number(raw)?;
        let whole = if value.is_integer() { value.numer().to_u64() } else { None };
        whole.filter(|whole| (1..=MOST).contains(whole)).ok_or_else(|| {
            let found = evenhand_problem::number::format_stated(&value);
            self.document.error(raw, format!("found {found}: expected an integer from 1 to 10^12"))
        })
    }
}

/// Most tasks of a job, servers that are drawn, and slots.
const MOST: u64 = 1_000_000_000_000;
