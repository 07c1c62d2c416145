//! The shares that mechanisms equalise, `U_n = (1 / w_n) sum_i u_ni x_ni` (theory, section 2), and the
//! resources that the bottleneck axioms are about.

use rug::Rational;

use crate::case::Limits;
use crate::json::Json;
use crate::problem::{Amounts, Problem, at};
use crate::work::{self, Checked};

/// A share of the cluster, as some mechanism measures it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Share {
    /// `drfh`: the largest part of a resource of all servers that a task takes.
    Dominant,
    /// `cdrf`: one over what the user would have alone, where nobody is barred from a class.
    Containerized,
    /// `tsf`: the same as if nobody were barred.
    TaskShare,
    /// `asset`: the parts of all resources, added up.
    Asset,
    /// `generic`: what the problem states.
    Generic,
    /// `resource:NAME`: the part of one resource.
    Resource(usize),
}

impl Share {
    /// The share of that name, which stands at `place`.
    pub fn find(name: &str, problem: &Problem, place: &Json<'_>) -> Checked<Self> {
        Ok(match name {
            "drfh" | "drf" | "c-drfh" => Self::Dominant,
            "cdrf" => Self::Containerized,
            "tsf" => Self::TaskShare,
            "asset" => Self::Asset,
            "generic" => Self::Generic,
            _ => match name.strip_prefix("resource:") {
                Some(resource) => Self::Resource(problem.resources.find(resource, place)?),
                None => return place.wrong(format!("there is no share `{name:.60}`")),
            },
        })
    }

    pub fn name(self, problem: &Problem) -> String {
        match self {
            Self::Dominant => "drfh".to_owned(),
            Self::Containerized => "cdrf".to_owned(),
            Self::TaskShare => "tsf".to_owned(),
            Self::Asset => "asset".to_owned(),
            Self::Generic => "generic".to_owned(),
            Self::Resource(r) => format!("resource:{}", problem.resources.list[r]),
        }
    }
}

/// `u_ni`.
pub struct Coefficients {
    /// By user: the value on all classes, but for those named with a value of their own.
    of: Vec<(Rational, Amounts)>,
}

impl Coefficients {
    /// `None` where the share is not defined for the problem.
    pub fn new(share: Share, limits: &Limits<'_>) -> Checked<Option<Self>> {
        let problem = limits.problem;
        let total = problem.total_capacity();
        let bars = problem.users.iter().any(|user| user.classes.is_some());
        let has_none = |r: usize| total[r].is_zero();
        if (share == Share::Containerized && bars) || matches!(share, Share::Resource(r) if has_none(r)) {
            return Ok(None);
        }
        let mut of = vec![(Rational::new(), Vec::new()); problem.users.len()];
        for n in limits.active() {
            let user = &problem.users[n];
            let parts = user.demand.iter().filter(|(r, _)| !has_none(*r));
            let parts = parts.map(|(r, d)| Rational::from(d / &total[*r]));
            let mut on = Vec::new();
            let base = match share {
                Share::Dominant => parts.max().unwrap_or_default(),
                Share::Asset => parts.sum(),
                Share::Containerized => limits.gamma[n].clone().recip(),
                Share::TaskShare => {
                    work::spend(problem.classes.len() * (user.demand.len() + 1))?;
                    let alone = (0..problem.classes.len()).map(|i| problem.gamma(n, i));
                    work::sum(alone.collect())?.recip()
                }
                Share::Generic => {
                    for i in problem.classes_of(n) {
                        let Some(u) = at(&user.criterion, i) else { return Ok(None) };
                        on.push((i, u.clone()));
                    }
                    Rational::new()
                }
                Share::Resource(r) => {
                    let part = |demand: &Amounts| {
                        at(demand, r).map_or_else(Rational::new, |d| Rational::from(d / &total[r]))
                    };
                    on = user.demand_on.iter().map(|(i, demand)| (*i, part(demand))).collect();
                    part(&user.demand)
                }
            };
            if base.is_zero() && !matches!(share, Share::Generic | Share::Resource(_)) {
                return Ok(None);
            }
            of[n] = (base, on);
        }
        Ok(Some(Self { of }))
    }

    /// `u_ni`; 0 for users who can be given nothing.
    pub fn of(&self, n: usize, i: usize) -> &Rational {
        let (base, on) = &self.of[n];
        at(on, i).unwrap_or(base)
    }

    /// `sum_i u_ni x_ni`.
    pub fn sum(&self, n: usize, tasks: &Amounts) -> Rational {
        tasks.iter().map(|(i, x)| Rational::from(self.of(n, *i) * x)).sum()
    }
}

/// The resources that a bottleneck axiom is about; `None` where it does not apply.
pub fn bottlenecks(axiom: &str, limits: &Limits<'_>) -> Option<Vec<usize>> {
    let problem = limits.problem;
    let total = problem.total_capacity();
    let mut left: Vec<usize> = (0..problem.resources.list.len()).collect();
    let is_timed = problem.classes.iter().any(|class| class.states_time);
    if is_timed || (axiom == "single-resource-fair" && left.len() > 1) {
        return None;
    }
    for n in limits.active() {
        match axiom {
            "bottleneck-fair" => {
                for i in problem.classes_of(n) {
                    let capacity = |r| at(&problem.classes[i].capacity, r).cloned().unwrap_or_default();
                    keep_dominant(&mut left, problem.demand(n, i), capacity);
                }
            }
            "global-bottleneck-fair" => {
                keep_dominant(&mut left, &problem.users[n].demand, |r| total[r].clone());
            }
            _ => {}
        }
    }
    left.retain(|r| !total[*r].is_zero());
    (!left.is_empty()).then_some(left)
}

/// Keeps the resources with the largest `demand / capacity`.
fn keep_dominant(left: &mut Vec<usize>, demand: &Amounts, capacity: impl Fn(usize) -> Rational) {
    let parts: Vec<(usize, Rational)> = demand
        .iter()
        .map(|(r, d)| (*r, d, capacity(*r)))
        .filter(|(_, _, c)| !c.is_zero())
        .map(|(r, d, c)| (r, Rational::from(d / &c)))
        .collect();
    let most = parts.iter().map(|(_, part)| part).max();
    left.retain(|r| most.is_some() && at(&parts, *r) == most);
}
