//! The answer in sentences: the axioms that each mechanism satisfies or violates, and the users that are
//! worse off.

use evenhand_certify::compare::{Compared, Judged, NoResult};
use evenhand_exact::{Axiom, Claim, Outcome};
use evenhand_problem::{Constraints, Problem, Rational, printable};
use maud::{Markup, html};

use super::number;
use crate::certificate::words;
use crate::text::few;

/// The usual axioms of a fair allocation, each with the words for it in a sentence.
const PROMISES: [(Axiom, &str); 7] = [
    (Axiom::Feasible, "everything fits"),
    (Axiom::WorkConserving, "no resource that a user could use is idle"),
    (Axiom::ParetoOptimal, "no user can have more without another having less"),
    (Axiom::EnvyFree, "no user would prefer the bundle of another user"),
    (Axiom::SharingIncentive, "no user would be better off with its own fraction of the servers"),
    (Axiom::Limits, "no group exceeds its limits"),
    (Axiom::Guarantees, "every group that wants its guarantee has it"),
];
/// The largest number of names in a list.
const NAMED: usize = 6;

/// The columns of a comparison, judged by the usual axioms.
pub(super) struct Judgement<'a> {
    problem: &'a Problem,
    columns: &'a [Compared],
    /// The usual axioms that were examined for at least one column and that apply to it.
    asked: Vec<(Axiom, &'static str)>,
}

impl<'a> Judgement<'a> {
    pub(super) fn new(problem: &'a Problem, columns: &'a [Compared]) -> Self {
        let applies = |axiom: Axiom| {
            let claims = shown(columns).filter_map(|(_, judged)| claim(judged, axiom));
            claims.into_iter().any(|claim| claim.outcome() != Outcome::NotApplicable)
        };
        let asked = PROMISES.into_iter().filter(|(axiom, _)| applies(*axiom)).collect();
        Self { problem, columns, asked }
    }

    /// Returns `true` if all usual axioms were examined and hold, possibly within the tolerance.
    pub(super) fn keeps_all(&self, judged: &Judged) -> bool {
        !self.asked.is_empty()
            && self.asked.iter().all(|(axiom, _)| {
                claim(judged, *axiom)
                    .is_some_and(|claim| matches!(claim.outcome(), Outcome::Holds | Outcome::Within))
            })
    }

    /// Returns `true` if the axiom is a usual axiom that was examined.
    pub(super) fn asks(&self, axiom: Axiom) -> bool {
        self.asked.iter().any(|(of, _)| *of == axiom)
    }

    /// Returns the first paragraph of the page.
    pub(super) fn sentences(&self) -> Markup {
        let fair: Vec<(&str, &Judged)> =
            shown(self.columns).filter(|(_, judged)| self.keeps_all(judged)).collect();
        let names: Vec<String> = fair.iter().map(|(name, _)| printable(name)).collect();
        let is_within = |judged: &Judged| {
            let claims = self.asked.iter().filter_map(|(axiom, _)| claim(judged, *axiom));
            claims.into_iter().any(|claim| claim.outcome() == Outcome::Within)
        };
        let rounded: Vec<String> =
            fair.iter().filter(|(_, judged)| is_within(judged)).map(|(name, _)| printable(name)).collect();
        let promises: Vec<&str> = self.asked.iter().map(|(_, words)| *words).collect();
        let rest = shown(self.columns).filter(|(_, judged)| !self.keeps_all(judged));
        html! {
            section class="card" aria-labelledby="short" {
                h2 id="short" { "In short" }
                ul {
                    @if !(0..self.problem.n_users()).any(|n| self.problem.is_active(n)) {
                        li { "No user asks for a task that fits on a server, so every mechanism gives no tasks." }
                    }
                    @if !fair.is_empty() {
                        li {
                            strong dir="auto" { (listed(&names)) }
                            @if names.len() == 1 { " satisfies" } @else { " satisfy" }
                            " the usual axioms of a fair allocation: " (promises.join("; ")) "."
                            @if !rounded.is_empty() {
                                " With " strong dir="auto" { (listed(&rounded)) } " some of them hold only within the tolerance."
                            }
                        }
                        (self.best_of(&fair))
                    } @else if !promises.is_empty() {
                        li { "No mechanism satisfies all the usual axioms of a fair allocation: " (promises.join("; ")) "." }
                    }
                    @for (name, judged) in rest { (self.of(name, judged)) }
                    @for (names, word, why) in without(self.columns, true) { (reason(&names, word, why)) }
                }
                (self.not_applicable())
            }
        }
    }

    /// Returns the mechanisms that do not apply. They are folded if the page shows other results.
    fn not_applicable(&self) -> Markup {
        let all = without(self.columns, false);
        let count: usize = all.iter().map(|(names, ..)| names.len()).sum();
        let (is, are) =
            ("mechanism does not apply to this problem", "mechanisms do not apply to this problem");
        html! {
            @if count > 0 {
                details class="more" open[shown(self.columns).next().is_none()] {
                    summary { (count) " " (if count == 1 { is } else { are }) }
                    ul { @for (names, word, why) in all { (reason(&names, word, why)) } }
                }
            }
        }
    }

