//! The hosts that a credential may be sent to.

use std::net::{IpAddr, Ipv6Addr};

use url::{Host, Url};

/// How many hosts a credential can name.
pub const ALLOWED_HOSTS_MAX: usize = 100;

/// One entry of `allowed_hosts`: a name, an address, or `*.` and a name.
///
/// # Example
///
/// ```
/// use tw_model::AllowedHost;
///
/// let below: AllowedHost = "*.example.com".parse()?;
/// assert!(below.allows("https://api.example.com:8443/v1") && !below.allows("https://example.com/"));
/// assert!("https://example.com".parse::<AllowedHost>().is_err());
/// # Ok::<(), tw_model::AllowedHostError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost(
    // Hosts are in the spelling that the reader of URLs gives them, so they are compared letter by letter.
    Pattern,
);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Name(String),
    /// Every name below this one.
    Below(String),
    Address(IpAddr),
}

/// Why a text is no entry of `allowed_hosts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a host name, an address, or `*.` and a host name, without a scheme, a port or a path")]
pub struct AllowedHostError;

impl std::str::FromStr for AllowedHost {
    type Err = AllowedHostError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(below) = text.strip_prefix("*.") {
            return match host(below)? {
                Pattern::Name(name) => Ok(Self(Pattern::Below(name))),
                Pattern::Below(_) | Pattern::Address(_) => Err(AllowedHostError),
            };
        }
        host(text).map(Self)
    }
}

fn host(text: &str) -> Result<Pattern, AllowedHostError> {
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Ok(Pattern::Address(IpAddr::V6(address).to_canonical()));
    }
    // The reader of URLs would decode it.
    if text.contains('%') {
        return Err(AllowedHostError);
    }
    entry(&Host::parse(text).map_err(|_| AllowedHostError)?).ok_or(AllowedHostError)
}

fn entry<S: AsRef<str>>(host: &Host<S>) -> Option<Pattern> {
    match host {
        Host::Ipv4(address) => Some(Pattern::Address((*address).into())),
        Host::Ipv6(address) => Some(Pattern::Address(IpAddr::V6(*address).to_canonical())),
        Host::Domain(name) => {
            let name = name.as_ref();
            let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
            let is_label = |label: &str| {
                !label.is_empty()
                    && label.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            };
            name.split('.').all(is_label).then_some(Pattern::Name(name))
        }
    }
}

impl AllowedHost {
    /// Whether a request to this URL goes to such a host, on whatever port.
    #[must_use]
    pub fn allows(&self, url: &str) -> bool {
        let url = Url::parse(url).ok();
        let Some(called) = url.as_ref().and_then(Url::host).and_then(|host| entry(&host)) else {
            return false;
        };
        match (&self.0, called) {
            (Pattern::Below(name), Pattern::Name(called)) => {
                called.strip_suffix(name).is_some_and(|labels| labels.len() > 1 && labels.ends_with('.'))
            }
            (own, called) => *own == called,
        }
    }

    /// What is wrong with a list, each with its index.
    #[must_use]
    pub fn faults(list: &[String]) -> Vec<(usize, String)> {
        let read = |(index, text): (usize, &String)| match text.parse::<Self>() {
            Ok(_) if index == ALLOWED_HOSTS_MAX => Some((
                index,
                format!("must be left out: a credential names at most {ALLOWED_HOSTS_MAX} hosts"),
            )),
            Ok(_) => None,
            Err(error) => Some((index, error.to_string())),
        };
        list.iter().enumerate().take(ALLOWED_HOSTS_MAX + 1).filter_map(read).collect()
    }

    /// Whether a credential with this list may go with a request to a URL. Without a list it may go anywhere; an
    /// entry that cannot be read allows nothing.
    #[must_use]
    pub fn any_allows(list: Option<&[String]>, url: &str) -> bool {
        let allows = |text: &String| text.parse::<Self>().is_ok_and(|host| host.allows(url));
        list.is_none_or(|list| list.iter().any(allows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(entry: &str, url: &str, allowed: bool) {
        let list = [entry.to_owned()];
        assert_eq!(AllowedHost::any_allows(Some(&list), url), allowed, "{entry} for {url}");
    }

    #[test]
    fn name_allows_itself_on_any_port_in_any_spelling() {
        for url in [
            "https://api.example.com/v1?x=1",
            "http://API.Example.com:8080",
            "https://api.example.com.:443/",
            "https://%61pi.example.com/",
        ] {
            check("api.example.com", url, true);
            check("API.example.COM", url, true);
            check("api.example.com.", url, true);
        }
        for url in [
            "https://example.com/",
            "https://x.api.example.com/",
            "https://api.example.com.evil.test/",
            "https://evil.test/api.example.com",
            "https://api.example.com@evil.test/",
            "https://evil.test#api.example.com",
            "no URL",
        ] {
            check("api.example.com", url, false);
        }
        check("bücher.example", "https://xn--bcher-kva.example/", true);
        check("xn--bcher-kva.example", "https://BÜCHER.example/", true);
    }

    #[test]
    fn star_stands_for_one_label_or_more() {
        for url in ["https://a.example.com/", "https://a.b.example.com:1/", "https://A.EXAMPLE.com"] {
            check("*.example.com", url, true);
        }
        for url in [
            "https://example.com/",
            "https://aexample.com/",
            "https://.example.com/",
            "https://a.example.org/",
        ] {
            check("*.example.com", url, false);
        }
    }

    #[test]
    fn address_allows_itself_in_every_spelling() {
        check("127.0.0.1", "http://127.0.0.1:9/", true);
        check("127.0.0.1", "http://0x7f.1/", true);
        check("127.0.0.1", "http://localhost/", false);
        for entry in ["::1", "[::1]", "0:0:0:0:0:0:0:1", "[0:0::1]"] {
            check(entry, "http://[::1]:8080/", true);
            check(entry, "http://[0:0:0:0:0:0:0:1]/", true);
            check(entry, "http://[::2]/", false);
        }
        check("10.0.0.1", "http://[::ffff:10.0.0.1]/", true);
        check("[::ffff:10.0.0.1]", "http://10.0.0.1/", true);
    }

    #[test]
    fn no_list_allows_every_host_and_an_empty_one_none() {
        assert!(AllowedHost::any_allows(None, "https://anywhere.test/"));
        assert!(!AllowedHost::any_allows(Some(&[]), "https://anywhere.test/"));
    }

    #[test]
    fn something_else_is_a_fault_at_its_index() {
        let wrong = [
            "",
            "*",
            "*.",
            "*.*.example.com",
            "a.*.com",
            "*example.com",
            "https://example.com",
            "example.com:443",
            "example.com/x",
            "user@example.com",
            "exa mple.com",
            "a..b",
            "*.10.0.0.1",
            "*.[::1]",
            "10.0.0.0/8",
            "%61.com",
            "[::1]:80",
            "256.1.1.1",
            "example.com?x",
        ];
        for text in wrong {
            assert_eq!(AllowedHost::faults(&["a.test".to_owned(), text.to_owned()]).len(), 1, "{text}");
            assert_eq!(AllowedHost::faults(&[text.to_owned()])[0].0, 0, "{text}");
        }
        let many = vec!["a.test".to_owned(); ALLOWED_HOSTS_MAX + 3];
        assert_eq!(
            AllowedHost::faults(&many).iter().map(|fault| fault.0).collect::<Vec<_>>(),
            [ALLOWED_HOSTS_MAX]
        );
        assert!(AllowedHost::faults(&many[..ALLOWED_HOSTS_MAX]).is_empty());
    }
}
