//! In which direction the tree grows: from the root, at every node those children whose key is least, at such
//! rates that their levels stay equal.
//!
//! Every node has a clock of its own, along which what it holds grows at constant rates from event to event; that of
//! its parent runs at a constant pace beside it. An event changes the node at which it happens and those above it.
//! All others keep their rates, and what they hold is brought up to date when it is looked at.

use evenhand_exact::tree::{Holdings, Key, Term, key, rising, weight};
use evenhand_problem::Rational;

use super::standing::Standing;
use super::step::first_event;
use super::{Course, width};

/// How a node grows while its clock advances by one.
#[derive(Default, Clone)]
pub(super) struct Growth {
    /// What its users hold, by resource.
    pub running: Vec<Rational>,
    /// What it uses, by resource.
    pub used: Vec<Rational>,
}

impl Growth {
    /// Nothing grows.
    fn none(resources: usize) -> Self {
        Self { running: vec![Rational::new(); resources], used: vec![Rational::new(); resources] }
    }

    fn change(&mut self, adds: &Self, change: impl Fn(&mut Rational, &Rational)) {
        for (sums, amounts) in [(&mut self.running, &adds.running), (&mut self.used, &adds.used)] {
            let some = sums.iter_mut().zip(amounts).filter(|(_, amount)| !amount.is_zero());
            some.for_each(|(sum, amount)| change(sum, amount));
        }
    }
}

/// Which children grow, and why: what has to be found anew where something happens at the node itself, not where it happens
/// below it.
#[derive(Clone)]
struct Chosen {
    /// Those below which somebody may grow.
    children: Vec<Child>,
    /// The key of those that grow; its level less the clock.
    key: Key,
}

type Child = (usize, Standing);

/// A node on its way.
#[derive(Default, Clone)]
pub(super) struct Moving {
    pub clock: Rational,
    pub growth: Growth,
    /// What that adds to the growth of its parent, where it grows.
    adds: Growth,
    /// The children that grow when it does.
    pub growing: Vec<usize>,
    /// The nodes below whose guarantees users had to be to grow when all this was found, if nothing has happened since.
    pub found_for: Option<Vec<usize>>,
    /// Absent where it is not known, and where levels do not rise.
    chosen: Option<Chosen>,
    /// When the level of a sibling of those that grow is reached.
    ahead: Option<Rational>,
    pub is_growing: bool,
    /// By how much the clock of its parent runs faster, and what that said when this node was brought up to date.
    pub pace: Rational,
    pub since: Rational,
    /// The pace, about.
    pub about: f64,
    /// When the next event at the node happens, and at it or below it, by its clock.
    own: Option<Rational>,
    pub next: Option<Rational>,
    /// The same by the clock of its parent.
    due: Option<Rational>,
}

