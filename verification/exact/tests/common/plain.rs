//! The checker once more, as plainly as the definitions read: dense rational loops, no common
//! denominators, nothing shared with the crate but its types.
#![allow(dead_code, missing_docs)]

use evenhand_exact::axiom::bottleneck;
use evenhand_exact::axiom::feasible::Limit;
use evenhand_exact::axiom::integer_feasible::SingleLimit;
use evenhand_exact::axiom::njc::Witness;
use evenhand_exact::axiom::ps_dsf::{Reason, Standing, Unblocked};
use evenhand_exact::{Axiom, Certificate, Claim, Evidence, Prices, Share, ShareCoefficients, Tasks};
use evenhand_problem::{Constraints, Placement, Problem, Rational, Sharing};
use rug::Integer;
use rug::ops::Pow;

pub struct Plain<'a> {
    pub placements: Option<Vec<Placement>>,
    p: &'a Problem,
    c: Constraints<'a>,
    x: Vec<Vec<Rational>>,
    misplaced: Vec<(usize, usize, Rational)>,
}

fn zero() -> Rational {
    Rational::new()
}

impl<'a> Plain<'a> {
    pub fn new(p: &'a Problem, sharing: Sharing, tasks: &Tasks) -> Self {
        let mut x = vec![vec![zero(); p.n_servers()]; p.n_users()];
        let mut misplaced = Vec::new();
        for (n, on) in tasks.iter().enumerate() {
            for (i, value) in on.iter().filter(|(_, value)| !value.is_zero()) {
                if p.can_run(n, *i) {
                    x[n][*i] = value.clone();
                } else {
                    misplaced.push((n, *i, value.clone()));
                }
            }
        }
        Self { placements: None, p, c: Constraints::new(p, sharing), x, misplaced }
    }

    fn total(&self, n: usize) -> Rational {
        self.x[n].iter().sum()
    }

    fn users(&self) -> std::ops::Range<usize> {
        0..self.p.n_users()
    }

    fn used(&self, row: usize) -> Rational {
        let i = self.c.rows()[row].server;
        let k = row - self.c.class_rows(i).start;
        self.users().filter_map(|n| Some(Rational::from(&self.c.usage(n, i)?[k] * &self.x[n][i]))).sum()
    }

    /// Limit, slack and margin of everything that limits.
    fn limits(&self) -> Vec<(Limit, Rational, Rational)> {
        let mut all = Vec::new();
        let mut push = |limit, slack: Rational, capacity: &Rational| {
            if !capacity.is_zero() {
                all.push((limit, slack.clone(), slack / capacity));
            } else if !slack.is_zero() {
                all.push((limit, slack.clone(), slack));
            }
        };
        for (row, at) in self.c.rows().iter().enumerate() {
            push(Limit::Row(row), &at.capacity - self.used(row), &at.capacity);
        }
        for n in self.users() {
            if let Some(tasks) = self.p.users()[n].tasks() {
                push(Limit::Tasks(n), tasks - self.total(n), tasks);
            }
            for i in 0..self.p.n_servers() {
                if self.x[n][i] < 0 {
                    push(Limit::Entry(n, i), self.x[n][i].clone(), &Rational::from(1));
                }
            }
        }
        for (n, i, x) in &self.misplaced {
            push(Limit::Entry(*n, *i), -x.clone().abs(), &Rational::from(1));
        }
        all
    }

    fn is_feasible(&self) -> bool {
        self.limits().iter().all(|(_, slack, _)| *slack >= 0)
    }

    fn envy(&self, n: usize, m: usize) -> Option<Rational> {
        if n == m || !self.p.is_active(n) {
            return None;
        }
        let mut value = zero();
        for i in (0..self.p.n_servers()).filter(|&i| self.p.can_run(n, i) && self.x[m][i] > 0) {
            let (own, theirs) = (self.c.usage(n, i)?, self.c.usage(m, i)?);
            let parts = own.iter().zip(theirs.iter()).filter(|(d, _)| !d.is_zero());
            value += parts.map(|(d, e)| Rational::from(&self.x[m][i] * e) / d).min()?;
        }
        value = value * self.p.users()[n].weight() / self.p.users()[m].weight();
        Some(self.total(n) - self.p.users()[n].tasks().map_or(value.clone(), |t| t.clone().min(value)))
    }

