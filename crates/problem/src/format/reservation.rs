//! Reads and writes a reservation problem.

use std::fmt::Write;

use rug::Rational;
use serde_json::value::RawValue;

use super::{
    Document, FormatError, Source,
    canonical::{key, list, quantities as write_quantities, quote},
};
use crate::{
    number::format_stated,
    place::Place,
    reservation::{JobSpec, PoolSpec, Reservation, ReservationSpec},
};

impl<'a> Source<'a> {
    /// The text as a reservation problem.
    ///
    /// # Errors
    /// [`FormatError`] when the text is no JSON, no reservation problem, or states an impossible one.
    pub fn reservation(&self) -> Result<Reservation, FormatError> {
        read(&self.document()?)
    }

    /// A reservation problem inside this text: `raw` is borrowed from [`Source::text`] and stands at
    /// `at` in the document.
    ///
    /// # Errors
    /// As [`Source::reservation`], with lines and columns of the whole text.
    pub fn reservation_in(&self, raw: &'a RawValue, at: &Place) -> Result<Reservation, FormatError> {
        read(&self.document_in(raw, at)?)
    }
}

fn read(document: &Document<'_>) -> Result<Reservation, FormatError> {
    let object = document.object(document.root())?;
    object.of_kind(document, "reservation-problem")?;
    object.only_at_top(document, &["kind", "name", "resources", "servers", "jobs", "configurations"])?;
    let listed = object.get("configurations");
    let name = object.get("name").map(|raw| document.string(raw)).transpose()?;
    let mut spec = ReservationSpec { name: name.unwrap_or_default().into_owned(), ..Default::default() };
    if let Some(raw) = listed {
        let each = document.list(raw)?.into_iter();
        spec.configurations = Some(each.map(|raw| counts(document, raw)).collect::<Result<_, _>>()?);
    }
    match object.get("resources") {
        None if listed.is_some() => {}
        None => drop(object.need(document, "resources")?),
        Some(raw) => {
            for raw in document.list(raw)? {
                spec.resources.push(document.string(raw)?.into_owned());
            }
        }
    }
    match object.get("servers") {
        None if listed.is_some() => {}
        None => drop(object.need(document, "servers")?),
        Some(raw) => {
            for raw in document.list(raw)? {
                spec.pools.push(pool(document, raw, listed.is_some())?);
            }
        }
    }
    for raw in document.list(object.need(document, "jobs")?)? {
        spec.jobs.push(job(document, raw, listed.is_some())?);
    }
    Reservation::new(spec).map_err(|error| document.problem_error(&error))
}

fn pool(document: &Document<'_>, raw: &RawValue, listed: bool) -> Result<PoolSpec, FormatError> {
    let object = document.object(raw)?;
    object.only(document, &["name", "count", "capacity"])?;
    let capacity = match object.get("capacity") {
        None if listed => Vec::new(),
        None => quantities(document, object.need(document, "capacity")?)?,
        Some(raw) => quantities(document, raw)?,
    };
    Ok(PoolSpec {
        name: document.string(object.need(document, "name")?)?.into_owned(),
        count: object.get("count").map(|raw| document.number(raw)).transpose()?,
        capacity,
    })
}

fn job(document: &Document<'_>, raw: &RawValue, listed: bool) -> Result<JobSpec, FormatError> {
    let object = document.object(raw)?;
    object.only(document, &["name", "demand", "reward", "load"])?;
    let demand = match object.get("demand") {
        None if listed => Vec::new(),
        None => quantities(document, object.need(document, "demand")?)?,
        Some(raw) => quantities(document, raw)?,
    };
    Ok(JobSpec {
        name: document.string(object.need(document, "name")?)?.into_owned(),
        demand,
        reward: object.get("reward").map(|raw| document.number(raw)).transpose()?,
        load: object.get("load").map(|raw| document.number(raw)).transpose()?,
    })
}

/// Amounts by resource, which may have units.
fn quantities(document: &Document<'_>, raw: &RawValue) -> Result<Vec<(String, Rational)>, FormatError> {
    let object = document.object(raw)?;
    let entries = object.fields().iter();
    entries.map(|(name, value)| Ok((name.clone().into_owned(), document.quantity(value)?))).collect()
}

/// Jobs by type.
fn counts(document: &Document<'_>, raw: &RawValue) -> Result<Vec<(String, Rational)>, FormatError> {
    let object = document.object(raw)?;
    let entries = object.fields().iter();
    entries.map(|(name, value)| Ok((name.clone().into_owned(), document.number(value)?))).collect()
}

/// The reservation problem as a file, in canonical form: as [`problem_to_json`](super::problem_to_json)
/// for allocation problems. One pool, job type and configuration stand on each line.
///
/// Reading it back gives an equal problem.
#[must_use]
pub fn reservation_to_json(problem: &Reservation) -> String {
    let mut out = String::from("{\n\"kind\":\"reservation-problem\",\n");
    if !problem.name().is_empty() {
        out.push_str("\"name\":");
        quote(&mut out, problem.name());
        out.push_str(",\n");
    }
    if !problem.resources().is_empty() {
        out.push_str("\"resources\":");
        list(&mut out, problem.resources().iter().map(String::as_str));
        out.push_str(",\n");
    }
    out.push_str("\"servers\":[");
    for (i, pool) in problem.pools().iter().enumerate() {
        out.push_str(if i == 0 { "\n{\"name\":" } else { ",\n{\"name\":" });
        quote(&mut out, pool.name());
        if let Some(count) = pool.count() {
            let _ = write!(out, ",\"count\":\"{count}\"");
        }
        if problem.configurations().is_none() {
            out.push_str(",\"capacity\":");
            write_quantities(&mut out, problem.resources(), pool.capacity(), format_stated);
        }
        out.push('}');
    }
    out.push_str("\n],\n\"jobs\":[");
    for (j, job) in problem.jobs().iter().enumerate() {
        out.push_str(if j == 0 { "\n{\"name\":" } else { ",\n{\"name\":" });
        quote(&mut out, job.name());
        if problem.configurations().is_none() {
            out.push_str(",\"demand\":");
            write_quantities(&mut out, problem.resources(), job.demand(), format_stated);
        }
        let _ = write!(
            out,
            ",\"reward\":\"{}\",\"load\":\"{}\"}}",
            format_stated(job.reward()),
            format_stated(job.load())
        );
    }
    out.push_str("\n]");
    if let Some(configurations) = problem.configurations() {
        out.push_str(",\n\"configurations\":[");
        for (position, k) in configurations.iter().enumerate() {
            out.push_str(if position == 0 { "\n{" } else { ",\n{" });
            let present = k.iter().zip(problem.jobs()).filter(|(k, _)| **k > 0);
            for (place, (k, job)) in present.enumerate() {
                key(&mut out, place, job.name());
                let _ = write!(out, "\"{k}\"");
            }
            out.push('}');
        }
        out.push_str("\n]");
    }
    out.push_str("\n}\n");
    out
}
