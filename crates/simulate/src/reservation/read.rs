//! A scenario of admission from its file (docs/simulation.md).

use std::path::Path;

use evenhand_budget::charge;
use evenhand_import::{ImportError, Input, TaskTable};
use evenhand_problem::format::{Document, FormatError, Object, Source, read_text};
use evenhand_problem::{Place, Reservation, hint, number::to_f64};
use serde_json::value::RawValue;

use super::jobs::Job;
use super::policy::{AdmissionError, NEEDS_CAPACITY, Policy, reserve};
use super::scenario::{AdmissionScenario, Coming, Estimates, MOST_SERVERS};
use crate::cost::{ARRIVAL, Growing};
use crate::read::{LARGEST, TOO_LARGE, positive, whole};

/// Kind of such a file.
pub const KIND: &str = "reservation-scenario";
/// Parts of the horizon in a series, where nothing else is said.
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
/// Jobs of a trace: each is kept, in 24 bytes.
const MOST_OF_TRACE: u64 = 10_000_000;
/// Jobs of a type that ask at time 0, at most.
const MOST_INITIAL: u64 = 1_000_000;
/// Classifications at equal distances of time: each takes some microseconds.
const MOST_TICKS: f64 = 1e7;

/// Whether a document is of that kind.
#[must_use]
pub fn is_admission(document: &Document<'_>) -> bool {
    let kind = || {
        let object = document.object(document.root()).ok()?;
        Some(document.string(object.get("kind")?).ok()? == KIND)
    };
    kind() == Some(true)
}

/// The document as a scenario; a reservation problem that it names stands in `folder`, unless its path is absolute.
///
/// # Errors
/// [`FormatError`] when the document is no such scenario, or states an impossible one.
pub fn scenario(document: &Document<'_>, folder: &Path) -> Result<AdmissionScenario, FormatError> {
    let object = document.object(document.root())?;
    object.of_kind(document, KIND)?;
    object.only_at_top(document, &FIELDS)?;
    let name = object.get("name").map(|raw| document.string(raw)).transpose()?;
    let raw = object.need(document, "reservation")?;
    let problem = reservation(document, raw, folder)?;
    if problem.n_pools() != 1 {
        return Err(document.error(raw, "jobs are admitted into one pool of servers"));
    }
    if problem.rewards().iter().chain(&problem.loads()).any(|number| to_f64(number) > LARGEST) {
        return Err(document.error(raw, format!("{TOO_LARGE}, also as rewards and loads")));
    }
    let servers = servers(document, &object, &problem)?;
    let stated = object.need(document, "policy")?;
    let (policy, cra_every) = policy(document, stated, &problem, servers)?;
    let estimates = estimates(document, stated, &problem)?;
    if problem.configurations().is_some() && policy.needs_capacity() {
        return Err(document.error(stated, NEEDS_CAPACITY));
    }
    let horizon = time(document, object.need(document, "horizon")?)?;
    let from = object.get("from").map_or(Ok(0.0), |raw| time(document, raw))?;
    if let (Some(raw), true) = (object.get("from"), from >= horizon) {
        return Err(document.error(raw, "rewards are averaged from a time before the horizon"));
    }
    let every = object.get("every").map_or(Ok(horizon / ROWS), |raw| time(document, raw))?;
    if horizon <= 0.0 || every <= 0.0 {
        let place = object.get(if horizon > 0.0 { "every" } else { "horizon" }).unwrap_or(object.raw());
        return Err(document.error(place, "expected a time above 0"));
    }
    if cra_every.is_some_and(|cra_every| horizon / cra_every > MOST_TICKS) {
        let message = format!("more than {MOST_TICKS:.0e} classifications up to the horizon");
        return Err(document.error(stated, message));
    }
    let coming = coming(document, &object, &problem, folder)?;
    if let Some((k, rate, at)) = coming.too_dense(servers, horizon) {
        // The first loads are those of the problem, the others those of the list.
        let place = match k.checked_sub(1) {
            Some(k) => Place::root().key("loads").index(k),
            None => Place::root().key("reservation"),
        };
        let error = AdmissionError::TooDense { rate, at };
        return Err(document.error(document.locate(&place), error.to_string()));
    }
    let name = name.unwrap_or_default().into_owned();
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

/// A reservation problem, or the path of one.
fn reservation<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    folder: &Path,
) -> Result<Reservation, FormatError> {
    if !raw.get().starts_with('"') {
        return document.source().reservation_in(raw, &Place::root().key("reservation"));
    }
    let path = folder.join(document.string(raw)?.as_ref());
    let text = read_text(&path).map_err(|error| document.error(raw, error.to_string()))?;
    let name = path.to_string_lossy();
    let read = Source { name: &name, text: &text }.reservation();
    read.map_err(|error| document.error(raw, error.to_string()))
}

