//! Tests of verdicts over a window, compared with numbers computed by hand and with a plain implementation.
//! The kernel checks the certificates of the verdicts.

use std::collections::BTreeMap;

use evenhand_import::Input;
use evenhand_problem::{Rational, Sharing};
use evenhand_testkit::agreement::{Finding, of_kernel};
use evenhand_testkit::damage::{damage, damaged_text};
use evenhand_testkit::plain::window::{PlainMargin, PlainQueue, PlainSamples, PlainWindow, is_true};
use evenhand_usage::{
    Fact, History, MaxMin, NANOSECONDS, UsageError, WindowSettings, WindowVerdict, end_of, window,
    window_certificate,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::q;

const HISTORIES: u64 = 2_000;
/// The number of damaged certificates of the quick test. `EVENHAND_DAMAGED=N` sets another number.
const DAMAGED: u64 = 600;

fn read(text: &str) -> Result<History, UsageError> {
    History::read_with_facts(
        Input::new("history.csv", std::io::Cursor::new(text.to_owned().into_bytes())).unwrap(),
    )
}

fn settings(from: i64, to: i64) -> WindowSettings {
    WindowSettings::new(from * NANOSECONDS, to * NANOSECONDS)
}

fn judged(table: &str, settings: &WindowSettings) -> WindowVerdict {
    window(&read(table).unwrap(), settings).unwrap()
}

/// Checks that the kernel and the plain judge accept the certificate, and returns it.
#[track_caller]
fn certified(history: &History, settings: &WindowSettings, verdict: &WindowVerdict) -> String {
    let text = window_certificate(history, settings, verdict).unwrap();
    assert_eq!(of_kernel(&text, Some(Sharing::Rdm)), Finding::Accepted, "{text}");
    assert_ne!(is_true(&text), Some(false), "{text}");
    text
}

const HALVES: &str = "queue,resource,from,to,amount,fair_share,waiting\n\
    a,gpu,0,3600,2,8,1\na,gpu,3600,7200,12,8,3\n\
    b,gpu,0,3600,14,8,1\nb,gpu,3600,7200,4,8,0\n";

/// Queue `a` lacks 6 GPUs for an hour, and then uses 4 GPUs more than its share.
#[test]
fn sums_agree_with_hand_calculation() {
    let found = judged(HALVES, &settings(0, 7200));
    let hours = |value: &Option<Rational>| value.clone().map(|value| value / 3600_u32);
    let a = &found.balances[0];
    assert_eq!((a.used.clone() / 3600_u32, hours(&a.fair_share)), (q("14"), Some(q("16"))));
    assert_eq!(
        (hours(&a.lacked), hours(&a.over), hours(&a.balance())),
        (Some(q("6")), Some(q("4")), Some(q("-2")))
    );
    // Queue `b` did not want more in the second hour, so it lacks nothing in that hour.
    let b = &found.balances[1];
    assert_eq!(
        (hours(&b.fair_share), hours(&b.lacked), hours(&b.over)),
        (Some(q("8")), Some(q("0")), Some(q("6")))
    );
    // Only queue `a` wanted more throughout. It has 14 GPU-hours, and queue `b` has 18.
    let MaxMin::Judged { holds: false, margin, least, most } = &found.max_min else {
        panic!("{:?}", found.max_min)
    };
    assert_eq!((margin.exact(), least.as_str(), most.as_str()), (Some(&q("-2/9")), "a", "b"));
    // With a half-life of an hour, the second hour weighs twice as much: 2 + 24 for `a` and 14 + 8 for `b`.
    let mut decaying = settings(0, 7200);
    decaying.half_life = Some(3600 * NANOSECONDS);
    let found = judged(HALVES, &decaying);
    let MaxMin::Judged { holds: true, margin, .. } = &found.max_min else { panic!("{:?}", found.max_min) };
    assert!(margin.low > q("-1/100000000000") && margin.high == 0);
    // Queue `a` has the weight 2, and should have twice as much.
    decaying.weights = BTreeMap::from([("a".to_owned(), q("2"))]);
    let MaxMin::Judged { holds: false, margin, .. } = judged(HALVES, &decaying).max_min else { panic!() };
    assert!(margin.low < q("-9/22") && margin.high > q("-9/22") && margin.width() < q("1/100000000000"));
    decaying.tolerance = q("9/20");
    let found = judged(HALVES, &decaying);
    assert!(matches!(found.max_min, MaxMin::Judged { holds: true, .. }));
    certified(&read(HALVES).unwrap(), &decaying, &found);
}

/// Identical queues have equal usage under every decay. Bounds on irrational numbers alone could not show
/// this.
#[test]
fn equal_queues_have_margin_0() {
    let table = "queue,resource,from,to,amount,fair_share,waiting\n\
        a,gpu,0,100,3,8,1\na,gpu,100,700,5,8,1\nb,gpu,0,50,6,8,1\nb,gpu,50,100,6,8,2\nb,gpu,100,700,10,8,1\n";
    let mut settings = settings(0, 700);
    settings.half_life = Some(333 * NANOSECONDS);
    settings.weights = BTreeMap::from([("b".to_owned(), q("2"))]);
    let found = judged(table, &settings);
    let MaxMin::Judged { holds: true, margin, .. } = &found.max_min else { panic!("{:?}", found.max_min) };
    assert_eq!(margin.exact(), Some(&q("0")));
    certified(&read(table).unwrap(), &settings, &found);
}

#[test]
fn gaps_in_a_history_are_not_checked() {
    let table = "queue,resource,from,to,amount,fair_share,waiting\na,gpu,100,200,4,4,1\na,gpu,260,300,4,4,1\nb,gpu,100,200,2,4,0\n";
    let mut settings = settings(0, 400);
    let found = judged(table, &settings);
    let gaps: Vec<(i64, i64, &str)> = found
        .gaps
        .iter()
        .map(|gap| (gap.from / NANOSECONDS, gap.to / NANOSECONDS, gap.reason.as_str()))
        .collect();
    let expected =
        [(0, 100, "before the history begins"), (200, 260, "no row"), (300, 400, "after the history ends")];
    assert_eq!(gaps, expected);
    assert_eq!(found.covered, 140 * NANOSECONDS);
    assert!(matches!(&found.max_min, MaxMin::NotChecked(why) if why.contains("too little")));
    settings.coverage = q("1/4");
    let found = judged(table, &settings);
    assert!(matches!(&found.max_min, MaxMin::Judged { holds: true, .. }), "{:?}", found.max_min);
    assert_eq!(found.queues[1].present, 100 * NANOSECONDS);
    certified(&read(table).unwrap(), &settings, &found);
}

#[test]
fn reports_missing_data() {
    let plain = "queue,resource,from,to,amount\na,gpu,0,100,4\nb,gpu,0,100,2\n";
    let mut settings = settings(0, 100);
    let found = judged(plain, &settings);
    assert!(matches!(&found.max_min, MaxMin::NotChecked(why) if why.contains("which queues wanted more")));
    assert_eq!((found.balances[0].fair_share.as_ref(), found.balances[0].over.as_ref()), (None, None));
    certified(&read(plain).unwrap(), &settings, &found);
    settings.wanted = vec!["a".to_owned(), "b".to_owned()];
    let found = judged(plain, &settings);
    let MaxMin::Judged { holds: false, margin, .. } = &found.max_min else { panic!("{:?}", found.max_min) };
    assert_eq!(margin.exact(), Some(&q("-1/2")));
    certified(&read(plain).unwrap(), &settings, &found);
    // With another resource, the value of each resource has to be stated.
    let two = format!("{plain}a,cpu,0,100,64\n");
    assert!(matches!(judged(&two, &settings).max_min, MaxMin::NotChecked(_)));
    settings.resource_weights = BTreeMap::from([("gpu".to_owned(), q("1")), ("cpu".to_owned(), q("1/32"))]);
    let found = judged(&two, &settings);
    let MaxMin::Judged { margin, .. } = &found.max_min else { panic!() };
    assert_eq!(margin.exact(), Some(&q("-2/3")));
    certified(&read(&two).unwrap(), &settings, &found);
    // A queue of weight 0 that used something is ahead of every other queue.
    settings.weights = BTreeMap::from([("b".to_owned(), q("0"))]);
    let found = judged(&two, &settings);
    let MaxMin::Judged { margin, most, .. } = &found.max_min else { panic!() };
    assert_eq!((margin.exact(), most.as_str()), (Some(&q("-1")), "b"));
    certified(&read(&two).unwrap(), &settings, &found);
}

#[test]
fn wrong_windows_are_refused() {
    let refused = |table: &str, settings: &WindowSettings| match read(table)
        .and_then(|of| window(&of, settings).map(drop))
    {
        Err(error) => error.to_string(),
        Ok(()) => panic!("{table} is accepted"),
    };
    let head = "queue,resource,from,to,amount,fair_share,waiting\n";
    let overlapping = format!("{head}a,gpu,0,100,4,4,1\na,gpu,50,150,4,4,1\n");
    assert!(refused(&overlapping, &settings(0, 100)).contains("two rows of `a` and `gpu` overlap at 50 s"));
    assert!(refused(HALVES, &settings(100, 100)).contains("longer than 0"));
    let with = |change: fn(&mut WindowSettings)| {
        let mut settings = settings(0, 7200);
        change(&mut settings);
        refused(HALVES, &settings)
    };
    assert!(with(|of| of.queues = vec!["c".to_owned()]).contains("no queue `c`"));
    assert!(with(|of| of.wanted = vec!["c".to_owned()]).contains("no queue `c`"));
    assert!(with(|of| of.tolerance = q("2")).contains("from 0 to 1"));
    assert!(with(|of| of.half_life = Some(0)).contains("half-life"));
    assert!(with(|of| drop(of.weights.insert("a".to_owned(), q("-1")))).contains("negative"));
    assert!(
        with(|of| drop(of.resource_weights.insert("cpu".to_owned(), q("1")))).contains("no resource `cpu`")
    );
    let of = |row: &str| read(&format!("{head}{row}\n")).unwrap_err().to_string();
    assert!(of("a,gpu,0,1,1,-1,0").contains("history.csv:2: fair_share: -1 is negative"));
    assert!(of("a,gpu,0,1,1,1,x").contains("history.csv:2: waiting:"));
    let lumps = read("queue,resource,from,to,amount\na,gpu,0,10,4\na,gpu,5,5,1\n").unwrap();
    let settings = settings(0, 10);
    let found = window(&lumps, &settings).unwrap();
    assert_eq!(found.balances[0].used, 41);
    assert!(
        window_certificate(&lumps, &settings, &found).unwrap_err().to_string().contains("begins and ends")
    );
    assert_eq!(end_of(&lumps).unwrap(), 10 * NANOSECONDS);
    assert!(end_of(&History::new()).is_err());
}

/// Returns a random window, as a history and in the form of the plain implementation. Samples may have gaps. Fair
/// shares and wants may be unknown.
fn random(seed: u64) -> (History, WindowSettings, PlainWindow) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let (from, to) = (rng.random_range(0..10), rng.random_range(40..60));
    let mut segments = Vec::new();
    let mut time = rng.random_range(0..20);
    for _ in 0..rng.random_range(1..8) {
        let end = time + rng.random_range(1..9);
        segments.push((time, end));
        time = end + if rng.random_bool(0.3) { rng.random_range(1..5) } else { 0 };
    }
    let is_stated = rng.random_bool(0.8);
    let resources: &[&str] = if rng.random_bool(0.3) { &["gpu", "cpu"] } else { &["gpu"] };
    let mut history = if is_stated { History::with_facts() } else { History::new() };
    let is_eager = rng.random_bool(0.8);
    let mut settings = settings(from, to);
    settings.coverage = Rational::new();
    settings.half_life = rng.random_bool(0.7).then(|| rng.random_range(1..20) * NANOSECONDS);
    settings.tolerance = q(["0", "1/10", "1/2"][rng.random_range(0..3)]);
    for resource in resources {
        settings.resource_weights.insert((*resource).to_owned(), Rational::from((rng.random_range(1..4), 2)));
    }
    let mut queues = Vec::new();
    for name in ["a", "b", "c"] {
        let least = u32::from(rng.random_bool(0.9));
        let weight = Rational::from((rng.random_range(least..4), 3));
        let mut samples = Vec::new();
        for resource in resources {
            let mut of = PlainSamples { resource: (*resource).to_owned(), ..PlainSamples::default() };
            let (mut shares, mut wants) = (Vec::new(), Vec::new());
            // Some queues are equal.
            let amount = |rng: &mut Pcg64| match is_eager {
                true => {
                    Rational::from((rng.random_range(0..3) * 4, if rng.random_bool(0.1) { 3 } else { 1 }))
                }
                false => Rational::from(rng.random_range(0..20)),
            };
            for (begin, end) in &segments {
                let (usage, share) = (amount(&mut rng), amount(&mut rng));
                let want = rng.random_bool(if is_eager { 0.97 } else { 0.6 });
                let span = (begin * NANOSECONDS, end * NANOSECONDS);
                if is_stated {
                    let fact = Fact { fair_share: Some(share.clone()), wants: Some(want) };
                    history.add_with_fact(name, resource, span, &usage, &fact).unwrap();
                } else {
                    history.add(name, resource, span, &usage).unwrap();
                }
                if (*begin).max(from) < (*end).min(to) {
                    of.usage.push(usage);
                    shares.push(share);
                    wants.push(want);
                }
            }
            if is_stated {
                (of.fair_share, of.wants) = (Some(shares), Some(wants));
            }
            samples.push(of);
        }
        settings.weights.insert(name.to_owned(), weight.clone());
        queues.push(PlainQueue { name: name.to_owned(), weight, samples });
    }
    let clipped = segments.iter().map(|(begin, end)| ((*begin).max(from), (*end).min(to)));
    let clipped = clipped.filter(|(begin, end)| begin < end);
    let plain = PlainWindow {
        from: from.into(),
        to: to.into(),
        half_life: settings.half_life.map(|time| (time / NANOSECONDS).into()),
        segments: clipped.map(|(begin, end)| (begin.into(), end.into())).collect(),
        queues,
        values: settings.resource_weights.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
    };
    (history, settings, plain)
}

