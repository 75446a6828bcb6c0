//! The guard at the gate: given a host and the addresses it has, which of them may be connected.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::{
    address::Class,
    policy::{AddressVerdict, Policy},
};

/// What a connection is asked for: the host as the URL has it, in its normal spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    Address(IpAddr),
    Name(String),
}

impl Host {
    /// Reads what stands between the scheme and the port of a URL that was read before.
    pub(crate) fn read(host: &str) -> Self {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        match bare.parse() {
            Ok(address) => Self::Address(address),
            Err(_) => Self::Name(bare.strip_suffix('.').unwrap_or(bare).to_ascii_lowercase()),
        }
    }

    /// The addresses that are known without asking anybody. RFC 6761 has names of `localhost` mean this
    /// machine; a resolver that says otherwise is not listened to.
    pub(crate) fn known(&self) -> Option<Vec<IpAddr>> {
        match self {
            Self::Address(address) => Some(vec![*address]),
            Self::Name(name) if name == "localhost" || name.ends_with(".localhost") => {
                Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
            }
            Self::Name(_) => None,
        }
    }
}

/// Picks the addresses that may be connected, or says which kind of address forbids it.
///
/// One forbidden address spoils the name: a name that is half public and half private is bait. What an
/// operator listed is different, there the rest is left out: `localhost` is two addresses, and who
/// listed one of them did not ask for an error.
pub(crate) fn choose(
    policy: &Policy,
    host: &Host,
    port: u16,
    addresses: &[IpAddr],
) -> Result<Vec<SocketAddr>, Class> {
    let name = match host {
        Host::Address(_) => None,
        Host::Name(name) => Some(name.as_str()),
    };
    let (mut open, mut listed, mut shut) = (Vec::new(), Vec::new(), None);
    for address in addresses {
        let socket = SocketAddr::new(address.to_canonical(), port);
        match policy.judge(name, *address, port) {
            AddressVerdict::Open => open.push(socket),
            AddressVerdict::Listed => listed.push(socket),
            AddressVerdict::Shut(Class::Metadata) => return Err(Class::Metadata),
            AddressVerdict::Shut(class) => shut = shut.or(Some(class)),
        }
    }
    match shut {
        Some(class) if listed.is_empty() || !open.is_empty() => Err(class),
        Some(_) => Ok(listed),
        None => {
            open.append(&mut listed);
            Ok(open)
        }
    }
}

#[cfg(test)]
mod tests;
