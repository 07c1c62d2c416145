//! Reads the users of a scenario and the arrivals of their tasks.

use evenhand_problem::format::{Document, MEMBER_FIELDS, member_spec, user_spec};
use serde_json::value::RawValue;

use super::only_of_tree;
use crate::fields::{Fields, Read, count, duration, not_before, not_negative, positive};
use crate::scenario::{Arrivals, Job, Poisson, Scenario};
use crate::usage::UsageLaw;

/// Reads a user and adds it to the scenario. `is_table` is true if the tasks of the scenario come from a
/// table.
pub(super) fn user<'t>(
    document: &Document<'t>,
    raw: &'t RawValue,
    is_table: bool,
    scenario: &mut Scenario,
) -> Read<()> {
    let also = [&["jobs", "poisson", "leaves"][..], &MEMBER_FIELDS].concat();
    let fields = Fields::of(document, raw, &[&["name", "weight", "demand", "servers"][..], &also].concat())?;
    let spec = user_spec(document, &fields.object, &also)?;
    let is_of_volcano =
        scenario.usage.as_ref().is_some_and(|order| matches!(order.law, UsageLaw::Volcano { .. }));
    fields.refuse("weight", is_of_volcano, "the law `volcano` has no weights")?;
    for field in MEMBER_FIELDS {
        only_of_tree(scenario.policy, &fields, field)?;
    }
    let member = member_spec(document, &fields.object)?;
    let gang = member.gang.as_ref().and_then(|gang| gang.numer().to_u64()).unwrap_or(1);
    for field in ["jobs", "poisson"] {
        fields.refuse(field, is_table, "the tasks come from the `trace`")?;
    }
    let mut arrivals = Arrivals {
        leaves: fields.optional("leaves", not_negative)?,
        poisson: fields.optional("poisson", |document, raw| poisson(document, raw, gang))?,
        jobs: Vec::new(),
    };
    for raw in fields.list("jobs")? {
        let job = job(document, raw, gang)?;
        not_before(document, raw, arrivals.jobs.last().map_or(0.0, |before| before.at), job.at)?;
        arrivals.jobs.push(job);
    }
    scenario.users.push(spec);
    scenario.queues.members.push(member);
    scenario.arrivals.push(arrivals);
    Ok(())
}

fn job<'t>(document: &Document<'t>, raw: &'t RawValue, gang: u64) -> Read<Job> {
    let fields = Fields::of(document, raw, &["at", "tasks", "duration"])?;
    Ok(Job {
        at: fields.needed("at", not_negative)?,
        tasks: fields.needed("tasks", |document, raw| gangs(document, raw, gang))?,
        duration: fields.needed("duration", duration)?,
    })
}

fn poisson<'t>(document: &Document<'t>, raw: &'t RawValue, gang: u64) -> Read<Poisson> {
    let fields = Fields::of(document, raw, &["rate", "tasks", "duration", "from", "until"])?;
    Ok(Poisson {
        rate: fields.needed("rate", positive)?,
        tasks: fields.optional("tasks", |document, raw| gangs(document, raw, gang))?.unwrap_or(gang),
        duration: fields.needed("duration", duration)?,
        from: fields.optional("from", not_negative)?.unwrap_or(0.0),
        until: fields.optional("until", not_negative)?,
    })
}

/// Reads a number of tasks that arrive together. The tasks must be whole gangs.
fn gangs(document: &Document<'_>, raw: &RawValue, gang: u64) -> Read<u64> {
    let tasks = count(document, raw)?;
    if gang > 0 && !tasks.is_multiple_of(gang) {
        let message = format!("found {tasks}: expected a multiple of {gang}, the gang of the user");
        return Err(document.error(raw, message));
    }
    Ok(tasks)
}