fn servers<'t>(
    document: &Document<'t>,
    object: &Object<'t>,
    problem: &Reservation,
) -> Result<usize, FormatError> {
    let Some(raw) = object.get("servers") else {
        let count = problem.pools()[0].count().and_then(|count| usize::try_from(count).ok());
        let of_pool = count.filter(|count| (1..=MOST_SERVERS).contains(count));
        let message = format!("the field `servers` is missing: 1 to {MOST_SERVERS} of the pool");
        return of_pool.ok_or_else(|| document.error(object.raw(), message));
    };
    Ok(whole(document, raw, 1..=MOST_SERVERS as u64)? as usize)
}

fn time<'t>(document: &Document<'t>, raw: &'t RawValue) -> Result<f64, FormatError> {
    let value = to_f64(&document.number(raw)?);
    if value > LARGEST {
        return Err(document.error(raw, TOO_LARGE));
    }
    let is_time = value >= 0.0;
    if is_time { Ok(value) } else { Err(document.error(raw, "expected a time of at least 0")) }
}

fn policy<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    problem: &Reservation,
    servers: usize,
) -> Result<(Policy, Option<f64>), FormatError> {
    let object = document.object(raw)?;
    object.only(document, &["dra", "power_of_d", "static"])?;
    match (object.get("dra"), object.get("power_of_d"), object.get("static")) {
        (Some(raw), None, None) => dra(document, raw, problem, servers),
        (None, Some(raw), None) => {
            Ok((Policy::PowerOfD { d: whole(document, raw, 1..=servers as u64)? as usize }, None))
        }
        (None, None, Some(raw)) => {
            document.object(raw)?.only(document, &ESTIMATED)?;
            Ok((Policy::Static, None))
        }
        _ => Err(document.error(raw, "expected one of `dra`, `power_of_d` and `static`")),
    }
}

fn dra<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    problem: &Reservation,
    servers: usize,
) -> Result<(Policy, Option<f64>), FormatError> {
    let object = document.object(raw)?;
    object.only(document, &[&["reserve", "priorities", "every"][..], &ESTIMATED].concat())?;
    let reserve = match object.get("reserve") {
        None => reserve(servers),
        Some(raw) => whole(document, raw, 0..=servers as u64)?,
    };
    let every = object.get("every").map(|raw| positive(document, raw)).transpose()?;
    let Some(raw) = object.get("priorities") else { return Ok((Policy::Dra { reserve }, every)) };
    let mut priorities = vec![0; problem.n_types()];
    for (j, raw) in by_type(document, raw, problem)? {
        priorities[j] = whole(document, raw, 0..=u64::from(u32::MAX))? as u32;
    }
    Ok((Policy::Preempting { reserve, priorities }, every))
}

/// Fields about estimates, of the policies that use any.
const ESTIMATED: [&str; 2] = ["estimates", "error"];

