//! Smaller problems that show the same.

use evenhand_problem::{ProblemSpec, Rational};

/// Changes that are tried at most.
const MOST_TRIALS: usize = 2_000;

/// A problem with fewer users, classes, resources, limits or units of which `shows` is still true, as it is of `spec`:
/// no single change of [`smaller`] makes it smaller yet, unless [`MOST_TRIALS`] ran out.
pub fn shrink(mut spec: ProblemSpec, shows: impl Fn(&ProblemSpec) -> bool) -> ProblemSpec {
    let mut left = MOST_TRIALS;
    'again: loop {
        for next in smaller(&spec) {
            if left == 0 {
                return spec;
            }
            left -= 1;
            if shows(&next) {
                spec = next;
                continue 'again;
            }
        }
        return spec;
    }
}

/// Problems with one thing less, the largest changes first.
fn smaller(spec: &ProblemSpec) -> Vec<ProblemSpec> {
    let mut all = Vec::new();
    let mut push = |change: &dyn Fn(&mut ProblemSpec)| {
        let mut next = spec.clone();
        change(&mut next);
        if next != *spec {
            all.push(next);
        }
    };
    for n in 0..spec.users.len() {
        push(&|next| drop(next.users.remove(n)));
    }
    for i in 0..spec.servers.len() {
        push(&|next| without_class(next, i));
    }
    for r in 0..spec.resources.len() {
        push(&|next| without_resource(next, r));
    }
    for i in 0..spec.servers.len() {
        push(&|next| next.servers[i].count = None);
    }
    for n in 0..spec.users.len() {
        push(&|next| next.users[n].servers = None);
        push(&|next| next.users[n].tasks = None);
        push(&|next| next.users[n].weight = None);
        push(&|next| next.users[n].criterion.clear());
    }
    for less in [halved, lowered] {
        for i in 0..spec.servers.len() {
            for r in 0..spec.resources.len() {
                push(&|next| less(&mut next.servers[i].capacity[r].1));
            }
        }
        for n in 0..spec.users.len() {
            for r in 0..spec.resources.len() {
                push(&|next| less(&mut next.users[n].demand[r].1));
            }
            push(&|next| next.users[n].tasks.iter_mut().for_each(less));
            for i in 0..spec.users[n].criterion.len() {
                push(&|next| less(&mut next.users[n].criterion[i].1));
            }
        }
    }
    all
}

/// Half of it, rounded down.
fn halved(value: &mut Rational) {
    *value = Rational::from(&*value / 2_u32).floor();
}

/// One less, at least 0.
fn lowered(value: &mut Rational) {
    *value = (value.clone() - 1_u32).max(Rational::new());
}

fn without_class(spec: &mut ProblemSpec, i: usize) {
    let name = spec.servers.remove(i).name;
    for user in &mut spec.users {
        user.servers.iter_mut().for_each(|list| list.retain(|class| *class != name));
        user.criterion.retain(|(class, _)| *class != name);
    }
}

fn without_resource(spec: &mut ProblemSpec, r: usize) {
    spec.resources.remove(r);
    spec.servers.iter_mut().for_each(|server| drop(server.capacity.remove(r)));
    spec.users.iter_mut().for_each(|user| drop(user.demand.remove(r)));
}
