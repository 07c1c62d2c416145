//! What groups are promised, subgroups added up, and what of it is kept back for them (theory, section 9).

use rug::Rational;

use crate::groups::Groups;

/// By group and resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Promises {
    /// `G_v`: the guarantee that a group states, else the sum of its subgroups', where one is named; `None` where
    /// nothing is promised.
    pub guarantee: Vec<Option<Vec<Option<Rational>>>>,
    /// `K_v`: what is promised and not lent, and at least what is kept back for the subgroups.
    pub kept: Vec<Vec<Rational>>,
}

impl Promises {
    /// Of groups in a problem with so many resources.
    #[must_use]
    pub fn new(groups: &Groups, n_resources: usize) -> Self {
        let list = groups.list();
        // What the subgroups add to a group.
        let mut sums: Vec<Option<Vec<Option<Rational>>>> = vec![None; list.len()];
        let mut guarantee = vec![None; list.len()];
        let mut kept = vec![vec![Rational::new(); n_resources]; list.len()];
        for v in groups.from_the_leaves() {
            let group = &list[v];
            let own: Option<Vec<Option<Rational>>> = match &group.guarantee {
                None => sums[v].take(),
                Some(stated) => {
                    let mut own = vec![None; n_resources];
                    stated.iter().for_each(|(r, amount)| own[*r] = Some(amount.clone()));
                    Some(own)
                }
            };
            for (r, lent) in &group.lend {
                let promised = own.as_ref().and_then(|own| own[*r].clone()).unwrap_or_default();
                let unlent = promised - lent;
                if unlent > kept[v][*r] {
                    kept[v][*r] = unlent;
                }
            }
            if let Some(parent) = group.parent {
                for (r, amount) in own.iter().flatten().enumerate() {
                    if let Some(amount) = amount {
                        let sum = sums[parent].get_or_insert_with(|| vec![None; n_resources]);
                        *sum[r].get_or_insert_default() += amount;
                    }
                }
                // A group whose guarantee names nothing states one all the same.
                if own.is_some() {
                    sums[parent].get_or_insert_with(|| vec![None; n_resources]);
                }
                let own = kept[v].clone();
                kept[parent].iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
            guarantee[v] = own;
        }
        Self { guarantee, kept }
    }
}
