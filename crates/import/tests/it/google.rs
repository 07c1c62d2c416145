//! The importer of the Google trace.

use std::{io::Cursor, time::Instant};

use evenhand_import::{GoogleOptions, GoogleUsers, Import, ImportError, Input, Note, google};
use evenhand_problem::Rational;

const TABLE: &str = "platform,cpu,memory,count\nA,0.5,0.25,3\nB,1,0.5,2\nC,,,4\nA,0.50,0.25,1\n";
const TASKS: &str = "0,,7,0,1,0,ann,2,9,0.1,0.2,0,0\n\
    0,,7,0,1,1,ann,2,9,0.1,0.2,0,0\n\
    0,2,7,1,1,1,ann,2,9,0.2,0.20,0.3,1\n\
    0,,8,0,1,0,bob,2,9,0,0.1,0,0\n\
    0,,8,1,,0,bob,2,9,0,0.1,0,0\n\
    5,,8,0,1,1,bob,2,9,0,0.1,0,0\n\
    6,,7,0,1,4,ann,2,9,0.1,0.2,0,0\n\
    7,,9,0,1,1,cid,2,9,,,,\n\
    8,,9,1,1,1,dee,2,9,0,0,,\n";

fn input(name: &str, text: &str) -> Input {
    Input::new(name, Cursor::new(text.to_owned().into_bytes())).unwrap()
}

fn import(machines: &str, tasks: &str, time: u64, users: GoogleUsers) -> Result<Import, ImportError> {
    google(input("machines", machines), vec![input("tasks", tasks)], GoogleOptions { time, users })
}

/// Returns the name, tasks and demand of every user.
fn users(import: &Import) -> Vec<(&str, u32, Vec<Rational>)> {
    let users = import.problem.users().iter();
    users
        .map(|u| (u.name(), u.tasks().unwrap().numer().to_u32().unwrap(), u.base_demand().to_vec()))
        .collect()
}

#[test]
fn imports_the_state_at_time_zero() {
    let import = import(TABLE, TASKS, 0, GoogleUsers::ByUser).unwrap();
    let classes: Vec<_> = import.problem.servers().iter().map(|s| (s.name(), s.count())).collect();
    assert_eq!(classes, [("A-cpu0.5-mem0.25", 4), ("B-cpu1-mem0.5", 2)]);
    let demand = [Rational::from((3, 20)), Rational::from((1, 5))];
    assert_eq!(users(&import), [("user-0001", 2, demand.to_vec())]);
    assert_eq!(import.originals, [("user-0001".to_owned(), "ann".to_owned())]);
    assert_eq!(
        import.notes,
        [
            Note::MachinesWithoutCapacity(4),
            Note::DifferentMachines(1),
            Note::DiskRequest(1),
            Note::Waiting(2),
            Note::Reconstructed(1),
            Note::ColumnsNotModelled { columns: "scheduling class, priority".to_owned(), rows: 2 },
        ],
    );
}

#[test]
fn imports_a_later_state() {
    let import = import(TABLE, TASKS, 8, GoogleUsers::ByUser).unwrap();
    let ann = [Rational::from((1, 5)), Rational::from((1, 5))];
    let bob = [Rational::new(), Rational::from((1, 10))];
    assert_eq!(users(&import), [("user-0001", 1, ann.to_vec()), ("user-0002", 1, bob.to_vec())]);
    for note in [
        Note::NothingRequested(1),
        Note::NoCpuRequest(2),
        Note::UserDemandsNothing { user: "user-0003".to_owned(), tasks: 1 },
        Note::UserDemandsNothing { user: "user-0004".to_owned(), tasks: 1 },
    ] {
        assert!(import.notes.contains(&note), "{note} is not in {:?}", import.notes);
    }
}

#[test]
fn groups_users_by_request_shape() {
    let import = import(TABLE, TASKS, 5, GoogleUsers::ByShape).unwrap();
    let names: Vec<_> = users(&import).into_iter().map(|(name, tasks, _)| (name, tasks)).collect();
    assert_eq!(names, [("cpu0.1-mem0.2", 1), ("cpu0.2-mem0.2", 1), ("cpu0-mem0.1", 1)]);
}

