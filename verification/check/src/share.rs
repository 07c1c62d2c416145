//! The shares that mechanisms equalise, `U_n = (1 / w_n) sum_i u_ni x_ni` (theory, section 2), and the
//! resources that the bottleneck axioms are about.

use rug::Rational;

use crate::case::Case;
use crate::json::Json;
use crate::names::{Amounts, at};
use crate::problem::Problem;
use crate::work::{self, Checked};

/// A share of the cluster, as some mechanism measures it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// The largest part of a resource of all servers that a task takes.
    Dominant,
    /// One over what the user would have alone, where nobody is barred from a class.
    Containerized,
    /// The same as if nobody were barred.
    Unbarred,
    /// The parts of all resources, added up.
    Asset,
    /// What the problem states.
    Generic,
    /// The part of one resource: `resource:NAME`.
    Resource(usize),
}

/// Names of shares; the first is how each is called.
const NAMES: [(&str, Share); 7] = [
    ("drfh", Share::Dominant),
    ("drf", Share::Dominant),
    ("c-drfh", Share::Dominant),
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

/// `u_ni`, by user: the value on all classes, but for those named with a value of their own.
pub struct Coefficients(pub Vec<(Rational, Amounts)>);

impl Coefficients {
    /// `None` where the share is not defined for the problem.
    pub fn new(share: Share, case: &Case<'_>) -> Checked<Option<Self>> {
        let (problem, total) = (case.problem, case.problem.total_capacity());
        let is_undefined = match share {
            Share::Containerized => problem.users.iter().any(|user| user.classes.is_some()),
            Share::Resource(r) => at(&total, r).is_none(),
            _ => false,
        };
        if is_undefined {
            return Ok(None);
        }
        let part = |(r, d): &(usize, Rational)| Some(Rational::from(d / at(&total, *r)?));
        let of_user = |n: usize| {
            let user = &problem.users[n];
            let parts = user.demand.iter().filter_map(part);
            let base = match share {
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

    /// `u_ni`; 0 for users who can be given nothing.
    pub fn of(&self, n: usize, i: usize) -> &Rational {
        at(&self.0[n].1, i).unwrap_or(&self.0[n].0)
    }

    /// `sum_i u_ni x_ni`.
    pub fn sum(&self, n: usize, tasks: &Amounts) -> Checked<Rational> {
        work::sum(tasks.iter().map(|(i, x)| work::times(self.of(n, *i), x)).collect::<Checked<_>>()?)
    }
}

/// The resources that a bottleneck axiom is about; none where it does not apply.
pub fn bottlenecks(axiom: &str, case: &Case<'_>) -> Vec<usize> {
    let (problem, total) = (case.problem, case.problem.total_capacity());
    let is_timed = problem.classes.iter().any(|class| class.states_time);
    if is_timed || (axiom == "single-resource-fair" && problem.resources.list.len() > 1) {
        return Vec::new();
    }
    let mut left: Vec<usize> = total.iter().map(|(r, _)| *r).collect();
    // Keeps the resources with the largest `demand / capacity`.
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
