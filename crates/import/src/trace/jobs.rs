//! Jobs by the order in which they are first named, and their sizes.

use std::collections::HashMap;
use std::hash::Hash;

pub(super) struct Jobs<K> {
    place: HashMap<K, u32>,
    pub sizes: Vec<u32>,
}

impl<K: Eq + Hash> Jobs<K> {
    pub fn new() -> Self {
        Self { place: HashMap::new(), sizes: Vec::new() }
    }

    /// One more task of a job; the job's place.
    pub fn add(&mut self, job: K) -> u32 {
        let fresh = self.sizes.len() as u32;
        let place = *self.place.entry(job).or_insert(fresh);
        if place == fresh {
            self.sizes.push(0);
        }
        let size = &mut self.sizes[place as usize];
        *size = size.saturating_add(1);
        place
    }
}
