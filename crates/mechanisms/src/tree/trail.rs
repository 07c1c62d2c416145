//! The history of the filling. If a new bound is violated by the current state, the filling goes back to an earlier
//! state.

use evenhand_exact::tree::Bound;
use evenhand_problem::Rational;

use super::course::Course;

/// The number of states that are stored between two checks of the placement. A new bound is violated about
/// halfway on average. Only the segments since the last stored state before that point are repeated.
const STATES_OF_A_STRIDE: usize = 4;
/// The maximum number of stored states, not counting the beginning. The states share all data that did not
/// change between them.
const MOST_STATES: usize = 8;

/// A stored state of the course.
struct State<'f> {
    course: Course<'f>,
    /// The number of segments from the beginning.
    at: usize,
    /// The number of bounds that the state satisfies, counted from the first bound.
    bounds: usize,
    /// The approximate tasks of the state, or `None` if they were not found to have a placement.
    placed: Option<Vec<Rational>>,
}

/// The stored states in their order. The first state is the beginning, which has a placement and satisfies
/// all bounds.
pub(super) struct Trail<'f>(Vec<State<'f>>);

impl<'f> Trail<'f> {
    /// Creates a history with the beginning, at which no user has tasks.
    pub fn new(course: &Course<'f>, nothing: &[Rational], bounds: usize) -> Self {
        Self(vec![State { course: course.clone(), at: 0, bounds, placed: Some(nothing.to_vec()) }])
    }

    /// Stores a state if the next one is due after `done` segments of a stride of the given length.
    pub fn pass(&mut self, course: &Course<'f>, at: usize, bounds: usize, done: usize, stride: usize) {
        if done > 0 && done.is_multiple_of(stride.div_ceil(STATES_OF_A_STRIDE)) {
            self.push(State { course: course.clone(), at, bounds, placed: None });
        }
    }

    /// Stores a state that has a placement. Earlier states without a check have a placement too, and are removed.
    pub fn arrive(&mut self, course: &Course<'f>, at: usize, bounds: usize, tasks: Vec<Rational>) {
        while self.0.pop_if(|state| state.placed.is_none()).is_some() {}
        self.push(State { course: course.clone(), at, bounds, placed: Some(tasks) });
    }

    fn push(&mut self, state: State<'f>) {
        self.0.push(state);
        if self.0.len() > MOST_STATES + 1 {
            let at: Vec<usize> = self.0.iter().map(|state| state.at).collect();
            missed_least(&at).into_iter().for_each(|which| drop(self.0.remove(which)));
        }
    }

    /// Returns the last tasks that were found to have a placement.
    pub fn place(&self) -> &[Rational] {
        self.0.iter().rev().find_map(|state| state.placed.as_deref()).unwrap_or_default()
    }

    /// Returns the last state that satisfies all `bounds`, and the number of segments to it. Later states are
    /// removed.
    pub fn back(&mut self, bounds: &[Bound]) -> Option<(Course<'f>, usize)> {
        // A placement in doubles may violate a bound slightly. The beginning violates no bound.
        while let Some(state) = self.0.last() {
            let mut course = state.course.clone();
            if course.add_bounds(&bounds[state.bounds..]) {
                return Some((course, state.at));
            }
            self.0.pop();
        }
        None
    }
}

/// Returns the index of the state that is least useful, but never the first or the last state. States near
/// the last state should be closer together than earlier states.
fn missed_least(at: &[usize]) -> Option<usize> {
    let end = at.last().copied().unwrap_or_default();
    let gap = |around: &[usize]| (around[2] - around[0]) as f64 / (end - around[0]).max(1) as f64;
    let gaps = at.windows(3).map(gap).enumerate();
    gaps.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(before, _)| before + 1)
}

#[cfg(test)]
mod tests {
    use evenhand_levels::placement::Totals;
    use evenhand_problem::format::Source;
    use serde_json::{Value, json};

    use super::*;
    use crate::tree::Settings;
    use crate::tree::allocate::forest_of;

    /// Checks that the course goes back to the last state that satisfies a violated bound, and never violates
    /// this bound again.
    #[test]
    fn the_course_returns_to_the_last_state_within_all_bounds() {
        let user = |n: u32| {
            let (cpu, memory) = (1 + n % 7, 1 + n % 5);
            json!({"name": format!("u{n}"), "tasks": 1 + n * n % 83, "group": if n.is_multiple_of(2) { "a" } else { "b" },
                   "demand": {"cpu": cpu, "memory": memory}})
        };
        let text = json!({
            "kind": "allocation-problem", "resources": ["cpu", "memory"],
            "servers": [{"name": "s", "capacity": {"cpu": 4000, "memory": 3000}}],
            "groups": [{"name": "a", "weight": 2}, {"name": "b"}],
            "users": (0..40).map(user).collect::<Vec<Value>>(),
        });
        let problem = Source { name: "-", text: &text.to_string() }.problem().unwrap();
        let forest = forest_of(&problem, &Settings::default()).unwrap();
        let nothing = vec![Rational::new(); problem.n_users()];
        let mut course = Course::new(&forest, &nothing, &[]);
        let (mut trail, mut held) = (Trail::new(&course, &nothing, 0), vec![nothing.clone()]);
        let stride = 2 * STATES_OF_A_STRIDE;
        for done in 0..stride {
            trail.pass(&course, done, 0, done, stride);
            assert!(course.segment().unwrap());
            held.push(course.clone().exactly());
        }
        // This bound on the sum of all tasks is reached between two states.
        let all = |tasks: &[Rational]| tasks.iter().sum::<Rational>();
        let most: Rational = (all(&held[4]) + all(&held[5])) / 2u32;
        let bound = Bound {
            prices: Vec::new(),
            worth: (0..problem.n_users()).map(|n| (n, most.denom().clone())).collect(),
            most: Rational::from(most.numer()),
        };
        let (mut back, at) = trail.back(std::slice::from_ref(&bound)).unwrap();
        assert_eq!((at, back.clone().exactly()), (4, held[4].clone()));
        assert_eq!(trail.place(), nothing);
        while back.segment().unwrap() {
            assert!(bound.left(&back.clone().exactly()) >= 0);
        }
        assert!(bound.left(&back.exactly()).is_zero());
        // Only the beginning satisfies this bound.
        let nobody = Bound { most: Rational::new(), ..bound };
        let (mut beginning, at) = trail.back(&[nobody]).unwrap();
        assert_eq!((at, beginning.exactly()), (0, nothing));
    }

    /// Checks that the beginning and the last state are never removed, and that the states between them are
    /// closer together near the last state.
    #[test]
    fn saved_states_are_spread_over_the_whole_course() {
        let mut states = vec![0];
        for at in (1..1000).map(|step| step * 16) {
            states.push(at);
            if states.len() > MOST_STATES + 1 {
                states.remove(missed_least(&states).unwrap());
            }
            assert!(states.is_sorted() && states[0] == 0 && states.last() == Some(&at));
            let back: Vec<f64> = states.iter().map(|state| (at - state) as f64).collect();
            let is_near = |two: &[f64]| two[0] <= 20.0 * (two[1] + 16.0);
            assert!(back.windows(2).all(is_near), "{states:?}");
        }
        assert_eq!(missed_least(&[0, 7]), None);
        assert_eq!(missed_least(&[0, 1, 50, 75, 100]), Some(1));
        assert_eq!(missed_least(&[0, 50, 51, 75, 100]), Some(2));
    }
}
