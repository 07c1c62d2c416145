//! The choice of the children that grow, and of their rates. The children with the least key grow, at rates that keep
//! their levels equal.

use std::rc::Rc;

use evenhand_exact::tree::{Amount, Key, Term, asks, key, rising, weight};
use evenhand_problem::Rational;

use super::Course;
use super::number::Number;
use super::standing::Standing;
use super::step::is_all;

/// The last choice at a node, and the key that led to it. The choice must be made again after an event at the
/// node itself, but not after an event below the node.
#[derive(Clone)]
pub(super) struct Chosen {
    /// The children with users that may grow.
    children: Vec<Child>,
    /// The key of the children that grow, with their level minus the clock of the node.
    pub key: Key<Number>,
    /// The value of the node's clock at which the level of these children is 1, if the level is the used
    /// fraction of a guarantee. Many children reach their guarantees at this value.
    pub full: Option<Number>,
}

/// A child with users that may grow, and its standing.
pub(super) type Child = (usize, Rc<Standing>);

/// The rate at which the level of a node rises by its own clock.
pub(super) struct Pace {
    pub pace: Number,
    /// The level when the child's clock is 0, if the level is proportional to a single amount.
    pub level: Option<Number>,
}

impl Chosen {
    fn new(children: Vec<Child>, key: Key<Number>) -> Self {
        let full = || &Number::from(Rational::from(1)) - &key.level;
        let full = (!key.is_above_guarantee).then(full);
        Self { children, key, full }
    }

    /// Returns the key of the growing children at a value of the node's clock.
    fn common(&self, clock: &Number) -> Key<Number> {
        Key { level: &self.key.level + clock, ..self.key.clone() }
    }
}

