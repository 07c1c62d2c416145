//! Reads a scenario of admission from its file (docs/simulation.md).

use std::path::Path;

use evenhand_budget::charge;
use evenhand_import::{ImportError, Input, TaskTable};
use evenhand_problem::format::{Document, FormatError, Source, read_text};
use evenhand_problem::{Place, Reservation, hint, number::to_f64};
use serde_json::value::RawValue;

use super::jobs::Job;
use super::policy::{AdmissionError, NEEDS_CAPACITY, Policy, reserve};
use super::scenario::{AdmissionScenario, Coming, Estimates, MOST_SERVERS};
use crate::cost::{ARRIVAL, Growing};
use crate::fields::{Fields, LARGEST, Read, TOO_LARGE, not_before, positive, text, whole};

/// The `kind` of a file with a scenario of admission.
pub const KIND: &str = "reservation-scenario";
/// The default number of rows of a series: the horizon is divided into this many equal intervals.
const ROWS: f64 = 1000.0;

const FIELDS: [&str; 12] = [
    "kind",
    "name",
    "reservation",
    "servers",
    "policy",
    "horizon",
    "from",
    "every",
    "mean_times",
    "loads",
    "initial",
    "trace",
];
/// The largest number of jobs of a trace. A job takes 24 bytes.
const MOST_OF_TRACE: u64 = 10_000_000;
/// The largest number of jobs of a type at time 0.
const MOST_INITIAL: u64 = 1_000_000;
/// The largest number of classifications at regular intervals. A classification takes a few microseconds.
const MOST_TICKS: f64 = 1e7;

/// Returns whether a document is a scenario of admission.
#[must_use]
pub fn is_admission(document: &Document<'_>) -> bool {
    let kind = || {
        let object = document.object(document.root()).ok()?;
        Some(document.string(object.get("kind")?).ok()? == KIND)
    };
    kind() == Some(true)
}

/// Reads the document as a scenario of admission. A relative path of a reservation problem is relative to
/// `folder`.
///
/// # Errors
/// Returns a [`FormatError`] if the document is not such a scenario, or states an impossible scenario.
pub fn scenario(document: &Document<'_>, folder: &Path) -> Result<AdmissionScenario, FormatError> {
    let fields = Fields::of_kind(document, KIND, &FIELDS)?;
    let name = fields.optional("name", text)?.unwrap_or_default();
    let raw = fields.need("reservation")?;
    let problem = reservation(document, raw, folder)?;
    if problem.n_pools() != 1 {
        return Err(document.error(raw, "expected one pool of servers, into which jobs are admitted"));
    }
    if problem.rewards().iter().chain(&problem.loads()).any(|number| to_f64(number) > LARGEST) {
        return Err(document.error(raw, format!("{TOO_LARGE}, also as rewards and loads")));
    }
    let servers = servers(&fields, &problem)?;
    let stated = fields.need("policy")?;
    let policy_of = PolicyReader { document, problem: &problem, servers };
    let (policy, cra_every) = policy_of.policy(stated)?;
    let estimates = policy_of.estimates(stated)?;
    if problem.configurations().is_some() && policy.needs_capacity() {
        return Err(document.error(stated, NEEDS_CAPACITY));
    }
    let horizon = fields.needed("horizon", time)?;
    let from = fields.optional("from", time)?.unwrap_or(0.0);
    if let (Some(raw), true) = (fields.get("from"), from >= horizon) {
        return Err(
            document.error(raw, "expected a time before the horizon, from which rewards are averaged")
        );
    }
    let every = fields.optional("every", time)?.unwrap_or(horizon / ROWS);
    if horizon <= 0.0 || every <= 0.0 {
        let place = fields.place(if horizon > 0.0 { "every" } else { "horizon" });
        return Err(document.error(place, "expected a time above 0"));
    }
    if cra_every.is_some_and(|cra_every| horizon / cra_every > MOST_TICKS) {
        let message = format!("more than {MOST_TICKS:.0e} classifications up to the horizon");
        return Err(document.error(stated, message));
    }
    let coming = coming(&fields, &problem, folder)?;
    if let Some((k, rate, at)) = coming.too_dense(servers, horizon) {
        // Index 0 refers to the loads of the problem, and the following indices to the loads of the list.
        let place = match k.checked_sub(1) {
            Some(k) => Place::root().key("loads").index(k),
            None => Place::root().key("reservation"),
        };
        let error = AdmissionError::TooDense { rate, at };
        return Err(document.error(document.locate(&place), error.to_string()));
    }
    Ok(AdmissionScenario {
        name,
        problem,
        servers,
        policy,
        cra_every,
        estimates,
        coming,
        horizon,
        from,
        every,
    })
}

