//! The guarantees and the limits of groups of users (docs/theory.md, section 9).
//!
//! `limits`: no group uses more of a resource than its limit, $U_{vr} \le L_{vr}$. Here `U` counts the amounts kept
//! back for its subgroups, and the usage of its users by their base demands. For a resource of which groups keep some
//! back, the root uses no more than the capacity, $U_r \le C_r$. No group uses more on some server classes than its
//! limit there. The margin is the least (bound − usage) / $C_r$ over the resources that some server has.
//!
//! `guarantees`: no user [lacks](crate::Lacks) tasks to which the guarantees of the groups above it entitle it. The
//! margin is minus the largest lack over `g_n`.

use evenhand_problem::{Problem, Promises, Rational};

use crate::axiom::class_limits::{ClassLimit, ClassLimits};
use crate::axiom::lack::{Lacks, uses};
use crate::axiom::rule::{Found, Rule, loss};
use crate::budget::TooLarge;
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::names::write::{Json, Names, number};
use crate::parameters::Parameters;
use crate::refusal::{Inapplicable, Refusal};
use crate::sparse::at;

/// The largest number of groups times resources for which the axioms are judged. Each cell takes about 50 bytes of
/// memory, twice for lacks.
const MOST_CELLS: usize = 1_000_000;
/// The memory in bytes for [`MOST_CELLS`] cells.
const MOST_BYTES: u64 = 100_000_000;

/// The usage of every group and of the root.
pub(super) struct Holdings<'p> {
    pub problem: &'p Problem,
    pub promises: Promises,
    /// The usage `U_v` of each group, by resource.
    pub used: Vec<Vec<Rational>>,
    /// The usage `U` of the root for each resource, and the amount of it that is kept back for groups.
    pub root: Vec<OfRoot>,
    /// The limits on server classes, with the unused amount of each.
    pub on: ClassLimits<'p>,
}

/// The usage of a resource by all users and groups: the usage of the root.
#[derive(Clone, Default)]
pub(super) struct OfRoot {
    /// The usage, including the amounts that are kept back.
    pub used: Rational,
    /// The sum of the amounts that are kept back.
    pub kept: Rational,
}

impl OfRoot {
    /// Returns true if the capacity bounds the usage. This is so if groups keep some of the resource back.
    pub fn is_bounded(&self) -> bool {
        !self.kept.is_zero()
    }
}

/// A limit of a group or of the root, and its unused amount.
struct Limited<'h> {
    /// The group. `None` for the root.
    group: Option<usize>,
    resource: usize,
    /// The server classes. Empty for the whole cluster.
    on: &'h [usize],
    slack: Rational,
    margin: Rational,
}

/// Returns the total tasks of each user.
///
/// # Errors
/// Returns [`Refusal`] if there are too many groups and resources to judge.
fn totals(instance: &Instance<'_>) -> Result<Vec<Rational>, Refusal> {
    let problem = instance.problem();
    if problem.groups().list().len().saturating_mul(problem.n_resources()) > MOST_CELLS {
        return Err(TooLarge::memory(MOST_BYTES).into());
    }
    instance.charge_all_users()?;
    Ok((0..problem.n_users()).map(|n| instance.total(n)).collect())
}

impl<'p> Holdings<'p> {
    pub fn new(instance: &Instance<'p>) -> Result<Self, Refusal> {
        let problem = instance.problem();
        let totals = totals(instance)?;
        let promises = Promises::new(problem.groups());
        let used = uses(problem, &promises, &totals);
        let mut root = vec![OfRoot::default(); problem.n_resources()];
        for (v, _) in problem.groups().list().iter().enumerate().filter(|(_, group)| group.parent.is_none()) {
            root.iter_mut().zip(&used[v]).for_each(|(root, own)| root.used += own);
            for (r, kept) in &promises.kept[v] {
                root[*r].kept += kept;
                if used[v][*r] < *kept {
                    root[*r].used += Rational::from(kept - &used[v][*r]);
                }
            }
        }
        for (n, (user, x)) in problem.users().iter().zip(&totals).enumerate() {
            if problem.groups().member(n).group.is_none() {
                let held = user.base_demand().entries().iter();
                held.for_each(|(r, d)| root[*r].used += Rational::from(d * x));
            }
        }
        Ok(Self { problem, promises, used, root, on: ClassLimits::new(instance)? })
    }

