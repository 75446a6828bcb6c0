use serde_json::json;
use tw_sandbox::Worker;

use super::*;

#[track_caller]
fn check(source: &str, named: &[&str], others: bool) {
    let calls = NamedCalls::of(source);
    assert_eq!(calls.named.iter().map(String::as_str).collect::<Vec<_>>(), named, "{source}");
    assert_eq!(calls.others, others, "{source}");
}

#[test]
fn tools_are_known_by_names_that_are_written_out() {
    check("export default () => 1", &[], false);
    check(
        "ctx.callTool('b', {}); ctx.callTool( \"a.b\" ); ctx.callTool(`c-d`, 1)",
        &["a.b", "b", "c-d"],
        false,
    );
    check("ctx.callTool(name, {}); ctx.callTool('a' + b)", &[], true);
    check("ctx.callTool(`a.${b}`)", &[], true);
    check("// ctx.callTool('a')\n/* callTool('b') */ ctx.callTool('c')", &["c"], false);
    check("'https://h.test'; ctx.callTool('c')", &["c"], false);
    check("({ callTool }) => callTool('a')", &["a"], true);
}

// A worker is not part of the tests of this crate, so these never come to reading a source.
#[test]
fn everything_wrong_beside_the_source_is_told_at_once() {
    let sandbox = Sandbox::new(Worker::this_program());
    let places = |implementation: Value| {
        let faults = Artifact::read(&implementation, &sandbox, true).unwrap_err();
        faults.into_iter().map(|fault| format!("{} {}", fault.path, fault.code.as_str())).collect::<Vec<_>>()
    };
    assert_eq!(
        places(json!({ "language": "python", "sauce": 1 })),
        [
            "/implementation/sauce unknown_member",
            "/implementation/language enum",
            "/implementation/source required"
        ]
    );
    assert_eq!(
        places(json!({ "source": 1 })),
        ["/implementation/language required", "/implementation/source type"]
    );
    let long = json!({ "language": "javascript", "source": "a".repeat(SCRIPT_BYTES_MAX + 1) });
    assert_eq!(places(long), ["/implementation/source max_bytes"]);
}

#[test]
fn run_that_waits_for_several_waits_for_all() {
    let runs = |needs_approval| Wait::Runs { ids: vec![tw_model::RunId::new()], needs_approval };
    let Wait::Runs { ids, needs_approval } = both(Some(runs(true)), runs(false)) else { panic!() };
    assert_eq!((ids.len(), needs_approval), (2, true));
    assert!(matches!(both(Some(runs(true)), Wait::Replica), Wait::Replica));
    assert!(matches!(both(Some(Wait::Replica), runs(true)), Wait::Replica));
}
