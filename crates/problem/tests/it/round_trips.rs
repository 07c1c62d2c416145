//! Written files are read back, and a problem has one hash however it is spelled.

use evenhand_problem::{
    Problem, ProblemSpec, Rational, ServerSpec, UserSpec,
    format::{Source, problem_sha256, problem_to_json},
    number,
};
use proptest::{
    collection::vec,
    option,
    prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest},
    sample::subsequence,
};

/// Generates a quantity, with one of its spellings.
fn spelled() -> impl Strategy<Value = (Rational, String)> {
    (0u32..5000, 0u32..4, 0u32..5).prop_map(|(digits, point, spelling)| {
        let value = Rational::from((digits, 10u32.pow(point)));
        let text = match spelling {
            0 => format!("\"{value}\""),
            1 => format!("{digits}e-{point}"),
            2 => format!("\"{digits}0E-{}\"", point + 1),
            3 => format!("\"{}/{}\"", digits * 3, 3 * 10u32.pow(point)),
            _ => {
                let width = point as usize + 1;
                let padded = format!("{digits:0width$}");
                let (whole, fraction) = padded.split_at(padded.len() - point as usize);
                if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}0") }
            }
        };
        (value, text)
    })
}

fn positive() -> impl Strategy<Value = (Rational, String)> {
    spelled().prop_filter("positive", |(value, _)| !value.is_zero())
}

fn names(prefix: &'static str, most: usize) -> impl Strategy<Value = Vec<String>> {
    vec(prop_oneof![Just(""), Just(" \"x\" "), Just("/ä\\")], 1..=most).prop_map(move |suffixes| {
        suffixes.iter().enumerate().map(|(i, suffix)| format!("{prefix}{i}{suffix}")).collect()
    })
}

type Stated = (ProblemSpec, String);

fn quote(name: &str) -> String {
    serde_json::to_string(name).unwrap()
}

fn entries(names: &[String], values: &[(Rational, String)]) -> (Vec<(String, Rational)>, String) {
    let spec = names.iter().cloned().zip(values.iter().map(|(value, _)| value.clone())).collect();
    let text: Vec<String> =
        names.iter().zip(values).map(|(name, (_, text))| format!("{}: {text}", quote(name))).collect();
    (spec, format!("{{{}}}", text.join(", ")))
}

fn server(resources: Vec<String>, name: String) -> impl Strategy<Value = (ServerSpec, String)> {
    let count = option::of(1u64..=1_000_000_000_000);
    (count, vec(spelled(), resources.len())).prop_map(move |(count, values)| {
        let (capacity, capacity_text) = entries(&resources, &values);
        let count_text = count.map_or(String::new(), |count| format!(", \"count\": {count}.0"));
        let text = format!("{{\"name\": {}{count_text}, \"capacity\": {capacity_text}}}", quote(&name));
        (ServerSpec { name: name.clone(), count: count.map(Rational::from), capacity }, text)
    })
}

fn user(
    resources: Vec<String>,
    servers: Vec<String>,
    name: String,
) -> impl Strategy<Value = (UserSpec, String)> {
    let some = subsequence(servers.clone(), 1..=servers.len());
    let rates = (0..=servers.len()).prop_flat_map(|n| vec(positive(), n));
    let demand = (positive(), vec(spelled(), resources.len() - 1));
    let demand_on = subsequence(servers.clone(), 0..=servers.len())
        .prop_flat_map(move |list| (vec(positive(), list.len()), Just(list)));
    (option::of(positive()), option::of(spelled()), option::of(some), rates.clone(), rates, demand, demand_on)
        .prop_map(move |(weight, tasks, some, gamma, criterion, (first, rest), (on_values, on_servers))| {
            let values: Vec<_> = std::iter::once(first).chain(rest).collect();
            let (demand, demand_text) = entries(&resources, &values);
            let mut spec = UserSpec { name: name.clone(), demand, ..UserSpec::default() };
            let mut text = format!("{{\"name\": {}, \"demand\": {demand_text}", quote(&name));
            if let Some((value, spelling)) = weight {
                text += &format!(", \"weight\": {spelling}");
                spec.weight = Some(value);
            }
            if let Some((value, spelling)) = tasks {
                text += &format!(", \"tasks\": {spelling}");
                spec.tasks = Some(value);
            }
            if let Some(list) = some {
                let quoted: Vec<String> = list.iter().map(|name| quote(name)).collect();
                text += &format!(", \"servers\": [{}]", quoted.join(","));
                spec.servers = Some(list);
            }
            let (gamma, gamma_text) = entries(&servers[..gamma.len()], &gamma);
            let (criterion, criterion_text) = entries(&servers[..criterion.len()], &criterion);
            text += &format!(", \"gamma\": {gamma_text}, \"criterion\": {criterion_text}, \"demand_on\": {{");
            for (position, (server, value)) in on_servers.iter().zip(&on_values).enumerate() {
                let comma = if position > 0 { ", " } else { "" };
                text += &format!("{comma}{}: {{{}: {}}}", quote(server), quote(&resources[0]), value.1);
                let entry = vec![(resources[0].clone(), value.0.clone())];
                spec.demand_on.push((server.clone(), entry));
            }
            text += "}}";
            spec.gamma = gamma;
            spec.criterion = criterion;
            (spec, text)
        })
}

