//! Enumerates sets of servers in the order of their prices.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use evenhand_problem::Rational;

use super::Offer;
use super::needs::Need;

/// The largest number of sets that the search keeps in memory.
const MOST_SETS: usize = 200_000;

/// A node of the search: a set of servers, with a lower bound on the price of the set and of all sets that
/// follow from it. The search visits nodes in the order of their bounds.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    bound: Rational,
    /// Among equal bounds, the most expensive set comes first, because it is the closest to its bound.
    price: Reverse<Rational>,
    counts: Vec<u64>,
    /// The first offer that may still add servers. Earlier offers are complete, so that each set follows from
    /// exactly one other set.
    from: usize,
}

/// Enumerates all sets of servers that meet the needs, in the order of their prices.
pub(super) struct Vectors<'o> {
    offers: &'o [Offer],
    needs: &'o [Need],
    /// The largest number of servers of one class.
    most: u64,
    heap: BinaryHeap<Reverse<Node>>,
}

impl<'o> Vectors<'o> {
    pub(super) fn new(offers: &'o [Offer], needs: &'o [Need], most: u64) -> Self {
        let mut vectors = Self { offers, needs, most, heap: BinaryHeap::new() };
        vectors.push(vec![0; offers.len()], Rational::new(), 0);
        vectors
    }

    fn push(&mut self, counts: Vec<u64>, price: Rational, from: usize) {
        let Some(rest) = self.rest(&counts, from) else { return };
        let bound = Rational::from(&price + &rest);
        self.heap.push(Reverse(Node { bound, price: Reverse(price), counts, from }));
    }

    /// Returns a lower bound on the price of the servers that a set still needs, if only servers of the offer `from`
    /// and of later offers are added. Returns `None` if these offers cannot meet a need.
    fn rest(&self, counts: &[u64], from: usize) -> Option<Rational> {
        let mut most = Rational::new();
        for need in self.needs {
            let rest = need.rest(counts);
            if rest <= 0 {
                continue;
            }
            let mut useful = (from..self.offers.len()).filter(|c| need.by_offer[*c] > 0);
            let first = useful.next()?;
            let price = match useful.next() {
                None => Rational::from(&rest / &need.by_offer[first]).ceil() * &self.offers[first].price,
                Some(_) => {
                    let cheapest = (from..self.offers.len())
                        .filter(|c| need.by_offer[*c] > 0)
                        .map(|c| Rational::from(&self.offers[c].price / &need.by_offer[c]))
                        .min();
                    rest * cheapest.unwrap_or_default()
                }
            };
            most = most.max(price);
        }
        Some(most)
    }

    /// Returns the lower bound on the prices of all sets that follow. Returns `None` if no sets follow.
    pub(super) fn bound(&self) -> Option<&Rational> {
        self.heap.peek().map(|Reverse(node)| &node.bound)
    }

    /// Returns `true` if the search keeps too many sets in memory.
    pub(super) fn is_full(&self) -> bool {
        self.heap.len() > MOST_SETS
    }

    /// Takes one step of the search. If the set of this step meets all needs, returns the set with its price.
    /// Otherwise, and at the end, returns `None`.
    pub(super) fn step(&mut self) -> Option<(Vec<u64>, Rational)> {
        let Reverse(node) = self.heap.pop()?;
        let Reverse(price) = node.price;
        for c in node.from..self.offers.len() {
            if node.counts[c] < self.most {
                let mut counts = node.counts.clone();
                counts[c] += 1;
                self.push(counts, Rational::from(&price + &self.offers[c].price), c);
            }
        }
        self.needs.iter().all(|need| need.rest(&node.counts) <= 0).then_some((node.counts, price))
    }
}

/// Returns the price of a set.
pub(super) fn price(offers: &[Offer], counts: &[u64]) -> Rational {
    offers.iter().zip(counts).map(|(offer, count)| Rational::from(&offer.price * *count)).sum()
}

/// Returns `true` if some set in `others` has at least as many servers of each class as the set `counts`.
pub(super) fn is_within(counts: &[u64], others: &[Vec<u64>]) -> bool {
    others.iter().any(|other| counts.iter().zip(other).all(|(a, b)| a <= b))
}
