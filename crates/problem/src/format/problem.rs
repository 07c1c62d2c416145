//! Reads an allocation problem.

use rug::Rational;
use serde_json::value::RawValue;

use super::{Document, FormatError, Object, Source};
use crate::{
    place::Place,
    problem::{Problem, ProblemBuilder, ServerSpec, UserSpec},
};

impl<'a> Source<'a> {
    /// The text as an allocation problem.
    ///
    /// # Errors
    /// [`FormatError`] when the text is no JSON, no allocation problem, or states an impossible one.
    pub fn problem(&self) -> Result<Problem, FormatError> {
        read(&self.document()?)
    }

    /// An allocation problem inside this text: `raw` is borrowed from [`Source::text`] and stands at
    /// `at` in the document.
    ///
    /// # Errors
    /// As [`Source::problem`], with lines and columns of the whole text.
    pub fn problem_in(&self, raw: &'a RawValue, at: &Place) -> Result<Problem, FormatError> {
        read(&self.document_in(raw, at)?)
    }
}

fn read(document: &Document<'_>) -> Result<Problem, FormatError> {
    let object = document.object(document.root())?;
    object.of_kind(document, "allocation-problem")?;
    object.only_at_top(document, &["kind", "name", "resources", "servers", "groups", "users", "share"])?;
    let name = match object.get("name") {
        None => String::new(),
        Some(raw) => document.string(raw)?.into_owned(),
    };
    let resources = names(document, object.need(document, "resources")?)?;
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
    let (groups, share) = super::groups::groups_spec(document, &object)?;
    builder.groups(groups, share).map_err(impossible)?;
    if let Some(raw) = object.get("users") {
        for raw in document.list(raw)? {
            let object = document.object(raw)?;
            let user = user_spec(document, &object, &super::groups::MEMBER_FIELDS)?;
            let member = super::groups::member_spec(document, &object)?;
            builder.user(user, member).map_err(impossible)?;
        }
    }
    let problem = builder.finish();
    // Only a class that is shared by time can do without: there the rates say it all.
    match without_capacity.iter().find(|&&i| !problem.servers()[i].is_time_shared()) {
        Some(&i) => Err(document.error(server_list[i], "the field `capacity` is missing")),
        None => Ok(problem),
    }
}

/// A server class as problems state it. The object may have the fields `also` besides, which are not read.
///
/// # Errors
/// [`FormatError`] at the first field that is unknown, missing or malformed.
pub fn server_spec<'t>(
    document: &Document<'t>,
    object: &Object<'t>,
    also: &[&str],
) -> Result<ServerSpec, FormatError> {
    object.only(document, &[&["name", "count", "capacity"], also].concat())?;
    Ok(ServerSpec {
        name: document.string(object.need(document, "name")?)?.into_owned(),
        count: object.get("count").map(|raw| document.number(raw)).transpose()?,
        capacity: quantities(document, object.get("capacity"))?,
    })
}

/// Fields of a user but those about groups.
const USER_FIELDS: [&str; 8] =
    ["name", "weight", "demand", "tasks", "servers", "demand_on", "gamma", "criterion"];

/// A user as problems state it. The object may have the fields `also` besides, which are not read.
///
/// # Errors
/// [`FormatError`] at the first field that is unknown, missing or malformed.
pub fn user_spec<'t>(
    document: &Document<'t>,
    object: &Object<'t>,
    also: &[&str],
) -> Result<UserSpec, FormatError> {
    object.only(document, &[&USER_FIELDS[..], also].concat())?;
    Ok(UserSpec {
        name: document.string(object.need(document, "name")?)?.into_owned(),
        weight: object.get("weight").map(|raw| document.number(raw)).transpose()?,
        tasks: object.get("tasks").map(|raw| document.number(raw)).transpose()?,
        demand: quantities(document, object.get("demand"))?,
        servers: object.get("servers").map(|raw| names(document, raw)).transpose()?,
        demand_on: demand_on(document, object.get("demand_on"))?,
        gamma: rates(document, object.get("gamma"))?,
        criterion: rates(document, object.get("criterion"))?,
    })
}

pub(super) fn names(document: &Document<'_>, raw: &RawValue) -> Result<Vec<String>, FormatError> {
    document.list(raw)?.into_iter().map(|name| Ok(document.string(name)?.into_owned())).collect()
}

/// Amounts by name, which may have units.
pub(super) fn quantities(
    document: &Document<'_>,
    raw: Option<&RawValue>,
) -> Result<Vec<(String, Rational)>, FormatError> {
    by_name(document, raw, Document::quantity)
}

/// Plain numbers by name.
pub(super) fn rates(
    document: &Document<'_>,
    raw: Option<&RawValue>,
) -> Result<Vec<(String, Rational)>, FormatError> {
    by_name(document, raw, Document::number)
}

/// What the fields of an object say, by their names.
fn by_name<'t, T>(
    document: &Document<'t>,
    raw: Option<&'t RawValue>,
    read: impl Fn(&Document<'t>, &'t RawValue) -> Result<T, FormatError>,
) -> Result<Vec<(String, T)>, FormatError> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    let object = document.object(raw)?;
    let entries = object.fields().iter();
    entries.map(|(name, value)| Ok((name.clone().into_owned(), read(document, value)?))).collect()
}

type DemandOn = Vec<(String, Vec<(String, Rational)>)>;

fn demand_on(document: &Document<'_>, raw: Option<&RawValue>) -> Result<DemandOn, FormatError> {
    by_name(document, raw, |document, demand| quantities(document, Some(demand)))
}
