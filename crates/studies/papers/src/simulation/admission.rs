//! Reservation, Figures 3 and 4: DRA compared with the global greedy assignment and the optimum.

use evenhand_packing::greedy::Fluid;
use evenhand_packing::{MaxReward, configuration_lp, greedy};
use evenhand_problem::{JobSpec, PoolSpec, Rational, Reservation, ReservationSpec, number};
use evenhand_report::plot::{Axis, Bar, Bars, Group, LineStyle, Plot, Series};
use evenhand_simulate::reservation::{Admission, AdmissionScenario, Policy, admit, reserve};

use super::lyapunov::Lyapunov;
use super::percent;
use crate::entry::Entry;
use crate::error::PaperError;

/// The prefixes of the ids of the entries.
pub const STARTS: &[&str] = &[
    "simulation.reservation.figure-3",
    "simulation.reservation.figure-4",
    "simulation.reservation.theorem-6.1",
    "simulation.reservation.lyapunov",
    "simulation.reservation.static",
    "simulation.reservation.power-of-5",
];
/// The vCPU, GB and load of the types of section 7.1, at their worst loads (`reproduce reservation`).
const TYPES: [(&str, &str, &str); 4] =
    [("1", "1", "48/13"), ("4", "16", "18/13"), ("2", "32", "3"), ("32", "256", "2")];
/// The numbers of servers in Figures 3 and 4.
const SERVERS: [usize; 4] = [20, 50, 100, 200];
/// The numbers of servers with which the limit of many servers is tested.
const TO_THE_LIMIT: [usize; 4] = [100, 400, 1600, 6400];
/// The time at which the runs with [`TO_THE_LIMIT`] servers end, in mean running times.
const LIMIT_HORIZON: f64 = 30.0;
/// The factor by which a mean must fall when the number of servers grows from the smallest to the largest, which is 64
/// times as many. The bound falls by the factor 12.
const FALLS: f64 = 4.0;
const BOUND: &str = "It agrees if the mean falls to less than a quarter from the smallest number of servers \
    to the largest, and each mean is at most (g(L) + L^(1/2)) / L, which tends to 0. This bound is the sum \
    of the reserve and of the fluctuation of the number of jobs, as fractions of the servers";
/// The times at which the convergence is measured, in mean running times.
const TIMES: [usize; 5] = [1, 2, 5, 10, 30];
const HORIZON: f64 = 60.0;
/// The time from which on rewards are averaged, in mean running times.
const FROM: f64 = 20.0;
const SEED: u64 = 4;

/// Returns the problem. The reward of a type is 1 per vCPU plus 1/8 per GB.
fn problem() -> Result<Reservation, PaperError> {
    let resources = ["vcpu", "memory"].map(str::to_owned).to_vec();
    let named = |amounts: [Rational; 2]| resources.iter().cloned().zip(amounts).collect::<Vec<_>>();
    let mut jobs = Vec::new();
    for (cpu, memory, load) in TYPES {
        let [cpu, memory, load] = [number::parse(cpu)?, number::parse(memory)?, number::parse(load)?];
        jobs.push(JobSpec {
            name: format!("{cpu} vCPU {memory} GB"),
            reward: Some(&cpu + Rational::from(&memory / 8)),
            demand: named([cpu, memory]),
            load: Some(load),
        });
    }
    let capacity = named([Rational::from(80), Rational::from(640)]);
    let pools = vec![PoolSpec { name: "servers".to_owned(), count: None, capacity }];
    let spec = ReservationSpec { resources: resources.clone(), pools, jobs, ..ReservationSpec::default() };
    Ok(Reservation::new(spec)?)
}

/// Returns the problem with its global greedy assignment.
#[cfg(test)]
pub(super) fn example() -> Result<(Reservation, Fluid), PaperError> {
    let problem = problem()?;
    let (fluid, _) = targets(&problem)?;
    Ok((problem, fluid))
}

/// Returns the global greedy assignment, and the optimal reward per server.
fn targets(problem: &Reservation) -> Result<(Fluid, f64), PaperError> {
    let one = [Rational::from(1)];
    let mut best = MaxReward::new(problem);
    let fluid = greedy::fluid(&mut best, &problem.loads(), &one)?;
    let optimum = configuration_lp::solve(&best, &problem.loads(), &one)?.value.to_f64();
    Ok((fluid, optimum))
}

