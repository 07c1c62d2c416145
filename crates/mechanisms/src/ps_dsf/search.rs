//! The one walk over the starts of the strategy: the answers that they lead to, and which is returned.

use evenhand_lp::njc::Goal;
use evenhand_problem::{Allocation, Arithmetic, Constraints, Rational};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use super::attempts::{self, Found, Spent};
use super::market::{Market, Point};
use super::scalar::Scalar;
use super::strategy::{MOST_WORK, SEARCH_WORK, SEARCHED, STARTS, Start, WORK};
use super::{exchanges, path, theorem};
use crate::mechanism::{Outcome, Search, Tried};
use crate::registry;

/// A PS-DSF allocation, exact.
#[derive(Debug, Clone)]
pub struct Answer {
    /// `x_ni` by user.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// `x_n` by user.
    totals: Vec<Rational>,
    /// Rows that serve as bottlenecks, ascending.
    pub bottlenecks: Vec<usize>,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Searched {
    /// The answer that is returned, if there is one.
    pub answer: Option<Answer>,
    /// The best point in floating point, where no start led to an exact answer.
    pub nearly: Option<Found>,
    /// The search, in words and numbers.
    pub search: Search,
    /// What was spent.
    pub spent: Spent,
    /// Why there is no exact answer, where there is none.
    pub why: String,
}

/// Tries the starts on `constraints`, whose problem is in canonical order; `named` is the only order
/// of the classes that is tried, if there is one.
pub fn search(constraints: &Constraints<'_>, named: Option<&[usize]>, select: Option<Goal>) -> Searched {
    let market = Market::<f64>::new(constraints);
    let mut walk = Walk {
        constraints,
        market,
        exact: Market::<Rational>::new(constraints),
        spent: Spent { most: MOST_WORK, ..Spent::default() },
        nearly: None,
        why: "no path ended".to_owned(),
    };
    let unique = (0..walk.market.n_classes()).filter(|i| !walk.market.of_class[*i].is_empty()).count() <= 1;
    let starts = starts(named.is_some(), unique, select.is_some());
    let budget = if select.is_some() { SEARCH_WORK } else { WORK };
    let mut tried: Vec<Tried> = Vec::new();
    let mut answers: Vec<(usize, Answer)> = Vec::new();
    for start in &starts {
        if walk.spent.work > budget && !answers.is_empty() {
            break;
        }
        if !answers.is_empty() {
            walk.spent.most = budget;
        }
        let answer = walk.from(*start, named);
        tried.push(Tried {
            start: start.name(),
            tasks: answer.as_ref().map(|answer| answer.totals.iter().sum()),
        });
        let is_new = |answer: &Answer| answers.iter().all(|(_, other)| other.totals != answer.totals);
        if let Some(answer) = answer.filter(is_new) {
            answers.push((tried.len() - 1, answer));
        }
    }
    let count = answers.len();
    let most = answers.iter().map(|(_, answer)| answer.totals.iter().sum::<Rational>()).max();
    let best = best(constraints, answers, select.unwrap_or(Goal::MaxTasks));
    let returned = best.as_ref().map(|(start, _)| *start);
    let answer = best.map(|(_, answer)| answer);
    let served = answer.as_ref().map(|answer| answer.totals.iter().sum::<Rational>());
    let search = Search {
        planned: starts.len(),
        returned: returned.unwrap_or(0),
        tried,
        answers: count,
        unique,
        more_tasks: most.filter(|most| served.as_ref().is_some_and(|served| most > served)),
        work: walk.spent.work,
        budget,
    };
    Searched { answer, nearly: walk.nearly, search, spent: walk.spent, why: walk.why }
}

/// The starts to try. Where the answer is unique one start leads to it.
fn starts(is_named: bool, unique: bool, searches: bool) -> Vec<Start> {
    match (is_named, unique) {
        (true, _) => vec![Start::Named],
        (false, true) => vec![STARTS[0]],
        (false, false) => {
            let more = SEARCHED.filter(|_| searches).map(Start::Shuffled);
            STARTS.into_iter().chain(more).collect()
        }
    }
}

/// The best answer for `goal`; of several the one that serves most tasks, then the first.
fn best(constraints: &Constraints<'_>, answers: Vec<(usize, Answer)>, goal: Goal) -> Option<(usize, Answer)> {
    let mut best: Option<([Rational; 2], (usize, Answer))> = None;
    for (start, answer) in answers {
        let value = [goal, Goal::MaxTasks].map(|goal| goal.value(constraints, &answer.tasks));
        if best.as_ref().is_none_or(|(most, _)| value > *most) {
            best = Some((value, (start, answer)));
        }
    }
    best.map(|(_, found)| found)
}

struct Walk<'a> {
    constraints: &'a Constraints<'a>,
    market: Market<f64>,
    exact: Market<Rational>,
    spent: Spent,
    nearly: Option<Found>,
    why: String,
}

