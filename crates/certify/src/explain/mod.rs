//! Explanations of a user's allocation: the resources that limit it, their prices, and the other users that use them.

mod enclose;
mod one_more_unit;
mod places;

use evenhand_exact::axiom::{feasible, max_min};
use evenhand_exact::{Axiom, Instance, InstanceError, Parameters, Share};
use evenhand_levels::njc::entitlements;
use evenhand_mechanisms::tree::{self, StopKind};
use evenhand_mechanisms::{FairOptimum, registry};
use evenhand_problem::utilisation::dominant_share;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};

pub use enclose::{Between, OptimumBounds, optimum_bounds};
pub use one_more_unit::{NotMeasured, OneMoreUnit, UnitOfRow};
pub(crate) use places::in_tasks;
pub use places::{OneMore, VirtualView};

/// The number of users of a bottleneck that are listed. All other users are only counted.
const HOLDERS: usize = 5;

/// Prices up to this number count as 0, since numeric methods leave such small values where the exact price is 0.
const NO_PRICE: f64 = 1e-12;

/// For floating-point allocations, the fraction of a capacity or of a task limit up to which the unused amount counts
/// as 0.
const ROUNDING: (u32, u32) = (1, 1_000_000_000);

/// The explanation of a user's allocation. Users, classes and rows are given by index, and rows are the rows of
/// [`evenhand_problem::Constraints`].
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The index of the user.
    pub user: usize,
    /// The number of tasks of the user.
    pub tasks: Rational,
    /// The dominant share of the user in the whole cluster, not divided by its weight.
    pub dominant_share: Rational,
    /// The share that the mechanism of the allocation equalises, and the user's level for that share.
    pub level: Option<(Share, Rational)>,
    /// The user's entitlement and the reason why it has no justified complaint. `None` for mechanisms that do not
    /// guarantee this.
    pub entitled: Option<Entitled>,
    /// The reason why the user has no more tasks.
    pub verdict: ExplanationVerdict,
    /// The limits and guarantees of the groups above the user that stop it, if the user lacks tasks.
    pub stops: Vec<StopKind>,
    /// True if the allocation is infeasible beyond rounding, so that it is not a solution of the problem.
    pub infeasible: bool,
    /// The classes on which the user can run, each with the saturated rows that the user would need on it.
    pub classes: Vec<ClassView>,
    /// The gain from one more unit of each row under the mechanism of the allocation, or the reason why it was not
    /// measured.
    pub one_more_unit: Result<OneMoreUnit, NotMeasured>,
    /// The classes with the user's virtual dominant shares, for the mechanisms of PS-DSF.
    pub virtual_shares: Vec<VirtualView>,
    /// The rows that lack capacity for one more task on single servers, for allocations with placements.
    pub one_more: Vec<OneMore>,
}

/// A user's entitlement in No Justified Complaints, and the rows and prices that show that the user has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entitled {
    /// `e_n`, the fraction of a saturated row to which the user is entitled.
    pub entitlement: Rational,
    /// The saturated row of which the user uses the largest fraction, and this fraction.
    pub best: Option<(usize, Rational)>,
    /// `(row, price of one unit)` of the rows that the user's tasks use, in units of weight. The prices are near those
    /// of the proportionally fair optimum. The list is empty if the prices do not prove that the allocation is close to
    /// this optimum.
    pub prices: Vec<(usize, Rational)>,
}

/// The reason why a user has no more tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplanationVerdict {
    /// The user fits on no server that it may use.
    FitsNowhere,
    /// The user has no tasks to run.
    NoTasks,
    /// All tasks of the user run.
    Satisfied,
    /// The user uses all accelerators that it may use at once (`at_most`). It would get more tasks only on faster
    /// classes.
    AtMost,
    /// Every class on which the user can run has a saturated resource that it needs.
    Blocked,
    /// Some class has free capacity for the user.
    Room,
    /// Some class has free capacity for the user, but a group above it stops it.
    Stopped,
}

/// The tasks and bottlenecks of a user on one class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassView {
    /// The index of the class.
    pub server: usize,
    /// The tasks of the user on the class.
    pub tasks: Rational,
    /// The saturated rows that a task of the user needs.
    pub bottlenecks: Vec<Bottleneck>,
}

/// A saturated row and the users that use it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bottleneck {
    /// The index of the row.
    pub row: usize,
    /// `(user, fraction of the row)` of at most 5 users, the largest fraction first.
    pub holders: Vec<(usize, Rational)>,
    /// The number of users that use some of the row.
    pub n_holders: usize,
    /// The fraction of the row that this user uses.
    pub own: Rational,
}

