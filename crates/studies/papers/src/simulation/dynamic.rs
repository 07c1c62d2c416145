//! DRFH, Figure 4: three users arrive and leave on 100 servers drawn from Table I.

use evenhand_certify::{Request, certify};
use evenhand_exact::{Axiom, Share};
use evenhand_mechanisms::filling::{Policy, Rule, ServerRule, Statistic};
use evenhand_mechanisms::registry;
use evenhand_problem::{Arithmetic, Problem, ProblemSpec, Rational};
use evenhand_report::plot::{Axis, Figure, LineStyle, Plot, Series};
use evenhand_simulate::{Arrivals, Duration, Job, Queues, Scenario, SeriesOfRun, run, series};

use super::{percent, resources, table_1, user};
use crate::entry::Entry;
use crate::error::PaperError;

/// The number of random draws of servers that are simulated.
const DRAWS: usize = 20;
/// The number of seeds that are tried in the search for draws with the paper's totals.
const SEEDS: u64 = 20_000;
/// The total CPU and memory of the paper's pool.
const POOL: [f64; 2] = [52.75, 51.32];
/// The largest difference between the total of a drawn pool and the total of the paper's pool. No 100 servers
/// of Table I have exactly the paper's totals, because the amounts in the table are rounded.
const NEAR: f64 = 0.5;
/// The mean running time in seconds. The figure does not state this time. With this mean, shares settle well
/// within the phases.
const MEAN: f64 = 20.0;
/// The number of tasks of a user. A user cannot run all of them before it leaves.
const TASKS: u64 = 1_000_000;

/// The values that are read from the figure: id, time, and printed value.
const READINGS: [(&str, f64, &str); 3] =
    [("alone", 195.0, "0.62"), ("two-users", 495.0, "0.44"), ("three-users", 1075.0, "0.26")];

fn scenario(server: ServerRule, duration: Duration) -> Result<Scenario, PaperError> {
    let comes = |at: f64, leaves: Option<f64>| Arrivals {
        jobs: vec![Job { at, tasks: TASKS, duration }],
        poisson: None,
        leaves,
    };
    Ok(Scenario {
        usage: None,
        has_history: false,
        name: "DRFH, Figure 4".to_owned(),
        resources: resources(),
        servers: table_1()?,
        draw_servers: Some(100),
        machines: None,
        notes: Vec::new(),
        policy: Policy::Fill(Rule { server, ..Rule::default() }),
        users: vec![
            user("user 1", &["0.2", "0.3"])?,
            user("user 2", &["0.5", "0.1"])?,
            user("user 3", &["0.1", "0.3"])?,
        ],
        arrivals: vec![comes(0.0, Some(1080.0)), comes(200.0, None), comes(500.0, None)],
        queues: Queues::default(),
        trace: None,
        horizon: Some(1300.0),
        every: Some(5.0),
    })
}

/// Returns seeds with which the totals of the drawn pool are close to the paper's totals.
fn seeds(scenario: &Scenario) -> Result<Vec<u64>, PaperError> {
    let mut seeds = Vec::new();
    for seed in 0..SEEDS {
        let problem = scenario.problem(seed)?;
        let total = problem.total_capacity();
        if total.iter().zip(POOL).all(|(total, of_paper)| (total.to_f64() - of_paper).abs() <= NEAR) {
            seeds.push(seed);
        }
        if seeds.len() == DRAWS {
            break;
        }
    }
    if seeds.len() < DRAWS {
        return Err("too few draws are near the pool of the paper".into());
    }
    Ok(seeds)
}

/// Returns the series of the runs with these seeds.
fn courses(scenario: &Scenario, seeds: &[u64]) -> Result<Vec<SeriesOfRun>, PaperError> {
    let simulated = run(scenario, seeds, &|_, _| {})?;
    Ok(simulated.runs.iter().map(|(problem, run)| series(problem, run)).collect())
}

