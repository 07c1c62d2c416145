//! Max-min fairness among whole tasks over time (docs/theory.md, section 11).
//!
//! The evidence states a schedule: which part of the time the servers of a class have which packing of whole tasks. Its
//! totals `x` are the lexicographic maximum by Fact 8. Every level of the evidence has prices `l` of users, `pi` of
//! classes and `q` of tasks. A branch tree proves for each class that no packing `k` is worth more than `pi`, where a
//! task of user `n` is worth `max(0, l_n - q_n)`. The margin is minus the largest difference between the judged tasks
//! and `x`.
//!
//! A node of a tree is a box of packings. At a leaf with the multipliers `m >= 0`, let `v = worth - sum m d` be the
//! reduced worth of a task of a type. Every packing of the box is worth at most `sum m c` plus the sum of `v` times the
//! least number of tasks of the type (if `v <= 0`) or the largest number (otherwise).

use std::collections::HashMap;

use rug::Rational;

use crate::case::{Case, Claim, Shown};
use crate::json::Json;
use crate::names::{Amounts, MOST, at};
use crate::number::floor;
use crate::problem::most_tasks;
use crate::reservation::packing::{common_unit, multiple, worth};
use crate::share::{Coefficients, Share};
use crate::work::{self, Checked, context, ensure, ensure_small, refuse, require};

/// The shares for which the axiom is defined.
pub const SHARES: [Share; 2] = [Share::Dominant, Share::Unbarred];

/// The largest number of ranges in all boxes that are still to be verified.
const RANGES: usize = 10_000_000;

/// Returns true if the axiom is defined for the problem: resources are divided, and there are no groups.
pub fn apply(case: &Case<'_>) -> bool {
    let is_timed = case.stated.by_time || case.problem.classes.iter().any(|class| class.states_time);
    !is_timed && case.problem.groups.names.list.is_empty()
}

/// Judges the axiom.
pub fn max_min_packings(case: &Case<'_>, claim: &Claim<'_>) -> Checked<Shown> {
    let [schedule, levels] = claim.required_evidence()?.fields("schedule levels")?;
    ensure(apply(case), "packings are not defined for the problem")?;
    let coefficients = claim.share.map(|share| Coefficients::new(share, case)).transpose()?.flatten();
    let Some(u) = coefficients else { return refuse("the share is not defined for the problem") };
    let problem = case.problem;
    let servers = (0..problem.classes.len()).map(|i| Server::new(case, i)).collect::<Checked<Vec<_>>>()?;
    let x = scheduled(case, &servers, schedule)?;
    let share =
        |n: usize| -> Checked<Rational> { Ok(work::times(&u.0[n].0, &x[n])? / &problem.users[n].weight) };
    let shares = (0..x.len()).map(share).collect::<Checked<Vec<_>>>()?;
    let wants = |n: usize| problem.users[n].tasks.as_ref().is_none_or(|tasks| x[n] < *tasks);
    let mut missing: Vec<bool> = (0..x.len()).map(|n| case.is_active(n) && wants(n)).collect();
    let names = &problem.user_names;
    let fields = "covers user_weights class_prices user_prices? pricing?";
    for [covers, weights, prices, of_tasks, pricing] in levels.rows(fields, Ok)? {
        let (weights, of_tasks) = (names.numbers(weights)?, names.numbers(of_tasks)?);
        let prices = problem.class_names.numbers(prices)?;
        let mut all = weights.iter().chain(&of_tasks).chain(&prices);
        ensure(all.all(|(_, price)| *price > 0), "a weight or a price is not above 0")?;
        let mut left = Vec::new();
        for (n, price) in &of_tasks {
            let Some(tasks) = &problem.users[*n].tasks else {
                return refuse(
                    "the evidence states a price for the tasks of a user that has unlimited tasks",
                );
            };
            left.push(-work::times(price, tasks)?);
        }
        for (i, price) in &prices {
            left.push(-work::times(price, &problem.classes[*i].count.into())?);
        }
        for (n, price) in &weights {
            left.push(work::times(price, &x[*n])?);
        }
        ensure(
            work::sum(left)? >= 0,
            "the prices of a level do not prove that its users cannot have more tasks",
        )?;
        let highest = weights.iter().map(|(n, _)| &shares[*n]).max();
        for name in covers.list()? {
            let n = names.named(name)?;
            let is_new = std::mem::replace(&mut missing[n], false);
            ensure(is_new, "a level covers a user that an earlier level covers, or that needs no level")?;
            ensure(at(&weights, n).is_some(), "a level covers a user for which it states no weight")?;
            ensure(
                highest == Some(&shares[n]),
                "a level covers a user whose share is below the highest share of the level",
            )?;
        }
        let trees = problem.class_names.map(pricing, |_, raw| raw.fields::<2>("multipliers nodes"))?;
        let worth_of = |n: usize| {
            let price = |list: &Amounts| at(list, n).cloned().unwrap_or_default();
            (price(&weights) - price(&of_tasks)).max(Rational::new())
        };
        for (i, server) in servers.iter().enumerate() {
            let price = at(&prices, i).cloned().unwrap_or_default();
            let tree = trees.iter().find(|(of, _)| *of == i).map(|(_, tree)| *tree);
            context(&problem.class_names.list[i], server.is_priced(case, worth_of, &price, tree))?;
        }
    }
    if let Some(n) = missing.iter().position(|missing| *missing) {
        return refuse(format!(
            "no level covers user `{}`, so nothing proves that its share cannot rise",
            case.user(n)
        ));
    }
    let mut margin: Option<Rational> = None;
    for n in case.active() {
        let differs = -(work::plus(&case.total[n], &Rational::from(-&x[n]))?.abs() / &case.g[n]);
        margin = Some(margin.map_or_else(|| differs.clone(), |least| least.min(differs.clone())));
    }
    Ok((margin, None))
}

