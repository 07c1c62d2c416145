//! Kesidis, section II: the definition of max-min fairness, Proposition 1, and optimisation (5) compared with
//! optimisation (15).

use evenhand_mechanisms::alpha::{self, Settings};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational, Sharing, number::to_f64};

use super::example::{example, problem_of};
use crate::entry::{Entry, list};
use crate::error::PaperError;
use crate::instance::{TableUser, solve};
use crate::njc::optimum::alpha_fair;
use crate::ps_dsf::random::Law;

/// The number of random problems on which the definition is compared with lexicographic max-min.
const PROBLEMS: usize = 400;
/// A server counts as booked if the unused fraction of its fullest resource is at most this number. The
/// number is not 0, because answers of (5) may be irrational.
const UNBOOKED: f64 = 1e-6;
/// The largest gain over a solution that rounding may cause, as a fraction of the objective of the solution.
const ROUNDING: f64 = 1e-6;

/// Two ways in which Definition 1 can be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// The definition as printed: if a server has a booked resource, no user with tasks there has a higher level than
    /// another user with tasks there.
    Printed,
    /// The property that Appendix A proves for (5): every server has a booked resource, and no user with tasks on a
    /// server has a higher level than another user that may run there.
    Proven,
}

/// Returns `true` if the levels `U_n` of an allocation are max-min fair by Definition 1.
fn is_fair(problem: &Problem, x: &Allocation, levels: &[Rational], reading: Reading) -> bool {
    (0..problem.n_servers()).all(|i| {
        if (0..problem.n_resources()).all(|r| left(problem, x, i, r) > 0) {
            return reading == Reading::Printed;
        }
        let counts = |m: usize| match reading {
            Reading::Printed => x.on(m, i) > 0,
            Reading::Proven => problem.can_run(m, i),
        };
        let least = (0..levels.len()).filter(|m| counts(*m)).map(|m| &levels[m]).min();
        (0..levels.len()).all(|n| x.on(n, i) == 0 || least.is_none_or(|least| levels[n] <= *least))
    })
}

/// Returns the unused amount of a resource on all servers of a class.
fn left(problem: &Problem, x: &Allocation, i: usize, r: usize) -> Rational {
    let used: Rational = (0..problem.n_users()).map(|n| x.on(n, i) * &problem.demand(n, i)[r]).sum();
    &problem.servers()[i].capacity()[r] * Rational::from(problem.servers()[i].count()) - used
}

/// Returns `U_n` if all `u_ni` are 1: the tasks divided by the weight.
fn by_weight(problem: &Problem, x: &Allocation) -> Vec<Rational> {
    x.totals().into_iter().zip(problem.users()).map(|(x, user)| x / user.weight()).collect()
}

/// Returns `U_n` by (9): the global dominant share divided by the weight.
fn dominant(problem: &Problem, x: &Allocation) -> Vec<Rational> {
    let share = |n| evenhand_problem::utilisation::dominant_share(problem, x, n);
    problem.users().iter().enumerate().map(|(n, user)| share(n) / user.weight()).collect()
}

