//! What was used last, and is likely to be used again.

use std::borrow::Borrow;

/// A few values by their keys, the latest first.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    kept: Vec<(K, V)>,
    most: usize,
}

impl<K, V> Recent<K, V> {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: Vec::new(), most }
    }

    /// The value of a key, made where it is not there.
    pub(crate) fn get<Q, E>(&mut self, key: &Q, make: impl FnOnce(&Q) -> Result<V, E>) -> Result<&V, E>
    where
        K: Borrow<Q>,
        Q: ToOwned<Owned = K> + PartialEq + ?Sized,
    {
        match self.kept.iter().position(|(known, _)| known.borrow() == key) {
            Some(place) => self.kept[..=place].rotate_right(1),
            None => {
                let value = make(key)?;
                self.kept.truncate(self.most - 1);
                self.kept.insert(0, (key.to_owned(), value));
            }
        }
        Ok(&self.kept[0].1)
    }
}
