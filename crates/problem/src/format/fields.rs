//! Objects that become structs. Each field is declared once, with the function that reads it. The list of
//! known fields in error messages comes from the same table.

use std::borrow::Cow;
use std::str::FromStr;

use rug::Rational;
use serde_json::value::RawValue;

use super::{Document, FormatError, Object, document::shorten};
use crate::groups::{GroupShareSpec, GroupSpec, Guarantees, MemberSpec, ShareOf, ShareOver, ZeroWeight};
use crate::on::{OnSpec, ServersSpec};
use crate::spec::{JobSpec, ServerSpec, UserSpec};

type Stated<T> = Result<T, FormatError>;

/// Gives a struct two associated items: `FIELDS`, the names of its fields in documents, and `stated`, which
/// reads the struct from an object. A string after a field is its name in documents, if this name differs
/// from the name in the struct. The object may have further fields.
macro_rules! stated {
    ($spec:ident $(<$text:ident>)? { $($field:ident $($name:literal)?: $kind:expr),+ $(,)? }) => {
        impl<'t $(, $text: From<Cow<'t, str>>)?> $spec$(<$text>)? {
            pub(super) const FIELDS: [&'static str; [$(stringify!($field)),+].len()] =
                [$(stated!(@name $field $($name)?)),+];

            pub(super) fn stated(document: &Document<'t>, object: &Object<'t>) -> Stated<Self> {
                Ok(Self { $($field: $kind(document, object, stated!(@name $field $($name)?))?),+ })
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
}

stated! { ServerSpec { name: text, count: number, capacity: amounts } }
stated! { UserSpec<S> {
    name: text, weight: number, demand: amounts, tasks: number, servers: names, demand_on: demand_on, gamma: rates,
    criterion: rates, rates: some_rates, at_most: number,
} }
stated! { MemberSpec { group: some_text, gang: number, pinned: number } }
stated! { GroupSpec {
    name: text, parent: some_text, weight: number, priority: number, guarantee: some_amounts, limit: amounts,
    lend: amounts, on: on,
} }
stated! { GroupShareSpec {
    of: word(ShareOf::NAMES), over: word(ShareOver::NAMES), multipliers: rates, families: truth,
    zero_weight "zero-weight": word(ZeroWeight::NAMES), guarantees: word(Guarantees::NAMES),
} }
stated! { JobSpec { name: text, demand: amounts, reward: number, load: number } }

/// The fields of a user that are not about its demand: its group, gang and pinned tasks.
pub const MEMBER_FIELDS: [&str; 3] = MemberSpec::FIELDS;

/// Reads a server class as problems state it. The object may also have the fields in `also`, which are not read.
///
/// # Errors
/// Returns a [`FormatError`] at the first field that is unknown, missing or malformed.
pub fn server_spec<'t>(document: &Document<'t>, object: &Object<'t>, also: &[&str]) -> Stated<ServerSpec> {
    object.only(document, &[&ServerSpec::FIELDS, also].concat())?;
    ServerSpec::stated(document, object)
}

/// Reads a user as problems state it. The object may also have the fields in `also`, which are not read.
///
/// # Errors
/// Returns a [`FormatError`] at the first field that is unknown, missing or malformed.
pub fn user_spec<'t, S: From<Cow<'t, str>>>(
    document: &Document<'t>,
    object: &Object<'t>,
    also: &[&str],
) -> Stated<UserSpec<S>> {
    object.only_of(document, &[&UserSpec::<String>::FIELDS, also])?;
    UserSpec::stated(document, object)
}

/// The fields that each user of one shape states for itself.
pub struct SameSpec<'t> {
    pub name: Cow<'t, str>,
    pub weight: Option<Rational>,
    pub tasks: Option<Rational>,
}

/// Reads the name, weight and tasks of a user whose other fields are known to be valid.
///
/// # Errors
/// Returns an error in the same cases as [`user_spec`].
pub fn same_spec<'t>(document: &Document<'t>, object: &Object<'t>) -> Stated<SameSpec<'t>> {
    object.only_of(document, &[&UserSpec::<String>::FIELDS, &MEMBER_FIELDS])?;
    Ok(SameSpec {
        name: document.string(object.need(document, "name")?)?,
        weight: number(document, object, "weight")?,
        tasks: number(document, object, "tasks")?,
    })
}

/// Returns how many digits [`same_spec`] and [`member_spec`] take from the budget.
///
/// # Errors
/// Never, if the user was read before.
pub fn own_digits<'t>(document: &Document<'t>, object: &Object<'t>) -> Stated<u64> {
    let of = |field| object.get(field).map_or(Ok(0), |raw| document.digits_of(raw));
    Ok(of("weight")? + of("tasks")? + of("gang")? + of("pinned")?)
}

