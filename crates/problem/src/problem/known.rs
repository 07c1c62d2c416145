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
    positions: HashTable<(u64, usize)>,
}

impl Known {
    /// Creates a table with memory for `count` keys.
    pub(crate) fn with_room(count: usize) -> Self {
        Self { hasher: RandomState::new(), positions: HashTable::with_capacity(count) }
    }

    pub(crate) fn hash(&self, key: &(impl Hash + ?Sized)) -> u64 {
        self.hasher.hash_one(key)
    }

    /// Returns the position of the key with the hash `hash` for which `is_its` is true.
    pub(crate) fn find(&self, hash: u64, is_its: impl Fn(usize) -> bool) -> Option<usize> {
        self.positions
            .find(hash, |(key, position)| *key == hash && is_its(*position))
            .map(|(_, position)| *position)
    }

    /// Records the position of a new key.
    pub(crate) fn insert(&mut self, hash: u64, position: usize) {
        self.positions.insert_unique(hash, (hash, position), |(hash, _)| *hash);
    }
}
