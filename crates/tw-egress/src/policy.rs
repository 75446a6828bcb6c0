//! Where requests may go: what an operator wrote under `[egress]`.

use std::{fmt, net::IpAddr, str::FromStr};

use ipnet::IpNet;
use url::Host;

use crate::address::Class;

/// How far requests reach without being listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Public addresses alone.
    #[default]
    Public,
    /// Every address but those of cloud metadata.
    Any,
}

impl FromStr for Reach {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "public" => Ok(Self::Public),
            "any" => Ok(Self::Any),
            _ => Err(PolicyError::Reach { found: text.to_owned() }),
        }
    }
}

/// Where requests may go.
///
/// # Example
///
/// ```
/// use tw_egress::{Policy, Reach};
///
/// let policy = Policy::new(Reach::Public, ["127.0.0.1:9999", "wiki.corp:8080", "10.0.0.0/8"])?;
/// assert_eq!(policy.allow().count(), 3);
///
/// let refused = Policy::new(Reach::Public, ["wiki.corp"]).unwrap_err();
/// assert_eq!(refused.to_string(), "`egress.allow`: `wiki.corp` has no port, write `wiki.corp:443`");
/// # Ok::<(), tw_egress::PolicyError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    reach: Reach,
    allow: Vec<Opening>,
}

/// One entry of `egress.allow`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Opening {
    /// Opens what the name resolves to, on this port.
    Name { host: String, port: u16 },
    /// Opens the address on this port, also for names that resolve to it.
    Address { address: IpAddr, port: u16 },
    /// Opens every port of the range.
    Range(IpNet),
}

/// Why an entry of the configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    #[error("`egress.policy` must be `public` or `any`, not `{found}`")]
    Reach { found: String },
    #[error("`egress.allow`: `{entry}` must be `host:port`, `address:port` or a range such as `10.0.0.0/8`")]
    Entry { entry: String },
    #[error("`egress.allow`: `{entry}` has no port, write `{entry}:443`")]
    HostWithoutPort { entry: String },
    #[error("`egress.allow`: `{entry}` has no port; write `{with_port}`, or `{whole}` for every port")]
    AddressWithoutPort { entry: String, with_port: String, whole: String },
    #[error("`egress.allow`: the port of `{entry}` is not between 1 and 65535")]
    Port { entry: String },
    #[error("`egress.allow`: `{entry}` is not a range: {why}")]
    Range { entry: String, why: &'static str },
    #[error("`egress.allow`: `{entry}` has host bits set; write `{instead}`")]
    RangeBits { entry: String, instead: String },
}

/// What the policy says about one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressVerdict {
    Open,
    /// Open because an operator wrote it down.
    Listed,
    Shut(Class),
}

impl Policy {
    /// Takes `egress.policy` and the entries of `egress.allow`.
    pub fn new<E: AsRef<str>>(reach: Reach, allow: impl IntoIterator<Item = E>) -> Result<Self, PolicyError> {
        let allow = allow.into_iter().map(|entry| entry.as_ref().trim().parse()).collect::<Result<_, _>>()?;
        Ok(Self { reach, allow })
    }

    #[must_use]
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// The entries in their normal spelling, to be shown to an operator.
    pub fn allow(&self) -> impl Iterator<Item = String> {
        self.allow.iter().map(ToString::to_string)
    }

    /// Whether an entry of `egress.allow` is about this name, or about one of these addresses.
    pub(crate) fn lists(&self, name: Option<&str>, addresses: &[IpAddr], port: u16) -> bool {
        self.allow.iter().any(|entry| match entry {
            Opening::Name { host, port: open } => name == Some(host.as_str()) && *open == port,
            entry => addresses.iter().any(|address| entry.opens(name, address.to_canonical(), port)),
        })
    }

