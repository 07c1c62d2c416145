//! Compares with numbers from the schedulers' own tests and documents, and with numbers that were computed by
//! hand.

use std::collections::BTreeMap;

use evenhand_problem::Rational;
use evenhand_usage::{
    Enclosure, NANOSECONDS, Settings, Standings, classic_factor, entry_penalty, judge, kai_rounded,
    kai_shares, kueue_step, level_fair_share, parse_duration, power_of_half, slurm_second,
};

use crate::{q, read, settings};

fn judged(table: &str, settings: &Settings) -> Standings {
    judge(&read(table).unwrap(), settings).unwrap()
}

/// Asserts that a number agrees with the expected number to nine decimals, and that its bounds are narrow.
#[track_caller]
fn near(found: &Enclosure, expected: &str) {
    let expected = q(expected);
    let distance = Rational::from(&found.middle() - &expected).abs();
    assert!(distance < q("1/1000000000"), "{found:?} is not {expected}");
    assert!(found.width() < q("1/1000000000000"), "{found:?} is wide");
}

#[track_caller]
fn usage(standings: &Standings, queue: &str) -> Enclosure {
    standings.queues.iter().find(|of| of.queue == queue).unwrap().usage[0].1.clone()
}

/// If the interval equals the half-life, the samples 8, 0 and 4 give the averages 4, 2 and 3.
#[test]
fn kueue_averages_samples() {
    let table = "queue,resource,from,to,amount\na,gpu,0,60,8\na,gpu,60,120,0\na,gpu,120,180,4\n";
    // Samples are taken backwards from the moment. At 179 the samples are at 59, 119 and 179.
    for (at, expected) in [(0, 4), (60, 2), (120, 3), (179, 3)] {
        let mut settings = settings("kueue", "60s", at);
        settings.every = Some(60 * NANOSECONDS);
        assert_eq!(usage(&judged(table, &settings), "a").exact(), Some(&Rational::from(expected)), "at {at}");
    }
    let steps = ["8", "0", "4"].iter().scan(Rational::new(), |old, sample| {
        *old = kueue_step(old, &q(sample), &q("1/2"));
        Some(old.clone())
    });
    assert_eq!(steps.collect::<Vec<_>>(), [4, 2, 3]);
}

/// Kueue, `TestCalculateDecayedConsumedConvergesToUsage`: with a half-life of 168 h, samples of 5 minutes and a usage
/// of 2 CPUs, the average is 1, 1.5 and 1.75 after one, two and three half-lives.
#[test]
fn kueue_average_converges_to_usage() {
    for (half_lives, expected) in [(1, "1"), (2, "3/2"), (3, "7/4")] {
        let end = half_lives * 604_800;
        let mut settings = settings("kueue", "168h", end - 300);
        settings.every = Some(300 * NANOSECONDS);
        let table = format!("queue,resource,from,to,amount\na,cpu,0,{end},2\n");
        near(&usage(&judged(&table, &settings), "a"), expected);
    }
}

/// Kueue, `TestCalculateDecayedConsumedAccumulatesSubMilli`: a GPU counts as less than a thousandth after one sample,
/// and as more after each further sample.
#[test]
fn kueue_accumulates_less_than_thousandths() {
    let mut last = Rational::new();
    for samples in 1..=3 {
        let mut settings = settings("kueue", "168h", (samples - 1) * 300);
        settings.every = Some(300 * NANOSECONDS);
        let found = usage(&judged("queue,resource,from,to,amount\na,gpu,0,3000,1\n", &settings), "a");
        assert!(found.low > last && found.high < q("11/10000"), "{found:?}");
        last = found.high;
    }
    assert!(last > q("1/1000"));
}

