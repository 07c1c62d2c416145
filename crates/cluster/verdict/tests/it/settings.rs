//! Tests of settings that limit fair shares: hand-made cases of public issues, and random cases compared with
//! the plain filling on a grid.

use crate::common::{cluster, snapshot};

use evenhand_cluster::Kind;
use evenhand_cluster::settings::{Effect, End, Field, Form, OfQueue, Setting, Settings};
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::format::{Source, problem_to_json};
use evenhand_problem::snapshot::Snapshot;
use evenhand_problem::{Problem, Rational};
use evenhand_testkit::plain::{alone, tree};
use evenhand_testkit::random::snapshots;
use serde_json::{Value, json};

fn effects_on_queue<'s>(found: &'s Settings, queue: &str) -> &'s OfQueue {
    found.queues.iter().find(|of| of.queue.name == queue).unwrap()
}

fn effect(of: &OfQueue, group: usize, field: Field) -> &Effect {
    of.effects.iter().find(|of| of.setting == Setting { of: Kind::Group(group), field }).unwrap()
}

/// Returns the pieces as texts: the beginning, the end, and the fair shares at both.
fn pieces(of: &Effect) -> Vec<[String; 4]> {
    let text = |value: &Rational| value.to_string();
    let piece = |of: &evenhand_cluster::settings::Piece| {
        [text(&of.from), text(&of.to), text(&of.values[0]), text(&of.values[1])]
    };
    of.pieces.iter().map(piece).collect()
}

/// Kueue, issue 672: the borrowing limit is 1 beyond a nominal quota of 9. Raising the limit lets the queue
/// borrow the amount that the other queue does not want.
#[test]
fn kueue_672_raising_a_borrowing_limit_helps() {
    let groups = json!([{"name": "team-a", "guarantee": {"gpu": 9}, "limit": {"gpu": 10}},
                        {"name": "team-b", "guarantee": {"gpu": 12}}]);
    let users = json!([{"name": "a", "group": "team-a", "demand": {"gpu": 1}, "tasks": 12},
                       {"name": "b", "group": "team-b", "demand": {"gpu": 1}, "tasks": 6}]);
    let snapshot = cluster(21, &groups, &users, &[json!({"a": 10, "b": 6})]);
    let found = Settings::new(&snapshot, Some(Rule::Kueue), None).unwrap();
    let team = effects_on_queue(&found, "team-a");
    let limit = effect(team, 0, Field::Limit(1));
    assert_eq!(pieces(limit), [["10", "12", "10", "12"]]);
    assert_eq!((limit.end, limit.is_certified, limit.losers.len()), (Some(End::Tasks), true, 0));
    // Neither the weight nor the guarantee of the queue helps while the limit is reached.
    assert_eq!(team.effects.len(), 1, "{team:?}");
    assert_eq!(found.queues.len(), 1);
}

/// KAI, issue 143: two queues with over-quota weights of 2 and 1 come after a queue of a higher priority.
#[test]
fn kai_143_over_quota_weights_have_an_effect() {
    let groups = json!([{"name": "a", "guarantee": {"gpu": 1}, "priority": 2, "weight": 1},
                        {"name": "b", "guarantee": {"gpu": 1}, "priority": 1, "weight": 2},
                        {"name": "c", "guarantee": {"gpu": 0}, "priority": 1, "weight": 1}]);
    let users = json!([{"name": "a/1", "group": "a", "demand": {"gpu": 1}, "tasks": 1},
                       {"name": "b/1", "group": "b", "demand": {"gpu": 1}, "tasks": 3},
                       {"name": "c/1", "group": "c", "demand": {"gpu": 1}, "tasks": 2}]);
    let snapshot = cluster(5, &groups, &users, &[json!({"a/1": 1, "b/1": 3, "c/1": 1})]);
    let found = Settings::new(&snapshot, Some(Rule::Kai), None).unwrap();
    let c = effects_on_queue(&found, "c");
    assert_eq!(found.queues.len(), 1);
    // The fair share is 3 w / (2 + w), until both tasks are within it.
    let weight = effect(c, 2, Field::Weight);
    assert_eq!(pieces(weight), [["1", "4", "1", "2"]]);
    let Some(Form::Fraction { p, q, s }) = &weight.pieces[0].form else { panic!("{weight:?}") };
    assert_eq!((p, q, s), (&Rational::new(), &Rational::from((3, 2)), &Rational::from((1, 2))));
    assert_eq!((weight.end, weight.losers.len()), (Some(End::Tasks), 1));
    // A quota of 1 takes a third less from each of the other queues.
    let quota = effect(c, 2, Field::Guarantee(1));
    assert_eq!(quota.end, Some(End::Tasks));
}

