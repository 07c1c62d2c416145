//! NJC, section 5.1: users that request less than their entitlement of every resource are served first. The
//! remaining capacities are scaled to 1.

use evenhand_problem::{Problem, Rational};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::batch::random_pool;
use super::drf::allocate;
use super::setting::{is_fair, pool_of, row};
use crate::entry::{Entry, list};
use crate::error::PaperError;

/// The problem that remains after one user was granted its whole request.
pub struct Reduced {
    pub requests: Vec<Vec<Rational>>,
    pub entitlements: Vec<Rational>,
    /// The factors by which the requests of the remaining users were multiplied, indexed by resource.
    pub factors: Vec<Rational>,
}

/// Serves `user`. Returns `None` if the user requests all of some resource, or is entitled to everything.
pub fn without(requests: &[Vec<Rational>], entitlements: &[Rational], user: usize) -> Option<Reduced> {
    let inverse = |taken: &Rational| {
        let left = Rational::from(1 - taken);
        (left > 0).then(|| left.recip())
    };
    let factors: Vec<Rational> = requests[user].iter().map(inverse).collect::<Option<_>>()?;
    let growth = inverse(&entitlements[user])?;
    let others = || (0..requests.len()).filter(|n| *n != user);
    let scaled = |n: usize| requests[n].iter().zip(&factors).map(|(r, f)| Rational::from(r * f)).collect();
    Some(Reduced {
        requests: others().map(scaled).collect(),
        entitlements: others().map(|n| Rational::from(&entitlements[n] * &growth)).collect(),
        factors,
    })
}

/// Serves every user that requests less than its entitlement of every resource, one user after the other. Returns the
/// remaining users in their order, and the remaining problem.
fn reduce(requests: &[Vec<Rational>], entitlements: &[Rational]) -> (Vec<usize>, Reduced) {
    let mut left: Vec<usize> = (0..requests.len()).collect();
    let factors = vec![Rational::from(1); requests.first().map_or(0, Vec::len)];
    let (requests, entitlements) = (requests.to_vec(), entitlements.to_vec());
    let mut now = Reduced { requests, entitlements, factors };
    let modest = |now: &Reduced| {
        (0..now.requests.len()).find(|&n| now.requests[n].iter().all(|r| *r < now.entitlements[n]))
    };
    while let Some(user) = modest(&now) {
        let Some(next) = without(&now.requests, &now.entitlements, user) else { break };
        left.remove(user);
        now = next;
    }
    (left, now)
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    // The text gives only one request of user 1, and no requests of the other users.
    let reduced = without(&[row("2/5")?, row("1")?, row("1")?], &row("0.5 0.2 0.3")?, 0)
        .ok_or("user 1 leaves nothing")?;
    let source = "NJC, section 5.1, users 1, 2, 3 entitled to 0.5, 0.2, 0.3";
    Ok(vec![
        Entry {
            id: "njc.reduction.entitlements".to_owned(),
            source,
            paper: "0.4, 0.6".to_owned(),
            ours: list(&reduced.entitlements),
            agrees: Some(reduced.entitlements == row("0.4 0.6")?),
            note: "of users 2 and 3, when user 1 has got what it asks for".to_owned(),
        },
        Entry {
            id: "njc.reduction.factor".to_owned(),
            source: "NJC, section 5.1, user 1 asks for 0.4 of resource 1",
            paper: "5/3".to_owned(),
            ours: list(&reduced.factors),
            agrees: Some(reduced.factors == row("5/3")?),
            note: "by which the other requests of resource 1 grow".to_owned(),
        },
        lifted()?,
    ])
}

/// Returns the entry on the answers of the remaining problem. It tests whether they are answers of the whole problem
/// once the served users are added.
fn lifted() -> Result<Entry, PaperError> {
    let mut random = Pcg64Mcg::seed_from_u64(51);
    let (mut reduced, mut fair, mut above_1) = (0, 0, 0);
    let instances = 400;
    for _ in 0..instances {
        let problem = random_pool(&mut random, 5, 3)?;
        let users = 0..problem.n_users();
        let requests: Vec<Vec<Rational>> = users.clone().map(|n| problem.demand(n, 0).to_vec()).collect();
        let total: Rational = problem.users().iter().map(evenhand_problem::User::weight).sum();
        let entitlements: Vec<Rational> =
            users.map(|n| Rational::from(problem.users()[n].weight() / &total)).collect();
        let (left, rest) = reduce(&requests, &entitlements);
        if left.len() == requests.len() {
            continue;
        }
        reduced += 1;
        above_1 += usize::from(rest.requests.iter().flatten().any(|r| *r > 1));
        let mut x = vec![Rational::from(1); requests.len()];
        for (n, granted) in left.iter().zip(answer(&rest)?) {
            x[*n] = granted;
        }
        fair += usize::from(is_fair(&problem, &x)?);
    }
    Ok(Entry {
        id: "njc.reduction.lifted".to_owned(),
        source: "NJC, section 5.1: solving what remains solves the whole",
        paper: "holds".to_owned(),
        ours: format!("holds for {fair} of {reduced} random instances that have such a user"),
        agrees: Some(fair == reduced && reduced > 0),
        note: format!(
            "{instances} instances were drawn. In {above_1} of them a request exceeds 1 after the scaling, \
             which violates the premise of Theorem 1. The reduction is correct for these instances as well."
        ),
    })
}

fn answer(rest: &Reduced) -> Result<Vec<Rational>, PaperError> {
    if rest.requests.is_empty() {
        return Ok(Vec::new());
    }
    let problem: Problem = pool_of(&rest.requests, &rest.entitlements)?;
    allocate(&problem, "njc")
}