    /// `(class, index, (user, tasks))` of every server with tasks; `None` where nobody says which.
    fn singles(&self) -> Option<Vec<Placement>> {
        if self.placements.is_some() {
            return self.placements.clone();
        }
        let on = |server: usize| {
            let held = self.users().map(|n| (n, self.x[n][server].clone()));
            let misplaced = self.misplaced.iter().filter(|(_, i, _)| *i == server);
            let all = held.chain(misplaced.map(|(n, _, x)| (*n, x.clone()))).filter(|(_, x)| !x.is_zero());
            Placement { server, index: 0, tasks: all.collect() }
        };
        let used = (0..self.p.n_servers()).map(on).filter(|single| !single.tasks.is_empty());
        let used: Vec<Placement> = used.collect();
        used.iter().all(|single| self.p.servers()[single.server].count() == 1).then_some(used)
    }

    pub fn single_limits(&self) -> Option<Vec<(SingleLimit, Rational, Rational)>> {
        let mut all = Vec::new();
        for Placement { server, index, tasks } in self.singles()? {
            let count = Rational::from(self.p.servers()[server].count());
            let mut rows = self.c.class_rows(server);
            rows.start += if tasks.iter().all(|(_, x)| x.is_zero()) { rows.len() } else { 0 };
            for row in rows {
                let k = row - self.c.class_rows(server).start;
                let used: Rational =
                    tasks.iter().filter_map(|(n, x)| Some(&self.c.usage(*n, server)?[k] * x.clone())).sum();
                let capacity = &self.c.rows()[row].capacity / count.clone();
                let slack = &capacity - used;
                let limit = SingleLimit::Row { row, index };
                if !capacity.is_zero() {
                    all.push((limit, slack.clone(), slack / capacity));
                } else if !slack.is_zero() {
                    all.push((limit, slack.clone(), slack));
                }
            }
            for (user, x) in tasks {
                let down = &x - x.clone().floor();
                let up = x.clone().ceil() - &x;
                let wrong = if x < 0 || !self.p.can_run(user, server) { x.abs() } else { down.min(up) };
                if !wrong.is_zero() {
                    all.push((SingleLimit::Entry { user, server, index }, -wrong.clone(), -wrong));
                }
            }
        }
        let of_users = self.limits().into_iter().filter_map(|(limit, slack, margin)| match limit {
            Limit::Tasks(n) => Some((SingleLimit::Tasks(n), slack, margin)),
            _ => None,
        });
        all.extend(of_users);
        Some(all)
    }

    pub fn is_whole(&self) -> bool {
        let placed = self.placements.iter().flatten().flat_map(|p| &p.tasks).all(|(_, x)| x.is_integer());
        placed && self.x.iter().flatten().all(Rational::is_integer)
    }

    /// The classes of `m` from which a task could be taken that is worth something to user `n`.
    fn removable(&self, n: usize, m: usize) -> Vec<usize> {
        let worth = |i: &usize| self.per_task_of(n, m, *i).is_some_and(|worth| worth > 0);
        (0..self.p.n_servers()).filter(worth).collect()
    }

    /// Tasks of user `n` for one of `m` on class `i`, where `m` has some.
    fn per_task_of(&self, n: usize, m: usize, i: usize) -> Option<Rational> {
        let (own, theirs) = (self.c.usage(n, i)?, self.c.usage(m, i)?);
        let parts = own.iter().zip(theirs.iter()).filter(|(d, _)| !d.is_zero());
        (self.x[m][i] > 0).then(|| parts.map(|(d, e)| Rational::from(e / d)).min())?
    }

    /// The margin of a pair without one task on a class.
    fn envy_without(&self, n: usize, m: usize, class: Option<usize>) -> Option<Rational> {
        let mut other = Plain {
            p: self.p,
            c: self.c.clone(),
            x: self.x.clone(),
            misplaced: Vec::new(),
            placements: None,
        };
        if let Some(i) = class {
            other.x[m][i] -= 1;
        }
        other.envy(n, m)
    }

    pub fn envy_up_to_one(&self, n: usize, m: usize) -> Option<Rational> {
        let classes = self.removable(n, m).into_iter().map(Some).chain([None]);
        classes.filter_map(|class| self.envy_without(n, m, class)).max()
    }

    fn entitlement(&self, n: usize) -> Option<Rational> {
        let active = self.users().filter(|&n| self.p.is_active(n));
        let weights: Rational = active.map(|n| self.p.users()[n].weight()).sum();
        let user = &self.p.users()[n];
        let due = self.p.is_active(n).then(|| self.p.total_gamma(n) * user.weight() / weights)?;
        Some(self.total(n) - user.tasks().map_or(due.clone(), |t| t.clone().min(due)))
    }

