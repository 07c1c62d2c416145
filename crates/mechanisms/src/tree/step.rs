//! How far the tree grows in one direction: up to the next event, all of which are rational.

use evenhand_problem::Rational;

use super::forest::Forest;
use super::growth::Race;
use super::holdings::{Holdings, NodeGrowth};
use super::key::{Term, rising, share};

/// The first event when users gain tasks at these rates: somebody has all its tasks; capacity, a limit, a
/// guarantee or what is kept back is reached; a level reaches a sibling's; another resource becomes the largest
/// of a share. `None`: nothing ever happens.
pub fn first_event(
    forest: &Forest<'_>,
    holdings: &Holdings,
    rates: &[Rational],
    growth: &[Option<NodeGrowth>],
    races: &[Race],
) -> Option<Rational> {
    let mut events = Vec::new();
    for (n, rate) in rates.iter().enumerate().filter(|(_, rate)| **rate > 0) {
        let leaf = forest.nodes[forest.leaf(n)].leaf.as_ref();
        let tasks = leaf.and_then(|leaf| leaf.tasks.as_ref());
        events.extend(tasks.map(|tasks| Rational::from(tasks - &holdings.tasks[n]) / rate));
    }
    for (v, growth) in growth.iter().enumerate() {
        if let Some(growth) = growth {
            at_node(forest, holdings, v, growth, &mut events);
        }
    }
    for race in races {
        let Some(growth) = &growth[race.node] else { continue };
        let growth = if race.is_of_running { &growth.running } else { &growth.used };
        let (_, rate) = rising(&race.terms, growth);
        if rate > 0 {
            events.extend(race.gaps.iter().map(|gap| Rational::from(gap / &rate)));
        }
    }
    events.into_iter().filter(|event| *event > 0).min()
}

fn at_node(
    forest: &Forest<'_>,
    holdings: &Holdings,
    v: usize,
    NodeGrowth { running, used }: &NodeGrowth,
    events: &mut Vec<Rational>,
) {
    let node = &forest.nodes[v];
    for r in (0..forest.resources.len()).filter(|r| used[*r] > 0) {
        let most = if v == 0 { Some(&forest.capacity[r]) } else { node.limit[r].as_ref() };
        let promised = node.guarantee.as_ref().and_then(|guarantee| guarantee[r].as_ref());
        let marks = most.into_iter().chain(promised).chain([&node.kept[r]]);
        events.extend(marks.map(|mark| Rational::from(mark - &holdings.used[v][r]) / &used[r]));
    }
    if v == 0 {
        for (r, growth) in running.iter().enumerate().filter(|(_, growth)| **growth > 0) {
            events.push(Rational::from(&forest.capacity[r] - &holdings.running[0][r]) / growth);
        }
        return;
    }
    crossings(&share(forest, v, &holdings.used[v]), used, events);
    let parts = |of: &[Rational], whole: &dyn Fn(usize) -> Option<Rational>| -> Vec<Term> {
        let term = |r: usize| {
            let whole = whole(r).filter(|whole| *whole > 0)?;
            Some(Term { value: Rational::from(&of[r] / &whole), slope: vec![(r, whole.recip())] })
        };
        (0..forest.resources.len()).filter_map(term).collect()
    };
    let promised = |r: usize| node.guarantee.as_ref().and_then(|guarantee| guarantee[r].clone());
    crossings(&parts(&holdings.used[v], &promised), used, events);
    crossings(&parts(&holdings.running[v], &promised), running, events);
    crossings(&parts(&holdings.running[v], &|r| Some(forest.capacity[r].clone())), running, events);
}

/// When a term becomes as large as another that is larger now.
fn crossings(terms: &[Term], growth: &[Rational], events: &mut Vec<Rational>) {
    let rates: Vec<Rational> = terms.iter().map(|term| term.rate(growth)).collect();
    for (low, low_rate) in terms.iter().zip(&rates) {
        for (high, high_rate) in terms.iter().zip(&rates) {
            if low.value < high.value && low_rate > high_rate {
                let gap = Rational::from(&high.value - &low.value);
                events.push(gap / Rational::from(low_rate - high_rate));
            }
        }
    }
}
