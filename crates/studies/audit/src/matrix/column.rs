//! What a matrix asks of every mechanism.

use evenhand_certify::Request;
use evenhand_exact::{Axiom, Parameters, Share};
use evenhand_mechanisms::registry;
use evenhand_problem::Allocation;

use crate::Property;

/// An axiom or a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Column {
    /// Of every allocation.
    Axiom(Axiom),
    /// Of the mechanism.
    Property(Property),
}

impl Column {
    /// All of them, axioms first.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let axioms = Axiom::ALL.into_iter().map(Self::Axiom);
        axioms.chain(Property::ALL.into_iter().map(Self::Property)).collect()
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Axiom(axiom) => axiom.name(),
            Self::Property(property) => property.name(),
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Axiom::parse(name).map(Self::Axiom).or_else(|| Property::parse(name).map(Self::Property))
    }
}

/// What is asked of an allocation: about the mechanism's own share or exponent, or else about dominant shares and the
/// exponent 1.
pub(super) fn request(axiom: Axiom, allocation: &Allocation) -> Request {
    let own = registry::axiom_of(allocation).filter(|(own, _)| *own == axiom);
    let parameters = match (own, axiom) {
        (Some((_, parameters)), _) => parameters,
        (None, Axiom::MaxMin) => Parameters::from(Some(Share::Dominant)),
        (None, _) => Parameters::default(),
    };
    Request { axiom, parameters }
}
