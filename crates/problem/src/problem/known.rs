//! A hash table of positions that does not store their keys. The caller compares keys, and may compute hashes in
//! threads beforehand.

use std::hash::{BuildHasher, Hash, RandomState};

use hashbrown::HashTable;

/// The positions of different keys.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// A hasher with random keys, so that no input can be made to collide often.
    hasher: RandomState,
    /// The hash of each key, and its position.
    places: HashTable<(u64, usize)>,
}

impl Known {
    /// Creates a table with room for `count` keys.
    pub(crate) fn with_room(count: usize) -> Self {
        Self { hasher: RandomState::new(), places: HashTable::with_capacity(count) }
    }

    pub(crate) fn hash(&self, key: &(impl Hash + ?Sized)) -> u64 {
        self.hasher.hash_one(key)
    }

    /// Returns the position of the key with this hash for which `is_its` is true.
    pub(crate) fn find(&self, hash: u64, is_its: impl Fn(usize) -> bool) -> Option<usize> {
        self.places.find(hash, |(of, place)| *of == hash && is_its(*place)).map(|(_, place)| *place)
    }

    /// Records the position of a new key.
    pub(crate) fn note(&mut self, hash: u64, place: usize) {
        self.places.insert_unique(hash, (hash, place), |(hash, _)| *hash);
    }
}
