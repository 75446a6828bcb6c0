//! Reads a URL, once, into what is checked and what is sent.

use http::{Uri, uri};
use url::{ParseError, Position, Url};

use crate::{
    address::Class,
    error::{Error, Site},
    guard::Host,
};

/// A URL that was read. The reader is the one of browsers, which knows all the spellings of an address
/// (`0x7f.1`, `①２７.1`, `%31%32%37.1`); behind it there is one spelling left.
#[derive(Debug)]
pub(crate) struct ParsedUrl {
    pub(crate) site: Site,
    pub(crate) host: Host,
    pub(crate) port: u16,
    pub(crate) uri: Uri,
    pub(crate) names_somebody: bool,
}

impl ParsedUrl {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let url = Url::parse(text).map_err(unreadable)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Error::BadUrl { why: "only http and https can be called" });
        }
        let site = Site::of(&url);
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(Error::BadUrl { why: "it has no host" });
        };
        if port == 0 {
            return Err(Error::BadUrl { why: "port 0 cannot be called" });
        }
        // The dot that ends a full name is for the resolver alone; certificates and virtual hosts have none.
        let bare = host.strip_suffix('.').unwrap_or(host);
        let authority = match url.port() {
            Some(port) => format!("{bare}:{port}"),
            None => bare.to_owned(),
        };
        let uri = Uri::builder()
            .scheme(if url.scheme() == "https" { uri::Scheme::HTTPS } else { uri::Scheme::HTTP })
            .authority(authority)
            .path_and_query(&url[Position::BeforePath..Position::AfterQuery])
            .build()
            .map_err(|_| Error::BadUrl {
                why: "it has characters that no request can carry, or is too long",
            })?;
        let names_somebody = !url.username().is_empty() || url.password().is_some();
        Ok(Self { site, host: Host::read(bare), port, uri, names_somebody })
    }
}

/// A host that nobody can read is a no and not a slip of the pen: such spellings are tried on purpose.
fn unreadable(error: ParseError) -> Error {
    match error {
        ParseError::InvalidIpv4Address
        | ParseError::InvalidIpv6Address
        | ParseError::InvalidDomainCharacter
        | ParseError::IdnaError => Error::Denied { site: Site::unreadable(), class: Class::Unreadable },
        ParseError::EmptyHost => Error::BadUrl { why: "it has no host" },
        ParseError::InvalidPort => Error::BadUrl { why: "its port is not a number up to 65535" },
        _ => Error::BadUrl { why: "it is not an absolute URL" },
    }
}
