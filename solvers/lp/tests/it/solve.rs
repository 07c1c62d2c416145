//! Compares exact answers of any linear programme with a dense simplex method in rationals, and checks their
//! certificates with the kernel.

use evenhand_check::{File, Options, check};
use evenhand_lp::json;
use evenhand_lp::judge::judge;
use evenhand_lp::model::{Bounds, Direction, Model, Position};
use evenhand_lp::solve::{Infeasibility, Settings, Status, solve};
use evenhand_lp::{stated, vipr};
use evenhand_problem::Rational;
use evenhand_problem::format::Source;
use evenhand_testkit::reference::{Dense, Solved};
use evenhand_testkit::vipr as plain_vipr;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::common::factor;

/// The number of random programmes that are tested.
const PROGRAMMES: u64 = 5_000;

fn number(random: &mut Pcg64) -> Rational {
    Rational::from((random.random_range(-6..=6), random.random_range(1..=3)))
}

fn bounds(random: &mut Pcg64) -> Bounds {
    let (a, b) = (number(random), number(random));
    match random.random_range(0..12) {
        0 => Bounds::free(),
        1..=4 => Bounds::at_least(a),
        5..=6 => Bounds::at_most(a),
        7 => Bounds::equal(a),
        // The range is empty if `a` is greater than `b`.
        8 => Bounds::between(a, b),
        _ => Bounds::between(a.clone().min(b.clone()), a.max(b)),
    }
}

/// Returns a random programme with up to six rows and columns. Small whole numbers make ties and degenerate vertices
/// frequent.
fn programme(seed: u64) -> Model {
    let random = &mut Pcg64::seed_from_u64(seed);
    let direction = if random.random_bool(0.5) { Direction::Minimise } else { Direction::Maximise };
    let mut model = Model::new(format!("random {seed}"), direction);
    model.constant = number(random);
    let (rows, columns) = (random.random_range(0..=6), random.random_range(1..=6));
    for i in 0..rows {
        model.row(format!("r{i}"), bounds(random));
    }
    for j in 0..columns {
        let entries: Vec<(usize, Rational)> = (0..rows)
            .filter(|_| random.random_bool(0.6))
            .collect::<Vec<usize>>()
            .into_iter()
            .map(|i| (i, number(random)))
            .collect();
        model.column(format!("x{j}"), number(random), bounds(random), entries);
    }
    model
}

/// Solves the same programme, rewritten with columns of at least 0 and rows with only an upper bound, by a simplex
/// method that shares no code.
fn reference(model: &Model) -> Solved {
    // For each column, its value if all variables that replace it are 0, and the signs of these variables.
    let mut parts: Vec<(Rational, Vec<i32>)> = Vec::new();
    let mut ranges = Vec::new();
    let mut count = 0;
    for column in &model.columns {
        match (&column.bounds.lower, &column.bounds.upper) {
            (Some(lower), upper) => {
                ranges.extend(upper.as_ref().map(|upper| (count, Rational::from(upper - lower))));
                parts.push((lower.clone(), vec![1]));
            }
            (None, Some(upper)) => parts.push((upper.clone(), vec![-1])),
            (None, None) => parts.push((Rational::new(), vec![1, -1])),
        }
        count += parts.last().unwrap().1.len();
    }
    let sign = if model.direction == Direction::Maximise { 1 } else { -1 };
    let mut dense = Dense { costs: vec![Rational::new(); count], rows: Vec::new() };
    let mut activities = vec![(vec![Rational::new(); count], Rational::new()); model.rows.len()];
    let mut at = 0;
    for (column, (start, signs)) in model.columns.iter().zip(&parts) {
        for s in signs {
            dense.costs[at] = Rational::from(&column.cost * (sign * s));
            for (row, value) in &column.entries {
                activities[*row].0[at] = Rational::from(value * s);
            }
            at += 1;
        }
        for (row, value) in &column.entries {
            activities[*row].1 += Rational::from(value * start);
        }
    }
    for (row, (a, start)) in model.rows.iter().zip(activities) {
        if let Some(upper) = &row.bounds.upper {
            dense.rows.push((a.clone(), Rational::from(upper - &start)));
        }
        if let Some(lower) = &row.bounds.lower {
            dense.rows.push((a.iter().map(|v| Rational::from(-v)).collect(), Rational::from(&start - lower)));
        }
    }
    for (at, range) in ranges {
        let mut a = vec![Rational::new(); count];
        a[at] = Rational::from(1);
        dense.rows.push((a, range));
    }
    match dense.solve() {
        Solved::Optimal { value, x } => {
            let start: Rational = model
                .columns
                .iter()
                .zip(&parts)
                .map(|(column, (start, _))| Rational::from(&column.cost * start))
                .sum();
            Solved::Optimal { value: value * sign + start + &model.constant, x }
        }
        other => other,
    }
}

