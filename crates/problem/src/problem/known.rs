//! Places that are known by their keys, which stand there and are not kept: whoever asks says how to compare them. Hashes
//! are made where it suits, by threads if there are many, and once.

use std::hash::{BuildHasher, Hash, RandomState};

use hashbrown::HashTable;

/// Places of different keys.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Its hashes nobody can foresee, so that no input makes many of them meet.
    hasher: RandomState,
    /// The hash of the key, and its place.
    places: HashTable<(u64, usize)>,
}

impl Known {
    /// With room for so many.
    pub(crate) fn with_room(count: usize) -> Self {
        Self { hasher: RandomState::new(), places: HashTable::with_capacity(count) }
    }

    pub(crate) fn hash(&self, key: &(impl Hash + ?Sized)) -> u64 {
        self.hasher.hash_one(key)
    }

    /// The place of the key with this hash.
    pub(crate) fn find(&self, hash: u64, is_its: impl Fn(usize) -> bool) -> Option<usize> {
        self.places.find(hash, |(of, place)| *of == hash && is_its(*place)).map(|(_, place)| *place)
    }

    /// Notes the place of a key that is new.
    pub(crate) fn note(&mut self, hash: u64, place: usize) {
        self.places.insert_unique(hash, (hash, place), |(hash, _)| *hash);
    }
}
