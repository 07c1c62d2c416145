//! Reads a scenario of users that come and go from its file (docs/simulation.md).

use evenhand_mechanisms::filling::MAX_SERVERS;
use evenhand_mechanisms::flags::{Flag, Takes};
use evenhand_mechanisms::{Mechanism, registry};
use evenhand_problem::format::{Document, FormatError, MEMBER_FIELDS, groups_spec, member_spec, user_spec};
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational, UserSpec, hint, number};
use serde_json::value::RawValue;

use super::run::{CoursePolicy, CourseScenario};
use crate::distributed::Network;
use crate::fields::{Fields, Read, duration, not_before, not_negative, positive, text, texts, whole};
use crate::read::server_list;

/// The largest product of users and rows of a series. The series stores one number for each pair of a user
/// and a row.
const MOST_CELLS: f64 = 1e7;
/// The default number of rows of a series: the horizon is divided into this many equal intervals.
const ROWS: f64 = 1000.0;
/// The largest number of servers that the distributed procedure can simulate one by one.
const MOST_FOLLOWED: u128 = 10_000;
/// The largest number of actions of all servers. An action takes a few microseconds.
const MOST_ACTIONS: f64 = 1e7;
/// The largest number of steps of a mean running time.
const MOST_STEPS: u64 = 10_000;
/// The default number of steps of a mean running time. The number of tasks is then accurate to about a hundredth of
/// a user's solo tasks.
const STEPS: u32 = 100;
/// The largest product of steps by gaps and the squared number of users. Each unit of the product examines a
/// user some ten times, and each examination takes about 10 nanoseconds.
const MOST_FILLED: f64 = 1e9;

const FIELDS: [&str; 10] =
    ["kind", "name", "resources", "servers", "groups", "share", "users", "events", "policy", "horizon"];
/// The names of the policies of scenarios in which users come and go.
const POLICIES: [&str; 3] = ["mechanism", "distributed", "least_gap"];

/// Returns whether a document is a scenario in which users come and go. Its policy decides this.
#[must_use]
pub fn is_course(document: &Document<'_>) -> bool {
    let policy = || {
        let object = document.object(document.root()).ok()?;
        document.object(object.get("policy")?).ok()
    };
    policy().is_some_and(|policy| POLICIES.iter().any(|name| policy.get(name).is_some()))
}

/// Reads the document as a scenario in which users come and go.
///
/// # Errors
/// Returns a [`FormatError`] if the document is not such a scenario, or states an impossible scenario.
pub fn course_scenario(document: &Document<'_>) -> Result<CourseScenario, FormatError> {
    let fields = Fields::of_kind(document, "scenario", &[&FIELDS[..], &["every"]].concat())?;
    let mut spec = ProblemSpec {
        name: fields.optional("name", text)?.unwrap_or_default(),
        resources: fields.needed("resources", texts)?,
        servers: fields.needed("servers", server_list)?,
        ..ProblemSpec::default()
    };
    let (groups, share) = groups_spec(document, &fields.object)?;
    let mut members = Vec::new();
    let users = fields.needed("users", Document::list)?;
    for raw in &users {
        let user = document.object(raw)?;
        let stated: UserSpec = user_spec(document, &user, &MEMBER_FIELDS)?;
        if stated.rates.is_some() || stated.at_most.is_some() {
            return Err(
                document.error(raw, "`rates` and `at_most` are supported only with the policy `rounds`")
            );
        }
        spec.users.push(stated);
        members.push(member_spec(document, &user)?);
    }
    let problem = Problem::grouped(spec.clone(), groups.clone(), share.clone(), members.clone());
    let problem = problem.map_err(|error| document.problem_error(&error))?;
    let horizon = fields.needed("horizon", positive)?;
    let every = fields.optional("every", positive)?.unwrap_or(horizon / ROWS);
    let cells = (horizon / every + 1.0) * (problem.n_users() + 1) as f64;
    if cells > MOST_CELLS {
        let message =
            format!("rows of the series times users would be {cells:.1e}, more than {MOST_CELLS:.0e}");
        return Err(document.error(fields.place("every"), message));
    }
    let policy =
        Reader { document, problem: &problem, users: &users, horizon }.policy(fields.need("policy")?)?;
    let mut scenario = CourseScenario {
        spec,
        groups,
        share,
        members,
        changes: vec![Vec::new(); users.len()],
        absent: vec![false; users.len()],
        policy,
        horizon,
        every,
    };
    events(&fields, &problem, &mut scenario)?;
    Ok(scenario)
}