/// Returns an allocation from the tasks by user and class.
fn placed(tasks: &[&[u32]]) -> Allocation {
    let mut x = Allocation::empty(tasks.len(), Sharing::Rdm);
    for (n, on) in tasks.iter().enumerate() {
        let on = on.iter().enumerate().filter(|(_, tasks)| **tasks > 0);
        x.tasks[n] = on.map(|(i, tasks)| (i, Rational::from(*tasks))).collect();
    }
    x
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    Ok(vec![
        nothing_at_all()?,
        every_server_booked()?,
        lexicographic()?,
        fully_booked()?,
        not_unique()?,
        under_14()?,
        without_14()?,
        beside_15()?,
    ])
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

/// Returns the entry which shows that Definition 1 requires nothing of an allocation if no server is booked.
fn nothing_at_all() -> Result<Entry, PaperError> {
    let problem = example(["1", "1"])?;
    let nothing = Allocation::empty(2, Sharing::Rdm);
    let fair = is_fair(&problem, &nothing, &dominant(&problem, &nothing), Reading::Printed);
    let best = solve(&problem, "drfh")?.totals();
    Ok(Entry {
        id: "kesidis.definition-1.nothing".to_owned(),
        source: "Kesidis, Definition 1 with (9), on (19), (20)",
        paper: "allocations that satisfy it are max-min fair".to_owned(),
        ours: format!("x = 0 satisfies it: {}; max-min gives {} tasks", yes(fair), list(&best)),
        agrees: Some(!fair || best == nothing.totals()),
        note:
            "The printed definition covers only servers with a fully booked resource, and users with tasks \
               on these servers. It does not define lexicographic max-min fairness, which the mechanism \
               `generic` computes."
                .to_owned(),
    })
}

/// Returns the entry which shows that even the stronger reading does not imply lexicographic max-min.
fn every_server_booked() -> Result<Entry, PaperError> {
    let problem = crate::drfh::two_servers()?;
    let apart = solve(&problem, "per-server-drf")?;
    let best = solve(&problem, "drfh")?;
    let levels = dominant(&problem, &apart);
    let fair = is_fair(&problem, &apart, &levels, Reading::Printed)
        && is_fair(&problem, &apart, &levels, Reading::Proven);
    Ok(Entry {
        id: "kesidis.definition-1.booked".to_owned(),
        source: "Kesidis, Definition 1 with (9), on DRFH, Figure 1",
        paper: "allocations that satisfy it are max-min fair".to_owned(),
        ours: format!(
            "{} tasks satisfy it with every server fully booked: {}; max-min gives {}",
            list(&apart.totals()),
            yes(fair),
            list(&best.totals())
        ),
        agrees: Some(!fair || apart.totals() == best.totals()),
        note: "Every server uses DRF by itself (DRFH, Figure 2). On every server, all users that may run \
               there have the same level, but both users could have more."
            .to_owned(),
    })
}

/// Draws `count` random problems, and returns those to which the definition applies. In these problems all
/// demands are positive, and on every server some user can run tasks.
fn of_the_definition(seed: u64, count: usize) -> Result<Vec<Problem>, PaperError> {
    let mut problems = Law { seed, one_bottleneck: false }.problems(count)?;
    let demands_all = |problem: &Problem| {
        problem.users().iter().all(|user| user.base_demand().iter().all(|demand| !demand.is_zero()))
    };
    let serves = |problem: &Problem, i: usize| (0..problem.n_users()).any(|n| problem.can_run(n, i));
    problems.retain(|problem| demands_all(problem) && (0..problem.n_servers()).all(|i| serves(problem, i)));
    Ok(problems)
}

/// Returns the entry which shows that lexicographic max-min satisfies the definition.
fn lexicographic() -> Result<Entry, PaperError> {
    let problems = of_the_definition(31, PROBLEMS)?;
    let mut fair = 0;
    for problem in &problems {
        let x = solve(problem, "drfh")?;
        let levels = dominant(problem, &x);
        let is_so = |reading| is_fair(problem, &x, &levels, reading);
        fair += usize::from(is_so(Reading::Printed) && is_so(Reading::Proven));
    }
    Ok(Entry {
        id: "kesidis.definition-1.max-min".to_owned(),
        source: "Kesidis, Definition 1 with (9): what lexicographic max-min fairness gives",
        paper: "is max-min fair".to_owned(),
        ours: format!("satisfies it in {fair} of {} random problems, in both readings", problems.len()),
        agrees: Some(fair == problems.len() && problems.len() > 20),
        note: "exact, all demands positive. The converse fails: see the entries before".to_owned(),
    })
}

/// Returns the entry on the first part of Proposition 1.
fn fully_booked() -> Result<Entry, PaperError> {
    let problems = of_the_definition(32, PROBLEMS / 4)?;
    let half = Rational::from((1, 2));
    let (mut booked, mut most_left) = (0, 0.0_f64);
    for problem in &problems {
        let x = alpha_fair(problem, &half)?.allocation;
        let unbooked = |i: usize| {
            let capacity = problem.servers()[i].capacity();
            let parts =
                (0..problem.n_resources()).map(|r| to_f64(&left(problem, &x, i, r)) / to_f64(&capacity[r]));
            parts.fold(f64::INFINITY, f64::min)
        };
        let most = (0..problem.n_servers()).map(unbooked).fold(0.0, f64::max);
        booked += usize::from(most <= UNBOOKED);
        most_left = most_left.max(most);
    }
    Ok(Entry {
        id: "kesidis.proposition-1.booked".to_owned(),
        source: "Kesidis, Proposition 1: a solution of (5) books a resource of every server",
        paper: "holds".to_owned(),
        ours: format!(
            "holds in {booked} of {} random problems; at most {most_left:.0e} of the fullest resource of a \
             server is left",
            problems.len()
        ),
        agrees: Some(booked == problems.len() && problems.len() > 5),
        note: "g(U) = 2 U^(1/2), u = 1, and all demands are positive. The solutions have a proven gap, \
               because they may be irrational."
            .to_owned(),
    })
}

/// Returns the entry on the second part of Proposition 1, which states uniqueness.
fn not_unique() -> Result<Entry, PaperError> {
    let equal = [TableUser::new(&["1"]), TableUser::new(&["1"])];
    let problem = problem_of(&[(1, &["2"]), (1, &["2"])], &equal)?;
    let candidates: [(&str, &[&[u32]]); 4] = [
        ("nothing", &[&[0, 0], &[0, 0]]),
        ("all to user 1", &[&[2, 2], &[0, 0]]),
        ("a server each", &[&[2, 0], &[0, 2]]),
        ("half of each server", &[&[1, 1], &[1, 1]]),
    ];
    let (mut printed, mut proven) = (Vec::new(), Vec::new());
    for (name, tasks) in candidates {
        let x = placed(tasks);
        let levels = by_weight(&problem, &x);
        for (reading, found) in [(Reading::Printed, &mut printed), (Reading::Proven, &mut proven)] {
            if is_fair(&problem, &x, &levels, reading) {
                found.push(name);
            }
        }
    }
    Ok(Entry {
        id: "kesidis.proposition-1.unique".to_owned(),
        source: "Kesidis, Proposition 1: with (14) there is a unique max-min fair solution",
        paper: "unique".to_owned(),
        ours: format!(
            "fair by Definition 1: {}; also in the reading that Appendix A proves: {}",
            printed.join(", "),
            proven.join(", ")
        ),
        agrees: Some(printed.len() == 1 && proven.len() == 1),
        note: "Two equal users share two servers with room for 2 tasks each, which satisfies (14). In the \
               reading of the proof, the levels U_n are unique, but the placement is not: (5) is strictly \
               concave in U, but not in x."
            .to_owned(),
    })
}

/// Returns the problem with one server of 20 units, and users with these weights and demands.
fn one_server(weights: [&str; 2], demands: [&str; 2]) -> Result<Problem, PaperError> {
    let demands = demands.map(|demand| [demand]);
    let users = [0, 1].map(|n| TableUser { weight: weights[n], ..TableUser::new(&demands[n]) });
    problem_of(&[(1, &["20"])], &users)
}

/// Solves (5) with `g(U) = 2 U^(1/2)` on one server of 20 units, for users with these priorities and demands.
fn solution_of_5(priorities: [&str; 2], demands: [&str; 2]) -> Result<(Problem, Allocation), PaperError> {
    let problem = one_server(priorities, demands)?;
    let settings = Settings {
        arithmetic: Arithmetic::Exact,
        alpha: Rational::from((1, 2)),
        criterion: false,
        per_weight: true,
    };
    let allocation = alpha::allocate(&problem, &settings)?.allocation;
    Ok((problem, allocation))
}

/// Returns the entry on Proposition 1: a solution of (5) is max-min fair if (14) holds.
fn under_14() -> Result<Entry, PaperError> {
    let (problem, x) = solution_of_5(["1", "4"], ["1", "1"])?;
    let levels = by_weight(&problem, &x);
    Ok(Entry {
        id: "kesidis.proposition-1.with-14".to_owned(),
        source: "Kesidis, Proposition 1: a solution of (5) is max-min fair where (14) holds",
        paper: "holds".to_owned(),
        ours: format!("{} tasks, U = {}", list(&x.totals()), list(&levels)),
        agrees: Some(is_fair(&problem, &x, &levels, Reading::Proven) && levels[0] == levels[1]),
        note: "one server of 20, two users with the demand 1 and priorities 1 and 4, g(U) = 2 U^(1/2)"
            .to_owned(),
    })
}

/// Returns the entry on a solution of (5) that is not max-min fair, because (14) does not hold.
fn without_14() -> Result<Entry, PaperError> {
    let (problem, x) = solution_of_5(["1", "1"], ["1", "4"])?;
    let levels = by_weight(&problem, &x);
    Ok(Entry {
        id: "kesidis.proposition-1.without-14".to_owned(),
        source: "Kesidis, Proposition 1: a solution of (5) where (14) does not hold",
        paper: "(14) is assumed".to_owned(),
        ours: format!(
            "{} tasks: fair by Definition 1: {}; equal tasks would be 4, 4",
            list(&x.totals()),
            yes(is_fair(&problem, &x, &levels, Reading::Printed))
        ),
        agrees: Some(!is_fair(&problem, &x, &levels, Reading::Printed)),
        note: "one server of 20, demands 1 and 4, u = 1, g(U) = 2 U^(1/2); (5) gives the larger user fewer \
               tasks so that the smaller user gets more"
            .to_owned(),
    })
}

/// Returns the largest first-order gain over `x` that any allocation on the server of 20 units has, as a fraction of
/// the first-order value of `x`.
///
/// This is the largest `sum c_n (y_n - x_n) / sum c_n x_n` over all feasible `y`, where `c_n` is the derivative of
/// the objective by `x_n`.
fn gain(priorities: [u32; 2], x: &[f64], derivative: impl Fn(f64, f64) -> f64) -> Result<f64, PaperError> {
    let slopes: Vec<f64> = priorities.iter().zip(x).map(|(phi, x)| derivative(f64::from(*phi), *x)).collect();
    // The largest gain is a linear programme. It is solved in exact numbers, with the derivatives as decimals.
    let texts: Vec<String> = slopes.iter().map(|slope| format!("{slope:.12}")).collect();
    let best = solve(&one_server([&texts[0], &texts[1]], ["1", "1"])?, "utilitarian")?.totals();
    let worth = |x: &[f64]| slopes.iter().zip(x).map(|(c, x)| c * x).sum::<f64>();
    let best: Vec<f64> = best.iter().map(to_f64).collect();
    Ok(worth(&best) / worth(x) - 1.0)
}

/// Returns the entry which shows that (5) divides by the priority within `g`, while (15) does not divide by
/// it.
fn beside_15() -> Result<Entry, PaperError> {
    const PRIORITIES: [u32; 2] = [4, 1];
    let (_, x) = solution_of_5(["4", "1"], ["1", "1"])?;
    let of_5 = x.totals();
    let of_15 =
        alpha_fair(&one_server(["4", "1"], ["1", "1"])?, &Rational::from((1, 2)))?.allocation.totals();
    let [x_5, x_15] = [&of_5, &of_15].map(|x| x.iter().map(to_f64).collect::<Vec<f64>>());
    // The derivatives of phi g(x / phi) and of phi g(x), with g(X) = 2 X^(1/2).
    let by_5 = |phi: f64, x: f64| (x / phi).powf(-0.5);
    let by_15 = |phi: f64, x: f64| phi * x.powf(-0.5);
    let own = gain(PRIORITIES, &x_5, by_5)?.max(gain(PRIORITIES, &x_15, by_15)?);
    let crossed = gain(PRIORITIES, &x_15, by_5)?.min(gain(PRIORITIES, &x_5, by_15)?);
    Ok(Entry {
        id: "kesidis.equation-5".to_owned(),
        source: "Kesidis, (5) with U_n = x_n / phi_n next to (15)",
        paper: "(15) does not divide by phi_n in the argument of g".to_owned(),
        ours: format!("(5): x_n = {}; (15): x_n = {}", list(&of_5), list(&of_15)),
        agrees: Some(own <= ROUNDING && crossed > 1000.0 * ROUNDING),
        note: format!(
            "There is one server of 20 and two users with the demand 1 and priorities 4 and 1, and a = 1/2. \
             Since phi g_a(x / phi) = phi^a g_a(x), (5) is (15) with each priority raised to the power of a. \
             The same is true for a = 1. `alpha --per-weight` solves (5). An exact linear programme bounds \
             first-order gains over each answer. In the answer's own objective no allocation gains more than \
             {own:.0e} of the answer's value. In the other objective some allocation gains at least \
             {crossed:.2} of it."
        ),
    })
}