    /// `eps`, for coefficients `a(n, i)`.
    fn gap(&self, prices: &Prices, a: &dyn Fn(usize, usize) -> Rational) -> Option<Rational> {
        self.gap_between(prices, a, a)
    }

    /// The same when `a` is only known to be between `low` and `high`.
    fn gap_between(
        &self,
        prices: &Prices,
        low: &dyn Fn(usize, usize) -> Rational,
        high: &dyn Fn(usize, usize) -> Rational,
    ) -> Option<Rational> {
        let all = prices.user_weights.iter().chain(&prices.rows).chain(&prices.users);
        if all.into_iter().any(|value| *value < 0) {
            return None;
        }
        let mut gap = zero();
        for (row, at) in self.c.rows().iter().enumerate() {
            gap += (&at.capacity - self.used(row)).abs() * &prices.rows[row];
        }
        for n in self.users() {
            match self.p.users()[n].tasks() {
                Some(tasks) => gap += (tasks - self.total(n)).abs() * &prices.users[n],
                None if !prices.users[n].is_zero() => return None,
                None => {}
            }
            for i in 0..self.p.n_servers() {
                let Some(usage) = self.c.usage(n, i) else { continue };
                let rows = self.c.class_rows(i).zip(usage.iter());
                let cost: Rational = rows.map(|(row, d)| Rational::from(&prices.rows[row] * d)).sum();
                let cost = cost + &prices.users[n];
                if cost < high(n, i) {
                    return None;
                }
                gap += (cost - low(n, i)) * Rational::from(self.x[n][i].abs_ref());
            }
        }
        Some(gap)
    }

    fn share_of(&self, share: &ShareCoefficients, n: usize) -> Rational {
        let all = (0..self.p.n_servers()).map(|i| Rational::from(share.of(n, i) * &self.x[n][i]));
        all.sum::<Rational>() / self.p.users()[n].weight()
    }

    /// How much in tasks a witness speaks for user `n`.
    fn witness(&self, n: usize, witness: Witness) -> Option<Rational> {
        let row = match witness {
            Witness::Satisfied => return Some(self.total(n) - self.p.users()[n].tasks()?),
            Witness::Row(row) => row,
        };
        let at = self.c.rows().get(row)?;
        let usage = self.c.usage(n, at.server)?[row - self.c.class_rows(at.server).start].clone();
        if usage.is_zero() || at.capacity.is_zero() {
            return None;
        }
        let due = self.entitled(n) * &at.capacity / &usage;
        let slack = (&at.capacity - self.used(row)).abs() / usage;
        let held = &self.x[n][at.server] - due;
        Some(if slack.is_zero() { held } else { held.min(-slack) })
    }

    fn entitled(&self, n: usize) -> Rational {
        let active = self.users().filter(|&n| self.p.is_active(n));
        let weights: Rational = active.map(|n| self.p.users()[n].weight()).sum();
        self.p.users()[n].weight() / weights
    }

    /// The best that speaks for user `n`.
    fn complaint(&self, n: usize) -> Option<Rational> {
        let rows = (0..self.c.rows().len()).map(Witness::Row);
        let all = std::iter::once(Witness::Satisfied).chain(rows).filter_map(|w| self.witness(n, w));
        self.p.is_active(n).then(|| all.max())?
    }

    /// `(row, share)` of the saturated rows that user `n` could use.
    fn saturated(&self, n: usize) -> Vec<(usize, Rational)> {
        let rows = self.c.rows().iter().enumerate();
        rows.filter_map(|(row, at)| {
            self.witness(n, Witness::Row(row))?;
            let usage = self.c.usage(n, at.server)?[row - self.c.class_rows(at.server).start].clone();
            let share = usage * &self.x[n][at.server] / &at.capacity;
            (self.used(row) == at.capacity).then_some((row, share))
        })
        .collect()
    }

    /// `x_n / (w_n gamma_ni)` where user `n` can run.
    fn virtual_share(&self, n: usize, i: usize) -> Option<Rational> {
        let runs = n < self.p.n_users() && self.p.can_run(n, i);
        runs.then(|| self.total(n) / (self.p.gamma(n, i) * self.p.users()[n].weight()))
    }

