//! Choices between forms, and keywords that are only compared as a whole.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    Effect, Found, Part,
    alike::Version,
    layers::{Choice, Layers, Root},
    members::breaks,
    walk::{Around, Walk, depth},
};
use crate::outline::Types;

/// How many pairs of forms are tried to find which became which.
const PAIRS_MAX: usize = 256;

/// Keywords that make one demand together. Without the first of them the others say nothing.
const DEMANDS: &[&[&str]] = &[
    &["not"],
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
    &["dependentSchemas"],
    &["dependentRequired"],
    &["propertyNames"],
    &["contentEncoding"],
    &["contentMediaType"],
    &["contentSchema"],
];

impl<'a> Walk<'a> {
    /// Choices whose forms do not overlap, or may. A value fits when it fits one of the forms, so
    /// each form can be compared with its successor.
    pub(super) fn choices(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str, around: Around) {
        // Inside a choice nothing is filled in; where there is none, in one of the versions, it is.
        let outside = self.inside(from, to, around);
        let around = around.without_defaults();
        let (mut olds, mut news) = (self.free(Version::From, from), self.free(Version::To, to));
        if from.nullable != to.nullable && (!olds.is_empty() || !news.is_empty()) {
            self.say(
                at,
                "schema_changed",
                Effect::Both,
                "`null` changed next to a choice of forms: the effect is not known",
            );
        }
        self.drop_same(&mut olds, &mut news, |choice| choice.branches.iter().collect());
        let paired = olds.len().min(news.len());
        for (old, new) in olds.iter().zip(&news) {
            self.forms(old, new, at, around);
        }
        // A new choice only refuses values: callers notice, unless one of its forms takes all of theirs. A
        // dropped choice only allows values: readers notice, unless one of its forms had all of them.
        for new in &news[paired..] {
            let takes_all = self.part == Part::Input
                && (0..new.branches.len()).any(|index| {
                    let around = Around { from_defaults: outside.from_defaults, ..around };
                    let form = &[&new.branches[index]];
                    let found = self.trial(&from.subschemas, None, form, Some((new, index)), at, around);
                    !breaks(&found)
                });
            let effect = if takes_all { Effect::Wider } else { Effect::Narrower };
            self.say(at, "schema_changed", effect, "must fit one of several forms now");
        }
        for old in &olds[paired..] {
            let had_all = self.part == Part::Output
                && (0..old.branches.len()).any(|index| {
                    let around = Around { to_defaults: outside.to_defaults, ..around };
                    let form = &[&old.branches[index]];
                    let found = self.trial(form, Some((old, index)), &to.subschemas, None, at, around);
                    !breaks(&found)
                });
            let effect = if had_all { Effect::Narrower } else { Effect::Wider };
            self.say(at, "schema_changed", effect, "need no longer fit one of several forms");
        }
    }

