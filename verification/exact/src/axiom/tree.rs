//! `tree`: everybody has the tasks that hierarchical filling gives it (theory, section 9).
//!
//! Margin: minus the largest $|x_n - x^*_n| / g_n$, with $x^*$ what the filling ends with, which is unique.
//!
//! Evidence, of yes and of no: a placement of $x^*$ and prices. The filling is run once more ([`Course`]); for want of
//! place it is stopped by the [`Bound`]s that the prices prove, and by nothing else. Whom they stop has no place for
//! more. Whom they do not stop had one, since holdings only grow and what the filling ends with has a place.

use evenhand_problem::format::{FormatError, Object};
use evenhand_problem::{Problem, Rational};

use crate::axiom::feasible;
use crate::axiom::groups::divided;
use crate::axiom::rule::{Rule, wrong_form};
use crate::budget::{TooLarge, wide, words};
use crate::evidence::Evidence;
use crate::instance::{Instance, Tasks};
use crate::names::read::Reader;
use crate::names::write::{Json, Names, fields};
use crate::parameters::Parameters;
use crate::refusal::{Inapplicable, Refusal};
use crate::tree::{Bound, Course, Forest};

/// Groups and users, times resources, beyond which no tree is grown: each is held about 300 bytes of memory for. And
/// vectors of prices, times users, each about 40 bytes.
const MOST_CELLS: usize = 1_000_000;
/// The memory for that.
const MOST_BYTES: u64 = 300_000_000;

/// Steps of an operation beside those of its numbers.
const OPERATION: u64 = 40;

/// That the tree of a problem is not larger than memory is spent on.
///
/// # Errors
/// [`TooLarge`].
pub fn has_size(problem: &Problem) -> Result<(), TooLarge> {
    let nodes = 1 + problem.groups().list().len() + problem.n_users();
    let is_small = nodes.saturating_mul(problem.n_resources()) <= MOST_CELLS;
    if is_small { Ok(()) } else { Err(TooLarge::memory(MOST_BYTES)) }
}

/// That hierarchical filling is defined for a problem: resources are divided, and every user has one demand.
///
/// # Errors
/// Why not.
pub fn can_be_filled(problem: &Problem) -> Result<(), Inapplicable> {
    if problem.servers().iter().any(evenhand_problem::ServerClass::is_time_shared) {
        let why = "groups share resources, and the time of a server class is shared";
        return Err(Inapplicable::new(why.to_owned()));
    }
    match problem.users().iter().any(|user| !user.demand_overrides().is_empty()) {
        true => {
            Err(Inapplicable::new("a user's demand depends on the server class (`demand_on`)".to_owned()))
        }
        false => Ok(()),
    }
}

/// Prices of rows, each by row: what stops the filling for want of place.
pub type RowPrices = Vec<Vec<(usize, Rational)>>;

/// Minus the largest difference to what the filling ends with; `None` when no user is active.
///
/// # Errors
/// [`Refusal`] when it ends with other tasks than these, these have no place, or running it is too large.
pub fn margin_of_filling(
    instance: &Instance<'_>,
    filling: &Tasks,
    prices: &RowPrices,
) -> Result<Option<Rational>, Refusal> {
    let ended = instance.with_tasks(filling)?;
    if !feasible::holds_exactly(&ended) {
        return Err(Refusal::new("what the filling ends with has no place"));
    }
    let problem = instance.problem();
    has_size(problem)?;
    if prices.len().saturating_mul(problem.n_users()) > MOST_CELLS {
        return Err(TooLarge::memory(MOST_BYTES).into());
    }
    let bounds = prices.iter().map(|prices| bound(instance, prices)).collect::<Result<Vec<_>, _>>()?;
    let forest = Forest::new(problem, problem.groups().share().clone(), true);
    let mut course = Course::new(&forest, vec![Rational::new(); problem.n_users()], &bounds);
    // As much as plain loops take for a segment, in operations on numbers of one word.
    let m = forest.capacity.len();
    let above: usize = (0..problem.n_users()).map(|n| forest.above(forest.leaf(n)).count()).sum();
    let of_nodes = forest.nodes.len().saturating_mul((m + 8).saturating_mul(m + 4));
    let of_users = above.saturating_mul(4 * m + 6).saturating_add(2 * bounds.len() * problem.n_users());
    let segment = of_nodes.saturating_add(of_users) as u64;
    loop {
        let widest = course.tasks().iter().map(|x| words(x.numer()).max(words(x.denom()))).max();
        instance.budget().charge((OPERATION + 8 * wide(widest.unwrap_or(1))).saturating_mul(segment))?;
        if !course.segment().map_err(|endless| Refusal::new(endless.to_string()))? {
            break;
        }
    }
    let users = 0..problem.n_users();
    let is_stated = course.tasks().iter().enumerate().all(|(n, tasks)| ended.total(n) == *tasks);
    if !is_stated {
        return Err(Refusal::new("the filling ends with other tasks than the evidence states"));
    }
    let active = users.filter(|n| instance.is_active(*n));
    let differs = |n: usize| (instance.total(n) - ended.total(n)).abs() / instance.scale(n);
    Ok(active.map(differs).max().map(|most| -most))
}

/// What prices prove.
fn bound(instance: &Instance<'_>, prices: &[(usize, Rational)]) -> Result<Bound, Refusal> {
    if prices.iter().any(|(_, price)| *price < 0) {
        return Err(Refusal::new("a price is negative"));
    }
    // They get a common denominator.
    let width: u64 = prices.iter().map(|(_, price)| words(price.numer()) + words(price.denom())).sum();
    let all = instance.problem().n_users() + instance.constraints().rows().len();
    instance.budget().charge(wide(width.saturating_add(1)).saturating_mul(all as u64))?;
    instance.charge_all_users()?;
    let mut by_row = vec![Rational::new(); instance.constraints().rows().len()];
    for (row, price) in prices {
        by_row[*row].clone_from(price);
    }
    Ok(Bound::of_rows(instance.constraints(), &by_row))
}

/// The axiom.
pub(crate) struct Tree;

impl Rule for Tree {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn applies_to(&self, _parameters: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        can_be_filled(problem)?;
        match problem.groups().limit_classes() {
            true => Err(Inapplicable::new("groups have limits on server classes (`on`)".to_owned())),
            false => Ok(()),
        }
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        divided(instance)
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
        if let Err(why) =
            self.applies_to(parameters, instance.problem()).and_then(|()| self.applies(instance))
        {
            return Err(Refusal::new(why.to_string()));
        }
        let Evidence::Filling { tasks, prices } = evidence else { return Err(wrong_form()) };
        Ok((true, margin_of_filling(instance, tasks, prices)?))
    }

    /// `{"filling": {user: {class: x}}, "prices": [{class: {resource: p}}]}`
    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        reader.only(object, &["filling", "prices"])?;
        let mut prices = Vec::new();
        for raw in reader.document.list(reader.need(object, "prices")?)? {
            prices.push(reader.by_row(raw)?);
        }
        Ok(Evidence::Filling { tasks: reader.tasks(reader.need(object, "filling")?)?, prices })
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        let Evidence::Filling { tasks, prices } = evidence else { return None };
        let of = |prices: &Vec<(usize, Rational)>| names.by_row(prices.iter().map(|(row, p)| (*row, p)));
        let prices = Json::List(prices.iter().map(of).collect());
        Some(fields([("filling", names.tasks(tasks)), ("prices", prices)]))
    }
}