    /// What user `n` uses of a row for one task, where it can run and uses it.
    fn per_task(&self, n: usize, row: usize) -> Option<Rational> {
        let at = self.c.rows().get(row)?;
        let usage = self.c.usage(n, at.server)?[row - self.c.class_rows(at.server).start].clone();
        (usage > 0).then_some(usage)
    }

    /// How far holder `m` of a row is ahead of user `n` there, in tasks of `n`; no more than it holds.
    fn ahead(&self, n: usize, m: usize, row: usize) -> Option<Rational> {
        let i = self.c.rows()[row].server;
        let (own, theirs) = (self.per_task(n, row)?, self.per_task(m, row)?);
        if self.x[m][i] <= 0 {
            return None;
        }
        let between = self.virtual_share(m, i)? - self.virtual_share(n, i)?;
        let tasks = between * self.p.gamma(n, i) * self.p.users()[n].weight();
        Some(tasks.min(theirs * &self.x[m][i] / own))
    }

    /// How good a bottleneck of user `n` a row is, in tasks.
    fn bottleneck(&self, n: usize, row: usize) -> Option<Rational> {
        let own = self.per_task(n, row)?;
        let slack = (&self.c.rows()[row].capacity - self.used(row)).abs() / own;
        let ahead = self.users().filter_map(|m| self.ahead(n, m, row)).max().map(|ahead| -ahead);
        let slack = (!slack.is_zero()).then(|| -slack);
        Some(match (slack, ahead) {
            (Some(slack), Some(ahead)) => slack.min(ahead),
            (slack, ahead) => slack.or(ahead).unwrap(),
        })
    }

    /// The best that user `n` has in place of more on class `i`.
    pub fn ps_dsf(&self, n: usize, i: usize) -> Option<Rational> {
        let rows = self.c.class_rows(i).filter_map(|row| self.bottleneck(n, row));
        let satisfied = self.witness(n, Witness::Satisfied);
        (self.p.is_active(n) && self.p.can_run(n, i)).then(|| rows.chain(satisfied).max())?
    }

    pub fn ps_dsf_margin(&self) -> Option<Rational> {
        let classes = 0..self.p.n_servers();
        self.users().flat_map(|n| classes.clone().filter_map(move |i| self.ps_dsf(n, i))).min()
    }

    fn is_unblocked(&self, stated: &Unblocked, tolerance: &Rational) -> bool {
        let (n, i) = (stated.user, stated.server);
        let needed: Vec<usize> =
            self.c.class_rows(i).filter(|&row| self.per_task(n, row).is_some()).collect();
        needed == stated.reasons.iter().map(|(row, _)| *row).collect::<Vec<_>>()
            && self.virtual_share(n, i).as_ref() == Some(&stated.level)
            && stated.reasons.iter().all(|(row, reason)| match reason {
                Reason::Slack(slack) => {
                    *slack == &self.c.rows()[*row].capacity - self.used(*row)
                        && slack.clone().abs() / self.per_task(n, *row).unwrap() > *tolerance
                }
                Reason::Holder { user, level } => {
                    self.virtual_share(*user, i).as_ref() == Some(level)
                        && self.ahead(n, *user, *row).is_some_and(|ahead| ahead > *tolerance)
                }
            })
    }

    /// `U_n`.
    fn level(&self, share: Option<&ShareCoefficients>, n: usize) -> Rational {
        let u = |i: usize| share.map_or_else(|| Rational::from(1), |share| share.of(n, i).clone());
        (0..self.p.n_servers()).map(|i| u(i) * &self.x[n][i]).sum()
    }