fn stated() -> impl Strategy<Value = Stated> {
    (names("r", 3), names("s", 3), names("u", 3), any::<bool>()).prop_flat_map(
        |(resources, servers, users, titled)| {
            let each_server: Vec<_> =
                servers.iter().map(|name| server(resources.clone(), name.clone())).collect();
            let each_user: Vec<_> = users
                .iter()
                .map(|name| user(resources.clone(), servers.clone(), name.clone()))
                .collect();
            (Just(resources), each_server, each_user).prop_map(move |(resources, servers, users)| {
                let title = if titled { "a\ttitle" } else { "" };
                let quoted: Vec<String> = resources.iter().map(|name| quote(name)).collect();
                let text = |list: Vec<String>| list.join(",\n");
                let (servers, server_text): (Vec<_>, Vec<_>) = servers.into_iter().unzip();
                let (users, user_text): (Vec<_>, Vec<_>) = users.into_iter().unzip();
                let text = format!(
                    "{{\"users\": [{}], \"servers\": [{}], \"resources\": [{}], \"name\": {}, \"kind\": \"allocation-problem\"}}",
                    text(user_text),
                    text(server_text),
                    quoted.join(", "),
                    quote(title),
                );
                (ProblemSpec { name: title.to_owned(), resources, servers, users }, text)
            })
        },
    )
}

proptest! {
    #[test]
    fn problems_survive_writing_and_reading((spec, text) in stated()) {
        let problem = Problem::new(spec).unwrap();
        let spelled = Source { name: "spelled", text: &text }.problem().unwrap();
        prop_assert_eq!(&problem, &spelled);
        let canonical = problem_to_json(&problem);
        let again = Source { name: "canonical", text: &canonical }.problem().unwrap();
        prop_assert_eq!(&problem, &again);
        prop_assert_eq!(problem_to_json(&again), canonical);
        prop_assert_eq!(problem_sha256(&problem), problem_sha256(&spelled));
    }

    #[test]
    fn a_damaged_file_is_an_error_or_a_problem((_, text) in stated(), at in any::<usize>(), byte in 0u8..128, cut: bool) {
        let mut damaged = text.clone().into_bytes();
        let at = at % damaged.len();
        if cut { damaged.truncate(at) } else { damaged[at] = byte }
        if let Ok(damaged) = String::from_utf8(damaged)
            && let Err(error) = (Source { name: "damaged", text: &damaged }).problem()
        {
                prop_assert!(error.offset + error.length <= damaged.len());
                prop_assert!(damaged.get(error.offset..error.offset + error.length).is_some());
                prop_assert!(!error.to_string().contains('\n'));
        }
    }

    #[test]
    fn floats_survive_conversion(bits: u64) {
        let value = f64::from_bits(bits);
        match number::from_f64(value) {
            None => prop_assert!(!value.is_finite()),
            Some(exact) => prop_assert_eq!(number::to_f64(&exact), value),
        }
    }

    #[test]
    fn the_nearest_float_agrees_with_the_standard_library(digits in "[0-9]{1,30}", exponent in -340i32..310) {
        let text = format!("{digits}e{exponent}");
        prop_assert_eq!(number::to_f64(&number::parse(&text).unwrap()), text.parse::<f64>().unwrap());
    }
}

/// Checks that the hash is computed once for a problem, and again for a problem that differs.
#[test]
fn a_changed_problem_has_another_hash() {
    let text = r#"{"kind": "allocation-problem", "resources": ["cpu"],
        "servers": [{"name": "pool", "capacity": {"cpu": 2}}],
        "users": [{"name": "u", "tasks": 3, "demand": {"cpu": 1}}]}"#;
    let problem = Source { name: "p.json", text }.problem().unwrap();
    let hash = problem_sha256(&problem);
    let again = |problem: &Problem| {
        let written = problem_to_json(problem);
        problem_sha256(&Source { name: "p.json", text: &written }.problem().unwrap())
    };
    assert_eq!(problem_sha256(&problem.clone()), hash);
    for changed in [
        problem.with_more(0, 0, &Rational::from(1)),
        problem.with_weights(vec![Rational::from(2)]),
        problem.without_tasks_of(&[0]),
    ] {
        assert_ne!(problem_sha256(&changed), hash);
        assert_eq!(problem_sha256(&changed), again(&changed));
    }
}
