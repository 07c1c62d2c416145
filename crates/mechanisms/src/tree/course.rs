//! The course of the filling: segments, one after the other, as far as what is known of the classes allows.

use evenhand_lp::LpError;
use evenhand_lp::placement::Bound;
use evenhand_problem::Rational;

use super::forest::Forest;
use super::growth::Direction;
use super::holdings::Holdings;
use super::step::first_event;

/// Holdings on their way.
pub struct Course<'f> {
    forest: &'f Forest<'f>,
    holdings: Holdings,
    /// Who is stopped stays so: what is used only grows.
    is_stopped: Vec<bool>,
    /// Bounds that are not reached, and what is left of each.
    bounds: Vec<(Bound, Rational)>,
}

impl<'f> Course<'f> {
    /// Where users have so many tasks, which keep these bounds.
    pub fn new(forest: &'f Forest<'f>, tasks: Vec<Rational>, bounds: &[Bound]) -> Self {
        let is_stopped = vec![false; tasks.len()];
        let bounds = bounds.iter().map(|bound| (bound.clone(), bound.left(&tasks))).collect();
        let mut course = Self { forest, holdings: Holdings::new(forest, tasks), is_stopped, bounds };
        course.stop_at_bounds();
        course
    }

    /// Tasks by user.
    pub fn tasks(&self) -> &[Rational] {
        &self.holdings.tasks
    }

    /// Goes on to the next event; `false` where nobody can grow.
    pub fn segment(&mut self) -> Result<bool, LpError> {
        let (forest, holdings) = (self.forest, &self.holdings);
        let users = 0..self.is_stopped.len();
        let way = |n: usize| {
            let leaf = forest.nodes[forest.leaf(n)].leaf.as_ref().filter(|_| !self.is_stopped[n]);
            let way = leaf.and_then(|leaf| holdings.way(forest, leaf));
            way.filter(|way| !way.is_stopped).map(|way| way.nodes)
        };
        let ways: Vec<_> = users.clone().map(way).collect();
        let growing: Vec<usize> = users.filter(|n| ways[*n].is_some()).collect();
        self.is_stopped = ways.iter().map(Option::is_none).collect();
        if growing.is_empty() {
            return Ok(false);
        }
        let mut direction = Direction { forest, holdings, ways, races: Vec::new() };
        let growth = direction.of(0, &growing);
        let mut rates = vec![Rational::new(); self.is_stopped.len()];
        growth.rates.into_iter().for_each(|(n, rate)| rates[n] = rate);
        let node_growth = holdings.growth(forest, &rates);
        let event = first_event(forest, holdings, &rates, &node_growth, &direction.races);
        let paces: Vec<Rational> = self.bounds.iter().map(|(bound, _)| pace(bound, &rates)).collect();
        let reached = self.bounds.iter().zip(&paces).filter(|(_, pace)| **pace > 0);
        let reached = reached.map(|((_, left), pace)| Rational::from(left / pace));
        let step = event.into_iter().chain(reached).min().ok_or(LpError::ExactlyUnbounded)?;
        self.holdings.advance(&rates, node_growth, &step);
        for ((_, left), pace) in self.bounds.iter_mut().zip(&paces).filter(|(_, pace)| **pace > 0) {
            *left -= Rational::from(pace * &step);
        }
        self.stop_at_bounds();
        Ok(true)
    }

    /// Nobody whose tasks are worth something in a bound that is reached grows any more.
    fn stop_at_bounds(&mut self) {
        let is_stopped = &mut self.is_stopped;
        self.bounds.retain(|(bound, left)| {
            if left.is_zero() {
                bound.worth.iter().for_each(|(n, _)| is_stopped[*n] = true);
            }
            !left.is_zero()
        });
    }
}

/// How fast a bound is approached where users gain tasks at these rates.
fn pace(bound: &Bound, rates: &[Rational]) -> Rational {
    let growing = bound.worth.iter().filter(|(n, _)| !rates[*n].is_zero());
    growing.map(|(n, worth)| Rational::from(worth * &rates[*n])).sum()
}