    /// Bounds of `w_n / U_n^alpha` that are at most `10^-60` of it apart; `None` without a `U_n`.
    fn worth(&self, share: Option<&ShareCoefficients>, alpha: &Rational, n: usize) -> Option<[Rational; 2]> {
        if !self.p.is_active(n) {
            return Some([zero(), zero()]);
        }
        let level = self.level(share, n);
        if level <= 0 {
            return None;
        }
        let (power, index) = (alpha.numer().to_u32()?, alpha.denom().to_u32()?);
        let weight = self.p.users()[n].weight();
        let exact = weight.clone() / Rational::from((&level).pow(i32::try_from(power).ok()?));
        if index == 1 {
            return Some([exact.clone(), exact]);
        }
        // Where U is the q-th power of a rational, the worth is rational too.
        let root = |value: &Integer| {
            let (root, rest) = value.clone().root_rem(Integer::new(), index);
            rest.is_zero().then_some(root)
        };
        if let (Some(above), Some(below)) = (root(level.numer()), root(level.denom())) {
            let power = Rational::from((above, below)).pow(i32::try_from(power).ok()?);
            let exact = weight.clone() / power;
            return Some([exact.clone(), exact]);
        }
        // w / U^(p/q) = (w^q / U^p)^(1/q), times 10^200 in integers.
        let scale = Integer::from(10).pow(200);
        let inside = Rational::from(weight.pow(i32::try_from(index).ok()?))
            / Rational::from((&level).pow(i32::try_from(power).ok()?))
            * Integer::from((&scale).pow(index));
        let (floor, ceil) = (inside.clone().floor(), inside.ceil());
        let low = floor.numer().clone().root(index);
        let (root, rest) = ceil.numer().clone().root_rem(Integer::new(), index);
        let high = if rest.is_zero() { root } else { root + 1u32 };
        Some([Rational::from((low, scale.clone())), Rational::from((high, scale))])
    }

    /// Least positive and greatest `u_ni / w_n` of an active user.
    fn range(&self, share: &ShareCoefficients, n: usize) -> Option<(Rational, Rational)> {
        let runs = (0..self.p.n_servers()).filter(|&i| self.p.is_active(n) && self.p.can_run(n, i));
        let values: Vec<Rational> = runs
            .map(|i| Rational::from(share.of(n, i) / self.p.users()[n].weight()))
            .filter(|u| *u > 0)
            .collect();
        Some((values.iter().min()?.clone(), values.iter().max()?.clone()))
    }
}

/// Whether everything that the certificate states is true.
pub fn is_true(certificate: &Certificate) -> bool {
    let mut keys: Vec<_> = certificate
        .claims
        .iter()
        .map(|c| (c.axiom.name(), c.share.map(|s| s.name(&certificate.problem)), c.alpha.clone()))
        .collect();
    keys.sort();
    let twice = keys.windows(2).any(|pair| pair[0] == pair[1]);
    let both = keys.iter().any(|(name, ..)| certificate.not_checked.iter().any(|not| not == name));
    let mut plain =
        Plain::new(&certificate.problem, certificate.allocation.sharing, &certificate.allocation.tasks);
    plain.placements.clone_from(&certificate.allocation.placements);
    !twice
        && !both
        && certificate
            .claims
            .iter()
            .all(|claim| claim_is_true(&plain, claim, &certificate.tolerance).is_some())
}

