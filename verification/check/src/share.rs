//! The shares that mechanisms equalise, `U_n = (1 / w_n) sum_i u_ni x_ni` (docs/theory.md, section 2). This module also
//! determines the resources of the bottleneck axioms.

use rug::Rational;

use crate::case::Case;
use crate::json::Json;
use crate::names::{Amounts, at};
use crate::problem::Problem;
use crate::work::{self, Checked};

/// A measure of a user's share of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// The dominant share: the largest fraction of a resource of all servers that a task takes. In a problem with
    /// rates: the throughput, relative to the throughput on an equal fraction of every class, if the user uses all
    /// classes in proportion.
    Dominant,
    /// Only in a problem with rates: the throughput, relative to the best use of an equal fraction of every class.
    BestPart,
    /// The tasks, relative to the tasks that the user could run on its own fraction of every class, used as well as
    /// possible. The fraction depends on the weight.
    FinishTime,
    /// The reciprocal of the tasks that the user would have alone. Undefined if a user is restricted to some classes.
    Containerized,
    /// The reciprocal of the tasks that the user would have alone if it were not restricted to some classes.
    Unbarred,
    /// The sum of the fractions of all resources that a task takes.
    Asset,
    /// The coefficients that the problem states (field `criterion`).
    Generic,
    /// The fraction of one resource that a task takes: `resource:NAME`.
    Resource(usize),
}

/// The names of the shares. The first name of a share is used for writing.
const NAMES: [(&str, Share); 9] = [
    ("drfh", Share::Dominant),
    ("drf", Share::Dominant),
    ("c-drfh", Share::Dominant),
    ("drfh-best", Share::BestPart),
    ("finish-time", Share::FinishTime),
    ("cdrf", Share::Containerized),
    ("tsf", Share::Unbarred),
    ("asset", Share::Asset),
    ("generic", Share::Generic),
];

impl Share {
    pub fn read(raw: &Json<'_>, problem: &Problem) -> Checked<Self> {
        let name = raw.text()?;
        match (NAMES.iter().find(|(known, _)| *known == name), name.strip_prefix("resource:")) {
            (Some((_, share)), _) => Ok(*share),
            (None, Some(resource)) => Ok(Self::Resource(problem.resources.find(resource, raw)?)),
            (None, None) => raw.wrong(format!("there is no share `{name:.60}`")),
        }
    }

    pub fn name(self, problem: &Problem) -> String {
        match (self, NAMES.iter().find(|(_, share)| *share == self)) {
            (Self::Resource(r), _) => format!("resource:{}", problem.resources.list[r]),
            (_, known) => known.map_or("", |(name, _)| name).to_owned(),
        }
    }
}

/// The coefficients `u_ni`. Each user has a value for most classes, and a list of the classes with another value.
pub struct Coefficients(pub Vec<(Rational, Amounts)>);

