//! The shares that mechanisms equalise: `U_n = (1/w_n) sum_i u_ni x_ni`.

use evenhand_budget::each;
use evenhand_problem::{Kinds, Problem, Quantities};
use rug::{Integer, Rational};
use thiserror::Error;

use crate::gamma::Gammas;
use crate::instance::Instance;
use crate::quotient::{Quotient, absorb, scaled};
use crate::refusal::{InstanceError, Refusal};
use crate::scaled::check_width;
use crate::sparse::at;

/// A measure of a user's share of the cluster.
///
/// `u_ni` is the value of one task of user `n` on class `i`. It is a pure number (a fraction of the cluster) for all
/// shares except [`Share::Generic`], whose unit the user chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Share {
    /// `drfh`: `u_n = max_r d_nr / sum_i k_i c_ir`, the global dominant share (DRFH, section III; with one server DRF).
    /// The share uses the base demand, and ignores placement constraints and resources without capacity. In a problem
    /// with rates, the share is the throughput of the user divided by its throughput on the equal part, if it uses the
    /// same fraction of each class (docs/theory.md, section 12).
    Dominant,
    /// `drfh-best`, in problems with rates: the throughput of the user divided by its throughput with the best use of
    /// the equal part (docs/theory.md, section 12).
    BestPart,
    /// `finish-time`: `u_n = w_n / (the best use of the fraction e_n of every class)`. The level of a user is its
    /// number of tasks divided by the number of tasks that it would have with its own fraction of the cluster
    /// (docs/theory.md, section 12).
    FinishTime,
    /// `cdrf`: `u_n = 1 / gamma_n` (PS-DSF, section II-B), for problems without placement
    /// constraints.
    Containerized,
    /// `tsf`: `u_n = 1 / sum_i gamma_ni`, where placement constraints are ignored (PS-DSF, section II-B).
    TaskShare,
    /// `asset`: `u_n = sum_r d_nr / sum_i k_i c_ir` (NJC, section 4).
    Asset,
    /// `generic`: the `criterion` that the problem states (Kesidis, equation 3).
    Generic,
    /// `resource:NAME`: `u_ni = d_nir / sum_i k_i c_ir` for one resource `r`. It may be 0.
    Resource(usize),
}

/// The reason why a share does not exist or is not defined.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ShareError {
    /// No share has this name.
    #[error(
        "there is no share `{0}`: expected drfh, drfh-best, finish-time, cdrf, tsf, asset, generic or resource:NAME"
    )]
    Unknown(String),
    /// The problem has no such resource.
    #[error("there is no resource `{0}`")]
    UnknownResource(String),
    /// The share is not defined for this problem, for the given reason.
    #[error("{0}")]
    NotApplicable(String),
}

impl From<ShareError> for Refusal {
    fn from(error: ShareError) -> Self {
        Self::new(error.to_string())
    }
}

impl Share {
    /// Returns the share with this name: `drfh` (also `drf`, `c-drfh`), `drfh-best`, `finish-time`, `cdrf`, `tsf`,
    /// `asset`, `generic`, `resource:NAME`.
    ///
    /// # Errors
    /// Returns [`ShareError`] if there is no such share.
    pub fn parse(name: &str, problem: &Problem) -> Result<Self, ShareError> {
        match name {
            "drfh" | "drf" | "c-drfh" => Ok(Self::Dominant),
            "drfh-best" => Ok(Self::BestPart),
            "finish-time" => Ok(Self::FinishTime),
            "cdrf" => Ok(Self::Containerized),
            "tsf" => Ok(Self::TaskShare),
            "asset" => Ok(Self::Asset),
            "generic" => Ok(Self::Generic),
            _ => {
                let resource =
                    name.strip_prefix("resource:").ok_or_else(|| ShareError::Unknown(name.to_owned()))?;
                let at = problem.resources().iter().position(|r| r == resource);
                at.map(Self::Resource).ok_or_else(|| ShareError::UnknownResource(resource.to_owned()))
            }
        }
    }

