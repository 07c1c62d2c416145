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
    /// A group, a resource, and the classes, if the limit is about some.
    pub limit: Option<(usize, usize, Vec<usize>)>,
}

/// Something that has a margin, and what else the evidence says about it: a slack, a gain, a loss.
pub struct Compared {
    pub place: Place,
    pub amount: Option<Rational>,
    pub margin: Rational,
}

/// A place that evidence names, and what it says about it.
pub type Named = (Place, Option<Rational>);

impl Place {
    /// The place that an object with just these fields names, and the amount of the last, where there is one.
    pub fn read(case: &Case<'_>, raw: &Json<'_>, names: &str, amount: &str) -> Checked<Named> {
        raw.fields::<0>(&format!("{names} {amount}"))?;
        let find =
            |field: &str, names: &Names| raw.get(field).given().map(|name| names.named(name)).transpose();
        let (users, classes) = (&case.problem.user_names, &case.problem.class_names);
        let class = find("server", classes)?;
        let row = class.zip(raw.get("resource").given());
        let row = row.map(|(i, resource)| case.row_named(i, resource.text()?, resource)).transpose()?;
        let index = raw.get("index").given().map(|index| index.count(0, MOST)).transpose()?;
        let amount = raw.get(amount).given().map(Json::computed).transpose()?;
        let (user, envied) = (find("user", users)?, find("envied", users)?);
        Ok((Self { user, envied, class, row, index, limit: None }, amount))
    }

    /// What `{"tightest": {...}}` names, or a violation, which has an amount besides; `None` without
    /// evidence.
    pub fn tightest(case: &Case<'_>, claim: &Claim<'_>, names: &str, amount: &str) -> Checked<Option<Named>> {
        match claim.evidence.get("tightest").given() {
            _ if claim.has_none() => Ok(None),
            None => Self::read(case, claim.evidence, names, amount).map(Some),
            Some(tightest) => {
                claim.evidence.fields::<0>("tightest")?;
                Self::read(case, tightest, names, "").map(Some)
            }
        }
    }
}

/// The least margin, which the evidence names something to have.
pub fn least(named: Option<&Named>, all: &[Compared]) -> Checked<Shown> {
    let least = all.iter().map(|compared| &compared.margin).min();
    let mut tightest = all.iter().filter(|compared| Some(&compared.margin) == least);
    let is_named = match named {
        None => least.is_none(),
        Some((place, amount)) => tightest.any(|is| is.place == *place && is.amount == *amount),
    };
    ensure(is_named, "the evidence does not name what is the tightest")?;
    Ok((least.cloned(), None))
}
