//! Where a request comes from.

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv4Addr},
    str::FromStr,
};

use axum::{
    extract::FromRequestParts,
    http::{Extensions, HeaderMap, request::Parts},
};

use crate::App;

/// The address at the other end of a connection: the client's, or that of a proxy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The address of the client, as far as it can be known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

impl FromRequestParts<App> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions, &parts.headers, app))
    }
}

impl ClientAddress {
    pub(crate) fn of(extensions: &Extensions, headers: &HeaderMap, app: &App) -> Self {
        // Without a connection, as in a test of the router, everybody counts as one.
        let peer = extensions.get::<Peer>().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.0);
        Self(origin(peer, headers, &app.settings.trusted_proxies))
    }
}

/// The address that the last trusted proxy was called from. What stands before it in the header is the client's own
/// word, and worth nothing.
fn origin(peer: IpAddr, headers: &HeaderMap, trusted: &[AddressRange]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut address = peer.to_canonical();
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    let mut named = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
    while is_trusted(address) {
        match named.next().map(|text| text.trim().parse::<IpAddr>()) {
            Some(Ok(before)) => address = before.to_canonical(),
            Some(Err(_)) | None => break,
        }
    }
    address
}

/// An address, or a range of them such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    bits: u128,
    prefix: u32,
}

/// The text is no address and no range of addresses.
#[derive(Debug, PartialEq, Eq)]
pub struct NoAddressRange;

impl AddressRange {
    fn contains(&self, address: IpAddr) -> bool {
        let differing = self.bits ^ bits(address);
        self.prefix == 0 || differing >> (128 - self.prefix) == 0
    }
}

/// Every address as one of IPv6, so that a range of either kind is compared alike.
fn bits(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl FromStr for AddressRange {
    type Err = NoAddressRange;

    fn from_str(text: &str) -> Result<Self, NoAddressRange> {
        let (address, prefix) =
            text.trim().split_once('/').map_or((text.trim(), None), |(a, p)| (a, Some(p)));
        let address: IpAddr = address.parse().map_err(|_| NoAddressRange)?;
        let (width, before) = if address.is_ipv4() { (32, 96) } else { (128, 0) };
        let prefix = prefix.map_or(Ok(width), str::parse::<u32>).map_err(|_| NoAddressRange)?;
        if width < prefix {
            return Err(NoAddressRange);
        }
        Ok(Self { bits: bits(address), prefix: before + prefix })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(peer: &str, forwarded: &[&str], trusted: &[&str], expected: &str) {
        let headers =
            forwarded.iter().map(|line| ("x-forwarded-for".parse().unwrap(), line.parse().unwrap()));
        let headers = HeaderMap::from_iter(headers);
        let trusted: Vec<AddressRange> = trusted.iter().map(|text| text.parse().unwrap()).collect();
        assert_eq!(origin(peer.parse().unwrap(), &headers, &trusted).to_string(), expected, "{forwarded:?}");
    }

    #[test]
    fn what_a_stranger_says_about_its_address_counts_for_nothing() {
        check("192.0.2.1", &["198.51.100.7"], &[], "192.0.2.1");
        check("192.0.2.1", &["198.51.100.7"], &["10.0.0.0/8"], "192.0.2.1");
        check("10.1.2.3", &["203.0.113.9, 198.51.100.7"], &["10.0.0.0/8"], "198.51.100.7");
    }

    #[test]
    fn client_is_the_first_that_no_trusted_proxy_stands_for() {
        let trusted = ["10.0.0.0/8", "::1"];
        check("::1", &["198.51.100.7, 10.9.9.9"], &trusted, "198.51.100.7");
        check("::1", &["198.51.100.7", "10.9.9.9"], &trusted, "198.51.100.7");
        check("::ffff:10.0.0.1", &["2001:db8::7"], &trusted, "2001:db8::7");
        // A proxy that names nobody, or nobody that can be read, stands for itself.
        check("10.0.0.1", &[], &trusted, "10.0.0.1");
        check("10.0.0.1", &["198.51.100.7, unknown"], &trusted, "10.0.0.1");
    }

    #[test]
    fn network_is_an_address_or_a_range() {
        for text in ["", "10.0.0.0/33", "2001:db8::/129", "10.0.0/8", "example.com", "10.0.0.0/", "/8"] {
            assert_eq!(text.parse::<AddressRange>(), Err(NoAddressRange), "{text}");
        }
        let all: AddressRange = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("192.0.2.1".parse().unwrap()) && !all.contains("2001:db8::1".parse().unwrap()));
        let everything: AddressRange = "::/0".parse().unwrap();
        assert!(everything.contains("192.0.2.1".parse().unwrap()));
    }
}