/// Draws the first of the runs: utilisation, and the dominant shares of the three users.
pub fn picture() -> Result<String, PaperError> {
    let scenario = scenario(ServerRule::BestFit, Duration::Exponential(MEAN))?;
    let courses = courses(&scenario, &seeds(&scenario)?[..1])?;
    let course = courses.first().ok_or("there is no run")?;
    let over_time = |values: &[f64]| course.times.iter().copied().zip(values.iter().copied()).collect();
    let line =
        |name: String, values: &[f64]| Series::new(name, over_time(values)).without_marks(LineStyle::Solid);
    let used = resources().into_iter().zip(&course.utilisation).map(|(name, used)| line(name, used));
    let shares = course.shares.iter().enumerate().map(|(n, share)| line(format!("user {}", n + 1), share));
    let plot = |y: &str, series: Vec<Series>| Plot {
        title: String::new(),
        x: Axis::linear("time (s)"),
        y: Axis::linear(y).with_range(0.0, 1.0),
        series,
    };
    let figure = Figure {
        title: "Three users on 100 servers: one of the draws".to_owned(),
        plots: vec![plot("utilisation", used.collect()), plot("global dominant share", shares.collect())],
        columns: 2,
    };
    Ok(figure.to_svg()?)
}

/// Returns the mean, the smallest and the largest value over the runs at one time.
fn over(
    courses: &[SeriesOfRun],
    value: impl Fn(&SeriesOfRun, usize) -> f64,
    time: f64,
) -> Result<(f64, f64, f64), PaperError> {
    let mut statistic = Statistic::default();
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for course in courses {
        let at = course.times.iter().position(|t| *t >= time);
        let value = value(course, at.ok_or("a series ends too early")?);
        statistic.add(value);
        (least, most) = (least.min(value), most.max(value));
    }
    Ok((statistic.mean, least, most))
}

/// Returns the entry on the share of three users under other rules and other running times. The draws of
/// servers are the same.
fn otherwise(seeds: &[u64]) -> Result<Entry, PaperError> {
    let (_, time, printed) = READINGS[2];
    let mut words = Vec::new();
    for (name, server, duration) in [
        ("first fit", ServerRule::FirstFit, Duration::Exponential(MEAN)),
        ("servers in random order", ServerRule::Rrr, Duration::Exponential(MEAN)),
        ("all tasks run 20 s", ServerRule::BestFit, Duration::Constant(MEAN)),
        ("200 s on the mean", ServerRule::BestFit, Duration::Exponential(10.0 * MEAN)),
    ] {
        let courses = courses(&scenario(server, duration)?, seeds)?;
        let shares: Result<Vec<f64>, PaperError> =
            (0..3).map(|n| Ok(over(&courses, |course, at| course.shares[n][at], time)?.0)).collect();
        let shares: Vec<String> = shares?.into_iter().map(|share| format!("{share:.3}")).collect();
        words.push(format!("{name}: {}", shares.join(", ")));
    }
    Ok(Entry {
        id: "simulation.drfh.figure-4.three-users.otherwise".to_owned(),
        source: "DRFH, section VI, Figure 4: the share of three users by other rules and running times",
        paper: printed.to_owned(),
        ours: words.join("; "),
        agrees: None,
        note: "The values are means over the same draws. No other rule, no other running times (the text \
               states none) and no draw gives a share as small as the printed value. The reason for the \
               printed value is not known. A server of 0.5 and 0.5 holds one task of any user, so shares \
               depend on the drawn server shapes."
            .to_owned(),
    })
}

