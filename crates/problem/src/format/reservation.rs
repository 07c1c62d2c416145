//! Reads and writes a reservation problem.

use serde_json::value::RawValue;

use super::canonical::Fields;
use super::problem::{names, quantities, rates};
use super::{Document, FormatError, Object, Source, server_spec};
use crate::{
    number::format_stated,
    place::Place,
    problem::ServerSpec,
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
    // The configurations stand in place of what they follow from.
    let need = |object: &Object<'_>, field: &str| match object.get(field) {
        None if listed.is_none() => object.need(document, field).map(|_| ()),
        _ => Ok(()),
    };
    let name = object.get("name").map(|raw| document.string(raw)).transpose()?;
    let mut spec = ReservationSpec { name: name.unwrap_or_default().into_owned(), ..Default::default() };
    if let Some(raw) = listed {
        let each = document.list(raw)?.into_iter();
        spec.configurations = Some(each.map(|raw| rates(document, Some(raw))).collect::<Result<_, _>>()?);
    }
    need(&object, "resources")?;
    if let Some(raw) = object.get("resources") {
        spec.resources = names(document, raw)?;
    }
    need(&object, "servers")?;
    for raw in object.get("servers").map_or(Ok(Vec::new()), |raw| document.list(raw))? {
        let pool = document.object(raw)?;
        let ServerSpec { name, count, capacity } = server_spec(document, &pool, &[])?;
        need(&pool, "capacity")?;
        spec.pools.push(PoolSpec { name, count, capacity });
    }
    for raw in document.list(object.need(document, "jobs")?)? {
        let job = document.object(raw)?;
        job.only(document, &["name", "demand", "reward", "load"])?;
        need(&job, "demand")?;
        spec.jobs.push(JobSpec {
            name: document.string(job.need(document, "name")?)?.into_owned(),
            demand: quantities(document, job.get("demand"))?,
            reward: job.get("reward").map(|raw| document.number(raw)).transpose()?,
            load: job.get("load").map(|raw| document.number(raw)).transpose()?,
        });
    }
    Reservation::new(spec).map_err(|error| document.problem_error(&error))
}

/// The reservation problem as a file, in canonical form: as [`problem_to_json`](super::problem_to_json)
/// for allocation problems. One pool, job type and configuration stand on each line.
///
/// Reading it back gives an equal problem.
#[must_use]
pub fn reservation_to_json(problem: &Reservation) -> String {
    let (listed, resources) = (problem.configurations(), problem.resources());
    let mut out = String::new();
    let mut file = Fields::file(&mut out, format_stated);
    file.text("kind", "reservation-problem");
    if !problem.name().is_empty() {
        file.text("name", problem.name());
    }
    if !resources.is_empty() {
        file.names("resources", resources.iter().map(String::as_str));
    }
    file.lines("servers", problem.pools(), |line, pool| {
        line.text("name", pool.name());
        if let Some(count) = pool.count() {
            line.text("count", count);
        }
        if listed.is_none() {
            line.amounts("capacity", resources, pool.capacity().entries());
        }
    });
    file.lines("jobs", problem.jobs(), |line, job| {
        line.text("name", job.name());
        if listed.is_none() {
            line.amounts("demand", resources, job.demand().entries());
        }
        line.number("reward", job.reward());
        line.number("load", job.load());
    });
    if let Some(configurations) = listed {
        file.lines("configurations", configurations, |line, k| {
            let present = k.iter().zip(problem.jobs()).filter(|(k, _)| **k > 0);
            present.for_each(|(k, job)| line.text(job.name(), k));
        });
    }
    file.end();
    out
}
