//! The exact distribution of a random rule: every outcome of a small problem with its probability.

use std::collections::BTreeMap;

use evenhand_problem::{Problem, Rational};

use super::digits::{Digits, Narrow, Wide};
use super::model::{Model, State, TooMany};
use super::prepared::Prepared;
use super::rule::{Rule, ServerRule, Ties};
use super::run::{prepare, too_many};
use crate::error::MechanismError;

/// The maximum number of states whose successors are computed.
const MAX_STATES: usize = 2_000_000;

/// An outcome with its probability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeighedOutcome {
    /// The number of steps of each user on each class.
    pub steps: Vec<Vec<u64>>,
    /// The exact probability of the outcome.
    pub probability: Rational,
}

/// A state: the number of steps of each user on each server, and whether each server still has its turn in
/// the current round of a round-robin rule.
type Key = (Vec<u64>, Vec<bool>);

/// Computes every outcome of a rule with its exact probability, in ascending order of the steps.
///
/// The successors of each state follow from the definition of the rule. If several paths lead to a state, its
/// successors are computed only once.
///
/// # Errors
/// Returns an error in the same cases as [`fill`](super::fill()), [`MechanismError::Limit`] beyond 2,000,000
/// states, and [`MechanismError::BadOption`] for best fit with random ties if all users name servers at once.
pub fn law(problem: &Problem, rule: Rule, step: &Rational) -> Result<Vec<WeighedOutcome>, MechanismError> {
    let prepared = prepare(problem, problem, rule, step)?;
    let names_at_once = rule.server == ServerRule::BestFit && (rule.unfiltered || !rule.score.is_of_user());
    if names_at_once && rule.ties == Ties::Random {
        let why = "exact probabilities are not available for servers that users choose at random".to_owned();
        return Err(MechanismError::BadOption { mechanism: "fill", option: "ties", why });
    }
    let found = match prepared.widths.are_narrow() {
        true => followed::<Narrow>(problem, &prepared, rule),
        false => followed::<Wide>(problem, &prepared, rule),
    };
    found.map_err(too_many)?.ok_or_else(|| {
        let why = format!("there are more than {MAX_STATES} states");
        MechanismError::Limit { mechanism: "fill", why }
    })
}

fn followed<D: Digits>(
    problem: &Problem,
    prepared: &Prepared,
    rule: Rule,
) -> Result<Option<Vec<WeighedOutcome>>, TooMany> {
    let model = Model::<D>::new(prepared, rule);
    let (n_users, n_servers) = (model.users.len(), model.n_servers());
    let start: Key = (vec![0; n_users * n_servers], vec![true; n_servers]);
    let mut level = BTreeMap::from([(start, Rational::from(1))]);
    let mut outcomes: BTreeMap<Vec<Vec<u64>>, Rational> = BTreeMap::new();
    let mut n_states = 0;
    while !level.is_empty() {
        n_states += level.len();
        if n_states > MAX_STATES {
            return Ok(None);
        }
        let mut next: BTreeMap<Key, Rational> = BTreeMap::new();
        for ((steps, mut round), probability) in level {
            let mut state = State::new(&model);
            for (at, &count) in steps.iter().enumerate() {
                for _ in 0..count {
                    state.place(at / n_servers, at % n_servers)?;
                }
            }
            let choices = choices(&state, &mut round);
            if choices.is_empty() {
                let mut placed = vec![vec![0; problem.n_servers()]; problem.n_users()];
                for (at, &count) in steps.iter().enumerate() {
                    let class = model.class[at % n_servers] as usize;
                    placed[model.users[at / n_servers].index][class] += count;
                }
                *outcomes.entry(placed).or_default() += probability;
                continue;
            }
            for (n, j, part) in choices {
                let mut key = (steps.clone(), round.clone());
                key.0[n * n_servers + j] += 1;
                if rule.server == ServerRule::Rrr {
                    key.1[j] = false;
                }
                *next.entry(key).or_default() += part * &probability;
            }
        }
        level = next;
    }
    let outcomes = outcomes.into_iter().map(|(steps, probability)| WeighedOutcome { steps, probability });
    Ok(Some(outcomes.collect()))
}

