//! `max-min-packings`: every user has the tasks of the lexicographic max-min among whole tasks over time
//! (docs/theory.md, section 11).
//!
//! The margin is minus the largest $|x_n - x^*_n| / g_n$, where $x^*$ are the totals of the maximum, which are unique.
//!
//! The evidence has the same form whether the axiom holds or is violated: a schedule with the totals $x^*$, and prices
//! that prove every level. This crate computes the margin from the schedule, and only reads the prices. The kernel
//! verifies the prices, and that every packing fits on a server.

use evenhand_problem::format::{FormatError, Object};
use evenhand_problem::{Problem, Rational};
use serde_json::value::RawValue;

use crate::axiom::rule::{Rule, wrong_form};
use crate::evidence::{Evidence, Packing, PackingLevel};
use crate::instance::Instance;
use crate::names::read::Reader;
use crate::names::write::{Json, Names, number};
use crate::parameters::{ParameterError, Parameters};
use crate::ratio::{Multipliers, Tree, TreeNode};
use crate::refusal::{Inapplicable, Refusal};
use crate::share::{Share, ShareError};

const NO_SHARE: &str = "max-min-packings needs a share: drfh or tsf";
const OTHER_SHARE: &str = "max-min-packings supports only the shares drfh and tsf";
/// The largest whole number of tasks that is read.
const MOST_TASKS: u64 = 1_000_000_000_000;

/// Returns an error if packings are not defined for a problem. They are defined if resources are divided and users are
/// in no groups.
///
/// # Errors
/// Returns the reason why they are not defined.
pub fn are_defined(problem: &Problem) -> Result<(), Inapplicable> {
    if problem.servers().iter().any(evenhand_problem::ServerClass::is_time_shared) {
        let why = "tasks are packed by resources, and the time of a server class is shared (`gamma`)";
        return Err(Inapplicable::new(why.to_owned()));
    }
    if !problem.groups().list().is_empty() {
        return Err(Inapplicable::new("users are in groups, and packings compare single users".to_owned()));
    }
    Ok(())
}

/// Returns the tasks of each user in a schedule.
#[must_use]
pub fn totals(problem: &Problem, schedule: &[Packing]) -> Vec<Rational> {
    let mut totals = vec![Rational::new(); problem.n_users()];
    for Packing { server, part, tasks } in schedule {
        let servers = Rational::from(part * problem.servers()[*server].count());
        tasks.iter().for_each(|(n, k)| totals[*n] += Rational::from(&servers * *k));
    }
    totals
}

/// Returns the tasks of a schedule: for each user, `(class, tasks)`.
#[must_use]
pub fn tasks(problem: &Problem, schedule: &[Packing]) -> crate::Tasks {
    let mut tasks: Vec<std::collections::BTreeMap<usize, Rational>> =
        vec![Default::default(); problem.n_users()];
    for Packing { server, part, tasks: packed } in schedule {
        let servers = Rational::from(part * problem.servers()[*server].count());
        for (n, k) in packed {
            *tasks[*n].entry(*server).or_default() += Rational::from(&servers * *k);
        }
    }
    tasks.into_iter().map(|on| on.into_iter().filter(|(_, x)| !x.is_zero()).collect()).collect()
}

/// The axiom `max-min-packings`.
pub(crate) struct MaxMinPackings;

