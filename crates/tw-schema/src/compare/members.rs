//! The members of objects.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    Effect, Found, Part,
    alike::Version,
    layers::{Layers, Subschemas},
    walk::{Around, LINE, Walk, depth},
};
use crate::pointer;

/// Keywords that look at which members there are, or at an object as a whole.
const WATCHING: &[&str] = &[
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "not",
    "anyOf",
    "oneOf",
    "propertyNames",
    "enum",
    "const",
];

/// Keywords whose subschemas hold beside others and may speak of the same members.
const BESIDE: &[&str] =
    &["anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependentRequired"];

/// The rules of one version for the member of one name.
struct Member<'a> {
    subschemas: Subschemas<'a>,
    /// The subschemas that stand under the name itself.
    named_subschemas: Subschemas<'a>,
    named: bool,
    refused: bool,
}

impl<'a> Member<'a> {
    /// A property about which one subschema says everything.
    fn only(value: &'a Value) -> Self {
        Self { subschemas: vec![value], named_subschemas: vec![value], named: true, refused: false }
    }

    /// Whether anything at all may stand here.
    fn is_open(&self) -> bool {
        let anything =
            |value: &&Value| **value == true || value.as_object().is_some_and(|map| map.is_empty());
        !self.refused && self.subschemas.iter().all(anything)
    }
}

/// One version of an object: its subschemas, and whether `unevaluatedProperties` closes it.
struct Object<'w, 'a> {
    layers: &'w Layers<'a>,
    closed: bool,
}

impl<'a> Object<'_, 'a> {
    fn names(&self) -> impl Iterator<Item = &'a String> {
        self.layers.every("properties").filter_map(Value::as_object).flat_map(|map| map.keys())
    }

    fn member(&self, name: &str) -> Member<'a> {
        let (mut subschemas, mut named_subschemas) = (Vec::new(), Vec::new());
        for layer in &self.layers.all {
            let named = layer.map.get("properties").and_then(|properties| properties.get(name));
            named_subschemas.extend(named);
            subschemas.extend(named.or_else(|| layer.map.get("additionalProperties")));
        }
        let refused =
            subschemas.iter().any(|value| **value == false) || (self.closed && named_subschemas.is_empty());
        let named = !named_subschemas.is_empty() && !refused;
        Member { subschemas, named_subschemas, named, refused }
    }

    /// The rules for members that are not named.
    fn rest(&self) -> Member<'a> {
        let subschemas: Subschemas<'a> = self.layers.every("additionalProperties").collect();
        let refused = self.closed || subschemas.iter().any(|value| **value == false);
        Member { subschemas, named_subschemas: Vec::new(), named: false, refused }
    }

    fn required(&self) -> HashSet<&'a str> {
        let lists = self.layers.every("required").filter_map(Value::as_array);
        lists.flatten().filter_map(Value::as_str).collect()
    }
}

impl<'a> Walk<'a> {
    pub(super) fn members(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str, around: Around) {
        self.counts(from, to, at, "minProperties", "maxProperties", "member");
        let (Some(from_closed), Some(to_closed)) = (closed_by_rest(from), closed_by_rest(to)) else {
            self.only_the_same(from, to, at, "unevaluatedProperties");
            return;
        };
        if (from_closed || to_closed) && !self.same_beside(from, to) {
            // Which members count as known may depend on the branch that holds.
            self.say(
                at,
                "schema_changed",
                Effect::Both,
                "`unevaluatedProperties` applies to other properties now: the effect is not known",
            );
        }
        let watched = around.watched || from.says_any(WATCHING) || to.says_any(WATCHING);
        let inside = self.inside(from, to, Around { watched, default_done: false, ..around });
        let beside = self.beside.len();
        self.put_beside(from, to, at);
        let from = Object { layers: from, closed: from_closed };
        let to = Object { layers: to, closed: to_closed };
        if from.layers.says_any(&["patternProperties"]) || to.layers.says_any(&["patternProperties"]) {
            self.patterned(&from, &to, at, inside);
        } else {
            self.named(&from, &to, at, inside);
            self.rest(&from.rest(), &to.rest(), at, inside);
        }
        self.beside.truncate(beside);
        self.required(&from, &to, at, inside);
    }

