//! The cells of a matrix, and the claims of papers about these cells.

use evenhand_certify::{Examination, Request, certify};
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_mechanisms::{Mechanism, registry};
use evenhand_problem::{Allocation, Problem, Rational, Sharing};

use super::claims::{CLAIMS, Claim};
use super::column::{Column, request};
use super::known::{Known, known};
use super::premises::Premises;
use super::search::{Found, Search};
use super::{Progress, Settings};
use crate::Property;
use crate::property::{Refutation, true_tasks};
use crate::stated::Stated;
use crate::subject::Subject;

/// The state of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateOf {
    /// A theorem proves that the mechanism has the property.
    Proven,
    /// A problem refutes that the mechanism has the property.
    Refuted,
    /// No examined problem refutes the cell, and no theorem proves it.
    Open,
    /// The axiom or property does not apply to the mechanism.
    NotApplicable,
}

impl StateOf {
    /// Returns the name of the state in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Refuted => "refuted",
            Self::Open => "open",
            Self::NotApplicable => "not-applicable",
        }
    }
}

/// A mechanism and an axiom or property.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The mechanism.
    pub mechanism: &'static Mechanism,
    /// The axiom or property.
    pub column: Column,
    /// The state of the cell.
    pub state: StateOf,
    /// The place of the proof, the search that was made, or the reason why the column does not apply.
    pub reference: String,
    /// The problems for which a theorem proves the cell, and the place of the proof. `None` if the cell is
    /// proven for all problems or for none.
    pub proven_where: Option<(String, String)>,
    /// The number of problems on which the cell was decided.
    pub instances: u64,
    /// The counterexample.
    pub shown: Option<Box<Shown>>,
}

/// A counterexample to a cell.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The problem.
    pub problem: Problem,
    /// The allocation of the mechanism.
    pub allocation: Allocation,
    /// The amount by which an axiom is violated. For a property it is the difference of the user's tasks.
    pub margin: Option<Rational>,
    /// The certificate of the allocation. For an axiom it proves that the allocation violates the axiom. For a property
    /// of two problems it proves that the allocation is an answer of the mechanism.
    pub examination: Examination,
    /// The second problem, for a property that compares two problems.
    pub pair: Option<Pair>,
}

/// The second problem of a property, and how it differs from the first problem.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The second problem.
    pub problem: Problem,
    /// The allocation of the mechanism on the second problem.
    pub allocation: Allocation,
    /// The certificate of the allocation on the second problem.
    pub examination: Examination,
    /// The difference between the problems in words.
    pub change: String,
    /// The user that has more, or fewer, tasks than the property allows.
    pub user: String,
    /// The tasks of the user in the first problem.
    pub before: Rational,
    /// The tasks that the user can run in the second problem.
    pub after: Rational,
    /// The statement that the two certificates prove about the allocations.
    pub compared: Compared,
}

/// The statements about a mechanism that the certificates of two allocations can prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// The mechanism gives these tasks and no others.
    Unique,
    /// Both allocations are answers of the mechanism, which has other answers too. The property is refuted whichever
    /// answers are selected. No certificate proves that the list of answers is complete.
    Every,
    /// Both allocations are answers of the mechanism. For the changed problem it has other answers, in which every user
    /// has the same tasks on other servers. Some of these answers refute the property. In others the liar loses tasks,
    /// so they do not refute it.
    Ties,
    /// Both allocations are answers of the mechanism, which may have other answers. The engine selects these two.
    Selected,
    /// Both allocations are feasible. No certificate proves that they are answers of the mechanism.
    Computed,
}

impl Compared {
    /// Returns the name of this statement in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::Every => "every",
            Self::Ties => "ties",
            Self::Selected => "selected",
            Self::Computed => "computed",
        }
    }

    /// Returns this statement in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unique => "the certificates prove that the mechanism gives these tasks and no others",
            Self::Every => {
                "the certificates prove that both are answers of the mechanism, and all other answers, listed without \
                 a certificate, show the same"
            }
            Self::Ties => {
                "the certificates prove that both are answers of the mechanism; in other answers to the lie, listed \
                 without a certificate, every user has the same tasks on other servers, and the liar loses by its lie"
            }
            Self::Selected => {
                "the certificates prove that both are answers of the mechanism; it may have others, and these are \
                 those that the engine selects"
            }
            Self::Computed => {
                "the certificates prove that both can be had; that the mechanism gives them is computed"
            }
        }
    }
}

