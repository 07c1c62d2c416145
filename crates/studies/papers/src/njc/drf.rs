//! NJC, section 4: comparison with dominant resource fairness.

use evenhand_mechanisms::registry;
use evenhand_problem::utilisation::{by_resource, dominant_share};
use evenhand_problem::{Allocation, Arithmetic, Problem, Rational};

use super::definition::segments;
use super::setting::{answers, complaints, granted, loads, pool, pool_of, row, show};
use crate::entry::{Entry, list};
use crate::error::PaperError;
use crate::instance::solve;

/// Returns the example of Figure 2, with three users and two resources.
pub fn figure_2() -> Result<Problem, PaperError> {
    pool(&["1 1/5", "1 1/5", "2/5 4/5"], "1/3 1/3 1/3")
}

/// Returns an example with one resource. The first user requests less of it than its entitlement.
pub fn satiated() -> Result<Problem, PaperError> {
    pool(&["1/10", "1", "1"], "1/3 1/3 1/3")
}

/// Returns the counterexample about utilisation, with `middle` resources that only user 2 requests.
pub fn middle_resources(middle: usize) -> Result<Problem, PaperError> {
    let zero = vec![Rational::new(); middle];
    let one = vec![Rational::from(1); middle];
    let half = Rational::from((1, 2));
    let user_1 = [vec![half.clone()], zero, vec![Rational::from(1)]].concat();
    let user_2 = [vec![Rational::from(1)], one, vec![Rational::new()]].concat();
    pool_of(&[user_1, user_2], &[half.clone(), half])
}

pub fn entries() -> Result<Vec<Entry>, PaperError> {
    let mut entries = vec![percentages()?];
    entries.extend(figure_2_entries()?);
    entries.push(same_dominant_resource()?);
    entries.extend(utilisation()?);
    Ok(entries)
}

/// Returns the entry on the asset share and the dominant share of a user with these amounts of three resources.
fn percentages() -> Result<Entry, PaperError> {
    let problem = pool(&["20/100 7/100 37/100"], "1")?;
    let all = granted(&[Rational::from(1)]);
    let found = [mean(&problem, &all), dominant_share(&problem, &all, 0)];
    Ok(Entry {
        id: "njc.asset-and-dominant-share".to_owned(),
        source: "NJC, section 4: 20 %, 7 % and 37 % of three resources, by asset and by dominant share",
        paper: "64/300, 37/100".to_owned(),
        ours: list(&found),
        agrees: Some(found.as_slice() == row("64/300 37/100")?),
        note: String::new(),
    })
}

/// Returns the amount of each resource that each user gets.
fn amounts(problem: &Problem, x: &[Rational]) -> Vec<Vec<Rational>> {
    let of =
        |(n, x): (usize, &Rational)| problem.demand(n, 0).iter().map(|d| Rational::from(d * x)).collect();
    x.iter().enumerate().map(of).collect()
}

fn show_amounts(amounts: &[Vec<Rational>]) -> String {
    amounts.iter().map(|a| show(a)).collect::<Vec<_>>().join(", ")
}

fn figure_2_entries() -> Result<Vec<Entry>, PaperError> {
    let problem = figure_2()?;
    let all = answers(&problem)?;
    let drf = solve(&problem, "drf")?.totals();
    let entry = |id: &str, source, printed: [&str; 3], x: &[Rational], note: &str| {
        let printed = printed.iter().map(|a| row(a)).collect::<Result<Vec<_>, _>>()?;
        let found = amounts(&problem, x);
        Ok::<_, PaperError>(Entry {
            id: id.to_owned(),
            source,
            paper: show_amounts(&printed),
            ours: show_amounts(&found),
            agrees: Some(found == printed),
            note: note.to_owned(),
        })
    };
    let njc = all.only().ok_or("figure 2 has several answers")?;
    let mean_njc = mean(&problem, &granted(njc));
    let mean_drf = mean(&problem, &granted(&drf));
    Ok(vec![
        entry(
            "njc.figure-2.njc",
            "NJC, section 4 and Figure 2: no justified complaints, amounts by user",
            ["1/3 2/30", "1/3 2/30", "1/3 2/3"],
            njc,
            &format!("fractions of the requests {}; the only answer, by enumeration", show(njc)),
        )?,
        entry(
            "njc.figure-2.drf",
            "NJC, section 4 and Figure 2: DRF, amounts by user",
            ["0.4 0.08", "0.4 0.08", "0.2 0.4"],
            &drf,
            &format!("fractions of the requests {}; {}", show(&drf), complaints(&problem, &drf)?),
        )?,
        Entry {
            id: "njc.figure-2.utilisation".to_owned(),
            source: "NJC, section 4: utilisation on Figure 2",
            paper: "higher without complaints than with DRF".to_owned(),
            ours: format!("mean utilisation {mean_njc} without complaints, {mean_drf} with DRF"),
            agrees: Some(mean_njc > mean_drf),
            note: String::new(),
        },
    ])
}

