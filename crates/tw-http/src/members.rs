//! Bodies as types: a body with a member that its type does not know is refused.

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use tw_base::{drop_refused_of_client, is_of_client};
use tw_schema::Fault;
use utoipa::{
    PartialSchema,
    openapi::{RefOr, Schema},
};

use crate::problem::Problem;

/// How many faults of one body are told: a body of ours has fewer members.
const TOLD_MAX: usize = 10;
/// In how many places of one body a client's own members are looked for below its top: more than any type of ours has.
const OWN_PLACES_MAX: usize = 16;

/// What a handler reads out of a body. The type must refuse unknown fields (`#[serde(deny_unknown_fields)]`).
pub(crate) trait Body: DeserializeOwned + PartialSchema {
    /// Members of the record that only the server sets. Whoever sends back what was read sends them; they change
    /// nothing.
    const READ_ONLY: &'static [&'static str] = &[];
}

/// Tools and credentials: the engine reads those bodies as a whole and knows their members.
impl Body for Value {}

/// An empty body. The route needs none.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

impl Body for Nothing {}

/// Reads a body that is known to be a JSON object, or tells what is wrong with it.
pub(crate) fn read<T: Body>(bytes: &[u8]) -> Result<T, Problem> {
    // Nearly every body is read at once. Only what does not fit is looked at member by member.
    read_text(bytes).or_else(|fault| match serde_json::from_slice(bytes) {
        Ok(members) => read_members(without_own::<T>(members)),
        Err(_) => Err(Problem::faulty(vec![fault])),
    })
}

type Members<'a> = BTreeMap<String, Cow<'a, RawValue>>;

/// Members without those that change nothing: the client's own, at every level, and what only the server sets.
fn without_own<T: Body>(members: BTreeMap<String, &RawValue>) -> Members<'_> {
    let meant = members
        .into_iter()
        .filter(|(name, _)| !is_of_client(name) && !T::READ_ONLY.contains(&name.as_str()))
        .map(|(name, value)| (name, Cow::Borrowed(value)));
    let mut meant: Members<'_> = meant.collect();
    for _ in 0..OWN_PLACES_MAX {
        let Err(fault) = read_text::<T>(&text(&meant)) else { break };
        let name = first_step(&fault.path);
        let Some(member) = meant.get_mut(&name) else { break };
        let mut value: Value = serde_json::from_str(member.get()).unwrap_or_default();
        let place = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        if fault.path == place || !drop_refused_of_client(&mut value, &place, &fault) {
            break;
        }
        *member = Cow::Owned(to_raw_value(&value).expect("JSON can be written as JSON"));
    }
    meant
}

fn read_members<T: Body>(mut members: Members<'_>) -> Result<T, Problem> {
    let mut faults = Vec::new();
    for (name, value) in &members {
        // Alone, a member fails at its own place, or because others are missing.
        let alone = Members::from([(name.clone(), value.clone())]);
        let fault = read_text::<T>(&text(&alone)).err();
        faults.extend(fault.filter(|fault| first_step(&fault.path) == *name));
        if faults.len() == TOLD_MAX {
            return Err(Problem::faulty(faults));
        }
    }
    members.retain(|name, _| !faults.iter().any(|fault| first_step(&fault.path) == *name));
    match read_text(&text(&members)) {
        Ok(body) if faults.is_empty() => return Ok(body),
        Ok(_) => {}
        Err(fault) => {
            let is_told = |name: &str| faults.iter().any(|told| first_step(&told.path) == name);
            let missing = missing::<T>(&members, &fault).into_iter();
            let missing: Vec<Fault> = missing.filter(|fault| !is_told(&first_step(&fault.path))).collect();
            faults.extend(missing);
        }
    }
    Err(Problem::faulty(faults))
}

