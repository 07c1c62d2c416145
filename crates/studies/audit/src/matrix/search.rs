//! The search for one mechanism. The search examines all small problems first. Then it examines random
//! problems, mixed with small changes of problems that nearly refute a column.

use std::ops::Range;
use std::sync::Arc;

use evenhand_budget::{Limits, within};
use evenhand_certify::{Optima, Request, certify_among};
use evenhand_exact::Axiom;
use evenhand_mechanisms::{Flags, Mechanism, MechanismError};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};
use rand::Rng;
use rand_pcg::Pcg64;
use rayon::prelude::*;

use super::column::{Column, request};
use super::known::{Known, known};
use super::made;
use super::premises::Premises;
use super::small::Universe;
use crate::property::probe;
use crate::shrink::shrink;
use crate::stated::Stated;
use crate::subject::Subject;
use crate::{Property, TOLERANCE};

/// The number of problems that are examined together.
const BATCH: u64 = 64;
/// The number of problems that are stored for a column because they nearly refute the column.
const MOST_NEAR: usize = 8;
/// The largest amount of work for one problem, in elementary steps, for all columns together. It takes a few seconds.
const WORK: u64 = 500_000_000;
/// Only every second random problem is tested for properties, because each property requires many solutions.
const PROPERTIES_EVERY: u64 = 2;
/// The largest deviation that does not count as a violation. An irrational answer is given within a proven gap, and its
/// error is about the square root of the gap. This number is far above that error.
const COARSE: (u32, u32) = (1, 1_000);
/// The values of flags that mechanisms require.
const FLAGS: [(&str, &str); 2] = [("alpha", "2"), ("slots", "4")];

/// A search, with its progress and results.
#[derive(Clone)]
pub struct Search {
    /// The mechanism with its flags.
    pub(super) subject: Subject,
    /// The rule that selects among several answers, unless it is the default rule.
    pub(super) select: Option<&'static str>,
    /// The premises that every problem satisfies.
    pub(super) premises: Premises,
    /// The columns that are searched.
    pub(super) cells: Vec<Cell>,
    /// The number of problems that were examined.
    pub(super) at: u64,
    /// The number of problems for which the mechanism is defined.
    pub(super) problems: u64,
    /// The number of problems without an answer, and of problems whose examination took too much work.
    pub(super) failed: u64,
}

/// A column of a search, with its results so far.
#[derive(Clone)]
pub struct Cell {
    /// The column.
    pub(super) column: Column,
    /// The number of problems on which the column was decided.
    pub(super) decided: u64,
    /// The first problem that refutes the column, reduced to a small one.
    pub(super) found: Option<Found>,
    /// The problems that come closest to refuting the column, the closest first.
    pub(super) near: Vec<Near>,
}

/// A problem that refutes a column.
#[derive(Clone)]
pub struct Found {
    /// The problem.
    pub(super) problem: Problem,
    /// True if the exhaustive search of small problems produced the problem, before the problem was reduced.
    pub(super) exhaustive: bool,
}

/// A problem that nearly refutes a column.
#[derive(Clone, PartialEq)]
pub struct Near {
    /// The distance of the problem from a refutation, as a fraction of the user's tasks.
    pub(super) by: Rational,
    /// The problem.
    pub(super) stated: Stated,
}

/// The result of one problem for one column.
enum ColumnResult {
    /// The column is not decided on this problem.
    Nothing,
    /// The problem satisfies the column. The number is the distance from a violation, if the problem nearly
    /// violates the column.
    Kept(Option<Rational>),
    Refuted,
}

/// The result of one problem for all columns.
enum ProblemResult {
    /// The problem is not valid, or the mechanism is not defined for it.
    Outside,
    Failed,
    Examined(Stated, Vec<ColumnResult>),
}

/// Returns the flags with which a mechanism runs in a search.
#[must_use]
pub fn flags(mechanism: &Mechanism) -> Flags {
    let needed = FLAGS.into_iter().filter(|(name, _)| mechanism.takes(name));
    needed.fold(Flags::new(Arithmetic::Exact), |flags, (name, value)| flags.with(name, value))
}

