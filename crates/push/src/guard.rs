//! Where a webhook may point (§13.2): asked when a configuration is made, and again about every address that is about to
//! be connected to, since a name can mean another address each time.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::LazyLock,
};

use ipnet::IpNet;

use crate::target::{Host, Target};

/// The setting that the texts name.
const SETTING: &str = "push.allowed_ranges";

/// The addresses that are not public, and what each range is. Of IPv6 everything outside of 2000::/3 as well.
const NOT_PUBLIC: &[(&str, &str)] = &[
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "a private network"),
    ("100.64.0.0/10", "a carrier's inside"),
    ("127.0.0.0/8", "this machine"),
    ("169.254.0.0/16", "a link-local network"),
    ("172.16.0.0/12", "a private network"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "for documentation"),
    ("192.88.99.0/24", "a 6to4 relay"),
    ("192.168.0.0/16", "a private network"),
    ("198.18.0.0/15", "for benchmarks"),
    ("198.51.100.0/24", "for documentation"),
    ("203.0.113.0/24", "for documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("::/128", "this network"),
    ("::1/128", "this machine"),
    ("::ffff:0:0/96", "an IPv4 address in disguise"),
    ("64:ff9b::/96", "an IPv4 address in disguise"),
    ("64:ff9b:1::/48", "an IPv4 address in disguise"),
    ("2001::/23", "reserved"),
    ("2001:db8::/32", "for documentation"),
    ("2002::/16", "an IPv4 address in disguise"),
    ("3fff::/20", "for documentation"),
    ("fc00::/7", "a private network"),
    ("fe80::/10", "a link-local network"),
    ("ff00::/8", "multicast"),
];

static RANGES: LazyLock<Vec<(IpNet, &'static str)>> = LazyLock::new(|| {
    let read = |text: &str| text.parse().expect("the table above holds ranges only");
    NOT_PUBLIC
        .iter()
        .map(|(range, what)| (read(range), *what))
        .collect()
});

/// Ports below the first free one that receivers may have.
const USUAL_PORTS: [u16; 2] = [80, 443];
const FIRST_FREE_PORT: u16 = 1_024;

/// The rules.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    on: bool,
    allowed: Vec<IpNet>,
}

impl Guard {
    pub(crate) fn new(on: bool, allowed: Vec<IpNet>) -> Self {
        Self { on, allowed }
    }

    /// Whether a configuration may point there. What its name means is not looked up: that can change.
    ///
    /// # Errors
    /// What is wrong, as the rest of a sentence.
    pub(crate) fn check_target(&self, target: &Target) -> Result<(), String> {
        if !self.on {
            return Ok(());
        }
        if target.port < FIRST_FREE_PORT && !USUAL_PORTS.contains(&target.port) {
            let [http, https] = USUAL_PORTS;
            return Err(format!(
                "must have port {http}, {https}, or one from {FIRST_FREE_PORT}"
            ));
        }
        match &target.host {
            Host::Address(address) => self.check_address(*address, target.tls),
            Host::Name(_) if target.host.is_own_name() => {
                let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
                if loopback.iter().any(|address| self.allows(*address)) {
                    return Ok(());
                }
                Err(not_public("this machine"))
            }
            Host::Name(_) if !target.tls && self.allowed.is_empty() => Err(needs_tls()),
            Host::Name(_) => Ok(()),
        }
    }

    /// Whether an address may be connected to.
    ///
    /// # Errors
    /// What is wrong, as the rest of a sentence.
    pub(crate) fn check_address(&self, address: IpAddr, tls: bool) -> Result<(), String> {
        if !self.on || self.allows(address) {
            return Ok(());
        }
        match range_of(address) {
            Some(what) => Err(not_public(what)),
            None if !tls => Err(needs_tls()),
            None => Ok(()),
        }
    }

    fn allows(&self, address: IpAddr) -> bool {
        self.allowed.iter().any(|range| range.contains(&address))
    }
}

/// What an address is, if it is not public.
pub fn range_of(address: IpAddr) -> Option<&'static str> {
    let listed = RANGES.iter().find(|(range, _)| range.contains(&address));
    let outside = || match address {
        // Nothing but 2000::/3 has been given out to anybody.
        IpAddr::V6(address) => (address.segments()[0] >> 13 != 1).then_some("reserved"),
        IpAddr::V4(_) => None,
    };
    listed.map(|(_, what)| *what).or_else(outside)
}