/// The first fault of the rest says that a member is missing, or what is wrong with all of it; others may be missing
/// too.
fn missing<T: Body>(members: &Members<'_>, first: &Fault) -> Vec<Fault> {
    let mut faults = vec![first.clone()];
    if let RefOr::T(Schema::Object(schema)) = T::schema()
        && schema.required.contains(&first_step(&first.path))
    {
        let absent = schema.required.iter().filter(|name| !members.contains_key(*name));
        let places = absent.map(|name| format!("/{name}")).filter(|path| *path != first.path);
        faults.extend(places.map(|path| Fault { path, ..first.clone() }));
    }
    faults
}

fn read_text<T: Body>(text: &[u8]) -> Result<T, Fault> {
    tw_base::read_sent("", &mut serde_json::Deserializer::from_slice(text))
}

fn text(members: &Members<'_>) -> Vec<u8> {
    serde_json::to_vec(members).expect("members of JSON are JSON")
}

/// The name of the member that a JSON pointer leads into.
fn first_step(path: &str) -> String {
    path.split('/').nth(1).unwrap_or_default().replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize, utoipa::ToSchema)]
    #[serde(deny_unknown_fields)]
    struct Person {
        name: String,
        #[schema(value_type = String)]
        role: tw_model::Mode,
        #[serde(default, alias = "callId")]
        call_id: Option<u8>,
        #[serde(default)]
        #[schema(value_type = Vec<Object>)]
        homes: Vec<Home>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Home {
        #[serde(default)]
        rooms: BTreeMap<String, u8>,
    }

    impl Body for Person {
        const READ_ONLY: &'static [&'static str] = &["id", "created_at"];
    }

    #[test]
    fn members_of_the_record_and_of_the_client_are_taken_and_no_others() {
        let plain = br#"{"name":"a","role":"debug","call_id":1}"#;
        let sent_back = br#"{"id":"1","created_at":[],"x_mine":{},"callId":1,"name":"a","role":"debug"}"#;
        assert_eq!(read::<Person>(plain).unwrap(), read::<Person>(sent_back).unwrap());
        check(br#"{"name":"a","role":"debug","titel":1}"#, &["/titel"]);
        check(br#"{"name":"a","role":"debug","x":1,"X_a":2,"a/b":3}"#, &["/X_a", "/a~1b", "/x"]);
    }

    #[test]
    fn members_of_the_client_are_taken_at_every_level_where_unknown_ones_are_refused() {
        let body = |homes: &str| format!(r#"{{"name":"a","role":"debug","homes":{homes}}}"#);
        let plain = read::<Person>(body(r#"[{"rooms":{"x_a":1}},{}]"#).as_bytes()).unwrap();
        let own = body(r#"[{"rooms":{"x_a":1},"x_b":{}},{"x_c":1,"x_d":2}]"#);
        assert_eq!(read::<Person>(own.as_bytes()).unwrap(), plain);
        check(body(r#"[{"x_b":1,"zz":1}]"#).as_bytes(), &["/homes/0/zz"]);
    }

    #[test]
    fn every_fault_is_told_missing_members_last() {
        check(br#"{}"#, &["/name", "/role"]);
        check(br#"{"role":"slow","zzz":1}"#, &["/role", "/zzz", "/name"]);
        check(br#"{"name":5,"role":"slow","call_id":-1}"#, &["/call_id", "/name", "/role"]);
        check(br#"{"x_a":1}"#, &["/name", "/role"]);
    }

    #[test]
    fn body_of_countless_unknown_members_is_told_shortly() {
        let members: Vec<String> = (0..1000).map(|number| format!("\"key{number}\":1")).collect();
        let problem = read::<Person>(format!("{{{}}}", members.join(",")).as_bytes()).unwrap_err();
        assert_eq!(problem.paths().len(), TOLD_MAX);
    }

    #[track_caller]
    fn check(body: &[u8], places: &[&str]) {
        assert_eq!(read::<Person>(body).unwrap_err().paths(), places);
    }
}
