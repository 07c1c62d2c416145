//! The resources that are the bottleneck of every user. They decide when the three bottleneck axioms apply, and to
//! which resources.
//!
//! - bottleneck-fair: on every class where an active user can run, `d_nir / c_ir` is largest for the same resource
//!   (PS-DSF, section II-A, "bottleneck fairness").
//! - global-bottleneck-fair: `d_nr / sum_i k_i c_ir` is largest for the same resource for every active user (DRFH,
//!   section III-C).
//! - single-resource-fair: there is only one resource.
//!
//! If one of these axioms applies, it is weighted max-min ([`max_min`](super::max_min) with
//! [`Share::Resource`](crate::Share::Resource)) on every such resource. There are several such resources if demands tie
//! exactly.

use std::cmp::Ordering;

use evenhand_problem::{Problem, Quantities};
use rug::Rational;

use crate::axiom::max_min;
use crate::axiom::rule::{Rule, wrong_form};
use crate::evidence::Evidence;
use crate::instance::Instance;
use crate::names::read::Reader;
use crate::names::write::{Json, Names, fields};
use crate::parameters::Parameters;
use crate::refusal::Inapplicable;
use crate::refusal::Refusal;
use crate::share::Share;
use evenhand_problem::format::{FormatError, Object};

/// Returns the only resource.
///
/// # Errors
/// Returns an error if there are several resources, or if no server has any of the resource.
fn single_resource(problem: &Problem) -> Result<Vec<usize>, Inapplicable> {
    match problem.n_resources() {
        1 => divided(problem).and_then(|()| usable(problem, vec![0])),
        several => Err(Inapplicable::new(format!("the problem has {several} resources"))),
    }
}

/// Returns an error if a class is time-shared. A class that is time-shared because of a stated `gamma` has no resource
/// as a bottleneck.
fn divided(problem: &Problem) -> Result<(), Inapplicable> {
    let Some(i) = (0..problem.n_servers()).find(|&i| problem.servers()[i].is_time_shared()) else {
        return Ok(());
    };
    Err(Inapplicable::new(format!(
        "server `{}` is shared by time, not by its resources",
        problem.servers()[i].name()
    )))
}

/// Returns the resources that are the bottleneck of every active user on every class where it can run.
fn resources(problem: &Problem) -> Result<Vec<usize>, Inapplicable> {
    divided(problem)?;
    let mut left: Vec<usize> = (0..problem.n_resources()).collect();
    for n in (0..problem.n_users()).filter(|&n| problem.is_active(n)) {
        for i in problem.classes_of(n) {
            let server = &problem.servers()[i];
            keep_dominant(&mut left, problem.demand(n, i), |r| &server.capacity()[r]);
            if left.is_empty() {
                let user = problem.users()[n].name();
                let server = server.name();
                return Err(Inapplicable::new(format!(
                    "no resource is the bottleneck of every user on every server on which it can run: user `{user}` \
                    on server `{server}` has another bottleneck than the users before it"
                )));
            }
        }
    }
    usable(problem, left)
}

/// Returns the resources that are the global dominant resource of every active user.
fn global_resources(problem: &Problem) -> Result<Vec<usize>, Inapplicable> {
    divided(problem)?;
    let mut left: Vec<usize> = (0..problem.n_resources()).collect();
    for n in (0..problem.n_users()).filter(|&n| problem.is_active(n)) {
        keep_dominant(&mut left, problem.users()[n].base_demand(), |r| &problem.total_capacity()[r]);
        if left.is_empty() {
            let user = problem.users()[n].name();
            return Err(Inapplicable::new(format!(
                "no resource is the global dominant resource of every user: that of user `{user}` differs from that \
                of the users before it"
            )));
        }
    }
    usable(problem, left)
}

/// Removes from `left` all resources except those with the largest `demand / capacity`. Removes all if no demanded
/// resource has any capacity.
fn keep_dominant<'p>(left: &mut Vec<usize>, demand: &Quantities, capacity: impl Fn(usize) -> &'p Rational) {
    let real = |r: &usize| demand.has(*r) && !capacity(*r).is_zero();
    let compare = |a: usize, b: usize| {
        Rational::from(&demand[a] * capacity(b)).cmp(&Rational::from(&demand[b] * capacity(a)))
    };
    let demanded = demand.entries().iter().map(|(r, _)| *r);
    let Some(most) = demanded.filter(real).max_by(|&a, &b| compare(a, b)) else {
        left.clear();
        return;
    };
    left.retain(|r| real(r) && compare(*r, most) == Ordering::Equal);
}

/// Removes resources without capacity, which cannot be shared.
fn usable(problem: &Problem, left: Vec<usize>) -> Result<Vec<usize>, Inapplicable> {
    let left: Vec<usize> = left.into_iter().filter(|&r| !problem.total_capacity()[r].is_zero()).collect();
    if left.is_empty() { Err(Inapplicable::new("no server has any of the resource")) } else { Ok(left) }
}

