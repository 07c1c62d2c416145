//! Tests of Slurm's fair tree: the numbers that `sshare` shows agree with the recomputed numbers, and changed
//! numbers disagree.

use std::cmp::Ordering;

use crate::common::snapshot;

use evenhand_cluster::reported::{Compared, Formula, compared};
use evenhand_mechanisms::tree::Rule;
use evenhand_problem::snapshot::Snapshot;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

/// An account with the numbers of Slurm's controller. An account without subaccounts is a user.
#[derive(Debug, Clone, Default)]
struct Assoc {
    name: String,
    shares: u32,
    /// The raw usage. The usage of an account with subaccounts is the sum of their usage.
    usage: f64,
    norm: f64,
    effective: f64,
    level: f64,
    factor: f64,
    below: Vec<Assoc>,
}

impl Assoc {
    fn is_user(&self) -> bool {
        self.below.is_empty()
    }

    fn random(rng: &mut Pcg64, name: String, depth: usize) -> Self {
        let count = if depth == 0 { 0 } else { rng.random_range(1..=4) };
        let below: Vec<Self> = (0..count)
            .map(|k| {
                let depth = if rng.random_bool(0.4) { 0 } else { depth - 1 };
                Self::random(rng, format!("{name}{k}"), depth)
            })
            .collect();
        let usage = if rng.random_bool(0.2) { 0.0 } else { rng.random_range(0.0..1e6_f64).powf(1.5) };
        let usage = if below.is_empty() { usage } else { below.iter().map(|assoc| assoc.usage).sum() };
        Self { name, shares: rng.random_range(0..=4), usage, below, ..Self::default() }
    }

    fn users(&self) -> u32 {
        if self.is_user() { 1 } else { self.below.iter().map(Self::users).sum() }
    }

    /// Computes the levels of all accounts below this account, as `_calc_assoc_fs` does.
    fn levels(&mut self) {
        let (shares, usage) = (self.below.iter().map(|of| of.shares).sum::<u32>(), self.usage);
        for of in &mut self.below {
            of.norm = f64::from(of.shares) / f64::from(shares.max(1));
            of.effective = if usage == 0.0 { 0.0 } else { of.usage / usage };
            of.level = if of.norm == 0.0 { 0.0 } else { of.norm / of.effective };
            of.levels();
        }
    }

    fn all<'a>(&'a self, above: Option<&'a Self>, found: &mut Vec<(&'a Self, Option<&'a Self>)>) {
        for of in &self.below {
            found.push((of, above));
            of.all(Some(of), found);
        }
    }
}

/// Ranks the users below siblings, as `_calc_tree_fs` does.
fn rank(mut siblings: Vec<&mut Assoc>, all: u32, rank_now: &mut u32, next: &mut u32, account_tied: bool) {
    siblings.sort_by(|a, b| {
        b.level.partial_cmp(&a.level).unwrap_or(Ordering::Equal).then(b.is_user().cmp(&a.is_user()))
    });
    let mut before: Option<f64> = None;
    let mut rest = siblings.into_iter().peekable();
    let mut is_first = true;
    while let Some(of) = rest.next() {
        let tied = if is_first && account_tied { true } else { before == Some(of.level) };
        is_first = false;
        let level = of.level;
        if of.is_user() {
            if !tied {
                *rank_now = *next;
            }
            of.factor = f64::from(*rank_now) / f64::from(all);
            *next -= 1;
        } else {
            let mut children: Vec<&mut Assoc> = of.below.iter_mut().collect();
            while let Some(other) = rest.next_if(|other| other.level == level) {
                children.extend(other.below.iter_mut());
            }
            rank(children, all, rank_now, next, tied);
        }
        before = Some(level);
    }
}

fn tree(seed: u64) -> Assoc {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut root = Assoc::random(&mut rng, "r".to_owned(), 4);
    root.levels();
    let all = root.users();
    let (mut now, mut next) = (all, all);
    rank(root.below.iter_mut().collect(), all, &mut now, &mut next, false);
    root
}

/// Returns a snapshot with the numbers that `sshare -a -l` shows of a tree.
fn shown(root: &Assoc) -> Value {
    let mut list = Vec::new();
    root.all(None, &mut list);
    let groups: Vec<Value> = list
        .iter()
        .map(|(of, above)| {
            let mut group = json!({"name": of.name, "weight": of.shares});
            if let Some(above) = above {
                group["parent"] = json!(above.name);
            }
            group
        })
        .collect();
    let whole = |value: f64| format!("{:.0}", value.floor());
    let six = |value: f64| if value.is_infinite() { "inf".to_owned() } else { format!("{value:.6}") };
    let mut reported = vec![
        json!({"what": "RawUsage", "value": whole(root.usage)}),
        json!({"what": "g_user_assoc_count", "value": root.users().to_string()}),
    ];
    for (of, above) in &list {
        let level: u32 = above.unwrap_or(root).below.iter().map(|of| of.shares).sum();
        let mut say = |what: &str, value: String| {
            reported.push(json!({"group": of.name, "what": what, "value": value}));
        };
        say("RawShares", of.shares.to_string());
        say("level_shares", level.to_string());
        say("NormShares", six(of.norm));
        say("RawUsage", whole(of.usage));
        say("NormUsage", six(of.usage / root.usage.max(1.0)));
        say("EffectvUsage", six(of.effective));
        say("LevelFS", six(of.level));
        if of.is_user() {
            say("FairShare", six(of.factor));
        }
    }
    json!({"kind": "snapshot", "system": "slurm",
        "problem": {"kind": "allocation-problem", "resources": ["cpu"], "groups": groups, "users": [],
            "servers": [{"name": "s", "capacity": {"cpu": 1}}]},
        "allocation": {"kind": "allocation", "tasks": {}}, "reported": reported})
}

