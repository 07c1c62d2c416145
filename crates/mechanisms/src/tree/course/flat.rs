//! The choice among children whose level does not rise. The children with the least usage of the resources that their
//! growing users demand grow first.

use evenhand_exact::tree::{Amount, Term, rising};
use evenhand_problem::Rational;

use super::Course;
use super::choosing::Pace;
use super::number::Number;

/// The level by which a child is compared with other children whose own level does not rise.
#[derive(Clone)]
pub(super) struct Parts {
    level: Number,
    /// The resources in the level. The level is the largest fraction of their guarantees or of the capacity.
    of: Vec<usize>,
    is_above_guarantee: bool,
}

/// The result of a choice among children whose level does not rise.
pub(super) struct Flat {
    /// The children that grow.
    pub grow: Vec<(usize, Pace)>,
    /// The value of the node's clock at which these children reach the level of another child, with that
    /// child.
    pub ahead: Option<(Number, Option<usize>)>,
    /// The levels by which all these children were compared.
    pub parts: Vec<(usize, Parts)>,
}

impl Course<'_> {
    /// Chooses among children whose level does not rise, each given with its weight. The children grow whose
    /// tasks run with the least amounts, relative to their weight, of the resources that their growing users
    /// demand.
    pub(super) fn flat(
        &mut self,
        v: usize,
        children: Vec<(usize, Rational)>,
        is_above_guarantee: bool,
    ) -> Flat {
        let mut lines = Vec::new();
        for (k, weight) in children {
            let terms = self.parts(k, is_above_guarantee);
            let (top, rate) = rising(&terms, &self.moving[k].growth.running);
            let of = terms.iter().flat_map(|term| term.slope.iter().map(|(r, _)| *r)).collect();
            let mut now = Parts { level: top.over(&weight), of, is_above_guarantee };
            let is_known = |was: &&Parts| was.of == now.of && was.is_above_guarantee == is_above_guarantee;
            if let Some(was) = self.moving[k].parts.as_ref().filter(is_known) {
                now.level.clone_from(&was.level);
            }
            lines.push((k, now, rate.over(&weight)));
        }
        let least = lines.iter().map(|line| &line.1.level).min().cloned().unwrap_or_default();
        let base = &least - &self.moving[v].clock;
        let (mut grow, mut parts) = (Vec::new(), Vec::new());
        let mut ahead: Option<(Number, usize)> = None;
        for (k, now, pace) in lines {
            if now.level == least {
                grow.push((k, Pace { pace, level: None }));
            } else if ahead.as_ref().is_none_or(|ahead| now.level < ahead.0) {
                ahead = Some((now.level.clone(), k));
            }
            parts.push((k, now));
        }
        let ahead = ahead.map(|(level, k)| (&level - &base, Some(k)));
        self.moving[v].flat = Some(base);
        Flat { grow, ahead, parts }
    }

    /// Records that the children that grew, and a child that they reached, have equal levels in the sense of
    /// [`Parts`]. This avoids long comparisons.
    pub(super) fn still_flat(&mut self, v: usize) {
        let Some(base) = self.moving[v].flat.take() else { return };
        let level = &base + &self.moving[v].clock;
        for k in self.moving[v].growing.iter().copied().chain(self.moving[v].joins).collect::<Vec<usize>>() {
            if let Some(parts) = &mut self.moving[k].parts {
                parts.level.clone_from(&level);
            }
        }
    }

    /// Returns the amounts used by the tasks that run below a child, for each resource that growing users
    /// demand. The amounts are fractions of the capacity or of the guarantee.
    fn parts(&self, k: usize, is_above_guarantee: bool) -> Vec<Term<Number>> {
        let (forest, running) = (self.forest, &self.holdings.running[k]);
        let rates = &self.moving[k].growth.running;
        let guarantee = forest.nodes[k].guarantee.as_ref();
        let whole = |r: usize| {
            if is_above_guarantee { Some(&forest.capacity[r]) } else { guarantee?[r].as_ref() }
        };
        let resources = (0..forest.resources.len()).filter(|r| rates[*r].cmp0().is_gt());
        let term = |r: usize| {
            let whole = whole(r).filter(|whole| **whole > 0)?;
            Some(Term { value: running[r].over(whole), slope: vec![(r, whole.clone().recip())] })
        };
        resources.filter_map(term).collect()
    }
}
