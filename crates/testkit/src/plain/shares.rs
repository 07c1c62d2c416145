//! The shares `u_ni`, the conditions under which an axiom applies, and the resources that it is about.

use evenhand_exact::{Axiom, Claim, Share};
use evenhand_problem::{Rational, Sharing};

use super::cluster::{best_use, proportional_use};
use super::{Matrix, Plain, zero};

impl Plain<'_> {
    /// Returns `u_ni` by user and class, for classes on which the user can run. Returns `None` if the share
    /// is not defined.
    pub fn coefficients(&self, share: Share) -> Option<Matrix> {
        let (p, k) = (self.p(), self.p().n_servers());
        let total = |r: usize| -> Rational {
            p.servers().iter().map(|s| &s.capacity()[r] * Rational::from(s.count())).sum()
        };
        if let Share::Resource(r) = share {
            (r < p.n_resources() && total(r) > 0).then_some(())?;
        }
        if share == Share::Containerized {
            let barred = |n: usize| p.users()[n].servers().is_some_and(|servers| servers.len() < k);
            (!self.users().any(barred)).then_some(())?;
        }
        let (rates, limited) = (p.has_rates(), p.has_at_most());
        let is_defined = match share {
            Share::BestPart => rates,
            Share::Asset | Share::Resource(_) => !rates,
            Share::Generic => !limited,
            _ => true,
        };
        is_defined.then_some(())?;
        let equal = Rational::from((1, self.active().len().max(1) as u64));
        let mut all = vec![vec![zero(); k]; p.n_users()];
        for n in self.active() {
            let user = &p.users()[n];
            let base = (0..p.n_resources()).filter(|&r| total(r) > 0);
            let base = base.map(|r| &user.base_demand()[r] / total(r));
            let part: Vec<Rational> =
                self.cluster.gamma[n].iter().map(|gamma| Rational::from(gamma * &equal)).collect();
            let one = match share {
                Share::Dominant if rates => proportional_use(p, n, &part).recip(),
                Share::BestPart => best_use(p, n, &part).recip(),
                Share::FinishTime => {
                    let own = |gamma: &Rational| self.entitled(n) * gamma;
                    let own: Vec<Rational> = self.cluster.gamma[n].iter().map(own).collect();
                    user.weight() / best_use(p, n, &own)
                }
                Share::Dominant => base.max().unwrap_or_default(),
                Share::Asset => base.sum(),
                Share::Containerized => self.cluster.gamma[n].iter().sum::<Rational>().recip(),
                Share::TaskShare => self.cluster.free_gamma[n].iter().sum::<Rational>().recip(),
                _ => zero(),
            };
            for i in self.cluster.classes(n) {
                all[n][i] = match share {
                    Share::Generic => {
                        let stated = user.criterion().iter().find(|(class, _)| *class == i);
                        stated.map(|(_, u)| u.clone())?
                    }
                    Share::Resource(r) => &user.demand_on(i)[r] / total(r),
                    _ => one.clone(),
                };
            }
            let something = all[n].iter().any(|u| *u > 0);
            (something || matches!(share, Share::Resource(_))).then_some(())?;
        }
        Some(all)
    }

    /// Returns `U_n` for the tasks `x`.
    pub fn level(&self, u: &Matrix, x: &Matrix, n: usize) -> Rational {
        let sum: Rational = u[n].iter().zip(&x[n]).map(|(u, x)| Rational::from(u * x)).sum();
        sum / self.p().users()[n].weight()
    }

    /// Returns the largest `U_n` that user `n` can have alone.
    pub fn ceiling(&self, u: &Matrix, n: usize) -> Rational {
        if !self.cluster.active[n] {
            return zero();
        }
        if self.p().users()[n].at_most().is_some() {
            // Users that limit their accelerators have a share that does not depend on the class.
            let most = u[n].iter().max().cloned().unwrap_or_default();
            return most * &self.cluster.g[n] / self.p().users()[n].weight();
        }
        let mut classes = self.cluster.classes(n);
        classes.sort_by(|&a, &b| u[n][b].cmp(&u[n][a]));
        let mut left = self.p().users()[n].tasks().cloned();
        let mut sum = zero();
        for i in classes {
            let fit = self.cluster.gamma[n][i].clone();
            let x = left.clone().map_or(fit.clone(), |left| left.min(fit));
            left = left.map(|left| left - &x);
            sum += x * &u[n][i];
        }
        sum / self.p().users()[n].weight()
    }

    /// Returns the resources that a bottleneck axiom is about. The list is empty if the axiom does not apply.
    pub fn bottlenecks(&self, axiom: Axiom) -> Vec<usize> {
        let p = self.p();
        if p.servers().iter().any(evenhand_problem::ServerClass::is_time_shared) {
            return Vec::new();
        }
        let total = |r: usize| -> Rational {
            p.servers().iter().map(|s| &s.capacity()[r] * Rational::from(s.count())).sum()
        };
        // Returns whether the demand of `r` is the largest fraction of the amounts in `there`.
        let is_largest = |r: usize, demand: &dyn Fn(usize) -> Rational, there: &dyn Fn(usize) -> Rational| {
            let part = |r: usize| if there(r) > 0 { demand(r) / there(r) } else { zero() };
            part(r) > 0 && (0..p.n_resources()).all(|other| part(other) <= part(r))
        };
        let qualifies = |r: usize| match axiom {
            Axiom::SingleResourceFair => p.n_resources() == 1,
            Axiom::BottleneckFair => self.active().into_iter().all(|n| {
                self.cluster.classes(n).into_iter().all(|i| {
                    let demand = |r: usize| p.users()[n].demand_on(i)[r].clone();
                    is_largest(r, &demand, &|r| p.servers()[i].capacity()[r].clone())
                })
            }),
            _ => self
                .active()
                .into_iter()
                .all(|n| is_largest(r, &|r| p.users()[n].base_demand()[r].clone(), &total)),
        };
        (0..p.n_resources()).filter(|&r| total(r) > 0 && qualifies(r)).collect()
    }

    /// Returns `true` if the axiom of a claim applies.
    pub fn applies(&self, claim: &Claim) -> bool {
        self.knows_rates(claim.axiom) && self.can_compare(claim.axiom) && self.is_about(claim)
    }

    /// Returns `true` if an axiom is defined for the rates of users and for limits of their accelerators.
    fn knows_rates(&self, axiom: Axiom) -> bool {
        let of_base_demand = ["bottleneck-fair", "global-bottleneck-fair", "single-resource-fair"];
        let of_groups = ["limits", "guarantees", "group-sharing-incentive", "group-envy-free", "tree"];
        let limited = [
            "feasible",
            "non-wasteful",
            "pareto-optimal",
            "sharing-incentive",
            "max-min",
            "optimal-equal",
            "proportional",
        ];
        let name = axiom.name();
        let without_rates = of_base_demand.contains(&name) || of_groups.contains(&name);
        !(without_rates && self.p().has_rates()) && (limited.contains(&name) || !self.p().has_at_most())
    }

    fn is_about(&self, claim: &Claim) -> bool {
        match (claim.axiom, claim.share) {
            (Axiom::MaxMin | Axiom::MaxMinPackings, None) => false,
            (Axiom::MaxMinPackings, Some(share)) => {
                let is_timed = self.cluster.rows.iter().any(|(_, resource)| resource.is_none());
                let has_groups = !self.p().groups().list().is_empty();
                !is_timed && !has_groups && self.coefficients(share).is_some()
            }
            (Axiom::OptimalEnvyFree, _) => {
                self.p().groups().list().is_empty()
                    && self.p().users().iter().all(|user| user.tasks().is_none())
            }
            (Axiom::OptimalEqual, _) => self.p().groups().list().is_empty(),
            (Axiom::MaxMin | Axiom::Proportional, Some(share)) => self.coefficients(share).is_some(),
            (Axiom::BottleneckFair | Axiom::GlobalBottleneckFair | Axiom::SingleResourceFair, _) => {
                !self.bottlenecks(claim.axiom).is_empty()
            }
            (Axiom::IntegerFeasible, _) => self.singles().is_some(),
            (Axiom::Ef1 | Axiom::IntegerParetoOptimal, _) => self.is_whole(),
            (Axiom::WorkConserving, _) => self.has_groups(claim.axiom),
            (axiom, _) if axiom.is_about_groups() => self.has_groups(axiom),
            _ => true,
        }
    }

    pub fn sharing(&self) -> Sharing {
        self.cluster.sharing
    }
}
