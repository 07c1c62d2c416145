//! NJC: the DRF allocations that the paper compares with.

use evenhand_problem::utilisation::by_resource;
use evenhand_problem::{Allocation, Problem, Rational};

use super::{Entry, Table, TableUser, list, solve};

/// Requests of a single pool: at most one task each.
fn pool(requests: &[&'static [&'static str]]) -> Result<Problem, String> {
    let users: Vec<TableUser<'_>> =
        requests.iter().map(|demand| TableUser { tasks: Some("1"), ..TableUser::new(demand) }).collect();
    let one: Vec<&str> = vec!["1"; requests.first().map_or(0, |demand| demand.len())];
    Table { servers: &[(1, &one)], users: &users }.problem()
}

fn mean_utilisation(problem: &Problem, allocation: &Allocation) -> Rational {
    let used = by_resource(problem, allocation);
    let sum: Rational = used.iter().flatten().sum();
    sum / u32::try_from(used.len()).unwrap_or(u32::MAX)
}

pub(super) fn entries() -> Result<Vec<Entry>, String> {
    let figure_2 = pool(&[&["1", "0.2"], &["1", "0.2"], &["0.4", "0.8"]])?;
    let drf_2 = solve(&figure_2, "drf")?.totals();
    let section_4 = pool(&[&["1/2", "0", "0", "1"], &["1", "1", "1", "0"]])?;
    let drf_4 = solve(&section_4, "drf")?;
    let mean = mean_utilisation(&section_4, &drf_4);
    let satiated = pool(&[&["1/10"], &["1"], &["1"]])?;
    let drf_satiated = solve(&satiated, "drf")?.totals();
    Ok(vec![
        Entry {
            id: "njc.figure-2.drf".to_owned(),
            source: "NJC, section 4 and Figure 2: DRF",
            paper: "2/5, 2/5, 1/2".to_owned(),
            ours: list(&drf_2),
            agrees: Some(drf_2 == [(2, 5), (2, 5), (1, 2)].map(Rational::from)),
            note: "fractions of the requests (1, 1/5), (1, 1/5), (2/5, 4/5)".to_owned(),
        },
        Entry {
            id: "njc.utilisation.drf".to_owned(),
            source: "NJC, section 4, utilisation counter-example: DRF",
            paper: "2/3, 2/3".to_owned(),
            ours: list(&drf_4.totals()),
            agrees: Some(drf_4.totals() == [(2, 3), (2, 3)].map(Rational::from)),
            note: format!(
                "mean utilisation {mean}: with four resources DRF and NJC tie at 3/4; DRF is ahead only with more \
                 than two middle resources"
            ),
        },
        Entry {
            id: "njc.same-dominant-resource.drf".to_owned(),
            source: "NJC, section 4: one common dominant resource makes DRF and NJC equal",
            paper: "the only NJC allocation".to_owned(),
            ours: list(&drf_satiated),
            agrees: Some(false),
            note: "requests 1/10, 1, 1 with equal entitlements: besides DRF, (1, 1/3, 17/30) has no justified complaint \
                   either, since every user holds a third of the resource or has all it asked for"
                .to_owned(),
        },
    ])
}
