//! Things in the order in which the data first names them.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Values by key, in the order in which the keys first come.
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
    /// The place of a key; a new one comes after all others, with a fresh value.
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

    /// The value of a key, fresh where the key is new.
    pub fn value<Q>(&mut self, key: &Q, fresh: impl FnOnce() -> V) -> &mut V
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let place = self.place(key, fresh);
        &mut self.entries[place].1
    }

    /// The place of a key that has one.
    pub fn find<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.places.get(key).copied()
    }

    /// The value at a place.
    pub fn at(&mut self, place: usize) -> &mut V {
        &mut self.entries[place].1
    }

    /// Keeps the entries for which this holds, in their order.
    pub fn retain(&mut self, keep: impl Fn(&K, &V) -> bool) {
        if self.entries.iter().any(|(key, value)| !keep(key, value)) {
            self.entries.retain(|(key, value)| keep(key, value));
            self.places =
                self.entries.iter().zip(0..).map(|((key, _), place)| (key.clone(), place)).collect();
        }
    }

    /// Keys and values in their order.
    pub fn entries(&self) -> &[(K, V)] {
        &self.entries
    }

    /// Keys and values in their order.
    pub fn into_entries(self) -> Vec<(K, V)> {
        self.entries
    }
}