/// Kueue, `TestCalculateUsageWithDRA`: the usage, summed by resource weights, over the queue's weight.
#[test]
fn kueue_usage_is_weighted() {
    let rows = |cpu: u32, gpu: u32| {
        // With a half-life of a second and a sample every 100 seconds, the average is the last sample up to 30 digits.
        format!("queue,resource,from,to,amount\na,cpu,0,200,{cpu}\na,gpu-logical,0,200,{gpu}\n")
    };
    let score = |table: &str, queue: &str, resources: &[(&str, &str)]| {
        let mut settings = settings("kueue", "1s", 100);
        settings.every = Some(100 * NANOSECONDS);
        settings.weights = BTreeMap::from([("a".to_owned(), q(queue))]);
        settings.resource_weights =
            resources.iter().map(|(name, weight)| ((*name).to_owned(), q(weight))).collect();
        judged(table, &settings).queues[0].score.clone()
    };
    near(&score(&rows(0, 2), "1", &[]).unwrap(), "2");
    near(&score(&rows(0, 2), "1", &[("gpu-logical", "3")]).unwrap(), "6");
    near(&score(&rows(4, 2), "1", &[("cpu", "1"), ("gpu-logical", "5")]).unwrap(), "14");
    near(&score(&rows(0, 10), "1", &[("gpu-logical", "0")]).unwrap(), "0");
    near(&score(&rows(0, 3), "2", &[("gpu-logical", "4")]).unwrap(), "6");
    // In `TestCalculateUsageWithNonPositiveWeight` the score is infinite, so that the queue comes last.
    assert_eq!(score(&rows(4, 0), "0", &[]), None);
    assert_eq!(score(&rows(4, 0), "-1", &[]), None);
    // In `TestCalculateEntryPenaltyWithDRAResources` 5 of 10 minutes have passed, so alpha is 1 - 2^-1/2 =
    // .2928932188.
    let alpha = Rational::from(1) - power_of_half(&q("1/2"), &q("1/1000000000000")).middle();
    near(&Enclosure::of(entry_penalty(&q("4"), &alpha)), "11715728752538/10000000000000");
}

#[test]
fn kueue_entry_penalty_counts_at_once() {
    let mut settings = settings("kueue", "60s", 60);
    settings.every = Some(60 * NANOSECONDS);
    settings.has_entry_penalty = true;
    // The penalty is 4, and decays to 2 until the next sample. The samples at 0 and at 60 add 4 / 2 and 4.
    let table = "queue,resource,from,to,amount\na,gpu,0,120,8\n";
    assert_eq!(usage(&judged(table, &settings), "a").exact(), Some(&q("8")));
}

/// Without resource weights, a byte of memory counts as much as a core.
#[test]
fn kueue_counts_bytes_like_cores() {
    let table = "queue,resource,from,to,amount\ncores,cpu,0,60,64\nbytes,memory,0,60,1Gi\n";
    let mut settings = settings("kueue", "60s", 0);
    settings.every = Some(60 * NANOSECONDS);
    let standings = judged(table, &settings);
    assert_eq!(standings.next()[0].queue, "cores");
    assert_eq!(standings.queues[1].score.as_ref().unwrap().exact(), Some(&Rational::from(1_u32 << 29)));
}

#[test]
fn kai_divides_by_past_usage() {
    let weights = [q("1"), q("1")];
    let used = [q("3/4"), q("1/4")];
    assert_eq!(kai_shares(&q("16"), &weights, &used, &q("1")), [4, 12]);
    assert_eq!(kai_shares(&q("16"), &weights, &used, &q("1/2")), [6, 10]);
    // Without usage, the amount is divided by weight alone (design document: "0 historical usage across the board").
    assert_eq!(kai_shares(&q("16"), &[q("1"), q("3")], &[q("0"), q("0")], &q("5")), [4, 12]);
    // Negative numbers count as 0.
    assert_eq!(kai_shares(&q("16"), &weights, &[q("1"), q("0")], &q("2")), [0, 16]);
    assert_eq!(kai_rounded(&[q("10/3"), q("8/3"), q("4")]), [3, 3, 4]);
    let mut settings = settings("kai", "1h", 14_400);
    settings.half_life = None;
    settings.window = Some(parse_duration("4h").unwrap());
    settings.capacity = Some(("gpu".to_owned(), q("16")));
    let table = "queue,resource,from,to,amount\na,gpu,0,14401,12\nb,gpu,0,14401,4\n";
    let found = judged(table, &settings);
    assert_eq!(usage(&found, "a").exact(), Some(&q("3/4")));
    let shares: Vec<_> = found
        .queues
        .iter()
        .map(|of| (of.queue.as_str(), of.fair_share.clone().unwrap().exact().cloned()))
        .collect();
    assert_eq!(shares, [("b", Some(q("12"))), ("a", Some(q("4")))]);
    settings.k = q("1/2");
    let found = judged(table, &settings);
    assert_eq!(found.queues[1].fair_share.as_ref().unwrap().exact(), Some(&q("6")));
}

