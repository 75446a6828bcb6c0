//! What is on offer.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use tw_base::Result;
use tw_identity::rights::{Permit, RunTools};
use tw_model::Level;
use tw_registry::Callable;

use crate::{Door, KeptList, era::Era};

/// The tool by which a client collects what it could not wait for.
pub(crate) const GET_RUN: &str = "get_run";
/// How long a client may use a list without asking again. Changes are rare, and a call of a tool that is
/// gone is told so.
const TTL_MS: u64 = 5_000;

impl Door {
    /// The list of this caller's tools, written once per toolset and not per request.
    pub(crate) async fn listed(&self, permit: &Permit<RunTools>, era: Era) -> Result<Bytes> {
        let key = (self.engine.registry().toolset_key(permit.caller()), era == Era::Present);
        let epoch = permit.caller().epoch;
        let kept = self.lists.get(&key).await;
        if let Some(kept) = kept.as_ref().filter(|kept| kept.epoch == epoch) {
            return Ok(kept.bytes.clone());
        }
        let bytes = self.write_list(permit, era).await?;
        // A request that began before a change must not put the old list in the place of the new one.
        if kept.is_none_or(|kept| kept.epoch < epoch) {
            self.lists.insert(key, KeptList { epoch, bytes: bytes.clone() }).await;
        }
        Ok(bytes)
    }

    async fn write_list(&self, permit: &Permit<RunTools>, era: Era) -> Result<Bytes> {
        let tools = self.engine.registry().toolset(permit).await?;
        let mut listed: Vec<Value> = tools
            .iter()
            .filter(|tool| tool.def.slug.as_str() != GET_RUN)
            .map(|tool| self.entry(tool, era))
            .collect();
        listed.push(get_run());
        listed.sort_by(|left, right| left["name"].as_str().cmp(&right["name"].as_str()));
        let mut result = json!({ "tools": listed });
        if era == Era::Present {
            result["resultType"] = json!("complete");
            result["ttlMs"] = json!(TTL_MS);
            result["cacheScope"] = json!("private");
        }
        Ok(Bytes::from(serde_json::to_vec(&result).expect("a list of tools is plain JSON")))
    }

    fn entry(&self, tool: &Callable, era: Era) -> Value {
        let def = &tool.def;
        let mut entry = Map::new();
        entry.insert("name".to_owned(), json!(def.slug.as_str()));
        entry.insert("title".to_owned(), json!(def.name));
        entry.insert("description".to_owned(), json!(def.description));
        if let Some(path) = (self.settings.icon_path)(&def.icon) {
            let place = format!("{}{path}", self.settings.base.trim_end_matches('/'));
            let icons = json!([{ "src": place, "mimeType": "image/svg+xml", "sizes": ["any"] }]);
            entry.insert("icons".to_owned(), icons);
        }
        let mut input = for_models(&def.input_schema);
        tw_schema::without_unfit_mirrors(&mut input);
        entry.insert("inputSchema".to_owned(), input);
        entry.insert("outputSchema".to_owned(), for_models(&output_schema(tool, era)));
        entry.insert("annotations".to_owned(), annotations(tool));
        Value::Object(entry)
    }
}

/// A schema as models read it: in the words of its author, and without what some clients stumble over.
fn for_models(schema: &Value) -> Value {
    tw_schema::without_booleans(&tw_schema::without_translations(schema))
}

/// Hints from the permission level. Clients ask their user or not by these, so a tool without a level
/// counts as one that may do harm.
fn annotations(tool: &Callable) -> Value {
    let def = &tool.def;
    let read_only = matches!(def.level, Some(Level::Read | Level::Draft));
    json!({
        "title": def.name,
        "readOnlyHint": read_only,
        "destructiveHint": matches!(def.level, Some(Level::Destructive)) || def.level.is_none(),
        "idempotentHint": def.is_idempotent(),
        "openWorldHint": tool.open_world,
    })
}

/// How the output of a tool becomes structured content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    AsItIs,
    /// As the member `result` of an object.
    InResult,
    /// The same, unless it is an object: the tool has no schema, and is listed with the promise of an object.
    InResultUnlessObject,
}

impl Shape {
    /// Structured content was an object, always, before the present revision; and an answer that waits is one too.
    pub(crate) fn of(tool: &Callable, era: Era) -> Self {
        match tool.def.output_schema.as_deref() {
            None => Self::InResultUnlessObject,
            Some(own) if is_object(own) => Self::AsItIs,
            Some(_) if era == Era::Present && !tool.can_be_pending() => Self::AsItIs,
            Some(_) => Self::InResult,
        }
    }
}