impl Search {
    /// Creates a search that has not begun.
    #[must_use]
    pub fn new(
        mechanism: &'static Mechanism,
        select: Option<&'static str>,
        premises: Premises,
        columns: impl IntoIterator<Item = Column>,
    ) -> Self {
        let flags = flags(mechanism);
        let flags = select.map_or_else(|| flags.clone(), |goal| flags.clone().with("select", goal));
        Self {
            select,
            subject: Subject { mechanism, flags, tolerance: COARSE },
            premises,
            cells: columns.into_iter().map(Cell::new).collect(),
            at: 0,
            problems: 0,
            failed: 0,
        }
    }

    /// Adds a column before the search begins.
    pub(super) fn ask(&mut self, column: Column) {
        if self.cells.iter().all(|cell| cell.column != column) {
            self.cells.push(Cell::new(column));
            // The results of a problem are in this order, axioms first.
            self.cells.sort_by_key(|cell| matches!(cell.column, Column::Property(_)));
        }
    }

    fn with_criterion(&self) -> bool {
        self.subject.mechanism.info.id == "generic"
    }

    fn universe(&self) -> Arc<Universe> {
        Universe::of(self.with_criterion(), self.premises)
    }

    /// Returns the numbers of problems that are small, random, with groups, and known.
    fn parts(&self, instances: u64) -> [u64; 4] {
        let small = self.universe().count();
        let grouped = if self.subject.mechanism.takes("rule") { instances } else { 0 };
        [small, instances, grouped, made::N_KNOWN]
    }

    /// Returns the largest number of problems that the search examines.
    #[must_use]
    pub fn numbers(&self, instances: u64) -> u64 {
        self.parts(instances).iter().sum()
    }

    /// Returns `true` if the search has ended: all columns are refuted, or all problems have been examined.
    #[must_use]
    pub fn is_complete(&self, instances: u64) -> bool {
        self.at >= self.numbers(instances) || self.cells.iter().all(|cell| cell.found.is_some())
    }

    /// Examines the next few problems.
    pub fn advance(&mut self, seed: u64, instances: u64) {
        let [small, random, grouped, _] = self.parts(instances);
        let universe = self.universe();
        let ends = [small, small + random, small + random + grouped, self.numbers(instances)];
        let Some(end) = ends.into_iter().find(|end| self.at < *end) else { return };
        let numbers = self.at..end.min(self.at + BATCH);
        let make = |number: u64| match number {
            _ if number < small => universe.problem(number),
            _ if number < small + random => Some(self.at_random(seed, number - small)),
            _ if number < small + random + grouped => {
                Some(made::grouped(seed, number - small - random, self.premises))
            }
            _ => made::known(number - small - random - grouped, self.premises),
        };
        let results = self.examine_all(numbers.clone(), small..small + random + grouped, make);
        let exhaustive = numbers.end <= small;
        self.at = numbers.end;
        self.count(results, exhaustive);
        if self.is_complete(instances) {
            self.cells.iter_mut().for_each(|cell| cell.near.clear());
        }
    }

    fn at_random(&self, seed: u64, number: u64) -> Stated {
        let pool: Vec<&Stated> =
            self.cells.iter().flat_map(|cell| &cell.near).map(|near| &near.stated).collect();
        let random = &mut Pcg64::new(u128::from(seed) | 1 << 66, u128::from(number));
        if pool.is_empty() || random.random_bool(0.5) {
            return made::fresh(seed, number, self.with_criterion(), self.premises);
        }
        let from = pool[random.random_range(0..pool.len())];
        made::changed(random, from, self.premises)
    }

