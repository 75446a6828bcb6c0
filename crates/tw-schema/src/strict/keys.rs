//! The keys seen so far in every open object.
//!
//! Most objects have a handful of keys, for which comparing slices beats any hash. Past a small
//! number the keys move to a set, so that a large object costs no square; the set's hasher is
//! seeded at random, so nobody can prepare keys that collide.

use std::{borrow::Cow, collections::HashSet};

/// Up to here keys are compared one by one.
const FEW: usize = 16;

#[derive(Default)]
pub(super) struct Keys<'a> {
    /// The keys of all open small objects, the innermost last.
    few: Vec<Cow<'a, str>>,
    objects: Vec<Object<'a>>,
}

struct Object<'a> {
    /// Where this object's keys begin in `few`.
    start: usize,
    /// Where they went when there were too many.
    many: Option<HashSet<Cow<'a, str>>>,
}

impl<'a> Keys<'a> {
    pub(super) fn open(&mut self) {
        self.objects.push(Object { start: self.few.len(), many: None });
    }

    pub(super) fn close(&mut self) {
        if let Some(object) = self.objects.pop() {
            self.few.truncate(object.start);
        }
    }

    /// Remembers a key of the innermost object; gives it back when it was there already.
    pub(super) fn insert(&mut self, key: Cow<'a, str>) -> Option<Cow<'a, str>> {
        let object = self.objects.last_mut().expect("a key is read only inside an open object");
        if let Some(many) = &mut object.many {
            if many.contains(&key) {
                return Some(key);
            }
            many.insert(key);
            return None;
        }
        if self.few[object.start..].contains(&key) {
            return Some(key);
        }
        self.few.push(key);
        if FEW < self.few.len() - object.start {
            object.many = Some(self.few.drain(object.start..).collect());
        }
        None
    }
}