    /// Judges one address that would be connected. `name` is what resolved to it, if anything did.
    pub(crate) fn judge(&self, name: Option<&str>, address: IpAddr, port: u16) -> AddressVerdict {
        let class = Class::of(address);
        if class == Class::Metadata {
            return AddressVerdict::Shut(class);
        }
        if self.allow.iter().any(|entry| entry.opens(name, address.to_canonical(), port)) {
            return AddressVerdict::Listed;
        }
        match (self.reach, class) {
            (Reach::Any, _) | (Reach::Public, Class::Public) => AddressVerdict::Open,
            (Reach::Public, class) => AddressVerdict::Shut(class),
        }
    }
}

impl Opening {
    fn opens(&self, name: Option<&str>, address: IpAddr, port: u16) -> bool {
        match self {
            Self::Name { host, port: open } => name == Some(host.as_str()) && *open == port,
            Self::Address { address: listed, port: open } => *listed == address && *open == port,
            Self::Range(range) => range.contains(&address),
        }
    }
}

impl FromStr for Opening {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let entry = || text.to_owned();
        if text.contains('/') {
            return range(text);
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Err(without_port(text, address));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && !port.is_empty() => (host, port),
            Some(_) => return Err(PolicyError::Entry { entry: entry() }),
            None if readable(text).is_some() => return Err(PolicyError::HostWithoutPort { entry: entry() }),
            None => return Err(PolicyError::Entry { entry: entry() }),
        };
        let host = readable(host).ok_or_else(|| PolicyError::Entry { entry: entry() })?;
        let port = match port.parse() {
            Ok(port) if port != 0 => port,
            _ => return Err(PolicyError::Port { entry: entry() }),
        };
        Ok(match host {
            Host::Domain(host) => Self::Name { host, port },
            Host::Ipv4(address) => Self::Address { address: address.into(), port },
            Host::Ipv6(address) => Self::Address { address: IpAddr::V6(address).to_canonical(), port },
        })
    }
}

/// Reads a host as a URL would, so that an entry and a URL can be compared letter by letter. A name
/// with a star would look as if it opened many, so it is refused.
fn readable(host: &str) -> Option<Host> {
    match Host::parse(host).ok()? {
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(&name);
            let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            (!name.is_empty() && name.chars().all(letter)).then(|| Host::Domain(name.to_owned()))
        }
        address => Some(address),
    }
}

fn range(text: &str) -> Result<Opening, PolicyError> {
    let refused = |why| PolicyError::Range { entry: text.to_owned(), why };
    if text.contains("//") {
        return Err(PolicyError::Entry { entry: text.to_owned() });
    }
    let (address, bits) = text.split_once('/').unwrap_or((text, ""));
    let address: IpAddr =
        address.parse().map_err(|_| refused("the part before `/` must be an IP address"))?;
    if address.to_canonical() != address {
        return Err(refused("write the range as IPv4"));
    }
    let bits: u8 = bits.parse().map_err(|_| refused("the part after `/` must be a number of bits"))?;
    let range = IpNet::new(address, bits).map_err(|_| match address {
        IpAddr::V4(_) => refused("IPv4 has 32 bits at most"),
        IpAddr::V6(_) => refused("IPv6 has 128 bits at most"),
    })?;
    let instead = range.trunc();
    if instead != range {
        return Err(PolicyError::RangeBits { entry: text.to_owned(), instead: instead.to_string() });
    }
    Ok(Opening::Range(range))
}

fn without_port(text: &str, address: IpAddr) -> PolicyError {
    let (with_port, bits) = match address {
        IpAddr::V4(_) => (format!("{address}:443"), 32),
        IpAddr::V6(_) => (format!("[{address}]:443"), 128),
    };
    PolicyError::AddressWithoutPort { entry: text.to_owned(), with_port, whole: format!("{address}/{bits}") }
}

impl fmt::Display for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { host, port } => write!(f, "{host}:{port}"),
            Self::Address { address: IpAddr::V4(address), port } => write!(f, "{address}:{port}"),
            Self::Address { address: IpAddr::V6(address), port } => write!(f, "[{address}]:{port}"),
            Self::Range(range) => write!(f, "{range}"),
        }
    }
}

#[cfg(test)]
mod tests;