/// Reads a reservation problem. The scenario states the problem itself, or the path of its file.
fn reservation<'t>(document: &Document<'t>, raw: &'t RawValue, folder: &Path) -> Read<Reservation> {
    if !raw.get().starts_with('"') {
        return document.source().reservation_in(raw, &Place::root().key("reservation"));
    }
    let path = folder.join(text(document, raw)?);
    let text = read_text(&path).map_err(|error| document.error(raw, error.to_string()))?;
    let name = path.to_string_lossy();
    let read = Source { name: &name, text: &text }.reservation();
    read.map_err(|error| document.error(raw, error.to_string()))
}

fn servers(fields: &Fields<'_, '_>, problem: &Reservation) -> Read<usize> {
    if let Some(servers) =
        fields.optional("servers", |document, raw| whole(document, raw, 1..=MOST_SERVERS as u64))?
    {
        return Ok(servers as usize);
    }
    let count = problem.pools()[0].count().and_then(|count| usize::try_from(count).ok());
    let of_pool = count.filter(|count| (1..=MOST_SERVERS).contains(count));
    let message = format!("the field `servers` is missing: 1 to {MOST_SERVERS} of the pool");
    of_pool.ok_or_else(|| fields.error(message))
}

fn time(document: &Document<'_>, raw: &RawValue) -> Read<f64> {
    let value = to_f64(&document.number(raw)?);
    if value > LARGEST {
        return Err(document.error(raw, TOO_LARGE));
    }
    let is_time = value >= 0.0;
    if is_time { Ok(value) } else { Err(document.error(raw, "expected a time of at least 0")) }
}

/// The fields of a policy about estimates.
const ESTIMATED: [&str; 2] = ["estimates", "error"];

struct PolicyReader<'d, 't> {
    document: &'d Document<'t>,
    problem: &'d Reservation,
    servers: usize,
}

impl<'t> PolicyReader<'_, 't> {
    /// Reads the policy. Also reads the time between two classifications, or returns `None` if it is not
    /// stated.
    fn policy(&self, raw: &'t RawValue) -> Read<(Policy, Option<f64>)> {
        let fields = Fields::of(self.document, raw, &["dra", "power_of_d", "static"])?;
        match (fields.get("dra"), fields.get("power_of_d"), fields.get("static")) {
            (Some(raw), None, None) => self.dra(raw),
            (None, Some(raw), None) => {
                let d = whole(self.document, raw, 1..=self.servers as u64)? as usize;
                Ok((Policy::PowerOfD { d }, None))
            }
            (None, None, Some(raw)) => {
                Fields::of(self.document, raw, &ESTIMATED)?;
                Ok((Policy::Static, None))
            }
            _ => Err(fields.error("expected one of `dra`, `power_of_d` and `static`")),
        }
    }

    fn dra(&self, raw: &'t RawValue) -> Read<(Policy, Option<f64>)> {
        let known = [&["reserve", "priorities", "every"][..], &ESTIMATED].concat();
        let fields = Fields::of(self.document, raw, &known)?;
        let stated = |document: &_, raw| whole(document, raw, 0..=self.servers as u64);
        let reserve = fields.optional("reserve", stated)?.unwrap_or_else(|| reserve(self.servers));
        let every = fields.optional("every", positive)?;
        if fields.get("priorities").is_none() {
            return Ok((Policy::Dra { reserve }, every));
        }
        let mut priorities = vec![0; self.problem.n_types()];
        let priority = |document: &_, raw| whole(document, raw, 0..=u64::from(u32::MAX));
        by_type(&fields, "priorities", self.problem, priority, |j, of| priorities[j] = of as u32)?;
        Ok((Policy::Preempting { reserve, priorities }, every))
    }

    /// Reads the estimates of a policy, or returns `None` if it has no estimates. Types that are not named
    /// keep the load of the problem.
    fn estimates(&self, raw: &'t RawValue) -> Read<Option<Estimates>> {
        let policy = self.document.object(raw)?;
        let Some(raw) = policy.get("dra").or_else(|| policy.get("static")) else { return Ok(None) };
        let fields = Fields { document: self.document, object: self.document.object(raw)? };
        if ESTIMATED.iter().all(|name| fields.get(name).is_none()) {
            return Ok(None);
        }
        let mut loads: Vec<f64> = self.problem.loads().iter().map(to_f64).collect();
        by_type(&fields, "estimates", self.problem, time, |j, load| loads[j] = load)?;
        let error = fields.optional("error", time)?.unwrap_or(0.0);
        if error > 1.0 {
            let message = "expected a fraction of the estimates, at most 1";
            return Err(self.document.error(fields.place("error"), message));
        }
        Ok(Some(Estimates { loads, error }))
    }
}

