//! The mechanism `fill`.

use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};

use super::rule::{Rule, Score, ServerRule, TIES};
use super::run::{INFO, fill_in_time};
use crate::equals::Equals;
use crate::error::MechanismError;
use crate::flags::{Flag, SECONDS, Takes};
use crate::guarantees::Condition;
use crate::max_min::{DRFH, TSF};
use crate::mechanism::{Integrality, Late, Measure, Mechanism};
use crate::ps_dsf::PS_DSF;
use crate::tree;

/// Checks the options of `fill` for users in groups or with gangs. For such users, tasks must be whole, the
/// score must be the share of the groups, and the server rule must be first fit or best fit.
fn check_by_the_tree(rule: Rule, step: &Rational, ideal: bool) -> Result<(), MechanismError> {
    let refuse = |option: &'static str, why: &str| {
        let why = format!("if users are in groups or run gangs, {why}");
        Err(MechanismError::BadOption { mechanism: INFO.id, option, why })
    };
    match rule {
        _ if *step != 1 => refuse("step", "tasks are placed whole"),
        _ if ideal => {
            refuse("ideal", "there is no divisible mechanism of the same score to compare with; see `tree`")
        }
        Rule { unfiltered: true, .. } => {
            refuse("unfiltered", "only servers on which a task fits are compared")
        }
        Rule { score: Score::Drf, server: ServerRule::FirstFit | ServerRule::BestFit, .. } => Ok(()),
        Rule { score: Score::Drf, .. } => {
            refuse("server", "the server rule must be `first-fit` or `best-fit`")
        }
        _ => refuse("score", "the share of the groups decides, which is `drf` by default"),
    }
}

/// The mechanism of progressive filling by whole tasks.
pub static FILL: Mechanism = Mechanism {
    info: &INFO,
    proven: &[
        (Condition::Always, &[Axiom::IntegerFeasible]),
        (Condition::FirstFit, &[Axiom::WorkConserving]),
        (Condition::KeptWithinLimits, &[Axiom::Limits]),
    ],
    flags: &[
        Flag {
            name: "score",
            takes: Takes::Name("SCORE", Score::NAMES),
            help: "fill: score that decides which user is served next (default: drf)",
        },
        Flag {
            name: "server",
            takes: Takes::Name("RULE", ServerRule::NAMES),
            help: "fill: rule that chooses the server of a task (default: first-fit)",
        },
        tree::RULE,
        SECONDS,
        TIES,
        Flag {
            name: "unfiltered",
            takes: Takes::Nothing,
            help: "fill --server best-fit: compare all servers; a user whose task does not fit on the best of all \
                   waits, and servers stay empty, as in the table of Kesidis",
        },
        Flag {
            name: "filter",
            takes: Takes::Nothing,
            help: "fill: without effect; best fit compares only servers on which the task fits",
        },
        Flag {
            name: "step",
            takes: Takes::Number("EPS"),
            help: "fill: place this fraction of a task at a time (default: 1); with small fractions `--server \
                best-fit` comes closest to the divisible allocation, but may not reach it",
        },
        Flag {
            name: "ideal",
            takes: Takes::Nothing,
            help: "fill: compare with the divisible mechanism of the same score, solved exactly",
        },
    ],
    axiom: whole_tasks,
    equals: |_| Ok(Equals::Apart),
    joins: false,
    late: Late::Placed,
    solve: |problem, flags| {
        let rule = Rule {
            score: flags.value("score")?.unwrap_or_default(),
            server: flags.value("server")?.unwrap_or_default(),
            ties: flags.value("ties")?.unwrap_or_default(),
            unfiltered: flags.is_set("unfiltered"),
        };
        let step = flags.number("step")?.unwrap_or_else(|| Rational::from(1));
        let (groups, preset) = (problem.groups(), flags.value("rule")?);
        if preset.is_some()
            || !groups.list().is_empty()
            || (0..problem.n_users()).any(|n| groups.member(n).gang.is_some())
        {
            check_by_the_tree(rule, &step, flags.is_set("ideal"))?;
            let best_fit = rule.server == ServerRule::BestFit;
            let whole = tree::Whole { rule: preset, best_fit, ties: rule.ties, seed: flags.seed };
            return tree::fill_in_time(problem, INFO.id, whole).map(|filled| filled.outcome(None));
        }
        let filled = fill_in_time(problem, rule, &step, flags.seed)?;
        let allocation = &filled.allocation;
        let integrality = flags.is_set("ideal").then(|| compare(problem, allocation, rule.score));
        Ok(filled.outcome(integrality))
    },
};

/// Compares `allocation` with the exact divisible allocation of the same score.
fn compare(problem: &Problem, allocation: &Allocation, score: Score) -> Integrality {
    let mechanism = match score {
        Score::Drf => &DRFH,
        Score::Tsf => &TSF,
        Score::PsDsf | Score::ResidualPsDsf => &PS_DSF,
    };
    let divisible = mechanism.allocate(problem, Arithmetic::Exact);
    let divisible = divisible.map(|outcome| measure(problem, &outcome.allocation, score));
    Integrality { mechanism: mechanism.info.id, whole: measure(problem, allocation, score), divisible }
}

fn measure(problem: &Problem, allocation: &Allocation, score: Score) -> Measure {
    let share = match score {
        Score::Drf => Some(Share::Dominant),
        Score::Tsf => Some(Share::TaskShare),
        Score::PsDsf | Score::ResidualPsDsf => None,
    };
    let coefficients = share.and_then(|share| share.coefficients(problem).ok());
    let totals = allocation.totals();
    let share = |n: usize| {
        let per_task = match &coefficients {
            Some(coefficients) => coefficients.uniform(n)?.clone(),
            None => problem.total_gamma(n).recip(),
        };
        Some(&totals[n] * per_task / problem.users()[n].weight())
    };
    let least = (0..problem.n_users()).filter(|&n| problem.is_active(n)).filter_map(share).min();
    Measure { least_weighted_share: least, tasks: totals.iter().sum() }
}

/// Returns the axiom of allocations whose tasks are placed whole.
pub(super) fn whole_tasks(allocation: &Allocation) -> Option<(Axiom, Parameters)> {
    let placements = allocation.placements.as_ref()?;
    let is_whole = placements.iter().flat_map(|placement| &placement.tasks).all(|(_, x)| x.is_integer());
    is_whole.then(|| (Axiom::IntegerFeasible, Parameters::default()))
}
