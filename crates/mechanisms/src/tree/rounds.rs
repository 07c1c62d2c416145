//! The division of the rest of one resource in whole units, as KAI does it. The division runs in rounds for
//! each priority. In each round, every queue gets its share rounded down. At the end, single units go to the
//! largest remainders.

use std::collections::BTreeMap;

use evenhand_problem::Rational;

use super::raise::by_largest_remainder;

/// A queue that requests more than its quota.
pub struct Wish {
    /// The position of the queue among its siblings.
    pub child: usize,
    /// The weight of the queue.
    pub weight: Rational,
    /// The amount that the queue requests in addition to what it has, or `None` for any amount.
    pub left: Option<Rational>,
}

/// The maximum number of visits to queues, over all rounds of one resource of one node.
const MOST_LOOKS: usize = 50_000_000;

/// Gives `left` to the queues of every priority, from the highest on. `give` is called with a child and the amount to
/// add. Returns `None` if this would take too long.
///
/// With `sole_takes_all`, the only queue of a priority takes the whole rest, even if it requests less.
pub fn give_whole(
    by_priority: BTreeMap<std::cmp::Reverse<i64>, Tier>,
    mut left: Rational,
    sole_takes_all: bool,
    mut give: impl FnMut(usize, Rational),
) -> Option<()> {
    let mut remembered: Vec<Vec<(usize, Rational)>> = Vec::new();
    let mut looks = 0;
    for Tier { queues, mut wishes } in by_priority.into_values() {
        if sole_takes_all && queues.len() == 1 {
            give(queues[0], std::mem::take(&mut left));
            continue;
        }
        let mut remainders: BTreeMap<usize, Rational> = BTreeMap::new();
        loop {
            looks += wishes.len();
            if looks > MOST_LOOKS {
                return None;
            }
            if !round(&mut wishes, &mut left, &mut remainders, &mut give) || left.is_zero() {
                break;
            }
        }
        remembered.push(remainders.into_iter().collect());
    }
    for remainders in remembered {
        by_largest_remainder(remainders, &mut left, &mut give);
    }
    Some(())
}

/// The queues of one priority.
#[derive(Default)]
pub struct Tier {
    /// The positions of all queues.
    pub queues: Vec<usize>,
    /// The requests of the queues that request more than they have.
    pub wishes: Vec<Wish>,
}

/// Runs one round. Returns whether another round follows. A round follows if some queue requested less than
/// its share, so that more remains for the other queues.
fn round(
    wishes: &mut Vec<Wish>,
    left: &mut Rational,
    remainders: &mut BTreeMap<usize, Rational>,
    give: &mut impl FnMut(usize, Rational),
) -> bool {
    let amount = left.clone();
    let weights: Rational = wishes.iter().map(|wish| &wish.weight).sum();
    if weights.is_zero() {
        return false;
    }
    let mut again = false;
    for Wish { child, weight, left: wanted } in wishes.iter_mut() {
        if left.is_zero() {
            break;
        }
        if weight.is_zero() {
            continue;
        }
        let part = Rational::from(&amount * &*weight) / &weights;
        let given = match wanted {
            Some(all) if *all <= part => {
                remainders.remove(child);
                again |= *all < part;
                all.clone()
            }
            _ => {
                let floor = Rational::from(part.floor_ref());
                let remainder = part - &floor;
                if remainder > 0 {
                    remainders.insert(*child, remainder);
                }
                floor
            }
        };
        *left -= &given;
        if let Some(wanted) = wanted {
            *wanted -= &given;
        }
        give(*child, given);
    }
    wishes.retain(|wish| wish.left.as_ref().is_none_or(|left| *left > 0));
    again
}