/// Reads a field with a value for each job type. `tell` receives the index of each type and its value.
fn by_type<'t, T>(
    fields: &Fields<'_, 't>,
    name: &str,
    problem: &Reservation,
    read: impl Fn(&Document<'t>, &'t RawValue) -> Read<T>,
    mut tell: impl FnMut(usize, T),
) -> Read<()> {
    let Some(object) = fields.optional(name, Document::object)? else { return Ok(()) };
    for (name, raw) in object.fields() {
        let Some(j) = problem.jobs().iter().position(|job| job.name() == name) else {
            let near = hint(name, problem.jobs().iter().map(|job| job.name()));
            let message = format!("there is no job type `{name}`{near}");
            return Err(fields.document.error_on_key(raw, message));
        };
        tell(j, read(fields.document, raw)?);
    }
    Ok(())
}

/// Reads how jobs arrive.
fn coming(fields: &Fields<'_, '_>, problem: &Reservation, folder: &Path) -> Read<Coming> {
    let document = fields.document;
    let mut coming = Coming::of(problem);
    by_type(fields, "mean_times", problem, positive, |j, time| coming.mean_times[j] = time)?;
    let initial = |document: &_, raw| whole(document, raw, 0..=MOST_INITIAL);
    by_type(fields, "initial", problem, initial, |j, jobs| coming.initial[j] = jobs)?;
    fields.refuse("loads", fields.get("trace").is_some(), "the jobs come from the `trace`")?;
    for raw in fields.list("loads")? {
        let change = Fields::of(document, raw, &["at", "loads"])?;
        let at = change.needed("at", time)?;
        let Some((before, mut loads)) = coming.loads.last().cloned() else { continue };
        not_before(document, raw, before, at)?;
        change.need("loads")?;
        by_type(&change, "loads", problem, time, |j, load| loads[j] = load)?;
        coming.loads.push((at, loads));
    }
    coming.trace = fields.optional("trace", |document, raw| trace(document, raw, problem, folder))?;
    Ok(coming)
}

/// Reads the jobs of a table `time,user,tasks,duration`, in which the users are job types.
fn trace<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    problem: &Reservation,
    folder: &Path,
) -> Read<Vec<Job>> {
    let wrong = |error: ImportError| document.error(raw, error.to_string());
    let path = folder.join(text(document, raw)?);
    let mut rows = TaskTable::new(Input::open(&path).map_err(wrong)?).map_err(wrong)?;
    let (mut jobs, mut held) = (Vec::new(), Growing::new("the trace"));
    while let Some(row) = rows.next_row().map_err(wrong)? {
        let Some(of_type) = problem.jobs().iter().position(|job| job.name() == row.user) else {
            return Err(document.error(raw, format!("there is no job type `{}` (time {})", row.user, row.at)));
        };
        if row.tasks.saturating_add(jobs.len() as u64) > MOST_OF_TRACE {
            return Err(document.error(raw, format!("more than {MOST_OF_TRACE} jobs")));
        }
        // While a list grows, its old memory exists together with new memory of up to twice the size.
        charge(ARRIVAL.saturating_add(row.tasks), "the trace");
        held.need(3 * (jobs.len() as u64 + row.tasks) * size_of::<Job>() as u64);
        jobs.extend((0..row.tasks).map(|_| Job { at: row.at, of_type, lasts: row.duration }));
    }
    Ok(jobs)
}