#[test]
fn reads_machines_from_events() {
    let events = "0,1,0,hash x,0.5,0.25\n0,2,0,hash y,1,1\n0,3,0,hash x,0.5,0.25\n0,4,0,hash x,,\n\
        10,1,2,hash x,0.5,0.5\n20,2,1,hash y,1,1\n30,2,0,hash y,1,1\n";
    let at = |time| {
        let import = import(events, TASKS, time, GoogleUsers::ByUser).unwrap();
        let servers = import.problem.servers().iter();
        let servers: Vec<_> = servers.map(|s| (s.name().to_owned(), s.count())).collect();
        (servers, import.notes[1].clone(), import.originals[0].clone())
    };
    let named = |list: &[(&str, u64)]| -> Vec<(String, u64)> {
        list.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    let (servers, note, original) = at(0);
    assert_eq!(servers, named(&[("A-cpu0.5-mem0.25", 2), ("B-cpu1-mem1", 1)]));
    assert_eq!(note, Note::LaterMachineEvents(3));
    assert_eq!(original, ("platform A".to_owned(), "hash x".to_owned()));
    assert_eq!(at(20).0, named(&[("A-cpu0.5-mem0.5", 1), ("A-cpu0.5-mem0.25", 1)]));
    assert_eq!(at(30).0.len(), 3);
}

#[test]
fn refuses_malformed_files() {
    let refuses = |machines: &str, tasks: &str, expected: &str| {
        let error = import(machines, tasks, 0, GoogleUsers::ByUser).unwrap_err();
        assert_eq!(error.to_string(), expected);
    };
    refuses(
        "",
        TASKS,
        "machines:1: the file is empty: expected a table `platform,cpu,memory,count` or machine events",
    );
    refuses(TABLE, "", "tasks:1: the file is empty: expected task events (13 columns)");
    refuses(
        TASKS,
        TASKS,
        "machines:1: found 13 columns: expected a table with the header `platform,cpu,memory,count`, or machine events (6 columns)",
    );
    refuses(TABLE, TABLE, "tasks:1: found 4 columns: expected 13");
    let header = "platform,cpu,memory,count\n";
    refuses(header, TASKS, "no allocation problem can be made of this: expected at least one server class");
    for (row, message) in [
        ("A,0.5,0.25", "found 3 columns: expected 4"),
        ("A,0.5,-1,2", "memory capacity: found `-1`: expected a decimal of at least 0, or nothing"),
        ("A,1/2,1,2", "CPU capacity: found `1/2`: expected a decimal of at least 0, or nothing"),
        ("A,1,1,1.5", "count: found `1.5`: expected a whole number"),
    ] {
        refuses(&format!("{header}A,1,1,1\n{row}\n"), TASKS, &format!("machines:3: {message}"));
    }
    let too_many = format!("{header}A,1,1,{0}\nA,1,1,{0}\n", u64::MAX);
    assert!(import(&too_many, TASKS, 0, GoogleUsers::ByUser).is_err());
    for (row, message) in [
        ("1,1,3,A,1,1", "event type: found `3`: expected 0 (add), 1 (remove) or 2 (update)"),
        ("1,x,0,A,1,1", "machine ID: found `x`: expected a whole number"),
        ("0,1,0,A,1,1", "time goes back from 1 to 0"),
    ] {
        refuses(&format!("1,9,0,A,1,1\n{row}\n"), TASKS, &format!("machines:2: {message}"));
    }
    for (row, message) in [
        ("9,,8,0,1,9,bob,2,9,0,0.1,0,0", "event type: found `9`: expected 0 to 8"),
        (
            "9,,8,0,1,1,bob,2,9,NaN,0.1,0,0",
            "CPU request: found `NaN`: expected a decimal of at least 0, or nothing",
        ),
        (
            "9,,8,0,1,1,bob,2,9,0,0.1,0,2",
            "different-machines restriction: found `2`: expected 0, 1 or nothing",
        ),
        ("9,,8,,1,1,bob,2,9,0,0.1,0,0", "task index: found ``: expected a whole number"),
        ("7,,8,0,1,1,bob,2,9,0,0.1,0,0", "time goes back from 8 to 7"),
        ("9,,8,0,1,1,bob,2", "found 8 columns: expected 13"),
    ] {
        refuses(TABLE, &format!("{TASKS}{row}\n"), &format!("tasks:10: {message}"));
    }
}

#[test]
fn imports_the_real_files() {
    let Some(folder) = evenhand_testkit::data::data("google2011") else { return };
    let open = |name: &str| Input::open(&folder.join(name)).unwrap();
    let import = |machines: &str, time, users| {
        let tasks = vec![open("task_events.part-00000-of-00500.csv.gz")];
        google(open(machines), tasks, GoogleOptions { time, users }).unwrap()
    };
    let tasks =
        |import: &Import| -> Rational { import.problem.users().iter().filter_map(|u| u.tasks()).sum() };
    let start = Instant::now();
    let by_user = import("machine_configs_t0.csv", 0, GoogleUsers::ByUser);
    println!("{:?}\n{:#?}", start.elapsed(), by_user.notes);
    assert_eq!(by_user.problem.n_users(), 507);
    assert_eq!(by_user.problem.n_single_servers(), 12_477);
    assert_eq!(tasks(&by_user), 132_982);
    let by_shape = import("machine_events.part-00000-of-00001.csv.gz", 0, GoogleUsers::ByShape);
    println!("{} shapes\n{:#?}", by_shape.problem.n_users(), by_shape.notes);
    assert_eq!(by_shape.problem.n_single_servers(), 12_477);
    assert_eq!(tasks(&by_shape), 132_980);
    assert_eq!(by_shape.problem.n_users(), 1_415);
    let nothing = Note::UserDemandsNothing { user: "cpu0-mem0".to_owned(), tasks: 2 };
    assert!(by_shape.notes.contains(&nothing));
    let capacities = |import: &Import| {
        let classes = import.problem.servers().iter();
        let mut classes: Vec<_> = classes.map(|s| (s.count(), s.capacity().to_vec())).collect();
        classes.sort();
        classes
    };
    assert_eq!(capacities(&by_user), capacities(&by_shape));
    let later = import("machine_events.part-00000-of-00001.csv.gz", 3_600_000_000, GoogleUsers::ByUser);
    println!("{} users\n{:#?}", later.problem.n_users(), later.notes);
    let all = import("machine_configs_all_trace.csv", 0, GoogleUsers::ByUser);
    assert!(all.notes.contains(&Note::MachinesWithoutCapacity(32)));
}