impl Rule for MaxMinPackings {
    fn name(&self) -> &'static str {
        "max-min-packings"
    }

    fn parameters(&self, stated: Parameters) -> Result<Parameters, Refusal> {
        let stated = stated.without_alpha()?;
        match stated.share {
            None => Err(Refusal::new(NO_SHARE)),
            Some(Share::Dominant | Share::TaskShare) => Ok(stated),
            Some(_) => Err(Refusal::new(OTHER_SHARE)),
        }
    }

    fn parsed(&self, text: &str, problem: &Problem) -> Result<Parameters, ParameterError> {
        Ok(Parameters::from(Some(Share::parse(text, problem)?)))
    }

    fn applies_to(&self, parameters: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        are_defined(problem)?;
        let not_applicable = |error: ShareError| Inapplicable::new(error.to_string());
        parameters
            .share
            .map_or(Ok(()), |share| share.coefficients(problem).map(|_| ()).map_err(not_applicable))
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        instance.divides()
    }

    fn needs_evidence(&self) -> bool {
        true
    }

    fn shows_both(&self) -> bool {
        true
    }

    fn judge(
        &self,
        instance: &Instance<'_>,
        parameters: &Parameters,
        evidence: &Evidence,
    ) -> Result<(bool, Option<Rational>), Refusal> {
        self.applies_to(parameters, instance.problem()).and_then(|()| self.applies(instance))?;
        let Evidence::Packings { schedule, .. } = evidence else { return Err(wrong_form()) };
        let totals = totals(instance.problem(), schedule);
        let active = (0..instance.problem().n_users()).filter(|n| instance.is_active(*n));
        let differs = |n: usize| Rational::from(&instance.total(n) - &totals[n]).abs() / instance.scale(n);
        Ok((true, active.map(differs).max().map(|most| -most)))
    }

    /// Reads `{"schedule": {class: [{"part", "tasks": {user: k}}]}, "levels": [LEVEL]}`, where a level has `covers`,
    /// `user_weights`, `class_prices`, `user_prices` and `pricing`.
    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        reader.only(object, &["schedule", "levels"])?;
        let mut schedule = Vec::new();
        for (class, raw) in reader.object(reader.need(object, "schedule")?)?.fields() {
            let server = reader.server(class, raw)?;
            for raw in reader.document.list(raw)? {
                let packing = reader.object(raw)?;
                reader.only(&packing, &["part", "tasks"])?;
                let mut tasks = Vec::new();
                for (user, raw) in reader.object(reader.need(&packing, "tasks")?)?.fields() {
                    tasks.push((reader.user(user, raw)?, whole(reader, raw)?));
                }
                tasks.sort_unstable();
                schedule.push(Packing { server, part: reader.number(&packing, "part")?, tasks });
            }
        }
        let levels = reader.document.list(reader.need(object, "levels")?)?;
        let levels = levels.into_iter().map(|raw| level(reader, raw)).collect::<Result<_, _>>()?;
        Ok(Evidence::Packings { schedule, levels })
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        let Evidence::Packings { schedule, levels } = evidence else { return None };
        let mut classes: Vec<(String, Json)> = Vec::new();
        for of_class in schedule.chunk_by(|a, b| a.server == b.server) {
            let packing = |Packing { part, tasks, .. }: &Packing| {
                let tasks = tasks.iter().map(|(n, k)| (names.user(*n), Json::Index(*k)));
                Json::object([("part", number(part)), ("tasks", Json::Object(tasks.collect()))])
            };
            let packings = Json::List(of_class.iter().map(packing).collect());
            classes.push((names.server(of_class[0].server), packings));
        }
        let levels = Json::List(levels.iter().map(|level| written(names, level)).collect());
        Some(Json::object([("schedule", Json::Object(classes)), ("levels", levels)]))
    }
}

/// Reads a whole number of tasks.
fn whole<'t>(reader: &Reader<'_, 't>, raw: &'t RawValue) -> Result<u64, FormatError> {
    let tasks = reader.index(raw)?;
    if tasks <= MOST_TASKS {
        Ok(tasks)
    } else {
        Err(reader.error(raw, format!("expected at most {MOST_TASKS}")))
    }
}

