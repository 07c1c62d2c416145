//! False statements that users may make: another demand, other server classes, or both.

use evenhand_problem::Rational;

use crate::property::Change;
use crate::stated::Stated;

/// The difference between a true problem and a changed problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A user states another demand.
    Demand(usize),
    /// A user states other classes.
    Classes(usize),
    /// A user states another demand and other classes.
    Both(usize),
    /// A user leaves.
    Leaves(usize),
    /// A server has more of a resource.
    More,
}

impl Kind {
    /// Returns the user that makes a false statement, if there is such a user.
    pub fn liar(self) -> Option<usize> {
        match self {
            Self::Demand(n) | Self::Classes(n) | Self::Both(n) => Some(n),
            Self::Leaves(_) | Self::More => None,
        }
    }

    /// Returns the index of user `n` in the changed problem, or `None` if the user has left.
    pub fn now(self, n: usize) -> Option<usize> {
        match self {
            Self::Leaves(gone) if gone == n => None,
            Self::Leaves(gone) => Some(if n > gone { n - 1 } else { n }),
            _ => Some(n),
        }
    }
}

/// Amounts up to this number are small. If a demand has at most two resources and only small amounts, all amounts of
/// [`SMALL_LIES`] are tried.
const SMALL: u32 = 2;
/// The amounts that are tried instead of a small demand.
const SMALL_LIES: [u32; 4] = [0, 1, 2, 3];
/// The amounts that are tried instead of a larger demand with at most two resources.
const LIES: [u32; 5] = [0, 1, 2, 4, 7];

/// Returns the lies that are tried for each user.
///
/// The lies of a user with at most two resources include every demand whose amounts are in a short list. The
/// lies also include demands in which one amount is increased or decreased by 1, doubled, halved or set to 0.
/// They include every other set of classes, also together with one amount changed by 1.
pub fn lies(stated: &Stated) -> Vec<Change> {
    let mut all = Vec::new();
    for n in 0..stated.spec.users.len() {
        let sets = sets(stated, n);
        let demands = demands(stated, n);
        all.extend(demands.iter().map(|demand| change(stated, n, Some(demand), None)));
        all.extend(sets.iter().map(|set| change(stated, n, None, Some(set))));
        for demand in steps(&amounts(stated, n)) {
            all.extend(sets.iter().map(|set| change(stated, n, Some(&demand), Some(set))));
        }
    }
    all
}

fn amounts(stated: &Stated, n: usize) -> Vec<Rational> {
    stated.spec.users[n].demand.iter().map(|(_, amount)| amount.clone()).collect()
}

/// Returns the demands that a user may state instead of its true demand. No demand is zero.
fn demands(stated: &Stated, n: usize) -> Vec<Vec<Rational>> {
    let truth = amounts(stated, n);
    let is_small = truth.len() <= 2 && truth.iter().all(|amount| *amount <= SMALL);
    let mut lies = match (is_small, truth.len() <= 2) {
        (true, _) => grid(truth.len(), &SMALL_LIES),
        (_, true) => grid(truth.len(), &LIES),
        _ => Vec::new(),
    };
    if !is_small {
        lies.extend(steps(&truth));
        for (r, amount) in truth.iter().enumerate() {
            for lie in [Rational::new(), Rational::from(amount * 2_u32), Rational::from(amount / 2_u32)] {
                lies.push(with(&truth, r, lie));
            }
        }
        lies.push(truth.iter().map(|amount| Rational::from(amount * 2_u32)).collect());
        lies.push(truth.iter().map(|amount| Rational::from(amount / 2_u32)).collect());
    }
    lies.retain(|lie| *lie != truth && lie.iter().any(|amount| *amount > 0));
    lies.dedup();
    lies
}

/// Returns all demands whose amounts are in this list.
fn grid(resources: usize, of: &[u32]) -> Vec<Vec<Rational>> {
    let mut all = vec![Vec::new()];
    for _ in 0..resources {
        let longer = |lie: &Vec<Rational>| -> Vec<Vec<Rational>> {
            of.iter().map(|amount| [lie.as_slice(), &[Rational::from(*amount)]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Returns the demands in which one amount is increased by 1, or decreased by 1 if it stays above 0.
fn steps(truth: &[Rational]) -> Vec<Vec<Rational>> {
    let mut all = Vec::new();
    for (r, amount) in truth.iter().enumerate() {
        all.push(with(truth, r, amount.clone() + 1_u32));
        if *amount > 1 {
            all.push(with(truth, r, amount.clone() - 1_u32));
        }
    }
    all
}

fn with(truth: &[Rational], r: usize, lie: Rational) -> Vec<Rational> {
    let mut demand = truth.to_vec();
    demand[r] = lie;
    demand
}

/// Returns every other nonempty set of classes.
fn sets(stated: &Stated, n: usize) -> Vec<Vec<String>> {
    let classes: Vec<&String> = stated.spec.servers.iter().map(|server| &server.name).collect();
    let truth = &stated.spec.users[n].servers;
    let may_use = |class: &String| truth.as_ref().is_none_or(|list| list.contains(class));
    let all = (1..1_usize << classes.len()).map(|set| {
        let named = classes.iter().enumerate().filter(move |(i, _)| set >> i & 1 == 1);
        named.map(|(_, class)| (*class).clone()).collect::<Vec<String>>()
    });
    let is_truth = |set: &Vec<String>| classes.iter().all(|class| may_use(class) == set.contains(class));
    all.filter(|set| !is_truth(set)).collect()
}

fn change(stated: &Stated, n: usize, demand: Option<&Vec<Rational>>, set: Option<&Vec<String>>) -> Change {
    let mut changed = stated.clone();
    let user = &mut changed.spec.users[n];
    let mut words = Vec::new();
    if let Some(demand) = demand {
        let truth = user.demand.clone();
        for ((_, amount), lie) in user.demand.iter_mut().zip(demand) {
            *amount = lie.clone();
        }
        let said = user.demand.iter().zip(&truth).filter(|(said, truth)| said != truth);
        let said = said.map(|((resource, lie), (_, amount))| format!("{lie} {resource}, not {amount}"));
        words.push(format!("a demand of {}", said.collect::<Vec<_>>().join(" and ")));
    }
    if let Some(set) = set {
        user.servers = Some(set.clone());
        words.push(format!("that it may run on {} alone", set.join(" and ")));
    }
    let kind = match (demand, set) {
        (Some(_), Some(_)) => Kind::Both(n),
        (None, Some(_)) => Kind::Classes(n),
        _ => Kind::Demand(n),
    };
    Change {
        words: format!("{} states {}", stated.spec.users[n].name, words.join(", and ")),
        stated: changed,
        kind,
    }
}
