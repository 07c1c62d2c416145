//! Reading of problem files: the accepted files, and the message of every fault.

use evenhand_problem::{Problem, Rational, format::Source};

const TWO_SERVERS: &str = r#"{
  "kind": "allocation-problem",
  "name": "two servers",
  "resources": ["cpu", "memory"],
  "servers": [ {"name": "high-memory", "count": 1, "capacity": {"cpu": 2, "memory": 12}},
               {"name": "high-cpu", "capacity": {"cpu": 12, "memory": 2}} ],
  "users":   [ {"name": "user 1", "weight": 1, "demand": {"cpu": "1/5", "memory": 1}},
               {"name": "user 2", "demand": {"cpu": 1, "memory": 0.2}, "tasks": 100,
                "servers": ["high-cpu"], "demand_on": {"high-cpu": {"cpu": 2, "memory": 0.4}}} ]
}"#;

fn read(text: &str) -> Result<Problem, String> {
    Source { name: "p.json", text }.problem().map_err(|error| error.to_string())
}

#[track_caller]
fn refuses(text: &str, expected: &str) {
    match read(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(message) => assert_eq!(message, expected),
    }
}

/// Returns a problem whose only user and only server are given as text.
fn problem_text(server: &str, user: &str) -> String {
    format!(
        "{{\"kind\":\"allocation-problem\",\"resources\":[\"cpu\",\"gpu\"],\n\"servers\":[{server}],\n\"users\":[{user}]}}"
    )
}

const POOL: &str = r#"{"name":"pool","capacity":{"cpu":4}}"#;
const USER: &str = r#"{"name":"a","demand":{"cpu":1}}"#;

#[test]
fn reads_the_example() {
    let problem = read(TWO_SERVERS).unwrap();
    assert_eq!(problem.name(), "two servers");
    assert_eq!(problem.demand(0, 1)[0], Rational::from((1, 5)));
    assert_eq!(problem.demand(1, 1)[1], Rational::from((2, 5)));
    assert_eq!(problem.users()[1].base_demand()[1], Rational::from((1, 5)));
    assert_eq!(problem.users()[1].servers(), Some(&[1][..]));
    assert_eq!(problem.users()[1].tasks(), Some(&Rational::from(100)));
}

#[test]
fn fields_may_come_in_any_order_and_keys_may_be_escaped() {
    let text = r#"{"users":[{"demand":{"c\u0070u":1},"name":"\u00e4"}],
        "servers":[{"capacity":{"cpu":1},"name":"s"}],"resources":["cpu"],"k\u0069nd":"allocation-problem"}"#;
    assert_eq!(read(text).unwrap().users()[0].name(), "ä");
}

