//! Values that copies share until one of the copies changes.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value that is copied in constant time. A copy that is changed first gets its own value.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// Returns a value that has no copies yet.
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
