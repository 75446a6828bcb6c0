//! What a worker can see of the house.

use std::fs;

use serde_json::Value;
use tw_sandbox::Error;

use crate::World;

#[tokio::test]
async fn filter_reads_no_environment_and_no_file() {
    let world = World::new();
    for filter in [
        "env",
        "$ENV",
        "$ENV.PATH",
        "env.PATH",
        "input",
        "inputs",
        "input_filename",
        "$__prog_args",
        "get_search_list",
        "halt",
        "halt_error",
        "import \"/etc/passwd\" as $x; $x",
        "import \"passwd\" as $x {search: \"/etc\"}; $x",
        "include \"passwd\" {search: \"/etc\"}; .",
    ] {
        let error = world.jq(filter, Value::Null).await.unwrap_err();
        assert!(matches!(error, Error::Filter { .. }), "{filter}: {error:?}");
    }
}

#[tokio::test]
async fn worker_of_filters_has_nothing_but_its_pipes() {
    let world = World::new();
    world.jq(".", Value::Null).await.unwrap();
    has_nothing_but_its_pipes(&world);
}

#[tokio::test]
async fn worker_of_scripts_has_nothing_but_its_pipes() {
    let world = World::new();
    let (given, _) = world.js("export default () => 1", Value::Null).await;
    assert_eq!(given.unwrap(), 1);
    has_nothing_but_its_pipes(&world);
}

fn has_nothing_but_its_pipes(world: &World) {
    // The environment of a test has at least the variables of cargo in it.
    assert!(std::env::vars_os().count() > 1);
    let [pid] = world.workers()[..] else { panic!() };
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap();

    let environ = read("environ");
    let mut environ: Vec<_> = environ.split_terminator('\0').collect();
    environ.sort_unstable();
    assert_eq!(environ, ["MIMALLOC_ARENA_EAGER_COMMIT=0", "TZ=UTC"]);
    let mut home = fs::read_dir(format!("/proc/{pid}/cwd")).unwrap();
    assert!(home.next().is_none());
    assert!(read("status").lines().any(|line| line == "Seccomp:\t2"), "{}", read("status"));
    for limit in ["Max core file size", "Max file size", "Max processes"] {
        let limits = read("limits");
        let line = limits.lines().find_map(|line| line.strip_prefix(limit)).unwrap();
        assert!(line.trim_start().starts_with("0 "), "{limit}: {line}");
    }
}
