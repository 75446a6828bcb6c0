//! Keys by which services outside know a repeated request.

use uuid::Uuid;

use crate::{Principal, TenantId};

/// The namespace of keys that are sent to services.
const NAMESPACE: Uuid = Uuid::from_u128(0x1f77_0c1e_93a4_4e0f_8d55_21c6_b0a7_94d3);

/// The key for what a caller asks for under an idempotency key of its own: the same whenever the same caller asks the
/// same route under the same key, and not to be guessed back by the service that sees it.
#[must_use]
pub fn upstream_key(tenant: TenantId, principal: &Principal, route: &str, key: &str) -> String {
    hashed(&[&tenant.to_string(), &principal.label(), route, key])
}

/// The key for a call that a run makes within itself, by the name of its step.
#[must_use]
pub fn upstream_key_within(outer: &str, step: &str) -> String {
    hashed(&[outer, step])
}

/// Each part stands behind its length, so that no two lists of parts read the same.
fn hashed(parts: &[&str]) -> String {
    let text: String = parts.iter().map(|part| format!("{}:{part}", part.len())).collect();
    Uuid::new_v5(&NAMESPACE, text.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UserId;

    #[test]
    fn key_is_the_same_for_the_same_caller_route_and_key_alone() {
        let (tenant, user) = (TenantId::new(), Principal::User { id: UserId::new() });
        let other = Principal::Agent { slug: "a".to_owned(), owner: UserId::new() };
        let key = upstream_key(tenant, &user, "run", "k-1");
        assert_eq!(key, upstream_key(tenant, &user, "run", "k-1"));
        assert!(!key.contains("k-1"));
        for different in [
            upstream_key(TenantId::new(), &user, "run", "k-1"),
            upstream_key(tenant, &other, "run", "k-1"),
            upstream_key(tenant, &user, "runk", "-1"),
            upstream_key(tenant, &user, "run", "k-2"),
            upstream_key_within(&key, "a"),
        ] {
            assert_ne!(key, different);
        }
        assert_ne!(upstream_key_within(&key, "a"), upstream_key_within(&key, "b"));
    }
}