/// Volcano, issue 4995: three queues ask for 4 processors each, and the capability of their parent is 9.
#[test]
fn volcano_4995_the_capability_of_the_parent_limits_queues() {
    let groups = json!([{"name": "root", "limit": {"cpu": 9}},
        {"name": "queue-1", "parent": "root"}, {"name": "queue-2", "parent": "root"}, {"name": "queue-3", "parent": "root"}]);
    let user = |k: u32| json!({"name": format!("job-{k}"), "group": format!("queue-{k}"), "demand": {"cpu": 1}, "tasks": 4});
    let users = json!([user(1), user(2), user(3)]);
    let snapshot = cluster(0, &groups, &users, &[json!({"job-1": 4, "job-2": 4, "job-3": 1})]);
    let found = Settings::new(&snapshot, Some(Rule::Volcano), None).unwrap();
    let third = effects_on_queue(&found, "queue-3");
    assert!(third.is_below);
    let limit = effect(third, 0, Field::Limit(0));
    assert_eq!(pieces(limit), [["9", "12", "3", "4"]]);
    assert_eq!((limit.end, limit.losers.len()), (Some(End::Tasks), 0));
    let Some(Form::Linear { slope, .. }) = &limit.pieces[0].form else { panic!("{limit:?}") };
    assert_eq!(*slope, Rational::from((1, 3)));
}

/// A limit that is reached bounds the fair share of a queue. A guarantee has no effect until it exceeds the
/// fair share.
#[test]
fn a_reached_limit_and_a_large_guarantee_have_effects() {
    let groups = json!([{"name": "research", "limit": {"gpu": 8}}, {"name": "batch"}]);
    let users = json!([{"name": "r", "group": "research", "demand": {"gpu": 1}, "tasks": 30},
                       {"name": "b", "group": "batch", "demand": {"gpu": 1}, "tasks": 30}]);
    let found =
        Settings::new(&cluster(24, &groups, &users, &[json!({"r": 8, "b": 16})]), None, None).unwrap();
    let research = effects_on_queue(&found, "research");
    let limit = effect(research, 0, Field::Limit(1));
    assert_eq!(pieces(limit), [["8", "12", "8", "12"]]);
    assert_eq!((limit.end, limit.is_certified), (Some(End::Full(1)), true));
    let amounts = [Rational::from(16), Rational::from(12)];
    assert_eq!(limit.losers, [(1, 1, amounts)]);
    assert_eq!(research.effects.len(), 1);
    let promise = effect(effects_on_queue(&found, "batch"), 1, Field::Guarantee(1));
    assert_eq!(pieces(promise)[0], ["0", "16", "16", "16"]);
    assert_eq!(pieces(promise)[1], ["16", "24", "16", "24"]);
}

