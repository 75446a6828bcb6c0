//! Renaming of properties with another spelling.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{Coercing, Coercion};
use crate::{
    outline::{Additional, NodeId, Outline},
    pointer,
};

impl Coercing<'_> {
    /// Gives properties the names that the schema knows them by.
    pub(super) fn rename(&mut self, layers: &[NodeId], members: &mut Map<String, Value>, at: &str) {
        let outline = self.outline;
        let known = |name: &str| layers.iter().any(|id| outline.nodes[*id].by_name.contains_key(name));
        if members.keys().all(|name| known(name)) {
            return;
        }
        let spellings = Spellings::of_absent(outline, layers, members);
        let mut takers: HashMap<&str, Vec<String>> = HashMap::new();
        for name in members.keys().filter(|name| !known(name)) {
            if let Some(to) = spellings.meant_by(name) {
                takers.entry(to).or_default().push(name.clone());
            }
        }
        if takers.is_empty()
            && let Some((to, name)) = abbreviated(outline, layers, members)
        {
            takers.insert(to, vec![name]);
        }
        // Two that would take one name: no telling which was meant.
        takers.retain(|_, names| names.len() == 1);
        let renamed: HashMap<String, &str> =
            takers.into_iter().filter_map(|(to, mut names)| Some((names.pop()?, to))).collect();
        if renamed.is_empty() {
            return;
        }
        // Rebuilt and not removed and added, so that every property keeps its place.
        let mut rebuilt = Map::with_capacity(members.len());
        for (name, value) in std::mem::take(members) {
            let Some(to) = renamed.get(&name) else {
                rebuilt.insert(name, value);
                continue;
            };
            rebuilt.insert((*to).to_owned(), value);
            self.done.push(Coercion { path: pointer::join(at, to), from: name, to: (*to).to_owned() });
        }
        *members = rebuilt;
    }
}

/// The one required property that is absent, and the one unknown name that its own begins with.
fn abbreviated<'a>(
    outline: &'a Outline,
    layers: &[NodeId],
    members: &Map<String, Value>,
) -> Option<(&'a str, String)> {
    let known = |name: &str| layers.iter().any(|id| outline.nodes[*id].by_name.contains_key(name));
    let mut absent: Vec<&str> =
        layers.iter().flat_map(|id| &outline.nodes[*id].required).map(String::as_str).collect();
    absent.retain(|name| !members.contains_key(*name));
    absent.dedup();
    let unknown: Vec<&String> = members.keys().filter(|name| !known(name)).collect();
    let ([absent], [unknown]) = (absent.as_slice(), unknown.as_slice()) else { return None };
    let short = plain(unknown);
    let is_meant = known(absent) && !short.is_empty() && plain(absent).starts_with(&short);
    (is_meant && !welcomes_other_names(outline, layers)).then(|| (*absent, (*unknown).clone()))
}

/// The spellings of the properties that a schema declares and an object lacks. One that could be
/// two properties stands for none.
struct Spellings<'a> {
    by_alias: HashMap<&'a str, Option<&'a str>>,
    by_plain: HashMap<String, Option<&'a str>>,
}

impl<'a> Spellings<'a> {
    fn of_absent(outline: &'a Outline, layers: &[NodeId], members: &Map<String, Value>) -> Self {
        let mut spellings = Self { by_alias: HashMap::new(), by_plain: HashMap::new() };
        let mut seen = HashSet::new();
        let similar_too = !welcomes_other_names(outline, layers);
        let declared = layers.iter().flat_map(|id| &outline.nodes[*id].properties);
        for (name, _) in declared.filter(|(name, _)| !members.contains_key(name)) {
            if !seen.insert(name) {
                continue;
            }
            for id in outline.layers_unless_null(&outline.member(layers, name)) {
                for alias in &outline.nodes[id].aliases {
                    note(&mut spellings.by_alias, alias, name);
                }
            }
            if similar_too {
                note(&mut spellings.by_plain, plain(name), name);
            }
        }
        spellings
    }

    /// The one property that a name can only mean.
    fn meant_by(&self, name: &str) -> Option<&'a str> {
        self.by_alias.get(name).or_else(|| self.by_plain.get(&plain(name))).copied().flatten()
    }
}

fn note<'a, K: std::hash::Hash + Eq>(spellings: &mut HashMap<K, Option<&'a str>>, key: K, name: &'a str) {
    let one = spellings.entry(key).or_insert(Some(name));
    if *one != Some(name) {
        *one = None;
    }
}

/// Whether the schema expressly takes properties it does not name. Then a name that is merely
/// similar to another may well be itself.
fn welcomes_other_names(outline: &Outline, layers: &[NodeId]) -> bool {
    let mut nodes = layers.iter().map(|id| &outline.nodes[*id]);
    let closed =
        |node: &crate::outline::Node| node.additional == Additional::Closed && node.patterns.is_empty();
    !nodes.clone().any(closed)
        && nodes.any(|node| {
            !node.patterns.is_empty() || matches!(node.additional, Additional::Open | Additional::Schema(_))
        })
}

/// A name without what distinguishes its spellings: `discount_rate`, `discount-rate`, `discountRate`.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}
