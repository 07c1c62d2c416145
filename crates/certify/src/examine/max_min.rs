//! Max-min of a share, for any feasible allocation.
//!
//! The level duals of the exact optimum `x*` prove every allocation with the same shares. If the shares differ by no
//! more than the tolerance, the duals still bound every rise. Otherwise the optimum refutes most allocations: consider
//! the users that have less in `x` than in `x*`. Among them, the user with the least share rises on the line from `x`
//! to `x*`.
//!
//! If neither the duals nor the optimum decide, the linear programme of each user's rise does. Either its dual covers
//! the user within the tolerance, or its optimum shows a larger rise.

use std::collections::BTreeMap;

use evenhand_exact::axiom::max_min::{self, Curve, Standing};
use evenhand_exact::{Axiom, Claim, Evidence, Level, PriceVector, Share, ShareCoefficients, Tasks};
use evenhand_levels::level::Rises;
use evenhand_problem::Rational;

use super::optima::Optimum;
use super::{Prover, Undecided, supports};

/// Evidence that decides max-min of one share.
enum Decided {
    /// Levels that cover every user within the tolerance.
    Levels(Vec<Level>),
    /// A user, and an allocation in which the user rises.
    Rise(usize, Tasks),
}

impl Prover<'_> {
    pub(super) fn max_min(&self, share: Share) -> Result<Claim, Undecided> {
        let evidence = match self.decide(share)? {
            Decided::Levels(levels) => Evidence::Levels(levels),
            Decided::Rise(user, allocation) => Evidence::Rise { resource: None, user, allocation },
        };
        Ok(Claim::with_evidence(Axiom::MaxMin, Some(share), evidence, self.instance, self.tolerance)?)
    }

    pub(super) fn bottleneck(&self, axiom: Axiom) -> Result<Claim, Undecided> {
        let mut proven = Vec::new();
        let judge =
            |evidence| Ok(Claim::with_evidence(axiom, None, evidence, self.instance, self.tolerance)?);
        let resources = axiom.bottlenecks(self.instance.problem());
        for r in resources.map_err(|why| Undecided::Refused(why.to_string()))? {
            match self.decide(Share::Resource(r))? {
                Decided::Levels(levels) => proven.push((r, levels)),
                Decided::Rise(user, allocation) => {
                    return judge(Evidence::Rise { resource: Some(r), user, allocation });
                }
            }
        }
        judge(Evidence::LevelsByResource(proven))
    }

    fn decide(&self, share: Share) -> Result<Decided, Undecided> {
        let coefficients = share.coefficients(self.instance.problem())?;
        let standing = Standing::new(self.instance, &coefficients)?;
        let mut cover = Cover::new(self, &standing);
        if let Some(prices) = self.vector_of_supports(&coefficients) {
            cover.add(prices)?;
            if cover.is_exact() {
                return Ok(Decided::Levels(cover.into_levels()));
            }
        }
        let by_tasks = self.bounds_by_tasks(&coefficients);
        let first_cover = || -> Result<_, Undecided> {
            let mut cover = Cover::new(self, &standing);
            by_tasks.iter().try_for_each(|prices| cover.add(prices.clone()))?;
            Ok(cover)
        };
        cover = first_cover()?;
        let has_no_limits = self.instance.limits().list().is_empty();
        let nearly = has_no_limits.then(|| self.duals_nearly(share, &coefficients)).flatten();
        if let Some(duals) = nearly {
            let are_prices = duals.iter().all(|dual| cover.add(dual.prices.clone()).is_ok());
            if are_prices && cover.is_within(self.tolerance) {
                return Ok(Decided::Levels(cover.into_levels()));
            }
            cover = first_cover()?;
        }
        // The optimum ignores the limits of groups. With such limits, only the programmes of the rises decide.
        if !self.instance.problem().groups().have_limits()
            && let Ok(optimum) = self.optimum(share, &coefficients)
        {
            for dual in &optimum.duals {
                cover.add(dual.prices.clone())?;
            }
            if cover.is_within(self.tolerance) {
                return Ok(Decided::Levels(cover.into_levels()));
            }
            if let Some((user, tasks)) = self.refuting_step(&coefficients, &optimum)? {
                return Ok(Decided::Rise(user, tasks));
            }
        }
        self.decide_by_rises(&coefficients, cover)
    }

    /// Returns prices that follow from the allocation itself, weighted by the share. Returns `None` if the share
    /// depends on the class.
    fn vector_of_supports(&self, coefficients: &ShareCoefficients) -> Option<PriceVector> {
        let mut prices = supports::prices(self.instance)?;
        let users = self.instance.problem().users();
        for (n, weight) in prices.user_weights.iter_mut().enumerate().filter(|(_, weight)| !weight.is_zero())
        {
            let u = coefficients.uniform(n).filter(|u| !u.is_zero())?;
            *weight *= Rational::from(users[n].weight() / u);
        }
        Some(PriceVector::of(&prices))
    }

    /// Returns prices of the task limits of users that lack some of their tasks, but no more than the tolerance. Each
    /// of these users gets a separate price vector. Users of higher levels may fall to the level of such a user, so one
    /// common vector would bound only the user with the least level.
    fn bounds_by_tasks(&self, coefficients: &ShareCoefficients) -> Vec<PriceVector> {
        let (instance, users) = (self.instance, self.instance.problem().users());
        let nearly = |n: &usize| {
            let lacking = users[*n].tasks().map(|tasks| tasks - instance.total(*n));
            lacking
                .is_some_and(|lack| lack > 0 && lack <= Rational::from(self.tolerance * instance.scale(*n)))
        };
        let prices = |n: usize| {
            let per_task = Rational::from(coefficients.uniform(n)? / users[n].weight());
            let user_weights = vec![(n, Rational::from(1))];
            Some(PriceVector { user_weights, rows: Vec::new(), users: vec![(n, per_task)] })
        };
        (0..users.len()).filter(|n| instance.is_active(*n)).filter(nearly).filter_map(prices).collect()
    }

    /// Solves the linear programme of the rise of every user that is not covered within the tolerance.
    fn decide_by_rises(
        &self,
        coefficients: &ShareCoefficients,
        mut cover: Cover<'_, '_>,
    ) -> Result<Decided, Undecided> {
        let instance = self.instance;
        let shares = max_min::shares(instance, coefficients)?;
        let mut open = cover.beyond(self.tolerance);
        open.sort_by(|&a, &b| shares[a].cmp(&shares[b]));
        let tasks = instance.tasks();
        let mut rises = Rises::new(instance.constraints(), coefficients, instance.limits(), &tasks);
        for n in open {
            if cover.is_covered(n, self.tolerance) {
                continue;
            }
            if *self.tolerance > 0
                && let Ok(Some(bound)) = rises.nearly(n)
            {
                cover.add(PriceVector::of(&bound.prices))?;
                if cover.is_covered(n, self.tolerance) {
                    continue;
                }
            }
            let Some(rise) = rises.greatest(n)? else { continue };
            let shown = max_min::margin_of_rise(instance, coefficients, n, &rise.tasks);
            if shown.is_ok_and(|margin| margin < Rational::from(-self.tolerance)) {
                return Ok(Decided::Rise(n, rise.tasks));
            }
            cover.add(PriceVector::of(&rise.prices))?;
            if !cover.is_covered(n, self.tolerance) {
                let user = instance.problem().users()[n].name().to_owned();
                return Err(Undecided::Rise { user });
            }
        }
        Ok(Decided::Levels(cover.into_levels()))
    }

    /// Returns a user that rises beyond the tolerance on the line to the optimum, and an allocation in which the user
    /// has risen.
    fn refuting_step(
        &self,
        coefficients: &ShareCoefficients,
        optimum: &Optimum,
    ) -> Result<Option<(usize, Tasks)>, Undecided> {
        let better = self.instance.with_tasks(&optimum.tasks)?;
        let present = max_min::shares(self.instance, coefficients)?;
        let possible = max_min::shares(&better, coefficients)?;
        let behind = (0..present.len()).filter(|&n| possible[n] > present[n]);
        let Some(user) = behind.min_by(|&a, &b| present[a].cmp(&present[b])) else { return Ok(None) };
        let tasks = self.short_step(&present, &possible, user, &optimum.tasks);
        let shown = max_min::margin_of_rise(self.instance, coefficients, user, &tasks);
        let is_beyond = shown.is_ok_and(|margin| margin < Rational::from(-self.tolerance));
        Ok(is_beyond.then_some((user, tasks)))
    }

    /// Returns a step towards the optimum that is short enough that no losing user falls below `user`.
    fn short_step(&self, present: &[Rational], possible: &[Rational], user: usize, optimum: &Tasks) -> Tasks {
        let rise = Rational::from(&possible[user] - &present[user]);
        let mut step = Rational::from(1);
        for n in (0..present.len()).filter(|&n| possible[n] < present[n] && present[n] > present[user]) {
            let approach = Rational::from(&present[n] - &possible[n]) + &rise;
            let most = Rational::from(&present[n] - &present[user]) / approach;
            if most < step {
                step = most;
            }
        }
        let rest = Rational::from(1) - &step;
        let present = self.instance.tasks();
        (0..present.len())
            .map(|n| {
                let mut list: BTreeMap<usize, Rational> = BTreeMap::new();
                for (tasks, part) in [(&present[n], &rest), (&optimum[n], &step)] {
                    for (i, x) in tasks {
                        *list.entry(*i).or_default() += Rational::from(x * part);
                    }
                }
                list.into_iter().filter(|(_, x)| !x.is_zero()).collect()
            })
            .collect()
    }
}

