//! A scenario of admission from its file (docs/simulation.md).

use std::ops::RangeInclusive;
use std::path::Path;

use evenhand_problem::format::{Document, FormatError, Object, Source, read_text};
use evenhand_problem::{Place, Reservation, nearest, number::to_f64};
use serde_json::value::RawValue;

use super::{AdmissionScenario, MOST_SERVERS, Policy, reserve};

/// Kind of such a file.
pub const KIND: &str = "reservation-scenario";
/// Parts of the horizon in a series, where nothing else is said.
const ROWS: f64 = 1000.0;

const FIELDS: [&str; 8] = ["kind", "name", "reservation", "servers", "policy", "horizon", "from", "every"];

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
    if problem.n_pools() != 1 || problem.configurations().is_some() {
        return Err(document.error(raw, "jobs are admitted into one pool of servers with capacities"));
    }
    let servers = servers(document, &object, &problem)?;
    let policy = policy(document, object.need(document, "policy")?, &problem, servers)?;
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
    let name = name.unwrap_or_default().into_owned();
    Ok(AdmissionScenario { name, problem, servers, policy, horizon, from, every })
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

/// A whole number within these bounds.
fn whole<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    bounds: RangeInclusive<u64>,
) -> Result<u64, FormatError> {
    let stated = document.number(raw)?;
    let whole = if stated.is_integer() { stated.numer().to_u64() } else { None };
    let (least, most) = (bounds.start(), bounds.end());
    let message = || format!("found {}: expected a whole number from {least} to {most}", raw.get());
    whole.filter(|count| bounds.contains(count)).ok_or_else(|| document.error(raw, message()))
}

fn time<'t>(document: &Document<'t>, raw: &'t RawValue) -> Result<f64, FormatError> {
    let value = to_f64(&document.number(raw)?);
    let is_time = value.is_finite() && value >= 0.0;
    if is_time { Ok(value) } else { Err(document.error(raw, "expected a time of at least 0")) }
}

fn policy<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    problem: &Reservation,
    servers: usize,
) -> Result<Policy, FormatError> {
    let object = document.object(raw)?;
    object.only(document, &["dra", "power_of_d", "static"])?;
    match (object.get("dra"), object.get("power_of_d"), object.get("static")) {
        (Some(raw), None, None) => dra(document, raw, problem, servers),
        (None, Some(raw), None) => {
            Ok(Policy::PowerOfD { d: whole(document, raw, 1..=servers as u64)? as usize })
        }
        (None, None, Some(raw)) => {
            document.object(raw)?.only(document, &[])?;
            Ok(Policy::Static)
        }
        _ => Err(document.error(raw, "expected one of `dra`, `power_of_d` and `static`")),
    }
}

fn dra<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    problem: &Reservation,
    servers: usize,
) -> Result<Policy, FormatError> {
    let object = document.object(raw)?;
    object.only(document, &["reserve", "priorities"])?;
    let reserve = match object.get("reserve") {
        None => reserve(servers),
        Some(raw) => whole(document, raw, 0..=servers as u64)?,
    };
    let Some(raw) = object.get("priorities") else { return Ok(Policy::Dra { reserve }) };
    let mut priorities = vec![0; problem.n_types()];
    for (name, raw) in document.object(raw)?.fields() {
        let Some(j) = problem.jobs().iter().position(|job| job.name() == name) else {
            let near = nearest(name, problem.jobs().iter().map(|job| job.name()));
            let near = near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            return Err(document.error_on_key(raw, format!("there is no job type `{name}`{near}")));
        };
        priorities[j] = whole(document, raw, 0..=u64::from(u32::MAX))? as u32;
    }
    Ok(Policy::Preempting { reserve, priorities })
}
