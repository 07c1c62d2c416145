//! Why users have no place for more tasks (theory, section 7, on the axiom `tree`): prices, by weak duality.
//!
//! For prices `p >= 0` of rows and `q >= 0` of limits on server classes let a task of user `n` be worth the least
//! `sum_r p_ir d_nr`, with `q d_nr` of every limit that counts it on class `i`, of the classes where it can run. All
//! totals `T` that have a place keep `sum worth_n T_n <= sum p C + sum q L`. A limit of 0 bars its classes.

use rug::Rational;

use super::holdings::{CELLS, Holdings, On, named};
use crate::axioms::prices::Prices;
use crate::case::Case;
use crate::json::{ABSENT, Json};
use crate::names::{Amounts, at};
use crate::work::{self, Checked, ensure, ensure_small};

/// What stops the filling for want of place.
pub struct Bounds {
    /// What a task of each user is worth, and what all together may be worth.
    pub list: Vec<(Vec<Rational>, Rational)>,
    /// By user: whether there is a class on which it can run and no limit bars it.
    pub open: Vec<bool>,
}

/// Vectors of prices as they are stated: of rows, and of limits on server classes by position.
pub struct Stated(Vec<(Prices<'static>, Amounts)>);

impl Stated {
    /// Of the rows and, where `limits` are there, of limits on server classes: as many lists as vectors of prices.
    pub fn read(case: &Case<'_>, rows: &Json<'_>, limits: &Json<'_>, on: &[On<'_>]) -> Checked<Self> {
        let of_rows = |raw| Prices::read(case, raw, &ABSENT);
        let rows = rows.list()?.iter().map(of_rows).collect::<Checked<Vec<_>>>()?;
        let Some(lists) = limits.given().map(Json::list).transpose()? else {
            return Ok(Self(rows.into_iter().map(|prices| (prices, Amounts::new())).collect()));
        };
        if lists.len() != rows.len() {
            return limits.wrong("expected prices of limits for every vector of prices");
        }
        let limits = lists.iter().map(|raw| named(case, on, raw)).collect::<Checked<Vec<_>>>()?;
        let limits = limits.into_iter().map(|limits| by_position(&limits)).collect::<Checked<Vec<_>>>()?;
        Ok(Self(rows.into_iter().zip(limits).collect()))
    }
}

impl Bounds {
    pub fn new(case: &Case<'_>, Stated(stated): Stated, on: &[On<'_>]) -> Checked<Self> {
        let (users, groups) = (case.problem.users.len(), case.problem.groups.list.len());
        let cells = stated.len().saturating_mul(users.max(groups));
        ensure_small(cells <= CELLS, "vectors of prices, times users or groups")?;
        let (mut above, mut marks) = (Vec::new(), 0_usize);
        for n in 0..users {
            above.push(Holdings::on_of_user(case, on, n)?);
            marks = marks.saturating_add(above[n].len());
            ensure_small(marks <= CELLS, "users, times limits on server classes")?;
        }
        let (mut prices, mut most) = (Vec::new(), Vec::new());
        for (of_rows, of_limits) in stated {
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
                let here = above.iter().filter(|at| on[**at].counts(i));
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

/// The same where each is of a limit, and none of one that has a price already.
fn by_position(prices: &[(Option<usize>, Rational)]) -> Checked<Amounts> {
    let of_limit = |(at, price): &(Option<usize>, Rational)| Some(((*at)?, price.clone()));
    let mut found: Amounts = prices.iter().filter_map(of_limit).collect();
    ensure(found.len() == prices.len(), "a price of a limit that there is not")?;
    found.sort_by_key(|(at, _)| *at);
    ensure(found.is_sorted_by(|a, b| a.0 < b.0), "a limit has two prices")?;
    Ok(found)
}
