//! The group forms of sharing incentive and envy-freeness (docs/theory.md, section 7). A party is a group with all
//! active users below it, or an active user that belongs to no group.
//!
//! The gain of a party from amounts `R` of every row is the largest `z` such that each of its users can have
//! `min(T_n, x_n + z g_n)` tasks within `R`. The gain is at most `max (T_n - x_n) / g_n`. For sharing incentive, `R` is
//! the party's own share of the cluster: its weight divided by the sum of the weights of the party and all its
//! siblings, multiplied over all levels. For envy, `R` is the usage of a sibling party, times the ratio of the two
//! weights, which are not 0. The margin is minus the largest gain.
//!
//! The evidence that the axiom holds states weights and prices with `l_n <= sum_r p_ir d_nir + q_n` for every
//! comparison. Then `sum l_n y_n <= sum p R + sum q T` within `R`. The sum of floors of a gain is
//! `sum l_n min(T_n, x_n + z g_n)`. If this sum reaches the bound and would still grow, no larger gain is possible. The
//! evidence that the axiom is violated is an allocation of the users within `R`.

use std::collections::HashSet;

use rug::Rational;

use crate::allocation::{Tasks, tasks};
use crate::axioms::prices::Prices;
use crate::case::{Case, Claim, Shown, total_of};
use crate::json::Json;
use crate::names::Amounts;
use crate::work::{self, Checked, ensure, ensure_small, refuse};

/// The largest number of comparisons.
const MOST: usize = 1_000_000;

/// The position of a party. The groups come first, then the users.
type Party = usize;

/// The parties of a problem.
struct Parties<'c> {
    case: &'c Case<'c>,
    /// The number of groups.
    n: usize,
    /// The users of each party, in ascending order. The list is empty for a position that is not a party.
    users: Vec<Vec<usize>>,
    /// For each group, with the root last: the sum of the weights of the parties directly in the group.
    weights: Vec<Rational>,
}

/// Judges both axioms.
pub fn judge(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let (parties, is_envy) = (Parties::new(case)?, claim.axiom == "group-envy-free");
    let mut open = parties.compared(is_envy)?;
    let evidence = claim.evidence;
    if evidence.get("allocation").given().is_some() {
        let names = if is_envy { "of allocation envied" } else { "of allocation" };
        let [of, allocation, envied] = evidence.fields(names)?;
        let k = parties.named(of)?;
        let h = if is_envy { parties.named(envied)? } else { k };
        let y = tasks(allocation, case.problem)?;
        ensure(open.contains(&(k, h)), "the evidence compares two parties that the axiom does not compare")?;
        let gain = parties.gain(k, &parties.amounts(k, h)?, &y)?;
        return Ok((Some(-gain), Some(false)));
    }
    let mut most: Option<Rational> = None;
    let proofs = if claim.has_none() { &[][..] } else { evidence.fields::<1>("proofs")?[0].list()? };
    let read = |raw: &Json<'_>| {
        let names = "of user_weights prices user_prices? envied";
        let names = if is_envy { names } else { names.trim_end_matches(" envied") };
        let [of, weights, prices, users, envied] = raw.fields(names)?;
        let (k, weights) = (parties.named(of)?, case.problem.user_names.numbers(weights)?);
        let prices = Prices::read(case, prices, users)?;
        let envied = if is_envy { envied.list()? } else { &[] };
        let others = envied.iter().map(|raw| parties.named(raw)).collect::<Checked<Vec<_>>>()?;
        Ok((k, weights, prices, if is_envy { others } else { vec![k] }))
    };
    // All evidence is read before any of it is judged.
    for (k, weights, prices, others) in proofs.iter().map(read).collect::<Checked<Vec<_>>>()? {
        parties.check(k, &weights, &prices)?;
        for h in others {
            ensure(
                open.remove(&(k, h)),
                "a proof compares parties that the axiom does not compare, or that another proof compares",
            )?;
            let gain = parties.bound(k, &parties.amounts(k, h)?, &weights, &prices)?;
            most = most.into_iter().chain([gain]).max();
        }
    }
    ensure(open.is_empty(), "a proof for a comparison of two parties is missing")?;
    Ok((most.map(|gain| -gain), Some(true)))
}

