//! The growth of the tree from event to event.
//!
//! Every node has a clock of its own, in which its amounts grow at constant rates between events. The clock
//! of its parent is a linear function of this clock, `pace * clock + zero`. An event changes the node where
//! it happens and the nodes above it. All other nodes keep their rates, and their amounts are updated only
//! when they are needed.
//!
//! Linear functions are stored by their value at the clock value 0. If each function started from the end of
//! the previous one, the errors of doubles could double at every event.

use std::rc::Rc;

use evenhand_exact::tree::{Amount, Forest, Holdings};
use evenhand_problem::Rational;

use super::Course;
use super::approx::Approx;
use super::choosing::{Child, Chosen, Pace};
use super::flat::Parts;
use super::number::Number;
use super::standing::Standing;
use super::step::{AmountKind, Mark, MarkValue, first_event};

/// The amounts of a node, or the rates at which they grow per unit of its clock.
#[derive(Default, Clone)]
pub(super) struct Growth {
    /// The amounts of each resource that the tasks of the node's users take.
    pub running: Vec<Number>,
    /// The amounts of each resource that the node uses. They are the same numbers as `running` if no amount
    /// is kept back below the node.
    pub used: Vec<Number>,
}

impl Growth {
    /// Returns rates of 0.
    fn none(resources: usize) -> Self {
        let nothing = vec![Number::default(); resources];
        Self { running: nothing.clone(), used: nothing }
    }

    /// Combines two values resource by resource: the running amounts of both, and the used amounts of both.
    /// If running and used amounts are the same numbers in both values, the result is computed once and
    /// shared.
    fn each(&self, with: &Self, of: impl Fn(&Number, &Number) -> Number) -> Self {
        let (mut running, mut used) = (Vec::new(), Vec::new());
        for r in 0..self.running.len() {
            let are_one = self.used[r].is(&self.running[r]) && with.used[r].is(&with.running[r]);
            running.push(of(&self.running[r], &with.running[r]));
            used.push(if are_one { running[r].clone() } else { of(&self.used[r], &with.used[r]) });
        }
        Self { running, used }
    }
}

/// The state of a growing or stopped node.
#[derive(Default, Clone)]
pub(super) struct Moving {
    /// The node's own clock at its last update.
    pub clock: Number,
    /// The rates at which the amounts of the node grow per unit of its clock.
    pub growth: Growth,
    /// The amounts of the node extrapolated to the clock value 0.
    pub base: Growth,
    /// The contribution of the node to the growth of its parent.
    adds: Growth,
    /// The children that grow when the node grows.
    pub growing: Vec<usize>,
    /// The nodes for which the growth was last computed: only users below the guarantees of all these nodes
    /// grow. It is `None` if an event has changed the node since.
    pub found_for: Option<Rc<[usize]>>,
    /// The last choice of children. It is `None` if the choice is unknown or was made among levels that do
    /// not rise.
    pub chosen: Option<Chosen>,
    /// `true` if an event has happened at the node itself since the choice in `chosen`.
    pub is_over: bool,
    /// The value of the node's clock at which the growing children reach the level of another child, and the
    /// index of that child.
    pub ahead: Option<(Number, Option<usize>)>,
    /// The child whose level has just been reached.
    pub joins: Option<usize>,
    /// The level at which the node stopped, and its standing at that time.
    pub stood: Option<(Number, Rc<Standing>)>,
    /// The level of the node for the comparison with siblings whose own levels do not rise, if it has not
    /// changed since.
    pub parts: Option<Parts>,
    /// The level of the growing children minus the clock of this node, if their own levels do not rise.
    pub flat: Option<Number>,
    /// The resource of which the node uses the largest fraction of its guarantee, if there is only one such
    /// resource.
    pub top: Option<usize>,
    /// `true` if the node grows together with its parent.
    pub is_growing: bool,
    /// The rate at which the parent's clock advances per unit of this node's clock.
    pub pace: Number,
    /// The value of the parent's clock at which this node's clock is 0.
    pub zero: Number,
    /// The value of the parent's clock at the last update, or `None` before the node grows.
    seen: Option<Number>,
    /// The value of the node's clock at the next event of the node itself, and the mark that the event
    /// reaches.
    own: Option<(Number, Option<Mark>)>,
    /// The value of the node's clock at the next event at the node or below it.
    pub next: Option<Number>,
    /// The value of the parent's clock at the event of `next`.
    due: Option<Number>,
}

impl Moving {
    /// Returns whether the node is up to date when the clock of its parent has the value `now`.
    fn has_seen(&self, now: &Number) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.is(now))
    }

    /// Returns the initial state of a node. The clock of a user is its number of tasks.
    pub fn start(forest: &Forest<'_>, holdings: &Holdings<Number>, v: usize) -> Self {
        let (running, used) = (holdings.running[v].to_vec(), holdings.used[v].to_vec());
        let growth = Growth::none(forest.resources.len());
        let adds = growth.clone();
        let Some(leaf) = &forest.nodes[v].leaf else {
            return Self { growth, base: Growth { running, used }, adds, ..Self::default() };
        };
        let (base, mut growth) = (growth.clone(), growth);
        leaf.demand.iter().for_each(|(r, d)| growth.running[*r] = d.clone().into());
        growth.used.clone_from(&growth.running);
        let clock = holdings.tasks[leaf.user].clone();
        Self { clock, growth, base, adds, ..Self::default() }
    }
}

