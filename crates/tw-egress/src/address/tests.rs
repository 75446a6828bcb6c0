use proptest::prelude::*;

use super::*;

#[test]
fn every_range_has_its_class_from_first_to_last() {
    let table: &[(Class, &[&str])] = &[
        (Class::Unspecified, &["0.0.0.0", "0.255.255.255", "::"]),
        (Class::Loopback, &["127.0.0.1", "127.0.0.0", "127.255.255.255", "::1", "::ffff:127.0.0.1"]),
        (
            Class::Private,
            &[
                "10.0.0.0",
                "10.255.255.255",
                "172.16.0.0",
                "172.31.255.255",
                "192.168.0.0",
                "192.168.255.255",
                "::ffff:10.0.0.1",
            ],
        ),
        (Class::LinkLocal, &["169.254.0.0", "169.254.255.255", "fe80::", "fe80::1", "febf:ffff::1"]),
        (Class::Shared, &["100.64.0.0", "100.127.255.255"]),
        (Class::Multicast, &["224.0.0.0", "239.255.255.255", "ff00::", "ff02::1", "ffff::"]),
        (Class::Broadcast, &["255.255.255.255"]),
        (
            Class::Documentation,
            &["192.0.2.0", "198.51.100.255", "203.0.113.7", "2001:db8::", "3fff::1", "3fff:fff::"],
        ),
        (Class::Benchmarking, &["198.18.0.0", "198.19.255.255", "2001:2::1"]),
        (Class::UniqueLocal, &["fc00::", "fd12:3456::1", "fdff:ffff::"]),
        (Class::SiteLocal, &["fec0::", "feff::1"]),
        (
            Class::Reserved,
            &[
                "192.0.0.1",
                "192.88.99.1",
                "240.0.0.0",
                "255.255.255.254",
                "100::1",
                "2001:20::1",
                "4000::",
                "5f00::1",
                "fe00::1",
                "64:ff9b:0:1::1",
            ],
        ),
        (
            Class::Tunnel,
            &[
                "::127.0.0.1",
                "::8.8.8.8",
                "::ffff:0:8.8.8.8",
                "64:ff9b:1::8.8.8.8",
                "2002:808:808::1",
                "2001::1",
                "2001:0:808:808::1",
                "2a00:1450::5efe:10.0.0.1",
                "2a00:1450::200:5efe:192.168.0.1",
            ],
        ),
        (
            Class::Public,
            &[
                "1.1.1.1",
                "8.8.8.8",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "223.255.255.255",
                "2001:200::1",
                "2606:4700::1111",
                "2a00:1450::5efe:8.8.8.8",
                "::ffff:8.8.8.8",
                "64:ff9b::8.8.8.8",
            ],
        ),
    ];
    for (class, addresses) in table {
        for address in *addresses {
            assert_eq!(Class::of(address.parse().unwrap()), *class, "{address}");
        }
    }
}

#[test]
fn metadata_is_told_in_every_wrapping() {
    let plain = [
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "169.254.42.42",
        "169.254.0.23",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
    ];
    for address in plain.map(|address| address.parse().unwrap()) {
        assert_eq!(Class::of(IpAddr::V4(address)), Class::Metadata, "{address}");
        for wrapped in wrappings(address) {
            assert_eq!(Class::of(IpAddr::V6(wrapped)), Class::Metadata, "{wrapped}");
        }
    }
    for address in ["fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42"] {
        assert_eq!(Class::of(address.parse().unwrap()), Class::Metadata, "{address}");
    }
}

proptest! {
    #[test]
    fn what_the_standard_library_calls_special_is_never_public(bits: u32) {
        let address = Ipv4Addr::from(bits);
        let special = address.is_private()
            || address.is_loopback()
            || address.is_link_local()
            || address.is_multicast()
            || address.is_broadcast()
            || address.is_documentation()
            || address.is_unspecified();
        prop_assert!(!special || Class::of(address.into()) != Class::Public);
    }

    #[test]
    fn no_wrapping_makes_an_address_more_public_than_it_is(bits in inside()) {
        let address = Ipv4Addr::from(bits);
        prop_assert_ne!(Class::of(address.into()), Class::Public);
        for wrapped in wrappings(address) {
            prop_assert_ne!(Class::of(wrapped.into()), Class::Public, "{}", wrapped);
        }
    }

    #[test]
    fn mapped_address_is_what_it_maps(bits: u32) {
        let address = Ipv4Addr::from(bits);
        prop_assert_eq!(Class::of(address.to_ipv6_mapped().into()), Class::of(address.into()));
    }

    #[test]
    fn nothing_outside_of_global_unicast_is_public(bits: u128) {
        let address = Ipv6Addr::from(bits);
        let global = bits >> 125 == 1;
        let translated = NAT64.contains(&address) || address.to_ipv4_mapped().is_some();
        prop_assert!(global || translated || Class::of(address.into()) != Class::Public);
    }
}

/// Addresses of the ranges that an attacker is after.
fn inside() -> impl Strategy<Value = u32> {
    let ranges = V4.to_vec();
    (0..ranges.len(), any::<u32>()).prop_map(move |(index, bits)| {
        let net = ranges[index].0;
        u32::from(net.network()) | (bits & u32::from(net.hostmask()))
    })
}

/// Every way of IPv6 to say an address of IPv4.
fn wrappings(address: Ipv4Addr) -> Vec<Ipv6Addr> {
    let [a, b, c, d] = address.octets();
    let [high, low] = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
    let [turned_high, turned_low] = [!high, !low];
    vec![
        address.to_ipv6_mapped(),
        Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 1, high, u16::from(c), u16::from(d) << 8, 0, 0),
        Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
        Ipv6Addr::new(0x2001, 0, high, low, 0, 0, 0, 0),
        Ipv6Addr::new(0x2001, 0, 0x808, 0x808, 0, 0, turned_high, turned_low),
        Ipv6Addr::new(0x2a00, 0x1450, 0, 0, 0, 0x5efe, high, low),
        Ipv6Addr::new(0x2a00, 0x1450, 0, 0, 0x200, 0x5efe, high, low),
    ]
}