impl Coefficients {
    /// Computes the coefficients. Returns `None` if the share is not defined for the problem.
    pub fn new(share: Share, case: &Case<'_>) -> Checked<Option<Self>> {
        let (problem, total) = (case.problem, case.problem.total_capacity());
        let is_undefined = match share {
            Share::Containerized => problem.users.iter().any(|user| user.classes.is_some()),
            Share::Resource(r) => at(&total, r).is_none() || problem.has_rates(),
            Share::Asset => problem.has_rates(),
            Share::BestPart => !problem.has_rates(),
            // Only without limits of accelerators is there a simple formula for the largest share that a user has
            // alone.
            Share::Generic => problem.has_at_most(),
            _ => false,
        };
        if is_undefined {
            return Ok(None);
        }
        let has_rates = problem.has_rates();
        let equal = Rational::from((1, case.active().count().max(1) as u64));
        let part = |(r, d): &(usize, Rational)| Some(Rational::from(d / at(&total, *r)?));
        let of_user = |n: usize| {
            let user = &problem.users[n];
            let parts = user.demand.iter().filter_map(part);
            let base = match share {
                Share::Dominant | Share::BestPart if has_rates => {
                    work::spend(4 * problem.classes.len())?;
                    let best = || problem.best_use(n, &equal);
                    let used = if share == Share::BestPart { best() } else { in_proportion(case, n, &equal) };
                    Some(used.recip())
                }
                Share::BestPart => None,
                Share::FinishTime => {
                    work::spend(4 * problem.classes.len())?;
                    let own = problem.best_use(n, &Rational::from(&user.weight / &case.weight));
                    Some(&user.weight / own)
                }
                Share::Dominant => parts.max(),
                Share::Asset => Some(parts.sum()),
                Share::Containerized => Some(case.gamma[n].clone().recip()),
                Share::Unbarred => {
                    work::spend(problem.classes.len() * (user.demand.len() + 1))?;
                    let alone = (0..problem.classes.len()).map(|i| problem.gamma(n, i));
                    Some(work::sum(alone.collect())?.recip())
                }
                Share::Generic => {
                    let of_class = |i| Some((i, at(&user.criterion, i)?.clone()));
                    let stated: Option<Amounts> = problem.classes_of(n).map(of_class).collect();
                    return Ok(stated.map(|stated| (Rational::new(), stated)));
                }
                Share::Resource(r) => {
                    let one = |demand: &Amounts| part(&(r, at(demand, r).cloned().unwrap_or_default()));
                    let on = user.demand_on.iter().map(|(i, demand)| Some((*i, one(demand)?)));
                    return Ok(one(&user.demand).zip(on.collect()));
                }
            };
            Ok(base.filter(|base| !base.is_zero()).map(|base| (base, Vec::new())))
        };
        let nothing = |_| Ok(Some((Rational::new(), Vec::new())));
        let all = (0..case.x.len()).map(|n| if case.is_active(n) { of_user(n) } else { nothing(n) });
        Ok(all.collect::<Checked<Vec<_>>>()?.into_iter().collect::<Option<_>>().map(Self))
    }

    /// Returns `u_ni`, which is 0 for users that cannot run any task.
    pub fn of(&self, n: usize, i: usize) -> &Rational {
        at(&self.0[n].1, i).unwrap_or(&self.0[n].0)
    }

    /// Returns `sum_i u_ni x_ni`.
    pub fn sum(&self, n: usize, tasks: &Amounts) -> Checked<Rational> {
        work::sum(tasks.iter().map(|(i, x)| work::times(self.of(n, *i), x)).collect::<Checked<_>>()?)
    }
}

/// Returns the number of tasks of a user on a fraction `part` of every class. The user uses all classes in proportion,
/// and at most `at_most` accelerators.
fn in_proportion(case: &Case<'_>, n: usize, part: &Rational) -> Rational {
    let (problem, user) = (case.problem, &case.problem.users[n]);
    let all: Amounts = problem.classes_of(n).map(|i| (i, problem.gamma(n, i) * part)).collect();
    let (sum, used) = (all.iter().map(|(_, x)| x).sum::<Rational>(), user.accelerators(&all));
    match &user.at_most {
        Some(at_most) if used > *at_most => sum * at_most / used,
        _ => sum,
    }
}

/// Returns the bottleneck resources of an axiom. The list is empty if the axiom does not apply.
pub fn bottlenecks(axiom: &str, case: &Case<'_>) -> Vec<usize> {
    let (problem, total) = (case.problem, case.problem.total_capacity());
    let is_timed = problem.classes.iter().any(|class| class.states_time);
    if is_timed || (axiom == "single-resource-fair" && problem.resources.list.len() > 1) {
        return Vec::new();
    }
    let mut left: Vec<usize> = total.iter().map(|(r, _)| *r).collect();
    // Keeps the resources with the largest ratio of demand to capacity.
    let mut keep_dominant = |demand: &Amounts, capacity: &Amounts| {
        let part = |(r, d): &(usize, Rational)| Some((*r, Rational::from(d / at(capacity, *r)?)));
        let parts: Amounts = demand.iter().filter_map(part).collect();
        let most = parts.iter().map(|(_, part)| part).max();
        left.retain(|r| most.is_some() && at(&parts, *r) == most);
    };
    for n in case.active() {
        match axiom {
            "bottleneck-fair" => problem
                .classes_of(n)
                .for_each(|i| keep_dominant(problem.demand(n, i), &problem.classes[i].capacity)),
            "global-bottleneck-fair" => keep_dominant(&problem.users[n].demand, &total),
            _ => {}
        }
    }
    left
}
