//! Positions in a document, such as `users[3].demand.cpu`.

use std::fmt;

/// The path from the root of a document to a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    steps: Vec<PlaceStep>,
}

/// One step of a [`Place`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceStep {
    /// A field of an object.
    Key(String),
    /// An element of an array.
    Index(usize),
}

crate::names::getters! { Place:
    /// The steps from the root.
    steps: [PlaceStep];
}

impl Place {
    /// Returns the path of the document itself.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Returns the path of the field `name` of the object at this place.
    #[must_use]
    pub fn key(&self, name: &str) -> Self {
        self.step(PlaceStep::Key(name.to_owned()))
    }

    /// Returns the path of the element `position` of the array at this place.
    #[must_use]
    pub fn index(&self, position: usize) -> Self {
        self.step(PlaceStep::Index(position))
    }

    /// Returns the path that `inner` names, relative to the value at this place.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        Self { steps: self.steps.iter().chain(&inner.steps).cloned().collect() }
    }

    /// Returns the path with one more step.
    pub(crate) fn step(&self, step: PlaceStep) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        Self { steps }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.steps.iter().enumerate() {
            match step {
                PlaceStep::Key(name) if is_plain(name) => {
                    let dot = if position == 0 { "" } else { "." };
                    write!(f, "{dot}{name}")?;
                }
                PlaceStep::Key(name) => match name.char_indices().nth(LONGEST_SHOWN) {
                    None => write!(f, "[\"{}\"]", name.escape_debug())?,
                    Some((end, _)) => write!(f, "[\"{}...\"]", name[..end].escape_debug())?,
                },
                PlaceStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Length in bytes above which a key is cut in a shown place.
const LONGEST_SHOWN: usize = 60;

fn is_plain(name: &str) -> bool {
    (1..=LONGEST_SHOWN).contains(&name.len())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}