/// Reads a user's group, gang and pinned tasks.
///
/// # Errors
/// Returns a [`FormatError`] if a field is malformed.
pub fn member_spec<'t>(document: &Document<'t>, user: &Object<'t>) -> Stated<MemberSpec> {
    MemberSpec::stated(document, user)
}

/// Reads the fields `groups` and `share` of a problem, or of another document that has them.
///
/// # Errors
/// Returns a [`FormatError`] at the first field that is unknown, missing or malformed.
pub fn groups_spec<'t>(
    document: &Document<'t>,
    problem: &Object<'t>,
) -> Stated<(Vec<GroupSpec>, GroupShareSpec)> {
    let groups = problem.get("groups").map_or(Ok(Vec::new()), |raw| document.list(raw))?.into_iter();
    let group = |raw| {
        let object = document.object(raw)?;
        object.only(document, &GroupSpec::FIELDS)?;
        GroupSpec::stated(document, &object)
    };
    let groups = groups.map(group).collect::<Stated<_>>()?;
    let Some(raw) = problem.get("share") else { return Ok((groups, GroupShareSpec::default())) };
    let share = document.object(raw)?;
    share.only(document, &GroupShareSpec::FIELDS)?;
    Ok((groups, GroupShareSpec::stated(document, &share)?))
}

/// Reads the values of an object's fields, each with the name of the field. Returns an empty list if the
/// object is absent.
fn by_name<'t, S: From<Cow<'t, str>>, T>(
    document: &Document<'t>,
    raw: Option<&'t RawValue>,
    read: impl Fn(&Document<'t>, &'t RawValue) -> Stated<T>,
) -> Stated<Vec<(S, T)>> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    let object = document.object(raw)?;
    let mut entries = Vec::with_capacity(object.fields().len());
    for (name, value) in object.into_fields() {
        entries.push((name.into(), read(document, value)?));
    }
    Ok(entries)
}

/// Reads an object of plain numbers, each with the name of its field.
pub(super) fn numbers(document: &Document<'_>, raw: &RawValue) -> Stated<Vec<(String, Rational)>> {
    by_name(document, Some(raw), Document::number)
}

fn quantities<'t, S: From<Cow<'t, str>>>(
    document: &Document<'t>,
    raw: &'t RawValue,
) -> Stated<Vec<(S, Rational)>> {
    by_name(document, Some(raw), Document::quantity)
}

/// Reads a list of strings.
pub(super) fn strings<'t, S: From<Cow<'t, str>>>(
    document: &Document<'t>,
    raw: &'t RawValue,
) -> Stated<Vec<S>> {
    document.list(raw)?.into_iter().map(|name| Ok(document.string(name)?.into())).collect()
}

// The following functions read single fields, for the table above.

fn text<'t, S: From<Cow<'t, str>>>(document: &Document<'t>, object: &Object<'t>, field: &str) -> Stated<S> {
    Ok(document.string(object.need(document, field)?)?.into())
}

pub(super) fn some_text<'t>(
    document: &Document<'t>,
    object: &Object<'t>,
    field: &str,
) -> Stated<Option<String>> {
    object.get(field).map(|raw| Ok(document.string(raw)?.into_owned())).transpose()
}

fn number<'t>(document: &Document<'t>, object: &Object<'t>, field: &str) -> Stated<Option<Rational>> {
    object.get(field).map(|raw| document.number(raw)).transpose()
}