/// A bottleneck axiom: max-min on every bottleneck resource.
pub(crate) struct Bottleneck {
    name: &'static str,
    /// The function that returns the bottleneck resources of the axiom, ascending. There is at least one.
    resources: fn(&Problem) -> Result<Vec<usize>, Inapplicable>,
}

pub(crate) const BOTTLENECK_FAIR: Bottleneck = Bottleneck { name: "bottleneck-fair", resources };
pub(crate) const GLOBAL_BOTTLENECK_FAIR: Bottleneck =
    Bottleneck { name: "global-bottleneck-fair", resources: global_resources };
pub(crate) const SINGLE_RESOURCE_FAIR: Bottleneck =
    Bottleneck { name: "single-resource-fair", resources: single_resource };

impl Bottleneck {
    /// Returns the bottleneck resources of the axiom, ascending. There is at least one.
    pub fn resources(&self, problem: &Problem) -> Result<Vec<usize>, Inapplicable> {
        (self.resources)(problem)
    }

    /// Returns the least margin over the bottleneck resources of the axiom. The evidence has to name exactly these
    /// resources.
    fn worst(
        &self,
        instance: &Instance<'_>,
        stated: &[(usize, Vec<max_min::Level>)],
    ) -> Result<Option<Rational>, Refusal> {
        if !stated.iter().map(|(r, _)| r).eq(&self.resources(instance.problem())?) {
            return Err(Refusal::new("the resources of the evidence are not those that the axiom is about"));
        }
        let mut worst: Option<Rational> = None;
        for (r, levels) in stated {
            let share = Share::Resource(*r).coefficients(instance.problem())?;
            let margin = max_min::margin_of_levels(instance, &share, levels)?;
            worst = match (worst, margin) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        Ok(worst)
    }
}

impl Rule for Bottleneck {
    fn name(&self) -> &'static str {
        self.name
    }

    fn applies_to(&self, _parameters: &Parameters, problem: &Problem) -> Result<(), Inapplicable> {
        self.resources(problem).map(|_| ())
    }

    fn applies(&self, instance: &Instance<'_>) -> Result<(), Inapplicable> {
        instance.can_be_compared()
    }

    fn needs_evidence(&self) -> bool {
        true
    }

    fn judge(
        &self,
        instance: &Instance<'_>,
        _parameters: &Parameters,
        evidence: &Evidence,
    ) -> Result<(bool, Option<Rational>), Refusal> {
        match evidence {
            Evidence::LevelsByResource(stated) => Ok((true, self.worst(instance, stated)?)),
            Evidence::Rise { resource: Some(r), user, allocation } => {
                let problem = instance.problem();
                if !self.resources(problem)?.contains(r) {
                    let name = problem.resources().get(*r).map_or("", String::as_str);
                    return Err(Refusal::new(format!("`{name}` is not a resource that the axiom is about")));
                }
                let share = Share::Resource(*r).coefficients(problem)?;
                Ok((false, Some(max_min::margin_of_rise(instance, &share, *user, allocation)?)))
            }
            _ => Err(wrong_form()),
        }
    }

    fn in_tasks(
        &self,
        instance: &Instance<'_>,
        _parameters: &Parameters,
        evidence: &Evidence,
        margin: &Rational,
    ) -> Option<Rational> {
        let Evidence::Rise { resource: Some(r), .. } = evidence else { return None };
        max_min::rise_in_tasks(instance, Share::Resource(*r), evidence, margin)
    }

    /// Reads `{"resources": {resource: levels}}`, or `{"resource", "user", "allocation"}`.
    fn read<'t>(&self, reader: &Reader<'_, 't>, object: &Object<'t>) -> Result<Evidence, FormatError> {
        if let Some(raw) = object.get("resources") {
            reader.only(object, &["resources"])?;
            let mut resources = Vec::new();
            for (name, raw) in reader.object(raw)?.fields() {
                resources.push((reader.resource(name, raw)?, reader.levels(raw)?));
            }
            resources.sort_by_key(|(r, _)| *r);
            return Ok(Evidence::LevelsByResource(resources));
        }
        let raw = reader.need(object, "resource")?;
        let resource = reader.resource(&reader.document.string(raw)?, raw)?;
        max_min::read_rise(reader, object, Some(resource))
    }

    fn write(&self, names: &Names<'_>, evidence: &Evidence) -> Option<Json> {
        match evidence {
            Evidence::LevelsByResource(stated) => {
                let stated = stated.iter().map(|(r, levels)| (names.resource(*r), names.levels(levels)));
                Some(fields([("resources", Json::Object(stated.collect()))]))
            }
            rise => max_min::write_rise(names, rise),
        }
    }
}