/// Problems with more places are solved by exchanges, from one start.
const LARGE: usize = 10_000;
/// Steps that a mechanism is taken to need for each place.
const WORK_OF_A_MECHANISM: u64 = 5_000;

impl Walk<'_> {
    /// The answer that `start` leads to.
    fn from(&mut self, start: Start, named: Option<&[usize]>) -> Option<Answer> {
        let mut order: Vec<usize> = (0..self.market.n_classes()).collect();
        let point = match start {
            Start::Named => {
                order = named.map_or(order, <[usize]>::to_vec);
                self.market.nothing()
            }
            Start::Ascending => self.market.nothing(),
            Start::Descending => {
                order.reverse();
                self.market.nothing()
            }
            Start::Shuffled(seed) => {
                order.shuffle(&mut Pcg64Mcg::seed_from_u64(seed));
                self.market.nothing()
            }
            Start::Drfh | Start::Tsf => {
                let found = self.mechanism(if start == Start::Drfh { "drfh" } else { "tsf" })?;
                let as_it_is = point(&self.exact, &found.allocation, Clone::clone);
                if let Ok(bottlenecks) = theorem::bottlenecks(&self.exact, &as_it_is) {
                    return Some(answer(&self.exact, &as_it_is, bottlenecks));
                }
                point(&self.market, &found.allocation, Rational::to_f64)
            }
        };
        let is_large = self.market.places.len() > LARGE && start != Start::Drfh && start != Start::Tsf;
        if is_large && let Ok(found) = exchanges::find(&self.market, &self.exact, &order) {
            self.spent.sweeps += found.sweeps;
            // No further start: a large problem takes long enough.
            self.spent.work = self.spent.work.max(SEARCH_WORK) + 1;
            return Some(answer(&self.exact, &found.point, found.bottlenecks));
        }
        let (exact, nearly, why) = (&self.exact, &mut self.nearly, &mut self.why);
        attempts::find(&self.market, &order, point, &mut self.spent, |found, spent| {
            let point = path::solve(exact, &found.model, &found.set, &found.point);
            spent.work += exact_work(found);
            match theorem::bottlenecks(exact, &point) {
                Ok(bottlenecks) => Some(answer(exact, &point, bottlenecks)),
                Err(reason) => {
                    *why = reason;
                    if nearly.as_ref().is_none_or(|nearly| found.residual < nearly.residual) {
                        *nearly = Some(found.clone());
                    }
                    None
                }
            }
        })
    }

    /// The allocation of another mechanism.
    fn mechanism(&mut self, name: &str) -> Option<Outcome> {
        self.spent.work += WORK_OF_A_MECHANISM * self.market.places.len() as u64;
        let problem = self.constraints.problem();
        registry::find(name)?.allocate(problem, Arithmetic::Exact).ok()
    }
}

/// Steps of an exact solution and its verification, with numbers that are longer than doubles.
fn exact_work(found: &Found) -> u64 {
    let rows = found.set.full.iter().filter(|full| **full).count() as u64;
    64 * (rows.pow(2) + found.point.tasks.len() as u64)
}

fn answer(market: &Market<Rational>, point: &Point<Rational>, bottlenecks: Vec<Option<usize>>) -> Answer {
    let mut rows: Vec<usize> = bottlenecks.into_iter().flatten().collect();
    rows.sort_unstable();
    rows.dedup();
    Answer { tasks: market.lists(point), totals: point.totals.clone(), bottlenecks: rows }
}

fn point<T: Scalar>(
    market: &Market<T>,
    allocation: &Allocation,
    number: impl Fn(&Rational) -> T,
) -> Point<T> {
    let on = |place: &super::market::Place<T>| {
        let list = allocation.tasks.get(place.user).into_iter().flatten();
        list.filter(|(class, _)| *class == place.class).fold(T::zero(), |sum, (_, x)| sum.plus(&number(x)))
    };
    market.point(market.places.iter().map(on).collect())
}
