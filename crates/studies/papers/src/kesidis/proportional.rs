//! Kesidis: proportional fairness by optimisations (5) and (15), on the example (19), (20).

use evenhand_problem::number::to_f64;
use evenhand_problem::{Problem, Rational};
use evenhand_report::text::decimal;

use super::example::example;
use crate::entry::{Entry, list};
use crate::error::PaperError;
use crate::instance::solve;
use crate::njc::optimum::{alpha_fair, certified_without_gap};

/// The largest total number of tasks in Table II, that of rPS-DSF.
const TABLE_2_BEST: u32 = 42;

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = Vec::new();
    entries.push(equal_priorities()?);
    for (priorities, name) in [(["1", "1"], "1-1"), (["2", "1"], "2-1"), (["10", "1"], "10-1")] {
        let problem = example(priorities)?;
        for (alpha, label) in [((1, 2), "half"), ((1, 1), "1"), ((2, 1), "2")] {
            entries.push(optimum(
                &problem,
                priorities,
                &Rational::from(alpha),
                &format!("{name}.a-{label}"),
            )?);
        }
    }
    entries.push(efficiency()?);
    Ok(entries)
}

/// Returns the entry which shows that for equal priorities the allocation with the most tasks is proportionally fair
/// for every exponent.
fn equal_priorities() -> Result<Entry, PaperError> {
    let problem = example(["1", "1"])?;
    let most = solve(&problem, "utilitarian")?;
    let placed: Vec<Rational> =
        [(0, 0), (0, 1), (1, 0), (1, 1)].iter().map(|&(n, i)| most.on(n, i)).collect();
    let total: Rational = placed.iter().sum();
    let mut without_gap = Vec::new();
    for alpha in 1..=4 {
        if certified_without_gap(&problem, &most, &Rational::from(alpha))? {
            without_gap.push(alpha.to_string());
        }
    }
    Ok(Entry {
        id: "kesidis.proportional.equal-priorities".to_owned(),
        source: "Kesidis, optimisation (15) on (19), (20), equal priorities",
        paper: String::new(),
        ours: format!(
            "x_n = {}, placed {}: {total} = {} tasks",
            list(&most.totals()),
            list(&placed),
            decimal(&total)
        ),
        agrees: None,
        note: format!(
            "The answer is exact: it has the most tasks, and it is also the optimum, with no gap, for a = \
             {}. Table II prints whole tasks by progressive filling, at best {TABLE_2_BEST} in total. The \
             paper does not solve (15).",
            without_gap.join(", ")
        ),
    })
}

fn optimum(
    problem: &Problem,
    [first, second]: [&str; 2],
    alpha: &Rational,
    id: &str,
) -> Result<Entry, PaperError> {
    let found = alpha_fair(problem, alpha)?;
    let totals: Vec<String> = found.allocation.totals().iter().map(|x| format!("{:.9}", to_f64(x))).collect();
    let placed: Vec<String> = [(0, 0), (0, 1), (1, 0), (1, 1)]
        .iter()
        .map(|&(n, i)| format!("{:.6}", to_f64(&found.allocation.on(n, i))))
        .collect();
    Ok(Entry {
        id: format!("kesidis.proportional.{id}"),
        source: "Kesidis, optimisation (15) on (19), (20)",
        paper: String::new(),
        ours: format!("x_n = {}, placed {}", totals.join(", "), placed.join(", ")),
        agrees: None,
        note: format!(
            "The priorities are {first}, {second}, and a = {alpha}. For these numbers it is proven that no \
             feasible y has sum phi_n (y_n - x_n)/x_n^a above {:.1e}, see (17). The paper prints no value to \
             compare with.",
            to_f64(&found.gap)
        ),
    })
}

/// Returns the entry which shows that proportional fairness need not maximise the weighted number of tasks.
fn efficiency() -> Result<Entry, PaperError> {
    let problem = example(["10", "1"])?;
    let weighted = |totals: &[Rational]| {
        let terms = totals.iter().zip(problem.users());
        terms.map(|(x, user)| Rational::from(x * user.weight())).sum::<Rational>()
    };
    let fair = weighted(&alpha_fair(&problem, &Rational::from(1))?.allocation.totals());
    let most = weighted(&solve(&problem, "utilitarian")?.totals());
    Ok(Entry {
        id: "kesidis.proportional.efficiency".to_owned(),
        source: "Kesidis, section III: (17) with a = 1 against (18)",
        paper: "x* does not necessarily maximise (18)".to_owned(),
        ours: format!("{} against {} with priorities 10, 1", decimal(&fair), decimal(&most)),
        agrees: Some(fair < most),
        note: "sum of phi_n x_n of the proportionally fair allocation, and the largest there is".to_owned(),
    })
}
