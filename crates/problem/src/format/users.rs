//! Reads the users of a problem, some at a time: each apart from the others first, by threads, then in its place.

use std::borrow::Cow;

use evenhand_budget::each_of;
use serde_json::value::RawValue;

use super::fields::{MEMBER_FIELDS, SameSpec, member_spec, own_digits, same_spec, user_spec};
use super::{Document, FormatError, Object};
use crate::groups::MemberSpec;
use crate::problem::{Known, ProblemBuilder, User};
use crate::spec::UserSpec;

/// Users that are read at a time, and threads share: what is known of them before they are in their places takes half a
/// megabyte.
const AT_A_TIME: usize = 1 << 10;

/// Looks that a user takes, some microseconds: threads share so many users at a time, and no fewer.
const LOOKS: usize = 4;

/// Fields of a user that are the same text where users are of one shape.
const OF_SHAPES: [&str; 5] = ["demand", "servers", "demand_on", "gamma", "criterion"];

/// Shapes that are kept: more than clusters have, and their texts are looked up in a few megabytes.
const MOST_SHAPES: usize = 1 << 16;

/// The texts of these fields.
type Texts<'t> = [Option<&'t str>; OF_SHAPES.len()];

/// The users, as they are read. What some state as the same text is read once.
struct Users<'d, 't> {
    document: &'d Document<'t>,
    builder: ProblemBuilder,
    shapes: Known,
    /// By shape.
    texts: Vec<Texts<'t>>,
    /// By shape: the first user that states it, and the digits of its numbers in these fields.
    first: Vec<(usize, u64)>,
}

/// The shape of a user.
#[derive(Clone, Copy)]
enum Shape {
    /// One that is not kept.
    Own,
    /// One that no user before it states.
    First(usize),
    Again(usize),
}

/// A user that was read apart from the others, with the digits of its numbers.
enum Apart<'t> {
    Whole { user: User, member: MemberSpec, digits: u64, of_shape: u64 },
    Again { shape: usize, same: SameSpec<'t>, member: MemberSpec, digits: u64 },
}

/// Reads the users, in their order, and gives the builder back.
pub(super) fn read_users<'t>(
    document: &Document<'t>,
    list: &[&'t RawValue],
    mut builder: ProblemBuilder,
) -> Result<ProblemBuilder, FormatError> {
    builder.reserve(list.len());
    let mut users =
        Users { document, builder, shapes: Known::default(), texts: Vec::new(), first: Vec::new() };
    list.chunks(AT_A_TIME).try_for_each(|some| users.read(some))?;
    Ok(users.builder)
}

impl<'t> Users<'_, 't> {
    /// Reads the next users: most of it apart from one another, then what depends on those before.
    fn read(&mut self, some: &[&'t RawValue]) -> Result<(), FormatError> {
        let document = self.document;
        // All together have no more digits than are left.
        let digits = document.digits_left() / some.len().max(1) as u64;
        let given = some.iter().map(|raw| document.apart(raw, digits)).collect();
        let known = &self.shapes;
        let objects = each_of(given, LOOKS, |document: Document<'t>| {
            let object = document.object(document.root()).ok()?;
            let hash = known.hash(&texts_of(&object));
            Some((object, hash))
        });
        let shapes: Vec<Shape> =
            objects.iter().enumerate().map(|(at, object)| self.shape_of(at, object.as_ref())).collect();
        let given = objects.into_iter().zip(&shapes).map(|(object, shape)| {
            let (object, _) = object?;
            Some((document.apart(object.raw(), digits), object, *shape))
        });
        let builder = &self.builder;
        let apart = each_of(given.collect(), LOOKS, |given| {
            let (document, object, shape) = given?;
            Apart::read(&document, &object, shape, builder)
        });
        let users = some.iter().zip(shapes).zip(apart);
        users.into_iter().try_for_each(|((raw, shape), apart)| self.add(raw, shape, apart))
    }

    /// The shape of the user so many places on, given with the hash of its texts.
    fn shape_of(&mut self, at: usize, object: Option<&(Object<'t>, u64)>) -> Shape {
        let Some((object, hash)) = object else { return Shape::Own };
        let (texts, next) = (texts_of(object), self.first.len());
        match self.shapes.find(*hash, |shape| self.texts[shape] == texts) {
            Some(shape) => Shape::Again(shape),
            None if next == MOST_SHAPES => Shape::Own,
            None => {
                self.shapes.note(*hash, next);
                self.texts.push(texts);
                self.first.push((self.builder.n_users() + at, 0));
                Shape::First(next)
            }
        }
    }

    /// Adds the next user. One that could not be read apart, or has too many digits for it, is read again: in its turn it says why.
    fn add(&mut self, raw: &'t RawValue, shape: Shape, apart: Option<Apart<'t>>) -> Result<(), FormatError> {
        let document = self.document;
        let added = match apart {
            Some(Apart::Whole { user, member, digits, of_shape }) if document.takes_digits(digits) => {
                self.keep(shape, of_shape);
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
                self.keep(shape, digits - own_digits(document, &object)?);
                self.builder.user(user, member)
            }
        };
        added.map_err(|error| document.problem_error(&error))
    }

    /// Notes the digits of a shape that is stated for the first time.
    fn keep(&mut self, shape: Shape, digits: u64) {
        if let Shape::First(at) = shape {
            self.first[at].1 = digits;
        }
    }
}

impl<'t> Apart<'t> {
    /// `document` counts the digits of this user alone.
    fn read(
        document: &Document<'t>,
        object: &Object<'t>,
        shape: Shape,
        builder: &ProblemBuilder,
    ) -> Option<Self> {
        let before = document.digits_left();
        if let Shape::Again(shape) = shape {
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

fn texts_of<'t>(object: &Object<'t>) -> Texts<'t> {
    OF_SHAPES.map(|field| object.get(field).map(RawValue::get))
}

/// All that a user states.
fn whole<'t>(
    document: &Document<'t>,
    object: &Object<'t>,
) -> Result<(UserSpec<Cow<'t, str>>, MemberSpec), FormatError> {
    Ok((user_spec(document, object, &MEMBER_FIELDS)?, member_spec(document, object)?))
}