impl Course<'_> {
    /// Computes how a node grows if only users below the guarantees of all nodes in `within` may grow. The amounts of
    /// the node must be up to date.
    pub(super) fn compute_growth(&mut self, v: usize, within: &Rc<[usize]>) {
        if self.moving[v].found_for.as_ref() == Some(within) {
            return;
        }
        let forest = self.forest;
        // A user has all its tasks when its clock reaches their number.
        let mut all = None;
        if let Some(leaf) = &forest.nodes[v].leaf {
            all = leaf.tasks.clone().map(|tasks| (Number::from(tasks), None));
        } else {
            let stands = |k: &usize| self.standing_of(*k, within).map(|stands| (*k, stands));
            let children: Vec<Child> = forest.nodes[v].children.iter().filter_map(stands).collect();
            self.worths[v] = None;
            let before = self.moving[v].chosen.take();
            if !self.continue_choice(v, &children, before.as_ref()) {
                self.choose_growing(v, children, before.as_ref());
            }
        }
        let node = &self.moving[v];
        let ahead = node.ahead.clone().map(|(when, _)| (when, None));
        let events = [all, ahead, first_event(forest, &self.holdings, v, node)];
        let own = events.into_iter().flatten().min_by(|a, b| a.0.cmp(&b.0));
        let due = node.growing.iter().filter_map(|k| self.moving[*k].due.as_ref());
        let mut next = due.chain(own.as_ref().map(|own| &own.0)).min().cloned();
        if v == 0
            && let Some((when, which)) = self.first_bounds(next.as_ref())
        {
            // Reaching a bound is no event of the root. It only stops the users in these bounds.
            (next, self.reached) = (Some(when), which);
        }
        let node = &mut self.moving[v];
        (node.own, node.next) = (own, next);
        node.found_for = Some(within.clone());
    }

    /// Updates a child to the current clock of its parent.
    pub(super) fn update(&mut self, parent: usize, k: usize) {
        if !self.moving[k].is_growing {
            return;
        }
        let now = self.moving[parent].clock.clone();
        let node = &self.moving[k];
        if node.has_seen(&now) {
            return;
        }
        // The clock of a child whose event is due now is known without a division.
        let next = node.due.as_ref().filter(|due| due.is(&now)).and(node.next.clone());
        let when = next.unwrap_or_else(|| &(&now - &node.zero) / &node.pace);
        self.moving[k].seen = Some(now);
        self.advance(k, when);
    }

    /// Advances the clock of a node to `when` and computes its amounts.
    pub(super) fn advance(&mut self, v: usize, when: Number) {
        let node = &mut *self.moving[v];
        let Growth { running, used } = &node.growth;
        let held = |base: &Number, rate: &Number| base + &(rate * &when);
        for r in 0..running.len() {
            let is = held(&node.base.running[r], &running[r]);
            let are_one = running[r].is(&used[r]) && node.base.running[r].is(&node.base.used[r]);
            self.holdings.used[v][r] = if are_one { is.clone() } else { held(&node.base.used[r], &used[r]) };
            self.holdings.running[v][r] = is;
        }
        if let Some(leaf) = &self.forest.nodes[v].leaf {
            self.holdings.tasks[leaf.user] = when.clone();
        }
        node.clock = when;
    }

    /// Replaces the contribution of a child to the growth of its parent.
    fn adds(&mut self, parent: usize, k: usize, adds: Growth) {
        let more = adds.each(&self.moving[k].adds, |new, old| new - old);
        let old = std::mem::replace(&mut self.moving[k].adds, adds);
        // If no child contributes to a resource, its rate is exactly 0, and no long numbers have to be subtracted to
        // show it.
        let grows = |r: usize| {
            let mut all = self.forest.nodes[parent].children.iter().map(|k| &self.moving[*k].adds);
            all.any(|adds| !adds.running[r].is_nothing() || !adds.used[r].is_nothing())
        };
        let resources = 0..old.running.len();
        let none: Vec<usize> = resources.filter(|r| !old.running[*r].is_nothing() && !grows(*r)).collect();
        let node = &mut *self.moving[parent];
        let clock = node.clock.clone();
        node.growth = node.growth.each(&more, |rate, more| rate + more);
        // Adjust the amounts at clock 0, so that the current amounts do not change.
        node.base = node.base.each(&more, |base, more| base - &(more * &clock));
        for r in none {
            node.growth.running[r] = Number::default();
            node.growth.used[r] = node.growth.running[r].clone();
        }
    }

    /// Stops the growth of a child.
    pub(super) fn stop_child(&mut self, parent: usize, k: usize) {
        self.update(parent, k);
        self.moving[k].is_growing = false;
        self.adds(parent, k, Growth::none(self.forest.resources.len()));
    }

    /// Sets an amount of a node to the known value that an event at the node has reached, so that it need not be
    /// computed.
    fn reach(&mut self, v: usize, Mark { of, is }: Mark) {
        let is = match is {
            MarkValue::This(is) => is.into(),
            MarkValue::Times(times, AmountKind::Running(r)) => self.holdings.running[v][r].times(&times),
            MarkValue::Times(times, AmountKind::Used(r)) => self.holdings.used[v][r].times(&times),
        };
        let Holdings { running, used, .. } = &mut self.holdings;
        let (r, held, other) = match of {
            AmountKind::Running(r) => (r, &mut running[v], &mut used[v]),
            AmountKind::Used(r) => (r, &mut used[v], &mut running[v]),
        };
        if other[r].is(&held[r]) {
            other[r] = is.clone();
        }
        held[r] = is;
    }

    /// Updates the growing children of a node to its clock.
    pub fn update_children(&mut self, v: usize) {
        for at in 0..self.moving[v].growing.len() {
            let k = self.moving[v].growing[at];
            self.update(v, k);
        }
    }

    /// Processes the events that happen now at a node or below it, and returns whether there are any.
    ///
    /// The nodes with events are added to `events`. These nodes and the nodes above them are then up to date,
    /// and their growth must be recomputed.
    pub(super) fn process_events(&mut self, v: usize, events: &mut Vec<usize>) -> bool {
        let now = self.moving[v].clock.clone();
        let own = self.moving[v].own.clone().filter(|own| own.0 == now);
        let mut happens = own.is_some();
        if let Some((reached, mark)) = own {
            events.push(v);
            self.moving[v].is_over = true;
            let ahead = self.moving[v].ahead.as_ref().filter(|(when, _)| when.is(&reached));
            self.moving[v].joins = ahead.and_then(|(_, k)| *k);
            mark.into_iter().for_each(|mark| self.reach(v, mark));
        }
        for at in 0..self.moving[v].growing.len() {
            let k = self.moving[v].growing[at];
            if self.moving[k].due.as_ref() == Some(&now) {
                self.update(v, k);
                happens |= self.process_events(k, events);
            }
        }
        if happens {
            self.moving[v].found_for = None;
        }
        happens
    }

    /// Starts the growth of a child with its parent. `pace` is the rate at which the parent's clock advances per unit
    /// of the child's clock.
    pub(super) fn start(
        &mut self,
        parent: usize,
        k: usize,
        Pace { pace, level }: Pace,
        chosen: Option<&Chosen>,
    ) {
        let now = self.moving[parent].clock.clone();
        let node = &self.moving[k];
        let zero = if let (Some(level), Some(chosen)) = (level, chosen) {
            // The child is at the common level, which is the parent's clock plus a constant.
            &level - &chosen.key.level
        } else if node.has_seen(&now) {
            // The child has grown until now, at another pace. The doubles of this expression are more
            // accurate than the doubles of its operations.
            let part = &pace / &node.pace;
            let zero = &now + &(&(&node.zero - &now) * &part);
            let (one, approx) = (Approx::of(&Rational::from(1)), part.approx());
            zero.refine_approx(node.zero.approx() * approx + now.approx() * (one - approx));
            zero
        } else {
            &now - &(&node.clock * &pace)
        };
        let mut adds = node.growth.each(&node.growth, |rate, _| rate / &pace);
        for r in (0..adds.used.len()).filter(|r| !self.holdings.passes(self.forest, k, *r)) {
            adds.used[r] = Number::default();
        }
        let is_full = self.is_full_next(k);
        let node = &mut self.moving[k];
        let due = || node.next.as_ref().map(|next| &(next * &pace) + &zero);
        let full = chosen.and_then(|chosen| chosen.full.clone()).filter(|_| is_full);
        node.due = full.or_else(due);
        (node.zero, node.seen, node.pace, node.is_growing) = (zero, Some(now), pace, true);
        (node.stood, node.parts) = (None, None);
        self.adds(parent, k, adds);
    }

    /// Returns whether the next event at a node or below it is that its level, the used fraction of its guarantee,
    /// reaches 1.
    fn is_full_next(&self, k: usize) -> bool {
        let node = &self.moving[k];
        let own = node.own.as_ref().filter(|own| node.next.as_ref().is_some_and(|next| next.is(&own.0)));
        let Some((_, Some(Mark { of: AmountKind::Used(r), is: MarkValue::This(is) }))) = own else {
            return false;
        };
        let guarantee = self.forest.nodes[k].guarantee.as_ref();
        node.top == Some(*r) && guarantee.is_some_and(|guarantee| guarantee[*r].as_ref() == Some(is))
    }
}
