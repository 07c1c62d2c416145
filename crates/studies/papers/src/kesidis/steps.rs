//! Kesidis, section IV: progressive filling in small steps, compared with the divisible max-min allocation.

use evenhand_mechanisms::filling::{Rule, ServerRule, fill};
use evenhand_problem::{Problem, Rational, number::to_f64};

use super::example::example;
use crate::entry::{Entry, decimals, list};
use crate::error::PaperError;
use crate::instance::solve;
use crate::ps_dsf::random::Law;

/// The reciprocals of the sizes of a step. A size is a fraction of a task.
const STEPS: [u32; 3] = [1, 16, 256];
/// The number of random problems.
const PROBLEMS: usize = 200;
/// The largest deviation of a user that counts as converged, as a fraction of its ideal amount. A deviation of
/// [`ARRIVED_STEPS`] of the smallest steps is allowed in addition.
const ARRIVED: f64 = 0.05;
const ARRIVED_STEPS: u32 = 8;
const SEED: u64 = 4;

const RULES: [(&str, Rule); 4] = [
    ("best fit", Rule { server: ServerRule::BestFit, ..FIRST_FIT }),
    ("first fit", FIRST_FIT),
    ("a random server for each step", Rule { server: ServerRule::Iid, ..FIRST_FIT }),
    ("servers in random order", Rule { server: ServerRule::Rrr, ..FIRST_FIT }),
];
const FIRST_FIT: Rule = Rule {
    score: evenhand_mechanisms::filling::Score::Drf,
    server: ServerRule::FirstFit,
    ties: evenhand_mechanisms::filling::Ties::Low,
    unfiltered: false,
};

/// Returns the largest relative deviation of a user from its ideal amount, after [`ARRIVED_STEPS`] of the smallest
/// steps are subtracted.
fn distance(x: &[Rational], ideal: &[Rational]) -> f64 {
    let rounding = Rational::from((ARRIVED_STEPS, STEPS[STEPS.len() - 1]));
    let apart = x.iter().zip(ideal).map(|(x, ideal)| {
        let beyond = Rational::from(x - ideal).abs() - &rounding;
        to_f64(&(beyond / ideal))
    });
    apart.fold(0.0, f64::max)
}

fn filled(problem: &Problem, rule: Rule, parts: u32) -> Result<Vec<Rational>, PaperError> {
    Ok(fill(problem, rule, &Rational::from((1, parts)), SEED)?.totals())
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    Ok(vec![on_the_example()?, on_random_problems()?])
}

fn on_the_example() -> Result<Entry, PaperError> {
    let problem = example(["1", "1"])?;
    let ideal = solve(&problem, "drfh")?.totals();
    let mut words = Vec::new();
    let mut arrived = Vec::new();
    for (name, rule) in RULES {
        let mut tasks = Vec::new();
        for parts in STEPS {
            let x = filled(&problem, rule, parts)?;
            tasks.push(decimals(&x));
            if Some(&parts) == STEPS.last() && distance(&x, &ideal) <= ARRIVED {
                arrived.push(name);
            }
        }
        words.push(format!("{name}: {}", tasks.join("; ")));
    }
    Ok(Entry {
        id: "kesidis.section-4.steps".to_owned(),
        source: "Kesidis, sections II and IV, on (19), (20): filling by steps of 1, 1/16 and 1/256 of a task",
        paper: "approximates max-min fairness".to_owned(),
        ours: words.join(". "),
        agrees: Some(arrived.len() == RULES.len()),
        note: format!(
            "The values are the tasks of the two users, filled by dominant shares. Max-min fairness gives \
             {}. These rules reach it: {}. The other rules serve every user on each server and do not reach \
             it, however small the steps are.",
            list(&ideal),
            if arrived.is_empty() { "none".to_owned() } else { arrived.join(", ") }
        ),
    })
}

fn on_random_problems() -> Result<Entry, PaperError> {
    let mut problems = Law { seed: 41, one_bottleneck: false }.problems(PROBLEMS)?;
    problems.retain(|problem| problem.n_servers() > 1);
    let mut words = Vec::new();
    let ideals = problems.iter().map(|problem| Ok(solve(problem, "drfh")?.totals()));
    let ideals: Vec<Vec<Rational>> = ideals.collect::<Result<_, PaperError>>()?;
    for (name, rule) in RULES {
        let (mut arrived, mut furthest) = (0, 0.0_f64);
        for (problem, ideal) in problems.iter().zip(&ideals) {
            let apart = distance(&filled(problem, rule, STEPS[STEPS.len() - 1])?, ideal);
            arrived += usize::from(apart <= ARRIVED);
            furthest = furthest.max(apart);
        }
        words.push(format!("{name} {arrived}, furthest {:.0} %", 100.0 * furthest));
    }
    Ok(Entry {
        id: "kesidis.section-4.steps.random".to_owned(),
        source: "Kesidis, sections II and IV: filling by steps of 1/256 of a task on random clusters",
        paper: String::new(),
        ours: format!(
            "Of {} problems with several servers, this number ends within {:.0} % of max-min fairness: {}",
            problems.len(),
            100.0 * ARRIVED,
            words.join("; ")
        ),
        agrees: None,
        note: "The problems have 2 to 4 users, 2 or 3 server classes, 1 to 3 resources, and placement \
               constraints. No server rule approaches max-min fairness on every cluster. Best fit approaches \
               it on more clusters than the other rules do."
            .to_owned(),
    })
}
