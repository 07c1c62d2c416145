//! One class for every group, from a guess that splits groups.
//!
//! Where classes are nearly worth the same, as machines of one kind with more or less of what is plentiful are, the
//! largest piece of every group is on the same class, and the first programme spends its steps on moving
//! groups away from there. So pieces are rounded to whole groups that load each row about as the pieces do.

use super::super::part::Part;

/// Pieces below this part of a group are no place for all of it.
const NOTABLE: f64 = 0.02;

/// By group: its class, one of those on which it has a notable piece. `splits`: by group `(class, weight)`, the
/// largest first; `level_of`: what each group needs.
pub fn classes(part: &Part<'_>, splits: &[Vec<(usize, f64)>], level_of: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut left = vec![0.0; part.capacity.len()];
    let mut order = Vec::with_capacity(splits.len());
    for (g, split) in splits.iter().enumerate() {
        let level = level_of(g) / split.iter().map(|(_, weight)| weight).sum::<f64>();
        let mut size = 0.0;
        for &(c, weight) in split {
            let tasks = level * weight * part.tasks_per_level_f64(g, c);
            for (row, usage) in part.usage(g, c) {
                left[row] += tasks * usage;
                size += tasks * usage / part.capacity[row];
            }
        }
        order.push((size, g));
    }
    // The largest first: the smaller ones fill what they leave.
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Prices beyond all doubles prefer no class.
    let mut class: Vec<usize> = splits
        .iter()
        .zip(&part.classes)
        .map(|(split, on)| split.first().map_or(on[0], |(c, _)| *c))
        .collect();
    for (_, g) in order {
        let least = NOTABLE * splits[g].iter().map(|(_, weight)| weight).sum::<f64>();
        let load = |c: usize| {
            let tasks = level_of(g) * part.tasks_per_level_f64(g, c);
            part.usage(g, c).map(move |(row, usage)| (row, tasks * usage))
        };
        let mut best = f64::NEG_INFINITY;
        for &(c, _) in splits[g].iter().filter(|(_, weight)| *weight >= least) {
            // What would be left of the row that is fullest then.
            let rest = load(c).map(|(row, load)| (left[row] - load) / part.capacity[row]);
            let rest = rest.fold(f64::INFINITY, f64::min);
            if rest > best {
                best = rest;
                class[g] = c;
            }
        }
        load(class[g]).for_each(|(row, load)| left[row] -= load);
    }
    class
}

#[cfg(test)]
mod tests {
    use evenhand_exact::Share;
    use evenhand_problem::format::Source;
    use evenhand_problem::{Constraints, Sharing};

    use super::super::super::data::LevelData;
    use super::*;

    /// Nearly all of every group prefers one of two classes by a hair; the other has room for a third.
    #[test]
    fn groups_are_shared_out_as_their_pieces_are() {
        let users: Vec<String> = (1..=6)
            .map(|n| format!(r#"{{"name": "u{n}", "demand": {{"cpu": {n}, "memory": 1}}}}"#))
            .collect();
        let text = format!(
            r#"{{"kind": "allocation-problem", "resources": ["cpu", "memory"], "users": [{}], "servers": [
                {{"name": "a", "capacity": {{"cpu": 20, "memory": 100}}}},
                {{"name": "b", "capacity": {{"cpu": 10, "memory": 100}}}}]}}"#,
            users.join(",")
        );
        let problem = Source { name: "-", text: &text }.problem().unwrap();
        let share = Share::Dominant.coefficients(&problem).unwrap();
        let constraints = Constraints::new(&problem, Sharing::Rdm);
        let data = LevelData::new(&constraints, &share);
        let part = Part::whole(&data);
        let splits = vec![vec![(0, 2.0), (1, 1.0)]; part.groups.len()];
        // All have the same dominant share, of which the classes have two thirds and one third.
        let of = |classes: &[usize]| classes.iter().filter(|class| **class == 0).count();
        assert_eq!(of(&classes(&part, &splits, |_| 0.1)), 4);
        // A piece that is small is no place.
        let splits = vec![vec![(0, 100.0), (1, 1.0)]; part.groups.len()];
        assert_eq!(of(&classes(&part, &splits, |_| 0.1)), 6);
        // Nothing is known: the first of the classes.
        assert_eq!(of(&classes(&part, &vec![Vec::new(); part.groups.len()], |_| 0.1)), 6);
    }
}