/// Returns the possible next placements with their probabilities. When all live servers have had their turn, `round`
/// is reset.
fn choices<D: Digits>(state: &State<'_, D>, round: &mut [bool]) -> Vec<(usize, usize, Rational)> {
    let model = state.model;
    let Rule { server, ties, unfiltered, score } = model.rule;
    let (users, servers) = (0..model.users.len(), 0..model.n_servers());
    let fits = |n: usize, j: usize| state.has_more(n) && state.fits(n, j);
    let on_server = |j: usize| {
        let fitting = users.clone().filter(|&n| fits(n, j));
        least(fitting.map(|n| (state.score(n, j), n)), ties)
    };
    let live: Vec<usize> = servers.clone().filter(|&j| users.clone().any(|n| fits(n, j))).collect();
    match server {
        ServerRule::Iid | ServerRule::Rrr => {
            if live.iter().all(|&j| !round[j]) {
                round.fill(true);
            }
            let drawn: Vec<usize> = live.into_iter().filter(|&j| round[j]).collect();
            let part = Rational::from((1, drawn.len().max(1)));
            let chosen = drawn.iter().flat_map(|&j| spread(on_server(j), &part).map(move |(n, p)| (n, j, p)));
            chosen.collect()
        }
        ServerRule::FirstFit if !score.is_of_user() => {
            let first = live.first().copied();
            first
                .into_iter()
                .flat_map(|j| spread(on_server(j), &one()).map(move |(n, p)| (n, j, p)))
                .collect()
        }
        ServerRule::BestFit if unfiltered || !score.is_of_user() => {
            let named = users.filter(|&n| state.has_more(n)).filter_map(|n| {
                let counted = servers.clone().filter(|&j| unfiltered || fits(n, j));
                let j = *least(counted.filter_map(|j| Some((state.mismatch(n, j)?, j))), ties).first()?;
                fits(n, j).then(|| (state.score(n, j), (n, j)))
            });
            least(named, ties).into_iter().map(|(n, j)| (n, j, one())).collect()
        }
        _ => {
            let of_user = |n: usize| live.iter().filter(|&&j| fits(n, j)).map(|&j| state.score(n, j)).min();
            let chosen = least(users.filter_map(|n| Some((of_user(n)?, n))), ties);
            let to_servers = |(n, part): (usize, Rational)| {
                let fitting = live.iter().copied().filter(|&j| fits(n, j));
                let equal = match server {
                    ServerRule::FirstFit => fitting.take(1).collect(),
                    ServerRule::BestFit => {
                        least(fitting.filter_map(|j| Some((state.mismatch(n, j)?, j))), ties)
                    }
                    _ => least(fitting.map(|j| (state.score(n, j), j)), ties),
                };
                let placed: Vec<_> = spread(equal, &part).map(|(j, part)| (n, j, part)).collect();
                placed
            };
            spread(chosen, &one()).flat_map(to_servers).collect()
        }
    }
}

fn one() -> Rational {
    Rational::from(1)
}

/// Returns the candidates with the least value, reduced to those among which `ties` chooses.
fn least<R: Ord, T: Copy>(values: impl Iterator<Item = (R, T)>, ties: Ties) -> Vec<T> {
    let mut values: Vec<(R, T)> = values.collect();
    // The sort is stable, so equal values stay in ascending order.
    values.sort_by(|a, b| a.0.cmp(&b.0));
    let n_equal = values.iter().take_while(|(value, _)| *value == values[0].0).count();
    let equal = values[..n_equal].iter().map(|(_, chosen)| *chosen);
    match ties {
        Ties::Low => equal.take(1).collect(),
        Ties::High => equal.last().into_iter().collect(),
        Ties::Random => equal.collect(),
    }
}

/// Divides `probability` equally among the chosen candidates.
fn spread<T>(chosen: Vec<T>, probability: &Rational) -> impl Iterator<Item = (T, Rational)> + use<T> {
    let part = Rational::from(probability / chosen.len().max(1) as u64);
    chosen.into_iter().map(move |chosen| (chosen, part.clone()))
}
