//! Random reservation problems, and the small problems of the Reservation paper.

use std::fmt::Write;

use evenhand_problem::format::Source;
use evenhand_problem::{Rational, Reservation};
use rand::Rng;
use rand_pcg::Pcg64;

pub fn read(text: &str) -> Reservation {
    Source { name: "problem", text }.reservation().unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns the example of the introduction of the Reservation paper, with these loads.
pub fn intro(loads: &[Rational]) -> Reservation {
    read(&format!(
        r#"{{"kind": "reservation-problem", "name": "introduction", "resources": ["cpu", "memory"],
            "servers": [{{"name": "pool", "capacity": {{"cpu": 10, "memory": 10}}}}],
            "jobs": [{{"name": "a", "demand": {{"cpu": 6, "memory": 6}}, "reward": 4, "load": "{}"}},
                     {{"name": "b", "demand": {{"cpu": 7, "memory": 1}}, "reward": 3, "load": "{}"}},
                     {{"name": "c", "demand": {{"cpu": 1, "memory": 7}}, "reward": 3, "load": "{}"}}]}}"#,
        loads[0], loads[1], loads[2]
    ))
}

/// Returns the problem of Appendix C of the Reservation paper with `j` types.
pub fn appendix_c(j: u32) -> Reservation {
    let n = j - 1;
    let part = Rational::from((n - 1, n));
    let resources: Vec<String> = (1..=j).map(|r| format!("\"r{r}\"")).collect();
    let capacity: Vec<String> = (1..=j).map(|r| format!("\"r{r}\": 1")).collect();
    let mut jobs = Vec::new();
    let mut power = Rational::from(1);
    for t in 1..j {
        let reward = Rational::from(&power / n);
        jobs.push(format!(
            r#"{{"name": "{t}", "demand": {{"r{t}": "1/{n}", "r{j}": "1/{n}"}}, "reward": "{reward}", "load": 1}}"#
        ));
        power *= &part;
    }
    let demand: Vec<String> = (1..j).map(|r| format!("\"r{r}\": \"{part}\"")).collect();
    jobs.push(format!(
        r#"{{"name": "{j}", "demand": {{{}}}, "reward": "{power}", "load": 1}}"#,
        demand.join(", ")
    ));
    read(&format!(
        r#"{{"kind": "reservation-problem", "resources": [{}], "servers": [{{"name": "pool",
            "capacity": {{{}}}}}], "jobs": [{}]}}"#,
        resources.join(", "),
        capacity.join(", "),
        jobs.join(",\n")
    ))
}

/// Returns a random problem with few configurations. It has one to three pools, with or without numbers of
/// servers, or it states its configurations. Fractions, zeros and ties are common.
pub fn random(rng: &mut Pcg64) -> Reservation {
    let n_types = rng.random_range(1..5);
    let listed = rng.random_bool(0.25);
    let n_pools = rng.random_range(1..4);
    let counted = rng.random_bool(0.5);
    let denominator = rng.random_range(1..4);
    let number = |rng: &mut Pcg64, from: u32, to: u32| {
        Rational::from((rng.random_range(from..to), denominator)).to_string()
    };
    let mut text = String::from(r#"{"kind": "reservation-problem", "servers": ["#);
    for i in 0..n_pools {
        let _ = write!(text, "{}{{\"name\": \"p{i}\"", if i == 0 { "" } else { ", " });
        if counted {
            let _ = write!(text, ", \"count\": {}", rng.random_range(1..9));
        }
        if !listed {
            let (x, y) = (number(rng, 6, 12), number(rng, 6, 12));
            let _ = write!(text, ", \"capacity\": {{\"x\": \"{x}\", \"y\": \"{y}\", \"idle\": \"{x}\"}}");
        }
        text.push('}');
    }
    text.push_str("], \"jobs\": [");
    let ties = rng.random_bool(0.4);
    for j in 0..n_types {
        let (x, y) = (rng.random_range(1..6), rng.random_range(0..6));
        let reward = match rng.random_range(0..8) {
            0 => "0".to_owned(),
            _ if ties => (x + y).to_string(),
            _ => number(rng, 1, 12),
        };
        let load = if rng.random_bool(0.15) { "0".to_owned() } else { number(rng, 1, 5) };
        let _ = write!(text, "{}{{\"name\": \"j{j}\"", if j == 0 { "" } else { ", " });
        if !listed {
            let over = |x: u32| Rational::from((x, denominator));
            let _ = write!(text, ", \"demand\": {{\"x\": \"{}\", \"y\": \"{}\"}}", over(x), over(y));
        }
        let _ = write!(text, ", \"reward\": \"{reward}\", \"load\": \"{load}\"}}");
    }
    text.push(']');
    if listed {
        let entry = |rng: &mut Pcg64, all: bool| {
            let k = (0..n_types).map(|j| (j, rng.random_range(u32::from(all)..4)));
            let k: Vec<String> = k.filter(|(_, k)| *k > 0).map(|(j, k)| format!("\"j{j}\": {k}")).collect();
            format!("{{{}}}", k.join(", "))
        };
        let mut list = vec![entry(rng, true)];
        list.extend((0..rng.random_range(0..4)).map(|_| entry(rng, false)));
        let _ = write!(text, ", \"configurations\": [{}]", list.join(", "));
    } else {
        text.push_str(", \"resources\": [\"x\", \"idle\", \"y\"]");
    }
    text.push('}');
    read(&text)
}