/// Reads the times at which users come and leave, in ascending order.
fn events(fields: &Fields<'_, '_>, problem: &Problem, scenario: &mut CourseScenario) -> Read<()> {
    let (document, known) = (fields.document, problem.user_index());
    let mut at = 0.0;
    for raw in fields.list("events")? {
        let event = Fields::of(document, raw, &["at", "comes", "leaves"])?;
        at = not_before(document, raw, at, event.needed("at", not_negative)?)?;
        let (named, comes) = match (event.get("comes"), event.get("leaves")) {
            (Some(named), None) => (named, true),
            (None, Some(named)) => (named, false),
            _ => return Err(event.error("expected one of `comes` and `leaves`")),
        };
        let name = document.string(named)?;
        let Some(&user) = known.get(name.as_ref()) else {
            let near = hint(&name, known.keys().copied());
            return Err(document.error(named, format!("there is no user `{name}`{near}")));
        };
        let changes = &mut scenario.changes[user];
        if changes.is_empty() {
            // A user whose first event is an arrival was absent before.
            scenario.absent[user] = comes;
        }
        let is_there = changes.len().is_multiple_of(2) != scenario.absent[user];
        if is_there == comes {
            let why = if comes { "is present already" } else { "is not present" };
            return Err(document.error(named, format!("user `{name}` {why} at time {at}")));
        }
        changes.push(at);
    }
    Ok(())
}

/// Reads a divisible mechanism from the field `mechanism`, and its flags from the field `flags`.
pub(crate) fn mechanism_of(
    problem: &Problem,
    fields: &Fields<'_, '_>,
) -> Read<(&'static Mechanism, Vec<(&'static str, String)>)> {
    let document = fields.document;
    let named = fields.need("mechanism")?;
    let name = document.string(named)?;
    let Some(mechanism) = registry::find(&name) else {
        let near = hint(&name, registry::names());
        return Err(document.error(named, format!("there is no mechanism `{name}`{near}")));
    };
    if mechanism.is_of_whole_tasks() {
        let why = format!(
            "`{name}` places whole tasks: as a policy, {{\"score\": ..., \"server\": ...}} or {{\"slots\": ...}}"
        );
        return Err(document.error(named, why));
    }
    let mut flags = Vec::new();
    if let Some(stated) = fields.optional("flags", Document::object)? {
        for (name, raw) in stated.fields() {
            flags.extend(flag(document, problem, mechanism, name, raw)?);
        }
    }
    Ok((mechanism, flags))
}

/// Reads a flag and its text. Returns `None` for a flag that is `false`.
fn flag<'t>(
    document: &Document<'t>,
    problem: &Problem,
    mechanism: &'static Mechanism,
    name: &str,
    raw: &'t RawValue,
) -> Read<Option<(&'static str, String)>> {
    let known = mechanism.flags.iter().find(|flag: &&Flag| flag.name == name);
    let Some(flag) = known else {
        let all: Vec<&str> = mechanism.flags.iter().map(|flag| flag.name).collect();
        let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        let id = mechanism.info.id;
        return Err(document.error_on_key(raw, format!("`{id}` takes no flag `{name}`: it takes {all}")));
    };
    let expected = |what: &str| document.error(raw, format!("expected {what}"));
    let text = match flag.takes {
        Takes::Nothing => {
            return Ok(document.boolean(raw)?.then(|| (flag.name, String::new())));
        }
        Takes::Number(_) => number::format_stated(&document.number(raw)?),
        Takes::Count(_) => {
            let count = document.number(raw)?;
            let whole = if count.is_integer() { count.numer().to_u64() } else { None };
            whole.ok_or_else(|| expected("a whole number of at least 0"))?.to_string()
        }
        Takes::Classes(_) => {
            let mut classes = Vec::new();
            for raw in document.list(raw)? {
                let class = document.string(raw)?;
                if problem.servers().iter().all(|server| server.name() != class) {
                    return Err(document.error(raw, format!("there is no server class `{class}`")));
                }
                classes.push(class.into_owned());
            }
            classes.join(",")
        }
        Takes::Users(_) => {
            let why = format!("`{}` names users, which is not supported if users come and go", flag.name);
            return Err(document.error(raw, why));
        }
        Takes::Resources(_) => {
            let mut numbers = Vec::new();
            for (resource, raw) in document.object(raw)?.fields() {
                if !problem.resources().iter().any(|name| *name == **resource) {
                    return Err(document.error_on_key(raw, format!("there is no resource `{resource}`")));
                }
                numbers.push(format!("{resource}={}", number::format_stated(&document.number(raw)?)));
            }
            numbers.join(",")
        }
        Takes::Name(_, names) => {
            let stated = document.string(raw)?;
            if names.iter().all(|(name, _)| *name != stated) {
                let all: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
                return Err(expected(&format!("one of {}", all.join(", "))));
            }
            stated.into_owned()
        }
    };
    flag.check(&text).map_err(|error| document.error(raw, error.to_string()))?;
    Ok(Some((flag.name, text)))
}

