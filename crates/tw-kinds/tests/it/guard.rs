//! Addresses that are not called.

use std::sync::Arc;

use serde_json::json;
use tokio::time::Instant;
use tw_egress::{Egress, Policy, Reach};
use tw_kinds::http::{Circuits, HttpSpec, World};
use tw_model::{Code, TenantId};
use tw_test::Upstream;

use crate::{Members, PATIENCE, Vault, some_tool};

#[tokio::test]
async fn own_network_is_not_called_however_it_is_spelled() {
    let upstream = Upstream::start().await;
    let port = upstream.port();
    let egress = Egress::new(Policy::new(Reach::Public, [] as [&str; 0]).unwrap());
    let circuit = Circuits::default().get(some_tool());
    let hosts = [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "[::1]",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "①②⑦.0.0.1",
        "%31%32%37.0.0.1",
        "169.254.169.254",
        "10.0.0.1",
    ];
    for host in hosts {
        let implementation =
            json!({ "url": format!("http://{host}:{port}/{{{{ input.a }}}}"), "retry": { "max": 2 } });
        let spec = Arc::new(HttpSpec::read(&implementation, &Members).unwrap());
        let world = World {
            tenant: TenantId::new(),
            egress: &egress,
            secrets: &Vault::default(),
            jq: &Members,
            deadline: Instant::now() + PATIENCE,
            idempotency_key: "run-1",
            circuit: &circuit,
        };
        let failure = spec.call(&world, &json!({ "a": "x" })).await.unwrap_err();
        assert_eq!(failure.code, Code::EgressDenied, "{host}: {failure}");
        assert!(failure.message.contains("egress.allow"), "{host}: {failure}");
    }
    assert_eq!(upstream.connections(), 0);
}