#[test]
fn accepts_no_users_and_servers_without_capacity() {
    assert_eq!(read(&problem_text(POOL, "")).unwrap().n_users(), 0);
    let problem = read(&problem_text(r#"{"name":"pool","capacity":{}}"#, USER)).unwrap();
    assert_eq!(problem.warnings().len(), 1);
    let no_list = r#"{"kind":"allocation-problem","resources":["r"],"servers":[{"name":"s","capacity":{}}]}"#;
    assert_eq!(read(no_list).unwrap().n_users(), 0);
}

#[test]
fn a_time_shared_class_requires_no_capacity() {
    let rates = r#"{"name":"a","gamma":{"pool":"3/2"}}"#;
    assert!(read(&problem_text(r#"{"name":"pool"}"#, rates)).unwrap().servers()[0].is_time_shared());
    refuses(
        &problem_text(r#"{"name":"pool"}"#, USER),
        "p.json:2:12: servers[0]: the field `capacity` is missing",
    );
}

#[test]
fn refuses_text_that_is_not_json() {
    refuses("", "p.json:1:1: the file is empty: expected a JSON document");
    refuses(" \n\n", "p.json:3:1: the file is empty: expected a JSON document");
    refuses("\u{feff}{}", "p.json:1:1: found a byte order mark: expected UTF-8 text without one");
    refuses("{\n  \"kind\"", "p.json:2:9: the file ends inside an object: expected the rest of it");
    refuses(&TWO_SERVERS[..200], "p.json:6:18: the file ends inside a string: expected the rest of it");
    refuses("{} x", "p.json:1:4: this is not JSON: found `x`: expected the end of the file");
    refuses("{\"a\": NaN}", "p.json:1:7: this is not JSON: found `NaN`: expected a value");
    refuses("{\"a\": 1_000}", "p.json:1:8: this is not JSON: found `_000`: expected `,` or `}`");
    refuses("{\"ä\": +1}", "p.json:1:7: this is not JSON: found `+1`: expected a value");
    refuses("{\"a\": .5}", "p.json:1:7: this is not JSON: found `.5`: expected a value");
    refuses("{\"a\": 1.}", "p.json:1:9: this is not JSON: found `}`: invalid number");
    refuses("{\"a\": 3 / 7}", "p.json:1:9: this is not JSON: found `/`: expected `,` or `}`");
    refuses(
        "{\"a\": 1,}",
        "p.json:1:9: this is not JSON: found `}`: expected the name of a field in double quotes",
    );
    refuses(
        "{'a': 1}",
        "p.json:1:2: this is not JSON: found `'a'`: expected the name of a field in double quotes",
    );
}

#[test]
fn deep_nesting_is_refused_before_it_is_parsed() {
    refuses(&"[".repeat(1_000_000), "p.json:1:101: nested too deeply: expected at most 100 levels");
    refuses(&"{\"a\":".repeat(1_000_000), "p.json:1:501: nested too deeply: expected at most 100 levels");
    let text = format!("{}{}", "[".repeat(100), "]".repeat(100));
    refuses(&text, "p.json:1:1: found a list: expected an object");
}

#[test]
fn refuses_wrong_kinds_and_fields() {
    refuses("[]", "p.json:1:1: found a list: expected an object");
    refuses("{}", "p.json:1:1: the field `kind` is missing: expected \"kind\": \"allocation-problem\"");
    refuses(
        r#"{"kind": "allocation"}"#,
        "p.json:1:10: kind: this file is of the kind `allocation`: expected `allocation-problem`",
    );
    refuses(r#"{"kind": 3}"#, "p.json:1:10: kind: found a number: expected a string");
    refuses(
        r#"{"kind": "allocation-problem", "usres": []}"#,
        "p.json:1:32: usres: unknown field `usres` (did you mean `users`?): expected one of kind, name, resources, servers, groups, users, share",
    );
    refuses(r#"{"kind": "allocation-problem"}"#, "p.json:1:1: the field `resources` is missing");
    refuses(
        r#"{"kind": "allocation-problem", "kind": "allocation-problem"}"#,
        "p.json:1:32: kind: the field `kind` is given twice",
    );
}

#[test]
fn faults_of_servers_name_their_place() {
    let server = |server: &str, expected: &str| refuses(&problem_text(server, USER), expected);
    server("", "p.json:2:11: servers: expected at least one server class");
    server("7", "p.json:2:12: servers[0]: found a number: expected an object");
    server(r#"{"capacity":{}}"#, "p.json:2:12: servers[0]: the field `name` is missing");
    server(
        r#"{"name":"","capacity":{}}"#,
        "p.json:2:20: servers[0].name: a server needs a name that is not empty",
    );
    for (count, shown) in [("0", "0"), ("1.5", "3/2"), ("1e13", "10000000000000"), ("-1", "-1")] {
        server(
            &format!(r#"{{"name":"pool","count":{count},"capacity":{{}}}}"#),
            &format!(
                "p.json:2:35: servers[0].count: {shown} is not a count of servers: expected an integer from 1 to 10^12"
            ),
        );
    }
    server(
        r#"{"name":"pool","capacity":{"cpu":-4}}"#,
        "p.json:2:45: servers[0].capacity.cpu: -4 is negative: expected a number of at least 0",
    );
    server(
        r#"{"name":"pool","capacity":{"gups":4}}"#,
        "p.json:2:46: servers[0].capacity.gups: there is no resource `gups` (did you mean `gpu`?)",
    );
    server(&format!("{POOL},{POOL}"), "p.json:2:57: servers[1].name: the server `pool` is named twice");
}

#[test]
fn faults_of_users_name_their_place() {
    let user = |user: &str, expected: &str| refuses(&problem_text(POOL, user), expected);
    user(&format!("{USER},{USER}"), "p.json:3:50: users[1].name: the user `a` is named twice");
    user(
        r#"{"name":"a"}"#,
        "p.json:3:10: users[0].demand: user `a` demands nothing: expected at least one resource with a demand above 0",
    );
    user(
        r#"{"name":"a","demand":{"cpu":0}}"#,
        "p.json:3:31: users[0].demand: user `a` demands nothing: expected at least one resource with a demand above 0",
    );
    user(
        r#"{"name":"a","demand":{"cpu":1},"demand_on":{"pool":{"gpu":"0/3"}}}"#,
        "p.json:3:61: users[0].demand_on.pool: user `a` demands nothing: expected at least one resource with a demand above 0",
    );
    for (weight, shown) in [("0", "0"), ("-2", "-2")] {
        user(
            &format!(r#"{{"name":"a","demand":{{"cpu":1}},"weight":{weight}}}"#),
            &format!("p.json:3:50: users[0].weight: {shown} is not positive: expected a number above 0"),
        );
    }
    user(
        r#"{"name":"a","demand":{"cpu":1},"tasks":-1}"#,
        "p.json:3:49: users[0].tasks: -1 is negative: expected a number of at least 0",
    );
    user(
        r#"{"name":"a","demand":{"cpu":1},"servers":["pool","pol"]}"#,
        "p.json:3:59: users[0].servers[1]: there is no server `pol` (did you mean `pool`?)",
    );
    user(
        r#"{"name":"a","demand":{"cpu":1},"servers":["pool","pool"]}"#,
        "p.json:3:59: users[0].servers[1]: the server `pool` is named twice",
    );
    user(
        r#"{"name":"a","demand":{"cpu":1},"servers":[]}"#,
        "p.json:3:51: users[0].servers: user `a` may use no server class: expected at least one, or no `servers` at all",
    );
    for (field, value) in [("demand_on", r#"{"cpu":1}"#), ("gamma", "1"), ("criterion", "1")] {
        let text = format!(r#"{{"name":"a","demand":{{"cpu":1}},"{field}":{{"pol":{value}}}}}"#);
        let message = read(&problem_text(POOL, &text)).unwrap_err();
        assert!(
            message
                .ends_with(&format!("users[0].{field}.pol: there is no server `pol` (did you mean `pool`?)")),
            "{message}"
        );
    }
    user(
        r#"{"name":"a","demand":{"cpu":1},"gamma":{"pool":0}}"#,
        "p.json:3:57: users[0].gamma.pool: 0 is not positive: expected a number above 0",
    );
    user(
        r#"{"name":"a","demand":{"cpu":1,"c\u0070u":2}}"#,
        "p.json:3:40: users[0].demand.cpu: the field `cpu` is given twice",
    );
    user(
        r#"{"name":"\ud800","demand":{"cpu":1}}"#,
        "p.json:3:18: users[0].name: this string holds an escape that stands for no character",
    );
}

#[test]
fn faults_of_numbers_name_their_place() {
    let weight = |weight: &str, expected: &str| {
        let user = format!(r#"{{"name":"a","demand":{{"cpu":1}},"weight":{weight}}}"#);
        refuses(&problem_text(POOL, &user), &format!("p.json:3:50: users[0].weight: {expected}"));
    };
    let syntax = "is not a number: expected a decimal such as 0.25 or a quotient such as \"3/7\"";
    for text in
        ["1_000", "3 / 7", "+1", ".5", "1.", "NaN", "inf", "", " 1", "1/2/3", "1/-2", "0x10", "1e", "٣"]
    {
        weight(&format!("\"{text}\""), &format!("`{text}` {syntax}"));
    }
    weight("1e999999999", "the exponent of `1e999999999` is out of range: at most 400 in absolute value");
    weight("\"1/0\"", "`1/0` has a zero denominator: expected a denominator of at least 1");
    weight(&"9".repeat(1_000_000), "a number with 1000000 digits: at most 400 are accepted");
    weight("null", "found `null`: expected a number");
    weight("true", "found `true`: expected a number");
    weight("[1]", "found a list: expected a number");
}

#[test]
fn errors_have_the_span_of_the_offending_value() {
    let text = problem_text(POOL, r#"{"name":"a","demand":{"cpu":-17}}"#);
    let error = Source { name: "-", text: &text }.problem().unwrap_err();
    assert_eq!(&text[error.offset..error.offset + error.length], "-17");
    assert_eq!((error.file.as_str(), error.place.to_string().as_str()), ("-", "users[0].demand.cpu"));
}

/// Checks that users that state the same text are read as if each user were stated alone: both their values
/// and their errors.
#[test]
fn users_with_shared_text_are_read_as_if_stated_alone() {
    let servers = [POOL, r#"{"name":"other","capacity":{"cpu":4,"gpu":1}}"#].join(",");
    let first = r#"{"name":"a","demand":{"cpu":1},"servers":["pool"],"gamma":{"pool":"7/2"}}"#;
    // A value in another spelling is read again, although it is the same value.
    let apart = first.replace("\"cpu\":1", "\"cpu\":1.0");
    let alike =
        |rest: &str| format!(r#"{{"demand":{{"cpu":1}},"gamma":{{"pool":"7/2"}},"servers":["pool"]{rest}}}"#);
    let both = |rest: &str| {
        [first, &apart].map(|first| read(&problem_text(&servers, &[first, &alike(rest)].join(",\n"))))
    };
    let [found, expected] = both(r#","name":"b","weight":2,"tasks":"1/3""#).map(Result::unwrap);
    assert_eq!(found, expected);
    let user = &found.users()[1];
    assert_eq!((user.name(), user.weight().to_f64(), user.servers()), ("b", 2.0, Some(&[0][..])));
    assert_eq!(user.tasks(), Some(&Rational::from((1, 3))));
    assert_eq!(user.given_gamma(), [(0, Rational::from((7, 2)))]);
    for rest in [
        "",
        r#","name":"a""#,
        r#","name":"""#,
        r#","name":1"#,
        r#","name":"b","weight":0"#,
        r#","name":"b","weight":"1e""#,
        r#","name":"b","tasks":-1"#,
        r#","name":"b","tasks":1,"pinned":2"#,
        r#","name":"b","gang":"1/2""#,
        r#","name":"b","group":"none""#,
        r#","name":"b","colour":1"#,
        r#","name":"b","name":"c""#,
    ] {
        let [found, expected] = both(rest).map(Result::unwrap_err);
        assert_eq!(found, expected, "{rest}");
    }
}
