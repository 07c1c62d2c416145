//! Compares random histories with a plain implementation, which computes step by step and shares no code with
//! the library.

use evenhand_problem::Rational;
use evenhand_testkit::plain::usage::{
    Bounds, UsageRow, ideal, moving_average, of_capacity, resource_seconds, ticks,
};
use evenhand_usage::{History, NANOSECONDS, Settings, judge};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::{q, settings};

const HISTORIES: u64 = 2_000;

fn rows(rng: &mut Pcg64, has_lumps: bool) -> Vec<UsageRow> {
    let count = rng.random_range(1..8);
    (0..count)
        .map(|_| {
            let from = rng.random_range(0..60);
            let least = i64::from(!has_lumps);
            let to = from + rng.random_range(least..30);
            let amount = Rational::from((rng.random_range(0..40), if rng.random_bool(0.3) { 8 } else { 1 }));
            UsageRow { from, to, amount }
        })
        .collect()
}

/// Checks that the two enclosures overlap, and that both are narrow.
#[track_caller]
fn agree(found: (&Rational, &Rational), plain: &Bounds, what: &str) {
    assert!(found.0 <= &plain.1 && &plain.0 <= found.1, "{what}: {found:?} and {plain:?}");
    let narrow = q("1/1000000000000000000000000000000");
    assert!(Rational::from(found.1 - found.0) < narrow, "{what}: wide");
    assert!(Rational::from(&plain.1 - &plain.0) < narrow, "{what}: plain is wide");
}

/// The usage and the order of the two queues of each history must agree with the plain implementation.
#[test]
fn random_histories_equal_the_plain_implementation() {
    for seed in 0..HISTORIES {
        let mut rng = Pcg64::seed_from_u64(seed);
        let law = ["slurm", "slurm-ticks", "kueue", "kai", "volcano"][(seed % 5) as usize];
        let queues = [rows(&mut rng, seed % 5 < 2), rows(&mut rng, seed % 5 < 2)];
        let (half_life, every) = (rng.random_range(1..13), rng.random_range(1..9));
        let at = rng.random_range(0..100);
        let window = every * rng.random_range(1..12);
        let decays = law != "kai" || rng.random_bool(0.5);
        let mut settings: Settings = settings(law, &format!("{half_life}s"), at);
        settings.every = Some(every * NANOSECONDS);
        settings.half_life = settings.half_life.filter(|_| decays);
        settings.window = Some(window * NANOSECONDS).filter(|_| law == "kai");
        settings.capacity = Some(("gpu".to_owned(), q("64"))).filter(|_| law == "kai");
        let mut history = History::new();
        for (name, rows) in ["a", "b"].iter().zip(&queues) {
            for row in rows {
                history
                    .add(name, "gpu", (row.from * NANOSECONDS, row.to * NANOSECONDS), &row.amount)
                    .unwrap();
            }
        }
        let plain = |rows: &[UsageRow]| -> Bounds {
            match law {
                "slurm" => ideal(rows, half_life, at),
                "slurm-ticks" => {
                    let exact = ticks(rows, half_life, every, at);
                    (exact.clone(), exact)
                }
                "kueue" => moving_average(rows, half_life, every, at),
                "volcano" => resource_seconds(rows, half_life, every, at),
                _ => of_capacity(rows, Some(half_life).filter(|_| decays), every, window, &q("64"), at),
            }
        };
        let plain = queues.each_ref().map(|rows| plain(rows));
        let standings = judge(&history, &settings).unwrap_or_else(|error| panic!("{seed} {law}: {error}"));
        for (name, plain) in ["a", "b"].iter().zip(&plain) {
            let found = standings.queues.iter().find(|of| of.queue == *name).unwrap();
            let usage = &found.usage[0].1;
            agree((&usage.low, &usage.high), plain, &format!("seed {seed}, {law}, {name}"));
        }
        let [a, b] = &plain;
        let first = standings.queues[0].queue.as_str();
        // If usages are close, Volcano also compares the running amounts.
        if law != "volcano" {
            assert!(a.1 >= b.0 || first == "a", "seed {seed}, {law}");
            assert!(b.1 >= a.0 || first == "b", "seed {seed}, {law}");
        }
    }
}