/// Returns the entries on the largest least share that any scheduler of whole tasks can reach on the drawn servers.
fn ceilings(scenario: &Scenario, seeds: &[u64]) -> Result<Vec<Entry>, PaperError> {
    let mechanism = registry::find("packings").ok_or("there is no mechanism packings")?;
    let mut entries = Vec::new();
    for (users, (id, _, printed)) in READINGS.into_iter().enumerate() {
        let mut statistic = Statistic::default();
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut proven = 0;
        for seed in seeds {
            let mut spec = ProblemSpec::from(&scenario.problem(*seed)?);
            spec.users.truncate(users + 1);
            let problem = Problem::new(spec)?;
            let allocation = mechanism.allocate(&problem, Arithmetic::Exact)?.allocation;
            let request = Request::of(Axiom::MaxMinPackings);
            let examined = certify(&problem, &allocation, &[request], &Rational::new())?;
            let claims = &examined.certificate.claims;
            proven += usize::from(claims.iter().any(|claim| claim.holds == Some(true)));
            let shares = Share::Dominant.coefficients(&problem)?;
            let levels = allocation.totals().into_iter().enumerate();
            let levels = levels.filter_map(|(n, x)| Some(x * shares.uniform(n)?));
            let value = levels.min().ok_or("there is no user")?.to_f64();
            statistic.add(value);
            (least, most) = (least.min(value), most.max(value));
        }
        entries.push(Entry {
            id: format!("simulation.drfh.figure-4.{id}.ceiling"),
            source: "DRFH, section VI, Figure 4: the largest least share that whole tasks can reach",
            paper: printed.to_owned(),
            ours: format!("{:.3} ({least:.3} to {most:.3})", statistic.mean),
            agrees: None,
            note: format!(
                "No scheduler of whole tasks gives every user a larger average share over time. {proven} of \
                 {} draws have a certificate of max-min-packings.",
                seeds.len()
            ),
        });
    }
    Ok(entries)
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let scenario = scenario(ServerRule::BestFit, Duration::Exponential(MEAN))?;
    let seeds = seeds(&scenario)?;
    let courses = courses(&scenario, &seeds)?;
    let mut entries = Vec::new();
    let cpu = over(&courses, |course, at| course.utilisation[0][at], 195.0)?;
    entries.push(Entry {
        id: "simulation.drfh.figure-4.alone.cpu".to_owned(),
        source: "DRFH, section VI, Figure 4: user 1 alone, CPU",
        paper: "0.40".to_owned(),
        ours: format!("{:.3} ({:.3} to {:.3})", cpu.0, cpu.1, cpu.2),
        agrees: Some(cpu.1 <= 0.405 && cpu.2 >= 0.395),
        note: note(courses.len()),
    });
    for (users, (id, time, printed)) in READINGS.into_iter().enumerate() {
        let mut words = Vec::new();
        let mut agrees = true;
        for n in 0..=users {
            let (mean, least, most) = over(&courses, |course, at| course.shares[n][at], time)?;
            words.push(format!("{mean:.3} ({least:.3} to {most:.3})"));
            let value: f64 = printed.parse()?;
            agrees &= least <= value + 0.005 && most >= value - 0.005;
        }
        entries.push(Entry {
            id: format!("simulation.drfh.figure-4.{id}"),
            source: "DRFH, section VI, Figure 4: global dominant shares of the users that are there",
            paper: printed.to_owned(),
            ours: words.join(", "),
            agrees: Some(agrees),
            note: match agrees {
                true => note(courses.len()),
                false => format!("{}. The reason for the printed value is not known", note(courses.len())),
            },
        });
    }
    entries.extend(ceilings(&scenario, &seeds)?);
    entries.push(otherwise(&seeds)?);
    let after = |n: usize| Ok(percent(over(&courses, |course, at| course.shares[n][at], 1295.0)?.0));
    let after: Vec<String> = (1..3).map(after).collect::<Result<_, PaperError>>()?;
    entries.push(Entry {
        id: "simulation.drfh.figure-4.after-user-1".to_owned(),
        source: "DRFH, section VI, Figure 4: users 2 and 3 once user 1 has left at 1080 s",
        paper: String::new(),
        ours: after.join(", "),
        agrees: None,
        note: "the same share on both, says the text, without a number".to_owned(),
    });
    Ok(entries)
}

fn note(draws: usize) -> String {
    format!(
        "The value is the mean (smallest to largest) over {draws} draws of 100 servers within {NEAR} of \
         52.75 CPU units and of 51.32 memory units. It agrees if the printed value is in this range. The \
         text does not state running times; here they are exponential with mean {MEAN} s."
    )
}
