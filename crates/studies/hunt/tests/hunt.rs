//! Tests of the hunt against brute force without symmetries, against the rational method, with several
//! numbers of threads, with interruptions, and with input that is refused.
#![allow(missing_docs)]

use evenhand_hunt::{
    Clock, Counts, Found, Hunt, HuntError, Instance, JobTypeNumbers, Settings, State, against_limit, below,
    certify, exactly, shrink,
};
use evenhand_problem::Rational;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

fn settings(types: usize, resources: usize, capacity: u32, rewards: u64, exhaustive: bool) -> Settings {
    Settings { types, resources, capacity, rewards, exhaustive, seed: 7, keep: 4 }
}

fn complete(settings: Settings) -> Hunt {
    let mut hunt = Hunt::new(settings).unwrap();
    while hunt.advance().unwrap() {}
    assert!(hunt.is_complete());
    hunt
}

/// Returns the lowest ratio of all instances in every order. No instance is left out.
fn brute_force(settings: &Settings) -> (Rational, u64) {
    let base = u64::from(settings.capacity) + 1;
    let each = (base.pow(settings.resources as u32) - 1) * settings.rewards;
    let mut least = Rational::from(1);
    let all = each.pow(settings.types as u32);
    for code in 0..all {
        let mut rest = code;
        let types = (0..settings.types).map(|_| {
            let (reward, mut demand) =
                (rest % each % settings.rewards + 1, rest % each / settings.rewards + 1);
            rest /= each;
            let digits = (0..settings.resources).map(|_| {
                let digit = demand % base;
                demand /= base;
                digit as u32
            });
            JobTypeNumbers { demand: digits.collect(), reward }
        });
        let types = types.collect();
        let instance = Instance { capacity: vec![settings.capacity; settings.resources], types };
        least = least.min(exactly(&instance).unwrap().ratio_upper);
    }
    (least, all)
}

#[test]
fn exhaustive_search_agrees_with_brute_force() {
    for (types, resources, capacity, rewards) in
        [(2, 1, 4, 3), (2, 2, 2, 2), (3, 1, 3, 2), (3, 2, 1, 2), (1, 2, 3, 2)]
    {
        let settings = settings(types, resources, capacity, rewards, true);
        let (least, all) = brute_force(&settings);
        let hunt = complete(settings);
        assert_eq!(hunt.covered().unwrap(), all);
        match hunt.best().first() {
            Some(best) => assert_eq!(best.ratio, least, "{types} {resources} {capacity} {rewards}"),
            None => assert_eq!(least, 1),
        }
        let Counts { examined, discarded_at_once, discarded, evaluated, too_large, .. } = hunt.counts();
        assert_eq!((examined, too_large), (discarded_at_once + discarded + evaluated, 0));
        assert!(examined < all);
    }
}

/// Counts the maximal configurations of types on one resource without listing them.
fn configurations(capacity: usize, demands: [usize; 3]) -> u64 {
    let mut ways = vec![0_u64; capacity + 1];
    ways[0] = 1;
    for demand in demands {
        for full in demand..=capacity {
            ways[full] += ways[full - demand];
        }
    }
    let least = demands.into_iter().min().unwrap();
    ways[capacity + 1 - least..].iter().sum()
}

/// Matrices with too many configurations are left out and counted. The other matrices are searched.
#[test]
fn demands_with_too_many_configurations_are_left_out() {
    let capacity = 80;
    let sizes = || 1..=capacity as usize;
    let all = sizes().flat_map(|a| (a..=80).flat_map(move |b| (b..=80).map(move |c| [a, b, c])));
    let (large, small): (Vec<_>, Vec<_>) = all.partition(|each| configurations(80, *each) > 3_001);
    assert_eq!(large, [[1, 1, 1]]);
    let mut hunt = Hunt::new(settings(3, 1, capacity, 2, true)).unwrap();
    let classes = hunt.exhaustive().unwrap();
    assert_eq!((classes.too_large, classes.matrices), (1, small.len() as u64 + 1));
    // Each of three types has one of two rewards.
    assert_eq!(classes.covered(), (80_u64.pow(3) - 1) * 8);
    hunt.advance().unwrap();
    assert!(hunt.counts().examined > 0);
    let document = evenhand_hunt::document(&hunt, None, None, 0.0).unwrap();
    assert_eq!(document["searched"]["demand_matrices_too_large"], 1);
    assert_eq!(document["searched"]["too_large"], hunt.counts().too_large);
}

