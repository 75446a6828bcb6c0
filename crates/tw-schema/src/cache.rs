//! A cache of compiled schemas, by their content.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use serde_json::Value;

use crate::{Digest, Schema, SchemaFault, canonical, limits};

/// How many schemas are kept unless told otherwise.
const SCHEMAS_MAX: usize = 20_000;

/// Schemas by the digest of their documents, compiled once and shared by all tenants.
///
/// Sharing between tenants leaks nothing: a tenant with the document can compile it anyway, and a
/// compiled schema remembers no values.
pub struct SchemaCache {
    max: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    schemas: HashMap<Digest, Schema>,
    /// The oldest first. Which one goes hardly matters as long as the number is bounded; a tool in
    /// use holds its schema itself.
    order: VecDeque<Digest>,
}

impl SchemaCache {
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(SCHEMAS_MAX)
    }

    /// A cache that keeps at most `max` schemas, and at least one.
    #[must_use]
    pub fn with_capacity(max: usize) -> Self {
        Self { max: max.max(1), kept: Mutex::default() }
    }

    /// The compiled schema of a document, from the cache or compiled now.
    ///
    /// # Errors
    ///
    /// As [`Schema::compile`]. A document that is refused is not remembered.
    pub fn get_or_compile(&self, document: &Value) -> Result<Schema, SchemaFault> {
        let within = limits::check(document)?;
        let digest = canonical::digest(document);
        if let Some(schema) = self.lock().schemas.get(&digest) {
            return Ok(schema.clone());
        }
        // Compiled without the lock: one slow schema must not hold up everyone else's. Two callers
        // may then compile the same one, and the first to come back is kept.
        let schema = Schema::compile_within(document, within, digest)?;
        let mut kept = self.lock();
        if let Some(earlier) = kept.schemas.get(&digest) {
            return Ok(earlier.clone());
        }
        while self.max <= kept.schemas.len() {
            let Some(oldest) = kept.order.pop_front() else { break };
            kept.schemas.remove(&oldest);
        }
        kept.schemas.insert(digest, schema.clone());
        kept.order.push_back(digest);
        Ok(schema)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().schemas.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        // Nothing inside can panic half way, so what a poisoned lock guards is still whole.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for SchemaCache {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for SchemaCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SchemaCache")
            .field("max", &self.max)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn same(left: &Schema, right: &Schema) -> bool {
        std::ptr::eq(left.document(), right.document())
    }

    #[test]
    fn equal_documents_share_one_schema_whatever_their_key_order() {
        let cache = SchemaCache::new();
        let first = cache.get_or_compile(&json!({ "type": "integer", "minimum": 1 })).unwrap();
        let second = cache.get_or_compile(&json!({ "minimum": 1.0, "type": "integer" })).unwrap();
        assert!(same(&first, &second));
        assert_eq!(cache.len(), 1);
    }

    #[test]
    fn cache_never_grows_past_its_bound() {
        let cache = SchemaCache::with_capacity(3);
        for minimum in 0..10 {
            cache.get_or_compile(&json!({ "minimum": minimum })).unwrap();
        }
        assert_eq!(cache.len(), 3);
        let newest = cache.get_or_compile(&json!({ "minimum": 9 })).unwrap();
        assert!(same(&newest, &cache.get_or_compile(&json!({ "minimum": 9 })).unwrap()));
    }

    #[test]
    fn refused_document_is_not_kept() {
        let cache = SchemaCache::new();
        assert!(cache.get_or_compile(&json!({ "type": "wish" })).is_err());
        assert!(cache.is_empty());
    }
}