/// The estimates of a policy, where it has any; types that are not named have the load of the problem.
fn estimates<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    problem: &Reservation,
) -> Result<Option<Estimates>, FormatError> {
    let policy = document.object(raw)?;
    let Some(raw) = policy.get("dra").or_else(|| policy.get("static")) else { return Ok(None) };
    let object = document.object(raw)?;
    if ESTIMATED.iter().all(|name| object.get(name).is_none()) {
        return Ok(None);
    }
    let mut loads: Vec<f64> = problem.loads().iter().map(to_f64).collect();
    if let Some(raw) = object.get("estimates") {
        for (j, raw) in by_type(document, raw, problem)? {
            loads[j] = time(document, raw)?;
        }
    }
    let error = match object.get("error") {
        None => 0.0,
        Some(raw) => {
            let error = time(document, raw)?;
            if error > 1.0 {
                return Err(document.error(raw, "expected a part of the estimates, at most 1"));
            }
            error
        }
    };
    Ok(Some(Estimates { loads, error }))
}

/// What is said of job types, by their places in the problem.
fn by_type<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    problem: &Reservation,
) -> Result<Vec<(usize, &'t RawValue)>, FormatError> {
    let mut said = Vec::new();
    for (name, raw) in document.object(raw)?.fields() {
        let Some(j) = problem.jobs().iter().position(|job| job.name() == name) else {
            let near = hint(name, problem.jobs().iter().map(|job| job.name()));
            return Err(document.error_on_key(raw, format!("there is no job type `{name}`{near}")));
        };
        said.push((j, *raw));
    }
    Ok(said)
}

/// How jobs come.
fn coming<'t>(
    document: &Document<'t>,
    object: &Object<'t>,
    problem: &Reservation,
    folder: &Path,
) -> Result<Coming, FormatError> {
    let mut coming = Coming::of(problem);
    if let Some(raw) = object.get("mean_times") {
        for (j, raw) in by_type(document, raw, problem)? {
            coming.mean_times[j] = positive(document, raw)?;
        }
    }
    if let Some(raw) = object.get("initial") {
        for (j, raw) in by_type(document, raw, problem)? {
            coming.initial[j] = whole(document, raw, 0..=MOST_INITIAL)?;
        }
    }
    if let Some(raw) = object.get("loads") {
        if object.get("trace").is_some() {
            return Err(document.error_on_key(raw, "the jobs come from the `trace`"));
        }
        for raw in document.list(raw)? {
            let change = document.object(raw)?;
            change.only(document, &["at", "loads"])?;
            let at = time(document, change.need(document, "at")?)?;
            let Some((before, mut loads)) = coming.loads.last().cloned() else { continue };
            if at < before {
                return Err(document.error(raw, format!("time goes back from {before} to {at}")));
            }
            for (j, raw) in by_type(document, change.need(document, "loads")?, problem)? {
                loads[j] = time(document, raw)?;
            }
            coming.loads.push((at, loads));
        }
    }
    if let Some(raw) = object.get("trace") {
        coming.trace = Some(trace(document, raw, problem, folder)?);
    }
    Ok(coming)
}

/// The jobs of a table `time,user,tasks,duration`, whose users are job types.
fn trace<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    problem: &Reservation,
    folder: &Path,
) -> Result<Vec<Job>, FormatError> {
    let wrong = |error: ImportError| document.error(raw, error.to_string());
    let path = folder.join(document.string(raw)?.as_ref());
    let mut rows = TaskTable::new(Input::open(&path).map_err(wrong)?).map_err(wrong)?;
    let (mut jobs, mut held) = (Vec::new(), Growing::new("the trace"));
    while let Some(row) = rows.next_row().map_err(wrong)? {
        let Some(of_type) = problem.jobs().iter().position(|job| job.name() == row.user) else {
            return Err(document.error(raw, format!("there is no job type `{}` (time {})", row.user, row.at)));
        };
        if row.tasks.saturating_add(jobs.len() as u64) > MOST_OF_TRACE {
            return Err(document.error(raw, format!("more than {MOST_OF_TRACE} jobs")));
        }
        // A list that grows has up to twice the length, and the old one beside it.
        charge(ARRIVAL.saturating_add(row.tasks), "the trace");
        held.need(3 * (jobs.len() as u64 + row.tasks) * size_of::<Job>() as u64);
        jobs.extend((0..row.tasks).map(|_| Job { at: row.at, of_type, lasts: row.duration }));
    }
    Ok(jobs)
}