/// All capacity is guaranteed to another queue, so no weight helps.
#[test]
fn no_weight_helps_if_all_capacity_is_guaranteed() {
    let groups = json!([{"name": "gold", "guarantee": {"gpu": 16}}, {"name": "poor"}]);
    let users = json!([{"name": "g", "group": "gold", "demand": {"gpu": 1}, "tasks": 40},
                       {"name": "p", "group": "poor", "demand": {"gpu": 1}, "tasks": 4}]);
    let found = Settings::new(&cluster(16, &groups, &users, &[json!({"g": 16})]), None, None).unwrap();
    let poor = effects_on_queue(&found, "poor");
    assert!(poor.effects.iter().all(|of| matches!(of.setting.field, Field::Guarantee(1))), "{poor:?}");
    let promise = effect(poor, 1, Field::Guarantee(1));
    assert!(promise.breaks_promises);
    // Guarantees are served in equal fractions, which gives 16 t / (16 + t), up to 4 tasks.
    assert_eq!(pieces(promise).last().unwrap()[1..], ["16/3", "0", "4"].map(str::to_owned)[..]);
}

/// Clusters with weights of 0, no servers, resources without capacity, queues without tasks, limits of 0, and
/// unlimited tasks.
#[test]
fn degenerate_clusters_have_settings() {
    let groups = json!([
        {"name": "zero", "weight": 0, "limit": {"gpu": 0, "cpu": 3}}, {"name": "none"}, {"name": "more", "weight": 0},
        {"name": "deep", "parent": "more", "guarantee": {"gpu": 1}},
    ]);
    let users = json!([
        {"name": "z", "group": "zero", "demand": {"gpu": 1, "cpu": 1}, "tasks": 5}, {"name": "m", "group": "deep", "demand": {"gpu": 2}},
        {"name": "alone", "demand": {"gpu": 1}, "tasks": 4}, {"name": "idle", "group": "none", "demand": {"gpu": 1}, "tasks": 0},
    ]);
    for rule in Rule::NAMES.iter().map(|(name, _)| name.parse::<Rule>().ok()).chain([None]) {
        for gpus in [0, 1, 7] {
            let found = Settings::new(&cluster(gpus, &groups, &users, &[json!({})]), rule, None);
            let found = found.unwrap_or_else(|error| panic!("{rule:?} {gpus}: {error}"));
            assert!(found.queues.iter().all(|of| of.queue.name != "none"), "{rule:?} {gpus}");
            for effect in found.queues.iter().flat_map(|of| &of.effects) {
                assert!(effect.range().is_some(), "{rule:?} {gpus} {effect:?}");
            }
        }
    }
    let empty = json!({"kind": "snapshot", "problem": {"kind": "allocation-problem", "resources": ["gpu"], "servers": [], "users": []},
        "allocation": {"kind": "allocation"}});
    if let Ok(snapshot) = (Source { name: "empty", text: &empty.to_string() }).snapshot() {
        assert!(Settings::new(&snapshot, None, None).unwrap().queues.is_empty());
    }
}

/// Returns the problem with another value of a setting.
fn changed(problem: &Problem, setting: Setting, value: &Rational) -> Problem {
    let mut document: Value = serde_json::from_str(&problem_to_json(problem)).unwrap();
    let place = match setting.of {
        Kind::Group(v) => &mut document["groups"][v],
        Kind::User(n) => &mut document["users"][n],
    };
    let name = |r: usize| problem.resources()[r].clone();
    match setting.field {
        Field::Weight => place["weight"] = json!(value.to_string()),
        Field::Limit(r) => place["limit"][name(r)] = json!(value.to_string()),
        Field::Guarantee(r) => place["guarantee"][name(r)] = json!(value.to_string()),
    }
    snapshot_problem(&document.to_string())
}

fn snapshot_problem(text: &str) -> Problem {
    Source { name: "changed", text }.problem().unwrap()
}

