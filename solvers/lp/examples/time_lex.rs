use evenhand_exact::Share;
use evenhand_lp::level::{Settings, lexicographic, lexicographic_float};
use evenhand_problem::{Constraints, Sharing};
use std::time::Instant;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let problem = evenhand_problem::format::Source { name: &path, text: &text }.problem().unwrap();
    let c = Constraints::new(&problem, Sharing::Rdm);
    let share = match std::env::args().nth(2).as_deref() {
        Some("tsf") => Share::TaskShare,
        _ => Share::Dominant,
    };
    let u = share.coefficients(&problem).unwrap();
    for _ in 0..(std::env::args().nth(3).map_or(2, |s| s.parse().unwrap())) {
        let t = Instant::now();
        let f = lexicographic_float(&c, &u, &Settings::default()).unwrap();
        let tf = t.elapsed();
        let t = Instant::now();
        let e = lexicographic(&c, &u, &Settings::default()).unwrap();
        let te = t.elapsed();
        let worst = (0..problem.n_users())
            .map(|n| {
                let a: f64 = f.tasks[n].iter().map(|(_, x)| x).sum();
                let b: evenhand_problem::Rational = e.tasks[n].iter().map(|(_, x)| x).sum();
                (a - b.to_f64()).abs() / b.to_f64().max(1e-300)
            })
            .fold(0.0, f64::max);
        println!(
            "float {tf:?} rounds {} solves {} | exact {te:?} rounds {} solves {} pivots {} duals {} | worst rel diff {worst:e} bits {}",
            f.rounds,
            f.solves,
            e.rounds,
            e.solves,
            e.pivots,
            e.duals.len(),
            e.tasks.iter().flatten().map(|(_, x)| x.denom().significant_bits()).max().unwrap_or(0)
        );
    }
}