/// Levels, and the bounds on rises that they prove so far.
struct Cover<'a, 'b> {
    standing: &'a Standing<'a, 'b>,
    prices: Vec<PriceVector>,
    /// The bound on each user's rise by all levels except the last. `None` for users that need no bound.
    bounds: Vec<Option<RiseBound>>,
    /// The curve of the last level. If it is the only level, the rises of single users need not be computed.
    last: Option<Curve<'a, 'a, 'b>>,
}

/// The least proven bound on a rise, divided by the user's solo tasks, and the index of its level.
/// `None` if no level covers the user yet.
type RiseBound = Option<(Rational, usize)>;

impl<'a, 'b> Cover<'a, 'b> {
    fn new(prover: &Prover<'_>, standing: &'a Standing<'a, 'b>) -> Self {
        let mut bounds = vec![None; prover.instance.problem().n_users()];
        for n in standing.uncovered() {
            bounds[n] = Some(None);
        }
        Self { standing, prices: Vec::new(), bounds, last: None }
    }

    /// Adds a level. It will cover the users for which it proves a smaller bound than the earlier levels.
    fn add(&mut self, prices: PriceVector) -> Result<(), Undecided> {
        let curve = self.standing.curve(&prices)?;
        self.settle();
        self.prices.push(prices);
        self.last = Some(curve);
        Ok(())
    }

