//! Reduces problems to smaller ones that show the same result.

use evenhand_problem::Rational;
use evenhand_problem::groups::GroupShareSpec;

use crate::stated::Stated;

/// The largest number of changes that are tried.
const MOST_TRIALS: usize = 2_000;

/// Returns a problem with fewer users, classes, resources or limits, or with smaller amounts, for which `shows` still
/// returns true.
///
/// `shows` must return true for `stated`. The result cannot be reduced by one more change of [`smaller`], unless
/// [`MOST_TRIALS`] was reached.
pub fn shrink(mut stated: Stated, shows: impl Fn(&Stated) -> bool) -> Stated {
    let mut left = MOST_TRIALS;
    'again: loop {
        for next in smaller(&stated) {
            if left == 0 {
                return stated;
            }
            left -= 1;
            if shows(&next) {
                stated = next;
                continue 'again;
            }
        }
        return stated;
    }
}

/// Returns the problems after one reduction, the largest reductions first.
fn smaller(stated: &Stated) -> Vec<Stated> {
    let spec = &stated.spec;
    let mut all = Vec::new();
    let mut push = |change: &dyn Fn(&mut Stated)| {
        let mut next = stated.clone();
        change(&mut next);
        if next != *stated {
            all.push(next);
        }
    };
    for n in 0..spec.users.len() {
        push(&|next| next.remove_user(n));
    }
    for i in 0..spec.servers.len() {
        push(&|next| without_class(next, i));
    }
    for r in 0..spec.resources.len() {
        push(&|next| without_resource(next, r));
    }
    for v in 0..stated.groups.len() {
        push(&|next| next.remove_group(v));
        push(&|next| next.groups[v].guarantee = None);
        push(&|next| next.groups[v].limit.clear());
        push(&|next| next.groups[v].lend.clear());
        push(&|next| next.groups[v].weight = None);
    }
    push(&|next| next.share = GroupShareSpec::default());
    for n in 0..stated.members.len() {
        push(&|next| next.members[n].group = None);
    }
    for i in 0..spec.servers.len() {
        push(&|next| next.spec.servers[i].count = None);
    }
    for n in 0..spec.users.len() {
        push(&|next| next.spec.users[n].servers = None);
        push(&|next| next.spec.users[n].tasks = None);
        push(&|next| next.spec.users[n].weight = None);
        push(&|next| next.spec.users[n].criterion.clear());
    }
    // Halving comes first, because it needs fewer trials than decreasing by 1.
    for less in [halved, lowered] {
        for i in 0..spec.servers.len() {
            for r in 0..spec.resources.len() {
                push(&|next| less(&mut next.spec.servers[i].capacity[r].1));
            }
        }
        for n in 0..spec.users.len() {
            for r in 0..spec.resources.len() {
                push(&|next| less(&mut next.spec.users[n].demand[r].1));
            }
            push(&|next| next.spec.users[n].tasks.iter_mut().for_each(less));
            for i in 0..spec.users[n].criterion.len() {
                push(&|next| less(&mut next.spec.users[n].criterion[i].1));
            }
            push(&|next| next.spec.users[n].weight.iter_mut().for_each(less));
        }
        for v in 0..stated.groups.len() {
            let group = &stated.groups[v];
            for r in 0..group.limit.len() {
                push(&|next| less(&mut next.groups[v].limit[r].1));
            }
            for r in 0..group.guarantee.as_ref().map_or(0, Vec::len) {
                push(&|next| next.groups[v].guarantee.iter_mut().for_each(|list| less(&mut list[r].1)));
            }
            for r in 0..group.lend.len() {
                push(&|next| less(&mut next.groups[v].lend[r].1));
            }
            push(&|next| next.groups[v].weight.iter_mut().for_each(less));
        }
    }
    all
}

/// Halves a number and rounds the result down.
fn halved(value: &mut Rational) {
    *value = Rational::from(&*value / 2_u32).floor();
}

/// Decreases a number by 1, to at least 0.
fn lowered(value: &mut Rational) {
    *value = (value.clone() - 1_u32).max(Rational::new());
}

fn without_class(stated: &mut Stated, i: usize) {
    let spec = &mut stated.spec;
    let name = spec.servers.remove(i).name;
    for user in &mut spec.users {
        user.servers.iter_mut().for_each(|list| list.retain(|class| *class != name));
        user.criterion.retain(|(class, _)| *class != name);
    }
}

fn without_resource(stated: &mut Stated, r: usize) {
    let spec = &mut stated.spec;
    let name = spec.resources.remove(r);
    for group in &mut stated.groups {
        group.limit.retain(|(of, _)| *of != name);
        group.lend.retain(|(of, _)| *of != name);
        group.guarantee.iter_mut().for_each(|list| list.retain(|(of, _)| *of != name));
    }
    stated.share.multipliers.retain(|(of, _)| *of != name);
    spec.servers.iter_mut().for_each(|server| drop(server.capacity.remove(r)));
    spec.users.iter_mut().for_each(|user| drop(user.demand.remove(r)));
}
