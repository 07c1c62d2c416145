//! Reading of allocation problems and reservation problems.

use serde_json::value::RawValue;

use super::fields::{groups_spec, numbers, server_spec, some_text, strings};
use super::users::read_users;
use super::{Document, FormatError, Object, Source};
use crate::{
    place::Place,
    problem::{Problem, ProblemBuilder},
    reservation::Reservation,
    spec::{JobSpec, ReservationSpec},
};

impl<'a> Source<'a> {
    /// Reads the text as an allocation problem.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the text is not JSON, is not an allocation problem, or states an invalid
    /// problem.
    pub fn problem(&self) -> Result<Problem, FormatError> {
        read_problem(&self.document()?)
    }

    /// Reads an allocation problem that is part of this text. `raw` is borrowed from [`Source::text`] and is
    /// at `at` in the document.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Source::problem`], with lines and columns of the whole text.
    pub fn problem_in(&self, raw: &'a RawValue, at: &Place) -> Result<Problem, FormatError> {
        read_problem(&self.document_in(raw, at)?)
    }

    /// Reads the text as a reservation problem.
    ///
    /// # Errors
    /// Returns a [`FormatError`] if the text is not JSON, is not a reservation problem, or states an invalid
    /// problem.
    pub fn reservation(&self) -> Result<Reservation, FormatError> {
        read_reservation(&self.document()?)
    }

    /// Reads a reservation problem that is part of this text. `raw` is borrowed from [`Source::text`] and is
    /// at `at` in the document.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Source::reservation`], with lines and columns of the whole
    /// text.
    pub fn reservation_in(&self, raw: &'a RawValue, at: &Place) -> Result<Reservation, FormatError> {
        read_reservation(&self.document_in(raw, at)?)
    }
}

fn read_problem(document: &Document<'_>) -> Result<Problem, FormatError> {
    let object = document.object(document.root())?;
    object.of_kind(document, "allocation-problem")?;
    object.only_at_top(document, &["kind", "name", "resources", "servers", "groups", "users", "share"])?;
    let name = some_text(document, &object, "name")?.unwrap_or_default();
    let resources = strings(document, object.need(document, "resources")?)?;
    let server_list = document.list(object.need(document, "servers")?)?;
    let mut servers = Vec::with_capacity(server_list.len());
    let mut without_capacity = Vec::new();
    for (i, raw) in server_list.iter().enumerate() {
        let object = document.object(raw)?;
        servers.push(server_spec(document, &object, &[])?);
        if object.get("capacity").is_none() {
            without_capacity.push(i);
        }
    }
    let impossible = |error| document.problem_error(&error);
    let mut builder = ProblemBuilder::new(name, resources, servers).map_err(impossible)?;
    let (groups, share) = groups_spec(document, &object)?;
    builder.groups(groups, share).map_err(impossible)?;
    if let Some(raw) = object.get("users") {
        builder = read_users(document, &document.list(raw)?, builder)?;
    }
    let problem = builder.finish();
    // Only a time-shared class may omit its capacity: the users' rates describe it completely.
    match without_capacity.iter().find(|&&i| !problem.servers()[i].is_time_shared()) {
        Some(&i) => Err(document.error(server_list[i], "the field `capacity` is missing")),
        None => Ok(problem),
    }
}

fn read_reservation(document: &Document<'_>) -> Result<Reservation, FormatError> {
    let object = document.object(document.root())?;
    object.of_kind(document, "reservation-problem")?;
    object.only_at_top(document, &["kind", "name", "resources", "servers", "jobs", "configurations"])?;
    let listed = object.get("configurations");
    // Stated configurations replace the fields from which they would be computed.
    let need = |object: &Object<'_>, field: &str| match object.get(field) {
        None if listed.is_none() => object.need(document, field).map(|_| ()),
        _ => Ok(()),
    };
    let name = some_text(document, &object, "name")?.unwrap_or_default();
    let mut spec = ReservationSpec { name, ..Default::default() };
    if let Some(raw) = listed {
        let each = document.list(raw)?.into_iter().map(|raw| numbers(document, raw));
        spec.configurations = Some(each.collect::<Result<_, _>>()?);
    }
    need(&object, "resources")?;
    if let Some(raw) = object.get("resources") {
        spec.resources = strings(document, raw)?;
    }
    need(&object, "servers")?;
    for raw in object.get("servers").map_or(Ok(Vec::new()), |raw| document.list(raw))? {
        let pool = document.object(raw)?;
        spec.pools.push(server_spec(document, &pool, &[])?);
        need(&pool, "capacity")?;
    }
    for raw in document.list(object.need(document, "jobs")?)? {
        let job = document.object(raw)?;
        job.only(document, &JobSpec::FIELDS)?;
        need(&job, "demand")?;
        spec.jobs.push(JobSpec::stated(document, &job)?);
    }
    Reservation::new(spec).map_err(|error| document.problem_error(&error))
}
