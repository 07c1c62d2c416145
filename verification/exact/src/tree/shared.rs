//! Values that copies share until one of them changes.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value whose copy takes no time: whoever changes it while others have it too gets one of its own.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// A value that nobody else has yet.
    pub fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}