/// Returns the tasks of each user in a schedule.
fn scheduled(case: &Case<'_>, servers: &[Server<'_>], raw: &Json<'_>) -> Checked<Vec<Rational>> {
    let problem = case.problem;
    let mut x = vec![Rational::new(); problem.users.len()];
    for (i, raw) in problem.class_names.map(raw, |_, raw| Ok(raw))? {
        let mut parts = Vec::new();
        for [part, tasks] in raw.rows("part tasks", Ok)? {
            let part = part.computed()?;
            ensure(part >= 0, "the schedule gives a packing a negative part of the time")?;
            let packing = problem.user_names.map(tasks, |_, raw| raw.count(0, MOST))?;
            servers[i].takes(case, &packing)?;
            let all = work::times(&part, &problem.classes[i].count.into())?;
            for (n, tasks) in packing {
                x[n] = work::plus(&x[n], &work::times(&all, &tasks.into())?)?;
            }
            parts.push(part);
        }
        ensure(
            work::sum(parts)? <= 1,
            "the parts of the time of the packings of a class add up to more than 1",
        )?;
    }
    let has_more =
        |(user, x): (&crate::problem::User, &Rational)| user.tasks.as_ref().is_some_and(|tasks| tasks < x);
    let too_many = problem.users.iter().zip(&x).any(has_more);
    ensure(!too_many, "the schedule gives a user more tasks than it has")?;
    Ok(x)
}

/// The tasks of one type. They have the same demand. They belong to a single user if the number of tasks of the user
/// limits a packing.
struct Type<'p> {
    users: Vec<usize>,
    demand: &'p Amounts,
    most: u64,
}

/// One server of a class.
struct Server<'p> {
    /// The capacities, rounded down to multiples of the greatest common divisor of the demands for the resource.
    capacity: Amounts,
    types: Vec<Type<'p>>,
    /// The position of the type of each user in `types`.
    type_of: HashMap<usize, usize>,
}

/// The smallest and the largest number of tasks of a type.
type Range = (u64, u64);

/// The multipliers of a leaf: the reduced worth of each type, and the worth of the capacities.
type Reduced = (Vec<Rational>, Rational);

