//! Reads the claims of certificates.

use std::collections::HashSet;

use evenhand_problem::format::FormatError;
use serde_json::value::RawValue;

use crate::axiom::Axiom;
use crate::claim::Claim;
use crate::evidence::Evidence;
use crate::names::read::Reader;
use crate::parameters::Parameters;
use crate::share::Share;

pub(super) fn claim<'t>(reader: &Reader<'_, 't>, raw: &'t RawValue) -> Result<Claim, FormatError> {
    let document = reader.document;
    let object = document.object(raw)?;
    object.only(document, &["axiom", "share", "alpha", "holds", "margin", "evidence", "why"])?;
    let axiom = axiom_named(reader, object.need(document, "axiom")?)?;
    let share = object.get("share").map(|raw| share_named(reader, raw)).transpose()?;
    let alpha = object.get("alpha").map(|raw| document.number(raw)).transpose()?;
    let is_of = |parameters: Parameters, field: &str| {
        let about = object.get(field).unwrap_or(raw);
        parameters.of(axiom).map_err(|refusal| document.error(about, refusal.to_string()))
    };
    is_of(Parameters { share, alpha: None }, "share")?;
    let Parameters { share, alpha } = is_of(Parameters { share, alpha }, "alpha")?;
    let holds = object.need(document, "holds")?;
    let holds = if is_null(holds) { None } else { Some(document.boolean(holds)?) };
    let margin = object.get("margin").filter(|raw| !is_null(raw));
    let margin = margin.map(|raw| document.result_number(raw)).transpose()?;
    let evidence = match object.get("evidence") {
        None => Evidence::None,
        Some(raw) => evidence(reader, axiom, raw)?,
    };
    let why = object.get("why").map(|raw| document.string(raw)).transpose()?;
    if why.is_some() != holds.is_none() {
        let message = "expected the field `why` if `holds` is null, and only then";
        return Err(document.error(object.get("why").unwrap_or(raw), message));
    }
    let why = why.map(std::borrow::Cow::into_owned);
    Ok(Claim { axiom, share, alpha, holds, margin, evidence, why })
}

fn axiom_named<'t>(reader: &Reader<'_, 't>, raw: &'t RawValue) -> Result<Axiom, FormatError> {
    let name = reader.document.string(raw)?;
    Axiom::parse(&name).ok_or_else(|| reader.unknown(raw, "axiom"))
}

fn share_named<'t>(reader: &Reader<'_, 't>, raw: &'t RawValue) -> Result<Share, FormatError> {
    let name = reader.document.string(raw)?;
    Share::parse(&name, reader.problem).map_err(|error| reader.document.error(raw, error.to_string()))
}

pub(super) fn not_checked<'t>(
    reader: &Reader<'_, 't>,
    raw: &'t RawValue,
) -> Result<Vec<String>, FormatError> {
    let mut names = Vec::new();
    let mut seen = HashSet::new();
    for raw in reader.document.list(raw)? {
        let axiom = axiom_named(reader, raw)?;
        if !seen.insert(axiom) {
            return Err(reader.document.error(raw, "this axiom is named twice"));
        }
        names.push(axiom.name().to_owned());
    }
    Ok(names)
}

fn evidence<'t>(reader: &Reader<'_, 't>, axiom: Axiom, raw: &'t RawValue) -> Result<Evidence, FormatError> {
    let object = reader.object(raw)?;
    if object.fields().is_empty() {
        return Ok(Evidence::None);
    }
    if axiom.needs_evidence() {
        return axiom.rule().read(reader, &object);
    }
    skim(reader, raw)?;
    Ok(Evidence::Unread)
}

/// Returns an error unless evidence that is not read is JSON without duplicate keys, like the rest of the file.
fn skim<'t>(reader: &Reader<'_, 't>, raw: &'t RawValue) -> Result<(), FormatError> {
    match raw.get().as_bytes().first() {
        Some(b'{') => reader.object(raw)?.fields().iter().try_for_each(|(_, raw)| skim(reader, raw)),
        Some(b'[') => reader.document.list(raw)?.into_iter().try_for_each(|raw| skim(reader, raw)),
        _ => Ok(()),
    }
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}
