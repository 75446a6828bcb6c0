//! States that a tool can be in, drawn from a seed.

use serde_json::{Value, json};

use crate::load::Rng;

/// Rights of which some callers hold each.
const RIGHTS: [&str; 3] = ["members.tenant.read", "entities.team.delete", "approvals.tenant.decide"];

pub(super) fn one_of(rng: &mut Rng, values: &[Value]) -> Value {
    values[usize::try_from(rng.below(values.len() as u64)).unwrap()].clone()
}

/// One value in most cases, another in some.
fn mostly(rng: &mut Rng, usual: Value, others: &[Value]) -> Value {
    if rng.chance(70) { usual } else { one_of(rng, others) }
}

/// What a definition says about who may call.
pub(super) fn definition(rng: &mut Rng) -> Value {
    let levels = [Value::Null, json!("read"), json!("draft"), json!("write"), json!("destructive")];
    json!({
        "permission_level": one_of(rng, &levels),
        "required_permission": mostly(rng, Value::Null, &RIGHTS.map(Value::from)),
    })
}

/// What can be switched about a tool of the tenant, whatever version is live.
pub(super) fn switches(rng: &mut Rng) -> Value {
    json!({
        "permission_policy": one_of(rng, &[Value::Null, json!("auto"), json!("always_ask")]),
        "enabled": mostly(rng, Value::Null, &[json!(true), json!(false)]),
        "is_active": rng.chance(85),
        "tenant_slugs": mostly(rng, json!([]), &[json!(["acme", "globex"]), json!(["globex"])]),
    })
}

/// Whether a tool changed on the server it comes from, and nobody has decided about that.
pub(super) fn held(rng: &mut Rng) -> bool {
    rng.chance(15)
}

/// What a tenant can say about a tool of the program.
pub(super) fn overlay(rng: &mut Rng) -> Value {
    json!({
        "permission_level": one_of(rng, &[Value::Null, json!("read"), json!("write"), json!("destructive")]),
        "permission_policy": one_of(rng, &[Value::Null, json!("auto"), json!("always_ask")]),
        "enabled": mostly(rng, Value::Null, &[json!(true), json!(false)]),
        "is_active": mostly(rng, Value::Null, &[json!(true), json!(false)]),
        "status": mostly(rng, Value::Null, &[json!("deprecated"), json!("disabled")]),
    })
}

/// Settings of a tenant.
pub(super) fn settings(rng: &mut Rng) -> Value {
    let yes_or_no = [Value::Null, json!(true), json!(false)];
    json!({ "approve_all_writes": one_of(rng, &yes_or_no), "forbid_self_approval": one_of(rng, &yes_or_no) })
}