    fn examine_all(
        &self,
        numbers: Range<u64>,
        at_random: Range<u64>,
        make: impl Fn(u64) -> Option<Stated> + Sync,
    ) -> Vec<ProblemResult> {
        let open: Vec<Column> =
            self.cells.iter().filter(|cell| cell.found.is_none()).map(|cell| cell.column).collect();
        let few: Vec<Column> =
            open.iter().copied().filter(|column| matches!(column, Column::Axiom(_))).collect();
        let look = |number: u64| {
            let columns = if at_random.contains(&number) && !number.is_multiple_of(PROPERTIES_EVERY) {
                &few
            } else {
                &open
            };
            make(number).map_or(ProblemResult::Outside, |stated| {
                examine(&self.subject, self.premises, stated, columns)
            })
        };
        numbers.into_par_iter().map(look).collect()
    }

    fn count(&mut self, results: Vec<ProblemResult>, exhaustive: bool) {
        let mut firsts: Vec<(usize, Stated)> = Vec::new();
        let open: Vec<usize> = (0..self.cells.len()).filter(|c| self.cells[*c].found.is_none()).collect();
        for examined in results {
            let (stated, results) = match examined {
                ProblemResult::Outside => continue,
                ProblemResult::Failed => {
                    self.failed += 1;
                    continue;
                }
                ProblemResult::Examined(stated, results) => (stated, results),
            };
            self.problems += 1;
            // Axioms come first. If properties are not tested, the list of results ends before the properties in
            // `open`.
            for (c, result) in open.iter().zip(results) {
                if firsts.iter().any(|(known, _)| known == c) {
                    continue;
                }
                match result {
                    ColumnResult::Nothing => {}
                    ColumnResult::Kept(near) => self.cells[*c].keep(near, &stated),
                    ColumnResult::Refuted => {
                        self.cells[*c].decided += 1;
                        firsts.push((*c, stated.clone()));
                    }
                }
            }
        }
        let found: Vec<(usize, Option<Problem>)> = firsts
            .into_par_iter()
            .map(|(c, stated)| (c, self.smallest(self.cells[c].column, stated)))
            .collect();
        for (c, problem) in found {
            self.cells[c].found = problem.map(|problem| Found { problem, exhaustive });
            self.cells[c].near.clear();
        }
    }

    /// Reduces a problem as long as it refutes the column and satisfies the premises.
    fn smallest(&self, column: Column, stated: Stated) -> Option<Problem> {
        let shows = |stated: &Stated| {
            stated.problem().is_some_and(|problem| self.premises.hold(&problem))
                && matches!(examine(&self.subject, self.premises, stated.clone(), &[column]),
                            ProblemResult::Examined(_, results) if matches!(results[..], [ColumnResult::Refuted]))
        };
        let small = shrink(stated, shows);
        Some(small.renamed()).filter(shows).unwrap_or(small).problem()
    }
}

impl Cell {
    pub(super) const fn new(column: Column) -> Self {
        Self { column, decided: 0, found: None, near: Vec::new() }
    }

    fn keep(&mut self, near: Option<Rational>, stated: &Stated) {
        self.decided += 1;
        let Some(by) = near.filter(|_| stated.groups.is_empty()) else { return };
        let at = self.near.partition_point(|known| known.by <= by);
        if at >= MOST_NEAR {
            return;
        }
        // The problem is kept in the form in which a file would state it. A search that is resumed from a
        // file then takes the same course.
        let Some(problem) = stated.problem() else { return };
        let near = Near { by, stated: Stated::from(&problem) };
        if !self.near.contains(&near) {
            self.near.insert(at, near);
            self.near.truncate(MOST_NEAR);
        }
    }
}

/// Returns the proven columns that the problem refutes. The list is empty unless a theorem or the code is wrong.
#[must_use]
pub fn contradicted(mechanism: &'static Mechanism, premises: Premises, problem: &Problem) -> Vec<Column> {
    let is_proven = |column: &Column| matches!(known(mechanism, *column, premises), Known::Proven(_));
    let columns: Vec<Column> = Column::all().into_iter().filter(is_proven).collect();
    let subject = Search::new(mechanism, None, premises, []).subject;
    let ProblemResult::Examined(_, results) = examine(&subject, premises, Stated::from(problem), &columns)
    else {
        return Vec::new();
    };
    let refuted =
        columns.into_iter().zip(results).filter(|(_, result)| matches!(result, ColumnResult::Refuted));
    refuted.map(|(column, _)| column).collect()
}

