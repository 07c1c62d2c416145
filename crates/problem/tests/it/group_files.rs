//! Reading of groups: the accepted files, the message of every fault, and reading of written files.

use evenhand_problem::format::{Source, problem_sha256, problem_to_json};
use evenhand_problem::{Problem, Rational, Warning};

fn read(text: &str) -> Result<Problem, String> {
    Source { name: "p.json", text }.problem().map_err(|error| error.to_string())
}

/// Returns a problem with a pool of 10 CPUs and 4 GPUs. The arguments are its groups, further fields of its
/// only user, and further fields of the problem.
fn problem_with_groups(groups: &str, user: &str, more: &str) -> String {
    format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
"servers": [{{"name": "pool", "capacity": {{"cpu": 10, "gpu": 4}}}}],
"groups": [{groups}],
"users": [{{"name": "u", "demand": {{"cpu": 1}}{user}}}]{more}}}"#
    )
}

#[track_caller]
fn refuses(text: &str, expected: &str) {
    match read(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(message) => assert_eq!(message, expected),
    }
}

const TREE: &str = r#"{"name": "b", "parent": "a", "weight": 0, "priority": -2, "guarantee": {"gpu": 0}},
    {"name": "a", "weight": "1/2", "limit": {"cpu": 8, "gpu": 3}, "lend": {"cpu": 1}}"#;
const SHARE: &str = r#", "share": {"of": "surplus", "over": "lendable", "multipliers": {"gpu": 3, "cpu": 1},
    "families": true, "zero-weight": "never"}"#;

