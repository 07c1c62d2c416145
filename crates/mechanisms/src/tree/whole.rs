//! Whole tasks by the tree: `fill` where users stand in groups or run gangs (theory, section 9).
//!
//! At every turn the root serves the child whose key is least, that one its own, down to a user, which gets one gang
//! of tasks (one task where it states none), all on the first servers on which they fit, or none. Who has fewer tasks
//! left than its gang, finds no servers for it, or would exceed a limit above it, the capacity beside what is kept
//! back, or with `zero-weight: never` the guarantee of a group of weight 0, is left behind for good: what is used only
//! grows.

use evenhand_problem::groups::ZeroWeight;
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Sharing};

use super::forest::{Forest, Leaf};
use super::growth::{Ways, candidates};
use super::holdings::Holdings;
use super::servers::Servers;
use crate::filling::{Draw, Ties};
use crate::mechanism::MechanismError;

/// Most work: users looked at, over all turns.
const WORK: u64 = 2_000_000_000;

/// Whole tasks by the tree, each gang on the first servers on which it fits.
///
/// # Errors
/// [`MechanismError`]: as [`allocate`](super::allocate) has them, and a limit on the work.
pub fn fill_whole(
    problem: &Problem,
    mechanism: &'static str,
    ties: Ties,
    seed: u64,
) -> Result<Allocation, MechanismError> {
    let forest = super::forest_of(problem, &super::Settings::default())?;
    let mut filling = Filling {
        holdings: Holdings::new(&forest, vec![Rational::new(); problem.n_users()]),
        servers: Servers::new(problem),
        is_out: vec![false; problem.n_users()],
        ways: (0..problem.n_users()).map(|_| None).collect(),
        forest: &forest,
        problem,
    };
    let mut draw = Draw::new(seed, 0);
    let mut work = 0_u64;
    let mut last = None;
    loop {
        work = work.saturating_add(problem.n_users() as u64 + 1);
        if work > WORK {
            let why = "too many turns: it serves one gang of tasks after the other".to_owned();
            return Err(MechanismError::Limit { mechanism, why });
        }
        filling.look(last);
        let active: Vec<usize> = (0..problem.n_users()).filter(|n| !filling.is_out[*n]).collect();
        if active.is_empty() {
            break;
        }
        let n = filling.pick(&active, ties, &mut draw);
        filling.serve(n);
        last = Some(n);
    }
    let (tasks, placements) = filling.servers.into_tasks();
    Ok(Allocation {
        mechanism: Some(mechanism.to_owned()),
        arithmetic: Arithmetic::Exact,
        tasks,
        placements: Some(placements),
        ..Allocation::empty(problem.n_users(), Sharing::Rdm)
    })
}

struct Filling<'f> {
    problem: &'f Problem,
    forest: &'f Forest<'f>,
    holdings: Holdings,
    servers: Servers<'f>,
    is_out: Vec<bool>,
    /// By user that is not out.
    ways: Ways,
}