/// Explains the tasks of `user` in `allocation`.
///
/// # Errors
/// [`InstanceError`] when the allocation does not fit the problem.
pub fn explain(
    problem: &Problem,
    allocation: &Allocation,
    user: usize,
) -> Result<Explanation, InstanceError> {
    let instance = Instance::new(problem, allocation)?;
    let rounding = match allocation.arithmetic {
        Arithmetic::Exact => Rational::new(),
        Arithmetic::Float => Rational::from(ROUNDING),
    };
    let classes = class_views(&instance, allocation, user, &rounding);
    let tasks = allocation.total(user);
    let enough = Rational::from(1) - &rounding;
    let limit = problem.users()[user].tasks();
    let one_more = places::one_more(&instance, allocation, user);
    let has_room = match allocation.placements.is_some() {
        true => one_more.iter().any(|class| class.fits > 0),
        false => classes.iter().any(|class| class.bottlenecks.is_empty()),
    };
    // In problems without groups, no group can stop a user.
    let stops = match problem.groups().list().is_empty() {
        true => Vec::new(),
        false => {
            tree::stops_of_groups(problem, allocation, user, &tree::Settings::default()).unwrap_or_default()
        }
    };
    let verdict = if limit.is_some_and(Rational::is_zero) {
        ExplanationVerdict::NoTasks
    } else if !problem.is_active(user) {
        ExplanationVerdict::FitsNowhere
    } else if limit.is_some_and(|limit| tasks >= Rational::from(limit * &enough)) {
        ExplanationVerdict::Satisfied
    } else if has_room && uses_all_accelerators(&instance, user, &rounding) {
        ExplanationVerdict::AtMost
    } else if !has_room {
        ExplanationVerdict::Blocked
    } else if stops.is_empty() {
        ExplanationVerdict::Room
    } else {
        ExplanationVerdict::Stopped
    };
    let share = registry::axiom_of(allocation).and_then(|(_, parameters)| parameters.share);
    let coefficients = share.and_then(|s| Some((s, s.coefficients(problem).ok()?)));
    let level = coefficients.as_ref().filter(|_| problem.is_active(user)).and_then(|(share, u)| {
        let shares = max_min::shares(&instance, u).ok()?;
        Some((*share, shares[user].clone()))
    });
    let dominant_share = dominant_share(problem, allocation, user);
    let infeasible =
        feasible::tightest(&instance).is_some_and(|(_, margin)| margin < Rational::from(-&rounding));
    let entitled = entitled(&instance, allocation, user, &classes);
    let virtual_shares = places::virtual_views(&instance, allocation, user, &rounding);
    Ok(Explanation {
        user,
        tasks,
        dominant_share,
        level,
        entitled,
        verdict,
        stops,
        infeasible,
        classes,
        one_more_unit: one_more_unit::one_more_unit(problem, allocation, user),
        virtual_shares,
        one_more,
    })
}

/// Returns true if the user uses all accelerators that it may use at once.
fn uses_all_accelerators(instance: &Instance<'_>, user: usize, rounding: &Rational) -> bool {
    let limits = instance.limits();
    let row = limits.of_accelerators(user).map(|at| &limits.list()[at]);
    row.is_some_and(|row| Rational::from(&row.most - &row.held) <= Rational::from(&row.most * rounding))
}

/// Returns the user's entitlement and the reason why it has no justified complaint, for allocations by NJC or
/// proportional fairness.
fn entitled(
    instance: &Instance<'_>,
    allocation: &Allocation,
    user: usize,
    classes: &[ClassView],
) -> Option<Entitled> {
    let (axiom, _) = registry::axiom_of(allocation)?;
    if !matches!(axiom, Axiom::Njc | Axiom::Proportional) || !instance.is_active(user) {
        return None;
    }
    let bottlenecks = classes.iter().flat_map(|class| &class.bottlenecks);
    let best = bottlenecks.max_by(|a, b| a.own.cmp(&b.own)).map(|found| (found.row, found.own.clone()));
    let entitlement = entitlements(instance.constraints()).swap_remove(user);
    Some(Entitled { entitlement, best, prices: prices(instance, allocation, user).unwrap_or_default() })
}

/// Returns the prices of the rows that the user uses.
fn prices(instance: &Instance<'_>, allocation: &Allocation, user: usize) -> Option<Vec<(usize, Rational)>> {
    let constraints = instance.constraints();
    let alpha = match registry::axiom_of(allocation)? {
        (Axiom::Proportional, Parameters { share: None, alpha }) => {
            alpha.unwrap_or_else(|| Rational::from(1))
        }
        (Axiom::Njc, _) => Rational::from(1),
        _ => return None,
    };
    let prices = FairOptimum::find(constraints, &alpha, None)?.close_prices(instance)?;
    let holds = |row: usize| {
        // The prices of limits follow those of the rows of servers.
        let Some(server) = constraints.rows().get(row).map(|row| row.server) else { return false };
        let offset = row - constraints.class_rows(server).start;
        let uses = constraints.usage(user, server).is_some_and(|usage| !usage[offset].is_zero());
        uses && allocation.on(user, server) > 0
    };
    let rows = prices.rows.into_iter().enumerate();
    Some(rows.filter(|(row, price)| *price > NO_PRICE && holds(*row)).collect())
}

fn class_views(
    instance: &Instance<'_>,
    allocation: &Allocation,
    user: usize,
    rounding: &Rational,
) -> Vec<ClassView> {
    let constraints = instance.constraints();
    let mut views = Vec::new();
    for server in 0..instance.problem().n_servers() {
        let Some(usage) = constraints.usage(user, server) else { continue };
        let saturated = constraints.class_rows(server).zip(usage.iter()).filter(|(row, usage)| {
            let nothing = Rational::from(&constraints.rows()[*row].capacity * rounding);
            !usage.is_zero() && instance.slack(*row) <= nothing
        });
        let bottlenecks = saturated.map(|(row, _)| bottleneck(instance, allocation, user, row)).collect();
        views.push(ClassView { server, tasks: allocation.on(user, server), bottlenecks });
    }
    views
}

fn bottleneck(instance: &Instance<'_>, allocation: &Allocation, user: usize, row: usize) -> Bottleneck {
    let constraints = instance.constraints();
    let limit = &constraints.rows()[row];
    let offset = row - constraints.class_rows(limit.server).start;
    let held = |n: usize| {
        let usage = constraints.usage(n, limit.server)?;
        let part = allocation.on(n, limit.server) * &usage[offset] / &limit.capacity;
        (part > 0).then_some(part)
    };
    let mut holders: Vec<(usize, Rational)> =
        (0..instance.problem().n_users()).filter_map(|n| Some((n, held(n)?))).collect();
    holders.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let n_holders = holders.len();
    holders.truncate(HOLDERS);
    Bottleneck { row, holders, n_holders, own: held(user).unwrap_or_default() }
}