fn claim_is_true(x: &Plain<'_>, claim: &Claim, tolerance: &Rational) -> Option<()> {
    let p = x.p;
    let Some(holds) = claim.holds else {
        return (claim.margin.is_none()
            && claim.evidence == Evidence::None
            && (Claim::applies(claim.axiom, claim.parameters(), p).is_err()
                || claim.axiom == Axiom::IntegerFeasible && x.singles().is_none()
                || matches!(claim.axiom, Axiom::Ef1 | Axiom::IntegerParetoOptimal) && !x.is_whole()))
        .then_some(());
    };
    let (margin, fine) = match (&claim.evidence, claim.axiom) {
        (Evidence::None, Axiom::NonWasteful) => (Some(zero()), true),
        (Evidence::None, Axiom::Feasible) => (None, x.limits().is_empty()),
        (Evidence::None, Axiom::EnvyFree) => {
            (None, x.users().all(|n| x.users().all(|m| x.envy(n, m).is_none())))
        }
        (Evidence::None, Axiom::SharingIncentive) => (None, x.users().all(|n| !p.is_active(n))),
        (Evidence::Limit { limit, slack }, Axiom::Feasible) => {
            let limits = x.limits();
            let least = limits.iter().map(|(_, _, margin)| margin).min()?.clone();
            let found = limits.iter().any(|(l, s, m)| l == limit && s == slack && *m == least);
            (Some(least), found)
        }
        (Evidence::None, Axiom::IntegerFeasible) => (None, x.single_limits()?.is_empty()),
        (Evidence::SingleLimit { limit, slack }, Axiom::IntegerFeasible) => {
            let limits = x.single_limits()?;
            let least = limits.iter().map(|(_, _, margin)| margin).min()?.clone();
            let found = limits.iter().any(|(l, s, m)| l == limit && s == slack && *m == least);
            (Some(least), found)
        }
        (_, Axiom::Ef1) if !x.is_whole() => return None,
        (Evidence::None, Axiom::Ef1) => {
            (None, x.users().all(|n| x.users().all(|m| x.envy_up_to_one(n, m).is_none())))
        }
        (Evidence::EnvyUpToOne { user, envied, removed, gain }, Axiom::Ef1) => {
            let all = x.users().flat_map(|n| x.users().filter_map(move |m| x.envy_up_to_one(n, m)));
            let least = all.min()?;
            let right = gain.as_ref().map_or(holds, |gain| !holds && *gain == Rational::from(-&least));
            // The pair is a tightest one, and without a task there, or without any that counts, it is so tight.
            let found = x.envy_up_to_one(*user, *envied)? == least
                && match removed {
                    None => x.removable(*user, *envied).is_empty(),
                    Some(i) => {
                        x.removable(*user, *envied).contains(i)
                            && x.envy_without(*user, *envied, Some(*i)) == Some(least.clone())
                    }
                };
            (Some(least), found && right)
        }
        (Evidence::Envy { user, envied, gain }, Axiom::EnvyFree) => {
            let least = x.users().flat_map(|n| x.users().filter_map(move |m| x.envy(n, m))).min()?;
            let found = x.envy(*user, *envied)? == least;
            let right = gain.as_ref().map_or(holds, |gain| !holds && *gain == Rational::from(-&least));
            (Some(least), found && right)
        }
        (Evidence::Entitlement { user, loss }, Axiom::SharingIncentive) => {
            let least = x.users().filter_map(|n| x.entitlement(n)).min()?;
            let found = x.entitlement(*user)? == least;
            let right = loss.as_ref().map_or(holds, |loss| !holds && *loss == Rational::from(-&least));
            (Some(least), found && right)
        }
        (Evidence::Prices(prices), Axiom::ParetoOptimal) => {
            let gap = x.gap(prices, &|n, _| prices.user_weights[n].clone())?;
            let least = x.users().filter(|&n| p.is_active(n)).map(|n| &prices.user_weights[n]).min();
            let margin = match least {
                Some(least) if least.is_zero() => return None,
                least => least.map(|least| -gap / least),
            };
            (margin, holds)
        }
        (Evidence::Dominating(tasks), Axiom::ParetoOptimal) => {
            let y = Plain::new(p, x.c_sharing(), tasks);
            let gains: Vec<Rational> = x.users().map(|n| y.total(n) - x.total(n)).collect();
            let most = gains.iter().max()?.clone();
            let fine = y.is_feasible() && gains.iter().all(|gain| *gain >= 0) && most > 0;
            (Some(-most), fine && !holds)
        }
        (_, Axiom::IntegerParetoOptimal) if !x.is_whole() => return None,
        (Evidence::Prices(prices), Axiom::IntegerParetoOptimal) => {
            let gap = x.gap(prices, &|n, _| prices.user_weights[n].clone())?;
            let least = x.users().filter(|&n| p.is_active(n)).map(|n| &prices.user_weights[n]).min();
            let most = match least {
                Some(least) if least.is_zero() => return None,
                least => least.map(|least| (gap / least).floor()),
            };
            (most.map(|most| -most), holds)
        }
        (Evidence::DominatingPlacements(placements), Axiom::IntegerParetoOptimal) => {
            let mut servers: Vec<_> = placements.iter().map(|single| (single.server, single.index)).collect();
            servers.sort_unstable();
            let once = servers.windows(2).all(|pair| pair[0] != pair[1]);
            let there = servers.iter().all(|(i, index)| *index < p.servers()[*i].count());
            let mut tasks = vec![Vec::new(); p.n_users()];
            for (n, tasks) in tasks.iter_mut().enumerate() {
                for i in 0..p.n_servers() {
                    let on = placements.iter().filter(|single| single.server == i).flat_map(|s| &s.tasks);
                    let sum: Rational = on.filter(|(m, _)| *m == n).map(|(_, x)| x).sum();
                    tasks.push((i, sum));
                }
            }
            let mut y = Plain::new(p, x.c_sharing(), &tasks);
            y.placements = Some(placements.clone());
            let fits = y.single_limits()?.iter().all(|(_, slack, _)| *slack >= 0);
            let gains: Vec<Rational> = x.users().map(|n| y.total(n) - x.total(n)).collect();
            let most = gains.iter().max()?.clone();
            let fine = once && there && fits && gains.iter().all(|gain| *gain >= 0) && most > 0;
            (Some(-most), fine && !holds)
        }
        (Evidence::Levels { resource, levels }, _) => {
            let share = share_of_claim(claim, *resource, p)?;
            let us: Vec<Rational> = x.users().map(|n| x.share_of(&share, n)).collect();
            let mut bounds: Vec<Option<Rational>> = x
                .users()
                .map(|n| {
                    let (least, most) = x.range(&share, n)?;
                    let ceiling = p.users()[n].tasks()?.clone() * most;
                    let short = (ceiling - &us[n]).max(zero()) / least;
                    (short <= *tolerance).then_some(short)
                })
                .collect();
            for level in levels {
                let l = &level.prices.user_weights;
                let gap = x.gap(&level.prices, &|n, i| {
                    Rational::from(share.of(n, i) * &l[n]) / p.users()[n].weight()
                })?;
                let top = x.users().filter(|&n| l[n] > 0).map(|n| &us[n]).max()?;
                if *top != level.level {
                    return None;
                }
                for n in x.users().filter(|&n| l[n] > 0) {
                    let Some((least, _)) = x.range(&share, n) else { continue };
                    let below = Rational::from(top - &us[n]) / &least;
                    if below <= *tolerance {
                        let bound = below + Rational::from(&gap / &l[n]) / least;
                        bounds[n] = Some(bounds[n].take().map_or(bound.clone(), |b| b.min(bound)));
                    }
                }
            }
            let judged = x.users().filter(|&n| x.range(&share, n).is_some());
            let worst = judged.map(|n| bounds[n].clone()).collect::<Option<Vec<_>>>()?;
            (worst.into_iter().max().map(|worst| -worst), holds)
        }
        (Evidence::Rise { resource, user, allocation }, _) => {
            let share = share_of_claim(claim, *resource, p)?;
            let y = Plain::new(p, x.c_sharing(), allocation);
            let (least, _) = x.range(&share, *user)?;
            let before = x.share_of(&share, *user);
            let gain = y.share_of(&share, *user) - &before;
            let fine = x.users().filter(|&m| m != *user).all(|m| {
                let own = x.share_of(&share, m);
                own > before || y.share_of(&share, m) >= own || x.range(&share, m).is_none()
            });
            (Some(-(&gain / least)), fine && gain > 0 && y.is_feasible() && !holds)
        }
        (Evidence::None, Axiom::Njc) => (None, x.users().all(|n| !p.is_active(n))),
        (Evidence::Witnesses(witnesses), Axiom::Njc) => {
            let least = x.users().filter_map(|n| x.complaint(n)).min()?;
            let speaks = |n: usize| match witnesses[n] {
                Some(witness) => p.is_active(n) && x.witness(n, witness).is_some_and(|m| m >= least),
                None => !p.is_active(n),
            };
            (Some(least.clone()), x.users().all(speaks) && holds)
        }
        (Evidence::Complaint(complaint), Axiom::Njc) => {
            let least = x.users().filter_map(|n| x.complaint(n)).min()?;
            let n = complaint.user;
            let right = x.complaint(n)? == least
                && complaint.entitlement == x.entitled(n)
                && complaint.shares == x.saturated(n);
            (Some(least), right && !holds)
        }
        (Evidence::None, Axiom::PsDsf) => (None, x.users().all(|n| !p.is_active(n))),
        (Evidence::Bottlenecks(standings), Axiom::PsDsf) => {
            let least = x.ps_dsf_margin()?;
            let speaks = |n: usize| match &standings[n] {
                None => !p.is_active(n),
                Some(Standing::Satisfied) => {
                    p.is_active(n) && x.witness(n, Witness::Satisfied).is_some_and(|m| m >= least)
                }
                Some(Standing::Bottlenecks(rows)) => {
                    let classes: Vec<usize> = rows.iter().map(|row| x.c.rows()[*row].server).collect();
                    p.is_active(n)
                        && classes == (0..p.n_servers()).filter(|&i| p.can_run(n, i)).collect::<Vec<_>>()
                        && rows.iter().all(|&row| x.bottleneck(n, row).is_some_and(|m| m >= least))
                }
            };
            // Where a satisfied user has a margin above 0, another standing may prove less than the whole.
            let proven = |n: usize| match standings[n].as_ref()? {
                Standing::Satisfied => x.witness(n, Witness::Satisfied),
                Standing::Bottlenecks(rows) => rows.iter().filter_map(|&row| x.bottleneck(n, row)).min(),
            };
            let exact = x.users().filter_map(proven).min().as_ref() == Some(&least);
            (Some(least.clone()), x.users().all(speaks) && exact && holds)
        }
        (Evidence::Unblocked(unblocked), Axiom::PsDsf) => {
            let least = x.ps_dsf_margin()?;
            let right =
                x.ps_dsf(unblocked.user, unblocked.server)? == least && x.is_unblocked(unblocked, tolerance);
            (Some(least), right && !holds)
        }
        (_, Axiom::Proportional) => return proportional_is_true(x, claim, holds, tolerance),
        _ => return None,
    };
    let within = margin.as_ref().is_none_or(|margin| *margin >= Rational::from(-tolerance));
    (fine
        && margin == claim.margin
        && within == holds
        && claim.alpha.is_none()
        && claim.share.is_some() == (claim.axiom == Axiom::MaxMin))
        .then_some(())
}

