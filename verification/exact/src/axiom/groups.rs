//! What is promised to groups of users, and what they are allowed (theory, section 9).
//!
//! `limits`: no group uses more of a resource than its limit, $U_{vr} \le L_{vr}$, where `U` counts what is kept back
//! for its subgroups, and what its users hold by their base demands, and none takes more on some server classes than it
//! may there. Margin: the least
//! $(L_{vr} - U_{vr}) / C_r$ over the limits of resources that some server has.
//!
//! `guarantees`: no user with tasks left, and not at a limit, is below the guarantee of every group above it that has
//! one. The lack of a user is how many tasks more it could run, whether there is room for them or not, before it has
//! all its tasks, or a limit above it or one of those guarantees is reached:
//!
//! $$\min\Bigl(T_n - x_n, \min_{v, r} \frac{L_{vr} - U_{vr} + s_{vr}}{d_{nr}},
//!   \min_{v, r} \frac{G_{vr} - U_{vr} + s_{vr}}{d_{nr}}\Bigr),$$
//!
//! with $s_{vr}$ what is kept back for the groups between `n` and `v` and not used, which more use fills first; 0
//! for a user without such a group, where a guarantee above it names nothing that it asks for, and where a group
//! above it has no guarantee, the weight 0, and so (`zero-weight: never`) nothing. Margin: minus the largest lack
//! over `g_n`.

use evenhand_problem::groups::ZeroWeight;
use evenhand_problem::{Problem, Promises, Rational};

use crate::axiom::class_limits::{ClassLimit, ClassLimits};
use crate::axiom::rule::{Found, Rule, loss};
use crate::budget::TooLarge;
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::names::write::{Json, Names, number};
use crate::parameters::Parameters;
use crate::refusal::{Inapplicable, Refusal};
use crate::sparse::at;

/// Groups times resources beyond which they are not judged: what is used of each takes about 50 bytes of memory.
const MOST_CELLS: usize = 1_000_000;
/// The memory for that.
const MOST_BYTES: u64 = 50_000_000;

/// What every group holds.
pub(super) struct Holdings<'p> {
    pub problem: &'p Problem,
    pub promises: Promises,
    /// `U_v` by group and resource.
    pub used: Vec<Vec<Rational>>,
    /// What is left of limits on server classes.
    pub on: ClassLimits<'p>,
}

/// A limit, and what is left of it.
struct Limited<'h> {
    group: usize,
    resource: usize,
    /// Server classes; none: all.
    on: &'h [usize],
    slack: Rational,
    margin: Rational,
}

impl<'p> Holdings<'p> {
    pub fn new(instance: &Instance<'p>) -> Result<Self, Refusal> {
        let problem = instance.problem();
        let (groups, m) = (problem.groups(), problem.n_resources());
        if groups.list().len().saturating_mul(m) > MOST_CELLS {
            return Err(TooLarge::memory(MOST_BYTES).into());
        }
        instance.charge_all_users()?;
        let promises = Promises::new(groups);
        let mut used = vec![vec![Rational::new(); m]; groups.list().len()];
        for (n, user) in problem.users().iter().enumerate() {
            let Some(v) = groups.member(n).group else { continue };
            let x = instance.total(n);
            for (r, d) in user.base_demand().entries() {
                used[v][*r] += Rational::from(d * &x);
            }
        }
        for v in groups.from_the_leaves() {
            let Some(parent) = groups.list()[v].parent else { continue };
            let mut held = used[v].clone();
            for (r, kept) in promises.kept[v].iter().filter(|(r, kept)| used[v][*r] < *kept) {
                held[*r].clone_from(kept);
            }
            used[parent].iter_mut().zip(held).for_each(|(sum, held)| *sum += held);
        }
        Ok(Self { problem, promises, used, on: ClassLimits::new(instance)? })
    }

    /// Every limit of a resource that some server has.
    fn limits(&self) -> impl Iterator<Item = Limited<'_>> {
        let capacity = self.problem.total_capacity();
        let limited = |group: usize, resource: usize, on, slack: Rational| {
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
            group.limit.iter().filter_map(move |(r, most)| limited(v, *r, &[][..], slack(*r, most)))
        });
        let of_classes = self.on.list.iter().filter_map(move |of: &ClassLimit<'_>| {
            limited(of.group, of.resource, of.servers, of.left.clone())
        });
        whole.chain(of_classes)
    }

    /// The lack of a user, in tasks.
    fn lack(&self, instance: &Instance<'_>, n: usize) -> Rational {
        let groups = self.problem.groups();
        let capacity = self.problem.total_capacity();
        let user = &self.problem.users()[n];
        let asked = || user.base_demand().entries().iter().filter(|(r, _)| !capacity[*r].is_zero());
        // By resource that it asks for: what more use fills before it is more use of the group.
        let mut spare = vec![Rational::new(); asked().count()];
        let left = user.tasks().map(|tasks| tasks - instance.total(n));
        let mut least: Option<Rational> = left.into_iter().chain(self.on.leave_in_all(n)).min();
        let mut is_promised = false;
        let never = groups.share().zero_weight == ZeroWeight::Never;
        let above = std::iter::successors(groups.member(n).group, |v| groups.list()[*v].parent);
        for v in above {
            let guarantee = self.promises.guarantee[v].as_ref();
            // A group of weight 0 may get nothing beyond its guarantee.
            let is_shut = never && groups.list()[v].weight.is_zero();
            let mut names_any = guarantee.is_none() && !is_shut;
            for ((r, d), spare) in asked().zip(&mut spare) {
                let promised = self.promises.promised(v, *r);
                for most in at(&groups.list()[v].limit, *r).into_iter().chain(promised) {
                    let room = (Rational::from(most - &self.used[v][*r]) + &*spare) / d;
                    least = Some(least.map_or(room.clone(), |least| least.min(room)));
                }
                names_any |= promised.is_some();
                is_promised |= promised.is_some();
                let kept = at(&self.promises.kept[v], *r);
                if let Some(kept) = kept.filter(|kept| self.used[v][*r] < **kept) {
                    *spare += Rational::from(kept - &self.used[v][*r]);
                }
            }
            if !names_any {
                return Rational::new();
            }
        }
        least.filter(|least| is_promised && *least > 0).unwrap_or_default()
    }

    fn margin(&self, instance: &Instance<'_>, n: usize) -> Rational {
        -(self.lack(instance, n) / instance.scale(n))
    }
}

/// That there are groups, and that they share resources and not time.
pub(super) fn of_groups(problem: &Problem) -> Result<(), Inapplicable> {
    if problem.groups().list().is_empty() {
        return Err(Inapplicable::new("the users stand in no groups".to_owned()));
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
        Ok(tightest.map(|Limited { group, resource, on, slack, margin }| Found {
            yes: Evidence::GroupLimit { group, resource, on: on.to_vec(), slack },
            no: None,
            margin,
        }))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        let Evidence::GroupLimit { group, resource, on, slack } = evidence else { return None };
        let classes = || Json::List(on.iter().map(|i| names.server_name(*i)).collect());
        let on = (!on.is_empty()).then(|| ("on", classes()));
        let whole = [
            ("group", names.group_name(*group)),
            ("resource", names.resource_name(*resource)),
            ("slack", number(slack)),
        ];
        Some(Json::object(whole.into_iter().chain(on)))
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
        let holdings = Holdings::new(instance)?;
        let active = (0..instance.problem().n_users()).filter(|n| instance.is_active(*n));
        let least = active.map(|n| (holdings.margin(instance, n), n)).min();
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