    /// The choices that are as good as `anyOf`: a `oneOf` only if nothing can fit two of its forms.
    fn free(&mut self, version: Version, layers: &Layers<'a>) -> Vec<Choice<'a>> {
        let root = self.root(version);
        layers.choices().into_iter().filter(|choice| is_free(root, choice)).collect()
    }

    /// Compares two lists of subschemas aside, with the other forms of their choices noted beside them.
    fn trial(
        &mut self,
        from: &[&'a Value],
        from_choice: Option<(&Choice<'a>, usize)>,
        to: &[&'a Value],
        to_choice: Option<(&Choice<'a>, usize)>,
        at: &str,
        around: Around,
    ) -> Vec<Found> {
        let beside = self.beside.len();
        for (version, choice) in [(Version::From, from_choice), (Version::To, to_choice)] {
            let Some((choice, taken)) = choice else { continue };
            let others = choice.branches.iter().enumerate().filter(|(index, _)| *index != taken);
            self.beside.extend(others.map(|(_, branch)| (version, branch, depth(at))));
        }
        let found = self.aside(|walk| walk.compare(from, to, at, around));
        self.beside.truncate(beside);
        found
    }

    /// Finds the successor of each form.
    fn forms(&mut self, old: &Choice<'a>, new: &Choice<'a>, at: &str, around: Around) {
        let mut froms: Vec<usize> = (0..old.branches.len()).collect();
        let mut tos: Vec<usize> = (0..new.branches.len()).collect();
        froms.retain(|from| {
            if self.is_spent() {
                return true;
            }
            let same = tos.iter().position(|to| self.same(&old.branches[*from], &new.branches[*to]));
            same.map(|index| tos.remove(index)).is_none()
        });
        if PAIRS_MAX < froms.len() * tos.len() {
            self.say(at, "schema_changed", Effect::Both, "has too many other forms to be compared");
            return;
        }
        let before: Vec<Layers<'a>> =
            old.branches.iter().map(|branch| Layers::of(self.from, &[branch])).collect();
        let after: Vec<Layers<'a>> =
            new.branches.iter().map(|branch| Layers::of(self.to, &[branch])).collect();
        let mut pairs = Vec::new();
        for (from, to) in froms.iter().flat_map(|from| tos.iter().map(|to| (*from, *to))) {
            if !apart(&before[from], &after[to]) {
                let forms = (&[&old.branches[from]], &[&new.branches[to]]);
                let found = self.trial(forms.0, Some((old, from)), forms.1, Some((new, to)), at, around);
                pairs.push((found, from, to));
            }
        }
        // The pair with the least to tell comes first.
        pairs.sort_by_key(|(found, from, to)| (breaks(found), found.len(), *from, *to));
        for (found, from, to) in pairs {
            if froms.contains(&from) && tos.contains(&to) {
                froms.retain(|other| *other != from);
                tos.retain(|other| *other != to);
                self.found.extend(found);
            }
        }
        for _ in froms {
            self.say(at, "schema_changed", Effect::Narrower, "one of its forms is no longer accepted");
        }
        for _ in tos {
            self.say(at, "schema_changed", Effect::Wider, "another form is accepted");
        }
    }

    /// Demands that are the same on both sides or count as a change.
    pub(super) fn opaque(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str) {
        for keywords in DEMANDS {
            let of = |layers: &Layers<'a>| -> Vec<Vec<Option<&'a Value>>> {
                let demands = layers.all.iter().filter(|layer| layer.map.contains_key(keywords[0]));
                demands
                    .map(|layer| keywords.iter().map(|keyword| layer.map.get(*keyword)).collect())
                    .collect()
            };
            self.demand(of(from), of(to), keywords[0], from.nullable != to.nullable, at);
        }
        let bound = |root: &'a Root<'a>, layers: &Layers<'a>| -> Vec<Vec<Option<&'a Value>>> {
            let choices = layers.choices().into_iter().filter(|choice| !is_free(root, choice));
            choices.map(|choice| choice.branches.iter().map(Some).collect()).collect()
        };
        let (olds, news) = (bound(self.from, from), bound(self.to, to));
        self.demand(olds, news, "oneOf", from.nullable != to.nullable, at);
    }

    fn demand(
        &mut self,
        mut olds: Vec<Vec<Option<&'a Value>>>,
        mut news: Vec<Vec<Option<&'a Value>>>,
        keyword: &str,
        null_changed: bool,
        at: &str,
    ) {
        if null_changed && (!olds.is_empty() || !news.is_empty()) {
            let message = format!("`null` changed next to `{keyword}`: the effect is not known");
            self.say(at, "schema_changed", Effect::Both, message);
        }
        olds.retain(|old| {
            if self.is_spent() {
                return true;
            }
            let same = news.iter().position(|new| self.same_parts(old, new));
            same.map(|index| news.remove(index)).is_none()
        });
        let (effect, message) = match (olds.is_empty(), news.is_empty()) {
            (true, true) => return,
            (false, true) => (Effect::Wider, format!("`{keyword}` is no longer demanded")),
            (true, false) => (Effect::Narrower, format!("`{keyword}` is demanded now")),
            (false, false) => (Effect::Both, format!("`{keyword}` changed")),
        };
        self.say(at, "schema_changed", effect, message);
    }

    fn same_parts(&mut self, olds: &[Option<&'a Value>], news: &[Option<&'a Value>]) -> bool {
        olds.len() == news.len()
            && olds.iter().zip(news).all(|pair| match pair {
                (None, None) => true,
                (Some(old), Some(new)) => self.same(old, new),
                _ => false,
            })
    }

    /// Leaves out the entries that both sides have to the letter.
    fn drop_same<T>(&mut self, olds: &mut Vec<T>, news: &mut Vec<T>, parts: impl Fn(&T) -> Vec<&'a Value>) {
        olds.retain(|old| {
            if self.is_spent() {
                return true;
            }
            let old: Vec<Option<&'a Value>> = parts(old).into_iter().map(Some).collect();
            let same = news
                .iter()
                .position(|new| self.same_parts(&old, &parts(new).into_iter().map(Some).collect::<Vec<_>>()));
            same.map(|index| news.remove(index)).is_none()
        });
    }
}

fn is_free<'a>(root: &'a Root<'a>, choice: &Choice<'a>) -> bool {
    if choice.keyword == "anyOf" {
        return true;
    }
    let count = choice.branches.len();
    if PAIRS_MAX < count * count {
        return false;
    }
    let layers: Vec<Layers<'_>> = choice.branches.iter().map(|branch| Layers::of(root, &[branch])).collect();
    layers.iter().enumerate().all(|(index, one)| layers[index + 1..].iter().all(|other| apart(one, other)))
}

/// Whether it is plain that nothing fits both: they have no type in common, or no constant, or are
/// objects that must carry different tags.
fn apart(one: &Layers<'_>, other: &Layers<'_>) -> bool {
    let (types, other_types) = (one.possible_types(), other.possible_types());
    if !types.meets(other_types) {
        return true;
    }
    if let (Some(values), Some(others)) = (one.values(), other.values()) {
        let others: HashSet<&str> = others.iter().map(|(text, _)| text.as_str()).collect();
        return !values.iter().any(|(text, _)| others.contains(text.as_str()));
    }
    let common = types & other_types;
    common.without(Types::OBJECT) == Types::ANY.without(Types::ANY) && tagged_apart(one, other)
}

fn tagged_apart(one: &Layers<'_>, other: &Layers<'_>) -> bool {
    let others = other.tags();
    one.tags().iter().any(|(name, values)| {
        others.iter().any(|(other, other_values)| name == other && values.is_disjoint(other_values))
    })
}