    fn best_of(&self, fair: &[(&str, &Judged)]) -> Markup {
        let priced =
            fair.iter().filter_map(|(name, judged)| Some((judged.price_of_fairness.as_ref()?, *name)));
        let Some(least) = priced.clone().map(|(price, _)| price).min() else { return html! {} };
        let best: Vec<String> =
            priced.clone().filter(|(price, _)| *price == least).map(|(_, name)| printable(name)).collect();
        let by_weight = match self.problem.users().iter().any(|user| *user.weight() != 1) {
            true => "tasks, counted by weight, ",
            false => "tasks ",
        };
        html! {
            li {
                @if best.len() == fair.len() && fair.len() > 1 { "They serve equally many tasks: " }
                @else if fair.len() > 1 {
                    "Of these " strong dir="auto" { (listed(&best)) } @if best.len() == 1 { " serves" } @else { " serve" } " the most tasks: "
                } @else { "Its number of tasks: " }
                @if *least == 1 { "no allocation serves more " (by_weight.trim_end()) "." }
                @else { "the most " (by_weight) "that any allocation could serve are " (number(least)) " times as many." }
            }
        }
    }

    /// Returns the axioms that a column violates, with the evidence, and the users without tasks.
    fn of(&self, name: &str, judged: &Judged) -> Markup {
        let certificate = &judged.examination.certificate;
        let constraints = Constraints::new(self.problem, certificate.allocation.sharing);
        let violated: Vec<String> = self
            .asked
            .iter()
            .filter_map(|(axiom, _)| claim(judged, *axiom))
            .filter(|claim| claim.outcome() == Outcome::Violated)
            .map(|claim| format!("{}: {}", claim.axiom.name(), words(claim, certificate, &constraints)))
            .collect();
        let missing: Vec<&str> = self
            .asked
            .iter()
            .filter(|(axiom, _)| {
                claim(judged, *axiom).is_none_or(|claim| claim.outcome() == Outcome::NotApplicable)
            })
            .map(|(axiom, _)| axiom.name())
            .collect();
        let active = || (0..self.problem.n_users()).filter(|&n| self.problem.is_active(n));
        let nothing: Vec<String> = active()
            .filter(|&n| judged.tasks[n].is_zero())
            .map(|n| printable(self.problem.users()[n].name()))
            .collect();
        html! {
            li {
                strong dir="auto" { (printable(name)) }
                @if violated.is_empty() { " violates no axiom that was examined" } @else { " violates " (printable(&violated.join("; "))) }
                "."
                @if !nothing.is_empty() {
                    " It gives no tasks to " (nothing.len()) " of " (active().count()) " users ("
                    span dir="auto" { (few(&nothing, NAMED)) } ")."
                }
                @if !missing.is_empty() { " Not examined, or does not apply: " (missing.join(", ")) "." }
            }
        }
    }
}

/// Returns the columns that have an allocation.
pub(super) fn shown(columns: &[Compared]) -> impl Iterator<Item = (&str, &Judged)> {
    columns.iter().filter_map(|column| Some((column.name.as_str(), column.result.as_ref().ok()?)))
}

/// Returns the claim of an axiom without parameters.
fn claim(judged: &Judged, axiom: Axiom) -> Option<&Claim> {
    judged.examination.certificate.claims.iter().find(|claim| claim.axiom == axiom)
}

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Returns the sentence that explains why columns have no allocation.
fn reason(names: &[String], word: &str, why: &str) -> Markup {
    html! { li { strong dir="auto" { (listed(names)) } " " (word) ": " (printable(why)) "." } }
}

/// Returns the columns without an allocation, grouped by the reason. Each group consists of the names, the
/// words before the reason, and the reason. If `applies` is set, the groups contain the mechanisms that apply
/// but have no answer. Otherwise they contain the mechanisms that do not apply.
fn without(columns: &[Compared], applies: bool) -> Vec<(Vec<String>, &'static str, &str)> {
    let mut all: Vec<(Vec<String>, &str)> = Vec::new();
    for column in columns {
        let (of, why) = match &column.result {
            Ok(_) => continue,
            Err(NoResult::NotApplicable(why)) => (false, why.as_str()),
            Err(NoResult::Failed(why) | NoResult::TooLarge(why)) => (true, why.as_str()),
            Err(NoResult::OutOfTime) => (true, "more time was needed than is allowed"),
        };
        let name = printable(&column.name);
        match all.iter_mut().find(|(_, same)| *same == why) {
            _ if of != applies => {}
            Some((names, _)) => names.push(name),
            None => all.push((vec![name], why)),
        }
    }
    let words = |names: &[String]| match (names.len(), applies) {
        (1, false) => "does not apply",
        (_, false) => "do not apply",
        (1, true) => "has no answer",
        (_, true) => "have no answer",
    };
    all.into_iter().map(|(names, why)| (names.clone(), words(&names), why)).collect()
}

/// Returns the weighted tasks that an allocation serves, as a fraction of the largest number that any
/// allocation could serve.
pub(super) fn served(judged: &Judged) -> Option<Rational> {
    judged.price_of_fairness.as_ref().filter(|price| !price.is_zero()).map(|price| price.clone().recip())
}