impl<'p> Server<'p> {
    fn new(case: &Case<'p>, class: usize) -> Checked<Self> {
        let problem = case.problem;
        let of = &problem.classes[class];
        let mut types: Vec<Type<'p>> = Vec::new();
        let (mut type_of, mut known) = (HashMap::new(), HashMap::new());
        let mut units: Vec<Rational> = vec![Rational::new(); problem.resources.list.len()];
        for n in case.active().filter(|n| problem.can_run(*n, class)) {
            let demand = problem.demand(n, class);
            work::spend_stated(2 * demand.len() + 1)?;
            let whole = |value: Rational| floor(value).to_u64().unwrap_or(u64::MAX);
            let fit = whole(most_tasks(demand, &of.capacity));
            let tasks = problem.users[n].tasks.clone().map_or(u64::MAX, whole);
            ensure_small(fit.min(tasks) <= MOST, "too many tasks fit on one server")?;
            if fit.min(tasks) == 0 {
                continue;
            }
            let next = types.len();
            let position = if tasks < fit { next } else { *known.entry(demand).or_insert(next) };
            type_of.insert(n, position);
            if position < next {
                types[position].users.push(n);
                continue;
            }
            for (r, d) in demand {
                units[*r] = common_unit(&units[*r], d)?;
            }
            types.push(Type { users: vec![n], demand, most: fit.min(tasks) });
        }
        let in_units = |(r, c): &(usize, Rational)| {
            (*r, if units[*r].is_zero() { c.clone() } else { multiple(c, &units[*r]) })
        };
        let capacity = of.capacity.iter().map(in_units).collect();
        Ok(Self { capacity, types, type_of })
    }

    /// Checks that a packing fits on the server.
    fn takes(&self, case: &Case<'_>, packing: &[(usize, u64)]) -> Checked<()> {
        let mut tasks: Vec<Range> = vec![(0, 0); self.types.len()];
        for (n, k) in packing.iter().filter(|(_, k)| *k > 0) {
            let Some(at) = self.type_of.get(n) else {
                return refuse(format!(
                    "no task of user `{}` fits on a server of its packing",
                    case.user(*n)
                ));
            };
            let is_had = case.problem.users[*n].tasks.as_ref().is_none_or(|tasks| *tasks >= *k);
            ensure(is_had, "a packing has more tasks of a user than the user has")?;
            tasks[*at].0 = tasks[*at].0.saturating_add(*k);
        }
        ensure(self.left(&tasks)?.is_some(), "a packing does not fit on its server")
    }

    /// Returns the capacity by resource that remains after the smallest numbers of tasks. Returns `None` if these tasks
    /// do not fit.
    fn left(&self, ranges: &[Range]) -> Checked<Option<Amounts>> {
        let mut left = self.capacity.clone();
        for (of, (least, _)) in self.types.iter().zip(ranges).filter(|(_, (least, _))| *least > 0) {
            work::spend(of.demand.len())?;
            for (r, d) in of.demand {
                // A type fits only if the server has all resources that its tasks demand.
                let Ok(at) = left.binary_search_by_key(r, |(r, _)| *r) else { return Ok(None) };
                left[at].1 -= Rational::from(d * *least);
            }
        }
        Ok(if left.iter().all(|(_, left)| *left >= 0) { Some(left) } else { None })
    }

