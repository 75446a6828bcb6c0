//! What kind of place an address is.
//!
//! The registries of IANA decide (RFC 6890 and what came after), and whatever they do not call open to
//! the world is not public here. An IPv6 address that carries an IPv4 address is as good as what it
//! carries, because some box on the way may take the inner one out and go there.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use ipnet::{Ipv4Net, Ipv6Net};

/// The kind of place an address is; the text of a refusal names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    Public,
    /// Where a cloud hands its credentials to whoever asks from inside. No setting opens it.
    Metadata,
    Loopback,
    Private,
    LinkLocal,
    /// Behind a provider's own address translation.
    Shared,
    Unspecified,
    Multicast,
    Broadcast,
    Documentation,
    Benchmarking,
    UniqueLocal,
    SiteLocal,
    /// An IPv6 address that stands for an IPv4 address somewhere else.
    Tunnel,
    Reserved,
    /// The host of the URL is neither a name nor an address. A check that cannot be made is a no.
    Unreadable,
}

impl Class {
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        if METADATA.contains(&address.to_canonical())
            || carried(address).any(|inner| METADATA.contains(&inner))
        {
            return Self::Metadata;
        }
        match address.to_canonical() {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "a public address",
            Self::Metadata => "a cloud metadata address",
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::LinkLocal => "a link-local address",
            Self::Shared => "a shared (carrier-grade NAT) address",
            Self::Unspecified => "an unspecified address",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "a broadcast address",
            Self::Documentation => "a documentation address",
            Self::Benchmarking => "a benchmarking address",
            Self::UniqueLocal => "a unique local address",
            Self::SiteLocal => "a site-local address",
            Self::Tunnel => "a tunnel address",
            Self::Reserved => "a reserved address",
            Self::Unreadable => "an address that cannot be read",
        })
    }
}

/// Amazon (also containers and pods), Azure, Google, Oracle, Alibaba, Tencent, Scaleway; most others share
/// the first one. Azure's is in the middle of a public range.
const METADATA: &[IpAddr] = &[
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 42, 42)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 0, 23)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42)),
];

const fn v4(a: u8, b: u8, c: u8, d: u8, bits: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), bits)
}

const fn v6(a: u16, b: u16, c: u16, bits: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), bits)
}

/// The first line that holds the address decides.
const V4: &[(Ipv4Net, Class)] = &[
    (v4(0, 0, 0, 0, 8), Class::Unspecified),
    (v4(10, 0, 0, 0, 8), Class::Private),
    (v4(100, 64, 0, 0, 10), Class::Shared),
    (v4(127, 0, 0, 0, 8), Class::Loopback),
    (v4(169, 254, 0, 0, 16), Class::LinkLocal),
    (v4(172, 16, 0, 0, 12), Class::Private),
    (v4(192, 0, 0, 0, 24), Class::Reserved),
    (v4(192, 0, 2, 0, 24), Class::Documentation),
    // Relays of 6to4, given back by RFC 7526.
    (v4(192, 88, 99, 0, 24), Class::Reserved),
    (v4(192, 168, 0, 0, 16), Class::Private),
    (v4(198, 18, 0, 0, 15), Class::Benchmarking),
    (v4(198, 51, 100, 0, 24), Class::Documentation),
    (v4(203, 0, 113, 0, 24), Class::Documentation),
    (v4(224, 0, 0, 0, 4), Class::Multicast),
    (v4(255, 255, 255, 255, 32), Class::Broadcast),
    (v4(240, 0, 0, 0, 4), Class::Reserved),
];

const V6: &[(Ipv6Net, Class)] = &[
    // NAT64 within one network, RFC 8215.
    (v6(0x64, 0xff9b, 1, 48), Class::Tunnel),
    (v6(0xfc00, 0, 0, 7), Class::UniqueLocal),
    (v6(0xfe80, 0, 0, 10), Class::LinkLocal),
    (v6(0xfec0, 0, 0, 10), Class::SiteLocal),
    (v6(0xff00, 0, 0, 8), Class::Multicast),
    // Teredo, then the rest of what the IETF keeps for protocols.
    (v6(0x2001, 0, 0, 32), Class::Tunnel),
    (v6(0x2001, 2, 0, 48), Class::Benchmarking),
    (v6(0x2001, 0, 0, 23), Class::Reserved),
    (v6(0x2001, 0xdb8, 0, 32), Class::Documentation),
    (v6(0x3fff, 0, 0, 20), Class::Documentation),
    // 6to4.
    (v6(0x2002, 0, 0, 16), Class::Tunnel),
    // Nothing outside of this was ever given out for use across the world.
    (v6(0x2000, 0, 0, 3), Class::Public),
];

/// Translates to the whole of IPv4 where a network has no IPv4 of its own, so it is public where the
/// inner address is.
const NAT64: Ipv6Net = v6(0x64, 0xff9b, 0, 96);

fn of_v4(address: Ipv4Addr) -> Class {
    V4.iter().find(|(net, _)| net.contains(&address)).map_or(Class::Public, |(_, class)| *class)
}

fn of_v6(address: Ipv6Addr) -> Class {
    if address.is_loopback() {
        return Class::Loopback;
    }
    if address.is_unspecified() {
        return Class::Unspecified;
    }
    if NAT64.contains(&address) {
        return of_v4(last_v4(address));
    }
    // Mapped addresses are gone by now; what is left here are the older ways of the same idea.
    if address.octets()[..8] == [0; 8] {
        return Class::Tunnel;
    }
    let class =
        V6.iter().find(|(net, _)| net.contains(&address)).map_or(Class::Reserved, |(_, class)| *class);
    if class == Class::Public && isatap(address) && of_v4(last_v4(address)) != Class::Public {
        return Class::Tunnel;
    }
    class
}

/// The IPv4 addresses that an IPv6 address may be taken for on its way.
fn carried(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let IpAddr::V6(address) = address else { return [None; 2].into_iter().flatten() };
    let at =
        |places: [usize; 4]| Some(IpAddr::V4(Ipv4Addr::from(places.map(|place| address.octets()[place]))));
    let segments = address.segments();
    let last = at([12, 13, 14, 15]);
    let inner = match segments {
        // Compatible, mapped and translated (RFC 4291, RFC 7915), and NAT64.
        [0, 0, 0, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => [last, None],
        // NAT64 with a prefix of 48 bits puts the address around an empty octet (RFC 6052).
        [0x64, 0xff9b, 1, ..] => [last, at([6, 7, 9, 10])],
        [0x2002, ..] => [at([2, 3, 4, 5]), None],
        // Teredo names its server, and its client with all bits turned.
        [0x2001, 0, ..] => [at([4, 5, 6, 7]), Some(IpAddr::V4(Ipv4Addr::from(!u32::from(last_v4(address)))))],
        _ if isatap(address) => [last, None],
        _ => [None; 2],
    };
    inner.into_iter().flatten()
}

/// RFC 5214: any network may hold such addresses, they are told by their second half.
fn isatap(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _])
}

fn last_v4(address: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = address.octets();
    Ipv4Addr::new(a, b, c, d)
}

#[cfg(test)]
mod tests;
