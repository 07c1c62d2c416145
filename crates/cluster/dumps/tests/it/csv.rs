//! Tests of the importer of three tables.

use evenhand_problem::Rational;
use evenhand_problem::snapshot::System;

use crate::common::{classes, exactly, import, refuses, users};

const SERVERS: &str = "server,count,cpu,memory\nbig,2,16,64Gi\nsmall,1,4,8Gi\n";
const TEAMS: &str = "team,parent,weight,guarantee cpu,limit cpu\nresearch,,2,8,\nvision,research,,,10\n";
const TASKS: &str = "task,team,server,count,gang,on,reason,cpu,memory\n\
    train,vision,big #1,2,,,,4,1Gi\nmore,vision,,3,,big,full,4,1Gi\nweb,product,small,1,,,,1,\n\"a, b\",product,,4,2,small|big,,1,\n";

#[test]
fn reads_a_spreadsheet() {
    let snapshot = exactly(System::Csv, &[("s", SERVERS), ("t", TEAMS), ("k", TASKS)]);
    let gib = |n: u64| n << 30;
    assert_eq!(classes(&snapshot), [format!("2 x big: 16 {}", gib(64)), format!("1 x small: 4 {}", gib(8))]);
    assert_eq!(
        users(&snapshot),
        [
            format!("vision/1: cpu 4, memory {}; 2 run, 0 wait; all", gib(1)),
            format!("vision/2: cpu 4, memory {}; 0 run, 3 wait; big", gib(1)),
            "product/1: cpu 1; 1 run, 0 wait; all".to_owned(),
            "product/2: cpu 1; 0 run, 4 wait; all, gang 2".to_owned(),
        ]
    );
    assert_eq!(snapshot.servers[0], ["big #0", "big #1"]);
    let groups = snapshot.problem.groups().list();
    assert_eq!((groups[0].name.as_str(), groups[0].weight.clone()), ("research", Rational::from(2)));
    assert_eq!(groups[1].limit, [(0, Rational::from(10))]);
    assert_eq!(snapshot.waiting[1].names, ["a, b #0", "a, b #1", "a, b #2", "a, b #3"]);
    // The table of teams may be missing.
    assert_eq!(exactly(System::Csv, &[("k", TASKS), ("s", SERVERS)]).problem.groups().list().len(), 2);
}

#[test]
fn errors_name_the_column() {
    let with = |file: usize, from: &str, to: &str, expected: &str| {
        let mut texts = [SERVERS, TEAMS, TASKS].map(str::to_owned);
        let changed = texts[file].replacen(from, to, 1);
        assert_ne!(changed, texts[file]);
        texts[file] = changed;
        refuses(System::Csv, &[("s", &texts[0]), ("t", &texts[1]), ("k", &texts[2])], expected);
    };
    with(0, "big,2,16", "big,2,8x", "s:2: cpu: `8x` is not a number");
    with(0, "big,2,16", "big,2,-8", "s:2: cpu: -8 is negative");
    with(0, "big,2", "big,0", "s:2: count: found `0`: expected a whole number from 1");
    with(
        0,
        "server,count",
        "servers,count",
        "s:1: found the header `servers,count,cpu,memory`: expected a table that begins",
    );
    with(
        0,
        "cpu,memory",
        "cpu,cpu",
        "s:1: the column `cpu` of the header `server,count,cpu,cpu` has no name or is named twice",
    );
    with(0, "small,1,4", "big,1,4", "s:3: server: `big` is given twice");
    with(0, "small,1,4,8Gi", "small,1,4", "s:3: found 3 columns: expected 4: server,count,cpu,memory");
    with(1, "limit cpu", "limits cpu", "t:1: the column `limits cpu` is not known");
    with(1, "research,,2", "research,,-2", "t:2: weight: expected a number of at least 0");
    with(1, "8,\n", "8,7\n", "t:2: guarantee cpu: the guarantee is above the limit");
    with(1, "vision,research", "research,", "t:3: team: `research` is given twice");
    with(2, "train,", ",", "k:2: task: expected a name");
    with(2, "full,4", "full,four", "k:3: cpu: `four` is not a number");
    with(2, "3,,big", "3,,bog", "no table of servers has a row `bog`");
    let servers = "no file has servers: add a table that begins with the column `server`";
    refuses(System::Csv, &[("k", TASKS)], servers);
    let tasks = "no file has tasks: add a table that begins with the column `task`";
    refuses(System::Csv, &[("s", SERVERS), ("t", TEAMS)], tasks);
    with(
        2,
        "train,",
        &format!("{},", "x".repeat(2000)),
        "k:2: task: a name of 2000 bytes: expected at most 1024",
    );
    refuses(System::Csv, &[("s", "")], "s: the file is empty: expected a table");
}

/// A waiting task may fit on a server, but not into the rounded capacity of the server's class.
#[test]
fn a_task_that_fits_only_before_rounding_is_kept() {
    let servers = "server,count,cpu\nn1,1,100\nn2,1,101\nn3,1,101\nn4,1,100.5\n";
    let tasks = |cpu: &str| format!("task,team,server,cpu\nbig,a,n1,100\nsmall,a,,1\nexact,b,,{cpu}\n");
    let read = |cpu: &str| import(System::Csv, &[("s", servers), ("k", &tasks(cpu))], "3/200").unwrap();
    let merged = read("100");
    assert_eq!(classes(&merged), ["4 x servers: 100"]);
    let rounded = &merged.rounded[0];
    let half = Rational::from((1, 2));
    assert_eq!(rounded.by_server, [(1, Rational::from(1)), (2, Rational::from(1)), (3, half)]);
    assert_eq!((rounded.most.to_string(), rounded.in_all.to_string()), ("1".to_owned(), "5/2".to_owned()));
    let merged = read("101");
    assert_eq!(classes(&merged), ["2 x servers-1: 100", "2 x servers-2: 101"]);
    assert_eq!(users(&merged)[2], "b/1: cpu 101; 0 run, 1 wait; servers-2");
    assert!(merged.not_modelled.is_empty(), "{:?}", merged.not_modelled);
    assert_eq!(merged.rounded[0].by_server, [(1, half_of(1))]);
}

fn half_of(x: u32) -> Rational {
    Rational::from((x, 2))
}