fn random_instance(random: &mut Pcg64) -> Instance {
    let (n_types, n_resources) = (random.random_range(1..=5usize), random.random_range(1..=4usize));
    let capacity: Vec<u32> = (0..n_resources).map(|_| random.random_range(1..=8)).collect();
    let largest = [2, 5, 40, 1000][random.random_range(0..4usize)];
    loop {
        let types = (0..n_types).map(|_| JobTypeNumbers {
            demand: capacity.iter().map(|c| random.random_range(0..=*c)).collect(),
            reward: random.random_range(1..=largest),
        });
        let instance = Instance { capacity: capacity.clone(), types: types.collect() };
        if instance.is_sound() {
            return instance;
        }
    }
}

/// Compares two methods that share only the theory. One method uses integers over all configurations. The
/// other uses HiGHS, exact pivots and column generation.
#[test]
fn the_integers_agree_with_the_rational_method() {
    let mut random = Pcg64::seed_from_u64(1);
    let (mut counts, mut lower) = (Counts::default(), 0);
    for _ in 0..300 {
        let instance = random_instance(&mut random);
        let exact = exactly(&instance).unwrap().ratio_upper;
        let maximal = instance.maximal().unwrap();
        let one = Rational::from(1);
        let found = below(&instance, Some(&maximal), &one, &mut counts).unwrap();
        assert_eq!(found.clone().unwrap_or_else(|| one.clone()), exact, "{instance:?}");
        lower += u32::from(found.is_some());
        // An instance is discarded by its own ratio as the bound, but not by any larger bound.
        assert_eq!(below(&instance, Some(&maximal), &exact, &mut counts).unwrap(), None);
        if let Some(ratio) = found {
            let above = &ratio + Rational::from(1 - &ratio) / 1000u32;
            assert_eq!(below(&instance, Some(&maximal), &above, &mut counts).unwrap(), Some(ratio));
        }
    }
    assert!(lower > 50, "{lower}");
    assert_eq!(counts.by_rationals, 0);
}

#[test]
fn too_large_numbers_use_the_rational_method() {
    let mut instance = Instance::appendix_c(3, 3, 2, 2).unwrap();
    let maximal = instance.maximal().unwrap();
    instance.types.iter_mut().for_each(|each| each.reward *= 1 << 62);
    let mut counts = Counts::default();
    let ratio = below(&instance, Some(&maximal), &Rational::from(1), &mut counts).unwrap();
    assert_eq!(ratio, Some(Rational::from((3, 4))));
    assert_eq!(counts.by_rationals, 1);
    let ratio = below(&instance, None, &Rational::from((3, 4)), &mut counts).unwrap();
    assert_eq!((ratio, counts.by_rationals, counts.discarded), (None, 2, 1));
}

/// The family of Appendix C has the ratio `1 - (1 - 1/n)^n` with `n + 1` types.
#[test]
fn the_family_of_appendix_c_has_its_ratio() {
    for n in 2..=4u32 {
        let instance = Instance::appendix_c(n as usize + 1, n as usize + 1, n, 1_000_000).unwrap();
        let maximal = instance.maximal().unwrap();
        let found = below(&instance, Some(&maximal), &Rational::from(1), &mut Counts::default()).unwrap();
        let mut power = Rational::from(1);
        (0..n).for_each(|_| power *= Rational::from((n - 1, n)));
        // The loads of the family have this ratio, and no other loads have a lower ratio.
        assert_eq!(found, Some(1 - power), "{n}");
        assert!(against_limit(found.as_ref().unwrap()).is_gt());
        if n < 3 {
            continue;
        }
        // With one type less the ratio is the same.
        let shortened = Instance::shortened(n as usize, n as usize, n, 1_000_000).unwrap();
        assert_eq!(exactly(&shortened).unwrap().ratio_upper, *found.as_ref().unwrap(), "{n}");
    }
}