impl Course<'_> {
    /// Finds how a node grows when those of the users below it may who are below the guarantees of these nodes. What it holds is
    /// up to date.
    pub(super) fn direct(&mut self, v: usize, within: &[usize]) {
        if self.moving[v].found_for.as_deref() == Some(within) {
            return;
        }
        let mut gaps = Vec::new();
        let forest = self.forest;
        if let Some(leaf) = &forest.nodes[v].leaf {
            let mut growth = Growth::none(forest.resources.len());
            leaf.demand.iter().for_each(|(r, d)| growth.running[*r].clone_from(d));
            growth.used.clone_from(&growth.running);
            self.moving[v].growth = growth;
            gaps.extend(
                leaf.tasks.as_ref().map(|tasks| Rational::from(tasks - &self.holdings.tasks[leaf.user])),
            );
        } else {
            let stands = |k: &usize| self.stands(*k, within).map(|stands| (*k, stands));
            let children: Vec<Child> = forest.nodes[v].children.iter().filter_map(stands).collect();
            self.worths[v] = None;
            if !self.go_on(v, &children) {
                self.choose(v, children);
            }
        }
        gaps.extend(first_event(forest, &self.holdings, v, &self.moving[v].growth));
        let own = gaps.into_iter().filter(|gap| *gap > 0).min();
        let node = &self.moving[v];
        let own = own.map(|gap| gap + &node.clock);
        let own = own.iter().chain(&node.ahead).min().cloned();
        let due = node.growing.iter().filter_map(|k| self.moving[*k].due.as_ref());
        let mut next = due.chain(&own).min().cloned();
        if v == 0
            && let Some((when, which)) = self.first_bounds(next.as_ref())
        {
            // No event at the root: of those who grow only these are stopped.
            (next, self.reached) = (Some(when), which);
        }
        let node = &mut self.moving[v];
        (node.own, node.next) = (own, next);
        node.found_for = Some(within.to_vec());
    }

    /// Advances a child to what the clock of its parent says.
    pub(super) fn update(&mut self, parent: usize, k: usize) {
        if !self.moving[k].is_growing {
            return;
        }
        let now = &self.moving[parent].clock;
        let passed = Rational::from(now - &self.moving[k].since);
        if !passed.is_zero() {
            let now = now.clone();
            let step = passed / &self.moving[k].pace;
            self.moving[k].since = now;
            self.advance(k, &step);
        }
    }

    /// Advances a node by its own clock.
    pub(super) fn advance(&mut self, v: usize, step: &Rational) {
        let node = &mut *self.moving[v];
        node.clock += step;
        let Holdings { running, used, tasks, .. } = &mut self.holdings;
        let (running, used) = (&mut running[v], &mut used[v]);
        if let Some(leaf) = &self.forest.nodes[v].leaf {
            // A product with a short number takes less than a sum of long ones.
            self.bits -= width(&tasks[leaf.user]);
            tasks[leaf.user] += step;
            self.bits += width(&tasks[leaf.user]);
            for (r, d) in &leaf.demand {
                running[*r] = Rational::from(d * &tasks[leaf.user]);
                used[*r].clone_from(&running[*r]);
            }
            return;
        }
        let Growth { running: runs, used: uses, .. } = &node.growth;
        for r in 0..running.len() {
            // The same where nothing is kept back below.
            let are_one = runs[r] == uses[r] && running[r] == used[r];
            if !runs[r].is_zero() {
                running[r] += Rational::from(&runs[r] * step);
            }
            if are_one {
                used[r].clone_from(&running[r]);
            } else if !uses[r].is_zero() {
                used[r] += Rational::from(&uses[r] * step);
            }
        }
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
        let mut happens = self.moving[v].own.as_ref() == Some(&now);
        if happens {
            events.push(v);
            self.moving[v].chosen = None;
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

    /// The children of a node stand still.
    fn halt(&mut self, v: usize) {
        self.moving[v].growth = Growth::none(self.forest.resources.len());
        for k in std::mem::take(&mut self.moving[v].growing) {
            self.update(v, k);
            self.moving[k].is_growing = false;
        }
    }

    /// A child grows with its parent, whose clock runs faster by `pace`.
    fn start(&mut self, parent: usize, k: usize, pace: Rational) {
        let since = self.moving[parent].clock.clone();
        let node = &self.moving[k];
        let scale = Rational::from(pace.recip_ref());
        let passes = |r: usize| self.holdings.passes(self.forest, k, r);
        let used = node.growth.used.iter().enumerate();
        let adds = Growth {
            running: node.growth.running.iter().map(|rate| Rational::from(rate * &scale)).collect(),
            used: used
                .map(|(r, rate)| if passes(r) { Rational::from(rate * &scale) } else { Rational::new() })
                .collect(),
        };
        let node = &mut self.moving[k];
        node.due = node.next.as_ref().map(|next| Rational::from(next - &node.clock) * &pace + &since);
        node.about = pace.to_f64();
        (node.since, node.pace, node.is_growing) = (since, pace, true);
        self.moving[parent].growth.change(&adds, |sum, amount| *sum += amount);
        self.moving[k].adds = adds;
    }

    /// A child no longer adds to the growth of its parent.
    fn leave(&mut self, parent: usize, k: usize) {
        let adds = std::mem::take(&mut self.moving[k].adds);
        self.moving[parent].growth.change(&adds, |sum, amount| *sum -= amount);
    }

    /// Whether the same children go on growing but for those below which nobody may any more, as they do where something has
    /// happened to those alone that share the common level as before; finds how these grow now.
    fn go_on(&mut self, v: usize, children: &[Child]) -> bool {
        let Some(mut chosen) = self.moving[v].chosen.take() else { return false };
        let goes_on = |old: &Child| children.binary_search_by_key(&old.0, |new| new.0).is_ok();
        let (kept, gone): (Vec<Child>, Vec<Child>) = chosen.children.into_iter().partition(goes_on);
        let is_same =
            |(old, new): (&Child, &Child)| old == new || old.0 == new.0 && self.moving[new.0].is_growing;
        if kept.len() != children.len()
            || !kept.iter().zip(children).all(is_same)
            || gone.iter().any(|old| !self.moving[old.0].is_growing)
        {
            return false;
        }
        for (k, _) in gone {
            self.update(v, k);
            self.leave(v, k);
            self.moving[k].is_growing = false;
        }
        let mut growing = std::mem::take(&mut self.moving[v].growing);
        growing.retain(|k| self.moving[*k].is_growing);
        self.moving[v].growing = growing;
        if self.moving[v].growing.is_empty() {
            return false;
        }
        let level = Rational::from(&chosen.key.level + &self.moving[v].clock);
        let common = Key { level, ..chosen.key.clone() };
        let is_new = |(old, new): &(&Child, &Child)| {
            old.1.is_above_guarantee() != new.1.is_above_guarantee()
                || self.moving[new.0].is_growing
                    && self.moving[new.0].found_for.as_ref() != Some(&new.1.within)
        };
        let new: Vec<&Child> = kept.iter().zip(children).filter(is_new).map(|(_, new)| new).collect();
        for (k, stands) in new {
            self.update(v, *k);
            self.leave(v, *k);
            let (key, terms) = key(self.forest, &self.holdings, *k, &stands.below);
            if key != common {
                return false;
            }
            self.direct(*k, &stands.within);
            let pace = self.pace(*k, &terms, stands.is_above_guarantee());
            if pace.is_zero() {
                return false;
            }
            self.start(v, *k, pace);
        }
        chosen.children = children.to_vec();
        self.moving[v].chosen = Some(chosen);
        true
    }

    /// How fast the level of a child rises by its own clock.
    fn pace(&self, k: usize, terms: &[Term], is_above_guarantee: bool) -> Rational {
        rising(terms, &self.moving[k].growth.used).1 / weight(self.forest, k, is_above_guarantee)
    }

    /// Chooses the children that grow: each as much slower than its own clock as the common level rises faster than it.
    fn choose(&mut self, v: usize, children: Vec<Child>) {
        self.halt(v);
        let keys = children.iter().map(|(k, stands)| key(self.forest, &self.holdings, *k, &stands.below));
        let keys: Vec<(Key, Vec<Term>)> = keys.collect();
        self.moving[v].ahead = None;
        let Some(least) = keys.iter().map(|of| &of.0).min().cloned() else { return };
        let mut ahead = Vec::new();
        let (mut rising_ones, mut flat) = (Vec::new(), Vec::new());
        for ((k, stands), (key, terms)) in children.iter().zip(keys) {
            if key == least {
                self.direct(*k, &stands.within);
                let pace = self.pace(*k, &terms, least.is_above_guarantee);
                if pace.is_zero() {
                    flat.push((*k, weight(self.forest, *k, least.is_above_guarantee)));
                } else {
                    rising_ones.push((*k, pace));
                }
            } else if (Key { level: least.level.clone(), ..key.clone() }) == least {
                ahead.push(key.level - &least.level);
            }
        }
        let clock = self.moving[v].clock.clone();
        if flat.is_empty() {
            let key = Key { level: Rational::from(&least.level - &clock), ..least };
            self.moving[v].chosen = Some(Chosen { children, key });
        } else {
            (rising_ones, ahead) = self.flat(flat, least.is_above_guarantee);
        }
        self.moving[v].ahead = ahead.into_iter().min().map(|gap| gap + clock);
        for (k, pace) in rising_ones {
            self.start(v, k, pace);
            self.moving[v].growing.push(k);
        }
    }

    /// Of children whose level does not rise those grow that hold least, by weight, of what their growing users
    /// ask for.
    fn flat(
        &self,
        flat: Vec<(usize, Rational)>,
        is_above_guarantee: bool,
    ) -> (Vec<(usize, Rational)>, Vec<Rational>) {
        let mut lines = Vec::new();
        for (k, weight) in flat {
            let terms = self.parts(k, is_above_guarantee);
            let (top, rate) = rising(&terms, &self.moving[k].growth.running);
            lines.push((top / &weight, rate / &weight, k));
        }
        let least = lines.iter().map(|line| &line.0).min().cloned().unwrap_or_default();
        let gaps = lines.iter().map(|line| Rational::from(&line.0 - &least));
        let ahead = gaps.filter(|gap| !gap.is_zero()).collect();
        let grow = lines.into_iter().filter(|line| line.0 == least).map(|(_, pace, k)| (k, pace));
        (grow.collect(), ahead)
    }

    /// What the users below a child hold of the resources that those who grow ask for, as parts of the capacity,
    /// or of the guarantee.
    fn parts(&self, k: usize, is_above_guarantee: bool) -> Vec<Term> {
        let (forest, running) = (self.forest, &self.holdings.running[k]);
        let rates = &self.moving[k].growth.running;
        let guarantee = forest.nodes[k].guarantee.as_ref();
        let whole = |r: usize| {
            if is_above_guarantee { Some(&forest.capacity[r]) } else { guarantee?[r].as_ref() }
        };
        let resources = (0..forest.resources.len()).filter(|r| rates[*r] > 0);
        let term = |r: usize| {
            let whole = whole(r).filter(|whole| **whole > 0)?;
            Some(Term { value: Rational::from(&running[r] / whole), slope: vec![(r, whole.clone().recip())] })
        };
        resources.filter_map(term).collect()
    }
}