impl<'c> Parties<'c> {
    fn new(case: &'c Case<'c>) -> Checked<Self> {
        let (groups, n) = (&case.problem.groups, case.problem.groups.list.len());
        let mut users = vec![Vec::new(); n + case.problem.users.len()];
        let mut weights = vec![Rational::new(); n + 1];
        for user in case.active() {
            let group = groups.members[user].group;
            weights[group.unwrap_or(n)] += &case.problem.users[user].weight;
            groups.above(group).for_each(|v| users[v].push(user));
            if group.is_none() {
                users[n + user].push(user);
            }
        }
        for (group, _) in groups.list.iter().zip(&users).filter(|(_, users)| !users.is_empty()) {
            weights[group.parent.unwrap_or(n)] += &group.weight;
        }
        Ok(Self { case, n, users, weights })
    }

    /// Returns the comparisons that are needed: each party with another party, or with its own share. A comparison with
    /// its own share is a pair of the party with itself.
    fn compared(&self, is_envy: bool) -> Checked<HashSet<(Party, Party)>> {
        let all = (0..self.users.len()).filter(|k| !self.users[*k].is_empty());
        // Parties that are compared with each other. For envy these are all children of one parent. For sharing
        // incentive each party is alone.
        let mut beside: Vec<Vec<Party>> = vec![Vec::new(); self.users.len() + 1];
        for k in all.filter(|k| !is_envy || !self.weight(*k).is_zero()) {
            beside[if is_envy { self.parent(k).unwrap_or(self.n) } else { k }].push(k);
        }
        let pairs = beside.iter().map(|list| list.len().saturating_mul(list.len()));
        ensure_small(pairs.fold(0, usize::saturating_add) <= MOST, "comparisons of groups")?;
        let mut compared = HashSet::new();
        for (list, k) in beside.iter().flat_map(|list| list.iter().map(move |k| (list, *k))) {
            compared.extend(list.iter().filter(|h| !is_envy || **h != k).map(|h| (k, *h)));
        }
        Ok(compared)
    }

    fn weight(&self, k: Party) -> &Rational {
        let problem = self.case.problem;
        problem.groups.list.get(k).map_or_else(|| &problem.users[k - self.n].weight, |group| &group.weight)
    }

    fn parent(&self, k: Party) -> Option<Party> {
        self.case.problem.groups.list.get(k).and_then(|group| group.parent)
    }

    /// Reads the party that `{"group": NAME}` or `{"user": NAME}` names.
    fn named(&self, raw: &Json<'_>) -> Checked<Party> {
        let [group, user] = raw.fields("group? user?")?;
        match (group.given(), user.given()) {
            (Some(group), None) => self.case.problem.groups.names.named(group),
            (None, Some(user)) => Ok(self.n + self.case.problem.user_names.named(user)?),
            _ => raw.wrong("expected a group or a user"),
        }
    }

    /// Returns the amounts of every row that a party may use. For `other == k` these are the amounts of its own share.
    /// Otherwise they are the usage of the party `other`, scaled by the ratio of the weights.
    fn amounts(&self, k: Party, other: Party) -> Checked<Vec<Rational>> {
        work::spend(self.case.rows.len())?;
        if k != other {
            let rate = Rational::from(self.weight(k) / self.weight(other));
            let held = self.loads(other, &self.case.x)?;
            return Ok(held.into_iter().map(|amount| amount * &rate).collect());
        }
        let (mut part, mut here) = (Rational::from(1), Some(k));
        while let Some(of) = here.filter(|_| !part.is_zero()) {
            let above = self.parent(of);
            // If the weights of all siblings are 0, no amounts are divided.
            let all = Some(&self.weights[above.unwrap_or(self.n)]).filter(|all| !all.is_zero());
            part *= all.map_or_else(Rational::new, |all| Rational::from(self.weight(of) / all));
            here = above;
        }
        Ok(self.case.rows.iter().map(|row| Rational::from(&row.capacity * &part)).collect())
    }

    /// Returns the amounts of every row that the tasks of the users of a party use.
    fn loads(&self, k: Party, tasks: &Tasks) -> Checked<Vec<Rational>> {
        let mut loads = vec![Rational::new(); self.case.rows.len()];
        for n in &self.users[k] {
            for (i, x) in &tasks[*n] {
                let uses = self.case.uses(*n, *i);
                work::spend(uses.len() + 1)?;
                uses.into_iter().for_each(|(row, d)| loads[row] += d * x);
            }
        }
        Ok(loads)
    }

    /// Returns `(T_n - x_n) / g_n`, or `None` if the tasks of the user are unlimited.
    fn left(&self, n: usize) -> Option<Rational> {
        self.case.tasks_left(n).map(|left| left / &self.case.g[n])
    }

    /// Returns the largest `(T_n - x_n) / g_n` of the users of a party. Returns `None` if the tasks of some user are
    /// unlimited.
    fn most_left(&self, k: Party) -> Option<Rational> {
        let left: Option<Vec<Rational>> = self.users[k].iter().map(|n| self.left(*n)).collect();
        left?.into_iter().max()
    }