/// KAI, docs/timeaware/README.md: 8 GPUs for 3 hours, or 12 GPUs for 2 hours, are .24 of 10 hours of a cluster of 10
/// GPUs.
#[test]
fn kai_normalises_by_the_capacity() {
    let mut settings = settings("kai", "1h", 36_000);
    settings.half_life = None;
    settings.window = Some(parse_duration("10h").unwrap());
    settings.capacity = Some(("gpu".to_owned(), q("10")));
    let table = "queue,resource,from,to,amount\na,gpu,3600,14400,8\nb,gpu,7200,14400,12\n";
    let found = judged(table, &settings);
    assert_eq!(usage(&found, "a").exact(), Some(&q("24/100")));
    assert_eq!(usage(&found, "b").exact(), Some(&q("24/100")));
    assert_eq!(found.next().len(), 2);
    // With a half-life, usage of an hour ago counts half (the same document). So the newer usage counts more.
    settings.half_life = Some(parse_duration("1h").unwrap());
    let found =
        judged("queue,resource,from,to,amount\na,gpu,32400,32460,8\nb,gpu,28800,28860,16\n", &settings);
    assert_eq!(found.next().len(), 2, "{:?}", found.queues);
}

/// A tumbling window begins at its start, and again after every length of the window.
#[test]
fn kai_windows_tumble() {
    let mut settings = settings("kai", "1h", 7200);
    settings.half_life = None;
    settings.window = Some(parse_duration("1h").unwrap());
    settings.window_start = Some(0);
    assert_eq!(settings.beginning(7200 * NANOSECONDS), Some(3600 * NANOSECONDS));
    assert_eq!(settings.beginning(7201 * NANOSECONDS), Some(7200 * NANOSECONDS));
    settings.window_start = None;
    assert_eq!(settings.beginning(7201 * NANOSECONDS), Some(3601 * NANOSECONDS));
}

/// 8 GPU-hours that are one half-life old, and 2 new GPU-hours, count as 6.
#[test]
fn ideal_law_decays_continuously() {
    let (eight, two) = (8 * 3600, 2 * 3600);
    let table = format!("queue,resource,from,to,amount\na,gpu,0,0,{eight}\na,gpu,3600,3600,{two}\n");
    assert_eq!(
        usage(&judged(&table, &settings("slurm", "1h", 3600)), "a").exact(),
        Some(&Rational::from(6 * 3600))
    );
    // A constant usage that has lasted for very long counts as h / ln 2 = 1.4426950409 half-lives of usage.
    let table = "queue,resource,from,to,amount\na,gpu,0,360000,1\n";
    let found = usage(&judged(table, &settings("slurm", "1h", 360_000)), "a");
    near(&found.times(&q("1/3600")), "14426950408889634/10000000000000000");
}

/// With a half-life of a minute, .49806 of the usage is left after one half-life, and not 1/2. With a long
/// half-life, e^-.693 is left.
#[test]
fn slurm_decays_in_ticks() {
    assert_eq!(slurm_second(60 * NANOSECONDS), q("59307/60000"));
    let table = "queue,resource,from,to,amount\na,cpu,0,0,1000\n";
    let left = |half_life: &str, at: i64| {
        let mut settings = settings("slurm-ticks", half_life, at);
        settings.every = Some(60 * NANOSECONDS);
        usage(&judged(table, &settings), "a")
    };
    let minute = left("60s", 60);
    assert!(minute.low > q("498055/1000") && minute.high < q("498065/1000"), "{minute:?}");
    let week = left("7d", 604_800);
    assert!(week.low > q("500073/1000") && week.high < q("500074/1000"), "{week:?}");
    // A job that lasts exactly one period counts p f^p.
    let mut settings = settings("slurm-ticks", "60s", 2);
    settings.every = Some(2 * NANOSECONDS);
    let f = q("59307/60000");
    let found = usage(&judged("queue,resource,from,to,amount\na,cpu,0,9,3\n", &settings), "a");
    let expected = Rational::from(&f * &f) * 6_u32;
    assert!(found.low <= expected && expected <= found.high);
}