fn not_public(what: &str) -> String {
    format!("must point to a public address, and this one is {what}; an operator can allow it by {SETTING}")
}

fn needs_tls() -> String {
    format!("must begin with https://; without TLS only the operator's {SETTING} are posted to")
}

#[cfg(test)]
mod tests {
    use super::{Guard, range_of};
    use crate::target::Target;

    fn guard(allowed: &[&str]) -> Guard {
        Guard::new(true, allowed.iter().map(|range| range.parse().unwrap()).collect())
    }

    fn check(guard: &Guard, url: &str) -> Result<(), String> {
        guard.check_target(&Target::parse(url)?)
    }

    #[test]
    fn the_inside_of_the_network_and_odd_ports_are_refused_by_default() {
        let guard = guard(&[]);
        for url in [
            "http://127.0.0.1:6379/",
            "http://localhost/",
            "http://169.254.169.254/latest/",
            "http://10.1.2.3/",
            "http://[::1]/",
            "http://0.0.0.0/",
            "http://[fd00::1]/",
            "http://100.64.0.1/",
            "https://hooks.example.com:22/",
            "https://hooks.localhost/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::127.0.0.1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[2002:7f00:1::]/",
            "https://[fe80::1]/",
            "https://[fec0::1]/",
            "https://[ff02::1]/",
            "https://[2001:db8::1]/",
            "https://[2001::1]/",
            "https://[4000::1]/",
            "https://172.16.0.1/",
            "https://172.31.255.255/",
            "https://192.168.1.1/",
            "https://198.19.0.1/",
            "https://203.0.113.1/",
            "https://224.0.0.1/",
            "https://255.255.255.255/",
            "https://hooks.example.com:1023/",
            "http://hooks.example.com/",
            "http://8.8.8.8/",
        ] {
            let text = check(&guard, url).expect_err(url);
            assert!(text.starts_with("must "), "{url}: {text}");
        }
    }

    #[test]
    fn public_receivers_are_taken() {
        let guard = guard(&[]);
        for url in [
            "https://hooks.example.com/one",
            "https://hooks.example.com:80/",
            "https://hooks.example.com:1024/",
            "https://8.8.8.8/",
            "https://172.15.0.1/",
            "https://172.32.0.1/",
            "https://100.63.255.255/",
            "https://100.128.0.0/",
            "https://[2606:4700::1111]/",
            "https://[2001:4860:4860::8888]/",
        ] {
            assert_eq!(check(&guard, url), Ok(()), "{url}");
        }
    }

    #[test]
    fn allowed_ranges_open_what_lies_in_them_and_nothing_else() {
        let guard = guard(&["127.0.0.0/8", "fd00::/64"]);
        for url in [
            "http://127.0.0.1:8080/",
            "http://localhost:8080/",
            "https://localhost/",
            "http://[fd00::1]/",
            // Its address decides when it is called.
            "http://hooks.example.com/",
        ] {
            assert_eq!(check(&guard, url), Ok(()), "{url}");
        }
        for url in [
            "http://10.0.0.1/",
            "http://[fd00:0:0:1::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://8.8.8.8/",
            "http://127.0.0.1:22/",
        ] {
            assert!(check(&guard, url).is_err(), "{url}");
        }
    }

    #[test]
    fn without_the_guard_any_address_will_do() {
        let off = Guard::new(false, Vec::new());
        for url in [
            "http://127.0.0.1:22/",
            "http://[::1]/",
            "http://hooks.example.com/",
        ] {
            assert_eq!(check(&off, url), Ok(()), "{url}");
        }
    }

    #[test]
    fn an_address_that_a_name_turned_out_to_mean_is_judged_like_one_that_was_written() {
        let guard = guard(&[]);
        assert!(guard.check_address("10.0.0.1".parse().unwrap(), true).is_err());
        assert!(guard.check_address("8.8.8.8".parse().unwrap(), false).is_err());
        assert!(guard.check_address("8.8.8.8".parse().unwrap(), true).is_ok());
        assert_eq!(range_of("8.8.8.8".parse().unwrap()), None);
    }
}