/// The verdict on a claim about lies if some answers of the mechanism to a lie contradict the claim and other
/// answers do not.
pub const UNLESS_TIES: &str = "fails unless ties between placements go against the liar";

/// A claim of a paper with its verdict.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The claim.
    pub claim: &'static Claim,
    /// The cell under the premises of the claim.
    pub cell: Cell,
}

impl Judged {
    /// Returns `true` if the state of the cell agrees with the claim. Returns `None` if the cell
    /// is open.
    #[must_use]
    pub fn agrees(&self) -> Option<bool> {
        match self.cell.state {
            StateOf::Proven => Some(self.claim.says),
            StateOf::Refuted => Some(!self.claim.says),
            StateOf::Open | StateOf::NotApplicable => None,
        }
    }

    /// Returns the verdict: `confirmed`, `contradicted`, [`UNLESS_TIES`] or `open`.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        let pair = self.cell.shown.as_ref().and_then(|shown| shown.pair.as_ref());
        match self.agrees() {
            Some(true) => "confirmed",
            Some(false) if pair.is_some_and(|pair| pair.compared == Compared::Ties) => UNLESS_TIES,
            Some(false) => "contradicted",
            None => "open",
        }
    }
}

/// The result of a search.
#[derive(Debug, Clone)]
pub struct Matrix {
    /// The settings of the search.
    pub settings: Settings,
    /// True if the search is complete.
    pub complete: bool,
    /// For each mechanism: the number of problems for which the mechanism is defined, and the number of
    /// problems without an answer.
    pub looked: Vec<(&'static Mechanism, u64, u64)>,
    /// The cells, mechanism by mechanism.
    pub cells: Vec<Cell>,
    /// The claims of the papers.
    pub claims: Vec<Judged>,
}

impl Matrix {
    /// Returns the cell of a mechanism and a column, by their names.
    #[must_use]
    pub fn cell(&self, mechanism: &str, column: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.mechanism.info.id == mechanism && cell.column.name() == column)
    }

    /// Returns the number of cells in this state.
    #[must_use]
    pub fn count(&self, state: StateOf) -> usize {
        self.cells.iter().filter(|cell| cell.state == state).count()
    }
}

impl Progress {
    /// Returns the result of the search so far, with certificates.
    #[must_use]
    pub fn finish(&self) -> Matrix {
        let cells = self.main.iter().flat_map(|search| {
            Column::all().into_iter().map(move |column| cell(search, column, self.settings.premises))
        });
        let claims = CLAIMS.iter().filter_map(|claim| self.judge(claim));
        Matrix {
            settings: self.settings,
            complete: self.is_complete(),
            looked: self.main.iter().map(|s| (s.subject.mechanism, s.problems, s.failed)).collect(),
            cells: cells.collect(),
            claims: claims.collect(),
        }
    }

    fn judge(&self, claim: &'static Claim) -> Option<Judged> {
        let mechanism = registry::find(claim.mechanism)?;
        let premises = claim.premises.and(self.settings.premises);
        let of = |search: &&Search| search.subject.mechanism.info.id == mechanism.info.id;
        let asks = |search: &&Search| search.cells.iter().any(|cell| cell.column == claim.column);
        let is_own = |search: &&Search| (search.premises, search.select) == (premises, claim.select);
        let own = self.of_claims.iter().filter(of).filter(asks).find(is_own);
        let main = self.main.iter().find(of)?;
        let fits = |found: &Found| premises.hold(&found.problem);
        let found =
            main.cells.iter().find(|cell| cell.column == claim.column).and_then(|cell| cell.found.as_ref());
        let is_answered = found.is_some_and(fits) || premises == self.settings.premises;
        let search = match (own, claim.select.is_none() && is_answered) {
            (_, true) => main.clone(),
            (Some(own), false) => own.clone(),
            // The claim is proven, or its search has not begun.
            (None, false) => Search::new(mechanism, claim.select, premises, [claim.column]),
        };
        Some(Judged { claim, cell: cell(&search, claim.column, premises) })
    }
}

