//! Why a user has what it has: what binds it, at what price, and who else holds that.

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

/// Holders of a bottleneck that are named; the others are counted.
const HOLDERS: usize = 5;

/// Prices up to this are what a method leaves of 0.
const NO_PRICE: f64 = 1e-12;

/// In an allocation of floating point, the part of a capacity or of a task limit that counts as
/// nothing left.
const ROUNDING: (u32, u32) = (1, 1_000_000_000);

/// Why a user has what it has. Users, classes and rows by index; rows are those of
/// [`evenhand_problem::Constraints`].
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The user.
    pub user: usize,
    /// Its tasks.
    pub tasks: Rational,
    /// Its dominant share of the whole cluster, weight not divided out.
    pub dominant_share: Rational,
    /// The share that the mechanism of the allocation equalises, with the user's level of it.
    pub level: Option<(Share, Rational)>,
    /// Its entitlement, and what answers its complaint; for mechanisms that leave no user with one.
    pub entitled: Option<Entitled>,
    /// What keeps it from more.
    pub verdict: ExplanationVerdict,
    /// What groups above it stop it by, if it wants more.
    pub stops: Vec<StopKind>,
    /// Whether the allocation is infeasible beyond rounding, so that it is no answer to the problem.
    pub infeasible: bool,
    /// Every class that the user can run on, with the saturated rows that it would need there.
    pub classes: Vec<ClassView>,
    /// What one more unit of each row brings by the mechanism of the allocation, or why that was not measured.
    pub one_more_unit: Result<OneMoreUnit, NotMeasured>,
    /// The classes by virtual dominant share, for the mechanisms of PS-DSF.
    pub virtual_shares: Vec<VirtualView>,
    /// What is short for one more task on single servers, for allocations with placements.
    pub one_more: Vec<OneMore>,
}

/// A user's side of No Justified Complaints.
#[derive(Debug, Clone, PartialEq)]
pub struct Entitled {
    /// `e_n`, the part of every saturated row that it is entitled to.
    pub entitlement: Rational,
    /// The saturated row of which it holds most, with that part.
    pub best: Option<(usize, Rational)>,
    /// `(row, price of one unit)` of the rows where it has tasks, in units of weight: prices near the
    /// proportionally fair optimum; none where they do not prove the allocation to be close to it.
    pub prices: Vec<(usize, Rational)>,
}

/// What keeps a user from more tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplanationVerdict {
    /// It fits on no server that it may use.
    FitsNowhere,
    /// It asked for no tasks.
    NoTasks,
    /// It has all the tasks that it has.
    Satisfied,
    /// Every class that it can run on has a saturated resource that it needs.
    Blocked,
    /// Some class still has room for it.
    Room,
    /// Some class still has room for it, and a group above it stops it.
    Stopped,
}

/// One class from a user's view.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassView {
    /// The class.
    pub server: usize,
    /// Tasks of the user there.
    pub tasks: Rational,
    /// Saturated rows of which its task needs some.
    pub bottlenecks: Vec<Bottleneck>,
}

/// A saturated row and who holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bottleneck {
    /// The row.
    pub row: usize,
    /// `(user, fraction of the row)`, largest first, at most 5 of them.
    pub holders: Vec<(usize, Rational)>,
    /// Users that hold some of it, all together.
    pub n_holders: usize,
    /// What this user holds of it, a fraction.
    pub own: Rational,
}

/// Explains what `user` has in `allocation`.
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
    // Where groups do not share the problem they stop no user.
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

/// For allocations that NJC or proportional fairness made.
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

/// What the rows that the user holds cost.
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
        let server = constraints.rows()[row].server;
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
