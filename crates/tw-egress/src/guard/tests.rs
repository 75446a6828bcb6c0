use super::*;
use crate::policy::Reach;

#[test]
fn one_forbidden_address_spoils_a_public_name() {
    let policy = policy(&[]);
    check(&policy, "a.test", &["8.8.8.8", "1.1.1.1"], Ok(&["8.8.8.8:80", "1.1.1.1:80"]));
    check(&policy, "a.test", &["8.8.8.8", "127.0.0.1"], Err(Class::Loopback));
    check(&policy, "a.test", &["10.0.0.1", "8.8.8.8"], Err(Class::Private));
    check(&policy, "a.test", &["10.0.0.1", "127.0.0.1"], Err(Class::Private));
    check(&policy, "a.test", &[], Ok(&[]));
}

#[test]
fn what_is_listed_is_picked_from_among_the_rest() {
    let policy = policy(&["127.0.0.1:80"]);
    check(&policy, "localhost", &["::1", "127.0.0.1"], Ok(&["127.0.0.1:80"]));
    // But not beside a public one: that name belongs to somebody else.
    check(&policy, "a.test", &["8.8.8.8", "127.0.0.1", "10.0.0.1"], Err(Class::Private));
    check(&policy, "a.test", &["127.0.0.1", "169.254.169.254"], Err(Class::Metadata));
    check(&policy, "a.test", &["8.8.8.8", "127.0.0.1"], Ok(&["8.8.8.8:80", "127.0.0.1:80"]));
}

#[test]
fn mapped_address_is_connected_as_what_it_is() {
    check(&policy(&["127.0.0.1:80"]), "a.test", &["::ffff:127.0.0.1"], Ok(&["127.0.0.1:80"]));
}

#[test]
fn places_are_told_apart_by_their_spelling() {
    assert_eq!(Host::read("[::1]"), Host::Address("::1".parse().unwrap()));
    assert_eq!(Host::read("127.0.0.1"), Host::Address("127.0.0.1".parse().unwrap()));
    assert_eq!(Host::read("Example.COM."), Host::Name("example.com".to_owned()));
    assert!(Host::read("api.localhost").known().is_some());
    assert!(Host::read("notlocalhost").known().is_none());
}

fn policy(allow: &[&str]) -> Policy {
    Policy::new(Reach::Public, allow).unwrap()
}

#[track_caller]
fn check(policy: &Policy, host: &str, addresses: &[&str], expected: Result<&[&str], Class>) {
    let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
    let chosen = choose(policy, &Host::read(host), 80, &addresses);
    let expected =
        expected.map(|open| open.iter().map(|socket| socket.parse().unwrap()).collect::<Vec<SocketAddr>>());
    assert_eq!(chosen, expected);
}