    /// Notes the other subschemas here that may name the members about to be compared.
    pub(super) fn put_beside(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str) {
        // A constant names the members that it has.
        for keyword in BESIDE.iter().chain(&["enum", "const"]) {
            let of = |version, layers: &Layers<'a>| {
                let said =
                    if layers.says_any(&[keyword]) { layers.every(keyword).collect() } else { Vec::new() };
                said.into_iter().map(move |value| (version, value, depth(at))).collect::<Vec<_>>()
            };
            self.beside.extend(of(Version::From, from));
            self.beside.extend(of(Version::To, to));
        }
    }

    fn same_beside(&mut self, from: &Layers<'a>, to: &Layers<'a>) -> bool {
        BESIDE.iter().all(|keyword| {
            let (froms, tos): (Vec<_>, Vec<_>) = (from.every(keyword).collect(), to.every(keyword).collect());
            froms.len() == tos.len() && froms.into_iter().zip(tos).all(|(from, to)| self.same(from, to))
        })
    }

    fn named(&mut self, from: &Object<'_, 'a>, to: &Object<'_, 'a>, at: &str, around: Around) {
        let (required_before, required) = (from.required(), to.required());
        let mut seen = HashSet::new();
        for name in from.names().chain(to.names()).filter(|name| seen.insert(name.as_str())) {
            if !self.spend(from.layers.all.len() + to.layers.all.len() + at.len() / LINE) {
                return;
            }
            let (old, new) = (from.member(name), to.member(name));
            let at = pointer::join(at, name);
            match (old.named, new.named) {
                (true, true) => {
                    self.kept(&old, &new, required.contains(name.as_str()), &at, around);
                }
                (false, true) => {
                    let asked = required_before.contains(name.as_str());
                    self.added(&old, &new, name, asked, &at, around);
                }
                (true, false) => self.removed(&old, &new, required.contains(name.as_str()), &at, around),
                (false, false) if old.refused && new.refused => self.refused(&old, &new, &at, around),
                (false, false) => self.compare(&old.subschemas, &new.subschemas, &at, around),
            }
        }
    }

    /// Compares a property that both versions have.
    fn kept(&mut self, old: &Member<'a>, new: &Member<'a>, required: bool, at: &str, around: Around) {
        let before = self.found.len();
        let inside = self.default(old, new, required, at, around);
        let same_default = self.found.len() == before;
        self.compare(&old.subschemas, &new.subschemas, at, inside);
        // The rules may have been moved away from under a default that stayed.
        if same_default
            && self.found.len() != before
            && let Some(default) = self.default_of(Version::To, new, around)
            && !self.fits(&new.subschemas, default)
        {
            self.say(at, "default_changed", Effect::Both, "has a default that does not fit any more");
        }
    }

    /// Compares the defaults of a property that both versions have, and returns its surroundings.
    fn default(
        &mut self,
        old: &Member<'a>,
        new: &Member<'a>,
        required: bool,
        at: &str,
        around: Around,
    ) -> Around {
        if !around.from_defaults && !around.to_defaults {
            return around;
        }
        let before = self.default_of(Version::From, old, around);
        let after = self.default_of(Version::To, new, around);
        let done = Around { default_done: true, ..around };
        let text = |default: &'a Value| self.from.text(default);
        if before.map(text) == after.map(text) {
            return done;
        }
        let (effect, message) = match after {
            None if required => (Effect::Narrower, "is required and has no default any more"),
            None if around.watched => (Effect::Both, "no longer has a default, and other rules depend on it"),
            None => (Effect::Harmless, "has no default any more"),
            Some(default) if !self.fits(&new.subschemas, default) => {
                (Effect::Both, "has a default that does not fit")
            }
            Some(_) if around.watched => (Effect::Both, "has another default, and other rules depend on it"),
            Some(_) => (Effect::Harmless, "has another default"),
        };
        self.say(at, "default_changed", effect, message);
        done
    }

    /// The default that the gateway fills in for a member, if it does so here.
    fn default_of(&self, version: Version, member: &Member<'a>, around: Around) -> Option<&'a Value> {
        let filled = match version {
            Version::From => around.from_defaults,
            Version::To => around.to_defaults,
        };
        filled.then(|| Layers::of(self.root(version), &member.named_subschemas).default()).flatten()
    }

    fn added(
        &mut self,
        old: &Member<'a>,
        new: &Member<'a>,
        name: &str,
        asked: bool,
        at: &str,
        around: Around,
    ) {
        let effect = if let Some(default) = self.default_of(Version::To, new, around)
            && (around.watched || !self.fits(&new.subschemas, default))
        {
            Effect::Both
        } else if old.refused || old.is_open() {
            // An object that refuses the name outright cannot have held it, whatever stands beside.
            let surely_new = old.subschemas.iter().any(|value| **value == false);
            let part = self.part;
            match part {
                Part::Input if surely_new => Effect::Wider,
                Part::Input if asked || around.mingled || self.is_spoken_of(name) => Effect::Both,
                Part::Input if self.is_ruled_beside(depth(at) - 1) => Effect::Both,
                Part::Input => Effect::Harmless,
                Part::Output if !old.refused => Effect::Narrower,
                // A name that was ruled out by name is one that readers knew of.
                Part::Output if !old.named_subschemas.is_empty() => Effect::Both,
                Part::Output if around.watched || asked || self.is_spoken_of(name) => Effect::Both,
                Part::Output => Effect::Harmless,
            }
        } else {
            // The object held such members before, under a rule for all of them.
            let found = self.aside(|walk| walk.compare(&old.subschemas, &new.subschemas, at, around));
            if breaks(&found) { Effect::Both } else { Effect::Harmless }
        };
        self.say(at, "property_added", effect, "is a new property");
    }

    fn removed(&mut self, old: &Member<'a>, new: &Member<'a>, required: bool, at: &str, around: Around) {
        let filled = self.default_of(Version::From, old, around).is_some();
        let effect = if self.part == Part::Output || (filled && (around.watched || required)) {
            // Even where the value may still be there, nobody promises it any more.
            Effect::Both
        } else if new.refused {
            Effect::Narrower
        } else {
            let found = self.aside(|walk| walk.compare(&old.subschemas, &new.subschemas, at, around));
            if breaks(&found) { Effect::Both } else { Effect::Wider }
        };
        let message = match (self.part, new.refused) {
            (Part::Input, true) => "was removed, and is refused now",
            _ => "was removed",
        };
        self.say(at, "property_removed", effect, message);
    }

    /// Compares a property that both versions name and refuse. The gateway fills in its default all the
    /// same, and then refuses every object that it was filled into.
    fn refused(&mut self, old: &Member<'a>, new: &Member<'a>, at: &str, around: Around) {
        let before = self.default_of(Version::From, old, around).is_some();
        let after = self.default_of(Version::To, new, around).is_some();
        let (effect, message) = match (before, after) {
            (false, true) => (Effect::Narrower, "is refused, and has a default now"),
            (true, false) => (Effect::Wider, "is refused, and has no default any more"),
            _ => return,
        };
        self.say(at, "default_changed", effect, message);
    }

    /// Whether a subschema beside the compared ones mentions this name. Then callers may know of it.
    fn is_spoken_of(&mut self, name: &str) -> bool {
        (0..self.beside.len()).any(|index| {
            let (version, value, _) = self.beside[index];
            self.mentions(version, value, name)
        })
    }

    /// Whether an old subschema beside the object at this depth has a rule for members that it does not
    /// name. Then callers may have sent members of any name.
    fn is_ruled_beside(&mut self, object: usize) -> bool {
        (0..self.beside.len()).any(|index| {
            let (version, value, depth) = self.beside[index];
            version == Version::From && self.rules_unnamed(value, object.saturating_sub(depth))
        })
    }

    /// Members without a name of their own.
    fn rest(&mut self, old: &Member<'a>, new: &Member<'a>, at: &str, around: Around) {
        match (old.refused, new.refused) {
            (true, true) => {}
            (false, true) => {
                let message = "other members are refused now";
                self.say(at, "additional_properties_closed", Effect::Narrower, message);
            }
            (true, false) => {
                let message = "other members are allowed now";
                self.say(at, "additional_properties_opened", Effect::Wider, message);
            }
            (false, false) if old.is_open() && new.is_open() => {}
            (false, false) => self.compare(&old.subschemas, &new.subschemas, &format!("{at}/*"), around),
        }
    }

    /// Objects with patterns for names are compared only where the same names and patterns are on
    /// both sides: which member is met by which rule is not looked into.
    fn patterned(&mut self, from: &Object<'_, 'a>, to: &Object<'_, 'a>, at: &str, around: Around) {
        let ([old], [new]) = (from.layers.all.as_slice(), to.layers.all.as_slice()) else {
            self.only_the_same(from.layers, to.layers, at, "patternProperties");
            return;
        };
        let pairs = |keyword: &str| {
            let map = |map: &'a Map<String, Value>| map.get(keyword).and_then(Value::as_object);
            let empty = || Vec::<(&'a String, &'a Value)>::new();
            let mut olds = map(old.map).map_or_else(empty, |map| map.iter().collect());
            let mut news = map(new.map).map_or_else(empty, |map| map.iter().collect());
            olds.sort_unstable_by_key(|(name, _)| *name);
            news.sort_unstable_by_key(|(name, _)| *name);
            let same_names = olds.iter().map(|(name, _)| name).eq(news.iter().map(|(name, _)| name));
            same_names.then(|| olds.into_iter().zip(news).map(|((name, old), (_, new))| (name, old, new)))
        };
        let (Some(patterns), Some(properties)) = (pairs("patternProperties"), pairs("properties")) else {
            self.say(
                at,
                "schema_changed",
                Effect::Both,
                "has other property names next to `patternProperties`: the effect is not known",
            );
            return;
        };
        // The gateway fills in defaults for properties, and leaves the others alone beside patterns.
        let around = Around { watched: true, mingled: true, ..around };
        let unfilled = around.without_defaults();
        for (name, old, new) in patterns {
            self.compare(&[old], &[new], &pointer::join(at, name), unfilled);
        }
        let required = to.required();
        for (name, old, new) in properties {
            let at = pointer::join(at, name);
            let (old, new) = (Member::only(old), Member::only(new));
            self.kept(&old, &new, required.contains(name.as_str()), &at, around);
        }
        self.rest(&from.rest(), &to.rest(), at, unfilled);
    }

    fn required(&mut self, from: &Object<'_, 'a>, to: &Object<'_, 'a>, at: &str, around: Around) {
        let (before, after) = (from.required(), to.required());
        let mut names: Vec<&str> = before.symmetric_difference(&after).copied().collect();
        names.sort_unstable();
        for name in names {
            let at = pointer::join(at, name);
            if before.contains(name) {
                self.say(&at, "required_removed", Effect::Wider, "is no longer required");
                continue;
            }
            if !self.spend(to.layers.all.len()) {
                return;
            }
            match self.default_of(Version::To, &to.member(name), around) {
                Some(_) => {
                    self.say(&at, "required_added", Effect::Harmless, "is required now, and has a default")
                }
                None => self.say(&at, "required_added", Effect::Narrower, "is required now"),
            }
        }
    }

    /// Reports a change, unless the subschemas are the same to the letter.
    pub(super) fn only_the_same(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str, keyword: &str) {
        let same = from.subschemas.len() == to.subschemas.len()
            && from.subschemas.iter().zip(&to.subschemas).all(|(from, to)| self.same(from, to));
        if !same {
            let message = format!("changed next to `{keyword}`: the effect is not known");
            self.say(at, "schema_changed", Effect::Both, message);
        }
    }
}

pub(super) fn breaks(found: &[Found]) -> bool {
    found.iter().any(|found| found.difference.breaking)
}

/// Whether `unevaluatedProperties` closes an object whose members are all named in plain sight;
/// nothing when it says something that is not understood.
fn closed_by_rest(layers: &Layers<'_>) -> Option<bool> {
    let said: Vec<&Value> = layers.every("unevaluatedProperties").collect();
    if said.iter().all(|value| **value == true) {
        return Some(false);
    }
    let at_the_top = layers.top()?.map.get("unevaluatedProperties") == Some(&Value::Bool(false));
    let closes = layers.every("additionalProperties").all(|value| *value == false);
    (said.len() == 1 && at_the_top && closes && !layers.says_any(&["patternProperties"])).then_some(true)
}