impl Filling<'_> {
    fn gang(&self, n: usize) -> u64 {
        self.problem.groups().member(n).gang.unwrap_or(1)
    }

    /// The group below the root that a user stands in, or the user itself.
    fn top(&self, n: usize) -> usize {
        let leaf = self.forest.leaf(n);
        let groups = self.forest.above(leaf).take_while(|v| *v != 0);
        groups.last().unwrap_or(leaf)
    }

    /// Leaves out who can have no more. Where a user below the same child of the root was served last, what stands
    /// above a user is found anew; elsewhere nothing has changed there.
    fn look(&mut self, last: Option<usize>) {
        let changed = last.map(|last| self.top(last));
        for n in 0..self.is_out.len() {
            if self.is_out[n] {
                continue;
            }
            let Some(leaf) = self.forest.nodes[self.forest.leaf(n)].leaf.as_ref() else { continue };
            let may = self.may_run(leaf) && self.servers.have_room(n, self.gang(n));
            if !may {
                self.is_out[n] = true;
                self.ways[n] = None;
            } else if changed.is_none_or(|top| self.top(n) == top) {
                self.ways[n] = self.holdings.way(self.forest, leaf).map(|way| way.nodes);
                self.is_out[n] = self.ways[n].is_none();
            }
        }
    }

    /// Whether one more gang is within the tasks of the user, all limits above it and the capacity.
    fn may_run(&self, leaf: &Leaf) -> bool {
        let gang = Rational::from(self.gang(leaf.user));
        let has = &self.holdings.tasks[leaf.user];
        let is_left = leaf.tasks.as_ref().is_none_or(|tasks| Rational::from(has + &gang) <= *tasks);
        is_left
            && leaf.is_able
            && self.grow(leaf, &gang, |v, r, used, more| self.is_allowed(leaf, v, r, used, more))
    }

    fn is_allowed(&self, leaf: &Leaf, v: usize, r: usize, used: &Rational, more: &Rational) -> bool {
        let node = &self.forest.nodes[v];
        let most = if v == 0 { Some(&self.forest.capacity[r]) } else { node.limit[r].as_ref() };
        let after = Rational::from(used + more);
        if *more > 0 && most.is_some_and(|most| after > *most) {
            return false;
        }
        let never = self.forest.share.zero_weight == ZeroWeight::Never && v != 0 && node.weight.is_zero();
        if !never {
            return true;
        }
        let Some(guarantee) = &node.guarantee else { return false };
        let names_any = leaf.demand.iter().any(|(r, _)| guarantee[*r].is_some());
        let is_kept = guarantee[r]
            .as_ref()
            .is_none_or(|promised| *promised > 0 && (more.is_zero() || after <= *promised));
        names_any && is_kept
    }

    /// Asks of every node above a user and every resource that it asks for, with what the node uses and by how much
    /// more that is after a gang; whether all say yes.
    fn grow(
        &self,
        leaf: &Leaf,
        gang: &Rational,
        mut ask: impl FnMut(usize, usize, &Rational, &Rational) -> bool,
    ) -> bool {
        let own = self.forest.leaf(leaf.user);
        for (r, d) in &leaf.demand {
            let mut more = Rational::from(d * gang);
            for v in self.forest.above(own) {
                let used = &self.holdings.used[v][*r];
                if !ask(v, *r, used, &more) {
                    return false;
                }
                // What is kept back for a node counts already for its parent.
                let kept = &self.forest.nodes[v].kept[*r];
                let after = Rational::from(used + &more);
                more = if after > *kept { after - used.max(kept) } else { Rational::new() };
            }
        }
        true
    }

    /// Whose turn it is.
    fn pick(&self, active: &[usize], ties: Ties, draw: &mut Draw) -> usize {
        let (mut v, mut users) = (0, active.to_vec());
        loop {
            if let Some(leaf) = &self.forest.nodes[v].leaf {
                return leaf.user;
            }
            let mut children = candidates(self.forest, &self.holdings, &self.ways, v, &users);
            let least = children.iter().map(|of| &of.key).min().cloned();
            children.retain(|of| Some(&of.key) == least.as_ref());
            children.sort_by_key(|of| of.node);
            let at = match ties {
                Ties::Low => 0,
                Ties::High => children.len() - 1,
                Ties::Random => draw.position(children.len()),
            };
            let chosen = children.swap_remove(at);
            (v, users) = (chosen.node, chosen.users);
        }
    }

    fn serve(&mut self, n: usize) {
        let gang = self.gang(n);
        self.servers.place(n, gang);
        let own = self.forest.leaf(n);
        let gang = Rational::from(gang);
        let Some(leaf) = self.forest.nodes[own].leaf.as_ref() else { return };
        let mut growth = Vec::new();
        self.grow(leaf, &gang, |v, r, _, more| {
            growth.push((v, r, more.clone()));
            true
        });
        for (v, r, more) in growth {
            self.holdings.used[v][r] += more;
        }
        for (r, d) in &leaf.demand {
            let more = Rational::from(d * &gang);
            self.holdings.used[own][*r] += &more;
            for v in std::iter::once(own).chain(self.forest.above(own)) {
                self.holdings.running[v][*r] += &more;
            }
        }
        self.holdings.tasks[n] += gang;
    }
}