fn level<'t>(reader: &Reader<'_, 't>, raw: &'t RawValue) -> Result<PackingLevel, FormatError> {
    let object = reader.object(raw)?;
    reader.only(&object, &["covers", "user_weights", "class_prices", "user_prices", "pricing"])?;
    let mut covers = Vec::new();
    for raw in reader.document.list(reader.need(&object, "covers")?)? {
        covers.push(reader.user(&reader.document.string(raw)?, raw)?);
    }
    covers.sort_unstable();
    let mut class_prices = Vec::new();
    for (class, raw) in reader.object(reader.need(&object, "class_prices")?)?.fields() {
        class_prices.push((reader.server(class, raw)?, reader.document.result_number(raw)?));
    }
    class_prices.sort_by_key(|(i, _)| *i);
    let mut pricing = Vec::new();
    if let Some(raw) = object.get("pricing") {
        for (class, raw) in reader.object(raw)?.fields() {
            pricing.push((reader.server(class, raw)?, tree(reader, raw)?));
        }
    }
    pricing.sort_by_key(|(i, _)| *i);
    let user_prices =
        object.get("user_prices").map(|raw| reader.of_users(raw)).transpose()?.unwrap_or_default();
    Ok(PackingLevel {
        covers,
        user_weights: reader.of_users(reader.need(&object, "user_weights")?)?,
        class_prices,
        user_prices,
        pricing,
    })
}

fn tree<'t>(reader: &Reader<'_, 't>, raw: &'t RawValue) -> Result<Tree, FormatError> {
    let object = reader.object(raw)?;
    reader.only(&object, &["multipliers", "nodes"])?;
    let mut multipliers = Vec::new();
    for raw in reader.document.list(reader.need(&object, "multipliers")?)? {
        let mut of: Multipliers = Vec::new();
        for (resource, raw) in reader.object(raw)?.fields() {
            of.push((reader.resource(resource, raw)?, reader.document.result_number(raw)?));
        }
        of.sort_by_key(|(r, _)| *r);
        multipliers.push(of);
    }
    let mut nodes = Vec::new();
    for raw in reader.document.list(reader.need(&object, "nodes")?)? {
        if !raw.get().starts_with('[') {
            let which = usize::try_from(whole(reader, raw)?).unwrap_or(usize::MAX);
            nodes.push(TreeNode::Leaf { multipliers: which });
            continue;
        }
        let [user, at] = reader.document.list(raw)?[..] else {
            return Err(reader.error(raw, "expected a user and a number of tasks"));
        };
        let job = reader.user(&reader.document.string(user)?, user)?;
        let at = Some(whole(reader, at)?).filter(|at| *at > 0);
        let at = at.ok_or_else(|| reader.error(raw, "expected a number of tasks of at least 1"))?;
        nodes.push(TreeNode::Split { job, at });
    }
    Ok(Tree { multipliers, nodes })
}

fn written(names: &Names<'_>, level: &PackingLevel) -> Json {
    let PackingLevel { covers, user_weights, class_prices, user_prices, pricing } = level;
    let by_user = |values: &[(usize, Rational)]| names.by_user(values.iter().map(|(n, value)| (*n, value)));
    let prices = class_prices.iter().map(|(i, price)| (names.server(*i), number(price)));
    let mut fields = vec![
        ("covers", Json::List(covers.iter().map(|n| names.user_name(*n)).collect())),
        ("user_weights", by_user(user_weights)),
        ("class_prices", Json::Object(prices.collect())),
    ];
    if !user_prices.is_empty() {
        fields.push(("user_prices", by_user(user_prices)));
    }
    if !pricing.is_empty() {
        let trees = pricing.iter().map(|(i, tree)| (names.server(*i), of_tree(names, tree)));
        fields.push(("pricing", Json::Object(trees.collect())));
    }
    Json::object(fields)
}

fn of_tree(names: &Names<'_>, Tree { multipliers, nodes }: &Tree) -> Json {
    let set =
        |of: &Multipliers| Json::Object(of.iter().map(|(r, m)| (names.resource(*r), number(m))).collect());
    let node = |node: &TreeNode| match node {
        TreeNode::Split { job, at } => Json::List(vec![names.user_name(*job), Json::Index(*at)]),
        TreeNode::Leaf { multipliers } => Json::Index(*multipliers as u64),
    };
    Json::object([
        ("multipliers", Json::List(multipliers.iter().map(set).collect())),
        ("nodes", Json::List(nodes.iter().map(node).collect())),
    ])
}