#[test]
fn three_types_of_the_shape_of_appendix_c_are_found() {
    let three_quarters = Rational::from((3, 4));
    let hunt = complete(settings(3, 3, 2, 2, true));
    assert!(hunt.best()[0].ratio <= three_quarters, "{:?}", hunt.best()[0]);
    let certified = certify(&hunt.best()[0], &Clock::default()).unwrap();
    assert_eq!(certified.ratio, hunt.best()[0].ratio);
    assert!(evenhand_exact::check(&certified.certificate).valid);

    let mut hunt = Hunt::new(settings(3, 3, 2, 2, false)).unwrap();
    (0..10).for_each(|_| assert!(hunt.advance().is_ok()));
    assert!(hunt.best()[0].ratio <= three_quarters);
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// The saved state is complete: it has the position, the counts, the best instances and the walks.
#[test]
fn threads_and_interruptions_do_not_change_the_state() {
    for settings in [settings(4, 2, 5, 30, false), settings(3, 2, 2, 12, true)] {
        let batches = 5;
        let run = |threads| {
            let settings = settings.clone();
            on_threads(threads, move || {
                let mut hunt = Hunt::new(settings).unwrap();
                (0..batches).for_each(|_| assert!(hunt.advance().is_ok()));
                hunt.state()
            })
        };
        let whole = run(1);
        assert!(whole.counts.evaluated > 0 && !whole.best.is_empty());
        assert_eq!(run(3), whole);
        let mut state: State = Hunt::new(settings.clone()).unwrap().state();
        for _ in 0..batches {
            let text = serde_json::to_string(&state).unwrap();
            let mut hunt = Hunt::resume(serde_json::from_str(&text).unwrap()).unwrap();
            hunt.advance().unwrap();
            state = hunt.state();
        }
        assert_eq!(state, whole);
    }
    let other = Settings { seed: 8, ..settings(4, 2, 5, 30, false) };
    let mut hunt = Hunt::new(other).unwrap();
    let mut same = Hunt::new(settings(4, 2, 5, 30, false)).unwrap();
    hunt.advance().unwrap();
    same.advance().unwrap();
    assert_ne!(hunt.state().walks, same.state().walks);
}

#[test]
fn shrinking_keeps_the_ratio() {
    let mut random = Pcg64::seed_from_u64(3);
    let mut smaller = 0;
    for _ in 0..60 {
        let instance = random_instance(&mut random);
        let ratio = exactly(&instance).unwrap().ratio_upper;
        if ratio == 1 {
            continue;
        }
        let found = Found { instance, ratio };
        let shrunk = shrink(&found, &found.ratio, &Clock::default()).unwrap();
        assert!(shrunk.ratio <= found.ratio);
        assert_eq!(certify(&shrunk, &Clock::default()).unwrap().ratio, shrunk.ratio);
        assert!(shrunk.instance.size() <= found.instance.size());
        smaller += u32::from(shrunk.instance.size() < found.instance.size());
        let weaker = Rational::from(&found.ratio + 1u32) / 2u32;
        let shrunk_more = shrink(&found, &weaker, &Clock::default()).unwrap();
        assert!(shrunk_more.ratio <= weaker);
    }
    assert!(smaller >= 10, "{smaller}");
}

#[test]
fn a_wrong_ratio_gets_no_certificate() {
    let instance = Instance::appendix_c(3, 3, 2, 2).unwrap();
    let wrong = Found { instance, ratio: Rational::from((2, 3)) };
    assert!(matches!(certify(&wrong, &Clock::default()), Err(HuntError::Disagree { .. })));
}

#[test]
fn wrong_settings_and_states_are_refused() {
    let good = settings(3, 2, 2, 3, false);
    let bad = [
        Settings { types: 0, ..good.clone() },
        Settings { types: 9, ..good.clone() },
        Settings { resources: 0, ..good.clone() },
        Settings { capacity: 0, ..good.clone() },
        Settings { rewards: 0, ..good.clone() },
        Settings { keep: 0, ..good.clone() },
        Settings { types: 6, resources: 6, capacity: 9, exhaustive: true, ..good.clone() },
        Settings { types: 3, resources: 10, capacity: 1_000, exhaustive: true, ..good.clone() },
        Settings { types: 5, resources: 1, rewards: 1_000_000, exhaustive: true, ..good.clone() },
    ];
    for settings in bad {
        let error = Hunt::new(settings).unwrap_err();
        assert!(error.is_usage(), "{error}");
    }
    let mut hunt = Hunt::new(good).unwrap();
    (0..3).for_each(|_| assert!(hunt.advance().is_ok()));
    let state = hunt.state();
    assert!(Hunt::resume(state.clone()).is_ok());
    let damages: [&dyn Fn(&mut State); 7] = [
        &|state| state.version = 2,
        &|state| state.kind.clear(),
        &|state| drop(state.walks.pop()),
        &|state| state.best.reverse(),
        &|state| state.walks[0].types[0].demand[0] = 99,
        &|state| state.walks[0].types[0].reward = 0,
        &|state| state.position = 0,
    ];
    for damage in damages {
        let mut damaged = state.clone();
        damage(&mut damaged);
        assert!(matches!(Hunt::resume(damaged), Err(HuntError::State(_))));
    }
}

/// No more work begins when the time is up, and the saved state is that after the last complete batch.
#[test]
fn a_time_limit_ends_after_the_last_complete_batch() {
    let settings = Settings {
        types: 5,
        resources: 4,
        capacity: 60,
        rewards: 1_000,
        exhaustive: false,
        seed: 1,
        keep: 3,
    };
    let mut hunt = Hunt::within(settings.clone(), Clock::until(std::time::Instant::now())).unwrap();
    assert!(hunt.advance().unwrap());
    assert_eq!(hunt.state(), Hunt::new(settings.clone()).unwrap().state());
    let all = Settings { types: 2, resources: 1, capacity: 3, rewards: 2, exhaustive: true, ..settings };
    let late = Hunt::within(all, Clock::until(std::time::Instant::now()));
    assert!(matches!(late, Err(HuntError::OutOfTime)));
}
