//! Where a webhook points. The same parts that are checked are the parts that are connected to: there is no second
//! reading of the text that could understand it differently.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use http::{HeaderValue, Uri, uri::PathAndQuery};

/// Bytes of an address.
const MOST_BYTES: usize = 2_048;

/// The address of a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    /// Whether by https.
    pub(crate) tls: bool,
    pub(crate) host: Host,
    pub(crate) port: u16,
    /// What goes into the request line.
    pub(crate) path: PathAndQuery,
    /// The Host header.
    pub(crate) authority: HeaderValue,
}

/// Who is to be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    /// This one.
    Address(IpAddr),
    /// Whoever has the name; in lower case, without a dot at its end.
    Name(String),
}

impl Target {
    /// Reads an address.
    ///
    /// # Errors
    /// What is wrong, as the rest of a sentence. Never repeats the address: it may hold a secret.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let whole = "must be a whole address such as https://hooks.example.com/a2a";
        if url.len() > MOST_BYTES {
            return Err(format!("must have at most {MOST_BYTES} bytes"));
        }
        let uri: Uri = url.parse().map_err(|_| whole)?;
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            Some(_) => return Err("must begin with https://".to_owned()),
            None => return Err(whole.to_owned()),
        };
        let authority = uri.authority().ok_or(whole)?;
        if authority.as_str().contains('@') {
            let text = "must not hold a user or password; credentials belong into authentication";
            return Err(text.to_owned());
        }
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => default_port(tls),
            rest => rest
                .and_then(|rest| rest.strip_prefix(':'))
                // The reader of numbers takes a sign, an address does not.
                .filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|port| port.parse().ok())
                .filter(|port| *port != 0)
                .ok_or("must have a port from 1 to 65535, or none")?,
        };
        Ok(Self {
            tls,
            host: Host::parse(authority.host())?,
            port,
            path: uri
                .path_and_query()
                .cloned()
                .unwrap_or_else(|| PathAndQuery::from_static("/")),
            authority: HeaderValue::from_str(authority.as_str()).map_err(|_| whole)?,
        })
    }
}

fn default_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

impl Host {
    fn parse(text: &str) -> Result<Self, String> {
        if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            let address: Ipv6Addr = inner
                .parse()
                .map_err(|_| "must have a whole IPv6 address in [ ]")?;
            return Ok(Self::Address(address.into()));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Ok(Self::Address(address.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let well_formed = name.len() <= 253 && name.split('.').all(is_label);
        // `127.1`, `0x7f000001` and the like: resolvers read them as addresses.
        let number = name.rsplit('.').next().is_some_and(is_number);
        if !well_formed || number {
            let text = "must name its host in letters, digits, hyphens and dots, or as a whole IP address";
            return Err(text.to_owned());
        }
        Ok(Self::Name(name))
    }

    /// Whether it is this machine by its name.
    pub(crate) fn is_own_name(&self) -> bool {
        let Self::Name(name) = self else {
            return false;
        };
        let last = name.rsplit('.').next().unwrap_or_default();
        ["localhost", "localdomain"].contains(&last)
            || ["ip6-localhost", "ip6-loopback"].contains(&name.as_str())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

fn is_label(label: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=63).contains(&label.len()) && label.bytes().all(letter)
}

fn is_number(label: &str) -> bool {
    let hexadecimal = label
        .strip_prefix("0x")
        .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    hexadecimal || label.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Host, Target};

    #[test]
    fn an_address_is_read_into_what_is_connected_to() {
        for (url, tls, host, port, path) in [
            (
                "https://hooks.example.com/a2a?x=1",
                true,
                "hooks.example.com",
                443,
                "/a2a?x=1",
            ),
            ("https://Hooks.Example.COM.", true, "hooks.example.com", 443, "/"),
            ("http://192.0.2.7:8080/", false, "192.0.2.7", 8080, "/"),
            ("http://[2001:db8::1]/x#part", false, "2001:db8::1", 80, "/x"),
            ("https://a_b-c.example:443/", true, "a_b-c.example", 443, "/"),
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!(
                (target.tls, target.port, target.path.as_str()),
                (tls, port, path),
                "{url}"
            );
            assert_eq!(target.host.to_string(), host, "{url}");
        }
    }

    #[test]
    fn what_cannot_be_posted_to_is_refused_without_repeating_it() {
        for url in [
            "",
            "secret",
            "/secret",
            "secret.example.com",
            "secret.example.com:443",
            "//secret.example.com/",
            "ftp://secret.example.com/",
            "file:///secret",
            "javascript:secret",
            "https://user:secret@example.com/",
            "https://secret@example.com/",
            "https://secret.example.com:0/",
            "https://secret.example.com:+443/",
            "https://secret.example.com:65536/",
            "https://secret.example.com:/",
            "https://secret.example.com:x/",
            "https:///secret",
            "https://secret..example.com/",
            "https://.secret.example.com/",
            "https://secret.ex%61mple.com/",
            "https://sécret.example.com/",
            "https://[::1/secret",
            "https://[fe80::1%25eth0]/secret",
            "https://secret .example.com/",
            "https://2130706433/secret",
            "https://0x7f000001/secret",
            "https://127.1/secret",
            "https://0177.0.0.1/secret",
            "https://127.0.0.1.0x0/secret",
            "https://0x/secret",
            &format!("https://secret.example.com/{}", "x".repeat(2_048)),
            &format!("https://{}.example.com/secret", "x".repeat(64)),
            &format!("https://{}example.com/secret", "x.".repeat(130)),
        ] {
            let text = Target::parse(url).expect_err(url);
            assert!(
                text.starts_with("must ") && !text.contains("secret"),
                "{url}: {text}"
            );
        }
    }

    #[test]
    fn names_of_this_machine_are_known_and_names_like_them_are_not_mistaken() {
        for (name, own) in [
            ("localhost", true),
            ("LOCALHOST.", true),
            ("hooks.localhost", true),
            ("localhost.localdomain", true),
            ("ip6-loopback", true),
            ("localhost.example.com", false),
            ("mylocalhost", false),
        ] {
            assert_eq!(Host::parse(name).unwrap().is_own_name(), own, "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_reading_panic_and_what_is_read_has_no_credentials(url in ".{0,64}") {
            for url in [url.clone(), format!("https://{url}"), format!("https://{url}@example.com/")] {
                if let Ok(target) = Target::parse(&url) {
                    prop_assert!(!target.authority.as_bytes().contains(&b'@'));
                    prop_assert_ne!(target.port, 0);
                }
            }
        }
    }
}