    /// Returns the name that [`Share::parse`] reads.
    #[must_use]
    pub fn name(&self, problem: &Problem) -> String {
        match self {
            Self::Dominant => "drfh".to_owned(),
            Self::BestPart => "drfh-best".to_owned(),
            Self::FinishTime => "finish-time".to_owned(),
            Self::Containerized => "cdrf".to_owned(),
            Self::TaskShare => "tsf".to_owned(),
            Self::Asset => "asset".to_owned(),
            Self::Generic => "generic".to_owned(),
            Self::Resource(r) => {
                format!("resource:{}", problem.resources().get(*r).map_or("", String::as_str))
            }
        }
    }

    /// Returns `u_ni` for every active user and every class where it can run.
    ///
    /// # Errors
    /// Returns [`ShareError::NotApplicable`] if the share is not defined for the problem, or is 0 for an active user.
    /// Only [`Share::Resource`] may be 0. A user with this value is left out.
    pub fn coefficients(&self, problem: &Problem) -> Result<ShareCoefficients, ShareError> {
        if *self == Self::Containerized && problem.has_placement_constraints() {
            let why = "cdrf is defined only for problems without placement constraints".to_owned();
            return Err(ShareError::NotApplicable(why));
        }
        self.check_rates(problem)?;
        if let Self::Resource(r) = self {
            match problem.total_capacity().get(*r) {
                None => return Err(ShareError::UnknownResource(format!("number {}", r + 1))),
                Some(total) if total.is_zero() => {
                    let why = format!("no server has any `{}`", problem.resources()[*r]);
                    return Err(ShareError::NotApplicable(why));
                }
                Some(_) => {}
            }
        }
        let of_user: Box<dyn Fn(usize) -> Result<UserShare, ShareError> + '_> = match *self {
            Self::Containerized | Self::TaskShare => {
                let gammas = Gammas::new(problem);
                Box::new(move |n| {
                    let gamma = gammas.total(n, *self == Self::Containerized);
                    Ok(UserShare::uniform(if gamma.is_zero() { gamma } else { gamma.recip() }))
                })
            }
            Self::Generic => Box::new(|n| generic(problem, n)),
            Self::Resource(r) => Box::new(move |n| Ok(of_resource(problem, n, r))),
            Self::FinishTime => {
                let active = (0..problem.n_users()).filter(|n| problem.is_active(*n));
                let all: Rational = active.map(|n| problem.users()[n].weight()).sum();
                let gammas = Gammas::new(problem);
                Box::new(move |n| {
                    let user = &problem.users()[n];
                    if user.at_most().is_none() {
                        // The fraction `e_n` of every class gives this fraction of all tasks, and the weight cancels.
                        return Ok(UserShare::uniform(&all / gammas.total(n, true)));
                    }
                    let part = Rational::from(user.weight() / &all);
                    let classes = problem.classes_of(n).map(|i| (i, problem.gamma(n, i) * &part)).collect();
                    Ok(UserShare::uniform(user.weight() / problem.best_use(n, classes)))
                })
            }
            Self::BestPart | Self::Dominant if problem.has_rates() => {
                let active = (0..problem.n_users()).filter(|n| problem.is_active(*n)).count();
                let part = Rational::from((1, active.max(1) as u64));
                let best = *self == Self::BestPart;
                Box::new(move |n| {
                    // The equal part is the same for all users. A user's number of tasks does not limit its reference.
                    let classes = problem.classes_of(n).map(|i| (i, problem.gamma(n, i) * &part)).collect();
                    let reference =
                        if best { problem.best_use(n, classes) } else { problem.proportional_use(n, &part) };
                    Ok(UserShare::uniform(reference.recip()))
                })
            }
            Self::Dominant | Self::BestPart | Self::Asset => {
                // Many users have the same demand, so each demand is computed once.
                let demand = |n: usize| problem.users()[n].base_demand();
                let kinds = Kinds::new(problem.n_users(), demand);
                let of_kind = |at: usize| self.of_base_demand(problem, demand(kinds.first[at]));
                let shares = each(kinds.first.len(), 1, of_kind);
                Box::new(move |n| Ok(shares[kinds.of[n] as usize].clone()))
            }
        };
        let mut users = Vec::with_capacity(problem.n_users());
        for n in 0..problem.n_users() {
            if !problem.is_active(n) {
                users.push(UserShare::default());
                continue;
            }
            let user = of_user(n)?;
            if user.base.is_zero() && user.on.is_empty() && !matches!(self, Self::Resource(_)) {
                let name = problem.users()[n].name();
                let why = format!(
                    "user `{name}` has no share: its base demand asks for no resource that any server has"
                );
                return Err(ShareError::NotApplicable(why));
            }
            users.push(user);
        }
        Ok(ShareCoefficients { users })
    }

    /// Returns an error if the share is not defined for problems with these rates and limits of accelerators.
    fn check_rates(self, problem: &Problem) -> Result<(), ShareError> {
        let why = match (self, problem.has_rates()) {
            (Self::BestPart, false) => "drfh-best is defined only for problems with rates",
            (Self::Asset, true) => "asset is not defined for problems with rates",
            (Self::Resource(_), true) => "the share of a resource is not defined for problems with rates",
            (Self::Generic, true) if problem.has_at_most() => {
                "generic is not defined for problems with `at_most`"
            }
            _ => return Ok(()),
        };
        Err(ShareError::NotApplicable(why.to_owned()))
    }

    fn of_base_demand(self, problem: &Problem, demand: &Quantities) -> UserShare {
        let total = problem.total_capacity();
        let fractions = demand.entries().iter().filter(|(r, _)| !total[*r].is_zero()).map(|(r, d)| {
            let total = &total[*r];
            Quotient::new(Integer::from(d.numer() * total.denom()), Integer::from(d.denom() * total.numer()))
        });
        UserShare::uniform(match self {
            Self::Asset => fractions.map(|fraction| fraction.to_rational()).sum(),
            _ => fractions.max().map_or_else(Rational::new, |fraction| fraction.to_rational()),
        })
    }
}