fn run(problem: &Reservation, servers: usize, policy: Policy) -> Result<Admission, PaperError> {
    Ok(admit(&AdmissionScenario::new(problem.clone(), servers, policy, (HORIZON, FROM, 1.0)), SEED, None)?)
}

fn dra(problem: &Reservation, servers: usize) -> Result<Admission, PaperError> {
    run(problem, servers, Policy::Dra { reserve: reserve(servers) })
}

/// Draws rewards and the optimum as fractions of the reward of the global greedy assignment.
fn plot(x: &str, points: Vec<(f64, f64)>, optimum: f64) -> Result<String, PaperError> {
    let ends: Vec<f64> = [points.first(), points.last()].into_iter().flatten().map(|(x, _)| *x).collect();
    let level = |name: &str, y: f64| {
        let points = ends.iter().map(|x| (*x, y)).collect();
        Series::new(name, points).without_marks(LineStyle::Dashed)
    };
    let plot = Plot {
        title: "Reward of DRA as a fraction of the global greedy reward".to_owned(),
        x: Axis::linear(x),
        y: Axis::linear("reward"),
        series: vec![Series::new("DRA", points), level("global greedy", 1.0), level("optimum", optimum)],
    };
    Ok(plot.to_svg()?)
}

/// Draws Figure 1: an example of the state at the end of CRA, soon after a start from empty servers.
pub fn state_of_cra() -> Result<String, PaperError> {
    /// The number of servers of the example, which is small enough to count them.
    const SERVERS: usize = 30;
    let policy = Policy::Dra { reserve: reserve(SERVERS) };
    let run = admit(&AdmissionScenario::new(problem()?, SERVERS, policy, (3.0, 0.0, 1.0)), SEED, None)?;
    let groups = run.classified.iter().enumerate().map(|(rank, of)| {
        let slots: Vec<String> = of.configuration.iter().map(u64::to_string).collect();
        let slots = slots.join(", ");
        let name = match of.wanted {
            0 => format!("not wanted: ({slots})"),
            _ => format!("rank {}: ({slots})", rank + 1),
        };
        let bar = |name: &str, heights: [usize; 3]| Bar {
            name: name.to_owned(),
            heights: heights.map(|servers| servers as f64).to_vec(),
        };
        let bars = vec![bar("GPA", [of.wanted, 0, 0]), bar("DRA", [0, of.accepting, of.rejecting])];
        Group { name, bars }
    });
    let bars = Bars {
        title: "The state at the end of CRA: servers by configuration (slots by type)".to_owned(),
        y: Axis::linear("servers"),
        parts: ["greedy placement", "Accept Group", "Reject Group"].map(str::to_owned).to_vec(),
        groups: groups.collect(),
    };
    Ok(bars.to_svg()?)
}

/// Draws Figure 3: the mean reward of DRA by the number of servers.
pub fn by_servers() -> Result<String, PaperError> {
    let problem = problem()?;
    let (fluid, optimum) = targets(&problem)?;
    let greedy = fluid.reward.to_f64();
    let point = |servers| Ok((servers as f64, dra(&problem, servers)?.reward / greedy));
    let points: Result<Vec<_>, PaperError> = SERVERS.into_iter().map(point).collect();
    plot("servers", points?, optimum / greedy)
}

