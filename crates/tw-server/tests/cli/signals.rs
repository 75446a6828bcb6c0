//! How a server ends when it is told to.

use std::io::{BufRead, BufReader};

use serde_json::Value;

use crate::world::{World, stdout};

#[test]
fn heavy_first_signal_ends_in_order() {
    for signal in ["TERM", "INT"] {
        let world = World::new();
        let mut server = world.serve("");
        server.signal(signal);
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn heavy_second_signal_ends_at_once() {
    let world = World::new();
    let mut server = world.serve("");
    // Somebody who follows a session keeps the server from hanging up at once.
    let key = server.said("api key: ").to_owned();
    let ran = server.ask(r#"tools run datetime_utils --input {"operation":"now"} --json"#, &key);
    let run: Value = serde_json::from_str(&stdout(&ran)).unwrap();
    let mut stream = server.follow(run["session_id"].as_str().unwrap(), &key);
    let mut line = String::new();
    while !line.starts_with("id: 2") {
        line.clear();
        assert_ne!(stream.read_line(&mut line).unwrap(), 0);
    }
    server.signal("TERM");
    let log = server.log.take().unwrap();
    assert!(BufReader::new(log).lines().map_while(Result::ok).any(|line| line.contains("stopping")));
    server.signal("TERM");
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
}
