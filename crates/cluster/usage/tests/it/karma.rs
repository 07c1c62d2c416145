//! Tests of Karma's credits: golden values, a plain implementation, and histories.

use evenhand_testkit::plain::karma::quantum;
use evenhand_usage::{Karma, NANOSECONDS, Settings, judge, parse_duration};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::{q, read};

const DEMANDS: [[i64; 3]; 5] = [[3, 2, 1], [3, 0, 0], [0, 3, 3], [2, 2, 4], [2, 3, 5]];

/// Three queues with f = 2, alpha = 1/2 and 6 credits get 9 slices each.
#[test]
fn three_queues_get_equal_slices() {
    let mut karma = Karma::new(3, 2, 1, 6);
    let mut found = Vec::new();
    for demands in &DEMANDS {
        let slices = karma.quantum(demands);
        found.push((slices, karma.credits.clone()));
    }
    let expected: [([i64; 3], [i64; 3]); 5] = [
        ([3, 2, 1], [5, 6, 7]),
        ([3, 0, 0], [4, 8, 9]),
        ([0, 3, 3], [6, 7, 8]),
        ([1, 2, 3], [7, 7, 7]),
        ([2, 2, 2], [7, 7, 7]),
    ];
    let expected = expected.map(|(slices, credits)| (slices.to_vec(), credits.to_vec()));
    assert_eq!(found, expected);
    assert_eq!(karma.totals, [9, 9, 9]);
}

/// With alpha = 0, the second quantum makes up for the first quantum.
#[test]
fn later_quanta_compensate_for_earlier_ones() {
    let mut karma = Karma::new(2, 1, 0, 6);
    karma.quantum(&[2, 2]);
    karma.quantum(&[0, 2]);
    assert_eq!(karma.totals, [1, 3]);
    // A queue without credits borrows nothing.
    let mut karma = Karma::new(2, 1, 0, 0);
    karma.quantum(&[2, 2]);
    karma.quantum(&[0, 2]);
    assert_eq!(karma.totals, [1, 2]);
}

#[test]
fn random_demands_equal_the_plain_implementation() {
    for seed in 0..1_000 {
        let mut rng = Pcg64::seed_from_u64(seed);
        let (count, share) = (rng.random_range(1..7_usize), rng.random_range(0..7_i64));
        let (guaranteed, credits) = (rng.random_range(0..=share), rng.random_range(0..9));
        let mut karma = Karma::new(count, share, guaranteed, credits);
        let mut plain = vec![credits; count];
        for _ in 0..8 {
            let demands: Vec<i64> = (0..count).map(|_| rng.random_range(0..2 * share + 3)).collect();
            let slices = karma.quantum(&demands);
            assert_eq!(slices, quantum(&demands, share, guaranteed, &mut plain), "{seed}");
            assert_eq!(karma.credits, plain, "{seed}");
            assert!(slices.iter().sum::<i64>() <= share * count as i64, "{seed}");
        }
    }
}

fn settings(at: i64) -> Settings {
    let mut settings = Settings::new("karma".parse().unwrap(), 1);
    settings.half_life = None;
    settings.at = Some(at * NANOSECONDS);
    settings.every = Some(parse_duration("1h").unwrap());
    settings.capacity = Some(("gpu".to_owned(), q("6")));
    (settings.alpha, settings.credits) = (Some(q("1/2")), Some(q("6")));
    settings
}

/// The history states the demands of each hour. The fourth quantum begins at 3 h.
#[test]
fn histories_are_demands() {
    let mut table = "queue,resource,from,to,amount\n".to_owned();
    for (hour, demands) in DEMANDS.iter().enumerate() {
        for (queue, demand) in demands.iter().enumerate() {
            let name = ["a", "b", "c"][queue];
            table += &format!("{name},gpu,{},{},{demand}\n", hour * 3600, (hour + 1) * 3600);
        }
    }
    let history = read(&table).unwrap();
    let found = judge(&history, &settings(10_800)).unwrap();
    let order: Vec<_> = found
        .queues
        .iter()
        .map(|of| (of.queue.as_str(), of.rank, of.score.as_ref().unwrap().exact().cloned()))
        .collect();
    assert_eq!(order, [("c", 1, Some(q("-8"))), ("b", 2, Some(q("-7"))), ("a", 3, Some(q("-6")))]);
    let found = judge(&history, &settings(18_000)).unwrap();
    assert!(found.queues.iter().all(|of| of.rank == 1 && of.usage[0].1.exact() == Some(&q("9"))));
    let refused = |change: fn(&mut Settings)| {
        let mut settings = settings(18_000);
        change(&mut settings);
        judge(&history, &settings).unwrap_err().to_string()
    };
    assert!(refused(|of| of.capacity = None).contains("--capacity gpu=16"));
    assert!(refused(|of| of.capacity = Some(("gpu".to_owned(), q("7")))).contains("is 7/3"));
    assert!(refused(|of| of.alpha = Some(q("1/3"))).contains("alpha times the fair share is 2/3"));
    assert!(refused(|of| of.alpha = Some(q("2"))).contains("from 0 to 1"));
    assert!(refused(|of| of.credits = None).contains("--alpha 1/2 --credits 100"));
    assert!(refused(|of| of.every = Some(1)).contains("--every"));
    let halves = read("queue,resource,from,to,amount\na,gpu,0,7200,1/2\n").unwrap();
    assert!(judge(&halves, &settings(7200)).unwrap_err().to_string().contains("a demand of `a` is 1/2"));
}
