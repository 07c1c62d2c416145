//! The driver of the [strategy](super::strategy): it tries every start in turn and selects the best answer.

use std::time::{Duration, Instant};

use evenhand_budget::{Limits, within};
use evenhand_levels::njc::Goal;
use evenhand_problem::{Arithmetic, Constraints, Rational};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use super::candidates::{Candidate, Candidates, Spent};
use super::homotopy::{self, ScaledModel};
use super::neighbours::first_answer_near;
use super::pairs::{PairModel, Point};
use super::strategy::{BUDGET, BUDGET_OF_SELECT, SHUFFLES_OF_SELECT, STARTS, Start};
use super::theorem_1::{self, Violation};
use crate::lift::lift;
use crate::mechanism::{Search, Tried};

/// An exact PS-DSF allocation.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The tasks `x_ni` of each user.
    pub tasks: Vec<Vec<(usize, Rational)>>,
    /// The total tasks `x_n` of each user.
    totals: Vec<Rational>,
    /// The rows that are bottlenecks, in ascending order.
    pub bottlenecks: Vec<usize>,
}

/// The result of a search.
#[derive(Debug, Clone)]
pub struct Searched {
    /// The answer that is returned, or `None` if the search found no answer.
    pub answer: Option<Answer>,
    /// The refused candidate with the smallest residual, or `None` if no candidate was refused. It is of use
    /// if no exact answer was found.
    pub closest: Option<Candidate>,
    /// The model in doubles.
    pub model: PairModel<f64>,
    /// `true` if the time was up before all starts were tried.
    pub is_late: bool,
    /// The record of the search, in words and numbers.
    pub search: Search,
    /// The work that was done.
    pub spent: Spent,
    /// The violation of the last candidate that was refused, or `None` if no candidate was refused.
    pub violation: Option<Violation>,
}

/// Tries the starts on `constraints`, whose problem is in canonical order. If `named` is given, it is the only order
/// of the classes that is tried. The search stops after `time`.
pub fn search(
    constraints: &Constraints<'_>,
    named: Option<&[usize]>,
    select: Option<Goal>,
    time: Option<Duration>,
) -> Searched {
    // Check that there is memory for both models before a model is created.
    let classes = 0..constraints.problem().n_servers();
    let room =
        (PairModel::<f64>::held(constraints, &classes), PairModel::<Rational>::held(constraints, &classes));
    drop(room);
    let until = time.and_then(|time| Instant::now().checked_add(time));
    let mut driver = Driver {
        constraints,
        model: PairModel::<f64>::new(constraints),
        exact: PairModel::<Rational>::new(constraints),
        spent: Spent { most: BUDGET.without, ..Spent::default() },
        closest: None,
        violation: None,
    };
    let used = driver.model.of_class.iter().filter(|pairs| !pairs.is_empty()).count();
    // On one class the answer is unique (docs/theory.md, section 4, Theorem A).
    let unique = used <= 1;
    let starts = starts(named.is_some(), unique, select.is_some());
    let budget = if select.is_some() { BUDGET_OF_SELECT } else { BUDGET };
    let mut tried: Vec<Tried> = Vec::new();
    let mut answers: Vec<(usize, Answer)> = Vec::new();
    let mut is_late = false;
    for start in &starts {
        is_late |= until.is_some_and(|until| Instant::now() >= until);
        if is_late {
            break;
        }
        if !answers.is_empty() {
            driver.spent.most = budget.with_an_answer;
            if driver.spent.is_over() {
                break;
            }
        }
        let answer = within(&time_left(until), || driver.answer_from(tried.len(), *start, named))
            .unwrap_or_else(|_| {
                is_late = true;
                None
            });
        tried.push(Tried {
            start: start.name(),
            tasks: answer.as_ref().map(|answer| answer.totals.iter().sum()),
        });
        let is_new = |answer: &Answer| answers.iter().all(|(_, other)| other.totals != answer.totals);
        if let Some(answer) = answer.filter(is_new) {
            answers.push((tried.len() - 1, answer));
        }
    }
    if answers.is_empty() && !is_late {
        match within(&time_left(until), || driver.answer_near_closest()) {
            Ok(Some((start, answer))) => {
                tried[start].tasks = Some(answer.totals.iter().sum());
                answers.push((start, answer));
            }
            Ok(None) => is_late = until.is_some_and(|until| Instant::now() >= until),
            Err(_) => is_late = true,
        }
    }
    let count = answers.len();
    let most = answers.iter().map(|(_, answer)| answer.totals.iter().sum::<Rational>()).max();
    let best = best(constraints, answers, select.unwrap_or(Goal::MaxTasks));
    let returned = best.as_ref().map_or(0, |(start, _)| *start);
    let answer = best.map(|(_, answer)| answer);
    let served = answer.as_ref().map(|answer| answer.totals.iter().sum::<Rational>());
    let search = Search {
        planned: starts.len(),
        returned,
        tried,
        answers: count,
        unique,
        more_tasks: most.filter(|most| served.as_ref().is_some_and(|served| most > served)),
        work: driver.spent.work,
        budget: budget.with_an_answer,
    };
    let Driver { closest, spent, violation, model, .. } = driver;
    let closest = closest.map(|(_, candidate)| candidate);
    Searched { answer, closest, model, is_late, search, spent, violation }
}

