//! The numbers that schedulers report about their queues, if they differ from the share by which Evenhand
//! compares queues.

use evenhand_problem::Rational;

use super::rule::Rule;
use evenhand_exact::tree::Forest;
use evenhand_exact::tree::Holdings;
use evenhand_exact::tree::{rising, share};

/// A number reported by a scheduler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reported {
    /// A share.
    Share(Rational),
    /// Infinity: Kueue reports it for a group of weight 0 that borrows.
    Infinite,
}

/// Returns the number that the scheduler of a rule reports for each node. The list is empty if the scheduler
/// reports the level or no number. `left` returns the free amounts of every class.
pub fn reported(
    forest: &Forest<'_>,
    holdings: &Holdings,
    rule: Rule,
    left: impl FnOnce() -> Vec<Vec<Rational>>,
) -> Vec<Option<Reported>> {
    match rule {
        Rule::Kueue => (0..forest.nodes.len()).map(|v| Some(kueue(forest, holdings, v))).collect(),
        Rule::Hdrf => {
            let left = left();
            let is_used_up = |r: &usize| left.iter().map(|of_class| &of_class[*r]).sum::<Rational>() <= 0;
            let is_used_up: Vec<bool> = forest.resources.iter().map(is_used_up).collect();
            hdrf(forest, holdings, &is_used_up).into_iter().map(|of| Some(Reported::Share(of))).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns Kueue's `status.fairSharing.weightedShare`: thousandths of the share divided by the weight,
/// rounded up.
///
/// The number is 0 for the root. For a group of weight 0, it is infinite as soon as the group borrows, even
/// if it borrows an amount that no group lends.
fn kueue(forest: &Forest<'_>, holdings: &Holdings, v: usize) -> Reported {
    let (node, used) = (&forest.nodes[v], &holdings.used[v]);
    let nominal =
        |r: usize| node.guarantee.as_ref().and_then(|guarantee| guarantee[r].clone()).unwrap_or_default();
    let is_borrowing = used.iter().enumerate().any(|(r, used)| *used > nominal(r));
    if v == 0 || !is_borrowing {
        return Reported::Share(Rational::new());
    }
    if node.weight.is_zero() {
        return Reported::Infinite;
    }
    Reported::Share((rising(&share(forest, v, used), used).0 * 1000_u32 / &node.weight).ceil())
}

/// Computes the shares of Volcano's plugin `drf` with hierarchy.
///
/// The usage of a node is the sum of the usage of its children, each scaled to the smallest share among them.
/// Saturated children are not scaled, and children without usage are ignored. A user is saturated if it has
/// all its tasks or demands a resource that is used up. Another node is saturated if all its children are.
/// Weights have no effect.
fn hdrf(forest: &Forest<'_>, holdings: &Holdings, is_used_up: &[bool]) -> Vec<Rational> {
    let m = forest.resources.len();
    let dominant = |held: &[Rational]| {
        let parts = held.iter().zip(&forest.capacity).map(|(held, all)| Rational::from(held / all));
        parts.max().unwrap_or_default()
    };
    let mut held = vec![vec![Rational::new(); m]; forest.nodes.len()];
    let mut shares = vec![Rational::new(); forest.nodes.len()];
    let mut is_saturated = vec![false; forest.nodes.len()];
    for v in forest.upwards() {
        let node = &forest.nodes[v];
        if let Some(leaf) = &node.leaf {
            held[v].clone_from(&holdings.running[v]);
            let has_all = leaf.tasks.as_ref().is_some_and(|tasks| holdings.tasks[leaf.user] >= *tasks);
            is_saturated[v] = has_all || leaf.demand.iter().any(|(r, _)| is_used_up[*r]);
        } else {
            let scaled = |k: &usize| !is_saturated[*k] && !shares[*k].is_zero();
            let least = node.children.iter().filter(|k| scaled(k)).map(|k| &shares[*k]).min();
            // Shares are scaled to at most 1, the share of the whole cluster.
            let least = least.map_or_else(|| Rational::from(1), |least| least.clone().min(Rational::from(1)));
            let mut sum = vec![Rational::new(); m];
            for k in &node.children {
                let factor = if scaled(k) { Rational::from(&least / &shares[*k]) } else { Rational::from(1) };
                for (sum, held) in sum.iter_mut().zip(&held[*k]) {
                    *sum += Rational::from(held * &factor);
                }
            }
            is_saturated[v] = node.children.iter().all(|k| is_saturated[*k]);
            held[v] = sum;
        }
        shares[v] = dominant(&held[v]);
    }
    shares
}