fn truth<'t>(document: &Document<'t>, object: &Object<'t>, field: &str) -> Stated<bool> {
    object.get(field).map_or(Ok(false), |raw| document.boolean(raw))
}

fn names<'t, S: From<Cow<'t, str>>>(
    document: &Document<'t>,
    object: &Object<'t>,
    field: &str,
) -> Stated<Option<Vec<S>>> {
    object.get(field).map(|raw| strings(document, raw)).transpose()
}

/// Reads an object of amounts, each with the name of its field. Amounts may have unit suffixes.
fn amounts<'t, S: From<Cow<'t, str>>>(
    document: &Document<'t>,
    object: &Object<'t>,
    field: &str,
) -> Stated<Vec<(S, Rational)>> {
    by_name(document, object.get(field), Document::quantity)
}

fn some_amounts<'t>(
    document: &Document<'t>,
    object: &Object<'t>,
    field: &str,
) -> Stated<Option<Vec<(String, Rational)>>> {
    object.get(field).map(|raw| quantities(document, raw)).transpose()
}

fn rates<'t, S: From<Cow<'t, str>>>(
    document: &Document<'t>,
    object: &Object<'t>,
    field: &str,
) -> Stated<Vec<(S, Rational)>> {
    by_name(document, object.get(field), Document::number)
}

type SomeRates<S> = Option<Vec<(S, Rational)>>;

fn some_rates<'t, S: From<Cow<'t, str>>>(
    document: &Document<'t>,
    object: &Object<'t>,
    field: &str,
) -> Stated<SomeRates<S>> {
    object.get(field).map(|_| rates(document, object, field)).transpose()
}

type DemandOn<S> = Vec<(S, Vec<(S, Rational)>)>;

fn demand_on<'t, S: From<Cow<'t, str>>>(
    document: &Document<'t>,
    object: &Object<'t>,
    field: &str,
) -> Stated<DemandOn<S>> {
    by_name(document, object.get(field), quantities)
}

/// Returns a reader of a name that must be one of a closed set. The reader returns the default if no name is
/// stated.
fn word<'t, T: Default + FromStr>(
    names: &[(&str, &str)],
) -> impl Fn(&Document<'t>, &Object<'t>, &str) -> Stated<T> {
    move |document, object, field| {
        let Some(raw) = object.get(field) else { return Ok(T::default()) };
        let expected = || names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let stated = document.string(raw)?;
        stated.parse().map_err(|_| {
            let message = format!("found `{}`: expected one of {}", shorten(&stated), expected());
            document.error(raw, message)
        })
    }
}

/// Reads a group's limits on server classes: an object with the class names as keys, or a list.
fn on<'t>(document: &Document<'t>, object: &Object<'t>, field: &str) -> Stated<Vec<OnSpec>> {
    let Some(raw) = object.get(field) else { return Ok(Vec::new()) };
    if raw.get().starts_with('[') {
        let of = |raw| {
            let object = document.object(raw)?;
            let names = strings(document, object.need(document, "servers")?)?;
            on_one(document, &object, ServersSpec::List(names))
        };
        return document.list(raw)?.into_iter().map(of).collect();
    }
    let of = |document: &Document<'t>, raw| {
        let object = document.object(raw)?;
        match object.get("servers") {
            Some(raw) => {
                Err(document.error(raw, "the key names the server classes already: remove `servers`"))
            }
            None => Ok(object),
        }
    };
    let by_key = by_name(document, Some(raw), of)?.into_iter();
    by_key.map(|(key, object)| on_one(document, &object, ServersSpec::Key(key))).collect()
}

fn on_one<'t>(document: &Document<'t>, object: &Object<'t>, servers: ServersSpec) -> Stated<OnSpec> {
    object.only(document, &["servers", "guarantee", "limit", "lend"])?;
    Ok(OnSpec {
        servers,
        limit: amounts(document, object, "limit")?,
        has_guarantee: object.get("guarantee").is_some(),
        has_lend: object.get("lend").is_some(),
    })
}
