//! Reading of a problem's users, in batches. Threads first parse each user of a batch independently of the
//! other users. Then the users are added in their order.

use std::borrow::Cow;

use evenhand_budget::each_of;
use serde_json::value::RawValue;

use super::fields::{MEMBER_FIELDS, SameSpec, member_spec, own_digits, same_spec, user_spec};
use super::{Document, FormatError, Object};
use crate::groups::MemberSpec;
use crate::problem::{Known, ProblemBuilder, User};
use crate::spec::UserSpec;

/// Number of users in a batch. Their intermediate results take half a megabyte.
const BATCH: usize = 1 << 10;

/// The number of visits (see [`each_of`]) that take as long as parsing a user, which takes some microseconds.
/// It determines the number of users from which threads share the work.
const VISITS_PER_USER: usize = 4;

/// The fields whose texts are identical for users of one shape.
const SHAPE_FIELDS: [&str; 7] = ["demand", "servers", "demand_on", "gamma", "criterion", "rates", "at_most"];

/// The maximum number of shapes that are stored. Clusters have fewer shapes. The stored texts take a few megabytes.
const MOST_SHAPES: usize = 1 << 16;

/// The texts of [`SHAPE_FIELDS`] of one user.
type Texts<'t> = [Option<&'t str>; SHAPE_FIELDS.len()];

/// The users that have been read so far. Fields that several users state as the same text are parsed once.
struct Users<'d, 't> {
    document: &'d Document<'t>,
    builder: ProblemBuilder,
    shapes: Known,
    /// The texts of the fields of each shape.
    texts: Vec<Texts<'t>>,
    /// The first user with each shape, and the number of digits in the fields of the shape.
    first: Vec<(usize, u64)>,
}

/// The shape of a user, as an index into the stored shapes.
#[derive(Clone, Copy)]
enum Shape {
    /// A shape that is not stored.
    NotStored,
    /// A shape that no earlier user has.
    First(usize),
    /// The shape of an earlier user.
    Again(usize),
}

/// A user that was parsed independently of the other users, with the number of digits of its numbers.
enum ParsedUser<'t> {
    Whole { user: User, member: MemberSpec, digits: u64, shape_digits: u64 },
    Again { shape: usize, same: SameSpec<'t>, member: MemberSpec, digits: u64 },
}

/// Reads the users in their order and returns the builder with them.
pub(super) fn read_users<'t>(
    document: &Document<'t>,
    list: &[&'t RawValue],
    mut builder: ProblemBuilder,
) -> Result<ProblemBuilder, FormatError> {
    builder.reserve(list.len());
    let mut users =
        Users { document, builder, shapes: Known::default(), texts: Vec::new(), first: Vec::new() };
    list.chunks(BATCH).try_for_each(|batch| users.read(batch))?;
    Ok(users.builder)
}

impl<'t> Users<'_, 't> {
    /// Reads the next batch of users: parses them independently, then adds them in order.
    fn read(&mut self, batch: &[&'t RawValue]) -> Result<(), FormatError> {
        let document = self.document;
        // The remaining digits are split evenly, so the batch cannot exceed them.
        let digits = document.digits_left() / batch.len().max(1) as u64;
        let given = batch.iter().map(|raw| document.apart(raw, digits)).collect();
        let known = &self.shapes;
        let objects = each_of(given, VISITS_PER_USER, |document: Document<'t>| {
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
        let parsed = each_of(given.collect(), VISITS_PER_USER, |given| {
            let (document, object, shape) = given?;
            ParsedUser::read(&document, &object, shape, builder)
        });
        let users = batch.iter().zip(shapes).zip(parsed);
        users.into_iter().try_for_each(|((raw, shape), parsed)| self.add(raw, shape, parsed))
    }

    /// Returns the shape of user `at` of the batch, given the hash of its texts.
    fn shape_of(&mut self, at: usize, object: Option<&(Object<'t>, u64)>) -> Shape {
        let Some((object, hash)) = object else { return Shape::NotStored };
        let (texts, next) = (texts_of(object), self.first.len());
        match self.shapes.find(*hash, |shape| self.texts[shape] == texts) {
            Some(shape) => Shape::Again(shape),
            None if next == MOST_SHAPES => Shape::NotStored,
            None => {
                self.shapes.insert(*hash, next);
                self.texts.push(texts);
                self.first.push((self.builder.n_users() + at, 0));
                Shape::First(next)
            }
        }
    }

    /// Adds the next user. A user that could not be parsed independently, or has too many digits for its
    /// share of the budget, is read again here, so that errors come in the order of the file.
    fn add(
        &mut self,
        raw: &'t RawValue,
        shape: Shape,
        parsed: Option<ParsedUser<'t>>,
    ) -> Result<(), FormatError> {
        let document = self.document;
        let added = match parsed {
            Some(ParsedUser::Whole { user, member, digits, shape_digits })
                if document.takes_digits(digits) =>
            {
                self.record_digits(shape, shape_digits);
                self.builder.add(user, member)
            }
            Some(ParsedUser::Again { shape, same, member, digits })
                if document.takes_digits(self.first[shape].1.saturating_add(digits)) =>
            {
                let SameSpec { name, weight, tasks } = same;
                self.builder.user_like(self.first[shape].0, &name, [weight, tasks], member)
            }
            _ => {
                let object = document.object(raw)?;
                let before = document.digits_left();
                let (user, member) = read_user(document, &object)?;
                let digits = before - document.digits_left();
                self.record_digits(shape, digits - own_digits(document, &object)?);
                self.builder.user(user, member)
            }
        };
        added.map_err(|error| document.problem_error(&error))
    }

    /// Records the digits of a shape that is stated for the first time.
    fn record_digits(&mut self, shape: Shape, digits: u64) {
        if let Shape::First(at) = shape {
            self.first[at].1 = digits;
        }
    }
}

impl<'t> ParsedUser<'t> {
    /// Parses a user. `document` counts only the digits of this user.
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
        let (user, member) = read_user(document, object).ok()?;
        let digits = before - document.digits_left();
        let shape_digits = digits - own_digits(document, object).ok()?;
        Some(Self::Whole { user: builder.stated(user).ok()?, member, digits, shape_digits })
    }
}

fn texts_of<'t>(object: &Object<'t>) -> Texts<'t> {
    SHAPE_FIELDS.map(|field| object.get(field).map(RawValue::get))
}

/// Reads all fields of a user.
fn read_user<'t>(
    document: &Document<'t>,
    object: &Object<'t>,
) -> Result<(UserSpec<Cow<'t, str>>, MemberSpec), FormatError> {
    Ok((user_spec(document, object, &MEMBER_FIELDS)?, member_spec(document, object)?))
}