    /// Updates the bounds of all users with the bounds of the last level.
    fn settle(&mut self) {
        let Some(curve) = self.last.take() else { return };
        for (n, rise) in curve.rises() {
            let Some(bound) = &mut self.bounds[n] else { continue };
            if bound.as_ref().is_none_or(|(known, _)| rise < *known) {
                *bound = Some((rise, self.prices.len() - 1));
            }
        }
    }

    fn is_covered(&self, n: usize, tolerance: &Rational) -> bool {
        let Some(bound) = &self.bounds[n] else { return true };
        let by_last = || self.last.as_ref().and_then(|curve| curve.is_within(n, tolerance));
        bound.as_ref().is_some_and(|(rise, _)| rise <= tolerance) || by_last() == Some(true)
    }

    fn beyond(&self, tolerance: &Rational) -> Vec<usize> {
        (0..self.bounds.len()).filter(|&n| !self.is_covered(n, tolerance)).collect()
    }

    /// Returns true if no user can rise at all.
    fn is_exact(&self) -> bool {
        self.is_within(&Rational::new())
    }

    fn is_within(&self, tolerance: &Rational) -> bool {
        (0..self.bounds.len()).all(|n| self.is_covered(n, tolerance))
    }

    /// Returns the levels that cover some user. Each level covers the users for which it proves the least bound.
    fn into_levels(mut self) -> Vec<Level> {
        if self.prices.len() > 1 {
            self.settle();
        }
        let by_last = |n| self.last.as_ref().is_some_and(|curve| curve.weighs(n));
        let mut covers = vec![Vec::new(); self.prices.len()];
        for (n, bound) in self.bounds.iter().enumerate() {
            match bound {
                Some(Some((_, number))) => covers[*number].push(n),
                Some(None) if by_last(n) => covers[0].push(n),
                _ => {}
            }
        }
        let level = |(covers, prices)| Level { covers, prices };
        let levels = covers.into_iter().zip(self.prices).map(level);
        levels.filter(|level| !level.covers.is_empty()).collect()
    }
}
