//! The users of a scenario, and when their tasks come.

use evenhand_problem::format::{Document, FormatError, MEMBER_FIELDS, member_spec, user_spec};
use serde_json::value::RawValue;

use super::{Reader, not_negative, positive};
use crate::duration::Duration;
use crate::scenario::{Arrivals, Job, Poisson, Scenario};

impl<'t> Reader<'_, 't> {
    pub(super) fn user(
        &self,
        raw: &'t RawValue,
        is_table: bool,
        scenario: &mut Scenario,
    ) -> Result<(), FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        let own = ["jobs", "poisson", "leaves"];
        let also = [&own[..], &MEMBER_FIELDS].concat();
        object.only(document, &[&["name", "weight", "demand", "servers"][..], &also].concat())?;
        let spec = user_spec(document, &object, &also)?;
        for field in MEMBER_FIELDS {
            self.only_of_tree(scenario.policy, &object, field)?;
        }
        let member = member_spec(document, &object)?;
        let gang = member.gang.as_ref().and_then(|gang| gang.numer().to_u64()).unwrap_or(1);
        for field in ["jobs", "poisson"] {
            if let (Some(value), true) = (object.get(field), is_table) {
                return Err(document.error_on_key(value, "the tasks come from the `trace`"));
            }
        }
        let mut arrivals = Arrivals {
            leaves: self.optional(&object, "leaves", Self::not_negative)?,
            poisson: object.get("poisson").map(|raw| self.poisson(raw, gang)).transpose()?,
            jobs: Vec::new(),
        };
        for raw in object.get("jobs").map_or(Ok(Vec::new()), |raw| document.list(raw))? {
            let job = self.job(raw, gang)?;
            if let Some(before) = arrivals.jobs.last().filter(|before| before.at > job.at) {
                return Err(document.error(raw, format!("time goes back from {} to {}", before.at, job.at)));
            }
            arrivals.jobs.push(job);
        }
        scenario.users.push(spec);
        scenario.queues.members.push(member);
        scenario.arrivals.push(arrivals);
        Ok(())
    }

    fn job(&self, raw: &'t RawValue, gang: u64) -> Result<Job, FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        object.only(document, &["at", "tasks", "duration"])?;
        Ok(Job {
            at: self.not_negative(object.need(document, "at")?)?,
            tasks: self.gangs(object.need(document, "tasks")?, gang)?,
            duration: duration(document, object.need(document, "duration")?)?,
        })
    }

    fn poisson(&self, raw: &'t RawValue, gang: u64) -> Result<Poisson, FormatError> {
        let document = self.document;
        let object = document.object(raw)?;
        object.only(document, &["rate", "tasks", "duration", "from", "until"])?;
        Ok(Poisson {
            rate: self.positive(object.need(document, "rate")?)?,
            tasks: self.optional(&object, "tasks", |_, raw| self.gangs(raw, gang))?.unwrap_or(gang),
            duration: duration(document, object.need(document, "duration")?)?,
            from: self.optional(&object, "from", Self::not_negative)?.unwrap_or(0.0),
            until: self.optional(&object, "until", Self::not_negative)?,
        })
    }

    /// Tasks that come together: whole gangs.
    fn gangs(&self, raw: &'t RawValue, gang: u64) -> Result<u64, FormatError> {
        let tasks = self.whole(raw)?;
        if gang > 0 && !tasks.is_multiple_of(gang) {
            let message = format!("found {tasks}: expected a multiple of {gang}, the gang of the user");
            return Err(self.document.error(raw, message));
        }
        Ok(tasks)
    }
}

/// How long tasks run, or messages take.
pub(crate) fn duration<'t>(document: &Document<'t>, raw: &'t RawValue) -> Result<Duration, FormatError> {
    if !raw.get().starts_with('{') {
        return Ok(Duration::Constant(not_negative(document, raw)?));
    }
    let object = document.object(raw)?;
    object.only(document, &["exponential", "uniform"])?;
    match (object.get("exponential"), object.get("uniform")) {
        (Some(mean), None) => Ok(Duration::Exponential(positive(document, mean)?)),
        (None, Some(range)) => match document.list(range)?[..] {
            [from, to] => {
                let (low, high) = (not_negative(document, from)?, not_negative(document, to)?);
                if high < low {
                    return Err(document.error(to, format!("{high} is below {low}, where the range begins")));
                }
                Ok(Duration::Uniform(low, high))
            }
            _ => Err(document.error(range, "expected two numbers, from and to")),
        },
        _ => Err(document.error(raw, "expected a number, or one of `exponential` and `uniform`")),
    }
}