    /// Returns every limit on a resource that some server has.
    fn limits(&self) -> impl Iterator<Item = Limited<'_>> {
        let capacity = self.problem.total_capacity();
        let limited = |group: Option<usize>, resource: usize, on, slack: Rational| {
            let has = !capacity[resource].is_zero();
            has.then(|| Limited {
                group,
                resource,
                on,
                margin: Rational::from(&slack / &capacity[resource]),
                slack,
            })
        };
        let whole = self.problem.groups().list().iter().enumerate().flat_map(move |(v, group)| {
            let slack = move |r: usize, most: &Rational| Rational::from(most - &self.used[v][r]);
            group.limit.iter().filter_map(move |(r, most)| limited(Some(v), *r, &[][..], slack(*r, most)))
        });
        let of_classes = self.on.list.iter().filter_map(move |of: &ClassLimit<'_>| {
            limited(Some(of.group), of.resource, of.servers, of.left.clone())
        });
        let bounded = self.root.iter().enumerate().filter(|(_, root)| root.is_bounded());
        let of_root = bounded.filter_map(move |(r, root)| {
            limited(None, r, &[][..], Rational::from(&capacity[r] - &root.used))
        });
        whole.chain(of_classes).chain(of_root)
    }

    /// Returns the sum of the amounts kept back for the child groups, if this sum alone exceeds the bound.
    fn promised_beyond(&self, limited: &Limited<'_>) -> Option<Rational> {
        let Limited { group, resource, on, .. } = limited;
        if !on.is_empty() {
            return None;
        }
        let (kept, bound) = match group {
            None => (self.root[*resource].kept.clone(), &self.problem.total_capacity()[*resource]),
            Some(v) => {
                let groups = self.problem.groups().list().iter().enumerate();
                let children = groups.filter(|(_, group)| group.parent == Some(*v)).map(|(k, _)| k);
                let kept = children.filter_map(|k| at(&self.promises.kept[k], *resource)).sum();
                (kept, at(&self.problem.groups().list()[*v].limit, *resource)?)
            }
        };
        (kept > *bound).then_some(kept)
    }
}

/// Returns an error if there are no groups, or if a server class is time-shared.
pub(super) fn of_groups(problem: &Problem) -> Result<(), Inapplicable> {
    if problem.groups().list().is_empty() {
        return Err(Inapplicable::new("no user is in a group".to_owned()));
    }
    match problem.servers().iter().any(evenhand_problem::ServerClass::is_time_shared) {
        true => Err(Inapplicable::new("the time of a server class is shared".to_owned())),
        false => Ok(()),
    }
}

/// The axiom `limits`.
pub(crate) struct Limits;

impl Rule for Limits {
    fn name(&self) -> &'static str {
        "limits"
    }

    fn applies_to(&self, _parameters: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        of_groups(problem)
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        instance.divides()
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        let holdings = Holdings::new(instance)?;
        let tightest = holdings.limits().min_by(|a, b| a.margin.cmp(&b.margin));
        Ok(tightest.map(|tightest| {
            let promised = holdings.promised_beyond(&tightest);
            let Limited { group, resource, on, slack, margin } = tightest;
            let yes = Evidence::GroupLimit { group, resource, on: on.to_vec(), slack, promised };
            Found { yes, no: None, margin }
        }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        let Evidence::GroupLimit { group, resource, on, slack, promised } = evidence else { return None };
        let classes = || Json::List(on.iter().map(|i| names.server_name(*i)).collect());
        let group = group.map(|v| ("group", names.group_name(v)));
        let always = [("resource", names.resource_name(*resource)), ("slack", number(slack))];
        let on = (!on.is_empty()).then(|| ("on", classes()));
        let promised = promised.as_ref().map(|promised| ("promised", number(promised)));
        Some(Json::object(group.into_iter().chain(always).chain(on).chain(promised)))
    }
}

/// The axiom `guarantees`.
pub(crate) struct Guarantees;

impl Rule for Guarantees {
    fn name(&self) -> &'static str {
        "guarantees"
    }

    fn applies_to(&self, _parameters: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        of_groups(problem)
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        instance.divides()
    }

    fn derive(&self, instance: &Instance<'_>) -> Result<Option<Found>, Refusal> {
        let (totals, tasks) = (totals(instance)?, instance.tasks());
        let steps = Lacks::steps_on_classes(instance.problem(), &tasks);
        instance.budget().charge(instance.steps().saturating_mul(steps))?;
        let lacks = Lacks::new(instance.problem(), &totals, &tasks);
        let active = (0..instance.problem().n_users()).filter(|n| instance.is_active(*n));
        let least = active.map(|n| (-(lacks.of(n) / instance.scale(n)), n)).min();
        Ok(least.map(|(margin, user)| Found {
            yes: Evidence::Entitlement { user, loss: None },
            no: Some(Evidence::Entitlement { user, loss: Some(loss(instance, user, &margin)) }),
            margin,
        }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        super::sharing_incentive::SharingIncentive.write(names, evidence)
    }
}
