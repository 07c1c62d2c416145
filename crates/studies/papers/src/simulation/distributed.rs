//! PS-DSF, Figure 6: utilisation while user 4 is absent. PS-DSF runs by its distributed procedure. TSF and
//! DRFH are computed for comparison.

mod picture;

use evenhand_problem::{Allocation, Problem, Rational};
use evenhand_simulate::Duration;
use evenhand_simulate::distributed::{Absence, Network, State, follow};

pub use picture::figure_6;

use super::percent;
use crate::entry::Entry;
use crate::error::PaperError;
use crate::instance::solve;
use crate::ps_dsf::figure_5;

const HORIZON: f64 = 300.0;
/// The times in seconds between which user 4 is absent.
const AWAY: (f64, f64) = (100.0, 250.0);
/// The largest distance from the exact allocation that counts as converged, as a fraction of a user's solo
/// tasks.
const ARRIVED: f64 = 1e-3;

/// Returns the networks, each with its id, a description and its settings.
fn networks() -> [(&'static str, &'static str, Network); 5] {
    let network = Network::default();
    [
        ("paper", "every server once a second, reports at once", network),
        ("own-clocks", "servers on their own clocks", Network { random_phases: true, ..network }),
        (
            "delays",
            "own clocks, reports take 0 to 3 s",
            Network { random_phases: true, delay: Duration::Uniform(0.0, 3.0), ..network },
        ),
        (
            "small-steps",
            "the same, and a server goes a twentieth of the way each time",
            Network { random_phases: true, delay: Duration::Uniform(0.0, 3.0), step: 0.05, ..network },
        ),
        (
            "losses",
            "the same, and one report in five is lost",
            Network {
                random_phases: true,
                delay: Duration::Uniform(0.0, 3.0),
                loss: 0.2,
                step: 0.05,
                ..network
            },
        ),
    ]
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let problem = figure_5(&["2/15", "0.2"])?;
    let absence = Absence { user: 3, from: AWAY.0, to: AWAY.1 };
    let course = |network| follow(&problem, &[absence], network, (HORIZON, 1.0), 1, None);
    let (states, _) = course(Network::default())?;
    let at = |time: f64| states.iter().rfind(|state| state.time <= time);
    let ours = |time: f64, class: usize| at(time).map_or(f64::NAN, |state| state.utilisation[class][0]);
    let mut entries = Vec::new();
    for (class, name) in [(2, "class-c"), (3, "class-d")] {
        let mut words = vec![format!(
            "PS-DSF {} with user 4, {} without",
            percent(ours(95.0, class)),
            percent(ours(245.0, class))
        )];
        let mut least = true;
        for mechanism in ["tsf", "drfh"] {
            let with = cpu(&problem, &solve(&problem, mechanism)?, class);
            let (problem, allocation) = without_user_4(&problem, mechanism)?;
            let without = cpu(&problem, &allocation, class);
            least &= ours(95.0, class) >= with - 1e-9 && ours(245.0, class) >= without - 1e-9;
            words.push(format!("{mechanism} {} and {}", percent(with), percent(without)));
        }
        entries.push(Entry {
            id: format!("simulation.ps-dsf.figure-6.{name}"),
            source: "PS-DSF, section V, Figure 6: CPU utilisation of a class of servers",
            paper: "PS-DSF at least as high as TSF and C-DRFH".to_owned(),
            ours: words.join("; "),
            agrees: Some(least),
            note: "Table III determines the demands and class sizes. TSF and DRFH allow other placements \
                   too, which changes the utilisation of single classes."
                .to_owned(),
        });
    }
    for (id, what, network) in networks() {
        entries.push(convergence(id, what, &course(network)?.0));
    }
    Ok(entries)
}

/// Returns the CPU utilisation of a class.
fn cpu(problem: &Problem, allocation: &Allocation, class: usize) -> f64 {
    let server = &problem.servers()[class];
    let capacity = Rational::from(&server.capacity()[0] * server.count());
    let used: Rational =
        (0..problem.n_users()).map(|n| allocation.on(n, class) * &problem.demand(n, class)[0]).sum();
    if capacity > 0 { (used / capacity).to_f64() } else { 0.0 }
}

fn without_user_4(problem: &Problem, mechanism: &str) -> Result<(Problem, Allocation), PaperError> {
    let text = evenhand_problem::format::problem_to_json(problem);
    let mut document: serde_json::Value = serde_json::from_str(&text)?;
    if let Some(users) = document["users"].as_array_mut() {
        users.truncate(3);
    }
    let text = document.to_string();
    let problem = evenhand_problem::format::Source { name: "without user 4", text: &text }.problem()?;
    let allocation = solve(&problem, mechanism)?;
    Ok((problem, allocation))
}

/// Returns the entry on convergence. The entry states for each change the time after which the totals stay at
/// the exact allocation.
fn convergence(id: &str, what: &str, states: &[State]) -> Entry {
    let phases = [(0.0, AWAY.0), (AWAY.0, AWAY.1), (AWAY.1, HORIZON)];
    let words = phases.map(|(from, to)| {
        let mut phase = states.iter().filter(|state| state.time >= from && state.time < to);
        let late = phase.clone().rfind(|state| state.distance > ARRIVED).map(|state| state.time);
        let last = phase.next_back().map_or(f64::NAN, |state| state.distance);
        match late {
            None => "at once".to_owned(),
            Some(time) if time + 1.0 < to => format!("{:.0} s", time + 1.0 - from),
            Some(_) => format!("not there, {last:.1e} away in the end"),
        }
    });
    Entry {
        id: format!("simulation.ps-dsf.figure-6.convergence.{id}"),
        source: "PS-DSF, section V, Figure 6: time until the users' totals are the exact ones",
        paper: "promptly".to_owned(),
        ours: format!(
            "{} from empty servers, {} after user 4 has left, {} after it is back",
            words[0], words[1], words[2]
        ),
        agrees: None,
        note: format!("{what}; within {ARRIVED} of each user's solo tasks, from then on"),
    }
}