/// The classic fair share page of Slurm says that the factor is 1 without usage, 1/2 if the usage equals the
/// share, and 1/4 at twice the share. The fair tree page says that the level fair share is 1 if usage equals
/// the share, and infinite without usage.
#[test]
fn slurm_factors_agree_with_its_documentation() {
    let width = q("1/1000000");
    let of = |usage: &str, share: &str| classic_factor(&Enclosure::of(q(usage)), &q(share), &width);
    assert_eq!(of("0", "1/4").exact(), Some(&q("1")));
    assert_eq!(of("1/4", "1/4").exact(), Some(&q("1/2")));
    assert_eq!(of("1/2", "1/4").exact(), Some(&q("1/4")));
    assert_eq!(of("1/2", "0").exact(), Some(&q("0")));
    let level = |usage: &str, share: &str| level_fair_share(&Enclosure::of(q(usage)), &q(share));
    assert_eq!(level("1/3", "1/3").unwrap().exact(), Some(&q("1")));
    assert_eq!(level("1/2", "1/4").unwrap().exact(), Some(&q("1/2")));
    assert_eq!(level("0", "1/4"), None);
    let mut settings = settings("slurm", "1h", 3600);
    settings.weights = BTreeMap::from([("a".to_owned(), q("3")), ("idle".to_owned(), q("1"))]);
    let found = judged("queue,resource,from,to,amount\na,cpu,0,0,600\nb,cpu,0,0,600\n", &settings);
    let names: Vec<&str> = found.queues.iter().map(|of| of.queue.as_str()).collect();
    assert_eq!(names, ["idle", "a", "b"]);
    assert_eq!(found.queues[0].level_fair_share, Some(None));
    // The shares are 3/5 and 1/5, and the usages are equal.
    assert_eq!(found.queues[1].level_fair_share.clone().unwrap().unwrap().exact(), Some(&q("6/5")));
}

/// The cases of Volcano's tests `TestDecayFactor_*`, `TestDecayAllUsage_*`, `TestDecayScenario_10HourJob` and
/// `TestUsageOrdering_RealisticScenario`.
#[test]
fn volcano_usage_decays() {
    let factor = |hours: &str| power_of_half(&(q(hours) / 4_u32), &q("1/1000000000000"));
    assert_eq!(factor("4").exact(), Some(&q("1/2")));
    assert_eq!(factor("8").exact(), Some(&q("1/4")));
    assert_eq!(factor("0").exact(), Some(&q("1")));
    let second = power_of_half(&q("1/14400"), &q("1/1000000000000"));
    assert!(second.low > q("999/1000") && second.high < 1);
    let lump = |amount: u32, hours: i64| {
        let table = format!("queue,resource,from,to,amount\na,gpu,0,0,{amount}\n");
        usage(&judged(&table, &settings("volcano", "4h", hours * 3600)), "a").exact().cloned()
    };
    assert_eq!(lump(1000, 4), Some(q("500")));
    assert_eq!(lump(36_000, 4), Some(q("18000")));
    assert_eq!(lump(36_000, 24), Some(q("1125/2")));
    let table =
        "queue,resource,from,to,amount\nns-a,gpu,0,0,180\nns-b,gpu,0,0,60\nns-c,gpu,0,0,0\nns-d,gpu,0,0,0\n";
    let found = judged(table, &settings("volcano", "4h", 0));
    let ranks: Vec<_> = found.queues.iter().map(|of| (of.queue.as_str(), of.rank)).collect();
    assert_eq!(ranks, [("ns-c", 1), ("ns-d", 1), ("ns-b", 3), ("ns-a", 4)]);
    // The case of `TestUsageOrdering_EqualUsageFallsToRunning`.
    let table = "queue,resource,from,to,amount\nl,gpu,0,0,50\nr,gpu,0,0,50\nr,gpu,10,11,1\n";
    let found = judged(table, &settings("volcano", "4h", 10));
    assert_eq!((found.next().len(), found.next()[0].queue.as_str()), (1, "l"));
}