fn cell(search: &Search, column: Column, premises: Premises) -> Cell {
    let mechanism = search.subject.mechanism;
    let of = |state, reference: String| Cell {
        mechanism,
        column,
        state,
        reference,
        proven_where: None,
        instances: 0,
        shown: None,
    };
    let proven_where = match known(mechanism, column, premises) {
        Known::Proven(reference) => return of(StateOf::Proven, reference),
        Known::NotApplicable(why) => return of(StateOf::NotApplicable, why),
        Known::Open(proven_where) => proven_where,
    };
    let searched = search.cells.iter().find(|cell| cell.column == column);
    let instances = searched.map_or(0, |cell| cell.decided);
    let found = searched.and_then(|cell| cell.found.as_ref());
    let shown = found.and_then(|found| counterexample(&search.subject, column, found));
    let known = match (&shown, found) {
        (Some(_), Some(found)) => of(StateOf::Refuted, refuted_by(found)),
        (None, Some(found)) => of(
            StateOf::Open,
            format!(
                "{} seem to refute it, but no certificate proves that",
                crate::render::size(&found.problem)
            ),
        ),
        _ if instances == 0 && searched.is_some() && search.at > 0 => of(
            StateOf::NotApplicable,
            format!("it applies to none of the {} problems that were tried", search.problems),
        ),
        _ => of(
            StateOf::Open,
            format!("nothing refutes it on {instances} problems, and no proof is known here"),
        ),
    };
    Cell { proven_where, instances, shown: shown.map(Box::new), ..known }
}

fn refuted_by(found: &Found) -> String {
    let how = if found.exhaustive { "one of all small problems" } else { "a larger problem, reduced" };
    format!("{}: {how}", crate::render::size(&found.problem))
}

/// Returns the problem, the mechanism's allocation and the certificates. Returns `None` if they do not refute
/// the cell. They need not refute the cell if the file of a saved search was edited.
fn counterexample(subject: &Subject, column: Column, found: &Found) -> Option<Shown> {
    match column {
        Column::Axiom(axiom) => of_axiom(subject, axiom, found.problem.clone()),
        Column::Property(property) => of_property(subject, property, &found.problem),
    }
}

fn of_axiom(subject: &Subject, axiom: Axiom, problem: Problem) -> Option<Shown> {
    let (allocation, tolerance) = subject.certifiable(&problem)?;
    let request = request(axiom, &allocation);
    violated(problem, allocation, request, &tolerance)
}

/// Certifies that the allocation violates the request. If possible, it also certifies that the allocation satisfies the
/// axiom that defines the mechanism.
fn violated(
    problem: Problem,
    allocation: Allocation,
    request: Request,
    tolerance: &Rational,
) -> Option<Shown> {
    let axiom = request.axiom;
    let own = defining_request(&allocation).filter(|own| own.axiom != axiom);
    let requests: Vec<Request> = own.into_iter().chain([request]).collect();
    let examination = certify(&problem, &allocation, &requests, tolerance).ok()?;
    let claim = examination.certificate.claims.iter().find(|claim| claim.axiom == axiom)?;
    let margin = claim.margin.clone();
    (claim.holds == Some(false)).then_some(Shown { problem, allocation, margin, examination, pair: None })
}

/// Returns the axiom that defines the mechanism of an allocation.
fn defining_request(allocation: &Allocation) -> Option<Request> {
    registry::axiom_of(allocation).map(|(axiom, parameters)| Request { axiom, parameters })
}

fn of_property(subject: &Subject, property: Property, problem: &Problem) -> Option<Shown> {
    let refuted = property.refuted(subject, &Stated::from(problem))?;
    let (given, tolerance) = subject.certifiable(&refuted.problem)?;
    if property == Property::SingleServerDrf {
        // The allocation of DRF is the only max-min allocation of dominant shares.
        let parameters = Parameters::from(Some(Share::Dominant));
        let request = Request { axiom: Axiom::MaxMin, parameters };
        return violated(refuted.problem, given, request, &tolerance);
    }
    let (given_changed, tolerance_changed) = subject.certifiable(&refuted.changed)?;
    let examined = |problem: &Problem, allocation: &Allocation, tolerance: &Rational| {
        let request = defining_request(allocation).unwrap_or_else(|| Request::of(Axiom::Feasible));
        certify(problem, allocation, &[request], tolerance).ok()
    };
    let examination = examined(&refuted.problem, &given, &tolerance)?;
    let other = examined(&refuted.changed, &given_changed, &tolerance_changed)?;
    let compared = match compared(&examination).weaker(compared(&other)) {
        Compared::Selected if every_answer(subject, property, &refuted) => Compared::Every,
        Compared::Selected if ties_decide(subject, property, &refuted) => Compared::Ties,
        compared => compared,
    };
    let pair = Pair {
        compared,
        problem: refuted.changed,
        allocation: given_changed,
        examination: other,
        change: refuted.change,
        user: refuted.user,
        before: refuted.before.clone(),
        after: refuted.after.clone(),
    };
    let margin = Some(refuted.after - refuted.before);
    Some(Shown { problem: refuted.problem, allocation: given, margin, examination, pair: Some(pair) })
}

