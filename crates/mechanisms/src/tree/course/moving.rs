//! How the tree grows, from event to event.
//!
//! Every node has a clock of its own, along which what it holds grows at constant rates from event to event; that of
//! its parent runs at a constant pace beside it. An event changes the node at which it happens and those above it.
//! All others keep their rates, and what they hold is brought up to date when it is looked at.
//!
//! Lines are kept by where they are when the clock is 0: what doubles are off by would double from event to event, if each
//! began where the last one ended.

use std::rc::Rc;

use evenhand_exact::tree::{Amount, Forest, Holdings};
use evenhand_problem::Rational;

use super::Course;
use super::about::About;
use super::choosing::{Child, Chosen, Pace};
use super::flat::Parts;
use super::number::Number;
use super::standing::Standing;
use super::step::{Is, Mark, Of, first_event};

/// What a node holds, or how that grows while its clock advances by one.
#[derive(Default, Clone)]
pub(super) struct Growth {
    /// What its users hold, by resource.
    pub running: Vec<Number>,
    /// What it uses, by resource; the same numbers where nothing is kept back below.
    pub used: Vec<Number>,
}

impl Growth {
    /// Nothing grows.
    fn none(resources: usize) -> Self {
        let nothing = vec![Number::default(); resources];
        Self { running: nothing.clone(), used: nothing }
    }

