//! How far a node grows in one direction: up to its next event, all of which are rational.

use evenhand_exact::tree::{Forest, Holdings, Term, share};
use evenhand_problem::Rational;

use super::kept::{ROUNDED, around};
use super::moving::Growth;

/// The first event at a node that grows at these rates: capacity, a limit, a guarantee or what is kept back is
/// reached, or another resource becomes the largest of a share. `None`: nothing ever happens.
pub(super) fn first_event(
    forest: &Forest<'_>,
    holdings: &Holdings,
    v: usize,
    growth: &Growth,
) -> Option<Rational> {
    let Growth { running, used, .. } = growth;
    let mut events = Events::default();
    let node = &forest.nodes[v];
    for r in (0..forest.resources.len()).filter(|r| used[*r] > 0) {
        let most = match v {
            0 => Some(&forest.capacity[r]).filter(|_| forest.is_bounded[r]),
            _ => node.limit[r].as_ref(),
        };
        let promised = node.guarantee.as_ref().and_then(|guarantee| guarantee[r].as_ref());
        let marks = most.into_iter().chain(promised).chain([&node.kept[r]]);
        let ahead = marks.filter(|mark| **mark > holdings.used[v][r]);
        ahead.for_each(|mark| events.offer(mark, &holdings.used[v][r], &used[r]));
    }
    if v == 0 {
        let runs = running.iter().enumerate().filter(|(r, growth)| forest.is_plain[*r] && **growth > 0);
        for (r, growth) in runs {
            events.offer(&forest.capacity[r], &holdings.running[0][r], growth);
        }
    } else if node.leaf.is_none() {
        // What one user holds and uses of everything grows in proportion, so that nothing becomes the largest.
        crossings(&share(forest, v, &holdings.used[v]), used, &mut events);
        let parts = |of: &[Rational], whole: &dyn Fn(usize) -> Option<Rational>| -> Vec<Term> {
            let term = |r: usize| {
                let whole = whole(r).filter(|whole| *whole > 0)?;
                Some(Term { value: Rational::from(&of[r] / &whole), slope: vec![(r, whole.recip())] })
            };
            (0..forest.resources.len()).filter_map(term).collect()
        };
        if let Some(guarantee) = &node.guarantee {
            let promised = |r: usize| guarantee[r].clone();
            crossings(&parts(&holdings.used[v], &promised), used, &mut events);
            crossings(&parts(&holdings.running[v], &promised), running, &mut events);
        }
        let capacity = |r: usize| Some(forest.capacity[r].clone());
        crossings(&parts(&holdings.running[v], &capacity), running, &mut events);
    }
    events.first
}

/// The first of some events.
struct Events {
    first: Option<Rational>,
    /// In doubles, no sooner than it.
    latest: f64,
}

impl Default for Events {
    fn default() -> Self {
        Self { first: None, latest: f64::INFINITY }
    }
}

impl Events {
    /// Takes what grows at a rate from `low` to `high`, if it may be the first and lies ahead.
    fn offer(&mut self, high: &Rational, low: &Rational, rate: &Rational) {
        let (to, from, speed) = (around(high), around(low), around(rate));
        if (to.0 - from.1) / speed.1 * (1.0 - ROUNDED) > self.latest {
            return;
        }
        let event = Rational::from(high - low) / rate;
        if event > 0 && self.first.as_ref().is_none_or(|first| event < *first) {
            self.first = Some(event);
            if speed.0 > 0.0 {
                self.latest = (to.1 - from.0) / speed.0 * (1.0 + ROUNDED);
            }
        }
    }
}

/// When a term becomes as large as another that is larger now.
fn crossings(terms: &[Term], growth: &[Rational], events: &mut Events) {
    let rates: Vec<Rational> = terms.iter().map(|term| term.rate(growth)).collect();
    for (low, low_rate) in terms.iter().zip(&rates) {
        for (high, high_rate) in terms.iter().zip(&rates) {
            if low.value < high.value && low_rate > high_rate {
                events.offer(&high.value, &low.value, &Rational::from(low_rate - high_rate));
            }
        }
    }
}
