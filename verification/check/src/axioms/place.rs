//! What the evidence of axioms names that compare numbers of the allocation: a user, a pair, a row, an entry.

use rug::Rational;

use super::Shown;
use crate::case::Case;
use crate::claim::Claim;
use crate::json::Json;
use crate::problem::{MOST, Names};
use crate::work::{Checked, ensure};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Place {
    pub user: Option<usize>,
    pub envied: Option<usize>,
    pub class: Option<usize>,
    pub row: Option<usize>,
    /// Of a server among those of its class.
    pub index: Option<u64>,
}

/// Something that has a margin, and what else the evidence says about it: a slack, a gain, a loss.
pub struct Compared {
    pub place: Place,
    pub amount: Option<Rational>,
    pub margin: Rational,
}

impl Place {
    /// The place that an object with just these fields names; the last of them may be an amount.
    pub fn read<const N: usize>(
        case: &Case<'_>,
        raw: &Json<'_>,
        names: [&str; N],
    ) -> Checked<(Self, Option<Rational>)> {
        let last = raw.fields(names)?[N - 1];
        let find =
            |names: &Names, field: &str| raw.get(field).given().map(|name| names.named(name)).transpose();
        let (users, classes) = (&case.problem.user_names, &case.problem.class_names);
        let class = find(classes, "server")?;
        let row = class.zip(raw.get("resource").given());
        let row = row.map(|(i, resource)| case.row_named(i, resource.text()?, resource)).transpose()?;
        let index = raw.get("index").given().map(|index| index.count(0, MOST)).transpose()?;
        let is_amount = names.last().is_some_and(|name| ["slack", "gain", "loss"].contains(name));
        let amount = if is_amount { Some(last.computed()?) } else { None };
        Ok((Self { user: find(users, "user")?, envied: find(users, "envied")?, class, row, index }, amount))
    }

    /// What `{"tightest": {...}}` names, or a violation, which has an amount besides; `None` without evidence.
    pub fn tightest<const N: usize, const M: usize>(
        case: &Case<'_>,
        claim: &Claim<'_>,
        names: [&str; N],
        and_amount: [&str; M],
    ) -> Checked<Option<(Self, Option<Rational>)>> {
        match claim.evidence.get("tightest").given() {
            _ if claim.has_none() => Ok(None),
            None => Self::read(case, claim.evidence, and_amount).map(Some),
            Some(tightest) => {
                let [_] = claim.evidence.fields(["tightest"])?;
                Self::read(case, tightest, names).map(Some)
            }
        }
    }
}

/// The least margin, which the evidence names something to have.
pub fn least(named: Option<(Place, Option<Rational>)>, all: &[Compared]) -> Checked<Shown> {
    let least = all.iter().map(|compared| &compared.margin).min();
    let is_it = |compared: &Compared, place: &Place, amount: &Option<Rational>| {
        Some(&compared.margin) == least && compared.place == *place && compared.amount == *amount
    };
    let is_named =
        named.map_or(least.is_none(), |(place, amount)| all.iter().any(|c| is_it(c, &place, &amount)));
    ensure(is_named, "the evidence does not name what is the tightest")?;
    Ok((least.cloned(), None))
}
