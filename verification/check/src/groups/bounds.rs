//! Why users have no place for more tasks (theory, section 7, on the axiom `tree`): prices, by weak duality.
//!
//! For prices `p >= 0` of rows and `q >= 0` of limits on server classes let a task of user `n` be worth the least
//! `sum_r p_ir d_nr`, with `q d_nr` of every limit that counts it on class `i`, of the classes where it can run. All
//! totals `T` that have a place keep `sum worth_n T_n <= sum p C + sum q L`. A limit of 0 bars its classes.

use rug::Rational;

use super::{CELLS, Holdings, On};
use crate::axioms::prices::Prices;
use crate::case::Case;
use crate::json::Json;
use crate::problem::{Amounts, at};
use crate::work::{self, Checked, Fault, ensure};

/// What stops the filling for want of place.
pub struct Bounds {
    /// What a task of each user is worth, and what all together may be worth.
    pub list: Vec<(Vec<Rational>, Rational)>,
    /// By user: whether there is a class on which it can run and no limit bars it.
    pub open: Vec<bool>,
}

impl Bounds {
    /// Of the rows and, where `limits` are there, of limits on server classes: as many lists as vectors of prices.
    pub fn read(case: &Case<'_>, rows: &Json<'_>, limits: &Json<'_>, on: &[On<'_>]) -> Checked<Self> {
        let (rows, users) = (rows.list()?, case.problem.users.len());
        let limits = limits.given().map(Json::list).transpose()?;
        let as_many = limits.is_none_or(|limits| limits.len() == rows.len());
        ensure(as_many, "expected prices of limits for every vector of prices")?;
        if rows.len().saturating_mul(users) > CELLS {
            return Err(Fault::TooLarge("too large: vectors of prices, times users".to_owned()));
        }
        let (mut above, mut marks) = (Vec::new(), 0_usize);
        for n in 0..users {
            above.push(Holdings::on_of_user(case, on, n)?);
            marks = marks.saturating_add(above[n].len());
            if marks > CELLS {
                return Err(Fault::TooLarge("too large: users, times limits on server classes".to_owned()));
            }
        }
        let (mut prices, mut most) = (Vec::new(), Vec::new());
        for (k, raw) in rows.iter().enumerate() {
            let of_rows = Prices { rows: case.by_class_and_row(raw)?, users: Vec::new() };
            let of_limits = limits.map_or(Ok(Amounts::new()), |limits| named(case, on, &limits[k]))?;
            ensure(of_limits.iter().all(|(_, price)| *price >= 0), "a price is negative")?;
            let limited = of_limits.iter().map(|(at, price)| Rational::from(on[*at].most * price)).collect();
            most.push(of_rows.bound(case)? + work::sum(limited)?);
            prices.push((of_rows.rows, of_limits));
        }
        let mut least = vec![vec![None; users]; prices.len()];
        let mut open = vec![false; users];
        for (n, above) in above.iter().enumerate() {
            for i in case.problem.classes_of(n) {
                work::spend(above.len() + 1)?;
                let counts =
                    |at: &usize| Some((*at, self::at(&case.problem.users[n].demand, on[*at].resource)?));
                let here = above.iter().filter(|at| on[**at].classes.binary_search(&i).is_ok());
                let counted: Vec<(usize, &Rational)> = here.filter_map(counts).collect();
                if counted.iter().any(|(at, _)| on[*at].most.is_zero()) {
                    continue;
                }
                open[n] = true;
                let uses = case.uses(n, i);
                for ((rows, limits), least) in prices.iter().zip(&mut least) {
                    work::spend(uses.len() + counted.len() + 1)?;
                    let of_rows =
                        uses.iter().filter_map(|(row, d)| Some(Rational::from(d * at(rows, *row)?)));
                    let of_limits =
                        counted.iter().filter_map(|(of, d)| Some(Rational::from(*d * at(limits, *of)?)));
                    let cost: Rational = of_rows.chain(of_limits).sum();
                    if least[n].as_ref().is_none_or(|least| cost < *least) {
                        least[n] = Some(cost);
                    }
                }
            }
        }
        let worth = |least: Vec<Option<Rational>>| least.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Self { list: least.into_iter().map(worth).zip(most).collect(), open })
    }
}

/// Prices of limits, each of which its group, its classes and its resource name: by position.
fn named(case: &Case<'_>, on: &[On<'_>], raw: &Json<'_>) -> Checked<Amounts> {
    let problem = case.problem;
    let mut prices = Amounts::new();
    for [group, classes, resource, price] in raw.rows("group on resource price")? {
        let (group, set) = (problem.groups.names.named(group)?, problem.class_names.listed(classes)?);
        let resource = problem.resources.named(resource)?;
        work::steps((on.len() * (set.len() + 1)) as u64)?;
        let is_it = |of: &On<'_>| (of.group, of.resource, of.classes) == (group, resource, &set);
        match on.iter().position(is_it) {
            Some(at) => prices.push((at, price.computed()?)),
            None => return raw.wrong("a price of a limit that there is not"),
        }
    }
    prices.sort_by_key(|(at, _)| *at);
    ensure(prices.is_sorted_by(|a, b| a.0 < b.0), "a limit has two prices")?;
    Ok(prices)
}