/// Returns the results of a problem for each column, within the work limit of one problem.
fn examine(subject: &Subject, premises: Premises, stated: Stated, columns: &[Column]) -> ProblemResult {
    let limits = Limits { work: Some(WORK), memory: Some(Limits::SMALL_MEMORY), ..Limits::default() };
    match within(&limits, || column_results(subject, premises, &stated, columns)) {
        Ok(Some(Ok(results))) => ProblemResult::Examined(stated, results),
        Ok(Some(Err(()))) | Err(_) => ProblemResult::Failed,
        Ok(None) => ProblemResult::Outside,
    }
}

/// Returns the results for each column. Returns `None` if the mechanism is not defined for the problem, and
/// an error if the mechanism has no answer.
fn column_results(
    subject: &Subject,
    premises: Premises,
    stated: &Stated,
    columns: &[Column],
) -> Option<Result<Vec<ColumnResult>, ()>> {
    let problem = stated.problem().filter(|problem| premises.hold(problem))?;
    let allocation = match subject.allocated(&problem) {
        Ok(Some(allocation)) => allocation,
        Err(MechanismError::NotApplicable { .. }) => return None,
        Ok(None) | Err(_) => return Some(Err(())),
    };
    let mut all = of_axioms(subject, &problem, &allocation, columns);
    let properties: Vec<Property> = columns
        .iter()
        .filter_map(|column| match column {
            Column::Property(property) => Some(*property),
            Column::Axiom(_) => None,
        })
        .collect();
    if !properties.is_empty() {
        let probes = probe(subject, stated, &properties).unwrap_or_default();
        all.extend(probes.into_iter().map(|probe| match probe.refuted {
            Some(_) => ColumnResult::Refuted,
            None => ColumnResult::Kept(probe.near),
        }));
    }
    Some(Ok(all))
}

fn of_axioms(
    subject: &Subject,
    problem: &Problem,
    allocation: &Allocation,
    columns: &[Column],
) -> Vec<ColumnResult> {
    let axioms = columns.iter().filter_map(|column| match column {
        Column::Axiom(axiom) => Some(*axiom),
        Column::Property(_) => None,
    });
    let requests: Vec<Request> = axioms.map(|axiom| request(axiom, allocation)).collect();
    // The mechanism `njc` by definition returns the optimum only if it is rational. An approximation of an
    // irrational optimum does not satisfy the axiom, so this axiom is examined without a tolerance.
    let is_exact =
        |request: &Request| subject.mechanism.info.id == "njc" && request.axiom == Axiom::Proportional;
    let examined = |of: bool, tolerance: Rational| {
        let asked: Vec<Request> =
            requests.iter().filter(|request| is_exact(request) == of).cloned().collect();
        if asked.is_empty() {
            return Vec::new();
        }
        let found = certify_among(problem, allocation, &asked, &tolerance, &Optima::default());
        found.map(|found| found.certificate.claims).unwrap_or_default()
    };
    let usual = (examined(false, Rational::from(TOLERANCE)), -Rational::from(COARSE));
    let exact = (examined(true, Rational::new()), Rational::new());
    let result_of = |request: &Request| {
        let (claims, least) = if is_exact(request) { &exact } else { &usual };
        let claim = claims.iter().find(|claim| claim.axiom == request.axiom)?;
        let is_clear = claim.margin.as_ref().is_none_or(|margin| margin < least);
        Some(match claim.holds? {
            true => ColumnResult::Kept(claim.margin.clone().filter(|margin| *margin > 0)),
            false if is_clear => ColumnResult::Refuted,
            false => ColumnResult::Nothing,
        })
    };
    requests.iter().map(|request| result_of(request).unwrap_or(ColumnResult::Nothing)).collect()
}