/// Checks the proof of an answer. The check follows the definitions and shares no code with the solver.
fn is_proven(model: &Model, status: &Status) -> bool {
    let within = |bounds: &Bounds, value: &Rational| {
        bounds.lower.as_ref().is_none_or(|lower| lower <= value)
            && bounds.upper.as_ref().is_none_or(|upper| value <= upper)
    };
    let activity = |x: &[Rational], i: usize| -> Rational {
        let terms = model
            .columns
            .iter()
            .zip(x)
            .flat_map(|(column, x)| column.entries.iter().map(move |entry| (entry, x)));
        terms.filter(|((row, _), _)| *row == i).map(|((_, value), x)| Rational::from(value * x)).sum()
    };
    let is_feasible = |x: &[Rational]| {
        (0..model.rows.len()).all(|i| within(&model.rows[i].bounds, &activity(x, i)))
            && model.columns.iter().zip(x).all(|(column, x)| within(&column.bounds, x))
    };
    let sign = if model.direction == Direction::Maximise { -1 } else { 1 };
    // The least value of `y r + (c - y A) x` over all bounds.
    let bound = |y: &[Rational], costs: i32| -> Option<Rational> {
        let mut sum = Rational::new();
        let mut add = |price: &Rational, bounds: &Bounds| {
            let end = if *price > 0 { &bounds.lower } else { &bounds.upper };
            match end {
                _ if price.is_zero() => true,
                Some(end) => {
                    sum += Rational::from(end * price);
                    true
                }
                None => false,
            }
        };
        for (row, y) in model.rows.iter().zip(y) {
            if !add(y, &row.bounds) {
                return None;
            }
        }
        for column in &model.columns {
            let used: Rational =
                column.entries.iter().map(|(row, value)| Rational::from(value * &y[*row])).sum();
            if !add(&(Rational::from(&column.cost * costs) - used), &column.bounds) {
                return None;
            }
        }
        Some(sum)
    };
    let cost = |x: &[Rational]| -> Rational {
        model.columns.iter().zip(x).map(|(column, x)| Rational::from(&column.cost * x)).sum()
    };
    match status {
        Status::Optimal(of) => {
            is_feasible(&of.x)
                && of.objective == cost(&of.x) + &model.constant
                && bound(&of.y, sign) == Some(cost(&of.x) * sign)
        }
        Status::Infeasible(Infeasibility::Prices(y)) => bound(y, 0).is_some_and(|bound| bound > 0),
        Status::Infeasible(Infeasibility::EmptyBounds(at)) => {
            let bounds = match at {
                Position::Row(i) => &model.rows[*i].bounds,
                Position::Column(j) => &model.columns[*j].bounds,
            };
            matches!((&bounds.lower, &bounds.upper), (Some(lower), Some(upper)) if lower > upper)
        }
        Status::Unbounded { x, ray } => {
            let leaves = |bounds: &Bounds, change: &Rational| {
                *change < 0 && bounds.lower.is_some() || *change > 0 && bounds.upper.is_some()
            };
            is_feasible(x)
                && cost(ray) * sign < 0
                && (0..model.rows.len()).all(|i| !leaves(&model.rows[i].bounds, &activity(ray, i)))
                && model.columns.iter().zip(ray).all(|(column, change)| !leaves(&column.bounds, change))
        }
        Status::Limit { .. } => false,
    }
}

/// Returns true if the kernel accepts a certificate.
fn is_accepted(text: String) -> bool {
    let file = File { name: "certificate".to_owned(), text };
    check(&file, &Options::default()).is_ok_and(|report| report.reason.is_none())
}

