//! Which resource is everybody's bottleneck: when the three bottleneck axioms apply, and on what.
//!
//! * bottleneck-fair: on every class that an active user can run on, `d_nir / c_ir` is largest for the
//!   same resource (PS-DSF, section II-A, "bottleneck fairness").
//! * global-bottleneck-fair: `d_nr / sum_i k_i c_ir` is largest for the same resource for every active
//!   user (DRFH, section III-C).
//! * single-resource-fair: there is only one resource.
//!
//! Where one applies, the axiom is weighted max-min ([`max_min`](super::max_min) with
//! [`Share::Resource`](crate::Share::Resource)) on every such resource: exact ties make several.

use std::cmp::Ordering;

use evenhand_problem::{Problem, Quantities};
use rug::Rational;

use crate::axiom::Axiom;

/// The resources that `axiom` is about, ascending; at least one.
///
/// # Errors
/// Why the axiom does not apply, in words; also for axioms that are not about a bottleneck.
pub fn of(axiom: Axiom, problem: &Problem) -> Result<Vec<usize>, String> {
    match axiom {
        Axiom::BottleneckFair => resources(problem),
        Axiom::GlobalBottleneckFair => global_resources(problem),
        Axiom::SingleResourceFair => single_resource(problem),
        _ => Err(format!("`{}` is not about a bottleneck", axiom.name())),
    }
}

/// The only resource.
///
/// # Errors
/// That there are several.
fn single_resource(problem: &Problem) -> Result<Vec<usize>, String> {
    match problem.n_resources() {
        1 => divided(problem).and_then(|()| usable(problem, vec![0])),
        several => Err(format!("the problem has {several} resources")),
    }
}

/// A class that is time-shared because of a stated `gamma` has no resource that binds.
fn divided(problem: &Problem) -> Result<(), String> {
    let Some(i) = (0..problem.n_servers()).find(|&i| problem.servers()[i].is_time_shared()) else {
        return Ok(());
    };
    Err(format!("server `{}` is shared by time, not by its resources", problem.servers()[i].name()))
}

fn resources(problem: &Problem) -> Result<Vec<usize>, String> {
    divided(problem)?;
    let mut left: Vec<usize> = (0..problem.n_resources()).collect();
    for n in (0..problem.n_users()).filter(|&n| problem.is_active(n)) {
        for i in problem.classes_of(n) {
            let server = &problem.servers()[i];
            keep_dominant(&mut left, problem.demand(n, i), |r| &server.capacity()[r]);
            if left.is_empty() {
                let user = problem.users()[n].name();
                let server = server.name();
                return Err(format!(
                    "no resource is the bottleneck of every user on every server it can run on: user `{user}` on server `{server}` has another than those before it"
                ));
            }
        }
    }
    usable(problem, left)
}

fn global_resources(problem: &Problem) -> Result<Vec<usize>, String> {
    divided(problem)?;
    let mut left: Vec<usize> = (0..problem.n_resources()).collect();
    for n in (0..problem.n_users()).filter(|&n| problem.is_active(n)) {
        keep_dominant(&mut left, problem.users()[n].base_demand(), |r| &problem.total_capacity()[r]);
        if left.is_empty() {
            let user = problem.users()[n].name();
            return Err(format!(
                "no resource is the global dominant resource of every user: that of user `{user}` is another than of those before it"
            ));
        }
    }
    usable(problem, left)
}

/// Keeps of `left` the resources with the largest `demand / capacity`; none when nothing is
/// demanded that there is.
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

/// A resource of which there is none cannot be shared.
fn usable(problem: &Problem, left: Vec<usize>) -> Result<Vec<usize>, String> {
    let left: Vec<usize> = left.into_iter().filter(|&r| !problem.total_capacity()[r].is_zero()).collect();
    if left.is_empty() { Err("no server has any of the resource".to_owned()) } else { Ok(left) }
}
