//! Reads an allocation problem, or a reservation problem.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::fields::{
    MEMBER_FIELDS, SameSpec, groups_spec, member_spec, numbers, own_digits, same_spec, server_spec,
    some_text, strings, user_spec,
};
use super::{Document, FormatError, Object, Source};
use crate::{
    place::Place,
    problem::{Problem, ProblemBuilder},
    reservation::Reservation,
    spec::{JobSpec, ReservationSpec},
};

impl<'a> Source<'a> {
    /// The text as an allocation problem.
    ///
    /// # Errors
    /// [`FormatError`] when the text is no JSON, no allocation problem, or states an impossible one.
    pub fn problem(&self) -> Result<Problem, FormatError> {
        read_problem(&self.document()?)
    }

    /// An allocation problem inside this text: `raw` is borrowed from [`Source::text`] and stands at
    /// `at` in the document.
    ///
    /// # Errors
    /// As [`Source::problem`], with lines and columns of the whole text.
    pub fn problem_in(&self, raw: &'a RawValue, at: &Place) -> Result<Problem, FormatError> {
        read_problem(&self.document_in(raw, at)?)
    }

    /// The text as a reservation problem.
    ///
    /// # Errors
    /// [`FormatError`] when the text is no JSON, no reservation problem, or states an impossible one.
    pub fn reservation(&self) -> Result<Reservation, FormatError> {
        read_reservation(&self.document()?)
    }

    /// A reservation problem inside this text: `raw` is borrowed from [`Source::text`] and stands at
    /// `at` in the document.
    ///
    /// # Errors
    /// As [`Source::reservation`], with lines and columns of the whole text.
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
        let mut shapes = Shapes::default();
        for (n, raw) in document.list(raw)?.into_iter().enumerate() {
            let object = document.object(raw)?;
            shapes.user(document, &object, n, &mut builder)?;
        }
    }
    let problem = builder.finish();
    // Only a class that is shared by time can do without: there the rates say it all.
    match without_capacity.iter().find(|&&i| !problem.servers()[i].is_time_shared()) {
        Some(&i) => Err(document.error(server_list[i], "the field `capacity` is missing")),
        None => Ok(problem),
    }
}

/// Fields of a user that are the same text where users are of one shape.
const OF_SHAPES: [&str; 5] = ["demand", "servers", "demand_on", "gamma", "criterion"];

/// Shapes that are kept: more than clusters have, and their texts are looked up in a few megabytes.
const MOST_SHAPES: usize = 1 << 16;

/// What users state that state the same text, which is read once.
#[derive(Default)]
struct Shapes<'t> {
    /// By the texts of the fields: the first user that states them, and the digits of its numbers in them.
    known: HashMap<[Option<&'t str>; OF_SHAPES.len()], (usize, u64)>,
}

impl<'t> Shapes<'t> {
    /// Reads user `n`.
    fn user(
        &mut self,
        document: &Document<'t>,
        object: &Object<'t>,
        n: usize,
        builder: &mut ProblemBuilder,
    ) -> Result<(), FormatError> {
        let impossible = |error| document.problem_error(&error);
        let texts = OF_SHAPES.map(|field| object.get(field).map(RawValue::get));
        if let Some((first, digits)) = self.known.get(&texts)
            && document.takes_digits(*digits)
        {
            let SameSpec { name, weight, tasks } = same_spec(document, object)?;
            let member = member_spec(document, object)?;
            return builder.user_like(*first, &name, [weight, tasks], member).map_err(impossible);
        }
        let before = document.digits_left();
        let user = user_spec::<Cow<'t, str>>(document, object, &MEMBER_FIELDS)?;
        let all = before - document.digits_left();
        let own = own_digits(document, object)?;
        let member = member_spec(document, object)?;
        builder.user(user, member).map_err(impossible)?;
        if self.known.len() < MOST_SHAPES {
            self.known.insert(texts, (n, all - own));
        }
        Ok(())
    }
}

fn read_reservation(document: &Document<'_>) -> Result<Reservation, FormatError> {
    let object = document.object(document.root())?;
    object.of_kind(document, "reservation-problem")?;
    object.only_at_top(document, &["kind", "name", "resources", "servers", "jobs", "configurations"])?;
    let listed = object.get("configurations");
    // The configurations stand in place of what they follow from.
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