/// The schema of the structured content. Real clients refuse a result without structured content where a
/// schema is declared, so the schema of a tool that may answer pending allows that answer too.
fn output_schema(tool: &Callable, era: Era) -> Value {
    let open = json!({ "type": "object" });
    let own = tool.def.output_schema.as_deref().unwrap_or(&open);
    let own = match Shape::of(tool, era) {
        Shape::InResult => in_result(own),
        Shape::AsItIs | Shape::InResultUnlessObject => own.clone(),
    };
    if tool.can_be_pending() { or_pending(&own) } else { own }
}

fn in_result(own: &Value) -> Value {
    let mut own = tw_schema::moved(own, "/properties/result");
    let mut schema = Map::new();
    let dialect = own.as_object_mut().and_then(|own| own.shift_remove("$schema"));
    schema.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect)));
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), json!({ "result": own }));
    schema.insert("required".to_owned(), json!(["result"]));
    Value::Object(schema)
}

fn or_pending(own: &Value) -> Value {
    let mut own = tw_schema::moved(own, "/anyOf/0");
    let mut schema = Map::new();
    let dialect = own.as_object_mut().and_then(|own| own.shift_remove("$schema"));
    schema.extend(dialect.map(|dialect| ("$schema".to_owned(), dialect)));
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("anyOf".to_owned(), json!([own, pending_schema()]));
    Value::Object(schema)
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

fn pending_schema() -> Value {
    json!({
        "type": "object",
        "description": "The call waits; collect its result with get_run",
        "properties": {
            "status": { "enum": ["pending", "needs_approval"] },
            "run_id": { "type": "string" },
            "approval_id": { "type": "string" },
            "url": { "type": "string" },
        },
        "required": ["status", "run_id", "url"],
    })
}

fn get_run() -> Value {
    json!({
        "name": GET_RUN,
        "title": "Get a run",
        "description": "Gets the result of a call that was answered as pending. Give the `run_id` from that answer. While the call still waits, `status` says for what.",
        "inputSchema": {
            "type": "object",
            "properties": { "run_id": { "type": "string", "description": "The id of the run" } },
            "required": ["run_id"],
            "additionalProperties": false,
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "run_id": { "type": "string" },
                "tool": { "type": "string" },
                "status": { "type": "string" },
                "output": {},
                "summary": { "type": ["string", "null"] },
                "error": { "type": ["string", "null"] },
                "error_code": { "type": ["string", "null"] },
                "late_result": { "description": "What was answered after the run had timed out" },
            },
            "required": ["run_id", "tool", "status"],
        },
        "annotations": {
            "title": "Get a run", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
            "openWorldHint": false,
        },
    })
}

#[cfg(test)]
mod tests {
    use tw_schema::Schema;

    use super::*;

    #[test]
    fn references_of_a_tools_own_schema_lead_to_where_it_is_listed() {
        let money = json!({ "type": "integer", "minimum": 0 });
        for own in [
            json!({ "type": "object", "properties": { "net": money, "gross": { "$ref": "#/properties/net" } } }),
            json!({ "type": "object", "properties": { "gross": { "$ref": "#/$defs/m" } }, "$defs": { "m": money } }),
            json!({ "type": "object", "properties": { "gross": money, "parts": { "items": { "$ref": "#" } } } }),
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "$id": "https://example.com/bill",
                "type": "object",
                "properties": { "gross": { "$ref": "#/definitions/m" } },
                "definitions": { "m": money },
            }),
        ] {
            let listed = or_pending(&own);
            assert!(listed["type"] == "object" && listed["$schema"] == own["$schema"], "{listed}");
            let listed = Schema::compile(&listed).unwrap_or_else(|fault| panic!("{listed}: {fault}"));
            assert!(listed.is_valid(&json!({ "gross": 1 })), "{own}");
            assert!(!listed.is_valid(&json!({ "gross": -1 })), "{own}");
            let pending = json!({ "gross": -1, "status": "pending", "run_id": "1", "url": "u" });
            assert!(listed.is_valid(&pending), "{own}");
            if own["properties"].get("parts").is_some() {
                assert!(!listed.is_valid(&json!({ "parts": [{ "gross": -1 }] })));
                assert!(!listed.is_valid(&json!({ "parts": [{ "status": "pending", "gross": -1 }] })));
            }
        }
    }
}