fn judged(document: &Value) -> (Snapshot, Vec<Compared>) {
    let of = snapshot(&document.to_string());
    let found = compared(&of, &of.problem, Some(Rule::Slurm)).unwrap();
    (of, found)
}

fn value<'d>(document: &'d mut Value, group: &str, what: &str) -> &'d mut Value {
    let list = document["reported"].as_array_mut().unwrap();
    &mut list.iter_mut().find(|of| of["group"] == group && of["what"] == what).unwrap()["value"]
}

#[test]
fn numbers_of_sshare_agree_with_the_formula() {
    let mut agree = 0;
    for seed in 0..150 {
        let (_, found) = judged(&shown(&tree(seed)));
        for of in &found {
            assert_ne!(of.agrees(), Some(false), "seed {seed}: {of:?}");
            agree += usize::from(of.agrees() == Some(true));
        }
    }
    assert!(agree > 2_000, "{agree}");
}

#[test]
fn changed_numbers_differ_from_the_formula() {
    let mut damaged = [0; 4];
    for seed in 0..20 {
        let root = tree(seed);
        let document = shown(&root);
        let (of, found) = judged(&document);
        for (at, number) in found.iter().enumerate() {
            let Formula::Between([Some(low), high]) = &number.formula else { continue };
            let words = ["NormShares", "EffectvUsage", "LevelFS", "FairShare"];
            let word = words.iter().position(|word| *word == number.what).unwrap();
            // Changed numbers that are still within the rounding of the interval are left out.
            let (low, high) = (low.to_f64(), high.as_ref().map_or(f64::INFINITY, |high| high.to_f64()));
            let is_near = |value: f64| (value - low).abs() < 1e-5 || (value - high).abs() < 1e-5;
            let is_outside = |value: f64| !(low..=high).contains(&value);
            let Some(stated) = number.reported.as_ref().map(|of| of.to_f64()) else { continue };
            for other in [2.0 * stated, 0.5 * stated, stated + 1.0].into_iter().filter(|of| !is_near(*of)) {
                let name = &of.problem.groups().list()[number.group].name;
                let mut changed = document.clone();
                *value(&mut changed, name, &number.what) = json!(format!("{other:.6}"));
                let now = &judged(&changed).1[at];
                assert_eq!(now.agrees(), Some(!is_outside(other)), "seed {seed}: {now:?}");
                damaged[word] += usize::from(is_outside(other));
            }
        }
    }
    assert!(damaged.iter().all(|count| *count > 20), "{damaged:?}");
}

#[test]
fn two_users_with_exchanged_ranks_are_detected() {
    // User `a` has 3 of 4 shares and a quarter of the usage, user `b` has 1 of 4 shares and three quarters of the usage.
    let of = |name: &str, shares, usage| Assoc { name: name.to_owned(), shares, usage, ..Assoc::default() };
    let mut root = Assoc { usage: 4e6, below: vec![of("a", 3, 1e6), of("b", 1, 3e6)], ..Assoc::default() };
    root.levels();
    let (mut now, mut next) = (2, 2);
    rank(root.below.iter_mut().collect(), 2, &mut now, &mut next, false);
    let mut document = shown(&root);
    assert!(judged(&document).1.iter().all(|of| of.agrees() == Some(true)));
    *value(&mut document, "a", "FairShare") = json!("0.5");
    *value(&mut document, "b", "FairShare") = json!("1");
    let (_, found) = judged(&document);
    let wrong: Vec<&str> =
        found.iter().filter(|of| of.agrees() == Some(false)).map(|of| of.what.as_str()).collect();
    assert_eq!(wrong, ["FairShare", "FairShare"]);
    // A raw usage of 0 determines no number. Numbers that Slurm has not computed yet are not compared.
    *value(&mut document, "a", "RawUsage") = json!("0");
    let list = document["reported"].as_array_mut().unwrap();
    list.retain(|of| of["group"] != "b" || of["what"] != "NormUsage");
    list[0]["value"] = json!("0");
    let (_, found) = judged(&document);
    assert!(found.iter().all(|of| of.what == "NormShares" || of.agrees().is_none()), "{found:?}");
    // Without `LevelFS` Slurm uses another formula, so no number is compared.
    document["reported"].as_array_mut().unwrap().retain(|of| of["what"] != "LevelFS");
    assert!(judged(&document).1.is_empty());
}
