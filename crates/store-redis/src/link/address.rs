//! Where servers are, as an operator writes it: one URL that names one server or several.

use std::{fmt, path::PathBuf};

use gateway_domain::ports::StoreError;

use crate::{Mode, Settings};

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Address {
    /// A host, by name or number, and a port.
    Tcp(String, u16),
    /// A socket in the file system.
    Unix(PathBuf),
}

/// What a URL says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// One server, or for Sentinel and Cluster some of those that can be asked; never empty.
    pub(crate) addresses: Vec<Address>,
    /// Whether connections are encrypted.
    pub(crate) tls: bool,
    /// The database; 0 in a cluster.
    pub(crate) database: i64,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp(host, port) => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Address {
    /// Reads `HOST`, `HOST:PORT` or `[V6]:PORT`.
    fn read(text: &str, usual_port: u16) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']')?;
                (host, rest.strip_prefix(':'))
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let port = port.map_or(Some(usual_port), |port| port.parse().ok())?;
        let fine = !host.is_empty() && !host.contains(['/', '@', '?', '#', ' ']);
        fine.then(|| Self::Tcp(host.to_owned(), port))
    }
}

impl Places {
    /// Reads the URL of the settings. No error repeats it: somebody may have written a password into it.
    ///
    /// # Errors
    /// Another form than the settings' documentation gives, or one that does not go with the mode.
    pub(crate) fn of(settings: &Settings) -> Result<Self, StoreError> {
        let url = settings.url.as_str();
        if let Some(path) = url.strip_prefix("redis+unix://") {
            if path.is_empty() || settings.mode != Mode::Standalone {
                let text = "the URL redis+unix:///PATH names a socket, which only one standalone server has";
                return Err(StoreError::new(text));
            }
            return Ok(Self {
                addresses: vec![Address::Unix(path.into())],
                tls: false,
                database: 0,
            });
        }
        let wrong = || {
            StoreError::new(
                "the URL of Redis is not of the form redis://HOST:PORT/DATABASE (rediss:// for TLS), without user \
                 and password; for Sentinel and Cluster several HOST:PORT stand with commas between them",
            )
        };
        let (tls, rest) = match (url.strip_prefix("redis://"), url.strip_prefix("rediss://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => return Err(wrong()),
        };
        let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
        let database = match database {
            "" => 0,
            number => number
                .parse()
                .ok()
                .filter(|number| *number >= 0)
                .ok_or_else(wrong)?,
        };
        let usual = if matches!(settings.mode, Mode::Sentinel { .. }) {
            26_379
        } else {
            6_379
        };
        let read = hosts.split(',').map(|host| Address::read(host, usual));
        let addresses = read.collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
        if settings.mode == Mode::Standalone && addresses.len() > 1 {
            return Err(StoreError::new(
                "the URL of Redis names several servers: set the mode to sentinel or cluster, or name one",
            ));
        }
        if settings.mode == Mode::Cluster && database != 0 {
            return Err(StoreError::new(
                "a Redis Cluster has database 0 only: leave it out of the URL",
            ));
        }
        Ok(Self {
            addresses,
            tls,
            database,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(url: &str, mode: Mode) -> Result<Places, StoreError> {
        Places::of(&Settings {
            url: url.to_owned(),
            mode,
            ..Settings::default()
        })
    }

    fn sentinel() -> Mode {
        Mode::Sentinel {
            master: "m".to_owned(),
            user: None,
            password: None,
        }
    }

    fn tcp(host: &str, port: u16) -> Address {
        Address::Tcp(host.to_owned(), port)
    }

    #[test]
    fn a_url_says_where_servers_are() {
        for (url, mode, addresses, tls, database) in [
            ("redis://one", Mode::Standalone, vec![tcp("one", 6379)], false, 0),
            ("rediss://one:7/3", Mode::Standalone, vec![tcp("one", 7)], true, 3),
            ("redis://[::1]:7", Mode::Standalone, vec![tcp("::1", 7)], false, 0),
            (
                "redis://a,b:7/2",
                sentinel(),
                vec![tcp("a", 26_379), tcp("b", 7)],
                false,
                2,
            ),
            (
                "rediss://a:1,b:2",
                Mode::Cluster,
                vec![tcp("a", 1), tcp("b", 2)],
                true,
                0,
            ),
            (
                "redis+unix:///a/b",
                Mode::Standalone,
                vec![Address::Unix("/a/b".into())],
                false,
                0,
            ),
        ] {
            let expected = Places {
                addresses,
                tls,
                database,
            };
            assert_eq!(places(url, mode).unwrap(), expected, "{url}");
        }
        assert_eq!(tcp("::1", 7).to_string(), "[::1]:7");
    }

    #[test]
    fn what_is_no_url_or_does_not_go_with_the_mode_is_refused_without_being_repeated() {
        for (url, mode) in [
            ("http://hunter2@host", Mode::Standalone),
            ("redis://user:hunter2@host", Mode::Standalone),
            ("redis://:hunter2@host:6379/0", Mode::Standalone),
            ("redis://hunter2:x", Mode::Standalone),
            ("redis://hunter2/x", Mode::Standalone),
            ("rediss://hunter2/#insecure", Mode::Standalone),
            ("redis://hunter2,b", Mode::Standalone),
            ("redis://hunter2,,b", Mode::Cluster),
            ("redis://hunter2/1", Mode::Cluster),
            ("redis://", Mode::Standalone),
            ("redis+unix:///hunter2", Mode::Cluster),
            ("redis+unix://", Mode::Standalone),
        ] {
            let refused = places(url, mode).unwrap_err().cause;
            assert!(!refused.contains("hunter2"), "{refused}");
        }
    }
}
