//! Reads and writes the groups of a problem, and how siblings are compared.

use std::str::FromStr;

use serde_json::value::RawValue;

use super::canonical::Fields;
use super::problem::{quantities, rates};
use super::{Document, FormatError, Object};
use crate::groups::{
    Group, GroupShare, GroupShareSpec, GroupSpec, Groups, Member, MemberSpec, ShareOf, ShareOver, ZeroWeight,
};
use crate::on::{OnSpec, ServersSpec};
use crate::problem::Problem;

/// The fields `groups` and `share` of a problem, or of another document that has them.
///
/// # Errors
/// [`FormatError`] at the first field that is unknown, missing or malformed.
pub fn groups_spec(
    document: &Document<'_>,
    problem: &Object<'_>,
) -> Result<(Vec<GroupSpec>, GroupShareSpec), FormatError> {
    let groups = match problem.get("groups") {
        None => Vec::new(),
        Some(raw) => {
            document.list(raw)?.into_iter().map(|raw| group(document, raw)).collect::<Result<_, _>>()?
        }
    };
    let share = problem.get("share").map(|raw| share(document, raw)).transpose()?;
    Ok((groups, share.unwrap_or_default()))
}

fn group(document: &Document<'_>, raw: &RawValue) -> Result<GroupSpec, FormatError> {
    let object = document.object(raw)?;
    object.only(document, &["name", "parent", "weight", "priority", "guarantee", "limit", "lend", "on"])?;
    let string = |raw| document.string(raw).map(std::borrow::Cow::into_owned);
    Ok(GroupSpec {
        name: string(object.need(document, "name")?)?,
        parent: object.get("parent").map(string).transpose()?,
        weight: object.get("weight").map(|raw| document.number(raw)).transpose()?,
        priority: object.get("priority").map(|raw| document.number(raw)).transpose()?,
        guarantee: object.get("guarantee").map(|raw| quantities(document, Some(raw))).transpose()?,
        limit: quantities(document, object.get("limit"))?,
        lend: quantities(document, object.get("lend"))?,
        on: object.get("on").map_or(Ok(Vec::new()), |raw| on(document, raw))?,
    })
}

/// What is said of a group on server classes: by their names, or as a list.
fn on(document: &Document<'_>, raw: &RawValue) -> Result<Vec<OnSpec>, FormatError> {
    if raw.get().starts_with('[') {
        let of = |raw| {
            let object = document.object(raw)?;
            let names = document.list(object.need(document, "servers")?)?.into_iter();
            let names = names.map(|name| Ok(document.string(name)?.into_owned()));
            on_one(document, &object, ServersSpec::List(names.collect::<Result<_, FormatError>>()?))
        };
        return document.list(raw)?.into_iter().map(of).collect();
    }
    let object = document.object(raw)?;
    let of = |(key, raw): &(std::borrow::Cow<'_, str>, &RawValue)| {
        let object = document.object(raw)?;
        if let Some(raw) = object.get("servers") {
            return Err(document.error(raw, "the server classes are named by the key already"));
        }
        on_one(document, &object, ServersSpec::Key(key.clone().into_owned()))
    };
    object.fields().iter().map(of).collect()
}

fn on_one(document: &Document<'_>, object: &Object<'_>, servers: ServersSpec) -> Result<OnSpec, FormatError> {
    object.only(document, &["servers", "guarantee", "limit", "lend"])?;
    Ok(OnSpec {
        servers,
        limit: quantities(document, object.get("limit"))?,
        has_guarantee: object.get("guarantee").is_some(),
        has_lend: object.get("lend").is_some(),
    })
}

/// Fields in which a user says something beside its demand.
pub const MEMBER_FIELDS: [&str; 3] = ["group", "gang", "pinned"];

/// What a user says beside its demand.
///
/// # Errors
/// [`FormatError`] where a field is malformed.
pub fn member_spec(document: &Document<'_>, user: &Object<'_>) -> Result<MemberSpec, FormatError> {
    let number = |field| user.get(field).map(|raw| document.number(raw)).transpose();
    Ok(MemberSpec {
        group: user.get("group").map(|raw| Ok(document.string(raw)?.into_owned())).transpose()?,
        gang: number("gang")?,
        pinned: number("pinned")?,
    })
}

fn share(document: &Document<'_>, raw: &RawValue) -> Result<GroupShareSpec, FormatError> {
    let object = document.object(raw)?;
    object.only(document, &["of", "over", "multipliers", "families", "zero-weight"])?;
    Ok(GroupShareSpec {
        of: word(document, &object, "of", ShareOf::NAMES)?,
        over: word(document, &object, "over", ShareOver::NAMES)?,
        multipliers: rates(document, object.get("multipliers"))?,
        families: object.get("families").map_or(Ok(false), |raw| document.boolean(raw))?,
        zero_weight: word(document, &object, "zero-weight", ZeroWeight::NAMES)?,
    })
}

fn word<T: Default + FromStr>(
    document: &Document<'_>,
    object: &Object<'_>,
    field: &str,
    names: &[(&str, &str)],
) -> Result<T, FormatError> {
    let Some(raw) = object.get(field) else { return Ok(T::default()) };
    let expected = || names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let stated = document.string(raw)?.parse();
    stated.map_err(|_| document.error(raw, format!("expected one of {}", expected())))
}

/// A group in canonical form.
pub(super) fn write_group(line: &mut Fields<'_>, problem: &Problem, group: &Group) {
    let resources = problem.resources();
    line.text("name", &group.name);
    if let Some(parent) = group.parent {
        line.text("parent", &problem.groups().list()[parent].name);
    }
    if group.weight != 1 {
        line.number("weight", &group.weight);
    }
    if group.priority != 0 {
        line.text("priority", group.priority);
    }
    if let Some(guarantee) = &group.guarantee {
        line.amounts("guarantee", resources, guarantee);
    }
    for (field, amounts) in [("limit", &group.limit), ("lend", &group.lend)] {
        if !amounts.is_empty() {
            line.amounts(field, resources, amounts);
        }
    }
    if !group.on.is_empty() {
        line.list("on", &group.on, |line, on| {
            line.names("servers", on.servers.iter().map(|i| problem.servers()[*i].name()));
            line.amounts("limit", resources, &on.limit);
        });
    }
}

/// What is said of a user beside its demand, in canonical form.
pub(super) fn write_member(line: &mut Fields<'_>, groups: &Groups, member: &Member) {
    if let Some(v) = member.group {
        line.text("group", &groups.list()[v].name);
    }
    if let Some(gang) = member.gang {
        line.text("gang", gang);
    }
    if let Some(pinned) = &member.pinned {
        line.number("pinned", pinned);
    }
}

/// How siblings are compared, in canonical form: what is not the default.
pub(super) fn write_share(line: &mut Fields<'_>, share: &GroupShare, resources: &[String]) {
    let default = GroupShare::default();
    let words = [
        ("of", share.of.name(), default.of.name()),
        ("over", share.over.name(), default.over.name()),
        ("zero-weight", share.zero_weight.name(), default.zero_weight.name()),
    ];
    for (field, word, _) in words.into_iter().filter(|(_, word, default)| word != default) {
        line.text(field, word);
    }
    if !share.multipliers.is_empty() {
        line.amounts("multipliers", resources, &share.multipliers);
    }
    if share.families {
        line.truth("families");
    }
}
