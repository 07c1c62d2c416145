//! What there is: mechanisms, axioms and properties.

use evenhand::exact::Axiom;
use evenhand::mechanisms::registry;
use evenhand_audit::Property;
use pyo3::prelude::*;

/// A mechanism: name, title, what it equalises, guarantees, reference, names of its settings.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, Vec<&'static str>);

#[pyfunction]
pub fn mechanisms() -> Vec<Row> {
    let row = |mechanism: &&'static evenhand::Mechanism| {
        let info = mechanism.info;
        let flags = mechanism.flags.iter().map(|flag| flag.name).collect();
        (info.id, info.title, info.equalises, info.guarantees, info.reference, flags)
    };
    registry::ALL.iter().map(row).collect()
}

#[pyfunction]
pub fn axioms() -> Vec<&'static str> {
    Axiom::ALL.into_iter().map(Axiom::name).collect()
}

#[pyfunction]
pub fn properties() -> Vec<&'static str> {
    Property::ALL.into_iter().map(Property::name).collect()
}
