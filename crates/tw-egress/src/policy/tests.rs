use super::*;

#[test]
fn entries_are_kept_in_their_normal_spelling() {
    let written =
        ["127.0.0.1:9999", " 10.0.0.0/8 ", "Wiki.Corp.:8080", "[::1]:80", "[::ffff:10.0.0.1]:80", "fd00::/8"];
    let policy = Policy::new(Reach::Public, written).unwrap();
    let kept: Vec<String> = policy.allow().collect();
    assert_eq!(
        kept,
        ["127.0.0.1:9999", "10.0.0.0/8", "wiki.corp:8080", "[::1]:80", "10.0.0.1:80", "fd00::/8"]
    );
}

#[test]
fn entry_that_cannot_be_used_says_what_to_write() {
    let table = [
        ("wiki.corp", "`wiki.corp` has no port, write `wiki.corp:443`"),
        ("10.0.0.5", "`10.0.0.5` has no port; write `10.0.0.5:443`, or `10.0.0.5/32` for every port"),
        ("::1", "`::1` has no port; write `[::1]:443`, or `::1/128` for every port"),
        ("10.0.0.1/8", "`10.0.0.1/8` has host bits set; write `10.0.0.0/8`"),
        ("10.0.0.0/33", "`10.0.0.0/33` is not a range: IPv4 has 32 bits at most"),
        ("::/129", "`::/129` is not a range: IPv6 has 128 bits at most"),
        ("10.0.0.0/x", "`10.0.0.0/x` is not a range: the part after `/` must be a number of bits"),
        ("wiki/8", "`wiki/8` is not a range: the part before `/` must be an IP address"),
        ("10.0.0.0/8:80", "`10.0.0.0/8:80` is not a range: the part after `/` must be a number of bits"),
        ("::ffff:10.0.0.0/104", "`::ffff:10.0.0.0/104` is not a range: write the range as IPv4"),
        ("wiki:0", "the port of `wiki:0` is not between 1 and 65535"),
        ("wiki:65536", "the port of `wiki:65536` is not between 1 and 65535"),
        ("wiki:http", "the port of `wiki:http` is not between 1 and 65535"),
    ];
    for (entry, expected) in table {
        let error = Policy::new(Reach::Public, [entry]).unwrap_err().to_string();
        assert_eq!(error, format!("`egress.allow`: {expected}"));
    }
    for entry in ["", ":80", "wiki:", "*.corp:443", "http://wiki:80", "a b:80", "[::1:80"] {
        let error = Policy::new(Reach::Public, [entry]).unwrap_err();
        assert!(matches!(error, PolicyError::Entry { .. }), "{entry}: {error}");
    }
}

#[test]
fn reach_is_one_of_two_words() {
    assert_eq!("public".parse(), Ok(Reach::Public));
    assert_eq!("any".parse(), Ok(Reach::Any));
    let error = "Any".parse::<Reach>().unwrap_err();
    assert_eq!(error.to_string(), "`egress.policy` must be `public` or `any`, not `Any`");
}

#[test]
fn what_is_listed_opens_on_its_port_alone() {
    let policy = Policy::new(Reach::Public, ["10.0.0.5:80", "wiki.corp:8080", "[::1]:80"]).unwrap();
    let judge = |name, address: &str, port| policy.judge(name, address.parse().unwrap(), port);

    assert_eq!(judge(None, "10.0.0.5", 80), AddressVerdict::Listed);
    assert_eq!(judge(None, "::ffff:10.0.0.5", 80), AddressVerdict::Listed);
    assert_eq!(judge(Some("other.corp"), "10.0.0.5", 80), AddressVerdict::Listed);
    assert_eq!(judge(None, "10.0.0.5", 22), AddressVerdict::Shut(Class::Private));
    assert_eq!(judge(None, "10.0.0.6", 80), AddressVerdict::Shut(Class::Private));
    assert_eq!(judge(Some("wiki.corp"), "10.1.2.3", 8080), AddressVerdict::Listed);
    assert_eq!(judge(Some("wiki.corp"), "10.1.2.3", 6379), AddressVerdict::Shut(Class::Private));
    assert_eq!(judge(Some("wiki.corp.evil"), "10.1.2.3", 8080), AddressVerdict::Shut(Class::Private));
    assert_eq!(judge(None, "::1", 80), AddressVerdict::Listed);
    assert_eq!(judge(None, "::1", 81), AddressVerdict::Shut(Class::Loopback));
}

#[test]
fn range_opens_itself_and_nothing_else() {
    let policy = Policy::new(Reach::Public, ["10.0.0.0/8", "169.254.0.0/16", "::/0"]).unwrap();
    let judge = |address: &str| policy.judge(None, address.parse().unwrap(), 6379);

    assert_eq!(judge("10.255.0.1"), AddressVerdict::Listed);
    assert_eq!(judge("169.254.0.1"), AddressVerdict::Listed);
    assert_eq!(judge("127.0.0.1"), AddressVerdict::Shut(Class::Loopback));
    // A range of IPv6 does not open IPv4 by way of its mapped form.
    assert_eq!(judge("::ffff:127.0.0.1"), AddressVerdict::Shut(Class::Loopback));
}

#[test]
fn no_setting_opens_metadata() {
    let everything = ["0.0.0.0/0", "::/0", "169.254.169.254:80", "metadata.google.internal:80"];
    for reach in [Reach::Public, Reach::Any] {
        let policy = Policy::new(reach, everything).unwrap();
        for address in ["169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fd00:ec2::254"] {
            let verdict = policy.judge(Some("metadata.google.internal"), address.parse().unwrap(), 80);
            assert_eq!(verdict, AddressVerdict::Shut(Class::Metadata), "{reach:?} {address}");
        }
        let azure = policy.judge(None, "168.63.129.16".parse().unwrap(), 80);
        assert_eq!(azure, AddressVerdict::Shut(Class::Metadata));
    }
}

#[test]
fn any_reaches_everything_else() {
    let policy = Policy::new(Reach::Any, [""; 0]).unwrap();
    for address in ["127.0.0.1", "10.0.0.1", "8.8.8.8", "::1", "fe80::1"] {
        assert_eq!(policy.judge(None, address.parse().unwrap(), 22), AddressVerdict::Open, "{address}");
    }
}

#[test]
fn listed_is_what_somebody_wrote_down_and_nothing_else_that_is_open() {
    let egress = |reach| {
        let policy = Policy::new(reach, ["127.0.0.1:9999", "wiki.corp:8080", "10.0.0.0/8"]).unwrap();
        crate::Egress::new(policy)
    };
    for (url, expected) in [
        ("http://127.0.0.1:9999/x", true),
        ("http://localhost:9999/", true),
        ("http://WIKI.corp.:8080/", true),
        ("http://10.1.2.3/", true),
        ("http://127.0.0.1:9998/", false),
        ("http://wiki.corp/", false),
        ("http://8.8.8.8/", false),
        ("http://example.com/", false),
        ("no address", false),
    ] {
        for reach in [Reach::Public, Reach::Any] {
            assert_eq!(egress(reach).lists(url), expected, "{url}");
        }
    }
}
