//! Reads a scenario of jobs in rounds from its file (docs/scenarios.md).

use evenhand_problem::format::{Document, FormatError, user_spec};
use evenhand_problem::{Problem, ProblemSpec, Rational, UserSpec, number};

use super::run::{RoundJob, RoundScenario, capacity};
use crate::course::mechanism_of;
use crate::fields::{Fields, LARGEST, Read, TOO_LARGE, text, texts};
use crate::read::server_list;

const FIELDS: [&str; 7] = ["kind", "name", "resources", "servers", "users", "policy", "horizon"];
/// The fields of a job that problems do not have.
const OF_JOB: [&str; 2] = ["arrives", "work"];
/// The default length of a round in seconds, as in Gavel: six minutes.
const LENGTH: u32 = 360;

/// Returns whether a document is a scenario of jobs in rounds. Its policy decides this.
#[must_use]
pub fn is_of_rounds(document: &Document<'_>) -> bool {
    let policy = || {
        let object = document.object(document.root()).ok()?;
        document.object(object.get("policy")?).ok()
    };
    policy().is_some_and(|policy| policy.get("rounds").is_some())
}

/// Reads the document as a scenario of jobs in rounds.
///
/// # Errors
/// Returns a [`FormatError`] if the document is not such a scenario, or states an impossible scenario.
pub fn rounds_scenario(document: &Document<'_>) -> Result<RoundScenario, FormatError> {
    let fields = Fields::of_kind(document, "scenario", &FIELDS)?;
    let mut spec = ProblemSpec {
        name: fields.optional("name", text)?.unwrap_or_default(),
        resources: fields.needed("resources", texts)?,
        servers: fields.needed("servers", server_list)?,
        ..ProblemSpec::default()
    };
    let users = document.list(fields.need("users")?)?;
    let mut jobs = Vec::with_capacity(users.len());
    for raw in &users {
        let user = document.object(raw)?;
        let mut stated: UserSpec = user_spec(document, &user, &OF_JOB)?;
        if stated.rates.is_none() {
            return Err(
                document.error(raw, "the field `rates` is missing: state the work per unit of time by class")
            );
        }
        if let Some(raw) = user.get("tasks") {
            let why = "`tasks` is not supported in rounds: state the amount of work as `work`";
            return Err(document.error_on_key(raw, why));
        }
        match (user.get("at_most"), &stated.at_most) {
            (Some(raw), Some(most)) if *most != 1 => {
                let found = number::format_stated(most);
                let why =
                    format!("found {found}: in rounds a job runs once at a time, so `at_most` must be 1");
                return Err(document.error(raw, why));
            }
            _ => stated.at_most = Some(Rational::from(1)),
        }
        spec.users.push(stated);
        let arrives = user.get("arrives").map(|raw| not_negative(document, raw)).transpose()?;
        let work = positive(document, user.need(document, "work")?)?;
        jobs.push(RoundJob { arrives: arrives.unwrap_or_default(), work });
    }
    let problem = Problem::new(spec.clone()).map_err(|error| document.problem_error(&error))?;
    for (user, raw) in problem.users().iter().zip(&users) {
        for (class, _) in user.rates().map_or(&[][..], |rates| rates.by_class()) {
            let server = &problem.servers()[*class];
            let total = capacity(server);
            let Some((r, _)) = user.base_demand().entries().iter().find(|(r, amount)| *amount > total[*r])
            else {
                continue;
            };
            let (resource, name) = (&problem.resources()[*r], server.name());
            let why = format!(
                "job `{}` demands more {resource} than all servers of class `{name}` have: state the rate 0 on this class",
                user.name()
            );
            return Err(document.error(raw, why));
        }
    }
    let raw = fields.need("policy")?;
    let policy = Fields::of(document, raw, &["rounds"])?;
    let rounds = Fields::of(document, policy.need("rounds")?, &["mechanism", "flags", "length"])?;
    let (mechanism, flags) = mechanism_of(&problem, &rounds)?;
    let length = rounds.optional("length", positive)?.unwrap_or_else(|| Rational::from(LENGTH));
    let horizon = fields.optional("horizon", positive)?;
    Ok(RoundScenario { spec, jobs, mechanism, flags, length, horizon })
}

/// Reads an exact number of at least 0 that is small enough for sums in double precision.
fn not_negative(document: &Document<'_>, raw: &serde_json::value::RawValue) -> Read<Rational> {
    let value = document.number(raw)?;
    if value < 0 {
        let found = number::format_stated(&value);
        return Err(document.error(raw, format!("found {found}: expected a number of at least 0")));
    }
    if number::to_f64(&value) > LARGEST {
        return Err(document.error(raw, TOO_LARGE));
    }
    Ok(value)
}

/// Reads an exact number above 0 that is small enough for sums in double precision.
fn positive(document: &Document<'_>, raw: &serde_json::value::RawValue) -> Read<Rational> {
    let value = not_negative(document, raw)?;
    if value.is_zero() {
        return Err(document.error(raw, "found 0: expected a number above 0"));
    }
    Ok(value)
}