/// Returns the time that remains until `until`, as a limit.
fn time_left(until: Option<Instant>) -> Limits {
    let time = until.map(|until| until.saturating_duration_since(Instant::now()));
    Limits { time, ..Limits::default() }
}

/// Returns the starts to try. If the answer is unique, one start leads to it.
fn starts(is_named: bool, unique: bool, selects: bool) -> Vec<Start> {
    match (is_named, unique) {
        (true, _) => vec![Start::Named],
        (false, true) => vec![STARTS[0]],
        (false, false) => {
            let more = SHUFFLES_OF_SELECT.filter(|_| selects).map(Start::Shuffled);
            STARTS.into_iter().chain(more).collect()
        }
    }
}

/// Returns the best answer for `goal`. Ties are decided by the number of tasks, then by the order of the starts.
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

/// The state of a search.
struct Driver<'a> {
    constraints: &'a Constraints<'a>,
    model: PairModel<f64>,
    exact: PairModel<Rational>,
    spent: Spent,
    /// The refused candidate with the smallest residual, and the number of its start.
    closest: Option<(usize, Candidate)>,
    violation: Option<Violation>,
}

/// The assumed number of steps of another mechanism for each pair of a user and a class. Exact max-min
/// fairness takes a few microseconds for each pair.
const WORK_OF_A_MECHANISM: u64 = 5_000;

impl Driver<'_> {
    /// Returns the answer to which `start` leads.
    fn answer_from(&mut self, number: usize, start: Start, named: Option<&[usize]>) -> Option<Answer> {
        let mut order: Vec<usize> = (0..self.model.n_classes()).collect();
        let mut point = self.model.empty();
        match start {
            Start::Ascending => {}
            Start::Named => order = named.map_or(order, <[usize]>::to_vec),
            Start::Descending => order.reverse(),
            Start::Shuffled(seed) => order.shuffle(&mut Pcg64Mcg::seed_from_u64(seed)),
            Start::Mechanism(other) => {
                // The mechanism charges its own work, so only its steps are counted here.
                self.spent.work += WORK_OF_A_MECHANISM * self.model.pairs.len() as u64;
                let problem = self.constraints.problem();
                let found = other.allocate(problem, Arithmetic::Exact).ok()?.allocation;
                if let Ok(answer) = judge(&self.exact, self.exact.point_of(&found.tasks, Clone::clone)) {
                    return Some(answer);
                }
                point = self.model.point_of(&found.tasks, Rational::to_f64);
            }
        }
        let exact = &self.exact;
        let found = lift(
            Candidates::new(&self.model, &order, point, &mut self.spent),
            |candidate| Ok(homotopy::solve(exact, &candidate.set, &candidate.highest, &candidate.point)),
            |point| Ok((judge(exact, point)?, Rational::new())),
        );
        let refused = match found {
            Ok(answer) => return Some(answer),
            Err(refused) => refused,
        };
        let found = refused.candidates.into_iter().map(|candidate| (number, candidate));
        let candidates = self.closest.take().into_iter().chain(found);
        self.closest = candidates.min_by(|a, b| a.1.residual.total_cmp(&b.1.residual));
        self.violation = refused.reasons.into_iter().next_back().or(self.violation.take());
        None
    }

    /// Returns an answer among the neighbours of the closest candidate, with the number of its start.
    fn answer_near_closest(&mut self) -> Option<(usize, Answer)> {
        let (start, from) = self.closest.as_ref()?;
        let scaled = ScaledModel::new(&self.model);
        let answer =
            first_answer_near(&self.exact, &scaled, from, &mut self.spent, |point| judge(&self.exact, point));
        Some((*start, answer?))
    }
}

/// Returns the point as an answer if Theorem 1 holds for it.
fn judge(model: &PairModel<Rational>, point: Point<Rational>) -> Result<Answer, Violation> {
    let mut rows: Vec<usize> = theorem_1::bottlenecks(model, &point)?.into_iter().flatten().collect();
    rows.sort_unstable();
    rows.dedup();
    Ok(Answer { tasks: model.tasks_by_user(&point), totals: point.totals, bottlenecks: rows })
}
