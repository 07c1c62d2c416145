//! A map that keeps its keys in the order of their first appearance.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Values by key. Each key has a position: its place in the order in which keys were inserted.
pub struct Ordered<K, V> {
    places: HashMap<K, usize>,
    entries: Vec<(K, V)>,
}

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Self {
        Self { places: HashMap::new(), entries: Vec::new() }
    }
}

impl<K: Clone + Eq + Hash, V> Ordered<K, V> {
    /// Returns the position of a key. A new key is inserted at the end, with a fresh value.
    pub fn place<Q>(&mut self, key: &Q, fresh: impl FnOnce() -> V) -> usize
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(&place) = self.places.get(key) {
            return place;
        }
        let (key, place) = (key.to_owned(), self.entries.len());
        self.places.insert(key.clone(), place);
        self.entries.push((key, fresh()));
        place
    }

    /// Returns the value of a key. A new key is inserted at the end, with a fresh value.
    pub fn value<Q>(&mut self, key: &Q, fresh: impl FnOnce() -> V) -> &mut V
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let place = self.place(key, fresh);
        &mut self.entries[place].1
    }

    /// Returns the position of a key, or `None` if the key was not inserted.
    pub fn find<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.places.get(key).copied()
    }

    /// Returns the value at a position.
    pub fn at(&mut self, place: usize) -> &mut V {
        &mut self.entries[place].1
    }

    /// Keeps the entries for which `keep` is true, in their order. Positions change.
    pub fn retain(&mut self, keep: impl Fn(&K, &V) -> bool) {
        if self.entries.iter().any(|(key, value)| !keep(key, value)) {
            self.entries.retain(|(key, value)| keep(key, value));
            self.places =
                self.entries.iter().zip(0..).map(|((key, _), place)| (key.clone(), place)).collect();
        }
    }

    /// Returns the keys and values in their order.
    pub fn entries(&self) -> &[(K, V)] {
        &self.entries
    }

    /// Returns the keys and values in their order.
    pub fn into_entries(self) -> Vec<(K, V)> {
        self.entries
    }
}