fn generic(problem: &Problem, n: usize) -> Result<UserShare, ShareError> {
    let user = &problem.users()[n];
    let mut on = Vec::new();
    for i in problem.classes_of(n) {
        let Some(u) = at(user.criterion(), i) else {
            return Err(ShareError::NotApplicable(format!(
                "user `{}` states no criterion for server `{}`, where it can run",
                user.name(),
                problem.servers()[i].name()
            )));
        };
        on.push((i, u.clone()));
    }
    match on.as_slice() {
        [(_, first), rest @ ..] if rest.iter().all(|(_, u)| u == first) => {
            Ok(UserShare::uniform(first.clone()))
        }
        _ => Ok(UserShare { base: Rational::new(), on }),
    }
}

fn of_resource(problem: &Problem, n: usize, r: usize) -> UserShare {
    let user = &problem.users()[n];
    let share = |demand: &Quantities| Rational::from(&demand[r] / &problem.total_capacity()[r]);
    let runs = |i: &usize| problem.can_run(n, *i);
    let on: Vec<(usize, Rational)> = user
        .demand_overrides()
        .iter()
        .filter(|(i, _)| runs(i))
        .map(|(i, demand)| (*i, share(demand)))
        .collect();
    let elsewhere = problem.classes_of(n).any(|i| at(user.demand_overrides(), i).is_none());
    let base = if elsewhere {
        share(user.base_demand())
    } else {
        on.first().map_or_else(Rational::new, |u| u.1.clone())
    };
    if on.iter().all(|(_, u)| *u == base) {
        return UserShare::uniform(base);
    }
    UserShare { base, on }
}

/// The value of a task of one user on each class.
#[derive(Debug, Clone, PartialEq, Default)]
struct UserShare {
    base: Rational,
    /// The classes with another value, ascending. Empty if the value is the same on all classes.
    on: Vec<(usize, Rational)>,
}

impl UserShare {
    fn uniform(base: Rational) -> Self {
        Self { base, on: Vec::new() }
    }
}

