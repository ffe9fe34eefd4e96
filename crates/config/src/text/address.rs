//! Where a listener listens.

use std::{fmt, net::SocketAddr};

/// An address and port to listen on, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address {
    /// There. Port 0 lets the system choose one.
    At(SocketAddr),
    /// There is no such listener.
    Off,
}

const OFF: &str = "off";

impl Address {
    pub(crate) const FORMAT: &str = "address";

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text == OFF {
            return Ok(Self::Off);
        }
        text.parse().map(Self::At).map_err(|_| {
            format!(
                "must be an IP address and a port such as \"127.0.0.1:8080\", \"0.0.0.0:8080\" or \
                 \"[::]:8080\", or \"off\", not {text:?}"
            )
        })
    }

    /// The address, if there is to be a listener.
    pub fn at(self) -> Option<SocketAddr> {
        match self {
            Self::At(address) => Some(address),
            Self::Off => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(address) => address.fmt(f),
            Self::Off => f.write_str(OFF),
        }
    }
}

super::written_as_text!(Address);

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn an_address_is_shown_as_it_was_written() {
        for text in ["127.0.0.1:8080", "0.0.0.0:0", "[::1]:9090", "off"] {
            assert_eq!(Address::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_an_example() {
        for text in [
            "",
            "8080",
            ":8080",
            "localhost:8080",
            "127.0.0.1",
            "127.0.0.1:70000",
            "OFF",
        ] {
            assert!(
                Address::parse(text).unwrap_err().contains("127.0.0.1:8080"),
                "{text}"
            );
        }
    }
}