/// Returns `true` if every pair of answers to the two problems refutes the property. Tasks are linear in the
/// allocation, so it suffices to test the extreme answers.
fn every_answer(subject: &Subject, property: Property, refuted: &Refutation) -> bool {
    let Some((before, after)) = subject.answers(&refuted.problem).zip(subject.answers(&refuted.changed))
    else {
        return false;
    };
    let bounds = |values: Vec<Rational>| Some((values.iter().min()?.clone(), values.iter().max()?.clone()));
    let of = |n: usize| {
        let now = |allocation: &Allocation| match (refuted.kind.liar(), refuted.kind.now(n)) {
            (Some(liar), _) if liar == n => {
                let (truth, changed) = (&refuted.problem, &refuted.changed);
                true_tasks(truth, changed, allocation, n, property == Property::InTime)
            }
            (_, at) => at.map(|at| allocation.total(at)).unwrap_or_default(),
        };
        let before = bounds(before.iter().map(|allocation| allocation.total(n)).collect());
        before.zip(bounds(after.iter().map(now).collect()))
    };
    let Some(user) = refuted.problem.user_named(&refuted.user) else { return false };
    let Some(((least, most), (least_after, most_after))) = of(user) else { return false };
    // The worst answers to both problems are compared, so the refutation does not depend on the selection.
    match (property, refuted.kind.liar()) {
        (Property::NoFreeHarm | Property::NonBossy, Some(liar)) => {
            of(liar).is_some_and(|(own, own_after)| {
                let is_free = own_after.0 >= own.1;
                let is_same = own.0 == own.1 && own_after == own;
                let is_less = most_after < least;
                match property {
                    Property::NoFreeHarm => is_free && is_less,
                    _ => is_same && (is_less || least_after > most),
                }
            })
        }
        (_, Some(_)) => least_after > most,
        (_, None) => most_after < least,
    }
}

/// Returns `true` if the selection among placements decides. In that case the mechanism has one answer to the
/// true problem, and several answers to the lie. All answers to the lie give every user the same tasks. Some
/// of them cost the liar tasks.
fn ties_decide(subject: &Subject, property: Property, refuted: &Refutation) -> bool {
    let (Property::NoFreeHarm, Some(liar)) = (property, refuted.kind.liar()) else { return false };
    let Some((before, after)) = subject.answers(&refuted.problem).zip(subject.answers(&refuted.changed))
    else {
        return false;
    };
    let is_one = |answers: &[Allocation]| {
        answers.windows(2).all(|pair| pair[0].totals() == pair[1].totals()) && !answers.is_empty()
    };
    let loses = |allocation: &Allocation| {
        true_tasks(&refuted.problem, &refuted.changed, allocation, liar, false) < before[0].total(liar)
    };
    is_one(&before) && is_one(&after) && after.iter().any(loses)
}

/// Returns what the certificate of an allocation proves about the mechanism.
fn compared(examination: &Examination) -> Compared {
    let certificate = &examination.certificate;
    // If the allocation has a gap, the mechanism's own allocation may differ from it.
    let is_proven = |holds: Option<bool>| holds == Some(true) && certificate.tolerance == 0;
    let Some(claim) = certificate.claims.first().filter(|claim| is_proven(claim.holds)) else {
        return Compared::Computed;
    };
    let criteria = certificate.problem.users().iter().map(|user| user.criterion());
    let one_criterion = criteria.clone().all(|list| list.windows(2).all(|pair| pair[0].1 == pair[1].1));
    match claim.axiom {
        // Levels are unique. If the criterion does not depend on the class, tasks are unique too.
        Axiom::MaxMin if one_criterion => Compared::Unique,
        Axiom::Proportional | Axiom::MaxMinPackings | Axiom::Tree => Compared::Unique,
        Axiom::PsDsf if certificate.allocation.sharing == Sharing::Tdm => Compared::Unique,
        Axiom::PsDsf if certificate.problem.n_servers() == 1 => Compared::Unique,
        Axiom::MaxMin | Axiom::PsDsf | Axiom::Njc => Compared::Selected,
        _ => Compared::Computed,
    }
}

impl Compared {
    /// Returns the weaker of two statements.
    fn weaker(self, other: Self) -> Self {
        let weak = [Self::Computed, Self::Selected].into_iter().find(|weak| *weak == self || *weak == other);
        weak.unwrap_or(Self::Unique)
    }
}