    /// Checks that no packing is worth more than a price. A missing tree counts as a single leaf without multipliers.
    fn is_priced(
        &self,
        case: &Case<'_>,
        worth_of: impl Fn(usize) -> Rational,
        price: &Rational,
        tree: Option<[&Json<'_>; 2]>,
    ) -> Checked<()> {
        work::spend(4 * self.type_of.len())?;
        let best = |of: &Type<'_>| of.users.iter().map(|n| worth_of(*n)).max().unwrap_or_default();
        let values: Vec<Rational> = self.types.iter().map(best).collect();
        // All values are multiples of a unit. Therefore a worth below the next multiple above the price is at most the
        // price.
        let unit = values.iter().try_fold(Rational::new(), |unit, value| common_unit(&unit, value))?;
        let unit = if unit.is_zero() { Rational::from(1) } else { unit };
        let limit = multiple(price, &unit) + &unit;
        let resources = &case.problem.resources;
        let mut sets: Vec<Reduced> = Vec::new();
        let stated = tree.map_or(Ok(&[][..]), |[multipliers, _]| multipliers.list())?;
        for raw in stated {
            let set = resources.numbers(raw)?;
            ensure(set.iter().all(|(_, m)| *m >= 0), "a multiplier is negative")?;
            work::spend(
                self.types.iter().map(|of| of.demand.len() + 1).sum::<usize>() + self.capacity.len(),
            )?;
            let reduced = |(of, value): (&Type<'_>, &Rational)| value - worth(&set, of.demand);
            let reduced = self.types.iter().zip(&values).map(reduced).collect();
            sets.push((reduced, worth(&set, &self.capacity)));
        }
        let start: Vec<Range> = self.types.iter().map(|of| (0, of.most)).collect();
        let Some([_, nodes]) = tree else {
            let is_low = self.holds(&start, &(values, Rational::new()), &limit)?;
            return ensure(is_low, "a packing may be worth more than the price of its class");
        };
        // The boxes that are still to be verified. The last box is verified next.
        let mut boxes = vec![start];
        for node in nodes.list()? {
            let mut ranges = require(boxes.pop(), "a tree has more nodes than branches")?;
            let Ok(split) = node.list() else {
                let which = usize::try_from(node.count(0, MOST)?).unwrap_or(usize::MAX);
                let set = require(sets.get(which), "a node of a tree names multipliers that do not exist")?;
                ensure(self.holds(&ranges, set, &limit)?, "the bound at a leaf of a tree is too weak")?;
                continue;
            };
            let [user, tasks] = split else { return node.wrong("expected a user and a number of tasks") };
            let (n, tasks) = (case.problem.user_names.named(user)?, tasks.count(1, MOST)?);
            let at = *require(
                self.type_of.get(&n),
                "a tree branches on a user of which no task fits on the server",
            )?;
            work::steps(self.types.len() as u64 + 20)?;
            let is_small = (boxes.len() + 2).saturating_mul(self.types.len()) <= RANGES;
            ensure_small(is_small, "a tree has too many open boxes")?;
            let mut first = ranges.clone();
            first[at].0 = first[at].0.max(tasks);
            ranges[at].1 = ranges[at].1.min(tasks - 1);
            boxes.extend([ranges, first]);
        }
        ensure(boxes.is_empty(), "a tree ends while branches are open")
    }

    /// Returns true if the multipliers of a leaf prove that every packing of a box is worth less than a limit.
    fn holds(&self, ranges: &[Range], (reduced, worth): &Reduced, limit: &Rational) -> Checked<bool> {
        work::steps(10 * ranges.len() as u64)?;
        if ranges.iter().any(|(least, most)| most < least) {
            return Ok(true);
        }
        let is_open = |at: &usize| reduced[*at] > 0 && ranges[*at].0 < ranges[*at].1;
        let open: Vec<usize> = (0..ranges.len()).filter(is_open).collect();
        let fixed: Vec<usize> = (0..ranges.len()).filter(|at| ranges[*at].0 > 0).collect();
        work::spend(2 * (open.len() + fixed.len()) + 2)?;
        let of_fixed: Rational = fixed.iter().map(|at| Rational::from(&reduced[*at] * ranges[*at].0)).sum();
        let mut bound = of_fixed + worth;
        if open.is_empty() && bound < *limit {
            return Ok(true);
        }
        // The box has no packing if these tasks do not fit together.
        let Some(left) = self.left(ranges)? else { return Ok(true) };
        for j in open {
            work::spend(self.types[j].demand.len() + 1)?;
            let more = floor(most_tasks(self.types[j].demand, &left)).to_u64().unwrap_or(MOST);
            let (least, most) = ranges[j];
            bound += Rational::from(&reduced[j] * more.min(most - least));
        }
        Ok(bound < *limit)
    }
}
