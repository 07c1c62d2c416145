//! How KAI divides what is left of one resource in whole units: rounds by priority, floors first, then one unit
//! each by largest remainder.

use std::collections::BTreeMap;

use evenhand_problem::Rational;

use super::raise::by_largest_remainder;

/// A queue that asks for more than its quota.
pub struct Wish {
    /// Position among its siblings.
    pub child: usize,
    pub weight: Rational,
    /// What it asks for beyond what it has; `None`: any amount.
    pub left: Option<Rational>,
}

/// Looks at a queue in one round, over all rounds of one resource of one node, after which this is given up.
const MOST_LOOKS: usize = 50_000_000;

/// Gives `left` to the queues of every priority, from the highest on; the last argument of `give` is added to what
/// the child has. `None` where this would take too long.
///
/// Where `sole_takes_all`, the only queue of a priority (whether it wishes anything or not: `sole`) takes all.
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
    /// All of them.
    pub queues: Vec<usize>,
    /// Those that ask for more.
    pub wishes: Vec<Wish>,
}

/// One round; whether another one follows: somebody wished less than its part, so that there is more for the others.
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