#[test]
fn random_windows_equal_the_plain_implementation() {
    let mut seen = [0_u32; 4];
    for seed in 0..HISTORIES {
        let (history, settings, plain) = random(seed);
        let found = window(&history, &settings).unwrap_or_else(|error| panic!("{seed}: {error}"));
        let time: Rational = plain.segments.iter().map(|(from, to)| Rational::from(to - from)).sum();
        assert_eq!(Rational::from((found.covered, NANOSECONDS)), time, "{seed}");
        let gaps: i64 = found.gaps.iter().map(|gap| gap.to - gap.from).sum();
        assert_eq!(gaps + found.covered, settings.to - settings.from, "{seed}");
        for queue in &plain.queues {
            for of in &queue.samples {
                let sums = plain.sums(of);
                let own = found
                    .balances
                    .iter()
                    .find(|own| own.queue == queue.name && own.resource == of.resource)
                    .unwrap();
                let own = (&own.used, &own.fair_share, &own.lacked, &own.over);
                assert_eq!(own, (&sums.used, &sums.fair_share, &sums.lacked, &sums.over), "{seed}");
            }
        }
        let margin = plain.margin().unwrap();
        match (&found.max_min, &margin) {
            (MaxMin::Judged { holds, margin, .. }, PlainMargin::Margin((low, high))) => {
                assert!(margin.low <= *high && *low <= margin.high, "{seed}: {margin:?} {low} {high}");
                assert!(margin.width() < q("1/10000000000"), "{seed}");
                let least = Rational::from(-&settings.tolerance);
                assert!(if *holds { *high >= least } else { *low < least }, "{seed}: {holds} {low}");
                seen[usize::from(*holds)] += 1;
            }
            (MaxMin::DoesNotApply, PlainMargin::DoesNotApply) => seen[2] += 1,
            (MaxMin::NotChecked(why), PlainMargin::Unknown) if why.contains("which queues") => seen[3] += 1,
            (MaxMin::NotChecked(why), _) if plain.segments.is_empty() => assert!(why.contains("too little")),
            // The margin is 0 or exactly the tolerance, which bounds cannot decide.
            (MaxMin::NotChecked(why), PlainMargin::Margin((low, high))) => {
                let least = Rational::from(-&settings.tolerance);
                let slack = q("1/100000000000");
                assert!(
                    why.contains("too close") && *low <= &least + slack.clone() && *high >= least - slack,
                    "{seed}: {why}"
                );
            }
            other => panic!("{seed}: {other:?}"),
        }
        if seed % 8 == 0 {
            certified(&history, &settings, &found);
        }
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}

/// The kernel refuses certificates that the plain judge finds false, and accepts certificates that it finds true.
#[test]
fn damaged_certificates_are_refused() {
    let wanted =
        std::env::var("EVENHAND_DAMAGED").ok().and_then(|count| count.parse().ok()).unwrap_or(DAMAGED);
    let (mut refused, mut accepted, mut made, mut malformed) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut seed = 0;
    while refused < wanted {
        seed += 1;
        let (history, settings, _) = random(seed);
        let found = window(&history, &settings).unwrap();
        let good = certified(&history, &settings, &found);
        let mut rng = Pcg64::seed_from_u64(seed);
        for _ in 0..6 {
            let text = if rng.random_bool(0.8) {
                let mut document = serde_json::from_str(&good).unwrap();
                damage(&mut document, &mut rng);
                document.to_string()
            } else {
                damaged_text(&good, &mut rng)
            };
            made += 1;
            let kernel = of_kernel(&text, Some(Sharing::Rdm));
            assert!(!matches!(kernel, Finding::Crashed(_)), "{kernel:?}: {text}");
            let is_accepted = kernel == Finding::Accepted;
            // A refusal because of a tolerance that the reader does not allow says nothing about the truth of the
            // certificate.
            let is_unmet = matches!(&kernel, Finding::Refused(why) if why.ends_with("that is allowed"));
            let is_judged = !is_unmet && !matches!(kernel, Finding::TooLarge(_));
            if let Some(truth) = is_true(&text).filter(|_| is_judged) {
                assert_eq!(is_accepted, truth, "seed {seed}: {kernel:?}: {text}");
            }
            refused += u64::from(matches!(kernel, Finding::Refused(_)));
            malformed += u64::from(matches!(kernel, Finding::Malformed(_)));
            accepted += u64::from(is_accepted);
        }
    }
    println!("{made} damaged certificates: {refused} refused, {malformed} malformed, {accepted} still true");
}