#[test]
fn group_files_survive_reading_and_writing() {
    let problem =
        read(&problem_with_groups(TREE, r#", "group": "b", "gang": 2, "pinned": "3/2""#, SHARE)).unwrap();
    let groups = problem.groups();
    assert_eq!((groups.list()[0].parent, groups.list()[1].parent), (Some(1), None));
    assert_eq!(groups.list()[0].guarantee, Some(vec![(1, Rational::new())]));
    assert_eq!(groups.list()[1].guarantee, None);
    assert_eq!(groups.member(0).group, Some(0));
    assert_eq!((groups.member(0).gang, groups.member(0).pinned.clone()), (Some(2), Some((3, 2).into())));
    assert_eq!(groups.share().multipliers, [(1, Rational::from(3))]);
    let written = problem_to_json(&problem);
    assert_eq!(read(&written).unwrap(), problem, "{written}");
    assert!(
        written.contains(r#"{"name":"b","parent":"a","weight":"0","priority":"-2","guarantee":{"gpu":"0"}}"#)
    );
}

#[test]
fn stated_defaults_do_not_change_the_hash() {
    let plain = problem_with_groups("", "", "");
    let stated = problem_with_groups(
        "",
        r#", "gang": 1, "pinned": 0"#,
        r#", "share": {"of": "usage", "multipliers": {"cpu": 1}}"#,
    );
    let [plain, stated] = [plain, stated].map(|text| read(&text).unwrap());
    assert_eq!(plain, stated);
    assert!(!problem_to_json(&plain).contains("groups"));
    assert_ne!(
        problem_sha256(&plain),
        problem_sha256(&read(&problem_with_groups(r#"{"name": "a"}"#, "", "")).unwrap())
    );
}

#[test]
fn faults_name_their_place() {
    let groups = |groups: &str| problem_with_groups(groups, "", "");
    refuses(
        &groups(r#"{"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}"#),
        "p.json:3:36: groups[0].parent: group `a` is its own parent, perhaps through other groups: expected parents that lead to a group without a parent",
    );
    refuses(
        &groups(r#"{"name": "a", "parent": "c"}, {"name": "d"}"#),
        "p.json:3:36: groups[0].parent: there is no group `c`",
    );
    refuses(
        &groups(r#"{"name": "a"}, {"name": "a"}"#),
        "p.json:3:36: groups[1].name: the group `a` is named twice",
    );
    refuses(
        &groups(r#"{"name": "a", "guarantee": {"tpu": 1}}"#),
        "p.json:3:47: groups[0].guarantee.tpu: there is no resource `tpu` (did you mean `cpu`?)",
    );
    refuses(
        &groups(r#"{"name": "a", "weight": -1}"#),
        "p.json:3:36: groups[0].weight: -1 is negative: expected a number of at least 0",
    );
    refuses(
        &groups(r#"{"name": "a", "guarantee": {"cpu": 3}, "limit": {"cpu": 2}}"#),
        "p.json:3:47: groups[0].guarantee.cpu: the guarantee 3 is above the limit 2: expected at most 2",
    );
    refuses(
        &groups(r#"{"name": "a", "priority": 0.5}"#),
        "p.json:3:38: groups[0].priority: 1/2 is not a priority: expected a whole number",
    );
    refuses(
        &problem_with_groups("", r#", "group": "a""#, ""),
        "p.json:4:56: users[0].group: there is no group `a`",
    );
    refuses(
        &problem_with_groups("", r#", "gang": 0"#, ""),
        "p.json:4:55: users[0].gang: 0 is not a number of tasks that run together: expected a whole number from 1 to \
         10^12",
    );
    refuses(
        &problem_with_groups("", r#", "tasks": 1, "pinned": 2"#, ""),
        "p.json:4:69: users[0].pinned: 2 tasks are pinned, but the user has 1: expected at most 1",
    );
    refuses(
        &problem_with_groups("", "", r#", "share": {"of": "everything"}"#),
        "p.json:4:65: share.of: found `everything`: expected one of usage, surplus",
    );
    refuses(
        &problem_with_groups("", "", r#", "share": {"multipliers": {"cpu": 0}}"#),
        "p.json:4:82: share.multipliers.cpu: 0 is not positive: expected a number above 0",
    );
}

#[test]
fn infeasible_guarantees_are_reported_with_amounts() {
    let groups = r#"{"name": "a", "guarantee": {"cpu": 8, "gpu": 4}}, {"name": "b", "guarantee": {"cpu": 4}},
        {"name": "a1", "parent": "a", "guarantee": {"cpu": 5}}, {"name": "a2", "parent": "a", "guarantee": {"cpu": 4}}"#;
    let problem = read(&problem_with_groups(groups, "", "")).unwrap();
    let messages: Vec<String> = problem.warnings().iter().map(Warning::to_string).collect();
    assert_eq!(
        messages,
        [
            "the subgroups of `a`: the guarantees of cpu add up to 9, but there is only 8",
            "all groups: the guarantees of cpu add up to 12, but there is only 10",
        ]
    );
}

/// Returns a chain of groups, each a subgroup of the previous group.
fn chain(groups: usize) -> String {
    let group = |v: usize| match v {
        0 => r#"{"name": "g0"}"#.to_owned(),
        v => format!(r#"{{"name": "g{v}", "parent": "g{}"}}"#, v - 1),
    };
    problem_with_groups(&(0..groups).map(group).collect::<Vec<_>>().join(",\n"), "", "")
}

#[test]
fn the_depth_of_groups_is_bounded() {
    assert_eq!(read(&chain(100)).unwrap().groups().list().len(), 100);
    refuses(
        &chain(101),
        "p.json:103:28: groups[100].parent: group `g100` has more than 99 groups above it: expected at most 99",
    );
}

/// Returns a problem with two server classes and one group, whose field `on` has the given text.
fn problem_with_class_fields(on: &str, guarantee: &str) -> String {
    format!(
        r#"{{"kind": "allocation-problem", "resources": ["cpu", "gpu"],
"servers": [{{"name": "old", "count": 2, "capacity": {{"cpu": 10, "gpu": 4}}}}, {{"name": "new", "capacity": {{"gpu": 8}}}}],
"groups": [{{"name": "a"{guarantee},
"on": {on}}}],
"users": [{{"name": "u", "group": "a", "demand": {{"gpu": 1}}}}]}}"#
    )
}

#[test]
fn sets_of_classes_are_named_by_a_key_or_in_a_list() {
    let by_key =
        r#"{"new": {"limit": {"gpu": "3k"}}, "new, old": {"limit": {"gpu": 5, "cpu": 0}}, "old": {}}"#;
    let listed = r#"[{"servers": ["old", "new"], "limit": {"cpu": 0, "gpu": 5}},
        {"servers": ["new"], "limit": {"gpu": 3000}}, {"servers": ["old"], "limit": {}}]"#;
    let [by_key, listed] = [by_key, listed].map(|text| read(&problem_with_class_fields(text, "")).unwrap());
    assert_eq!(by_key, listed);
    let of: Vec<_> = by_key.groups().list()[0].on.iter().map(|on| (&on.servers[..], &on.limit[..])).collect();
    let zero_and_five = [(0, Rational::new()), (1, Rational::from(5))];
    assert_eq!(of, [(&[0, 1][..], &zero_and_five[..]), (&[1], &[(1, Rational::from(3000))])]);
    let written = problem_to_json(&by_key);
    let expected = r#""on":[{"servers":["old","new"],"limit":{"cpu":"0","gpu":"5"}},{"servers":["new"],"limit":{"gpu":"3000"}}]"#;
    assert!(written.contains(expected), "{written}");
    assert_eq!(read(&written).unwrap(), by_key);
    // An entry without limits does not change the hash. A limit of 0 does.
    let [none, empty, zero] = ["{}", r#"{"old": {"limit": {}}}"#, r#"{"old": {"limit": {"gpu": 0}}}"#]
        .map(|text| problem_with_class_fields(text, ""));
    let [none, empty, zero] = [none, empty, zero].map(|text| problem_sha256(&read(&text).unwrap()));
    assert_eq!(none, empty);
    assert_ne!(none, zero);
}

/// Checks class names that contain a comma. As a key the whole text is the class, and in a list it is one of
/// several names.
#[test]
fn class_names_may_contain_commas() {
    let text = problem_with_class_fields(r#"{"old,new": {"limit": {"gpu": 1}}}"#, "")
        .replace(r#""name": "new""#, r#""name": "old,new""#);
    let problem = read(&text).unwrap();
    assert_eq!(problem.groups().list()[0].on[0].servers, [1]);
    assert_eq!(read(&problem_to_json(&problem)).unwrap(), problem);
    let both = problem_with_class_fields(r#"[{"servers": ["old", "old,new"], "limit": {"gpu": 1}}]"#, "");
    let both = both.replace(r#""name": "new""#, r#""name": "old,new""#);
    let problem = read(&both).unwrap();
    assert_eq!(problem.groups().list()[0].on[0].servers, [0, 1]);
    assert_eq!(read(&problem_to_json(&problem)).unwrap(), problem);
}

#[test]
fn faults_in_class_limits_name_their_place() {
    let faults = [
        (
            r#"{"nw": {"limit": {"gpu": 1}}}"#,
            "groups[0].on.nw: there is no server `nw` (did you mean `new`?)",
        ),
        (
            r#"{"old,nw": {"limit": {"gpu": 1}}}"#,
            "groups[0].on[\"old,nw\"]: there is no server `nw` (did you mean `new`?)",
        ),
        (
            r#"{"new": {"limit": {"gqu": 1}}}"#,
            "groups[0].on.new.limit.gqu: there is no resource `gqu` (did you mean `gpu`?)",
        ),
        (
            r#"{"new": {"limit": {"gpu": -1}}}"#,
            "groups[0].on.new.limit.gpu: -1 is negative: expected a number of at least 0",
        ),
        (r#"{"": {"limit": {"gpu": 1}}}"#, "groups[0].on[\"\"]: expected at least one server class"),
        (r#"[{"servers": []}]"#, "groups[0].on[0]: expected at least one server class"),
        (r#"[{"limit": {}}]"#, "groups[0].on[0]: the field `servers` is missing"),
        (
            r#"{"new": {"servers": ["new"]}}"#,
            "groups[0].on.new.servers: the key names the server classes already: remove `servers`",
        ),
        (r#"[{"servers": ["old", "old"]}]"#, "groups[0].on[0].servers[1]: the server `old` is named twice"),
        (
            r#"{"old,new": {}, "new,old": {}}"#,
            "groups[0].on[\"new,old\"]: there are two entries for the server classes `new,old`: expected one",
        ),
        (r#"{"new": {"maximum": {"gpu": 1}}}"#, "groups[0].on.new.maximum: unknown field `maximum`"),
    ];
    for (text, expected) in faults {
        let message = read(&problem_with_class_fields(text, "")).unwrap_err();
        let (place, fault) = message.split_once(": ").unwrap();
        assert!(place.starts_with("p.json:4:") && fault.starts_with(expected), "{message}");
    }
    for field in ["guarantee", "lend"] {
        let message =
            read(&problem_with_class_fields(&format!(r#"{{"new": {{"{field}": {{"gpu": 1}}}}}}"#), ""))
                .unwrap_err();
        let expected =
            format!("groups[0].on.new.{field}: a `{field}` on some server classes is not supported");
        assert!(message.contains(&expected) && message.contains("only `limit` is"), "{message}");
    }
}

#[test]
fn guarantees_beyond_class_limits_are_reported() {
    // There are 8 new GPUs and 8 old GPUs, so a limit of 2 on the new GPUs leaves 10.
    let warnings = |promised: u32| {
        let guarantee = format!(r#", "guarantee": {{"gpu": {promised}}}"#);
        let problem =
            read(&problem_with_class_fields(r#"{"new": {"limit": {"gpu": 2}}}"#, &guarantee)).unwrap();
        problem.warnings().iter().map(Warning::to_string).collect::<Vec<_>>()
    };
    assert!(warnings(10).is_empty());
    let expected = "group `a`: the guarantee of gpu is 11, but the group can use at most 10: its limit on new leaves no more";
    assert_eq!(warnings(11), [expected]);
}