impl Course<'_> {
    /// Tries to continue the last choice, and returns whether this is possible.
    ///
    /// The choice can be continued if there was no event at the node itself, and all changes concern children
    /// at the common level. Children without users that may grow are then stopped. The growth of the other
    /// children is recomputed where it changed.
    pub(super) fn continue_choice(&mut self, v: usize, children: &[Child], before: Option<&Chosen>) -> bool {
        let Some(chosen) = before.filter(|_| !self.moving[v].is_over) else { return false };
        let goes_on = |old: &Child| children.binary_search_by_key(&old.0, |new| new.0).is_ok();
        let (kept, gone): (Vec<&Child>, Vec<&Child>) = chosen.children.iter().partition(|old| goes_on(old));
        let is_same =
            |(old, new): (&&Child, &Child)| *old == new || old.0 == new.0 && self.moving[new.0].is_growing;
        if kept.len() != children.len()
            || !kept.iter().zip(children).all(is_same)
            || gone.iter().any(|old| !self.moving[old.0].is_growing)
        {
            return false;
        }
        // Children without users that may grow stop at the common level.
        let common = chosen.common(&self.moving[v].clock);
        for (k, stands) in gone {
            self.stop_child(v, *k);
            self.moving[*k].stood = Some((common.level.clone(), stands.clone()));
        }
        let mut growing = std::mem::take(&mut self.moving[v].growing);
        growing.retain(|k| self.moving[*k].is_growing);
        self.moving[v].growing = growing;
        if self.moving[v].growing.is_empty() {
            return false;
        }
        let is_new = |(old, new): &(&&Child, &Child)| {
            old.1.is_above_guarantee() != new.1.is_above_guarantee()
                || self.moving[new.0].is_growing
                    && self.moving[new.0].found_for.as_ref() != Some(&new.1.within)
        };
        // Recompute the growth of children for which it may have changed. Each of these children must still
        // be at the common level.
        let new: Vec<(&&Child, &Child)> = kept.iter().zip(children).filter(is_new).collect();
        for (old, (k, stands)) in new {
            self.update(v, *k);
            let (key, terms) = key(self.forest, &self.holdings, *k, &stands.below);
            if !self.has_same_level(*k, &old.1, stands) && key != common {
                return false;
            }
            self.compute_growth(*k, &stands.within);
            let pace = self.pace(*k, &terms, stands.is_above_guarantee());
            if pace.pace.cmp0().is_eq() {
                return false;
            }
            self.start(v, *k, pace, Some(chosen));
        }
        let (key, full) = (chosen.key.clone(), chosen.full.clone());
        self.moving[v].chosen = Some(Chosen { children: children.to_vec(), key, full });
        true
    }

    /// Returns whether a child that was at the common level is still at it.
    ///
    /// Below the guarantee, the level is the largest used fraction over the resources that growing users
    /// demand. The set of growing users can change: users join if a node above passes its guarantee, and
    /// users stop.
    fn has_same_level(&self, k: usize, old: &Standing, new: &Standing) -> bool {
        let asked = |stands: &Standing, r: usize| stands.below.iter().any(|n| asks(self.forest, *n, r));
        let mut resources = 0..self.forest.resources.len();
        let has_top = self.moving[k].top.is_some_and(|r| asked(new, r));
        old.is_above_guarantee() == new.is_above_guarantee()
            && resources.all(|r| asked(old, r) == asked(new, r) || has_top && asked(old, r))
    }

    /// Returns the rate at which the level of a child rises by its own clock.
    fn pace(&mut self, k: usize, terms: &[Term<Number>], is_above_guarantee: bool) -> Pace {
        let weight = weight(self.forest, k, is_above_guarantee);
        let (top, rate) = rising(terms, &self.moving[k].growth.used);
        let mut at_top = terms.iter().filter(|term| term.value == top);
        // The level is a multiple of a single amount if no guarantee is subtracted from it.
        let one = at_top.next().filter(|_| at_top.next().is_none()).and_then(|term| match &term.slope[..] {
            [(r, per_unit)] if !is_above_guarantee || is_all(self.forest, k) => Some((*r, per_unit)),
            _ => None,
        });
        let level =
            one.map(|(r, per_unit)| self.moving[k].base.used[r].times(&Rational::from(per_unit / &weight)));
        self.moving[k].top = one.map(|(r, _)| r).filter(|_| !is_above_guarantee);
        Pace { pace: rate.over(&weight), level }
    }

    /// Chooses the children that grow. The clock of each growing child runs at the rate at which the common
    /// level rises.
    pub(super) fn choose_growing(&mut self, v: usize, children: Vec<Child>, before: Option<&Chosen>) {
        let common = before.map(|chosen| (chosen, chosen.common(&self.moving[v].clock)));
        // Children that grew together have equal levels, also to a child that they just reached. Remembering
        // this avoids long comparisons.
        if let Some((chosen, common)) = &common {
            let shared = self.moving[v].growing.iter().copied().chain(self.moving[v].joins);
            for k in shared.collect::<Vec<usize>>() {
                let old = chosen.children.iter().find(|old| old.0 == k);
                self.moving[k].stood = old.map(|old| (common.level.clone(), old.1.clone()));
            }
        }
        self.still_flat(v);
        let grew = std::mem::take(&mut self.moving[v].growing);
        grew.iter().for_each(|k| self.update(v, *k));
        let key = |(k, stands): &Child| {
            let (mut key, terms) = key(self.forest, &self.holdings, *k, &stands.below);
            if let Some((level, _)) =
                self.moving[*k].stood.as_ref().filter(|stood| self.has_same_level(*k, &stood.1, stands))
            {
                key.level.clone_from(level);
            }
            (key, terms)
        };
        let keys: Vec<(Key<Number>, Vec<Term<Number>>)> = children.iter().map(key).collect();
        let node = &mut self.moving[v];
        (node.ahead, node.is_over, node.joins) = (None, false, None);
        let least = keys.iter().map(|of| &of.0).min().cloned();
        let Some(least) = least else { return grew.iter().for_each(|k| self.stop_child(v, *k)) };
        let mut ahead = Vec::new();
        // `rising_ones` are the children with the least key whose level rises when they grow. `flat` are the
        // children with the least key whose level does not rise.
        let (mut rising_ones, mut flat) = (Vec::new(), Vec::new());
        let (mut tied, mut still, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        for (at, ((k, stands), (key, terms))) in children.iter().zip(keys).enumerate() {
            if key == least {
                tied.push(at);
                self.compute_growth(*k, &stands.within);
                let pace = self.pace(*k, &terms, least.is_above_guarantee);
                if pace.pace.cmp0().is_eq() {
                    flat.push((*k, weight(self.forest, *k, least.is_above_guarantee)));
                } else {
                    rising_ones.push((*k, pace));
                }
            } else if (Key { level: least.level.clone(), ..key.clone() }) == least {
                ahead.push((key.level, *k));
            }
        }
        // If some of these levels do not rise, only the children with such levels grow. Otherwise all children with the
        // least key grow, up to the next level.
        let clock = self.moving[v].clock.clone();
        let ahead = if flat.is_empty() {
            let common = common.filter(|(_, common)| common.level.is(&least.level));
            let level = common.map_or_else(|| &least.level - &clock, |(chosen, _)| chosen.key.level.clone());
            let ahead = ahead.into_iter().min_by(|a, b| a.0.cmp(&b.0));
            let ahead = ahead.map(|(of, k)| (&of - &level, Some(k)));
            self.moving[v].chosen = Some(Chosen::new(children, Key { level, ..least.clone() }));
            ahead
        } else {
            still.extend(tied.into_iter().map(|at| children[at].clone()));
            let found = self.flat(v, flat, least.is_above_guarantee);
            (rising_ones, parts) = (found.grow, found.parts);
            found.ahead
        };
        self.moving[v].ahead = ahead;
        for k in grew.iter().filter(|k| rising_ones.iter().all(|(of, _)| of != *k)) {
            self.stop_child(v, *k);
        }
        let chosen = self.moving[v].chosen.clone();
        for (k, pace) in rising_ones {
            self.start(v, k, pace, chosen.as_ref());
            self.moving[v].growing.push(k);
        }
        // The levels of these children do not rise, so they stay equal until something changes.
        for (k, stands) in still {
            self.moving[k].stood = Some((least.level.clone(), stands));
        }
        for (k, parts) in parts {
            self.moving[k].parts = Some(parts);
        }
    }
}
