//! The columns of a matrix: the axioms and properties.

use evenhand_certify::Request;
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_mechanisms::registry;
use evenhand_problem::Allocation;

use crate::Property;

/// A column: an axiom or a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Column {
    /// An axiom. Single allocations satisfy or violate it.
    Axiom(Axiom),
    /// A property. The mechanism as a whole has it or does not have it.
    Property(Property),
}

impl Column {
    /// Returns all columns, axioms first.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let axioms = Axiom::ALL.into_iter().map(Self::Axiom);
        axioms.chain(Property::ALL.into_iter().map(Self::Property)).collect()
    }

    /// Returns the name of the column.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Axiom(axiom) => axiom.name(),
            Self::Property(property) => property.name(),
        }
    }

    /// Returns the column with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Axiom::parse(name).map(Self::Axiom).or_else(|| Property::parse(name).map(Self::Property))
    }
}

/// Returns the request for an axiom. Its share or exponent is that of the mechanism. If the mechanism has none, it is
/// the dominant share or the exponent 1.
pub(super) fn request(axiom: Axiom, allocation: &Allocation) -> Request {
    let own = registry::axiom_of(allocation).filter(|(own, _)| *own == axiom);
    let parameters = match (own, axiom) {
        (Some((_, parameters)), _) => parameters,
        (None, Axiom::MaxMin | Axiom::MaxMinPackings) => Parameters::from(Some(Share::Dominant)),
        (None, _) => Parameters::default(),
    };
    Request { axiom, parameters }
}
