//! What the description says about values beyond their types: closed sets of words, smallest and largest.
//!
//! Said in one place, because the same parameter stands at many routes, and the words are those that the handlers read.

use tw_base::PageRequest;
use tw_engine::Note;
use tw_model::{
    ActsAs, CredentialType, Layer, Level, Mode, Origin, Policy, Role, RunStatus, Source, ToolDef, ToolStatus,
    WebhookEvent,
};
use tw_registry::EndStatus;
use utoipa::{
    Modify, Number,
    openapi::{
        Array, KnownFormat, Object, OpenApi, RefOr, Schema, SchemaFormat,
        path::{Operation, ParameterIn},
        schema::{ArrayItems, SchemaType, Type},
    },
};

use crate::idempotent::KEY_LEN_MAX;

/// Where a stream of events starts: a sequence number, or `latest`.
const SEQUENCE: &str = "^([0-9]+|latest)$";

/// Goes over the whole description.
pub(super) struct Bounds;

impl Modify for Bounds {
    fn modify(&self, openapi: &mut OpenApi) {
        for (path, item) in &mut openapi.paths.paths {
            let operations =
                [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch];
            operations.into_iter().flatten().for_each(|operation| bound_parameters(path, operation));
        }
        let schemas = openapi.components.iter_mut().flat_map(|components| &mut components.schemas);
        for (name, schema) in schemas {
            bound_members(name, schema);
        }
    }
}

fn bound_parameters(path: &str, operation: &mut Operation) {
    for parameter in operation.parameters.iter_mut().flatten() {
        let RefOr::T(parameter) = parameter else { continue };
        let Some(RefOr::T(Schema::Object(schema))) = &mut parameter.schema else { continue };
        match (parameter.name.as_str(), &parameter.parameter_in) {
            ("limit", ParameterIn::Query) => {
                between(schema, 1, PageRequest::LIMIT_MAX);
                schema.default = Some(PageRequest::LIMIT_DEFAULT.into());
            }
            ("offset", ParameterIn::Query) => between(schema, 0, PageRequest::OFFSET_MAX),
            ("after", ParameterIn::Query) if is_integer(schema) => between(schema, 0, u32::MAX),
            ("after", ParameterIn::Query) => schema.pattern = Some(SEQUENCE.to_owned()),
            ("since" | "until", ParameterIn::Query) => {
                schema.format = Some(SchemaFormat::KnownFormat(KnownFormat::DateTime));
            }
            ("Idempotency-Key", ParameterIn::Header) => {
                schema.min_length = Some(1);
                schema.max_length = Some(KEY_LEN_MAX);
            }
            (name, ParameterIn::Query) => {
                if let Some(words) = words_of_parameter(path, name) {
                    one_of(schema, &words);
                }
            }
            _ => {}
        }
    }
}

fn words_of_parameter(path: &str, name: &str) -> Option<Vec<&'static str>> {
    Some(match (path, name) {
        ("/api/approvals", "status") => super::approvals::STATUSES.to_vec(),
        ("/api/standing-approvals", "status") => super::standing::STATUSES.to_vec(),
        ("/api/runs", "status") => RunStatus::ALL.map(RunStatus::as_str).to_vec(),
        ("/api/runs", "mode") => vec![Mode::Production.as_str(), Mode::Debug.as_str()],
        ("/api/runs", "source") => Source::ALL.map(Source::as_str).to_vec(),
        ("/api/tools", "status") => ToolStatus::ALL.iter().map(|word| word.as_str()).collect(),
        ("/api/tools", "tool_type") => ToolDef::TOOL_TYPES.to_vec(),
        ("/api/tools", "kind") => Layer::ALL.iter().map(|word| word.as_str()).collect(),
        ("/api/tools", "origin") => Origin::ALL.iter().map(|word| word.as_str()).collect(),
        ("/api/tools/{tool}/versions", "kind") => {
            [Note::Save, Note::Publish, Note::Version].map(Note::as_str).to_vec()
        }
        _ => return None,
    })
}

fn bound_members(name: &str, schema: &mut RefOr<Schema>) {
    let members = match schema {
        RefOr::T(Schema::Object(object)) => &mut object.properties,
        // A record that holds another: its own members come last.
        RefOr::T(Schema::AllOf(parts)) => {
            return parts.items.iter_mut().for_each(|part| bound_members(name, part));
        }
        _ => return,
    };
    for (member, schema) in members {
        if let RefOr::T(Schema::Array(list)) = schema {
            bound_items(name, member, list);
        }
        let RefOr::T(Schema::Object(schema)) = schema else { continue };
        if let Some(words) = words_of_member(name, member) {
            one_of(schema, &words);
        } else if member == "wait_ms" {
            between(schema, 0, super::tools::WAIT_MS_MAX);
        } else if member == "for_s" {
            between(schema, 1, super::approvals::STANDING_S_MAX);
        }
    }
}

fn bound_items(name: &str, member: &str, list: &mut Array) {
    if let (Some(words), ArrayItems::RefOrSchema(items)) = (words_of_member(name, member), &mut list.items)
        && let RefOr::T(Schema::Object(item)) = &mut **items
    {
        one_of(item, &words);
        list.min_items = Some(1);
    }
}

/// The members of requests alone: an answer of a later server may have further words, and readers should expect them.
fn words_of_member(schema: &str, member: &str) -> Option<Vec<&'static str>> {
    Some(match (schema, member) {
        ("CreateKey" | "CreateUser" | "ChangeUser", "role") => Role::ALL.map(Role::as_str).to_vec(),
        ("CreateKey", "acts_as") => vec![ActsAs::User.as_str(), ActsAs::Agent.as_str()],
        ("Expectation", "status") => EndStatus::ALL.map(EndStatus::as_str).to_vec(),
        ("RunRequest", "mode") => vec![Mode::Production.as_str(), Mode::Debug.as_str()],
        ("ToolBody", "permission_level") => Level::ALL.iter().map(|word| word.as_str()).collect(),
        ("ToolBody", "permission_policy") => Policy::ALL.iter().map(|word| word.as_str()).collect(),
        ("CreateWebhook" | "ChangeWebhook", "events") => WebhookEvent::ALL.map(WebhookEvent::as_str).to_vec(),
        ("CredentialBody", "type") => CredentialType::ALL.map(CredentialType::as_str).to_vec(),
        _ => return None,
    })
}

/// A closed set of words, and `null` where that may stand there too.
fn one_of(schema: &mut Object, words: &[&'static str]) {
    let mut all: Vec<serde_json::Value> = words.iter().map(|word| (*word).into()).collect();
    if matches!(&schema.schema_type, SchemaType::Array(types) if types.contains(&Type::Null)) {
        all.push(serde_json::Value::Null);
    }
    schema.enum_values = Some(all);
}

fn between(schema: &mut Object, least: usize, most: impl TryInto<usize>) {
    schema.minimum = Some(Number::UInt(least));
    schema.maximum = most.try_into().ok().map(Number::UInt);
}

fn is_integer(schema: &Object) -> bool {
    match &schema.schema_type {
        SchemaType::Type(one) => *one == Type::Integer,
        SchemaType::Array(several) => several.contains(&Type::Integer),
        SchemaType::AnyValue => false,
    }
}