/// The values `u_ni` of a [`Share`]: one number for each user whose value does not depend on the class.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareCoefficients {
    users: Vec<UserShare>,
}

impl ShareCoefficients {
    /// Returns `u_ni`, which has a meaning only for active users on classes where they can run.
    #[must_use]
    pub fn of(&self, n: usize, i: usize) -> &Rational {
        let user = &self.users[n];
        at(&user.on, i).unwrap_or(&user.base)
    }

    /// Returns `u_n`, if `u_ni` is the same on every class where user `n` can run.
    #[must_use]
    pub fn uniform(&self, n: usize) -> Option<&Rational> {
        let user = &self.users[n];
        user.on.is_empty().then_some(&user.base)
    }

    /// Returns `u_ni / w_n`. Without a share, `u_ni` is 1.
    #[must_use]
    pub fn per_weight(problem: &Problem, share: Option<&Self>) -> Self {
        let of_user = |(n, user): (usize, &evenhand_problem::User)| {
            let Some(share) = share else { return UserShare::uniform(user.weight().recip_ref().into()) };
            let UserShare { base, on } = &share.users[n];
            UserShare {
                base: Rational::from(base / user.weight()),
                on: on.iter().map(|(i, u)| (*i, Rational::from(u / user.weight()))).collect(),
            }
        };
        Self { users: problem.users().iter().enumerate().map(of_user).collect() }
    }

    /// Returns `u_ni / w_n` as integers over one denominator.
    pub(crate) fn scaled(&self, instance: &Instance<'_>) -> Result<ScaledShare, InstanceError> {
        let users = instance.problem().users();
        self.scaled_by(|n, u| Rational::from(u / users[n].weight()))
    }

    /// Returns `u_ni` as integers over one denominator.
    pub(crate) fn unweighted(&self) -> Result<ScaledShare, InstanceError> {
        self.scaled_by(|_, u| u.clone())
    }

    fn scaled_by(
        &self,
        weighted: impl Fn(usize, &Rational) -> Rational,
    ) -> Result<ScaledShare, InstanceError> {
        let of_user = |(n, user): (usize, &UserShare)| -> (Rational, Vec<(usize, Rational)>) {
            let on = user.on.iter().map(|(i, u)| (*i, weighted(n, u))).collect();
            (weighted(n, &user.base), on)
        };
        let users: Vec<_> = self.users.iter().enumerate().map(of_user).collect();
        let mut denominator = Integer::from(1);
        let mut entries = 0;
        for u in users.iter().flat_map(|(base, on)| std::iter::once(base).chain(on.iter().map(|(_, u)| u))) {
            absorb(&mut denominator, u.denom());
            entries += 1;
            check_width(&denominator, entries)?;
        }
        let integer = |u: &Rational| scaled(u, &denominator);
        let base = users.iter().map(|(base, _)| integer(base)).collect();
        let on = users.iter().map(|(_, on)| on.iter().map(|(i, u)| (*i, integer(u))).collect()).collect();
        Ok(ScaledShare { base, on, denominator })
    }
}

/// [`ShareCoefficients`] as integers: either `u_ni / w_n` or `u_ni`.
#[derive(Debug)]
pub(crate) struct ScaledShare {
    base: Vec<Integer>,
    on: Vec<Vec<(usize, Integer)>>,
    pub denominator: Integer,
}

impl ScaledShare {
    /// Returns the coefficient, `u_ni / w_n` or `u_ni`, times the denominator.
    pub fn of(&self, n: usize, i: usize) -> &Integer {
        at(&self.on[n], i).unwrap_or(&self.base[n])
    }

    /// Returns `U_n` (or `w_n U_n` for undivided coefficients), times the denominator and the `L` of the instance.
    pub fn level(&self, instance: &Instance<'_>, n: usize) -> Integer {
        if self.on[n].is_empty() {
            return Integer::from(&self.base[n] * &instance.totals[n]);
        }
        instance.tasks[n].iter().map(|(i, x)| Integer::from(self.of(n, *i) * x)).sum()
    }
}
