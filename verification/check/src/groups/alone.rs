//! What is due by a rule that divides every resource alone (theory, section 9): one resource after the other is filled, on one
//! server that has all of it, where only what a group itself states is promised to it.

use rug::Rational;

use super::filling::ended;
use super::stated::Share;
use super::within::Within;
use crate::allocation::Allocation;
use crate::case::Case;
use crate::json::Json;
use crate::names::at;
use crate::problem::{Class, Problem};
use crate::work::Checked;

/// The name of the rule, and by resource the tasks with which the filling ends, by user; the problem is read once for each.
pub fn filled<'j>(problem: &Json<'_>, rule: &'j Json<'j>) -> Checked<(&'j str, Vec<Vec<Rational>>)> {
    let [rule] = rule.fields("rule")?;
    let is_kai = rule.word(&["volcano", "kai"])? == 1;
    let resources = 0..Problem::read(problem)?.resources.list.len();
    let filled = resources.map(|r| filled_with(r, Problem::read(problem)?, is_kai));
    Ok((rule.text()?, filled.collect::<Checked<_>>()?))
}

fn filled_with(r: usize, mut problem: Problem, is_kai: bool) -> Checked<Vec<Rational>> {
    problem.classes = vec![Class { count: 1, capacity: problem.total_capacity(), states_time: false }];
    for user in &mut problem.users {
        user.demand.retain(|(of, _)| *of == r);
        (user.classes, user.demand_on, user.gamma) = (None, Vec::new(), Vec::new());
    }
    for group in &mut problem.groups.list {
        let stated = at(group.guarantee.as_deref().unwrap_or_default(), r).cloned().unwrap_or_default();
        (group.guarantee, group.lend, group.on) = (Some(vec![(r, stated)]), Vec::new(), Vec::new());
        group.priority *= u32::from(is_kai);
    }
    let words = [is_kai.then_some("surplus"), None, is_kai.then_some("never"), None];
    problem.groups.share = Share { words, multipliers: Vec::new(), families: false };
    let nobody = vec![Vec::new(); problem.users.len()];
    let nothing = Allocation { by_time: false, tasks: nobody, placements: None };
    ended(&Case::new(&problem, &nothing, Rational::new())?, Vec::new(), &Within(Vec::new()))
}
