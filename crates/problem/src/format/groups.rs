//! Reads and writes the groups of a problem, and how siblings are compared.

use std::fmt::Write;
use std::str::FromStr;

use serde_json::value::RawValue;

use super::canonical::{Number, key, list, quote};
use super::problem::{quantities, rates};
use super::{Document, FormatError, Object};
use crate::groups::{
    Group, GroupShare, GroupShareSpec, GroupSpec, Groups, Member, MemberSpec, Named, ShareOf, ShareOver,
    ZeroWeight,
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

/// The groups in canonical form, after the servers; nothing where there are none.
pub(super) fn write_groups(out: &mut String, problem: &Problem, number: Number) {
    let groups = problem.groups();
    if groups.list().is_empty() {
        return;
    }
    out.push_str(",\n\"groups\":[");
    for (v, each) in groups.list().iter().enumerate() {
        out.push_str(if v == 0 { "\n" } else { ",\n" });
        group_line(out, problem, each, number);
    }
    out.push_str("\n]");
}

fn group_line(out: &mut String, problem: &Problem, group: &Group, number: Number) {
    let (groups, resources, servers) = (problem.groups(), problem.resources(), problem.servers());
    out.push_str("{\"name\":");
    quote(out, &group.name);
    if let Some(parent) = group.parent {
        out.push_str(",\"parent\":");
        quote(out, &groups.list()[parent].name);
    }
    if group.weight != 1 {
        let _ = write!(out, ",\"weight\":\"{}\"", number(&group.weight));
    }
    if group.priority != 0 {
        let _ = write!(out, ",\"priority\":\"{}\"", group.priority);
    }
    let limits = [("limit", &group.limit), ("lend", &group.lend)];
    let given = group.guarantee.iter().map(|amounts| ("guarantee", amounts));
    for (field, amounts) in given.chain(limits.into_iter().filter(|(_, amounts)| !amounts.is_empty())) {
        let _ = write!(out, ",\"{field}\":");
        named(out, resources, amounts, number);
    }
    if !group.on.is_empty() {
        out.push_str(",\"on\":[");
        for (position, on) in group.on.iter().enumerate() {
            out.push_str(if position == 0 { "{\"servers\":" } else { ",{\"servers\":" });
            list(out, on.servers.iter().map(|i| servers[*i].name()));
            out.push_str(",\"limit\":");
            named(out, resources, &on.limit, number);
            out.push('}');
        }
        out.push(']');
    }
    out.push('}');
}

/// What is said of a user beside its demand, in canonical form.
pub(super) fn write_member(out: &mut String, groups: &Groups, member: &Member, number: Number) {
    if let Some(v) = member.group {
        out.push_str(",\"group\":");
        quote(out, &groups.list()[v].name);
    }
    if let Some(gang) = member.gang {
        let _ = write!(out, ",\"gang\":\"{gang}\"");
    }
    if let Some(pinned) = &member.pinned {
        let _ = write!(out, ",\"pinned\":\"{}\"", number(pinned));
    }
}

/// The share in canonical form, after the users; nothing where it is the default.
pub(super) fn write_share(out: &mut String, share: &GroupShare, resources: &[String], number: Number) {
    let default = GroupShare::default();
    if *share == default {
        return;
    }
    out.push_str(",\n\"share\":{");
    let words = [
        ("of", share.of.name(), default.of.name()),
        ("over", share.over.name(), default.over.name()),
        ("zero-weight", share.zero_weight.name(), default.zero_weight.name()),
    ];
    let mut position = 0;
    for (field, word, _) in words.into_iter().filter(|(_, word, default)| word != default) {
        key(out, position, field);
        quote(out, word);
        position += 1;
    }
    if !share.multipliers.is_empty() {
        key(out, position, "multipliers");
        named(out, resources, &share.multipliers, number);
        position += 1;
    }
    if share.families {
        key(out, position, "families");
        out.push_str("true");
    }
    out.push('}');
}

fn named(out: &mut String, resources: &[String], amounts: &Named, number: Number) {
    out.push('{');
    for (position, (r, amount)) in amounts.iter().enumerate() {
        key(out, position, &resources[*r]);
        let _ = write!(out, "\"{}\"", number(amount));
    }
    out.push('}');
}