/// Returns the fair share of a queue by the plain implementations.
fn plain(problem: &Problem, rule: Option<Rule>, kind: Kind, r: usize) -> Rational {
    let by = match rule {
        Some(Rule::Kai) => Some(alone::Alone::Kai),
        Some(Rule::Volcano) => Some(alone::Alone::Volcano),
        Some(Rule::VolcanoCapacity) => Some(alone::Alone::VolcanoCapacity),
        _ => None,
    };
    if let Some(by) = by {
        let (groups, users) = &alone::entitled(problem, by)[r];
        return match kind {
            Kind::Group(v) => groups[v].clone(),
            Kind::User(n) => users[n].clone(),
        };
    }
    let tasks = tree::fill(problem);
    let groups = problem.groups();
    let is_in = |n: usize| match kind {
        Kind::Group(v) => groups.above(groups.member(n).group).any(|of| of == v),
        Kind::User(m) => n == m,
    };
    (0..tasks.len())
        .filter(|n| is_in(*n))
        .map(|n| Rational::from(&tasks[n] * &problem.users()[n].base_demand()[r]))
        .sum()
}

/// Compares all pieces of a snapshot with the plain implementation on a grid. Returns the number of effects,
/// the number of pieces with a form, and the number of pieces without a form.
fn compare(seed: u64, snapshot: &Snapshot, rule: Option<Rule>) -> (u32, u32, u32) {
    let found = Settings::new(snapshot, rule, None).unwrap_or_else(|error| panic!("{seed}: {error}"));
    let problem = &snapshot.problem;
    let (mut effects, mut forms, mut without) = (0, 0, 0);
    for of in &found.queues {
        for effect in &of.effects {
            effects += 1;
            for piece in &effect.pieces {
                for k in [0_u32, 3, 12, 20] {
                    let t = Rational::from(&piece.to - &piece.from) * k / 20_u32 + &piece.from;
                    if effect.now.is_none() && t.is_zero() {
                        continue;
                    }
                    let plain =
                        plain(&changed(problem, effect.setting, &t), rule, of.queue.kind, effect.resource);
                    let stated = match k {
                        0 => Some(piece.values[0].clone()),
                        20 => Some(piece.values[1].clone()),
                        _ => piece.at(&t),
                    };
                    if let Some(stated) = stated {
                        assert_eq!(
                            stated, plain,
                            "{seed} {rule:?} {} {:?} at {t} of {piece:?}",
                            of.queue.name, effect.setting
                        );
                    }
                }
                forms += u32::from(piece.form.is_some());
                without += u32::from(piece.form.is_none());
            }
        }
    }
    (effects, forms, without)
}

#[test]
fn random_snapshots_agree_with_the_plain_filling_on_a_grid() {
    let (mut effects, mut forms, mut without) = (0, 0, 0);
    let mut compared = 0;
    for seed in 0.. {
        if compared == 1000 {
            break;
        }
        let snapshot = snapshots::snapshot(seed);
        // The plain filling of the tree takes many times as long as the plain division of single resources,
        // which knows no limits on classes.
        let rule = match seed % 10 {
            0 => None,
            digit => {
                [Some(Rule::Kai), Some(Rule::Volcano), Some(Rule::VolcanoCapacity)][(digit % 3) as usize]
            }
        };
        if rule.is_some() && snapshot.problem.groups().limit_classes() {
            continue;
        }
        compared += 1;
        let found = compare(seed, &snapshot, rule);
        effects += found.0;
        forms += found.1;
        without += found.2;
    }
    assert!(effects > 300 && forms > 400, "{effects} effects, {forms} pieces with a form, {without} without");
    assert!(without * 20 < forms, "{effects} effects, {forms} pieces with a form, {without} without");
}

/// Tests the first sentence of docs/settings.md, which is about the limit of research on GPUs.
#[test]
fn the_example_of_the_page_names_the_limit_of_research() {
    let found = snapshot(include_str!("../../../../../examples/cluster-settings.json"));
    let found = Settings::new(&found, None, None).unwrap();
    let vision = effects_on_queue(&found, "vision");
    assert!(
        vision.effects.iter().any(|of| of.setting == Setting { of: Kind::Group(0), field: Field::Limit(1) })
    );
}
