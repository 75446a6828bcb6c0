//! Objects within bodies.
//!
//! Serde takes an array for the members of a struct in their order. `[]` would then be an object that says nothing.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};

/// An object, or `null` for none.
pub(crate) fn object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(sent: D) -> Result<Option<T>, D::Error> {
    sent.deserialize_option(ObjectOrNull(PhantomData))
}

/// As [`object`], where it makes a difference that nothing is sent.
pub(crate) fn given_object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    sent: D,
) -> Result<Option<Option<T>>, D::Error> {
    object(sent).map(Some)
}

struct ObjectOrNull<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectOrNull<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, sent: D) -> Result<Self::Value, D::Error> {
        sent.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Some)
    }
}
