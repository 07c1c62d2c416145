//! Reads an allocation problem, or a reservation problem.

use std::borrow::Cow;
use std::collections::HashMap;

use evenhand_budget::each_of;
use serde_json::value::RawValue;

use super::fields::{
    MEMBER_FIELDS, SameSpec, groups_spec, member_spec, numbers, own_digits, same_spec, server_spec,
    some_text, strings, user_spec,
};
use super::{Document, FormatError, Object, Source};
use crate::{
    groups::MemberSpec,
    place::Place,
    problem::{Problem, ProblemBuilder, User},
    reservation::Reservation,
    spec::{JobSpec, ReservationSpec, UserSpec},
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
        let mut users = Users { document, builder, shapes: HashMap::new(), first: Vec::new() };
        for some in document.list(raw)?.chunks(AT_A_TIME) {
            users.read(some)?;
        }
        builder = users.builder;
    }
    let problem = builder.finish();
    // Only a class that is shared by time can do without: there the rates say it all.
    match without_capacity.iter().find(|&&i| !problem.servers()[i].is_time_shared()) {
        Some(&i) => Err(document.error(server_list[i], "the field `capacity` is missing")),
        None => Ok(problem),
    }
}

/// Users that are read at a time, and threads share: what is known of them before they are in their places takes half a
/// megabyte.
const AT_A_TIME: usize = 1 << 10;

/// Looks that a user takes: as many as let threads share so many users.
const LOOKS: usize = 4;

/// Fields of a user that are the same text where users are of one shape.
const OF_SHAPES: [&str; 5] = ["demand", "servers", "demand_on", "gamma", "criterion"];

/// Shapes that are kept: more than clusters have, and their texts are looked up in a few megabytes.
const MOST_SHAPES: usize = 1 << 16;

/// The users, as they are read. What some state as the same text is read once.
struct Users<'d, 't> {
    document: &'d Document<'t>,
    builder: ProblemBuilder,
    /// By the texts of the fields: the shape.
    shapes: HashMap<[Option<&'t str>; OF_SHAPES.len()], usize>,
    /// By shape: the first user that states it, and the digits of its numbers in these fields.
    first: Vec<(usize, u64)>,
}

/// What a user states in the fields of shapes.
#[derive(Clone, Copy)]
enum Stated {
    /// Nothing that is kept.
    Own,
    /// A shape for the first time.
    First(usize),
    Again(usize),
}

/// A user that was read apart from the others, with the digits of its numbers.
enum Apart<'t> {
    Whole { user: User, member: MemberSpec, digits: u64, of_shape: u64 },
    Again { shape: usize, same: SameSpec<'t>, member: MemberSpec, digits: u64 },
}

impl<'t> Users<'_, 't> {
    /// Reads the next users: most of it apart from one another, then what depends on those before.
    fn read(&mut self, some: &[&'t RawValue]) -> Result<(), FormatError> {
        let document = self.document;
        // All together have no more digits than are left.
        let digits = document.digits_left() / some.len().max(1) as u64;
        let given = some.iter().map(|raw| document.apart(raw, digits)).collect();
        let objects = each_of(given, LOOKS, |document: Document<'t>| document.object(document.root()).ok());
        let stated: Vec<Stated> =
            objects.iter().enumerate().map(|(at, object)| self.stated(at, object.as_ref())).collect();
        let given = objects.into_iter().zip(&stated);
        let given = given
            .map(|(object, stated)| Some((document.apart(object.as_ref()?.raw(), digits), object?, *stated)));
        let builder = &self.builder;
        let apart = each_of(given.collect(), LOOKS, |given| {
            let (document, object, stated) = given?;
            Apart::read(&document, &object, stated, builder)
        });
        let users = some.iter().zip(stated).zip(apart);
        users.into_iter().try_for_each(|((raw, stated), apart)| self.add(raw, stated, apart))
    }

    /// What the user so many places on states.
    fn stated(&mut self, at: usize, object: Option<&Object<'t>>) -> Stated {
        let Some(object) = object else { return Stated::Own };
        let texts = OF_SHAPES.map(|field| object.get(field).map(RawValue::get));
        let next = self.first.len();
        match self.shapes.get(&texts) {
            Some(shape) => Stated::Again(*shape),
            None if next == MOST_SHAPES => Stated::Own,
            None => {
                self.shapes.insert(texts, next);
                self.first.push((self.builder.n_users() + at, 0));
                Stated::First(next)
            }
        }
    }

    /// Adds the next user. One that could not be read apart, or has too many digits for it, is read again: in its turn it says why.
    fn add(
        &mut self,
        raw: &'t RawValue,
        stated: Stated,
        apart: Option<Apart<'t>>,
    ) -> Result<(), FormatError> {
        let document = self.document;
        let added = match apart {
            Some(Apart::Whole { user, member, digits, of_shape }) if document.takes_digits(digits) => {
                self.keep(stated, of_shape);
                self.builder.add(user, member)
            }
            Some(Apart::Again { shape, same, member, digits })
                if document.takes_digits(self.first[shape].1.saturating_add(digits)) =>
            {
                let SameSpec { name, weight, tasks } = same;
                self.builder.user_like(self.first[shape].0, &name, [weight, tasks], member)
            }
            _ => {
                let object = document.object(raw)?;
                let before = document.digits_left();
                let (user, member) = whole(document, &object)?;
                let digits = before - document.digits_left();
                self.keep(stated, digits - own_digits(document, &object)?);
                self.builder.user(user, member)
            }
        };
        added.map_err(|error| document.problem_error(&error))
    }

    /// Notes the digits of a shape that is stated for the first time.
    fn keep(&mut self, stated: Stated, digits: u64) {
        if let Stated::First(shape) = stated {
            self.first[shape].1 = digits;
        }
    }
}

impl<'t> Apart<'t> {
    /// `document` counts the digits of this user alone.
    fn read(
        document: &Document<'t>,
        object: &Object<'t>,
        stated: Stated,
        builder: &ProblemBuilder,
    ) -> Option<Self> {
        let before = document.digits_left();
        if let Stated::Again(shape) = stated {
            let same = same_spec(document, object).ok()?;
            let member = member_spec(document, object).ok()?;
            return Some(Self::Again { shape, same, member, digits: before - document.digits_left() });
        }
        let (user, member) = whole(document, object).ok()?;
        let digits = before - document.digits_left();
        let of_shape = digits - own_digits(document, object).ok()?;
        Some(Self::Whole { user: builder.stated(user).ok()?, member, digits, of_shape })
    }
}

/// All that a user states.
fn whole<'t>(
    document: &Document<'t>,
    object: &Object<'t>,
) -> Result<(UserSpec<Cow<'t, str>>, MemberSpec), FormatError> {
    Ok((user_spec(document, object, &MEMBER_FIELDS)?, member_spec(document, object)?))
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
