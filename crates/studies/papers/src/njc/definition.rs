//! NJC, section 3: the definition, and the example in which serving the users one after the other fails.

use evenhand_exact::Axiom;
use evenhand_problem::number::to_f64;
use evenhand_problem::{Problem, Rational};

use super::optimum::alpha_fair;
use super::setting::{answers, complains, complaints, holds, is_fair, loads, pool, row, show, show_floats};
use super::surd::eisenberg_gale;
use crate::entry::Entry;
use crate::error::PaperError;

/// Returns the example with three users and three resources.
pub fn greedy() -> Result<Problem, PaperError> {
    pool(&["1/2 1/2 2/3", "1/2 5/8 1/2", "1 1 1/3"], "1/2 3/8 1/8")
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let problem = greedy()?;
    let all = answers(&problem)?;
    let fair = all.points.iter().map(|x| is_fair(&problem, x)).collect::<Result<Vec<bool>, _>>()?;
    Ok(vec![
        served_one_after_the_other(
            &problem,
            "njc.greedy.first-step",
            "1 2/3 0",
            "user 2 has a justified complaint",
            &[(0, false), (1, true)],
        )?,
        served_one_after_the_other(
            &problem,
            "njc.greedy.second-step",
            "3/4 1 0",
            "neither user 1 nor user 2 has a justified complaint",
            &[(0, false), (1, false)],
        )?,
        Entry {
            id: "njc.greedy.answers".to_owned(),
            source: "NJC, section 3, three users and three resources",
            paper: "an allocation without justified complaints exists".to_owned(),
            ours: format!("all: {}", segments(&all.polytopes)),
            agrees: Some(!fair.is_empty() && !fair.contains(&false)),
            note: "the paper computes none; enumerated, both ends judged by the exact crate".to_owned(),
        },
        eisenberg_gale_point(&problem)?,
    ])
}

/// Returns the entry which shows that exactly the `expected` users complain about a feasible
/// allocation.
fn served_one_after_the_other(
    problem: &Problem,
    id: &str,
    x: &str,
    paper: &str,
    expected: &[(usize, bool)],
) -> Result<Entry, PaperError> {
    let x = row(x)?;
    let feasible = holds(problem, &x, Axiom::Feasible)?;
    let complains = complains(problem, &x)?;
    Ok(Entry {
        id: id.to_owned(),
        source: "NJC, section 3, three users and three resources",
        paper: format!("at {} {paper}", show(&x)),
        ours: format!("at {}, loads {}: {}", show(&x), show(&loads(problem, &x)), complaints(problem, &x)?),
        agrees: Some(feasible && expected.iter().all(|&(user, complaint)| complains[user] == complaint)),
        note: String::new(),
    })
}

fn eisenberg_gale_point(problem: &Problem) -> Result<Entry, PaperError> {
    let source = "NJC, section 5.4, on the example of section 3: limit of the trajectory";
    let optimum = alpha_fair(problem, &Rational::from(1))?;
    let x: Vec<f64> = optimum.allocation.totals().iter().map(to_f64).collect();
    let (closed, pair) = eisenberg_gale(problem).ok_or("the optimum has no such closed form")?;
    let form: Vec<String> = closed.iter().map(ToString::to_string).collect();
    let values: Vec<f64> = closed.iter().map(|x| x.to_f64()).collect();
    let apart = x.iter().zip(&values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    if apart > 1e-6 {
        return Err(format!("the optimum {x:?} is not the closed form {values:?}").into());
    }
    Ok(Entry {
        id: "njc.greedy.eisenberg-gale".to_owned(),
        source,
        paper: String::new(),
        ours: format!(
            "{}: in floating point {}, which no allocation improves by more than {:.1e}",
            form.join(", "),
            show_floats(&x, 12),
            to_f64(&optimum.gap),
        ),
        agrees: None,
        note: format!(
            "The limit is irrational, so no exact rational answer equals it. Resources {} and {} are the \
             bottlenecks. The closed form satisfies all conditions of the optimum in exact arithmetic, and \
             is within {apart:.0e} of the floating-point answer.",
            pair[0] + 1,
            pair[1] + 1,
        ),
    })
}

/// Describes polytopes by their vertices.
pub fn segments(polytopes: &[Vec<Vec<Rational>>]) -> String {
    let of = |vertices: &Vec<Vec<Rational>>| {
        let points: Vec<String> = vertices.iter().map(|point| show(point)).collect();
        match points.as_slice() {
            [a] => format!("the point {a}"),
            [a, b] => format!("the segment from {a} to {b}"),
            _ => format!("the convex hull of {}", points.join(", ")),
        }
    };
    polytopes.iter().map(of).collect::<Vec<_>>().join("; ")
}