    /// By resource, of what runs and what is used; one number where both are one.
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

/// A node on its way.
#[derive(Default, Clone)]
pub(super) struct Moving {
    pub clock: Number,
    pub growth: Growth,
    /// What it would hold if it had grown so ever since its clock was 0.
    pub base: Growth,
    /// What that adds to the growth of its parent.
    adds: Growth,
    /// The children that grow when it does.
    pub growing: Vec<usize>,
    /// The nodes below whose guarantees users had to be to grow when all this was found, if nothing has happened since.
    pub found_for: Option<Rc<[usize]>>,
    /// Absent where it is not known, and where levels do not rise.
    pub chosen: Option<Chosen>,
    /// Whether something has happened at the node since.
    pub is_over: bool,
    /// When the level of a sibling of those that grow is reached, and of which, where levels rise.
    pub ahead: Option<(Number, Option<usize>)>,
    /// The sibling whose level is reached now.
    pub joins: Option<usize>,
    /// The level at which it stopped, and what it was compared by then.
    pub stood: Option<(Number, Rc<Standing>)>,
    /// By what it was compared with siblings whose level does not rise, if that has not changed since.
    pub parts: Option<Parts>,
    /// Where children grow whose level does not rise: by what these are compared, less the clock.
    pub flat: Option<Number>,
    /// The resource of the largest part of its guarantee, where only one is.
    pub top: Option<usize>,
    pub is_growing: bool,
    /// By how much the clock of its parent runs faster, and what that would say when this one is 0.
    pub pace: Number,
    pub zero: Number,
    /// What the clock of its parent said when this node was brought up to date; absent before it grows.
    seen: Option<Number>,
    /// When the next event at the node happens and what it reaches.
    own: Option<(Number, Option<Mark>)>,
    /// When the next one at it or below it happens, by its clock.
    pub next: Option<Number>,
    /// The same by the clock of its parent.
    due: Option<Number>,
}

impl Moving {
    /// Whether it is up to date when the clock of its parent says this.
    fn has_seen(&self, now: &Number) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.is(now))
    }

    /// A node before anything has happened. The clock of a user counts its tasks.
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
    /// Finds how a node grows when those of the users below it may who are below the guarantees of these nodes. What it holds is
    /// up to date.
    pub(super) fn direct(&mut self, v: usize, within: &Rc<[usize]>) {
        if self.moving[v].found_for.as_ref() == Some(within) {
            return;
        }
        let forest = self.forest;
        // A user has all its tasks when its clock says so.
        let mut all = None;
        if let Some(leaf) = &forest.nodes[v].leaf {
            all = leaf.tasks.clone().map(|tasks| (Number::from(tasks), None));
        } else {
            let stands = |k: &usize| self.stands(*k, within).map(|stands| (*k, stands));
            let children: Vec<Child> = forest.nodes[v].children.iter().filter_map(stands).collect();
            self.worths[v] = None;
            let before = self.moving[v].chosen.take();
            if !self.go_on(v, &children, before.as_ref()) {
                self.choose(v, children, before.as_ref());
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
            // No event at the root: of those who grow only these are stopped.
            (next, self.reached) = (Some(when), which);
        }
        let node = &mut self.moving[v];
        (node.own, node.next) = (own, next);
        node.found_for = Some(within.clone());
    }

    /// Advances a child to what the clock of its parent says.
    pub(super) fn update(&mut self, parent: usize, k: usize) {
        if !self.moving[k].is_growing {
            return;
        }
        let now = self.moving[parent].clock.clone();
        let node = &self.moving[k];
        if node.has_seen(&now) {
            return;
        }
        // What is due now is known without the parent's clock.
        let next = node.due.as_ref().filter(|due| due.is(&now)).and(node.next.clone());
        let when = next.unwrap_or_else(|| &(&now - &node.zero) / &node.pace);
        self.moving[k].seen = Some(now);
        self.advance(k, when);
    }

    /// Advances a node: its clock says this now.
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

    /// A child adds so much to the growth of its parent from now on.
    fn adds(&mut self, parent: usize, k: usize, adds: Growth) {
        let more = adds.each(&self.moving[k].adds, |new, old| new - old);
        let old = std::mem::replace(&mut self.moving[k].adds, adds);
        // That nothing is left need not be found.
        let grows = |r: usize| {
            let mut all = self.forest.nodes[parent].children.iter().map(|k| &self.moving[*k].adds);
            all.any(|adds| !adds.running[r].is_nothing() || !adds.used[r].is_nothing())
        };
        let resources = 0..old.running.len();
        let none: Vec<usize> = resources.filter(|r| !old.running[*r].is_nothing() && !grows(*r)).collect();
        let node = &mut *self.moving[parent];
        let clock = node.clock.clone();
        node.growth = node.growth.each(&more, |rate, more| rate + more);
        // What it holds now stays.
        node.base = node.base.each(&more, |base, more| base - &(more * &clock));
        for r in none {
            node.growth.running[r] = Number::default();
            node.growth.used[r] = node.growth.running[r].clone();
        }
    }

    /// A child stands still from now on.
    pub(super) fn stand(&mut self, parent: usize, k: usize) {
        self.update(parent, k);
        self.moving[k].is_growing = false;
        self.adds(parent, k, Growth::none(self.forest.resources.len()));
    }

    /// What happens at a node has made one of its amounts this, which need not be found.
    fn reach(&mut self, v: usize, Mark { of, is }: Mark) {
        let is = match is {
            Is::This(is) => is.into(),
            Is::Times(times, Of::Running(r)) => self.holdings.running[v][r].times(&times),
            Is::Times(times, Of::Used(r)) => self.holdings.used[v][r].times(&times),
        };
        let Holdings { running, used, .. } = &mut self.holdings;
        let (r, held, other) = match of {
            Of::Running(r) => (r, &mut running[v], &mut used[v]),
            Of::Used(r) => (r, &mut used[v], &mut running[v]),
        };
        if other[r].is(&held[r]) {
            other[r] = is.clone();
        }
        held[r] = is;
    }

    /// Advances the children of a node to what its clock says.
    pub fn update_children(&mut self, v: usize) {
        for at in 0..self.moving[v].growing.len() {
            let k = self.moving[v].growing[at];
            self.update(v, k);
        }
    }

    /// Whether something happens now at a node or below it; adds the nodes at which it does. They and those above
    /// them are up to date, and no longer known how they grow.
    pub(super) fn happens(&mut self, v: usize, events: &mut Vec<usize>) -> bool {
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
                happens |= self.happens(k, events);
            }
        }
        if happens {
            self.moving[v].found_for = None;
        }
        happens
    }

    /// A child grows with its parent, whose clock runs faster by `pace`.
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
            // The level is the common one, which is the clock of the parent and so much.
            &level - &chosen.key.level
        } else if node.has_seen(&now) {
            // It has grown until now, at another pace.
            let part = &pace / &node.pace;
            let zero = &now + &(&(&node.zero - &now) * &part);
            let (one, about) = (About::of(&Rational::from(1)), part.about());
            zero.about_is(node.zero.about() * about + now.about() * (one - about));
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

    /// Whether the next event at a node or below it is that its level, the part of its guarantee, is 1.
    fn is_full_next(&self, k: usize) -> bool {
        let node = &self.moving[k];
        let own = node.own.as_ref().filter(|own| node.next.as_ref().is_some_and(|next| next.is(&own.0)));
        let Some((_, Some(Mark { of: Of::Used(r), is: Is::This(is) }))) = own else { return false };
        let guarantee = self.forest.nodes[k].guarantee.as_ref();
        node.top == Some(*r) && guarantee.is_some_and(|guarantee| guarantee[*r].as_ref() == Some(is))
    }
}