struct Reader<'d, 't> {
    document: &'d Document<'t>,
    problem: &'d Problem,
    users: &'d [&'t RawValue],
    horizon: f64,
}

impl<'t> Reader<'_, 't> {
    fn policy(&self, raw: &'t RawValue) -> Read<CoursePolicy> {
        let document = self.document;
        let object = document.object(raw)?;
        if let Some(distributed) = object.get("distributed") {
            object.only(document, &["distributed"])?;
            return self.distributed(distributed);
        }
        if let Some(gap) = object.get("least_gap") {
            object.only(document, &["least_gap"])?;
            return self.least_gap(gap);
        }
        let fields = Fields::of(document, raw, &["mechanism", "flags", "float"])?;
        let is_float = fields.optional("float", Document::boolean)?.unwrap_or_default();
        let arithmetic = if is_float { Arithmetic::Float } else { Arithmetic::Exact };
        let (mechanism, flags) = mechanism_of(self.problem, &fields)?;
        Ok(CoursePolicy::Mechanism { mechanism, flags, arithmetic })
    }

    /// Rejects those fields of users in `fields` that the policy does not support.
    fn without(&self, fields: &[&str], policy: &str) -> Read<()> {
        for raw in self.users {
            let user = self.document.object(raw)?;
            if let Some((name, raw)) = fields.iter().find_map(|name| Some((name, user.get(name)?))) {
                let why = format!("the policy `{policy}` does not support `{name}`");
                return Err(self.document.error_on_key(raw, why));
            }
        }
        Ok(())
    }

    fn distributed(&self, raw: &'t RawValue) -> Read<CoursePolicy> {
        let document = self.document;
        let fields = Fields::of(document, raw, &["period", "random_phases", "delay", "loss", "step"])?;
        self.without(&["tasks", "demand_on", "gamma", "group"], "distributed")?;
        let servers = self.problem.n_single_servers();
        if servers > MOST_FOLLOWED {
            let message = format!("{servers} servers: at most {MOST_FOLLOWED} are followed one by one");
            return Err(document.error(raw, message));
        }
        /// The default step if reports take time.
        const STEP_OF_DELAYS: f64 = 0.5;
        let usual = Network::default();
        let period = fields.optional("period", positive)?.unwrap_or(usual.period);
        let actions = self.horizon / period * servers as f64;
        if actions > MOST_ACTIONS {
            let message = format!(
                "servers would act {actions:.1e} times, more than {MOST_ACTIONS:.0e}: raise `period`"
            );
            return Err(document.error(fields.place("period"), message));
        }
        let random = fields.optional("random_phases", Document::boolean)?;
        let part = |name: &str, usual: f64, expected: &str, is: fn(&Rational) -> bool| {
            let Some(raw) = fields.get(name) else { return Ok(usual) };
            let value = document.number(raw)?;
            let message = || format!("found {}: expected {expected}", number::format_stated(&value));
            if is(&value) { Ok(number::to_f64(&value)) } else { Err(document.error(raw, message())) }
        };
        let delay = fields.optional("delay", duration)?.unwrap_or(usual.delay);
        // With old totals, full steps do not converge.
        let usual = if delay == usual.delay { usual } else { Network { step: STEP_OF_DELAYS, ..usual } };
        Ok(CoursePolicy::Distributed(Network {
            period,
            random_phases: random.unwrap_or(usual.random_phases),
            delay,
            loss: part("loss", usual.loss, "a fraction from 0 to below 1", |v| *v >= 0 && v.to_f64() < 1.0)?,
            step: part("step", usual.step, "a fraction above 0 and at most 1", |v| {
                v.to_f64() > 0.0 && *v <= 1
            })?,
        }))
    }

    fn least_gap(&self, raw: &'t RawValue) -> Read<CoursePolicy> {
        let document = self.document;
        let fields = Fields::of(document, raw, &["steps", "running_time"])?;
        if self.problem.n_servers() != 1 || self.problem.n_single_servers() > u128::from(MAX_SERVERS) {
            let why = "gaps are defined for one pool: expected one server class";
            return Err(document.error(raw, why));
        }
        self.without(&["demand_on", "gamma", "group", "servers"], "least_gap")?;
        let steps = fields.optional("steps", |document, raw| whole(document, raw, 1..=MOST_STEPS))?;
        let steps = steps.map_or(STEPS, |steps| steps as u32);
        let running_time = fields.optional("running_time", positive)?.unwrap_or(1.0);
        let users = self.problem.n_users() as f64;
        let filled = self.horizon / running_time * users * users * f64::from(steps);
        if filled > MOST_FILLED {
            let message = format!(
                "users would be examined {filled:.1e} times, more than {MOST_FILLED:.0e}: raise `running_time`"
            );
            return Err(document.error(fields.place("running_time"), message));
        }
        Ok(CoursePolicy::LeastGap { steps, running_time })
    }
}