fn same_dominant_resource() -> Result<Entry, PaperError> {
    let problem = satiated()?;
    let drf = solve(&problem, "drf")?.totals();
    let all = answers(&problem)?;
    Ok(Entry {
        id: "njc.same-dominant-resource.drf".to_owned(),
        source: "NJC, section 4: one common dominant resource makes DRF and NJC equal",
        paper: format!("DRF, {}, is the only answer", show(&drf)),
        ours: segments(&all.polytopes),
        agrees: Some(all.only() == Some(drf.as_slice())),
        note: "There is one resource, the requests are 1/10, 1, 1, and the entitlements are equal. User 1 \
               requests less than its entitlement. The other users may share the rest in any way that gives \
               each of them at least a third of the resource."
            .to_owned(),
    })
}

fn mean(problem: &Problem, allocation: &Allocation) -> Rational {
    let used = by_resource(problem, allocation);
    let sum: Rational = used.iter().flatten().sum();
    sum / u32::try_from(used.len()).unwrap_or(u32::MAX)
}

/// Returns the mean utilisation of the NJC answer, and the mean utilisation of the answer of DRF.
fn means(middle: usize) -> Result<(Rational, Rational), PaperError> {
    let problem = middle_resources(middle)?;
    Ok((mean(&problem, &solve(&problem, "njc")?), mean(&problem, &solve(&problem, "drf")?)))
}

fn utilisation() -> Result<Vec<Entry>, PaperError> {
    let source = "NJC, section 4, utilisation counter-example";
    let problem = middle_resources(2)?;
    let all = answers(&problem)?;
    let njc = all.only().ok_or("the utilisation example has several answers")?;
    let drf = solve(&problem, "drf")?;
    let (printed_njc, printed_drf) = (row("1 1/2")?, row("2/3 2/3")?);
    let (four_njc, four_drf) = means(2)?;
    let mut table = Vec::new();
    let mut ahead = None;
    for middle in [1, 2, 3, 4, 10, 100] {
        let (njc, drf) = means(middle)?;
        if ahead.is_none() && drf > njc {
            ahead = Some(middle);
        }
        table.push(format!("{middle}: {njc} against {drf}"));
    }
    // Every middle resource adds the same amount to the sum of utilisations. The mean tends to this amount.
    let sum = |middle: usize| {
        let (njc, drf) = means(middle)?;
        let n = Rational::from(middle + 2);
        Ok::<_, PaperError>((njc * &n, drf * n))
    };
    let ((njc_9, drf_9), (njc_10, drf_10)) = (sum(9)?, sum(10)?);
    let limits = [njc_10 - njc_9, drf_10 - drf_9];
    Ok(vec![
        Entry {
            id: "njc.utilisation.njc".to_owned(),
            source,
            paper: show(&printed_njc),
            ours: show(njc),
            agrees: Some(njc == printed_njc),
            note: format!("loads {}; the only answer, by enumeration", show(&loads(&problem, njc))),
        },
        Entry {
            id: "njc.utilisation.drf".to_owned(),
            source: "NJC, section 4, utilisation counter-example: DRF",
            paper: show(&printed_drf),
            ours: show(&drf.totals()),
            agrees: Some(drf.totals() == printed_drf),
            note: format!("loads {}", show(&loads(&problem, &drf.totals()))),
        },
        Entry {
            id: "njc.utilisation.four-resources".to_owned(),
            source,
            paper: "a counter-example in which DRF has the higher utilisation".to_owned(),
            ours: format!("mean utilisation {four_njc} without complaints, {four_drf} with DRF"),
            agrees: Some(four_drf > four_njc),
            note: "With the four printed resources, two of them in the middle, the two rules tie. The next \
                 entry has more resources."
                .to_owned(),
        },
        Entry {
            id: "njc.utilisation.middle-resources".to_owned(),
            source,
            paper: "DRF has the higher utilisation if there are many more middle resources".to_owned(),
            ours: match ahead {
                Some(middle) => format!("from {middle} middle resources on; {}", table.join(", ")),
                None => format!("not seen; {}", table.join(", ")),
            },
            agrees: Some(ahead.is_some()),
            note: "mean utilisation without complaints and under DRF, by the number of middle resources"
                .to_owned(),
        },
        Entry {
            id: "njc.utilisation.limits".to_owned(),
            source,
            paper: "1/2, 2/3".to_owned(),
            ours: list(&limits),
            agrees: Some(limits.as_slice() == row("1/2 2/3")?),
            note:
                "the increase of the sum of utilisations for one more middle resource, computed from 9 and \
                   10 middle resources"
                    .to_owned(),
        },
    ])
}

/// Returns the exact answer of a mechanism. No axiom has been checked for the answer.
pub fn allocate(problem: &Problem, mechanism: &str) -> Result<Vec<Rational>, PaperError> {
    let mechanism = registry::find(mechanism).ok_or("no such mechanism")?;
    Ok(mechanism.allocate(problem, Arithmetic::Exact)?.allocation.totals())
}