/// Draws Figure 4: the reward of DRA over time.
pub fn over_time() -> Result<String, PaperError> {
    let problem = problem()?;
    let (fluid, optimum) = targets(&problem)?;
    let greedy = fluid.reward.to_f64();
    let course = dra(&problem, SERVERS[SERVERS.len() - 1])?;
    let points = course.series.iter().map(|(time, reward)| (*time, reward / greedy)).collect();
    plot("time (mean running times)", points, optimum / greedy)
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let problem = problem()?;
    let (fluid, optimum) = targets(&problem)?;
    let greedy = fluid.reward.to_f64();
    let (mut of_greedy, mut last) = (Vec::new(), None);
    for servers in SERVERS {
        let found = dra(&problem, servers)?;
        of_greedy.push((servers, found.reward / greedy));
        last = Some(found);
    }
    let last = last.ok_or("no run")?;
    let words: Vec<String> =
        of_greedy.iter().map(|(servers, part)| format!("{servers}: {}", percent(*part))).collect();
    let grows = of_greedy.windows(2).all(|pair| pair[1].1 > pair[0].1);
    // The value must equal the printed value, with a tolerance of one unit in the last digit.
    let is_as_printed = (last.reward / optimum - 0.86).abs() <= 0.01;
    let limit = to_the_limit(&problem)?;
    let largest = SERVERS[SERVERS.len() - 1];
    let by_choice = run(&problem, largest, Policy::PowerOfD { d: 5 })?;
    let fixed = run(&problem, largest, Policy::Static)?;
    let at = |time: &usize| last.series.get(*time).map_or(f64::NAN, |(_, reward)| reward / greedy);
    let course: Vec<String> = TIMES.iter().map(|time| format!("{time}: {}", percent(at(time)))).collect();
    Ok(vec![
        Entry {
            id: "simulation.reservation.figure-3".to_owned(),
            source: "Reservation, Figure 3: average reward of DRA by the number of servers",
            paper: "approaches the global greedy reward and 86 % of the optimum".to_owned(),
            ours: format!(
                "of the global greedy reward {}; at {largest} servers {} of the optimum",
                words.join(", "),
                percent(last.reward / optimum)
            ),
            agrees: Some(grows && is_as_printed),
            note: format!(
                "The types are those of section 7.1 at their worst loads, where greedy earns {} of the \
                 optimum. The text of the paper has lost the loads of the figure. The reserve is \
                 ceil(ln(L)^1.5). Each number is from one run and averaged from 20 to 60 mean running times.",
                percent(greedy / optimum)
            ),
        },
        Entry {
            id: "simulation.reservation.figure-4".to_owned(),
            source: "Reservation, Figure 4: reward of DRA over time, as a fraction of the global greedy \
             reward",
            paper: "converges".to_owned(),
            ours: format!("{largest} servers, at {}", course.join(", ")),
            agrees: None,
            note: "from empty servers; times in mean running times".to_owned(),
        },
        effective(&fluid, &limit),
        lyapunov(&problem, &fluid, &limit),
        Entry {
            id: "simulation.reservation.static".to_owned(),
            source: "Reservation, section 4: a static reservation by the configuration programme (3)",
            paper: String::new(),
            ours: format!(
                "{} of the optimum, {} of the global greedy reward on {largest} servers",
                percent(fixed.reward / optimum),
                percent(fixed.reward / greedy)
            ),
            agrees: None,
            note: "The static reservation knows the loads, and DRA does not. Its slots are in proportion to \
                   the optimum, and numbers of servers are rounded by largest remainders."
                .to_owned(),
        },
        Entry {
            id: "simulation.reservation.power-of-5".to_owned(),
            source: "Reservation, section 7.2: power of d choices, here with the arrivals of section 7.1",
            paper: String::new(),
            ours: format!(
                "{} of the global greedy reward on {largest} servers",
                percent(by_choice.reward / greedy)
            ),
            agrees: None,
            note: "the paper compares on a trace; d = 5".to_owned(),
        },
    ])
}

/// Returns the distance of the effective servers from the global greedy assignment: half the sum of the
/// differences, as a fraction of all servers.
fn distance(fluid: &Fluid, effective: &[(Vec<u64>, usize)], servers: usize) -> f64 {
    let mut apart: f64 = 0.0;
    for step in &fluid.steps {
        let there = effective.iter().filter(|(configuration, _)| *configuration == step.best.configuration);
        let part = there.map(|(_, servers)| *servers).sum::<usize>() as f64 / servers as f64;
        apart += (part - step.servers.to_f64()).abs();
    }
    let others = effective.iter().filter(|(configuration, _)| {
        fluid.steps.iter().all(|step| step.best.configuration != *configuration)
    });
    apart += others.map(|(_, servers)| *servers).sum::<usize>() as f64 / servers as f64;
    apart / 2.0
}

