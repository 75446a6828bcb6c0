//! How a server ends when it is told to.

use std::io::{BufRead, BufReader};

use crate::world::World;

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
    // Somebody in the middle of a request keeps the server from hanging up at once.
    let key = server.said("api key: ").to_owned();
    let mut halfway = server.begin_request(&key);
    let mut line = String::new();
    halfway.read_line(&mut line).unwrap();
    assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
    server.signal("TERM");
    let log = server.log.take().unwrap();
    assert!(BufReader::new(log).lines().map_while(Result::ok).any(|line| line.contains("stopping")));
    server.signal("TERM");
    assert_eq!(server.child.wait().unwrap().code(), Some(1));
}
