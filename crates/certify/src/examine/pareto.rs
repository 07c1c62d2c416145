//! Pareto optimality of any feasible allocation.
//!
//! For most optimal allocations, prices from the mechanism or from the allocation itself prove optimality without
//! solving a linear programme. Otherwise a linear programme decides. It maximises the sum of tasks, where no user is
//! worse off and each user's tasks are divided by its solo tasks. The dual proves optimality up to
//! the gain of this sum, and the optimum dominates the allocation. The programme has a row for every user. With many
//! users, the mechanism's prices are therefore used where they prove enough.

use evenhand_exact::{Axiom, Claim, Evidence, Prices, Share, ShareCoefficients};
use evenhand_levels::level::LevelDual;
use evenhand_levels::weighted_sum::{SumGoal, maximise_sum};
use evenhand_mechanisms::FairOptimum;
use evenhand_problem::Rational;

use super::{Prover, Undecided, supports};

/// The number of pairs of a user and a class on which it can run, above which the programme is solved only if no prices
/// prove optimality within the tolerance. The margin of the programme is closer to the truth. But the programme takes a
/// second of processor time for this many pairs, and half a minute for five times as many.
const MANY: usize = 20_000;

impl Prover<'_> {
    pub(super) fn pareto_optimal(&self) -> Result<Claim, Undecided> {
        let (instance, tolerance) = (self.instance, self.tolerance);
        let judge =
            |evidence| Claim::with_evidence(Axiom::ParetoOptimal, None, evidence, instance, tolerance);
        // If prices leave a positive margin, the best prices may leave a smaller one.
        let is_exact = |claim: &Claim| claim.margin.as_ref().is_none_or(Rational::is_zero);
        let raised = |prices: Prices| judge(Evidence::Prices(self.raised(prices))).ok();
        if let Some(claim) = supports::prices(instance).and_then(raised).filter(is_exact) {
            return Ok(claim);
        }
        if let Some(prices) = self.prices_of_levels_nearly() {
            let claim = judge(Evidence::Prices(self.tight(prices))).ok();
            if let Some(claim) = claim.filter(|claim| claim.holds == Some(true)) {
                return Ok(claim);
            }
        }
        let users = 0..instance.problem().n_users();
        if let Some(prices) = self.prices_of_levels().or_else(|| self.prices_of_sum()) {
            let tight = (*tolerance > 0 && self.has_more_pairs(MANY)).then(|| self.tight(prices.clone()));
            if let Some(claim) = raised(prices).filter(is_exact) {
                return Ok(claim);
            }
            let tight = tight.and_then(|prices| judge(Evidence::Prices(prices)).ok());
            if let Some(claim) = tight.filter(|claim| claim.holds == Some(true)) {
                return Ok(claim);
            }
        }
        let worth: Vec<Rational> = users
            .clone()
            .map(|n| match instance.is_active(n) {
                true => instance.scale(n).clone().recip(),
                false => Rational::from(1),
            })
            .collect();
        let floors: Vec<Rational> = users.clone().map(|n| instance.total(n)).collect();
        let limits = Some(instance.limits());
        let tasks = instance.tasks();
        let goal = SumGoal { floors: Some(&floors), limits, from: Some(&tasks), ..SumGoal::of(&worth) };
        let optimum = maximise_sum(instance.constraints(), goal)?;
        let weight = |n: usize| match instance.is_active(n) {
            true => Rational::from(&worth[n] + &optimum.floor_prices[n]),
            false => Rational::new(),
        };
        let prices = Prices {
            user_weights: users.map(weight).collect(),
            rows: optimum.prices.clone(),
            users: optimum.user_prices.clone(),
        };
        let refusal = match judge(Evidence::Prices(prices)) {
            Ok(claim) => return Ok(claim),
            Err(refusal) => refusal,
        };
        judge(Evidence::Dominating(optimum.tasks)).map_err(|dominating| Undecided::Neither {
            proof: refusal.to_string(),
            refutation: dominating.to_string(),
        })
    }

    /// Multiplies the prices by the least factor of at least 1 with which every weight is at least `1 / g_n`.
    fn raised(&self, mut prices: Prices) -> Prices {
        if let Some(factor) = self.needed_factor(&prices).filter(|factor| *factor > 1) {
            scale(&mut prices, &factor);
        }
        prices
    }

    /// Multiplies the prices by the least factor with which every weight is at least `1 / g_n`. This factor gives the
    /// smallest margin.
    fn tight(&self, mut prices: Prices) -> Prices {
        if let Some(factor) = self.needed_factor(&prices) {
            scale(&mut prices, &factor);
        }
        prices
    }

    fn needed_factor(&self, prices: &Prices) -> Option<Rational> {
        let weights = prices.user_weights.iter().enumerate().filter(|(n, _)| self.instance.is_active(*n));
        let weights = weights.filter(|(_, weight)| !weight.is_zero());
        weights.map(|(n, weight)| Rational::from(weight * self.instance.scale(n)).recip()).max()
    }

    /// Returns prices from the exact level duals of the mechanism that computed the allocation.
    fn prices_of_levels(&self) -> Option<Prices> {
        let (share, coefficients) = self.equalised_share()?;
        let optimum = self.optimum(share, &coefficients).ok()?;
        self.sum_of_duals(&optimum.duals, &coefficients)
    }

    /// Returns prices from short level duals, if such duals suffice.
    fn prices_of_levels_nearly(&self) -> Option<Prices> {
        let (share, coefficients) = self.equalised_share()?;
        let duals = self.duals_nearly(share, &coefficients)?;
        self.sum_of_duals(&duals, &coefficients)
    }

    /// Returns the share that the mechanism of the allocation equalises.
    fn equalised_share(&self) -> Option<(Share, ShareCoefficients)> {
        let share = self.own.as_ref().filter(|(axiom, _)| *axiom == Axiom::MaxMin)?.1.share?;
        Some((share, share.coefficients(self.instance.problem()).ok()?))
    }

    /// Adds up level duals to prices of tasks.
    fn sum_of_duals(&self, duals: &[LevelDual], coefficients: &ShareCoefficients) -> Option<Prices> {
        let problem = self.instance.problem();
        let mut prices = Prices::zero(self.instance);
        duals.iter().for_each(|dual| prices.add(&dual.prices));
        for n in (0..problem.n_users()).filter(|&n| self.instance.is_active(n)) {
            let per_task = Rational::from(coefficients.uniform(n)? / problem.users()[n].weight());
            prices.user_weights[n] *= per_task;
            if prices.user_weights[n].is_zero() {
                // The user is not blocked at any level. It has all its tasks, and only its limit has a price.
                problem.users()[n].tasks()?;
                let most = self.instance.scale(n).clone().recip();
                prices.users[n] += &most;
                prices.user_weights[n] = most;
            }
        }
        Some(prices)
    }

    /// Returns prices for the sum of utilities that the mechanism of the allocation maximises. A user's weight is the
    /// cost of a task on the cheapest class.
    fn prices_of_sum(&self) -> Option<Prices> {
        let (_, parameters) = self.own.as_ref().filter(|(axiom, _)| *axiom == Axiom::Proportional)?;
        let (instance, problem) = (self.instance, self.instance.problem());
        let constraints = instance.constraints();
        let alpha = parameters.alpha.clone().unwrap_or_else(|| Rational::from(1));
        if parameters.share.is_some() {
            return None;
        }
        let mut prices = FairOptimum::find(constraints, &alpha, None)?.prices(instance)?;
        let first_limit = constraints.rows().len();
        let cost = |n: usize, i: usize| {
            let usage = constraints.usage(n, i)?;
            let rows = constraints.class_rows(i).zip(usage.iter());
            let paid: Rational = rows.map(|(row, usage)| Rational::from(&prices.rows[row] * usage)).sum();
            let limits = instance.limits().counting(problem, n, i);
            let of_limits = limits.map(|(at, time)| Rational::from(&prices.rows[first_limit + at] * time));
            Some(paid + of_limits.sum::<Rational>() + &prices.users[n])
        };
        let cheapest = |n: usize| (0..problem.n_servers()).filter_map(|i| cost(n, i)).min();
        let weights = (0..problem.n_users()).map(|n| match instance.is_active(n) {
            true => cheapest(n).unwrap_or_default(),
            false => Rational::new(),
        });
        prices.user_weights = weights.collect();
        Some(prices)
    }
}

fn scale(prices: &mut Prices, factor: &Rational) {
    let all = prices.user_weights.iter_mut().chain(&mut prices.rows).chain(&mut prices.users);
    all.for_each(|value| *value *= factor);
}