    /// Checks that no weight and no price is negative or belongs to users of other parties. Also checks that no task is
    /// worth more than it costs.
    fn check(&self, k: Party, weights: &Amounts, prices: &Prices) -> Checked<()> {
        let all = weights.iter().chain(&prices.rows).chain(&prices.users);
        ensure(all.into_iter().all(|(_, value)| *value >= 0), "a weight or a price is negative")?;
        let mut named = weights.iter().chain(&prices.users).map(|(n, _)| n);
        let is_own = named.all(|n| self.users[k].binary_search(n).is_ok());
        ensure(is_own, "a weight or a price is for a user that is not in the party")?;
        let is_finite = |(n, _): &(usize, Rational)| self.case.problem.users[*n].tasks.is_some();
        ensure(
            prices.users.iter().all(is_finite),
            "the evidence states a price for the tasks of a user that has unlimited tasks",
        )?;
        prices.cover(self.case, weights, None)
    }

    /// Returns the largest gain from these amounts that the prices allow. The sum of the floors is a concave and
    /// increasing function of the gain. Starting from below, its tangents lead to the point where it equals the bound.
    fn bound(&self, k: Party, amounts: &[Rational], weights: &Amounts, prices: &Prices) -> Checked<Rational> {
        let user = |n: usize| &self.case.problem.users[n];
        let of_rows = prices.rows.iter().map(|(row, p)| Rational::from(&amounts[*row] * p));
        let paid = |(n, q): &(usize, Rational)| Some(Rational::from(user(*n).tasks.as_ref()? * q));
        let bound: Rational = of_rows.chain(prices.users.iter().filter_map(paid)).sum();
        let most = self.most_left(k);
        let held = |z: &Rational| -> Rational {
            let floor =
                |n: usize| user(n).at_most_tasks(&self.case.total[n] + Rational::from(z * &self.case.g[n]));
            weights.iter().map(|(n, l)| floor(*n) * l).sum()
        };
        let slope = |z: Option<&Rational>| -> Rational {
            let is_open = |n: usize| self.left(n).zip(z).is_none_or(|(left, z)| *z < left);
            let open = weights.iter().filter(|(n, _)| is_open(*n));
            open.map(|(n, l)| Rational::from(&self.case.g[*n] * l)).sum()
        };
        let now: Rational = weights.iter().map(|(n, l)| Rational::from(&self.case.total[*n] * l)).sum();
        let mut z: Option<Rational> = None;
        loop {
            work::spend(20 * weights.len() + 1)?;
            let slope = slope(z.as_ref());
            if slope.is_zero() {
                return most.map_or_else(|| refuse("the prices do not bound the gain of the party"), Ok);
            }
            let (from, floors) = (z.clone().unwrap_or_default(), z.as_ref().map_or(now.clone(), held));
            let next = from + Rational::from(&bound - &floors) / slope;
            if z.as_ref() == Some(&next) {
                return Ok(most.into_iter().fold(next, Rational::min));
            }
            z = Some(next);
        }
    }

    /// Returns the gain of a party that an allocation of its users within these amounts shows.
    fn gain(&self, k: Party, amounts: &[Rational], y: &Tasks) -> Checked<Rational> {
        let (mut gains, users) = (Vec::new(), &self.users[k]);
        let is_own = |n: usize| users.binary_search(&n).is_ok();
        for (n, on) in y.iter().enumerate().filter(|(n, on)| !on.is_empty() || is_own(*n)) {
            let are_tasks = on.iter().all(|(i, y)| self.case.counts(n, *i, y));
            ensure(
                is_own(n) && are_tasks,
                "the allocation of the evidence has negative tasks, tasks on a wrong class, or tasks of another party",
            )?;
            let gain = (total_of(on) - &self.case.total[n]) / &self.case.g[n];
            let left = self.left(n);
            let is_there = left.as_ref().is_none_or(|left| gain <= *left);
            ensure(is_there, "the allocation of the evidence gives a user more tasks than it has")?;
            if left.as_ref() != Some(&gain) {
                gains.push(gain);
            }
        }
        let is_within = self.loads(k, y)?.iter().zip(amounts).all(|(load, amount)| load <= amount);
        ensure(
            is_within,
            "the allocation of the evidence takes more than the amounts that the party could use",
        )?;
        let gain = gains.into_iter().min().or_else(|| self.most_left(k)).unwrap_or_default();
        ensure(gain > 0, "the allocation of the evidence does not give every user of the party more tasks")?;
        Ok(gain)
    }
}