/// A value that should approach a limit as the number of servers grows. For each number of servers it has the mean of
/// the value from [`FROM`] to the end of the run.
struct Limit {
    words: String,
    /// True if every mean is within the bound for its number of servers, and the mean for the most servers is below the
    /// first mean divided by [`FALLS`].
    arrives: bool,
}

/// Returns the bound for `L` servers, which falls with `L`. The reserve moves a run away from the limit by
/// `g(L)` jobs of each type. The random numbers of jobs move it by about `L^(1/2)`. The bound is the sum of
/// both, as a fraction of the servers.
fn bound(servers: usize) -> f64 {
    (reserve(servers) as f64 + (servers as f64).sqrt()) / servers as f64
}

impl Limit {
    /// Computes the means of `value`. The bound is multiplied by `scale`.
    fn new(
        runs: &[(usize, Admission)],
        scale: f64,
        value: impl Fn(&[(Vec<u64>, usize)], usize) -> f64,
    ) -> Self {
        let mut words = Vec::new();
        let mut means = Vec::new();
        let mut arrives = true;
        for (servers, run) in runs {
            let late = run.effective.get(FROM as usize..).unwrap_or_default();
            let mean = late.iter().map(|there| value(there, *servers)).sum::<f64>() / late.len() as f64;
            // The mean of a run that is too short is NaN, which does not satisfy the bound.
            let bound = scale * bound(*servers);
            arrives &= mean <= bound;
            means.push(mean);
            words.push(format!("{servers}: {mean:.4} of at most {bound:.4}"));
        }
        arrives &= matches!(means.as_slice(), [few, .., many] if *many <= few / FALLS);
        Self { words: words.join(", "), arrives }
    }
}

/// Returns the runs that test the limit.
fn to_the_limit(problem: &Reservation) -> Result<Vec<(usize, Admission)>, PaperError> {
    let run_of = |servers| {
        let policy = Policy::Dra { reserve: reserve(servers) };
        let times = (LIMIT_HORIZON, FROM, 1.0);
        Ok((servers, admit(&AdmissionScenario::new(problem.clone(), servers, policy, times), SEED, None)?))
    };
    TO_THE_LIMIT.into_iter().map(run_of).collect()
}

fn effective(fluid: &Fluid, runs: &[(usize, Admission)]) -> Entry {
    let limit = Limit::new(runs, 1.0, |there, servers| distance(fluid, there, servers));
    Entry {
        id: "simulation.reservation.theorem-6.1".to_owned(),
        source: "Reservation, Theorem 6.1: effective servers (Definition 5.1) under DRA",
        paper: "tend to the global greedy assignment as the number of servers L grows".to_owned(),
        ours: format!("distance from it by L, {}", limit.words),
        agrees: Some(limit.arrives),
        note: format!(
            "This is half the sum of the differences, as a fraction of all servers. It is the mean from \
             {FROM} to {LIMIT_HORIZON} mean running times after a start with empty servers. {BOUND}"
        ),
    }
}

fn lyapunov(problem: &Reservation, fluid: &Fluid, runs: &[(usize, Admission)]) -> Entry {
    let function = Lyapunov::new(fluid, problem.loads().iter().map(|load| load.to_f64()).collect());
    let limit = Limit::new(runs, function.steepness(), |there, servers| {
        let part = |count: usize| count as f64 / servers as f64;
        function.lack(there.iter().map(|(slots, count)| (slots.as_slice(), part(*count))))
    });
    Entry {
        id: "simulation.reservation.lyapunov".to_owned(),
        source: "Reservation, section 6: the Lyapunov function (45) of the effective servers under DRA",
        paper: "tends to its maximum, that of the global greedy assignment".to_owned(),
        ours: format!("below its maximum, as a fraction of the maximum, by L: {}", limit.words),
        agrees: Some(limit.arrives),
        note: format!(
            "The text of the paper has lost the constants of (45) and (46). We use Z_i = (K + 2)^-(i-1), \
             where K is the largest number of slots of a configuration. For slots that no load fills we use \
             2 / k_j, where k_j is the smallest number of slots of the type in a configuration. With these \
             constants, too, only the global greedy assignment is a maximum. {BOUND}. For this function the \
             bound is multiplied by {:.1}, the most by which the function falls for such a fraction",
            function.steepness()
        ),
    }
}
