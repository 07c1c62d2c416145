//! The order in which queues start jobs, by the fraction of their fair share that they use.

use evenhand_problem::Rational;

use crate::due::Due;
use crate::queues::{Kind, Queues};

/// Returns the largest fraction of its fair share that a queue uses, over all resources. Returns `None` if the queue
/// uses a resource for which its fair share is 0.
fn fraction(usage: &[Rational], share: &[Rational]) -> Option<Rational> {
    let mut largest = Rational::new();
    for (usage, share) in usage.iter().zip(share).filter(|(usage, _)| **usage > 0) {
        if share.is_zero() {
            return None;
        }
        largest = largest.max(Rational::from(usage / share));
    }
    Some(largest)
}

/// Returns the next user to serve among these users. The queues of the users are compared from the outermost
/// to the innermost queue. The highest priority comes first, then the least fraction of the fair share in
/// use, then the order of the file.
pub(super) fn next(queues: &Queues<'_>, due: &Due, totals: &[Rational], users: &[usize]) -> Option<usize> {
    let held = queues.held(totals);
    let groups = queues.problem.groups().list();
    let priority = |v: usize| match queues.list[v].kind {
        Kind::Group(of) => groups[of].priority,
        Kind::User(_) => 0,
    };
    let compare = |v: usize, w: usize| {
        let fractions = (fraction(&held[v], &due.amounts[v]), fraction(&held[w], &due.amounts[w]));
        let by_fraction = match &fractions {
            (Some(a), Some(b)) => a.cmp(b),
            (a, b) => a.is_none().cmp(&b.is_none()),
        };
        priority(w).cmp(&priority(v)).then(by_fraction).then(v.cmp(&w))
    };
    users.iter().copied().min_by(|a, b| {
        let (of_a, of_b) = (queues.above[*a].iter().rev(), queues.above[*b].iter().rev());
        let different = of_a.zip(of_b).find(|(v, w)| v != w);
        // A user directly in a queue comes before the subqueues of the queue.
        let (depth_a, depth_b) = (queues.above[*a].len(), queues.above[*b].len());
        different.map_or(depth_a.cmp(&depth_b), |(v, w)| compare(*v, *w)).then(a.cmp(b))
    })
}