fn proportional_is_true(x: &Plain<'_>, claim: &Claim, holds: bool, tolerance: &Rational) -> Option<()> {
    let p = x.p;
    let share = match claim.share {
        None => None,
        Some(Share::Generic) => Some(Share::Generic.coefficients(p).ok()?),
        Some(_) => return None,
    };
    let (share, alpha) = (share.as_ref(), claim.alpha.as_ref()?);
    let u = |n: usize, i: usize| share.map_or_else(|| Rational::from(1), |share| share.of(n, i).clone());
    let worths = || x.users().map(|n| x.worth(share, alpha, n)).collect::<Option<Vec<_>>>();
    // sum_n w_n U_n^(1 - alpha), what margins are relative to.
    let total_worth = |worths: &[[Rational; 2]], share: Option<&ShareCoefficients>, end: usize| {
        let active = x.users().filter(|&n| p.is_active(n));
        active.map(|n| &worths[n][end] * x.level(share, n)).sum::<Rational>()
    };
    let margin = match &claim.evidence {
        Evidence::Nothing { user } => {
            let nothing = p.is_active(*user) && x.level(share, *user) <= 0;
            return (nothing && !holds && claim.margin.is_none()).then_some(());
        }
        Evidence::Prices(prices) => {
            let worths = worths()?;
            let a = |end: usize| {
                let worths = &worths;
                move |n: usize, i: usize| {
                    let active = p.is_active(n);
                    if active { &worths[n][end] * u(n, i) } else { zero() }
                }
            };
            let gap = x.gap_between(prices, &a(0), &a(1))?;
            let total = total_worth(&worths, share, 0);
            x.users().any(|n| p.is_active(n)).then(|| -gap / total)
        }
        Evidence::Better(tasks) => {
            let y = Plain::new(p, x.c_sharing(), tasks);
            if !y.is_feasible() {
                return None;
            }
            let worths = worths()?;
            let gain = |n: usize| {
                let more = y.level(share, n) - x.level(share, n);
                let end = usize::from(more < 0);
                more * &worths[n][end]
            };
            let gain = x.users().map(gain).sum::<Rational>();
            let total = total_worth(&worths, share, usize::from(gain > 0));
            Some(-gain / total)
        }
        _ => return None,
    };
    // The bounds here and there are some 50 digits wide.
    let near = match (&margin, &claim.margin) {
        (Some(margin), Some(stated)) => {
            let digits = if alpha.denom().to_u32() == Some(1) { zero() } else { Rational::from(10).pow(-40) };
            Rational::from(margin - stated).abs() <= digits
        }
        (margin, stated) => margin == stated,
    };
    let within = margin.as_ref().is_none_or(|margin| *margin >= Rational::from(-tolerance));
    (near && within == holds).then_some(())
}

fn share_of_claim(claim: &Claim, resource: Option<usize>, p: &Problem) -> Option<ShareCoefficients> {
    match (claim.axiom, claim.share, resource) {
        (Axiom::MaxMin, Some(share), None) => share.coefficients(p).ok(),
        (axiom, None, Some(r)) if bottleneck::of(axiom, p) == Ok(r) => {
            Share::Resource(r).coefficients(p).ok()
        }
        _ => None,
    }
}

impl Plain<'_> {
    fn c_sharing(&self) -> Sharing {
        let stated = |i: usize| self.p.servers()[i].is_time_shared();
        let timed = (0..self.p.n_servers()).any(|i| self.c.is_time_shared(i) && !stated(i));
        if timed { Sharing::Tdm } else { Sharing::Rdm }
    }
}
