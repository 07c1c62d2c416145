//! `tree`: every user has the tasks that hierarchical filling gives it (docs/theory.md, section 9).
//!
//! The margin is minus the largest $|x_n - x^*_n| / g_n$, where $x^*$ is the final allocation of the filling, whose
//! totals are unique.
//!
//! The evidence has the same form whether the axiom holds or is violated: a placement of $x^*$, and prices of rows and
//! of limits on server classes, which the mechanism computes. The kernel repeats the filling. In the kernel's filling,
//! a lack of free capacity stops a user only if the bounds that the prices prove stop it. If the bounds stop a user, no
//! further task of the user fits. If they do not stop it, its tasks fit, because usage only grows and the final
//! allocation can be placed.

use evenhand_problem::format::{FormatError, Object};
use evenhand_problem::{Problem, Rational, User};

use crate::axiom::rule::{Rule, wrong_form};
use crate::budget::TooLarge;
use crate::evidence::{Evidence, PlacePrices};
use crate::instance::{Instance, Tasks};
use crate::names::read::Reader;
use crate::names::write::{Json, Names};
use crate::parameters::Parameters;
use crate::refusal::{Inapplicable, Refusal};

/// The largest number of groups and users, times resources, for which a tree is built. Each cell takes about 300
/// bytes of memory.
const MOST_CELLS: usize = 1_000_000;
/// The memory in bytes for [`MOST_CELLS`] cells.
const MOST_BYTES: u64 = 300_000_000;

/// Returns an error if the tree of a problem needs too much memory.
///
/// # Errors
/// Returns [`TooLarge`] if the tree needs too much memory.
pub fn has_size(problem: &Problem) -> Result<(), TooLarge> {
    let nodes = 1 + problem.groups().list().len() + problem.n_users();
    let is_small = nodes.saturating_mul(problem.n_resources()) <= MOST_CELLS;
    if is_small { Ok(()) } else { Err(TooLarge::memory(MOST_BYTES)) }
}

/// Returns an error if hierarchical filling is not defined for a problem. It is defined if resources are divided, and
/// if the base demand of every user that can run names a resource that some server has.
///
/// # Errors
/// Returns the reason why hierarchical filling is not defined.
pub fn can_be_filled(problem: &Problem) -> Result<(), Inapplicable> {
    if problem.servers().iter().any(evenhand_problem::ServerClass::is_time_shared) {
        let why = "groups share resources, and the time of a server class is shared";
        return Err(Inapplicable::new(why.to_owned()));
    }
    let total = problem.total_capacity();
    let counts = |user: &User| user.base_demand().entries().iter().any(|(r, _)| !total[*r].is_zero());
    match problem.users().iter().enumerate().find(|(n, user)| problem.is_active(*n) && !counts(user)) {
        Some((_, user)) => Err(Inapplicable::new(format!(
            "user `{}` has no base demand (`demand`) by which groups are compared",
            user.name()
        ))),
        None => Ok(()),
    }
}

/// Returns minus the largest difference from the final allocation of the filling. Returns `None` if no user is active.
fn margin(instance: &Instance<'_>, filling: &Tasks) -> Result<Option<Rational>, Refusal> {
    let ended = instance.with_tasks(filling)?;
    let active = (0..instance.problem().n_users()).filter(|n| instance.is_active(*n));
    let differs = |n: usize| (instance.total(n) - ended.total(n)).abs() / instance.scale(n);
    Ok(active.map(differs).max().map(|most| -most))
}

/// The axiom `tree`.
pub(crate) struct Tree;

impl Rule for Tree {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn applies_to(&self, _parameters: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        can_be_filled(problem)
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
        let Evidence::Filling { tasks, .. } = evidence else { return Err(wrong_form()) };
        Ok((true, margin(instance, tasks)?))
    }

    /// Reads `{"filling": {user: {class: x}}, "prices": [{class: {resource: p}}], "limit_prices": [[LIMIT]]}`, where
    /// `LIMIT` is `{"group", "on", "resource", "price"}`.
    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        reader.only(object, &["filling", "prices", "limit_prices"])?;
        let document = reader.document;
        let mut prices = Vec::new();
        for raw in document.list(reader.need(object, "prices")?)? {
            prices.push(PlacePrices { rows: reader.by_row(raw)?, limits: Vec::new() });
        }
        if let Some(raw) = object.get("limit_prices") {
            let lists = document.list(raw)?;
            if lists.len() != prices.len() {
                return Err(
                    reader.error(raw, "expected one list in `limit_prices` for each entry of `prices`")
                );
            }
            for (prices, raw) in prices.iter_mut().zip(lists) {
                let limits = document.list(raw)?.into_iter().map(|raw| reader.limit_price(raw));
                prices.limits = limits.collect::<Result<_, _>>()?;
            }
        }
        Ok(Evidence::Filling { tasks: reader.tasks(reader.need(object, "filling")?)?, prices })
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        let Evidence::Filling { tasks, prices } = evidence else { return None };
        let of_rows = |of: &PlacePrices| names.by_row(of.rows.iter().map(|(row, p)| (*row, p)));
        let of_limits = |of: &PlacePrices| {
            Json::List(of.limits.iter().map(|(mark, price)| names.limit_price(mark, price)).collect())
        };
        let rows = Json::List(prices.iter().map(of_rows).collect());
        let limits = prices.iter().any(|of| !of.limits.is_empty());
        let limits = limits.then(|| ("limit_prices", Json::List(prices.iter().map(of_limits).collect())));
        Some(Json::object([("filling", names.tasks(tasks)), ("prices", rows)].into_iter().chain(limits)))
    }
}