#[test]
fn answers_agree_with_a_plain_simplex_method_and_are_proven() {
    let mut seen = [0_usize; 3];
    for seed in 0..PROGRAMMES * u64::from(factor()) {
        let model = programme(seed);
        let status =
            solve(&model, &Settings::default()).unwrap_or_else(|error| panic!("seed {seed}: {error}")).status;
        match (&status, reference(&model)) {
            (Status::Optimal(found), Solved::Optimal { value, .. }) => {
                assert_eq!(found.objective, value, "seed {seed}");
                seen[0] += 1;
            }
            (Status::Infeasible(_), Solved::Infeasible) => seen[1] += 1,
            (Status::Unbounded { .. }, Solved::Unbounded) => seen[2] += 1,
            (found, truth) => panic!("seed {seed}: {found:?}, and truly {truth:?}"),
        }
        assert!(is_proven(&model, &status), "seed {seed}: {status:?}");
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}

#[test]
fn certificates_are_accepted_and_damaged_ones_are_judged_correctly() {
    let (mut refused, mut still_true) = (0, 0);
    for seed in 0..1_600 {
        let model = programme(seed);
        let answer = solve(&model, &Settings::default()).unwrap();
        let text = json::certificate(&model, &answer).unwrap();
        assert!(is_accepted(text), "seed {seed}");
        let random = &mut Pcg64::seed_from_u64(seed + 1_000_000);
        for _ in 0..10 {
            let mut damaged = answer.clone();
            let other = number(random) / 7 + 1;
            let mut change = |list: &mut Vec<Rational>| {
                if let Some(count) = std::num::NonZero::new(list.len()) {
                    let at = random.random_range(0..count.get());
                    list[at] += &other;
                }
            };
            match &mut damaged.status {
                Status::Optimal(of) if seed % 3 == 0 => of.objective += 1,
                Status::Optimal(of) if seed % 3 == 1 => change(&mut of.x),
                Status::Optimal(of) => change(&mut of.y),
                Status::Infeasible(Infeasibility::Prices(y)) => change(y),
                Status::Infeasible(Infeasibility::EmptyBounds(at)) => *at = Position::Column(0),
                Status::Unbounded { x, .. } if seed % 2 == 0 => change(x),
                Status::Unbounded { ray, .. } => change(ray),
                Status::Limit { .. } => unreachable!("no time limit"),
            }
            let is_true = is_proven(&model, &damaged.status);
            let text = json::certificate(&model, &damaged).unwrap();
            assert_eq!(is_accepted(text), is_true, "seed {seed}: {:?}", damaged.status);
            if is_true { still_true += 1 } else { refused += 1 }
        }
    }
    assert!(refused > 10_000, "{refused} refused, {still_true} still true");
}

#[test]
fn programmes_survive_writing_and_reading() {
    for seed in 0..200 {
        let model = programme(seed);
        let text = json::write(&model);
        let read = json::read(Source { name: "random", text: &text }).unwrap();
        assert_eq!(read, model, "seed {seed}");
    }
}

#[test]
fn the_answer_of_the_solver_is_judged_optimal() {
    let mut judged = 0;
    for seed in 0..300 {
        let model = programme(seed);
        let answer = solve(&model, &Settings::default()).unwrap();
        if !matches!(answer.status, Status::Optimal(_)) {
            continue;
        }
        let stated = stated::read(&model, &json::answer(&model, &answer)).unwrap();
        let judgement = judge(&model, &stated);
        assert_eq!((judgement.row, judgement.bound), (None, None), "seed {seed}");
        let gap = judgement.prices.map(|prices| prices.gap.expect("a finite bound"));
        assert!(gap.is_none_or(|gap| gap.is_zero()), "seed {seed}");
        judged += 1;
    }
    assert!(judged > 50, "{judged}");
}

#[test]
fn a_certificate_carries_the_hash_of_its_programme() {
    let model = programme(1);
    let answer = solve(&model, &Settings::default()).unwrap();
    let text = json::certificate(&model, &answer).unwrap();
    let hash = evenhand_lp::canonical::hash(&model);
    assert!(is_accepted(text.clone()) && text.contains(&hash));
    assert!(!is_accepted(
        text.replace(&hash, &hash.replace(&hash[..1], if &hash[..1] == "0" { "1" } else { "0" }))
    ));
    assert!(!is_accepted(text.replace(&format!("\"sha256\":\"{hash}\","), "")));
    let mut turned = model.clone();
    turned.columns.reverse();
    assert_eq!(evenhand_lp::canonical::hash(&turned), hash, "the order of columns does not matter");
    turned.constant += 1;
    assert_ne!(evenhand_lp::canonical::hash(&turned), hash);
}

#[test]
fn vipr_files_prove_the_answer_to_a_plain_checker() {
    let mut seen = [0; 3];
    for seed in 0..1_000 {
        let model = programme(seed);
        let answer = solve(&model, &Settings::default()).unwrap();
        let text = vipr::write(&model, &answer);
        match &answer.status {
            Status::Unbounded { .. } => {
                assert_eq!(text, None);
                seen[2] += 1;
            }
            Status::Infeasible(_) => {
                let checked =
                    plain_vipr::check(&text.unwrap()).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
                assert_eq!(checked.goal, plain_vipr::Goal::Infeasible);
                seen[1] += 1;
            }
            Status::Optimal(optimum) => {
                let checked =
                    plain_vipr::check(&text.unwrap()).unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
                let value = Some(Rational::from(&optimum.objective - &model.constant));
                assert_eq!(checked.goal, plain_vipr::Goal::Range { lower: value.clone(), upper: value });
                assert_eq!((checked.minimise, checked.zeros), (model.direction == Direction::Minimise, 0));
                seen[0] += 1;
            }
            Status::Limit { .. } => unreachable!("no time limit"),
        }
    }
    assert!(seen.iter().all(|count| *count > 20), "{seen:?}");
}
